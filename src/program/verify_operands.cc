// Every section and loop, then every instruction over all its iterations.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "heddle/program/names.h"
#include "heddle/program/visit.h"
#include "iteration_space.h"
#include "verify_checks.h"

namespace heddle {
namespace {

using std::to_string;

// One memory as descriptors see it.
struct Memory {
  std::string name;
  TileKind kind = TileKind::Core;
  std::int64_t size = 0;
  std::optional<std::int64_t> dimensions;  // of a descriptor
  Affine row, column;                      // of its tile
  bool buffers = true;                     // what lies there lies in a declared buffer
};

// Bytes that a pattern touches, from its address on; its total. Nothing where a number is out of
// range.
struct Footprint {
  std::int64_t low = 0, high = 0, bytes = 0;  // [low, high)
};
std::optional<Footprint> footprint(const Pattern& pattern) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (pattern.run < 1 || pattern.run > kMost) return std::nullopt;
  Footprint f{0, pattern.run, pattern.run};
  for (const Dimension& d : pattern.dimensions) {
    if (d.count < 1 || d.count > kMost || d.stride < -kMost || d.stride > kMost)
      return std::nullopt;
    const Int128 reach = Int128{d.count - 1} * d.stride;
    const Int128 bytes = Int128{f.bytes} * d.count;
    if (bytes > kMost || reach > kMost || reach < -kMost) return std::nullopt;
    f.bytes = static_cast<std::int64_t>(bytes);
    (reach < 0 ? f.low : f.high) += static_cast<std::int64_t>(reach);
    if (f.low < -kMost || f.high > kMost) return std::nullopt;
  }
  return f;
}

constexpr std::int64_t kFarthest = 4 * kMaxExtent;  // from a tensor's first row or column to a tap

// The buffers of one step, to look up what holds some bytes of a tile.
class DeclaredBuffers {
 public:
  void select(const Program& program, StepId step) {
    if (step == step_) return;
    step_ = step;
    for (OfKind& of : kinds_) of = {};
    looks_ -= std::ssize(program.buffers);
    if (looks_ < 0) return;  // none is declared, as it were
    for (const Buffer& b : program.buffers) {
      OfKind& of = kinds_[static_cast<std::size_t>(b.kind)];
      of.declared = true;
      const bool alive = (!b.first.valid() || b.first.index <= step.index) &&
                         (!b.last.valid() || step.index <= b.last.index);
      if (!alive) continue;
      of.byAddress.push_back(&b);
      of.longest = std::max(of.longest, b.size);
    }
    for (OfKind& of : kinds_)
      std::ranges::sort(of.byAddress, {}, [](const Buffer* b) { return b->address; });
  }

  // Whether the program names its buffers in such tiles at all.
  bool declares(TileKind kind) const { return kinds_[static_cast<std::size_t>(kind)].declared; }

  bool hold(TileKind kind, const Extremes& row, const Extremes& column, std::int64_t from,
            std::int64_t to) {
    const OfKind& of = kinds_[static_cast<std::size_t>(kind)];
    auto at = std::ranges::upper_bound(of.byAddress, from, {},
                                       [](const Buffer* b) { return b->address; });
    while (at != of.byAddress.begin()) {
      const Buffer& b = **--at;
      if (--looks_ < 0) return true;
      if (from - b.address >= of.longest) return false;
      const CoreRange& t = b.tiles;
      if (to <= b.address + b.size && t.contains(row.low, column.low) &&
          t.contains(row.high, column.high))
        return true;
    }
    return false;
  }

 private:
  struct OfKind {
    std::vector<const Buffer*> byAddress;
    std::int64_t longest = 0;
    bool declared = false;
  };
  StepId step_;
  std::array<OfKind, 3> kinds_;
  // Buffers are names: a program that makes it look at more than this is believed.
  std::int64_t looks_ = 4 * kMaxSteps;
};

class Sections {
 public:
  Sections(const Program& program, const Device& device, Faults& faults)
      : program_(program), device_(device), faults_(faults), given_(program.tensors.size()) {
    for (std::size_t i = 0; i < given_.size(); ++i) given_[i] = program.tensors[i].constant;
    for (const Port& input : program.inputs) given_[input.tensor.at()] = true;
  }

  void check() {
    for (const Section& s : program_.sections) {
      section_ = &s;
      if (!engines(s.engines)) return;
      if (s.items.empty())
        return fault("PROG002", "section " + to_string(&s - program_.sections.data()),
                     "a section is empty", "", "give it items");
      if (!program_.layerOf(s.step).valid())
        return fault("PROG001", rangeText(), "its step is not there",
                     "step " + to_string(s.step.index), "name a step of the schedule");
      space_ = IterationSpace(s.engines.ranges);
      buffers_.select(program_, s.step);
      items(s.items, s.engines.size());
      if (faults_.full()) return;
    }
  }

 private:
  // ---- sections and loops -----------------------------------------------------------------------

