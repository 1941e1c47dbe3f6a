#include "heddle/report/report.h"

#include <algorithm>
#include <cmath>

#include "heddle/canon/fuse_operators.h"
#include "heddle/program/names.h"
#include "heddle/report/groups.h"
#include "heddle/report/memory_blocks.h"
#include "stalls.h"

namespace heddle {
namespace {

constexpr std::size_t at(Resource resource) { return static_cast<std::size_t>(resource); }

// Blocks of weights that are kept, of all; none without weights.
std::optional<double> density(const CanonicalOp& op) {
  if (op.kind() == OpKind::DepthwiseConv) return 1;
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  if (!conv) return std::nullopt;
  return conv->kept.size() > 0
             ? static_cast<double>(conv->kept.count()) / static_cast<double>(conv->kept.size())
             : 1;
}

void addTraffic(LayerReport& layer, const LeafFacts& leaf, const SpanSlice& slice,
                const Program& program) {
  const Bytes bytes(bytesOfSlice(leaf, slice, program));
  switch (leaf.engine) {
    case EngineKind::DdrIn:
      layer.traffic.ddrRead += bytes;
      break;
    case EngineKind::DdrOut:
      layer.traffic.ddrWrite += bytes;
      break;
    case EngineKind::CoreOut:
      layer.traffic.coreToMemtile += bytes;
      break;
    case EngineKind::Wire:
      layer.traffic.memtileToCore += bytes;
      (leaf.resource == Resource::WeightsWire ? layer.weightsToCores : layer.inputsToCores) +=
          bytes;
      break;
    case EngineKind::Core:
      layer.macsExecuted += macsOfSlice(leaf, slice, program);
      break;
    case EngineKind::CoreIn:  // counted at the wire's end
    case EngineKind::Sequencer:
      break;
  }
}

// Fills in what the slices say: per layer the busy time of its busiest engines, its waits, its
// bytes.
class SliceCounter {
 public:
  SliceCounter(const Program& program, const Timeline& timeline,
               const std::vector<LeafFacts>& leaves, std::vector<LayerReport>& layers)
      : program_(program),
        timeline_(timeline),
        leaves_(leaves),
        layers_(layers),
        busyEngine_(layers.size()),
        mostMacs_(layers.size()) {}

  void fillIn() {
    for (const Track& track : timeline_.tracks) count(track);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      LayerReport& layer = layers_[i];
      if (busyEngine_[i].raw() > 0) layer.boundBy = bound_.at(i);
      if (layer.start.raw() == INT64_MAX) layer.start = layer.end;
      if (layer.macsExecuted > 0)
        layer.imbalance = static_cast<double>(mostMacs_[i]) * static_cast<double>(layer.cores) /
                          static_cast<double>(layer.macsExecuted);
    }
  }

 private:
  void count(const Track& track) {
    std::vector<PerResource<Cycles>> busy(layers_.size());
    std::vector<PerResource<Bytes>> moved(layers_.size());
    std::vector<bool> computed(layers_.size());
    std::vector<std::int64_t> macs(layers_.size());
    for (const SpanSlice& slice : track.slices) {
      const LeafFacts& leaf = leaves_[static_cast<std::size_t>(slice.leaf)];
      LayerReport& layer = layers_[slice.layer.at()];
      busy[slice.layer.at()][at(leaf.resource)] += Cycles(slice.end - slice.start);
      addTraffic(layer, leaf, slice, program_);
      if (track.engine.kind == EngineKind::Wire)
        moved[slice.layer.at()][at(leaf.resource)] += Bytes(bytesOfSlice(leaf, slice, program_));
      if (track.engine.kind == EngineKind::DdrIn && slice.record >= 0)
        layer.weightBytesPadded +=
            Bytes(program_.records[static_cast<std::size_t>(slice.record)].padding);
      if (track.engine.kind == EngineKind::Sequencer) continue;
      layer.start = std::min(layer.start, Cycles(slice.start));
      if (track.engine.kind != EngineKind::Core) continue;
      computed[slice.layer.at()] = true;
      macs[slice.layer.at()] += macsOfSlice(leaf, slice, program_);
      if (slice.start > slice.ready) {
        const PerResource<Cycles> shares = blame(timeline_, leaves_, slice);
        for (std::size_t r = 0; r < kResources; ++r) layer.waits[r] += shares[r];
      }
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      layers_[i].cores += computed[i];
      mostMacs_[i] = std::max(mostMacs_[i], macs[i]);
      if (track.engine.kind != EngineKind::Sequencer) keepBusiest(i, busy[i], track.engine);
      if (track.engine.kind == EngineKind::Wire)
        addRoutes(layers_[i], busy[i], moved[i], track.engine.column);
    }
  }

