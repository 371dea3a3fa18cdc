#include "backend/cli/output.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace footprint {
namespace {

// Signals that would end the process wait until the document is complete.
class SignalPause {
 public:
  SignalPause() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &previous_);
  }
  ~SignalPause() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  SignalPause(const SignalPause&) = delete;
  SignalPause& operator=(const SignalPause&) = delete;

 private:
  sigset_t previous_;
};

// 0 or an errno.
int WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

WriteFailure Failed(const std::string& path, int error) {
  return {path, std::string("cannot write: ") + std::strerror(error)};
}

bool IsPlainPlace(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

std::optional<WriteFailure> WriteDirectly(const OutputFile& file) {
  const int out = open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
  if (out < 0) return Failed(file.path, errno);
  int error = WriteAll(out, file.text);
  if (close(out) != 0 && error == 0) error = errno;
  if (error != 0) return Failed(file.path, error);
  return std::nullopt;
}

// What a new file would get, or what the file that is replaced has.
mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0) return info.st_mode & 0777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// A complete file under a temporary name; it disappears unless it is moved to its place.
class TemporaryFile {
 public:
  // A link stays a link: what it points to is replaced.
  explicit TemporaryFile(const std::string& path) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::canonical(path, error);
    path_ = error ? path : target.string();
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }

  int Write(std::string_view text) {
    std::string name = path_ + ".XXXXXX";
    const int out = mkstemp(name.data());
    if (out < 0) return errno;
    temporary_ = name;
    int error = fchmod(out, ModeOf(path_)) == 0 ? WriteAll(out, text) : errno;
    if (close(out) != 0 && error == 0) error = errno;
    return error;
  }

  int MoveToPlace() {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return errno;
    temporary_.clear();
    return 0;
  }

 private:
  std::string path_;
  std::string temporary_;
};

}  // namespace

std::optional<WriteFailure> WriteStandardOutput(std::string_view text) {
  // At a terminal, Ctrl-C stops a long print; what a program reads comes whole.
  std::optional<SignalPause> pause;
  if (isatty(STDOUT_FILENO) == 0) pause.emplace();
  const int error = WriteAll(STDOUT_FILENO, text);
  if (error != 0) return Failed(kStandardOutput, error);
  return std::nullopt;
}

std::optional<WriteFailure> WriteFiles(const std::vector<OutputFile>& files) {
  std::vector<const OutputFile*> plain;
  for (const OutputFile& file : files) {
    if (IsPlainPlace(file.path)) {
      plain.push_back(&file);
    } else if (std::optional<WriteFailure> failure = WriteDirectly(file)) {
      return failure;
    }
  }
  const SignalPause pause;
  std::vector<std::unique_ptr<TemporaryFile>> written;
  for (const OutputFile* file : plain) {
    written.push_back(std::make_unique<TemporaryFile>(file->path));
    if (const int error = written.back()->Write(file->text)) return Failed(file->path, error);
  }
  for (size_t i = 0; i < written.size(); ++i) {
    if (const int error = written[i]->MoveToPlace()) return Failed(plain[i]->path, error);
  }
  return std::nullopt;
}

}  // namespace footprint
