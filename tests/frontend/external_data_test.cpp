#include "frontend/external_data.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;
using State = ExternalData::State;

class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "footprint-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    folder_ = root_ / "model";
    fs::create_directories(folder_ / "sub");
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const fs::path& path, const std::string& bytes) const {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  ExternalData::Found Resolve(const ExternalReference& reference, std::optional<int64_t> bytes = 16,
                              bool wants_contents = false) {
    ExternalData external(folder_.string());
    return ResolveIn(external, reference, bytes, wants_contents);
  }
  ExternalData::Found ResolveIn(ExternalData& external, const ExternalReference& reference,
                                std::optional<int64_t> bytes = 16, bool wants_contents = false) {
    return external.Resolve(reference, {bytes, "float32[4]", "initializer w", wants_contents},
                            sink_);
  }
  // The one error so far.
  std::string Error() {
    const std::vector<Diagnostic> found = sink_.Take();
    sink_ = DiagnosticSink();
    return found.size() == 1 ? ToString(found[0]) : std::to_string(found.size()) + " diagnostics";
  }

  fs::path root_;    // has what is outside of the model's folder
  fs::path folder_;  // of the model
  DiagnosticSink sink_;
};

ExternalReference At(const std::string& location) { return {location, {}, {}}; }

constexpr char kRule[] = "; a location is a path of a file below the model's folder";

TEST_F(ExternalDataTest, LocationsAboveTheFolderAreRefused) {
  const struct {
    std::string location;
    std::string why;
  } cases[] = {
      {"../w.bin", "it goes up a folder"},
      {"a/../../w.bin", "it goes up a folder"},
      {"sub/../w.bin", "it goes up a folder"},
      {"sub/..", "it goes up a folder"},
      {"..", "it goes up a folder"},
      {"..\\w.bin", "it goes up a folder"},
      {"sub\\..\\w.bin", "it goes up a folder"},
      {"/etc/hostname", "it is absolute"},
      {"\\\\host\\share", "it is absolute"},
      {"C:\\w.bin", "it is absolute"},
      {"c:w.bin", "it is absolute"},
      {"//x", "it is absolute"},
  };
  for (const auto& [location, why] : cases) {
    EXPECT_EQ(Resolve(At(location)).state, State::kInvalid);
    EXPECT_EQ(Error(), absl::StrCat("error: initializer w: external data '", location,
                                    "' is refused: ", why, kRule));
  }
  EXPECT_EQ(Resolve(At(std::string("w\0.bin", 6))).state, State::kInvalid);
  EXPECT_NE(Error().find("it contains a zero byte"), std::string::npos);
}

TEST_F(ExternalDataTest, HarmlessNamesAreAccepted) {
  for (const char* location : {"w.bin", "sub/w.bin", "model..v2.bin", "./w.bin", "sub//w.bin",
                               "sub/./w.bin", "..hidden", "...", "a b.bin"}) {
    Write(folder_ / location, std::string(16, 'x'));
    EXPECT_EQ(Resolve(At(location)).state, State::kPresent) << location;
    EXPECT_FALSE(sink_.has_errors());
  }
}

TEST_F(ExternalDataTest, AnEmptyOrMissingLocationIsAnError) {
  for (const ExternalReference& reference : {ExternalReference(), At("")}) {
    EXPECT_EQ(Resolve(reference).state, State::kInvalid);
    EXPECT_EQ(Error(), "error: initializer w: its data is external, but no location is given");
  }
}

TEST_F(ExternalDataTest, LinksThatLeaveTheFolderAreRefusedUntouched) {
  Write(root_ / "outside.bin", std::string(16, 'x'));
  fs::create_directories(root_ / "elsewhere");
  Write(root_ / "elsewhere" / "w.bin", std::string(16, 'x'));
  fs::create_symlink("../outside.bin", folder_ / "up.bin");
  fs::create_symlink(root_ / "outside.bin", folder_ / "absolute.bin");
  fs::create_symlink("../elsewhere", folder_ / "folder");
  fs::create_symlink("../../outside.bin", folder_ / "sub" / "deep.bin");
  fs::create_symlink("up.bin", folder_ / "twice.bin");
  fs::create_symlink("sub/../../model/w.bin", folder_ / "out-and-in.bin");
  const int watch = inotify_init1(IN_NONBLOCK);
  ASSERT_GE(watch, 0);
  for (const fs::path& path : {root_ / "outside.bin", root_ / "elsewhere" / "w.bin"}) {
    ASSERT_GE(inotify_add_watch(watch, path.c_str(), IN_ALL_EVENTS), 0);
  }
  for (const std::string location :
       {"up.bin", "absolute.bin", "folder/w.bin", "sub/deep.bin", "twice.bin", "out-and-in.bin"}) {
    EXPECT_EQ(Resolve(At(location), 16, true).state, State::kInvalid) << location;
    EXPECT_EQ(Error(), "error: initializer w: external data '" + location +
                           "' is refused: a link leads out of the model's folder" + kRule);
  }
  char event[4096];
  EXPECT_LT(read(watch, event, sizeof(event)), 0) << "a file outside of the folder was opened";
  close(watch);
}

