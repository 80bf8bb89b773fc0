// What the kernels of the cpu device share: promises and dtypes of kernels, counts of threads and of
// elements, and each family's way into the plugin. Kernels are written against tenon/kernel.hpp:
// they throw what is wrong, and the function that the host calls makes a status of it.
#pragma once

#include <cstdint>

#include "tenon/backend.hpp"
#include "tenon/define_kernel.hpp"

namespace tenon::cpu_backend {

using backend::error;
using backend::item_size;
using backend::parallel_for;
using plugin::kernel;

// Each registers its family's kernels, or a part of them.
void add_elementwise();
void add_reduce();
void add_matmul();
void add_linear();
void add_shape();
void add_border();
void add_grid_sample();
void add_index();
void add_join();
void add_add_rows();
void add_random();
void add_conv();
void add_distance();
void add_loss();
void add_norm();
void add_optim();
void add_norm_planes();
void add_norm_given();
void add_pool();
void add_pool_plain();
void add_attention();
void add_recurrent();
void add_softmax();
void add_running();
void add_scan();
void add_sort();
void add_threads();

int32_t thread_count();

// The promises of most kernels: they may be recorded, and give the same bits on any number of
// threads, since sums are cut by sizes and dtypes alone.
inline constexpr uint32_t kUsualPromises = TN_KERNEL_CAPTURE_SAFE | TN_KERNEL_DETERMINISTIC;

// f(a zero of the unsigned type of the same size), to move elements without looking at them.
template <typename F>
void with_bits(tn_dtype dtype, const F& f) {
  switch (item_size(dtype)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
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

}  // namespace tenon::cpu_backend
