// Flags: what the user typed, word for word. CLI11 fills them; convert.h turns them into a command.
#ifndef FOOTPRINT_BACKEND_CLI_FLAGS_H_
#define FOOTPRINT_BACKEND_CLI_FLAGS_H_

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace footprint {

struct Flags {
  std::vector<std::string> models;  // of analyze
  std::string model;                // of the other commands
  std::string mode = "both";
  std::vector<std::string> dims;
  std::vector<std::string> default_dims;  // of the configuration file
  std::string config;                     // empty: the nearest footprint.toml
  std::vector<std::string> inputs;
  std::vector<std::string> input_values;
  std::string optimizer;  // empty: not given
  std::string precision = "fp32";
  std::string loss = "auto";
  std::vector<std::string> freeze;
  std::string attention = "auto";
  std::string modules = "recomposed";
  std::string checkpoint;
  std::string accumulate = "1";
  std::string step_inputs = "kept";
  std::string tensor;
  std::string before;
  std::string after;
  std::vector<std::string> fail_on;
  std::string shell;
  std::string device;
  std::string device_memory;
  std::string allocator = "native";
  std::string runtime = "both";
  std::string graph_optimization = "all";
  std::string accounting = "autograd";
  std::string grad_scaler = "auto";
  std::string device_file;
  std::string params;
  std::vector<std::string> formats;
  std::string output;
  std::string dump;
  std::vector<std::string> budgets;
  std::string fit;
  std::string depth;
  std::vector<std::string> training_options;  // those of that group that were given: "--loss"
  bool strict = false;
  bool torch = false;
  bool quiet = false;
  std::string color = "auto";
};

// The group of options that say how the model is trained.
constexpr const char* kTrainingGroup = "Training";

// Adds every subcommand with its options, filling `flags` on parse.
void AddCommands(CLI::App& app, Flags& flags);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_FLAGS_H_
