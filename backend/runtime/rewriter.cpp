#include "backend/runtime/rewriter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace footprint {

bool Rewriter::Is(int32_t node, absl::string_view op, absl::string_view domain) const {
  if (node < 0) return false;
  const RuntimeNode& row = graph_.node(node);
  return !row.removed && row.op_type == op && row.domain == domain;
}

int32_t Rewriter::MadeBy(int32_t value, absl::string_view op) const {
  if (value < 0) return -1;
  const int32_t node = uses_.producer[static_cast<size_t>(value)];
  return Is(node, op) ? node : -1;
}

bool Rewriter::IsUsedOnce(int32_t value) const {
  return value >= 0 && !graph_.value(value).output && uses_.OnlyReader(value) >= 0;
}

int32_t Rewriter::OnlyReader(int32_t value, absl::string_view op) const {
  if (value < 0 || !IsUsedOnce(value)) return -1;
  const int32_t reader = uses_.OnlyReader(value);
  return Is(reader, op) ? reader : -1;
}

std::optional<double> Rewriter::Scalar(int32_t value) const {
  if (!IsConstant(value)) return std::nullopt;
  const KnownValuePtr& contents = graph_.value(value).contents;
  if (contents == nullptr || contents->is_sequence) return std::nullopt;
  if (contents->floats.size() == 1) return contents->floats[0];
  if (contents->integers.size() == 1 && contents->integers[0].is_constant()) {
    return static_cast<double>(contents->integers[0].value()) /
           static_cast<double>(contents->denominator);
  }
  return std::nullopt;
}

std::optional<int64_t> Rewriter::Integer(int32_t value) const {
  if (!IsConstant(value)) return std::nullopt;
  const KnownValuePtr& contents = graph_.value(value).contents;
  if (contents == nullptr || contents->is_sequence || contents->is_float) return std::nullopt;
  if (contents->integers.size() != 1 || !contents->integers[0].is_constant()) return std::nullopt;
  return contents->integers[0].value();
}

int32_t Rewriter::OtherInput(int32_t node, int32_t value) const {
  const std::vector<int32_t>& inputs = graph_.node(node).inputs;
  if (inputs.size() != 2) return -1;
  return inputs[0] == value ? inputs[1] : inputs[1] == value ? inputs[0] : -1;
}

std::optional<Rewriter::ScalarOperand> Rewriter::WithScalar(int32_t node) const {
  const std::vector<int32_t>& inputs = graph_.node(node).inputs;
  if (inputs.size() != 2) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<double> scalar = Scalar(inputs[i]);
    if (scalar) return ScalarOperand{*scalar, inputs[1 - i]};
  }
  return std::nullopt;
}

int64_t Rewriter::Int(int32_t node, absl::string_view attribute, int64_t otherwise) const {
  const NodeId source = graph_.node(node).source;
  return source.valid() ? graph_.graph->nodes[source].Int(attribute, otherwise) : otherwise;
}

absl::Span<const int64_t> Rewriter::Ints(int32_t node, absl::string_view attribute) const {
  const NodeId source = graph_.node(node).source;
  return source.valid() ? graph_.graph->nodes[source].Ints(attribute) : absl::Span<const int64_t>();
}

absl::string_view Rewriter::String(int32_t node, absl::string_view attribute,
                                   absl::string_view otherwise) const {
  const NodeId source = graph_.node(node).source;
  return source.valid() ? graph_.graph->nodes[source].String(attribute, otherwise) : otherwise;
}

int32_t Rewriter::VersionOf(int32_t node) const {
  const NodeId source = graph_.node(node).source;
  return source.valid() ? graph_.graph->nodes[source].version : OnnxOp::kLatest;
}

std::vector<int64_t> Rewriter::Permutation(int32_t transpose) const {
  const RuntimeNode& node = graph_.node(transpose);
  if (!node.permutation.empty()) return node.permutation;
  const absl::Span<const int64_t> given = Ints(transpose, "perm");
  std::vector<int64_t> permutation(given.begin(), given.end());
  if (permutation.empty()) {  // reversed
    const size_t rank = graph_.value(node.inputs[0]).type.dims.size();
    for (size_t i = rank; i-- > 0;) permutation.push_back(static_cast<int64_t>(i));
  }
  return permutation;
}

int64_t Rewriter::Axis(int32_t node, int64_t otherwise) const {
  return graph_.node(node).axis.value_or(Int(node, "axis", otherwise));
}

