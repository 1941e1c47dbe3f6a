// The Simulation's queues: from one instruction to the next, and what the one at the head needs.
#include "fault.h"
#include "heddle/support/check.h"
#include "simulation.h"

namespace heddle::machine {

void Simulation::begin() {
  for (EngineIndex e = 0; e < static_cast<EngineIndex>(engines_.size()); ++e) {
    seek(state(e));
    arrive(e);
  }
}

bool Simulation::seek(EngineState& s) {
  const auto& sections = x_.sectionsOf[static_cast<std::size_t>(&s - engines_.data())];
  bool leftItem = false;
  for (;;) {
    if (s.section == sections.size()) {
      if (s.frame + 1 < x_.program->frames && !sections.empty()) {
        ++s.frame;
        s.section = 0;
        continue;
      }
      s.leaf = -1;
      return leftItem;
    }
    const SectionCode& section = x_.sections[static_cast<std::size_t>(sections[s.section])];
    const std::vector<Code>& code = section.code;
    const bool skipped = section.lastFrame && s.frame + 1 < x_.program->frames;
    if (skipped || s.at == static_cast<std::int32_t>(code.size())) {
      ++s.section;
      s.at = 0;
      continue;
    }
    const Code& c = code[static_cast<std::size_t>(s.at)];
    switch (c.kind) {
      case Code::Kind::Leaf:
        s.leaf = c.target;
        return leftItem;
      case Code::Kind::Begin:
        s.counters[static_cast<std::size_t>(s.depth++)] = 0;
        ++s.at;
        break;
      case Code::Kind::End:
        if (++s.counters[static_cast<std::size_t>(s.depth) - 1] < c.count) {
          s.at = c.target + 1;
        } else {
          --s.depth;
          ++s.at;
          if (s.depth == 0) leftItem = true;
        }
        break;
    }
  }
}

// To the next instruction of the queue; whether the one left was the last of its entry.
bool Simulation::advance(EngineIndex e) {
  EngineState& s = state(e);
  const bool top = s.depth == 0;
  ++s.at;
  const bool left = seek(s) || top;
  if (left) ++s.entry;
  return left;
}

// The engine has reached the head of its queue: what this instruction needs is looked up once.
void Simulation::arrive(EngineIndex e) {
  EngineState& s = state(e);
  s.ready = now_;
  s.blocked = {};
  s.partners.clear();
  if (s.leaf < 0) return;
  const Leaf& leaf = leafOf(s);
  resolveLocks(e);
  s.work = workOf(e);
  switch (leaf.op) {
    case Op::Start:
      s.channel = x_.indexOf(std::get<Start>(leaf.instruction->as).channel);
      break;
    case Op::Wait: {
      const auto& wait = std::get<Wait<Affine>>(leaf.instruction->as);
      s.channel = x_.indexOf(wait.channel);
      s.waitEntry = value(wait.entry, e);
      if (const std::int64_t entries = state(s.channel).entries; s.waitEntry < entries)
        s.waitEntry += s.frame * entries;
      break;
    }
    case Op::Send:
      resolvePartners(e, std::get<Transfer<Affine>>(leaf.instruction->as));
      break;
    case Op::Receive: {
      const auto& receive = std::get<Transfer<Affine>>(leaf.instruction->as);
      s.partners.push_back(static_cast<EngineIndex>(x_.numbers.wire(value(receive.wire, e))));
      break;
    }
    case Op::Move:
    case Op::Call:
      break;
  }
  queueAttempt(e);
}

Work Simulation::workOf(EngineIndex e) const {
  const Leaf& leaf = leafOf(state(e));
  if (!leaf.record) return leaf.work;
  return workWith(x_, leaf, value(*leaf.record, e));
}

void Simulation::resolveLocks(EngineIndex e) {
  EngineState& s = state(e);
  s.acquire.clear();
  s.release.clear();
  for (const LockTerm& term : leafOf(s).acquire) need(e, term, s.acquire);
  for (const LockTerm& term : leafOf(s).release) need(e, term, s.release);
}

Tile Simulation::tileOf(EngineIndex e, const LockTerm& term) const {
  const Engine& engine = x_.engine(e);
  const auto memtile = [](std::int64_t id) {
    return Tile{TileKind::Memtile, 0, static_cast<std::int32_t>(id)};
  };
  if (term.memtile >= 0)
    return memtile(value(leafOf(state(e)).memtiles[static_cast<std::size_t>(term.memtile)], e));
  return isDdr(engine) ? memtile(engine.column) : Tile{TileKind::Core, engine.row, engine.column};
}

void Simulation::need(EngineIndex e, const LockTerm& term, std::vector<LockNeed>& needs) const {
  const std::int32_t lock = x_.lockTable.find(tileOf(e, term), value(term.lock, e));
  HEDDLE_CHECK(lock >= 0) << whereIs(e) << " uses a lock that is not declared";
  for (LockNeed& known : needs)
    if (known.lock == lock) {
      known.count += term.count;
      return;
    }
  needs.push_back({lock, term.count});
}

void Simulation::resolvePartners(EngineIndex e, const Transfer<Affine>& send) {
  for (const SendTo<Affine>& to : send.to) {
    const std::int64_t row = value(to.row, e), column = value(to.column, e);
    for (std::int64_t r = row; r < row + to.rows; ++r)
      for (std::int64_t c = column; c < column + to.columns; ++c)
        state(e).partners.push_back(
            x_.indexOf({EngineKind::CoreIn, static_cast<std::int32_t>(r),
                        static_cast<std::int32_t>(c), static_cast<std::int32_t>(to.channel)}));
  }
}

std::string Simulation::whereIs(EngineIndex e) const {
  const EngineState& s = state(e);
  std::string text = "cycle " + std::to_string(now_) + ", " + nameOf(x_.engine(e), *x_.device);
  if (s.leaf >= 0) text += ", " + nameOfLeaf(x_, s.leaf);
  return text;
}

}  // namespace heddle::machine
