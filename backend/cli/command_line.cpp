// CLI11 splits the arguments into options and their values; everything it cannot know, what a value
// means and what to suggest for a wrong one, is done on its result.
#include "backend/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/cli/completion.h"
#include "backend/cli/config_file.h"
#include "backend/cli/convert.h"
#include "backend/cli/flags.h"
#include "backend/cli/many.h"
#include "backend/cli/man_page.h"
#include "ir/suggest.h"

namespace footprint {
namespace {

Failure UsageFailure(std::string kind, std::string place, std::string message) {
  UsageErrors errors;
  errors.Add(std::move(kind), std::move(place), std::move(message));
  return errors.Take();
}

std::vector<std::string> NamesOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->nonpositional()) names.push_back("--" + option->get_lnames().front());
  }
  for (const CLI::App* subcommand : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

std::string HelpHint(const CLI::App& command) {
  const bool top = command.get_parent() == nullptr;
  return std::string("; see footprint ") + (top ? "" : command.get_name() + " ") + "--help";
}

bool IsOption(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

// A word that nothing expects. Behind a command options come first: a value may follow them, which
// would be no surprise if the option were known.
std::optional<Failure> RefuseExtras(const CLI::App& command) {
  const std::vector<std::string> extras = command.remaining();
  if (extras.empty()) return std::nullopt;
  const bool top = command.get_parent() == nullptr;
  const auto option = std::find_if(extras.begin(), extras.end(), IsOption);
  const std::string word = option == extras.end() || top ? extras.front() : *option;
  const std::string hint =
      DidYouMean(word.substr(0, word.find('=')), NamesOf(command)) + HelpHint(command);
  if (IsOption(word)) {
    return UsageFailure("unknown-option", word.substr(0, word.find('=')), "no such option" + hint);
  }
  if (top) return UsageFailure("unknown-command", word, "no such command" + hint);
  return UsageFailure("unexpected-argument", word, "one too many" + HelpHint(command));
}

// "batch=32" -> "batch="; a text without a name is its own.
std::string_view NamePart(std::string_view text) { return text.substr(0, text.find('=') + 1); }

// Adds those of `values` that the command line leaves open. An option of several NAME=VALUE is open
// name by name, any other as a whole.
void Fill(CLI::Option& option, const std::vector<std::string>& values) {
  const std::vector<std::string> given = option.results();
  const bool has_names = option.get_type_name().starts_with("NAME=") ||
                         option.get_type_name().starts_with("SUBJECT=");
  if (!given.empty() && !has_names) return;
  for (const std::string& value : values) {
    const bool is_given = std::any_of(given.begin(), given.end(), [&](const std::string& text) {
      return NamePart(text) == NamePart(value);
    });
    if (!is_given) option.add_result(value);
  }
  if (option.count() > given.size()) option.run_callback();
}

std::optional<std::filesystem::path> ConfigAbove(const std::filesystem::path& model) {
  std::error_code error;
  return FindConfig(std::filesystem::absolute(model, error).parent_path());
}

// One configuration holds for all models of a call: nothing if they have none, or not the same.
std::optional<std::filesystem::path> ConfigOfAll(const Flags& flags, UsageErrors& errors) {
  std::set<std::filesystem::path> folders;
  std::optional<std::filesystem::path> first;
  std::vector<std::string> missing;
  for (const std::string& model : FindModels(flags.models, missing)) {
    if (!folders.insert(std::filesystem::path(model).parent_path()).second) continue;
    const std::optional<std::filesystem::path> config = ConfigAbove(model);
    if (folders.size() == 1) first = config;
    if (config == first) continue;
    const auto name = [](const auto& path) { return path ? path->string() : "none"; };
    errors.Add("bad-config", model,
               "its configuration is " + name(config) + ", that of the models before it " +
                   name(first) + ": analyze them apart, or choose with --config FILE or "
                   "--config none");
    return std::nullopt;
  }
  return first;
}

std::optional<std::filesystem::path> ConfigOf(const Flags& flags, UsageErrors& errors) {
  if (flags.config == "none") return std::nullopt;
  if (!flags.config.empty()) return flags.config;
  if (AreMany(flags.models)) return ConfigOfAll(flags, errors);
  // Of two models the new one decides for both.
  std::filesystem::path model = flags.before.empty() ? flags.model : flags.before;
  if (!flags.after.empty() && !flags.after.ends_with(".json")) model = flags.after;
  if (!flags.models.empty()) model = flags.models.front();
  if (model == "-") return std::nullopt;
  return ConfigAbove(model);
}

// What the configuration file says goes where the command line says nothing.
void ApplyConfig(CLI::App& command, const CLI::App& analyze, Flags& flags, UsageErrors& errors) {
  const std::optional<std::filesystem::path> path = ConfigOf(flags, errors);
  if (!path) return;
  std::vector<std::string> given;
  for (ConfigEntry& entry : ReadConfig(*path, errors)) {
    const std::string name = "--" + entry.option;
    if (entry.option == "dim") {
      flags.default_dims = std::move(entry.values);
    } else if (analyze.get_option_no_throw(name) == nullptr) {
      errors.Add("bad-config", path->string() + ": " + entry.option,
                 "analyze has no option --" + entry.option +
                     DidYouMean(name, NamesOf(analyze)));
    } else if (entry.option == "config" || entry.option == "help" || entry.option == "output") {
      errors.Add("bad-config", path->string() + ": " + entry.option, "is for the command line");
    } else if (CLI::Option* option = command.get_option_no_throw(name)) {
      if (option->count() == 0) given.push_back(name);
      Fill(*option, entry.values);
    }
  }
  errors.ComeFrom(path->string(), std::move(given));
}

void NoteTrainingOptions(const CLI::App& command, Flags& flags) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_group() != kTrainingGroup) continue;
    flags.training_options.push_back("--" + option->get_lnames().front());
  }
}

