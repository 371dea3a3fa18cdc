#include "backend/report_json_writer.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace footprint {
namespace {

// Without a branch per character: names are short, and there are very many.
bool NeedsNoEscape(std::string_view text) {
  unsigned special = 0;
  for (const char c : text) {
    special |= unsigned{c < ' '} | unsigned{c > '~'} | unsigned{c == '"'} | unsigned{c == '\\'};
  }
  return special == 0;
}

}  // namespace

// In large steps and on large pages: of a document of megabytes, copies and page faults are half of
// the time. Room that is not written takes no memory.
void JsonWriter::Grow() {
  constexpr size_t kFirst = size_t{64} << 10;
  constexpr size_t kStep = 8;
  constexpr size_t kLargePage = size_t{2} << 20;
  text_.reserve(std::max(kFirst, kStep * text_.capacity()));
  void* begin = text_.data();
  size_t size = text_.capacity();
  if (std::align(kLargePage, kLargePage, begin, size) == nullptr) return;
  madvise(begin, size - size % kLargePage, MADV_HUGEPAGE);
}

void JsonWriter::Begin(char bracket, Layout layout) {
  if (text_.size() >= text_.capacity() / 2) Grow();
  Separate();
  text_ += bracket;
  open_.push_back({layout, true});
}

void JsonWriter::End(char bracket) {
  const Container container = open_.back();
  open_.pop_back();
  if (container.layout == Layout::kLines && !container.empty) NewLine();
  text_ += bracket;
}

void JsonWriter::NewLine() {
  text_ += '\n';
  text_.append(open_.size(), ' ');
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (open_.empty()) return;
  Container& container = open_.back();
  if (!container.empty) text_ += ',';
  if (container.layout == Layout::kLines) NewLine();
  container.empty = false;
}

void JsonWriter::Key(JsonKey key) {
  Separate();
  if (key.plain()) {
    text_ += '"';
    text_ += key.text();
    text_ += '"';
  } else {
    Quote(key.text());
  }
  text_ += ':';
  if (open_.back().layout == Layout::kLines) text_ += ' ';
  after_key_ = true;
}

void JsonWriter::Value(std::string_view text) {
  Separate();
  Quote(text);
}

void JsonWriter::Value(int64_t number) {
  Separate();
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  text_.append(digits, end.ptr);
}

void JsonWriter::Value(bool truth) {
  Separate();
  text_ += truth ? "true" : "false";
}

void JsonWriter::Value(std::optional<int64_t> number) {
  if (number) {
    Value(*number);
  } else {
    Null();
  }
}

void JsonWriter::Null() {
  Separate();
  text_ += "null";
}

void JsonWriter::FieldOrNull(JsonKey key, std::string_view text) {
  Key(key);
  if (text.empty()) {
    Null();
  } else {
    Value(text);
  }
}

void JsonWriter::Strings(JsonKey key, const std::vector<std::string>& texts) {
  Key(key);
  BeginArray(Layout::kOneLine);
  for (const std::string& text : texts) Value(text);
  EndArray();
}

void JsonWriter::Quote(std::string_view text) {
  if (NeedsNoEscape(text)) {
    text_ += '"';
    text_ += text;
    text_ += '"';
    return;
  }
  // Bytes that are not UTF-8 become U+FFFD: a name is never a reason to lose the report.
  text_ += nlohmann::json(std::string(text))
               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string JsonWriter::Take() {
  text_ += '\n';
  return std::move(text_);
}

}  // namespace footprint
