#include "heddle/planner/plan_joined.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "heddle/canon/fuse_operators.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"
#include "known_layers.h"
#include "thrift.h"

namespace heddle {
namespace {

// Thousandths of the network's time: what another network has to gain, as the closed form errs.
constexpr std::int64_t kOtherNetworkGains = 5;

// Where a convolution was joined, a Split writes what it wrote.
std::int64_t joinedConvolutions(const CanonicalGraph& graph, const CanonicalGraph& joined) {
  std::set<TensorId> written;
  for (const CanonicalOp& op : graph.ops)
    if (op.kind() == OpKind::Conv) written.insert(op.output);
  return std::ranges::count_if(joined.ops, [&](const CanonicalOp& op) {
    return op.kind() == OpKind::Assemble && written.contains(op.output);
  });
}

// A network fused in one way, and the search for its plan.
struct NetworkWay {
  NetworkWay(std::shared_ptr<const CanonicalGraph> made, const CanonicalGraph& ofIt,
             std::set<std::string> names, KnownLayers& known, const PlanOptions& options,
             bool asked, const std::function<void(double)>& progress)
      : network(std::move(made)),
        graph(ofIt),
        layers(std::move(names)),
        search(ofIt, known, options, asked, progress) {}
  std::shared_ptr<const CanonicalGraph> network;  // null: a given one
  const CanonicalGraph& graph;
  std::set<std::string> layers;                  // of their own, that could be at ends
  std::shared_ptr<const CanonicalGraph> joined;  // the same with siblings joined
  OrderSearch search;
  Cycles end;
  // What the search's best plan is of.
  CanonicalGraph inItsOrder() const {
    const BlockOrders& orders = search.orders();
    return orders.empty() ? graph : inOrder(graph, orders);
  }
};

// Per operator's name, what its layer adds to the time of a plan.
Result<std::map<std::string, Cycles>> cyclesOf(const NetworkWay& way, KnownLayers& known) {
  const Plan& plan = way.search.plan();
  const CanonicalGraph graph = way.inItsOrder();
  HEDDLE_TRY(const MemoryPlan memory, allocateMemory(graph, plan, known.device));
  WorkCounter count(graph, known);
  const std::vector<Cycles> cycles =
      layerCycles(plan, timesInClosedForm(graph, plan, memory, known.device, count));
  std::map<std::string, Cycles> named;
  for (std::size_t i = 0; i < cycles.size(); ++i) named[way.graph.ops[i].name] = cycles[i];
  return named;
}

// Of what convolutions do first, and of depth-wise ones at ends, those that, with the convolution,
// take longer there than as two layers.
Result<std::set<std::string>> slowerTogether(const NetworkWay& together, const NetworkWay& apart,
                                             KnownLayers& known) {
  HEDDLE_TRY(const auto one, cyclesOf(together, known));
  HEDDLE_TRY(const auto two, cyclesOf(apart, known));
  const auto cyclesIn = [](const std::map<std::string, Cycles>& way, const std::string& name) {
    const auto layer = way.find(name);
    return layer == way.end() ? Cycles() : layer->second;
  };
  std::set<std::string> names;
  for (const CanonicalOp& op : together.graph.ops) {
    const FusedWindow* const end = fusedWindowOf(op);
    const std::string name = end && end->depthwise() ? end->name : nameAtStart(op);
    if (name.empty() || !apart.layers.contains(name)) continue;
    // Without a window at its end it may do first what is a layer before it in the other.
    const auto alone = std::ranges::find(apart.graph.ops, op.name, &CanonicalOp::name);
    const Cycles before = cyclesIn(one, nameAtStart(*alone));
    if (before + one.at(op.name) > two.at(op.name) + two.at(name)) names.insert(name);
  }
  return names;
}

bool isWithinLimits(const CanonicalGraph& graph, const Plan& plan, const Device& device) {
  return device.limits == Limits{} || excessOf(graph, plan, device) == Excess{};
}
bool isWithinLimits(const NetworkWay& way, const Device& device) {
  return device.limits == Limits{} || isWithinLimits(way.inItsOrder(), way.search.plan(), device);
}

bool undercuts(Cycles end, Cycles other, std::int64_t thousandths) {
  return end.raw() * 1000 <= other.raw() * (1000 - thousandths);
}

class NetworkWays {
 public:
  NetworkWays(KnownLayers& known, const PlanOptions& options, bool asked,
              const std::function<void(double)>& progress)
      : known_(known), options_(options), asked_(asked), progress_(progress) {}

