#include "road.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

#include "heddle/canon/batch.h"
#include "heddle/canon/fold_columns.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/join_siblings.h"
#include "heddle/canon/planned_values.h"
#include "heddle/driver/port_values.h"
#include "heddle/driver/proof.h"
#include "heddle/driver/sha256.h"
#include "heddle/interp/interpret.h"
#include "heddle/onnx/import.h"
#include "heddle/planner/count_work.h"
#include "heddle/planner/make_plan.h"
#include "heddle/planner/plan_joined.h"
#include "heddle/program/generate.h"
#include "heddle/program/verify.h"

namespace heddle {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t denseMacsOf(const CanonicalGraph& graph) {
  std::int64_t macs = 0;
  for (const CanonicalOp& op : graph.ops) macs += layerNeeds(graph, op).denseMacs;
  return macs;
}

std::int64_t workOf(const CanonicalGraph& graph, const CanonicalOp& op) {
  const LayerNeeds needs = layerNeeds(graph, op);
  return needs.macs + needs.inputBytes + needs.outputBytes;
}

Propagation savingOf(const CanonicalGraph& before, const Propagated& after) {
  Propagation saving{.channelsRemoved = after.removedChannels()};
  for (const std::int64_t weights : after.weightsZeroed) saving.weightsZeroed += weights;
  saving.macsRemoved = denseMacsOf(before) - denseMacsOf(after.graph);
  return saving;
}

std::int64_t sliceCount(const Timeline& timeline) {
  std::int64_t slices = 0;
  for (const Track& track : timeline.tracks) slices += std::ssize(track.slices);
  return slices;
}

// Which rows each step of a tiled layer computes: only the plan says.
void setRows(Report& report, const Plan& plan) {
  std::vector<std::size_t> next(report.layers.size());
  for (const ScheduleStep& step : plan.schedule) {
    std::vector<StepReport>& steps = report.layers[step.layer.at()].steps;
    if (steps.empty()) continue;
    StepReport& told = steps[next[step.layer.at()]++];
    told.firstRow = step.rows.first;
    told.rows = step.rows.count;
  }
}

}  // namespace

Timed::Timed(double& seconds) : seconds_(seconds), begun_(now()) {}
Timed::~Timed() { seconds_ += now() - begun_; }

std::int64_t peakMemoryBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

Diagnostics importModel(Network& run, const std::string& path, const ShapeSettings& shapes) {
  const Timed timed(run.effort.importSeconds);
  ImportOptions options;
  for (const auto& [input, dims] : shapes) options.shapes[input] = dims;
  Result<Graph> graph = importOnnx(path, options);
  if (!graph) return graph.diagnostics();
  Result<std::string> digest = sha256OfFile(path);
  if (!digest) return digest.diagnostics();
  run.graph = std::move(*graph);
  run.modelName = std::filesystem::path(path).stem().string();
  run.modelSha256 = std::move(*digest);
  return {};
}

Result<Canonicalized> canonicalizeGraph(Network& run) {
  const Timed timed(run.effort.importSeconds);
  Result<Canonicalized> canonical = canonicalize(*run.graph);
  if (canonical) canonical->graph.name = run.modelName;
  return canonical;
}

Diagnostics canonicalizeModel(Network& run) {
  Result<Canonicalized> canonical = canonicalizeGraph(run);
  if (!canonical) return canonical.diagnostics();
  run.canonical = std::make_shared<const Canonicalized>(std::move(*canonical));
  return {};
}

Diagnostics propagateZeros(Network& run) {
  const Timed timed(run.effort.compileSeconds);
  if (nothingFollows(run.canonical->graph)) return {};
  Propagated propagated = propagate(run.canonical->graph);
  if (!propagated.changed()) return {};
  if (Diagnostics faults = verify(propagated.graph); !faults.empty())
    return asBugs(std::move(faults));
  run.propagated = std::make_shared<const Propagated>(std::move(propagated));
  return {};
}

Diagnostics reorder(Network& run, const BlockOrders& orders) {
  run.reordered.reset();
  if (std::ranges::all_of(orders, [](const BlockOrder& order) { return order.empty(); })) return {};
  Diagnostics faults = verify(orders, run.inModelsOrder());
  if (faults.empty())
    run.reordered = std::make_shared<const CanonicalGraph>(inOrder(run.inModelsOrder(), orders));
  return faults;
}

