// Casts, clones, concatenation, padding and rearrangement: new storages whose gradients are,
// mostly, a rearrangement back.
#include <algorithm>
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

TensorList RunTo(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  return {To(eager, self, a.element(1, self.element()))};
}

// Unlike `to`, it copies a tensor that already has the type.
TensorList RunToCopy(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  const ElementType element = a.element(1, self.element());
  if (self.element() != element) return {To(eager, self, element)};
  return {Clone(eager, self, /*contiguous=*/false)};
}

TensorList RunTypeAs(Eager& eager, const CallArguments& a) {
  return {To(eager, a.tensor(0), a.tensor(1).element())};
}

// Down to the type the module's parameters have, if that is a low one; autocast is no such type.
TensorList RunToModuleType(Eager& eager, const CallArguments& a) {
  const ElementType module = eager.mode().module;
  return {module == ElementType::kFloat ? a.tensor(0) : To(eager, a.tensor(0), module)};
}

// clone(memory_format=contiguous_format) is what contiguous() traces to: free if nothing is to be
// done.
TensorList RunClone(Eager& eager, const CallArguments& a) {
  if (!a.text(1).empty()) return {Contiguous(eager, a.tensor(0))};
  return {Clone(eager, a.tensor(0), /*contiguous=*/false)};
}
TensorList RunContiguous(Eager& eager, const CallArguments& a) {
  return {Contiguous(eager, a.tensor(0))};
}

bool HaveOneRank(absl::Span<const Tensor> tensors) {
  return !tensors.empty() && std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
           return t && t.rank() == tensors[0].rank();
         });
}

TensorList RunCat(Eager& eager, const CallArguments& a) {
  if (!HaveOneRank(a.tensors(0)) || a.tensors(0)[0].rank() == 0) return {};
  return {Cat(eager, a.tensors(0), a.constant(1))};
}

// The gradient is taken apart by views.
TensorList RunStack(Eager& eager, const CallArguments& a) {
  const absl::Span<const Tensor> tensors = a.tensors(0);
  if (!HaveOneRank(tensors)) return {};
  const int axis = Axis(a.constant(1), tensors[0].rank() + 1);
  Dims shape = tensors[0].shape();
  shape.insert(shape.begin() + axis, static_cast<int64_t>(tensors.size()));
  Tensor result = eager.New(shape, PromotedElement(tensors));
  const int count = static_cast<int>(tensors.size());
  eager.Record("StackBackward0", tensors, {result}, {}, [axis, count](Backward& b) {
    for (int i = 0; i < count; ++i) {
      if (b.Needs(i)) b.Give(i, Select(b.eager, b.gradient(), axis));
    }
  });
  return {result};
}

// unsqueeze, expand, clone, flatten
TensorList RunRepeatInterleave(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  if (self.rank() == 0) return {};
  const int axis = Axis(a.constant(2, 0), self.rank());
  Dims expanded = self.shape();
  expanded.insert(expanded.begin() + axis + 1, a.integer(1, 1));
  Dims merged = self.shape();
  merged[static_cast<size_t>(axis)] =
      eager.dims().Mul(merged[static_cast<size_t>(axis)], a.integer(1, 1));
  const Tensor copy =
      Clone(eager, Expand(eager, Unsqueeze(eager, self, axis + 1), expanded));
  return {ViewAs(eager, copy, merged)};
}

// The middle and what wraps around are copied into an empty tensor, slice by slice. Backward undoes
// that on a copy of the gradient, slice by slice too; the middle comes last.
TensorList RunPadCircular(Eager& eager, const CallArguments& a) {
  if (a.declared() == nullptr) return {};
  const Tensor& self = a.tensor(0);
  const Tensor result = eager.New(a.declared()->dims, self.element());
  eager.Record("CopySlices", {self}, {result}, {}, [](Backward& b) {
    const Tensor& g = b.gradient();
    const Tensor copy = b.eager.New(g.shape(), g.element(), "temporary");
    b.Give(0, b.eager.New(b.shape(0), b.element(0)));
  });
  return {result};
}

// pad(self, pad, mode, value): only padding with a constant saves nothing; the others save self for
// its shape.
TensorList RunPad(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  const absl::string_view mode = a.text(2);
  if (mode == "circular") return RunPadCircular(eager, a);
  const bool reads_self = !mode.empty() && mode != "constant";
  const TensorType* declared = a.declared();
  Dims shape = declared != nullptr ? declared->dims : self.shape();
  Tensor result = eager.New(shape, self.element());
  eager.Record(reads_self ? "ReflectionPad2DBackward0" : "ConstantPadNdBackward0", {self}, {result},
               {SavedTensor::Unread(reads_self ? self : Tensor())}, FullGradient());
  return {result};
}