  bool engines(const EngineSet& e) {
    const EngineCounts n = engineCounts(e.kind, device_);
    const auto isThere = [&](const CoreRange& r) {
      return r.rows >= 1 && r.columns >= 1 && r.row >= 0 && r.column >= 0 && r.rows <= n.rows &&
             r.columns <= n.columns && r.row <= n.rows - r.rows &&
             r.column <= n.columns - r.columns;
    };
    const bool there = !e.ranges.empty() && std::ranges::all_of(e.ranges, isThere) &&
                       e.channel >= 0 && e.channel < n.channels;
    if (!there) {
      fault("PROG001", rangeText(), "a section is for engines that are not there",
            "the device has " + to_string(n.rows) + " x " + to_string(n.columns) + " with " +
                to_string(n.channels) + " channels of this kind",
            "name engines of the device");
      return false;
    }
    if (const std::optional<Engine> twice = e.ranges.size() > 1 ? namedTwice(e) : std::nullopt) {
      fault("PROG001", rangeText(), "a section names an engine twice", toText(*twice),
            "let its rectangles have none in common");
      return false;
    }
    return true;
  }

  static std::optional<Engine> namedTwice(const EngineSet& e) {
    std::set<Engine> named;
    std::optional<Engine> twice;
    for (std::size_t i = 0; i < e.ranges.size() && !twice; ++i)
      forEachEngine({e.kind, e.channel, {e.ranges[i]}}, [&](const Engine& engine) {
        if (!named.insert(engine).second) twice = engine;
      });
    return twice;
  }

  std::string rangeText() const {
    // A section may name any number, in each of many messages.
    constexpr std::size_t kMostNamed = 3;
    const std::vector<CoreRange>& ranges = section_->engines.ranges;
    std::string text;
    for (std::size_t i = 0; i < std::min(ranges.size(), kMostNamed); ++i) {
      const CoreRange& range = ranges[i];
      if (!text.empty()) text += " and ";
      text += toText(engineAt(range.row, range.column));
      if (range.rows == 1 && range.columns == 1) continue;
      text += " to " + toText(engineAt(wrappingAdd(wrappingAdd(range.row, range.rows), -1),
                                       wrappingAdd(wrappingAdd(range.column, range.columns), -1)));
    }
    if (ranges.size() > kMostNamed)
      text += " and " + to_string(ranges.size() - kMostNamed) + " more";
    return text;
  }
  // Of the section; it need not be there.
  Engine engineAt(std::int64_t row, std::int64_t column) const {
    return {section_->engines.kind, static_cast<std::int32_t>(row),
            static_cast<std::int32_t>(column), section_->engines.channel};
  }

  // `times`: how often the items are executed, over all engines.
  void items(const std::vector<Item>& items, std::int64_t times) {
    for (const Item& item : items) {
      if (faults_.full()) return;
      if (const Loop* loop = std::get_if<Loop>(&item.as)) {
        this->loop(*loop, times);
        continue;
      }
      instruction_ = &std::get<Instruction>(item.as);
      steps_ += times * cost(*instruction_);
      if (steps_ > kMaxSteps)
        return fault("PROG002", where(), "the program runs too long to be proved",
                     "its queues execute more than " + to_string(kMaxSteps) + " instructions",
                     "shorten its loops, or choose a smaller network", Severity::DoesNotFit);
      if (numbers()) std::visit([this](const auto& i) { instruction(i); }, instruction_->as);
      ++leaf_;
    }
  }

  // Of one execution in the untimed run: the locks and queues that it looks at.
  static std::int64_t cost(const Instruction& instruction) {
    std::int64_t n = 1;
    forEachValue(instruction, [&](const Affine&) { ++n; });
    return divideRoundUp(n, 32);
  }

  void loop(const Loop& loop, std::int64_t times) {
    const bool sound = loop.count >= 1 && !loop.body.empty() && space_.depth() < kMaxLoopDepth;
    if (!sound || loop.count > kMaxSteps / times) {
      fault("PROG002",
            "layer " + to_string(program_.layerOf(section_->step).index) + ", " + rangeText() +
                ", before instruction " + to_string(leaf_),
            "a loop cannot be executed",
            to_string(loop.count) + " iterations of " + to_string(loop.body.size()) +
                " items at depth " + to_string(space_.depth() + 1),
            "give it 1 to " + to_string(kMaxSteps) +
                " iterations, a body, and a depth of at most " + to_string(kMaxLoopDepth));
      leaf_ += leafCount(loop.body);
      return;
    }
    space_.enter(loop.count);
    items(loop.body, times * loop.count);
    space_.leave();
  }

  bool numbers() {
    bool fine = true;
    forEachValue(*instruction_, [&](const Affine& a) {
      if (!fine) return;
      if (!space_.usesKnownCounters(a)) {
        fine = false;
        faultHere("PROG002", "a number counts with a loop that is not around it",
                  to_string(space_.depth()) + " loops are around it",
                  "use i0 to i" + to_string(std::max<std::size_t>(space_.depth(), 1) - 1));
      } else if (!space_.isBounded(a)) {
        fine = false;
        faultHere("PROG004", "a number is too large", "its terms may add up to more than 2^62",
                  "write a smaller one");
      }
    });
    return fine;
  }

  // ---- faults -----------------------------------------------------------------------------------

