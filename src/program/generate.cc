#include "heddle/program/generate.h"

#include <algorithm>
#include <map>

#include "emission.h"
#include "heddle/program/visit.h"
#include "heddle/support/check.h"
#include "heddle/tiling/geometry.h"
#include "records.h"

namespace heddle {
namespace {

using Flat = FlatInstruction;
using N = std::int64_t;

std::int32_t small(N n) { return static_cast<std::int32_t>(n); }
Address<N> at(N address) { return {.base = address}; }
Pattern contiguous(N bytes) { return {{}, bytes}; }

// `blocks` stretches of `columns` cells that lie `pitch` cells apart; one stretch where they touch.
Pattern blocksOfCells(N blocks, N columns, N pitch) {
  if (columns == pitch || blocks == 1) return contiguous(blocks * columns * kBlock);
  return {{{blocks, pitch * kBlock}}, columns * kBlock};
}

Interval shifted(Interval i, N by) { return {i.first + by, i.count}; }

// Restricts a map to outputs [first, first + count), counted from there, with inputs counted from
// `origin`.
AxisMap restricted(const AxisMap& map, N first, N count, N origin) {
  std::vector<std::pair<N, N>> pairs;
  for (const AxisRun& run : map)
    for (N i = 0; i < run.count; ++i) {
      const N to = run.to + i * run.toStep;
      if (to >= first && to < first + count)
        pairs.push_back({to - first, run.from + i * run.fromStep - origin});
    }
  std::sort(pairs.begin(), pairs.end());
  AxisMap out;
  for (const auto& [to, from] : pairs) {
    if (!out.empty()) {
      AxisRun& r = out.back();
      if (r.count == 1 && to > r.to) {
        r.toStep = to - r.to;
        r.fromStep = from - r.from;
        r.count = 2;
        continue;
      }
      if (to == r.to + r.count * r.toStep && from == r.from + r.count * r.fromStep) {
        ++r.count;
        continue;
      }
    }
    out.push_back({to, 1, from, 1, 1});
  }
  return out;
}

// One column's or one core's place in a stream of rows: what was loaded and where in the ring.
struct RingState {
  N offset = 0;  // row a lies in place (a + offset) mod length
  N next = 0;    // first row not loaded yet in this sweep
  bool fresh = true;
};

class Generator {
 public:
  Generator(const CanonicalGraph& graph, const LayerPlan& plan, const MemoryPlan& memory,
            const Device& device)
      : graph_(graph), plan_(plan), memory_(memory), device_(device) {}

  Result<GeneratedProgram> run() {
    HEDDLE_TRY(const bool wired, assignWires());
    (void)wired;
    emission_.setColumnWires(columnWires_);
    describe();
    placeConstants();
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      loadTensors(i);
      layer(i);
      storeTensors(i);
    }
    emission_.finish(out_.program);
    sequence();
    out_.program.weightsBytes = std::ssize(out_.weights.bytes);
    out_.program.ddrBytes = out_.program.weightsAddress + out_.program.weightsBytes;
    return std::move(out_);
  }

 private:
  // ---- wires ------------------------------------------------------------------------------------

  // The narrowest wire that reaches all of `cores` and that nothing else uses yet, else the
  // narrowest of all.
  std::optional<N> wireFor(const CoreRange& cores, std::vector<bool>& used) const {
    std::optional<std::pair<std::pair<bool, N>, N>> best;
    for (std::size_t w = 0; w < device_.wires.size(); ++w) {
      const CoreRange& r = device_.wires[w].reach;
      if (!r.contains(cores.row, cores.column) ||
          !r.contains(cores.row + cores.rows - 1, cores.column + cores.columns - 1))
        continue;
      const std::pair<std::pair<bool, N>, N> candidate{{used[w], r.rows * r.columns},
                                                       static_cast<N>(w)};
      if (!best || candidate < *best) best = candidate;
    }
    if (!best) return std::nullopt;
    used[static_cast<std::size_t>(best->second)] = true;
    return best->second;
  }

  Result<bool> assignWires() {
    std::vector<bool> used(device_.wires.size(), false);
    auto take = [&](const CoreRange& cores, const std::string& what, std::vector<N>& wires,
                    N feeder) -> std::optional<Diagnostic> {
      const std::optional<N> wire = wireFor(cores, used);
      if (wire) {
        const std::vector<N>& feeders = device_.wires[static_cast<std::size_t>(*wire)].feeders;
        if (feeder >= 0 && std::find(feeders.begin(), feeders.end(), feeder) == feeders.end())
          return Diagnostic{"PLAN002",
                            "device '" + device_.name + "'",
                            "a memtile cannot feed the wire of " + what,
                            "memtile " + std::to_string(feeder) +
                                " is not among the feeders of wire '" +
                                device_.wires[static_cast<std::size_t>(*wire)].name + "'",
                            "let any memtile feed the wires",
                            Severity::DoesNotFit};
        wires.push_back(*wire);
        return std::nullopt;
      }
      return Diagnostic{"PLAN002",
                        "device '" + device_.name + "'",
                        "no wire reaches all cores of " + what,
                        std::to_string(device_.wires.size()) + " wires, none with this reach",
                        "describe a wire for each column and for each row",
                        Severity::DoesNotFit};
    };
    for (N c = 0; c < device_.columns; ++c) {
      const auto fault =
          take({0, c, device_.rows, 1}, "column " + std::to_string(c), columnWires_, -1);
      if (fault) return *fault;
    }
    for (N r = 0; r < device_.rows; ++r) {
      const auto fault = take({r, 0, 1, device_.columns}, "row " + std::to_string(r), rowWires_,
                              weightMemtile(r, device_));
      if (fault) return *fault;
    }
    for (N c = 0; c < device_.columns; ++c)
      for (N m = 0; m < device_.columns; ++m) {
        const Wire& wire =
            device_.wires[static_cast<std::size_t>(columnWires_[static_cast<std::size_t>(c)])];
        if (std::find(wire.feeders.begin(), wire.feeders.end(), m) == wire.feeders.end())
          return Diagnostic{"PLAN002",
                            "device '" + device_.name + "'",
                            "a memtile cannot feed the wire of column " + std::to_string(c),
                            "memtile " + std::to_string(m) + " is not among the feeders of wire '" +
                                wire.name + "'",
                            "let any memtile feed the wires",
                            Severity::DoesNotFit};
      }
    return true;
  }

