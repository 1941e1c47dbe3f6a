// Every quantized tensor of an ONNX graph, those included that no canonical tensor holds: what the
// host computes between its own quantize and dequantize, a Pad that its convolution has taken over,
// results that nothing reads, weights.
//
//   Softmax -> QuantizeLinear p_q -> DequantizeLinear -> probabilities      p_q: by runHost, from
//   the Softmax's input
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heddle/canon/canonicalize.h"
#include "heddle/driver/host_parts.h"
#include "heddle/graph/graph.h"
#include "heddle/support/result.h"

namespace heddle {

struct QuantizedTensors {
  NamedArrays arrays;  // by name, in the type and shape of the ONNX graph
  // Tensors that cannot be computed: an input of the model that is not given, or an operator
  // without a definition on the host, lies before them.
  std::vector<std::string> unknown;
};

// Every int8 or uint8 value of `model`, and every constant that an operator dequantizes (int32
// biases too). `values` is every tensor of canonical.graph in order Y, X, C; `modelInputs` are
// those inputs of the model that are given.
Result<QuantizedTensors> quantizedTensors(const Graph& model, const Canonicalized& canonical,
                                          std::span<const std::vector<std::int8_t>> values,
                                          const NamedArrays& modelInputs);

}  // namespace heddle
