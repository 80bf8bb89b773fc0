/* A library as others bring them: it takes STATIC_TLS bytes of the block for thread-local variables that the C library
 * cannot enlarge once the process runs. */
static __thread char bytes[STATIC_TLS] __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"))) char* static_tls(void) { return bytes; }
