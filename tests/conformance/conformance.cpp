// footprint_conformance FOLDER [--verbose] [NAME...]
// footprint_conformance --models MODEL...
// footprint_conformance --mutants COUNT FOLDER
//
// The table has what ONNX's own inference makes of the same files, too.
//
// Infers every model that FOLDER/expected.jsonl lists, with all declared shapes but those of inputs
// removed, and compares with the true shapes of its outputs: once knowing nothing of the inputs'
// contents, once knowing those that the file has. One line of expected.jsonl:
//
//   {"name": "node/test_abs", "inputs": {NAME: {"dtype", "dims", "values"?}}, "outputs": {...}}
//
// where dtype is a TensorProto element type, and values that are no tensors have {"kind"} alone.
//
// With --models: one line per model on how many of its node outputs have a shape in the names of
// the model's inputs, once as the file is and once with all declared shapes but those of inputs
// removed.
//
// With --mutants: each model below FOLDER is damaged in COUNT ways and analyzed; there must be a
// report or a message.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/read_graph.h"
#include "nlohmann/json.hpp"
#include "passes/infer_shapes.h"
#include "tests/conformance/mutants.h"
#include "tests/conformance/onnx_oracle.h"

namespace footprint {
namespace {

using Json = nlohmann::json;

enum class Verdict { kRight, kUnknown, kWrong };

struct Finding {
  Verdict verdict = Verdict::kRight;
  std::string why;

