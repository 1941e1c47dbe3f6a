// `heddle sweep`: the points, who compiles them, and what is said about it.
#include "heddle/sweep/sweep.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <ostream>
#include <set>
#include <system_error>
#include <thread>

#include "answer.h"
#include "folder.h"
#include "grid.h"
#include "heddle/driver/compile.h"
#include "heddle/driver/network.h"
#include "heddle/driver/sha256.h"
#include "heddle/report/bounds.h"
#include "questions.h"
#include "sweep_file.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostThreads = 1024;

struct Task {
  Point point;
  std::size_t network = 0, design = 0;
  std::optional<std::string> broken;  // the requirement that its lower bound breaks
  bool done = false;
};

struct Shared {  // a network, and how many points still want it
  std::shared_ptr<const Network> network;
  std::size_t wanted = 0;
};

// What an exception says of a point; bad_alloc is none of its own.
Diagnostic bugOf(const std::exception& e) {
  return {.code = "BUG001",
          .where = "heddle",
          .summary = "this is a bug of heddle",
          .what = e.what(),
          .mend = "please report it, with the model and the point's file",
          .severity = Severity::Bug};
}

class Sweep {
 public:
  Sweep(SweepOptions options, std::ostream& out, Progress& progress)
      : options_(std::move(options)), out_(out), progress_(progress) {}

  Diagnostics run() {
    if (const auto ready = prepare(); !ready) return ready.diagnostics();
    auto folder = SweepFolder::open(options_.out);
    if (!folder) return folder.diagnostics();
    if (Diagnostics faults = folder->writeQuestions(options_); !faults.empty()) return faults;
    lookUp(*folder);
    compileAll(*folder);
    if (failure_) std::rethrow_exception(failure_);
    if (!faults_.empty()) return faults_;
    sayAnswer();
    return {};
  }

 private:
  // ---- what there is to do ----

  Result<void> prepare() {
    if (!options_.file.empty()) {
      HEDDLE_TRY(SweepOptions file, readSweepFile(options_.file));
      options_ = together(std::move(options_), std::move(file));
    }
    if (options_.device.empty()) options_.device = "paper";
    settings_ = {.propagate = options_.propagate.value_or(true),
                 .verify = options_.verify.value_or(true),
                 .estimate = options_.estimate.value_or(false),
                 .effort = kMostPlanEffort,
                 .seed = options_.seed.value_or(1),
                 .maxCycles = options_.maxCycles,
                 .version = options_.version};
    HEDDLE_TRY(designs_, readDesigns(options_));
    HEDDLE_TRY(shard_, readShard(options_.shard));
    HEDDLE_DO(readThreads());
    HEDDLE_DO(readEffort());
    HEDDLE_DO(checkSettings());
    HEDDLE_DO(nameNetworks());
    HEDDLE_TRY(Questions questions, Questions::read(options_, names_));
    questions_.emplace(std::move(questions));
    HEDDLE_DO(readNetworks());
    return makeTasks();
  }

  Result<void> readThreads() {
    threads_ = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
    if (!options_.threads) return {};
    HEDDLE_TRY(threads_, numberOf(*options_.threads, 1, kMostThreads, "number of threads"));
    return {};
  }

  Result<void> readEffort() {
    if (!options_.effort) return {};
    HEDDLE_TRY(const std::int64_t effort,
               numberOf(*options_.effort, 0, kMostPlanEffort, "effort of the planner"));
    settings_.effort = static_cast<int>(effort);
    return {};
  }

  // What is wrong with the description, a key or a value, is wrong for all points: said at once.
  // What does not suit one mesh or another value is a point's.
  Result<void> checkSettings() const {
    std::set<std::pair<std::string, std::string>> settings;
    for (const DeviceOverrides& design : designs_)
      settings.insert(design.settings.begin(), design.settings.end());
    HEDDLE_DO(checkSetting({}));
    for (const auto& setting : settings) HEDDLE_DO(checkSetting({.settings = {setting}}));
    return {};
  }

  Result<void> checkSetting(const DeviceOverrides& overrides) const {
    const Result<Device> device = readDevice(options_.device, overrides);
    if (device) return {};
    const Diagnostic& first = device.diagnostics().front();
    const bool general = overrides.settings.empty() || first.code == "DEV004" ||
                         first.code == "DEV009" ||
                         (first.code == "DEV005" && first.what.starts_with("at least "));
    if (general) return device.diagnostics();
    return {};
  }

  Result<void> nameNetworks() {
    if (options_.models.empty())
      return faultAt("--model", "SWEEP008", "there is no network to sweep", "",
                     "add '--model FILE.onnx', or 'model: FILE.onnx' to the sweep file");
    for (const std::string& model : options_.models) {
      names_.push_back(std::filesystem::path(model).stem().string());
      if (std::ranges::count(names_, names_.back()) > 1)
        return faultAt(model, "SWEEP008", "two networks are called '" + names_.back() + "'",
                       "tables tell networks by the name of the file",
                       "give one of the files another name");
    }
    return {};
  }

