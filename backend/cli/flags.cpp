#include "backend/cli/flags.h"

#include <CLI/CLI.hpp>

namespace footprint {
namespace {

constexpr const char* kExamples = R"(Examples:
  footprint analyze resnet50.onnx --dim batch=32 --optimizer adamw
  footprint analyze gpt2.onnx --dim batch=8 --dim sequence=1024 --precision bf16
  footprint analyze model.onnx --mode inference --format json > report.json
  footprint bytes --params 7B --optimizer adamw)";

constexpr const char* kAnalyzeExamples = R"(Examples:
  footprint analyze resnet50.onnx --dim batch=32 --optimizer adamw
  footprint analyze bert.onnx --input input_ids=[8,512] --depth 4
  footprint analyze model.onnx --freeze 'encoder.*' --mode training
  footprint analyze gpt2.onnx --accounting textbook --params 1.5B --optimizer adam
  footprint analyze model.onnx --format text --format json --output reports/
  footprint analyze model.onnx --budget peak=24GiB --budget 'layer:encoder.*=2GiB'
  footprint analyze models/ --mode inference --format json --output reports/
  cat model.onnx | footprint analyze - --format json

Exit codes: 0 a report was written; 1 it was, and a budget is broken; 2 the model is wrong; 3 the
command, a file's access or a binding is wrong.)";

constexpr const char* kDiffExamples = R"(Examples:
  footprint diff old.onnx new.onnx --dim batch=32
  footprint diff main.json branch.json --fail-on 'peak>+2%' --format markdown

Sides that were analyzed with other bindings or options cannot be compared: exit code 3.)";

constexpr const char* kCompletionExamples = R"(Examples:
  source <(footprint completion bash)
  footprint completion zsh > "${fpath[1]}/_footprint"
  footprint completion fish > ~/.config/fish/completions/footprint.fish)";

constexpr const char* kBytesExamples = R"(Examples:
  footprint bytes --params 7B
  footprint bytes --params 1.5B --optimizer adamw --format json)";

constexpr const char* kExplainExamples = R"(Examples:
  footprint explain resnet50.onnx /layer1/layer1.0/relu/Relu_output_0 --dim batch=32
  footprint explain model.onnx fc.weight --mode training --format json)";

constexpr const char* kOpsExamples = R"(Examples:
  footprint ops
  footprint ops --torch --format json
  footprint ops --missing model.onnx)";

constexpr const char* kDiffFormats = "text|json|markdown";
constexpr const char* kTableFormats = "text|json";
constexpr const char* kReportFormats =
    "text|json|csv|csv:layers|...|markdown|html|netron|perfetto|sarif|junit";

CLI::Option* AddOne(CLI::App* command, const char* name, std::string& value, const char* type,
                    const char* help) {
  return command->add_option(name, value, help)->type_name(type);
}

// One value each time it is given, so that it never swallows the model's name.
CLI::Option* AddMany(CLI::App* command, const char* name, std::vector<std::string>& values,
                     const char* type, const char* help) {
  return command->add_option(name, values, help)
      ->type_name(type)
      ->type_size(1)
      ->allow_extra_args(false);
}

void AddOutput(CLI::App* command, Flags& flags, const char* formats) {
  AddMany(command, "--format", flags.formats, formats,
          "What to write; several formats need --output DIR (default: text)")
      ->group("Output");
  AddOne(command, "--output", flags.output, "FILE|DIR",
         "Where to write it instead of standard output")
      ->group("Output");
  AddOne(command, "--color", flags.color, "auto|always|never",
         "Whether text is styled (default: auto, where a terminal shows it; NO_COLOR is honoured)")
      ->group("Output");
  command->add_flag("--quiet", flags.quiet, "Nothing on standard error but errors")
      ->group("Output");
}

