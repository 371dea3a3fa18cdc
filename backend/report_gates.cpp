#include "backend/report_gates.h"

#include <set>
#include <string_view>

#include "backend/figures.h"
#include "backend/report_json_writer.h"
#include "backend/terminal.h"
#include "backend/units.h"

namespace footprint {
namespace {

using Layout = JsonWriter::Layout;

// A path as a URI reference.
std::string UriOf(std::string_view path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = path.substr(0, 1) == "/" ? "file://" : "";
  for (const char c : path) {
    const unsigned char byte = static_cast<unsigned char>(c);
    const bool plain = (byte < 128 && isalnum(byte) != 0) ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      uri += c;
    } else {
      uri += '%';
      uri += kHex[byte >> 4];
      uri += kHex[byte & 15];
    }
  }
  return uri;
}

class SarifWriter {
 public:
  SarifWriter(const std::string& model, const std::string& version,
              const std::set<std::string>& rules)
      : model_(model) {
    json_.BeginObject(Layout::kLines);
    json_.Field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_.Field("version", "2.1.0");
    json_.Key("runs");
    json_.BeginArray(Layout::kLines);
    json_.BeginObject(Layout::kLines);
    json_.Key("tool");
    json_.BeginObject(Layout::kLines);
    json_.Key("driver");
    json_.BeginObject(Layout::kLines);
    json_.Field("name", "footprint");
    json_.Field("version", version);
    json_.Key("rules");
    json_.BeginArray(Layout::kLines);
    for (const std::string& rule : rules) {
      json_.BeginObject(Layout::kOneLine);
      json_.Field("id", rule);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
    json_.EndObject();
  }

  void Invocation(int exit_code) {
    json_.Key("invocations");
    json_.BeginArray(Layout::kOneLine);
    json_.BeginObject(Layout::kOneLine);
    json_.Field("executionSuccessful", exit_code < 2);
    json_.Field("exitCode", exit_code);
    json_.EndObject();
    json_.EndArray();
    json_.Key("results");
    json_.BeginArray(Layout::kLines);
  }

  void Result(const std::string& rule, const std::string& severity, const std::string& place,
              const std::string& message) {
    json_.BeginObject(Layout::kOneLine);
    json_.Field("ruleId", rule);
    json_.Field("level", severity);
    json_.Key("message");
    json_.BeginObject(Layout::kOneLine);
    json_.Field("text", message);
    json_.EndObject();
    Location(place);
    json_.EndObject();
  }

  std::string Take() {
    json_.EndArray();
    json_.EndObject();
    json_.EndArray();
    json_.EndObject();
    return json_.Take();
  }

 private:
  void Location(const std::string& place) {
    json_.Key("locations");
    json_.BeginArray(Layout::kOneLine);
    json_.BeginObject(Layout::kOneLine);
    json_.Key("physicalLocation");
    json_.BeginObject(Layout::kOneLine);
    json_.Key("artifactLocation");
    json_.BeginObject(Layout::kOneLine);
    json_.Field("uri", model_ == "-" ? std::string("stdin") : UriOf(model_));
    json_.EndObject();
    json_.EndObject();
    if (!place.empty()) {
      json_.Key("logicalLocations");
      json_.BeginArray(Layout::kOneLine);
      json_.BeginObject(Layout::kOneLine);
      json_.Field("fullyQualifiedName", place);
      json_.EndObject();
      json_.EndArray();
    }
    json_.EndObject();
    json_.EndArray();
  }

  const std::string& model_;
  JsonWriter json_;
};

void AddDiagnostics(const std::vector<ReportDiagnostic>& diagnostics, SarifWriter& sarif) {
  for (const ReportDiagnostic& diagnostic : diagnostics) {
    sarif.Result(diagnostic.kind, diagnostic.severity, diagnostic.place, diagnostic.message);
  }
}

std::set<std::string> KindsOf(const std::vector<ReportDiagnostic>& diagnostics) {
  std::set<std::string> kinds;
  for (const ReportDiagnostic& diagnostic : diagnostics) kinds.insert(diagnostic.kind);
  return kinds;
}

// A test case with an inner element, or none if that is empty.
std::string TestCase(std::string_view name, const std::string& inner) {
  const std::string head = "    <testcase classname=\"footprint\" name=\"" + Markup(name) + "\"";
  return inner.empty() ? head + "/>\n" : head + ">\n" + inner + "    </testcase>\n";
}

std::string Suite(std::string_view model, size_t tests, size_t failures, size_t errors,
                  const std::string& cases) {
  const std::string counts = " tests=\"" + std::to_string(tests) + "\" failures=\"" +
                             std::to_string(failures) + "\" errors=\"" + std::to_string(errors) +
                             "\"";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts +
         ">\n  <testsuite name=\"" + Markup(model) + "\"" + counts + ">\n" + cases +
         "  </testsuite>\n</testsuites>\n";
}

}  // namespace

std::string GateMessage(const GateReport& gate, const GateViolation& violation) {
  std::string text = gate.name + ": " + ExactFigure(violation.bytes);
  if (!violation.place.empty()) text += ", " + violation.place;
  if (!violation.why.empty()) text += ": " + violation.why;
  if (violation.bytes && *violation.bytes > gate.limit_bytes) {
    text += ", " + BinaryUnits(*violation.bytes - gate.limit_bytes) + " over";
  }
  return text + "; the limit is " + ExactFigure(gate.limit_bytes);
}

std::vector<std::string> GateMessages(const GateReport& gate) {
  constexpr size_t kShown = 10;
  std::vector<std::string> messages;
  for (const GateViolation& violation : gate.violations) {
    if (messages.size() == kShown) {
      const auto left = static_cast<int64_t>(gate.violations.size() - kShown);
      messages.push_back(gate.name + ": " + WithThousands(left) + " more");
      break;
    }
    messages.push_back(GateMessage(gate, violation));
  }
  return messages;
}

std::string ReportSarif(const Report& report, const std::string& version) {
  std::set<std::string> rules = KindsOf(report.diagnostics);
  rules.insert("budget");
  bool broken = false;
  for (const GateReport& gate : report.gates) broken |= !gate.passed;
  SarifWriter sarif(report.model_path, version, rules);
  sarif.Invocation(broken ? 1 : 0);
  for (const GateReport& gate : report.gates) {
    for (const GateViolation& violation : gate.violations) {
      sarif.Result("budget", "error", violation.place, GateMessage(gate, violation));
    }
  }
  AddDiagnostics(report.diagnostics, sarif);
  return sarif.Take();
}

std::string FailureSarif(const Failure& failure, const std::string& model,
                         const std::string& version) {
  SarifWriter sarif(model, version, KindsOf(failure.diagnostics));
  sarif.Invocation(failure.exit_code);
  AddDiagnostics(failure.diagnostics, sarif);
  return sarif.Take();
}

std::string ReportJunit(const Report& report) {
  if (report.gates.empty()) return Suite(report.model_path, 1, 0, 0, TestCase("analysis", ""));
  std::string cases;
  size_t failures = 0;
  for (const GateReport& gate : report.gates) {
    std::string inner;
    for (const GateViolation& violation : gate.violations) {
      inner += (inner.empty() ? "" : "; ") + GateMessage(gate, violation);
    }
    if (!gate.passed) {
      ++failures;
      inner = "      <failure type=\"budget\" message=\"" +
              Markup(GateMessage(gate, gate.violations.front())) + "\">" + Markup(inner) +
              "</failure>\n";
    }
    cases += TestCase(gate.name, inner);
  }
  return Suite(report.model_path, report.gates.size(), failures, 0, cases);
}

std::string FailureJunit(const Failure& failure, const std::string& model) {
  std::string text;
  for (const ReportDiagnostic& diagnostic : failure.diagnostics) {
    if (diagnostic.severity != "error") continue;
    text += (text.empty() ? "" : "; ") + (diagnostic.place.empty() ? "" : diagnostic.place + ": ") +
            diagnostic.message;
  }
  const std::string kind = failure.diagnostics.empty() ? "" : failure.diagnostics.front().kind;
  return Suite(model, 1, 0, 1,
               TestCase("analysis", "      <error type=\"" + Markup(kind) + "\" message=\"" +
                                        Markup(text) + "\"/>\n"));
}

}  // namespace footprint
