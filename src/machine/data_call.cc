// A kernel call with data: what it reads must be what it means to read; then the kernel runs on the
// bytes there.
#include <algorithm>

#include "data_path.h"
#include "fault.h"
#include "heddle/program/visit.h"

namespace heddle::machine {
namespace {

std::int64_t wrapped(std::int64_t value, std::int64_t modulus) {
  return ((value % modulus) + modulus) % modulus;
}

// Lowest and highest index that a map's inputs have.
std::pair<std::int64_t, std::int64_t> inputsOf(const AxisMap& map) {
  std::int64_t low = INT64_MAX, high = INT64_MIN;
  for (const AxisRun& run : map) {
    const std::int64_t last = run.from + (run.count - 1) * run.fromStep;
    low = std::min({low, run.from, last});
    high = std::max({high, run.from, last});
  }
  return {low, high};
}

}  // namespace

void DataPath::call(const Call<std::int64_t>& call, std::size_t memory, std::uint32_t operation) {
  const Kernel& kernel = x_.program->kernels[call.kernel.at()];
  if (call.part.rows == 1) return callRow(call, kernel, memory, operation);
  for (std::int64_t row = 0; row < call.part.rows; ++row)
    callRow(callOfRow(call, kernel, row), kernel, memory, operation);
}

void DataPath::callRow(const Call<std::int64_t>& call, const Kernel& kernel, std::size_t memory,
                       std::uint32_t operation) {
  windows_.resize(call.inputs.size());
  assembled_.assign(call.inputs.size(), {});
  const std::int64_t image = imageOf(call.part);
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].absent) continue;
    if (kernel.op == OpKind::Assemble)
      assembled_[i] = readMoved(call.inputs[i], kernel.moves[i], memory, operation);
    else
      readWindow(call.inputs[i], kernel, i, image, memory, operation, windows_[i]);
  }
  const std::int8_t* record = readRecord(call, kernel, memory, operation);
  const Reduction reduction = useAccumulator(call, memory, operation);
  std::int8_t* output = nullptr;
  if (call.finish) {
    setPart(call.part);
    const std::int64_t bytes = kernel.outputBlocks * kernel.outputColumns * kBlock;
    std::int64_t cell = cellAt(byteAddress(*call.output), bytes, memory);
    output = memories_[memory].bytes.get() + cell * kBlock;
    for (const IdentityRun& run : identities_) {
      memories_.write(memory, {cell, run.count}, run.first, operation);
      cell += run.count;
    }
  }
  compute(call, kernel, reduction, record, image, output);
}

void DataPath::misread(std::uint32_t operation, const std::string& what) const {
  fail("MACH009", memories_.where(operation), "the kernel reads outside what its ring holds", what,
       "compile the program again");
}

// Checks columns [first, last] of one row of the tensor, `blocks` blocks from the ring's first; its
// place in memory.
const std::int8_t* DataPath::readRow(const RowRing<std::int64_t>& ring, std::int64_t row,
                                     std::int64_t firstBlock, std::int64_t blocks,
                                     std::int64_t first, std::int64_t last, std::size_t memory,
                                     std::uint32_t operation) {
  const ProgramTensor& tensor = x_.program->tensors[ring.tensor.at()];
  if (first < ring.origin || last - ring.origin >= ring.columns || row >= tensor.shape.height ||
      last >= tensor.shape.width || first < 0 ||
      ring.block > blocksOf(tensor.shape) - firstBlock - blocks)
    misread(operation, "row " + std::to_string(row) + ", columns " + std::to_string(first) +
                           " to " + std::to_string(last) + ", blocks from " +
                           std::to_string(ring.block + firstBlock) + ", " + std::to_string(blocks) +
                           " of them, of tensor '" + tensor.name + "'; the ring holds " +
                           std::to_string(ring.columns) + " columns from " +
                           std::to_string(ring.origin));
  const std::int64_t place =
      wrapped(wrapped(row, ring.length) + wrapped(ring.ringOffset, ring.length), ring.length);
  const std::int64_t address = ring.base + place * ring.rowBytes;
  const std::int64_t begin = cellAt(address, ring.columns * ring.blocks * kBlock, memory);
  for (std::int64_t b = firstBlock; b < firstBlock + blocks; ++b) {
    std::int64_t cell = begin + b * ring.columns + (first - ring.origin);
    forEachRun({ring.tensor, row, ring.block + b, first, last - first + 1},
               [&](Identity identity, std::int64_t count) {
                 memories_.read(memory, {cell, count}, identity, operation);
                 cell += count;
               });
  }
  return memories_[memory].bytes.get() + address;
}

