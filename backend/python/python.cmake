# The Python package onnx_footprint: build/<preset>/python is a folder to import it from, and
# `pip install .` (pyproject.toml) makes a wheel of the same files and the command.
if(NOT SKBUILD)
  # Debian's own Python, with nanobind from the virtual environment of the build.
  find_program(Python_EXECUTABLE python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
  footprint_venv("nanobind>=2.4,<4")
  set(nanobind_python "${FOOTPRINT_CACHE_DIR}/venv/bin/python")
endif()
find_package(Python 3.11 COMPONENTS Interpreter Development.Module REQUIRED)
if(SKBUILD)
  set(nanobind_python "${Python_EXECUTABLE}")
endif()
execute_process(COMMAND "${nanobind_python}" -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_DIR
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

# Protobuf and Abseil are the system's shared ones, everything else is inside, and Python sees one
# symbol of it: the onnx wheel, PyTorch and others with a protobuf of their own do not meet ours.
file(GLOB python_sources CONFIGURE_DEPENDS backend/python/*.cpp)
nanobind_add_module(footprint_python NB_STATIC NB_SUPPRESS_WARNINGS NOMINSIZE ${python_sources})
set(package "${PROJECT_BINARY_DIR}/python/onnx_footprint")
file(MAKE_DIRECTORY "${package}")
set_target_properties(footprint_python PROPERTIES OUTPUT_NAME _core
                      LIBRARY_OUTPUT_DIRECTORY "${package}")
target_include_directories(footprint_python PRIVATE "${PROJECT_SOURCE_DIR}")
target_sources(footprint_python PRIVATE $<TARGET_OBJECTS:footprint_command>)
footprint_embed(footprint_python "${PROJECT_SOURCE_DIR}/backend/python/exports.map")
nanobind_add_stub(footprint_python_stub MODULE _core OUTPUT "${package}/_core.pyi"
                  PYTHON_PATH "${package}" DEPENDS footprint_python
                  PATTERN_FILE "${PROJECT_SOURCE_DIR}/backend/python/stub_patterns.txt")

# The rest of the package beside the module that was built.
file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/backend/python/onnx_footprint/*.py"
                                  "${PROJECT_SOURCE_DIR}/backend/python/onnx_footprint/py.typed")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(CREATE_LINK "${file}" "${package}/${name}" SYMBOLIC)
endforeach()

if(SKBUILD)
  install(TARGETS footprint_python DESTINATION onnx_footprint COMPONENT python)
  install(FILES "${package}/_core.pyi" DESTINATION onnx_footprint COMPONENT python)
  install(PROGRAMS "$<TARGET_FILE:footprint_cli>" DESTINATION "${SKBUILD_SCRIPTS_DIR}"
          COMPONENT python)
endif()
