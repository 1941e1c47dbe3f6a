#include "heddle/support/text_lines.h"

#include <charconv>
#include <tao/pegtl.hpp>

#include "heddle/support/fault_list.h"
#include "heddle/support/words.h"

namespace heddle {
namespace {

namespace peg = tao::pegtl;

struct Blanks : peg::star<peg::blank> {};
struct Comment : peg::seq<peg::one<'#'>, peg::star<peg::not_one<'\n'>>> {};
struct TokenEnd : peg::at<peg::sor<peg::space, peg::eof, peg::one<'#'>>> {};
struct Digits : peg::plus<peg::digit> {};
struct IntervalToken : peg::seq<Digits, peg::string<'.', '.'>, Digits, TokenEnd> {};
struct NumberToken : peg::seq<peg::opt<peg::one<'-'>>, Digits, TokenEnd> {};
struct WordToken
    : peg::seq<peg::ranges<'a', 'z', 'A', 'Z'>,
               peg::star<peg::sor<peg::alnum, peg::one<'-', '.', '/', '_'>>>, TokenEnd> {};
struct HexEscape : peg::seq<peg::string<'\\', 'x'>, peg::xdigit, peg::xdigit> {};
struct ShortEscape : peg::seq<peg::one<'\\'>, peg::one<'"', '\\', 'n', 't'>> {};
struct PlainRun : peg::plus<peg::not_one<'"', '\\', '\n'>> {};
struct StringToken : peg::seq<peg::one<'"'>, peg::star<peg::sor<PlainRun, HexEscape, ShortEscape>>,
                              peg::one<'"'>, TokenEnd> {};
struct Token : peg::sor<IntervalToken, NumberToken, WordToken, StringToken> {};
struct LineOfTokens : peg::seq<Blanks, peg::star<peg::seq<Token, Blanks>>, peg::opt<Comment>> {};
struct File : peg::seq<LineOfTokens, peg::star<peg::seq<peg::one<'\n'>, LineOfTokens>>> {};

struct Reading {
  std::vector<TextLine> lines;
  std::optional<std::string> range;  // a number out of range

  void add(std::size_t line, TextToken token) {
    if (lines.empty() || lines.back().number != line) lines.push_back({line, {}});
    lines.back().tokens.push_back(std::move(token));
  }
  std::int64_t number(std::string_view digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} && !range) range = std::string(digits);
    return value;
  }
};

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 'x') {
      unsigned code = 0;
      std::from_chars(&text[i + 1], &text[i + 1] + 2, code, 16);
      out += static_cast<char>(code);
      i += 2;
    } else {
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
  return out;
}

template <class Rule>
struct Action : peg::nothing<Rule> {};
template <class In>
TextToken tokenOf(TextToken::Kind kind, const In& in) {
  TextToken token;
  token.kind = kind;
  token.text = in.string();
  token.column = in.position().column;
  return token;
}
template <>
struct Action<WordToken> {
  template <class In>
  static void apply(const In& in, Reading& r) {
    r.add(in.position().line, tokenOf(TextToken::Kind::Word, in));
  }
};
template <>
struct Action<NumberToken> {
  template <class In>
  static void apply(const In& in, Reading& r) {
    TextToken token = tokenOf(TextToken::Kind::Number, in);
    token.first = r.number(token.text);
    r.add(in.position().line, std::move(token));
  }
};
template <>
struct Action<IntervalToken> {
  template <class In>
  static void apply(const In& in, Reading& r) {
    TextToken token = tokenOf(TextToken::Kind::Interval, in);
    const std::string_view text = token.text;
    const std::size_t dots = text.find("..");
    token.first = r.number(text.substr(0, dots));
    token.end = r.number(text.substr(dots + 2));
    r.add(in.position().line, std::move(token));
  }
};
template <>
struct Action<StringToken> {
  template <class In>
  static void apply(const In& in, Reading& r) {
    TextToken token = tokenOf(TextToken::Kind::String, in);
    token.text = unescaped(std::string_view(token.text).substr(1, token.text.size() - 2));
    r.add(in.position().line, std::move(token));
  }
};

}  // namespace

