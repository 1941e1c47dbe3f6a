#include "rolled_sequence.h"

#include <array>
#include <charconv>

namespace heddle {
namespace {

constexpr std::int64_t kSmallNumbers = 4096;
// A loop has to save more than it costs to write.
constexpr std::size_t kLeastSaving = 3;
// Loops nest as deep as those of a program, and a little for chance.
constexpr int kPasses = 8;

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

// Replaces each run of equal neighbours by a loop, left to right. The distance to the last equal
// symbol proposes the period; the run is then extended both ways as far as it holds.
std::vector<std::int32_t> SequenceRoller::pass(const std::vector<std::int32_t>& sequence) {
  const std::size_t n = sequence.size();
  last_.assign(symbols_.size(), -1);
  std::vector<std::int32_t> out;
  out.reserve(n);
  std::size_t open = 0;  // sequence[open .. i) stands in `out` symbol by symbol
  std::size_t failedPeriod = 0, failedEnd = 0;  // the last run that was too short
  for (std::size_t i = 0; i < n;) {
    const std::int32_t before = last_[static_cast<std::size_t>(sequence[i])];
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
    last_[static_cast<std::size_t>(sequence[i])] = static_cast<std::int32_t>(i);
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
  for (int k = 0; k < kPasses; ++k) {
    std::vector<std::int32_t> shorter = pass(sequence);
    if (shorter.size() == sequence.size()) break;
    sequence = std::move(shorter);
  }
  std::string out = "[";
  for (const std::int32_t symbol : sequence) {
    if (out.size() > 1) out += ',';
    append(out, symbol);
  }
  return out + ']';
}

}  // namespace heddle
