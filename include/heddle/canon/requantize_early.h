// A Concat whose operands have other scales than it has copies them all, to requantize them on the
// way. Those that are written for it alone by convolutions, Tables or Resizes are requantized by
// these instead: then it shows what lies there already, and nothing is copied.
//
//   %1 = Conv   %2 = Conv   %3 = Concat(%1 table, %2 table)
//     ->  %1 = Conv   %4 = Table(%1)   %2 = Conv   %5 = Table(%2)   %3 = Concat(%4, %5)
#pragma once
#include <memory>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// The graph with a Table for each operand that such a Concat requantizes: one that a convolution
// computes, for it alone, gets it at its end (canon/fuse_operators.h), one of a Table or of what
// makes more rows or columns becomes theirs, and the tensor between the two is gone. What others
// write, or read as well, has a Table that stays a layer. A Concat stays as it is where it has
// fewer than 32 pixels, where its operands do not fill whole blocks of channels, where less than 8
// KiB is spared for each operand that is copied still, and where it is an output of which others
// read an operand. Ids of tensors change. Null where there is nothing to move.
std::shared_ptr<CanonicalGraph> requantizeEarly(const CanonicalGraph& graph);

}  // namespace heddle
