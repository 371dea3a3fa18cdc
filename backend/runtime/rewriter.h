// Rewriter: what the rewrites of a runtime's graph share: who makes and who reads a value, and the
// replacement of a few nodes by one.
#ifndef FOOTPRINT_BACKEND_RUNTIME_REWRITER_H_
#define FOOTPRINT_BACKEND_RUNTIME_REWRITER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backend/runtime/runtime_graph.h"
#include "ir/dim.h"

namespace footprint {

constexpr absl::string_view kMicrosoftDomain = "com.microsoft";
constexpr absl::string_view kNchwcDomain = "com.microsoft.nchwc";

class Rewriter {
 public:
  Rewriter(RuntimeGraph& graph, DimEvaluator& evaluator)
      : graph_(graph), evaluator_(evaluator), uses_(FindUses(graph)) {}

  RuntimeGraph& graph() { return graph_; }
  const RuntimeGraph& graph_view() const { return graph_; }
  DimEvaluator& evaluator() { return evaluator_; }
  const RuntimeUses& uses() const { return uses_; }
  // After nodes were changed other than by Replace() and Forward().
  void FindUsesAgain();
  // In which the nodes that are left run.
  std::vector<int32_t> Order();

  // -1, or the node that makes the value, if it is one of ONNX's called `op`.
  int32_t MadeBy(int32_t value, absl::string_view op) const;
  bool Is(int32_t node, absl::string_view op, absl::string_view domain = "") const;
  // Read by one operand alone, and not handed out.
  bool IsUsedOnce(int32_t value) const;
  // The node that alone reads the value, if it is called `op`; -1.
  int32_t OnlyReader(int32_t value, absl::string_view op) const;
  // Of which hardly any fused kernel exists.
  bool IsDouble(int32_t value) const {
    return value >= 0 && graph_.value(value).type.element == ElementType::kDouble;
  }
  bool IsConstant(int32_t value) const { return value >= 0 && graph_.value(value).constant; }
  // Of a constant of one element.
  std::optional<double> Scalar(int32_t value) const;
  std::optional<int64_t> Integer(int32_t value) const;
  // The operand of a node of two that is not `value`; -1.
  int32_t OtherInput(int32_t node, int32_t value) const;
  // A constant scalar operand of a node of two, and the other one.
  struct ScalarOperand {
    double scalar = 0;
    int32_t other = -1;
  };
  std::optional<ScalarOperand> WithScalar(int32_t node) const;
  int64_t Int(int32_t node, absl::string_view attribute, int64_t otherwise) const;
  absl::Span<const int64_t> Ints(int32_t node, absl::string_view attribute) const;
  absl::string_view String(int32_t node, absl::string_view attribute,
                           absl::string_view otherwise) const;
  int64_t Axis(int32_t node, int64_t otherwise) const;
  // Of an attribute until version `since`, of a stored operand from there; none: not known.
  std::optional<std::vector<int64_t>> Axes(int32_t node, size_t operand, int since) const;
  int32_t VersionOf(int32_t node) const;  // of its operator in the file; the latest: made here
  std::vector<int64_t> Permutation(int32_t transpose) const;

  // Takes nodes out and puts one in their place, numbered last; returns its number.
  int32_t Replace(const std::vector<int32_t>& nodes, RuntimeNode made, const std::string& what);
  // Takes a node out that hands on `from` as its only result. False where that cannot be.
  bool Forward(int32_t node, int32_t from, const std::string& what);
  void Remove(int32_t node);
  void Change(int32_t node, RuntimeNode changed);
  // `reader` alone reads the first result of `node`, which makes what `reader` made from now on.
  void Absorb(int32_t node, int32_t reader, const std::string& what);
  void Count(const std::string& what) {
    ++counts_[what];
    ++changes_;
  }
  int64_t changes() const { return changes_; }  // counted so far

  // "Conv + Relu: 17", in alphabetical order.
  std::vector<std::string> Summary() const;

 private:
  void Disconnect(int32_t node);
  void Connect(int32_t node);

  RuntimeGraph& graph_;
  DimEvaluator& evaluator_;
  RuntimeUses uses_;
  std::optional<std::vector<int32_t>> order_;  // none: something has changed since
  std::map<std::string, int64_t> counts_;
  int64_t changes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_REWRITER_H_
