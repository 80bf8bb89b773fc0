/* Lacks the symbols that BARE_WITHOUT_* say, or calls a function that no library has. */
#include "small.h"

#ifdef BARE_ABI
SMALL_MANIFEST(BARE_ABI);
#elif !defined(BARE_WITHOUT_MANIFEST)
SMALL_MANIFEST(TN_ABI_VERSION);
#endif

#ifdef BARE_CALLS
void BARE_CALLS(void);
#endif

#ifndef BARE_WITHOUT_INIT
TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  (void)host, (void)registrar, (void)self;
#ifdef BARE_CALLS
  BARE_CALLS();
#endif
  return NULL;
}
#endif
