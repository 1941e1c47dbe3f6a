// A compiled program again, from its three files alone.
#include <algorithm>
#include <ostream>

#include "arrays.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "heddle/driver/saved.h"
#include "heddle/driver/sha256.h"
#include "heddle/emit/asm.h"
#include "heddle/machine/diagnostics.h"
#include "heddle/machine/machine.h"
#include "heddle/support/json_writer.h"
#include "road.h"
#include "summary.h"

namespace heddle {
namespace {

std::string resultJson(const Saved& saved, const SimulateResult& result, bool data) {
  JsonWriter json(2);
  json.beginObject();
  json.key("schema").value("heddle.simulation/1");
  const Device& device = saved.program.device();
  json.key("model").value(saved.program->model);
  json.key("device").value(device.name);
  json.key("rows").value(device.rows).key("columns").value(device.columns);
  json.key("withData").value(data);
  const std::int64_t cycles = result.timeline.makespan.raw();
  json.key("cycles").value(cycles);
  const auto seconds = [&](double c) { return c / static_cast<double>(device.clock.raw); };
  json.key("seconds").value(seconds(static_cast<double>(cycles)));
  const FrameTimes frames = frameTimes(result, *saved.program);
  json.key("frames").value(saved.program->frames).key("batch").value(saved.program->batch);
  json.key("coldSeconds").value(seconds(static_cast<double>(frames.cold.raw())));
  json.key("steadySeconds").value(seconds(frames.steady));
  json.key("ddrReadBytes").value(result.traffic.ddrRead.raw());
  json.key("ddrWriteBytes").value(result.traffic.ddrWrite.raw());
  json.key("memtileToCoreBytes").value(result.traffic.memtileToCore.raw());
  json.key("coreToMemtileBytes").value(result.traffic.coreToMemtile.raw());
  json.endObject();
  return json.take() + "\n";
}

std::string resultText(const Saved& saved, const SimulateResult& result, bool data) {
  const Device& device = saved.program.device();
  const std::int64_t cycles = result.timeline.makespan.raw();
  const double seconds = static_cast<double>(cycles) / static_cast<double>(device.clock.raw);
  return saved.program->model + " on " + device.name + " " + std::to_string(device.rows) + "x" +
         std::to_string(device.columns) + "\ntime      " + milliseconds(seconds) + " (" +
         std::to_string(cycles) + " cycles at " + clockText(device.clock) + ")" +
         (data ? ", executed with data" : ", time only") + "\n" +
         framesLine(saved.program->frames, saved.program->batch, frameTimes(result, *saved.program),
                    device.clock);
}

Diagnostics simulate(const SimulateCommandOptions& options, std::ostream& out, Progress& progress) {
  progress.begin("read the program");
  const Result<Saved> saved = readSaved(options.folder, options.settings);
  if (!saved) return saved.diagnostics();
  const Program& program = *saved->program;

  const SimulateOptions simulateOptions{
      .recordTimeline = false, .maxCycles = options.maxCycles, .progress = progressOf(progress)};
  std::optional<SimulateResult> result;
  if (options.data) {
    const auto inputs =
        readInputs(options.inputs, program.inputs, formatsOf(program, program.inputs), options.seed,
                   program.inferences());
    if (!inputs) return inputs.diagnostics();
    progress.begin("execute with data");
    Result<SimulateResult> executed =
        simulateWithData(saved->program, saved->weights, *inputs, simulateOptions);
    if (!executed) return executed.diagnostics();
    Diagnostics faults =
        writeOutputs(options.outputs, program.outputs, formatsOf(program, program.outputs),
                     outputsOf(program, *executed));
    if (!faults.empty()) return faults;
    result = std::move(*executed);
  } else {
    progress.begin("simulate the time");
    Result<SimulateResult> timed = simulateTime(saved->program, simulateOptions);
    if (!timed) return timed.diagnostics();
    result = std::move(*timed);
  }
  progress.end();
  if (options.verbosity.json) {
    out << resultJson(*saved, *result, options.data);
  } else if (!options.verbosity.quiet) {
    out << resultText(*saved, *result, options.data);
  }
  return {};
}

}  // namespace

Diagnostics simulateCommand(const SimulateCommandOptions& options, std::ostream& out,
                            Progress& progress) {
  Diagnostics faults = simulate(options, out, progress);
  const bool isGivenUp = options.maxCycles && std::ranges::any_of(faults, [](const Diagnostic& d) {
                           return d.code == kTooManyCycles;
                         });
  return isGivenUp ? faults : asBadInput(std::move(faults));
}

}  // namespace heddle
