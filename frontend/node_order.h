// Orders in which the nodes of a file can run that does not list them in one.
#ifndef FOOTPRINT_FRONTEND_NODE_ORDER_H_
#define FOOTPRINT_FRONTEND_NODE_ORDER_H_

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "onnx/onnx_pb.h"

namespace footprint {

using NodeList = google::protobuf::RepeatedPtrField<ONNX_NAMESPACE::NodeProto>;
// By list of nodes (the top graph's, a body's, a function's): their positions in an order in which
// each stands behind those whose outputs it or its bodies read.
using NodeOrders = absl::flat_hash_map<const NodeList*, std::vector<int>>;

// The orders change as little as they can: a node moves to before the first that needs it.
// nullopt: there is none, nodes read each other's outputs in a circle.
std::optional<NodeOrders> OrderNodes(const ONNX_NAMESPACE::ModelProto& model);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_NODE_ORDER_H_
