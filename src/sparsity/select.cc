#include "select.h"

#include <algorithm>
#include <numeric>

namespace heddle {

BlockGroup blockGroup(std::int64_t count, std::int64_t groups, std::int64_t index) {
  const std::int64_t each = count / groups, longer = count % groups;
  return {index * each + std::min(index, longer), each + (index < longer ? 1 : 0)};
}

std::vector<std::int64_t> equalShares(std::int64_t kept, const std::vector<std::int64_t>& sizes) {
  std::int64_t low = 0, high = sizes.empty() ? 0 : std::ranges::max(sizes);
  const auto together = [&](std::int64_t each) {
    std::int64_t sum = 0;
    for (const std::int64_t size : sizes) sum += std::min(size, each);
    return sum;
  };
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (together(middle) >= kept)
      high = middle;
    else
      low = middle + 1;
  }
  std::vector<std::int64_t> shares;
  for (const std::int64_t size : sizes) shares.push_back(std::min(size, low));
  return shares;
}

namespace sparsity {
namespace {

constexpr std::int64_t kWhole = 1'000'000;

// Rounded down; no product overflows.
std::int64_t partOf(std::int64_t count, std::int64_t millionths) {
  return count / kWhole * millionths + count % kWhole * millionths / kWhole;
}

// The `kept` most important of `candidates`, earlier ones first among equals.
void keepBest(const LayerBlocks& layer, std::vector<std::int64_t> candidates, std::int64_t kept,
              Bits& chosen) {
  std::ranges::stable_sort(candidates, [&](std::int64_t a, std::int64_t b) {
    return layer.importance[static_cast<std::size_t>(a)] >
           layer.importance[static_cast<std::size_t>(b)];
  });
  for (std::int64_t i = 0; i < kept; ++i) chosen.set(candidates[static_cast<std::size_t>(i)]);
}

std::vector<std::int64_t> blocksOfGroup(const LayerBlocks& layer, const PruneOptions& options,
                                        std::int64_t group) {
  const bool byRows = options.balance != BalanceAxis::Inputs;
  const BlockGroup part = blockGroup(byRows ? layer.rows : layer.columns, options.groups, group);
  const BlockGroup all{0, byRows ? layer.columns : layer.rows};
  const BlockGroup rows = byRows ? part : all, columns = byRows ? all : part;
  std::vector<std::int64_t> blocks;
  for (std::int64_t r = rows.first; r < rows.first + rows.count; ++r)
    for (std::int64_t c = columns.first; c < columns.first + columns.count; ++c)
      blocks.push_back(r * layer.columns + c);
  return blocks;
}

Bits choose(const LayerBlocks& layer, std::int64_t kept, const PruneOptions& options) {
  Bits chosen(layer.rows * layer.columns);
  if (options.balance == BalanceAxis::None) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(chosen.size()));
    std::iota(all.begin(), all.end(), 0);
    keepBest(layer, std::move(all), kept, chosen);
    return chosen;
  }
  std::vector<std::vector<std::int64_t>> groups;
  std::vector<std::int64_t> sizes;
  for (std::int64_t g = 0; g < options.groups; ++g) {
    groups.push_back(blocksOfGroup(layer, options, g));
    sizes.push_back(std::ssize(groups.back()));
  }
  const std::vector<std::int64_t> shares = equalShares(kept, sizes);
  for (std::size_t g = 0; g < groups.size(); ++g)
    keepBest(layer, std::move(groups[g]), shares[g], chosen);
  return chosen;
}

// How many blocks each layer keeps where all compete.
class Competition {
 public:
  explicit Competition(const std::vector<LayerBlocks>& layers) : layers_(layers) {
    for (std::size_t l = 0; l < layers.size(); ++l)
      for (std::size_t b = 0; b < layers[l].importance.size(); ++b) left_.push_back({l, b});
    all_ = std::ssize(left_);
  }

  std::vector<std::int64_t> run(const PruneOptions& options) {
    for (std::int64_t step = 1; step <= options.steps; ++step) {
      // The product stays below 10^6 * 10^3.
      const std::int64_t ratio = options.ratioMillionths * step / options.steps;
      dropDownTo(all_ - partOf(all_, ratio));
    }
    std::vector<std::int64_t> kept(layers_.size());
    for (const Block& block : left_) ++kept[block.layer];
    return kept;
  }

 private:
  struct Block {
    std::size_t layer = 0, block = 0;
  };

  void dropDownTo(std::int64_t kept) {
    std::vector<double> sums(layers_.size());
    for (const Block& b : left_) sums[b.layer] += importance(b);
    const auto score = [&](const Block& b) {
      return sums[b.layer] == 0 ? 0 : importance(b) / sums[b.layer];
    };
    std::ranges::stable_sort(left_,
                             [&](const Block& a, const Block& b) { return score(a) > score(b); });
    left_.resize(static_cast<std::size_t>(std::min(kept, std::ssize(left_))));
    std::ranges::sort(left_, [](const Block& a, const Block& b) {
      return a.layer != b.layer ? a.layer < b.layer : a.block < b.block;
    });
  }
  double importance(const Block& b) const { return layers_[b.layer].importance[b.block]; }

  const std::vector<LayerBlocks>& layers_;
  std::vector<Block> left_;
  std::int64_t all_ = 0;
};

}  // namespace

std::vector<Bits> chooseBlocks(const std::vector<LayerBlocks>& layers,
                               const PruneOptions& options) {
  std::vector<std::int64_t> kept;
  if (options.scope == PruneScope::Network) {
    kept = Competition(layers).run(options);
  } else {
    for (const LayerBlocks& layer : layers) {
      const std::int64_t blocks = layer.rows * layer.columns;
      kept.push_back(blocks - partOf(blocks, options.ratioMillionths));
    }
  }
  std::vector<Bits> chosen;
  for (std::size_t l = 0; l < layers.size(); ++l)
    chosen.push_back(choose(layers[l], kept[l], options));
  return chosen;
}

}  // namespace sparsity
}  // namespace heddle
