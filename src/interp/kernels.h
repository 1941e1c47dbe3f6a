// The operators of the canonical graph, one function each, and the view of an operand that they
// read.
#pragma once
#include <cstdint>
#include <span>

#include "heddle/canon/canonical_graph.h"
#include "heddle/interp/interpret.h"

namespace heddle::interp {

struct Operand {
  const CanonicalTensor& tensor;
  std::span<const std::int8_t> values;

  const Shape& shape() const { return tensor.shape; }
  int zero() const { return tensor.zeroPoint; }
  const std::int8_t* pixel(std::int64_t y, std::int64_t x) const {
    return values.data() + (y * shape().width + x) * shape().channels;
  }
  bool inside(std::int64_t y, std::int64_t x) const {
    return y >= 0 && y < shape().height && x >= 0 && x < shape().width;
  }
};

TensorValue evaluate(const Conv& op, const Operand& input, const CanonicalTensor& output);
TensorValue evaluate(const DepthwiseConv& op, const Operand& input, const CanonicalTensor& output);
TensorValue evaluate(const MaxPool& op, const Operand& input, const CanonicalTensor& output);
TensorValue evaluate(const AveragePool& op, const Operand& input, const CanonicalTensor& output);
TensorValue evaluate(const Add& op, const Operand& a, const Operand& b,
                     const CanonicalTensor& output);
TensorValue evaluate(const Mul& op, const Operand& a, const Operand& b,
                     const CanonicalTensor& output);
TensorValue evaluate(const Table& op, const Operand& input, const CanonicalTensor& output);
TensorValue evaluate(const Assemble& op, std::span<const Operand> inputs,
                     const CanonicalTensor& output);

}  // namespace heddle::interp
