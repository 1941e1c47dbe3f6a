// Pools and reductions.
#include <algorithm>
#include <cmath>

#include "lowering.h"

namespace heddle::canon {

namespace {

// Every output must see the tensor: a window that lies in the padding altogether has no maximum and
// no average.
void checkTaps(const Window& window, const Shape& in, const Shape& out) {
  const auto check = [](std::int64_t outputs, std::int64_t stride, std::int64_t pad,
                        std::int64_t kernel, std::int64_t dilation, std::int64_t extent) {
    for (const std::int64_t at : {std::int64_t{0}, outputs - 1}) {
      const std::int64_t first = at * stride - pad, last = first + (kernel - 1) * dilation;
      const std::int64_t skipped = first < 0 ? (-first + dilation - 1) / dilation : 0;
      if (last < 0 || first + skipped * dilation >= extent)
        throw Unsupported("a window that sees only padding");
    }
  };
  check(out.height, window.strideY, window.padTop, window.kernelY, window.dilationY, in.height);
  check(out.width, window.strideX, window.padLeft, window.kernelX, window.dilationX, in.width);
}

}  // namespace

void Lowering::lowerPool(const Node& node) {
  const auto& pool = std::get<PoolAttributes>(node.attributes);
  const bool quantized =
      node.kind == NodeKind::QLinearAveragePool || node.kind == NodeKind::QLinearGlobalAveragePool;
  const std::size_t spatial = pool.kernel.size();
  if (spatial > 2) throw Unsupported("a window of " + std::to_string(spatial) + " spatial axes");
  const Dims& x = source_[node.inputs[0]].shape;
  if (x[0] != 1)
    throw Unsupported("a batch of " + std::to_string(x[0]) + " does not fold into rows",
                      "CANON002");
  std::vector<Axis> axes{Axis::Y};
  if (spatial == 2) axes.push_back(Axis::Y);
  axes.push_back(Axis::X);
  if (pool.channelsLast)
    axes.push_back(Axis::C);
  else
    axes.insert(axes.begin() + 1, Axis::C);
  const auto at = [&](const Dims& values, std::size_t i) {
    return spatial == 2 ? values[i] : i == 1 ? values[0] : std::int64_t{1};
  };
  const auto pad = [&](std::size_t i, bool end) {
    if (spatial == 2) return pool.pads[i + (end ? 2 : 0)];
    return i == 1 ? pool.pads[end ? 1 : 0] : std::int64_t{0};
  };
  const Window window{.kernelY = at(pool.kernel, 0),
                      .kernelX = at(pool.kernel, 1),
                      .strideY = at(pool.strides, 0),
                      .strideX = at(pool.strides, 1),
                      .dilationY = at(pool.dilations, 0),
                      .dilationX = at(pool.dilations, 1),
                      .padTop = pad(0, false),
                      .padLeft = pad(1, false),
                      .padBottom = pad(0, true),
                      .padRight = pad(1, true)};
  const auto* integer = std::get_if<IntegerRef>(&states_[node.inputs[0].at()]);
  RealRef ref = quantized
                    ? dequantized(integerOf(node, 0),
                                  quantizationOf(node, 1, 2, source_[node.inputs[0]].type), node)
                    : realOf(node, 0);
  ref = relaid(ref, layOut(x, axes), node);
  const View view = layOut(source_[node.outputs[0]].shape, axes);
  const Shape shape = tensorShape(view);
  checkTaps(window, real(ref.id).shape, shape);
  if (node.kind == NodeKind::MaxPool || node.kind == NodeKind::GlobalMaxPool) {
    const RealRef result{addReal(fresh(node, Maximum{ref.id, window}, shape)), view};
    if (integer) return setInteger(node, 0, result, quantizations_[integer->tensor.at()]);
    return setReal(node, 0, result);
  }
  const auto [tensor, quantization] = linear(ref);
  Average average{.input = tensor,
                  .quantization = quantization,
                  .window = window,
                  .countIncludesPad = pool.countIncludePad};
  const RealRef result{addReal(fresh(node, average, shape)), view};
  if (!quantized) return setReal(node, 0, result);
  setInteger(node, 0, result, quantizationOf(node, 3, 4, source_[node.outputs[0]].type));
}

// Over rows or columns, each whole or not at all.
void Lowering::lowerReduce(const Node& node) {
  const auto& reduce = std::get<ReduceAttributes>(node.attributes);
  RealRef ref = realOf(node, 0);
  if (const auto* function = std::get_if<Mapped>(&real(ref.id).kind);
      function && node.kind == NodeKind::ReduceMax)
    for (const FloatTable& table : function->tables)
      if (std::ranges::any_of(table, [](float value) { return std::isnan(value); }))
        throw Unsupported("a maximum over what may be no number");
  const auto reduced = [&](std::size_t i) {
    return std::ranges::find(reduce.axes, static_cast<std::int64_t>(i)) != reduce.axes.end();
  };
  const auto wholeAxes = [&](const RealRef& of) -> std::optional<std::array<bool, 3>> {
    std::array<std::int64_t, 3> gone{1, 1, 1};
    for (std::size_t i = 0; i < of.view.dims.size(); ++i)
      for (const Digit& digit : of.view.dims[i])
        if (reduced(i) && digit.axis != Axis::Flat)
          gone[static_cast<std::size_t>(digit.axis)] *= digit.extent;
    const Shape& s = real(of.id).shape;
    if (gone[2] != 1 || (gone[0] != 1 && gone[0] != s.height) ||
        (gone[1] != 1 && gone[1] != s.width))
      return std::nullopt;
    return std::array<bool, 3>{gone[0] == s.height, gone[1] == s.width, false};
  };
  std::optional<std::array<bool, 3>> gone = wholeAxes(ref);
  if (!gone) {
    // What stays becomes channels, what goes rows.
    const Dims shape = ref.view.shape();
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < shape.size(); ++i) axes.push_back(reduced(i) ? Axis::Y : Axis::C);
    ref = relaid(ref, layOut(shape, axes), node);
    gone = wholeAxes(ref);
  }
  if (!gone) throw Unsupported("a reduction over these axes");
  const Shape in = real(ref.id).shape;
  const Window window{.kernelY = (*gone)[0] ? in.height : 1, .kernelX = (*gone)[1] ? in.width : 1};
  const Shape out{.height = (*gone)[0] ? 1 : in.height,
                  .width = (*gone)[1] ? 1 : in.width,
                  .channels = in.channels};
  View view;
  for (std::size_t i = 0; i < ref.view.dims.size(); ++i) {
    if (!reduced(i))
      view.dims.push_back(ref.view.dims[i]);
    else if (reduce.keepDims)
      view.dims.emplace_back();
  }
  if (node.kind == NodeKind::ReduceMax)
    return setReal(node, 0, {addReal(fresh(node, Maximum{ref.id, window}, out)), view});
  if (node.kind == NodeKind::ReduceMin) throw Unsupported("a minimum over an axis");
  const auto [tensor, quantization] = linear(ref);
  const double count =
      node.kind == NodeKind::ReduceSum ? static_cast<double>(window.kernelY * window.kernelX) : 1;
  Average average{.input = tensor,
                  .quantization = quantization,
                  .window = window,
                  .countIncludesPad = false,
                  .factor = count};
  setReal(node, 0, {addReal(fresh(node, average, out)), view});
}

}  // namespace heddle::canon
