#include "spills.h"

#include <algorithm>

#include "heddle/support/words.h"

namespace heddle {
namespace {

constexpr std::size_t kLargestNamed = 2;

std::int64_t bytesOf(const StreamPlan& places) { return places.slots * places.slotBytes; }

// What takes a memtile's memory while a step runs.
struct Occupancy {
  struct Tenant {
    std::string name;
    std::int64_t bytes = 0;
  };
  std::size_t step = 0;
  std::int64_t memtile = 0, needed = 0, used = 0, places = 0;
  std::vector<Tenant> tenants;  // homes
  std::int64_t over(const Device& device) const {
    return used + needed - device.memtile.memory.raw();
  }
};

class SpillReason {
 public:
  SpillReason(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory,
              const Device& device)
      : graph_(graph), plan_(plan), memory_(memory), device_(device) {}

  std::string of(TensorId tensor, const Home& home) const {
    const StepRange& life = memory_.tensors[tensor.at()].life;
    if (home.empty())
      return device_.limits.lockMaximum
                 ? "it has more rows than 'limits.lockMaximum' of " +
                       std::to_string(*device_.limits.lockMaximum) + " lets wait"
                 : "the plan lets it stream, without a home";
    std::optional<Occupancy> worst;
    for (std::int64_t s = life.first; s <= life.last; ++s)
      for (const HomeBox& box : home) {
        Occupancy now = occupancy(static_cast<std::size_t>(s), box.memtile);
        now.needed = box.bytes();
        if (!worst || now.over(device_) > worst->over(device_)) worst = std::move(now);
      }
    return worst ? wordsOf(*worst) : "nothing says how long it lives";
  }

 private:
  Occupancy occupancy(std::size_t step, std::int64_t memtile) const {
    Occupancy o{.step = step, .memtile = memtile, .tenants = {}};
    const StepMemory& places = memory_.steps[step];
    for (const StreamPlan& input : places.inputs)
      if (!comesAhead(input)) o.places += bytesOf(input);
    const Mapping& mapping = plan_.layers[plan_.schedule[step].layer.at()];
    if (places.output)
      o.places += bytesOf(*places.output) *
                  std::ranges::count_if(mapping.shares, [&](const CoreShare& share) {
                    return share.output.memtile == memtile;
                  });
    o.used = plan_.weightStaging + o.places;
    for (std::size_t t = 0; t < memory_.tensors.size(); ++t) {
      const TensorMemory& other = memory_.tensors[t];
      std::int64_t bytes = 0;
      for (std::size_t i = 0; i < other.slices.size(); ++i)
        if (other.slices[i].memtile == memtile &&
            other.lives[i].holds(static_cast<std::int64_t>(step)))
          bytes += other.slices[i].bytes();
      if (bytes > 0) o.tenants.push_back({graph_.tensors[t].name, bytes});
      o.used += bytes;
    }
    std::ranges::stable_sort(o.tenants, std::greater<>(), &Occupancy::Tenant::bytes);
    return o;
  }

  // Rows at the memtile's end have only what nothing else wants.
  bool comesAhead(const StreamPlan& input) const {
    return input.address + bytesOf(input) > memory_.weightStaging;
  }

  std::string wordsOf(const Occupancy& o) const {
    const std::string layer = graph_.ops[plan_.schedule[o.step].layer.at()].name;
    std::vector<std::string> taken{"staging of weights " + std::to_string(plan_.weightStaging)};
    for (std::size_t i = 0; i < std::min(kLargestNamed, o.tenants.size()); ++i)
      taken.push_back("'" + o.tenants[i].name + "' " + std::to_string(o.tenants[i].bytes));
    if (o.places > 0) taken.push_back("places for rows from DDR " + std::to_string(o.places));
    std::string words =
        "it needs " + std::to_string(o.needed) + " B of memtile " + std::to_string(o.memtile) +
        ", where " +
        std::to_string(std::max<std::int64_t>(0, device_.memtile.memory.raw() - o.used)) +
        " B of " + std::to_string(device_.memtile.memory.raw()) + " B are left while '" + layer +
        "' runs (" + joinWords(taken) + (o.tenants.size() > kLargestNamed ? ", ..." : "") + ")";
    if (o.over(device_) <= 0)
      words += ": enough in sum, but in no one piece for all of its life, or when it was given up";
    return words;
  }

  const CanonicalGraph& graph_;
  const Plan& plan_;
  const MemoryPlan& memory_;
  const Device& device_;
};

}  // namespace

std::vector<ExplainedSpill> spillsOf(const CanonicalGraph& graph, const Plan& plan,
                                     const MemoryPlan& memory, const Device& device,
                                     const std::vector<Home>& proposed) {
  const SpillReason reason(graph, plan, memory, device);
  std::vector<ExplainedSpill> spills;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const auto isRoot = [&](TensorId tensor) { return plan.views[tensor.at()].root.at() == t; };
    const bool staysInCores = !memory.tensors[t].ddr && memory.tensors[t].life.empty();
    if (!isRoot(TensorId(t)) || !plan.homes[t].empty() || staysInCores) continue;
    ExplainedSpill spill{.tensor = graph.tensors[t].name,
                         .writtenBy = {},
                         .readBy = {},
                         .bytes = Bytes(graph.tensors[t].shape.elements()),
                         .why = {}};
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      if (plan.layers[i].inPlace()) continue;
      if (isRoot(graph.ops[i].output)) spill.writtenBy = graph.ops[i].name;
      if (std::ranges::any_of(graph.ops[i].inputs, isRoot))
        spill.readBy.push_back(graph.ops[i].name);
    }
    if (spill.readBy.empty()) continue;
    spill.why = reason.of(TensorId(t), proposed.empty() ? Home() : proposed[t]);
    spills.push_back(std::move(spill));
  }
  return spills;
}

}  // namespace heddle
