// Random quantized ONNX models, from the operators of the standard down: QDQ and QOperator form,
// every operator that importOnnx knows, what exporters do to a file (constants as nodes, shape
// arithmetic, absent optional inputs, dangling nodes, any order of nodes). Made without a look at
// what canonicalize wants, so some models are refused.
//
//   Choices choices(42);
//   const onnx::ModelProto model = makeRandomModel(choices);
#pragma once
#include <onnx/onnx_pb.h>

#include "choices.h"

namespace heddle::property {

// `asRuntime`: without what ONNX Runtime has another mind about (docs/numbers.md), and without the
// scales between 2^-60 and 2^60 of the usual ones that one model in fifty has.
onnx::ModelProto makeRandomModel(Choices& choices, bool asRuntime = false);

// The same model with its nodes in another order, each still behind those that it reads.
onnx::ModelProto reordered(const onnx::ModelProto& model, std::uint64_t seed);

}  // namespace heddle::property
