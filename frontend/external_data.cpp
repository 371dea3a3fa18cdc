// A model comes from strangers, and a location is a path that it makes us open. So a location is
// followed by hand, one component at a time from the folder of the model, each opened relative to
// the one before and without following links:
//
//   folder / sub / w.bin          a folder, then a file
//   folder / link -> ../x         a link: its target's components take its place; the first ".."
//                                 is above the folder, and the walk ends before anything there is
//                                 looked at
//
// What was opened is what was checked: there is no second look-up by path that could find another.
#include "frontend/external_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "frontend/printable.h"

namespace footprint {
namespace {

constexpr int kMaxLinks = 40;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

// What the text of a location alone says against it.
std::string RefusalOf(const std::string& location) {
  const bool drive = location.size() > 1 && location[1] == ':' && absl::ascii_isalpha(location[0]);
  if (location.find('\0') != std::string::npos) return "it contains a zero byte";
  if (location[0] == '/' || location[0] == '\\' || drive) return "it is absolute";
  for (const absl::string_view part : absl::StrSplit(location, absl::ByAnyChar("/\\"))) {
    if (part == "..") return "it goes up a folder";
  }
  return "";
}

struct Opened {
  FileDescriptor file{-1};
  std::string refusal;
  std::string missing;
};

// Components still to be walked, the next one last.
void PushComponents(absl::string_view path, std::vector<std::string>* components) {
  std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  components->insert(components->end(), parts.rbegin(), parts.rend());
}

Opened Refused(std::string why) { return {FileDescriptor(-1), std::move(why), ""}; }
Opened Missing(int error) {
  return {FileDescriptor(-1), "", error == ENOENT ? "not found" : std::strerror(error)};
}

// Opens for reading what `name` in `folder` is, which `looked_at` refers to: a regular file.
Opened OpenFile(int folder, const std::string& name, const struct stat& looked_at) {
  if (!S_ISREG(looked_at.st_mode)) return Refused("it is no regular file");
  FileDescriptor file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return Missing(errno);
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return Missing(errno);
  if (!S_ISREG(status.st_mode)) return Refused("it is no regular file");
  return {std::move(file), "", ""};
}

Opened OpenBelow(const std::string& root, const std::string& location) {
  std::vector<FileDescriptor> folders;
  folders.emplace_back(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folders[0].valid()) return Missing(errno);
  std::vector<std::string> components;
  PushComponents(location, &components);
  int links = 0;
  while (!components.empty()) {
    const std::string name = std::move(components.back());
    components.pop_back();
    if (name == ".") continue;
    if (name == "..") {
      if (folders.size() == 1) return Refused("a link leads out of the model's folder");
      folders.pop_back();
      continue;
    }
    const int folder = folders.back().get();
    FileDescriptor next(openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) return Missing(errno);
    struct stat status{};
    if (fstat(next.get(), &status) != 0) return Missing(errno);
    if (S_ISDIR(status.st_mode)) {
      folders.push_back(std::move(next));
    } else if (S_ISLNK(status.st_mode)) {
      char target[PATH_MAX];
      const ssize_t size = readlinkat(next.get(), "", target, sizeof(target));
      if (size < 0) return Missing(errno);
      if (++links > kMaxLinks) return Refused("its links go in circles");
      if (size > 0 && target[0] == '/') return Refused("a link leads out of the model's folder");
      PushComponents({target, static_cast<size_t>(size)}, &components);
    } else if (components.empty()) {
      return OpenFile(folder, name, status);
    } else {
      return Missing(ENOTDIR);
    }
  }
  return Refused("it is a folder");
}

// nullopt: not a number of bytes.
std::optional<int64_t> ParseBytes(const std::optional<std::string>& text, int64_t otherwise) {
  if (!text) return otherwise;
  int64_t value = 0;
  if (!absl::SimpleAtoi(*text, &value) || value < 0) return std::nullopt;
  return value;
}

}  // namespace

ExternalData::ExternalData(std::optional<std::string> folder) : folder_(std::move(folder)) {}
ExternalData::~ExternalData() = default;

ExternalData::File ExternalData::Examine(const std::string& location) const {
  File file;
  file.location = location;
  file.refusal = RefusalOf(location);
  if (!file.refusal.empty()) return file;
  if (!folder_) {
    file.missing = "the model is no file and has no folder to look in";
    return file;
  }
  const Opened opened = OpenBelow(*folder_, location);
  file.refusal = opened.refusal;
  file.missing = opened.missing;
  struct stat status{};
  if (opened.file.valid() && fstat(opened.file.get(), &status) == 0) file.size = status.st_size;
  return file;
}

ExternalData::File& ExternalData::FileAt(const std::string& location) {
  const auto [at, is_new] = by_location_.try_emplace(location, files_.size());
  if (is_new) files_.push_back(Examine(location));
  return files_[at->second];
}

std::optional<std::string> ExternalData::ReadContents(const std::string& location, int64_t offset,
                                                      int64_t length) const {
  const Opened opened = OpenBelow(*folder_, location);
  if (!opened.file.valid()) return std::nullopt;
  std::string contents(static_cast<size_t>(length), '\0');
  size_t done = 0;
  while (done < contents.size()) {
    const ssize_t got = pread(opened.file.get(), contents.data() + done, contents.size() - done,
                              offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += static_cast<size_t>(got);
  }
  return contents;
}

ExternalData::Found ExternalData::Resolve(const ExternalReference& reference,
                                          const ExternalTensor& tensor, DiagnosticSink& sink) {
  const auto invalid = [&](std::string kind, std::string message) {
    sink.Error(std::move(kind), tensor.place, std::move(message));
    return Found{};
  };
  const std::string location = reference.location.value_or("");
  if (location.empty()) {
    return invalid("external-data-location", "its data is external, but no location is given");
  }
  const std::string quoted = absl::StrCat("external data '", Printable(location), "'");
  File& file = FileAt(location);
  if (!file.refusal.empty()) {
    return invalid("external-data-location",
                   absl::StrCat(quoted, " is refused: ", file.refusal,
                                "; a location is a path of a file below the model's folder"));
  }
  const auto offset = ParseBytes(reference.offset, 0);
  const auto length = ParseBytes(reference.length, tensor.bytes.value_or(0));
  if (!offset || !length) {
    return invalid("external-data-size",
                   absl::StrCat(offset ? "length '" : "offset '",
                                Printable(*(offset ? reference.length : reference.offset)),
                                "' is no number of bytes"));
  }
  if (tensor.bytes && *length != *tensor.bytes) {
    return invalid("external-data-size",
                   absl::StrFormat("%s needs %d bytes, the length given for %s is %d", tensor.text,
                                   *tensor.bytes, quoted, *length));
  }
  if (!file.missing.empty()) {
    ++file.missing_tensors;
    if (__builtin_add_overflow(file.missing_bytes, *length, &file.missing_bytes)) {
      file.missing_bytes = INT64_MAX;
    }
    return {State::kMissing, std::nullopt};
  }
  if (*offset > file.size || *length > file.size - *offset) {
    return invalid("external-data-size",
                   absl::StrFormat("%s needs %d bytes from byte %d on, %s has %d", tensor.text,
                                   *length, *offset, quoted, file.size));
  }
  Found found = {State::kPresent, std::nullopt};
  if (tensor.wants_contents) found.contents = ReadContents(location, *offset, *length);
  return found;
}

void ExternalData::ReportMissing(DiagnosticSink& sink) const {
  for (const File& file : files_) {
    if (file.missing_tensors == 0) continue;
    // A model that is no file cannot have its data beside it: nothing is amiss.
    sink.Add({folder_ ? Severity::kWarning : Severity::kNote, Blame::kModel,
              "external-data-missing", absl::StrCat("external data ", Printable(file.location)),
              absl::StrFormat("%s; the sizes of %d tensor%s (%d bytes) come from type and dims "
                              "and are not verified",
                              file.missing, file.missing_tensors,
                              file.missing_tensors == 1 ? "" : "s", file.missing_bytes)});
  }
}

}  // namespace footprint