std::int64_t DataPath::imageOf(const Part<std::int64_t>& part) const {
  const Program& p = *x_.program;
  return part.y / (p.tensors[part.tensor.at()].shape.height / p.batch);
}

void DataPath::readWindow(const RowRing<std::int64_t>& ring, const Kernel& kernel,
                          std::size_t input, std::int64_t image, std::size_t memory,
                          std::uint32_t operation, WindowRows& window) {
  const ProgramTensor& tensor = x_.program->tensors[ring.tensor.at()];
  const bool isGate = isMultipliedBy(kernel, input), isAddend = isAdded(kernel, input);
  const Window w = isGate || isAddend ? Window{} : kernel.window;
  const std::int64_t columns = isOnePixel(kernel, input) ? 1 : kernel.outputColumns;
  const std::int64_t span = (columns - 1) * w.strideX + (w.kernelX - 1) * w.dilationX + 1;
  const std::int64_t blocks =
      kernel.op == OpKind::Conv && !isAddend ? kernel.inputBlocks : kernel.outputBlocks;
  const std::int64_t height = tensor.shape.height / x_.program->batch;
  const std::int64_t first = std::max<std::int64_t>(0, ring.column);
  const std::int64_t last = std::min(tensor.shape.width, ring.column + span) - 1;
  window.ringColumns = ring.columns;
  window.origin = ring.origin;
  window.column = ring.column;
  window.tensorWidth = tensor.shape.width;
  window.rows.assign(static_cast<std::size_t>(w.kernelY), nullptr);
  for (std::int64_t ky = 0; ky < w.kernelY; ++ky) {
    const std::int64_t row = ring.row + ky * w.dilationY;
    if (row < image * height || row >= (image + 1) * height || first > last) continue;
    window.rows[static_cast<std::size_t>(ky)] =
        readRow(ring, row, 0, blocks, first, last, memory, operation);
  }
  const bool isStart = kernel.multipliesInput || kernel.tableLines;
  const bool borderless = isStart || isAddend || !formOf(kernel.op).hasWindow;
  if (borderless &&
      (window.rows.front() == nullptr || ring.column < 0 ||
       ring.column + span > tensor.shape.width || w.kernelY * w.kernelX != 1 || w.strideX != 1))
    misread(operation, "the kernel has no border, and row " + std::to_string(ring.row) +
                           ", column " + std::to_string(ring.column) + " is outside the tensor");
}

AssembleInput DataPath::readMoved(const RowRing<std::int64_t>& ring, const Kernel::Move& move,
                                  std::size_t memory, std::uint32_t operation) {
  const auto [firstColumn, lastColumn] = inputsOf(move.columns);
  const auto [firstChannel, lastChannel] = inputsOf(move.channels);
  if (firstColumn > lastColumn || firstChannel > lastChannel) return {};
  if (ring.row < 0) misread(operation, "row " + std::to_string(ring.row));
  const std::int64_t firstBlock = firstChannel / kBlock,
                     blocks = lastChannel / kBlock - firstBlock + 1;
  return {readRow(ring, ring.row, firstBlock, blocks, ring.origin + firstColumn,
                  ring.origin + lastColumn, memory, operation),
          ring.columns};
}

