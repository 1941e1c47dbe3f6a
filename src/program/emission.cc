#include "emission.h"

#include <algorithm>
#include <numeric>

#include "heddle/program/visit.h"
#include "heddle/support/check.h"
#include "roll.h"
#include "verify_checks.h"

namespace heddle {
namespace {

// Times as many numbers as locks of a kind that a tile may have, so that they are affine.
constexpr std::int64_t kMostRoom = 8;

// All of an instruction but its numbers, as a key: equal keys are equal but for the numbers.
class StructureKey {
 public:
  const std::vector<std::int64_t>& of(const FlatInstruction& instruction) {
    key_.clear();
    shape(instruction.as.index());
    std::visit([&](const auto& i) { inner(i); }, instruction.as);
    return key_;
  }

  template <class V>
  void number(const V&) {}
  void number(const std::optional<std::int64_t>& value) { shape(value.has_value()); }
  template <class T>
  void shape(const T& value) {
    if constexpr (requires { value.index; })
      key_.push_back(value.index);
    else
      key_.push_back(static_cast<std::int64_t>(value));
  }
  void shape(const Engine& e) {
    shape(e.kind);
    shape(e.row);
    shape(e.column);
    shape(e.channel);
  }
  void shape(const Pattern& pattern) {
    shape(pattern.dimensions.size());
    for (const Dimension& d : pattern.dimensions) {
      shape(d.count);
      shape(d.stride);
    }
    shape(pattern.run);
  }
  template <class T>
  void inner(const T& value) {
    if constexpr (requires { value.has_value(); }) {
      shape(value.has_value());
      if (value) inner(*value);
    } else if constexpr (requires { value.begin(); }) {
      shape(value.size());
      for (const auto& one : value) inner(one);
    } else {
      value.fields(*this, value);
    }
  }

 private:
  std::vector<std::int64_t> key_;
};

struct LockLists {
  std::vector<LockUse<std::int64_t>>*acquire, *release;
};

// The locks of end `point` (Access::point) of an instruction.
LockLists locksOf(FlatInstruction& instruction, std::int32_t point) {
  const auto of = [](auto& end) { return LockLists{&end.acquire, &end.release}; };
  if (auto* transfer = std::get_if<Transfer<std::int64_t>>(&instruction.as))
    return of(endAt(*transfer, point));
  auto* call = std::get_if<Call<std::int64_t>>(&instruction.as);
  HEDDLE_CHECK(call) << "an instruction without memory takes no lock";
  return of(*call);
}

// By instruction of the queue, of which there are `ops`; then end, release, lock. An instruction
// has few: they are counted into place before the rest is sorted.
void sortUses(std::vector<TokenUse>& uses, std::size_t ops) {
  std::vector<std::size_t> ends(ops + 1);  // by instruction: where the next of its uses goes
  for (const TokenUse& use : uses) ++ends[static_cast<std::size_t>(use.op) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<TokenUse> sorted(uses.size());
  for (const TokenUse& use : uses) sorted[ends[static_cast<std::size_t>(use.op)]++] = use;
  for (std::size_t op = 0, first = 0; op < ops; first = ends[op++])
    if (ends[op] - first > 1)
      std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(first),
                sorted.begin() + static_cast<std::ptrdiff_t>(ends[op]),
                [](const TokenUse& a, const TokenUse& b) {
                  return std::tie(a.end, a.release, a.lock) < std::tie(b.end, b.release, b.lock);
                });
  uses = std::move(sorted);
}

}  // namespace

// Prototypes with their locks, made from prototypes without and the marks of an instruction.
class LockedShapes {
 public:
  explicit LockedShapes(const std::vector<FlatInstruction>& plain) : plain_(plain) {}

  struct Entry {
    std::int32_t number = 0;
    std::vector<std::int32_t>
        order;  // per number: index among the plain numbers, or (behind them) among the marks
  };

