// Three ways to run the same arithmetic: over lists of all parameters (foreach, what PyTorch
// chooses on a GPU), one parameter after the other (for-loop), or in one kernel (fused). They keep
// the same state; lists cost a temporary of all parameters' size, the loop a few of the largest
// one's:
//
//   adam, for-loop   denom = (exp_avg_sq.sqrt() / correction).add_(eps)   each: "root denom -root"
//   while `denom` of the next parameter is made, `root` and the last `denom` are alive.
#include "passes/optimizer.h"

#include <algorithm>

#include "ir/dim.h"

namespace footprint {
namespace {

using Size = OptimizerState::Size;
using enum StateMade;

constexpr OptimizerState kStep = {"step", Size::kScalar};
constexpr OptimizerState kMomentum = {"momentum_buffer", Size::kLikeParameter};
constexpr OptimizerState kExpAvg = {"exp_avg", Size::kLikeParameter};
constexpr OptimizerState kExpAvgSq = {"exp_avg_sq", Size::kLikeParameter};
constexpr OptimizerState kMaxExpAvgSq = {"max_exp_avg_sq", Size::kLikeParameter};
constexpr OptimizerState kExpInf = {"exp_inf", Size::kLikeParameter};
constexpr OptimizerState kSquareAvg = {"square_avg", Size::kLikeParameter};
constexpr OptimizerState kGradAvg = {"grad_avg", Size::kLikeParameter};
constexpr OptimizerState kSum = {"sum", Size::kLikeParameter};
constexpr OptimizerState kAccDelta = {"acc_delta", Size::kLikeParameter};
constexpr OptimizerState kPrevious = {"prev", Size::kLikeParameter};
constexpr OptimizerState kStepSize = {"step_size", Size::kLikeParameter};
constexpr OptimizerState kAverage = {"ax", Size::kLikeParameter};
constexpr OptimizerState kState1 = {"state1", Size::kQuantized};
constexpr OptimizerState kState2 = {"state2", Size::kQuantized};
constexpr OptimizerState kAbsmax1 = {"absmax1", Size::kQuantizedScale};
constexpr OptimizerState kAbsmax2 = {"absmax2", Size::kQuantizedScale};
constexpr OptimizerState kState1Whole = {"state1", Size::kLikeParameter};
constexpr OptimizerState kState2Whole = {"state2", Size::kLikeParameter};
constexpr OptimizerState kRowVar = {"row_var", Size::kRows};
constexpr OptimizerState kColVar = {"col_var", Size::kColumns};
constexpr OptimizerState kVariance = {"variance", Size::kVector};

// What PyTorch's capturable implementations keep on the device besides.
constexpr OptimizerState kMuProduct = {"mu_product", Size::kScalar};
constexpr OptimizerState kEta = {"eta", Size::kScalar};
constexpr OptimizerState kMu = {"mu", Size::kScalar};

constexpr Optimizer kRows[] = {
    {.name = "sgd"},
    {.name = "sgd:for-loop"},
    {.name = "sgd:fused", .takes_scale = true, .measured = false},
    {.name = "sgd-wd", .lists = "grad"},
    {.name = "sgd-wd:for-loop", .each = "grad -grad"},
    {.name = "sgd-wd:fused", .takes_scale = true, .measured = false},
    {.name = "sgd-momentum", .states = {kMomentum}, .state_made = kAfterLists},
    {.name = "sgd-momentum:for-loop", .states = {kMomentum}, .state_made = kAfterLists},
    {.name = "sgd-momentum:fused", .states = {kMomentum}, .state_made = kAfterLists,
     .takes_scale = true, .measured = false},
    {.name = "sgd-momentum-wd", .states = {kMomentum}, .state_made = kAfterLists, .lists = "grad"},
    {.name = "sgd-momentum-wd:for-loop", .states = {kMomentum}, .state_made = kAfterLists,
     .each = "grad -grad"},
    {.name = "sgd-momentum-wd:fused", .states = {kMomentum}, .state_made = kAfterLists,
     .takes_scale = true, .measured = false},
    {.name = "sgd-nesterov", .states = {kMomentum}, .state_made = kAfterLists},
    {.name = "sgd-nesterov:for-loop", .states = {kMomentum}, .state_made = kAfterLists,
     .each = "grad -grad"},
    {.name = "sgd-nesterov:fused", .states = {kMomentum}, .state_made = kAfterLists,
     .takes_scale = true, .measured = false},
    {.name = "sgd-nesterov-wd", .states = {kMomentum}, .state_made = kAfterLists, .lists = "grad"},
    {.name = "sgd-nesterov-wd:for-loop", .states = {kMomentum}, .state_made = kAfterLists,
     .each = "grad grad -grad"},
    {.name = "sgd-nesterov-wd:fused", .states = {kMomentum}, .state_made = kAfterLists,
     .takes_scale = true, .measured = false},

    {.name = "adam", .states = {kExpAvg, kExpAvgSq}, .lists = "root"},
    {.name = "adam:for-loop", .states = {kExpAvg, kExpAvgSq}, .each = "root denom -root"},
    {.name = "adam:fused", .states = {kStep, kExpAvg, kExpAvgSq}, .takes_scale = true},
    {.name = "adam:capturable", .states = {kStep, kExpAvg, kExpAvgSq},
     .lists = "~correction1 ~correction2 root"},
    {.name = "adam-wd", .states = {kExpAvg, kExpAvgSq}, .lists = "grad -grad root"},
    {.name = "adam-wd:for-loop", .states = {kExpAvg, kExpAvgSq},
     .each = "grad root denom -root -grad"},
    {.name = "adam-wd:fused", .states = {kStep, kExpAvg, kExpAvgSq}, .takes_scale = true},
    {.name = "adam-wd:capturable", .states = {kStep, kExpAvg, kExpAvgSq},
     .lists = "grad -grad ~correction1 ~correction2 root"},
    {.name = "adam-amsgrad", .states = {kExpAvg, kExpAvgSq, kMaxExpAvgSq}, .lists = "root"},
    {.name = "adam-amsgrad:for-loop", .states = {kExpAvg, kExpAvgSq, kMaxExpAvgSq},
     .each = "root denom -root"},
    {.name = "adam-amsgrad:fused", .states = {kStep, kExpAvg, kExpAvgSq, kMaxExpAvgSq},
     .takes_scale = true},
    {.name = "adam-amsgrad:capturable", .states = {kStep, kExpAvg, kExpAvgSq, kMaxExpAvgSq},
     .lists = "~correction1 ~correction2 root"},
    {.name = "adamw", .states = {kExpAvg, kExpAvgSq}, .lists = "root"},
    {.name = "adamw:for-loop", .states = {kExpAvg, kExpAvgSq}, .each = "root denom -root"},
    {.name = "adamw:fused", .states = {kStep, kExpAvg, kExpAvgSq}, .takes_scale = true},
    {.name = "adamw:capturable", .states = {kStep, kExpAvg, kExpAvgSq},
     .lists = "~correction1 ~correction2 root"},
    {.name = "adamw-amsgrad", .states = {kExpAvg, kExpAvgSq, kMaxExpAvgSq}, .lists = "root"},
    {.name = "adamw-amsgrad:for-loop", .states = {kExpAvg, kExpAvgSq, kMaxExpAvgSq},
     .each = "root denom -root"},
    {.name = "adamw-amsgrad:fused", .states = {kStep, kExpAvg, kExpAvgSq, kMaxExpAvgSq},
     .takes_scale = true},
    {.name = "adamw-amsgrad:capturable", .states = {kStep, kExpAvg, kExpAvgSq, kMaxExpAvgSq},
     .lists = "~correction1 ~correction2 root"},
    {.name = "nadam", .states = {kExpAvg, kExpAvgSq}, .lists = "root"},
    {.name = "nadam:for-loop", .states = {kExpAvg, kExpAvgSq}, .each = "root denom -root"},
    {.name = "nadam:capturable", .states = {kStep, kMuProduct, kExpAvg, kExpAvgSq},
     .lists = "root ~exponent ~mu ~mu_next -exponent ~correction -correction ~denom -denom "
              "~denom -denom numerator"},
    {.name = "radam", .states = {kExpAvg, kExpAvgSq}, .lists = "buffer"},
    {.name = "radam:for-loop", .states = {kExpAvg, kExpAvgSq}, .each = "corrected scaled -scaled"},
    {.name = "radam:capturable", .states = {kStep, kExpAvg, kExpAvgSq},
     .lists = "~step_size ~correction2 buffer"},
    {.name = "adamax", .states = {kExpAvg, kExpInf}, .lists = "grad"},
    {.name = "adamax:for-loop", .states = {kExpAvg, kExpInf}, .each = "grad -grad"},
    {.name = "adamax:capturable", .states = {kStep, kExpAvg, kExpInf},
     .lists = "grad ~correction denom"},

    {.name = "adagrad", .states = {kSum}, .state_made = kBefore, .lists = "std update"},
    {.name = "adagrad:for-loop", .states = {kSum}, .state_made = kBefore, .each = "std"},
    {.name = "adagrad:fused", .states = {kStep, kSum}, .state_made = kBefore, .takes_scale = true,
     .measured = false},
    {.name = "adadelta", .states = {kSquareAvg, kAccDelta}, .lists = "std delta"},
    {.name = "adadelta:for-loop", .states = {kSquareAvg, kAccDelta}, .each = "std delta"},
    {.name = "adadelta:capturable", .states = {kStep, kSquareAvg, kAccDelta}, .lists = "std delta"},
    {.name = "rmsprop", .states = {kSquareAvg}, .lists = "avg"},
    {.name = "rmsprop:for-loop", .states = {kSquareAvg}, .each = "avg"},
    {.name = "rmsprop:capturable", .states = {kStep, kSquareAvg}, .lists = "avg"},
    {.name = "rmsprop-momentum", .states = {kSquareAvg, kMomentum}, .lists = "avg"},
    {.name = "rmsprop-momentum:for-loop", .states = {kSquareAvg, kMomentum}, .each = "avg"},
    {.name = "rmsprop-momentum:capturable", .states = {kStep, kSquareAvg, kMomentum},
     .lists = "avg"},
    {.name = "rmsprop-centered", .states = {kSquareAvg, kGradAvg}, .lists = "avg"},
    {.name = "rmsprop-centered:for-loop", .states = {kSquareAvg, kGradAvg}, .each = "avg"},
    {.name = "rmsprop-centered:capturable", .states = {kStep, kSquareAvg, kGradAvg},
     .lists = "avg"},
    {.name = "rmsprop-momentum-centered", .states = {kSquareAvg, kMomentum, kGradAvg},
     .lists = "avg"},
    {.name = "rmsprop-momentum-centered:for-loop",
     .states = {kSquareAvg, kMomentum, kGradAvg}, .each = "avg"},
    {.name = "rmsprop-momentum-centered:capturable",
     .states = {kStep, kSquareAvg, kMomentum, kGradAvg}, .lists = "avg"},
    {.name = "rprop", .states = {kPrevious, kStepSize}, .lists = "signs",
     .each = "?mask ~zero chosen -zero -chosen -mask"},
    {.name = "rprop:for-loop", .states = {kPrevious, kStepSize},
     .each = "-grad product sign -product grad step -step"},
    {.name = "rprop:capturable", .states = {kStep, kPrevious, kStepSize}, .lists = "signs",
     .each = "?mask ~zero chosen -zero -chosen -mask"},
    {.name = "asgd", .states = {kStep, kEta, kMu, kAverage}, .lists = "grad"},
    // Its average is a copy for the first million steps.
    {.name = "asgd:for-loop", .states = {kStep, kEta, kMu, kAverage}},
    {.name = "asgd:capturable", .states = {kStep, kEta, kMu, kAverage},
     .lists = "grad -grad difference -difference ~mu -mu ~eta"},

    // The loop is PyTorch's choice; means of rows and columns are left out.
    {.name = "adafactor", .states = {kRowVar, kColVar, kVariance}, .each = "estimate",
     .measured = false},
    {.name = "adafactor:foreach", .states = {kRowVar, kColVar, kVariance}, .lists = "estimate"},
    {.name = "muon", .states = {{"momentum_buffer", Size::kMatrix}},
     .each = "update -x %x #gram #correction %x -gram -correction -update"},
    {.name = "lamb", .states = {kExpAvg, kExpAvgSq}, .lists = "root update", .measured = false},
    // timm's, of which only scalars are left out
    {.name = "lamb:for-loop", .states = {kExpAvg, kExpAvgSq},
     .each = "scaled root denom -root update -scaled", .measured = false},
    {.name = "lion", .states = {kExpAvg}, .lists = "update", .measured = false},
    // lion-pytorch's
    {.name = "lion:for-loop", .states = {kExpAvg}, .each = "clone update -clone -update"},
    {.name = "lion:fused", .states = {kExpAvg}, .measured = false},
    {.name = "adam:paged", .states = {kState1Whole, kState2Whole}, .paged = true,
     .measured = false},
    {.name = "adamw:paged", .states = {kState1Whole, kState2Whole}, .paged = true,
     .measured = false},
    {.name = "lion:paged", .states = {kState1Whole}, .paged = true, .measured = false},
    {.name = "adam8bit", .states = {kState1, kState2, kAbsmax1, kAbsmax2}, .code_tables = 2,
     .measured = false},
    {.name = "adam8bit:paged", .states = {kState1, kState2, kAbsmax1, kAbsmax2}, .paged = true,
     .code_tables = 2, .measured = false},
    {.name = "adamw8bit", .states = {kState1, kState2, kAbsmax1, kAbsmax2}, .code_tables = 2,
     .measured = false},
    {.name = "adamw8bit:paged", .states = {kState1, kState2, kAbsmax1, kAbsmax2}, .paged = true,
     .code_tables = 2, .measured = false},
    {.name = "lion8bit", .states = {kState1, kAbsmax1}, .code_tables = 1, .measured = false},
    {.name = "lion8bit:paged", .states = {kState1, kAbsmax1}, .paged = true, .code_tables = 1,
     .measured = false},
};

constexpr int64_t kSmallestQuantized = 4096;
constexpr int64_t kQuantizationBlock = 256;

bool IsQuantized(Dim count) {
  return !count.is_constant() || count.value() >= kSmallestQuantized;
}

}  // namespace

absl::Span<const Optimizer> AllOptimizers() { return kRows; }

const Optimizer* FindOptimizer(absl::string_view name) {
  const auto found = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Optimizer& row) { return row.name == name; });
  return found == std::end(kRows) ? nullptr : &*found;
}

