#include <algorithm>
#include <string>

#include "backend/build_report.h"
#include "backend/devices.h"
#include "backend/units.h"

namespace footprint {
namespace {

// Some operator of the step runs in a library of matrix products: those that autocast casts down.
bool UsesBlas(const TorchProgram& program) {
  return std::any_of(program.calls.begin(), program.calls.end(),
                     [](const TorchCall& call) { return call.op->autocast == Autocast::kLow; });
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
  device.reasons.emplace_back(
      "the context is an assumption: published figures are 300 to 1000 MiB");
  device.reasons.emplace_back("workspaces of convolutions are left out: they depend on the device");
}

}  // namespace

DeviceReport BuildDevice(const Analysis& analysis, const TrainingReport& training) {
  DeviceReport report;
  const Device* device = FindDevice(analysis.options.device);
  report.name = device != nullptr ? std::string(device->name) : "a device of this size";
  report.memory_bytes =
      analysis.options.device_memory.value_or(device != nullptr ? device->memory_bytes : 0);
  report.memory_is_assumed = !analysis.options.device_memory.has_value();
  report.reserved_bytes = training.peak.reserved_bytes;
  report.context_bytes = kContextBytes;
  if (UsesBlas(analysis.training->program)) {
    report.blas_workspace_bytes =
        kBlasHandles * (device != nullptr ? device->blas_workspace_bytes
                                          : kDefaultBlasWorkspaceBytes);
  }
  if (report.reserved_bytes) {
    report.needed_bytes =
        *report.reserved_bytes + report.context_bytes + report.blas_workspace_bytes;
    report.fits = *report.needed_bytes <= report.memory_bytes;
  }
  AddReasons(training, report);
  return report;
}

}  // namespace footprint
