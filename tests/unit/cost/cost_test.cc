#include "heddle/cost/cost.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

Device deviceOfEqualRates() {
  Device d;
  d.clock = {1'000'000'000};
  const BytesPerSecond rate{4'000'000'000};
  d.rates = {rate, rate, rate, rate, rate, rate, {}, {}};
  return d;
}

TEST(Cost, ConvIsItsBlockPixelsAt256MacsACycle) {
  // 3x3, 2 x 4 blocks, 14 columns: 8 * 9 * 14 * 64 / 256.
  EXPECT_EQ(kernelTime(kernelWork(OpKind::Conv, 8, 9, 14), deviceOfEqualRates()), Cycles(252));
  EXPECT_EQ(kernelMacs(kernelWork(OpKind::Conv, 8, 9, 14)), 8 * 9 * 14 * 64);
}

TEST(Cost, ConvIsRoundedUpOnceACall) {
  EXPECT_EQ(kernelTime(kernelWork(OpKind::Conv, 1, 1, 1), deviceOfEqualRates()), Cycles(1));
  EXPECT_EQ(kernelTime(kernelWork(OpKind::Conv, 1, 1, 4), deviceOfEqualRates()), Cycles(1));
  EXPECT_EQ(kernelTime(kernelWork(OpKind::Conv, 1, 1, 5), deviceOfEqualRates()), Cycles(2));
}

TEST(Cost, AStepOfPixelsIsPaidWhole) {
  Device d = deviceOfEqualRates();
  d.core.pixelStep = 4;
  EXPECT_EQ(kernelTime(kernelWork(OpKind::Conv, 8, 9, 7), d),
            kernelTime(kernelWork(OpKind::Conv, 8, 9, 8), d));
  EXPECT_EQ(kernelMacs(kernelWork(OpKind::Conv, 8, 9, 7)), 8 * 9 * 7 * 64);  // work, not time
}

TEST(Cost, APooledRowIsItsConvolutionsOneByOneAndTheirPool) {
  Device d = deviceOfEqualRates();
  d.core.callOverhead = Cycles(5);
  KernelWork work = kernelWork(OpKind::Conv, 1, 1, 5);
  work.rows = 2;
  EXPECT_EQ(kernelTime(work, d), Cycles(2 * (2 + 5)));  // each is rounded up by itself
  work.endBytes = 100;
  EXPECT_EQ(kernelTime(work, d), Cycles(2 * (2 + 5) + 2 + 5));
  EXPECT_EQ(kernelMacs(work), 2 * 5 * 64);
}

TEST(Cost, ADepthwiseConvolutionAtAnEndIsAnotherCallOfItsOwnRate) {
  Device d = deviceOfEqualRates();
  d.core.callOverhead = Cycles(5);
  KernelWork work = kernelWork(OpKind::Conv, 1, 1, 5);
  work.rows = 2;
  const FusedWindow end{"dw", DepthwiseConv{.window = {.kernelY = 3, .kernelX = 3}}, TensorId(0)};
  addEnd(end, 2, 7, work);
  EXPECT_EQ(work.endBytes, 0);
  EXPECT_EQ(work.endMacs, 9 * 2 * 7 * 8);
  EXPECT_EQ(work.calls(), 3);
  EXPECT_EQ(kernelTime(work, d),
            Cycles(2 * (2 + 5) + divideRoundUp(9 * 2 * 7 * 8, d.core.depthwiseMacsPerCycle) + 5));
  EXPECT_EQ(kernelMacs(work), 2 * 5 * 64) << "of the convolution alone";
}

TEST(Cost, WhatAConvolutionLooksUpTheVectorUnitReads) {
  const Device d = deviceOfEqualRates();
  for (const OpKind op : {OpKind::Conv, OpKind::DepthwiseConv}) {
    const KernelWork plain = kernelWork(op, 2, 9, 10), looksUp = kernelWork(op, 2, 9, 10, 2);
    EXPECT_EQ(kernelMacs(looksUp), kernelMacs(plain));
    EXPECT_EQ(kernelTime(looksUp, d) - kernelTime(plain, d),
              Cycles(divideRoundUp(2 * 10 * 8, d.core.vectorBytesPerCycle)));
  }
  KernelWork work = kernelWork(OpKind::Conv, 1, 1, 5);
  const FusedWindow end{"dw", DepthwiseConv{.window = {.kernelY = 3, .kernelX = 3}}, TensorId(0)};
  FusedWindow withTable = end;
  std::get<DepthwiseConv>(withTable.op).fusedTable = FusedTable();
  KernelWork plain = work;
  addEnd(end, 2, 7, plain);
  addEnd(withTable, 2, 7, work);
  EXPECT_EQ(work.calls(), plain.calls());
  EXPECT_EQ(kernelTime(work, d) - kernelTime(plain, d),
            Cycles(divideRoundUp(2 * 7 * 8, d.core.vectorBytesPerCycle)));
}

TEST(Cost, ACallOfSeveralRowsPaysItsOverheadOnce) {
  Device d = deviceOfEqualRates();
  d.core.callOverhead = Cycles(5);
  for (const OpKind op : {OpKind::Conv, OpKind::DepthwiseConv, OpKind::Add, OpKind::AveragePool}) {
    KernelWork work = kernelWork(op, 2, 9, 10);
    const Cycles row = kernelTime(work, d) - Cycles(5);
    const std::int64_t macs = kernelMacs(work);
    work.rows = 7;
    work.rowsOfACall = 3;
    EXPECT_EQ(work.calls(), 3);
    EXPECT_EQ(kernelTime(work, d), Cycles(7 * row.raw() + 3 * 5));
    EXPECT_EQ(kernelMacs(work), 7 * macs);
  }
}

TEST(Cost, DepthwiseConvIs64MacsACycle) {
  EXPECT_EQ(kernelTime(kernelWork(OpKind::DepthwiseConv, 3, 9, 14), deviceOfEqualRates()),
            Cycles(divideRoundUp(3 * 9 * 14 * 8, 64)));
}

TEST(Cost, TheOthersAre64BytesOfOperandACycle) {
  for (const OpKind op : {OpKind::MaxPool, OpKind::AveragePool})
    EXPECT_EQ(kernelTime(kernelWork(op, 2, 9, 10), deviceOfEqualRates()),
              Cycles(divideRoundUp(9 * 2 * 10 * 8, 64)));
  for (const OpKind op : {OpKind::Add, OpKind::Mul})
    EXPECT_EQ(kernelTime(kernelWork(op, 2, 1, 10), deviceOfEqualRates()),
              Cycles(divideRoundUp(2 * 2 * 10 * 8, 64)));
  for (const OpKind op : {OpKind::Table, OpKind::Assemble})
    EXPECT_EQ(kernelTime(kernelWork(op, 2, 1, 10), deviceOfEqualRates()),
              Cycles(divideRoundUp(2 * 10 * 8, 64)));
}

TEST(Cost, EveryCallPaysItsOverhead) {
  Device d = deviceOfEqualRates();
  d.core.callOverhead = Cycles(30);
  for (const OpKind op : {OpKind::Conv, OpKind::DepthwiseConv, OpKind::Table})
    EXPECT_EQ(kernelTime(kernelWork(op, 2, 9, 10), d),
              kernelTime(kernelWork(op, 2, 9, 10), deviceOfEqualRates()) + Cycles(30));
}

TEST(Cost, ATransferHasTheRateOfItsSlowerEnd) {
  Device d = deviceOfEqualRates();
  d.rates = {{1'000'000'000},
             {2'000'000'000},
             {3'000'000'000},
             {4'000'000'000},
             {5'000'000'000},
             {6'000'000'000},
             {},
             {}};
  EXPECT_EQ(ddrReadTime(Bytes(600), d), Cycles(600));
  EXPECT_EQ(ddrWriteTime(Bytes(600), d), Cycles(300));
  EXPECT_EQ(wireTime(Bytes(600), d), Cycles(200));
  EXPECT_EQ(coreWriteTime(Bytes(600), d), Cycles(150));
  d.rates.memtileRead = d.rates.memtileWrite = {500'000'000};
  for (const auto time : {ddrReadTime, ddrWriteTime, wireTime, coreWriteTime})
    EXPECT_EQ(time(Bytes(600), d), Cycles(1200));
}

}  // namespace
}  // namespace heddle
