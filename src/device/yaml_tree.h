// A YAML text as a plain tree that remembers lines: what yaml-cpp says, less what a description has
// no use for (aliases, tags, several documents), which is refused, as are texts too big, too deep
// or too rich to be a description.
#pragma once
#include <string>
#include <vector>

#include "heddle/support/result.h"

namespace heddle {

struct YamlEntry;
struct YamlNode {
  enum class Kind { Null, Scalar, Sequence, Map };
  Kind kind = Kind::Null;
  int line = 1;
  std::string text;                // of a scalar
  std::vector<YamlNode> items;     // of a sequence
  std::vector<YamlEntry> entries;  // of a map, keys unique
};
struct YamlEntry {
  std::string key;
  int line = 1;
  YamlNode value;
};

// "a map", "a list", ... for messages.
std::string kindName(const YamlNode& node);

// Errors: DEV002 not YAML, or YAML that a description does not use; DEV007 a key given twice.
Result<YamlNode> parseYaml(const std::string& yaml, const std::string& name);

}  // namespace heddle
