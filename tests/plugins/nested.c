/* Loads a plugin in its own init, and uses the registrar after it: both are refused, and the texts
 * are kept for the test. */
#include "small.h"

SMALL_MANIFEST(TN_ABI_VERSION);
TN_EXPORT tn_status* small_nested = NULL;
TN_EXPORT tn_registrar* small_registrar = NULL;

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  const tn_plugin_api* plugins = host->get_interface("plugin/1");
  (void)self;
  small_registrar = registrar;
  small_nested = plugins->load("/nowhere/libx.so");
  return NULL;
}
