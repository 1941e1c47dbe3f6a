#include "heddle/planner/make_plan.h"

#include <algorithm>
#include <map>

#include "choose.h"
#include "heddle/memory/allocate.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/views.h"
#include "layer_search.h"
#include "mesh_cut.h"
#include "streams.h"
#include "thrift.h"
#include "wires.h"

namespace heddle {
namespace {

constexpr std::size_t kMostFinalists = 12;  // that the closed form looks at, of a layer

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

// Layers with equal keys have the same mappings to choose from; none: it is not like any other.
std::optional<std::vector<std::int64_t>> searchKey(const CanonicalGraph& graph,
                                                   const CanonicalOp& op) {
  if (op.kind() == OpKind::Assemble || leavesBlocksOut(op)) return std::nullopt;
  std::vector<std::int64_t> key{static_cast<std::int64_t>(op.kind())};
  ReductionPart whole;
  if (const Window* w = windowOf(op)) {
    key.insert(key.end(), {w->kernelY, w->kernelX, w->strideY, w->strideX, w->dilationY,
                           w->dilationX, w->padTop, w->padLeft, w->padBottom, w->padRight});
    whole.kernelRows = {0, w->kernelY};
  }
  key.push_back(recordBytes(op, 1, whole, true, 1));
  for (const TensorId tensor : op.inputs) {
    const Shape& s = graph.tensors[tensor.at()].shape;
    key.insert(key.end(), {s.height, s.width, s.channels});
  }
  const Shape& s = graph.tensors[op.output.at()].shape;
  key.insert(key.end(), {s.height, s.width, s.channels});
  return key;
}

// Over all cuts; `menu` says whether beyond the paper's dataflow, which comes first.
FoundMappings mappingsOf(const CanonicalGraph& graph, const CanonicalOp& op, const Device& device,
                         const DataflowWires& wires, const SearchLimits& limits, bool menu) {
  FoundMappings all;
  for (const MeshCut& cut : meshCuts(graph.tensors[op.output.at()].shape, device)) {
    std::vector<Streams> streams = streamMenu(op, hasWeights(op), cut, wires, device);
    if (!menu) streams.resize(1);
    FoundMappings found = searchMappings(graph, op, device, cut, streams, limits);
    if (all.shortage.empty()) all.shortage = std::move(found.shortage);
    std::ranges::move(found.mappings, std::back_inserter(all.mappings));
    if (!menu && !all.mappings.empty()) break;
  }
  keepTheBest(all.mappings);
  return all;
}

// The mappings that each layer is to choose from.
Result<Finalists> finalistsOf(const CanonicalGraph& graph, const Device& device,
                              const DataflowWires& wires, const Plan& plan, const Thrift& thrift) {
  const SearchLimits limits{plan.weightStaging, thrift.ahead};
  const Views views = findViews(graph);
  Finalists finalists(graph.ops.size());
  std::map<std::vector<std::int64_t>, std::size_t> alike;
  Diagnostics errors;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const CanonicalOp& op = graph.ops[i];
    if (views.inPlace[i]) continue;
    if (const auto key = searchKey(graph, op)) {
      const auto [known, fresh] = alike.try_emplace(*key, i);
      if (!fresh) finalists[i] = finalists[known->second];
    }
    if (!finalists[i].empty()) continue;
    FoundMappings found = mappingsOf(graph, op, device, wires, limits, thrift.menu);
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

// What does not fit moves to DDR, and streams through places that need room themselves.
Result<MemoryPlan> giveHomesUp(const CanonicalGraph& graph, const Device& device, Plan& plan) {
  for (;;) {
    HEDDLE_TRY(Allocation allocation, placeInMemory(graph, plan, device));
    if (allocation.withoutPlace.empty()) return std::move(allocation.memory);
    for (const TensorId tensor : allocation.withoutPlace) plan.homes[tensor.at()].clear();
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
  plan.weightStaging = device.memtile.memory.raw() / 4 / kBlock * kBlock;  // a quarter
  HEDDLE_TRY(DataflowWires wires, chooseWires(device));
  if (!thrift.ownChannel) wires.rowChannel = 0;
  HEDDLE_TRY(const Finalists finalists, finalistsOf(graph, device, wires, plan, thrift));
  plan.layers.resize(graph.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (!finalists[i].empty()) plan.layers[i] = finalists[i][0];
    plan.schedule.push_back(
        {LayerId(i), {0, graph.tensors[graph.ops[i].output.at()].shape.height}});
  }
  plan.homes.resize(graph.tensors.size());
  if (thrift.homes) proposeHomes(plan, graph, device);
  HEDDLE_TRY(const MemoryPlan memory, giveHomesUp(graph, whole, plan));
  setDdrChannels(graph, whole, plan);
  if (!thrift.menu) return plan;
  Plan chosen = plan;
  chooseMappings(graph, whole, memory, finalists, chosen);
  const Result<MemoryPlan> placed = giveHomesUp(graph, whole, chosen);
  if (!placed) return plan;
  setDdrChannels(graph, whole, chosen);
  const bool gains =
      closedFormEnd(graph, chosen, *placed, whole) < closedFormEnd(graph, plan, memory, whole);
  return gains ? chosen : plan;
}

// The first plan that keeps the device's limits, else the one that exceeds them least. Gives up one
// thing after another and keeps what helps; then the same on fewer and fewer cores.
class ThriftyPlan {
 public:
  ThriftyPlan(const CanonicalGraph& graph, const Device& device, const PlanOptions& options)
      : graph_(graph), device_(device), options_(options) {}

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
    return thrift;
  }

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
  PlanOptions options_;
};

}  // namespace

Result<Plan> makePlan(const CanonicalGraph& graph, const Device& device,
                      const PlanOptions& options) {
  return ThriftyPlan(graph, device, options).make();
}

}  // namespace heddle
