#include "heddle/cost/work.h"

#include <algorithm>

namespace heddle {
namespace {

using N = std::int64_t;

// Per cent of a wire's time with records that take turns among rows: what a core loses that
// computes as long as its wires are busy, since these wait for each other's pieces. As measured on
// convolutions of ResNet-50 and VGG16.
constexpr N kLostByTurns = 30;

std::size_t index(Resource resource) { return static_cast<std::size_t>(resource); }

// What a device's engines take, locks included: every call acquires one, of transfers those that
// are counted so.
class Clock {
 public:
  explicit Clock(const Device& device) : device_(device) {}

  N call(const KernelWork& work) const { return kernelTime(work, device_).raw() + lock(); }
  N wire(const Transfers& t) const { return sum(t, wireTime); }
  N out(const Transfers& t) const { return sum(t, coreWriteTime); }
  N ddrRead(const Transfers& t) const { return sum(t, ddrReadTime); }
  N ddrWrite(const Transfers& t) const { return sum(t, ddrWriteTime); }
  N rows(const RowTransfers& t) const { return std::max(wire(t.wire), ddrRead(t.ddr)); }

 private:
  N lock() const { return device_.lockAcquire.raw(); }
  N sum(const Transfers& transfers, Cycles (*time)(Bytes, const Device&)) const {
    N cycles = 0;
    for (const TransferCount& t : transfers)
      cycles += t.times * time(t.size, device_).raw() + t.acquires * lock();
    return cycles;
  }

