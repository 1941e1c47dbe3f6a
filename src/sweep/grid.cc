#include "grid.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

namespace heddle {
namespace {

constexpr std::size_t kMostKeys = 64;  // of one axis

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> wholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Numbers {
  std::vector<std::int64_t> all;
  bool good = true;
};

// "1..4", "2" and "1,2,4"
Numbers readNumbers(std::string_view text) {
  Numbers numbers;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dots = part.find("..");
    const auto first = wholeNumber(part.substr(0, dots));
    const auto last = dots == std::string_view::npos ? first : wholeNumber(part.substr(dots + 2));
    numbers.good =
        numbers.good && first && last && *first >= 1 && *first <= *last && *last <= kMostMeshSide;
    if (!numbers.good) return numbers;
    for (std::int64_t n = *first; n <= *last; ++n) numbers.all.push_back(n);
  }
  return numbers;
}

// "1..8x1..8": every row with every column. False where it is none.
bool addRectangle(std::string_view text, std::vector<Mesh>& meshes) {
  const std::size_t x = text.find('x');
  if (x == std::string_view::npos) return false;
  const Numbers rows = readNumbers(text.substr(0, x)), columns = readNumbers(text.substr(x + 1));
  if (!rows.good || !columns.good) return false;
  for (const std::int64_t row : rows.all)
    for (const std::int64_t column : columns.all) meshes.emplace_back(row, column);
  return true;
}

// "a.{b,c}.d" as a.b.d and a.c.d. Nothing where braces do not match or hold nothing.
std::optional<std::vector<std::string>> expandBraces(std::string_view text) {
  const std::size_t open = text.find('{'), close = text.find('}');
  if (open == std::string_view::npos && close == std::string_view::npos)
    return text.empty() ? std::nullopt : std::optional(std::vector{std::string(text)});
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  std::vector<std::string> keys;
  for (const std::string_view word : split(text.substr(open + 1, close - open - 1), ',')) {
    const auto rest = expandBraces(std::string(text.substr(0, open)) + std::string(word) +
                                   std::string(text.substr(close + 1)));
    if (word.empty() || !rest) return std::nullopt;
    keys.insert(keys.end(), rest->begin(), rest->end());
    if (keys.size() > kMostKeys) return std::nullopt;
  }
  return keys;
}

Result<std::vector<std::optional<Mesh>>> allMeshes(const SweepOptions& options) {
  std::vector<std::optional<Mesh>> meshes;
  std::set<Mesh> known;
  for (const Argument& text : options.meshes) {
    HEDDLE_TRY(const std::vector<Mesh> some, readMeshes(text));
    for (const Mesh& mesh : some) {
      const bool wanted = !options.square.value_or(false) || mesh.first == mesh.second;
      if (wanted && known.insert(mesh).second) meshes.emplace_back(mesh);
    }
  }
  if (options.meshes.empty()) meshes.emplace_back();
  return meshes;
}

}  // namespace

Diagnostic faultAt(const std::string& where, const char* code, std::string summary,
                   std::string what, std::string mend) {
  return {code,
          where,
          std::move(summary),
          std::move(what),
          std::move(mend),
          where.starts_with("--") ? Severity::Usage : Severity::BadInput};
}

Result<std::vector<Mesh>> readMeshes(const Argument& text) {
  std::vector<Mesh> meshes;
  // With several 'x' the commas part meshes, with one they part numbers.
  bool good = true;
  if (std::ranges::count(text.text, 'x') == 1) {
    good = addRectangle(text.text, meshes);
  } else {
    for (const std::string_view part : split(text.text, ','))
      good = good && addRectangle(part, meshes);
  }
  if (good) return meshes;
  return faultAt(text.where, "SWEEP001", "'" + text.text + "' is not rows x columns",
                 "each from 1 to 64", "write it like '1..8x1..8', '4x4,8x8' or '1,2,4x4'");
}

Result<VaryAxis> readAxis(const Argument& text) {
  const std::size_t equals = text.text.find('=');
  const auto fault = [&](std::string summary, std::string mend) {
    return faultAt(text.where, "SWEEP002", std::move(summary), "", std::move(mend));
  };
  const std::string example = "write it like 'links.ddr.read=2GB/s,4GB/s'";
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.text.size())
    return fault("'" + text.text + "' is not KEY=VALUE,VALUE", example);
  auto keys = expandBraces(std::string_view(text.text).substr(0, equals));
  if (!keys)
    return fault("the braces of '" + text.text.substr(0, equals) + "' do not match",
                 "write it like 'links.{wire,memtile.read}=4GB/s,8GB/s'");
  VaryAxis axis{.keys = std::move(*keys), .values = {}};
  for (const std::string_view value : split(std::string_view(text.text).substr(equals + 1), ',')) {
    if (value.empty()) return fault("a value of '" + text.text + "' is empty", example);
    axis.values.emplace_back(value);
  }
  return axis;
}

