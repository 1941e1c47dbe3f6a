// A Report as JSON, Markdown and CSV.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <functional>
#include <sstream>

#include "heddle/device/device_json.h"
#include "heddle/report/report.h"
#include "heddle/support/csv.h"
#include "heddle/support/visible.h"
#include "heddle/support/words.h"

namespace heddle {
namespace {

void writeTraffic(JsonWriter& json, const Traffic& traffic) {
  json.key("ddrReadBytes").value(traffic.ddrRead.raw());
  json.key("ddrWriteBytes").value(traffic.ddrWrite.raw());
  json.key("memtileToCoreBytes").value(traffic.memtileToCore.raw());
  json.key("coreToMemtileBytes").value(traffic.coreToMemtile.raw());
}

void writeOptional(JsonWriter& json, const std::optional<double>& number) {
  if (number)
    json.value(*number);
  else
    json.null();
}

void writeStrings(JsonWriter& json, const std::vector<std::string>& strings) {
  json.beginArray();
  for (const std::string& s : strings) json.value(s);
  json.endArray();
}

void writePerResource(JsonWriter& json, const PerResource<Cycles>& cycles) {
  json.beginObject();
  for (std::size_t r = 0; r < kResources; ++r)
    json.key(name(static_cast<Resource>(r))).value(cycles[r].raw());
  json.endObject();
}

void writeWhatIf(JsonWriter& json, const std::vector<WhatIf>& times) {
  json.beginArray();
  for (const WhatIf& free : times) {
    json.beginObject().key("resource").value(name(free.resource));
    json.key("cycles").value(free.cycles.raw()).endObject();
  }
  json.endArray();
}

std::optional<double> layerEfficiency(const Report& report, const LayerReport& layer) {
  if (layer.cycles.raw() == 0) return std::nullopt;
  return layer.boundSeconds / report.seconds(layer.cycles);
}

void writeSteps(JsonWriter& json, const std::vector<StepReport>& steps) {
  json.beginArray();
  for (const StepReport& step : steps) {
    json.beginObject().key("tile").value(step.tile);
    json.key("firstRow").value(step.firstRow).key("rows").value(step.rows);
    json.key("cycles").value(step.cycles.raw()).key("start").value(step.start.raw());
    json.key("end").value(step.end.raw()).endObject();
  }
  json.endArray();
}

void writeRoutes(JsonWriter& json, const std::vector<RouteReport>& routes) {
  json.beginArray();
  for (const RouteReport& route : routes) {
    json.beginObject();
    json.key("stream").value(route.stream == Resource::WeightsWire ? "weights" : "inputs");
    const auto list = [&](const char* key, const auto& of) {
      json.key(key).beginArray();
      for (const RouteReport::Part& part : route.parts) json.value(of(part));
      json.endArray();
    };
    list("wires", [](const RouteReport::Part& part) { return part.wire; });
    list("bytes", [](const RouteReport::Part& part) { return part.bytes.raw(); });
    list("busyCycles", [](const RouteReport::Part& part) { return part.busy.raw(); });
    json.endObject();
  }
  json.endArray();
}

void writeGroups(JsonWriter& json, const Report& report) {
  json.beginArray();
  for (const GroupReport& group : report.groups) {
    json.beginObject();
    json.key("first").value(report.layers[group.first].name);
    json.key("last").value(report.layers[group.last].name);
    json.key("firstLayer").value(static_cast<std::int64_t>(group.first));
    json.key("lastLayer").value(static_cast<std::int64_t>(group.last));
    json.key("tiles").value(group.tiles).key("cycles").value(group.cycles.raw());
    json.key("start").value(group.start.raw()).key("end").value(group.end.raw());
    json.key("keptBytes").value(group.kept.raw());
    json.key("weightsAgainBytes").value(group.weightsAgain.raw()).endObject();
  }
  json.endArray();
}

void writeFrames(JsonWriter& json, const std::vector<FrameReport>& frames) {
  json.beginArray();
  for (const FrameReport& frame : frames) {
    json.beginObject();
    json.key("start").value(frame.start.raw()).key("end").value(frame.end.raw());
    json.key("stepCycles").beginArray();
    for (const Cycles cycles : frame.stepCycles) json.value(cycles.raw());
    json.endArray().endObject();
  }
  json.endArray();
}

void writeLayer(JsonWriter& json, const Report& report, const LayerReport& layer) {
  json.beginObject();
  json.key("name").value(layer.name).key("op").value(layer.op).key("split").value(layer.split);
  json.key("atStart")
      .value(layer.atStart)
      .key("atEnd")
      .value(layer.atEnd)
      .key("tables")
      .beginArray();
  for (const std::string& table : layer.tables) json.value(table);
  json.endArray();
  json.key("cycles").value(layer.cycles.raw());
  json.key("boundBy").value(layer.boundBy ? name(*layer.boundBy) : "none");
  json.key("boundEngine").value(layer.boundEngine);
  json.key("boundEngineCycles").value(layer.boundEngineBusy.raw());
  json.key("start").value(layer.start.raw()).key("end").value(layer.end.raw());
  json.key("closedFormCycles");
  if (layer.closedForm)
    json.value(layer.closedForm->raw());
  else
    json.null();
  json.key("closedFormError");
  writeOptional(json, report.closedFormError(layer));
  json.key("boundSeconds").value(layer.boundSeconds);
  json.key("mappingBoundCycles");
  if (layer.mappingBound)
    json.value(layer.mappingBound->raw());
  else
    json.null();
  json.key("efficiency");
  writeOptional(json, layerEfficiency(report, layer));
  json.key("macs").value(layer.macs).key("macsExecuted").value(layer.macsExecuted);
  json.key("macsOnPaddedChannels").value(layer.macsOnPaddedChannels);
  json.key("weightBytes").value(layer.weightBytes);
  json.key("weightBytesPadded").value(layer.weightBytesPadded.raw());
  json.key("denseMacs").value(layer.denseMacs);
  json.key("denseWeightBytes").value(layer.denseWeightBytes).key("density");
  writeOptional(json, layer.density);
  json.key("imbalance");
  writeOptional(json, layer.imbalance);
  writeTraffic(json, layer.traffic);
  json.key("weightsToCoresBytes").value(layer.weightsToCores.raw());
  json.key("inputsToCoresBytes").value(layer.inputsToCores.raw());
  json.key("routes");
  writeRoutes(json, layer.routes);
  json.key("cores").value(layer.cores);
  json.key("busyCycles");
  writePerResource(json, layer.busy);
  json.key("waitCoreCycles");
  writePerResource(json, layer.waits);
  json.key("steps");
  writeSteps(json, layer.steps);
  json.endObject();
}

// Of the schedule; only those of layers in groups are told one by one.
std::int64_t stepsOf(const LayerReport& layer) {
  return std::max<std::int64_t>(1, std::ssize(layer.steps));
}

void writeVerification(JsonWriter& json, const Verification& v) {
  json.beginObject();
  json.key("ran").value(v.ran).key("matches").value(v.matches);
  json.key("tensorsCompared").value(v.tensorsCompared).key("bytesCompared").value(v.bytesCompared);
  json.key("mismatches").value(v.mismatches).key("notMaterialized");
  writeStrings(json, v.notMaterialized);
  json.endObject();
}

std::string fixed(double value, int digits) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, digits);
  return end.ec == std::errc() ? std::string(text.data(), end.ptr) : "too large";
}

