// Residual additions go to the end of the convolution before them: the sum is made where the
// convolution's output is, so that this never leaves the core.
//
//   %3 = Conv(%2)   %4 = Add(%3, %0)   ->   %3 = Conv(%2, %0) then add
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// The addition at the end of a convolution; null where there is none.
const FusedAdd* fusedAddOf(const CanonicalOp& op);
// Whether the operand is what a convolution adds at its end.
bool isAddend(const CanonicalOp& op, std::size_t operand);

// The graph with every Add fused of which one operand is the output of a Conv that nobody else
// reads; where both are, into the later one. The convolution keeps its name and moves to where the
// Add was; the tensor between the two is gone, so that ids of tensors change. Outputs have the same
// values, bit for bit. Null where there is nothing to fuse.
std::shared_ptr<const CanonicalGraph> fuseAdds(const CanonicalGraph& graph);

// Per tensor of the fused graph: which of `graph` it is.
std::vector<TensorId> tensorsBeforeFusion(const CanonicalGraph& fused, const CanonicalGraph& graph);

}  // namespace heddle
