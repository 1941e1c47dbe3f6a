// The whole road: model and device in; program, proof, time and timeline out.
#include <ostream>

#include "from.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "heddle/emit/asm.h"
#include "heddle/emit/timeline_json.h"
#include "heddle/sparsity/kept_blocks.h"
#include "masks.h"
#include "road.h"
#include "summary.h"

namespace heddle {
namespace {

class Compiler {
 public:
  Compiler(const CompileOptions& options, std::ostream& out, Progress& progress)
      : options_(options), out_(out), progress_(progress) {}

  Diagnostics run() {
    Result<Device> device = readDevice(options_.device, options_.overrides);
    if (!device) return device.diagnostics();
    run_.device = std::move(*device);
    if (!options_.out.empty()) {
      Result<OutputFolder> folder = OutputFolder::open(options_.out);
      if (!folder) return folder.diagnostics();
      folder_.emplace(std::move(*folder));
    }
    for (const std::string& stageName : stageNames()) {
      const Stage stage = *stageNamed(stageName);
      progress_.begin(stageName);
      Diagnostics faults = take(stage);
      if (faults.empty()) faults = writeDump(stage);
      progress_.end();
      if (!faults.empty()) return faults;
      if (options_.stopAfter == stage) break;
    }
    return finish();
  }

 private:
  Diagnostics take(Stage stage) {
    switch (stage) {
      case Stage::Graph:
        return importModel(run_, options_.model, options_.shapes);
      case Stage::Canonical:
        return takeCanonical();
      case Stage::Propagated:
        return options_.propagate ? propagateZeros(run_) : Diagnostics{};
      case Stage::Plan:
        run_.graph.reset();  // its weights are no longer needed
        return takePlan();
      case Stage::MemoryPlan:
        return takeMemoryPlan();
      case Stage::Program:
        return takeProgram();
      case Stage::Simulate:
        return simulateTiming(run_, options_.maxCycles, progress_);
      case Stage::Report:
        return takeReport();
    }
    return {};
  }

  Diagnostics takeCanonical() {
    Diagnostics faults = canonicalizeModel(run_);
    if (faults.empty()) faults = takeMasks(options_.masks, run_, options_.applyMasks);
    if (!faults.empty()) return faults;
    const Timed timed(run_.effort.compileSeconds);
    findKeptBlocks(run_.canonical->graph);
    return {};
  }

  // The file that a stage begins with, or nothing.
  const std::string* fileOf(Stage stage) const {
    const auto from = options_.from.find(stage);
    return from == options_.from.end() ? nullptr : &from->second;
  }

  Diagnostics takePlan() {
    if (fileOf(Stage::Program)) return {};
    const std::string* file = fileOf(Stage::Plan);
    Diagnostics faults = file ? readPlanFile(run_, *file) : planNetwork(run_, options_.plan);
    if (!faults.empty()) return faults;
    const Result<MemoryPlan> memory = allocateMemory(run_.network(), *run_.plan, *run_.device);
    if (memory) timeInClosedForm(run_, *memory);
    return write("plan.txt", artefactText(run_, Stage::Plan));
  }

  Diagnostics takeMemoryPlan() {
    if (fileOf(Stage::Program)) return {};
    const std::string* file = fileOf(Stage::MemoryPlan);
    if (!file) return planMemory(run_);
    Diagnostics faults = readMemoryPlanFile(run_, *file);
    if (faults.empty()) timeInClosedForm(run_, *run_.memoryPlan);
    return faults;
  }

  Diagnostics takeProgram() {
    const std::string* file = fileOf(Stage::Program);
    Diagnostics faults = file ? readProgramFile(run_, *file) : makeProgram(run_);
    if (!faults.empty()) return faults;
    {
      const Timed timed(run_.effort.compileSeconds);
      faults = write("program.asm", run_.listing->text);
      if (faults.empty() && folder_) faults = folder_->write("weights.bin", run_.weights->bytes);
      if (faults.empty()) faults = write("device.yaml", printDevice(*run_.device));
    }
    if (!faults.empty()) return faults;
    return readBack();
  }

  // From here on the program is what its file says.
  Diagnostics readBack() {
    const Timed timed(run_.effort.verifySeconds);
    std::string text = run_.listing->text;
    if (folder_) {
      Result<std::string> file = readTextFile(folder_->pathOf("program.asm"), text.size());
      if (!file) return file.diagnostics();
      text = std::move(*file);
    }
    Result<Program> again = parseAsm(text, "program.asm");
    if (!again) return asBugs(again.diagnostics());
    HEDDLE_CHECK(*again == *run_.program)
        << "program.asm does not read back to the program that was printed";
    run_.program = std::move(*again);
    return {};
  }

  Diagnostics takeReport() {
    if (options_.verify) {
      Diagnostics faults = prove(run_, options_.seed, options_.maxCycles, progress_);
      if (!faults.empty()) return faults;
    }
    const std::string timeline = folder_ ? timelineText(run_) : std::string();
    Diagnostics faults = write("timeline.json", timeline);
    if (faults.empty() && folder_) faults = write("timeline.html", timelineHtml({timeline}));
    if (faults.empty()) faults = write("layers.csv", layersCsv(*run_.report));
    if (faults.empty()) faults = write("report.md", reportMarkdown(*run_.report));
    run_.effort.peakBytes = peakMemoryBytes();
    run_.report->effort = run_.effort;
    if (faults.empty()) faults = write("report.json", reportJson(*run_.report));
    return faults;
  }

  Diagnostics write(const std::string& file, const std::string& text) {
    return folder_ ? folder_->write(file, text) : Diagnostics{};
  }

  Diagnostics writeDump(Stage stage) {
    const std::optional<Stage> last = std::max(options_.dump, options_.stopAfter);
    if (!folder_ || !last || stage > *last) return {};
    if (!run_.plan && (stage == Stage::Plan || stage == Stage::MemoryPlan)) return {};
    return folder_->write("dump/" + artefactFile(stage), artefactText(run_, stage));
  }

  Diagnostics finish() {
    if (folder_) {
      Diagnostics faults = folder_->commit();
      if (!faults.empty()) return faults;
      nameLeftovers();
    }
    const bool whole = !options_.stopAfter || *options_.stopAfter == Stage::Report;
    if (!folder_) {
      out_ << artefactText(run_, *options_.stopAfter);
    } else if (whole && options_.verbosity.json) {
      out_ << reportJson(*run_.report);
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
  return Compiler(options, out, progress).run();
}

}  // namespace heddle
