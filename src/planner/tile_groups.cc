#include "tile_groups.h"

#include <algorithm>
#include <array>
#include <optional>

#include "heddle/canon/fuse_operators.h"
#include "heddle/memory/allocate.h"
#include "heddle/support/words.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/lives.h"
#include "heddle/tiling/views.h"
#include "mesh_cut.h"

namespace heddle {
namespace {

using N = std::int64_t;

// One is a tile only where it is an image of several.
constexpr std::array<N, 21> kTiles{1,  2,  3,  4,  5,  6,  7,  8,  10, 12, 14,
                                   16, 20, 24, 28, 32, 40, 48, 56, 64, 112};
constexpr std::size_t kMostLayers = 24;  // of a group
// What spills takes a DDR channel this many times as long as its bytes, shared out evenly, would:
// channels have more or less of it, tiles read rows of their borders again, and the next layer
// waits. As measured on VGG16.
constexpr N kSpillCost = 2;

std::size_t rootOf(const Plan& plan, TensorId t) { return plan.views[t.at()].root.at(); }

N heightOf(const CanonicalGraph& graph, std::size_t layer) {
  return graph.tensors[graph.ops[layer].output.at()].shape.height;
}

N imageHeightOf(const CanonicalGraph& graph, std::size_t layer) {
  return heightOf(graph, layer) / graph.batch;
}

// Which rows of its operands a layer's rows need: kernels, strides, dilation and padding followed
// back.
class RowNeeds {
 public:
  RowNeeds(const CanonicalGraph& graph, const Plan& plan) {
    for (std::size_t l = 0; l < graph.ops.size(); ++l) {
      const CanonicalOp& op = graph.ops[l];
      std::vector<Operand>& operands = layers_.emplace_back();
      if (plan.layers[l].inPlace()) continue;
      const Interval kernelRows{0, windowOf(op) ? windowOf(op)->kernelY : 1};
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        Operand& operand = operands.emplace_back();
        operand.root = rootOf(plan, op.inputs[i]);
        const OperandGeometry geometry(graph, op, i);
        const PixelMap pixels = pixelMapOf(graph, plan, op.inputs[i]);
        operand.rows.reserve(static_cast<std::size_t>(heightOf(graph, l)));
        operand.end.reserve(operand.rows.capacity());
        N end = 0;
        for (N y = 0; y < heightOf(graph, l); ++y) {
          operand.rows.push_back(pixels.reachOfRows(geometry.rows(y, kernelRows)));
          if (!operand.rows.back().empty()) end = std::max(end, operand.rows.back().end());
          operand.end.push_back(end);
        }
      }
    }
  }

  struct Operand {
    std::size_t root = 0;
    std::vector<Interval> rows;  // per output row
    std::vector<N> end;  // per output row: the largest of the rows up to it; both of the root
  };
  const std::vector<Operand>& of(std::size_t layer) const { return layers_[layer]; }

 private:
  std::vector<std::vector<Operand>> layers_;
};

class Tiler {
 public:
  Tiler(const CanonicalGraph& graph, const Plan& plan)
      : graph_(graph), plan_(plan), needs_(graph, plan), writers_(graph.tensors.size()) {
    for (std::size_t l = 0; l < graph.ops.size(); ++l)
      if (!plan.layers[l].inPlace()) writers_[rootOf(plan, graph.ops[l].output)].push_back(l);
  }

  const RowNeeds& needs() const { return needs_; }
  const std::vector<std::size_t>& writersOf(std::size_t root) const { return writers_[root]; }

  void append(const TileGroup& group, std::vector<ScheduleStep>& schedule) const {
    std::vector<N> done(group.end - group.first, 0);
    for (N tile = 1; tile <= tilesOf(graph_, group); ++tile) {
      const std::vector<N> due = dueAfter(group, tile);
      for (std::size_t i = 0; i < due.size(); ++i) {
        const N rows = std::max(due[i], done[i]) - done[i];
        if (rows > 0) schedule.push_back({LayerId(group.first + i), {done[i], rows}});
        done[i] += rows;
      }
    }
  }

