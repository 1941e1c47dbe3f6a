#include "../../../src/sweep/mask_choices.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

Result<std::vector<MaskChoice>> choices(const std::string& masks, std::size_t networks) {
  SweepOptions options;
  options.models.resize(networks, "a.onnx");
  if (!masks.empty()) options.masks = {{masks, "--masks " + masks}};
  return readMaskChoices(options);
}

TEST(MaskChoices, AreNamedByTheirFilesLessTheNetwork) {
  EXPECT_EQ(maskName("a/half.npz"), "half");
  EXPECT_EQ(maskName("half.masks.npz"), "half");
  EXPECT_EQ(maskName("a/{model}-50.masks.npz"), "50");
  EXPECT_EQ(maskName("half-{model}.npz"), "half");
  EXPECT_EQ(maskName("half/{model}.npz"), "masked");
}

TEST(MaskChoices, OfSeveralNetworksEachHasAFileOfItsOwn) {
  const auto read = choices("none,m/{model}-{model}.npz", 2);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->front().name, "none");
  EXPECT_EQ(read->front().fileOf("net"), "");
  EXPECT_EQ(read->back().fileOf("net"), "m/net-net.npz");
  EXPECT_EQ(read->back().fileOf("{model}"), "m/{model}-{model}.npz");
}

TEST(MaskChoices, NoneWhereNoneAreAskedFor) {
  const auto read = choices("", 3);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 1U);
  EXPECT_EQ(read->front().file, "");
}

TEST(MaskChoices, WhatIsNoneIsAFault) {
  for (const auto& [text, networks] :
       {std::pair{"half.npz", 2U}, {"none,none", 1U}, {"a/h.npz,b/h.npz", 1U}, {"none,", 1U}}) {
    const auto read = choices(text, networks);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.diagnostics().front().code, "SWEEP013") << text;
    EXPECT_EQ(read.diagnostics().front().severity, Severity::Usage) << text;
  }
}

}  // namespace
}  // namespace heddle
