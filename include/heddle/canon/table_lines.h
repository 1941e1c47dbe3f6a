// Tables that are lines: of a quantized BatchNorm, with a Relu behind it or not, each channel's 256
// entries are a * x + b, rounded and clamped. Three numbers and the clamp say as much.
#pragma once
#include <memory>
#include <optional>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// The line that has all 256 values of a table, bit for bit. None where there is none.
std::optional<TableLine> lineOf(const Table256& table);

// The graph with lines beside the tables of each channel, wherever all of an operator's are lines.
// Null where there are none.
std::shared_ptr<CanonicalGraph> findTableLines(const CanonicalGraph& graph);

}  // namespace heddle
