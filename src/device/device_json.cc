#include "heddle/device/device_json.h"

namespace heddle {
namespace {

void writeReach(JsonWriter& json, const CoreRange& reach) {
  json.beginObject();
  json.key("row").value(reach.row).key("column").value(reach.column);
  json.key("rows").value(reach.rows).key("columns").value(reach.columns).endObject();
}

}  // namespace

void writeKeys(JsonWriter& json, const std::vector<DeviceNumber>& numbers) {
  json.beginObject();
  for (const DeviceNumber& one : numbers)
    one.number ? json.key(one.key).value(*one.number) : json.key(one.key).null();
  json.endObject();
}

void writeWires(JsonWriter& json, const std::vector<Wire>& wires) {
  json.beginArray();
  for (const Wire& wire : wires) {
    json.beginObject().key("name").value(wire.name).key("reach");
    writeReach(json, wire.reach);
    json.key("feeders").beginArray();
    for (const std::int64_t memtile : wire.feeders) json.value(memtile);
    json.endArray().endObject();
  }
  json.endArray();
}

}  // namespace heddle