void AddAnalysisOptions(CLI::App* analyze, Flags& flags) {
  AddOne(analyze, "--mode", flags.mode, "training|inference|both",
         "What to analyze (default: both)");
  AddMany(analyze, "--dim", flags.dims, "NAME=INT",
          "Binds a dimension of the model; one that is not bound is 1, and said to be assumed. "
          "NAME=1..256, NAME=8..64:8 and NAME=1,2,4 evaluate many values");
  AddMany(analyze, "--input", flags.inputs, "NAME=[D0,D1,...]",
          "The shape of an input, in integers or names");
  AddMany(analyze, "--input-value", flags.input_values, "NAME=[...]|@FILE",
          "The contents of an input that decides shapes: as JSON, or in a .npy, .pb (TensorProto) "
          "or JSON file");
  AddOne(analyze, "--runtime", flags.runtime, "both|ideal|onnxruntime",
         "Whose reuse of buffers inference follows (default: both)");
  AddOne(analyze, "--graph-optimization", flags.graph_optimization, "none|all",
         "How far ONNX Runtime rewrites the graph before it runs it (default: all)");
  AddOne(analyze, "--config", flags.config, "FILE|none",
         "Defaults for these options (default: the nearest footprint.toml above the model)");
  analyze->add_flag("--strict", flags.strict, "Doubts about the result are errors");
}

constexpr const char* kModelHelp =
    "An .onnx, .onnxtxt or .textproto file, or - for standard input";

void AddModelOptions(CLI::App* analyze, Flags& flags) {
  AddAnalysisOptions(analyze, flags);
  AddOne(analyze, "--fit", flags.fit, "NAME",
         "The largest value of this dimension that fits the device, and what would make the value "
         "asked for fit");
  AddMany(analyze, "--budget", flags.budgets, "SUBJECT=SIZE",
          "The most that peak, parameters, saved, layer:GLOB, tensor ... may take; exit code 1 "
          "where one is broken");
  AddOne(analyze, "--device", flags.device, "NAME",
         "The device that a training step shall fit: a100-80gb, rtx-5090, ...");
  AddOne(analyze, "--device-file", flags.device_file, "FILE",
         "Adds devices to those that --device knows, in the form of backend/runtime/devices.txt");
  AddOne(analyze, "--device-memory", flags.device_memory, "SIZE",
         "Its memory, as in 24GiB or 80GB, instead of the nominal one");
}

void AddTrainingOptions(CLI::App* analyze, Flags& flags) {
  const auto group = [](CLI::Option* option) { option->group(kTrainingGroup); };
  group(AddOne(analyze, "--optimizer", flags.optimizer, "NAME",
               "adamw, sgd-momentum, adam:fused, adafactor, ... (default: adamw)"));
  group(AddOne(analyze, "--precision", flags.precision,
               "fp32|bf16|fp16|amp-bf16|amp-fp16|mixed:master",
               "How numbers are kept and computed (default: fp32); mixed:master is bf16 with "
               "float32 master weights"));
  group(AddOne(analyze, "--grad-scaler", flags.grad_scaler, "auto|on|off",
               "Whether the loss is scaled with GradScaler (default: auto, with amp-fp16 alone)"));
  group(AddOne(analyze, "--loss", flags.loss, "auto|none|cross-entropy|mse|sum",
               "The loss, where the model does not end in one (default: auto)"));
  group(AddMany(analyze, "--freeze", flags.freeze, "GLOB",
                "Parameters that are not trained, by name"));
  group(AddOne(analyze, "--attention", flags.attention, "auto|math|efficient|flash|cudnn",
               "The kernel of scaled dot-product attention (default: auto)"));
  group(AddOne(analyze, "--modules", flags.modules, "recomposed|as-exported",
               "Whether operators that an exporter took apart are put together again (default: "
               "recomposed)"));
  group(AddOne(analyze, "--checkpoint", flags.checkpoint, "glob:PATTERN|every:N|sqrt",
               "Layers that keep their inputs only and are computed again in backward"));
  group(AddOne(analyze, "--accumulate", flags.accumulate, "N",
               "Forward and backward passes per optimizer step (default: 1)"));
  group(AddOne(analyze, "--step-inputs", flags.step_inputs, "kept|dropped",
               "Whether inputs and loss are still referred to when the optimizer runs (default: "
               "kept)"));
  group(AddOne(analyze, "--allocator", flags.allocator, "native|expandable",
               "PyTorch's caching allocator, and the same with expandable segments (default: "
               "native)"));
  group(AddOne(analyze, "--accounting", flags.accounting, "autograd|graph|textbook",
               "autograd: what PyTorch keeps; graph: what the mathematics of the gradients needs, "
               "beside it; textbook: the closed forms of articles beside it (default: autograd)"));
  group(AddOne(analyze, "--params", flags.params, "COUNT",
               "Replaces the parameter count of --accounting textbook: 1.5B, 350M"));
}

