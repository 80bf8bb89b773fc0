# tenon_add_plugin(target ID id [VERSION x.y.z] SOURCES file... [NEEDS plugin...] [LIBRARIES soname...]
#                  [CPU feature...] [LINK target...])
#
# A plugin: a shared library lib<target>.so with its manifest file lib<target>.json beside it. It sees the headers of the
# sdk, links nothing of Tenon, and exports its three C symbols only. NEEDS, LIBRARIES and CPU go into the manifest: plugins to
# load first, native libraries that must be there, CPU features that the code uses.
set(TENON_PLUGIN_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

function(tenon_json_list out)
  set(items "")
  foreach(item IN LISTS ARGN)
    list(APPEND items "\"${item}\"")
  endforeach()
  list(JOIN items ", " joined)
  set(${out} "[${joined}]" PARENT_SCOPE)
endfunction()

function(tenon_add_plugin target)
  cmake_parse_arguments(PLUGIN "" "ID;VERSION;DESCRIPTION" "SOURCES;NEEDS;LIBRARIES;CPU;LINK" ${ARGN})
  if(NOT PLUGIN_ID MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "tenon_add_plugin(${target}): ID is '${PLUGIN_ID}', expected lower case letters, digits and '_', a letter first")
  endif()
  if(PLUGIN_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tenon_add_plugin(${target}): unknown arguments: ${PLUGIN_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT PLUGIN_VERSION)
    set(PLUGIN_VERSION 0.1.0)
  endif()
  add_library(${target} MODULE ${PLUGIN_SOURCES})
  set_target_properties(${target} PROPERTIES PREFIX lib POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE TENON_PLUGIN_ID="${PLUGIN_ID}")
  target_compile_options(${target} PRIVATE -fvisibility=hidden
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique> $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)
  if(TARGET tenon_build)  # inside Tenon's own tree
    target_link_libraries(${target} PRIVATE tenon_build)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/sdk/include)
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TENON_PLUGIN_DIR})
    set(manifest_dir ${TENON_PLUGIN_DIR})
  else()
    target_link_libraries(${target} PRIVATE tenon::plugin)
    set(manifest_dir ${CMAKE_CURRENT_BINARY_DIR})
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${manifest_dir})
  endif()
  target_link_libraries(${target} PRIVATE ${PLUGIN_LINK})
  target_link_options(${target} PRIVATE -Wl,--version-script=${TENON_PLUGIN_CMAKE_DIR}/plugin.map)
  if(NOT TENON_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${TENON_PLUGIN_CMAKE_DIR}/plugin.map)

  tenon_json_list(needs ${PLUGIN_NEEDS})
  tenon_json_list(libraries ${PLUGIN_LIBRARIES})
  tenon_json_list(cpu ${PLUGIN_CPU})
  # sdk/cmake in the tree, lib/cmake/tenon in an install.
  find_file(abi_header abi.h NO_CACHE REQUIRED NO_DEFAULT_PATH
    PATHS ${TENON_PLUGIN_CMAKE_DIR}/../include/tenon ${TENON_PLUGIN_CMAKE_DIR}/../../../include/tenon)
  file(STRINGS ${abi_header} abi_lines REGEX "^#define TN_ABI_(MAJOR|MINOR) ")
  string(REGEX REPLACE "[^0-9;]" "" abi "${abi_lines}")
  list(JOIN abi "." abi)
  string(REPLACE "\\" "\\\\" description "${PLUGIN_DESCRIPTION}")
  string(REPLACE "\"" "\\\"" description "${description}")
  file(GENERATE OUTPUT ${manifest_dir}/lib${target}.json CONTENT
"{
  \"id\": \"${PLUGIN_ID}\",
  \"version\": \"${PLUGIN_VERSION}\",
  \"description\": \"${description}\",
  \"library\": \"lib${target}.so\",
  \"abi\": {\"min\": \"${abi}\", \"max\": \"${abi}\"},
  \"needs\": {\"plugins\": ${needs}, \"libraries\": ${libraries}, \"cpu\": ${cpu}}
}
")
  if(TARGET tenon_build)
    install(TARGETS ${target} DESTINATION lib/tenon/plugins)
    install(FILES ${manifest_dir}/lib${target}.json DESTINATION lib/tenon/plugins)
  endif()
endfunction()
