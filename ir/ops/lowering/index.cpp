// Looking up, gathering, scattering, joining.
#include <algorithm>
#include <iterator>
#include <vector>

#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

// A table of vectors that is trained is an embedding; one position is a select; the rest is
// indexing.
bool LowerGather(LowerContext& ctx) {
  const int64_t axis = Axis(ctx, 0, 0);
  if (ctx.IsNumber(1) && ctx.Rank(1) == 0) {
    ctx.Result("aten::select", {ctx.Tensor(0), TorchArgument::Int(axis), ctx.Argument(1)});
    return true;
  }
  if (ctx.IsParameter(0) && ctx.Rank(0) == 2 && axis == 0) {
    ctx.Result("aten::embedding", {ctx.Tensor(0), ctx.Tensor(1)});
  } else if (ctx.Rank(1) == 1) {
    ctx.Result("aten::index_select", {ctx.Tensor(0), TorchArgument::Int(axis), ctx.Tensor(1)});
  } else {
    std::vector<TorchValueId> indices(static_cast<size_t>(axis));
    indices.push_back(ctx.TensorId(1));
    ctx.Result("aten::index", {ctx.Tensor(0), TorchArgument::Tensors(std::move(indices))});
  }
  return true;
}

// A bag of embeddings is a loop over bags: the indices of one, their rows of the table, and what
// puts these together.
bool LowerBagLoop(LowerContext& ctx) {
  const Graph& graph = ctx.graph();
  const Attribute* body = ctx.node().Find("body");
  if (body == nullptr || !body->region.valid() || ctx.num_operands() > 2) return false;
  static constexpr absl::string_view kReductions[] = {"ReduceSum", "ReduceMean", "ReduceMax"};
  const auto maker = [&graph](ValueId value) {
    const bool is_made = value.valid() && graph.values[value].kind == ValueKind::kNodeOutput;
    return is_made ? &graph.nodes[graph.values[value].producer] : nullptr;
  };
  for (NodeId id : graph.regions[body->region].nodes) {
    const Node& reduction = graph.nodes[id];
    const auto* mode = std::find(std::begin(kReductions), std::end(kReductions), reduction.op_type);
    if (mode == std::end(kReductions)) continue;
    const Node* rows = maker(reduction.input(0));
    if (rows == nullptr || rows->op_type != "Gather") return false;
    const Node* bag = maker(rows->input(1));
    if (bag == nullptr || bag->op_type != "Slice" || ctx.TypeOf(rows->input(0)).rank() != 2) {
      return false;
    }
    const TorchValueId table = ctx.TensorOf(rows->input(0));
    const TorchValueId indices = ctx.TensorOf(bag->input(0));
    const TensorType& result = ctx.ResultType();
    if (!table.valid() || !indices.valid() || result.rank() != 2) return false;
    // Of bags of one size, rows of a matrix of indices, the module makes the offsets itself.
    const TorchValueId offsets =
        ctx.Call("aten::arange", {TorchArgument::Int(result.dims[0])},
                 TensorType::Make(ElementType::kInt64, {result.dims[0]}));
    ctx.Result("aten::embedding_bag",
               {TorchArgument::Tensor(table), TorchArgument::Tensor(indices),
                TorchArgument::Tensor(offsets), TorchArgument::Bool(false),
                TorchArgument::Int(mode - std::begin(kReductions))});
    ctx.SetEvidence(Evidence::kPattern, "a loop over bags of embeddings");
    return true;
  }
  return false;
}

bool LowerGatherElements(LowerContext& ctx) {
  ctx.Result("aten::gather", {ctx.Tensor(0), TorchArgument::Int(Axis(ctx, 0, 0)), ctx.Tensor(1)});
  return true;
}

bool LowerGatherNd(LowerContext& ctx) {
  std::vector<TorchValueId> indices;
  if (!ctx.IsFree(1)) indices.push_back(ctx.TensorId(1));
  ctx.Result("aten::index", {ctx.Tensor(0), TorchArgument::Tensors(std::move(indices))});
  return true;
}

// Masked or sliced assignment: written in place, and indices made from shapes alone are the
// exporter's spelling of a slice.
bool LowerScatterNd(LowerContext& ctx) {
  if (ctx.IsFree(1)) {
    if (IsFloatingPoint(ctx.Type(0).element)) {
      ctx.Result("aten::copy", {ctx.Tensor(0), ctx.Tensor(2)});
    } else {
      ctx.Alias(0, ctx.TensorId(0));
    }
    return true;
  }
  ctx.Result("aten::index_put", {ctx.Tensor(0), TorchArgument::Tensors({ctx.TensorId(1)}),
                                 ctx.Tensor(2), TorchArgument::Bool(false)});
  return true;
}