const std::int8_t* DataPath::readRecord(const Call<std::int64_t>& call, const Kernel& kernel,
                                        std::size_t memory, std::uint32_t operation) {
  if (!call.weights) return nullptr;
  const WeightRecord& entry = recordAt(call.record);
  const bool conv = kernel.op == OpKind::Conv;
  const std::int64_t bytes =
      kernel.recordAt + recordBytes(recordOf(kernel, call.finish, entry.kept));
  const std::int64_t cell = cellAt(byteAddress(*call.weights), bytes, memory);
  memories_.read(memory, {cell, bytes / kBlock},
                 identityOf(Held::Weights, 0, entry.offset / kBlock), operation);
  const std::int8_t* record = memories_[memory].bytes.get() + cell * kBlock + kernel.recordAt;
  if (!conv) return record;
  if (const std::int64_t kept = keptBlocksOf(kernel, record); kept != entry.kept)
    fail("MACH015", memories_.where(operation),
         "the weight record keeps other blocks than its table says",
         (kept < 0 ? "blocks in the record that the kernel does not have, "
                   : std::to_string(kept) + " in the record, ") +
             std::to_string(entry.kept) + " in the table, at record " + std::to_string(call.record),
         "compile the program again");
  return record;
}

Reduction DataPath::useAccumulator(const Call<std::int64_t>& call, std::size_t memory,
                                   std::uint32_t operation) {
  Reduction reduction{call.init, call.finish, nullptr};
  if (!call.accumulator) return reduction;
  setPart(call.part);
  std::int64_t cells = 0;
  for (const IdentityRun& run : identities_) cells += run.count;
  std::int64_t cell = cellAt(*call.accumulator, cells * 32, memory);
  reduction.accumulator =
      reinterpret_cast<std::int32_t*>(memories_[memory].bytes.get() + cell * kBlock);
  for (const IdentityRun& run : identities_) {
    const Identity first =
        identityOf(Held::Accumulator, call.part.tensor.index, indexOf(run.first) * 4, frame_);
    if (call.init)
      memories_.checkNoSum(memory, {cell, run.count * 4}, operation);
    else
      memories_.read(memory, {cell, run.count * 4}, first, operation, call.finish);
    if (!call.finish) memories_.write(memory, {cell, run.count * 4}, first, operation);
    cell += run.count * 4;
  }
  return reduction;
}

void DataPath::compute(const Call<std::int64_t>& call, const Kernel& kernel,
                       const Reduction& reduction, const std::int8_t* record, std::int64_t image,
                       std::int8_t* output) {
  switch (kernel.op) {
    case OpKind::Conv:
      runConv(kernel, windows_[0], kernel.multipliesInput ? &windows_[1] : nullptr, record,
              reduction, output, scratch_);
      if (kernel.addsInput && reduction.finish) addInput(kernel, windows_.back(), output);
      break;
    case OpKind::DepthwiseConv:
      runDepthwiseConv(kernel, windows_[0], record, reduction, output, scratch_);
      break;
    case OpKind::MaxPool:
      runMaxPool(kernel, windows_[0], reduction, output, scratch_);
      break;
    case OpKind::AveragePool: {
      const RowRing<std::int64_t>& ring = call.inputs[0];
      const std::int64_t height =
          x_.program->tensors[ring.tensor.at()].shape.height / x_.program->batch;
      runAveragePool(kernel, windows_[0], ring.row - image * height, height, reduction, output,
                     scratch_);
      break;
    }
    case OpKind::Add:
      runAdd(kernel, windows_[0], windows_[1], output);
      break;
    case OpKind::Mul:
      runMul(kernel, windows_[0], windows_[1], output);
      break;
    case OpKind::Table:
      runTable(kernel, windows_[0], record, output);
      break;
    case OpKind::Assemble:
      runAssemble(kernel, assembled_, record, output);
      break;
  }
}

}  // namespace heddle::machine
