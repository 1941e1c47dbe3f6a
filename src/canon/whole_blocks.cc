#include "heddle/canon/whole_blocks.h"

#include <variant>

namespace heddle {

bool fillsWholeBlocks(const CanonicalGraph& graph, const CanonicalOp& op, std::size_t operand) {
  const AssemblePart& part = std::get<Assemble>(op.attributes).parts[operand];
  const Shape &in = graph.tensors[op.inputs[operand].at()].shape,
              &out = graph.tensors[op.output.at()].shape;
  const auto isWhole = [](const AxisMap& map, std::int64_t extent) {
    return map.size() == 1 && map[0] == AxisRun{.count = extent};
  };
  if (in.height != out.height || in.width != out.width || !isWhole(part.mapY, out.height) ||
      !isWhole(part.mapX, out.width) || part.mapC.size() != 1)
    return false;
  const AxisRun& channels = part.mapC[0];
  return channels == AxisRun{.to = channels.to, .count = in.channels} &&
         channels.to % kBlock == 0 &&
         (channels.count % kBlock == 0 || channels.to + channels.count == out.channels);
}

}  // namespace heddle
