#include "passes/plan.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

// One walk over the steps with a use count per buffer: one for the definition of a tensor in it,
// one for each operand that reads it, one more for what the run hands out.
//
//   step   0: a = f(x)    1: b = g(a)    2: c = h(b)    3: d = k(c, b)
//   buffer 0  [a=============)           [c============)
//   buffer 1                [b==========================)
//
// a is dead after step 1, so c, which has its shape, takes buffer 0: more recently freed ones
// first. The buffer stays allocated in between; what that costs is what a plan made ahead costs
// above the ideal.

namespace footprint {
namespace {

class Planner {
 public:
  explicit Planner(const PlanProblem& problem) : problem_(problem) {
    plan_.buffer_of.assign(problem.tensors.size(), -1);
    plan_.placements.assign(problem.tensors.size(), Placement::kOwn);
    uses_of_tensor_.assign(problem.tensors.size(), 0);
  }

  Plan Run() {
    CountUses();
    for (size_t i = 0; i < problem_.tensors.size(); ++i) {
      if (problem_.tensors[i].given) AddBuffer(static_cast<int32_t>(i), 0);
    }
    for (size_t i = 0; i < problem_.steps.size(); ++i) Place(static_cast<int32_t>(i));
    ExtendToTheEnd();
    return std::move(plan_);
  }

 private:
  void CountUses() {
    for (const PlanStep& step : problem_.steps) {
      for (const int32_t read : step.reads) ++Uses(read);
      for (const PlanWrite& write : step.writes) ++Uses(write.tensor);
    }
    for (size_t i = 0; i < problem_.tensors.size(); ++i) {
      const PlanTensor& tensor = problem_.tensors[i];
      uses_of_tensor_[i] += (tensor.given ? 1 : 0) + (tensor.output ? 1 : 0);
    }
  }

  int32_t& Uses(int32_t tensor) { return uses_of_tensor_[static_cast<size_t>(tensor)]; }
  int32_t& BufferOf(int32_t tensor) { return plan_.buffer_of[static_cast<size_t>(tensor)]; }
  PlanBuffer& Buffer(int32_t buffer) { return plan_.buffers[static_cast<size_t>(buffer)]; }
  const PlanTensor& Tensor(int32_t tensor) const {
    return problem_.tensors[static_cast<size_t>(tensor)];
  }

  void AddBuffer(int32_t tensor, int32_t step) {
    PlanBuffer buffer;
    buffer.given = Tensor(tensor).given;
    buffer.first_step = step;
    buffer.end_step = step + 1;
    plan_.buffers.push_back(std::move(buffer));
    uses_.push_back(0);
    is_read_.push_back(false);
    PutInto(static_cast<int32_t>(plan_.buffers.size()) - 1, tensor,
            Tensor(tensor).given ? Placement::kGiven : Placement::kOwn);
  }

  void PutInto(int32_t buffer, int32_t tensor, Placement placement) {
    BufferOf(tensor) = buffer;
    plan_.placements[static_cast<size_t>(tensor)] = placement;
    Buffer(buffer).tensors.push_back(tensor);
    uses_[static_cast<size_t>(buffer)] += Uses(tensor);
  }

  void Place(int32_t index) {
    const PlanStep& step = problem_.steps[static_cast<size_t>(index)];
    for (const PlanWrite& write : step.writes) PlaceOutput(write, index);
    for (const int32_t read : step.reads) {
      if (BufferOf(read) < 0) continue;
      is_read_[static_cast<size_t>(BufferOf(read))] = true;
      Touch(BufferOf(read), index);
    }
    for (const PlanWrite& write : step.writes) {
      const bool is_unread = Uses(write.tensor) == 1;
      if (is_unread && !Tensor(write.tensor).is_free_unread) continue;
      Touch(BufferOf(write.tensor), index);  // free at once if nobody reads it
    }
  }

  // What nothing reads is freed by no reader: it stays until the run ends, as what is handed out.
  void ExtendToTheEnd() {
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      PlanBuffer& buffer = plan_.buffers[i];
      const bool handed_out = Tensor(buffer.tensors.front()).output;
      if (handed_out || !is_read_[i]) buffer.end_step = static_cast<int32_t>(problem_.steps.size());
    }
  }

