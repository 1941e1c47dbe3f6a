// What a network costs on a device, and why: from the program that ran, beside the closed form and
// the bounds.
//
//   Report report = makeReport(graph, program, device, simulated, closedForm);
//   report.verification = ...; report.effort = ...;          // filled in by whoever measured them
//   write("report.json", reportJson(report));
//
// Everything but `effort` depends on the arguments only. Meaning of each figure: docs/report.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/device/keys.h"
#include "heddle/machine/machine.h"
#include "heddle/program/program.h"
#include "heddle/report/bounds.h"
#include "heddle/report/leaves.h"
#include "heddle/report/what_if.h"
#include "heddle/support/json_writer.h"
#include "heddle/support/result.h"

namespace heddle {

// Comparison of the executed program with the reference interpreter.
struct Verification {
  bool ran = false, matches = false;
  std::int64_t tensorsCompared = 0, bytesCompared = 0, mismatches = 0;
  std::vector<std::string>
      notMaterialized;  // tensors that exist only inside a core: checked through their consumer
};

struct Effort {
  double importSeconds = 0, compileSeconds = 0, simulateSeconds = 0, whatIfSeconds = 0,
         verifySeconds = 0;
  std::int64_t peakBytes = 0;
};

// What was taken out of the network before it was planned, since no output depends on it.
struct Propagation {
  std::int64_t channelsRemoved = 0, weightsZeroed = 0;
  std::int64_t macsRemoved = 0;  // dense ones
};

// One step of the schedule: some rows of a layer that is tiled depth-wise (docs/plan.md).
struct StepReport {
  std::int64_t tile = 0;                // of the layer's group, from 0
  std::int64_t firstRow = 0, rows = 0;  // of the layer's output; 0 rows: nobody knows
  Cycles cycles, start, end;            // as those of a layer
  friend bool operator==(const StepReport&, const StepReport&) = default;
};

// Layers that are computed tile by tile, by turns.
struct GroupReport {
  std::size_t first = 0, last = 0;  // layers, both included
  std::int64_t tiles = 0;
  Cycles cycles, start, end;  // of its layers together
  // Tensors that only its layers touch and that are nowhere whole: layer after layer they would go
  // to DDR, where they do not fit the memtiles, and come back at least once.
  Bytes kept;
  Bytes weightsAgain;  // read from DDR for tiles after the first
  friend bool operator==(const GroupReport&, const GroupReport&) = default;
};

// One frame of several in a run.
struct FrameReport {
  Cycles start, end;  // of its own slices
  // By step of the schedule, as LayerReport::cycles: after the steps before it and all of the
  // frames before. All frames' add up to the makespan.
  std::vector<Cycles> stepCycles;
  friend bool operator==(const FrameReport&, const FrameReport&) = default;
};

// One of a layer's streams, and the wires that it takes.
struct RouteReport {
  struct Part {
    std::int64_t wire = 0;  // of Report::wires
    Bytes bytes;            // a multicast counts once
    Cycles busy;            // of the wire with them
    friend bool operator==(const Part&, const Part&) = default;
  };
  Resource stream = Resource::InputWire;  // or WeightsWire
  std::vector<Part> parts;                // by wire, rising
  friend bool operator==(const RouteReport&, const RouteReport&) = default;
};

struct LayerReport {
  std::string name, op, split;
  std::string atStart, atEnd;       // names of operators that it does first, and last; empty: none
  std::vector<std::string> tables;  // names of the operators whose tables it looks up
  // Cycles are differences of completion (how much later the array is done with each of the layer's
  // steps than with all steps before it): they add up to the makespan. start and end are those of
  // the layer's own slices, and layers overlap.
  Cycles cycles, start, end;
  std::optional<Cycles> closedForm;
  std::optional<Resource> boundBy;     // none where the layer runs nothing
  std::string boundEngine;             // the engine that works longest, as in asm; likewise
  Cycles boundEngineBusy;              // all that it does for the layer
  double boundSeconds = 0;             // its part of layerBoundSeconds
  std::optional<Cycles> mappingBound;  // the busiest engine with its best mapping
  std::int64_t macs = 0;               // needed, of the weight blocks that are kept
  std::int64_t macsExecuted = 0;       // padding included
  // Of these: on channels that fill a block up to eight. The rest that is not needed is computed
  // twice.
  std::int64_t macsOnPaddedChannels = 0;
  std::int64_t weightBytes = 0;  // needed, as macs
  Bytes weightBytesPadded;       // of those that left DDR, as in Report
  // The same if no weight block were left out.
  std::int64_t denseMacs = 0, denseWeightBytes = 0;
  // Of the cores that compute for it: MACs of the one with most, over their mean; 1 where all do
  // the same, none where none does any.
  std::optional<double> imbalance;
  std::optional<double> density;        // 8x8 weight blocks kept, of all; none without weights
  Traffic traffic;                      // moved on behalf of this layer
  Bytes weightsToCores, inputsToCores;  // the two parts of traffic.memtileToCore
  std::vector<RouteReport> routes;      // weights, inputs; of these those that there are
  PerResource<Cycles> busy{};           // of the busiest engine of each resource
  PerResource<Cycles>
      waits{};  // cycles that its cores waited, summed over cores, by what they waited for
  std::int64_t cores = 0;         // that computed something for it
  std::vector<StepReport> steps;  // of a layer in a group, in the schedule's order; else none
};

struct Report {
  std::string model, modelSha256;
  std::string device;
  std::int64_t rows = 0, columns = 0, macsPerCycle = 0;  // the last of one core
  Hertz clock;
  std::vector<DeviceNumber> deviceKeys;  // all of them, in numbersOf's order
  std::vector<Wire> wires;
  std::int64_t macs = 0, weightBytes = 0;            // of the network, as it is left
  std::int64_t denseMacs = 0, denseWeightBytes = 0;  // if no weight block were left out
  Propagation propagation;
  Cycles cycles;
  // How often the program ran, and inferences of each time. All figures are of all of them
  // together, but `bounds`, which are of a frame, and frameTimes.
  std::int64_t frames = 1, batch = 1;
  FrameTimes frameTimes;
  std::vector<FrameReport> eachFrame;  // of several; else none
  std::optional<Cycles> closedForm;
  Bounds bounds;
  // Why the time may lie below layerBoundSeconds; empty where it does not.
  std::vector<std::string> layerBoundPassedBy;
  Traffic traffic;
  std::int64_t memtilePeakBytes = 0, corePeakBytes = 0;
  std::int64_t macsExecuted = 0;
  std::int64_t macsOnPaddedChannels = 0;  // of the layers together
  // Of the weights that left DDR: bytes that make short records as long as the longest.
  std::int64_t weightBytesPadded = 0;
  std::int64_t instructions = 0;  // that the engines executed, each iteration of a loop for itself
  Verification verification;
  std::vector<LayerReport> layers;
  std::vector<GroupReport> groups;  // in the order of the schedule; they share no layer
  std::vector<WhatIf> whatIf;       // filled in by whoever ran it; else none
  Effort effort;
  std::vector<std::string> hostOperators;
  std::vector<std::string> notModelled;

