// Descriptions that mean harm: refused quickly, with a message, whatever they hold.
#include <gtest/gtest.h>

#include "description.h"
#include "heddle/device/device.h"

namespace heddle {
namespace {

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

std::string firstFault(const std::string& yaml) {
  return toText(parseDevice(yaml, "d.yaml").diagnostics().front());
}

TEST(HostileDevice, AliasBomb) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [" + repeated("*" + before + ", ", 8) + "*" + before +
            "]\n";
  }
  EXPECT_EQ(firstFault(bomb),
            "error[DEV002] d.yaml:1: anchors and aliases (& and *) are not used in a description\n"
            "  mend:  write the value out\n");
}

TEST(HostileDevice, DeepNesting) {
  EXPECT_EQ(firstFault("a: " + repeated("[", 300) + repeated("]", 300)),
            "error[DEV002] d.yaml:1: nested deeper than 12 levels\n"
            "  mend:  a description has 4\n");
  for (const char* opening : {"[", "{a: ", "- ", "? ", "[{", "\""}) {
    const Result<Device> device = parseDevice("a: " + repeated(opening, 100'000), "d.yaml");
    EXPECT_FALSE(device) << opening;
  }
}

TEST(HostileDevice, TooBig) {
  EXPECT_EQ(firstFault(std::string(600'000, 'x')),
            "error[DEV002] d.yaml: too big for a description\n"
            "  what:  600000 B; at most 524288 B\n"
            "  mend:  see docs/device.md for what it holds\n");
}

TEST(HostileDevice, TooManyValues) {
  EXPECT_EQ(firstFault("a: [" + repeated("1,", 200'000) + "]"),
            "error[DEV002] d.yaml:1: more than 100000 values\n"
            "  mend:  a description has some 100\n");
}

TEST(HostileDevice, FaultsWithoutEnd) {
  const auto lastFault = [](const std::string& yaml) {
    const Diagnostics faults = parseDevice(yaml, "d.yaml").diagnostics();
    EXPECT_EQ(faults.size(), 101u);
    return faults.back().summary;
  };
  EXPECT_EQ(lastFault(repeated("a: 1\n", 20'000)), "19899 more faults");  // each with the first
  std::string unknown;
  for (int i = 0; i < 40'000; ++i) unknown += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(lastFault(unknown), "39902 more faults");  // those without a name and other keys, too
}

TEST(HostileDevice, HugeNumbers) {
  for (const char* number :
       {"9223372036854775808", "99999999999999999999999999999999999999", "1e400"}) {
    const Result<Device> device =
        parseDevice(replaced(kSmallDevice, "rows: 2", std::string("rows: ") + number), "d.yaml");
    ASSERT_FALSE(device) << number;
    EXPECT_EQ(device.diagnostics()[0].where, "d.yaml:2");
  }
}

TEST(HostileDevice, NotYaml) {
  for (const std::string& text :
       {std::string("a: [1, 2"), std::string("\t- x: : :"), std::string("\0\1\2", 3),
        std::string("%YAML 9.9\n---\nx"), std::string("? [a, b]\n: c"), std::string(),
        std::string("name: !!int 3"), std::string("a: 1\n---\nb: 2")}) {
    const Result<Device> device = parseDevice(text, "d.yaml");
    ASSERT_FALSE(device) << text;
    EXPECT_EQ(device.diagnostics()[0].code.substr(0, 3), "DEV");
  }
}

}  // namespace
}  // namespace heddle
