// A packed list of truths: one bit each, 64 in a word.
#pragma once
#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle {

class Bits {
 public:
  Bits() = default;
  explicit Bits(std::int64_t size, bool value = false)
      : size_(size),
        words_(static_cast<std::size_t>((size + 63) / 64), value ? ~std::uint64_t{0} : 0) {
    if (value && size % 64 != 0) words_.back() = (std::uint64_t{1} << (size % 64)) - 1;
  }

  std::int64_t size() const { return size_; }
  bool operator[](std::int64_t i) const {
    return (words_[static_cast<std::size_t>(i / 64)] >> (i % 64) & 1) != 0;
  }
  void set(std::int64_t i) {
    words_[static_cast<std::size_t>(i / 64)] |= std::uint64_t{1} << (i % 64);
  }
  void reset(std::int64_t i) {
    words_[static_cast<std::size_t>(i / 64)] &= ~(std::uint64_t{1} << (i % 64));
  }
  // Of the `count` bits from `first` on, those that are set.
  std::int64_t count(std::int64_t first, std::int64_t count) const {
    std::int64_t n = 0;
    for (std::int64_t end = first + count; first < end;) {
      const std::int64_t bits = std::min(64 - first % 64, end - first);
      const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
      n += std::popcount(words_[static_cast<std::size_t>(first / 64)] >> (first % 64) & mask);
      first += bits;
    }
    return n;
  }
  std::int64_t count() const {
    std::int64_t n = 0;
    for (const std::uint64_t word : words_) n += std::popcount(word);
    return n;
  }
  friend bool operator==(const Bits&, const Bits&) = default;
  friend auto operator<=>(const Bits&, const Bits&) = default;  // some order

 private:
  std::int64_t size_ = 0;
  std::vector<std::uint64_t> words_;  // bits beyond the size are 0
};

}  // namespace heddle
