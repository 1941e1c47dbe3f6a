#include "heddle/report/bounds.h"

#include <algorithm>

namespace heddle {
namespace {

// Rates of all engines of one kind together, per second.
struct Rate {
  double compute, depthwise, ddrRead, ddrWrite, wire, coreWrite;
};

double total(BytesPerSecond each, std::int64_t engines, std::optional<BytesPerSecond> shared) {
  const double sum = static_cast<double>(each.raw) * static_cast<double>(engines);
  return shared ? std::min(sum, static_cast<double>(shared->raw)) : sum;
}

Rate ratesOf(const Device& device) {
  const double hertz = static_cast<double>(device.clock.raw);
  const double cores = static_cast<double>(device.cores());
  const auto slowest = [](BytesPerSecond a, BytesPerSecond b) { return std::min(a, b); };
  const Rates& r = device.rates;
  return {
      .compute = hertz * cores * static_cast<double>(device.core.macsPerCycle),
      .depthwise = hertz * cores * static_cast<double>(device.core.depthwiseMacsPerCycle),
      .ddrRead = total(slowest(r.ddrRead, r.memtileWrite),
                       device.columns * device.memtile.ddrChannelsIn, r.ddrReadTotal),
      .ddrWrite = total(slowest(r.ddrWrite, r.memtileRead),
                        device.columns * device.memtile.ddrChannelsOut, r.ddrWriteTotal),
      .wire = total(slowest(r.wire, r.memtileRead), 1, {}),
      .coreWrite =
          total(slowest(r.coreWrite, r.memtileWrite), device.cores() * device.core.channelsOut, {}),
  };
}

std::int64_t elements(const CanonicalGraph& graph, TensorId tensor) {
  return graph.tensors[tensor.at()].shape.elements();
}

bool isIdentity(const AxisMap& map, std::int64_t extent) {
  return map.size() == 1 && map[0] == AxisRun{.count = extent};
}

// Every part moves a whole input, unchanged, to a stretch of the output's channels.
bool isConcat(const CanonicalGraph& graph, const CanonicalOp& op, const Assemble& assemble) {
  const Shape& out = graph.tensors[op.output.at()].shape;
  for (std::size_t i = 0; i < assemble.parts.size(); ++i) {
    const AssemblePart& part = assemble.parts[i];
    const Shape& in = graph.tensors[op.inputs[i].at()].shape;
    const bool channels = part.mapC.size() == 1 && part.mapC[0].from == 0 &&
                          part.mapC[0].fromStep == 1 && part.mapC[0].toStep == 1 &&
                          part.mapC[0].count == in.channels;
    if (part.table || !channels || !isIdentity(part.mapY, out.height) ||
        !isIdentity(part.mapX, out.width))
      return false;
  }
  return !assemble.parts.empty();
}

std::int64_t needsMacs(const CanonicalGraph& graph, const CanonicalOp& op, std::int64_t weights) {
  const Shape& out = graph.tensors[op.output.at()].shape;
  return out.height * out.width * weights;  // each weight meets each output pixel once
}

struct WireCounts {
  std::int64_t column = 0, row = 0;
  bool all = false;  // every wire is one or the other
};

WireCounts countWires(const Device& device) {
  WireCounts n;
  for (const Wire& wire : device.wires) {
    const bool column = wire.reach.columns == 1 && wire.reach.rows == device.rows;
    const bool row = wire.reach.rows == 1 && wire.reach.columns == device.columns;
    n.column += column && !row;
    n.row += row && !column;
    if (column && row) {  // a single core: the two kinds look the same, so take turns
      ++(n.column <= n.row ? n.column : n.row);
    }
  }
  n.all = n.column > 0 && n.row > 0 &&
          n.column + n.row == static_cast<std::int64_t>(device.wires.size());
  return n;
}

}  // namespace

LayerNeeds layerNeeds(const CanonicalGraph& graph, const CanonicalOp& op) {
  LayerNeeds needs;
  for (const TensorId input : op.inputs) needs.inputBytes += elements(graph, input);
  needs.outputBytes = elements(graph, op.output);
  if (const Conv* conv = std::get_if<Conv>(&op.attributes)) {
    needs.weightBytes = static_cast<std::int64_t>(conv->weights.size());
    needs.macs = needsMacs(graph, op, needs.weightBytes);
  } else if (const DepthwiseConv* depthwise = std::get_if<DepthwiseConv>(&op.attributes)) {
    needs.weightBytes = static_cast<std::int64_t>(depthwise->weights.size());
    needs.macs = needsMacs(graph, op, needs.weightBytes);
  } else if (const Assemble* assemble = std::get_if<Assemble>(&op.attributes)) {
    needs.free = isConcat(graph, op, *assemble);
  }
  return needs;
}

bool splitsWires(const Device& device) { return countWires(device).all; }

Bounds computeBounds(const CanonicalGraph& graph, const Device& device) {
  const Rate rate = ratesOf(device);
  const WireCounts wires = countWires(device);
  const double allWires = rate.wire * static_cast<double>(device.wires.size());
  Bounds bounds;
  double sum = 0;
  std::int64_t weights = 0;
  for (const CanonicalOp& op : graph.ops) {
    const LayerNeeds needs = layerNeeds(graph, op);
    if (needs.free) {
      bounds.layerSeconds.push_back(0);
      continue;
    }
    const double weightBytes = static_cast<double>(needs.weightBytes);
    const double inputBytes = static_cast<double>(needs.inputBytes);
    const double compute = static_cast<double>(needs.macs) /
                           (op.kind() == OpKind::DepthwiseConv ? rate.depthwise : rate.compute);
    const double anyWire = (weightBytes + inputBytes) / allWires;
    const double output = static_cast<double>(needs.outputBytes) / rate.coreWrite;
    const double input =
        wires.all ? std::max(weightBytes / (rate.wire * static_cast<double>(wires.row)),
                             inputBytes / (rate.wire * static_cast<double>(wires.column)))
                  : anyWire;
    bounds.layerSeconds.push_back(std::max({compute, input, output}));
    sum += bounds.layerSeconds.back();
    weights += needs.weightBytes;
    bounds.computeSeconds += compute;
    bounds.memtileToCoreSeconds += anyWire;
    bounds.coreToMemtileSeconds += output;
  }
  std::int64_t networkIn = 0, networkOut = 0;
  for (const Port& port : graph.inputs) networkIn += elements(graph, port.tensor);
  for (const Port& port : graph.outputs) networkOut += elements(graph, port.tensor);
  bounds.ddrReadSeconds = static_cast<double>(weights + networkIn) / rate.ddrRead;
  bounds.ddrWriteSeconds = static_cast<double>(networkOut) / rate.ddrWrite;
  bounds.lowerBoundSeconds =
      std::max({bounds.computeSeconds, bounds.ddrReadSeconds, bounds.ddrWriteSeconds,
                bounds.memtileToCoreSeconds, bounds.coreToMemtileSeconds});
  // The paper's shim has one channel for weights and one for activations.
  const double ddr = wires.all && device.memtile.ddrChannelsIn > 1
                         ? static_cast<double>(std::max(weights, networkIn)) / (rate.ddrRead / 2)
                         : bounds.ddrReadSeconds;
  bounds.layerBoundSeconds = std::max({sum, ddr, bounds.ddrWriteSeconds});
  return bounds;
}

}  // namespace heddle
