// heddle._heddle: what the Python of heddle/__init__.py, which has the documentation, stands on.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "background.h"
#include "errors.h"
#include "heddle/driver/compile.h"
#include "heddle/driver/network.h"
#include "heddle/driver/port_values.h"
#include "heddle/driver/results.h"
#include "heddle/driver/saved.h"
#include "heddle/planner/fuse.h"
#include "heddle/sweep/sweep.h"
#include "sweep_options.h"
#include "version.h"

namespace py = pybind11;
using namespace std::chrono_literals;

namespace heddle {
namespace {

constexpr auto kBetweenLooks = 50ms;  // for Ctrl-C

void lookForSignals() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// Runs `work` on a thread of its own, tells `progress` (or None) where it is, and gives back what
// it made, or raises why it did not.
template <class T>
T aside(std::function<Result<T>(Progress&)> work, const py::object& progress) {
  const auto result = std::make_shared<std::optional<Result<T>>>();
  Background background(
      [result, work = std::move(work)](Progress& told) { result->emplace(work(told)); });
  Step last;
  for (bool done = false; !done;) {
    {
      const py::gil_scoped_release released;
      done = background.doneWithin(kBetweenLooks);
    }
    lookForSignals();
    const Step step = background.step();
    if (!progress.is_none() && step != last) progress(step.name, step.fraction);
    last = step;
  }
  background.finish();
  if (!**result) raise((*result)->diagnostics());
  return std::move(***result);
}

using SharedNetwork = std::shared_ptr<const Network>;
using SharedRun = std::shared_ptr<Compilation>;

SharedNetwork readShared(const ModelSource& source, const py::object& progress) {
  return aside<SharedNetwork>(
      [source](Progress& told) -> Result<SharedNetwork> {
        HEDDLE_TRY(Network network, readNetwork(source, std::nullopt, told));
        network.graph.reset();  // its weights are no longer needed
        return std::make_shared<const Network>(std::move(network));
      },
      progress);
}

SharedRun compileShared(const SharedNetwork& network, std::int64_t batch, const std::string& device,
                        const DeviceOverrides& overrides, const CompileSettings& settings,
                        const py::object& progress) {
  return aside<SharedRun>(
      [=](Progress& told) -> Result<SharedRun> {
        HEDDLE_TRY(const Device resolved, readDevice(device, overrides));
        HEDDLE_TRY(const Network together, inBatchesOf(batch, *network));
        HEDDLE_TRY(Compilation run, compile(together, resolved, settings, told));
        return std::make_shared<Compilation>(std::move(run));
      },
      progress);
}

Diagnostics writeFolder(const Compilation& run, const std::string& out) {
  const py::gil_scoped_release released;
  Result<OutputFolder> folder = OutputFolder::open(out);
  if (!folder) return folder.diagnostics();
  Diagnostics faults = writeResults(run, Stage::Report, *folder);
  return faults.empty() ? folder->commit() : faults;
}

// ---- simulation of what is compiled ----

struct Executable {  // of a folder, or of a Compilation
  VerifiedProgram program;
  std::shared_ptr<const WeightImage> weights;
};

struct Simulated {
  VerifiedProgram program;
  std::shared_ptr<const SimulateResult> result;
  double seconds = 0;
  bool data = false;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

Executable readExecutable(const std::string& folder, const Settings& settings) {
  Result<Saved> read = [&] {
    const py::gil_scoped_release released;
    return readSaved(folder, settings);
  }();
  if (!read) raise(asBadInput(read.diagnostics()));
  const auto saved = std::make_shared<const Saved>(std::move(*read));
  return {saved->program, {saved, &saved->weights}};
}

Executable executableOf(const SharedRun& run) { return {run->program, {run, &*run->weights}}; }

Simulated simulate(const Executable& made, bool data, const py::dict& arrays, std::uint64_t seed,
                   std::optional<std::int64_t> maxCycles, const py::object& progress) {
  ProgramInputs inputs;
  if (data) {
    Result<ProgramInputs> stored = storedInputs(*made.program, arrays, seed);
    if (!stored) raise(stored.diagnostics());
    inputs = std::move(*stored);
  }
  const auto work = [=](Progress& told) -> Result<SimulateResult> {
    SimulateOptions options;
    if (maxCycles) options.maxCycles = Cycles(*maxCycles);
    options.progress = [&told](double fraction) { told.advance(fraction); };
    told.begin(data ? "execute with data" : "simulate the time");
    Result<SimulateResult> result =
        data ? simulateWithData(made.program, *made.weights, inputs, options)
             : simulateTime(made.program, options);
    if (!result) return asBadInput(result.diagnostics());
    return result;
  };
  auto result = std::make_shared<const SimulateResult>(aside<SimulateResult>(work, progress));
  const double seconds = static_cast<double>(result->timeline.makespan.raw()) /
                         static_cast<double>(made.program.device().clock.raw);
  return {made.program, std::move(result), seconds, data};
}

py::dict trafficOf(const Traffic& traffic) {
  py::dict bytes;
  bytes["ddrReadBytes"] = traffic.ddrRead.raw();
  bytes["ddrWriteBytes"] = traffic.ddrWrite.raw();
  bytes["memtileToCoreBytes"] = traffic.memtileToCore.raw();
  bytes["coreToMemtileBytes"] = traffic.coreToMemtile.raw();
  return bytes;
}

// ---- sweeps ----

// The points of a sweep as they are done.
class Points {
 public:
  explicit Points(const SweepOptions& options)
      : background_([options, state = state_](Progress& told) {
          const auto take = [&](const std::string& json) {
            const std::lock_guard held(state->mutex);
            state->waiting.push_back(json);
            state->more.notify_all();
          };
          const Over over{*state};
          state->faults = sweepPoints(options, take, told);
        }) {}

