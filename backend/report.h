// Report: the result of one analysis as plain data. Public; every writer prints from this alone.
// Bytes are exact integers. nullopt is "unknown", never zero.
#ifndef FOOTPRINT_BACKEND_REPORT_H_
#define FOOTPRINT_BACKEND_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace footprint {

using Bytes = std::optional<int64_t>;

// "exact", "bounded", "assumed" or "unknown": see README.
using CertaintyWord = std::string;

struct ReportDiagnostic {
  std::string severity;  // "note", "warning", "error"
  std::string kind;      // stable kebab-case name
  std::string place;
  std::string message;
};

struct Binding {
  std::string name;
  int64_t value = 0;
  bool assumed = false;  // not given: bound to 1
};

// Bytes by category, not rounded. Absent categories are zero.
struct CategoryBytes {
  int64_t parameter = 0;
  int64_t buffer = 0;
  int64_t constant = 0;
  int64_t input = 0;
  int64_t saved_activation = 0;  // inputs that autograd saves are counted under input
  int64_t transient = 0;
  int64_t gradient = 0;
  int64_t activation_gradient = 0;
  int64_t optimizer_state = 0;
  int64_t workspace = 0;
};

// A storage that is alive at a peak.
struct LiveStorage {
  std::string name;
  Bytes bytes;        // not rounded
  std::string category;
  std::string layer;  // path
  std::string reason;
  std::string storage;  // id in Report::storages
};

struct Peak {
  Bytes live_bytes;       // of all live storages together, each rounded up to 512 in training
  bool is_bounded = false;  // run-time data decides sizes: at most so many bytes
  // Training: blocks that PyTorch's caching allocator hands out at the same time, and segments that
  // it holds, in the steady state. Unknown for inference.
  Bytes allocated_bytes;
  Bytes reserved_bytes;
  std::string phase;      // "forward", "backward", "optimizer"; empty for inference
  std::string step;       // operator or gradient: "ConvolutionBackward0"
  std::string node;       // the ONNX node's name
  std::string layer;
  std::vector<LiveStorage> live;  // largest first
};

struct PhaseReport {
  std::string name;
  Bytes peak_bytes;  // live bytes, each storage rounded up to 512
};

struct TrainingReport {
  std::string optimizer;
  std::string precision;
  bool scales_loss = false;                    // with GradScaler
  std::string loss;                            // "from the model", "cross-entropy (assumed)", ...
  int64_t accumulate = 1;                      // micro-batches; figures are of the last one
  std::vector<std::string> checkpoints;        // layers that backward computes again, by segment
  bool complete = true;                        // false: some operators were lowered generically
  std::vector<std::string> generic_operators;  // "3 x NonMaxSuppression"
  int64_t unknown_storages = 0;                // of unknown size: every total leaves them out
  Bytes parameter_bytes;
  Bytes buffer_bytes;
  Bytes gradient_bytes;
  Bytes optimizer_state_bytes;  // on the device
  Bytes unified_state_bytes;    // of paged optimizers: in unified memory, in no other figure
  Bytes input_bytes;  // step inputs, an assumed target included
  Bytes saved_bytes;  // unique storages kept for backward; inputs included
  Bytes saved_excluding_inputs_bytes;
  // Of saved_excluding_inputs, in the model's dimension names; it holds for other sizes as long as
  // what is decided by them stays decided as at these bindings.
  std::string saved_expression;
  Bytes after_forward_bytes;        // everything live after forward, 512-rounded
  std::vector<PhaseReport> phases;  // forward, backward, optimizer
  Peak peak;
};

// What a budget was held against, and what is over it.
struct GateViolation {
  std::string place;  // "layer encoder/layer.0", "in backward, at AddBackward0"; may be empty
  Bytes bytes;        // unknown is over every limit
  std::string why;    // where bytes alone do not tell
};
struct GateReport {
  std::string name;  // as asked for: "peak", "layer:encoder.*", "device a100-80gb"
  int64_t limit_bytes = 0;
  Bytes actual_bytes;  // the largest figure that the limit is for
  bool passed = false;
  std::vector<GateViolation> violations;  // largest first
};

