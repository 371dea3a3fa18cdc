#include "backend/runtime/kv_cache.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"

namespace footprint {
namespace {

// Operands and outputs of an operator that keep a cache.
struct CacheOperator {
  absl::string_view name;
  absl::string_view domain;
  size_t first_past;
  size_t first_present;
  size_t count;
  bool shares;  // writes into the buffer of the past where it is long enough
};

constexpr CacheOperator kOperators[] = {
    {"GroupQueryAttention", "com.microsoft", 3, 1, 2, true},
    {"MultiHeadAttention", "com.microsoft", 6, 1, 2, false},
    {"DecoderMaskedMultiHeadAttention", "com.microsoft", 5, 1, 2, true},
    {"Attention", "com.microsoft", 4, 1, 1, false},
    {"Attention", "", 4, 1, 2, false},
};

// What follows the word in a name, "" with false where the name does not begin with it.
bool TakePrefix(absl::string_view name, std::initializer_list<absl::string_view> words,
                std::string* rest) {
  for (const absl::string_view word : words) {
    if (!absl::StartsWith(name, word)) continue;
    name.remove_prefix(word.size());
    *rest = std::string(name);
    return true;
  }
  return false;
}

bool SameDims(const TensorType& a, const TensorType& b) {
  return a.has_rank && b.has_rank && a.dims == b.dims;
}

// The axis in which past and present differ; the one before the last where none does.
int GrowingAxis(const Graph& graph, const InferredTypes& inferred, const CacheTensor& tensor) {
  const TensorType& past = inferred.types[tensor.past].tensor;
  if (!past.has_rank || past.dims.size() < 3) return -1;
  const auto usual = static_cast<int>(past.dims.size()) - 2;
  if (!tensor.present.valid()) return usual;
  // As declared: what an operator makes may be known no better.
  const TensorType& present = inferred.types[tensor.present].tensor;
  if (!present.has_rank || present.dims.size() != past.dims.size()) return usual;
  int axis = -1;
  for (size_t i = 0; i < past.dims.size(); ++i) {
    if (graph.dims->KnownEqual(past.dims[i], present.dims[i])) continue;
    if (axis >= 0) return usual;
    axis = static_cast<int>(i);
  }
  return axis < 0 ? usual : axis;
}

}  // namespace

std::vector<CacheTensor> FindKvCache(const Graph& graph, const InferredTypes& inferred) {
  std::vector<CacheTensor> cache;
  absl::flat_hash_map<ValueId, size_t> known;
  const auto add = [&](CacheTensor tensor) {
    if (!known.emplace(tensor.past, cache.size()).second) return;
    tensor.axis = GrowingAxis(graph, inferred, tensor);
    if (tensor.present.valid()) {
      tensor.shared &=
          SameDims(inferred.types[tensor.past].tensor, inferred.types[tensor.present].tensor);
    }
    cache.push_back(tensor);
  };
  for (const NodeId id : graph.top().nodes) {
    const Node& node = graph.nodes[id];
    for (const CacheOperator& row : kOperators) {
      if (node.op_type != row.name || node.domain != row.domain) continue;
      for (size_t i = 0; i < row.count; ++i) {
        const ValueId past = node.input(row.first_past + i);
        const ValueId present = node.output(row.first_present + i);
        if (!past.valid() || graph.values[past].kind != ValueKind::kInput) continue;
        add({past, present, -1, false, row.shares});
      }
    }
  }
  absl::flat_hash_map<std::string, ValueId> presents;
  std::string rest;
  for (const ValueId output : graph.top().outputs) {
    if (output.valid() &&
        TakePrefix(graph.values[output].name, {"present_key_values", "present"}, &rest)) {
      presents.emplace(rest, output);
    }
  }
  for (const ValueId input : graph.top().inputs) {
    if (!TakePrefix(graph.values[input].name, {"past_key_values", "past"}, &rest)) continue;
    const auto found = presents.find(rest);
    if (found != presents.end()) add({input, found->second, -1, true, false});
  }
  return cache;
}

}  // namespace footprint