std::string milliseconds(double seconds) { return fixed(seconds * 1e3, 3) + " ms"; }
std::string percent(double share) { return fixed(share * 100, 1) + " %"; }
std::string megabytes(std::int64_t bytes) {
  return fixed(static_cast<double>(bytes) / 1e6, 3) + " MB";
}
std::string kibibytes(std::int64_t bytes) {
  return fixed(static_cast<double>(bytes) / 1024, 1) + " KiB";
}

// Names come from the model: they must not break a table or become markup.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : visibleLines(text)) {
    if (c == '|' || c == '<' || c == '>' || c == '`' || c == '[' || c == ']' || c == '\\')
      out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string number(double value) {
  std::array<char, 40> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

void writeBoundsTable(std::ostream& out, const Report& report) {
  const double seconds =
      report.seconds(report.cycles) / static_cast<double>(std::max<std::int64_t>(1, report.frames));
  out << "| bound | time | of " << (report.frames > 1 ? "a frame of " : "")
      << "the run |\n|---|---:|---:|\n";
  const auto row = [&](const char* what, double bound) {
    out << "| " << what << " | " << milliseconds(bound) << " | "
        << (seconds > 0 ? percent(bound / seconds) : "-") << " |\n";
  };
  row("compute: needed MACs, all cores busy", report.bounds.computeSeconds);
  row("DDR read: weights and inputs once", report.bounds.ddrReadSeconds);
  row("DDR write: outputs once", report.bounds.ddrWriteSeconds);
  row("memtile to core: weights and inputs of each layer once", report.bounds.memtileToCoreSeconds);
  row("core to memtile: output of each layer once", report.bounds.coreToMemtileSeconds);
  row("lower bound: the largest of these, nothing fused", report.bounds.lowerBoundSeconds);
  row("lower bound, everything fused", report.bounds.fusedLowerBoundSeconds);
  row("layer bound: one layer after another", report.bounds.layerBoundSeconds);
  row("the same with the paper's use of the wires", report.bounds.paperBoundSeconds);
  if (report.bounds.mappingBoundSeconds)
    row("mapping bound: the best mapping of each layer alone", *report.bounds.mappingBoundSeconds);
}

void writeSlowest(std::ostream& out, const Report& report) {
  std::vector<const LayerReport*> order;
  for (const LayerReport& layer : report.layers) order.push_back(&layer);
  std::stable_sort(order.begin(), order.end(), [](const LayerReport* a, const LayerReport* b) {
    return a->cycles > b->cycles;
  });
  if (order.size() > 10) order.resize(10);
  out << "| layer | operator | cycles | of the run | bound by | efficiency | cores "
         "|\n|---|---|---:|---:|---|---:|---:|\n";
  for (const LayerReport* layer : order) {
    const std::optional<double> efficiency = layerEfficiency(report, *layer);
    const double share =
        report.cycles.raw() > 0 ? report.seconds(layer->cycles) / report.seconds(report.cycles) : 0;
    out << "| " << cell(layer->name) << " | " << cell(layer->op) << " | " << layer->cycles.raw()
        << " | " << percent(share) << " | " << (layer->boundBy ? name(*layer->boundBy) : "none")
        << " | " << (efficiency ? percent(*efficiency) : "-") << " | " << layer->cores << " |\n";
  }
}

void writeTiledLayers(std::ostream& out, const Report& report) {
  if (report.groups.empty()) return;
  out << "\n## Layers that are computed tile by tile\n\n"
         "| from | to | tiles | cycles | nowhere whole | weights read again |\n"
         "|---|---|---:|---:|---:|---:|\n";
  for (const GroupReport& group : report.groups)
    out << "| " << cell(report.layers[group.first].name) << " | "
        << cell(report.layers[group.last].name) << " | " << group.tiles << " | "
        << group.cycles.raw() << " | " << megabytes(group.kept.raw()) << " | "
        << megabytes(group.weightsAgain.raw()) << " |\n";
}

void writeVerdict(std::ostream& out, const Verification& v) {
  if (!v.ran) {
    out << "Not verified: the program was not executed with data.\n";
    return;
  }
  out << (v.matches
              ? "The program was executed and matches the reference interpreter byte for byte: "
              : "**The program does not compute what the reference interpreter does**: ")
      << v.tensorsCompared << " tensors, " << v.bytesCompared << " bytes compared, " << v.mismatches
      << " differ.\n";
}

// "DDR read" as part of a name: DdrRead.
std::string capitalized(std::string_view words) {
  std::string name;
  bool first = true;
  for (const unsigned char c : words) {
    if (c != ' ') name += static_cast<char>(first ? std::toupper(c) : std::tolower(c));
    first = c == ' ';
  }
  return name;
}

void writeModel(JsonWriter& json, const Report& report) {
  json.key("model").beginObject();
  json.key("name").value(report.model).key("sha256").value(report.modelSha256);
  json.key("macs").value(report.macs).key("weightBytes").value(report.weightBytes);
  json.key("denseMacs").value(report.denseMacs);
  json.key("denseWeightBytes").value(report.denseWeightBytes).endObject();
}

void writeDevice(JsonWriter& json, const Report& report) {
  json.key("device").beginObject();
  json.key("name").value(report.device);
  json.key("rows").value(report.rows).key("columns").value(report.columns);
  json.key("clockHz").value(report.clock.raw).key("macsPerCycle").value(report.macsPerCycle);
  json.key("keys");
  writeKeys(json, report.deviceKeys);
  json.key("wires");
  writeWires(json, report.wires);
  json.endObject();
}

void writeTime(JsonWriter& json, const Report& report) {
  json.key("time").beginObject();
  json.key("cycles").value(report.cycles.raw()).key("seconds").value(report.seconds(report.cycles));
  json.key("frames").value(report.frames).key("batch").value(report.batch);
  json.key("coldCycles").value(report.frameTimes.cold.raw());
  json.key("coldSeconds").value(report.seconds(report.frameTimes.cold));
  json.key("steadyCycles").value(report.frameTimes.steady);
  json.key("steadySeconds").value(report.frameTimes.steady / static_cast<double>(report.clock.raw));
  json.key("closedFormSeconds");
  writeOptional(
      json, report.closedForm ? std::optional(report.seconds(*report.closedForm)) : std::nullopt);
  json.key("closedFormWorstLayerError");
  writeOptional(json, report.closedFormWorstLayerError());
  json.endObject();
}

void writeBounds(JsonWriter& json, const Report& report) {
  const Bounds& b = report.bounds;
  json.key("bounds").beginObject();
  json.key("computeSeconds").value(b.computeSeconds).key("ddrReadSeconds").value(b.ddrReadSeconds);
  json.key("ddrWriteSeconds").value(b.ddrWriteSeconds);
  json.key("memtileToCoreSeconds").value(b.memtileToCoreSeconds);
  json.key("coreToMemtileSeconds").value(b.coreToMemtileSeconds);
  json.key("lowerBoundSeconds").value(b.lowerBoundSeconds);
  json.key("fusedLowerBoundSeconds").value(b.fusedLowerBoundSeconds);
  json.key("layerBoundSeconds").value(b.layerBoundSeconds);
  json.key("paperBoundSeconds").value(b.paperBoundSeconds);
  json.key("mappingBoundSeconds");
  writeOptional(json, b.mappingBoundSeconds);
  json.key("efficiency").value(report.efficiency()).key("layerBoundPassedBy");
  writeStrings(json, report.layerBoundPassedBy);
  json.endObject();
}

void writeWork(JsonWriter& json, const Report& report) {
  json.key("work").beginObject();
  json.key("macsDense").value(report.denseMacs).key("macsExecuted").value(report.macsExecuted);
  json.key("macsPadded").value(report.macsExecuted - report.macs);
  json.key("macsOnPaddedChannels").value(report.macsOnPaddedChannels);
  json.key("macsTwice").value(report.macsExecuted - report.macs - report.macsOnPaddedChannels);
  json.key("weightBytesPadded").value(report.weightBytesPadded);
  json.key("instructions").value(report.instructions).endObject();
}

}  // namespace

