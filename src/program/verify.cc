#include "heddle/program/verify.h"

#include "heddle/program/names.h"
#include "verify_checks.h"

namespace heddle {

EngineCounts engineCounts(EngineKind kind, const Device& device) {
  const std::int64_t rows = device.rows, columns = device.columns;
  switch (kind) {
    case EngineKind::Sequencer:
      return {1, 1, 1};
    case EngineKind::DdrIn:
      return {1, columns, device.memtile.ddrChannelsIn};
    case EngineKind::DdrOut:
      return {1, columns, device.memtile.ddrChannelsOut};
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
      return t.row == 0 && t.column >= 0 && t.column < device.columns;
    case TileKind::Core:
      return t.row >= 0 && t.row < device.rows && t.column >= 0 && t.column < device.columns;
  }
  return false;
}

std::string whereIs(const Program& program, LayerId layer, const std::string& engines,
                    std::int32_t leaf, const Instruction& instruction) {
  const bool named = layer.valid() && layer.at() < program.layers.size();
  return "layer " + std::to_string(layer.index) +
         (named ? " '" + program.layers[layer.at()].name + "'" : "") + ", " + engines +
         ", instruction " + std::to_string(leaf) + " (" +
         std::string(mnemonic(instruction, program)) + ")";
}

Diagnostics verify(const Program& program, const Device& device) {
  Faults faults;
  verifyDeclarations(program, device, faults);
  if (!faults.any()) verifySections(program, device, faults);
  if (!faults.any()) verifyDrain(program, device, faults);
  return faults.take();
}

}  // namespace heddle
