#include "point.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heddle/device/device_json.h"
#include "heddle/driver/sha256.h"
#include "heddle/machine/diagnostics.h"
#include "heddle/planner/count_work.h"
#include "heddle/planner/fuse.h"
#include "heddle/support/json_fault.h"
#include "heddle/support/json_writer.h"
#include "heddle/support/words.h"

namespace heddle {
namespace {

constexpr const char* kPointFormat = "heddle.point/1";
constexpr std::size_t kIdDigits = 20;

double milli(double seconds) { return seconds * 1e3; }
// Multiplied first, so that whole nanoseconds stay short.
double milliseconds(double cycles, Hertz clock) {
  return cycles * 1e3 / static_cast<double>(clock.raw);
}
double giga(BytesPerSecond rate) { return static_cast<double>(rate.raw) / 1e9; }
double kibi(std::int64_t bytes) { return static_cast<double>(bytes) / 1024; }
double mega(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

double totalRate(std::int64_t channels, BytesPerSecond each,
                 const std::optional<BytesPerSecond>& shared) {
  const double all = static_cast<double>(channels) * giga(each);
  return shared ? std::min(all, giga(*shared)) : all;
}

// `cycles`: from the end of one inference to the end of the next; `cold`: of the first.
void setTime(Point& point, double cycles, Cycles cold, Hertz clock) {
  const double ms = milliseconds(cycles, clock);
  point.values["cycles"] = cycles;
  point.values["ms"] = ms;
  point.values["coldMs"] = milliseconds(static_cast<double>(cold.raw()), clock);
  if (cycles > 0) {
    point.values["ips"] = static_cast<double>(clock.raw) / cycles;
    if (const auto bound = numberIn(point.values, "layerBoundMs"))
      point.values["efficiency"] = *bound / ms;
  }
}

constexpr std::array<std::pair<Resource, const char*>, 6> kShares = {
    {{Resource::Compute, "boundCompute"},
     {Resource::InputWire, "boundInputWire"},
     {Resource::WeightsWire, "boundWeightsWire"},
     {Resource::Output, "boundOutput"},
     {Resource::DdrRead, "boundDdrRead"},
     {Resource::DdrWrite, "boundDdrWrite"}}};

// Cycles of the layers (or steps) that each resource bounds.
void setShares(Point& point, const PerResource<Cycles>& cycles, Cycles whole) {
  if (whole.raw() <= 0) return;
  const auto largest = std::ranges::max_element(cycles) - cycles.begin();
  point.values["boundBy"] = std::string(name(static_cast<Resource>(largest)));
  for (const auto& [resource, column] : kShares)
    point.values[column] = static_cast<double>(cycles[static_cast<std::size_t>(resource)].raw()) /
                           static_cast<double>(whole.raw());
}

void setSimulated(Point& point, const Report& report) {
  setTime(point, report.frameTimes.steady, report.frameTimes.cold, report.clock);
  setShares(point, report.boundCycles(), report.cycles);
  point.values["peakMemtileKiB"] = kibi(report.memtilePeakBytes);
}

void setEstimated(Point& point, const std::vector<StepTime>& steps, Cycles whole,
                  std::int64_t batch, Hertz clock) {
  setTime(point, static_cast<double>(whole.raw()) / static_cast<double>(batch), whole, clock);
  PerResource<Cycles> bound{};
  for (const StepTime& step : steps) bound[static_cast<std::size_t>(step.boundBy)] += step.cycles;
  setShares(point, bound, whole);
}

// Tensors that layers hand to each other through DDR.
void setMemory(Point& point, const CanonicalGraph& graph, const MemoryPlan& memory) {
  std::vector<bool> isPort(graph.tensors.size());
  for (const std::vector<Port>* ports : {&graph.inputs, &graph.outputs})
    for (const Port& port : *ports) isPort[port.tensor.at()] = true;
  std::int64_t spills = 0, bytes = 0;
  for (std::size_t t = 0; t < memory.tensors.size(); ++t) {
    const TensorMemory& tensor = memory.tensors[t];
    if (!tensor.ddr || !tensor.slices.empty() || isPort[t] || !graph.tensors[t].constant.empty())
      continue;
    ++spills;
    bytes += graph.tensors[t].shape.elements();
  }
  point.values["spills"] = static_cast<double>(spills);
  point.values["spilledMB"] = mega(bytes);
}

std::string settingsLine(const PointSettings& settings, const PointNetwork& network) {
  std::string line = settings.estimate ? "estimate" : settings.verify ? "verify" : "simulate";
  if (settings.verify && !settings.estimate) line += " seed=" + std::to_string(settings.seed);
  line += " effort=" + std::to_string(settings.plan.effort);
  if (settings.plan.tiling != PlanOptions::Tiling::Auto) line += " fuse=" + fuseText(settings.plan);
  if (settings.plan.frames > 1 && !settings.estimate)
    line += " frames=" + std::to_string(settings.plan.frames);
  if (network.batch > 1) line += " batch=" + std::to_string(network.batch);
  if (!settings.propagate) line += " no-propagate";
  if (!settings.plan.reorder) line += " no-reorder";
  if (settings.maxCycles && !settings.estimate)
    line += " max-cycles=" + std::to_string(settings.maxCycles->raw());
  if (network.masks != PointNetwork().masks) line += " masks=" + network.masks;
  return line;
}

Figure valueOf(const nlohmann::ordered_json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return {};
}

}  // namespace

Point pointOf(const PointNetwork& network, const std::string& deviceText,
              const PointSettings& settings) {
  Point point{.id = {},
              .version = settings.version,
              .model = network.model,
              .modelSha256 = network.sha256,
              .deviceSha256 = sha256(deviceText),
              .settings = settingsLine(settings, network)};
  const std::string all = joinWords({kPointFormat, point.version, point.model, point.modelSha256,
                                     point.deviceSha256, point.settings},
                                    "\n");
  point.id = sha256(all).substr(0, kIdDigits);
  point.values["model"] = network.model;
  point.values["masks"] = network.masks;
  point.values["propagate"] = settings.propagate ? 1.0 : 0.0;
  point.values["reorder"] = settings.plan.reorder ? 1.0 : 0.0;
  point.values["effort"] = static_cast<double>(settings.plan.effort);
  point.values["fuse"] = fuseText(settings.plan);
  point.values["frames"] = settings.estimate ? 1.0 : static_cast<double>(settings.plan.frames);
  point.values["batch"] = static_cast<double>(network.batch);
  point.values["proved"] = settings.verify && !settings.estimate ? 1.0 : 0.0;
  return point;
}

void addDevice(Point& point, const Device& device) {
  point.numbers = numbersOf(device);
  Figures& v = point.values;
  v["device"] = device.name;
  v["rows"] = static_cast<double>(device.rows);
  v["cols"] = static_cast<double>(device.columns);
  v["cores"] = static_cast<double>(device.cores());
  v["memtiles"] = static_cast<double>(device.memtiles());
  v["macsPerCycle"] = static_cast<double>(device.core.macsPerCycle);
  v["memtileKiB"] = kibi(device.memtile.memory.raw());
  v["coreKiB"] = kibi(device.core.memory.raw());
  v["clockGHz"] = static_cast<double>(device.clock.raw) / 1e9;
  const Rates& rates = device.rates;
  v["ddrReadGBps"] = giga(rates.ddrRead);
  v["ddrWriteGBps"] = giga(rates.ddrWrite);
  v["ddrTotalGBps"] = totalRate(device.memtiles() * device.memtile.ddrChannelsIn, rates.ddrRead,
                                rates.ddrReadTotal) +
                      totalRate(device.memtiles() * device.memtile.ddrChannelsOut, rates.ddrWrite,
                                rates.ddrWriteTotal);
  v["wireGBps"] = giga(rates.wire);
}

void addNeeds(Point& point, const CanonicalGraph& graph, const Bounds& bounds) {
  LayerNeeds all;
  for (const CanonicalOp& op : graph.ops) {
    const LayerNeeds needs = layerNeeds(graph, op);
    all.macs += needs.macs;
    all.weightBytes += needs.weightBytes;
    all.denseWeightBytes += needs.denseWeightBytes;
  }
  const auto batch = static_cast<double>(graph.batch);  // bounds and MACs are of a frame
  point.values["floorMs"] = milli(bounds.fusedLowerBoundSeconds / batch);
  point.values["layerBoundMs"] = milli(bounds.layerBoundSeconds / batch);
  point.values["macs"] = static_cast<double>(all.macs) / batch;
  point.values["weightMB"] = mega(all.weightBytes);
  if (all.denseWeightBytes > 0)
    point.values["density"] =
        static_cast<double>(all.weightBytes) / static_cast<double>(all.denseWeightBytes);
}

void addResults(Point& point, const Compilation& run, const PointSettings& settings) {
  const Hertz clock = run.device->clock;
  Cycles estimate;
  for (const StepTime& step : run.stepTimes) estimate += step.cycles;
  const std::int64_t batch = run.network().batch;
  point.values["estimateMs"] =
      milliseconds(static_cast<double>(estimate.raw()) / static_cast<double>(batch), clock);
  setMemory(point, run.network(), *run.memoryPlan);
  if (settings.estimate) {
    setEstimated(point, run.stepTimes, estimate, batch, clock);
  } else {
    setSimulated(point, *run.report);
  }
  point.values["status"] = std::string(settings.estimate ? kEstimated : kOk);
}

void refuse(Point& point, const Diagnostic& why) {
  const bool tooLong = why.code == kTooManyCycles;
  const char* status = tooLong ? kLimit : why.severity == Severity::DoesNotFit ? kRefused : kFailed;
  point.values["status"] = std::string(status);
  point.values["reason"] = why.code + " " + why.where + ": " + why.summary;
  point.reason = why;
}

void skip(Point& point, const std::string& requirement) {
  point.values["status"] = std::string(kSkipped);
  point.values["reason"] = "the lower bound breaks: " + requirement;
  point.reason.reset();
}

std::string pointJson(const Point& point) {
  JsonWriter json(1);
  json.beginObject().key("format").value(kPointFormat).key("point").value(point.id);
  json.key("heddle").value(point.version).key("settings").value(point.settings);
  json.key("model").beginObject().key("name").value(point.model);
  json.key("sha256").value(point.modelSha256).endObject();
  json.key("device").beginObject().key("sha256").value(point.deviceSha256).key("keys");
  writeKeys(json, point.numbers);
  json.endObject().key("reason");
  if (point.reason) {
    json.beginObject().key("code").value(point.reason->code);
    json.key("where").value(point.reason->where).key("summary").value(point.reason->summary);
    json.key("what").value(point.reason->what).key("mend").value(point.reason->mend).endObject();
  } else {
    json.null();
  }
  json.key("figures").beginObject();
  for (const Column& column : fixedColumns()) {
    if (column.name == "point") continue;
    const auto found = point.values.find(column.name);
    write(json.key(column.name), found == point.values.end() ? Figure() : found->second);
  }
  json.endObject().endObject();
  return json.take() + "\n";
}

Result<Point> parsePoint(const std::string& text, const std::string& name) {
  const auto fault = [&](const std::string& what) {
    return Diagnostic{"SWEEP010", name, "the file is no point of a sweep", what,
                      "remove it, and sweep again to have it made anew"};
  };
  if (const auto wrong = jsonFault(text)) return fault(*wrong);
  try {
    const nlohmann::ordered_json json = nlohmann::ordered_json::parse(text);
    if (json.at("format") != kPointFormat)
      return fault("its format is not " + std::string(kPointFormat));
    Point point{.id = json.at("point"),
                .version = json.at("heddle"),
                .model = json.at("model").at("name"),
                .modelSha256 = json.at("model").at("sha256"),
                .deviceSha256 = json.at("device").at("sha256"),
                .settings = json.at("settings")};
    for (const auto& [key, number] : json.at("device").at("keys").items())
      point.numbers.push_back(
          {key, number.is_number() ? std::optional(number.get<double>()) : std::nullopt});
    if (const auto& reason = json.at("reason"); reason.is_object())
      point.reason = Diagnostic{reason.at("code"), reason.at("where"), reason.at("summary"),
                                reason.at("what"), reason.at("mend")};
    for (const auto& [column, value] : json.at("figures").items())
      if (fixedColumn(column) && !value.is_null()) point.values[column] = valueOf(value);
    if (point.status().empty()) return fault("it has no status");
    // Files and folders are named by it.
    if (point.id.empty() || point.id.find_first_not_of("0123456789abcdef") != std::string::npos)
      return fault("its name is not made of hex digits");
    return point;
  } catch (const nlohmann::json::exception& e) {
    const std::string what = e.what();  // "[json.exception.type_error.302] type must be ..."
    return fault(what.substr(what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2));
  }
}

}  // namespace heddle
