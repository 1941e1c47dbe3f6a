#include "heddle/driver/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace heddle {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() : folder_(fs::path(testing::TempDir()) / ("heddle_files_" + std::to_string(::getpid()))) {
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
                "  what:  the folder holds 'thesis.tex', which heddle did not write\n"
                "  mend:  choose another name, or empty the folder\n");
  EXPECT_EQ(OutputFolder::open(folder_ / "out" / "thesis.tex").diagnostics().front().what,
            "there is a file of that name");
  EXPECT_EQ(OutputFolder::open("/proc/no/such").diagnostics().front().code, "FILE003");
}

}  // namespace
}  // namespace heddle
