/* The native library that a plugin was linked with, and that the tests do not put beside it. */
__attribute__((visibility("default"))) void gone(void) {}
