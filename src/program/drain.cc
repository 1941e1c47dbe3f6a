// The untimed run: every queue goes as far as it can, in any order. Since each lock has one
// producer queue and one consumer queue, each sender and receiver meet in the order of both their
// queues, and START and WAIT only count, no step can take from another what that needs: what can
// happen now can still happen later. So all orders end in the same state, and if this one empties
// every queue, every timed run does.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "heddle/program/names.h"
#include "heddle/program/visit.h"
#include "verify_checks.h"

namespace heddle {
namespace {

using std::to_string;

// A section's items, loops opened: a cursor walks it without looking back.
struct Op {
  const Instruction* instruction = nullptr;  // absent at a loop's begin and end
  std::int32_t leaf = 0;
  std::int64_t count = 0;   // at a loop's begin: iterations; at its end: 0
  std::size_t partner = 0;  // at a loop's end: its begin
};
struct Strip {
  std::vector<Op> ops;
  LayerId layer;
};

struct Queue {
  Engine engine;
  std::vector<const Strip*> strips;
  std::size_t strip = 0, op = 0, depth = 0;
  std::array<std::int64_t, kMaxLoopDepth> counters{}, counts{};
  std::int64_t entriesDone = 0, entries = 0;  // top-level items
  std::int64_t started = 0;                   // of a DDR channel, by the sequencer
  bool done = true;
  bool listed = false;     // in the list of those to run
  bool held = false;       // steps only when it may
  std::int64_t mark = -1;  // the attempt of a wire that last named it

  const Op& current() const { return strips[strip]->ops[op]; }
  std::int64_t value(const Affine& a) const {
    return evaluate(a, {counters.data(), depth}, engine.row, engine.column);
  }
};

void flatten(const std::vector<Item>& items, Strip& strip, std::int32_t& leaf) {
  for (const Item& item : items) {
    if (const Instruction* i = std::get_if<Instruction>(&item.as)) {
      strip.ops.push_back({i, leaf++, 0, 0});
      continue;
    }
    const Loop& loop = std::get<Loop>(item.as);
    const std::size_t begin = strip.ops.size();
    strip.ops.push_back({nullptr, leaf, loop.count, 0});
    flatten(loop.body, strip, leaf);
    strip.ops.push_back({nullptr, leaf, 0, begin});
  }
}

struct LockState {
  std::int64_t value = 0;
  std::int64_t lowest = 0;                 // value that an acquire has left so far
  std::size_t producer = 0, consumer = 0;  // queues
  std::int32_t waiter = -1;                // queue to wake when it rises
};

class Drain {
 public:
  Drain(const Program& program, const Device& device, Faults& faults)
      : program_(program),
        device_(device),
        faults_(faults),
        numbers_(device),
        lockTable_(program, device) {}

  void run() {
    makeQueues();
    makeLocks();
    runAll();
    if (faults_.broken()) return;
    const auto stuck =
        std::find_if(queues_.begin(), queues_.end(), [](const Queue& q) { return !q.done; });
    if (stuck != queues_.end()) return deadlock(static_cast<std::size_t>(stuck - queues_.begin()));
    checkEnd();
    if (!faults_.broken()) spareTokens();
    descriptorLimits();
  }

  std::vector<std::int64_t> spare() {
    makeQueues();
    makeLocks();
    runAll();
    return findSpare();
  }

 private:
  // Each queue as far as it can.
  void runAll() {
    for (std::size_t q = 0; q < queues_.size(); ++q) wake(q);
    runListed();
  }
  void runListed() {
    while (!toRun_.empty() && !faults_.broken()) {
      const std::size_t q = toRun_.back();
      toRun_.pop_back();
      queues_[q].listed = false;
      while (!queues_[q].done && !faults_.broken() && step(q)) ++steps_;
    }
  }

  // ---- queues -----------------------------------------------------------------------------------

  void makeQueues() {
    for (const Engine& engine : numbers_.engines()) queues_.emplace_back().engine = engine;
    strips_.resize(program_.sections.size());
    std::int32_t leaf = 0;
    for (std::size_t i = 0; i < strips_.size(); ++i) {
      const Section& s = program_.sections[i];
      strips_[i].layer = program_.layerOf(s.step);
      flatten(s.items, strips_[i], leaf);
      forEachEngine(s.engines, [&](const Engine& engine) {
        Queue& q = queues_[numbers_.of(engine)];
        q.strips.push_back(&strips_[i]);
        q.entries += std::ssize(s.items);
      });
    }
    for (Queue& q : queues_) {
      if (q.strips.empty()) continue;
      q.done = false;
      enterLoops(q);
    }
  }

