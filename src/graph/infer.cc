#include "heddle/graph/infer.h"

#include <algorithm>

namespace heddle {

namespace {

const Value& input(const Graph& graph, const Node& node, std::size_t i) {
  if (i >= node.inputs.size() || !node.inputs[i].valid())
    throw InferenceFault("input " + std::to_string(i) + " is missing");
  return graph[node.inputs[i]];
}

void require(bool holds, const std::string& why) {
  if (!holds) throw InferenceFault(why);
}

std::size_t axisOf(std::int64_t axis, std::size_t rank) {
  require(axis >= 0 && axis < static_cast<std::int64_t>(rank),
          "axis " + std::to_string(axis) + " is not one of rank " + std::to_string(rank));
  return static_cast<std::size_t>(axis);
}

Dims convShape(const ConvAttributes& conv, const Dims& x, const Dims& w) {
  require(x.size() >= 3 && w.size() == x.size(),
          "data " + toText(x) + " and weights " + toText(w) + " do not fit");
  const std::size_t spatial = x.size() - 2;
  require(conv.kernel.size() == spatial && conv.strides.size() == spatial &&
              conv.dilations.size() == spatial && conv.pads.size() == 2 * spatial,
          "its attributes do not have " + std::to_string(spatial) + " spatial axes");
  require(conv.group > 0 && x[1] == w[1] * conv.group && w[0] % conv.group == 0,
          "weights " + toText(w) + " in " + std::to_string(conv.group) +
              " groups do not fit data " + toText(x));
  Dims out{x[0], w[0]};
  for (std::size_t i = 0; i < spatial; ++i) {
    require(conv.kernel[i] == w[i + 2], "kernel_shape differs from the weights' " + toText(w));
    out.push_back(windowExtent(x[i + 2], conv.pads[i], conv.pads[i + spatial], conv.kernel[i],
                               conv.strides[i], conv.dilations[i], false));
  }
  return out;
}

Dims poolShape(const PoolAttributes& pool, const Dims& x) {
  require(x.size() >= 3, "data " + toText(x) + " has no spatial axes");
  const std::size_t spatial = x.size() - 2, first = pool.channelsLast ? 1 : 2;
  require(pool.kernel.size() == spatial && pool.strides.size() == spatial &&
              pool.dilations.size() == spatial && pool.pads.size() == 2 * spatial,
          "its attributes do not have " + std::to_string(spatial) + " spatial axes");
  Dims out = x;
  for (std::size_t i = 0; i < spatial; ++i)
    out[first + i] =
        windowExtent(x[first + i], pool.pads[i], pool.pads[i + spatial], pool.kernel[i],
                     pool.strides[i], pool.dilations[i], pool.ceilMode);
  return out;
}

Dims matMulShape(Dims a, Dims b) {
  require(!a.empty() && !b.empty(), "an operand is a scalar");
  const bool vectorA = a.size() == 1, vectorB = b.size() == 1;
  if (vectorA) a.insert(a.begin(), 1);
  if (vectorB) b.push_back(1);
  require(a.back() == b[b.size() - 2], toText(a) + " times " + toText(b));
  const auto batch = broadcastShapes(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  require(batch.has_value(), toText(a) + " times " + toText(b));
  Dims out = *batch;
  if (!vectorA) out.push_back(a[a.size() - 2]);
  if (!vectorB) out.push_back(b.back());
  return out;
}

Dims gemmShape(const GemmAttributes& gemm, const Dims& a, const Dims& b) {
  require(a.size() == 2 && b.size() == 2, toText(a) + " times " + toText(b));
  require(a[gemm.transA ? 0 : 1] == b[gemm.transB ? 1 : 0], toText(a) + " times " + toText(b));
  return {a[gemm.transA ? 1 : 0], b[gemm.transB ? 0 : 1]};
}

Dims reduceShape(const Dims& axes, bool keepDims, const Dims& x) {
  Dims out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool reduced = std::ranges::find(axes, static_cast<std::int64_t>(i)) != axes.end();
    require(!reduced || x[i] > 0, "an empty axis");
    if (!reduced)
      out.push_back(x[i]);
    else if (keepDims)
      out.push_back(1);
  }
  return out;
}

Dims concatShape(const Graph& graph, const Node& node, std::size_t first, std::size_t step) {
  const auto& attributes = std::get<AxisAttributes>(node.attributes);
  Dims out = input(graph, node, first).shape;
  const std::size_t axis = axisOf(attributes.axis, out.size());
  for (std::size_t i = first + step; i < node.inputs.size(); i += step) {
    const Dims& x = input(graph, node, i).shape;
    bool fits = x.size() == out.size();
    for (std::size_t k = 0; fits && k < out.size(); ++k) fits = k == axis || x[k] == out[k];
    require(fits, toText(x) + " beside " + toText(out) + " along axis " + std::to_string(axis));
    out[axis] += x[axis];
  }
  return out;
}

std::vector<ValueType> splitTypes(const SplitAttributes& split, const Value& x) {
  const std::size_t axis = axisOf(split.axis, x.shape.size());
  std::int64_t sum = 0;
  std::vector<ValueType> out;
  for (const std::int64_t size : split.sizes) {
    require(size >= 0 && size <= x.shape[axis], "a part of " + std::to_string(size) + " of " +
                                                    std::to_string(x.shape[axis]) + " elements");
    Dims shape = x.shape;
    shape[axis] = size;
    sum += size;
    out.push_back({x.type, shape});
  }
  require(sum == x.shape[axis],
          "its parts sum to " + std::to_string(sum) + " of " + std::to_string(x.shape[axis]));
  return out;
}

Dims padShape(const PadAttributes& pad, const Dims& x) {
  require(pad.begins.size() == x.size() && pad.ends.size() == x.size(), "pads do not fit rank");
  Dims out = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] += pad.begins[i] + pad.ends[i];
    require(out[i] >= 0, "pads that crop more than there is");
    require(pad.mode == PadMode::Constant || x[i] > 0 || out[i] == 0,
            "axis " + std::to_string(i) + " of " + toText(x) +
                " is empty: there is nothing to repeat in its padding");
  }
  return out;
}

