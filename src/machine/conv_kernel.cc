// CONV and DWCONV. CONV widens the window's pixels to int16 once a call and its weights (minus
// their zero point, hence 9 bits) as it goes; products of channel pairs are summed in int32
// (pmaddwd where the processor has AVX2).
#include <algorithm>
#include <bit>
#include <cstring>

#include "heddle/support/check.h"
#include "heddle/tiling/record_contents.h"
#include "kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace heddle::machine {
namespace {

constexpr std::int64_t kBlockBytes = kBlock * kBlock;  // 8 CIN x 8 COUT

std::int32_t readInt32(const std::int8_t* at) {
  std::int32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool keeps(const std::int8_t* gamma, std::int64_t bit) {
  return (static_cast<std::uint8_t>(gamma[bit / 8]) >> (bit % 8)) & 1;
}

// What the inner loop needs: one 8x8 block of one tap against a row of pixels.
struct Tap {
  const std::int8_t* weights;     // 8 CIN x 8 COUT
  const std::int8_t* weightZero;  // 8 COUT
  const std::int16_t* pixels;     // first pixel, 8 int16 each
  std::int64_t step;              // int16 from one output pixel's input to the next
  std::int64_t columns;
  std::int32_t* sums;  // columns x 8
};

void multiplyPortable(const Tap& tap) {
  std::int32_t weights[kBlockBytes];
  for (std::int64_t i = 0; i < kBlockBytes; ++i)
    weights[i] = tap.weights[i] - tap.weightZero[i % kBlock];
  for (std::int64_t x = 0; x < tap.columns; ++x) {
    const std::int16_t* pixel = tap.pixels + x * tap.step;
    std::uint32_t sums[kBlock];
    std::memcpy(sums, tap.sums + x * kBlock, sizeof sums);
    for (std::int64_t c = 0; c < kBlock; ++c)
      for (std::int64_t k = 0; k < kBlock; ++k)
        sums[k] += static_cast<std::uint32_t>(pixel[c] * weights[c * kBlock + k]);
    std::memcpy(tap.sums + x * kBlock, sums, sizeof sums);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) __m256i weightPair(const std::int8_t* weights, __m256i zero) {
  const __m128i even = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weights));
  const __m128i odd = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weights + kBlock));
  return _mm256_sub_epi16(_mm256_cvtepi8_epi16(_mm_unpacklo_epi8(even, odd)), zero);
}

__attribute__((target("avx2"))) __m256i pixelPair(const std::int16_t* pixel) {
  std::int32_t pair = 0;
  std::memcpy(&pair, pixel, sizeof pair);
  return _mm256_set1_epi32(pair);
}

__attribute__((target("avx2"))) void multiplyAvx2(const Tap& tap) {
  const __m128i zeros = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(tap.weightZero));
  const __m256i zero = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(zeros, zeros));
  const __m256i w0 = weightPair(tap.weights, zero), w1 = weightPair(tap.weights + 16, zero);
  const __m256i w2 = weightPair(tap.weights + 32, zero), w3 = weightPair(tap.weights + 48, zero);
  const std::int16_t* pixel = tap.pixels;
  for (std::int64_t x = 0; x < tap.columns; ++x, pixel += tap.step) {
    __m256i* at = reinterpret_cast<__m256i*>(tap.sums + x * kBlock);
    const __m256i a = _mm256_add_epi32(_mm256_madd_epi16(pixelPair(pixel), w0),
                                       _mm256_madd_epi16(pixelPair(pixel + 2), w1));
    const __m256i b = _mm256_add_epi32(_mm256_madd_epi16(pixelPair(pixel + 4), w2),
                                       _mm256_madd_epi16(pixelPair(pixel + 6), w3));
    _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), _mm256_add_epi32(a, b)));
  }
}
#endif

using Multiply = void (*)(const Tap&);

Multiply chooseMultiply() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return multiplyAvx2;
#endif
  return multiplyPortable;
}

std::int64_t spanOf(const Kernel& kernel) {
  const Window& w = kernel.window;
  return (kernel.outputColumns - 1) * w.strideX + (w.kernelX - 1) * w.dilationX + 1;
}

// The window's pixels as int16, kernel row x block x span x 8, border filled in.
void widenPixels(const Kernel& kernel, const WindowRows& input, std::int64_t blocks,
                 KernelScratch& scratch) {
  const std::int64_t span = spanOf(kernel), rows = kernel.window.kernelY;
  scratch.pixels.resize(static_cast<std::size_t>(rows * blocks * span * kBlock));
  std::int16_t* to = scratch.pixels.data();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t block = 0; block < blocks; ++block)
      for (std::int64_t x = 0; x < span; ++x, to += kBlock) {
        const std::int8_t* from = input.pixel(row, block, input.column + x);
        for (std::int64_t c = 0; c < kBlock; ++c)
          to[c] = from == nullptr ? kernel.inputZero : from[c];
      }
}

