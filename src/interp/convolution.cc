// Conv and DepthwiseConv: gather the taps of some pixels less the zero point, then plain dot
// products of int16, which the compiler turns into vector multiply-adds. A sum of 16384 products of
// values within [-255, 255] fits int32; longer sums wrap, as the accumulator of the definition
// does.
//
//   1x1 input 3 (zero 1), weight 2, bias 5:  (3 - 1) * 2 + 5 = 9, then requantize
#include <algorithm>

#include "heddle/support/check.h"
#include "kernels.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define HEDDLE_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define HEDDLE_VECTOR_CLONES
#endif

namespace heddle::interp {
namespace {

constexpr std::int64_t kPixelsAtOnce =
    64;  // the taps of so many pixels share one reading of the weights
constexpr std::int64_t kExactProducts = 16384;  // 16384 * 255 * 255 < 2^31

// sums[p] = the dot product of row p of `taps` with `weights`, modulo 2^32.
HEDDLE_VECTOR_CLONES
void dotProducts(const std::int16_t* taps, std::int64_t pixels, const std::int16_t* weights,
                 std::int64_t length, std::uint32_t* sums) {
  for (std::int64_t p = 0; p < pixels; ++p) {
    const std::int16_t* row = taps + p * length;
    std::uint32_t total = 0;
    for (std::int64_t first = 0; first < length; first += kExactProducts) {
      const std::int64_t end = std::min(length, first + kExactProducts);
      std::int32_t sum = 0;
      for (std::int64_t i = first; i < end; ++i) sum += row[i] * weights[i];
      total += static_cast<std::uint32_t>(sum);
    }
    sums[p] = total;
  }
}

// to[i] = from[i] - zero.
HEDDLE_VECTOR_CLONES
void widen(const std::int8_t* from, std::int64_t count, int zero, std::int16_t* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<std::int16_t>(from[i] - zero);
}

// sums[c] += taps[c] * weights[c], modulo 2^32.
HEDDLE_VECTOR_CLONES
void multiplyAdd(const std::int8_t* taps, int zero, const std::int16_t* weights, std::int64_t count,
                 std::uint32_t* sums) {
  for (std::int64_t i = 0; i < count; ++i)
    sums[i] += static_cast<std::uint32_t>((taps[i] - zero) * weights[i]);
}

// The taps of output pixel (y, x) in order KY, KX, CIN; the border counts as the zero point.
void gatherTaps(const Window& window, const Operand& input, std::int64_t y, std::int64_t x,
                std::int16_t* taps) {
  const std::int64_t channels = input.shape().channels;
  for (std::int64_t ky = 0; ky < window.kernelY; ++ky) {
    const std::int64_t inputY = y * window.strideY - window.padTop + ky * window.dilationY;
    for (std::int64_t kx = 0; kx < window.kernelX; ++kx, taps += channels) {
      const std::int64_t inputX = x * window.strideX - window.padLeft + kx * window.dilationX;
      if (input.inside(inputY, inputX))
        widen(input.pixel(inputY, inputX), channels, input.zero(), taps);
      else
        std::fill_n(taps, channels, std::int16_t{0});
    }
  }
}

// The output of channel c (of a Conv or DepthwiseConv) whose sum of products is `sum`; `zero` is
// the output's zero point.
template <class Convolution>
std::int8_t finish(const Convolution& op, std::size_t c, std::uint32_t sum, int zero) {
  const auto accumulator = static_cast<std::int32_t>(sum + static_cast<std::uint32_t>(op.bias[c]));
  const bool negative = accumulator < 0 && !op.requantizeNegative.empty();
  const Multiplier scale = negative ? op.requantizeNegative[c] : op.requantize[c];
  if (op.fusedTable) zero = op.fusedTable->zero;
  const std::int8_t value =
      saturate(zero + applyMultiplier(accumulator, scale), op.clamp.low, op.clamp.high);
  return op.fusedTable ? op.fusedTable->table[static_cast<std::size_t>(value + 128)] : value;
}

}  // namespace

TensorValue evaluate(const Conv& op, const Operand& input, const CanonicalTensor& output) {
  const Shape& shape = output.shape;
  const std::int64_t length = op.window.kernelY * op.window.kernelX * input.shape().channels;
  HEDDLE_CHECK(std::ssize(op.weights) == shape.channels * length) << output.name;

  TensorValue result(static_cast<std::size_t>(shape.elements()));
  std::vector<std::int16_t> taps(static_cast<std::size_t>(kPixelsAtOnce * length));
  std::vector<std::int16_t> weights(static_cast<std::size_t>(length));
  std::array<std::uint32_t, kPixelsAtOnce> sums;
  const std::int64_t pixels = shape.height * shape.width;
  for (std::int64_t first = 0; first < pixels; first += kPixelsAtOnce) {
    const std::int64_t count = std::min(kPixelsAtOnce, pixels - first);
    for (std::int64_t p = 0; p < count; ++p)
      gatherTaps(op.window, input, (first + p) / shape.width, (first + p) % shape.width,
                 taps.data() + p * length);
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      const auto channel = static_cast<std::size_t>(c);
      widen(op.weights.data() + c * length, length, op.weightZero[channel], weights.data());
      dotProducts(taps.data(), count, weights.data(), length, sums.data());
      for (std::int64_t p = 0; p < count; ++p)
        result[static_cast<std::size_t>((first + p) * shape.channels + c)] =
            finish(op, channel, sums[static_cast<std::size_t>(p)], output.zeroPoint);
    }
  }
  return result;
}

TensorValue evaluate(const DepthwiseConv& op, const Operand& input, const CanonicalTensor& output) {
  const Window& window = op.window;
  const auto channels = static_cast<std::size_t>(output.shape.channels);
  const auto taps = static_cast<std::size_t>(window.kernelY * window.kernelX);
  HEDDLE_CHECK(op.weights.size() == channels * taps &&
               input.shape().channels == output.shape.channels)
      << output.name;

  std::vector<std::int16_t> weights(channels * taps);  // in order KY, KX, C
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t t = 0; t < taps; ++t)
      weights[t * channels + c] =
          static_cast<std::int16_t>(op.weights[c * taps + t] - op.weightZero[c]);

  TensorValue result(static_cast<std::size_t>(output.shape.elements()));
  std::int8_t* to = result.data();
  std::vector<std::uint32_t> sums(channels);
  for (std::int64_t y = 0; y < output.shape.height; ++y)
    for (std::int64_t x = 0; x < output.shape.width; ++x) {
      std::fill(sums.begin(), sums.end(), 0u);
      for (std::int64_t ky = 0; ky < window.kernelY; ++ky)
        for (std::int64_t kx = 0; kx < window.kernelX; ++kx) {
          const std::int64_t inputY = y * window.strideY - window.padTop + ky * window.dilationY;
          const std::int64_t inputX = x * window.strideX - window.padLeft + kx * window.dilationX;
          if (!input.inside(inputY, inputX)) continue;
          multiplyAdd(input.pixel(inputY, inputX), input.zero(),
                      weights.data() + (ky * window.kernelX + kx) * output.shape.channels,
                      output.shape.channels, sums.data());
        }
      for (std::size_t c = 0; c < channels; ++c) *to++ = finish(op, c, sums[c], output.zeroPoint);
    }
  return result;
}

}  // namespace heddle::interp