// slice_scatter(self, src, ...), select_scatter(self, src, ...): a copy of self with src in it.
TensorList RunScatterInto(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  Tensor result = NewLike(eager, self, self.element());
  eager.Record("SliceScatterBackward0", {self, a.tensor(1)}, {result}, {}, [](Backward& b) {
    const Tensor& g = b.gradient();
    const Dims& shape = b.shape(1);
    if (b.Needs(0)) {
      const Tensor zeros = b.eager.New(shape, g.element(), "temporary");
      b.Give(0, NewLike(b.eager, g, g.element()));
    }
    if (!b.Needs(1)) return;
    // A window of the gradient.
    b.Give(1, b.eager.View(g, shape, ContiguousStrides(b.eager.dims(), shape)));
  });
  return {result};
}

// copy(self, src): src in the shape and type of self.
TensorList RunCopy(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  Tensor result = NewLike(eager, self, self.element());
  eager.Record("CopyBackward0", {a.tensor(1)}, {result}, {},
               [](Backward& b) { b.Give(0, b.gradient()); });
  return {result};
}
TensorList RunFill(Eager& eager, const CallArguments& a) {
  return {NewLike(eager, a.tensor(0), a.tensor(0).element())};
}

// A new contiguous tensor of the size inference found; the gradient is one of the operand's size.
TorchOp Rearranged(absl::string_view name, absl::string_view arguments, absl::string_view node,
                   bool saves_self = false) {
  TorchOp row = {.name = name, .arguments = arguments, .node = node,
                 .shape = ResultShape::kDeclared, .strides = ResultStrides::kContiguous,
                 .gradients = {{0, GradientForm::kLikeArgument}}};
  if (saves_self) row.saves = {Arg(0).Unread()};
  return row;
}

}  // namespace

absl::Span<const TorchOp> CopyTorchOps() {
  constexpr bool kSavesSelf = true;
  static const std::vector<TorchOp> rows = {
      {.name = "aten::to", .arguments = "self, dtype", .run = RunTo},
      {.name = "aten::_to_copy", .arguments = "self, dtype", .run = RunToCopy},
      {.name = "prims::convert_element_type", .arguments = "self, dtype", .run = RunToCopy},
      {.name = "aten::type_as", .arguments = "self, other", .operands = 2, .run = RunTypeAs},
      {.name = "footprint::to_module_type", .arguments = "self", .run = RunToModuleType},
      {.name = "aten::clone", .arguments = "self, memory_format", .run = RunClone},
      {.name = "aten::contiguous", .arguments = "self, memory_format", .run = RunContiguous},
      {.name = "aten::cat", .arguments = "tensors, dim", .run = RunCat},
      {.name = "aten::stack", .arguments = "tensors, dim", .run = RunStack},
      {.name = "aten::repeat_interleave", .arguments = "self, repeats, dim",
       .run = RunRepeatInterleave},
      {.name = "aten::_pad_circular", .arguments = "self, pad", .run = RunPadCircular},
      {.name = "aten::pad", .arguments = "self, pad, mode, value", .run = RunPad},
      {.name = "aten::slice_scatter", .arguments = "self, src, dim, start, end, step",
       .operands = 2, .run = RunScatterInto},
      {.name = "aten::select_scatter", .arguments = "self, src, dim, index", .operands = 2,
       .run = RunScatterInto},
      {.name = "aten::copy", .arguments = "self, src", .operands = 2, .run = RunCopy},
      {.name = "aten::fill", .arguments = "self, value", .run = RunFill},
      Rearranged("aten::repeat", "self, repeats", "RepeatBackward0"),
      Rearranged("aten::tile", "self, dims", "RepeatBackward0"),
      Rearranged("aten::roll", "self, shifts, dims", "RollBackward0"),
      Rearranged("aten::flip", "self, dims", "FlipBackward0"),
      Rearranged("aten::tril", "self, diagonal", "TrilBackward0"),
      Rearranged("aten::triu", "self, diagonal", "TriuBackward0"),
      Rearranged("aten::constant_pad_nd", "self, pad, value", "ConstantPadNdBackward0"),
      Rearranged("aten::reflection_pad1d", "self, padding", "ReflectionPad1DBackward0", kSavesSelf),
      Rearranged("aten::reflection_pad2d", "self, padding", "ReflectionPad2DBackward0", kSavesSelf),
      Rearranged("aten::reflection_pad3d", "self, padding", "ReflectionPad3DBackward0", kSavesSelf),
      Rearranged("aten::replication_pad1d", "self, padding", "ReplicationPad1DBackward0",
                 kSavesSelf),
      Rearranged("aten::replication_pad2d", "self, padding", "ReplicationPad2DBackward0",
                 kSavesSelf),
      Rearranged("aten::replication_pad3d", "self, padding", "ReplicationPad3DBackward0",
                 kSavesSelf),
      Rearranged("aten::pixel_shuffle", "self, upscale_factor", "PixelShuffleBackward0"),
      Rearranged("aten::pixel_unshuffle", "self, downscale_factor", "PixelUnshuffleBackward0"),
      Rearranged("aten::channel_shuffle", "self, groups", "NativeChannelShuffleBackward0"),
      Rearranged("aten::im2col", "self, kernel_size, dilation, padding, stride",
                 "Im2ColBackward0"),
      Rearranged("aten::col2im", "self, output_size, kernel_size, dilation, padding, stride",
                 "Col2ImBackward0"),
  };
  return rows;
}

}  // namespace footprint