namespace {

std::shared_ptr<const CanonicalGraph> inBatch(const Network& run, const CanonicalGraph& graph) {
  return std::make_shared<const CanonicalGraph>(withBatch(graph, run.batch));
}

}  // namespace

void fuseNetwork(Network& run) {
  const Timed timed(run.effort.compileSeconds);
  run.fused = fuseOperators(run.unfused());
  run.joined = fuseAndJoin(run.unfused());
  if (run.joined && run.batch > 1) run.joined = inBatch(run, *run.joined);
  setFused(run, std::move(run.fused));
}

void setFused(Network& run, std::shared_ptr<const CanonicalGraph> fused) {
  run.fused = run.batch == 1 ? std::move(fused) : inBatch(run, fused ? *fused : run.unfused());
}

namespace {

// The network with these as layers of their own, and the same with siblings joined.
FusedNetworks withApart(const Network& run, const std::set<std::string>& names) {
  std::shared_ptr<const CanonicalGraph> fused = fuseOperators(run.unfused(), names);
  if (!fused) fused = std::make_shared<const CanonicalGraph>(run.unfused());
  FusedNetworks networks{fused, fuseAndJoin(run.unfused(), names)};
  if (run.batch == 1) return networks;
  networks.apart = inBatch(run, *fused);
  if (networks.joined) networks.joined = inBatch(run, *networks.joined);
  return networks;
}

Diagnostics choose(Compilation& run, const PlanOptions& options, bool asked, Progress& progress) {
  const auto apart = [&](const std::set<std::string>& names) { return withApart(run, names); };
  Result<JoinedPlan> chosen = planJoined(run.inModelsOrder(), run.joined.get(), apart, *run.device,
                                         options, asked, progressOf(progress));
  if (!chosen) return chosen.diagnostics();
  if (chosen->isJoined) run.fused = run.joined;
  if (chosen->network) run.fused = chosen->network;
  run.plan = std::move(chosen->ordered.plan);
  run.choices = std::move(chosen->ordered.choices);
  return asBugs(reorder(run, chosen->ordered.orders));
}

// Of the network as it lies, or, where that fits no core, with gates, pools, depth-wise
// convolutions and tables as layers of their own.
Diagnostics planOneWay(Compilation& run, const PlanOptions& options, bool asked,
                       Progress& progress) {
  Diagnostics faults = choose(run, options, asked, progress);
  // Where some are apart, others may go to another convolution.
  for (std::set<std::string> names; !faults.empty() && run.fused;) {
    if (faults[0].severity != Severity::DoesNotFit) break;
    const std::size_t before = names.size();
    names.merge(optionallyApart(*run.fused));
    if (names.size() == before) break;
    setFused(run, fuseOperators(run.unfused(), names));
    run.joined.reset();
    faults = choose(run, options, asked, progress);
  }
  return faults;
}

bool fitsNoCore(const Diagnostics& faults) {
  return !faults.empty() && faults[0].severity == Severity::DoesNotFit;
}

// A network of one row, planned as it lies and upright (canon/upright.h).
struct BothWays {
  Compilation lying, standing;
  Diagnostics faults;                   // why the former has no plan; empty where it has
  std::optional<UprightChoice> choice;  // none where the latter has none
};

// Errors: all but that the network fits no core.
Result<BothWays> planBothWays(const Compilation& run, const Network& upright,
                              const PlanOptions& options, bool asked, Progress& progress) {
  BothWays ways{.lying = run, .standing = run, .faults = {}, .choice = {}};
  static_cast<Network&>(ways.standing) = upright;
  ways.faults = planOneWay(ways.lying, options, asked, progress);
  if (!ways.faults.empty() && !fitsNoCore(ways.faults)) return ways.faults;
  Diagnostics faults = planOneWay(ways.standing, options, asked, progress);
  if (!faults.empty() && !fitsNoCore(faults)) return faults;
  if (faults.empty())
    ways.choice =
        weighUpright(ways.lying.network(), ways.faults.empty() ? &*ways.lying.plan : nullptr,
                     ways.standing.network(), *ways.standing.plan, *run.device);
  return ways;
}

// Where the Machine has timed plans of both ways it decides, as among plans of one. `usual`: what
// the closed form takes at the usual effort, whose plans are the first of each.
void decideByMachine(BothWays& ways, const UprightChoice& usual) {
  std::optional<PlanChoices>&lying = ways.lying.choices, &standing = ways.standing.choices;
  if (!lying || !standing || !lying->timed || !standing->timed) return;
  const TimedPlans all{.plans = lying->timed->plans + standing->timed->plans,
                       .first = (usual.taken ? standing : lying)->timed->first,
                       .best = std::min(lying->timed->best, standing->timed->best)};
  ways.choice = UprightChoice{.lying = lying->timed->best,
                              .upright = standing->timed->best,
                              .taken = standing->timed->best < lying->timed->best,
                              .byMachine = true};
  lying->timed = standing->timed = all;
}

// The faster way. Errors: those of the network as it lies, and what is a fault of ours.
Diagnostics planFasterWay(Compilation& run, const Network& upright, const PlanOptions& options,
                          bool asked, Progress& progress) {
  const bool byMachine = options.effort > kUsualPlanEffort;
  Result<BothWays> ways = planBothWays(run, upright, options, asked || byMachine, progress);
  if (!ways) return ways.diagnostics();
  if (byMachine && ways->choice && ways->faults.empty()) {
    PlanOptions below = options;
    below.effort = kUsualPlanEffort;
    const Result<BothWays> usual = planBothWays(run, upright, below, false, progress);
    if (!usual) return usual.diagnostics();
    if (usual->choice) decideByMachine(*ways, *usual->choice);
  }
  const bool stands = ways->choice && ways->choice->taken;
  if (!stands && !ways->faults.empty()) return ways->faults;
  Compilation& taken = stands ? ways->standing : ways->lying;
  if (taken.choices) taken.choices->upright = ways->choice;
  run.fused = stands ? std::make_shared<const CanonicalGraph>(taken.inModelsOrder()) : taken.fused;
  run.reordered = std::move(taken.reordered);
  run.plan = std::move(taken.plan);
  if (asked) run.choices = std::move(taken.choices);
  return {};
}

}  // namespace

