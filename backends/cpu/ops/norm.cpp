// layer_norm in float32 and its gradients: x is [rows, n], weight and bias are [n]. Statistics are
// added up in float64 and kept as float32. Batches and groups: norm_planes.cpp; softmax.cpp.
#include "ops/norm.h"

#include <algorithm>
#include <cstdint>

#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

int64_t length_of(const tn_value& shape) {
  return product(shape.as.ints, static_cast<int32_t>(shape.count));
}

void layer_forward(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const int64_t n = length_of(call->args[1]);
  const float* const weight = data(call->args[2]);
  const float* const bias = data(call->args[3]);
  const double eps = call->args[4].as.f;
  float* const y = data(call->outputs[0]);
  float* const means = call->n_outputs > 1 ? data(call->outputs[1]) : nullptr;
  float* const rstds = call->n_outputs > 1 ? data(call->outputs[2]) : nullptr;
  const RowFunctions& rows = table().rows;
  parallel_for(call->host, 0, x.numel / n, 1 + kPieceElements / n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* const row = data(&x) + i * n;
      const double count = static_cast<double>(n);
      const float mean = static_cast<float>(rows.sum(row, n) / count);
      const float rstd = rstd_of(rows.square_off(row, n, mean) / count, eps);
      rows.normalize_by(y + i * n, row, n, mean, rstd, weight, bias);
      if (means) {
        means[i] = mean;
        rstds[i] = rstd;
      }
    }
  });
}

// The gradients of weight and bias of a run of rows: `part` is added to `sum` every kRows rows.
class Columns {
 public:
  static constexpr int64_t kRows = 64;
  static uint64_t bytes(int64_t n) { return static_cast<uint64_t>(n) * 2 * 12; }
  Columns(void* memory, int64_t n)
      : n_(n), sum_(static_cast<double*>(memory)), part_(reinterpret_cast<float*>(sum_ + 2 * n)) {
    std::memset(memory, 0, bytes(n));
  }
  void add(const float* g, const float* x, float mean, float rstd) {
    table().rows.normalize_dw(part_, part_ + n_, g, x, n_, mean, rstd);
    if (++rows_ % kRows == 0) {
      flush();
    }
  }
  void flush() {
    table().flush_f32(sum_, part_, 2 * n_);
    std::memset(part_, 0, static_cast<size_t>(2 * n_) * sizeof(float));
  }

 private:
  int64_t n_, rows_ = 0;
  double* sum_;
  float* part_;
};

// Sums n of the runs' columns, from column `first` on. Each run has `share` bytes of memory.
void add_up(const void* memory, uint64_t share, int64_t runs, int64_t first, float* result,
            int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < runs; ++i) {
      const char* part = static_cast<const char*>(memory) + share * static_cast<uint64_t>(i);
      sum += reinterpret_cast<const double*>(part)[first + j];
    }
    result[j] = static_cast<float>(sum);
  }
}

// args: g, then x, shape, weight, bias (not saved), eps; the output (not saved), means, rstds.
void layer_backward(const tn_call* call) {
  const tn_tensor& x = *call->args[1].as.tensor;
  if (call->args[0].kind != TN_KIND_TENSOR || x.numel == 0) {
    clear_outputs(call);
    return;
  }
  const float* const g = data(call->args[0]);
  const int64_t n = length_of(call->args[2]), count = x.numel / n;
  const float* const weight = data(call->args[3]);
  const float* const means = data(call->args[7]);
  const float* const rstds = data(call->args[8]);
  float* const dx = data(call->outputs[0]);
  float* const results[] = {data(call->outputs[1]), data(call->outputs[2])};
  const bool columns = results[0] || results[1];
  const int64_t runs = row_runs(count, n);
  const uint64_t share = (Columns::bytes(n) + 63) / 64 * 64;
  void* memory = nullptr;
  if (columns) {
    memory = Call(call).workspace(share * static_cast<uint64_t>(runs));
  }
  const auto part = [&](int64_t run) {
    return static_cast<char*>(memory) + share * static_cast<uint64_t>(run);
  };
  const RowFunctions& rows = table().rows;
  const auto one_row = [&](int64_t i) {
    const float* const gi = g + i * n;
    const float* const xi = data(&x) + i * n;
    const double sum = weight ? rows.dot(gi, weight, n) : rows.sum(gi, n);
    const Slopes s(rstds[i], sum, rows.dot_off(gi, weight, xi, n, means[i]),
                   static_cast<double>(n));
    rows.normalize_dx(dx + i * n, gi, weight, xi, n, means[i], s.of_g, s.of_x, s.shift);
  };
  parallel_for(call->host, 0, runs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t first = count * r / runs, last = count * (r + 1) / runs;
      if (columns) {
        Columns sums(part(r), n);
        for (int64_t i = first; i < last; ++i) {
          sums.add(g + i * n, data(&x) + i * n, means[i], rstds[i]);
          if (dx) {
            one_row(i);
          }
        }
        sums.flush();
      } else {
        for (int64_t i = first; i < last; ++i) {
          one_row(i);
        }
      }
    }
  });
  for (int k = 0; k < 2; ++k) {
    if (results[k]) {
      add_up(memory, share, runs, k * n, results[k], n);
    }
  }
}

void layer_private(const tn_call* call, std::span<tn_meta> metas) {
  const tn_tensor& x = *call->args[0].as.tensor;
  for (tn_meta& meta : metas) {
    describe(&meta, x, product(x.sizes, x.ndim - static_cast<int32_t>(call->args[1].count)));
  }
}

bool layer_supports(const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const tn_value& shape = call->args[1];
  const int32_t dims = static_cast<int32_t>(shape.count);
  bool fits = dims >= 1 && dims <= x.ndim && call->args[4].as.f >= 0 &&
              std::equal(shape.as.ints, shape.as.ints + dims, x.sizes + x.ndim - dims);
  for (const int i : {2, 3}) {
    const tn_tensor* t = tensor_of(call->args[i]);
    fits =
        fits && (!t || (t->ndim == dims && std::equal(t->sizes, t->sizes + dims, shape.as.ints)));
  }
  if (!fits) {
    return why("the arguments do not fit together");
  }
  return length_of(shape) > 0 || why("takes no empty rows");
}

}  // namespace

void add_norm() {
  kernel("layer_norm", "cpu", rows_of_float32(kUsualPromises), fn<layer_forward>)
      .supports(fn<layer_supports>)
      .private_outputs(2, fn<layer_private>)                // means and rstds of the rows
      .backward(fn<layer_backward>, {.saves_args = 0b11});  // x and weight
}

}  // namespace tenon::cpu_backend
