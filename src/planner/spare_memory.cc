#include "spare_memory.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/limits.h"
#include "heddle/tiling/nest.h"

namespace heddle {
namespace {

using N = std::int64_t;

// Hundredths of what the layer's busiest engine is busy for, above which a wire of rows cannot make
// up for their coming together.
constexpr N kFullyBusy = 97, kNearlyBusy = 90;

// Hundredths of it that the rows of one iteration may take on a wire that is nearly busy.
constexpr N kFirstRows = 3;

// Times as long with records as with rows, a wire is busy with records: it hardly waits for places.
constexpr N kMostlyRecords = 3;

// Iterations of a layer without weights of which one is too much of the whole to be waited for.
constexpr N kFewSweeps = 8;

// Rows of a band, of which to wait for two at its beginning costs too much.
constexpr N kFewRowsOfABand = 8;

// Numbers of parts of a sweep, up to which each is tried: of few rows such a part may be a single
// one, which is a call while several of them come together.
constexpr N kFewCallsOfASweep = 4;

// Rows that come together, and are a call, over a wire that is busy all the time: what waits behind
// two of them hardly waits longer. Where more find no room, too.
constexpr N kRowsOfAPair = 2;

// One of each that compute the same pixels.
std::vector<const CoreShare*> sharesThatDiffer(const Mapping& mapping) {
  std::vector<const CoreShare*> some;
  for (const CoreShare& share : mapping.shares)
    if (std::ranges::none_of(some,
                             [&](const CoreShare* other) { return other->boxes == share.boxes; }))
      some.push_back(&share);
  return some;
}

// Of iterations behind the first of a chunk and band: their longest call, and a sweep of it.
struct Longest {
  N rows = 0, written = 0;  // that the kernel computes in a call; of the output
  N ofASweep = 0;           // that it computes in the calls of one
  struct Operand {
    N call = 0, sweep = 0, iteration = 0;  // rows that come
    N sweeps = 0;                          // of an iteration
    N pitch = 0;                           // from a call's first row to that of the next
    bool oneByOne = false;                 // out of DDR, or with gaps between rows of a sweep
  };
  std::vector<Operand> operands;
};

class LongestOf {
 public:
  LongestOf(const CanonicalGraph& graph, const Plan& plan, LayerId layer, const Mapping& mapping)
      : nest_(graph, OpId(layer.at()), mapping) {
    found_.operands.resize(nest_.op().inputs.size());
    for (std::size_t i = 0; i < found_.operands.size(); ++i)
      found_.operands[i].oneByOne =
          plan.homes[plan.views[nest_.op().inputs[i].at()].root.at()].empty();
    for (const ScheduleStep& step : plan.schedule)
      if (step.layer == layer)
        for (const CoreShare* share : sharesThatDiffer(mapping)) look(*share, step.rows);
  }
  const Longest& found() const { return found_; }

 private:
  void look(const CoreShare& share, const Interval& rows) {
    std::set<std::tuple<N, N, N, N, bool>> alike;
    for (const Iteration& at : nest_.iterations()) {
      const Interval kernelRows = nest_.loadedKernelRows(at);
      if (!nest_.isLater(at) || !alike
                                     .insert({nest_.inputKey(at), kernelRows.first,
                                              kernelRows.count, nest_.callRows(at), nest_.last(at)})
                                     .second)
        continue;
      look(nest_.calls(share, rows, at), kernelRows, at);
    }
  }

  void look(const std::vector<RowCall>& calls, const Interval& kernelRows, const Iteration& at) {
    for (std::size_t i = 0; i < found_.operands.size(); ++i) {
      if (nest_.stays(i) || (isAddend(nest_.op(), i) && !nest_.last(at))) continue;
      Longest::Operand& operand = found_.operands[i];
      N sweeps = 0, rows = 0;
      forEachSweep(calls, [&](std::span<const RowCall> sweep) {
        const N ofSweep = addSweep(i, sweep, kernelRows, operand);
        rows += ofSweep;
        sweeps += ofSweep > 0;
      });
      operand.iteration = std::max(operand.iteration, rows);
      operand.sweeps = std::max(operand.sweeps, sweeps);
    }
    N ofSweep = 0;
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const N rows = nest_.rowsComputed(calls, k).count;
      if (k > 0 && calls[k].box != calls[k - 1].box) ofSweep = 0;
      ofSweep += rows;
      found_.rows = std::max(found_.rows, std::min(rows, nest_.kernelCallRows(at)));
      found_.ofASweep = std::max(found_.ofASweep, ofSweep);
      if (nest_.last(at)) found_.written = std::max(found_.written, calls[k].rows);
    }
  }

