// Options: what a caller may ask of one analysis. Public; the command line fills the same struct.
// Each field is the option of `footprint analyze` of the same name, which `--help` explains. What
// does not go together (an unknown device, a dimension that the model does not have) makes Analyze
// return a Failure with exit code 3.
#ifndef FOOTPRINT_BACKEND_OPTIONS_H_
#define FOOTPRINT_BACKEND_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace footprint {

enum class Mode { kTraining, kInference, kBoth };
enum class Precision { kFp32, kBf16, kFp16, kAmpBf16, kAmpFp16, kMixedMaster };
enum class GradScaler { kAuto, kOn, kOff };  // auto: on with amp-fp16
enum class Loss { kAuto, kNone, kCrossEntropy, kMse, kSum };
enum class Attention { kAuto, kMath, kEfficient, kFlash, kCudnn };
enum class Modules { kRecomposed, kAsExported };
enum class Runtime { kBoth, kIdeal, kOnnxRuntime };
enum class GraphOptimization { kNone, kAll };
enum class Accounting { kAutograd, kGraph, kTextbook };

// A value or shape for one graph input, as given on the command line.
struct InputShape {
  std::string name;
  std::vector<std::string> dims;  // integers or names: "32", "batch"
};
struct InputValue {
  std::string name;
  std::vector<double> values;  // flat, row-major
  // Instead of `values` where all are whole numbers: exact up to 64 bits.
  std::vector<int64_t> integers = {};
  std::optional<std::vector<int64_t>> shape = std::nullopt;  // where the source has one
};

// The most that a figure of the report may be.
struct Budget {
  // "peak", "parameters", "layer:GLOB", "tensor" ...: BudgetSubjects() in backend/gate.h
  std::string subject;
  int64_t limit_bytes = 0;
};

// Values of one dimension, each to be evaluated.
struct Sweep {
  std::string name;
  // At least one; the report itself is of the first that the model can run with.
  std::vector<int64_t> values;
};

struct Options {
  std::string model_path;  // "-" is standard input
  // The model itself, as its file would hold it; model_path only names it then, and its ending says
  // the format. The bytes must outlive the analysis.
  std::optional<std::string_view> model_bytes;
  Mode mode = Mode::kBoth;
  std::vector<std::pair<std::string, int64_t>> dims;  // bindings; unbound names are 1, assumed
  // For names that are not bound otherwise, where the model has them.
  std::vector<std::pair<std::string, int64_t>> default_dims;
  std::vector<InputShape> input_shapes;
  std::vector<InputValue> input_values;
  std::string optimizer = "adamw";
  Precision precision = Precision::kFp32;
  GradScaler grad_scaler = GradScaler::kAuto;
  Loss loss = Loss::kAuto;
  std::vector<std::string> freeze;  // globs on parameter names
  Attention attention = Attention::kAuto;
  Modules modules = Modules::kRecomposed;
  std::string checkpoint;           // glob:PATTERN, every:N or sqrt, on layers; empty: none
  int64_t accumulate = 1;           // micro-batches in a step
  // Nothing refers to inputs and loss any more when the optimizer runs.
  bool drop_step_inputs = false;
  std::string device_file;                // devices of the caller's own; see runtime/devices.txt
  std::string device;                     // that the step shall fit, by name; empty: none
  std::optional<int64_t> device_memory;   // bytes; instead of the device's nominal memory
  bool expandable_segments = false;       // of PyTorch's caching allocator
  Runtime runtime = Runtime::kBoth;       // whose reuse of buffers inference follows
  GraphOptimization graph_optimization = GraphOptimization::kAll;  // by the runtime
  Accounting accounting = Accounting::kAutograd;
  // Replaces the parameter count in textbook accounting and in `footprint bytes`.
  std::optional<int64_t> parameter_count;
  std::vector<Budget> budgets;
  std::optional<Sweep> sweep;
  bool timeline = false;            // fills Report::timelines
  bool strict = false;              // warnings that doubt the result become errors
  std::vector<std::string> idle;    // options given that have no effect here: said in a note
  std::string explain;              // a tensor's name: Report::explanation speaks of it
  std::string dump;                 // a step's name: its printed form goes to Report::dump
  // Called once for each value that is analyzed; may throw, which ends the analysis.
  std::function<void()> poll = nullptr;
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_OPTIONS_H_
