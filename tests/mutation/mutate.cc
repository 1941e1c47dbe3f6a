#include "mutate.h"

#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "heddle/program/names.h"
#include "heddle/program/visit.h"
#include "heddle/support/check.h"

namespace heddle::mutation {
namespace {

// One thing that can be changed.
struct Site {
  const char* kind;
  std::string what;
  std::function<void()> change;
};

class Mutator {
 public:
  Mutator(Program& program, std::uint64_t seed) : program_(program), random_(seed) {}

  // Changes one thing; what it was.
  std::pair<std::string, std::string> run() {
    collectItems();
    switch (pick(10)) {
      case 0:
        changeLock();
        break;
      case 1:
        changeOrder();
        break;
      case 2:
        changeLoop();
        break;
      case 3:
        changeBuffer();
        break;
      case 4:
        changeRecord();
        break;
      case 5:
        changeSampling();
        if (sites_.empty()) changeInstruction();
        break;
      default:
        changeInstruction();
        break;
    }
    if (sites_.empty()) return {};
    Site& site = sites_[pick(sites_.size())];
    site.change();
    return {site.kind, site.what};
  }

 private:
  std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  std::int64_t sign() { return pick(2) == 0 ? 1 : -1; }

  void collectItems() {
    for (Section& s : program_.sections) {
      collect(s.items);
      queues_.resize(bodies_.size(), word(s.engines.kind));
      layers_.resize(instructions_.size(), program_.layers[program_.layerOf(s.step).at()].name);
    }
  }
  void collect(std::vector<Item>& items) {
    bodies_.push_back(&items);
    for (Item& item : items) {
      if (Loop* loop = std::get_if<Loop>(&item.as)) {
        loops_.push_back(loop);
        collect(loop->body);
      } else {
        instructions_.push_back(&std::get<Instruction>(item.as));
      }
    }
  }

  void add(const char* kind, const std::string& what, std::function<void()> change) {
    sites_.push_back({kind, where_ + what, std::move(change)});
  }
  void addNumber(const char* kind, const std::string& name, std::int64_t& number,
                 std::int64_t step) {
    const std::int64_t by = sign() * step;
    add(kind, name + (by > 0 ? " + " : " - ") + std::to_string(step),
        [&number, by] { number += by; });
  }
  void addAffine(const char* kind, const std::string& name, Affine& affine, std::int64_t step) {
    addNumber(kind, name, affine.base, step);
    if (affine.row != 0) addNumber(kind, name + ", its row's factor", affine.row, step);
    if (affine.column != 0) addNumber(kind, name + ", its column's factor", affine.column, step);
    for (std::int64_t& factor : affine.loop)
      if (factor != 0) addNumber(kind, name + ", a loop's factor", factor, step);
  }

  void changeLock() {
    if (program_.locks.empty()) return;
    Lock& lock = program_.locks[pick(program_.locks.size())];
    where_ = "lock " + std::to_string(lock.index) + ": ";
    addNumber("lock initial", "initial value", lock.initial, 1);
  }

  void changeOrder() {
    const std::size_t number = pick(bodies_.size());
    std::vector<Item>& body = *bodies_[number];
    if (body.size() < 2) return;
    const std::size_t i = pick(body.size() - 1);
    where_ = "queue of a " + std::string(queues_[number]) + ": ";
    add("order", "items " + std::to_string(i) + " and the next change places",
        [&body, i] { std::swap(body[i], body[i + 1]); });
    add("order", "item " + std::to_string(i) + " is missing",
        [&body, i] { body.erase(body.begin() + static_cast<std::ptrdiff_t>(i)); });
    add("order", "item " + std::to_string(i) + " comes twice",
        [&body, i] { body.insert(body.begin() + static_cast<std::ptrdiff_t>(i), Item(body[i])); });
  }

  void changeLoop() {
    if (loops_.empty()) return;
    where_ = "a loop: ";
    addNumber("loop count", "iterations", loops_[pick(loops_.size())]->count, 1);
  }

  // Where it ends early, begins late, or is declared for too few tiles or layers.
  void changeBuffer() {
    if (program_.buffers.empty()) return;
    Buffer& b = program_.buffers[pick(program_.buffers.size())];
    where_ = "buffer '" + b.name + "': ";
    add("buffer", "size - 8", [&b] { b.size -= 8; });
    add("buffer", "address + 8", [&b] { b.address += 8; });
    if (b.tiles.rows > 1) add("buffer", "rows - 1", [&b] { --b.tiles.rows; });
    if (b.tiles.columns > 1) add("buffer", "columns - 1", [&b] { --b.tiles.columns; });
    if (b.first < b.last) {
      add("buffer", "a layer too late", [&b] { ++b.first.index; });
      add("buffer", "a layer too short", [&b] { --b.last.index; });
    }
  }

