#include "explanation.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "heddle/canon/fold_columns.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/planner/count_work.h"
#include "heddle/report/bounds.h"
#include "heddle/support/words.h"
#include "heddle/tiling/views.h"
#include "mapping_words.h"
#include "spills.h"
#include "tiling_words.h"

namespace heddle {
namespace {

// Of bytes expected: as much more or less has a reason of its own.
constexpr double kExplained = 0.02;

std::string partMore(double part) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f %% %s", 100 * std::abs(part),
                part > 0 ? "more" : "less");
  return text.data();
}

Bytes paddedSizeOf(const CanonicalTensor& tensor) {
  return Bytes(tensor.shape.height * tensor.shape.width * blocksOf(tensor.shape) * kBlock);
}

bool isPadded(const CanonicalTensor& tensor) { return tensor.shape.channels % kBlock != 0; }

// The wires of each kind, in the order of the device.
std::vector<std::pair<std::string, std::vector<std::size_t>>> wireKinds(const Device& device) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> kinds;
  for (std::size_t w = 0; w < device.wires.size(); ++w) {
    const std::string kind = kindOfWire(device.wires[w]);
    auto at = std::ranges::find_if(kinds, [&](const auto& known) { return known.first == kind; });
    if (at == kinds.end()) at = kinds.insert(at, {kind, {}});
    at->second.push_back(w);
  }
  return kinds;
}

class LayerExplainer {
 public:
  // `steps`: of the schedule.
  LayerExplainer(const Compilation& run, const std::vector<StepTerms>& steps, std::size_t layer)
      : run_(run),
        steps_(steps),
        graph_(run.network()),
        index_(layer),
        op_(graph_.ops[layer]),
        report_(run.report->layers[layer]),
        mapping_(run.plan ? &run.plan->layers[layer] : nullptr) {}

  ExplainedLayer explain() const {
    ExplainedLayer layer;
    layer.name = report_.name;
    layer.op = report_.op;
    layer.atStart = report_.atStart;
    layer.atEnd = report_.atEnd;
    layer.tables = report_.tables;
    layer.fused = fusedWords(graph_, op_);
    layer.cycles = report_.cycles;
    layer.start = report_.start;
    layer.end = report_.end;
    layer.closedForm = report_.closedForm;
    layer.boundSeconds = report_.boundSeconds;
    layer.mappingBound = report_.mappingBound;
    layer.boundEngine = report_.boundEngine;
    layer.boundEngineBusy = report_.boundEngineBusy;
    layer.boundBy = report_.boundBy;
    layer.busy = report_.busy;
    if (mapping_ && !mapping_->inPlace()) {
      layer.mapping = wordsOf(graph_, op_, *mapping_, *run_.plan, *run_.device);
      layer.terms = terms();
      layer.steps = std::ranges::count(run_.plan->schedule, LayerId(index_), &ScheduleStep::layer);
    }
    addAlternatives(layer);
    if (layer.mapping) addBytes(layer.bytes);
    return layer;
  }

 private:
  // Of the layer's steps together.
  std::vector<ExplainedTerm> terms() const {
    std::vector<ExplainedTerm> all;
    const auto add = [&](const std::string& name, Cycles cycles) {
      if (cycles.raw() == 0) return;
      auto at = std::ranges::find(all, name, &ExplainedTerm::name);
      if (at == all.end()) at = all.insert(at, {name, {}});
      at->cycles += cycles;
    };
    bool first = true;
    for (std::size_t s = 0; s < run_.plan->schedule.size(); ++s) {
      if (run_.plan->schedule[s].layer.at() != index_) continue;
      const StepTerms& step = steps_[s];
      add("compute", step.compute);
      for (const auto& [kind, wires] : wireKinds(*run_.device)) {
        const std::size_t busiest = *std::ranges::max_element(
            wires, {}, [&](std::size_t w) { return step.wires[w].inputs + step.wires[w].weights; });
        add(kind + " wires: inputs", step.wires[busiest].inputs);
        add(kind + " wires: weights", step.wires[busiest].weights);
      }
      add("output", step.output);
      add("DDR read: weights", step.ddrReadWeights);
      add("DDR read: rows", step.ddrReadRows);
      add("DDR write", step.ddrWrite);
      if (first) {
        add("first rows", step.firstRows);
        add("first weight records", step.firstRecord);
      }
      first = false;
    }
    return all;
  }

