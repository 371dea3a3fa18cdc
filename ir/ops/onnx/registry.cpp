// Finds the row of an operator. The families are listed here by name; the index over them is built
// on first use: operators hash to the list of their rows, which is short and ordered by version.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/onnx_op.h"
#include "ir/ops/onnx/families.h"

namespace footprint {
namespace {

using Family = OnnxFamily (*)();

constexpr Family kFamilies[] = {
    UnaryOps,
    BinaryOps,
    CastOps,
    ShapeOps,
    ReshapeOps,
    RearrangeOps,
    SliceOps,
    GatherOps,
    ScatterOps,
    ReductionOps,
    MatMulOps,
    EinsumOps,
    ConvolutionOps,
    PoolingOps,
    NormalizationOps,
    ResizeOps,
    ImageOps,
    RecurrentOps,
    AttentionOps,
    QuantizationOps,
    RandomOps,
    LossOps,
    SelectionOps,
    SignalOps,
    TextOps,
    SequenceOps,
    ControlOps,
    ClassicalOps,
    TrainingOps,
    MicrosoftFusedOps,
    MicrosoftLinearOps,
    MicrosoftAttentionOps,
    MicrosoftStateOps,
    MicrosoftQuantizedOps,
    MicrosoftOtherOps,
};

using Key = std::pair<absl::string_view, absl::string_view>;

struct Index {
  std::vector<const OnnxOp*> rows;  // by domain, name, since
  // [first, last) in `rows`.
  absl::flat_hash_map<Key, std::pair<size_t, size_t>> ranges;
};

Index BuildIndex() {
  Index index;
  for (const Family family : kFamilies) {
    for (const OnnxOp& row : family()) index.rows.push_back(&row);
  }
  std::sort(index.rows.begin(), index.rows.end(), [](const OnnxOp* a, const OnnxOp* b) {
    return std::tie(a->domain, a->name, a->since) < std::tie(b->domain, b->name, b->since);
  });
  for (size_t first = 0; first < index.rows.size();) {
    const Key key(index.rows[first]->domain, index.rows[first]->name);
    size_t last = first;
    while (last < index.rows.size() && index.rows[last]->domain == key.first &&
           index.rows[last]->name == key.second) {
      ++last;
    }
    index.ranges.emplace(key, std::make_pair(first, last));
    first = last;
  }
  return index;
}

const Index& TheIndex() {
  static const Index& index = *new Index(BuildIndex());
  return index;
}

}  // namespace

const OnnxOp* FindOnnxOp(absl::string_view domain, absl::string_view name, int version) {
  const Index& index = TheIndex();
  const auto range = index.ranges.find(Key(domain == "ai.onnx" ? "" : domain, name));
  if (range == index.ranges.end()) return nullptr;
  for (size_t i = range->second.first; i < range->second.second; ++i) {
    const OnnxOp* row = index.rows[i];
    if (row->since <= version && version <= row->until) return row;
  }
  return nullptr;
}

absl::Span<const OnnxOp* const> AllOnnxOps() { return TheIndex().rows; }

}  // namespace footprint
