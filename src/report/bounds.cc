#include "heddle/report/bounds.h"

#include <algorithm>
#include <map>

#include "heddle/canon/batch.h"
#include "heddle/canon/fold_columns.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/cost/cost.h"
#include "heddle/support/bits.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/views.h"

namespace heddle {
namespace {

// Of all engines of one kind together, per second.
double together(BytesPerSecond each, std::int64_t engines,
                std::optional<BytesPerSecond> shared = std::nullopt) {
  const double sum = static_cast<double>(each.raw) * static_cast<double>(engines);
  return shared ? std::min(sum, static_cast<double>(shared->raw)) : sum;
}

// Seconds of needed MACs of an operator with all cores busy.
double macSeconds(std::int64_t macs, OpKind op, const Device& device) {
  if (macs == 0) return 0;
  return static_cast<double>(macs) /
         (static_cast<double>(device.clock.raw) * static_cast<double>(device.cores()) *
          static_cast<double>(macsPerCycle(op, device.core)));
}

std::int64_t elements(const CanonicalGraph& graph, TensorId tensor) {
  return graph.tensors[tensor.at()].shape.elements();
}

std::int64_t extentOf(const AxisMap& map) {
  std::int64_t extent = 0;
  for (const AxisRun& run : map) extent += run.count;
  return extent;
}

std::int64_t elementsOf(const AssemblePart& part) {
  return extentOf(part.mapY) * extentOf(part.mapX) * extentOf(part.mapC);
}

// Concat, Split and Slice, values unchanged: they need no instruction where the stretches of
// channels are whole blocks.
bool needsNoInstruction(const CanonicalGraph& graph, const CanonicalOp& op,
                        const Assemble& assemble) {
  const Shape& out = graph.tensors[op.output.at()].shape;
  for (std::size_t i = 0; i < assemble.parts.size(); ++i) {
    const auto copied =
        copiedStretch(assemble.parts[i], graph.tensors[op.inputs[i].at()].shape, out, graph.batch);
    if (!copied || (copied->sampling && assemble.parts.size() > 1)) return false;
  }
  return !assemble.parts.empty();
}

// The network's: without what folding columns put in.
std::int64_t denseWeights(const CanonicalGraph& graph, const CanonicalOp& op, const Conv& conv) {
  if (!conv.folded) return std::ssize(conv.weights);
  const std::int64_t inputs = graph.tensors[op.inputs[0].at()].shape.channels;
  return std::ssize(conv.weightZero) * conv.window.kernelY *
         ownWeightsInRow(conv, inputs, 0, inputs);
}

// Weights in the blocks that a convolution keeps: those at the edges are partial, `inBlocks` has
// all of them whole.
struct KeptWeights {
  std::int64_t weights = 0, inBlocks = 0;
};
KeptWeights keptWeights(const CanonicalGraph& graph, const CanonicalOp& op, const Conv& conv) {
  const std::int64_t rows = conv.window.kernelY, taps = rows * conv.window.kernelX,
                     outputs = graph.tensors[computedTensor(op).at()].shape.channels,
                     inputs = graph.tensors[op.inputs[0].at()].shape.channels,
                     columns = divideRoundUp(inputs, kBlock);
  if (conv.kept.size() == 0)
    return {denseWeights(graph, op, conv),
            divideRoundUp(outputs, kBlock) * columns * kBlock * kBlock * taps};
  std::vector<std::int64_t> ofBlock;  // weights of an output in one row of the kernel
  for (std::int64_t i = 0; i < columns; ++i)
    ofBlock.push_back(ownWeightsInRow(conv, inputs, i * kBlock, kBlock));
  std::int64_t weights = 0, blocks = 0;
  for (std::int64_t i = 0; i < conv.kept.size(); ++i)
    if (conv.kept[i]) {
      weights += std::min(kBlock, outputs - i / columns * kBlock) * rows *
                 ofBlock[static_cast<std::size_t>(i % columns)];
      ++blocks;
    }
  return {weights, blocks * kBlock * kBlock * taps};
}

// Of a depth-wise convolution that writes the operator's output.
std::int64_t inBlocks(const CanonicalGraph& graph, const CanonicalOp& op,
                      const DepthwiseConv& conv) {
  return conv.window.kernelY * conv.window.kernelX * blocksOf(graph.tensors[op.output.at()].shape) *
         kBlock;
}

// Of `size` numbers those that a window of these outputs sees.
std::vector<bool> seenBy(const std::vector<bool>& outputs, std::int64_t kernel, std::int64_t stride,
                         std::int64_t dilation, std::int64_t padding, std::int64_t size) {
  std::vector<bool> seen(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < std::ssize(outputs); ++i)
    for (std::int64_t k = 0; k < kernel && outputs[static_cast<std::size_t>(i)]; ++k)
      if (const std::int64_t at = i * stride - padding + k * dilation; at >= 0 && at < size)
        seen[static_cast<std::size_t>(at)] = true;
  return seen;
}
struct Seen {
  std::vector<bool> rows, columns;
  std::int64_t pixels() const {
    return std::ranges::count(rows, true) * std::ranges::count(columns, true);
  }
};
Seen allOf(const Shape& image) {
  return {std::vector<bool>(static_cast<std::size_t>(image.height), true),
          std::vector<bool>(static_cast<std::size_t>(image.width), true)};
}
Seen seenBy(const Seen& outputs, const Window& w, const Shape& image) {
  return {seenBy(outputs.rows, w.kernelY, w.strideY, w.dilationY, w.padTop, image.height),
          seenBy(outputs.columns, w.kernelX, w.strideX, w.dilationX, w.padLeft, image.width)};
}
// Of an image of what an operator's kernel writes.
Seen seenOfComputed(const CanonicalGraph& graph, const CanonicalOp& op) {
  const Seen all = allOf(imageShape(graph, op.output));
  const FusedWindow* end = fusedWindowOf(op);
  return end ? seenBy(all, end->window(), imageShape(graph, end->before)) : all;
}

// Output pixels of what an operator computes; of a convolution with a window at its end those that
// it sees.
std::int64_t neededPixels(const CanonicalGraph& graph, const CanonicalOp& op) {
  return graph.batch * seenOfComputed(graph, op).pixels();
}

// Pixels of an image that an Assemble's part takes.
Seen seenBy(const AssemblePart& part, const Shape& image) {
  Seen seen{std::vector<bool>(static_cast<std::size_t>(image.height)),
            std::vector<bool>(static_cast<std::size_t>(image.width))};
  const auto mark = [](const AxisMap& map, std::vector<bool>& axis) {
    for (const AxisRun& run : map)
      for (std::int64_t i = 0; i < run.count; ++i)  // images of a batch lie one below the other
        axis[static_cast<std::size_t>(run.from + i * run.fromStep) % axis.size()] = true;
  };
  mark(part.mapY, seen.rows);
  mark(part.mapX, seen.columns);
  return seen;
}

// What a part takes along an axis of its operand, each once.
std::vector<std::int64_t> takenAlong(const AxisMap& map) {
  std::vector<std::int64_t> taken;
  for (const AxisRun& run : map)
    for (std::int64_t i = 0; i < run.count; ++i) taken.push_back(run.from + i * run.fromStep);
  std::ranges::sort(taken);
  taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
  return taken;
}

// Elements of a tensor that parts take, those that several take once.
std::int64_t elementsTaken(const std::vector<const AssemblePart*>& parts, const Shape& shape) {
  std::int64_t count = 0;
  Bits taken(parts.size() > 1 ? shape.elements() : 0);
  for (const AssemblePart* part : parts) {
    const std::vector<std::int64_t> rows = takenAlong(part->mapY), columns = takenAlong(part->mapX),
                                    channels = takenAlong(part->mapC);
    if (parts.size() == 1) return std::ssize(rows) * std::ssize(columns) * std::ssize(channels);
    for (const std::int64_t y : rows)
      for (const std::int64_t x : columns)
        for (const std::int64_t c : channels)
          if (const std::int64_t at = (y * shape.width + x) * shape.channels + c; !taken[at]) {
            taken.set(at);
            ++count;
          }
  }
  return count;
}

// Of an operand's `image` the elements that an operator needs. `needed`: of its output, where it
// has no instruction.
std::int64_t neededBy(const CanonicalGraph& graph, const CanonicalOp& op, std::size_t operand,
                      const Shape& image, std::int64_t needed) {
  if (const Assemble* assemble = std::get_if<Assemble>(&op.attributes)) {
    const AssemblePart& part = assemble->parts[operand];
    if (!needsNoInstruction(graph, op, *assemble))
      return seenBy(part, image).pixels() * std::ssize(takenAlong(part.mapC));
    // What is needed of the output may be all that other parts show.
    const std::int64_t others =
        imageShape(graph, op.output).elements() - elementsOf(part) / graph.batch;
    return std::max<std::int64_t>(needed - others, 0);
  }
  const Window* own = kernelWindowOf(op);
  if (!own || operand != 0) return image.elements();
  Window w = *own;
  if (const Conv* conv = std::get_if<Conv>(&op.attributes); conv && conv->folded) {
    w.kernelX = conv->folded->kernelX;
    w.padLeft = conv->folded->padLeft;
    w.strideX *= conv->folded->columns;
  }
  return seenBy(seenOfComputed(graph, op), w, image).pixels() * image.channels;
}

// Per network's input, elements of all images that some operator needs: of the one that needs most,
// for others need no less together.
std::int64_t neededOfInputs(const CanonicalGraph& graph) {
  std::map<TensorId, Shape> images;  // of ports, as they are before columns are folded
  for (const Port& port : graph.inputs) images[port.tensor] = portImage(port);
  std::vector<std::int64_t> needed(graph.tensors.size());
  for (auto op = graph.ops.rbegin(); op != graph.ops.rend(); ++op)
    for (std::size_t i = 0; i < op->inputs.size(); ++i) {
      const TensorId input = op->inputs[i];
      const auto port = images.find(input);
      const Shape image = port != images.end() ? port->second : imageShape(graph, input);
      needed[input.at()] =
          std::max(needed[input.at()], neededBy(graph, *op, i, image, needed[op->output.at()]));
    }
  std::int64_t sum = 0;
  for (const Port& port : graph.inputs) sum += graph.batch * needed[port.tensor.at()];
  return sum;
}

// Elements of the network's inputs that a layer reads, or may read of what an operator without
// instructions shows of them.
std::int64_t inputsRead(const CanonicalGraph& graph) {
  std::vector<bool> read(graph.tensors.size());
  for (auto op = graph.ops.rbegin(); op != graph.ops.rend(); ++op) {
    const Assemble* assemble = std::get_if<Assemble>(&op->attributes);
    const bool executes = !assemble || !needsNoInstruction(graph, *op, *assemble);
    if (executes || read[op->output.at()])
      for (const TensorId input : op->inputs) read[input.at()] = true;
  }
  std::int64_t sum = 0;
  for (const Port& port : graph.inputs)
    if (read[port.tensor.at()]) sum += graph.batch * portImage(port).elements();
  return sum;
}

// Elements that cores write at least for the outputs: what several of them show is written once.
std::int64_t writtenForOutputs(const CanonicalGraph& graph) {
  // Per tensor, what some layer computes of what it shows, by the tensor that the layer writes.
  std::vector<std::map<TensorId, std::int64_t>> computed(graph.tensors.size());
  for (const CanonicalOp& op : graph.ops) {
    std::map<TensorId, std::int64_t>& shown = computed[op.output.at()];
    const Assemble* assemble = std::get_if<Assemble>(&op.attributes);
    if (!assemble || !needsNoInstruction(graph, op, *assemble)) {
      shown[op.output] = elements(graph, op.output);
      continue;
    }
    for (std::size_t i = 0; i < assemble->parts.size(); ++i) {
      // Which ones a part leaves out is not looked at: of each source it may be all of these.
      const std::int64_t skipped = elements(graph, op.inputs[i]) - elementsOf(assemble->parts[i]);
      for (const auto& [source, count] : computed[op.inputs[i].at()])
        if (count > skipped) shown[source] = std::max(shown[source], count - skipped);
    }
  }
  std::map<TensorId, std::int64_t> most;
  for (const Port& port : graph.outputs)
    for (const auto& [source, count] : computed[port.tensor.at()])
      most[source] = std::max(most[source], count);
  std::int64_t sum = 0;
  for (const auto& [source, count] : most) sum += count;
  return sum;
}

// Per tensor that a stride leaves of another, the elements that it does not have of that: the
// network's operator reads them, too.
std::vector<std::int64_t> elementsLeftOut(const CanonicalGraph& graph) {
  std::vector<std::int64_t> leftOut(graph.tensors.size());
  for (const CanonicalOp& op : graph.ops)
    if (const Assemble* assemble = std::get_if<Assemble>(&op.attributes);
        assemble && assemble->isOfStride)
      leftOut[op.output.at()] = elements(graph, op.inputs[0]) - elements(graph, op.output);
  return leftOut;
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

// What operators of the network move that are one layer here. Nothing is fused in the paper, nor in
// the sums over all layers: what a convolution does at its end is a layer of its own, which reads
// what the convolution wrote, and what it does first is one that writes what the convolution reads.
// And each reads its operands whole.
struct UnfusedElements {
  std::int64_t skipped = 0;         // of the input, which a stride leaves out
  std::int64_t made = 0, gate = 0;  // by what it does first, and what that multiplies by
  std::int64_t between = 0;         // the convolution and what it does at its end
  std::int64_t added = 0;           // at its end
  std::int64_t beside = 0;          // operands of the layer that the convolution does not read
};

UnfusedElements unfusedElements(const CanonicalGraph& graph, const CanonicalOp& op,
                                const std::vector<std::int64_t>& leftOut) {
  UnfusedElements apart;
  if (op.inputs.empty()) return apart;
  apart.skipped = leftOut[op.inputs[0].at()];
  if (operandsAtStart(op) > 0) apart.made = elements(graph, op.inputs[0]);
  if (fusedMulOf(op)) apart.gate = elements(graph, op.inputs[1]);
  if (fusedAddOf(op)) apart.added = elements(graph, op.inputs.back());
  if (fusedAddOf(op) || fusedWindowOf(op)) apart.between = elements(graph, computedTensor(op));
  const bool isReadOnce = std::ranges::count(op.inputs, op.inputs.back()) == 1;
  apart.beside = apart.gate + (isReadOnce ? apart.added : 0);
  return apart;
}

// Elements that an operator looks up, by each of its tables.
std::vector<std::int64_t> lookedUpBy(const CanonicalGraph& graph, const CanonicalOp& op) {
  std::vector<std::int64_t> elementsOf;
  if (fusedTableOf(op)) elementsOf.push_back(elements(graph, computedTensor(op)));
  if (tableOfEnd(op)) elementsOf.push_back(elements(graph, op.output));
  return elementsOf;
}

}  // namespace

std::int64_t elementsRead(const CanonicalGraph& graph, const CanonicalOp& op, std::size_t operand) {
  const Assemble* assemble = std::get_if<Assemble>(&op.attributes);
  if (!assemble || needsNoInstruction(graph, op, *assemble)) return ownElements(graph, op, operand);
  return elementsTaken({&assemble->parts[operand]}, graph.tensors[op.inputs[operand].at()].shape);
}

std::map<TensorId, std::int64_t> elementsRead(const CanonicalGraph& graph, const CanonicalOp& op) {
  std::map<TensorId, std::vector<std::size_t>> operands;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) operands[op.inputs[i]].push_back(i);
  const Assemble* assemble = std::get_if<Assemble>(&op.attributes);
  const bool moves = assemble && !needsNoInstruction(graph, op, *assemble);
  std::map<TensorId, std::int64_t> read;
  for (const auto& [tensor, of] : operands) {
    std::int64_t& count = read[tensor];
    std::vector<const AssemblePart*> parts;
    for (const std::size_t i : of) {
      if (moves)
        parts.push_back(&assemble->parts[i]);
      else
        count = std::max(count, ownElements(graph, op, i));
    }
    if (moves) count = elementsTaken(parts, graph.tensors[tensor.at()].shape);
  }
  return read;
}

LayerNeeds layerNeeds(const CanonicalGraph& graph, const CanonicalOp& op) {
  LayerNeeds needs;
  for (const auto& [tensor, count] : elementsRead(graph, op)) needs.inputBytes += count;
  needs.outputBytes = elements(graph, op.output);
  std::int64_t weightsInBlocks = 0;
  if (const Conv* conv = std::get_if<Conv>(&op.attributes)) {
    const KeptWeights kept = keptWeights(graph, op, *conv);
    needs.weightBytes = kept.weights;
    weightsInBlocks = kept.inBlocks;
    needs.denseWeightBytes = denseWeights(graph, op, *conv);
  } else if (const DepthwiseConv* depthwise = std::get_if<DepthwiseConv>(&op.attributes)) {
    needs.weightBytes = needs.denseWeightBytes = std::ssize(depthwise->weights);
    needs.depthwiseWeightBytes = needs.weightBytes;
    weightsInBlocks = inBlocks(graph, op, *depthwise);
  } else if (const Assemble* assemble = std::get_if<Assemble>(&op.attributes)) {
    needs.free = needsNoInstruction(graph, op, *assemble);
  }
  const std::int64_t pixels = neededPixels(graph, op);  // each meets each weight once
  needs.macs = pixels * needs.weightBytes;
  needs.denseMacs = pixels * needs.denseWeightBytes;
  needs.blockMacs = pixels * weightsInBlocks;
  needs.depthwiseMacs = pixels * needs.depthwiseWeightBytes;
  const FusedWindow* end = fusedWindowOf(op);
  if (const DepthwiseConv* depthwise = end ? end->depthwise() : nullptr) {
    const Shape& output = graph.tensors[op.output.at()].shape;
    needs.depthwiseWeightBytes = std::ssize(depthwise->weights);
    needs.depthwiseMacs = output.height * output.width * needs.depthwiseWeightBytes;
    needs.weightBytes += needs.depthwiseWeightBytes;
    needs.denseWeightBytes += needs.depthwiseWeightBytes;
    needs.macs += needs.depthwiseMacs;
    needs.denseMacs += needs.depthwiseMacs;
    needs.blockMacs += output.height * output.width * inBlocks(graph, op, *depthwise);
  }
  return needs;
}

Bounds computeBounds(const CanonicalGraph& graph, const Device& device) {
  const WireCounts wires = countWires(device);
  const auto onWires = [&](std::int64_t bytes, std::int64_t count) {
    return static_cast<double>(bytes) / together(wireRate(device), count);
  };
  const double coreWrite =
      together(coreWriteRate(device), device.cores() * device.core.channelsOut);
  const double ddrRead =
      together(ddrReadRate(device), device.memtiles() * device.memtile.ddrChannelsIn,
               device.rates.ddrReadTotal);
  const double ddrWrite =
      together(ddrWriteRate(device), device.memtiles() * device.memtile.ddrChannelsOut,
               device.rates.ddrWriteTotal);
  Bounds bounds;
  const std::vector<std::int64_t> leftOut = elementsLeftOut(graph);
  double sum = 0, paperSum = 0;
  std::int64_t weights = 0;
  for (const CanonicalOp& op : graph.ops) {
    const LayerNeeds needs = layerNeeds(graph, op);
    if (needs.free) {
      bounds.layerSeconds.push_back(0);
      continue;
    }
    const double depthwise = macSeconds(needs.depthwiseMacs, OpKind::DepthwiseConv, device),
                 compute =
                     depthwise + macSeconds(needs.macs - needs.depthwiseMacs, OpKind::Conv, device);
    const double anyWire = onWires(needs.weightBytes + needs.inputBytes, std::ssize(device.wires));
    const double output = static_cast<double>(needs.outputBytes) / coreWrite;
    bounds.layerSeconds.push_back(std::max({compute, anyWire, output}));
    sum += bounds.layerSeconds.back();
    const auto twoKinds = [&](std::int64_t weightBytes, std::int64_t inputBytes) {
      return wires.all
                 ? std::max(onWires(weightBytes, wires.row), onWires(inputBytes, wires.column))
                 : onWires(weightBytes + inputBytes, std::ssize(device.wires));
    };
    const UnfusedElements apart = unfusedElements(graph, op, leftOut);
    const bool isFused = apart.between > 0;
    const double written =
        isFused ? static_cast<double>(apart.between) / coreWrite : output;  // by the convolution
    const double atEnd = isFused ? depthwise : 0;
    const std::int64_t weightsAtEnd = isFused ? needs.depthwiseWeightBytes : 0;
    paperSum += std::max({compute - atEnd,
                          twoKinds(needs.weightBytes - weightsAtEnd,
                                   needs.inputBytes + apart.skipped - apart.beside),
                          written});
    const double made = static_cast<double>(apart.made) / coreWrite;
    if (apart.made > 0) paperSum += std::max(twoKinds(0, apart.made + apart.gate), made);
    if (isFused)
      paperSum += std::max({atEnd, twoKinds(weightsAtEnd, apart.between + apart.added), output});
    for (const std::int64_t lookedUp : lookedUpBy(graph, op)) {
      const double table = static_cast<double>(lookedUp) / coreWrite;
      paperSum += std::max(twoKinds(0, lookedUp), table);
      bounds.memtileToCoreSeconds += onWires(lookedUp, std::ssize(device.wires));
      bounds.coreToMemtileSeconds += table;
    }
    weights += needs.weightBytes;
    bounds.computeSeconds += compute;
    bounds.memtileToCoreSeconds +=
        anyWire + onWires(apart.skipped + apart.between + apart.made, std::ssize(device.wires));
    bounds.coreToMemtileSeconds += (isFused ? written + output : output) + made;
  }
  const std::int64_t networkOut = writtenForOutputs(graph);
  const std::int64_t neededIn = neededOfInputs(graph), networkIn = inputsRead(graph);
  bounds.ddrReadSeconds = static_cast<double>(weights + networkIn) / ddrRead;
  bounds.ddrWriteSeconds = static_cast<double>(networkOut) / ddrWrite;
  bounds.lowerBoundSeconds =
      std::max({bounds.computeSeconds, bounds.ddrReadSeconds, bounds.ddrWriteSeconds,
                bounds.memtileToCoreSeconds, bounds.coreToMemtileSeconds});
  bounds.fusedLowerBoundSeconds =
      std::max({bounds.computeSeconds, static_cast<double>(weights + neededIn) / ddrRead,
                bounds.ddrWriteSeconds, onWires(weights + neededIn, std::ssize(device.wires)),
                static_cast<double>(networkOut) / coreWrite});
  // The paper's shim has one channel for weights and one for activations.
  const double ddr = wires.all && device.memtile.ddrChannelsIn > 1
                         ? static_cast<double>(std::max(weights, networkIn)) / (ddrRead / 2)
                         : bounds.ddrReadSeconds;
  bounds.layerBoundSeconds = std::max({sum, bounds.ddrReadSeconds, bounds.ddrWriteSeconds});
  bounds.paperBoundSeconds = std::max({paperSum, ddr, bounds.ddrWriteSeconds});
  return bounds;
}

}  // namespace heddle
