// Completion scripts for shells, made from the commands and options that there are.
#ifndef FOOTPRINT_BACKEND_CLI_COMPLETION_H_
#define FOOTPRINT_BACKEND_CLI_COMPLETION_H_

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace footprint {

// `shell`: bash, zsh or fish; nullopt for any other.
std::optional<std::string> CompletionScript(const CLI::App& app, const std::string& shell);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_COMPLETION_H_
