// Small canonical graphs for tests, made to be read.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"

namespace heddle::testing {

// Of a tensor of that shape, as it is.
inline Port portOf(const std::string& name, TensorId tensor, const Shape& shape) {
  const std::vector<std::int64_t> extents{1, shape.channels, shape.height, shape.width};
  return {name, tensor, ElementType::Int8, extents, extents, "NCHW"};
}

// Builds a graph operator by operator; values are plain (weights 1, no bias), shapes are what the
// tests are about.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) { graph_.name = std::move(name); }

  TensorId input(const std::string& name, Shape shape) {
    const TensorId t = tensor(name, shape);
    graph_.inputs.push_back(portOf(name, t, shape));
    return t;
  }
  TensorId conv(const std::string& name, TensorId from, std::int64_t channels, Window window) {
    const Shape in = shapeOf(from);
    Conv conv;
    conv.window = window;
    conv.weights.own().assign(
        static_cast<std::size_t>(channels * window.kernelY * window.kernelX * in.channels), 1);
    const auto n = static_cast<std::size_t>(channels);
    conv.weightZero.assign(n, 0);
    conv.bias.assign(n, 0);
    conv.requantize.assign(n, makeMultiplier(1.0 / 1024));
    return op(name, "Conv", {from}, windowed(in, window, channels), std::move(conv));
  }
  TensorId maxPool(const std::string& name, TensorId from, Window window) {
    return op(name, "MaxPool", {from}, windowed(shapeOf(from), window, shapeOf(from).channels),
              MaxPool{window});
  }
  TensorId depthwise(const std::string& name, TensorId from, Window window) {
    const Shape in = shapeOf(from);
    const auto n = static_cast<std::size_t>(in.channels);
    DepthwiseConv conv;
    conv.window = window;
    conv.weights.own().assign(n * static_cast<std::size_t>(window.kernelY * window.kernelX), 1);
    conv.weightZero.assign(n, 0);
    conv.bias.assign(n, 0);
    conv.requantize.assign(n, makeMultiplier(1.0 / 16));
    return op(name, "Conv", {from}, windowed(in, window, in.channels), std::move(conv));
  }
  // x -> -x for all channels, but that -128 stays.
  TensorId table(const std::string& name, TensorId from) {
    Table256 table;
    for (std::size_t i = 0; i < table.size(); ++i)
      table[i] = static_cast<std::int8_t>(128 - static_cast<int>(i));
    return op(name, "Table", {from}, shapeOf(from), Table{{table}});
  }
  TensorId add(const std::string& name, TensorId a, TensorId b) {
    return op(name, "Add", {a, b}, shapeOf(a), Add{1 << 20, 1 << 20, 21, {}});
  }
  // Along the channels.
  TensorId concat(const std::string& name, const std::vector<TensorId>& from) {
    Shape shape = shapeOf(from[0]);
    shape.channels = 0;
    Assemble assemble;
    for (TensorId t : from) {
      const Shape& s = shapeOf(t);
      assemble.parts.push_back({{{0, 1, 0, 1, s.height}},
                                {{0, 1, 0, 1, s.width}},
                                {{shape.channels, 1, 0, 1, s.channels}},
                                {}});
      shape.channels += s.channels;
    }
    return op(name, "Concat", from, shape, std::move(assemble));
  }
  // All channels of `count` rows and columns each, from `first` on by `step`.
  struct Pixels {
    std::int64_t first = 0, step = 1, count = 1;
  };
  TensorId slice(const std::string& name, TensorId from, const Pixels& rows,
                 const Pixels& columns) {
    const std::int64_t channels = shapeOf(from).channels;
    const auto axis = [](const Pixels& taken) {
      return AxisMap{{0, 1, taken.first, taken.step, taken.count}};
    };
    Assemble assemble;
    assemble.parts.push_back({axis(rows), axis(columns), {{0, 1, 0, 1, channels}}, {}});
    return op(name, "Slice", {from}, {rows.count, columns.count, channels}, std::move(assemble));
  }
  TensorId op(const std::string& name, const std::string& type, std::vector<TensorId> from,
              Shape shape, OpAttributes attributes) {
    const TensorId out = tensor(name + "_out", shape);
    graph_.ops.push_back({name, type, std::move(from), out, std::move(attributes)});
    return out;
  }
  const Shape& shapeOf(TensorId t) const { return graph_.tensors[t.at()].shape; }
  CanonicalGraph finish(TensorId output) {
    graph_.outputs.push_back(portOf("output", output, shapeOf(output)));
    return std::move(graph_);
  }

 private:
  static Shape windowed(const Shape& in, const Window& w, std::int64_t channels) {
    const auto along = [](std::int64_t size, std::int64_t pads, std::int64_t reach,
                          std::int64_t stride) { return (size + pads - reach) / stride + 1; };
    const std::int64_t reachY = (w.kernelY - 1) * w.dilationY + 1,
                       reachX = (w.kernelX - 1) * w.dilationX + 1;
    return {along(in.height, w.padTop + w.padBottom, reachY, w.strideY),
            along(in.width, w.padLeft + w.padRight, reachX, w.strideX), channels};
  }
  TensorId tensor(const std::string& name, Shape shape) {
    CanonicalTensor t;
    t.name = name;
    t.shape = shape;
    graph_.tensors.push_back(std::move(t));
    return TensorId(graph_.tensors.size() - 1);
  }
  CanonicalGraph graph_;
};

inline Window square(std::int64_t kernel, std::int64_t stride = 1, std::int64_t pad = 0) {
  return {kernel, kernel, stride, stride, 1, 1, pad, pad, pad, pad};
}

// Values that all differ from their neighbours: of a tensor of that shape, of each input of a
// graph.
inline std::vector<std::int8_t> rampOf(const Shape& shape) {
  std::vector<std::int8_t> values;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    values.push_back(static_cast<std::int8_t>(i * 37 % 256 - 128));
  return values;
}
inline std::vector<std::vector<std::int8_t>> rampsOf(const CanonicalGraph& graph) {
  std::vector<std::vector<std::int8_t>> inputs;
  for (const Port& port : graph.inputs)
    inputs.push_back(rampOf(graph.tensors[port.tensor.at()].shape));
  return inputs;
}

// first 3x3, second 3x3, pool 2x2, of as many channels as the input.
inline CanonicalGraph twoConvsAndPool(Shape input) {
  GraphBuilder b("chain");
  const TensorId first = b.conv("first", b.input("x", input), input.channels, square(3, 1, 1));
  const TensorId second = b.conv("second", first, input.channels, square(3, 1, 1));
  return b.finish(b.maxPool("pool", second, square(2, 2)));
}

}  // namespace heddle::testing
