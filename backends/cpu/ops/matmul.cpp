// MATMUL, and the products of other kernels, in parts on several threads.
#include "ops/matmul.h"

#include <algorithm>
#include <cstdint>

#include "cpu.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr double kSerialFlops = 2e6;  // less work is not worth a second thread
// What one thread computes at least: a part of the result, and of the sum.
constexpr int64_t kPartRows = 48, kPartColumns = 96, kPartDepth = 2048;
constexpr int64_t kFewParts = 8;  // of the result: fewer, and the sum is cut too
constexpr int64_t kNarrowRows = 48;
// Parts are cut at whole panels, so one may be a panel larger than its share.
constexpr int64_t kRowUnit = 24, kColumnUnit = 96, kDepthUnit = 16;

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

int64_t cut(int64_t size, int64_t parts, int64_t i, int64_t unit) {
  return i == parts ? size : std::min(size, (size * i / parts + unit / 2) / unit * unit);
}

double flops_of(const Product& p) {
  return 2.0 * static_cast<double>(p.batch) * static_cast<double>(p.m) * static_cast<double>(p.n) *
         static_cast<double>(p.k);
}

// How a product is shared out. Parts of the result are as many as threads, which does not change a
// bit of it; parts of its sums are so many as the sizes say.
struct Grid {
  int64_t rows = 1, columns = 1, depths = 1;

  Grid(const Product& p, int64_t threads) {
    const int64_t most_rows = std::max<int64_t>(p.m / kPartRows, 1);
    const int64_t most_columns = std::max<int64_t>(p.n / kPartColumns, 1);
    const bool rounds = p.dtype != TN_FLOAT32 && p.dtype != TN_FLOAT64;
    if (!rounds && p.k >= 2 * kPartDepth && most_rows * most_columns * p.batch < kFewParts) {
      depths = std::min(p.k / kPartDepth, kFewParts / (most_rows * most_columns * p.batch));
    }
    // Of the ways to occupy the threads the one that packs least: all rows of `a` for each part of
    // the columns, and all columns of b for each part of the rows.
    const int64_t wanted = std::max<int64_t>(threads / (p.batch * depths), 1);
    int64_t best = 0;
    double least = 0;
    for (int64_t c = 1; c <= std::min(most_columns, wanted); ++c) {
      const int64_t r = std::min(most_rows, wanted / c);
      const double packed = static_cast<double>(p.m) * static_cast<double>(c) +
                            static_cast<double>(p.n) * static_cast<double>(r);
      if (r * c > best || (r * c == best && packed < least)) {
        best = r * c;
        least = packed;
        rows = r;
        columns = c;
      }
    }
  }
};

// One call on the plugin's own kernel.
class Multiplication {
 public:
  Multiplication(const tn_call* call, const Product& p)
      : call_(call),
        p_(p),
        threads_(flops_of(p) < kSerialFlops ? 1 : thread_count()),
        grid_(p, threads_),
        tasks_(p.batch * grid_.depths * grid_.rows * grid_.columns),
        workers_(std::min<int64_t>(threads_, tasks_)) {
    const bool dense = p.a_strides[2] == 1 && p.c_strides[2] == 1;
    const bool rounds = p.dtype != TN_FLOAT32 && p.dtype != TN_FLOAT64;
    narrow_ = p.n <= kNarrowColumns && p.m >= kNarrowRows && dense && !rounds;
    const int64_t rows = std::min(p.m, p.m / grid_.rows + 2 * kRowUnit);
    const int64_t columns = std::min(p.n, p.n / grid_.columns + 2 * kColumnUnit);
    own_bytes_ = (table().gemm_scratch(rows, columns, p.k, p.dtype, narrow_) + 63) / 64 * 64;
    const int64_t sums = grid_.depths > 1 ? grid_.depths * one_sum() * item_size(p.dtype) : 0;
    sum_bytes_ = (sums + 63) / 64 * 64;
  }

  int64_t scratch_bytes() const { return sum_bytes_ + own_bytes_ * workers_; }

