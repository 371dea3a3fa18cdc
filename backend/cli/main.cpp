#include <malloc.h>
#include <signal.h>

#include <string>
#include <vector>

#include "backend/cli/run.h"

int main(int argc, char** argv) {
  // A closed pipe and a full disk are errors with a message, not a silent end.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  // One run that ends: memory is asked for in large steps, and what is freed is never handed back.
  mallopt(M_MXFAST, 0);
  mallopt(M_TOP_PAD, 16 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  return footprint::Run(std::vector<std::string>(argv + 1, argv + argc));
}
