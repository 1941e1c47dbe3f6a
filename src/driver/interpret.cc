// The reference interpreter on the arrays of a user.
#include "heddle/interp/interpret.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "arrays.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "heddle/npy/npy.h"
#include "heddle/support/json_writer.h"
#include "road.h"

namespace heddle {
namespace {

std::vector<TensorFormat> formatsOf(const CanonicalGraph& graph, const std::vector<Port>& ports) {
  std::vector<TensorFormat> formats;
  for (const Port& port : ports) formats.push_back(formatOf(graph.tensors[port.tensor.at()]));
  return formats;
}

std::string fileName(std::string tensor) {
  std::replace(tensor.begin(), tensor.end(), '/', '_');
  std::replace(tensor.begin(), tensor.end(), ':', '_');
  return tensor + ".npy";
}

Diagnostics dumpTensors(const std::filesystem::path& folder, const Canonicalized& canonical,
                        const std::vector<std::vector<std::int8_t>>& values) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return {{.code = "FILE003",
             .where = folder.string(),
             .summary = "the results cannot be put there",
             .what = error.message(),
             .mend = "choose another name, or check permissions and the space left"}};
  for (const Port& port : canonical.quantized) {
    const TensorFormat format = formatOf(canonical.graph.tensors[port.tensor.at()]);
    Diagnostics faults =
        writeFile(folder / fileName(port.name),
                  printNpy(arrayFromStored(values[port.tensor.at()], port, format)));
    if (!faults.empty()) return faults;
  }
  return {};
}

std::string resultText(const Canonicalized& canonical, const InterpretOptions& options) {
  std::string text = canonical.graph.name + ": " + std::to_string(canonical.graph.ops.size()) +
                     " operators computed\n";
  for (const std::string& output : options.outputs) text += "output    " + output + "\n";
  if (options.dumpTensors)
    text += "tensors   " + std::to_string(canonical.quantized.size()) + " in " +
            *options.dumpTensors + "\n";
  return text;
}

std::string resultJson(const Canonicalized& canonical) {
  JsonWriter json(2);
  json.beginObject();
  json.key("schema").value("heddle.interpretation/1");
  json.key("model").value(canonical.graph.name);
  json.key("operators").value(static_cast<std::int64_t>(canonical.graph.ops.size()));
  json.key("tensors").value(static_cast<std::int64_t>(canonical.quantized.size()));
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
                                                      const Compilation& run, Progress& progress) {
  const Graph& model = *run.graph;
  HEDDLE_TRY(const NamedArrays given, readArrays(options.inputs, namesOf(model, model.inputs)));
  HEDDLE_TRY(const std::vector<TensorValue> inputs, enterArray(*run.canonical, given));
  std::vector<TensorValue> values = interpretAll(run.canonical->graph, inputs, progress);
  std::vector<TensorValue> outputs;
  for (const Port& port : run.canonical->graph.outputs) outputs.push_back(values[port.tensor.at()]);
  HEDDLE_TRY(const NamedArrays results, leaveArray(*run.canonical, outputs, given));
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
  Compilation run;
  progress.begin("import");
  Diagnostics faults = importModel(run, options.model, options.shapes);
  if (faults.empty()) faults = canonicalizeModel(run);
  if (!faults.empty()) return faults;

  const Canonicalized& canonical = *run.canonical;
  const bool host = !canonical.hostBefore.nodes.empty() || !canonical.hostAfter.nodes.empty();
  const Result<std::vector<TensorValue>> values =
      host && !options.quantized ? interpretThroughHost(options, run, progress)
                                 : interpretQuantized(options, canonical.graph, progress);
  if (!values) return values.diagnostics();
  if (options.dumpTensors) faults = dumpTensors(*options.dumpTensors, canonical, *values);
  if (!faults.empty()) return faults;
  if (options.verbosity.json) {
    out << resultJson(canonical);
  } else if (!options.verbosity.quiet) {
    out << resultText(canonical, options);
  }
  return {};
}

}  // namespace heddle
