// Where a generator's chances come from: a seed, or the recorded choices of another run. A smaller
// list of choices makes a smaller thing, so shrinking needs to know nothing of what is made: 0 is
// the plainest choice, and what lies behind the end of the list is 0.
//
//   Choices first(42);
//   make(first);
//   shrinkChoices(first.made(), [](const std::vector<std::int64_t>& list) {
//     Choices again(list);
//     return fails(make(again));
//   });
#pragma once
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace heddle::property {

class Choices {
 public:
  explicit Choices(std::uint64_t seed) : engine_(seed), replays_(false) {}
  explicit Choices(std::vector<std::int64_t> list) : list_(std::move(list)), replays_(true) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {  // both included
    const auto span = static_cast<std::uint64_t>(high - low + 1);
    const std::uint64_t drawn = !replays_ ? engine_()
                                : made_.size() < list_.size()
                                    ? static_cast<std::uint64_t>(list_[made_.size()])
                                    : 0;
    made_.push_back(static_cast<std::int64_t>(drawn % span));
    return low + made_.back();
  }
  bool chance(int percent) { return between(0, 99) >= 100 - percent; }
  double real(double low, double high) {
    constexpr std::int64_t kSteps = 1 << 16;
    return low + (high - low) * static_cast<double>(between(0, kSteps)) / double{kSteps};
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, std::ssize(from) - 1))];
  }
  // A seed for what need not shrink: the elements of weights, say.
  std::uint64_t seed() { return static_cast<std::uint64_t>(between(0, 1'000'000)); }

  const std::vector<std::int64_t>& made() const { return made_; }

 private:
  std::mt19937_64 engine_;
  std::vector<std::int64_t> list_, made_;
  bool replays_;
};

// A shorter or plainer list for which `fails` still answers true, within `maxTries` calls.
std::vector<std::int64_t> shrinkChoices(
    std::vector<std::int64_t> list,
    const std::function<bool(const std::vector<std::int64_t>&)>& fails, int maxTries = 1500);

}  // namespace heddle::property
