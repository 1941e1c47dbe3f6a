// Small ONNX models for tests, node by node, in the words of the ONNX operators.
//
//   ModelBuilder m;
//   const std::string x = m.requantized(m.input("x", {1, 3, 8, 8}), 0.25F);
//   m.output(m.op("Relu", {x}));
//   Result<Graph> graph = m.import();
#pragma once
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "heddle/onnx/import.h"

namespace heddle {

class ModelBuilder {
 public:
  using Names = std::vector<std::string>;

  explicit ModelBuilder(std::int64_t opset = 13) {
    model_.set_ir_version(7);
    for (const auto& [domain, version] :
         {std::pair("", opset), std::pair("com.microsoft", std::int64_t{1})}) {
      auto* import = model_.add_opset_import();
      import->set_domain(domain);
      import->set_version(version);
    }
    model_.mutable_graph()->set_name("test");
  }

  onnx::ModelProto& model() { return model_; }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  std::string input(const std::string& name, const Dims& shape,
                    std::int32_t type = onnx::TensorProto::FLOAT) {
    describe(*graph().add_input(), name, shape, type);
    return name;
  }
  void output(const std::string& name) { graph().add_output()->set_name(name); }

  std::string floats(const Dims& shape, const std::vector<float>& values) {
    return add(shape, values, onnx::TensorProto::FLOAT);
  }
  std::string constant(const Dims& shape, const std::vector<float>& values) {
    return floats(shape, values);
  }
  std::string constant(const Dims& shape, const std::vector<std::int8_t>& values) {
    return add(shape, values, onnx::TensorProto::INT8);
  }
  std::string constant(const Dims& shape, const std::vector<std::uint8_t>& values) {
    return add(shape, values, onnx::TensorProto::UINT8);
  }
  std::string constant(const Dims& shape, const std::vector<std::int32_t>& values) {
    return add(shape, values, onnx::TensorProto::INT32);
  }
  std::string integers(const Dims& values) {
    return add({static_cast<std::int64_t>(values.size())}, values, onnx::TensorProto::INT64);
  }
  std::string integer(std::int64_t value) { return add({}, Dims{value}, onnx::TensorProto::INT64); }
  std::string scalar(float value) { return constant({}, std::vector<float>{value}); }
  std::string zero(std::int8_t value = 0) { return constant({}, std::vector<std::int8_t>{value}); }

  onnx::NodeProto& node(const std::string& type, const Names& inputs, int outputs = 1) {
    auto* made = graph().add_node();
    made->set_op_type(type);
    made->set_name(type + "_" + std::to_string(graph().node_size()));
    for (const std::string& name : inputs) made->add_input(name);
    for (int i = 0; i < outputs; ++i) made->add_output(fresh());
    return *made;
  }
  std::string op(const std::string& type, const Names& inputs) {
    return node(type, inputs).output(0);
  }
  std::string op(const std::string& type, const Names& inputs, const char* attribute,
                 const Dims& values) {
    auto& made = node(type, inputs);
    set(made, attribute, values);
    return made.output(0);
  }
  std::string op(const std::string& type, const Names& inputs, const char* attribute,
                 std::int64_t value) {
    auto& made = node(type, inputs);
    set(made, attribute, value);
    return made.output(0);
  }
  std::string microsoft(const std::string& type, const Names& inputs) {
    auto& made = node(type, inputs);
    made.set_domain("com.microsoft");
    return made.output(0);
  }

  static void set(onnx::NodeProto& node, const char* name, const Dims& values) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) attribute.add_ints(value);
  }
  static void set(onnx::NodeProto& node, const char* name, std::int64_t value) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  static void set(onnx::NodeProto& node, const char* name, float value) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(value);
  }
  static void set(onnx::NodeProto& node, const char* name, const char* value) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(value);
  }

  std::string quantized(const std::string& x, float scale, std::int8_t zeroPoint = 0) {
    return op("QuantizeLinear", {x, scalar(scale), zero(zeroPoint)});
  }
  std::string dequantized(const std::string& x, float scale, std::int8_t zeroPoint = 0) {
    return op("DequantizeLinear", {x, scalar(scale), zero(zeroPoint)});
  }
  std::string requantized(const std::string& x, float scale, std::int8_t zeroPoint = 0) {
    return dequantized(quantized(x, scale, zeroPoint), scale, zeroPoint);
  }
  // int8 weights behind a DequantizeLinear.
  std::string weights(const Dims& shape, const std::vector<std::int8_t>& values, float scale) {
    return dequantized(constant(shape, values), scale);
  }

  std::string bytes() const { return model_.SerializeAsString(); }
  Result<Graph> import(const ImportOptions& options = {}) const {
    return importOnnx(bytes(), "test.onnx", options);
  }

 private:
  std::string fresh() { return "v" + std::to_string(next_++); }

  static void describe(onnx::ValueInfoProto& info, const std::string& name, const Dims& shape,
                       std::int32_t type) {
    info.set_name(name);
    auto* tensor = info.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    for (const std::int64_t extent : shape) {
      auto* dim = tensor->mutable_shape()->add_dim();
      if (extent >= 0)
        dim->set_dim_value(extent);
      else
        dim->set_dim_param("batch");
    }
  }

  template <class T>
  std::string add(const Dims& shape, const std::vector<T>& values, std::int32_t type) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(fresh());
    tensor->set_data_type(type);
    for (const std::int64_t extent : shape) tensor->add_dims(extent);
    tensor->set_raw_data(values.data(), values.size() * sizeof(T));
    return tensor->name();
  }

  onnx::ModelProto model_;
  int next_ = 0;
};

}  // namespace heddle
