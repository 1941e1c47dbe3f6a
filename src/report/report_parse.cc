// heddle.report/2, read back. The text may come from anywhere.
#include "entry_reader.h"
#include "heddle/report/report.h"
#include "heddle/support/json_fault.h"

namespace heddle {
namespace {

constexpr const char* kFormat = "heddle.report/2";
Traffic readTraffic(EntryReader& read, const Entry& in) {
  Traffic traffic;
  traffic.ddrRead = Bytes(read.count(in, "ddrReadBytes"));
  traffic.ddrWrite = Bytes(read.count(in, "ddrWriteBytes"));
  traffic.memtileToCore = Bytes(read.count(in, "memtileToCoreBytes"));
  traffic.coreToMemtile = Bytes(read.count(in, "coreToMemtileBytes"));
  return traffic;
}

RouteReport readRoute(EntryReader& read, const Entry& in) {
  RouteReport route;
  const std::string stream = read.text(in, "stream");
  if (stream == "weights")
    route.stream = Resource::WeightsWire;
  else if (stream != "inputs")
    read.fault(in.place + ".stream", "an entry of the report is not what it can be",
               "expected 'weights' or 'inputs', found '" + stream + "'");
  const std::vector<std::int64_t> wires = read.counts(in, "wires"),
                                  bytes = read.counts(in, "bytes"),
                                  busy = read.counts(in, "busyCycles");
  if (bytes.size() != wires.size() || busy.size() != wires.size()) {
    read.fault(in.place, "entries of the report contradict each other",
               std::to_string(wires.size()) + " wires, " + std::to_string(bytes.size()) +
                   " numbers of bytes, " + std::to_string(busy.size()) + " of cycles");
    return route;
  }
  for (std::size_t i = 0; i < wires.size(); ++i)
    route.parts.push_back({wires[i], Bytes(bytes[i]), Cycles(busy[i])});
  return route;
}

LayerReport readLayer(EntryReader& read, const Entry& in) {
  LayerReport layer;
  layer.name = read.text(in, "name");
  layer.op = read.text(in, "op");
  layer.split = read.text(in, "split");
  if (read.has(in, "atStart")) layer.atStart = read.text(in, "atStart");
  if (read.has(in, "atEnd")) layer.atEnd = read.text(in, "atEnd");
  if (read.has(in, "tables")) layer.tables = read.texts(in, "tables");
  layer.cycles = Cycles(read.count(in, "cycles"));
  layer.boundBy = read.resource(in, "boundBy");
  layer.boundEngine = read.text(in, "boundEngine");
  layer.boundEngineBusy = Cycles(read.count(in, "boundEngineCycles"));
  layer.start = Cycles(read.count(in, "start"));
  layer.end = Cycles(read.count(in, "end"));
  if (const auto closedForm = read.countOrNull(in, "closedFormCycles", -kMostCount))
    layer.closedForm = Cycles(*closedForm);
  layer.boundSeconds = read.real(in, "boundSeconds");
  if (const auto bound = read.countOrNull(in, "mappingBoundCycles", 0))
    layer.mappingBound = Cycles(*bound);
  layer.macs = read.count(in, "macs");
  layer.macsExecuted = read.count(in, "macsExecuted");
  layer.macsOnPaddedChannels = read.count(in, "macsOnPaddedChannels");
  layer.weightBytes = read.count(in, "weightBytes");
  layer.weightBytesPadded = Bytes(read.count(in, "weightBytesPadded"));
  layer.denseMacs = read.count(in, "denseMacs");
  layer.denseWeightBytes = read.count(in, "denseWeightBytes");
  layer.density = read.realOrNull(in, "density", 1);
  layer.imbalance = read.realOrNull(in, "imbalance");
  layer.traffic = readTraffic(read, in);
  layer.weightsToCores = Bytes(read.count(in, "weightsToCoresBytes"));
  layer.inputsToCores = Bytes(read.count(in, "inputsToCoresBytes"));
  for (const Entry& route : read.objects(in, "routes"))
    layer.routes.push_back(readRoute(read, route));
  layer.cores = read.count(in, "cores");
  layer.busy = read.cyclesByResource(in, "busyCycles");
  layer.waits = read.cyclesByResource(in, "waitCoreCycles");
  for (const Entry& step : read.objects(in, "steps"))
    layer.steps.push_back({.tile = read.count(step, "tile"),
                           .firstRow = read.count(step, "firstRow"),
                           .rows = read.count(step, "rows"),
                           .cycles = Cycles(read.count(step, "cycles")),
                           .start = Cycles(read.count(step, "start")),
                           .end = Cycles(read.count(step, "end"))});
  return layer;
}

// Needs: the layers are read.
GroupReport readGroup(EntryReader& read, const Entry& in, const Report& report) {
  const std::int64_t last = std::ssize(report.layers) - 1;
  GroupReport group;
  group.first = static_cast<std::size_t>(read.count(in, "firstLayer", 0, last));
  group.last = static_cast<std::size_t>(
      read.count(in, "lastLayer", static_cast<std::int64_t>(group.first), last));
  group.tiles = read.count(in, "tiles", 1);
  group.cycles = Cycles(read.count(in, "cycles"));
  group.start = Cycles(read.count(in, "start"));
  group.end = Cycles(read.count(in, "end"));
  group.kept = Bytes(read.count(in, "keptBytes"));
  group.weightsAgain = Bytes(read.count(in, "weightsAgainBytes"));
  return group;
}

Wire readWire(EntryReader& read, const Entry& in) {
  const Entry reach = read.object(in, "reach");
  return {.name = read.text(in, "name"),
          .reach = {.row = read.count(reach, "row"),
                    .column = read.count(reach, "column"),
                    .rows = read.count(reach, "rows"),
                    .columns = read.count(reach, "columns")},
          .feeders = read.counts(in, "feeders")};
}

void readRun(EntryReader& read, const Entry& root, Report& report) {
  const Entry model = read.object(root, "model"), device = read.object(root, "device"),
              memory = read.object(root, "memory"), work = read.object(root, "work"),
              propagation = read.object(root, "propagation");
  report.model = read.text(model, "name");
  report.modelSha256 = read.text(model, "sha256");
  report.macs = read.count(model, "macs");
  report.weightBytes = read.count(model, "weightBytes");
  report.denseMacs = read.count(model, "denseMacs");
  report.denseWeightBytes = read.count(model, "denseWeightBytes");
  report.device = read.text(device, "name");
  report.rows = read.count(device, "rows", 1);
  report.columns = read.count(device, "columns", 1);
  report.clock.raw = read.count(device, "clockHz", 1);
  report.macsPerCycle = read.count(device, "macsPerCycle", 1);
  const Entry keys = read.object(device, "keys");
  for (DeviceNumber one : numbersOf({})) {
    one.number = read.realOrNull(keys, one.key.c_str());
    report.deviceKeys.push_back(std::move(one));
  }
  for (const Entry& wire : read.objects(device, "wires"))
    report.wires.push_back(readWire(read, wire));
  const Entry time = read.object(root, "time");
  report.cycles = Cycles(read.count(time, "cycles"));
  report.frames = read.count(time, "frames", 1);
  report.batch = read.count(time, "batch", 1);
  report.frameTimes.cold = Cycles(read.count(time, "coldCycles"));
  report.frameTimes.steady = read.real(time, "steadyCycles");
  report.traffic = readTraffic(read, read.object(root, "traffic"));
  report.memtilePeakBytes = read.count(memory, "memtilePeakBytes");
  report.corePeakBytes = read.count(memory, "corePeakBytes");
  report.macsExecuted = read.count(work, "macsExecuted");
  report.macsOnPaddedChannels = read.count(work, "macsOnPaddedChannels");
  report.weightBytesPadded = read.count(work, "weightBytesPadded");
  report.instructions = read.count(work, "instructions", 0);
  report.propagation.channelsRemoved = read.count(propagation, "channelsRemoved");
  report.propagation.weightsZeroed = read.count(propagation, "weightsZeroed");
  report.propagation.macsRemoved = read.count(propagation, "macsRemoved");
  report.hostOperators = read.texts(root, "hostOperators");
  report.notModelled = read.texts(root, "notModelled");
}

void readBounds(EntryReader& read, const Entry& in, Report& report) {
  Bounds& bounds = report.bounds;
  bounds.computeSeconds = read.real(in, "computeSeconds");
  bounds.ddrReadSeconds = read.real(in, "ddrReadSeconds");
  bounds.ddrWriteSeconds = read.real(in, "ddrWriteSeconds");
  bounds.memtileToCoreSeconds = read.real(in, "memtileToCoreSeconds");
  bounds.coreToMemtileSeconds = read.real(in, "coreToMemtileSeconds");
  bounds.lowerBoundSeconds = read.real(in, "lowerBoundSeconds");
  bounds.fusedLowerBoundSeconds = read.real(in, "fusedLowerBoundSeconds");
  bounds.layerBoundSeconds = read.real(in, "layerBoundSeconds");
  bounds.paperBoundSeconds = read.real(in, "paperBoundSeconds");
  bounds.mappingBoundSeconds = read.realOrNull(in, "mappingBoundSeconds");
  report.layerBoundPassedBy = read.texts(in, "layerBoundPassedBy");
}

Verification readVerification(EntryReader& read, const Entry& in) {
  Verification v;
  v.ran = read.truth(in, "ran");
  v.matches = read.truth(in, "matches");
  v.tensorsCompared = read.count(in, "tensorsCompared");
  v.bytesCompared = read.count(in, "bytesCompared");
  v.mismatches = read.count(in, "mismatches");
  v.notMaterialized = read.texts(in, "notMaterialized");
  return v;
}

Effort readEffort(EntryReader& read, const Entry& in) {
  Effort e;
  e.importSeconds = read.real(in, "importSeconds");
  e.compileSeconds = read.real(in, "compileSeconds");
  e.simulateSeconds = read.real(in, "simulateSeconds");
  e.whatIfSeconds = read.real(in, "whatIfSeconds");
  e.verifySeconds = read.real(in, "verifySeconds");
  e.peakBytes = read.count(in, "peakBytes");
  return e;
}

// What makeReport promises of the layers' cycles; the closed form of the run is that of its layers.
void addUp(EntryReader& read, Report& report) {
  std::int64_t cycles = 0, closedForm = 0;
  bool holds = true, estimated = !report.layers.empty();
  for (const LayerReport& layer : report.layers) {
    holds = holds && !__builtin_add_overflow(cycles, layer.cycles.raw(), &cycles);
    estimated = estimated && layer.closedForm;
    if (layer.closedForm)
      holds = holds && !__builtin_add_overflow(closedForm, layer.closedForm->raw(), &closedForm);
    report.bounds.layerSeconds.push_back(layer.boundSeconds);
  }
  if (estimated) report.closedForm = Cycles(closedForm);
  if (holds && (report.layers.empty() || Cycles(cycles) == report.cycles)) return;
  read.fault("layers", "the layers' cycles do not add up to those of the run",
             holds ? std::to_string(cycles) + " cycles of layers; the run took " +
                         std::to_string(report.cycles.raw())
                   : "their sum is too large");
}

Diagnostic notAReport(const std::string& name, std::string what) {
  return {"REPORT001", name, "not a report", std::move(what),
          "take a report.json that heddle has written"};
}

std::optional<Diagnostic> checkFormat(const Json& json, const std::string& name) {
  const auto at = json.is_object() ? json.find("format") : json.end();
  const std::string format =
      at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
  if (format == kFormat) return std::nullopt;
  if (format.starts_with("heddle.report/"))
    return Diagnostic{"REPORT002", name,
                      "the report is of a version that this heddle does not know",
                      "format '" + format + "'; known: '" + kFormat + "'",
                      "compile again, or use the heddle that wrote it"};
  return notAReport(name,
                    "expected a JSON object with \"format\": \"" + std::string(kFormat) + "\"");
}

}  // namespace

Result<Report> parseReport(const std::string& text, const std::string& name) {
  if (const auto fault = jsonFault(text)) return notAReport(name, *fault);
  const Json json = Json::parse(text);
  if (auto wrong = checkFormat(json, name)) return *wrong;
  EntryReader read(name, "REPORT003", "report", "a report.json");
  const Entry root{&json, ""};
  Report report;
  readRun(read, root, report);
  readBounds(read, read.object(root, "bounds"), report);
  report.verification = readVerification(read, read.object(root, "verification"));
  report.effort = readEffort(read, read.object(root, "effort"));
  for (const Entry& layer : read.list(root, "layers"))
    report.layers.push_back(readLayer(read, read.expect(layer, &Json::is_object, "an object")));
  for (const Entry& group : read.objects(root, "groups"))
    report.groups.push_back(readGroup(read, group, report));
  for (const Entry& free : read.objects(root, "whatIf"))
    report.whatIf.push_back({read.resource(free, "resource").value_or(Resource::Compute),
                             Cycles(read.count(free, "cycles"))});
  for (const Entry& frame : read.objects(root, "frames")) {
    report.eachFrame.push_back({.start = Cycles(read.count(frame, "start")),
                                .end = Cycles(read.count(frame, "end")),
                                .stepCycles = {}});
    for (const std::int64_t cycles : read.counts(frame, "stepCycles"))
      report.eachFrame.back().stepCycles.emplace_back(cycles);
  }
  if (read.faults().empty()) addUp(read, report);
  if (!read.faults().empty()) return read.faults().take();
  return report;
}

}  // namespace heddle
