// The importer's inside; see importer.cpp for how it works.
#ifndef FOOTPRINT_FRONTEND_IMPORTER_STATE_H_
#define FOOTPRINT_FRONTEND_IMPORTER_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "frontend/importer.h"
#include "frontend/importer_constants.h"
#include "frontend/importer_functions.h"
#include "frontend/importer_types.h"
#include "frontend/node_order.h"
#include "frontend/provenance.h"
#include "frontend/scopes.h"
#include "onnx/onnx_pb.h"

namespace footprint {

struct ImportFrame;

// An attribute with its references to attributes of functions followed to the end, and the body in
// whose text it stands: there the names in a graph attribute are looked up.
struct BoundAttribute {
  const ONNX_NAMESPACE::AttributeProto* proto = nullptr;
  const ImportFrame* home = nullptr;
};

// What the file says about the name of a value that is to be defined.
struct NamedValue {
  std::string name;  // qualified
  bool is_qualified = false;
  const ONNX_NAMESPACE::TypeProto* declared = nullptr;
  bool model_symbols = true;  // dimension names in `declared` are the model's
};

// A call of a function, as all of its body sees it.
struct ImportCall {
  const Function* function = nullptr;
  const ImportCall* caller = nullptr;
  const ONNX_NAMESPACE::NodeProto* site = nullptr;
  absl::flat_hash_map<absl::string_view, BoundAttribute> attributes;
  // What the caller calls the function's outputs, by the function's own names.
  absl::flat_hash_map<absl::string_view, NamedValue> results;
};

// A body of a node that is still to be entered.
struct PendingBody {
  RegionId region;
  const ONNX_NAMESPACE::GraphProto* graph = nullptr;
  const ImportFrame* home = nullptr;
};

// The top graph, a body or a function that is being read.
struct ImportFrame {
  const ImportFrame* outer = nullptr;    // whose names are visible, too
  const ImportCall* call = nullptr;      // the call this text belongs to; null outside of functions
  std::unique_ptr<ImportCall> own_call;  // set in the frame of a function's body itself
  RegionId region;
  const ONNX_NAMESPACE::GraphProto* graph = nullptr;  // null for functions
  const NodeList* nodes = nullptr;
  const std::vector<int>* order = nullptr;  // of the nodes; null: as they are listed
  int next = 0;
  int call_position = -1;  // of a function's body: where the call from outside all functions stands
  // By name in the file. An invalid id: an input that the caller of a function left out.
  absl::flat_hash_map<absl::string_view, ValueId> names;
  absl::flat_hash_map<absl::string_view, const ONNX_NAMESPACE::TypeProto*> declared;
  std::string prefix;           // of names of values: one for each call
  std::string constant_prefix;  // of names of constants: one for each definition
  ScopeBuilder::Place place;
  // The node before `next`, while its bodies or the function that it calls are read.
  std::vector<PendingBody> bodies;
  NodeId open_node;

  int index() const {
    return order == nullptr ? next - 1 : (*order)[static_cast<size_t>(next - 1)];
  }
  int position() const { return call_position < 0 ? index() : call_position; }
  const ONNX_NAMESPACE::NodeProto& current() const { return nodes->Get(index()); }
};

class Importer {
 public:
  Importer(const ModelFile& file, const NodeOrders& orders, DiagnosticSink& sink);
  std::optional<ImportedModel> Run();

 private:
  // importer.cpp
  bool ReadHeader();
  void WarnOfNewerVersions();
  void OpenTop();
  void Step(ImportFrame& frame);
  void Leave();
  void CloseTop(ImportFrame& frame);
  void MakeNamesUnique();

  // importer_names.cpp
  ImportFrame& Push(const ImportFrame* outer, const ImportCall* call);
  void OpenNodes(ImportFrame& frame, const NodeList& nodes);
  void OpenGraph(ImportFrame& frame, const ONNX_NAMESPACE::GraphProto& graph);
  void DefineInput(ImportFrame& frame, const ONNX_NAMESPACE::ValueInfoProto& input);
  void DefineInitializers(ImportFrame& frame, const ONNX_NAMESPACE::GraphProto& graph);
  NamedValue NameOf(const ImportFrame& frame, absl::string_view name) const;
  // Adds a row to the table of values, with the name and type that the file gives `name`.
  void CompareDeclared(const TensorType& declared, const TensorType& stored,
                       absl::string_view name);
  ValueId AddValue(ImportFrame& frame, absl::string_view name, Value&& value);
  // Makes `name` mean `value` in this body.
  void Bind(ImportFrame& frame, absl::string_view name, ValueId value);
  void Define(ImportFrame& frame, absl::string_view name, Value&& value);
  // After an error: the outputs of `proto` have no values, but are no further errors either.
  void BindNothing(ImportFrame& frame, const ONNX_NAMESPACE::NodeProto& proto);
  std::optional<ValueId> Lookup(const ImportFrame& frame, absl::string_view name) const;
  ValueId Read(const ImportFrame& frame, absl::string_view name);
  ValueId ReadOutput(const ImportFrame& frame, absl::string_view name, size_t position);

