// Writes JSON text front to back, keys in the order in which they are written: the same calls give
// the same bytes.
//
//   JsonWriter json;                       {"name":"conv1","cycles":[1,2]}
//   json.beginObject().key("name").value("conv1");
//   json.key("cycles").beginArray().value(1).value(2).endArray().endObject();
//
// Bytes of a string that are not UTF-8 become U+FFFD; a number that is not finite becomes null.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace heddle {

class JsonWriter {
 public:
  // indent 0: one line. Otherwise every entry of an object or array has a line of its own.
  explicit JsonWriter(int indent = 0) : indent_(indent) {}

  JsonWriter& beginObject() { return open('{'); }
  JsonWriter& endObject() { return close('}'); }
  JsonWriter& beginArray() { return open('['); }
  JsonWriter& endArray() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::int64_t number);
  JsonWriter& value(std::int32_t number) { return value(std::int64_t{number}); }
  JsonWriter& value(double number);  // the shortest text that reads back to the same number
  JsonWriter& value(bool truth);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // a value that is JSON already

  // Nothing may be written afterwards.
  std::string take() { return std::move(text_); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void newLine();

  std::string text_;
  int indent_;
  int depth_ = 0;
  bool empty_ = true;      // nothing yet in the innermost object or array
  bool afterKey_ = false;  // the value of a key follows
};

}  // namespace heddle
