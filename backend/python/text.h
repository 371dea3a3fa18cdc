// std::string as Python's str. Names in a model need not be UTF-8; what is not is replaced, as in
// the JSON document. Names of files come as os.fsdecode gives them, whatever their bytes. Takes the
// place of nanobind/stl/string.h, which would refuse to convert them.
#ifndef FOOTPRINT_BACKEND_PYTHON_TEXT_H_
#define FOOTPRINT_BACKEND_PYTHON_TEXT_H_

#include <nanobind/nanobind.h>

#include <string>

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* text = PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape");
    if (text == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.assign(PyBytes_AS_STRING(text), static_cast<size_t>(PyBytes_GET_SIZE(text)));
    Py_DECREF(text);
    return true;
  }
  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  }
};

}  // namespace nanobind::detail

#endif  // FOOTPRINT_BACKEND_PYTHON_TEXT_H_
