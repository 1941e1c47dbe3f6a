#include "heddle/program/engines.h"

namespace heddle {

EngineCounts engineCounts(EngineKind kind, const Device& device) {
  const std::int64_t rows = device.rows, columns = device.columns;
  switch (kind) {
    case EngineKind::Sequencer:
      return {1, 1, 1};
    case EngineKind::DdrIn:
      return {1, device.memtiles(), device.memtile.ddrChannelsIn};
    case EngineKind::DdrOut:
      return {1, device.memtiles(), device.memtile.ddrChannelsOut};
    case EngineKind::Wire:
      return {1, std::ssize(device.wires), 1};
    case EngineKind::CoreIn:
      return {rows, columns, device.core.channelsIn};
    case EngineKind::Core:
      return {rows, columns, 1};
    case EngineKind::CoreOut:
      return {rows, columns, device.core.channelsOut};
  }
  return {0, 0, 0};
}

bool exists(const Engine& e, const Device& device) {
  const EngineCounts n = engineCounts(e.kind, device);
  return e.row >= 0 && e.row < n.rows && e.column >= 0 && e.column < n.columns && e.channel >= 0 &&
         e.channel < n.channels;
}

bool exists(const Tile& t, const Device& device) {
  switch (t.kind) {
    case TileKind::Ddr:
      return t.row == 0 && t.column == 0;
    case TileKind::Memtile:
      return t.row == 0 && t.column >= 0 && t.column < device.memtiles();
    case TileKind::Core:
      return t.row >= 0 && t.row < device.rows && t.column >= 0 && t.column < device.columns;
  }
  return false;
}

EngineNumbers::EngineNumbers(const Device& device) {
  for (std::size_t k = 0; k < kEngineKinds; ++k) {
    const auto kind = static_cast<EngineKind>(k);
    const EngineCounts n = engineCounts(kind, device);
    kinds_[k] = {engines_.size(), n.columns, n.channels};
    for (std::int32_t row = 0; row < n.rows; ++row)
      for (std::int32_t column = 0; column < n.columns; ++column)
        for (std::int32_t channel = 0; channel < n.channels; ++channel)
          engines_.push_back({kind, row, column, channel});
  }
}

LockTable::LockTable(const Program& program, const Device& device)
    : memtiles_(device.memtiles()),
      columns_(device.columns),
      tiles_(static_cast<std::size_t>(device.memtiles() + device.cores())) {
  for (std::size_t i = 0; i < program.locks.size(); ++i) {
    const Lock& lock = program.locks[i];
    std::vector<std::int32_t>& locks = tiles_[number(lock.tile)];
    const auto index = static_cast<std::size_t>(lock.index);
    if (locks.size() <= index) locks.resize(index + 1, -1);
    locks[index] = static_cast<std::int32_t>(i);
  }
}

}  // namespace heddle
