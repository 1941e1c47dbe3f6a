// What a path is: a model, a device description or a compiled program.
#include <filesystem>
#include <map>
#include <ostream>

#include "heddle/device/built_in.h"
#include "heddle/device/device_json.h"
#include "heddle/device/keys.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "heddle/driver/saved.h"
#include "heddle/report/bounds.h"
#include "heddle/support/json_writer.h"
#include "masks.h"
#include "propagation_text.h"
#include "road.h"
#include "sparsity_text.h"

namespace heddle {
namespace {

struct ModelFacts {
  std::int64_t macs = 0, weightBytes = 0;
  std::map<std::string, std::int64_t> operators;  // by ONNX type
};

ModelFacts factsOf(const CanonicalGraph& graph) {
  ModelFacts facts;
  for (const CanonicalOp& op : graph.ops) {
    const LayerNeeds needs = layerNeeds(graph, op);
    facts.macs += needs.macs;
    facts.weightBytes += needs.weightBytes;
    ++facts.operators[op.onnxOp];
  }
  return facts;
}

const char* typeName(ElementType type) {
  switch (type) {
    case ElementType::Float32:
      return "float32";
    case ElementType::Int8:
      return "int8";
    case ElementType::Uint8:
      return "uint8";
  }
  return "";
}

std::string portText(const std::string& role, const Port& port, const CanonicalTensor& tensor) {
  return role + port.name + ": " + typeName(port.type) + " " + toText(port.shape) +
         ", quantized with scale " + JsonWriter().value(tensor.scale).take() + " zero point " +
         std::to_string(tensor.zeroPoint + (tensor.fromUint8 ? 128 : 0)) + "\n";
}

std::string modelText(const Network& run, const SparseGraph& sparse, bool hasMasks,
                      const Propagated& propagated) {
  const CanonicalGraph& graph = run.canonical->graph;
  const ModelFacts facts = factsOf(graph);
  std::string text = "model     " + graph.name + "\nsha256    " + run.modelSha256 + "\n";
  for (const Port& port : graph.inputs)
    text += portText("input     ", port, graph.tensors[port.tensor.at()]);
  for (const Port& port : graph.outputs)
    text += portText("output    ", port, graph.tensors[port.tensor.at()]);
  text += "layers    " + std::to_string(graph.ops.size()) + ":";
  for (const auto& [op, count] : facts.operators)
    text += " " + std::to_string(count) + " " + op + ",";
  text.back() = '\n';
  text += "MACs      " + std::to_string(facts.macs) + "\nweights   " +
          std::to_string(facts.weightBytes) + " B\n";
  for (const std::string& op : hostOperators(*run.canonical)) text += "host      " + op + "\n";
  return text + sparsityText(sparse, hasMasks) + propagationText(graph, propagated);
}

std::string modelJson(const Network& run, const SparseGraph& sparse, bool hasMasks,
                      const Propagated& propagated) {
  const CanonicalGraph& graph = run.canonical->graph;
  const ModelFacts facts = factsOf(graph);
  JsonWriter json(2);
  json.beginObject();
  json.key("format")
      .value("heddle.model/2")
      .key("name")
      .value(graph.name)
      .key("sha256")
      .value(run.modelSha256);
  for (const auto& [key, ports] :
       {std::pair("inputs", &graph.inputs), std::pair("outputs", &graph.outputs)}) {
    json.key(key).beginArray();
    for (const Port& port : *ports) {
      json.beginObject().key("name").value(port.name).key("type").value(typeName(port.type));
      json.key("shape").beginArray();
      for (const std::int64_t extent : port.shape) json.value(extent);
      json.endArray().endObject();
    }
    json.endArray();
  }
  json.key("layers").value(static_cast<std::int64_t>(graph.ops.size()));
  json.key("macs").value(facts.macs).key("weightBytes").value(facts.weightBytes);
  json.key("hostOperators").beginArray();
  for (const std::string& op : hostOperators(*run.canonical)) json.value(op);
  json.endArray().key("sparsity").beginArray();
  sparsityJson(sparse, hasMasks, json);
  json.endArray().key("propagation").beginObject();
  propagationJson(graph, propagated, json);
  json.endObject().endObject();
  return json.take() + "\n";
}

Diagnostics inspectModel(const InspectOptions& options, std::ostream& out) {
  Network run;
  Diagnostics faults = importModel(run, options.path, options.shapes);
  if (faults.empty()) faults = canonicalizeModel(run);
  if (!faults.empty()) return faults;
  const auto masks = readMasks(options.masks, *run.graph, *run.canonical, false);
  if (!masks) return masks.diagnostics();
  const SparseGraph sparse = applySparsity(run.canonical->graph, *masks);
  faults = verify(sparse);
  if (!faults.empty()) return asBugs(std::move(faults));
  const bool hasMasks = !options.masks.empty();
  const Propagated propagated = propagate(run.canonical->graph);
  out << (options.verbosity.json ? modelJson(run, sparse, hasMasks, propagated)
                                 : modelText(run, sparse, hasMasks, propagated));
  return {};
}

std::string deviceJson(const Device& device) {
  JsonWriter json(2);
  json.beginObject();
  json.key("format").value("heddle.device/2").key("name").value(device.name);
  json.key("rows").value(device.rows).key("columns").value(device.columns);
  json.key("clockHz").value(device.clock.raw);
  json.key("macsPerCycle").value(device.core.macsPerCycle).key("keys");
  writeKeys(json, numbersOf(device));
  json.key("wires");
  writeWires(json, device.wires);
  json.endObject();
  return json.take() + "\n";
}

Diagnostics inspectDevice(const InspectOptions& options, std::ostream& out) {
  const Result<Device> device = readDevice(options.path, options.overrides);
  if (!device) return device.diagnostics();
  out << (options.verbosity.json ? deviceJson(*device) : printDevice(*device));
  return {};
}

Diagnostics inspectFolder(const InspectOptions& options, std::ostream& out) {
  const std::filesystem::path folder = options.path;
  const Result<Saved> saved = readSaved(folder);  // all three files are there and belong together
  if (!saved) return asBadInput(saved.diagnostics());
  const Result<std::string> report =
      readTextFile(folder / (options.verbosity.json ? "report.json" : "report.md"), kMostReport);
  if (!report) return report.diagnostics();
  out << *report;
  return {};
}

Diagnostic notKnown(const std::string& path) {
  const bool exists = std::filesystem::exists(path);
  return {.code = "CLI007",
          .where = path,
          .summary = "this is nothing that inspect knows",
          .what = exists ? "known are FILE.onnx, FILE.yaml and folders that compile wrote"
                         : "there is no such file or folder",
          .mend = exists ? "give one of these" : "check the path",
          .severity = Severity::Usage};
}

Diagnostic masksOfNoModel(const InspectOptions& options) {
  return {.code = "CLI009",
          .where = "--masks " + options.masks,
          .summary = "masks are for the weights of a model",
          .what = "'" + options.path + "' is none",
          .mend = "name a FILE.onnx, or leave --masks out",
          .severity = Severity::Usage};
}

}  // namespace

Diagnostics inspectCommand(const InspectOptions& options, std::ostream& out, Progress& progress) {
  const std::filesystem::path path = options.path;
  progress.begin("inspect");
  const std::string ending = path.extension().string();
  if (!options.masks.empty() && ending != ".onnx") return {masksOfNoModel(options)};
  // What a compile that stopped before the program left says itself what it lacks.
  for (const char* name : {"program.asm", "report.json", "plan.txt", "dump"})
    if (std::filesystem::exists(path / name)) return inspectFolder(options, out);
  if (ending == ".onnx") return inspectModel(options, out);
  if (ending == ".yaml" || ending == ".yml" || builtInDevice(options.path))
    return inspectDevice(options, out);
  return {notKnown(options.path)};
}

}  // namespace heddle
