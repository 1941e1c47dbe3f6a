#include "heddle/planner/make_plan.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <set>

#include "arrange_homes.h"
#include "choose.h"
#include "finalists.h"
#include "heddle/canon/limits.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"
#include "heddle/tiling/lives.h"
#include "heddle/tiling/views.h"
#include "improve_plan.h"
#include "known_layers.h"
#include "records_at_home.h"
#include "share_memtiles.h"
#include "spare_memory.h"
#include "thrift.h"
#include "tile_groups.h"
#include "time_plans.h"
#include "wires.h"

namespace heddle {
namespace {

// A network of so few layers is planned for up to so many rows or columns less, too. Where it has
// so few output pixels together the Machine says which is fastest, in no more instructions
// together; else the closed form, by which fewer have to gain so many thousandths of its time.
constexpr std::int64_t kFewLayers = 6, kFewerCores = 2, kFewPixels = 1 << 14,
                       kFewInstructions = 400'000, kFewerCoresWorthwhile = 10,
                       kFewerCoresDoubted = 30;

// Parts of a memtile's memory that may be set aside for weight records, largest first.
constexpr std::array<std::int64_t, 4> kStagingParts{4, 8, 16, 32};
// Of a layer, where many are asked for.
constexpr std::size_t kWideFinalists = 54;
// Of the network's time, in thousandths: what a smaller part has to gain, as the closed form errs.
constexpr std::int64_t kStagingWorthwhile = 10;

// Times that layers choose among larger records, fewer each time; what these have to gain.
constexpr int kMostRecordRounds = 3;
constexpr std::int64_t kLargerRecordsWorthwhile = 3;

// Likewise what a network's inputs and constants have to gain that stream through places instead of
// lying whole.
constexpr std::int64_t kStreamWorthwhile = 3;

// Of the memtiles' memory beside the weights, what a group's rows may take: shares to try.
constexpr std::array<double, 3> kTiledShares{1.0, 0.8, 0.6};
// How many proposals of groups are timed, with one staging.
constexpr int kMostProposals = 4;
// Cycles that a further step of a group is foretold to cost; where this promises too little, fewer,
// and what a DDR channel takes for so many bytes.
constexpr std::int64_t kStep = 2000, kBoldStep = 200, kBoldStepBytes = 512;
// Cycles of a layer in a group that finds no place: more than any layer takes.
constexpr std::int64_t kWithoutPlace = std::int64_t{1} << 40;
// Thousandths of what a network would take if nothing had to spill by which it was never seen to
// take less in tiles, whose layers find mappings of their own: 47 at most over four meshes, with
// small memtiles and with large images.
constexpr std::int64_t kTiledBeyondRoom = 80;
// Thousandths of a plan's time: what spilling has to cost for tiles to be tried. Of 91 plans that
// spill (three networks on up to 8 x 4 cores) 19 lose less, and none of these gained enough in
// tiles.
constexpr std::int64_t kSpillsLittle = 5;
// Where these rows find no place, in how many larger numbers of tiles they are tried.
constexpr int kMoreTilings = 4;
// SearchLimits::heldUpByDdr of tiles: each brings its layer's records again, so that no channel has
// time of others to fetch them in. With the half VGG16 on 3x3 with a sixteenth of the bandwidth
// took 7 % longer.
constexpr std::int64_t kTilesHeldUpByDdr = 100;
// Of the network's time, in thousandths: what a smaller staging has to gain where layers are tiled.
constexpr std::int64_t kTiledStagingWorthwhile = 3;
// Times that a plan which uses cores' spare memory is timed, each with fewer such layers; of these
// the first with rows that come together, and of those that take all. Steps for which one may lack
// room.
constexpr int kMostSpared = 10, kMostTogether = 6, kMostAll = 4;
constexpr std::size_t kStepsOfRoom = 2;
// Thousandths of a plan's time, of a step's, by which such a plan may seem slower: the closed form
// does not know all that longer rings gain. Of a step whose rows come together, or take all: the
// whole network seldom loses a tenth of that by simulation, which a shorter program is worth.
constexpr std::int64_t kSparedSlower = 2, kSparedStepSlower = 20, kTogetherSlower = 12,
                       kAllSlower = 6;
// Times that a plan whose records stay in the memtiles is timed, each with fewer such layers.
constexpr int kMostStays = 4;
// Likewise one whose homes lie otherwise; thousandths by which that may seem slower, as its program
// is shorter.
constexpr int kMostArranged = 3;
constexpr std::int64_t kArrangedSlower = 1;
// Thousandths of its time that a plan may lose for a limit of the device, without a look at what
// else would do.
constexpr std::int64_t kThriftCostsNothing = 5;

bool eachFeedsAll(const Device& device) {
  return std::ranges::all_of(device.wires, [&](const Wire& wire) {
    return std::ssize(wire.feeders) == device.memtiles();
  });
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
      Home home = homeInColumns(graph.tensors[root].shape, device);
      if (mostRows(home) <= device.limits.lockMaximum.value_or(INT64_MAX))
        plan.homes[root] = std::move(home);
    }
  }
}

// Of tensors that nothing computes those that one layer alone reads.
std::vector<TensorId> readOnce(const CanonicalGraph& graph, const Plan& plan,
                               const std::vector<TensorId>& given) {
  std::vector<TensorId> once;
  for (const TensorId tensor : given) {
    const auto isRoot = [&](TensorId t) { return plan.views[t.at()].root == tensor; };
    std::int64_t readers = 0;
    bool isWhole = isRoot(tensor);  // no part of it comes from elsewhere, none is an output
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      if (plan.layers[i].inPlace()) continue;
      isWhole = isWhole && !isRoot(graph.ops[i].output);
      readers += std::ranges::any_of(graph.ops[i].inputs, isRoot) ? 1 : 0;
    }
    if (isWhole && readers == 1) once.push_back(tensor);
  }
  return once;
}

std::vector<TensorId> inputsOf(const CanonicalGraph& graph) {
  std::vector<TensorId> inputs;
  for (const Port& port : graph.inputs) inputs.push_back(port.tensor);
  return inputs;
}

std::vector<TensorId> constantsOf(const CanonicalGraph& graph) {
  std::vector<TensorId> constants;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    if (!graph.tensors[t].constant.empty()) constants.emplace_back(t);
  return constants;
}

// What does not fit moves to DDR, and streams through places that need room themselves.
Result<Allocation> giveHomesUp(const CanonicalGraph& graph, const Device& device, Plan& plan) {
  for (;;) {
    HEDDLE_TRY(Allocation allocation, placeInMemory(graph, plan, device));
    if (allocation.withoutPlace.empty()) return allocation;
    for (const TensorId tensor : allocation.withoutPlace) plan.homes[tensor.at()].clear();
  }
}

struct Timed {
  Plan plan;
  std::vector<StepTime> times;  // in closed form
  Cycles end;
  bool spills = false;  // some tensor that was to have a home has none
  PlanChoices choices;
  std::shared_ptr<const ChosenAmong> among;  // of ChosenPlan
  std::vector<TileGroup> groups;
};

