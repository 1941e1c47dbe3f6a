// What the device allows at best, from the network alone: unpadded weights and tensors, no biases,
// no spills.
//
//   ResNet-50 on 4x4 of paper.yaml: computeSeconds 0.998 ms, ddrReadSeconds 0.802 ms, ...,
//   layerBoundSeconds 1.842 ms, paperBoundSeconds 2.883 ms
//
// Source: docs/report.md.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"

namespace heddle {

// Work of one layer, as the network asks for it. Weights and MACs are those of the blocks that the
// layer keeps; dense: of all.
struct LayerNeeds {
  // inputBytes: of a tensor that is several operands each once; of a movement what it takes.
  std::int64_t macs = 0, weightBytes = 0, inputBytes = 0, outputBytes = 0;
  std::int64_t denseMacs = 0, denseWeightBytes = 0;
  std::int64_t blockMacs = 0;  // macs, channels that fill a block up to eight included
  bool free = false;           // Concat, Split or Slice that can be in place: needs nothing
  // Of macs and weightBytes, those of a depth-wise convolution: by itself or at another's end.
  std::int64_t depthwiseMacs = 0, depthwiseWeightBytes = 0;
  friend bool operator==(const LayerNeeds&, const LayerNeeds&) = default;
};
LayerNeeds layerNeeds(const CanonicalGraph& graph, const CanonicalOp& op);

// Elements of an operand that an operator reads: of one that it moves what it takes.
std::int64_t elementsRead(const CanonicalGraph& graph, const CanonicalOp& op, std::size_t operand);
// Of each tensor that is an operand, or several: each element once.
std::map<TensorId, std::int64_t> elementsRead(const CanonicalGraph& graph, const CanonicalOp& op);

struct Bounds {
  double computeSeconds = 0;        // needed MACs at the rate of their kernels, all cores busy
  double ddrReadSeconds = 0;        // weights and network inputs that a layer reads once, over all
                                    // read channels
  double ddrWriteSeconds = 0;       // network outputs once, over all write channels
  double memtileToCoreSeconds = 0;  // each layer's weights and inputs once, over all wires; of a
                                    // convolution with a fused Add those of both, but for an input
                                    // that is one of both
  double coreToMemtileSeconds = 0;  // each layer's output once, over all cores' sending channels
  double lowerBoundSeconds = 0;     // the largest of these: nothing is fused
  // Whatever is fused: compute, weights and the network's own inputs and outputs, each once.
  double fusedLowerBoundSeconds = 0;
  double layerBoundSeconds = 0;  // sum of layerSeconds, and never below what DDR needs in all
  // The same with the streams on the wires that the paper gives them; layerBoundSeconds where wires
  // are not of its two kinds.
  double paperBoundSeconds = 0;
  std::vector<double> layerSeconds;  // per operator: its largest resource, any wire for any stream
  // Of the mappings that the planner weighed the best for each layer alone: sum over layers, and
  // never below what DDR needs in all; none where it weighed none.
  std::optional<double> mappingBoundSeconds;
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

// The paper's: where some wires reach exactly one column and all others exactly one row, inputs
// take the former and weights the latter, and weights half of the DDR channels.
Bounds computeBounds(const CanonicalGraph& graph, const Device& device);

}  // namespace heddle
