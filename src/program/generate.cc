#include "heddle/program/generate.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "generation.h"
#include "records.h"
#include "verify_checks.h"

namespace heddle {
namespace {

class Generator {
 public:
  Generator(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory,
            const Device& device)
      : g_{graph, plan, memory, device, Emission(device), {}, {}, {}, {}} {}

  Result<GeneratedProgram> run() {
    g_.emission.setPlacesOfWires(placesOfWires());
    describe();
    placeConstants(g_);
    reserveRecords(g_.graph, g_.out.weights.bytes);
    tellFrame();
    if (g_.plan.frames > 1) {
      const std::size_t buffers = g_.out.program.buffers.size();
      g_.emission.tellAgain(small(std::ssize(g_.plan.schedule)));
      g_.recordsAtHome.clear();  // each frame brings them anew
      tellFrame();
      g_.out.program.buffers.resize(buffers);  // of the one frame
    }
    g_.emission.finish(g_.out.program, g_.device.limits);
    tellSequencer(g_);
    Program& program = g_.out.program;
    if (program.frames > 1) dropSpareTokens(program);
    program.weightsBytes = std::ssize(g_.out.weights.bytes);
    program.ddrBytes = program.weightsAddress + program.weightsBytes;
    return std::move(g_.out);
  }

 private:
  void tellFrame() {
    for (std::size_t s = 0; s < g_.plan.schedule.size(); ++s) {
      loadTensors(s);
      if (!mapping(s).inPlace()) tellStep(g_, StepId(s));
      storeTensors(s);
    }
  }

  // What the sequencer makes wait needs no token from the frame before as well.
  void dropSpareTokens(Program& program) const {
    const std::vector<std::int64_t> spare = spareTokens(program, g_.device);
    for (std::size_t i = 0; i < spare.size(); ++i) program.locks[i].initial -= spare[i];
  }

  std::size_t layerOf(std::size_t step) const { return g_.plan.schedule[step].layer.at(); }
  const Mapping& mapping(std::size_t step) const { return g_.plan.layers[layerOf(step)]; }

  // The mesh column of each wire whose activations go to cores of one column only.
  std::map<std::int32_t, std::int32_t> placesOfWires() const {
    std::map<std::int32_t, std::int32_t> column;
    std::vector<std::int32_t> several;
    for (const Mapping& m : g_.plan.layers)
      for (const std::vector<Route>& routes : m.inputs)
        for (const Route& route : routes)
          for (const Lane& lane : route.lanes)
            for (const CoreAt& core : route.cores) {
              const auto [entry, fresh] = column.try_emplace(small(lane.wire), small(core.column));
              if (entry->second != core.column) several.push_back(small(lane.wire));
            }
    for (const std::int32_t wire : several) column.erase(wire);
    // Of several wires of a column only the first: what is told apart by the column must be one.
    std::set<std::int32_t> taken;
    std::erase_if(column, [&](const auto& entry) { return !taken.insert(entry.second).second; });
    return column;
  }

  void describe() {
    Program& p = g_.out.program;
    p.model = g_.graph.name;
    p.inputs = g_.graph.inputs;
    p.outputs = g_.graph.outputs;
    p.weightsAddress = g_.memory.weightsAddress;
    p.frames = g_.plan.frames;
    p.batch = g_.graph.batch;
    for (std::size_t t = 0; t < g_.graph.tensors.size(); ++t) {
      const CanonicalTensor& from = g_.graph.tensors[t];
      const TensorMemory& memory = g_.memory.tensors[t];
      p.tensors.push_back({from.name, from.shape, from.scale, from.zeroPoint, from.fromUint8,
                           memory.ddr, memory.frameStride, !from.constant.empty(), memory.slices,
                           g_.root(TensorId(t)), g_.rootBlock(TensorId(t)),
                           g_.plan.views[t].sampling, from.blockOrder});
      for (std::size_t i = 0; i < memory.slices.size(); ++i)
        p.buffers.push_back({"tensor " + from.name,
                             TileKind::Memtile,
                             {0, memory.slices[i].memtile, 1, 1},
                             memory.slices[i].address,
                             memory.slices[i].bytes(),
                             StepId(static_cast<std::size_t>(memory.lives[i].first)),
                             StepId(static_cast<std::size_t>(memory.lives[i].last)),
                             TensorId(t)});
    }
    for (std::size_t i = 0; i < g_.graph.ops.size(); ++i) {
      const CanonicalOp& op = g_.graph.ops[i];
      p.layers.push_back({op.name, op.onnxOp, op.output, splitText(g_.plan.layers[i])});
    }
    bool inOrder = g_.plan.schedule.size() == g_.graph.ops.size();
    for (std::size_t s = 0; s < g_.plan.schedule.size(); ++s) {
      p.steps.push_back(g_.plan.schedule[s].layer);
      inOrder = inOrder && p.steps[s] == LayerId(s);
      if (!mapping(s).inPlace()) g_.lastProducer[g_.root(g_.graph.ops[layerOf(s)].output).at()] = s;
    }
    if (inOrder) p.steps.clear();
  }

  // ---- whole tensors between DDR and memtiles ---------------------------------------------------

