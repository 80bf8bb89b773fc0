// oneDNN's matrix products, in pieces: rows and columns, and where these are few the sum too. They
// depend on the sizes alone, and oneDNN computes each on one thread. Weights are reordered into the
// layout that oneDNN asks for, which pays even for one use.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "dnnl/shared.h"

namespace tenon::cpu_backend {
namespace {

using dnnl::memory;
using Problem = tenon_cpu_dnnl_matmul;

constexpr size_t kProducts = 64;
constexpr int64_t kWeightsWorthReordering = 1 << 14, kRowsWorthReordering = 512;
// Pieces of a product: least sizes, and how many are wanted of a small and of a large one.
constexpr int64_t kPieceColumns = 256, kPieceRows = 256, kLeastSize = 128, kPieceDepth = 2048;
constexpr int64_t kColumnsOfTurned = 1024;  // of a piece where `a` is turned
constexpr int64_t kTall = 1024;             // rows of a product
constexpr int64_t kFewPieces = 4, kMostPieces = 32;
constexpr int64_t kLeastProducts = 8;  // fewer: the sum is cut too
constexpr double kPieceFlops = 3e8;

using Key = std::array<int64_t, 15>;

Key key_of(const Problem& p) {
  Key key = {p.batch, p.m, p.n, p.k, p.relu, p.bias != nullptr};
  std::copy_n(p.a_strides, 3, &key[6]);
  std::copy_n(p.b_strides, 3, &key[9]);
  std::copy_n(p.c_strides, 3, &key[12]);
  return key;
}

memory::desc plain(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  return memory::desc({rows, columns}, memory::data_type::f32, {row, column});
}

dnnl::reorder make_reorder(const memory::desc& from, const memory::desc& to) {
  return dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
}

// The product of pieces of certain sizes.
struct Kernel {
  memory::desc a, b, bias, c;      // as given
  memory::desc dense_a, packed_b;  // as oneDNN gets them
  memory::desc scratchpad;
  dnnl::matmul product;
  dnnl::reorder reorder_a, reorder_b;
  bool reorders_a = false, reorders_b = false;
};

// How a problem is cut, and the kernels for its pieces.
struct Plan {
  Cut m, n, k;
  Kernel kernels[2][2][2];  // by the variants of m, n and k
  bool a_ahead, b_ahead;    // reordered once, before the products that read them
  size_t a_bytes = 0, b_bytes = 0, scratch_bytes = 0;  // of one piece at most

