#include "heddle/report/memory_blocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "heddle/program/visit.h"
#include "heddle/support/units.h"
#include "leaf_places.h"

namespace heddle {
namespace {

struct Life {
  StepId first, last;
  void extend(StepId step) {
    if (!first.valid() || step < first) first = step;
    if (!last.valid() || step > last) last = step;
  }
};

TensorId rootOf(const Program& program, TensorId tensor) {
  const TensorId root = program.tensors[tensor.at()].root;
  return root.valid() ? root : tensor;
}

// Notes which steps touch which root tensor.
class LifeFinder {
 public:
  explicit LifeFinder(const Program& program) : program_(program), lives_(program.tensors.size()) {
    for (const Section& section : program.sections) {
      step_ = section.step;
      visit(section.items);
    }
  }
  const std::vector<Life>& lives() const { return lives_; }

  void operator()(const Start&) {}
  void operator()(const Wait<Affine>&) {}
  void operator()(const Transfer<Affine>& transfer) { touch(transfer.part); }
  void operator()(const Call<Affine>& call) {
    touch(call.part);
    for (const RowRing<Affine>& ring : call.inputs) touch(ring.tensor);
  }

 private:
  void visit(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (const Loop* loop = std::get_if<Loop>(&item.as))
        visit(loop->body);
      else
        std::visit(*this, std::get<Instruction>(item.as).as);
    }
  }
  void touch(const Part<Affine>& part) {
    if (part.content == Content::Activation) touch(part.tensor);
  }
  void touch(TensorId tensor) {
    if (tensor.valid()) lives_[rootOf(program_, tensor).at()].extend(step_);
  }

  const Program& program_;
  std::vector<Life> lives_;
  StepId step_;
};

bool covers(const MemoryBlock& outer, const MemoryBlock& inner) {
  return outer.kind == inner.kind && outer.tiles.contains(inner.tiles.row, inner.tiles.column) &&
         outer.address <= inner.address &&
         inner.address + inner.size <= outer.address + outer.size && outer.first <= inner.first &&
         (!outer.last.valid() || inner.last <= outer.last);
}

MemoryBlock stagingBlock(StepId step, std::int64_t memtile, const Extent& extent) {
  return {"weights",
          TileKind::Memtile,
          {.row = 0, .column = memtile},
          extent.first,
          extent.end - extent.first,
          step,
          step,
          TensorId()};
}

// Stretches of memtiles that each step's weight records pass through, from the transfers that
// bring them: but for those into a declared buffer, in which they stay.
std::vector<MemoryBlock> stagingBlocks(const Program& program,
                                       const std::vector<MemoryBlock>& declared) {
  std::vector<MemoryBlock> places;
  std::ranges::copy_if(declared, std::back_inserter(places), [](const MemoryBlock& buffer) {
    return buffer.kind == TileKind::Memtile && !buffer.tensor.valid();
  });
  std::map<std::pair<StepId, std::int64_t>, Extent> spans;
  for (const LeafPlace& leaf : leafPlaces(program)) {
    const auto* load = transferOf(*leaf.instruction, TransferKind::Load);
    if (!load || load->part.content != Content::Weights) continue;
    forEachEngine(leaf.section->engines, [&](const Engine& channel) {
      const Extent extent =
          extentOf(program, load->destination, load->part, leaf.counts, 0, channel.column);
      const MemoryBlock passed = stagingBlock(leaf.section->step, channel.column, extent);
      if (std::ranges::any_of(places,
                              [&](const MemoryBlock& buffer) { return covers(buffer, passed); }))
        return;
      Extent& span = spans.try_emplace({leaf.section->step, channel.column}, extent).first->second;
      span = {std::min(span.first, extent.first), std::max(span.end, extent.end)};
    });
  }
  std::vector<MemoryBlock> blocks;
  for (const auto& [where, span] : spans)
    blocks.push_back(stagingBlock(where.first, where.second, span));
  return blocks;
}

std::int64_t bytesOf(const Shape& shape) {
  return shape.height * shape.width * roundUpTo(shape.channels, kBlock);
}

// Inputs are there from the start, outputs stay to the end, weights do both.
void appendDdrBlocks(const Program& program, const std::vector<Life>& lives,
                     std::vector<MemoryBlock>& blocks) {
  const auto isPort = [&](const std::vector<Port>& ports, TensorId tensor) {
    return std::any_of(ports.begin(), ports.end(),
                       [&](const Port& port) { return rootOf(program, port.tensor) == tensor; });
  };
  std::int64_t records = program.weightsAddress;  // behind the constants
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    const ProgramTensor& tensor = program.tensors[t];
    const TensorId id(t);
    if (!tensor.ddr || rootOf(program, id) != id) continue;
    const std::int64_t size = bytesOf(tensor.shape);
    Life life = lives[t];
    if (tensor.constant || isPort(program.inputs, id)) life.first = StepId();
    if (isPort(program.outputs, id)) life.last = StepId();
    if (tensor.constant) records = std::max(records, *tensor.ddr + size);
    blocks.push_back(
        {tensor.name, TileKind::Ddr, {}, *tensor.ddr, size, life.first, life.last, id});
  }
  const std::int64_t size = program.weightsAddress + program.weightsBytes - records;
  if (size > 0)
    blocks.push_back({"weights", TileKind::Ddr, {}, records, size, StepId(), StepId(), TensorId()});
}

