#include "heddle/driver/host_parts.h"

#include "heddle/driver/port_values.h"
#include "heddle/interp/host.h"
#include "heddle/support/check.h"
#include "road.h"

namespace heddle {
namespace {

// Runs `host` on what `known` holds under the names of its inputs and adds its outputs.
Diagnostics runPart(const Graph& host, NamedArrays& known) {
  std::vector<HostTensor> inputs;
  for (const ValueId id : host.inputs) {
    const Value& value = host[id];
    const auto array = known.find(value.name);
    if (array == known.end())
      return {{"CLI006", host.name, "an input of the model is missing", "'" + value.name + "'",
               "name a file for it: --input " + value.name + "=FILE.npy"}};
    const std::optional<HostTensor> tensor = hostTensorFrom(array->second);
    if (!tensor || tensor->type != value.type || tensor->shape != value.shape)
      return {{"CLI005", value.name, "the array does not fit the input of the model",
               "the input is " + std::string(toText(value.type)) + " " + toText(value.shape) +
                   ", the array " + std::string(nameOf(array->second.type)) + " " +
                   toText(array->second.shape),
               "convert the array first"}};
    inputs.push_back(*tensor);
  }
  const Result<std::vector<HostTensor>> outputs = runHost(host, inputs);
  if (!outputs) return outputs.diagnostics();
  for (std::size_t i = 0; i < outputs->size(); ++i)
    known[host[host.outputs[i]].name] = arrayFrom((*outputs)[i]);
  return {};
}

}  // namespace

Result<std::vector<std::vector<std::int8_t>>> enterArray(const Canonicalized& canonical,
                                                         const NamedArrays& modelInputs) {
  NamedArrays known = modelInputs;
  if (!canonical.hostBefore.nodes.empty()) {
    const Diagnostics faults = runPart(canonical.hostBefore, known);
    if (!faults.empty()) return faults;
  }
  std::vector<std::vector<std::int8_t>> values;
  for (const Port& port : canonical.graph.inputs) {
    const auto array = known.find(port.name);
    if (array == known.end())
      return Diagnostic{"CLI006", canonical.graph.name, "an input of the model is missing",
                        "'" + port.name + "'",
                        "name a file for it: --input " + port.name + "=FILE.npy"};
    const TensorFormat format = formatOf(canonical.graph.tensors[port.tensor.at()]);
    HEDDLE_TRY(auto stored, storedFromArray(array->second, port, format, port.name));
    values.push_back(std::move(stored));
  }
  return values;
}

Result<NamedArrays> leaveArray(const Canonicalized& canonical,
                               std::span<const std::vector<std::int8_t>> outputs,
                               const NamedArrays& modelInputs) {
  const std::vector<Port>& ports = canonical.graph.outputs;
  HEDDLE_CHECK(outputs.size() == ports.size()) << canonical.graph.name;
  NamedArrays atTheCut;
  for (std::size_t i = 0; i < ports.size(); ++i)
    atTheCut[ports[i].name] = arrayFromStored(
        outputs[i], ports[i], formatOf(canonical.graph.tensors[ports[i].tensor.at()]));
  const Graph& host = canonical.hostAfter;
  if (host.nodes.empty()) return atTheCut;

  NamedArrays known = modelInputs;
  known.insert(atTheCut.begin(), atTheCut.end());
  const Diagnostics faults = runPart(host, known);
  if (!faults.empty()) return faults;
  // A port that no host operator reads is an output of the model itself.
  NamedArrays results = atTheCut;
  for (const ValueId id : host.inputs) results.erase(host[id].name);
  for (const ValueId id : host.outputs) results[host[id].name] = known.at(host[id].name);
  return results;
}

}  // namespace heddle
