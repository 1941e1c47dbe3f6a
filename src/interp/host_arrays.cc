// Elements of every type as doubles and back.
#include <array>
#include <cstring>

#include "heddle/interp/host.h"
#include "heddle/support/check.h"
#include "host_kernels.h"

namespace heddle {
namespace {

struct TypePair {
  DataType graph;
  NpyType npy;
};
constexpr std::array kTypes{
    TypePair{DataType::Float32, NpyType::Float32}, TypePair{DataType::Float64, NpyType::Float64},
    TypePair{DataType::Int8, NpyType::Int8},       TypePair{DataType::Uint8, NpyType::Uint8},
    TypePair{DataType::Int32, NpyType::Int32},     TypePair{DataType::Int64, NpyType::Int64},
    TypePair{DataType::Bool, NpyType::Bool}};

// Calls visit with a value of the C++ type whose elements `type` has.
template <class Visit>
auto withElementOf(DataType type, Visit visit) {
  switch (type) {
    case DataType::Float32:
      return visit(float{});
    case DataType::Float64:
      return visit(double{});
    case DataType::Int8:
      return visit(std::int8_t{});
    case DataType::Uint8:
    case DataType::Bool:
      return visit(std::uint8_t{});
    case DataType::Int32:
      return visit(std::int32_t{});
    case DataType::Int64:
      break;
  }
  return visit(std::int64_t{});
}

std::vector<double> widened(DataType type, const void* data, std::size_t bytes) {
  return withElementOf(type, [&](auto element) {
    std::vector<decltype(element)> elements(bytes / sizeof(element));
    if (!elements.empty()) std::memcpy(elements.data(), data, elements.size() * sizeof(element));
    return std::vector<double>(elements.begin(), elements.end());
  });
}

}  // namespace

HostTensor hostConstant(const Value& value) {
  HEDDLE_CHECK(value.constant.has_value()) << value.name;
  return {value.type, value.shape,
          widened(value.type, value.constant->data(), value.constant->size())};
}

std::optional<HostTensor> hostTensorFrom(const NpyArray& array) {
  for (const TypePair& pair : kTypes)
    if (pair.npy == array.type)
      return HostTensor{pair.graph, array.shape,
                        widened(pair.graph, array.data.data(), array.data.size())};
  return {};
}

NpyArray arrayFrom(const HostTensor& tensor) {
  NpyArray array{NpyType::Float32, tensor.shape, {}};
  for (const TypePair& pair : kTypes)
    if (pair.graph == tensor.type) array.type = pair.npy;
  withElementOf(tensor.type, [&](auto element) {
    for (const double value : tensor.values) {
      if constexpr (std::is_integral_v<decltype(element)>)
        element = host::integerFrom<decltype(element)>(value);
      else
        element = static_cast<decltype(element)>(value);
      const auto bytes = std::as_bytes(std::span(&element, 1));
      array.data.insert(array.data.end(), bytes.begin(), bytes.end());
    }
  });
  return array;
}

}  // namespace heddle