  std::int64_t inferences() const { return frames * batch; }
  double seconds(Cycles c) const {
    return static_cast<double>(c.raw()) / static_cast<double>(clock.raw);
  }
  // By what they are bound: the cycles of layers; of those that run nothing they count nowhere.
  PerResource<Cycles> boundCycles() const;
  // layerBoundSeconds / seconds, of as many frames
  double efficiency() const;
  // (closed form - measured) / measured; absent where either is.
  std::optional<double> closedFormError(const LayerReport& layer) const;
  std::optional<double> closedFormWorstLayerError() const;  // by magnitude
};

// closedForm: per layer, or empty where there is no estimate. Needs the timeline for all but
// `cycles`, `bounds` and `work`.
Report makeReport(const CanonicalGraph& graph, const Program& program, const Device& device,
                  const SimulateResult& simulated, const std::vector<Cycles>& closedForm = {});

// Fills in what the planner weighed: the best mapping of each layer alone. `alone`: per layer, of
// one frame.
void setMappingBound(Report& report, const std::vector<Cycles>& alone);

std::string reportJson(const Report& report);      // heddle.report/2
std::string reportMarkdown(const Report& report);  // for people
std::string layersCsv(const Report& report);       // one line a layer, all columns

// Reads report.json back: what reportJson writes, entries that others follow from (seconds,
// efficiencies, errors, sums) apart. `name` stands for the file in messages; the text may come from
// anywhere. Errors: REPORT001 not JSON (a file that is cut, say) or not a report; REPORT002 a
// report of another version; REPORT003 entries that are missing, of the wrong type or out of range,
// or that contradict each other.
Result<Report> parseReport(const std::string& text, const std::string& name);

// The entries of report.json but `effort`, into an open object.
void writeReport(JsonWriter& json, const Report& report);

}  // namespace heddle
