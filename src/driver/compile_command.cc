// `heddle compile`: the road with its files. Model and device in; program, proof, time and timeline
// out.
#include <ostream>

#include "from.h"
#include "heddle/driver/choose_batch.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/compile.h"
#include "heddle/driver/files.h"
#include "heddle/driver/results.h"
#include "summary.h"

namespace heddle {
namespace {

class CompileCommand {
 public:
  CompileCommand(const CompileOptions& options, std::ostream& out, Progress& progress)
      : options_(options), out_(out), progress_(progress) {}

  Diagnostics run() {
    Result<Device> device = readDevice(options_.device, options_.overrides);
    if (!device) return device.diagnostics();
    if (!options_.out.empty()) {
      Result<OutputFolder> folder = OutputFolder::open(options_.out);
      if (!folder) return folder.diagnostics();
      folder_.emplace(std::move(*folder));
    }
    Result<Network> network = readNetwork(options_.model, options_.stopAfter, progress_);
    if (!network) return network.diagnostics();
    static_cast<Network&>(run_) = std::move(*network);
    // What is planned is known with the plan: in which batch, fused and joined how.
    Diagnostics faults =
        writeDumps(Stage::Graph, last() < Stage::Plan ? Stage::Propagated : Stage::Canonical);
    if (faults.empty() && last() >= Stage::Plan) faults = compileFor(*device);
    return faults.empty() ? finish() : faults;
  }

 private:
  Stage last() const { return options_.stopAfter.value_or(Stage::Report); }

  Diagnostics compileFor(const Device& device) {
    run_.graph.reset();  // its weights are no longer needed
    const bool fileSays =
        options_.from.contains(Stage::Plan) || options_.from.contains(Stage::Program);
    if (options_.choosesBatch && !fileSays) {
      HEDDLE_TRY(Network chosen, inBestBatch(run_, device, options_.plan, progress_));
      static_cast<Network&>(run_) = std::move(chosen);
    }
    Result<Given> given = readGiven(options_.from, run_, device);
    if (!given) return given.diagnostics();
    const CompileSettings settings{.plan = options_.plan,
                                   .verify = options_.verify,
                                   .seed = options_.seed,
                                   .maxCycles = options_.maxCycles,
                                   .last = last()};
    Result<Compilation> run = compile(run_, device, settings, progress_, std::move(*given));
    if (!run) return run.diagnostics();
    run_ = std::move(*run);
    return folder_ ? writeFiles() : Diagnostics{};
  }

  Diagnostics writeFiles() {
    progress_.begin("write");
    Diagnostics faults = writeDumps(Stage::Propagated, Stage::Report);
    if (faults.empty()) faults = writeResults(run_, last(), *folder_);
    progress_.end();
    return faults;
  }

  // Of the stages from `first` to `to`, as far as they were asked for and are done.
  Diagnostics writeDumps(Stage first, Stage to) {
    const std::optional<Stage> asked = std::max(options_.dump, options_.stopAfter);
    if (!folder_ || !asked) return {};
    for (const std::string& stageName : stageNames()) {
      const Stage stage = *stageNamed(stageName);
      if (stage < first || stage > std::min({to, *asked, last()})) continue;
      if (!run_.plan && (stage == Stage::Plan || stage == Stage::MemoryPlan)) continue;
      Diagnostics faults = folder_->write("dump/" + artefactFile(stage), artefactText(run_, stage));
      if (!faults.empty()) return faults;
    }
    return {};
  }

  Diagnostics finish() {
    if (folder_) {
      Diagnostics faults = folder_->commit();
      if (!faults.empty()) return faults;
      nameLeftovers();
    }
    const bool whole = last() == Stage::Report;
    if (whole && options_.verbosity.json) {
      out_ << reportJson(*run_.report);
    } else if (!folder_) {
      out_ << artefactText(run_, *options_.stopAfter);
    } else if (whole && !options_.verbosity.quiet) {
      out_ << summary(*run_.report) << "results   " << options_.out << "\ntimeline  "
           << (folder_->name() / "timeline.html").string() << "\n";
    }
    return {};
  }

  void nameLeftovers() {
    if (options_.verbosity.quiet || options_.verbosity.json) return;
    for (const std::filesystem::path& left : folder_->leftovers())
      out_ << "left over " << left.string()
           << ": of a run that was killed; it holds what heddle did not write\n";
  }

  const CompileOptions& options_;
  std::ostream& out_;
  Progress& progress_;
  Compilation run_;
  std::optional<OutputFolder> folder_;
};

}  // namespace

Diagnostics compileCommand(const CompileOptions& options, std::ostream& out, Progress& progress) {
  return CompileCommand(options, out, progress).run();
}

}  // namespace heddle
