// Roles: which stored constant is a parameter, a buffer of the module, or neither; what trains.
#ifndef FOOTPRINT_PASSES_ROLES_H_
#define FOOTPRINT_PASSES_ROLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/diagnostic.h"
#include "ir/graph.h"
#include "ir/provenance.h"

namespace footprint {

enum class Role : uint8_t {
  kNone,       // not stored: inputs and computed values
  kParameter,  // trained, or would be if it were not frozen
  kBuffer,     // running statistics, masks, tables
  kConstant,   // shape arithmetic, scalars, exporters' fillers
  kUnused,     // stored in the file, read by nobody
};

struct Roles {
  // For every constant, and for the output of an Identity that gives a tensor of the module that
  // was merged with an equal one its name and bytes back.
  IdVector<ValueId, Role> of;
  IdVector<ValueId, bool> trainable;  // parameters that take a gradient
  // Names of frozen parameters, of those too that the module has and the file has no tensor for.
  absl::flat_hash_set<std::string> frozen;

  // Another value for a constant that an earlier one has: a function's, in each call.
  IdVector<ValueId, bool> is_repeated;
  // Scales and zero points of quantized tensors: they take bytes, but are no weights.
  IdVector<ValueId, bool> is_quantization;
  // How many weights constants hold of which an element is not one: several packed into a byte.
  absl::flat_hash_map<ValueId, int64_t> packed_weights;

  // Of a parameter, the first time it occurs; `value` may be invalid: one of the module that the
  // file does not hold.
  int64_t WeightCount(ValueId value, int64_t elements) const;
  bool IsParameter(ValueId value) const { return of[value] == Role::kParameter; }
  bool IsStored(ValueId value) const { return of[value] != Role::kNone; }
};

// `freeze`: shell patterns on parameter names; one that matches no name in the file is held against
// names without a leading wrapper component ("m."). Matching nothing is a usage error.
Roles AssignRoles(const Graph& graph, const Provenance& provenance,
                  const std::vector<std::string>& freeze, DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_ROLES_H_
