// Tensors whose contents are in other files: where these may be, and what they must measure.
#ifndef FOOTPRINT_FRONTEND_EXTERNAL_DATA_H_
#define FOOTPRINT_FRONTEND_EXTERNAL_DATA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/diagnostic.h"

namespace footprint {

// The entries of TensorProto.external_data that matter here, as text from the file.
struct ExternalReference {
  std::optional<std::string> location;
  std::optional<std::string> offset;
  std::optional<std::string> length;
};

// The tensor that refers to a file.
struct ExternalTensor {
  std::optional<int64_t> bytes;  // nullopt: its type has no fixed size
  std::string text;              // "float32[64, 16]"
  std::string place;
  bool wants_contents = false;  // only with bytes
};

class ExternalData {
 public:
  // `folder` is where the model file is; nullopt for a model without one (from standard input, from
  // memory), whose external data is all missing.
  explicit ExternalData(std::optional<std::string> folder);
  ~ExternalData();
  ExternalData(const ExternalData&) = delete;
  ExternalData& operator=(const ExternalData&) = delete;

  enum class State { kInvalid, kMissing, kPresent };
  struct Found {
    State state = State::kInvalid;
    std::optional<std::string> contents;
  };

  // Checks the reference of one tensor, and reads the contents if they are wanted and there.
  // kInvalid: `sink` got an error. Nothing outside of the folder is opened, nor asked for.
  Found Resolve(const ExternalReference& reference, const ExternalTensor& tensor,
                DiagnosticSink& sink);

  // One warning for each file that is missing (a note if there is no folder), with what should have
  // been in it.
  void ReportMissing(DiagnosticSink& sink) const;

 private:
  // What is known of one location.
  struct File {
    std::string location;
    std::string refusal;  // why the location is not allowed; empty if it is
    std::string missing;  // why it cannot be looked at; empty if it can
    int64_t size = 0;
    int64_t missing_tensors = 0;
    int64_t missing_bytes = 0;
  };
  File& FileAt(const std::string& location);
  File Examine(const std::string& location) const;
  std::optional<std::string> ReadContents(const std::string& location, int64_t offset,
                                          int64_t length) const;

  std::optional<std::string> folder_;
  std::vector<File> files_;  // in the order the model names them
  absl::flat_hash_map<std::string, size_t> by_location_;
};

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_EXTERNAL_DATA_H_
