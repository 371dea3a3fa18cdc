// Whether a node has the inputs, outputs and attributes that its operator takes.
#ifndef FOOTPRINT_IR_OPS_ONNX_NODE_CHECK_H_
#define FOOTPRINT_IR_OPS_ONNX_NODE_CHECK_H_

#include <string>

#include "ir/graph.h"

namespace footprint {

// Empty, or what is wrong: "expected 2 inputs; found 1". Nodes without a row are not checked.
std::string CheckNode(const Node& node);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_NODE_CHECK_H_
