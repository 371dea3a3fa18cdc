// Tensors whose contents are in other files: where these may be, and what they must measure.
#ifndef FOOTPRINT_FRONTEND_EXTERNAL_DATA_H_
#define FOOTPRINT_FRONTEND_EXTERNAL_DATA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/diagnostic.h"

namespace footprint {

// The entries of TensorProto.external_data that matter here, as text from the file.
struct ExternalReference {
  std::optional<std::string> location;
  std::optional<std::string> offset;
  std::optional<std::string> length;
};

class ExternalData {
 public:
  // `folder` is where the model file is; nullopt for a model without one (standard input), whose
  // external data is all missing.
  explicit ExternalData(std::optional<std::string> folder);
  ~ExternalData();
  ExternalData(const ExternalData&) = delete;
  ExternalData& operator=(const ExternalData&) = delete;

  enum class State { kInvalid, kMissing, kPresent };
  struct Found {
    State state = State::kInvalid;
    // The contents, if they were asked for and the file is present.
    std::optional<std::string> contents;
  };

  // Checks the reference of one tensor of `expected_bytes` (nullopt: its type has no fixed size),
  // reads the contents if `want_contents`. kInvalid: `sink` got an error. Nothing outside of the
  // folder is opened, nor asked for.
  Found Resolve(const ExternalReference& reference, std::optional<int64_t> expected_bytes,
                bool want_contents, const std::string& place, DiagnosticSink& sink);

  // One warning for each file that was missing, with what should have been in it.
  void ReportMissing(DiagnosticSink& sink) const;

 private:
  struct File;
  File& FileAt(const std::string& location);

  std::optional<std::string> folder_;
  int folder_fd_ = -1;
  std::vector<File> files_;
};

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_EXTERNAL_DATA_H_
