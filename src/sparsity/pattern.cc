#include "heddle/sparsity/pattern.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "heddle/support/units.h"

namespace heddle {
namespace {

constexpr std::int64_t kSmallest = 4;  // of the blocks that are looked for
constexpr std::array<std::int64_t, 5> kBlockSizes{64, 32, 16, 8, kSmallest};
constexpr std::array<std::int64_t, 2> kGroups{4, 8};  // m of n:m

// Elements kept in each block of size x size.
struct Counts {
  std::int64_t size = 0, rows = 0, columns = 0;
  std::vector<std::int64_t> kept;
  std::int64_t& at(std::int64_t r, std::int64_t c) {
    return kept[static_cast<std::size_t>(r * columns + c)];
  }
  std::int64_t at(std::int64_t r, std::int64_t c) const {
    return kept[static_cast<std::size_t>(r * columns + c)];
  }
};

Counts emptyCounts(const WeightExtents& extents, std::int64_t size) {
  Counts counts{.size = size,
                .rows = divideRoundUp(extents.rows, size),
                .columns = divideRoundUp(extents.columns, size),
                .kept = {}};
  counts.kept.resize(static_cast<std::size_t>(counts.rows * counts.columns));
  return counts;
}

class Classifier {
 public:
  Classifier(const WeightExtents& extents, const Bits& kept, Drops drops)
      : extents_(extents),
        kept_(kept),
        exact_(drops == Drops::Declared),
        rows_(extents.rows),
        columns_(extents.columns),
        smallest_(emptyCounts(extents, kSmallest)) {
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < extents.rows; ++r)
      for (std::int64_t t = 0; t < extents.taps; ++t)
        for (std::int64_t c = 0; c < extents.columns; ++c, ++i) {
          if (!kept[i]) continue;
          ++total_;
          rows_.set(r);
          columns_.set(c);
          ++smallest_.at(r / kSmallest, c / kSmallest);
        }
    eight_ = merged(kBlock);
  }

  SparsityPattern pattern() const {
    const auto with = [&](auto kept) { return SparsityPattern{extents_, std::move(kept)}; };
    if (keptOfEight() == std::ssize(eight_.kept) && isFilled(total_, extents_.elements()))
      return with(Everything{});
    if (channelsServe()) return with(KeptChannels{rows_, columns_});
    for (const std::int64_t size : kBlockSizes)
      if (auto blocks = blocksOfSize(size)) return with(std::move(*blocks));
    for (const std::int64_t m : kGroups)
      if (const std::optional<std::int64_t> n = mostOfEach(m))
        return with(KeptOfEach{*n, m, kept_});
    return with(KeptElements{kept_});
  }

  Density density() const {
    return {.rows = extents_.rows,
            .rowsKept = rows_.count(),
            .columns = extents_.columns,
            .columnsKept = columns_.count(),
            .blocks = std::ssize(eight_.kept),
            .blocksKept = keptOfEight(),
            .elements = extents_.elements(),
            .elementsKept = total_};
  }

 private:
  bool isFilled(std::int64_t kept, std::int64_t of) const {
    return exact_ ? kept == of : 4 * kept >= 3 * of;
  }

  Counts merged(std::int64_t size) const {
    Counts counts = emptyCounts(extents_, size);
    const std::int64_t each = size / kSmallest;
    for (std::int64_t r = 0; r < smallest_.rows; ++r)
      for (std::int64_t c = 0; c < smallest_.columns; ++c)
        counts.at(r / each, c / each) += smallest_.at(r, c);
    return counts;
  }

  std::int64_t keptOfEight() const {
    return std::ranges::count_if(eight_.kept, [](std::int64_t n) { return n > 0; });
  }

  static bool anyIn(const Bits& bits, std::int64_t block) {
    const std::int64_t end = std::min(bits.size(), (block + 1) * kBlock);
    for (std::int64_t i = block * kBlock; i < end; ++i)
      if (bits[i]) return true;
    return false;
  }

  bool channelsServe() const {
    if (!isFilled(total_, rows_.count() * columns_.count() * extents_.taps)) return false;
    for (std::int64_t r = 0; r < eight_.rows; ++r)
      for (std::int64_t c = 0; c < eight_.columns; ++c)
        if (eight_.at(r, c) == 0 && anyIn(rows_, r) && anyIn(columns_, c)) return false;
    return true;
  }

