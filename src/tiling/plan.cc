#include "heddle/tiling/plan.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <map>
#include <set>
#include <sstream>

namespace heddle {
namespace {

// Which axis the boxes cut: W where they differ in columns only, H in rows only.
std::string cutAxes(const std::vector<std::vector<PixelBox>>& pixels) {
  const auto same = [&](Interval PixelBox::*axis) {
    return std::all_of(pixels.begin(), pixels.end(), [&](const std::vector<PixelBox>& boxes) {
      return boxes[0].*axis == pixels[0][0].*axis;
    });
  };
  if (same(&PixelBox::y)) return "W";
  return same(&PixelBox::x) ? "H" : "HW";
}

// Whether some of the cores of a route compute rows of a step.
bool bringsRecords(const Mapping& mapping, const Route& route, const Interval& rows) {
  return std::ranges::any_of(route.cores, [&](const CoreAt& core) {
    const CoreShare* share = mapping.shareOf(core);
    return share != nullptr && std::ranges::any_of(share->boxes, [&](const PixelBox& box) {
             return !common(box.y, rows).empty();
           });
  });
}

}  // namespace

std::int64_t Mapping::coreBytes() const {
  std::int64_t bytes = weightSlots * weightBytes + outputSlots * outputRowBytes + accumulatorBytes +
                       pooled.length * pooled.rowBytes;
  for (const RingPlan& ring : rings) bytes += ring.length * ring.rowBytes;
  return bytes;
}

Interval Mapping::passBlocks(const CoreShare& share, std::int64_t pass) const {
  const std::int64_t first = pass * blocksPerPass;
  return {share.blocks.first + first,
          std::clamp<std::int64_t>(share.blocks.count - first, 0, blocksPerPass)};
}

const CoreShare* Mapping::shareOf(const CoreAt& core) const {
  const auto found = std::find_if(shares.begin(), shares.end(),
                                  [&](const CoreShare& share) { return share.core == core; });
  return found == shares.end() ? nullptr : &*found;
}

std::int64_t Mapping::extent(NestLoop loop) const {
  switch (loop) {
    case NestLoop::Pass:
      return passes;
    case NestLoop::Chunk:
      return chunks;
    case NestLoop::Band:
      return bands;
    case NestLoop::Part:
      return std::ssize(parts);
  }
  return 1;
}

std::int64_t pixelsOf(const std::vector<PixelBox>& boxes) {
  std::int64_t pixels = 0;
  for (const PixelBox& box : boxes) pixels += box.y.count * box.x.count;
  return pixels;
}

std::int64_t mostRoutesOfAMemtile(const std::vector<Route>& routes) {
  // Asked for each mapping that is tried: without memory from the heap for arrays of usual size.
  boost::container::small_vector<std::int64_t, 64> memtiles;
  for (const Route& route : routes) memtiles.push_back(route.memtile);
  if (!std::ranges::is_sorted(memtiles)) std::ranges::sort(memtiles);
  std::int64_t most = 0, same = 0;
  for (std::size_t r = 0; r < memtiles.size(); ++r) {
    same = r > 0 && memtiles[r] == memtiles[r - 1] ? same + 1 : 1;
    most = std::max(most, same);
  }
  return most;
}

std::int64_t recordsOf(const Mapping& mapping) {
  std::int64_t iterations = 1, records = 1;
  for (const NestLoop loop : mapping.order) {
    const std::int64_t extent = mapping.extent(loop);
    iterations *= extent;
    if ((loop == NestLoop::Pass || loop == NestLoop::Part) && extent > 1) records = iterations;
  }
  return records;
}

std::int64_t differentRecords(const Mapping& mapping) {
  return mapping.passes * std::ssize(mapping.parts);
}

bool isFirstToBring(const Plan& plan, std::size_t step, const Route& route) {
  const LayerId layer = plan.schedule[step].layer;
  const Mapping& mapping = plan.layers[layer.at()];
  return std::none_of(plan.schedule.begin(),
                      plan.schedule.begin() + static_cast<std::ptrdiff_t>(step),
                      [&](const ScheduleStep& before) {
                        return before.layer == layer && bringsRecords(mapping, route, before.rows);
                      });
}

std::int64_t stagingPerRoute(std::int64_t staging, const Mapping& mapping) {
  const std::int64_t parts = std::max<std::int64_t>(1, mostRoutesOfAMemtile(mapping.weights));
  return staging / parts / kBlock * kBlock;
}

bool isTiled(const Plan& plan, const CanonicalGraph& graph) {
  return plan.schedule.size() > graph.ops.size();
}

std::string splitText(const Mapping& m) {
  if (m.inPlace()) return "in place";
  std::vector<std::vector<PixelBox>> pixels;
  std::vector<Interval> blocks;
  for (const CoreShare& share : m.shares) {
    if (std::find(pixels.begin(), pixels.end(), share.boxes) == pixels.end())
      pixels.push_back(share.boxes);
    if (std::find(blocks.begin(), blocks.end(), share.blocks) == blocks.end())
      blocks.push_back(share.blocks);
  }
  std::ostringstream out;
  out << cutAxes(pixels) << "/" << pixels.size() << " x C/" << blocks.size() << ", " << m.passes
      << " pass";
  if (m.passes > 1) out << "es";
  if (m.chunks > 1) out << ", W cut in " << m.chunks;
  if (m.bands > 1) out << ", H cut in " << m.bands;
  if (m.parts.size() > 1) out << ", reduction cut in " << m.parts.size();
  if (m.resident) out << ", input resident";
  return out.str();
}

}  // namespace heddle
