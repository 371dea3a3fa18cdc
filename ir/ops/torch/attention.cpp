// scaled_dot_product_attention. The math path is made of ordinary operators: query and key are
// scaled first (the scaled query lives until the operator returns), the probabilities are saved,
// and in 16 bits everything runs on float32 copies that live as long. The fused kernels save their
// operands, the result and one number for each row; they differ in layout, which decides what the
// reshape after them copies:
//
//             result and gradients          row statistics
//   efficient [batch, query, head, size]    rows rounded up to 32
//   flash     like the query                as they are
//   cudnn     like the query                as they are
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

constexpr ElementType kFloat = ElementType::kFloat;

bool IsLow(ElementType element) {
  return element == ElementType::kBfloat16 || element == ElementType::kFloat16;
}

struct Attention {
  Tensor query, key, value, mask;
  double dropout = 0;
  bool causal = false;
  bool repeats = false;  // heads of keys and values, until there is one for each query head
};

// Key and value heads repeated until there is one for each query head.
Tensor RepeatHeads(Eager& eager, const Tensor& tensor, const Tensor& query) {
  const int axis = tensor.rank() - 3;
  if (axis < 0 || eager.Equal(tensor.dim(axis), query.dim(axis))) return tensor;
  const Dim times = eager.dims().FloorDiv(query.dim(axis), tensor.dim(axis));
  Dims expanded = tensor.shape();
  expanded.insert(expanded.begin() + axis + 1, times);
  Dims merged = tensor.shape();
  merged[static_cast<size_t>(axis)] = query.dim(axis);
  return ViewAs(eager, Clone(eager, Expand(eager, Unsqueeze(eager, tensor, axis + 1), expanded)),
                merged);
}

Tensor MathAttention(Eager& eager, const Attention& in) {
  const ElementType source = in.query.element();
  const bool widens = IsLow(source);
  const ElementType element = widens ? kFloat : source;
  const Tensor query = To(eager, in.query, element);
  const Tensor key = To(eager, in.key, element);
  const Tensor value = To(eager, in.value, element);
  Tensor mask = in.mask;
  if (in.causal) {
    const Tensor ones = eager.New({query.dim(query.rank() - 2), key.dim(key.rank() - 2)},
                                  ElementType::kBool, "causal mask");
    mask = eager.New(ones.shape(), element, "causal mask");
  }
  const Tensor scaled_query = Scale(eager, query);
  const Tensor keys = RepeatHeads(eager, key, query);
  Tensor scores = Matmul(eager, scaled_query, Scale(eager, Transpose(eager, keys, -1, -2)));
  if (mask) scores = Add(eager, scores, mask);
  Tensor probabilities = Softmax(eager, scores, ElementType::kUndefined);
  scores = Tensor();
  if (in.dropout > 0) probabilities = Dropout(eager, probabilities);
  const Tensor returned = widens ? To(eager, probabilities, source) : Tensor();
  const Tensor result = Matmul(eager, probabilities, RepeatHeads(eager, value, query));
  return widens ? To(eager, result, source) : result;
}

// [batch, head, row, size] on a storage in the order [batch, row, head, size].
Tensor NewRowsFirst(Eager& eager, const Dims& shape, ElementType element) {
  const Tensor stored = eager.New({shape[0], shape[2], shape[1], shape[3]}, element);
  return eager.Alias(stored, shape, Dims{stored.strides()[0], stored.strides()[2],
                                         stored.strides()[1], stored.strides()[3]});
}

absl::string_view NodeName(AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::kFlash: return "ScaledDotProductFlashAttentionBackward0";
    case AttentionKernel::kCudnn: return "ScaledDotProductCudnnAttentionBackward0";
    default: return "ScaledDotProductEfficientAttentionBackward0";
  }
}

// The fused kernels take masks whose rows begin at multiples of 8 elements: others are padded
// first, and what is handed on is a window of the padded copy.
Tensor AlignedMask(Eager& eager, const Tensor& mask, const Dims& scores) {
  constexpr int64_t kElements = 8;
  const auto is_aligned = [&](Dim stride) {
    return eager.Equal(eager.dims().RoundUp(stride, kElements), stride);
  };
  bool aligned = mask.rank() == 0 || eager.Equal(mask.strides().back(), 1);
  for (int i = 0; i + 1 < mask.rank(); ++i) {
    aligned &= is_aligned(mask.strides()[static_cast<size_t>(i)]);
  }
  if (aligned) return Expand(eager, mask, scores);
  Dims dims = mask.shape();
  const Dim last = dims.back();
  dims.back() = eager.dims().RoundUp(eager.dims().Add(last, 1), kElements);
  const Tensor padded = eager.New(dims, mask.element(), "mask with aligned rows");
  eager.NoteCopy(padded, mask);
  eager.Record("ConstantPadNdBackward0", {mask}, {padded}, {}, [](Backward& b) {
    b.Give(0, b.eager.New(b.shape(0), b.gradient().element()));
  });
  return Expand(eager, Slice(eager, padded, mask.rank() - 1, last), scores);
}

