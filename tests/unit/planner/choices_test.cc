#include "../../../src/planner/choices.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

Mapping onTwoCores(std::vector<PixelBox> boxes) {
  Mapping m;
  for (std::size_t c = 0; c < boxes.size(); ++c)
    m.shares.push_back({{0, static_cast<std::int64_t>(c)}, {boxes[c]}, {0, 1}, {}});
  return m;
}

// Which core has which part is nothing that a reader would call another way.
TEST(Choices, OfMappingsThatDifferInWhichCoresAloneTheBestIsNamed) {
  const PixelBox left{{0, 8}, {0, 4}}, right{{0, 8}, {4, 4}}, top{{0, 4}, {0, 8}},
      bottom{{4, 4}, {0, 8}};
  const std::vector<Mapping> mappings{onTwoCores({left, right}), onTwoCores({right, left}),
                                      onTwoCores({bottom, top}), onTwoCores({top, bottom})};
  std::vector<TriedMapping> tried;
  for (std::size_t m = 0; m < mappings.size(); ++m)
    tried.push_back({&mappings[m], Cycles(10 - static_cast<std::int64_t>(m)), true});
  const LayerChoice choice = choiceAmong(tried, mappings.data(), [&](const Mapping& mapping) {
    return MappingTime{tried[static_cast<std::size_t>(&mapping - mappings.data())].cycles};
  });
  EXPECT_EQ(choice.cycles, Cycles(10));
  ASSERT_EQ(choice.others.size(), 1u);
  EXPECT_EQ(choice.others[0].mapping, mappings[3]);
}

}  // namespace
}  // namespace heddle