Diagnostics planNetwork(Compilation& run, const PlanOptions& options, bool asked,
                        Progress& progress) {
  const Timed timed(run.effort.compileSeconds);
  std::optional<Network> upright;
  if (fusesOperators(options) && options.tiling != PlanOptions::Tiling::Given)
    upright = uprightOf(run);
  Diagnostics faults = upright ? planFasterWay(run, *upright, options, asked, progress)
                               : planOneWay(run, options, asked, progress);
  if (!faults.empty()) return faults;
  run.plan->frames = options.frames;
  return asBugs(verify(*run.plan, run.network(), *run.device));
}

Diagnostics planMemory(Compilation& run) {
  const Timed timed(run.effort.compileSeconds);
  Result<MemoryPlan> memory = allocateMemory(run.network(), *run.plan, *run.device);
  if (!memory) return memory.diagnostics();
  if (Diagnostics faults = verify(*memory, run.network(), *run.plan, *run.device); !faults.empty())
    return asBugs(std::move(faults));
  run.memoryPlan = std::move(*memory);
  return {};
}

void timeInClosedForm(Compilation& run, const MemoryPlan& memory) {
  const Timed timed(run.effort.compileSeconds);
  run.stepTimes = timesInClosedForm(run.network(), *run.plan, memory, *run.device);
}

Diagnostics makeProgram(Compilation& run, bool named) {
  const Timed timed(run.effort.compileSeconds);
  Result<GeneratedProgram> generated =
      generateProgram(run.network(), *run.plan, *run.memoryPlan, *run.device);
  if (!generated) return generated.diagnostics();
  Program& program = generated->program;
  program.modelSha256 = run.modelSha256;
  program.weightsSha256 = sha256(generated->weights.bytes);
  if (named) program.deviceSha256 = sha256(printDevice(*run.device));
  program.hostOperators = hostOperators(*run.canonical);
  Result<VerifiedProgram> runnable = verified(std::move(program), *run.device);
  if (!runnable) return asBugs(runnable.diagnostics());
  run.program = std::move(*runnable);
  run.weights = std::move(generated->weights);
  return {};
}