  std::string where() const {
    return whereIs(program_, program_.layerOf(section_->step), rangeText(), leaf_, *instruction_);
  }
  void fault(std::string code, std::string place, std::string summary, std::string what,
             std::string mend, Severity severity = Severity::BadInput) {
    faults_.add(std::move(code), std::move(place), std::move(summary), std::move(what),
                std::move(mend), severity);
  }
  void faultHere(std::string code, std::string summary, std::string what, std::string mend) {
    fault(std::move(code), where(), std::move(summary), std::move(what), std::move(mend));
  }

  // ---- numbers ----------------------------------------------------------------------------------

  // Whether low <= a <= high in every iteration; a fault where not.
  bool inRange(const std::string& name, const Affine& a, std::int64_t low, std::int64_t high,
               const char* code = "PROG004") {
    const Extremes e = space_.extremes(a);
    if (e.low >= low && e.high <= high) return true;
    faultHere(code, name + " is out of range",
              "it goes from " + to_string(e.low) + " to " + to_string(e.high) + ", allowed is " +
                  to_string(low) + " to " + to_string(high),
              "keep it in this range");
    return false;
  }
  bool inRange(const std::string& name, std::int64_t n, std::int64_t low, std::int64_t high,
               const char* code = "PROG004") {
    return inRange(name, Affine(n), low, high, code);
  }

  // Bytes [low, high) from the address on lie in the memory in every iteration.
  void address(const std::string& name, const Address<Affine>& a, std::int64_t low,
               std::int64_t high, const Memory& memory) {
    if (a.slots < 1 || a.slots > kMaxExtent || a.slotStride < -kMaxDdrBytes ||
        a.slotStride > kMaxDdrBytes)
      return faultHere("PROG004", name + " has slots out of range",
                       to_string(a.slots) + " slots of " + to_string(a.slotStride) + " B",
                       "give it 1 to " + to_string(kMaxExtent) + " slots");
    if (std::gcd(space_.finest(a.base), a.slots > 1 ? a.slotStride : 0) % kBlock != 0)
      return faultHere("PROG005", name + " lies in no whole cells", "",
                       "let each number of its address be a multiple of 8");
    const Extremes slot = space_.extremes(a.slot);
    if (slot.low < 0)
      return faultHere("PROG004", name + " has a negative slot",
                       "it begins at " + to_string(slot.low), "slots count from 0 up");
    const bool oneLap = slot.low / a.slots == slot.high / a.slots;
    const std::int64_t first = (oneLap ? slot.low % a.slots : 0) * a.slotStride;
    const std::int64_t last = (oneLap ? slot.high % a.slots : a.slots - 1) * a.slotStride;
    const Extremes base = space_.extremes(a.base);
    const bool inside = base.low + std::min(first, last) + low >= 0 &&
                        base.high + std::max(first, last) + high <= memory.size;
    if (inside) return inBuffer(name, a, low, high, memory);
    // The extremes of base and slot need not meet in one iteration: look at each.
    const auto outside = space_.findWhere(budget_, [&](std::span<const std::int64_t> counters,
                                                       std::int64_t row, std::int64_t column) {
      const std::int64_t at =
          byteAddress({evaluate(a.base, counters, row, column),
                       evaluate(a.slot, counters, row, column), a.slotStride, a.slots});
      return at + low < 0 || at + high > memory.size;
    });
    if (outside)
      return faultHere("PROG005", name + " lies outside of " + memory.name,
                       "it takes " + to_string(high - low) + " B from " +
                           to_string(base.low + low) + " on " + *outside + ", there are " +
                           to_string(memory.size) + " B",
                       "place it inside");
    inBuffer(name, a, low, high, memory);
  }

  // The same bytes lie in one of the buffers that are declared for this tile and layer.
  void inBuffer(const std::string& name, const Address<Affine>& a, std::int64_t low,
                std::int64_t high, const Memory& memory) {
    if (!memory.buffers || !buffers_.declares(memory.kind) || bufferBudget_ < 0) return;
    if (heldInAll(a, low, high, memory)) return;
    // What covers all engines at once need not be one buffer: look at each, then at each iteration.
    const IterationSpace all = space_;
    std::optional<std::string> outside;
    const EngineSet& set = section_->engines;
    forEachEngine({set.kind, set.channel, all.engines()}, [&](const Engine& engine) {
      if (outside) return;
      space_ = all.of(engine.row, engine.column);
      if (heldInAll(a, low, high, memory)) return;
      outside = space_.findWhere(bufferBudget_, [&](std::span<const std::int64_t> counters,
                                                    std::int64_t row, std::int64_t column) {
        const std::int64_t at =
            byteAddress({evaluate(a.base, counters, row, column),
                         evaluate(a.slot, counters, row, column), a.slotStride, a.slots});
        const std::int64_t tileRow = evaluate(memory.row, counters, row, column),
                           tileColumn = evaluate(memory.column, counters, row, column);
        return !buffers_.hold(memory.kind, {tileRow, tileRow}, {tileColumn, tileColumn}, at + low,
                              at + high);
      });
    });
    space_ = all;
    if (outside && bufferBudget_ >= 0)
      faultHere("PROG005", name + " lies in no buffer of its tile",
                "it takes " + to_string(high - low) + " B " + *outside,
                "declare a buffer of this layer that covers it, in each tile");
  }

