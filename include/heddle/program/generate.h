// Plan + MemoryPlan -> Program: every transfer and kernel call of the network, lock-chained.
//
// The generator tells all instructions in one sequential order that computes the network, with the
// memory that each touches. Locks are derived from that order (src/program/sync.h), loops and SPMD
// lines from its repetitions (src/program/roll.h). docs/architecture.md says why.
#pragma once
#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/memory/allocate.h"
#include "heddle/program/program.h"
#include "heddle/support/result.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct GeneratedProgram {
  Program program;  // without the sha256 fields: the driver knows the files
  WeightImage weights;
};

// Needs: plan and memory pass their verify.
Result<GeneratedProgram> generateProgram(const CanonicalGraph& graph, const Plan& plan,
                                         const MemoryPlan& memory, const Device& device);

}  // namespace heddle
