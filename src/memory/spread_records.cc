#include "spread_records.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace heddle {
namespace {

struct Stretch {  // of a memtile: bytes [first, end)
  std::int64_t first = 0, end = 0;
  bool meets(const Stretch& o) const { return first < o.end && o.first < end; }
  bool holds(const Stretch& o) const { return first <= o.first && o.end <= end; }
};

// What a step's records may take: above its homes, below its rows.
Stretch roomOf(const MemoryPlan& memory, std::size_t step, const Device& device) {
  Stretch room{INT64_MAX, 0};
  for (const StreamPlan& records : memory.steps[step].weights)
    room.first = std::min(room.first, records.address);
  room.end = room.first + stagingOf(memory, step, device);
  return room;
}

}  // namespace

void spreadRecords(const Plan& plan, const Device& device, MemoryPlan& memory) {
  std::vector<std::size_t> steps;  // those with records
  for (std::size_t s = 0; s < memory.steps.size(); ++s)
    if (!memory.steps[s].weights.empty()) steps.push_back(s);
  std::vector<Stretch> rooms;
  for (const std::size_t s : steps) rooms.push_back(roomOf(memory, s, device));
  Stretch before;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Mapping& m = plan.layers[plan.schedule[steps[i]].layer.at()];
    std::vector<StreamPlan>& weights = memory.steps[steps[i]].weights;
    const std::int64_t ofRoute = weights[0].slots * weights[0].slotBytes;
    const std::int64_t bytes = mostRoutesOfAMemtile(m.weights) * ofRoute;
    // Rows of the next step come while this one's records do.
    const std::int64_t belowRows =
        i + 1 < steps.size() ? std::min(rooms[i].end, rooms[i + 1].end) : rooms[i].end;
    Stretch at{rooms[i].first, rooms[i].first + bytes};
    for (const std::int64_t end : {belowRows, before.first, rooms[i].end}) {
      const Stretch higher{end - bytes, end};
      if (!rooms[i].holds(higher) || higher.meets(before)) continue;
      at = higher;
      break;
    }
    for (std::size_t r = 0; r < weights.size(); ++r)
      weights[r].address = at.first + weightRank(m, r) * ofRoute;
    before = at;
  }
}

}  // namespace heddle