  // Tracks of wires come one after another, by number.
  static void addRoutes(LayerReport& layer, const PerResource<Cycles>& busy,
                        const PerResource<Bytes>& moved, std::int64_t wire) {
    for (const Resource stream : {Resource::WeightsWire, Resource::InputWire}) {
      if (moved[at(stream)].raw() == 0) continue;
      auto route = std::ranges::find(layer.routes, stream, &RouteReport::stream);
      if (route == layer.routes.end())
        route = layer.routes.insert(
            stream == Resource::WeightsWire ? layer.routes.begin() : layer.routes.end(),
            {stream, {}});
      route->parts.push_back({wire, moved[at(stream)], busy[at(stream)]});
    }
  }

  // A wire that carries weights and inputs binds by their sum, and is named after the larger.
  void keepBusiest(std::size_t i, const PerResource<Cycles>& busy, const Engine& engine) {
    Cycles sum;
    std::size_t largest = 0;
    for (std::size_t r = 0; r < kResources; ++r) {
      layers_[i].busy[r] = std::max(layers_[i].busy[r], busy[r]);
      sum += busy[r];
      if (busy[r] > busy[largest]) largest = r;
    }
    if (sum > busyEngine_[i] || (sum == busyEngine_[i] && largest < at(bound_[i]))) {
      busyEngine_[i] = sum;
      bound_[i] = static_cast<Resource>(largest);
      layers_[i].boundEngineBusy = sum;
      if (sum.raw() > 0) layers_[i].boundEngine = toText(engine);
    }
  }

  const Program& program_;
  const Timeline& timeline_;
  const std::vector<LeafFacts>& leaves_;
  std::vector<LayerReport>& layers_;
  std::vector<Cycles> busyEngine_;
  std::vector<std::int64_t> mostMacs_;  // of one core, per layer
  std::vector<Resource> bound_ = std::vector<Resource>(layers_.size(), Resource::Sequencer);
};

// Of each layer's steps, which are told in order: number of a step among its layer's.
std::vector<std::size_t> placesInLayers(const Program& program) {
  std::vector<std::size_t> places, count(program.layers.size());
  for (std::size_t s = 0; s < program.stepCount(); ++s)
    places.push_back(count[program.layerOf(StepId(s)).at()]++);
  return places;
}

LayerNeeds timesFrames(LayerNeeds needs, std::int64_t frames) {
  for (std::int64_t* count :
       {&needs.macs, &needs.weightBytes, &needs.denseMacs, &needs.denseWeightBytes,
        &needs.blockMacs, &needs.inputBytes, &needs.outputBytes})
    *count *= frames;
  return needs;
}

// What each step adds to the whole is its layer's.
void setCompletion(Report& report, const Program& program, const LayerGroups& groups,
                   const std::vector<Cycles>& stepEnd) {
  Cycles done;
  const std::vector<std::size_t> places = placesInLayers(program);
  for (std::size_t k = 0; k < stepEnd.size(); ++k) {
    const std::size_t s = k % program.stepCount();
    LayerReport& layer = report.layers[program.layerOf(StepId(s)).at()];
    layer.end = std::max(layer.end, stepEnd[k]);
    const Cycles later = std::max(done, stepEnd[k]);
    layer.cycles += later - done;
    if (report.frames > 1) {
      if (s == 0) report.eachFrame.push_back({.start = Cycles(INT64_MAX)});
      report.eachFrame.back().stepCycles.push_back(later - done);
      report.eachFrame.back().end = std::max(report.eachFrame.back().end, stepEnd[k]);
    }
    if (groups.steps[s].group != kNoGroup) {
      if (k == s)  // the first frame
        layer.steps.push_back({.tile = groups.steps[s].tile, .start = stepEnd[k]});
      StepReport& step = layer.steps[places[s]];
      step.cycles += later - done;
      step.end = stepEnd[k];
    }
    done = later;
  }
  // What the sequencer does after the last layer belongs to the last layer, so that the layers add
  // up.
  if (!report.layers.empty() && report.cycles > done) {
    report.layers.back().cycles += report.cycles - done;
    if (!report.eachFrame.empty())
      report.eachFrame.back().stepCycles.back() += report.cycles - done;
  }
}

bool isWeightLoad(const LeafFacts& leaf) {
  return leaf.engine == EngineKind::DdrIn && leaf.movesRecord;
}

// When each step's own slices begin, and the weights that come again for later tiles.
class StepCounter {
 public:
  StepCounter(const Program& program, const LayerGroups& groups,
              const std::vector<LeafFacts>& leaves)
      : program_(program), groups_(groups), leaves_(leaves), places_(placesInLayers(program)) {}

