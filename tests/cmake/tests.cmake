# How a room of tests/ states its tests. The name of a test is the name of its file without the ending, of its program, and of its
# line in CTest. All tests get the same environment: where the build, the sources and the plugins are. Tests run beside each other,
# so OpenMP's threads sleep while they wait, as those of the command do: spinning ones take the processor from the other test. None
# touches what the user's cache has of compiled kernels.
set(tenon_test_folders "TENON_BUILD_DIR=${CMAKE_BINARY_DIR}" "TENON_SOURCE_DIR=${CMAKE_SOURCE_DIR}" OMP_WAIT_POLICY=passive
  TENON_CUDA_CACHE=0)
set(tenon_test_environment ${tenon_test_folders} "TENON_PLUGIN_PATH=${TENON_PLUGIN_DIR}")

# GoogleTest and its main, which the distribution has as archives, as one library of all tests: a copy in each would be half of it,
# and most of what tests/gpu/bundle carries.
add_library(tests_gtest SHARED support/gtest.cpp)
target_link_libraries(tests_gtest PRIVATE tenon_build -Wl,--whole-archive $<TARGET_FILE:GTest::gtest> $<TARGET_FILE:GTest::gtest_main>
  -Wl,--no-whole-archive)
set_target_properties(tests_gtest PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
target_include_directories(tests_gtest SYSTEM INTERFACE $<TARGET_PROPERTY:GTest::gtest,INTERFACE_INCLUDE_DIRECTORIES>)

# What tests include of other libraries, compiled once: most of the time of a small test went into reading it. No header of Tenon is
# in it, so a test of the core finds out what it forgot to include of ours. It is compiled for executables without optimization, as
# most tests are.
add_executable(tests_precompiled support/precompiled.cpp)
target_link_libraries(tests_precompiled PRIVATE tenon_build tests_gtest)
set(tests_precompiled_headers <algorithm> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory>
  <optional> <set> <span> <string> <utility> <vector> <gtest/gtest.h>)
tenon_precompile(tests_precompiled ${tests_precompiled_headers})
# For tests that see what a user sees, with the header that nearly all of these include.
add_executable(tests_precompiled_users support/precompiled.cpp)
target_link_libraries(tests_precompiled_users PRIVATE tenon_build tests_gtest tenon)
tenon_precompile(tests_precompiled_users ${tests_precompiled_headers} <tenon/tenon.hpp>)
set_target_properties(tests_precompiled tests_precompiled_users PROPERTIES UNOPTIMIZED ON)

# Test programs of a build by GCC are compiled by clang where it is there (cmake/clang.sh says why): the product that they look at is
# GCC's all the same. Sanitizers have a runtime for each compiler, so under them programs are those of the build's compiler.
find_program(TENON_TEST_CLANG clang++)
function(tenon_compile_by_clang target)
  if(NOT TENON_TEST_CLANG OR TENON_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  set(by_clang ${CMAKE_SOURCE_DIR}/tests/cmake/clang.sh ${CMAKE_CXX_COMPILER})
  get_target_property(launcher ${target} CXX_COMPILER_LAUNCHER)
  if(launcher)  # a compiler cache
    list(APPEND by_clang ${launcher})
  endif()
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${by_clang}")
endfunction()
tenon_compile_by_clang(tests_precompiled)
tenon_compile_by_clang(tests_precompiled_users)

# Functions of headers that clang precompiled are compiled once, into an object that the tests which begin with these link, and not again
# in each: that is a third of the time of compiling a test, or a half. The linker drops from a test what it does not call; gold, of binutils, takes a third of the
# time of the other ld for it.
find_program(TENON_TEST_GOLD ld.gold)
function(tenon_compile_header_code precompiled)
  get_target_property(launcher ${precompiled} CXX_COMPILER_LAUNCHER)
  if(NOT launcher MATCHES "clang.sh")
    return()
  endif()
  set(header ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${precompiled}.dir/cmake_pch.hxx.gch)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${precompiled}.o)
  add_custom_command(OUTPUT ${object} DEPENDS ${header} VERBATIM
    COMMAND ${TENON_TEST_CLANG} -O0 -fPIE -ffunction-sections -fdata-sections -c ${header} -o ${object})
  add_custom_target(${precompiled}_code DEPENDS ${object})
  set_target_properties(${precompiled}_code PROPERTIES OBJECT ${object})
  tenon_link_header_code(${precompiled} ${precompiled})
endfunction()
function(tenon_link_header_code target precompiled)
  if(NOT TARGET ${precompiled}_code)
    return()
  endif()
  get_target_property(object ${precompiled}_code OBJECT)
  target_link_libraries(${target} PRIVATE ${object})
  target_link_options(${target} PRIVATE -Wl,--gc-sections $<$<BOOL:${TENON_TEST_GOLD}>:-fuse-ld=gold>)
  if(NOT target STREQUAL precompiled)
    add_dependencies(${target} ${precompiled}_code)
  endif()
endfunction()
tenon_compile_header_code(tests_precompiled)
tenon_compile_header_code(tests_precompiled_users)

# tenon_add_tests(test... [INNER | ALONE] [OPTIMIZED | GCC] [LINK target...] [DEPENDS target...] [LABELS label...]
#                 [ENVIRONMENT name=value...])
#
# Each test is a program of the file <test>.cpp. It links libtenon.so and sees what a user sees. With INNER it links the objects of
# the core instead and sees their headers, with ALONE it links nothing of Tenon. DEPENDS are targets that it needs when it runs.
# OPTIMIZED is for tests that compute much themselves: all others are compiled without optimization, which is faster, and by clang. GCC
# is for those that clang does not compile, as clang 14 the views of GCC 12's library.
#
# The target <label>_tests builds the programs that have a label. With sanitizers, those of the labels `parity` and `variant`, which
# repeat what is looked at already, and are left out of what runs there, are not built with the rest.
function(tenon_add_tests)
  cmake_parse_arguments(TEST "INNER;ALONE;OPTIMIZED;GCC" "" "LINK;DEPENDS;LABELS;ENVIRONMENT" ${ARGN})
  foreach(name IN LISTS TEST_UNPARSED_ARGUMENTS)
    add_executable(${name} ${name}.cpp)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support)
    target_link_libraries(${name} PRIVATE tenon_build tests_gtest nlohmann_json::nlohmann_json
      ${CMAKE_DL_LIBS} ${TEST_LINK})
    if(NOT TEST_OPTIMIZED)
      set_target_properties(${name} PROPERTIES UNOPTIMIZED ON)
      if(NOT TEST_GCC)
        set(precompiled tests_precompiled_users)
        if(TEST_INNER OR TEST_ALONE)
          set(precompiled tests_precompiled)
        endif()
        tenon_reuse_precompiled(${name} ${precompiled})
        tenon_compile_by_clang(${name})
        tenon_link_header_code(${name} ${precompiled})
      endif()
    endif()
    if(TEST_INNER)
      target_link_libraries(${name} PRIVATE tenon_core tenon_core_cold)
      target_link_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-lto>)
    elseif(TEST_ALONE)
      target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/sdk/include)
    else()
      target_link_libraries(${name} PRIVATE tenon)
    endif()
    if(TEST_DEPENDS)
      add_dependencies(${name} ${TEST_DEPENDS})
    endif()
    tenon_label_program(${name} ${TEST_LABELS})
    set_property(GLOBAL APPEND PROPERTY TENON_LISTED_TESTS ${name})
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}"
      ENVIRONMENT "${tenon_test_environment};${TEST_ENVIRONMENT}")
  endforeach()
