#include "heddle/cost/work.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

// One core, one memtile, two wires and two DDR channels, 4 B a cycle each.
Device oneCore() {
  Device d;
  d.clock = {1'000'000'000};
  const BytesPerSecond rate{4'000'000'000};
  d.rates = {rate, rate, rate, rate, rate, rate, {}, {}};
  d.wires.resize(2);
  return d;
}

Transfers transfers(std::int64_t bytes, std::int64_t times) {
  Transfers t;
  add(t, Bytes(bytes), times);
  return t;
}

// Ten calls of 252 cycles; a row comes in 100 cycles, the first three before the first call, and
// leaves in 200.
StepWork tenCalls() {
  const KernelWork kernel = kernelWork(OpKind::Conv, 8, 9, 14);
  StepWork step;
  CoreWork core{.calls = {}, .first = {transfers(400, 3), {}}, .rowWires = {{0}}, .cores = 1};
  core.calls.push_back({.kernel = kernel,
                        .pace = kernel,
                        .ahead = {},
                        .waited = {},
                        .out = transfers(800, 1),
                        .times = 1});
  core.calls.push_back({.kernel = kernel,
                        .pace = kernel,
                        .ahead = {transfers(400, 1), {}},
                        .waited = {},
                        .out = transfers(800, 1),
                        .times = 9});
  step.cores = {core};
  step.wires.resize(2);
  step.wires[0].activations = transfers(400, 12);
  step.ddrRead.resize(2);
  step.ddrWrite.resize(2);
  return step;
}

// A step whose rows come over wire 1, at 400 cycles a call, to places for all of them.
StepWork overTheOtherWire() {
  StepWork step = tenCalls();
  std::swap(step.wires[0], step.wires[1]);
  CoreWork& core = step.cores[0];
  core.calls[1].ahead.wire = transfers(1600, 1);
  core.rowWires = {{1}};
  core.rows = core.places = 12;
  step.all = step.rings = {100, 200};
  return step;
}

// Ten calls with weight records of 1000 cycles each, from DDR channel 1 over wire 1.
StepWork withRecords(std::int64_t records) {
  StepWork step = tenCalls();
  step.wires[1].weights = step.ddrRead[1].weights = transfers(4000, records);
  step.wires[1].firstWeights = step.ddrRead[1].firstWeights = transfers(4000, 1);
  step.wires[1].firstOfRoutes = transfers(4000, 1);
  step.record = Bytes(4000);
  step.records = records;
  step.weightSlots = 2;
  step.recordsStaged = 8;
  return step;
}

StepTime timeOf(const StepWork& step, const Device& device = oneCore()) {
  return stepTimes({step}, device).at(0);
}

TEST(StepTimes, TheLargestOfWhatOverlapsDecides) {
  const StepTime time = timeOf(tenCalls());
  EXPECT_EQ(time.begin, Cycles(300));
  EXPECT_EQ(time.end, Cycles(300 + 10 * 252 + 200));
  EXPECT_EQ(time.cycles, time.end);
  EXPECT_EQ(time.boundBy, Resource::Compute);
  EXPECT_EQ(time.busy[static_cast<std::size_t>(Resource::Compute)], Cycles(2520));
  EXPECT_EQ(time.busy[static_cast<std::size_t>(Resource::InputWire)], Cycles(1200));
  EXPECT_EQ(time.busy[static_cast<std::size_t>(Resource::Output)], Cycles(2000));
}

TEST(Terms, EachIsAsIfItStoodAlone) {
  StepWork step = withRecords(4);
  step.ddrRead[0].activations = transfers(400, 3);
  step.ddrWrite[1].activations = transfers(80, 2);
  const Device device = oneCore();
  const StepTerms terms = StepClock(device).termsOf(StepCycles(step, device), step);
  EXPECT_EQ(terms.compute, Cycles(10 * 252));
  EXPECT_EQ(terms.output, Cycles(10 * 200));
  EXPECT_EQ(terms.wires, (std::vector<StepTerms::Wire>{{Cycles(12 * 100), Cycles(0)},
                                                       {Cycles(0), Cycles(4 * 1000)}}));
  EXPECT_EQ(terms.ddrReadWeights, Cycles(4 * 1000));  // channel 1 has more to do than channel 0
  EXPECT_EQ(terms.ddrReadRows, Cycles(0));
  EXPECT_EQ(terms.ddrWrite, Cycles(2 * 20));
  EXPECT_EQ(terms.firstRows, Cycles(3 * 100));
  EXPECT_EQ(terms.firstRecord, Cycles(1000));
}

TEST(StepTimes, RowsWithoutRoomAreWaitedFor) {
  StepWork step = tenCalls();
  std::swap(step.cores[0].calls[1].ahead, step.cores[0].calls[1].waited);
  EXPECT_EQ(timeOf(step).end, timeOf(tenCalls()).end + Cycles(9 * 100));
}

TEST(StepTimes, WhatPartsOfAReductionWriteGoesBehindTheLast) {
  StepWork step = tenCalls();
  step.ddrWrite[1].activations = transfers(800, 5);
  const Cycles spread = timeOf(step).end;
  EXPECT_EQ(spread, Cycles(300 + 10 * 252 + 200));  // while the calls go on
  // One pass in five parts: only the last two calls of the ten write.
  step.writing = {.iterations = 5, .first = 4, .last = 4};
  EXPECT_EQ(timeOf(step).end, Cycles(300 + 8 * 252 + 5 * 200 + 200));
  // Two passes in five parts: two of five rows with the first, the others with the last.
  step.writing = {.iterations = 10, .first = 4, .last = 9, .all = 2, .ofLastPass = 1};
  EXPECT_EQ(timeOf(step).end, Cycles(300 + 9 * 252 + 5 * 200 / 2 + 200));
}

TEST(StepTimes, WithOnePlaceForRecordsTheCoreWaitsForEach) {
  StepWork step = withRecords(4);
  const Cycles two = timeOf(step).end;
  step.weightSlots = 1;
  const Cycles begin = timeOf(step).begin;
  EXPECT_EQ(timeOf(step).end, begin + Cycles(10 * 252 + 3 * 1000 + 200));
  EXPECT_LT(two, timeOf(step).end);
}

// The third record has no place before all rows are there that the first is needed for.
TEST(StepTimes, RecordsWaitUntilWhatStaysInTheCoreIsThere) {
  StepWork step = withRecords(6);
  const Cycles ring = timeOf(step).end;
  step.cores[0].loading = step.cores[0].calls;
  const StepTime stays = timeOf(step);
  EXPECT_EQ(stays.end, stays.begin + Cycles(10 * 252 + (6 - 2) * 1000 + 252 + 200));
  EXPECT_LT(ring, stays.end);
  step = withRecords(2);  // both have one
  const Cycles few = timeOf(step).end;
  step.cores[0].loading = step.cores[0].calls;
  EXPECT_EQ(timeOf(step).end, few);
}

// When the second step begins, whose first rows take 1000 cycles: the first one's calls end after
// 300 + 2520.
Cycles beginAfter(const StepWork& first) {
  StepWork second = tenCalls();
  second.cores[0].first.wire = transfers(400, 10);
  return stepTimes({first, second}, oneCore())[1].begin;
}

TEST(StepTimes, AWireIsFreeAsSoonAsTheLastRowsHavePlaces) {
  StepWork step = tenCalls();
  EXPECT_EQ(beginAfter(step), Cycles(2820 - 2 * 252 + 1000));
  step.cores[0].rows = 20;
  step.cores[0].places = 10;
  EXPECT_EQ(beginAfter(step), Cycles(2820 - 2520 / 4 + 1000));
  step.cores[0].places = 5;
  step.writing.iterations = 2;  // a place is taken as soon as it is free
  EXPECT_EQ(beginAfter(step), Cycles(2820 - 2520 / 4 + 1000));
  step.writing.iterations = 1;
  step.cores[0].places = 1000;  // no wire goes further ahead than half of all
  EXPECT_EQ(beginAfter(step), Cycles(2820));
}

TEST(StepTimes, AWireIsFreeAsSoonAsWhatStaysIsThere) {
  StepWork step = tenCalls();
  step.cores[0].stays = 1;
  EXPECT_EQ(beginAfter(step), Cycles(2820));
  step.cores[0].stays = 2;  // the second time after half of the calls
  EXPECT_EQ(beginAfter(step), Cycles(2820 - (2520 - 1200) / 2 + 1000));
}

TEST(StepTimes, ADdrChannelIsBusyAsLongAsItsRowsGoOnAsTheyCome) {
  const auto begin = [](bool rowsAhead) {
    StepWork rows = tenCalls(), records = tenCalls();
    rows.ddrRead[0].activations = transfers(400, 12);
    rows.rowsAhead = rowsAhead;
    records.wires[1].weights = records.ddrRead[0].weights = transfers(4000, 1);
    records.record = Bytes(4000);
    records.records = 1;
    return stepTimes({rows, records}, oneCore())[1].begin;
  };
  EXPECT_EQ(begin(false), Cycles(2820 - 2 * 252 + 1000));
  EXPECT_EQ(begin(true), Cycles(2820));
}

TEST(StepTimes, ACoreLosesByTurnsOfItsWires) {
  StepWork step = tenCalls();
  step.wires[0].weights = transfers(400, 10);
  step.records = 10;
  step.weightSlots = 2;
  const Cycles alone = timeOf(step).end;
  step.cores[0].turnsWire = 0;  // with which it is busy for 2200 of 2520 cycles: 87 %
  EXPECT_EQ(timeOf(step).end, alone + Cycles(1000 * 2 / 8 * 28 / 100));
  step.wires[0].activations = transfers(400, 15);  // 99 %
  EXPECT_EQ(timeOf(step).end, alone + Cycles(280));
  step.wires[0].activations = transfers(400, 2);
  EXPECT_EQ(timeOf(step).end, alone);  // it keeps up
  step.cores[0].recordsByTurns = true;
  EXPECT_EQ(timeOf(step).end, alone + Cycles(300));
}

// Records take ten times as long as what it computes: it waits for them, not for their turns.
TEST(StepTimes, ACoreThatComputesLittleLosesLittleByTurns) {
  StepWork step = tenCalls();
  step.wires[0].weights = transfers(4000, 25);
  step.records = 25;
  step.weightSlots = 2;
  step.cores[0].recordsAmongRows = transfers(4000, 40);
  const Cycles alone = timeOf(step).end;
  step.cores[0].turnsWire = 0;
  step.cores[0].recordsByTurns = true;
  EXPECT_EQ(timeOf(step).end, alone + Cycles(2520 * 30 / 100));
}

TEST(StepCycles, ItsBusiestEngineIsThatOfACoreOrAWire) {
  const Device device = oneCore();
  EXPECT_EQ(StepCycles(tenCalls(), device).busiest(), Cycles(10 * 252));
  EXPECT_EQ(StepCycles(withRecords(4), device).busiest(), Cycles(4 * 1000));
  StepWork ddr = tenCalls();
  ddr.ddrRead[0].weights = transfers(4000, 20);  // which may come while layers before compute
  EXPECT_EQ(StepCycles(ddr, device).busiest(), Cycles(10 * 252));
}

TEST(StepTimes, ReadersBeginWithTheFirstRowsThatAreWritten) {
  StepWork from = tenCalls(), to = tenCalls();
  from.writing = {.iterations = 5, .first = 4, .last = 4};
  from.all = {0, 100};
  to.all = to.rings = {100, 200};
  to.producers = {{0, false}};
  const std::vector<StepTime> times = stepTimes({from, to}, oneCore());
  // Rows are there when four of five parts are done, before the core is free.
  EXPECT_EQ(times[1].begin, Cycles(300 + 10 * 252));
  // One call: its rows are half written when the wire may bring them.
  from.cores[0].calls.pop_back();
  from.wires[0].activations = transfers(400, 3);
  from.writing = {.iterations = 2, .first = 1, .last = 1};
  EXPECT_EQ(stepTimes({from, to}, oneCore())[1].begin, Cycles(300 + 252 / 2 + 300));
}

TEST(StepTimes, TheHeaviestCoreDecides) {
  StepWork step = tenCalls();
  step.cores.push_back(step.cores[0]);
  step.cores[1].calls[1].times = 19;
  EXPECT_EQ(timeOf(step).end, Cycles(300 + 20 * 252 + 200));
}

TEST(StepTimes, AWireThatIsBusyLongerDecides) {
  // DDR and wire bring the first record, then the wire brings three more behind it.
  const StepTime time = timeOf(withRecords(4));
  EXPECT_EQ(time.begin, Cycles(2000));
  EXPECT_EQ(time.end, Cycles(1000 + 4 * 1000 + 2520 / 4 + 200));
  EXPECT_EQ(time.boundBy, Resource::WeightsWire);
}

TEST(StepTimes, ACoreWaitsForTheFirstRecordsOfAllOnItsWire) {
  StepWork step = withRecords(4);
  step.wires[1].firstWeights = step.wires[1].firstOfRoutes = transfers(4000, 2);  // of two routes
  EXPECT_EQ(timeOf(step).begin, Cycles(1000 + 2000));
}

TEST(StepTimes, RowsFollowTheFirstRecordOfTheirWireNotAll) {
  StepWork step = withRecords(4);
  step.wires[1].activations = transfers(400, 13);
  EXPECT_EQ(timeOf(step).begin, Cycles(1000 + 1000 + 300));
}

TEST(StepTimes, RecordsComeAheadOfThoseThatLieElsewhere) {
  const auto begin = [](const std::vector<ByteRange>& stagings) {
    std::vector<StepWork> steps;
    for (const ByteRange& staging : stagings) {
      steps.push_back(withRecords(4));
      steps.back().recordsStaged = 1;
      steps.back().staging = staging;
    }
    return stepTimes(steps, oneCore()).back().begin;
  };
  EXPECT_EQ(begin({{0, 80}, {40, 120}}), begin({{}, {}}));
  EXPECT_LT(begin({{0, 80}, {80, 160}}), begin({{0, 80}, {40, 120}}));
  // Of a step before the one before.
  EXPECT_LT(begin({{0, 80}, {80, 160}, {0, 80}}), begin({{0, 80}, {80, 160}, {80, 160}}));
}

// Rows out of DDR: four for the first call and four for each further one, 400 cycles.
TEST(StepTimes, RowsThatComeAheadNoLongerKeepTheirCallsWaiting) {
  const auto times = [](bool ahead) {
    StepWork rows = tenCalls();
    rows.cores[0].first.ddr = transfers(400, 6);
    rows.cores[0].calls[1].ahead.ddr = transfers(400, 4);
    rows.ddrRead[0].activations = transfers(400, 40);
    rows.rowsAhead = ahead;
    return stepTimes({tenCalls(), tenCalls(), rows}, oneCore()).back();
  };
  const StepTime late = times(false), ahead = times(true);
  EXPECT_EQ(ahead.begin, Cycles(300 + 2 * 2520));  // as soon as the core is free
  EXPECT_GT(late.begin, ahead.begin);
  EXPECT_EQ(late.end - late.begin, ahead.end - ahead.begin + Cycles(9 * (400 - 252)));
}

TEST(StepClock, TriesAStepBeforeItIsTaken) {
  const Device device = oneCore();
  const StepWork records = withRecords(4);
  StepClock clock(device);
  clock.next(tenCalls());
  const Cycles tried = clock.endOf(StepCycles(records, device), records);
  EXPECT_EQ(clock.endOf(StepCycles(records, device), records), tried);
  EXPECT_EQ(clock.next(records).end, tried);
}

// Beside one that has twice the work: a core with places for all rows of an iteration may be as far
// behind, one with none keeps step.
TEST(StepClock, CoresKeepStepAsFarAsRowsHaveNoPlaces) {
  const Device device = oneCore();
  const auto end = [&](std::int64_t places, std::int64_t blocksOfTheSlowest) {
    StepWork step = tenCalls();
    CoreWork& core = step.cores[0];
    core.rows = 12;
    core.places = places;
    for (CallWork& call : core.calls) call.pace.blocks = blocksOfTheSlowest;
    return StepClock(device).next(step).end;
  };
  EXPECT_EQ(end(12, 16), end(12, 8));
  EXPECT_GT(end(6, 16), end(6, 8));
  EXPECT_GT(end(0, 16), end(6, 16));
}

TEST(StepClock, SomeOfTheCoresEndNoLaterThanAll) {
  const Device device = oneCore();
  StepWork all = tenCalls();
  all.cores.push_back(all.cores[0]);
  all.cores[1].calls = {all.cores[1].calls[0]};
  all.cores[1].calls[0].waited = {transfers(400, 100), {}};
  StepWork some = all;
  some.cores.pop_back();
  StepClock clock(device);
  EXPECT_LT(clock.endOf(StepCycles::ofSomeCores(some, device), some),
            clock.endOf(StepCycles(all, device), all));
  // Whole inputs, whose last row goes by wire: how many rows the others have is not known.
  StepWork someRead = some, allRead = all;
  for (StepWork* step : {&someRead, &allRead}) {
    step->reads = {{0, {400_B, 50, 50}}};
    step->height = 12;
    step->cores[0].rows = 3;
  }
  allRead.cores[1].rows = 12;
  EXPECT_LE(clock.endOf(StepCycles::ofSomeCores(someRead, device), someRead),
            clock.endOf(StepCycles(allRead, device), allRead));
  // A wire that is done last waits for the call of the busiest core, which may be another's.
  all.wires[0].activations = some.wires[0].activations = transfers(400, 200);
  all.cores[1].calls[0].pace.taps = 1;
  EXPECT_LE(clock.endOf(StepCycles::ofSomeCores(some, device), some),
            clock.endOf(StepCycles(all, device), all));
  // Cores that keep step with a slower one as far as their rows have no places.
  for (StepWork* step : {&some, &all})
    for (CoreWork& core : step->cores) {
      core.rows = 12;
      core.places = 4;
      for (CallWork& call : core.calls) call.pace.blocks = 16;
    }
  EXPECT_LE(clock.endOf(StepCycles::ofSomeCores(some, device), some),
            clock.endOf(StepCycles(all, device), all));
  // Cores that are alike but for their wires, of which one is idle before.
  StepWork other = overTheOtherWire();
  other.cores[0].rowWires = {{0}};
  other.wires[0].activations = transfers(400, 3);
  StepWork both = other;
  both.cores[0].rowWires = {{0}, {1}};
  clock.next(tenCalls());
  EXPECT_LE(clock.endOf(StepCycles::ofSomeCores(other, device), other),
            clock.endOf(StepCycles(both, device), both));
  // Records by turns, of which the later is needed the later the longer the cores compute.
  StepWork byTurns = withRecords(4);
  byTurns.ddrRead[0].weights = byTurns.ddrRead[1].weights = transfers(4000, 2);
  byTurns.ddrRead[0].firstRecord = 1;
  byTurns.reads = {{0, {400_B, 50, 50}}};
  StepWork noCores = byTurns;
  noCores.cores.clear();
  StepClock idle(device);
  EXPECT_LE(idle.endOf(StepCycles::ofSomeCores(noCores, device), noCores),
            idle.endOf(StepCycles(byTurns, device), byTurns));
  // Of engines alone: what the wire brings takes its time.
  some.cores.clear();
  const Cycles ofEngines = clock.endOf(StepCycles::ofSomeCores(some, device), some);
  EXPECT_GE(ofEngines, wireTime(400_B, device) * 200);
  EXPECT_LE(ofEngines, clock.endOf(StepCycles(all, device), all));
}

TEST(StepTimes, WhatGoesWholeTakesTheChannelsBesideTheStepsOwn) {
  StepWork own = withRecords(4), beside = withRecords(4);
  add(own.ddrRead[1].activations, 400_B, 90);
  add(own.ddrWrite[0].activations, 800_B, 30);
  beside.reads = {{1, {400_B, 90, 90}}};
  beside.writes = {{0, {800_B, 30, 30}}};
  Device device = oneCore();
  device.lockAcquire = Cycles(20);
  device.rates.ddrReadTotal = BytesPerSecond{4'000'000'000};
  EXPECT_EQ(timeOf(beside, device).busy, timeOf(own, device).busy);
  EXPECT_GT(timeOf(beside, device).end, timeOf(withRecords(4), device).end);
}

// Of a route whose records take turns twice on one wire the first call needs the first alone.
TEST(StepTimes, ACoreWaitsForTheFirstRecordOfARouteNotOfEachTurn) {
  StepWork step = withRecords(4);
  step.wires[1].firstWeights = transfers(4000, 2);
  EXPECT_EQ(timeOf(step).begin, Cycles(1000 + 1000));
}

TEST(StepTimes, FirstRowsGoByWireAsTheyComeOutOfDdr) {
  StepWork step = tenCalls();
  step.cores[0].first.ddr = transfers(400, 3);
  step.ddrRead[0].activations = transfers(400, 12);
  EXPECT_EQ(timeOf(step).begin, Cycles(100 + 300));
  step.cores[0].first.ddr = transfers(800, 3);
  EXPECT_EQ(timeOf(step).begin, Cycles(600 + 100));
}

TEST(StepTimes, RowsThatStayComeBeforeTheRecordsOfALaterTurn) {
  StepWork step = withRecords(4);
  step.ddrRead[0].weights = step.ddrRead[1].weights = transfers(4000, 2);
  step.ddrRead[0].firstRecord = 1;
  step.ddrRead[0].activations = transfers(400, 20);
  step.writing.iterations = 4;  // a fourth of the rows for each
  EXPECT_EQ(timeOf(step).begin, Cycles(1000 + 1000));
  step.cores[0].stays = 1;
  EXPECT_EQ(timeOf(step).begin, Cycles(2000 + 1000 - 2520 / 4 + 1000));
}

TEST(StepTimes, TheLastRowsOfAChannelComeBehindItsLastRecord) {
  StepWork step = withRecords(4);
  step.ddrRead[1].activations = transfers(400, 20);
  step.writing = {.iterations = 4, .first = 3, .last = 3};
  EXPECT_EQ(timeOf(step).end, Cycles(4000 + 2000 * 3 / 4 + 1000 + 2520 / 4 + 200));
  step.cores[0].stays = 1;  // no rows come after the first iteration
  EXPECT_EQ(timeOf(step).end, Cycles(4000 + 2000 + 1000 + 2520 / 4 + 200));
  StepWork one = withRecords(1);
  one.ddrRead[1].activations = transfers(400, 20);
  one.cores[0].stays = 1;
  EXPECT_EQ(timeOf(one).end, Cycles(1000 + 1000 + 2520 + 200));
}

TEST(StepTimes, RecordsComeBehindWhatGoesWholeOverTheirChannel) {
  StepWork step = withRecords(2);
  step.reads = {{0, {400_B, 50, 50}}};
  EXPECT_EQ(timeOf(step).begin, Cycles(1000 + 1000));
  step.reads = {{1, {400_B, 50, 50}}};
  EXPECT_EQ(timeOf(step).begin, Cycles(5000 + 1000 + 1000));
}

TEST(StepTimes, ARecordOfALaterTurnIsNeededLater) {
  StepWork step = withRecords(4);
  step.ddrRead[0].weights = step.ddrRead[1].weights = transfers(4000, 2);
  step.reads = {{0, {400_B, 50, 50}}};
  EXPECT_EQ(timeOf(step).begin, Cycles(5000 + 1000 + 1000));
  step.ddrRead[0].firstRecord = 1;
  EXPECT_EQ(timeOf(step).begin, Cycles(5000 + 1000 - 2520 / 4 + 1000));
}

// Of the places for records those of one turn of two get half.
TEST(StepTimes, RecordsByTurnsSharePlaces) {
  StepWork step = withRecords(8);
  step.cores[0].first.wire = transfers(4000, 3);  // they are waited for at 3000
  EXPECT_EQ(timeOf(step).end, Cycles(1000 + 8 * 1000 + 2520 / 8 + 200));
  step.wires[1].turns = 2;
  EXPECT_EQ(timeOf(step).end, Cycles(3000 + 8 * 1000 - 2 * 1000 / 2 + 252 + 200));
}

// Of five passes over ten calls the first needs the last row.
TEST(StepTimes, OnlyTheFirstIterationWaitsForWhatGoesWhole) {
  StepWork step = tenCalls();
  step.writing.iterations = 5;
  step.reads = {{0, {400_B, 50, 50}}};
  EXPECT_EQ(timeOf(step).end, Cycles(5000 + 300 + 252 + 2520 * 4 / 5 + 200));
}

TEST(StepTimes, ACoreBeginsWhenItsFirstRowsOfWhatGoesWholeAreThere) {
  StepWork step = tenCalls();
  step.height = 10;
  step.reads = {{0, {400_B, 50, 50}}};
  EXPECT_EQ(timeOf(step).end, Cycles(5000 + 300 + 252 + 200));
  step.cores[0].rowsBefore = 8;
  EXPECT_EQ(timeOf(step).end, Cycles(5000 * 8 / 10 + 2520 + 200));
}

TEST(StepTimes, RowsComeWhileARecordIsAwaited) {
  StepWork step = withRecords(1);  // the first call begins at 2000, with rows at 300
  CoreWork& core = step.cores[0];
  core.calls[1].ahead.wire = transfers(1600, 1);
  const std::int64_t calls = 252 + 9 * 400;
  EXPECT_EQ(timeOf(step).end, Cycles(2000 + calls + 200));
  core.rows = core.places = 12;
  EXPECT_EQ(timeOf(step).end, Cycles(2000 + 2520 + 200));
  core.places = 6;  // for half of what is waited for
  EXPECT_EQ(timeOf(step).end, Cycles(2000 + calls - (calls - 2520) / 2 + 200));
  core.places = 12;
  // Nothing to wait for but its rows.
  step.wires[1].weights = step.wires[1].firstWeights = step.wires[1].firstOfRoutes = {};
  step.ddrRead[1].weights = {};
  EXPECT_EQ(timeOf(step).end, Cycles(300 + calls + 200));
}

TEST(StepTimes, RowsComeAheadOverAWireThatIsIdle) {
  StepWork first = tenCalls(), second = overTheOtherWire();
  first.all = {0, 100};
  const auto cycles = [&] { return stepTimes({first, second}, oneCore())[1].cycles; };
  const std::int64_t calls = 252 + 9 * 400;
  EXPECT_EQ(cycles(), Cycles(2520));
  second.cores[0].places = 6;  // for half of what is waited for
  EXPECT_EQ(cycles(), Cycles(calls - (calls - 2520) / 2));
  // A quarter as many rows by the other wire, which the step before keeps until its last but one
  // call: with those the core begins 204 cycles earlier than it is free.
  second.cores[0].places = 12;
  second.cores[0].rowWires = {{0, 1}};
  second.wires[0].activations = transfers(400, 3);
  EXPECT_EQ(cycles(), Cycles(2520 + (calls - 2520) / 4 - 204));
}

// Of cores that do the same each waits for its own wires, whatever those of the others bring.
TEST(StepTimes, CoresThatAreAlikeWaitForTheirOwnWires) {
  StepWork first = tenCalls(), second = overTheOtherWire();
  first.all = {0, 100};
  second.cores[0].rowWires = {{1}, {0}};
  second.wires[0].activations = transfers(400, 3);
  EXPECT_EQ(stepTimes({first, second}, oneCore())[1].cycles, Cycles(252 + 9 * 400 - 204));
  std::swap(second.cores[0].rowWires[0], second.cores[0].rowWires[1]);
  EXPECT_EQ(stepTimes({first, second}, oneCore())[1].cycles, Cycles(252 + 9 * 400 - 204));
}

TEST(StepTimes, NoRowsComeWhileTheFirstRecordTakesTheirWire) {
  StepWork first = tenCalls(), second = overTheOtherWire();
  first.all = {0, 100};
  second.wires[1].weights = second.wires[1].firstWeights = transfers(4000, 1);
  second.wires[1].firstOfRoutes = transfers(4000, 1);
  second.records = 1;
  second.weightSlots = 2;
  second.cores[0].calls[1].ahead.wire = transfers(4000, 1);
  // The core is free at 2820, and has its first rows at 1300.
  EXPECT_EQ(stepTimes({first, second}, oneCore())[1].cycles, Cycles(252 + 9 * 1000 - 1520));
}

TEST(StepTimes, SlowWiresDoNotOverflow) {
  Device slow = oneCore();
  slow.rates.wire = slow.rates.memtileRead = BytesPerSecond{1'000'000};
  StepWork step = overTheOtherWire();
  step.wires[1].activations = transfers(4'000'000, 9);
  step.cores[0].calls[1].ahead.wire = transfers(4'000'000, 1);
  step.cores[0].places = 1;
  EXPECT_EQ(timeOf(step, slow).end, Cycles(3 * 400'000 + 252 + 9 * 4'000'000'000 + 200));
}

TEST(StepTimes, AWireWaitsForRowsOutOfDdr) {
  StepWork first = tenCalls(), second = tenCalls();
  first.ddrRead[0].activations = transfers(4000, 12);
  first.rowsAhead = true;
  EXPECT_EQ(stepTimes({first, second}, oneCore())[1].begin, Cycles(12000 + 300));
  first.ddrRead[0].activations = {};
  first.rowsAhead = false;
  first.reads = {{0, {Bytes(4000), 12, 12}}};  // whole
  EXPECT_EQ(stepTimes({first, second}, oneCore())[1].begin, Cycles(12000 + 300 + 252));
}

TEST(StepTimes, WhatIsReadAgainFollowsTheLastRowThatIsWritten) {
  StepWork first = tenCalls(), second = overTheOtherWire();
  first.cores[0].calls[1].times = 89;
  first.all = {0, 100};
  second.wires[1].activations = transfers(4000, 20);
  second.producers = {{0, false}};
  second.writing.iterations = 2;
  const auto end = [&] { return stepTimes({first, second}, oneCore())[1].end; };
  const std::int64_t written = 300 + 90 * 252;
  EXPECT_EQ(end(), Cycles(written + 10000 + 252 + 200));  // half of the rows, the last call
  second.lastRows = 1;  // the second half are other rows, which have come
  EXPECT_EQ(end(), Cycles(written + 2520 + 200));
}

TEST(StepTimes, ARecordLeavesItsPlaceBeforeTheRowsItIsFor) {
  StepWork first = withRecords(1), second = withRecords(1);
  std::swap(first.wires[0].weights, first.wires[1].weights);
  std::swap(first.wires[0].firstWeights, first.wires[1].firstWeights);
  std::swap(first.wires[0].firstOfRoutes, first.wires[1].firstOfRoutes);
  first.recordsStaged = 1;
  second.record = Bytes(16000);
  second.wires[1].weights = second.ddrRead[1].weights = transfers(16000, 1);
  second.wires[1].firstWeights = second.ddrRead[1].firstWeights = transfers(16000, 1);
  second.wires[1].firstOfRoutes = transfers(16000, 1);
  // Out of DDR by 1000, over the wire by 2000.
  EXPECT_EQ(stepTimes({first, second}, oneCore())[1].begin, Cycles(2000 + 4000 + 4000));
}

TEST(StepTimes, ARecordComesBeforeTheRowsOfItsChannel) {
  StepWork step = withRecords(1);
  step.wires[1].weights = step.wires[1].firstWeights = step.wires[1].firstOfRoutes = {};
  step.rowsAhead = true;
  step.cores[0].first.ddr = transfers(400, 3);
  step.ddrRead[0].activations = transfers(400, 12);
  EXPECT_EQ(timeOf(step).begin, Cycles(100 + 300));
  std::swap(step.ddrRead[0].activations, step.ddrRead[1].activations);
  EXPECT_EQ(timeOf(step).begin, Cycles(1000 + 100 + 300));
}

// Half of the rows are written while the input comes, the others as fast as DDR takes them.
TEST(StepTimes, WhatIsWrittenBehindAnInputThatStaysComesBehindIt) {
  StepWork step = tenCalls();
  CoreWork& core = step.cores[0];
  core.stays = 1;
  core.loading = core.calls;
  core.loading[1].ahead.wire = transfers(4000, 1);
  core.calls.insert(core.calls.begin(), core.loading.begin(), core.loading.end());
  step.writing = {.iterations = 2, .first = 0, .last = 1, .all = 2, .ofLastPass = 1};
  step.ddrWrite[1].activations = transfers(800, 50);
  EXPECT_EQ(timeOf(step).end, Cycles(300 + 252 + 9 * 1000 + 50 * 200 / 2 + 200));
}

TEST(StepTimes, WhatWiresHoldUpIsWrittenLater) {
  StepWork step = withRecords(5);  // the last is there at 6000, 1000 later than out of DDR
  step.writing = {.iterations = 5, .first = 4, .last = 4};
  step.ddrWrite[1].activations = transfers(800, 5);
  const StepTime time = timeOf(step);
  EXPECT_EQ(time.begin, Cycles(2000));
  EXPECT_EQ(time.end, Cycles(6000 + 252 + 5 * 200 + 200));
}

TEST(StepTimes, RecordsComeAheadOnlyWhereTheCoreHasRoom) {
  StepWork first = withRecords(1), second = withRecords(1);
  first.all = first.weights = {0, 100};
  second.all = second.weights = {100, 200};
  const std::vector<StepTime> beside = stepTimes({first, second}, oneCore());
  EXPECT_EQ(beside[0].end, Cycles(2000 + 2520 + 200));
  EXPECT_EQ(beside[1].cycles, Cycles(2520));
  second.all = second.weights = {50, 150};
  EXPECT_EQ(stepTimes({first, second}, oneCore())[1].cycles, Cycles(1000 + 2520));
}

TEST(StepTimes, RecordsAreStagedWhileThoseOfTheStepBeforeAreOnTheirWay) {
  StepWork first = withRecords(4), second = withRecords(4);
  first.all = first.weights = {0, 100};
  second.all = second.weights = {100, 200};
  // Four of eight places are taken, the first of them free again after one record: the wire goes
  // on.
  EXPECT_EQ(stepTimes({first, second}, oneCore())[1].cycles, Cycles(4 * 1000));
  // With a single place the next record waits in DDR until the last one has left.
  first.recordsStaged = 1;
  EXPECT_EQ(stepTimes({first, second}, oneCore())[1].cycles, Cycles(1000 + 4 * 1000));
}

TEST(StepTimes, WhatComesBackOutOfDdrMustBeThereWhole) {
  StepWork second = tenCalls();
  second.producers = {{.step = 0, .whole = false}};
  const std::vector<StepTime> row = stepTimes({tenCalls(), second}, oneCore());
  second.producers = {{.step = 0, .whole = true}};
  const std::vector<StepTime> whole = stepTimes({tenCalls(), second}, oneCore());
  EXPECT_LT(row[1].cycles, whole[1].cycles);
  EXPECT_EQ(whole[1].begin, whole[0].end + Cycles(300));
}

TEST(StepTimes, ChannelsShareATotalRate) {
  StepWork step = tenCalls();
  step.ddrRead[0].activations = step.ddrRead[1].activations = transfers(4000, 10);
  EXPECT_EQ(timeOf(step).end, Cycles(10'000 + 252 + 200));
  Device shared = oneCore();
  shared.rates.ddrReadTotal = BytesPerSecond{4'000'000'000};
  EXPECT_EQ(timeOf(step, shared).end, Cycles(20'000 + 252 + 200));
  step = tenCalls();
  step.ddrWrite[0].activations = step.ddrWrite[1].activations = transfers(4000, 10);
  shared.rates.ddrWriteTotal = BytesPerSecond{4'000'000'000};
  EXPECT_EQ(timeOf(step, shared).end, Cycles(300 + 20'000 + 200));
}

TEST(StepTimes, LocksTakeTheirTimeOnceARowAndCall) {
  Device slow = oneCore();
  slow.lockAcquire = Cycles(20);
  EXPECT_EQ(timeOf(tenCalls(), slow).end, Cycles(3 * 120 + 10 * 272 + 220));
  StepWork pieces = tenCalls();  // of one row
  add(pieces.cores[0].first.wire, 400_B, 3, false);
  EXPECT_EQ(timeOf(pieces, slow).end, Cycles(3 * 120 + 3 * 100 + 10 * 272 + 220));
}

TEST(StepTimes, AStepThatExecutesNothingTakesNothing) {
  const std::vector<StepTime> times = stepTimes({tenCalls(), {}, tenCalls()}, oneCore());
  EXPECT_EQ(times[1].cycles, Cycles(0));
  EXPECT_EQ(times[1].end, times[0].end);
  EXPECT_EQ(times[2].cycles, stepTimes({tenCalls(), tenCalls()}, oneCore())[1].cycles);
}

TEST(StepTimes, TransfersOfOneSizeAreOneEntry) {
  Transfers t;
  add(t, 8_B, 3);
  add(t, 16_B, 1);
  add(t, 8_B, 2, false);
  add(t, Bytes(0), 5);
  EXPECT_EQ(t, (Transfers{{8_B, 5, 3}, {16_B, 1, 1}}));
}

}  // namespace
}  // namespace heddle