  // Null, with the faults of that noted, where there is no plan.
  NetworkWay* add(std::shared_ptr<const CanonicalGraph> network, const CanonicalGraph& graph,
                  std::set<std::string> layers) {
    auto way = std::make_unique<NetworkWay>(std::move(network), graph, std::move(layers), known_,
                                            options_, asked_, progress_);
    const Result<Cycles> end = way->search.begin();
    if (!end) {
      if (!faults_) faults_ = end.diagnostics();
      return nullptr;
    }
    way->end = *end;
    ways_.push_back(std::move(way));
    return ways_.back().get();
  }
  // The first that no other undercuts by as much as the closed form errs, of those that the device
  // has locks and descriptors for, if there are any. Null where there is none.
  NetworkWay* best() const {
    std::vector<NetworkWay*> all;
    for (const std::unique_ptr<NetworkWay>& way : ways_) all.push_back(way.get());
    if (all.size() < 2) return fastest(all);
    for (std::vector<NetworkWay*> left = all; !left.empty();) {
      NetworkWay* const way = fastest(left);
      if (isWithinLimits(*way, known_.device)) return way;
      std::erase(left, way);
    }
    return fastest(all);
  }
  const Diagnostics& faults() const { return *faults_; }

 private:
  static NetworkWay* fastest(const std::vector<NetworkWay*>& ways) {
    NetworkWay* best = nullptr;
    for (NetworkWay* const way : ways)
      if (!best || undercuts(way->end, best->end, kOtherNetworkGains)) best = way;
    return best;
  }

