// softmax(query key^T) value and its gradients in float32, a block of query rows at a time: the
// weights of a block stay in the second cache, and are never there as a whole. Kept for the
// backward, which computes them again: the log-sum-exp of each query, [.., n], float64; infinity
// where it may look at nothing.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/norm.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kBlockElements = 1 << 17;  // of weights: half of a second cache
constexpr int64_t kLeastRows = 32;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One matrix of a tensor [.., rows, columns], whose columns are dense.
struct Matrix {
  float* data;
  int64_t row;  // stride
};

// A call's sizes. Heads are the leading dimensions of query; those of key and value may be shared
// by `shared` neighbours.
struct Attention {
  const tn_tensor &query, &key, &value;
  const tn_tensor* mask;
  bool causal;
  float scale;
  int64_t shared = 1;
  int32_t leading;
  int64_t n, m, e, v, heads, block;

  explicit Attention(const tn_value* args)
      : query(*args[0].as.tensor),
        key(*args[1].as.tensor),
        value(*args[2].as.tensor),
        mask(tensor_of(args[3])),
        causal(args[4].as.i != 0),
        leading(query.ndim - 2) {
    n = query.sizes[leading];
    e = query.sizes[leading + 1];
    m = key.sizes[leading];
    v = value.sizes[leading + 1];
    heads = product(query.sizes, leading);
    if (args[6].as.i != 0) {
      shared = query.sizes[leading - 1] / key.sizes[leading - 1];
    }
    scale = static_cast<float>(
        args[5].kind == TN_KIND_FLOAT ? args[5].as.f : 1 / std::sqrt(static_cast<double>(e)));
    // Under a causal mask a block ends at its last row's diagonal: smaller ones leave more out.
    const int64_t rows = std::max(kBlockElements / m, kLeastRows);
    block = std::min({n, rows, causal ? std::max(n / 4, kLeastRows) : n});
  }
  int64_t blocks() const { return (n + block - 1) / block; }
  // Columns that rows before `end` may look at.
  int64_t columns(int64_t end) const { return causal ? std::min(m, end) : m; }

  // The matrix of a head of query, `by` heads to one; of its own leading sizes.
  Matrix of(const tn_tensor& t, int64_t head, int64_t by = 1) const {
    return {static_cast<float*>(t.data) + offset(t, head, by), t.strides[leading]};
  }
  int64_t offset(const tn_tensor& t, int64_t head, int64_t by) const {
    int64_t at = 0;
    for (int32_t d = leading - 1; d >= 0; --d) {
      const int64_t size = query.sizes[d];
      at += head % size / (d == leading - 1 ? by : 1) * t.strides[d];
      head /= size;
    }
    return at;
  }
  // Element (0, 0) of the mask's matrix and its strides; broadcast ones are 0.
  int64_t mask_offset(int64_t head, int64_t* row, int64_t* column) const {
    const int32_t missing = query.ndim - mask->ndim;
    const auto stride = [&](int32_t d) {
      return d < missing || mask->sizes[d - missing] == 1 ? 0 : mask->strides[d - missing];
    };
    *row = stride(leading);
    *column = stride(leading + 1);
    int64_t at = 0;
    for (int32_t d = leading - 1; d >= 0; --d) {
      at += head % query.sizes[d] * stride(d);
      head /= query.sizes[d];
    }
    return at;
  }
};

// The scratch of one worker.
struct Scratch {
  float *query, *weights, *gradient, *part;
  char* gemm;

  static int64_t up(int64_t elements) { return (elements + 15) / 16 * 16; }
  static int64_t gemm_bytes(const Attention& a, bool backward) {
    const auto bytes = [](int64_t m, int64_t n, int64_t k) {
      return table().gemm_scratch(m, n, k, TN_FLOAT32, false);
    };
    int64_t most = std::max(bytes(a.block, a.m, a.e), bytes(a.block, a.v, a.m));
    if (backward) {
      most = std::max({most, bytes(a.block, a.m, a.v), bytes(a.block, a.e, a.m),
                       bytes(a.m, a.v, a.block), bytes(a.m, a.e, a.block)});
    }
    return (most + 63) / 64 * 64;
  }
  static int64_t bytes(const Attention& a, bool backward) {
    const int64_t elements = up(a.block * a.e) + up(a.block * a.m) * (backward ? 2 : 1) +
                             (backward ? up(a.m * std::max(a.e, a.v)) : 0);
    return elements * 4 + gemm_bytes(a, backward);
  }
  Scratch(const Attention& a, void* memory, int64_t worker, bool backward) {
    query = reinterpret_cast<float*>(static_cast<char*>(memory) + worker * bytes(a, backward));
    weights = query + up(a.block * a.e);
    gradient = weights + up(a.block * a.m);
    part = backward ? gradient + up(a.block * a.m) : gradient;
    gemm = reinterpret_cast<char*>(backward ? part + up(a.m * std::max(a.e, a.v)) : gradient);
  }
};

