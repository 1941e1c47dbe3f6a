#include "fold.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace heddle::onnx_import {

namespace {

std::vector<std::int64_t> rowMajorStrides(const Dims& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

// out[index] = source[offset + sum index[i] * strides[i]], element by element.
std::string gatherStrided(const std::string& source, std::int64_t elementSize, const Dims& shape,
                          std::int64_t offset, const std::vector<std::int64_t>& strides) {
  const std::int64_t count = elementCount(shape);
  std::string out(static_cast<std::size_t>(count * elementSize), '\0');
  Dims index(shape.size(), 0);
  std::int64_t from = offset;
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(out.data() + i * elementSize, source.data() + from * elementSize,
                static_cast<std::size_t>(elementSize));
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return out;
}

// Strides that read a value of `shape` as one broadcast to `target`.
std::vector<std::int64_t> broadcastStrides(const Dims& shape, const Dims& target) {
  const std::vector<std::int64_t> own = rowMajorStrides(shape);
  std::vector<std::int64_t> strides(target.size(), 0);
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[shape.size() - 1 - i] != 1)
      strides[target.size() - 1 - i] = own[shape.size() - 1 - i];
  return strides;
}

std::string broadcastTo(const Value& value, const Dims& target) {
  if (value.shape == target) return *value.constant;
  return gatherStrided(*value.constant, byteSize(value.type), target, 0,
                       broadcastStrides(value.shape, target));
}

std::string foldTranspose(const Value& x, const TransposeAttributes& transpose, const Dims& shape) {
  const std::vector<std::int64_t> own = rowMajorStrides(x.shape);
  std::vector<std::int64_t> strides;
  for (const std::int64_t axis : transpose.permutation)
    strides.push_back(own[static_cast<std::size_t>(axis)]);
  return gatherStrided(*x.constant, byteSize(x.type), shape, 0, strides);
}

std::string foldSlice(const Value& x, const SliceAttributes& slice, const Dims& shape) {
  std::vector<std::int64_t> strides = rowMajorStrides(x.shape);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    offset += slice.starts[i] * strides[i];
    strides[i] *= slice.steps[i];
  }
  return gatherStrided(*x.constant, byteSize(x.type), shape, offset, strides);
}

std::vector<std::string> foldSplit(const Value& x, const SplitAttributes& split,
                                   const std::vector<ValueType>& outputs) {
  std::vector<std::string> parts;
  SliceAttributes slice{.starts = Dims(x.shape.size(), 0), .steps = Dims(x.shape.size(), 1)};
  for (const ValueType& output : outputs) {
    parts.push_back(foldSlice(x, slice, output.shape));
    slice.starts[static_cast<std::size_t>(split.axis)] +=
        output.shape[static_cast<std::size_t>(split.axis)];
  }
  return parts;
}

std::string foldConcat(const Graph& graph, const Converted& node) {
  const auto axis = static_cast<std::size_t>(std::get<AxisAttributes>(node.attributes).axis);
  const Dims& shape = node.outputs.front().shape;
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
  std::vector<ValueId> parts;  // an empty one must not cost a look for each row
  for (const ValueId id : node.inputs)
    if (!graph[id].constant->empty()) parts.push_back(id);
  std::string out;
  for (std::int64_t row = 0; row < outer; ++row)
    for (const ValueId id : parts) {
      const std::string& bytes = *graph[id].constant;
      const std::size_t chunk = bytes.size() / static_cast<std::size_t>(outer);
      out.append(bytes, static_cast<std::size_t>(row) * chunk, chunk);
    }
  return out;
}

std::string foldGather(const Value& x, const Value& indices, const AxisAttributes& gather) {
  const auto axis = static_cast<std::size_t>(gather.axis);
  const std::int64_t extent = x.shape[axis];
  std::int64_t outer = 1, inner = byteSize(x.type);
  for (std::size_t i = 0; i < axis; ++i) outer *= x.shape[i];
  for (std::size_t i = axis + 1; i < x.shape.size(); ++i) inner *= x.shape[i];
  std::vector<std::int64_t> places;
  const auto read = [&](const auto& elements) { places.assign(elements.begin(), elements.end()); };
  if (indices.type == DataType::Int64)
    read(indices.elements<std::int64_t>());
  else
    read(indices.elements<std::int32_t>());
  std::string out;
  for (std::int64_t row = 0; row < outer; ++row)
    for (std::int64_t place : places) {
      if (place < 0) place += extent;
      out.append(*x.constant, static_cast<std::size_t>((row * extent + place) * inner),
                 static_cast<std::size_t>(inner));
    }
  return out;
}

