// MATMUL, and the products of other kernels: on the plugin's own kernel, in parts on several
// threads; large ones in float32 on oneDNN.
#include "ops/matmul.h"

#include <algorithm>
#include <cstdint>

#include "cpu.h"
#include "dnnl/library.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr double kSerialFlops = 2e6;     // less work is not worth a second thread
constexpr double kLibraryFlops = 1.2e8;  // about a millisecond: more is worth opening oneDNN
constexpr int64_t kPartRows = 48;        // at least, of what one thread computes
constexpr int64_t kPartColumns = 96;

// *done: oneDNN computed it.
void by_library(const tn_call* call, const Product& p, double flops, bool* done) {
  *done = false;
  if (p.dtype != TN_FLOAT32 || flops < kLibraryFlops || p.m < 8 || p.n < 8 ||
      (p.bias && p.bias_stride != 1)) {
    return;
  }
  for (const int64_t* strides : {p.a_strides, p.b_strides, p.c_strides}) {
    const bool dense = strides[1] == 1 || strides[2] == 1;
    if (!dense || strides[1] <= 0 || strides[2] <= 0 || (p.batch > 1 && strides[0] <= 0)) {
      return;
    }
  }
  const tenon_cpu_dnnl* dnnl = dnnl_library(call->host);
  if (!dnnl) {
    return;
  }
  tenon_cpu_dnnl_matmul problem = {p.batch, p.m, p.n, p.k};
  problem.a = static_cast<const float*>(p.a);
  problem.b = static_cast<const float*>(p.b);
  problem.c = static_cast<float*>(p.c);
  problem.bias = static_cast<const float*>(p.bias);
  problem.relu = p.relu;
  std::copy_n(p.a_strides, 3, problem.a_strides);
  std::copy_n(p.b_strides, 3, problem.b_strides);
  std::copy_n(p.c_strides, 3, problem.c_strides);
  const tenon_cpu_dnnl_threads threads = dnnl_threads(call->host);
  const int32_t failed = dnnl->matmul(&problem, &threads);
  *done = failed == 0;
  if (failed == TENON_CPU_DNNL_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
}

// The product of the transposes, which is the transpose: a column becomes a row.
Product transposed(const Product& p) {
  Product t = p;
  std::swap(t.m, t.n);
  t.a = p.b;
  t.b = p.a;
  const auto flip = [](const int64_t* from, int64_t* to) {
    to[0] = from[0];
    to[1] = from[2];
    to[2] = from[1];
  };
  flip(p.b_strides, t.a_strides);
  flip(p.a_strides, t.b_strides);
  flip(p.c_strides, t.c_strides);
  return t;
}

const void* at(const void* p, int64_t elements, tn_dtype dtype) {
  return static_cast<const char*>(p) + elements * item_size(dtype);
}

// Parts of one product for about `parts` threads: by columns first, whose packing is the larger
// share.
struct Grid {
  int64_t rows, columns;  // parts
  Grid(const Product& p, int64_t parts) {
    columns = std::clamp<int64_t>(p.n / kPartColumns, 1, parts);
    rows = std::clamp<int64_t>(p.m / kPartRows, 1, std::max<int64_t>(parts / columns, 1));
  }
};

int64_t cut(int64_t size, int64_t parts, int64_t i, int64_t unit) {
  return i == parts ? size : std::min(size, (size * i / parts + unit / 2) / unit * unit);
}

void by_own_kernel(const tn_call* call, const Product& p, double flops) {
  const Table& kernels = table();
  const int64_t threads = flops < kSerialFlops ? 1 : thread_count();
  const Grid grid(p, p.batch >= threads ? 1 : (threads + p.batch - 1) / p.batch);
  const int64_t per_batch = grid.rows * grid.columns;
  const int64_t tasks = p.batch * per_batch;
  const int64_t workers = std::min(threads, tasks);
  // Parts are cut at whole panels, so one may be a panel larger than its share.
  constexpr int64_t kRowUnit = 24, kColumnUnit = 96;
  const int64_t rows = std::min(p.m, p.m / grid.rows + 2 * kRowUnit);
  const int64_t columns = std::min(p.n, p.n / grid.columns + 2 * kColumnUnit);
  const int64_t bytes = (kernels.gemm_scratch(rows, columns, p.k, p.dtype) + 63) / 64 * 64;
  alignas(64) char small[16384];
  void* scratch = small;
  if (bytes * workers > static_cast<int64_t>(sizeof small)) {
    scratch = Call(call).workspace(static_cast<uint64_t>(bytes * workers));
  }
  parallel_for(call->host, 0, workers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t worker = begin; worker < end; ++worker) {
      for (int64_t task = tasks * worker / workers; task < tasks * (worker + 1) / workers; ++task) {
        const int64_t i = task / per_batch;
        const int64_t row = task % per_batch / grid.columns;
        const int64_t column = task % grid.columns;
        const int64_t m0 = cut(p.m, grid.rows, row, kRowUnit);
        const int64_t n0 = cut(p.n, grid.columns, column, kColumnUnit);
        GemmArgs g = {};
        g.m = cut(p.m, grid.rows, row + 1, kRowUnit) - m0;
        g.n = cut(p.n, grid.columns, column + 1, kColumnUnit) - n0;
        g.k = p.k;
        if (g.m == 0 || g.n == 0) {
          continue;
        }
        g.a = at(p.a, i * p.a_strides[0] + m0 * p.a_strides[1], p.dtype);
        g.b = at(p.b, i * p.b_strides[0] + n0 * p.b_strides[2], p.dtype);
        g.c = const_cast<void*>(
            at(p.c, i * p.c_strides[0] + m0 * p.c_strides[1] + n0 * p.c_strides[2], p.dtype));
        g.a_row = p.a_strides[1];
        g.a_column = p.a_strides[2];
        g.b_row = p.b_strides[1];
        g.b_column = p.b_strides[2];
        g.c_row = p.c_strides[1];
        g.c_column = p.c_strides[2];
        g.dtype = p.dtype;
        g.bias = p.bias ? at(p.bias, n0 * p.bias_stride, p.dtype) : nullptr;
        g.bias_stride = p.bias_stride;
        g.relu = p.relu;
        g.scratch = static_cast<char*>(scratch) + worker * bytes;
        kernels.gemm(g);
      }
    }
  });
}