// c = a b, [m, n, k]; `turned`: of the transpose of that operand as it lies there.
void multiply(const Scratch& s, Matrix c, Matrix a, bool a_turned, Matrix b, bool b_turned,
              int64_t m, int64_t n, int64_t k) {
  GemmArgs g = {};
  g.m = m;
  g.n = n;
  g.k = k;
  g.a = a.data;
  g.b = b.data;
  g.c = c.data;
  g.a_row = a_turned ? 1 : a.row;
  g.a_column = a_turned ? a.row : 1;
  g.b_row = b_turned ? 1 : b.row;
  g.b_column = b_turned ? b.row : 1;
  g.c_row = c.row;
  g.c_column = 1;
  g.dtype = TN_FLOAT32;
  g.scratch = s.gemm;
  table().gemm(g);
}

void apply_mask(const Attention& a, float* scores, int64_t head, int64_t row, int64_t n) {
  int64_t by_row, by_column;
  const int64_t at = a.mask_offset(head, &by_row, &by_column) + row * by_row;
  if (a.mask->dtype == TN_BOOL) {
    const uint8_t* const mask = static_cast<const uint8_t*>(a.mask->data) + at;
    for (int64_t j = 0; j < n; ++j) {
      scores[j] = mask[j * by_column] ? scores[j] : -std::numeric_limits<float>::infinity();
    }
  } else {
    const float* const mask = data(a.mask) + at;
    for (int64_t j = 0; j < n; ++j) {
      scores[j] += mask[j * by_column];
    }
  }
}

// Rows [begin, end) of a head: scale * query to s.query, the masked scores to s.weights, [end -
// begin, columns(end)]. row(i, scores, n) gets each with the number of keys that it may look at;
// what is behind is 0.
template <typename Row>
void score_rows(const Attention& a, const Scratch& s, int64_t head, int64_t begin, int64_t end,
                const Row& row) {
  const Matrix query = a.of(a.query, head);
  const int64_t columns = a.columns(end);
  for (int64_t i = begin; i < end; ++i) {
    table().rows.scale(s.query + (i - begin) * a.e, query.data + i * query.row, a.e, a.scale, 0);
  }
  multiply(s, {s.weights, columns}, {s.query, a.e}, false, a.of(a.key, head, a.shared), true,
           end - begin, columns, a.e);
  for (int64_t i = begin; i < end; ++i) {
    float* const scores = s.weights + (i - begin) * columns;
    const int64_t n = a.columns(i + 1);
    if (a.mask) {
      apply_mask(a, scores, head, i, n);
    }
    row(i, scores, n);
    std::fill(scores + n, scores + columns, 0.f);
  }
}

void workspace(const tn_call* call, const Attention& a, int64_t workers, bool backward,
               void** memory) {
  *memory = Call(call).workspace(static_cast<uint64_t>(Scratch::bytes(a, backward) * workers));
}

// body(scratch, task) for all tasks.
template <typename Body>
void each_task(const tn_call* call, const Attention& a, int64_t tasks, bool backward,
               const Body& body) {
  const double work = static_cast<double>(a.heads * a.n) * static_cast<double>(a.m * (a.e + a.v));
  const int64_t workers = work < 1e6 ? 1 : std::min<int64_t>(tasks, thread_count());
  void* memory = nullptr;
  workspace(call, a, workers, backward, &memory);
  parallel_for(call->host, 0, workers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t w = begin; w < end; ++w) {
      const Scratch scratch(a, memory, w, backward);
      for (int64_t task = tasks * w / workers; task < tasks * (w + 1) / workers; ++task) {
        body(scratch, task);
      }
    }
  });
}