  // Whether one buffer holds the bytes of all iterations.
  bool heldInAll(const Address<Affine>& a, std::int64_t low, std::int64_t high,
                 const Memory& memory) {
    const Extremes base = space_.extremes(a.base), slot = space_.extremes(a.slot);
    const bool oneLap = slot.low / a.slots == slot.high / a.slots;
    const std::int64_t first = (oneLap ? slot.low % a.slots : 0) * a.slotStride;
    const std::int64_t last = (oneLap ? slot.high % a.slots : a.slots - 1) * a.slotStride;
    return buffers_.hold(memory.kind, space_.extremes(memory.row), space_.extremes(memory.column),
                         base.low + std::min(first, last) + low,
                         base.high + std::max(first, last) + high);
  }

  void shortage(const std::string& key, std::string summary, std::int64_t needed,
                std::int64_t there, const std::string& unit = {}) {
    faults_.add({.key = key,
                 .where = where(),
                 .summary = std::move(summary),
                 .needed = needed,
                 .there = there,
                 .unit = unit});
  }

  // The largest number of bytes of which all that these name are a multiple.
  static std::int64_t finestOf(const Pattern& pattern) {
    std::int64_t finest = pattern.run;
    for (const Dimension& d : pattern.dimensions) finest = std::gcd(finest, d.stride);
    return finest;
  }

  void granular(const std::string& name, const End<Affine>& end) {
    const std::int64_t g = device_.limits.granularity;
    if (g <= 1) return;
    const std::int64_t finest = std::gcd(std::gcd(finestOf(end.pattern), end.address.slotStride),
                                         space_.finest(end.address.base));
    if (finest % g != 0)
      shortage("limits.granularity", name + " is finer than the device addresses", finest, g, " B");
  }

  void locks(const std::string& name, const std::vector<LockUse<Affine>>& uses,
             const Memory& memory, bool descriptor) {
    const bool ddr = memory.kind == TileKind::Ddr;
    if (std::ssize(uses) > (ddr ? 0 : kMaxLocks))
      return faultHere(
          "PROG004", name + " uses too many locks",
          to_string(uses.size()) + " of at most " + to_string(ddr ? 0 : kMaxLocks),
          ddr ? "order DDR by START and WAIT" : "pass a token on through another queue");
    const Limits& limits = device_.limits;
    if (descriptor && limits.locksPerDescriptor && std::ssize(uses) > *limits.locksPerDescriptor)
      shortage("limits.locksPerDescriptor", name + " uses more locks than a descriptor can",
               std::ssize(uses), *limits.locksPerDescriptor);
    for (const LockUse<Affine>& u : uses) {
      if (!inRange("the count of a lock of " + name, u.count, 1, kMaxExtent)) return;
      if (limits.lockMaximum && u.count > *limits.lockMaximum)
        shortage("limits.lockMaximum", name + " uses more of a lock at once than it can hold",
                 u.count, *limits.lockMaximum);
      if (!inRange("the number of a lock of " + name, u.lock, 0, kMaxLockIndex - 1, "PROG009"))
        return;
    }
  }

  // One descriptor; its bytes, or nothing after a fault.
  std::optional<std::int64_t> end(const std::string& name, const End<Affine>& e,
                                  const Memory& memory) {
    const std::optional<Footprint> f = footprint(e.pattern);
    if (!f) {
      faultHere("PROG004", name + " has a pattern out of range",
                "counts and the run are 1 or more and all bytes below 2^40", "mend the pattern");
      return std::nullopt;
    }
    if (memory.dimensions && std::ssize(e.pattern.dimensions) > *memory.dimensions)
      shortage(keyOf(memory.kind) + ".dimensions", name + " has more dimensions than a descriptor",
               std::ssize(e.pattern.dimensions), *memory.dimensions);
    if (finestOf(e.pattern) % kBlock != 0) {
      faultHere("PROG005", name + " moves no whole cells", "",
                "let its run and strides be multiples of 8");
      return std::nullopt;
    }
    if (f->bytes > memory.size) {
      faultHere("PROG005", name + " moves more bytes than its memory has",
                to_string(f->bytes) + " B, there are " + to_string(memory.size) + " B",
                "cut the transfer");
      return std::nullopt;
    }
    address(name, e.address, f->low, f->high, memory);
    granular(name, e);
    locks(name, e.acquire, memory, true);
    locks(name, e.release, memory, true);
    return f->bytes;
  }

  // The end of a transfer that moves weight records: as long as the longest of them.
  void recordEnd(const std::string& name, const End<Affine>& e, std::int64_t bytes,
                 const Memory& memory) {
    if (e.pattern != Pattern{})
      return faultHere("PROG006", name + " has a pattern of its own",
                       "a weight record is contiguous, and as long as its table says",
                       "leave the pattern out");
    address(name, e.address, 0, bytes, memory);
    granular(name, e);
    locks(name, e.acquire, memory, true);
    locks(name, e.release, memory, true);
  }

