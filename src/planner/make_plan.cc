#include "heddle/planner/make_plan.h"

#include <algorithm>

#include "heddle/memory/allocate.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/views.h"
#include "layer_search.h"
#include "thrift.h"
#include "wires.h"

namespace heddle {
namespace {

// A tiling's cores and the ways of its operands: inputs down the columns, weights along the rows.
Mapping mappingOf(const CanonicalOp& op, Tiling tiling, const DataflowWires& wires,
                  const Device& device, const Thrift& thrift) {
  Mapping m = std::move(tiling.mapping);
  const std::int64_t rows = tiling.activeRows(), columns = tiling.activeColumns();
  const auto column = [&](std::int64_t c) { return wires.columns[static_cast<std::size_t>(c)]; };
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r)
      m.shares.push_back({{r, c},
                          {tiling.columns[static_cast<std::size_t>(c)]},
                          tiling.rowBlocks[static_cast<std::size_t>(r)],
                          {0, c, r % device.memtile.ddrChannelsOut}});
  m.inputs.resize(op.inputs.size());
  for (std::vector<Route>& routes : m.inputs)
    for (std::int64_t c = 0; c < columns; ++c) {
      Route route{.cores = {}, .lanes = {{column(c), 0}}, .memtile = c};
      for (std::int64_t r = 0; r < rows; ++r) {
        route.cores.push_back({r, c});
        if (sharesInput(op) && r + 1 < rows) continue;
        routes.push_back(route);
        route.cores.clear();
      }
    }
  if (m.weightSlots == 0) return m;
  for (std::int64_t r = 0; r < rows; ++r) {
    Route& route = m.weights.emplace_back();
    for (std::int64_t c = 0; c < columns; ++c) route.cores.push_back({r, c});
    // A wire keeps to one receiving channel: one that carries inputs, too, to theirs.
    const std::int64_t wire = wires.rows[static_cast<std::size_t>(r)];
    const bool both =
        std::find(wires.columns.begin(), wires.columns.end(), wire) != wires.columns.end();
    const std::int64_t own = std::min<std::int64_t>(1, device.core.channelsIn - 1);
    route.lanes = {{wire, both || !thrift.ownChannel ? 0 : own}};
    route.memtile = weightMemtile(device, r);
    route.ddrChannel = std::min<std::int64_t>(1, device.memtile.ddrChannelsIn - 1);
  }
  return m;
}

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

// The plan for the first rows and columns of `whole`.
Result<Plan> planWith(const CanonicalGraph& graph, const Device& whole, const Thrift& thrift) {
  Device device = whole;
  device.rows = thrift.rows;
  device.columns = thrift.columns;
  device.limits.lockMaximum = thrift.waiting;
  Plan plan;
  Views views = findViews(graph);
  plan.views = std::move(views.tensors);
  // A quarter of every memtile is for weights on their way.
  plan.weightStaging = device.memtile.memory.raw() / 4 / kBlock * kBlock;
  const std::int64_t stagingPerRoute =
      plan.weightStaging / divideRoundUp(device.rows, device.memtiles()) / kBlock * kBlock;
  Diagnostics errors;
  std::vector<std::optional<Tiling>> tilings;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const CanonicalOp& op = graph.ops[i];
    tilings.emplace_back();
    if (views.inPlace[i]) continue;
    FoundTiling found = searchTiling(graph, op, device, {stagingPerRoute, thrift.ahead});
    if (!found.tiling)
      errors.push_back(
          {"PLAN001", graph.name + ", node '" + op.name + "' (" + op.onnxOp + ")",
           "no tiling of this layer fits a core", found.shortage,
           "give the cores or memtiles more memory (--set core.memory=..., --set "
           "memtile.memory=...)" +
               std::string(device.limits.lockMaximum ? ", or choose a device with more of "
                                                       "'limits.lockMaximum'"
                                                     : ""),
           Severity::DoesNotFit});
    tilings.back() = std::move(found.tiling);
  }
  if (!errors.empty()) return errors;
  HEDDLE_TRY(const DataflowWires wires, chooseWires(device));
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const CanonicalOp& op = graph.ops[i];
    plan.layers.push_back(tilings[i] ? mappingOf(op, std::move(*tilings[i]), wires, device, thrift)
                                     : Mapping{});
    plan.schedule.push_back({LayerId(i), {0, graph.tensors[op.output.at()].shape.height}});
  }
  plan.homes.resize(graph.tensors.size());
  if (thrift.homes) proposeHomes(plan, graph, device);
  // What does not fit moves to DDR, and streams through places that need room themselves.
  for (;;) {
    HEDDLE_TRY(const Allocation allocation, placeInMemory(graph, plan, whole));
    if (allocation.withoutPlace.empty()) return plan;
    for (const TensorId tensor : allocation.withoutPlace) plan.homes[tensor.at()].clear();
  }
}

// The first plan that keeps the device's limits, else the one that exceeds them least. Gives up one
// thing after another and keeps what helps; then the same on fewer and fewer cores.
class ThriftyPlan {
 public:
  ThriftyPlan(const CanonicalGraph& graph, const Device& device) : graph_(graph), device_(device) {}

  Result<Plan> make() {
    HEDDLE_TRY(Tried best, tryOut(noThrift(device_)));
    if (device_.limits == Limits{}) return std::move(best.plan);
    giveUpWhatHelps(best);
    std::optional<Thrift> mesh = onFewerCores(noThrift(device_));
    for (; mesh && best.excess != Excess{}; mesh = onFewerCores(*mesh)) {
      Result<Tried> next = tryOut(*mesh);
      if (!next) continue;  // what gives one thing up may need more of another
      giveUpWhatHelps(*next);
      if (next->excess < best.excess) best = std::move(*next);
    }
    return std::move(best.plan);
  }

 private:
  struct Tried {
    Thrift thrift;
    Plan plan;
    Excess excess;
  };

  Result<Tried> tryOut(const Thrift& thrift) const {
    HEDDLE_TRY(Plan plan, planWith(graph_, device_, thrift));
    const Excess excess = device_.limits == Limits{} ? Excess{} : excessOf(graph_, plan, device_);
    return Tried{thrift, std::move(plan), excess};
  }

  void giveUpWhatHelps(Tried& best) const {
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
};

}  // namespace

Result<Plan> makePlan(const CanonicalGraph& graph, const Device& device) {
  return ThriftyPlan(graph, device).make();
}

}  // namespace heddle
