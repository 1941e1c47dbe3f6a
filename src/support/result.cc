#include "heddle/support/result.h"

#include <ostream>

namespace heddle {

std::string toText(const Diagnostic& diagnostic) {
  std::string text =
      "error[" + diagnostic.code + "] " + diagnostic.where + ": " + diagnostic.summary + "\n";
  if (!diagnostic.what.empty()) text += "  what:  " + diagnostic.what + "\n";
  if (!diagnostic.mend.empty()) text += "  mend:  " + diagnostic.mend + "\n";
  return text;
}

std::string toText(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += toText(diagnostic);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Diagnostics& diagnostics) {
  return out << toText(diagnostics);
}

}  // namespace heddle
