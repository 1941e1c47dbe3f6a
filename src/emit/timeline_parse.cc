// heddle.timeline/1, read back: the tracks. The text may come from anywhere.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "heddle/emit/timeline_json.h"
#include "timeline_columns.h"
#include "timeline_words.h"

namespace heddle {
namespace {

using Json = nlohmann::json;
using timeline_words::kColumns;

// A rolled sequence may say [1000000000, 0]: no more slices than this are unrolled, for all tracks
// together.
constexpr std::int64_t kMostSlices = 100'000'000;
constexpr std::size_t kMostInstructions = 1 << 26;
constexpr int kDeepestLoop = 32;

struct Contradiction {
  std::string what;
};

void unroll(const Json& rolled, std::size_t first, std::size_t most, int depth, ColumnValues& out) {
  if (depth > kDeepestLoop) throw Contradiction{"loops nest too deep"};
  for (std::size_t i = first; i < rolled.size(); ++i) {
    const Json& item = rolled[i];
    if (item.is_number_integer()) {
      out.push_back(item.get<std::int64_t>());
    } else {
      if (!item.is_array() || item.size() < 2 || !item[0].is_number_integer() || item[0] < 1)
        throw Contradiction{"expected a number or [count, items...]"};
      const std::int64_t count = item[0].get<std::int64_t>();
      const std::size_t before = out.size();
      unroll(item, 1, most, depth + 1, out);
      const std::size_t body = out.size() - before;
      if (body == 0 || static_cast<std::uint64_t>(count) > most / body + 1)
        throw Contradiction{"more values than slices"};
      for (std::int64_t k = 1; k < count && out.size() <= most; ++k)
        for (std::size_t b = 0; b < body; ++b) out.push_back(out[before + b]);
    }
    if (out.size() > most) throw Contradiction{"more values than slices"};
  }
}

ColumnValues unrolledUpTo(const Json& rolled, std::size_t most) {
  if (!rolled.is_array()) throw Contradiction{"expected a rolled sequence"};
  ColumnValues out;
  unroll(rolled, 0, most, 0, out);
  return out;
}

ColumnValues unrolled(const Json& rolled, std::size_t size) {
  ColumnValues out = unrolledUpTo(rolled, size);
  if (out.size() != size)
    throw Contradiction{std::to_string(out.size()) + " values for " + std::to_string(size) +
                        " slices"};
  return out;
}

std::vector<std::int32_t> layersOf(const Json& json) {
  std::vector<std::int32_t> out;
  for (const std::int64_t layer :
       unrolledUpTo(json.at("instructions").at("layer"), kMostInstructions))
    out.push_back(static_cast<std::int32_t>(layer));
  return out;
}

std::int64_t sliceCount(const Json& track) {
  const auto count = track.at("slices").get<std::int64_t>();
  if (count < 0 || count > kMostSlices) throw Contradiction{std::to_string(count) + " slices"};
  return count;
}

Track parseTrack(const Json& json, const Json& pool, const std::vector<std::int32_t>& layerOfLeaf) {
  Track track;
  const auto kind = std::find(timeline_words::kEngines.begin(), timeline_words::kEngines.end(),
                              json.at("engine").get<std::string>());
  if (kind == timeline_words::kEngines.end()) throw Contradiction{"unknown kind of engine"};
  track.engine = {static_cast<EngineKind>(kind - timeline_words::kEngines.begin()),
                  json.at("row").get<std::int32_t>(), json.at("column").get<std::int32_t>(),
                  json.at("channel").get<std::int32_t>()};
  const auto size = static_cast<std::size_t>(sliceCount(json));
  TrackColumns columns;
  columns.causeTracks = json.at("causeTracks").get<std::vector<std::int32_t>>();
  for (std::size_t c = 0; c < kColumns.size(); ++c)
    columns.columns[c] =
        unrolled(pool.at(json.at(std::string(kColumns[c])).get<std::size_t>()), size);
  std::optional<std::vector<SpanSlice>> slices = fromColumns(columns, layerOfLeaf);
  if (!slices) throw Contradiction{"columns contradict each other"};
  track.slices = std::move(*slices);
  return track;
}

Diagnostic broken(const char* code, const std::string& name, std::string summary,
                  std::string what) {
  return {code, name, std::move(summary), std::move(what),
          "take a timeline.json that heddle has written and nobody has edited"};
}

// "heddle.timeline/1" of this version, "heddle.timeline/2" of a newer one.
std::optional<Diagnostic> checkFormat(const Json& json, const std::string& name) {
  const std::string prefix = "heddle.timeline/";
  const std::string format = json.is_object() ? json.value("format", "") : "";
  if (format == timeline_words::kFormat) return std::nullopt;
  if (format.starts_with(prefix))
    return Diagnostic{
        "TIME002", name, "the timeline is of a format that this heddle does not know",
        "format '" + format + "'; known: '" + std::string(timeline_words::kFormat) + "'",
        "open it with the heddle that wrote it, or a newer one"};
  return broken("TIME001", name, "not a timeline",
                "expected a JSON object with \"format\": \"heddle.timeline/1\"");
}

}  // namespace

Result<Timeline> parseTimelineJson(const std::string& text, const std::string& name) {
  try {
    const Json json = Json::parse(text);
    if (auto wrong = checkFormat(json, name)) return *wrong;
    const std::vector<std::int32_t> layerOfLeaf = layersOf(json);
    Timeline timeline;
    timeline.makespan = Cycles(json.at("makespan").get<std::int64_t>());
    std::int64_t slices = 0;
    for (const Json& track : json.at("tracks")) {
      slices += sliceCount(track);
      if (slices > kMostSlices)
        throw Contradiction{"more than " + std::to_string(kMostSlices) + " slices"};
      timeline.tracks.push_back(parseTrack(track, json.at("columns"), layerOfLeaf));
    }
    return timeline;
  } catch (const Contradiction& contradiction) {
    return broken("TIME003", name, "the timeline contradicts itself", contradiction.what);
  } catch (const Json::parse_error& error) {
    return broken("TIME001", name, "not a timeline",
                  "not JSON at byte " + std::to_string(error.byte));
  } catch (const Json::exception& error) {
    return broken("TIME003", name, "the timeline contradicts itself", error.what());
  }
}

}  // namespace heddle