  void PlaceOutput(const PlanWrite& write, int32_t step) {
    const PlanTensor& tensor = Tensor(write.tensor);
    if (tensor.output) return AddBuffer(write.tensor, step);
    if (write.alias >= 0 && BufferOf(write.alias) >= 0) {
      return PutInto(BufferOf(write.alias), write.tensor, Placement::kAlias);
    }
    if (Uses(write.tensor) == 1) return AddBuffer(write.tensor, step);  // nobody reads it
    for (const int32_t operand : write.overwrites) {
      const int32_t buffer = BufferOf(operand);
      if (buffer >= 0 && uses_[static_cast<size_t>(buffer)] == 1 && tensor.shape >= 0 &&
          tensor.shape == Tensor(operand).shape) {
        return PutInto(buffer, write.tensor, Placement::kInPlace);
      }
    }
    if (tensor.shape >= 0 && tensor.reusable) {
      std::vector<int32_t>& free = free_[tensor.shape];
      if (!free.empty()) {
        const int32_t buffer = free.back();
        free.pop_back();
        return PutInto(buffer, write.tensor, Placement::kReused);
      }
    }
    AddBuffer(write.tensor, step);
  }

  void Extend(int32_t buffer, int32_t step) {
    Buffer(buffer).end_step = std::max(Buffer(buffer).end_step, step + 1);
  }

  // One use of the buffer is over; with the last one it is free for others.
  void Touch(int32_t buffer, int32_t step) {
    Extend(buffer, step);
    const PlanBuffer& row = Buffer(buffer);
    if (--uses_[static_cast<size_t>(buffer)] > 0 || row.given) return;
    const int32_t shape = Tensor(row.tensors.front()).shape;
    if (shape >= 0) free_[shape].push_back(buffer);
  }

  const PlanProblem& problem_;
  Plan plan_;
  std::vector<int32_t> uses_of_tensor_;
  std::vector<int32_t> uses_;                                // by buffer, that are still to come
  std::vector<bool> is_read_;                                // by buffer
  absl::flat_hash_map<int32_t, std::vector<int32_t>> free_;  // by shape, most recently freed last
};

// Adds up, and remembers where that leaves 64 bits.
void AddTo(int64_t& sum, int64_t bytes, bool& overflow) {
  overflow |= __builtin_add_overflow(sum, bytes, &sum);
}

}  // namespace

const char* PlacementName(Placement placement) {
  switch (placement) {
    case Placement::kGiven:
      return "given";
    case Placement::kOwn:
      return "own";
    case Placement::kAlias:
      return "alias";
    case Placement::kInPlace:
      return "in place";
    case Placement::kReused:
      return "reused";
  }
  return "";
}

Plan MakePlan(const PlanProblem& problem) { return Planner(problem).Run(); }

PlanBytes MeasurePlan(const PlanProblem& problem, const Plan& plan,
                      const std::vector<std::optional<int64_t>>& bytes, int64_t granularity) {
  PlanBytes result;
  const size_t steps = problem.steps.size();
  std::vector<int64_t> change(steps + 1, 0);
  for (const PlanBuffer& buffer : plan.buffers) {
    result.buffer_bytes.push_back(0);
    if (buffer.given) continue;
    const std::optional<int64_t>& size = bytes[static_cast<size_t>(buffer.tensors.front())];
    if (!size) {
      ++result.unknown_buffers;
      continue;
    }
    int64_t rounded = *size;
    AddTo(rounded, granularity - 1, result.overflow);
    rounded -= rounded % granularity;
    result.buffer_bytes.back() = rounded;
    AddTo(change[static_cast<size_t>(buffer.first_step)], rounded, result.overflow);
    AddTo(change[static_cast<size_t>(buffer.end_step)], -rounded, result.overflow);
  }
  int64_t live = 0;
  for (size_t i = 0; i < steps; ++i) {
    AddTo(live, change[i], result.overflow);
    result.live_bytes.push_back(live);
    int64_t with_scratch = live;
    AddTo(with_scratch, problem.steps[i].scratch_bytes, result.overflow);
    if (with_scratch > result.peak_bytes) {
      result.peak_bytes = with_scratch;
      result.peak_step = static_cast<int32_t>(i);
    }
  }
  return result;
}

}  // namespace footprint
