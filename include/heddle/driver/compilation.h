// One run of the road: every artefact as a plain value, each frozen when its stage is done.
//
//   HEDDLE_TRY(const Compilation run, compile(network, device, {}, progress));
//   artefactText(run, Stage::Plan)       // what --dump writes
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/cost/work.h"
#include "heddle/device/device.h"
#include "heddle/driver/network.h"
#include "heddle/driver/options.h"
#include "heddle/emit/asm.h"
#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/program.h"
#include "heddle/program/verify.h"
#include "heddle/report/explanation.h"
#include "heddle/report/report.h"
#include "heddle/report/what_if.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct Compilation : Network {
  std::optional<Device> device;
  std::optional<Plan> plan;
  std::optional<PlanChoices> choices;  // none where nobody asked, or the plan was given
  std::optional<MemoryPlan> memoryPlan;
  std::vector<StepTime> stepTimes;  // in closed form, per step of the schedule; empty without plan
  VerifiedProgram program;
  bool programIsGiven = false;  // read from a file: what is wrong with it is no bug of heddle
  std::optional<WeightImage> weights;
  std::optional<AsmListing> listing;        // program.asm
  std::optional<SimulateResult> simulated;  // time only
  std::vector<WhatIf> whatIf;               // empty where the run is too long for it
  std::optional<Report> report;
  // Of the proof: the values of program->inputs and what they led to in program->outputs, in order
  // Y, X, C. Empty without one.
  std::vector<std::vector<std::int8_t>> provenInputs, provenOutputs;
};

// The file of a stage in a dump, "plan.txt", and its content. Needs: the stage is done.
std::string artefactFile(Stage stage);
std::string artefactText(const Compilation& run, Stage stage);

// The text of the timeline with the page's context. Needs: the report is done.
std::string timelineText(const Compilation& run);
std::string timelineText(const Compilation& run, const Explanation& explanation);

}  // namespace heddle
