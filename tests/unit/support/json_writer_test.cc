#include "heddle/support/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heddle {
namespace {

TEST(JsonWriter, WritesWhatItIsToldInOrder) {
  JsonWriter json;
  json.beginObject()
      .key("b")
      .value(1)
      .key("a")
      .beginArray()
      .value(-2)
      .value(0.5)
      .value(true)
      .null()
      .endArray();
  json.key("empty").beginObject().endObject().endObject();
  EXPECT_EQ(json.take(), R"({"b":1,"a":[-2,0.5,true,null],"empty":{}})");
}

TEST(JsonWriter, IndentsWhereAsked) {
  JsonWriter json(2);
  json.beginObject().key("a").beginArray().value(1).value(2).endArray().endObject();
  EXPECT_EQ(json.take(), "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
}

TEST(JsonWriter, EscapesWhatAStringMayNotHold) {
  JsonWriter json;
  json.value("a\"b\\c\n\x01");
  EXPECT_EQ(json.take(), R"("a\"b\\c\n\u0001")");
}

TEST(JsonWriter, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  const std::string replacement = "\xEF\xBF\xBD";
  const auto written = [](const char* text) {
    JsonWriter json;
    return json.value(text).take();
  };
  EXPECT_EQ(written("\xC3\xA9\xE2\x82\xAC"), "\"\xC3\xA9\xE2\x82\xAC\"");
  EXPECT_EQ(written("a\xFFz"), "\"a" + replacement + "z\"");
  EXPECT_EQ(written("\xC0\xAF"), "\"" + replacement + replacement + "\"");  // overlong
  EXPECT_EQ(written("\xED\xA0\x80").size(), 2 + 3 * replacement.size());    // a surrogate
  EXPECT_EQ(written("\xE2\x82"), "\"" + replacement + replacement + "\"");  // cut off
}

TEST(JsonWriter, NumbersThatAreNotFiniteBecomeNull) {
  JsonWriter json;
  json.beginArray().value(std::nan("")).value(HUGE_VAL).endArray();
  EXPECT_EQ(json.take(), "[null,null]");
}

}  // namespace
}  // namespace heddle
