# The shared library and what `cmake --install` puts in place.
#
# ONNX and protobuf stay inside: the package that consumers find names neither them nor a build
# path, and none of their symbols leave the library.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Makes `target` hold all of the analysis; it exports what the file `exports` lists, nothing else.
function(footprint_embed target exports)
  foreach(library footprint_ir footprint_frontend footprint_passes footprint_backend)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${library}>)
  endforeach()
  # By file, not by target: the exported package would ask its users for the targets of these.
  file(GLOB absl_libraries "${archive_folder}/libabsl_*.so")
  target_link_libraries(${target} PRIVATE "${FOOTPRINT_ONNX_ARCHIVE}" ${Protobuf_LIBRARY_RELEASE}
                        -Wl,--as-needed ${absl_libraries})
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL
                      "-Wl,--version-script=${exports}")
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${exports}")
endfunction()

add_library(footprint SHARED)
footprint_embed(footprint "${PROJECT_SOURCE_DIR}/backend/exports.map")
if(NOT FOOTPRINT_FUZZ)  # clang leaves the sanitizers' own symbols to the program
  target_link_options(footprint PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(footprint PROPERTIES VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(footprint INTERFACE cxx_std_20)
target_include_directories(footprint INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# Consumers include <footprint/analyze.h>; inside the tree the same headers are "backend/analyze.h".
foreach(header analyze options report)
  set(source "${PROJECT_SOURCE_DIR}/backend/${header}.h")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  string(REPLACE "#include \"backend/" "#include \"footprint/" text "${text}")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/include/footprint/${header}.h" CONTENT "${text}"
       @ONLY)
endforeach()
install(DIRECTORY "${PROJECT_BINARY_DIR}/include/footprint" TYPE INCLUDE)

install(TARGETS footprint EXPORT footprintTargets)
install(TARGETS footprint_cli)
# The manual page says what the command says of itself.
add_custom_command(OUTPUT "${PROJECT_BINARY_DIR}/footprint.1"
                   COMMAND footprint_cli man > "${PROJECT_BINARY_DIR}/footprint.1"
                   DEPENDS footprint_cli VERBATIM)
add_custom_target(footprint_man ALL DEPENDS "${PROJECT_BINARY_DIR}/footprint.1")
install(FILES "${PROJECT_BINARY_DIR}/footprint.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/footprint")
install(EXPORT footprintTargets NAMESPACE footprint:: FILE footprintConfig.cmake
        DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/footprintConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/footprintConfigVersion.cmake" DESTINATION "${package}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
