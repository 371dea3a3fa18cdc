#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "backend/cli/run.h"

namespace {

// One run that ends: memory is asked for in large steps, on large pages where the kernel has them
// (most of the time of a small analysis would be page faults), and what is freed is never handed
// back.
void TuneAllocator() {
  constexpr size_t kStep = 64 << 20;
  constexpr size_t kLargePage = 2 << 20;
  mallopt(M_MXFAST, 0);
  mallopt(M_TOP_PAD, kStep);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  void* volatile block = malloc(kLargePage);  // what is never looked at is left out by compilers
  free(block);
  char* end = static_cast<char*>(sbrk(0));
  end -= reinterpret_cast<std::uintptr_t>(end) % kLargePage;
  madvise(end - kStep, kStep, MADV_HUGEPAGE);
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe and a full disk are errors with a message, not a silent end.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  TuneAllocator();
  return footprint::Run(std::vector<std::string>(argv + 1, argv + argc));
}
