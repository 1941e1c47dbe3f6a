#include "heddle/onnx/rewrite.h"

#include <limits>
#include <set>

#include "limits.h"
#include "model_file.h"
#include "tensor_reader.h"

namespace heddle {
namespace onnx_import {
namespace {

using onnx::TensorProto;

Diagnostic notStored(const std::string& where, const std::string& name, const std::string& what) {
  return {.code = "ONNX011",
          .where = where + ", '" + name + "'",
          .summary = "the file does not store this constant as it is used",
          .what = what,
          .mend = "fold the model's constants first, or leave this layer as it is"};
}

class Rewriter {
 public:
  Rewriter(onnx::ModelProto& model, std::string where, const std::filesystem::path& folder,
           const std::map<std::string, NewConstant>& constants)
      : model_(model), where_(std::move(where)), tensors_(folder), constants_(constants) {}

  Result<void> run() {
    onnx::GraphProto& graph = *model_.mutable_graph();
    findRounded(graph);
    for (TensorProto& tensor : *graph.mutable_initializer()) {
      HEDDLE_DO(embed(tensor, tensor.name()));
      HEDDLE_DO(replace(tensor, tensor.name()));
    }
    for (onnx::NodeProto& node : *graph.mutable_node())
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        if (!attribute.has_t()) continue;
        const bool constant = node.op_type() == "Constant" && node.output_size() == 1;
        const std::string name = constant ? node.output(0) : node.name();
        HEDDLE_DO(embed(*attribute.mutable_t(), name));
        if (constant) HEDDLE_DO(replace(*attribute.mutable_t(), name));
      }
    for (const auto& [name, constant] : constants_)
      if (!found_.contains(name))
        return notStored(where_, name, "no initializer and no Constant node has this name");
    return {};
  }

 private:
  // External data lie relative to the model's folder, and the new file may be in another one.
  Result<void> embed(TensorProto& tensor, const std::string& name) {
    if (tensor.data_location() != TensorProto::EXTERNAL) return {};
    try {
      Tensor read = tensors_.read(tensor);
      tensor.clear_external_data();
      tensor.clear_data_location();
      tensor.set_raw_data(std::move(read.bytes));
    } catch (const Fault& fault) {
      return Diagnostic{.code = fault.code(),
                        .where = where_ + ", '" + name + "'",
                        .summary = "a tensor of the file cannot be read",
                        .what = fault.what(),
                        .mend = "put the file of the external data beside the model"};
    }
    return {};
  }

  // Constants that others read too stay as they are: those would change with them.
  void findRounded(const onnx::GraphProto& graph) {
    std::map<std::string, int> readers;
    for (const onnx::NodeProto& node : graph.node())
      for (const std::string& input : node.input()) ++readers[input];
    for (const onnx::NodeProto& node : graph.node())
      if (node.op_type() == "QuantizeLinear" && node.input_size() > 0 && node.output_size() == 1 &&
          constants_.contains(node.output(0)) && readers[node.input(0)] == 1)
        rounded_[node.input(0)] = node.output(0);
  }

  // Zero, quantized, is the zero point whatever the scale.
  Result<void> zeroReals(TensorProto& tensor, const std::string& made) {
    const std::vector<bool>& zero = constants_.at(made).zero;
    const bool raw = tensor.has_raw_data();
    const std::size_t size = raw ? tensor.raw_data().size() / sizeof(float)
                                 : static_cast<std::size_t>(tensor.float_data_size());
    if (tensor.data_type() != TensorProto::FLOAT || size != zero.size())
      return notStored(where_, made,
                       "it is made of " + std::to_string(size) + " elements of " +
                           dataTypeName(tensor.data_type()) + "; " + std::to_string(zero.size()) +
                           " of float32 are wanted");
    found_.insert(made);
    for (std::size_t i = 0; i < size; ++i) {
      if (!zero[i]) continue;
      if (raw)
        tensor.mutable_raw_data()->replace(i * sizeof(float), sizeof(float), sizeof(float), '\0');
      else
        tensor.set_float_data(static_cast<int>(i), 0);
    }
    return {};
  }

  Result<void> replace(TensorProto& tensor, const std::string& name) {
    if (const auto made = rounded_.find(name); made != rounded_.end())
      return zeroReals(tensor, made->second);
    const auto given = constants_.find(name);
    if (given == constants_.end()) return {};
    const std::string& bytes = given->second.bytes;
    const bool raw = tensor.has_raw_data();
    const std::size_t size =
        raw ? tensor.raw_data().size() : static_cast<std::size_t>(tensor.int32_data_size());
    const bool isByte =
        tensor.data_type() == TensorProto::INT8 || tensor.data_type() == TensorProto::UINT8;
    if (!isByte || size != bytes.size())
      return notStored(where_, name,
                       "it is " + std::to_string(size) + " elements of " +
                           dataTypeName(tensor.data_type()) + "; " + std::to_string(bytes.size()) +
                           " of int8 or uint8 are wanted");
    found_.insert(name);
    if (raw) {
      tensor.set_raw_data(bytes);
      return {};
    }
    const bool isSigned = tensor.data_type() == TensorProto::INT8;
    for (std::size_t i = 0; i < size; ++i) {
      const auto byte = static_cast<std::uint8_t>(bytes[i]);
      tensor.set_int32_data(static_cast<int>(i), isSigned ? static_cast<std::int8_t>(byte) : byte);
    }
    return {};
  }

  onnx::ModelProto& model_;
  std::string where_;
  TensorReader tensors_;
  const std::map<std::string, NewConstant>& constants_;
  std::map<std::string, std::string> rounded_;  // what a QuantizeLinear reads -> what it makes
  std::set<std::string> found_;
};

}  // namespace
}  // namespace onnx_import

Result<std::string> rewriteConstants(const std::filesystem::path& path,
                                     const std::map<std::string, NewConstant>& constants) {
  HEDDLE_TRY(onnx::ModelProto model, onnx_import::readModel(path));
  onnx_import::Rewriter rewriter(model, path.string(), onnx_import::folderOf(path), constants);
  HEDDLE_DO(rewriter.run());
  if (model.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return Diagnostic{.code = "ONNX010",
                      .where = path.string(),
                      .summary = "with its external data the model is too large for one file",
                      .what = std::to_string(model.ByteSizeLong()) + " B; protobuf takes 2^31 - 1",
                      .mend = "cut the model"};
  return model.SerializeAsString();
}

}  // namespace heddle
