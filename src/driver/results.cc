#include "heddle/driver/results.h"

#include <functional>
#include <future>
#include <system_error>

#include "explanation.h"
#include "heddle/emit/timeline_json.h"
#include "processors.h"
#include "road.h"

namespace heddle {
namespace {

// What was read back, simulated and proved is what the file says.
Diagnostics compareWithFile(const std::string& text, const OutputFolder& folder) {
  const Result<std::string> file = readTextFile(folder.pathOf("program.asm"), text.size());
  if (!file) return file.diagnostics();
  HEDDLE_CHECK(*file == text) << "program.asm is not the text that was written";
  return {};
}

Diagnostics writeProgram(const Compilation& run, OutputFolder& folder) {
  Diagnostics faults = folder.write("program.asm", run.listing->text);
  if (faults.empty()) faults = folder.write("weights.bin", run.weights->bytes);
  if (faults.empty()) faults = folder.write("device.yaml", printDevice(*run.device));
  return faults.empty() ? compareWithFile(run.listing->text, folder) : faults;
}

// What takes longest to print.
struct Printed {
  Explanation explanation;
  std::string timeline, page;
};

Printed printed(const Compilation& run) {
  Printed texts;
  texts.explanation = explanationOf(run);
  texts.timeline = timelineText(run, texts.explanation);
  texts.page = timelineHtml({texts.timeline});
  return texts;
}

// On a thread of its own, or when it is asked for.
std::future<Printed> printedBeside(const Compilation& run) {
  try {
    if (hasSecondProcessor()) return std::async(std::launch::async, printed, std::cref(run));
  } catch (const std::system_error&) {  // there is no thread to be had
  }
  return std::async(std::launch::deferred, printed, std::cref(run));
}

Diagnostics writeReport(const Compilation& run, const Printed& texts, OutputFolder& folder) {
  Diagnostics faults = folder.write("timeline.json", texts.timeline);
  if (faults.empty()) faults = folder.write("timeline.html", texts.page);
  if (faults.empty()) faults = folder.write("layers.csv", layersCsv(*run.report));
  if (faults.empty()) faults = folder.write("report.md", reportMarkdown(*run.report));
  if (faults.empty()) faults = folder.write("explain.json", explanationJson(texts.explanation));
  Report report = *run.report;
  report.effort.peakBytes = peakMemoryBytes();
  if (faults.empty()) faults = folder.write("report.json", reportJson(report));
  return faults;
}

}  // namespace

Diagnostics writeResults(const Compilation& run, Stage last, OutputFolder& folder) {
  std::future<Printed> texts;
  if (last == Stage::Report) texts = printedBeside(run);
  Diagnostics faults;
  if (run.plan) faults = folder.write("plan.txt", artefactText(run, Stage::Plan));
  if (faults.empty() && run.program) faults = writeProgram(run, folder);
  if (faults.empty() && last == Stage::Report) faults = writeReport(run, texts.get(), folder);
  return faults;
}

}  // namespace heddle
