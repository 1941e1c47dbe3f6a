#include "explain_text.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "heddle/support/visible.h"
#include "heddle/support/words.h"
#include "summary.h"
#include "text_table.h"

namespace heddle {
namespace {

constexpr std::size_t kShownLayers = 12, kShownSpills = 4;
constexpr double kShownGain = 0.0005;      // of the run's time: 0.1 % as it is printed
constexpr std::size_t kLongestLayer = 40;  // characters of a layer's name in a table
constexpr std::size_t kLabel = 14, kWidth = 120, kHanging = 2;

double partOf(Cycles part, Cycles whole) {
  return whole.raw() > 0 ? static_cast<double>(part.raw()) / static_cast<double>(whole.raw()) : 0;
}

std::string lessOrMore(double part) {
  if (std::abs(part) < kShownGain) return "the same";
  return percentText(std::abs(part)) + (part < 0 ? " less" : " more");
}

// Broken between words where it is longer than a terminal is wide.
std::string line(const std::string& label, const std::string& words) {
  std::string text = label + std::string(kLabel - std::min(kLabel, label.size()), ' ');
  std::size_t column = kLabel;
  std::istringstream in(visible(words));
  for (std::string word; in >> word;) {
    // A number keeps its unit.
    if (column > kLabel && column + 1 + word.size() > kWidth && !word.starts_with('%')) {
      text += "\n" + std::string(kLabel + kHanging, ' ');
      column = kLabel + kHanging;
    } else if (column > kLabel) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text + "\n";
}

// The label stands in the first line only.
std::string lines(const std::string& label, const std::vector<std::string>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) text += line(i == 0 ? label : "", all[i]);
  return text;
}

std::string estimateText(const std::optional<Cycles>& closedForm, Cycles cycles) {
  if (!closedForm) return "no closed form";
  const double off = partOf(*closedForm - cycles, cycles);
  return "closed form " + std::to_string(closedForm->raw()) + ", " + lessOrMore(off);
}

// What the planner weighs is one frame, what the run took is all of them.
std::string framesText(const Explanation& e, const std::string& ofOne) {
  if (e.frames == 1) return "";
  return line("frames",
              std::to_string(e.frames) + "; cycles are of all of them, " + ofOne + " of one");
}

std::string headText(const Explanation& e) {
  return e.model + " on " + e.device + " " + std::to_string(e.rows) + "x" +
         std::to_string(e.columns);
}

std::string boundText(const std::optional<Resource>& boundBy) {
  return std::string(boundBy ? name(*boundBy) : "nothing");
}

// ---- keys ---------------------------------------------------------------------------------------

std::string namesOf(const RaisedKeys& raised) {
  std::vector<std::string> keys;
  for (const RaisedKey& key : raised.keys) keys.push_back(key.key);
  return joinWords(keys, " and ");
}

// "links.ddr.read and links.memtile.write 4 GB/s -> 8 GB/s"
std::string raisedText(const RaisedKeys& raised) {
  const auto change = [](const RaisedKey& key) { return " " + key.from + " -> " + key.to; };
  const std::string first = change(raised.keys[0]);
  if (std::ranges::all_of(raised.keys, [&](const RaisedKey& key) { return change(key) == first; }))
    return namesOf(raised) + first;
  std::vector<std::string> keys;
  for (const RaisedKey& key : raised.keys) keys.push_back(key.key + change(key));
  return joinWords(keys, " and ");
}

double gainOf(const Explanation& e, const RaisedKeys& raised) {
  return partOf(e.cycles - raised.cycles, e.cycles);
}

// Whether each of several keys, raised by itself, is held back by another.
bool noneAlone(const RaisedKeys& raised, const std::vector<RaisedKeys>& keys) {
  return raised.keys.size() > 1 && std::ranges::all_of(raised.keys, [&](const RaisedKey& key) {
           return std::ranges::any_of(keys, [&](const RaisedKeys& other) {
             return other.keys.size() == 1 && other.keys[0].key == key.key && !other.heldBy.empty();
           });
         });
}

std::string keysText(const Explanation& e, const std::vector<RaisedKeys>& keys) {
  std::vector<std::string> gaining, held, useless, told;
  for (const RaisedKeys& raised : keys) {
    const double gain = gainOf(e, raised);
    if (gain < kShownGain) continue;
    const bool none = noneAlone(raised, keys);
    gaining.push_back(raisedText(raised) + ": " + std::to_string(raised.cycles.raw()) +
                      " cycles, " + lessOrMore(-gain) + (none ? "; either alone: nothing" : ""));
    if (none)
      for (const RaisedKey& key : raised.keys) told.push_back(key.key);
  }
  for (const RaisedKeys& raised : keys) {
    if (gainOf(e, raised) >= kShownGain) continue;
    const std::string names = namesOf(raised);
    if (raised.heldBy.empty())
      useless.push_back(names);
    else if (std::ranges::find(told, names) == told.end())
      held.push_back(names + " (held by " + joinWords(raised.heldBy, " and ") + ")");
  }
  if (gaining.empty()) gaining.emplace_back("no key: none gains anything where it is doubled");
  std::string text;
  for (std::size_t i = 0; i < gaining.size(); ++i)
    text += line(i == 0 ? "binds" : i == 1 ? "then" : "", gaining[i]);
  if (!useless.empty()) text += line("nothing", joinWords(useless));
  if (!held.empty()) text += line("alone nothing", joinWords(held));
  return text;
}

// ---- the run ------------------------------------------------------------------------------------

// "24 plans by simulation: 1911251 cycles at effort 1, this one 3.0 % less"
std::string timedText(const Explanation& e) {
  if (!e.timed) return "";
  const ExplainedTiming& timed = *e.timed;
  return line("timed", std::to_string(timed.plans) + " plans by simulation: " +
                           std::to_string(timed.first.raw()) + " cycles at effort 1, this one " +
                           lessOrMore(partOf(timed.best - timed.first, timed.first)));
}

// "taken: channel blocks of 13 tensors in another, so that cores wait less for each other; 2128261
// cycles in closed form, 6.3 % less"
std::string orderText(const Explanation& e) {
  if (!e.order) return "";
  const ExplainedOrder& order = *e.order;
  return line("order", std::string(order.taken ? "taken: " : "not taken: ") + "channel blocks of " +
                           std::to_string(order.tensors) +
                           " tensors in another, so that cores wait less for each other; " +
                           std::to_string(order.reordered.raw()) + " cycles in closed form, " +
                           lessOrMore(partOf(order.reordered - order.asItIs, order.asItIs)));
}

std::string shortLayer(const std::string& name) {
  std::string shown = visible(name);
  if (shown.size() <= kLongestLayer) return shown;
  std::size_t end = 0;
  while (end + utf8Length(std::string_view(shown).substr(end)) <= kLongestLayer - 3)
    end += utf8Length(std::string_view(shown).substr(end));
  return shown.substr(0, end) + "...";
}

// "13 depth-wise convolutions at the end of the one before: 321000 cycles in closed form, as layers
// of their own 359000 cycles in closed form; taken: 318000 cycles, layers b3_dw"
std::string endsText(const Explanation& e) {
  if (!e.ends) return "";
  const ExplainedEnds& ends = *e.ends;
  const auto cycles = [](const std::optional<Cycles>& of) {
    return of ? std::to_string(of->raw()) + " cycles in closed form" : std::string("no plan");
  };
  std::vector<std::string> layers;
  for (const std::string& name : ends.layers) layers.push_back(shortLayer(name));
  const auto counted = [](std::int64_t count, const std::string& what, const std::string& where) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s") + where;
  };
  std::vector<std::string> what;
  if (ends.convolutions > 0)
    what.push_back(
        counted(ends.convolutions, "depth-wise convolution", " at the end of the one before"));
  if (ends.starts > 0)
    what.push_back(counted(ends.starts, "operator", " at the start of the convolution behind"));
  return line("ends", joinWords(what, " and ") + ": " + cycles(ends.atEnds) +
                          (ends.convolutions + ends.starts == 1 ? ", as a layer of its own "
                                                                : ", as layers of their own ") +
                          cycles(ends.asLayers) + "; taken: " +
                          (layers.empty() ? "none as layers"
                                          : std::to_string(ends.taken.raw()) + " cycles, layers " +
                                                joinWords(layers)));
}

// "taken: 35 convolutions, those that read one tensor as one; 2062935 cycles in closed form, 7.2 %
// less"
std::string joinText(const Explanation& e) {
  if (!e.join) return "";
  const ExplainedJoin& join = *e.join;
  return line("join", std::string(join.taken ? "taken: " : "not taken: ") +
                          std::to_string(join.convolutions) +
                          " convolutions, those that read one tensor as one; " +
                          std::to_string(join.joined.raw()) + " cycles in closed form, " +
                          lessOrMore(partOf(join.joined - join.apart, join.apart)));
}

// "taken: the network's one row as a column, 1695 cycles in closed form; as it lies 5048 cycles in
// closed form"
std::string uprightText(const Explanation& e) {
  if (!e.upright) return "";
  const std::string by = e.upright->byMachine ? " cycles simulated" : " cycles in closed form";
  const auto cycles = [&](const std::optional<Cycles>& c) {
    return c ? std::to_string(c->raw()) + by : "no plan";
  };
  return line("upright", std::string(e.upright->taken ? "taken: " : "not taken: ") +
                             "the network's one row as a column, " + cycles(e.upright->upright) +
                             "; as it lies " + cycles(e.upright->lying));
}

double aboveBound(const Explanation& e, const ExplainedLayer& layer) {
  return e.seconds(layer.cycles) - layer.boundSeconds;
}

std::string layersTable(const Explanation& e) {
  std::vector<std::size_t> order(e.layers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return aboveBound(e, e.layers[i]); });
  order.resize(std::min(order.size(), kShownLayers));
  TextTable table{
      {"layer", "cycles", "of run", "closed form", "bound", "bound by", "next best", "split"}};
  for (const std::size_t i : order) {
    const ExplainedLayer& layer = e.layers[i];
    const auto bound =
        static_cast<std::int64_t>(layer.boundSeconds * static_cast<double>(e.clock.raw));
    std::string next = "-";
    if (!layer.alternatives.empty()) {
      const std::int64_t loses = layer.alternatives[0].loses.raw();
      next = (loses < 0 ? "" : "+") + std::to_string(loses);
    }
    table.push_back({shortLayer(layer.name), std::to_string(layer.cycles.raw()),
                     percentText(partOf(layer.cycles, e.cycles)),
                     layer.closedForm ? std::to_string(layer.closedForm->raw()) : "-",
                     std::to_string(bound), boundText(layer.boundBy), next,
                     layer.mapping ? layer.mapping->split : "-"});
  }
  return "\nlayers that lie furthest above their bounds: " + std::to_string(order.size()) + " of " +
         std::to_string(e.layers.size()) + "\n" + textOf(table, "  ");
}

