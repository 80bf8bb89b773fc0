/* The plugin `acme`: a device without streams, and the eight primitives that a backend must have.
 * What is optional is left out: COPY, FILL, streams, poisoning, memory_info, graphs. */
#include "acme.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tn_host* acme_host;

/* No address of a process has this bit. */
static const uintptr_t kDeviceBit = (uintptr_t)1 << 62;

char* acme_real(const void* address) { return (char*)((uintptr_t)address & ~kDeviceBit); }

tn_status* acme_error(tn_code code, const char* format, ...) {
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return acme_host->status(code, message, NULL);
}

static int32_t count(void* self) {
  (void)self;
  return 1;
}

static tn_status* allocate(void* self, int32_t index, uint64_t bytes, void** memory) {
  void* block = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
  (void)self, (void)index;
  *memory = block == NULL ? NULL : (void*)((uintptr_t)block | kDeviceBit);
  return NULL;
}

static void release(void* self, int32_t index, void* memory, uint64_t bytes) {
  (void)self, (void)index, (void)bytes;
  free(acme_real(memory));
}

/* acme_real leaves host addresses as they are. */
static tn_status* copy(void* self, tn_stream* stream, tn_device dst_device, void* dst,
                       uint64_t dst_offset, tn_device src_device, const void* src,
                       uint64_t src_offset, uint64_t bytes) {
  (void)self, (void)stream, (void)dst_device, (void)src_device;
  memmove(acme_real(dst) + dst_offset, acme_real(src) + src_offset, (size_t)bytes);
  return NULL;
}

static tn_status* add_kernels(tn_registrar* registrar) {
  const uint32_t floats = TN_DTYPE_BIT(TN_FLOAT32) | TN_DTYPE_BIT(TN_FLOAT64);
  const uint32_t all = floats | TN_DTYPE_BIT(TN_INT64) | TN_DTYPE_BIT(TN_INT32) |
                       TN_DTYPE_BIT(TN_UINT8) | TN_DTYPE_BIT(TN_BOOL);
  const struct {
    tn_primitive primitive;
    tn_kernel_fn launch;
    uint32_t dtypes, layout, traits;
  } kernels[] = {
      {TN_PRIM_ELEMENTWISE, acme_elementwise, all, TN_LAYOUT_STRIDED, TN_KERNEL_DETERMINISTIC},
      {TN_PRIM_REDUCE, acme_reduce, all, TN_LAYOUT_STRIDED, TN_KERNEL_DETERMINISTIC},
      {TN_PRIM_MATMUL, acme_matmul, floats, TN_LAYOUT_STRIDED, TN_KERNEL_DETERMINISTIC},
      {TN_PRIM_GATHER, acme_gather, all, TN_LAYOUT_STRIDED, TN_KERNEL_DETERMINISTIC},
      {TN_PRIM_SCATTER, acme_scatter, all, TN_LAYOUT_STRIDED, TN_KERNEL_DETERMINISTIC},
      {TN_PRIM_NONZERO, acme_nonzero, all, TN_LAYOUT_STRIDED, TN_KERNEL_DETERMINISTIC},
      {TN_PRIM_IOTA, acme_iota, all, TN_LAYOUT_STRIDED, TN_KERNEL_DETERMINISTIC},
      {TN_PRIM_RANDOM_BITS, acme_random_bits, 0, TN_LAYOUT_STRIDED, TN_KERNEL_DETERMINISTIC},
  };
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
    const tn_kernel_def def = {.size = sizeof def,
                               .device = "acme",
                               .primitive = kernels[i].primitive,
                               .launch = kernels[i].launch,
                               .dtypes = kernels[i].dtypes,
                               .layout = kernels[i].layout,
                               .traits = kernels[i].traits};
    tn_status* status = registrar->kernel(registrar, &def);
    if (status != NULL) return status;
  }
  return NULL;
}

const tn_manifest tenon_manifest = {sizeof(tn_manifest), TN_ABI_VERSION, TN_ABI_VERSION, "acme"};

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  const tn_device_def device = {.size = sizeof device,
                                .name = "acme",
                                .description = "a backend in C",
                                .lower_precision = TN_DTYPE_NONE,
                                .count = count,
                                .allocate = allocate,
                                .free = release,
                                .copy = copy};
  tn_status* status;
  acme_host = host;
  *self = NULL;
  if ((status = registrar->device(registrar, &device)) != NULL) return status;
  return add_kernels(registrar);
}
