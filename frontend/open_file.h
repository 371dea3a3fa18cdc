// A file that is open for reading. A pipe that no one writes to does not hang the process.
#ifndef FOOTPRINT_FRONTEND_OPEN_FILE_H_
#define FOOTPRINT_FRONTEND_OPEN_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace footprint {

// Closes what it opened; "-" is standard input, which stays open.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  int fd() const { return fd_; }
  // "" or why it cannot be read: there is none, it is a folder ...
  const std::string& problem() const { return problem_; }
  // A pipe with a name: one that nothing can be read from may have no writer.
  bool is_named_pipe() const { return is_named_pipe_; }

  static constexpr const char* kNoWriter =
      "nothing came through this pipe; does anyone write to it?";

 private:
  int fd_;
  bool owned_;
  bool is_named_pipe_ = false;
  std::string problem_;
};

// Like read(), but interruptions are not seen, and a pipe's writer is waited for while there is
// one.
ssize_t ReadFrom(int fd, char* target, size_t count);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_OPEN_FILE_H_
