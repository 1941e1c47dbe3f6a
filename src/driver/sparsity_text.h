// What inspect says of the zeros in a network's weights.
#pragma once
#include <string>

#include "heddle/graph/graph.h"
#include "heddle/sparsity/sparse_graph.h"
#include "heddle/support/json_writer.h"

namespace heddle {

std::string sparsityText(const SparseGraph& sparse, bool hasMasks);
void sparsityJson(const SparseGraph& sparse, bool hasMasks,
                  JsonWriter& json);  // an array's entries

}  // namespace heddle
