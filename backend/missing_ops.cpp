#include "backend/missing_ops.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "backend/build_report.h"
#include "frontend/read_graph.h"
#include "passes/infer_shapes.h"

namespace footprint {

std::variant<std::vector<MissingOp>, Failure> FindMissingOps(const std::string& path) {
  DiagnosticSink sink;
  const std::optional<LoadedModel> model = ReadGraph(path, sink);
  if (!model.has_value()) return ToFailure(sink.Take());
  const Graph& graph = model->graph;
  DiagnosticSink unasked;
  const InferredTypes inferred = InferShapes(graph, {}, model->fallback.get(), unasked);
  const std::set<NodeId> unknown(inferred.unknown_nodes.begin(), inferred.unknown_nodes.end());
  std::map<std::tuple<std::string, std::string, int>, MissingOp> missing;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[NodeId(i)];
    if (node.op != nullptr && node.op->types != nullptr) continue;
    MissingOp& op = missing[{node.domain, node.op_type, node.version}];
    op.domain = node.domain.empty() ? "ai.onnx" : node.domain;
    op.name = node.op_type;
    op.version = node.version;
    ++op.nodes;
    if (op.shapes_from != "declarations") {
      op.shapes_from = unknown.contains(NodeId(i)) ? "declarations" : "ONNX's schema";
    }
  }
  std::vector<MissingOp> result;
  for (auto& [key, op] : missing) result.push_back(std::move(op));
  return result;
}

}  // namespace footprint
