// Zeros as pruning leaves them: random graphs have empty blocks alone.
#pragma once
#include "heddle/canon/canonical_graph.h"
#include "random.h"

namespace heddle::property {

// Rows, columns, 8x8 blocks or whole convolutions at their zero point, each by chance; biases of
// zero rows often at the zero point of the output. Channels of constant activations of one value.
CanonicalGraph withRandomZeros(CanonicalGraph graph, Random& random);

}  // namespace heddle::property
