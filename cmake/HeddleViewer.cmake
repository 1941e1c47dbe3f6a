# Builds the pages of viewer/ (TypeScript, Vite) into one HTML file each. Node is needed here and never again: heddle carries the pages.
#
#   heddle_page(SOURCE timeline.html kTimelinePage)   # SOURCE: a C++ source that defines kTimelinePage; made by a custom command
find_program(HEDDLE_NODE node)
find_program(HEDDLE_NPM npm)
if(NOT HEDDLE_NODE OR NOT HEDDLE_NPM)
  message(FATAL_ERROR "heddle's page is built with Node 18 or newer and npm, and ${HEDDLE_NODE} / ${HEDDLE_NPM} is missing. "
    "On Debian: scripts/install_deps.sh build")
endif()
execute_process(COMMAND ${HEDDLE_NODE} --version OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX MATCH "[0-9.]+" node_version "${node_version}")
if(node_version VERSION_LESS 18)
  message(FATAL_ERROR "heddle's page is built with Node 18 or newer; ${HEDDLE_NODE} is ${node_version}")
endif()

# Not `npm ci`: the lock file names the binaries of one platform, and that refuses to add those of another.
set(HEDDLE_VIEWER ${PROJECT_SOURCE_DIR}/viewer)
set(HEDDLE_VIEWER_PACKAGES ${HEDDLE_VIEWER}/node_modules/.package-lock.json)
add_custom_command(OUTPUT ${HEDDLE_VIEWER_PACKAGES}
  COMMAND ${HEDDLE_NPM} install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
  COMMAND ${CMAKE_COMMAND} -E touch ${HEDDLE_VIEWER_PACKAGES}
  DEPENDS ${HEDDLE_VIEWER}/package.json ${HEDDLE_VIEWER}/package-lock.json
  WORKING_DIRECTORY ${HEDDLE_VIEWER} COMMENT "Fetching what builds the pages")

function(heddle_page source file name)
  get_filename_component(mode ${file} NAME_WE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/page/${mode})
  set(cc ${CMAKE_CURRENT_BINARY_DIR}/${mode}_page.cc)
  set(embed ${PROJECT_SOURCE_DIR}/cmake/EmbedPage.cmake)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${HEDDLE_VIEWER}/src/*.ts ${HEDDLE_VIEWER}/src/*.css)
  add_custom_command(OUTPUT ${folder}/${file}
    COMMAND ${HEDDLE_NODE} node_modules/vite/bin/vite.js build --mode ${mode} --logLevel warn --emptyOutDir --outDir ${folder}
    DEPENDS ${HEDDLE_VIEWER_PACKAGES} ${sources} ${HEDDLE_VIEWER}/${file} ${HEDDLE_VIEWER}/vite.config.ts ${HEDDLE_VIEWER}/tsconfig.json
    WORKING_DIRECTORY ${HEDDLE_VIEWER} COMMENT "Building the page ${file}")
  add_custom_command(OUTPUT ${cc}
    COMMAND ${CMAKE_COMMAND} -DPAGE=${folder}/${file} -DNAME=${name} -DOUTPUT=${cc} -P ${embed}
    DEPENDS ${embed} ${folder}/${file}
    COMMENT "Putting the page ${file} into heddle")
  set(${source} ${cc} PARENT_SCOPE)
endfunction()
