// Whatever the text, parseAsm answers with a program that prints and parses back, or with
// diagnostics; verify answers to any program; and what verify passes runs on the Machine, which
// relies on that and does not ask again.
#include <cstdint>
#include <string>

#include "heddle/emit/asm.h"
#include "heddle/machine/machine.h"
#include "heddle/program/verify.h"

namespace {

// Small, so that most programs of the fuzzer break a limit of it; 2x2 as the programs of the
// corpus.
const heddle::Device& device() {
  static const heddle::Device kDevice =
      *heddle::readDevice("paper", {.mesh = {{2, 2}}, .settings = {}});
  return kDevice;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Program> program = parseAsm(text, "fuzz.asm");
  if (!program) return 0;
  const Result<Program> again = parseAsm(printAsm(*program), "again.asm");
  HEDDLE_CHECK(again && *again == *program) << "printed and parsed, the program is another";
  const Result<VerifiedProgram> sound = verified(*program, device());
  if (sound)
    static_cast<void>(
        simulateTime(*sound, {.recordTimeline = false, .maxCycles = Cycles(1'000'000)}));
  return 0;
}
