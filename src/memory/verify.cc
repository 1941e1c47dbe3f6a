#include <algorithm>
#include <tuple>

#include "heddle/memory/allocate.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/views.h"

namespace heddle {
namespace {

// A stretch of one memtile that something owns during some steps; of DDR, for good.
struct Claim {
  std::string owner;
  std::int64_t memtile, first, end, from, to;  // bytes [first, end), steps [from, to]
};

class MemoryCheck {
 public:
  MemoryCheck(const MemoryPlan& memory, const CanonicalGraph& graph, const Plan& plan,
              const Device& device)
      : memory_(memory), graph_(graph), plan_(plan), device_(device) {}

  Diagnostics run() {
    if (memory_.tensors.size() != graph_.tensors.size() ||
        memory_.steps.size() != plan_.schedule.size()) {
      fault("MEM004", graph_.name, "the memory plan is of another plan",
            std::to_string(memory_.tensors.size()) + " tensors and " +
                std::to_string(memory_.steps.size()) + " steps; there are " +
                std::to_string(graph_.tensors.size()) + " and " +
                std::to_string(plan_.schedule.size()),
            "give the memory plan that was made for this plan");
      return std::move(faults_);
    }
    lives();
    for (std::size_t t = 0; t < memory_.tensors.size(); ++t) home(t);
    lifeOfLayer_.resize(plan_.layers.size());
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s) {
      const auto now = static_cast<std::int64_t>(s);
      lifeOfLayer_[plan_.schedule[s].layer.at()].add({now, now});
    }
    for (std::size_t s = 0; s < memory_.steps.size(); ++s)
      if (!mapping(s).inPlace()) step(s);
    if (faults_.empty()) {
      memtiles();
      ddr();
    }
    return std::move(faults_);
  }

 private:
  const CanonicalOp& op(std::size_t s) const { return graph_.ops[plan_.schedule[s].layer.at()]; }
  const Mapping& mapping(std::size_t s) const { return plan_.layers[plan_.schedule[s].layer.at()]; }
  std::size_t root(TensorId t) const { return plan_.views[t.at()].root.at(); }

  void fault(const std::string& code, const std::string& where, const std::string& summary,
             const std::string& what, const std::string& mend) {
    faults_.push_back({code, where, summary, what, mend});
  }
  std::string tensorName(std::size_t t) const {
    return graph_.name + ", tensor '" + graph_.tensors[t].name + "'";
  }
  std::string stepName(std::size_t s) const {
    return graph_.name + ", step " + std::to_string(s) + " ('" + op(s).name + "')";
  }