// One step of a run, at its own peak.
struct TimelineStep {
  std::string phase;  // "forward", "backward", "optimizer"; empty for inference
  std::string name;   // operator or gradient
  std::string node;
  std::string layer;
  int64_t live_bytes = 0;  // storages of unknown size left out
  // Each storage rounded as in live_bytes, which is their sum unless sizes that data decides are
  // bounded together.
  CategoryBytes bytes;
};
struct ReportTimeline {
  std::string run;  // "training", "inference"
  std::vector<TimelineStep> steps;
};

// The figures of one value of a swept dimension.
struct SweepPoint {
  int64_t value = 0;
  std::string error;  // why the model cannot run with it; then no figure is known
  Bytes saved_bytes;
  Bytes training_peak_bytes;
  Bytes inference_peak_bytes;
  Bytes activation_peak_bytes;
};
// Neighbouring values whose training peak (inference's, if there is no training) is the sum of the
// same storages: the formula leaves out that each is rounded up.
struct SweepPiece {
  int64_t first = 0;
  int64_t last = 0;
  std::string expression;
};
struct SweepReport {
  std::string name;
  std::vector<SweepPoint> points;
  std::vector<SweepPiece> pieces;
};

// The largest value of a dimension that fits a device.
struct FitChange {
  std::string change;  // "--precision amp-bf16"
  Bytes needed_bytes;
  std::optional<bool> fits;
};
struct FitReport {
  std::string name;
  std::optional<int64_t> largest;  // nullopt: not even 1 fits
  Bytes needed_bytes;              // at `largest`, or at 1
  int64_t margin_bytes = 0;        // what is left, or missing at 1
  Bytes next_needed_bytes;         // at the next value, which does not fit
  std::string binds;  // the largest part of what does not fit, or why the model cannot run with it
  int64_t asked = 0;               // the value that the report is of
  std::vector<FitChange> changes;  // of options, at the value asked for, each on its own
};

// What a training step takes of a device, and whether it fits.
struct DeviceReport {
  std::string name;
  std::string architecture;         // "sm_90"; empty: no device was named
  int64_t memory_bytes = 0;
  bool nominal = false;             // as the device is sold, assumed; else as given
  Bytes reserved_bytes;             // by PyTorch's allocator
  int64_t context_bytes = 0;        // of the driver, and kernels; assumed
  int64_t blas_workspace_bytes = 0; // of matrix products; zero if there are none
  Bytes convolution_workspace_bytes;  // of the largest one; assumed
  Bytes needed_bytes;               // the sum
  std::optional<bool> fits;
  std::vector<std::string> reasons; // what the largest parts are, and what is left out
};

// Where one tensor of a plan lies.
struct PlannedTensor {
  std::string name;
  Bytes bytes;
  std::string placement;  // "own", "alias", "in place", "reused"
};
// One allocation of a runtime: alive in [first_step, last_step], also between its tensors.
struct RuntimeBuffer {
  std::string id;  // "b3"
  Bytes bytes;     // rounded as the runtime does
  int64_t first_step = 0;
  int64_t last_step = 0;
  bool at_peak = false;
  std::vector<PlannedTensor> tensors;  // in the order in which they are placed
};
// Why a runtime takes more than the ideal: bytes at its peak of a buffer that nobody needs then.
struct RuntimeGap {
  Bytes bytes;
  std::string buffer;
  std::string held_for;  // the tensor that is placed in it next, or that lives too long
  std::string reason;
};
struct RuntimeReport {
  std::string name;          // "ideal", "onnxruntime"
  std::string optimization;  // "none", "all"
  Bytes activation_peak_bytes;  // scratch included; outputs too; neither weights nor inputs
  int64_t scratch_bytes = 0;    // the part of it
  int64_t unknown_buffers = 0;  // of unknown size: left out
  std::string peak_step;        // "Conv /conv1/Conv"
  // Constants that are computed beforehand and stored beside the weights.
  int64_t folded_constant_bytes = 0;
  // Stored numbers of few bits in full width: each of them is an activation while it is read; all
  // of them would be stored if dequantization were computed beforehand.
  int64_t dequantized_weight_bytes = 0;
  // ONNX Runtime: with memory patterns, one block for all buffers but what is handed out, as soon
  // as sizes were seen once; and what its arena holds after a run without them.
  Bytes pattern_block_bytes;
  Bytes pattern_peak_bytes;  // with outputs and scratch
  Bytes arena_power_of_two_bytes;
  Bytes arena_as_requested_bytes;
  // Weights and folded constants once a session is ready, each rounded as the runtime does: copies
  // in the layout that kernels multiply from, beside those that some kernel reads as stored.
  int64_t weight_bytes = 0;
  int64_t prepacked_weight_bytes = 0;  // of them, the copies
  int64_t released_weight_bytes = 0;   // stored, and given up once they were copied
  std::string prepacked_for;           // the processor whose copies these are; empty: none
  std::vector<std::string> rewrites;  // "MatMul + Add -> Gemm: 24"
  std::vector<RuntimeGap> gaps;       // largest first
  std::vector<RuntimeBuffer> buffers;
};

