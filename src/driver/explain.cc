// Why a compiled run takes the time that it takes: of the network, or of one of its layers.
#include <algorithm>
#include <filesystem>
#include <ostream>

#include "explain_text.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "heddle/driver/saved.h"
#include "heddle/support/words.h"

namespace heddle {
namespace {

constexpr std::size_t kMostNear = 5;

Result<Explanation> readFrom(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "explain.json";
  const Result<std::string> text = readTextFile(file, kMostReport);
  if (text) return parseExplanation(*text, file.string());
  Diagnostics faults = text.diagnostics();
  faults.front().mend = "give a folder that compile wrote whole, or compile again";
  return faults;
}

// Layers whose names hold the word, else the one that is nearest.
std::vector<std::string> near(const Explanation& explanation, const std::string& word) {
  std::vector<std::string> names, near;
  for (const ExplainedLayer& layer : explanation.layers) {
    names.push_back(layer.name);
    for (const std::string& name : {layer.atStart, layer.atEnd})
      if (!name.empty()) names.push_back(name);
    names.insert(names.end(), layer.tables.begin(), layer.tables.end());
  }
  std::ranges::copy_if(names, std::back_inserter(near), [&](const std::string& name) {
    return name.find(word) != std::string::npos;
  });
  if (near.size() > kMostNear) near.resize(kMostNear);
  if (const auto nearest = nearestWord(word, names); near.empty() && nearest)
    near.push_back(*nearest);
  return near;
}

Diagnostic unknownLayer(const Explanation& explanation, const std::string& word) {
  const std::vector<std::string> names = near(explanation, word);
  return {.code = "EXPL004",
          .where = explanation.model,
          .summary = "there is no layer '" + word + "'",
          .what = names.empty() ? std::to_string(explanation.layers.size()) +
                                      " layers; report.md and layers.csv name them all"
                                : "near: " + joinWords(names),
          .mend = names.empty() ? "write a layer's whole name" : "write '" + names.front() + "'",
          .severity = Severity::Usage};
}

Diagnostics explainLayer(const Explanation& explanation, const ExplainOptions& options,
                         std::ostream& out) {
  auto layer = std::ranges::find(explanation.layers, *options.layer, &ExplainedLayer::name);
  if (layer == explanation.layers.end() &&
      !options.layer->empty())  // most do nothing first or last
    layer = std::ranges::find_if(explanation.layers, [&](const ExplainedLayer& other) {
      return other.atStart == *options.layer || other.atEnd == *options.layer ||
             std::ranges::find(other.tables, *options.layer) != other.tables.end();
    });
  if (layer == explanation.layers.end()) return {unknownLayer(explanation, *options.layer)};
  if (options.verbosity.json)
    out << explanationJson(explanation, *layer);
  else if (!options.verbosity.quiet)
    out << explanationText(explanation, *layer);
  return {};
}

}  // namespace

Diagnostics explainCommand(const ExplainOptions& options, std::ostream& out, Progress& progress) {
  progress.begin("read the explanation");
  const Result<Explanation> explanation = readFrom(options.folder);
  if (!explanation) return explanation.diagnostics();
  if (options.layer) {
    progress.end();
    return explainLayer(*explanation, options, out);
  }
  progress.begin("read the program");
  const Result<Saved> saved = readSaved(options.folder);
  if (!saved) return asBadInput(saved.diagnostics());
  progress.begin("run it again, with each key raised");
  const Result<std::vector<RaisedKeys>> keys = raiseKeys(saved->program, explanation->cycles);
  if (!keys) return asBadInput(keys.diagnostics());
  progress.end();
  if (options.verbosity.json)
    out << explanationJson(*explanation, *keys);
  else if (!options.verbosity.quiet)
    out << explanationText(*explanation, *keys);
  return {};
}

}  // namespace heddle
