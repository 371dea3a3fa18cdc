// A serialized ModelProto is a tree of messages. Each message is a run of fields, each field a tag
// (number and wire type) and a value; messages, strings and packed numbers carry their length:
//
//   ModelProto [ ir_version 8 | graph: 98 MB [ node: 60 B [...] | initializer: 9 MB [
//                               dims 768 3072 | data_type 1 | name w | raw_data: 9 MB ]]]
//
// One walk, with a stack of open messages in place of recursion, copies it field by field. Payloads
// are held back while they are small and skipped by their length once they are not; the fields of a
// tensor may come in any order, so only its end decides. What is left out makes all the messages
// around it shorter: their lengths are written when they end, as varints padded to a fixed width.
//
// Every message is opened, also those without payloads: damage is then found here, where it has a
// place and a byte, and ONNX's own parser gets nothing it could choke on.
#include "frontend/skim.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "frontend/skim_frame.h"
#include "frontend/skim_payload.h"
#include "frontend/skim_schema.h"
#include "ir/tensor_type.h"
#include "onnx/onnx_pb.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::FunctionProto;
using ONNX_NAMESPACE::NodeProto;
using ONNX_NAMESPACE::SparseTensorProto;
using ONNX_NAMESPACE::StringStringEntryProto;
using ONNX_NAMESPACE::TensorProto;

constexpr size_t kMaxDepth = 100;                   // protobuf's own limit
constexpr int64_t kMaxStructure = (2LL << 30) - 1;  // likewise
constexpr int kMaxErrors = 20;
// Enough for any length below 2 GiB.
constexpr int kLengthWidth = 5;