  // From a loop's begin to its first instruction.
  static void enterLoops(Queue& q) {
    while (!q.current().instruction) {
      q.counts[q.depth] = q.current().count;
      q.counters[q.depth++] = 0;
      ++q.op;
    }
  }

  void advance(std::size_t number) {
    Queue& q = queues_[number];
    ++q.op;
    while (q.depth > 0 && q.op < q.strips[q.strip]->ops.size() && !q.current().instruction &&
           q.current().count == 0) {
      if (++q.counters[q.depth - 1] < q.counts[q.depth - 1]) {
        q.op = q.current().partner + 1;
        enterLoops(q);
        return;
      }
      --q.depth;
      ++q.op;
    }
    if (q.depth == 0) entryDone(q);
    if (q.op == q.strips[q.strip]->ops.size()) {
      q.op = 0;
      if (++q.strip == q.strips.size()) {
        q.done = true;
        return;
      }
    }
    enterLoops(q);
  }

  void entryDone(Queue& q) {
    ++q.entriesDone;
    if (isOfDdrChannel(q)) wake(EngineNumbers::sequencer());
  }

  void wake(std::size_t q) {
    if (queues_[q].listed || queues_[q].done) return;
    queues_[q].listed = true;
    toRun_.push_back(q);
  }

  // ---- locks ------------------------------------------------------------------------------------

  void makeLocks() {
    for (const Lock& l : program_.locks)
      locks_.push_back(
          {l.initial, l.initial, numbers_.of(l.producer), numbers_.of(l.consumer), -1});
  }

  std::optional<std::size_t> find(const Tile& tile, const LockUse<Affine>& use, std::size_t q,
                                  bool release) {
    const std::int64_t index = queues_[q].value(use.lock);
    const std::int32_t lock = lockTable_.find(tile, index);
    if (lock < 0) {
      fault("PROG009", q, "a lock that is not declared",
            "L" + to_string(index) + " in " + toText(tile), "declare it");
      return std::nullopt;
    }
    const LockState& state = locks_[static_cast<std::size_t>(lock)];
    if ((release ? state.producer : state.consumer) != q) {
      fault("PROG009", q,
            release ? "a lock released by another queue than its producer"
                    : "a lock acquired by another queue than its consumer",
            "L" + to_string(index) + " in " + toText(tile) + " goes from " +
                toText(queues_[state.producer].engine) + " to " +
                toText(queues_[state.consumer].engine),
            "use one lock for each pair of queues");
      return std::nullopt;
    }
    return static_cast<std::size_t>(lock);
  }

  // Takes what `uses` of queue q ask for, noted in taken_; false where one has to wait, on behalf
  // of queue `waiting`.
  bool take(const std::vector<LockUse<Affine>>& uses, const Tile& tile, std::size_t q,
            std::size_t waiting) {
    for (const LockUse<Affine>& use : uses) {
      const std::optional<std::size_t> lock = find(tile, use, q, false);
      if (!lock) return false;
      LockState& state = locks_[*lock];
      if (state.value < use.count) {
        state.waiter = static_cast<std::int32_t>(waiting);
        missing_ = *lock;
        return false;
      }
      state.value -= use.count;
      taken_.push_back({*lock, use.count});
    }
    return true;
  }
  void keep() {
    for (const auto& [lock, count] : taken_)
      locks_[lock].lowest = std::min(locks_[lock].lowest, locks_[lock].value);
    taken_.clear();
  }
  void giveBack() {
    for (const auto& [lock, count] : taken_) locks_[lock].value += count;
    taken_.clear();
  }
  void give(const std::vector<LockUse<Affine>>& uses, const Tile& tile, std::size_t q) {
    for (const LockUse<Affine>& use : uses) {
      const std::optional<std::size_t> lock = find(tile, use, q, true);
      if (!lock) return;
      LockState& state = locks_[*lock];
      state.value += use.count;
      if (state.waiter >= 0) wake(static_cast<std::size_t>(std::exchange(state.waiter, -1)));
    }
  }