void writeReport(JsonWriter& json, const Report& report) {
  json.key("format").value("heddle.report/2");
  writeModel(json, report);
  writeDevice(json, report);
  writeTime(json, report);
  writeBounds(json, report);
  json.key("boundCycles");
  writePerResource(json, report.boundCycles());
  json.key("whatIf");
  writeWhatIf(json, report.whatIf);
  json.key("traffic").beginObject();
  writeTraffic(json, report.traffic);
  json.endObject();
  json.key("memory").beginObject();
  json.key("memtilePeakBytes").value(report.memtilePeakBytes);
  json.key("corePeakBytes").value(report.corePeakBytes).endObject();
  writeWork(json, report);
  json.key("propagation").beginObject();
  json.key("channelsRemoved").value(report.propagation.channelsRemoved);
  json.key("weightsZeroed").value(report.propagation.weightsZeroed);
  json.key("macsRemoved").value(report.propagation.macsRemoved).endObject();
  json.key("verification");
  writeVerification(json, report.verification);
  json.key("layers").beginArray();
  for (const LayerReport& layer : report.layers) writeLayer(json, report, layer);
  json.endArray();
  json.key("groups");
  writeGroups(json, report);
  json.key("frames");
  writeFrames(json, report.eachFrame);
  json.key("hostOperators");
  writeStrings(json, report.hostOperators);
  json.key("notModelled");
  writeStrings(json, report.notModelled);
}

