#include "backend/devices.h"

#include <algorithm>
#include <array>

namespace footprint {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
// PyTorch's CUBLAS_WORKSPACE_CONFIG: ":4096:2:16:8", and 32 MiB from compute capability 9.0 on.
constexpr int64_t kCublas = kDefaultBlasWorkspaceBytes;
constexpr int64_t kCublas9 = int64_t{32} << 20;
constexpr int64_t kRocblas = int64_t{128} << 20;  // gfx94x, gfx95x

constexpr auto kDevices = std::to_array<Device>({
    {"t4", 16 * kGiB, kCublas},
    {"v100-16gb", 16 * kGiB, kCublas},
    {"v100-32gb", 32 * kGiB, kCublas},
    {"a10", 24 * kGiB, kCublas},
    {"a100-40gb", 40 * kGiB, kCublas},
    {"a100-80gb", 80 * kGiB, kCublas},
    {"a6000", 48 * kGiB, kCublas},
    {"l4", 24 * kGiB, kCublas},
    {"l40s", 48 * kGiB, kCublas},
    {"h100-80gb", 80 * kGiB, kCublas9},
    {"h200", 141 * kGiB, kCublas9},
    {"b200", 180 * kGiB, kCublas9},
    {"rtx-3090", 24 * kGiB, kCublas},
    {"rtx-4090", 24 * kGiB, kCublas},
    {"rtx-5090", 32 * kGiB, kCublas9},
    {"mi250x", 128 * kGiB, kCublas9},
    {"mi300x", 192 * kGiB, kRocblas},
});

// "RTX 5090" -> "rtx-5090"
std::string Normalized(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == ' ' || c == '_') {
      text += '-';
    } else {
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return text;
}

}  // namespace

std::span<const Device> AllDevices() { return kDevices; }

const Device* FindDevice(std::string_view name) {
  const std::string wanted = Normalized(name);
  const auto found = std::find_if(kDevices.begin(), kDevices.end(),
                                  [&](const Device& device) { return device.name == wanted; });
  return found == kDevices.end() ? nullptr : &*found;
}

}  // namespace footprint
