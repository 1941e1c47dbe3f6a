#include "batches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "heddle/device/keys.h"

namespace heddle {
namespace {

using MeshFigures = std::pair<std::optional<double>, std::optional<double>>;

MeshFigures meshOf(const Task& task) {
  return {numberIn(task.point.values, "rows"), numberIn(task.point.values, "cols")};
}

// Which network, and what makes a program of it another one.
using WhatCounts = std::pair<std::size_t, std::vector<std::optional<double>>>;

WhatCounts whatCountsOf(const Task& task) {
  WhatCounts what{task.network, {}};
  for (const DeviceNumber& one : task.point.numbers)
    if (!saysOnlyTimes(one.key)) what.second.push_back(one.number);
  return what;
}

void addInPieces(const std::vector<std::size_t>& tasks, std::size_t longest,
                 std::vector<Batch>& batches) {
  for (std::size_t first = 0; first < tasks.size(); first += longest) {
    const auto begin = tasks.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(longest, tasks.size() - first));
    batches.push_back({.tasks = {begin, end}, .shared = tasks.size() > 1});
  }
}

}  // namespace

std::vector<Batch> batchesOf(const std::vector<Task>& tasks, const std::vector<std::size_t>& toDo,
                             std::size_t longest) {
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < toDo.size();) {
    const MeshFigures mesh = meshOf(tasks[toDo[i]]);
    std::map<WhatCounts, std::size_t> known;
    std::vector<std::vector<std::size_t>> groups;
    for (; i < toDo.size() && meshOf(tasks[toDo[i]]) == mesh; ++i) {
      const Task& task = tasks[toDo[i]];
      const auto [at, fresh] = known.try_emplace(whatCountsOf(task), groups.size());
      if (fresh) groups.emplace_back();
      groups[at->second].push_back(toDo[i]);
    }
    for (const std::vector<std::size_t>& group : groups) addInPieces(group, longest, batches);
  }
  return batches;
}

std::vector<Batch> oneByOne(const std::vector<Batch>& batches) {
  std::vector<Batch> single;
  for (const Batch& batch : batches)
    for (const std::size_t task : batch.tasks)
      single.push_back({.tasks = {task}, .shared = batch.shared});
  std::ranges::sort(single, {}, [](const Batch& batch) { return batch.tasks.front(); });
  return single;
}

}  // namespace heddle
