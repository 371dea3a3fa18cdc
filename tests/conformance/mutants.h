// Analyzes damaged models.
#ifndef FOOTPRINT_TESTS_CONFORMANCE_MUTANTS_H_
#define FOOTPRINT_TESTS_CONFORMANCE_MUTANTS_H_

#include <cstdint>
#include <string>

namespace footprint {

// Each model below `folder`, damaged in `count` ways, is analyzed as a whole, in a process of its
// own: there must be a report or a failure that says why. Prints what came of them and where a
// mutant is kept that came to neither (a crash, no message, an endless time); returns how many.
int64_t RunMutants(const std::string& folder, uint32_t count);

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_CONFORMANCE_MUTANTS_H_
