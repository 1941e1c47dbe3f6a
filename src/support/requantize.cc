#include "heddle/support/requantize.h"

#include <cmath>

#include "heddle/support/check.h"

namespace heddle {

Multiplier makeMultiplier(double scale) {
  HEDDLE_CHECK(std::isfinite(scale) && scale >= 0) << scale;
  if (scale == 0) return {};
  int exponent = 0;
  const double fraction =
      std::frexp(scale, &exponent);  // scale = fraction * 2^exponent, fraction in [0.5, 1)
  std::int64_t multiplier = std::llrint(std::ldexp(fraction, 31));
  if (multiplier == std::int64_t{1} << 31) {  // rounded up to the next power of two
    multiplier >>= 1;
    ++exponent;
  }
  return {static_cast<std::int32_t>(multiplier), 31 - exponent};
}

}  // namespace heddle