  // One row of a slice: its cells in DDR and in the memtile.
  void moveRow(bool in, StepId step, TensorId tensor, const Slice& s, std::int64_t y) {
    const Shape& shape = g_.shape(tensor);
    const std::int64_t bytes = s.blocks * s.columns * kBlock;
    const std::int64_t place = s.address + (y - s.y) * bytes;
    const std::int64_t cell = (y * blocksOf(shape) + s.block) * shape.width + s.x;
    End<std::int64_t> ddr{at(*g_.memory.tensors[tensor.at()].ddr + cell * kBlock),
                          blocksOfCells(s.blocks, s.columns, shape.width),
                          {},
                          {}};
    End<std::int64_t> memtile{at(place), contiguous(bytes), {}, {}};
    const Part<std::int64_t> part{
        Content::Activation, tensor, y, s.block, s.x, 1, s.blocks, s.columns};
    const Tile tile{TileKind::Memtile, 0, small(s.memtile)};
    if (in)
      g_.emission.push(
          {EngineKind::DdrIn, 0, small(s.memtile), 0}, step,
          FlatInstruction{Transfer<std::int64_t>{TransferKind::Load, ddr, memtile, part}},
          {{tile, place, place + bytes, true, 1}});
    else
      g_.emission.push(
          {EngineKind::DdrOut, 0, small(s.memtile), 0}, step,
          FlatInstruction{Transfer<std::int64_t>{TransferKind::Write, memtile, ddr, part}},
          {{tile, place, place + bytes, false, 0}});
  }

  void moveSlices(bool in, std::size_t step, TensorId tensor, std::int64_t y) {
    for (const Slice& s : g_.memory.tensors[tensor.at()].slices)
      if (y >= s.y && y < s.y + s.rows) moveRow(in, StepId(step), tensor, s, y);
  }

  std::vector<std::int64_t> rowsFromTheTop(TensorId tensor) const {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(g_.shape(tensor).height));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }

  // How many rows of what a step reads its cores ask for before each: where they share the height
  // out, they ask for the first of each, the second of each, ... Of rows that none asks for the
  // number from the top.
  std::vector<std::int64_t> askedBefore(std::size_t step, TensorId tensor) const {
    std::vector<std::int64_t> before = rowsFromTheTop(tensor);
    if (mapping(step).inPlace()) return before;
    const CanonicalOp& op = g_.graph.ops[layerOf(step)];
    const LayerNest nest(g_.graph, OpId(layerOf(step)), mapping(step));
    const Interval kernelRows{0, windowOf(op) ? windowOf(op)->kernelY : 1};
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (g_.root(op.inputs[i]) != tensor) continue;
      const PixelMap pixels = g_.pixels(op.inputs[i]);
      for (const CoreShare& share : mapping(step).shares) {
        std::int64_t asked = 0, next = 0;  // rows for the boxes so far; the first not asked for
        for (const PixelBox& box : share.boxes)
          for (std::int64_t y = box.y.first; y < box.y.end(); ++y) {
            const Interval need = pixels.reachOfRows(nest.operand(i).rows(y, kernelRows));
            for (std::int64_t row = std::max(need.first, next); row < need.end(); ++row)
              before[static_cast<std::size_t>(row)] =
                  std::min(before[static_cast<std::size_t>(row)], asked++);
            next = std::max(next, need.end());
          }
      }
    }
    return before;
  }

  // Inputs and constants that live in the memtiles arrive before their first reader, in the order
  // in which its cores ask for their rows: a layer that reads two begins with the first of each.
  void loadTensors(std::size_t step) {
    struct Row {
      TensorId tensor;
      std::int64_t y, before;
    };
    std::vector<Row> rows;
    for (std::size_t t = 0; t < g_.graph.tensors.size(); ++t) {
      const TensorMemory& memory = g_.memory.tensors[t];
      if (!memory.ddr || memory.slices.empty() ||
          memory.life.first != static_cast<std::int64_t>(step) || g_.lastProducer.contains(t))
        continue;
      const std::vector<std::int64_t> before = askedBefore(step, TensorId(t));
      for (std::size_t y = 0; y < before.size(); ++y)
        rows.push_back({TensorId(t), static_cast<std::int64_t>(y), before[y]});
    }
    std::ranges::stable_sort(rows, {}, &Row::before);
    for (const Row& row : rows) moveSlices(true, step, row.tensor, row.y);
  }

  // Outputs that live in the memtiles leave after their last writer.
  void storeTensors(std::size_t step) {
    const TensorId t = g_.root(g_.graph.ops[layerOf(step)].output);
    const TensorMemory& memory = g_.memory.tensors[t.at()];
    const auto last = g_.lastProducer.find(t.at());
    if (memory.ddr && !memory.slices.empty() && last != g_.lastProducer.end() &&
        last->second == step)
      for (const std::int64_t y : rowsFromTheTop(t)) moveSlices(false, step, t, y);
  }

  Generation g_;
};

}  // namespace

std::vector<CoreRange> rectanglesOf(std::vector<CoreAt> cores) {
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  std::vector<CoreRange> out;
  const auto there = [&](const CoreAt& core) {
    return std::binary_search(cores.begin(), cores.end(), core);
  };
  while (!cores.empty()) {
    const CoreAt first = cores.front();
    CoreRange r{first.row, first.column, 1, 1};
    while (there({first.row, first.column + r.columns})) ++r.columns;
    for (bool whole = true; whole;) {
      for (std::int64_t c = 0; c < r.columns && whole; ++c)
        whole = there({first.row + r.rows, first.column + c});
      if (whole) ++r.rows;
    }
    std::erase_if(cores, [&](const CoreAt& core) { return r.contains(core.row, core.column); });
    out.push_back(r);
  }
  return out;
}

Result<GeneratedProgram> generateProgram(const CanonicalGraph& graph, const Plan& plan,
                                         const MemoryPlan& memory, const Device& device) {
  return Generator(graph, plan, memory, device).run();
}

}  // namespace heddle
