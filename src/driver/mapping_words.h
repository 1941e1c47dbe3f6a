// A mapping in words, for people, and why what it moves is not what the layer needs.
#pragma once
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/report/explanation.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Needs: the mapping is not in place; `plan` is the one that it is of, or was to be of.
MappingWords wordsOf(const CanonicalGraph& graph, const CanonicalOp& op, const Mapping& mapping,
                     const Plan& plan, const Device& device);

// "adds 'x' at its end"; empty where nothing is fused.
std::string fusedWords(const CanonicalGraph& graph, const CanonicalOp& op);

// How often a mapping moves what its layer needs once, and why; each reason begins with its factor.
struct Repeats {
  std::int64_t times = 1;
  std::vector<std::string> why;
};
Repeats weightRepeats(const CanonicalGraph& graph, OpId op, const Mapping& mapping);
Repeats inputRepeats(const CanonicalGraph& graph, OpId op, const Mapping& mapping,
                     std::size_t operand);

// Of "column3": "column".
std::string kindOfWire(const Wire& wire);

}  // namespace heddle
