#include "choose_removal.h"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <map>
#include <set>

namespace heddle::sparsity {
namespace {

using Sets = boost::disjoint_sets_with_storage<>;

// Channels of different tensors that stay or go together.
class Classes {
 public:
  explicit Classes(const CanonicalGraph& graph) : sets_(numberChannels(graph)) {
    for (std::size_t i = 0; i < first_.size(); ++i) sets_.make_set(first_[i]);
    for (std::size_t i = 0; i < all_; ++i) sets_.make_set(i);
    for (const CanonicalOp& op : graph.ops) join(graph, op);
  }
  std::size_t count() const { return all_; }
  std::size_t of(TensorId tensor, std::int64_t channel) {
    return sets_.find_set(first_[tensor.at()] + static_cast<std::size_t>(channel));
  }

 private:
  std::size_t numberChannels(const CanonicalGraph& graph) {
    for (const CanonicalTensor& tensor : graph.tensors) {
      first_.push_back(all_);
      all_ += static_cast<std::size_t>(tensor.shape.channels);
    }
    return all_;
  }
  void join(const CanonicalGraph& graph, const CanonicalOp& op) {
    if (op.kind() == OpKind::Conv) return;
    const auto* assemble = std::get_if<Assemble>(&op.attributes);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const auto link = [&](std::int64_t to, std::int64_t from) {
        sets_.union_set(of(op.output, to), of(op.inputs[i], from));
      };
      if (assemble) {
        forEachChannel(assemble->parts[i], link);
      } else {
        const std::int64_t channels = graph.tensors[op.output.at()].shape.channels;
        for (std::int64_t c = 0; c < channels; ++c) link(c, c);
      }
    }
  }

  std::vector<std::size_t> first_;  // by tensor: number of its channel 0
  std::size_t all_ = 0;
  Sets sets_;
};

// Tensors that operators other than Conv join, and these operators.
struct Group {
  std::vector<TensorId> tensors;
  std::vector<const CanonicalOp*> ops;
};

std::vector<Group> groupsOf(const CanonicalGraph& graph) {
  Sets sets(graph.tensors.size());
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) sets.make_set(t);
  for (const CanonicalOp& op : graph.ops)
    if (op.kind() != OpKind::Conv)
      for (const TensorId input : op.inputs) sets.union_set(op.output.at(), input.at());
  std::map<std::size_t, Group> groups;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    groups[sets.find_set(t)].tensors.push_back(TensorId(t));
  for (const CanonicalOp& op : graph.ops)
    if (op.kind() != OpKind::Conv) groups[sets.find_set(op.output.at())].ops.push_back(&op);
  std::vector<Group> result;
  for (auto& [root, group] : groups) result.push_back(std::move(group));
  return result;
}

enum class Grain { Channels, Blocks };

class Chooser {
 public:
  Chooser(const CanonicalGraph& graph, const ChannelSets& needed)
      : graph_(graph), classes_(graph), kept_(classes_.count(), false) {
    std::vector<bool> pinned(graph.tensors.size(), false);
    for (const auto* ports : {&graph.inputs, &graph.outputs})
      for (const Port& port : *ports) pinned[port.tensor.at()] = true;
    for (std::size_t t = 0; t < needed.size(); ++t)
      for (std::size_t c = 0; c < needed[t].size(); ++c)
        if (pinned[t] || needed[t][c])
          kept_[classes_.of(TensorId(t), static_cast<std::int64_t>(c))] = true;
    for (const CanonicalOp& op : graph.ops) addStarts(op);
  }

