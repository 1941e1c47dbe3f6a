// Perfetto's own format: TrackEvents in tracks that nest as column > tile > lane, in this order.
//
// Each wait for a lock is a flow from the slice that released it to the one that waited; a flow is
// one chain, so a slice that ends several waits begins several. Names are written once and referred
// to by number. Timestamps are whole nanoseconds: a cycle of 0.8 ns is rounded, its number stands
// in the slice's annotations.
#include <perfetto.pb.h>

#include <algorithm>
#include <map>

#include "formats.h"
#include "lanes.h"
#include "timeline_words.h"

namespace heddle {
namespace {

constexpr std::uint32_t kSequence = 1, kStateCleared = 1, kNeedsState = 2;
constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::uint64_t kRoot = 1;

// Strings by number, from 1.
class Interned {
 public:
  std::uint64_t operator()(const std::string& text) {
    const auto [at, isNew] = numbers_.try_emplace(text, numbers_.size() + 1);
    return at->second;
  }
  void write(google::protobuf::RepeatedPtrField<perfetto::InternedString>& out) const {
    for (const auto& [text, number] : numbers_) {
      perfetto::InternedString& entry = *out.Add();
      entry.set_iid(number);
      entry.set_str(text);
    }
  }

 private:
  std::map<std::string, std::uint64_t> numbers_;
};

class PerfettoWriter {
 public:
  PerfettoWriter(const TimelineDocument& document, TimeScale scale)
      : document_(document), scale_(scale), flowsOut_(document.timeline.tracks.size()) {
    std::uint64_t flow = 0;
    for (const Track& track : document.timeline.tracks)
      for (const SpanSlice& slice : track.slices)
        if (isFlow(slice))
          flowsOut_[static_cast<std::size_t>(slice.cause.track)].emplace(slice.cause.index, ++flow);
    for (std::uint64_t first = 0; const Track& track : document.timeline.tracks) {
      flowsIn_.push_back(first);
      for (const SpanSlice& slice : track.slices) first += isFlow(slice);
    }
  }

  std::string text() {
    track(kRoot, 0, document_.model + " on " + document_.device);
    for (const TrackLane& lane : lanesOf(document_)) addLane(lane);
    for (std::size_t c = 0; c < document_.counters.size(); ++c) addCounter(c);
    return strings() + tracks_ + events_;  // the events have said which strings there are
  }

 private:
  static bool isFlow(const SpanSlice& slice) {
    return slice.wait == WaitKind::Lock && slice.cause.track >= 0 && slice.cause.index >= 0;
  }

  std::uint64_t nanoseconds(std::int64_t cycles) const {
    return static_cast<std::uint64_t>(
        scale_ == TimeScale::Nanosecond ? cycles : inUnits(cycles, document_.clock, kNanoseconds));
  }

  // ---- packets ----

  perfetto::TracePacket& packet() {
    trace_.Clear();
    perfetto::TracePacket& packet = *trace_.add_packet();
    packet.set_trusted_packet_sequence_id(kSequence);
    return packet;
  }
  void finish(std::string& out) { trace_.AppendToString(&out); }

  std::string strings() {
    perfetto::TracePacket& first = packet();
    first.set_sequence_flags(kStateCleared);
    perfetto::InternedData& data = *first.mutable_interned_data();
    categories_.write(*data.mutable_event_categories());
    names_.write(*data.mutable_event_names());
    annotations_.write(*data.mutable_debug_annotation_names());
    values_.write(*data.mutable_debug_annotation_string_values());
    std::string out;
    finish(out);
    return out;
  }

  perfetto::TrackDescriptor& describe(std::uint64_t uuid, std::uint64_t parent,
                                      const std::string& name) {
    perfetto::TrackDescriptor& descriptor = *packet().mutable_track_descriptor();
    descriptor.set_uuid(uuid);
    descriptor.set_name(name);
    descriptor.set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
    descriptor.set_sibling_merge_behavior(perfetto::TrackDescriptor::SIBLING_MERGE_BEHAVIOR_NONE);
    if (parent != 0) {
      descriptor.set_parent_uuid(parent);
      descriptor.set_sibling_order_rank(static_cast<std::int32_t>(uuid));  // they count up in order
    }
    return descriptor;
  }
  std::uint64_t track(std::uint64_t uuid, std::uint64_t parent, const std::string& name) {
    describe(uuid, parent, name);
    finish(tracks_);
    return uuid;
  }