// What is wanted beside the plan.
struct Asked {
  bool choices = false;     // what people ask of
  std::size_t options = 0;  // of each layer, for a search, and the other plans that were timed
  // More mappings to choose from: in all sizes of the staging, of each searched for it.
  bool wide = false;
};

// The plan for the first rows and columns of `whole`.
class MeshPlan {
 public:
  // `given`: groups that are tiled in any case; none: those that promise to be faster.
  MeshPlan(const CanonicalGraph& graph, const Device& whole, const Thrift& thrift,
           const std::vector<TileGroup>& given, KnownLayers& known, WorkCounter& count,
           const Asked& asked)
      : graph_(graph),
        whole_(whole),
        device_(whole),
        thrift_(thrift),
        given_(given),
        count_(count),
        asked_(asked),
        known_(searchesAll() ? known.finalists : own_),
        toBeat_(known.bestEnd),
        cycles_(whole, count, known_) {
    device_.rows = thrift.rows;
    device_.columns = thrift.columns;
    device_.memtile.memory = thrift.memory;
    device_.limits.lockMaximum = thrift.waiting;
  }

  // Of several sizes of the staging the one whose plan ends first: a small one leaves room for
  // activations, a large one lets weights come further ahead. Small records are among the finalists
  // of each.
  // The plan first, then what else was asked for.
  Result<std::vector<Proposal>> make() {
    HEDDLE_TRY(DataflowWires wires, chooseWires(device_));
    if (!thrift_.ownChannel) wires.rowChannel = 0;
    HEDDLE_TRY(const Finalists finalists,
               findFinalists(graph_, device_, wires, searchLimits(searchedStagings()), thrift_.menu,
                             count_, known_));
    anyStaging_ = &finalists;
    if (!thrift_.menu) {
      HEDDLE_TRY(Timed only, withStaging(stagingOf(kStagingParts.front()), finalists, {}));
      return std::vector{proposalOf(std::move(only))};
    }
    std::optional<Timed> best;
    std::vector<Base> toTile;
    Diagnostics errors;
    for (const std::int64_t part : kStagingParts) {
      const Finalists some = stagedIn(finalists, stagingOf(part));
      if (!coverAll(some, finalists)) break;
      Result<Timed> next = withStaging(stagingOf(part), some, {});
      if (!next && errors.empty()) errors = next.diagnostics();
      if (!next) continue;
      const bool spills = next->spills;
      keepBeside(*next);
      const bool mayTile = thrift_.tiles && (spills || !given_.empty());
      // The closed form errs more where rows wait for DDR, to the side of too little.
      const std::int64_t worthwhile = spills                  ? kStagingWorthwhile
                                      : best && !best->spills ? 0
                                                              : -kStagingWorthwhile;
      const bool isBest = !best || gains(*next, *best, worthwhile);
      if (isBest && mayTile)
        best = *next;
      else if (isBest)
        best = std::move(*next);
      if (mayTile) toTile.push_back({std::move(*next), some});
      // What a smaller staging leaves room for is there already.
      if (!spills && !asked_.wide) break;
    }
    if (!best) return errors;
    streamWhereFaster(finalists, *best);
    const bool wouldTile = !toTile.empty() && (best->spills || !given_.empty());
    std::optional<Tiled> tiled;
    if (wouldTile) tiled = tileWhereHopeful(toTile, best->end, wires);
    if (tiled) letRecordsStayWhereNoSlower(*best);
    bool isTaken = tiled && (isWorthwhile(*tiled, *best) || !given_.empty());
    if (isTaken) improve(tiled->timed);
    // What is left of cores and memtiles may serve whole layers more than tiles.
    if (!isTaken || given_.empty()) improve(*best);
    isTaken = isTaken && (isWorthwhile(*tiled, *best) || !given_.empty());
    Timed& chosen = isTaken ? tiled->timed : *best;
    // After these, so that its cycles are those of the plan.
    if (asked_.choices && wouldTile)
      noteTiling(*best, tiled ? &tiled->timed : nullptr, isTaken, chosen);
    std::vector<Proposal> proposals{proposalOf(std::move(chosen))};
    for (Timed& other : beside_) proposals.push_back(proposalOf(std::move(other)));
    return proposals;
  }

 private:
  // What is done to a plan when its mappings are chosen.
  void improve(Timed& timed) {
    shareWhereFaster(timed);
    if (thrift_.longCalls) useSpareMemory(timed);
    arrangeHomesWhereHardlySlower(timed);
    letRecordsStayWhereNoSlower(timed);
  }

  // Whether nothing is given up that mappings are searched by.
  bool searchesAll() const {
    Thrift tiled = thrift_;
    tiled.tiles = tiled.recordsStay = tiled.arranges = true;
    return tiled == noThrift(whole_);
  }

  std::int64_t stagingOf(std::int64_t part) const {
    return device_.memtile.memory.raw() / part / kBlock * kBlock;
  }

  SearchLimits searchLimits(std::vector<std::int64_t> stagings) const {
    SearchLimits limits{.stagings = std::move(stagings),
                        .ahead = thrift_.ahead,
                        .longCalls = thrift_.longCalls && thrift_.menu};
    if (asked_.wide) limits.finalists = kWideFinalists;
    return limits;
  }

  std::vector<std::int64_t> searchedStagings() const {
    std::vector<std::int64_t> stagings;
    for (const std::int64_t part : kStagingParts)
      if (part == kStagingParts.front() || (thrift_.menu && part == kStagingParts.back()) ||
          (thrift_.menu && asked_.wide))
        stagings.push_back(stagingOf(part));
    return stagings;
  }

  // Whether each layer that had a mapping to choose from still has one.
  static bool coverAll(const Finalists& some, const Finalists& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (some[i].empty() && !all[i].empty()) return false;
    return true;
  }

  // Whole layers with one size of the staging, some of whose tensors spill.
  struct Base {
    Timed timed;
    Finalists finalists;
    KeptBytes kept = {};  // by groups of the plan
    // Of its layers, if no tensor had to spill; empty: not asked for yet.
    std::vector<StepTime> roomy = {};
    bool hasRoom = false;  // `roomy` is that; else nothing is known but how they spill
  };
  // The same with layers tiled depth-wise.
  struct Tiled {
    Timed timed;
    const Base* base;
  };

  // What each layer adds in closed form.
  static std::vector<Cycles> cyclesOfLayers(const Timed& timed) {
    return layerCycles(timed.plan, timed.times);
  }

  Proposal proposalOf(Timed timed) {
    Proposal proposal{
        {std::move(timed.plan), std::move(timed.choices), std::move(timed.among)}, {}, timed.end};
    // What is known of the finalists of a plan that gives something up goes with this.
    if (proposal.chosen.among && (asked_.options > 0 || &known_ == &own_)) {
      Weighed weighed = weigh(graph_, whole_, *proposal.chosen.among, cycles_,
                              {.mostOptions = asked_.options, .alone = asked_.choices});
      if (asked_.choices) proposal.chosen.choices.layers = std::move(weighed.choices);
      proposal.options = std::move(weighed.options);
      proposal.chosen.among.reset();
    }
    return proposal;
  }

