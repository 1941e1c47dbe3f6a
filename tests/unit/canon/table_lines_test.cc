#include "heddle/canon/table_lines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "../graphs.h"
#include "heddle/canon/block_orders.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/print.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

Table256 tableOf(const std::function<double(int)>& real, Clamp clamp = {}) {
  Table256 table;
  for (int x = -128; x < 128; ++x)
    table[static_cast<std::size_t>(x + 128)] =
        saturate(std::llrint(real(x)), clamp.low, clamp.high);
  return table;
}

void expectLine(const Table256& table, const std::string& what) {
  const std::optional<TableLine> line = lineOf(table);
  ASSERT_TRUE(line) << what;
  EXPECT_TRUE(line->shift >= 0 && line->shift < 32);
  for (int x = -128; x < 128; ++x)
    ASSERT_EQ(valueOnLine(*line, static_cast<std::int8_t>(x)),
              table[static_cast<std::size_t>(x + 128)])
        << what << " at " << x;
}

// Scales of which two values fall just between, and any; flat, steep, falling; beyond all values.
TEST(TableLines, AreThoseOfRoundedAndClampedLines) {
  std::mt19937_64 random(1);
  const auto real = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int i = 0; i < 4000; ++i) {
    double slope = (i % 2 == 0 ? 1 : -1) * std::exp2(real(-9, 7)), offset = real(-300, 300);
    if (i % 3 == 0) slope = std::copysign(std::exp2(std::round(std::log2(std::abs(slope)))), slope);
    if (i % 3 == 0 || i % 5 == 0) offset = std::round(offset * 2) / 2;
    const auto low = static_cast<std::int8_t>(i % 4 < 2 ? -128 : real(-100, 20));
    expectLine(tableOf([&](int x) { return x * slope + offset; }, {low, 127}),
               std::to_string(slope) + " x + " + std::to_string(offset));
  }
  expectLine(tableOf([](int) { return 7; }), "always the same");
  expectLine(tableOf([](int x) { return x < 5 ? -3 : 90; }), "a step");
}

TEST(TableLines, AreNoneOfWhatBends) {
  for (const auto& bent : std::vector<std::function<double(int)>>{
           [](int x) { return 127 / (1 + std::exp(-x / 20.0)); },
           [](int x) { return x < 0 ? x / 4.0 : x; }, [](int x) { return std::abs(x) - 60.0; },
           [](int x) { return x < 0   ? -50
                              : x < 9 ? 0
                                      : 50; },
           [](int x) { return x == 3 ? 4 : x; }})
    EXPECT_FALSE(lineOf(tableOf(bent)));
}

CanonicalGraph normalized(bool bends) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {4, 5, 20}),
                 y = b.table("norm", b.conv("first", x, 20, square(1)));
  CanonicalGraph graph = b.finish(b.conv("conv", y, 8, square(1)));
  Table& norm = std::get<Table>(graph.ops[1].attributes);
  norm.tables.clear();
  for (int c = 0; c < 20; ++c)
    norm.tables.push_back(
        tableOf([&](int v) { return v * (0.513 + c / 9.17) - 3 * c; }, {-20, 127}));
  if (bends) norm.tables[7][100] = static_cast<std::int8_t>(norm.tables[7][100] + 2);
  return graph;
}

TEST(TableLines, StandBesideTheTablesWhereAllAreLines) {
  EXPECT_FALSE(findTableLines(normalized(true)));
  const auto found = findTableLines(normalized(false));
  ASSERT_TRUE(found);
  EXPECT_EQ(verify(*found), Diagnostics{});
  EXPECT_NE(print(*found).find("line for each channel"), std::string::npos);
  const Table& norm = std::get<Table>(found->ops[1].attributes);
  ASSERT_EQ(norm.lines.size(), 20u);
  for (std::size_t c = 0; c < 20; ++c) EXPECT_EQ(norm.lines[c], *lineOf(norm.tables[c]));
  EXPECT_FALSE(findTableLines(*found));

  BlockOrders orders(found->tensors.size());
  for (const CanonicalOp& op : found->ops)
    if (op.name == "norm") orders[op.inputs[0].at()] = orders[op.output.at()] = {1, 0, 2};
  ASSERT_EQ(verify(orders, *found), Diagnostics{});
  const CanonicalGraph turned = inOrder(*found, orders);
  EXPECT_EQ(verify(turned), Diagnostics{});
  const Table& other = std::get<Table>(turned.ops[1].attributes);
  EXPECT_NE(other.lines, norm.lines);
  for (std::size_t c = 0; c < 20; ++c) EXPECT_EQ(other.lines[c], *lineOf(other.tables[c]));

  CanonicalGraph wrong = *found;
  std::get<Table>(wrong.ops[1].attributes).lines.pop_back();
  EXPECT_FALSE(verify(wrong).empty());
}

}  // namespace
}  // namespace heddle