// Calls f with a value of the C++ type of `type`.
template <class F>
auto withType(DataType type, F f) {
  switch (type) {
    case DataType::Float32:
      return f(float{});
    case DataType::Float64:
      return f(double{});
    case DataType::Int8:
      return f(std::int8_t{});
    case DataType::Uint8:
    case DataType::Bool:
      return f(std::uint8_t{});
    case DataType::Int32:
      return f(std::int32_t{});
    case DataType::Int64:
      break;
  }
  return f(std::int64_t{});
}

template <class To, class From>
To castElement(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (!std::isfinite(x)) return To{};
    constexpr double kLow = static_cast<double>(std::numeric_limits<To>::min());
    constexpr double kHigh = static_cast<double>(std::numeric_limits<To>::max());
    const double whole = std::trunc(static_cast<double>(x));
    if (whole <= kLow) return std::numeric_limits<To>::min();
    if (whole >= kHigh) return std::numeric_limits<To>::max();
    return static_cast<To>(whole);
  } else {
    return static_cast<To>(x);
  }
}

std::string foldCast(const Value& x, DataType to) {
  return withType(x.type, [&](auto from) {
    const auto elements = x.elements<decltype(from)>();
    return withType(to, [&](auto target) {
      using To = decltype(target);
      std::string out(elements.size() * sizeof(To), '\0');
      To* write = reinterpret_cast<To*>(out.data());
      for (std::size_t i = 0; i < elements.size(); ++i) {
        write[i] = castElement<To>(elements[i]);
        if (to == DataType::Bool) write[i] = static_cast<To>(elements[i] != 0);
      }
      return out;
    });
  });
}

std::int64_t integerBinary(NodeKind kind, std::int64_t a, std::int64_t b) {
  const auto wrap = [](std::uint64_t x) { return static_cast<std::int64_t>(x); };
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  switch (kind) {
    case NodeKind::Add:
      return wrap(ua + ub);
    case NodeKind::Sub:
      return wrap(ua - ub);
    case NodeKind::Mul:
      return wrap(ua * ub);
    case NodeKind::Div:
      if (b == 0) throw Fault("a division by zero");
      return b == -1 ? wrap(0 - ua) : a / b;
    case NodeKind::Min:
      return std::min(a, b);
    case NodeKind::Max:
      return std::max(a, b);
    default:
      throw Fault("this operator on integers is not supported");
  }
}

std::string foldBinary(const Graph& graph, const Converted& node) {
  const ValueType& type = node.outputs.front();
  return withType(type.type, [&](auto zero) {
    using T = decltype(zero);
    std::string out = broadcastTo(graph[node.inputs[0]], type.shape);
    T* a = reinterpret_cast<T*>(out.data());
    for (std::size_t operand = 1; operand < node.inputs.size(); ++operand) {
      const std::string other = broadcastTo(graph[node.inputs[operand]], type.shape);
      const T* b = reinterpret_cast<const T*>(other.data());
      for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
        if constexpr (std::is_floating_point_v<T>) {
          a[i] = static_cast<T>(
              *evaluateBinary(node.kind, static_cast<double>(a[i]), static_cast<double>(b[i])));
        } else {
          a[i] = static_cast<T>(integerBinary(node.kind, a[i], b[i]));
        }
      }
    }
    return out;
  });
}

std::string foldFunction(const Value& x, const Converted& node) {
  const auto& function = std::get<FunctionAttributes>(node.attributes);
  std::string out = *x.constant;
  float* values = reinterpret_cast<float*>(out.data());
  for (std::size_t i = 0; i < out.size() / sizeof(float); ++i)
    values[i] = static_cast<float>(*evaluateFunction(node.kind, function, double{values[i]}));
  return out;
}