// What nobody writes comes from DDR anyway: it is read there as often as it is needed, and never
// goes back.
bool comesFromDdr(const ExplainedSpill& spill) { return spill.writtenBy.empty(); }

std::string spillText(const ExplainedSpill& spill) {
  return "'" + spill.tensor + "', " + std::to_string(spill.bytes.raw()) + " B: " + spill.why;
}

std::string spillsText(const Explanation& e) {
  std::vector<std::string> spills, streams;
  for (const ExplainedSpill& spill : e.spills)
    (comesFromDdr(spill) ? streams : spills).push_back(spillText(spill));
  const auto few = [](const std::string& label, std::vector<std::string> all) {
    if (all.size() > kShownSpills) {
      const std::size_t more = all.size() - kShownSpills;
      all.resize(kShownSpills);
      all.push_back("and " + std::to_string(more) + " more");
    }
    return lines(label, all);
  };
  return few("spills", spills.empty() ? std::vector<std::string>{"none"} : spills) +
         few("from DDR", streams);
}

// "conv1_1 to pool2, 6 layers in 14 tiles: 8000 cycles in closed form, 12000 layer after layer;
// keeps 12 B nowhere whole, ...; reads 6 B of weights again"
std::string groupText(const ExplainedGroup& group) {
  std::string text = group.first + " to " + group.last + ", " + std::to_string(group.layers) +
                     " layers in " + std::to_string(group.tiles) + " tiles";
  if (group.alone && group.tiled)
    text += ": " + std::to_string(group.tiled->raw()) + " cycles in closed form, " +
            std::to_string(group.alone->raw()) + " layer after layer";
  if (group.kept.raw() > 0)
    text += "; keeps " + std::to_string(group.kept.raw()) +
            " B nowhere whole, which would else take room or go to DDR and come back";
  if (group.weightsAgain.raw() > 0)
    text += "; reads " + std::to_string(group.weightsAgain.raw()) + " B of weights again";
  return text;
}

