# Makes one C++ source of the page in viewer/: page.html with its style and scripts put in.
#
#   cmake -DVIEWER=viewer -DOUTPUT=timeline_page.cc -P cmake/EmbedPage.cmake
file(READ ${VIEWER}/page.html page)
file(READ ${VIEWER}/page.css style)
set(script "")
foreach(part decode levels rows draw panels main)
  file(READ ${VIEWER}/${part}.js text)
  string(APPEND script "${text}\n")
endforeach()
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
file(WRITE ${OUTPUT}
  "// Made of viewer/ by cmake/EmbedPage.cmake.\n"
  "#include \"timeline_page.h\"\n"
  "namespace heddle {\n"
  "const std::string_view kTimelinePage = R\"heddle-page(${page})heddle-page\";\n"
  "}  // namespace heddle\n")
