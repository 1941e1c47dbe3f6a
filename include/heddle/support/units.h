// Counts of one thing each: bytes, cycles. Different things do not mix, and integers decide
// everywhere.
//
//   transferTime(64_KiB, {4'000'000'000}, {1'000'000'000}) == Cycles(16384)
//
// 1 GB/s = 10^9 B/s, 1 KiB = 1024 B.
#pragma once
#include <compare>
#include <cstdint>
#include <numeric>

namespace heddle {

template <class Tag>
class Count {
 public:
  constexpr Count() = default;
  constexpr explicit Count(std::int64_t n) : n_(n) {}
  constexpr std::int64_t raw() const { return n_; }  // the only way out, easy to search for
  friend constexpr auto operator<=>(Count, Count) = default;
  friend constexpr Count operator+(Count a, Count b) { return Count(a.n_ + b.n_); }
  friend constexpr Count operator-(Count a, Count b) { return Count(a.n_ - b.n_); }
  friend constexpr Count operator*(Count a, std::int64_t k) { return Count(a.n_ * k); }
  constexpr Count& operator+=(Count b) {
    n_ += b.n_;
    return *this;
  }
  constexpr Count& operator-=(Count b) {
    n_ -= b.n_;
    return *this;
  }

 private:
  std::int64_t n_ = 0;
};

// Every activation lies in memory as rows x blocks x columns x 8 bytes: kBlock channels of one
// pixel side by side, a cell. Memory is allocated, moved and watched in whole cells.
inline constexpr std::int64_t kBlock = 8;  // channels of a block, hence bytes of a cell

using Bytes = Count<struct BytesTag>;
using Cycles = Count<struct CyclesTag>;  // of the array clock

constexpr Bytes operator""_B(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n)); }
constexpr Bytes operator""_KiB(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n) * 1024);
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n) * 1024 * 1024);
}

struct BytesPerSecond {
  std::int64_t raw = 0;
  friend constexpr auto operator<=>(BytesPerSecond, BytesPerSecond) = default;
};
struct Hertz {
  std::int64_t raw = 0;
  friend constexpr auto operator<=>(Hertz, Hertz) = default;
};

// Of any number: what a file says is rounded before it is checked.
constexpr std::int64_t divideRoundUp(std::int64_t a, std::int64_t b) {
  return a / b + (a % b > 0 ? 1 : 0);
}
constexpr std::int64_t roundUpTo(std::int64_t a, std::int64_t multiple) {
  return divideRoundUp(a, multiple) * multiple;
}

// Of numbers of a program that may be hostile.
constexpr std::int64_t wrappingAdd(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// How fast something moves, in cycles of a clock: 4 GB/s at 1.25 GHz is 3.2 bytes a cycle, hence
// the fraction: n cycles move d bytes. For whoever times many transfers.
class TransferRate {
 public:
  constexpr TransferRate(BytesPerSecond rate, Hertz clock) {
    const std::int64_t g = std::gcd(rate.raw, clock.raw);
    cycles_ = clock.raw / g;
    bytes_ = rate.raw / g;
  }
  // Rounded up to whole cycles.
  constexpr Cycles time(Bytes size) const {
    return Cycles(divideRoundUp(size.raw() * cycles_, bytes_));
  }

 private:
  std::int64_t cycles_ = 1, bytes_ = 1;
};

constexpr Cycles transferTime(Bytes size, BytesPerSecond rate, Hertz clock) {
  return TransferRate(rate, clock).time(size);
}

}  // namespace heddle