// Behind "--" every word is a name, whatever it begins with.
std::vector<std::string> TakeNames(std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (end == arguments.end()) return {};
  std::vector<std::string> names(end + 1, arguments.end());
  arguments.erase(end, arguments.end());
  return names;
}

std::optional<Failure> PlaceNames(const CLI::App& app, const std::vector<std::string>& names,
                                  Flags& flags) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "" : chosen.front()->get_name();
  std::vector<std::string*> places;
  if (command == "analyze") {
    flags.models.insert(flags.models.end(), names.begin(), names.end());
    return std::nullopt;
  }
  if (command == "explain") places = {&flags.model, &flags.tensor};
  if (command == "diff") places = {&flags.before, &flags.after};
  std::erase_if(places, [](const std::string* place) { return !place->empty(); });
  for (size_t i = 0; i < names.size(); ++i) {
    if (i >= places.size()) return UsageFailure("unexpected-argument", names[i], "one too many");
    *places[i] = names[i];
  }
  return std::nullopt;
}

template <typename Convert>
std::variant<Command, Failure> ConvertWith(Convert convert, const Flags& flags,
                                           UsageErrors errors = {}) {
  Command command = convert(flags, errors);
  if (!errors.empty()) return errors.Take();
  return command;
}

std::variant<Command, Failure> Dispatch(const CLI::App& app, Flags& flags) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::string name = chosen.empty() ? "" : chosen.front()->get_name();
  if (std::optional<Failure> failure = RefuseExtras(app)) return *failure;
  if (chosen.empty()) {
    return UsageFailure("missing-argument", "",
                        "say what to do: footprint analyze MODEL, or "
                        "footprint --help");
  }
  if (std::optional<Failure> failure = RefuseExtras(*chosen.front())) return *failure;
  if (name == "man") return PrintCommand{ManPage(app)};
  if (name == "completion") {
    const std::optional<std::string> script = CompletionScript(app, flags.shell);
    if (script) return PrintCommand{*script};
    return UsageFailure("bad-value", "SHELL " + flags.shell, "expected bash, zsh or fish");
  }
  NoteTrainingOptions(*chosen.front(), flags);
  if (name == "bytes") return ConvertWith(ConvertBytes, flags);
  if (name == "ops") return ConvertWith(ConvertOps, flags);
  UsageErrors errors;
  ApplyConfig(*chosen.front(), *app.get_subcommand("analyze"), flags, errors);
  if (name == "explain") return ConvertWith(ConvertExplain, flags, std::move(errors));
  if (name == "diff") return ConvertWith(ConvertDiff, flags, std::move(errors));
  return ConvertWith(ConvertAnalyze, flags, std::move(errors));
}

// An option with nothing behind it ("--device $UNSET") would silently be none.
std::optional<Failure> RefuseEmpty(const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool behind = word.empty() && i > 0 && IsOption(arguments[i - 1]);
    if (!behind && !(IsOption(word) && word.ends_with("=") && word.find('=') + 1 == word.size())) {
      continue;
    }
    const std::string& option = behind ? arguments[i - 1] : word;
    return UsageFailure("bad-value", option.substr(0, option.find('=')),
                        "expected a value; it is empty");
  }
  return std::nullopt;
}

// "--depth: At Most 1 required but received 2", "--dim: 1 required NAME=INT missing"
Failure WrongCount(const std::string& said) {
  const bool twice = said.find("At Most") != std::string::npos;
  return UsageFailure("bad-usage", said.substr(0, said.find(':')),
                      twice ? "is given more than once" : "expected a value behind it");
}

}  // namespace

std::variant<Command, Failure> ParseCommandLine(const std::vector<std::string>& given) {
  std::vector<std::string> arguments = given;
  const std::vector<std::string> names = TakeNames(arguments);
  if (std::optional<Failure> failure = RefuseEmpty(arguments)) return *failure;
  CLI::App app("", "footprint");
  Flags flags;
  app.set_version_flag("--version", "footprint " FOOTPRINT_VERSION);
  app.get_formatter()->column_width(36);
  AddCommands(app, flags);
  app.require_subcommand(0, 1);
  app.allow_extras();
  for (CLI::App* subcommand : app.get_subcommands([](CLI::App*) { return true; })) {
    subcommand->allow_extras();
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return PrintCommand{app.help()};
  } catch (const CLI::CallForVersion& version) {
    return PrintCommand{std::string(version.what()) + "\n"};
  } catch (const CLI::ArgumentMismatch& error) {
    return WrongCount(error.what());
  } catch (const CLI::ParseError& error) {
    return UsageFailure("bad-usage", "", error.what());
  }
  if (std::optional<Failure> failure = PlaceNames(app, names, flags)) return *failure;
  return Dispatch(app, flags);
}

Format FormatOfFailure(const std::vector<std::string>& arguments) {
  constexpr std::string_view kOption = "--format";
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    std::string_view given = arguments[i];
    if (given == kOption && i + 1 < arguments.size()) {
      given = arguments[i + 1];
    } else if (given.starts_with(kOption) && given.substr(kOption.size(), 1) == "=") {
      given.remove_prefix(kOption.size() + 1);
    } else {
      continue;
    }
    for (const Format format : {Format::kJson, Format::kSarif, Format::kJunit}) {
      if (given == InfoOf(format).name) return format;
    }
  }
  return Format::kText;
}

}  // namespace footprint
