// The bytes of a run: memories with their shadow, what every transfer and call does to them, and
// what must hold.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executable.h"
#include "happens_before.h"
#include "heddle/machine/machine.h"
#include "kernels.h"
#include "shadow_memory.h"

namespace heddle::machine {

// One instruction of one engine, about to start.
struct Execution {
  EngineIndex engine = -1;
  std::int32_t leaf = -1;
  std::int64_t frame = 0;
  const std::int64_t* counters = nullptr;
  std::int32_t depth = 0;
};

// When it starts: `end` is kUnknownEnd where it is not known yet. Of HappensBefore: its actor, its
// number among the actor's own, and what has ended before it for certain.
struct Moment {
  std::int64_t now = 0, end = 0;
  std::int32_t actor = 0, number = 0;
  const Knowledge* known = nullptr;
};

class DataPath {
 public:
  // Throws Fault where the image or the inputs do not fit. `watched`: a cell whose history is kept.
  DataPath(const Executable& executable, const WeightImage& weights, const ProgramInputs& inputs,
           std::optional<CellPlace> watched);

  // Moves and computes. Returns the operation, for `ended`.
  std::uint32_t start(const Execution& execution, const Moment& moment);
  std::uint32_t startSend(const Execution& send, std::span<const Execution> receives,
                          const Moment& moment);
  void ended(std::uint32_t operation, std::int64_t now) { memories_.log.setEnd(operation, now); }

  // After the last event: coverage, and the outputs as they lie in DDR. `known`: what the sequencer
  // knows to have ended when it ends itself, and with it the host.
  void complete(SimulateResult& result, const Knowledge& known);

  // With the history of the cell where it happened: whether the right bytes were there before, and
  // who wrote over them.
  Diagnostic explained(const Fault& fault) const;

 private:
  struct LeafValues {  // an instruction's numbers, evaluated in place
    std::vector<Affine> affine;
    std::optional<FlatInstruction> flat;
  };
  struct RootCapture {  // a root tensor, as far as cores have written it
    std::vector<std::int8_t> bytes;
    std::vector<bool> covered;  // by cell
    std::int64_t missing = 0;
  };

  template <class I>
  const I& evaluated(const Execution& e);
  const Engine& engineOf(const Execution& e) const { return x_.engine(e.engine); }
  std::size_t core(const Engine& e) const { return memories_.core(e.row, e.column); }

  void placeImage(const WeightImage& weights);
  void placeConstants();
  void placeInputs(const ProgramInputs& inputs);
  void placeInput(TensorId id, std::int64_t frame, const std::vector<std::int8_t>& values);

