// The page of one run, or of two beside each other.
#include <ostream>

#include "explain_text.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "heddle/driver/open_page.h"
#include "heddle/driver/saved.h"
#include "heddle/emit/timeline_json.h"
#include "own_files.h"
#include "timeline_file.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

// "resnet50-4x4" of out/resnet50-4x4, of out/resnet50-4x4/timeline.json and of resnet50-4x4.json.
std::string runName(const TimelineFile& file) {
  const fs::path path = fs::absolute(file.path).lexically_normal();
  return path.filename() == "timeline.json" ? path.parent_path().filename().string()
                                            : path.stem().string();
}

// What raising the keys of its device would gain, for the page; "" where the folder has no program
// that runs, and of several frames, where running again takes too long to wait for.
std::string keysOf(const std::string& folder, const TimelineFile& file) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return {};
  const Result<Saved> saved = readSaved(folder);
  if (!saved || saved->program->frames > 1) return {};
  const Cycles cycles = file.document.timeline.makespan;
  const Result<std::vector<RaisedKeys>> keys = raiseKeys(saved->program, cycles);
  return keys ? raisedKeysJson(*keys, cycles) : std::string();
}

}  // namespace

Diagnostics viewCommand(const ViewOptions& options, std::ostream& out, Progress& progress) {
  progress.begin("read the timelines");
  std::vector<std::string> texts, keys, names;
  fs::path page = options.out;
  for (const std::string& path : options.paths) {
    Result<TimelineFile> file = readTimelineFile(path);
    if (!file) return file.diagnostics();
    progress.begin("run it again, with each key raised");
    keys.push_back(keysOf(path, *file));
    texts.push_back(std::move(file->text));
    names.push_back(runName(*file));
    if (options.out.empty() && options.paths.size() == 1) page = beside(*file, ".html");
  }
  if (page.empty()) page = names[0] + "-vs-" + names[1] + ".html";
  progress.begin("write the page");
  removeStaleSiblings(page);
  Diagnostics faults = writeFile(page, timelineHtml(texts, keys));
  progress.end();
  if (!faults.empty()) return faults;
  if (!options.verbosity.quiet) out << page.string() << '\n' << std::flush;
  return options.open ? openPage(page) : Diagnostics{};
}

}  // namespace heddle