TEST_F(ExternalDataTest, LinksWithinTheFolderAreFollowed) {
  Write(folder_ / "w.bin", std::string(16, 'x'));
  fs::create_symlink("w.bin", folder_ / "same.bin");
  fs::create_symlink("../w.bin", folder_ / "sub" / "up.bin");
  fs::create_symlink("sub/../same.bin", folder_ / "chain.bin");
  for (const char* location : {"same.bin", "sub/up.bin", "chain.bin"}) {
    EXPECT_EQ(Resolve(At(location)).state, State::kPresent) << location;
  }
  fs::create_symlink("circle.bin", folder_ / "circle.bin");
  EXPECT_EQ(Resolve(At("circle.bin")).state, State::kInvalid);
  EXPECT_NE(Error().find("its links go in circles"), std::string::npos);
}

TEST_F(ExternalDataTest, OnlyRegularFilesAreOpened) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(Resolve(At("pipe"), 16, true).state, State::kInvalid);
  EXPECT_NE(Error().find("it is no regular file"), std::string::npos);
  EXPECT_EQ(Resolve(At("sub")).state, State::kInvalid);
  EXPECT_NE(Error().find("it is a folder"), std::string::npos);
}

TEST_F(ExternalDataTest, SizesAreCheckedAgainstLengthAndFile) {
  Write(folder_ / "w.bin", std::string(20, 'x'));
  EXPECT_EQ(Resolve({"w.bin", "4", "16"}).state, State::kPresent);
  EXPECT_EQ(Resolve({"w.bin", "4", {}}).state, State::kPresent);
  const struct {
    ExternalReference reference;
    std::string message;
  } cases[] = {
      {{"w.bin", "0", "12"},
       "float32[4] needs 16 bytes, the length given for external data 'w.bin' is 12"},
      {{"w.bin", "0", "20"},
       "float32[4] needs 16 bytes, the length given for external data 'w.bin' is 20"},
      {{"w.bin", "5", {}},
       "float32[4] needs 16 bytes from byte 5 on, external data 'w.bin' has 20"},
      {{"w.bin", "9223372036854775807", "16"},
       "float32[4] needs 16 bytes from byte 9223372036854775807 on, external data 'w.bin' has 20"},
      {{"w.bin", "-1", {}}, "offset '-1' is no number of bytes"},
      {{"w.bin", "0", "many"}, "length 'many' is no number of bytes"},
      {{"w.bin", "99999999999999999999", {}},
       "offset '99999999999999999999' is no number of bytes"},
      {{"absent.bin", "0", "12"},
       "float32[4] needs 16 bytes, the length given for external data 'absent.bin' is 12"},
  };
  for (const auto& [reference, message] : cases) {
    EXPECT_EQ(Resolve(reference).state, State::kInvalid);
    EXPECT_EQ(Error(), "error: initializer w: " + message);
  }
}

TEST_F(ExternalDataTest, ContentsAreReadWhenWanted) {
  Write(folder_ / "w.bin", "0123456789abcdef0123");
  EXPECT_EQ(Resolve({"w.bin", "4", "16"}, 16, true).contents, "456789abcdef0123");
  EXPECT_EQ(Resolve({"w.bin", "4", "16"}, 16, false).contents, std::nullopt);
  EXPECT_EQ(Resolve({"w.bin", "20", "0"}, 0, true).contents, "");
}

TEST_F(ExternalDataTest, AMissingFileIsOneWarning) {
  ExternalData external(folder_.string());
  EXPECT_EQ(ResolveIn(external, {"w.bin", "0", "16"}).state, State::kMissing);
  EXPECT_EQ(ResolveIn(external, {"w.bin", "16", "16"}).state, State::kMissing);
  EXPECT_EQ(ResolveIn(external, At("sub/v.bin"), 2147485696).state, State::kMissing);
  external.ReportMissing(sink_);
  EXPECT_FALSE(sink_.has_errors());
  const std::vector<Diagnostic> found = sink_.Take();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(ToString(found[0]),
            "warning: external data w.bin: not found; the sizes of 2 tensors (32 bytes) come from "
            "type and dims and are not verified");
  EXPECT_EQ(ToString(found[1]),
            "warning: external data sub/v.bin: not found; the sizes of 1 tensor (2147485696 bytes) "
            "come from type and dims and are not verified");
}

TEST_F(ExternalDataTest, AModelWithoutAFolderHasNoExternalData) {
  ExternalData external(std::nullopt);
  EXPECT_EQ(ResolveIn(external, At("../w.bin")).state, State::kInvalid);
  EXPECT_NE(Error().find("it goes up a folder"), std::string::npos);
  EXPECT_EQ(ResolveIn(external, At("w.bin"), 16, true).state, State::kMissing);
  external.ReportMissing(sink_);
  EXPECT_EQ(
      Error(),
      "note: external data w.bin: the model is no file and has no folder to look in; the "
      "sizes of 1 tensor (16 bytes) come from type and dims and are not verified");
}

}  // namespace
}  // namespace footprint