Diagnostics simulateTiming(Compilation& run, std::optional<Cycles> maxCycles, bool free,
                           Progress& progress) {
  {
    const Timed timed(run.effort.simulateSeconds);
    Result<SimulateResult> simulated =
        simulateTime(run.program, {.maxCycles = maxCycles, .progress = progressOf(progress)});
    if (!simulated) return faultsOfProgram(run, simulated.diagnostics());
    run.simulated = std::move(*simulated);
  }
  if (free && sliceCount(run.simulated->timeline) <= kMostWhatIfSlices) {
    const Timed timed(run.effort.whatIfSeconds);
    Result<std::vector<WhatIf>> times = whatIf(run.program);
    if (!times) return faultsOfProgram(run, times.diagnostics());
    run.whatIf = std::move(*times);
  }
  std::vector<Cycles> closedForm;
  if (run.plan) closedForm = layerCycles(*run.plan, run.stepTimes);
  run.report = makeReport(run.network(), *run.program, *run.device, *run.simulated, closedForm);
  if (run.choices && !run.choices->layers.empty()) {
    std::vector<Cycles> alone;
    for (const LayerChoice& layer : run.choices->layers) alone.push_back(layer.alone);
    setMappingBound(*run.report, alone);
  }
  run.report->whatIf = run.whatIf;
  if (run.plan) setRows(*run.report, *run.plan);
  if (run.propagated) run.report->propagation = savingOf(run.canonical->graph, *run.propagated);
  return {};
}

Diagnostics faultsOfProgram(const Compilation& run, Diagnostics faults) {
  if (!run.programIsGiven) return asBugs(std::move(faults));
  for (Diagnostic& fault : faults) {
    if (fault.severity != Severity::Bug) continue;
    fault.severity = Severity::BadInput;
    fault.mend = "the program that was given computes something else: compile it again";
  }
  return faults;
}

Diagnostics asBugs(Diagnostics faults) {
  for (Diagnostic& fault : faults) {
    if (fault.severity == Severity::DoesNotFit) continue;  // --max-cycles, memory
    fault.severity = Severity::Bug;
    fault.mend = "this is a bug of heddle: please report it, with the model and the command line";
  }
  return faults;
}

std::vector<std::string> hostOperators(const Canonicalized& canonical) {
  std::vector<std::string> names;
  for (const Graph* host : {&canonical.hostBefore, &canonical.hostAfter})
    for (const Node& node : host->nodes) names.push_back(node.name + " (" + node.opType + ")");
  return names;
}

std::vector<std::vector<std::int8_t>> interpretAll(
    const CanonicalGraph& graph, const std::vector<std::vector<std::int8_t>>& inputs,
    Progress& progress) {
  progress.begin("interpret");
  std::int64_t whole = 1, done = 0;
  for (const CanonicalOp& op : graph.ops) whole += workOf(graph, op);
  std::vector<std::vector<std::int8_t>> values(graph.tensors.size());
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    values[graph.inputs[i].tensor.at()] = inputs[i];
  for (std::size_t i = 0; i < graph.tensors.size(); ++i)
    if (!graph.tensors[i].constant.empty()) values[i] = graph.tensors[i].constant;
  for (const CanonicalOp& op : graph.ops) {
    std::vector<const TensorValue*> operands;
    for (const TensorId input : op.inputs) operands.push_back(&values[input.at()]);
    values[op.output.at()] = interpretOp(graph, op, operands);
    done += workOf(graph, op);
    progress.advance(static_cast<double>(done) / static_cast<double>(whole));
  }
  progress.end();
  return values;
}

std::function<void(double)> progressOf(Progress& progress) {
  return [&progress](double fraction) { progress.advance(fraction); };
}

TensorFormat formatOf(const CanonicalTensor& tensor) {
  return {.shape = tensor.shape, .scale = tensor.scale, .zeroPoint = tensor.zeroPoint};
}

}  // namespace heddle
