// Bind: what the caller says about dimensions and inputs, checked against the model.
#ifndef FOOTPRINT_BACKEND_BIND_H_
#define FOOTPRINT_BACKEND_BIND_H_

#include "backend/options.h"
#include "ir/diagnostic.h"
#include "ir/dim.h"
#include "ir/graph.h"
#include "passes/infer_shapes.h"

namespace footprint {

struct Bound {
  DimBindings dims;
  InferOptions inference;
};

// Unknown names, sizes below 0, contradictions and values that do not fit an input's type are usage
// errors in `sink`. A size given for a named dimension of an input binds that name everywhere.
Bound BindOptions(const Graph& graph, const Options& options, DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_BIND_H_
