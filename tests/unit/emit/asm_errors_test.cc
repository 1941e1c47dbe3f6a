// Every message of the reader, word for word.
#include <gtest/gtest.h>

#include <set>

#include "heddle/emit/asm.h"
#include "random_program.h"

namespace heddle {
namespace {

// A program whose declarations are in order, then `lines`; they begin in line 9.
std::string withLines(const std::string& lines) {
  return "heddle.asm/2\n"
         "model \"m\" sha256 \"\"\n"
         "device sha256 \"\"\n"
         "weights @0x0 size 0 sha256 \"\"\n"
         "ddr size 0\n"
         "tensor %0 \"x\" 1x1x8 scale 1\n"
         "layer 0 \"conv\" op \"Conv\" output %0 split \"\"\n"
         "kernel k0 CONV \"conv\" input 1x1 output 1\n" +
         lines;
}

std::string errorsOf(const std::string& text) {
  const Result<Program> program = parseAsm(text, "p.asm");
  return program ? "no error" : toText(program.diagnostics());
}

struct ErrorCase {
  const char* lines;
  const char* error;
};

TEST(AsmErrors, SayWhatWasExpectedAndFoundAndMeant) {
  const ErrorCase cases[] = {
      {"on core, layer 0:\n  CONF k0 %0[y 0 for 1, block 0 for 1, x 0 for 1]\n",
       "error[ASM002] p.asm:10:3: expected a declaration, an instruction, 'loop', '}' or 'on'\n"
       "  what:  found 'CONF'\n"
       "  mend:  did you mean 'CONV'?\n"},
      {"on cores, layer 0:\n",
       "error[ASM002] p.asm:9:4: expected an engine: 'sequencer', 'ddr-in', 'ddr-out', 'wire', "
       "'core-in', 'core', "
       "'core-out'\n"
       "  what:  found 'cores'\n"
       "  mend:  did you mean 'core'?\n"},
      {"on core, layer 0:\n  CONV k0 %0[y 0 for 1, block 0 for 1, x 0 for 1] aquire L0\n",
       "error[ASM002] p.asm:10:51: expected the end of the line\n"
       "  what:  found 'aquire'\n"
       "  mend:  did you mean 'acquire'?\n"},
      {"on core, layer 0:\n  CONV k0 %0[y 0 for 1, block 0 for 1, x 0 for 1] acquire A0\n",
       "error[ASM002] p.asm:10:59: expected a lock: L3, 2*L3 or L(3 + row)\n"
       "  what:  found 'A0'\n"
       "  mend:  docs/asm.md has the grammar\n"},
      {"lock L0 in mem(0) = 0 from ddr-in(0).0\n",
       "error[ASM002] p.asm:9:39: expected 'to'\n"
       "  what:  found the end of the line\n"
       "  mend:  docs/asm.md has the grammar\n"},
      {"host \"Soft",
       "error[ASM002] p.asm:9:11: expected the rest of a string: characters, \\\", \\\\, \\x and "
       "two hex digits, then '\"'\n"
       "  what:  found the end of the file\n"
       "  mend:  docs/asm.md has the grammar\n"},
      {"lock L0 in mem(0) = 9223372036854775808 from sequencer to sequencer\n",
       "error[ASM003] p.asm:9:21: a number out of range\n"
       "  what:  9223372036854775808 is not between -9223372036854775808 and 9223372036854775807\n"
       "  mend:  write a number in this range\n"},
      {"kernel k1 CONV \"\" input 1x1 output 1 fill 200\n",
       "error[ASM003] p.asm:9:43: a number out of range\n"
       "  what:  200 is not between -128 and 127\n"
       "  mend:  write a number in this range\n"},
      {"on core rows 3-1, layer 0:\n",
       "error[ASM003] p.asm:9:9: a range runs backwards\n"
       "  what:  'rows 3-1' holds nothing\n"
       "  mend:  write the lower number first\n"},
      {"on core row 3 column 1 and, layer 0:\n",
       "error[ASM002] p.asm:9:27: expected more engines, such as rows 0-1 column 2\n"
       "  what:  found ','\n"
       "  mend:  docs/asm.md has the grammar\n"},
      {"tensor %0 \"x\" 1x1x8 scale 1e999\n",
       "error[ASM003] p.asm:9:27: a number out of range\n"
       "  what:  '1e999' is no double\n"
       "  mend:  write a number that a 64-bit double holds\n"},
      {"tensor %2 \"x\" 1x1x8 scale 1\n",
       "error[ASM004] p.asm:9:1: a tensor out of order\n"
       "  what:  its number is 2, the next one is 1\n"
       "  mend:  number them from 0 in the order of the file\n"},
      {"START ddr-in(0).0\n",
       "error[ASM004] p.asm:9:1: an instruction outside of a section\n"
       "  what:  no 'on' line stands above it\n"
       "  mend:  say whose queue it is in: on core row 0 column 0, layer 0:\n"},
      {"on core, layer 0:\n  ADD k0 %0[y 0 for 1, block 0 for 1, x 0 for 1]\n",
       "error[ASM004] p.asm:10:3: the mnemonic and the kernel do not agree\n"
       "  what:  kernel k0 is a CONV\n"
       "  mend:  name the kernel that was meant\n"},
      {"on core, layer 0:\n  CONV k7 %0[y 0 for 1, block 0 for 1, x 0 for 1]\n",
       "error[ASM004] p.asm:10:3: the mnemonic and the kernel do not agree\n"
       "  what:  no such kernel is declared above\n"
       "  mend:  name the kernel that was meant\n"},
      {"on ddr-in, layer 0:\n  LOADW %0[y 0 for 1, block 0 for 1, x 0 for 1] ddr @0 [8 B] -> mem "
       "@0 [8 B]\n",
       "error[ASM004] p.asm:10:3: the mnemonic and the part do not agree\n"
       "  what:  LOADW moves activations here\n"
       "  mend:  write LOAD\n"},
      {"on sequencer, layer 0:\n}\n",
       "error[ASM005] p.asm:10:1: '}' without a loop\n"
       "  what:  no loop is open here\n"
       "  mend:  take it away\n"},
      {"on sequencer, layer 0:\nloop 2 {\nSTART ddr-in(0).0\n",
       "error[ASM005] p.asm:12:1: a loop is not closed\n"
       "  what:  1 loops are open at the end of the file\n"
       "  mend:  close them with '}'\n"},
      {"on core, layer 0:\nloop 1 {\nloop 1 {\nloop 1 {\nloop 1 {\nloop 1 {\nloop 1 {\nloop 1 "
       "{\n}\n}\n}\n}\n}\n}\n",
       "error[ASM005] p.asm:16:1: loops are nested too deep\n"
       "  what:  this would be depth 7, the deepest is 6\n"
       "  mend:  unroll one of the loops\n"},
      {"model \"again\" sha256 \"\"\n",
       "error[ASM007] p.asm:9:1: 'model' is said twice\n"
       "  what:  a file has one such line\n"
       "  mend:  leave one of them\n"},
  };
  for (const ErrorCase& c : cases) EXPECT_EQ(errorsOf(withLines(c.lines)), c.error) << c.lines;
}

// What a faulty line would have declared is no fault of the lines below it; what they repeat is.
TEST(AsmErrors, AFaultyDeclarationIsToldOnce) {
  const std::string most =
      "error[ASM003] p.asm:9:1: a number out of range\n"
      "  what:  0 records is not between 1 and 1048576\n"
      "  mend:  write a number in this range\n";
  EXPECT_EQ(errorsOf(withLines("record 0 for 0 @0x0 size 8\n"
                               "record 2 for 2 @0x10 size 8\n"
                               "record 4 @0x20 size 8\n")),
            most);
  EXPECT_EQ(errorsOf(withLines("record 0 for 0 @0x0 size 8\n"
                               "record 2 @0x10 size 8\n"
                               "record 0 @0x20 size 8\n")),
            most +
                "error[ASM004] p.asm:11:1: a weight record out of order\n"
                "  what:  its number is 0, the next one is 1\n"
                "  mend:  number them from 0 in the order of the file\n");
}

TEST(AsmErrors, AnotherVersionIsNotRead) {
  EXPECT_EQ(errorsOf("heddle.asm/1\n"),
            "error[ASM001] p.asm:1:1: not a program of this version\n"
            "  what:  the first line is not heddle.asm/2\n"
            "  mend:  give a program.asm that this version of heddle has written\n");
  EXPECT_EQ(parseAsm("", "p.asm").diagnostics().at(0).code, "ASM001");
}

TEST(AsmErrors, MissingLinesAreNamed) {
  EXPECT_EQ(errorsOf("heddle.asm/2\n"),
            "error[ASM007] p.asm:2:1: the line 'model' is missing\n"
            "  what:  a file has one such line\n"
            "  mend:  add it\n");
}

TEST(AsmErrors, AllFaultsOfAFileAreFoundAtOnceUpToTwenty) {
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += "nonsense\n";
  const Result<Program> program = parseAsm(withLines(lines), "p.asm");
  ASSERT_FALSE(program);
  ASSERT_EQ(program.diagnostics().size(), 21u);
  EXPECT_EQ(program.diagnostics()[19].where, "p.asm:28:1");
  EXPECT_EQ(toText(program.diagnostics()[20]),
            "error[FILE004] p.asm: there may be more faults\n  what:  the first 20 are shown\n"
            "  mend:  mend these first\n");
}

// Takes each word of the language in turn and misspells it: the message must guess the right one.
TEST(AsmErrors, EveryMisspelledWordIsRecognized) {
  const std::string text = printAsm(programOfEverything());
  ASSERT_TRUE(parseAsm(text, "p.asm"));
  std::set<std::string> seen;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"') quoted = !quoted;
    std::size_t end = i;
    while (end < text.size() && (std::isalnum(text[end]) ||
                                 (text[end] == '-' && end > i && std::isalpha(text[end + 1]))))
      ++end;
    const std::string word = text.substr(i, end - i);
    const bool candidate =
        word.size() >= 4 && std::isalpha(word[0]) && !quoted && text.rfind("heddle", i) != i;
    if (candidate && seen.insert(word).second) {
      std::string wrong = text;
      wrong.insert(i + 2, "q");
      EXPECT_NE(errorsOf(wrong).find("did you mean '" + word + "'?"), std::string::npos)
          << word << "\n"
          << errorsOf(wrong);
    }
    i = std::max(end, i + 1);
  }
  EXPECT_GE(seen.size(), 50u);
}

}  // namespace
}  // namespace heddle
