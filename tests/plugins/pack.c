/* An op pack of one op, `twice`, and its in-place form. */
#include "small.h"

SMALL_MANIFEST(TN_ABI_VERSION);
SMALL_COUNTS_DESTROY
TN_EXPORT int small_shut_down = 0;

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  tn_op_def def = {sizeof(def)};
  (void)host;
  def.schema = "twice(Tensor x) -> Tensor";
  def.expression = "x + x";
  def.flags = TN_OP_INPLACE;
  def.amp = TN_AMP_AUTO;
  def.self = &small_self;
  def.destroy = count_destroy;
  *self = &small_self;
  return registrar->op(registrar, &def);
}

TN_EXPORT tn_status* tenon_plugin_shutdown(void* self) {
  if (self == &small_self) ++small_shut_down;
  return NULL;
}
