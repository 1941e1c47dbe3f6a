#include "arrange_homes.h"

#include <algorithm>
#include <optional>

#include "heddle/tiling/nest.h"
#include "heddle/tiling/views.h"
#include "mesh_cut.h"

namespace heddle {
namespace {

using N = std::int64_t;

// Hundredths of a tensor's instructions by which there must be fewer: where rows of a part differ
// from those of others in number, loops of the program say less, and its text becomes longer.
constexpr N kFewerInstructions = 15;

// Hundredths of the time of a step that reads an input of the network, for which its busiest DDR
// channel may be busy. Who reads parts in rows one behind another has what one channel brings.
constexpr N kBusyWithDdr = 80;

// Into how many parts a home is cut.
struct HomeCut {
  N columns = 1, rows = 1, blocks = 1;
};

// Rows of a root tensor that move alike: every `step`th of `rows`.
struct Moved {
  Interval rows, columns, blocks;
  N step = 1, together = 1;  // in one transfer, as far as they lie in one memtile
  N instructions = 1;        // of a transfer: what sends it, and each core that receives it
  N times = 1;
  friend bool operator==(const Moved&, const Moved&) = default;
};

class Moves {
 public:
  Moves(const CanonicalGraph& graph, const Plan& plan) : graph_(graph), plan_(plan), of_(size()) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      if (plan.layers[i].inPlace()) continue;
      const LayerNest nest(graph, OpId(i), plan.layers[i]);
      for (std::size_t operand = 0; operand < nest.op().inputs.size(); ++operand)
        addReads(nest, operand);
      addWrites(nest);
    }
    for (const std::vector<Port>* ports : {&graph.inputs, &graph.outputs})
      for (const Port& port : *ports) addWhole(port.tensor);
    for (std::size_t t = 0; t < size(); ++t)
      if (!graph.tensors[t].constant.empty()) addWhole(TensorId(t));
  }
  const std::vector<Moved>& of(std::size_t tensor) const { return of_[tensor]; }

 private:
  std::size_t size() const { return graph_.tensors.size(); }

  void addReads(const LayerNest& nest, std::size_t operand) {
    const TensorId tensor = nest.op().inputs[operand];
    const OperandGeometry& geometry = nest.operand(operand);
    const RingPlan& ring = nest.mapping().rings[operand];
    const std::optional<Window> window = windowOf(nest.op());
    for (const Route& route : nest.mapping().inputs[operand])
      for (const Iteration& at : nest.iterations()) {
        // All bands' rows at once.
        if (at.band > 0 || (nest.stays(operand) && LayerNest::isLater(at))) continue;
        const CoreShare* some = nullptr;  // all need the same
        N cores = 0;
        for (const CoreAt& core : route.cores) {
          const CoreShare& share = *nest.mapping().shareOf(core);
          if (!nest.takesRows(share, operand, at)) continue;
          some = &share;
          ++cores;
        }
        if (some == nullptr) continue;
        const Interval kernelRows = nest.loadedKernelRows(at);
        // Rows between which others are left out come one by one.
        const bool hasGaps = window && geometry.hasWindow() && window->strideY > kernelRows.count;
        const bool together = LayerNest::isLater(at) && (!ring.onlyBetween || nest.isBetween(at));
        for (const PixelBox& box : some->boxes)
          add(tensor, chunkOf(nest, box, at),
              {.rows = geometry.rowsOf(box.y, kernelRows),
               .columns = geometry.columns(chunkOf(nest, box, at)),
               .blocks = nest.blocks(*some, operand, at),
               .step = hasGaps ? window->strideY : 1,
               .together = together && !hasGaps ? ring.together : 1,
               .instructions = 1 + cores});
      }
  }

  void addWrites(const LayerNest& nest) {
    for (const CoreShare& share : nest.mapping().shares)
      for (const Iteration& at : nest.iterations())
        if (nest.last(at) && at.band == 0)
          for (const PixelBox& box : share.boxes)
            add(nest.op().output, chunkOf(nest, box, at),
                {.rows = box.y,
                 .columns = chunkOf(nest, box, at),
                 .blocks = nest.mapping().passBlocks(share, at.pass),
                 .together = nest.isInner(at) ? nest.callRows(at) : 1});
  }

  static Interval chunkOf(const LayerNest& nest, const PixelBox& box, const Iteration& at) {
    Interval x = evenPart(box.x.count, nest.mapping().chunks, at.chunk);
    x.first += box.x.first;
    return x;
  }

  // Row by row, between DDR and memtiles.
  void addWhole(TensorId tensor) {
    const Shape& shape = graph_.tensors[tensor.at()].shape;
    const Interval columns{0, shape.width};
    add(tensor, columns,
        {.rows = {0, shape.height}, .columns = columns, .blocks = {0, blocksOf(shape)}});
  }

  // `computed`: columns of the output that it is for.
  void add(TensorId tensor, const Interval& computed, Moved moved) {
    if (computed.empty() || moved.rows.empty() || moved.columns.empty() || moved.blocks.empty())
      return;
    const View& view = plan_.views[tensor.at()];
    const PixelMap pixels = pixelMapOf(graph_, plan_, tensor);
    moved.blocks.first += view.block;
    moved.columns = {
        pixels.column(moved.columns.first),
        pixels.column(moved.columns.end() - 1) + 1 - pixels.column(moved.columns.first)};
    moved.rows = pixels.reachOfRows(moved.rows);
    moved.step *= pixels.rowStep();
    std::vector<Moved>& all = of_[view.root.at()];
    if (!all.empty()) {
      moved.times = all.back().times;
      if (moved == all.back()) {
        ++all.back().times;
        return;
      }
      moved.times = 1;
    }
    all.push_back(moved);
  }

