// A model is text in three kinds of pieces: the top graph, bodies of control flow inside nodes, and
// functions that nodes call. The importer reads each piece in a frame of its own, on a stack:
//
//   top graph        x  Relu  [If ............]  Local(..)  Add
//   body of If                [ then | else ]      |
//   function Local            sees top's names     its nodes go where the call stands
//
// A body becomes a region that its node owns; it sees the names of the pieces around it. A function
// leaves no trace but its nodes: they join the caller's region, its inputs are other names for the
// caller's values, its outputs bear the caller's names from the moment they are defined. It sees no
// names but its own, and brings its own opset versions; what it stores exists once, however often
// it is called. A Constant node becomes a constant and no node.
//
// Names that could clash are qualified: "cond/then_branch/t", "call/t". References of attributes to
// a function's attributes are followed when the node is read; the graph that one may lead to keeps
// seeing the names of the text it stands in.
#include "frontend/importer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/importer_state.h"
#include "frontend/printable.h"
#include "onnx/defs/schema.h"

namespace footprint {

using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::OpSchemaRegistry;

namespace {

// Nodes and names that may be made from one file beyond those it holds, in bytes.
constexpr int64_t kBudget = 256 << 20;
// A file with so many problems has one cause that is not worth repeating.
constexpr size_t kMaxDiagnostics = 100;

}  // namespace

Importer::Importer(const ModelFile& file, const NodeOrders& orders, DiagnosticSink& sink)
    : file_(file),
      orders_(orders),
      sink_(sink),
      give_up_at_(sink.all().size() + kMaxDiagnostics),
      types_(*graph_.dims, sink),
      constants_(file, sink),
      scopes_(graph_),
      budget_(kBudget) {}

void Importer::Error(const char* kind, std::string place, std::string message) {
  ++errors_;
  sink_.Error(kind, std::move(place), std::move(message));
}

std::optional<ImportedModel> Importer::Run() {
  const size_t before = sink_.all().size();
  const auto failed = [&] {
    return std::any_of(sink_.all().begin() + static_cast<std::ptrdiff_t>(before), sink_.all().end(),
                       [](const Diagnostic& d) { return d.severity == Severity::kError; });
  };
  if (!ReadHeader()) return std::nullopt;
  functions_.emplace(file_.model, sink_);
  if (failed()) return std::nullopt;
  OpenTop();
  while (!stack_.empty() && !TooManyErrors()) Step(*stack_.back());
  if (failed()) return std::nullopt;
  MakeNamesUnique();
  scopes_.Finish();
  ImportedModel result;
  result.provenance = ReadProvenance(file_.model, imported_, graph_.nodes.size());
  result.graph = std::move(graph_);
  return result;
}

bool Importer::ReadHeader() {
  const ModelProto& model = file_.model;
  graph_.name = model.graph().name();
  graph_.producer_name = model.producer_name();
  graph_.producer_version = model.producer_version();
  graph_.ir_version = model.ir_version();
  for (const auto& entry : model.metadata_props()) {
    graph_.metadata.emplace_back(entry.key(), entry.value());
  }
  for (const auto& entry : model.graph().metadata_props()) {
    graph_.metadata.emplace_back(entry.key(), entry.value());
  }
  if (model.ir_version() <= 0) {
    sink_.Warning("missing-ir-version", "", "the file does not say its IR version (ir_version)");
  }
  for (const auto& opset : model.opset_import()) {
    if (opset.version() <= 0) {
      Error("bad-opset-version", "",
            absl::StrCat("imports version ", opset.version(), " of domain '",
                         Printable(opset.domain()), "'; versions begin at 1"));
    }
    opsets_.Add(opset.domain(), opset.version());
  }
  const bool before_opsets = model.ir_version() == 1 || model.ir_version() == 2;
  if (model.opset_import().empty() && before_opsets) opsets_.Add("", 1);
  if (opsets_.all().empty()) {
    Error("missing-opset-import", "",
          "imports no operator set, so no operator has a meaning; add opset_import");
  }
  graph_.opsets = opsets_.all();
  WarnOfNewerVersions();
  if (!model.training_info().empty()) {
    sink_.Note("training-info-ignored", "",
               "the model's training_info is not read; training is derived from the graph itself");
  }
  return errors_ == 0;
}

void Importer::WarnOfNewerVersions() {
  if (graph_.ir_version > ONNX_NAMESPACE::IR_VERSION) {
    sink_.Warning("newer-version", "",
                  absl::StrCat("IR version ", graph_.ir_version,
                               " is newer than the highest one known here, ",
                               static_cast<int64_t>(ONNX_NAMESPACE::IR_VERSION),
                               "; what it added is not understood"));
  }
  const auto& known = OpSchemaRegistry::DomainToVersionRange::Instance().LastReleaseVersionMap();
  for (const OpsetImport& opset : graph_.opsets) {
    const auto found = known.find(opset.domain);
    if (found == known.end() || opset.version <= found->second) continue;
    sink_.Warning("newer-version", "",
                  absl::StrCat("version ", opset.version, " of operator set '",
                               opset.domain.empty() ? "ai.onnx" : opset.domain,
                               "' is newer than the highest one known here, ", found->second,
                               "; operators are read as of that version"));
  }
}

void Importer::OpenTop() {
  graph_.regions.Add(Region());
  ImportFrame& top = Push(nullptr, nullptr);
  top.region = RegionId(0);
  const auto& graph = file_.model.graph();
  graph_.values.reserve(static_cast<size_t>(graph.node_size()) +
                        static_cast<size_t>(graph.input_size()) +
                        static_cast<size_t>(graph.initializer_size()));
  graph_.nodes.reserve(static_cast<size_t>(graph.node_size()));
  OpenGraph(top, graph);
}

void Importer::Step(ImportFrame& frame) {
  if (!frame.bodies.empty()) {
    EnterBody(frame);
  } else if (frame.open_node.valid()) {
    DefineOutputs(frame, frame.open_node);
    frame.open_node = NodeId();
  } else if (frame.next < frame.nodes->size()) {
    ++frame.next;
    AddNode(frame, frame.current());
  } else {
    Leave();
  }
}

void Importer::Leave() {
  const std::unique_ptr<ImportFrame> frame = std::move(stack_.back());
  stack_.pop_back();
  if (stack_.empty()) {
    CloseTop(*frame);
  } else if (frame->own_call != nullptr) {
    LeaveCall(*frame);
  } else {
    LeaveBody(*frame);
  }
}

void Importer::CloseTop(ImportFrame& frame) {
  for (int i = 0; i < frame.graph->output_size() && !TooManyErrors(); ++i) {
    const ValueId output = ReadOutput(frame, frame.graph->output(i).name(), static_cast<size_t>(i));
    if (!output.valid()) continue;
    graph_.regions[frame.region].outputs.push_back(output);
    graph_.values[output].is_graph_output = true;
  }
}

void Importer::MakeNamesUnique() {
  if (qualified_.empty()) return;
  IdVector<ValueId, char> composed(graph_.values.size(), false);
  for (const ValueId id : qualified_) composed[id] = true;
  absl::flat_hash_set<std::string> taken;
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    if (!composed[ValueId(i)]) taken.insert(graph_.values[ValueId(i)].name);
  }
  absl::flat_hash_map<std::string, int> copies;
  for (const ValueId id : qualified_) {
    std::string& name = graph_.values[id].name;
    if (taken.insert(name).second) continue;
    int& copy = copies.try_emplace(name, 1).first->second;
    std::string other;
    do {
      other = absl::StrCat(name, "#", ++copy);
    } while (!taken.insert(other).second);
    name = std::move(other);
  }
}

// Files whose nodes are not in an order in which they can run are read twice.
std::optional<ImportedModel> ImportModel(const ModelFile& file, DiagnosticSink& sink) {
  DiagnosticSink as_listed;
  std::optional<ImportedModel> result = Importer(file, NodeOrders(), as_listed).Run();
  std::vector<Diagnostic> found = as_listed.Take();
  const auto unsorted = std::find_if(found.begin(), found.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.kind == kNotSorted;
  });
  if (unsorted != found.end()) {
    if (const std::optional<NodeOrders> orders = OrderNodes(file.model)) {
      sink.Warning(kNotSorted, unsorted->place,
                   absl::StrCat(unsorted->message, "; they are read in an order in which they do"));
      return Importer(file, *orders, sink).Run();
    }
  }
  for (Diagnostic& diagnostic : found) sink.Add(std::move(diagnostic));
  return result;
}

}  // namespace footprint
