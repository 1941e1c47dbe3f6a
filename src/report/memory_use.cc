#include "heddle/report/memory_use.h"

#include <algorithm>
#include <map>
#include <span>

#include "heddle/program/visit.h"
#include "leaf_places.h"

namespace heddle {
namespace {

// Notes what each operand of an instruction that ran touches.
class UseFinder {
 public:
  UseFinder(const Program& program, const std::vector<MemoryBlock>& blocks)
      : program_(program), blocks_(blocks), leaves_(leafPlaces(program)), uses_(blocks.size()) {
    for (std::size_t b = 0; b < blocks.size(); ++b) place(b);
  }

  void note(const Track& track) {
    std::map<std::int32_t, Stretch> ran;  // by leaf
    // Each frame is like the first, and where they overlap the memory is told apart by locks alone.
    const auto ofFirst = track.slices.size() / static_cast<std::size_t>(program_.frames);
    for (const SpanSlice& slice : std::span(track.slices).first(ofFirst)) {
      Stretch& stretch = ran.try_emplace(slice.leaf, Stretch{slice.start, slice.end}).first->second;
      stretch.start = std::min(stretch.start, slice.start);
      stretch.end = std::max(stretch.end, slice.end);
    }
    row_ = track.engine.row;
    column_ = track.engine.column;
    for (const auto& [leaf, stretch] : ran) {
      leaf_ = &leaves_[static_cast<std::size_t>(leaf)];
      stretch_ = stretch;
      std::visit(*this, leaf_->instruction->as);
    }
  }

  std::vector<MemoryUse> take(std::int64_t makespan) {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      MemoryUse& use = uses_[b];
      for (std::vector<LayerId>* layers : {&use.writtenBy, &use.readBy}) {
        std::sort(layers->begin(), layers->end());
        layers->erase(std::unique(layers->begin(), layers->end()), layers->end());
      }
      const auto open = [&](Stretch& s) {
        if (!blocks_[b].first.valid()) s.start = 0;
        if (!blocks_[b].last.valid()) s.end = makespan;
        if (s.start >= 0) s.end = std::max(s.start, s.end);
      };
      open(use.whole);
      for (Stretch& s : use.tiles) open(s);
    }
    return std::move(uses_);
  }

  void operator()(const Start&) {}
  void operator()(const Wait<Affine>&) {}
  void operator()(const Transfer<Affine>& i) {
    forEachEnd(i, [&](const PlacedEnd<Affine>& at) {
      const bool writes = at.point > 0;
      switch (at.place) {
        case EndPlace::Ddr:
          if (i.part.content == Content::Weights) return touchImage(i.part.y);
          return touch({TileKind::Ddr, 0, 0}, at.end, i.part, writes);
        case EndPlace::ChannelsMemtile:
          return touch({TileKind::Memtile, 0, column_}, at.end, i.part, writes);
        case EndPlace::NamedMemtile:
          return touchMemtiles(*at.memtile, at.end, i.part, writes);
        case EndPlace::Core:
          return touch(core(), at.end, i.part, writes);
      }
    });
  }
  void operator()(const Call<Affine>& i) {
    for (const RowRing<Affine>& ring : i.inputs)
      if (!ring.absent) touch(core(), {.base = ring.base}, ring.length * ring.rowBytes, false);
    if (i.weights)
      touch(core(), *i.weights, longestRecord(program_, i.record, leaf_->counts, row_, column_),
            false);
    const std::int64_t bytes = i.part.blocks * i.part.columns * kBlock;
    if (i.accumulator) {
      const std::int64_t sums = 4 * bytes * i.part.rows;
      touch(core(), {.base = *i.accumulator}, sums, true);
      if (!i.init) touch(core(), {.base = *i.accumulator}, sums, false);
    }
    for (std::int64_t row = 0; i.output && row < i.part.rows; ++row) {
      Address<Affine> place = *i.output;
      place.slot.base += row;
      touch(core(), place, bytes, true);
    }
  }

 private:
  struct Here {
    std::size_t block, tile;  // tile: place in MemoryUse::tiles
  };