  // ---- the opening ------------------------------------------------------------------------------

  void describe() {
    Program& p = out_.program;
    p.model = graph_.name;
    p.inputs = graph_.inputs;
    p.outputs = graph_.outputs;
    p.weightsAddress = memory_.weightsAddress;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      const CanonicalTensor& from = graph_.tensors[t];
      const TensorPlan& plan = memory_.tensors[t];
      p.tensors.push_back({from.name, from.shape, from.scale, from.zeroPoint, from.fromUint8,
                           plan.ddr, !from.constant.empty(), plan.slices, plan.root,
                           plan.rootBlock});
      if (!plan.slices.empty())
        for (const Slice& s : plan.slices)
          p.buffers.push_back({"tensor " + from.name,
                               TileKind::Memtile,
                               {0, s.memtile, 1, 1},
                               s.address,
                               s.rows * s.columns * blocksOf(from.shape) * kBlock,
                               LayerId(static_cast<std::size_t>(plan.first)),
                               LayerId(static_cast<std::size_t>(plan.last)),
                               TensorId(t)});
    }
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const CanonicalOp& op = graph_.ops[i];
      p.layers.push_back(
          {op.name, op.onnxOp, op.output, inPlace(i) ? "in place" : splitText(plan_.layers[i])});
      operands_.emplace_back();
      for (std::size_t k = 0; k < op.inputs.size(); ++k)
        operands_.back().emplace_back(graph_, op, k);
      if (!inPlace(i)) lastProducer_[root(op.output).at()] = i;
    }
  }

  void placeConstants() {
    std::vector<std::uint8_t>& image = out_.weights.bytes;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      const CanonicalTensor& tensor = graph_.tensors[t];
      if (tensor.constant.empty()) continue;
      const N blocks = blocksOf(tensor.shape), width = tensor.shape.width;
      const N first = *memory_.tensors[t].ddr - memory_.weightsAddress;
      image.resize(static_cast<std::size_t>(
          first + roundUpTo(tensor.shape.height * blocks * width * kBlock, 64)));
      for (N y = 0; y < tensor.shape.height; ++y)
        for (N x = 0; x < width; ++x)
          for (N c = 0; c < tensor.shape.channels; ++c)
            image[static_cast<std::size_t>(
                first + (((y * blocks + c / kBlock) * width) + x) * kBlock + c % kBlock)] =
                static_cast<std::uint8_t>(tensor.constant[static_cast<std::size_t>(
                    (y * width + x) * tensor.shape.channels + c)]);
    }
  }

  TensorId root(TensorId t) const { return memory_.tensors[t.at()].root; }
  const TensorPlan& home(TensorId t) const { return memory_.tensors[root(t).at()]; }
  bool inPlace(std::size_t layer) const { return memory_.layers[layer].inPlace; }

  // ---- whole tensors between DDR and memtiles ---------------------------------------------------

  // One row of a slice: its cells in DDR and in the memtile.
  void moveRow(bool in, std::size_t layer, TensorId tensor, const Slice& s, N y) {
    const TensorPlan& plan = memory_.tensors[tensor.at()];
    const Shape& shape = graph_.tensors[tensor.at()].shape;
    const N blocks = blocksOf(shape), bytes = blocks * s.columns * kBlock;
    const N place = s.address + (y - s.y) * bytes;
    End<N> ddr{at(*plan.ddr + (y * blocks * shape.width + s.x) * kBlock),
               blocksOfCells(blocks, s.columns, shape.width),
               {},
               {}};
    End<N> memtile{at(place), contiguous(bytes), {}, {}};
    const Part<N> part{Content::Activation, tensor, y, 0, s.x, 1, blocks, s.columns};
    const Tile tile{TileKind::Memtile, 0, small(s.memtile)};
    if (in)
      emission_.push({EngineKind::DdrIn, 0, small(s.memtile), 0}, LayerId(layer),
                     Flat{Load<N>{ddr, memtile, part}}, {{tile, place, place + bytes, true, 1}});
    else
      emission_.push({EngineKind::DdrOut, 0, small(s.memtile), 0}, LayerId(layer),
                     Flat{Write<N>{memtile, ddr, part}}, {{tile, place, place + bytes, false, 0}});
  }

  void moveTensor(bool in, std::size_t layer, TensorId tensor) {
    for (N y = 0; y < graph_.tensors[tensor.at()].shape.height; ++y)
      for (const Slice& s : memory_.tensors[tensor.at()].slices)
        if (y >= s.y && y < s.y + s.rows) moveRow(in, layer, tensor, s, y);
  }

  // Inputs and constants that live in the memtiles arrive before their first reader.
  void loadTensors(std::size_t layer) {
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      const TensorPlan& plan = memory_.tensors[t];
      if (plan.root.at() == t && plan.ddr && !plan.slices.empty() &&
          plan.first == static_cast<N>(layer) && !lastProducer_.count(t))
        moveTensor(true, layer, TensorId(t));
    }
  }

  // Outputs that live in the memtiles leave after their last writer.
  void storeTensors(std::size_t layer) {
    const TensorId t = root(graph_.ops[layer].output);
    const TensorPlan& plan = memory_.tensors[t.at()];
    if (plan.ddr && !plan.slices.empty() && lastProducer_.count(t.at()) &&
        lastProducer_.at(t.at()) == layer)
      moveTensor(false, layer, t);
  }

  // ---- one layer --------------------------------------------------------------------------------

  struct Step {  // where the loop nest is
    N pass = 0, chunk = 0, band = 0;
    std::size_t part = 0;
  };

  void layer(std::size_t index) {
    op_ = &graph_.ops[index];
    if (inPlace(index)) return;
    layer_ = LayerId(index);
    tiling_ = &plan_.layers[index];
    where_ = &memory_.layers[index];
    placeBuffers();
    rings_.assign(static_cast<std::size_t>(device_.rows * device_.columns) * op_->inputs.size(),
                  {});
    inputSlots_.assign(static_cast<std::size_t>(device_.columns) * op_->inputs.size(), 0);
    outputCount_.assign(static_cast<std::size_t>(device_.rows * device_.columns), 0);
    recordCount_.assign(static_cast<std::size_t>(device_.rows), 0);
    weightOffset_.assign(static_cast<std::size_t>(device_.rows), 0);
    records_.clear();
    const LayerTiling& t = *tiling_;
    Step s;
    for (s.pass = 0; s.pass < t.passes; ++s.pass)
      for (s.chunk = 0; s.chunk < t.chunks; ++s.chunk)
        for (s.band = 0; s.band < t.bands; ++s.band)
          for (s.part = 0; s.part < t.parts.size(); ++s.part) sweep(s);
  }

  // Buffers of a core, one after another from the layer's base on.
  void placeBuffers() {
    const LayerTiling& t = *tiling_;
    N next = where_->coreBase;
    const CoreRange cores{0, 0, t.activeRows(), t.activeColumns()};
    auto reserve = [&](const std::string& name, N bytes) {
      const N address = next;
      next += bytes;
      if (bytes > 0)
        out_.program.buffers.push_back({op_->name + " " + name, TileKind::Core, cores, address,
                                        bytes, layer_, layer_, TensorId()});
      return address;
    };
    weightsAt_ = reserve("weights", t.weightSlots * t.weightBytes);
    ringsAt_.clear();
    for (std::size_t i = 0; i < t.rings.size(); ++i)
      ringsAt_.push_back(
          reserve("input " + std::to_string(i), t.rings[i].length * t.rings[i].rowBytes));
    outputAt_ = reserve("output", t.outputSlots * t.outputRowBytes);
    accumulatorsAt_ = reserve("accumulators", t.accumulatorBytes);
    const CoreRange memtiles{0, 0, 1, t.activeColumns()};
    auto stream = [&](const std::string& name, const StreamPlan& s, N copies) {
      out_.program.buffers.push_back({op_->name + " " + name, TileKind::Memtile, memtiles,
                                      s.address, s.slots * s.slotBytes * copies, layer_, layer_,
                                      TensorId()});
    };
    for (std::size_t i = 0; i < where_->inputs.size(); ++i)
      if (where_->inputs[i].slots > 0)
        stream("input " + std::to_string(i) + " stream", where_->inputs[i], 1);
    if (where_->output) stream("output stream", *where_->output, t.activeRows());
  }

  Interval chunkColumns(N column, const Step& s) const {
    const OutputBox& box = tiling_->columns[static_cast<std::size_t>(column)];
    return shifted(evenPart(box.x.count, tiling_->chunks, s.chunk), box.x.first);
  }
  Interval bandRows(N column, const Step& s) const {
    const OutputBox& box = tiling_->columns[static_cast<std::size_t>(column)];
    return shifted(evenPart(box.y.count, tiling_->bands, s.band), box.y.first);
  }

  // One part of the reduction over one band of one chunk in one pass, on all cores.
  void sweep(const Step& s) {
    const LayerTiling& t = *tiling_;
    if (t.weightSlots > 0 && (t.parts.size() > 1 || (s.chunk == 0 && s.band == 0)))
      for (N r = 0; r < t.activeRows(); ++r)
        if (!t.passBlocks(r, s.pass).empty()) sendWeights(r, s);
    N longest = 0;
    for (N c = 0; c < t.activeColumns(); ++c) longest = std::max(longest, bandRows(c, s).count);
    const bool reload = !t.resident || (s.pass == 0 && s.part == 0);
    if (reload)
      for (RingState& ring : rings_) ring.fresh = true;
    for (N k = 0; k < longest; ++k)
      for (N c = 0; c < t.activeColumns(); ++c) {
        const Interval rows = bandRows(c, s);
        if (k >= rows.count || chunkColumns(c, s).empty()) continue;
        loadRows(c, rows.first + k, s, reload);
        for (N r = 0; r < t.activeRows(); ++r)
          if (!t.passBlocks(r, s.pass).empty()) compute(r, c, rows.first + k, rows.first, s);
      }
  }

  // ---- weights ----------------------------------------------------------------------------------

  void sendWeights(N row, const Step& s) {
    const LayerTiling& t = *tiling_;
    const Interval blocks = t.passBlocks(row, s.pass);
    const bool last = s.part + 1 == t.parts.size();
    // Channels are told apart by the record only where it depends on them: one table serves every
    // row and pass.
    const auto [entry, fresh] =
        records_.try_emplace({row, s.pass, s.part}, std::ssize(out_.weights.bytes));
    if (fresh) appendRecord(graph_, *op_, blocks, t.parts[s.part], last, out_.weights.bytes);
    const N offset = entry->second;
    const N bytes = roundUpTo(recordBytes(*op_, blocks.count, t.parts[s.part], last), kBlock);
    const auto r = static_cast<std::size_t>(row);
    const N count = recordCount_[r]++;
    weightOffset_[r] = offset;
    weightBytes_ = bytes;

    const N memtile = weightMemtile(row, device_);
    const N slots = std::min<N>(plan_.weightStagingPerRow / t.weightBytes, 8);
    const Address<N> staging{
        memory_.weightStaging + row / device_.columns * plan_.weightStagingPerRow, count,
        t.weightBytes, slots};
    const Part<N> part{Content::Weights, TensorId(), offset, 0, 0, bytes, 1, 1};
    const Tile tile{TileKind::Memtile, 0, small(memtile)};
    const N place = byteAddress(staging);
    const std::int32_t channel = small(std::min<N>(1, device_.memtile.ddrChannelsIn - 1));
    emission_.push({EngineKind::DdrIn, 0, small(memtile), channel}, layer_,
                   Flat{Load<N>{{at(memory_.weightsAddress + offset), contiguous(bytes), {}, {}},
                                {staging, contiguous(bytes), {}, {}},
                                part}},
                   {{tile, place, place + bytes, true, 1}});
    const N wire = rowWires_[r];
    const N receiving = std::min<N>(1, device_.core.channelsIn - 1);
    emission_.push({EngineKind::Wire, 0, small(wire), 0}, layer_,
                   Flat{Send<N>{memtile,
                                {staging, contiguous(bytes), {}, {}},
                                {{row, 0, 1, t.activeColumns(), receiving}},
                                part}},
                   {{tile, place, place + bytes, false, 0}});
    const Address<N> slot{weightsAt_, count, t.weightBytes, t.weightSlots};
    for (N c = 0; c < t.activeColumns(); ++c)
      receive(row, c, receiving, wire, slot, contiguous(bytes), part, byteAddress(slot),
              byteAddress(slot) + bytes);
  }

  void receive(N row, N column, N channel, N wire, const Address<N>& address,
               const Pattern& pattern, const Part<N>& part, N first, N end) {
    emission_.push({EngineKind::CoreIn, small(row), small(column), small(channel)}, layer_,
                   Flat{Receive<N>{wire, {address, pattern, {}, {}}, part}},
                   {{Tile{TileKind::Core, small(row), small(column)}, first, end, true, 0}});
  }

  // ---- inputs -----------------------------------------------------------------------------------

  RingState& ring(N row, N column, std::size_t operand) {
    const N r = sharesInput(*op_) ? 0 : row;
    return rings_[static_cast<std::size_t>((r * device_.columns + column)) * op_->inputs.size() +
                  operand];
  }

  // What a core's ring of `operand` holds in this sweep; blocks empty where it needs nothing of the
  // operand.
  struct Held {
    Interval columns, blocks;
  };
  Held held(N row, N column, std::size_t operand, const Step& s) const {
    const OperandGeometry& g = operands_[layer_.at()][operand];
    ReductionPart part = tiling_->parts[s.part];
    if (tiling_->resident)
      part.inputBlocks = {0, blocksOf(graph_.tensors[op_->inputs[0].at()].shape)};
    Held h{g.columns(chunkColumns(column, s)), g.blocks(tiling_->passBlocks(row, s.pass), part)};
    if (h.columns.empty()) h.blocks = {};
    return h;
  }

  void loadRows(N column, N y, const Step& s, bool reload) {
    const LayerTiling& t = *tiling_;
    for (std::size_t i = 0; i < op_->inputs.size(); ++i) {
      if (sharesInput(*op_)) {
        N rows = 0;
        while (rows < t.activeRows() && !t.passBlocks(rows, s.pass).empty()) ++rows;
        if (reload) loadRowsTo({0, column, t.resident ? t.activeRows() : rows, 1}, i, y, s);
        continue;
      }
      for (N r = 0; r < t.activeRows(); ++r)
        if (!t.passBlocks(r, s.pass).empty()) loadRowsTo({r, column, 1, 1}, i, y, s);
    }
  }

  void loadRowsTo(const CoreRange& cores, std::size_t operand, N y, const Step& s) {
    const Interval kernelRows =
        tiling_->resident ? Interval{0, kernelHeight()} : tiling_->parts[s.part].kernelRows;
    const Interval rows = operands_[layer_.at()][operand].rows(y, kernelRows);
    const Held h = held(cores.row, cores.column, operand, s);
    if (rows.empty() || h.blocks.empty()) return;
    RingState& state = ring(cores.row, cores.column, operand);
    if (state.fresh) {
      // A new sweep goes on in the ring where the last one ended, so that its first rows need not
      // wait.
      state.offset = tiling_->resident ? 0 : state.next + state.offset - rows.first;
      state.next = rows.first;
      state.fresh = false;
    }
    for (N a = std::max(state.next, rows.first); a < rows.end(); ++a)
      loadRow(cores, operand, a, h, state);
    state.next = std::max(state.next, rows.end());
  }

  N kernelHeight() const {
    const Window* window = windowOf(*op_);
    return window ? window->kernelY : 1;
  }

  void loadRow(const CoreRange& cores, std::size_t operand, N a, const Held& h,
               const RingState& state) {
    const RingPlan& ringPlan = tiling_->rings[operand];
    const TensorId tensor = op_->inputs[operand];
    const TensorPlan& from = home(tensor);
    const Shape& rootShape = graph_.tensors[root(tensor).at()].shape;
    const N rootBlocks = blocksOf(rootShape);
    const N firstBlock = memory_.tensors[tensor.at()].rootBlock + h.blocks.first;
    const Address<N> place{ringsAt_[operand], a + state.offset, ringPlan.rowBytes, ringPlan.length};
    if (from.slices.empty()) {
      streamRow(cores, operand, a, h, place, firstBlock);
      return;
    }
    for (const Slice& s : from.slices) {
      if (a < s.y || a >= s.y + s.rows) continue;
      const N x0 = std::max(s.x, h.columns.first), x1 = std::min(s.x + s.columns, h.columns.end());
      if (x0 >= x1) continue;
      const N stretch = s.address + ((a - s.y) * rootBlocks + firstBlock) * s.columns * kBlock;
      const End<N> source{at(stretch + (x0 - s.x) * kBlock),
                          blocksOfCells(h.blocks.count, x1 - x0, s.columns),
                          {},
                          {}};
      sendRow(cores, s.memtile, source, stretch, stretch + h.blocks.count * s.columns * kBlock,
              place, ringPlan.rowBytes, {x0, x1 - x0}, h,
              {Content::Activation, root(tensor), a, firstBlock, x0, 1, h.blocks.count, x1 - x0});
    }
  }

  // A row piece out of DDR, through the column's own memtile.
  void streamRow(const CoreRange& cores, std::size_t operand, N a, const Held& h,
                 const Address<N>& place, N firstBlock) {
    const TensorId tensor = root(op_->inputs[operand]);
    const Shape& shape = graph_.tensors[tensor.at()].shape;
    const StreamPlan& stream = where_->inputs[operand];
    const N column = cores.column;
    N& count = inputSlots_[static_cast<std::size_t>(column) * op_->inputs.size() + operand];
    const Address<N> slot{stream.address, count++, stream.slotBytes, stream.slots};
    const N bytes = h.blocks.count * h.columns.count * kBlock, first = byteAddress(slot);
    const Part<N> part{Content::Activation, tensor,         a, firstBlock, h.columns.first, 1,
                       h.blocks.count,      h.columns.count};
    const N ddr = *memory_.tensors[tensor.at()].ddr +
                  ((a * blocksOf(shape) + firstBlock) * shape.width + h.columns.first) * kBlock;
    emission_.push(
        {EngineKind::DdrIn, 0, small(column), 0}, layer_,
        Flat{Load<N>{{at(ddr), blocksOfCells(h.blocks.count, h.columns.count, shape.width), {}, {}},
                     {slot, contiguous(bytes), {}, {}},
                     part}},
        {{Tile{TileKind::Memtile, 0, small(column)}, first, first + bytes, true, 1}});
    sendRow(cores, column, {slot, contiguous(bytes), {}, {}}, first, first + bytes, place,
            tiling_->rings[operand].rowBytes, h.columns, h, part);
  }

  // The wire's and the cores' ends of columns `piece` of a row.
  void sendRow(const CoreRange& cores, N memtile, const End<N>& source, N sourceFirst, N sourceEnd,
               Address<N> place, N rowBytes, const Interval& piece, const Held& h,
               const Part<N>& part) {
    const N wire = columnWires_[static_cast<std::size_t>(cores.column)];
    emission_.push(
        {EngineKind::Wire, 0, small(wire), 0}, layer_,
        Flat{Send<N>{memtile, source, {{cores.row, cores.column, cores.rows, 1, 0}}, part}},
        {{Tile{TileKind::Memtile, 0, small(memtile)}, sourceFirst, sourceEnd, false, 0}});
    const N row = byteAddress(place);
    place.base += (piece.first - h.columns.first) * kBlock;
    for (N r = cores.row; r < cores.row + cores.rows; ++r)
      receive(r, cores.column, 0, wire, place,
              blocksOfCells(h.blocks.count, piece.count, h.columns.count), part, row,
              row + rowBytes);
  }

  // ---- kernels ----------------------------------------------------------------------------------

  void compute(N row, N column, N y, N firstRow, const Step& s) {
    const LayerTiling& t = *tiling_;
    const Interval blocks = t.passBlocks(row, s.pass), x = chunkColumns(column, s);
    const Tile tile{TileKind::Core, small(row), small(column)};
    const auto core = static_cast<std::size_t>(row * device_.columns + column);
    const bool first = s.part == 0, last = s.part + 1 == t.parts.size();
    std::vector<Access> accesses;
    Call<N> call;
    call.kernel = kernelFor(row, column, s);
    for (std::size_t i = 0; i < op_->inputs.size(); ++i) addInput(call, accesses, tile, i, y, s);
    if (const N bytes = t.weightSlots > 0 ? bytesRead(call.kernel, blocks, s) : 0) {
      call.weights = Address<N>{weightsAt_, recordCount_[static_cast<std::size_t>(row)] - 1,
                                t.weightBytes, t.weightSlots};
      call.weightOffset = weightOffset_[static_cast<std::size_t>(row)];
      call.weightBytes = bytes;
      accesses.push_back(
          {tile, byteAddress(*call.weights), byteAddress(*call.weights) + bytes, false, 0});
    }
    if (op_->kind() == OpKind::Conv)
      call.keptBlocks = blocks.count * t.parts[s.part].inputBlocks.count;
    call.init = first;
    call.finish = last;
    const N rowBytes = blocks.count * x.count * kBlock;
    if (t.parts.size() > 1) {
      const N place = accumulatorsAt_ + (y - firstRow) * 4 * rowBytes;
      call.accumulator = place;
      if (first || last) accesses.push_back({tile, place, place + 4 * rowBytes, true, 0});
    }
    const TensorPlan& plan = memory_.tensors[op_->output.at()];
    call.part = {Content::Activation, plan.root, y, plan.rootBlock + blocks.first, x.first, 1,
                 blocks.count,        x.count};
    if (last) {
      call.output = Address<N>{outputAt_, outputCount_[core]++, t.outputRowBytes, t.outputSlots};
      accesses.push_back(
          {tile, byteAddress(*call.output), byteAddress(*call.output) + rowBytes, true, 0});
    }
    const Address<N> written = last ? *call.output : Address<N>{};
    const Part<N> part = call.part;
    emission_.push({EngineKind::Core, small(row), small(column), 0}, layer_, Flat{std::move(call)},
                   accesses);
    if (last) writeBack(row, column, written, part);
  }

  // Bytes of the record that a call reads; a CONCAT only as far as the last table of the operands
  // that it has.
  N bytesRead(KernelId kernel, const Interval& blocks, const Step& s) const {
    const bool last = s.part + 1 == tiling_->parts.size();
    if (op_->kind() != OpKind::Assemble)
      return roundUpTo(recordBytes(*op_, blocks.count, tiling_->parts[s.part], last), kBlock);
    N tables = 0;
    for (const Kernel::Move& move : out_.program.kernels[kernel.at()].moves)
      tables = std::max(tables, move.table + 1);
    return tables * 256;
  }

  void addInput(Call<N>& call, std::vector<Access>& accesses, const Tile& tile, std::size_t operand,
                N y, const Step& s) {
    const LayerTiling& t = *tiling_;
    const OperandGeometry& g = operands_[layer_.at()][operand];
    const Held h = held(tile.row, tile.column, operand, s);
    if (h.blocks.empty()) return;
    const RingState& state = ring(tile.row, tile.column, operand);
    const ReductionPart& part = t.parts[s.part];
    RowRing<N> in;
    in.tensor = root(op_->inputs[operand]);
    in.rowBytes = t.rings[operand].rowBytes;
    in.length = t.rings[operand].length;
    in.columns = h.columns.count;
    in.blocks = h.blocks.count;
    in.base = ringsAt_[operand];
    in.block = memory_.tensors[op_->inputs[operand].at()].rootBlock + h.blocks.first;
    if (t.resident) {  // the ring holds all channels, this call reads a part of them
      in.base += part.inputBlocks.first * h.columns.count * kBlock;
      in.block += part.inputBlocks.first;
      in.blocks = part.inputBlocks.count;
    }
    in.ringOffset = state.offset;
    in.row = g.firstRow(y, part.kernelRows);
    in.origin = h.columns.first;
    in.column =
        windowOf(*op_) ? g.firstColumn(chunkColumns(tile.column, s).first) : h.columns.first;
    in.absent = g.absent(y);
    const Interval rows = g.rows(y, part.kernelRows);
    for (N a = rows.first; a < rows.end(); ++a) {
      const N place =
          byteAddress(Address<N>{ringsAt_[operand], a + state.offset, in.rowBytes, in.length});
      accesses.push_back({tile, place, place + in.rowBytes, false, 0});
    }
    call.inputs.push_back(in);
  }

  KernelId kernelFor(N row, N column, const Step& s) {
    const LayerTiling& t = *tiling_;
    const Interval blocks = t.passBlocks(row, s.pass), x = chunkColumns(column, s);
    const ReductionPart& part = t.parts[s.part];
    Kernel k;
    k.op = op_->kind();
    k.name = op_->name;
    const CanonicalTensor& input = graph_.tensors[op_->inputs[0].at()];
    if (const Window* window = windowOf(*op_)) {
      k.window = *window;
      k.kernelYWhole = window->kernelY;
      k.window.kernelY = part.kernelRows.count;
    }
    k.tensorHeight = input.shape.height;
    k.tensorWidth = input.shape.width;
    k.inputBlocks = part.inputBlocks.empty() ? blocks.count : part.inputBlocks.count;
    k.outputBlocks = blocks.count;
    k.outputColumns = x.count;
    k.inputZero = input.zeroPoint;
    if (op_->inputs.size() > 1) k.inputZeroB = graph_.tensors[op_->inputs[1].at()].zeroPoint;
    k.outputZero = graph_.tensors[op_->output.at()].zeroPoint;
    std::visit(
        [&](const auto& a) {
          if constexpr (requires { a.clamp; }) k.clamp = a.clamp;
          if constexpr (requires { a.requantizeNegative; })
            k.negativeScale = !a.requantizeNegative.empty();
        },
        op_->attributes);
    if (const auto* pool = std::get_if<AveragePool>(&op_->attributes)) {
      k.countIncludesPad = pool->countIncludesPad;
      k.rescale = pool->rescale;
    } else if (const auto* mul = std::get_if<Mul>(&op_->attributes)) {
      k.rescale = mul->requantize;
    } else if (const auto* add = std::get_if<Add>(&op_->attributes)) {
      k.multiplierA = add->multiplierA;
      k.multiplierB = add->multiplierB;
      k.shift = add->shift;
    } else if (const auto* table = std::get_if<Table>(&op_->attributes)) {
      k.tablePerChannel = table->tables.size() > 1;
    } else if (const auto* assemble = std::get_if<Assemble>(&op_->attributes)) {
      k.fill = assemble->fill;
      N tables = 0;
      for (std::size_t i = 0; i < op_->inputs.size(); ++i) {
        const AssemblePart& from = assemble->parts[i];
        const N number = from.table ? tables++ : -1;
        const Held h = held(row, column, i, s);
        if (h.blocks.empty()) continue;
        k.moves.push_back({restricted(from.mapX, x.first, x.count, h.columns.first),
                           restricted(from.mapC, blocks.first * kBlock, blocks.count * kBlock,
                                      h.blocks.first * kBlock),
                           number});
      }
    }
    std::vector<Kernel>& kernels = out_.program.kernels;
    if (kernelLayer_ != layer_) firstKernel_ = kernels.size();
    kernelLayer_ = layer_;
    const auto begin = kernels.begin() + static_cast<std::ptrdiff_t>(firstKernel_);
    const auto same = std::find(begin, kernels.end(), k);
    if (same != kernels.end()) return KernelId(static_cast<std::size_t>(same - kernels.begin()));
    kernels.push_back(std::move(k));
    return KernelId(kernels.size() - 1);
  }

  // ---- outputs ----------------------------------------------------------------------------------

  void writeBack(N row, N column, const Address<N>& from, const Part<N>& part) {
    const TensorPlan& to = memory_.tensors[part.tensor.at()];
    const Tile core{TileKind::Core, small(row), small(column)},
        memtile{TileKind::Memtile, 0, small(column)};
    const N bytes = part.blocks * part.columns * kBlock, source = byteAddress(from);
    const N blocks = blocksOf(graph_.tensors[part.tensor.at()].shape);
    End<N> destination;
    N first = 0, end = 0;
    if (!where_->output) {
      const auto slice = std::find_if(to.slices.begin(), to.slices.end(),
                                      [&](const Slice& s) { return s.memtile == column; });
      HEDDLE_CHECK(slice != to.slices.end()) << op_->name << ": no slice in memtile " << column;
      first =
          slice->address + ((part.y - slice->y) * blocks + part.block) * slice->columns * kBlock;
      end = first + part.blocks * slice->columns * kBlock;
      destination = {at(first + (part.x - slice->x) * kBlock),
                     blocksOfCells(part.blocks, part.columns, slice->columns),
                     {},
                     {}};
    } else {
      const StreamPlan& s = *where_->output;
      const N count = outputCount_[static_cast<std::size_t>(row * device_.columns + column)] - 1;
      destination = {
          Address<N>{s.address + row * s.slots * s.slotBytes, count, s.slotBytes, s.slots},
          contiguous(bytes),
          {},
          {}};
      first = byteAddress(destination.address);
      end = first + bytes;
    }
    emission_.push(
        {EngineKind::CoreOut, small(row), small(column), 0}, layer_,
        Flat{WriteFm<N>{{from, contiguous(bytes), {}, {}}, {{column, destination}}, part}},
        {{core, source, source + bytes, false, 0}, {memtile, first, end, true, 1}});
    if (!where_->output) return;
    const Shape& shape = graph_.tensors[part.tensor.at()].shape;
    const N ddr = *to.ddr + ((part.y * blocks + part.block) * shape.width + part.x) * kBlock;
    emission_.push(
        {EngineKind::DdrOut, 0, small(column), small(row % device_.memtile.ddrChannelsOut)}, layer_,
        Flat{Write<N>{{destination.address, contiguous(bytes), {}, {}},
                      {at(ddr), blocksOfCells(part.blocks, part.columns, shape.width), {}, {}},
                      part}},
        {{memtile, first, end, false, 0}});
  }

  // ---- the sequencer ----------------------------------------------------------------------------

  // Weights do not depend on anything in DDR: all their entries start first. The others start layer
  // by layer, each layer after the layers whose spilled tensors it reads.
  void sequence() {
    struct Entry {
      Engine channel;
      std::size_t layer;
      N count;
      bool weights;
    };
    std::vector<Entry> entries;
    std::map<Engine, bool> mixed;
    for (const Section& s : out_.program.sections) {
      if (s.engines.kind != EngineKind::DdrIn && s.engines.kind != EngineKind::DdrOut) continue;
      for (N c = s.engines.range.column; c < s.engines.range.column + s.engines.range.columns; ++c)
        entries.push_back({{s.engines.kind, 0, small(c), s.engines.channel},
                           s.layer.at(),
                           std::ssize(s.items),
                           s.engines.kind == EngineKind::DdrIn && s.engines.channel == 1});
    }
    std::vector<std::pair<LayerId, Instruction>> order;
    std::map<Engine, N> started;
    auto start = [&](const Entry& e) {
      for (N k = 0; k < e.count; ++k)
        order.push_back({LayerId(e.layer), Instruction{Start{e.channel}}});
      started[e.channel] += e.count;
    };
    for (const Entry& e : entries)
      if (e.weights) start(e);
    std::map<std::size_t, std::map<Engine, N>>
        writes;  // per layer: entries of each channel that end its writes
    std::map<std::size_t, std::vector<std::size_t>> producers;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (!inPlace(i)) producers[root(graph_.ops[i].output).at()].push_back(i);
    std::map<Engine, N> awaited;
    for (std::size_t i = 0, next = 0; i < graph_.ops.size(); ++i) {
      if (!inPlace(i))
        for (TensorId t : graph_.ops[i].inputs) {
          if (!home(t).slices.empty()) continue;
          for (std::size_t p : producers[root(t).at()])
            for (const auto& [channel, count] : writes[p]) {
              if (awaited[channel] >= count) continue;
              awaited[channel] = count;
              order.push_back({LayerId(i), Instruction{Wait<Affine>{channel, Affine(count - 1)}}});
            }
        }
      for (; next < entries.size() && entries[next].layer <= i; ++next) {
        const Entry& e = entries[next];
        if (e.weights) continue;
        start(e);
        if (e.channel.kind == EngineKind::DdrOut) writes[i][e.channel] = started[e.channel];
      }
    }
    for (const auto& [channel, count] : started)
      if (channel.kind == EngineKind::DdrOut && awaited[channel] < count)
        order.push_back({LayerId(graph_.ops.size() - 1),
                         Instruction{Wait<Affine>{channel, Affine(count - 1)}}});
    for (auto& [layer, instruction] : order) {
      std::vector<Section>& sections = out_.program.sections;
      const EngineRange sequencer{EngineKind::Sequencer, 0, {0, 0, 1, 1}};
      if (sections.empty() || sections.back().engines != sequencer ||
          sections.back().layer != layer)
        sections.push_back({layer, sequencer, {}});
      sections.back().items.push_back({std::move(instruction)});
    }
  }

  const CanonicalGraph& graph_;
  const LayerPlan& plan_;
  const MemoryPlan& memory_;
  const Device& device_;
  Emission emission_;
  GeneratedProgram out_;
  std::vector<N> columnWires_, rowWires_;
  std::vector<std::vector<OperandGeometry>> operands_;  // per layer and operand
  std::map<std::size_t, std::size_t> lastProducer_;  // root tensor -> the last layer that writes it

  // Of the current layer.
  const CanonicalOp* op_ = nullptr;
  LayerId layer_;
  const LayerTiling* tiling_ = nullptr;
  const LayerMemory* where_ = nullptr;
  N weightsAt_ = 0, outputAt_ = 0, accumulatorsAt_ = 0, weightBytes_ = 0;
  std::vector<N> ringsAt_;
  std::vector<RingState> rings_;  // per core and operand
  std::vector<N> inputSlots_, outputCount_, recordCount_, weightOffset_;
  std::map<std::tuple<N, N, std::size_t>, N> records_;  // row, pass, part -> place in the image
  LayerId kernelLayer_;
  std::size_t firstKernel_ = 0;
};

}  // namespace

Result<GeneratedProgram> generateProgram(const CanonicalGraph& graph, const LayerPlan& plan,
                                         const MemoryPlan& memory, const Device& device) {
  return Generator(graph, plan, memory, device).run();
}

}  // namespace heddle