 private:
  // Rows of each layer of the group that must be there after so many tiles.
  std::vector<N> dueAfter(const TileGroup& group, N tile) const {
    std::vector<N> due(group.end - group.first, 0);
    for (std::size_t l = group.end; l-- > group.first;) {
      N& own = due[l - group.first];
      const N height = imageHeightOf(graph_, l);
      if (plan_.layers[l].inPlace())
        own = height * graph_.batch;
      else if (tile % group.tiles == 0)  // the end of an image, with rows that nobody reads
        own = height * (tile / group.tiles);
      else if (!isReadWithin(group, l))
        own = divideRoundUp(height * tile, group.tiles);
      if (own == 0) continue;
      for (const RowNeeds::Operand& operand : needs_.of(l))
        for (const std::size_t writer : writers_[operand.root])
          if (writer >= group.first && writer < l)
            due[writer - group.first] =
                std::max(due[writer - group.first], operand.end[static_cast<std::size_t>(own - 1)]);
    }
    return due;
  }

  bool isReadWithin(const TileGroup& group, std::size_t layer) const {
    const std::size_t root = rootOf(plan_, graph_.ops[layer].output);
    for (std::size_t l = layer + 1; l < group.end; ++l)
      if (std::ranges::find(needs_.of(l), root, &RowNeeds::Operand::root) != needs_.of(l).end())
        return true;
    return false;
  }

  const CanonicalGraph& graph_;
  const Plan& plan_;
  RowNeeds needs_;
  std::vector<std::vector<std::size_t>> writers_;  // per root
};

std::vector<bool> inputsOfOne(const CanonicalGraph& graph, const Tiler& tiler,
                              const std::vector<TileGroup>& groups) {
  std::vector<bool> only(graph.tensors.size());
  for (const Port& port : graph.inputs) {
    const std::size_t t = port.tensor.at();
    only[t] = std::ranges::any_of(groups, [&](const TileGroup& group) {
      for (std::size_t l = 0; l < graph.ops.size(); ++l)
        if (std::ranges::find(tiler.needs().of(l), t, &RowNeeds::Operand::root) !=
                tiler.needs().of(l).end() &&
            (l < group.first || l >= group.end))
          return false;
      return true;
    });
  }
  return only;
}

// What one layer takes, in cycles, as long as it stands alone.
struct LayerCost {
  N all = 0;        // what it adds to the whole
  N inside = 0;     // of its busiest core or wire
  N weights = 0;    // of a DDR channel: records, once
  N spilledIn = 0;  // of its busiest DDR channel: rows of operands
  N out = 0;        // the same: rows of its output
};

class GroupSearch {
 public:
  GroupSearch(const CanonicalGraph& graph, const Device& device, const Plan& plan,
              const Foretelling& foretelling, KeptBytes& kept)
      : graph_(graph),
        device_(device),
        plan_(plan),
        kept_(kept),
        tiler_(graph, plan),
        uses_(graph.tensors.size()),
        room_(static_cast<N>(static_cast<double>(device.memtile.memory.raw() - plan.weightStaging) *
                             foretelling.share)),
        stepCost_(foretelling.step.raw()) {
    for (std::size_t s = 0; s < foretelling.alone.size(); ++s)
      costs_.push_back(costOf(s, foretelling.alone[s], foretelling.inside[s]));
    for (const CanonicalTensor& tensor : graph.tensors)
      boxes_.push_back(evenBoxes(tensor.shape, device));
    for (std::size_t l = 0; l < graph.ops.size(); ++l) {
      if (plan.layers[l].inPlace()) continue;
      uses_[rootOf(plan, graph.ops[l].output)].add(l);
      for (const RowNeeds::Operand& operand : tiler_.needs().of(l)) {
        uses_[operand.root].add(l);
        uses_[operand.root].read = true;
      }
    }
  }