Result<Grid> Grid::read(const SweepOptions& options, std::size_t masks, std::size_t batches) {
  Grid grid;
  HEDDLE_TRY(grid.meshes_, allMeshes(options));
  if (grid.meshes_.empty())
    return faultAt("--mesh", "SWEEP003", "no mesh is left",
                   "--square keeps those with as many rows as columns", "leave --square out");
  HEDDLE_DO(grid.readKeys(options));
  grid.lengths_.push_back(grid.meshes_.size());
  for (const VaryAxis& axis : grid.axes_) grid.lengths_.push_back(axis.values.size());
  grid.lengths_.push_back(masks);
  grid.lengths_.push_back(batches);
  for (const std::size_t length : grid.lengths_) {
    const auto times = static_cast<std::int64_t>(length);
    if (grid.size_ > kMostPlaces / times)
      return faultAt("--mesh, --vary", "SWEEP003", "the grid has too many places",
                     "at most " + std::to_string(kMostPlaces), "narrow the ranges");
    grid.size_ *= times;
  }
  return grid;
}

// Of --set and --vary, those of the file last: of them the keys stay that nobody else has named.
Result<void> Grid::readKeys(const SweepOptions& options) {
  for (const bool ofFile : {false, true}) {
    for (const Argument& text : options.settings) {
      if (text.ofFile != ofFile) continue;
      const std::size_t equals = text.text.find('=');
      if (equals == std::string::npos || equals == 0)
        return faultAt(text.where, "SWEEP002", "'" + text.text + "' is not KEY=VALUE", "",
                       "write it like 'links.ddr.read=2GB/s'");
      const std::string key = text.text.substr(0, equals);
      HEDDLE_TRY(const bool isNew, take(key, text, options));
      if (isNew) settings_.emplace_back(key, text.text.substr(equals + 1));
    }
    for (const Argument& text : options.varied) {
      if (text.ofFile != ofFile) continue;
      HEDDLE_TRY(VaryAxis axis, readAxis(text));
      std::vector<std::string> keys;
      for (std::string& key : axis.keys) {
        HEDDLE_TRY(const bool isNew, take(key, text, options));
        if (isNew) keys.push_back(std::move(key));
      }
      axis.keys = std::move(keys);
      if (!axis.keys.empty()) axes_.push_back(std::move(axis));
    }
  }
  return {};
}

// Whether a key has its values from `text`; not where one of a file is named again outside of it.
Result<bool> Grid::take(const std::string& key, const Argument& text, const SweepOptions& options) {
  const auto twice = [&](const std::string& other, const std::string& mend) {
    return faultAt(text.where, "SWEEP002", "'" + key + "' is given twice", "also in " + other,
                   mend);
  };
  if ((key == "rows" || key == "columns") && !options.meshes.empty()) {
    const Argument& mesh = options.meshes.front();
    if (text.ofFile && !mesh.ofFile) return false;
    return twice(mesh.where, "leave one of the two out");
  }
  const auto [known, fresh] = givenBy_.try_emplace(key, text);
  if (fresh) return true;
  if (text.ofFile && !known->second.ofFile) return false;
  return twice(known->second.where, "give it once: its values are parted by commas");
}

std::vector<std::size_t> Grid::stepsAt(std::int64_t place) const {
  std::vector<std::size_t> steps(lengths_.size());
  for (std::size_t a = lengths_.size(); a-- > 0;) {
    const auto length = static_cast<std::int64_t>(lengths_[a]);
    steps[a] = static_cast<std::size_t>(place % length);
    place /= length;
  }
  return steps;
}

DeviceOverrides Grid::overridesAt(std::int64_t place) const {
  const std::vector<std::size_t> steps = stepsAt(place);
  DeviceOverrides overrides{.mesh = meshes_[steps.front()], .settings = settings_};
  for (std::size_t a = 0; a < axes_.size(); ++a)
    for (const std::string& key : axes_[a].keys)
      overrides.settings.emplace_back(key, axes_[a].values[steps[a + 1]]);
  return overrides;
}

std::size_t Grid::masksAt(std::int64_t place) const { return stepsAt(place).end()[-2]; }
std::size_t Grid::batchAt(std::int64_t place) const { return stepsAt(place).back(); }

