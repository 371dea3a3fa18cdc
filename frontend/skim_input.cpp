#include "frontend/skim_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "frontend/open_file.h"

namespace footprint {
namespace {

constexpr size_t kChunk = 64 << 10;
// After a jump little is read at first: between two weights there is often nothing but a header.
constexpr size_t kFirstRead = 4 << 10;

}  // namespace

SkimInput::SkimInput(int fd) : fd_(fd), chunk_(new char[kChunk]), next_read_(kFirstRead) {
  begin_ = next_ = end_ = chunk_.get();
  struct stat status{};
  const off_t start = lseek(fd, 0, SEEK_CUR);
  // Files the kernel makes up as they are read have no size.
  if (start >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    seekable_ = true;
    offset_ = start;
    size_ = std::max<int64_t>(status.st_size - start, 0);
  }
}

SkimInput::SkimInput(absl::string_view bytes)
    : size_(static_cast<int64_t>(bytes.size())),
      begin_(bytes.data()),
      next_(bytes.data()),
      end_(bytes.data() + bytes.size()) {}

size_t SkimInput::ReadSome(char* target, size_t count) {
  if (fd_ < 0 || !read_error_.empty()) return 0;
  while (true) {
    const ssize_t got =
        seekable_ ? pread(fd_, target, count, offset_) : ReadFrom(fd_, target, count);
    if (got >= 0) {
      offset_ += got;
      return static_cast<size_t>(got);
    }
    if (errno == EINTR) continue;
    read_error_ = std::strerror(errno);
    return 0;
  }
}

bool SkimInput::Refill() {
  if (fd_ < 0) return false;
  base_ += end_ - begin_;
  begin_ = next_ = end_ = chunk_.get();
  end_ += ReadSome(chunk_.get(), next_read_);
  next_read_ = std::min(2 * next_read_, kChunk);
  return next_ != end_;
}

absl::string_view SkimInput::Head(size_t count) {
  if (fd_ >= 0) {
    while (static_cast<size_t>(end_ - begin_) < count) {
      const size_t got = ReadSome(chunk_.get() + (end_ - begin_), kFirstRead);
      if (got == 0) break;
      end_ += got;
    }
  }
  return {begin_, std::min(count, static_cast<size_t>(end_ - begin_))};
}

bool SkimInput::ReadLongVarint(uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (AtEnd()) return false;
    const auto byte = static_cast<uint8_t>(*next_++);
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

bool SkimInput::Read(int64_t count, std::string* out) {
  while (count > 0) {
    if (AtEnd()) return false;
    const int64_t part = std::min<int64_t>(count, end_ - next_);
    out->append(next_, static_cast<size_t>(part));
    next_ += part;
    count -= part;
  }
  return true;
}

bool SkimInput::Skip(int64_t count) {
  const int64_t buffered = end_ - next_;
  if (seekable_ && count > buffered) {
    if (count > *size_ - position()) return false;
    offset_ += count - buffered;
    base_ = position() + count;
    begin_ = next_ = end_ = chunk_.get();
    next_read_ = kFirstRead;
    return true;
  }
  while (count > 0) {
    if (AtEnd()) return false;
    const int64_t part = std::min<int64_t>(count, end_ - next_);
    next_ += part;
    count -= part;
  }
  return true;
}

}  // namespace footprint