  // The next point's file; StopIteration at the end.
  std::string next() {
    while (!readyWithin(kBetweenLooks)) lookForSignals();
    if (std::optional<std::string> point = take()) return *point;
    background_.finish();
    raiseIfAny(std::exchange(state_->faults, {}));
    throw py::stop_iteration();
  }

  // Once the points are done that it is at.
  void stop() {
    background_.stop();
    for (bool done = false; !done;) {
      {
        const py::gil_scoped_release released;
        done = background_.doneWithin(kBetweenLooks);
      }
      lookForSignals();
    }
  }

 private:
  struct State {
    std::mutex mutex;  // of what waits
    std::condition_variable more;
    std::deque<std::string> waiting;
    bool over = false;
    Diagnostics faults;
  };
  struct Over {  // however it ends
    State& state;
    ~Over() {
      const std::lock_guard held(state.mutex);
      state.over = true;
      state.more.notify_all();
    }
  };

  bool readyWithin(std::chrono::milliseconds time) const {
    const py::gil_scoped_release released;
    std::unique_lock held(state_->mutex);
    return state_->more.wait_for(held, time,
                                 [&] { return state_->over || !state_->waiting.empty(); });
  }

  std::optional<std::string> take() {
    const std::lock_guard held(state_->mutex);
    if (state_->waiting.empty()) return std::nullopt;
    std::string point = std::move(state_->waiting.front());
    state_->waiting.pop_front();
    return point;
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
  Background background_;
};

void defineNetwork(py::module_& m) {
  py::class_<Network, std::shared_ptr<Network>>(m, "Network")
      .def_readonly("name", &Network::modelName)
      .def_readonly("sha256", &Network::modelSha256);
  m.def("read", [](const std::string& path, const ShapeSettings& shapes, const std::string& masks,
                   bool applyMasks, bool propagate, const py::object& progress) {
    return std::const_pointer_cast<Network>(
        readShared({path, shapes, masks, applyMasks, propagate}, progress));
  });
}

void defineCompilation(py::module_& m) {
  py::class_<Compilation, SharedRun>(m, "Compilation")
      .def("report", [](const Compilation& run) { return reportJson(*run.report); })
      .def("plan", [](const Compilation& run) { return artefactText(run, Stage::Plan); })
      .def("program", [](const Compilation& run) { return artefactText(run, Stage::Program); })
      .def("tracks",
           [](const SharedRun& run) {
             return tracksOf({run, &run->simulated->timeline});
           })
      .def("inputs",
           [](const Compilation& run) {
             return arraysOf(*run.program, run.program->inputs, run.provenInputs);
           })
      .def("outputs",
           [](const Compilation& run) {
             return arraysOf(*run.program, run.program->outputs, run.provenOutputs);
           })
      .def("write", [](const Compilation& run, const std::string& out) {
        raiseIfAny(writeFolder(run, out));
      });
  m.def("compile",
        [](const std::shared_ptr<Network>& network, const std::string& device,
           const std::optional<std::pair<std::int64_t, std::int64_t>>& mesh,
           const Settings& settings, int effort, const std::string& fuse, bool reorder,
           std::int64_t frames, std::int64_t batch, bool verify, std::uint64_t seed,
           std::optional<std::int64_t> maxCycles, bool whatIf, const py::object& progress) {
          CompileSettings how{.plan = {.effort = effort, .reorder = reorder},
                              .verify = verify,
                              .seed = seed,
                              .whatIf = whatIf};
          if (const auto wrong = readFuse(fuse, how.plan))
            throw py::value_error("fuse '" + *wrong + "' is no group of layers: " + kFuseWords);
          if (frames < 1 || frames > kMaxFrames)
            throw py::value_error("frames " + std::to_string(frames) + " is not 1 to " +
                                  std::to_string(kMaxFrames));
          if (batch < 1 || batch > kMaxBatch)
            throw py::value_error("batch " + std::to_string(batch) + " is not 1 to " +
                                  std::to_string(kMaxBatch));
          how.plan.frames = frames;
          if (maxCycles) how.maxCycles = Cycles(*maxCycles);
          return compileShared(network, batch, device, {mesh, settings}, how, progress);
        });
  m.attr("MOST_EFFORT") = kMostPlanEffort;
}

void defineSimulation(py::module_& m) {
  py::class_<Simulated>(m, "Simulated")
      .def_readonly("seconds", &Simulated::seconds)
      .def_property_readonly("cycles",
                             [](const Simulated& s) { return s.result->timeline.makespan.raw(); })
      .def("traffic", [](const Simulated& s) { return trafficOf(s.result->traffic); })
      .def("tracks",
           [](const Simulated& s) {
             return tracksOf({s.result, &s.result->timeline});
           })
      .def("outputs", [](const Simulated& s) {
        if (!s.data) return py::dict();
        return arraysOf(*s.program, s.program->outputs, outputsOf(*s.program, *s.result));
      });
  m.def("simulate", [](const std::string& folder, const Settings& settings, bool data,
                       const py::dict& inputs, std::uint64_t seed,
                       std::optional<std::int64_t> maxCycles, const py::object& progress) {
    return simulate(readExecutable(folder, settings), data, inputs, seed, maxCycles, progress);
  });
  m.def("simulate",
        [](const SharedRun& run, const Settings&, bool data, const py::dict& inputs,
           std::uint64_t seed, std::optional<std::int64_t> maxCycles, const py::object& progress) {
          return simulate(executableOf(run), data, inputs, seed, maxCycles, progress);
        });
}

void defineSweep(py::module_& m) {
  py::class_<Points>(m, "Points")
      .def(py::init(
          [](const py::dict& asked) { return std::make_unique<Points>(sweepOptions(asked)); }))
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &Points::next)
      .def("stop", &Points::stop);
}

}  // namespace
}  // namespace heddle

PYBIND11_MODULE(_heddle, m) {
  m.attr("version") = heddle::kVersion;
  heddle::translateExceptions();
  heddle::defineNetwork(m);
  heddle::defineCompilation(m);
  heddle::defineSimulation(m);
  heddle::defineSweep(m);
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    const py::gil_scoped_release released;
    heddle::joinAllBackground();
  }));
}
