#include "heddle/machine/machine.h"

#include <algorithm>
#include <utility>

#include "data_path.h"
#include "executable.h"
#include "fault.h"
#include "simulation.h"

namespace heddle {
namespace {

using machine::DataPath;
using machine::Executable;
using machine::Fault;
using machine::Simulation;

// Runs are deterministic: a second one, with an eye on the cell, tells what lay there before.
Diagnostic explain(const Executable& executable, const WeightImage& weights,
                   const ProgramInputs& inputs, const SimulateOptions& options,
                   const Fault& fault) {
  if (!fault.place) return fault.diagnostic;
  DataPath data(executable, weights, inputs, fault.place);
  SimulateOptions again = options;
  again.progress = nullptr;
  try {
    Simulation(executable, again, &data).run();
  } catch (const Fault& found) {
    return data.explained(found);
  }
  return fault.diagnostic;
}

}  // namespace

FrameTimes frameTimes(const SimulateResult& result, const Program& program) {
  const auto steps = static_cast<std::ptrdiff_t>(program.stepCount());
  const auto end = [&](std::int64_t frame) {  // of all up to that frame; before the first: 0
    const auto last = result.stepEnd.begin() + (frame + 1) * steps;
    return result.stepEnd.begin() == last ? Cycles()
                                          : *std::max_element(result.stepEnd.begin(), last);
  };
  const std::int64_t half = program.frames / 2;
  return {.cold = end(0),
          .steady = static_cast<double>((end(program.frames - 1) - end(half - 1)).raw()) /
                    static_cast<double>((program.frames - half) * program.batch)};
}

Result<SimulateResult> simulateWithData(const VerifiedProgram& program, const WeightImage& weights,
                                        const ProgramInputs& inputs,
                                        const SimulateOptions& options) {
  try {
    const Executable executable(program);
    try {
      DataPath data(executable, weights, inputs, {});
      return Simulation(executable, options, &data).run();
    } catch (const Fault& fault) {
      return explain(executable, weights, inputs, options, fault);
    }
  } catch (const Fault& fault) {
    return fault.diagnostic;
  }
}

Result<SimulateResult> simulateTime(const VerifiedProgram& program,
                                    const SimulateOptions& options) {
  try {
    const Executable executable(program);
    return Simulation(executable, options, nullptr).run();
  } catch (const Fault& fault) {
    return fault.diagnostic;
  }
}

}  // namespace heddle