void AddAnalyze(CLI::App& app, Flags& flags) {
  CLI::App* analyze = app.add_subcommand("analyze",
                                         "What a model needs: its parameters, "
                                         "activations, gradients, optimizer state "
                                         "and peak");
  analyze->add_option("MODEL", flags.models,
                      std::string(kModelHelp) +
                          "; several, a folder or a pattern give one table of all")
      ->type_name("");
  AddModelOptions(analyze, flags);
  AddTrainingOptions(analyze, flags);
  AddOutput(analyze, flags, kReportFormats);
  AddOne(analyze, "--depth", flags.depth, "N", "Folds the layer table of the text below this depth")
      ->group("Output");
  AddOne(analyze, "--dump", flags.dump, "STEP", "Prints what a step of the analysis made")
      ->group("Output");
  analyze->footer(kAnalyzeExamples);
}

void AddExplain(CLI::App& app, Flags& flags) {
  CLI::App* explain = app.add_subcommand(
      "explain", "Where a tensor's bytes come from, who keeps it, until when, on what evidence");
  AddOne(explain, "MODEL", flags.model, "", kModelHelp);
  AddModelOptions(explain, flags);
  AddOne(explain, "TENSOR", flags.tensor, "", "The name of a tensor in the model");
  AddTrainingOptions(explain, flags);
  AddOutput(explain, flags, kTableFormats);
  explain->footer(kExplainExamples);
}

void AddDiff(CLI::App& app, Flags& flags) {
  CLI::App* diff = app.add_subcommand("diff", "What changed between two models or saved reports");
  AddOne(diff, "OLD", flags.before, "", "A model, or a report saved by --format json (.json)");
  AddOne(diff, "NEW", flags.after, "", "Likewise");
  AddMany(diff, "--fail-on", flags.fail_on, "FIGURE>LIMIT",
          "Exit code 1 where a figure is over a limit: peak>+2%, parameters>+10MB, saved>24GiB");
  AddAnalysisOptions(diff, flags);
  AddTrainingOptions(diff, flags);
  AddOutput(diff, flags, kDiffFormats);
  diff->footer(kDiffExamples);
}

void AddBytes(CLI::App& app, Flags& flags) {
  CLI::App* bytes =
      app.add_subcommand("bytes", "What a number of parameters weighs, without a model");
  AddOne(bytes, "--params", flags.params, "COUNT", "1234567, 350M, 1.5B, 2T");
  AddOne(bytes, "--optimizer", flags.optimizer, "NAME",
         "Adds gradients and optimizer state: sgd, sgd-momentum, adamw, lion, ...");
  AddOutput(bytes, flags, kTableFormats);
  bytes->footer(kBytesExamples);
}

void AddOps(CLI::App& app, Flags& flags) {
  CLI::App* ops = app.add_subcommand(
      "ops", "The operators that footprint has rules for, and what it knows of each");
  ops->add_flag("--torch", flags.torch, "PyTorch's operators instead of ONNX's");
  AddOne(ops, "--missing", flags.model, "MODEL", "The operators of a model that have no rule");
  AddOutput(ops, flags, kTableFormats);
  ops->footer(kOpsExamples);
}

}  // namespace

void AddCommands(CLI::App& app, Flags& flags) {
  app.description("What a neural network needs in memory, from its ONNX file alone.");
  app.footer(kExamples);
  AddAnalyze(app, flags);
  AddBytes(app, flags);
  AddOps(app, flags);
  AddExplain(app, flags);
  AddDiff(app, flags);
  CLI::App* completion =
      app.add_subcommand("completion", "Prints a script that completes commands and options");
  AddOne(completion, "SHELL", flags.shell, "", "bash, zsh or fish");
  completion->footer(kCompletionExamples);
  app.add_subcommand("man", "Prints the manual page: footprint man | man -l -");
}

}  // namespace footprint
