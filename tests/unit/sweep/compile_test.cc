// One function from a network and a device to a program: what a sweep's threads share.
#include "heddle/driver/compile.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "../graphs.h"
#include "heddle/canon/fuse_operators.h"

namespace heddle {
namespace {

Network network(const std::string& name) {
  NoProgress quiet;
  Result<Network> read =
      readNetwork({.path = HEDDLE_SOURCE_DIR "/models/" + name + ".onnx"}, std::nullopt, quiet);
  EXPECT_TRUE(read) << toText(read.diagnostics());
  return std::move(*read);
}

Device device(std::int64_t rows, std::int64_t columns) {
  return *readDevice("paper", {.mesh = std::pair{rows, columns}});
}

TEST(Compile, TheSameOnAnyThreadAtAnyTime) {
  const Network shared = network("tiny_pruned");
  std::vector<std::optional<Compilation>> runs(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < runs.size(); ++i)
    threads.emplace_back([&, i] {
      NoProgress quiet;
      const auto side = static_cast<std::int64_t>(1 + i / 2);
      Result<Compilation> run = compile(shared, device(side, side), {}, quiet);
      if (run) runs[i] = std::move(*run);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    ASSERT_TRUE(runs[i] && runs[i + 1]);
    EXPECT_EQ(*runs[i]->program, *runs[i + 1]->program);
    EXPECT_EQ(runs[i]->weights->bytes, runs[i + 1]->weights->bytes);
    EXPECT_EQ(runs[i]->report->cycles, runs[i + 1]->report->cycles);
    EXPECT_TRUE(runs[i]->report->verification.matches);
  }
  EXPECT_NE(*runs[0]->program, *runs[2]->program);
}

TEST(Compile, WithoutTextAndWhatIfsTheTimeIsTheSame) {
  const Network net = network("tiny_cnn");
  NoProgress quiet;
  const auto whole = compile(net, device(2, 2), {}, quiet);
  const auto lean =
      compile(net, device(2, 2), {.verify = false, .whatIf = false, .listing = false}, quiet);
  ASSERT_TRUE(whole && lean);
  EXPECT_EQ(*whole->program, *lean->program);
  EXPECT_EQ(whole->report->cycles, lean->report->cycles);
  EXPECT_TRUE(whole->listing && !lean->listing);
  EXPECT_TRUE(!whole->whatIf.empty() && lean->whatIf.empty());
}

// A pool of 4x4 behind a convolution of 5x5 sees 8 rows, and its records cannot be cut by kernel
// rows: where that does not fit, the two are layers of their own.
TEST(Compile, APoolIsALayerOfItsOwnWhereACoreHasNoRoomForItsRows) {
  testing::GraphBuilder b("net");
  const TensorId x = b.input("x", {12, 12, 8});
  const CanonicalGraph graph = b.finish(
      b.maxPool("pool", b.conv("conv", x, 8, testing::square(5, 1, 2)), testing::square(4, 4)));
  Network net;
  net.modelName = "net";
  net.canonical = std::make_shared<const Canonicalized>(Canonicalized{.graph = graph});
  net.fused = fuseOperators(graph);
  NoProgress quiet;
  for (const bool small : {false, true}) {
    const Device device = *readDevice(
        "paper",
        {.mesh = std::pair{1, 1}, .settings = {{"core.memory", small ? "2KiB" : "64KiB"}}});
    const Result<Compilation> run = compile(net, device, {}, quiet);
    ASSERT_TRUE(run) << toText(run.diagnostics());
    EXPECT_EQ(run->report->layers.size(), small ? 2u : 1u);
    EXPECT_TRUE(run->report->verification.matches);
  }
}

constexpr CompileSettings kLean{.whatIf = false, .explain = false, .listing = false};

Device withSetting(const std::string& key, const std::string& value) {
  return *readDevice("paper", {.mesh = std::pair{2, 2}, .settings = {{key, value}}});
}

TEST(Compile, AProgramThatWasMadeIsTimedAgain) {
  const Network net = network("tiny_cnn");
  NoProgress quiet;
  MadePrograms made(2);
  const auto run = [&](const Device& device, MadePrograms* programs) {
    Given given;
    given.made = programs;
    Result<Compilation> result = compile(net, device, kLean, quiet, std::move(given));
    EXPECT_TRUE(result) << toText(result.diagnostics());
    return std::move(*result);
  };
  const Compilation first = run(device(2, 2), &made);
  const Device slow = withSetting("links.ddr.write", "2GB/s");
  const Compilation again = run(slow, &made), anew = run(slow, nullptr);
  ASSERT_EQ(&*again.program, &*first.program) << "the planner chooses the same";
  EXPECT_NE(again.report->cycles, first.report->cycles);
  EXPECT_EQ(again.program->deviceSha256, "") << "it is several devices'";
  EXPECT_EQ(again.report->cycles, anew.report->cycles);
  EXPECT_TRUE(again.report->verification.matches);
  EXPECT_EQ(again.report->verification.bytesCompared, anew.report->verification.bytesCompared);
  EXPECT_TRUE(again.provenInputs.empty()) << "it is proved once";
}

TEST(Compile, AProgramIsMadeAnewWhereMoreThanTimesDiffer) {
  const Network net = network("tiny_cnn"), other = network("tiny_mobile");
  NoProgress quiet;
  MadePrograms made(2);
  const auto run = [&](const Network& of, const Device& device) {
    Given given;
    given.made = &made;
    return compile(of, device, kLean, quiet, std::move(given))->program;
  };
  const VerifiedProgram first = run(net, device(2, 2));
  const auto isFirst = [&](const VerifiedProgram& program) { return &*program == &*first; };
  EXPECT_FALSE(isFirst(run(net, withSetting("core.memory", "128KiB"))));
  EXPECT_TRUE(isFirst(run(net, device(2, 2))));
  EXPECT_FALSE(isFirst(run(other, device(2, 2))));
  EXPECT_TRUE(isFirst(run(net, device(2, 2)))) << "of two, the one that was used last is kept";
  EXPECT_FALSE(isFirst(run(net, device(2, 1))));
  EXPECT_FALSE(isFirst(run(other, device(2, 1))));
  EXPECT_FALSE(isFirst(run(net, device(2, 2)))) << "two others have been made since";
}

TEST(Compile, StopsWhereItIsTold) {
  NoProgress quiet;
  const auto run = compile(network("tiny_cnn"), device(2, 2), {.last = Stage::MemoryPlan}, quiet);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->plan && run->memoryPlan && !run->stepTimes.empty());
  EXPECT_FALSE(run->program || run->report);
}

TEST(Compile, APlanThatIsGivenIsHeldAgainstTheDevice) {
  NoProgress quiet;
  const Network net = network("tiny_cnn");
  const auto small = compile(net, device(1, 1), {.last = Stage::Plan}, quiet);
  ASSERT_TRUE(small);
  const auto taken = compile(net, device(1, 1), {}, quiet, {.plan = small->plan});
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->plan, small->plan);
  const auto large = compile(net, device(2, 2), {.last = Stage::Plan}, quiet);
  const auto refused = compile(net, device(1, 1), {}, quiet, {.plan = large->plan});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.diagnostics().front().severity, Severity::BadInput);
}

}  // namespace
}  // namespace heddle
