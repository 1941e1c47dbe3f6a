// What follows a convolution goes to its end, so that what lies between them never leaves the core:
// residual additions, and the pools that take the largest. An image that a convolution reads with a
// stride has its columns folded (canon/fold_columns.h).
//
//   %3 = Conv(%2)   %4 = Add(%3, %0)    ->   %3 = Conv(%2, %0) then add
//   %3 = Conv(%2)   %4 = MaxPool(%3)    ->   %4 = Conv(%2) then max pool of %3
#pragma once
#include <cstddef>
#include <memory>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// The addition at the end of a convolution; null where there is none.
const FusedAdd* fusedAddOf(const CanonicalOp& op);
// Whether the operand is what a convolution adds at its end.
bool isAddend(const CanonicalOp& op, std::size_t operand);
// The pool at the end of a convolution; null where there is none.
const FusedPool* fusedPoolOf(const CanonicalOp& op);
// What the operator's kernel writes before it pools: its output where it does not.
TensorId computedTensor(const CanonicalOp& op);

// The graph with every Add fused of which one operand is the output of a Conv that nobody else
// reads; where both are, into the later one. The convolution keeps its name and moves to where the
// Add was; the tensor between the two is gone. Likewise every MaxPool that alone reads the output
// of a Conv which adds nothing, has no dilation, and windows of at most 4 x 4 of which no more than
// half is the next one's; there the tensor between the two stays, as what is pooled. Not without
// `pools`, for a core holds more rows then. Ids of tensors change. Outputs have
// the same values, bit for bit. Null where there is nothing to fuse or fold.
std::shared_ptr<const CanonicalGraph> fuseOperators(const CanonicalGraph& graph, bool pools = true);

}  // namespace heddle
