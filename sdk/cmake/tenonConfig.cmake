# find_package(tenon): the targets tenon::tenon (applications) and tenon::plugin (plugins), and tenon_add_plugin().
include(${CMAKE_CURRENT_LIST_DIR}/tenonTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TenonPlugin.cmake)
