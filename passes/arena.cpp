#include "passes/arena.h"

#include <algorithm>
#include <limits>
#include <vector>

// A request takes the smallest free chunk that is large enough, the first of equal ones; what is
// left over is split off if it is at least as large as the request (of one block: always). Freed
// neighbours join.

namespace footprint {
namespace {

constexpr int64_t kRounding = 256;
constexpr int64_t kMostDead = int64_t{128} << 20;  // of a chunk that is handed out whole
constexpr int64_t kLargestDoubling = int64_t{1} << 30;
constexpr int64_t kLargestBlock = int64_t{1} << 62;
constexpr int64_t kGap = 1;  // between regions, so that their chunks are no neighbours

int64_t Rounded(int64_t bytes) {
  return std::max((bytes + kRounding - 1) / kRounding * kRounding, kRounding);
}

// Buffers by the step in which they begin, in the order of their tensors.
std::vector<std::vector<size_t>> ByFirstStep(const Plan& plan, size_t steps) {
  std::vector<std::vector<size_t>> starts(steps);
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& buffer = plan.buffers[i];
    if (!buffer.given) starts[static_cast<size_t>(buffer.first_step)].push_back(i);
  }
  return starts;
}

bool IsHandedOut(const PlanProblem& problem, const PlanBuffer& buffer) {
  return problem.tensors[static_cast<size_t>(buffer.tensors.front())].output;
}

}  // namespace

Arena::Arena(ArenaGrowth growth) : growth_(growth) {
  if (growth == ArenaGrowth::kOneBlock) Extend(kLargestBlock);
}

Arena::Chunks::iterator Arena::Extend(int64_t bytes) {
  int64_t region = bytes;
  if (growth_ == ArenaGrowth::kNextPowerOfTwo) {
    bool grew = false;
    while (next_region_bytes_ < bytes &&
           next_region_bytes_ <= std::numeric_limits<int64_t>::max() / 2) {
      next_region_bytes_ *= 2;
      grew = true;
    }
    region = std::max(bytes, next_region_bytes_);
    if (!grew) {
      next_region_bytes_ =
          std::min(std::max(next_region_bytes_, kLargestDoubling), next_region_bytes_ * 2);
    }
  }
  reserved_bytes_ += region;
  const int64_t place = end_;
  end_ += region + kGap;
  free_.emplace(region, place);
  return chunks_.emplace(place, Chunk{region, true}).first;
}

int64_t Arena::Allocate(int64_t bytes) {
  bytes = Rounded(bytes);
  const auto fit = free_.lower_bound({bytes, 0});
  const auto chunk = fit == free_.end() ? Extend(bytes) : chunks_.find(fit->second);
  const int64_t place = chunk->first;
  const int64_t rest = chunk->second.bytes - bytes;
  free_.erase({chunk->second.bytes, place});
  chunk->second.is_free = false;
  const bool splits = growth_ == ArenaGrowth::kOneBlock ? rest > 0 : rest >= bytes;
  if (splits || rest >= kMostDead) {
    chunk->second.bytes = bytes;
    chunks_.emplace(place + bytes, Chunk{rest, true});
    free_.emplace(rest, place + bytes);
  }
  return place;
}

void Arena::Join(Chunks::iterator left, Chunks::iterator right) {
  free_.erase({left->second.bytes, left->first});
  free_.erase({right->second.bytes, right->first});
  left->second.bytes += right->second.bytes;
  chunks_.erase(right);
  free_.emplace(left->second.bytes, left->first);
}

void Arena::Free(int64_t place) {
  auto chunk = chunks_.find(place);
  chunk->second.is_free = true;
  free_.emplace(chunk->second.bytes, place);
  const auto next = std::next(chunk);
  if (next != chunks_.end() && next->second.is_free && next->first == place + chunk->second.bytes) {
    Join(chunk, next);
  }
  if (chunk == chunks_.begin()) return;
  const auto previous = std::prev(chunk);
  if (previous->second.is_free && previous->first + previous->second.bytes == place) {
    Join(previous, chunk);
  }
}

int64_t ReservedBytes(const PlanProblem& problem, const Plan& plan, const PlanBytes& bytes,
                      ArenaGrowth growth) {
  Arena arena(growth);
  const size_t steps = problem.steps.size();
  const std::vector<std::vector<size_t>> starts = ByFirstStep(plan, steps);
  std::vector<std::vector<int64_t>> ends(steps + 1);
  for (size_t i = 0; i < steps; ++i) {
    for (const size_t buffer : starts[i]) {
      if (bytes.buffer_bytes[buffer] == 0) continue;
      const int64_t place = arena.Allocate(bytes.buffer_bytes[buffer]);
      ends[static_cast<size_t>(plan.buffers[buffer].end_step)].push_back(place);
    }
    if (problem.steps[i].scratch_bytes > 0) {
      arena.Free(arena.Allocate(problem.steps[i].scratch_bytes));
    }
    for (const int64_t place : ends[i + 1]) arena.Free(place);
  }
  return arena.reserved_bytes();
}

PackedPlan PackPlan(const PlanProblem& problem, const Plan& plan, const PlanBytes& bytes) {
  PackedPlan packed;
  packed.offsets.assign(plan.buffers.size(), -1);
  Arena block(ArenaGrowth::kOneBlock);
  const size_t steps = problem.steps.size();
  const std::vector<std::vector<size_t>> starts = ByFirstStep(plan, steps);
  std::vector<std::vector<int64_t>> ends(steps + 1);
  int64_t handed_out = 0;
  int64_t beside = 0;
  for (size_t i = 0; i < steps; ++i) {
    for (const int64_t place : ends[i]) block.Free(place);
    for (const size_t buffer : starts[i]) {
      const int64_t size = bytes.buffer_bytes[buffer];
      if (size == 0) continue;
      if (IsHandedOut(problem, plan.buffers[buffer])) {
        handed_out += size;
        continue;
      }
      const int64_t place = block.Allocate(size);
      ends[static_cast<size_t>(plan.buffers[buffer].end_step)].push_back(place);
      packed.offsets[buffer] = place;
      packed.block_bytes = std::max(packed.block_bytes, place + Rounded(size));
    }
    beside = std::max(beside, handed_out + problem.steps[i].scratch_bytes);
  }
  packed.peak_bytes = packed.block_bytes + beside;
  return packed;
}

}  // namespace footprint
