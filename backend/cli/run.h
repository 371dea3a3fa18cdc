// Runs one command: its documents to standard output or files, its complaints to standard error.
#ifndef FOOTPRINT_BACKEND_CLI_RUN_H_
#define FOOTPRINT_BACKEND_CLI_RUN_H_

#include <string>
#include <vector>

namespace footprint {

// The exit code: 0 ok, 2 the model is wrong, 3 the command, a file's access or a binding is wrong.
int Run(const std::vector<std::string>& arguments);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_RUN_H_
