// Artefacts as lines of words, whole numbers, intervals and strings, for print and parse:
//
//   home 3  # a comment
//     box memtile 0 y 0..56 x 0..14
//
// Blanks part tokens, an interval is first..end, a string stands in double quotes with \" \\ \n \t
// and \xNN. Indentation is for the eye.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/support/result.h"

namespace heddle {

struct TextToken {
  enum class Kind { Word, Number, Interval, String };
  Kind kind = Kind::Word;
  std::string text;                 // as written; of a string its value
  std::int64_t first = 0, end = 0;  // Interval; a Number is `first`
  std::size_t column = 1;
};

struct TextLine {
  std::size_t number = 1;
  std::vector<TextToken> tokens;  // at least one
};

// Errors: `code`, for a character that begins no token or a number out of range, with file:line.
Result<std::vector<TextLine>> readTextLines(const std::string& text, const std::string& name,
                                            const std::string& code);

// A string in the form that readTextLines reads.
std::string quotedText(std::string_view text);

// What a line says that it should not; caught where lines are read.
struct TextFault {
  Diagnostic diagnostic;
};

// Takes the tokens of a line from left to right; throws TextFault where another was due.
class LineReader {
 public:
  LineReader(const TextLine& line, const std::string& name, const std::string& code)
      : line_(line), name_(name), code_(code) {}

  bool done() const { return next_ == line_.tokens.size(); }
  bool nextIs(std::string_view word) const;
  bool nextIs(TextToken::Kind kind) const;
  bool take(std::string_view word);  // whether it stood there
  void expect(std::string_view word);
  std::int64_t number(std::int64_t low = 0, std::int64_t high = INT64_MAX);
  std::pair<std::int64_t, std::int64_t> interval();  // first, end; 0 <= first <= end
  std::string string();
  // One of `words`, by its place among them.
  std::size_t oneOf(const std::vector<std::string>& words);
  void expectEnd();
  [[noreturn]] void fail(const std::string& summary, const std::string& mend) const;

 private:
  const TextToken& take(TextToken::Kind kind, const std::string& expected);
  [[noreturn]] void failExpected(const std::string& expected) const;

  const TextLine& line_;
  const std::string& name_;
  const std::string& code_;
  std::size_t next_ = 0;
};

// How an artefact says what it is.
struct TextFormat {
  std::string version;  // the whole first line: "heddle.plan/1"
  std::string thing;    // "plan", for messages
  std::string code;     // of every fault
};

// Gives every line behind the first to `readLine`, which must take all of it. All faults of the
// file; none where it is read.
Diagnostics readArtefact(const std::string& text, const std::string& name, const TextFormat& format,
                         const std::function<void(LineReader&)>& readLine);

}  // namespace heddle