void forward(const tn_call* call) {
  const Attention a(call->args);
  float* const y = data(call->outputs[0]);
  const tn_tensor* kept = call->n_outputs > 1 ? call->outputs[1] : nullptr;
  double* const lse = kept ? static_cast<double*>(kept->data) : nullptr;
  const Table& t = table();
  return each_task(call, a, a.heads * a.blocks(), false, [&](const Scratch& s, int64_t task) {
    const int64_t head = task / a.blocks(), begin = task % a.blocks() * a.block;
    const int64_t end = std::min(a.n, begin + a.block);
    float* const out = y + (head * a.n + begin) * a.v;
    // The sums of the rows' weights are put where the scaled query has been.
    float* const factors = s.query;
    score_rows(a, s, head, begin, end, [&](int64_t i, float* scores, int64_t n) {
      const float top = static_cast<float>(t.folds_f32.fold[TN_REDUCE_MAX](scores, n));
      const bool reaches = !a.mask || top != -static_cast<float>(kInfinity);
      double sum = 1;
      if (reaches) {
        sum = t.rows.exp_off(scores, scores, n, 1, top);
      } else {
        std::fill_n(scores, n, 0.f);
      }
      factors[i - begin] = static_cast<float>(1 / sum);
      if (lse) {
        lse[head * a.n + i] = reaches ? static_cast<double>(top) + std::log(sum) : kInfinity;
      }
    });
    multiply(s, {out, a.v}, {s.weights, a.columns(end)}, false, a.of(a.value, head, a.shared),
             false, end - begin, a.v, a.columns(end));
    for (int64_t i = 0; i < end - begin; ++i) {
      t.rows.scale(out + i * a.v, out + i * a.v, a.v, factors[i], 0);
    }
  });
}

// The gradients of one head's key and value, which are added up over blocks and sharing heads.
struct Sums {
  Matrix result;  // data NULL: not wanted
  int64_t columns;
  bool first = true;
  // += left^T right, [rows, columns] of `depth` terms.
  void add(const Scratch& s, Matrix left, Matrix right, int64_t rows, int64_t all_rows,
           int64_t depth) {
    if (!result.data) {
      return;
    }
    multiply(s, first ? result : Matrix{s.part, columns}, left, true, right, false, rows, columns,
             depth);
    if (first) {
      for (int64_t i = rows; i < all_rows; ++i) {
        std::fill_n(result.data + i * result.row, columns, 0.f);
      }
      first = false;
      return;
    }
    for (int64_t i = 0; i < rows; ++i) {
      float* const row = result.data + i * result.row;
      for (int64_t j = 0; j < columns; ++j) {
        row[j] += s.part[i * columns + j];
      }
    }
  }
};

// args: g, then query, key, value, mask, is_causal, scale, enable_gqa; y, log-sum-exp. The
// gradients lie as the tensors that they belong to, which may be [.., n, heads, e] seen as [..,
// heads, n, e].
void backward(const tn_call* call) {
  if (call->args[0].kind != TN_KIND_TENSOR) {
    clear_outputs(call);
    return;
  }
  const Attention a(call->args + 1);
  const tn_tensor& g = *call->args[0].as.tensor;
  const tn_tensor& y = *call->args[8].as.tensor;
  const double* const lse = static_cast<const double*>(call->args[9].as.tensor->data);
  const tn_tensor* const dq = call->outputs[0];
  const tn_tensor* const dk = call->outputs[1];
  const tn_tensor* const dv = call->outputs[2];
  const Table& t = table();
  return each_task(call, a, a.heads / a.shared, true, [&](const Scratch& s, int64_t task) {
    const int64_t first = task * a.shared;
    Sums key = {dk ? a.of(*dk, first, a.shared) : Matrix{}, a.e};
    Sums value = {dv ? a.of(*dv, first, a.shared) : Matrix{}, a.v};
    for (int64_t head = first; head < first + a.shared; ++head) {
      const Matrix gradient = a.of(g, head), output = a.of(y, head);
      for (int64_t begin = 0; begin < a.n; begin += a.block) {
        const int64_t end = std::min(a.n, begin + a.block), rows = end - begin;
        const int64_t columns = a.columns(end);
        score_rows(a, s, head, begin, end, [&](int64_t i, float* scores, int64_t n) {
          t.exp_minus_lse_f32(scores, scores, lse[head * a.n + i], 1, n);
        });
        const Matrix weights = {s.weights, columns}, scores = {s.gradient, columns};
        const Matrix g_block = {gradient.data + begin * gradient.row, gradient.row};
        value.add(s, weights, g_block, columns, a.m, rows);
        if (!dq && !dk) {
          continue;
        }
        multiply(s, scores, g_block, false, a.of(a.value, head, a.shared), true, rows, columns,
                 a.v);
        for (int64_t i = 0; i < rows; ++i) {
          const double dot = t.rows.dot(g_block.data + i * gradient.row,
                                        output.data + (begin + i) * output.row, a.v);
          float* const row = s.gradient + i * columns;
          t.rows.softmax_dx(row, row, s.weights + i * columns, columns, static_cast<float>(dot), 1);
        }
        key.add(s, scores, {s.query, a.e}, columns, a.m, rows);
        if (dq) {
          Matrix result = a.of(*dq, head);
          result.data += begin * result.row;
          multiply(s, result, scores, false, a.of(a.key, head, a.shared), false, rows, a.e,
                   columns);
          for (int64_t i = 0; i < rows; ++i) {
            float* const row = result.data + i * result.row;
            t.rows.scale(row, row, a.e, a.scale, 0);
          }
        }
      }
    }
  });
}