  // The cheapest way to go through the layers, alone or in groups.
  std::vector<TileGroup> run(const KnownGroups& known) const {
    const std::size_t n = graph_.ops.size();
    const double error = errorOf(known);
    std::vector<N> best(n + 1, INT64_MAX);
    std::vector<std::optional<TileGroup>> last(n + 1);
    best[0] = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (best[i] + costs_[i].all < best[i + 1]) {
        best[i + 1] = best[i] + costs_[i].all;
        last[i + 1].reset();
      }
      N executed = 0;
      for (std::size_t end = i + 1; end <= n; ++end) {
        executed += !plan_.layers[end - 1].inPlace();
        if (executed > static_cast<N>(kMostLayers)) break;
        if (executed < 2 || plan_.layers[i].inPlace() || plan_.layers[end - 1].inPlace() ||
            !spillsWithin(i, end))
          continue;
        const std::optional<N> tiles = fewestTiles(i, end);
        if (!tiles) break;  // a longer group keeps more
        const TileGroup group{i, end, *tiles};
        const auto timed = known.find(group);
        const N cost =
            best[i] + (timed == known.end()
                           ? static_cast<N>(static_cast<double>(groupCost(group)) * error)
                           : timed->second);
        if (cost >= best[end]) continue;
        best[end] = cost;
        last[end] = group;
      }
    }
    std::vector<TileGroup> groups;
    for (std::size_t at = n; at > 0;) {
      if (last[at]) groups.push_back(*last[at]);
      at = last[at] ? last[at]->first : at - 1;
    }
    std::ranges::reverse(groups);
    return groups;
  }

  // So many that the rows to keep fit beside the homes of other tensors, and so many bytes more.
  std::optional<N> fewestTiles(std::size_t first, std::size_t end, N beside = 0) const {
    N height = 1;
    for (std::size_t l = first; l < end; ++l) height = std::max(height, imageHeightOf(graph_, l));
    for (const N tiles : kTiles) {
      if (tiles == 1 && graph_.batch == 1) continue;
      if (tiles > height) break;
      const TileGroup group{first, end, tiles};
      auto kept = kept_.find(group);
      if (kept == kept_.end()) kept = kept_.emplace(group, bytesKept(group)).first;
      if (kept->second + beside <= room_) return tiles;
    }
    return std::nullopt;
  }

 private:
  bool spilled(std::size_t root) const {
    return plan_.homes[root].empty() && !tiler_.writersOf(root).empty();
  }

  N weightCycles(std::size_t layer) const {
    const CanonicalOp& op = graph_.ops[layer];
    if (plan_.layers[layer].inPlace()) return 0;
    const ReductionPart whole{{0, blocksOf(graph_.tensors[op.inputs[0].at()].shape)},
                              {0, windowOf(op) ? windowOf(op)->kernelY : 1}};
    const N bytes =
        recordBytes(op, {0, blocksOf(graph_.tensors[op.output.at()].shape)}, whole, true);
    return bytes == 0 ? 0 : readCycles(bytes);
  }

  // All channels bring, or take, an equal part.
  N readCycles(N bytes) const {
    const N channels = device_.memtiles() * device_.memtile.ddrChannelsIn;
    return ddrReadTime(Bytes(divideRoundUp(bytes, channels)), device_).raw();
  }
  N writeCycles(N bytes) const {
    const N channels = device_.memtiles() * device_.memtile.ddrChannelsOut;
    return ddrWriteTime(Bytes(divideRoundUp(bytes, channels)), device_).raw();
  }
  N bytesOf(std::size_t tensor) const {
    const Shape& shape = graph_.tensors[tensor].shape;
    return shape.height * shape.width * blocksOf(shape) * kBlock;
  }

  LayerCost costOf(std::size_t layer, const StepTime& alone, const StepTime& inside) const {
    const auto busy = [&](Resource r) { return inside.busy[static_cast<std::size_t>(r)].raw(); };
    LayerCost cost;
    cost.all = alone.cycles.raw();
    for (const Resource r :
         {Resource::Compute, Resource::Output, Resource::WeightsWire, Resource::InputWire})
      cost.inside = std::max(cost.inside, busy(r));
    cost.weights = weightCycles(layer);
    if (plan_.layers[layer].inPlace()) return cost;
    for (const RowNeeds::Operand& operand : tiler_.needs().of(layer))
      if (plan_.homes[operand.root].empty() || tiler_.writersOf(operand.root).empty())
        cost.spilledIn += readCycles(bytesOf(operand.root));
    const TensorId output = graph_.ops[layer].output;
    if (plan_.homes[rootOf(plan_, output)].empty()) cost.out = writeCycles(bytesOf(output.at()));
    return cost;
  }

