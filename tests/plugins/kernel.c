/* A kernel for the op KERNEL_OP on the device KERNEL_DEVICE, with KERNEL_PRIORITY. */
#include "small.h"

SMALL_MANIFEST(TN_ABI_VERSION);

static tn_status* launch(void* self, const tn_call* call) {
  (void)self;
  return call->host->status(TN_UNSUPPORTED, "this kernel is never run", NULL);
}

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  tn_kernel_def def = {sizeof(def)};
  (void)host, (void)self;
  def.op = KERNEL_OP;
  def.device = KERNEL_DEVICE;
  def.priority = KERNEL_PRIORITY;
  def.dtypes = TN_DTYPE_BIT(TN_FLOAT32);
  def.launch = launch;
  return registrar->kernel(registrar, &def);
}
