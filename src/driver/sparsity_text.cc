#include "sparsity_text.h"

#include "text_table.h"

namespace heddle {
namespace {

std::string partText(std::int64_t kept, std::int64_t of) {
  return std::to_string(kept) + "/" + std::to_string(of);
}

void partJson(JsonWriter& json, const char* name, std::int64_t kept, std::int64_t of) {
  json.key(name).beginObject().key("kept").value(kept).key("all").value(of).endObject();
}

}  // namespace

std::string sparsityText(const SparseGraph& sparse, bool hasMasks) {
  TextTable table{{"layer", "zeros", "8x8 blocks", "out", "in", "weights", ""}};
  if (hasMasks) table.front().insert(table.front().begin() + 2, "masked");
  Density all;
  for (std::size_t i = 0; i < sparse.weights.size(); ++i) {
    const std::optional<SparsityAttribute>& attribute = sparse.weights[i];
    if (!attribute) continue;
    const CanonicalOp& op = sparse.graph.ops[i];
    const Density density = densityOf(attribute->nonZero.extents, nonZeroWeights(sparse.graph, op));
    all.blocks += density.blocks;
    all.blocksKept += density.blocksKept;
    all.elements += density.elements;
    all.elementsKept += density.elementsKept;
    std::vector<std::string> row{op.name, toText(attribute->nonZero)};
    if (hasMasks) row.push_back(toText(attribute->needed));
    row.push_back(partText(density.blocksKept, density.blocks));
    row.push_back(partText(density.rowsKept, density.rows));
    row.push_back(partText(density.columnsKept, density.columns));
    row.push_back(partText(density.elementsKept, density.elements));
    row.push_back(percentText(static_cast<double>(density.elementsKept) /
                              static_cast<double>(density.elements)));
    table.push_back(std::move(row));
  }
  if (table.size() == 1) return {};
  return "sparsity  " + partText(all.blocksKept, all.blocks) + " blocks of 8x8 and " +
         partText(all.elementsKept, all.elements) + " weights are not zero\n" + textOf(table, "  ");
}

void sparsityJson(const SparseGraph& sparse, bool hasMasks, JsonWriter& json) {
  for (std::size_t i = 0; i < sparse.weights.size(); ++i) {
    const std::optional<SparsityAttribute>& attribute = sparse.weights[i];
    if (!attribute) continue;
    const CanonicalOp& op = sparse.graph.ops[i];
    const Density density = densityOf(attribute->nonZero.extents, nonZeroWeights(sparse.graph, op));
    json.beginObject().key("layer").value(op.name).key("bits").value(attribute->bits);
    json.key("zeros").value(toText(attribute->nonZero));
    json.key("storedBits").value(attribute->nonZero.storedBits());
    if (hasMasks) json.key("masked").value(toText(attribute->needed));
    partJson(json, "blocks", density.blocksKept, density.blocks);
    partJson(json, "outputChannels", density.rowsKept, density.rows);
    partJson(json, "inputChannels", density.columnsKept, density.columns);
    partJson(json, "weights", density.elementsKept, density.elements);
    json.endObject();
  }
}

}  // namespace heddle
