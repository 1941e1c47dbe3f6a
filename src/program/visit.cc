#include "heddle/program/visit.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "heddle/support/check.h"

namespace heddle {
namespace {

// Rebuilds an instruction for another V; `value` turns its numbers.
template <class F>
struct Rebuilding {
  F value;
  template <class A, class B>
  void number(const A& from, B& to) const {
    to = value(from);
  }
  template <class A, class B>
  void number(const std::optional<A>& from, std::optional<B>& to) const {
    if (from) to = value(*from);
  }
  template <class S>
  void shape(const S& from, S& to) const {
    to = from;
  }
  template <class A, class B>
  void inner(const A& from, B& to) const {
    if constexpr (requires { from.has_value(); }) {
      if (from) inner(*from, to.emplace());
    } else if constexpr (requires { from.begin(); }) {
      to.resize(from.size());
      for (std::size_t k = 0; k < from.size(); ++k) inner(from[k], to[k]);
    } else {
      from.fields(*this, from, to);
    }
  }
};
template <class To>
Start rebound(const Start&);
template <class To, template <class> class T, class From>
T<To> rebound(const T<From>&);

template <class To, class From, class F>
BasicInstruction<To> rebuild(const BasicInstruction<From>& from, F&& value) {
  BasicInstruction<To> to;
  const Rebuilding<F> rebuilding{value};
  std::visit(
      [&](const auto& i) {
        rebuilding.inner(i, to.as.template emplace<decltype(rebound<To>(i))>());
      },
      from.as);
  return to;
}

}  // namespace

FlatInstruction evaluate(const Instruction& instruction, std::span<const std::int64_t> counters,
                         const Engine& engine) {
  return rebuild<std::int64_t>(instruction, [&](const Affine& a) {
    return evaluate(a, counters, engine.row, engine.column);
  });
}

Instruction constant(const FlatInstruction& instruction) {
  return rebuild<Affine>(instruction, [](std::int64_t v) { return Affine(v); });
}

std::size_t inputsOf(const Kernel& kernel, bool finish) {
  const std::int64_t inputs = formOf(kernel.op).inputs;
  if (inputs == 0) return kernel.moves.size();
  return static_cast<std::size_t>(inputs) + (kernel.multipliesInput ? 1 : 0) +
         (kernel.addsInput && finish ? 1 : 0);
}

bool isOnePixel(const Kernel& kernel, std::size_t input) {
  return isMultipliedBy(kernel, input) ||
         (kernel.broadcasts && input == (kernel.multipliesInput ? 2 : 1));
}

bool isMultipliedBy(const Kernel& kernel, std::size_t input) {
  return kernel.multipliesInput && input == 1;
}

bool isAdded(const Kernel& kernel, std::size_t input) {
  return kernel.addsInput && input == (kernel.multipliesInput ? 2 : 1);
}

RecordContents recordOf(const Kernel& kernel, bool finish, std::int64_t kept) {
  RecordContents contents{.op = kernel.op,
                          .outputBlocks = kernel.outputBlocks,
                          .inputBlocks = kernel.inputBlocks,
                          .taps = kernel.window.kernelY * kernel.window.kernelX,
                          .kept = kept,
                          .finishes = finish,
                          .negativeScale = kernel.negativeScale,
                          .weightZeros = kernel.weightZeros};
  if (kernel.looksUp) contents.tables = 1;
  if (kernel.op == OpKind::Conv && kernel.tableLines) contents.lines = kernel.inputBlocks * kBlock;
  if (kernel.op == OpKind::Table)
    (kernel.tableLines ? contents.lines : contents.tables) =
        kernel.tablePerChannel ? kernel.outputBlocks * kBlock : 1;
  if (kernel.op == OpKind::Assemble)
    for (const Kernel::Move& move : kernel.moves)
      contents.tables = std::max(contents.tables, move.table + 1);
  return contents;
}

bool readsPartOfRecord(const Kernel& kernel) {
  return kernel.op == OpKind::Assemble || kernel.sharesRecord;
}

Call<std::int64_t> callOfRow(const Call<std::int64_t>& call, const Kernel& kernel,
                             std::int64_t row) {
  Call<std::int64_t> one = call;
  const bool windowed = formOf(kernel.op).hasWindow;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    if (isOnePixel(kernel, i)) continue;
    one.inputs[i].row =
        wrappingAdd(one.inputs[i].row, row * (windowed && i == 0 ? kernel.window.strideY : 1));
  }
  if (one.accumulator)
    one.accumulator =
        wrappingAdd(*one.accumulator, row * call.part.blocks * call.part.columns * kBlock * 4);
  if (one.output) one.output->slot = wrappingAdd(one.output->slot, row);
  one.part.y = wrappingAdd(one.part.y, row);
  one.part.rows = 1;
  return one;
}

