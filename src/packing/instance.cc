#include "instance.h"

#include <algorithm>
#include <numeric>

namespace heddle::packing {
namespace {

// Indices by first clique.
std::vector<std::int32_t> inTime(const Instance& instance) {
  std::vector<std::int32_t> order(instance.count());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return instance.spans[a].first < instance.spans[b].first;
  });
  return order;
}

void sumLive(Instance& instance) {
  std::vector<std::int64_t> change(static_cast<std::size_t>(instance.cliques) + 1);
  for (std::size_t i = 0; i < instance.count(); ++i) {
    change[instance.spans[i].first] += instance.sizes[i];
    change[instance.spans[i].end] -= instance.sizes[i];
  }
  instance.live.resize(instance.cliques);
  std::partial_sum(change.begin(), change.end() - 1, instance.live.begin());
}

}  // namespace

std::int64_t Instance::mostLive() const {
  return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
}

std::int64_t Instance::pairs() const {
  std::vector<std::int64_t> ends(static_cast<std::size_t>(cliques) + 1),
      begins(static_cast<std::size_t>(cliques) + 1);
  for (const Span& span : spans) {
    ++ends[span.end];
    ++begins[span.first];
  }
  std::int64_t open = 0, count = 0;
  for (std::int32_t c = 0; c < cliques && count <= kMostPairs; ++c) {
    open -= ends[c];
    for (std::int64_t k = 0; k < begins[c] && count <= kMostPairs; ++k) count += open++;
  }
  return std::min(count, kMostPairs + 1);
}

Instance describe(const std::vector<LiveBuffer>& buffers) {
  Instance instance;
  const std::size_t n = buffers.size();
  std::vector<std::int32_t> byLower(n);
  std::iota(byLower.begin(), byLower.end(), 0);
  std::vector<std::int32_t> byUpper = byLower;
  std::stable_sort(byLower.begin(), byLower.end(), [&](std::int32_t a, std::int32_t b) {
    return buffers[a].lower < buffers[b].lower;
  });
  std::stable_sort(byUpper.begin(), byUpper.end(), [&](std::int32_t a, std::int32_t b) {
    return buffers[a].upper < buffers[b].upper;
  });
  instance.spans.resize(n);
  bool grew = false;  // since the last end: a first end behind beginnings closes a clique
  std::size_t begun = 0;
  for (const std::int32_t ending : byUpper) {
    for (; begun < n && buffers[byLower[begun]].lower < buffers[ending].upper; ++begun) {
      instance.spans[byLower[begun]].first = instance.cliques;
      grew = true;
    }
    instance.cliques += grew ? 1 : 0;
    grew = false;
    instance.spans[ending].end = instance.cliques;
  }
  for (const LiveBuffer& buffer : buffers) instance.sizes.push_back(buffer.size);
  sumLive(instance);
  return instance;
}

std::vector<std::vector<std::int32_t>> independentParts(const Instance& instance) {
  std::vector<std::vector<std::int32_t>> parts;
  std::int32_t end = 0;
  for (const std::int32_t i : inTime(instance)) {
    if (instance.spans[i].first >= end) parts.emplace_back();
    parts.back().push_back(i);
    end = std::max(end, instance.spans[i].end);
  }
  for (std::vector<std::int32_t>& part : parts) std::sort(part.begin(), part.end());
  return parts;
}

Instance partOf(const Instance& instance, const std::vector<std::int32_t>& members) {
  Instance part;
  std::int32_t first = instance.cliques, end = 0;
  for (const std::int32_t i : members) {
    first = std::min(first, instance.spans[i].first);
    end = std::max(end, instance.spans[i].end);
  }
  part.cliques = end - first;
  for (const std::int32_t i : members) {
    part.sizes.push_back(instance.sizes[i]);
    part.spans.push_back({instance.spans[i].first - first, instance.spans[i].end - first});
  }
  sumLive(part);
  return part;
}

std::vector<std::vector<std::int32_t>> neighboursOf(const Instance& instance) {
  std::vector<std::vector<std::int32_t>> neighbours(instance.count());
  std::vector<std::int32_t> open;
  for (const std::int32_t i : inTime(instance)) {
    std::erase_if(open,
                  [&](std::int32_t k) { return instance.spans[k].end <= instance.spans[i].first; });
    for (const std::int32_t k : open) {
      neighbours[k].push_back(i);
      neighbours[i].push_back(k);
    }
    open.push_back(i);
  }
  return neighbours;
}

}  // namespace heddle::packing
