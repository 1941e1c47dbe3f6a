// Why a run takes the time that it takes, layer by layer: the mapping that was chosen, in words,
// the parts of its time in closed form, what it was chosen among, and bytes moved beside bytes
// needed. A plain value: explain.json holds all of it. Meaning of each figure: docs/explain.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/cost/resource.h"
#include "heddle/report/what_if.h"
#include "heddle/support/json_writer.h"
#include "heddle/support/result.h"
#include "heddle/support/units.h"

namespace heddle {

// A mapping as sentences without an end.
struct MappingWords {
  std::string split;  // "W/4 x C/4, 2 passes"
  std::string cut;    // "W over 4 mesh columns, channels over 4 mesh rows: up to 14x4 pixels, ..."
  std::vector<std::string> streams;  // "weights over row wires", one for each operand and weights
  std::string loops;                 // "2 passes over the output channels, input stays in the core"
  friend bool operator==(const MappingWords&, const MappingWords&) = default;
};

struct ExplainedTerm {
  std::string name;  // "compute", "column wires: inputs", "DDR read: weights", ...
  Cycles cycles;
  friend bool operator==(const ExplainedTerm&, const ExplainedTerm&) = default;
};

struct ExplainedAlternative {
  MappingWords mapping;
  Cycles cycles;  // that the layer would add in closed form
  // Negative where the closed form finds it faster: by less than it errs, or the Machine decided.
  Cycles loses;
  Resource boundBy = Resource::Compute;
  friend bool operator==(const ExplainedAlternative&, const ExplainedAlternative&) = default;
};

struct ExplainedBytes {
  std::string what;  // "weights over wires"
  Bytes moved, needed;
  std::vector<std::string> why;  // they differ; empty where they do not
  friend bool operator==(const ExplainedBytes&, const ExplainedBytes&) = default;
};

struct ExplainedLayer {
  std::string name, op;
  std::string atStart, atEnd;           // as in LayerReport
  std::vector<std::string> tables;      // likewise
  std::string fused;                    // "adds 'x' at its end"; empty: nothing
  std::optional<MappingWords> mapping;  // none: in place, or there is no plan
  std::int64_t steps = 1;               // of the schedule: more than one computes rows by turns
  Cycles cycles, start, end;            // simulated, as in LayerReport
  std::optional<Cycles> closedForm;
  double boundSeconds = 0;
  std::optional<Cycles> mappingBound;  // as in LayerReport
  std::optional<Resource> boundBy;
  std::string boundEngine;           // as in LayerReport
  Cycles boundEngineBusy;            // likewise
  PerResource<Cycles> busy{};        // simulated
  std::vector<ExplainedTerm> terms;  // in closed form; empty without a mapping
  std::int64_t tried = 0;            // mappings that the closed form timed
  std::vector<ExplainedAlternative> alternatives;
  std::string noAlternatives;  // why there are none; empty where there are
  std::vector<ExplainedBytes> bytes;
  friend bool operator==(const ExplainedLayer&, const ExplainedLayer&) = default;
};

// A tensor that passes from layer to layer through DDR, since no memtile keeps it.
struct ExplainedSpill {
  std::string tensor;
  std::string writtenBy;            // a layer; empty: it is an input of the network, or constant
  std::vector<std::string> readBy;  // layers
  Bytes bytes;
  std::string why;
  friend bool operator==(const ExplainedSpill&, const ExplainedSpill&) = default;
};

// Layers that are computed tile by tile, by turns, or that were tried so.
struct ExplainedGroup {
  std::string first, last;  // layers, both included
  std::int64_t layers = 0, tiles = 0;
  // In closed form, of these layers together: layer after layer, and in tiles; none where the plan
  // was given.
  std::optional<Cycles> alone, tiled;
  // As in GroupReport; 0 where the group was not taken.
  Bytes kept, weightsAgain;
  friend bool operator==(const ExplainedGroup&, const ExplainedGroup&) = default;
};

// Whether layers of the network are tiled depth-wise, and why or why not.
struct ExplainedTiling {
  bool taken = false;
  std::optional<Cycles> alone, tiled;  // in closed form, of the whole run; as in a group
  std::string why;                     // a sentence without an end
  std::vector<ExplainedGroup> groups;
  friend bool operator==(const ExplainedTiling&, const ExplainedTiling&) = default;
};

// Plans that the Machine timed to find this one.
struct ExplainedTiming {
  std::int64_t plans = 0;
  Cycles first, best;  // of effort 1's plan, and of the one that was taken; of one frame
  friend bool operator==(const ExplainedTiming&, const ExplainedTiming&) = default;
};

// Another order of channel blocks that was tried, for cores to wait less for each other.
struct ExplainedOrder {
  bool taken = false;
  std::int64_t tensors = 0;  // whose blocks it moves
  Cycles asItIs, reordered;  // in closed form, of one frame
  friend bool operator==(const ExplainedOrder&, const ExplainedOrder&) = default;
};

// Depth-wise convolutions at the end of the one before, and gates and lines at the start of the one
// behind, or as layers of their own, for a try.
struct ExplainedEnds {
  std::int64_t convolutions = 0, starts = 0;
  std::optional<Cycles> atEnds, asLayers;  // of all: in closed form; none where there is no plan
  Cycles taken;
  std::vector<std::string> layers;  // those that are layers of their own
  friend bool operator==(const ExplainedEnds&, const ExplainedEnds&) = default;
};

// Convolutions that read one tensor, joined for a try (canon/join_siblings.h).
struct ExplainedJoin {
  bool taken = false;
  std::int64_t convolutions = 0;
  Cycles apart, joined;  // in closed form, of one frame
  friend bool operator==(const ExplainedJoin&, const ExplainedJoin&) = default;
};

// A network of one row, planned as it lies and with rows for columns. Of one frame; none where
// there is no plan.
struct ExplainedUpright {
  bool taken = false;
  bool byMachine = false;  // the cycles are simulated, not those of the closed form
  std::optional<Cycles> lying, upright;
  friend bool operator==(const ExplainedUpright&, const ExplainedUpright&) = default;
};

struct Explanation {
  std::string model, device;
  std::int64_t rows = 0, columns = 0;
  Hertz clock;
  Cycles cycles;                       // of the run:
  std::int64_t frames = 1, batch = 1;  // inferences of a frame
  std::optional<Cycles> closedForm;
  double layerBoundSeconds = 0;
  std::optional<double> mappingBoundSeconds;
  std::vector<WhatIf> whatIf;  // empty where the run is too long for it
  std::vector<ExplainedSpill> spills;
  std::optional<ExplainedTiling> tiling;  // none where nothing spills and nothing is tiled
  std::optional<ExplainedTiming> timed;   // none where the closed form alone decided
  std::optional<ExplainedOrder> order;    // none where no block of weights is empty, or none helps
  std::optional<ExplainedEnds> ends;      // none where there are none
  std::optional<ExplainedJoin> join;      // none where nothing was to be joined
  std::optional<ExplainedUpright> upright;  // none where it was not planned both ways
  std::vector<ExplainedLayer> layers;
  friend bool operator==(const Explanation&, const Explanation&) = default;

  std::int64_t inferences() const { return frames * batch; }
  double seconds(Cycles c) const {
    return static_cast<double>(c.raw()) / static_cast<double>(clock.raw);
  }
};

// explain.json: heddle.explain/1.
std::string explanationJson(const Explanation& explanation);

// Reads it back. `name` stands for the file in messages; the text may come from anywhere. Errors:
// EXPL001 not JSON, or no explanation; EXPL002 an explanation of another version; EXPL003 entries
// that are missing, of the wrong type or out of range.
Result<Explanation> parseExplanation(const std::string& text, const std::string& name);

// The entries of explain.json, and of one of its layers, into an open object.
void writeExplanation(JsonWriter& json, const Explanation& explanation);
void writeLayer(JsonWriter& json, const Explanation& explanation, const ExplainedLayer& layer);

}  // namespace heddle