int VarintSize(uint64_t value) {
  int size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

struct TensorHeader {
  TensorSpec spec() const { return {data_type.value_or(0), dims}; }

  std::vector<int64_t> dims;
  std::optional<int32_t> data_type;
  bool external = false;
  bool segmented = false;
  ExternalReference reference;
};

struct SparseHeader {
  std::vector<int64_t> dims;
  std::optional<TensorHeader> values;
  std::optional<TensorHeader> indices;
};

class Skimmer {
 public:
  Skimmer(SkimInput& input, ExternalData& external, DiagnosticSink& sink)
      : schema_(OnnxSchema()), input_(input), external_(external), sink_(sink) {}

  std::optional<Skimmed> Run();

 private:
  bool ReadField();
  bool Copy(const WireField& field, const FieldSchema& schema);
  bool CopyBytes(const WireField& field);
  void NoteNumber(uint32_t number, uint64_t value);
  void NotePacked(uint32_t number, Extent body);
  void NoteText(uint32_t number, Extent body);
  bool Scan(const WireField& field, const FieldSchema& schema);
  bool SkipValue(const WireField& field);
  bool Open(const WireField& field, const FieldSchema& schema);

  bool Close();
  void CloseEntry(const Frame& entry);
  void CloseTensor(const Frame& tensor);
  Payload MeasureInline(const Frame& tensor, std::optional<int64_t> elements);
  Payload MeasureExternal(const Frame& tensor, std::optional<int64_t> elements);
  void CloseSparseTensor();
  void CloseAttribute(const Frame& attribute);
  void AddPayload(const Payload& payload);

  std::string Place() const;
  absl::string_view Text(Extent extent) const {
    return absl::string_view(skimmed_.bytes).substr(extent.at, extent.size);
  }
  // Each of these is false, for the caller to return.
  bool Ended(const std::string& what = "the input ends in the middle of the model");
  bool Damaged(const std::string& what);
  bool BadVarint() { return input_.AtEnd() ? Ended() : Damaged("a number of more than ten bytes"); }
  // What the contents say is wrong, the encoding is not: the walk goes on.
  void Complain(std::string kind, std::string message);

  const std::vector<MessageSchema>& schema_;
  SkimInput& input_;
  ExternalData& external_;
  DiagnosticSink& sink_;
  Skimmed skimmed_;
  std::vector<Frame> frames_;
  TensorHeader tensor_;  // the open one: tensors do not nest, nor do sparse ones
  SparseHeader sparse_;
  int64_t field_at_ = 0;  // where the field that is being read begins
  int errors_ = 0;
  int64_t missing_ = 0;  // tensors without any contents
  std::string first_missing_;
};

std::optional<Skimmed> Skimmer::Run() {
  const auto size = input_.size();
  frames_.emplace_back();
  frames_[0].schema = schema_.data();
  frames_[0].end = size.value_or(std::numeric_limits<int64_t>::max());
  while (!frames_.empty() && errors_ < kMaxErrors) {
    const Frame& frame = frames_.back();
    if (input_.position() > frame.end) {
      Damaged(absl::StrCat("the last value of this ", frame.schema->name, " runs beyond its end"));
      return std::nullopt;
    }
    const bool ends = input_.position() == frame.end ||
                      (frames_.size() == 1 && !size.has_value() && input_.AtEnd());
    if (!(ends ? Close() : ReadField())) return std::nullopt;
  }
  if (!input_.read_error().empty()) Ended();
  if (!input_.read_error().empty() || errors_ > 0) return std::nullopt;
  if (missing_ > 0) {
    sink_.Warning("payload-missing", first_missing_,
                  absl::StrCat("the file holds no values for this tensor",
                               missing_ > 1 ? absl::StrCat(" and ", missing_ - 1, " more") : "",
                               "; bytes come from type and dims and are not verified"));
  }
  return std::move(skimmed_);
}

bool Skimmer::ReadField() {
  const Frame& frame = frames_.back();
  field_at_ = input_.position();
  uint64_t tag = 0;
  if (!input_.ReadVarint(&tag)) return BadVarint();
  WireField field = {static_cast<uint32_t>(tag >> 3), static_cast<Wire>(tag & 7), 0};
  if (tag > std::numeric_limits<uint32_t>::max() || field.number == 0) {
    return Damaged("a field without a valid number");
  }
  if (field.wire == Wire::kGroupStart || field.wire == Wire::kGroupEnd || (tag & 7) > 5) {
    return Damaged(absl::StrCat("a field of wire type ", tag & 7, ", which ONNX does not use"));
  }
  const FieldSchema& schema = frame.schema->Field(field.number);
  if (field.wire == Wire::kBytes) {
    uint64_t length = 0;
    if (!input_.ReadVarint(&length)) return BadVarint();
    const auto left = static_cast<uint64_t>(std::max<int64_t>(frame.end - input_.position(), 0));
    if (length > left && frames_.size() == 1) {
      return Ended(absl::StrCat(schema.known ? schema.name : "a field", " needs ", length,
                                " bytes, the file has ", left, " left"));
    }
    if (length > left) {
      return Damaged(absl::StrCat(schema.known ? schema.name : "a field", " claims ", length,
                                  " bytes, its ", frame.schema->name, " has ", left, " left"));
    }
    field.length = static_cast<int64_t>(length);
  }
  if (!schema.known) return SkipValue(field);
  const bool packed = field.wire == Wire::kBytes && schema.repeated;
  if (field.wire != schema.wire && !packed) {
    return Damaged(absl::StrCat(schema.name, " has wire type ", tag & 7, " instead of ",
                                static_cast<int>(schema.wire)));
  }
  if (schema.payload != PayloadField::kNone) return Scan(field, schema);
  if (schema.message >= 0) return Open(field, schema);
  return Copy(field, schema);
}

bool Skimmer::SkipValue(const WireField& field) {
  if (field.wire == Wire::kVarint) {
    uint64_t ignored = 0;
    return input_.ReadVarint(&ignored) || BadVarint();
  }
  const int64_t length = field.wire == Wire::kBytes     ? field.length
                         : field.wire == Wire::kFixed32 ? 4
                                                        : 8;
  return input_.Skip(length) || Ended();
}

bool Skimmer::Copy(const WireField& field, const FieldSchema& schema) {
  std::string& out = skimmed_.bytes;
  AppendTag(field.number, field.wire, &out);
  if (field.wire == Wire::kVarint) {
    uint64_t value = 0;
    if (!input_.ReadVarint(&value)) return BadVarint();
    AppendVarint(value, &out);
    NoteNumber(field.number, value);
  } else if (field.wire == Wire::kBytes) {
    if (!CopyBytes(field)) return false;
    const auto length = static_cast<size_t>(field.length);
    const Extent body = {out.size() - length, length};
    if (schema.wire == Wire::kBytes) {
      NoteText(field.number, body);
    } else {
      NotePacked(field.number, body);
    }
  } else if (!input_.Read(field.wire == Wire::kFixed32 ? 4 : 8, &out)) {
    return Ended();
  }
  return true;
}

bool Skimmer::CopyBytes(const WireField& field) {
  const auto written = static_cast<int64_t>(skimmed_.bytes.size());
  if (field.length > kMaxStructure - written - kLengthWidth) {
    return Damaged("without its weights the model is still larger than 2 GiB");
  }
  AppendVarint(static_cast<uint64_t>(field.length), &skimmed_.bytes);
  return input_.Read(field.length, &skimmed_.bytes) || Ended();
}

void Skimmer::NoteNumber(uint32_t number, uint64_t value) {
  const MessageKind kind = frames_.back().schema->kind;
  if (kind == MessageKind::kTensor) {
    if (number == TensorProto::kDimsFieldNumber) {
      tensor_.dims.push_back(static_cast<int64_t>(value));
    } else if (number == TensorProto::kDataTypeFieldNumber) {
      tensor_.data_type = static_cast<int32_t>(value);
    } else if (number == TensorProto::kDataLocationFieldNumber) {
      tensor_.external = static_cast<int32_t>(value) == TensorProto::EXTERNAL;
    }
  } else if (kind == MessageKind::kSparseTensor) {
    sparse_.dims.push_back(static_cast<int64_t>(value));  // dims is all a sparse tensor has
  }
}

void Skimmer::NotePacked(uint32_t number, Extent body) {
  SkimInput numbers(Text(body));
  uint64_t value = 0;
  while (numbers.ReadVarint(&value)) NoteNumber(number, value);
}

void Skimmer::NoteText(uint32_t number, Extent body) {
  Frame& frame = frames_.back();
  const auto note = [&](int field, Extent* extent) {
    if (number == static_cast<uint32_t>(field)) *extent = body;
  };
  switch (frame.schema->kind) {
    case MessageKind::kEntry:
      note(StringStringEntryProto::kKeyFieldNumber, &frame.name);
      note(StringStringEntryProto::kValueFieldNumber, &frame.output);
      break;
    case MessageKind::kNode:
      note(NodeProto::kNameFieldNumber, &frame.name);
      note(NodeProto::kOpTypeFieldNumber, &frame.op_type);
      if (frame.output.size == 0) note(NodeProto::kOutputFieldNumber, &frame.output);
      break;
    case MessageKind::kAttribute:
      note(AttributeProto::kNameFieldNumber, &frame.name);
      break;
    case MessageKind::kTensor:
      note(TensorProto::kNameFieldNumber, &frame.name);
      break;
    case MessageKind::kFunction:
      note(FunctionProto::kNameFieldNumber, &frame.name);
      break;
    default:
      break;
  }
}

bool Skimmer::Scan(const WireField& field, const FieldSchema& schema) {
  Frame& frame = frames_.back();
  PayloadScan next;
  const bool other = frame.scan.field != schema.payload;
  PayloadScan* scan = other ? &next : &frame.scan;
  std::optional<int32_t> type;
  if (frame.schema->kind == MessageKind::kTensor) type = tensor_.data_type;
  switch (ScanPayload(input_, schema, field, type, scan)) {
    case ScanStatus::kOk:
      break;
    case ScanStatus::kEnded:
      return Ended();
    case ScanStatus::kBadVarint:
      return Damaged(absl::StrCat(schema.name, " has a number that does not end"));
    case ScanStatus::kBadLength:
      return Damaged(absl::StrCat(schema.name, " has ", field.length,
                                  " bytes, which is no whole number of values"));
  }
  if (!other || next.empty()) return true;
  if (!frame.scan.empty()) frame.clash = frame.scan.field;
  frame.scan = std::move(next);
  return true;
}

bool Skimmer::Open(const WireField& field, const FieldSchema& schema) {
  Frame& parent = frames_.back();
  const MessageSchema& message = schema_[static_cast<size_t>(schema.message)];
  if (!schema.repeated) {
    if ((parent.seen >> field.number & 1) != 0) {
      return Damaged(absl::StrCat(schema.name, " occurs twice in one ", parent.schema->name));
    }
    parent.seen |= 1U << field.number;
  }
  if (frames_.size() > kMaxDepth) {
    return Damaged(absl::StrCat("messages are nested more than ", kMaxDepth, " deep"));
  }
  if (message.kind == MessageKind::kTensor) tensor_ = TensorHeader();
  if (message.kind == MessageKind::kSparseTensor) sparse_ = SparseHeader();
  if (parent.schema->kind == MessageKind::kTensor &&
      field.number == TensorProto::kSegmentFieldNumber) {
    tensor_.segmented = true;
  }
  std::string& out = skimmed_.bytes;
  AppendTag(field.number, Wire::kBytes, &out);
  const int width =
      message.CanHoldPayloads() ? kLengthWidth : VarintSize(static_cast<uint64_t>(field.length));
  out.append(static_cast<size_t>(width), '\0');
  Frame frame;
  frame.schema = &message;
  frame.as = &schema;
  frame.number = field.number;
  frame.end = input_.position() + field.length;
  frame.body_at = out.size();
  frame.length_width = width;
  frames_.push_back(std::move(frame));
  return true;
}

bool Skimmer::Close() {
  const Frame& frame = frames_.back();
  if (frame.clash != PayloadField::kNone) {
    Complain("payload-fields",
             absl::StrCat("has values in ", FieldName(frame.clash), " and ",
                          FieldName(frame.scan.field), "; one of them is allowed"));
  }
  switch (frame.schema->kind) {
    case MessageKind::kEntry:
      CloseEntry(frame);
      break;
    case MessageKind::kTensor:
      CloseTensor(frame);
      break;
    case MessageKind::kSparseTensor:
      CloseSparseTensor();
      break;
    case MessageKind::kAttribute:
      CloseAttribute(frame);
      break;
    default:
      break;
  }
  std::string& out = skimmed_.bytes;
  if (static_cast<int64_t>(out.size()) > kMaxStructure) {
    return Damaged("without its weights the model is still larger than 2 GiB");
  }
  size_t length = out.size() - frame.body_at;
  for (int i = 0; i < frame.length_width; ++i, length >>= 7) {
    const int more = i + 1 < frame.length_width ? 0x80 : 0;
    out[frame.body_at - static_cast<size_t>(frame.length_width - i)] =
        static_cast<char>((length & 0x7f) | static_cast<size_t>(more));
  }
  frames_.pop_back();
  return true;
}

void Skimmer::CloseEntry(const Frame& entry) {
  if (frames_[frames_.size() - 2].schema->kind != MessageKind::kTensor ||
      entry.number != TensorProto::kExternalDataFieldNumber) {
    return;
  }
  const absl::string_view key = Text(entry.name);
  const std::string value(Text(entry.output));
  if (key == "location") tensor_.reference.location = value;
  if (key == "offset") tensor_.reference.offset = value;
  if (key == "length") tensor_.reference.length = value;
}

void Skimmer::CloseTensor(const Frame& tensor) {
  const std::optional<int64_t> elements = ElementsOf(tensor_.dims);
  if (!elements) {
    Complain("bad-dims", absl::StrCat(TensorText(tensor_.spec()),
                                      " has a negative dimension or too many elements to count"));
  }
  if (tensor_.segmented) {
    Complain("segmented-tensor",
             "is one segment of a larger tensor, which no tool reads; store the tensor whole");
  }
  AddPayload(tensor_.external ? MeasureExternal(tensor, elements)
                              : MeasureInline(tensor, elements));
  if (frames_[frames_.size() - 2].schema->kind == MessageKind::kSparseTensor) {
    const bool indices = tensor.number == SparseTensorProto::kIndicesFieldNumber;
    (indices ? sparse_.indices : sparse_.values) = std::move(tensor_);
  }
}

Payload Skimmer::MeasureInline(const Frame& tensor, std::optional<int64_t> elements) {
  const PayloadScan& scan = tensor.scan;
  Payload payload = {.field = scan.empty() ? PayloadField::kNone : scan.field,
                     .stored_bytes = scan.bytes,
                     .entries = scan.entries};
  const int32_t type = tensor_.data_type.value_or(0);
  const bool checkable = elements.has_value() && IsKnownElementType(type);
  if (scan.field == PayloadField::kRawData && checkable) payload.entries = *elements;
  if (scan.empty()) {
    payload.verified = elements == 0;
    if (elements != 0 && missing_++ == 0) first_missing_ = Place();
  } else if (checkable && !tensor_.segmented) {
    const std::string wrong = CheckPayload(scan, tensor_.spec(), *elements);
    if (!wrong.empty()) Complain("payload-size", absl::StrCat(wrong, ": the file is damaged"));
    payload.verified = wrong.empty();
  }
  const bool small =
      IsIntegerData(type) ? elements.value_or(0) <= kMaxKeptIntegers : scan.bytes <= kMaxKeptBytes;
  payload.kept = scan.empty() ? payload.verified : scan.kept && small;
  if (payload.kept) skimmed_.bytes += scan.held;
  return payload;
}

Payload Skimmer::MeasureExternal(const Frame& tensor, std::optional<int64_t> elements) {
  const int32_t type = tensor_.data_type.value_or(0);
  std::optional<int64_t> bytes;
  if (elements && IsKnownElementType(type)) {
    bytes = BytesOf(static_cast<ElementType>(type), *elements);
  }
  Payload payload = {.field = PayloadField::kExternal,
                     .stored_bytes = bytes.value_or(0),
                     .entries = elements.value_or(0)};
  if (!tensor.scan.empty()) {
    Complain("payload-fields", absl::StrCat("has values in ", FieldName(tensor.scan.field),
                                            " and in an external file; one of them is allowed"));
    return payload;
  }
  const bool wanted = bytes && IsIntegerData(type) && *elements <= kMaxKeptIntegers;
  const auto found = external_.Resolve(tensor_.reference,
                                       {bytes, TensorText(tensor_.spec()), Place(), wanted}, sink_);
  if (found.state == ExternalData::State::kInvalid) ++errors_;
  payload.verified = bytes && found.state == ExternalData::State::kPresent;
  payload.kept = found.contents.has_value();
  if (payload.kept) {
    std::string& out = skimmed_.bytes;
    AppendTag(TensorProto::kRawDataFieldNumber, Wire::kBytes, &out);
    AppendVarint(found.contents->size(), &out);
    out += *found.contents;
    AppendTag(TensorProto::kDataLocationFieldNumber, Wire::kVarint, &out);
    AppendVarint(TensorProto::DEFAULT, &out);
  }
  return payload;
}

void Skimmer::CloseSparseTensor() {
  if (!sparse_.values || !sparse_.indices) {
    Complain("bad-sparse-tensor", "a sparse tensor needs values and indices");
    return;
  }
  const std::string wrong =
      CheckSparse(sparse_.values->spec(), sparse_.indices->spec(), sparse_.dims);
  if (!wrong.empty()) Complain("bad-sparse-tensor", wrong);
}

void Skimmer::CloseAttribute(const Frame& attribute) {
  const PayloadScan& scan = attribute.scan;
  if (scan.kept) {
    skimmed_.bytes += scan.held;
    return;
  }
  AddPayload({.field = scan.field,
              .stored_bytes = scan.bytes,
              .entries = scan.entries,
              .kept = false,
              .verified = true});
}

void Skimmer::AddPayload(const Payload& payload) {
  AppendTag(kPayloadIndexField, Wire::kVarint, &skimmed_.bytes);
  AppendVarint(skimmed_.payloads.size(), &skimmed_.bytes);
  skimmed_.payloads.push_back(payload);
}

std::string Skimmer::Place() const { return PlaceOf(frames_, skimmed_.bytes); }

bool Skimmer::Ended(const std::string& what) {
  if (!input_.read_error().empty()) {
    sink_.UsageError(
        "unreadable", Place(),
        absl::StrCat("cannot read on after byte ", input_.position(), ": ", input_.read_error()));
  } else {
    sink_.Error("truncated", Place(),
                absl::StrCat("at byte ", field_at_, ": ", what, ": copy or download it again"));
  }
  return false;
}

bool Skimmer::Damaged(const std::string& what) {
  sink_.Error(
      "damaged", Place(),
      absl::StrCat("at byte ", field_at_, ": ", what, ": this is no ONNX model, or a damaged one"));
  return false;
}

void Skimmer::Complain(std::string kind, std::string message) {
  sink_.Error(std::move(kind), Place(), std::move(message));
  ++errors_;
}

}  // namespace

std::optional<Skimmed> Skim(SkimInput& input, ExternalData& external, DiagnosticSink& sink) {
  return Skimmer(input, external, sink).Run();
}

}  // namespace footprint
