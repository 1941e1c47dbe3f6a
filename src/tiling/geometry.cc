#include "heddle/tiling/geometry.h"

#include <algorithm>
#include <numeric>

#include "heddle/canon/batch.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/support/check.h"

namespace heddle {
namespace {

Interval clip(std::int64_t first, std::int64_t end, const Interval& inside) {
  first = std::max(first, inside.first);
  end = std::min(end, inside.end());
  return {first, std::max<std::int64_t>(end - first, 0)};
}

// What a depth-wise convolution at the end reads; of a pool, which has no record, where there is
// none.
RecordContents contentsOfEnd(const CanonicalOp& op, std::int64_t outputBlocks) {
  const FusedWindow* end = fusedWindowOf(op);
  const DepthwiseConv* conv = end ? end->depthwise() : nullptr;
  if (!conv) return {.op = OpKind::MaxPool};
  return {.op = OpKind::DepthwiseConv,
          .outputBlocks = outputBlocks,
          .taps = conv->window.kernelY * conv->window.kernelX,
          .negativeScale = !conv->requantizeNegative.empty(),
          .weightZeros = hasZeroPoints(conv->weightZero),
          .tables = conv->fusedTable ? 1 : 0};
}

}  // namespace

MappedAxis::MappedAxis(const AxisMap& map) {
  for (const AxisRun& run : map)
    for (std::int64_t i = 0; i < run.count; ++i)
      all_.push_back({run.to + i * run.toStep, run.from + i * run.fromStep});
  // Of what is given to one output the last holds.
  std::ranges::reverse(all_);
  std::ranges::stable_sort(all_, {}, &Pair::to);
  const auto isSame = [](const Pair& a, const Pair& b) { return a.to == b.to; };
  all_.erase(std::unique(all_.begin(), all_.end(), isSame), all_.end());
}

std::size_t MappedAxis::firstFrom(std::int64_t output) const {
  if (all_.empty() || output <= all_.front().to) return 0;
  const std::int64_t ahead = output - all_.front().to, span = all_.back().to - all_.front().to + 1;
  if (span == std::ssize(all_)) return static_cast<std::size_t>(std::min(ahead, span));
  return static_cast<std::size_t>(std::ranges::lower_bound(all_, output, {}, &Pair::to) -
                                  all_.begin());
}

std::int64_t MappedAxis::inputOf(std::int64_t output) const {
  const std::size_t i = firstFrom(output);
  return i < all_.size() && all_[i].to == output ? all_[i].from : -1;
}

Interval MappedAxis::around(const Interval& outputs) const {
  std::int64_t low = INT64_MAX, high = -1;
  for (std::size_t i = firstFrom(outputs.first); i < all_.size() && all_[i].to < outputs.end();
       ++i) {
    low = std::min(low, all_[i].from);
    high = std::max(high, all_[i].from);
  }
  return high < 0 ? Interval{} : Interval{low, high - low + 1};
}

std::vector<std::int64_t> MappedAxis::outputs() const {
  std::vector<std::int64_t> all;
  all.reserve(all_.size());
  for (const Pair& pair : all_) all.push_back(pair.to);
  return all;
}

const Window* kernelWindowOf(const CanonicalOp& op) {
  return std::visit(
      [](const auto& a) -> const Window* {
        if constexpr (requires { a.window; })
          return &a.window;
        else
          return nullptr;
      },
      op.attributes);
}

std::optional<Window> windowOf(const CanonicalOp& op) {
  const Window* own = kernelWindowOf(op);
  if (!own) return std::nullopt;
  const FusedWindow* pool = fusedWindowOf(op);
  if (!pool) return *own;
  const Window& p = pool->window();
  return Window{.kernelY = (p.kernelY - 1) * own->strideY + (own->kernelY - 1) * own->dilationY + 1,
                .kernelX = (p.kernelX - 1) * own->strideX + (own->kernelX - 1) * own->dilationX + 1,
                .strideY = p.strideY * own->strideY,
                .strideX = p.strideX * own->strideX,
                .padTop = p.padTop * own->strideY + own->padTop,
                .padLeft = p.padLeft * own->strideX + own->padLeft};
}

Interval kernelRowsOf(const CanonicalOp& op, const ReductionPart& part) {
  return fusedWindowOf(op) ? Interval{0, kernelWindowOf(op)->kernelY} : part.kernelRows;
}

std::int64_t tapsOf(const CanonicalOp& op, const ReductionPart& part) {
  const Window* own = kernelWindowOf(op);
  return kernelRowsOf(op, part).count * (own ? own->kernelX : 1);
}

PooledGeometry::PooledGeometry(const CanonicalGraph& graph, const CanonicalOp& op)
    : computed_(graph.tensors[computedTensor(op).at()].shape),
      images_{graph.batch, imageShape(graph, op.output).height, computed_.height / graph.batch} {
  if (const FusedWindow* pool = fusedWindowOf(op)) window_ = pool->window();
}

Interval PooledGeometry::rows(std::int64_t y) const {
  if (!window_) return {y, 1};
  const std::int64_t first = firstRow(y);
  return clip(first, first + window_->kernelY, {images_.at(y) * images_.input, images_.input});
}

std::int64_t PooledGeometry::firstRow(std::int64_t y) const {
  if (!window_) return y;
  const std::int64_t image = images_.at(y);
  return image * images_.input + (y - image * images_.output) * window_->strideY - window_->padTop;
}

Interval PooledGeometry::freshRows(std::int64_t y, bool follows) const {
  Interval fresh = rows(y);
  if (!follows) return fresh;
  const std::int64_t first = std::max(fresh.first, rows(y - 1).end());
  return {first, std::max<std::int64_t>(fresh.end() - first, 0)};
}

Interval PooledGeometry::columns(const Interval& x) const {
  if (!window_) return x;
  const std::int64_t first = x.first * window_->strideX - window_->padLeft;
  return clip(first, first + (x.count - 1) * window_->strideX + window_->kernelX,
              {0, computed_.width});
}

std::int64_t PooledGeometry::mostRows(std::int64_t rows) const {
  if (!window_) return rows;
  const std::int64_t shared = std::max<std::int64_t>(window_->kernelY - window_->strideY, 0);
  // The first row of an image shares none with the one before it.
  const std::int64_t images =
      1 + std::min(divideRoundUp(rows - 1, images_.output), images_.batch - 1);
  return std::min(rows * (window_->kernelY - shared) + images * shared, computed_.height);
}

std::int64_t PooledGeometry::mostColumns(std::int64_t columns) const {
  if (!window_) return columns;
  return std::min((columns - 1) * window_->strideX + window_->kernelX, computed_.width);
}

bool reducesChannels(const CanonicalOp& op) { return op.kind() == OpKind::Conv; }

std::int64_t operandBlocks(const CanonicalOp& op, std::int64_t outputBlocks,
                           const ReductionPart& part, bool lastPart) {
  return operandsAtStart(op) * part.inputBlocks.count +
         (lastPart ? operandsAtEnd(op) * outputBlocks : 0);
}

bool sharesInput(const CanonicalOp& op, std::size_t operand) {
  return reducesChannels(op) && !isAddend(op, operand);
}

OperandGeometry::OperandGeometry(const CanonicalGraph& graph, const CanonicalOp& op,
                                 std::size_t operand)
    : OperandGeometry(graph, op, operand, graph.tensors[op.output.at()].shape, windowOf(op)) {}

OperandGeometry OperandGeometry::ofKernel(const CanonicalGraph& graph, const CanonicalOp& op,
                                          std::size_t operand) {
  const Window* own = kernelWindowOf(op);
  return {graph, op, operand, graph.tensors[computedTensor(op).at()].shape,
          own ? std::optional(*own) : std::nullopt};
}

OperandGeometry::OperandGeometry(const CanonicalGraph& graph, const CanonicalOp& op,
                                 std::size_t operand, const Shape& output,
                                 const std::optional<Window>& window)
    : input_(graph.tensors[op.inputs[operand].at()].shape),
      output_(output),
      images_{graph.batch, output.height / graph.batch, input_.height / graph.batch},
      shared_(sharesInput(op, operand)),
      broadcasts_(isBroadcast(graph, op, operand)) {
  if (isAddend(op, operand) || broadcasts_) return;
  if (window) {
    window_ = *window;
    windowed_ = true;
  } else if (const Assemble* assemble = std::get_if<Assemble>(&op.attributes)) {
    const AssemblePart& part = assemble->parts[operand];
    moves_ = true;
    rows_ = MappedAxis(part.mapY);
    columns_ = MappedAxis(part.mapX);
    channels_ = MappedAxis(part.mapC);
  }
}

std::int64_t OperandGeometry::firstRow(std::int64_t y, const Interval& kernelRows) const {
  if (moves_) return std::max<std::int64_t>(rows_.inputOf(y), 0);
  if (broadcasts_) return images_.at(y);
  if (!windowed_) return y;
  const std::int64_t image = images_.at(y);
  return image * images_.input + (y - image * images_.output) * window_.strideY - window_.padTop +
         kernelRows.first * window_.dilationY;
}

std::int64_t OperandGeometry::firstColumn(std::int64_t x) const {
  return windowed_ ? x * window_.strideX - window_.padLeft : x;
}

Interval OperandGeometry::rows(std::int64_t y, const Interval& kernelRows) const {
  if (moves_) {
    const std::int64_t from = rows_.inputOf(y);
    return from < 0 ? Interval{} : Interval{from, 1};
  }
  const std::int64_t first = firstRow(y, kernelRows);
  if (!windowed_) return {first, 1};
  const std::int64_t extent = (kernelRows.count - 1) * window_.dilationY + 1;
  return clip(first, first + extent, {images_.at(y) * images_.input, images_.input});
}

Interval OperandGeometry::rowsOf(const Interval& outputs, const Interval& kernelRows) const {
  if (moves_) return rows_.around(outputs);
  std::int64_t y = outputs.first, last = outputs.end() - 1;
  Interval all = rows(y, kernelRows);
  while (all.empty() && y < last) all = rows(++y, kernelRows);
  for (; last > y; --last)
    if (const Interval end = rows(last, kernelRows); !end.empty())
      return {all.first, std::max(all.end(), end.end()) - all.first};
  return all;
}

Interval OperandGeometry::columns(const Interval& x) const {
  if (moves_) return columns_.around(x);
  if (broadcasts_) return {0, 1};
  if (!windowed_) return x;
  const std::int64_t extent = (window_.kernelX - 1) * window_.dilationX + 1;
  const Interval inside =
      clip(firstColumn(x.first), firstColumn(x.end() - 1) + extent, {0, input_.width});
  if (!inside.empty()) return inside;
  return {std::clamp<std::int64_t>(firstColumn(x.first), 0, input_.width - 1), 1};
}

Interval OperandGeometry::blocks(const Interval& outputBlocks, const ReductionPart& part) const {
  if (shared_) return part.inputBlocks;
  if (!moves_) return outputBlocks;
  const Interval channels =
      channels_.around({outputBlocks.first * kBlock, outputBlocks.count * kBlock});
  if (channels.empty()) return {};
  const std::int64_t first = channels.first / kBlock;
  return {first, divideRoundUp(channels.end(), kBlock) - first};
}

bool OperandGeometry::absent(std::int64_t y) const { return moves_ && rows_.inputOf(y) < 0; }

std::vector<std::int64_t> OperandGeometry::outputRows() const {
  if (moves_) return rows_.outputs();
  std::vector<std::int64_t> all(static_cast<std::size_t>(output_.height));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::int64_t blocksComputed(const CanonicalOp& op, const Interval& outputBlocks,
                            const ReductionPart& part) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  if (!conv) return outputBlocks.count;
  if (conv->kept.size() == 0) return outputBlocks.count * part.inputBlocks.count;
  const std::int64_t inputBlocks =
      conv->kept.size() / divideRoundUp(std::ssize(conv->bias), kBlock);
  std::int64_t kept = 0;
  for (std::int64_t b = outputBlocks.first; b < outputBlocks.end(); ++b)
    kept += conv->kept.count(b * inputBlocks + part.inputBlocks.first, part.inputBlocks.count);
  return kept;
}

bool leavesBlocksOut(const CanonicalOp& op) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  return conv && conv->kept.size() > 0;
}