void infer_private(const tn_call* call, std::span<tn_meta> metas) {
  const tn_tensor& query = *call->args[0].as.tensor;
  metas[0].ndim = query.ndim - 1;
  metas[0].dtype = TN_FLOAT64;
  metas[0].device = query.device;
  std::copy_n(query.sizes, query.ndim - 1, metas[0].sizes);
}

bool mask_fits(const tn_tensor& mask, const tn_tensor& query, int64_t m) {
  if (mask.ndim > query.ndim) {
    return false;
  }
  for (int32_t d = 0; d < mask.ndim; ++d) {
    const int32_t at = query.ndim - mask.ndim + d;
    const int64_t size = at == query.ndim - 1 ? m : query.sizes[at];
    if (mask.sizes[d] != 1 && mask.sizes[d] != size) {
      return false;
    }
  }
  return true;
}

bool supports(const tn_call* call, Refusal why) {
  const tn_tensor& q = *call->args[0].as.tensor;
  const tn_tensor& k = *call->args[1].as.tensor;
  const tn_tensor& v = *call->args[2].as.tensor;
  const tn_tensor* mask = tensor_of(call->args[3]);
  const bool grouped = call->args[6].as.i != 0;
  if (q.dtype != TN_FLOAT32 || k.dtype != TN_FLOAT32 || v.dtype != TN_FLOAT32) {
    return why("takes query, key and value of float32");
  }
  if (q.numel == 0 || k.numel == 0 || v.numel == 0) {
    return why("takes no empty tensors");
  }
  const int32_t leading = q.ndim - 2;
  bool fits = leading >= (grouped ? 1 : 0) && k.ndim == q.ndim && v.ndim == q.ndim;
  for (int32_t d = 0; fits && d < leading; ++d) {
    const bool heads = grouped && d == leading - 1;
    fits = k.sizes[d] == v.sizes[d] &&
           (heads ? q.sizes[d] % k.sizes[d] == 0 : q.sizes[d] == k.sizes[d]);
  }
  if (!fits || q.sizes[leading + 1] != k.sizes[leading + 1] ||
      k.sizes[leading] != v.sizes[leading]) {
    return why("takes query, key and value of equal leading dimensions");
  }
  if (mask && (call->args[4].as.i != 0 || !mask_fits(*mask, q, k.sizes[leading]))) {
    return why("attn_mask does not fit");
  }
  if (mask && (mask->flags & TN_TENSOR_REQUIRES_GRAD) != 0) {
    return why("has no gradient of attn_mask");
  }
  return true;
}

}  // namespace

void add_attention() {
  kernel("_attention", "cpu",
         {.dtypes = float32 | bool_, .layout = Layout::rows, .traits = kUsualPromises}, fn<forward>)
      .supports(fn<supports>)
      .private_outputs(1, fn<infer_private>)
      .backward(fn<backward>, {.saves_args = 0b1111, .saves_outputs = 1});  // all of the tensors
}

}  // namespace tenon::cpu_backend
