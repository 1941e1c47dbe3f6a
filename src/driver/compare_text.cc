#include "compare_text.h"

#include <algorithm>
#include <functional>
#include <map>

#include "heddle/support/json_writer.h"
#include "heddle/support/visible.h"
#include "summary.h"
#include "text_table.h"

namespace heddle {
namespace {

constexpr std::size_t kNamed = 3;         // layers of a kind that a sentence names
constexpr std::size_t kLongestName = 60;  // bytes, of a layer in a table

std::string boundText(const LayerReport& layer) {
  return std::string(layer.boundBy ? name(*layer.boundBy) : "none");
}

std::string timesText(const std::optional<double>& times) {
  return times ? hundredthsText(*times) : "-";
}

std::string shareText(double part, double whole) {
  return whole > 0 ? percentText(part / whole) : "-";
}

// For a table, in which every row is as wide as the longest name.
std::string shortName(const std::string& layer) {
  std::string name = visible(layer);
  if (name.size() <= kLongestName) return name;
  std::size_t end = 0;
  while (end + utf8Length(std::string_view(name).substr(end)) <= kLongestName - 3)
    end += utf8Length(std::string_view(name).substr(end));
  return name.substr(0, end) + "...";
}

std::string layersText(std::size_t layers) {
  return std::to_string(layers) + (layers == 1 ? " layer" : " layers");
}

std::string namesText(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + visible(names[i]);
  return text + (names.size() > kNamed ? ", ..." : "");
}

// ---- sentences ----

// Sums over layers that one sentence is about.
struct HeldLayer {
  Obstacle obstacle = Obstacle::Idle;
  std::string boundA, boundB;  // of Idle and Imbalance: empty, they need not be alike
  std::vector<std::string> names;
  double bytesA = 0, bytesB = 0;          // over what binds B
  double cycles = 0, busy = 0;            // in B
  double imbalanceA = 0, imbalanceB = 0;  // largest
};

std::string sentenceOf(const HeldLayer& held) {
  const std::string layers = layersText(held.names.size()) + " (" + namesText(held.names) + ")";
  const bool one = held.names.size() == 1;
  switch (held.obstacle) {
    case Obstacle::OtherResource:
      return "Held back: " + layers + (one ? " is" : " are") + " bound by " + held.boundB +
             (held.boundA == held.boundB ? ", as in A" : ", in A by " + held.boundA) +
             ": fewer weights change nothing there.";
    case Obstacle::MoreBytes:
      return "Held back: " + layers + (one ? " is" : " are") + " bound by " + held.boundB +
             ", which carries " + shareText(held.bytesB, held.bytesA) + " of A's bytes.";
    case Obstacle::Imbalance:
      return "Held back: " + layers + (one ? " waits" : " wait") +
             " for the heaviest core, which does up to " + hundredthsText(held.imbalanceB) +
             " times the mean, in A " + hundredthsText(held.imbalanceA) + ".";
    case Obstacle::Idle:
      return "Held back: " + layers + (one ? " keeps" : " keep") +
             " even the busiest engine at work for only " + shareText(held.busy, held.cycles) +
             " of the time.";
  }
  return "";
}

HeldLayer heldBy(Obstacle obstacle, const LayerReport& a, const LayerReport& b) {
  HeldLayer held{.obstacle = obstacle};
  if (obstacle == Obstacle::OtherResource) held.boundA = boundText(a);
  if (obstacle == Obstacle::OtherResource || obstacle == Obstacle::MoreBytes)
    held.boundB = boundText(b);
  return held;
}

void add(HeldLayer& held, const LayerReport& a, const LayerReport& b) {
  held.names.push_back(b.name);
  if (b.boundBy) {
    held.bytesA += static_cast<double>(bytesOver(*b.boundBy, a).raw());
    held.bytesB += static_cast<double>(bytesOver(*b.boundBy, b).raw());
  }
  held.cycles += static_cast<double>(b.cycles.raw());
  held.busy += static_cast<double>(std::min(busiest(b), b.cycles).raw());
  held.imbalanceA = std::max(held.imbalanceA, a.imbalance.value_or(1));
  held.imbalanceB = std::max(held.imbalanceB, b.imbalance.value_or(1));
}

// Layers of one obstacle and, where that matters, of the same resources; as many as there are,
// those of most layers first.
std::vector<HeldLayer> heldBack(const RunComparison& c) {
  std::vector<HeldLayer> kinds;
  for (const LayerGain& gain : c.gain.layers) {
    if (!gain.obstacle) continue;
    const LayerReport &a = c.a.report.layers[gain.layer.a], &b = c.b.report.layers[gain.layer.b];
    const HeldLayer kind = heldBy(*gain.obstacle, a, b);
    auto at = std::ranges::find_if(kinds, [&](const HeldLayer& held) {
      return held.obstacle == kind.obstacle && held.boundA == kind.boundA &&
             held.boundB == kind.boundB;
    });
    if (at == kinds.end()) at = kinds.insert(at, kind);
    add(*at, a, b);
  }
  std::ranges::stable_sort(kinds, std::greater<>(),
                           [](const HeldLayer& h) { return h.names.size(); });
  return kinds;
}

std::string gainedText(const RunComparison& c) {
  double macsA = 0, macsB = 0, bytesA = 0, bytesB = 0;
  for (const LayerPair& pair : c.match.both) {
    const LayerReport &a = c.a.report.layers[pair.a], &b = c.b.report.layers[pair.b];
    macsA += static_cast<double>(a.macs);
    macsB += static_cast<double>(b.macs);
    bytesA += static_cast<double>(a.weightBytes);
    bytesB += static_cast<double>(b.weightBytes);
  }
  const std::size_t layers = c.gain.layers.size();
  return "Gained: B needs " + shareText(macsB, macsA) + " of A's MACs and " +
         shareText(bytesB, bytesA) + " of its weight bytes. " + layersText(layers) +
         (layers == 1 ? " needs" : " need") + " fewer, and " + (layers == 1 ? "is " : "are ") +
         timesText(c.gain.speedUp) + " times as fast, of " + timesText(c.gain.allowed) +
         " that the MACs allow.";
}

// Layers of both runs that leave nothing out in B: no blocks, and no channels that A still has.
std::string denseText(const RunComparison& c) {
  std::size_t dense = 0, without = 0;
  double denseCycles = 0, withoutCycles = 0;
  for (const LayerPair& pair : c.match.both) {
    const LayerReport &a = c.a.report.layers[pair.a], &b = c.b.report.layers[pair.b];
    if (b.macs < a.macs || b.macs < b.denseMacs || b.weightBytes < b.denseWeightBytes) continue;
    ++(b.denseWeightBytes > 0 ? dense : without);
    (b.denseWeightBytes > 0 ? denseCycles : withoutCycles) += static_cast<double>(b.cycles.raw());
  }
  const auto whole = static_cast<double>(c.b.report.cycles.raw());
  std::string text;
  if (dense > 0)
    text = layersText(dense) + (dense == 1 ? " keeps" : " keep") + " all blocks of weights and " +
           (dense == 1 ? "takes " : "take ") + shareText(denseCycles, whole) + " of B's time";
  if (without > 0)
    text += (text.empty() ? "" : "; ") + layersText(without) + (without == 1 ? " has" : " have") +
            " no weights and " + (without == 1 ? "takes " : "take ") +
            shareText(withoutCycles, whole) + (text.empty() ? " of B's time" : "");
  return text.empty() ? "" : "Nothing to gain: " + text + ".";
}

std::string batchText(const RunComparison& c) {
  return "Not told apart: frames of " + std::to_string(c.a.batch) +
         (c.a.batch == 1 ? " inference" : " inferences") + " in A and of " +
         std::to_string(c.b.batch) +
         " in B, whose weights come once for all of them, change the times, too.";
}

// ---- text ----

std::string runLine(const char* which, const ComparedRun& run) {
  const Report& r = run.report;
  return std::string(which) + "         " + visible(r.model) + " on " + visible(r.device) + " " +
         std::to_string(r.rows) + "x" + std::to_string(r.columns) + " at " + clockText(r.clock) +
         ": " + visible(run.path) + "\n";
}

std::string deviceText(const RunComparison& c) {
  if (!c.a.device || !c.b.device) return "";
  std::string text;
  for (const DeviceDifference& difference : differences(*c.a.device, *c.b.device))
    text += (text.empty() ? "device    " : "          ") + difference.key + ": " +
            visible(difference.a) + " in A, " + visible(difference.b) + " in B\n";
  return text;
}

std::string framesText(const RunComparison& c) {
  if (!c.perInference()) return "";
  const auto words = [](const ComparedRun& run) {
    return std::to_string(run.frames) +
           (run.batch > 1 ? " of " + std::to_string(run.batch) + " inferences" : "");
  };
  return "frames    " + words(c.a) + " in A, " + words(c.b) +
         " in B: all figures are of one inference, on average\n";
}

std::string totalsText(const RunComparison& c) {
  const Report &a = c.a.report, &b = c.b.report;
  TextTable table{{"", "A", "B", "B of A"}};
  const auto row = [&](const char* what, std::int64_t inA, std::int64_t inB) {
    table.push_back({what, std::to_string(inA), std::to_string(inB),
                     shareText(static_cast<double>(inB), static_cast<double>(inA))});
  };
  row("cycles", a.cycles.raw(), b.cycles.raw());
  row("bytes, DDR to memtiles", a.traffic.ddrRead.raw(), b.traffic.ddrRead.raw());
  row("bytes, memtiles to DDR", a.traffic.ddrWrite.raw(), b.traffic.ddrWrite.raw());
  row("bytes, memtiles to cores", a.traffic.memtileToCore.raw(), b.traffic.memtileToCore.raw());
  row("bytes, cores to memtiles", a.traffic.coreToMemtile.raw(), b.traffic.coreToMemtile.raw());
  row("weight bytes needed", a.weightBytes, b.weightBytes);
  row("MACs needed", a.macs, b.macs);
  row("MACs executed", a.macsExecuted, b.macsExecuted);
  return textOf(table, "  ");
}

std::string layerTable(const RunComparison& c) {
  TextTable table{{"layer", "cycles A", "cycles B", "speed-up", "dense MACs", "executed A",
                   "executed B", "weights A", "weights B", "density B", "imbalance B", "bound in A",
                   "bound in B"}};
  for (const LayerPair& pair : c.match.both) {
    const LayerReport &a = c.a.report.layers[pair.a], &b = c.b.report.layers[pair.b];
    table.push_back({shortName(b.name), std::to_string(a.cycles.raw()),
                     std::to_string(b.cycles.raw()),
                     timesText(speedUp(c.a.report, a.cycles, c.b.report, b.cycles)),
                     std::to_string(b.denseMacs), std::to_string(a.macsExecuted),
                     std::to_string(b.macsExecuted), std::to_string(a.weightBytes),
                     std::to_string(b.weightBytes), b.density ? percentText(*b.density) : "-",
                     timesText(b.imbalance), boundText(a), boundText(b)});
  }
  return textOf(table, "  ");
}

std::string alone(const char* which, const Report& report, const std::vector<std::size_t>& layers) {
  TextTable table;
  for (const std::size_t i : layers)
    table.push_back({shortName(report.layers[i].name),
                     std::to_string(report.layers[i].cycles.raw()), boundText(report.layers[i])});
  return table.empty() ? ""
                       : "only in " + std::string(which) + ": " + layersText(layers.size()) +
                             ", with cycles and bound\n" + textOf(table, "  ");
}

// ---- JSON ----

void optional(JsonWriter& json, const char* key, const std::optional<double>& number) {
  json.key(key);
  if (number)
    json.value(*number);
  else
    json.null();
}

void trafficJson(JsonWriter& json, const Traffic& traffic) {
  json.key("ddrReadBytes").value(traffic.ddrRead.raw());
  json.key("ddrWriteBytes").value(traffic.ddrWrite.raw());
  json.key("memtileToCoreBytes").value(traffic.memtileToCore.raw());
  json.key("coreToMemtileBytes").value(traffic.coreToMemtile.raw());
}

void runJson(JsonWriter& json, const ComparedRun& run) {
  const Report& r = run.report;
  json.beginObject().key("path").value(run.path).key("model").value(r.model);
  json.key("sha256").value(r.modelSha256).key("device").value(r.device);
  json.key("rows").value(r.rows).key("columns").value(r.columns);
  json.key("clockHz").value(r.clock.raw).key("frames").value(run.frames);
  json.key("batch").value(run.batch);
  json.key("cycles").value(r.cycles.raw());
  json.key("seconds").value(r.seconds(r.cycles));
  json.key("macs").value(r.macs).key("denseMacs").value(r.denseMacs);
  json.key("macsExecuted").value(r.macsExecuted).key("weightBytes").value(r.weightBytes);
  json.key("denseWeightBytes").value(r.denseWeightBytes);
  trafficJson(json, r.traffic);
  json.endObject();
}

void layerJson(JsonWriter& json, const LayerReport& layer) {
  json.beginObject().key("cycles").value(layer.cycles.raw());
  json.key("boundBy").value(boundText(layer)).key("split").value(layer.split);
  json.key("macs").value(layer.macs).key("denseMacs").value(layer.denseMacs);
  json.key("macsExecuted").value(layer.macsExecuted).key("weightBytes").value(layer.weightBytes);
  json.key("denseWeightBytes").value(layer.denseWeightBytes);
  optional(json, "density", layer.density);
  optional(json, "imbalance", layer.imbalance);
  trafficJson(json, layer.traffic);
  json.endObject();
}

void layersJson(JsonWriter& json, const RunComparison& c) {
  std::map<std::size_t, Obstacle> obstacles;  // by layer of A
  for (const LayerGain& gain : c.gain.layers)
    if (gain.obstacle) obstacles[gain.layer.a] = *gain.obstacle;
  json.key("layers").beginArray();
  for (const LayerPair& pair : c.match.both) {
    const LayerReport &a = c.a.report.layers[pair.a], &b = c.b.report.layers[pair.b];
    json.beginObject().key("name").value(b.name).key("op").value(b.op);
    optional(json, "speedUp", speedUp(c.a.report, a.cycles, c.b.report, b.cycles));
    json.key("heldBackBy");
    if (const auto held = obstacles.find(pair.a); held != obstacles.end())
      json.value(name(held->second));
    else
      json.null();
    json.key("a");
    layerJson(json, a);
    json.key("b");
    layerJson(json, b);
    json.endObject();
  }
  json.endArray();
}

void aloneJson(JsonWriter& json, const char* key, const Report& report,
               const std::vector<std::size_t>& layers) {
  json.key(key).beginArray();
  for (const std::size_t i : layers) {
    json.beginObject().key("name").value(report.layers[i].name);
    json.key("op").value(report.layers[i].op).key("layer");
    layerJson(json, report.layers[i]);
    json.endObject();
  }
  json.endArray();
}

}  // namespace

std::vector<std::string> sparsitySentences(const RunComparison& c) {
  if (c.gain.layers.empty() && c.gain.moreMacs == 0) return {};
  std::vector<std::string> sentences;
  if (!c.gain.layers.empty()) sentences.push_back(gainedText(c));
  for (const HeldLayer& held : heldBack(c)) sentences.push_back(sentenceOf(held));
  if (c.gain.moreMacs > 0)
    sentences.push_back("The other way: " + layersText(c.gain.moreMacs) +
                        (c.gain.moreMacs == 1 ? " needs" : " need") + " more MACs in B than in A.");
  if (const std::string dense = denseText(c); !c.gain.layers.empty() && !dense.empty())
    sentences.push_back(dense);
  if (c.a.batch != c.b.batch) sentences.push_back(batchText(c));
  return sentences;
}

std::string comparisonText(const RunComparison& c) {
  const Report &a = c.a.report, &b = c.b.report;
  std::string text = runLine("A", c.a) + runLine("B", c.b) + deviceText(c) + framesText(c);
  text += "time      " + milliseconds(a.seconds(a.cycles)) + " in A, " +
          milliseconds(b.seconds(b.cycles)) +
          " in B: " + timesText(speedUp(a, a.cycles, b, b.cycles)) + " times as fast\n";
  text +=
      totalsText(c) + layerTable(c) + alone("A", a, c.match.onlyA) + alone("B", b, c.match.onlyB);
  const std::vector<std::string> sentences = sparsitySentences(c);
  text += "sparsity\n";
  for (const std::string& sentence : sentences) text += "  " + sentence + "\n";
  return sentences.empty() ? text + "  Every layer needs the same MACs in A and in B.\n" : text;
}

std::string comparisonJson(const RunComparison& c) {
  JsonWriter json(2);
  json.beginObject().key("schema").value("heddle.comparison/1");
  json.key("perInference").value(c.perInference()).key("a");
  runJson(json, c.a);
  json.key("b");
  runJson(json, c.b);
  optional(json, "speedUp", speedUp(c.a.report, c.a.report.cycles, c.b.report, c.b.report.cycles));
  json.key("deviceDifferences");
  if (c.a.device && c.b.device) {
    json.beginArray();
    for (const auto& [key, inA, inB] : differences(*c.a.device, *c.b.device))
      json.beginObject().key("key").value(key).key("a").value(inA).key("b").value(inB).endObject();
    json.endArray();
  } else {
    json.null();
  }
  layersJson(json, c);
  aloneJson(json, "onlyInA", c.a.report, c.match.onlyA);
  aloneJson(json, "onlyInB", c.b.report, c.match.onlyB);
  json.key("sparsity").beginObject();
  json.key("layersWithFewerMacs").value(static_cast<std::int64_t>(c.gain.layers.size()));
  json.key("layersWithMoreMacs").value(static_cast<std::int64_t>(c.gain.moreMacs));
  optional(json, "speedUp", c.gain.speedUp);
  optional(json, "speedUpOfMacs", c.gain.allowed);
  json.key("sentences").beginArray();
  for (const std::string& sentence : sparsitySentences(c)) json.value(sentence);
  json.endArray().endObject().endObject();
  return json.take() + "\n";
}

}  // namespace heddle
