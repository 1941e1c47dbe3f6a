#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <sstream>

#include "heddle/emit/asm.h"
#include "heddle/program/names.h"
#include "heddle/program/visit.h"
#include "random_program.h"

namespace heddle {
namespace {

RC_GTEST_PROP(Asm, WhatIsPrintedParsesBackToAnEqualProgram, ()) {
  const Program program = randomProgram();
  const std::string text = printAsm(program);
  const Result<Program> back = parseAsm(text, "program.asm");
  if (!back) RC_FAIL(toText(back.diagnostics()) + text);
  RC_ASSERT(*back == program);
  RC_ASSERT(printAsm(*back) == text);
}

void checkFields(std::vector<Item>& items) {
  for (Item& item : items) {
    if (Loop* loop = std::get_if<Loop>(&item.as)) {
      checkFields(loop->body);
      continue;
    }
    Instruction& instruction = std::get<Instruction>(item.as);
    forEachValue(instruction, [](Affine& number) { number = Affine(number.base); });
    EXPECT_EQ(constant(evaluate(instruction, {}, {})), instruction);
  }
}

// A field that an instruction's `fields` do not tell is lost on the way.
TEST(Instruction, EvaluationKeepsEveryField) {
  Program program = programOfEverything();
  for (Section& section : program.sections) checkFields(section.items);
}

void appendMnemonics(const std::vector<Item>& items, const Program& program,
                     std::vector<std::string>& out) {
  for (const Item& item : items) {
    if (const Loop* loop = std::get_if<Loop>(&item.as))
      appendMnemonics(loop->body, program, out);
    else
      out.emplace_back(mnemonic(std::get<Instruction>(item.as), program));
  }
}

RC_GTEST_PROP(Asm, EveryInstructionHasALineOfItsOwn, ()) {
  const Program program = randomProgram();
  const AsmListing listing = listAsm(program);
  std::vector<std::string> lines, expected, found;
  std::istringstream text(listing.text);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  for (const Section& s : program.sections) appendMnemonics(s.items, program, expected);
  for (const std::int64_t line : listing.lines) {
    std::string word;
    std::istringstream(lines.at(static_cast<std::size_t>(line))) >> word;
    found.push_back(word);
  }
  RC_ASSERT(found == expected);
  RC_ASSERT(std::adjacent_find(listing.lines.begin(), listing.lines.end(),
                               std::greater_equal<>()) == listing.lines.end());
  RC_ASSERT(listing.text == printAsm(program));
}

}  // namespace
}  // namespace heddle
