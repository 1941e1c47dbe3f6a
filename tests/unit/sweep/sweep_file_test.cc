#include "../../../src/sweep/sweep_file.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

std::vector<std::string> texts(const std::vector<Argument>& words) {
  std::vector<std::string> all;
  for (const Argument& word : words) all.push_back(word.text);
  return all;
}
using Texts = std::vector<std::string>;

TEST(SweepFile, EveryKey) {
  const auto read = parseSweepFile(
      "title: a study\n"
      "model: [a.onnx, ../b.onnx]\n"
      "masks: [none, half.npz]\n"
      "apply-masks: true\n"
      "device: switched\n"
      "mesh: 1..2x1..2\n"
      "square: true\n"
      "vary: {links.wire: [2GB/s, 4 GB/s], 'core.{a,b}': 1}\n"
      "set: {core.banks: 8}\n"
      "propagate: false\n"
      "reorder: false\n"
      "verify: false\n"
      "estimate: true\n"
      "effort: 0\n"
      "fuse: [a..b:2, c..d]\n"
      "frames: 4\n"
      "batch: [1, 2]\n"
      "seed: 7\n"
      "max-cycles: 9\n"
      "where: cores < 3\n"
      "define: {area: cores + 1}\n"
      "require: [ms < 1, ips > 2]\n"
      "maximize: ips\n"
      "samples: 5\n"
      "refine: 2\n"
      "budget: 5m\n"
      "threads: 3\n",
      "studies/s.yaml");
  ASSERT_TRUE(read) << toText(read.diagnostics());
  EXPECT_EQ(read->title, "a study");
  EXPECT_EQ(read->models, (Texts{"studies/a.onnx", "b.onnx"}));
  EXPECT_EQ(read->device, "switched");
  EXPECT_EQ(texts(read->meshes), (Texts{"1..2x1..2"}));
  EXPECT_EQ(texts(read->varied), (Texts{"links.wire=2GB/s,4 GB/s", "core.{a,b}=1"}));
  EXPECT_EQ(texts(read->settings), (Texts{"core.banks=8"}));
  EXPECT_EQ(texts(read->masks), (Texts{"none", "studies/half.npz"}));
  EXPECT_EQ(read->applyMasks, true);
  EXPECT_EQ(read->settings.front().where, "studies/s.yaml:9");
  EXPECT_EQ(read->square, true);
  EXPECT_EQ(read->propagate, false);
  EXPECT_EQ(read->reorder, false);
  EXPECT_EQ(read->verify, false);
  EXPECT_EQ(read->estimate, true);
  EXPECT_EQ(read->effort->text, "0");
  EXPECT_EQ(read->fuse->text, "a..b:2,c..d");
  EXPECT_EQ(read->frames->text, "4");
  EXPECT_EQ(read->batch->text, "1,2");
  EXPECT_EQ(read->seed, 7U);
  EXPECT_EQ(read->maxCycles, Cycles(9));
  EXPECT_EQ(read->where->text, "cores < 3");
  EXPECT_EQ(read->definitions.at(0).name, "area");
  EXPECT_EQ(texts(read->required), (Texts{"ms < 1", "ips > 2"}));
  EXPECT_EQ(read->maximized->text, "ips");
  EXPECT_EQ(read->samples->text, "5");
  EXPECT_EQ(read->refine->text, "2");
  EXPECT_EQ(read->budget->text, "5m");
  EXPECT_EQ(read->threads->text, "3");
}

TEST(SweepFile, ADescriptionLiesBesideTheFile) {
  EXPECT_EQ(parseSweepFile("device: d.yaml\n", "x/s.yaml")->device, "x/d.yaml");
  EXPECT_EQ(parseSweepFile("device: paper\n", "x/s.yaml")->device, "paper");
}

TEST(SweepFile, AllFaultsAtOnceWithTheirLines) {
  const auto read = parseSweepFile("modle: a\nsquare: maybe\nseed: x\n", "s.yaml");
  ASSERT_FALSE(read);
  ASSERT_EQ(read.diagnostics().size(), 3U);
  EXPECT_EQ(toText(read.diagnostics()[0]).substr(0, 51),
            "error[SWEEP022] s.yaml:1: unknown key 'modle'\n  wha");
  EXPECT_EQ(read.diagnostics()[0].mend, "write 'model'");
  EXPECT_EQ(read.diagnostics()[1].where, "s.yaml:2");
  EXPECT_EQ(read.diagnostics()[2].code, "SWEEP023");
}

TEST(SweepFile, TheCommandLineTakesThePlaceOfWhatTheFileSays) {
  SweepOptions line, file;
  line.models = {"a"};
  line.minimized = Argument{"ms", "--minimize ms"};
  line.verify = true;
  file.models = {"b", "c"};
  file.device = "switched";
  file.maximized = Argument{"ips", "f:1"};
  file.verify = false;
  file.square = true;
  const SweepOptions both = together(line, file);
  EXPECT_EQ(both.models, (Texts{"a"}));
  EXPECT_EQ(both.device, "switched");
  EXPECT_FALSE(both.maximized);
  EXPECT_EQ(both.minimized->text, "ms");
  EXPECT_EQ(both.verify, true);
  EXPECT_EQ(both.square, true);
}

}  // namespace
}  // namespace heddle