  Result<void> readNetworks() {
    NoProgress quiet;
    progress_.begin("read the networks");
    for (const std::string& model : options_.models) {
      HEDDLE_TRY(Network network, readNetwork({.path = model, .propagate = settings_.propagate},
                                              std::nullopt, quiet));
      network.graph.reset();
      networks_.push_back({std::make_shared<const Network>(std::move(network)), 0});
    }
    progress_.end();
    return {};
  }

  // Every network with every device that is wanted, once, network by network, and of these the
  // shard's.
  Result<void> makeTasks() {
    std::vector<Task> all;
    std::set<std::string> ids;  // '4GB/s,4000MB/s' is one value
    for (std::size_t d = 0; d < designs_.size(); ++d) {
      const Result<Device> device = readDevice(options_.device, designs_[d]);
      std::vector<Task> tasks;
      for (std::size_t n = 0; n < networks_.size(); ++n) tasks.push_back(taskOf(n, d, device));
      if (device && questions_->asked()) findBroken(tasks, *device);
      for (Task& task : tasks)
        if (questions_->wanted(task.point) && ids.insert(task.point.id).second)
          all.push_back(std::move(task));
    }
    if (all.empty())
      return faultAt(options_.where ? options_.where->where : "--mesh", "SWEEP003",
                     "no point is left", "--where leaves all of them out", "ask for more");
    std::ranges::stable_sort(all, {}, &Task::network);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (static_cast<std::int64_t>(i) % shard_.second == shard_.first)
        tasks_.push_back(std::move(all[i]));
    return {};
  }

  Task taskOf(std::size_t network, std::size_t design, const Result<Device>& device) const {
    const Network& of = *networks_[network].network;
    Task task{.point = {}, .network = network, .design = design};
    if (device) {
      task.point = pointOf(of.modelName, of.modelSha256, printDevice(*device), settings_);
      addDevice(task.point, *device);
      return task;
    }
    // Named by what was asked for.
    const DeviceOverrides& asked = designs_[design];
    std::string text = options_.device;
    if (asked.mesh)
      text += " " + std::to_string(asked.mesh->first) + "x" + std::to_string(asked.mesh->second);
    for (const auto& [key, value] : asked.settings) text += " " + key + "=" + value;
    task.point = pointOf(of.modelName, of.modelSha256, text, settings_);
    if (asked.mesh) {
      task.point.values["rows"] = static_cast<double>(asked.mesh->first);
      task.point.values["cols"] = static_cast<double>(asked.mesh->second);
    }
    return task;
  }

  // Which points of one device cannot keep what is required, however they are compiled. One network
  // may break it for all of them, be it in this shard or not.
  void findBroken(std::vector<Task>& tasks, const Device& device) const {
    std::deque<Point> floors;
    Design design;
    for (const Task& task : tasks) {
      const CanonicalGraph& graph = networks_[task.network].network->network();
      Point point = task.point;
      addNeeds(point, graph, computeBounds(graph, device));
      design.points.push_back(&floors.emplace_back(atFloor(point)));
    }
    for (Task& task : tasks) task.broken = questions_->brokenByFloor(design, task.network);
  }

  void lookUp(const SweepFolder& folder) {
    for (Task& task : tasks_) {
      std::optional<Point> known = folder.known(task.point.id);
      // Whether a point is skipped depends on what is required now.
      task.done = known && (known->status() != kSkipped || task.broken);
      if (task.done) {
        task.point = std::move(*known);
        count(task.point);
      } else {
        ++networks_[task.network].wanted;
        ++left_;
      }
    }
    for (Shared& shared : networks_)
      if (shared.wanted == 0) shared.network.reset();
  }

  // ---- doing it ----

  void compileAll(const SweepFolder& folder) {
    progress_.begin("sweep");
    toDo_ = left_;
    std::vector<std::thread> others;
    try {
      for (std::int64_t i = 1; i < std::min<std::int64_t>(threads_, toDo_); ++i)
        others.emplace_back([&] { work(folder); });
    } catch (const std::system_error&) {  // no thread to be had: fewer do all the same
    }
    work(folder);
    for (std::thread& other : others) other.join();
    progress_.end();
  }

  void work(const SweepFolder& folder) {
    for (std::size_t i = next_++; i < tasks_.size() && !stop_; i = next_++) {
      Task& task = tasks_[i];
      if (task.done) continue;
      try {
        compileOne(task);
        finish(task, folder);
      } catch (...) {  // the memory does not suffice
        const std::lock_guard held(mutex_);
        if (!failure_) failure_ = std::current_exception();
        stop_ = true;
      }
    }
  }

