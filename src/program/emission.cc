#include "emission.h"

#include <algorithm>
#include <set>

#include "heddle/program/visit.h"
#include "heddle/support/check.h"
#include "roll.h"

namespace heddle {
namespace {

// All of an instruction but its numbers, as a key: equal keys are equal but for the numbers.
class StructureKey {
 public:
  std::vector<std::int64_t> of(const FlatInstruction& instruction) {
    key_.clear();
    add(instruction.as.index());
    std::visit([&](const auto& i) { fields(i); }, instruction.as);
    return key_;
  }

 private:
  template <class T>
  void add(T value) {
    key_.push_back(static_cast<std::int64_t>(value));
  }
  void add(const Engine& e) {
    add(e.kind);
    add(e.row);
    add(e.column);
    add(e.channel);
  }
  void add(const Address<std::int64_t>& a) {
    add(a.slotStride);
    add(a.slots);
  }
  void add(const End<std::int64_t>& e) {
    add(e.address);
    add(e.pattern.dimensions.size());
    for (const Dimension& d : e.pattern.dimensions) {
      add(d.count);
      add(d.stride);
    }
    add(e.pattern.run);
  }
  void add(const Part<std::int64_t>& p) {
    add(p.content);
    add(p.tensor.index);
    add(p.rows);
    add(p.blocks);
    add(p.columns);
  }
  void fields(const Start& i) { add(i.channel); }
  void fields(const Wait<std::int64_t>& i) { add(i.channel); }
  void fields(const Load<std::int64_t>& i) {
    add(i.source);
    add(i.destination);
    add(i.part);
  }
  void fields(const Write<std::int64_t>& i) {
    add(i.source);
    add(i.destination);
    add(i.part);
  }
  void fields(const Send<std::int64_t>& i) {
    add(i.source);
    add(i.to.size());
    for (const auto& t : i.to) {
      add(t.rows);
      add(t.columns);
      add(t.channel);
    }
    add(i.part);
  }
  void fields(const Receive<std::int64_t>& i) {
    add(i.destination);
    add(i.part);
  }
  void fields(const WriteFm<std::int64_t>& i) {
    add(i.source);
    add(i.destinations.size());
    for (const auto& d : i.destinations) add(d.end);
    add(i.part);
  }
  void fields(const Call<std::int64_t>& i) {
    add(i.kernel.index);
    add(i.inputs.size());
    for (const auto& r : i.inputs) {
      add(r.tensor.index);
      add(r.rowBytes);
      add(r.length);
      add(r.columns);
      add(r.blocks);
      add(r.absent);
    }
    add(i.weights.has_value());
    if (i.weights) add(*i.weights);
    add(i.weightBytes);
    add(i.keptBlocks);
    add(i.accumulator.has_value());
    add(i.init);
    add(i.finish);
    add(i.output.has_value());
    if (i.output) add(*i.output);
    add(i.part);
  }
  std::vector<std::int64_t> key_;
};

struct LockLists {
  std::vector<LockUse<std::int64_t>>*acquire, *release;
};

// The locks of end `point` (Access::point) of an instruction.
LockLists locksOf(FlatInstruction& instruction, std::int32_t point) {
  auto of = [](auto& end) { return LockLists{&end.acquire, &end.release}; };
  if (auto* load = std::get_if<Load<std::int64_t>>(&instruction.as)) return of(load->destination);
  if (auto* write = std::get_if<Write<std::int64_t>>(&instruction.as)) return of(write->source);
  if (auto* send = std::get_if<Send<std::int64_t>>(&instruction.as)) return of(send->source);
  if (auto* receive = std::get_if<Receive<std::int64_t>>(&instruction.as))
    return of(receive->destination);
  if (auto* out = std::get_if<WriteFm<std::int64_t>>(&instruction.as))
    return point == 0 ? of(out->source)
                      : of(out->destinations[static_cast<std::size_t>(point - 1)].end);
  auto* call = std::get_if<Call<std::int64_t>>(&instruction.as);
  HEDDLE_CHECK(call) << "an instruction without memory takes no lock";
  return of(*call);
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

  // `layout`: plain shape, then per mark 2 * end + release.
  const Entry& entry(const std::vector<std::int32_t>& layout) {
    const auto inserted = entries_.try_emplace(layout);
    Entry& made = inserted.first->second;
    if (!inserted.second) return made;
    FlatInstruction instruction = plain_[static_cast<std::size_t>(layout[0])];
    std::int64_t n = 0;
    forEachValue(instruction, [&](std::int64_t& v) { v = n++; });
    for (std::size_t k = 1; k < layout.size(); ++k) {
      const LockLists locks = locksOf(instruction, layout[k] / 2);
      (layout[k] % 2 ? locks.release : locks.acquire)->push_back({n++, 1});
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
  std::map<std::vector<std::int32_t>, Entry> entries_;
  std::vector<FlatInstruction> prototypes_;
};

std::int32_t Emission::queueOf(const Engine& engine) {
  const auto [at, fresh] =
      queueNumbers_.try_emplace(engine, static_cast<std::int32_t>(queues_.size()));
  if (fresh) queues_.push_back({engine, {}, {}, {}});
  return at->second;
}

std::int32_t Emission::shapeOf(const FlatInstruction& instruction) {
  thread_local StructureKey key;
  const auto [at, fresh] =
      shapeNumbers_.try_emplace(key.of(instruction), static_cast<std::int32_t>(shapes_.size()));
  if (fresh) shapes_.push_back(instruction);
  return at->second;
}

void Emission::push(const Engine& engine, StepId step, const FlatInstruction& instruction,
                    std::span<const Access> accesses) {
  const std::int32_t number = queueOf(engine);
  const std::int32_t shape = shapeOf(instruction);
  Queue& queue = queues_[static_cast<std::size_t>(number)];
  queue.ops.push_back({shape, step.index, queue.values.size()});
  forEachValue(instruction, [&](std::int64_t v) { queue.values.push_back(v); });
  synchronize(number, accesses);
}

void Emission::synchronize(std::int32_t queue, std::span<const Access> accesses) {
  const auto op =
      static_cast<std::int32_t>(queues_[static_cast<std::size_t>(queue)].ops.size()) - 1;
  // Tile by tile: an edge is a lock of the tile where both sides meet.
  for (std::size_t k = 0; k < accesses.size();) {
    const Tile& name = accesses[k].tile;
    const auto [at, fresh] =
        tileNumbers_.try_emplace(name, static_cast<std::int32_t>(tiles_.size()));
    if (fresh) {
      tileNames_.push_back(name);
      tiles_.emplace_back();
    }
    const std::int32_t tile = at->second;
    edges_.clear();
    for (; k < accesses.size() && accesses[k].tile == name; ++k) {
      const AccessPoint point{queue, op, accesses[k].point};
      TileAccesses& memory = tiles_[static_cast<std::size_t>(tile)];
      if (accesses[k].writes)
        memory.write(accesses[k].first, accesses[k].end, point, edges_);
      else
        memory.read(accesses[k].first, accesses[k].end, point, edges_);
    }
    for (const Edge& e : edges_) {
      queues_[static_cast<std::size_t>(e.from.queue)].marks.push_back(
          {e.from.op, e.from.end, tile, e.from.queue, e.to.queue, true});
      queues_[static_cast<std::size_t>(queue)].marks.push_back(
          {op, e.to.end, tile, e.from.queue, e.to.queue, false});
    }
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

Emission::Role Emission::role(const Tile& tile, std::int32_t from, std::int32_t to) const {
  const Engine a = asSeenFrom(tile, queues_[static_cast<std::size_t>(from)].engine);
  const Engine b = asSeenFrom(tile, queues_[static_cast<std::size_t>(to)].engine);
  return {static_cast<std::int64_t>(tile.kind),
          static_cast<std::int64_t>(a.kind),
          a.column,
          a.channel,
          static_cast<std::int64_t>(b.kind),
          b.column,
          b.channel,
          a.row,
          b.row};
}

// By role, so that neighbours look the same; densely in each tile of a kind that has too few locks
// for all roles.
void Emission::numberLocks(Program& program, const Limits& limits) {
  std::set<LockName> names;
  for (const Queue& queue : queues_)
    for (const LockMark& m : queue.marks) names.insert({m.tile, m.from, m.to});
  std::map<Role, std::int32_t> roles;
  for (const auto& [tile, from, to] : names)
    roles[role(tileNames_[static_cast<std::size_t>(tile)], from, to)] = 0;
  std::map<std::int64_t, std::int32_t> next;  // per kind of tile
  for (auto& [r, number] : roles) number = next[r[0]]++;
  const auto tooMany = [&](TileKind kind) {
    const auto& limit = kind == TileKind::Core ? limits.coreLocks : limits.memtileLocks;
    return limit && next[static_cast<std::int64_t>(kind)] > *limit;
  };
  const bool denseCores = tooMany(TileKind::Core), denseMemtiles = tooMany(TileKind::Memtile);
  std::vector<std::pair<Role, LockName>> ofTile;
  for (auto name = names.begin(); name != names.end();) {
    const std::int32_t tile = (*name)[0];
    const Tile& where = tileNames_[static_cast<std::size_t>(tile)];
    ofTile.clear();
    for (; name != names.end() && (*name)[0] == tile; ++name)
      ofTile.push_back({role(where, (*name)[1], (*name)[2]), *name});
    std::sort(ofTile.begin(), ofTile.end());
    const bool dense = where.kind == TileKind::Core ? denseCores : denseMemtiles;
    for (std::size_t k = 0; k < ofTile.size(); ++k) {
      const auto& [lockRole, lock] = ofTile[k];
      const std::int32_t number = dense ? static_cast<std::int32_t>(k) : roles.at(lockRole);
      lockNumbers_[lock] = number;
      program.locks.push_back({where, number, 0, queues_[static_cast<std::size_t>(lock[1])].engine,
                               queues_[static_cast<std::size_t>(lock[2])].engine});
    }
  }
  std::sort(program.locks.begin(), program.locks.end(), [](const Lock& a, const Lock& b) {
    return std::tie(a.tile, a.index) < std::tie(b.tile, b.index);
  });
}

void Emission::addToRoller(const Queue& queue, LockedShapes& shapes, Roller& roller) const {
  struct Numbered {
    std::int32_t op, end, release, lock;
    auto operator<=>(const Numbered&) const = default;
  };
  std::vector<Numbered> marks;
  marks.reserve(queue.marks.size());
  for (const LockMark& m : queue.marks)
    marks.push_back({m.op, m.end, m.release, lockNumbers_.at({m.tile, m.from, m.to})});
  std::sort(marks.begin(), marks.end());
  std::vector<FlatOp> ops;
  std::vector<std::int64_t> values;
  std::vector<std::int32_t> layout;
  std::size_t mark = 0;
  for (std::size_t i = 0; i < queue.ops.size(); ++i) {
    const Op& op = queue.ops[i];
    layout.assign(1, op.shape);
    const std::size_t firstMark = mark;
    for (; mark < marks.size() && marks[mark].op == static_cast<std::int32_t>(i); ++mark)
      layout.push_back(2 * marks[mark].end + marks[mark].release);
    const LockedShapes::Entry& entry = shapes.entry(layout);
    const std::size_t plain = entry.order.size() - (mark - firstMark);
    ops.push_back({entry.number, values.size()});
    for (std::int32_t source : entry.order) {
      const auto k = static_cast<std::size_t>(source);
      values.push_back(k < plain ? queue.values[op.firstValue + k]
                                 : marks[firstMark + k - plain].lock);
    }
  }
  for (std::size_t first = 0; first < ops.size();) {
    HEDDLE_CHECK(first == 0 || queue.ops[first - 1].step < queue.ops[first].step)
        << "a queue goes back to step " << queue.ops[first].step;
    std::size_t end = first;
    while (end < ops.size() && queue.ops[end].step == queue.ops[first].step) ++end;
    roller.add(StepId(static_cast<std::size_t>(queue.ops[first].step)), queue.engine,
               std::span(ops).subspan(first, end - first), values);
    first = end;
  }
}

void Emission::finish(Program& program, const Limits& limits) {
  numberLocks(program, limits);
  LockedShapes shapes(shapes_);
  Roller roller(shapes.prototypes());
  for (const Queue& queue : queues_) addToRoller(queue, shapes, roller);
  program.sections = roller.sections();
}

}  // namespace heddle