  // The calls of one box after another.
  template <class F>
  static void forEachSweep(std::span<const RowCall> calls, const F& f) {
    for (std::size_t first = 0, end = 0; first < calls.size(); first = end) {
      while (end < calls.size() && calls[end].box == calls[first].box) ++end;
      f(calls.subspan(first, end - first));
    }
  }

  // How many rows of an operand come in a sweep.
  N addSweep(std::size_t i, std::span<const RowCall> calls, const Interval& kernelRows,
             Longest::Operand& operand) const {
    Interval all;
    N before = 0;
    for (const RowCall& call : calls) {
      const Interval needed = nest_.rowsOf(i, call, kernelRows);
      if (needed.empty()) continue;
      operand.call = std::max(operand.call, needed.count);
      if (all.empty())
        all = {needed.first, 0};
      else
        operand.pitch = std::max(operand.pitch, needed.first - before);
      before = needed.first;
      operand.oneByOne = operand.oneByOne || needed.first > all.end();
      all.count = std::max(all.end(), needed.end()) - all.first;
    }
    operand.sweep = std::max(operand.sweep, all.count);
    return all.count;
  }

  LayerNest nest_;
  Longest found_;
};

// Whether rows that come together would hold up others, or records, of a wire that brings them: it
// is busy all the time, or nearly and the layer does not take long enough for the first of them to
// be made up for.
bool wouldHoldUp(const Mapping& mapping, const StepTerms& terms, Cycles busiest) {
  const N iterations = mapping.passes * std::ssize(mapping.parts);
  // Rows alone: each waits for as much whatever comes first, but for the last core's last sweep.
  if (mapping.weights.empty()) return iterations < kFewSweeps;
  const auto isMore = [&](Cycles busy, N hundredths) {
    return busy.raw() * 100 > busiest.raw() * hundredths;
  };
  return std::ranges::any_of(terms.wires, [&](const StepTerms::Wire& wire) {
    if (wire.inputs == Cycles()) return false;
    const Cycles both = wire.inputs + wire.weights;
    const bool mostlyRecords = wire.inputs.raw() * kMostlyRecords <= wire.weights.raw();
    return isMore(wire.inputs, kFullyBusy) ||
           (isMore(both, kFullyBusy) && (!mostlyRecords || mapping.weightSlots == 1)) ||
           (isMore(both, kNearlyBusy) && isMore(wire.inputs, kFirstRows * iterations));
  });
}

bool hasLaterIterations(const Mapping& mapping) {
  return mapping.passes > 1 || mapping.parts.size() > 1;
}

// Whether cores that wait for the first rows to come together catch up before the last, though a
// wire is that busy: a part of the reduction lies between them, each wire brings rows of one route
// alone and for twice as long as the cores compute, no second band begins anew, and the next record
// has a place while the one before is in use.
bool makeUpBetween(const Mapping& mapping, const StepTerms& terms, const StepTime& time) {
  if (mapping.parts.size() < 2 || mapping.passes * std::ssize(mapping.parts) < 3 ||
      mapping.bands > 1 || mapping.weightSlots < 2)
    return false;
  std::set<N> wires;
  for (const std::vector<Route>& routes : mapping.inputs)
    for (const Route& route : routes)
      for (const Lane& lane : route.lanes)
        if (!wires.insert(lane.wire).second) return false;
  const Cycles compute = time.busy[static_cast<std::size_t>(Resource::Compute)];
  return std::ranges::all_of(terms.wires, [&](const StepTerms::Wire& wire) {
    return wire.inputs == Cycles() || wire.inputs >= compute + compute;
  });
}

// How the sweeps of inner iterations are cut.
struct SweepCut {
  N calls = 1;             // or as many transfers
  bool longCalls = false;  // or transfers alone
  // Places more than for the rows of two calls, so that those of the next sweep come early.
  bool hasSpare = false;
};

// The next number of calls to cut a sweep into: of few each, then what makes them shorter.
N nextCalls(N whole, N calls) {
  if (calls < kFewCallsOfASweep) return calls + 1;
  return std::max(calls + 1, divideRoundUp(whole, std::max<N>(1, divideRoundUp(whole, calls) - 1)));
}

// Of an operand, how many rows come together where sweeps are cut so, and a ring in which those of
// one call wait while another computes. False where sweeps of several boxes would wait for each
// other, or a lock can't count so many rows.
bool growRing(const Longest::Operand& rows, N lanes, const SweepCut& cut, N mostWaiting,
              RingPlan& ring) {
  const bool whole = cut.calls == 1, longCalls = cut.longCalls;
  if (!whole && rows.sweeps > 1) return false;
  const N turn = std::max<N>(1, whole       ? rows.sweep
                                : longCalls ? rows.pitch
                                            : divideRoundUp(rows.sweep, cut.calls));
  // Pieces begin where calls do; where the lanes can't share each call's rows, each brings its own.
  const bool apart = !whole && longCalls && turn % lanes != 0;
  if (!rows.oneByOne) ring.together = apart ? turn : divideRoundUp(turn, lanes);
  const N atOnce = rows.oneByOne ? 1 : apart ? ring.together : ring.together * lanes;
  N least = 0;
  if (whole)
    least = 2 * (rows.sweeps > 1 ? rows.iteration + rows.sweeps * (atOnce - 1)
                                 : roundUpTo(rows.sweep, atOnce));
  else if (longCalls)
    least = roundUpTo(rows.call, atOnce) +
            std::max(roundUpTo(rows.call, atOnce), ring.together * lanes) +
            (cut.hasSpare ? atOnce : 0);
  else
    least = (divideRoundUp(rows.call - 1, atOnce) + 1) * atOnce + roundUpTo(rows.call, atOnce);
  const N before = ring.length;
  ring.length =
      std::max(ring.length / ring.together * ring.together, roundUpTo(least, ring.together));
  return ring.length <= std::max(mostWaiting, before);
}

// Calls of so many rows at most. Where a window at the end begins anew in each band, cores wait for
// the rows of one window, but not for those of several at once.
N innerCallRows(const Mapping& mapping, const CanonicalOp& op, N rows) {
  const FusedWindow* end = fusedWindowOf(op);
  if (end && mapping.bands > 1 && rows < 2 * end->window().strideY) return mapping.innerCallRows;
  return std::max(mapping.callRows, std::min(kMaxCallRows, rows));
}

// Behind the first iteration of a chunk and band (LayerNest::isLater, isInner) transfers and calls
// of as many rows as a core has room for twice, or of pairs; else the mapping as it is.
// `onlyBetween`: those of the last iteration come one by one.
Mapping withRowsTogether(const CanonicalGraph& graph, const Plan& plan, LayerId layer, N room,
                         N mostWaiting, bool inPairs, bool onlyBetween) {
  const Mapping& mapping = plan.layers[layer.at()];
  if (!hasLaterIterations(mapping)) return mapping;
  const CanonicalOp& op = graph.ops[layer.at()];
  // Where memtiles are short, single rows go where others have just been read, or to DDR.
  const bool writesRowByRow = mapping.parts.size() == 1 &&
                              (plan.homes[plan.views[op.output.at()].root.at()].empty() ||
                               std::ranges::count(plan.schedule, layer, &ScheduleStep::layer) > 1);
  const N whole = LongestOf(graph, plan, layer, mapping).found().ofASweep;
  const N pairs = divideRoundUp(whole, kRowsOfAPair), fewest = inPairs ? pairs : 1,
          most = inPairs ? pairs : std::max(pairs, kFewCallsOfASweep);
  std::optional<LongestOf> longest;
  N longestOf = -1;  // Mapping::innerCallRows that it is of
  for (N calls = fewest; calls <= most; calls = nextCalls(whole, calls)) {
    Mapping longer = mapping;
    if (hasInnerCalls(op, mapping) && !writesRowByRow)
      longer.innerCallRows = innerCallRows(mapping, op, divideRoundUp(whole, calls));
    if (std::exchange(longestOf, longer.innerCallRows) != longer.innerCallRows)
      longest.emplace(graph, plan, layer, longer);
    const Longest& found = longest->found();
    // Rows that windows share come early only with a place more.
    const SweepCut cut{calls, found.rows > mapping.callRows, fusedWindowOf(op) && !inPairs};
    bool fits = true;
    for (std::size_t i = 0; i < longer.rings.size() && fits; ++i) {
      N lanes = 1;
      for (const Route& route : mapping.inputs[i])
        lanes = std::max<N>(lanes, std::ssize(route.lanes));
      const Longest::Operand& rows = found.operands[i];
      fits = rows.sweep == 0 || growRing(rows, lanes, cut, mostWaiting, longer.rings[i]);
      longer.rings[i].onlyBetween = onlyBetween && longer.rings[i].together > 1;
    }
    if (found.written > mapping.callRows)
      longer.outputSlots = std::max(longer.outputSlots, 2 * found.written);
    if (!cut.longCalls) longer.innerCallRows = mapping.innerCallRows;
    if (fits && longer.coreBytes() <= room &&
        longer.outputSlots <= std::max(mostWaiting, mapping.outputSlots))
      return longer;
  }
  return mapping;
}

// Rows of an operand that come in one sweep, of the core and step with most.
N rowsOfASweep(const LayerNest& nest, const std::vector<Interval>& steps, std::size_t operand) {
  N most = 0;
  for (const Interval& of : steps) {
    for (const CoreShare* share : sharesThatDiffer(nest.mapping())) {
      N rows = 0;
      Interval ofBox;
      std::size_t box = 0;
      for (const RowCall& call : nest.calls(*share, of, Iteration())) {
        const Interval needed = nest.rowsOf(operand, call, nest.loadedKernelRows(Iteration()));
        if (needed.empty()) continue;
        if (ofBox.empty() || box != call.box) {
          rows += ofBox.count;
          ofBox = needed;
          box = call.box;
        }
        ofBox.count = std::max(ofBox.end(), needed.end()) - ofBox.first;
      }
      most = std::max(most, rows + ofBox.count);
    }
  }
  return most;
}

// Whether a mapping has several bands, for the first of which no core reads more rows of the first
// operand than that.
bool hasShortBands(const CanonicalGraph& graph, LayerId layer, const Mapping& mapping,
                   const std::vector<Interval>& steps) {
  return mapping.bands > 1 &&
         rowsOfASweep(LayerNest(graph, OpId(layer.at()), mapping), steps, 0) < kFewRowsOfABand;
}

// Places for rows of all operands alike, for as many as come in a sweep, and in the next if there
// is one; no more calls wait for rows than there are places, of which a lock counts `most`.
void lengthenRings(const CanonicalGraph& graph, LayerId layer, const std::vector<Interval>& steps,
                   N room, N most, Mapping& mapping) {
  room -= mapping.coreBytes();
  if (std::ranges::none_of(mapping.rings, [&](const RingPlan& ring) {
        return ring.rowBytes > 0 && ring.rowBytes <= room;
      }))
    return;
  const LayerNest nest(graph, OpId(layer.at()), mapping);
  const N sweeps = std::min<N>(2, std::ssize(nest.iterations()));
  std::vector<N> wanted;
  for (std::size_t i = 0; i < mapping.rings.size(); ++i) {
    const bool grows = !nest.stays(i) && mapping.rings[i].rowBytes > 0;
    const N all = grows ? sweeps * rowsOfASweep(nest, steps, i) : 0;
    wanted.push_back(std::max<N>(0, std::min(all, most) - mapping.rings[i].length));
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      RingPlan& ring = mapping.rings[i];
      if (wanted[i] < ring.together || ring.together * ring.rowBytes > room) continue;
      ring.length += ring.together;
      wanted[i] -= ring.together;
      room -= ring.together * ring.rowBytes;
      grew = true;
    }
  }
}

}  // namespace

