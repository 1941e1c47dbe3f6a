#include "choose.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "mesh_cut.h"
#include "streams.h"

namespace heddle {
namespace {

// Of a layer's time, in thousandths: a mapping further down the list, whose program is more often
// the longer one, has to gain more than the closed form errs.
constexpr std::int64_t kWorthwhile = 10;

// Long calls, which shorten a program, and save what the closed form knows exactly.
constexpr std::int64_t kWorthLongCalls = 2;

// Where records and rows share wires, the closed form errs more.
constexpr std::int64_t kWorthwhileAmongRows = 60;

// Where one wire serves cores all over the mesh, the closed form errs more than along lines, and as
// much as among rows where these cores also add or multiply.
constexpr std::int64_t kWorthwhileAnywhere = 25;

// Whether some core gets records and rows over one wire.
bool sharesWires(const Mapping& mapping) {
  if (mapping.weights.empty() || mapping.weights[0].lead == 0) return false;
  std::vector<std::pair<CoreAt, std::int64_t>> ofRecords;  // a core, a wire
  for (const Route& route : mapping.weights)
    for (const CoreAt& core : route.cores)
      for (const Lane& lane : route.lanes) ofRecords.emplace_back(core, lane.wire);
  std::ranges::sort(ofRecords);
  const auto shares = [&](const Route& route) {
    return std::ranges::any_of(route.lanes, [&](const Lane& lane) {
      return std::ranges::any_of(route.cores, [&](const CoreAt& core) {
        return std::ranges::binary_search(ofRecords, std::pair(core, lane.wire));
      });
    });
  };
  return std::ranges::any_of(mapping.inputs, [&](const std::vector<Route>& routes) {
    return std::ranges::any_of(routes, shares);
  });
}

// Whether a wire leads to cores that lie in no line.
bool leadsAnywhere(const Mapping& mapping) {
  struct Cores {
    CoreAt least{INT64_MAX, INT64_MAX}, most{0, 0};
  };
  std::map<std::int64_t, Cores> byWire;
  const auto look = [&](const std::vector<Route>& routes) {
    for (const Route& route : routes)
      for (const Lane& lane : route.lanes) {
        Cores& of = byWire[lane.wire];
        for (const CoreAt& core : route.cores) {
          of.least = {std::min(of.least.row, core.row), std::min(of.least.column, core.column)};
          of.most = {std::max(of.most.row, core.row), std::max(of.most.column, core.column)};
        }
      }
  };
  for (const std::vector<Route>& routes : mapping.inputs) look(routes);
  look(mapping.weights);
  return std::ranges::any_of(byWire, [](const auto& wire) {
    const Cores& of = wire.second;
    return of.least.row < of.most.row && of.least.column < of.most.column;
  });
}

std::int64_t thousandthsToGain(const Mapping& mapping) {
  if (std::ranges::any_of(mapping.shares, [](const CoreShare& s) { return s.boxes.size() > 1; }))
    return kWorthNumbering;
  if (sharesWires(mapping)) return kWorthwhileAmongRows;
  if (!leadsAnywhere(mapping)) return mapping.callRows > 1 ? kWorthLongCalls : kWorthwhile;
  const bool readsMore = mapping.inputs.size() > 1 && !mapping.weights.empty();
  return readsMore ? kWorthwhileAmongRows : kWorthwhileAnywhere;
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
      if (box.memtile == home[0].memtile) inputs.wholeBytes += box.bytes();
  }
  return inputs;
}

// Goes through the schedule and leaves the best mapping of each layer behind.
class Choice {
 public:
  Choice(const CanonicalGraph& graph, const Device& device, const Allocation& memory,
         FinalistCycles& cycles, Plan& plan, Weighed* weighed)
      : graph_(graph),
        device_(device),
        memory_(memory),
        plan_(plan),
        cycles_(cycles),
        whole_(graph, plan, memory.memory),
        weighed_(weighed),
        clock_(device),
        records_(memory.recordRooms) {}

  void skip() { clock_.next({}); }

  // A further step of a layer whose mapping is taken.
  void follow(std::size_t step, const Mapping& taken) {
    const std::size_t layer = plan_.schedule[step].layer.at();
    StepPlace place = placeOf(graph_, plan_, memory_.memory, whole_, device_, step);
    const bool apart = putAt(place, step, taken, ddrInputs(graph_, plan_, layer));
    const StepCycles& cycles =
        cycles_.of(plan_, step, {&taken, cycles_.placesOf(plan_, step), apart});
    now_ = clock_.next(cycles, place).end;
    if (weighed_ && weighed_->alone) weighed_->choices[layer].alone += cycles.busiest();
    leave(place);
  }

