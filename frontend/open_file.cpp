// Opening a named pipe waits until someone opens its other end, perhaps forever. So it is opened
// without waiting, and stays so: a read then tells a writer that has nothing yet (EAGAIN) from no
// writer (end of file). One that comes at about the same time gets a moment to appear.
#include "frontend/open_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace footprint {
namespace {

constexpr int kPatienceMilliseconds = 1000;
constexpr int kForever = -1;

// Until there is something to read, or the last writer is gone.
void Wait(int fd, int milliseconds) {
  pollfd waited = {fd, POLLIN, 0};
  while (poll(&waited, 1, milliseconds) < 0 && errno == EINTR) {
  }
}

}  // namespace

OpenFile::OpenFile(const std::string& path)
    : fd_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
      owned_(path != "-") {
  struct stat status{};
  if (fd_ < 0 || fstat(fd_, &status) != 0) {
    problem_ = std::string("cannot be opened: ") + std::strerror(errno);
  } else if (S_ISDIR(status.st_mode)) {
    problem_ = "is a folder; give a file in it";
  } else if (owned_ && S_ISFIFO(status.st_mode)) {
    is_named_pipe_ = true;
    Wait(fd_, kPatienceMilliseconds);
  }
}

OpenFile::~OpenFile() {
  if (owned_ && fd_ >= 0) close(fd_);
}

ssize_t ReadFrom(int fd, char* target, size_t count) {
  while (true) {
    const ssize_t got = read(fd, target, count);
    if (got >= 0) return got;
    if (errno == EAGAIN) {
      Wait(fd, kForever);
    } else if (errno != EINTR) {
      return got;
    }
  }
}

}  // namespace footprint
