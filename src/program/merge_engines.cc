#include "merge_engines.h"

#include <map>
#include <optional>
#include <utility>

namespace heddle {
namespace {

// Engines that may become one section.
struct Set {
  std::vector<CoreRange> ranges;
  // Of each rectangle the first, those right of it and below: the others follow from them.
  std::vector<const EngineCode*> samples;
  const EngineCode& first() const { return *samples.front(); }
};

// The affine numbers that a set's samples have, where there are any.
class Plane {
 public:
  explicit Plane(const Set& set) : samples_(set.samples) {
    for (std::size_t k = 1; k < samples_.size(); ++k) {
      const Way way{k, samples_[k]->row - samples_[0]->row,
                    samples_[k]->column - samples_[0]->column};
      if (a_.sample == 0)
        a_ = way;
      else if (b_.sample == 0 && area(a_, way) != 0)
        b_ = way;
    }
  }

  // Number `i`; nothing where no factors in whole numbers fit.
  std::optional<Affine> number(std::size_t i) const {
    std::optional<Affine> v = factors(i);
    if (!v) return v;
    v->base = samples_[0]->numbers[i] - v->row * samples_[0]->row - v->column * samples_[0]->column;
    for (const EngineCode* sample : samples_)
      if (v->base + v->row * sample->row + v->column * sample->column != sample->numbers[i])
        return std::nullopt;
    return v;
  }

 private:
  struct Way {  // from the first sample to another
    std::size_t sample = 0;
    std::int64_t rows = 0, columns = 0;
  };
  static std::int64_t area(const Way& a, const Way& b) {
    return a.rows * b.columns - b.rows * a.columns;
  }

  std::optional<Affine> factors(std::size_t i) const {
    const auto grows = [&](const Way& way) {
      return samples_[way.sample]->numbers[i] - samples_[0]->numbers[i];
    };
    Affine v;
    if (a_.sample == 0) return v;
    const std::int64_t a = grows(a_);
    if (b_.sample == 0) {  // all in one line: of several that fit, by column
      const bool byColumn = a_.columns != 0 && a % a_.columns == 0;
      const std::int64_t steps = byColumn ? a_.columns : a_.rows;
      if (steps == 0 || a % steps != 0) return std::nullopt;
      (byColumn ? v.column : v.row) = a / steps;
      return v;
    }
    const std::int64_t b = grows(b_);
    const std::int64_t rows = a * b_.columns - b * a_.columns, columns = a_.rows * b - b_.rows * a;
    if (rows % area(a_, b_) != 0 || columns % area(a_, b_) != 0) return std::nullopt;
    v.row = rows / area(a_, b_);
    v.column = columns / area(a_, b_);
    return v;
  }

  const std::vector<const EngineCode*>& samples_;
  Way a_, b_;  // in two directions; sample 0: there is none
};

std::vector<Set> rectangles(std::span<const EngineCode> codes) {
  std::map<std::pair<std::int64_t, std::int64_t>, const EngineCode*> left;
  for (const EngineCode& code : codes) left[{code.row, code.column}] = &code;
  const auto at = [&](std::int64_t row, std::int64_t column) -> const EngineCode* {
    const auto found = left.find({row, column});
    return found == left.end() ? nullptr : found->second;
  };
  // d == a + (b - a) + (c - a), number by number.
  const auto planar = [](const EngineCode& a, const EngineCode& b, const EngineCode& c,
                         const EngineCode& d) {
    for (std::size_t i = 0; i < a.numbers.size(); ++i)
      if (d.numbers[i] != b.numbers[i] + c.numbers[i] - a.numbers[i]) return false;
    return true;
  };
  std::vector<Set> out;
  while (!left.empty()) {
    const EngineCode& first = *left.begin()->second;
    const auto [row, column] = left.begin()->first;
    std::int64_t columns = 1, rows = 1;
    for (;; ++columns) {
      const EngineCode* next = at(row, column + columns);
      if (!next || next->structure != first.structure) break;
      if (columns >= 2 &&
          !planar(first, *at(row, column + 1), *at(row, column + columns - 1), *next))
        break;
    }
    for (;; ++rows) {
      bool fits = true;
      for (std::int64_t c = 0; c < columns && fits; ++c) {
        const EngineCode* next = at(row + rows, column + c);
        fits = next && next->structure == first.structure;
        if (!fits) break;
        if (rows >= 2)
          fits = planar(first, *at(row + 1, column), *at(row + rows - 1, column + c), *next);
        else if (c >= 1)
          fits = planar(first, *at(row + 1, column), *at(row, column + c), *next);
      }
      if (!fits) break;
    }
    Set& set = out.emplace_back();
    set.ranges = {{row, column, rows, columns}};
    set.samples = {&first};
    if (columns > 1) set.samples.push_back(at(row, column + 1));
    if (rows > 1) set.samples.push_back(at(row + 1, column));
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) left.erase({row + r, column + c});
  }
  return out;
}

bool isOne(const Set& set) {
  const Plane plane(set);
  for (std::size_t i = 0; i < set.first().numbers.size(); ++i)
    if (!plane.number(i)) return false;
  return true;
}

std::optional<Set> joined(const Set& a, const Set& b) {
  if (a.first().structure != b.first().structure) return std::nullopt;
  Set both = a;
  both.ranges.insert(both.ranges.end(), b.ranges.begin(), b.ranges.end());
  both.samples.insert(both.samples.end(), b.samples.begin(), b.samples.end());
  return isOne(both) ? std::optional(std::move(both)) : std::nullopt;
}

}  // namespace

std::vector<MergedCode> mergeEngines(std::span<const EngineCode> codes) {
  std::vector<Set> sets;
  for (Set& rectangle : rectangles(codes)) {
    bool found = false;
    for (auto set = sets.begin(); set != sets.end() && !found; ++set)
      if (std::optional<Set> both = joined(*set, rectangle)) {
        *set = std::move(*both);
        found = true;
      }
    if (!found) sets.push_back(std::move(rectangle));
  }
  std::vector<MergedCode> out;
  for (Set& set : sets) {
    const Plane plane(set);
    MergedCode& merged = out.emplace_back();
    merged.first = static_cast<std::size_t>(set.samples.front() - codes.data());
    for (std::size_t i = 0; i < set.first().numbers.size(); ++i)
      merged.numbers.push_back(*plane.number(i));
    merged.engines = std::move(set.ranges);
  }
  return out;
}

}  // namespace heddle
