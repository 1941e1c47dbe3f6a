#include "heddle/support/visible.h"

#include <gtest/gtest.h>

#include <ostream>
#include <sstream>

namespace heddle {
namespace {

TEST(Visible, LeavesPlainTextOfEveryScriptAlone) {
  const std::string text = "conv_1/Größe Ω 重み \xF0\x9F\x91\x8D \"'\\<>|";
  EXPECT_EQ(visible(text), text);
  EXPECT_EQ(visibleLines(text + "\n\tx"), text + "\n\tx");
}

TEST(Visible, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(visible("a\x1b[2Jb"), "a\\u001b[2Jb");
  EXPECT_EQ(visible("\n\r\t"), "\\n\\r\\t");
  EXPECT_EQ(visible(std::string_view("\0\x7f", 2)), "\\u0000\\u007f");
  EXPECT_EQ(visible("\xC2\x9B"), "\\u009b");  // CSI as one character
  EXPECT_EQ(visible("\xE2\x80\xAE"
                    "cod.exe"),
            "\\u202ecod.exe");  // right to left from here
  EXPECT_EQ(visible("\xE2\x81\xA6\xD8\x9C\xE2\x80\x8F\xE2\x80\xA8"),
            "\\u2066\\u061c\\u200f\\u2028");
  EXPECT_EQ(visibleLines("a\rb\n"), "a\\rb\n");
}

TEST(Visible, WritesOutBytesThatAreNoUtf8) {
  EXPECT_EQ(visible("\x9b"
                    "31m"),
            "\\x9b31m");                                  // CSI to a terminal of 8 bits
  EXPECT_EQ(visible("\xC0\x9B"), "\\xc0\\x9b");           // overlong
  EXPECT_EQ(visible("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(visible("\xE2\x80"), "\\xe2\\x80");           // cut off
}

TEST(VisibleBuffer, GivesTheSameHoweverTheTextIsCut) {
  const std::string text = "Größe \xF0\x9F\x91\x8D \x1b[0m\xE2\x80\xAE \xE2\x80 \x9b\n\xF0\x9F";
  for (std::size_t a = 0; a <= text.size(); ++a) {
    for (std::size_t b = a; b <= text.size(); ++b) {
      std::stringbuf sink;
      {
        VisibleBuffer buffer(sink);
        std::ostream out(&buffer);
        out << text.substr(0, a) << std::flush << text.substr(a, b - a);
        for (const char c : text.substr(b)) out.put(c);
        EXPECT_TRUE(out);
      }
      EXPECT_EQ(sink.str(), visibleLines(text)) << a << " " << b;
    }
  }
}

class FullBuffer : public std::streambuf {};  // takes nothing

TEST(VisibleBuffer, SaysThatTheSinkTakesNoMore) {
  FullBuffer sink;
  VisibleBuffer buffer(sink);
  std::ostream out(&buffer);
  out << "x" << std::flush;
  EXPECT_FALSE(out);
}

}  // namespace
}  // namespace heddle