std::optional<std::vector<int64_t>> Rewriter::Axes(int32_t node, size_t operand, int since) const {
  const RuntimeNode& row = graph_.node(node);
  if (row.axes) return row.axes;
  if (VersionOf(node) < since) {
    const absl::Span<const int64_t> given = Ints(node, "axes");
    if (given.empty()) return std::nullopt;
    return std::vector<int64_t>(given.begin(), given.end());
  }
  if (operand >= row.inputs.size() || !IsConstant(row.inputs[operand])) return std::nullopt;
  const KnownValuePtr& contents = graph_.value(row.inputs[operand]).contents;
  if (contents == nullptr || contents->is_float || contents->is_sequence) return std::nullopt;
  std::vector<int64_t> axes;
  for (const Dim& axis : contents->integers) {
    if (!axis.is_constant()) return std::nullopt;
    axes.push_back(axis.value());
  }
  return axes;
}

void Rewriter::FindUsesAgain() {
  uses_ = FindUses(graph_);
  order_.reset();
}

std::vector<int32_t> Rewriter::Order() {
  if (!order_) order_ = ExecutionOrder(graph_, uses_);
  return *order_;
}

void Rewriter::Disconnect(int32_t node) {
  order_.reset();
  const RuntimeNode& row = graph_.node(node);
  const auto drop = [&](int32_t value) {
    if (value < 0) return;
    std::vector<int32_t>& readers = uses_.readers[static_cast<size_t>(value)];
    const auto found = std::find(readers.begin(), readers.end(), node);
    if (found != readers.end()) readers.erase(found);
  };
  for (const int32_t input : row.inputs) drop(input);
  for (const int32_t capture : row.captures) drop(capture);
  for (const int32_t output : row.outputs) {
    if (output >= 0) uses_.producer[static_cast<size_t>(output)] = -1;
  }
}

void Rewriter::Connect(int32_t node) {
  order_.reset();
  uses_.producer.resize(graph_.values.size(), -1);
  uses_.readers.resize(graph_.values.size());
  const RuntimeNode& row = graph_.node(node);
  for (const int32_t input : row.inputs) {
    if (input >= 0) uses_.readers[static_cast<size_t>(input)].push_back(node);
  }
  for (const int32_t capture : row.captures) {
    uses_.readers[static_cast<size_t>(capture)].push_back(node);
  }
  for (const int32_t output : row.outputs) {
    if (output >= 0) uses_.producer[static_cast<size_t>(output)] = node;
  }
}

void Rewriter::Remove(int32_t node) {
  Disconnect(node);
  graph_.node(node).removed = true;
}

void Rewriter::Change(int32_t node, RuntimeNode changed) {
  Disconnect(node);
  graph_.node(node) = std::move(changed);
  Connect(node);
}

void Rewriter::Absorb(int32_t node, int32_t reader, const std::string& what) {
  const int32_t before = graph_.node(node).outputs[0];
  const int32_t result = graph_.node(reader).outputs[0];
  Remove(reader);
  graph_.node(node).outputs[0] = result;
  uses_.producer[static_cast<size_t>(before)] = -1;
  uses_.producer[static_cast<size_t>(result)] = node;
  if (!what.empty()) Count(what);
}

int32_t Rewriter::Replace(const std::vector<int32_t>& nodes, RuntimeNode made,
                          const std::string& what) {
  for (const int32_t node : nodes) {
    if (!graph_.node(node).removed) Remove(node);
  }
  graph_.nodes.push_back(std::move(made));
  const auto id = static_cast<int32_t>(graph_.nodes.size()) - 1;
  Connect(id);
  if (!what.empty()) Count(what);
  return id;
}

bool Rewriter::Forward(int32_t node, int32_t from, const std::string& what) {
  const int32_t to = graph_.node(node).outputs[0];
  if (graph_.value(to).output) return false;
  const std::vector<int32_t> readers = uses_.readers[static_cast<size_t>(to)];
  for (const int32_t reader : readers) {
    // A body reads it by its name.
    const std::vector<int32_t>& captures = graph_.node(reader).captures;
    if (std::find(captures.begin(), captures.end(), to) != captures.end()) return false;
  }
  Remove(node);
  for (const int32_t reader : readers) {
    std::replace(graph_.node(reader).inputs.begin(), graph_.node(reader).inputs.end(), to, from);
    uses_.readers[static_cast<size_t>(from)].push_back(reader);
  }
  uses_.readers[static_cast<size_t>(to)].clear();
  if (!what.empty()) Count(what);
  return true;
}

std::vector<std::string> Rewriter::Summary() const {
  std::vector<std::string> lines;
  for (const auto& [what, count] : counts_) lines.push_back(absl::StrCat(what, ": ", count));
  return lines;
}

}  // namespace footprint
