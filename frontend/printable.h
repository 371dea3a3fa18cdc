// Text from a file, made fit for a message.
#ifndef FOOTPRINT_FRONTEND_PRINTABLE_H_
#define FOOTPRINT_FRONTEND_PRINTABLE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// Control characters escaped, long text cut in the middle.
std::string Printable(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_PRINTABLE_H_