std::vector<std::size_t> Grid::meshesBeside(std::size_t mesh) const {
  const std::optional<Mesh>& mine = meshes_[mesh];
  if (!mine) return {};
  // In each of the four directions the nearest.
  std::array<std::optional<std::size_t>, 4> nearest;
  for (std::size_t other = 0; other < meshes_.size(); ++other) {
    const auto rows = meshes_[other]->first - mine->first,
               columns = meshes_[other]->second - mine->second;
    if ((rows == 0) == (columns == 0)) continue;
    const std::size_t direction = (rows != 0 ? 0U : 2U) + (rows + columns > 0 ? 1U : 0U);
    const auto far = [&](std::size_t one) {
      return std::abs(meshes_[one]->first - mine->first) +
             std::abs(meshes_[one]->second - mine->second);
    };
    std::optional<std::size_t>& best = nearest[direction];
    if (!best || far(other) < far(*best)) best = other;
  }
  std::vector<std::size_t> beside;
  for (const auto& one : nearest)
    if (one) beside.push_back(*one);
  if (!beside.empty()) return beside;
  if (mesh > 0) beside.push_back(mesh - 1);
  if (mesh + 1 < meshes_.size()) beside.push_back(mesh + 1);
  return beside;
}

std::vector<std::int64_t> Grid::neighbours(std::int64_t place) const {
  const std::vector<std::size_t> steps = stepsAt(place);
  std::vector<std::int64_t> all;
  std::int64_t stride = 1;  // between places that differ by one step of an axis
  for (std::size_t a = lengths_.size(); a-- > 0;) {
    std::vector<std::size_t> beside;
    if (a == 0) {
      beside = meshesBeside(steps[a]);
    } else {
      if (steps[a] > 0) beside.push_back(steps[a] - 1);
      if (steps[a] + 1 < lengths_[a]) beside.push_back(steps[a] + 1);
    }
    for (const std::size_t step : beside)
      all.push_back(
          place + stride * (static_cast<std::int64_t>(step) - static_cast<std::int64_t>(steps[a])));
    stride *= static_cast<std::int64_t>(lengths_[a]);
  }
  std::ranges::sort(all);
  return all;
}

std::vector<std::pair<std::string, std::string>> Grid::allSettings() const {
  std::set<std::pair<std::string, std::string>> all(settings_.begin(), settings_.end());
  for (const VaryAxis& axis : axes_)
    for (const std::string& key : axis.keys)
      for (const std::string& value : axis.values) all.emplace(key, value);
  return {all.begin(), all.end()};
}

Result<std::chrono::duration<double>> readTime(const Argument& text) {
  constexpr double kMostSeconds = 1e7;
  double value = 0;
  const char* last = text.text.data() + text.text.size();
  const auto [end, error] = std::from_chars(text.text.data(), last, value);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error == std::errc() && seconds > 0 && value > 0 && value * seconds <= kMostSeconds)
    return std::chrono::duration<double>(value * seconds);
  return faultAt(text.where, "SWEEP004", "'" + text.text + "' is no time", "",
                 "write it like '90s', '5m' or '2h'");
}

Result<std::int64_t> numberOf(const Argument& text, std::int64_t least, std::int64_t most,
                              const std::string& what) {
  const auto number = wholeNumber(text.text);
  if (number && *number >= least && *number <= most) return *number;
  return faultAt(text.where, "SWEEP004", "'" + text.text + "' is no " + what,
                 "from " + std::to_string(least) + " to " + std::to_string(most),
                 "write it like '" + std::to_string(least) + "'");
}

Result<std::vector<std::int64_t>> readBatches(const std::optional<Argument>& text) {
  if (!text) return std::vector<std::int64_t>{1};
  std::vector<std::int64_t> batches;
  std::string_view rest = text->text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    HEDDLE_TRY(const std::int64_t batch, numberOf({std::string(rest.substr(0, comma)), text->where},
                                                  1, kMaxBatch, "number of inferences of a frame"));
    batches.push_back(batch);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return batches;
}

Result<std::pair<std::int64_t, std::int64_t>> readShard(const std::optional<Argument>& shard) {
  if (!shard) return std::pair<std::int64_t, std::int64_t>{0, 1};
  const std::string_view text = shard->text;
  const std::size_t slash = text.find('/');
  const auto index = wholeNumber(text.substr(0, slash));
  const auto count =
      slash == std::string_view::npos ? std::nullopt : wholeNumber(text.substr(slash + 1));
  if (index && count && *index >= 1 && *index <= *count) return std::pair{*index - 1, *count};
  return faultAt(shard->where, "SWEEP004", "'" + shard->text + "' is not the I-th of N parts", "",
                 "write it like '1/4', the first of four");
}

}  // namespace heddle