  // Calls f(record) for all records that a number names; false after a fault.
  template <class F>
  bool forEachRecord(const Affine& number, F&& f) {
    if (!inRange("the number of the weight record", number, 0, std::ssize(program_.records) - 1))
      return false;
    const auto outOfBudget = space_.along(number).findWhere(
        budget_,
        [&](std::span<const std::int64_t> counters, std::int64_t row, std::int64_t column) {
          f(program_.records[static_cast<std::size_t>(evaluate(number, counters, row, column))]);
          return false;
        });
    if (outOfBudget)
      faultHere("PROG002", "the program names more weight records than verify looks at",
                *outOfBudget, "shorten its loops");
    return !outOfBudget;
  }

  // Bytes of the longest record that a transfer moves, or nothing after a fault.
  std::optional<std::int64_t> records(const Part<Affine>& p) {
    if (p != Part<Affine>{.content = Content::Weights, .y = p.y}) {
      faultHere("PROG006", "its part is not one weight record", "", "name a record by its number");
      return std::nullopt;
    }
    std::int64_t longest = 0;
    std::int64_t& length = lengths_[program_.layerOf(section_->step)];
    bool differ = false;
    std::int64_t finest = 0;
    const bool known = forEachRecord(p.y, [&](const WeightRecord& r) {
      longest = std::max(longest, r.bytes);
      differ = differ || (length > 0 && r.bytes != length);
      length = r.bytes;
      finest = std::gcd(finest, std::gcd(r.bytes, program_.weightsAddress + r.offset));
    });
    if (!known) return std::nullopt;
    if (const std::int64_t g = device_.limits.granularity; finest % g != 0)
      shortage("limits.granularity", "a weight record is finer than the device addresses", finest,
               g, " B");
    if (differ && device_.limits.recordLengths)
      shortage("limits.recordLengths", "the weight records of a layer differ in length", 2,
               *device_.limits.recordLengths);
    return longest;
  }

  // What is meant to move lies in its tensor; its bytes, or nothing after a fault. `toCores`: it
  // may be some pixels of a root.
  std::optional<std::int64_t> part(const Part<Affine>& p, bool toCores = false) {
    const bool known = p.tensor.valid() && p.tensor.at() < program_.tensors.size();
    if (!known || (program_.tensors[p.tensor.at()].root != p.tensor &&
                   !(toCores && program_.tensors[p.tensor.at()].sampling))) {
      faultHere("PROG001", "its part is of a tensor that is not there",
                "%" + to_string(p.tensor.index), "name a tensor that is its own root");
      return std::nullopt;
    }
    const ProgramTensor& t = program_.tensors[p.tensor.at()];
    const std::int64_t blocks = blocksOf(t.shape);
    const bool inside = inRange("the number of rows", p.rows, 1, t.shape.height) &&
                        inRange("the number of blocks", p.blocks, 1, blocks) &&
                        inRange("the number of columns", p.columns, 1, t.shape.width) &&
                        inRange("the first row", p.y, 0, t.shape.height - p.rows) &&
                        inRange("the first block", p.block, 0, blocks - p.blocks) &&
                        inRange("the first column", p.x, 0, t.shape.width - p.columns);
    if (!inside) return std::nullopt;
    return p.rows * p.blocks * p.columns * kBlock;
  }

  // What the host gives is given once: for all frames, or for its own. Transfers only move it.
  void isComputed(const Part<Affine>& p) {
    if (given_[p.tensor.at()])
      faultHere("PROG006", "it computes what the host gives", "%" + to_string(p.tensor.index),
                "compute a tensor that is neither an input nor a constant");
  }

  void agree(const std::string& name, std::optional<std::int64_t> bytes,
             std::optional<std::int64_t> partBytes) {
    if (!bytes || !partBytes || *bytes == *partBytes) return;
    faultHere("PROG006", name + " and the part do not have the same size",
              to_string(*bytes) + " B and " + to_string(*partBytes) + " B", "make them equal");
  }

  static Affine ownRow() {
    Affine row;
    row.row = 1;
    return row;
  }
  static Affine ownColumn() {
    Affine column;
    column.column = 1;
    return column;
  }
  // As far as an address may lie that later frames move on.
  Memory ddr(const Part<Affine>& part) const {
    const std::int64_t last =
        (program_.frames - 1) * program_.tensors[part.tensor.at()].frameStride;
    return {"DDR", TileKind::Ddr, program_.ddrBytes - last, device_.limits.shimDimensions, {},
            {},    false};
  }
  // Weights pass a memtile in places that all layers share: no buffer of one of them.
  Memory memtile(Content content, const Affine& column = ownColumn()) const {
    return {"its memtile",
            TileKind::Memtile,
            device_.memtile.memory.raw(),
            device_.limits.memtileDimensions,
            {},
            column,
            content == Content::Activation};
  }
  Memory core() const {
    return {"the core's operand memory",   TileKind::Core, device_.core.operandMemory().raw(),
            device_.limits.coreDimensions, ownRow(),       ownColumn()};
  }

  bool isFor(EngineKind kind) {
    const EngineKind queue = section_->engines.kind;
    if (queue == kind) return true;
    faultHere("PROG003", "an instruction in a queue that does not execute it",
              "the queue of a " + std::string(word(queue)),
              "move it to a " + std::string(word(kind)));
    return false;
  }

  // ---- instructions -----------------------------------------------------------------------------

