// What every operator takes and makes: how many inputs and outputs, of which element types, and how
// many elements a parameter holds. Nothing behind the import checks it again.
//
//   PRelu: X, slope -> 1 output; slope broadcasts to X
//   QLinearConv: w_scale holds one element, or one for each output channel
//
// Source: ONNX Operators.md and ONNX Runtime's ContribOperators.md; where versions of the operator
// set differ, what any of them takes. A test holds the arity and the types against libonnx.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "node_reader.h"

namespace heddle::onnx_import {

// A set of element types.
struct TypeSet {
  unsigned bits = 0;
  bool contains(DataType type) const { return (bits >> static_cast<unsigned>(type) & 1U) != 0; }
};

// How many elements a parameter holds. `of` names the input that it belongs to.
enum class Size {
  Any,
  One,
  PerOutput,       // one for each index of axis 0 of `of`: the weights of a convolution
  OneOrPerOutput,  // or one for all
  PerChannel,      // one for each index of axis 1 of `of`
  OneOrPerAxis,    // one for all, or one for each index of the node's axis of `of`
  OneOrPerRow,     // one for all, or one for each row of the matrix `of`
  OneOrPerColumn,  // one for all, or one for each column of the matrix `of`
  AsMany,          // as many as `of`
  Broadcasts,      // to the shape of `of`
  BroadcastsToOutput,
};

struct Operand {
  const char* name;
  TypeSet types;
  Size size = Size::Any;
  std::size_t of = 0;
  std::optional<std::size_t> typeOf;  // the input whose element type it shares
  bool optional = false;
};

struct Signature {
  std::vector<Operand> inputs;
  // So many of the last inputs may come again (Concat 1, QLinearConcat 3); `of` and `typeOf` count
  // along.
  std::size_t repeated = 0;
  std::size_t mostOutputs = 1;
  bool namesFirstOutput = true;  // false: any of the outputs may go unused (Split)

  std::size_t leastInputs() const;
  std::optional<std::size_t> mostInputs() const;  // absent: any number
};

const Signature& signatureOf(NodeKind kind);

// Number, presence and types of inputs and outputs; before the attributes are read. Throws Fault.
void checkOperands(const NodeReader& node, NodeKind kind);

// Sizes of parameters and ranges of constant indices, once attributes and outputs are known. Throws
// Fault.
void checkSizes(const NodeReader& node, const Converted& converted);

}  // namespace heddle::onnx_import
