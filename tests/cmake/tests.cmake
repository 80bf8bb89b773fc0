# How a room of tests/ states its tests. The name of a test is the name of its file without the ending, of its program, and of its
# line in CTest. All tests get the same environment: where the build, the sources and the plugins are.
set(tenon_test_folders "TENON_BUILD_DIR=${CMAKE_BINARY_DIR}" "TENON_SOURCE_DIR=${CMAKE_SOURCE_DIR}")
set(tenon_test_environment ${tenon_test_folders} "TENON_PLUGIN_PATH=${TENON_PLUGIN_DIR}")

# tenon_add_tests(test... [INNER | ALONE] [LINK target...] [DEPENDS target...] [LABELS label...] [ENVIRONMENT name=value...])
#
# Each test is a program of the file <test>.cpp. It links libtenon.so and sees what a user sees. With INNER it links the objects of
# the core instead and sees their headers, with ALONE it links nothing of Tenon. DEPENDS are targets that it needs when it runs.
function(tenon_add_tests)
  cmake_parse_arguments(TEST "INNER;ALONE" "" "LINK;DEPENDS;LABELS;ENVIRONMENT" ${ARGN})
  foreach(name IN LISTS TEST_UNPARSED_ARGUMENTS)
    add_executable(${name} ${name}.cpp)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support)
    target_link_libraries(${name} PRIVATE tenon_build GTest::gtest GTest::gtest_main nlohmann_json::nlohmann_json
      ${CMAKE_DL_LIBS} ${TEST_LINK})
    if(TEST_INNER)
      target_link_libraries(${name} PRIVATE tenon_core)
      target_link_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-lto>)
    elseif(TEST_ALONE)
      target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/sdk/include)
    else()
      target_link_libraries(${name} PRIVATE tenon)
    endif()
    if(TEST_DEPENDS)
      add_dependencies(${name} ${TEST_DEPENDS})
    endif()
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}"
      ENVIRONMENT "${tenon_test_environment};${TEST_ENVIRONMENT}")
  endforeach()
endfunction()

# tenon_repeat_tests(test... SUFFIX suffix LABELS label... ENVIRONMENT name=value... [ARGUMENTS argument...])
#
# The program of each test once more, in another environment, as <test>_<suffix>. What several rooms repeat has a name here.
set(tenon_primitives_only SUFFIX primitives LABELS primitives ENVIRONMENT TENON_KERNELS=primitives)
set(tenon_cpu_baseline SUFFIX baseline LABELS variant ENVIRONMENT TENON_CPU_ISA=baseline TENON_CPU_DNNL=0)
set(tenon_cpu_avx2 SUFFIX avx2 LABELS variant ENVIRONMENT TENON_CPU_ISA=avx2 TENON_CPU_DNNL=0)
function(tenon_repeat_tests)
  cmake_parse_arguments(TEST "" "SUFFIX" "LABELS;ENVIRONMENT;ARGUMENTS" ${ARGN})
  foreach(name IN LISTS TEST_UNPARSED_ARGUMENTS)
    add_test(NAME ${name}_${TEST_SUFFIX} COMMAND ${name} ${TEST_ARGUMENTS})
    set_tests_properties(${name}_${TEST_SUFFIX} PROPERTIES LABELS "${TEST_LABELS}"
      ENVIRONMENT "${tenon_test_environment};${TEST_ENVIRONMENT}")
  endforeach()
endfunction()

# tenon_add_script(test [argument...]): the script <test>.sh. It finds the compilers of the build in CC and CXX.
function(tenon_add_script name)
  add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${name}.sh ${ARGN})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "${tenon_test_environment};CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER}")
endfunction()
