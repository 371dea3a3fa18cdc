#include "frontend/model_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "frontend/external_data.h"
#include "frontend/open_file.h"
#include "frontend/printable.h"
#include "frontend/skim_input.h"
#include "onnx/defs/parser.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::ModelProto;

constexpr int64_t kMaxTextBytes = 256 << 20;
constexpr int kMaxNesting = 100;

enum class Format { kBinary, kOnnxText, kProtobufText };

Format FormatOf(const std::string& path) {
  if (absl::EndsWithIgnoreCase(path, ".onnxtxt")) return Format::kOnnxText;
  for (const char* ending : {".textproto", ".pbtxt", ".txtpb", ".prototxt"}) {
    if (absl::EndsWithIgnoreCase(path, ending)) return Format::kProtobufText;
  }
  return Format::kBinary;
}

// Files that are often taken for a model, by how they begin.
struct Signature {
  size_t offset;
  absl::string_view bytes;
  const char* what;
};
constexpr Signature kSignatures[] = {
    {0, "version https://git-lfs", "a Git LFS pointer, not the model: run 'git lfs pull'"},
    {0, "<!DOCTYPE", "an HTML page: the download got a web page instead of the file"},
    {0, "<!doctype", "an HTML page: the download got a web page instead of the file"},
    {0, "<html", "an HTML page: the download got a web page instead of the file"},
    {0, "<?xml", "an XML document (perhaps an OpenVINO model or a server's error message)"},
    {0, "PK\x03\x04",
     "a zip archive (PyTorch's .pt and .npz are such): export the model to ONNX, "
     "or unpack it"},
    {0, "\x1f\x8b", "a gzip file: unpack it"},
    {0, "\x28\xb5\x2f\xfd", "a Zstandard file: unpack it"},
    {0, "BZh", "a bzip2 file: unpack it"},
    {0,
     "\xfd"
     "7zXZ",
     "an xz file: unpack it"},
    {257, "ustar", "a tar archive: unpack it"},
    {0, "\x89HDF", "an HDF5 file (Keras): convert the model to ONNX"},
    {0, "GGUF", "a GGUF file: its weights are not an ONNX graph"},
    {0, "\x93NUMPY", "a NumPy array"},
    {0,
     "\x7f"
     "ELF",
     "a program"},
    {0, "\x80\x02", "a Python pickle (an old PyTorch checkpoint): export the model to ONNX"},
    {4, "TFL3", "a TensorFlow Lite model: convert it to ONNX"},
    {4, "ORTM", "an ONNX Runtime .ort model: use the .onnx file it was made from"},
    {8, "{\"", "a safetensors file: it has weights and no graph; export the model to ONNX"},
    {0, "{", "JSON"},
};
constexpr size_t kHeadBytes = 512;

const char* ForeignFormat(absl::string_view head) {
  for (const Signature& signature : kSignatures) {
    if (head.size() > signature.offset &&
        absl::StartsWith(head.substr(signature.offset), signature.bytes)) {
      return signature.what;
    }
  }
  return nullptr;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The first problem the protobuf text parser finds.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!text_.empty()) return;
    // Names as ONNX has them, not as this library does.
    const std::string said = absl::StrReplaceAll(message, {{"footprint_onnx.", "onnx."}});
    text_ = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", said);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Text is parsed by recursive parsers that do not all guard their stack.
bool NestsTooDeep(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '{' || c == '(' || c == '[') {
      if (++depth > kMaxNesting) return true;
    } else if (c == '}' || c == ')' || c == ']') {
      --depth;
    }
  }
  return false;
}

// "[ParseError at position (line: 1 column: 84)]\nError context: ...\nExpected ..." in one line.
std::string Reworded(const std::string& message) {
  int line = 0;
  int column = 0;
  const size_t last = message.find_last_not_of('\n');
  const size_t begin = message.rfind('\n', last) + 1;
  if (std::sscanf(message.c_str(), "[ParseError at position (line: %d column: %d)", &line,
                  &column) != 2) {
    return message;
  }
  return absl::StrCat("line ", line, ", column ", column, ": ",
                      message.substr(begin, last + 1 - begin));
}

// What is wrong with `text`, or nothing.
std::string ParseOnnxText(const std::string& text, ModelProto* model) {
  if (NestsTooDeep(text)) {
    return absl::StrCat("brackets are nested more than ", kMaxNesting, " deep");
  }
  try {
    ONNX_NAMESPACE::OnnxParser parser(text);
    const auto status = parser.Parse(*model);
    if (!status.IsOK()) return Reworded(status.ErrorMessage());
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

std::string ParseProtobufText(const std::string& text, ModelProto* model) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxNesting);
  if (parser.ParseFromString(text, model)) return "";
  return error.text().empty() ? "is no ModelProto" : error.text();
}

