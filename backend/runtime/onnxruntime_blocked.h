// Images on blocks of channels, and the nodes that make them: for BlockChannels().
#ifndef FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_BLOCKED_H_
#define FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_BLOCKED_H_

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "backend/runtime/rewriter.h"

namespace footprint {

constexpr int64_t kChannelBlock = 16;  // of AVX-512; 8 before it
constexpr int64_t PaddedChannels(int64_t channels) {
  return (channels + kChannelBlock - 1) / kChannelBlock * kChannelBlock;
}
// What the runtime's inference does not see.
void HideShape(TensorType& type);

class BlockedImages {
 public:
  // Where a size of an image comes from: the value that first had it, and how often it was halved.
  using Origin = std::pair<int32_t, int64_t>;
  using Origins = std::array<Origin, 4>;

  // The blocked copy of a value of the graph.
  struct Image {
    int32_t value = -1;
    int32_t node = -1;  // that makes it
    NodeId source;
    int64_t channels = 0;
    int64_t uses = 0;  // of the value at first
    int64_t left = 0;  // that still read the value itself
    bool has_activation = false;
    Origins sizes;
  };

  explicit BlockedImages(Rewriter& rewriter) : rewriter_(rewriter), graph_(rewriter.graph()) {}

  Image* Find(int32_t value);
  const Origins& SizesOf(int32_t value) const { return images_.at(value).sizes; }
  // The copy, for one of those that read the value.
  int32_t Take(int32_t value);
  // The copy; a new one is reordered from the value.
  int32_t Blocked(int32_t value, int64_t channels, NodeId source);
  // A copy of the value, which the next node is going to make from `from`.
  Image& Add(int32_t value, int32_t from, int64_t channels, NodeId source);
  // The node makes the copy of what it made; another node makes it.
  void Keep(int32_t id, int64_t channels, const Origins& sizes);
  Image& Replace(int32_t id, RuntimeNode made, int64_t channels);
  // `to` is made by the node of the image from now on.
  void HandOver(int32_t id, int32_t from, int32_t to);
  void Reorder(const char* op, NodeId source, int32_t from, int32_t to);
  void PadChannels(int32_t value, int64_t channels);
  // A window keeps the batch of its image, and a size that it is padded for, or halves it.
  Origins WindowSizes(int32_t id, int32_t output, int32_t input, std::vector<int64_t> kernel) const;
  // What still reads the values gets them back in order.
  void Finish();

 private:
  int64_t UsesOf(int32_t value) const;
  void AbsorbTransposes();

  Rewriter& rewriter_;
  RuntimeGraph& graph_;
  std::map<int32_t, Image> images_;                           // by value of the graph
  std::map<int32_t, std::pair<int32_t, int32_t>> reordered_;  // to the copy, and its node
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_BLOCKED_H_