// Scale and zero point by position along an axis; scalars have stride 0.
std::string foldQuantize(const Graph& graph, const Converted& node) {
  const Value& x = graph[node.inputs[0]];
  const Value& scale = graph[node.inputs[1]];
  const DataType type = node.outputs.front().type;
  const auto axis = static_cast<std::size_t>(std::get<AxisAttributes>(node.attributes).axis);
  const auto scales = scale.elements<float>();
  const bool perAxis = scales.size() != 1;
  std::vector<int> zeros(scales.size(), 0);
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    const std::string& bytes = *graph[node.inputs[2]].constant;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      zeros[i] = type == DataType::Int8 ? static_cast<std::int8_t>(bytes[i])
                                        : static_cast<std::uint8_t>(bytes[i]);
  }
  for (const float s : scales)
    if (!(s > 0) || !std::isfinite(s)) throw Fault("a scale of " + std::to_string(s));
  std::size_t inner = 1;
  if (perAxis)
    for (std::size_t i = axis + 1; i < x.shape.size(); ++i)
      inner *= static_cast<std::size_t>(x.shape[i]);
  const float low = type == DataType::Int8 ? -128 : 0, high = type == DataType::Int8 ? 127 : 255;
  const auto values = x.elements<float>();
  std::string out(values.size(), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t channel = perAxis ? i / inner % scales.size() : 0;
    const float q =
        std::nearbyint(values[i] / scales[channel]) + static_cast<float>(zeros[channel]);
    out[i] = static_cast<char>(static_cast<int>(std::isnan(q) ? low : std::clamp(q, low, high)));
  }
  return out;
}

std::vector<std::string> one(std::string bytes) {
  std::vector<std::string> list;
  list.push_back(std::move(bytes));
  return list;
}

}  // namespace

bool isFolded(const Graph& graph, const Converted& node) {
  switch (node.kind) {
    case NodeKind::Reshape:
    case NodeKind::Flatten:
    case NodeKind::Squeeze:
    case NodeKind::Unsqueeze:
    case NodeKind::Identity:
    case NodeKind::Dropout:
    case NodeKind::Cast:
    case NodeKind::Transpose:
    case NodeKind::Slice:
    case NodeKind::Split:
    case NodeKind::Concat:
    case NodeKind::Gather:
    case NodeKind::Expand:
    case NodeKind::Add:
    case NodeKind::Sub:
    case NodeKind::Mul:
    case NodeKind::Div:
    case NodeKind::Min:
    case NodeKind::Max:
      return true;
    case NodeKind::QuantizeLinear:
      return graph[node.inputs[0]].type == DataType::Float32;
    default: {  // a function of one element
      const auto* function = std::get_if<FunctionAttributes>(&node.attributes);
      return function && graph[node.inputs[0]].type == DataType::Float32 &&
             evaluateFunction(node.kind, *function, 0).has_value();
    }
  }
}

std::vector<std::string> fold(const Graph& graph, const Converted& node) {
  const bool empty = std::ranges::all_of(
      node.outputs, [](const ValueType& output) { return elementCount(output.shape) == 0; });
  if (empty) return std::vector<std::string>(node.outputs.size());
  const auto in = [&](std::size_t i) -> const Value& { return graph[node.inputs[i]]; };
  const Dims& shape = node.outputs.front().shape;
  switch (node.kind) {
    case NodeKind::Reshape:
    case NodeKind::Flatten:
    case NodeKind::Squeeze:
    case NodeKind::Unsqueeze:
    case NodeKind::Identity:
    case NodeKind::Dropout:
      return one(*in(0).constant);
    case NodeKind::Cast:
      return one(foldCast(in(0), node.outputs.front().type));
    case NodeKind::Transpose:
      return one(foldTranspose(in(0), std::get<TransposeAttributes>(node.attributes), shape));
    case NodeKind::Slice:
      return one(foldSlice(in(0), std::get<SliceAttributes>(node.attributes), shape));
    case NodeKind::Split:
      return foldSplit(in(0), std::get<SplitAttributes>(node.attributes), node.outputs);
    case NodeKind::Concat:
      return one(foldConcat(graph, node));
    case NodeKind::Gather:
      return one(foldGather(in(0), in(1), std::get<AxisAttributes>(node.attributes)));
    case NodeKind::Expand:
      return one(broadcastTo(in(0), shape));
    case NodeKind::Add:
    case NodeKind::Sub:
    case NodeKind::Mul:
    case NodeKind::Div:
    case NodeKind::Min:
    case NodeKind::Max:
      return one(foldBinary(graph, node));
    case NodeKind::QuantizeLinear:
      return one(foldQuantize(graph, node));
    default:
      return one(foldFunction(in(0), node));
  }
}

}  // namespace heddle::onnx_import
