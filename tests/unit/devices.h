// The devices that most unit tests compile for and run on.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "heddle/device/description.h"
#include "heddle/device/device.h"

namespace heddle::testing {

// hw_configs/paper.yaml with what is overridden.
inline Device paper(const DeviceOverrides& overrides = {}) {
  Result<Device> device = readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", overrides);
  EXPECT_TRUE(device) << device.diagnostics();
  return *device;
}
inline Device paper(std::int64_t rows, std::int64_t columns,
                    std::vector<std::pair<std::string, std::string>> settings = {}) {
  return paper({.mesh = {{rows, columns}}, .settings = std::move(settings)});
}

// hw_configs/switched.yaml: each wire reaches every core.
inline Device switched(std::int64_t rows, std::int64_t columns,
                       std::vector<std::pair<std::string, std::string>> settings = {}) {
  Result<Device> device = readDevice(HEDDLE_SOURCE_DIR "/hw_configs/switched.yaml",
                                     {.mesh = {{rows, columns}}, .settings = std::move(settings)});
  EXPECT_TRUE(device) << device.diagnostics();
  return *device;
}

// The like of it by hand: transfers 4 B a cycle, CONV 256 MAC a cycle, vectors 64 B a cycle.
inline Device paperLike(std::int64_t rows, std::int64_t columns) {
  Device d;
  d.name = "test";
  d.rows = rows;
  d.columns = columns;
  d.clock = {1'000'000'000};
  d.core.memory = 64_KiB;
  d.core.banks = 8;
  d.core.operandBanks = 6;
  d.memtile.memory = 512_KiB;
  const BytesPerSecond rate{4'000'000'000};
  d.rates = {rate, rate, rate, rate, rate, rate, {}, {}};
  std::vector<std::int64_t> memtiles;
  for (std::int64_t c = 0; c < columns; ++c) memtiles.push_back(c);
  for (std::int64_t c = 0; c < columns; ++c)
    d.wires.push_back({"column" + std::to_string(c), {0, c, rows, 1}, memtiles});
  for (std::int64_t r = 0; r < rows; ++r)
    d.wires.push_back({"row" + std::to_string(r), {r, 0, 1, columns}, memtiles});
  return d;
}

}  // namespace heddle::testing
