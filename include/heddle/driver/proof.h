// The proof of a compilation: what the executed program left in every tensor, held against the
// reference interpreter.
#pragma once
#include <span>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/machine/machine.h"
#include "heddle/program/program.h"
#include "heddle/report/report.h"
#include "heddle/support/result.h"

namespace heddle {

struct Proof {
  Verification verification;
  Diagnostics faults;  // one for each tensor that differs, in the order of the layers, at most ten
};

// Compares the output of every operator, and the network's outputs in DDR. `expected` is every
// tensor of the graph in order Y, X, C, and `outputs[i]` what graph.outputs[i] is to be: that of
// the network before anything was taken out of it. Errors: VER001 a tensor differs (layer, core,
// memtile, address, first differing index).
Proof compareWithInterpreter(const CanonicalGraph& graph, const Program& program,
                             const SimulateResult& executed,
                             std::span<const std::vector<std::int8_t>> expected,
                             std::span<const std::vector<std::int8_t>> outputs,
                             std::int64_t frame = 0);

}  // namespace heddle
