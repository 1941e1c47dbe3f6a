#include "turn_memtiles.h"

#include <algorithm>
#include <vector>

namespace heddle {
namespace {

using N = std::int64_t;

bool anyMemtileFeeds(const std::vector<Route>& routes, const Device& device) {
  return std::ranges::all_of(routes, [&](const Route& route) {
    return std::ranges::all_of(route.lanes, [&](const Lane& lane) {
      return std::ssize(device.wires[static_cast<std::size_t>(lane.wire)].feeders) ==
             device.memtiles();
    });
  });
}

// Bytes of weights that each memtile brings in a step.
std::vector<N> loadsOf(const StepCounts& work, const Device& device) {
  std::vector<N> loads;
  for (std::size_t channel = 0; channel < work.ddrRead.size(); ++channel) {
    if (channel % static_cast<std::size_t>(device.memtile.ddrChannelsIn) == 0) loads.push_back(0);
    loads.back() += bytesOf(work.ddrRead[channel].weights).raw();
  }
  return loads;
}

}  // namespace

void turnMemtiles(const Device& device, const WorkCounter& count, Plan& plan) {
  const auto memtiles = static_cast<std::size_t>(device.memtiles());
  std::vector<N> before(
      memtiles);  // a step counts half as much as the next: records come no further ahead
  std::vector<std::size_t> turnOf(plan.layers.size(), memtiles);  // memtiles: not yet known
  for (std::size_t step = 0; step < plan.schedule.size(); ++step) {
    const std::size_t layer = plan.schedule[step].layer.at();
    Mapping& mapping = plan.layers[layer];
    if (mapping.weights.empty() || !anyMemtileFeeds(mapping.weights, device)) continue;
    const std::vector<N> loads = loadsOf(count.start(plan, step), device);
    const auto mostAfter = [&](std::size_t turn) {
      N most = 0;
      for (std::size_t m = 0; m < memtiles; ++m)
        most = std::max(most, before[(m + turn) % memtiles] + loads[m]);
      return most;
    };
    // Of a layer in several steps the first turns all.
    const bool first = turnOf[layer] == memtiles;
    std::size_t turn = 0;
    for (std::size_t other = 1; first && other < memtiles; ++other)
      if (mostAfter(other) < mostAfter(turn)) turn = other;
    for (std::size_t m = 0; m < memtiles; ++m) before[m] /= 2;
    for (std::size_t m = 0; m < memtiles; ++m) before[(m + turn) % memtiles] += loads[m];
    if (!first) continue;
    turnOf[layer] = turn;
    for (Route& route : mapping.weights)
      route.memtile = (route.memtile + static_cast<N>(turn)) % static_cast<N>(memtiles);
  }
}

}  // namespace heddle