// The same of what is multiplied by a gate.
void multiplyPixels(const Kernel& kernel, const WindowRows& input, const WindowRows& gate,
                    KernelScratch& scratch) {
  const std::int64_t blocks = kernel.inputBlocks, columns = kernel.outputColumns;
  scratch.pixels.resize(static_cast<std::size_t>(blocks * columns * kBlock));
  std::int16_t* to = scratch.pixels.data();
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int8_t* factors = gate.pixel(0, block, gate.column);
    for (std::int64_t x = 0; x < columns; ++x, to += kBlock) {
      const std::int8_t* from = input.pixel(0, block, input.column + x);
      for (std::int64_t c = 0; c < kBlock; ++c) {
        const std::int32_t product = (from[c] - kernel.inputZero) * (factors[c] - kernel.gateZero);
        to[c] = saturate(kernel.productZero + applyMultiplier(product, kernel.rescale),
                         kernel.productClamp.low, kernel.productClamp.high);
      }
    }
  }
}

// The same of what is looked up in lines.
void lookUpPixels(const Kernel& kernel, const WindowRows& input, const std::int8_t* lines,
                  KernelScratch& scratch) {
  const std::int64_t blocks = kernel.inputBlocks, columns = kernel.outputColumns;
  scratch.pixels.resize(static_cast<std::size_t>(blocks * columns * kBlock));
  for (std::int64_t block = 0; block < blocks; ++block)
    for (std::int64_t c = 0; c < kBlock; ++c) {
      const TableLine line = lineAt(lines + (block * kBlock + c) * kLineBytes);
      for (std::int64_t x = 0; x < columns; ++x)
        scratch.pixels[static_cast<std::size_t>((block * columns + x) * kBlock + c)] =
            valueOnLine(line, input.pixel(0, block, input.column + x)[c]);
    }
}

// What a record ends with: bias, multipliers, shifts, with negativeScale the latter two of
// negative sums, and with looksUp a table.
class Epilogue {
 public:
  Epilogue(const Kernel& kernel, const std::int8_t* tail)
      : tail_(tail),
        channels_(kernel.outputBlocks * kBlock),
        negative_(kernel.negativeScale ? channels_ * kScaleBytes : 0) {}

  std::int64_t scaled(std::int32_t sum, std::int64_t channel) const {
    const auto bias = static_cast<std::uint32_t>(readInt32(tail_ + 4 * channel));
    const auto whole = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + bias);
    const std::int8_t* scales = tail_ + 4 * channels_ + (whole < 0 ? negative_ : 0);
    return applyMultiplier(whole,
                           {readInt32(scales + 4 * channel), scales[4 * channels_ + channel]});
  }
  // With looksUp alone.
  std::int8_t lookedUp(std::int8_t value) const {
    return tail_[(4 + kScaleBytes) * channels_ + negative_ + value + 128];
  }

 private:
  static constexpr std::int64_t kScaleBytes = 4 + 1;  // of a channel

  const std::int8_t* tail_;
  std::int64_t channels_, negative_;
};

void requantizeRow(const Kernel& kernel, const std::int32_t* sums, const std::int8_t* tail,
                   std::int8_t* output) {
  const Epilogue epilogue(kernel, tail);
  const std::int8_t zero = kernel.looksUp     ? kernel.lookedUpZero
                           : kernel.addsInput ? kernel.addedToZero
                                              : kernel.outputZero;
  const Clamp clamp = kernel.looksUp     ? kernel.lookedUpClamp
                      : kernel.addsInput ? kernel.addedToClamp
                                         : kernel.clamp;
  for (std::int64_t b = 0; b < kernel.outputBlocks; ++b)
    for (std::int64_t x = 0; x < kernel.outputColumns; ++x)
      for (std::int64_t k = 0; k < kBlock; ++k) {
        const std::int64_t i = (b * kernel.outputColumns + x) * kBlock + k;
        const std::int8_t value =
            saturate(zero + epilogue.scaled(sums[i], b * kBlock + k), clamp.low, clamp.high);
        output[i] = kernel.looksUp ? epilogue.lookedUp(value) : value;
      }
}

// Where this call sums: in the accumulators of core memory, or, where the reduction is one call, in
// scratch.
std::int32_t* beginSums(const Kernel& kernel, const Reduction& reduction, KernelScratch& scratch) {
  const auto count = static_cast<std::size_t>(kernel.outputBlocks * kernel.outputColumns * kBlock);
  scratch.accumulators.resize(count);
  std::int32_t* sums = scratch.accumulators.data();
  if (reduction.init)
    std::memset(sums, 0, count * sizeof *sums);
  else
    std::memcpy(sums, reduction.accumulator, count * sizeof *sums);
  return sums;
}

