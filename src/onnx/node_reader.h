// One NodeProto while it is turned into a Node: typed attributes, constant inputs, and which
// attributes nobody asked for.
#pragma once
#include <onnx/onnx_pb.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "heddle/graph/graph.h"
#include "heddle/graph/infer.h"
#include "limits.h"
#include "tensor_reader.h"

namespace heddle::onnx_import {

class NodeReader {
 public:
  NodeReader(const Graph& graph, const onnx::NodeProto& proto, std::int64_t opset,
             std::vector<ValueId> inputs)
      : graph_(graph), proto_(proto), opset_(opset), inputs_(std::move(inputs)) {}

  const Graph& graph() const { return graph_; }
  const onnx::NodeProto& proto() const { return proto_; }
  std::int64_t opset() const { return opset_; }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  bool has(std::size_t input) const { return input < inputs_.size() && inputs_[input].valid(); }
  const Value& input(std::size_t i) const;  // throws Fault where it is missing

  // Attributes: throw Fault where the type or range is wrong.
  const onnx::AttributeProto* attribute(const char* name, onnx::AttributeProto::AttributeType type);
  bool hasAttribute(const char* name) const;
  std::int64_t integer(const char* name, std::int64_t otherwise);
  bool flag(const char* name, bool otherwise) { return integer(name, otherwise ? 1 : 0) != 0; }
  float real(const char* name, float otherwise);
  std::string text(const char* name, const std::string& otherwise);
  std::optional<Dims> integers(const char* name);
  // `size` extents within [low, 2^31], or that many times `otherwise`.
  Dims extents(const char* name, std::size_t size, std::int64_t otherwise, std::int64_t low);
  void ignore(const char* name) { seen_.insert(name); }
  // Throws Fault naming the attributes that nobody asked for.
  void refuseUnread() const;

  // Inputs that must be constants: absent where the input is.
  std::optional<Dims> constantIntegers(std::size_t input, const char* what) const;
  std::optional<double> constantScalar(std::size_t input, const char* what) const;
  std::optional<std::vector<double>> constantReals(std::size_t input, const char* what) const;

  // An axis within [-rank, rank) made non-negative.
  static std::int64_t axis(std::int64_t axis, std::size_t rank);

 private:
  const Value& constantInput(std::size_t input, const char* what) const;

  const Graph& graph_;
  const onnx::NodeProto& proto_;
  std::int64_t opset_;
  std::vector<ValueId> inputs_;
  std::set<std::string> seen_;
};

// What an operator of the file means: the kind, attributes, remaining data inputs and the outputs'
// types.
struct Converted {
  NodeKind kind = NodeKind::Identity;
  NodeAttributes attributes;
  std::vector<ValueId> inputs;
  std::vector<ValueType> outputs;
  std::optional<std::string> constant;  // bytes of the only output: Constant, Shape
};

// True where convert knows the operator.
bool isSupported(const std::string& domain, const std::string& opType);
// Throws Fault or InferenceFault.
Converted convert(NodeReader& node, const std::string& domain);

}  // namespace heddle::onnx_import
