#include "heddle/support/visible.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace heddle {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kLongestSequence = 4;

// Of a well-formed sequence.
std::uint32_t codePoint(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  std::uint32_t code = byte(0) & (0xFFU >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) code = code << 6 | (byte(i) & 0x3FU);
  return code;
}

void appendHex(std::string& out, std::uint32_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[value >> shift & 15];
}

void appendVisible(std::string& out, std::string_view text, bool lines) {
  while (!text.empty()) {
    // Nearly all text is plain: programs of many megabytes pass here.
    const auto special =
        std::find_if(text.begin(), text.end(), [](char c) { return c < 0x20 || c > 0x7E; });
    const auto plain = static_cast<std::size_t>(special - text.begin());
    out.append(text, 0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
    const std::size_t length = utf8Length(text);
    if (length == 0) {
      out += "\\x";
      appendHex(out, static_cast<unsigned char>(text[0]), 2);
    } else if (const char c = text[0]; lines && (c == '\n' || c == '\t')) {
      out += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += '\\';
      out += c == '\n' ? 'n' : c == '\r' ? 'r' : 't';
    } else if (isControl(text.substr(0, length))) {
      out += "\\u";
      appendHex(out, codePoint(text.substr(0, length)), 4);
    } else {
      out.append(text, 0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

// How many bytes at the end of `text` may be the start of a sequence that goes on.
std::size_t openEnd(std::string_view text) {
  for (std::size_t n = 1; n < kLongestSequence && n <= text.size(); ++n) {
    const unsigned char c = static_cast<unsigned char>(text[text.size() - n]);
    if ((c & 0xC0) == 0x80) continue;  // a byte inside of a sequence
    const std::size_t due = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    return due > n ? n : 0;
  }
  return 0;
}

}  // namespace

std::size_t utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto trail = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  if (text.empty()) return 0;
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return trail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool second = trail(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF);
    return second && trail(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool second = trail(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
    return second && trail(2) && trail(3) ? 4 : 0;
  }
  return 0;
}

bool isControl(std::string_view sequence) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array<Range, 6> kControls{{{0x00, 0x1F},
                                            {0x7F, 0x9F},
                                            {0x061C, 0x061C},
                                            {0x200E, 0x200F},
                                            {0x2028, 0x202E},
                                            {0x2066, 0x2069}}};
  const std::uint32_t code = codePoint(sequence);
  for (const Range& range : kControls)
    if (code >= range.first && code <= range.last) return true;
  return false;
}

std::string visible(std::string_view text) {
  std::string out;
  appendVisible(out, text, false);
  return out;
}

std::string visibleLines(std::string_view text) {
  std::string out;
  appendVisible(out, text, true);
  return out;
}

VisibleBuffer::~VisibleBuffer() { pass(begun_); }

std::streamsize VisibleBuffer::xsputn(const char* text, std::streamsize size) {
  std::string all = std::move(begun_);
  all.append(text, static_cast<std::size_t>(size));
  const std::size_t open = openEnd(all);
  begun_ = all.substr(all.size() - open);
  all.resize(all.size() - open);
  return pass(all) ? size : 0;
}

VisibleBuffer::int_type VisibleBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

// What has begun stays: it is too early to say that it is no UTF-8.
int VisibleBuffer::sync() { return sink_.pubsync(); }

bool VisibleBuffer::pass(std::string_view text) {
  const std::string shown = visibleLines(text);
  const auto size = static_cast<std::streamsize>(shown.size());
  return sink_.sputn(shown.data(), size) == size;
}

}  // namespace heddle
