#include "records.h"

#include <algorithm>
#include <cstring>

#include "heddle/canon/fuse_operators.h"
#include "heddle/support/check.h"
#include "heddle/tiling/geometry.h"

namespace heddle {
namespace {

template <class T>
void append(std::vector<std::uint8_t>& image, T value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  image.insert(image.end(), bytes, bytes + sizeof value);
}

// Parameters per output channel, for convolutions of both kinds. `weightsOf` is the number of
// weights of one channel.
struct Channels {
  const SharedArray<std::int8_t>& weights;
  const std::vector<std::int8_t>& weightZero;
  const std::vector<std::int32_t>& bias;
  const std::vector<Multiplier>&requantize, &requantizeNegative;
  std::int8_t inputZero;

  std::int64_t count() const { return std::ssize(bias); }
  std::int8_t zero(std::int64_t c) const {
    return c < count() ? weightZero[static_cast<std::size_t>(c)] : std::int8_t{0};
  }

  // The kernel multiplies stored values; what the input's zero point adds is a constant of the
  // channel.
  std::int32_t correctedBias(std::int64_t c) const {
    if (c >= count()) return 0;
    const auto i = static_cast<std::size_t>(c);
    std::uint32_t sum = 0;
    if (inputZero != 0) {
      const std::size_t each = weights.size() / static_cast<std::size_t>(count());
      for (std::size_t k = i * each; k < (i + 1) * each; ++k)
        sum += static_cast<std::uint32_t>(weights[k] - weightZero[i]);
    }
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(bias[i]) -
                                     static_cast<std::uint32_t>(std::int32_t{inputZero}) * sum);
  }

  void appendZeros(const Interval& blocks, std::vector<std::uint8_t>& image) const {
    if (!hasZeroPoints(weightZero)) return;
    for (std::int64_t c = blocks.first * kBlock; c < blocks.end() * kBlock; ++c)
      append(image, zero(c));
  }
  void appendEpilogue(const Interval& blocks, std::vector<std::uint8_t>& image) const {
    const std::int64_t first = blocks.first * kBlock, end = blocks.end() * kBlock;
    for (std::int64_t c = first; c < end; ++c) append(image, correctedBias(c));
    for (const std::vector<Multiplier>* scales : {&requantize, &requantizeNegative}) {
      if (scales->empty()) continue;
      auto scale = [&](std::int64_t c) {
        return c < count() ? (*scales)[static_cast<std::size_t>(c)] : Multiplier{};
      };
      for (std::int64_t c = first; c < end; ++c) append(image, scale(c).multiplier);
      for (std::int64_t c = first; c < end; ++c)
        append(image, static_cast<std::int8_t>(std::clamp(scale(c).shift, -1, 64)));
    }
  }
};

void appendTable(const Table256& table, std::vector<std::uint8_t>& image) {
  for (std::int8_t value : table) append(image, value);
}

void appendLine(const TableLine& line, std::vector<std::uint8_t>& image) {
  append(image, line.slope);
  append(image, line.offset);
  append(image, static_cast<std::int8_t>(line.shift));
  append(image, line.clamp.low);
  append(image, line.clamp.high);
  append(image, std::int8_t{0});
}

void appendLines(const std::vector<TableLine>& lines, const Interval& blocks,
                 std::vector<std::uint8_t>& image) {
  for (std::int64_t c = blocks.first * kBlock; c < blocks.end() * kBlock; ++c)
    appendLine(c < std::ssize(lines) ? lines[static_cast<std::size_t>(c)] : TableLine{}, image);
}

void appendConv(const Conv& conv, std::int8_t inputZero, std::int64_t channelsIn,
                const Interval& blocks, const ReductionPart& part, bool lastPart,
                std::vector<std::uint8_t>& image) {
  const Channels channels{conv.weights,    conv.weightZero,         conv.bias,
                          conv.requantize, conv.requantizeNegative, inputZero};
  channels.appendZeros(blocks, image);
  const std::int64_t pairs = blocks.count * part.inputBlocks.count,
                     inputBlocks = divideRoundUp(channelsIn, kBlock);
  const auto keeps = [&](std::int64_t b, std::int64_t a) {
    return conv.kept.size() == 0 || conv.kept[b * inputBlocks + a];
  };
  std::vector<std::uint64_t> gamma(static_cast<std::size_t>(divideRoundUp(pairs, 64)));
  std::int64_t bit = 0, kept = 0;
  for (std::int64_t b = blocks.first; b < blocks.end(); ++b)
    for (std::int64_t a = part.inputBlocks.first; a < part.inputBlocks.end(); ++a, ++bit)
      if (keeps(b, a)) {
        gamma[static_cast<std::size_t>(bit / 64)] |= std::uint64_t{1} << (bit % 64);
        ++kept;
      }
  for (const std::uint64_t word : gamma) append(image, word);
  if (conv.fusedLines) appendLines(conv.fusedLines->table.lines, part.inputBlocks, image);
  const std::int64_t kx = conv.window.kernelX, ky = conv.window.kernelY;
  std::size_t at = image.size();
  image.resize(at + static_cast<std::size_t>(kept * part.kernelRows.count * kx * kBlock * kBlock));
  for (std::int64_t b = blocks.first; b < blocks.end(); ++b) {
    for (std::int64_t a = part.inputBlocks.first; a < part.inputBlocks.end(); ++a) {
      if (!keeps(b, a)) continue;
      for (std::int64_t y = part.kernelRows.first; y < part.kernelRows.end(); ++y) {
        for (std::int64_t x = 0; x < kx; ++x) {
          for (std::int64_t o = 0; o < kBlock; ++o) {
            const std::int64_t out = b * kBlock + o;
            // Padding channels weigh nothing: their weight is the weights' zero point.
            std::int8_t column[kBlock];
            std::fill_n(column, kBlock, channels.zero(out));
            if (out < channels.count()) {
              const std::int64_t first = a * kBlock;
              std::memcpy(column,
                          &conv.weights[static_cast<std::size_t>(
                              ((out * ky + y) * kx + x) * channelsIn + first)],
                          static_cast<std::size_t>(std::min(kBlock, channelsIn - first)));
            }
            for (std::int64_t i = 0; i < kBlock; ++i)
              image[at + static_cast<std::size_t>(i * kBlock + o)] =
                  static_cast<std::uint8_t>(column[i]);
          }
          at += kBlock * kBlock;
        }
      }
    }
  }
  if (lastPart) channels.appendEpilogue(blocks, image);
  if (lastPart && conv.fusedTable) appendTable(conv.fusedTable->table, image);
}

void appendDepthwise(const DepthwiseConv& conv, std::int8_t inputZero, const Interval& blocks,
                     const ReductionPart& part, std::vector<std::uint8_t>& image) {
  const Channels channels{conv.weights,    conv.weightZero,         conv.bias,
                          conv.requantize, conv.requantizeNegative, inputZero};
  channels.appendZeros(blocks, image);
  const std::int64_t kx = conv.window.kernelX, ky = conv.window.kernelY;
  for (std::int64_t b = blocks.first; b < blocks.end(); ++b)
    for (std::int64_t y = part.kernelRows.first; y < part.kernelRows.end(); ++y)
      for (std::int64_t x = 0; x < kx; ++x)
        for (std::int64_t c = b * kBlock; c < (b + 1) * kBlock; ++c)
          append(image, c < channels.count()
                            ? conv.weights[static_cast<std::size_t>((c * ky + y) * kx + x)]
                            : channels.zero(c));
  channels.appendEpilogue(blocks, image);
  if (conv.fusedTable) appendTable(conv.fusedTable->table, image);
}

}  // namespace

