// `heddle sweep`: the points, who compiles them, and what is said about it.
#include "heddle/sweep/sweep.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <ostream>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include "answer.h"
#include "batches.h"
#include "explore.h"
#include "folder.h"
#include "grid.h"
#include "heddle/device/description.h"
#include "heddle/driver/compile.h"
#include "heddle/planner/fuse.h"
#include "heddle/report/bounds.h"
#include "mask_choices.h"
#include "questions.h"
#include "slurm.h"
#include "sources.h"
#include "sweep_file.h"
#include "tasks.h"

namespace heddle {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMostThreads = 1024, kMostRounds = 1000;
constexpr std::int64_t kProgramsOfAThread = 2;  // kept, where a rate or time is varied

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
  using Told = std::function<void(const std::string&)>;

  Sweep(SweepOptions options, std::ostream& out, Progress& progress, Told told = {})
      : options_(std::move(options)), out_(out), progress_(progress), told_(std::move(told)) {}

  Diagnostics run() {
    if (const auto ready = prepare(); !ready) return ready.diagnostics();
    if (options_.slurm) return printSlurm();
    auto folder = SweepFolder::open(options_.out);
    if (!folder) return folder.diagnostics();
    if (Diagnostics faults = folder->writeQuestions(options_); !faults.empty()) return faults;
    if (Diagnostics faults = writeSources(options_.out, options_, *networks_, *description_);
        !faults.empty())
      return faults;
    for (std::int64_t round = 0;; ++round) {
      lookUp(*folder);
      compileAll(*folder);
      if (failure_) std::rethrow_exception(failure_);
      if (!faults_.empty()) return faults_;
      if (round == rounds_ || left_ > 0 || !addNeighbours()) break;
    }
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
                 .plan = {.reorder = options_.reorder.value_or(true)},
                 .seed = options_.seed.value_or(1),
                 .maxCycles = options_.maxCycles,
                 .version = options_.version};
    HEDDLE_TRY(const std::vector<MaskChoice> masks, readMaskChoices(options_));
    HEDDLE_TRY(const std::vector<std::int64_t> batches, readBatches(options_.batch));
    HEDDLE_TRY(Grid grid, Grid::read(options_, masks.size(), batches.size()));
    grid_.emplace(std::move(grid));
    HEDDLE_DO(readNumbers());
    HEDDLE_TRY(DeviceDescription description, DeviceDescription::read(options_.device));
    description_.emplace(std::move(description));
    HEDDLE_DO(checkSettings());
    HEDDLE_TRY(const std::vector<std::string> names, networkNames(options_));
    HEDDLE_DO(checkSize());
    HEDDLE_TRY(Questions questions, Questions::read(options_, names));
    questions_.emplace(std::move(questions));
    progress_.begin("read the networks");
    HEDDLE_TRY(SweepNetworks networks, SweepNetworks::read(options_, masks, batches, settings_));
    networks_.emplace(std::move(networks));
    progress_.end();
    maker_.emplace(options_, settings_, *grid_, *description_, *networks_, *questions_);
    return firstTasks();
  }

  Result<void> readNumbers() {
    HEDDLE_TRY(shard_, readShard(options_.shard));
    threads_ = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
    if (options_.threads) {
      HEDDLE_TRY(threads_, numberOf(*options_.threads, 1, kMostThreads, "number of threads"));
    }
    if (options_.effort) {
      HEDDLE_TRY(const std::int64_t effort,
                 numberOf(*options_.effort, 0, kMostPlanEffort, "effort of the planner"));
      settings_.plan.effort = static_cast<int>(effort);
    }
    if (options_.frames) {
      HEDDLE_TRY(settings_.plan.frames,
                 numberOf(*options_.frames, 1, kMaxFrames, "number of frames"));
    }
    if (options_.fuse)
      if (const auto wrong = readFuse(options_.fuse->text, settings_.plan))
        return faultAt(options_.fuse->where, "SWEEP017", "'" + *wrong + "' is no group of layers",
                       kFuseWords, "write it like 'conv1..pool2:8'");
    if (options_.samples) {
      HEDDLE_TRY(samples_, numberOf(*options_.samples, 1, kMostPoints, "number of samples"));
    }
    if (options_.refine) {
      HEDDLE_TRY(rounds_, numberOf(*options_.refine, 0, kMostRounds, "number of rounds"));
      if (rounds_ > 0 && (!samples_ || shard_.second > 1 || options_.slurm))
        return faultAt(options_.refine->where, "SWEEP014",
                       samples_ ? "a part of a sweep cannot be refined"
                                : "there is nothing to refine: every place is looked at",
                       samples_ ? "what is best, all parts say together" : "",
                       samples_ ? "put the files of all parts' points/ into one folder, and refine "
                                  "there without --shard"
                                : "add '--samples N'");
    }
    if (options_.budget) {
      HEDDLE_TRY(const std::chrono::duration<double> budget, readTime(*options_.budget));
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(budget);
    }
    return {};
  }

  // What is wrong with the description, a key or a value, is wrong for all points: said at once.
  // What does not suit one mesh or another value is a point's.
  Result<void> checkSettings() const {
    HEDDLE_DO(checkSetting({}));
    for (const auto& setting : grid_->allSettings())
      HEDDLE_DO(checkSetting({.settings = {setting}}));
    return {};
  }

  Result<void> checkSetting(const DeviceOverrides& overrides) const {
    const Result<Device> device = description_->device(overrides);
    if (device) return {};
    const Diagnostic& first = device.diagnostics().front();
    const bool general = overrides.settings.empty() || first.code == "DEV004" ||
                         first.code == "DEV009" ||
                         (first.code == "DEV005" && first.what.starts_with("at least "));
    if (!general) return {};
    if (overrides.settings.empty()) return device.diagnostics();
    // The user may have written it into the sweep file, or among the values of --vary.
    const Argument& given = grid_->givenBy(overrides.settings[0].first);
    Diagnostics faults = device.diagnostics();
    for (Diagnostic& fault : faults) {
      fault.where = given.where;
      if (given.ofFile) fault.severity = Severity::BadInput;
    }
    return faults;
  }

  Result<void> checkSize() const {
    const auto networks = static_cast<std::int64_t>(options_.models.size());
    const std::int64_t places = samples_ ? std::min(*samples_, grid_->size()) : grid_->size();
    if (places <= kMostPoints / networks) return {};
    return faultAt("--mesh, --vary", "SWEEP003", "the sweep has too many points",
                   std::to_string(places) + " devices; " + std::to_string(kMostPoints) +
                       " points are the most",
                   samples_ ? "take fewer samples" : "narrow the ranges, or add '--samples N'");
  }

  // All places or a sample, and of their points the shard's.
  Result<void> firstTasks() {
    std::vector<Task> all;
    const auto take = [&](std::int64_t place) {
      std::vector<Task> tasks = maker_->tasksAt(place);
      if (!tasks.empty()) ++places_;
      std::ranges::move(tasks, std::back_inserter(all));
    };
    if (samples_) {
      Shuffled order(grid_->size(), settings_.seed);
      for (std::int64_t drawn = 0; places_ < *samples_ && drawn < kMostPoints; ++drawn) {
        const std::optional<std::int64_t> place = order.next();
        if (!place) break;
        take(*place);
      }
    } else {
      for (std::int64_t place = 0; place < grid_->size(); ++place) take(place);
    }
    if (all.empty())
      return faultAt(options_.where ? options_.where->where : "--mesh", "SWEEP003",
                     "no point is left", "--where leaves all of them out", "ask for more");
    for (std::size_t i = 0; i < all.size(); ++i)
      if (static_cast<std::int64_t>(i) % shard_.second == shard_.first)
        tasks_.push_back(std::move(all[i]));
    return {};
  }

  // The places around the best of those that are done. False where all of them are known.
  bool addNeighbours() {
    std::map<std::int64_t, Design> byPlace;
    for (const Task& task : tasks_) {
      Design& design = byPlace[task.place];
      design.points.resize(networks_->each());
      design.points[task.network % networks_->each()] = &task.point;
    }
    std::vector<Design> designs;
    std::vector<std::int64_t> places;
    for (const auto& [place, design] : byPlace) {
      places.push_back(place);
      designs.push_back(design);
    }
    std::set<std::int64_t> beside;
    for (const std::size_t design : promising(*questions_, designs))
      for (const std::int64_t place : grid_->neighbours(places[design])) beside.insert(place);
    const std::size_t before = tasks_.size();
    for (const std::int64_t place : beside) {
      if (byPlace.contains(place)) continue;
      std::vector<Task> tasks = maker_->tasksAt(place);
      if (!tasks.empty()) ++places_;
      std::ranges::move(tasks, std::back_inserter(tasks_));
    }
    return tasks_.size() > before;
  }

  // Of those that were added since it was called last.
  void lookUp(const SweepFolder& folder) {
    toDo_ = 0;
    std::vector<std::size_t> toDo;
    for (; lookedUp_ < tasks_.size(); ++lookedUp_) {
      Task& task = tasks_[lookedUp_];
      std::optional<Point> known = folder.known(task.point.id);
      // Whether a point is skipped depends on what is required now.
      task.done = known && (known->status() != kSkipped || task.broken);
      if (task.done) {
        task.point = std::move(*known);
        count(task.point);
        if (told_) told_(pointJson(task.point));
      } else {
        ++toDo_;
        toDo.push_back(lookedUp_);
      }
    }
    left_ = toDo_;
    next_ = 0;
    batches_.clear();
    if (settings_.estimate)  // no program to share
      for (const std::size_t i : toDo) batches_.push_back({{i}});
    else
      batches_ = batchesOf(tasks_, toDo, longestBatch());
    if (deadline_) batches_ = oneByOne(batches_);
  }

  // So that no thread waits long for the last ones.
  std::size_t longestBatch() const {
    constexpr std::int64_t kBatchesOfAThread = 4;
    return static_cast<std::size_t>(
        std::max<std::int64_t>(1, toDo_ / (kBatchesOfAThread * threads_)));
  }

  // ---- doing it ----

  void compileAll(const SweepFolder& folder) {
    progress_.begin("sweep");
    std::int64_t programs = kProgramsOfAThread * std::min<std::int64_t>(threads_, toDo_);
    if (deadline_) programs += static_cast<std::int64_t>(networks_->each());
    made_.emplace(static_cast<std::size_t>(programs));
    std::vector<std::thread> others;
    try {
      for (std::int64_t i = 1; i < std::min<std::int64_t>(threads_, toDo_); ++i)
        others.emplace_back([&] { work(folder); });
    } catch (const std::system_error&) {  // no thread to be had: fewer do all the same
    }
    work(folder);
    for (std::thread& other : others) other.join();
    made_.reset();
    progress_.end();
  }

  void work(const SweepFolder& folder) {
    bool first = true;  // is done whatever the budget: a sweep that goes on gets on
    for (std::size_t b = next_++; b < batches_.size() && !stop_; b = next_++) {
      MadePrograms* made = batches_[b].shared ? &*made_ : nullptr;
      for (const std::size_t i : batches_[b].tasks) {
        if (stop_ || (!first && deadline_ && Clock::now() >= *deadline_)) return;
        first = false;
        try {
          compileOne(tasks_[i], made);
          finish(tasks_[i], folder);
        } catch (...) {  // the memory does not suffice
          const std::lock_guard held(mutex_);
          if (!failure_) failure_ = std::current_exception();
          stop_ = true;
        }
      }
    }
  }

  // `made`: where others may have the same program.
  void compileOne(Task& task, MadePrograms* made) {
    const Network& network = networks_->at(task.network);
    const Result<Device> device = description_->device(grid_->overridesAt(task.place));
    if (!device) return refuse(task.point, device.diagnostics().front());
    if (const Diagnostic* why = networks_->refusalOf(task.network)) return refuse(task.point, *why);
    addNeeds(task.point, network.network(), computeBounds(network.network(), *device));
    if (task.broken) return skip(task.point, *task.broken);
    try {
      compileFor(task, network, *device, made);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      refuse(task.point, bugOf(e));
    }
  }

  void compileFor(Task& task, const Network& network, const Device& device,
                  MadePrograms* made) const {
    NoProgress quiet;
    const CompileSettings settings{.plan = settings_.plan,
                                   .verify = settings_.verify,
                                   .seed = settings_.seed,
                                   .maxCycles = settings_.maxCycles,
                                   .whatIf = false,
                                   .explain = false,
                                   .listing = false,
                                   .last = settings_.estimate ? Stage::MemoryPlan : Stage::Report};
    Given given;
    given.made = made;
    const Result<Compilation> run = compile(network, device, settings, quiet, std::move(given));
    if (!run) return refuse(task.point, run.diagnostics().front());
    // Of the network as it was planned: what is fused and joined has other bounds.
    addNeeds(task.point, run->network(),
             run->report ? run->report->bounds : computeBounds(run->network(), device));
    addResults(task.point, *run, settings_);
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
    --left_;
    count(task.point);
    if (told_) told_(pointJson(task.point));
    say(task.point);
  }

  // ---- saying it ----

  Diagnostics printSlurm() {
    const auto jobs = slurmJobs(options_, static_cast<std::int64_t>(tasks_.size()),
                                options_.threads ? threads_ : 1);
    if (!jobs) return jobs.diagnostics();
    out_ << slurmScript(*jobs);
    return {};
  }

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
    for (const Task& task : tasks_)
      if (task.done) points.push_back(&task.point);
    std::optional<Answer> found;
    // Of a shard no device has all of its points: `heddle collect` answers.
    if (questions_->asked() && shard_.second == 1)
      found = answer(*questions_, points, networks_->names());
    if (options_.verbosity.json) return sayJson(points.size(), found);
    out_ << "points    " << points.size() << ": " << countsText();
    if (samples_) out_ << " (" << places_ << " of " << grid_->size() << " devices)";
    out_ << "\n";
    if (left_ > 0)
      out_ << "left      " << left_ << ": the budget of " << options_.budget->text
           << " is spent; the same command goes on\n";
    if (found) out_ << answerText(*found, *questions_);
    out_ << "results   " << options_.out << "   (tables and page: heddle view " << options_.out
         << ")\n";
  }

  void sayJson(std::size_t points, const std::optional<Answer>& found) {
    JsonWriter json;
    json.beginObject().key("event").value("end");
    json.key("points").value(static_cast<std::int64_t>(points)).key("left").value(left_);
    for (const auto& [status, number] : counts_) json.key(status).value(number);
    if (found) answerJson(*found, *questions_, json.key("answer").beginObject());
    if (found) json.endObject();
    out_ << json.endObject().take() << "\n";
  }

  SweepOptions options_;
  std::ostream& out_;
  Progress& progress_;
  Told told_;
  PointSettings settings_;
  std::optional<Grid> grid_;
  std::optional<DeviceDescription> description_;
  std::pair<std::int64_t, std::int64_t> shard_{0, 1};
  std::int64_t threads_ = 1, rounds_ = 0;
  std::optional<std::int64_t> samples_;
  std::optional<Clock::time_point> deadline_;
  std::optional<Questions> questions_;
  std::optional<SweepNetworks> networks_;
  std::optional<TaskMaker> maker_;
  std::int64_t places_ = 0;           // of the grid, that have points
  std::vector<Task> tasks_;           // device by device, so that a budget leaves whole devices
  std::size_t lookedUp_ = 0;          // of them
  std::vector<Batch> batches_;        // of this round
  std::atomic<std::size_t> next_{0};  // of them
  std::optional<MadePrograms> made_;  // while there are any to compile
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // of all below, and of output and progress
  std::map<std::string, std::int64_t> counts_;
  std::int64_t left_ = 0, toDo_ = 0;  // of this round
  Diagnostics faults_;
  std::exception_ptr failure_;
};

}  // namespace

Diagnostics sweepCommand(const SweepOptions& options, std::ostream& out, Progress& progress) {
  return Sweep(options, out, progress).run();
}

Diagnostics sweepPoints(const SweepOptions& options,
                        const std::function<void(const std::string& json)>& told,
                        Progress& progress) {
  std::ostringstream nowhere;
  SweepOptions quietly = options;
  quietly.verbosity = {.quiet = true};
  return Sweep(std::move(quietly), nowhere, progress, told).run();
}

}  // namespace heddle