Tensor FusedAttention(Eager& eager, const Attention& in, AttentionKernel kernel) {
  const bool efficient = kernel == AttentionKernel::kEfficient;
  const Tensor& query = in.query;
  const Tensor& key = in.key;
  const Tensor& value = in.value;
  const Dims scores = {query.dim(0), query.dim(1), query.dim(2), key.dim(2)};
  const Tensor mask = in.mask ? AlignedMask(eager, in.mask, scores) : in.mask;
  Dims shape = query.shape();
  shape[3] = value.dim(3);
  const Tensor result = efficient ? NewRowsFirst(eager, shape, query.element())
                                  : NewLike(eager, query, query.element());
  Dims rows = {query.dim(0), query.dim(1), query.dim(2)};
  if (efficient) rows[2] = eager.dims().RoundUp(rows[2], 32);
  if (kernel == AttentionKernel::kCudnn) rows.push_back(1);
  const Tensor logsumexp = eager.New(rows, kFloat, "logsumexp");
  const bool flash = kernel == AttentionKernel::kFlash;
  const ElementType state = flash ? ElementType::kUint64 : ElementType::kInt64;
  const uint32_t reads_random = in.dropout > 0 ? SavedOperand::kReadByAll : 0;
  const Tensor seed = eager.New(flash ? Dims{Dim(2)} : Dims{}, state, "random seed");
  const Tensor offset = eager.New({}, state, "random offset");
  eager.Record(NodeName(kernel), {query, key, value, mask}, {result},
               {query, key, value, mask, result, logsumexp,
                SavedTensor::ReadBy(seed, reads_random), SavedTensor::ReadBy(offset, reads_random)},
               [efficient, scores](Backward& b) {
                 for (int i : {0, 1, 2}) {
                   const Tensor& operand = b.saved(i);
                   b.Give(i, efficient ? NewRowsFirst(b.eager, operand.shape(), operand.element())
                                       : NewLike(b.eager, operand, operand.element()));
                 }
                 // Rows of a mask that trains are aligned; its gradient is a window of them.
                 if (!b.Needs(3)) return;
                 Dims aligned = scores;
                 aligned[3] = b.eager.dims().RoundUp(scores[3], 16);
                 const Tensor block = b.eager.New(aligned, b.gradient().element());
                 b.Give(3, b.eager.View(block, scores, block.strides()));
               });
  return result;
}

// What PyTorch would pick on a recent GPU; a kernel that was asked for, where it can be had.
AttentionKernel Choose(Eager& eager, const Attention& in) {
  AttentionKernel kernel = eager.mode().attention;
  if (in.query.rank() != 4 || in.key.rank() != 4 || in.value.rank() != 4) {
    return AttentionKernel::kMath;
  }
  if (in.mask && in.mask.rank() > in.query.rank()) return AttentionKernel::kMath;
  const bool is_low = IsLow(in.query.element());
  if (kernel == AttentionKernel::kAuto) {
    const bool small_heads = !eager.Less(256, in.query.dim(3));
    kernel = small_heads ? AttentionKernel::kFlash : AttentionKernel::kEfficient;
  }
  const bool is_flash = kernel == AttentionKernel::kFlash;
  if ((is_flash && in.mask) || (!is_low && (is_flash || kernel == AttentionKernel::kCudnn))) {
    kernel = AttentionKernel::kEfficient;
  }
  const bool may_repeat = in.repeats && kernel != AttentionKernel::kEfficient;
  if (!may_repeat && !eager.Equal(in.query.dim(1), in.key.dim(1))) return AttentionKernel::kMath;
  return kernel;
}

// query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa
TensorList RunAttention(Eager& eager, const CallArguments& a) {
  Attention in = {.query = a.tensor(0), .key = a.tensor(1), .value = a.tensor(2),
                  .mask = a.tensor(3), .dropout = a.number(4), .causal = a.boolean(5),
                  .repeats = a.boolean(7)};
  if (in.mask && in.mask.element() == ElementType::kBool) {
    in.mask = NewLike(eager, in.mask, in.query.element(), "mask as numbers");
  }
  if (in.query.rank() < 2 || in.key.rank() < 2 || in.value.rank() < 2) return {};
  const AttentionKernel kernel = Choose(eager, in);
  if (kernel == AttentionKernel::kMath) return {MathAttention(eager, in)};
  return {FusedAttention(eager, in, kernel)};
}

}  // namespace

absl::Span<const TorchOp> AttentionTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::scaled_dot_product_attention",
       .arguments =
           "query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa",
       .operands = 3,
       .autocast = Autocast::kLow, .run = RunAttention},
  };
  return rows;
}

}  // namespace footprint
