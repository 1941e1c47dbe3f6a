#include "heddle/driver/proof.h"

#include <algorithm>
#include <optional>
#include <string>

#include "heddle/driver/port_values.h"
#include "heddle/program/visit.h"
#include "heddle/support/check.h"
#include "heddle/tiling/pixel_map.h"

namespace heddle {
namespace {

constexpr std::size_t kMostFaults = 10;

struct Index {  // of an element
  std::int64_t y = 0, x = 0, c = 0;
};

std::string text(const Index& i) {
  return "y " + std::to_string(i.y) + ", x " + std::to_string(i.x) + ", channel " +
         std::to_string(i.c);
}

// Byte offset of byte `k` of what a pattern moves.
std::int64_t offsetIn(const Pattern& pattern, std::int64_t k) {
  std::int64_t offset = k % pattern.run;
  std::int64_t piece = k / pattern.run;
  for (std::size_t d = pattern.dimensions.size(); d-- > 0;) {
    offset += piece % pattern.dimensions[d].count * pattern.dimensions[d].stride;
    piece /= pattern.dimensions[d].count;
  }
  return offset;
}

// The byte of the part that is element `i` of its tensor (i.c counted in the root), or none.
std::optional<std::int64_t> byteOf(const Part<std::int64_t>& part, TensorId root, const Index& i) {
  const std::int64_t y = i.y - part.y, block = i.c / kBlock - part.block, x = i.x - part.x;
  const bool inside = part.content == Content::Activation && part.tensor == root && y >= 0 &&
                      y < part.rows && block >= 0 && block < part.blocks && x >= 0 &&
                      x < part.columns;
  if (!inside) return std::nullopt;
  return ((y * part.blocks + block) * part.columns + x) * kBlock + i.c % kBlock;
}

// Which core computed the element and where it put it, by the instruction that writes it out of the
// core.
std::string placeOf(const Program& program, TensorId root, const Index& i) {
  for (const Engine& engine : enginesOf(program)) {
    if (engine.kind != EngineKind::CoreOut) continue;
    for (QueueCursor cursor(program, engine); !cursor.done(); cursor.next()) {
      const FlatInstruction instruction = cursor.evaluated();
      const auto* write = transferOf(instruction, TransferKind::WriteFm);
      if (!write) continue;
      const std::optional<std::int64_t> byte = byteOf(write->part, root, i);
      if (!byte) continue;
      const std::int64_t inCore =
          byteAddress(write->source.address) + offsetIn(write->source.pattern, *byte);
      std::string place = "core (" + std::to_string(engine.row) + "," +
                          std::to_string(engine.column) + ") address " + std::to_string(inCore);
      forEachEnd(*write, [&](const PlacedEnd<std::int64_t>& at) {
        if (at.memtile)
          place += ", memtile " + std::to_string(*at.memtile) + " address " +
                   std::to_string(byteAddress(at.end.address) + offsetIn(at.end.pattern, *byte));
      });
      return place;
    }
  }
  return "no core writes it";
}

class Comparison {
 public:
  Comparison(const Program& program, const SimulateResult& executed, std::int64_t frame)
      : program_(program), executed_(executed), frame_(static_cast<std::size_t>(frame)) {}

  void compareTensor(const CanonicalOp& op, const std::vector<std::int8_t>& expected) {
    const ProgramTensor& tensor = program_.tensors[op.output.at()];
    const std::vector<std::int8_t>& root =
        executed_.tensors[frame_ * program_.tensors.size() + tensor.root.at()];
    if (root.empty()) {
      if (!isGiven(tensor.root)) proof_.verification.notMaterialized.push_back(tensor.name);
      return;
    }
    compare(op.output, "layer '" + op.name + "' (" + op.onnxOp + ")", root, expected);
  }

  void compareOutput(std::size_t number, const std::vector<std::int8_t>& expected) {
    const Port& port = program_.outputs[number];
    compare(port.tensor, "output '" + port.name + "' in DDR",
            executed_.outputs[frame_ * program_.outputs.size() + number], expected);
  }

  Proof take() {
    proof_.verification.ran = true;
    proof_.verification.matches = proof_.verification.mismatches == 0;
    return std::move(proof_);
  }

