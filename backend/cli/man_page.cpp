#include "backend/cli/man_page.h"

#include <CLI/CLI.hpp>
#include <string_view>

#include "absl/strings/ascii.h"

namespace footprint {
namespace {

// Text as roff prints it: no macro at the beginning of a line, no escape, no hyphenated option.
std::string Roff(std::string_view text) {
  std::string escaped;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') escaped += "\\e";
    if (c == '-') escaped += '\\';
    if (c != '\\') escaped += c;
    at_start = c == '\n';
  }
  return escaped;
}

std::string Verbatim(const std::string& text) { return ".nf\n" + Roff(text) + "\n.fi\n"; }

std::string OptionList(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name =
        option->nonpositional() ? "--" + option->get_lnames().front() : option->get_name();
    text += ".TP\n.B " + Roff(name) + "\n";
    if (option->nonpositional() && !option->get_type_name().empty() &&
        option->get_items_expected_max() > 0) {
      text += ".I " + Roff(option->get_type_name()) + "\n.br\n";
    }
    text += Roff(option->get_description()) + "\n";
  }
  return text;
}

}  // namespace

std::string ManPage(const CLI::App& app) {
  std::string text = ".TH FOOTPRINT 1 \"\" \"footprint " FOOTPRINT_VERSION "\"\n.ad l\n.SH NAME\n";
  text += "footprint \\- what a neural network needs in memory, from its ONNX file alone\n";
  text += ".SH SYNOPSIS\n";
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : commands) {
    text += ".B footprint " + Roff(command->get_name()) + "\n.RI [ options ]\n.br\n";
  }
  text += ".SH DESCRIPTION\n" + Roff(app.get_description()) + "\n";
  for (const CLI::App* command : commands) {
    text += ".SH FOOTPRINT " + Roff(absl::AsciiStrToUpper(command->get_name())) + "\n" +
            Roff(command->get_description()) + "\n" + OptionList(*command);
    if (!command->get_footer().empty()) text += ".PP\n" + Verbatim(command->get_footer());
  }
  return text + ".SH EXAMPLES\n" + Verbatim(app.get_footer());
}

}  // namespace footprint
