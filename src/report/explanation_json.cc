// An Explanation as JSON.
#include "heddle/report/explanation.h"

namespace heddle {
namespace {

void writeTexts(JsonWriter& json, const std::vector<std::string>& texts) {
  json.beginArray();
  for (const std::string& text : texts) json.value(text);
  json.endArray();
}

void writeCycles(JsonWriter& json, const std::optional<Cycles>& cycles) {
  if (cycles)
    json.value(cycles->raw());
  else
    json.null();
}

void writeWords(JsonWriter& json, const MappingWords& words) {
  json.beginObject();
  json.key("split").value(words.split).key("cut").value(words.cut);
  json.key("streams");
  writeTexts(json, words.streams);
  json.key("loops").value(words.loops);
  json.endObject();
}

void writeAlternatives(JsonWriter& json, const ExplainedLayer& layer) {
  json.beginArray();
  for (const ExplainedAlternative& other : layer.alternatives) {
    json.beginObject();
    json.key("mapping");
    writeWords(json, other.mapping);
    json.key("closedFormCycles").value(other.cycles.raw());
    json.key("losesCycles").value(other.loses.raw());
    json.key("boundBy").value(name(other.boundBy));
    json.endObject();
  }
  json.endArray();
}

void writeBytes(JsonWriter& json, const std::vector<ExplainedBytes>& all) {
  json.beginArray();
  for (const ExplainedBytes& bytes : all) {
    json.beginObject();
    json.key("what").value(bytes.what);
    json.key("movedBytes").value(bytes.moved.raw()).key("neededBytes").value(bytes.needed.raw());
    json.key("why");
    writeTexts(json, bytes.why);
    json.endObject();
  }
  json.endArray();
}

void writeSpill(JsonWriter& json, const ExplainedSpill& spill) {
  json.beginObject();
  json.key("tensor").value(spill.tensor).key("writtenBy");
  if (spill.writtenBy.empty())
    json.null();
  else
    json.value(spill.writtenBy);
  json.key("readBy");
  writeTexts(json, spill.readBy);
  json.key("bytes").value(spill.bytes.raw()).key("why").value(spill.why);
  json.endObject();
}

void writeGroup(JsonWriter& json, const ExplainedGroup& group) {
  json.beginObject();
  json.key("first").value(group.first).key("last").value(group.last);
  json.key("layers").value(group.layers).key("tiles").value(group.tiles);
  json.key("aloneCycles");
  writeCycles(json, group.alone);
  json.key("tiledCycles");
  writeCycles(json, group.tiled);
  json.key("keptBytes").value(group.kept.raw());
  json.key("weightsAgainBytes").value(group.weightsAgain.raw()).endObject();
}

void writeTiling(JsonWriter& json, const std::optional<ExplainedTiling>& tiling) {
  if (!tiling) {
    json.null();
    return;
  }
  json.beginObject().key("taken").value(tiling->taken).key("aloneCycles");
  writeCycles(json, tiling->alone);
  json.key("tiledCycles");
  writeCycles(json, tiling->tiled);
  json.key("why").value(tiling->why).key("groups").beginArray();
  for (const ExplainedGroup& group : tiling->groups) writeGroup(json, group);
  json.endArray().endObject();
}

void writeTiming(JsonWriter& json, const std::optional<ExplainedTiming>& timed) {
  if (!timed) {
    json.null();
    return;
  }
  json.beginObject().key("plans").value(timed->plans);
  json.key("firstCycles").value(timed->first.raw());
  json.key("bestCycles").value(timed->best.raw()).endObject();
}

void writeOrder(JsonWriter& json, const std::optional<ExplainedOrder>& order) {
  if (!order) {
    json.null();
    return;
  }
  json.beginObject().key("taken").value(order->taken).key("tensors").value(order->tensors);
  json.key("asItIsCycles").value(order->asItIs.raw());
  json.key("reorderedCycles").value(order->reordered.raw()).endObject();
}

void writeEnds(JsonWriter& json, const std::optional<ExplainedEnds>& ends) {
  if (!ends) {
    json.null();
    return;
  }
  json.beginObject().key("convolutions").value(ends->convolutions);
  json.key("starts").value(ends->starts).key("atEndsCycles");
  writeCycles(json, ends->atEnds);
  json.key("asLayersCycles");
  writeCycles(json, ends->asLayers);
  json.key("takenCycles").value(ends->taken.raw()).key("layers");
  writeTexts(json, ends->layers);
  json.endObject();
}

void writeJoin(JsonWriter& json, const std::optional<ExplainedJoin>& join) {
  if (!join) {
    json.null();
    return;
  }
  json.beginObject().key("taken").value(join->taken);
  json.key("convolutions").value(join->convolutions);
  json.key("apartCycles").value(join->apart.raw());
  json.key("joinedCycles").value(join->joined.raw()).endObject();
}

void writeUpright(JsonWriter& json, const std::optional<ExplainedUpright>& upright) {
  if (!upright) {
    json.null();
    return;
  }
  json.beginObject().key("taken").value(upright->taken);
  json.key("simulated").value(upright->byMachine).key("lyingCycles");
  writeCycles(json, upright->lying);
  json.key("uprightCycles");
  writeCycles(json, upright->upright);
  json.endObject();
}

}  // namespace

void writeLayer(JsonWriter& json, const Explanation& explanation, const ExplainedLayer& layer) {
  json.key("name").value(layer.name).key("op").value(layer.op);
  json.key("atStart")
      .value(layer.atStart)
      .key("atEnd")
      .value(layer.atEnd)
      .key("tables")
      .beginArray();
  for (const std::string& table : layer.tables) json.value(table);
  json.endArray().key("fused").value(layer.fused);
  json.key("mapping");
  if (layer.mapping)
    writeWords(json, *layer.mapping);
  else
    json.null();
  json.key("steps").value(layer.steps);
  json.key("cycles").value(layer.cycles.raw());
  json.key("seconds").value(explanation.seconds(layer.cycles));
  json.key("start").value(layer.start.raw()).key("end").value(layer.end.raw());
  json.key("closedFormCycles");
  writeCycles(json, layer.closedForm);
  json.key("boundSeconds").value(layer.boundSeconds);
  json.key("mappingBoundCycles");
  writeCycles(json, layer.mappingBound);
  json.key("boundEngine").value(layer.boundEngine);
  json.key("boundEngineCycles").value(layer.boundEngineBusy.raw());
  json.key("boundBy").value(layer.boundBy ? name(*layer.boundBy) : "none");
  json.key("busyCycles").beginObject();
  for (std::size_t r = 0; r < kResources; ++r)
    json.key(name(static_cast<Resource>(r))).value(layer.busy[r].raw());
  json.endObject();
  json.key("terms").beginArray();
  for (const ExplainedTerm& term : layer.terms)
    json.beginObject()
        .key("name")
        .value(term.name)
        .key("cycles")
        .value(term.cycles.raw())
        .endObject();
  json.endArray();
  json.key("tried").value(layer.tried);
  json.key("alternatives");
  writeAlternatives(json, layer);
  json.key("noAlternatives").value(layer.noAlternatives);
  json.key("bytes");
  writeBytes(json, layer.bytes);
}

void writeExplanation(JsonWriter& json, const Explanation& e) {
  json.key("format").value("heddle.explain/1");
  json.key("model").value(e.model).key("device").value(e.device);
  json.key("rows").value(e.rows).key("columns").value(e.columns);
  json.key("clockHz").value(e.clock.raw);
  json.key("cycles").value(e.cycles.raw()).key("seconds").value(e.seconds(e.cycles));
  json.key("frames").value(e.frames).key("batch").value(e.batch);
  json.key("closedFormCycles");
  writeCycles(json, e.closedForm);
  json.key("layerBoundSeconds").value(e.layerBoundSeconds);
  json.key("mappingBoundSeconds");
  if (e.mappingBoundSeconds)
    json.value(*e.mappingBoundSeconds);
  else
    json.null();
  json.key("whatIf").beginArray();
  for (const WhatIf& free : e.whatIf)
    json.beginObject()
        .key("free")
        .value(name(free.resource))
        .key("cycles")
        .value(free.cycles.raw())
        .endObject();
  json.endArray();
  json.key("spills").beginArray();
  for (const ExplainedSpill& spill : e.spills) writeSpill(json, spill);
  json.endArray();
  json.key("tiling");
  writeTiling(json, e.tiling);
  json.key("timed");
  writeTiming(json, e.timed);
  json.key("order");
  writeOrder(json, e.order);
  json.key("ends");
  writeEnds(json, e.ends);
  json.key("join");
  writeJoin(json, e.join);
  json.key("upright");
  writeUpright(json, e.upright);
  json.key("layers").beginArray();
  for (const ExplainedLayer& layer : e.layers) {
    json.beginObject();
    writeLayer(json, e, layer);
    json.endObject();
  }
  json.endArray();
}

std::string explanationJson(const Explanation& explanation) {
  JsonWriter json(1);
  json.beginObject();
  writeExplanation(json, explanation);
  json.endObject();
  return json.take() + "\n";
}

}  // namespace heddle
