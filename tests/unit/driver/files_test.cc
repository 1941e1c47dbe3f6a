#include "heddle/driver/files.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace heddle {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  Files()
      : folder_(fs::path(::testing::TempDir()) / ("heddle_files_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  std::string read(const fs::path& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(Files, WriteFileReplacesAndLeavesNothingBeside) {
  EXPECT_EQ(writeFile(folder_ / "a", "one"), Diagnostics{});
  EXPECT_EQ(writeFile(folder_ / "a", "two"), Diagnostics{});
  EXPECT_EQ(read("a"), "two");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, WriteFileSaysThatTheDiskIsFull) {
  const Diagnostics faults = writeFile("/dev/full", "x");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(toText(faults),
            "error[FILE002] /dev/full: the file cannot be written\n"
            "  what:  No space left on device\n"
            "  mend:  check the folder, its permissions and the space left\n");
}

TEST_F(Files, ReadTextFileSaysWhy) {
  EXPECT_EQ(toText(readTextFile(folder_, 10).diagnostics()),
            "error[FILE001] " + folder_.string() +
                ": the file cannot be read\n  what:  it is a folder\n"
                "  mend:  check the path and its permissions\n");
  ASSERT_EQ(writeFile(folder_ / "a", "12345"), Diagnostics{});
  EXPECT_EQ(readTextFile(folder_ / "a", 4).diagnostics().front().what, "it is larger than 4 B");
  EXPECT_EQ(*readTextFile(folder_ / "a", 5), "12345");
  EXPECT_EQ(readTextFile("/dev/zero", 1000).diagnostics().front().what, "it is larger than 1000 B");
}

TEST_F(Files, OutputFolderAppearsOnCommitOnly) {
  {
    Result<OutputFolder> out = OutputFolder::open(folder_ / "deep" / "out");
    ASSERT_TRUE(out) << out.diagnostics();
    EXPECT_EQ(out->write("dump/graph.txt", "text"), Diagnostics{});
    EXPECT_FALSE(fs::exists(folder_ / "deep" / "out"));
    EXPECT_EQ(out->commit(), Diagnostics{});
  }
  EXPECT_EQ(read("deep/out/dump/graph.txt"), "text");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "deep"), fs::directory_iterator()), 1);
}

