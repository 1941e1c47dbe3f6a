// A small whole description for tests, and how to change one line of it.
#pragma once
#include <stdexcept>
#include <string>

namespace heddle {

inline const std::string kSmallDevice = R"(name: small
rows: 2
columns: 3
clock: 1 GHz
core:
  memory: 64 KiB
  banks: 8
  operandBanks: 6
  channelsIn: 2
  channelsOut: 1
  macsPerCycle: 256 MAC/cycle
  depthwiseMacsPerCycle: 64 MAC/cycle
  vectorBytesPerCycle: 64 B/cycle
  pixelStep: 1
  callOverhead: 0 cycles
  writeMulticast: false
memtile:
  memory: 512 KiB
  ddrChannelsIn: 2
  ddrChannelsOut: 2
links:
  ddr: {read: 4 GB/s, write: 4 GB/s}
  wire: 4 GB/s
  core: {write: 4 GB/s}
  memtile: {read: 4 GB/s, write: 4 GB/s}
locks: {acquire: 0 cycles}
limits: {granularity: 1 B}
wires:
  - {name: column, oneForEach: column, reach: column, feeders: any}
  - {name: row, oneForEach: row, reach: row, feeders: any}
)";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  if (place == std::string::npos) throw std::logic_error("the description has no '" + from + "'");
  return text.replace(place, from.size(), to);
}

}  // namespace heddle
