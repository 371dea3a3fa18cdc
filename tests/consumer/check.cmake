# Installs the build and uses it as a stranger would, alone and beside an ONNX of his own.
#
#   cmake -D BUILD=<build tree> -D SOURCE=<source tree> -D WORK=<scratch> -D CXX_FLAGS=<flags>
#         -P check.cmake
include("${SOURCE}/frontend/onnx_package.cmake")

function(expect_match text pattern)
  if(NOT "${text}" MATCHES "${pattern}")
    message(FATAL_ERROR "expected \"${pattern}\" in:\n${text}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/prefix")
footprint_run("Installing" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")
foreach(file bin/footprint include/footprint/analyze.h)
  if(NOT EXISTS "${prefix}/${file}")
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

# The package names neither what the library is made of nor where it was built.
file(GLOB_RECURSE package "${prefix}/*.cmake" "${prefix}/*.h")
foreach(file IN LISTS package)
  file(READ "${file}" text)
  string(REGEX MATCH "${BUILD}|${SOURCE}|[Pp]rotobuf|[Aa]bsl|absl/|libonnx|ONNX::" leak "${text}")
  if(leak)
    message(FATAL_ERROR "${file} names ${leak}")
  endif()
endforeach()
file(GLOB_RECURSE library "${prefix}/lib*/libfootprint.so")
execute_process(COMMAND nm --dynamic --defined-only --demangle "${library}"
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
expect_match("${symbols}" "footprint::Analyze")
string(REGEX MATCH "[^\n]* (footprint_onnx|google)::[^\n]*" leak "${symbols}")
if(leak)
  message(FATAL_ERROR "libfootprint.so exports ${leak}")
endif()

# The example of README.md is a program.
file(READ "${SOURCE}/README.md" text)
string(REGEX MATCH "```cpp\n([^`]*)```" example "${text}")
file(WRITE "${WORK}/readme.cpp" "${CMAKE_MATCH_1}")

function(check_consumer name)
  set(build "${WORK}/${name}")
  footprint_run("Configuring ${name}" "${CMAKE_COMMAND}" -G Ninja -S "${SOURCE}/tests/consumer"
                -B "${build}" "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}"
                "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" "-DREADME_EXAMPLE=${WORK}/readme.cpp" ${ARGN})
  footprint_run("Building ${name}" "${CMAKE_COMMAND}" --build "${build}")
  execute_process(COMMAND "${build}/consumer" "${SOURCE}/models/resnet50.train_loss.onnx"
                  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  expect_match("${output}" "102228128 bytes of parameters")
  set(output "${output}" PARENT_SCOPE)
endfunction()

check_consumer(alone)
execute_process(COMMAND "${WORK}/alone/readme" "${SOURCE}/models/resnet50.train_loss.onnx"
                OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
expect_match("${output}" "[0-9]+ bytes at the peak, in backward")
execute_process(COMMAND "${WORK}/alone/readme" "${SOURCE}/README.md" RESULT_VARIABLE code
                ERROR_VARIABLE output)
expect_match("${code}: ${output}" "^2: .*this is no ONNX model")
footprint_onnx_package(own_onnx NAMESPACE onnx TARGET onnx_proto)
check_consumer(beside-onnx "-DOWN_ONNX=${own_onnx}")
expect_match("${output}" "[0-9]+ nodes")
