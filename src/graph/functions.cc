// Functions of one and two elements: the one place that knows them (canonicalize's tables and the
// host operators).
#include <algorithm>
#include <cmath>

#include "heddle/graph/graph.h"

namespace heddle {

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double gelu(double x, bool tanhApproximation) {
  constexpr double kSqrtHalf = 0.70710678118654752440;
  constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
  if (tanhApproximation)
    return 0.5 * x * (1 + std::tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x)));
  return 0.5 * x * (1 + std::erf(x * kSqrtHalf));
}

}  // namespace

std::optional<double> evaluateFunction(NodeKind kind, const FunctionAttributes& f, double x) {
  switch (kind) {
    case NodeKind::Relu:
      return std::max(x, 0.0);
    case NodeKind::Clip:
      return std::min(std::max(x, f.low), f.high);
    case NodeKind::LeakyRelu:
    case NodeKind::QLinearLeakyRelu:
      return x < 0 ? x * double{f.alpha} : x;
    case NodeKind::Sigmoid:
    case NodeKind::QLinearSigmoid:
      return sigmoid(x);
    case NodeKind::HardSigmoid:
      return std::clamp(double{f.alpha} * x + double{f.beta}, 0.0, 1.0);
    case NodeKind::HardSwish:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case NodeKind::Tanh:
      return std::tanh(x);
    case NodeKind::Elu:
      return x < 0 ? double{f.alpha} * std::expm1(x) : x;
    case NodeKind::Selu:
      return double{f.beta} * (x < 0 ? double{f.alpha} * std::expm1(x) : x);
    case NodeKind::Softplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case NodeKind::Softsign:
      return x / (1 + std::abs(x));
    case NodeKind::Exp:
      return std::exp(x);
    case NodeKind::Log:
      return std::log(x);
    case NodeKind::Sqrt:
      return std::sqrt(x);
    case NodeKind::Abs:
      return std::abs(x);
    case NodeKind::Neg:
      return -x;
    case NodeKind::Floor:
      return std::floor(x);
    case NodeKind::Ceil:
      return std::ceil(x);
    case NodeKind::Round:
      return std::nearbyint(x);
    case NodeKind::Erf:
      return std::erf(x);
    case NodeKind::Reciprocal:
      return 1 / x;
    case NodeKind::Sign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case NodeKind::Mish:
      return x * std::tanh(x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)));
    case NodeKind::Gelu:
      return gelu(x, f.tanhApproximation);
    default:
      return std::nullopt;
  }
}

std::optional<double> evaluateBinary(NodeKind kind, double a, double b) {
  switch (kind) {
    case NodeKind::Add:
      return a + b;
    case NodeKind::Sub:
      return a - b;
    case NodeKind::Mul:
      return a * b;
    case NodeKind::Div:
      return a / b;
    case NodeKind::Pow:
      return std::pow(a, b);
    case NodeKind::Min:  // of no number and any number: no number
      return std::isnan(b) ? b : std::min(a, b);
    case NodeKind::Max:
      return std::isnan(b) ? b : std::max(a, b);
    default:
      return std::nullopt;
  }
}

std::int64_t nearestSource(const ResizeAttributes& resize, std::size_t axis, std::int64_t out,
                           std::int64_t inputSize, std::int64_t outputSize) {
  // In float32, as ONNX Runtime has it: next to a whole or half coordinate that decides.
  const auto scale = static_cast<float>(resize.scales[axis]);
  const auto x = static_cast<float>(out), input = static_cast<float>(inputSize),
             output = static_cast<float>(outputSize);
  float source = 0;
  switch (resize.coordinates) {
    case ResizeCoordinates::HalfPixel:
      source = (x + 0.5F) / scale - 0.5F;
      break;
    case ResizeCoordinates::HalfPixelSymmetric:
      source = input / 2 * (1 - output / (scale * input)) + (x + 0.5F) / scale - 0.5F;
      break;
    case ResizeCoordinates::PytorchHalfPixel:
      source = outputSize > 1 ? (x + 0.5F) / scale - 0.5F : 0;
      break;
    case ResizeCoordinates::AlignCorners:
      source = outputSize == 1 ? 0 : x * (input - 1) / (output - 1);
      break;
    case ResizeCoordinates::Asymmetric:
      source = x / scale;
      break;
    case ResizeCoordinates::HalfPixelForNn:
      source = (x + 0.5F) / scale;
      break;
  }
  double index = 0;
  switch (resize.rounding) {
    case ResizeRounding::RoundPreferFloor:
      index = std::ceil(double{source} - 0.5);
      break;
    case ResizeRounding::RoundPreferCeil:
      index = std::floor(double{source} + 0.5);
      break;
    case ResizeRounding::Floor:
      index = std::floor(double{source});
      break;
    case ResizeRounding::Ceil:
      index = std::ceil(double{source});
      break;
  }
  return static_cast<std::int64_t>(std::clamp(index, 0.0, static_cast<double>(inputSize - 1)));
}

}  // namespace heddle