std::string tilingText(const Explanation& e) {
  if (!e.tiling) return "";
  std::vector<std::string> words{(e.tiling->taken ? "taken: " : "not taken: ") + e.tiling->why};
  for (const ExplainedGroup& group : e.tiling->groups) words.push_back(groupText(group));
  return lines("tiles", words);
}

// Of the group that the layer is, or was tried, in.
std::string tilingText(const Explanation& e, const ExplainedLayer& layer) {
  if (!e.tiling) return "";
  bool within = false;
  std::size_t group = 0;
  for (const ExplainedLayer& one : e.layers) {
    if (group == e.tiling->groups.size()) return "";
    within = within || one.name == e.tiling->groups[group].first;
    if (within && one.name == layer.name)
      return lines("tiles", {groupText(e.tiling->groups[group]),
                             (e.tiling->taken ? "taken: " : "not taken: ") + e.tiling->why});
    if (one.name == e.tiling->groups[group].last) {
      within = false;
      ++group;
    }
  }
  return "";
}

std::string freeText(const Explanation& e) {
  std::vector<WhatIf> free = e.whatIf;
  std::ranges::stable_sort(free, {}, &WhatIf::cycles);
  std::vector<std::string> words;
  for (const WhatIf& one : free)
    if (partOf(e.cycles - one.cycles, e.cycles) >= kShownGain)
      words.push_back(std::string(name(one.resource)) + " " +
                      lessOrMore(partOf(one.cycles - e.cycles, e.cycles)));
  return words.empty() ? "" : line("for nothing", joinWords(words));
}