  // Whether a tensor that layers [first, end) write and read has no home.
  bool spillsWithin(std::size_t first, std::size_t end) const {
    for (std::size_t l = first; l < end; ++l)
      for (const RowNeeds::Operand& operand : tiler_.needs().of(l))
        if (spilled(operand.root) && tiler_.writersOf(operand.root)[0] >= first) return true;
    return false;
  }

  // How many times as long as foretold groups took; where they were faster, what is foretold holds.
  double errorOf(const KnownGroups& known) const {
    double took = 1, foretold = 1;
    for (const auto& [group, cycles] : known) {
      took += static_cast<double>(cycles);
      foretold += static_cast<double>(groupCost(group));
    }
    return std::max(1.0, took / foretold);
  }

  // Each layer waits for its busiest resource: what comes or goes by DDR seldom overlaps with
  // another layer's.
  N groupCost(const TileGroup& group) const {
    N cost = 0;
    for (std::size_t l = group.first; l < group.end; ++l) {
      if (plan_.layers[l].inPlace()) continue;
      const LayerCost& alone = costs_[l];
      const N rowsIn = readsFromBefore(group, l) ? kSpillCost * alone.spilledIn : 0;
      cost += std::max({alone.inside, alone.weights * tilesOf(graph_, group) + rowsIn,
                        isReadBehind(group, l) ? kSpillCost * alone.out : 0}) +
              stepCost_ * tilesOf(graph_, group);
    }
    return cost;
  }

  bool readsFromBefore(const TileGroup& group, std::size_t layer) const {
    return std::ranges::any_of(tiler_.needs().of(layer), [&](const RowNeeds::Operand& operand) {
      const std::vector<std::size_t>& writers = tiler_.writersOf(operand.root);
      return writers.empty() || (plan_.homes[operand.root].empty() && writers[0] < group.first);
    });
  }

  bool isReadBehind(const TileGroup& group, std::size_t layer) const {
    const Use& use = uses_[rootOf(plan_, graph_.ops[layer].output)];
    return use.last >= group.end || !use.read;
  }

  // The most bytes of a memtile that rows of the group's tensors, and of those that pass by, take
  // in one of its steps.
  N bytesKept(const TileGroup& group) const {
    std::vector<ScheduleStep> schedule;
    tiler_.append(group, schedule);
    const N steps = std::ssize(schedule);
    std::vector<std::vector<StepRange>> lives(uses_.size());
    for (std::size_t t = 0; t < uses_.size(); ++t)
      if (uses_[t].first < group.end && uses_[t].last >= group.first && staysInMemtiles(group, t))
        lives[t].assign(static_cast<std::size_t>(graph_.tensors[t].shape.height),
                        cameBefore(group, t) ? StepRange{0, 0} : StepRange{});
    const auto touch = [&](std::size_t t, const Interval& rows, N step) {
      if (lives[t].empty()) return;
      for (N y = rows.first; y < rows.end(); ++y)
        lives[t][static_cast<std::size_t>(y)].add({step, step});
    };
    for (N s = 0; s < steps; ++s) {
      const ScheduleStep& step = schedule[static_cast<std::size_t>(s)];
      const std::size_t layer = step.layer.at();
      if (plan_.layers[layer].inPlace()) continue;
      touch(rootOf(plan_, graph_.ops[layer].output), step.rows, s);
      for (const RowNeeds::Operand& operand : tiler_.needs().of(layer)) {
        const N first = operand.rows[static_cast<std::size_t>(step.rows.first)].first,
                end = operand.end[static_cast<std::size_t>(step.rows.end() - 1)];
        touch(operand.root, {first, end - first}, s);
      }
    }
    std::vector<std::vector<N>> changes(static_cast<std::size_t>(device_.memtiles()),
                                        std::vector<N>(static_cast<std::size_t>(steps) + 1));
    for (std::size_t t = 0; t < lives.size(); ++t)
      if (!lives[t].empty()) addRows(t, lives[t], uses_[t].last >= group.end, changes);
    N most = 0;
    for (const std::vector<N>& memtile : changes) {
      N bytes = 0;
      for (const N change : memtile) most = std::max(most, bytes += change);
    }
    return most;
  }

