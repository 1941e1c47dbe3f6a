// From the network as read to its integer meaning: the folding of quantize/dequantize pairs that
// defines what the network computes, and what stays in float on the host before and after.
//
//   QuantizeLinear DequantizeLinear Conv Relu QuantizeLinear ... Softmax
//     -> canonical Conv with clamp -128+zero.., hostAfter = {Softmax}
// | code     | when                                                                            |
// |----------|---------------------------------------------------------------------------------|
// | CANON001 | nodes cannot become integer operators; all of them in one diagnostic            |
// | CANON002 | a batch above 1 does not fold into rows                                         |
// | CANON003 | nothing in the network becomes an integer operator                              |
// | CANON004 | a scale, a zero point or what follows of them (a quotient, a bias) is not valid |
// | CANON005 | a tensor, a window, or all tensors, weights and tables together are too large   |
// | CANON006 | scales or zero points are not as many as their axis is long                     |
// | CANON010 | a canonical graph breaks a promise of canonical_graph.h                         |
#pragma once
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/canon/weights.h"
#include "heddle/graph/graph.h"
#include "heddle/support/result.h"

namespace heddle {

// The ports of `graph` bear the names of the values at the cut: graph inputs are outputs of
// hostBefore where that has any nodes (else of the model's own inputs); graph outputs are inputs of
// hostAfter, or of the model's own outputs.
struct Canonicalized {
  CanonicalGraph graph;
  Graph hostBefore, hostAfter;  // float operators; no nodes where the network needs none
  // Every int8 or uint8 tensor of the ONNX graph that exists in `graph`, for comparisons tensor by
  // tensor. Several may be one canonical tensor seen through different views.
  std::vector<Port> quantized;
  // Of each operator whose weights are a constant of the ONNX graph as it stands (not one that a
  // Transpose has moved first), in the order of the operators.
  std::vector<WeightOrigin> weights;
  friend bool operator==(const Canonicalized&, const Canonicalized&) = default;
};

Result<Canonicalized> canonicalize(const Graph& graph);

// Re-checks every promise of canonical_graph.h.
Diagnostics verify(const CanonicalGraph& graph);

}  // namespace heddle