  // A plan that is timed, and may be passed over.
  void keepBeside(const Timed& timed) {
    if (asked_.options > 0 && (given_.empty() || !timed.groups.empty())) beside_.push_back(timed);
  }

  // Of the chosen plan and of those beside, each as if it were taken.
  void noteTiling(const Timed& alone, const Timed* tiled, bool isTaken, Timed& chosen) {
    chosen.choices.tiling = tilingChoice(alone, tiled, isTaken);
    for (Timed& other : beside_)
      other.choices.tiling = other.groups.empty() ? tilingChoice(other, tiled, false)
                                                  : tilingChoice(alone, &other, true);
  }

  // `tiled`: null where none was timed.
  TilingChoice tilingChoice(const Timed& alone, const Timed* tiled, bool isTaken) const {
    TilingChoice choice{.groups = {},
                        .layers = cyclesOfLayers(alone),
                        .layersTiled = {},
                        .spillsLittle = spillsLittle_,
                        .taken = isTaken};
    if (tiled == nullptr) return choice;
    choice.layersTiled = cyclesOfLayers(*tiled);
    for (const TileGroup& group : tiled->groups)
      choice.groups.push_back({group.first, group.end - 1, tilesOf(graph_, group)});
    return choice;
  }

  // None where another plan is faster than this could be, or spilling costs the best plan, which
  // ends at `end`, too little. Given groups are tiled in any case, and so are those of a plan that
  // other plans are asked for beside.
  std::optional<Tiled> tileWhereHopeful(std::vector<Base>& bases, Cycles end,
                                        const DataflowWires& wires) {
    if (asked_.options == 0 && given_.empty()) {
      if (isHopeless(bases.front())) return std::nullopt;
      spillsLittle_ = costsLittle(bases.front(), end);
      if (spillsLittle_) return std::nullopt;
    }
    return tile(bases, wires);
  }

  // Whether another plan is faster than this network's would be if nothing had to spill, by more
  // than tiles gain beyond that. What exceeds a limit of the device may be the slower one.
  bool isHopeless(Base& base) {
    if (!toBeat_ || whole_.limits != Limits{}) return false;
    const Cycles end = timesWithRoom(base).back().end;
    return base.hasRoom && end.raw() * (1000 - kTiledBeyondRoom) > toBeat_->raw() * 1000;
  }

  // Whether a plan that ends then would hardly end earlier if nothing had to spill.
  bool costsLittle(Base& base, Cycles end) {
    const Cycles roomy = timesWithRoom(base).back().end;
    return base.hasRoom && (end - roomy).raw() * 1000 < end.raw() * kSpillsLittle;
  }

  // The one that ends first of what groups promise with the largest staging and the smallest, with
  // fewer of these groups; then these in all sizes of the staging, a smaller one where it gains.
  std::optional<Tiled> tile(std::vector<Base>& bases, const DataflowWires& wires) {
    std::optional<Tiled> best;
    tryGroups(bases.front(), wires, best);
    if (bases.size() > 1) tryGroups(bases.back(), wires, best);
    if (!best || !given_.empty()) return best;
    leaveGroupsOut(*best, wires);
    std::vector<TileGroup> groups = best->timed.groups;
    for (TileGroup& group : groups) group.tiles = 0;
    std::optional<Tiled> staged;
    for (Base& base : bases)
      keepFaster(base,
                 withTiles(graph_, whole_, base.timed.plan, groups, kTiledShares[0], base.kept),
                 wires, staged, kTiledStagingWorthwhile);
    if (staged && !gains(best->timed, staged->timed, kTiledStagingWorthwhile))
      best = std::move(staged);
    letRecordsStayInTiles(*best, wires);
    return best;
  }

  // Where records that come again with each tile hold it up: in as many tiles as leave room for all
  // of a group's.
  void letRecordsStayInTiles(Tiled& best, const DataflowWires& wires) {
    letRecordsStayWhereNoSlower(best.timed);
    if (!thrift_.recordsStay) return;
    for (std::size_t g = 0; g < best.timed.groups.size(); ++g) {
      if (!waitsForRecords(best.timed, best.timed.groups[g])) continue;
      for (const std::int64_t tiles :
           tilesBesideRecords(graph_, whole_, best.timed.plan, best.timed.groups[g])) {
        std::vector<TileGroup> groups = best.timed.groups;
        groups[g].tiles = tiles;
        std::optional<Timed> timed = inGroups(*best.base, wires, groups);
        if (!timed) continue;
        letRecordsStayWhereNoSlower(*timed);
        if (timed->end < best.timed.end && isLegal(*timed)) best.timed = std::move(*timed);
      }
    }
  }

  // Whether DDR is what a step of the group has most of, whose records come anew with it.
  static bool waitsForRecords(const Timed& timed, const TileGroup& group) {
    for (std::size_t step = 0; step < timed.times.size(); ++step) {
      const std::size_t layer = timed.plan.schedule[step].layer.at();
      if (layer < group.first || layer >= group.end) continue;
      const Mapping& mapping = timed.plan.layers[layer];
      if (timed.times[step].boundBy == Resource::DdrRead && !mapping.weights.empty() &&
          !allRecordsAtHome(mapping))
        return true;
    }
    return false;
  }

  // An input that lies whole comes by one DDR channel of each memtile, for the records of the first
  // layer to come by another beside it, and its reader waits for all of it: what streams comes by
  // all channels, row by row. So does a constant, which may also come while other layers run.
  // Groups of tiles then stream them, too.
  void streamWhereFaster(const Finalists& finalists, Timed& best) {
    if (device_.limits.lockMaximum || device_.memtile.ddrChannelsIn < 2) return;
    const std::vector<TensorId> inputs = readOnce(graph_, best.plan, inputsOf(graph_)),
                                constants = readOnce(graph_, best.plan, constantsOf(graph_));
    streamIfFaster(inputs, finalists, best);
    if (constants.empty()) return;
    std::vector<TensorId> all = inputs;
    all.insert(all.end(), constants.begin(), constants.end());
    streamIfFaster(all, finalists, best);
    if (streamed_.empty()) streamIfFaster(constants, finalists, best);
  }

  // Asked where DDR takes a quarter of the time of a reader of one that is at home, or more. None
  // of these is then, whichever were before.
  void streamIfFaster(const std::vector<TensorId>& inputs, const Finalists& finalists,
                      Timed& best) {
    const auto reads = [&](std::size_t step) {
      const CanonicalOp& op = graph_.ops[best.plan.schedule[step].layer.at()];
      return std::ranges::any_of(inputs, [&](TensorId input) {
        return !best.plan.homes[input.at()].empty() &&
               std::ranges::any_of(
                   op.inputs, [&](TensorId t) { return best.plan.views[t.at()].root == input; });
      });
    };
    bool waits = false;
    for (std::size_t step = 0; step < best.times.size() && !waits; ++step)
      waits = reads(step) &&
              best.times[step].busy[static_cast<std::size_t>(Resource::DdrRead)].raw() * 4 >=
                  best.times[step].cycles.raw();
    if (!waits) return;
    const std::vector<TensorId> before = std::exchange(streamed_, inputs);
    const std::int64_t staging = best.plan.weightStaging;
    Result<Timed> next = withStaging(staging, stagedIn(finalists, staging), {});
    if (next) keepBeside(*next);
    if (next && (best.spills || !next->spills) && gains(*next, best, kStreamWorthwhile))
      best = std::move(*next);
    else
      streamed_ = before;
  }

