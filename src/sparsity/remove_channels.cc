// Takes channels out: shapes shrink, and with them all that is told channel by channel.
//
//   Concat of a (16, of which 8..15 go) and b (8):   c 0<-0*16, 16<-0*8  ->  c 0<-0*8, 8<-0*8
#include <algorithm>

#include "channels.h"
#include "choose_removal.h"
#include "heddle/support/check.h"

namespace heddle::sparsity {
namespace {

constexpr std::int64_t kGone = -1;

// The new index of each channel, kGone where it has none; empty for a tensor that loses nothing.
using NewIndex = std::vector<std::int64_t>;

NewIndex newIndex(const std::vector<bool>& kept) {
  if (std::ranges::all_of(kept, [](bool k) { return k; })) return {};
  NewIndex index;
  std::int64_t next = 0;
  for (const bool k : kept) index.push_back(k ? next++ : kGone);
  return index;
}

// Of a list of equal pieces for each channel, in order, those of the channels that stay.
template <class T>
void keepPieces(std::vector<T>& list, const NewIndex& index, std::int64_t piece = 1) {
  if (index.empty() || list.empty()) return;
  const std::int64_t channels = std::ssize(index);
  HEDDLE_CHECK(std::ssize(list) % (channels * piece) == 0) << list.size();
  auto to = list.begin();
  for (std::int64_t i = 0; i * piece < std::ssize(list); ++i)
    if (index[static_cast<std::size_t>(i % channels)] != kGone)
      to = std::copy_n(list.begin() + i * piece, piece, to);
  list.erase(to, list.end());
}
template <class T>
void keepPieces(SharedArray<T>& list, const NewIndex& index, std::int64_t piece = 1) {
  if (!index.empty()) keepPieces(list.own(), index, piece);
}

struct Pair {
  std::int64_t to = 0, from = 0;
};

// Runs of the pairs in their order: steps of 1, or steps that at least three pairs share.
AxisMap runsOf(const std::vector<Pair>& pairs) {
  AxisMap map;
  for (std::size_t i = 0; i < pairs.size();) {
    AxisRun run{pairs[i].to, 1, pairs[i].from, 1, 1};
    const auto steps = [&](std::size_t at, std::int64_t toStep, std::int64_t fromStep) {
      return at < pairs.size() && pairs[at].to - pairs[at - 1].to == toStep &&
             pairs[at].from - pairs[at - 1].from == fromStep;
    };
    if (i + 1 < pairs.size() && !steps(i + 1, 1, 1)) {
      const std::int64_t toStep = pairs[i + 1].to - pairs[i].to,
                         fromStep = pairs[i + 1].from - pairs[i].from;
      if (toStep > 0 && steps(i + 2, toStep, fromStep)) {
        run.toStep = toStep;
        run.fromStep = fromStep;
      }
    }
    while (steps(i + static_cast<std::size_t>(run.count), run.toStep, run.fromStep)) ++run.count;
    i += static_cast<std::size_t>(run.count);
    map.push_back(run);
  }
  return map;
}

class Cutter {
 public:
  Cutter(CanonicalGraph& graph, const ChannelSets& kept) : graph_(graph) {
    for (const std::vector<bool>& channels : kept) index_.push_back(newIndex(channels));
  }

  void cut() {
    for (CanonicalOp& op : graph_.ops) {
      op_ = &op;
      std::visit([&](auto& attributes) { cutOperator(attributes); }, op.attributes);
    }
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      CanonicalTensor& tensor = graph_.tensors[t];
      keepPieces(tensor.constant, index_[t]);
      tensor.shape.channels -= std::ranges::count(index_[t], kGone);
    }
  }

 private:
  const NewIndex& inputIndex(std::size_t operand) const {
    return index_[op_->inputs[operand].at()];
  }
  const NewIndex& outputIndex() const { return index_[op_->output.at()]; }

  void cutOperator(Conv& conv) {
    const std::int64_t length = weightRows(conv).length();
    keepPieces(conv.weights, outputIndex(), length);
    keepPieces(conv.weights, inputIndex(0));
    cutRows(conv);
  }
  void cutOperator(DepthwiseConv& conv) {
    keepPieces(conv.weights, outputIndex(), weightRows(conv).length());
    cutRows(conv);
  }
  template <class Convolution>
  void cutRows(Convolution& conv) {
    keepPieces(conv.weightZero, outputIndex());
    keepPieces(conv.bias, outputIndex());
    keepPieces(conv.requantize, outputIndex());
    keepPieces(conv.requantizeNegative, outputIndex());
  }
  void cutOperator(Table& table) {
    if (table.tables.size() > 1) keepPieces(table.tables, outputIndex());
    if (!table.lines.empty()) keepPieces(table.lines, outputIndex());
    if (table.tables.size() == 1) table.lines.clear();  // the one table is that of all channels
  }
  void cutOperator(const MaxPool&) {}
  void cutOperator(const AveragePool&) {}
  void cutOperator(const Add&) {}
  void cutOperator(const Mul&) {}

  void cutOperator(Assemble& assemble) {
    std::vector<TensorId> inputs;
    std::vector<AssemblePart> parts;
    for (std::size_t i = 0; i < assemble.parts.size(); ++i) {
      AssemblePart& part = assemble.parts[i];
      if (!inputIndex(i).empty() || !outputIndex().empty()) {
        part.mapC = renumbered(part, inputIndex(i));
        if (part.mapC.empty()) continue;
      }
      inputs.push_back(op_->inputs[i]);
      parts.push_back(std::move(part));
    }
    op_->inputs = std::move(inputs);
    assemble.parts = std::move(parts);
  }
  AxisMap renumbered(const AssemblePart& part, const NewIndex& inputs) const {
    const auto at = [](const NewIndex& index, std::int64_t channel) {
      return index.empty() ? channel : index[static_cast<std::size_t>(channel)];
    };
    std::vector<Pair> pairs;
    forEachChannel(part, [&](std::int64_t to, std::int64_t from) {
      if (at(outputIndex(), to) != kGone)
        pairs.push_back({at(outputIndex(), to), at(inputs, from)});
    });
    return runsOf(pairs);
  }

  CanonicalGraph& graph_;
  std::vector<NewIndex> index_;  // by tensor
  CanonicalOp* op_ = nullptr;
};

}  // namespace

ChannelSets removeChannels(CanonicalGraph& graph, const ChannelSets& needed) {
  ChannelSets removed;
  for (const std::vector<bool>& channels : needed) removed.emplace_back(channels.size(), false);
  const bool all = std::ranges::all_of(needed, [](const std::vector<bool>& channels) {
    return std::ranges::all_of(channels, [](bool n) { return n; });
  });
  if (all) return removed;
  const ChannelSets kept = chooseKept(graph, needed);
  Cutter(graph, kept).cut();
  for (std::size_t t = 0; t < kept.size(); ++t)
    for (std::size_t c = 0; c < kept[t].size(); ++c) removed[t][c] = !kept[t][c];
  return removed;
}

}  // namespace heddle::sparsity
