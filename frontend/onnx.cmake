# Our own ONNX lives in a namespace of its own, so that it can share a process with another one.
include(frontend/onnx_package.cmake)
footprint_onnx_package(onnx NAMESPACE footprint_onnx TARGET onnx)
set(FOOTPRINT_ONNX_ARCHIVE "${onnx}/lib/libonnx.a")
find_library(protobuf_archive libprotobuf.a REQUIRED)
find_package(ZLIB REQUIRED)
add_library(footprint_onnx INTERFACE)
target_include_directories(footprint_onnx SYSTEM INTERFACE "${onnx}/include")
target_compile_definitions(footprint_onnx INTERFACE ONNX_NAMESPACE=footprint_onnx ONNX_ML=1)
target_link_libraries(footprint_onnx INTERFACE "${FOOTPRINT_ONNX_ARCHIVE}" "${protobuf_archive}"
                      ZLIB::ZLIB Threads::Threads)
