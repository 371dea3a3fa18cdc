// The machine that eager operators run on: storages with reference counts, tensors, the tape, a
// clock that ticks at each allocation, and decisions with their guards.
#ifndef FOOTPRINT_PASSES_REPLAY_MACHINE_H_
#define FOOTPRINT_PASSES_REPLAY_MACHINE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/eager.h"
#include "passes/memory_trace.h"

namespace footprint {

// What the replay remembers of a storage until the trace is written.
struct ReplayStorage {
  Dim bytes;
  int32_t references = 0;
  int32_t step = -1;             // the step that made it
  int64_t first_tick = 0;
  int64_t end_tick = -1;         // -1: alive
  ElementType element = ElementType::kUndefined;
  Category category = Category::kTransient;
  absl::string_view what;        // "mask"; empty: a result
  TorchValueId value;            // the first value of the program in it
  TorchValueId gradient_of;      // the value whose gradient it holds
  StorageId copy_of;             // has the numbers of that one; invalid: of none
  StorageId added_to;            // the gradient of earlier micro-batches that it is added to
};

// A checkpointed run of calls on the tape: the nodes that would have saved something, and what the
// run is computed from once more.
struct CheckpointFrame {
  std::vector<GradientNode*> nodes;  // in order of creation; counted references
  size_t refilled = 0;               // of nodes
  // The storages that are new since `first_new` were made by the call that runs now.
  StorageId first_new;
  bool saved_new = false;            // did the call save one of them?
};

class ReplayMachine final : public Eager {
 public:
  ReplayMachine(DimTable& dims, DimEvaluator& evaluator, EagerMode mode);
  ~ReplayMachine() override;

  bool Equal(Dim a, Dim b) override;
  bool Less(Dim a, Dim b) override;
  Tensor New(const Dims& shape, ElementType element, absl::string_view what = {}) override;
  Tensor NewStrided(const Dims& shape, const Dims& strides, ElementType element,
                    absl::string_view what = {}) override;
  Tensor View(const Tensor& of, const Dims& shape, const Dims& strides) override;
  Tensor Alias(const Tensor& of, const Dims& shape, const Dims& strides) override;
  void NoteCopy(const Tensor& copy, const Tensor& of) override;
  void Record(absl::string_view node, absl::Span<const Tensor> inputs,
              absl::Span<const Tensor> outputs, absl::Span<const SavedTensor> saved,
              BackwardFunction backward) override;
  bool Needs(const Tensor& tensor) const override { return tensor.requires_grad(); }
  Tensor Apply(const TorchOp& op, absl::Span<const Tensor> operands) override;
  Tensor Autocasted(const Tensor& tensor, Autocast rule) override;
  int StorageReferences(const Tensor& tensor) const override;

  // Casts the arguments of a call as autocast would, last one first, and runs the operator. A call
  // whose operands do not fit its operator makes what is declared for its results, and `fits` is
  // false.
  TensorList Call(CallArguments& arguments, bool* fits, bool* recast);
  void ClearAutocastCache() { casts_.clear(); }

  // Until EndFrame nodes are recorded without what they save.
  void Withhold(CheckpointFrame* frame) { withheld_ = frame; }
  // Until EndFrame nothing is recorded; what would be saved goes to the nodes of the frame, which
  // then only the tape refers to.
  void Refill(CheckpointFrame* frame) { refilled_ = frame; }
  void EndFrame();
  void RequireGradient(const Tensor& leaf) { leaf.data()->requires_grad = true; }

  // The clock. A step begins with the next tick; `category` is that of what is allocated from now
  // on.
  void BeginStep(Step step);
  // A step that begins with a tick of its own, in which nothing is allocated.
  void BeginPhase(std::string name, Phase phase);
  // Tick 0, with all that was allocated before.
  void StartClock(std::string name);
  int64_t tick() const { return tick_; }
  // Sub-byte types rounded up once; unknown for types without a size.
  Dim ByteCount(Dim elements, ElementType element);
  void SetCategory(Category category) { category_ = category; }
  int32_t current_step() const { return static_cast<int32_t>(steps_.size()) - 1; }

  std::vector<Step>& steps() { return steps_; }
  IdVector<StorageId, ReplayStorage>& storages() { return storages_; }
  std::vector<Guard>& guards() { return guards_; }

 private:
  void Release(TensorData* data) override;
  TensorData* NewTensorData(StorageId storage, const Dims& shape, const Dims& strides);
  GradientNode* NewNode(absl::string_view name);
  GradientNode* TargetOf(const Tensor& input, int32_t* output);
  void ReleaseNode(GradientNode* node);
  void Save(absl::Span<const SavedTensor> saved, GradientNode* node);
  void RefillNext(absl::Span<const Tensor> outputs, absl::Span<const SavedTensor> saved);
  ElementType CastTarget(const Tensor& tensor, Autocast rule, bool has_float32) const;
  void CastArguments(CallArguments& arguments);
  bool CastAlike(CallArguments& arguments);

  DimEvaluator& evaluator_;
  absl::flat_hash_set<std::pair<Dim, Dim>> guarded_equal_;
  absl::flat_hash_set<std::pair<Dim, Dim>> guarded_less_;
  std::vector<Guard> guards_;

  IdVector<StorageId, ReplayStorage> storages_;
  std::deque<TensorData> tensors_;
  std::vector<TensorData*> free_tensors_;
  std::deque<GradientNode> nodes_;
  std::vector<GradientNode*> free_nodes_;
  std::vector<GradientNode*> dying_nodes_;
  bool releasing_nodes_ = false;
  int64_t next_sequence_ = 0;

  CheckpointFrame* withheld_ = nullptr;
  CheckpointFrame* refilled_ = nullptr;

  bool autocasts_ = false;
  absl::flat_hash_map<const TensorData*, Tensor> casts_;

  std::vector<Step> steps_;
  int64_t tick_ = 0;
  Category category_ = Category::kTransient;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_REPLAY_MACHINE_H_