Result<std::vector<TextLine>> readTextLines(const std::string& text, const std::string& name,
                                            const std::string& code) {
  Reading reading;
  peg::memory_input<> input(text.data(), text.size(), name);
  peg::parse<File, Action>(input, reading);
  const auto at = [&](std::size_t line) { return name + ":" + std::to_string(line); };
  if (!input.empty())
    return Diagnostic{code, at(input.position().line), "a character that begins no token",
                      "at column " + std::to_string(input.position().column),
                      "write words, whole numbers, intervals such as 0..8, or strings in quotes"};
  if (reading.range)
    return Diagnostic{code, name, "a number out of range", "'" + *reading.range + "'",
                      "write a number of 64 bits"};
  return std::move(reading.lines);
}

std::string quotedText(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool LineReader::nextIs(TextToken::Kind kind) const {
  return !done() && line_.tokens[next_].kind == kind;
}
bool LineReader::nextIs(std::string_view word) const {
  return nextIs(TextToken::Kind::Word) && line_.tokens[next_].text == word;
}
bool LineReader::take(std::string_view word) {
  const bool there = nextIs(word);
  next_ += there;
  return there;
}
void LineReader::expect(std::string_view word) {
  if (!take(word)) failExpected("'" + std::string(word) + "'");
}

const TextToken& LineReader::take(TextToken::Kind kind, const std::string& expected) {
  if (!nextIs(kind)) failExpected(expected);
  return line_.tokens[next_++];
}

std::int64_t LineReader::number(std::int64_t low, std::int64_t high) {
  if (nextIs(TextToken::Kind::Number)) {
    const std::int64_t value = line_.tokens[next_].first;
    if (value < low || value > high)
      fail("a number out of range: " + std::to_string(value),
           "write one from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return take(TextToken::Kind::Number, "a number").first;
}

std::pair<std::int64_t, std::int64_t> LineReader::interval() {
  const TextToken& token = take(TextToken::Kind::Interval, "an interval such as 0..8");
  if (token.end < token.first) fail("an interval runs backwards", "write the lower number first");
  return {token.first, token.end};
}

std::string LineReader::string() {
  return take(TextToken::Kind::String, "a string in double quotes").text;
}

std::size_t LineReader::oneOf(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (take(words[i])) return i;
  failExpected("one of: " + joinWords(words));
}

void LineReader::expectEnd() {
  if (!done()) failExpected("the end of the line");
}

void LineReader::failExpected(const std::string& expected) const {
  const std::string found = done() ? "the line ends" : "'" + line_.tokens[next_].text + "'";
  fail("expected " + expected, "found: " + found);
}

void LineReader::fail(const std::string& summary, const std::string& mend) const {
  const std::size_t column = done() ? line_.tokens.back().column + line_.tokens.back().text.size()
                                    : line_.tokens[next_].column;
  throw TextFault{{code_, name_ + ":" + std::to_string(line_.number) + ":" + std::to_string(column),
                   summary, "", mend}};
}

Diagnostics readArtefact(const std::string& text, const std::string& name, const TextFormat& format,
                         const std::function<void(LineReader&)>& readLine) {
  HEDDLE_TRY(const std::vector<TextLine> lines, readTextLines(text, name, format.code));
  if (lines.empty() || lines[0].tokens[0].text != format.version)
    return {{format.code, name + ":1", "not a " + format.thing + " of this version",
             "the first line is not " + format.version,
             "give a " + format.thing + " that this version of heddle has written"}};
  FaultList faults(name);
  for (std::size_t i = 1; i < lines.size(); ++i) try {
      LineReader r(lines[i], name, format.code);
      readLine(r);
      r.expectEnd();
    } catch (TextFault& fault) {
      faults.add(std::move(fault.diagnostic));
    }
  return faults.take();
}

}  // namespace heddle