  void shareWhereFaster(Timed& timed) {
    Plan shared = timed.plan;
    shareMemtiles(whole_, count_, shared);
    if (shared.layers == timed.plan.layers) return;
    const Result<Allocation> placed = placeInMemory(graph_, shared, whole_);
    if (!placed || !placed->fitsAll()) return;
    setDdrChannels(graph_, *placed, whole_, shared);
    Timed other = timed;
    other.plan = std::move(shared);
    time(other, placed->memory);
    keepBeside(other.end < timed.end ? timed : other);
    if (other.end < timed.end) timed = std::move(other);
  }

  using WaysOfLayers = std::vector<std::vector<SpareWay>>;

  // Where the closed form finds a plan that uses it hardly slower: but for layers that it finds
  // slower by more, or that take the room of those.
  void useSpareMemory(Timed& timed) {
    WaysOfLayers ways;
    for (const Mapping& mapping : timed.plan.layers) ways.push_back({{SpareUse::None, mapping}});
    std::set<LayerId> seen;
    for (std::size_t s = 0; s < timed.times.size(); ++s) {
      const LayerId layer = timed.plan.schedule[s].layer;
      if (!seen.insert(layer).second) continue;
      const StepTerms terms = StepClock(whole_).termsOf(count_.cycles(timed.plan, s), StepPlace());
      ways[layer.at()] = spareWays(graph_, device_, timed.plan, layer, timed.times[s], terms);
    }
    std::vector<std::optional<SpareWay>> boldest(ways.size());
    for (std::size_t layer = 0; layer < ways.size(); ++layer)
      if (ways[layer].back().use == SpareUse::AllTogether) {
        boldest[layer] = std::move(ways[layer].back());
        ways[layer].pop_back();
      }
    useBeside(ways, timed);
    for (std::size_t layer = 0; layer < ways.size(); ++layer) {
      ways[layer] = {{SpareUse::None, timed.plan.layers[layer]}};
      if (boldest[layer]) ways[layer].push_back(std::move(*boldest[layer]));
    }
    useAll(ways, timed);
  }

  // With room for the next layer's beside it.
  void useBeside(WaysOfLayers& ways, Timed& timed) {
    // What rows lose by coming together, and not by longer rings.
    std::optional<Timed> inRings;
    if (anyComeTogether(ways)) inRings = inWays(timed, ways, SpareUse::Rings);
    for (int round = 0; round < kMostSpared; ++round) {
      std::optional<Timed> other = inWays(timed, ways, SpareUse::Together);
      if (!other) return;
      if (takeBackWhereSlower({&timed, inRings ? &*inRings : &timed}, *other, kTogetherSlower,
                              SpareUse::Rings, ways)) {
        if (round + 1 == kMostTogether) takeRowsApart(ways);
        continue;
      }
      if (isAsFast(other->end, timed.end, kSparedSlower)) {
        if (!isLegal(*other)) {
          if (takeRowsApart(ways)) continue;
          return;
        }
        keepBeside(timed);
        timed = std::move(*other);
        return;
      }
      // Where no step is much slower, many are a little.
      if (!takeBackWhereSlower({&timed}, *other, kSparedStepSlower, SpareUse::None, ways))
        takeBackWhereSlower({&timed}, *other, 0, SpareUse::None, ways);
    }
  }

  // And without, where that costs the next ones next to nothing.
  void useAll(WaysOfLayers& ways, Timed& timed) {
    for (int round = 0; round < kMostAll; ++round) {
      std::optional<Timed> other = inWays(timed, ways, SpareUse::AllTogether);
      if (!other) return;
      if (takeBackWhereSlower({&timed}, *other, kAllSlower, SpareUse::None, ways)) continue;
      if (other->end > timed.end || !isLegal(*other)) return;
      keepBeside(timed);
      timed = std::move(*other);
      return;
    }
  }

  // The plan whose layers go the boldest of their ways up to `most`; none where that changes
  // nothing or tensors find no place.
  std::optional<Timed> inWays(const Timed& timed, const WaysOfLayers& ways, SpareUse most) {
    Timed other = timed;
    for (std::size_t layer = 0; layer < ways.size(); ++layer)
      for (const SpareWay& way : ways[layer])
        if (way.use <= most) other.plan.layers[layer] = way.mapping;
    if (other.plan.layers == timed.plan.layers) return std::nullopt;
    const Result<Allocation> placed = placeInMemory(graph_, other.plan, whole_);
    if (!placed || !placed->fitsAll()) return std::nullopt;
    setDdrChannels(graph_, *placed, whole_, other.plan);
    time(other, placed->memory);
    return other;
  }

  static bool comeTogether(const std::vector<SpareWay>& ways) {
    return ways.back().use > SpareUse::Rings;
  }
  static bool anyComeTogether(const WaysOfLayers& ways) {
    return std::ranges::any_of(ways, comeTogether);
  }

  // Whether there were some that came together.
  static bool takeRowsApart(WaysOfLayers& ways) {
    const bool any = anyComeTogether(ways);
    for (std::vector<SpareWay>& of : ways)
      while (comeTogether(of)) of.pop_back();
    return any;
  }

  // Takes the boldest way from layers that go a bolder one than `least` where steps of `timed` take
  // more thousandths longer than in all of `others`; whether there were such layers.
  static bool takeBackWhereSlower(std::initializer_list<const Timed*> others, const Timed& timed,
                                  std::int64_t thousandths, SpareUse least, WaysOfLayers& ways) {
    std::vector<bool> slower(ways.size());
    for (std::size_t step = 0; step < timed.times.size(); ++step) {
      if (std::ranges::any_of(others, [&](const Timed* other) {
            return isAsFast(timed.times[step].cycles, other->times[step].cycles, thousandths);
          }))
        continue;
      // A step may also wait for the room of those before it.
      for (std::size_t back = 0; back <= std::min(step, kStepsOfRoom); ++back) {
        const std::size_t layer = timed.plan.schedule[step - back].layer.at();
        if (ways[layer].back().use <= least) continue;
        slower[layer] = true;
        break;
      }
    }
    for (std::size_t layer = 0; layer < ways.size(); ++layer)
      if (slower[layer]) ways[layer].pop_back();
    return std::ranges::find(slower, true) != slower.end();
  }

  static bool isAsFast(Cycles cycles, Cycles others, std::int64_t thousandths) {
    return cycles.raw() * 1000 <= others.raw() * (1000 + thousandths);
  }

  // Whether `timed` ends before `other` by more than so many thousandths of that.
  static bool gains(const Timed& timed, const Timed& other, std::int64_t worthwhile) {
    return (other.end - timed.end).raw() * 1000 > other.end.raw() * worthwhile;
  }

