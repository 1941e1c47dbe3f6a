// Breaks correct programs in one place, at random, and counts how many of the broken ones are
// noticed: by a fault of the Machine, or by a tensor that differs. The kill rate is printed;
// HEDDLE_MUTANTS sets how many are made of each program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"
#include "heddle/program/verify.h"
#include "mutate.h"
#include "program_builder.h"
#include "random_graph.h"
#include "worked_convolution.h"

namespace heddle::mutation {
namespace {

// Kinds of which every mutant must be noticed. Survivors of the others were looked at by kind:
// - items in another order: what the change lets go is ordered by something else too, so the
//   program is right at any times;
// - bytes that nobody reads later, or an operand that this core never reads (other inputs of a
//   Concat; rows between the taps of a dilated window): where it lies, and the ring's numbers for
//   it, mean nothing;
// - a ring's rows + 1 where it never wraps, its row or column length where it has one of them;
// - a lock that begins with a space less: rows wait longer; in the program written by hand one that
//   begins with a space more, too;
// - a buffer whose last bytes are of no use.
const std::set<std::string> kAlwaysNoticed{"lock count", "lock index", "loop count",
                                           "part",       "reduction",  "route",
                                           "sequencer",  "size",       "weights"};

struct Subject {
  Program program;
  Device device;
  WeightImage weights;
  ProgramInputs inputs;
};

struct Tally {
  int made = 0, verified = 0, faults = 0, wrong = 0;
  int slower = 0;                                     // right, with a lock that begins with less
  std::map<std::string, std::pair<int, int>> byKind;  // made, survived
  std::vector<std::string> survivors;
};

int mutantsOfEach() {
  const char* asked = std::getenv("HEDDLE_MUTANTS");
  return asked == nullptr ? 40 : std::atoi(asked);
}

bool beginWithLess(const Program& mutant, const Program& original) {
  return std::equal(mutant.locks.begin(), mutant.locks.end(), original.locks.begin(),
                    original.locks.end(),
                    [](const Lock& a, const Lock& b) { return a.initial <= b.initial; }) &&
         mutant.locks != original.locks;
}

void judge(const Subject& subject, Tally& tally) {
  const Result<SimulateResult> right =
      simulateWithData(subject.program, subject.device, subject.weights, subject.inputs);
  ASSERT_TRUE(right) << right.diagnostics();
  // The convolution written by hand has no ports: only the Machine looks at it.
  const bool verifies = verify(subject.program, subject.device).empty();
  const SimulateOptions options{.recordTimeline = false,
                                .maxCycles = Cycles(right->timeline.makespan.raw() * 20 + 1000)};
  for (int i = 0; i < mutantsOfEach(); ++i) {
    const Mutation m = mutate(subject.program, static_cast<std::uint64_t>(i));
    ++tally.made;
    auto& [made, survived] = tally.byKind[m.kind];
    ++made;
    if (verifies && !verify(m.program, subject.device).empty()) {
      ++tally.verified;
      continue;
    }
    const Result<SimulateResult> result =
        simulateWithData(m.program, subject.device, subject.weights, subject.inputs, options);
    if (!result) {
      ++tally.faults;
    } else if (result->tensors != right->tensors || result->outputs != right->outputs) {
      ++tally.wrong;
    } else {
      ++survived;
      tally.slower += beginWithLess(m.program, subject.program);
      tally.survivors.push_back(m.kind + ", " + m.what);
    }
  }
}

Subject generated(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  const CanonicalGraph graph =
      property::makeRandomGraph({.seed = seed, .ops = 3, .maxElements = 6000, .maxMacs = 500'000});
  Subject s{{}, testing::paperLike(rows, columns), {}, property::randomInputs(graph, seed)};
  Result<Plan> plan = makePlan(graph, s.device);
  Result<MemoryPlan> memory = allocateMemory(graph, *plan, s.device);
  Result<GeneratedProgram> made = generateProgram(graph, *plan, *memory, s.device);
  s.program = std::move(made->program);
  s.weights = std::move(made->weights);
  EXPECT_EQ(verify(s.program, s.device), Diagnostics{});
  return s;
}

TEST(Mutation, ChangesExactlyWhatItSays) {
  const testing::WorkedConvolution w;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Mutation m = mutate(w.b.program, seed);
    EXPECT_NE(m.program, w.b.program);
    EXPECT_FALSE(m.what.empty());
    EXPECT_EQ(mutate(w.b.program, seed).what, m.what);
  }
}

TEST(Mutation, BrokenProgramsAreNoticed) {
  Tally tally;
  const testing::WorkedConvolution w;
  judge({w.b.program, w.device, w.image, {w.input}}, tally);
  // Of the program written by hand: a space more is right there, as a ring is longer than its loop
  // needs.
  const int byHand = tally.byKind["lock initial"].second - tally.slower;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    judge(generated(seed, 1 + static_cast<std::int64_t>(seed % 3), 2), tally);
  for (const auto& [kind, counts] : tally.byKind)
    std::cout << kind << ": " << counts.second << " of " << counts.first << " survive\n";
  for (const std::string& survivor : tally.survivors) std::cout << "survivor: " << survivor << '\n';
  const int killed = tally.verified + tally.faults + tally.wrong;
  const int broken = tally.made - tally.slower;  // a program that only waits longer is right
  std::cout << "kill rate " << 100.0 * killed / broken << " % of " << broken << " ("
            << tally.verified << " refused by verify, " << tally.faults << " faults, "
            << tally.wrong << " wrong tensors); " << tally.slower << " more wait longer\n";
  EXPECT_GE(killed * 100, broken * 97);
  for (const std::string& kind : kAlwaysNoticed) EXPECT_EQ(tally.byKind[kind].second, 0) << kind;
  // In generated programs a token more is a hole in the order, or nobody ever takes it.
  EXPECT_EQ(tally.byKind["lock initial"].second, tally.slower + byHand);
}

}  // namespace
}  // namespace heddle::mutation