  perfetto::TrackEvent& event(perfetto::TrackEvent::Type type, std::uint64_t track,
                              std::int64_t cycle) {
    perfetto::TracePacket& p = packet();
    p.set_timestamp(nanoseconds(cycle));
    p.set_sequence_flags(kNeedsState);
    p.mutable_track_event()->set_type(type);
    p.mutable_track_event()->set_track_uuid(track);
    return *p.mutable_track_event();
  }

  // ---- slices ----

  void addLane(const TrackLane& lane) {
    std::uint64_t parent = kRoot;
    std::string path;
    for (const std::string& group : lane.groups) {
      path += group + '/';
      const auto [at, isNew] = groups_.try_emplace(path, 0);
      if (isNew) at->second = track(++lastTrack_, parent, group);
      parent = at->second;
    }
    const std::uint64_t uuid = track(++lastTrack_, parent, lane.name);
    const std::vector<SpanSlice>& slices = document_.timeline.tracks[lane.track].slices;
    for (std::size_t i = 0; i < slices.size(); ++i) addSlice(uuid, lane.track, i, slices[i]);
  }

  void addSlice(std::uint64_t uuid, std::size_t track, std::size_t index, const SpanSlice& slice) {
    const TimelineInstruction& instruction =
        document_.instructions[static_cast<std::size_t>(slice.leaf)];
    perfetto::TrackEvent& begin = event(perfetto::TrackEvent::TYPE_SLICE_BEGIN, uuid, slice.start);
    begin.set_name_iid(names_(sliceName(document_, slice)));
    begin.add_category_iids(categories_(document_.resources[instruction.resource]));
    annotate(begin, "start cycle", slice.start);
    annotate(begin, "cycles", slice.end - slice.start);
    annotate(begin, "instruction", slice.leaf);
    annotate(begin, "asm line", instruction.line + 1);
    if (slice.wait != WaitKind::None) {
      annotate(begin, "waited cycles", slice.start - slice.ready);
      annotate(begin, "waited for", std::string(timeline_words::word(slice.wait)));
      if (slice.lock >= 0)
        annotate(begin, "lock", lockName(document_.locks[static_cast<std::size_t>(slice.lock)]));
    }
    const auto [from, to] = flowsOut_[track].equal_range(static_cast<std::int32_t>(index));
    for (auto flow = from; flow != to; ++flow) begin.add_flow_ids(flow->second);
    if (isFlow(slice)) begin.add_terminating_flow_ids(++flowsIn_[track]);
    finish(events_);
    event(perfetto::TrackEvent::TYPE_SLICE_END, uuid, slice.end);
    finish(events_);
  }

  void annotate(perfetto::TrackEvent& event, const std::string& name, std::int64_t value) {
    perfetto::DebugAnnotation& annotation = *event.add_debug_annotations();
    annotation.set_name_iid(annotations_(name));
    annotation.set_int_value(value);
  }
  void annotate(perfetto::TrackEvent& event, const std::string& name, const std::string& value) {
    perfetto::DebugAnnotation& annotation = *event.add_debug_annotations();
    annotation.set_name_iid(annotations_(name));
    annotation.set_string_value_iid(values_(value));
  }

  // ---- counters ----

  void addCounter(std::size_t number) {
    const TimelineCounter& counter = document_.counters[number];
    if (countersTrack_ == 0) countersTrack_ = track(++lastTrack_, kRoot, "busy engines");
    const std::uint64_t uuid = ++lastTrack_;
    describe(uuid, countersTrack_, counter.name)
        .mutable_counter()
        ->set_unit_name(counter.unit + " of " + std::to_string(counter.most));
    finish(tracks_);
    for (std::size_t k = 0; k < counter.values.size(); ++k) {
      const std::int64_t cycle = std::min(static_cast<std::int64_t>(k) * document_.counterStep,
                                          document_.timeline.makespan.raw());
      event(perfetto::TrackEvent::TYPE_COUNTER, uuid, cycle).set_counter_value(counter.values[k]);
      finish(events_);
    }
  }

  const TimelineDocument& document_;
  const TimeScale scale_;
  std::vector<std::multimap<std::int32_t, std::uint64_t>> flowsOut_;  // per track: slice -> flow
  // Per track: the last flow that ended; flows are numbered track by track as they end.
  std::vector<std::uint64_t> flowsIn_;
  Interned names_, categories_, annotations_, values_;
  std::map<std::string, std::uint64_t> groups_;
  std::uint64_t lastTrack_ = kRoot, countersTrack_ = 0;
  perfetto::Trace trace_;  // the packet at hand, in its envelope
  std::string tracks_, events_;
};

}  // namespace

std::string perfettoTrace(const TimelineDocument& document, TimeScale scale) {
  return PerfettoWriter(document, scale).text();
}

}  // namespace heddle