 private:
  // Of an input or a constant nothing was computed.
  bool isGiven(TensorId root) const {
    return program_.tensors[root.at()].constant ||
           std::ranges::find(program_.inputs, root, &Port::tensor) != program_.inputs.end();
  }

  void compare(TensorId id, const std::string& what, const std::vector<std::int8_t>& blocked,
               const std::vector<std::int8_t>& expected) {
    const ProgramTensor& tensor = program_.tensors[id.at()];
    const Shape &shape = tensor.shape, &root = program_.tensors[tensor.root.at()].shape;
    const std::int64_t blocks = blocksOf(root);
    const PixelMap pixels(tensor.sampling, shape, root, program_.batch);
    HEDDLE_CHECK(std::ssize(expected) == shape.elements() &&
                 std::ssize(blocked) == root.height * blocks * root.width * kBlock)
        << what;
    ++proof_.verification.tensorsCompared;
    proof_.verification.bytesCompared += shape.elements();
    Difference difference;
    const std::int8_t* wanted = expected.data();
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x)
        for (std::int64_t c = 0; c < shape.channels; ++c, ++wanted) {
          const std::int64_t block = pixels.row(y) * blocks + tensor.rootBlock + c / kBlock,
                             cell = block * root.width + pixels.column(x);
          const std::int8_t got = blocked[static_cast<std::size_t>(cell * kBlock + c % kBlock)];
          if (got != *wanted) difference.add({y, x, c}, got, *wanted);
        }
    proof_.verification.mismatches += difference.count;
    if (difference.count > 0 && proof_.faults.size() < kMostFaults)
      proof_.faults.push_back(fault(tensor, what, difference));
  }

  struct Difference {
    std::int64_t count = 0;
    Index first;
    std::int8_t got = 0, expected = 0;  // there
    void add(const Index& at, std::int8_t was, std::int8_t wanted) {
      if (count++ == 0) *this = {1, at, was, wanted};
    }
  };

  Diagnostic fault(const ProgramTensor& tensor, const std::string& what,
                   const Difference& difference) const {
    Index index = difference.first;
    const PixelMap pixels(tensor.sampling, tensor.shape, program_.tensors[tensor.root.at()].shape,
                          program_.batch);
    const Index inRoot{pixels.row(index.y), pixels.column(index.x),
                       index.c + tensor.rootBlock * kBlock};
    std::string where = program_.model + ", " + what;
    if (program_.frames > 1) where += ", frame " + std::to_string(frame_);
    if (program_.batch > 1) {  // rows are told as those of an image
      const std::int64_t height = tensor.shape.height / program_.batch;
      where += ", inference " + std::to_string(index.y / height) + " of it";
      index.y %= height;
    }
    return {.code = "VER001",
            .where = std::move(where),
            .summary = "the executed program and the reference interpreter disagree",
            .what = "tensor '" + tensor.name + "', first at " + text(index) + ": expected " +
                    std::to_string(difference.expected) + ", got " +
                    std::to_string(difference.got) + "; " + placeOf(program_, tensor.root, inRoot) +
                    "; " + std::to_string(difference.count) + " of " +
                    std::to_string(tensor.shape.elements()) + " bytes differ",
            .mend = "please report it, with the model and the command line",
            .severity = Severity::Bug};
  }

  const Program& program_;
  const SimulateResult& executed_;
  std::size_t frame_;
  Proof proof_;
};

}  // namespace

Proof compareWithInterpreter(const CanonicalGraph& graph, const Program& program,
                             const SimulateResult& executed,
                             std::span<const std::vector<std::int8_t>> expected,
                             std::span<const std::vector<std::int8_t>> outputs,
                             std::int64_t frame) {
  HEDDLE_CHECK(outputs.size() == program.outputs.size()) << outputs.size();
  Comparison comparison(program, executed, frame);
  for (const CanonicalOp& op : graph.ops) comparison.compareTensor(op, expected[op.output.at()]);
  for (std::size_t i = 0; i < program.outputs.size(); ++i) comparison.compareOutput(i, outputs[i]);
  return comparison.take();
}

}  // namespace heddle
