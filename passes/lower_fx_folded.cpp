// What an optimizer folded into convolutions, and noise whose type the file does not say.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/lowering/lowering.h"
#include "passes/lower_fx_texts.h"
#include "passes/lower_node.h"

namespace footprint {

NodeId TextLowering::FindConvolution() const {
  for (NodeId id : group_->nodes) {
    if (SwallowsNorm(graph_.nodes[id].op_type)) return id;
  }
  return NodeId();
}

// A tensor without contents is filled and scaled, then multiplied with the one it was made for:
// empty(size, dtype=x.dtype). Finds that one, from the value on that the noise becomes.
TorchValueId TextLowering::MetByNoise(ValueId noise) const {
  constexpr int kSteps = 8;
  const int rank = Type(noise).rank();
  for (int i = 0; i < kSteps && noise.valid(); ++i) {
    const absl::Span<const NodeId> readers = facts_.Readers(noise);
    if (readers.empty()) break;
    const Node& node = graph_.nodes[readers[0]];
    for (ValueId input : node.inputs) {
      if (!input.valid() || input == noise || facts_.IsArithmetic(input)) continue;
      ValueId other = facts_.Resolve(input);
      const NodeId maker = graph_.values[other].producer;
      if (!builder_.IsBound(other) && maker.valid() && graph_.nodes[maker].input(0).valid()) {
        other = facts_.Resolve(graph_.nodes[maker].input(0));  // scaled after the noise was made
      }
      if (builder_.IsBound(other) && Type(other).rank() == rank) return builder_.TensorOf(other);
    }
    noise = node.output(0);
  }
  return TorchValueId();
}

void TextLowering::LowerNoise(absl::string_view op, const FxLowering& row) {
  std::vector<TorchArgument> arguments = arguments_.All(row, FindTorchOp(op));
  const TorchValueId met = MetByNoise(reader_ == nullptr ? group_->result : reader_->result);
  if (!met.valid()) return Finish(op, std::move(arguments));
  arguments.insert(arguments.begin(), TorchArgument::Tensor(met));
  Finish(kNoiseCall, std::move(arguments));
}

// Of a size known at export it is a constant, which the text of its reader cannot name.
TorchValueId TextLowering::MakeNoise(absl::string_view name) {
  const TensorType& type = Type(group_->result);
  const TorchValueId result = builder_.AddComputed(std::string(name), type);
  const TorchValueId met = MetByNoise(group_->result);
  std::vector<TorchArgument> arguments = {TorchArgument::Ints(type.dims)};
  if (met.valid()) arguments.insert(arguments.begin(), TorchArgument::Tensor(met));
  builder_.Append(met.valid() ? kNoiseCall : kEmptyCall, std::move(arguments), {result});
  builder_.last().note = "the file lacks this call; its name is left";
  return result;
}

// The tensor that the padding gave, where something else reads it too, so that its node is still
// there; invalid: none.
ValueId TextLowering::FindPadded(const Node& conv) const {
  const ValueId source = facts_.Resolve(conv.input(0));
  const Dims& dims = Type(source).dims;
  const absl::Span<const int64_t> pads = conv.Ints("pads");
  const size_t n = pads.size() / 2;
  for (NodeId reader : facts_.Readers(source)) {
    const Node& node = graph_.nodes[reader];
    const ValueId padded = node.output(0);
    if (node.op_type != kPadNode || !builder_.IsBound(padded)) continue;
    const Dims& found = Type(padded).dims;
    bool fits = found.size() == n + 2 && dims.size() == n + 2;
    for (size_t i = 0; i < n && fits; ++i) {
      fits = found[i + 2] == graph_.dims->Add(dims[i + 2], Dim(pads[i] + pads[n + i]));
    }
    if (fits) return padded;
  }
  return ValueId();
}

// What the ONNX node pads beyond the text was a padding of its own, whose result the convolution
// saves; others may read that too, and then it is there already.
void TextLowering::LowerConvolution(absl::string_view op, const FxLowering& row) {
  std::vector<TorchArgument> arguments = arguments_.All(row, FindTorchOp(op));
  const NodeId conv = FindConvolution();
  constexpr size_t kPadding = 4;
  const ValueId found = conv.valid() && IsPadFolded(conv) ? FindPadded(graph_.nodes[conv])
                                                          : ValueId();
  const bool is_padded = conv.valid() && !arguments.empty() && arguments[0].tensor.valid() &&
                         builder_.value(arguments[0].tensor).type.dims !=
                             Type(facts_.Resolve(graph_.nodes[conv].input(0))).dims;
  if (found.valid() && !arguments.empty()) {
    arguments[0] = TorchArgument::Tensor(builder_.TensorOf(found));
  } else if (conv.valid() && IsPadFolded(conv) && !arguments.empty() &&
             arguments[0].tensor.valid() && !is_padded) {
    const TensorType type = builder_.value(arguments[0].tensor).type;
    const absl::Span<const int64_t> pads = graph_.nodes[conv].Ints("pads");
    const size_t n = pads.size() / 2;
    std::vector<Dim> torch_pads;
    Dims dims = type.dims;
    for (size_t i = n; i-- > 0 && dims.size() == n + 2;) {
      const bool listed = arguments.size() > kPadding && arguments[kPadding].integers.size() == n;
      const Dim own = listed ? arguments[kPadding].integers[i] : Dim(0);
      const int64_t both = own.is_constant() ? own.value() : 0;
      torch_pads.push_back(Dim(pads[i] - both));
      torch_pads.push_back(Dim(pads[n + i] - both));
      dims[i + 2] = graph_.dims->Add(dims[i + 2], Dim(pads[i] + pads[n + i] - 2 * both));
    }
    const TorchValueId padded = builder_.AddComputed(absl::StrCat(group_->fx->name, "/padded"),
                                                     TensorType::Make(type.element, dims));
    builder_.Append(kPadCall, {arguments[0], TorchArgument::Ints(torch_pads)}, {padded});
    builder_.last().note = "padding that the exporter folded into the convolution";
    names_.Set(group_->fx->arguments[0].text, padded);
    arguments[0] = TorchArgument::Tensor(padded);
  }
  Finish(op, std::move(arguments));
}

// The convolution whose text is gone: read off its ONNX node. Its own bias, if the signature lists
// one, is in the bias that the norm was folded into, which is left out where it is all zeros.
TorchValueId TextLowering::LowerSwallowedConvolution(NodeId id) {
  const Node& node = graph_.nodes[id];
  const ProgramBuilder::Origin norm = builder_.origin();
  PlannedNode planned;
  planned.row = FindLowering(node.domain, node.op_type);
  const ValueId padded = IsPadFolded(id) ? FindPadded(node) : ValueId();
  planned.operands = {padded.valid() ? padded : facts_.Resolve(node.input(0)),
                      facts_.Resolve(node.input(1))};
  ProgramBuilder::Origin origin = norm;
  const ConstantId weight = graph_.values[planned.operands[1]].constant;
  if (weight.valid()) origin.scope = graph_.constants[weight].scope;
  origin.note = "put back: the exporter folded the norm into it";
  builder_.SetOrigin(std::move(origin));
  const SignatureEntry* own = names_.BiasBeside(planned.operands[1]);
  const TensorType& result_type = Type(node.output(0));
  TorchValueId bias;
  if (own != nullptr && result_type.rank() >= 2) {
    const TensorType type = TensorType::Make(result_type.element, {result_type.dims[1]});
    bias = names_.AddMissing(*own, type, node.input(2));
  }
  NodeContext context(facts_, &builder_, id, planned);
  if (IsPadFolded(id)) context.set_padding(padded.valid() ? Padding::kDone : Padding::kApart);
  if (planned.row == nullptr || !planned.row->lower(context)) return TorchValueId();
  TorchCall& call = builder_.last();
  if (bias.valid()) {
    call.arguments.resize(std::max(call.arguments.size(), kBiasArgument + 1));
    call.arguments[kBiasArgument] = TorchArgument::Tensor(bias);
  }
  const TorchValueId result = call.results[0];
  builder_.Rename(result, group_->fx->arguments.empty() ? absl::StrCat(group_->fx->name, "/input")
                                                        : group_->fx->arguments[0].text);
  builder_.SetOrigin(norm);
  return result;
}

// Texts: input, weight, bias, running mean, running variance, [training,] momentum, eps.
void TextLowering::LowerBatchNorm() {
  const NodeId conv = FindConvolution();
  TorchValueId input = conv.valid() ? LowerSwallowedConvolution(conv) : TorchValueId();
  if (input.valid() && !group_->fx->arguments.empty()) {
    names_.Set(group_->fx->arguments[0].text, input);
    arguments_.Begin(*group_);
  }
  const std::vector<TorchArgument> texts = arguments_.All({}, nullptr);
  if (texts.size() < 5) return Finish(group_->fx->target, texts);
  const bool says_mode = texts.size() > 5 && texts[5].kind == TorchArgument::Kind::kBool;
  const bool says_training = says_mode && texts[5].boolean;
  const bool training = says_training || !names_.in_training_mode();
  std::vector<TorchArgument> arguments(texts.begin(), texts.begin() + 5);
  arguments.push_back(TorchArgument::Bool(training));
  for (size_t i = says_mode ? 6 : 5; i < texts.size() && i < 8; ++i) arguments.push_back(texts[i]);
  arguments.resize(8);
  arguments.push_back(TorchArgument::Bool(true));
  Finish(kBatchNormCall, std::move(arguments));
  if (training && !says_training) {
    builder_.last().evidence = Evidence::kAssumption;
    builder_.last().note = "exported for inference; trains on batch statistics";
  }
}

}  // namespace footprint
