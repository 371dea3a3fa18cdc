// The manual page, made from the help of the commands: footprint(1).
#ifndef FOOTPRINT_BACKEND_CLI_MAN_PAGE_H_
#define FOOTPRINT_BACKEND_CLI_MAN_PAGE_H_

#include <string>

namespace CLI {
class App;
}

namespace footprint {

// In the man macros of roff.
std::string ManPage(const CLI::App& app);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_MAN_PAGE_H_
