#include "heddle/device/device.h"

#include <gtest/gtest.h>

#include "description.h"

namespace heddle {
namespace {

const std::string kConfigs = HEDDLE_SOURCE_DIR "/hw_configs/";

TEST(ReadDevice, PaperIsAsThePaperHasIt) {
  const Result<Device> device = readDevice(kConfigs + "paper.yaml");
  ASSERT_TRUE(device) << device.diagnostics();
  EXPECT_EQ(device->name, "paper");
  EXPECT_EQ(device->rows, 4);
  EXPECT_EQ(device->columns, 4);
  EXPECT_EQ(device->clock, Hertz{1'000'000'000});
  EXPECT_EQ(device->core.memory, 64_KiB);
  EXPECT_EQ(device->core.operandMemory(), 48_KiB);
  EXPECT_EQ(device->core.macsPerCycle, 256);
  EXPECT_EQ(device->core.pixelStep, 1);
  EXPECT_EQ(device->memtile.memory, 512_KiB);
  EXPECT_EQ(device->memtile.ddrChannelsIn, 2);
  EXPECT_EQ(device->memtile.ddrChannelsOut, 2);
  EXPECT_EQ(device->rates.ddrRead, BytesPerSecond{4'000'000'000});
  EXPECT_EQ(device->rates.wire, BytesPerSecond{4'000'000'000});
  EXPECT_EQ(device->rates.ddrReadTotal, std::nullopt);
  EXPECT_FALSE(device->coreWriteMulticast);
  EXPECT_EQ(device->limits, Limits{});
  EXPECT_FALSE(device->notModelled.empty());
}

TEST(ReadDevice, PaperHasOneWireAColumnThenOneARow) {
  const Result<Device> device =
      readDevice(kConfigs + "paper.yaml", {.mesh = std::pair{2, 3}, .settings = {}});
  ASSERT_TRUE(device) << device.diagnostics();
  const std::vector<std::int64_t> any = {0, 1, 2};
  EXPECT_EQ(device->wires, (std::vector<Wire>{{"column0", {0, 0, 2, 1}, any},
                                              {"column1", {0, 1, 2, 1}, any},
                                              {"column2", {0, 2, 2, 1}, any},
                                              {"row0", {0, 0, 1, 3}, any},
                                              {"row1", {1, 0, 1, 3}, any}}));
}

TEST(ReadDevice, SwitchedDiffersInReachAndMulticastOnly) {
  Result<Device> paper = readDevice(kConfigs + "paper.yaml");
  const Result<Device> switched = readDevice(kConfigs + "switched.yaml");
  ASSERT_TRUE(paper) << paper.diagnostics();
  ASSERT_TRUE(switched) << switched.diagnostics();
  EXPECT_TRUE(switched->coreWriteMulticast);
  for (const Wire& wire : switched->wires)
    EXPECT_EQ(wire.reach, (CoreRange{0, 0, 4, 4})) << wire.name;
  paper->name = "switched";
  paper->coreWriteMulticast = true;
  for (Wire& wire : paper->wires) wire.reach = {0, 0, 4, 4};
  EXPECT_EQ(*paper, *switched);
}

TEST(ReadDevice, TheBuiltInOnesAreTheFiles) {
  for (const std::string name : {"paper", "switched"}) {
    const Result<Device> builtIn = readDevice(name);
    const Result<Device> file = readDevice(kConfigs + name + ".yaml");
    ASSERT_TRUE(builtIn) << builtIn.diagnostics();
    EXPECT_EQ(*builtIn, *file);
  }
}

TEST(ReadDevice, AnyRectangleHasItsWires) {
  for (const char* file : {"paper.yaml", "switched.yaml"}) {
    for (std::int64_t rows = 1; rows <= 9; ++rows) {
      for (std::int64_t columns = 1; columns <= 9; ++columns) {
        const Result<Device> device =
            readDevice(kConfigs + file, {.mesh = std::pair{rows, columns}, .settings = {}});
        ASSERT_TRUE(device) << device.diagnostics();
        EXPECT_EQ(device->cores(), rows * columns);
        EXPECT_EQ(static_cast<std::int64_t>(device->wires.size()), rows + columns);
      }
    }
  }
}

TEST(ReadDevice, SetReplacesAnyValueWithOrWithoutTheSpace) {
  const Result<Device> device =
      readDevice(kConfigs + "paper.yaml", {.mesh = {},
                                           .settings = {{"links.ddr.read", "2GB/s"},
                                                        {"core.pixelStep", "4"},
                                                        {"core.memory", "32 KiB"},
                                                        {"links.ddr.readTotal", "12.8 GB/s"},
                                                        {"limits.core.descriptors", "16"},
                                                        {"core.writeMulticast", "true"},
                                                        {"rows", "2"}}});
  ASSERT_TRUE(device) << device.diagnostics();
  EXPECT_EQ(device->rates.ddrRead, BytesPerSecond{2'000'000'000});
  EXPECT_EQ(device->rates.ddrWrite, BytesPerSecond{4'000'000'000});
  EXPECT_EQ(device->core.pixelStep, 4);
  EXPECT_EQ(device->core.memory, 32_KiB);
  EXPECT_EQ(device->rates.ddrReadTotal, BytesPerSecond{12'800'000'000});
  EXPECT_EQ(device->limits.coreDescriptors, 16);
  EXPECT_TRUE(device->coreWriteMulticast);
  EXPECT_EQ(device->rows, 2);
}

TEST(ParseDevice, AKeyIsSetOnce) {
  const Result<Device> device =
      parseDevice(kSmallDevice, "small.yaml", {.settings = {{"rows", "3"}, {"rows", "5"}}});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.diagnostics().front().code, "DEV009");
  EXPECT_EQ(device.diagnostics().front().where, "--set rows=5");
  EXPECT_EQ(device.diagnostics().front().what, "--set rows=3");
}

TEST(ParseDevice, ASideIsGivenOnce) {
  for (const char* side : {"rows", "columns"}) {
    const Result<Device> device = parseDevice(kSmallDevice, "small.yaml",
                                              {.mesh = std::pair{1, 1}, .settings = {{side, "1"}}});
    ASSERT_FALSE(device);
    EXPECT_EQ(device.diagnostics().front().code, "DEV009");
    EXPECT_EQ(device.diagnostics().front().what, "--mesh 1x1");
  }
}

TEST(ParseDevice, WiresMayBeWrittenOut) {
  const Result<Device> device =
      parseDevice(replaced(kSmallDevice, "{name: row, oneForEach: row, reach: row, feeders: any}",
                           "{name: extra, reach: {rows: 0-1, columns: 2}, feeders: [2, 0]}"),
                  "small.yaml");
  ASSERT_TRUE(device) << device.diagnostics();
  EXPECT_EQ(device->wires.back(), (Wire{"extra", {0, 2, 2, 1}, {0, 2}}));
}

TEST(ParseDevice, OwnFeedsFromTheMemtileOfTheColumn) {
  const Result<Device> device = parseDevice(
      replaced(kSmallDevice, "reach: column, feeders: any", "reach: column, feeders: own"),
      "small.yaml");
  ASSERT_TRUE(device) << device.diagnostics();
  EXPECT_EQ(device->wires[1].feeders, std::vector<std::int64_t>{1});
}

TEST(ParseDevice, AValueMayCarryItsSource) {
  const Result<Device> device =
      parseDevice(replaced(kSmallDevice, "clock: 1 GHz",
                           "clock: {value: 1.25 GHz, source: \"a page of a manual\"}"),
                  "small.yaml");
  ASSERT_TRUE(device) << device.diagnostics();
  EXPECT_EQ(device->clock, Hertz{1'250'000'000});
}

TEST(PrintDevice, ParsesBackToAnEqualDevice) {
  for (const char* file : {"paper.yaml", "switched.yaml"}) {
    const Result<Device> device = readDevice(
        kConfigs + file,
        {.mesh = std::pair{3, 5},
         .settings = {
             {"links.ddr.read", "3.2 GB/s"}, {"limits.lockMaximum", "63"}, {"clock", "1.25 GHz"}}});
    ASSERT_TRUE(device) << device.diagnostics();
    const std::string text = printDevice(*device);
    const Result<Device> again = parseDevice(text, "printed");
    ASSERT_TRUE(again) << again.diagnostics();
    EXPECT_EQ(*again, *device);
    EXPECT_EQ(printDevice(*again), text);
  }
}

TEST(PrintDevice, WritesEveryValueWithItsUnit) {
  const Result<Device> device = parseDevice(kSmallDevice, "small.yaml");
  ASSERT_TRUE(device) << device.diagnostics();
  const std::string text = printDevice(*device);
  EXPECT_EQ(text.substr(0, text.find("links:")),
            kSmallDevice.substr(0, kSmallDevice.find("links:")));
  EXPECT_NE(text.find("  - {name: column2, reach: {rows: 0-1, columns: 2}, feeders: any}\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace heddle
