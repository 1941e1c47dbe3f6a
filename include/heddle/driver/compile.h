// The road from a network and a device to a program with its time, as one function of values: files
// and the terminal are the callers'. `heddle compile` calls it once, `heddle sweep` for each point,
// on several threads at a time.
#pragma once
#include <cstdint>
#include <optional>

#include "heddle/driver/compilation.h"
#include "heddle/driver/made_programs.h"
#include "heddle/driver/progress.h"
#include "heddle/planner/make_plan.h"
#include "heddle/support/result.h"

namespace heddle {

struct GivenProgram {
  Program program;
  WeightImage weights;
};

// Artefacts that a stage takes over instead of making them; none is the usual. They are held
// against network and device as the stage's own would be, and what is wrong with them is bad input.
struct Given {
  std::optional<Plan> plan;
  std::optional<MemoryPlan> memoryPlan;
  std::optional<GivenProgram> program;
  // Of other runs, which need not be made and proved again; where it is there, the run's program is
  // added. Goes with neither a program nor a listing.
  MadePrograms* made = nullptr;
};

struct CompileSettings {
  PlanOptions plan;
  bool verify = true;      // execute with data and compare with the interpreter
  std::uint64_t seed = 1;  // of the input of the verification
  std::optional<Cycles> maxCycles;
  bool whatIf = true;          // how long it would take with each resource for nothing
  bool explain = true;         // what the plan was chosen among
  bool listing = true;         // the program as text; it is read back and takes the program's place
  Stage last = Stage::Report;  // at least Plan
};

// The stages from Plan to `settings.last`. Reads `network` and `device`, changes nothing outside of
// its result and may run on several threads at once with the same network. Errors: those of the
// stages; what a stage's verify finds in what was made here is a Bug.
Result<Compilation> compile(const Network& network, const Device& device,
                            const CompileSettings& settings, Progress& progress, Given given = {});

}  // namespace heddle
