/* IOTA and RANDOM_BITS: what fills memory from nothing. */
#include <string.h>

#include "acme.h"

static acme_number number(const tn_value* value) {
  const acme_number n = {value->kind == TN_KIND_FLOAT,
                         value->kind == TN_KIND_FLOAT ? value->as.f : (double)value->as.i,
                         value->kind == TN_KIND_FLOAT ? 0 : value->as.i};
  return n;
}

tn_status* acme_iota(void* self, const tn_call* call) {
  const acme_number start = number(&call->args[0]), step = number(&call->args[1]);
  const tn_tensor* y = call->outputs[0];
  (void)self;
  for (int64_t i = 0; i < y->numel; ++i) {
    const acme_number value = {start.is_float || step.is_float, start.f + (double)i * step.f,
                               start.i + i * step.i};
    acme_put(acme_real(y->data) + i * acme_itemsize(y->dtype), y->dtype, value);
  }
  return NULL;
}

/* Philox 4x32-10 (Salmon et al., SC 2011). */
static void philox(uint32_t counter[4], uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
    const uint64_t a = (uint64_t)0xD2511F53u * counter[0], b = (uint64_t)0xCD9E8D57u * counter[2];
    counter[0] = (uint32_t)(b >> 32) ^ counter[1] ^ key0;
    counter[1] = (uint32_t)b;
    counter[2] = (uint32_t)(a >> 32) ^ counter[3] ^ key1;
    counter[3] = (uint32_t)a;
  }
}

tn_status* acme_random_bits(void* self, const tn_call* call) {
  const tn_tensor* y = call->outputs[0];
  const uint64_t seed = call->random->seed, offset = call->random->offset;
  (void)self;
  for (int64_t i = 0; i < y->numel; i += 4) {
    const uint64_t block = (uint64_t)i / 4;
    const int64_t left = y->numel - i;
    uint32_t bits[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)offset,
                        (uint32_t)(offset >> 32)};
    philox(bits, (uint32_t)seed, (uint32_t)(seed >> 32));
    memcpy(acme_real(y->data) + i * 4, bits, (size_t)(left < 4 ? left : 4) * 4);
  }
  return NULL;
}
