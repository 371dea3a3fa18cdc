// PyTorch's caching allocator acted out on the storages of a training step: how many bytes of
// blocks it hands out, and how many bytes of segments it holds from the device.
#ifndef FOOTPRINT_PASSES_ALLOCATOR_H_
#define FOOTPRINT_PASSES_ALLOCATOR_H_

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "passes/memory_trace.h"
#include "passes/timeline.h"

namespace footprint {

// One stream, no limit of memory. Segments are never given back.
class CachingAllocator {
 public:
  // `expandable`: expandable_segments:True, one range per pool that grows page by page.
  explicit CachingAllocator(bool expandable = false) : expandable_(expandable) {}

  using Handle = int32_t;  // of a block; what is freed may be handed out again
  // A block with at least `bytes` > 0 bytes.
  Handle Allocate(int64_t bytes);
  void Free(Handle handle);
  int64_t AddressOf(Handle handle) const { return blocks_[handle].address; }

  int64_t allocated_bytes() const { return allocated_; }  // of blocks handed out
  int64_t reserved_bytes() const { return reserved_; }    // of segments

 private:
  static constexpr Handle kNone = -1;
  struct Block {
    int64_t address = 0;
    int64_t bytes = 0;
    bool small = false;
    bool free = false;
    Handle before = kNone;  // neighbours in its segment
    Handle after = kNone;
  };
  using FreeBlocks = std::set<std::tuple<int64_t, int64_t, Handle>>;  // (bytes, address, handle)

  // Each gives a free block that is not among the free ones.
  Handle Grow(bool small, int64_t bytes);
  Handle NewSegment(bool small, int64_t bytes);

  Handle AddBlock(const Block& block);
  // The block after `handle`, which is free and not among the free ones any more, becomes its part.
  void Absorb(Handle handle);
  bool IsFree(Handle handle) const { return handle != kNone && blocks_[handle].free; }
  void AddFree(Handle handle);
  void RemoveFree(Handle handle);

  const bool expandable_;
  std::vector<Block> blocks_;
  std::vector<Handle> unused_;                    // of absorbed blocks
  FreeBlocks free_[2];                            // large, small
  Handle last_[2] = {kNone, kNone};               // expandable: of each pool's range
  int64_t end_[2] = {int64_t{1} << 60, 0};        // likewise
  int64_t next_segment_ = 0;
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
