// Chooses a plan. First version: the paper's dataflow.
//
//   W over columns, COUT over rows, H streamed, weights kept in the core (H over columns where W is
//   smaller than the mesh). Inputs go down the columns' wires, weights along the rows' wires.
//
// On a device with limits of locks or descriptors it gives up what takes too many: see
// docs/architecture.md.
//
// With 64 -> 256 channels on 4x4, blocksPerPass = 8: mesh row 1 computes blocks 8..15 in one pass.
// Source: paper 004, sections on subvolumes and on the mapping to the mesh.
#pragma once
#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/support/result.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Ensures: verify(plan, graph, device) is empty, and allocateMemory places it. Its program
//          keeps the device's limits where a plan was found that does; else it exceeds them least.
// Errors: PLAN001 a layer that no tiling brings into a core's memory (names what the smallest one
//         needs); PLAN002 a column or row of cores that no wire reaches whole, or that the memtile
//         it needs cannot feed; MEM001 a layer's streams alone do not fit a memtile.
Result<Plan> makePlan(const CanonicalGraph& graph, const Device& device);

}  // namespace heddle
