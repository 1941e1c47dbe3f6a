// The Chrome trace event format: a process for each tile, a thread for each engine. Perfetto and
// chrome://tracing open it.
//
//   {"ph":"X","pid":3,"tid":2,"ts":0.032,"dur":0.016,"name":"CONV conv1","args":{"cycles":16,...}}
//
// ts and dur are microseconds, exact to the picosecond; the cycles stand in args.
#include <array>
#include <charconv>
#include <map>

#include "heddle/emit/timeline_json.h"
#include "heddle/report/leaves.h"
#include "timeline_words.h"

namespace heddle {
namespace {

// Tile that an engine belongs to, for the eye: the sequencer, a memtile, a core, or the wires.
struct Process {
  int kind = 0;
  std::int32_t row = 0, column = 0;
  friend auto operator<=>(const Process&, const Process&) = default;
};

Process processOf(const Engine& e) {
  switch (e.kind) {
    case EngineKind::Sequencer:
      return {0, 0, 0};
    case EngineKind::Wire:
      return {1, 0, 0};
    case EngineKind::DdrIn:
    case EngineKind::DdrOut:
      return {2, 0, e.column};
    case EngineKind::CoreIn:
    case EngineKind::Core:
    case EngineKind::CoreOut:
      return {3, e.row, e.column};
  }
  return {};
}

std::string nameOf(const Process& p) {
  switch (p.kind) {
    case 0:
      return "sequencer";
    case 1:
      return "wires";
    case 2:
      return "memtile " + std::to_string(p.column);
    default:
      return "core " + std::to_string(p.row) + "," + std::to_string(p.column);
  }
}

std::string nameOf(const Engine& e, const Device& device) {
  const std::string channel = " " + std::to_string(e.channel);
  switch (e.kind) {
    case EngineKind::Sequencer:
      return "sequencer";
    case EngineKind::DdrIn:
      return "DDR in" + channel;
    case EngineKind::DdrOut:
      return "DDR out" + channel;
    case EngineKind::Wire:
      return device.wires[static_cast<std::size_t>(e.column)].name;
    case EngineKind::CoreIn:
      return "receive" + channel;
    case EngineKind::Core:
      return "core";
    case EngineKind::CoreOut:
      return "send" + channel;
  }
  return "";
}

// cycles / clock in microseconds with six decimals, by integers.
std::string microseconds(std::int64_t cycles, Hertz clock) {
  const Int128 picoseconds = roundHalfEvenDivide(Int128{cycles} * 1'000'000'000'000, clock.raw);
  std::array<char, 48> text;
  char* end = std::to_chars(text.data(), text.data() + text.size(),
                            static_cast<std::int64_t>(picoseconds / 1'000'000))
                  .ptr;
  *end++ = '.';
  const std::string rest = std::to_string(static_cast<std::int64_t>(picoseconds % 1'000'000));
  return std::string(text.data(), end) + std::string(6 - rest.size(), '0') + rest;
}

void writeName(JsonWriter& json, const char* what, int pid, int tid, const std::string& name,
               int order) {
  const auto event = [&](const std::string& kind) -> JsonWriter& {
    json.beginObject().key("ph").value("M").key("pid").value(pid).key("tid").value(tid);
    return json.key("name").value(what + kind).key("args").beginObject();
  };
  event("_name").key("name").value(name).endObject().endObject();
  event("_sort_index").key("sort_index").value(order).endObject().endObject();
}

}  // namespace

std::string chromeTrace(const Timeline& timeline, const TimelineContext& context) {
  const std::vector<LeafFacts> leaves = leafFacts(context.program);
  const Hertz clock = context.device.clock;
  std::map<Process, int> pids;
  for (const Track& track : timeline.tracks) pids.emplace(processOf(track.engine), 0);
  int pid = 0;
  for (auto& [process, id] : pids) id = ++pid;

  JsonWriter json;
  json.beginObject().key("displayTimeUnit").value("ns").key("traceEvents").beginArray();
  for (const auto& [process, id] : pids) writeName(json, "process", id, 0, nameOf(process), id);
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    const Track& track = timeline.tracks[t];
    const int tid = static_cast<int>(t) + 1, process = pids.at(processOf(track.engine));
    writeName(json, "thread", process, tid, nameOf(track.engine, context.device), tid);
    for (const SpanSlice& slice : track.slices) {
      const LeafFacts& leaf = leaves[static_cast<std::size_t>(slice.leaf)];
      const std::string& layer = context.program.layers[slice.layer.at()].name;
      json.beginObject().key("ph").value("X").key("pid").value(process).key("tid").value(tid);
      json.key("ts").raw(microseconds(slice.start, clock));
      json.key("dur").raw(microseconds(slice.end - slice.start, clock));
      json.key("name")
          .value(std::string(leaf.mnemonic) + ' ' + layer)
          .key("cat")
          .value(name(leaf.resource));
      json.key("args")
          .beginObject()
          .key("start")
          .value(slice.start)
          .key("cycles")
          .value(slice.end - slice.start);
      json.key("instruction").value(slice.leaf);
      if (slice.wait != WaitKind::None) {
        json.key("waited").value(slice.start - slice.ready);
        json.key("for").value(timeline_words::kWaits[static_cast<std::size_t>(slice.wait)]);
      }
      json.endObject().endObject();
    }
  }
  json.endArray().endObject();
  return json.take() + '\n';
}

}  // namespace heddle
