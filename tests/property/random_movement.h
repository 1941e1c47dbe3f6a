// Random Assemble operators: one way of each kind of data movement that the canonical graph knows.
#pragma once
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "random.h"

namespace heddle::property {

// An operator to be, its operands being tensors of `shapes`; parts and operands correspond.
struct Movement {
  const char* name = "";
  Assemble assemble;
  std::vector<std::size_t> operands;  // index into the shapes given
  Shape output;
};

AxisMap identityMap(std::int64_t count);

// One operand: Slice, Pad, Resize nearest, broadcast, channel shuffle, DepthToSpace, SpaceToDepth.
Movement randomMovement(Random& random, const Shape& shape);

// Operands that agree on all extents but those along `axis` ('Y', 'X' or 'C'), one after the other.
Movement concatenation(const std::vector<Shape>& shapes, char axis);

}  // namespace heddle::property
