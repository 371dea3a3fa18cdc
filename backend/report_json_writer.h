// JsonWriter: JSON written as it is said, without a tree in between. A report of a large model has
// hundreds of thousands of strings; building a tree of them costs more than the analysis.
#ifndef FOOTPRINT_BACKEND_REPORT_JSON_WRITER_H_
#define FOOTPRINT_BACKEND_REPORT_JSON_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace footprint {

// The name of a member. Names that the source spells out need no escaping; others may.
class JsonKey {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  template <size_t kSize>
  consteval JsonKey(const char (&text)[kSize]) : text_(text, kSize - 1), plain_(true) {}
  JsonKey(const std::string& text) : text_(text) {}
  // NOLINTEND(google-explicit-constructor)

  std::string_view text() const { return text_; }
  bool plain() const { return plain_; }

 private:
  std::string_view text_;
  bool plain_ = false;
};

class JsonWriter {
 public:
  // How the members of a container are set: one a line, or all on one line.
  enum class Layout { kLines, kOneLine };

  void BeginObject(Layout layout) { Begin('{', layout); }
  void EndObject() { End('}'); }
  void BeginArray(Layout layout) { Begin('[', layout); }
  void EndArray() { End(']'); }
  void Key(JsonKey key);

  void Value(std::string_view text);
  void Value(const char* text) { Value(std::string_view(text)); }
  void Value(const std::string& text) { Value(std::string_view(text)); }
  void Value(int64_t number);
  void Value(int number) { Value(static_cast<int64_t>(number)); }
  void Value(bool truth);
  void Value(std::optional<int64_t> number);
  void Null();

  template <typename T>
  void Field(JsonKey key, const T& value) {
    Key(key);
    Value(value);
  }
  // Null where the text is empty.
  void FieldOrNull(JsonKey key, std::string_view text);
  void Strings(JsonKey key, const std::vector<std::string>& texts);

  // The document, ended by a line break.
  std::string Take();

 private:
  struct Container {
    Layout layout;
    bool empty;
  };

  void Grow();
  void Begin(char bracket, Layout layout);
  void End(char bracket);
  void Separate();
  void NewLine();
  void Quote(std::string_view text);

  std::string text_;
  std::vector<Container> open_;
  bool after_key_ = false;
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_JSON_WRITER_H_
