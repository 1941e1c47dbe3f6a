// The reference interpreter on the arrays of a user.
#include "heddle/interp/interpret.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>

#include "arrays.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "heddle/driver/quantized_tensors.h"
#include "heddle/interp/host.h"
#include "heddle/npy/npy.h"
#include "heddle/support/json_writer.h"
#include "heddle/support/visible.h"
#include "road.h"

namespace heddle {
namespace {

std::vector<TensorFormat> formatsOf(const CanonicalGraph& graph, const std::vector<Port>& ports) {
  std::vector<TensorFormat> formats;
  for (const Port& port : ports) formats.push_back(formatOf(graph.tensors[port.tensor.at()]));
  return formats;
}

std::string fileName(const std::string& name) {
  std::string tensor = visible(name);
  std::replace(tensor.begin(), tensor.end(), '/', '_');
  std::replace(tensor.begin(), tensor.end(), ':', '_');
  return tensor + ".npy";
}

// Two tensors of one file name ("a/b", "a:b"): the second gets a '_' more.
Diagnostics dumpTensors(const std::filesystem::path& folder, const NamedArrays& tensors) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return {{.code = "FILE003",
             .where = folder.string(),
             .summary = "the results cannot be put there",
             .what = error.message(),
             .mend = "choose another name, or check permissions and the space left"}};
  std::set<std::string> taken;
  for (const auto& [name, array] : tensors) {
    std::string base = name;
    while (!taken.insert(fileName(base)).second) base += '_';
    Diagnostics faults = writeFile(folder / fileName(base), printNpy(array));
    if (!faults.empty()) return faults;
  }
  return {};
}

using Dump = std::optional<QuantizedTensors>;  // where --dump-tensors asks for them

std::string resultText(const Canonicalized& canonical, const InterpretOptions& options,
                       const Dump& dump) {
  std::string text = canonical.graph.name + ": " + std::to_string(canonical.graph.ops.size()) +
                     " operators computed\n";
  for (const std::string& output : options.outputs) text += "output    " + output + "\n";
  if (!dump) return text;
  text += "tensors   " + std::to_string(dump->arrays.size()) + " in " + *options.dumpTensors + "\n";
  for (const std::string& name : dump->unknown)
    text += "unknown   " + name + ": the host cannot compute it" +
            (options.quantized ? " without the inputs of the model" : "") + "\n";
  return text;
}

std::string resultJson(const Canonicalized& canonical, const Dump& dump) {
  JsonWriter json(2);
  json.beginObject();
  json.key("schema").value("heddle.interpretation/1");
  json.key("model").value(canonical.graph.name);
  json.key("operators").value(static_cast<std::int64_t>(canonical.graph.ops.size()));
  json.key("tensors").value(dump ? static_cast<std::int64_t>(dump->arrays.size()) : 0);
  json.key("unknown").beginArray();
  if (dump)
    for (const std::string& name : dump->unknown) json.value(name);
  json.endArray();
  json.endObject();
  return json.take() + "\n";
}

std::vector<std::string> namesOf(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (const ValueId id : values) names.push_back(graph[id].name);
  return names;
}

// The model from its own inputs to its own outputs, through the host's operators.
Result<std::vector<TensorValue>> interpretThroughHost(const InterpretOptions& options,
                                                      const Network& run, const NamedArrays& given,
                                                      Progress& progress) {
  const Graph& model = *run.graph;
  HEDDLE_TRY(const std::vector<TensorValue> inputs, enterArray(*run.canonical, given));
  std::vector<TensorValue> values = interpretAll(run.canonical->graph, inputs, progress);
  std::vector<TensorValue> outputs;
  for (const Port& port : run.canonical->graph.outputs) outputs.push_back(values[port.tensor.at()]);
  HEDDLE_TRY(NamedArrays results, leaveArray(*run.canonical, outputs, given));
  for (const ValueId id : model.outputs)
    if (model[id].constant) results[model[id].name] = arrayFrom(hostConstant(model[id]));
  Diagnostics faults = writeArrays(options.outputs, namesOf(model, model.outputs), results);
  if (!faults.empty()) return faults;
  return values;
}

// From the quantized inputs, or made ones, to the quantized outputs.
Result<std::vector<TensorValue>> interpretQuantized(const InterpretOptions& options,
                                                    const CanonicalGraph& graph,
                                                    Progress& progress) {
  HEDDLE_TRY(
      const std::vector<TensorValue> inputs,
      readInputs(options.inputs, graph.inputs, formatsOf(graph, graph.inputs), options.seed));
  std::vector<TensorValue> values = interpretAll(graph, inputs, progress);
  std::vector<TensorValue> outputs;
  for (const Port& port : graph.outputs) outputs.push_back(values[port.tensor.at()]);
  Diagnostics faults =
      writeOutputs(options.outputs, graph.outputs, formatsOf(graph, graph.outputs), outputs);
  if (!faults.empty()) return faults;
  return values;
}

}  // namespace

Diagnostics interpretCommand(const InterpretOptions& options, std::ostream& out,
                             Progress& progress) {
  Network run;
  progress.begin("import");
  Diagnostics faults = importModel(run, options.model, options.shapes);
  if (faults.empty()) faults = canonicalizeModel(run);
  if (!faults.empty()) return faults;

  const Canonicalized& canonical = *run.canonical;
  const bool hasHost = !canonical.hostBefore.nodes.empty() || !canonical.hostAfter.nodes.empty();
  const bool throughHost = hasHost && !options.quantized;
  NamedArrays given;  // inputs of the model itself
  if (throughHost) {
    Result<NamedArrays> arrays = readArrays(options.inputs, namesOf(*run.graph, run.graph->inputs));
    if (!arrays) return arrays.diagnostics();
    given = completeInputs(*run.graph, canonical, std::move(*arrays), options.seed);
  }
  const Result<std::vector<TensorValue>> values =
      throughHost ? interpretThroughHost(options, run, given, progress)
                  : interpretQuantized(options, canonical.graph, progress);
  if (!values) return values.diagnostics();
  Dump dump;
  if (options.dumpTensors) {
    Result<QuantizedTensors> tensors = quantizedTensors(*run.graph, canonical, *values, given);
    if (!tensors) return tensors.diagnostics();
    faults = dumpTensors(*options.dumpTensors, tensors->arrays);
    dump = std::move(*tensors);
  }
  if (!faults.empty()) return faults;
  if (options.verbosity.json) {
    out << resultJson(canonical, dump);
  } else if (!options.verbosity.quiet) {
    out << resultText(canonical, options, dump);
  }
  return {};
}

}  // namespace heddle