  // ---- steps ------------------------------------------------------------------------------------

  static Tile memtile(std::int64_t id) {
    return {TileKind::Memtile, 0, static_cast<std::int32_t>(id)};
  }
  static Tile coreOf(const Engine& e) { return {TileKind::Core, e.row, e.column}; }

  // Executes the instruction at the head of queue q if it can be now.
  bool step(std::size_t q) {
    receivers_.clear();
    const Instruction& instruction = *queues_[q].current().instruction;
    if (!transferOf(instruction, TransferKind::Send) && heldBack(q)) return false;
    return std::visit([&](const auto& i) { return execute(q, i); }, instruction.as);
  }

  // Whether queue q, or one that it meets in a transfer, is held back and none of them may step.
  bool heldBack(std::size_t q) const {
    const auto held = [&](std::size_t r) { return queues_[r].held; };
    return (held(q) || std::any_of(receivers_.begin(), receivers_.end(), held)) && q != mayStep_ &&
           std::find(receivers_.begin(), receivers_.end(), mayStep_) == receivers_.end();
  }

  static bool isOfDdrChannel(const Queue& q) {
    return q.engine.kind == EngineKind::DdrIn || q.engine.kind == EngineKind::DdrOut;
  }
  bool isStarted(const Queue& q) const { return q.started > q.entriesDone; }

  Tile tileOf(const Queue& q, const PlacedEnd<Affine>& at) const {
    switch (at.place) {
      case EndPlace::Ddr:
        return {TileKind::Ddr, 0, q.engine.column};
      case EndPlace::ChannelsMemtile:
        return memtile(q.engine.column);
      case EndPlace::NamedMemtile:
        return memtile(q.value(*at.memtile));
      case EndPlace::Core:
        return coreOf(q.engine);
    }
    return {};
  }

  bool execute(std::size_t q, const Start& i) {
    const std::size_t channel = numbers_.of(i.channel);
    ++queues_[channel].started;
    wake(channel);
    advance(q);
    return true;
  }
  bool execute(std::size_t q, const Wait<Affine>& i) {
    if (queues_[numbers_.of(i.channel)].entriesDone <= queues_[q].value(i.entry)) return false;
    advance(q);
    return true;
  }
  bool execute(std::size_t q, const Call<Affine>& i) {
    const Tile core = coreOf(queues_[q].engine);
    if (!take(i.acquire, core, q, q)) return giveBack(), false;
    keep();
    give(i.release, core, q);
    advance(q);
    return true;
  }

  bool execute(std::size_t q, const Transfer<Affine>& i) {
    if (!i.form().destination) return send(q, i);
    if (!i.form().source) {
      // The wire executes; a receiving channel only tells it that it is there.
      wake(numbers_.wire(queues_[q].value(i.wire)));
      return false;
    }
    const Queue& queue = queues_[q];
    if (isOfDdrChannel(queue) && !isStarted(queue)) return false;
    bool ready = true;
    forEachEnd(i, [&](const PlacedEnd<Affine>& at) {
      ready = ready && take(at.end.acquire, tileOf(queue, at), q, q);
    });
    if (!ready) return giveBack(), false;
    keep();
    forEachEnd(i, [&](const PlacedEnd<Affine>& at) { give(at.end.release, tileOf(queue, at), q); });
    advance(q);
    return true;
  }

  bool send(std::size_t q, const Transfer<Affine>& i) {
    const Queue& wire = queues_[q];
    const Tile from = memtile(wire.value(i.memtile));
    if (!listReceivers(q, i)) return false;
    bool ready = std::all_of(receivers_.begin(), receivers_.end(),
                             [&](std::size_t r) { return receivesFrom(r, wire.engine); });
    if (!ready) return false;
    if (heldBack(q)) return false;
    for (const std::size_t r : receivers_)
      if (!meansTheSame(q, i.part, r)) return false;
    ready = take(i.source.acquire, from, q, q);
    for (const std::size_t r : receivers_)
      ready = ready && take(receive(r).destination.acquire, coreOf(queues_[r].engine), r, q);
    if (!ready) return giveBack(), false;
    keep();
    give(i.source.release, from, q);
    for (const std::size_t r : receivers_)
      give(receive(r).destination.release, coreOf(queues_[r].engine), r);
    advance(q);
    for (const std::size_t r : receivers_) {
      advance(r);
      wake(r);
    }
    return true;
  }

