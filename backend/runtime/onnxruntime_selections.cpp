// Several pieces of one tensor, taken by position along one axis, that together are all of it: they
// are split off at once, so that all of them are there at the same time.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

struct Piece {
  int32_t node = -1;
  int64_t axis = 0;
  int64_t begin = 0;
  int64_t end = 0;
  bool drops_axis = false;  // Gather of one position
};

std::optional<Piece> AsGather(const Rewriter& rewriter, int32_t node, int64_t rank) {
  const RuntimeNode& row = rewriter.graph_view().node(node);
  const std::optional<int64_t> position = rewriter.Integer(row.inputs[1]);
  if (!position) return std::nullopt;
  Piece piece;
  piece.node = node;
  piece.axis = rewriter.Axis(node, 0);
  if (piece.axis < 0) piece.axis += rank;
  piece.begin = *position;
  piece.drops_axis = rewriter.graph_view().value(row.inputs[1]).type.dims.empty();
  return piece;
}

std::optional<Piece> AsSlice(const Rewriter& rewriter, int32_t node, int64_t rank) {
  const RuntimeNode& row = rewriter.graph_view().node(node);
  if (row.inputs.size() < 4) return std::nullopt;
  const std::optional<int64_t> begin = rewriter.Integer(row.inputs[1]);
  const std::optional<int64_t> end = rewriter.Integer(row.inputs[2]);
  const std::optional<int64_t> axis =
      row.axes && row.axes->size() == 1 ? row.axes->front() : rewriter.Integer(row.inputs[3]);
  const bool has_step = row.inputs.size() > 4 && row.inputs[4] >= 0;
  const std::optional<int64_t> step = has_step ? rewriter.Integer(row.inputs[4]) : 1;
  if (!begin || !end || !axis || step != 1) return std::nullopt;
  return Piece{node, *axis < 0 ? *axis + rank : *axis, *begin, *end, false};
}

// The pieces of `value` along one axis, in order, if they are all of it; else none.
std::vector<Piece> FindPieces(const Rewriter& rewriter, int32_t value) {
  const TensorType& type = rewriter.graph_view().value(value).visible;
  if (!type.has_rank) return {};
  const auto rank = static_cast<int64_t>(type.dims.size());
  std::vector<Piece> pieces;
  for (const int32_t reader : rewriter.uses().readers[static_cast<size_t>(value)]) {
    const bool gathers = rewriter.Is(reader, "Gather");
    if (!gathers && !rewriter.Is(reader, "Slice")) continue;
    if (rewriter.graph_view().node(reader).inputs[0] != value) continue;
    std::optional<Piece> piece =
        gathers ? AsGather(rewriter, reader, rank) : AsSlice(rewriter, reader, rank);
    if (!piece || piece->axis < 0 || piece->axis >= rank) return {};
    const Dim size = type.dims[static_cast<size_t>(piece->axis)];
    if (!size.is_constant() || (!pieces.empty() && pieces[0].axis != piece->axis)) return {};
    if (piece->begin < 0) piece->begin += size.value();
    if (gathers) piece->end = piece->begin + 1;
    if (piece->end < 0) piece->end += size.value();
    piece->end = std::min(piece->end, size.value());
    pieces.push_back(*piece);
  }
  if (pieces.size() < 2) return {};
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  int64_t next = 0;
  for (const Piece& piece : pieces) {
    if (piece.begin != next || piece.end <= piece.begin) return {};
    next = piece.end;
  }
  return type.dims[static_cast<size_t>(pieces[0].axis)].Is(next) ? pieces : std::vector<Piece>();
}

void SplitInto(Rewriter& rewriter, int32_t value, const std::vector<Piece>& pieces) {
  RuntimeGraph& graph = rewriter.graph();
  RuntimeNode split;
  split.op_type = "Split";
  split.inputs = {value};
  std::vector<int32_t> gone;
  std::vector<RuntimeNode> squeezes;
  for (const Piece& piece : pieces) {
    const RuntimeNode& node = graph.node(piece.node);
    split.source = node.source;
    gone.push_back(piece.node);
    const int32_t result = node.outputs[0];
    if (!piece.drops_axis) {
      split.outputs.push_back(result);
      continue;
    }
    const NodeId source = node.source;
    const int32_t part = graph.AddLike(result, absl::StrCat(graph.value(result).name, "/Split"));
    for (TensorType* type : {&graph.value(part).type, &graph.value(part).visible}) {
      if (type->has_rank) type->dims.insert(type->dims.begin() + piece.axis, Dim(1));
    }
    split.outputs.push_back(part);
    RuntimeNode squeeze;
    squeeze.op_type = "Squeeze";
    squeeze.source = source;
    squeeze.inputs = {part};
    squeeze.outputs = {result};
    squeezes.push_back(std::move(squeeze));
  }
  rewriter.Replace(gone, std::move(split), "Gather or Slice of all parts -> Split");
  for (RuntimeNode& squeeze : squeezes) rewriter.Replace({}, std::move(squeeze), "");
}

}  // namespace

void FuseSelections(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    const std::vector<int32_t> outputs = graph.node(id).outputs;
    for (const int32_t output : outputs) {
      if (output < 0) continue;
      const std::vector<Piece> pieces = FindPieces(rewriter, output);
      if (!pieces.empty()) SplitInto(rewriter, output, pieces);
    }
  }
}

}  // namespace footprint
