// One ONNX model through the whole road: read, made canonical, held against the host's operators in
// double precision, compiled, executed and held against the interpreter. Its nodes in another order
// must mean the same.
#pragma once
#include <onnx/onnx_pb.h>

#include <optional>
#include <string>

#include "heddle/device/device.h"
#include "heddle/graph/graph.h"

namespace heddle::property {

struct Verdict {
  std::optional<std::string> fault;  // what is wrong with heddle
  std::string refusal;               // else the code of the diagnostic that refuses the model
  std::string noRoom;                // else the code that says that the device is too small
  Graph graph;                       // as imported
  bool proved() const { return !fault && refusal.empty() && noRoom.empty(); }
};

Verdict proveModel(const onnx::ModelProto& model, const Device& device, std::uint64_t seed);

// One line for each node, with the shapes and types of what it writes.
std::string describe(const onnx::ModelProto& model);

}  // namespace heddle::property
