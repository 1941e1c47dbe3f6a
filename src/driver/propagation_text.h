// What inspect says of what follows from zeros in the weights.
#pragma once
#include <string>

#include "heddle/canon/canonical_graph.h"
#include "heddle/sparsity/propagate.h"
#include "heddle/support/json_writer.h"

namespace heddle {

// `graph` is the network before. Empty where no channel is constant or can be left out.
std::string propagationText(const CanonicalGraph& graph, const Propagated& found);
void propagationJson(const CanonicalGraph& graph, const Propagated& found,
                     JsonWriter& json);  // an object's entries

}  // namespace heddle
