// Devices that a model may have to fit: nominal memory and what driver and libraries take of it.
// The list is backend/runtime/devices.txt; a file of the user's can add to it.
#ifndef FOOTPRINT_BACKEND_DEVICES_H_
#define FOOTPRINT_BACKEND_DEVICES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace footprint {

struct Architecture {
  std::string name;                  // "sm_90"
  int64_t matrix_workspace_bytes = 0;  // of one cuBLAS or rocBLAS handle
  int64_t context_bytes = 0;           // of the driver, with the kernels it loads
  int64_t convolution_percent = 0;     // workspace of a convolution, of its unfolded input
};

struct Device {
  std::string name;          // "a100-80gb"
  int64_t memory_bytes = 0;  // as sold; what a program can use is a little less
  Architecture architecture;
};

struct DeviceTable {
  std::vector<Architecture> architectures;
  std::vector<Device> devices;

  // Upper and lower case, spaces, underscores and dashes do not matter. Null if there is none of
  // that name.
  const Device* Find(std::string_view name) const;
};

// What is wrong with a list of devices: "line 3: ...".
struct DeviceError {
  std::string message;
  bool unreadable = false;  // the file, rather than what it says
};

// Adds the lines of a list to `table`; those of a name that is there replace it.
std::variant<DeviceTable, DeviceError> ParseDevices(std::string_view text, DeviceTable table = {});
// The devices that are built in, and those in the file if `path` is not empty.
std::variant<DeviceTable, DeviceError> LoadDevices(const std::string& path);

// Of a device that is not named: PyTorch's default up to compute capability 8.
const Architecture& UnnamedArchitecture();
// Forward and backward run in threads of their own, each with a handle for matrix products.
inline constexpr int64_t kBlasHandles = 2;

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_DEVICES_H_