  // Returns the one that is taken.
  const Mapping& take(std::size_t step, const std::vector<const Mapping*>& finalists) {
    const std::size_t layer = plan_.schedule[step].layer.at();
    const DdrInputs inputs = ddrInputs(graph_, plan_, layer);
    const std::size_t places = cycles_.placesOf(plan_, step);
    // While the plan holds the mapping that the memory is for.
    const StepPlace before = placeOf(graph_, plan_, memory_.memory, whole_, device_, step);
    StepPlace place = before;
    std::optional<Best> best;
    // Whether one that ends then is better than the best so far.
    const auto isBetter = [&](const Mapping& mapping, Cycles end) {
      return !best || (best->end - end).raw() * 1000 >
                          (best->end - now_).raw() * cycles_.worthwhile(mapping);
    };
    std::vector<TriedMapping> tried;
    for (const Mapping* mapping : finalists) {
      const bool apart = putAt(place, step, *mapping, inputs);
      FinalistCycles::Trial trial = cycles_.trial(plan_, step, {mapping, places, apart});
      if (const std::optional<Cycles> least =
              best ? tooLate(*mapping, trial, place, isBetter) : std::nullopt) {
        tried.push_back({mapping, *least - now_, false});
        continue;
      }
      const StepCycles& cycles = trial.whole();
      const Cycles end = clock_.endOf(cycles, place);
      tried.push_back({mapping, end - now_, true});
      if (isBetter(*mapping, end)) best = Best{mapping, apart, &cycles, place, end};
    }
    if (weighed_) {
      const auto time = [&](const Mapping& m) { return timeOf(step, before, m, inputs, places); };
      LayerChoice& choice = weighed_->choices[layer] = choiceAmong(tried, best->mapping, time);
      for (Alternative& other : choice.others)
        shareDdrChannels(other.mapping, putAt(place, step, other.mapping, inputs), device_);
      if (weighed_->alone)
        weighed_->choices[layer].alone = leastAlone(step, before, finalists, inputs, places);
      if (!weighed_->options.empty())
        weighed_->options[layer] = optionsAmong(tried, best->mapping, weighed_->mostOptions, time);
    }
    clock_.next(*best->cycles, best->place);
    now_ = best->end;
    plan_.layers[layer] = *best->mapping;
    shareDdrChannels(plan_.layers[layer], best->apart, device_);
    leave(best->place);
    return *best->mapping;
  }

 private:
  struct Best {
    const Mapping* mapping;
    bool apart;  // its DDR channels
    const StepCycles* cycles;
    StepPlace place;
    Cycles end;
  };

  // Before which the step does not end with a mapping, as soon as a part of its counts says that it
  // is not better; none where it may be.
  template <class IsBetter>
  std::optional<Cycles> tooLate(const Mapping& mapping, FinalistCycles::Trial& trial,
                                const StepPlace& place, const IsBetter& isBetter) {
    for (const auto part : {StepCounting::Part::Engines, StepCounting::Part::FirstCore}) {
      if (trial.counted() > part) continue;
      const Cycles least = clock_.endOf(trial.least(part), place);
      if (!isBetter(mapping, least)) return least;
    }
    return std::nullopt;
  }

  // Of the step's busiest core, wire or sending channel, with the mapping for which that is least.
  Cycles leastAlone(std::size_t step, StepPlace place, const std::vector<const Mapping*>& finalists,
                    const DdrInputs& inputs, std::size_t places) {
    Cycles least(INT64_MAX);
    for (const Mapping* mapping : finalists) {
      const bool apart = putAt(place, step, *mapping, inputs);
      FinalistCycles::Trial trial = cycles_.trial(plan_, step, {mapping, places, apart});
      const bool isMore = std::ranges::any_of(
          std::array{StepCounting::Part::Engines, StepCounting::Part::FirstCore},
          [&](auto part) { return trial.least(part).busiest() >= least; });
      if (!isMore) least = std::min(least, trial.whole().busiest());
    }
    return least;
  }

  // Where the step's buffers and records lie with a mapping; whether its DDR channels are apart.
  bool putAt(StepPlace& place, std::size_t step, const Mapping& mapping,
             const DdrInputs& inputs) const {
    const std::int64_t staged = recordPlaces(memory_.recordRooms[step].bytes(), mapping, device_);
    setBuffers(place, mapping, coreBaseAfter(coresEnd_, mapping, device_), staged);
    place.staging = mapping.weights.empty() ? ByteRange{}
                                            : records_.placeOf(step, recordBytes(mapping, staged));
    return keepDdrChannelsApart(mapping, inputs, staged, device_);
  }

