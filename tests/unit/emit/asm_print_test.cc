#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "heddle/emit/asm.h"
#include "random_program.h"

namespace heddle {
namespace {

std::string fileText(const std::string& path) {
  std::ifstream in(HEDDLE_SOURCE_DIR "/" + path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(AsmPrint, EveryFieldHasItsPlace) {
  EXPECT_EQ(printAsm(programOfEverything()), fileText("tests/golden/asm/everything.asm"));
}

TEST(AsmPrint, EveryFieldIsReadBack) {
  const Result<Program> back =
      parseAsm(fileText("tests/golden/asm/everything.asm"), "everything.asm");
  ASSERT_TRUE(back) << back.diagnostics();
  EXPECT_EQ(*back, programOfEverything());
}

TEST(AsmPrint, CommentsBlanksAndWindowsLineEndsMeanNothing) {
  std::string text;
  for (const char c : printAsm(programOfEverything()))
    text += c == '\n' ? std::string("  # why\r\n") : std::string(1, c);
  const Result<Program> back = parseAsm(text, "everything.asm");
  ASSERT_TRUE(back) << back.diagnostics();
  EXPECT_EQ(*back, programOfEverything());
}

}  // namespace
}  // namespace heddle