  void addAlternatives(ExplainedLayer& layer) const {
    const bool weighed = run_.choices && !run_.choices->layers.empty();
    if (!run_.plan) {
      layer.noAlternatives = "the run began with a program";
    } else if (mapping_->inPlace()) {
      layer.noAlternatives = "the layer executes nothing: its operands and its output share memory";
    } else if (!run_.choices) {
      layer.noAlternatives = "the plan was given, not chosen";
    } else if (!weighed) {
      layer.noAlternatives =
          "the planner weighed none: it kept to each layer's first mapping, at effort 0, for a "
          "limit of the device, or since the closed form finds the whole run faster with these";
    } else {
      const LayerChoice& choice = run_.choices->layers[index_];
      layer.tried = choice.tried;
      for (const Alternative& other : choice.others)
        layer.alternatives.push_back({wordsOf(graph_, op_, other.mapping, *run_.plan, *run_.device),
                                      other.cycles, other.cycles - choice.cycles, other.boundBy});
      if (layer.alternatives.empty())
        layer.noAlternatives = "all mappings that fit are of one kind";
    }
  }

  // ---- bytes ------------------------------------------------------------------------------------

  // `moved` in all frames, `needed` in each.
  void add(std::vector<ExplainedBytes>& all, const std::string& what, Bytes moved, Bytes needed,
           std::vector<std::string> why) const {
    if (moved.raw() > 0 || needed.raw() > 0)
      all.push_back({what, moved, needed * run_.report->frames, std::move(why)});
  }

  // What is left when the repeats are taken out. `moved` in all frames, `expected` in each.
  void addRest(std::vector<std::string>& why, Bytes moved, double expected, const std::string& more,
               const std::string& less) const {
    if (expected <= 0) {
      if (moved > Bytes()) why.push_back(more);
      return;
    }
    const auto frames = static_cast<double>(run_.report->frames);
    const double rest = static_cast<double>(moved.raw()) / (frames * expected) - 1;
    if (rest > kExplained) why.push_back(partMore(rest) + ": " + more);
    if (rest < -kExplained) why.push_back(partMore(rest) + ": " + less);
  }

  void addBytes(std::vector<ExplainedBytes>& all) const {
    const LayerNeeds needs = layerNeeds(graph_, op_);
    Repeats weights = weightRepeats(graph_, OpId(index_), *mapping_);
    if (const std::size_t steps = report_.steps.size(); steps > 1) {
      weights.times *= static_cast<std::int64_t>(steps);
      weights.why.push_back(std::to_string(steps) + " times: once for each tile");
    }
    std::vector<std::string> ddr = weights.why;
    const auto weightBytes = static_cast<double>(needs.weightBytes * weights.times);
    addRest(weights.why, report_.weightsToCores, weightBytes, overhead(), "not all are needed");
    add(all, "weights over wires", report_.weightsToCores, Bytes(needs.weightBytes),
        std::move(weights.why));
    addInputs(all, needs);
    std::vector<std::string> out;
    addRest(out, report_.traffic.coreToMemtile, static_cast<double>(needs.outputBytes),
            "channels padded to blocks of 8", "part of it is not needed");
    add(all, "output to memtiles", report_.traffic.coreToMemtile, Bytes(needs.outputBytes),
        std::move(out));
    addDdr(all, needs, weightBytes, std::move(ddr));
  }

  // What records hold beside the weights that the network needs.
  std::string overhead() const {
    bool padded = isPadded(graph_.tensors[op_.output.at()]);
    for (const TensorId input : op_.inputs) padded = padded || isPadded(graph_.tensors[input.at()]);
    std::vector<std::string> words;
    if (padded) words.push_back("channels padded to blocks of 8");
    const Conv* conv = std::get_if<Conv>(&op_.attributes);
    if (conv && conv->folded) words.push_back("taps of folded columns");
    if (conv || op_.kind() == OpKind::DepthwiseConv) words.push_back("biases and scales");
    const Table* table = std::get_if<Table>(&op_.attributes);
    const bool isOfLines = table && !table->lines.empty();
    if (isOfLines || fusedLinesOf(op_)) words.push_back("lines for each channel");
    if (isOfLines) return joinWords(words);
    if (table || op_.kind() == OpKind::Assemble || !tablesOf(op_).empty())
      words.push_back("tables");
    return joinWords(words);
  }