bool lives(const MemoryBlock& block, std::size_t step) {
  const StepId now(step);
  return block.first <= now && (!block.last.valid() || now <= block.last);
}

// Bytes that the blocks cover, in one tile.
std::int64_t coveredBytes(std::vector<std::pair<std::int64_t, std::int64_t>>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::int64_t covered = 0, reached = 0;
  for (const auto& [from, to] : intervals) {
    covered += std::max<std::int64_t>(0, to - std::max(from, reached));
    reached = std::max(reached, to);
  }
  return covered;
}

std::vector<std::int64_t> occupancy(const std::vector<MemoryBlock>& blocks, TileKind kind,
                                    std::int64_t row, std::int64_t column, std::size_t steps) {
  std::vector<const MemoryBlock*> here;
  for (const MemoryBlock& block : blocks)
    if (block.kind == kind && block.tiles.contains(row, column)) here.push_back(&block);
  std::vector<std::int64_t> bytes(steps);
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
  for (std::size_t step = 0; step < steps; ++step) {
    intervals.clear();
    for (const MemoryBlock* block : here)
      if (lives(*block, step)) intervals.emplace_back(block->address, block->address + block->size);
    bytes[step] = coveredBytes(intervals);
  }
  return bytes;
}

}  // namespace

std::vector<MemoryBlock> memoryBlocks(const Program& program) {
  std::vector<MemoryBlock> blocks;
  std::set<std::tuple<std::int64_t, std::int64_t, TensorId>> named;  // memtile, address, tensor
  for (const Buffer& buffer : program.buffers) {
    blocks.push_back({buffer.name, buffer.kind, buffer.tiles, buffer.address, buffer.size,
                      buffer.first, buffer.last, buffer.tensor});
    if (buffer.kind != TileKind::Memtile || !buffer.tensor.valid()) continue;
    for (std::int64_t c = buffer.tiles.column; c < buffer.tiles.column + buffer.tiles.columns; ++c)
      named.emplace(c, buffer.address, rootOf(program, buffer.tensor));
  }
  for (MemoryBlock& staging : stagingBlocks(program, blocks)) blocks.push_back(std::move(staging));
  const LifeFinder finder(program);
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    const ProgramTensor& tensor = program.tensors[t];
    const TensorId id(t);
    const Life& life = finder.lives()[t];
    if (rootOf(program, id) != id || !life.first.valid()) continue;
    for (const Slice& slice : tensor.slices) {
      if (named.contains({slice.memtile, slice.address, id})) continue;
      blocks.push_back({tensor.name,
                        TileKind::Memtile,
                        {.row = 0, .column = slice.memtile},
                        slice.address,
                        slice.bytes(),
                        life.first,
                        life.last,
                        id});
    }
  }
  appendDdrBlocks(program, finder.lives(), blocks);
  return blocks;
}

std::int64_t peakBytes(const std::vector<MemoryBlock>& blocks, TileKind kind, std::size_t steps) {
  std::set<std::pair<std::int64_t, std::int64_t>> tiles;
  for (const MemoryBlock& block : blocks) {
    if (block.kind != kind) continue;
    for (std::int64_t r = 0; r < block.tiles.rows; ++r)
      for (std::int64_t c = 0; c < block.tiles.columns; ++c)
        tiles.emplace(block.tiles.row + r, block.tiles.column + c);
  }
  std::int64_t peak = 0;
  for (const auto& [row, column] : tiles)
    for (const std::int64_t bytes : occupancy(blocks, kind, row, column, steps))
      peak = std::max(peak, bytes);
  return peak;
}

std::vector<std::int64_t> memtileOccupancy(const std::vector<MemoryBlock>& blocks,
                                           std::int64_t column, std::size_t steps) {
  return occupancy(blocks, TileKind::Memtile, 0, column, steps);
}

}  // namespace heddle
