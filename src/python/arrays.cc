#include "arrays.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "heddle/driver/port_values.h"
#include "heddle/support/words.h"

namespace py = pybind11;

namespace heddle {
namespace {

// The words of heddle.timeline/1, in the order of EngineKind.
constexpr std::array<const char*, 7> kKinds = {"sequencer", "ddrIn", "ddrOut", "wire",
                                               "coreIn",    "core",  "coreOut"};

py::dtype sliceType() {
  static_assert(std::is_standard_layout_v<SpanSlice> && sizeof(LayerId) == 4);
  const std::array<std::tuple<const char*, const char*, std::size_t>, 10> fields = {{
      {"start", "i8", offsetof(SpanSlice, start)},
      {"end", "i8", offsetof(SpanSlice, end)},
      {"ready", "i8", offsetof(SpanSlice, ready)},
      {"leaf", "i4", offsetof(SpanSlice, leaf)},
      {"layer", "i4", offsetof(SpanSlice, layer)},
      {"wait", "u1", offsetof(SpanSlice, wait)},
      {"lock", "i4", offsetof(SpanSlice, lock)},
      {"record", "i4", offsetof(SpanSlice, record)},
      {"cause_track", "i4", offsetof(SpanSlice, cause) + offsetof(SliceRef, track)},
      {"cause_index", "i4", offsetof(SpanSlice, cause) + offsetof(SliceRef, index)},
  }};
  py::list names, formats, offsets;
  for (const auto& [name, format, offset] : fields) {
    names.append(name);
    formats.append(format);
    offsets.append(offset);
  }
  return {names, formats, offsets, sizeof(SpanSlice)};
}

py::array arrayOf(const NpyArray& array) {
  const std::string type(nameOf(array.type));
  return {py::dtype(type), array.shape, array.data.data()};  // copied
}

Result<NpyArray> npyOf(const py::handle& value, const std::string& name) {
  const py::array array = py::array::ensure(value, py::array::c_style);
  if (!array) throw py::error_already_set();
  const std::string type = py::str(array.dtype());
  for (const NpyType known : {NpyType::Float32, NpyType::Int8, NpyType::Uint8}) {
    if (type != nameOf(known)) continue;
    NpyArray npy{.type = known,
                 .shape = {array.shape(), array.shape() + array.ndim()},
                 .data = std::vector<std::byte>(static_cast<std::size_t>(array.nbytes()))};
    std::memcpy(npy.data.data(), array.data(), npy.data.size());
    return npy;
  }
  return Diagnostic{"CLI005", name, "the array does not fit '" + name + "'",
                    "its elements are " + type + "; an input has float32, int8 or uint8",
                    "give an array of the input's type: array.astype(...)"};
}

}  // namespace

py::list tracksOf(const std::shared_ptr<const Timeline>& timeline) {
  using Owner = std::shared_ptr<const Timeline>;
  const py::capsule owner(new Owner(timeline), [](void* p) { delete static_cast<Owner*>(p); });
  const py::dtype type = sliceType();
  py::list tracks;
  for (const Track& track : timeline->tracks) {
    py::array slices(type, {track.slices.size()}, {sizeof(SpanSlice)}, track.slices.data(), owner);
    slices.attr("flags").attr("writeable") = false;
    const Engine& e = track.engine;
    tracks.append(py::make_tuple(kKinds[static_cast<std::size_t>(e.kind)], e.row, e.column,
                                 e.channel, slices));
  }
  return tracks;
}

py::dict arraysOf(const Program& program, const std::vector<Port>& ports,
                  const std::vector<std::vector<std::int8_t>>& stored) {
  const std::vector<TensorFormat> formats = formatsOf(program, ports);
  py::dict arrays;
  for (std::size_t i = 0; i < stored.size(); ++i)
    arrays[py::str(ports[i].name)] = arrayOf(arrayFromStored(stored[i], ports[i], formats[i]));
  return arrays;
}

Result<std::vector<std::vector<std::int8_t>>> storedInputs(const Program& program,
                                                           const py::dict& given,
                                                           std::uint64_t seed) {
  const std::vector<std::string> names = namesOf(program.inputs);
  for (const auto& [name, array] : given)
    if (std::ranges::find(names, py::cast<std::string>(name)) == names.end())
      return Diagnostic{"CLI006", program.model,
                        "there is no input '" + py::cast<std::string>(name) + "'",
                        "inputs of the program: " + joinWords(names), "use one of the names"};
  const std::vector<TensorFormat> formats = formatsOf(program, program.inputs);
  std::vector<std::vector<std::int8_t>> inputs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!given.contains(names[i])) {
      inputs.push_back(randomValues(formats[i].shape, seed, i, program.inferences()));
      continue;
    }
    HEDDLE_TRY(const NpyArray array, npyOf(given[py::str(names[i])], names[i]));
    HEDDLE_TRY(auto stored, storedFromArray(array, program.inputs[i], formats[i], names[i],
                                            program.inferences()));
    inputs.push_back(std::move(stored));
  }
  return inputs;
}

}  // namespace heddle
