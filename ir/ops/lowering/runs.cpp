#include "ir/ops/lowering/runs.h"

namespace footprint {
namespace {

constexpr absl::string_view kCellNote = "a recurrent cell, by its parameters' names";
constexpr absl::string_view kDistanceNote = "distances of many points, by their products";

// Cells run as one kernel on a GPU; exporters see the CPU's pieces.
constexpr CallRun kRuns[] = {
    {.calls = "linear linear add split_with_sizes sigmoid sigmoid tanh sigmoid mul mul add tanh "
              "mul",
     .torch = "aten::lstm_cell", .operands = "1.0 0.0 8.1 1.1 0.1 1.2 0.2", .results = "12 10",
     .cell_weight = 3, .states = 2, .note = kCellNote},
    {.calls = "linear add split_with_sizes sigmoid sigmoid tanh sigmoid mul mul add tanh mul",
     .torch = "aten::lstm_cell", .operands = "0.0 0.1 0.2 1.0= 7.1=", .results = "11 9",
     .cell_weight = 1, .states = 2, .first_step = true, .note = kCellNote},
    {.calls = "linear split_with_sizes linear split_with_sizes add sigmoid add sigmoid mul add "
              "tanh sub mul add",
     .torch = "aten::gru_cell", .operands = "0.0 2.0 0.1 2.1 0.2 2.2 11.0=", .cell_weight = 2,
     .states = 1, .note = kCellNote},
    {.calls = "linear split_with_sizes split_with_sizes add sigmoid add sigmoid mul add tanh sub "
              "mul add",
     .torch = "aten::gru_cell", .operands = "0.0 0.1 0.2 2.0= 10.0=", .cell_weight = 1,
     .states = 1, .first_step = true, .note = kCellNote},
    {.calls = "linear linear add tanh", .torch = "aten::rnn_tanh_cell",
     .operands = "1.0 0.0 1.1 0.1 1.2 0.2", .cell_weight = 2, .states = 1, .note = kCellNote},
    {.calls = "linear add tanh", .torch = "aten::rnn_tanh_cell", .operands = "0.0 0.1 0.2 1.0=",
     .cell_weight = 1, .states = 1, .first_step = true, .note = kCellNote},
    {.calls = "linear linear add relu", .torch = "aten::rnn_relu_cell",
     .operands = "1.0 0.0 1.1 0.1 1.2 0.2", .cell_weight = 2, .states = 1, .note = kCellNote},
    {.calls = "linear add relu", .torch = "aten::rnn_relu_cell", .operands = "0.0 0.1 0.2 1.0=",
     .cell_weight = 1, .states = 1, .first_step = true, .note = kCellNote},
    // Of many points; both write the products out, with ones beside them.
    {.calls = "pow sum.dim_IntList mul cat cat transpose matmul maximum|clamp_min sqrt",
     .torch = "aten::_euclidean_dist", .operands = "0.0 0.0", .note = kDistanceNote},
    {.calls = "pow sum.dim_IntList pow sum.dim_IntList mul cat cat transpose matmul "
              "maximum|clamp_min sqrt",
     .torch = "aten::_euclidean_dist", .operands = "0.0 2.0", .note = kDistanceNote},
    {.calls = "mul sum.dim_IntList mul sum.dim_IntList mul sum.dim_IntList mul sqrt maximum div",
     .torch = "aten::cosine_similarity", .operands = "0.0 0.1 1.1"},
    {.calls = "linalg_vector_norm linalg_vector_norm contiguous clamp_min contiguous clamp_min div "
              "div mul sum.dim_IntList",
     .torch = "aten::cosine_similarity", .operands = "0.0 1.0 9.1"},
    // By a table of places for each axis; of sizes that do not divide also a mask and a count.
    {.calls = "index mean.dim", .torch = "aten::_adaptive_avg_pool2d", .operands = "0.0",
     .windows = true},
    {.calls = "index masked_fill masked_fill? select|add* div",
     .torch = "aten::_adaptive_avg_pool2d", .operands = "0.0", .windows = true},
    // A step of the power iteration, then the weight over the largest singular value.
    {.calls = "view mv linalg_vector_norm clamp_min expand div transpose mv linalg_vector_norm "
              "clamp_min expand div contiguous mv contiguous dot div",
     .torch = "footprint::spectral_norm", .operands = "0.0 1.1", .state_suffix = "_v _u"},
    {.calls = "mv linalg_vector_norm clamp_min expand div transpose mv linalg_vector_norm "
              "clamp_min expand div contiguous mv contiguous dot div",
     .torch = "footprint::spectral_norm", .operands = "0.0 0.1", .state_suffix = "_v _u"},
    {.calls = "unsqueeze amax squeeze", .torch = "aten::adaptive_max_pool1d", .operands = "0.0",
     .pools = true},
    {.calls = "amax", .torch = "aten::adaptive_max_pool2d", .operands = "0.0", .pools = true},
    {.calls = "var sqrt", .torch = "aten::std", .operands = "0.0 0.1 0.2 0.3"},
    {.calls = "slice slice? cat slice slice? cat", .torch = "aten::_pad_circular",
     .operands = "0.0", .wraps = true},
    {.calls = "slice slice cat", .torch = "aten::_pad_circular", .operands = "0.0",
     .wraps = true},
    {.calls = "_upsample_nearest_exact2d _upsample_nearest_exact2d sub mul add",
     .torch = "aten::upsample_linear1d", .operands = "0.0"},
};

}  // namespace

absl::Span<const CallRun> CallRuns() { return kRuns; }

}  // namespace footprint