  const Transfer<Affine>& receive(std::size_t r) const {
    return std::get<Transfer<Affine>>(queues_[r].current().instruction->as);
  }
  bool receivesFrom(std::size_t r, const Engine& wire) const {
    return !queues_[r].done && queues_[r].value(receive(r).wire) == wire.column;
  }

  // The receiving channels of a transfer, each once; false after a fault.
  bool listReceivers(std::size_t q, const Transfer<Affine>& i) {
    receivers_.clear();
    ++attempt_;
    for (const SendTo<Affine>& to : i.to) {
      const std::int64_t row = queues_[q].value(to.row), column = queues_[q].value(to.column);
      for (std::int64_t r = row; r < row + to.rows; ++r)
        for (std::int64_t c = column; c < column + to.columns; ++c) {
          const std::size_t receiver =
              numbers_.of({EngineKind::CoreIn, static_cast<std::int32_t>(r),
                           static_cast<std::int32_t>(c), static_cast<std::int32_t>(to.channel)});
          if (std::exchange(queues_[receiver].mark, attempt_) == attempt_) {
            fault("PROG008", q, "a transfer names a receiver twice",
                  toText(queues_[receiver].engine), "name it once");
            return false;
          }
          receivers_.push_back(receiver);
        }
    }
    return true;
  }

  bool meansTheSame(std::size_t q, const Part<Affine>& sent, std::size_t r) {
    const Part<Affine>& received = receive(r).part;
    const Queue &a = queues_[q], &b = queues_[r];
    const bool same = sent.content == received.content && sent.tensor == received.tensor &&
                      sent.rows == received.rows && sent.blocks == received.blocks &&
                      sent.columns == received.columns && a.value(sent.y) == b.value(received.y) &&
                      a.value(sent.block) == b.value(received.block) &&
                      a.value(sent.x) == b.value(received.x);
    if (!same)
      fault("PROG010", q, "sender and receiver do not mean the same part",
            "it sends " + text(sent, a) + "; " + whereOf(r) + " receives " + text(received, b),
            "give both ends one part");
    return same;
  }
  static std::string text(const Part<Affine>& p, const Queue& q) {
    if (p.content == Content::Weights) return "weight record " + to_string(q.value(p.y));
    const auto range = [&](const char* name, const Affine& start, std::int64_t count) {
      return name + to_string(q.value(start)) + (count == 1 ? "" : " for " + to_string(count));
    };
    return "%" + to_string(p.tensor.index) + range("[y ", p.y, p.rows) +
           range(", block ", p.block, p.blocks) + range(", x ", p.x, p.columns) + "]";
  }

  // ---- faults -----------------------------------------------------------------------------------

  std::string whereOf(std::size_t number) const {
    const Queue& q = queues_[number];
    std::string text = whereIs(program_, q.strips[q.strip]->layer, toText(q.engine),
                               q.current().leaf, *q.current().instruction);
    for (std::size_t k = 0; k < q.depth; ++k)
      text += (k == 0 ? " at i" : ", i") + to_string(k) + " = " + to_string(q.counters[k]);
    return text;
  }
  void fault(std::string code, std::size_t q, std::string summary, std::string what,
             std::string mend) {
    faults_.add(std::move(code), whereOf(q), std::move(summary), std::move(what), std::move(mend));
  }

  // Why a queue stands still, and which other queue would have to move first.
  struct Reason {
    std::string text;
    std::size_t queue = 0;
  };
  Reason waitsForLock() const {
    const Lock& lock = program_.locks[missing_];
    return {"lock L" + to_string(lock.index) + " of " + toText(lock.tile),
            locks_[missing_].producer};
  }
  Reason reasonOf(std::size_t q) {
    const Queue& queue = queues_[q];
    const Instruction& at = *queue.current().instruction;
    taken_.clear();
    if (const auto* wait = std::get_if<Wait<Affine>>(&at.as))
      return {"the end of entry " + to_string(queue.value(wait->entry)),
              numbers_.of(wait->channel)};
    if (const auto* receives = transferOf(at, TransferKind::Receive))
      return {"a transfer", numbers_.wire(queue.value(receives->wire))};
    if (isOfDdrChannel(queue) && !isStarted(queue)) return {"a START", EngineNumbers::sequencer()};
    if (const auto* send = transferOf(at, TransferKind::Send)) {
      for (const std::size_t r : (listReceivers(q, *send), receivers_))
        if (!receivesFrom(r, queue.engine)) return {"a receiver", r};
    }
    step(q);  // cannot execute: it finds the lock that is missing
    return waitsForLock();
  }

