// Numbers one behind the other, in half the room as long as all of them are small.
#pragma once
#include <algorithm>
#include <boost/container/deque.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle {

class Numbers {
 public:
  std::size_t size() const { return wide_.empty() ? narrow_.size() : wide_.size(); }
  std::int64_t operator[](std::size_t i) const { return wide_.empty() ? narrow_[i] : wide_[i]; }

  void append(std::span<const std::int64_t> numbers) {
    if (wide_.empty() && std::ranges::all_of(numbers, isSmall)) {
      narrow_.insert(narrow_.end(), numbers.begin(), numbers.end());
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

  // Many: in pieces, which need not move when there are more.
  template <class T>
  using Pieces = boost::container::deque<
      T, void,
      boost::container::deque_options<boost::container::block_bytes<std::size_t{1} << 14U>>::type>;

  Pieces<std::int32_t> narrow_;
  Pieces<std::int64_t> wide_;  // with one that is not small: all of them
};

}  // namespace heddle
