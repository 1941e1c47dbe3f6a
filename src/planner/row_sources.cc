#include "row_sources.h"

#include <algorithm>

#include "heddle/tiling/geometry.h"

namespace heddle {
namespace {

using N = std::int64_t;

// A lane's share of rows of so many cells that take turns on several, as if each went in parts
// over all.
void addShare(Transfers& to, N cells, N lanes, N rows, bool waits) {
  add(to, Bytes(divideRoundUp(cells * kBlock, lanes)), rows, waits);
}

}  // namespace

Transfers& BusiestWire::of(N wire) {
  const auto known = std::ranges::find(wires_, wire, &std::pair<N, Transfers>::first);
  return known != wires_.end() ? known->second : wires_.emplace_back(wire, Transfers()).second;
}

Transfers BusiestWire::transfers() {
  if (wires_.empty()) return {};
  return std::move(std::ranges::max_element(wires_, {}, [](const auto& wire) {
                     return bytesOf(wire.second);
                   })->second);
}

RowSources::RowSources(const Device& device, const LayerNest& nest, RowSweeps& sweeps,
                       const std::vector<Home>& homes, std::vector<N> columnsBetween,
                       std::vector<bool> firstReads)
    : device_(device),
      nest_(nest),
      m_(nest.mapping()),
      sweeps_(sweeps),
      homes_(homes),
      columnsBetween_(std::move(columnsBetween)),
      isFirstReader_(std::move(firstReads)),
      shareAt_(static_cast<std::size_t>(device.rows * device.columns)),
      routesOfWires_(m_.inputs.size()) {
  for (const CoreShare& share : m_.shares) shareAt_[place(share.core)] = &share;
}

const Route& RowSources::routeOf(std::size_t operand, const CoreAt& core) {
  const auto [known, fresh] = routes_.try_emplace({operand, core}, &m_.inputs[operand][0]);
  if (fresh)
    for (const Route& route : m_.inputs[operand])
      if (std::ranges::find(route.cores, core) != route.cores.end()) {
        known->second = &route;
        break;
      }
  return *known->second;
}

void RowSources::addPieces(Transfers& to, std::size_t operand, const Iteration& i, const Held& held,
                           const Interval& y) const {
  const bool waits = isFirstReader_[operand] && i.pass == 0;
  if (areOutOfDdr(operand))
    add(to, Bytes(held.blocks.count * held.columns.count * kBlock), y.count);
  for (const HomeBox& box : homes_[operand]) {
    const N cells = common(box.x, held.columns).count * common(box.blocks, held.blocks).count;
    if (common(box.x, held.columns).empty() || common(box.blocks, held.blocks).empty()) continue;
    const Interval rows = common(box.y, y);
    if (rows.empty()) continue;
    add(to, Bytes(cells * kBlock), rows.count, waits);
  }
}

void RowSources::addLoads(Transfers& to, std::size_t operand, const Held& held,
                          const Interval& y) const {
  add(to, Bytes(held.blocks.count * columnsOutOfDdr(operand, held.columns) * kBlock), y.count);
}

N RowSources::columnsOutOfDdr(std::size_t operand, const Interval& columns) const {
  return columns.count + (columns.count - 1) * columnsBetween_[operand];
}

void RowSources::addRows(RowTransfers& to, BusiestWire& wires, const CoreShare& share,
                         std::size_t operand, const Iteration& i, std::size_t box,
                         const Interval& y) {
  if (y.empty()) return;
  const bool spilled = areOutOfDdr(operand);
  const bool waits = isFirstReader_[operand] && i.pass == 0;
  for (const Brought& brought : broughtTo(share, operand, i, box)) {
    const Neighbour& other = *brought.by;
    const Interval blocks = nest_.blocks(*other.share, operand, i);
    if (blocks.empty()) continue;
    for (const N wire : other.wires) {
      Transfers& ofWire = wires.of(wire);
      if (spilled)
        addShare(ofWire, blocks.count * brought.columns.count, other.lanes, y.count, true);
      for (const Source& source :
           std::span<const Source>(sources_).subspan(brought.first, brought.count)) {
        const Interval rows = common(source.y, y), own = common(source.blocks, blocks);
        if (!rows.empty() && !own.empty())
          addShare(ofWire, own.count * source.columns, other.lanes, rows.count, waits);
      }
    }
    if (other.sameChannel)
      addShare(to.ddr, blocks.count * columnsOutOfDdr(operand, brought.columns), other.ddrTurns,
               y.count, true);
  }
}

// Of a core, in one box and chunk: of each neighbour that has columns there.
std::span<const RowSources::Brought> RowSources::broughtTo(const CoreShare& share,
                                                           std::size_t operand, const Iteration& i,
                                                           std::size_t box) {
  const auto boxes = std::ssize(share.boxes);
  const auto at = static_cast<std::size_t>((static_cast<N>(operand) * m_.chunks + i.chunk) * boxes +
                                           static_cast<N>(box));
  if (broughtFor_ != &share) {
    broughtFor_ = &share;
    broughtAt_.assign(static_cast<std::size_t>(std::ssize(m_.inputs) * m_.chunks * boxes), {});
    brought_.clear();
    sources_.clear();
  }
  auto& [first, count] = broughtAt_[at];
  if (first == SIZE_MAX) {
    first = brought_.size();
    for (const Neighbour& other : neighboursOf(operand, routeOf(operand, share.core))) {
      const bool oneBox = boxes == 1 && other.share->boxes.size() == 1;
      const Interval columns =
          oneBox ? sweeps_.columns(*other.share, 0, i) : sweeps_.columns(share, box, i);
      const Interval held = nest_.operand(operand).columns(columns);
      if (columns.empty() || held.empty()) continue;  // the chunk has none of its
      brought_.push_back({&other, held, sources_.size(), 0});
      for (const HomeBox& home : homes_[operand])
        if (const Interval own = common(home.x, held); !own.empty())
          sources_.push_back({home.y, home.blocks, own.count});
      brought_.back().count = sources_.size() - brought_.back().first;
    }
    count = brought_.size() - first;
  }
  return std::span<const Brought>(brought_).subspan(first, count);
}

const std::vector<RowSources::Neighbour>& RowSources::neighboursOf(std::size_t operand,
                                                                   const Route& own) {
  const auto [known, fresh] = neighbours_.try_emplace(&own);
  if (!fresh) return known->second;
  const bool spilled = areOutOfDdr(operand);
  for (const Route* route : routesNear(operand, own)) {
    Neighbour other{&shareAt(route->cores[0]), static_cast<N>(route->lanes.size()), {}, false, 1};
    other.sameChannel =
        spilled && route->memtile == own.memtile &&
        (route->ddrTurns > 1 || own.ddrTurns > 1 || route->ddrChannel == own.ddrChannel);
    other.ddrTurns = route->ddrTurns;
    for (const Lane& lane : own.lanes)
      if (std::ranges::find(route->lanes, lane.wire, &Lane::wire) != route->lanes.end())
        other.wires.push_back(lane.wire);
    if (other.sameChannel || !other.wires.empty()) known->second.push_back(std::move(other));
  }
  return known->second;
}

// Those of an operand's routes, in order, that share a wire with one of them, or of rows out of
// DDR its memtile.
std::vector<const Route*> RowSources::routesNear(std::size_t operand, const Route& own) {
  std::vector<std::vector<const Route*>>& ofWires = routesOfWires_[operand];
  if (ofWires.empty()) {
    ofWires.resize(device_.wires.size());
    for (const Route& route : m_.inputs[operand])
      for (const Lane& lane : route.lanes)
        ofWires[static_cast<std::size_t>(lane.wire)].push_back(&route);
  }
  std::vector<const Route*> near;
  for (const Lane& lane : own.lanes) {
    const auto& ofWire = ofWires[static_cast<std::size_t>(lane.wire)];
    near.insert(near.end(), ofWire.begin(), ofWire.end());
  }
  if (areOutOfDdr(operand))
    for (const Route& route : m_.inputs[operand])
      if (route.memtile == own.memtile) near.push_back(&route);
  std::ranges::sort(near);
  near.erase(std::unique(near.begin(), near.end()), near.end());
  return near;
}

}  // namespace heddle
