#include "heddle/cost/work.h"

#include <algorithm>

#include "heddle/support/requantize.h"

namespace heddle {
namespace {

using N = std::int64_t;

// Per cent of a wire's time with records, where the core computes as long: what it loses as its
// wires wait for each other's pieces since the records take turns over several, or rows do that
// share one with records. As measured on convolutions of ResNet-50 and VGG16. (A core that computes
// little, as for a product with one row, waits for its wires anyway.)
constexpr N kLostByTurns = 30, kLostAmongTurns = 28;
// Per cent of a core's calls: a wire among turns that is busy for less keeps up with the others,
// and one that is for more does not at all.
constexpr N kKeepsUp = 85, kFallsBehind = 93;
// Per cent of its time with records: what such a wire loses itself.
constexpr N kLostOfWire = 6;
constexpr N kWhole = 1024;  // parts of one

std::size_t index(Resource resource) { return static_cast<std::size_t>(resource); }

N timeOf(const TransferCount& t, const TransferRate& rate, const Device& device) {
  return t.times * rate.time(t.size).raw() + t.acquires * device.lockAcquire.raw();
}

// What a device's engines take, locks included: every call acquires one, of transfers those that
// are counted so.
class Clock {
 public:
  explicit Clock(const Device& device)
      : device_(device),
        wire_(wireRate(device), device.clock),
        out_(coreWriteRate(device), device.clock),
        ddrRead_(ddrReadRate(device), device.clock),
        ddrWrite_(ddrWriteRate(device), device.clock) {}

  N call(const KernelWork& work) const {
    return kernelTime(work, device_).raw() + work.calls() * device_.lockAcquire.raw();
  }
  N wire(const Transfers& t) const { return sum(t, wire_); }
  N out(const Transfers& t) const { return sum(t, out_); }
  N ddrRead(const Transfers& t) const { return sum(t, ddrRead_); }
  N ddrWrite(const Transfers& t) const { return sum(t, ddrWrite_); }
  N wire(const TransferCount& t) const { return timeOf(t, wire_, device_); }
  N ddrRead(const TransferCount& t) const { return timeOf(t, ddrRead_, device_); }
  N rows(const RowTransfers& t) const { return std::max(wire(t.wire), ddrRead(t.ddr)); }
  // One after another; each goes by wire as soon as it has come out of DDR.
  N firstRows(const RowTransfers& t) const {
    return rows(t) + std::min(oneOf(t.wire, wire_), oneOf(t.ddr, ddrRead_));
  }

 private:
  N sum(const Transfers& transfers, const TransferRate& rate) const {
    N cycles = 0;
    for (const TransferCount& t : transfers) cycles += timeOf(t, rate, device_);
    return cycles;
  }

  // The longest.
  N oneOf(const Transfers& transfers, const TransferRate& rate) const {
    N cycles = 0;
    for (const TransferCount& t : transfers)
      cycles = std::max(cycles, timeOf({t.size, 1, 1}, rate, device_));
    return cycles;
  }

