// The primitive that interpreter and Machine share, and so the one that neither proves: held
// against its definition, exhaustively where the domain allows.
#include "heddle/support/requantize.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heddle {
namespace {

// value * 2^-shift to the nearest integer, ties to even, from the definition: of the two neighbours
// the nearer one.
std::int64_t byDefinition(Int128 value, int shift) {
  const Int128 one = Int128{1} << shift;
  Int128 below = value / one;
  if (below * one > value) --below;
  const Int128 toBelow = value - below * one, toAbove = (below + 1) * one - value;
  const bool up = toAbove < toBelow || (toAbove == toBelow && below % 2 != 0);
  return static_cast<std::int64_t>(below + (up ? 1 : 0));
}

TEST(Requantize, EveryShiftOfEverySmallValueRoundsHalfToEven) {
  for (int shift = 0; shift <= 18; ++shift)
    for (std::int64_t value = -(1 << 17); value <= (1 << 17); ++value)
      ASSERT_EQ(roundHalfEvenShift(value, shift), byDefinition(value, shift))
          << value << " >> " << shift;
}

TEST(Requantize, ShiftsOfTheLargestValuesDoNotOverflow) {
  for (int shift = 1; shift <= 70; ++shift)
    for (std::int64_t edge : {INT64_MIN, INT64_MIN / 2, INT64_MAX / 2, INT64_MAX})
      for (std::int64_t step = -3; step <= 3; ++step) {
        const Int128 value = Int128{edge} + step;
        if (value < INT64_MIN || value > INT64_MAX) continue;
        ASSERT_EQ(roundHalfEvenShift(static_cast<std::int64_t>(value), shift),
                  byDefinition(value, shift))
            << static_cast<std::int64_t>(value) << " >> " << shift;
      }
}

TEST(Requantize, EveryQuotientOfSmallNumbersRoundsHalfToEven) {
  for (std::int64_t denominator = 1; denominator <= 200; ++denominator)
    for (std::int64_t numerator = -2000; numerator <= 2000; ++numerator) {
      const std::int64_t rounded = roundHalfEvenDivide(numerator, denominator);
      const std::int64_t twiceError = 2 * (numerator - rounded * denominator);
      ASSERT_LE(std::abs(twiceError), denominator) << numerator << " / " << denominator;
      ASSERT_TRUE(std::abs(twiceError) < denominator || rounded % 2 == 0)
          << numerator << " / " << denominator;
    }
}

TEST(Requantize, PowersOfTwoAreExact) {
  for (int exponent = -60; exponent <= 30; ++exponent) {
    const Multiplier m = makeMultiplier(std::ldexp(1.0, exponent));
    EXPECT_EQ(m, (Multiplier{1 << 30, 30 - exponent}));
  }
}

TEST(Requantize, MultipliersAreNormalizedAndTheNearest) {
  for (double scale = 1e-9; scale < 1e6; scale *= 1.00173) {
    const Multiplier m = makeMultiplier(scale);
    ASSERT_GE(m.multiplier, 1 << 30) << scale;
    const double error = std::abs(std::ldexp(static_cast<double>(m.multiplier), -m.shift) - scale);
    ASSERT_LE(error, std::ldexp(0.5, -m.shift)) << scale;
  }
  EXPECT_EQ(makeMultiplier(0), Multiplier{});
  // The largest fraction rounds up to the next power of two.
  EXPECT_EQ(makeMultiplier(std::nextafter(1.0, 0.0)), (Multiplier{1 << 30, 30}));
}

TEST(Requantize, EveryAccumulatorOfSixteenBitsAndManyBeyond) {
  for (const double scale :
       {0.5, 0.25, 0.00390625, 0.3, 0.0123456, 0.9999999, 1.7, 2.0, 37.5, 1e-5}) {
    const Multiplier m = makeMultiplier(scale);
    const auto check = [&](std::int64_t accumulator) {
      ASSERT_EQ(applyMultiplier(static_cast<std::int32_t>(accumulator), m),
                byDefinition(Int128{accumulator} * m.multiplier, m.shift))
          << accumulator << " * " << scale;
    };
    for (std::int64_t accumulator = -32768; accumulator < 32768; ++accumulator) check(accumulator);
    for (std::int64_t accumulator = INT32_MIN; accumulator <= INT32_MAX; accumulator += 65521)
      check(accumulator);
    check(INT32_MAX);
  }
}

TEST(Requantize, ScalesAboveTwoToThe31SaturateWithTheirSign) {
  const Multiplier m = makeMultiplier(std::ldexp(1.5, 32));
  EXPECT_LT(m.shift, 0);
  EXPECT_EQ(saturate(applyMultiplier(1, m)), 127);
  EXPECT_EQ(saturate(applyMultiplier(-1, m)), -128);
  EXPECT_EQ(applyMultiplier(0, m), 0);
}

TEST(Requantize, SaturatesToItsBounds) {
  EXPECT_EQ(saturate(128), 127);
  EXPECT_EQ(saturate(-129), -128);
  EXPECT_EQ(saturate(INT64_MAX, -5, 6), 6);
  EXPECT_EQ(saturate(INT64_MIN, -5, 6), -5);
  EXPECT_EQ(saturate(3, -5, 6), 3);
}

TEST(RoundHalfEvenDivide, KeepsTheSignOfAQuotientOfNoInt64) {
  const Int128 large = Int128{127} << 60;  // an average of 127 in steps of 2^-60
  EXPECT_GT(roundHalfEvenDivide(large, 1), std::int64_t{1} << 40);
  EXPECT_LT(roundHalfEvenDivide(-large, 1), -(std::int64_t{1} << 40));
  EXPECT_EQ(saturate(roundHalfEvenDivide(large, 1) + 127), 127);
  EXPECT_EQ(saturate(roundHalfEvenDivide(-large, 1) - 128), -128);
}

}  // namespace
}  // namespace heddle
