// Analyzes damaged models.
#ifndef FOOTPRINT_TESTS_CONFORMANCE_MUTANTS_H_
#define FOOTPRINT_TESTS_CONFORMANCE_MUTANTS_H_

#include <cstdint>
#include <string>

namespace footprint {

// Each model below `folder`, damaged in `count` ways, is analyzed as a whole: there must be a report
// or a failure that says why. Prints what came of them; the number of mutants that came to neither
// (an exception, no message, or an endless time). A mutant that ends the process is left in the
// file that was printed last with --verbose.
int64_t RunMutants(const std::string& folder, uint32_t count, bool verbose);

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_CONFORMANCE_MUTANTS_H_