void appendRecord(const CanonicalGraph& graph, const CanonicalOp& op, const Interval& blocks,
                  const ReductionPart& part, bool lastPart, std::vector<std::uint8_t>& image) {
  const std::size_t before = image.size();
  const CanonicalTensor& input = graph.tensors[op.inputs[0].at()];
  if (const FusedWindow* end = fusedWindowOf(op); end && end->depthwise() && lastPart)
    appendDepthwise(*end->depthwise(), graph.tensors[end->before.at()].zeroPoint, blocks,
                    {.kernelRows = {0, end->window().kernelY}}, image);
  if (const Conv* conv = std::get_if<Conv>(&op.attributes)) {
    appendConv(*conv, zeroOfInput(graph, op), input.shape.channels, blocks,
               {part.inputBlocks, kernelRowsOf(op, part)}, lastPart, image);
  } else if (const DepthwiseConv* depthwise = std::get_if<DepthwiseConv>(&op.attributes)) {
    appendDepthwise(*depthwise, input.zeroPoint, blocks, part, image);
  } else if (const Table* table = std::get_if<Table>(&op.attributes)) {
    if (!table->lines.empty())
      appendLines(table->lines, blocks, image);
    else if (table->tables.size() == 1)
      appendTable(table->tables[0], image);
    else
      for (std::int64_t c = blocks.first * kBlock; c < blocks.end() * kBlock; ++c)
        appendTable(
            c < std::ssize(table->tables) ? table->tables[static_cast<std::size_t>(c)] : Table256{},
            image);
  } else if (const Assemble* assemble = std::get_if<Assemble>(&op.attributes)) {
    for (const AssemblePart& p : assemble->parts)
      if (p.table) appendTable(*p.table, image);
  }
  const auto written = static_cast<std::int64_t>(image.size() - before);
  HEDDLE_CHECK(written == recordBytes(op, blocks, part, lastPart)) << op.name << ": " << written;
  image.resize(before + static_cast<std::size_t>(roundUpTo(written, kBlock)));
}

void reserveRecords(const CanonicalGraph& graph, std::vector<std::uint8_t>& image) {
  std::int64_t bytes = 0;
  for (const CanonicalOp& op : graph.ops) {
    const std::optional<Window> window = windowOf(op);
    const ReductionPart whole{{0, blocksOf(graph.tensors[op.inputs[0].at()].shape)},
                              {0, window ? window->kernelY : 1}};
    bytes += recordBytes(op, {0, blocksOf(graph.tensors[op.output.at()].shape)}, whole, true);
  }
  image.reserve(image.size() + static_cast<std::size_t>(bytes + bytes / 64));
}

}  // namespace heddle
