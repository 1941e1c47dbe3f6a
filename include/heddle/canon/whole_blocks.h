// Concats that may lie in place: their operands' memory, one behind the other, is theirs.
#pragma once
#include <cstddef>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// Whether an operand of an Assemble goes, with all of its pixels and channels, to channels of the
// same pixels that begin with a block and end with one, or with the output's last channel. Whether
// it is requantized on the way is not asked.
bool fillsWholeBlocks(const CanonicalGraph& graph, const CanonicalOp& op, std::size_t operand);

}  // namespace heddle
