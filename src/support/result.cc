#include "heddle/support/result.h"

#include <ostream>

#include "heddle/support/visible.h"

namespace heddle {

std::string toText(const Diagnostic& diagnostic) {
  std::string text = "error[" + diagnostic.code + "] " + visible(diagnostic.where) + ": " +
                     visible(diagnostic.summary) + "\n";
  if (!diagnostic.what.empty()) text += "  what:  " + visible(diagnostic.what) + "\n";
  if (!diagnostic.mend.empty()) text += "  mend:  " + visible(diagnostic.mend) + "\n";
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