  // The closed form errs by a part of what the layers take that were tiled: of those groups that
  // gain more than that, lest one which hardly changes anything stands in the way of another.
  static bool isWorthwhile(const Tiled& tiled, const Timed& alone) {
    const std::vector<Cycles> layers = cyclesOfLayers(alone),
                              layersTiled = cyclesOfLayers(tiled.timed);
    const auto errs = [](Cycles gained, Cycles of) {
      return gained.raw() * 1000 <= of.raw() * kTilingWorthwhile;
    };
    Cycles all, concerned, beside;  // what the others gain
    for (const TileGroup& group : tiled.timed.groups) {
      Cycles before, after;
      for (std::size_t l = group.first; l < std::min(group.end, layers.size()); ++l) {
        before += layers[l];
        after += layersTiled[l];
      }
      all += before;
      if (errs(before - after, before))
        beside += std::max(before - after, Cycles());
      else
        concerned += before;
    }
    const Cycles gained = alone.end - tiled.timed.end;
    return concerned > Cycles() ? !errs(gained - beside, concerned) : !errs(gained, all);
  }

  void tryGroups(Base& base, const DataflowWires& wires, std::optional<Tiled>& best) {
    const Plan& plan = base.timed.plan;
    const std::vector<StepTime>& times = base.timed.times;
    const std::vector<StepTime>& roomy = timesWithRoom(base);
    std::vector<std::vector<TileGroup>> tried;
    KnownGroups known;
    const auto propose = [&]() -> std::vector<TileGroup> {
      for (const double share : kTiledShares)
        for (const bool bold : {false, true}) {
          const Foretelling foretelling{times, bold ? roomy : times, stepCost(bold), share};
          std::vector<TileGroup> groups =
              given_.empty() ? promisingGroups(graph_, whole_, plan, foretelling, known, base.kept)
                             : withTiles(graph_, whole_, plan, given_, share, base.kept);
          if (!groups.empty() && std::ranges::find(tried, groups) == tried.end()) return groups;
        }
      return {};
    };
    for (int proposal = 0; proposal < kMostProposals; ++proposal) {
      tried.push_back(propose());
      if (tried.back().empty()) return;
      learn(tried.back(), keepFaster(base, tried.back(), wires, best), known);
    }
  }

  // Rows and a record on their way: as measured on VGG16, or no more than on MobileNet v2.
  Cycles stepCost(bool bold) const {
    return bold ? Cycles(kBoldStep) + ddrReadTime(Bytes(kBoldStepBytes), whole_) : Cycles(kStep);
  }

  // What layers would take if no tensor had to spill; with spills, where that can't be.
  const std::vector<StepTime>& timesWithRoom(Base& base) {
    if (!base.roomy.empty()) return base.roomy;
    base.roomy = base.timed.times;
    Device roomy = whole_;
    roomy.memtile.memory = Bytes(kMaxTensorBytes);
    Plan plan = base.timed.plan;
    proposeFor(plan, {});
    const Result<Allocation> placed = placeInMemory(graph_, plan, roomy);
    if (!placed || !placed->fitsAll()) return base.roomy;
    setDdrChannels(graph_, *placed, whole_, plan);
    chooseMappings(graph_, whole_, *placed, base.finalists, cycles_, plan, nullptr);
    base.hasRoom = true;
    return base.roomy = timesInClosedForm(graph_, plan, placed->memory, whole_, count_);
  }

  // What groups took is better known than foretold: the next proposal goes by it.
  static void learn(const std::vector<TileGroup>& proposed, const std::vector<Cycles>& ofLayers,
                    KnownGroups& known) {
    for (const TileGroup& group : proposed) {
      Cycles took;
      for (std::size_t layer = group.first; layer < group.end; ++layer)
        took += ofLayers.empty() ? Cycles(kWithoutPlace) : ofLayers[layer];
      known[group] = took.raw();
    }
  }

  // What the layers take with the groups; none where they find no place, or are not legal and seem
  // best.
  std::vector<Cycles> keepFaster(const Base& base, std::vector<TileGroup> groups,
                                 const DataflowWires& wires, std::optional<Tiled>& best,
                                 std::int64_t worthwhile = 0) {
    giveRoom(base.timed.plan, groups);
    std::optional<Timed> timed = inGroups(base, wires, groups);
    if (!timed) return {};
    std::vector<Cycles> ofLayers = cyclesOfLayers(*timed);
    if (!best || gains(*timed, best->timed, worthwhile)) {
      if (!isLegal(*timed)) return {};
      best = Tiled{std::move(*timed), &base};
    }
    return ofLayers;
  }

  // None where the device does not allow it.
  std::optional<Timed> inGroups(const Base& base, const DataflowWires& wires,
                                const std::vector<TileGroup>& groups) {
    const std::int64_t staging = base.timed.plan.weightStaging;
    Finalists some = base.finalists;
    SearchLimits limits = searchLimits({staging});
    limits.heldUpByDdr = kTilesHeldUpByDdr;
    Finalists tiles = findTileFinalists(graph_, device_, wires, limits,
                                        rowsOfTiles(base.timed.plan, groups), count_, known_);
    for (std::size_t layer = 0; layer < some.size(); ++layer)
      if (!tiles[layer].empty()) some[layer] = std::move(tiles[layer]);
    Result<Timed> tiled = withStaging(staging, some, groups);
    if (!tiled) return std::nullopt;
    keepBeside(*tiled);
    return std::move(*tiled);
  }

  // Mappings searched for a tile alone may let more calls wait at the network's borders than a lock
  // counts, and so may longer rings; where it counts any number, there is nothing to look for.
  bool isLegal(const Timed& timed) const {
    return !whole_.limits.lockMaximum || verify(timed.plan, graph_, whole_).empty();
  }

