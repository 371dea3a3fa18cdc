// Typed ids: one type per table, so that a node's id cannot index the table of values.
#ifndef FOOTPRINT_IR_ID_H_
#define FOOTPRINT_IR_ID_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace footprint {

template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  explicit constexpr Id(int32_t index) : index_(index) {}
  explicit constexpr Id(size_t index) : index_(static_cast<int32_t>(index)) {}

  constexpr bool valid() const { return index_ >= 0; }
  constexpr int32_t index() const { return index_; }
  friend constexpr auto operator<=>(Id, Id) = default;

  template <typename H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.index_);
  }

 private:
  int32_t index_ = -1;
};

using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;
using RegionId = Id<struct RegionTag>;
using ScopeId = Id<struct ScopeTag>;
using ConstantId = Id<struct ConstantTag>;
using StorageId = Id<struct StorageTag>;
using CallId = Id<struct CallTag>;            // a call in a TorchProgram
using TorchValueId = Id<struct TorchValueTag>;  // a tensor in a TorchProgram

// A table indexed by one kind of id.
template <typename IdType, typename T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(size_t size, const T& value = T()) : items_(size, value) {}

  // Appends and returns the id of the new row.
  IdType Add(T item) {
    items_.push_back(std::move(item));
    return IdType(items_.size() - 1);
  }
  decltype(auto) operator[](IdType id) { return items_[static_cast<size_t>(id.index())]; }
  decltype(auto) operator[](IdType id) const { return items_[static_cast<size_t>(id.index())]; }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  void resize(size_t size, const T& value = T()) { items_.resize(size, value); }
  void reserve(size_t size) { items_.reserve(size); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<T> items_;
};

}  // namespace footprint

#endif  // FOOTPRINT_IR_ID_H_
