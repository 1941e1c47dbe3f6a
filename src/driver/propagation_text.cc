#include "propagation_text.h"

#include <algorithm>
#include <vector>

#include "text_table.h"

namespace heddle {
namespace {

struct Row {
  std::string name;  // of the operator, or of the tensor that none writes
  std::int64_t channels = 0, constant = 0, notNeeded = 0, removed = 0, weightsZeroed = 0;
};

// Those with something to say: tensors that no operator writes, then operators in their order.
std::vector<Row> rowsOf(const CanonicalGraph& graph, const Propagated& found) {
  std::vector<bool> written(graph.tensors.size(), false);
  for (const CanonicalOp& op : graph.ops) written[op.output.at()] = true;
  std::vector<Row> rows;
  const auto add = [&](const std::string& name, std::size_t tensor, std::int64_t weightsZeroed) {
    const ChannelFacts& facts = found.tensors[tensor];
    const Row row{
        name,
        std::ssize(facts.needed),
        std::ranges::count_if(facts.constant, [](const auto& v) { return v.has_value(); }),
        std::ranges::count(facts.needed, false),
        std::ranges::count(facts.removed, true),
        weightsZeroed};
    if (row.constant + row.notNeeded + row.weightsZeroed > 0) rows.push_back(row);
  };
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    if (!written[t]) add(graph.tensors[t].name, t, 0);
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    add(graph.ops[i].name, graph.ops[i].output.at(), found.weightsZeroed[i]);
  return rows;
}

}  // namespace

std::string propagationText(const CanonicalGraph& graph, const Propagated& found) {
  const std::vector<Row> rows = rowsOf(graph, found);
  if (rows.empty()) return {};
  TextTable table{{"layer", "channels", "constant", "not needed", "removed", "weights zeroed"}};
  for (const Row& row : rows)
    table.push_back({row.name, std::to_string(row.channels), std::to_string(row.constant),
                     std::to_string(row.notNeeded), std::to_string(row.removed),
                     std::to_string(row.weightsZeroed)});
  return "propagation  " + std::to_string(found.constantChannels()) + " channels are constant, " +
         std::to_string(found.unneededChannels()) + " not needed; compile leaves " +
         std::to_string(found.removedChannels()) + " of these out\n" + textOf(table, "  ");
}

void propagationJson(const CanonicalGraph& graph, const Propagated& found, JsonWriter& json) {
  json.key("channelsConstant").value(found.constantChannels());
  json.key("channelsNotNeeded").value(found.unneededChannels());
  json.key("channelsRemoved").value(found.removedChannels()).key("layers").beginArray();
  for (const Row& row : rowsOf(graph, found)) {
    json.beginObject().key("layer").value(row.name).key("channels").value(row.channels);
    json.key("constant").value(row.constant).key("notNeeded").value(row.notNeeded);
    json.key("removed").value(row.removed).key("weightsZeroed").value(row.weightsZeroed);
    json.endObject();
  }
  json.endArray();
}

}  // namespace heddle
