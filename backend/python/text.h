// std::string as Python's str. Names in a model need not be UTF-8; what is not is replaced, as in
// the JSON document. Takes the place of nanobind/stl/string.h, which would refuse to convert them.
#ifndef FOOTPRINT_BACKEND_PYTHON_TEXT_H_
#define FOOTPRINT_BACKEND_PYTHON_TEXT_H_

#include <nanobind/nanobind.h>

#include <string>

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
    if (text == nullptr) {
      PyErr_Clear();
      return false;
    }
    value = std::string(text, static_cast<size_t>(size));
    return true;
  }
  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  }
};

}  // namespace nanobind::detail

#endif  // FOOTPRINT_BACKEND_PYTHON_TEXT_H_