  // The sums of layers that proposed the groups err: one after another is left out where the closed
  // form of the whole says that this is faster.
  void leaveGroupsOut(Tiled& best, const DataflowWires& wires) {
    for (std::size_t g = best.timed.groups.size(); g-- > 0 && best.timed.groups.size() > 1;) {
      std::vector<TileGroup> fewer = best.timed.groups;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(g));
      std::optional<Timed> timed = inGroups(*best.base, wires, fewer);
      if (timed && timed->end < best.timed.end && isLegal(*timed)) best.timed = std::move(*timed);
    }
  }

  // Cuts groups whose rows find no place into some more tiles.
  void giveRoom(const Plan& base, std::vector<TileGroup>& groups) const {
    std::vector<TileGroup> cut = groups;
    Plan plan = base;
    for (int more = 0; more < kMoreTilings; ++more) {
      proposeFor(plan, cut);
      const Result<Allocation> placed = placeInMemory(graph_, plan, whole_);
      if (!placed) return;
      if (placed->fitsAll()) {
        groups = std::move(cut);
        return;
      }
      if (!cutFurther(plan, cut, placed->withoutPlace)) return;
    }
  }

  // More tiles for groups whose tensors have no place, but for those whose number was given.
  bool cutFurther(const Plan& plan, std::vector<TileGroup>& groups,
                  const std::vector<TensorId>& withoutPlace) const {
    const std::vector<TileGroup> before = groups;
    groups = withMoreTiles(graph_, plan, std::move(groups), withoutPlace);
    for (std::size_t g = 0; g < given_.size(); ++g)
      if (given_[g].tiles > 0) groups[g] = given_[g];
    return groups != before;
  }

  // Of layers that have several steps the rows of the longest; of others none.
  std::vector<std::int64_t> rowsOfTiles(const Plan& plan,
                                        const std::vector<TileGroup>& groups) const {
    std::vector<std::int64_t> rows(graph_.ops.size());
    for (const ScheduleStep& step : tiledSchedule(graph_, plan, groups))
      rows[step.layer.at()] = std::max(rows[step.layer.at()], step.rows.count);
    for (std::size_t layer = 0; layer < rows.size(); ++layer)
      if (rows[layer] == graph_.tensors[graph_.ops[layer].output.at()].shape.height)
        rows[layer] = 0;
    return rows;
  }

  // The schedule of the groups, and all homes that it lets us ask for.
  void proposeFor(Plan& plan, const std::vector<TileGroup>& groups) const {
    plan.schedule = tiledSchedule(graph_, plan, groups);
    plan.homes.assign(graph_.tensors.size(), {});
    if (thrift_.homes) proposeHomes(plan, graph_, device_);
    for (const TensorId input : streamed_) plan.homes[input.at()].clear();
    if (groups.empty()) return;
    const std::vector<bool> byRows = readInOneGroup(graph_, plan, groups);
    const RowLives lives = rowLives(graph_, plan);
    for (std::size_t t = 0; t < lives.size(); ++t)
      plan.homes[t] = byRows[t] ? Home{} : cutByLife(plan.homes[t], lives[t]);
  }

  Result<Timed> withStaging(std::int64_t staging, const Finalists& finalists,
                            const std::vector<TileGroup>& groups) {
    Plan plan;
    plan.weightStaging = staging;
    plan.views = findViews(graph_).tensors;
    plan.layers.resize(graph_.ops.size());
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (!finalists[i].empty()) plan.layers[i] = *finalists[i][0];
    proposeFor(plan, groups);
    const std::vector<Home> proposed = plan.homes;
    HEDDLE_TRY(const Allocation memory, giveHomesUp(graph_, whole_, plan));
    setDdrChannels(graph_, memory, whole_, plan);
    Timed first{.plan = std::move(plan), .groups = groups};
    first.choices.proposed = proposed;
    if (!thrift_.menu) return first;
    first.spills = first.plan.homes != proposed;
    time(first, memory.memory);
    std::optional<Timed> chosen = withChosen(first, memory, finalists);
    if (!chosen) return first;
    takeLargerRecords(finalists, *chosen);
    if (chosen->end < first.end) return std::move(*chosen);
    // Chosen for nothing, but where that is the first of each layer.
    if (chosen->plan.layers == first.plan.layers) first.among = std::move(chosen->among);
    return first;
  }

  // Where the closed form finds the whole hardly slower: else without what steps that it finds
  // slower read and write. Not where some memtile can't feed a wire.
  void arrangeHomesWhereHardlySlower(Timed& timed) {
    if (!thrift_.arranges || !eachFeedsAll(whole_)) return;
    std::vector<bool> asked(timed.plan.homes.size(), true);
    for (int round = 0; round < kMostArranged; ++round) {
      Timed other = timed;
      asked = arrangeHomes(graph_, device_, timed.times, asked, other.plan);
      if (std::ranges::find(asked, true) == asked.end()) return;
      const Result<Allocation> placed = placeInMemory(graph_, other.plan, whole_);
      if (!placed) return;
      if (!placed->fitsAll()) {
        for (const TensorId tensor : placed->withoutPlace) asked[tensor.at()] = false;
        continue;
      }
      setDdrChannels(graph_, *placed, whole_, other.plan);
      time(other, placed->memory);
      if (isAsFast(other.end, timed.end, kArrangedSlower)) {
        keepBeside(timed);
        timed = std::move(other);
        return;
      }
      const std::vector<bool> before = asked;
      for (std::size_t step = 0; step < timed.times.size(); ++step) {
        if (other.times[step].cycles <= timed.times[step].cycles) continue;
        const CanonicalOp& op = graph_.ops[timed.plan.schedule[step].layer.at()];
        for (const TensorId input : op.inputs)
          asked[timed.plan.views[input.at()].root.at()] = false;
        asked[timed.plan.views[op.output.at()].root.at()] = false;
      }
      if (asked == before) return;
    }
  }

  // Where the closed form finds the whole no slower: else without layers around steps that it finds
  // slower. Not where fewer pieces may wait than a lock counts.
  void letRecordsStayWhereNoSlower(Timed& timed) {
    if (!thrift_.recordsStay || thrift_.waiting != whole_.limits.lockMaximum) return;
    std::vector<bool> asked(timed.plan.layers.size(), true);
    for (int round = 0; round < kMostStays; ++round) {
      Timed other = timed;
      std::vector<bool> stay = letRecordsStay(graph_, whole_, asked, other.plan);
      if (std::ranges::find(stay, true) == stay.end()) return;
      const Result<Allocation> placed = placeInMemory(graph_, other.plan, whole_);
      if (!placed || !placed->fitsAll()) return;
      setDdrChannels(graph_, *placed, whole_, other.plan);
      time(other, placed->memory);
      if (other.end <= timed.end) {
        timed = std::move(other);
        return;
      }
      asked = std::move(stay);
      bool any = false;
      for (std::size_t step = 0; step < timed.times.size(); ++step) {
        if (other.times[step].cycles <= timed.times[step].cycles) continue;
        // A step may also wait for the room of those before it, and of the next.
        for (const std::size_t at : {step, step + 1, step - 1, step - 2}) {
          if (at >= timed.times.size()) continue;
          const std::size_t layer = timed.plan.schedule[at].layer.at();
          if (!asked[layer]) continue;
          asked[layer] = false;
          any = true;
          break;
        }
      }
      if (!any) return;
    }
  }

  // The plan with the best of these mappings of each layer, by how `memory` is used without them;
  // none where it finds no place.
  std::optional<Timed> withChosen(const Timed& before, const Allocation& memory,
                                  const Finalists& finalists) {
    Timed chosen = before;
    chooseMappings(graph_, whole_, memory, finalists, cycles_, chosen.plan, nullptr);
    const Result<Allocation> placed = giveHomesUp(graph_, whole_, chosen.plan);
    if (!placed) return std::nullopt;
    setDdrChannels(graph_, *placed, whole_, chosen.plan);
    time(chosen, placed->memory);
    if (asked_.choices || asked_.options > 0)
      chosen.among =
          std::make_shared<const ChosenAmong>(ChosenAmong{before.plan, memory, finalists});
    return chosen;
  }

  // For layers of one step where homes leave more room than is set aside.
  void takeLargerRecords(const Finalists& finalists, Timed& chosen) {
    if (chosen.plan.weightStaging == stagingOf(kStagingParts.front())) return;
    const Result<Allocation> placed = placeInMemory(graph_, chosen.plan, whole_);
    if (!placed) return;
    std::optional<Timed> larger = withLargerRecords(chosen, *placed, finalists);
    if (!larger) return;
    const bool isBetter = gains(*larger, chosen, kLargerRecordsWorthwhile);
    keepBeside(isBetter ? chosen : *larger);
    if (isBetter) chosen = std::move(*larger);
  }

  // None where no layer has larger records to choose from, or they find no place.
  std::optional<Timed> withLargerRecords(const Timed& chosen, const Allocation& placed,
                                         const Finalists& finalists) {
    Finalists some = finalists;
    std::vector<bool> offered = offerLargerRecords(chosen.plan, placed, some);
    std::optional<Timed> larger;
    for (int round = 0; round < kMostRecordRounds; ++round) {
      if (std::ranges::find(offered, true) == offered.end()) return std::nullopt;
      larger = withChosen(chosen, placed, some);
      if (!larger) return std::nullopt;
      const Result<Allocation> after = placeInMemory(graph_, larger->plan, whole_);
      if (!after) return std::nullopt;
      bool any = false;
      for (const std::size_t layer : withoutRoomForTwo(larger->plan, *after)) {
        if (!offered[layer]) continue;
        some[layer] = finalists[layer];
        offered[layer] = false;
        any = true;
      }
      if (!any) break;
    }
    return larger;
  }

  // To which layers: mappings of which two records fit what homes leave.
  std::vector<bool> offerLargerRecords(const Plan& plan, const Allocation& placed,
                                       Finalists& some) const {
    std::vector<std::size_t> steps(plan.layers.size());
    for (const ScheduleStep& step : plan.schedule) ++steps[step.layer.at()];
    std::vector<bool> offered(plan.layers.size());
    for (std::size_t s = 0; s < plan.schedule.size(); ++s) {
      const std::size_t layer = plan.schedule[s].layer.at();
      if (steps[layer] > 1 || placed.recordRooms[s].bytes() <= plan.weightStaging) continue;
      const Finalists all = stagedIn({(*anyStaging_)[layer]}, placed.recordRooms[s].bytes());
      if (all[0].size() <= some[layer].size()) continue;
      some[layer] = all[0];
      offered[layer] = true;
    }
    return offered;
  }

  // Where homes have come to lie otherwise than when these layers' mappings were chosen.
  static std::vector<std::size_t> withoutRoomForTwo(const Plan& plan, const Allocation& placed) {
    std::vector<std::size_t> layers;
    for (std::size_t s = 0; s < plan.schedule.size(); ++s) {
      const std::size_t layer = plan.schedule[s].layer.at();
      const Mapping& m = plan.layers[layer];
      if (!m.weights.empty() && std::min<std::int64_t>(2, recordsOf(m)) * m.weightBytes >
                                    stagingPerRoute(placed.recordRooms[s].bytes(), m))
        layers.push_back(layer);
    }
    return layers;
  }

  void time(Timed& timed, const MemoryPlan& memory) {
    timed.times = timesInClosedForm(graph_, timed.plan, memory, whole_, count_);
    timed.end = timed.times.empty() ? Cycles(0) : timed.times.back().end;
  }

  const CanonicalGraph& graph_;
  const Device& whole_;
  Device device_;
  Thrift thrift_;
  const std::vector<TileGroup>& given_;
  WorkCounter& count_;
  Asked asked_;
  // Of make(), those of all stagings: for layers that find more room.
  const Finalists* anyStaging_ = nullptr;
  std::vector<Timed> beside_;       // other plans, where they were asked for
  std::vector<TensorId> streamed_;  // inputs and constants that get no home
  KnownFinalists own_;              // of this plan, which gives something up
  KnownFinalists& known_;
  const std::optional<Cycles> toBeat_;  // the end of the best plan before this one
  bool spillsLittle_ = false;           // too little for tiles to be tried
  FinalistCycles cycles_;
};

