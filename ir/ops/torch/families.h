// The families of TorchOp rows, one file each. Every row of PyTorch's table belongs to exactly one.
#ifndef FOOTPRINT_IR_OPS_TORCH_FAMILIES_H_
#define FOOTPRINT_IR_OPS_TORCH_FAMILIES_H_

#include "absl/types/span.h"
#include "ir/torch_op.h"

namespace footprint {

absl::Span<const TorchOp> UnaryTorchOps();        // one operand, element by element
absl::Span<const TorchOp> BinaryTorchOps();       // arithmetic, comparison, selection
absl::Span<const TorchOp> ReductionTorchOps();
absl::Span<const TorchOp> ViewTorchOps();         // share their operand's storage
absl::Span<const TorchOp> CopyTorchOps();         // casts, clones, concatenation, padding
absl::Span<const TorchOp> IndexTorchOps();        // gather, scatter, embedding
absl::Span<const TorchOp> ConvolutionTorchOps();  // and pooling, resizing
absl::Span<const TorchOp> NormTorchOps();
absl::Span<const TorchOp> MatmulTorchOps();       // and linear, einsum
absl::Span<const TorchOp> AttentionTorchOps();
absl::Span<const TorchOp> LossTorchOps();
absl::Span<const TorchOp> DistanceTorchOps();     // between vectors
absl::Span<const TorchOp> CreationTorchOps();     // tensors from nothing: no gradient
absl::Span<const TorchOp> RecurrentTorchOps();    // layers and cells
absl::Span<const TorchOp> OtherTorchOps();        // dropout, what PyTorch lacks

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_TORCH_FAMILIES_H_
