#include <algorithm>

#include "heddle/memory/allocate.h"
#include "heddle/tiling/geometry.h"

namespace heddle {
namespace {

// A stretch of one memtile that something owns during some layers.
struct Claim {
  std::string owner;
  std::int64_t memtile, first, end, from, to;  // bytes [first, end), layers [from, to]
};

Diagnostic fault(const CanonicalGraph& graph, const std::string& summary, const std::string& what) {
  return {"MEM002",     graph.name, summary, what, "report this: the allocator broke its promise",
          Severity::Bug};
}

std::vector<Claim> claims(const MemoryPlan& memory, const CanonicalGraph& graph,
                          const LayerPlan& plan, const Device& device) {
  std::vector<Claim> out;
  const std::int64_t last = std::ssize(graph.ops) - 1;
  for (std::size_t t = 0; t < memory.tensors.size(); ++t)
    for (const Slice& s : memory.tensors[t].slices)
      out.push_back({"tensor '" + graph.tensors[t].name + "'", s.memtile, s.address,
                     s.address + s.rows * s.columns * blocksOf(graph.tensors[t].shape) * kBlock,
                     memory.tensors[t].first, memory.tensors[t].last});
  for (std::int64_t c = 0; c < device.columns; ++c) {
    out.push_back({"the weights", c, memory.weightStaging, device.memtile.memory.raw(), 0, last});
    for (std::int64_t i = 0; i < std::ssize(memory.layers); ++i) {
      const LayerMemory& layer = memory.layers[static_cast<std::size_t>(i)];
      const std::string name =
          "the streams of '" + graph.ops[static_cast<std::size_t>(i)].name + "'";
      for (const StreamPlan& s : layer.inputs)
        out.push_back({name, c, s.address, s.address + s.slots * s.slotBytes, i, i});
      if (layer.output) {
        const std::int64_t rows = plan.layers[static_cast<std::size_t>(i)].activeRows();
        out.push_back({name, c, layer.output->address,
                       layer.output->address + layer.output->slots * layer.output->slotBytes * rows,
                       i, i});
      }
    }
  }
  std::erase_if(out, [](const Claim& c) { return c.first == c.end; });
  return out;
}

}  // namespace

Diagnostics verify(const MemoryPlan& memory, const CanonicalGraph& graph, const LayerPlan& plan,
                   const Device& device) {
  Diagnostics faults;
  std::vector<Claim> all = claims(memory, graph, plan, device);
  std::sort(all.begin(), all.end(), [](const Claim& a, const Claim& b) {
    return std::tie(a.memtile, a.first) < std::tie(b.memtile, b.first);
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Claim& a = all[i];
    if (a.first < 0 || a.end > device.memtile.memory.raw() || a.first % kBlock != 0)
      faults.push_back(fault(graph, a.owner + " lies outside its memtile",
                             "bytes " + std::to_string(a.first) + " to " + std::to_string(a.end)));
    for (std::size_t j = i + 1;
         j < all.size() && all[j].memtile == a.memtile && all[j].first < a.end; ++j)
      if (a.from <= all[j].to && all[j].from <= a.to)
        faults.push_back(fault(
            graph, a.owner + " and " + all[j].owner + " meet in time and in space",
            "memtile " + std::to_string(a.memtile) + " from byte " + std::to_string(all[j].first)));
  }
  for (std::size_t t = 0; t < memory.tensors.size(); ++t) {
    const TensorPlan& tensor = memory.tensors[t];
    if (tensor.root.at() != t || tensor.slices.empty()) continue;
    std::int64_t pixels = 0;
    for (const Slice& s : tensor.slices) pixels += s.rows * s.columns;
    const Shape& shape = graph.tensors[t].shape;
    if (pixels != shape.height * shape.width)
      faults.push_back(fault(
          graph, "the slices of tensor '" + graph.tensors[t].name + "' are not the whole of it",
          std::to_string(pixels) + " pixels of " + std::to_string(shape.height * shape.width)));
  }
  for (std::size_t i = 0; i < memory.layers.size(); ++i)
    if (!memory.layers[i].inPlace &&
        memory.layers[i].coreBase + plan.layers[i].coreBytes > device.core.operandMemory().raw())
      faults.push_back(fault(graph,
                             "the buffers of '" + graph.ops[i].name + "' lie outside core memory",
                             "base " + std::to_string(memory.layers[i].coreBase)));
  return faults;
}

}  // namespace heddle