  void run(char* scratch) const {
    parallel_for(call_->host, 0, workers_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t task = tasks_ * i / workers_; task < tasks_ * (i + 1) / workers_; ++task) {
          compute(task, scratch, scratch + sum_bytes_ + i * own_bytes_);
        }
      }
    });
    if (grid_.depths > 1) {
      p_.dtype == TN_FLOAT32 ? add_up<float>(scratch) : add_up<double>(scratch);
    }
  }

 private:
  int64_t one_sum() const { return p_.batch * p_.m * p_.n; }

  void compute(int64_t task, char* sums, char* own) const {
    const int64_t column = task % grid_.columns, row = task / grid_.columns % grid_.rows;
    const int64_t l = task / (grid_.columns * grid_.rows) % grid_.depths;
    const int64_t i = task / (grid_.columns * grid_.rows * grid_.depths);
    const int64_t m0 = cut(p_.m, grid_.rows, row, kRowUnit);
    const int64_t n0 = cut(p_.n, grid_.columns, column, kColumnUnit);
    const int64_t k0 = cut(p_.k, grid_.depths, l, kDepthUnit);
    GemmArgs g = {};
    g.m = cut(p_.m, grid_.rows, row + 1, kRowUnit) - m0;
    g.n = cut(p_.n, grid_.columns, column + 1, kColumnUnit) - n0;
    g.k = cut(p_.k, grid_.depths, l + 1, kDepthUnit) - k0;
    if (g.m == 0 || g.n == 0) {
      return;
    }
    const auto place = [this](const void* of, const int64_t* strides, int64_t batch, int64_t first,
                              int64_t second) {
      return at(of, batch * strides[0] + first * strides[1] + second * strides[2], p_.dtype);
    };
    g.a = place(p_.a, p_.a_strides, i, m0, k0);
    g.b = place(p_.b, p_.b_strides, i, k0, n0);
    g.a_row = p_.a_strides[1];
    g.a_column = p_.a_strides[2];
    g.b_row = p_.b_strides[1];
    g.b_column = p_.b_strides[2];
    if (grid_.depths > 1) {
      const int64_t dense[3] = {p_.m * p_.n, p_.n, 1};
      g.c = const_cast<void*>(place(sums + l * one_sum() * item_size(p_.dtype), dense, i, m0, n0));
      g.c_row = p_.n;
      g.c_column = 1;
    } else {
      g.c = const_cast<void*>(place(p_.c, p_.c_strides, i, m0, n0));
      g.c_row = p_.c_strides[1];
      g.c_column = p_.c_strides[2];
      g.bias = p_.bias ? at(p_.bias, n0 * p_.bias_stride, p_.dtype) : nullptr;
      g.bias_stride = p_.bias_stride;
      g.relu = p_.relu;
    }
    g.dtype = p_.dtype;
    g.narrow = narrow_;
    g.scratch = own;
    table().gemm(g);
  }

  // The parts of the sums in order, and what follows a product.
  template <typename T>
  void add_up(const char* sums) const {
    const T* const bias = static_cast<const T*>(p_.bias);
    for (int64_t row = 0; row < p_.batch * p_.m; ++row) {
      const T* const parts = reinterpret_cast<const T*>(sums) + row * p_.n;
      T* const c =
          static_cast<T*>(p_.c) + row / p_.m * p_.c_strides[0] + row % p_.m * p_.c_strides[1];
      for (int64_t j = 0; j < p_.n; ++j) {
        T sum = parts[j];
        for (int64_t l = 1; l < grid_.depths; ++l) {
          sum += parts[l * one_sum() + j];
        }
        sum += bias ? bias[j * p_.bias_stride] : T(0);
        c[j * p_.c_strides[2]] = p_.relu && sum < 0 ? T(0) : sum;
      }
    }
  }

  const tn_call* call_;
  const Product& p_;
  int64_t threads_;
  Grid grid_;
  int64_t tasks_, workers_;
  bool narrow_;
  int64_t own_bytes_, sum_bytes_;
};

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
  const bool column = p.n == 1 || (p.c_strides[2] != 1 && p.c_strides[1] == 1);
  const bool turns = column && !p.bias;
  const Product turned = turns ? transposed(p) : p;
  const Multiplication multiplication(call, turned);
  alignas(64) char small[16384];
  const bool fits = multiplication.scratch_bytes() <= static_cast<int64_t>(sizeof small);
  multiplication.run(fits ? small
                          : static_cast<char*>(Call(call).workspace(
                                static_cast<uint64_t>(multiplication.scratch_bytes()))));
}

void add_matmul() {
  kernel(TN_PRIM_MATMUL, "cpu", {.dtypes = all_floats, .traits = kUsualPromises}, fn<launch>);
}

}  // namespace tenon::cpu_backend