// The same model in the binary form, so that one set of rules covers payloads in text, too.
std::optional<std::string> BinaryFromText(SkimInput& input, Format format, DiagnosticSink& sink) {
  if (input.size().value_or(0) > kMaxTextBytes) {
    sink.Error("text-too-large", "",
               absl::StrCat("models in text form are limited to ", kMaxTextBytes,
                            " bytes; use the binary form"));
    return std::nullopt;
  }
  std::string text;
  input.Read(kMaxTextBytes, &text);
  ModelProto model;
  const std::string wrong =
      format == Format::kOnnxText ? ParseOnnxText(text, &model) : ParseProtobufText(text, &model);
  std::string binary;
  if (!wrong.empty()) {
    const std::string line = absl::StrReplaceAll(absl::StripAsciiWhitespace(wrong), {{"\n", "; "}});
    sink.Error("text-syntax", "", Printable(line));
    return std::nullopt;
  }
  if (!model.SerializeToString(&binary)) {
    sink.Error("text-too-large", "", "the model is larger than 2 GiB");
    return std::nullopt;
  }
  return binary;
}

bool ParseSkimmed(Skimmed skimmed, ModelFile* file, DiagnosticSink& sink) {
  if (!file->model.ParseFromString(skimmed.bytes)) {
    sink.Error("damaged", "", "protobuf cannot parse what is left without the weights");
    return false;
  }
  if (!file->model.has_graph()) {
    sink.Error("not-onnx", "", "there is no graph: this is no ONNX model, or an empty one");
    return false;
  }
  file->payloads = std::move(skimmed.payloads);
  return true;
}

const Payload* FindPayload(const google::protobuf::UnknownFieldSet& fields,
                           const std::vector<Payload>& payloads) {
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    if (field.number() == kPayloadIndexField && field.varint() < payloads.size()) {
      return &payloads[field.varint()];
    }
  }
  return nullptr;
}

// `folder` is where external data is looked for.
std::optional<ModelFile> Read(SkimInput& input, const std::string& path,
                              std::optional<std::string> folder, DiagnosticSink& sink) {
  const Format format = FormatOf(path);
  ModelFile file;
  file.path = path;
  ExternalData external(std::move(folder));
  std::optional<Skimmed> skimmed;
  if (format == Format::kBinary) {
    skimmed = Skim(input, external, sink);
  } else if (const auto binary = BinaryFromText(input, format, sink)) {
    SkimInput binary_input{absl::string_view(*binary)};
    skimmed = Skim(binary_input, external, sink);
  }
  if (!skimmed || !ParseSkimmed(*std::move(skimmed), &file, sink)) return std::nullopt;
  file.file_bytes = input.position();
  external.ReportMissing(sink);
  return file;
}

// As Read(); what is no model at all is called by its name.
std::optional<ModelFile> ReadAny(SkimInput& input, const std::string& path,
                                 std::optional<std::string> folder, DiagnosticSink& sink) {
  const std::string head(input.Head(kHeadBytes));
  if (head.empty() && input.read_error().empty()) {
    sink.Error("empty-file", "", "the file is empty");
    return std::nullopt;
  }
  DiagnosticSink found;
  std::optional<ModelFile> file = Read(input, path, std::move(folder), found);
  const char* foreign = ForeignFormat(head);
  for (Diagnostic& diagnostic : found.Take()) {
    const bool no_model = diagnostic.kind == "damaged" || diagnostic.kind == "truncated" ||
                          diagnostic.kind == "not-onnx";
    if (no_model && foreign != nullptr) {
      diagnostic = {Severity::kError, Blame::kModel, "not-onnx", "",
                    absl::StrCat("this is ", foreign)};
    }
    sink.Add(std::move(diagnostic));
  }
  return file;
}

}  // namespace

const Payload* ModelFile::PayloadOf(const ONNX_NAMESPACE::TensorProto& tensor) const {
  return FindPayload(tensor.unknown_fields(), payloads);
}

const Payload* ModelFile::LeftOutOf(const ONNX_NAMESPACE::AttributeProto& attribute) const {
  return FindPayload(attribute.unknown_fields(), payloads);
}

std::optional<ModelFile> ReadModelFile(const std::string& path, DiagnosticSink& sink) {
  const OpenFile opened(path);
  if (!opened.problem().empty()) {
    sink.UsageError("cannot-open", "", opened.problem());
    return std::nullopt;
  }
  SkimInput input(opened.fd());
  if (input.Head(kHeadBytes).empty() && opened.is_named_pipe()) {
    sink.UsageError("cannot-open", "", OpenFile::kNoWriter);
    return std::nullopt;
  }
  return ReadAny(input, path, path == "-" ? std::nullopt : std::optional(FolderOf(path)), sink);
}

std::optional<ModelFile> ReadModelBytes(absl::string_view bytes, const std::string& name,
                                        DiagnosticSink& sink) {
  SkimInput input(bytes);
  return ReadAny(input, name, std::nullopt, sink);
}

}  // namespace footprint
