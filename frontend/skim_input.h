// Bytes in order, from a file, a pipe or memory, with cheap skips and little memory.
//
// A file is read and not mapped: what is skipped is never touched either way, a file that shrinks
// meanwhile ends early instead of killing the process, and pipes take the same path.
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
  SkimInput(const SkimInput&) = delete;
  SkimInput& operator=(const SkimInput&) = delete;

  // Bytes consumed so far.
  int64_t position() const { return base_ + (next_ - begin_); }
  // Bytes in all, if that is known beforehand.
  std::optional<int64_t> size() const { return size_; }
  // What the system said if it could not read on; empty if all is well.
  const std::string& read_error() const { return read_error_; }

  // The first `count` bytes (fewer than 4 KiB), or all there are. Only before anything is consumed.
  absl::string_view Head(size_t count);
  bool AtEnd() { return next_ == end_ && !Refill(); }
  // False if fewer than ten bytes do not end it, be it that there are no more (AtEnd) or that they
  // are no varint.
  bool ReadVarint(uint64_t* value) {
    if (next_ == end_ || static_cast<uint8_t>(*next_) >= 0x80) return ReadLongVarint(value);
    *value = static_cast<uint8_t>(*next_++);
    return true;
  }
  // Appends `count` bytes to `out`. False if there are fewer, after appending those.
  bool Read(int64_t count, std::string* out);
  // False if there are fewer than `count` bytes.
  bool Skip(int64_t count);

 private:
  bool ReadLongVarint(uint64_t* value);
  bool Refill();
  // Reads up to `count` bytes to `target`; 0 at the end or after an error.
  size_t ReadSome(char* target, size_t count);

  int fd_ = -1;
  bool seekable_ = false;
  int64_t offset_ = 0;  // in a seekable file, of what is read next
  std::optional<int64_t> size_;
  std::unique_ptr<char[]> chunk_;
  size_t next_read_ = 0;
  int64_t base_ = 0;  // position of begin_
  const char* begin_ = nullptr;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  std::string read_error_;
};

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_SKIM_INPUT_H_