  void fillIn(const Timeline& timeline, Report& report) const {
    if (groups_.groups.empty()) return;
    for (const Track& track : timeline.tracks) {
      if (track.engine.kind == EngineKind::Sequencer) continue;
      for (const SpanSlice& slice : track.slices) count(slice, report);
    }
  }

 private:
  void count(const SpanSlice& slice, Report& report) const {
    const LeafFacts& leaf = leaves_[static_cast<std::size_t>(slice.leaf)];
    const std::size_t group = groups_.steps[leaf.step.at()].group;
    if (group == kNoGroup) return;
    const std::size_t place = places_[leaf.step.at()];
    StepReport& step = report.layers[leaf.layer.at()].steps[place];
    step.start = std::min(step.start, Cycles(slice.start));
    if (place > 0 && isWeightLoad(leaf))
      report.groups[group].weightsAgain += Bytes(bytesOfSlice(leaf, slice, program_));
  }

  const Program& program_;
  const LayerGroups& groups_;
  const std::vector<LeafFacts>& leaves_;
  std::vector<std::size_t> places_;
};

// Whether a tensor has a home, but some of its rows are read for the last time before others are
// computed.
bool isNeverWhole(const Program& program, TensorId tensor) {
  StepId latestFirst, earliestLast;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.tensor != tensor || buffer.kind != TileKind::Memtile) continue;
    if (!latestFirst.valid() || latestFirst < buffer.first) latestFirst = buffer.first;
    if (!earliestLast.valid() || buffer.last < earliestLast) earliestLast = buffer.last;
  }
  return latestFirst.valid() && earliestLast < latestFirst;
}

// Tensors that the group's layers hand on by turns, so that they are nowhere whole.
Bytes keptBytes(const CanonicalGraph& graph, const Program& program, const LayerGroup& group) {
  Bytes kept;
  for (std::size_t i = group.first; i <= group.last; ++i)
    if (const TensorId output = graph.ops[i].output; isNeverWhole(program, output))
      kept += Bytes(program.tensors[output.at()].shape.elements());
  return kept;
}

void addGroups(Report& report, const CanonicalGraph& graph, const Program& program,
               const LayerGroups& groups) {
  for (const LayerGroup& group : groups.groups)
    report.groups.push_back({.first = group.first,
                             .last = group.last,
                             .tiles = group.tiles,
                             .start = Cycles(INT64_MAX),
                             .kept = keptBytes(graph, program, group)});
}

// Every queue has as many slices in one frame as in the next, but the sequencer's.
void setFrameStarts(Report& report, const Timeline& timeline) {
  for (const Track& track : timeline.tracks) {
    if (track.engine.kind == EngineKind::Sequencer) continue;
    const std::size_t each = track.slices.size() / static_cast<std::size_t>(report.frames);
    for (std::size_t f = 0; each > 0 && f < report.eachFrame.size(); ++f) {
      Cycles& start = report.eachFrame[f].start;
      start = std::min(start, Cycles(track.slices[f * each].start));
    }
  }
  for (FrameReport& frame : report.eachFrame) frame.start = std::min(frame.start, frame.end);
}

// Needs: the steps of the layers are known.
void addUpGroups(Report& report) {
  for (GroupReport& group : report.groups)
    for (std::size_t i = group.first; i <= group.last; ++i) {
      const LayerReport& layer = report.layers[i];
      group.cycles += layer.cycles;
      group.start = std::min(group.start, layer.start);
      group.end = std::max(group.end, layer.end);
    }
}

// How this run passed the layer bound: layers overlap.
std::vector<std::string> waysPastBound(const Report& report) {
  for (std::size_t i = 1; i < report.layers.size(); ++i)
    if (report.layers[i].start < report.layers[i - 1].end)
      return {"overlap across layers (first: " + report.layers[i].name + ")"};
  return {};
}

}  // namespace

PerResource<Cycles> Report::boundCycles() const {
  PerResource<Cycles> bound{};
  for (const LayerReport& layer : layers)
    if (layer.boundBy) bound[static_cast<std::size_t>(*layer.boundBy)] += layer.cycles;
  return bound;
}

double Report::efficiency() const {
  return cycles.raw() > 0 ? static_cast<double>(frames) * bounds.layerBoundSeconds / seconds(cycles)
                          : 0;
}

std::optional<double> Report::closedFormError(const LayerReport& layer) const {
  if (!layer.closedForm || layer.cycles.raw() == 0) return std::nullopt;
  return static_cast<double>((*layer.closedForm - layer.cycles).raw()) /
         static_cast<double>(layer.cycles.raw());
}

