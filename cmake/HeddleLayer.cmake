# Declares one layer of the house: a static library heddle::<name> with its public headers, its sources,
# the earlier layers it sees (DEPENDS) and the foreign libraries that stay inside it (PRIVATE).
#
#   heddle_layer(memory HEADERS memory/allocate.h SOURCES allocate.cc DEPENDS tiling PRIVATE Boost::graph)
#
# Headers lie in include/heddle/<name>/. Every header must compile alone (VERIFY_INTERFACE_HEADER_SETS).
# scripts/check_layers.py reads the same calls and rejects an include that points the wrong way.
function(heddle_layer name)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES;DEPENDS;PRIVATE" ${ARGN})
  set(target heddle_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(heddle::${name} ALIAS ${target})
  list(TRANSFORM ARG_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/heddle/)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${ARG_HEADERS})
  list(TRANSFORM ARG_DEPENDS PREPEND heddle::)
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:heddle_flags>)
  set_target_properties(${target} PROPERTIES
    VERIFY_INTERFACE_HEADER_SETS ON EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
    UNITY_BUILD ${HEDDLE_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  install(TARGETS ${target} EXPORT heddle FILE_SET HEADERS)
endfunction()

# Whether this build has the tests of this kind (HEDDLE_TEST_SET); what it has not is only built where it is named, or where
# another target needs it.
function(heddle_has_tests label result)
  set(sanitized OFF)
  if(label MATCHES "^(unit|property|fuzz)$")
    set(sanitized ON)
  endif()
  set(${result} ON PARENT_SCOPE)
  if((HEDDLE_TEST_SET STREQUAL "sanitized" AND NOT sanitized) OR (HEDDLE_TEST_SET STREQUAL "others" AND sanitized))
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

# heddle_test(memory SOURCES allocate_test.cc DEPENDS memory) makes the executable test_memory and registers its cases.
# LABEL says which kind of test it is (default: unit).
function(heddle_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPENDS;PRIVATE" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  set(target test_${name})
  add_executable(${target} ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPENDS PREPEND heddle::)
  target_link_libraries(${target} PRIVATE ${ARG_DEPENDS} ${ARG_PRIVATE} heddle_flags GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE HEDDLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HEDDLE_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  heddle_has_tests(${ARG_LABEL} here)
  if(here)
    gtest_discover_tests(${target} DISCOVERY_TIMEOUT 120 PROPERTIES LABELS ${ARG_LABEL})
  else()
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  if(ARG_LABEL STREQUAL "unit")
    target_compile_options(${target} PRIVATE ${HEDDLE_BRIEF_OPTIONS})
  endif()
endfunction()
