#include "frontend/importer_functions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/printable.h"

namespace footprint {

using ONNX_NAMESPACE::FunctionProto;
using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::NodeProto;

absl::string_view CanonicalDomain(absl::string_view domain) {
  return domain == "ai.onnx" ? absl::string_view() : domain;
}

// Of several versions of one domain the standard takes the highest.
void OpsetVersions::Add(absl::string_view domain, int64_t version) {
  domain = CanonicalDomain(domain);
  const auto [found, is_new] = index_.try_emplace(std::string(domain), imports_.size());
  if (is_new) {
    imports_.push_back({std::string(domain), version});
  } else {
    int64_t& known = imports_[found->second].version;
    known = std::max(known, version);
  }
}

std::optional<int32_t> OpsetVersions::Find(absl::string_view domain) const {
  const auto found = index_.find(CanonicalDomain(domain));
  if (found == index_.end()) return std::nullopt;
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(std::clamp<int64_t>(imports_[found->second].version, 0, kHighest));
}

FunctionTable::FunctionTable(const ModelProto& model, DiagnosticSink& sink) {
  functions_.reserve(static_cast<size_t>(model.functions_size()));
  for (const FunctionProto& proto : model.functions()) {
    const Key key(CanonicalDomain(proto.domain()), proto.name(), proto.overload());
    const auto [found, is_new] = functions_.try_emplace(key);
    if (!is_new) {
      sink.Error("duplicate-function", "",
                 absl::StrCat("function ", Printable(proto.name()), " of domain '",
                              Printable(proto.domain()), "' is defined twice; remove one, or tell ",
                              "them apart by 'overload'"));
      return;
    }
    found->second.proto = &proto;
    for (const auto& opset : proto.opset_import()) {
      found->second.opsets.Add(opset.domain(), opset.version());
    }
  }
}

const Function* FunctionTable::Find(const NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto found =
      functions_.find(Key(CanonicalDomain(node.domain()), node.op_type(), node.overload()));
  return found == functions_.end() ? nullptr : &found->second;
}

}  // namespace footprint
