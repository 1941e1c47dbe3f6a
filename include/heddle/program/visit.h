// Walks over instructions: their numbers in one fixed order, the ends of transfers, queues.
#pragma once
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "heddle/program/program.h"
#include "heddle/tiling/record_contents.h"

namespace heddle {

namespace detail {
// Calls f(value) for every number of an instruction.
template <class F>
struct NumberVisitor {
  F& f;
  template <class V>
  void number(V& value) {
    f(value);
  }
  template <class V>
  void number(std::optional<V>& value) {
    if (value) f(*value);
  }
  template <class V>
  void number(const std::optional<V>& value) {
    if (value) f(*value);
  }
  template <class S>
  void shape(const S&) {}
  template <class T>
  void inner(T& value) {
    if constexpr (requires { value.has_value(); }) {
      if (value) inner(*value);
    } else if constexpr (requires { value.begin(); }) {
      for (auto& one : value) inner(one);
    } else {
      value.fields(*this, value);
    }
  }
};
}  // namespace detail

// Calls f(value) for every V of the instruction, in an order that depends on its shape only.
template <class I, class F>
void forEachValue(I& instruction, F&& f) {
  detail::NumberVisitor<std::remove_reference_t<F>> visitor{f};
  std::visit([&](auto& i) { visitor.inner(i); }, instruction.as);
}

// An end of a transfer, and where it lies.
template <class V>
struct PlacedEnd {
  std::int32_t point;  // 0: the source; 1, 2, ...: destinations
  EndPlace place;
  const End<V>& end;
  const V* memtile;  // of a NamedMemtile
};

// Calls f(PlacedEnd) for the ends that the instruction itself moves bytes from and to.
template <class V, class F>
void forEachEnd(const Transfer<V>& transfer, F&& f) {
  const TransferForm& form = transfer.form();
  const auto visit = [&](std::int32_t point, EndPlace place, const End<V>& end, const V& memtile) {
    f(PlacedEnd<V>{point, place, end, place == EndPlace::NamedMemtile ? &memtile : nullptr});
  };
  if (form.source) visit(0, *form.source, transfer.source, transfer.memtile);
  if (!form.destination) return;
  visit(1, *form.destination, transfer.destination, transfer.memtile);
  for (std::int32_t point = 2; const MemtileEnd<V>& d : transfer.further)
    visit(point++, *form.destination, d.end, d.memtile);
}

// The end with that point.
template <class V>
End<V>& endAt(Transfer<V>& transfer, std::int32_t point) {
  if (point == 0) return transfer.source;
  if (point == 1) return transfer.destination;
  return transfer.further[static_cast<std::size_t>(point - 2)].end;
}

// The instruction if it is a transfer of that kind, or null.
template <class V>
const Transfer<V>* transferOf(const BasicInstruction<V>& instruction, TransferKind kind) {
  const auto* transfer = std::get_if<Transfer<V>>(&instruction.as);
  return transfer && transfer->kind == kind ? transfer : nullptr;
}

inline std::int64_t evaluate(const Affine& a, std::span<const std::int64_t> counters,
                             std::int64_t row, std::int64_t column) {
  std::int64_t v = a.base + a.row * row + a.column * column;
  for (std::size_t k = 0; k < counters.size(); ++k) v += a.loop[k] * counters[k];
  return v;
}

// Byte address that an evaluated operand names.
inline std::int64_t byteAddress(const Address<std::int64_t>& a) {
  return a.base + (a.slots > 1 ? (a.slot % a.slots) * a.slotStride : 0);
}

// The instruction of `engine` for one set of loop counters (outermost first).
FlatInstruction evaluate(const Instruction& instruction, std::span<const std::int64_t> counters,
                         const Engine& engine);
// The same numbers as constants.
Instruction constant(const FlatInstruction& instruction);

// Inputs of a call of this kernel that finishes, or does not.
std::size_t inputsOf(const Kernel& kernel, bool finish);
// Whether an input is one pixel that meets all others, what a CONV multiplies by, or what it adds.
bool isOnePixel(const Kernel& kernel, std::size_t input);
bool isMultipliedBy(const Kernel& kernel, std::size_t input);
bool isAdded(const Kernel& kernel, std::size_t input);
// Of the weight record that such a call reads; `kept`: of a CONV.
RecordContents recordOf(const Kernel& kernel, bool finish, std::int64_t kept);
// Whether it may read less than all of its record that is no padding.
bool readsPartOfRecord(const Kernel& kernel);

// Of the rows that a call computes number `row` alone.
Call<std::int64_t> callOfRow(const Call<std::int64_t>& call, const Kernel& kernel,
                             std::int64_t row);

// f(const Engine&) for each of the set.
template <class F>
void forEachEngine(const EngineSet& engines, F&& f) {
  for (const CoreRange& r : engines.ranges)
    for (std::int64_t row = r.row; row < r.row + r.rows; ++row)
      for (std::int64_t column = r.column; column < r.column + r.columns; ++column)
        f(Engine{engines.kind, static_cast<std::int32_t>(row), static_cast<std::int32_t>(column),
                 engines.channel});
}

// All engines that the sections name, sorted.
std::vector<Engine> enginesOf(const Program& program);

// Walks one engine's queue, instruction by instruction, in order.
//
//   for (QueueCursor c(program, engine); !c.done(); c.next()) use(c.instruction(), c.leaf(),
//   c.counters());
class QueueCursor {
 public:
  QueueCursor(const Program& program, const Engine& engine);
  bool done() const { return done_; }
  void next();
  const Instruction& instruction() const { return *leaf_; }
  FlatInstruction evaluated() const;
  std::span<const std::int64_t> counters() const { return {counters_.data(), depth_}; }
  LayerId layer() const;
  std::size_t section() const { return sections_[section_]; }
  std::int32_t leafIndex() const {
    return leafIndex_;
  }  // number of the instruction in the Program, Program order: an asm line
  std::int64_t entry() const {
    return entry_;
  }                          // number of the top-level item in the queue, from 0
  bool lastOfEntry() const;  // no instruction of this entry follows

 private:
  struct Level {
    const std::vector<Item>* items;
    std::size_t index;
    std::int64_t iteration, count;
  };
  void enterSection();
  void descend();
  const Program* program_;
  Engine engine_;
  std::vector<std::size_t> sections_;    // indices of this engine's sections
  std::vector<std::int32_t> firstLeaf_;  // leaf number of each of them
  std::size_t section_ = 0;
  std::vector<Level> stack_;
  std::array<std::int64_t, kMaxLoopDepth> counters_{};
  std::size_t depth_ = 0;
  const Instruction* leaf_ = nullptr;
  std::int32_t leafIndex_ = 0;
  std::int64_t entry_ = -1;
  bool done_ = false;
};

// Number of leaf instructions under `items`.
std::int32_t leafCount(const std::vector<Item>& items);

}  // namespace heddle
