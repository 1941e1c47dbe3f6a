// heddle.report/2, read back. The text may come from anywhere.
#include <limits>
#include <nlohmann/json.hpp>

#include "heddle/report/report.h"
#include "heddle/support/fault_list.h"
#include "heddle/support/json_fault.h"

namespace heddle {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "heddle.report/2";
// Of any count: what every reader of JSON still holds exactly.
constexpr std::int64_t kMostCount = std::int64_t{1} << 53;
constexpr double kMostReal = 1e30;

// An entry and its place, as "layers[3].cycles". Without an entry it stands for one whose fault has
// been told, and so do those below it.
struct Entry {
  const Json* json = nullptr;
  std::string place;
};

std::string found(const Json& json) {
  if (json.is_number() || json.is_boolean()) return "found " + json.dump();
  if (json.is_null()) return "found null";
  return "found " + std::string(json.is_array() || json.is_object() ? "an " : "a ") +
         json.type_name();
}

// Entries by name, each of the type that the caller expects; all faults of the file are told, and
// 0, "" or nothing stands for a faulty entry.
class EntryReader {
 public:
  explicit EntryReader(const std::string& file) : file_(file), faults_(file) {}

  FaultList& faults() { return faults_; }

  void fault(const std::string& place, std::string summary, std::string what) {
    if (faults_.full()) return faults_.add({});
    faults_.add({.code = "REPORT003",
                 .where = file_ + ", " + place,
                 .summary = std::move(summary),
                 .what = std::move(what),
                 .mend = "take a report.json that this heddle has written and nobody has edited"});
  }

  Entry object(const Entry& in, const char* key) {
    return expect(entry(in, key), &Json::is_object, "an object");
  }

  std::vector<Entry> list(const Entry& in, const char* key) {
    const Entry array = expect(entry(in, key), &Json::is_array, "an array");
    std::vector<Entry> entries;
    if (!array.json) return entries;
    for (std::size_t i = 0; i < array.json->size(); ++i)
      entries.push_back({&(*array.json)[i], array.place + "[" + std::to_string(i) + "]"});
    return entries;
  }

  std::int64_t count(const Entry& in, const char* key, std::int64_t low = 0,
                     std::int64_t high = kMostCount) {
    return countOf(entry(in, key), low, high);
  }
  std::optional<std::int64_t> countOrNull(const Entry& in, const char* key, std::int64_t low) {
    const Entry at = entry(in, key);
    if (!at.json || at.json->is_null()) return std::nullopt;
    return countOf(at, low, kMostCount);
  }

  double real(const Entry& in, const char* key) { return realOf(entry(in, key), kMostReal); }
  std::optional<double> realOrNull(const Entry& in, const char* key, double high = kMostReal) {
    const Entry at = entry(in, key);
    if (!at.json || at.json->is_null()) return std::nullopt;
    return realOf(at, high);
  }

  bool truth(const Entry& in, const char* key) {
    const Entry at = expect(entry(in, key), &Json::is_boolean, "true or false");
    return at.json && at.json->get<bool>();
  }

  std::string text(const Entry& in, const char* key) { return textOf(entry(in, key)); }
  std::vector<std::string> texts(const Entry& in, const char* key) {
    std::vector<std::string> all;
    for (const Entry& at : list(in, key)) all.push_back(textOf(at));
    return all;
  }

  Entry expect(Entry at, bool (Json::*is)() const noexcept, const char* what) {
    if (!at.json || (at.json->*is)()) return at;
    fault(at.place, "an entry of the report is of the wrong type",
          "expected " + std::string(what) + ", " + found(*at.json));
    return {nullptr, at.place};
  }

 private:
  Entry entry(const Entry& in, const char* key) {
    std::string place = in.place + (in.place.empty() ? "" : ".") + key;
    if (!in.json) return {nullptr, std::move(place)};
    const auto at = in.json->find(key);
    if (at != in.json->end()) return {&*at, std::move(place)};
    fault(place, "an entry of the report is missing", "");
    return {nullptr, std::move(place)};
  }

  std::int64_t countOf(const Entry& at, std::int64_t low, std::int64_t high) {
    if (!at.json) return 0;
    const bool whole = at.json->is_number_integer();
    const bool tooLarge =
        whole && at.json->is_number_unsigned() &&
        at.json->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    const std::int64_t value = whole && !tooLarge ? at.json->get<std::int64_t>() : low - 1;
    if (value >= low && value <= high) return value;
    fault(at.place, "an entry of the report is not what it can be",
          "expected a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
              ", " + found(*at.json));
    return 0;
  }