  // Which pixels of its root a tensor has.
  void changeSampling() {
    for (ProgramTensor& t : program_.tensors) {
      if (!t.sampling) continue;
      where_ = "tensor '" + t.name + "': ";
      for (Steps* steps : {&t.sampling->rows, &t.sampling->columns}) {
        addNumber("sampling", "first", steps->first, 1);
        addNumber("sampling", "step", steps->step, 1);
      }
      addNumber("sampling", "block in its root", t.rootBlock, 1);
    }
  }

  void changeRecord() {
    if (program_.records.empty()) return;
    const std::size_t number = pick(program_.records.size());
    WeightRecord& r = program_.records[number];
    where_ = "record " + std::to_string(number) + ": ";
    addNumber("weights", "offset", r.offset, 8);
    addNumber("weights", "bytes", r.bytes, 8);
    if (r.kept > 0) addNumber("weights", "kept blocks", r.kept, 1);
    if (r.padding > 0) addNumber("weights", "padding", r.padding, 8);
  }

  void changeInstruction() {
    const std::size_t number = pick(instructions_.size());
    where_ = "instruction " + std::to_string(number) + " (" +
             std::string(mnemonic(*instructions_[number], program_)) + ") of " + layers_[number] +
             ": ";
    std::visit([&](auto& i) { sitesOf(i); }, instructions_[number]->as);
  }

  // ---- instructions ----

  void sitesOf(Start& i) { addNumberOf("sequencer", "channel of START", i.channel.channel); }
  void sitesOf(Wait<Affine>& i) {
    addAffine("sequencer", "entry of WAIT", i.entry, 1);
    addNumberOf("sequencer", "channel of WAIT", i.channel.channel);
  }
  void sitesOf(Transfer<Affine>& i) {
    if (i.form().namesMemtile()) addAffine("route", "memtile of the transfer", i.memtile, 1);
    for (SendTo<Affine>& to : i.to) {
      addAffine("route", "row of a receiver", to.row, 1);
      addAffine("route", "column of a receiver", to.column, 1);
      addNumber("route", "rows of receivers", to.rows, 1);
      addNumber("route", "columns of receivers", to.columns, 1);
      addNumber("route", "channel of receivers", to.channel, 1);
    }
    if (i.kind == TransferKind::Receive) addAffine("route", "wire", i.wire, 1);
    if (i.form().source) sitesOf(i.source, "source");
    if (i.form().destination) sitesOf(i.destination, "destination");
    for (MemtileEnd<Affine>& d : i.further) {
      addAffine("route", "memtile of a further destination", d.memtile, 1);
      sitesOf(d.end, "destination");
    }
    sitesOf(i.part);
  }
  void sitesOf(Call<Affine>& i) {
    for (RowRing<Affine>& ring : i.inputs) sitesOf(ring);
    if (i.weights) sitesOf(*i.weights, "weights");
    if (i.weights) addAffine("weights", "number of the record", i.record, 1);
    if (i.accumulator) {
      addAffine("address", "accumulator", *i.accumulator, 8);
      add("reduction", "init", [&i] { i.init = !i.init; });
      add("reduction", "finish", [&i] { i.finish = !i.finish; });
    }
    if (i.output) sitesOf(*i.output, "output");
    sitesOf(i.part);
    sitesOf(i.acquire, "acquire");
    sitesOf(i.release, "release");
  }

  // ---- operands ----

