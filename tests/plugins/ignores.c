/* Ignores that the registrar refuses its second op. */
#include "small.h"

SMALL_MANIFEST(TN_ABI_VERSION);
SMALL_COUNTS_DESTROY

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  tn_op_def def = {sizeof(def)};
  (void)self;
  def.schema = "once(Tensor x) -> Tensor";
  def.expression = "x * 1";
  def.self = &small_self;
  def.destroy = count_destroy;
  host->status_free(registrar->op(registrar, &def));
  host->status_free(registrar->op(registrar, &def));
  return NULL;
}
