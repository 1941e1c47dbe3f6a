// Chooses a plan: for each layer, of several cuts over the mesh and several ways of its streams
// over the wires, the mapping that the closed form finds fastest after the layers before it.
//
//   columns    pixels over mesh columns, channels over rows (the paper's dataflow)
//   rows       pixels over rows, channels over columns
//   pixels     over all cores, each all channels; rows of inputs by turns over both kinds of wire
//   channels   over all cores, each all pixels; each core's weights over one of both kinds
//
// On a device with limits of locks or descriptors it gives up what takes too many: see
// docs/architecture.md.
//
// Source: paper 004, sections on subvolumes and on the mapping to the mesh; docs/plan.md.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/cost/resource.h"
#include "heddle/device/device.h"
#include "heddle/support/result.h"
#include "heddle/tiling/plan.h"

namespace heddle {

inline constexpr int kUsualPlanEffort = 1, kMostPlanEffort = 3;
struct PlanOptions {
  // 0: the paper's dataflow, its cut over time by a first estimate. 1: what the closed form finds
  // fastest, of small networks for fewer cores the Machine. 2: from there on the Machine judges, a
  // few dozen plans. 3: the same, some hundreds.
  int effort = kUsualPlanEffort;
  // Depth-wise tiling, never at effort 0: groups of layers whose tensors spill, where the closed
  // form finds that faster; nowhere; or the given groups alone, in any case.
  enum class Tiling { Auto, Off, Given };
  Tiling tiling = Tiling::Auto;
  struct Group {  // all layers from one to another, by name
    std::string first, last;
    std::int64_t tiles = 0;  // 0: the fewest that fit the memtiles
    friend bool operator==(const Group&, const Group&) = default;
  };
  std::vector<Group> groups;
  std::int64_t frames = 1;  // of the plan's runs; it is made for one
  // Channel blocks may stand in another order where weights have empty blocks: planInOrder
  // (planner/order_blocks.h), from effort 1 on.
  bool reorder = true;
};
// Whether the plan is of the network with its additions and pools fused (canon/fuse_operators.h),
// which the paper's are not.
constexpr bool fusesOperators(const PlanOptions& options) { return options.effort > 0; }

// Ensures: verify(plan, graph, device) is empty, and allocateMemory places it. Its program
//          keeps the device's limits where a plan was found that does; else it exceeds them least.
// Errors: PLAN001 a layer that no tiling brings into a core's memory (names what the smallest one
//         needs); PLAN002 a column or row of cores that no wire reaches whole, or that the memtile
//         it needs cannot feed; PLAN012 a group of options.groups that names no layers, some
//         twice, or layers of one row, or that effort or device let nobody tile; MEM001 a layer's
//         streams alone do not fit a memtile.
// `progress` is told what part of the plans the Machine has timed, at efforts 2 and 3.
Result<Plan> makePlan(const CanonicalGraph& graph, const Device& device,
                      const PlanOptions& options = {},
                      const std::function<void(double)>& progress = {});

// What a layer's time would have been with another mapping, where it stands in the schedule: after
// the steps before it as they were chosen. In closed form.
struct Alternative {
  Mapping mapping;
  Cycles cycles;  // that the layer would add to the whole
  Resource boundBy = Resource::Compute;
  friend bool operator==(const Alternative&, const Alternative&) = default;
};

inline constexpr std::size_t kMostAlternatives = 3;

struct LayerChoice {
  std::int64_t tried = 0;  // mappings that the closed form timed; 0: the layer had no choice
  Cycles cycles;           // that the layer adds with the one that it got
  // Of its busiest core, wire or sending channel, with the mapping for which that is least; of
  // steps after the first, with the one that it got.
  Cycles alone;
  // Mappings of other kinds than the one that it got and than each other, the best of each kind,
  // fastest first; at most kMostAlternatives. Of one kind are mappings that cut pixels and channels
  // alike, take as many wires for each stream, and keep the input, and sums of a reduction in
  // parts, in the core or not: they differ in places, in how often loops run and in buffers.
  std::vector<Alternative> others;
  friend bool operator==(const LayerChoice&, const LayerChoice&) = default;
};

// Depth-wise tiling that was tried on a network that spills, beside the best plan without. In
// closed form.
struct TilingChoice {
  struct Group {
    std::size_t first = 0, last = 0;  // layers, both included
    std::int64_t tiles = 0;
    friend bool operator==(const Group&, const Group&) = default;
  };
  std::vector<Group> groups;                // none: no group promised to be faster
  std::vector<Cycles> layers, layersTiled;  // what each layer adds; the latter none without groups
  bool spillsLittle = false;                // that costs too little for groups to be tried
  bool taken = false;
  bool byMachine = false;  // what is faster: the closed form did not decide
  friend bool operator==(const TilingChoice&, const TilingChoice&) = default;
};

// Of the time of the layers in groups, in thousandths: what tiling has to gain to be taken.
inline constexpr std::int64_t kTilingWorthwhile = 10;

// Plans that the Machine timed to find one, at efforts 2 and 3.
struct TimedPlans {
  std::int64_t plans = 0;
  Cycles first, best;  // the plan of the usual effort; the one that was taken
  friend bool operator==(const TimedPlans&, const TimedPlans&) = default;
};

// Another order of the network's channel blocks that was tried. In closed form.
struct OrderChoice {
  std::int64_t tensors = 0;  // whose blocks stand in another order
  Cycles cycles, reordered;  // of the network as it is, and in the other order
  bool taken = false;
  friend bool operator==(const OrderChoice&, const OrderChoice&) = default;
};

// Convolutions that were joined for a try (canon/join_siblings.h). In closed form.
struct JoinChoice {
  std::int64_t convolutions = 0;  // that became part of another, in all
  Cycles apart, joined;
  bool taken = false;
  friend bool operator==(const JoinChoice&, const JoinChoice&) = default;
};

// Depth-wise convolutions that can be made at the end of the one before, and gates and lines at the
// start of the one behind. In closed form; none where there is no plan.
struct EndsChoice {
  std::int64_t convolutions = 0, starts = 0;
  std::optional<Cycles> atEnds, asLayers;  // all of them
  Cycles taken;
  std::vector<std::string> layers;  // those that are layers of their own
  friend bool operator==(const EndsChoice&, const EndsChoice&) = default;
};

// A network of one row that was also planned upright (canon/upright.h). Of one frame; none where
// there is no plan of it, or none that could be placed.
struct UprightChoice {
  std::optional<Cycles> lying, upright;
  bool taken = false;
  bool byMachine = false;  // the cycles are simulated, not those of the closed form
  friend bool operator==(const UprightChoice&, const UprightChoice&) = default;
};

// How a plan came about.
struct PlanChoices {
  std::vector<LayerChoice> layers;     // per operator; empty: the layers' mappings were not weighed
  std::vector<Home> proposed;          // per tensor: its home if there were room for all
  std::optional<TilingChoice> tiling;  // none where nothing spills, or nobody was to tile
  std::optional<TimedPlans> timed;     // none where the closed form alone decided
  std::optional<OrderChoice> order;    // none where no other order was of use
  std::optional<EndsChoice> ends;      // none where there are none
  std::optional<JoinChoice> join;      // none where there was nothing to join
  // None where nobody planned it both ways; the others are of the way that was taken.
  std::optional<UprightChoice> upright;
  friend bool operator==(const PlanChoices&, const PlanChoices&) = default;
};

struct ChosenAmong;  // what layers had to choose from: the planner's own

struct ChosenPlan {
  Plan plan;
  PlanChoices choices;
  std::shared_ptr<const ChosenAmong> among;  // null: nobody needs to weigh it any more
};

// The plan of makePlan, with what it was chosen among. Errors: those of makePlan.
Result<ChosenPlan> choosePlan(const CanonicalGraph& graph, const Device& device,
                              const PlanOptions& options = {},
                              const std::function<void(double)>& progress = {});
// The same for the device of `known`, which the planner keeps from network to network; the choices
// where they are `asked` for, of which weighLayers finds `layers`, at the cost of a plan or two:
// many plans may be chosen for one that is taken. Needs: `known` outlives ChosenPlan::among.
struct KnownLayers;
Result<ChosenPlan> choosePlan(const CanonicalGraph& graph, KnownLayers& known,
                              const PlanOptions& options, bool asked,
                              const std::function<void(double)>& progress);
// Needs: the network that the plan was chosen for, and what was known then.
void weighLayers(const CanonicalGraph& graph, KnownLayers& known, ChosenPlan& chosen);

}  // namespace heddle
