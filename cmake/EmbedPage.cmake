# Makes one C++ source of the built page.
#
#   cmake -DPAGE=viewer/dist/index.html -DOUTPUT=timeline_page.cc -P cmake/EmbedPage.cmake
file(READ ${PAGE} page)
file(WRITE ${OUTPUT}
  "// Made of viewer/ by cmake/EmbedPage.cmake.\n"
  "#include \"timeline_page.h\"\n"
  "namespace heddle {\n"
  "const std::string_view kTimelinePage = R\"heddle-page(${page})heddle-page\";\n"
  "}  // namespace heddle\n")
