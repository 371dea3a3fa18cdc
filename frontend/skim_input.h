// Bytes in order, from a file, a pipe or memory, with cheap skips and little memory.
//
// A file is read and not mapped: what is skipped is never touched either way, a file that shrinks
// while it is read ends early instead of killing the process, and pipes take the same path.
#ifndef FOOTPRINT_FRONTEND_SKIM_INPUT_H_
#define FOOTPRINT_FRONTEND_SKIM_INPUT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

class SkimInput {
 public:
  // Reads from `fd`, which the caller opened and closes, from its current position on.
  explicit SkimInput(int fd);
  // Reads `bytes`, which must outlive this object.
  explicit SkimInput(absl::string_view bytes);

  // Bytes consumed so far.
  int64_t position() const { return base_ + (next_ - begin_); }
  // Bytes in all, if that is known beforehand.
  std::optional<int64_t> size() const { return size_; }
  // Why reading ended early, if not because the input did; empty if all is well.
  const std::string& read_error() const { return read_error_; }

  bool AtEnd() { return next_ == end_ && !Refill(); }
  // The next bytes without consuming them: `count`, or all there are; `count` is small (< 4 KiB).
  absl::string_view Peek(size_t count);
  // False at the end of the input.
  bool ReadByte(uint8_t* byte) {
    if (next_ == end_ && !Refill()) return false;
    *byte = static_cast<uint8_t>(*next_++);
    return true;
  }
  // The value of at most ten bytes; false if it ends early or is longer.
  bool ReadVarint(uint64_t* value);
  // Appends `count` bytes to `out`; false if there are fewer.
  bool Read(int64_t count, std::string* out);
  bool Skip(int64_t count);

 private:
  static constexpr size_t kChunk = 64 << 10;

  bool Refill();

  int fd_ = -1;
  bool seekable_ = false;
  std::optional<int64_t> size_;
  std::unique_ptr<char[]> chunk_;
  int64_t base_ = 0;  // position of begin_
  const char* begin_ = nullptr;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  std::string read_error_;
};

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_SKIM_INPUT_H_
