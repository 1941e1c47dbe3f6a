// A YAML text as a plain tree that remembers lines: what yaml-cpp says, less what a file of
// heddle's has no use for (aliases, tags, several documents), which is refused, as are texts too
// big, too deep or too rich to be one.
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

// What a text is to be, for messages, and the codes of its faults.
struct YamlUse {
  const char* faulty;  // not YAML, or YAML that such a file does not use
  const char* twice;   // a key is given twice
  const char* thing;   // "description"
  const char* page;    // of docs/ that shows its form
};
inline constexpr YamlUse kDescription{"DEV002", "DEV007", "description", "docs/device.md"};

// Errors: those of `use`.
Result<YamlNode> parseYaml(const std::string& yaml, const std::string& name,
                           const YamlUse& use = kDescription);

}  // namespace heddle
