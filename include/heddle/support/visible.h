// Text of others (names in a model, values of a file, arguments) as it may be shown: what a
// terminal would obey instead of showing it is written out.
//
//   "conv\x1b[2J\n"  ->  conv\u001b[2J\n          "\xff"  ->  \xff          "Größe"  ->  Größe
//
// Written out are the control characters C0, DEL and C1, those that turn the direction of writing
// (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), the separators U+2028 and U+2029,
// and bytes that are no UTF-8. A code point reads \uXXXX as in JSON.
#pragma once
#include <iosfwd>
#include <streambuf>
#include <string>
#include <string_view>

namespace heddle {

// Length of the well-formed UTF-8 sequence at the start of `text`, or 0 (Unicode 15, table 3-7).
std::size_t utf8Length(std::string_view text);

// Whether the well-formed sequence is one of those above.
bool isControl(std::string_view sequence);

std::string visible(std::string_view text);       // in one line: \n, \r and \t are written out
std::string visibleLines(std::string_view text);  // line feeds and tabs stay

// What is written into it arrives in `sink` as visibleLines of the whole, however it is cut.
class VisibleBuffer : public std::streambuf {
 public:
  explicit VisibleBuffer(std::streambuf& sink) : sink_(sink) {}
  ~VisibleBuffer() override;

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  bool pass(std::string_view text);
  std::streambuf& sink_;
  std::string begun_;  // the start of a sequence whose rest is still to come
};

}  // namespace heddle
