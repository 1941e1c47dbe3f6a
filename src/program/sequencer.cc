#include <algorithm>
#include <set>
#include <span>

#include "generation.h"
#include "heddle/program/visit.h"

namespace heddle {
namespace {

struct Entry {  // one item of a section in a DDR channel's queue
  std::size_t step;
  std::set<TensorId> brings;  // roots of activations out of DDR
};

void addBrought(std::span<const Item> items, std::set<TensorId>& brings) {
  for (const Item& item : items) {
    if (const Loop* loop = std::get_if<Loop>(&item.as)) {
      addBrought(loop->body, brings);
      continue;
    }
    const auto* load = transferOf(std::get<Instruction>(item.as), TransferKind::Load);
    if (load && load->part.content == Content::Activation) brings.insert(load->part.tensor);
  }
}

class Sequencer {
 public:
  explicit Sequencer(Generation& g) : g_(g) { collect(); }

  // An entry of a channel starts as soon as those before it have and what it brings has been
  // written, so that weights come as far ahead as their places are free. Writes start step by step.
  void tell() {
    for (std::size_t s = 0; s < g_.plan.schedule.size(); ++s) {
      startLoads();
      awaitOperands(s);
      startLoads();
      for (auto& [channel, entries] : entries_) {
        if (channel.kind != EngineKind::DdrOut) continue;
        std::size_t& next = started_[channel];
        const std::size_t before = next;
        while (next < entries.size() && entries[next].step <= s) start(channel, entries[next]);
        if (next > before) writes_[s][channel] = next;
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
      for (const Item& item : s.items) {
        Entry entry{s.step.at(), {}};
        addBrought({&item, 1}, entry.brings);
        forEachEngine(s.engines,
                      [&](const Engine& channel) { entries_[channel].push_back(entry); });
      }
    }
    for (std::size_t s = 0; s < g_.plan.schedule.size(); ++s) {
      const std::size_t layer = g_.plan.schedule[s].layer.at();
      if (!g_.plan.layers[layer].inPlace())
        producers_[g_.root(g_.graph.ops[layer].output).at()].push_back(s);
    }
  }

  bool onlyWeights(const Engine& channel) const {
    return channel.kind == EngineKind::DdrIn &&
           std::ranges::all_of(entries_.at(channel),
                               [](const Entry& entry) { return entry.brings.empty(); });
  }

  // Whether some of what it brings is still to be written, or awaited.
  bool isEarly(const Entry& entry) const {
    return std::ranges::any_of(entry.brings, [&](TensorId root) {
      const auto producers = producers_.find(root.at());
      if (producers == producers_.end()) return false;
      return std::ranges::any_of(producers->second, [&](std::size_t step) {
        return step < entry.step && !awaitedSteps_.contains(step);
      });
    });
  }

  void startLoads() {
    for (auto& [channel, entries] : entries_) {
      if (channel.kind != EngineKind::DdrIn) continue;
      std::size_t& next = started_[channel];
      while (next < entries.size() && !isEarly(entries[next])) start(channel, entries[next]);
    }
  }

  void start(const Engine& channel, const Entry& entry) {
    order_.push_back({StepId(entry.step), false, Instruction{Start{channel}}});
    ++started_[channel];
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

  // The first `count` entries.
  void await(std::size_t step, const Engine& channel, std::size_t count) {
    if (awaited_[channel] >= count) return;
    awaited_[channel] = count;
    order_.push_back({StepId(step), lastFrame_,
                      Instruction{Wait<Affine>{channel, Affine(std::int64_t(count) - 1)}}});
  }

  void awaitOperands(std::size_t step) {
    const std::size_t layer = g_.plan.schedule[step].layer.at();
    if (g_.plan.layers[layer].inPlace()) return;
    for (const TensorId t : g_.graph.ops[layer].inputs) {
      if (!g_.home(t).slices.empty()) continue;
      for (const std::size_t producer : producers_[g_.root(t).at()]) {
        if (producer >= step) continue;
        for (const auto& [channel, count] : writes_[producer]) await(step, channel, count);
        awaitedSteps_.insert(producer);
      }
    }
  }

  void append() {
    std::vector<Section>& sections = g_.out.program.sections;
    const EngineSet sequencer;
    for (auto& [step, lastFrame, instruction] : order_) {
      if (sections.empty() || sections.back().engines != sequencer ||
          sections.back().step != step || sections.back().lastFrame != lastFrame)
        sections.push_back({step, sequencer, {}, lastFrame});
      sections.back().items.emplace_back().as = std::move(instruction);
    }
  }

  Generation& g_;
  std::map<Engine, std::vector<Entry>> entries_;               // of each channel, in order
  std::map<std::size_t, std::vector<std::size_t>> producers_;  // root tensor -> steps that write it
  // Per step: of each channel, how many entries end its writes.
  std::map<std::size_t, std::map<Engine, std::size_t>> writes_;
  std::set<std::size_t> awaitedSteps_;
  std::map<Engine, std::size_t> started_, awaited_;
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
