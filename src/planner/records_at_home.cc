#include "records_at_home.h"

#include <algorithm>

#include "heddle/memory/allocate.h"

namespace heddle {
namespace {

// How often each record of a layer comes to the cores in a frame.
std::int64_t timesThatRecordsCome(const Plan& plan, LayerId layer) {
  const Mapping& mapping = plan.layers[layer.at()];
  if (mapping.weights.empty()) return 0;
  return std::ranges::count(plan.schedule, layer, &ScheduleStep::layer) * recordsOf(mapping) /
         differentRecords(mapping);
}

// How many of each route fit so many bytes, and a lock counts beside those on their way.
std::int64_t mostAtHome(const Mapping& mapping, std::int64_t bytes, const Device& device) {
  const std::int64_t routes = mostRoutesOfAMemtile(mapping.weights);
  std::int64_t most = bytes / (routes * mapping.weightBytes);
  if (device.limits.lockMaximum)
    most = std::min(most, *device.limits.lockMaximum / routes - kMostStaged - 1);
  return std::clamp<std::int64_t>(most, 0, differentRecords(mapping));
}

}  // namespace

std::vector<bool> letRecordsStay(const CanonicalGraph& graph, const Device& device,
                                 const std::vector<bool>& asked, Plan& plan) {
  struct Layer {
    LayerId id;
    std::int64_t times = 0;
  };
  std::vector<Layer> layers;
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    plan.layers[l].recordsAtHome = 0;
    const std::int64_t times = timesThatRecordsCome(plan, LayerId(l));
    if (asked[l] && times > 1) layers.push_back({LayerId(l), times});
  }
  std::ranges::stable_sort(layers, std::ranges::greater(), &Layer::times);
  std::vector<bool> stay(plan.layers.size());
  if (layers.empty()) return stay;
  const RecordHomes homes(graph, plan, device);
  for (const Layer& layer : layers) {
    Mapping& mapping = plan.layers[layer.id.at()];
    // All, or as many as there is room for beside the others on their way.
    for (const std::int64_t most : {differentRecords(mapping), std::int64_t{0}}) {
      mapping.recordsAtHome = most;
      mapping.recordsAtHome = mostAtHome(mapping, homes.longestFor(layer.id), device);
      if (mapping.recordsAtHome >= most) break;
    }
    // Others that stay may come to lie elsewhere: they are placed in the order of layers.
    while (mapping.recordsAtHome > 0 && !homes.allFit()) mapping.recordsAtHome /= 2;
    stay[layer.id.at()] = mapping.recordsAtHome > 0;
  }
  return stay;
}

}  // namespace heddle
