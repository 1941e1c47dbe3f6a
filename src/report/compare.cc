#include "heddle/report/compare.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>

namespace heddle {
namespace {

struct Mean {
  std::int64_t inferences, frames;
  // What the network's weights are: those that a frame needs.
  void takeWeights(std::int64_t& all) const { all /= frames; }
  std::int64_t of(std::int64_t all) const {
    return std::llround(static_cast<double>(all) / static_cast<double>(inferences));
  }
  void take(std::int64_t& all) const { all = of(all); }
  void take(Cycles& all) const { all = Cycles(of(all.raw())); }
  void take(Bytes& all) const { all = Bytes(of(all.raw())); }
  void take(std::optional<Cycles>& all) const {
    if (all) take(*all);
  }
  void take(Traffic& all) const {
    for (Bytes* bytes : {&all.ddrRead, &all.ddrWrite, &all.memtileToCore, &all.coreToMemtile})
      take(*bytes);
  }
  void take(LayerReport& layer) const {
    take(layer.cycles);
    take(layer.closedForm);
    take(layer.boundEngineBusy);
    take(layer.mappingBound);
    take(layer.traffic);
    take(layer.weightsToCores);
    take(layer.inputsToCores);
    take(layer.weightBytesPadded);
    for (std::int64_t* count :
         {&layer.macs, &layer.macsExecuted, &layer.macsOnPaddedChannels, &layer.denseMacs})
      take(*count);
    for (std::int64_t* bytes : {&layer.weightBytes, &layer.denseWeightBytes}) takeWeights(*bytes);
    for (RouteReport& route : layer.routes)
      for (RouteReport::Part& part : route.parts) {
        take(part.bytes);
        take(part.busy);
      }
    for (Cycles& busy : layer.busy) take(busy);
    for (Cycles& waits : layer.waits) take(waits);
    layer.boundSeconds /= static_cast<double>(inferences);
  }
};

enum class LayerPart { Start, Table, End };  // what of a layer another one is

// Two layers as one, the second as this part of the first.
LayerReport asOne(const LayerReport& layer, const LayerReport& end, LayerPart part) {
  LayerReport one = layer.cycles < end.cycles ? end : layer;
  one.name = layer.name;
  one.op = part == LayerPart::Start ? end.op + " + " + layer.op : layer.op + " + " + end.op;
  one.atStart = part == LayerPart::Start ? end.name : layer.atStart;
  one.atEnd = part == LayerPart::End ? end.name : layer.atEnd;
  one.tables = layer.tables;
  if (part == LayerPart::Table) one.tables.push_back(end.name);
  one.tables.insert(one.tables.end(), end.tables.begin(), end.tables.end());
  one.cycles = layer.cycles + end.cycles;
  one.start = std::min(layer.start, end.start);
  one.end = std::max(layer.end, end.end);
  one.cores = std::max(layer.cores, end.cores);
  one.boundSeconds = layer.boundSeconds + end.boundSeconds;
  one.density = layer.density ? layer.density : end.density;
  for (const auto bytes :
       {&Traffic::ddrRead, &Traffic::ddrWrite, &Traffic::memtileToCore, &Traffic::coreToMemtile})
    one.traffic.*bytes = layer.traffic.*bytes + end.traffic.*bytes;
  const auto sum = [&](auto member) { one.*member = layer.*member + end.*member; };
  for (const auto count :
       {&LayerReport::macs, &LayerReport::macsExecuted, &LayerReport::macsOnPaddedChannels,
        &LayerReport::weightBytes, &LayerReport::denseMacs, &LayerReport::denseWeightBytes})
    sum(count);
  for (const auto bytes :
       {&LayerReport::weightBytesPadded, &LayerReport::weightsToCores, &LayerReport::inputsToCores})
    sum(bytes);
  for (const auto cycles : {&LayerReport::closedForm, &LayerReport::mappingBound})
    one.*cycles = layer.*cycles && end.*cycles ? std::optional(*(layer.*cycles) + *(end.*cycles))
                                               : std::nullopt;
  for (const auto cycles : {&LayerReport::busy, &LayerReport::waits})
    std::ranges::transform(layer.*cycles, end.*cycles, (one.*cycles).begin(), std::plus());
  return one;
}

// Layers of the report that others do first or last in the other, or whose tables they look up.
void joinAsIn(Report& report, const Report& other) {
  const auto find = [&](const std::string& name) {
    return std::ranges::find(report.layers, name, &LayerReport::name);
  };
  const auto join = [&](const std::string& of, const std::string& name, LayerPart part) {
    const auto end = find(name);
    auto layer = find(of);
    if (layer == report.layers.end())
      layer = std::ranges::find(report.layers, of, &LayerReport::atEnd);
    if (end == report.layers.end() || layer == report.layers.end() || end == layer ||
        (part == LayerPart::End && !layer->atEnd.empty()))
      return;
    *layer = asOne(*layer, *end, part);
    report.layers.erase(end);
    report.groups.clear();
  };
  for (const LayerReport& whole : other.layers) {
    if (!whole.atStart.empty()) join(whole.name, whole.atStart, LayerPart::Start);
    if (!whole.atEnd.empty()) join(whole.name, whole.atEnd, LayerPart::End);
    for (const std::string& table : whole.tables) join(whole.name, table, LayerPart::Table);
  }
}

double secondsOf(const Report& report, std::size_t layer) {
  return report.seconds(report.layers[layer].cycles);
}

Obstacle obstacleOf(const LayerReport& a, const LayerReport& b) {
  const auto ratio = [](auto inA, auto inB) {
    return inA > 0 ? static_cast<double>(inB) / static_cast<double>(inA) : 1.0;
  };
  const double macs = ratio(a.macs, b.macs);
  switch (b.boundBy.value_or(Resource::Sequencer)) {
    case Resource::InputWire:
    case Resource::Output:
    case Resource::DdrWrite:
    case Resource::Sequencer:
      return Obstacle::OtherResource;
    case Resource::WeightsWire:
    case Resource::DdrRead:
      if (ratio(bytesOver(*b.boundBy, a).raw(), bytesOver(*b.boundBy, b).raw()) >
          kBlamedAbove * macs)
        return Obstacle::MoreBytes;
      break;
    case Resource::Compute:
      break;
  }
  return b.imbalance.value_or(1) > kBlamedAbove * a.imbalance.value_or(1) ? Obstacle::Imbalance
                                                                          : Obstacle::Idle;
}

}  // namespace

std::string_view name(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::OtherResource:
      return "other resource";
    case Obstacle::MoreBytes:
      return "more bytes";
    case Obstacle::Imbalance:
      return "imbalance";
    case Obstacle::Idle:
      return "idle";
  }
  return "";
}

