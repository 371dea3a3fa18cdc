#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "backend/build_report.h"
#include "backend/total.h"
#include "backend/units.h"

namespace footprint {
namespace {

// Some operator of the step runs in a library of matrix products: those that autocast casts down,
// convolutions apart.
bool UsesBlas(const TorchProgram& program) {
  return std::any_of(program.calls.begin(), program.calls.end(), [](const TorchCall& call) {
    return call.op->autocast == Autocast::kLow && !call.op->convolves;
  });
}

// Of the matrix that a convolution unfolds its input into: a column of channels times filter for
// each element of the result. Nothing where the filter is a single element or has one channel.
Dim UnfoldedElements(const TorchProgram& program, const TorchCall& call, DimTable& dims) {
  const auto type = [&](TorchValueId id) {
    return id.valid() ? program.values[id].type : TensorType();
  };
  const TensorType input = type(call.arguments[0].tensor);
  const TensorType filter = type(call.arguments[1].tensor);
  const TensorType result = type(call.results[0]);
  const int rank = filter.rank();
  if (rank < 3 || input.rank() != rank || result.rank() != rank) return 0;
  const Dim size = dims.Product(absl::MakeConstSpan(filter.dims).subspan(2));
  if (size.Is(1) || filter.dims[1].Is(1)) return 0;
  const Dim places = dims.Product(absl::MakeConstSpan(result.dims).subspan(2));
  return dims.Product({input.dims[0], input.dims[1], size, places});
}

// The most that one convolution takes beside its tensors.
Bytes ConvolutionWorkspace(Analysis& analysis, int64_t percent) {
  int64_t largest = 0;
  const TorchProgram& program = analysis.training->program;
  for (const TorchCall& call : program.calls) {
    if (!call.op->convolves || call.results.empty() || percent == 0) continue;
    const Dim elements = UnfoldedElements(program, call, analysis.dims());
    const std::optional<int64_t> count = analysis.evaluator.Evaluate(elements);
    int64_t bytes = 0;
    if (!count || __builtin_mul_overflow(*count, 4 * percent, &bytes)) return std::nullopt;
    largest = std::max(largest, bytes / 100);
  }
  return largest;
}

void AddReasons(const TrainingReport& training, DeviceReport& device) {
  const auto add = [&](Bytes bytes, const char* what) {
    if (bytes.value_or(0) > 0) device.reasons.push_back(BinaryUnits(*bytes) + " " + what);
  };
  add(training.parameter_bytes, "of parameters");
  add(training.gradient_bytes, "of gradients");
  add(training.optimizer_state_bytes, "of optimizer state");
  add(training.saved_bytes, "saved for backward, inputs included");
  add(training.peak.live_bytes, "live at the peak");
  if (training.peak.live_bytes && device.reserved_bytes) {
    add(*device.reserved_bytes - *training.peak.live_bytes, "held by the allocator beyond that");
  }
  add(training.unified_state_bytes, "of optimizer state in unified memory come on top: the driver "
                                    "moves them between host and device");
  device.reasons.emplace_back(
      "the context is an assumption: published figures are 300 to 1000 MiB");
  if (device.nominal) device.reasons.emplace_back("the memory is nominal: a little less is usable");
}

}  // namespace

DeviceReport BuildDevice(Analysis& analysis, const TrainingReport& training) {
  const std::optional<Device>& device = analysis.device;
  const Architecture& architecture = device ? device->architecture : UnnamedArchitecture();
  DeviceReport report;
  report.name = device ? device->name : "of " + BinaryUnits(*analysis.options.device_memory);
  report.architecture = architecture.name;
  report.nominal = !analysis.options.device_memory.has_value();
  report.memory_bytes = analysis.options.device_memory.value_or(device ? device->memory_bytes : 0);
  report.reserved_bytes = training.peak.reserved_bytes;
  report.context_bytes = architecture.context_bytes;
  if (UsesBlas(analysis.training->program)) {
    report.blas_workspace_bytes = kBlasHandles * architecture.matrix_workspace_bytes;
  }
  report.convolution_workspace_bytes =
      ConvolutionWorkspace(analysis, architecture.convolution_percent);
  Total needed;
  needed.Add(report.reserved_bytes);
  needed.Add(report.context_bytes);
  needed.Add(report.blas_workspace_bytes);
  needed.Add(report.convolution_workspace_bytes);
  report.needed_bytes = needed.value();
  if (report.needed_bytes) report.fits = *report.needed_bytes <= report.memory_bytes;
  AddReasons(training, report);
  report.reasons.push_back(
      architecture.convolution_percent == 0
          ? "workspaces of convolutions are left out: they depend on the device"
          : absl::StrCat("the workspace of convolutions is an assumption: ",
                         architecture.convolution_percent, " % of the largest unfolded input"));
  return report;
}

}  // namespace footprint
