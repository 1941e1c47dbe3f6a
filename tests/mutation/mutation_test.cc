// Breaks correct programs in one place, at random, and counts how many of the broken ones are
// noticed: by a fault of the Machine, or by a tensor that differs. The kill rate is printed;
// HEDDLE_MUTANTS sets how many are made of each program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include "graphs.h"
#include "heddle/machine/machine.h"
#include "heddle/program/verify.h"
#include "mutate.h"
#include "subjects.h"
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
const std::set<std::string> kAlwaysNoticed{"lock count", "lock index", "loop count", "part",
                                           "reduction",  "route",      "sampling",   "sequencer",
                                           "size",       "weights"};

struct Tally {
  int made = 0, verified = 0, faults = 0, wrong = 0;
  int slower = 0;                                     // right, with a lock that begins with less
  std::map<std::string, std::pair<int, int>> byKind;  // made, survived
  std::vector<std::string> survivors;

  int killed() const { return verified + faults + wrong; }
  int broken() const { return made - slower; }  // a program that only waits longer is right
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
  const Result<SimulateResult> right = subject.run();
  ASSERT_TRUE(right) << right.diagnostics();
  const SimulateOptions options{.recordTimeline = false,
                                .maxCycles = Cycles(right->timeline.makespan.raw() * 20 + 1000)};
  for (int i = 0; i < mutantsOfEach(); ++i) {
    const Mutation m = mutate(subject.program, static_cast<std::uint64_t>(i));
    ++tally.made;
    auto& [made, survived] = tally.byKind[m.kind];
    ++made;
    const Result<VerifiedProgram> program = verified(m.program, subject.device);
    if (!program) {
      ++tally.verified;
      continue;
    }
    const Result<SimulateResult> result =
        simulateWithData(*program, subject.weights, subject.inputs, options);
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

// Mutants of the weights of one program: made and survived, by kind.
void judgeImage(const Subject& subject, std::map<std::string, std::pair<int, int>>& byKind) {
  const VerifiedProgram program = *verified(subject.program, subject.device);
  const Result<SimulateResult> right = simulateWithData(program, subject.weights, subject.inputs);
  ASSERT_TRUE(right) << right.diagnostics();
  for (int i = 0; i < mutantsOfEach(); ++i) {
    const ImageMutation m =
        mutateImage(subject.program, subject.weights, static_cast<std::uint64_t>(i));
    ASSERT_NE(m.image, subject.weights);
    const Result<SimulateResult> result = simulateWithData(program, m.image, subject.inputs);
    auto& [made, survived] = byKind[m.kind];
    ++made;
    if (!result || result->tensors != right->tensors) continue;
    ++survived;
    std::cout << "survivor: " << m.kind << ", " << m.what << '\n';
  }
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

void print(const Tally& tally) {
  for (const auto& [kind, counts] : tally.byKind)
    std::cout << kind << ": " << counts.second << " of " << counts.first << " survive\n";
  for (const std::string& survivor : tally.survivors) std::cout << "survivor: " << survivor << '\n';
  std::cout << "kill rate " << 100.0 * tally.killed() / tally.broken() << " % of " << tally.broken()
            << " (" << tally.verified << " refused by verify, " << tally.faults << " faults, "
            << tally.wrong << " wrong tensors); " << tally.slower << " more wait longer\n";
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
  judge(withAFusedSum(2, 2), tally);
  judge(withAFusedSum(3, 1), tally);
  judge(withADepthwiseEnd(2, 2), tally);
  judge(withADepthwiseEnd(1, 3), tally);
  judge(withSlices(2, 2, 64_KiB), tally);
  judge(withSlices(2, 1, 5_KiB), tally);  // out of DDR
  for (std::uint64_t seed = 9; seed <= 12; ++seed)
    judge(generated(seed, 2, 1 + static_cast<std::int64_t>(seed % 3), 2 + seed % 2), tally);
  for (std::uint64_t seed = 13; seed <= 15; ++seed)
    judge(generated(seed, 2, 2, 1 + seed % 2, 2 + seed % 2), tally);
  print(tally);
  EXPECT_GE(tally.killed() * 100, tally.broken() * 97);
  for (const std::string& kind : kAlwaysNoticed) EXPECT_EQ(tally.byKind[kind].second, 0) << kind;
  // In generated programs a token more is a hole in the order, or nobody ever takes it.
  EXPECT_EQ(tally.byKind["lock initial"].second, tally.slower + byHand);
}

// Where an image ends, its border begins: a program of another batch computes something else.
TEST(Mutation, AnotherBatchIsNoticed) {
  testing::GraphBuilder b("images");
  const CanonicalGraph graph =
      b.finish(b.conv("conv", b.input("x", {4, 6, 16}), 16, testing::square(3, 1, 1)));
  const Subject right = compiled(graph, testing::paperLike(2, 2), 1, 1, 4);
  const Result<SimulateResult> is = right.run();
  ASSERT_TRUE(is) << is.diagnostics();
  for (const std::int64_t batch : {1, 2, 8}) {
    Program other = right.program;
    other.batch = batch;
    EXPECT_FALSE(verify(other, right.device).empty());  // its ports are of another image
    for (std::vector<Port>* ports : {&other.inputs, &other.outputs})
      for (Port& port : *ports) {
        Shape image = other.tensors[port.tensor.at()].shape;
        image.height /= batch;
        port = testing::portOf(port.name, port.tensor, image);
      }
    const Result<VerifiedProgram> sound = verified(other, right.device);
    ASSERT_TRUE(sound) << sound.diagnostics();
    const Result<SimulateResult> wrong = simulateWithData(*sound, right.weights, right.inputs);
    EXPECT_TRUE(!wrong || wrong->outputs != is->outputs) << batch;
  }
}

void forEachCall(std::vector<Item>& items, const std::function<void(Call<Affine>&)>& f) {
  for (Item& item : items) {
    if (Loop* loop = std::get_if<Loop>(&item.as))
      forEachCall(loop->body, f);
    else if (auto* call = std::get_if<Call<Affine>>(&std::get<Instruction>(item.as).as))
      f(*call);
  }
}

// Whatever the outputs then are: with data, no partial sum goes without a word.
TEST(Mutation, ASumThatIsBegunAnewBeforeItIsFinishedIsNoticed) {
  const Subject right = withAFusedSum(2, 2);
  Program program = right.program;
  int begun = 0;
  for (Section& section : program.sections)
    forEachCall(section.items, [&](Call<Affine>& call) {
      if (call.init) return;
      Call<Affine> broken = call;
      broken.init = true;
      std::swap(call, broken);
      const Result<VerifiedProgram> sound = verified(program, right.device);
      std::swap(call, broken);
      ASSERT_TRUE(sound) << sound.diagnostics();
      const Result<SimulateResult> run = simulateWithData(*sound, right.weights, right.inputs);
      ASSERT_FALSE(run);
      EXPECT_EQ(run.diagnostics()[0].code, "MACH010") << run.diagnostics();
      ++begun;
    });
  EXPECT_GT(begun, 0);
}

TEST(Mutation, BrokenSparseProgramsAreNoticed) {
  Tally tally;
  for (const Subject& subject : sparseSubjects(3)) judge(subject, tally);
  print(tally);
  EXPECT_GE(tally.killed() * 100, tally.broken() * 95);
  for (const std::string& kind : kAlwaysNoticed) EXPECT_EQ(tally.byKind[kind].second, 0) << kind;
}

TEST(Mutation, BrokenSparseWeightsAreNoticed) {
  std::map<std::string, std::pair<int, int>> byKind;
  for (const Subject& subject : sparseSubjects(0)) judgeImage(subject, byKind);
  int made = 0, survived = 0;
  for (const auto& [kind, counts] : byKind) {
    std::cout << kind << ": " << counts.second << " of " << counts.first << " survive\n";
    made += counts.first;
    survived += counts.second;
  }
  for (const char* kind : {"gamma", "gamma, as many kept"})
    EXPECT_EQ(byKind[kind].second, 0) << kind;
  // A weight's low bit may vanish where sums are rounded, and any where an output saturates.
  EXPECT_GE((made - survived) * 100, made * 95);
}

}  // namespace
}  // namespace heddle::mutation
