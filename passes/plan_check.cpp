#include "passes/plan_check.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

// Tensors that are views of one another have the same contents: they live as one, from the first
// definition to the last reader among them. Of any two others in one buffer, one must have been
// read for the last time before the step that writes the other, or in it, if that step may write
// over it.

namespace footprint {
namespace {

struct Contents {
  int32_t first = -1;  // step that writes it
  int32_t last = -1;   // last one that reads it, inclusive
};

class Checker {
 public:
  Checker(const PlanProblem& problem, const Plan& plan) : problem_(problem), plan_(plan) {}

  std::string Run() {
    Collect();
    for (size_t a = 0; a < contents_.size(); ++a) {
      if (const std::string wrong = CheckInside(a); !wrong.empty()) return wrong;
      for (size_t b = 0; b < contents_.size(); ++b) {
        if (contents_[a].first < 0 || contents_[b].first < 0 || a == b) continue;
        if (plan_.buffer_of[a] != plan_.buffer_of[b] || contents_[b].first < contents_[a].first) {
          continue;
        }
        if (Overlap(a, b)) return absl::StrCat("tensors ", a, " and ", b, " overlap in a buffer");
      }
    }
    return "";
  }

 private:
  int32_t Source(int32_t tensor) const { return source_[static_cast<size_t>(tensor)]; }

  void Collect() {
    const auto end = static_cast<int32_t>(problem_.steps.size());
    contents_.resize(problem_.tensors.size());
    for (size_t i = 0; i < problem_.tensors.size(); ++i) {
      source_.push_back(static_cast<int32_t>(i));
      if (problem_.tensors[i].given) contents_[i] = {0, end};
    }
    for (int32_t i = 0; i < end; ++i) {
      const PlanStep& step = problem_.steps[static_cast<size_t>(i)];
      for (const int32_t read : step.reads) Extend(Source(read), i);
      for (const PlanWrite& write : step.writes) {
        const PlanTensor& tensor = problem_.tensors[static_cast<size_t>(write.tensor)];
        if (write.alias >= 0 && !tensor.output) {
          source_[static_cast<size_t>(write.tensor)] = Source(write.alias);
        } else {
          contents_[static_cast<size_t>(write.tensor)] = {i, tensor.output ? end : i};
        }
        Extend(Source(write.tensor), i);
      }
    }
  }

  void Extend(int32_t source, int32_t step) {
    Contents& contents = contents_[static_cast<size_t>(source)];
    contents.last = std::max(contents.last, step);
  }

  // `b` is written while `a` is still needed.
  bool Overlap(size_t a, size_t b) const {
    const int32_t step = contents_[b].first;
    if (contents_[a].last < step) return false;
    if (contents_[a].last > step || problem_.tensors[a].given) return true;
    for (const PlanWrite& write : problem_.steps[static_cast<size_t>(step)].writes) {
      if (write.tensor != static_cast<int32_t>(b)) continue;
      for (const int32_t operand : write.overwrites) {
        if (Source(operand) == static_cast<int32_t>(a)) return false;
      }
    }
    return true;
  }

  std::string CheckInside(size_t tensor) const {
    const Contents& contents = contents_[tensor];
    if (contents.first < 0 || problem_.tensors[tensor].given) return "";
    if (plan_.buffer_of[tensor] < 0) return absl::StrCat("tensor ", tensor, " has no buffer");
    const PlanBuffer& buffer = plan_.buffers[static_cast<size_t>(plan_.buffer_of[tensor])];
    const auto end = static_cast<int32_t>(problem_.steps.size());
    if (buffer.given) return absl::StrCat("tensor ", tensor, " is in a buffer that was given");
    if (buffer.first_step <= contents.first &&
        std::min(contents.last + 1, end) <= buffer.end_step) {
      return "";
    }
    return absl::StrCat("tensor ", tensor, " outlives its buffer");
  }

  const PlanProblem& problem_;
  const Plan& plan_;
  std::vector<int32_t> source_;  // by tensor: the one whose contents it views
  std::vector<Contents> contents_;
};

}  // namespace

std::string CheckPlan(const PlanProblem& problem, const Plan& plan) {
  return Checker(problem, plan).Run();
}

}  // namespace footprint
