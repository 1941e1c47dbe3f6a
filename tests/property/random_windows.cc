// Pools and reductions.
#include <algorithm>

#include "model_writer.h"

namespace heddle::property {
namespace {

bool isImage(const Tensor& x) { return x.shape.size() >= 3 && x.shape.size() <= 5; }

Dims pooledShape(const Dims& x, const Dims& extents) {
  Dims shape(x.begin(), x.begin() + 2);
  shape.insert(shape.end(), extents.begin(), extents.end());
  return shape;
}

std::optional<Tensor> maxPool(ModelWriter& w, const Tensor& x) {
  if (!isImage(x)) return std::nullopt;
  const RandomWindow window = randomWindow(w, Dims(x.shape.begin() + 2, x.shape.end()), true, true);
  // Of integers from operator set 12 on.
  const Face face = w.opset >= 12 ? w.face(x) : Face{w.real(x), false};
  auto& node = w.m.node("MaxPool", {face.name});
  window.setOn(node, true);
  return w.moved(face, x, node.output(0), pooledShape(x.shape, window.output));
}

std::optional<Tensor> averagePool(ModelWriter& w, const Tensor& x) {
  if (!isImage(x)) return std::nullopt;
  const RandomWindow window = randomWindow(w, Dims(x.shape.begin() + 2, x.shape.end()),
                                           w.opset >= 19 && w.chance(50), true);
  const bool count = w.chance(40);
  auto& node = w.m.node("AveragePool", {w.real(x)});
  window.setOn(node, true);
  if (count) ModelBuilder::set(node, "count_include_pad", std::int64_t{1});
  return w.result(node.output(0), pooledShape(x.shape, window.output));
}

std::optional<Tensor> globalAveragePool(ModelWriter& w, const Tensor& x) {
  if (!isImage(x)) return std::nullopt;
  return w.result(w.m.op("GlobalAveragePool", {w.real(x)}),
                  pooledShape(x.shape, Dims(x.shape.size() - 2, 1)), 1.0 / 80);
}

std::optional<Tensor> globalMaxPool(ModelWriter& w, const Tensor& x) {
  if (!isImage(x)) return std::nullopt;
  return w.result(w.m.op("GlobalMaxPool", {w.real(x)}),
                  pooledShape(x.shape, Dims(x.shape.size() - 2, 1)));
}

std::optional<Tensor> qlinearAveragePool(ModelWriter& w, const Tensor& given) {
  if (given.shape.size() != 4) return std::nullopt;
  const bool last = w.chance(30), count = w.chance(40);
  const std::size_t first = last ? 1 : 2;
  const auto begin = given.shape.begin() + static_cast<std::ptrdiff_t>(first);
  const RandomWindow window = randomWindow(w, Dims(begin, begin + 2), false, true);
  const Tensor x = w.asInteger(given);
  Scaling out = w.scaling(1.0 / 40);
  while (out.isUnsigned != x.scaling.isUnsigned) out = x.scaling;
  auto& node = w.m.node("QLinearAveragePool",
                        {x.integer, x.scaling.scale, x.scaling.zero, out.scale, out.zero});
  node.set_domain("com.microsoft");
  window.setOn(node, true);
  if (last) ModelBuilder::set(node, "channels_last", std::int64_t{1});
  if (count) ModelBuilder::set(node, "count_include_pad", std::int64_t{1});
  Dims shape = x.shape;
  shape[first] = window.output[0];
  shape[first + 1] = window.output[1];
  return w.integerResult(node.output(0), shape, out);
}

std::optional<Tensor> qlinearGlobalAveragePool(ModelWriter& w, const Tensor& given) {
  if (given.shape.size() != 4) return std::nullopt;
  const bool last = w.chance(30);
  const Tensor x = w.asInteger(given);
  Scaling out = w.scaling(1.0 / 80);
  if (out.isUnsigned != x.scaling.isUnsigned) out = x.scaling;
  auto& node = w.m.node("QLinearGlobalAveragePool",
                        {x.integer, x.scaling.scale, x.scaling.zero, out.scale, out.zero});
  node.set_domain("com.microsoft");
  if (last) ModelBuilder::set(node, "channels_last", std::int64_t{1});
  Dims shape = x.shape;
  shape[last ? 1 : 2] = shape[last ? 2 : 3] = 1;
  return w.integerResult(node.output(0), shape, out);
}

std::optional<Tensor> reduce(ModelWriter& w, const Tensor& x, const char* kind,
                             std::int64_t axesAreInputsFrom) {
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  if (rank == 0) return std::nullopt;
  Dims axes;
  if (rank == 4 && w.chance(70)) {
    axes = w.choices.pick(std::vector<Dims>{{2, 3}, {2}, {3}, {2, 3}});
  } else {
    for (std::int64_t i = 0; i < rank; ++i)
      if (w.chance(40)) axes.push_back(i);
  }
  const bool keep = w.chance(60), all = axes.empty();
  Dims shape;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool gone = all || std::ranges::find(axes, i) != axes.end();
    if (!gone) shape.push_back(x.shape[static_cast<std::size_t>(i)]);
    if (gone && keep) shape.push_back(1);
  }
  if (w.chance(30))
    for (std::int64_t& axis : axes) axis -= rank;
  ModelBuilder::Names inputs{w.real(x)};
  const bool asInput = w.opset >= axesAreInputsFrom;
  if (asInput && !all) inputs.push_back(w.shapeInput(axes));
  auto& node = w.m.node(kind, inputs);
  if (!asInput && !all) ModelBuilder::set(node, "axes", axes);
  if (!keep) ModelBuilder::set(node, "keepdims", std::int64_t{0});
  return w.result(node.output(0), shape);
}

Maker reducer(const char* kind, std::int64_t axesAreInputsFrom) {
  return [=](ModelWriter& w, const Tensor& x) { return reduce(w, x, kind, axesAreInputsFrom); };
}

}  // namespace

std::vector<NamedMaker> windowMakers() {
  return {{"MaxPool", maxPool, 5},
          {"AveragePool", averagePool, 5},
          {"GlobalAveragePool", globalAveragePool, 2},
          {"GlobalMaxPool", globalMaxPool, 1},
          {"QLinearAveragePool", qlinearAveragePool, 3},
          {"QLinearGlobalAveragePool", qlinearGlobalAveragePool, 2},
          {"ReduceMean", reducer("ReduceMean", 18), 3},
          {"ReduceSum", reducer("ReduceSum", 13), 1},
          {"ReduceMax", reducer("ReduceMax", 18), 1},
          {"ReduceMin", reducer("ReduceMin", 18), 1}};
}

}  // namespace heddle::property
