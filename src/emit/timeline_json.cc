// heddle.timeline/1, written; docs/timeline.md says what each entry means.
#include "heddle/emit/timeline_json.h"

#include <algorithm>
#include <map>

#include "heddle/canon/fuse_operators.h"
#include "heddle/device/device_json.h"
#include "heddle/report/groups.h"
#include "heddle/report/leaves.h"
#include "heddle/report/memory_blocks.h"
#include "heddle/report/memory_use.h"
#include "heddle/report/padding.h"
#include "rolled_sequence.h"
#include "timeline_columns.h"
#include "timeline_counters.h"
#include "timeline_words.h"

namespace heddle {
namespace {

using timeline_words::kColumns;

void writeRange(JsonWriter& json, const CoreRange& range) {
  json.beginObject();
  json.key("row").value(range.row).key("column").value(range.column);
  json.key("rows").value(range.rows).key("columns").value(range.columns).endObject();
}

void writeDevice(JsonWriter& json, const Device& device) {
  json.beginObject();
  json.key("name")
      .value(device.name)
      .key("rows")
      .value(device.rows)
      .key("columns")
      .value(device.columns);
  json.key("clockHz").value(device.clock.raw);
  json.key("coreBytes").value(device.core.operandMemory().raw());
  json.key("memtileBytes").value(device.memtile.memory.raw());
  json.key("ddrReadBytesPerSecond").value(device.rates.ddrRead.raw);
  json.key("ddrWriteBytesPerSecond").value(device.rates.ddrWrite.raw);
  if (device.rates.ddrReadTotal)
    json.key("ddrReadTotalBytesPerSecond").value(device.rates.ddrReadTotal->raw);
  if (device.rates.ddrWriteTotal)
    json.key("ddrWriteTotalBytesPerSecond").value(device.rates.ddrWriteTotal->raw);
  json.key("wireBytesPerSecond").value(device.rates.wire.raw);
  json.key("coreWriteBytesPerSecond").value(device.rates.coreWrite.raw);
  json.key("ddrChannelsIn").value(device.memtile.ddrChannelsIn);
  json.key("ddrChannelsOut").value(device.memtile.ddrChannelsOut);
  json.key("macsPerCycle").value(device.core.macsPerCycle);
  json.key("depthwiseMacsPerCycle").value(device.core.depthwiseMacsPerCycle);
  json.key("wires");
  writeWires(json, device.wires);
  json.endObject();
}

void writeGraph(JsonWriter& json, const CanonicalGraph& graph) {
  json.beginObject().key("tensors").beginArray();
  for (const CanonicalTensor& tensor : graph.tensors) {
    json.beginObject().key("name").value(tensor.name).key("height").value(tensor.shape.height);
    json.key("width")
        .value(tensor.shape.width)
        .key("channels")
        .value(tensor.shape.channels)
        .endObject();
  }
  json.endArray().key("operators").beginArray();  // operator i is layer i
  for (const CanonicalOp& op : graph.ops) {
    json.beginObject()
        .key("name")
        .value(op.name)
        .key("op")
        .value(op.onnxOp)
        .key("inputs")
        .beginArray();
    for (const TensorId input : op.inputs) json.value(input.index);
    json.endArray().key("output").value(op.output.index);
    if (const FusedWindow* pool = fusedWindowOf(op)) json.key("pools").value(pool->before.index);
    if (const std::string start = nameAtStart(op); !start.empty()) json.key("atStart").value(start);
    if (const std::string end = nameAtEnd(op); !end.empty()) json.key("atEnd").value(end);
    if (const std::vector<std::string> tables = tablesOf(op); !tables.empty()) {
      json.key("tables").beginArray();
      for (const std::string& table : tables) json.value(table);
      json.endArray();
    }
    if (const Conv* conv = std::get_if<Conv>(&op.attributes); conv && conv->folded)
      json.key("folded").value(conv->folded->columns);
    json.endObject();
  }
  json.endArray();
  const auto ports = [&](const char* key, const std::vector<Port>& list) {
    json.key(key).beginArray();
    for (const Port& port : list)
      json.beginObject()
          .key("name")
          .value(port.name)
          .key("tensor")
          .value(port.tensor.index)
          .endObject();
    json.endArray();
  };
  ports("inputs", graph.inputs);
  ports("outputs", graph.outputs);
  json.endObject();
}

class TimelineWriter {
 public:
  TimelineWriter(const Timeline& timeline, const TimelineContext& context)
      : timeline_(timeline), context_(context), leaves_(leafFacts(context.program)) {
    for (const LeafFacts& leaf : leaves_) layerOfLeaf_.push_back(leaf.layer.index);
    for (std::size_t t = 0; t < timeline.tracks.size(); ++t)
      trackOf_.emplace(timeline.tracks[t].engine, static_cast<std::int64_t>(t));
  }

