// Diagnostics: what is wrong or doubtful about a model, in the user's words. Collected, not thrown.
#ifndef FOOTPRINT_IR_DIAGNOSTIC_H_
#define FOOTPRINT_IR_DIAGNOSTIC_H_

#include <string>
#include <utility>
#include <vector>

namespace footprint {

enum class Severity { kNote, kWarning, kError };

// Who is at fault decides the exit code of the command: the model (2), or the command line, a
// file's access or a binding (3).
enum class Blame { kModel, kUsage };

struct Diagnostic {
  Severity severity = Severity::kError;
  Blame blame = Blame::kModel;
  // A stable kebab-case name of the kind, e.g. "shape-mismatch", "external-data-missing".
  std::string kind;
  // Where, in the user's words: "MatMul 'dense' -> h", "initializer w", "input x". May be empty.
  std::string place;
  // What was expected, what was found, what to do next. One line.
  std::string message;
};

// "error: MatMul -> h: inner dimensions differ: ..." (without the model's name).
std::string ToString(const Diagnostic& diagnostic);

// Collects diagnostics in the order they are found.
class DiagnosticSink {
 public:
  void Add(Diagnostic diagnostic);
  void Error(std::string kind, std::string place, std::string message);
  void Warning(std::string kind, std::string place, std::string message);
  void Note(std::string kind, std::string place, std::string message);
  void UsageError(std::string kind, std::string place, std::string message);

  bool has_errors() const { return has_errors_; }
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  std::vector<Diagnostic> Take() { return std::move(diagnostics_); }

 private:
  std::vector<Diagnostic> diagnostics_;
  bool has_errors_ = false;
};

}  // namespace footprint

#endif  // FOOTPRINT_IR_DIAGNOSTIC_H_
