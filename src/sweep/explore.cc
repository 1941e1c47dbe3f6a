#include "explore.h"

#include <algorithm>
#include <cmath>

#include "answer.h"

namespace heddle {
namespace {

// As many as an answer shows.
std::vector<std::size_t> smallest(std::vector<std::pair<double, std::size_t>> ranked) {
  std::ranges::sort(ranked);
  if (ranked.size() > kShownDesigns) ranked.resize(kShownDesigns);
  std::vector<std::size_t> chosen;
  for (const auto& [rank, design] : ranked) chosen.push_back(design);
  std::ranges::sort(chosen);
  return chosen;
}

// Geometric mean over the networks, and cores; nothing where a network has no time.
std::optional<std::pair<double, double>> timeAndCores(const Design& design) {
  double logarithms = 0;
  for (const Point* point : design.points) {
    const auto ms = point == nullptr ? std::nullopt : numberIn(point->values, "ms");
    if (!ms || *ms <= 0) return std::nullopt;
    logarithms += std::log(*ms);
  }
  const auto cores = numberIn(design.any()->values, "cores");
  if (!cores) return std::nullopt;
  return std::pair{logarithms, *cores};
}

bool beats(const std::pair<double, double>& a, const std::pair<double, double>& b) {
  return a.first <= b.first && a.second <= b.second && a != b;
}

}  // namespace

std::optional<std::int64_t> Shuffled::next() {
  if (given_ == size_) return std::nullopt;
  const std::int64_t chosen = given_ + below(size_ - given_);
  const std::int64_t number = at(chosen);
  moved_[chosen] = at(given_);
  moved_.erase(given_);
  ++given_;
  return number;
}

std::int64_t Shuffled::at(std::int64_t place) const {
  const auto found = moved_.find(place);
  return found == moved_.end() ? place : found->second;
}

// Whole numbers by hand: what the standard's distributions make of a seed is each library's own.
std::int64_t Shuffled::below(std::int64_t count) {
  const auto range = static_cast<std::uint64_t>(count);
  const std::uint64_t fair = UINT64_MAX - UINT64_MAX % range;  // above it some would be likelier
  for (;;)
    if (const std::uint64_t drawn = random_(); drawn < fair)
      return static_cast<std::int64_t>(drawn % range);
}

std::vector<std::size_t> promising(const Questions& questions, const std::vector<Design>& designs) {
  std::vector<std::pair<double, std::size_t>> kept, missed;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    const Judgement judgement = judge(questions, designs[i]);
    if (judgement.keeps()) kept.emplace_back(-judgement.score.value_or(0), i);
    if (judgement.misses()) missed.emplace_back(judgement.worst(), i);
  }
  if (kept.empty()) return smallest(std::move(missed));
  if (questions.hasGoal()) return smallest(std::move(kept));
  std::vector<std::pair<std::pair<double, double>, std::size_t>> known;
  for (const auto& [score, i] : kept)
    if (const auto both = timeAndCores(designs[i])) known.emplace_back(*both, i);
  std::vector<std::size_t> front;
  for (const auto& mine : known)
    if (std::ranges::none_of(known,
                             [&](const auto& other) { return beats(other.first, mine.first); }))
      front.push_back(mine.second);
  std::ranges::sort(front);
  return front;
}

}  // namespace heddle