void launch(const tn_call* call) {
  const tn_tensor& a = *call->args[0].as.tensor;
  const tn_tensor& b = *call->args[1].as.tensor;
  const tn_tensor& c = *call->outputs[0];
  Product p = {a.sizes[0], a.sizes[1], b.sizes[2], a.sizes[2], a.data, b.data, c.data};
  std::copy_n(a.strides, 3, p.a_strides);
  std::copy_n(b.strides, 3, p.b_strides);
  std::copy_n(c.strides, 3, p.c_strides);
  p.dtype = a.dtype;
  return multiply(call, p);
}

}  // namespace

void multiply(const tn_call* call, const Product& p) {
  if (p.batch == 0 || p.m == 0 || p.n == 0) {
    return;
  }
  const double flops = 2.0 * static_cast<double>(p.batch) * static_cast<double>(p.m) *
                       static_cast<double>(p.n) * static_cast<double>(p.k);
  bool done = false;
  by_library(call, p, flops, &done);
  if (done) {
    return;
  }
  const bool column = p.n == 1 || (p.c_strides[2] != 1 && p.c_strides[1] == 1);
  if (column && !p.bias) {
    return by_own_kernel(call, transposed(p), flops);
  }
  return by_own_kernel(call, p, flops);
}

void add_matmul() {
  kernel(TN_PRIM_MATMUL, "cpu", {.dtypes = all_floats, .traits = kSameBits}, fn<launch>);
}

}  // namespace tenon::cpu_backend