  double realOf(const Entry& at, double high) {
    if (!at.json) return 0;
    const double value = at.json->is_number() ? at.json->get<double>() : -1;
    if (value >= 0 && value <= high) return value;
    fault(at.place, "an entry of the report is not what it can be",
          "expected a number from 0 to " + Json(high).dump() + ", " + found(*at.json));
    return 0;
  }

  std::string textOf(const Entry& at) {
    const Entry text = expect(at, &Json::is_string, "a string");
    return text.json ? text.json->get<std::string>() : std::string();
  }

  const std::string file_;
  FaultList faults_;
};

Traffic readTraffic(EntryReader& read, const Entry& in) {
  Traffic traffic;
  traffic.ddrRead = Bytes(read.count(in, "ddrReadBytes"));
  traffic.ddrWrite = Bytes(read.count(in, "ddrWriteBytes"));
  traffic.memtileToCore = Bytes(read.count(in, "memtileToCoreBytes"));
  traffic.coreToMemtile = Bytes(read.count(in, "coreToMemtileBytes"));
  return traffic;
}

PerResource<Cycles> readPerResource(EntryReader& read, const Entry& in) {
  PerResource<Cycles> cycles;
  for (std::size_t r = 0; r < kResources; ++r)
    cycles[r] = Cycles(read.count(in, name(static_cast<Resource>(r)).data()));
  return cycles;
}

std::optional<Resource> readBoundBy(EntryReader& read, const Entry& layer) {
  const std::string word = read.text(layer, "boundBy");
  for (std::size_t r = 0; r < kResources; ++r)
    if (word == name(static_cast<Resource>(r))) return static_cast<Resource>(r);
  if (word != "none" && !word.empty())
    read.fault(layer.place + ".boundBy", "an entry of the report is not what it can be",
               "expected a resource or 'none', found '" + word + "'");
  return std::nullopt;
}

LayerReport readLayer(EntryReader& read, const Entry& in) {
  LayerReport layer;
  layer.name = read.text(in, "name");
  layer.op = read.text(in, "op");
  layer.split = read.text(in, "split");
  layer.cycles = Cycles(read.count(in, "cycles"));
  layer.boundBy = readBoundBy(read, in);
  layer.start = Cycles(read.count(in, "start"));
  layer.end = Cycles(read.count(in, "end"));
  if (const auto closedForm = read.countOrNull(in, "closedFormCycles", -kMostCount))
    layer.closedForm = Cycles(*closedForm);
  layer.boundSeconds = read.real(in, "boundSeconds");
  layer.macs = read.count(in, "macs");
  layer.macsExecuted = read.count(in, "macsExecuted");
  layer.weightBytes = read.count(in, "weightBytes");
  layer.denseMacs = read.count(in, "denseMacs");
  layer.denseWeightBytes = read.count(in, "denseWeightBytes");
  layer.density = read.realOrNull(in, "density", 1);
  layer.imbalance = read.realOrNull(in, "imbalance");
  layer.traffic = readTraffic(read, in);
  layer.weightsToCores = Bytes(read.count(in, "weightsToCoresBytes"));
  layer.inputsToCores = Bytes(read.count(in, "inputsToCoresBytes"));
  layer.cores = read.count(in, "cores");
  layer.busy = readPerResource(read, read.object(in, "busyCycles"));
  layer.waits = readPerResource(read, read.object(in, "waitCoreCycles"));
  return layer;
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
  report.cycles = Cycles(read.count(read.object(root, "time"), "cycles"));
  report.traffic = readTraffic(read, read.object(root, "traffic"));
  report.memtilePeakBytes = read.count(memory, "memtilePeakBytes");
  report.corePeakBytes = read.count(memory, "corePeakBytes");
  report.macsExecuted = read.count(work, "macsExecuted");
  report.weightBytesPadded = read.count(work, "weightBytesPadded");
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
  EntryReader read(name);
  const Entry root{&json, ""};
  Report report;
  readRun(read, root, report);
  readBounds(read, read.object(root, "bounds"), report);
  report.verification = readVerification(read, read.object(root, "verification"));
  report.effort = readEffort(read, read.object(root, "effort"));
  for (const Entry& layer : read.list(root, "layers"))
    report.layers.push_back(readLayer(read, read.expect(layer, &Json::is_object, "an object")));
  if (read.faults().empty()) addUp(read, report);
  if (!read.faults().empty()) return read.faults().take();
  return report;
}

}  // namespace heddle
