#include "ir/ops/lowering/lowering.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

struct Tables {
  absl::flat_hash_map<absl::string_view, const Lowering*> operators;
  std::vector<const Lowering*> shapes;

  Tables() {
    for (absl::Span<const Lowering> family :
         {AttentionLowerings(), ActivationLowerings(), NormLowerings(), MatrixLowerings(),
          CastLowerings(), ConvolutionLowerings(), CreationLowerings(), FusedLowerings(),
          IndexLowerings(), LossLowerings(), PointwiseLowerings(), RandomLowerings(),
          RecurrentLowerings(), ReductionLowerings(), ViewLowerings()}) {
      for (const Lowering& row : family) {
        if (absl::StrContains(row.onnx, "(")) {
          shapes.push_back(&row);
        } else {
          operators.emplace(row.onnx, &row);
        }
      }
    }
  }
};

const Tables& GetTables() {
  static const Tables* const tables = new Tables();
  return *tables;
}

}  // namespace

const Lowering* FindLowering(absl::string_view domain, absl::string_view op_type) {
  const auto& operators = GetTables().operators;
  const auto it = domain.empty() ? operators.find(op_type)
                                 : operators.find(absl::StrCat(domain, "::", op_type));
  return it == operators.end() ? nullptr : it->second;
}

absl::Span<const Lowering* const> LoweringShapes() { return GetTables().shapes; }

}  // namespace footprint