  // Whether a tensor that the group touches lies in the memtiles while it runs: not what comes row
  // by row out of DDR, nor what goes there.
  bool staysInMemtiles(const TileGroup& group, std::size_t t) const {
    const Use& use = uses_[t];
    if (cameBefore(group, t)) {
      const bool isReadHereOnly = use.first >= group.first && use.last < group.end;
      return !plan_.homes[t].empty() && !(tiler_.writersOf(t).empty() && isReadHereOnly);
    }
    return use.read && (use.last < group.end || !plan_.homes[t].empty());
  }

  // Inputs and constants too.
  bool cameBefore(const TileGroup& group, std::size_t t) const {
    const std::vector<std::size_t>& writers = tiler_.writersOf(t);
    return writers.empty() || writers[0] < group.first;
  }

  // Adds up by how much the bytes in each memtile change with each step of a group.
  void addRows(std::size_t t, const std::vector<StepRange>& lives, bool isReadBehind,
               std::vector<std::vector<N>>& changes) const {
    const std::vector<PixelBox>& boxes = boxes_[t];
    std::vector<N> rows;  // that come, or go, with each step, of those of a box
    for (std::size_t c = 0; c < boxes.size(); ++c) {
      const PixelBox& box = boxes[c];
      if (box.empty()) continue;
      if (c == 0 || box.y != boxes[c - 1].y) {
        rows.assign(changes[c].size(), 0);
        for (N y = box.y.first; y < box.y.end(); ++y) {
          const StepRange& life = lives[static_cast<std::size_t>(y)];
          if (life.empty()) continue;
          ++rows[static_cast<std::size_t>(life.first)];
          if (!isReadBehind) --rows[static_cast<std::size_t>(life.last) + 1];
        }
      }
      const N bytes = box.x.count * blocksOf(graph_.tensors[t].shape) * kBlock;
      for (std::size_t s = 0; s < rows.size(); ++s) changes[c][s] += bytes * rows[s];
    }
  }

  const CanonicalGraph& graph_;
  const Device& device_;
  const Plan& plan_;
  KeptBytes& kept_;
  Tiler tiler_;
  struct Use {  // of a root, by layers
    std::size_t first = SIZE_MAX, last = 0;
    bool read = false;
    void add(std::size_t layer) {
      first = std::min(first, layer);
      last = std::max(last, layer);
    }
  };
  std::vector<Use> uses_;
  N room_, stepCost_;
  std::vector<LayerCost> costs_;
  std::vector<std::vector<PixelBox>> boxes_;  // per tensor: what each memtile keeps
};

}  // namespace

std::int64_t tilesOf(const CanonicalGraph& graph, const TileGroup& group) {
  return group.tiles * graph.batch;
}

Result<std::vector<TileGroup>> namedGroups(const CanonicalGraph& graph,
                                           const std::vector<PlanOptions::Group>& named) {
  std::vector<std::string> names;
  for (const CanonicalOp& op : graph.ops) names.push_back(op.name);
  Diagnostics errors;
  const auto layerOf = [&](const std::string& name, const std::string& where) {
    const auto found = std::ranges::find(names, name);
    const auto atEnd = std::ranges::find_if(graph.ops, [&](const CanonicalOp& op) {
      const std::vector<std::string> tables = tablesOf(op);
      return !name.empty() && (nameAtStart(op) == name || nameAtEnd(op) == name ||
                               std::ranges::find(tables, name) != tables.end());
    });
    if (atEnd != graph.ops.end()) return static_cast<std::size_t>(atEnd - graph.ops.begin());
    if (found == names.end()) {
      const std::optional<std::string> near = nearestWord(name, names);
      errors.push_back({"PLAN012", where, "no layer has the name '" + name + "'",
                        near ? "the nearest is '" + *near + "'" : "",
                        "name layers as 'dump/propagated.txt' does (--dump propagated)",
                        Severity::Usage});
    }
    return static_cast<std::size_t>(found - names.begin());
  };
  std::vector<TileGroup> groups;
  for (const PlanOptions::Group& group : named) {
    const std::string where = graph.name + ", group " + group.first + ".." + group.last;
    const std::size_t first = layerOf(group.first, where), last = layerOf(group.last, where);
    if (first < names.size() && last < names.size() && first > last)
      errors.push_back({"PLAN012", where, "the group ends before it begins", "",
                        "name its layers in the network's order", Severity::Usage});
    // More tiles than rows would leave some without any.
    std::int64_t rows = 1;
    for (std::size_t l = first; l < std::min(last + 1, names.size()); ++l)
      rows = std::max(rows, imageHeightOf(graph, l));
    if (errors.empty() && rows == 1 && graph.batch == 1 && group.tiles != 1)
      errors.push_back({"PLAN012", where, "the group cannot be tiled",
                        "each of its layers has one row", "leave it out, or name layers of several",
                        Severity::Usage});
    groups.push_back({first, last + 1, std::min(group.tiles, rows)});
  }
  std::ranges::sort(groups, {}, &TileGroup::first);
  for (std::size_t i = 1; errors.empty() && i < groups.size(); ++i)
    if (groups[i].first < groups[i - 1].end)
      errors.push_back({"PLAN012", graph.name, "two groups hold the same layer",
                        "'" + names[groups[i].first] + "'", "let each layer be in one group",
                        Severity::Usage});
  if (!errors.empty()) return errors;
  return groups;
}