bool IsPaged(const Optimizer& optimizer, const OptimizerState& state, Dim elements) {
  const bool scale = state.size == Size::kQuantizedScale;
  return optimizer.paged && !scale &&
         (!elements.is_constant() || elements.value() >= Optimizer::kSmallestPaged);
}

bool StateTensor(const OptimizerState& state, const Dims& parameter, ElementType element,
                 DimTable& dims, Dims* shape, ElementType* state_element) {
  *shape = parameter;
  *state_element = element;
  const bool is_matrix = parameter.size() >= 2;
  switch (state.size) {
    case Size::kNone: return false;
    case Size::kLikeParameter: return true;
    case Size::kScalar:
      shape->clear();
      *state_element = ElementType::kFloat;
      return true;
    case Size::kRows:
      if (is_matrix) shape->back() = 1;
      return is_matrix;
    case Size::kColumns:
      if (is_matrix) (*shape)[shape->size() - 2] = 1;
      return is_matrix;
    case Size::kVector: return !is_matrix;
    case Size::kMatrix: return is_matrix;
    case Size::kQuantized:
      *state_element =
          IsQuantized(dims.Product(parameter)) ? ElementType::kUint8 : ElementType::kFloat;
      return true;
    case Size::kQuantizedScale:
      *shape = {dims.CeilDiv(dims.Product(parameter), kQuantizationBlock)};
      *state_element = ElementType::kFloat;
      return IsQuantized(dims.Product(parameter));
  }
  return false;
}

}  // namespace footprint
