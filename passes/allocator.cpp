// Constants and rules of c10/cuda/CUDACachingAllocator. A pool of small blocks (up to 1 MiB) and
// one of large blocks; a segment is what the driver hands out, blocks are parts of it:
//
//   small   [2 MiB: 512 | 4096 | 1 MiB | free ...]
//   large   [20 MiB: 3 MiB | 5 MiB | free ...]   [34 MiB, its own segment]
//
// A request takes the smallest free block that holds it, and splits it unless little would be left;
// what is freed merges with free neighbours of its segment.
#include "passes/allocator.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace footprint {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kBlock = 512;
constexpr int64_t kSmallRequest = kMiB;
constexpr int64_t kSmallSegment = 2 * kMiB;
constexpr int64_t kLargeSegment = 20 * kMiB;
constexpr int64_t kOwnSegment = 10 * kMiB;  // from here on a request has a segment of its own
constexpr int64_t kOwnSegmentUnit = 2 * kMiB;
constexpr int64_t kLargeRest = kMiB;  // a large block is split if more than this is left

int64_t RoundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

int64_t SegmentFor(bool small, int64_t bytes) {
  if (small) return kSmallSegment;
  return bytes < kOwnSegment ? kLargeSegment : RoundUp(bytes, kOwnSegmentUnit);
}

}  // namespace

CachingAllocator::Handle CachingAllocator::AddBlock(const Block& block) {
  if (unused_.empty()) {
    blocks_.push_back(block);
    return static_cast<Handle>(blocks_.size() - 1);
  }
  const Handle handle = unused_.back();
  unused_.pop_back();
  blocks_[handle] = block;
  return handle;
}

void CachingAllocator::AddFree(Handle handle) {
  Block& block = blocks_[handle];
  block.free = true;
  free_[block.small].emplace(block.bytes, block.address, handle);
}

void CachingAllocator::RemoveFree(Handle handle) {
  const Block& block = blocks_[handle];
  free_[block.small].erase({block.bytes, block.address, handle});
}

void CachingAllocator::Absorb(Handle handle) {
  Block& block = blocks_[handle];
  const Handle gone = block.after;
  block.bytes += blocks_[gone].bytes;
  block.after = blocks_[gone].after;
  if (block.after != kNone) blocks_[block.after].before = handle;
  if (last_[block.small] == gone) last_[block.small] = handle;
  unused_.push_back(gone);
}

CachingAllocator::Handle CachingAllocator::NewSegment(bool small, int64_t bytes) {
  const int64_t address = next_segment_;
  next_segment_ += bytes;
  reserved_ += bytes;
  return AddBlock({address, bytes, small});
}

// The pool's range gets pages at its end; a free block there becomes longer.
CachingAllocator::Handle CachingAllocator::Grow(bool small, int64_t bytes) {
  Handle& last = last_[small];
  const bool longer = IsFree(last);
  const int64_t there = longer ? blocks_[last].bytes : 0;
  const int64_t pages = RoundUp(bytes - there, small ? kSmallSegment : kLargeSegment);
  if (longer) {
    RemoveFree(last);
    blocks_[last].bytes += pages;
  } else {
    const Handle block = AddBlock({end_[small], pages, small, false, last});
    if (last != kNone) blocks_[last].after = block;
    last = block;
  }
  end_[small] += pages;
  reserved_ += pages;
  return last;
}

CachingAllocator::Handle CachingAllocator::Allocate(int64_t bytes) {
  const int64_t wanted = RoundUp(bytes, kBlock);
  const bool small = wanted <= kSmallRequest;
  FreeBlocks& free = free_[small];
  Handle handle;
  if (const auto fit = free.lower_bound({wanted, -1, kNone}); fit != free.end()) {
    handle = std::get<Handle>(*fit);
    free.erase(fit);
  } else {
    handle = expandable_ ? Grow(small, wanted) : NewSegment(small, SegmentFor(small, wanted));
  }
  const Block whole = blocks_[handle];
  const int64_t rest = whole.bytes - wanted;
  if (small || expandable_ ? rest >= kBlock : rest > kLargeRest) {
    const Handle after =
        AddBlock({whole.address + wanted, rest, small, true, handle, whole.after});
    blocks_[handle].bytes = wanted;
    blocks_[handle].after = after;
    if (whole.after != kNone) blocks_[whole.after].before = after;
    if (last_[small] == handle) last_[small] = after;
    AddFree(after);
  }
  blocks_[handle].free = false;
  allocated_ += blocks_[handle].bytes;
  return handle;
}

void CachingAllocator::Free(Handle handle) {
  allocated_ -= blocks_[handle].bytes;
  if (const Handle after = blocks_[handle].after; IsFree(after)) {
    RemoveFree(after);
    Absorb(handle);
  }
  if (const Handle before = blocks_[handle].before; IsFree(before)) {
    RemoveFree(before);
    Absorb(before);
    handle = before;
  }
  AddFree(handle);
}