  // importer_names_errors.cpp
  std::string Origin(const ImportFrame& frame, absl::string_view name, ValueId value) const;
  void ReportUndefined(const ImportFrame& frame, absl::string_view name);
  void ReportDuplicate(const ImportFrame& frame, absl::string_view name, ValueId old,
                       ValueId value);
  void ReportShadowing(const ImportFrame& frame, absl::string_view name, const ImportFrame& outer);
  // "" for the top graph, " in function R", " in then_branch of If 'c'".
  std::string Where(const ImportFrame& frame) const;

  // importer_nodes.cpp
  void AddNode(ImportFrame& frame, const ONNX_NAMESPACE::NodeProto& proto);
  void AddConstantNode(ImportFrame& frame, const ONNX_NAMESPACE::NodeProto& proto);
  void DefineOutputs(ImportFrame& frame, NodeId id);
  int32_t VersionOf(const ImportFrame& frame, const ONNX_NAMESPACE::NodeProto& proto);
  std::optional<int32_t> FindVersion(const ImportFrame& frame, absl::string_view domain) const;
  std::optional<BoundAttribute> Resolve(const ImportFrame& frame,
                                        const ONNX_NAMESPACE::AttributeProto& attribute);
  void AddAttribute(ImportFrame& frame, absl::string_view name, const BoundAttribute& bound,
                    Node* node);
  template <typename Proto>
  void AddTensor(ImportFrame& frame, std::string name, const Proto& tensor, Node* node);
  void AddBody(ImportFrame& frame, std::string name, const ONNX_NAMESPACE::GraphProto& graph,
               const ImportFrame& home, Node* node);
  // The constant for `key`, an object in the file: the same one for every call of a function.
  ConstantId AddConstant(const ImportFrame& frame, const void* key, std::string name,
                         ConstantOrigin origin, absl::FunctionRef<std::optional<Constant>()> read);

  // importer_bodies.cpp
  void EnterBody(ImportFrame& owner);
  void LeaveBody(ImportFrame& frame);
  bool CanCall(const ImportFrame& frame, const ONNX_NAMESPACE::NodeProto& proto,
               const Function& function);
  void EnterCall(ImportFrame& frame, const ONNX_NAMESPACE::NodeProto& proto,
                 const Function& function);
  void BindCallAttributes(const ImportFrame& frame, const ONNX_NAMESPACE::NodeProto& proto,
                          const ImportFrame& body, ImportCall* call);
  void LeaveCall(ImportFrame& frame);
  ValueId AddIdentity(ImportFrame& frame, absl::string_view name, ValueId value);
  // Counts what functions and bodies multiply; too much of it is an error.
  void Spend(size_t cost);

  bool TooManyErrors() const { return errors_ >= kMaxErrors || sink_.all().size() >= give_up_at_; }
  void Error(const char* kind, std::string place, std::string message);

  static constexpr int kMaxErrors = 20;

  const ModelFile& file_;
  const NodeOrders& orders_;  // lists of nodes that are not there are read as they are
  DiagnosticSink& sink_;
  int errors_ = 0;
  size_t give_up_at_;
  Graph graph_;
  OpsetVersions opsets_;
  TypeReader types_;
  ConstantReader constants_;
  ScopeBuilder scopes_;
  std::optional<FunctionTable> functions_;
  std::vector<std::unique_ptr<ImportFrame>> stack_;
  std::vector<ImportedNode> imported_;
  absl::flat_hash_map<const void*, ConstantId> shared_constants_;
  absl::flat_hash_set<std::string> missing_domains_;
  std::vector<ValueId> qualified_;  // values whose names were composed
  int64_t budget_;
};

// The kind of the error of a node that reads what comes later.
constexpr char kNotSorted[] = "not-sorted";

// "Relu 'a' -> y": how messages name a node that is not in the graph yet.
std::string DescribeProto(const ONNX_NAMESPACE::NodeProto& proto);

// A short name for a node: its own, else that of its first output, else its operator's.
const std::string& LabelOf(const ONNX_NAMESPACE::NodeProto& proto);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_IMPORTER_STATE_H_
