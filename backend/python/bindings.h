// The parts of the extension module.
#ifndef FOOTPRINT_BACKEND_PYTHON_BINDINGS_H_
#define FOOTPRINT_BACKEND_PYTHON_BINDINGS_H_

#include <nanobind/nanobind.h>

#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace footprint {

// A struct of the report as a Python class: its members read only, under their own names. Like a
// dataclass it lists them in __match_args__ and shows them in its repr; it travels between
// processes as the tuple of them.
template <typename T>
class Record {
 public:
  Record(nanobind::module_& module, const char* name) : class_(module, name) {}

  template <typename Member>
  Record& Field(const char* name, Member T::*member) {
    class_.def_ro(name, member);
    return Fill(name, [member](T& record, nanobind::handle value) {
      record.*member = nanobind::cast<Member>(value);
    });
  }
  // Pairs of a name and what it stands for: a dict.
  template <typename Value>
  Record& Dict(const char* name, std::vector<std::pair<std::string, Value>> T::*member) {
    class_.def_prop_ro(name, [member](const T& record) {
      nanobind::typed<nanobind::dict, std::string, Value> dict;
      for (const auto& [key, value] : record.*member) dict[nanobind::cast(key)] = value;
      return dict;
    });
    return Fill(name, [member](T& record, nanobind::handle value) {
      for (const auto& [key, item] : nanobind::cast<nanobind::dict>(value)) {
        (record.*member)
            .emplace_back(nanobind::cast<std::string>(key), nanobind::cast<Value>(item));
      }
    });
  }
  nanobind::class_<T>& Done(bool shows_members = true) {
    class_.attr("__match_args__") = nanobind::tuple(names_);
    if (shows_members) class_.def("__repr__", &Repr);
    DefineState();
    return class_;
  }

 private:
  using FillMember = std::function<void(T&, nanobind::handle)>;

  Record& Fill(const char* name, FillMember fill) {
    names_.append(name);
    fill_.push_back(std::move(fill));
    return *this;
  }
  void DefineState() {
    class_.def("__getstate__", &State,
               nanobind::sig("def __getstate__(self) -> tuple[typing.Any, ...]"));
    class_.def(
        "__setstate__",
        [fill = std::move(fill_)](T& self, const nanobind::tuple& state) {
          if (state.size() != fill.size()) {
            throw nanobind::value_error("pickled by another version of onnx_footprint");
          }
          new (&self) T{};
          for (size_t i = 0; i < fill.size(); ++i) fill[i](self, state[i]);
        },
        nanobind::sig("def __setstate__(self, state: tuple[typing.Any, ...], /) -> None"));
  }
  static nanobind::tuple State(nanobind::handle self) {
    nanobind::list members;
    for (nanobind::handle name : self.type().attr("__match_args__")) {
      members.append(nanobind::getattr(self, name));
    }
    return nanobind::tuple(members);
  }
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
  std::vector<FillMember> fill_;  // by member: what a state has for it
};

void BindTables(nanobind::module_& module);   // rows of the report's tables
void BindFigures(nanobind::module_& module);  // what the report says of each run
void BindReport(nanobind::module_& module);   // Report and Failure

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_PYTHON_BINDINGS_H_
