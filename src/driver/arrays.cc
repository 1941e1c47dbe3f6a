#include "arrays.h"

#include "heddle/driver/files.h"
#include "heddle/npy/npy.h"

namespace heddle {

Result<std::vector<std::vector<std::int8_t>>> readInputs(const std::vector<std::string>& arguments,
                                                         const std::vector<Port>& ports,
                                                         const std::vector<TensorFormat>& formats,
                                                         std::uint64_t seed, std::int64_t frames) {
  HEDDLE_TRY(const auto files, filesOfNames(arguments, namesOf(ports), "--input"));
  std::vector<std::vector<std::int8_t>> inputs;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!files[i]) {
      inputs.push_back(randomValues(formats[i].shape, seed, i, frames));
      continue;
    }
    HEDDLE_TRY(const NpyArray array, readNpy(*files[i]));
    HEDDLE_TRY(auto stored, storedFromArray(array, ports[i], formats[i], *files[i], frames));
    inputs.push_back(std::move(stored));
  }
  return inputs;
}

Diagnostics writeOutputs(const std::vector<std::string>& arguments, const std::vector<Port>& ports,
                         const std::vector<TensorFormat>& formats,
                         std::span<const std::vector<std::int8_t>> values) {
  const auto files = filesOfNames(arguments, namesOf(ports), "--output");
  if (!files) return files.diagnostics();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!(*files)[i]) continue;
    Diagnostics faults =
        writeFile(*(*files)[i], printNpy(arrayFromStored(values[i], ports[i], formats[i])));
    if (!faults.empty()) return faults;
  }
  return {};
}

Result<NamedArrays> readArrays(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& names) {
  HEDDLE_TRY(const auto files, filesOfNames(arguments, names, "--input"));
  NamedArrays arrays;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!files[i]) continue;
    HEDDLE_TRY(NpyArray array, readNpy(*files[i]));
    arrays[names[i]] = std::move(array);
  }
  return arrays;
}

Diagnostics writeArrays(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& names, const NamedArrays& arrays) {
  const auto files = filesOfNames(arguments, names, "--output");
  if (!files) return files.diagnostics();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!(*files)[i]) continue;
    Diagnostics faults = writeFile(*(*files)[i], printNpy(arrays.at(names[i])));
    if (!faults.empty()) return faults;
  }
  return {};
}

}  // namespace heddle