BlockCounts::BlockCounts(const CanonicalOp& op) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  if (!conv || conv->kept.size() == 0) return;
  const std::int64_t outputBlocks = divideRoundUp(std::ssize(conv->bias), kBlock);
  inputBlocks_ = conv->kept.size() / outputBlocks;
  const std::int64_t stride = inputBlocks_ + 1;
  before_.resize(static_cast<std::size_t>((outputBlocks + 1) * stride));
  for (std::int64_t b = 0; b < outputBlocks; ++b) {
    std::int32_t row = 0;
    for (std::int64_t a = 0; a < inputBlocks_; ++a) {
      row += conv->kept[b * inputBlocks_ + a];
      before_[static_cast<std::size_t>((b + 1) * stride + a + 1)] =
          before_[static_cast<std::size_t>(b * stride + a + 1)] + row;
    }
  }
}

std::int64_t BlockCounts::count(const Interval& outputBlocks, const Interval& inputBlocks) const {
  // A pass in which a core sits out may begin behind the last block.
  if (inputBlocks_ == 0 || outputBlocks.empty()) return outputBlocks.count * inputBlocks.count;
  const auto corner = [&](std::int64_t b, std::int64_t a) {
    return std::int64_t{before_[static_cast<std::size_t>(b * (inputBlocks_ + 1) + a)]};
  };
  return corner(outputBlocks.end(), inputBlocks.end()) -
         corner(outputBlocks.first, inputBlocks.end()) -
         corner(outputBlocks.end(), inputBlocks.first) +
         corner(outputBlocks.first, inputBlocks.first);
}

