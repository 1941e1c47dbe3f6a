#include "heddle/planner/make_plan.h"

#include <algorithm>
#include <array>
#include <optional>

#include "alike.h"
#include "choose.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/views.h"
#include "layer_search.h"
#include "mesh_cut.h"
#include "streams.h"
#include "thrift.h"
#include "tile_groups.h"
#include "wires.h"

namespace heddle {
namespace {

constexpr std::size_t kMostFinalists = 18;  // that the closed form looks at, of a layer

// Parts of a memtile's memory that may be set aside for weight records, largest first.
constexpr std::array<std::int64_t, 4> kStagingParts{4, 8, 16, 32};
// Of the network's time, in thousandths: what a smaller part has to gain, as the closed form errs.
constexpr std::int64_t kStagingWorthwhile = 10;

// Of the memtiles' memory beside the weights, what rows kept by turns may take: shares to try.
constexpr std::array<double, 3> kRingShares{1.0, 0.8, 0.6};
// Of the network's time, in thousandths: what tiling has to gain.
constexpr std::int64_t kTilingWorthwhile = 30;

// Each memtile keeps the pixels of its own column.
Home homeOf(const Shape& shape, const Device& device) {
  Home home;
  const std::vector<PixelBox> boxes = evenBoxes(shape, device);
  for (std::size_t c = 0; c < boxes.size(); ++c)
    if (!boxes[c].empty())
      home.push_back({static_cast<std::int64_t>(c), boxes[c].y, boxes[c].x, {0, blocksOf(shape)}});
  return home;
}

// Rows of a home in the memtile that keeps most of them.
std::int64_t mostRows(const Home& home) {
  std::int64_t most = 0;
  for (const HomeBox& box : home) most = std::max(most, box.y.count);
  return most;
}

// Of more mappings than the closed form need look at, those of the best scores; the first stays
// where it is.
void keepTheBest(std::vector<Mapping>& mappings) {
  if (mappings.size() <= kMostFinalists) return;
  std::stable_sort(mappings.begin() + 1, mappings.end(),
                   [](const Mapping& a, const Mapping& b) { return a.score < b.score; });
  mappings.resize(kMostFinalists);
}

// Roots that an operator reads live in the memtiles; what nobody reads passes through to DDR. So
// does what has more rows than a lock can count: all may lie there before the first is read.
void proposeHomes(Plan& plan, const CanonicalGraph& graph, const Device& device) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (plan.layers[i].inPlace()) continue;
    for (const TensorId input : graph.ops[i].inputs) {
      const std::size_t root = plan.views[input.at()].root.at();
      if (!plan.homes[root].empty()) continue;
      Home home = homeOf(graph.tensors[root].shape, device);
      if (mostRows(home) <= device.limits.lockMaximum.value_or(INT64_MAX))
        plan.homes[root] = std::move(home);
    }
  }
}

void addNew(std::vector<Mapping>& to, std::vector<Mapping> more) {
  for (Mapping& mapping : more)
    if (std::ranges::find(to, mapping) == to.end()) to.push_back(std::move(mapping));
}

struct LayerFinalists {
  std::vector<Mapping> mappings;  // the best of the largest staging, then the others' that are new
  std::string shortage;           // where there are none of the largest
};

// Over all cuts; `menu` says whether beyond the paper's dataflow, which comes first.
LayerFinalists mappingsOf(const CanonicalGraph& graph, const CanonicalOp& op, const Device& device,
                          const DataflowWires& wires, const SearchLimits& limits, bool menu) {
  std::vector<std::vector<Mapping>> all(limits.stagings.size());
  LayerFinalists finalists;
  for (const MeshCut& cut : meshCuts(graph.tensors[op.output.at()].shape, device)) {
    std::vector<Streams> streams = streamMenu(op, hasWeights(op), cut, wires, device);
    if (!menu) streams.resize(1);
    FoundMappings found = searchMappings(graph, op, device, cut, streams, limits);
    if (finalists.shortage.empty()) finalists.shortage = std::move(found.shortage);
    for (std::size_t s = 0; s < all.size(); ++s)
      std::ranges::move(found.ofStaging[s], std::back_inserter(all[s]));
    if (!menu && !all[0].empty()) break;
  }
  if (all[0].empty()) return finalists;
  for (std::vector<Mapping>& ofStaging : all) {
    keepTheBest(ofStaging);
    addNew(finalists.mappings, std::move(ofStaging));
  }
  return finalists;
}

