#include "backend/cli/completion.h"

#include <CLI/CLI.hpp>
#include <variant>
#include <vector>

#include "backend/bytes.h"
#include "backend/cli/formats.h"
#include "backend/devices.h"
#include "backend/gate.h"

namespace footprint {
namespace {

struct OptionWords {
  std::string name;     // "--mode"
  std::string help;     // first sentence, without quotes
  std::string choices;  // "training inference both"; empty: a file or free text
  bool is_flag = false;
};

// "training|inference|both" -> "training inference both"; other types have no list of values.
std::string ChoicesOf(const std::string& type) {
  if (type.find('|') == std::string::npos) return "";
  for (const char c : type) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '|' || c == '-' ||
                       c == ':';
    if (!plain && c != '.') return "";
  }
  std::string words;
  for (const std::string& word : CLI::detail::split(type, '|')) {
    if (word != "...") words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

// Of options whose values are names from a list.
std::string NamesFor(const std::string& option) {
  std::vector<std::string> names;
  if (option == "optimizer") {
    names = OptimizerNames();
  } else if (option == "device") {
    const std::variant<DeviceTable, DeviceError> table = LoadDevices("");
    for (const Device& device : std::get<DeviceTable>(table).devices) names.push_back(device.name);
  } else if (option == "format") {
    for (const FormatInfo& info : AllFormats()) names.emplace_back(info.name);
  } else if (option == "budget" || option == "fail-on") {
    for (const std::string& subject : BudgetSubjects()) {
      if (subject.find(':') == std::string::npos) names.push_back(subject);
    }
  } else if (option == "checkpoint") {
    names = {"sqrt", "every:", "glob:"};
  }
  std::string words;
  for (const std::string& name : names) words += (words.empty() ? "" : " ") + name;
  return words;
}

std::string Plain(const std::string& help) {
  std::string text;
  for (const char c : help.substr(0, help.find(';'))) {
    if (c != '\'' && c != '"' && c != '`' && c != '[' && c != ']' && c != ':') text += c;
  }
  return text;
}

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

std::vector<OptionWords> OptionsOf(const CLI::App& command) {
  std::vector<OptionWords> options;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->nonpositional()) continue;
    const std::string& name = option->get_lnames().front();
    const std::string names = NamesFor(name);
    options.push_back({"--" + name, Plain(option->get_description()),
                       names.empty() ? ChoicesOf(option->get_type_name()) : names,
                       option->get_items_expected_max() == 0});
  }
  return options;
}

std::string Bash(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : CommandsOf(app)) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    std::string names;
    for (const OptionWords& option : OptionsOf(*command)) {
      names += (names.empty() ? "" : " ") + option.name;
      if (option.choices.empty()) continue;
      cases += "    " + command->get_name() + option.name + ") words=\"" + option.choices +
               "\" ;;\n";
    }
    cases += "    " + command->get_name() + "--*) [[ $current == -* ]] && words=\"" + names +
             "\" ;;\n    " + command->get_name() + "*) [[ $current == -* ]] && words=\"" + names +
             "\" ;;\n";
  }
  return "_footprint() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} words=\n"
         "  if [[ $COMP_CWORD == 1 ]]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         commands +
         " --help --version\" -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]}${COMP_WORDS[COMP_CWORD-1]} in\n" +
         cases +
         "  esac\n"
         "  if [[ -n $words ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _footprint footprint\n";
}

std::string Zsh(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : CommandsOf(app)) {
    commands += "    '" + command->get_name() + ":" + Plain(command->get_description()) + "'\n";
    cases += "    " + command->get_name() + ")\n      _arguments \\\n";
    for (const OptionWords& option : OptionsOf(*command)) {
      cases += "        '*" + option.name + "[" + option.help + "]" +
               (option.is_flag ? ""
                : option.choices.empty() ? ":value:_files"
                                         : ":value:(" + option.choices + ")") +
               "' \\\n";
    }
    cases += "        '*:file:_files'\n      ;;\n";
  }
  return "#compdef footprint\n"
         "local -a commands=(\n" +
         commands +
         ")\n"
         "if (( CURRENT == 2 )); then\n"
         "  _describe command commands\n"
         "else\n"
         "  local command=$words[2]\n"
         "  shift words; (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "fi\n";
}

std::string Fish(const CLI::App& app) {
  std::string script;
  for (const CLI::App* command : CommandsOf(app)) {
    const std::string& name = command->get_name();
    script += "complete -c footprint -n __fish_use_subcommand -a " + name + " -d '" +
              Plain(command->get_description()) + "'\n";
    for (const OptionWords& option : OptionsOf(*command)) {
      script += "complete -c footprint -n '__fish_seen_subcommand_from " + name + "' -l " +
                option.name.substr(2) + (option.is_flag ? "" : " -r") + " -d '" + option.help +
                "'" + (option.choices.empty() ? "" : " -f -a '" + option.choices + "'") + "\n";
    }
  }
  return script;
}

}  // namespace

std::optional<std::string> CompletionScript(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return Bash(app);
  if (shell == "zsh") return Zsh(app);
  if (shell == "fish") return Fish(app);
  return std::nullopt;
}

}  // namespace footprint