  void place(std::size_t b) {
    const MemoryBlock& block = blocks_[b];
    const CoreRange& t = block.tiles;
    uses_[b].tiles.resize(static_cast<std::size_t>(t.rows * t.columns));
    const std::size_t steps = program_.stepCount();
    const std::size_t first = block.first.valid() ? block.first.at() : 0;
    const std::size_t last = block.last.valid() ? block.last.at() : steps - 1;
    for (std::int64_t k = 0; k < t.rows * t.columns; ++k) {
      const Tile tile{block.kind, static_cast<std::int32_t>(t.row + k / t.columns),
                      static_cast<std::int32_t>(t.column + k % t.columns)};
      std::vector<std::vector<Here>>& byStep = here_[tile];
      byStep.resize(steps);
      for (std::size_t step = first; step <= last && step < steps; ++step)
        byStep[step].push_back({b, static_cast<std::size_t>(k)});
    }
  }

  Tile core() const { return {TileKind::Core, row_, column_}; }

  void touchMemtiles(const Affine& memtile, const End<Affine>& end, const Part<Affine>& part,
                     bool writes) {
    const Extent columns = extentOf(memtile, leaf_->counts, row_, column_);
    for (std::int64_t c = columns.first; c <= columns.end; ++c)
      touch({TileKind::Memtile, 0, static_cast<std::int32_t>(c)}, end, part, writes);
  }
  void touch(const Tile& tile, const End<Affine>& end, const Part<Affine>& part, bool writes) {
    touch(tile, extentOf(program_, end, part, leaf_->counts, row_, column_), end.address.slots,
          writes);
  }
  // The records that a number names, where they lie in DDR.
  void touchImage(const Affine& number) {
    const RecordRange records = recordsOf(program_, number, leaf_->counts, row_, column_);
    Extent bytes{INT64_MAX, 0};
    for (std::int64_t i = records.first; i < records.end; ++i) {
      const WeightRecord& r = program_.records[static_cast<std::size_t>(i)];
      bytes = {std::min(bytes.first, program_.weightsAddress + r.offset),
               std::max(bytes.end, program_.weightsAddress + r.offset + r.bytes)};
    }
    if (bytes.end > 0) touch({TileKind::Ddr, 0, 0}, bytes, 1, false);
  }
  void touch(const Tile& tile, const Address<Affine>& address, std::int64_t bytes, bool writes) {
    touch(tile, extentOf(address, bytes, leaf_->counts, row_, column_), address.slots, writes);
  }
  void touch(const Tile& tile, const Extent& extent, std::int64_t slots, bool writes) {
    const auto at = here_.find(tile);
    if (at == here_.end()) return;
    const StepId step = leaf_->section->step;
    const LayerId layer = program_.layerOf(step);
    for (const Here& here : at->second[step.at()]) {
      const MemoryBlock& block = blocks_[here.block];
      if (extent.end <= block.address || extent.first >= block.address + block.size) continue;
      MemoryUse& use = uses_[here.block];
      widen(use.whole);
      widen(use.tiles[here.tile]);
      use.slots = std::max(use.slots, slots);
      std::vector<LayerId>& layers = writes ? use.writtenBy : use.readBy;
      if (layers.empty() || layers.back() != layer) layers.push_back(layer);
    }
  }
  void widen(Stretch& s) const {
    s.start = s.start < 0 ? stretch_.start : std::min(s.start, stretch_.start);
    s.end = std::max(s.end, stretch_.end);
  }

  const Program& program_;
  const std::vector<MemoryBlock>& blocks_;
  const std::vector<LeafPlace> leaves_;
  std::map<Tile, std::vector<std::vector<Here>>> here_;  // per tile and step: the blocks that live
  std::vector<MemoryUse> uses_;
  // Of the instruction at hand.
  const LeafPlace* leaf_ = nullptr;
  Stretch stretch_;
  std::int32_t row_ = 0, column_ = 0;
};

}  // namespace

std::vector<MemoryUse> memoryUse(const Program& program, const Timeline& timeline,
                                 const std::vector<MemoryBlock>& blocks) {
  UseFinder finder(program, blocks);
  for (const Track& track : timeline.tracks) finder.note(track);
  return finder.take(timeline.makespan.raw());
}

}  // namespace heddle
