# Builds the page of viewer/ (TypeScript, Vite) into one HTML file. Node is needed here and never again: heddle carries the page.
#
#   heddle_viewer(PAGE)       # PAGE: the file, made by a custom command that others may depend on
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

function(heddle_viewer page)
  set(viewer ${PROJECT_SOURCE_DIR}/viewer)
  # Not `npm ci`: the lock file names the binaries of one platform, and that refuses to add those of another.
  set(packages ${viewer}/node_modules/.package-lock.json)
  add_custom_command(OUTPUT ${packages}
    COMMAND ${HEDDLE_NPM} install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${packages}
    DEPENDS ${viewer}/package.json ${viewer}/package-lock.json
    WORKING_DIRECTORY ${viewer} COMMENT "Fetching what builds the page")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${viewer}/src/*.ts ${viewer}/src/*.css)
  set(built ${CMAKE_CURRENT_BINARY_DIR}/page/index.html)
  add_custom_command(OUTPUT ${built}
    COMMAND ${HEDDLE_NODE} node_modules/vite/bin/vite.js build --logLevel warn --emptyOutDir --outDir ${CMAKE_CURRENT_BINARY_DIR}/page
    DEPENDS ${packages} ${sources} ${viewer}/index.html ${viewer}/vite.config.ts ${viewer}/tsconfig.json
    WORKING_DIRECTORY ${viewer} COMMENT "Building the page")
  set(${page} ${built} PARENT_SCOPE)
endfunction()