std::string reportJson(const Report& report) {
  JsonWriter json(1);
  json.beginObject();
  writeReport(json, report);
  const Effort& e = report.effort;
  json.key("effort").beginObject();
  json.key("importSeconds").value(e.importSeconds).key("compileSeconds").value(e.compileSeconds);
  json.key("simulateSeconds").value(e.simulateSeconds).key("whatIfSeconds").value(e.whatIfSeconds);
  json.key("verifySeconds").value(e.verifySeconds).key("peakBytes").value(e.peakBytes).endObject();
  json.endObject();
  return json.take() + '\n';
}

std::string reportMarkdown(const Report& report) {
  std::ostringstream out;
  const double seconds = report.seconds(report.cycles);
  out << "# " << cell(report.model) << " on " << cell(report.device) << ' ' << report.rows << 'x'
      << report.columns << "\n\n";
  out << "**" << milliseconds(seconds) << "** (" << report.cycles.raw() << " cycles) for "
      << (report.inferences() == 1 ? "one inference"
                                   : std::to_string(report.inferences()) + " inferences")
      << ", " << percent(report.efficiency()) << " of the layer bound of "
      << milliseconds(report.bounds.layerBoundSeconds) << (report.frames > 1 ? " a frame" : "")
      << ". This is an estimate: the program was simulated, not run on an array.\n\n";
  const std::string steady =
      milliseconds(report.frameTimes.steady / static_cast<double>(report.clock.raw));
  if (report.batch > 1)
    out << "Frames are of " << report.batch
        << " inferences, which go through the array together: the "
        << "first ends after **" << milliseconds(report.seconds(report.frameTimes.cold))
        << "**, and " << (report.frames > 1 ? "later on " : "") << "an inference takes **" << steady
        << "**. All that follows counts the " << report.inferences()
        << " together, but the bounds are of a frame.\n\n";
  else if (report.frames > 1)
    out << "The first inference ends after **"
        << milliseconds(report.seconds(report.frameTimes.cold)) << "**, later ones every **"
        << steady << "**. All that follows counts the " << report.frames
        << " together, but the bounds are of one.\n\n";
  for (const std::string& way : report.layerBoundPassedBy)
    out << "Faster than the layer bound by " << cell(way) << ".\n\n";
  writeVerdict(out, report.verification);
  out << "\n## What the device allows\n\n";
  writeBoundsTable(out, report);
  if (report.closedForm) {
    out << "\nThe closed form of the planner says "
        << milliseconds(report.seconds(*report.closedForm));
    if (const auto worst = report.closedFormWorstLayerError())
      out << "; for one layer it is off by as much as " << percent(*worst);
    out << ".\n";
  }
  out << "\n## Where the time goes\n\n";
  writeSlowest(out, report);
  out << "\nAll layers: `layers.csv`, and the table of `timeline.html`.\n";
  writeTiledLayers(out, report);
  out << "\n## What moved and what "
         "it took\n\n";
  out << "| | |\n|---|---:|\n";
  out << "| DDR read | " << megabytes(report.traffic.ddrRead.raw()) << " |\n";
  out << "| DDR write | " << megabytes(report.traffic.ddrWrite.raw()) << " |\n";
  out << "| memtile to core | " << megabytes(report.traffic.memtileToCore.raw()) << " |\n";
  out << "| core to memtile | " << megabytes(report.traffic.coreToMemtile.raw()) << " |\n";
  out << "| most bytes in one memtile | " << kibibytes(report.memtilePeakBytes) << " |\n";
  out << "| most bytes in one core | " << kibibytes(report.corePeakBytes) << " |\n";
  out << "| MACs needed | " << report.macs << " |\n";
  if (report.propagation.channelsRemoved > 0 || report.propagation.weightsZeroed > 0)
    out << "| MACs that no output depends on, taken out | " << report.propagation.macsRemoved
        << " |\n";
  out << "| MACs executed, padding included | " << report.macsExecuted << " |\n";
  if (!report.hostOperators.empty()) {
    out << "\n## On the host, not in the time above\n\n";
    for (const std::string& op : report.hostOperators) out << "- " << cell(op) << '\n';
  }
  if (!report.notModelled.empty()) {
    out << "\n## Not modelled\n\n";
    for (const std::string& what : report.notModelled) out << "- " << cell(what) << '\n';
  }
  return out.str();
}

