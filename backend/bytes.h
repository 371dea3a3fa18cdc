// What a number of parameters weighs: in each width, and in training under the regimes that people
// quote as "12, 16 or 18 bytes per parameter". Closed forms; no model is read.
#ifndef FOOTPRINT_BACKEND_BYTES_H_
#define FOOTPRINT_BACKEND_BYTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/report.h"
#include "backend/terminal.h"

namespace footprint {

// One way to train, in bytes per parameter and in bytes.
struct TrainingRegime {
  std::string name;
  int64_t parameter_width = 0;
  int64_t gradient_width = 0;
  int64_t master_width = 0;
  int64_t state_width = 0;
  int64_t width = 0;  // the sum of the above
  int64_t parameter_bytes = 0;
  int64_t gradient_bytes = 0;
  int64_t master_bytes = 0;
  int64_t optimizer_state_bytes = 0;
  int64_t total_bytes = 0;
};

struct BytesReport {
  int64_t parameter_count = 0;
  std::vector<WidthBytes> widths;  // fp32, fp16/bf16, int8, int4
  std::string optimizer;           // empty: none was chosen, no regimes
  std::vector<TrainingRegime> regimes;
};

// fp32, fp16/bf16, int8 and int4; half bytes are rounded up once. Nullopt: does not fit 64 bits.
std::optional<std::vector<WidthBytes>> BytesOfWidths(int64_t parameter_count);

// How many values of a parameter's own size an optimizer keeps between steps: adamw keeps 2.
// Nullopt: no such optimizer, or one whose state depends on the shapes of the parameters.
std::optional<int64_t> StateValuesPerParameter(std::string_view optimizer);
std::vector<std::string> OptimizerNames();

// `optimizer` is empty or one of OptimizerNames(). Nullopt: does not fit 64 bits.
std::optional<BytesReport> ComputeBytes(int64_t parameter_count, std::string_view optimizer);

std::string BytesJson(const BytesReport& report);
std::string BytesText(const BytesReport& report, const Terminal& terminal);

// Articles add gigabytes (10^9) of parameters, gradients and state to gibibytes (2^30) of
// activations. One line that says what such a sum prints and what is right; empty where the
// activations are unknown.
std::string MixedUnitsNote(const TextbookReport& textbook);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_BYTES_H_