endfunction()

function(tenon_label_program name)
  foreach(label IN LISTS ARGN)
    if(NOT TARGET ${label}_tests)
      add_custom_target(${label}_tests)
      add_dependencies(${label}_tests tenon_ops tenon_layers tenon_optimizers tenon_amp tenon_files tenon_ref tenon_cpu)
    endif()
    add_dependencies(${label}_tests ${name})
    if(TENON_SANITIZE AND label MATCHES "^(parity|variant)$")
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endforeach()
endfunction()

# tenon_repeat_tests(test... SUFFIX suffix LABELS label... ENVIRONMENT name=value... [ARGUMENTS argument...])
#
# The program of each test once more, in another environment, as <test>_<suffix>. What several rooms repeat has a name here.
set(tenon_primitives_only SUFFIX primitives LABELS primitives ENVIRONMENT TENON_KERNELS=primitives)
set(tenon_cpu_baseline SUFFIX baseline LABELS variant ENVIRONMENT TENON_CPU_ISA=baseline TENON_CPU_DNNL=0)
set(tenon_cpu_avx2 SUFFIX avx2 LABELS variant ENVIRONMENT TENON_CPU_ISA=avx2 TENON_CPU_DNNL=0)
# On processors that have more, which test their own by default.
set(tenon_cpu_avx512 SUFFIX avx512 LABELS variant ENVIRONMENT TENON_CPU_ISA=avx512 TENON_CPU_DNNL=0)
# On processors that have it and by default do without.
set(tenon_cpu_avx512_bf16 SUFFIX avx512_bf16 LABELS variant ENVIRONMENT TENON_CPU_ISA=avx512_bf16 TENON_CPU_DNNL=0)
function(tenon_repeat_tests)
  cmake_parse_arguments(TEST "" "SUFFIX" "LABELS;ENVIRONMENT;ARGUMENTS" ${ARGN})
  foreach(name IN LISTS TEST_UNPARSED_ARGUMENTS)
    add_test(NAME ${name}_${TEST_SUFFIX} COMMAND ${name} ${TEST_ARGUMENTS})
    set_tests_properties(${name}_${TEST_SUFFIX} PROPERTIES LABELS "${TEST_LABELS}"
      ENVIRONMENT "${tenon_test_environment};${TEST_ENVIRONMENT}")
  endforeach()
endfunction()

# tenon_add_script(test [argument...] [LABELS label...])
#
# The script <test>.sh, which finds the compilers of the build in CC and CXX. The label `sources` says that it looks at the sources
# and at nothing that was built. Scripts compile, which takes long: CTest starts them first (COST), so that none of them is left
# alone at the end beside an idle processor.
function(tenon_add_script name)
  cmake_parse_arguments(TEST "" "" "LABELS" ${ARGN})
  add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${name}.sh ${TEST_UNPARSED_ARGUMENTS})
  set_property(GLOBAL APPEND PROPERTY TENON_LISTED_TESTS ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" COST 1000
    ENVIRONMENT "${tenon_test_environment};CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER}")
endfunction()

# A test that no room lists would never run: each file <name>_test.cpp and <name>_test.sh below tests/ is in a list.
function(tenon_expect_every_test_listed)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*_test.cpp ${CMAKE_SOURCE_DIR}/tests/*_test.sh)
  get_property(listed GLOBAL PROPERTY TENON_LISTED_TESTS)
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    if(NOT name IN_LIST listed)
      message(FATAL_ERROR "${file} is in no list of tests: add it to the CMakeLists.txt of its folder")
    endif()
  endforeach()
endfunction()
