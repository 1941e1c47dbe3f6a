#include "relax.h"

#include <algorithm>
#include <limits>

namespace heddle {
namespace {

double numberOf(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::infinity());
}

bool differOnlyIn(std::size_t key, const JudgedPlace& a, const JudgedPlace& b) {
  if (a.others != b.others || a.keys.size() != b.keys.size()) return false;
  for (std::size_t k = 0; k < a.keys.size(); ++k)
    if ((a.keys[k] == b.keys[k]) == (k == key)) return false;
  return true;
}

}  // namespace

std::vector<Relaxation> keysToRelax(const std::vector<JudgedPlace>& places, std::size_t nearest) {
  const JudgedPlace& mine = places[nearest];
  std::vector<Relaxation> all;
  for (std::size_t key = 0; key < mine.keys.size(); ++key) {
    const double value = numberOf(mine.keys[key]);
    const JudgedPlace *below = nullptr, *above = nullptr;  // the nearest on each side
    for (const JudgedPlace& other : places) {
      if (!differOnlyIn(key, mine, other)) continue;
      const double its = numberOf(other.keys[key]);
      if (its < value && (below == nullptr || its > numberOf(below->keys[key]))) below = &other;
      if (its > value && (above == nullptr || its < numberOf(above->keys[key]))) above = &other;
    }
    if ((below == nullptr) == (above == nullptr)) continue;
    const JudgedPlace& before = below != nullptr ? *below : *above;
    if (before.missed > mine.missed)
      all.push_back({key, before.keys[key], mine.keys[key], before.missed, mine.missed});
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Relaxation::missedBefore);
  return all;
}

}  // namespace heddle