std::vector<TileGroup> withTiles(const CanonicalGraph& graph, const Device& device,
                                 const Plan& plan, std::vector<TileGroup> groups, double share,
                                 KeptBytes& kept) {
  const GroupSearch search(graph, device, plan,
                           {.alone = {}, .inside = {}, .step = {}, .share = share}, kept);
  for (TileGroup& group : groups)
    if (group.tiles == 0)
      group.tiles = search.fewestTiles(group.first, group.end).value_or(kTiles.back());
  return groups;
}

std::vector<std::int64_t> tilesBesideRecords(const CanonicalGraph& graph, const Device& device,
                                             const Plan& plan, const TileGroup& group) {
  KeptBytes kept;
  const GroupSearch search(graph, device, plan, {.alone = {}, .inside = {}, .step = {}}, kept);
  N records = 0;
  for (std::size_t l = group.first; l < group.end; ++l)
    records += recordBytes(plan.layers[l], differentRecords(plan.layers[l]));
  const N most = search.fewestTiles(group.first, group.end, records).value_or(0);
  std::vector<N> all;
  std::ranges::copy_if(kTiles, std::back_inserter(all),
                       [&](N tiles) { return group.tiles < tiles && tiles <= most; });
  return all;
}

std::vector<TileGroup> withMoreTiles(const CanonicalGraph& graph, const Plan& plan,
                                     std::vector<TileGroup> groups,
                                     const std::vector<TensorId>& tensors) {
  const auto isOne = [&](TensorId t) {
    return std::ranges::find(tensors, TensorId(rootOf(plan, t))) != tensors.end();
  };
  for (TileGroup& group : groups) {
    N height = 1;
    bool touches = false;
    for (std::size_t l = group.first; l < group.end; ++l) {
      height = std::max(height, imageHeightOf(graph, l));
      touches =
          touches || isOne(graph.ops[l].output) || std::ranges::any_of(graph.ops[l].inputs, isOne);
    }
    const auto next = std::ranges::upper_bound(kTiles, group.tiles);
    if (touches && next != kTiles.end() && *next <= height) group.tiles = *next;
  }
  return groups;
}

std::vector<ScheduleStep> tiledSchedule(const CanonicalGraph& graph, const Plan& plan,
                                        const std::vector<TileGroup>& groups) {
  const Tiler tiler(graph, plan);
  std::vector<ScheduleStep> schedule;
  std::size_t next = 0;
  const auto layersUpTo = [&](std::size_t end) {
    for (; next < end; ++next) schedule.push_back({LayerId(next), {0, heightOf(graph, next)}});
  };
  for (const TileGroup& group : groups) {
    layersUpTo(group.first);
    tiler.append(group, schedule);
    next = group.end;
  }
  layersUpTo(graph.ops.size());
  return schedule;
}

std::vector<bool> readInOneGroup(const CanonicalGraph& graph, const Plan& plan,
                                 const std::vector<TileGroup>& groups) {
  return inputsOfOne(graph, Tiler(graph, plan), groups);
}

std::vector<TileGroup> promisingGroups(const CanonicalGraph& graph, const Device& device,
                                       const Plan& plan, const Foretelling& foretelling,
                                       const KnownGroups& known, KeptBytes& kept) {
  return GroupSearch(graph, device, plan, foretelling, kept).run(known);
}

}  // namespace heddle