// Keys and values that a decoder keeps from one token to the next. They are inputs and outputs of
// the model, and are counted there.
struct KvCacheReport {
  int64_t tensors = 0;
  Bytes past_bytes;     // part of the inputs
  Bytes present_bytes;  // part of the outputs
  bool shared = false;   // past and present may be one buffer, so that it counts once
  bool assumed = false;  // some were found by their names alone
  Bytes bytes_per_token;
  std::string bytes_per_token_expression;
  // With a device: the length at which weights, cache and the rest of the peak fill it.
  std::optional<int64_t> full_at_length;
};

struct InferenceReport {
  Bytes activation_peak_bytes;  // ideal liveness peak: initializers and the caller's inputs apart
  std::string activation_peak_expression;  // of the storages alive at this peak
  Bytes input_bytes;
  int64_t constant_foldable_bytes = 0;  // of all activations that rest on stored constants alone
  Bytes output_bytes;
  bool output_is_bounded = false;  // as in Peak
  Bytes weight_bytes;            // initializers and constants
  int64_t unknown_storages = 0;  // of unknown size: every total leaves them out
  Peak peak;                     // initializers and inputs included
  std::vector<RuntimeReport> runtimes;  // the headline's last
  std::optional<KvCacheReport> kv_cache;
};

// What the file holds, and in which forms.
struct StoredReport {
  int64_t bytes = 0;                  // every stored tensor once
  int64_t referenced_bytes = 0;       // of them, those that some node reads
  int64_t sparse_bytes = 0;           // of them, those stored as values and their indices
  int64_t sparse_as_dense_bytes = 0;  // the same as dense tensors
  int64_t string_payload_bytes = 0;   // of them, characters of strings
};

struct ReportTensor {
  std::string name;
  std::string dtype;
  bool has_shape = false;        // rank known
  std::vector<Bytes> shape;      // nullopt: that dimension is unknown
  std::string shape_expression;  // "[batch, 3, 224, 224]"
  Bytes bytes;
  std::string bytes_expression;
  std::string category;  // CategoryName
  std::string layer;
  std::string producer;               // "Conv /conv1/Conv"; empty for inputs and initializers
  std::vector<std::string> saved_by;  // "aten::conv2d /conv1/Conv"
  std::optional<int64_t> first_step;  // training steps if training was analyzed, else inference's
  std::optional<int64_t> last_step;
  std::string storage;  // id in storages; empty: none
  CertaintyWord certainty;
  std::string stored_in;  // "initializer", "node"; empty: not stored
  std::string stored_as;  // "dense", "sparse", "string payload"; empty: not stored
  int64_t stored_bytes = 0;
  Bytes dense_bytes;               // where stored_as is "sparse"
  bool constant_foldable = false;  // computed from stored constants alone
};

struct ReportStorage {
  std::string id;  // "s12"; inference has its own: "i12"
  std::string name;
  Bytes bytes;
  std::string category;
  std::string layer;
  std::optional<int64_t> first_step;
  std::optional<int64_t> last_step;
  std::string reason;
  CertaintyWord certainty;
};

struct ReportLayer {
  std::string path;  // "encoder/layer.0"; "" is what belongs to no layer
  std::string class_name;
  int depth = 0;  // components of the path
  int64_t parameter_count = 0;
  CategoryBytes own;    // storages of exactly this layer
  CategoryBytes total;  // with everything below it
};

struct OperatorCount {
  std::string op_type;  // "Conv", "com.microsoft::Gelu"
  int64_t count = 0;
  bool has_row = true;  // false: shapes came from ONNX's schema, a declaration, or nowhere
};

struct UnknownValue {
  std::string name;
  std::string producer;
  std::string why;
};