namespace {

constexpr int kSteps = 3;
constexpr CachingAllocator::Handle kNowhere = -1;

bool IsState(const StorageRecord& storage) { return storage.category == Category::kOptimizerState; }

// The module's own: from before the first step on.
bool IsOfModule(const StorageRecord& storage) {
  return storage.category == Category::kParameter || storage.category == Category::kBuffer ||
         storage.category == Category::kConstant;
}

bool IsEarlierGradient(const StorageRecord& storage) {
  return storage.category == Category::kGradient && storage.first_tick == 0;
}

class StepReplay {
 public:
  StepReplay(const MemoryTrace& trace, const Timeline& timeline, bool expandable)
      : trace_(trace),
        timeline_(timeline),
        allocator_(expandable),
        at_(trace.storages.size(), kNowhere) {
    for (size_t i = 0; i < trace.storages.size(); ++i) {
      const StorageRecord& storage = trace.storages[StorageId(i)];
      if (IsOfModule(storage)) {
        Allocate(i);
      } else if (IsState(storage)) {
        state_.push_back(i);
      } else if (storage.first_tick < storage.end_tick) {
        accumulates_ |= IsEarlierGradient(storage);
        made_.push_back(i);
        freed_.push_back(i);
      }
    }
    const auto& storages = trace.storages;
    std::stable_sort(made_.begin(), made_.end(), [&](size_t a, size_t b) {
      return storages[StorageId(a)].first_tick < storages[StorageId(b)].first_tick;
    });
    std::stable_sort(freed_.begin(), freed_.end(), [&](size_t a, size_t b) {
      return storages[StorageId(a)].end_tick < storages[StorageId(b)].end_tick;
    });
  }

  AllocatorPeak Run() {
    AllocatorPeak peak;
    if (trace_.state_made == StateMade::kBefore) MakeState();
    // Between steps the module and its state are there alone: where a step brings neither state nor
    // a segment, the next one finds what it found.
    bool changes = true;
    for (int step = 0; step < kSteps && changes; ++step) {
      const int64_t reserved = allocator_.reserved_bytes();
      const bool makes_state = !state_.empty();
      peak.allocated_bytes = Step();
      changes = makes_state || allocator_.reserved_bytes() != reserved;
    }
    peak.reserved_bytes = allocator_.reserved_bytes();
    return peak;
  }

 private:
  // The highest allocated bytes.
  int64_t Step() {
    if (accumulates_) FirstMicroBatch();
    int64_t highest = allocator_.allocated_bytes();
    size_t gone = 0;
    for (size_t i : made_) {
      const int64_t tick = trace_.storages[StorageId(i)].first_tick;
      for (; trace_.storages[StorageId(freed_[gone])].end_tick <= tick; ++gone) Free(freed_[gone]);
      if (tick > trace_.phase_tick[2] && trace_.state_made == StateMade::kInStep) MakeState();
      if (at_[i] == kNowhere) Allocate(i);
      highest = std::max(highest, allocator_.allocated_bytes());
    }
    MakeState();
    highest = std::max(highest, allocator_.allocated_bytes());
    for (; gone < freed_.size(); ++gone) Free(freed_[gone]);
    return highest;
  }

  // Forward and backward; what would be added to a gradient becomes it.
  void FirstMicroBatch() {
    size_t gone = 0;
    for (size_t i : made_) {
      const StorageRecord& storage = trace_.storages[StorageId(i)];
      if (storage.first_tick > trace_.phase_tick[2]) break;
      while (trace_.storages[StorageId(freed_[gone])].end_tick <= storage.first_tick) {
        HandOver(freed_[gone++]);
      }
      if (!IsEarlierGradient(storage)) Allocate(i);
    }
    for (; gone < freed_.size(); ++gone) {
      if (!IsEarlierGradient(trace_.storages[StorageId(freed_[gone])])) HandOver(freed_[gone]);
    }
  }

  void HandOver(size_t i) {
    const StorageId gradient = trace_.storages[StorageId(i)].added_to;
    if (!gradient.valid()) return Free(i);
    at_[static_cast<size_t>(gradient.index())] = std::exchange(at_[i], kNowhere);
  }

  void MakeState() {
    for (size_t i : state_) Allocate(i);
    state_.clear();
  }

  void Allocate(size_t i) {
    const int64_t bytes = *timeline_.bytes[StorageId(i)];
    if (bytes > 0) at_[i] = allocator_.Allocate(bytes);
  }

  void Free(size_t i) {
    if (at_[i] != kNowhere) allocator_.Free(std::exchange(at_[i], kNowhere));
  }

  const MemoryTrace& trace_;
  const Timeline& timeline_;
  CachingAllocator allocator_;
  bool accumulates_ = false;
  std::vector<CachingAllocator::Handle> at_;  // by storage
  std::vector<size_t> state_;                  // not made yet
  std::vector<size_t> made_;                   // in each step, in order
  std::vector<size_t> freed_;                  // likewise
};

}  // namespace

std::optional<AllocatorPeak> ReplayAllocator(const MemoryTrace& trace, const Timeline& timeline,
                                             bool expandable) {
  if (timeline.overflow || timeline.unknown_storages > 0) return std::nullopt;
  // Segments of three steps stay below 64 bits.
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 8;
  const auto& live = timeline.live_bytes;
  if (!live.empty() && *std::max_element(live.begin(), live.end()) > kMost) return std::nullopt;
  return StepReplay(trace, timeline, expandable).Run();
}

}  // namespace footprint
