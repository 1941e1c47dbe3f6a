#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "heddle/emit/asm.h"
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

RC_GTEST_PROP(Asm, ThereIsOneLineForEveryInstruction, ()) {
  const Program program = randomProgram();
  std::int32_t leaves = 0;
  for (const Section& s : program.sections) leaves += leafCount(s.items);
  RC_ASSERT(instructionLines(program).size() == static_cast<std::size_t>(leaves));
}

}  // namespace
}  // namespace heddle
