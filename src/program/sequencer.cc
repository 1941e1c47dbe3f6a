#include <set>

#include "generation.h"

namespace heddle {
namespace {

struct Entry {  // items of one section in a DDR channel's queue
  Engine channel;
  std::size_t step;
  std::int64_t count;
};

bool loadsActivations(const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (const Loop* loop = std::get_if<Loop>(&item.as)) {
      if (loadsActivations(loop->body)) return true;
      continue;
    }
    const auto* load = std::get_if<Load<Affine>>(&std::get<Instruction>(item.as).as);
    if (load && load->part.content == Content::Activation) return true;
  }
  return false;
}

class Sequencer {
 public:
  explicit Sequencer(Generation& g) : g_(g) { collect(); }

  // Weights do not depend on anything in DDR: all entries of channels that bring nothing else start
  // first. The others start step by step, each step after those whose spilled tensors it reads.
  void tell() {
    for (const Entry& e : entries_)
      if (onlyWeights(e.channel)) start(e);
    std::size_t next = 0;
    for (std::size_t s = 0; s < g_.plan.schedule.size(); ++s) {
      awaitOperands(s);
      for (; next < entries_.size() && entries_[next].step <= s; ++next) {
        const Entry& e = entries_[next];
        if (onlyWeights(e.channel)) continue;
        start(e);
        if (e.channel.kind == EngineKind::DdrOut) writes_[s][e.channel] = started_[e.channel];
      }
    }
    awaitEnd();
    append();
  }

 private:
  void collect() {
    for (const Section& s : g_.out.program.sections) {
      const EngineKind kind = s.engines.kind;
      if (kind != EngineKind::DdrIn && kind != EngineKind::DdrOut) continue;
      const bool activations = loadsActivations(s.items);
      const CoreRange& range = s.engines.range;
      for (std::int64_t c = range.column; c < range.column + range.columns; ++c) {
        const Engine channel{kind, 0, small(c), s.engines.channel};
        entries_.push_back({channel, s.step.at(), std::ssize(s.items)});
        if (activations) bringsActivations_.insert(channel);
      }
    }
    for (std::size_t s = 0; s < g_.plan.schedule.size(); ++s) {
      const std::size_t layer = g_.plan.schedule[s].layer.at();
      if (!g_.plan.layers[layer].inPlace())
        producers_[g_.root(g_.graph.ops[layer].output).at()].push_back(s);
    }
  }

  bool onlyWeights(const Engine& channel) const {
    return channel.kind == EngineKind::DdrIn && !bringsActivations_.contains(channel);
  }

  void start(const Entry& e) {
    for (std::int64_t k = 0; k < e.count; ++k)
      order_.push_back({StepId(e.step), false, Instruction{Start{e.channel}}});
    started_[e.channel] += e.count;
  }

  // The host takes the outputs when the sequencer has ended. Before that a frame need not wait for
  // the one before it, but where it writes to the same place in DDR.
  void awaitEnd() {
    const bool again = g_.plan.frames > 1 && usesOnePlace();
    lastFrame_ = g_.plan.frames > 1 && !again;
    const std::size_t last = g_.plan.schedule.size() - 1;
    for (const auto& [channel, count] : started_)
      if (channel.kind == EngineKind::DdrOut || (again && !onlyWeights(channel)))
        await(last, channel, count);
  }

  bool usesOnePlace() const {
    const std::vector<TensorMemory>& tensors = g_.memory.tensors;
    for (std::size_t t = 0; t < tensors.size(); ++t)
      if (tensors[t].ddr && tensors[t].frameStride == 0 && g_.graph.tensors[t].constant.empty())
        return true;
    return false;
  }

  void await(std::size_t step, const Engine& channel, std::int64_t count) {
    if (awaited_[channel] >= count) return;
    awaited_[channel] = count;
    order_.push_back(
        {StepId(step), lastFrame_, Instruction{Wait<Affine>{channel, Affine(count - 1)}}});
  }

  void awaitOperands(std::size_t step) {
    const std::size_t layer = g_.plan.schedule[step].layer.at();
    if (g_.plan.layers[layer].inPlace()) return;
    for (const TensorId t : g_.graph.ops[layer].inputs) {
      if (!g_.home(t).slices.empty()) continue;
      for (const std::size_t producer : producers_[g_.root(t).at()])
        for (const auto& [channel, count] : writes_[producer]) await(step, channel, count);
    }
  }

  void append() {
    std::vector<Section>& sections = g_.out.program.sections;
    const EngineRange sequencer{EngineKind::Sequencer, 0, {0, 0, 1, 1}};
    for (auto& [step, lastFrame, instruction] : order_) {
      if (sections.empty() || sections.back().engines != sequencer ||
          sections.back().step != step || sections.back().lastFrame != lastFrame)
        sections.push_back({step, sequencer, {}, lastFrame});
      sections.back().items.emplace_back().as = std::move(instruction);
    }
  }

  Generation& g_;
  std::vector<Entry> entries_;  // by step
  std::set<Engine> bringsActivations_;
  std::map<std::size_t, std::vector<std::size_t>> producers_;  // root tensor -> steps that write it
  std::map<std::size_t, std::map<Engine, std::int64_t>> writes_;  // per step: entries of each
                                                                  // channel that end its writes
  std::map<Engine, std::int64_t> started_, awaited_;
  struct Told {
    StepId step;
    bool lastFrame = false;
    Instruction instruction;
  };
  std::vector<Told> order_;
  bool lastFrame_ = false;  // of what is told
};

}  // namespace

void tellSequencer(Generation& generation) {
  if (!generation.plan.schedule.empty()) Sequencer(generation).tell();
}

}  // namespace heddle
