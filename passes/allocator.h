// PyTorch's caching allocator acted out on the storages of a training step: how many bytes of
// blocks it hands out, and how many bytes of segments it holds from the device.
#ifndef FOOTPRINT_PASSES_ALLOCATOR_H_
#define FOOTPRINT_PASSES_ALLOCATOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "passes/memory_trace.h"
#include "passes/timeline.h"

namespace footprint {

// One stream, no limit of memory. Addresses grow; segments are never given back.
class CachingAllocator {
 public:
  // `expandable`: expandable_segments:True, one range per pool that grows page by page.
  explicit CachingAllocator(bool expandable = false) : expandable_(expandable) {}

  using Address = int64_t;
  // Of a block with at least `bytes` > 0 bytes.
  Address Allocate(int64_t bytes);
  void Free(Address address);

  int64_t allocated_bytes() const { return allocated_; }  // of blocks handed out
  int64_t reserved_bytes() const { return reserved_; }    // of segments

 private:
  struct Block {
    int64_t bytes = 0;
    bool small = false;
    bool free = false;
    bool starts_segment = false;
  };
  using Blocks = std::map<Address, Block>;

  Blocks::iterator Grow(bool small, int64_t bytes);
  Blocks::iterator NewSegment(bool small, int64_t bytes);
  std::set<std::pair<int64_t, Address>>& free_blocks(bool small) { return free_[small ? 0 : 1]; }

  const bool expandable_;
  Blocks blocks_;
  std::set<std::pair<int64_t, Address>> free_[2];  // (bytes, address): small, large
  Address end_[2] = {0, Address{1} << 60};         // expandable: of each pool's range
  Address next_segment_ = 0;
  int64_t allocated_ = 0;
  int64_t reserved_ = 0;
};

struct AllocatorPeak {
  int64_t allocated_bytes = 0;  // highest within a step
  int64_t reserved_bytes = 0;
};

// Three steps from a fresh process on: optimizer state appears in the first, inputs, gradients and
// what the step computes are made anew in each; figures are those of the third. Where gradients of
// earlier micro-batches are there from the start, a first micro-batch makes them. Nullopt if a size
// is unknown or the sum does not fit 64 bits.
std::optional<AllocatorPeak> ReplayAllocator(const MemoryTrace& trace, const Timeline& timeline,
                                             bool expandable = false);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_ALLOCATOR_H_
