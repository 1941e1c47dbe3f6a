#include "heddle/npy/npz.h"

#include <gtest/gtest.h>

#include <span>

namespace heddle {
namespace {

constexpr std::int64_t kMostUnpacked = 1 << 20;

NpyArray arrayOf(std::vector<std::uint8_t> values) {
  NpyArray array{NpyType::Uint8, {std::ssize(values)}, {}};
  const auto bytes = std::as_bytes(std::span(values));
  array.data.assign(bytes.begin(), bytes.end());
  return array;
}

NamedNpyArrays two() { return {{"a", arrayOf({1, 2, 3})}, {"b", arrayOf({0, 1})}}; }

std::string archiveCodeOf(const std::string& file, std::int64_t most = kMostUnpacked) {
  const Result<NamedNpyArrays> arrays = parseNpz(file, "m.npz", most);
  return arrays ? "" : arrays.diagnostics().at(0).code;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
    text.replace(at, from.size(), to);
  return text;
}

// Of the first entry in the directory (APPNOTE 4.3.12): 16 checksum, 20 packed, 24 unpacked size.
std::size_t directoryAt(const std::string& file) { return file.find("PK\x01\x02"); }

TEST(Npz, WhatIsPrintedParsesBack) {
  for (const NamedNpyArrays& arrays :
       {NamedNpyArrays{}, two(), NamedNpyArrays{{"layer/0:w", arrayOf({7})}}}) {
    const Result<std::string> file = printNpz(arrays);
    ASSERT_TRUE(file) << file.diagnostics();
    const Result<NamedNpyArrays> again = parseNpz(*file, "m.npz", kMostUnpacked);
    ASSERT_TRUE(again) << again.diagnostics();
    EXPECT_EQ(*again, arrays);
  }
}

TEST(Npz, TheSameArraysAreTheSameBytes) { EXPECT_EQ(*printNpz(two()), *printNpz(two())); }

TEST(Npz, RefusesWhatIsNoArchive) {
  EXPECT_EQ(archiveCodeOf(""), "NPY007");
  EXPECT_EQ(archiveCodeOf("PK"), "NPY007");
  EXPECT_EQ(archiveCodeOf(printNpy(arrayOf({1}))), "NPY007");
  const std::string file = *printNpz(two());
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_EQ(archiveCodeOf(file.substr(0, size)), "NPY007") << size;
}

TEST(Npz, RefusesAWrongChecksum) {
  std::string file = *printNpz(two());
  file[directoryAt(file) + 16] ^= 1;
  EXPECT_EQ(archiveCodeOf(file), "NPY008");
}

TEST(Npz, RefusesDamagedData) {
  std::string file = *printNpz(two());
  file[file.find("a.npy") + 20] ^= 0x55;
  EXPECT_EQ(archiveCodeOf(file), "NPY008");
}

TEST(Npz, RefusesEntriesThatAreLongerOrShorterThanTheySay) {
  for (const int difference : {1, -1}) {
    std::string file = *printNpz(two());
    file[directoryAt(file) + 24] = static_cast<char>(file[directoryAt(file) + 24] + difference);
    EXPECT_EQ(archiveCodeOf(file), "NPY008") << difference;
  }
}

TEST(Npz, RefusesABombBeforeItIsUnpacked) {
  const std::string bomb = *printNpz({{"a", arrayOf(std::vector<std::uint8_t>(1 << 24))}});
  EXPECT_LT(bomb.size(), 20'000U);
  EXPECT_EQ(archiveCodeOf(bomb), "NPY009");
  EXPECT_EQ(archiveCodeOf(bomb, 1 << 25), "");
}

TEST(Npz, TheLimitIsOfAllEntriesTogether) {
  const std::string file = *printNpz(two());  // 128 B of headers, 3 and 2 of data
  EXPECT_EQ(archiveCodeOf(file, 261), "");
  EXPECT_EQ(archiveCodeOf(file, 260), "NPY009");
}

TEST(Npz, RefusesAnEntryThatClaimsALot) {
  std::string file = *printNpz(two());
  file.replace(directoryAt(file) + 24, 4, "\xfe\xff\xff\xff");
  EXPECT_EQ(archiveCodeOf(file), "NPY009");
}

TEST(Npz, RefusesTwoEntriesOfOneName) {
  EXPECT_EQ(archiveCodeOf(replaced(*printNpz(two()), "b.npy", "a.npy")), "NPY010");
}

TEST(Npz, RefusesEntriesThatAreNoNpyFiles) {
  EXPECT_EQ(archiveCodeOf(replaced(*printNpz(two()), "b.npy", "b.txt")), "NPY010");
  EXPECT_EQ(archiveCodeOf(replaced(*printNpz({{"wxyz", arrayOf({1})}}), "wxyz.npy", "wxyz/npy")),
            "NPY010");
  EXPECT_EQ(archiveCodeOf(*printNpz({{"", arrayOf({1})}})), "NPY010");
}

TEST(Npz, SaysWhatIsWrongWithAnArray) {
  EXPECT_EQ(archiveCodeOf(replaced(*printNpz(two()), "a.npy", "c.npy")), "");
  NpyArray claims = arrayOf({1, 2});
  claims.shape = {3};
  EXPECT_EQ(archiveCodeOf(*printNpz({{"a", claims}})), "NPY005");
}

TEST(Npz, PathsAreNamesAndNothingElse) {
  const NamedNpyArrays arrays{{"../../etc/passwd", arrayOf({1})}, {"/dev/null", arrayOf({2})}};
  const Result<NamedNpyArrays> again = parseNpz(*printNpz(arrays), "m.npz", kMostUnpacked);
  ASSERT_TRUE(again) << again.diagnostics();
  EXPECT_EQ(*again, arrays);
}

TEST(Npz, RefusesEncryptedEntries) {
  std::string file = *printNpz(two());
  file[directoryAt(file) + 8] |= 1;  // general purpose flag, bit 0, in the directory
  file[file.find("PK\x03\x04") + 6] |= 1;
  EXPECT_EQ(archiveCodeOf(file), "NPY008");
}

}  // namespace
}  // namespace heddle