  void channel(const Engine& e) {
    const bool ddr = e.kind == EngineKind::DdrIn || e.kind == EngineKind::DdrOut;
    if (!ddr || !exists(e, device_))
      faultHere("PROG001", "its DDR channel is not there", toText(e),
                "name a ddr-in or ddr-out of the device");
  }
  void instruction(const Start& i) {
    if (isFor(EngineKind::Sequencer)) channel(i.channel);
  }
  void instruction(const Wait<Affine>& i) {
    if (!isFor(EngineKind::Sequencer)) return;
    channel(i.channel);
    inRange("the entry", i.entry, 0, kMaxSteps);
  }
  void instruction(const Transfer<Affine>& i) {
    if (!isFor(i.form().engine)) return;
    const bool isRecord = i.part.content == Content::Weights;
    if (isRecord && i.form().weights.empty())
      return faultHere("PROG006", "weights leave no core and no memtile", "",
                       "write activations only");
    const bool toCores = i.kind == TransferKind::Send || i.kind == TransferKind::Receive;
    const std::optional<std::int64_t> bytes = isRecord ? records(i.part) : part(i.part, toCores);
    if (bytes)
      forEachEnd(i, [&](const PlacedEnd<Affine>& at) {
        const std::string name = nameOf(i, at);
        if (!isRecord)
          agree(name, end(name, at.end, memoryOf(i.part, at)), bytes);
        else if (at.place != EndPlace::Ddr)
          recordEnd(name, at.end, *bytes, memoryOf(i.part, at));
        else if (at.end != End<Affine>{})
          faultHere("PROG006", name + " of a weight record is not empty",
                    "its place in DDR stands in the table of records", "leave it empty");
      });
    if (i.kind == TransferKind::Send) receivers(i);
    if (i.kind == TransferKind::Receive)
      inRange("the wire", i.wire, 0, std::ssize(device_.wires) - 1, "PROG001");
    if (i.form().destination == EndPlace::NamedMemtile) memtiles(i);
    if (!i.form().severalDestinations && !i.further.empty())
      faultHere("PROG008", "a transfer of this kind has one destination",
                to_string(1 + i.further.size()) + " are named", "name one");
  }
  static std::string nameOf(const Transfer<Affine>& i, const PlacedEnd<Affine>& at) {
    if (at.point == 0) return "the source";
    return i.form().severalDestinations ? "a destination" : "the destination";
  }
  Memory memoryOf(const Part<Affine>& part, const PlacedEnd<Affine>& at) const {
    switch (at.place) {
      case EndPlace::Ddr:
        return ddr(part);
      case EndPlace::ChannelsMemtile:
        return memtile(part.content);
      case EndPlace::NamedMemtile:
        return memtile(part.content, *at.memtile);
      case EndPlace::Core:
        return core();
    }
    return core();
  }

  void receivers(const Transfer<Affine>& i) {
    if (i.to.empty() || std::ssize(i.to) > device_.cores() * device_.core.channelsIn)
      return faultHere("PROG008", "a transfer without receivers, or with too many",
                       to_string(i.to.size()) + " groups of cores", "name each core once");
    forEachEngine(section_->engines, [&](const Engine& wire) { sendOn(wire.column, i); });
  }
  void memtiles(const Transfer<Affine>& i) {
    const std::int64_t most = device_.coreWriteMulticast ? device_.memtiles() : 1;
    if (std::ssize(i.further) >= most)
      return faultHere(
          "PROG008", "the core cannot write there",
          to_string(1 + i.further.size()) + " memtiles, the device allows 1 to " + to_string(most),
          "write to one after the other");
    inRange("the memtile", i.memtile, 0, device_.memtiles() - 1, "PROG001");
    for (const MemtileEnd<Affine>& d : i.further)
      inRange("the memtile", d.memtile, 0, device_.memtiles() - 1, "PROG001");
  }
  void sendOn(std::int64_t index, const Transfer<Affine>& i) {
    const Wire& wire = device_.wires[static_cast<std::size_t>(index)];
    const IterationSpace all = std::exchange(space_, space_.of(0, index));
    const auto feeds = [&](std::int64_t memtile) {
      return std::find(wire.feeders.begin(), wire.feeders.end(), memtile) != wire.feeders.end();
    };
    const Extremes memtiles = space_.extremes(i.memtile);
    std::optional<std::string> notFed;
    if (memtiles.low != memtiles.high || !feeds(memtiles.low))
      notFed = space_.findWhere(budget_, [&](std::span<const std::int64_t> counters,
                                             std::int64_t row, std::int64_t column) {
        return !feeds(evaluate(i.memtile, counters, row, column));
      });
    if (notFed)
      faultHere("PROG008", "the memtile does not feed the wire",
                "wire '" + wire.name + "' " + *notFed, "send from one of its feeders");
    for (const SendTo<Affine>& to : i.to) {
      const CoreRange& reach = wire.reach;
      const bool sized =
          inRange("the number of receiving rows", to.rows, 1, reach.rows, "PROG008") &&
          inRange("the number of receiving columns", to.columns, 1, reach.columns, "PROG008");
      if (!sized) break;
      inRange("a receiving row on wire '" + wire.name + "'", to.row, reach.row,
              reach.row + reach.rows - to.rows, "PROG008");
      inRange("a receiving column on wire '" + wire.name + "'", to.column, reach.column,
              reach.column + reach.columns - to.columns, "PROG008");
      inRange("the receiving channel", to.channel, 0, device_.core.channelsIn - 1, "PROG001");
    }
    space_ = all;
  }