struct TextbookLayer {
  std::string name;
  std::string kind;  // "token embedding", "position embedding", "attention", "feed forward", ...
  std::string kind_detail;  // operators counted
  int64_t bytes = 0;
};
struct TextbookReport {
  int64_t parameter_count = 0;
  int64_t parameter_bytes = 0;
  int64_t gradient_bytes = 0;
  int64_t optimizer_state_bytes = 0;
  Bytes activation_bytes;
  Bytes total_bytes;
  std::vector<TextbookLayer> layers;
  std::vector<std::string> notes;  // one line each on why it differs from what PyTorch allocates
};

// A storage of which PyTorch keeps more than the mathematics of the gradients reads.
struct SurplusStorage {
  std::string name;
  Bytes bytes;  // that are not needed
  std::string category;
  std::string layer;
  std::string reason;
  std::string storage;  // id in Report::storages
};

// What the mathematics of the gradients needs, beside what PyTorch keeps for them.
struct GradientNeeds {
  Bytes needed_bytes;  // of unique storages; parameters and buffers apart, inputs included
  Bytes needed_excluding_inputs_bytes;
  Bytes surplus_bytes;  // that PyTorch keeps beyond it
  // Needed instead of a part of that, though PyTorch does not keep it.
  Bytes instead_bytes;
  std::vector<SurplusStorage> surplus;  // largest first
};

// How the model's parameters weigh in other widths.
struct WidthBytes {
  std::string name;  // "fp32", "fp16/bf16", "int8", "int4"
  int64_t bytes = 0;
};

// Where the bytes of one tensor are in one run of the model, who keeps them, and until when.
struct ExplainedRun {
  std::string run;  // "training", "inference", "onnxruntime"
  std::string call;      // the PyTorch operator that the producer stands for; empty: none
  std::string evidence;  // what that rests on
  std::string storage;   // id
  Bytes bytes;           // of the storage
  std::string category;
  std::string reason;
  std::string made_by;      // a step: "forward: aten::conv2d"
  std::string alive_until;  // the last step in which it is alive
  std::vector<std::string> saved_by;
  std::vector<std::string> shares_with;  // other tensors of the file in the same storage
  bool at_peak = false;
};

struct Explanation {
  ReportTensor tensor;
  std::vector<ExplainedRun> runs;
};

struct Report {
  std::string model_path;
  std::string model_name;
  std::string producer;
  std::vector<std::pair<std::string, int64_t>> opsets;
  int64_t node_count = 0;
  std::vector<Binding> bindings;
  // What was asked for, by the names of the command line; with model and bindings it decides every
  // figure of the report.
  std::vector<std::pair<std::string, std::string>> settings;
  int64_t parameter_count = 0;
  int64_t parameter_bytes = 0;  // in the types of the file, tied weights once
  // Of the file: an export may have folded or merged parameters that a step of training has.
  int64_t file_parameter_count = 0;
  int64_t file_parameter_bytes = 0;
  int64_t trainable_parameter_count = 0;
  int64_t buffer_bytes = 0;
  int64_t constant_bytes = 0;
  StoredReport stored;
  std::vector<WidthBytes> widths;
  std::optional<TrainingReport> training;
  std::optional<InferenceReport> inference;
  std::optional<TextbookReport> textbook;
  std::optional<GradientNeeds> gradient_needs;
  std::optional<DeviceReport> device;
  std::optional<SweepReport> sweep;
  std::optional<FitReport> fit;
  std::vector<GateReport> gates;          // in the order of Options::budgets, the device last
  std::vector<ReportTimeline> timelines;  // if Options::timeline
  std::vector<ReportTensor> tensors;
  std::vector<ReportStorage> storages;
  std::vector<ReportLayer> layers;  // in module order
  // Sum over storages of rounding up to 512, by trace: a line of its own.
  int64_t rounding_bytes = 0;
  std::vector<OperatorCount> operators;
  std::vector<ReportDiagnostic> diagnostics;
  std::vector<UnknownValue> unknown;
  std::optional<Explanation> explanation;
  std::string dump;
};

// What went wrong when there is no report.
struct Failure {
  int exit_code = 2;  // 2: the model is wrong; 3: the command, a file or a binding is
  std::vector<ReportDiagnostic> diagnostics;  // at least one error
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_H_
