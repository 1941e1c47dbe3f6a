#include "heddle/driver/port_values.h"

#include <gtest/gtest.h>

#include <cmath>

#include "../arrays.h"

namespace heddle {
namespace {

using testing::arrayOf;

// Two channels of one row of three pixels, as NCHW.
const Port kImage{.name = "image",
                  .tensor = TensorId(0),
                  .type = ElementType::Float32,
                  .shape = {1, 2, 1, 3},
                  .view = {1, 2, 1, 3},
                  .axes = "NCHW"};
const TensorFormat kHalves{.shape = {1, 3, 2}, .scale = 0.5, .zeroPoint = 1};

TEST(PortValues, QuantizesHalfToEvenAndReordersToChannelsLast) {
  const auto array =
      arrayOf<float>(NpyType::Float32, kImage.shape, {0, 0.25F, 0.75F, -0.5F, 1000, -1000});
  const auto stored = storedFromArray(array, kImage, kHalves, "x.npy");
  ASSERT_TRUE(stored) << stored.diagnostics();
  EXPECT_EQ(*stored, (std::vector<std::int8_t>{1, 0, 1, 127, 3, -128}));
}

TEST(PortValues, WhatIsNoNumberBecomesTheLowest) {
  const float none = std::nanf("");
  const auto array =
      arrayOf<float>(NpyType::Float32, kImage.shape, {none, none, none, none, none, none});
  const auto stored = storedFromArray(array, kImage, kHalves, "x.npy");
  ASSERT_TRUE(stored) << stored.diagnostics();
  EXPECT_EQ(*stored, std::vector<std::int8_t>(6, -128));
}

TEST(PortValues, DequantizesBackInTheOrderOfTheArray) {
  const std::vector<std::int8_t> stored = {1, 0, 1, 127, 3, -128};
  EXPECT_EQ(arrayFromStored(stored, kImage, kHalves),
            arrayOf<float>(NpyType::Float32, kImage.shape, {0, 0, 1, -0.5F, 63, -64.5F}));
}

TEST(PortValues, Uint8IsStoredLess128) {
  Port port = kImage;
  port.type = ElementType::Uint8;
  port.shape = {6};
  const auto array = arrayOf<std::uint8_t>(NpyType::Uint8, {6}, {0, 1, 2, 128, 254, 255});
  const auto stored = storedFromArray(array, port, kHalves, "x.npy");
  ASSERT_TRUE(stored) << stored.diagnostics();
  EXPECT_EQ(*stored, (std::vector<std::int8_t>{-128, 0, -127, 126, -126, 127}));
  EXPECT_EQ(arrayFromStored(*stored, port, kHalves), array);
}

TEST(PortValues, AnotherShapeOrTypeIsRefused) {
  const auto array = arrayOf<std::int8_t>(NpyType::Int8, {2}, {1, 2});
  EXPECT_EQ(toText(storedFromArray(array, kImage, kHalves, "x.npy").diagnostics()),
            "error[CLI005] x.npy: the array does not fit 'image'\n"
            "  what:  int8 2; 'image' is float32 1x2x1x3\n"
            "  mend:  give an array of that type and shape\n");
}

// Whatever the view in which the network reads the array.
TEST(PortValues, FramesTakeThePlaceOfAnAxisOfOne) {
  Port port = kImage;
  EXPECT_EQ(shapeOfFrames(port, 1), port.shape);
  EXPECT_EQ(shapeOfFrames(port, 3), (std::vector<std::int64_t>{3, 2, 1, 3}));
  port.view = {1, 2, 3};
  port.axes = "NCW";
  EXPECT_EQ(shapeOfFrames(port, 3), (std::vector<std::int64_t>{3, 2, 1, 3}));
  port.shape = {2, 3};
  EXPECT_EQ(shapeOfFrames(port, 3), (std::vector<std::int64_t>{3, 2, 3}));
}

TEST(FilesOfNames, PairsNamesAndFiles) {
  const auto files =
      filesOfNames({"mask:0=b=1.npy", "image=a.npy"}, {"image", "mask:0"}, "--input");
  ASSERT_TRUE(files) << files.diagnostics();
  EXPECT_EQ(*files, (std::vector<std::optional<std::string>>{"a.npy", "b=1.npy"}));
  const auto alone = filesOfNames({"a.npy"}, {"image"}, "--input");
  ASSERT_TRUE(alone) << alone.diagnostics();
  EXPECT_EQ(*alone, (std::vector<std::optional<std::string>>{"a.npy"}));
}

TEST(FilesOfNames, FaultsNameThePorts) {
  EXPECT_EQ(toText(filesOfNames({"imgae=a.npy"}, {"image", "mask"}, "--input").diagnostics()),
            "error[CLI006] --input imgae=a.npy: there is no 'imgae'\n"
            "  what:  names: image, mask\n"
            "  mend:  write 'image=a.npy'\n");
  EXPECT_EQ(toText(filesOfNames({"a.npy"}, {"image", "mask"}, "--input").diagnostics()),
            "error[CLI006] --input a.npy: there are 2, and the file is for one of them\n"
            "  what:  names: image, mask\n"
            "  mend:  say which: '--input NAME=a.npy'\n");
  EXPECT_EQ(toText(filesOfNames({"a.npy", "b.npy"}, {"image"}, "--input").diagnostics()),
            "error[CLI006] --input b.npy: 'image' is given twice\n"
            "  what:  names: image\n"
            "  mend:  keep one of the two\n");
}

TEST(FromBlocked, DropsThePadding) {
  // 1 row, 2 pixels, 2 blocks; the value says block * 100 + pixel * 10 + channel.
  std::vector<std::int8_t> blocked;
  for (int block = 0; block < 2; ++block)
    for (int x = 0; x < 2; ++x)
      for (int c = 0; c < 8; ++c)
        blocked.push_back(static_cast<std::int8_t>(block * 100 + x * 10 + c));
  EXPECT_EQ(
      fromBlocked(blocked, {1, 2, 9}),
      (std::vector<std::int8_t>{0, 1, 2, 3, 4, 5, 6, 7, 100, 10, 11, 12, 13, 14, 15, 16, 17, 110}));
}

TEST(RandomValues, AreTheSameForASeedAndDifferForOthers) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(randomValues(shape, 1, 0), randomValues(shape, 1, 0));
  EXPECT_NE(randomValues(shape, 1, 0), randomValues(shape, 2, 0));
  EXPECT_NE(randomValues(shape, 1, 0), randomValues(shape, 1, 1));
}

}  // namespace
}  // namespace heddle
