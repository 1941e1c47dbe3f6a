#include "rolled_sequence.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace heddle {
namespace {

constexpr std::int64_t kSmallNumbers = 4096;
// A loop has to save more than it costs to write.
constexpr std::size_t kLeastSaving = 3;
// Loops nest as deep as those of a program, and a little for chance.
constexpr int kPasses = 8;
// Symbols by which a period is looked for. One is quick and finds most; where a symbol stands
// several times in what repeats, as 1 1 0 1 0 0 0, only several in a row tell how far apart the
// times are.
constexpr std::array<std::size_t, 3> kStretches{1, 8, 64};

}  // namespace

std::int32_t SequenceRoller::number(std::int64_t value) {
  const auto make = [&] {
    symbols_.push_back({value, {}});
    return static_cast<std::int32_t>(symbols_.size() - 1);
  };
  if (value >= 0 && value < kSmallNumbers) {
    if (small_.empty()) small_.assign(kSmallNumbers, -1);
    std::int32_t& symbol = small_[static_cast<std::size_t>(value)];
    if (symbol < 0) symbol = make();
    return symbol;
  }
  const auto [at, isNew] = numbers_.try_emplace(value, 0);
  if (isNew) at->second = make();
  return at->second;
}

std::int32_t SequenceRoller::loop(std::int64_t count, std::span<const std::int32_t> body) {
  std::vector<std::int64_t> key{count};
  key.insert(key.end(), body.begin(), body.end());
  const auto [at, isNew] = loops_.try_emplace(std::move(key), 0);
  if (isNew) {
    symbols_.push_back({count, {body.begin(), body.end()}});
    at->second = static_cast<std::int32_t>(symbols_.size() - 1);
  }
  return at->second;
}

// Per element a number that two elements share where the `stretch` elements from them on are equal;
// -1 where fewer are left. `stretch` is a power of two.
std::vector<std::int32_t> SequenceRoller::stretches(std::vector<std::int32_t> sequence,
                                                    std::size_t stretch) {
  const std::size_t n = sequence.size();
  for (std::size_t half = 1; half < stretch; half *= 2) {
    std::unordered_map<std::uint64_t, std::int32_t> pairs;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t behind = i + half < n ? sequence[i + half] : -1;
      if (behind < 0) {
        sequence[i] = -1;
        continue;
      }
      const std::uint64_t pair =
          static_cast<std::uint64_t>(sequence[i]) << 32 | static_cast<std::uint64_t>(behind);
      sequence[i] = pairs.try_emplace(pair, static_cast<std::int32_t>(pairs.size())).first->second;
    }
  }
  return sequence;
}

// Replaces each run of equal neighbours by a loop, left to right. The distance to where the same
// `stretch` symbols last began proposes the period; the run is then extended both ways as far as it
// holds.
std::vector<std::int32_t> SequenceRoller::pass(const std::vector<std::int32_t>& sequence,
                                               std::size_t stretch) {
  const std::size_t n = sequence.size();
  const std::vector<std::int32_t> longer =
      stretch > 1 ? stretches(sequence, stretch) : std::vector<std::int32_t>{};
  const std::vector<std::int32_t>& begins = stretch > 1 ? longer : sequence;
  last_.assign(std::max(symbols_.size(), n), -1);
  std::vector<std::int32_t> out;
  out.reserve(n);
  std::size_t open = 0;  // sequence[open .. i) stands in `out` symbol by symbol
  std::size_t failedPeriod = 0, failedEnd = 0;  // the last run that was too short
  for (std::size_t i = 0; i < n;) {
    if (begins[i] < 0) {
      out.push_back(sequence[i++]);
      continue;
    }
    std::int32_t& last = last_[static_cast<std::size_t>(begins[i])];
    const std::int32_t before = last;
    const std::size_t period = i - static_cast<std::size_t>(before);
    const bool sameFailure = period == failedPeriod && i < failedEnd;
    if (before >= static_cast<std::int32_t>(open) && !sameFailure) {
      std::size_t end = i;
      while (end < n && sequence[end] == sequence[end - period]) ++end;
      std::size_t start = i - period;
      while (start > open && sequence[start - 1] == sequence[start - 1 + period]) --start;
      const std::size_t count = (end - start) / period;
      if (count >= 2 && (count - 1) * period >= kLeastSaving) {
        out.resize(out.size() - (i - start));
        out.push_back(loop(static_cast<std::int64_t>(count), {sequence.data() + start, period}));
        i = open = start + count * period;
        continue;
      }
      failedPeriod = period;
      failedEnd = end;
    }
    last = static_cast<std::int32_t>(i);
    out.push_back(sequence[i++]);
  }
  return out;
}

void SequenceRoller::append(std::string& out, std::int32_t symbol) const {
  const Symbol& s = symbols_[static_cast<std::size_t>(symbol)];
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), s.value).ptr;
  if (s.body.empty()) {
    out.append(digits.data(), end);
    return;
  }
  out += '[';
  out.append(digits.data(), end);
  for (const std::int32_t item : s.body) {
    out += ',';
    append(out, item);
  }
  out += ']';
}

std::string SequenceRoller::roll(std::span<const std::int64_t> values) {
  std::vector<std::int32_t> sequence;
  sequence.reserve(values.size());
  for (const std::int64_t value : values) sequence.push_back(number(value));
  for (const std::size_t stretch : kStretches) {
    for (int k = 0; k < kPasses; ++k) {
      std::vector<std::int32_t> shorter = pass(sequence, stretch);
      if (shorter.size() == sequence.size()) break;
      sequence = std::move(shorter);
    }
  }
  std::string out = "[";
  for (const std::int32_t symbol : sequence) {
    if (out.size() > 1) out += ',';
    append(out, symbol);
  }
  return out + ']';
}

}  // namespace heddle