  void deadlock(std::size_t q) {
    std::vector<std::size_t> path;
    std::vector<std::string> lines;
    while (!queues_[q].done && std::find(path.begin(), path.end(), q) == path.end()) {
      const Reason reason = reasonOf(q);
      path.push_back(q);
      lines.push_back(whereOf(q) + " waits for " + reason.text + ", from " +
                      toText(queues_[reason.queue].engine));
      q = reason.queue;
    }
    // What leads into the cycle is not part of it.
    const auto begin = queues_[q].done ? path.begin() : std::find(path.begin(), path.end(), q);
    std::string what;
    for (auto it = begin; it != path.end(); ++it)
      what += (what.empty() ? "" : "; ") + lines[static_cast<std::size_t>(it - path.begin())];
    if (queues_[q].done) what += "; " + toText(queues_[q].engine) + " has ended";
    faults_.add("PROG011", whereOf(*begin), "the program stands still", what,
                queues_[q].done ? "have the last of them do what is waited for"
                                : "change the order in one of these queues");
  }

  // ---- the end ----------------------------------------------------------------------------------

  void checkEnd() {
    for (std::size_t i = 0; i < locks_.size(); ++i) {
      const Lock& lock = program_.locks[i];
      if (locks_[i].value != lock.initial)
        faults_.add("PROG012", "lock L" + to_string(lock.index) + " in " + toText(lock.tile),
                    "the lock does not end as it began",
                    "it begins with " + to_string(lock.initial) + " and ends with " +
                        to_string(locks_[i].value) + ", from " + toText(lock.producer) + " to " +
                        toText(lock.consumer),
                    "release as often as it is acquired");
    }
    for (const Queue& q : queues_)
      if (q.started != 0 && q.started != q.entries)
        faults_.add("PROG012", toText(q.engine), "more is started than there is",
                    to_string(q.started) + " STARTs for " + to_string(q.entries) + " entries",
                    "start each entry once");
  }

  // A token that a lock begins with, and that nobody ever takes in any order of the run, does
  // nothing but hide a mistake. The lowest value that a lock can have is the one that it has while
  // its producer's queue is held back: it goes on by one instruction only when no other queue can.
  // One run that takes the last token is enough: first all producers in question are held back
  // together, then each alone that still is one.
  void spareTokens() {
    const std::vector<std::int64_t> spare = findSpare();
    for (std::size_t i = 0; i < spare.size(); ++i)
      if (spare[i] > 0) this->spare(i, spare[i]);
  }
  std::vector<std::int64_t> findSpare() {
    std::vector<std::int64_t> spare(locks_.size());
    const auto inQuestion = [&] {
      std::set<std::size_t> producers;
      for (std::size_t i = 0; i < locks_.size(); ++i)
        if (program_.locks[i].initial > 0 && locks_[i].lowest > 0)
          producers.insert(locks_[i].producer);
      return producers;
    };
    if (const std::set<std::size_t> all = inQuestion(); all.size() > 1) runHeldBack(all);
    const std::set<std::size_t> left = inQuestion();
    const std::int64_t each = steps_ + std::ssize(queues_) + std::ssize(locks_);
    if (std::ssize(left) > kMaxSteps / each) return spare;  // they are not looked for so long
    for (const std::size_t producer : left) {
      runHeldBack({producer});
      for (std::size_t i = 0; i < locks_.size(); ++i)
        if (locks_[i].producer == producer) spare[i] = std::max<std::int64_t>(locks_[i].lowest, 0);
    }
    return spare;
  }
  void runHeldBack(const std::set<std::size_t>& producers) {
    restart();
    for (const std::size_t producer : producers) queues_[producer].held = true;
    runAll();
    for (bool moved = true; moved;) {
      moved = false;
      for (const std::size_t producer : producers)
        if (!queues_[producer].done && advanceHeld(producer)) {
          runListed();
          moved = true;
        }
    }
    for (const std::size_t producer : producers) queues_[producer].held = false;
  }
  // Back at the program's begin.
  void restart() {
    for (Queue& q : queues_) {
      q.strip = q.op = q.depth = 0;
      q.entriesDone = q.started = 0;
      q.done = q.strips.empty();
      if (!q.done) enterLoops(q);
    }
    for (std::size_t i = 0; i < locks_.size(); ++i) {
      locks_[i].value = program_.locks[i].initial;
      locks_[i].waiter = -1;
    }
  }
  bool advanceHeld(std::size_t held) {
    mayStep_ = held;
    const Queue& q = queues_[held];
    const auto* receives = transferOf(*q.current().instruction, TransferKind::Receive);
    const std::size_t by = receives ? numbers_.wire(q.value(receives->wire)) : held;
    const bool moved = step(by);
    mayStep_ = kNone;
    if (moved) wake(by);
    return moved;
  }
  void spare(std::size_t i, std::int64_t tokens) {
    const Lock& lock = program_.locks[i];
    const std::int64_t enough = lock.initial - tokens;
    faults_.add("PROG012", "lock L" + to_string(lock.index) + " in " + toText(lock.tile),
                "the lock begins with more than is ever taken",
                "it begins with " + to_string(lock.initial) + ", " + to_string(enough) +
                    " are taken before " + toText(lock.producer) + " releases, by " +
                    toText(lock.consumer),
                "begin with " + to_string(enough));
  }

