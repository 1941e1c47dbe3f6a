#include "mapping_words.h"

#include <algorithm>
#include <map>
#include <set>

#include "heddle/canon/fuse_operators.h"
#include "heddle/support/words.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/nest.h"

namespace heddle {
namespace {

using Lines = std::set<std::int64_t>;

std::string counted(std::int64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// Which cores get a part of something: all of a mesh column, say.
struct PartCores {
  Lines columns, rows;
  std::size_t cores = 0;
};

// "the mesh columns" where each part lies in a column of its own.
std::string placeOf(const std::vector<PartCores>& parts) {
  const auto apart = [&](Lines PartCores::*lines) {
    Lines seen;
    for (const PartCores& part : parts)
      if ((part.*lines).size() != 1 || !seen.insert(*(part.*lines).begin()).second) return false;
    return true;
  };
  if (apart(&PartCores::columns)) return "mesh columns";
  if (apart(&PartCores::rows)) return "mesh rows";
  if (std::ranges::all_of(parts, [](const PartCores& part) { return part.cores == 1; }))
    return "cores";
  return "parts of the mesh";
}

template <class Key>
std::vector<PartCores> partsBy(const Mapping& mapping, Key key) {
  std::vector<PartCores> parts;
  std::vector<decltype(key(mapping.shares[0]))> keys;
  for (const CoreShare& share : mapping.shares) {
    const auto known = std::ranges::find(keys, key(share));
    const auto at = static_cast<std::size_t>(known - keys.begin());
    if (known == keys.end()) {
      keys.push_back(key(share));
      parts.emplace_back();
    }
    parts[at].columns.insert(share.core.column);
    parts[at].rows.insert(share.core.row);
    ++parts[at].cores;
  }
  return parts;
}

std::vector<PartCores> pixelParts(const Mapping& mapping) {
  return partsBy(mapping, [](const CoreShare& share) { return share.boxes; });
}

std::vector<PartCores> channelParts(const Mapping& mapping) {
  return partsBy(mapping, [](const CoreShare& share) {
    return std::pair(share.blocks.first, share.blocks.count);
  });
}

std::string cutWords(const Mapping& mapping, const Shape& output) {
  const std::vector<PartCores> pixels = pixelParts(mapping), channels = channelParts(mapping);
  const std::string split = splitText(mapping), axes = split.substr(0, split.find('/'));
  std::string words = pixels.size() == 1 ? "all pixels on every core"
                                         : axes + " in " + std::to_string(pixels.size()) +
                                               " over " + placeOf(pixels);
  words += channels.size() == 1
               ? ", all channels on every core"
               : ", channels in " + std::to_string(channels.size()) + " over " + placeOf(channels);
  const auto work = [](const CoreShare& share) {
    return pixelsOf(share.boxes) * share.blocks.count;
  };
  const CoreShare& most = *std::ranges::max_element(mapping.shares, {}, work);
  std::string rectangles;
  for (const PixelBox& box : most.boxes)
    rectangles += (rectangles.empty() ? "" : " + ") + std::to_string(box.y.count) + "x" +
                  std::to_string(box.x.count);
  return words + "; a core computes up to " + rectangles + " pixels of " +
         std::to_string(std::min(most.blocks.count * kBlock, output.channels)) + " channels";
}

// "4 column wires"; "4 column and 4 row wires by turns".
std::string wiresWords(const std::vector<Route>& routes, const Device& device) {
  std::map<std::string, Lines> wires;
  std::map<std::string, std::int64_t> lanesOf;  // of one route
  std::size_t most = 0;
  for (const Route& route : routes)
    for (const Lane& lane : route.lanes)
      wires[kindOfWire(device.wires[static_cast<std::size_t>(lane.wire)])].insert(lane.wire);
  for (const Route& route : routes) most = std::max(most, route.lanes.size());
  for (const Lane& lane : routes[0].lanes)
    ++lanesOf[kindOfWire(device.wires[static_cast<std::size_t>(lane.wire)])];
  std::vector<std::string> kinds;
  std::int64_t last = 0;
  for (const auto& [kind, some] : wires) {
    kinds.push_back(std::to_string(some.size()) + " " + kind);
    last = std::ssize(some);
  }
  std::string words =
      joinWords(kinds, " and ") + (kinds.size() > 1 || last != 1 ? " wires" : " wire");
  if (kinds.size() < 2) return words;
  if (most < 2) return words + ", each core over one of them";
  words += " by turns";
  if (most > 2) {
    const auto busier = std::ranges::max_element(lanesOf, {}, [](auto& one) { return one.second; });
    words += ", " + std::to_string(busier->second) + " of " + std::to_string(most) +
             " pieces over " + busier->first;
  }
  return words;
}

std::string streamWords(const std::string& what, const std::vector<Route>& routes, bool fromDdr,
                        const Device& device) {
  std::size_t fewest = routes[0].cores.size(), most = 0;
  for (const Route& route : routes) {
    fewest = std::min(fewest, route.cores.size());
    most = std::max(most, route.cores.size());
  }
  std::string to = fewest == most ? std::to_string(most)
                                  : std::to_string(fewest) + " to " + std::to_string(most);
  return what + " over " + wiresWords(routes, device) + ", each piece to " + to +
         (most == 1 ? " core" : " cores") + (fromDdr ? ", out of DDR" : "");
}

std::string loopWords(const CanonicalOp& op, const Mapping& mapping) {
  std::vector<std::string> words;
  const bool again = reducesChannels(op) && mapping.passes > 1;
  words.push_back(
      mapping.passes == 1
          ? "1 pass"
          : std::to_string(mapping.passes) + " passes over the output channels" +
                (again && !mapping.resident ? ", rows of inputs come again in each" : ""));
  if (mapping.resident) words.emplace_back("the input stays in the core");
  if (mapping.chunks > 1) words.push_back("columns in " + counted(mapping.chunks, "chunk"));
  if (mapping.bands > 1) words.push_back("rows in " + counted(mapping.bands, "band"));
  if (mapping.parts.size() > 1)
    words.push_back("reduction in " + std::to_string(mapping.parts.size()) +
                    " parts, sums kept between them");
  if (mapping.callRows > 1)
    words.push_back("calls of up to " + std::to_string(mapping.callRows) +
                    (!fusedWindowOf(op)               ? " rows"
                     : fusedWindowOf(op)->depthwise() ? " rows before the depth-wise convolution"
                                                      : " rows before they are pooled"));
  const std::string loop = mapping.parts.size() > 1 ? "part" : "pass";
  const bool hasInner = mapping.parts.size() > 1 || mapping.passes > 2;
  if (mapping.innerCallRows > mapping.callRows && hasInner && hasInnerCalls(op, mapping))
    words.push_back(std::string(mapping.callRows > 1 ? "" : "calls ") + "of up to " +
                    std::to_string(mapping.innerCallRows) + " rows between the first " + loop +
                    " and the last");
  if (mapping.recordsAtHome > 0)
    words.push_back((allRecordsAtHome(mapping)
                         ? "all weight records"
                         : std::to_string(mapping.recordsAtHome) + " of " +
                               std::to_string(differentRecords(mapping)) + " weight records") +
                    std::string(" stay in the memtiles, and come out of DDR once"));
  RingPlan most;
  for (const RingPlan& ring : mapping.rings)
    if (ring.together > most.together) most = ring;
  const std::int64_t iterations =
      mapping.passes * std::max<std::int64_t>(1, std::ssize(mapping.parts));
  if (most.together > 1 && iterations > (most.onlyBetween ? 2 : 1))
    words.push_back((most.onlyBetween ? "between the first " + loop + " and the last up to "
                                      : "behind the first " + loop + " up to ") +
                    std::to_string(most.together) + " rows come at once");
  return joinWords(words);
}

std::int64_t kernelParts(const Mapping& mapping) {
  std::set<std::int64_t> first;
  for (const ReductionPart& part : mapping.parts) first.insert(part.kernelRows.first);
  return std::max<std::int64_t>(1, std::ssize(first));
}

void addRepeat(Repeats& repeats, std::int64_t times, const std::string& why) {
  if (times < 2) return;
  repeats.times *= times;
  repeats.why.push_back(std::to_string(times) + " times: " + why);
}

// Most routes that bring the same, to cores that `same` says are of one part.
template <class Same>
std::int64_t copies(const Mapping& mapping, const std::vector<Route>& routes, Same same) {
  std::int64_t most = 1;
  for (const Route& one : routes)
    most = std::max<std::int64_t>(most, std::ranges::count_if(routes, [&](const Route& other) {
                                    return same(*mapping.shareOf(one.cores[0]),
                                                *mapping.shareOf(other.cores[0]));
                                  }));
  return most;
}

}  // namespace

std::string kindOfWire(const Wire& wire) {
  return wire.name.substr(0, wire.name.find_last_not_of("0123456789") + 1);
}

std::string fusedWords(const CanonicalGraph& graph, const CanonicalOp& op) {
  std::vector<std::string> words;
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  if (conv && conv->folded)
    words.push_back("reads " + std::to_string(conv->folded->columns) + " columns of '" +
                    graph.tensors[op.inputs.front().at()].name + "' as one");
  if (const FusedMul* mul = fusedMulOf(op))
    words.push_back("multiplies '" + graph.tensors[op.inputs[0].at()].name + "' by '" +
                    graph.tensors[op.inputs[1].at()].name + "' first, as '" + mul->name + "'");
  if (const FusedLines* lines = fusedLinesOf(op))
    words.push_back("looks up '" + graph.tensors[op.inputs[0].at()].name +
                    "' first, in the lines of '" + lines->name + "'");
  if (const FusedTable* table = fusedTableOf(op))
    words.push_back("looks up what it computes in '" + table->name + "'");
  if (const FusedWindow* end = fusedWindowOf(op))
    words.push_back(
        (end->depthwise() ? "convolves '" : "pools '") + graph.tensors[end->before.at()].name +
        (end->depthwise() ? "' depth-wise" : "'") + " at its end, as '" + end->name + "'");
  if (const FusedTable* table = tableOfEnd(op))
    words.push_back("looks up that in '" + table->name + "'");
  if (fusedAddOf(op))
    words.push_back("adds '" + graph.tensors[op.inputs.back().at()].name + "' at its end");
  return joinWords(words, "; ");
}

MappingWords wordsOf(const CanonicalGraph& graph, const CanonicalOp& op, const Mapping& mapping,
                     const Plan& plan, const Device& device) {
  MappingWords words{.split = splitText(mapping),
                     .cut = cutWords(mapping, graph.tensors[op.output.at()].shape),
                     .streams = {},
                     .loops = loopWords(op, mapping)};
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (mapping.inputs[i].empty()) continue;
    const auto isSpilled = [&](TensorId tensor) {
      return plan.homes[plan.views[tensor.at()].root.at()].empty();
    };
    const std::string& name = graph.tensors[op.inputs[i].at()].name;
    const bool isConv = op.kind() == OpKind::Conv;
    words.streams.push_back(streamWords(isAddend(op, i)                   ? "what it adds"
                                        : isConv && i == 1                ? "what it multiplies by"
                                        : op.inputs.size() > 1 && !isConv ? "'" + name + "'"
                                                                          : "inputs",
                                        mapping.inputs[i], isSpilled(op.inputs[i]), device));
  }
  if (!mapping.weights.empty())
    words.streams.push_back(streamWords("weights", mapping.weights, false, device));
  return words;
}

Repeats weightRepeats(const CanonicalGraph& graph, OpId op, const Mapping& mapping) {
  Repeats repeats;
  if (mapping.weights.empty()) return repeats;
  const auto sameBlocks = [](const CoreShare& a, const CoreShare& b) {
    return a.blocks == b.blocks;
  };
  const std::size_t pixels = pixelParts(mapping).size();
  const std::string axes = splitText(mapping).substr(0, splitText(mapping).find('/'));
  addRepeat(repeats, copies(mapping, mapping.weights, sameBlocks),
            axes + " cut in " + std::to_string(pixels) +
                " over cores that one wire does not serve together");
  const LayerNest nest(graph, op, mapping);
  std::set<std::int64_t> different;
  std::int64_t sent = 0, key = -1;
  for (const Iteration& i : nest.iterations()) {
    if (nest.recordKey(i) == key) continue;
    key = nest.recordKey(i);
    different.insert(key);
    ++sent;
  }
  addRepeat(repeats, sent / std::max<std::int64_t>(1, std::ssize(different)),
            "each record again for " +
                (mapping.bands > 1 ? counted(mapping.bands, "band") + " of rows" : "") +
                (mapping.bands > 1 && mapping.chunks > 1 ? " and " : "") +
                (mapping.chunks > 1 ? counted(mapping.chunks, "chunk") + " of columns" : "") +
                ", whose sums fill the core");
  return repeats;
}

Repeats inputRepeats(const CanonicalGraph& graph, OpId op, const Mapping& mapping,
                     std::size_t operand) {
  Repeats repeats;
  const CanonicalOp& o = graph.ops[op.at()];
  if (mapping.inputs[operand].empty() || !sharesInput(o, operand)) return repeats;
  const auto samePixels = [](const CoreShare& a, const CoreShare& b) { return a.boxes == b.boxes; };
  addRepeat(repeats, copies(mapping, mapping.inputs[operand], samePixels),
            "channels cut in " + std::to_string(channelParts(mapping).size()) +
                " over cores that one wire does not serve together");
  if (mapping.resident) return repeats;
  addRepeat(repeats, mapping.passes, "in each of the passes, as the core does not hold them");
  addRepeat(repeats, kernelParts(mapping), "for each part of the kernel's rows");
  return repeats;
}

}  // namespace heddle
