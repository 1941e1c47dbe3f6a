# Makes one C++ source of a built page.
#
#   cmake -DPAGE=page/index.html -DNAME=kTimelinePage -DOUTPUT=timeline_page.cc -P cmake/EmbedPage.cmake
file(READ ${PAGE} page)
file(WRITE ${OUTPUT}
  "// Made of viewer/ by cmake/EmbedPage.cmake.\n"
  "#include \"pages.h\"\n"
  "namespace heddle {\n"
  "const std::string_view ${NAME} = R\"heddle-page(${page})heddle-page\";\n"
  "}  // namespace heddle\n")