  const Kernel& kernel(int64_t i, int64_t j, int64_t l) const {
    return kernels[m.variant(i)][n.variant(j)][k.variant(l)];
  }
  bool sums() const { return k.count() > 1; }
};

// The columns of `a` are dense and not its rows. oneDNN has other kernels for that; where these are
// slow in pieces, in tall and narrow products, the rows are made dense.
bool is_turned(const Problem& p) { return p.a_strides[2] != 1; }
bool makes_rows_dense(const Problem& p) {
  return is_turned(p) && p.batch == 1 && p.m >= kTall && p.n >= kPieceColumns && p.n < kTall;
}

// A batch is in pieces already, so that its products need not be.
int64_t pieces_of(const Problem& p, int64_t size, int64_t usual) {
  return std::max(size / usual, p.batch > 1 ? 1 : std::min(kFewPieces, size / kLeastSize));
}

// In whole vectors, and in whole blocks of oneDNN's layouts where the last piece is then no sliver.
Cut cut_columns(int64_t n, int64_t pieces) {
  const Cut blocks(n, pieces, 64);
  const int64_t last = blocks.length(blocks.count() - 1);
  return 2 * last < blocks.size ? Cut(n, pieces, 16) : blocks;
}

// Columns are cut first, which leaves the rows of `a` as they lie and packs each piece of b once.
void cut(const Problem& p, Plan* plan) {
  const double flops = 2.0 * static_cast<double>(p.batch * p.m) * static_cast<double>(p.n * p.k);
  const int64_t wanted = static_cast<int64_t>(
      std::clamp(flops / kPieceFlops, double{kFewPieces}, double{kMostPieces}));
  const bool turned = is_turned(p) && !makes_rows_dense(p);
  const int64_t columns = turned ? p.n / kColumnsOfTurned : pieces_of(p, p.n, kPieceColumns);
  plan->n = cut_columns(p.n, std::clamp<int64_t>(columns, 1, kMostPieces));
  int64_t pieces = plan->n.count() * p.batch;
  plan->m =
      Cut(p.m, std::max<int64_t>(std::min(pieces_of(p, p.m, kPieceRows), wanted / pieces), 1), 16);
  pieces *= plan->m.count();
  plan->k =
      Cut(p.k, std::max<int64_t>(std::min(p.k / kPieceDepth, kLeastProducts / pieces), 1), 64);
}

// packed_b: the layout that another kernel chose, or NULL.
void make(const Problem& p, bool sums, int64_t m, int64_t n, int64_t k,
          const memory::desc* packed_b, Kernel* kernel) {
  kernel->a = plain(m, k, p.a_strides[1], p.a_strides[2]);
  kernel->b = plain(k, n, p.b_strides[1], p.b_strides[2]);
  kernel->c = sums ? plain(m, n, p.n, 1) : plain(m, n, p.c_strides[1], p.c_strides[2]);
  kernel->reorders_a = makes_rows_dense(p);
  kernel->dense_a = kernel->reorders_a ? plain(m, k, k, 1) : kernel->a;
  memory::desc wanted = kernel->b;
  if (packed_b) {
    wanted = *packed_b;
  } else if (p.batch == 1 && p.k * p.n >= kWeightsWorthReordering &&
             (!is_turned(p) || kernel->reorders_a || p.m >= kRowsWorthReordering)) {
    wanted = memory::desc({k, n}, memory::data_type::f32, memory::format_tag::any);
  }
  const bool bias = p.bias && !sums, relu = p.relu && !sums;
  if (bias) {
    kernel->bias = memory::desc({1, n}, memory::data_type::f32, memory::format_tag::ab);
  }
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
  if (relu) {
    after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.f, 0.f);
    attributes.set_post_ops(after);
  }
  const dnnl::matmul::primitive_desc description(engine(), kernel->dense_a, wanted, kernel->bias,
                                                 kernel->c, attributes);
#else
  if (relu) {
    after.append_eltwise(1.f, dnnl::algorithm::eltwise_relu, 0.f, 0.f);
    attributes.set_post_ops(after);
  }
  const dnnl::matmul::desc operation =
      bias ? dnnl::matmul::desc(kernel->dense_a, wanted, kernel->bias, kernel->c)
           : dnnl::matmul::desc(kernel->dense_a, wanted, kernel->c);
  const dnnl::matmul::primitive_desc description(operation, attributes, engine());
#endif
  kernel->packed_b = description.weights_desc();
  kernel->scratchpad = description.scratchpad_desc();
  kernel->product = dnnl::matmul(description);
  kernel->reorders_b = kernel->packed_b != kernel->b;
  if (kernel->reorders_a) {
    kernel->reorder_a = make_reorder(kernel->a, kernel->dense_a);
  }
  if (kernel->reorders_b) {
    kernel->reorder_b = make_reorder(kernel->b, kernel->packed_b);
  }
}

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

std::shared_ptr<const Plan> make_plan(const Problem& p) {
  const OneThread one_thread;
  auto plan = std::make_shared<Plan>();
  cut(p, plan.get());
  for (int64_t j = 0; j < plan->n.variants(); ++j) {
    for (int64_t l = 0; l < plan->k.variants(); ++l) {
      const memory::desc* packed_b = nullptr;
      for (int64_t i = 0; i < plan->m.variants(); ++i) {
        Kernel& kernel = plan->kernels[i][j][l];
        make(p, plan->sums(), plan->m.length_of(i), plan->n.length_of(j), plan->k.length_of(l),
             packed_b, &kernel);
        packed_b = &kernel.packed_b;
        plan->a_bytes = std::max(plan->a_bytes, aligned(kernel.dense_a.get_size()));
        plan->b_bytes = std::max(plan->b_bytes, aligned(kernel.packed_b.get_size()));
        plan->scratch_bytes = std::max(plan->scratch_bytes, aligned(kernel.scratchpad.get_size()));
      }
    }
  }
  const Kernel& first = plan->kernels[0][0][0];
  plan->a_ahead = first.reorders_a && plan->n.count() > 1;
  plan->b_ahead = first.reorders_b && plan->m.count() > 1;
  return plan;
}

std::shared_ptr<const Plan> find(const Problem& p) {
  static auto* plans = new KernelCache<Key, Plan>(kProducts);
  return plans->find(key_of(p), [&p] { return make_plan(p); });
}

// Memory of this thread that grows as wanted, for what is reordered and oneDNN's own use.
struct Buffer {
  char* memory = nullptr;
  size_t bytes = 0;
  ~Buffer() { std::free(memory); }
  char* get(size_t wanted) {
    if (wanted > bytes) {
      std::free(memory);
      bytes = (wanted + 4095) / 4096 * 4096;
      memory = static_cast<char*>(std::aligned_alloc(4096, bytes));
      if (!memory) {
        bytes = 0;
        throw std::bad_alloc();
      }
    }
    return memory;
  }
};

// One call. The buffer has what is reordered ahead, the partial sums, and each thread's own part.
class Call {
 public:
  Call(const Problem& p, const Plan& plan, const tenon_cpu_dnnl_threads& threads, Buffer& buffer)
      : p_(p), plan_(plan), threads_(threads) {
    rows_ = plan.m.count();
    columns_ = plan.n.count();
    depths_ = plan.k.count();
    const size_t a = plan.a_ahead ? plan.a_bytes * static_cast<size_t>(n_a()) : 0;
    const size_t b = plan.b_ahead ? plan.b_bytes * static_cast<size_t>(n_b()) : 0;
    const size_t sums = plan.sums() ? aligned(static_cast<size_t>(depths_ * one_sum()) * 4) : 0;
    own_bytes_ = plan.a_bytes + plan.b_bytes + plan.scratch_bytes + 64;
    const size_t count = static_cast<size_t>(std::min(threads.count, products()));
    a_ = buffer.get(a + b + sums + own_bytes_ * count);
    b_ = a_ + a;
    sums_ = reinterpret_cast<float*>(b_ + b);
    own_ = b_ + b + sums;
  }