Dims transposeShape(const TransposeAttributes& transpose, const Dims& x) {
  require(transpose.permutation.size() == x.size(),
          "perm does not fit rank " + std::to_string(x.size()));
  std::vector<bool> used(x.size());
  Dims out;
  for (const std::int64_t axis : transpose.permutation) {
    const std::size_t from = axisOf(axis, x.size());
    require(!used[from], "perm names an axis twice");
    used[from] = true;
    out.push_back(x[from]);
  }
  return out;
}

Dims blockShape(const BlockAttributes& block, const Dims& x, bool toDepth) {
  const std::int64_t b = block.blockSize;
  require(x.size() == 4 && b > 0 && b < (1 << 15),
          "data " + toText(x) + " with block " + std::to_string(b));
  if (toDepth) {
    require(x[2] % b == 0 && x[3] % b == 0,
            "data " + toText(x) + " with block " + std::to_string(b));
    return {x[0], x[1] * b * b, x[2] / b, x[3] / b};
  }
  require(x[1] % (b * b) == 0, "data " + toText(x) + " with block " + std::to_string(b));
  return {x[0], x[1] / (b * b), x[2] * b, x[3] * b};
}

Dims gatherShape(const AxisAttributes& gather, const Dims& x, const Dims& indices) {
  const std::size_t axis = axisOf(gather.axis, x.size());
  Dims out(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), x.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.end());
  return out;
}

Dims broadcast(const Dims& a, const Dims& b) {
  const auto out = broadcastShapes(a, b);
  require(out.has_value(), toText(a) + " with " + toText(b));
  return *out;
}

// Elementwise operators of two or more operands of one type (Min and Max take any number).
ValueType elementwiseType(const Graph& graph, const Node& node) {
  ValueType out{input(graph, node, 0).type, input(graph, node, 0).shape};
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const Value& other = input(graph, node, i);
    require(other.type == out.type || node.kind == NodeKind::Pow,
            std::string("operands of ") + toText(out.type) + " and " + toText(other.type));
    out.shape = broadcast(out.shape, other.shape);
  }
  return out;
}