  // Nothing reloads descriptors while a program runs: each end of each transfer instruction needs
  // one of its tile's.
  void descriptorLimits() {
    const Limits& limits = device_.limits;
    if (!limits.coreDescriptors && !limits.memtileDescriptors && !limits.shimDescriptors) return;
    std::map<Tile, std::set<std::pair<std::int32_t, std::int32_t>>>
        used;  // per tile: instruction and end
    restart();
    for (Queue& q : queues_)
      for (; !q.done; advance(numbers_.of(q.engine))) describe(q, used);
    for (const auto& [tile, ends] : used) {
      const auto limit = tile.kind == TileKind::Core      ? limits.coreDescriptors
                         : tile.kind == TileKind::Memtile ? limits.memtileDescriptors
                                                          : limits.shimDescriptors;
      if (limit && std::ssize(ends) > *limit)
        faults_.add({.key = keyOf(tile.kind) + ".descriptors",
                     .where = tile.kind == TileKind::Ddr
                                  ? "the shim tile of memtile " + to_string(tile.column)
                                  : toText(tile),
                     .summary = "the program needs more descriptors than the tile has",
                     .needed = std::ssize(ends),
                     .there = *limit,
                     .unit = {}});
    }
  }
  void describe(const Queue& q,
                std::map<Tile, std::set<std::pair<std::int32_t, std::int32_t>>>& used) const {
    const Op& op = q.current();
    const auto* transfer = std::get_if<Transfer<Affine>>(&op.instruction->as);
    if (!transfer) return;
    forEachEnd(*transfer, [&](const PlacedEnd<Affine>& at) {
      used[tileOf(q, at)].insert({op.leaf, at.point});
    });
  }

  const Program& program_;
  const Device& device_;
  Faults& faults_;
  EngineNumbers numbers_;
  LockTable lockTable_;
  std::vector<Strip> strips_;
  std::vector<Queue> queues_;  // as numbers_ says
  std::vector<LockState> locks_;
  std::vector<std::pair<std::size_t, std::int64_t>> taken_;
  std::size_t missing_ = 0;  // the lock that the last take had to wait for
  std::vector<std::size_t> receivers_;
  std::int64_t attempt_ = 0;
  std::vector<std::size_t> toRun_;
  std::int64_t steps_ = 0;
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t mayStep_ = kNone;  // of the queues that are held back
};

}  // namespace

void verifyDrain(const Program& program, const Device& device, Faults& faults) {
  Drain(program, device, faults).run();
}

std::vector<std::int64_t> spareTokens(const Program& program, const Device& device) {
  Faults faults(program);
  return Drain(program, device, faults).spare();
}

}  // namespace heddle
