// Figures that several writers derive from a report.
#ifndef FOOTPRINT_BACKEND_FIGURES_H_
#define FOOTPRINT_BACKEND_FIGURES_H_

#include <array>
#include <cstdint>
#include <string>

#include "backend/report.h"

namespace footprint {

// The members of CategoryBytes by the names that reports give categories.
struct CategoryField {
  const char* name;
  int64_t CategoryBytes::*bytes;
};
inline constexpr std::array<CategoryField, 10> kCategoryFields = {{
    {"parameter", &CategoryBytes::parameter},
    {"buffer", &CategoryBytes::buffer},
    {"constant", &CategoryBytes::constant},
    {"input", &CategoryBytes::input},
    {"saved_activation", &CategoryBytes::saved_activation},
    {"transient", &CategoryBytes::transient},
    {"gradient", &CategoryBytes::gradient},
    {"activation_gradient", &CategoryBytes::activation_gradient},
    {"optimizer_state", &CategoryBytes::optimizer_state},
    {"workspace", &CategoryBytes::workspace},
}};

// What a layer stands for in layer tables: what it stores, keeps for backward and trains with; the
// outputs that nobody keeps only where there is no training.
int64_t LayerBytes(const CategoryBytes& bytes, bool training);

// "in backward, at ConvolutionBackward0 of /conv1/Conv, layer conv1"
std::string PlaceOf(const Peak& peak);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_FIGURES_H_