  // `layout`: plain shape, then per mark 2 * end + release and the count.
  const Entry& entry(const std::vector<std::int64_t>& layout) {
    const auto inserted = entries_.try_emplace(layout);
    Entry& made = inserted.first->second;
    if (!inserted.second) return made;
    FlatInstruction instruction = plain_[static_cast<std::size_t>(layout[0])];
    std::int64_t n = 0;
    forEachValue(instruction, [&](std::int64_t& v) { v = n++; });
    for (std::size_t k = 1; k < layout.size(); k += 2) {
      const LockLists locks = locksOf(instruction, static_cast<std::int32_t>(layout[k] / 2));
      (layout[k] % 2 ? locks.release : locks.acquire)->push_back({n++, layout[k + 1]});
    }
    forEachValue(instruction,
                 [&](std::int64_t& v) { made.order.push_back(static_cast<std::int32_t>(v)); });
    made.number = static_cast<std::int32_t>(prototypes_.size());
    prototypes_.push_back(std::move(instruction));
    return made;
  }
  std::vector<FlatInstruction>& prototypes() { return prototypes_; }

 private:
  const std::vector<FlatInstruction>& plain_;
  std::unordered_map<std::vector<std::int64_t>, Entry, boost::hash<std::vector<std::int64_t>>>
      entries_;
  std::vector<FlatInstruction> prototypes_;
};

std::int32_t QueueNumbers::queue(const Engine& engine) const {
  const auto& [kind, row, column, channel] = engine;
  std::int64_t number = 0;
  switch (kind) {
    case EngineKind::Core:
      number = core(row, column) * ofCore_;
      break;
    case EngineKind::CoreOut:
      number = core(row, column) * ofCore_ + 1 + channel;
      break;
    case EngineKind::CoreIn:
      number = core(row, column) * ofCore_ + 1 + device_.core.channelsOut + channel;
      break;
    case EngineKind::DdrIn:
      number = memtile(column) + channel;
      break;
    case EngineKind::DdrOut:
      number = memtile(column) + device_.memtile.ddrChannelsIn + channel;
      break;
    case EngineKind::Wire:
      number = wire(column);
      break;
    case EngineKind::Sequencer:
      HEDDLE_CHECK(false) << "the sequencer touches no memory";
  }
  return static_cast<std::int32_t>(number);
}

Emission::Emission(const Device& device)
    : numbers_(device),
      queues_(static_cast<std::size_t>(numbers_.queues())),
      tileNames_(static_cast<std::size_t>(numbers_.tiles())),
      tiles_(static_cast<std::size_t>(numbers_.tiles())),
      tokens_(device.limits.lockMaximum.value_or(INT64_MAX)) {}

// Most instructions are like the one before them in their queue.
std::int32_t Emission::shapeOf(Queue& queue, const FlatInstruction& instruction) {
  thread_local StructureKey structure;
  const std::vector<std::int64_t>& key = structure.of(instruction);
  if (queue.last && queue.last->first == key) return queue.last->second;
  const auto [at, fresh] =
      shapeNumbers_.try_emplace(key, static_cast<std::int32_t>(shapes_.size()));
  if (fresh) shapes_.push_back(instruction);
  queue.last = &*at;
  return at->second;
}

void Emission::push(const Engine& engine, StepId step, const FlatInstruction& instruction,
                    std::span<const Access> accesses) {
  const std::int32_t number = numbers_.queue(engine);
  begin(number, step, instruction);
  take(instruction, queues_[static_cast<std::size_t>(number)]);
  append(number, engine, step, accesses);
}

void Emission::push(std::span<const Engine> cores, StepId step, const FlatInstruction& instruction,
                    std::span<Access> accesses) {
  for (const Engine& engine : cores) {
    const std::int32_t number = numbers_.queue(engine);
    begin(number, step, instruction);
    if (&engine == cores.data()) take(instruction, queues_[static_cast<std::size_t>(number)]);
    for (Access& access : accesses) access.tile = {TileKind::Core, engine.row, engine.column};
    append(number, engine, step, accesses);
  }
}

void Emission::begin(std::int32_t queue, StepId step, const FlatInstruction& instruction) {
  if (missing_ > 0) return;  // a receiver of what was begun with its Send
  meet(queue, instruction);
  if (nextFrame_)
    nextFrame_->begin(together_, firstStep_ + step.index);
  else
    tokens_.begin(together_, step.index);
}

void Emission::take(const FlatInstruction& instruction, Queue& queue) {
  if (nextFrame_) return;
  shape_ = shapeOf(queue, instruction);
  values_.clear();
  forEachValue(instruction, [&](std::int64_t v) { values_.push_back(v); });
}

// What take() has read last.
void Emission::append(std::int32_t number, const Engine& engine, StepId step,
                      std::span<const Access> accesses) {
  Queue& queue = queues_[static_cast<std::size_t>(number)];
  queue.engine = engine;
  if (!nextFrame_) {
    if (queue.steps.empty() || queue.steps.back().step != step.index) {
      HEDDLE_CHECK(queue.steps.empty() || queue.steps.back().step < step.index)
          << "a queue goes back to step " << step.index;
      queue.steps.push_back({step.index, queue.shapes.size()});
    }
    queue.shapes.push_back(shape_);
    queue.values.append(values_);
  }
  synchronize(number, step, accesses);
  if (--missing_ == 0) nextFrame_ ? nextFrame_->end() : tokens_.end();
}

// The queues that execute the instruction together.
void Emission::meet(std::int32_t queue, const FlatInstruction& instruction) {
  const auto add = [&](std::int32_t q) {
    together_.push_back({q, queues_[static_cast<std::size_t>(q)].told});
  };
  together_.clear();
  add(queue);
  if (const auto* send = transferOf(instruction, TransferKind::Send))
    for (const SendTo<std::int64_t>& to : send->to)
      for (std::int64_t row = to.row; row < to.row + to.rows; ++row)
        for (std::int64_t column = to.column; column < to.column + to.columns; ++column)
          add(numbers_.queue({EngineKind::CoreIn, static_cast<std::int32_t>(row),
                              static_cast<std::int32_t>(column),
                              static_cast<std::int32_t>(to.channel)}));
  missing_ = together_.size();
}

void Emission::synchronize(std::int32_t queue, StepId step, std::span<const Access> accesses) {
  const std::int32_t op = queues_[static_cast<std::size_t>(queue)].told++;
  // Tile by tile: an edge is a lock of the tile where both sides meet.
  for (std::size_t k = 0; k < accesses.size();) {
    const Tile& name = accesses[k].tile;
    const std::int32_t number = numbers_.tile(name);
    tileNames_[static_cast<std::size_t>(number)] = name;
    TileAccesses& memory = tiles_[static_cast<std::size_t>(number)];
    edges_.clear();
    // What a core computes mostly comes later than what was read in the steps before. What comes
    // ahead of its step waits for its own place alone.
    if (!nextFrame_ && name.kind == TileKind::Memtile &&
        queues_[static_cast<std::size_t>(queue)].engine.kind == EngineKind::CoreOut)
      tokens_.waitAtFirst(number, {queue, op, accesses[k].point, step.index});
    for (; k < accesses.size() && accesses[k].tile == name; ++k) {
      const AccessPoint point{queue, op, accesses[k].point, firstStep_ + step.index,
                              accesses[k].row};
      if (accesses[k].writes)
        memory.write(accesses[k].first, accesses[k].end, point, edges_);
      else
        memory.read(accesses[k].first, accesses[k].end, point, edges_);
    }
    for (const Edge& edge : edges_)
      nextFrame_ ? nextFrame_->require(number, edge) : tokens_.require(number, edge);
  }
}

// The engine relative to the tile: neighbours on the same side look the same from every tile.
Engine Emission::asSeenFrom(const Tile& tile, const Engine& engine) const {
  Engine seen = engine;
  if (engine.kind == EngineKind::Wire) {
    const auto column = columnOfWire_.find(engine.column);
    const bool known = column != columnOfWire_.end();
    seen.row = known ? 0 : engine.column;
    seen.column = known ? column->second - tile.column : 0;
    seen.channel = known ? 0 : 1;
  } else if (tile.kind == TileKind::Core) {
    seen.row = seen.column = 0;
  } else {
    seen.column -= tile.column;
  }
  return seen;
}

Emission::Role Emission::role(const DerivedLock& lock) const {
  const Tile& tile = tileNames_[static_cast<std::size_t>(lock.tile)];
  const Engine a = asSeenFrom(tile, queues_[static_cast<std::size_t>(lock.from)].engine);
  const Engine b = asSeenFrom(tile, queues_[static_cast<std::size_t>(lock.to)].engine);
  return {{static_cast<std::int64_t>(tile.kind), static_cast<std::int64_t>(a.kind), a.channel,
           static_cast<std::int64_t>(b.kind), b.channel, static_cast<std::int64_t>(lock.purpose)},
          {a.column, b.column, a.row, b.row}};
}

// All locks of a kind in a block of numbers with room for every place from the first to the last of
// each coordinate, so that the numbers are affine in them: neighbours look the same, and what
// engines in a rectangle do is one section. One after another where few of the places are taken.
// How many numbers a tile has, by its kind.
std::array<std::int64_t, 3> Emission::numberByPlace(const std::vector<Role>& roles) {
  struct Block {
    std::array<std::int64_t, 4> first{}, last{};
    std::map<std::array<std::int64_t, 4>, std::int64_t> numbers;  // by place
  };
  std::map<std::array<std::int64_t, 6>, Block> blocks;
  for (const Role& role : roles) {
    const auto [entry, fresh] = blocks.try_emplace(role.kind, Block{role.place, role.place, {}});
    Block& block = entry->second;
    for (std::size_t d = 0; d < role.place.size(); ++d) {
      block.first[d] = std::min(block.first[d], role.place[d]);
      block.last[d] = std::max(block.last[d], role.place[d]);
    }
    block.numbers[role.place] = 0;
  }
  std::array<std::int64_t, 3> next{};
  for (auto& [kind, block] : blocks) {
    std::int64_t& base = next[static_cast<std::size_t>(kind[0])];
    std::int64_t size = 1, number = base;
    for (std::size_t d = 0; d < block.first.size(); ++d) size *= block.last[d] - block.first[d] + 1;
    const bool hasRoom = size <= kMostRoom * std::ssize(block.numbers);
    for (auto& [place, its] : block.numbers) {
      std::int64_t inBlock = 0;
      for (std::size_t d = 0; d < place.size(); ++d)
        inBlock = inBlock * (block.last[d] - block.first[d] + 1) + place[d] - block.first[d];
      its = hasRoom ? base + inBlock : number++;
    }
    base += hasRoom ? size : std::ssize(block.numbers);
  }
  lockIndex_.clear();
  for (const Role& role : roles)
    lockIndex_.push_back(static_cast<std::int32_t>(blocks.at(role.kind).numbers.at(role.place)));
  return next;
}

// By role; densely in each tile of a kind that has too few locks for all places.
void Emission::numberLocks(Program& program, const Limits& limits) {
  std::vector<Role> roles;
  for (const DerivedLock& lock : tokens_.locks()) roles.push_back(role(lock));
  const std::array<std::int64_t, 3> numbers = numberByPlace(roles);
  const auto isDense = [&](TileKind kind) {
    const auto& limit = kind == TileKind::Core ? limits.coreLocks : limits.memtileLocks;
    return numbers[static_cast<std::size_t>(kind)] > limit.value_or(kMaxLockIndex);
  };
  std::map<std::int32_t, std::vector<std::pair<Role, std::size_t>>> dense;  // per tile
  for (std::size_t k = 0; k < roles.size(); ++k) {
    const DerivedLock& lock = tokens_.locks()[k];
    if (isDense(tileNames_[static_cast<std::size_t>(lock.tile)].kind))
      dense[lock.tile].push_back({roles[k], k});
  }
  for (auto& [tile, locks] : dense) {
    std::sort(locks.begin(), locks.end());
    for (std::size_t n = 0; n < locks.size(); ++n)
      lockIndex_[locks[n].second] = static_cast<std::int32_t>(n);
  }
  for (std::size_t k = 0; k < tokens_.locks().size(); ++k) {
    const DerivedLock& lock = tokens_.locks()[k];
    program.locks.push_back({tileNames_[static_cast<std::size_t>(lock.tile)], lockIndex_[k],
                             lock.initial, queues_[static_cast<std::size_t>(lock.from)].engine,
                             queues_[static_cast<std::size_t>(lock.to)].engine});
  }
  std::sort(program.locks.begin(), program.locks.end(), [](const Lock& a, const Lock& b) {
    return std::tie(a.tile, a.index) < std::tie(b.tile, b.index);
  });
}

void Emission::addToRoller(const Queue& queue, std::vector<TokenUse>& uses, LockedShapes& shapes,
                           Roller& roller) const {
  for (TokenUse& use : uses) use.lock = lockIndex_[static_cast<std::size_t>(use.lock)];
  sortUses(uses, queue.shapes.size());
  std::vector<FlatOp> ops;                   // of a step
  std::vector<std::int64_t> values;          // likewise
  std::vector<std::int64_t> layout, before;  // of this instruction, of the one before
  const LockedShapes::Entry* entry = nullptr;
  std::size_t use = 0, firstValue = 0;
  for (std::size_t s = 0; s < queue.steps.size(); ++s) {
    ops.clear();
    values.clear();
    const std::size_t end =
        s + 1 < queue.steps.size() ? queue.steps[s + 1].firstOp : queue.shapes.size();
    for (std::size_t i = queue.steps[s].firstOp; i < end; ++i) {
      layout.assign(1, queue.shapes[i]);
      const std::size_t firstUse = use;
      for (; use < uses.size() && uses[use].op == static_cast<std::int32_t>(i); ++use) {
        layout.push_back(2 * uses[use].end + uses[use].release);
        layout.push_back(uses[use].count);
      }
      if (!entry || layout != before) entry = &shapes.entry(layout);
      before.swap(layout);
      const std::size_t plain = entry->order.size() - (use - firstUse);
      ops.push_back({entry->number, values.size()});
      for (std::int32_t source : entry->order) {
        const auto k = static_cast<std::size_t>(source);
        values.push_back(k < plain ? queue.values[firstValue + k]
                                   : uses[firstUse + k - plain].lock);
      }
      firstValue += plain;
    }
    roller.add(StepId(static_cast<std::size_t>(queue.steps[s].step)), queue.engine, ops, values);
  }
}

void Emission::tellAgain(std::int32_t steps) {
  tokens_.finish(tiles_);
  std::vector<std::int32_t> lengths;
  for (const Queue& queue : queues_) lengths.push_back(queue.told);
  nextFrame_.emplace(tokens_, std::move(lengths));
  firstStep_ = steps;
}

void Emission::finish(Program& program, const Limits& limits) {
  HEDDLE_CHECK(missing_ == 0) << "a transfer lacks " << missing_ << " of its receivers";
  if (nextFrame_)
    nextFrame_->finish();
  else
    tokens_.finish(tiles_);
  numberLocks(program, limits);
  tokens_.order() = {};
  tiles_ = {};
  LockedShapes shapes(shapes_);
  Roller roller(shapes.prototypes());
  // What a queue was told is given up as soon as it is rolled.
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const Queue queue = std::move(queues_[q]);
    std::vector<TokenUse> uses = std::move(tokens_.usesOf(static_cast<std::int32_t>(q)));
    addToRoller(queue, uses, shapes, roller);
  }
  program.sections = roller.sections();
}

}  // namespace heddle
