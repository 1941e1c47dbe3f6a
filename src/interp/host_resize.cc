// Resize: nearest picks, linear and cubic weigh the neighbours along one axis after the other.
//
//   linear, half_pixel, {0, 4} to 4 elements: 0, 1, 3, 4
#include <algorithm>
#include <cmath>

#include "host_kernels.h"

namespace heddle::host {
namespace {

struct Tap {
  std::int64_t position;
  double weight;
};

double coordinate(const ResizeAttributes& resize, std::size_t axis, std::int64_t out,
                  std::int64_t inputSize, std::int64_t outputSize) {
  const double scale = resize.scales[axis], o = static_cast<double>(out);
  const auto input = static_cast<double>(inputSize), output = static_cast<double>(outputSize);
  switch (resize.coordinates) {
    case ResizeCoordinates::HalfPixel:
      return (o + 0.5) / scale - 0.5;
    case ResizeCoordinates::PytorchHalfPixel:
      return outputSize > 1 ? (o + 0.5) / scale - 0.5 : 0;
    case ResizeCoordinates::AlignCorners:
      return outputSize > 1 ? o * (input - 1) / (output - 1) : 0;
    case ResizeCoordinates::Asymmetric:
      return o / scale;
    case ResizeCoordinates::HalfPixelForNn:
      return (o + 0.5) / scale;
    case ResizeCoordinates::HalfPixelSymmetric: {
      const double adjustment = output / (scale * input);
      return input / 2 * (1 - adjustment) + (o + 0.5) / scale - 0.5;
    }
  }
  return o;
}

// Keys' cubic convolution kernel with coefficient a.
double cubicWeight(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

std::vector<Tap> tapsOf(const ResizeAttributes& resize, std::size_t axis, std::int64_t out,
                        std::int64_t inputSize, std::int64_t outputSize) {
  if (resize.mode == ResizeMode::Nearest)
    return {{nearestSource(resize, axis, out, inputSize, outputSize), 1}};
  const double x = coordinate(resize, axis, out, inputSize, outputSize);
  const auto floor = static_cast<std::int64_t>(std::floor(x));
  const double fraction = x - static_cast<double>(floor);
  std::vector<Tap> taps;
  if (resize.mode == ResizeMode::Linear)
    taps = {{floor, 1 - fraction}, {floor + 1, fraction}};
  else
    for (std::int64_t i = -1; i <= 2; ++i)
      taps.push_back(
          {floor + i, cubicWeight(fraction - static_cast<double>(i), resize.cubicCoefficient)});
  double sum = 0;
  for (Tap& tap : taps) {
    const bool outside = tap.position < 0 || tap.position >= inputSize;
    if (outside && resize.excludeOutside) tap.weight = 0;
    tap.position = std::clamp<std::int64_t>(tap.position, 0, inputSize - 1);
    sum += tap.weight;
  }
  for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

}  // namespace

void resize(Call& call) {
  const auto& attributes = call.attributes<ResizeAttributes>();
  std::vector<double> values = call.input(0).values;
  Dims shape = call.input(0).shape;
  // What shrinks goes first, so that no array between is larger than both ends.
  std::vector<std::size_t> axes;
  for (const bool growing : {false, true})
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if ((call.output.shape[axis] > shape[axis]) == growing) axes.push_back(axis);
  for (const std::size_t axis : axes) {
    const std::int64_t from = shape[axis], to = call.output.shape[axis];
    if (from == to && attributes.scales[axis] == 1) continue;
    const AxisView view = viewAlong(shape, static_cast<std::int64_t>(axis));
    std::vector<double> resized(static_cast<std::size_t>(view.outer * to * view.inner));
    for (std::int64_t o = 0; o < to; ++o)
      for (const Tap& tap : tapsOf(attributes, axis, o, from, to))
        for (std::int64_t outer = 0; outer < view.outer; ++outer)
          for (std::int64_t inner = 0; inner < view.inner; ++inner)
            resized[static_cast<std::size_t>((outer * to + o) * view.inner + inner)] +=
                tap.weight * values[static_cast<std::size_t>(
                                 (outer * from + tap.position) * view.inner + inner)];
    values = std::move(resized);
    shape[axis] = to;
  }
  call.output.values = std::move(values);
}

}  // namespace heddle::host