// The mappings that each layer is to choose from, with room for their weight records in one of the
// stagings.
Result<Finalists> finalistsOf(const CanonicalGraph& graph, const Device& device,
                              const DataflowWires& wires, std::vector<std::int64_t> stagings,
                              const Thrift& thrift) {
  const SearchLimits limits{std::move(stagings), thrift.ahead};
  const Views views = findViews(graph);
  const std::vector<std::size_t> alike = firstAlike(graph);
  Finalists finalists(graph.ops.size());
  Diagnostics errors;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const CanonicalOp& op = graph.ops[i];
    if (views.inPlace[i]) continue;
    finalists[i] = finalists[alike[i]];
    if (!finalists[i].empty()) continue;
    LayerFinalists found = mappingsOf(graph, op, device, wires, limits, thrift.menu);
    finalists[i] = std::move(found.mappings);
    if (finalists[i].empty())
      errors.push_back(
          {"PLAN001", graph.name + ", node '" + op.name + "' (" + op.onnxOp + ")",
           "no tiling of this layer fits a core", found.shortage,
           "give the cores or memtiles more memory (--set core.memory=..., --set "
           "memtile.memory=...)" +
               std::string(device.limits.lockMaximum ? ", or choose a device with more of "
                                                       "'limits.lockMaximum'"
                                                     : ""),
           Severity::DoesNotFit});
  }
  if (!errors.empty()) return errors;
  return finalists;
}

// Those of which two records fit their part of the staging.
Finalists staged(const Finalists& finalists, std::int64_t staging) {
  const Plan plan{.layers = {}, .views = {}, .homes = {}, .schedule = {}, .weightStaging = staging};
  Finalists some(finalists.size());
  for (std::size_t i = 0; i < some.size(); ++i)
    std::ranges::copy_if(finalists[i], std::back_inserter(some[i]), [&](const Mapping& mapping) {
      return mapping.weightBytes * 2 <= plan.stagingPerRoute(mapping);
    });
  return some;
}

// Mappings whose cores each compute some columns or channels of all rows, so that all of them have
// something to do in a tile; where a layer has none, all.
void keepWholeHeight(std::vector<Mapping>& mappings) {
  const auto cutsRows = [](const Mapping& mapping) {
    return std::ranges::any_of(mapping.shares, [&](const CoreShare& share) {
      return share.boxes.size() > 1 || share.boxes[0].y != mapping.shares[0].boxes[0].y;
    });
  };
  if (!std::ranges::all_of(mappings, cutsRows)) std::erase_if(mappings, cutsRows);
}

// What does not fit moves to DDR, and streams through places that need room themselves.
Result<MemoryPlan> giveHomesUp(const CanonicalGraph& graph, const Device& device, Plan& plan) {
  for (;;) {
    HEDDLE_TRY(Allocation allocation, placeInMemory(graph, plan, device));
    if (allocation.withoutPlace.empty()) return std::move(allocation.memory);
    for (const TensorId tensor : allocation.withoutPlace) plan.homes[tensor.at()].clear();
  }
}

struct Timed {
  Plan plan;
  Cycles end;
  bool spills = false;  // some tensor that was to have a home has none
};

// The plan for the first rows and columns of `whole`.
class MeshPlan {
 public:
  MeshPlan(const CanonicalGraph& graph, const Device& whole, const Thrift& thrift,
           WorkCounter& count)
      : graph_(graph), whole_(whole), device_(whole), thrift_(thrift), count_(count) {
    device_.rows = thrift.rows;
    device_.columns = thrift.columns;
    device_.limits.lockMaximum = thrift.waiting;
  }

