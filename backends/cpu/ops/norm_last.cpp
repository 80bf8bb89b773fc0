// The training half of batch_norm on channels-last images: rows of channels, each column with
// statistics of its own. Row-major ones: norm_planes.cpp.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ops/norm_last.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kRows = 64;  // added up in float32, before their sums go to float64

// n sums over the rows, of several runs of them at once: body(row, part) adds to part, of n floats.
class ColumnSums {
 public:
  ColumnSums(const tn_call* call, int64_t rows, int64_t n)
      : call_(call), rows_(rows), n_(n), runs_(row_runs(rows, n)) {}
  void allocate() { memory_ = Call(call_).workspace(static_cast<uint64_t>(runs_ * n_) * kBytes); }
  template <typename Body>
  void run(const Body& body) {
    parallel_for(call_->host, 0, runs_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        double* const sums = sums_of(r);
        float* const part = reinterpret_cast<float*>(sums + n_);
        std::memset(sums, 0, static_cast<size_t>(n_) * kBytes);
        const int64_t last = rows_ * (r + 1) / runs_;
        for (int64_t row = rows_ * r / runs_; row < last;) {
          for (const int64_t stop = std::min(row + kRows, last); row < stop; ++row) {
            body(row, part);
          }
          table().flush_f32(sums, part, n_);
          std::memset(part, 0, static_cast<size_t>(n_) * sizeof(float));
        }
      }
    });
  }
  double sum(int64_t i) const {
    double all = 0;
    for (int64_t r = 0; r < runs_; ++r) {
      all += sums_of(r)[i];
    }
    return all;
  }

 private:
  static constexpr uint64_t kBytes = sizeof(double) + sizeof(float);
  double* sums_of(int64_t r) const {
    return reinterpret_cast<double*>(static_cast<char*>(memory_) +
                                     static_cast<uint64_t>(r * n_) * kBytes / 8 * 8);
  }
  const tn_call* call_;
  int64_t rows_, n_, runs_;
  void* memory_ = nullptr;
};

void vectors(const tn_call* call, int64_t n, int64_t count, float** memory) {
  void* const bytes = Call(call).workspace(static_cast<uint64_t>(n * count) * sizeof(float));
  *memory = static_cast<float*>(bytes);
}

}  // namespace

void batch_forward_last(const tn_call* call, const float* x, const float* weight, const float* bias,
                        double eps) {
  const int64_t n = call->args[0].as.tensor->sizes[1], rows = call->args[0].as.tensor->numel / n;
  float* const y = data(call->outputs[0]);
  float* const mean = data(call->outputs[1]);
  float* const var = data(call->outputs[2]);
  const RowFunctions& functions = table().rows;
  ColumnSums sums(call, rows, n);
  float* factor;
  sums.allocate();
  vectors(call, n, 1, &factor);
  sums.run([&](int64_t i, float* part) { functions.columns_sum(part, x + i * n, n, nullptr); });
  for (int64_t c = 0; c < n; ++c) {
    mean[c] = static_cast<float>(sums.sum(c) / static_cast<double>(rows));
  }
  sums.run([&](int64_t i, float* part) { functions.columns_sum(part, x + i * n, n, mean); });
  for (int64_t c = 0; c < n; ++c) {
    const double variance = sums.sum(c) / static_cast<double>(rows);
    var[c] = static_cast<float>(variance);
    factor[c] = rstd_of(variance, eps) * (weight ? weight[c] : 1);
  }
  parallel_for(call->host, 0, rows, 1 + kPieceElements / n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      functions.columns_normalize(y + i * n, x + i * n, n, mean, factor, bias);
    }
  });
}

void batch_backward_last(const tn_call* call, const tn_tensor& x_tensor, const float* g,
                         const float* x, const float* weight, const float* mean, const float* var,
                         double eps) {
  const int64_t n = x_tensor.sizes[1], rows = x_tensor.numel / n;
  const RowFunctions& functions = table().rows;
  ColumnSums sums(call, rows, 2 * n);
  float* of_g;
  sums.allocate();
  vectors(call, n, 3, &of_g);
  float* const of_x = of_g + n;
  float* const shift = of_x + n;
  sums.run([&](int64_t i, float* part) {
    functions.columns_dot(part, part + n, g + i * n, x + i * n, n, mean);
  });
  for (int64_t c = 0; c < n; ++c) {
    const float rstd = rstd_of(var[c], eps);
    const double w = weight ? weight[c] : 1, sum = sums.sum(c), dot = sums.sum(n + c);
    const Slopes slopes(rstd, w * sum, w * dot, static_cast<double>(rows));
    of_g[c] = slopes.of_g * static_cast<float>(w);
    of_x[c] = slopes.of_x;
    shift[c] = slopes.shift;
    if (float* const dweight = data(call->outputs[1])) {
      dweight[c] = static_cast<float>(dot * rstd);
    }
    if (float* const dbias = data(call->outputs[2])) {
      dbias[c] = static_cast<float>(sum);
    }
  }
  if (float* const dx = data(call->outputs[0])) {
    parallel_for(call->host, 0, rows, 1 + kPieceElements / n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        functions.columns_dx(dx + i * n, g + i * n, x + i * n, n, mean, of_g, of_x, shift);
      }
    });
  }
}

}  // namespace tenon::cpu_backend
