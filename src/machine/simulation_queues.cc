// The Simulation's queues: from one instruction to the next, and what the one at the head needs.
#include <algorithm>

#include "fault.h"
#include "leaf.h"
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
      const std::int64_t wire = value(std::get<Transfer<Affine>>(leaf.instruction->as).wire, e);
      if (!inRange(wire, 0, static_cast<std::int64_t>(x_.device->wires.size()) - 1))
        fail("MACH002", whereIs(e), "the device has no such wire", "wire " + std::to_string(wire),
             "compile the program for this device");
      s.partners.push_back(x_.indexOf({EngineKind::Wire, 0, static_cast<std::int32_t>(wire), 0}));
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
  const std::int64_t number = value(*leaf.record, e);
  if (!inRange(number, 0, std::ssize(x_.program->records) - 1))
    fail("MACH007", whereIs(e), "the program has no such weight record",
         "record " + std::to_string(number) + " of " + std::to_string(x_.program->records.size()),
         "compile the program again");
  const WeightRecord& record = x_.program->records[static_cast<std::size_t>(number)];
  const bool isConv = leaf.op == Op::Call && leaf.kernel.op == OpKind::Conv;
  const std::int64_t mostBlocks = isConv ? leaf.mostBlocks : kMaxBytes;
  if (!inRange(record.bytes, 1, kMaxBytes) || !inRange(record.padding, 0, record.bytes - 1) ||
      !inRange(record.kept, 0, mostBlocks))
    fail("MACH015", whereIs(e), "the weight record is not what its table or its kernel says",
         "record " + std::to_string(number) + " has " + std::to_string(record.bytes) +
             " B, of them " + std::to_string(record.padding) + " padding, and keeps " +
             std::to_string(record.kept) + " blocks" +
             (isConv ? " of the kernel's " + std::to_string(mostBlocks) : ""),
         "compile the program again");
  return workWith(x_, leaf, number);
}

void Simulation::resolveLocks(EngineIndex e) {
  EngineState& s = state(e);
  s.acquire.clear();
  s.release.clear();
  for (const LockTerm& term : leafOf(s).acquire) need(e, term, false, s.acquire);
  for (const LockTerm& term : leafOf(s).release) need(e, term, true, s.release);
}

std::size_t Simulation::tileOf(EngineIndex e, const LockTerm& term) const {
  if (term.memtile < 0)
    return static_cast<std::size_t>(x_.ownTile(x_.engines[static_cast<std::size_t>(e)]));
  const std::int64_t column =
      value(leafOf(state(e)).memtiles[static_cast<std::size_t>(term.memtile)], e);
  if (!inRange(column, 0, x_.device->columns - 1))
    fail("MACH002", whereIs(e), "the device has no such memtile",
         "memtile " + std::to_string(column), "compile the program for this device");
  return x_.memtileTile(column);
}

void Simulation::need(EngineIndex e, const LockTerm& term, bool releases,
                      std::vector<LockNeed>& needs) const {
  const auto& tile = x_.lockAt[tileOf(e, term)];
  const std::int64_t index = value(term.lock, e);
  const std::int32_t lock = inRange(index, 0, static_cast<std::int64_t>(tile.size()) - 1)
                                ? tile[static_cast<std::size_t>(index)]
                                : -1;
  if (lock < 0)
    fail("MACH006", whereIs(e), "the instruction uses a lock that its tile does not have",
         "lock " + std::to_string(index), "declare the lock with its initial value");
  const auto& owner = releases ? x_.lockProducer : x_.lockConsumer;
  if (owner[static_cast<std::size_t>(lock)] != e) {
    const Lock& declared = x_.program->locks[static_cast<std::size_t>(lock)];
    fail("MACH006", whereIs(e),
         releases ? "the instruction releases a lock whose producer is another queue"
                  : "the instruction acquires a lock whose consumer is another queue",
         "lock " + std::to_string(index) + " of " + nameOf(declared.tile) + " belongs to " +
             nameOf(releases ? declared.producer : declared.consumer, *x_.device),
         "give every pair of queues a lock of its own");
  }
  for (LockNeed& known : needs)
    if (known.lock == lock) {
      known.count += term.count;
      return;
    }
  needs.push_back({lock, term.count});
}

void Simulation::resolvePartners(EngineIndex e, const Transfer<Affine>& send) {
  EngineState& s = state(e);
  const Wire& wire =
      x_.device->wires[static_cast<std::size_t>(x_.engines[static_cast<std::size_t>(e)].column)];
  const std::int64_t memtile = value(send.memtile, e);
  if (std::find(wire.feeders.begin(), wire.feeders.end(), memtile) == wire.feeders.end())
    fail("MACH002", whereIs(e), "the wire cannot be fed from there",
         "memtile " + std::to_string(memtile) + " is no feeder of wire '" + wire.name + "'",
         "compile the program for this device");
  for (const SendTo<Affine>& to : send.to) {
    const std::int64_t row = value(to.row, e), column = value(to.column, e);
    const CoreRange& reach = wire.reach;
    if (!reach.contains(row, column) || to.rows > reach.row + reach.rows - row ||
        to.columns > reach.column + reach.columns - column)
      fail("MACH002", whereIs(e), "the wire does not reach those cores",
           std::to_string(to.rows) + " x " + std::to_string(to.columns) + " cores from (" +
               std::to_string(row) + "," + std::to_string(column) + ") and wire '" + wire.name +
               "'",
           "compile the program for this device");
    for (std::int64_t r = row; r < row + to.rows; ++r)
      for (std::int64_t c = column; c < column + to.columns; ++c) {
        const EngineIndex receiver =
            x_.indexOf({EngineKind::CoreIn, static_cast<std::int32_t>(r),
                        static_cast<std::int32_t>(c), static_cast<std::int32_t>(to.channel)});
        if (receiver < 0 ||
            std::find(s.partners.begin(), s.partners.end(), receiver) != s.partners.end())
          fail("MACH001", whereIs(e),
               "the transfer names a receiver twice, or one that is not there",
               "channel " + std::to_string(to.channel) + " of core (" + std::to_string(r) + "," +
                   std::to_string(c) + ")",
               "name each core once");
        s.partners.push_back(receiver);
      }
  }
}

void Simulation::checkOperands(EngineIndex e) const {
  for (const Operand& operand : leafOf(state(e)).operands) {
    const std::int64_t base = value(operand.address.base, e), slot = value(operand.address.slot, e);
    const std::int64_t slots = operand.address.slots;
    const Int128 address =
        Int128{base} + (slots > 1 ? Int128{slot % slots} * operand.address.slotStride : 0);
    const std::int64_t record = state(e).work.record;
    const std::int64_t high = operand.isRecord
                                  ? x_.program->records[static_cast<std::size_t>(record)].bytes
                                  : operand.high;
    if (address + operand.low >= 0 && address + high <= operand.limit && (slots == 1 || slot >= 0))
      continue;
    fail("MACH003", whereIs(e), std::string(operand.name) + " is out of range",
         "address " + std::to_string(static_cast<std::int64_t>(address)) + " (slot " +
             std::to_string(slot) + "), bytes " + std::to_string(operand.low) + " to " +
             std::to_string(high) + " from there; the memory has " + std::to_string(operand.limit) +
             " B",
         "compile the program for this device");
  }
}

}  // namespace heddle::machine
