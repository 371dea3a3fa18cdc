// Each read asks for the numbers of one tensor. Some can be had in more than one place: a copy has
// the numbers of what it was copied from, and the gradient of relu can be told from its operand as
// well as from its result:
//
//   x --conv 1--> a --relu--> b --max_pool--> c --conv 2--> d
//
//   conv 1 reads x    relu reads b or a    max_pool its indices    conv 2 reads c
//
// PyTorch keeps x, b (for relu and for max_pool), the indices and c; a would do in place of b, but
// nobody else reads it. Reads without a choice come first; then each read with a choice takes what
// is kept anyway, else the smallest, else what PyTorch took.
#include "passes/needed.h"

#include <algorithm>
#include <limits>

namespace footprint {
namespace {

class Finder {
 public:
  Finder(const MemoryTrace& trace, const Timeline& timeline, DimEvaluator& evaluator)
      : trace_(trace),
        timeline_(timeline),
        evaluator_(evaluator),
        bytes_(trace.storages.size(), 0),
        stands_for_(trace.storages.size()) {}

  Needs Find() {
    for (const GradientRead& read : trace_.reads) {
      if (!HasChoice(read)) Take(read, read.storage);
    }
    for (const GradientRead& read : trace_.reads) {
      if (HasChoice(read)) Take(read, Choose(read));
    }
    for (StorageId id : order_) needs_.needed.push_back({id, bytes_[id]});
    FindUnneeded();
    return std::move(needs_);
  }

 private:
  bool IsThereAnyway(StorageId id) const {
    const Category category = trace_.storages[id].category;
    return category == Category::kParameter || category == Category::kBuffer ||
           category == Category::kConstant || category == Category::kOptimizerState;
  }

  bool HasChoice(const GradientRead& read) const {
    return read.instead.valid() || trace_.storages[read.storage].copy_of.valid();
  }

  int64_t WholeBytes(StorageId id) const { return timeline_.bytes[id].value_or(0); }

  // What it adds if `id` is read, `bytes` of it. Inputs are alive during the whole step.
  int64_t Cost(StorageId id, int64_t bytes) const {
    const bool free = IsThereAnyway(id) || bytes_[id] > 0 ||
                      trace_.storages[id].category == Category::kInput;
    return free ? 0 : bytes;
  }

  StorageId Choose(const GradientRead& read) const {
    StorageId best = read.storage;
    int64_t least = Cost(best, ReadBytes(read));
    for (StorageId from : {read.storage, read.instead}) {
      for (StorageId id = from; id.valid(); id = trace_.storages[id].copy_of) {
        const int64_t cost = id == read.storage ? least : Cost(id, WholeBytes(id));
        if (cost >= least || !timeline_.bytes[id].has_value()) continue;
        best = id;
        least = cost;
      }
    }
    return best;
  }

  int64_t ReadBytes(const GradientRead& read) const {
    return std::min(evaluator_.Evaluate(read.bytes).value_or(std::numeric_limits<int64_t>::max()),
                    WholeBytes(read.storage));
  }

  // Parts that several readers take may overlap; they never add up to more than the whole.
  void Take(const GradientRead& read, StorageId id) {
    stands_for_[read.storage] = id;
    if (IsThereAnyway(id)) return;
    const int64_t whole = WholeBytes(id);
    const int64_t part = id == read.storage ? ReadBytes(read) : whole;
    if (part == 0) return;
    if (bytes_[id] == 0) order_.push_back(id);
    bytes_[id] = part > whole - bytes_[id] ? whole : bytes_[id] + part;
  }

  void FindUnneeded() {
    for (StorageId id : trace_.saved) {
      const int64_t bytes = WholeBytes(id) - bytes_[id];
      if (bytes == 0) continue;
      Unneeded found = {id, bytes, Surplus::kUnread, {}};
      const StorageId other = stands_for_[id];
      if (bytes_[id] > 0) {
        found.why = Surplus::kPart;
      } else if (other.valid() && other != id) {
        found.why = Surplus::kOther;
        found.other = other;
      }
      needs_.unneeded.push_back(found);
    }
    std::stable_sort(
        needs_.unneeded.begin(), needs_.unneeded.end(),
        [](const Unneeded& a, const Unneeded& b) { return a.bytes > b.bytes; });
  }

  const MemoryTrace& trace_;
  const Timeline& timeline_;
  DimEvaluator& evaluator_;
  IdVector<StorageId, int64_t> bytes_;         // that are needed
  IdVector<StorageId, StorageId> stands_for_;  // by what PyTorch saved: what is read; invalid: none
  std::vector<StorageId> order_;
  Needs needs_;
};

}  // namespace

Needs FindNeeds(const MemoryTrace& trace, const Timeline& timeline, DimEvaluator& evaluator) {
  return Finder(trace, timeline, evaluator).Find();
}

}  // namespace footprint
