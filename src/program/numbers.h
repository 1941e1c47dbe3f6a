// Numbers one behind the other, in half the room as long as all of them are small.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle {

class Numbers {
 public:
  std::size_t size() const { return wide_.empty() ? narrow_.size() : wide_.size(); }
  std::int64_t operator[](std::size_t i) const { return wide_.empty() ? narrow_[i] : wide_[i]; }

  void append(std::span<const std::int64_t> numbers) {
    if (wide_.empty() && std::ranges::all_of(numbers, isSmall)) {
      for (const std::int64_t n : numbers) narrow_.push_back(static_cast<std::int32_t>(n));
      return;
    }
    if (wide_.empty()) {
      wide_.assign(narrow_.begin(), narrow_.end());
      narrow_ = {};
    }
    wide_.insert(wide_.end(), numbers.begin(), numbers.end());
  }

 private:
  static bool isSmall(std::int64_t n) { return n == static_cast<std::int32_t>(n); }

  std::vector<std::int32_t> narrow_;
  std::vector<std::int64_t> wide_;  // with one that is not small: all of them
};

}  // namespace heddle