std::optional<double> Report::closedFormWorstLayerError() const {
  std::optional<double> worst;
  for (const LayerReport& layer : layers) {
    const std::optional<double> error = closedFormError(layer);
    if (error && (!worst || std::abs(*error) > std::abs(*worst))) worst = error;
  }
  return worst;
}

Report makeReport(const CanonicalGraph& graph, const Program& program, const Device& device,
                  const SimulateResult& simulated, const std::vector<Cycles>& closedForm) {
  HEDDLE_CHECK(graph.ops.size() == program.layers.size() &&
               static_cast<std::size_t>(program.frames) * program.stepCount() ==
                   simulated.stepEnd.size())
      << graph.ops.size() << " operators, " << program.layers.size() << " layers, "
      << simulated.stepEnd.size() << " ends of " << program.stepCount() << " steps";
  HEDDLE_CHECK(closedForm.empty() || closedForm.size() == graph.ops.size()) << closedForm.size();
  Report report;
  report.model = program.model;
  report.modelSha256 = program.modelSha256;
  report.device = device.name;
  report.rows = device.rows;
  report.columns = device.columns;
  report.macsPerCycle = device.core.macsPerCycle;
  report.clock = device.clock;
  report.deviceKeys = numbersOf(device);
  report.wires = device.wires;
  report.cycles = simulated.timeline.makespan;
  report.frames = program.frames;
  report.batch = program.batch;
  report.frameTimes = frameTimes(simulated, program);
  report.bounds = computeBounds(graph, device);
  report.traffic = simulated.traffic;
  report.macsExecuted = simulated.macs;
  report.hostOperators = program.hostOperators;
  report.notModelled = device.notModelled;
  if (!closedForm.empty()) report.closedForm = Cycles();
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const LayerNeeds needs = timesFrames(layerNeeds(graph, graph.ops[i]), program.frames);
    LayerReport& layer = report.layers.emplace_back();
    layer.name = program.layers[i].name;
    layer.op = program.layers[i].op;
    layer.split = program.layers[i].split;
    layer.atStart = nameAtStart(graph.ops[i]);
    layer.atEnd = nameAtEnd(graph.ops[i]);
    layer.tables = tablesOf(graph.ops[i]);
    layer.start = Cycles(INT64_MAX);
    layer.boundSeconds = static_cast<double>(report.frames) * report.bounds.layerSeconds[i];
    layer.density = density(graph.ops[i]);
    layer.macs = needs.macs;
    layer.weightBytes = needs.weightBytes;
    layer.denseMacs = needs.denseMacs;
    layer.denseWeightBytes = needs.denseWeightBytes;
    layer.macsOnPaddedChannels = needs.blockMacs - needs.macs;
    report.macs += needs.macs;
    report.macsOnPaddedChannels += layer.macsOnPaddedChannels;
    report.weightBytes += needs.weightBytes;
    report.denseMacs += needs.denseMacs;
    report.denseWeightBytes += needs.denseWeightBytes;
    if (closedForm.empty()) continue;
    layer.closedForm = Cycles(report.frames * closedForm[i].raw());
    *report.closedForm += *layer.closedForm;
  }
  const std::vector<LeafFacts> leaves = leafFacts(program);
  const LayerGroups groups = findGroups(program);
  setCompletion(report, program, groups, simulated.stepEnd);
  addGroups(report, graph, program, groups);
  SliceCounter(program, simulated.timeline, leaves, report.layers).fillIn();
  StepCounter(program, groups, leaves).fillIn(simulated.timeline, report);
  setFrameStarts(report, simulated.timeline);
  addUpGroups(report);
  for (const LayerReport& layer : report.layers)
    report.weightBytesPadded += layer.weightBytesPadded.raw();
  report.instructions = simulated.instructions;
  if (report.efficiency() > 1) report.layerBoundPassedBy = waysPastBound(report);
  const std::vector<MemoryBlock> blocks = memoryBlocks(program);
  report.memtilePeakBytes = peakBytes(blocks, TileKind::Memtile, program.stepCount());
  report.corePeakBytes = peakBytes(blocks, TileKind::Core, program.stepCount());
  return report;
}

void setMappingBound(Report& report, const std::vector<Cycles>& alone) {
  HEDDLE_CHECK(alone.size() == report.layers.size()) << alone.size();
  Cycles sum;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    report.layers[i].mappingBound = Cycles(report.frames * alone[i].raw());
    sum += alone[i];
  }
  Bounds& bounds = report.bounds;
  bounds.mappingBoundSeconds =
      std::max({report.seconds(sum), bounds.ddrReadSeconds, bounds.ddrWriteSeconds});
}

}  // namespace heddle
