// `heddle collect`: any number of sweeps' folders as one table, in four forms.
#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <tuple>

#include "answer.h"
#include "folder.h"
#include "heddle/driver/files.h"
#include "heddle/driver/open_page.h"
#include "heddle/emit/sweep_html.h"
#include "heddle/support/words.h"
#include "heddle/sweep/sweep.h"
#include "table.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

// The points of all folders, each once, and what is asked of them.
struct Collected {
  std::map<std::string, Point> points;
  SweepOptions questions;
};

Result<Collected> readFolders(const std::vector<std::string>& folders) {
  Collected all;
  for (const std::string& folder : folders) {
    HEDDLE_TRY(SweepContent content, readSweepFolder(folder));
    for (Point& point : content.points) {
      const auto [found, fresh] = all.points.emplace(point.id, point);
      // One sweep may have had no reason to skip it.
      if (!fresh && found->second.status() == kSkipped) found->second = std::move(point);
    }
    if (all.questions.title.empty()) all.questions.title = content.questions.title;
    for (std::string& model : content.questions.models)
      if (std::ranges::find(all.questions.models, model) == all.questions.models.end())
        all.questions.models.push_back(std::move(model));
    for (Definition& definition : content.questions.definitions)
      if (std::ranges::find(all.questions.definitions, definition.name, &Definition::name) ==
          all.questions.definitions.end())
        all.questions.definitions.push_back(std::move(definition));
    if (all.questions.required.empty()) all.questions.required = content.questions.required;
    if (!all.questions.maximized && !all.questions.minimized) {
      all.questions.maximized = content.questions.maximized;
      all.questions.minimized = content.questions.minimized;
    }
  }
  return all;
}

// By network, device, mesh and keys as numbers, so that neighbours stand beside each other.
std::vector<const Point*> inOrder(const std::map<std::string, Point>& points) {
  std::vector<const Point*> all;
  for (const auto& [id, point] : points) all.push_back(&point);
  const auto place = [](const Point* point) {
    std::vector<std::optional<double>> numbers;
    for (const char* column : {"rows", "cols"}) numbers.push_back(numberIn(point->values, column));
    for (const DeviceNumber& number : point->numbers) numbers.push_back(number.number);
    return std::tuple(point->model, textIn(point->values, "device"), numbers);
  };
  std::map<const Point*, decltype(place(nullptr))> places;
  for (const Point* point : all) places.emplace(point, place(point));
  std::ranges::stable_sort(
      all, [&](const Point* a, const Point* b) { return places.at(a) < places.at(b); });
  return all;
}

// Those that were asked for, and those that there are.
std::vector<std::string> networksOf(std::vector<std::string> names,
                                    const std::vector<const Point*>& points) {
  for (const Point* point : points)
    if (std::ranges::find(names, point->model) == names.end()) names.push_back(point->model);
  return names;
}

// Of points whose timeline `heddle sweep --timeline` has made.
std::map<std::string, std::string> timelinesOf(const std::vector<std::string>& folders,
                                               const std::map<std::string, Point>& points,
                                               const fs::path& out) {
  std::map<std::string, std::string> pages;
  for (const std::string& folder : folders)
    for (const auto& [id, point] : points) {
      const fs::path page = timelineFolder(folder, id) / "timeline.html";
      std::error_code error;
      if (fs::exists(page, error))
        pages.emplace(id, fs::relative(page, out, error).generic_string());
    }
  return pages;
}

Diagnostics writeAll(const fs::path& out, const SweepTable& table, const std::string& version) {
  std::error_code error;
  fs::create_directories(out, error);  // what is wrong with it, writing says
  Diagnostics faults = writeFile(out / "results.csv", csvOf(table));
  if (faults.empty()) faults = writeFile(out / "results.jsonl", jsonLinesOf(table));
  if (faults.empty()) faults = writeFile(out / "results.sqlite", databaseOf(table));
  if (faults.empty()) faults = writeFile(out / "sweep.html", sweepHtml(documentOf(table, version)));
  return faults;
}

}  // namespace

Diagnostics collectCommand(const CollectOptions& options, std::ostream& out, Progress& progress) {
  progress.begin("read the points");
  const Result<Collected> all = readFolders(options.folders);
  if (!all) return all.diagnostics();
  const std::vector<const Point*> points = inOrder(all->points);
  const std::vector<std::string> networks = networksOf(all->questions.models, points);
  const Result<Questions> questions = Questions::read(all->questions, networks);
  if (!questions) return questions.diagnostics();
  const std::string& title = all->questions.title;
  SweepTable table = tableOf(points, *questions, title.empty() ? joinWords(networks) : title);
  progress.begin("write tables and page");
  const fs::path folder = options.out.empty() ? options.folders.front() : options.out;
  table.timelines = timelinesOf(options.folders, all->points, folder);
  Diagnostics faults = writeAll(folder, table, options.version);
  progress.end();
  if (!faults.empty()) return faults;
  if (!options.verbosity.quiet) {
    out << "points    " << points.size() << "\n";
    if (questions->asked()) out << answerText(answer(*questions, points, networks), *questions);
    out << "page      " << (folder / "sweep.html").string() << "\n" << std::flush;
  }
  return options.open ? openPage(folder / "sweep.html") : Diagnostics{};
}

}  // namespace heddle
