/* What the small plugins of the loader's tests begin with. Written against abi.h alone, as a
 * stranger's. */
#ifndef TENON_TESTS_PLUGINS_SMALL_H_
#define TENON_TESTS_PLUGINS_SMALL_H_

#include "tenon/abi.h"

#define SMALL_MANIFEST(abi) \
  const tn_manifest tenon_manifest = {sizeof(tn_manifest), abi, abi, TENON_PLUGIN_ID}

/* How often a destroy slot was called; the tests read it through dlsym. */
#define SMALL_COUNTS_DESTROY                    \
  TN_EXPORT int small_destroyed = 0;            \
  static int small_self;                        \
  static void count_destroy(void* self) {       \
    if (self == &small_self) ++small_destroyed; \
  }

/* Returns from init when the registrar refuses. */
#define SMALL_TRY(call)                    \
  do {                                     \
    tn_status* small_status = (call);      \
    if (small_status) return small_status; \
  } while (0)

#endif