  const CanonicalGraph& graph_;
  const Plan& plan_;
  std::vector<std::vector<Moved>> of_;  // by root tensor
};

// How many of these parts of an axis an interval meets.
N partsMet(const Interval& of, N length, N parts) {
  N met = 0;
  for (N part = 0; part < parts; ++part) met += !common(evenPart(length, parts, part), of).empty();
  return met;
}

N transfersOf(const Moved& moved, N height, N parts) {
  N transfers = 0;
  for (N part = 0; part < parts; ++part) {
    const N rows = common(evenPart(height, parts, part), moved.rows).count;
    transfers += divideRoundUp(divideRoundUp(rows, moved.step), moved.together);
  }
  return transfers;
}

N instructionsOf(const std::vector<Moved>& moves, const Shape& shape, const HomeCut& cut) {
  N all = 0;
  for (const Moved& moved : moves)
    all += moved.times * moved.instructions * transfersOf(moved, shape.height, cut.rows) *
           partsMet(moved.columns, shape.width, cut.columns) *
           partsMet(moved.blocks, blocksOf(shape), cut.blocks);
  return all;
}

// As many parts as there are memtiles, none of them empty.
std::vector<HomeCut> cutsInto(N memtiles, const Shape& shape) {
  std::vector<HomeCut> cuts;
  for (N rows = 1; rows <= std::min(memtiles, shape.height); ++rows)
    for (N blocks = 1; rows * blocks <= memtiles && blocks <= blocksOf(shape); ++blocks)
      if (memtiles % (rows * blocks) == 0 && memtiles / (rows * blocks) <= shape.width)
        cuts.push_back({memtiles / (rows * blocks), rows, blocks});
  return cuts;
}

Home homeOf(const Shape& shape, const HomeCut& cut) {
  Home home;
  for (N x = 0; x < cut.columns; ++x)
    for (N y = 0; y < cut.rows; ++y)
      for (N b = 0; b < cut.blocks; ++b)
        home.push_back({std::ssize(home), evenPart(shape.height, cut.rows, y),
                        evenPart(shape.width, cut.columns, x),
                        evenPart(blocksOf(shape), cut.blocks, b)});
  return home;
}

N largestOf(const Home& home) {
  N largest = 0;
  for (const HomeBox& box : home) largest = std::max(largest, box.bytes());
  return largest;
}

// Into how many parts in rows a tensor may be cut: what nothing computes, such that its rows come
// out of DDR.
std::vector<N> mostRowParts(const CanonicalGraph& graph, const std::vector<StepTime>& times,
                            const Plan& plan) {
  std::vector<N> parts(graph.tensors.size(), INT64_MAX);
  const auto partsOf = [&](TensorId tensor) -> N& {
    return parts[plan.views[tensor.at()].root.at()];
  };
  for (std::size_t step = 0; step < plan.schedule.size(); ++step) {
    const LayerId layer = plan.schedule[step].layer;
    if (plan.layers[layer.at()].inPlace()) continue;
    const N busiest = std::ranges::max_element(times[step].busy)->raw(),
            ddr = times[step].busy[static_cast<std::size_t>(Resource::DdrRead)].raw();
    if (ddr == 0) continue;
    for (const TensorId input : graph.ops[layer.at()].inputs)
      partsOf(input) = std::min(partsOf(input), busiest * kBusyWithDdr / 100 / ddr);
  }
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (!plan.layers[i].inPlace()) partsOf(graph.ops[i].output) = INT64_MAX;
  return parts;
}

}  // namespace

Home homeInColumns(const Shape& shape, const Device& device) {
  Home home;
  const std::vector<PixelBox> boxes = evenBoxes(shape, device);
  for (std::size_t c = 0; c < boxes.size(); ++c)
    if (!boxes[c].empty())
      home.push_back({static_cast<N>(c), boxes[c].y, boxes[c].x, {0, blocksOf(shape)}});
  return home;
}

std::vector<bool> arrangeHomes(const CanonicalGraph& graph, const Device& device,
                               const std::vector<StepTime>& times, const std::vector<bool>& asked,
                               Plan& plan) {
  const Moves moves(graph, plan);
  const std::vector<N> rowParts = mostRowParts(graph, times, plan);
  std::vector<bool> arranged(graph.tensors.size());
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const Shape& shape = graph.tensors[t].shape;
    const Home& home = plan.homes[t];
    if (!asked[t] || home.empty() || home != homeInColumns(shape, device)) continue;
    const N parts = std::ssize(home);
    const bool acrossWidth = home[0].x.count < shape.width;
    N least =
        instructionsOf(moves.of(t), shape, {acrossWidth ? parts : 1, acrossWidth ? 1 : parts, 1}) *
        (100 - kFewerInstructions) / 100;
    const N mostRows = std::max(home[0].y.count, device.limits.lockMaximum.value_or(INT64_MAX));
    std::optional<Home> best;
    for (const HomeCut& cut : cutsInto(device.columns, shape)) {
      const N instructions = instructionsOf(moves.of(t), shape, cut);
      if (instructions >= least || cut.rows > std::max<N>(1, rowParts[t])) continue;
      // A lock counts the rows of a home.
      if (divideRoundUp(shape.height, cut.rows) > mostRows) continue;
      Home other = homeOf(shape, cut);
      if (largestOf(other) > largestOf(home)) continue;
      least = instructions;
      best = std::move(other);
    }
    if (!best) continue;
    plan.homes[t] = *std::move(best);
    arranged[t] = true;
  }
  return arranged;
}

}  // namespace heddle
