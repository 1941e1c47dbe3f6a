// The page on which a sweep is looked at: one HTML file that needs nothing else.
//
//   const std::string page = sweepHtml(document);   // sweep.html, offline
//
// The document is JSON, `heddle.sweep/1`: columns with name, unit, kind and role, and for each an
// array with an entry for each point. Every figure of the page is one of these.
#pragma once
#include <string>
#include <string_view>

namespace heddle {

// The same bytes for the same document. It is not parsed here: the page says of one that it cannot
// read why. Names in it can run nothing.
std::string sweepHtml(std::string_view document);

}  // namespace heddle
