#include "heddle/sparsity/prune.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "heddle/support/check.h"
#include "heddle/support/words.h"
#include "select.h"

namespace heddle {
namespace {

using sparsity::LayerBlocks;

constexpr std::int64_t kGroupsShown = 4;  // of the imbalance where no balance is asked for

const Conv* convOf(const CanonicalOp& op) { return std::get_if<Conv>(&op.attributes); }

struct BlockSums {
  double magnitude = 0, squares = 0, sum = 0;
  std::int64_t count = 0;
};

std::vector<BlockSums> sumsOf(const Conv& conv, const WeightOrigin& origin, std::int64_t blockRows,
                              std::int64_t blockColumns) {
  const WeightExtents& extents = origin.extents;
  const std::int64_t across = divideRoundUp(extents.columns, blockColumns);
  std::vector<BlockSums> sums(
      static_cast<std::size_t>(divideRoundUp(extents.rows, blockRows) * across));
  for (std::int64_t r = 0; r < extents.rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    const double scale = origin.scales[row];
    const std::int64_t first = r * extents.taps * extents.columns;
    for (std::int64_t b = 0; b < across; ++b) {
      // Whole numbers within a row: no block is so long that 2^63 could not hold its squares.
      std::int64_t magnitude = 0, squares = 0, sum = 0;
      const std::int64_t begin = b * blockColumns,
                         end = std::min(extents.columns, begin + blockColumns);
      for (std::int64_t t = 0; t < extents.taps; ++t)
        for (std::int64_t c = begin; c < end; ++c) {
          const std::int64_t i = first + t * extents.columns + c;
          const std::int64_t w = conv.weights[static_cast<std::size_t>(i)] - conv.weightZero[row];
          magnitude += std::abs(w);
          squares += w * w;
          sum += w;
        }
      BlockSums& block = sums[static_cast<std::size_t>(r / blockRows * across + b)];
      block.magnitude += static_cast<double>(magnitude) * scale;
      block.squares += static_cast<double>(squares) * scale * scale;
      block.sum += static_cast<double>(sum) * scale;
      block.count += extents.taps * (end - begin);
    }
  }
  return sums;
}

double importanceOf(const BlockSums& block, Importance importance) {
  switch (importance) {
    case Importance::L1:
      return block.magnitude;
    case Importance::L2:
      return block.squares;
    case Importance::Variance: {
      const auto count = static_cast<double>(block.count);
      const double mean = block.sum / count;
      return std::max(0.0, block.squares / count - mean * mean);
    }
  }
  return 0;
}

class Pruner {
 public:
  Pruner(const Graph& model, const Canonicalized& canonical, const PruneOptions& options)
      : model_(model), canonical_(canonical), options_(options) {}

  Result<Pruning> run() {
    collect();
    if (candidates_.empty()) return nothing();
    if (auto fault = keep()) return *fault;
    if (!someWholeBlock()) return tooLarge();
    std::vector<LayerBlocks> blocks;
    std::vector<std::vector<BlockSums>> sums;
    for (const std::size_t i : pruned()) {
      const WeightOrigin& origin = *candidates_[i].origin;
      sums.push_back(sumsOf(*convOf(canonical_.graph.ops[origin.op.at()]), origin,
                            options_.blockRows, options_.blockColumns));
      blocks.push_back(layerBlocks(origin, sums.back()));
    }
    const std::vector<Bits> kept = sparsity::chooseBlocks(blocks, options_);
    std::size_t next = 0;
    for (const std::size_t i : pruned()) {
      describe(result_.layers[candidates_[i].layer], *candidates_[i].origin, kept[next],
               sums[next]);
      ++next;
    }
    return std::move(result_);
  }

 private:
  struct Candidate {
    std::size_t layer;  // of the result
    const WeightOrigin* origin;
  };

  // Every layer with weights; candidates are those that blocks can be taken from.
  void collect() {
    std::map<OpId, const WeightOrigin*> origins;
    for (const WeightOrigin& origin : canonical_.weights) origins[origin.op] = &origin;
    std::map<ValueId, const WeightOrigin*> first;
    for (std::size_t i = 0; i < canonical_.graph.ops.size(); ++i) {
      const CanonicalOp& op = canonical_.graph.ops[i];
      if (!weightExtents(canonical_.graph, op)) continue;
      PrunedLayer layer{.op = OpId(i)};
      const auto found = origins.find(layer.op);
      const WeightOrigin* origin = found == origins.end() ? nullptr : found->second;
      if (origin) layer.value = origin->value;
      if (!convOf(op)) {
        layer.stays = "depth-wise";
      } else if (!origin) {
        layer.stays = "its weights are computed from others";
      } else {
        const auto [other, isFirst] = first.emplace(origin->value, origin);
        if (isFirst)
          candidates_.push_back({result_.layers.size(), origin});
        else
          layer.stays = "its weights are those of '" + nameOf(*other->second) + "'";
      }
      result_.layers.push_back(std::move(layer));
    }
  }

  const std::string& nameOf(const WeightOrigin& origin) const {
    return canonical_.graph.ops[origin.op.at()].name;
  }

