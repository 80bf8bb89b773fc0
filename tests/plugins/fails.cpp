// Registers one of everything, and then, where TENON_TEST_FAILS is set, finds that it cannot go on:
// "throws" throws, anything else returns a status. Without the variable it loads.
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "small.h"

extern "C" {

SMALL_MANIFEST(TN_ABI_VERSION);
SMALL_COUNTS_DESTROY
TN_EXPORT int small_shut_down = 0;

static tn_status* launch(void*, const tn_call*) { return nullptr; }
static tn_status* create(void*, tn_object*, const tn_value*, uint32_t) { return nullptr; }
static tn_status* decompose(void*, const tn_value*, uint32_t, tn_value*, uint32_t) {
  return nullptr;
}
static tn_status* vjp(void*, const tn_vjp_call*) { return nullptr; }
static tn_status* look(void*, const tn_recorded_list*) { return nullptr; }
static tn_amp_class classify(void*, const char*, tn_amp_class own, const char*) { return own; }
static int32_t devices(void*) { return 1; }
static int32_t threads(void*) { return 77; }
static void parallel_for(void*, int64_t begin, int64_t end, int64_t, tn_range_fn fn,
                         void* context) {
  fn(context, begin, end);
}
static tn_status* allocate(void*, int32_t, uint64_t, void** memory) {
  return *memory = nullptr, nullptr;
}
static void free_memory(void*, int32_t, void*, uint64_t) {}
static tn_status* copy(void*, tn_stream*, tn_device, void*, uint64_t, tn_device, const void*,
                       uint64_t, uint64_t) {
  return nullptr;
}

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* r, void**) {
  tn_op_def op = {sizeof(op)};
  op.schema = "half(Tensor x) -> Tensor";
  op.expression = "x * 0.5";
  op.self = &small_self;
  op.destroy = count_destroy;
  SMALL_TRY(r->op(r, &op));

  tn_op_def fused = {sizeof(fused)};
  fused.schema = "both(Tensor x, Tensor y) -> Tensor";
  fused.flags = TN_OP_FUSED;
  fused.decompose = decompose;
  fused.self = &small_self;
  fused.destroy = count_destroy;
  SMALL_TRY(r->op(r, &fused));

  tn_kernel_def kernel = {sizeof(kernel)};
  kernel.op = "half";
  kernel.device = "cpu";
  kernel.launch = launch;
  kernel.self = &small_self;
  kernel.destroy = count_destroy;
  SMALL_TRY(r->kernel(r, &kernel));
  kernel.device = "nowhere";  // one that waits
  SMALL_TRY(r->kernel(r, &kernel));

  kernel.op = "both";
  kernel.device = "slot3";
  tn_kernel_pair_def pair = {sizeof(pair)};
  pair.forward = &kernel;
  pair.backward = launch;
  SMALL_TRY(r->kernel_pair(r, &pair));

  tn_device_def device = {sizeof(device)};
  device.name = "slot3";
  device.lower_precision = TN_DTYPE_NONE;
  device.count = devices;
  device.allocate = allocate;
  device.free = free_memory;
  device.copy = copy;
  device.self = &small_self;
  device.destroy = count_destroy;
  SMALL_TRY(r->device(r, &device));

  tn_amp_policy_def policy = {sizeof(policy)};
  policy.name = "O3";
  policy.classify = classify;
  policy.self = &small_self;
  policy.destroy = count_destroy;
  SMALL_TRY(r->amp(r, &policy));

  tn_factory_def factory = {sizeof(factory)};
  factory.schema = "Half(int n)";
  factory.create = create;
  factory.self = &small_self;
  factory.destroy = count_destroy;
  SMALL_TRY(r->factory(r, &factory));

  tn_threads_def slot = {sizeof(slot)};
  slot.count = threads;
  slot.parallel_for = parallel_for;
  slot.self = &small_self;
  slot.destroy = count_destroy;
  SMALL_TRY(r->threads(r, &slot));
  SMALL_TRY(r->vjp(r, "both", vjp, &small_self, count_destroy));

  tn_compiler_def compiler = {sizeof(compiler)};
  compiler.name = "looker";
  compiler.device = "slot3";
  compiler.compile = look;
  compiler.self = &small_self;
  compiler.destroy = count_destroy;
  SMALL_TRY(r->compiler(r, &compiler));

  const char* fails = std::getenv("TENON_TEST_FAILS");
  if (fails == nullptr) return nullptr;
  if (std::strcmp(fails, "throws") == 0) throw std::runtime_error("out of patience");
  return host->status(TN_NOT_FOUND, "no accelerator in slot 3", nullptr);
}

TN_EXPORT tn_status* tenon_plugin_shutdown(void*) {
  ++small_shut_down;
  return nullptr;
}
}
