// heddle.timeline/1, read back. The text may come from anywhere.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "heddle/emit/timeline_document.h"
#include "heddle/support/json_fault.h"
#include "timeline_columns.h"
#include "timeline_words.h"

namespace heddle {
namespace {

using Json = nlohmann::json;
using timeline_words::kColumns;

constexpr std::size_t kMostInstructions = 1 << 22, kMostLocks = 1 << 20;
constexpr std::size_t kMostCounterValues = 1 << 20;  // of all counters
constexpr std::int64_t kMostEngines = 1 << 20;       // rows, columns, channels, ...
constexpr int kDeepestLoop = 32;

struct Contradiction {
  std::string what;
};

[[noreturn]] void contradiction(std::string what) { throw Contradiction{std::move(what)}; }

std::int64_t integer(const Json& json) {
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    contradiction("a number is too large");
  if (!json.is_number_integer()) contradiction("expected a whole number");
  return json.get<std::int64_t>();
}

template <class Number = std::int64_t>
Number integer(const Json& object, const char* key, std::int64_t low, std::int64_t high) {
  const std::int64_t value = integer(object.at(key));
  if (value < low || value > high)
    contradiction("'" + std::string(key) + "' is " + std::to_string(value));
  return static_cast<Number>(value);
}

// ---- rolled sequences ----

void unroll(const Json& rolled, std::size_t first, std::size_t most, int depth, ColumnValues& out) {
  if (depth > kDeepestLoop) contradiction("loops nest too deep");
  for (std::size_t i = first; i < rolled.size(); ++i) {
    const Json& item = rolled[i];
    if (item.is_number()) {
      out.push_back(integer(item));
    } else {
      if (!item.is_array() || item.size() < 2) contradiction("expected [count, items...]");
      const std::int64_t count = integer(item[0]);
      const std::size_t before = out.size();
      unroll(item, 1, most, depth + 1, out);
      const std::size_t body = out.size() - before;
      if (count < 1 || body == 0 || static_cast<std::uint64_t>(count) > most / body + 1)
        contradiction("a loop of " + std::to_string(count));
      for (std::int64_t k = 1; k < count && out.size() <= most; ++k)
        for (std::size_t b = 0; b < body; ++b) out.push_back(out[before + b]);
    }
    if (out.size() > most) contradiction("more values than " + std::to_string(most));
  }
}

ColumnValues unrolledUpTo(const Json& rolled, std::size_t most) {
  if (!rolled.is_array()) contradiction("expected a rolled sequence");
  ColumnValues out;
  unroll(rolled, 0, most, 0, out);
  return out;
}

ColumnValues unrolled(const Json& rolled, std::size_t size) {
  ColumnValues out = unrolledUpTo(rolled, size);
  if (out.size() != size)
    contradiction(std::to_string(out.size()) + " values for " + std::to_string(size) + " entries");
  return out;
}

// A column of instructions or locks whose values lie in [low, high].
ColumnValues column(const Json& object, const char* key, std::size_t size, std::int64_t low,
                    std::int64_t high) {
  ColumnValues values = unrolled(object.at(key), size);
  for (const std::int64_t value : values)
    if (value < low || value > high)
      contradiction("'" + std::string(key) + "' has " + std::to_string(value));
  return values;
}

// ---- entries ----

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

std::int64_t lastOf(const auto& list) { return std::ssize(list) - 1; }

void readDevice(const Json& json, TimelineDocument& document) {
  document.device = json.at("name").get<std::string>();
  document.rows = integer(json, "rows", 1, kMostEngines);
  document.columns = integer(json, "columns", 1, kMostEngines);
  document.clock.raw = integer(json, "clockHz", 1, kAny);
  for (const Json& wire : json.at("wires"))
    document.wires.push_back(wire.at("name").get<std::string>());
}

void readInstructions(const Json& json, TimelineDocument& document) {
  document.mnemonics = json.at("mnemonics").get<std::vector<std::string>>();
  document.resources = json.at("resources").get<std::vector<std::string>>();
  const std::size_t size = unrolledUpTo(json.at("layer"), kMostInstructions).size();
  const ColumnValues layer = column(json, "layer", size, 0, lastOf(document.layers)),
                     resource = column(json, "resource", size, 0, lastOf(document.resources)),
                     mnemonic = column(json, "mnemonic", size, 0, lastOf(document.mnemonics)),
                     bytes = column(json, "bytes", size, 0, kAny),
                     macs = column(json, "macs", size, 0, kAny),
                     line = column(json, "line", size, 0, kAny);
  for (std::size_t i = 0; i < size; ++i)
    document.instructions.push_back(
        {LayerId(static_cast<std::size_t>(layer[i])), static_cast<std::size_t>(resource[i]),
         static_cast<std::size_t>(mnemonic[i]), bytes[i], macs[i], line[i]});
}

void readLocks(const Json& json, std::int64_t tracks, TimelineDocument& document) {
  const auto kinds = json.at("tileKinds").get<std::vector<std::string>>();
  if (!std::equal(kinds.begin(), kinds.end(), timeline_words::kTiles.begin(),
                  timeline_words::kTiles.end()))
    contradiction("unknown kinds of tiles");
  const std::size_t size = unrolledUpTo(json.at("index"), kMostLocks).size();
  const ColumnValues kind = column(json, "tileKind", size, 0, lastOf(kinds)),
                     row = column(json, "row", size, 0, kMostEngines),
                     at = column(json, "column", size, 0, kMostEngines),
                     index = column(json, "index", size, 0, kMostEngines),
                     producer = column(json, "producer", size, -1, tracks - 1),
                     consumer = column(json, "consumer", size, -1, tracks - 1);
  const auto small = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  for (std::size_t i = 0; i < size; ++i)
    document.locks.push_back({{static_cast<TileKind>(kind[i]), small(row[i]), small(at[i])},
                              small(index[i]),
                              small(producer[i]),
                              small(consumer[i])});
}

void readCounters(const Json& json, TimelineDocument& document) {
  document.counterStep = integer(json, "step", 1, kAny);
  std::size_t left = kMostCounterValues;
  for (const Json& series : json.at("series")) {
    document.counters.push_back(
        {series.at("name").get<std::string>(), series.at("unit").get<std::string>(),
         integer(series, "most", 0, kAny), unrolledUpTo(series.at("values"), left)});
    left -= document.counters.back().values.size();
  }
}

Engine readEngine(const Json& json, const TimelineDocument& document) {
  const auto kind = std::find(timeline_words::kEngines.begin(), timeline_words::kEngines.end(),
                              json.at("engine").get<std::string>());
  if (kind == timeline_words::kEngines.end()) contradiction("unknown kind of engine");
  const auto engine = static_cast<EngineKind>(kind - timeline_words::kEngines.begin());
  const std::int64_t columns =
      engine == EngineKind::Wire ? std::ssize(document.wires) : document.columns;
  return {engine, integer<std::int32_t>(json, "row", 0, document.rows - 1),
          integer<std::int32_t>(json, "column", 0, columns - 1),
          integer<std::int32_t>(json, "channel", 0, kMostEngines)};
}

Track readTrack(const Json& json, const Json& pool, const std::vector<std::int32_t>& layerOfLeaf,
                const TimelineDocument& document, std::int64_t mostSlices) {
  Track track{readEngine(json, document), {}};
  const auto size = integer<std::size_t>(json, "slices", 0, mostSlices);
  TrackColumns columns;
  for (const Json& cause : json.at("causeTracks")) {
    const std::int64_t number = integer(cause);
    if (number < 0 || number > kMostEngines)
      contradiction("a cause in track " + std::to_string(number));
    columns.causeTracks.push_back(static_cast<std::int32_t>(number));
  }
  for (std::size_t c = 0; c < kColumns.size(); ++c)
    columns.columns[c] =
        unrolled(pool.at(integer<std::size_t>(json, kColumns[c].data(), 0, lastOf(pool))), size);
  std::optional<std::vector<SpanSlice>> slices = fromColumns(columns, layerOfLeaf);
  if (!slices) contradiction("columns of a track contradict each other");
  track.slices = std::move(*slices);
  return track;
}

// ---- what slices name, and their times ----

void checkSlices(const Track& track, const TimelineDocument& document) {
  const auto within = [](std::int64_t value, std::int64_t low, const auto& list) {
    return value >= low && value < std::ssize(list);
  };
  const std::vector<Track>& tracks = document.timeline.tracks;
  std::int64_t end = 0;
  for (const SpanSlice& s : track.slices) {
    if (s.start < end || s.end < s.start || s.end > document.timeline.makespan.raw() ||
        s.ready < 0 || s.ready > s.start)
      contradiction("a slice from " + std::to_string(s.start) + " to " + std::to_string(s.end) +
                    ", ready at " + std::to_string(s.ready) + ", after one that ends at " +
                    std::to_string(end));
    end = s.end;
    if (!within(s.leaf, 0, document.instructions) || !within(s.layer.index, 0, document.layers) ||
        !within(s.lock, -1, document.locks))
      contradiction("a slice of instruction " + std::to_string(s.leaf) + ", layer " +
                    std::to_string(s.layer.index) + ", lock " + std::to_string(s.lock));
    if (s.cause.track < 0) continue;
    if (!within(s.cause.track, 0, tracks) ||
        !within(s.cause.index, -1, tracks[static_cast<std::size_t>(s.cause.track)].slices))
      contradiction("a cause at " + std::to_string(s.cause.index) + " of track " +
                    std::to_string(s.cause.track));
  }
}

TimelineDocument readDocument(const Json& json, std::int64_t mostSlices) {
  TimelineDocument document;
  document.model = json.at("model").get<std::string>();
  readDevice(json.at("device"), document);
  for (const Json& layer : json.at("report").at("layers"))
    document.layers.push_back(layer.at("name").get<std::string>());
  readInstructions(json.at("instructions"), document);
  const Json& tracks = json.at("tracks");
  const Json& pool = json.at("columns");
  if (!tracks.is_array() || !pool.is_array()) contradiction("'tracks' or 'columns' is no array");
  readLocks(json.at("locks"), std::ssize(tracks), document);
  readCounters(json.at("counters"), document);
  const auto waits = json.at("waitKinds").get<std::vector<std::string>>();
  // Kinds behind the known ones do no harm where nothing waits for them: older files have one.
  constexpr auto& known = timeline_words::kWaits;
  if (waits.size() < known.size() || !std::equal(known.begin(), known.end(), waits.begin()))
    contradiction("unknown kinds of waits");
  std::vector<std::int32_t> layerOfLeaf;
  for (const TimelineInstruction& i : document.instructions) layerOfLeaf.push_back(i.layer.index);
  Timeline& timeline = document.timeline;
  timeline.makespan = Cycles(integer(json, "makespan", 0, kAny));
  for (const Json& track : tracks) {
    timeline.tracks.push_back(readTrack(track, pool, layerOfLeaf, document, mostSlices));
    mostSlices -= std::ssize(timeline.tracks.back().slices);
  }
  for (const Track& track : timeline.tracks) checkSlices(track, document);
  return document;
}

Diagnostic broken(const char* code, const std::string& name, std::string summary,
                  std::string what) {
  return {code, name, std::move(summary), std::move(what),
          "take a timeline.json that heddle has written and nobody has edited"};
}

// "heddle.timeline/1" of this version, "heddle.timeline/2" of a newer one.
std::optional<Diagnostic> checkFormat(const Json& json, const std::string& name) {
  const std::string prefix = "heddle.timeline/";
  const auto at = json.is_object() ? json.find("format") : json.end();
  const std::string format =
      at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
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

Result<TimelineDocument> parseTimelineJson(const std::string& text, const std::string& name,
                                           std::int64_t mostSlices) {
  try {
    if (const auto fault = jsonFault(text))
      return broken("TIME001", name, "not a timeline", *fault);
    const Json json = Json::parse(text);
    if (auto wrong = checkFormat(json, name)) return *wrong;
    return readDocument(json, mostSlices);
  } catch (const Contradiction& contradiction) {
    return broken("TIME003", name, "the timeline contradicts itself", contradiction.what);
  } catch (const Json::exception& error) {
    return broken("TIME003", name, "the timeline contradicts itself", error.what());
  }
}

}  // namespace heddle
