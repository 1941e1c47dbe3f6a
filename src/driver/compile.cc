#include "heddle/driver/compile.h"

#include "heddle/emit/asm.h"
#include "heddle/program/verify.h"
#include "prove.h"
#include "road.h"

namespace heddle {
namespace {

class Compiler {
 public:
  Compiler(Compilation& run, const CompileSettings& settings, Progress& progress, Given given)
      : run_(run), settings_(settings), progress_(progress), given_(std::move(given)) {}

  Diagnostics take(Stage stage) {
    switch (stage) {
      case Stage::Graph:
      case Stage::Canonical:
      case Stage::Propagated:
        return {};  // the network's
      case Stage::Plan:
        return takePlan();
      case Stage::MemoryPlan:
        return takeMemoryPlan();
      case Stage::Program:
        return takeProgram();
      case Stage::Simulate:
        return simulateTiming(run_, settings_.maxCycles, settings_.whatIf, progress_);
      case Stage::Report:
        return takeReport();
    }
    return {};
  }

 private:
  Diagnostics takePlan() {
    if (given_.program) return {};
    Diagnostics faults;
    if (given_.plan) {
      faults = verify(*given_.plan, run_.network(), *run_.device);
      run_.plan = std::move(given_.plan);
    } else {
      faults = planNetwork(run_, settings_.plan, settings_.explain, progress_);
    }
    // The memory plan that follows brings the times; a plan alone is shown with them, too.
    if (!faults.empty() || settings_.last > Stage::Plan) return faults;
    const Result<MemoryPlan> memory = allocateMemory(run_.network(), *run_.plan, *run_.device);
    if (memory) timeInClosedForm(run_, *memory);
    return {};
  }

  Diagnostics takeMemoryPlan() {
    if (given_.program) return {};
    Diagnostics faults;
    if (given_.memoryPlan) {
      run_.memoryPlan = std::move(given_.memoryPlan);
      faults = verify(*run_.memoryPlan, run_.network(), *run_.plan, *run_.device);
    } else {
      faults = planMemory(run_);
    }
    if (faults.empty()) timeInClosedForm(run_, *run_.memoryPlan);
    return faults;
  }

  Diagnostics takeProgram() {
    if (given_.made != nullptr) {
      run_.program = given_.made->find(run_);
      if (run_.program) return {};
    }
    if (!given_.program) {
      Diagnostics faults = makeProgram(run_, given_.made == nullptr);
      if (!faults.empty()) return faults;
      if (given_.made != nullptr) given_.made->add(run_);
    } else {
      HEDDLE_TRY(run_.program, verified(std::move(given_.program->program), *run_.device));
      run_.weights = std::move(given_.program->weights);
      run_.programIsGiven = true;
    }
    // Of programs of a sweep several are under way as it is.
    if (settings_.verify && settings_.last >= Stage::Report && given_.made == nullptr)
      execution_ = Execution::begin(run_, settings_.seed, settings_.maxCycles);
    return settings_.listing ? listAndReadBack() : Diagnostics{};
  }

  // What is executed is what the text says.
  Diagnostics listAndReadBack() {
    {
      const Timed timed(run_.effort.compileSeconds);
      run_.listing = listAsm(*run_.program);
    }
    const Timed timed(run_.effort.verifySeconds);
    const Result<Program> again = parseAsm(run_.listing->text, "program.asm");
    if (!again) return asBugs(again.diagnostics());
    HEDDLE_CHECK(*again == *run_.program)
        << "program.asm does not read back to the program that was printed";
    return {};
  }

  Diagnostics takeReport() {
    if (settings_.verify) {
      Diagnostics faults = takeProof();
      if (!faults.empty()) return faults;
    }
    run_.effort.peakBytes = peakMemoryBytes();
    run_.report->effort = run_.effort;
    return {};
  }

  Diagnostics takeProof() {
    MadePrograms* made = given_.made;
    if (const auto proof = made ? made->proofOf(*run_.program, settings_.seed) : std::nullopt) {
      run_.report->verification = *proof;
      return {};
    }
    // Of a program that was taken over the first proof has failed, or is under way.
    if (!run_.weights) {
      Diagnostics faults = makeProgram(run_, false);
      if (!faults.empty()) return faults;
    }
    Diagnostics faults =
        prove(run_, settings_.seed, settings_.maxCycles, execution_.get(), progress_);
    if (made && faults.empty())
      made->addProof(*run_.program, settings_.seed, run_.report->verification);
    return faults;
  }

  Compilation& run_;
  const CompileSettings& settings_;
  Progress& progress_;
  Given given_;
  std::unique_ptr<Execution> execution_;
};

}  // namespace

Result<Compilation> compile(const Network& network, const Device& device,
                            const CompileSettings& settings, Progress& progress, Given given) {
  HEDDLE_CHECK(settings.last >= Stage::Plan) << "the stages before are the network's";
  HEDDLE_CHECK(!given.made || (!given.program && !settings.listing))
      << "a program of several devices names none";
  Compilation run;
  static_cast<Network&>(run) = network;
  run.device = device;
  if (!fusesOperators(settings.plan) && !given.plan && !given.program) leaveUnfused(run);
  Compiler compiler(run, settings, progress, std::move(given));
  for (const std::string& stageName : stageNames()) {
    const Stage stage = *stageNamed(stageName);
    if (stage < Stage::Plan || stage > settings.last) continue;
    progress.begin(stageName);
    Diagnostics faults = compiler.take(stage);
    progress.end();
    if (!faults.empty()) return faults;
  }
  return run;
}

}  // namespace heddle