  // The step is taken as it stands there.
  void leave(const StepPlace& place) {
    coresEnd_ = place.all.end;
    if (!place.staging.empty()) records_.take(place.staging);
  }

  // What the step would add with a mapping. The plan holds that afterwards.
  MappingTime timeOf(std::size_t step, StepPlace place, const Mapping& mapping,
                     const DdrInputs& inputs, std::size_t places) {
    const bool apart = putAt(place, step, mapping, inputs);
    StepClock clock = clock_;
    const StepTime time = clock.next(cycles_.of(plan_, step, {&mapping, places, apart}), place);
    return {time.end - now_, time.boundBy};
  }

  const CanonicalGraph& graph_;
  const Device& device_;
  const Allocation& memory_;
  Plan& plan_;
  FinalistCycles& cycles_;
  WholeTensors whole_;
  Weighed* weighed_;  // null: nobody asks
  StepClock clock_;
  Cycles now_{0};              // the end of the steps before
  std::int64_t coresEnd_ = 0;  // of the buffers of the step before
  RecordSpread records_;
};

}  // namespace

std::int64_t FinalistCycles::worthwhile(const Mapping& finalist) {
  const auto [known, fresh] = known_.worthwhile.try_emplace(&finalist, 0);
  if (fresh) known->second = thousandthsToGain(finalist);
  return known->second;
}

void FinalistCycles::Trial::take() {
  Mapping& mapping = plan_.layers[plan_.schedule[step_].layer.at()];
  mapping = *asked_.mapping;
  shareDdrChannels(mapping, asked_.apart, of_.device_);
}

const StepCycles& FinalistCycles::Trial::least(StepCounting::Part part) {
  if (known_.whole) return *known_.whole;
  if (known_.least && known_.counted >= part) return *known_.least;
  if (!counting_) {
    take();
    counting_ = of_.count_.begin(plan_, step_);
  }
  known_.least = StepCycles::ofSomeCores(counting_->upTo(part), of_.device_);
  known_.counted = part;
  return *known_.least;
}

const StepCycles& FinalistCycles::Trial::whole() {
  if (known_.whole) return *known_.whole;
  if (!counting_) take();
  known_.whole = &of_.count_.cycles(plan_, step_, counting_ ? &*counting_ : nullptr);
  return *known_.whole;
}

void chooseMappings(const CanonicalGraph& graph, const Device& device, const Allocation& memory,
                    const Finalists& finalists, FinalistCycles& cycles, Plan& plan,
                    Weighed* weighed) {
  Choice choice(graph, device, memory, cycles, plan, weighed);
  std::vector<const Mapping*> taken(plan.layers.size());
  for (std::size_t s = 0; s < plan.schedule.size(); ++s) {
    const std::size_t layer = plan.schedule[s].layer.at();
    if (finalists[layer].empty())
      choice.skip();
    else if (taken[layer])
      choice.follow(s, *taken[layer]);
    else
      taken[layer] = &choice.take(s, finalists[layer]);
  }
}

Weighed weigh(const CanonicalGraph& graph, const Device& device, const ChosenAmong& among,
              FinalistCycles& cycles, Weighed wanted) {
  wanted.choices.resize(graph.ops.size());
  if (wanted.mostOptions > 0) wanted.options.resize(graph.ops.size());
  Plan plan = among.before;
  chooseMappings(graph, device, among.memory, among.finalists, cycles, plan, &wanted);
  return wanted;
}

void setDdrChannels(const CanonicalGraph& graph, const Allocation& memory, const Device& device,
                    Plan& plan) {
  std::vector<bool> done(plan.layers.size());
  for (std::size_t step = 0; step < plan.schedule.size(); ++step) {
    const std::size_t layer = plan.schedule[step].layer.at();
    Mapping& mapping = plan.layers[layer];
    if (done[layer] || mapping.inPlace()) continue;
    done[layer] = true;
    const std::int64_t staged = recordPlaces(memory.recordRooms[step].bytes(), mapping, device);
    const bool apart = keepDdrChannelsApart(mapping, ddrInputs(graph, plan, layer), staged, device);
    shareDdrChannels(mapping, apart, device);
  }
}

}  // namespace heddle