  KnownLayers& known_;
  const PlanOptions& options_;
  bool asked_;
  const std::function<void(double)>& progress_;
  std::vector<std::unique_ptr<NetworkWay>> ways_;
  std::optional<Diagnostics> faults_;  // of the first without a plan
};

// What convolutions do and may be a layer of its own.
struct Inside {
  explicit Inside(const CanonicalGraph& graph)
      : starts(namesAtStarts(graph)), ends(depthwiseAtEnds(graph)), all(starts) {
    all.insert(ends.begin(), ends.end());
  }
  std::set<std::string> starts, ends, all;
};

// Adds the network with these as layers of their own: all, what convolutions do first, and those
// that are faster so. Gives the first; null where it has no plan.
const NetworkWay* addApart(NetworkWays& ways, const NetworkWay* together, const Inside& inside,
                           const WithApart& withApart, KnownLayers& known) {
  const auto add = [&](const std::set<std::string>& names) {
    const FusedNetworks networks = withApart(names);
    NetworkWay* way = ways.add(networks.apart, *networks.apart, names);
    if (way) way->joined = networks.joined;
    return way;
  };
  const NetworkWay* apart = add(inside.all);
  if (!inside.starts.empty() && !inside.ends.empty()) add(inside.starts);
  if (!apart || !together) return apart;
  if (const auto some = slowerTogether(*together, *apart, known);
      some && !some->empty() && *some != inside.all && *some != inside.starts)
    add(*some);
  return apart;
}

EndsChoice choiceOf(const NetworkWay* together, const NetworkWay* apart, const Inside& inside) {
  EndsChoice choice{.convolutions = std::ssize(inside.ends), .starts = std::ssize(inside.starts)};
  if (together) choice.atEnds = together->end;
  if (apart) choice.asLayers = apart->end;
  return choice;
}

// Of the chosen network with siblings joined and of the given one.
void addJoined(NetworkWays& ways, const NetworkWay& chosen, const CanonicalGraph* given) {
  if (given) ways.add(nullptr, *given, {});
  if (chosen.joined) ways.add(chosen.joined, *chosen.joined, chosen.layers);
}

// Of tiles the closed form errs more than elsewhere: what it finds faster without is taken.
bool isWorthJoining(const NetworkWay& chosen, const NetworkWay& joined, const Device& device) {
  if (!isWithinLimits(joined, device) && isWithinLimits(chosen, device)) return false;
  const bool onlyApartIsTiled =
      isTiled(chosen.search.plan(), chosen.graph) && !isTiled(joined.search.plan(), joined.graph);
  return undercuts(joined.end, chosen.end, onlyApartIsTiled ? 0 : kOtherNetworkGains);
}

}  // namespace

Result<JoinedPlan> planJoined(const CanonicalGraph& graph, const CanonicalGraph* joined,
                              const WithApart& withApart, const Device& device,
                              const PlanOptions& options, bool asked,
                              const std::function<void(double)>& progress) {
  JoinedPlan best;
  const Inside inside(graph);
  const bool mayBeApart = withApart && !inside.all.empty();
  const bool joins = options.tiling != PlanOptions::Tiling::Given;
  if (!joins) joined = nullptr;
  if ((!joined && !mayBeApart) || options.effort == 0) {
    HEDDLE_TRY(best.ordered, planInOrder(graph, device, options, asked, progress));
    return best;
  }
  KnownLayers known(device);
  NetworkWays ways(known, options, asked, progress), joinedWays(known, options, asked, progress);
  const NetworkWay* asItIs = ways.add(nullptr, graph, {});
  std::optional<EndsChoice> ends;
  if (mayBeApart) ends = choiceOf(asItIs, addApart(ways, asItIs, inside, withApart, known), inside);
  NetworkWay* const chosen = ways.best();
  if (!chosen) return ways.faults();
  if (joins) addJoined(joinedWays, *chosen, joined);
  NetworkWay* taken = chosen;
  std::optional<JoinChoice> choice;
  if (NetworkWay* const together = joinedWays.best()) {
    best.isJoined = isWorthJoining(*chosen, *together, device);
    choice = JoinChoice{joinedConvolutions(chosen->graph, together->graph), chosen->end,
                        together->end, best.isJoined};
    if (best.isJoined) taken = together;
  }
  best.network = taken->network;
  if (ends) {
    ends->taken = taken->end;
    ends->layers.assign(taken->layers.begin(), taken->layers.end());
  }
  taken->search.goOn();
  HEDDLE_TRY(best.ordered, taken->search.finish());
  if (best.ordered.choices) {
    best.ordered.choices->ends = ends;
    best.ordered.choices->join = choice;
  }
  return best;
}

UprightChoice weighUpright(const CanonicalGraph& lying, const Plan* planLying,
                           const CanonicalGraph& upright, const Plan& planUpright,
                           const Device& device) {
  const auto endOf = [&](const CanonicalGraph& graph, const Plan& plan) -> std::optional<Cycles> {
    const Result<Cycles> end = endInClosedForm(graph, plan, device);
    if (!end) return std::nullopt;
    return *end;
  };
  UprightChoice choice{.upright = endOf(upright, planUpright)};
  if (planLying == nullptr) {
    choice.taken = true;
    return choice;
  }
  choice.lying = endOf(lying, *planLying);
  choice.taken = choice.upright &&
                 (isWithinLimits(upright, planUpright, device) ||
                  !isWithinLimits(lying, *planLying, device)) &&
                 (!choice.lying || undercuts(*choice.upright, *choice.lying, kOtherNetworkGains));
  return choice;
}

}  // namespace heddle