  void sitesOf(RowRing<Affine>& ring) {
    addAffine("address", "base of a ring", ring.base, 8);
    addAffine("ring", "offset of a ring", ring.ringOffset, 1);
    addAffine("ring", "row of a ring", ring.row, 1);
    addAffine("ring", "column of a ring", ring.column, 1);
    addAffine("ring", "origin of a ring", ring.origin, 1);
    addAffine("ring", "block of a ring", ring.block, 1);
    addNumber("ring", "bytes of a ring's row", ring.rowBytes, 8);
    addNumber("ring", "rows of a ring", ring.length, 1);
    addNumber("ring", "columns of a ring", ring.columns, 1);
    addNumber("ring", "blocks of a ring", ring.blocks, 1);
  }
  void sitesOf(Address<Affine>& a, const std::string& name) {
    addAffine("address", "base of the " + name, a.base, 8);
    if (a.slots == 1) return;
    addAffine("address", "slot of the " + name, a.slot, 1);
    addNumber("address", "distance of the slots of the " + name, a.slotStride, 8);
    addNumber("address", "number of slots of the " + name, a.slots, 1);
  }
  void sitesOf(End<Affine>& e, const std::string& name) {
    sitesOf(e.address, name);
    if (e.pattern.run > 0) addNumber("size", "run of the " + name, e.pattern.run, 8);
    for (Dimension& d : e.pattern.dimensions) {
      addNumber("size", "count of a dimension of the " + name, d.count, 1);
      addNumber("address", "stride of a dimension of the " + name, d.stride, 8);
    }
    sitesOf(e.acquire, "acquire of the " + name);
    sitesOf(e.release, "release of the " + name);
  }
  void sitesOf(std::vector<LockUse<Affine>>& uses, const std::string& name) {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      addNumber("lock count", "count of an " + name, uses[i].count, 1);
      addAffine("lock index", "lock of an " + name, uses[i].lock, 1);
      add("lock count", "an " + name + " is missing",
          [&uses, i] { uses.erase(uses.begin() + static_cast<std::ptrdiff_t>(i)); });
    }
  }
  void sitesOf(Part<Affine>& part) {
    const bool weights = part.content == Content::Weights;
    addAffine("part", weights ? "record of the part" : "row of the part", part.y, 1);
    if (weights) return;
    addNumber("part", "rows of the part", part.rows, 1);
    addAffine("part", "block of the part", part.block, 1);
    addAffine("part", "column of the part", part.x, 1);
    addNumber("part", "blocks of the part", part.blocks, 1);
    addNumber("part", "columns of the part", part.columns, 1);
    for (const std::int32_t by : {1, -1})
      add("part", by > 0 ? "the next tensor" : "the tensor before",
          [&part, by] { part.tensor.index += by; });
  }
  void addNumberOf(const char* kind, const std::string& name, std::int32_t& number) {
    const std::int32_t by = static_cast<std::int32_t>(sign());
    add(kind, name + (by > 0 ? " + 1" : " - 1"), [&number, by] { number += by; });
  }

  Program& program_;
  std::mt19937_64 random_;
  std::vector<std::vector<Item>*> bodies_;
  std::vector<std::string_view> queues_;  // whose they are
  std::vector<Loop*> loops_;
  std::vector<Instruction*> instructions_;
  std::vector<std::string> layers_;  // of the instructions
  std::vector<Site> sites_;
  std::string where_;
};

bool wellFormed(const std::vector<Item>& items) {
  for (const Item& item : items)
    if (const Loop* loop = std::get_if<Loop>(&item.as);
        loop != nullptr && (loop->count < 1 || loop->body.empty() || !wellFormed(loop->body)))
      return false;
  return true;
}

// Slots are a way to write addresses: two ways that give the same address are the same.
void foldSlots(Address<std::int64_t>& a) {
  if (a.slots == 1 || (a.slots > 1 && a.slot >= 0)) a = {byteAddress(a), 0, 0, 1};
}
void foldSlots(FlatInstruction& instruction) {
  std::visit(
      [](auto& i) {
        if constexpr (requires { i.form(); }) {
          foldSlots(i.source.address);
          foldSlots(i.destination.address);
          for (auto& d : i.further) foldSlots(d.end.address);
        }
        if constexpr (requires { i.record; }) {
          if (i.weights) foldSlots(*i.weights);
          if (i.output) foldSlots(*i.output);
        }
      },
      instruction.as);
}

// Whether some engine executes something else in `b` than in `a`.
bool differ(const Program& a, const Program& b) {
  if (a.locks != b.locks || a.buffers != b.buffers || a.records != b.records ||
      a.tensors != b.tensors)
    return true;
  for (const Section& s : b.sections)
    if (!wellFormed(s.items)) return true;
  for (const Engine& engine : enginesOf(a)) {
    QueueCursor x(a, engine), y(b, engine);
    for (; !x.done() && !y.done(); x.next(), y.next()) {
      FlatInstruction one = x.evaluated(), other = y.evaluated();
      foldSlots(one);
      foldSlots(other);
      if (one != other) return true;
    }
    if (x.done() != y.done()) return true;
  }
  return false;
}

}  // namespace

Mutation mutate(const Program& program, std::uint64_t seed) {
  constexpr std::uint64_t kTries = 1000;
  for (std::uint64_t i = 0; i < kTries; ++i) {
    Mutation m{program, {}, {}};
    std::tie(m.kind, m.what) = Mutator(m.program, seed * kTries + i).run();
    if (!m.kind.empty() && differ(program, m.program)) return m;
  }
  HEDDLE_CHECK(false) << "nothing in this program can be changed";
  return {};
}

}  // namespace heddle::mutation
