#include "fault.h"

#include <utility>

namespace heddle::machine {
namespace {

std::string at(std::int64_t row, std::int64_t column) {
  return "(" + std::to_string(row) + "," + std::to_string(column) + ")";
}

std::string channelOf(std::int64_t channel) { return " channel " + std::to_string(channel); }

}  // namespace

void fail(const char* code, std::string where, std::string summary, std::string what,
          std::string mend) {
  throw Fault{
      {code, std::move(where), std::move(summary), std::move(what), std::move(mend)}, {}, 0};
}

void failTooLarge(const char* code, std::string where, std::string summary, std::string what,
                  std::string mend) {
  Fault fault;
  fault.diagnostic = {code,
                      std::move(where),
                      std::move(summary),
                      std::move(what),
                      std::move(mend),
                      Severity::DoesNotFit};
  throw fault;
}

std::string nameOf(const Engine& e, const Device& device) {
  switch (e.kind) {
    case EngineKind::Sequencer:
      return "the sequencer";
    case EngineKind::DdrIn:
      return "DDR" + channelOf(e.channel) + " into memtile " + std::to_string(e.column);
    case EngineKind::DdrOut:
      return "DDR" + channelOf(e.channel) + " out of memtile " + std::to_string(e.column);
    case EngineKind::Wire: {
      const auto index = static_cast<std::size_t>(e.column);
      return "wire " + std::to_string(e.column) +
             (index < device.wires.size() ? " '" + device.wires[index].name + "'" : "");
    }
    case EngineKind::CoreIn:
      return "receiving" + channelOf(e.channel) + " of core " + at(e.row, e.column);
    case EngineKind::Core:
      return "core " + at(e.row, e.column);
    case EngineKind::CoreOut:
      return "sending" + channelOf(e.channel) + " of core " + at(e.row, e.column);
  }
  return {};
}

std::string nameOf(const Tile& tile) {
  switch (tile.kind) {
    case TileKind::Ddr:
      return "DDR";
    case TileKind::Memtile:
      return "memtile " + std::to_string(tile.column);
    case TileKind::Core:
      return "core " + at(tile.row, tile.column);
  }
  return {};
}

}  // namespace heddle::machine