std::int64_t recordBytes(const CanonicalOp& op, const Interval& outputBlocks,
                         const ReductionPart& part, bool lastPart) {
  return RecordLengths(op).bytes(outputBlocks.count, part, lastPart,
                                 blocksComputed(op, outputBlocks, part));
}

std::int64_t endRecordBytes(const CanonicalOp& op, std::int64_t outputBlocks) {
  return recordBytes(contentsOfEnd(op, outputBlocks));
}

RecordLengths::RecordLengths(const CanonicalOp& op) : op_(&op), ofEnd_(contentsOfEnd(op, 1)) {
  ofAll_.op = op.kind();
  std::visit(
      [&](const auto& a) {
        if constexpr (requires { a.requantizeNegative; })
          ofAll_.negativeScale = !a.requantizeNegative.empty();
        if constexpr (requires { a.weightZero; }) ofAll_.weightZeros = hasZeroPoints(a.weightZero);
      },
      op.attributes);
  if (fusedTableOf(op)) ofAll_.tables = 1;
  if (const auto* assemble = std::get_if<Assemble>(&op.attributes))
    ofAll_.tables = std::ranges::count_if(
        assemble->parts, [](const AssemblePart& p) { return p.table.has_value(); });
}

std::int64_t RecordLengths::bytes(std::int64_t outputBlocks, const ReductionPart& part,
                                  bool lastPart, std::int64_t kept) const {
  RecordContents contents = ofAll_;
  contents.outputBlocks = outputBlocks;
  contents.inputBlocks = part.inputBlocks.count;
  contents.kept = kept;
  contents.finishes = lastPart;
  if (fusedLinesOf(*op_)) contents.lines = part.inputBlocks.count * kBlock;
  if (kernelWindowOf(*op_)) contents.taps = tapsOf(*op_, part);
  if (const auto* table = std::get_if<Table>(&op_->attributes))
    (table->lines.empty() ? contents.tables : contents.lines) =
        table->tables.size() == 1 ? 1 : outputBlocks * kBlock;
  if (!lastPart) return recordBytes(contents);
  RecordContents end = ofEnd_;
  end.outputBlocks = outputBlocks;
  return recordBytes(contents) + recordBytes(end);
}

std::int64_t recordBytes(const RecordContents& contents) {
  const std::int64_t channels = contents.outputBlocks * kBlock,
                     zeros = contents.weightZeros ? channels : 0;
  // Bias, multiplier and shift, both of the latter again for negative sums, and the table of what
  // is looked up.
  const std::int64_t tables = kTableBytes * contents.tables;
  const std::int64_t epilogue =
      channels * (4 + (contents.negativeScale ? 2 : 1) * (4 + 1)) + tables;
  switch (contents.op) {
    case OpKind::Conv: {
      const std::int64_t gamma =
          divideRoundUp(contents.outputBlocks * contents.inputBlocks, 64) * 8;
      return zeros + gamma + kLineBytes * contents.lines +
             contents.kept * contents.taps * kBlock * kBlock + (contents.finishes ? epilogue : 0);
    }
    case OpKind::DepthwiseConv:
      return zeros + channels * contents.taps + epilogue;
    case OpKind::Table:
      return tables + kLineBytes * contents.lines;
    case OpKind::Assemble:
      return tables;
    case OpKind::MaxPool:
    case OpKind::AveragePool:
    case OpKind::Add:
    case OpKind::Mul:
      return 0;
  }
  return 0;
}

}  // namespace heddle