bool LowerScatterElements(LowerContext& ctx) {
  const bool adds = ctx.node().String("reduction", "none") == "add";
  ctx.Result(adds ? "aten::scatter_add" : "aten::scatter",
             {ctx.Tensor(0), TorchArgument::Int(Axis(ctx, 0, 0)), ctx.Tensor(1), ctx.Tensor(2)});
  return true;
}

bool LowerConcat(LowerContext& ctx) {
  std::vector<TorchValueId> tensors;
  for (int i = 0; i < ctx.num_operands(); ++i) tensors.push_back(ctx.TensorId(i));
  ctx.Result("aten::cat",
             {TorchArgument::Tensors(std::move(tensors)), TorchArgument::Int(Axis(ctx, 0, 1))});
  return true;
}

// PyTorch lists the last axis first, begin and end side by side.
bool LowerPad(LowerContext& ctx) {
  const int rank = ctx.Rank(0);
  std::vector<Dim> pads = ctx.Ints(1);
  if (ctx.node().Has("pads")) {
    const absl::Span<const int64_t> ints = ctx.node().Ints("pads");
    pads.assign(ints.begin(), ints.end());
  }
  if (rank < 0 || pads.size() != 2 * static_cast<size_t>(rank)) return false;
  std::vector<Dim> torch_pads;
  for (size_t i = static_cast<size_t>(rank); i-- > 0;) {
    torch_pads.push_back(pads[i]);
    torch_pads.push_back(pads[static_cast<size_t>(rank) + i]);
  }
  while (torch_pads.size() > 2 && torch_pads.back().Is(0) &&
         torch_pads[torch_pads.size() - 2].Is(0)) {
    torch_pads.resize(torch_pads.size() - 2);
  }
  const absl::string_view mode = ctx.node().String("mode", "constant");
  if (mode == "constant") {
    ctx.Result("aten::constant_pad_nd", {ctx.Tensor(0), IntList(torch_pads), ctx.Argument(2)});
  } else {
    ctx.Result("aten::pad", {ctx.Tensor(0), IntList(torch_pads),
                             TorchArgument::String(mode == "edge" ? "replicate" : "reflect")});
  }
  return true;
}

bool LowerTile(LowerContext& ctx) {
  const std::vector<Dim> repeats = ctx.Ints(1);
  ctx.Result("aten::repeat", {ctx.Tensor(0), IntList(repeats)});
  return true;
}

bool LowerTrilu(LowerContext& ctx) {
  const bool upper = ctx.node().Int("upper", 1) != 0;
  ctx.Result(upper ? "aten::triu" : "aten::tril",
             {ctx.Tensor(0), TorchArgument::Int(ctx.Int(1).value_or(0))});
  return true;
}

bool LowerOneHot(LowerContext& ctx) {
  ctx.Result("aten::one_hot", {ctx.Tensor(0), ctx.Argument(1)});
  return true;
}

bool LowerCumSum(LowerContext& ctx) {
  ctx.Result("aten::cumsum", {ctx.Tensor(0), TorchArgument::Int(ctx.Int(1).value_or(0))});
  return true;
}

bool LowerTopK(LowerContext& ctx) {
  ctx.Result("aten::topk",
             {ctx.Tensor(0), ctx.Argument(1), TorchArgument::Int(Axis(ctx, 0, -1)),
              TorchArgument::Bool(ctx.node().Int("largest", 1) != 0),
              TorchArgument::Bool(ctx.node().Int("sorted", 1) != 0)},
             2);
  return true;
}

constexpr Lowering kRows[] = {
    {.onnx = "Gather", .lower = LowerGather},
    {.onnx = "Loop", .lower = LowerBagLoop},
    {.onnx = "GatherElements", .lower = LowerGatherElements},
    {.onnx = "GatherND", .lower = LowerGatherNd, .free_operands = 1u << 1},
    {.onnx = "ScatterND",
     .lower = LowerScatterNd,
     .free_operands = 1u << 1,
     .made_operands = 0b101},
    {.onnx = "ScatterElements", .lower = LowerScatterElements, .made_operands = 0b101},
    {.onnx = "Concat", .lower = LowerConcat},
    {.onnx = "Pad", .lower = LowerPad},
    {.onnx = "Tile", .lower = LowerTile},
    {.onnx = "Trilu", .lower = LowerTrilu},
    {.onnx = "OneHot", .lower = LowerOneHot},
    {.onnx = "CumSum", .lower = LowerCumSum},
    {.onnx = "TopK", .lower = LowerTopK},
    {.onnx = "NonZero", .torch = "aten::nonzero", .lower = LowerSame},
};

}  // namespace

absl::Span<const Lowering> IndexLowerings() { return kRows; }

}  // namespace footprint
