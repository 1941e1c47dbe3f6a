// docs/asm.md shows a convolution as the compiler prints it; here it must still be so.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../graphs.h"
#include "heddle/emit/asm.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"
#include "heddle/program/verify.h"

namespace heddle {
namespace {

constexpr const char* kPage = HEDDLE_SOURCE_DIR "/docs/asm.md";
const std::string kBegin = "<!-- worked convolution: begin -->\n",
                  kEnd = "<!-- worked convolution: end -->";

std::string pageText() {
  std::ifstream in(kPage);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Worked {
  Device device;
  Program program;
};
Worked workedConvolution() {
  testing::GraphBuilder graph("worked_conv");
  const TensorId input = graph.input("input", {16, 16, 16});
  const Window window{
      .kernelY = 3, .kernelX = 3, .padTop = 1, .padLeft = 1, .padBottom = 1, .padRight = 1};
  const CanonicalGraph g = graph.finish(graph.conv("conv", input, 32, window));
  Worked worked{
      *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{2, 2}}, .settings = {}}),
      {}};
  const Plan plan = *makePlan(g, worked.device, {.effort = 0});
  const MemoryPlan memory = *allocateMemory(g, plan, worked.device);
  worked.program = generateProgram(g, plan, memory, worked.device)->program;
  return worked;
}

TEST(WorkedConvolution, IsWhatTheDocumentationShows) {
  const std::string text = "```text\n" + printAsm(workedConvolution().program) + "```\n";
  const std::string page = pageText();
  ASSERT_NE(page.find(kBegin), std::string::npos) << "docs/asm.md has lost its marker";
  const std::size_t begin = page.find(kBegin) + kBegin.size(), end = page.find(kEnd);
  ASSERT_LE(begin, end) << "docs/asm.md has lost its markers";
  if (std::getenv("HEDDLE_BLESS"))  // writes the page anew; the diff is for review
    std::ofstream(kPage) << page.substr(0, begin) + text + page.substr(end);
  else
    EXPECT_EQ(page.substr(begin, end - begin), text);
}

TEST(WorkedConvolution, IsProved) {
  const Worked worked = workedConvolution();
  EXPECT_EQ(verify(worked.program, worked.device), Diagnostics{});
  const Result<Program> back = parseAsm(printAsm(worked.program), "program.asm");
  ASSERT_TRUE(back) << back.diagnostics();
  EXPECT_EQ(*back, worked.program);
}

}  // namespace
}  // namespace heddle
