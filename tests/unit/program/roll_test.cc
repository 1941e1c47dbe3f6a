#include "roll.h"

#include <gtest/gtest.h>

#include <random>

#include "heddle/program/visit.h"

namespace heddle {
namespace {

// Two instructions that differ in structure; each has a few numbers.
FlatInstruction receive(std::int64_t slot, std::int64_t row) {
  Transfer<std::int64_t> r{.kind = TransferKind::Receive};
  r.destination.address = {.base = 64, .slot = slot, .slotStride = 32, .slots = 4};
  r.destination.pattern.run = 32;
  r.part.y = row;
  return {r};
}
FlatInstruction call(std::int64_t row) {
  Call<std::int64_t> c;
  c.kernel = KernelId(0);
  c.part.y = row;
  return {c};
}

std::vector<Section> rolled(
    const std::vector<std::pair<Engine, std::vector<FlatInstruction>>>& engines) {
  static const std::vector<FlatInstruction> prototypes{receive(0, 0), call(0)};
  Roller roller(prototypes);
  for (const auto& [engine, instructions] : engines) {
    std::vector<FlatOp> ops;
    std::vector<std::int64_t> values;
    for (const FlatInstruction& i : instructions) {
      ops.push_back({std::holds_alternative<Call<std::int64_t>>(i.as), values.size()});
      forEachValue(i, [&](std::int64_t v) { values.push_back(v); });
    }
    roller.add(StepId(std::size_t{0}), engine, ops, values);
  }
  return roller.sections();
}

std::vector<FlatInstruction> unrolled(const std::vector<Section>& sections, const Engine& engine) {
  Program program;
  program.sections = sections;
  std::vector<FlatInstruction> out;
  for (QueueCursor c(program, engine); !c.done(); c.next()) out.push_back(c.evaluated());
  return out;
}

const Engine kCore{EngineKind::Core, 0, 0, 0};

TEST(Roller, EqualStepsBecomeALoop) {
  std::vector<FlatInstruction> all;
  for (int i = 0; i < 14; ++i) all.push_back(receive(i, 2 * i + 1));
  const std::vector<Section> sections = rolled({{kCore, all}});
  ASSERT_EQ(sections[0].items.size(), 1u);
  EXPECT_EQ(std::get<Loop>(sections[0].items[0].as).count, 14);
  EXPECT_EQ(unrolled(sections, kCore), all);
}

TEST(Roller, HeadBodyAndTailStayApart) {
  std::vector<FlatInstruction> all{call(100)};
  for (int i = 0; i < 6; ++i) {
    all.push_back(receive(i, i));
    all.push_back(call(i));
  }
  all.push_back(call(7));
  const std::vector<Section> sections = rolled({{kCore, all}});
  EXPECT_EQ(sections[0].items.size(), 3u);
  EXPECT_EQ(unrolled(sections, kCore), all);
}

TEST(Roller, PassesBecomeAnOuterLoop) {
  std::vector<FlatInstruction> all;
  for (int pass = 0; pass < 5; ++pass)
    for (int i = 0; i < 6; ++i) all.push_back(receive(100 * pass + i, i));
  const std::vector<Section> sections = rolled({{kCore, all}});
  ASSERT_EQ(sections[0].items.size(), 1u);
  EXPECT_EQ(leafCount(sections[0].items), 1);
  EXPECT_EQ(unrolled(sections, kCore), all);
}

TEST(Roller, EnginesWithAffineNumbersShareLines) {
  std::vector<std::pair<Engine, std::vector<FlatInstruction>>> engines;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 4; ++c)
      engines.push_back({{EngineKind::Core, r, c, 0}, {receive(10 * r + c, r), call(7 * c)}});
  engines[5].second[1] = call(1000);  // one core, row 1 column 1, is an edge
  const std::vector<Section> sections = rolled(engines);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].engines.size(), 10);  // the core below it is as much like the edge
  for (const auto& [engine, instructions] : engines)
    EXPECT_EQ(unrolled(sections, engine), instructions);
}

// Halves of the mesh that do the same lie anywhere; no factor needs to be a whole one where nobody
// stands.
TEST(Roller, RectanglesApartShareLines) {
  std::vector<std::pair<Engine, std::vector<FlatInstruction>>> engines;
  for (const auto& [row, column] :
       {std::pair(0, 0), std::pair(1, 0), std::pair(2, 2), std::pair(3, 2)})
    engines.push_back(
        {{EngineKind::Core, row, column, 0}, {receive(10 * row + column, 7), call(column / 2)}});
  std::vector<Section> sections = rolled(engines);
  ASSERT_EQ(sections.size(), 2u);  // half a call for a column is none
  engines.pop_back();
  engines.pop_back();
  engines.push_back({{EngineKind::Core, 2, 2, 0}, {receive(22, 7), call(6)}});
  engines.push_back({{EngineKind::Core, 3, 2, 0}, {receive(32, 7), call(6)}});
  sections = rolled(engines);
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(sections[0].engines.ranges, (std::vector<CoreRange>{{0, 0, 2, 1}, {2, 2, 2, 1}}));
  for (const auto& [engine, instructions] : engines)
    EXPECT_EQ(unrolled(sections, engine), instructions);
}

TEST(Roller, LosesNothingOfRandomSequences) {
  std::mt19937_64 random(1);
  std::size_t several = 0;  // sections for more than one rectangle
  for (int round = 0; round < 600; ++round) {
    std::vector<std::pair<Engine, std::vector<FlatInstruction>>> engines;
    const int instructions = round % 2 == 0 ? 40 : 2;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        if (random() % 4 == 0) continue;
        std::vector<FlatInstruction> all;
        for (int k = 0; k < instructions; ++k) {
          const auto v = static_cast<std::int64_t>(random() % 3);
          all.push_back(random() % 2 ? receive(v + c, v) : call(v + r));
        }
        engines.emplace_back(Engine{EngineKind::Core, r, c, 0}, std::move(all));
      }
    const std::vector<Section> sections = rolled(engines);
    for (const Section& section : sections) several += section.engines.ranges.size() > 1;
    for (const auto& [engine, all] : engines) ASSERT_EQ(unrolled(sections, engine), all) << round;
  }
  EXPECT_GT(several, 100u);
}

}  // namespace
}  // namespace heddle
