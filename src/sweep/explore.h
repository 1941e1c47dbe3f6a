// Spaces that are too large to look at every place: a sample, then the places around the best.
#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

#include "questions.h"

namespace heddle {

// The numbers 0 .. size-1 in an order that the seed makes, each once, every order as likely; as far
// as they are asked for, and on every machine the same.
// Source: Fisher and Yates; of the swapped places only those are held that were touched.
class Shuffled {
 public:
  Shuffled(std::int64_t size, std::uint64_t seed) : size_(size), random_(seed) {}
  std::optional<std::int64_t> next();

 private:
  std::int64_t below(std::int64_t count);  // uniform in 0 .. count-1
  std::int64_t at(std::int64_t place) const;

  std::int64_t size_, given_ = 0;
  std::mt19937_64 random_;
  std::unordered_map<std::int64_t, std::int64_t> moved_;
};

// Which of `designs` are worth looking around: of those that keep what is required the best by the
// goal, or without one those that none beats in time and cores; where none keeps it, the nearest.
// In the order of `designs`.
std::vector<std::size_t> promising(const Questions& questions, const std::vector<Design>& designs);

}  // namespace heddle