  void addInputs(std::vector<ExplainedBytes>& all, const LayerNeeds& needs) const {
    std::vector<std::string> why;
    double expected = 0, unpadded = 0;
    std::int64_t ofOperands = 0;
    for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
      const CanonicalTensor& tensor = graph_.tensors[op_.inputs[i].at()];
      const Repeats repeats = inputRepeats(graph_, OpId(index_), *mapping_, i);
      why.insert(why.end(), repeats.why.begin(), repeats.why.end());
      const std::int64_t own = elementsRead(graph_, op_, i);
      ofOperands += own;
      unpadded += static_cast<double>(own * repeats.times);
      expected += static_cast<double>(own * repeats.times) *
                  static_cast<double>(paddedSizeOf(tensor).raw()) /
                  static_cast<double>(ownElements(graph_, op_, i));
    }
    if (static_cast<double>(ofOperands) > (1 + kExplained) * static_cast<double>(needs.inputBytes))
      why.push_back(
          partMore(static_cast<double>(ofOperands) / static_cast<double>(needs.inputBytes) - 1) +
          ": several operands are of one tensor");
    if (expected > (1 + kExplained) * unpadded)
      why.push_back(partMore(expected / unpadded - 1) + ": channels padded to blocks of 8");
    addRest(why, report_.inputsToCores, expected,
            op_.kind() == OpKind::Assemble
                ? "what several cores or parts of the output take goes to each of them"
                : "rows and columns at the edges of the cuts go to both sides",
            "rows or columns that no output needs stay where they are");
    add(all, "inputs over wires", report_.inputsToCores, Bytes(needs.inputBytes), std::move(why));
  }

  TensorId rootOf(TensorId tensor) const { return run_.plan->views[tensor.at()].root; }
  bool isSpilled(TensorId tensor) const { return run_.plan->homes[rootOf(tensor).at()].empty(); }
  static bool isPort(const std::vector<Port>& ports, TensorId tensor) {
    return std::ranges::find(ports, tensor, &Port::tensor) != ports.end();
  }
  bool readBefore(TensorId root) const {
    for (std::size_t i = 0; i < index_; ++i)
      if (!run_.plan->layers[i].inPlace() &&
          std::ranges::find(graph_.ops[i].inputs, root, [this](TensorId t) { return rootOf(t); }) !=
              graph_.ops[i].inputs.end())
        return true;
    return false;
  }

  // `weightBytes`: as often as they are fetched.
  void addDdr(std::vector<ExplainedBytes>& all, const LayerNeeds& needs, double weightBytes,
              std::vector<std::string> why) const {
    Bytes needed(needs.weightBytes);
    const std::map<TensorId, std::int64_t> read = elementsRead(graph_, op_);
    double expected = weightBytes;
    bool rows = false;
    for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
      const TensorId input = op_.inputs[i], root = rootOf(input);
      const CanonicalTensor& tensor = graph_.tensors[root.at()];
      const Repeats repeats = inputRepeats(graph_, OpId(index_), *mapping_, i);
      const auto operand = op_.inputs.begin() + static_cast<std::ptrdiff_t>(i);
      const bool isNew = (isPort(graph_.inputs, root) || !tensor.constant.empty()) &&
                         !readBefore(root) &&
                         std::find(op_.inputs.begin(), operand, input) == operand;
      const std::int64_t own = elementsRead(graph_, op_, i);
      if (isNew) needed += Bytes(read.at(input));
      if (!isSpilled(input) && !isNew) continue;
      const std::int64_t columns = pixelMapOf(graph_, *run_.plan, input).columnStep();
      const std::int64_t whole =
          input == root ? ownElements(graph_, op_, i) : tensor.shape.elements();
      expected += static_cast<double>(isSpilled(input) ? own * repeats.times * columns : whole);
      if (!isSpilled(input) && whole > read.at(input))
        why.push_back("'" + tensor.name + "' comes whole, of which a part is read");
      if (!isSpilled(input)) continue;
      rows = true;
      why.push_back("'" + tensor.name + "' lives in DDR");
      why.insert(why.end(), repeats.why.begin(), repeats.why.end());
      if (columns > 1)
        why.push_back(std::to_string(columns) +
                      " times: with the columns that a stride leaves out");
    }
    addRest(why, report_.traffic.ddrRead, expected,
            overhead() + (rows ? ", rows and columns at the edges of cuts" : ""),
            "not all are needed");
    add(all, "DDR read", report_.traffic.ddrRead, needed, std::move(why));
    const bool isOutput = isPort(graph_.outputs, op_.output);
    std::vector<std::string> written;
    if (!isOutput && isSpilled(op_.output))
      written.push_back("'" + graph_.tensors[op_.output.at()].name + "' lives in DDR");
    addRest(written, report_.traffic.ddrWrite, static_cast<double>(needs.outputBytes),
            "channels padded to blocks of 8", "part of it is not needed");
    add(all, "DDR write", report_.traffic.ddrWrite, isOutput ? Bytes(needs.outputBytes) : Bytes(),
        std::move(written));
  }

  const Compilation& run_;
  const std::vector<StepTerms>& steps_;
  const CanonicalGraph& graph_;
  std::size_t index_;
  const CanonicalOp& op_;
  const LayerReport& report_;
  const Mapping* mapping_;  // null without a plan
};