std::string layersCsv(const Report& report) {
  struct Column {
    std::string title;
    std::function<std::string(const LayerReport&)> text;
  };
  const auto count = [](std::int64_t n) { return std::to_string(n); };
  const auto optional = [](const std::optional<double>& n) {
    return n ? number(*n) : std::string();
  };
  std::vector<Column> columns = {
      {"name", [](const LayerReport& l) { return csvText(l.name); }},
      {"op", [](const LayerReport& l) { return csvText(l.op); }},
      {"split", [](const LayerReport& l) { return csvText(l.split); }},
      {"atStart", [](const LayerReport& l) { return csvText(l.atStart); }},
      {"atEnd", [](const LayerReport& l) { return csvText(l.atEnd); }},
      {"tables", [](const LayerReport& l) { return csvText(joinWords(l.tables, "; ")); }},
      {"cycles", [&](const LayerReport& l) { return count(l.cycles.raw()); }},
      {"boundBy",
       [](const LayerReport& l) { return std::string(l.boundBy ? name(*l.boundBy) : "none"); }},
      {"boundEngine", [](const LayerReport& l) { return csvText(l.boundEngine); }},
      {"boundEngineCycles", [&](const LayerReport& l) { return count(l.boundEngineBusy.raw()); }},
      {"start", [&](const LayerReport& l) { return count(l.start.raw()); }},
      {"end", [&](const LayerReport& l) { return count(l.end.raw()); }},
      {"closedFormCycles",
       [&](const LayerReport& l) {
         return l.closedForm ? count(l.closedForm->raw()) : std::string();
       }},
      {"closedFormError",
       [&](const LayerReport& l) { return optional(report.closedFormError(l)); }},
      {"boundSeconds", [](const LayerReport& l) { return number(l.boundSeconds); }},
      {"mappingBoundCycles",
       [&](const LayerReport& l) {
         return l.mappingBound ? count(l.mappingBound->raw()) : std::string();
       }},
      {"efficiency", [&](const LayerReport& l) { return optional(layerEfficiency(report, l)); }},
      {"cores", [&](const LayerReport& l) { return count(l.cores); }},
      {"steps", [&](const LayerReport& l) { return count(stepsOf(l)); }},
      {"macs", [&](const LayerReport& l) { return count(l.macs); }},
      {"macsExecuted", [&](const LayerReport& l) { return count(l.macsExecuted); }},
      {"macsOnPaddedChannels", [&](const LayerReport& l) { return count(l.macsOnPaddedChannels); }},
      {"weightBytes", [&](const LayerReport& l) { return count(l.weightBytes); }},
      {"weightBytesPadded", [&](const LayerReport& l) { return count(l.weightBytesPadded.raw()); }},
      {"denseMacs", [&](const LayerReport& l) { return count(l.denseMacs); }},
      {"denseWeightBytes", [&](const LayerReport& l) { return count(l.denseWeightBytes); }},
      {"density", [&](const LayerReport& l) { return optional(l.density); }},
      {"imbalance", [&](const LayerReport& l) { return optional(l.imbalance); }},
      {"ddrReadBytes", [&](const LayerReport& l) { return count(l.traffic.ddrRead.raw()); }},
      {"ddrWriteBytes", [&](const LayerReport& l) { return count(l.traffic.ddrWrite.raw()); }},
      {"memtileToCoreBytes",
       [&](const LayerReport& l) { return count(l.traffic.memtileToCore.raw()); }},
      {"weightsToCoresBytes", [&](const LayerReport& l) { return count(l.weightsToCores.raw()); }},
      {"inputsToCoresBytes", [&](const LayerReport& l) { return count(l.inputsToCores.raw()); }},
      {"coreToMemtileBytes",
       [&](const LayerReport& l) { return count(l.traffic.coreToMemtile.raw()); }},
  };
  for (const bool busy : {true, false})
    for (std::size_t r = 0; r < kResources; ++r)
      columns.push_back(
          {(busy ? "busyCycles" : "waitCoreCycles") + capitalized(name(static_cast<Resource>(r))),
           [busy, r, count](const LayerReport& l) {
             return count((busy ? l.busy : l.waits)[r].raw());
           }});
  std::string out;
  for (std::size_t c = 0; c < columns.size(); ++c) out += (c ? "," : "") + columns[c].title;
  out += "\r\n";
  for (const LayerReport& layer : report.layers) {
    for (std::size_t c = 0; c < columns.size(); ++c) out += (c ? "," : "") + columns[c].text(layer);
    out += "\r\n";
  }
  return out;
}

}  // namespace heddle
