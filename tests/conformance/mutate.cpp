#include "tests/conformance/mutate.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::GraphProto;
using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::NodeProto;
using ONNX_NAMESPACE::TensorProto;
using ONNX_NAMESPACE::ValueInfoProto;

constexpr int64_t kNumbers[] = {0,   1,    -1,        2,          -2,        3,         7,
                                100, -100, INT32_MAX, 1LL << 31,  1LL << 40, INT64_MAX, INT64_MIN,
                                13,  823,  65536,     1000000000, -13};
constexpr const char* kStrings[] = {"", "SAME_UPPER", "bidirectional", "...ij,jk->", "mutant"};

class Mutator {
 public:
  Mutator(ModelProto& model, uint32_t seed) : model_(model), engine_(seed) {
    Collect(*model.mutable_graph());
  }

  void Run() {
    for (int64_t left = 1 + Below(3); left > 0; --left) {
      switch (Below(8)) {
        case 0:
        case 1:
          MutateInput();
          break;
        case 2:
        case 3:
          MutateAttribute();
          break;
        case 4:
          MutateOperands();
          break;
        case 5:
          MutateResults();
          break;
        case 6:
          MutateContents();
          break;
        default:
          MutateOpset();
      }
    }
  }

 private:
  int64_t Below(int64_t count) {
    return std::uniform_int_distribution<int64_t>(0, count - 1)(engine_);
  }
  int64_t Number() { return kNumbers[Below(std::size(kNumbers))]; }
  template <typename List>
  auto* Pick(List* list) {
    return list->empty() ? nullptr : list->Mutable(static_cast<int>(Below(list->size())));
  }

  void Collect(GraphProto& graph) {
    for (NodeProto& node : *graph.mutable_node()) {
      nodes_.push_back(&node);
      for (AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) Collect(*attribute.mutable_g());
      }
    }
    for (TensorProto& tensor : *graph.mutable_initializer()) tensors_.push_back(&tensor);
  }

  NodeProto* PickNode() {
    return nodes_.empty() ? nullptr : nodes_[static_cast<size_t>(Below(std::ssize(nodes_)))];
  }

  void MutateInput() {
    ValueInfoProto* input = Pick(model_.mutable_graph()->mutable_input());
    if (input == nullptr) return;
    auto* type = input->mutable_type()->mutable_tensor_type();
    auto* dims = type->mutable_shape()->mutable_dim();
    switch (Below(7)) {
      case 0:
        return type->clear_shape();
      case 1:
        return type->set_elem_type(static_cast<int>(Below(28)));
      case 2:
        return dims->Add()->set_dim_value(Number());
      case 3:
        if (!dims->empty()) dims->RemoveLast();
        return;
      default:
        break;
    }
    auto* dim = Pick(dims);
    if (dim == nullptr) return;
    if (Below(3) == 0) return dim->set_dim_param(Below(2) == 0 ? "mutant" : "batch");
    dim->set_dim_value(Number());
  }

  void MutateAttribute() {
    NodeProto* node = PickNode();
    AttributeProto* attribute = node == nullptr ? nullptr : Pick(node->mutable_attribute());
    if (attribute == nullptr) return;
    const int64_t action = Below(6);
    if (action == 0) {
      node->mutable_attribute()->SwapElements(0, node->attribute_size() - 1);
      return node->mutable_attribute()->RemoveLast();
    }
    if (attribute->has_i()) attribute->set_i(Number());
    if (attribute->has_f()) attribute->set_f(static_cast<float>(Number()));
    if (attribute->has_s()) attribute->set_s(kStrings[Below(std::size(kStrings))]);
    if (action == 1) attribute->add_ints(Number());
    if (action == 2 && attribute->ints_size() > 0) attribute->mutable_ints()->RemoveLast();
    if (action > 2 && attribute->ints_size() > 0) {
      attribute->set_ints(static_cast<int>(Below(attribute->ints_size())), Number());
    }
    if (attribute->floats_size() > 0) attribute->set_floats(0, static_cast<float>(Number()));
  }

  void MutateOperands() {
    NodeProto* node = PickNode();
    if (node == nullptr || node->input_size() == 0) return;
    const auto at = static_cast<int>(Below(node->input_size()));
    switch (Below(4)) {
      case 0:
        return node->set_input(at, "");
      case 1:
        return node->mutable_input()->RemoveLast();
      case 2:
        return node->add_input(node->input(at));
      default:
        node->mutable_input()->SwapElements(at, static_cast<int>(Below(node->input_size())));
    }
  }

  void MutateResults() {
    NodeProto* node = PickNode();
    if (node == nullptr) return;
    if (Below(2) == 0) return node->add_output("mutant" + std::to_string(Below(1000000)));
    if (node->output_size() > 1) node->mutable_output()->RemoveLast();
  }

  void MutateContents() {
    if (tensors_.empty()) return;
    TensorProto* tensor = tensors_[static_cast<size_t>(Below(std::ssize(tensors_)))];
    if (tensor->data_type() != TensorProto::INT64) return;
    const int64_t number = Number();
    if (tensor->int64_data_size() > 0) {
      tensor->set_int64_data(static_cast<int>(Below(tensor->int64_data_size())), number);
    } else if (tensor->raw_data().size() >= sizeof(number)) {
      const auto count = static_cast<int64_t>(tensor->raw_data().size() / sizeof(number));
      std::memcpy(tensor->mutable_raw_data()->data() + Below(count) * sizeof(number), &number,
                  sizeof(number));
    }
  }

  void MutateOpset() {
    auto* opset = Pick(model_.mutable_opset_import());
    if (opset != nullptr) opset->set_version(1 + Below(28));
  }

  ModelProto& model_;
  std::mt19937 engine_;
  std::vector<NodeProto*> nodes_;
  std::vector<TensorProto*> tensors_;
};

}  // namespace

void Mutate(ModelProto& model, uint32_t seed) { Mutator(model, seed).Run(); }

}  // namespace footprint
