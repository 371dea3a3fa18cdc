// Prints the bytes of a model's parameters: consumer MODEL
#include <footprint/analyze.h>

#include <iostream>
#ifdef OWN_ONNX
#include <onnx/onnx_pb.h>

#include <fstream>
#endif

int main(int, char** argv) {
  footprint::Options options;
  options.model_path = argv[1];
  const auto result = footprint::Analyze(options);
  const auto* report = std::get_if<footprint::Report>(&result);
  if (report == nullptr) return 1;
  std::cout << report->parameter_bytes << " bytes of parameters\n";
#ifdef OWN_ONNX
  onnx::ModelProto model;
  std::ifstream file(argv[1], std::ios::binary);
  if (!model.ParseFromIstream(&file)) return 1;
  std::cout << model.graph().node_size() << " nodes\n";
#endif
  return 0;
}
