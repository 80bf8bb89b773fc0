// What the kernels of the cpu device share: statuses, threads, sizes of dtypes, and each family's
// way into the plugin.
#pragma once

#include <cstdint>

#include "tenon/backend.hpp"

namespace tenon::cpu {

using backend::error;
using backend::item_size;
using backend::kFloats;

// Each registers its family's kernels, or a part of them.
tn_status* add_elementwise(tn_registrar*);
tn_status* add_reduce(tn_registrar*);
tn_status* add_matmul(tn_registrar*);
tn_status* add_shape(tn_registrar*);
tn_status* add_index(tn_registrar*);
tn_status* add_random(tn_registrar*);
tn_status* add_conv(tn_registrar*);
tn_status* add_loss(tn_registrar*);
tn_status* add_norm(tn_registrar*);
tn_status* add_norm_planes(tn_registrar*);
tn_status* add_pool(tn_registrar*);
tn_status* add_attention(tn_registrar*);
tn_status* add_softmax(tn_registrar*);
tn_status* add_scan(tn_registrar*);
tn_status* add_sort(tn_registrar*);
tn_status* add_threads(tn_registrar*);

int32_t thread_count();

inline tn_kernel_def primitive_kernel(tn_primitive primitive, tn_kernel_fn launch) {
  return backend::primitive_kernel("cpu", primitive, launch);
}
// Of a kernel whose sums are cut into as many pieces as threads are free: with another number of
// them the last bits are others.
inline void depends_on_threads(tn_kernel_def* def) {
  def->traits &= ~uint32_t{TN_KERNEL_DETERMINISTIC};
}

inline tn_status* out_of_memory(const tn_host* host) {
  return host->status(TN_OUT_OF_MEMORY, "cpu: host memory is exhausted", nullptr);
}

template <typename Body>
tn_status* guarded(const tn_host* host, const char* where, const Body& body) noexcept {
  return backend::guarded(host, "cpu", where, body);
}

// body(begin, end) over pieces of at least `grain`; on this thread when there is one piece. The
// body must not throw.
template <typename Body>
void parallel(const tn_host* host, int64_t begin, int64_t end, int64_t grain, const Body& body) {
  if (end - begin <= grain) {
    body(begin, end);
    return;
  }
  const tn_range_fn run = [](void* context, int64_t from, int64_t to) {
    (*static_cast<const Body*>(context))(from, to);
  };
  host->parallel_for(begin, end, grain, run, const_cast<Body*>(&body));
}

inline const char* dtype_name(tn_dtype dtype) {
  static constexpr const char* kNames[] = {"float32", "float64", "float16", "bfloat16",
                                           "int64",   "int32",   "uint8",   "bool"};
  return dtype >= 0 && dtype < TN_N_DTYPES ? kNames[dtype] : "reserved dtype";
}

// Of the sizes of a tensor: those that a caller chose may be more than 63 bits count.
inline bool is_countable(const int64_t* sizes, int32_t n) {
  int64_t result = 1;
  for (int32_t d = 0; d < n; ++d) {
    if (__builtin_mul_overflow(result, sizes[d], &result)) {
      return false;
    }
  }
  return true;
}
inline int64_t product(const int64_t* sizes, int32_t n) {
  int64_t result = 1;
  for (int32_t d = 0; d < n; ++d) {
    result *= sizes[d];
  }
  return result;
}

}  // namespace tenon::cpu

// Returns from the calling function when `expression` gives an error.
#define TENON_CPU_TRY(expression)                            \
  do {                                                       \
    if (tn_status* try_status = (expression)) [[unlikely]] { \
      return try_status;                                     \
    }                                                        \
  } while (0)