  void Add(Verdict worse, const std::string& reason) {
    verdict = std::max(verdict, worse);
    absl::StrAppend(&why, why.empty() ? "" : "; ", reason);
  }
};

Dims TrueDims(const Json& tensor) {
  Dims dims;
  for (const Json& dim : tensor["dims"]) dims.push_back(dim.get<int64_t>());
  return dims;
}

ElementType TrueElement(const Json& tensor) {
  return static_cast<ElementType>(tensor["dtype"].get<int>());
}

KnownValuePtr TrueValue(const Json& tensor) {
  auto value = std::make_shared<KnownValue>();
  value->is_float = IsFloatingPoint(TrueElement(tensor));
  for (const Json& element : tensor["values"]) {
    if (value->is_float && element.is_number()) {
      value->floats.push_back(element.get<double>());
    } else if (value->is_float) {
      return nullptr;  // nan and inf are strings
    } else if (element.is_boolean()) {
      value->integers.emplace_back(element.get<bool>() ? 1 : 0);
    } else {
      value->integers.emplace_back(element.get<int64_t>());
    }
  }
  return value;
}

void Strip(Graph& graph) {
  for (Value& value : graph.values) {
    if (value.kind != ValueKind::kInput) value.declared = ValueType();
  }
}

// The sizes of the input's names, from its true dims.
void Bind(const Graph& graph, const Value& input, const Json& tensor, DimBindings* bindings) {
  const TensorType& declared = input.declared.tensor;
  const Dims dims = TrueDims(tensor);
  for (size_t i = 0; i < dims.size() && i < declared.dims.size(); ++i) {
    if (declared.dims[i].is_constant() || declared.dims[i].is_unknown()) continue;
    bindings->emplace_back(graph.dims->ToString(declared.dims[i]), dims[i].value());
  }
}

void CompareTensor(const Graph& graph, const TensorType& got, const Json& expected,
                   DimEvaluator& evaluator, const std::string& name, Finding* finding) {
  const Dims dims = TrueDims(expected);
  const std::string shown =
      absl::StrCat(name, " is ", ToString(got, *graph.dims), ", truly ", expected["dims"].dump());
  if (got.element != TrueElement(expected)) {
    const bool unknown = got.element == ElementType::kUndefined;
    finding->Add(unknown ? Verdict::kUnknown : Verdict::kWrong, shown + " of another type");
  }
  if (!got.has_rank) return finding->Add(Verdict::kUnknown, shown);
  if (got.dims.size() != dims.size()) return finding->Add(Verdict::kWrong, shown);
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim dim = got.dims[i];
    const bool open = dim.is_unknown() || graph.dims->IsDataDependent(dim);
    const std::optional<int64_t> value = evaluator.Evaluate(dim);
    // The upper bound of an open size must hold.
    if (open ? value && *value < dims[i].value() : !value || *value != dims[i].value()) {
      return finding->Add(Verdict::kWrong, shown);
    }
    if (open) finding->Add(Verdict::kUnknown, shown);
  }
}

Finding Check(LoadedModel& model, const Json& test, bool with_values) {
  Graph& graph = model.graph;
  InferOptions options;
  DimBindings bindings;
  for (const ValueId id : graph.top().inputs) {
    const Value& input = graph.values[id];
    const auto found = test["inputs"].find(input.name);
    if (found == test["inputs"].end() || !found->contains("dims")) continue;
    Bind(graph, input, *found, &bindings);
    if (!with_values) continue;
    options.input_types.emplace_back(id, TensorType::Make(TrueElement(*found), TrueDims(*found)));
    if (found->contains("values")) options.input_values.emplace_back(id, TrueValue(*found));
  }
  DiagnosticSink sink;
  const InferredTypes inferred = InferShapes(graph, options, model.fallback.get(), sink);
  DimEvaluator evaluator(*graph.dims, bindings);
  CheckConstraints(graph, inferred, evaluator, sink);
  Finding finding;
  for (const Diagnostic& diagnostic : sink.all()) {
    if (diagnostic.severity == Severity::kError) {
      finding.Add(Verdict::kWrong, ToString(diagnostic));
    }
  }
  for (const ValueId id : graph.top().outputs) {
    const auto found = test["outputs"].find(graph.values[id].name);
    if (found == test["outputs"].end() || !found->contains("dims")) continue;
    const ValueType& type = inferred.types[id];
    if (type.kind == TypeKind::kUnknown) {
      finding.Add(Verdict::kUnknown, graph.values[id].name + " is unknown");
    } else if (!type.is_tensor()) {
      finding.Add(Verdict::kWrong, graph.values[id].name + " is no tensor");
    } else {
      CompareTensor(graph, type.tensor, *found, evaluator, graph.values[id].name, &finding);
    }
  }
  return finding;
}

// Sizes that only the contents of strings, images, scores or floats decide, which no file of values
// has: the rank, the known sizes and the bounds of the others must be right.
bool DecidedByContents(const Json& test) {
  for (const Json& op : test["ops"]) {
    for (const char* name :
         {"ImageDecoder", "NonMaxSuppression", "StringNormalizer", "StringSplit", "Unique"}) {
      if (op == name) return true;
    }
  }
  return false;
}

// ONNX's answer, without contents of inputs.
Verdict CheckOracle(const std::string& path, const Json& test) {
  const std::map<std::string, OracleType> types = InferWithOnnx(path);
  Verdict verdict = Verdict::kRight;
  for (const auto& [name, expected] : test["outputs"].items()) {
    if (!expected.contains("dims")) continue;
    const auto found = types.find(name);
    if (found == types.end() || !found->second.has_rank) {
      verdict = std::max(verdict, Verdict::kUnknown);
      continue;
    }
    const Dims dims = TrueDims(expected);
    if (found->second.dims.size() != dims.size()) return Verdict::kWrong;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t size = found->second.dims[i];
      if (size >= 0 && size != dims[i].value()) return Verdict::kWrong;
      if (size < 0) verdict = std::max(verdict, Verdict::kUnknown);
    }
  }
  return verdict;
}