  void run() {
    each_piece(threads_, plan_.a_ahead ? n_a() : 0, [&](int64_t, int64_t i) {
      const int64_t l = i % depths_, row = i / depths_ % rows_;
      dnnl::stream stream(engine());
      reorder_a(stream, i / depths_ / rows_, row, l, plan_.kernel(row, 0, l), a_at(i));
    });
    each_piece(threads_, plan_.b_ahead ? n_b() : 0, [&](int64_t, int64_t i) {
      const int64_t l = i % depths_, column = i / depths_ % columns_;
      dnnl::stream stream(engine());
      reorder_b(stream, i / depths_ / columns_, column, l, plan_.kernel(0, column, l), b_at(i));
    });
    // Neighbours have the columns of b in common, which then stay in the cache.
    each_piece(threads_, products(), [&](int64_t thread, int64_t i) {
      const int64_t row = i % rows_, l = i / rows_ % depths_;
      const int64_t column = i / rows_ / depths_ % columns_;
      multiply(thread, i / rows_ / depths_ / columns_, row, column, l);
    });
    if (plan_.sums()) {
      each_piece(threads_, p_.batch * p_.m,
                 [&](int64_t, int64_t i) { add_up(i / p_.m, i % p_.m); });
    }
  }

 private:
  int64_t n_a() const { return p_.batch * rows_ * depths_; }
  int64_t n_b() const { return p_.batch * columns_ * depths_; }
  int64_t products() const { return p_.batch * rows_ * columns_ * depths_; }
  int64_t one_sum() const { return p_.batch * p_.m * p_.n; }
  char* a_at(int64_t i) const { return a_ + plan_.a_bytes * static_cast<size_t>(i); }
  char* b_at(int64_t i) const { return b_ + plan_.b_bytes * static_cast<size_t>(i); }

