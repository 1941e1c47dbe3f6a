// The one source of chance of the property tests: the same numbers on every machine, unlike
// std::uniform_*.
#pragma once
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace heddle::property {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {  // both included
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(0, 99) < percent; }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, std::ssize(from) - 1))];
  }
  std::int8_t int8(int low = -128, int high = 127) {
    return static_cast<std::int8_t>(between(low, high));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace heddle::property
