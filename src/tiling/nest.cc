#include "heddle/tiling/nest.h"

#include <algorithm>

#include "heddle/canon/batch.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/limits.h"

namespace heddle {

LayerNest::LayerNest(const CanonicalGraph& graph, OpId op, const Mapping& mapping)
    : op_(&graph.ops[op.at()]),
      recordLengths_(*op_),
      mapping_(&mapping),
      input_(graph.tensors[op_->inputs[0].at()].shape),
      imageHeight_(imageShape(graph, op_->output).height),
      pooled_(graph, *op_) {
  for (std::size_t i = 0; i < op_->inputs.size(); ++i) {
    operands_.emplace_back(graph, *op_, i);
    kernelOperands_.push_back(OperandGeometry::ofKernel(graph, *op_, i));
  }
  if (const auto window = windowOf(*op_)) kernelHeight_ = window->kernelY;
  iterations_.reserve(static_cast<std::size_t>(mapping.passes * mapping.chunks * mapping.bands *
                                               std::ssize(mapping.parts)));
  std::array<std::int64_t, 4> at{};
  const auto advance = [&] {
    for (std::size_t k = at.size(); k-- > 0;) {
      if (++at[k] < mapping.extent(mapping.order[k])) return true;
      at[k] = 0;
    }
    return false;
  };
  do {
    Iteration next;
    for (std::size_t k = 0; k < at.size(); ++k) switch (mapping.order[k]) {
        case NestLoop::Pass:
          next.pass = at[k];
          break;
        case NestLoop::Chunk:
          next.chunk = at[k];
          break;
        case NestLoop::Band:
          next.band = at[k];
          break;
        case NestLoop::Part:
          next.part = at[k];
          break;
      }
    iterations_.push_back(next);
  } while (advance());
  const std::int64_t parts =
      std::max<std::int64_t>(1, std::ssize(mapping.parts));  // in place: none
  for (const std::int64_t pass :
       {std::int64_t{0}, std::int64_t{1}, std::max<std::int64_t>(1, mapping.passes - 1)})
    for (std::int64_t part = 0; part < parts; ++part)
      rowsOfCalls_.push_back(findRowsOfCalls({.pass = pass, .part = part}));
}

std::int64_t LayerNest::index(NestLoop loop, const Iteration& at) {
  switch (loop) {
    case NestLoop::Pass:
      return at.pass;
    case NestLoop::Chunk:
      return at.chunk;
    case NestLoop::Band:
      return at.band;
    case NestLoop::Part:
      return at.part;
  }
  return 0;
}

std::vector<RowCall> LayerNest::calls(const CoreShare& share, const Interval& rows,
                                      const Iteration& at) const {
  std::vector<RowCall> out;
  std::int64_t count = 0;
  for (const PixelBox& box : share.boxes)
    count += std::max<std::int64_t>(common(box.y, rows).count, 0);
  const Interval band = evenPart(count, mapping_->bands, at.band);
  std::int64_t before = 0;  // rows of the boxes before
  for (std::size_t b = 0; b < share.boxes.size(); ++b) {
    const PixelBox& box = share.boxes[b];
    const Interval y = common(box.y, rows);
    if (y.empty()) continue;
    Interval x = evenPart(box.x.count, mapping_->chunks, at.chunk);
    x.first += box.x.first;
    const Interval due = common({before, y.count}, band);
    if (!x.empty())
      appendCalls({y.first + due.first - before, due.count}, callRows(at), {.x = x, .box = b}, out);
    before += y.count;
  }
  return out;
}

bool LayerNest::isBetween(const Iteration& at) const {
  return isLater(at) && (!last(at) || at.pass + 1 < mapping_->passes);
}

bool LayerNest::isInner(const Iteration& at) const {
  return isBetween(at) && (mapping_->parts.size() == 1 || !last(at));
}

LayerNest::RowsOfCall LayerNest::findRowsOfCalls(const Iteration& at) const {
  const std::int64_t own = mapping_->callRows, inner = std::max(own, mapping_->innerCallRows);
  if (op_->kind() == OpKind::Assemble) return {1, 1};
  const FusedWindow* end = fusedWindowOf(*op_);
  if (!end) return isInner(at) ? RowsOfCall{inner, inner} : RowsOfCall{own, own};
  if (last(at) || !isInner(at)) return {1, own};
  // Rows between windows that no window reads are not computed.
  const Window& window = end->window();
  const std::int64_t rows =
      window.strideY > window.kernelY
          ? 1
          : std::max<std::int64_t>(1, mapping_->innerCallRows / window.strideY);
  return {rows, rows > 1 ? kMaxCallRows : inner};
}

void LayerNest::appendCalls(const Interval& y, std::int64_t most, const RowCall& like,
                            std::vector<RowCall>& to) const {
  for (std::int64_t row = y.first; row < y.end(); row += to.back().rows) {
    const std::int64_t ofImage = most > 1 ? imageHeight_ - row % imageHeight_ : 1;
    to.push_back(like);
    to.back().y = row;
    to.back().rows = std::min({most, ofImage, y.end() - row});
  }
}

Interval LayerNest::rowsComputed(const std::vector<RowCall>& calls, std::size_t k) const {
  if (!fusedWindowOf(*op_)) return {calls[k].y, calls[k].rows};
  const bool follows =
      k > 0 && calls[k - 1].box == calls[k].box && calls[k - 1].y + calls[k - 1].rows == calls[k].y;
  Interval rows = pooled_.freshRows(calls[k].y, follows);
  for (std::int64_t y = calls[k].y + 1; y < calls[k].y + calls[k].rows; ++y)
    rows.count = std::max(rows.end(), pooled_.rows(y).end()) - rows.first;
  return rows;
}

Interval LayerNest::rowsOf(std::size_t operand, const RowCall& call,
                           const Interval& kernelRows) const {
  return operands_[operand].rowsOf({call.y, call.rows}, kernelRows);
}

std::int64_t LayerNest::cellsComputed(const std::vector<RowCall>& calls) const {
  std::int64_t cells = 0;
  for (std::size_t k = 0; k < calls.size(); ++k)
    cells += rowsComputed(calls, k).count * pooled_.columns(calls[k].x).count;
  return cells;
}

std::vector<Interval> LayerNest::rowsOfKernel(std::size_t operand,
                                              const std::vector<RowCall>& calls,
                                              const Iteration& at) const {
  const Interval kernelRows = loadedKernelRows(at);
  std::vector<Interval> rows;
  if (!fusedWindowOf(*op_)) {
    for (const RowCall& call : calls) rows.push_back(rowsOf(operand, call, kernelRows));
    return rows;
  }
  const ReductionPart whole{{}, kernelRows};
  const std::int64_t most = kernelCallRows(at);
  for (std::size_t k = 0; k < calls.size(); ++k) {
    const Interval computed = rowsComputed(calls, k);
    for (std::int64_t y = computed.first; y < computed.end(); y += most)
      rows.push_back(kernelOperands_[operand].rowsOf({y, std::min(most, computed.end() - y)},
                                                     kernelRowsOf(*op_, whole)));
  }
  return rows;
}

bool LayerNest::stays(std::size_t operand) const {
  return mapping_->resident && !isAddend(*op_, operand);
}

bool LayerNest::takesRows(const CoreShare& share, std::size_t operand, const Iteration& at) const {
  if (isAddend(*op_, operand) && !last(at)) return false;
  return stays(operand) || !mapping_->passBlocks(share, at.pass).empty();
}

Interval LayerNest::loadedKernelRows(const Iteration& at) const {
  return mapping_->resident ? Interval{0, kernelHeight_} : part(at).kernelRows;
}

Held LayerNest::held(const CoreShare& share, std::size_t operand, const Iteration& at,
                     const Interval& x) const {
  Held h{operands_[operand].columns(x), blocks(share, operand, at)};
  if (h.columns.empty()) h.blocks = {};
  return h;
}

Interval LayerNest::blocks(const CoreShare& share, std::size_t operand, const Iteration& at) const {
  if (isAddend(*op_, operand) && !last(at)) return {};
  ReductionPart part = this->part(at);
  if (mapping_->resident) part.inputBlocks = {0, blocksOf(input_)};
  return operands_[operand].blocks(mapping_->passBlocks(share, at.pass), part);
}

std::int64_t LayerNest::recordBytes(const CoreShare& share, const Iteration& at) const {
  if (mapping_->equalRecords) return mapping_->weightBytes;
  return usedBytes(share, at);
}

std::int64_t LayerNest::usedBytes(const CoreShare& share, const Iteration& at) const {
  const Interval blocks = mapping_->passBlocks(share, at.pass);
  return roundUpTo(recordLengths_.bytes(blocks.count, part(at), last(at),
                                        blocksComputed(*op_, blocks, part(at))),
                   kBlock);
}

std::int64_t LayerNest::accumulatorBands() const {
  std::int64_t bands = 1;
  for (std::size_t k = 4; k-- > 0 && mapping_->order[k] != NestLoop::Part;)
    bands *= mapping_->extent(mapping_->order[k]);
  return bands;
}

std::int64_t LayerNest::accumulatorBand(const Iteration& at) const {
  std::int64_t band = 0, stride = 1;
  for (std::size_t k = 4; k-- > 0 && mapping_->order[k] != NestLoop::Part;) {
    band += index(mapping_->order[k], at) * stride;
    stride *= mapping_->extent(mapping_->order[k]);
  }
  return band;
}

std::int64_t LayerNest::recordKey(const Iteration& at) const {
  return at.pass * std::ssize(mapping_->parts) + at.part;
}

std::int64_t LayerNest::inputKey(const Iteration& at) const {
  return at.chunk * mapping_->bands + at.band;
}

bool callsOneRow(const CanonicalOp& op) {
  return fusedWindowOf(op) || op.kind() == OpKind::Assemble;
}

bool hasInnerCalls(const CanonicalOp& op, const Mapping& mapping) {
  return op.kind() != OpKind::Assemble && (!fusedWindowOf(op) || mapping.parts.size() > 1);
}

std::int64_t mostCallsAhead(const std::vector<Interval>& rows, std::int64_t length) {
  std::int64_t most = 0;
  for (std::size_t first = 0; first < rows.size(); ++first) {
    if (rows[first].empty()) continue;
    std::int64_t waiting = 0, end = rows[first].first;
    for (std::size_t k = first; k < rows.size(); ++k) {
      if (rows[k].empty() || rows[k].end() <= end) continue;
      if (rows[k].end() - rows[first].first > length) break;
      end = rows[k].end();
      ++waiting;
    }
    most = std::max(most, waiting);
  }
  return most;
}

}  // namespace heddle
