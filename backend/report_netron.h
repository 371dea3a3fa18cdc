// An attachment for the model viewer Netron: opened beside the model, it shows the bytes of each
// value and weight and what each node's outputs take, beside their other properties.
#ifndef FOOTPRINT_BACKEND_REPORT_NETRON_H_
#define FOOTPRINT_BACKEND_REPORT_NETRON_H_

#include <string>

#include "backend/report.h"

namespace footprint {

std::string NetronAttachment(const Report& report);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_NETRON_H_
