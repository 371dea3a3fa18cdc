// Arena: what an allocator that takes regions from the system and hands out chunks of them holds
// after a sequence of requests (ONNX Runtime's, best fit with coalescing).
#ifndef FOOTPRINT_PASSES_ARENA_H_
#define FOOTPRINT_PASSES_ARENA_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "passes/plan.h"

namespace footprint {

enum class ArenaGrowth : uint8_t {
  kNextPowerOfTwo,   // regions double, from 1 MiB on
  kSameAsRequested,  // a region is as large as the request that needs it
  kOneBlock,         // one region, without end
};

class Arena {
 public:
  explicit Arena(ArenaGrowth growth);

  // The chunk's place, for Free().
  int64_t Allocate(int64_t bytes);
  void Free(int64_t place);
  int64_t reserved_bytes() const { return reserved_bytes_; }

 private:
  struct Chunk {
    int64_t bytes = 0;
    bool is_free = false;
  };
  using Chunks = std::map<int64_t, Chunk>;  // by place; regions leave a gap between them

  Chunks::iterator Extend(int64_t bytes);
  void Join(Chunks::iterator left, Chunks::iterator right);

  const ArenaGrowth growth_;
  int64_t next_region_bytes_ = int64_t{1} << 20;
  int64_t reserved_bytes_ = 0;
  int64_t end_ = 0;  // of all places so far
  Chunks chunks_;
  std::set<std::pair<int64_t, int64_t>> free_;  // bytes, place
};

// What an arena holds after a run of the plan.
int64_t ReservedBytes(const PlanProblem& problem, const Plan& plan, const PlanBytes& bytes,
                      ArenaGrowth growth);

// One block for all buffers that are not handed out, as a runtime packs them that has seen a run at
// these sizes: each at the place that wastes least when it is first needed.
struct PackedPlan {
  std::vector<int64_t> offsets;  // by buffer; -1: not in the block
  int64_t block_bytes = 0;
  int64_t peak_bytes = 0;  // with what is handed out, and the largest scratch
};
PackedPlan PackPlan(const PlanProblem& problem, const Plan& plan, const PlanBytes& bytes);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_ARENA_H_
