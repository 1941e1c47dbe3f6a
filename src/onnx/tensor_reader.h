// TensorProto -> typed bytes, with external data.
#pragma once
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "heddle/graph/graph.h"

namespace heddle::onnx_import {

std::optional<DataType> dataType(
    std::int32_t onnxType);  // absent for types that heddle does not read
std::string dataTypeName(std::int32_t onnxType);

struct Tensor {
  DataType type = DataType::Float32;
  Dims shape;
  std::string bytes;
};

// Reads tensors of one model and counts what they read from other files: many small entries may
// name one large file.
class TensorReader {
 public:
  // Directory of external data; absent: external data is refused.
  explicit TensorReader(std::optional<std::filesystem::path> directory)
      : directory_(std::move(directory)) {}

  // Takes raw data out of the proto without copying it. Throws Fault.
  Tensor read(onnx::TensorProto& proto);

 private:
  std::string readExternal(const onnx::TensorProto& proto, std::int64_t size);

  std::optional<std::filesystem::path> directory_;
  std::int64_t externalBytes_ = 0;  // read so far
};

}  // namespace heddle::onnx_import
