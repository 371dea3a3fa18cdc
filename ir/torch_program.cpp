#include "ir/torch_program.h"

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace footprint {

using Kind = TorchArgument::Kind;

TorchArgument TorchArgument::Tensor(TorchValueId id) {
  TorchArgument argument;
  argument.kind = id.valid() ? Kind::kTensor : Kind::kNone;
  argument.tensor = id;
  return argument;
}

TorchArgument TorchArgument::Tensors(std::vector<TorchValueId> ids) {
  TorchArgument argument;
  argument.kind = Kind::kTensors;
  argument.tensors = std::move(ids);
  return argument;
}

TorchArgument TorchArgument::Int(Dim value) {
  TorchArgument argument;
  argument.kind = Kind::kInt;
  argument.integer = value;
  return argument;
}

TorchArgument TorchArgument::Ints(absl::Span<const Dim> values) {
  TorchArgument argument;
  argument.kind = Kind::kInts;
  argument.integers.assign(values.begin(), values.end());
  return argument;
}

TorchArgument TorchArgument::Float(double value) {
  TorchArgument argument;
  argument.kind = Kind::kFloat;
  argument.number = value;
  return argument;
}

TorchArgument TorchArgument::Bool(bool value) {
  TorchArgument argument;
  argument.kind = Kind::kBool;
  argument.boolean = value;
  return argument;
}

TorchArgument TorchArgument::String(std::string value) {
  TorchArgument argument;
  argument.kind = Kind::kString;
  argument.text = std::move(value);
  return argument;
}

TorchArgument TorchArgument::Element(ElementType value) {
  TorchArgument argument;
  argument.kind = Kind::kElementType;
  argument.element = value;
  return argument;
}

namespace {

const char* KindName(TorchValueKind kind) {
  switch (kind) {
    case TorchValueKind::kParameter: return "parameter";
    case TorchValueKind::kBuffer: return "buffer";
    case TorchValueKind::kInput: return "input";
    case TorchValueKind::kComputed: return "computed";
  }
  return "";
}

const char* EvidenceName(Evidence evidence) {
  switch (evidence) {
    case Evidence::kExporter: return "exporter";
    case Evidence::kPattern: return "pattern";
    case Evidence::kOperator: return "operator";
    case Evidence::kName: return "name";
    case Evidence::kAssumption: return "assumption";
    case Evidence::kGeneric: return "generic";
  }
  return "";
}

std::string OneLine(const std::string& name) {
  return absl::StrReplaceAll(name, {{"\n", "\\n"}});
}

class Printer {
 public:
  Printer(const TorchProgram& program, const DimTable& dims) : program_(program), dims_(dims) {}

  std::string Print() const {
    std::string out;
    for (const TorchValue& value : program_.values) {
      if (value.kind == TorchValueKind::kInput) absl::StrAppend(&out, Given(value));
    }
    for (TorchValueId id : program_.stored) absl::StrAppend(&out, Given(program_.values[id]));
    for (const TorchCall& call : program_.calls) absl::StrAppend(&out, Call(call), "\n");
    if (program_.loss.valid()) absl::StrAppend(&out, "loss ", Name(program_.loss), "\n");
    return out;
  }

 private:
  // What is there before the first call.
  std::string Given(const TorchValue& value) const {
    const bool frozen = value.kind == TorchValueKind::kParameter && !value.trainable;
    return absl::StrCat(KindName(value.kind), " %", OneLine(value.name), ": ",
                        ToString(value.type, dims_), frozen ? " frozen" : "", "\n");
  }

  std::string Name(TorchValueId id) const {
    return id.valid() ? absl::StrCat("%", OneLine(program_.values[id].name)) : "None";
  }

  std::string Call(const TorchCall& call) const {
    std::string out;
    std::string holds;
    for (size_t i = 0; i < call.results.size(); ++i) {
      const TorchValueId id = call.results[i];
      absl::StrAppend(&out, i == 0 ? "" : ", ", id.valid() ? Name(id) : "_");
      if (!id.valid()) continue;
      const TorchValue& value = program_.values[id];
      absl::StrAppend(&out, ": ", ToString(value.type, dims_));
      if (!value.held_until.valid()) continue;
      absl::StrAppend(&holds, " held:", value.held_until.index());
    }
    absl::StrAppend(&out, " = ", call.op->name, "(");
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      absl::StrAppend(&out, i == 0 ? "" : ", ", Argument(call.arguments[i]));
    }
    absl::StrAppend(&out, ")");
    if (call.in_place != InPlace::kNo) {
      absl::StrAppend(&out, call.in_place == InPlace::kYes ? " in-place" : " in-place-if-unsaved");
    }
    absl::StrAppend(&out, holds, "  # ", EvidenceName(call.evidence));
    if (!call.note.empty()) absl::StrAppend(&out, ": ", call.note);
    return out;
  }

  std::string Argument(const TorchArgument& argument) const {
    const auto dim = [this](std::string* out, Dim d) { out->append(dims_.ToString(d)); };
    const auto name = [this](std::string* out, TorchValueId id) { out->append(Name(id)); };
    switch (argument.kind) {
      case Kind::kNone: return "None";
      case Kind::kTensor: return Name(argument.tensor);
      case Kind::kTensors:
        return absl::StrCat("[", absl::StrJoin(argument.tensors, ", ", name), "]");
      case Kind::kInt: return dims_.ToString(argument.integer);
      case Kind::kInts: return absl::StrCat("[", absl::StrJoin(argument.integers, ", ", dim), "]");
      case Kind::kFloat: return Number(argument.number);
      case Kind::kBool: return argument.boolean ? "True" : "False";
      case Kind::kString: return absl::StrCat("\"", absl::CEscape(argument.text), "\"");
      case Kind::kElementType: return std::string(ElementTypeName(argument.element));
    }
    return "";
  }

  // A point or exponent tells it from an integer.
  static std::string Number(double number) {
    std::string text = absl::StrCat(number);
    if (text.find_first_of(".einf") == std::string::npos) text += ".0";
    return text;
  }

  const TorchProgram& program_;
  const DimTable& dims_;
};

}  // namespace

IdVector<TorchValueId, CallId> FindProducers(const TorchProgram& program) {
  IdVector<TorchValueId, CallId> producers(program.values.size());
  for (size_t i = 0; i < program.calls.size(); ++i) {
    for (TorchValueId result : program.calls[CallId(i)].results) {
      if (result.valid()) producers[result] = CallId(i);
    }
  }
  return producers;
}

std::string Print(const TorchProgram& program, const DimTable& dims) {
  return Printer(program, dims).Print();
}

}  // namespace footprint
