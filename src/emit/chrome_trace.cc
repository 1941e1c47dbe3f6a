// The Chrome trace event format: a process for each tile, a thread for each engine.
//
//   {"ph":"X","pid":3,"tid":2,"ts":0.032,"dur":0.016,"name":"CONV conv1","args":{"cycles":16,...}}
//
// ts and dur are microseconds, to the picosecond; the cycles stand in args. A slice ends where the
// next begins at the latest, rounded or not.
#include <array>
#include <charconv>
#include <map>

#include "formats.h"
#include "heddle/support/json_writer.h"
#include "lanes.h"
#include "timeline_words.h"

namespace heddle {
namespace {

constexpr std::int64_t kPicoseconds = 1'000'000'000'000, kPerNanosecond = 1000;

std::int64_t picoseconds(std::int64_t cycles, Hertz clock, TimeScale scale) {
  return scale == TimeScale::Nanosecond ? cycles * kPerNanosecond
                                        : inUnits(cycles, clock, kPicoseconds);
}

// As microseconds with six decimals.
std::string microseconds(std::int64_t picoseconds) {
  std::array<char, 48> text;
  char* end = std::to_chars(text.data(), text.data() + text.size(), picoseconds / 1'000'000).ptr;
  *end++ = '.';
  const std::string rest = std::to_string(picoseconds % 1'000'000);
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

class ChromeWriter {
 public:
  ChromeWriter(const TimelineDocument& document, TimeScale scale)
      : document_(document), scale_(scale) {}

  std::string text() {
    json_.beginObject().key("displayTimeUnit").value("ns").key("otherData").beginObject();
    json_.key("model").value(document_.model).key("device").value(document_.device);
    json_.key("clockHz").value(document_.clock.raw);
    json_.key("cyclesShownAs").value(scale_ == TimeScale::Seconds ? "time" : "nanoseconds");
    json_.endObject().key("traceEvents").beginArray();
    std::map<std::string, int> processes;
    int tid = 0;
    for (const TrackLane& lane : lanesOf(document_)) {
      std::string process;
      for (const std::string& group : lane.groups) process += (process.empty() ? "" : ", ") + group;
      if (process.empty()) process = lane.name;
      const auto [at, isNew] =
          processes.try_emplace(process, static_cast<int>(processes.size()) + 1);
      if (isNew) writeName(json_, "process", at->second, 0, process, at->second);
      ++tid;
      writeName(json_, "thread", at->second, tid, lane.name, tid);
      for (const SpanSlice& slice : document_.timeline.tracks[lane.track].slices)
        write(slice, at->second, tid);
    }
    json_.endArray().endObject();
    return json_.take() + '\n';
  }

 private:
  void write(const SpanSlice& slice, int pid, int tid) {
    const TimelineInstruction& instruction =
        document_.instructions[static_cast<std::size_t>(slice.leaf)];
    const std::int64_t start = picoseconds(slice.start, document_.clock, scale_),
                       end = picoseconds(slice.end, document_.clock, scale_);
    json_.beginObject().key("ph").value("X").key("pid").value(pid).key("tid").value(tid);
    json_.key("ts").raw(microseconds(start)).key("dur").raw(microseconds(end - start));
    json_.key("name").value(sliceName(document_, slice));
    json_.key("cat").value(document_.resources[instruction.resource]);
    json_.key("args").beginObject().key("start").value(slice.start);
    json_.key("cycles").value(slice.end - slice.start).key("instruction").value(slice.leaf);
    json_.key("asmLine").value(instruction.line + 1);
    if (slice.wait != WaitKind::None) {
      json_.key("waited").value(slice.start - slice.ready);
      json_.key("for").value(timeline_words::word(slice.wait));
      if (slice.lock >= 0)
        json_.key("lock").value(lockName(document_.locks[static_cast<std::size_t>(slice.lock)]));
    }
    json_.endObject().endObject();
  }

  const TimelineDocument& document_;
  TimeScale scale_;
  JsonWriter json_;
};

}  // namespace

std::string chromeTrace(const TimelineDocument& document, TimeScale scale) {
  return ChromeWriter(document, scale).text();
}

}  // namespace heddle
