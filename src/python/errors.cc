#include "errors.h"

#include <pybind11/stl.h>

#include <filesystem>
#include <utility>

namespace py = pybind11;

namespace heddle {
namespace {

void setError(const Diagnostics& diagnostics) {
  const py::module_ heddle = py::module_::import("heddle");
  py::list all;
  for (const Diagnostic& d : diagnostics)
    all.append(heddle.attr("Diagnostic")(d.code, d.where, d.summary, d.what, d.mend,
                                         static_cast<int>(d.severity)));
  const bool fits = diagnostics.front().severity != Severity::DoesNotFit;
  const py::object type = heddle.attr(fits ? "Error" : "DoesNotFit");
  PyErr_SetObject(type.ptr(), type(toText(diagnostics), py::tuple(all)).ptr());
}

Diagnostic bug(const char* what) {
  return {.code = "BUG001",
          .where = "heddle",
          .summary = "this is a bug of heddle",
          .what = what,
          .mend = "please report it, with the call and the files that it names",
          .severity = Severity::Bug};
}

Diagnostic unusablePath(const std::filesystem::filesystem_error& error) {
  return {.code = "FILE001",
          .where = error.path1().string(),
          .summary = "the path cannot be used",
          .what = error.code().message(),
          .mend = "check the path and its permissions"};
}

}  // namespace

void raise(const Diagnostics& diagnostics) {
  setError(diagnostics);
  throw py::error_already_set();
}

void translateExceptions() {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(std::move(thrown));
    } catch (const InternalError& e) {
      setError({bug(e.what())});
    } catch (const std::filesystem::filesystem_error& e) {
      setError({unusablePath(e)});
    }
  });
}

}  // namespace heddle
