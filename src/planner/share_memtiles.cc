#include "share_memtiles.h"

#include <algorithm>
#include <numeric>
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

class Memtiles {
 public:
  explicit Memtiles(const Device& device)
      : loads_(static_cast<std::size_t>(device.memtiles())), routes_(loads_.size()) {}

  void share(std::vector<Route>& routes, const std::vector<Bytes>& bytes) {
    routes_.assign(loads_.size(), 0);
    std::vector<std::size_t> largestFirst(routes.size());
    std::iota(largestFirst.begin(), largestFirst.end(), std::size_t{0});
    std::ranges::stable_sort(largestFirst,
                             [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
    const N most = divideRoundUp(std::ssize(routes), std::ssize(loads_));
    for (const std::size_t r : largestFirst) {
      const std::size_t m = leastLoaded(most, static_cast<std::size_t>(routes[r].memtile));
      routes[r].memtile = static_cast<N>(m);
      ++routes_[m];
      loads_[m] += bytes[r].raw();
    }
  }
  void add(const std::vector<Route>& routes, const std::vector<Bytes>& bytes) {
    for (std::size_t r = 0; r < routes.size(); ++r)
      loads_[static_cast<std::size_t>(routes[r].memtile)] += bytes[r].raw();
  }
  // A step counts half as much as the next: records come no further ahead.
  void nextStep() {
    for (N& load : loads_) load /= 2;
  }

 private:
  // Of those that have room for a route, `preferred` where no other has less.
  std::size_t leastLoaded(N most, std::size_t preferred) const {
    std::size_t best = loads_.size();
    const auto look = [&](std::size_t m) {
      if (routes_[m] < most && (best == loads_.size() || loads_[m] < loads_[best])) best = m;
    };
    look(preferred);
    for (std::size_t m = 0; m < loads_.size(); ++m) look(m);
    return best;
  }

  std::vector<N> loads_, routes_;  // per memtile: bytes, and routes of this layer
};

}  // namespace

void shareMemtiles(const Device& device, const WorkCounter& count, Plan& plan) {
  Memtiles memtiles(device);
  std::vector<bool> done(plan.layers.size());
  for (std::size_t step = 0; step < plan.schedule.size(); ++step) {
    const std::size_t layer = plan.schedule[step].layer.at();
    std::vector<Route>& routes = plan.layers[layer].weights;
    if (routes.empty()) continue;
    const std::vector<Bytes> bytes = count.recordBytes(plan, step);
    memtiles.nextStep();
    if (done[layer] || !anyMemtileFeeds(routes, device))
      memtiles.add(routes, bytes);
    else
      memtiles.share(routes, bytes);
    done[layer] = true;
  }
}

}  // namespace heddle
