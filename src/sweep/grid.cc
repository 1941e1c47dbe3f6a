#include "grid.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

namespace heddle {
namespace {

constexpr std::int64_t kMostRows = 64;  // as a description may have, and of columns
constexpr std::size_t kMostKeys = 64;   // of one axis

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
        numbers.good && first && last && *first >= 1 && *first <= *last && *last <= kMostRows;
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

// All settings of the command line and file, then those of the axes at position `index`.
DeviceOverrides designAt(const std::optional<Mesh>& mesh, const std::vector<VaryAxis>& axes,
                         const std::vector<std::pair<std::string, std::string>>& settings,
                         std::int64_t index) {
  DeviceOverrides design{.mesh = mesh, .settings = settings};
  std::vector<std::string> values(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    const auto count = static_cast<std::int64_t>(axes[a].values.size());
    values[a] = axes[a].values[static_cast<std::size_t>(index % count)];
    index /= count;
  }
  for (std::size_t a = 0; a < axes.size(); ++a)
    for (const std::string& key : axes[a].keys) design.settings.emplace_back(key, values[a]);
  return design;
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

Result<std::vector<DeviceOverrides>> readDesigns(const SweepOptions& options) {
  HEDDLE_TRY(const std::vector<std::optional<Mesh>> meshes, allMeshes(options));
  std::vector<std::pair<std::string, std::string>> settings;
  for (const Argument& text : options.settings) {
    const std::size_t equals = text.text.find('=');
    if (equals == std::string::npos || equals == 0)
      return faultAt(text.where, "SWEEP002", "'" + text.text + "' is not KEY=VALUE", "",
                     "write it like 'links.ddr.read=2GB/s'");
    settings.emplace_back(text.text.substr(0, equals), text.text.substr(equals + 1));
  }
  std::vector<VaryAxis> axes;
  std::int64_t combinations = 1;
  for (const Argument& text : options.varied) {
    HEDDLE_TRY(VaryAxis axis, readAxis(text));
    combinations *= static_cast<std::int64_t>(axis.values.size());
    combinations = std::min(combinations, kMostPoints + 1);
    axes.push_back(std::move(axis));
  }
  const auto points = combinations * static_cast<std::int64_t>(meshes.size()) *
                      static_cast<std::int64_t>(options.models.size());
  if (points > kMostPoints || meshes.empty())
    return faultAt("--mesh, --vary", "SWEEP003",
                   meshes.empty() ? "no mesh is left" : "the sweep has too many points",
                   meshes.empty() ? "--square keeps those with as many rows as columns"
                                  : "at most " + std::to_string(kMostPoints),
                   meshes.empty() ? "leave --square out" : "narrow the ranges");
  std::vector<DeviceOverrides> designs;
  for (const std::optional<Mesh>& mesh : meshes)
    for (std::int64_t i = 0; i < combinations; ++i)
      designs.push_back(designAt(mesh, axes, settings, i));
  return designs;
}

Result<std::int64_t> numberOf(const Argument& text, std::int64_t least, std::int64_t most,
                              const std::string& what) {
  const auto number = wholeNumber(text.text);
  if (number && *number >= least && *number <= most) return *number;
  return faultAt(text.where, "SWEEP004", "'" + text.text + "' is no " + what,
                 "from " + std::to_string(least) + " to " + std::to_string(most),
                 "write it like '" + std::to_string(least) + "'");
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
