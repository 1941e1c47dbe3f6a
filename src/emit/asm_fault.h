// Faults of the text: each is recorded where it is found and ends its line; the next line goes on.
#pragma once
#include <tao/pegtl/position.hpp>

#include "asm_draft.h"

namespace heddle::asm_text {

struct LineFault {};      // this line is at fault; recorded
struct TooManyFaults {};  // enough is enough

// An instruction takes about a kilobyte of memory whatever its text is, hence a bound.
inline constexpr std::size_t kMaxInstructions = 1'000'000;

[[noreturn]] void fail(Reader& reader, const tao::pegtl::position& at, std::string code,
                       std::string summary, std::string what, std::string mend,
                       Severity severity = Severity::BadInput);
[[noreturn]] void failRange(Reader& reader, const tao::pegtl::position& at,
                            const std::string& found, std::int64_t low, std::int64_t high);
// `rest` is the text from the fault on: its first token is what was found.
[[noreturn]] void failExpected(Reader& reader, const tao::pegtl::position& at,
                               const std::string& expected, std::string_view rest);

// "file:3:7"
std::string placeText(const Reader& reader, const tao::pegtl::position& at);

}  // namespace heddle::asm_text
