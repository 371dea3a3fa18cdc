// Convolutions, pooling and resizing. A convolution saves its input and weight even where one of
// them takes no gradient; all its gradients come from one call. Max pooling keeps an int64 index
// for each result. Pooling saves its operand too, of which it needs the shape alone. Sizes come
// from shape inference.
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

constexpr absl::string_view kConvolution =
    "input, weight, bias, stride, padding, dilation, groups";
constexpr absl::string_view kTransposed =
    "input, weight, bias, stride, padding, output_padding, groups, dilation";
constexpr absl::string_view kMaxPool =
    "self, kernel_size, stride, padding, dilation, ceil_mode";
constexpr absl::string_view kAveragePool =
    "self, kernel_size, stride, padding, ceil_mode, count_include_pad";
constexpr absl::string_view kAligned = "input, output_size, align_corners, scale_factors";

TorchOp Convolution(absl::string_view name, absl::string_view arguments) {
  return {.name = name, .arguments = arguments, .operands = 2, .node = "ConvolutionBackward0",
          .shape = ResultShape::kDeclared, .strides = ResultStrides::kMemoryFormat,
          .element = ResultElement::kLikeFirst, .saves = {Arg(0).ReadBy({1}), Arg(1).ReadBy({0})},
          .gradients = {{0, GradientForm::kMemoryFormat},
                        {1, GradientForm::kMemoryFormat},
                        {2, GradientForm::kLikeArgument}},
          .autocast = Autocast::kLow, .convolves = true};
}

TorchOp Pool(absl::string_view name, absl::string_view arguments, absl::string_view node,
             bool keeps_indices, bool saves_self = true) {
  TorchOp row = {.name = name, .arguments = arguments, .node = node,
                 .shape = ResultShape::kDeclared, .strides = ResultStrides::kMemoryFormat,
                 .element = ResultElement::kLikeFirst,
                 .gradients = {{0, GradientForm::kMemoryFormat}}};
  if (saves_self) row.saves = {Arg(0).Unread()};
  if (keeps_indices) {
    row.kept = {{.what = "indices", .element = ElementType::kInt64}};
    row.saves.push_back(Kept(0));
  }
  return row;
}

TorchOp MaxPool(absl::string_view name, absl::string_view arguments, absl::string_view node) {
  return Pool(name, arguments, node, /*keeps_indices=*/true);
}
TorchOp AveragePool(absl::string_view name, absl::string_view arguments, absl::string_view node) {
  return Pool(name, arguments, node, /*keeps_indices=*/false);
}

// Saves nothing: sizes are enough.
TorchOp Resize(absl::string_view name, absl::string_view arguments, absl::string_view node) {
  TorchOp row = Pool(name, arguments, node, /*keeps_indices=*/false, /*saves_self=*/false);
  row.autocast = Autocast::kFloat32;
  return row;
}

// To one element per channel it is a mean.
TensorList RunAdaptiveAveragePool(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  const TensorType* declared = a.declared();
  Dims sizes = a.integers(1);
  if (a.size() < 2 && declared != nullptr && declared->dims.size() >= 2) {
    sizes.assign(declared->dims.end() - 2, declared->dims.end());
  }
  bool to_one = !sizes.empty();
  std::vector<int> axes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    to_one &= sizes[i].Is(1);
    axes.push_back(self.rank() - static_cast<int>(sizes.size() - i));
  }
  if (to_one) return {Mean(eager, self, axes, /*keep=*/true)};
  if (sizes.size() > self.shape().size()) return {};
  Dims shape(self.shape().begin(), self.shape().end() - static_cast<int>(sizes.size()));
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  Tensor result = eager.New(shape, self.element());
  eager.Record("AdaptiveAvgPool2DBackward0", {self}, {result},
               {SavedTensor::Unread(self)}, FullGradient());
  return {result};
}

}  // namespace

