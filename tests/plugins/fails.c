/* Registers an op, a kernel and a factory, and then finds that it cannot go on. */
#include "small.h"

SMALL_MANIFEST(TN_ABI_VERSION);
SMALL_COUNTS_DESTROY
TN_EXPORT int small_shut_down = 0;

static tn_status* launch(void* self, const tn_call* call) { return (void)self, (void)call, NULL; }
static tn_status* create(void* self, tn_object* object, const tn_value* args, uint32_t n_args) {
  return (void)self, (void)object, (void)args, (void)n_args, NULL;
}

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  tn_op_def op = {sizeof(op)};
  tn_kernel_def kernel = {sizeof(kernel)};
  tn_factory_def factory = {sizeof(factory)};
  (void)self;
  op.schema = "half(Tensor x) -> Tensor";
  op.expression = "x * 0.5";
  op.self = factory.self = kernel.self = &small_self;
  op.destroy = factory.destroy = kernel.destroy = count_destroy;
  SMALL_TRY(registrar->op(registrar, &op));
  kernel.op = "half";
  kernel.device = "cpu";
  kernel.launch = launch;
  SMALL_TRY(registrar->kernel(registrar, &kernel));
  factory.schema = "Half(int n)";
  factory.create = create;
  SMALL_TRY(registrar->factory(registrar, &factory));
  return host->status(TN_NOT_FOUND, "no accelerator in slot 3", NULL);
}

TN_EXPORT tn_status* tenon_plugin_shutdown(void* self) {
  (void)self;
  ++small_shut_down;
  return NULL;
}
