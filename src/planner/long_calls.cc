#include "long_calls.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "heddle/canon/limits.h"
#include "heddle/tiling/nest.h"

namespace heddle {
namespace {

using N = std::int64_t;

// Hundredths of what the layer's busiest engine is busy for, above which a wire of rows cannot make
// up for their coming together.
constexpr N kFullyBusy = 97;

// What the longest of the inner calls computes and needs.
struct Longest {
  N rows = 0;
  std::vector<N> operands;  // rows of each that comes for them
};

Longest longestOf(const CanonicalGraph& graph, const Plan& plan, LayerId layer,
                  const Mapping& mapping) {
  const LayerNest nest(graph, OpId(layer.at()), mapping);
  Longest longest{0, std::vector<N>(nest.op().inputs.size())};
  for (const ScheduleStep& step : plan.schedule) {
    if (step.layer != layer) continue;
    std::vector<const std::vector<PixelBox>*> seen;
    for (const CoreShare& share : mapping.shares) {
      if (std::ranges::any_of(seen, [&](const auto* boxes) { return *boxes == share.boxes; }))
        continue;
      seen.push_back(&share.boxes);
      std::set<std::tuple<N, N, N>> alike;
      for (const Iteration& at : nest.iterations()) {
        const Interval kernelRows = nest.loadedKernelRows(at);
        if (!nest.isInner(at) ||
            !alike.insert({nest.inputKey(at), kernelRows.first, kernelRows.count}).second)
          continue;
        for (const RowCall& call : nest.calls(share, step.rows, at)) {
          longest.rows = std::max(longest.rows, call.rows);
          for (std::size_t i = 0; i < longest.operands.size(); ++i)
            if (nest.takesRows(share, i, at) && !nest.stays(i))
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

}  // namespace

std::optional<Mapping> withLongInnerCalls(const CanonicalGraph& graph, const Device& device,
                                          const Plan& plan, LayerId layer, const StepTime& time) {
  const Mapping& short_ = plan.layers[layer.at()];
  if (short_.parts.size() < 2 || callsOneRow(graph.ops[layer.at()]) || !isCutOneWay(short_))
    return std::nullopt;
  const N busiest = std::ranges::max_element(time.busy)->raw();
  const auto isFullyBusy = [&](Resource resource) {
    return time.busy[static_cast<std::size_t>(resource)].raw() * 100 > busiest * kFullyBusy;
  };
  if (isFullyBusy(Resource::InputWire) ||
      (isFullyBusy(Resource::WeightsWire) && someWireBringsBoth(short_)))
    return std::nullopt;
  const N capacity = device.core.operandMemory().raw();
  const N room = short_.coreBytes() * 2 <= capacity ? capacity / 2 : capacity;
  Mapping mapping = short_;
  mapping.innerCallRows = kMaxCallRows;
  const Longest longest = longestOf(graph, plan, layer, mapping);
  if (longest.rows <= mapping.callRows) return std::nullopt;
  mapping.innerCallRows = longest.rows;
  for (std::size_t i = 0; i < mapping.rings.size(); ++i)
    mapping.rings[i].length = std::max(mapping.rings[i].length, 2 * longest.operands[i]);
  if (mapping.coreBytes() > room) return std::nullopt;
  return mapping;
}

}  // namespace heddle
