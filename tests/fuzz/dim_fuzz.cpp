// Any text: it is no expression, or one that can be printed, keeps its bounds, and still means the
// same when its print is parsed.
#include <cstdint>
#include <cstdlib>

#include "ir/dim.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  footprint::DimTable table;
  const auto dim = table.Parse(text);
  if (!dim.has_value()) return 0;
  if (dim->is_unknown()) std::abort();
  footprint::DimEvaluator evaluator(table, {}, 3);
  const auto value = evaluator.Evaluate(*dim);
  if (!value.has_value()) return 0;
  const footprint::DimBounds bounds = table.Bounds(*dim);
  if (*value < bounds.lower || *value > bounds.upper) std::abort();
  const auto again = table.Parse(table.ToString(*dim));
  if (again.has_value() && evaluator.Evaluate(*again).value_or(*value) != *value) std::abort();
  return 0;
}