  std::optional<Diagnostic> keep() {
    const auto hold = [&](const Candidate& candidate) {
      result_.layers[candidate.layer].stays = "kept";
    };
    for (const std::string& word : options_.keep) {
      bool found = true;
      if (word == "first") {
        hold(candidates_.front());
      } else if (word == "last") {
        hold(candidates_.back());
      } else {
        found = false;
        for (const Candidate& candidate : candidates_)
          if (word == nameOf(*candidate.origin) || word == model_[candidate.origin->value].name) {
            hold(candidate);
            found = true;
          }
      }
      if (!found) return unknownLayer(word);
    }
    return std::nullopt;
  }

  // Indices of the candidates that are not kept.
  std::vector<std::size_t> pruned() const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (result_.layers[candidates_[i].layer].stays.empty()) indices.push_back(i);
    return indices;
  }

  bool someWholeBlock() const {
    return std::ranges::any_of(candidates_, [&](const Candidate& candidate) {
      const WeightExtents& extents = candidate.origin->extents;
      return extents.rows >= options_.blockRows || extents.columns >= options_.blockColumns;
    });
  }

  LayerBlocks layerBlocks(const WeightOrigin& origin, const std::vector<BlockSums>& sums) const {
    const WeightExtents& extents = origin.extents;
    LayerBlocks layer{.rows = divideRoundUp(extents.rows, options_.blockRows),
                      .columns = divideRoundUp(extents.columns, options_.blockColumns),
                      .importance = {}};
    for (const BlockSums& block : sums)
      layer.importance.push_back(importanceOf(block, options_.importance));
    return layer;
  }

  void describe(PrunedLayer& layer, const WeightOrigin& origin, const Bits& kept,
                const std::vector<BlockSums>& sums) const {
    layer.blocks = kept.size();
    layer.blocksKept = kept.count();
    double all = 0, stays = 0;
    for (std::int64_t b = 0; b < kept.size(); ++b) {
      const double squares = sums[static_cast<std::size_t>(b)].squares;
      all += squares;
      if (kept[b]) stays += squares;
    }
    if (all > 0) layer.energyKept = stays / all;
    countGroups(layer, origin.extents, kept);
    layer.kept = elementsOf(origin.extents, kept, options_.blockRows, options_.blockColumns);
  }

  void countGroups(PrunedLayer& layer, const WeightExtents& extents, const Bits& kept) const {
    const std::int64_t rows = divideRoundUp(extents.rows, options_.blockRows),
                       columns = divideRoundUp(extents.columns, options_.blockColumns);
    const bool byRows = options_.balance != BalanceAxis::Inputs;
    const std::int64_t groups =
        options_.balance == BalanceAxis::None ? kGroupsShown : options_.groups;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(byRows ? rows : columns));
    for (std::int64_t b = 0; b < kept.size(); ++b)
      if (kept[b]) ++counts[static_cast<std::size_t>(byRows ? b / columns : b % columns)];
    for (std::int64_t g = 0; g < groups; ++g) {
      const BlockGroup part = blockGroup(std::ssize(counts), groups, g);
      layer.groups.push_back(std::accumulate(
          counts.begin() + part.first, counts.begin() + part.first + part.count, std::int64_t{0}));
    }
    if (layer.blocksKept > 0)
      layer.imbalance = static_cast<double>(std::ranges::max(layer.groups)) *
                        static_cast<double>(groups) / static_cast<double>(layer.blocksKept);
  }

  Diagnostic nothing() const {
    return {.code = "SPARSE004",
            .where = model_.name,
            .summary = "nothing in the network has weights that can be pruned",
            .what = std::to_string(result_.layers.size()) +
                    " operators have weights; each is depth-wise, or its weights are computed",
            .mend = "give a network with convolutions or matrix products of constant weights"};
  }
  Diagnostic tooLarge() const {
    return {.code = "SPARSE005",
            .where = "--block " + std::to_string(options_.blockRows) + "x" +
                     std::to_string(options_.blockColumns),
            .summary = "the block is larger than the weights of every layer",
            .what = "each layer would be one block, to be kept or dropped whole",
            .mend = "choose smaller blocks",
            .severity = Severity::Usage};
  }
  Diagnostic unknownLayer(const std::string& word) const {
    std::vector<std::string> names{"first", "last"};
    for (const Candidate& candidate : candidates_) {
      names.push_back(nameOf(*candidate.origin));
      names.push_back(model_[candidate.origin->value].name);
    }
    const std::optional<std::string> nearest = nearestWord(word, names);
    return {.code = "SPARSE006",
            .where = "--keep " + word,
            .summary = "there is no layer '" + word + "' that could be pruned",
            .what = std::to_string(candidates_.size()) + " layers can be pruned",
            .mend = nearest ? "write '" + *nearest + "'"
                            : "write 'first', 'last' or the name of a layer as inspect shows it",
            .severity = Severity::Usage};
  }

  const Graph& model_;
  const Canonicalized& canonical_;
  const PruneOptions& options_;
  std::vector<Candidate> candidates_;
  Pruning result_;
};

}  // namespace

std::vector<WeightMask> Pruning::masks() const {
  std::vector<WeightMask> masks;
  for (const PrunedLayer& layer : layers)
    if (layer.stays.empty()) masks.push_back({layer.op, layer.kept});
  return masks;
}

Result<Pruning> choosePruning(const Graph& model, const Canonicalized& canonical,
                              const PruneOptions& options) {
  return Pruner(model, canonical, options).run();
}

}  // namespace heddle
