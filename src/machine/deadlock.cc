// What the Machine says when nothing can move any more, and when the program has ended with tokens
// missing.
#include <algorithm>
#include <vector>

#include "fault.h"
#include "simulation.h"

namespace heddle::machine {

std::string Simulation::whereIs(EngineIndex e) const {
  const EngineState& s = state(e);
  std::string text = "cycle " + std::to_string(now_) + ", " +
                     nameOf(x_.engines[static_cast<std::size_t>(e)], *x_.device);
  if (s.leaf >= 0) text += ", " + nameOfLeaf(x_, s.leaf);
  return text;
}

// The engine that must move before `e` can, -1 where its queue has ended.
EngineIndex Simulation::waitsFor(EngineIndex e, std::string& why) const {
  const EngineState& s = state(e);
  if (s.leaf < 0) return -1;
  Blocked blocked = s.blocked;
  if (leafOf(s).op == Op::Receive) {
    const EngineState& wire = state(s.partners.front());
    const bool mine = wire.leaf >= 0 && std::find(wire.partners.begin(), wire.partners.end(), e) !=
                                            wire.partners.end();
    // Both heads are there: what the transfer as a whole lacks is this engine's lack, too.
    if (mine && wire.blocked.kind == WaitKind::Lock) blocked = wire.blocked;
  }
  switch (blocked.kind) {
    case WaitKind::Lock: {
      const Lock& lock = x_.program->locks[static_cast<std::size_t>(blocked.lock)];
      why = "needs lock " + std::to_string(lock.index) + " of " + nameOf(lock.tile) + " (it is " +
            std::to_string(locks_[static_cast<std::size_t>(blocked.lock)].value) + ")";
      return x_.lockProducer[static_cast<std::size_t>(blocked.lock)];
    }
    case WaitKind::Partner:
      why = "needs its partner";
      return blocked.engine;
    case WaitKind::Start:
      why = "needs a START";
      return blocked.engine;
    case WaitKind::DdrEntry:
      why = "waits for entry " + std::to_string(s.waitEntry) + " of the channel";
      return blocked.engine;
    case WaitKind::None:
      return -1;
  }
  return -1;
}

void Simulation::deadlock() const {
  const auto first = std::find_if(engines_.begin(), engines_.end(),
                                  [](const EngineState& s) { return s.leaf >= 0; });
  EngineIndex e = static_cast<EngineIndex>(first - engines_.begin());
  std::vector<EngineIndex> path;
  std::vector<std::string> reasons;
  while (e >= 0 && std::find(path.begin(), path.end(), e) == path.end()) {
    path.push_back(e);
    reasons.emplace_back();
    e = waitsFor(e, reasons.back());
  }
  const auto name = [&](EngineIndex engine) {
    const EngineState& s = state(engine);
    return nameOf(x_.engines[static_cast<std::size_t>(engine)], *x_.device) +
           (s.leaf < 0 ? ", whose queue has ended" : " at " + nameOfLeaf(x_, s.leaf));
  };
  std::string cycle;
  const auto start = std::find(path.begin(), path.end(), e);
  for (auto at = start == path.end() ? path.begin() : start; at != path.end(); ++at) {
    const std::string& why = reasons[static_cast<std::size_t>(at - path.begin())];
    cycle += name(*at) + (why.empty() ? "" : " " + why) + (why.empty() ? "" : " -> ");
  }
  if (e >= 0)
    cycle += nameOf(x_.engines[static_cast<std::size_t>(e)], *x_.device);
  else if (!reasons.back().empty())
    cycle += "a queue that the device does not have";
  const auto waiting = std::count_if(engines_.begin(), engines_.end(),
                                     [](const EngineState& s) { return s.leaf >= 0; });
  fail("MACH004", "cycle " + std::to_string(now_),
       "deadlock: " + std::to_string(waiting) + " engines wait and none can move", cycle,
       "let every queue reach its instructions in one common order, and every lock have the tokens "
       "that it needs");
}

void Simulation::checkLocksAtEnd() const {
  for (std::size_t i = 0; i < locks_.size(); ++i) {
    const Lock& lock = x_.program->locks[i];
    if (locks_[i].value == lock.initial) continue;
    fail("MACH005", "cycle " + std::to_string(now_), "a lock is not back at its initial value",
         "lock " + std::to_string(lock.index) + " of " + nameOf(lock.tile) + " is " +
             std::to_string(locks_[i].value) + " and was " + std::to_string(lock.initial) + "; " +
             nameOf(lock.producer, *x_.device) + " releases it, " +
             nameOf(lock.consumer, *x_.device) + " acquires it",
         "release as often as acquire");
  }
}

}  // namespace heddle::machine