// The first plan that keeps the device's limits, else the one that exceeds them least. Gives up one
// thing after another and keeps what helps; then the same on fewer and fewer cores.
class ThriftyPlan {
 public:
  // `asked`: what the plan was chosen among.
  ThriftyPlan(const CanonicalGraph& graph, KnownLayers& known, const PlanOptions& options,
              bool asked)
      : graph_(graph),
        device_(known.device),
        options_(options),
        known_(known),
        count_(graph, known),
        asked_{.choices = asked} {}

  Result<ChosenPlan> make(const std::function<void(double)>& progress) {
    if (options_.tiling == PlanOptions::Tiling::Given) {
      HEDDLE_TRY(given_, namedGroups(graph_, options_.groups));
    }
    if (options_.effort > kUsualPlanEffort) asked_.options = improveBounds(options_.effort).options;
    HEDDLE_TRY(Tried tried, withinLimits());
    const ChosenPlan& chosen = tried.proposals[0].chosen;
    if (asksForTiles() && !isTiled(chosen.plan, graph_))
      return Diagnostics{{"PLAN012", graph_.name, "the named groups cannot be tiled",
                          "at effort " + std::to_string(options_.effort) + " on a device '" +
                              device_.name + "' with its memories and limits",
                          options_.effort == 0 ? "leave '--effort 0' out, or '--fuse'"
                                               : "leave '--fuse' out, name fewer layers, none of "
                                                 "which needs all rows at once, or fewer tiles",
                          Severity::DoesNotFit}};
    if (options_.effort >= kUsualPlanEffort && std::ssize(graph_.ops) <= kFewLayers)
      takeFewerCores(tried);
    if (options_.effort <= kUsualPlanEffort || tried.excess != Excess{})
      return std::move(tried.proposals[0].chosen);
    addProposals(tried);
    return improvePlan(graph_, device_, std::move(tried.proposals), options_.effort, progress);
  }

 private:
  bool asksForTiles() const {
    return std::ranges::any_of(
        given_, [&](const TileGroup& group) { return group.tiles != 1 || graph_.batch > 1; });
  }

  struct Tried {
    Thrift thrift;
    std::vector<Proposal> proposals;  // the first is the plan, and the one that exceeds so much
    Excess excess;
  };

  Result<Tried> withinLimits() {
    HEDDLE_TRY(Tried best, tryOut(all()));
    if (device_.limits == Limits{}) return best;
    giveUpWhatHelps(best);
    std::optional<Thrift> mesh = onFewerCores(all());
    for (; mesh && best.excess != Excess{}; mesh = onFewerCores(*mesh)) {
      Result<Tried> next = tryOut(*mesh);
      if (!next) continue;  // what gives one thing up may need more of another
      giveUpWhatHelps(*next);
      if (next->excess < best.excess) best = std::move(*next);
    }
    return best;
  }

