# ONNX, built once from its source distribution and kept outside every build tree.
#
# footprint_onnx_package(<folder> NAMESPACE <namespace> TARGET <onnx|onnx_proto>) sets <folder> to
# one with include/ and lib/. Its name holds a hash of all that its contents depend on,
# and it appears under that name only when complete: an interrupted build is begun again, two
# configurations at once build it one time. The build uses the system's own compiler and neither
# sanitizers nor coverage, so that all presets share one copy.

set(FOOTPRINT_ONNX_VERSION 1.23.2)
if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(default_cache "$ENV{XDG_CACHE_HOME}/footprint")
elseif(DEFINED ENV{HOME} AND NOT "$ENV{HOME}" STREQUAL "")
  set(default_cache "$ENV{HOME}/.cache/footprint")
else()
  set(default_cache "${CMAKE_CURRENT_LIST_DIR}/../build/cache")
endif()
set(FOOTPRINT_CACHE_DIR "${default_cache}" CACHE PATH "Where the ONNX build is kept")
mark_as_advanced(FOOTPRINT_CACHE_DIR)

function(footprint_run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
  if(failed)
    message(FATAL_ERROR "${what} failed (${failed}):\n${log}")
  endif()
endfunction()

# Python tools live in a virtual environment: Debian's pip refuses to install outside of one.
# footprint_venv(<requirement>) makes sure that the one of this project has a package.
function(footprint_venv requirement)
  set(venv "${FOOTPRINT_CACHE_DIR}/venv")
  file(MAKE_DIRECTORY "${FOOTPRINT_CACHE_DIR}")
  file(LOCK "${FOOTPRINT_CACHE_DIR}/venv.lock" GUARD FUNCTION)
  if(NOT EXISTS "${venv}/complete")
    find_program(PYTHON3 python3 REQUIRED)
    file(REMOVE_RECURSE "${venv}")
    footprint_run("Creating a virtual environment (is python3-venv installed?)"
                  "${PYTHON3}" -m venv "${venv}")
    file(TOUCH "${venv}/complete")
  endif()
  if(NOT EXISTS "${venv}/has ${requirement}")
    footprint_run("Installing ${requirement}" "${venv}/bin/pip" install --quiet "${requirement}")
    file(TOUCH "${venv}/has ${requirement}")
  endif()
endfunction()

function(footprint_onnx_source source)
  set(${source} "${FOOTPRINT_CACHE_DIR}/onnx-${FOOTPRINT_ONNX_VERSION}-source" PARENT_SCOPE)
  set(folder "${FOOTPRINT_CACHE_DIR}/onnx-${FOOTPRINT_ONNX_VERSION}-source")
  if(EXISTS "${folder}")
    return()
  endif()
  message(NOTICE "Fetching ONNX ${FOOTPRINT_ONNX_VERSION}")
  file(REMOVE_RECURSE "${folder}.part")
  file(MAKE_DIRECTORY "${folder}.part")
  footprint_run("Fetching ONNX" "${FOOTPRINT_CACHE_DIR}/venv/bin/pip" download --quiet --no-deps
                --no-binary onnx "onnx==${FOOTPRINT_ONNX_VERSION}" --dest "${folder}.part")
  file(ARCHIVE_EXTRACT INPUT "${folder}.part/onnx-${FOOTPRINT_ONNX_VERSION}.tar.gz"
       DESTINATION "${folder}.part")
  file(RENAME "${folder}.part/onnx-${FOOTPRINT_ONNX_VERSION}" "${folder}")
  file(REMOVE_RECURSE "${folder}.part")
endfunction()

function(footprint_onnx_build source namespace target folder)
  message(NOTICE "Building ONNX ${FOOTPRINT_ONNX_VERSION} (one to two minutes, once)")
  file(REMOVE_RECURSE "${folder}.part")
  set(build "${folder}.part/build")
  set(cmake "${FOOTPRINT_CACHE_DIR}/venv/bin/cmake")
  footprint_run("Configuring ONNX" "${cmake}" -S "${source}" -B "${build}" -G Ninja
                ${FOOTPRINT_ONNX_FLAGS} "-DONNX_NAMESPACE=${namespace}")
  footprint_run("Building ONNX" "${cmake}" --build "${build}" --target ${target})
  file(GLOB libraries "${build}/lib*.a")
  file(COPY ${libraries} DESTINATION "${folder}.part/lib")
  file(COPY "${source}/onnx" "${build}/onnx" DESTINATION "${folder}.part/include"
       FILES_MATCHING PATTERN "*.h")
  file(REMOVE_RECURSE "${build}")
  file(RENAME "${folder}.part" "${folder}")
endfunction()

set(FOOTPRINT_ONNX_FLAGS
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_STANDARD=20
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"  # a third of the time of -O3; it only parses here
    -DCMAKE_CXX_COMPILER=c++ -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DONNX_USE_UNITY_BUILD=ON
    -DONNX_BUILD_PYTHON=OFF -DONNX_GEN_PB_TYPE_STUBS=OFF -DONNX_INSTALL=OFF
    -DCMAKE_POLICY_DEFAULT_CMP0063=NEW)

function(footprint_onnx_package result)
  cmake_parse_arguments(ARG "" "NAMESPACE;TARGET" "" ${ARGN})
  execute_process(COMMAND c++ --version OUTPUT_VARIABLE compiler)
  execute_process(COMMAND protoc --version OUTPUT_VARIABLE protobuf)
  string(SHA256 key "${FOOTPRINT_ONNX_FLAGS};${ARG_TARGET};${compiler};${protobuf}")
  string(SUBSTRING "${key}" 0 12 key)
  set(folder "${FOOTPRINT_CACHE_DIR}/onnx-${FOOTPRINT_ONNX_VERSION}-${ARG_NAMESPACE}-${key}")
  set(${result} "${folder}" PARENT_SCOPE)
  if(NOT EXISTS "${folder}")
    file(MAKE_DIRECTORY "${FOOTPRINT_CACHE_DIR}")
    file(LOCK "${FOOTPRINT_CACHE_DIR}/lock" GUARD FUNCTION)
    if(NOT EXISTS "${folder}")
      footprint_venv("cmake>=3.26,<5")
      footprint_onnx_source(source)
      footprint_onnx_build("${source}" ${ARG_NAMESPACE} ${ARG_TARGET} "${folder}")
    endif()
  endif()
endfunction()