  // Of several sizes of the staging the one whose plan ends first: a small one leaves room for
  // activations, a large one lets weights come further ahead. Small records are among the finalists
  // of each.
  Result<Plan> make() {
    HEDDLE_TRY(DataflowWires wires, chooseWires(device_));
    if (!thrift_.ownChannel) wires.rowChannel = 0;
    std::vector<std::int64_t> stagings{stagingOf(kStagingParts.front())};
    if (thrift_.menu) stagings.push_back(stagingOf(kStagingParts.back()));
    HEDDLE_TRY(const Finalists finalists,
               finalistsOf(graph_, device_, wires, std::move(stagings), thrift_));
    if (!thrift_.menu) {
      HEDDLE_TRY(Timed only, withStaging(stagingOf(kStagingParts.front()), finalists, {}));
      return std::move(only.plan);
    }
    std::optional<Timed> best, bestTiled;
    Diagnostics errors;
    for (const std::int64_t part : kStagingParts) {
      const Finalists some = staged(finalists, stagingOf(part));
      if (!coverAll(some, finalists)) break;
      Result<Timed> next = withStaging(stagingOf(part), some, {});
      if (!next && errors.empty()) errors = next.diagnostics();
      if (!next) continue;
      const bool spills = next->spills;
      if (spills && thrift_.tiles) tile(*next, some, bestTiled);
      // The closed form errs more where rows wait for DDR, to the side of too little.
      const std::int64_t worthwhile = spills ? kStagingWorthwhile : -kStagingWorthwhile;
      if (!best || (best->end - next->end).raw() * 1000 > best->end.raw() * worthwhile)
        best = std::move(*next);
      if (!spills) break;  // what a smaller staging leaves room for is there already
    }
    if (!best) return errors;
    const bool tiled = bestTiled && (best->end - bestTiled->end).raw() * 1000 >
                                        best->end.raw() * kTilingWorthwhile;
    return std::move(tiled ? bestTiled->plan : best->plan);
  }

 private:
  std::int64_t stagingOf(std::int64_t part) const {
    return device_.memtile.memory.raw() / part / kBlock * kBlock;
  }

  // Whether each layer that had a mapping to choose from still has one.
  static bool coverAll(const Finalists& some, const Finalists& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (some[i].empty() && !all[i].empty()) return false;
    return true;
  }

  // Keeps in `best` what is faster: the plan `base`, whose tensors spill, with layers tiled
  // depth-wise.
  void tile(const Timed& base, const Finalists& finalists, std::optional<Timed>& best) {
    const Result<Allocation> placed = placeInMemory(graph_, base.plan, whole_);
    if (!placed) return;
    const PlannedTimes planned = closedForm(graph_, base.plan, placed->memory, whole_, count_);
    std::vector<TileGroup> before;
    for (const double share : kRingShares) {
      const std::vector<TileGroup> groups =
          promisingGroups(graph_, device_, base.plan, planned.work, planned.times, share);
      if (groups.empty() || groups == before) continue;
      before = groups;
      Finalists some = finalists;
      for (const TileGroup& group : groups)
        for (std::size_t layer = group.first; layer < group.end; ++layer)
          keepWholeHeight(some[layer]);
      Result<Timed> tiled = withStaging(base.plan.weightStaging, some, groups);
      if (tiled && (!best || tiled->end < best->end)) best = std::move(*tiled);
    }
  }

  void keepRowsByTurns(Plan& plan, const std::vector<TileGroup>& groups) const {
    const std::vector<std::int64_t> rows = rowsToKeep(graph_, plan, groups);
    for (std::size_t t = 0; t < rows.size(); ++t)
      for (HomeBox& box : plan.homes[t])
        if (rows[t] > 0 && rows[t] < box.y.count && box.y.count == graph_.tensors[t].shape.height)
          box.ring = rows[t];
  }

