// Plan: which buffer each tensor of an inference run lives in, decided before sizes are known.
//
// A runtime that plans ahead compares shapes as it sees them, not bytes: the problem says of each
// tensor which others it may share a buffer with, and of each step what it may overwrite. Nothing
// here knows an operator.
#ifndef FOOTPRINT_PASSES_PLAN_H_
#define FOOTPRINT_PASSES_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace footprint {

struct PlanTensor {
  // Tensors of one shape and element size have one number; -1: the planner cannot see it.
  int32_t shape = -1;
  bool reusable = true;  // false: no dead buffer is looked for, such as for a scalar
  bool given = false;    // the caller's, or stored: there before the run, never overwritten
  bool output = false;   // of the run: always a buffer of its own, until the end
  // Where nobody reads it, it has a buffer of its own. Others may take that, or it stays until the
  // end.
  bool is_free_unread = true;
};

struct PlanWrite {
  int32_t tensor = -1;
  int32_t alias = -1;               // the operand that it is only another view of
  std::vector<int32_t> overwrites;  // operands that the kernel may write over, best first
};

struct PlanStep {
  std::vector<int32_t> reads;  // once for each operand, captures of bodies included
  std::vector<PlanWrite> writes;
  int64_t scratch_bytes = 0;  // while it runs
};

struct PlanProblem {
  std::vector<PlanTensor> tensors;
  std::vector<PlanStep> steps;  // in execution order
};

// How a tensor came to its buffer.
enum class Placement : uint8_t { kGiven, kOwn, kAlias, kInPlace, kReused };
const char* PlacementName(Placement placement);  // "own", "in place" ...

// Lives from its first step until after its last one, also between the tensors placed in it.
struct PlanBuffer {
  std::vector<int32_t> tensors;  // in the order in which they are placed
  int32_t first_step = 0;
  int32_t end_step = 0;  // half-open
  bool given = false;
};

struct Plan {
  std::vector<PlanBuffer> buffers;
  std::vector<int32_t> buffer_of;     // by tensor; -1: never written
  std::vector<Placement> placements;  // by tensor
};

Plan MakePlan(const PlanProblem& problem);

// What the plan takes once sizes are known.
struct PlanBytes {
  std::vector<int64_t> buffer_bytes;  // rounded; given ones and unknown ones 0
  std::vector<int64_t> live_bytes;    // by step, scratch apart
  int64_t peak_bytes = 0;             // scratch included
  int32_t peak_step = 0;              // the first one
  int64_t unknown_buffers = 0;
  bool overflow = false;
};

// `bytes`: of each tensor. A buffer is as large as the first tensor in it, rounded up to a multiple
// of `granularity`.
PlanBytes MeasurePlan(const PlanProblem& problem, const Plan& plan,
                      const std::vector<std::optional<int64_t>>& bytes, int64_t granularity);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_PLAN_H_
