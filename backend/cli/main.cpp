#include <signal.h>

#include <string>
#include <vector>

#include "backend/cli/run.h"

int main(int argc, char** argv) {
  // A closed pipe and a full disk are errors with a message, not a silent end.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  return footprint::Run(std::vector<std::string>(argv + 1, argv + argc));
}