  Result<Timed> withStaging(std::int64_t staging, const Finalists& finalists,
                            const std::vector<TileGroup>& groups) {
    Plan plan;
    plan.weightStaging = staging;
    plan.views = findViews(graph_).tensors;
    plan.layers.resize(graph_.ops.size());
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (!finalists[i].empty()) plan.layers[i] = finalists[i][0];
    plan.schedule = tiledSchedule(graph_, plan, groups);
    plan.homes.resize(graph_.tensors.size());
    if (thrift_.homes) proposeHomes(plan, graph_, device_);
    if (!groups.empty()) keepRowsByTurns(plan, groups);
    const std::vector<Home> proposed = plan.homes;
    HEDDLE_TRY(const MemoryPlan memory, giveHomesUp(graph_, whole_, plan));
    setDdrChannels(graph_, whole_, plan);
    if (!thrift_.menu) return Timed{std::move(plan), {}, false};
    const bool spills = plan.homes != proposed;
    Plan chosen = plan;
    chooseMappings(graph_, whole_, memory, finalists, count_, chosen);
    const Cycles end = closedFormEnd(graph_, plan, memory, whole_, count_);
    const Result<MemoryPlan> placed = giveHomesUp(graph_, whole_, chosen);
    if (!placed) return Timed{std::move(plan), end, spills};
    setDdrChannels(graph_, whole_, chosen);
    const Cycles better = closedFormEnd(graph_, chosen, *placed, whole_, count_);
    return better < end ? Timed{std::move(chosen), better, spills}
                        : Timed{std::move(plan), end, spills};
  }

  const CanonicalGraph& graph_;
  const Device& whole_;
  Device device_;
  Thrift thrift_;
  WorkCounter& count_;
};

// The first plan that keeps the device's limits, else the one that exceeds them least. Gives up one
// thing after another and keeps what helps; then the same on fewer and fewer cores.
class ThriftyPlan {
 public:
  ThriftyPlan(const CanonicalGraph& graph, const Device& device, const PlanOptions& options)
      : graph_(graph), device_(device), options_(options), count_(graph, device) {}

  Result<Plan> make() {
    HEDDLE_TRY(Tried best, tryOut(all()));
    if (device_.limits == Limits{}) return std::move(best.plan);
    giveUpWhatHelps(best);
    std::optional<Thrift> mesh = onFewerCores(all());
    for (; mesh && best.excess != Excess{}; mesh = onFewerCores(*mesh)) {
      Result<Tried> next = tryOut(*mesh);
      if (!next) continue;  // what gives one thing up may need more of another
      giveUpWhatHelps(*next);
      if (next->excess < best.excess) best = std::move(*next);
    }
    return std::move(best.plan);
  }

 private:
  Thrift all() const {
    Thrift thrift = noThrift(device_);
    thrift.menu = options_.effort > 0;
    thrift.tiles = options_.tiles;
    return thrift;
  }

  struct Tried {
    Thrift thrift;
    Plan plan;
    Excess excess;
  };

  Result<Tried> tryOut(const Thrift& thrift) {
    HEDDLE_TRY(Plan plan, MeshPlan(graph_, device_, thrift, count_).make());
    const Excess excess = device_.limits == Limits{} ? Excess{} : excessOf(graph_, plan, device_);
    return Tried{thrift, std::move(plan), excess};
  }

  void giveUpWhatHelps(Tried& best) {
    for (bool helped = true; helped && best.excess != Excess{};) {
      helped = false;
      for (const Thrift& thrift : thriftierThan(best.thrift)) {
        Result<Tried> next = tryOut(thrift);
        if (!next || next->excess >= best.excess) continue;
        best = std::move(*next);
        helped = true;
        break;
      }
    }
  }

  const CanonicalGraph& graph_;
  const Device& device_;
  PlanOptions options_;
  WorkCounter count_;
};

}  // namespace

Result<Plan> makePlan(const CanonicalGraph& graph, const Device& device,
                      const PlanOptions& options) {
  return ThriftyPlan(graph, device, options).make();
}

}  // namespace heddle
