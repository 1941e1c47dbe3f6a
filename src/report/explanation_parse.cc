// heddle.explain/1, read back. The text may come from anywhere.
#include "entry_reader.h"
#include "heddle/report/explanation.h"
#include "heddle/support/json_fault.h"

namespace heddle {
namespace {

constexpr const char* kExplainFormat = "heddle.explain/1";

MappingWords readWords(EntryReader& read, const Entry& in) {
  return {.split = read.text(in, "split"),
          .cut = read.text(in, "cut"),
          .streams = read.texts(in, "streams"),
          .loops = read.text(in, "loops")};
}

ExplainedAlternative readAlternative(EntryReader& read, const Entry& in) {
  ExplainedAlternative other;
  other.mapping = readWords(read, read.object(in, "mapping"));
  other.cycles = Cycles(read.count(in, "closedFormCycles", -kMostCount));
  other.loses = Cycles(read.count(in, "losesCycles", -kMostCount));
  other.boundBy = read.resource(in, "boundBy").value_or(Resource::Compute);
  return other;
}

ExplainedBytes readMoved(EntryReader& read, const Entry& in) {
  return {.what = read.text(in, "what"),
          .moved = Bytes(read.count(in, "movedBytes")),
          .needed = Bytes(read.count(in, "neededBytes")),
          .why = read.texts(in, "why")};
}

ExplainedLayer readExplainedLayer(EntryReader& read, const Entry& in) {
  ExplainedLayer layer;
  layer.name = read.text(in, "name");
  layer.op = read.text(in, "op");
  if (read.has(in, "atStart")) layer.atStart = read.text(in, "atStart");
  if (read.has(in, "atEnd")) layer.atEnd = read.text(in, "atEnd");
  if (read.has(in, "tables")) layer.tables = read.texts(in, "tables");
  layer.fused = read.text(in, "fused");
  if (const auto mapping = read.objectOrNull(in, "mapping"))
    layer.mapping = readWords(read, *mapping);
  layer.steps = read.count(in, "steps");
  layer.cycles = Cycles(read.count(in, "cycles"));
  layer.start = Cycles(read.count(in, "start"));
  layer.end = Cycles(read.count(in, "end"));
  if (const auto closedForm = read.countOrNull(in, "closedFormCycles", -kMostCount))
    layer.closedForm = Cycles(*closedForm);
  layer.boundSeconds = read.real(in, "boundSeconds");
  if (const auto bound = read.countOrNull(in, "mappingBoundCycles", 0))
    layer.mappingBound = Cycles(*bound);
  layer.boundEngine = read.text(in, "boundEngine");
  layer.boundEngineBusy = Cycles(read.count(in, "boundEngineCycles"));
  layer.boundBy = read.resource(in, "boundBy");
  layer.busy = read.cyclesByResource(in, "busyCycles");
  for (const Entry& term : read.objects(in, "terms"))
    layer.terms.push_back({read.text(term, "name"), Cycles(read.count(term, "cycles"))});
  layer.tried = read.count(in, "tried");
  for (const Entry& other : read.objects(in, "alternatives"))
    layer.alternatives.push_back(readAlternative(read, other));
  layer.noAlternatives = read.text(in, "noAlternatives");
  for (const Entry& bytes : read.objects(in, "bytes"))
    layer.bytes.push_back(readMoved(read, bytes));
  return layer;
}

ExplainedSpill readSpill(EntryReader& read, const Entry& in) {
  return {.tensor = read.text(in, "tensor"),
          .writtenBy = read.textOrNull(in, "writtenBy").value_or(""),
          .readBy = read.texts(in, "readBy"),
          .bytes = Bytes(read.count(in, "bytes")),
          .why = read.text(in, "why")};
}

std::optional<Cycles> readCycles(EntryReader& read, const Entry& in, const char* key) {
  const std::optional<std::int64_t> cycles = read.countOrNull(in, key, -kMostCount);
  return cycles ? std::optional(Cycles(*cycles)) : std::nullopt;
}

ExplainedGroup readExplainedGroup(EntryReader& read, const Entry& in) {
  return {.first = read.text(in, "first"),
          .last = read.text(in, "last"),
          .layers = read.count(in, "layers", 1),
          .tiles = read.count(in, "tiles", 1),
          .alone = readCycles(read, in, "aloneCycles"),
          .tiled = readCycles(read, in, "tiledCycles"),
          .kept = Bytes(read.count(in, "keptBytes")),
          .weightsAgain = Bytes(read.count(in, "weightsAgainBytes"))};
}

ExplainedTiling readTiling(EntryReader& read, const Entry& in) {
  ExplainedTiling tiling{.taken = read.truth(in, "taken"),
                         .alone = readCycles(read, in, "aloneCycles"),
                         .tiled = readCycles(read, in, "tiledCycles"),
                         .why = read.text(in, "why"),
                         .groups = {}};
  for (const Entry& group : read.objects(in, "groups"))
    tiling.groups.push_back(readExplainedGroup(read, group));
  return tiling;
}

void readWhole(EntryReader& read, const Entry& root, Explanation& e) {
  e.model = read.text(root, "model");
  e.device = read.text(root, "device");
  e.rows = read.count(root, "rows", 1);
  e.columns = read.count(root, "columns", 1);
  e.clock.raw = read.count(root, "clockHz", 1);
  e.cycles = Cycles(read.count(root, "cycles"));
  e.frames = read.count(root, "frames", 1);
  e.batch = read.count(root, "batch", 1);
  if (const auto closedForm = read.countOrNull(root, "closedFormCycles", -kMostCount))
    e.closedForm = Cycles(*closedForm);
  e.layerBoundSeconds = read.real(root, "layerBoundSeconds");
  e.mappingBoundSeconds = read.realOrNull(root, "mappingBoundSeconds");
  for (const Entry& free : read.objects(root, "whatIf"))
    e.whatIf.push_back({read.resource(free, "free").value_or(Resource::Compute),
                        Cycles(read.count(free, "cycles"))});
  for (const Entry& spill : read.objects(root, "spills"))
    e.spills.push_back(readSpill(read, spill));
  if (const auto tiling = read.objectOrNull(root, "tiling")) e.tiling = readTiling(read, *tiling);
  if (const auto timed = read.objectOrNull(root, "timed"))
    e.timed = {.plans = read.count(*timed, "plans"),
               .first = Cycles(read.count(*timed, "firstCycles")),
               .best = Cycles(read.count(*timed, "bestCycles"))};
  if (const auto order = read.objectOrNull(root, "order"))
    e.order = {.taken = read.truth(*order, "taken"),
               .tensors = read.count(*order, "tensors"),
               .asItIs = Cycles(read.count(*order, "asItIsCycles")),
               .reordered = Cycles(read.count(*order, "reorderedCycles"))};
  if (const auto ends = read.has(root, "ends") ? read.objectOrNull(root, "ends") : std::nullopt)
    e.ends = {.convolutions = read.count(*ends, "convolutions"),
              .starts = read.has(*ends, "starts") ? read.count(*ends, "starts") : 0,
              .atEnds = readCycles(read, *ends, "atEndsCycles"),
              .asLayers = readCycles(read, *ends, "asLayersCycles"),
              .taken = Cycles(read.count(*ends, "takenCycles")),
              .layers = read.texts(*ends, "layers")};
  if (const auto join = read.objectOrNull(root, "join"))
    e.join = {.taken = read.truth(*join, "taken"),
              .convolutions = read.count(*join, "convolutions"),
              .apart = Cycles(read.count(*join, "apartCycles")),
              .joined = Cycles(read.count(*join, "joinedCycles"))};
  if (const auto upright =
          read.has(root, "upright") ? read.objectOrNull(root, "upright") : std::nullopt)
    e.upright = {.taken = read.truth(*upright, "taken"),
                 .byMachine = read.truth(*upright, "simulated"),
                 .lying = readCycles(read, *upright, "lyingCycles"),
                 .upright = readCycles(read, *upright, "uprightCycles")};
  for (const Entry& layer : read.objects(root, "layers"))
    e.layers.push_back(readExplainedLayer(read, layer));
}

Diagnostic notAnExplanation(const std::string& name, std::string what) {
  return {"EXPL001", name, "not an explanation of a run", std::move(what),
          "take an explain.json that heddle has written"};
}

}  // namespace

Result<Explanation> parseExplanation(const std::string& text, const std::string& name) {
  if (const auto fault = jsonFault(text)) return notAnExplanation(name, *fault);
  const Json json = Json::parse(text);
  const auto at = json.is_object() ? json.find("format") : json.end();
  const std::string format =
      at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
  if (format != kExplainFormat && format.starts_with("heddle.explain/"))
    return Diagnostic{"EXPL002", name,
                      "the explanation is of a version that this heddle does not know",
                      "format '" + format + "'; known: '" + kExplainFormat + "'",
                      "compile again, or use the heddle that wrote it"};
  if (format != kExplainFormat)
    return notAnExplanation(
        name, "expected a JSON object with \"format\": \"" + std::string(kExplainFormat) + "\"");
  EntryReader read(name, "EXPL003", "explanation", "an explain.json");
  Explanation explanation;
  readWhole(read, {&json, ""}, explanation);
  if (!read.faults().empty()) return read.faults().take();
  return explanation;
}

}  // namespace heddle