  // Cells of an end and identities of a part, as runs in order.
  void appendCells(const End<std::int64_t>& end, std::size_t memory, std::vector<CellRun>& runs);
  std::int64_t cellAt(std::int64_t address, std::int64_t bytes, std::size_t memory) const;
  // What these 8 bytes are in the frame of the instruction; constants are the same in all.
  Identity activation(TensorId tensor, std::int64_t cell) const {
    const bool constant = x_.program->tensors[tensor.at()].constant;
    return identityOf(Held::Activation, tensor.index, cell, constant ? 0 : frame_);
  }
  // Cells of one row and block of a tensor, which may be some pixels of its root.
  struct Cells {
    TensorId tensor;
    std::int64_t y = 0, block = 0, x = 0, count = 0;
  };
  // Calls f(first, count) for the runs in which they lie in the root.
  template <class F>
  void forEachRun(const Cells& cells, F&& f) const {
    const ProgramTensor& t = x_.program->tensors[cells.tensor.at()];
    if (!t.sampling) {
      f(activation(cells.tensor, cellOf(t, cells.y, cells.block) + cells.x), cells.count);
      return;
    }
    const ProgramTensor& root = x_.program->tensors[t.root.at()];
    const PixelMap& pixels = x_.pixels[cells.tensor.at()];
    const std::int64_t row = cellOf(root, pixels.row(cells.y), t.rootBlock + cells.block);
    const bool together = pixels.columnStep() == 1;
    for (std::int64_t x = cells.x; x < cells.x + cells.count;) {
      const std::int64_t count = together ? cells.count : 1;
      f(activation(t.root, row + pixels.column(x)), count);
      x += count;
    }
  }
  static std::int64_t cellOf(const ProgramTensor& t, std::int64_t y, std::int64_t block) {
    return (y * blocksOf(t.shape) + block) * t.shape.width;
  }
  // An end in DDR as it is for this part: of activations where they lie in this frame.
  const End<std::int64_t>& inDdr(const End<std::int64_t>& end, const Part<std::int64_t>& part);
  void setPart(const Part<std::int64_t>& part);
  const WeightRecord& recordAt(std::int64_t number) const {
    return x_.program->records[static_cast<std::size_t>(number)];
  }
  // An end of a transfer as it is for this part: of a weight record as long as that is.
  const End<std::int64_t>& sized(const End<std::int64_t>& end, const Part<std::int64_t>& part);
  void read(std::size_t memory, const End<std::int64_t>& end, std::uint32_t operation);
  void write(std::size_t from, std::size_t memory, const End<std::int64_t>& end,
             std::uint32_t operation);
  void capture(const Part<std::int64_t>& part, std::size_t memory, std::uint32_t operation);
  void checkOutput(const Port& port, std::int64_t frame) const;
  std::vector<std::int8_t> outputOf(const Port& port, std::int64_t frame) const;
  bool captureCell(RootCapture& root, std::int64_t cell, const std::int8_t* bytes);

  void move(const Transfer<std::int64_t>& transfer, const Engine& engine, std::uint32_t operation);
  void call(const Call<std::int64_t>& call, std::size_t memory, std::uint32_t operation);
  void callRow(const Call<std::int64_t>& call, const Kernel& kernel, std::size_t memory,
               std::uint32_t operation);
  [[noreturn]] void misread(std::uint32_t operation, const std::string& what) const;
  // Which image of a batch the part is of.
  std::int64_t imageOf(const Part<std::int64_t>& part) const;
  void readWindow(const RowRing<std::int64_t>& ring, const Kernel& kernel, std::size_t input,
                  std::int64_t image, std::size_t memory, std::uint32_t operation,
                  WindowRows& rows);
  const std::int8_t* readRow(const RowRing<std::int64_t>& ring, std::int64_t row,
                             std::int64_t firstBlock, std::int64_t blocks, std::int64_t first,
                             std::int64_t last, std::size_t memory, std::uint32_t operation);
  AssembleInput readMoved(const RowRing<std::int64_t>& ring, const Kernel::Move& move,
                          std::size_t memory, std::uint32_t operation);
  const std::int8_t* readRecord(const Call<std::int64_t>& call, const Kernel& kernel,
                                std::size_t memory, std::uint32_t operation);
  Reduction useAccumulator(const Call<std::int64_t>& call, std::size_t memory,
                           std::uint32_t operation);
  void compute(const Call<std::int64_t>& call, const Kernel& kernel, const Reduction& reduction,
               const std::int8_t* record, std::int64_t image, std::int8_t* output);

  const Executable& x_;
  Memories memories_;
  std::vector<LeafValues> values_;
  std::vector<CellRun> source_, destination_;
  End<std::int64_t> recordEnd_, frameEnd_;
  std::int64_t frame_ = 0;  // of the instruction that is executed
  std::vector<IdentityRun> identities_;
  std::vector<std::int64_t> counters_;  // of a pattern's dimensions
  KernelScratch scratch_;
  std::vector<WindowRows> windows_;
  std::vector<AssembleInput> assembled_;
  std::vector<RootCapture> roots_;  // by frame and tensor
  std::int64_t capturedBytes_ = 0;
};

}  // namespace heddle::machine
