#include "heddle/packing/verify.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heddle {
namespace {

std::string bytesOf(const LiveBuffer& buffer, std::int64_t offset) {
  return "bytes " + std::to_string(offset) + " and " + std::to_string(buffer.size) + " on";
}

}  // namespace

std::optional<std::string> findPackingFault(const std::vector<LiveBuffer>& buffers,
                                            const std::vector<std::int64_t>& offsets,
                                            std::int64_t capacity) {
  if (offsets.size() != buffers.size())
    return std::to_string(offsets.size()) + " offsets for " + std::to_string(buffers.size()) +
           " buffers";
  // What leaves at a time leaves before anything comes: [lower, upper).
  std::vector<std::tuple<std::int64_t, bool, std::size_t>> events;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (offsets[i] < 0 || offsets[i] > capacity || buffers[i].size > capacity - offsets[i])
      return "buffer " + std::to_string(i) +
             " lies outside the memory: " + bytesOf(buffers[i], offsets[i]) + " of " +
             std::to_string(capacity);
    if (buffers[i].size == 0) continue;
    events.emplace_back(buffers[i].lower, true, i);
    events.emplace_back(buffers[i].upper, false, i);
  }
  std::sort(events.begin(), events.end());
  std::map<std::int64_t, std::size_t> live;  // by offset; disjoint, so only neighbours can meet
  for (const auto& [time, comes, i] : events) {
    if (!comes) {
      live.erase(offsets[i]);
      continue;
    }
    const auto above = live.lower_bound(offsets[i]);
    std::optional<std::size_t> met;
    if (above != live.end() && above->first - offsets[i] < buffers[i].size) met = above->second;
    if (above != live.begin()) {
      const auto [offset, below] = *std::prev(above);
      if (offsets[i] - offset < buffers[below].size) met = below;
    }
    if (met)
      return "buffers " + std::to_string(std::min(i, *met)) + " and " +
             std::to_string(std::max(i, *met)) + " share bytes at time " + std::to_string(time) +
             ": " + bytesOf(buffers[*met], offsets[*met]) + "; " + bytesOf(buffers[i], offsets[i]);
    live.emplace(offsets[i], i);
  }
  return std::nullopt;
}

}  // namespace heddle