  // ---- calls ------------------------------------------------------------------------------------

  void instruction(const Call<Affine>& i) {
    if (!isFor(EngineKind::Core)) return;
    if (!i.kernel.valid() || i.kernel.at() >= program_.kernels.size())
      return faultHere("PROG001", "its kernel is not there", "k" + to_string(i.kernel.index),
                       "declare it");
    const Kernel& k = program_.kernels[i.kernel.at()];
    const std::int64_t cells = k.outputBlocks * k.outputColumns;
    const auto bytes = part(i.part);
    if (bytes) isComputed(i.part);
    const std::int64_t most = k.op == OpKind::Assemble ? 1 : kMaxCallRows;
    if (bytes && (i.part.content != Content::Activation || i.part.rows > most ||
                  i.part.blocks != k.outputBlocks))
      return faultHere("PROG006", "the part is not output rows of the kernel",
                       to_string(i.part.rows) + " rows of " + to_string(i.part.blocks) + " blocks",
                       "compute at most " + to_string(most) + " rows of " +
                           to_string(k.outputBlocks) + " blocks");
    const std::int64_t rows = bytes ? i.part.rows : 1;
    if (bytes) rowsOfOneImage(i.part);
    agree("the output rows", rows * cells * kBlock, bytes);
    if (const std::size_t wanted = inputsOf(k, i.finish); i.inputs.size() != wanted)
      faultHere("PROG006", "the kernel has another number of inputs",
                to_string(i.inputs.size()) + " instead of " + to_string(wanted),
                "give it its inputs");
    else
      for (std::size_t n = 0; n < i.inputs.size(); ++n) ring(n, i.inputs[n], k);
    weights(i, k);
    if (i.accumulator)
      address("the accumulator", {.base = *i.accumulator}, 0, rows * cells * kBlock * 4, core());
    if (i.finish != i.output.has_value())
      faultHere("PROG006", "an output without a finish, or a finish without an output", "",
                "write the output in the call that finishes");
    if (i.output) output(*i.output, rows, cells * kBlock);
    if (!i.finish && !formOf(k.op).hasWindow)
      faultHere("PROG006", "a kernel without a window is cut over time", "",
                "compute it in one call");
    if ((!i.init || !i.finish) && !i.accumulator)
      faultHere("PROG006", "a reduction cut over time has no accumulator", "",
                "name its sum buffer");
    locks("the call", i.acquire, core(), false);
    locks("the call", i.release, core(), false);
  }

  void rowsOfOneImage(const Part<Affine>& p) {
    if (program_.batch == 1 || p.rows == 1) return;
    const std::int64_t height = program_.tensors[p.tensor.at()].shape.height / program_.batch;
    const Extremes y = space_.extremes(p.y);
    if (y.low / height == (y.high + p.rows - 1) / height) return;
    const auto outside = space_.along(p.y).findWhere(
        budget_,
        [&](std::span<const std::int64_t> counters, std::int64_t row, std::int64_t column) {
          const std::int64_t first = evaluate(p.y, counters, row, column);
          return first / height != (first + p.rows - 1) / height;
        });
    if (outside && budget_ < 0)
      faultHere("PROG002", "the program has more calls of several rows than verify looks at",
                *outside, "shorten its loops");
    else if (outside)
      faultHere("PROG006", "the rows of a call are of several images",
                to_string(p.rows) + " rows " + *outside, "cut the call where an image ends");
  }

  void output(const Address<Affine>& place, std::int64_t rows, std::int64_t rowBytes) {
    if (rows > std::max<std::int64_t>(place.slots, 1))
      return faultHere("PROG006", "a call writes more rows than it has places for",
                       to_string(rows) + " rows, " + to_string(place.slots) + " places",
                       "give each row a place");
    address("the output", place, 0, rowBytes, core());
    if (rows == 1) return;
    // Rows behind the first may lie in any of the places.
    const Int128 last = Int128{place.slots - 1} * place.slotStride;
    if (last > kMaxDdrBytes || -last > kMaxDdrBytes)
      return faultHere("PROG004", "the output has slots out of range",
                       to_string(place.slots) + " slots of " + to_string(place.slotStride) + " B",
                       "place them in the core's memory");
    const auto reach = static_cast<std::int64_t>(last);
    address("the output", {.base = place.base}, std::min<std::int64_t>(0, reach),
            std::max<std::int64_t>(0, reach) + rowBytes, core());
  }

