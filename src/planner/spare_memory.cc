#include "spare_memory.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/limits.h"
#include "heddle/tiling/nest.h"

namespace heddle {
namespace {

using N = std::int64_t;

// Hundredths of what the layer's busiest engine is busy for, above which a wire of rows cannot make
// up for their coming together.
constexpr N kFullyBusy = 97;

// One of each that compute the same pixels.
std::vector<const CoreShare*> sharesThatDiffer(const Mapping& mapping) {
  std::vector<const CoreShare*> some;
  for (const CoreShare& share : mapping.shares)
    if (std::ranges::none_of(some,
                             [&](const CoreShare* other) { return other->boxes == share.boxes; }))
      some.push_back(&share);
  return some;
}

// What the longest of the inner calls computes and needs.
struct Longest {
  N rows = 0;
  std::vector<N> operands;  // rows of each that comes for them: what is added does not
};

Longest longestOf(const CanonicalGraph& graph, const Plan& plan, LayerId layer,
                  const Mapping& mapping) {
  const LayerNest nest(graph, OpId(layer.at()), mapping);
  Longest longest{0, std::vector<N>(nest.op().inputs.size())};
  for (const ScheduleStep& step : plan.schedule) {
    if (step.layer != layer) continue;
    for (const CoreShare* share : sharesThatDiffer(mapping)) {
      std::set<std::tuple<N, N, N>> alike;
      for (const Iteration& at : nest.iterations()) {
        const Interval kernelRows = nest.loadedKernelRows(at);
        if (!nest.isInner(at) ||
            !alike.insert({nest.inputKey(at), kernelRows.first, kernelRows.count}).second)
          continue;
        for (const RowCall& call : nest.calls(*share, step.rows, at)) {
          longest.rows = std::max(longest.rows, call.rows);
          for (std::size_t i = 0; i < longest.operands.size(); ++i)
            if (!isAddend(nest.op(), i) && !nest.stays(i))
              longest.operands[i] =
                  std::max(longest.operands[i], nest.rowsOf(i, call, kernelRows).count);
        }
      }
    }
  }
  return longest;
}

bool someWireBringsBoth(const Mapping& mapping) {
  std::set<N> rows;
  for (const std::vector<Route>& routes : mapping.inputs)
    for (const Route& route : routes)
      for (const Lane& lane : route.lanes) rows.insert(lane.wire);
  return std::ranges::any_of(mapping.weights, [&](const Route& route) {
    return std::ranges::any_of(route.lanes,
                               [&](const Lane& lane) { return rows.contains(lane.wire); });
  });
}

// Whether rows that come together would hold up records that a wire brings with them. A record that
// has a place of its own in the core comes ahead of its sweep: then only a wire that is busy with
// either all the time falls behind.
bool aWireIsFullyBusy(const Mapping& mapping, N rows, N records, N busiest) {
  const auto isFull = [&](N busy) { return busy * 100 > busiest * kFullyBusy; };
  if (isFull(rows)) return true;
  if (!someWireBringsBoth(mapping)) return false;
  return isFull(mapping.weightSlots == 1 ? rows + records : records);
}

// Whether pixels are cut by columns or by rows alone, over some cores. Where each core has all of
// them, or a rectangle, records and rows come by so many ways that they wait for each other more
// when rows come together.
bool isCutOneWay(const Mapping& mapping) {
  const PixelBox& first = mapping.shares[0].boxes[0];
  bool sameRows = true, sameColumns = true;
  for (const CoreShare& share : mapping.shares) {
    if (share.boxes.size() > 1) return false;
    sameRows = sameRows && share.boxes[0].y == first.y;
    sameColumns = sameColumns && share.boxes[0].x == first.x;
  }
  return sameRows != sameColumns;
}

// Calls in inner iterations (LayerNest::isInner) as long as these sweeps, if a core has room for
// the rows of two of them; else the mapping as it is.
Mapping withLongInnerCalls(const CanonicalGraph& graph, const Plan& plan, LayerId layer,
                           const StepTime& time, N room) {
  const Mapping& mapping = plan.layers[layer.at()];
  if (mapping.parts.size() < 2 || callsOneRow(graph.ops[layer.at()]) || !isCutOneWay(mapping))
    return mapping;
  const N busiest = std::ranges::max_element(time.busy)->raw();
  const auto busy = [&](Resource resource) {
    return time.busy[static_cast<std::size_t>(resource)].raw();
  };
  if (aWireIsFullyBusy(mapping, busy(Resource::InputWire), busy(Resource::WeightsWire), busiest))
    return mapping;
  Mapping longer = mapping;
  longer.innerCallRows = kMaxCallRows;
  const Longest longest = longestOf(graph, plan, layer, longer);
  if (longest.rows <= mapping.callRows) return mapping;
  longer.innerCallRows = longest.rows;
  for (std::size_t i = 0; i < longer.rings.size(); ++i)
    longer.rings[i].length = std::max(longer.rings[i].length, 2 * longest.operands[i]);
  return longer.coreBytes() <= room ? longer : mapping;
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
      if (wanted[i] == 0 || ring.rowBytes > room) continue;
      ++ring.length;
      --wanted[i];
      room -= ring.rowBytes;
      grew = true;
    }
  }
}

}  // namespace

std::optional<Mapping> withSpareMemory(const CanonicalGraph& graph, const Device& device,
                                       const Plan& plan, LayerId layer, const StepTime& time) {
  const Mapping& mapping = plan.layers[layer.at()];
  if (mapping.inPlace()) return std::nullopt;
  const N capacity = device.core.operandMemory().raw();
  const N room = mapping.coreBytes() * 2 <= capacity ? capacity / 2 : capacity;
  Mapping better = withLongInnerCalls(graph, plan, layer, time, room);
  std::vector<Interval> steps;
  for (const ScheduleStep& step : plan.schedule)
    if (step.layer == layer) steps.push_back(step.rows);
  lengthenRings(graph, layer, steps, room, device.limits.lockMaximum.value_or(INT64_MAX), better);
  return better == mapping ? std::nullopt : std::optional(std::move(better));
}

void useHalfForRows(const CanonicalGraph& graph, const Device& device, LayerId layer,
                    const Interval& rows, Mapping& mapping) {
  lengthenRings(graph, layer, {rows}, device.core.operandMemory().raw() / 2,
                device.limits.lockMaximum.value_or(INT64_MAX), mapping);
}

}  // namespace heddle
