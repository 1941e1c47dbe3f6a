#include "sweep_options.h"

#include <pybind11/stl.h>

#include "version.h"

namespace py = pybind11;

namespace heddle {
namespace {

Argument argument(const char* key, const std::string& text) {
  return {text, std::string("heddle.sweep, ") + key + " '" + text + "'"};
}

std::vector<Argument> arguments(const py::dict& asked, const char* key) {
  std::vector<Argument> all;
  for (const auto& text : py::cast<std::vector<std::string>>(asked[key]))
    all.push_back(argument(key, text));
  return all;
}

std::optional<Argument> argumentOrNone(const py::dict& asked, const char* key) {
  if (asked[key].is_none()) return std::nullopt;
  return argument(key, py::cast<std::string>(asked[key]));
}

template <class T>
std::optional<T> valueOrNone(const py::dict& asked, const char* key) {
  return py::cast<std::optional<T>>(asked[key]);
}

}  // namespace

SweepOptions sweepOptions(const py::dict& asked) {
  const auto text = [&](const char* key) { return py::cast<std::string>(asked[key]); };
  SweepOptions options;
  options.file = text("file");
  options.models = py::cast<std::vector<std::string>>(asked["model"]);
  options.masks = arguments(asked, "masks");
  options.applyMasks = valueOrNone<bool>(asked, "apply_masks");
  options.device = text("device");
  options.meshes = arguments(asked, "mesh");
  options.square = valueOrNone<bool>(asked, "square");
  options.varied = arguments(asked, "vary");
  options.settings = arguments(asked, "set");
  options.propagate = valueOrNone<bool>(asked, "propagate");
  options.reorder = valueOrNone<bool>(asked, "reorder");
  options.verify = valueOrNone<bool>(asked, "verify");
  options.estimate = valueOrNone<bool>(asked, "estimate");
  options.effort = argumentOrNone(asked, "effort");
  options.fuse = argumentOrNone(asked, "fuse");
  options.frames = argumentOrNone(asked, "frames");
  options.batch = argumentOrNone(asked, "batch");
  options.seed = valueOrNone<std::uint64_t>(asked, "seed");
  if (const auto cycles = valueOrNone<std::int64_t>(asked, "max_cycles"))
    options.maxCycles = Cycles(*cycles);
  options.where = argumentOrNone(asked, "where");
  for (const auto& [name, expression] : py::cast<py::dict>(asked["define"]))
    options.definitions.push_back(
        {py::cast<std::string>(name), argument("define", py::cast<std::string>(expression))});
  options.required = arguments(asked, "require");
  options.maximized = argumentOrNone(asked, "maximize");
  options.minimized = argumentOrNone(asked, "minimize");
  options.samples = argumentOrNone(asked, "samples");
  options.refine = argumentOrNone(asked, "refine");
  options.budget = argumentOrNone(asked, "budget");
  options.threads = argumentOrNone(asked, "threads");
  options.shard = argumentOrNone(asked, "shard");
  options.title = text("title");
  options.out = text("out");
  options.version = kVersion;
  return options;
}

}  // namespace heddle
