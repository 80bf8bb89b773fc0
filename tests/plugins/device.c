/* A device DEVICE_NAME whose memory is malloc's and whose calls have finished when they return, and
 * a copy kernel for it. */
#include <stdlib.h>
#include <string.h>

#include "small.h"

SMALL_MANIFEST(TN_ABI_VERSION);
SMALL_COUNTS_DESTROY

static int32_t count(void* self) { return (void)self, 1; }
static tn_status* allocate(void* self, int32_t index, uint64_t bytes, void** memory) {
  (void)self, (void)index;
  *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  return NULL;
}
static void free_memory(void* self, int32_t index, void* memory, uint64_t bytes) {
  (void)self, (void)index, (void)bytes;
  free(memory);
}
static tn_status* copy(void* self, tn_stream* stream, tn_device dst_device, void* dst,
                       uint64_t dst_offset, tn_device src_device, const void* src,
                       uint64_t src_offset, uint64_t bytes) {
  (void)self, (void)stream, (void)dst_device, (void)src_device;
  memcpy((char*)dst + dst_offset, (const char*)src + src_offset, bytes);
  return NULL;
}
static tn_status* launch(void* self, const tn_call* call) {
  return (void)self, call->host->status(TN_UNSUPPORTED, "this kernel is never run", NULL);
}

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  tn_device_def device = {sizeof(device)};
  tn_kernel_def kernel = {sizeof(kernel)};
  (void)host, (void)self;
  device.name = DEVICE_NAME;
  device.description = "malloc in disguise";
  device.lower_precision = TN_DTYPE_NONE;
  device.count = count;
  device.allocate = allocate;
  device.free = free_memory;
  device.copy = copy;
  device.self = &small_self;
  device.destroy = count_destroy;
  SMALL_TRY(registrar->device(registrar, &device));
  kernel.primitive = TN_PRIM_COPY;
  kernel.device = DEVICE_NAME;
  kernel.launch = launch;
  return registrar->kernel(registrar, &kernel);
}
