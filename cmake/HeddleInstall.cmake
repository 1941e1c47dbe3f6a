# What `cmake --install` gives others: every layer as heddle::<layer> and all of them as heddle::heddle.
#
#   find_package(heddle REQUIRED)
#   target_link_libraries(tool PRIVATE heddle::heddle)
include(CMakePackageConfigHelpers)

# The foreign libraries of the layers, by their find_package names: all found so far but those of tests and program.
get_property(HEDDLE_FOREIGN_PACKAGES GLOBAL PROPERTY PACKAGES_FOUND)
list(REMOVE_ITEM HEDDLE_FOREIGN_PACKAGES GTest CLI11)

add_library(heddle_everything INTERFACE)
add_library(heddle::heddle ALIAS heddle_everything)
set_target_properties(heddle_everything PROPERTIES EXPORT_NAME heddle)
foreach(layer ${HEDDLE_LAYERS})
  if(TARGET heddle_${layer})
    target_link_libraries(heddle_everything INTERFACE heddle::${layer})
  endif()
endforeach()
install(TARGETS heddle_everything EXPORT heddle)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(EXPORT heddle NAMESPACE heddle:: FILE heddleTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/heddleConfig.cmake.in ${CMAKE_BINARY_DIR}/heddleConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/heddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/heddleConfig.cmake ${CMAKE_BINARY_DIR}/heddleConfigVersion.cmake
  DESTINATION ${package_folder})
install(DIRECTORY hw_configs DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle)
