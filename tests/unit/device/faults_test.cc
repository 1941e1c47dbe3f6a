// Each fault of a description, word for word.
#include <gtest/gtest.h>

#include "description.h"
#include "heddle/device/device.h"

namespace heddle {
namespace {

// The message for kSmallDevice with one piece of it replaced.
std::string faultOfText(const std::string& from, const std::string& to) {
  return toText(parseDevice(replaced(kSmallDevice, from, to), "d.yaml").diagnostics());
}
std::string faultOfSetting(const std::string& key, const std::string& value) {
  return toText(
      parseDevice(kSmallDevice, "d.yaml", {.mesh = {}, .settings = {{key, value}}}).diagnostics());
}

TEST(DeviceFaults, UnknownKeyOffersTheNearest) {
  EXPECT_EQ(faultOfText("  banks: 8", "  banks: 8\n  memroy: 1 KiB"),
            "error[DEV003] d.yaml:8: unknown key 'memroy' of 'core'\n"
            "  what:  keys of 'core': memory, banks, operandBanks, channelsIn, channelsOut, "
            "macsPerCycle, "
            "depthwiseMacsPerCycle, vectorBytesPerCycle, pixelStep, callOverhead, writeMulticast\n"
            "  mend:  write 'memory'\n");
}

TEST(DeviceFaults, ABareNumberWhereAUnitIsDue) {
  EXPECT_EQ(faultOfText("memory: 64 KiB", "memory: 65536"),
            "error[DEV004] d.yaml:6: 'core.memory': '65536' has no unit\n"
            "  what:  a size is due; units: GiB, MiB, KiB, GB, MB, kB, B\n"
            "  mend:  write it like '64 KiB'\n");
}

TEST(DeviceFaults, AWrongUnitOffersTheNearest) {
  EXPECT_EQ(faultOfText("wire: 4 GB/s", "wire: 4 Gb/s"),
            "error[DEV004] d.yaml:23: 'links.wire': 'Gb/s' is not a unit of a rate\n"
            "  what:  units: TB/s, GB/s, MB/s, kB/s, GiB/s, MiB/s, B/s\n"
            "  mend:  write '4 GB/s'\n");
}

TEST(DeviceFaults, AFractionOfAByte) {
  EXPECT_EQ(faultOfText("memory: 64 KiB", "memory: 1.3 B"),
            "error[DEV004] d.yaml:6: 'core.memory': '1.3 B' is not a whole number of B\n"
            "  mend:  write it without a fraction, in a smaller unit\n");
}

TEST(DeviceFaults, NotANumber) {
  EXPECT_EQ(faultOfText("rows: 2", "rows: -2"),
            "error[DEV004] d.yaml:2: 'rows': '-2' is not a count\n"
            "  mend:  write it like '4'\n");
}

TEST(DeviceFaults, NeitherTrueNorFalse) {
  EXPECT_EQ(faultOfText("writeMulticast: false", "writeMulticast: fasle"),
            "error[DEV004] d.yaml:16: 'core.writeMulticast': 'fasle' is neither true nor false\n"
            "  mend:  write 'false'\n");
}

TEST(DeviceFaults, OutOfRange) {
  EXPECT_EQ(faultOfText("rows: 2", "rows: 65"),
            "error[DEV005] d.yaml:2: 'rows': '65' is out of range\n"
            "  what:  at least 1, at most 64\n"
            "  mend:  give a value in that range\n");
  EXPECT_EQ(faultOfText("read: 4 GB/s", "read: 99999999999999 GB/s"),
            "error[DEV005] d.yaml:22: 'links.ddr.read': '99999999999999 GB/s' is out of range\n"
            "  what:  at least 1 MB/s, at most 10 TB/s\n"
            "  mend:  give a value in that range\n");
  EXPECT_EQ(faultOfText("operandBanks: 6", "operandBanks: 9"),
            "error[DEV005] d.yaml:8: more operand banks than banks\n"
            "  what:  9 of 8\n"
            "  mend:  lower core.operandBanks\n");
  EXPECT_EQ(faultOfText("banks: 8", "banks: 7"),
            "error[DEV005] d.yaml:6: core.memory does not divide into banks of whole 8-byte words\n"
            "  what:  65536 B in 7 banks\n"
            "  mend:  make it a multiple of 56 B\n");
}

TEST(DeviceFaults, AMissingKey) {
  EXPECT_EQ(faultOfText("  banks: 8\n", ""),
            "error[DEV006] d.yaml: 'core.banks' is missing\n"
            "  mend:  add it, like 'core.banks: 4'\n");
}

TEST(DeviceFaults, AKeyGivenTwice) {
  EXPECT_EQ(faultOfText("columns: 3", "columns: 3\nrows: 2"),
            "error[DEV007] d.yaml:4: key 'rows' is given twice\n"
            "  what:  first in line 2\n"
            "  mend:  keep one of the two\n");
}

TEST(DeviceFaults, AllOfTheFileAtOnce) {
  const Result<Device> device = parseDevice(
      replaced(replaced(kSmallDevice, "rows: 2", "rows: two"), "clock: 1 GHz", "clock: 1"),
      "d.yaml");
  ASSERT_EQ(device.diagnostics().size(), 2u) << device.diagnostics();
  EXPECT_EQ(device.diagnostics()[0].where, "d.yaml:2");
  EXPECT_EQ(device.diagnostics()[1].where, "d.yaml:4");
}

TEST(DeviceFaults, WiresThatReachNoCore) {
  EXPECT_EQ(faultOfText("reach: row,", "reach: {rows: 1-2, columns: 0},"),
            "error[DEV008] d.yaml:30: a wire reaches rows that are not there: 1-2\n"
            "  what:  the array has rows 0-1\n"
            "  mend:  correct the range, or write 'reach: row' with 'oneForEach: row'\n");
  EXPECT_EQ(faultOfText("reach: row, feeders: any", "reach: row, feeders: [3]"),
            "error[DEV008] d.yaml:30: memtile 3 cannot feed a wire: there is none of that number\n"
            "  what:  the array has memtiles 0-2\n"
            "  mend:  correct it, or write 'feeders: any'\n");
}

TEST(DeviceFaults, CoresThatNoWireReaches) {
  const std::string columns =
      "  - {name: column, oneForEach: column, reach: column, feeders: any}\n";
  const std::string rows = "  - {name: row, oneForEach: row, reach: row, feeders: any}\n";
  EXPECT_EQ(faultOfText(columns + rows,
                        "  - {name: half, reach: {rows: 0, columns: 0-2}, feeders: any}\n"),
            "error[DEV008] d.yaml:29: no wire reaches core (1,0)\n"
            "  what:  it could never be given work\n"
            "  mend:  add a wire, or write 'reach: any'\n");
}

TEST(DeviceFaults, AWrongWordOfAWire) {
  EXPECT_EQ(faultOfText("reach: row,", "reach: rwo,"),
            "error[DEV004] d.yaml:30: 'reach' of a wire cannot be 'rwo'\n"
            "  what:  one of: any, column, row\n"
            "  mend:  write 'row'\n");
}

TEST(DeviceFaults, SetOffersTheNearestKey) {
  EXPECT_EQ(faultOfSetting("links.ddr.raed", "2GB/s"),
            "error[DEV009] --set links.ddr.raed=2GB/s: unknown key 'links.ddr.raed'\n"
            "  mend:  write 'links.ddr.read'\n");
  EXPECT_EQ(faultOfSetting("links.ddr", "2GB/s"),
            "error[DEV009] --set links.ddr=2GB/s: 'links.ddr' is a group of keys\n"
            "  what:  keys of 'links.ddr': read, write, readTotal, writeTotal\n"
            "  mend:  name one of them, as in 'links.ddr.read'\n");
  EXPECT_EQ(faultOfSetting("wires", "1"),
            "error[DEV009] --set wires=1: 'wires' cannot be set on the command line\n"
            "  mend:  write it into a description of your own\n");
  EXPECT_EQ(faultOfSetting("core.zebra", "1"),
            "error[DEV009] --set core.zebra=1: unknown key 'zebra' of 'core'\n"
            "  what:  keys of 'core': memory, banks, operandBanks, channelsIn, channelsOut, "
            "macsPerCycle, "
            "depthwiseMacsPerCycle, vectorBytesPerCycle, pixelStep, callOverhead, writeMulticast\n"
            "  mend:  use one of these keys\n");
}

TEST(DeviceFaults, SetWithABadValueIsAUsageFault) {
  const Result<Device> device =
      parseDevice(kSmallDevice, "d.yaml", {.mesh = {}, .settings = {{"core.memory", "64"}}});
  ASSERT_EQ(device.diagnostics().size(), 1u);
  EXPECT_EQ(device.diagnostics()[0].severity, Severity::Usage);
  EXPECT_EQ(device.diagnostics()[0].where, "--set core.memory=64");
}

TEST(DeviceFaults, AFileThatIsNotThere) {
  EXPECT_EQ(toText(readDevice("no/such.yaml").diagnostics()),
            "error[DEV001] no/such.yaml: the device description cannot be read\n"
            "  what:  there is no such file\n"
            "  mend:  give a YAML file, such as hw_configs/paper.yaml, or one of the built-in: "
            "paper, switched\n");
}

TEST(DeviceFaults, AContradictionThatASettingMakesIsAFaultOfUsage) {
  const auto severityOf = [](const std::string& key, const std::string& value) {
    return parseDevice(kSmallDevice, "d.yaml", {.mesh = {}, .settings = {{key, value}}})
        .diagnostics()
        .front()
        .severity;
  };
  for (const auto& [key, value] :
       {std::pair("core.memory", "1B"), std::pair("core.banks", "1"),
        std::pair("core.operandBanks", "64"), std::pair("memtile.memory", "1B"),
        std::pair("rows", "0"), std::pair("clock", "1"), std::pair("name", "x"),
        std::pair("no.such", "1")})
    EXPECT_EQ(severityOf(key, value), Severity::Usage) << key;
  EXPECT_EQ(parseDevice(replaced(kSmallDevice, "memory: 64 KiB", "memory: 1 B"), "d.yaml")
                .diagnostics()
                .front()
                .severity,
            Severity::BadInput);
}

}  // namespace
}  // namespace heddle
