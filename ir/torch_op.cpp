#include "ir/torch_op.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/ops/torch/families.h"

namespace footprint {
namespace {

std::vector<const TorchOp*> CollectRows() {
  std::vector<const TorchOp*> rows;
  for (absl::Span<const TorchOp> family :
       {UnaryTorchOps(), BinaryTorchOps(), ReductionTorchOps(), ViewTorchOps(), CopyTorchOps(),
        IndexTorchOps(), ConvolutionTorchOps(), NormTorchOps(), MatmulTorchOps(),
        AttentionTorchOps(), LossTorchOps(), DistanceTorchOps(), CreationTorchOps(),
        RecurrentTorchOps(), OtherTorchOps()}) {
    for (const TorchOp& row : family) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const TorchOp* a, const TorchOp* b) { return a->name < b->name; });
  return rows;
}

using Index = absl::flat_hash_map<absl::string_view, const TorchOp*>;

Index IndexRows() {
  Index index;
  for (const TorchOp* row : AllTorchOps()) index.emplace(row->name, row);
  return index;
}

const TorchOp* Lookup(absl::string_view name) {
  static const Index index = IndexRows();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

// "torch.ops.aten.max.dim" -> "aten::max.dim"
std::string Normalized(absl::string_view name) {
  absl::ConsumePrefix(&name, "torch.ops.");
  if (name.find("::") != absl::string_view::npos) return std::string(name);
  const std::vector<absl::string_view> parts = absl::StrSplit(name, absl::MaxSplits('.', 1));
  return parts.size() < 2 ? std::string(name) : absl::StrCat(parts[0], "::", parts[1]);
}

}  // namespace

absl::Span<const TorchOp* const> AllTorchOps() {
  static const std::vector<const TorchOp*> rows = CollectRows();
  return rows;
}

const TorchOp* FindTorchOp(absl::string_view name) {
  const std::string normalized = Normalized(name);
  absl::string_view key = normalized;
  if (const TorchOp* row = Lookup(key)) return row;
  const size_t dot = key.rfind('.');
  return dot == absl::string_view::npos ? nullptr : Lookup(key.substr(0, dot));
}

absl::string_view ArgumentName(const TorchOp& op, int index) {
  int position = 0;
  for (absl::string_view argument : absl::StrSplit(op.arguments, ", ")) {
    if (position++ == index) return argument;
  }
  return {};
}

}  // namespace footprint