void endSums(const Kernel& kernel, const Reduction& reduction, const std::int32_t* sums,
             const std::int8_t* tail, std::int8_t* output) {
  if (reduction.finish) {
    requantizeRow(kernel, sums, tail, output);
  } else {
    std::memcpy(reduction.accumulator, sums,
                static_cast<std::size_t>(kernel.outputBlocks * kernel.outputColumns * kBlock) *
                    sizeof *sums);
  }
}

std::int64_t gammaBytes(const Kernel& kernel) {
  return divideRoundUp(kernel.inputBlocks * kernel.outputBlocks, 64) * 8;
}

// What a record begins with: a zero point for each channel of a block.
class WeightZeros {
 public:
  WeightZeros(const Kernel& kernel, const std::int8_t* record)
      : first_(kernel.weightZeros ? record : kNone), step_(kernel.weightZeros ? kBlock : 0) {}
  static std::int64_t bytes(const Kernel& kernel) {
    return kernel.weightZeros ? kernel.outputBlocks * kBlock : 0;
  }
  const std::int8_t* of(std::int64_t block) const { return first_ + block * step_; }

 private:
  static constexpr std::int8_t kNone[kBlock] = {};
  const std::int8_t* first_;
  std::int64_t step_;
};

}  // namespace

std::int64_t keptBlocksOf(const Kernel& kernel, const std::int8_t* record) {
  const std::int8_t* gamma = record + WeightZeros::bytes(kernel);
  const std::int64_t blocks = kernel.inputBlocks * kernel.outputBlocks;
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < gammaBytes(kernel); ++i) {
    const auto bits = static_cast<std::uint8_t>(gamma[i]);
    const std::int64_t there = std::clamp<std::int64_t>(blocks - 8 * i, 0, 8);
    if (bits >> there != 0) return -1;
    kept += std::popcount(bits);
  }
  return kept;
}

void runConv(const Kernel& kernel, const WindowRows& input, const WindowRows* gate,
             const std::int8_t* record, const Reduction& reduction, std::int8_t* output,
             KernelScratch& scratch) {
  static const Multiply best = chooseMultiply();
  const Multiply multiply = scratch.portable ? multiplyPortable : best;
  const Window& window = kernel.window;
  const std::int64_t A = kernel.inputBlocks, B = kernel.outputBlocks, span = spanOf(kernel);
  const WeightZeros zeros(kernel, record);
  const std::int8_t* gamma = record + WeightZeros::bytes(kernel);
  const std::int8_t *const lines = gamma + gammaBytes(kernel),
                           *weights = lines + (kernel.tableLines ? A * kBlock * kLineBytes : 0);
  if (kernel.multipliesInput)
    multiplyPixels(kernel, input, *gate, scratch);
  else if (kernel.tableLines)
    lookUpPixels(kernel, input, lines, scratch);
  else
    widenPixels(kernel, input, A, scratch);
  std::int32_t* sums = beginSums(kernel, reduction, scratch);
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t a = 0; a < A; ++a) {
      if (!keeps(gamma, b * A + a)) continue;
      for (std::int64_t ky = 0; ky < window.kernelY; ++ky)
        for (std::int64_t kx = 0; kx < window.kernelX; ++kx, weights += kBlockBytes)
          multiply({weights, zeros.of(b),
                    scratch.pixels.data() + ((ky * A + a) * span + kx * window.dilationX) * kBlock,
                    window.strideX * kBlock, kernel.outputColumns,
                    sums + b * kernel.outputColumns * kBlock});
    }
  endSums(kernel, reduction, sums, weights, output);
}

void runDepthwiseConv(const Kernel& kernel, const WindowRows& input, const std::int8_t* record,
                      const Reduction& reduction, std::int8_t* output, KernelScratch& scratch) {
  const Window& window = kernel.window;
  const std::int64_t B = kernel.outputBlocks, span = spanOf(kernel),
                     taps = window.kernelY * window.kernelX;
  const WeightZeros zeros(kernel, record);
  const std::int8_t* weights = record + WeightZeros::bytes(kernel);
  widenPixels(kernel, input, B, scratch);
  std::int32_t* sums = beginSums(kernel, reduction, scratch);
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t tap = 0; tap < taps; ++tap, weights += kBlock) {
      const std::int64_t ky = tap / window.kernelX, kx = tap % window.kernelX;
      const std::int16_t* pixels =
          scratch.pixels.data() + ((ky * B + b) * span + kx * window.dilationX) * kBlock;
      std::int32_t* row = sums + b * kernel.outputColumns * kBlock;
      for (std::int64_t x = 0; x < kernel.outputColumns; ++x)
        for (std::int64_t k = 0; k < kBlock; ++k) {
          const std::int32_t product =
              pixels[x * window.strideX * kBlock + k] * (weights[k] - zeros.of(b)[k]);
          row[x * kBlock + k] =
              static_cast<std::int32_t>(static_cast<std::uint32_t>(row[x * kBlock + k]) +
                                        static_cast<std::uint32_t>(product));
        }
    }
  endSums(kernel, reduction, sums, weights, output);
}

}  // namespace heddle::machine