  void compileOne(Task& task) {
    std::shared_ptr<const Network> network;
    {
      const std::lock_guard held(mutex_);
      network = networks_[task.network].network;
    }
    const Result<Device> device = readDevice(options_.device, designs_[task.design]);
    if (!device) return refuse(task.point, device.diagnostics().front());
    if (sha256(printDevice(*device)) != task.point.deviceSha256) return changed();
    addNeeds(task.point, network->network(), computeBounds(network->network(), *device));
    if (task.broken) return skip(task.point, *task.broken);
    try {
      compileFor(task, *network, *device);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      refuse(task.point, bugOf(e));
    }
  }

  void compileFor(Task& task, const Network& network, const Device& device) const {
    NoProgress quiet;
    const CompileSettings settings{.plan = {.effort = settings_.effort},
                                   .verify = settings_.verify,
                                   .seed = settings_.seed,
                                   .maxCycles = settings_.maxCycles,
                                   .whatIf = false,
                                   .listing = false,
                                   .last = settings_.estimate ? Stage::MemoryPlan : Stage::Report};
    const Result<Compilation> run = compile(network, device, settings, quiet);
    run ? addResults(task.point, *run, settings_) : refuse(task.point, run.diagnostics().front());
  }

  void changed() {
    const std::lock_guard held(mutex_);
    faults_ = {{"SWEEP009", options_.device, "the description changed while the sweep ran", "",
                "sweep again: points that are done stay"}};
    stop_ = true;
  }

  void finish(Task& task, const SweepFolder& folder) {
    const std::lock_guard held(mutex_);
    if (stop_) return;
    if (Diagnostics faults = folder.write(task.point); !faults.empty()) {
      faults_ = std::move(faults);
      stop_ = true;
      return;
    }
    task.done = true;
    Shared& shared = networks_[task.network];
    if (--shared.wanted == 0) shared.network.reset();
    --left_;
    count(task.point);
    say(task.point);
  }

  // ---- saying it ----

  void count(const Point& point) { ++counts_[point.status()]; }

  std::string countsText() const {
    std::string text;
    for (const char* status : {kOk, kEstimated, kRefused, kFailed, kSkipped, kLimit})
      if (const auto found = counts_.find(status); found != counts_.end())
        text += (text.empty() ? "" : ", ") + std::to_string(found->second) + " " + status;
    return text;
  }

  void say(const Point& point) {
    const auto all = static_cast<std::int64_t>(tasks_.size());
    if (options_.verbosity.json) {
      JsonWriter json;
      json.beginObject().key("event").value("point").key("point").value(point.id);
      json.key("model").value(point.model).key("status").value(point.status());
      for (const char* column : {"rows", "cols", "ms"}) {
        json.key(column);
        const auto number = numberIn(point.values, column);
        number ? json.value(*number) : json.null();
      }
      json.key("done").value(all - left_).key("of").value(all).endObject();
      out_ << json.take() << "\n" << std::flush;
    }
    progress_.rename(std::to_string(all - left_) + " of " + std::to_string(all) +
                     " points: " + countsText());
    progress_.advance(static_cast<double>(toDo_ - left_) / static_cast<double>(toDo_));
  }

  void sayAnswer() {
    if (options_.verbosity.quiet) return;
    std::vector<const Point*> points;
    for (const Task& task : tasks_) points.push_back(&task.point);
    std::optional<Answer> found;
    // Of a shard no device has all of its points: `heddle collect` answers.
    if (questions_->asked() && shard_.second == 1) found = answer(*questions_, points, names_);
    if (options_.verbosity.json) {
      JsonWriter json;
      json.beginObject().key("event").value("end");
      json.key("points").value(static_cast<std::int64_t>(points.size()));
      for (const auto& [status, number] : counts_) json.key(status).value(number);
      if (found) answerJson(*found, *questions_, json.key("answer").beginObject());
      if (found) json.endObject();
      out_ << json.endObject().take() << "\n";
      return;
    }
    out_ << "points    " << points.size() << ": " << countsText() << "\n";
    if (found) out_ << answerText(*found, *questions_);
    out_ << "results   " << options_.out << "   (tables and page: heddle view " << options_.out
         << ")\n";
  }

  SweepOptions options_;
  std::ostream& out_;
  Progress& progress_;
  PointSettings settings_;
  std::vector<DeviceOverrides> designs_;
  std::pair<std::int64_t, std::int64_t> shard_{0, 1};
  std::int64_t threads_ = 1;
  std::vector<std::string> names_;
  std::optional<Questions> questions_;
  std::vector<Task> tasks_;  // network by network, so that each is let go when it is done
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // of all below, and of output and progress
  std::vector<Shared> networks_;
  std::map<std::string, std::int64_t> counts_;
  std::int64_t left_ = 0, toDo_ = 0;
  Diagnostics faults_;
  std::exception_ptr failure_;
};

}  // namespace

Diagnostics sweepCommand(const SweepOptions& options, std::ostream& out, Progress& progress) {
  return Sweep(options, out, progress).run();
}

}  // namespace heddle