// Where ONNX's answer for any tensor of the top graph contradicts ours: another element type or
// rank, or another number for a size. What one of the two does not know is no contradiction.
int ListDisagreements(const std::string& path, const std::string& name) {
  DiagnosticSink sink;
  std::optional<LoadedModel> model = ReadGraph(path, sink);
  if (!model) return 0;
  Strip(model->graph);
  const Graph& graph = model->graph;
  int disagreements = 0;
  const InferredTypes ours = InferShapes(graph, {}, model->fallback.get(), sink);
  const std::map<std::string, OracleType> theirs = InferWithOnnx(path);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const auto found = theirs.find(graph.values[ValueId(i)].name);
    const ValueType& type = ours.types[ValueId(i)];
    if (found == theirs.end() || !type.is_tensor()) continue;
    const OracleType& other = found->second;
    const auto element = static_cast<int>(type.tensor.element);
    bool differs = element != 0 && other.element != 0 && element != other.element;
    if (type.tensor.has_rank && other.has_rank) {
      differs |= type.tensor.dims.size() != other.dims.size();
      for (size_t d = 0; !differs && d < other.dims.size(); ++d) {
        const Dim dim = type.tensor.dims[d];
        differs = other.dims[d] >= 0 && graph.dims->KnownNotEqual(dim, other.dims[d]);
      }
    }
    if (!differs) continue;
    ++disagreements;
    std::string dims;
    for (const int64_t dim : other.dims) absl::StrAppend(&dims, dims.empty() ? "" : ", ", dim);
    std::cout << "| " << name << " | " << found->first << " | "
              << ToString(type.tensor, *graph.dims) << " | " << other.element << " [" << dims
              << "] |\n";
  }
  return disagreements;
}

struct Tally {
  int tests = 0;
  int right = 0;         // without contents of inputs
  int needs_values = 0;  // right once these are known
  int unknown = 0;
  int wrong = 0;
  int oracle[3] = {0, 0, 0};  // ONNX's verdicts

  void Add(const Tally& other) {
    tests += other.tests;
    right += other.right;
    needs_values += other.needs_values;
    unknown += other.unknown;
    wrong += other.wrong;
    for (int i = 0; i < 3; ++i) oracle[i] += other.oracle[i];
  }
};

void PrintRow(const std::string& suite, const Tally& tally) {
  std::cout << "| " << suite << " | " << tally.tests << " | " << tally.right << " | "
            << tally.needs_values << " | " << tally.unknown << " | " << tally.wrong << " | "
            << tally.oracle[0] << " | " << tally.oracle[1] << " | " << tally.oracle[2] << " |\n";
}

struct Options {
  std::string folder;
  bool verbose = false;
  uint32_t mutants = 0;
  std::vector<std::string> names;
};

void RunTest(const Options& options, const Json& test, Tally* tally) {
  const std::string name = test["name"];
  const auto tensors = test["outputs"].items();
  bool any = false;
  for (const auto& [output, type] : tensors) any |= type.contains("dims");
  if (!any) return;
  ++tally->tests;
  Finding findings[2];
  for (const bool with_values : {false, true}) {
    DiagnosticSink sink;
    std::optional<LoadedModel> model =
        ReadGraph(absl::StrCat(options.folder, "/", name, ".onnx"), sink);
    Finding& finding = findings[with_values ? 1 : 0];
    if (!model) {
      finding.Add(Verdict::kWrong, sink.all().empty() ? "not read" : ToString(sink.all()[0]));
      continue;
    }
    Strip(model->graph);
    finding = Check(*model, test, with_values);
  }
  ++tally->oracle[static_cast<int>(
      CheckOracle(absl::StrCat(options.folder, "/", name, ".onnx"), test))];
  const Verdict worse = std::max(findings[0].verdict, findings[1].verdict);
  if (worse == Verdict::kWrong) {
    ++tally->wrong;
  } else if (findings[0].verdict == Verdict::kRight) {
    ++tally->right;
  } else if (findings[1].verdict == Verdict::kRight || DecidedByContents(test)) {
    ++tally->needs_values;
  } else {
    ++tally->unknown;
  }
  const bool bad = worse == Verdict::kWrong ||
                   (findings[1].verdict != Verdict::kRight && !DecidedByContents(test));
  if (!options.verbose && !bad) return;
  static constexpr const char* kVerdicts[] = {"right", "unknown", "wrong"};
  for (const bool with_values : {false, true}) {
    const Finding& finding = findings[with_values ? 1 : 0];
    if (finding.why.empty()) continue;
    std::cout << kVerdicts[static_cast<int>(finding.verdict)] << (with_values ? " v " : "   ")
              << name << ": " << finding.why << "\n";
  }
}

