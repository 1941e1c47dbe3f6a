#include "tensor_reader.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <memory>

#include "limits.h"

namespace heddle::onnx_import {

static_assert(std::endian::native == std::endian::little,
              "constants are kept as little-endian bytes");

using onnx::TensorProto;

std::optional<DataType> dataType(std::int32_t onnxType) {
  switch (onnxType) {
    case TensorProto::FLOAT:
      return DataType::Float32;
    case TensorProto::DOUBLE:
      return DataType::Float64;
    case TensorProto::INT8:
      return DataType::Int8;
    case TensorProto::UINT8:
      return DataType::Uint8;
    case TensorProto::INT32:
      return DataType::Int32;
    case TensorProto::INT64:
      return DataType::Int64;
    case TensorProto::BOOL:
      return DataType::Bool;
    default:
      return std::nullopt;
  }
}

std::string dataTypeName(std::int32_t onnxType) {
  // Names of TensorProto.DataType; 17 and above are newer than Debian's libonnx.
  static constexpr const char* kNames[] = {
      "undefined",      "float32",    "uint8",          "int8",       "uint16",   "int16",
      "int32",          "int64",      "string",         "bool",       "float16",  "float64",
      "uint32",         "uint64",     "complex64",      "complex128", "bfloat16", "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",     "float4e2m1"};
  if (onnxType < 0 || onnxType >= static_cast<std::int32_t>(std::size(kNames)))
    return "element type " + std::to_string(onnxType);
  return kNames[onnxType];
}

namespace {

template <class To, class Field>
std::string packed(const Field& field) {
  std::string bytes(static_cast<std::size_t>(field.size()) * sizeof(To), '\0');
  To* out = reinterpret_cast<To*>(bytes.data());
  std::transform(field.begin(), field.end(), out, [](auto x) { return static_cast<To>(x); });
  return bytes;
}

std::string typedData(const TensorProto& proto, DataType type) {
  switch (type) {
    case DataType::Float32:
      return packed<float>(proto.float_data());
    case DataType::Float64:
      return packed<double>(proto.double_data());
    case DataType::Int64:
      return packed<std::int64_t>(proto.int64_data());
    case DataType::Int32:
      return packed<std::int32_t>(proto.int32_data());
    case DataType::Int8:
    case DataType::Uint8:
    case DataType::Bool:
      return packed<std::uint8_t>(proto.int32_data());
  }
  return {};
}

std::int64_t parseNumber(const std::string& text, const char* key) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw Fault(std::string("external data with ") + key + " '" + text + "'", "ONNX006");
  return value;
}

}  // namespace

std::string TensorReader::readExternal(const TensorProto& proto, std::int64_t size) {
  std::string location;
  std::int64_t offset = 0, length = size;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = parseNumber(entry.value(), "offset");
    if (entry.key() == "length") length = parseNumber(entry.value(), "length");
  }
  if (!directory_) throw Fault("external data, but the model is not a file", "ONNX006");
  const std::filesystem::path relative(location);
  const bool escapes = location.empty() || relative.is_absolute() ||
                       std::ranges::any_of(relative, [](const auto& part) { return part == ".."; });
  if (escapes)
    throw Fault("external data '" + location + "' lies outside the model's folder", "ONNX006");
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(*directory_, error);
  const std::filesystem::path file = std::filesystem::weakly_canonical(folder / relative, error);
  const auto [diverges, ignored] =
      std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  if (error || diverges != folder.end())  // through a symbolic link
    throw Fault("external data '" + location + "' lies outside the model's folder", "ONNX006");
  if (!std::filesystem::is_regular_file(file, error))
    throw Fault("external data '" + location + "' is not a file", "ONNX006");
  const auto available = static_cast<std::int64_t>(std::filesystem::file_size(file, error));
  if (error || length != size || offset > available || length > available - offset)
    throw Fault("external data '" + location + "' holds " + std::to_string(available) +
                    " B; the tensor wants " + std::to_string(size) + " B and names " +
                    std::to_string(length) + " B at " + std::to_string(offset),
                "ONNX006");
  if (length > kMaxExternalBytes - externalBytes_)
    throw Fault("with it, the tensors take more than 960 MiB from external data", "ONNX010");
  externalBytes_ += length;
  std::ifstream in(file, std::ios::binary);
  in.seekg(offset);
  std::string bytes(static_cast<std::size_t>(length), '\0');
  if (!in.read(bytes.data(), length))
    throw Fault("external data '" + location + "' cannot be read", "ONNX006");
  return bytes;
}

Tensor TensorReader::read(TensorProto& proto) {
  const std::optional<DataType> type = dataType(proto.data_type());
  if (!type)
    throw Fault("element type " + dataTypeName(proto.data_type()) + " is not supported", "ONNX005");
  Tensor tensor{
      .type = *type, .shape = Dims(proto.dims().begin(), proto.dims().end()), .bytes = {}};
  checkShape(tensor.shape);
  const std::int64_t size = elementCount(tensor.shape) * byteSize(*type);
  if (proto.data_location() == TensorProto::EXTERNAL) {
    tensor.bytes = readExternal(proto, size);
  } else if (proto.has_raw_data()) {
    tensor.bytes = std::move(*proto.mutable_raw_data());
  } else {
    tensor.bytes = typedData(proto, *type);
  }
  if (static_cast<std::int64_t>(tensor.bytes.size()) != size)
    throw Fault("the tensor holds " + std::to_string(tensor.bytes.size()) + " B; its shape " +
                    toText(tensor.shape) + " of " + toText(*type) + " wants " +
                    std::to_string(size) + " B",
                "ONNX005");
  return tensor;
}

}  // namespace heddle::onnx_import
