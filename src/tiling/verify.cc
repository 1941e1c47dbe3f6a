#include <map>
#include <sstream>

#include "heddle/tiling/geometry.h"
#include "heddle/tiling/layer_plan.h"

namespace heddle {
namespace {

// Re-checks one layer the slow way: counts how often every output pixel and channel block is
// computed.
class LayerCheck {
 public:
  LayerCheck(const CanonicalGraph& graph, std::size_t layer, const LayerTiling& tiling,
             const Device& device)
      : op_(graph.ops[layer]), graph_(graph), tiling_(tiling), device_(device) {}

  Diagnostics run() {
    const Shape& shape = graph_.tensors[op_.output.at()].shape;
    std::vector<int> pixels(static_cast<std::size_t>(shape.height * shape.width));
    for (const OutputBox& box : tiling_.columns)
      for (std::int64_t chunk = 0; chunk < tiling_.chunks; ++chunk)
        for (std::int64_t band = 0; band < tiling_.bands; ++band) {
          const Interval x = evenPart(box.x.count, tiling_.chunks, chunk),
                         y = evenPart(box.y.count, tiling_.bands, band);
          for (std::int64_t i = box.y.first + y.first; i < box.y.first + y.end(); ++i)
            for (std::int64_t j = box.x.first + x.first; j < box.x.first + x.end(); ++j)
              ++pixels[static_cast<std::size_t>(i * shape.width + j)];
        }
    once(pixels, "pixel");
    std::vector<int> blocks(static_cast<std::size_t>(blocksOf(shape)));
    for (std::int64_t row = 0; row < std::ssize(tiling_.rowBlocks); ++row)
      for (std::int64_t pass = 0; pass < tiling_.passes; ++pass) {
        const Interval b = tiling_.passBlocks(row, pass);
        for (std::int64_t i = b.first; i < b.end(); ++i) ++blocks[static_cast<std::size_t>(i)];
      }
    once(blocks, "channel block");
    reduction();
    memory();
    return std::move(faults_);
  }

 private:
  void fault(const std::string& summary, const std::string& what) {
    faults_.push_back({"PLAN003", graph_.name + ", node '" + op_.name + "'", summary, what,
                       "report this: the planner broke its promise", Severity::Bug});
  }

  void once(const std::vector<int>& times, const std::string& thing) {
    for (std::size_t i = 0; i < times.size(); ++i)
      if (times[i] != 1) {
        fault("an output " + thing + " is not computed exactly once",
              thing + " " + std::to_string(i) + " is computed " + std::to_string(times[i]) +
                  " times");
        return;
      }
  }

  void reduction() {
    const Window* window = windowOf(op_);
    std::map<std::pair<std::int64_t, std::int64_t>, int> times;
    const bool shared = sharesInput(op_);
    for (const ReductionPart& part : tiling_.parts)
      for (std::int64_t k = part.kernelRows.first; k < part.kernelRows.end(); ++k)
        for (std::int64_t b = part.inputBlocks.first;
             b < (shared ? part.inputBlocks.end() : part.inputBlocks.first + 1); ++b)
          ++times[{k, b}];
    const std::int64_t rows = window ? window->kernelY : 1;
    const std::int64_t blocks = shared ? blocksOf(graph_.tensors[op_.inputs[0].at()].shape) : 1;
    bool whole = std::ssize(times) == rows * blocks;
    for (const auto& [at, n] : times) whole = whole && n == 1;
    if (!whole)
      fault("the parts of the reduction are not the whole of it",
            std::to_string(times.size()) + " pairs of kernel row and input block instead of " +
                std::to_string(rows * blocks));
  }

  void memory() {
    std::int64_t bytes = tiling_.weightSlots * tiling_.weightBytes +
                         tiling_.outputSlots * tiling_.outputRowBytes + tiling_.accumulatorBytes;
    for (const RingPlan& ring : tiling_.rings) bytes += ring.length * ring.rowBytes;
    if (bytes != tiling_.coreBytes || bytes > device_.core.operandMemory().raw())
      fault("the buffers do not fit a core",
            std::to_string(bytes) + " B of " + std::to_string(device_.core.operandMemory().raw()) +
                " B, planned " + std::to_string(tiling_.coreBytes) + " B");
  }

  const CanonicalOp& op_;
  const CanonicalGraph& graph_;
  const LayerTiling& tiling_;
  const Device& device_;
  Diagnostics faults_;
};

}  // namespace

Diagnostics verify(const LayerPlan& plan, const CanonicalGraph& graph, const Device& device) {
  Diagnostics faults;
  for (std::size_t i = 0; i < plan.layers.size(); ++i)
    for (Diagnostic& fault : LayerCheck(graph, i, plan.layers[i], device).run())
      faults.push_back(std::move(fault));
  return faults;
}

}  // namespace heddle
