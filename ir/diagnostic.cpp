#include "ir/diagnostic.h"

namespace footprint {
namespace {

const char* Name(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "error";
}

}  // namespace

std::string ToString(const Diagnostic& diagnostic) {
  std::string text = Name(diagnostic.severity);
  text += ": ";
  if (!diagnostic.place.empty()) text += diagnostic.place + ": ";
  return text + diagnostic.message;
}

void DiagnosticSink::Add(Diagnostic diagnostic) {
  has_errors_ |= diagnostic.severity == Severity::kError;
  diagnostics_.push_back(std::move(diagnostic));
}

void DiagnosticSink::Error(std::string kind, std::string place, std::string message) {
  Add({Severity::kError, Blame::kModel, std::move(kind), std::move(place), std::move(message)});
}

void DiagnosticSink::Warning(std::string kind, std::string place, std::string message) {
  Add({Severity::kWarning, Blame::kModel, std::move(kind), std::move(place), std::move(message)});
}

void DiagnosticSink::Note(std::string kind, std::string place, std::string message) {
  Add({Severity::kNote, Blame::kModel, std::move(kind), std::move(place), std::move(message)});
}

void DiagnosticSink::UsageError(std::string kind, std::string place, std::string message) {
  Add({Severity::kError, Blame::kUsage, std::move(kind), std::move(place), std::move(message)});
}

}  // namespace footprint
