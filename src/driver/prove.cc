#include "prove.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "heddle/canon/fold_columns.h"
#include "heddle/canon/planned_values.h"
#include "heddle/driver/proof.h"
#include "road.h"

namespace heddle {
namespace {

// Part `number` of `count` equal ones of each array.
std::vector<std::vector<std::int8_t>> partOf(const std::vector<std::vector<std::int8_t>>& arrays,
                                             std::int64_t number, std::int64_t count) {
  std::vector<std::vector<std::int8_t>> part;
  for (const std::vector<std::int8_t>& array : arrays) {
    const auto size = std::ssize(array) / count;
    part.emplace_back(array.begin() + number * size, array.begin() + (number + 1) * size);
  }
  return part;
}

// What the network makes of these inputs: every tensor of the graph that was compiled, and the
// outputs as those of the network as the model has it.
struct Expected {
  std::vector<std::vector<std::int8_t>> tensors, outputs;
};

// Of one image, its channel blocks in the model's order.
Expected expectImage(const Compilation& run, const std::vector<std::vector<std::int8_t>>& inputs,
                     Progress& progress) {
  Expected expected{interpretAll(run.unfused(), inputs, progress), {}};
  std::vector<std::vector<std::int8_t>> asGiven;
  if (run.propagated) asGiven = interpretAll(run.canonical->graph, inputs, progress);
  for (const Port& port : run.canonical->graph.outputs)
    expected.outputs.push_back((run.propagated ? asGiven : expected.tensors)[port.tensor.at()]);
  if (run.fused)
    expected.tensors = valuesAsPlanned(run.network(), run.unfused(), std::move(expected.tensors));
  return expected;
}

void append(std::vector<std::vector<std::int8_t>>& all,
            const std::vector<std::vector<std::int8_t>>& more) {
  all.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i)
    all[i].insert(all[i].end(), more[i].begin(), more[i].end());
}

// Of a frame: the values of its images follow each other, as do the rows of their tensors.
Expected expect(const Compilation& run, const std::vector<std::vector<std::int8_t>>& inputs,
                Progress& progress) {
  const std::int64_t batch = run.program->batch;
  Expected expected = expectImage(run, partOf(inputs, 0, batch), progress);
  for (std::int64_t image = 1; image < batch; ++image) {
    const Expected one = expectImage(run, partOf(inputs, image, batch), progress);
    append(expected.tensors, one.tensors);
    append(expected.outputs, one.outputs);
  }
  for (std::size_t t = 0; t < expected.tensors.size(); ++t) {
    const CanonicalTensor& tensor = run.network().tensors[t];
    expected.tensors[t] = inOrder(expected.tensors[t], tensor.shape, tensor.blockOrder);
  }
  return expected;
}

void add(Proof& whole, Proof frame) {
  Verification &to = whole.verification, &from = frame.verification;
  to.ran = true;
  to.matches = whole.faults.empty() && from.matches;
  to.tensorsCompared += from.tensorsCompared;
  to.bytesCompared += from.bytesCompared;
  to.mismatches += from.mismatches;
  to.notMaterialized = std::move(from.notMaterialized);  // in each frame the same
  whole.faults.insert(whole.faults.end(), frame.faults.begin(), frame.faults.end());
}

std::vector<std::vector<std::int8_t>> inputsOf(const Compilation& run, std::uint64_t seed) {
  const CanonicalGraph& graph = run.network();
  std::vector<std::vector<std::int8_t>> inputs;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    inputs.push_back(randomValues(portImage(graph.inputs[i]), seed, i, run.program->inferences()));
  return inputs;
}

Result<SimulateResult> execute(const Compilation& run,
                               const std::vector<std::vector<std::int8_t>>& inputs,
                               std::optional<Cycles> maxCycles,
                               std::function<void(double)> progress) {
  return simulateWithData(
      run.program, *run.weights, inputs,
      {.recordTimeline = false, .maxCycles = maxCycles, .progress = std::move(progress)});
}

struct Stopped {};  // thrown out of an execution that nobody waits for

}  // namespace

std::unique_ptr<Execution> Execution::begin(const Compilation& run, std::uint64_t seed,
                                            std::optional<Cycles> maxCycles) {
  if (!hasSecondProcessor()) return nullptr;
  std::unique_ptr<Execution> execution(new Execution(inputsOf(run, seed)));
  try {
    execution->result_ = std::async(std::launch::async, [&run, maxCycles, to = execution.get()] {
      const Timed timed(to->seconds_);
      return execute(run, to->inputs_, maxCycles, [to](double done) {
        if (to->stopped_) throw Stopped();
        to->done_ = done;
      });
    });
  } catch (const std::system_error&) {
    return nullptr;
  }
  return execution;
}

Execution::~Execution() {
  stopped_ = true;
  if (result_.valid()) result_.wait();
}

Result<SimulateResult> Execution::wait(Progress& progress) {
  const double before = done_;  // 1 only where it is over
  while (result_.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
    progress.advance((done_ - before) / std::max(1 - before, 1e-9));
  return result_.get();
}

Diagnostics prove(Compilation& run, std::uint64_t seed, std::optional<Cycles> maxCycles,
                  Execution* begun, Progress& progress) {
  const CanonicalGraph& graph = run.network();
  const std::int64_t frames = run.program->frames;
  std::vector<std::vector<std::int8_t>> inputs = begun ? begun->inputs() : inputsOf(run, seed);
  const auto expectFrame = [&](std::int64_t frame) {
    const Timed timed(run.effort.verifySeconds);
    return expect(run, partOf(inputs, frame, frames), progress);
  };
  std::optional<Expected> first;
  if (begun) first = expectFrame(0);  // meanwhile
  progress.begin("execute with data");
  const Result<SimulateResult> executed = begun ? begun->wait(progress) : [&] {
    const Timed timed(run.effort.verifySeconds);
    return execute(run, inputs, maxCycles, progressOf(progress));
  }();
  if (begun) run.effort.verifySeconds += begun->seconds();
  if (!executed) return faultsOfProgram(run, executed.diagnostics());
  Proof proof;
  std::vector<std::vector<std::int8_t>> outputs(graph.outputs.size());
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    const Expected expected = frame == 0 && first ? std::move(*first) : expectFrame(frame);
    const Timed timed(run.effort.verifySeconds);
    add(proof, compareWithInterpreter(graph, *run.program, *executed, expected.tensors,
                                      expected.outputs, frame));
    append(outputs, expected.outputs);
  }
  run.report->verification = std::move(proof.verification);
  run.provenInputs = std::move(inputs);
  run.provenOutputs = std::move(outputs);
  return faultsOfProgram(run, std::move(proof.faults));
}

}  // namespace heddle
