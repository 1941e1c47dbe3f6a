#include "asm_fault.h"

#include <algorithm>
#include <tao/pegtl.hpp>

#include "asm_words.h"
#include "heddle/support/words.h"

namespace heddle::asm_text {
namespace {
namespace peg = tao::pegtl;

// What a reader would call one thing: a string, a word or number, an arrow, a character.
struct QuotedToken
    : peg::seq<peg::one<'"'>, peg::star<peg::not_one<'"', '\n', '\r'>>, peg::opt<peg::one<'"'>>> {};
struct WordToken
    : peg::plus<peg::sor<peg::identifier_other,
                         peg::seq<peg::one<'-', '.'>, peg::at<peg::identifier_other>>>> {};
struct Token : peg::sor<QuotedToken, WordToken, peg::string<'-', '>'>, peg::utf8::any, peg::any> {};

constexpr std::size_t kLongestToken = 40;

std::string_view firstToken(std::string_view rest) {
  peg::memory_input<> input(rest.data(), rest.size(), "");
  if (!peg::parse<Token>(input)) return {};
  return rest.substr(0, std::min(input.byte(), kLongestToken));
}

// For a message on a terminal: control characters and bytes that are no ASCII become '?'.
std::string found(std::string_view token, std::string_view rest) {
  if (rest.empty()) return "the end of the file";
  if (token.front() == '\n' || token.front() == '\r') return "the end of the line";
  std::string shown(token);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < 0x20 || c == 0x7f; }, '?');
  return "'" + shown + "'";
}

std::vector<std::string> everyWord() {
  std::vector<std::string> words;
  for (const TransferForm& form : kTransferForms)
    for (const std::string_view mnemonic : {form.activations, form.weights})
      if (!mnemonic.empty()) words.emplace_back(mnemonic);
  for (const KernelForm& form : kKernelForms) words.emplace_back(form.mnemonic);
  words.insert(words.end(), kWords.begin(), kWords.end());
  return words;
}

std::optional<std::string> meant(std::string_view token) {
  static const std::vector<std::string> kCandidates = everyWord();
  const std::string word(token);
  if (std::find(kCandidates.begin(), kCandidates.end(), word) != kCandidates.end())
    return std::nullopt;
  return nearestWord(word, kCandidates);
}
}  // namespace

std::string placeText(const Reader& reader, const peg::position& at) {
  return reader.name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

void fail(Reader& reader, const peg::position& at, std::string code, std::string summary,
          std::string what, std::string mend, Severity severity) {
  reader.faults.add({.code = std::move(code),
                     .where = placeText(reader, at),
                     .summary = std::move(summary),
                     .what = std::move(what),
                     .mend = std::move(mend),
                     .severity = severity});
  if (reader.faults.full()) throw TooManyFaults{};
  throw LineFault{};
}

void failRange(Reader& reader, const peg::position& at, const std::string& found, std::int64_t low,
               std::int64_t high) {
  fail(reader, at, "ASM003", "a number out of range",
       found.substr(0, kLongestToken) + " is not between " + std::to_string(low) + " and " +
           std::to_string(high),
       "write a number in this range");
}

void failExpected(Reader& reader, const peg::position& at, const std::string& expected,
                  std::string_view rest) {
  const std::string_view token = firstToken(rest);
  const std::optional<std::string> word = token.empty() ? std::nullopt : meant(token);
  fail(reader, at, "ASM002", "expected " + expected, "found " + found(token, rest),
       word ? "did you mean '" + *word + "'?" : "docs/asm.md has the grammar");
}

}  // namespace heddle::asm_text
