#include "heddle/support/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "heddle/support/visible.h"

namespace heddle {
namespace {

void appendEscaped(std::string& out, std::string_view text) {
  // Nearly all text is plain, and a timeline has megabytes of it.
  const auto isPlain = [](char c) { return c >= 0x20 && c <= 0x7E && c != '"' && c != '\\'; };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t plain = 0;
    while (i + plain < text.size() && isPlain(text[i + plain])) ++plain;
    out.append(text, i, plain);
    i += plain;
    if (i == text.size()) return;
    const char c = text[i];
    const std::size_t length = utf8Length(text.substr(i));
    if (length == 0) {
      out += "\xEF\xBF\xBD";  // U+FFFD
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (isControl(text.substr(i, length))) {
      out += visible(text.substr(i, length));  // in JSON's own words
    } else {
      out.append(text, i, length);
    }
    i += length;
  }
}

template <class Number>
void appendNumber(std::string& out, Number number) {
  std::array<char, 40> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace

void JsonWriter::newLine() {
  if (indent_ == 0) return;
  text_ += '\n';
  text_.append(static_cast<std::size_t>(indent_ * depth_), ' ');
}

void JsonWriter::separate() {
  if (afterKey_) {
    afterKey_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!empty_) text_ += ',';
  empty_ = false;
  newLine();
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  ++depth_;
  empty_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  --depth_;
  if (!empty_) newLine();
  text_ += bracket;
  empty_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  text_ += '"';
  appendEscaped(text_, name);
  text_ += indent_ ? "\": " : "\":";
  afterKey_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
  separate();
  appendNumber(text_, number);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  appendNumber(text_, number);
  return *this;
}

JsonWriter& JsonWriter::value(bool truth) {
  separate();
  text_ += truth ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  text_ += '"';
  appendEscaped(text_, text);
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

}  // namespace heddle