  std::string text() {
    json_.beginObject();
    json_.key("format").value(timeline_words::kFormat);
    json_.key("model").value(context_.program.model);
    json_.key("makespan").value(timeline_.makespan.raw());
    json_.key("device");
    writeDevice(json_, context_.device);
    json_.key("graph");
    writeGraph(json_, context_.graph);
    json_.key("report").beginObject();
    writeReport(json_, context_.report);
    json_.endObject();
    writeWhatIf();
    if (context_.explanation) {
      json_.key("explanation").beginObject();
      writeExplanation(json_, *context_.explanation);
      json_.endObject();
    }
    json_.key("asm").value(context_.listing.text);
    writeInstructions();
    writeLocks();
    writeMemory();
    writeCounters();
    writeTracks();
    json_.endObject();
    return json_.take() + '\n';
  }

 private:
  void writeRolled(const char* key, const ColumnValues& values) {
    json_.key(key).raw(roller_.roll(values));
  }
  template <class Things, class F>
  void writeColumn(const char* key, const Things& things, F&& number) {
    ColumnValues values;
    for (const auto& thing : things) values.push_back(static_cast<std::int64_t>(number(thing)));
    writeRolled(key, values);
  }

  void writeInstructions() {
    std::vector<std::string_view> mnemonics;
    const auto indexOf = [&](std::string_view mnemonic) {
      const auto place =
          std::find(mnemonics.begin(), mnemonics.end(), mnemonic) - mnemonics.begin();
      if (place == std::ssize(mnemonics)) mnemonics.push_back(mnemonic);
      return place;
    };
    json_.key("instructions").beginObject();
    writeColumn("layer", leaves_, [](const LeafFacts& l) { return l.layer.index; });
    if (!context_.report.groups.empty()) {
      const LayerGroups groups = findGroups(context_.program);
      writeColumn("tile", leaves_,
                  [&](const LeafFacts& l) { return groups.steps[l.step.at()].tile; });
    }
    writeColumn("resource", leaves_, [](const LeafFacts& l) { return l.resource; });
    writeColumn("mnemonic", leaves_, [&](const LeafFacts& l) { return indexOf(l.mnemonic); });
    writeColumn("bytes", leaves_, [](const LeafFacts& l) { return l.bytes; });
    writeColumn("macs", leaves_, [](const LeafFacts& l) { return l.macs; });
    writeRolled("line", context_.listing.lines);
    writeStrings("mnemonics", mnemonics);
    json_.key("resources").beginArray();
    for (std::size_t r = 0; r < kResources; ++r) json_.value(name(static_cast<Resource>(r)));
    json_.endArray();
    json_.endObject();
  }

  void writeWhatIf() {
    json_.key("whatIf").beginArray();
    for (const WhatIf& free : context_.whatIf) {
      json_.beginObject().key("resource").value(name(free.resource));
      json_.key("cycles").value(free.cycles.raw()).endObject();
    }
    json_.endArray();
  }

  template <class Strings>
  void writeStrings(const char* key, const Strings& strings) {
    json_.key(key).beginArray();
    for (const auto& s : strings) json_.value(s);
    json_.endArray();
  }

  void writeLocks() {
    const std::vector<Lock>& locks = context_.program.locks;
    json_.key("locks").beginObject();
    writeStrings("tileKinds", timeline_words::kTiles);
    writeColumn("tileKind", locks, [](const Lock& l) { return l.tile.kind; });
    writeColumn("row", locks, [](const Lock& l) { return l.tile.row; });
    writeColumn("column", locks, [](const Lock& l) { return l.tile.column; });
    writeColumn("index", locks, [](const Lock& l) { return l.index; });
    writeColumn("initial", locks, [](const Lock& l) { return l.initial; });
    writeColumn("producer", locks, [&](const Lock& l) { return trackOf(l.producer); });
    writeColumn("consumer", locks, [&](const Lock& l) { return trackOf(l.consumer); });
    json_.endObject();
  }

  void writeMemory() {
    const std::vector<MemoryBlock> blocks = memoryBlocks(context_.program);
    const std::vector<MemoryUse> uses = memoryUse(context_.program, timeline_, blocks);
    json_.key("memory").beginArray();
    for (std::size_t b = 0; b < blocks.size(); ++b) writeBlock(blocks[b], uses[b]);
    json_.endArray();
  }