// Of each step of the schedule; none without a plan.
std::vector<StepTerms> termsOfSteps(const Compilation& run) {
  if (!run.plan) return {};
  const CanonicalGraph& graph = run.network();
  WorkCounter count(graph, *run.device);
  const WholeTensors whole(graph, *run.plan, *run.memoryPlan);
  const StepClock clock(*run.device);
  std::vector<StepTerms> terms;
  for (std::size_t s = 0; s < run.plan->schedule.size(); ++s)
    terms.push_back(
        clock.termsOf(count.cycles(*run.plan, s),
                      placeOf(graph, *run.plan, *run.memoryPlan, whole, *run.device, s)));
  return terms;
}

}  // namespace

Explanation explanationOf(const Compilation& run) {
  const Report& report = *run.report;
  Explanation e;
  e.model = report.model;
  e.device = report.device;
  e.rows = report.rows;
  e.columns = report.columns;
  e.clock = report.clock;
  e.cycles = report.cycles;
  e.frames = report.frames;
  e.batch = report.batch;
  e.closedForm = report.closedForm;
  e.layerBoundSeconds = report.bounds.layerBoundSeconds;
  e.mappingBoundSeconds = report.bounds.mappingBoundSeconds;
  e.whatIf = run.whatIf;
  if (run.plan && run.memoryPlan)
    e.spills = spillsOf(run.network(), *run.plan, *run.memoryPlan, *run.device,
                        run.choices ? run.choices->proposed : std::vector<Home>());
  e.tiling = explainTiling(run);
  if (run.choices && run.choices->timed)
    e.timed = {run.choices->timed->plans, run.choices->timed->first, run.choices->timed->best};
  if (run.choices && run.choices->order) {
    const OrderChoice& order = *run.choices->order;
    e.order = {order.taken, order.tensors, order.cycles, order.reordered};
  }
  if (run.choices && run.choices->ends) {
    const EndsChoice& ends = *run.choices->ends;
    e.ends = {ends.convolutions, ends.starts, ends.atEnds, ends.asLayers, ends.taken, ends.layers};
  }
  if (run.choices && run.choices->join) {
    const JoinChoice& join = *run.choices->join;
    e.join = {join.taken, join.convolutions, join.apart, join.joined};
  }
  if (run.choices && run.choices->upright) {
    const UprightChoice& upright = *run.choices->upright;
    e.upright = {upright.taken, upright.byMachine, upright.lying, upright.upright};
  }
  const std::vector<StepTerms> steps = termsOfSteps(run);
  for (std::size_t i = 0; i < run.network().ops.size(); ++i)
    e.layers.push_back(LayerExplainer(run, steps, i).explain());
  return e;
}

}  // namespace heddle
