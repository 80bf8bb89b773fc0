// The thread-local variables that each call touches: read without a call of the C library's.
#pragma once

// In front of a thread_local's declaration and of its definition. Such variables lie in the static
// TLS block, which is small and cannot grow once the process runs: all of libtenon.so take about
// 200 bytes. What is rarely touched is a ThreadLocal (base/thread_local.h). It is said for each
// variable and not for the whole library, because the variables of other libraries (libstdc++'s,
// behind std::call_once) may lie elsewhere already when libtenon.so is opened late.
#define TN_HOT [[gnu::tls_model("initial-exec")]]
