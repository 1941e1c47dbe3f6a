// The numbers of an instruction in one fixed order: evaluation, re-rolling and checks all walk them
// with forEachValue.
#pragma once
#include <span>
#include <utility>

#include "heddle/program/program.h"

namespace heddle {

namespace detail {
template <class A, class F>
void visitAddress(A& a, F& f) {
  f(a.base);
  f(a.slot);
}
template <class L, class F>
void visitLocks(L& locks, F& f) {
  for (auto& l : locks) f(l.lock);
}
template <class E, class F>
void visitEnd(E& e, F& f) {
  visitAddress(e.address, f);
  visitLocks(e.acquire, f);
  visitLocks(e.release, f);
}
template <class P, class F>
void visitPart(P& p, F& f) {
  f(p.y);
  f(p.block);
  f(p.x);
}

struct Visitor {
  template <class F>
  void operator()(const Start&, F&) const {}
  template <class I, class F>
  void visitMove(I& i, F& f) const {
    visitEnd(i.source, f);
    visitEnd(i.destination, f);
    visitPart(i.part, f);
  }
  template <class W, class F>
  requires requires(W w) { w.entry; }
  void operator()(W& i, F& f) const { f(i.entry); }
  template <class I, class F>
  requires requires(I i) {
    i.source;
    i.destination;
  }
  void operator()(I& i, F& f) const { visitMove(i, f); }
  template <class I, class F>
  requires requires(I i) { i.to; }
  void operator()(I& i, F& f) const {
    f(i.memtile);
    visitEnd(i.source, f);
    for (auto& t : i.to) {
      f(t.row);
      f(t.column);
    }
    visitPart(i.part, f);
  }
  template <class I, class F>
  requires requires(I i) { i.wire; }
  void operator()(I& i, F& f) const {
    f(i.wire);
    visitEnd(i.destination, f);
    visitPart(i.part, f);
  }
  template <class I, class F>
  requires requires(I i) { i.destinations; }
  void operator()(I& i, F& f) const {
    visitEnd(i.source, f);
    for (auto& d : i.destinations) {
      f(d.memtile);
      visitEnd(d.end, f);
    }
    visitPart(i.part, f);
  }
  template <class I, class F>
  requires requires(I i) { i.kernel; }
  void operator()(I& i, F& f) const {
    for (auto& r : i.inputs) {
      f(r.base);
      f(r.ringOffset);
      f(r.row);
      f(r.column);
      f(r.origin);
      f(r.block);
    }
    if (i.weights) visitAddress(*i.weights, f);
    f(i.record);
    if (i.accumulator) f(*i.accumulator);
    if (i.output) visitAddress(*i.output, f);
    visitPart(i.part, f);
    visitLocks(i.acquire, f);
    visitLocks(i.release, f);
  }
};
}  // namespace detail

// Calls f(value) for every V of the instruction, in an order that depends on its shape only.
template <class I, class F>
void forEachValue(I& instruction, F&& f) {
  std::visit([&](auto& i) { detail::Visitor{}(i, f); }, instruction.as);
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

// Of the rows that a call computes number `row` alone.
Call<std::int64_t> callOfRow(const Call<std::int64_t>& call, const Kernel& kernel,
                             std::int64_t row);

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
