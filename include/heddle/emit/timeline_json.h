// A Timeline as files: heddle.timeline/1 (docs/timeline.md, docs/timeline.schema.json) and the page
// that shows it.
//
//   const TimelineContext context{graph, program, device, report, listing, whatIf};
//   const std::string json = timelineJson(timeline, context);     // timeline.json
//   const std::string page = timelineHtml({json});                // timeline.html, offline
//
// The JSON stands alone: it holds the graph, the report's layer table, the device with its wires
// and the program's instructions.
#pragma once
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/emit/asm.h"
#include "heddle/machine/timeline.h"
#include "heddle/program/program.h"
#include "heddle/report/explanation.h"
#include "heddle/report/report.h"
#include "heddle/report/what_if.h"

namespace heddle {

// What a reader needs beside the slices. Refers to the values it is made from.
struct TimelineContext {
  const CanonicalGraph& graph;
  const Program& program;
  const Device& device;
  const Report& report;
  const AsmListing& listing;
  const std::vector<WhatIf>& whatIf;
  const Explanation* explanation = nullptr;  // null: nobody explained the run
};

// The same bytes for the same arguments (Report::effort is left out).
std::string timelineJson(const Timeline& timeline, const TimelineContext& context);

// One self-contained page that shows the texts of one or more timelineJson, several beside each
// other. Names in them can run nothing. `keys`: of each, as far as known, what raising keys of its
// device would gain, as in docs/explain.md; "" for nothing known.
std::string timelineHtml(const std::vector<std::string>& jsons,
                         const std::vector<std::string>& keys = {});

}  // namespace heddle
