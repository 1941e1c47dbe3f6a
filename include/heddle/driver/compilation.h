// One run of the road: every artefact as a plain value, each frozen when its stage is done.
//
//   Compilation run;
//   for each stage: HEDDLE_TRY(...)           // driver/compile.cc
//   artefactText(run, Stage::Plan)       // what --dump writes
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "heddle/canon/canonicalize.h"
#include "heddle/device/device.h"
#include "heddle/driver/options.h"
#include "heddle/emit/asm.h"
#include "heddle/graph/graph.h"
#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/program/program.h"
#include "heddle/report/report.h"
#include "heddle/report/what_if.h"
#include "heddle/sparsity/propagate.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct Compilation {
  std::string modelName;  // "resnet50" of build/models/resnet50.onnx: results do not tell where the
                          // file was
  std::string modelSha256;
  std::optional<Graph> graph;
  std::optional<Canonicalized> canonical;
  std::optional<Propagated> propagated;  // absent where it changes nothing, or may not
  std::optional<Device> device;
  std::optional<Plan> plan;
  std::optional<MemoryPlan> memoryPlan;
  std::vector<StepTime> stepTimes;  // in closed form, per step of the schedule; empty without plan
  std::optional<Program> program;
  std::optional<WeightImage> weights;
  std::optional<AsmListing> listing;        // program.asm
  std::optional<SimulateResult> simulated;  // time only
  std::vector<WhatIf> whatIf;               // empty where the run is too long for it
  std::optional<Report> report;
  Effort effort;

  // What is planned, executed and reported on. Needs: canonicalize is done.
  const CanonicalGraph& network() const {
    return propagated ? propagated->graph : canonical->graph;
  }
};

// The file of a stage in a dump, "plan.txt", and its content. Needs: the stage is done.
std::string artefactFile(Stage stage);
std::string artefactText(const Compilation& run, Stage stage);

// The text of the timeline with the page's context. Needs: the report is done.
std::string timelineText(const Compilation& run);

}  // namespace heddle