TEST_F(Files, OutputFolderWithoutCommitLeavesNothing) {
  {
    Result<OutputFolder> out = OutputFolder::open(folder_ / "out");
    ASSERT_TRUE(out) << out.diagnostics();
    EXPECT_EQ(out->write("program.asm", "text"), Diagnostics{});
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Files, OutputFolderReplacesItsOwnKindWhole) {
  for (const std::string name : {"report.md", "program.asm"}) {
    Result<OutputFolder> out = OutputFolder::open((folder_ / "out").string() + "/");
    ASSERT_TRUE(out) << out.diagnostics();
    EXPECT_EQ(out->write(name, name), Diagnostics{});
    EXPECT_EQ(out->commit(), Diagnostics{});
  }
  EXPECT_FALSE(fs::exists(folder_ / "out" / "report.md"));
  EXPECT_EQ(read("out/program.asm"), "program.asm");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, OutputFolderDoesNotReplaceWhatOthersWrote) {
  fs::create_directories(folder_ / "out");
  ASSERT_EQ(writeFile(folder_ / "out" / "thesis.tex", "years of work"), Diagnostics{});
  EXPECT_EQ(toText(OutputFolder::open(folder_ / "out").diagnostics()),
            "error[FILE003] " + (folder_ / "out").string() +
                ": the results cannot be put there\n"
                "  what:  the folder holds 'thesis.tex', which 'heddle compile' did not write\n"
                "  mend:  choose another name, or empty the folder\n");
  EXPECT_EQ(OutputFolder::open(folder_ / "out" / "thesis.tex").diagnostics().front().what,
            "there is a file of that name");
  EXPECT_EQ(OutputFolder::open("/proc/no/such").diagnostics().front().code, "FILE003");
}

// What may lie in OUT, and which of it is named as foreign.
TEST_F(Files, OutputFolderKnowsItsOwnByNameAndKindHoweverDeep) {
  struct Case {
    std::vector<std::string> folders, files;
    std::string foreign;  // none: all is ours
  };
  const std::vector<Case> cases = {
      {{"dump"}, {"program.asm", "timeline.vcd", "dump/graph.txt", "dump/program.asm"}, ""},
      {{"dump"}, {"dump/thesis.tex"}, "dump/thesis.tex"},
      {{"dump/graph.txt"}, {"dump/graph.txt/thesis.tex"}, "dump/graph.txt"},
      {{"program.asm"}, {"program.asm/thesis.tex"}, "program.asm"},
      {{"program.asm"}, {}, "program.asm"},
      {{"dump/dump"}, {}, "dump/dump"},
      {{}, {"dump"}, "dump"},
      {{"notes"}, {}, "notes"},
      {{}, {".timeline.csv.partial99999999"}, ""},  // of an export that was killed
      {{}, {".thesis.tex.partial99999999"}, ".thesis.tex.partial99999999"},
  };
  for (const Case& c : cases) {
    const fs::path out = folder_ / "out";
    fs::create_directories(out);
    for (const std::string& name : c.folders) fs::create_directories(out / name);
    for (const std::string& name : c.files) std::ofstream(out / name) << "x";
    const Result<OutputFolder> opened = OutputFolder::open(out);
    EXPECT_EQ(bool(opened), c.foreign.empty()) << c.foreign;
    const std::string what = c.foreign.empty() ? ""
                                               : "the folder holds '" + c.foreign +
                                                     "', which 'heddle compile' did not write";
    EXPECT_EQ(opened ? "" : opened.diagnostics().front().what, what);
    for (const std::string& name : c.files) EXPECT_TRUE(fs::exists(out / name)) << name;
    fs::remove_all(out);
  }
}

TEST_F(Files, OutputFolderTakesNoLinkForItsOwn) {
  fs::create_directories(folder_ / "out");
  fs::create_directories(folder_ / "elsewhere");
  for (const std::string name : {"dump", "program.asm"}) {
    fs::create_symlink(folder_ / "elsewhere", folder_ / "out" / name);
    EXPECT_FALSE(OutputFolder::open(folder_ / "out")) << name;
    fs::remove(folder_ / "out" / name);
  }
}

TEST_F(Files, OutputFolderKeepsWhatOthersPutThereWhileItIsMade) {
  const auto inTheMeantime = [&](const fs::path& foreign) {
    Result<OutputFolder> out = OutputFolder::open(folder_ / "out");
    ASSERT_TRUE(out) << out.diagnostics();
    ASSERT_EQ(out->write("program.asm", "new"), Diagnostics{});
    fs::create_directories((folder_ / foreign).parent_path());
    std::ofstream(folder_ / foreign) << "years of work";
    const Diagnostics faults = out->commit();
    ASSERT_EQ(faults.size(), 1u) << foreign;
    EXPECT_EQ(faults.front().code, "FILE003");
  };
  inTheMeantime("out");
  EXPECT_EQ(read("out"), "years of work");
  fs::remove(folder_ / "out");
  inTheMeantime("out/dump/thesis.tex");
  EXPECT_EQ(read("out/dump/thesis.tex"), "years of work");
  EXPECT_EQ(entries(), 1u) << "a fault leaves nothing beside";
}

TEST_F(Files, OutputFolderRefusesBeforeTheWorkWhatItCannotReplace) {
  fs::create_symlink(folder_ / "nowhere", folder_ / "link");
  EXPECT_EQ(OutputFolder::open(folder_ / "link").diagnostics().front().what,
            "there is a link of that name that leads nowhere");
  EXPECT_EQ(OutputFolder::open("/proc").diagnostics().front().what,
            "it is a mount point, which cannot be replaced");
}

TEST_F(Files, OutputFolderGoesWhereALinkLeads) {
  fs::create_directories(folder_ / "real");
  fs::create_directory_symlink(folder_ / "real", folder_ / "link");
  Result<OutputFolder> out = OutputFolder::open(folder_ / "link");
  ASSERT_TRUE(out) << out.diagnostics();
  EXPECT_EQ(out->write("program.asm", "text"), Diagnostics{});
  EXPECT_EQ(out->commit(), Diagnostics{});
  EXPECT_EQ(read("real/program.asm"), "text");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
}

// The number of a process that has ended.
pid_t endedProcess() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST_F(Files, OutputFolderClearsAwayWhatKilledProcessesHaveLeft) {
  const std::string ended = std::to_string(endedProcess());
  fs::create_directories(folder_ / (".out.partial" + ended) / "dump");
  std::ofstream(folder_ / (".out.partial" + ended) / "dump" / "graph.txt") << "x";
  fs::create_directories(folder_ /
                         (".out.partial" + std::to_string(::getpid())));  // its number again
  const Result<OutputFolder> out = OutputFolder::open(folder_ / "out");
  ASSERT_TRUE(out) << out.diagnostics();
  EXPECT_EQ(out->leftovers(), std::vector<fs::path>{});
  EXPECT_EQ(entries(), 1u) << "its own sibling alone";
}

TEST_F(Files, OutputFolderLeavesTheSiblingsOfOthersAlone) {
  const std::string ended = std::to_string(endedProcess());
  const fs::path foreign = folder_ / (".out.partial" + ended);
  fs::create_directories(foreign);
  std::ofstream(foreign / "thesis.tex") << "years of work";
  fs::create_directories(folder_ / ".out.partial1");  // process 1 runs
  fs::create_directories(folder_ / (".other.partial" + ended));
  fs::create_directories(folder_ / ".out.partial12x");
  {
    const Result<OutputFolder> out = OutputFolder::open(folder_ / "out");
    ASSERT_TRUE(out) << out.diagnostics();
    EXPECT_EQ(out->leftovers(), std::vector<fs::path>{fs::canonical(folder_) / foreign.filename()});
  }
  EXPECT_EQ(entries(), 4u);
  EXPECT_EQ(read(".out.partial" + ended + "/thesis.tex"), "years of work");
}

TEST_F(Files, OutputFolderPutsBackWhatAKilledProcessHadMovedAway) {
  const fs::path old = folder_ / (".out.old" + std::to_string(endedProcess()));
  fs::create_directories(old);
  std::ofstream(old / "report.md") << "of before";
  { ASSERT_TRUE(OutputFolder::open(folder_ / "out")); }
  EXPECT_EQ(read("out/report.md"), "of before");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, WriteFileDoesNotWriteThroughALinkInItsWay) {
  std::ofstream(folder_ / "thesis.tex") << "years of work";
  fs::create_symlink(folder_ / "thesis.tex", folder_ / (".a.partial" + std::to_string(::getpid())));
  EXPECT_EQ(writeFile(folder_ / "a", "text"), Diagnostics{});
  EXPECT_EQ(read("thesis.tex"), "years of work");
  EXPECT_EQ(read("a"), "text");
}

}  // namespace
}  // namespace heddle