  // All rows and columns of a mesh may divide a small network's layers worse than fewer do. In a
  // large one layers make up for each other, and planning it so many times would take its time.
  void takeFewerCores(Tried& tried) {
    const Thrift all = tried.thrift;
    PlanTimer timer(graph_, device_, {2 + 2 * kFewerCores, kFewInstructions}, {});
    std::optional<PlanTime> time;
    if (pixels() <= kFewPixels) time = timer.time(tried.proposals[0].chosen.plan);
    if (time) takeDensePlan(tried, timer, *time);
    for (std::int64_t less = 1; less <= kFewerCores; ++less)
      for (std::int64_t Thrift::*side : {&Thrift::rows, &Thrift::columns}) {
        Thrift fewer = all;
        fewer.*side -= less;
        if (fewer.*side < 1) continue;
        Result<Tried> next = tryOut(fewer);
        if (!next || next->excess > tried.excess ||
            (asksForTiles() && !isTiled(next->proposals[0].chosen.plan, graph_)))
          continue;
        const Cycles best = tried.proposals[0].end, end = next->proposals[0].end;
        const bool mayGain = (end - best).raw() * 1000 <= best.raw() * kFewerCoresDoubted;
        std::optional<PlanTime> nextTime;
        if (time && mayGain) nextTime = timer.time(next->proposals[0].chosen.plan);
        const bool gains = nextTime
                               ? nextTime->cycles < time->cycles
                               : (best - end).raw() * 1000 > best.raw() * kFewerCoresWorthwhile;
        if (next->excess == tried.excess && !gains) continue;
        std::ranges::move(tried.proposals, std::back_inserter(next->proposals));
        tried = std::move(*next);
        time = std::move(nextTime);
      }
  }

  // What is planned for the network with no block left out is a plan of this one, too, and seldom
  // slower than there. Its mappings may be none of those that the closed form looked at here.
  void takeDensePlan(Tried& tried, PlanTimer& timer, PlanTime& time) {
    if (std::ranges::none_of(graph_.ops, leavesBlocksOut) || device_.limits.recordLengths ||
        tried.excess != Excess{})
      return;
    CanonicalGraph dense = graph_;
    for (CanonicalOp& op : dense.ops)
      if (Conv* conv = std::get_if<Conv>(&op.attributes)) conv->kept = {};
    WorkCounter count(dense, known_);
    const Result<std::vector<Proposal>> proposals =
        MeshPlan(dense, device_, tried.thrift, given_, known_, count, {}).make();
    if (!proposals || (asksForTiles() && !isTiled((*proposals)[0].chosen.plan, graph_))) return;
    const Plan& plan = (*proposals)[0].chosen.plan;
    const std::optional<PlanTime> other = timer.time(plan);
    if (!other || other->cycles >= time.cycles) return;
    if (device_.limits != Limits{} && excessOf(graph_, plan, device_) != Excess{}) return;
    tried.proposals[0].chosen.plan = plan;
    time = *other;
  }

  // Of all outputs together.
  std::int64_t pixels() const {
    std::int64_t all = 0;
    for (const CanonicalOp& op : graph_.ops) {
      const Shape& shape = graph_.tensors[op.output.at()].shape;
      all += shape.height * shape.width;
    }
    return all;
  }

  // What the planner makes of more mappings to choose from, and of lesser devices.
  void addProposals(Tried& tried) {
    asked_.wide = true;
    for (const Thrift& thrift : slightlyLess(tried.thrift)) {
      Result<std::vector<Proposal>> more =
          MeshPlan(graph_, device_, thrift, given_, known_, count_, asked_).make();
      if (!more) continue;
      if (asksForTiles())
        std::erase_if(*more, [&](const Proposal& p) { return !isTiled(p.chosen.plan, graph_); });
      std::ranges::move(*more, std::back_inserter(tried.proposals));
    }
  }

  Thrift all() const {
    Thrift thrift = noThrift(device_);
    thrift.menu = thrift.arranges = options_.effort > 0;
    thrift.tiles = options_.tiling != PlanOptions::Tiling::Off;
    return thrift;
  }

  Result<Tried> tryOut(const Thrift& thrift) {
    HEDDLE_TRY(std::vector<Proposal> proposals,
               MeshPlan(graph_, device_, thrift, given_, known_, count_, asked_).make());
    const Excess excess =
        device_.limits == Limits{} ? Excess{} : excessOf(graph_, proposals[0].chosen.plan, device_);
    return Tried{thrift, std::move(proposals), excess};
  }

  // Of the cheapest things that help the first that suffices and costs next to nothing, else the
  // fastest that suffices, else what helps most; and then the next.
  void giveUpWhatHelps(Tried& best) {
    while (best.excess != Excess{}) {
      std::optional<Tried> better;
      for (const std::vector<Thrift>& alike : thriftierThan(best.thrift)) {
        takeMostHelpful(best, alike, better);
        if (better) break;
      }
      if (!better) return;
      best = std::move(*better);
    }
  }

  void takeMostHelpful(const Tried& before, const std::vector<Thrift>& alike,
                       std::optional<Tried>& best) {
    const auto merit = [](const Tried& tried) {
      return std::pair(tried.excess, tried.proposals[0].end);
    };
    const Cycles end = before.proposals[0].end;
    for (const Thrift& thrift : alike) {
      Result<Tried> next = tryOut(thrift);
      if (!next || next->excess >= before.excess) continue;
      if (!best || merit(*next) < merit(*best)) best = std::move(*next);
      const bool costsNothing =
          (best->proposals[0].end - end).raw() * 1000 <= end.raw() * kThriftCostsNothing;
      if (best->excess == Excess{} && costsNothing) return;
    }
  }

  const CanonicalGraph& graph_;
  const Device& device_;
  PlanOptions options_;
  std::vector<TileGroup> given_;
  KnownLayers& known_;
  WorkCounter count_;
  Asked asked_;
};

}  // namespace

Result<Plan> makePlan(const CanonicalGraph& graph, const Device& device, const PlanOptions& options,
                      const std::function<void(double)>& progress) {
  KnownLayers known(device);
  HEDDLE_TRY(ChosenPlan chosen, choosePlan(graph, known, options, false, progress));
  return std::move(chosen.plan);
}

Result<ChosenPlan> choosePlan(const CanonicalGraph& graph, const Device& device,
                              const PlanOptions& options,
                              const std::function<void(double)>& progress) {
  KnownLayers known(device);
  HEDDLE_TRY(ChosenPlan chosen, choosePlan(graph, known, options, true, progress));
  weighLayers(graph, known, chosen);
  return chosen;
}

Result<ChosenPlan> choosePlan(const CanonicalGraph& graph, KnownLayers& known,
                              const PlanOptions& options, bool asked,
                              const std::function<void(double)>& progress) {
  return ThriftyPlan(graph, known, options, asked).make(progress);
}

void weighLayers(const CanonicalGraph& graph, KnownLayers& known, ChosenPlan& chosen) {
  if (!chosen.among) return;
  WorkCounter count(graph, known);
  FinalistCycles cycles(known.device, count, known.finalists);
  chosen.choices.layers =
      weigh(graph, known.device, *chosen.among, cycles, {.alone = true}).choices;
  chosen.among.reset();
}

}  // namespace heddle
