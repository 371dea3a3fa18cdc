#include "frontend/provenance.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::NodeProto;

constexpr absl::string_view kFxNodeKey = "pkg.torch.onnx.fx_node";
constexpr absl::string_view kRewriteRulesKey = "pkg.onnxscript.rewriter.rule_name";
constexpr absl::string_view kSignatureKey = "pkg.torch.export.ExportedProgram.graph_signature";
// Set by the Python package, which has the module before it: "training".
constexpr absl::string_view kModeKey = "footprint.module_mode";

SignatureEntry::Kind SignatureKind(absl::string_view word) {
  using Kind = SignatureEntry::Kind;
  if (word == "PARAMETER") return Kind::kParameter;
  if (word == "BUFFER") return Kind::kBuffer;
  if (word == "CONSTANT_TENSOR") return Kind::kTensorConstant;
  if (word == "USER_INPUT") return Kind::kUserInput;
  if (word == "USER_OUTPUT") return Kind::kUserOutput;
  if (word == "BUFFER_MUTATION") return Kind::kBufferMutation;
  if (word == "LOSS_OUTPUT") return Kind::kLossOutput;
  return Kind::kOther;
}

template <typename Properties>
const std::string* FindProperty(const Properties& properties, absl::string_view key) {
  for (const auto& entry : properties) {
    if (entry.key() == key) return &entry.value();
  }
  return nullptr;
}

std::vector<std::string> StringList(const NodeProto& node, absl::string_view key) {
  const std::string* text = FindMetadata(node, key);
  if (text == nullptr) return {};
  return ParseStringList(*text).value_or(std::vector<std::string>());
}

}  // namespace

const std::string* FindMetadata(const NodeProto& node, absl::string_view key) {
  return FindProperty(node.metadata_props(), key);
}

std::optional<std::vector<std::string>> ParseStringList(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) return std::nullopt;
  std::vector<std::string> items;
  for (text = absl::StripLeadingAsciiWhitespace(text); !text.empty();
       text = absl::StripLeadingAsciiWhitespace(text)) {
    const char quote = text[0];
    if (quote != '\'' && quote != '"') return std::nullopt;
    std::string item;
    size_t i = 1;
    for (; i < text.size() && text[i] != quote; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      item += text[i];
    }
    if (i >= text.size()) return std::nullopt;
    items.push_back(std::move(item));
    text = absl::StripLeadingAsciiWhitespace(text.substr(i + 1));
    if (!absl::ConsumePrefix(&text, ",") && !text.empty()) return std::nullopt;
  }
  return items;
}

std::vector<SignatureEntry> ParseSignature(absl::string_view text) {
  std::vector<SignatureEntry> entries;
  bool outputs = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, "#")) {
      outputs = absl::StripLeadingAsciiWhitespace(line) == "outputs";
      continue;
    }
    const size_t colon = line.find(": ");
    if (colon == absl::string_view::npos) continue;
    SignatureEntry entry;
    entry.name = std::string(line.substr(0, colon));
    entry.is_output = outputs;
    absl::string_view rest = line.substr(colon + 2);
    entry.kind = SignatureKind(rest.substr(0, rest.find(' ')));
    const size_t target = rest.find(" target='");
    if (target != absl::string_view::npos) {
      const absl::string_view quoted = rest.substr(target + 9);
      entry.target = std::string(quoted.substr(0, quoted.find('\'')));
    }
    entry.persistent = !absl::StrContains(rest, " persistent=False");
    entries.push_back(std::move(entry));
  }
  return entries;
}

Provenance ReadProvenance(const ModelProto& model, const std::vector<ImportedNode>& nodes,
                          size_t node_count) {
  Provenance provenance;
  const std::string* signature = FindProperty(model.graph().metadata_props(), kSignatureKey);
  if (signature == nullptr) signature = FindProperty(model.metadata_props(), kSignatureKey);
  if (signature != nullptr) provenance.signature = ParseSignature(*signature);
  const std::string* mode = FindProperty(model.metadata_props(), kModeKey);
  provenance.says_training = mode != nullptr && *mode == "training";

  absl::flat_hash_map<absl::string_view, int32_t> index_of_text;
  for (const ImportedNode& node : nodes) {
    if (node.proto->metadata_props().empty()) continue;
    const std::string* text = FindMetadata(*node.proto, kFxNodeKey);
    const std::string* rules = FindMetadata(*node.proto, kRewriteRulesKey);
    if (text == nullptr && rules == nullptr) continue;
    if (provenance.fx_of_node.empty()) {
      provenance.fx_of_node.resize(node_count, -1);
      provenance.rewrite_rules.resize(node_count);
    }
    if (rules != nullptr && node.id.valid()) provenance.rewrite_rules[node.id] = *rules;
    if (text == nullptr) continue;
    const auto [found, is_new] =
        index_of_text.try_emplace(*text, static_cast<int32_t>(provenance.fx_nodes.size()));
    if (is_new) {
      FxNode fx = ParseFxNode(*text);
      fx.module_path = StringList(*node.proto, kNameScopesKey);
      fx.classes = StringList(*node.proto, kClassHierarchyKey);
      provenance.fx_nodes.push_back(std::move(fx));
    }
    if (node.id.valid()) provenance.fx_of_node[node.id] = found->second;
  }
  return provenance;
}

}  // namespace footprint