bool EngineSet::contains(const Engine& e) const {
  return e.kind == kind && e.channel == channel &&
         std::ranges::any_of(ranges,
                             [&](const CoreRange& r) { return r.contains(e.row, e.column); });
}

std::int64_t EngineSet::size() const {
  return std::accumulate(
      ranges.begin(), ranges.end(), std::int64_t{0},
      [](std::int64_t sum, const CoreRange& r) { return sum + r.rows * r.columns; });
}

std::vector<Engine> enginesOf(const Program& program) {
  std::set<Engine> engines;
  for (const Section& s : program.sections) {
    forEachEngine(s.engines, [&](const Engine& engine) { engines.insert(engine); });
  }
  return {engines.begin(), engines.end()};
}

std::int32_t leafCount(const std::vector<Item>& items) {
  std::int32_t n = 0;
  for (const Item& item : items) {
    if (const Loop* loop = std::get_if<Loop>(&item.as))
      n += leafCount(loop->body);
    else
      ++n;
  }
  return n;
}

QueueCursor::QueueCursor(const Program& program, const Engine& engine)
    : program_(&program), engine_(engine) {
  std::int32_t leaves = 0;
  for (std::size_t i = 0; i < program.sections.size(); ++i) {
    if (program.sections[i].engines.contains(engine)) {
      sections_.push_back(i);
      firstLeaf_.push_back(leaves);
    }
    leaves += leafCount(program.sections[i].items);
  }
  enterSection();
}

void QueueCursor::enterSection() {
  while (section_ < sections_.size()) {
    const Section& s = program_->sections[sections_[section_]];
    leafIndex_ = firstLeaf_[section_];
    if (!s.items.empty()) {
      stack_.push_back({&s.items, 0, 0, 1});
      ++entry_;
      descend();
      return;
    }
    ++section_;
  }
  done_ = true;
  leaf_ = nullptr;
}

// From an item that may be a loop down to its first instruction. Loops have a count of at least 1
// and a body.
void QueueCursor::descend() {
  for (;;) {
    const Item& item = (*stack_.back().items)[stack_.back().index];
    if (const Instruction* i = std::get_if<Instruction>(&item.as)) {
      leaf_ = i;
      return;
    }
    const Loop& loop = std::get<Loop>(item.as);
    HEDDLE_CHECK(loop.count >= 1 && !loop.body.empty() && depth_ < kMaxLoopDepth)
        << "malformed loop";
    counters_[depth_++] = 0;
    stack_.push_back({&loop.body, 0, 0, loop.count});
  }
}

void QueueCursor::next() {
  ++leafIndex_;
  while (!stack_.empty()) {
    Level& level = stack_.back();
    if (++level.index < level.items->size()) {
      if (stack_.size() == 1) ++entry_;
      descend();
      return;
    }
    if (stack_.size() > 1) {
      if (++level.iteration < level.count) {
        level.index = 0;
        counters_[depth_ - 1] = level.iteration;
        leafIndex_ -= leafCount(*level.items);
        descend();
        return;
      }
      --depth_;
    }
    stack_.pop_back();
  }
  ++section_;
  enterSection();
}

FlatInstruction QueueCursor::evaluated() const { return evaluate(*leaf_, counters(), engine_); }

LayerId QueueCursor::layer() const {
  return program_->layerOf(program_->sections[sections_[section_]].step);
}

bool QueueCursor::lastOfEntry() const {
  for (std::size_t k = 0; k < stack_.size(); ++k) {
    const Level& level = stack_[k];
    if (k > 0 && (level.index + 1 < level.items->size() || level.iteration + 1 < level.count))
      return false;
  }
  return true;
}

}  // namespace heddle
