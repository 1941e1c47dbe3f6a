// Operators that move elements, of reals or of integers: their values stay what they are.
#include <algorithm>
#include <numeric>

#include "model_writer.h"

namespace heddle::property {
namespace {

constexpr std::int64_t kMostMoved = 6'000;

std::optional<Tensor> concat(ModelWriter& w, const Tensor& x) {
  if (x.shape.empty()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  const std::int64_t axis = rank == 4 && w.chance(60) ? 1 : w.between(rank > 1 ? 1 : 0, rank - 1);
  Dims shape = x.shape;
  std::vector<Tensor> operands{x};
  for (std::int64_t n = w.between(0, 2); n > 0; --n) {
    Dims other = x.shape;
    if (w.chance(60)) other[static_cast<std::size_t>(axis)] = w.between(1, 9);
    operands.push_back(w.partner(other));
    shape[static_cast<std::size_t>(axis)] += other[static_cast<std::size_t>(axis)];
  }
  std::rotate(operands.begin(), operands.begin() + w.between(0, std::ssize(operands) - 1),
              operands.end());
  // Integers of one scale may stand beside each other as they are.
  const bool integers = !x.integer.empty() && w.chance(20);
  ModelBuilder::Names inputs;
  for (const Tensor& operand : operands) {
    if (!integers) {
      inputs.push_back(w.real(operand));
      continue;
    }
    const bool same = operand.integer == x.integer;
    inputs.push_back(
        same ? x.integer
             : w.m.op("QuantizeLinear", {w.real(operand), x.scaling.scale, x.scaling.zero}));
  }
  const std::string name = w.m.op("Concat", inputs, "axis", w.chance(25) ? axis - rank : axis);
  return w.moved({name, integers}, x, name, shape);
}

std::optional<Tensor> split(ModelWriter& w, const Tensor& x) {
  if (x.shape.empty()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  const std::int64_t axis = w.between(rank > 1 ? 1 : 0, rank - 1),
                     extent = x.shape[static_cast<std::size_t>(axis)];
  if (extent < 2) return std::nullopt;
  const Face face = w.face(x);
  Dims sizes;
  const bool even = extent % 2 == 0 && w.chance(40);
  if (even) {
    sizes = {extent / 2, extent / 2};
  } else {
    const std::int64_t first = w.between(1, extent - 1);
    sizes = {first, extent - first};
    if (sizes[1] > 1 && w.chance(30)) sizes = {first, 1, extent - first - 1};
  }
  ModelBuilder::Names inputs{face.name};
  if (w.opset >= 13 && !even) inputs.push_back(w.shapeInput(sizes));
  auto& node = w.m.node("Split", inputs, static_cast<int>(sizes.size()));
  ModelBuilder::set(node, "axis", w.chance(25) ? axis - rank : axis);
  if (w.opset < 13 && !even) ModelBuilder::set(node, "split", sizes);
  if (w.opset >= 18 && even) ModelBuilder::set(node, "num_outputs", std::int64_t{2});
  const ModelBuilder::Names names(node.output().begin(), node.output().end());
  std::optional<Tensor> last;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Dims shape = x.shape;
    shape[static_cast<std::size_t>(axis)] = sizes[i];
    if (last) w.pool.push_back(*last);
    last = w.moved(face, x, names[i], shape);
  }
  return last;
}

std::optional<Tensor> slice(ModelWriter& w, const Tensor& x) {
  if (x.shape.empty()) return std::nullopt;
  const Face face = w.face(x);
  Dims shape = x.shape, starts, ends, axes, steps;
  bool plainSteps = true;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    const std::int64_t extent = x.shape[i];
    if (i == 0 && extent == 1) continue;
    if (!w.chance(60)) continue;
    const std::int64_t step = w.choices.pick(std::vector<std::int64_t>{1, 1, 1, 2, 3, -1, -2});
    const std::int64_t first = w.between(0, extent - 1), last = w.between(first, extent - 1);
    plainSteps = plainSteps && step == 1;
    axes.push_back(w.chance(20) ? static_cast<std::int64_t>(i) - std::ssize(x.shape)
                                : static_cast<std::int64_t>(i));
    steps.push_back(step);
    if (step > 0) {
      starts.push_back(first);
      ends.push_back(last == extent - 1 && w.chance(50) ? INT64_MAX : last + 1);
    } else {
      starts.push_back(last == extent - 1 ? -1 : last);
      ends.push_back(first == 0 ? INT64_MIN + 1 : first - 1);
    }
    shape[i] = (last - first) / (step > 0 ? step : -step) + 1;
  }
  if (axes.empty()) return std::nullopt;
  ModelBuilder::Names inputs{face.name, w.m.integers(starts), w.m.integers(ends),
                             w.m.integers(axes)};
  if (!plainSteps) inputs.push_back(w.m.integers(steps));
  return w.moved(face, x, w.m.op("Slice", inputs), shape);
}

std::optional<Tensor> pad(ModelWriter& w, const Tensor& x) {
  const std::size_t rank = x.shape.size();
  if (rank == 0) return std::nullopt;
  const Face face = w.opset >= 11 ? w.face(x) : Face{w.real(x), false};
  const char* mode = w.choices.pick(std::vector<const char*>{
      "constant", "constant", "constant", "reflect", "edge", w.opset >= 19 ? "wrap" : "edge"});
  const bool constant = mode[0] == 'c';
  Dims begins(rank, 0), ends(rank, 0), shape = x.shape;
  for (std::size_t i = rank > 2 && !w.chance(15) ? 2 : 1; i < rank; ++i) {
    const std::int64_t most = constant ? 3 : std::min<std::int64_t>(3, x.shape[i] - 1);
    begins[i] = w.between(0, most);
    ends[i] = w.between(0, most);
    if (constant && shape[i] > 2 && w.chance(10)) ends[i] = -1;  // crops
    shape[i] += begins[i] + ends[i];
  }
  Dims pads = begins;
  pads.insert(pads.end(), ends.begin(), ends.end());
  const double value = w.choices.pick(std::vector<double>{0, 0, 0.5});
  ModelBuilder::Names inputs{face.name};
  if (w.opset >= 11) {
    inputs.push_back(w.shapeInput(pads));
    if (constant && w.chance(60)) {
      if (!face.isInteger)
        inputs.push_back(w.m.scalar(static_cast<float>(value)));
      else
        inputs.push_back(x.scaling.zero);
    }
  }
  auto& node = w.m.node("Pad", inputs);
  if (!constant || w.chance(50)) ModelBuilder::set(node, "mode", mode);
  if (w.opset < 11) {
    ModelBuilder::set(node, "pads", pads);
    if (constant && value != 0) ModelBuilder::set(node, "value", static_cast<float>(value));
  }
  return w.moved(face, x, node.output(0), shape);
}

std::optional<Tensor> resize(ModelWriter& w, const Tensor& x) {
  if (x.shape.size() != 4 || x.shape[0] != 1) return std::nullopt;
  const Face face = w.face(x);
  const bool old = w.opset < 11, bySize = !old && w.chance(40);
  Dims shape = x.shape;
  std::vector<float> scales{1, 1};
  for (std::size_t i = 2; i < 4; ++i) {
    const std::int64_t extent = x.shape[i];
    shape[i] = w.chance(60) ? extent * w.between(1, 3) : w.between(1, 2 * extent);
    scales.push_back(static_cast<float>(shape[i]) / static_cast<float>(extent));
    // The Runtime, too, multiplies in float32.
    if (static_cast<std::int64_t>(scales.back() * static_cast<float>(extent)) != shape[i])
      return std::nullopt;
  }
  ModelBuilder::Names inputs{face.name};
  if (!old) inputs.push_back(w.opset < 13 ? w.m.floats({0}, {}) : "");
  if (bySize)
    inputs.insert(inputs.end(), {w.opset < 13 ? w.m.floats({0}, {}) : "", w.shapeInput(shape)});
  else
    inputs.push_back(w.m.floats({4}, scales));
  auto& node = w.m.node(old && w.chance(30) ? "Upsample" : "Resize", inputs);
  const bool linear = w.chance(5);
  if (linear || w.chance(50)) ModelBuilder::set(node, "mode", linear ? "linear" : "nearest");
  if (!old) {
    ModelBuilder::set(node, "coordinate_transformation_mode",
                      w.choices.pick(std::vector<const char*>{
                          "asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"}));
    const std::vector<const char*> roundings{"floor", "round_prefer_floor", "round_prefer_ceil",
                                             "ceil"};
    ModelBuilder::set(node, "nearest_mode", w.asRuntime ? "floor" : w.choices.pick(roundings));
  }
  return w.moved(face, x, node.output(0), shape);
}

Dims permuted(const Dims& shape, const Dims& permutation) {
  Dims out;
  for (const std::int64_t i : permutation) out.push_back(shape[static_cast<std::size_t>(i)]);
  return out;
}

std::optional<Tensor> transpose(ModelWriter& w, const Tensor& x) {
  const std::size_t rank = x.shape.size();
  if (rank < 2) return std::nullopt;
  Dims permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  if (rank == 4 && w.chance(50)) {
    permutation = w.choices.pick(std::vector<Dims>{{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 1, 3, 2}});
  } else {
    const std::int64_t from = x.shape[0] == 1 ? 1 : 0;
    for (std::size_t i = rank - 1; static_cast<std::int64_t>(i) > from; --i)
      std::swap(
          permutation[i],
          permutation[static_cast<std::size_t>(w.between(from, static_cast<std::int64_t>(i)))]);
  }
  const Face face = w.face(x);
  return w.moved(face, x, w.m.op("Transpose", {face.name}, "perm", permutation),
                 permuted(x.shape, permutation));
}

// As ShuffleNet has it: split the channels in groups, transpose, join.
std::optional<Tensor> shuffle(ModelWriter& w, const Tensor& x) {
  if (x.shape.size() != 4) return std::nullopt;
  std::vector<std::int64_t> groups;
  for (std::int64_t g = 1; g <= x.shape[1]; ++g)
    if (x.shape[1] % g == 0) groups.push_back(g);
  const std::int64_t group = w.choices.pick(groups);
  const Face face = w.face(x);
  const std::string apart = w.m.op(
      "Reshape",
      {face.name, w.shapeInput({x.shape[0], group, x.shape[1] / group, x.shape[2], x.shape[3]})});
  const std::string turned = w.m.op("Transpose", {apart}, "perm", Dims{0, 2, 1, 3, 4});
  return w.moved(face, x, w.m.op("Reshape", {turned, w.shapeInput(x.shape)}), x.shape);
}

std::optional<Tensor> blocks(ModelWriter& w, const Tensor& x) {
  if (x.shape.size() != 4) return std::nullopt;
  const std::int64_t block = w.between(2, 3), square = block * block;
  const bool toDepth = x.shape[2] % block == 0 && x.shape[3] % block == 0;
  if (!toDepth && x.shape[1] % square != 0) return std::nullopt;
  const bool crd = !toDepth && w.opset >= 11 && w.chance(50);
  const Face face = w.face(x);
  auto& node = w.m.node(toDepth ? "SpaceToDepth" : "DepthToSpace", {face.name});
  ModelBuilder::set(node, "blocksize", block);
  if (crd) ModelBuilder::set(node, "mode", "CRD");
  const Dims shape =
      toDepth ? Dims{x.shape[0], x.shape[1] * square, x.shape[2] / block, x.shape[3] / block}
              : Dims{x.shape[0], x.shape[1] / square, x.shape[2] * block, x.shape[3] * block};
  return w.moved(face, x, node.output(0), shape);
}

std::optional<Tensor> expand(ModelWriter& w, const Tensor& x) {
  Dims shape = x.shape;
  for (std::size_t i = 1; i < shape.size(); ++i)
    if (shape[i] == 1 && w.chance(70)) shape[i] = w.between(1, 6);
  if (elementCount(shape) > kMostMoved || shape.empty()) return std::nullopt;
  const Face face = w.face(x);
  return w.moved(face, x, w.m.op("Expand", {face.name, w.shapeInput(shape)}), shape);
}

std::optional<Tensor> tile(ModelWriter& w, const Tensor& x) {
  if (x.shape.empty()) return std::nullopt;
  Dims repeats, shape = x.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    repeats.push_back(i > 0 && w.chance(40) ? w.between(1, 3) : 1);
    shape[i] *= repeats.back();
  }
  const Face face = w.face(x);
  return w.moved(face, x, w.m.op("Tile", {face.name, w.shapeInput(repeats)}), shape);
}

// --- views

std::optional<Tensor> reshape(ModelWriter& w, const Tensor& x) {
  const std::int64_t count = elementCount(x.shape);
  std::vector<Dims> shapes{{1, count}, {count}, {1, 1, count}, {1, count, 1, 1}};
  if (x.shape.size() == 4) {
    const std::int64_t pixels = x.shape[2] * x.shape[3];
    shapes.push_back({x.shape[0], x.shape[1], pixels});
    shapes.push_back({x.shape[0], x.shape[1] * x.shape[2], x.shape[3]});
    if (x.shape[0] == 1) shapes.push_back({x.shape[1], pixels});
    shapes.push_back({x.shape[0], x.shape[1], 1, pixels});
  }
  for (std::int64_t d = 2; d <= 8; ++d)
    if (count % d == 0) shapes.push_back({1, d, count / d, 1});
  const Dims shape = w.choices.pick(shapes);
  Dims target = shape;
  if (w.chance(30)) target[static_cast<std::size_t>(w.between(0, std::ssize(target) - 1))] = -1;
  if (w.chance(20) && !x.shape.empty() && target[0] == x.shape[0]) target[0] = 0;
  const Face face = w.face(x);
  return w.moved(face, x, w.m.op("Reshape", {face.name, w.shapeInput(target)}), shape);
}

std::optional<Tensor> flatten(ModelWriter& w, const Tensor& x) {
  if (x.shape.empty()) return std::nullopt;
  const std::int64_t axis = w.chance(85) ? 1 : w.between(0, std::ssize(x.shape));
  const Dims shape{elementCount(Dims(x.shape.begin(), x.shape.begin() + axis)),
                   elementCount(Dims(x.shape.begin() + axis, x.shape.end()))};
  const Face face = w.face(x);
  auto& node = w.m.node("Flatten", {face.name});
  if (axis != 1 || w.chance(50)) ModelBuilder::set(node, "axis", axis);
  return w.moved(face, x, node.output(0), shape);
}

// Squeeze or Unsqueeze: `shape` is the result's.
std::optional<Tensor> withAxes(ModelWriter& w, const Tensor& x, const char* kind, const Dims& axes,
                               const Dims& shape) {
  const Face face = w.face(x);
  ModelBuilder::Names inputs{face.name};
  if (w.opset >= 13) inputs.push_back(w.shapeInput(axes));
  auto& node = w.m.node(kind, inputs);
  if (w.opset < 13) ModelBuilder::set(node, "axes", axes);
  return w.moved(face, x, node.output(0), shape);
}

std::optional<Tensor> squeeze(ModelWriter& w, const Tensor& x) {
  Dims axes, shape;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    if (x.shape[i] == 1 && w.chance(i == 0 ? 30 : 80))
      axes.push_back(static_cast<std::int64_t>(i));
    else
      shape.push_back(x.shape[i]);
  }
  if (axes.empty() || shape.empty()) return std::nullopt;
  return withAxes(w, x, "Squeeze", axes, shape);
}

std::optional<Tensor> unsqueeze(ModelWriter& w, const Tensor& x) {
  if (x.shape.size() > 4) return std::nullopt;
  const std::int64_t axis = w.between(0, std::ssize(x.shape));
  Dims shape = x.shape;
  shape.insert(shape.begin() + axis, 1);
  return withAxes(w, x, "Unsqueeze", {axis}, shape);
}

}  // namespace

std::vector<NamedMaker> movementMakers() {
  return {{"Concat", concat, 5},        {"Split", split, 3},
          {"Slice", slice, 3},          {"Pad", pad, 3},
          {"Resize", resize, 3},        {"Transpose", transpose, 2},
          {"Reshape", reshape, 2},      {"Flatten", flatten, 4},
          {"Squeeze", squeeze, 2},      {"Unsqueeze", unsqueeze, 2},
          {"Channel shuffle", shuffle}, {"Blocks", blocks, 3},
          {"Expand", expand, 2},        {"Tile", tile, 2}};
}

}  // namespace heddle::property