std::vector<SpareWay> spareWays(const CanonicalGraph& graph, const Device& device, const Plan& plan,
                                LayerId layer, const StepTime& time, const StepTerms& terms) {
  const Mapping& mapping = plan.layers[layer.at()];
  std::vector<SpareWay> ways{{SpareUse::None, mapping}};
  if (mapping.inPlace()) return ways;
  const N all = device.core.operandMemory().raw(),
          room = mapping.coreBytes() * 2 <= all ? all / 2 : all,
          mostWaiting = device.limits.lockMaximum.value_or(INT64_MAX);
  std::vector<Interval> steps;
  for (const ScheduleStep& step : plan.schedule)
    if (step.layer == layer) steps.push_back(step.rows);
  const auto inLongerRings = [&](Mapping way) {
    lengthenRings(graph, layer, steps, room, mostWaiting, way);
    return way;
  };
  const bool holdUp = wouldHoldUp(mapping, terms, *std::ranges::max_element(time.busy)),
             inPairs = holdUp && !makeUpBetween(mapping, terms, time);
  const auto together = [&](N within) {
    if (inPairs && (mapping.parts.size() == 1 || hasShortBands(graph, layer, mapping, steps)))
      return mapping;
    return withRowsTogether(graph, plan, layer, within, mostWaiting, inPairs, holdUp && !inPairs);
  };
  const auto add = [&](SpareUse use, Mapping way) {
    if (way != ways.back().mapping) ways.push_back({use, std::move(way)});
  };
  add(SpareUse::Rings, inLongerRings(mapping));
  const Mapping beside = together(room);
  add(SpareUse::Together, inLongerRings(beside));
  if (room == all) return ways;
  if (Mapping alone = together(all); alone != beside) add(SpareUse::AllTogether, std::move(alone));
  return ways;
}

void useHalfForRows(const CanonicalGraph& graph, const Device& device, LayerId layer,
                    const Interval& rows, Mapping& mapping) {
  lengthenRings(graph, layer, {rows}, device.core.operandMemory().raw() / 2,
                device.limits.lockMaximum.value_or(INT64_MAX), mapping);
}

}  // namespace heddle
