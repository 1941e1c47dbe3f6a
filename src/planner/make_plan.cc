#include "heddle/planner/make_plan.h"

#include <algorithm>

#include "heddle/memory/allocate.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/views.h"
#include "layer_search.h"

namespace heddle {
namespace {

// The wires of the dataflow: one for the inputs of each column of cores, one for the weights of
// each row.
struct DataflowWires {
  std::vector<std::int64_t> columns, rows;
};

class WireChoice {
 public:
  explicit WireChoice(const Device& device) : device_(device), used_(device.wires.size(), false) {}

  Result<DataflowWires> run() {
    DataflowWires wires;
    for (std::int64_t c = 0; c < device_.columns; ++c) {
      const std::string what = "column " + std::to_string(c);
      HEDDLE_TRY(const std::int64_t wire, take({0, c, device_.rows, 1}, what));
      wires.columns.push_back(wire);
    }
    for (std::int64_t r = 0; r < device_.rows; ++r) {
      const std::string what = "row " + std::to_string(r);
      HEDDLE_TRY(const std::int64_t wire, take({r, 0, 1, device_.columns}, what));
      if (const auto fault = feeds(weightMemtile(r), wire, what)) return *fault;
      wires.rows.push_back(wire);
    }
    // A row of an input lies where its producer left it: in any memtile.
    for (std::int64_t c = 0; c < device_.columns; ++c)
      for (std::int64_t m = 0; m < device_.memtiles(); ++m)
        if (const auto fault =
                feeds(m, wires.columns[static_cast<std::size_t>(c)], "column " + std::to_string(c)))
          return *fault;
    return wires;
  }

  std::int64_t weightMemtile(std::int64_t row) const { return row % device_.memtiles(); }

 private:
  // The narrowest wire that reaches all of `cores` and that nothing else uses yet, else the
  // narrowest of all.
  Result<std::int64_t> take(const CoreRange& cores, const std::string& what) {
    std::optional<std::pair<std::pair<bool, std::int64_t>, std::int64_t>> best;
    for (std::size_t w = 0; w < device_.wires.size(); ++w) {
      const CoreRange& r = device_.wires[w].reach;
      if (!r.contains(cores.row, cores.column) ||
          !r.contains(cores.row + cores.rows - 1, cores.column + cores.columns - 1))
        continue;
      const std::pair<std::pair<bool, std::int64_t>, std::int64_t> candidate{
          {used_[w], r.rows * r.columns}, static_cast<std::int64_t>(w)};
      if (!best || candidate < *best) best = candidate;
    }
    if (!best)
      return Diagnostic{"PLAN002",
                        "device '" + device_.name + "'",
                        "no wire reaches all cores of " + what,
                        std::to_string(device_.wires.size()) + " wires, none with this reach",
                        "describe a wire for each column and for each row",
                        Severity::DoesNotFit};
    used_[static_cast<std::size_t>(best->second)] = true;
    return best->second;
  }

  std::optional<Diagnostic> feeds(std::int64_t memtile, std::int64_t index,
                                  const std::string& what) const {
    const Wire& wire = device_.wires[static_cast<std::size_t>(index)];
    if (std::find(wire.feeders.begin(), wire.feeders.end(), memtile) != wire.feeders.end())
      return std::nullopt;
    return Diagnostic{"PLAN002",
                      "device '" + device_.name + "'",
                      "a memtile cannot feed the wire of " + what,
                      "memtile " + std::to_string(memtile) + " is not among the feeders of wire '" +
                          wire.name + "'",
                      "let any memtile feed the wires",
                      Severity::DoesNotFit};
  }

  const Device& device_;
  std::vector<bool> used_;
};

// A tiling's cores and the ways of its operands: inputs down the columns, weights along the rows.
Mapping mappingOf(const CanonicalOp& op, Tiling tiling, const DataflowWires& wires,
                  const Device& device) {
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
    route.lanes = {{wire, both ? 0 : std::min<std::int64_t>(1, device.core.channelsIn - 1)}};
    route.memtile = WireChoice(device).weightMemtile(r);
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

// Roots that an operator reads live in the memtiles; what nobody reads passes through to DDR.
void proposeHomes(Plan& plan, const CanonicalGraph& graph, const Device& device) {
  plan.homes.resize(graph.tensors.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (plan.layers[i].inPlace()) continue;
    for (const TensorId input : graph.ops[i].inputs) {
      const std::size_t root = plan.views[input.at()].root.at();
      if (plan.homes[root].empty()) plan.homes[root] = homeOf(graph.tensors[root].shape, device);
    }
  }
}

}  // namespace

Result<Plan> makePlan(const CanonicalGraph& graph, const Device& device) {
  Plan plan;
  Views views = findViews(graph);
  plan.views = std::move(views.tensors);
  // A quarter of every memtile is for weights on their way, in one part for each mesh row that it
  // serves.
  plan.weightStagingParts = divideRoundUp(device.rows, device.memtiles());
  plan.weightStaging = device.memtile.memory.raw() / 4 / plan.weightStagingParts / kBlock * kBlock *
                       plan.weightStagingParts;
  Diagnostics errors;
  std::vector<std::optional<Tiling>> tilings;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const CanonicalOp& op = graph.ops[i];
    tilings.emplace_back();
    if (views.inPlace[i]) continue;
    FoundTiling found = searchTiling(graph, op, device, plan.stagingPerRoute());
    if (!found.tiling)
      errors.push_back({"PLAN001", graph.name + ", node '" + op.name + "' (" + op.onnxOp + ")",
                        "no tiling of this layer fits a core", found.shortage,
                        "give the cores or memtiles more memory (--set core.memory=..., --set "
                        "memtile.memory=...)",
                        Severity::DoesNotFit});
    tilings.back() = std::move(found.tiling);
  }
  if (!errors.empty()) return errors;
  HEDDLE_TRY(const DataflowWires wires, WireChoice(device).run());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const CanonicalOp& op = graph.ops[i];
    plan.layers.push_back(tilings[i] ? mappingOf(op, std::move(*tilings[i]), wires, device)
                                     : Mapping{});
    plan.schedule.push_back({LayerId(i), {0, graph.tensors[op.output.at()].shape.height}});
  }
  proposeHomes(plan, graph, device);
  // What does not fit moves to DDR, and streams through places that need room themselves.
  for (;;) {
    HEDDLE_TRY(const Allocation allocation, placeInMemory(graph, plan, device));
    if (allocation.withoutPlace.empty()) return plan;
    for (const TensorId tensor : allocation.withoutPlace) plan.homes[tensor.at()].clear();
  }
}

}  // namespace heddle
