// Globs on layers: the one rule by which every option that names layers finds them.
#ifndef FOOTPRINT_IR_LAYER_GLOB_H_
#define FOOTPRINT_IR_LAYER_GLOB_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace footprint {

// The path of a scope as PyTorch names the module: "layer1/layer1.0/conv1" -> "layer1.0.conv1".
std::string ModuleName(absl::string_view path);

// Whether a component of a path is an element of a list of modules: "3", "layer1.0".
bool IsNumbered(absl::string_view component);

// Whether a shell glob (fnmatch) matches the path of a scope, as reports print it or as PyTorch
// names the module, each with and without a leading wrapper ("m.layer1").
bool MatchesLayer(const std::string& pattern, const std::string& path);

// DidYouMean() for a glob that matches none of `paths`.
std::string DidYouMeanLayer(const std::string& pattern, std::vector<std::string> paths);

}  // namespace footprint

#endif  // FOOTPRINT_IR_LAYER_GLOB_H_
