// Programs by hand for the Machine's tests, on paperLike devices: short words for what a Program
// spells out.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../devices.h"
#include "../graphs.h"
#include "heddle/machine/machine.h"
#include "transfers.h"

namespace heddle::testing {

// base + the named coefficients.
struct Terms {
  std::int64_t base = 0, row = 0, column = 0, i0 = 0, i1 = 0;
};
inline Affine affine(const Terms& t) {
  Affine a(t.base);
  a.row = t.row;
  a.column = t.column;
  a.loop[0] = t.i0;
  a.loop[1] = t.i1;
  return a;
}

template <class I>
Item item(I instruction) {
  return {Instruction{std::move(instruction)}};
}
inline Item loop(std::int64_t count, std::vector<Item> body) {
  return {Loop{count, std::move(body)}};
}

inline EngineSet on(EngineKind kind, CoreRange range = {0, 0, 1, 1}, std::int32_t channel = 0) {
  return {kind, channel, {range}};
}
inline Engine engine(EngineKind kind, std::int32_t row = 0, std::int32_t column = 0,
                     std::int32_t channel = 0) {
  return {kind, row, column, channel};
}
inline Tile memtile(std::int32_t column) { return {TileKind::Memtile, 0, column}; }
inline Tile core(std::int32_t row, std::int32_t column) { return {TileKind::Core, row, column}; }

using Uses = std::vector<LockUse<Affine>>;
inline End<Affine> end(Affine base, Pattern pattern, Uses acquire = {}, Uses release = {}) {
  return {{base, {}, 0, 1}, std::move(pattern), std::move(acquire), std::move(release)};
}
// base + (slot mod slots) * stride.
inline Address<Affine> slotted(Affine base, Affine slot, std::int64_t stride, std::int64_t slots) {
  return {base, slot, stride, slots};
}

inline Part<Affine> recordPart(Affine number) {
  return {.content = Content::Weights, .tensor = {}, .y = number, .block = {}, .x = {}};
}
// An end that a weight record goes through.
inline End<Affine> recordEnd(Affine base, Uses acquire = {}, Uses release = {}) {
  return end(base, {}, std::move(acquire), std::move(release));
}
inline Part<Affine> box(TensorId tensor, Affine y, Affine block, Affine x, std::int64_t rows,
                        std::int64_t blocks, std::int64_t columns) {
  return {Content::Activation, tensor, y, block, x, rows, blocks, columns};
}

// Instruction number `number` of the program, in Program order.
inline Instruction& instructionAt(Program& program, int number) {
  Instruction* found = nullptr;
  const auto visit = [&](const auto& self, std::vector<Item>& items) -> void {
    for (Item& i : items) {
      if (Loop* l = std::get_if<Loop>(&i.as))
        self(self, l->body);
      else if (number-- == 0)
        found = &std::get<Instruction>(i.as);
    }
  };
  for (Section& s : program.sections) visit(visit, s.items);
  HEDDLE_CHECK(found != nullptr) << "no such instruction";
  return *found;
}

class ProgramBuilder {
 public:
  ProgramBuilder() { program.layers.push_back({"layer", "Conv", {}, ""}); }

  TensorId tensor(const std::string& name, Shape shape, std::optional<std::int64_t> ddr) {
    ProgramTensor t;
    t.name = name;
    t.shape = shape;
    t.ddr = ddr;
    t.root = TensorId(program.tensors.size());
    program.tensors.push_back(t);
    program.layers[0].output = t.root;  // the newest
    if (ddr)
      program.ddrBytes = std::max(program.ddrBytes,
                                  *ddr + shape.height * shape.width * roundUpTo(shape.channels, 8));
    return t.root;
  }
  void input(TensorId t) { program.inputs.push_back(port(t)); }
  void output(TensorId t) { program.outputs.push_back(port(t)); }
  void weights(std::int64_t address, const WeightImage& image) {
    program.weightsAddress = address;
    program.weightsBytes = static_cast<std::int64_t>(image.bytes.size());
    program.ddrBytes = std::max(program.ddrBytes, address + program.weightsBytes);
  }
  void lock(Tile tile, std::int32_t index, std::int64_t initial, Engine producer, Engine consumer) {
    program.locks.push_back({tile, index, initial, producer, consumer});
  }
  void section(EngineSet engines, std::vector<Item> items) {
    program.sections.push_back({StepId(0), std::move(engines), std::move(items)});
  }
  KernelId kernel(Kernel k) {
    program.kernels.push_back(std::move(k));
    return KernelId(program.kernels.size() - 1);
  }

  Program program;

 private:
  Port port(TensorId t) const {
    const ProgramTensor& tensor = program.tensors[t.at()];
    return portOf(tensor.name, t, tensor.shape);
  }
};

}  // namespace heddle::testing