  const Device& device_;
};

// Cycles of all channels together at the rate that they share; 0 where each has its own.
N sharedTime(const std::vector<ChannelWork>& channels, std::optional<BytesPerSecond> total,
             const Device& device) {
  if (!total) return 0;
  N bytes = 0;
  for (const ChannelWork& c : channels)
    bytes += (bytesOf(c.weights) + bytesOf(c.activations)).raw();
  return bytes == 0 ? 0 : transferTime(Bytes(bytes), *total, device.clock).raw();
}

}  // namespace

Bytes bytesOf(const Transfers& transfers) {
  Bytes bytes;
  for (const TransferCount& t : transfers) bytes += Bytes(t.size.raw() * t.times);
  return bytes;
}

StepClock::StepClock(const Device& device)
    : device_(&device),
      wireFree_(device.wires.size()),
      ddrFree_(static_cast<std::size_t>(device.memtiles() * device.memtile.ddrChannelsIn)) {}

StepClock::Span StepClock::spanOf(const StepWork& work) const {
  const Clock clock(*device_);
  Span span;
  for (const CoreWork& core : work.cores) {
    N cycles = 0, last = 0;
    for (const CallWork& c : core.calls) {
      last = clock.call(c.pace);
      cycles += c.times *
                (std::max({last, clock.rows(c.ahead), clock.out(c.out)}) + clock.rows(c.waited));
    }
    for (const TransferCount& record : core.recordsAmongRows)
      cycles +=
          record.times * std::max<N>(0, clock.wire({{record.size, 1, 1}}) - core.callsAhead * last);
    cycles += clock.wire(core.recordsByTurns) * kLostByTurns / 100;
    span.first = std::max(span.first, clock.wire(core.first.wire) + clock.ddrRead(core.first.ddr));
    if (!core.calls.empty())
      span.lastOut = std::max(span.lastOut, clock.out(core.calls.back().out));
    if (cycles <= span.calls) continue;
    span.calls = cycles;
    span.lastCall = last;
  }
  return span;
}

// When core memory that a step needs is no longer that of one before it.
N StepClock::roomFree(const CoreBytes& bytes) const {
  for (std::size_t before = past_.size(); before-- > 0;)
    if (past_[before].cores.meets(bytes)) return past_[before].coreFree;
  return 0;
}

// When the first place of the staging is free for a record of the next step: all steps' places
// begin there, and the records before it leave one after another.
N StepClock::stagingFreeFor(Bytes record) const {
  if (staged_.record.raw() == 0) return 0;
  const N places = divideRoundUp(record.raw(), staged_.record.raw());
  return staged_.sent - std::max<N>(0, staged_.lastPlace - places + 1) * staged_.cycles;
}

// When the first rows that it reads have been written.
N StepClock::dataReady(const StepWork& work) const {
  N ready = 0;
  for (const Producer& from : work.producers) {
    const Past& p = past_[static_cast<std::size_t>(from.step)];
    ready = std::max(ready, from.whole ? p.end : p.coreFree - (p.coreFree - p.begin) / p.passes);
  }
  return ready;
}

StepTime StepClock::next(const StepWork& work) {
  const Clock clock(*device_);
  StepTime time;
  const N before = past_.empty() ? 0 : past_.back().end;
  const N coreFree = past_.empty() ? 0 : past_.back().coreFree;
  if (work.cores.empty()) {
    time.begin = time.end = Cycles(before);
    past_.push_back({{}, 1, before, before, coreFree});
    return time;
  }
  const Span span = spanOf(work);
  const N room = roomFree(work.weights);
  const N ready = std::max(roomFree(work.rings), dataReady(work));
  N begin = coreFree, end = 0;
  countBusy(work, time);

  // Records come out of DDR as far ahead as the staging is free, and reach the core as soon as
  // it has room.
  N record = clock.wire({{work.record, 1, 1}});
  // The last ones of all routes of a wire may come out of different memtiles at the same time.
  for (const ChannelWork& wire : work.wires)
    record = std::max(record, clock.wire(wire.firstWeights));
  const N stagingFree = stagingFreeFor(work.record);
  N staged = 0;
  for (std::size_t c = 0; c < work.ddrRead.size(); ++c) {
    const ChannelWork& channel = work.ddrRead[c];
    const N weights = clock.ddrRead(channel.weights);
    const N cycles = weights + clock.ddrRead(channel.activations);
    if (cycles == 0) continue;
    const N from = std::max(ddrFree_[c], weights > 0 ? stagingFree : 0);
    ddrFree_[c] = from + cycles;
    if (weights > 0) staged = std::max(staged, from + clock.ddrRead({{work.record, 1, 1}}));
    end = std::max(end, ddrFree_[c] + (weights > 0 ? record : 0) + span.lastCall);
  }
  const N shared = sharedTime(work.ddrRead, device_->rates.ddrReadTotal, *device_);
  if (shared > 0) {
    sharedFree_ = std::max(sharedFree_, std::min(stagingFree, coreFree)) + shared;
    end = std::max(end, sharedFree_ + span.lastCall);
  }
  N firstRows = ready;
  for (std::size_t w = 0; w < work.wires.size(); ++w) {
    const N weights = clock.wire(work.wires[w].weights);
    const N inputs = clock.wire(work.wires[w].activations);
    if (weights + inputs == 0) continue;
    N from = wireFree_[w];
    if (weights > 0) from = std::max({from, room, staged});
    if (inputs > 0) from = std::max(from, ready);
    const N records = clock.wire(work.wires[w].firstWeights);
    if (weights > 0) begin = std::max(begin, from + records);
    if (inputs > 0) firstRows = std::max(firstRows, from + records);
    wireFree_[w] = from + weights + inputs;
    end = std::max(end, wireFree_[w] + span.lastCall);
  }
  begin = std::max(begin, firstRows + span.first);
  N writes = sharedTime(work.ddrWrite, device_->rates.ddrWriteTotal, *device_);
  for (const ChannelWork& c : work.ddrWrite)
    writes = std::max(writes, clock.ddrWrite(c.activations));
  // Records go no further ahead than there are places for.
  const N slots = work.weightSlots, staging = slots + work.recordsStaged;
  for (std::size_t w = 0; w < work.wires.size(); ++w)
    if (!work.wires[w].weights.empty())
      wireFree_[w] = std::max(wireFree_[w], begin + clock.wire(work.wires[w].weights) -
                                                slots * clock.wire(work.wires[w].firstWeights));
  for (std::size_t c = 0; c < work.ddrRead.size(); ++c)
    if (!work.ddrRead[c].weights.empty())
      ddrFree_[c] =
          std::max(ddrFree_[c], begin + clock.ddrRead(work.ddrRead[c].weights) -
                                    staging * clock.ddrRead(work.ddrRead[c].firstWeights));
  for (const N free : wireFree_) end = std::max(end, free + span.lastCall);
  end = std::max({end, begin + span.calls, begin + writes});
  releaseWires(work, span, begin, end);
  time.begin = Cycles(begin);
  time.end = Cycles(std::max(before, end + span.lastOut));
  time.cycles = time.end - Cycles(before);
  past_.push_back({work.all, work.passes, begin, time.end.raw(), end});
  return time;
}

// A wire is not done with a step before the places of its last pieces were free.
void StepClock::releaseWires(const StepWork& work, const Span& span, N begin, N end) {
  const Clock clock(*device_);
  N sent = -1, first = 0;
  for (std::size_t w = 0; w < work.wires.size(); ++w) {
    const ChannelWork& wire = work.wires[w];
    if (!wire.activations.empty()) wireFree_[w] = std::max(wireFree_[w], end - 2 * span.lastCall);
    if (wire.weights.empty()) continue;
    if (work.records > work.weightSlots)
      wireFree_[w] = std::max(wireFree_[w], end - (end - begin) / work.records);
    sent = std::max(sent, wireFree_[w]);
    first = std::max(first, clock.wire(wire.firstWeights));
  }
  if (sent >= 0)
    staged_ = {sent, (work.records - 1) % std::max<N>(work.recordsStaged, 1), work.record, first};
}

void StepClock::countBusy(const StepWork& work, StepTime& time) const {
  const Clock clock(*device_);
  const auto most = [&](Resource r, N cycles) {
    time.busy[index(r)] = std::max(time.busy[index(r)], Cycles(cycles));
  };
  for (const CoreWork& core : work.cores) {
    N compute = 0, output = 0;
    for (const CallWork& c : core.calls) {
      compute += c.times * clock.call(c.pace);
      output += c.times * clock.out(c.out);
    }
    most(Resource::Compute, compute);
    most(Resource::Output, output);
  }
  for (const ChannelWork& wire : work.wires) {
    most(Resource::WeightsWire, clock.wire(wire.weights));
    most(Resource::InputWire, clock.wire(wire.activations));
  }
  for (const ChannelWork& c : work.ddrRead)
    most(Resource::DdrRead, clock.ddrRead(c.weights) + clock.ddrRead(c.activations));
  for (const ChannelWork& c : work.ddrWrite)
    most(Resource::DdrWrite, clock.ddrWrite(c.activations));
  most(Resource::DdrRead, sharedTime(work.ddrRead, device_->rates.ddrReadTotal, *device_));
  most(Resource::DdrWrite, sharedTime(work.ddrWrite, device_->rates.ddrWriteTotal, *device_));
  const auto largest = std::max_element(time.busy.begin(), time.busy.end());
  time.boundBy = static_cast<Resource>(largest - time.busy.begin());
}

void add(Transfers& to, Bytes size, std::int64_t times, bool acquires) {
  if (size.raw() == 0 || times == 0) return;
  auto same = std::ranges::find(to, size, &TransferCount::size);
  if (same == to.end()) same = to.insert(to.end(), {size});
  same->times += times;
  same->acquires += acquires ? times : 0;
}

std::vector<StepTime> stepTimes(const std::vector<StepWork>& steps, const Device& device) {
  StepClock clock(device);
  std::vector<StepTime> times;
  for (const StepWork& step : steps) times.push_back(clock.next(step));
  return times;
}

}  // namespace heddle