int Run(const Options& options) {
  std::ifstream lines(options.folder + "/expected.jsonl");
  if (!lines) {
    std::cerr << "cannot read " << options.folder << "/expected.jsonl\n";
    return 3;
  }
  std::map<std::string, Tally> suites;
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const Json test = Json::parse(line);
    const std::string name = test["name"];
    bool chosen = options.names.empty();
    for (const std::string& part : options.names) chosen |= name.find(part) != std::string::npos;
    if (!chosen) continue;
    names.push_back(name);
    RunTest(options, test, &suites[name.substr(0, name.find('/'))]);
  }
  std::cout << "| suite | models | right | right with input values | unknown | wrong "
               "| ONNX right | ONNX unknown | ONNX wrong |\n"
            << "|---|---|---|---|---|---|---|---|---|\n";
  Tally all;
  for (const auto& [suite, tally] : suites) {
    PrintRow(suite, tally);
    all.Add(tally);
  }
  PrintRow("all", all);
  std::cout << "\nWhere ONNX's inference of any tensor contradicts ours:\n\n"
               "| model | tensor | ours | ONNX's element type and sizes |\n|---|---|---|---|\n";
  int disagreements = 0;
  for (const std::string& name : names) {
    disagreements += ListDisagreements(absl::StrCat(options.folder, "/", name, ".onnx"), name);
  }
  std::cout << "| " << disagreements << " in all | | | |\n";
  return all.wrong == 0 ? 0 : 1;
}

// "12 of 14": node outputs whose shape is known, fresh symbols excluded.
void CountShapes(const LoadedModel& model, bool verbose) {
  const Graph& graph = model.graph;
  DiagnosticSink sink;
  const InferredTypes inferred = InferShapes(graph, {}, model.fallback.get(), sink);
  int outputs = 0;
  int known = 0;
  for (const Value& value : graph.values) {
    if (value.kind != ValueKind::kNodeOutput) continue;
    ++outputs;
    const ValueId id(static_cast<size_t>(&value - &*graph.values.begin()));
    const ValueType& type = inferred.types[id];
    bool exact = type.kind != TypeKind::kUnknown;
    if (type.is_tensor()) {
      exact = type.tensor.AllDimsKnown();
      for (const Dim& dim : type.tensor.dims) exact &= !graph.dims->IsDataDependent(dim);
    }
    known += exact ? 1 : 0;
    if (!exact && verbose) {
      std::cout << "  " << Describe(graph, id) << ": " << ToString(type.tensor, *graph.dims)
                << "\n";
    }
  }
  std::cout << " " << known << " of " << outputs << ", " << inferred.constraints.size()
            << " constraints, " << inferred.unknown_nodes.size() << " nodes unknown, "
            << sink.all().size() << " diagnostics\n";
  for (const Diagnostic& diagnostic : sink.all()) {
    if (verbose) std::cout << "  " << ToString(diagnostic) << "\n";
  }
}

int RunModels(const Options& options) {
  for (const std::string& path : options.names) {
    DiagnosticSink sink;
    std::optional<LoadedModel> model = ReadGraph(path, sink);
    std::cout << path << (model ? ":\n" : ": not read\n");
    if (!model) continue;
    CountShapes(*model, options.verbose);
    Strip(model->graph);
    CountShapes(*model, options.verbose);
  }
  return 0;
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  footprint::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--verbose") {
      options.verbose = true;
    } else if (argument == "--models") {
      options.folder = argument;
    } else if (argument == "--mutants" && i + 1 < argc) {
      options.mutants = static_cast<uint32_t>(std::atoi(argv[++i]));
    } else if (options.folder.empty()) {
      options.folder = argument;
    } else {
      options.names.push_back(argument);
    }
  }
  if (options.folder.empty()) {
    std::cerr << "usage: footprint_conformance FOLDER [--verbose] [NAME...]\n";
    return 3;
  }
  if (options.mutants > 0) {
    return footprint::RunMutants(options.folder, options.mutants) == 0 ? 0 : 1;
  }
  return options.folder == "--models" ? footprint::RunModels(options) : footprint::Run(options);
}
