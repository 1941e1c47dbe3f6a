#include "choose.h"

#include <algorithm>
#include <utility>

#include "streams.h"

namespace heddle {
namespace {

// Of a layer's time, in thousandths: a mapping further down the list, whose program is more often
// the longer one, has to gain more than the closed form errs.
constexpr std::int64_t kWorthwhile = 10;

// Where records and rows share wires, the closed form errs more.
constexpr std::int64_t kWorthwhileAmongRows = 60;

std::int64_t worthwhile(const Mapping& mapping) {
  const bool amongRows = !mapping.weights.empty() && mapping.weights[0].lead > 0;
  return amongRows ? kWorthwhileAmongRows : kWorthwhile;
}

DdrInputs ddrInputs(const CanonicalGraph& graph, const Plan& plan, std::size_t layer) {
  DdrInputs inputs;
  for (const TensorId input : graph.ops[layer].inputs) {
    const TensorId root = plan.views[input.at()].root;
    const Home& home = plan.homes[root.at()];
    inputs.rows = inputs.rows || home.empty();
    const bool isPort = std::ranges::find(graph.inputs, root, &Port::tensor) != graph.inputs.end();
    if (!isPort && graph.tensors[root.at()].constant.empty()) continue;
    for (const HomeBox& box : home)
      if (box.memtile == home[0].memtile)
        inputs.wholeBytes += box.y.count * box.x.count * box.blocks.count * kBlock;
  }
  return inputs;
}

void setDdrChannels(const CanonicalGraph& graph, const Device& device, Plan& plan,
                    std::size_t layer) {
  const std::vector<StreamPlan> places = weightPlaces(plan, plan.layers[layer], device);
  shareDdrChannels(plan.layers[layer], ddrInputs(graph, plan, layer),
                   places.empty() ? 0 : places[0].slots, device);
}

// Goes through the schedule and leaves the best mapping of each layer behind.
class Choice {
 public:
  Choice(const CanonicalGraph& graph, const Device& device, const MemoryPlan& memory,
         WorkCounter& count, Plan& plan)
      : graph_(graph),
        device_(device),
        plan_(plan),
        count_(count),
        whole_(graph, plan, memory),
        placed_(memory),
        clock_(device) {}

  void skip() { clock_.next({}); }

  // A further step of a layer whose mapping is taken.
  void follow(std::size_t step) {
    const Mapping& mapping = plan_.layers[plan_.schedule[step].layer.at()];
    place(step, mapping);
    now_ = clock_.next(count_(plan_, placed_, whole_, step)).end;
    coresEnd_ = placed_.steps[step].coreBase + mapping.coreBytes();
  }

  void take(std::size_t step, const std::vector<Mapping>& finalists) {
    Mapping& taken = plan_.layers[plan_.schedule[step].layer.at()];
    std::optional<Trial> best;
    for (const Mapping& mapping : finalists) {
      Trial trial = tryOut(step, mapping);
      if (best && gain(*best, trial) * 1000 <= (best->end - now_).raw() * worthwhile(mapping))
        continue;
      best = std::move(trial);
      std::swap(best->mapping, taken);
    }
    clock_ = std::move(best->clock);
    now_ = best->end;
    taken = std::move(best->mapping);
    coresEnd_ = coreBaseAfter(coresEnd_, taken, device_) + taken.coreBytes();
  }

 private:
  struct Trial {
    Mapping mapping;  // of the best so far
    StepClock clock;  // after the step
    Cycles end;
  };

  static std::int64_t gain(const Trial& from, const Trial& to) { return (from.end - to.end).raw(); }

  // Leaves the mapping in the plan.
  Trial tryOut(std::size_t step, const Mapping& mapping) {
    const std::size_t layer = plan_.schedule[step].layer.at();
    plan_.layers[layer] = mapping;
    setDdrChannels(graph_, device_, plan_, layer);
    place(step, mapping);
    StepClock clock = clock_;
    const Cycles end = clock.next(count_(plan_, placed_, whole_, step)).end;
    return {{}, std::move(clock), end};
  }

  void place(std::size_t step, const Mapping& mapping) {
    placed_.steps[step].weights = weightPlaces(plan_, mapping, device_);
    placed_.steps[step].coreBase = coreBaseAfter(coresEnd_, mapping, device_);
  }

  const CanonicalGraph& graph_;
  const Device& device_;
  Plan& plan_;
  WorkCounter& count_;
  WholeTensors whole_;
  MemoryPlan placed_;
  StepClock clock_;
  Cycles now_{0};              // the end of the steps before
  std::int64_t coresEnd_ = 0;  // of the buffers of the step before
};

}  // namespace

void chooseMappings(const CanonicalGraph& graph, const Device& device, const MemoryPlan& memory,
                    const Finalists& finalists, WorkCounter& count, Plan& plan) {
  Choice choice(graph, device, memory, count, plan);
  std::vector<bool> taken(plan.layers.size());
  for (std::size_t s = 0; s < plan.schedule.size(); ++s) {
    const std::size_t layer = plan.schedule[s].layer.at();
    if (finalists[layer].empty())
      choice.skip();
    else if (taken[layer])
      choice.follow(s);
    else
      choice.take(s, finalists[layer]);
    taken[layer] = true;
  }
}

void setDdrChannels(const CanonicalGraph& graph, const Device& device, Plan& plan) {
  for (std::size_t layer = 0; layer < plan.layers.size(); ++layer)
    if (!plan.layers[layer].inPlace()) setDdrChannels(graph, device, plan, layer);
}

PlannedTimes closedForm(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory,
                        const Device& device, WorkCounter& count) {
  const WholeTensors whole(graph, plan, memory);
  StepClock clock(device);
  PlannedTimes planned;
  for (std::size_t s = 0; s < plan.schedule.size(); ++s) {
    planned.work.push_back(count(plan, memory, whole, s));
    planned.times.push_back(clock.next(planned.work.back()));
  }
  return planned;
}

Cycles closedFormEnd(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory,
                     const Device& device, WorkCounter& count) {
  const WholeTensors whole(graph, plan, memory);
  StepClock clock(device);
  Cycles end(0);
  for (std::size_t s = 0; s < plan.schedule.size(); ++s)
    end = clock.next(count(plan, memory, whole, s)).end;
  return end;
}

}  // namespace heddle
