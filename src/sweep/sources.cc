#include "sources.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "heddle/device/device.h"
#include "heddle/device/keys.h"
#include "heddle/driver/files.h"
#include "heddle/driver/sha256.h"
#include "heddle/planner/fuse.h"
#include "heddle/support/json_fault.h"
#include "heddle/support/json_writer.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSources = "sources.json";
constexpr const char* kSourcesFormat = "heddle.sources/1";
constexpr const char* kDevices = "devices";
constexpr std::uintmax_t kMostSources = std::uintmax_t{1} << 24;
constexpr std::size_t kNameDigits = 20;

struct Source {
  std::string file, masks;  // as seen from the folder; the second may be empty
  bool applyMasks = false;
};
using Sources = std::map<std::string, Source>;  // by the network's hash

std::string seenFrom(const fs::path& folder, const std::string& file) {
  if (file.empty()) return {};
  std::error_code error;
  const fs::path relative = fs::relative(file, folder, error);
  return error || relative.empty() ? fs::absolute(file, error).string() : relative.string();
}

// Nothing where there is no such file, or none of this form: a sweep writes it anew.
Sources readSources(const fs::path& folder) {
  Sources all;
  const Result<std::string> text = readTextFile(folder / kSources, kMostSources);
  if (!text) return all;
  if (jsonFault(*text)) return all;
  try {
    const auto json = nlohmann::json::parse(*text);
    if (json.at("format") != kSourcesFormat) return all;
    for (const auto& [sha256, source] : json.at("networks").items())
      all[sha256] = {source.at("file"), source.at("masks"), source.at("applyMasks")};
  } catch (const nlohmann::json::exception&) {
    all.clear();
  }
  return all;
}

std::string sourcesJson(const Sources& sources) {
  JsonWriter json(1);
  json.beginObject().key("format").value(kSourcesFormat).key("networks").beginObject();
  for (const auto& [sha256, source] : sources) {
    json.key(sha256).beginObject().key("file").value(source.file);
    json.key("masks").value(source.masks).key("applyMasks").value(source.applyMasks).endObject();
  }
  json.endObject().endObject();
  return json.take() + "\n";
}

Diagnostic cannotAgain(const Point& point, std::string what, std::string mend) {
  return {"SWEEP016", "point " + point.id, "it cannot be compiled again", std::move(what),
          std::move(mend)};
}

DeviceOverrides overridesOf(const Point& point) {
  DeviceOverrides overrides{.mesh = std::nullopt, .settings = settingsOf(point.numbers)};
  const auto rows = numberIn(point.values, "rows"), columns = numberIn(point.values, "cols");
  const auto isSide = [](double side) { return side >= 1 && side <= kMostMeshSide; };
  if (rows && columns && isSide(*rows) && isSide(*columns))
    overrides.mesh = {static_cast<std::int64_t>(*rows), static_cast<std::int64_t>(*columns)};
  return overrides;
}

// The description in `folder` that the point's keys make its device of.
Result<fs::path> descriptionOf(const fs::path& folder, const Point& point) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / kDevices, error))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const Result<Device> device = readDevice(file.string(), overridesOf(point));
    if (device && sha256(printDevice(*device)) == point.deviceSha256) return file;
  }
  return cannotAgain(point,
                     "no description in " + (folder / kDevices).string() + " gives its device",
                     "sweep into the folder again, with the description that the point is of");
}

// Whether the files are what the point is of: its hash is the model's, or of both.
Result<void> checkSource(const Point& point, const std::string& file, const std::string& masks) {
  HEDDLE_TRY(const std::string model, sha256OfFile(file));
  if (model == point.modelSha256) return {};
  if (!masks.empty()) {
    HEDDLE_TRY(const std::string dropped, sha256OfFile(masks));
    if (sha256(model + dropped) == point.modelSha256) return {};
  }
  return cannotAgain(point, file + " has changed since",
                     "sweep again with the network as it is now");
}

std::uint64_t seedOf(const std::string& settings) {
  const std::string key = "seed=";
  const std::size_t at = settings.find(key);
  return at == std::string::npos ? 1
                                 : std::strtoull(settings.c_str() + at + key.size(), nullptr, 10);
}

}  // namespace

Diagnostics writeSources(const fs::path& folder, const SweepOptions& options,
                         const SweepNetworks& networks, const DeviceDescription& description) {
  Sources all = readSources(folder);
  for (std::size_t i = 0; i < networks.size(); ++i)
    all[networks.at(i).modelSha256] = {seenFrom(folder, options.models[i % networks.each()]),
                                       seenFrom(folder, networks.masksFileOf(i)),
                                       options.applyMasks.value_or(false)};
  if (Diagnostics faults = writeFile(folder / kSources, sourcesJson(all)); !faults.empty())
    return faults;
  std::error_code error;
  fs::create_directories(folder / kDevices, error);  // what is wrong with it, writing says
  const std::string name = sha256(description.text()).substr(0, kNameDigits) + ".yaml";
  return writeFile(folder / kDevices / name, description.text());
}

Result<CompileOptions> againOf(const fs::path& folder, const Point& point) {
  if (point.numbers.empty())
    return cannotAgain(point, "there is no such device: " + textIn(point.values, "reason"),
                       "choose a point that has a time");
  const Sources sources = readSources(folder);
  const auto source = sources.find(point.modelSha256);
  if (source == sources.end())
    return cannotAgain(point, (folder / kSources).string() + " does not say where its network lies",
                       "sweep into the folder again");
  const auto fromFolder = [&](const std::string& file) {
    return file.empty() ? file : (folder / file).lexically_normal().string();
  };
  CompileOptions again;
  again.model = {.path = fromFolder(source->second.file),
                 .shapes = {},
                 .masks = fromFolder(source->second.masks),
                 .applyMasks = source->second.applyMasks,
                 .propagate = numberIn(point.values, "propagate") != 0.0,
                 .batch = static_cast<std::int64_t>(numberIn(point.values, "batch").value_or(1))};
  HEDDLE_DO(checkSource(point, again.model.path, again.model.masks));
  HEDDLE_TRY(const fs::path description, descriptionOf(folder, point));
  again.device = description.string();
  again.overrides = overridesOf(point);
  again.plan.effort = static_cast<int>(numberIn(point.values, "effort").value_or(kUsualPlanEffort));
  again.plan.reorder = numberIn(point.values, "reorder") != 0.0;
  if (readFuse(textIn(point.values, "fuse"), again.plan))
    return cannotAgain(point, "'" + textIn(point.values, "fuse") + "' is no group of layers",
                       "sweep into the folder again");
  again.plan.frames = static_cast<std::int64_t>(numberIn(point.values, "frames").value_or(1));
  again.verify = numberIn(point.values, "proved") == 1.0;
  again.seed = seedOf(point.settings);
  return again;
}

}  // namespace heddle
