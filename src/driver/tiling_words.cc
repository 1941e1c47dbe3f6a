#include "tiling_words.h"

#include <cmath>
#include <numeric>

#include "text_table.h"

namespace heddle {
namespace {

// Of layers [first, last]; none where nobody counted.
std::optional<Cycles> sumOf(const std::vector<Cycles>& layers, std::size_t first,
                            std::size_t last) {
  if (layers.empty()) return std::nullopt;
  Cycles sum;
  for (std::size_t i = first; i <= last; ++i) sum += layers[i];
  return sum;
}

std::optional<Cycles> wholeOf(const std::vector<Cycles>& layers) {
  return layers.empty() ? std::nullopt : sumOf(layers, 0, layers.size() - 1);
}

std::string partText(Cycles part, Cycles whole) {
  return percentText(static_cast<double>(std::abs(part.raw())) / static_cast<double>(whole.raw()));
}

Cycles inGroups(const TilingChoice& choice) {
  Cycles cycles;
  for (const TilingChoice::Group& group : choice.groups)
    cycles += sumOf(choice.layers, group.first, group.last).value_or(Cycles());
  return cycles;
}

std::string whyOf(const ExplainedTiling& tiling, const TilingChoice& choice) {
  if (choice.groups.empty() && choice.spillsLittle)
    return "tensors spill, but that hardly costs time, so that no group of layers was tried in "
           "tiles";
  if (choice.groups.empty())
    return "tensors spill, but no group of layers promises to be faster in tiles, or fits";
  if (!tiling.alone || !tiling.tiled || tiling.alone->raw() <= 0)
    return "tensors spill; the closed form timed no plan to compare with";
  if (choice.byMachine)
    return choice.taken ? "what lies between these layers does not fit the memtiles; of the plans "
                          "that were simulated one with these groups in tiles takes least"
                        : "tried; of the plans that were simulated one without tiles takes least";
  const Cycles gain = *tiling.alone - *tiling.tiled;
  const std::string part = partText(gain, *tiling.alone);
  if (choice.taken)
    return gain.raw() > 0
               ? "what lies between these layers does not fit the memtiles; in tiles it never "
                 "leaves them, and the closed form finds the run " +
                     part + " shorter"
               : "these groups were asked for; the closed form finds the run " + part + " longer";
  return gain.raw() < 0 ? "tried, and the closed form finds the run " + part + " longer"
                        : "tried, and the closed form finds the run " + part +
                              " shorter: " + partText(gain, inGroups(choice)) +
                              " of the time of these layers, where tiles have to gain " +
                              percentText(static_cast<double>(kTilingWorthwhile) / 1000);
}

ExplainedGroup groupOf(const Report& report, std::size_t first, std::size_t last,
                       std::int64_t tiles) {
  ExplainedGroup group;
  group.first = report.layers[first].name;
  group.last = report.layers[last].name;
  group.layers = static_cast<std::int64_t>(last - first + 1);
  group.tiles = tiles;
  return group;
}

// As the planner tried them; those of the plan say more.
std::vector<ExplainedGroup> triedGroups(const Report& report, const TilingChoice& choice) {
  std::vector<ExplainedGroup> groups;
  for (const TilingChoice::Group& tried : choice.groups) {
    groups.push_back(groupOf(report, tried.first, tried.last, tried.tiles));
    groups.back().alone = sumOf(choice.layers, tried.first, tried.last);
    groups.back().tiled = sumOf(choice.layersTiled, tried.first, tried.last);
  }
  return groups;
}

std::vector<ExplainedGroup> groupsOfRun(const Report& report, const TilingChoice* choice) {
  std::vector<ExplainedGroup> groups;
  for (const GroupReport& made : report.groups) {
    ExplainedGroup group = groupOf(report, made.first, made.last, made.tiles);
    group.kept = made.kept;
    group.weightsAgain = made.weightsAgain;
    if (choice) {
      group.alone = sumOf(choice->layers, made.first, made.last);
      group.tiled = sumOf(choice->layersTiled, made.first, made.last);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

std::optional<ExplainedTiling> explainTiling(const Compilation& run) {
  const Report& report = *run.report;
  const TilingChoice* choice = run.choices && run.choices->tiling ? &*run.choices->tiling : nullptr;
  if (!choice && report.groups.empty()) return std::nullopt;
  ExplainedTiling tiling;
  tiling.taken = !report.groups.empty();
  if (!choice) {
    tiling.why = "the plan or the program was given, and is tiled";
    tiling.groups = groupsOfRun(report, nullptr);
    return tiling;
  }
  tiling.alone = wholeOf(choice->layers);
  tiling.tiled = wholeOf(choice->layersTiled);
  tiling.why = whyOf(tiling, *choice);
  tiling.groups = choice->taken ? groupsOfRun(report, choice) : triedGroups(report, *choice);
  return tiling;
}

}  // namespace heddle
