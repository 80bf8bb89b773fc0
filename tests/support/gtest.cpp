// Nothing: the library tests_gtest (tests/cmake/tests.cmake) has what its archives have.