absl::Span<const TorchOp> ConvolutionTorchOps() {
  static const std::vector<TorchOp> rows = {
      Convolution("aten::conv1d", kConvolution),
      Convolution("aten::conv2d", kConvolution),
      Convolution("aten::conv3d", kConvolution),
      Convolution("aten::conv_transpose1d", kTransposed),
      Convolution("aten::conv_transpose2d", kTransposed),
      Convolution("aten::conv_transpose3d", kTransposed),
      Convolution("aten::convolution",
                  "input, weight, bias, stride, padding, dilation, transposed, output_padding, "
                  "groups"),
      MaxPool("aten::max_pool1d", kMaxPool, "MaxPool2DWithIndicesBackward0"),
      MaxPool("aten::max_pool2d", kMaxPool, "MaxPool2DWithIndicesBackward0"),
      MaxPool("aten::max_pool3d", kMaxPool, "MaxPool3DWithIndicesBackward0"),
      MaxPool("aten::max_pool2d_with_indices", kMaxPool, "MaxPool2DWithIndicesBackward0"),
      MaxPool("aten::adaptive_max_pool1d", "self, output_size", "AdaptiveMaxPool2DBackward0"),
      MaxPool("aten::adaptive_max_pool2d", "self, output_size", "AdaptiveMaxPool2DBackward0"),
      MaxPool("aten::adaptive_max_pool3d", "self, output_size", "AdaptiveMaxPool3DBackward0"),
      AveragePool("aten::avg_pool1d", kAveragePool, "AvgPool2DBackward0"),
      AveragePool("aten::avg_pool2d", kAveragePool, "AvgPool2DBackward0"),
      AveragePool("aten::avg_pool3d", kAveragePool, "AvgPool3DBackward0"),
      {.name = "aten::adaptive_avg_pool1d", .arguments = "self, output_size",
       .run = RunAdaptiveAveragePool},
      {.name = "aten::adaptive_avg_pool2d", .arguments = "self, output_size",
       .run = RunAdaptiveAveragePool},
      {.name = "aten::_adaptive_avg_pool2d", .arguments = "self, output_size",
       .run = RunAdaptiveAveragePool},
      {.name = "aten::adaptive_avg_pool3d", .arguments = "self, output_size",
       .run = RunAdaptiveAveragePool},
      Resize("aten::upsample_nearest1d", "input, output_size, scale_factors",
             "UpsampleNearest1DBackward0"),
      Resize("aten::upsample_nearest2d", "input, output_size, scale_factors",
             "UpsampleNearest2DBackward0"),
      Resize("aten::upsample_nearest3d", "input, output_size, scale_factors",
             "UpsampleNearest3DBackward0"),
      Resize("aten::upsample_linear1d", kAligned, "UpsampleLinear1DBackward0"),
      Resize("aten::upsample_bilinear2d", kAligned, "UpsampleBilinear2DBackward0"),
      Resize("aten::upsample_trilinear3d", kAligned, "UpsampleTrilinear3DBackward0"),
      Resize("aten::upsample_bicubic2d", kAligned, "UpsampleBicubic2DBackward0"),
      Resize("aten::_upsample_bilinear2d_aa", kAligned, "UpsampleBilinear2DAaBackward0"),
      Resize("aten::_upsample_bicubic2d_aa", kAligned, "UpsampleBicubic2DAaBackward0"),
      Resize("aten::_upsample_nearest_exact2d", "input, output_size, scale_factors",
             "UpsampleNearestExact2DBackward0"),
      {.name = "aten::grid_sampler",
       .arguments = "input, grid, interpolation_mode, padding_mode, align_corners",
       .node = "GridSampler2DBackward0", .shape = ResultShape::kDeclared,
       .strides = ResultStrides::kContiguous, .saves = {Arg(0), Arg(1)},
       .gradients = {{0, GradientForm::kLikeArgument}, {1, GradientForm::kLikeArgument}},
       .autocast = Autocast::kPromote},
      {.name = "aten::affine_grid_generator", .arguments = "theta, size, align_corners",
       .node = "AffineGridGeneratorBackward0", .shape = ResultShape::kDeclared,
       .strides = ResultStrides::kContiguous,
       .gradients = {{0, GradientForm::kLikeArgument}}},
  };
  return rows;
}

}  // namespace footprint
