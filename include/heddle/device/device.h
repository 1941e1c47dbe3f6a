// The array as described by a YAML file: cores, memtiles, shim tiles with DDR channels, wires,
// rates. docs/device.md.
//
// Columns are numbered from 0 left to right, core rows from 0. Memtile m lies below column m; its
// shim tile holds its DDR channels. Every figure of the file is here with its unit; nothing of a
// device is assumed anywhere else.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/support/result.h"
#include "heddle/support/units.h"

namespace heddle {

inline constexpr std::int64_t kMostMeshSide = 64;  // rows, columns that a description may have

struct CoreSpec {
  Bytes memory;                   // whole, e.g. 64 KiB
  std::int64_t banks = 1;         // equal parts of it
  std::int64_t operandBanks = 1;  // the first ones; the rest hold the kernel's code and stack
  std::int64_t channelsIn = 2, channelsOut = 1;
  std::int64_t macsPerCycle = 256;          // int8, CONV and GEMM
  std::int64_t depthwiseMacsPerCycle = 64;  // DWCONV
  std::int64_t vectorBytesPerCycle = 64;    // pool, add, mul, table, ...: bytes of operand
  std::int64_t pixelStep = 1;  // pixels of one matrix step; columns are rounded up to it
  Cycles callOverhead;         // added to every kernel call
  Bytes operandMemory() const { return Bytes(memory.raw() / banks * operandBanks); }
  friend bool operator==(const CoreSpec&, const CoreSpec&) = default;
};

struct MemtileSpec {
  Bytes memory;
  std::int64_t ddrChannelsIn = 2, ddrChannelsOut = 2;
  friend bool operator==(const MemtileSpec&, const MemtileSpec&) = default;
};

// A rectangle of cores.
struct CoreRange {
  std::int64_t row = 0, column = 0, rows = 1, columns = 1;
  bool contains(std::int64_t r, std::int64_t c) const {
    return r >= row && r < row + rows && c >= column && c < column + columns;
  }
  friend bool operator==(const CoreRange&, const CoreRange&) = default;
};

// Carries one transfer at a time from one memtile to any subset of the cores it reaches.
struct Wire {
  std::string name;  // "column3", "row0"
  CoreRange reach;
  std::vector<std::int64_t> feeders;  // memtiles that may feed it
  friend bool operator==(const Wire&, const Wire&) = default;
};

struct Rates {
  BytesPerSecond ddrRead, ddrWrite;          // one DDR channel
  BytesPerSecond wire;                       // one wire, and one receiving channel of a core
  BytesPerSecond coreWrite;                  // one sending channel of a core
  BytesPerSecond memtileRead, memtileWrite;  // one memtile end of a transfer
  std::optional<BytesPerSecond> ddrReadTotal,
      ddrWriteTotal;  // shared by all channels in equal parts, where given
  friend bool operator==(const Rates&, const Rates&) = default;
};

// Limits of the descriptors; absent = unlimited.
struct Limits {
  std::optional<std::int64_t> coreDescriptors, memtileDescriptors, shimDescriptors;
  std::optional<std::int64_t> coreDimensions, memtileDimensions, shimDimensions;
  std::optional<std::int64_t> coreLocks, memtileLocks, lockMaximum;
  std::optional<std::int64_t>
      locksPerDescriptor;                     // acquired, and as many released, at a transfer's end
  std::optional<std::int64_t> recordLengths;  // of a layer's weight records; 1: all equal
  std::int64_t granularity = 1;  // bytes; addresses, runs and strides are multiples of it
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct Device {
  std::string name;
  std::int64_t rows = 1, columns = 1;
  Hertz clock;
  CoreSpec core;
  MemtileSpec memtile;  // one a column
  Rates rates;
  std::vector<Wire> wires;          // resolved for rows x columns
  bool coreWriteMulticast = false;  // a core may write to several memtiles at once
  Limits limits;
  Cycles lockAcquire;                    // added to a transfer or call that acquires
  std::vector<std::string> notModelled;  // what the description leaves out, for the report
  friend bool operator==(const Device&, const Device&) = default;

  std::int64_t cores() const { return rows * columns; }
  std::int64_t memtiles() const { return columns; }
};

struct DeviceOverrides {
  std::optional<std::pair<std::int64_t, std::int64_t>> mesh;  // --mesh RxC
  std::vector<std::pair<std::string, std::string>> settings;  // --set KEY=VALUE
};

// Reads a description; `path` may also be the name of a built-in one (device/built_in.h). All
// faults of the file at once, each with file:line:
//
// | code   | when                                                                              |
// |--------|-----------------------------------------------------------------------------------|
// | DEV001 | there is no such file, or it cannot be read                                       |
// | DEV002 | it is not YAML, or uses what a description has no use for: aliases, tags, ...     |
// | DEV003 | an unknown key                                                                    |
// | DEV004 | a value that is no value of its key: no unit, a wrong unit, a wrong word          |
// | DEV005 | a value out of range, or values that contradict each other                        |
// | DEV006 | a key is missing                                                                  |
// | DEV007 | a key is given twice                                                              |
// | DEV008 | wires that reach no core, memtiles that are not there, cores that no wire reaches |
// | DEV009 | `--set` of no key, one that can't be set or is set twice, or a side beside `--mesh` |
Result<Device> readDevice(const std::string& path, const DeviceOverrides& overrides = {});
// The same from text; `name` stands for the path in messages.
Result<Device> parseDevice(const std::string& yaml, const std::string& name,
                           const DeviceOverrides& overrides = {});
// Writes the resolved description; parseDevice reads it back to an equal Device.
std::string printDevice(const Device& device);

}  // namespace heddle