// ---- a layer ------------------------------------------------------------------------------------

std::string bytesText(const ExplainedBytes& bytes) {
  std::string text = bytes.what + ": " + std::to_string(bytes.moved.raw()) + " B moved, " +
                     std::to_string(bytes.needed.raw()) + " B needed";
  // One reason says it by itself.
  if (bytes.needed.raw() > 0 && bytes.moved != bytes.needed && bytes.why.size() != 1)
    text += ", " +
            hundredthsText(static_cast<double>(bytes.moved.raw()) /
                           static_cast<double>(bytes.needed.raw())) +
            " times";
  return text + (bytes.why.empty() ? "" : ": " + joinWords(bytes.why, "; "));
}

std::string alternativesText(const Explanation& e, const ExplainedLayer& layer) {
  if (layer.alternatives.empty()) return line("instead", layer.noAlternatives);
  std::vector<std::string> words;
  for (const ExplainedAlternative& other : layer.alternatives) {
    const Cycles chosen = other.cycles - other.loses;
    const std::int64_t loses = other.loses.raw();
    words.push_back((loses < 0 ? "gains " : "loses ") + std::to_string(std::abs(loses)) +
                    " cycles, " + percentText(std::abs(partOf(other.loses, chosen))) +
                    (loses >= 0 ? ": "
                     : e.timed  ? " in closed form; the simulation decided: "
                                : ", less than the closed form errs: ") +
                    other.mapping.cut.substr(0, other.mapping.cut.find(';')) + "; " +
                    joinWords(other.mapping.streams, "; ") + "; " + other.mapping.loops +
                    "; bound by " + std::string(name(other.boundBy)));
  }
  return lines("instead", words) +
         line("", "of " + std::to_string(layer.tried) + " mappings that the closed form timed" +
                      (layer.steps > 1 ? ", for the first of its steps" : ""));
}

void writeKeys(JsonWriter& json, const std::vector<RaisedKeys>& keys, Cycles cycles) {
  json.beginArray();
  for (const RaisedKeys& raised : keys) {
    json.beginObject();
    json.key("raised").beginArray();
    for (const RaisedKey& key : raised.keys)
      json.beginObject()
          .key("key")
          .value(key.key)
          .key("from")
          .value(key.from)
          .key("to")
          .value(key.to)
          .endObject();
    json.endArray();
    json.key("cycles").value(raised.cycles.raw());
    json.key("gainCycles").value((cycles - raised.cycles).raw());
    json.key("heldBy").beginArray();
    for (const std::string& key : raised.heldBy) json.value(key);
    json.endArray().endObject();
  }
  json.endArray();
}

}  // namespace

