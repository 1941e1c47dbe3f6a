// Every kernel against the plain formula of its operator (canon/canonical_graph.h), written out
// here tap by tap.
#include "kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>
#include <random>

namespace heddle::machine {
namespace {

// A tensor of whole channel blocks, by pixel.
struct Pixels {
  std::int64_t height, width, channels;
  std::vector<std::int8_t> values;  // Y, X, C
  std::int8_t at(std::int64_t y, std::int64_t x, std::int64_t c) const {
    return values[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
  bool inside(std::int64_t y, std::int64_t x) const {
    return y >= 0 && y < height && x >= 0 && x < width;
  }
};

class KernelTest : public ::testing::Test {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::int8_t byte() { return static_cast<std::int8_t>(pick(-128, 127)); }

  Pixels makePixels(std::int64_t height, std::int64_t width, std::int64_t blocks) {
    Pixels p{height, width, blocks * 8, {}};
    for (std::int64_t i = 0; i < height * width * blocks * 8; ++i) p.values.push_back(byte());
    return p;
  }

  // Ring rows of columns [origin, origin + columns) and all blocks from firstBlock on; each row
  // keeps its bytes alive.
  WindowRows rowsOf(const Pixels& p, const Window& w, std::int64_t row, std::int64_t column,
                    std::int64_t firstBlock = 0) {
    WindowRows rows;
    rows.origin = std::max<std::int64_t>(0, column);
    rows.ringColumns = std::max<std::int64_t>(0, p.width - rows.origin);
    rows.column = column;
    rows.tensorWidth = p.width;
    for (std::int64_t ky = 0; ky < w.kernelY; ++ky) {
      const std::int64_t y = row + ky * w.dilationY;
      rows.rows.push_back(y < 0 || y >= p.height ? nullptr
                                                 : blocked(p, y, rows.origin, firstBlock).data());
    }
    return rows;
  }
  const std::vector<std::int8_t>& blocked(const Pixels& p, std::int64_t y, std::int64_t origin,
                                          std::int64_t firstBlock) {
    std::vector<std::int8_t>& bytes = kept_.emplace_back();
    for (std::int64_t c = firstBlock * 8; c < p.channels; c += 8)
      for (std::int64_t x = origin; x < p.width; ++x)
        for (std::int64_t k = 0; k < 8; ++k) bytes.push_back(p.at(y, x, c + k));
    return bytes;
  }

  Kernel makeKernel(OpKind op, const Pixels& p, const Window& w, std::int64_t outputBlocks) {
    Kernel k;
    k.op = op;
    k.window = w;
    k.tensorHeight = p.height;
    k.tensorWidth = p.width;
    k.inputBlocks = p.channels / 8;
    k.outputBlocks = outputBlocks;
    k.outputColumns = pick(1, 9);
    k.inputZero = byte();
    k.inputZeroB = byte();
    k.outputZero = byte();
    k.clamp = {static_cast<std::int8_t>(pick(-128, 0)), static_cast<std::int8_t>(pick(1, 127))};
    k.kernelYWhole = w.kernelY;
    return k;
  }
  Window makeWindow() {
    return {pick(1, 4), pick(1, 4), pick(1, 3), pick(1, 3), pick(1, 2),
            pick(1, 2), pick(0, 2), pick(0, 2), pick(0, 2), pick(0, 2)};
  }
  std::vector<std::int8_t> outputOf(const Kernel& k) const {
    return std::vector<std::int8_t>(static_cast<std::size_t>(k.outputBlocks * k.outputColumns * 8));
  }
  std::int8_t finished(const Kernel& k, std::int64_t value) const {
    return saturate(k.outputZero + value, k.clamp.low, k.clamp.high);
  }
  // Blocked row of value(x, c).
  template <class F>
  std::vector<std::int8_t> expected(const Kernel& k, F&& value) const {
    std::vector<std::int8_t> row;
    for (std::int64_t b = 0; b < k.outputBlocks; ++b)
      for (std::int64_t x = 0; x < k.outputColumns; ++x)
        for (std::int64_t c = 0; c < 8; ++c) row.push_back(value(x, b * 8 + c));
    return row;
  }

  std::mt19937_64 random_{1};
  std::deque<std::vector<std::int8_t>> kept_;
  KernelScratch scratch_;
};

void put32(std::vector<std::int8_t>& bytes, std::int64_t value) {
  for (int i = 0; i < 4; ++i)
    bytes.push_back(static_cast<std::int8_t>(static_cast<std::uint32_t>(value) >> (8 * i)));
}

// A convolution's numbers: weight(co, ky, kx, ci) as its record holds them.
struct Filter {
  std::int64_t taps = 1, kernelX = 1, depth = 1;
  std::vector<std::int8_t> weights, weightZero;  // COUT x taps x depth
  std::vector<std::int32_t> bias;
  std::vector<Multiplier> scale, negative;
  std::vector<std::int8_t> table;  // with Kernel::looksUp
  std::int64_t weight(std::int64_t co, std::int64_t ky, std::int64_t kx, std::int64_t ci) const {
    return weights[static_cast<std::size_t>((co * taps + ky * kernelX + kx) * depth + ci)] -
           weightZero[static_cast<std::size_t>(co)];
  }
  std::int64_t finish(std::uint32_t sum, std::int64_t co) const {
    const auto i = static_cast<std::size_t>(co);
    const auto whole = static_cast<std::int32_t>(sum + static_cast<std::uint32_t>(bias[i]));
    return applyMultiplier(whole, whole < 0 && !negative.empty() ? negative[i] : scale[i]);
  }
  void appendEpilogue(std::vector<std::int8_t>& record) const {
    for (const std::int32_t b : bias) put32(record, b);
    for (const auto* scales : {&scale, &negative}) {
      for (const Multiplier& m : *scales) put32(record, m.multiplier);
      for (const Multiplier& m : *scales) record.push_back(static_cast<std::int8_t>(m.shift));
    }
    record.insert(record.end(), table.begin(), table.end());
  }
};

class ConvolutionTest : public KernelTest {
 protected:
  Filter makeFilter(std::int64_t channels, const Window& w, std::int64_t depth, bool asymmetric) {
    Filter f{w.kernelY * w.kernelX, w.kernelX, depth, {}, {}, {}, {}, {}, {}};
    for (std::int64_t i = 0; i < channels * f.taps * depth; ++i) f.weights.push_back(byte());
    for (std::int64_t i = 0; i < channels; ++i) {
      f.weightZero.push_back(asymmetric ? byte() : std::int8_t{0});
      f.bias.push_back(static_cast<std::int32_t>(pick(-40000, 40000)));
      f.scale.push_back({static_cast<std::int32_t>(pick(1 << 30, INT32_MAX)),
                         static_cast<std::int32_t>(pick(38, 46))});
      if (asymmetric)
        f.negative.push_back({static_cast<std::int32_t>(pick(1 << 30, INT32_MAX)), 44});
    }
    return f;
  }

  void lookUp(Kernel& k, Filter& f) {
    k.looksUp = true;
    k.lookedUpZero = byte();
    k.lookedUpClamp = std::exchange(k.clamp, Clamp{});
    for (int i = 0; i < 256; ++i) f.table.push_back(byte());
  }

  // Record of kernel rows [rowFirst, rowFirst + kernel rows) and input blocks from blockFirst on.
  // Blocks for which skipped(b, a) lose their weights in the filter, too.
  template <class F>
  std::vector<std::int8_t> convRecord(const Kernel& k, Filter& f, std::int64_t rowFirst,
                                      std::int64_t blockFirst, bool last, F&& skipped) {
    std::vector<std::int8_t> record;
    if (k.weightZeros) record = f.weightZero;
    const std::int64_t A = k.inputBlocks, B = k.outputBlocks;
    std::vector<std::int8_t> gamma(static_cast<std::size_t>((A * B + 63) / 64 * 8)), blocks;
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t a = 0; a < A; ++a) {
        const bool keep = !skipped(b, a);
        const std::int64_t bit = b * A + a;
        if (keep)
          gamma[static_cast<std::size_t>(bit / 8)] =
              static_cast<std::int8_t>(gamma[static_cast<std::size_t>(bit / 8)] | (1 << (bit % 8)));
        for (std::int64_t tap = 0; tap < k.window.kernelY * k.window.kernelX; ++tap)
          for (std::int64_t ci = 0; ci < 8; ++ci)
            for (std::int64_t co = 0; co < 8; ++co) {
              const std::int64_t channel = b * 8 + co;
              std::int8_t& w = f.weights[static_cast<std::size_t>(
                  (channel * f.taps + rowFirst * f.kernelX + tap) * f.depth + (blockFirst + a) * 8 +
                  ci)];
              if (keep)
                blocks.push_back(w);
              else
                w = f.weightZero[static_cast<std::size_t>(channel)];
            }
      }
    record.insert(record.end(), gamma.begin(), gamma.end());
    for (const TableLine& line : lines_) {
      put32(record, line.slope);
      put32(record, line.offset);
      for (const int n : {line.shift, int{line.clamp.low}, int{line.clamp.high}, 0})
        record.push_back(static_cast<std::int8_t>(n));
    }
    record.insert(record.end(), blocks.begin(), blocks.end());
    if (last) f.appendEpilogue(record);
    return record;
  }

  std::vector<TableLine> lines_;  // of a record's, behind gamma

  std::vector<std::int8_t> expectedConv(const Kernel& k, const Window& w, const Pixels& p,
                                        const Filter& f, std::int64_t row, std::int64_t column,
                                        bool depthwise) {
    return expected(k, [&](std::int64_t x, std::int64_t co) {
      std::int64_t sum = 0;
      for (std::int64_t ky = 0; ky < w.kernelY; ++ky)
        for (std::int64_t kx = 0; kx < w.kernelX; ++kx)
          for (std::int64_t ci = 0; ci < f.depth; ++ci) {
            const std::int64_t iy = row + ky * w.dilationY,
                               ix = column + x * w.strideX + kx * w.dilationX;
            const std::int64_t value =
                p.inside(iy, ix) ? p.at(iy, ix, depthwise ? co : ci) : k.inputZero;
            sum += value * f.weight(co, ky, kx, ci);
          }
      const std::int64_t value = f.finish(static_cast<std::uint32_t>(sum), co);
      if (!k.looksUp) return finished(k, value);
      const Clamp clamp = k.lookedUpClamp;
      return f.table[static_cast<std::size_t>(
          saturate(k.lookedUpZero + value, clamp.low, clamp.high) + 128)];
    });
  }
};

TEST_F(ConvolutionTest, ConvIsItsFormula) {
  for (int i = 0; i < 200; ++i) {
    scratch_.portable = i % 5 == 0;
    const Pixels p = makePixels(pick(1, 7), pick(1, 12), pick(1, 4));
    const Window w = makeWindow();
    Kernel k = makeKernel(OpKind::Conv, p, w, pick(1, 3));
    Filter f = makeFilter(k.outputBlocks * 8, w, p.channels, i % 2 == 1);
    k.negativeScale = !f.negative.empty();
    k.weightZeros = i % 2 == 1 || i % 4 == 0;
    if (i % 7 < 3) lookUp(k, f);
    const std::int64_t row = pick(-2, p.height), column = pick(-2, p.width - 1);
    const bool sparse = i % 3 == 0;
    const std::vector<std::int8_t> record = convRecord(
        k, f, 0, 0, true, [&](std::int64_t, std::int64_t) { return sparse && pick(0, 1) == 0; });
    std::vector<std::int8_t> output = outputOf(k);
    runConv(k, rowsOf(p, w, row, column), nullptr, record.data(), {}, output.data(), scratch_);
    ASSERT_EQ(output, expectedConv(k, w, p, f, row, column, false)) << "case " << i;
  }
}

TEST_F(ConvolutionTest, ConvOfAProductIsTheConvOfWhatMulWrites) {
  for (int i = 0; i < 100; ++i) {
    const Pixels p = makePixels(1, pick(9, 14), pick(1, 4)), g = makePixels(1, 1, p.channels / 8);
    Kernel k = makeKernel(OpKind::Conv, p, Window{}, pick(1, 3));
    Filter f = makeFilter(k.outputBlocks * 8, Window{}, p.channels, false);
    k.negativeScale = !f.negative.empty();
    k.multipliesInput = true;
    k.gateZero = byte();
    k.productZero = byte();
    k.productClamp = {static_cast<std::int8_t>(pick(-128, 0)), 100};
    k.rescale = {1 << 30, static_cast<int>(pick(34, 40))};
    Kernel mul = makeKernel(OpKind::Mul, p, Window{}, p.channels / 8);
    mul.outputColumns = p.width;
    mul.inputZero = k.inputZero;
    mul.inputZeroB = k.gateZero;
    mul.outputZero = k.productZero;
    mul.clamp = k.productClamp;
    mul.rescale = k.rescale;
    mul.broadcasts = true;
    std::vector<std::int8_t> row = outputOf(mul);
    runMul(mul, rowsOf(p, Window{}, 0, 0), rowsOf(g, Window{}, 0, 0), row.data());
    Pixels product = p;
    for (std::int64_t x = 0; x < p.width; ++x)
      for (std::int64_t c = 0; c < p.channels; ++c)
        product.values[static_cast<std::size_t>(x * p.channels + c)] =
            row[static_cast<std::size_t>((c / 8 * p.width + x) * 8 + c % 8)];
    const std::int64_t column = pick(0, p.width - k.outputColumns);
    const std::vector<std::int8_t> record =
        convRecord(k, f, 0, 0, true, [](std::int64_t, std::int64_t) { return false; });
    std::vector<std::int8_t> output = outputOf(k);
    const WindowRows gate = rowsOf(g, Window{}, 0, 0);
    runConv(k, rowsOf(p, Window{}, 0, column), &gate, record.data(), {}, output.data(), scratch_);
    Kernel plain = k;
    plain.multipliesInput = false;
    plain.inputZero = k.productZero;
    ASSERT_EQ(output, expectedConv(plain, Window{}, product, f, 0, column, false)) << "case " << i;
  }
}

TEST_F(ConvolutionTest, ConvOfLinesIsTheConvOfTheirValues) {
  for (int i = 0; i < 100; ++i) {
    const Pixels p = makePixels(1, pick(9, 14), pick(1, 4));
    Kernel k = makeKernel(OpKind::Conv, p, Window{}, pick(1, 3));
    Filter f = makeFilter(k.outputBlocks * 8, Window{}, p.channels, i % 2 == 1);
    k.weightZeros = i % 2 == 1;
    k.negativeScale = !f.negative.empty();
    k.tableLines = true;
    lines_.clear();
    for (std::int64_t c = 0; c < p.channels; ++c)
      lines_.push_back({static_cast<std::int32_t>(pick(-2000, 2000)),
                        static_cast<std::int32_t>(pick(-99999, 99999)),
                        10,
                        {-90, 100}});
    Pixels values = p;
    for (std::size_t at = 0; at < p.values.size(); ++at)
      values.values[at] =
          valueOnLine(lines_[at % static_cast<std::size_t>(p.channels)], p.values[at]);
    const std::int64_t column = pick(0, p.width - k.outputColumns);
    const std::vector<std::int8_t> record =
        convRecord(k, f, 0, 0, true, [](std::int64_t, std::int64_t) { return false; });
    std::vector<std::int8_t> output = outputOf(k);
    runConv(k, rowsOf(p, Window{}, 0, column), nullptr, record.data(), {}, output.data(), scratch_);
    ASSERT_EQ(output, expectedConv(k, Window{}, values, f, 0, column, false)) << "case " << i;
  }
}

TEST_F(ConvolutionTest, ConvCutOverTimeIsTheWhole) {
  for (int i = 0; i < 100; ++i) {
    const Pixels p = makePixels(pick(1, 7), pick(1, 12), pick(2, 4));
    const Window w = makeWindow();
    Kernel whole = makeKernel(OpKind::Conv, p, w, pick(1, 3));
    Filter f = makeFilter(whole.outputBlocks * 8, w, p.channels, i % 2 == 1);
    whole.weightZeros = i % 2 == 1;
    whole.negativeScale = !f.negative.empty();
    if (i % 7 < 3) lookUp(whole, f);
    const std::int64_t row = pick(-2, p.height), column = pick(-2, p.width - 1);
    std::vector<std::int32_t> accumulator(
        static_cast<std::size_t>(whole.outputBlocks * whole.outputColumns * 8), 12345);
    std::vector<std::int8_t> output = outputOf(whole);
    const std::int64_t cut = pick(1, p.channels / 8 - 1);
    for (std::int64_t ky = 0; ky < w.kernelY; ++ky)
      for (const auto& [first, count] :
           {std::pair{std::int64_t{0}, cut}, std::pair{cut, p.channels / 8 - cut}}) {
        Kernel k = whole;
        k.window.kernelY = 1;
        k.inputBlocks = count;
        const bool last = ky == w.kernelY - 1 && first > 0;
        const std::vector<std::int8_t> record =
            convRecord(k, f, ky, first, last, [](std::int64_t, std::int64_t) { return false; });
        const Reduction reduction{ky == 0 && first == 0, last, accumulator.data()};
        runConv(k, rowsOf(p, k.window, row + ky * w.dilationY, column, first), nullptr,
                record.data(), reduction, output.data(), scratch_);
      }
    ASSERT_EQ(output, expectedConv(whole, w, p, f, row, column, false)) << "case " << i;
  }
}

TEST_F(ConvolutionTest, SumsWrapInInt32) {
  const Pixels p{1, 1, 8, std::vector<std::int8_t>(8, 1)};
  Kernel k = makeKernel(OpKind::Conv, p, Window{}, 1);
  k.outputColumns = 1;
  k.clamp = {};
  k.outputZero = 0;
  Filter f = makeFilter(8, Window{}, 8, false);
  std::fill(f.bias.begin(), f.bias.end(), INT32_MAX);
  std::fill(f.weights.begin(), f.weights.end(), std::int8_t{1});
  std::fill(f.scale.begin(), f.scale.end(), Multiplier{1 << 30, 55});
  const std::vector<std::int8_t> record =
      convRecord(k, f, 0, 0, true, [](std::int64_t, std::int64_t) { return false; });
  std::vector<std::int8_t> output = outputOf(k);
  runConv(k, rowsOf(p, Window{}, 0, 0), nullptr, record.data(), {}, output.data(), scratch_);
  EXPECT_EQ(output, std::vector<std::int8_t>(8, -64));  // INT32_MAX + 8 is -2^31 + 7
}

TEST_F(ConvolutionTest, DepthwiseConvIsItsFormulaWholeAndCutOverTime) {
  for (int i = 0; i < 200; ++i) {
    const Pixels p = makePixels(pick(1, 7), pick(1, 12), pick(1, 4));
    const Window w = makeWindow();
    Kernel whole = makeKernel(OpKind::DepthwiseConv, p, w, p.channels / 8);
    Filter f = makeFilter(p.channels, w, 1, i % 2 == 1);
    whole.negativeScale = !f.negative.empty();
    whole.weightZeros = i % 2 == 1 || i % 4 == 0;
    if (i % 7 < 3) lookUp(whole, f);
    const std::int64_t row = pick(-2, p.height), column = pick(-2, p.width - 1);
    const std::int64_t parts = i % 3 == 0 ? w.kernelY : 1;
    std::vector<std::int32_t> accumulator(
        static_cast<std::size_t>(whole.outputBlocks * whole.outputColumns * 8), 12345);
    std::vector<std::int8_t> output = outputOf(whole);
    for (std::int64_t part = 0; part < parts; ++part) {
      Kernel k = whole;
      k.window.kernelY = w.kernelY / parts;
      std::vector<std::int8_t> record;
      if (k.weightZeros) record = f.weightZero;
      for (std::int64_t b = 0; b < k.outputBlocks; ++b)
        for (std::int64_t tap = 0; tap < k.window.kernelY * w.kernelX; ++tap)
          for (std::int64_t c = 0; c < 8; ++c)
            record.push_back(
                f.weights[static_cast<std::size_t>((b * 8 + c) * f.taps + part * w.kernelX + tap)]);
      f.appendEpilogue(record);
      runDepthwiseConv(k, rowsOf(p, k.window, row + part * w.dilationY, column), record.data(),
                       {part == 0, part == parts - 1, accumulator.data()}, output.data(), scratch_);
    }
    ASSERT_EQ(output, expectedConv(whole, w, p, f, row, column, true)) << "case " << i;
  }
}

TEST_F(KernelTest, MaxPoolNeverTakesTheBorder) {
  for (int i = 0; i < 200; ++i) {
    const Pixels p = makePixels(pick(1, 7), pick(1, 12), pick(1, 3));
    const Window w = makeWindow();
    const Kernel whole = makeKernel(OpKind::MaxPool, p, w, p.channels / 8);
    const std::int64_t row = pick(-2, p.height), column = pick(-2, p.width - 1),
                       parts = i % 2 == 0 ? w.kernelY : 1;
    std::vector<std::int32_t> accumulator(
        static_cast<std::size_t>(whole.outputBlocks * whole.outputColumns * 8), 12345);
    std::vector<std::int8_t> output = outputOf(whole);
    for (std::int64_t part = 0; part < parts; ++part) {
      Kernel k = whole;
      k.window.kernelY = w.kernelY / parts;
      runMaxPool(k, rowsOf(p, k.window, row + part * w.dilationY, column),
                 {part == 0, part == parts - 1, accumulator.data()}, output.data(), scratch_);
    }
    ASSERT_EQ(output, expected(whole,
                               [&](std::int64_t x, std::int64_t c) {
                                 int best = -128;
                                 for (std::int64_t ky = 0; ky < w.kernelY; ++ky)
                                   for (std::int64_t kx = 0; kx < w.kernelX; ++kx) {
                                     const std::int64_t iy = row + ky * w.dilationY,
                                                        ix = column + x * w.strideX +
                                                             kx * w.dilationX;
                                     if (p.inside(iy, ix))
                                       best = std::max<int>(best, p.at(iy, ix, c));
                                   }
                                 return saturate(best, whole.clamp.low, whole.clamp.high);
                               }))
        << "case " << i;
  }
}

TEST_F(KernelTest, AveragePoolRoundsTheExactQuotientOnce) {
  for (int i = 0; i < 300; ++i) {
    const Pixels p = makePixels(pick(1, 7), pick(1, 12), pick(1, 3));
    const Window w = makeWindow();
    Kernel whole = makeKernel(OpKind::AveragePool, p, w, p.channels / 8);
    whole.countIncludesPad = i % 2 == 0;
    whole.rescale = i % 3 == 0 ? Multiplier{1, 0}
                               : Multiplier{static_cast<std::int32_t>(pick(1 << 30, INT32_MAX)),
                                            static_cast<std::int32_t>(pick(29, 33))};
    const std::int64_t row = pick(-w.padTop, p.height), column = pick(-w.padLeft, p.width - 1),
                       parts = i % 4 == 0 ? w.kernelY : 1;
    std::vector<std::int32_t> accumulator(
        static_cast<std::size_t>(whole.outputBlocks * whole.outputColumns * 8), 12345);
    std::vector<std::int8_t> output = outputOf(whole);
    for (std::int64_t part = 0; part < parts; ++part) {
      Kernel k = whole;
      k.window.kernelY = w.kernelY / parts;
      const std::int64_t first = row + part * w.dilationY;
      runAveragePool(k, rowsOf(p, k.window, first, column), first, p.height,
                     {part == 0, part == parts - 1, accumulator.data()}, output.data(), scratch_);
    }
    ASSERT_EQ(output,
              expected(whole,
                       [&](std::int64_t x, std::int64_t c) {
                         std::int64_t sum = 0, count = 0;
                         for (std::int64_t ky = 0; ky < w.kernelY; ++ky)
                           for (std::int64_t kx = 0; kx < w.kernelX; ++kx) {
                             const std::int64_t iy = row + ky * w.dilationY,
                                                ix = column + x * w.strideX + kx * w.dilationX;
                             if (p.inside(iy, ix)) sum += p.at(iy, ix, c) - whole.inputZero;
                             const bool padded = iy >= -w.padTop && iy < p.height + w.padBottom &&
                                                 ix >= -w.padLeft && ix < p.width + w.padRight;
                             count += whole.countIncludesPad ? padded : p.inside(iy, ix);
                           }
                         if (count == 0) return finished(whole, 0);
                         // The quotient as a fraction: floor and rest decide, ties go to even.
                         const Int128 top = static_cast<Int128>(sum) * whole.rescale.multiplier;
                         const Int128 bottom = static_cast<Int128>(count) << whole.rescale.shift;
                         Int128 floor = top / bottom - (top % bottom < 0 ? 1 : 0);
                         const Int128 twice = 2 * (top - floor * bottom);
                         if (twice > bottom || (twice == bottom && floor % 2 != 0)) ++floor;
                         return finished(whole, static_cast<std::int64_t>(floor));
                       }))
        << "case " << i;
  }
}

TEST_F(KernelTest, AnInputAddedToAConvolutionIsTheSumOfBoth) {
  for (int i = 0; i < 100; ++i) {
    const Pixels b = makePixels(1, pick(9, 14), pick(1, 3));
    Kernel k = makeKernel(OpKind::Conv, b, Window{}, b.channels / 8);
    k.addsInput = true;
    k.addedToZero = byte();
    k.multiplierA = pick(-(std::int64_t{1} << 45), std::int64_t{1} << 45);
    k.multiplierB = pick(-(std::int64_t{1} << 45), std::int64_t{1} << 45);
    k.shift = static_cast<std::int32_t>(pick(40, 48));
    std::vector<std::int8_t> output = outputOf(k);
    for (std::int8_t& value : output) value = byte();
    const std::vector<std::int8_t> convolved = output;
    const std::int64_t column = pick(0, b.width - k.outputColumns);
    addInput(k, rowsOf(b, Window{}, 0, column), output.data());
    ASSERT_EQ(output, expected(k, [&](std::int64_t x, std::int64_t c) {
                const auto at = static_cast<std::size_t>((c / 8 * k.outputColumns + x) * 8 + c % 8);
                const std::int64_t left = convolved[at] - k.addedToZero,
                                   right = b.at(0, column + x, c) - k.inputZeroB;
                return finished(
                    k, roundHalfEvenShift(left * k.multiplierA + right * k.multiplierB, k.shift));
              }));
  }
}

TEST_F(KernelTest, AConvolutionThatAddsAnInputRoundsToItsOwnZeroPointFirst) {
  const Pixels p = makePixels(1, 12, 1);
  Kernel k = makeKernel(OpKind::Conv, p, Window{}, 1);
  k.addsInput = true;
  k.addedToZero = 5;
  k.addedToClamp = {-3, 40};
  std::vector<std::int8_t> record(8 + 64);  // gamma, weights: all zero
  record[0] = 1;
  for (int c = 0; c < 8; ++c) put32(record, 100 * (c - 4));
  for (int c = 0; c < 8; ++c) put32(record, 1 << 30);
  for (int c = 0; c < 8; ++c) record.push_back(30);
  std::vector<std::int8_t> output = outputOf(k);
  runConv(k, rowsOf(p, Window{}, 0, 0), nullptr, record.data(), {}, output.data(), scratch_);
  EXPECT_EQ(output, expected(k, [&](std::int64_t, std::int64_t c) {
              return static_cast<std::int8_t>(c < 4 ? -3 : c == 4 ? 5 : 40);
            }));
}

TEST_F(KernelTest, AddAndMulAreTheirFormulas) {
  for (int i = 0; i < 100; ++i) {
    const Pixels a = makePixels(1, pick(9, 14), pick(1, 3)),
                 b = makePixels(1, a.width, a.channels / 8);
    Kernel k = makeKernel(OpKind::Add, a, Window{}, a.channels / 8);
    k.multiplierA = pick(-(std::int64_t{1} << 45), std::int64_t{1} << 45);
    k.multiplierB = pick(-(std::int64_t{1} << 45), std::int64_t{1} << 45);
    k.shift = static_cast<std::int32_t>(pick(40, 48));
    k.rescale = {static_cast<std::int32_t>(pick(1 << 30, INT32_MAX)),
                 static_cast<std::int32_t>(pick(34, 40))};
    const std::int64_t column = pick(0, a.width - k.outputColumns);
    std::vector<std::int8_t> output = outputOf(k);
    runAdd(k, rowsOf(a, Window{}, 0, column), rowsOf(b, Window{}, 0, column), output.data());
    ASSERT_EQ(output, expected(k, [&](std::int64_t x, std::int64_t c) {
                const std::int64_t left = a.at(0, column + x, c) - k.inputZero,
                                   right = b.at(0, column + x, c) - k.inputZeroB;
                return finished(
                    k, roundHalfEvenShift(left * k.multiplierA + right * k.multiplierB, k.shift));
              }));
    runMul(k, rowsOf(a, Window{}, 0, column), rowsOf(b, Window{}, 0, column), output.data());
    ASSERT_EQ(output, expected(k, [&](std::int64_t x, std::int64_t c) {
                const int left = a.at(0, column + x, c) - k.inputZero,
                          right = b.at(0, column + x, c) - k.inputZeroB;
                return finished(k, applyMultiplier(left * right, k.rescale));
              }));
  }
}

TEST_F(KernelTest, AddAndMulMeetOnePixelInAllOthers) {
  const Pixels a = makePixels(1, 12, 2), b = makePixels(1, 1, 2);
  Kernel k = makeKernel(OpKind::Mul, a, Window{}, 2);
  k.broadcasts = true;
  k.rescale = {1 << 30, 36};
  k.multiplierA = k.multiplierB = 1;
  std::vector<std::int8_t> output = outputOf(k);
  runMul(k, rowsOf(a, Window{}, 0, 0), rowsOf(b, Window{}, 0, 0), output.data());
  ASSERT_EQ(output, expected(k, [&](std::int64_t x, std::int64_t c) {
              const int left = a.at(0, x, c) - k.inputZero, right = b.at(0, 0, c) - k.inputZeroB;
              return finished(k, applyMultiplier(left * right, k.rescale));
            }));
  runAdd(k, rowsOf(a, Window{}, 0, 0), rowsOf(b, Window{}, 0, 0), output.data());
  ASSERT_EQ(output, expected(k, [&](std::int64_t x, std::int64_t c) {
              return finished(k, a.at(0, x, c) - k.inputZero + b.at(0, 0, c) - k.inputZeroB);
            }));
}

TEST_F(KernelTest, TableLooksUpOneTableOrOneAChannel) {
  for (const bool perChannel : {false, true}) {
    const Pixels p = makePixels(1, 12, 3);
    Kernel k = makeKernel(OpKind::Table, p, Window{}, 3);
    k.tablePerChannel = perChannel;
    std::vector<std::int8_t> record;
    for (int i = 0; i < 24 * 256; ++i) record.push_back(byte());
    std::vector<std::int8_t> output = outputOf(k);
    runTable(k, rowsOf(p, Window{}, 0, 2), record.data(), output.data());
    EXPECT_EQ(output, expected(k, [&](std::int64_t x, std::int64_t c) {
                return record[static_cast<std::size_t>((perChannel ? c * 256 : 0) +
                                                       p.at(0, 2 + x, c) + 128)];
              }));
  }
}

TEST_F(KernelTest, TableOfLinesIsTheirFormula) {
  const Pixels p = makePixels(1, 12, 3);
  Kernel k = makeKernel(OpKind::Table, p, Window{}, 3);
  k.tablePerChannel = k.tableLines = true;
  std::vector<std::int8_t> record;
  std::vector<TableLine> lines;
  for (int i = 0; i < 24; ++i) {
    const TableLine& line =
        lines.emplace_back(TableLine{static_cast<std::int32_t>(pick(-(1 << 20), 1 << 20)),
                                     static_cast<std::int32_t>(pick(-(1 << 27), 1 << 27)),
                                     20,
                                     {-90, 100}});
    put32(record, line.slope);
    put32(record, line.offset);
    for (const int n : {20, -90, 100, 0}) record.push_back(static_cast<std::int8_t>(n));
  }
  std::vector<std::int8_t> output = outputOf(k);
  runTable(k, rowsOf(p, Window{}, 0, 2), record.data(), output.data());
  EXPECT_EQ(output, expected(k, [&](std::int64_t x, std::int64_t c) {
              const TableLine& line = lines[static_cast<std::size_t>(c)];
              const double exact = std::ldexp(
                  static_cast<double>(p.at(0, 2 + x, c)) * line.slope + line.offset, -20);
              return saturate(std::llrint(exact), -90, 100);
            }));
}

TEST_F(KernelTest, AssembleMovesRunsAndFillsTheRest) {
  // Two rings of 6 pixels: every second pixel of the first backwards into channels 3..,
  // channels 8..11 of the second through a table into channels 0..2 of pixels 1..3; a third ring
  // gives nothing to this row.
  const Pixels a = makePixels(1, 6, 1), b = makePixels(1, 6, 2);
  Kernel k = makeKernel(OpKind::Assemble, a, Window{}, 2);
  k.outputColumns = 5;
  k.fill = 42;
  k.moves = {{{{0, 2, 4, -2, 3}}, {{3, 1, 1, 1, 6}}, -1},
             {{{1, 1, 2, 1, 3}}, {{0, 1, 8, 1, 3}}, 1},
             {{{0, 1, 0, 1, 5}}, {{15, 1, 0, 1, 1}}, -1}};
  std::vector<std::int8_t> record;
  for (int i = 0; i < 512; ++i) record.push_back(byte());
  std::map<std::pair<std::int64_t, std::int64_t>, std::int8_t>
      moved;  // by output pixel and channel
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t c = 0; c < 6; ++c) moved[{2 * i, 3 + c}] = a.at(0, 4 - 2 * i, 1 + c);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t c = 0; c < 3; ++c)
      moved[{1 + i, c}] = record[static_cast<std::size_t>(256 + b.at(0, 2 + i, 8 + c) + 128)];
  const AssembleInput inputs[] = {
      {blocked(a, 0, 0, 0).data(), 6}, {blocked(b, 0, 0, 0).data(), 6}, {}};
  std::vector<std::int8_t> output = outputOf(k);
  runAssemble(k, inputs, record.data(), output.data());
  EXPECT_EQ(output, expected(k, [&](std::int64_t x, std::int64_t c) {
              const auto found = moved.find({x, c});
              return found == moved.end() ? k.fill : found->second;
            }));
}

}  // namespace
}  // namespace heddle::machine