  // Steps in which each root, and each of its rows, is read or written. What no layer writes comes
  // whole before its first use, an output leaves whole after its last writer.
  void lives() {
    life_.resize(graph_.tensors.size());
    lifeOfRow_.resize(graph_.tensors.size());
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      lifeOfRow_[t].resize(static_cast<std::size_t>(graph_.tensors[t].shape.height));
    std::vector<StepRange> written(graph_.tensors.size());
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s) {
      if (mapping(s).inPlace()) continue;
      const auto now = static_cast<std::int64_t>(s);
      written[root(op(s).output)].add({now, now});
      for (const TensorId t : op(s).inputs) life_[root(t)].add({now, now});
      touchRows(s);
    }
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      life_[t].add(written[t]);
      if (life_[t].empty() || !written[t].empty()) continue;
      for (StepRange& row : lifeOfRow_[t]) row.add({life_[t].first, life_[t].first});
    }
    for (const Port& port : graph_.outputs)
      if (const std::int64_t last = written[root(port.tensor)].last; last >= 0)
        for (StepRange& row : lifeOfRow_[root(port.tensor)]) row.add({last, last});
  }

  // The rows that a step reads and writes. Geometries are made once: an Assemble's is as large as
  // its maps.
  void touchRows(std::size_t s) {
    const StepRange now{static_cast<std::int64_t>(s), static_cast<std::int64_t>(s)};
    const Interval& computed = plan_.schedule[s].rows;
    std::vector<StepRange>& written = lifeOfRow_[root(op(s).output)];
    for (std::int64_t y = computed.first; y < computed.end(); ++y)
      written[static_cast<std::size_t>(y)].add(now);
    const Interval kernelRows{0, windowOf(op(s)) ? windowOf(op(s))->kernelY : 1};
    for (std::size_t i = 0; i < op(s).inputs.size(); ++i) {
      const OperandGeometry geometry(graph_, op(s), i);
      const PixelMap pixels = pixelMapOf(graph_, plan_, op(s).inputs[i]);
      std::vector<StepRange>& read = lifeOfRow_[root(op(s).inputs[i])];
      for (std::int64_t y = computed.first; y < computed.end(); ++y) {
        const Interval rows = geometry.rows(y, kernelRows);
        for (std::int64_t a = rows.first; a < rows.end(); ++a)
          read[static_cast<std::size_t>(pixels.row(a))].add(now);
      }
    }
  }

  // A slice for each box of the plan's home, alive as long as anything touches its rows.
  void home(std::size_t t) {
    const TensorMemory& tensor = memory_.tensors[t];
    const Home& home = plan_.homes[t];
    const StepRange& life = life_[t];
    const std::size_t boxes = life.empty() ? 0 : home.size();
    bool same = tensor.slices.size() == boxes && tensor.lives.size() == boxes;
    for (std::size_t i = 0; same && i < boxes; ++i) {
      const Slice& s = tensor.slices[i];
      same = home[i] == HomeBox{s.memtile, {s.y, s.rows}, {s.x, s.columns}, {s.block, s.blocks}};
    }
    if (!same)
      fault("MEM004", tensorName(t), "the tensor's slices are not the boxes of its home",
            std::to_string(tensor.slices.size()) + " slices, " + std::to_string(home.size()) +
                " boxes",
            "give each box of the home one slice, in the plan's order");
    livesLongEnough(t, "the tensor", tensor.life, life);
    for (std::size_t i = 0; same && i < boxes; ++i)
      for (std::int64_t y = home[i].y.first; y < home[i].y.end(); ++y)
        livesLongEnough(t, "row " + std::to_string(y), tensor.lives[i],
                        lifeOfRow_[t][static_cast<std::size_t>(y)]);
  }

  void livesLongEnough(std::size_t t, const std::string& what, const StepRange& planned,
                       const StepRange& used) {
    if (used.empty() || (planned.first <= used.first && used.last <= planned.last)) return;
    fault("MEM004", tensorName(t), what + " is used in steps in which it does not live",
          "it lives from step " + std::to_string(planned.first) + " to " +
              std::to_string(planned.last) + ", and is used from " + std::to_string(used.first) +
              " to " + std::to_string(used.last),
          "let it live from its first to its last use");
  }

  void stream(std::size_t s, const std::string& what, const StreamPlan& stream, bool needed,
              std::int64_t bytes) {
    const std::int64_t most = device_.memtile.memory.raw();
    const bool enough = stream.slots >= 0 && stream.slots <= most && stream.slotBytes >= 0 &&
                        stream.slotBytes <= most &&
                        (!needed || (stream.slots >= 1 && stream.slotBytes >= bytes));
    if (!enough || stream.slotBytes % kBlock != 0)
      fault("MEM005", stepName(s), "the places of " + what + " are too few or too small",
            std::to_string(stream.slots) + " of " + std::to_string(stream.slotBytes) + " B; " +
                std::to_string(bytes) + " B pass at once",
            "plan at least one place of that size, a multiple of 8 bytes");
    const std::int64_t countable = device_.limits.lockMaximum.value_or(stream.slots);
    if (stream.slots <= countable) return;
    fault("MEM005", stepName(s), "the places of " + what + " are more than a lock can count",
          std::to_string(stream.slots) + " places, 'limits.lockMaximum' is " +
              std::to_string(countable),
          "plan fewer places, or choose a device with 'limits.lockMaximum' of " +
              std::to_string(stream.slots) + " or more");
    faults_.back().severity = Severity::DoesNotFit;
  }

  void step(std::size_t s) {
    const Mapping& m = mapping(s);
    const StepMemory& memory = memory_.steps[s];
    if (memory.inputs.size() != op(s).inputs.size() || memory.weights.size() != m.weights.size()) {
      fault("MEM004", stepName(s), "the memory plan is of another layer",
            std::to_string(memory.inputs.size()) + " operands and " +
                std::to_string(memory.weights.size()) + " weight routes",
            "give the memory plan that was made for this plan");
      return;
    }
    for (std::size_t i = 0; i < memory.inputs.size(); ++i)
      stream(s, "operand " + std::to_string(i), memory.inputs[i],
             plan_.homes[root(op(s).inputs[i])].empty() && m.rings[i].rowBytes > 0,
             streamedRowBytes(graph_, plan_, m.rings[i], op(s).inputs[i]));
    const std::int64_t different = m.passes * std::ssize(m.parts);
    for (std::size_t r = 0; r < memory.weights.size(); ++r)
      stream(s, "weight route " + std::to_string(r), memory.weights[r], m.recordsAtHome < different,
             m.weightBytes);
    recordHomes(s);
    const bool streamsOut = plan_.homes[root(op(s).output)].empty();
    stream(s, "the output", memory.output.value_or(StreamPlan{}), streamsOut, m.outputRowBytes);
    const std::int64_t end = memory.coreBase + m.coreBytes();
    if (memory.coreBase < 0 || memory.coreBase % kBlock != 0 ||
        end > device_.core.operandMemory().raw())
      fault("MEM002", stepName(s), "the step's buffers lie outside core memory",
            "bytes " + std::to_string(memory.coreBase) + " to " + std::to_string(end) + " of " +
                std::to_string(device_.core.operandMemory().raw()),
            "begin them at a multiple of 8 bytes where they fit");
  }

  // A slot for each record that stays, where those of the layer's first step are.
  void recordHomes(std::size_t s) {
    const Mapping& m = mapping(s);
    const std::vector<StreamPlan>& homes = memory_.steps[s].recordHomes;
    const StepRange& life = lifeOfLayer_[plan_.schedule[s].layer.at()];
    const bool isSame = homes == memory_.steps[static_cast<std::size_t>(life.first)].recordHomes;
    if (homes.size() != (m.recordsAtHome > 0 ? m.weights.size() : 0) || !isSame) {
      fault("MEM004", stepName(s), "the places of records that stay are not the plan's",
            std::to_string(homes.size()) + " routes have some; " + std::to_string(m.recordsAtHome) +
                " records of each of " + std::to_string(m.weights.size()) + " are to stay",
            "give each weight route its places, the same in all steps of the layer");
      return;
    }
    for (std::size_t r = 0; r < homes.size(); ++r) {
      const std::string what = "records that stay of weight route " + std::to_string(r);
      stream(s, what, homes[r], true, m.weightBytes);
      if (homes[r].slots < m.recordsAtHome)
        fault("MEM005", stepName(s), "the places of " + what + " are too few",
              std::to_string(homes[r].slots) + " for " + std::to_string(m.recordsAtHome),
              "plan one for each");
    }
  }

  // Memtiles through which a layer's rows come and go.
  static std::vector<std::int64_t> memtilesOf(const std::vector<Route>& routes) {
    std::vector<std::int64_t> out;
    for (const Route& route : routes) out.push_back(route.memtile);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  std::vector<Claim> claims() const {
    std::vector<Claim> out;
    for (std::size_t t = 0; t < memory_.tensors.size(); ++t)
      for (std::size_t i = 0; i < memory_.tensors[t].slices.size(); ++i) {
        const Slice& s = memory_.tensors[t].slices[i];
        const StepRange& life = memory_.tensors[t].lives[i];
        out.push_back({"tensor '" + graph_.tensors[t].name + "'", s.memtile, s.address,
                       s.address + s.bytes(), life.first, life.last});
      }
    addRecordHomes(out);
    for (std::size_t i = 0; i < memory_.steps.size(); ++i) {
      const Mapping& m = mapping(i);
      if (m.inPlace()) continue;
      const StepMemory& step = memory_.steps[i];
      const std::string name = "step " + std::to_string(i);
      const auto now = static_cast<std::int64_t>(i);
      const auto add = [&](const std::string& what, std::int64_t memtile, std::int64_t address,
                           std::int64_t bytes) {
        if (bytes > 0)
          out.push_back({what + " of " + name, memtile, address, address + bytes, now, now});
      };
      for (std::size_t k = 0; k < step.inputs.size(); ++k)
        for (const std::int64_t memtile : memtilesOf(m.inputs[k]))
          add("operand " + std::to_string(k), memtile, step.inputs[k].address,
              step.inputs[k].slots * step.inputs[k].slotBytes);
      for (std::size_t r = 0; r < step.weights.size(); ++r)
        add("weight route " + std::to_string(r), m.weights[r].memtile, step.weights[r].address,
            step.weights[r].slots * step.weights[r].slotBytes);
      if (step.output)
        for (const CoreShare& share : m.shares) {
          const std::int64_t bytes = step.output->slots * step.output->slotBytes;
          add("an output", share.output.memtile,
              step.output->address + outputRank(m, share) * bytes, bytes);
        }
    }
    return out;
  }

  // From the first step of their layer to its last.
  void addRecordHomes(std::vector<Claim>& out) const {
    for (std::size_t layer = 0; layer < plan_.layers.size(); ++layer) {
      const Mapping& m = plan_.layers[layer];
      if (m.inPlace() || m.recordsAtHome == 0) continue;
      const StepRange& life = lifeOfLayer_[layer];
      const StepMemory& step = memory_.steps[static_cast<std::size_t>(life.first)];
      for (std::size_t r = 0; r < m.weights.size(); ++r) {
        const StreamPlan& home = step.recordHomes[r];
        out.push_back({"the records of '" + graph_.ops[layer].name + "' that stay",
                       m.weights[r].memtile, home.address,
                       home.address + home.slots * home.slotBytes, life.first, life.last});
      }
    }
  }

  void memtiles() {
    std::vector<Claim> all = claims();
    std::sort(all.begin(), all.end(), [](const Claim& a, const Claim& b) {
      return std::tie(a.memtile, a.first) < std::tie(b.memtile, b.first);
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Claim& a = all[i];
      if (a.first < 0 || a.end > device_.memtile.memory.raw() || a.first % kBlock != 0)
        fault("MEM002", graph_.name, a.owner + " lies outside its memtile",
              "bytes " + std::to_string(a.first) + " to " + std::to_string(a.end) + " of " +
                  std::to_string(device_.memtile.memory.raw()),
              "place it at a multiple of 8 bytes where it fits");
      for (std::size_t j = i + 1;
           j < all.size() && all[j].memtile == a.memtile && all[j].first < a.end; ++j)
        if (a.from <= all[j].to && all[j].from <= a.to)
          fault(
              "MEM002", graph_.name, a.owner + " and " + all[j].owner + " meet in time and space",
              "memtile " + std::to_string(a.memtile) + " from byte " + std::to_string(all[j].first),
              "move one of them");
    }
  }

  bool isPort(std::size_t t) const {
    const auto isOneOf = [&](const std::vector<Port>& ports) {
      return std::any_of(ports.begin(), ports.end(),
                         [&](const Port& port) { return root(port.tensor) == t; });
    };
    return isOneOf(graph_.inputs) || isOneOf(graph_.outputs);
  }
  bool needsDdr(std::size_t t) const {
    return !graph_.tensors[t].constant.empty() || isPort(t) ||
           (!life_[t].empty() && plan_.homes[t].empty());
  }

  // Roots that the host or a stream finds in DDR, each in memory of its own; constants behind
  // weightsAddress, where their bytes come with the weights, the others before it.
  void ddr() {
    std::vector<Claim> all;
    for (std::size_t t = 0; t < memory_.tensors.size(); ++t) {
      const std::optional<std::int64_t>& address = memory_.tensors[t].ddr;
      if (root(TensorId(t)) != t) continue;
      if (!address && needsDdr(t))
        fault("MEM006", tensorName(t), "the tensor has no place in DDR",
              "it has no home in the memtiles, or the host reads or writes it",
              "give it an address");
      if (!address) continue;
      const Shape& shape = graph_.tensors[t].shape;
      const std::int64_t bytes = shape.height * shape.width * blocksOf(shape) * kBlock;
      const std::int64_t stride = memory_.tensors[t].frameStride;
      if (stride < 0 || stride % kBlock != 0 || (stride > 0 && stride < bytes) ||
          (stride == 0) != (plan_.frames == 1 || !isPort(t)))
        fault("MEM006", tensorName(t),
              "the frames of a tensor meet in DDR, or lie apart for nothing",
              std::to_string(stride) + " B from one frame's to the next; the tensor has " +
                  std::to_string(bytes) + " B",
              "give each frame of an input or output of the network a place of its own");
      const std::int64_t end = *address + (plan_.frames - 1) * stride + bytes;
      const bool constant = !graph_.tensors[t].constant.empty();
      if (*address < 0 || *address % kBlock != 0 ||
          (constant ? *address < memory_.weightsAddress : end > memory_.weightsAddress))
        fault("MEM006", tensorName(t), "the tensor lies on the wrong side of the weights in DDR",
              "bytes " + std::to_string(*address) + " to " + std::to_string(end) +
                  ", weights from " + std::to_string(memory_.weightsAddress),
              "place constants behind that address and all others before it, at multiples of 8");
      all.push_back({graph_.tensors[t].name, 0, *address, end, 0, 0});
    }
    std::sort(all.begin(), all.end(),
              [](const Claim& a, const Claim& b) { return a.first < b.first; });
    for (std::size_t i = 1; i < all.size(); ++i)
      if (all[i].first < all[i - 1].end)
        fault("MEM006", graph_.name,
              "tensors '" + all[i - 1].owner + "' and '" + all[i].owner + "' meet in DDR",
              "from byte " + std::to_string(all[i].first), "move one of them");
  }

  const MemoryPlan& memory_;
  const CanonicalGraph& graph_;
  const Plan& plan_;
  const Device& device_;
  std::vector<StepRange> life_;                    // per root
  std::vector<std::vector<StepRange>> lifeOfRow_;  // per root and row
  std::vector<StepRange> lifeOfLayer_;             // the steps that compute its rows
  Diagnostics faults_;
};

}  // namespace

Diagnostics verify(const MemoryPlan& memory, const CanonicalGraph& graph, const Plan& plan,
                   const Device& device) {
  return MemoryCheck(memory, graph, plan, device).run();
}

}  // namespace heddle
