// The one primitive that turns wide integers into int8: a multiplier, one half-to-even shift, a
// zero point, saturation. Shared by the interpreter and the Machine's kernels; nothing else is.
// docs/numbers.md states the meaning.
//
//   scale 0.75 = 1610612736 * 2^-31;  roundHalfEvenShift(5, 1) == 2,  roundHalfEvenShift(7, 1) == 4
#pragma once
#include <algorithm>
#include <cstdint>

namespace heddle {

// A positive real as multiplier * 2^-shift, multiplier normalized to [2^30, 2^31). 0 is {0, 0}.
// shift may be negative (a scale above 2^31); then the product is shifted left.
struct Multiplier {
  std::int32_t multiplier = 0;
  std::int32_t shift = 0;
  friend bool operator==(const Multiplier&, const Multiplier&) = default;
};

// Nearest multiplier to `scale` (finite, >= 0). Exact for powers of two.
Multiplier makeMultiplier(double scale);

// value / 2^shift, rounded to nearest, ties to even; 0 <= shift. A shift of 63 or more gives 0
// unless |value| > 2^62.
constexpr std::int64_t roundHalfEvenShift(std::int64_t value, int shift) {
  if (shift <= 0) return value;
  if (shift > 63) return 0;
  if (shift == 63) return value > INT64_MAX / 2 + 1 ? 1 : value < INT64_MIN / 2 ? -1 : 0;
  const std::int64_t floor = value >> shift;
  const std::int64_t rest = value - floor * (std::int64_t{1} << shift);
  const std::int64_t half = std::int64_t{1} << (shift - 1);
  return floor + (rest > half || (rest == half && (floor & 1)) ? 1 : 0);
}

// numerator / denominator, rounded to nearest, ties to even; denominator > 0.
__extension__ typedef __int128 Int128;
constexpr std::int64_t roundHalfEvenDivide(Int128 numerator, Int128 denominator) {
  Int128 floor = numerator / denominator;
  Int128 rest = numerator % denominator;
  if (rest < 0) {
    rest += denominator;
    floor -= 1;
  }
  const Int128 twice = rest * 2;
  if (twice > denominator || (twice == denominator && (floor & 1))) floor += 1;
  // A quotient of no int64 saturates whatever is added to it; keep its sign.
  constexpr Int128 kMost = std::int64_t{1} << 62;
  return static_cast<std::int64_t>(floor > kMost ? kMost : floor < -kMost ? -kMost : floor);
}

// accumulator * m, rounded half to even once.
constexpr std::int64_t applyMultiplier(std::int32_t accumulator, Multiplier m) {
  const std::int64_t product = std::int64_t{accumulator} * m.multiplier;
  if (m.shift >= 0) return roundHalfEvenShift(product, m.shift);
  // A scale above 2^31 saturates any non-zero accumulator anyway; keep the sign, avoid the
  // overflow.
  return product == 0 ? 0 : product > 0 ? (std::int64_t{1} << 40) : -(std::int64_t{1} << 40);
}

constexpr std::int8_t saturate(std::int64_t value, std::int8_t low = -128, std::int8_t high = 127) {
  return static_cast<std::int8_t>(std::clamp<std::int64_t>(value, low, high));
}

}  // namespace heddle
