// Devices that a model may have to fit: nominal memory and what libraries take of it.
#ifndef FOOTPRINT_BACKEND_DEVICES_H_
#define FOOTPRINT_BACKEND_DEVICES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace footprint {

struct Device {
  std::string_view name;          // "a100-80gb"
  int64_t memory_bytes;           // as sold; what a program can use is a little less
  int64_t blas_workspace_bytes;   // of one cuBLAS or rocBLAS handle
};

std::span<const Device> AllDevices();
// Upper and lower case, spaces and underscores do not matter. Null if there is none of that name.
const Device* FindDevice(std::string_view name);

// The driver's context and the kernels it loads: a mean of published figures (300 to 1000 MiB).
inline constexpr int64_t kContextBytes = int64_t{450} << 20;
// Forward and backward run in threads of their own, each with a handle.
inline constexpr int64_t kBlasHandles = 2;
// Of a handle on a device that is not named: PyTorch's default below compute capability 9.0.
inline constexpr int64_t kDefaultBlasWorkspaceBytes = 4096 * 1024 * 2 + 16 * 1024 * 8;

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_DEVICES_H_