  std::optional<KeptBlocks> blocksOfSize(std::int64_t size) const {
    const Counts counts = merged(size);
    KeptBlocks blocks{size, Bits(counts.rows * counts.columns)};
    std::int64_t inKept = 0, eightsInKept = 0;
    for (std::int64_t r = 0; r < counts.rows; ++r)
      for (std::int64_t c = 0; c < counts.columns; ++c) {
        if (counts.at(r, c) == 0) continue;
        blocks.kept.set(r * counts.columns + c);
        const std::int64_t height = std::min(size, extents_.rows - r * size),
                           width = std::min(size, extents_.columns - c * size);
        inKept += height * width * extents_.taps;
        eightsInKept += divideRoundUp(height, kBlock) * divideRoundUp(width, kBlock);
      }
    if (size > kBlock && eightsInKept != keptOfEight()) return std::nullopt;
    if (!isFilled(total_, inKept)) return std::nullopt;
    return blocks;
  }

  // n of n:m, where it is at most half and the places are filled.
  std::optional<std::int64_t> mostOfEach(std::int64_t m) const {
    const std::int64_t groups = divideRoundUp(extents_.columns, m);
    std::int64_t most = 0, i = 0;
    for (std::int64_t line = 0; line < extents_.rows * extents_.taps; ++line)
      for (std::int64_t g = 0; g < groups; ++g) {
        std::int64_t n = 0;
        for (const std::int64_t end = i + widthOf(g, m); i < end; ++i) n += kept_[i] ? 1 : 0;
        most = std::max(most, n);
      }
    std::int64_t places = 0;
    for (std::int64_t g = 0; g < groups; ++g) places += std::min(most, widthOf(g, m));
    if (2 * most > m || !isFilled(total_, extents_.rows * extents_.taps * places))
      return std::nullopt;
    return most;
  }
  std::int64_t widthOf(std::int64_t group, std::int64_t m) const {
    return std::min(m, extents_.columns - group * m);
  }

  const WeightExtents& extents_;
  const Bits& kept_;
  bool exact_;
  Bits rows_, columns_;
  Counts smallest_, eight_;
  std::int64_t total_ = 0;
};

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;  // clang 14 does not deduce it by itself

}  // namespace

bool SparsityPattern::keeps(std::int64_t row, std::int64_t tap, std::int64_t column) const {
  const std::int64_t element = (row * extents.taps + tap) * extents.columns + column;
  return std::visit(
      Overloaded{
          [](const Everything&) { return true; },
          [&](const KeptChannels& k) { return k.rows[row] && k.columns[column]; },
          [&](const KeptBlocks& k) {
            return k.kept[row / k.size * divideRoundUp(extents.columns, k.size) + column / k.size];
          },
          [&](const KeptOfEach& k) { return k.kept[element]; },
          [&](const KeptElements& k) { return k.kept[element]; }},
      kept);
}

std::int64_t SparsityPattern::storedBits() const {
  return std::visit(
      Overloaded{[](const Everything&) { return std::int64_t{0}; },
                 [](const KeptChannels& k) { return k.rows.size() + k.columns.size(); },
                 [](const auto& k) { return k.kept.size(); }},
      kept);
}

std::string toText(const SparsityPattern& pattern) {
  return std::visit(Overloaded{[](const Everything&) { return std::string("none"); },
                               [](const KeptChannels&) { return std::string("channel"); },
                               [](const KeptBlocks& k) {
                                 const std::string size = std::to_string(k.size);
                                 return "block " + size + "x" + size;
                               },
                               [](const KeptOfEach& k) {
                                 return std::to_string(k.n) + ":" + std::to_string(k.m);
                               },
                               [](const KeptElements&) { return std::string("element"); }},
                    pattern.kept);
}

SparsityPattern patternOf(const WeightExtents& extents, const Bits& kept, Drops drops) {
  return Classifier(extents, kept, drops).pattern();
}

Density densityOf(const WeightExtents& extents, const Bits& kept) {
  return Classifier(extents, kept, Drops::Found).density();
}

Bits blocksKept(const WeightExtents& extents, const Bits& kept, std::int64_t blockRows,
                std::int64_t blockColumns) {
  const std::int64_t across = divideRoundUp(extents.columns, blockColumns);
  Bits blocks(divideRoundUp(extents.rows, blockRows) * across);
  std::int64_t i = 0;
  for (std::int64_t r = 0; r < extents.rows; ++r)
    for (std::int64_t t = 0; t < extents.taps; ++t)
      for (std::int64_t c = 0; c < extents.columns; ++c, ++i)
        if (kept[i]) blocks.set(r / blockRows * across + c / blockColumns);
  return blocks;
}

Bits elementsOf(const WeightExtents& extents, const Bits& blocks, std::int64_t blockRows,
                std::int64_t blockColumns) {
  const std::int64_t across = divideRoundUp(extents.columns, blockColumns);
  Bits kept(extents.elements());
  std::int64_t i = 0;
  for (std::int64_t r = 0; r < extents.rows; ++r)
    for (std::int64_t t = 0; t < extents.taps; ++t)
      for (std::int64_t c = 0; c < extents.columns; ++c, ++i)
        if (blocks[r / blockRows * across + c / blockColumns]) kept.set(i);
  return kept;
}

}  // namespace heddle