DataType quantizedType(const Graph& graph, const Node& node, std::size_t zeroPoint) {
  if (node.inputs.size() <= zeroPoint || !node.inputs[zeroPoint].valid()) return DataType::Uint8;
  return graph[node.inputs[zeroPoint]].type;
}

}  // namespace

std::int64_t windowExtent(std::int64_t input, std::int64_t padBegin, std::int64_t padEnd,
                          std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                          bool ceil) {
  require(kernel > 0 && stride > 0 && dilation > 0, "kernel, stride and dilation must be positive");
  require(padBegin >= 0 && padEnd >= 0, "negative pads");
  const std::int64_t reach = (kernel - 1) * dilation + 1, room = input + padBegin + padEnd - reach;
  require(room >= 0, "a kernel that reaches over " + std::to_string(reach) + " of " +
                         std::to_string(input + padBegin + padEnd) + " padded elements");
  std::int64_t out = room / stride + 1;
  // With ceil, one more window where a rest remains, unless it would start in the end padding.
  if (ceil && room % stride != 0 && out * stride < input + padBegin) ++out;
  return out;
}

std::vector<ValueType> inferOutputs(const Graph& graph, const Node& node) {
  const auto in = [&](std::size_t i) -> const Value& { return input(graph, node, i); };
  const auto& attributes = node.attributes;
  switch (node.kind) {
    case NodeKind::QuantizeLinear:
      return {{quantizedType(graph, node, 2), in(0).shape}};
    case NodeKind::DequantizeLinear:
      return {{in(1).type, in(0).shape}};
    case NodeKind::DynamicQuantizeLinear:
      return {{DataType::Uint8, in(0).shape}, {DataType::Float32, {}}, {DataType::Uint8, {}}};
    case NodeKind::Conv:
      return {
          {in(0).type, convShape(std::get<ConvAttributes>(attributes), in(0).shape, in(1).shape)}};
    case NodeKind::ConvInteger:
      return {{DataType::Int32,
               convShape(std::get<ConvAttributes>(attributes), in(0).shape, in(1).shape)}};
    case NodeKind::QLinearConv:
      return {{quantizedType(graph, node, 7),
               convShape(std::get<ConvAttributes>(attributes), in(0).shape, in(3).shape)}};
    case NodeKind::Gemm:
      return {
          {in(0).type, gemmShape(std::get<GemmAttributes>(attributes), in(0).shape, in(1).shape)}};
    case NodeKind::QGemm: {
      const bool requantizes = node.inputs.size() > 7 && node.inputs[7].valid();
      return {{requantizes ? quantizedType(graph, node, 8) : DataType::Float32,
               gemmShape(std::get<GemmAttributes>(attributes), in(0).shape, in(3).shape)}};
    }
    case NodeKind::MatMul:
      return {{in(0).type, matMulShape(in(0).shape, in(1).shape)}};
    case NodeKind::MatMulInteger:
      return {{DataType::Int32, matMulShape(in(0).shape, in(1).shape)}};
    case NodeKind::QLinearMatMul:
      return {{quantizedType(graph, node, 7), matMulShape(in(0).shape, in(3).shape)}};
    case NodeKind::MaxPool:
    case NodeKind::AveragePool:
    case NodeKind::GlobalAveragePool:
    case NodeKind::GlobalMaxPool:
    case NodeKind::QLinearAveragePool:
    case NodeKind::QLinearGlobalAveragePool:
      return {{in(0).type, poolShape(std::get<PoolAttributes>(attributes), in(0).shape)}};
    case NodeKind::ReduceMean:
    case NodeKind::ReduceSum:
    case NodeKind::ReduceMax:
    case NodeKind::ReduceMin: {
      const auto& reduce = std::get<ReduceAttributes>(attributes);
      return {{in(0).type, reduceShape(reduce.axes, reduce.keepDims, in(0).shape)}};
    }
    case NodeKind::ArgMax:
    case NodeKind::ArgMin: {
      const auto& axis = std::get<AxisAttributes>(attributes);
      axisOf(axis.axis, in(0).shape.size());
      return {{DataType::Int64, reduceShape({axis.axis}, axis.keepDims, in(0).shape)}};
    }
    case NodeKind::Add:
    case NodeKind::Sub:
    case NodeKind::Mul:
    case NodeKind::Div:
    case NodeKind::Pow:
    case NodeKind::Min:
    case NodeKind::Max:
    case NodeKind::PRelu:
      return {elementwiseType(graph, node)};
    case NodeKind::QLinearAdd:
    case NodeKind::QLinearMul:
      return {{in(0).type, broadcast(in(0).shape, in(3).shape)}};
    case NodeKind::Relu:
    case NodeKind::Clip:
    case NodeKind::LeakyRelu:
    case NodeKind::Sigmoid:
    case NodeKind::HardSigmoid:
    case NodeKind::HardSwish:
    case NodeKind::Tanh:
    case NodeKind::Elu:
    case NodeKind::Selu:
    case NodeKind::Softplus:
    case NodeKind::Softsign:
    case NodeKind::Exp:
    case NodeKind::Log:
    case NodeKind::Sqrt:
    case NodeKind::Abs:
    case NodeKind::Neg:
    case NodeKind::Floor:
    case NodeKind::Ceil:
    case NodeKind::Round:
    case NodeKind::Erf:
    case NodeKind::Reciprocal:
    case NodeKind::Sign:
    case NodeKind::Mish:
    case NodeKind::Gelu:
    case NodeKind::QLinearLeakyRelu:
    case NodeKind::QLinearSigmoid:
    case NodeKind::BatchNormalization:
    case NodeKind::Identity:
    case NodeKind::Dropout:
      return {{in(0).type, in(0).shape}};
    case NodeKind::Softmax:
    case NodeKind::LogSoftmax:
      axisOf(std::get<AxisAttributes>(attributes).axis, in(0).shape.size());
      return {{in(0).type, in(0).shape}};
    case NodeKind::Concat: {
      for (std::size_t i = 1; i < node.inputs.size(); ++i)
        require(in(i).type == in(0).type, "operands of different types");
      return {{in(0).type, concatShape(graph, node, 0, 1)}};
    }
    case NodeKind::QLinearConcat:
      return {{quantizedType(graph, node, 1), concatShape(graph, node, 2, 3)}};
    case NodeKind::Split:
      return splitTypes(std::get<SplitAttributes>(attributes), in(0));
    case NodeKind::Pad:
      return {{in(0).type, padShape(std::get<PadAttributes>(attributes), in(0).shape)}};
    case NodeKind::Transpose:
      return {{in(0).type, transposeShape(std::get<TransposeAttributes>(attributes), in(0).shape)}};
    case NodeKind::DepthToSpace:
    case NodeKind::SpaceToDepth:
      return {{in(0).type, blockShape(std::get<BlockAttributes>(attributes), in(0).shape,
                                      node.kind == NodeKind::SpaceToDepth)}};
    case NodeKind::Gather:
      return {{in(0).type,
               gatherShape(std::get<AxisAttributes>(attributes), in(0).shape, in(1).shape)}};
    case NodeKind::Shape:
      return {{DataType::Int64, {static_cast<std::int64_t>(in(0).shape.size())}}};
    case NodeKind::Slice:
    case NodeKind::Resize:
    case NodeKind::Expand:
    case NodeKind::Tile:
    case NodeKind::Reshape:
    case NodeKind::Flatten:
    case NodeKind::Squeeze:
    case NodeKind::Unsqueeze:
    case NodeKind::Cast:
    case NodeKind::Range:
    case NodeKind::ConstantOfShape:
    case NodeKind::Constant:
      break;
  }
  throw InferenceFault("its shape follows from constant inputs");
}

}  // namespace heddle
