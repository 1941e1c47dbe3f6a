// The small run (tests/unit/report/small_run.h) as a timeline.json that was read back.
#pragma once
#include "../report/small_run.h"
#include "heddle/emit/timeline_document.h"
#include "heddle/emit/timeline_json.h"

namespace heddle::testing {

// The row wire's wait and the core's first are for a lock; the model's name is what it is given.
inline TimelineDocument smallDocument(Hertz clock = {1'000'000'000}, std::string model = "two") {
  const CanonicalGraph graph = twoConvs();
  Program program = twoConvsProgram();
  program.model = std::move(model);
  program.locks.push_back({{TileKind::Core, 0, 1}, 3, 0, {}, {}});
  Device device = reportedPaper(1, 2);
  device.clock = clock;
  SimulateResult run = twoConvsRun();
  for (Track& track : run.timeline.tracks)
    for (SpanSlice& slice : track.slices)
      if (slice.wait == WaitKind::Lock) slice.lock = 0;
  const Report report = makeReport(graph, program, device, run);
  const std::string json =
      timelineJson(run.timeline, {graph, program, device, report, listAsm(program), {}});
  Result<TimelineDocument> document = parseTimelineJson(json, "small");
  HEDDLE_CHECK(static_cast<bool>(document)) << toText(document.diagnostics());
  return std::move(*document);
}

}  // namespace heddle::testing