std::string explanationText(const Explanation& e, const std::vector<RaisedKeys>& keys) {
  std::string text = visible(headText(e)) + "\n";
  text += line(
      "time",
      milliseconds(e.seconds(e.cycles)) + " (" + std::to_string(e.cycles.raw()) + " cycles)" +
          (e.inferences() > 1
               ? " for " + std::to_string(e.inferences()) + " inferences, " +
                     milliseconds(e.seconds(e.cycles) / static_cast<double>(e.inferences())) +
                     " each; "
               : "; ") +
          estimateText(e.closedForm, e.cycles) + "; layer bound " +
          milliseconds(e.layerBoundSeconds) +
          (e.mappingBoundSeconds ? ", mapping bound " + milliseconds(*e.mappingBoundSeconds) : ""));
  text += framesText(e,
                     "the layer bound, the mapping bound, 'next best' and what the planner weighed "
                     "(timed, order, ends, join, upright, tiles) are");
  text += timedText(e) + orderText(e) + endsText(e) + joinText(e) + uprightText(e);
  return text + keysText(e, keys) + freeText(e) + spillsText(e) + tilingText(e) + layersTable(e);
}

std::string explanationText(const Explanation& e, const ExplainedLayer& layer) {
  std::string text =
      visible("layer '" + layer.name + "' (" + layer.op + ") of " + headText(e)) + "\n";
  const auto bound =
      static_cast<std::int64_t>(layer.boundSeconds * static_cast<double>(e.clock.raw));
  text += line("time", std::to_string(layer.cycles.raw()) + " cycles, " +
                           percentText(partOf(layer.cycles, e.cycles)) + " of the run; " +
                           estimateText(layer.closedForm, layer.cycles) + "; its bound " +
                           std::to_string(bound) +
                           (layer.mappingBound ? ", its best mapping alone " +
                                                     std::to_string(layer.mappingBound->raw())
                                               : ""));
  text += framesText(e, "its terms and the alternatives are");
  std::string boundBy = boundText(layer.boundBy);
  if (layer.boundBy)
    boundBy += ": " + layer.boundEngine + " works for " +
               std::to_string(layer.boundEngineBusy.raw()) + " cycles, the layer runs from " +
               std::to_string(layer.start.raw()) + " to " + std::to_string(layer.end.raw());
  text += line("bound by", boundBy);
  if (layer.mapping) {
    text += line("cut", layer.mapping->cut) + lines("streams", layer.mapping->streams) +
            line("loops", layer.mapping->loops);
  }
  if (layer.steps > 1)
    text += line("steps", std::to_string(layer.steps) +
                              ", each of some rows, by turns with those of other layers");
  text += tilingText(e, layer);
  if (!layer.fused.empty()) text += line("fused", layer.fused);
  std::vector<std::string> terms;
  for (const ExplainedTerm& term : layer.terms)
    terms.push_back(term.name + " " + std::to_string(term.cycles.raw()));
  if (!terms.empty()) text += line("terms", joinWords(terms));
  std::vector<std::string> bytes;
  for (const ExplainedBytes& one : layer.bytes) bytes.push_back(bytesText(one));
  text += lines("bytes", bytes) + alternativesText(e, layer);
  for (const ExplainedSpill& spill : e.spills)
    if (spill.writtenBy == layer.name ||
        std::ranges::find(spill.readBy, layer.name) != spill.readBy.end())
      text += line(comesFromDdr(spill) ? "from DDR" : "spill", spillText(spill));
  return text;
}

std::string explanationJson(const Explanation& e, const std::vector<RaisedKeys>& keys) {
  JsonWriter json(2);
  json.beginObject();
  writeExplanation(json, e);
  json.key("keys");
  writeKeys(json, keys, e.cycles);
  json.endObject();
  return json.take() + "\n";
}

std::string raisedKeysJson(const std::vector<RaisedKeys>& keys, Cycles cycles) {
  JsonWriter json(2);
  writeKeys(json, keys, cycles);
  return json.take() + "\n";
}

std::string explanationJson(const Explanation& e, const ExplainedLayer& layer) {
  JsonWriter json(2);
  json.beginObject();
  json.key("format").value("heddle.explain/1");
  json.key("model").value(e.model).key("device").value(e.device);
  json.key("rows").value(e.rows).key("columns").value(e.columns);
  json.key("clockHz").value(e.clock.raw).key("cycles").value(e.cycles.raw());
  json.key("layer").beginObject();
  writeLayer(json, e, layer);
  json.endObject().endObject();
  return json.take() + "\n";
}

}  // namespace heddle