  void ring(std::size_t n, const RowRing<Affine>& r, const Kernel& k) {
    const std::string name = "input " + to_string(n);
    if (r.absent) {
      if (k.op != OpKind::Assemble)
        faultHere("PROG006", name + " is absent", "", "a CONCAT alone may do without some");
      return;
    }
    if (!r.tensor.valid() || r.tensor.at() >= program_.tensors.size() ||
        (program_.tensors[r.tensor.at()].root != r.tensor &&
         !program_.tensors[r.tensor.at()].sampling))
      return faultHere("PROG001", name + " is of a tensor that is not there",
                       "%" + to_string(r.tensor.index), "name a tensor");
    const bool sized = inRange("the length of " + name, r.length, 1, kMaxExtent) &&
                       inRange("the columns of " + name, r.columns, 1, kMaxExtent) &&
                       inRange("the blocks of " + name, r.blocks, 1, kMaxExtent) &&
                       inRange("the bytes of a row of " + name, r.rowBytes, 1, kMaxDdrBytes) &&
                       inRange("the first row of " + name, r.row, -kFarthest, kFarthest) &&
                       inRange("the first column of " + name, r.column, -kFarthest, kFarthest) &&
                       inRange("the origin of " + name, r.origin, -kFarthest, kFarthest) &&
                       inRange("the first block of " + name, r.block, 0, kMaxExtent);
    if (!sized) return;
    if (r.rowBytes % kBlock != 0)
      faultHere("PROG005", "a row of " + name + " lies in no whole cells",
                to_string(r.rowBytes) + " B", "let it be a multiple of 8");
    if (const std::int64_t needed = blocksOfInput(k, n); r.blocks < needed)
      faultHere("PROG006", name + " holds fewer channel blocks than its kernel reads",
                to_string(r.blocks) + " of " + to_string(needed), "hold them");
    if (r.rowBytes < r.blocks * r.columns * kBlock)
      faultHere("PROG006", "a row of " + name + " is smaller than what it holds",
                to_string(r.rowBytes) + " B for " + to_string(r.blocks * r.columns * kBlock) + " B",
                "make room for the row");
    // A call may read a part of the blocks that a row holds: its last row ends with these.
    const std::int64_t lastRow = r.blocks * r.columns * kBlock;
    address(name, {.base = r.base}, 0, (r.length - 1) * r.rowBytes + lastRow, core());
    if (k.op != OpKind::Assemble) return;
    const Kernel::Move& move = k.moves[n];
    if (!readsInside(move.columns, r.columns) || !readsInside(move.channels, r.blocks * kBlock))
      faultHere("PROG006", "a move reads outside of " + name,
                to_string(r.columns) + " columns of " + to_string(r.blocks) + " blocks",
                "hold what it reads");
  }
  static std::int64_t blocksOfInput(const Kernel& k, std::size_t n) {
    if (k.op == OpKind::Assemble) return 1;
    return k.op == OpKind::Conv && !isAdded(k, n) ? k.inputBlocks : k.outputBlocks;
  }
  static bool readsInside(const AxisMap& map, std::int64_t count) {
    return std::all_of(map.begin(), map.end(), [&](const AxisRun& r) {
      return r.from < count && r.from + (r.count - 1) * r.fromStep < count;
    });
  }

  void weights(const Call<Affine>& i, const Kernel& k) {
    if (recordBytes(recordOf(k, i.finish, 0)) == 0) {
      if (i.weights)
        faultHere("PROG006", "a weight record that its kernel does not read", "", "leave it out");
      return;
    }
    if (!i.weights)
      return faultHere("PROG006", "the weight record is missing", "", "name it and its place");
    const bool conv = k.op == OpKind::Conv;
    std::int64_t longest = 0;
    const WeightRecord* wrong = nullptr;
    const bool known = forEachRecord(i.record, [&](const WeightRecord& r) {
      longest = std::max(longest, r.bytes);
      const std::int64_t used = r.bytes - r.padding;
      const Int128 blocks = Int128{r.kept} * k.window.kernelY * k.window.kernelX * kBlock * kBlock;
      bool right = !conv || (r.kept <= k.inputBlocks * k.outputBlocks && blocks <= used);
      if (right) {
        const std::int64_t read = k.recordAt + recordBytes(recordOf(k, i.finish, r.kept));
        right = readsPartOfRecord(k) ? read <= used : read == used;
      }
      if (!wrong && !right) wrong = &r;
    });
    if (wrong)
      faultHere("PROG006", "the weight record is not as long as its kernel and kept blocks say",
                "record " + to_string(wrong - program_.records.data()) + " has " +
                    to_string(wrong->bytes) + " B, of them " + to_string(wrong->padding) +
                    " padding, and keeps " + to_string(wrong->kept) + " blocks of the kernel's " +
                    to_string(k.inputBlocks) + " x " + to_string(k.outputBlocks),
                "give the whole record");
    else if (known)
      address("the weight record", *i.weights, 0, longest, core());
  }

  const Program& program_;
  const Device& device_;
  Faults& faults_;
  const Section* section_ = nullptr;
  const Instruction* instruction_ = nullptr;
  std::int32_t leaf_ = 0;
  IterationSpace space_;
  std::int64_t steps_ = 0;
  std::int64_t budget_ = kMaxSteps;        // iterations looked at one by one
  std::int64_t bufferBudget_ = kMaxSteps;  // the same for buffers
  DeclaredBuffers buffers_;
  std::vector<bool> given_;                  // by tensor: an input or a constant
  std::map<LayerId, std::int64_t> lengths_;  // of the layer's weight record seen last
};

}  // namespace

void verifySections(const Program& program, const Device& device, Faults& faults) {
  Sections(program, device, faults).check();
}

}  // namespace heddle
