#include "sync.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace heddle {
namespace {

std::string text(const std::vector<Edge>& edges) {
  std::string out;
  for (const Edge& e : edges)
    out += std::to_string(e.from.queue) + "." + std::to_string(e.from.op) + "->" +
           std::to_string(e.to.queue) + "." + std::to_string(e.to.op) + " ";
  return out;
}

class TileAccessesTest : public ::testing::Test {
 protected:
  std::string read(std::int64_t first, std::int64_t end, std::int32_t queue, std::int32_t op) {
    std::vector<Edge> edges;
    tile.read(first, end, {queue, op, 0}, edges);
    return text(edges);
  }
  std::string write(std::int64_t first, std::int64_t end, std::int32_t queue, std::int32_t op) {
    std::vector<Edge> edges;
    tile.write(first, end, {queue, op, 0}, edges);
    return text(edges);
  }
  TileAccesses tile;
};

TEST_F(TileAccessesTest, AReaderWaitsForTheWriter) {
  EXPECT_EQ(write(0, 64, 0, 0), "");
  EXPECT_EQ(read(0, 64, 1, 0), "0.0->1.0 ");
}

TEST_F(TileAccessesTest, AWriterWaitsForTheReaderBeforeIt) {
  write(0, 64, 0, 0);
  read(0, 64, 1, 0);
  EXPECT_EQ(write(32, 64, 0, 1), "1.0->0.1 ");
}

TEST_F(TileAccessesTest, AQueueDoesNotWaitForItself) {
  write(0, 64, 0, 0);
  EXPECT_EQ(read(0, 64, 0, 1), "");
  EXPECT_EQ(write(0, 64, 0, 2), "");
}

TEST_F(TileAccessesTest, BytesReadBeforeNeedNotBeWaitedForAgain) {
  write(0, 64, 0, 0);
  EXPECT_EQ(read(0, 64, 1, 0), "0.0->1.0 ");
  EXPECT_EQ(read(0, 64, 1, 1), "");
}

TEST_F(TileAccessesTest, OneAccessOverSeveralWritesWaitsForEach) {
  write(0, 64, 0, 0);
  write(64, 128, 0, 1);
  EXPECT_EQ(read(0, 128, 1, 0), "0.0->1.0 0.1->1.0 ");
}

// Two pieces of a row in a place, read, then the next row.
TEST_F(TileAccessesTest, ThePlaceIsTakenOverByItsFirstPiece) {
  std::vector<Edge> edges;
  tile.write(0, 64, {0, 0, 0}, edges);
  tile.write(0, 64, {0, 1, 0}, edges);
  tile.read(0, 64, {1, 0, 0}, edges);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].from.op, 1);
  EXPECT_EQ(edges[0].opened.op, 0);
  tile.write(0, 64, {0, 2, 0}, edges);
  tile.write(0, 64, {0, 3, 0}, edges);
  edges.clear();
  tile.read(0, 64, {1, 1, 0}, edges);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].opened.op, 2);
}

// Of the rows that a read waits for the last counts, of those that wait for it the first.
TEST_F(TileAccessesTest, OfSeveralRowsOneEdgeIsKept) {
  std::vector<Edge> edges;
  for (std::int32_t row = 0; row < 3; ++row)
    tile.write(row * 8, row * 8 + 8, {0, 0, 0, 0, row}, edges);
  tile.read(0, 16, {1, 0, 0}, edges);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].from.row, 1);
  EXPECT_EQ(edges[0].opened.row, 1);
  edges.clear();
  for (std::int32_t row = 2; row >= 1; --row)
    tile.write(row * 8 - 8, row * 8, {0, 1, 0, 0, row}, edges);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].to.row, 1);
}

TEST_F(TileAccessesTest, ReadersOfOtherBytesDoNotMeet) {
  write(0, 64, 0, 0);
  EXPECT_EQ(read(64, 128, 1, 0), "");
  EXPECT_EQ(write(0, 64, 2, 0), "0.0->2.0 ");  // another writer keeps the order
  EXPECT_EQ(write(64, 128, 2, 1), "1.0->2.1 ");
}

TEST_F(TileAccessesTest, AWriterWaitsForEveryReader) {
  write(0, 64, 0, 0);
  read(0, 64, 1, 0);
  read(0, 32, 2, 0);
  EXPECT_EQ(write(0, 64, 0, 1), "1.0->0.1 2.0->0.1 ");
}

// Thousands of stretches that come, are cut and vanish: who reads a range waits for exactly those
// that were the last to write a byte of it.
TEST_F(TileAccessesTest, OfManyStretchesTheLastWritersAreKept) {
  constexpr std::int64_t kBytes = 4096;
  std::array<std::int32_t, kBytes> lastWriter;
  lastWriter.fill(-1);
  std::mt19937 random(1);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random()) % n; };
  for (std::int32_t op = 0; op < 6000; ++op) {
    // Short stretches fill the tile; now and then a long one takes the place of hundreds.
    const std::int64_t first = below(kBytes), longest = op % 1500 == 1499 ? 2000 : 3;
    const std::int64_t end = std::min(kBytes, first + 1 + below(longest));
    write(first, end, 0, op);
    for (std::int64_t b = first; b < end; ++b) lastWriter[static_cast<std::size_t>(b)] = op;

    const std::int64_t from = below(kBytes), to = std::min(kBytes, from + 1 + below(64));
    std::set<std::int32_t> expected, found;
    for (std::int64_t b = from; b < to; ++b)
      expected.insert(lastWriter[static_cast<std::size_t>(b)]);
    expected.erase(-1);
    std::vector<Edge> edges;
    tile.read(from, to, {1 + op, op, 0}, edges);
    for (const Edge& e : edges) found.insert(e.from.op);
    ASSERT_EQ(found, expected) << "bytes " << from << " to " << to << " after write " << op;
  }
}

}  // namespace
}  // namespace heddle
