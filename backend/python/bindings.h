// The parts of the extension module.
#ifndef FOOTPRINT_BACKEND_PYTHON_BINDINGS_H_
#define FOOTPRINT_BACKEND_PYTHON_BINDINGS_H_

#include <nanobind/nanobind.h>


namespace footprint {

// A struct of the report as a Python class: its members read only, under their own names. Like a
// dataclass it lists them in __match_args__ and shows them in its repr.
template <typename T>
class Record {
 public:
  Record(nanobind::module_& module, const char* name) : class_(module, name) {}

  template <typename Member>
  Record& Field(const char* name, Member T::*member) {
    class_.def_ro(name, member);
    names_.append(name);
    return *this;
  }
  nanobind::class_<T>& Done(bool shows_members = true) {
    class_.attr("__match_args__") = nanobind::tuple(names_);
    if (shows_members) class_.def("__repr__", &Repr);
    return class_;
  }

 private:
  static nanobind::str Repr(nanobind::handle self) {
    nanobind::list parts;
    for (nanobind::handle name : self.type().attr("__match_args__")) {
      parts.append(nanobind::str("{}={!r}").format(name, nanobind::getattr(self, name)));
    }
    return nanobind::str("{}({})").format(self.type().attr("__name__"),
                                          nanobind::str(", ").attr("join")(parts));
  }

  nanobind::class_<T> class_;
  nanobind::list names_;
};

void BindTables(nanobind::module_& module);   // rows of the report's tables
void BindFigures(nanobind::module_& module);  // what the report says of each run
void BindReport(nanobind::module_& module);   // Report and Failure

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_PYTHON_BINDINGS_H_
