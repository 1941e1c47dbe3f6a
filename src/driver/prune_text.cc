#include "prune_text.h"

#include "heddle/support/json_writer.h"
#include "text_table.h"

namespace heddle {
namespace {

const char* name(Importance importance) {
  switch (importance) {
    case Importance::L1:
      return "l1";
    case Importance::L2:
      return "l2";
    case Importance::Variance:
      return "variance";
  }
  return "";
}

std::string balanceText(const PruneOptions& options) {
  switch (options.balance) {
    case BalanceAxis::None:
      return "none";
    case BalanceAxis::Outputs:
      return "cout:" + std::to_string(options.groups);
    case BalanceAxis::Inputs:
      return "cin:" + std::to_string(options.groups);
  }
  return "";
}

std::string ratioText(std::int64_t millionths) {
  return JsonWriter().value(static_cast<double>(millionths) / 1e6).take();
}

std::string layersText(const Network& run, const Pruning& pruning) {
  TextTable table{{"layer", "blocks", "kept", "energy kept", "imbalance", ""}};
  std::int64_t blocks = 0, kept = 0;
  for (const PrunedLayer& layer : pruning.layers) {
    const std::string& op = run.canonical->graph.ops[layer.op.at()].name;
    if (!layer.stays.empty()) {
      table.push_back({op, "", "", "", "", layer.stays});
      continue;
    }
    blocks += layer.blocks;
    kept += layer.blocksKept;
    table.push_back({op, std::to_string(layer.blocks), std::to_string(layer.blocksKept),
                     percentText(layer.energyKept), hundredthsText(layer.imbalance), ""});
  }
  return "blocks    " + std::to_string(kept) + " of " + std::to_string(blocks) + " stay\n" +
         textOf(table, "  ");
}

std::string sensitivityText(const Network& run, const std::vector<LayerSensitivity>& layers) {
  TextTable table{{"error at"}};
  for (const std::int64_t ratio : kSensitivityMillionths) table[0].push_back(ratioText(ratio));
  for (const LayerSensitivity& layer : layers) {
    std::vector<std::string> row{run.canonical->graph.ops[layer.op.at()].name};
    for (const std::optional<double>& error : layer.errors)
      row.push_back(error ? percentText(*error) : "-");
    table.push_back(std::move(row));
  }
  return textOf(table, "  ");
}

void optionsJson(JsonWriter& json, const PruneOptions& options) {
  json.key("block").beginArray().value(options.blockRows).value(options.blockColumns).endArray();
  json.key("ratio").value(static_cast<double>(options.ratioMillionths) / 1e6);
  json.key("importance").value(name(options.importance));
  json.key("scope").value(options.scope == PruneScope::Layer ? "layer" : "network");
  json.key("balance").value(balanceText(options)).key("steps").value(options.steps);
}

void layerJson(JsonWriter& json, const Network& run, const PrunedLayer& layer) {
  json.beginObject().key("layer").value(run.canonical->graph.ops[layer.op.at()].name);
  if (layer.value.valid()) json.key("weights").value((*run.graph)[layer.value].name);
  if (!layer.stays.empty()) {
    json.key("stays").value(layer.stays).endObject();
    return;
  }
  json.key("blocks").value(layer.blocks).key("blocksKept").value(layer.blocksKept);
  json.key("energyKept").value(layer.energyKept);
  json.key("groups").beginArray();
  for (const std::int64_t count : layer.groups) json.value(count);
  json.endArray().key("imbalance").value(layer.imbalance).endObject();
}

void sensitivityJson(JsonWriter& json, const Network& run,
                     const std::vector<LayerSensitivity>& layers) {
  json.key("sensitivity").beginArray();
  for (const LayerSensitivity& layer : layers) {
    json.beginObject().key("layer").value(run.canonical->graph.ops[layer.op.at()].name);
    json.key("errors").beginArray();
    for (std::size_t r = 0; r < kSensitivityMillionths.size(); ++r) {
      json.beginObject().key("ratio").value(static_cast<double>(kSensitivityMillionths[r]) / 1e6);
      json.key("error");
      if (layer.errors[r])
        json.value(*layer.errors[r]);
      else
        json.null();
      json.endObject();
    }
    json.endArray().endObject();
  }
  json.endArray();
}

}  // namespace

std::string pruneText(const Network& run, const PruneCommandOptions& options,
                      const PruneResult& result) {
  std::string text;
  if (!options.out.empty())
    text += "model     " + options.out + "\nmasks     " + result.masksFile + "\n";
  if (result.masked > 0)
    text += "masked    " + std::to_string(result.masked) + " layers by " + options.masks + "\n";
  if (result.pruning && !options.out.empty()) text += layersText(run, *result.pruning);
  if (result.sensitivity)
    text += "output error where one layer alone is pruned, of the output's L2 norm\n" +
            sensitivityText(run, *result.sensitivity);
  return text;
}

std::string pruneJson(const Network& run, const PruneCommandOptions& options,
                      const PruneResult& result) {
  JsonWriter json(2);
  json.beginObject().key("schema").value("heddle.pruning/1");
  json.key("model").value(run.canonical->graph.name);
  if (!options.out.empty()) json.key("out").value(options.out).key("masks").value(result.masksFile);
  json.key("masked").value(static_cast<std::int64_t>(result.masked));
  if (options.blocks) optionsJson(json, *options.blocks);
  if (result.pruning && !options.out.empty()) {
    json.key("layers").beginArray();
    for (const PrunedLayer& layer : result.pruning->layers) layerJson(json, run, layer);
    json.endArray();
  }
  if (result.sensitivity) sensitivityJson(json, run, *result.sensitivity);
  json.endObject();
  return json.take() + "\n";
}

}  // namespace heddle
