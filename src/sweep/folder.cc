#include "folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "heddle/driver/files.h"
#include "heddle/support/json_fault.h"
#include "heddle/support/json_writer.h"
#include "heddle/sweep/sweep.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPoints = "points";
constexpr const char* kQuestions = "questions.json";
constexpr const char* kQuestionsFormat = "heddle.questions/1";
constexpr std::uintmax_t kMostPointFile = std::uintmax_t{1} << 20;

Diagnostic noFolder(const fs::path& path, std::string what) {
  return {.code = "FILE003",
          .where = path.string(),
          .summary = "the results cannot be put there",
          .what = std::move(what),
          .mend = "choose another name, or check permissions and the space left"};
}

// What writers that were killed have left. Nobody else writes here: the lock is held.
void removePartials(const fs::path& points) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(points)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".") && name.find(".json.partial") != std::string::npos)
      fs::remove(entry.path(), ignored);
  }
}

Diagnostic noQuestions(const fs::path& path, const std::string& what) {
  return {"SWEEP012", path.string(), "the folder's questions cannot be read", what,
          "sweep into it again, or remove the file"};
}

Result<SweepOptions> readQuestions(const fs::path& path) {
  SweepOptions questions;
  HEDDLE_TRY(const std::string text, readTextFile(path, kMostPointFile));
  if (const auto wrong = jsonFault(text)) return noQuestions(path, *wrong);
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("format") != kQuestionsFormat)
      return noQuestions(path, "its format is not " + std::string(kQuestionsFormat));
    questions.title = json.at("title");
    for (const auto& model : json.at("models")) questions.models.push_back(model);
    const std::string where = path.string();
    for (const auto& one : json.at("define"))
      questions.definitions.push_back({one.at("name"), {one.at("expression"), where}});
    for (const auto& one : json.at("require")) questions.required.push_back({one, where});
    if (json.contains("maximize")) questions.maximized = Argument{json.at("maximize"), where};
    if (json.contains("minimize")) questions.minimized = Argument{json.at("minimize"), where};
  } catch (const nlohmann::json::exception& e) {
    return noQuestions(path, e.what());
  }
  return questions;
}

}  // namespace

Result<SweepFolder> SweepFolder::open(const fs::path& path) {
  try {
    if (fs::exists(path / "program.asm") && !fs::exists(path / kPoints))
      return Diagnostic{"FILE003", path.string(), "the results cannot be put there",
                        "the folder holds what 'heddle compile' wrote", "choose another name"};
    fs::create_directories(path / kPoints);
    const int lock = ::open((path / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0) return noFolder(path, std::strerror(errno));
    SweepFolder folder(path, lock);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return noFolder(path, std::strerror(errno));
      return Diagnostic{"SWEEP011", path.string(), "another sweep is filling the folder", "",
                        "wait for it, or give this one a folder of its own: 'heddle collect' takes "
                        "both"};
    }
    if (::access((path / kPoints).c_str(), W_OK | X_OK) != 0)
      return noFolder(path, std::strerror(errno));
    removePartials(path / kPoints);
    return Result<SweepFolder>(std::move(folder));
  } catch (const fs::filesystem_error& e) {
    return noFolder(path, e.code().message());
  }
}

SweepFolder::~SweepFolder() {
  if (lock_ >= 0) ::close(lock_);
}

fs::path SweepFolder::fileOf(const std::string& id) const {
  return path_ / kPoints / (id + ".json");
}

std::optional<Point> SweepFolder::known(const std::string& id) const {
  std::error_code error;
  if (!fs::exists(fileOf(id), error)) return std::nullopt;
  const Result<std::string> text = readTextFile(fileOf(id), kMostPointFile);
  if (!text) return std::nullopt;
  Result<Point> point = parsePoint(*text, fileOf(id).string());
  if (!point || point->id != id) return std::nullopt;
  return std::move(*point);
}

Diagnostics SweepFolder::write(const Point& point) const {
  return writeFile(fileOf(point.id), pointJson(point));
}

Diagnostics SweepFolder::writeQuestions(const SweepOptions& options) const {
  JsonWriter json(1);
  json.beginObject().key("format").value(kQuestionsFormat).key("title").value(options.title);
  json.key("models").beginArray();
  for (const std::string& model : options.models) json.value(fs::path(model).stem().string());
  json.endArray().key("define").beginArray();
  for (const Definition& definition : options.definitions) {
    json.beginObject().key("name").value(definition.name);
    json.key("expression").value(definition.expression.text).endObject();
  }
  json.endArray().key("require").beginArray();
  for (const Argument& text : options.required) json.value(text.text);
  json.endArray();
  if (options.maximized) json.key("maximize").value(options.maximized->text);
  if (options.minimized) json.key("minimize").value(options.minimized->text);
  json.endObject();
  return writeFile(path_ / kQuestions, json.take() + "\n");
}

bool isSweepFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(fs::path(path) / kPoints, error) &&
         fs::exists(fs::path(path) / kQuestions, error);
}

Result<SweepContent> readSweepFolder(const fs::path& path) {
  if (!isSweepFolder(path.string()))
    return Diagnostic{"SWEEP012", path.string(), "it is no folder of a sweep",
                      "there is no points/ with questions.json beside it",
                      "name a folder that 'heddle sweep' filled"};
  SweepContent content;
  HEDDLE_TRY(content.questions, readQuestions(path / kQuestions));
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path / kPoints))
    if (entry.path().extension() == ".json" && !entry.path().filename().string().starts_with("."))
      files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    HEDDLE_TRY(const std::string text, readTextFile(file, kMostPointFile));
    HEDDLE_TRY(Point point, parsePoint(text, file.string()));
    content.points.push_back(std::move(point));
  }
  return content;
}

}  // namespace heddle
