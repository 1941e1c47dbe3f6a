// Convolutions that read one tensor alike become one, so that its rows reach the cores once for all
// of them.
//
//   %1 = Conv(%0) 1x1 -> 64          %8 = Conv(%0) 1x1 -> 112, of %2's weights and then %1's
//   %2 = Conv(%0) 1x1 -> 48          %2, %1 = Split(%8)
//   %3 = Conv(%2) 5x5 -> 64    ->    %3 = Conv(%2) 5x5 -> 64
//   %4 = Concat(%1, %3)              %9 = Concat(%8, %3)
//                                    %4 = Split(%9) channels 48 to 175
#pragma once
#include <memory>
#include <set>
#include <string>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// The graph with every two or more convolutions joined that have the same operand, window, clamp
// and zero point of the output, do nothing first or at their ends, and write whole blocks of
// channels which are no output of the network. The joined one stands where the first did, named
// after all of them, with their channels in this order; each one's tensor is a Split of it, for
// which whole blocks need no instruction. What else moves such a tensor would have to copy it, but
// for a Concat: of all that one begins with, one is joined as the last, and the Concat goes on from
// there. Ids of tensors stay, those of joined ones come behind. Outputs have the same values, bit
// for bit. Null where there is nothing to join.
std::shared_ptr<const CanonicalGraph> joinSiblings(const CanonicalGraph& graph);

// The same of a graph that fuseOperators() takes first, but for the Tables behind convolutions that
// can be joined without them: those stay layers of their own, as does what is named in `apart`.
std::shared_ptr<const CanonicalGraph> fuseAndJoin(const CanonicalGraph& graph,
                                                  std::set<std::string> apart = {});

}  // namespace heddle
