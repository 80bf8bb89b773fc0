// The program for which the headers of tests/cmake/tests.cmake are precompiled; nobody runs it.
int main() {}
