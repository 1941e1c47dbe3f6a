#include "heddle/npy/npy.h"

#include <gtest/gtest.h>

#include "../arrays.h"

namespace heddle {
namespace {

using testing::arrayOf;

// A version 1.0 file with `header` as it stands and `data` zero bytes.
std::string fileWith(const std::string& header, std::size_t data) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + std::string(data, '\0');
}

std::string npyCodeOf(const std::string& file) {
  const Result<NpyArray> array = parseNpy(file, "x.npy");
  return array ? "" : array.diagnostics().at(0).code;
}

TEST(Npy, WhatIsPrintedParsesBack) {
  for (const NpyArray& array : {arrayOf<float>(NpyType::Float32, {2, 3}, {1, 2, 3, 4, 5, 6}),
                                arrayOf<std::int8_t>(NpyType::Int8, {4}, {-128, -1, 0, 127}),
                                arrayOf<std::uint8_t>(NpyType::Uint8, {2, 2}, {0, 1, 128, 255}),
                                arrayOf<std::int64_t>(NpyType::Int64, {1, 1, 1}, {INT64_MIN}),
                                arrayOf<double>(NpyType::Float64, {}, {0.1}),
                                arrayOf<float>(NpyType::Float32, {0, 7}, {})}) {
    const Result<NpyArray> again = parseNpy(printNpy(array), "x.npy");
    ASSERT_TRUE(again) << again.diagnostics();
    EXPECT_EQ(*again, array);
  }
}

TEST(Npy, PrintsTheBytesThatNumPyPrints) {
  const std::string file = printNpy(arrayOf<std::int8_t>(NpyType::Int8, {1}, {7}));
  const std::string header = "{'descr': '|i1', 'fortran_order': False, 'shape': (1,), }";
  EXPECT_EQ(file, std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header +
                      std::string(0x76 - header.size() - 1, ' ') + "\n\x07");
}

TEST(Npy, ReordersColumnMajorData) {
  // [[1, 2, 3], [4, 5, 6]] column by column
  std::string file = fileWith("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", 0);
  file += std::string("\x01\x04\x02\x05\x03\x06");
  const Result<NpyArray> array = parseNpy(file, "x.npy");
  ASSERT_TRUE(array) << array.diagnostics();
  EXPECT_EQ(*array, arrayOf<std::uint8_t>(NpyType::Uint8, {2, 3}, {1, 2, 3, 4, 5, 6}));
}

TEST(Npy, ReadsTheLaterVersionsAndKeysInAnyOrder) {
  const std::string header = "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<i2\"}";
  std::string file("\x93NUMPY\x03\x00", 8);
  file += static_cast<char>(header.size());
  file += std::string(3, '\0') + header + std::string(4, '\0');
  const Result<NpyArray> array = parseNpy(file, "x.npy");
  ASSERT_TRUE(array) << array.diagnostics();
  EXPECT_EQ(*array, arrayOf<std::int16_t>(NpyType::Int16, {2}, {0, 0}));
}

TEST(Npy, SaysWhatIsWrong) {
  const auto header = [](const char* descr, const char* shape) {
    return std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': " + shape +
           "}";
  };
  EXPECT_EQ(npyCodeOf(fileWith(header("<f4", "(2,)"), 8)), "");
  EXPECT_EQ(npyCodeOf(""), "NPY002");
  EXPECT_EQ(npyCodeOf("PK\x03\x04 a zip file"), "NPY002");
  EXPECT_EQ(npyCodeOf(std::string("\x93NUMPY\x04\x00\x00\x00", 10)), "NPY002");
  EXPECT_EQ(npyCodeOf(std::string("\x93NUMPY\x01\x00\x70", 9)), "NPY003");
  EXPECT_EQ(npyCodeOf(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)), "NPY003");
  EXPECT_EQ(npyCodeOf(fileWith("{'descr': '<f4'}", 0)), "NPY003");
  EXPECT_EQ(npyCodeOf(fileWith(header("<f4", "(2,)") + "x", 8)), "NPY003");
  EXPECT_EQ(npyCodeOf(fileWith(header("<f4", "(-2,)"), 8)), "NPY003");
  EXPECT_EQ(npyCodeOf(fileWith(header("<f4", "(99999999999999999999,)"), 8)), "NPY003");
  EXPECT_EQ(npyCodeOf(fileWith(header(">f4", "(2,)"), 8)), "NPY004");
  EXPECT_EQ(npyCodeOf(fileWith(header("<c8", "(1,)"), 8)), "NPY004");
  EXPECT_EQ(npyCodeOf(fileWith(header("<f4", "(3,)"), 8)), "NPY005");
  EXPECT_EQ(npyCodeOf(fileWith(header("<f4", "(1,)"), 8)), "NPY005");
  EXPECT_EQ(npyCodeOf(fileWith(header("<f4", "(2,)"), 9)), "NPY005");
}

TEST(Npy, AHugeShapeTakesNoMemory) {
  const std::string shape = "(4294967296, 4294967296, 4294967296)";
  EXPECT_EQ(
      npyCodeOf(fileWith("{'descr': '<f4', 'fortran_order': True, 'shape': " + shape + "}", 4)),
      "NPY005");
  EXPECT_EQ(npyCodeOf(fileWith(
                "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4611686018427387905)}", 4)),
            "NPY005");
}

TEST(Npy, GoesThroughAFile) {
  const auto folder = std::filesystem::path(::testing::TempDir());
  const NpyArray array = arrayOf<float>(NpyType::Float32, {1, 2}, {0.5f, -3.0f});
  const auto path = folder / "npy_test.npy";
  EXPECT_EQ(writeNpy(path, array), Diagnostics{});
  const Result<NpyArray> again = readNpy(path);
  ASSERT_TRUE(again) << again.diagnostics();
  EXPECT_EQ(*again, array);
  std::filesystem::remove(path);

  EXPECT_EQ(readNpy(path).diagnostics().at(0).code, "NPY001");
  EXPECT_EQ(readNpy(folder).diagnostics().at(0).code, "NPY001");
  EXPECT_EQ(writeNpy(folder / "no such folder" / "x.npy", array).at(0).code, "NPY006");
}

TEST(Npy, AnEndlessFileThatIsNotNpyIsLeftAtOnce) {
  if (!std::filesystem::exists("/dev/zero")) GTEST_SKIP() << "no /dev/zero here";
  EXPECT_EQ(readNpy("/dev/zero").diagnostics().at(0).code, "NPY002");
}

}  // namespace
}  // namespace heddle
