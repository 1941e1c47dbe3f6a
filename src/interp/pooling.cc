// MaxPool and AveragePool. An average is an exact rational rounded once: 1/6 as a fixed-point
// multiplier would break ties the wrong way.
//
//   average of 1, 2, 2, 1 = 6/4 = 1.5 -> 2;  of 0, 1 = 0.5 -> 0 (half to even)
#include <algorithm>

#include "heddle/support/check.h"
#include "kernels.h"

namespace heddle::interp {
namespace {

// Calls visit(inputY, inputX) for every tap of output pixel (y, x), those outside the tensor too.
template <class Visit>
void forEachTap(const Window& window, std::int64_t y, std::int64_t x, Visit visit) {
  for (std::int64_t ky = 0; ky < window.kernelY; ++ky)
    for (std::int64_t kx = 0; kx < window.kernelX; ++kx)
      visit(y * window.strideY - window.padTop + ky * window.dilationY,
            x * window.strideX - window.padLeft + kx * window.dilationX);
}

std::int64_t average(std::int64_t sum, std::int64_t count, Multiplier rescale) {
  HEDDLE_CHECK(count > 0 && rescale.shift > -31 && rescale.shift < 63)
      << "count " << count << " shift " << rescale.shift;
  const Int128 scaled = Int128{sum} * rescale.multiplier;
  const Int128 one = 1;
  if (rescale.shift < 0) return roundHalfEvenDivide(scaled * (one << -rescale.shift), count);
  return roundHalfEvenDivide(scaled, count * (one << rescale.shift));
}

}  // namespace

TensorValue evaluate(const MaxPool& op, const Operand& input, const CanonicalTensor& output) {
  const std::int64_t channels = output.shape.channels;
  TensorValue result(static_cast<std::size_t>(output.shape.elements()), -128);
  std::int8_t* to = result.data();
  for (std::int64_t y = 0; y < output.shape.height; ++y)
    for (std::int64_t x = 0; x < output.shape.width; ++x, to += channels)
      forEachTap(op.window, y, x, [&](std::int64_t inputY, std::int64_t inputX) {
        if (!input.inside(inputY, inputX)) return;
        const std::int8_t* from = input.pixel(inputY, inputX);
        for (std::int64_t c = 0; c < channels; ++c) to[c] = std::max(to[c], from[c]);
      });
  return result;
}

TensorValue evaluate(const AveragePool& op, const Operand& input, const CanonicalTensor& output) {
  const Window& window = op.window;
  const Shape& from = input.shape();
  const auto counted = [&](std::int64_t y, std::int64_t x) {
    return y >= -window.padTop && y < from.height + window.padBottom && x >= -window.padLeft &&
           x < from.width + window.padRight;
  };
  TensorValue result(static_cast<std::size_t>(output.shape.elements()));
  std::int8_t* to = result.data();
  std::vector<std::int64_t> sums(static_cast<std::size_t>(output.shape.channels));
  for (std::int64_t y = 0; y < output.shape.height; ++y)
    for (std::int64_t x = 0; x < output.shape.width; ++x) {
      std::fill(sums.begin(), sums.end(), 0);
      std::int64_t count = 0;
      forEachTap(window, y, x, [&](std::int64_t inputY, std::int64_t inputX) {
        const bool inside = input.inside(inputY, inputX);
        count += op.countIncludesPad ? counted(inputY, inputX) : inside;
        if (!inside) return;
        const std::int8_t* pixel = input.pixel(inputY, inputX);
        for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += pixel[c] - input.zero();
      });
      for (const std::int64_t sum : sums)
        *to++ = saturate(output.zeroPoint + average(sum, count, op.rescale), op.clamp.low,
                         op.clamp.high);
    }
  return result;
}

}  // namespace heddle::interp