Bytes bytesOver(Resource resource, const LayerReport& layer) {
  switch (resource) {
    case Resource::WeightsWire:
      return layer.weightsToCores;
    case Resource::InputWire:
      return layer.inputsToCores;
    case Resource::Output:
      return layer.traffic.coreToMemtile;
    case Resource::DdrRead:
      return layer.traffic.ddrRead;
    case Resource::DdrWrite:
      return layer.traffic.ddrWrite;
    case Resource::Compute:
    case Resource::Sequencer:
      break;
  }
  return {};
}

Cycles busiest(const LayerReport& layer) {
  return *std::max_element(layer.busy.begin(), layer.busy.end());
}

Report meanInference(const Report& report) {
  const Mean mean{report.inferences(), report.frames};
  Report one = report;
  one.frames = one.batch = 1;
  mean.take(one.cycles);
  mean.take(one.closedForm);
  mean.take(one.traffic);
  for (std::int64_t* count : {&one.macs, &one.denseMacs, &one.macsExecuted,
                              &one.macsOnPaddedChannels, &one.weightBytesPadded, &one.instructions})
    mean.take(*count);
  for (std::int64_t* bytes : {&one.weightBytes, &one.denseWeightBytes}) mean.takeWeights(*bytes);
  for (LayerReport& layer : one.layers) mean.take(layer);
  return one;
}

void tellAlike(Report& a, Report& b) {
  joinAsIn(a, b);
  joinAsIn(b, a);
}

LayerMatch matchLayers(const Report& a, const Report& b) {
  std::map<std::string_view, std::deque<std::size_t>> places;  // in B, by name
  for (std::size_t i = 0; i < b.layers.size(); ++i) places[b.layers[i].name].push_back(i);
  LayerMatch match;
  std::vector<bool> matched(b.layers.size());
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    const auto at = places.find(a.layers[i].name);
    if (at == places.end() || at->second.empty()) {
      match.onlyA.push_back(i);
      continue;
    }
    matched[at->second.front()] = true;
    match.both.push_back({i, at->second.front()});
    at->second.pop_front();
  }
  for (std::size_t i = 0; i < b.layers.size(); ++i)
    if (!matched[i]) match.onlyB.push_back(i);
  return match;
}

std::optional<double> speedUp(const Report& a, Cycles inA, const Report& b, Cycles inB) {
  if (inA.raw() <= 0 || inB.raw() <= 0) return std::nullopt;
  return a.seconds(inA) / b.seconds(inB);
}

SparsityGain sparsityGain(const Report& a, const Report& b, const LayerMatch& match) {
  SparsityGain gain;
  double before = 0, after = 0, least = 0;
  for (const LayerPair& pair : match.both) {
    const LayerReport &inA = a.layers[pair.a], &inB = b.layers[pair.b];
    gain.moreMacs += inB.macs > inA.macs;
    if (inB.macs >= inA.macs) continue;
    const double secondsA = secondsOf(a, pair.a), secondsB = secondsOf(b, pair.b);
    const double allowed = secondsA * static_cast<double>(inB.macs) / static_cast<double>(inA.macs);
    before += secondsA;
    after += secondsB;
    least += allowed;
    gain.layers.push_back({pair, allowed < kHeldBackBelow * secondsB
                                     ? std::optional(obstacleOf(inA, inB))
                                     : std::nullopt});
  }
  if (before > 0 && after > 0) gain.speedUp = before / after;
  if (before > 0 && least > 0) gain.allowed = before / least;
  return gain;
}

}  // namespace heddle