  void writeBlock(const MemoryBlock& block, const MemoryUse& use) {
    json_.beginObject()
        .key("name")
        .value(block.name)
        .key("kind")
        .value(timeline_words::word(block.kind));
    json_.key("tiles");
    writeRange(json_, block.tiles);
    json_.key("address").value(block.address).key("size").value(block.size);
    json_.key("slots").value(use.slots).key("tensor").value(block.tensor.index);
    json_.key("firstLayer").value(layerOf(block.first)).key("lastLayer").value(layerOf(block.last));
    writeLayers("writtenBy", use.writtenBy);
    writeLayers("readBy", use.readBy);
    json_.key("start").value(use.whole.start).key("end").value(use.whole.end);
    writeColumn("starts", use.tiles, [](const Stretch& s) { return s.start; });
    writeColumn("ends", use.tiles, [](const Stretch& s) { return s.end; });
    json_.endObject();
  }

  std::int32_t layerOf(StepId step) const { return context_.program.layerOf(step).index; }

  void writeLayers(const char* key, const std::vector<LayerId>& layers) {
    json_.key(key).beginArray();
    for (const LayerId layer : layers) json_.value(layer.index);
    json_.endArray();
  }

  void writeCounters() {
    const Counters counters = countersOf(timeline_, leaves_);
    json_.key("counters").beginObject();
    json_.key("step").value(counters.step).key("series").beginArray();
    for (const CounterSeries& series : counters.series) {
      json_.beginObject().key("name").value(series.name).key("unit").value(series.unit);
      json_.key("most").value(series.engines * counters.step);
      writeRolled("values", series.values);
      json_.endObject();
    }
    json_.endArray().endObject();
  }

  void writeTracks() {
    writeStrings("waitKinds", timeline_words::kWaits);
    std::vector<std::string> pool;
    std::map<std::string, std::int64_t> places;
    const auto pooled = [&](std::string text) {
      const auto [at, isNew] = places.try_emplace(std::move(text), std::ssize(pool));
      if (isNew) pool.push_back(at->first);
      return at->second;
    };
    json_.key("tracks").beginArray();
    for (const Track& track : timeline_.tracks) {
      const Engine& e = track.engine;
      json_.beginObject().key("engine").value(timeline_words::word(e.kind));
      json_.key("row").value(e.row).key("column").value(e.column).key("channel").value(e.channel);
      json_.key("slices").value(static_cast<std::int64_t>(track.slices.size()));
      const TrackColumns columns = toColumns(track, layerOfLeaf_);
      json_.key("causeTracks").beginArray();
      for (const std::int32_t cause : columns.causeTracks) json_.value(cause);
      json_.endArray();
      for (std::size_t c = 0; c < kColumns.size(); ++c)
        json_.key(kColumns[c]).value(pooled(roller_.roll(columns.columns[c])));
      json_.key("padded").value(
          pooled(roller_.roll(paddedMacs(context_.graph, context_.program, leaves_, track))));
      writeOfRecords(track, pooled);
      json_.endObject();
    }
    json_.endArray();
    json_.key("columns").beginArray();
    for (const std::string& column : pool) json_.raw(column);
    json_.endArray();
  }

  // Bytes and MACs of each slice, where one instruction's differ from record to record.
  template <class Pooled>
  void writeOfRecords(const Track& track, Pooled& pooled) {
    const auto write = [&](const char* key, std::int64_t LeafFacts::*whole, auto&& of) {
      ColumnValues values;
      bool differ = false;
      for (const SpanSlice& slice : track.slices) {
        const LeafFacts& leaf = leaves_[static_cast<std::size_t>(slice.leaf)];
        values.push_back(of(leaf, slice, context_.program));
        differ = differ || values.back() != leaf.*whole;
      }
      if (differ) json_.key(key).value(pooled(roller_.roll(values)));
    };
    write("bytes", &LeafFacts::bytes, bytesOfSlice);
    write("macs", &LeafFacts::macs, macsOfSlice);
  }

  std::int64_t trackOf(const Engine& engine) const {
    const auto at = trackOf_.find(engine);
    return at == trackOf_.end() ? -1 : at->second;
  }

  const Timeline& timeline_;
  const TimelineContext& context_;
  std::vector<LeafFacts> leaves_;
  std::vector<std::int32_t> layerOfLeaf_;
  std::map<Engine, std::int64_t> trackOf_;
  SequenceRoller roller_;
  JsonWriter json_;
};

}  // namespace

std::string timelineJson(const Timeline& timeline, const TimelineContext& context) {
  return TimelineWriter(timeline, context).text();
}

}  // namespace heddle