  const Device& device_;
  TransferRate wire_, out_, ddrRead_, ddrWrite_;
};

// Of cycles as much as `part` is of `whole` cycles: their product may not fit a number.
N shareOf(N cycles, N part, N whole) { return static_cast<N>(Int128{cycles} * part / whole); }

// Cycles that bytes take at the rate which all channels share; 0 where each has its own.
N sharedTime(N bytes, std::optional<BytesPerSecond> total, const Device& device) {
  if (!total || bytes == 0) return 0;
  return transferTime(Bytes(bytes), *total, device.clock).raw();
}

}  // namespace

Bytes bytesOf(const Transfers& transfers) {
  Bytes bytes;
  for (const TransferCount& t : transfers) bytes += Bytes(t.size.raw() * t.times);
  return bytes;
}

StepCycles::StepCycles(const StepCounts& counts, const Device& device)
    : executes_(!counts.cores.empty()),
      record_(counts.record),
      records_(counts.records),
      weightSlots_(counts.weightSlots),
      height_(counts.height),
      lastRows_(counts.lastRows),
      writing_(counts.writing) {
  const Clock clock(device);
  const auto addAll = [](std::vector<Engine>& to, const std::vector<ChannelWork>& from, auto time) {
    to.reserve(from.size());
    for (const ChannelWork& c : from)
      to.push_back({time(c.weights), time(c.activations), time(c.firstWeights),
                    time(c.firstOfRoutes), (bytesOf(c.weights) + bytesOf(c.activations)).raw(),
                    c.turns, c.firstRecord, c.passes, 0, 0});
  };
  addAll(wires_, counts.wires, [&](const Transfers& t) { return clock.wire(t); });
  addCores(counts.cores, device);
  addAll(ddrRead_, counts.ddrRead, [&](const Transfers& t) { return clock.ddrRead(t); });
  addAll(ddrWrite_, counts.ddrWrite, [&](const Transfers& t) { return clock.ddrWrite(t); });
  recordWire_ = clock.wire({counts.record, 1, 1});
  recordDdr_ = clock.ddrRead({counts.record, 1, 1});
}

StepCycles StepCycles::ofSomeCores(const StepCounts& counts, const Device& device) {
  StepCycles cycles(counts, device);
  cycles.executes_ = true;
  cycles.ofAllCores_ = false;
  cycles.span_.lastCall = 0;  // that of the busiest core may be a short one
  return cycles;
}

// Of a core whose calls take `calls`.
StepCycles::Lost StepCycles::lostByTurns(const CoreWork& core, N calls) const {
  if (core.turnsWire < 0) return {};
  const Engine& wire = wires_[static_cast<std::size_t>(core.turnsWire)];
  if (core.recordsByTurns) return {std::min(wire.weights, calls) * kLostByTurns / 100, 0};
  const N busy = 100 * (wire.weights + wire.activations) / std::max<N>(calls, 1);
  const N behind = std::clamp(busy, kKeepsUp, kFallsBehind) - kKeepsUp;
  return {wire.weights * behind / (kFallsBehind - kKeepsUp) * kLostAmongTurns / 100,
          busy > kFallsBehind ? wire.weights * kLostOfWire / 100 : 0};
}

// Of kWhole, how much of its time a core keeps step with those that get the same rows: as far as it
// has places for the rows of an iteration, it may be ahead of them or behind, and be the other in
// the next. As measured: of what they differ by in all, networks with half of their blocks empty
// lose that much, though one that is heavier again and again would make up for nothing.
N StepCycles::keepingStep(const CoreWork& core) const {
  if (core.rows == 0) return kWhole;
  const N rows = std::max<N>(core.rows / writing_.iterations, 1);
  return kWhole * std::max<N>(rows - core.places, 0) / rows;
}

void StepCycles::addCores(const std::vector<CoreWork>& cores, const Device& device) {
  const Clock clock(device);
  for (const CoreWork& core : cores) {
    const auto callOf = [&](const CallWork& c) {
      const N own = clock.call(c.kernel), paced = clock.call(c.pace);
      return paced == own ? own : own + shareOf(paced - own, keepingStep(core), kWhole);
    };
    N cycles = 0, byWire = 0, byDdr = 0, last = 0, compute = 0, output = 0, withRows = 0;
    for (const CallWork& c : core.calls) {
      last = callOf(c);
      const N out = clock.out(c.out);
      cycles += c.times * (std::max({last, clock.rows(c.ahead), out}) + clock.rows(c.waited));
      byWire +=
          c.times * (std::max({last, clock.wire(c.ahead.wire), out}) + clock.wire(c.waited.wire));
      byDdr += c.times * (clock.ddrRead(c.ahead.ddr) + clock.ddrRead(c.waited.ddr));
      compute += c.times * last;
      output += c.times * out;
      withRows += c.times * std::max(last, out);
    }
    // Calls that ask for many rows at once, the first of a band say, find those out of DDR there
    // where a core has places for more than one call's: only the whole time of all counts.
    if (core.callsAhead > 0) cycles = std::min(cycles, std::max(byWire, byDdr));
    compute_ = std::max(compute_, compute);
    output_ = std::max(output_, output);
    N loading = 0, loadingWithRows = 0;
    for (const CallWork& c : core.loading) {
      const N call = callOf(c), out = clock.out(c.out);
      loadingWithRows += c.times * std::max(call, out);
      loading += c.times * (std::max({call, clock.rows(c.ahead), out}) + clock.rows(c.waited));
    }
    span_.loading = std::max(span_.loading, loading);
    span_.loadingWithRows = std::max(span_.loadingWithRows, loadingWithRows);
    span_.stays = std::max(span_.stays, core.stays);
    const Lost lost = lostByTurns(core, cycles);
    span_.lostOfWires = std::max(span_.lostOfWires, lost.ofWire);
    N records = lost.ofCore;
    for (const TransferCount& record : core.recordsAmongRows)
      records +=
          record.times * std::max<N>(0, clock.wire({record.size, 1, 1}) - core.callsAhead * last);
    cycles += records;
    const N firstByWire = clock.wire(core.first.wire);
    span_.firstByWire = std::max(span_.firstByWire, firstByWire);
    span_.first = std::max(span_.first, clock.firstRows(core.first));
    const N spared =
        core.rows == 0 ? 0 : (byWire - withRows) * std::min(core.places, core.rows) / core.rows;
    byWire += records;
    span_.callsByWire = std::max(span_.callsByWire, byWire);
    span_.callsWithRows = std::max(span_.callsWithRows, byWire - spared);
    for (const std::vector<N>& wires : core.rowWires) {
      N most = 1;
      for (const N w : wires)
        most = std::max(most, wires_[static_cast<std::size_t>(w)].activations);
      for (const N w : wires) {
        Engine& wire = wires_[static_cast<std::size_t>(w)];
        wire.calls =
            std::max(wire.calls, withRows + shareOf(cycles - withRows, wire.activations, most));
        wire.callsByWire = std::max(wire.callsByWire,
                                    withRows + shareOf(byWire - withRows, wire.activations, most));
      }
    }
    if (!core.calls.empty())
      span_.lastOut = std::max(span_.lastOut, clock.out(core.calls.back().out));
    span_.rowsBefore = std::max(span_.rowsBefore, core.rowsBefore);
    if (cycles <= span_.calls) continue;
    span_.calls = cycles;
    span_.lastCall = last;
    span_.rows = core.rows;
    span_.places = core.places;
  }
}

StepClock::StepClock(const Device& device)
    : device_(&device),
      ddrRead_(ddrReadRate(device), device.clock),
      ddrWrite_(ddrWriteRate(device), device.clock) {
  engines_.wireFree.resize(device.wires.size());
  engines_.from.resize(device.wires.size());
  engines_.ddrFree.resize(
      static_cast<std::size_t>(device.memtiles() * device.memtile.ddrChannelsIn));
}

// What a channel does for a step, and of whole tensors beside it.
StepCycles::Engine StepClock::withWhole(StepCycles::Engine channel, std::size_t number,
                                        const std::vector<StepPlace::Whole>& all,
                                        const TransferRate& rate) const {
  for (const StepPlace::Whole& whole : all) {
    if (whole.channel != number) continue;
    channel.activations += timeOf(whole.rows, rate, *device_);
    channel.bytes += whole.rows.size.raw() * whole.rows.times;
  }
  return channel;
}

StepTerms StepClock::termsOf(const StepCycles& step, const StepPlace& place) const {
  StepTerms terms{.compute = Cycles(step.compute_),
                  .output = Cycles(step.output_),
                  .wires = {},
                  .firstRows = Cycles(step.span_.first)};
  for (const StepCycles::Engine& wire : step.wires_) {
    terms.wires.push_back({Cycles(wire.activations), Cycles(wire.weights)});
    terms.firstRecord = std::max(terms.firstRecord, Cycles(wire.firstOfRoutes));
  }
  for (std::size_t c = 0; c < step.ddrRead_.size(); ++c) {
    const StepCycles::Engine channel = withWhole(step.ddrRead_[c], c, place.reads, ddrRead_);
    if (Cycles(channel.weights + channel.activations) <= terms.ddrReadWeights + terms.ddrReadRows)
      continue;
    terms.ddrReadWeights = Cycles(channel.weights);
    terms.ddrReadRows = Cycles(channel.activations);
  }
  for (std::size_t c = 0; c < step.ddrWrite_.size(); ++c) {
    const StepCycles::Engine channel = withWhole(step.ddrWrite_[c], c, place.writes, ddrWrite_);
    terms.ddrWrite = std::max(terms.ddrWrite, Cycles(channel.activations));
  }
  return terms;
}

// When core memory that a step needs is no longer that of one before it.
N StepClock::roomFree(const ByteRange& bytes) const {
  for (std::size_t before = past_.size(); before-- > 0;)
    if (past_[before].cores.meets(bytes)) return past_[before].coreFree;
  return 0;
}

// When the first place of a step's records is free: those of the last step that lay there leave one
// after another.
N StepClock::stagingFreeFor(const StepPlace& place, Bytes record) const {
  const bool anywhere = place.staging.empty();
  for (std::size_t before = past_.size(); before-- > 0;) {
    const Staged& staged = past_[before].staged;
    if (staged.record.raw() == 0 || !(anywhere || staged.bytes.meets(place.staging))) continue;
    const N places = divideRoundUp(record.raw(), staged.record.raw());
    return staged.sent - std::max<N>(0, staged.lastPlace - places + 1) * staged.cycles;
  }
  return 0;
}

// When the first rows that it reads have been written.
N StepClock::dataReady(const StepPlace& place) const {
  N ready = 0;
  for (const Producer& from : place.producers) {
    const Past& p = past_[static_cast<std::size_t>(from.step)];
    ready = std::max(ready, from.whole ? p.end : p.firstRows);
  }
  return ready;
}

// When the last of them have.
N StepClock::dataEnd(const StepPlace& place) const {
  N end = 0;
  for (const Producer& from : place.producers)
    end = std::max(end, past_[static_cast<std::size_t>(from.step)].coreFree);
  return end;
}

// When the core whose first rows lie lowest has them: until then the wires bring no others their
// second ones, as row by row all of them take turns.
N StepClock::lastFirstRows(const StepCycles& step, const StepPlace& place) const {
  const N end = dataEnd(place), ready = std::min(end, dataReady(place));
  return ready + (end - ready) * step.span_.rowsBefore / step.height_;
}

// `calls`: cycles of the busiest core; `record`: of one on its wire.
StepClock::Brought StepClock::bring(Engines& engines, const StepCycles& step,
                                    const StepPlace& place, N calls, N record) const {
  const StepCycles::Span& span = step.span_;
  const N stagingFree = stagingFreeFor(place, step.record_);
  Brought brought;
  N bytes = 0;
  for (std::size_t c = 0; c < step.ddrRead_.size(); ++c) {
    const StepCycles::Engine channel = withWhole(step.ddrRead_[c], c, place.reads, ddrRead_);
    const N weights = channel.weights, cycles = weights + channel.activations;
    const N streamed = step.ddrRead_[c].activations, whole = channel.activations - streamed;
    bytes += channel.bytes;
    if (cycles == 0) continue;
    N& free = engines.ddrFree[c];
    const N from = std::max(free, weights > 0 ? stagingFree : 0);
    if (whole > 0) {
      brought.wholeRows = std::max(brought.wholeRows, free + whole);
      brought.lastCoresRows =
          std::max(brought.lastCoresRows, free + whole * span.rowsBefore / step.height_);
      // Of another operand that streams by the same channel not a row comes before.
      if (streamed > 0) brought.rows = std::max(brought.rows, free + whole);
    }
    free = from + cycles;
    // Rows that come before its first record, and behind its last.
    const N iterations = step.writing_.iterations;
    const N rowsBefore = channel.firstRecord == 0 ? 0
                         : span.stays > 0         ? streamed / span.stays
                                                  : streamed * channel.firstRecord / iterations;
    const N rowsBehind = span.stays == 0 || step.records_ == 1 ? streamed / iterations : 0;
    if (streamed > 0) brought.streamed = std::max(brought.streamed, free);
    if (place.rowsAhead) {
      const bool recordFirst = weights > 0 && streamed > 0 && channel.firstRecord == 0;
      brought.rows =
          std::max(brought.rows, from + (recordFirst ? step.recordDdr_ : 0) +
                                     (step.ofAllCores_ ? span.first - span.firstByWire : 0));
    }
    // Of those that take turns each is needed that much later, as all of the cores say.
    if (weights > 0 && (step.ofAllCores_ || channel.firstRecord == 0))
      brought.record =
          std::max(brought.record, from + whole + rowsBefore + step.recordDdr_ -
                                       channel.firstRecord * calls / std::max<N>(step.records_, 1));
    if (weights > 0) brought.weights = std::max(brought.weights, free - rowsBehind + record);
    // Of some cores it is not known whether rows stay, and none come behind the last record.
    const bool endsWithRows = rowsBehind > 0 && (step.ofAllCores_ || step.records_ == 1);
    if (weights == 0 || endsWithRows) brought.end = std::max(brought.end, free + span.lastCall);
  }
  const N shared = sharedTime(bytes, device_->rates.ddrReadTotal, *device_);
  if (shared == 0) return brought;
  const N coreFree = past_.empty() ? 0 : past_.back().coreFree;
  engines.sharedFree = std::max(engines.sharedFree, std::min(stagingFree, coreFree)) + shared;
  brought.end = std::max(brought.end, engines.sharedFree + span.lastCall);
  return brought;
}

// A record that is its route's first goes before the rows of its wire.
N StepClock::firstRowsOf(const StepCycles::Engine& wire, N from) {
  return from + wire.firstOfRoutes;
}

// The wires take what the DDR channels and the steps before brought.
StepClock::Sent StepClock::send(Engines& engines, const StepCycles& step, const StepPlace& place,
                                const Brought& brought) const {
  const StepCycles::Span& span = step.span_;
  const N room = roomFree(place.weights), iterations = step.writing_.iterations;
  // When all rows are where the wires take them. Those that go through the cores anew in each
  // iteration have gone once then.
  const N allThere = std::max(dataEnd(place), brought.wholeRows);
  Sent sent{.end = 0, .record = 0, .weights = 0, .rows = brought.rows};
  const N written = dataEnd(place), ahead = written - lastFirstRows(step, place);
  for (std::size_t w = 0; w < step.wires_.size(); ++w) {
    const StepCycles::Engine& wire = step.wires_[w];
    const N weights = wire.weights, inputs = wire.activations;
    if (weights + inputs == 0) continue;
    N& free = engines.wireFree[w];
    N from = free;
    if (weights > 0) from = std::max({from, room, brought.record});
    if (inputs > 0) from = std::max(from, brought.rows);
    engines.from[w] = from;
    free = from + weights + inputs + (weights > 0 ? span.lostOfWires : 0);
    if (weights > 0) {
      sent.record = std::max(sent.record, from + wire.firstOfRoutes);
      // The last goes before the rows that it is needed with.
      const N records = std::max<N>(step.records_, 1);
      sent.weights = std::max(sent.weights, from + weights + inputs * (records - 1) / records);
    }
    if (inputs > 0) {
      sent.rows = std::max(sent.rows, firstRowsOf(wire, from));
      const N early = inputs * (step.lastRows_ + 1) / iterations;
      free = std::max({free, brought.streamed, allThere + inputs - early});
      if (brought.wholeRows == 0 && step.ofAllCores_)
        free = std::max(
            free, written + inputs - std::min(early, ahead + inputs / std::max<N>(span.rows, 1)));
    }
    sent.end = std::max(sent.end, free);
  }
  return sent;
}

// Cycles of the busiest core's calls from `begin` on. While it computes for the step before, or
// waits for a record, rows come as far as they have places; with all of these it takes `least`.
N StepClock::callsFrom(const Engines& engines, const StepCycles& step, const StepPlace& place,
                       N begin, N first, N least) {
  N calls = least;
  for (std::size_t w = 0; w < step.wires_.size(); ++w) {
    const StepCycles::Engine& wire = step.wires_[w];
    const N all = place.rowsAhead ? wire.callsByWire : wire.calls;
    const N come = std::max<N>(begin - (firstRowsOf(wire, engines.from[w]) + first), 0);
    calls = std::max(calls, all - come);
  }
  return calls;
}

// Of the DDR channel that writes longest, or of all together.
N StepClock::writeCycles(const StepCycles& step, const StepPlace& place) const {
  N cycles = 0, bytes = 0;
  for (std::size_t c = 0; c < step.ddrWrite_.size(); ++c) {
    const StepCycles::Engine channel = withWhole(step.ddrWrite_[c], c, place.writes, ddrWrite_);
    cycles = std::max(cycles, channel.activations);
    bytes += channel.bytes;
  }
  return std::max(cycles, sharedTime(bytes, device_->rates.ddrWriteTotal, *device_));
}

StepClock::Past StepClock::advance(Engines& engines, const StepCycles& step,
                                   const StepPlace& place) const {
  const N before = past_.empty() ? 0 : past_.back().end;
  const N coreFree = past_.empty() ? 0 : past_.back().coreFree;
  if (!step.executes_)
    return {.cores = {},
            .begin = before,
            .end = before,
            .coreFree = coreFree,
            .firstRows = coreFree,
            .staged = {}};
  const StepCycles::Span& span = step.span_;
  const StepCounts::Writing& of = step.writing_;
  N calls = place.rowsAhead ? span.callsByWire : span.calls;
  const N first = place.rowsAhead ? span.firstByWire : span.first;
  // Records come out of DDR as far ahead as the staging is free, and reach the core as soon as
  // it has room. The last ones of all routes of a wire may come out of different memtiles at the
  // same time.
  N record = step.recordWire_;
  for (const StepCycles::Engine& wire : step.wires_) record = std::max(record, wire.firstOfRoutes);
  // With one place for records a core computes nothing while the next one comes.
  N callsWithRows = std::min(calls, span.callsWithRows);
  if (step.weightSlots_ == 1)
    callsWithRows =
        std::max(callsWithRows, step.compute_ + std::max<N>(0, step.records_ - 1) * record);
  calls = std::max(calls, callsWithRows);
  Brought brought = bring(engines, step, place, calls, record);
  brought.rows = std::max({brought.rows, roomFree(place.rings), dataReady(place)});
  const Sent sent = send(engines, step, place, brought);
  const N begin = std::max({coreFree, sent.record, sent.rows + first});
  calls = callsFrom(engines, step, place, begin, first, callsWithRows);
  const N loading = std::max(span.loading - (begin - sent.rows - first),
                             std::min(span.loading, span.loadingWithRows));
  keepWithinPlaces(engines, step, place, begin, begin + loading);
  N end = std::max({brought.end, sent.end + span.lastCall, begin + calls});
  for (const N free : engines.wireFree) end = std::max(end, free + span.lastCall);
  if (brought.wholeRows > 0) end = std::max(end, behindWhole(step, brought.wholeRows, calls));
  if (brought.lastCoresRows > 0) end = std::max(end, brought.lastCoresRows + calls);
  const N written = writeCycles(step, place);
  end = std::max(end, writtenBy(step, begin, end - begin, loading, written));
  // Behind the last record come the calls that wait for it, and what they write.
  if (step.records_ > 0)
    end = std::max(end,
                   std::max(sent.weights, brought.weights) +
                       std::max(step.compute_ / step.records_, span.lastCall + written / of.all));
  Past past{.cores = place.all,
            .begin = begin,
            .end = std::max(before, end + span.lastOut),
            .coreFree = end,
            .firstRows = end - (end - begin) * (of.iterations - of.last) / of.iterations,
            .staged = {}};
  // Nor are they there before the record with which they are written.
  if (step.records_ == of.iterations) {
    const N last = std::max(sent.weights, brought.weights);
    past.firstRows = std::max(
        past.firstRows, last - (last - begin) * (of.iterations - 1 - of.last) / of.iterations);
  }
  past.staged = release(engines, step, place, past);
  return past;
}

// When the calls end where whole tensors are there at `whole`: the first iteration that reads their
// last rows goes at the pace at which these come, and the rows before go by wire meanwhile.
N StepClock::behindWhole(const StepCycles& step, N whole, N calls) {
  const StepCycles::Span& span = step.span_;
  const N iterations = step.writing_.iterations, before = span.stays > 0 ? 0 : step.lastRows_;
  N lastRow = 0;  // by wire, for each core; of some cores it is not known
  for (const StepCycles::Engine& wire : step.wires_)
    if (step.ofAllCores_) lastRow = std::max(lastRow, wire.activations / std::max<N>(span.rows, 1));
  return whole + std::min(lastRow, span.firstByWire) + span.lastCall +
         calls * (iterations - 1 - before) / iterations;
}

// When rows that leave for DDR have gone that way: they do as they are written, where the reduction
// is cut over time at the end of each pass.
N StepClock::writtenBy(const StepCycles& step, N begin, N calls, N loading, N written) {
  const StepCounts::Writing& of = step.writing_;
  N by = std::max({calls * of.first / of.iterations + written,
                   calls * of.last / of.iterations + written * of.ofLastPass / of.all,
                   calls * (of.iterations - 1) / of.iterations + written / of.all});
  // What is written while an input comes that stays goes at its pace; the rest comes behind it.
  if (step.span_.stays == 1)
    by = std::max(by, loading + written * (of.all - (of.first == 0 ? 1 : 0)) / of.all);
  return begin + by;
}

// Records go no further ahead than there are places for. Where the rows stay in the core the first
// is needed until all of them are there.
void StepClock::keepWithinPlaces(Engines& engines, const StepCycles& step, const StepPlace& place,
                                 N begin, N loaded) {
  const N slots = step.weightSlots_, staging = slots + place.recordsStaged;
  const auto keep = [&](std::vector<N>& free, const std::vector<StepCycles::Engine>& of, N places) {
    const N first = step.records_ > places ? loaded : begin;
    for (std::size_t i = 0; i < of.size(); ++i)
      if (of[i].weights > 0)
        free[i] =
            std::max(free[i], first + of[i].weights - places * of[i].firstWeights / of[i].turns);
  };
  keep(engines.wireFree, step.wires_, slots);
  keep(engines.ddrFree, step.ddrRead_, staging);
}

// When the rows of an engine that has them go into places of the cores are all there: of what stays
// each time as soon as it can, else as far ahead of the last call as there are places. In a single
// sweep, which goes at the pace of its rows, half of these are taken as often as not.
N StepClock::rowsThere(const StepCycles::Engine& engine, const StepCycles& step, const Past& past) {
  const StepCycles::Span& span = step.span_;
  const N calls = past.coreFree - past.begin;
  if (engine.activations == 0) return 0;
  if (span.stays > 0 && !engine.passes)
    return past.coreFree - std::max<N>(calls - engine.activations, 0) / span.stays;
  N ahead = 0;
  if (span.stays == 0 && span.rows > 0)
    ahead = calls * std::min(span.places, span.rows) / span.rows;
  if (step.writing_.iterations == 1) ahead /= 2;
  return past.coreFree - std::max(2 * span.lastCall, ahead);
}

// A wire is not done with a step before the places of its last pieces were free, nor a DDR channel
// whose rows go on to the cores as they come. Returns how the step's records left their memtiles.
StepClock::Staged StepClock::release(Engines& engines, const StepCycles& step,
                                     const StepPlace& place, const Past& past) {
  const auto rowsDone = [&](const StepCycles::Engine& engine) {
    return rowsThere(engine, step, past);
  };
  for (std::size_t c = 0; c < step.ddrRead_.size() && !place.rowsAhead; ++c)
    engines.ddrFree[c] = std::max(engines.ddrFree[c], rowsDone(step.ddrRead_[c]));
  N sent = -1, first = 0;
  for (std::size_t w = 0; w < step.wires_.size(); ++w) {
    const StepCycles::Engine& wire = step.wires_[w];
    N& free = engines.wireFree[w];
    free = std::max(free, rowsDone(wire));
    if (wire.weights == 0) continue;
    // Each goes before the rows that it is needed with.
    const N records = std::max<N>(step.records_, 1);
    N last = engines.from[w] + wire.weights + wire.activations * (records - 1) / records;
    if (records > step.weightSlots_)
      last = std::max(last, past.coreFree - (past.coreFree - past.begin) / records);
    free = std::max(free, last);
    sent = std::max(sent, last);
    first = std::max(first, wire.firstOfRoutes);
  }
  if (sent < 0) return {};
  return {place.staging, sent, (step.records_ - 1) % std::max<N>(place.recordsStaged, 1),
          step.record_, first};
}

StepTime StepClock::next(const StepCycles& step, const StepPlace& place) {
  const Cycles before(past_.empty() ? 0 : past_.back().end);
  past_.push_back(advance(engines_, step, place));
  StepTime time{.begin = Cycles(past_.back().begin), .end = Cycles(past_.back().end)};
  if (!step.executes_) return time;
  time.cycles = time.end - before;
  countBusy(step, place, time);
  return time;
}

Cycles StepClock::endOf(const StepCycles& step, const StepPlace& place) {
  tried_ = engines_;
  return Cycles(advance(tried_, step, place).end);
}

Cycles StepCycles::busiest() const {
  N most = std::max(compute_, output_);
  for (const Engine& wire : wires_) most = std::max(most, wire.weights + wire.activations);
  return Cycles(most);
}

void StepClock::countBusy(const StepCycles& step, const StepPlace& place, StepTime& time) const {
  const auto most = [&](Resource r, N cycles) {
    time.busy[index(r)] = std::max(time.busy[index(r)], Cycles(cycles));
  };
  most(Resource::Compute, step.compute_);
  most(Resource::Output, step.output_);
  for (const StepCycles::Engine& wire : step.wires_) {
    most(Resource::WeightsWire, wire.weights);
    most(Resource::InputWire, wire.activations);
  }
  N readBytes = 0, writtenBytes = 0;
  for (std::size_t c = 0; c < step.ddrRead_.size(); ++c) {
    const StepCycles::Engine channel = withWhole(step.ddrRead_[c], c, place.reads, ddrRead_);
    most(Resource::DdrRead, channel.weights + channel.activations);
    readBytes += channel.bytes;
  }
  for (std::size_t c = 0; c < step.ddrWrite_.size(); ++c) {
    const StepCycles::Engine channel = withWhole(step.ddrWrite_[c], c, place.writes, ddrWrite_);
    most(Resource::DdrWrite, channel.activations);
    writtenBytes += channel.bytes;
  }
  most(Resource::DdrRead, sharedTime(readBytes, device_->rates.ddrReadTotal, *device_));
  most(Resource::DdrWrite, sharedTime(writtenBytes, device_->rates.ddrWriteTotal, *device_));
  const auto largest = std::max_element(time.busy.begin(), time.busy.end());
  time.boundBy = static_cast<Resource>(largest - time.busy.begin());
}

void add(Transfers& to, Bytes size, std::int64_t times, bool acquires) {
  if (size.raw() == 0 || times == 0) return;
  auto same = std::ranges::find(to, size, &TransferCount::size);
  if (same == to.end()) {
    // Few sizes, but seldom one: together they cost one piece of the heap.
    if (to.capacity() == 0) to.reserve(4);
    same = to.insert(to.end(), {size});
  }
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