  ChannelSets choose() {
    const std::vector<Group> groups = groupsOf(graph_);
    const std::vector<bool> needed = kept_;
    for (const Group& group : groups) complete(group, Grain::Blocks);
    for (const Group& group : groups) {
      if (!canLose(group, needed)) continue;
      const std::int64_t blocks = cost(group);
      const std::vector<bool> byBlocks = kept_;
      for (const TensorId tensor : group.tensors)
        for (std::int64_t c = 0; c < channels(tensor); ++c)
          kept_[classes_.of(tensor, c)] = needed[classes_.of(tensor, c)];
      complete(group, Grain::Channels);
      if (cost(group) > blocks) kept_ = byBlocks;
    }
    ChannelSets result;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) result.push_back(keptOf(TensorId(t)));
    return result;
  }

 private:
  std::int64_t channels(TensorId tensor) const {
    return graph_.tensors[tensor.at()].shape.channels;
  }
  bool kept(TensorId tensor, std::int64_t channel) { return kept_[classes_.of(tensor, channel)]; }
  std::vector<bool> keptOf(TensorId tensor) {
    std::vector<bool> result;
    for (std::int64_t c = 0; c < channels(tensor); ++c) result.push_back(kept(tensor, c));
    return result;
  }
  bool canLose(const Group& group, const std::vector<bool>& needed) {
    return std::ranges::any_of(group.tensors, [&](TensorId tensor) {
      for (std::int64_t c = 0; c < channels(tensor); ++c)
        if (!needed[classes_.of(tensor, c)]) return true;
      return false;
    });
  }

  // Where the parts of an Assemble begin that move whole blocks, the last one padded: these share
  // memory with their operands and need no copy.
  void addStarts(const CanonicalOp& op) {
    const auto* assemble = std::get_if<Assemble>(&op.attributes);
    if (!assemble) return;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      for (const AxisRun& run : assemble->parts[i].mapC) {
        const bool aligned = run.to % kBlock == 0 && run.from % kBlock == 0,
                   whole = run.count >= kBlock || run.to + run.count == channels(op.output);
        if (!aligned || !whole || run.toStep != 1 || run.fromStep != 1) continue;
        starts_[op.output].insert(run.to);
        starts_[op.inputs[i]].insert(run.from);
      }
  }

  // Keeps what must stay for the sake of other channels. To keep one is always right, so the order
  // does not matter, and it ends.
  void complete(const Group& group, Grain grain) {
    for (bool more = true; more;) {
      more = false;
      for (const TensorId tensor : group.tensors) {
        more |= keepOne(tensor);
        more |= grain == Grain::Blocks ? keepBlocks(tensor) : keepStarts(tensor);
      }
      for (const CanonicalOp* op : group.ops) more |= keepOnePart(*op);
    }
  }

  bool keep(TensorId tensor, std::int64_t channel) {
    if (kept(tensor, channel)) return false;
    kept_[classes_.of(tensor, channel)] = true;
    return true;
  }
  std::int64_t keptBetween(TensorId tensor, std::int64_t from, std::int64_t to) {
    std::int64_t count = 0;
    for (std::int64_t c = from; c < to; ++c) count += kept(tensor, c);
    return count;
  }

  bool keepOne(TensorId tensor) {
    return keptBetween(tensor, 0, channels(tensor)) == 0 && keep(tensor, 0);
  }

  bool keepBlocks(TensorId tensor) {
    bool more = false;
    for (std::int64_t c = 0; c < channels(tensor); c += kBlock) {
      const std::int64_t end = std::min(c + kBlock, channels(tensor));
      if (keptBetween(tensor, c, end) == 0) continue;
      for (std::int64_t i = c; i < end; ++i) more |= keep(tensor, i);
    }
    return more;
  }

  // Before each start a multiple of 8 stays.
  bool keepStarts(TensorId tensor) {
    bool more = false;
    std::int64_t from = 0;
    for (const std::int64_t start : starts_[tensor]) {
      std::int64_t missing = -keptBetween(tensor, from, start) & (kBlock - 1);
      for (std::int64_t c = from; c < start && missing > 0; ++c)
        if (keep(tensor, c)) {
          more = true;
          missing = -keptBetween(tensor, from, start) & (kBlock - 1);
        }
      from = start;
    }
    return more;
  }

  bool keepOnePart(const CanonicalOp& op) {
    const auto* assemble = std::get_if<Assemble>(&op.attributes);
    if (!assemble) return false;
    std::optional<std::int64_t> first;
    bool any = false;
    for (const AssemblePart& part : assemble->parts)
      forEachChannel(part, [&](std::int64_t to, std::int64_t) {
        if (!first) first = to;
        any |= kept(op.output, to);
      });
    return !any && first && keep(op.output, *first);
  }

  // Blocks that the operators around a group compute: an 8x8 block of weights that is not zero, or
  // 8 channels, for each tap and output pixel.
  std::int64_t cost(const Group& group) {
    const std::set<TensorId> in(group.tensors.begin(), group.tensors.end());
    std::int64_t sum = 0;
    for (const CanonicalOp& op : graph_.ops) {
      if (!in.contains(op.output) &&
          std::ranges::none_of(op.inputs, [&](TensorId t) { return in.contains(t); }))
        continue;
      const Shape& shape = graph_.tensors[op.output.at()].shape;
      const auto* conv = std::get_if<Conv>(&op.attributes);
      sum += shape.height * shape.width *
             (conv ? blocksOfConv(op, *conv)
                   : divideRoundUp(keptBetween(op.output, 0, shape.channels), kBlock));
    }
    return sum;
  }

  std::int64_t blocksOfConv(const CanonicalOp& op, const Conv& conv) {
    const WeightRows rows = weightRows(conv);
    const std::vector<bool> outputs = keptOf(op.output), inputs = keptOf(op.inputs[0]);
    std::vector<std::size_t> blockOf(inputs.size());  // of each input channel, once others are gone
    std::size_t before = 0;
    for (std::size_t c = 0; c < inputs.size(); ++c) {
      blockOf[c] = before / static_cast<std::size_t>(kBlock);
      before += inputs[c];
    }
    std::vector<std::uint8_t> filled(before / static_cast<std::size_t>(kBlock) + 1, 0);
    std::int64_t blocks = 0, row = 0;
    const auto count = [&] {
      blocks += std::ranges::count(filled, 1);
      std::ranges::fill(filled, std::uint8_t{0});
    };
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      if (!outputs[r]) continue;
      const std::int8_t* weights =
          conv.weights.data() + static_cast<std::int64_t>(r) * rows.length();
      for (std::int64_t tap = 0; tap < rows.taps; ++tap, weights += rows.columns)
        for (std::size_t c = 0; c < inputs.size(); ++c)
          if (weights[c] != conv.weightZero[r]) filled[blockOf[c]] = 1;
      if (++row % kBlock == 0) count();
    }
    count();
    return blocks * rows.taps;
  }

  const CanonicalGraph& graph_;
  Classes classes_;
  std::vector<bool> kept_;  // by class
  std::map<TensorId, std::set<std::int64_t>> starts_;
};

}  // namespace

ChannelSets chooseKept(const CanonicalGraph& graph, const ChannelSets& needed) {
  return Chooser(graph, needed).choose();
}

}  // namespace heddle::sparsity
