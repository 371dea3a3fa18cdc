// Weights as ONNX Runtime holds them once a session is ready: kernels copy some into the layout
// that they multiply from, and a stored one that every reader has copied is given up.
#ifndef FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_WEIGHTS_H_
#define FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/wide.h"

namespace footprint {

struct SizedNode;

// A copy of a stored operand; several of one operand are its parts.
struct PackedOperand {
  size_t operand = 0;
  Wide bytes = 0;
  bool keeps = false;  // the stored one is read all the same
  bool apart = false;  // another node that copies the same operand has a copy of its own
};
using PackRule = std::vector<PackedOperand> (*)(const SizedNode&);

// Of what the copies are, on the processor that they were measured on.
std::vector<PackedOperand> PackMatrix(const SizedNode& sized);
std::vector<PackedOperand> PackGates(const SizedNode& sized);
std::vector<PackedOperand> PackGatesApart(const SizedNode& sized);
std::vector<PackedOperand> PackIntegerGates(const SizedNode& sized);
std::vector<PackedOperand> PackHeads(const SizedNode& sized);
std::vector<PackedOperand> PackIntegerHeads(const SizedNode& sized);
std::vector<PackedOperand> PackIntegers(const SizedNode& sized);
std::vector<PackedOperand> PackIntegerFilter(const SizedNode& sized);
std::vector<PackedOperand> PackBlockedFilter(const SizedNode& sized);
std::vector<PackedOperand> PackTransposedFilter(const SizedNode& sized);
std::vector<PackedOperand> PackFewBits(const SizedNode& sized);
std::vector<PackedOperand> PackWideScales(const SizedNode& sized);  // of half precision

struct WeightBytes {
  int64_t held = 0;      // stored ones that are read, and copies
  int64_t packed = 0;    // the copies alone
  int64_t released = 0;  // stored ones that were given up
};

// Who reads and who copies which stored value, over all regions of a graph.
class WeightLedger {
 public:
  // Names a value: of the file, or one that a rewrite made in a region.
  using Key = std::pair<int64_t, int64_t>;

  void Read(Key value, Wide bytes);
  struct Copier {
    std::string kernel;
    Key node;  // tells nodes apart
    size_t part = 0;
  };
  void Copy(Key value, Wide bytes, const Copier& by, const PackedOperand& copy);
  WeightBytes Total() const;

 private:
  struct Row {
    Wide stored = 0;
    bool is_read = false;
    std::map<std::tuple<std::string, Key, size_t>, Wide> copies;
  };
  std::map<Key, Row> rows_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_WEIGHTS_H_