  memory a_given(int64_t batch, int64_t row, int64_t l, const Kernel& kernel) const {
    const float* a = p_.a + batch * p_.a_strides[0] + plan_.m.begin(row) * p_.a_strides[1] +
                     plan_.k.begin(l) * p_.a_strides[2];
    return memory(kernel.a, engine(), const_cast<float*>(a));
  }
  memory b_given(int64_t batch, int64_t column, int64_t l, const Kernel& kernel) const {
    const float* b = p_.b + batch * p_.b_strides[0] + plan_.k.begin(l) * p_.b_strides[1] +
                     plan_.n.begin(column) * p_.b_strides[2];
    return memory(kernel.b, engine(), const_cast<float*>(b));
  }
  void reorder_a(dnnl::stream& stream, int64_t batch, int64_t row, int64_t l, const Kernel& kernel,
                 char* to) const {
    memory given = a_given(batch, row, l, kernel), dense(kernel.dense_a, engine(), to);
    kernel.reorder_a.execute(stream, given, dense);
  }
  void reorder_b(dnnl::stream& stream, int64_t batch, int64_t column, int64_t l,
                 const Kernel& kernel, char* to) const {
    memory given = b_given(batch, column, l, kernel), packed(kernel.packed_b, engine(), to);
    kernel.reorder_b.execute(stream, given, packed);
  }

  void multiply(int64_t thread, int64_t batch, int64_t row, int64_t column, int64_t l) const {
    const Kernel& kernel = plan_.kernel(row, column, l);
    dnnl::stream stream(engine());
    char* const own = own_ + own_bytes_ * static_cast<size_t>(thread);
    char* const own_b = own + plan_.a_bytes;
    memory a = a_given(batch, row, l, kernel), b = b_given(batch, column, l, kernel);
    if (kernel.reorders_a) {
      char* const dense = plan_.a_ahead ? a_at((batch * rows_ + row) * depths_ + l) : own;
      if (!plan_.a_ahead) {
        reorder_a(stream, batch, row, l, kernel, dense);
      }
      a = memory(kernel.dense_a, engine(), dense);
    }
    if (kernel.reorders_b) {
      char* const packed = plan_.b_ahead ? b_at((batch * columns_ + column) * depths_ + l) : own_b;
      if (!plan_.b_ahead) {
        reorder_b(stream, batch, column, l, kernel, packed);
      }
      b = memory(kernel.packed_b, engine(), packed);
    }
    const int64_t m0 = plan_.m.begin(row), n0 = plan_.n.begin(column);
    float* const c =
        plan_.sums() ? sums_ + l * one_sum() + (batch * p_.m + m0) * p_.n + n0
                     : p_.c + batch * p_.c_strides[0] + m0 * p_.c_strides[1] + n0 * p_.c_strides[2];
    std::unordered_map<int, memory> arguments = {
        {DNNL_ARG_SRC, a},
        {DNNL_ARG_WEIGHTS, b},
        {DNNL_ARG_DST, memory(kernel.c, engine(), c)},
        {DNNL_ARG_SCRATCHPAD, memory(kernel.scratchpad, engine(), own_b + plan_.b_bytes)},
    };
    if (p_.bias && !plan_.sums()) {
      arguments[DNNL_ARG_BIAS] = memory(kernel.bias, engine(), const_cast<float*>(p_.bias + n0));
    }
    kernel.product.execute(stream, arguments);
    stream.wait();
  }

  // The row of the result: its partial sums in order, and what follows a product.
  void add_up(int64_t batch, int64_t row) const {
    const float* const parts = sums_ + (batch * p_.m + row) * p_.n;
    float* const c = p_.c + batch * p_.c_strides[0] + row * p_.c_strides[1];
    for (int64_t j = 0; j < p_.n; ++j) {
      float sum = parts[j];
      for (int64_t l = 1; l < depths_; ++l) {
        sum += parts[l * one_sum() + j];
      }
      sum += p_.bias ? p_.bias[j] : 0;
      c[j * p_.c_strides[2]] = p_.relu && sum < 0 ? 0 : sum;
    }
  }

  const Problem& p_;
  const Plan& plan_;
  const tenon_cpu_dnnl_threads& threads_;
  int64_t rows_, columns_, depths_;  // pieces
  size_t own_bytes_;
  char *a_, *b_, *own_;
  float* sums_;
};

}  // namespace

int32_t matmul(const Problem* p, const tenon_cpu_dnnl_threads* threads) {
  try {
    thread_local Buffer buffer;
    const std::shared_ptr<const Plan> plan = find(*p);
    Call(*p, *plan, *threads, buffer).run();
    return 0;
  } catch (...) {
    return failure();
  }
}

}  // namespace tenon::cpu_backend
