#include "heddle/support/failure_json.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(FailureJson, IsOneLineWithEveryFault) {
  const Diagnostics faults = {{.code = "DEV003",
                               .where = "d.yaml:8",
                               .summary = "unknown key 'a\"b'",
                               .what = "keys: memory\nbanks",
                               .mend = ""},
                              {.code = "DEV006", .where = "d.yaml", .summary = "no rows"}};
  EXPECT_EQ(failureJson(faults, 1),
            "{\"format\":\"heddle.failure/1\",\"status\":1,\"faults\":["
            "{\"code\":\"DEV003\",\"where\":\"d.yaml:8\",\"summary\":\"unknown key 'a\\\"b'\","
            "\"what\":\"keys: memory\\nbanks\",\"mend\":\"\"},"
            "{\"code\":\"DEV006\",\"where\":\"d.yaml\",\"summary\":\"no rows\",\"what\":\"\","
            "\"mend\":\"\"}]}\n");
}

}  // namespace
}  // namespace heddle
