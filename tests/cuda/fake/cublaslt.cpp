// A libcublasLt of the tests' own: descriptors are checked against the documentation's rules, and
// products are plain loops on the stream, which add in double.
#include <cublasLt.h>
#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

#include "calls.h"
#include "tenon/halves.hpp"

extern "C" bool tenon_fake_put(CUstream, const char*, void (*)(void*), void*, void (*)(void*));
extern "C" char* tenon_fake_view(const void*, size_t);

namespace {

using tenon::halves::BFloat16;
using tenon::halves::Float16;

struct Handle {
  int magic = 0x17;
};
struct Product {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  int32_t transposed[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  cudaDataType_t bias_type = CUDA_R_32F;
  void* aux = nullptr;
  int64_t aux_step = 0;

  bool is_one_of(std::initializer_list<cublasLtEpilogue_t> list) const {
    return std::find(list.begin(), list.end(), epilogue) != list.end();
  }
  bool adds_bias() const {
    return is_one_of({CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
                      CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS,
                      CUBLASLT_EPILOGUE_GELU_AUX_BIAS});
  }
  bool sums_b() const { return epilogue == CUBLASLT_EPILOGUE_BGRADB; }
  bool sums_d() const {
    return is_one_of({CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_DGELU_BGRAD});
  }
  bool has_bias() const { return adds_bias() || sums_b() || sums_d(); }
  bool is_relu() const {
    return is_one_of({CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS,
                      CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS});
  }
  bool is_gelu() const {
    return is_one_of({CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS,
                      CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS});
  }
  bool is_gradient_of_relu() const {
    return is_one_of({CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DRELU_BGRAD});
  }
  bool is_gradient_of_gelu() const {
    return is_one_of({CUBLASLT_EPILOGUE_DGELU, CUBLASLT_EPILOGUE_DGELU_BGRAD});
  }
  bool writes_aux() const {
    return is_one_of({CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
                      CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS});
  }
  bool has_aux() const { return writes_aux() || is_gradient_of_relu() || is_gradient_of_gelu(); }
  // A bit for each element, or one as wide as those of d.
  bool is_aux_of_bits() const { return is_relu() || is_gradient_of_relu(); }
};
struct Layout {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t step;
  int32_t batch = 1;
  int64_t batch_step = 0;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint32_t alignment[4] = {256, 256, 256, 256};
};
// What is in the 64 bytes of an algorithm.
struct Choice {
  uint64_t workspace;
  uint32_t alignment[4];
  uint32_t bias_alignment, aux_alignment;
};

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "fake cuBLASLt: %s\n", what);
  std::abort();
}

size_t bytes_of(cudaDataType_t type) { return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2; }

double number(const char* at, cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
      return *reinterpret_cast<const double*>(at);
    case CUDA_R_32F:
      return *reinterpret_cast<const float*>(at);
    case CUDA_R_16F:
      return *reinterpret_cast<const Float16*>(at);
    default:
      return *reinterpret_cast<const BFloat16*>(at);
  }
}
void put(char* at, cudaDataType_t type, double value) {
  switch (type) {
    case CUDA_R_64F:
      *reinterpret_cast<double*>(at) = value;
      break;
    case CUDA_R_32F:
      *reinterpret_cast<float*>(at) = static_cast<float>(value);
      break;
    case CUDA_R_16F:
      *reinterpret_cast<Float16*>(at) = Float16(static_cast<float>(value));
      break;
    default:
      *reinterpret_cast<BFloat16*>(at) = BFloat16(static_cast<float>(value));
  }
}

struct Work {
  Product product;
  Layout a, b, d;
  const void *a_data, *b_data;
  void* d_data;
};

size_t reach(const Layout& l) {
  const auto batches = static_cast<uint64_t>(l.batch - 1) * static_cast<uint64_t>(l.batch_step);
  return (batches + (l.columns - 1) * static_cast<uint64_t>(l.step) + l.rows) * bytes_of(l.type);
}

// One matrix of a batch in double: [outer][inner], the inner as `by_column` says.
std::vector<double> gathered(const char* base, const Layout& l, int64_t batch, bool by_column) {
  std::vector<double> all(l.rows * l.columns);
  const size_t bytes = bytes_of(l.type);
  for (uint64_t c = 0; c < l.columns; ++c) {
    const char* column = base + (batch * l.batch_step + static_cast<int64_t>(c) * l.step) *
                                    static_cast<int64_t>(bytes);
    for (uint64_t r = 0; r < l.rows; ++r)
      all[by_column ? c * l.rows + r : r * l.columns + c] = number(column + r * bytes, l.type);
  }
  return all;
}

// By tanh: Hendrycks & Gimpel, Gaussian error linear units (2016).
const double kRoot = std::sqrt(2 / 3.14159265358979323846), kCube = 0.044715;
double gelu(double x) { return 0.5 * x * (1 + std::tanh(kRoot * (x + kCube * x * x * x))); }
double gelu_slope(double x) {
  const double t = std::tanh(kRoot * (x + kCube * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kRoot * (1 + 3 * kCube * x * x);
}

// What an activation leaves for its gradient.
class Aux {
 public:
  Aux(const Product& p, const Layout& d) : product_(p), type_(d.type) {
    if (!p.has_aux()) return;
    const uint64_t elements = d.columns * static_cast<uint64_t>(p.aux_step);
    const size_t bytes = p.is_aux_of_bits() ? elements / 8 : elements * bytes_of(type_);
    data_ = tenon_fake_view(p.aux, bytes);
    if (!data_) die("aux is not live memory of a device");
    if (p.writes_aux()) std::memset(data_, 0xA5, bytes);  // what lies between rows may be written
  }
  void keep(uint64_t row, uint64_t column, double value) const {
    const uint64_t i = place(row, column);
    if (!product_.is_aux_of_bits()) return put(data_ + i * bytes_of(type_), type_, value);
    const auto bit = static_cast<char>(1 << i % 8);
    data_[i / 8] = static_cast<char>(value <= 0 ? data_[i / 8] & ~bit : data_[i / 8] | bit);
  }
  bool is_positive(uint64_t row, uint64_t column) const {
    const uint64_t i = place(row, column);
    return data_[i / 8] >> i % 8 & 1;
  }
  double slope_of_gelu(uint64_t row, uint64_t column) const {
    return gelu_slope(number(data_ + place(row, column) * bytes_of(type_), type_));
  }

 private:
  uint64_t place(uint64_t row, uint64_t column) const {
    return column * static_cast<uint64_t>(product_.aux_step) + row;
  }
  const Product& product_;
  cudaDataType_t type_;
  char* data_ = nullptr;
};

void multiply(const Work& work) {
  const char* a = tenon_fake_view(work.a_data, reach(work.a));
  const char* b = tenon_fake_view(work.b_data, reach(work.b));
  char* d = tenon_fake_view(work.d_data, reach(work.d));
  if (!a || !b || !d) die("a matrix is not live memory of a device");
  const bool at = work.product.transposed[0] == CUBLAS_OP_T;
  const bool bt = work.product.transposed[1] == CUBLAS_OP_T;
  const uint64_t m = work.d.rows, n = work.d.columns, k = at ? work.a.rows : work.a.columns;
  const Product& p = work.product;
  char* const bias =
      p.bias ? tenon_fake_view(p.bias, (p.sums_b() ? n : m) * bytes_of(p.bias_type)) : nullptr;
  if (p.bias && !bias) die("the bias is not live memory of a device");
  const auto bias_at = [&](uint64_t i) { return bias + i * bytes_of(p.bias_type); };
  const Aux aux(p, work.d);
  std::vector<double> sums_of_d(p.sums_d() ? m : 0);
  for (int64_t batch = 0; batch < work.d.batch; ++batch) {
    const auto left = gathered(a, work.a, batch, !at);   // [k][m]
    const auto right = gathered(b, work.b, batch, !bt);  // [n][k]
    std::vector<double> sums(m);
    for (uint64_t column = 0; column < n; ++column) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (uint64_t i = 0; i < k; ++i) {
        const double factor = right[column * k + i];
        const double* row = &left[i * m];
        for (uint64_t r = 0; r < m; ++r) sums[r] += row[r] * factor;
      }
      char* to = d + (batch * work.d.batch_step + static_cast<int64_t>(column) * work.d.step) *
                         static_cast<int64_t>(bytes_of(work.d.type));
      for (uint64_t r = 0; r < m; ++r) {
        double value = sums[r] + (p.adds_bias() ? number(bias_at(r), p.bias_type) : 0);
        if (p.writes_aux()) aux.keep(r, column, value);
        if (p.is_relu() && value < 0) value = 0;
        if (p.is_gelu()) value = gelu(value);
        if (p.is_gradient_of_relu() && !aux.is_positive(r, column)) value = 0;
        if (p.is_gradient_of_gelu()) value *= aux.slope_of_gelu(r, column);
        if (p.sums_d()) sums_of_d[r] += value;
        put(to + r * bytes_of(work.d.type), work.d.type, value);
      }
      if (p.sums_b()) {
        double sum = 0;
        for (uint64_t i = 0; i < k; ++i) sum += right[column * k + i];
        put(bias_at(column), p.bias_type, sum);
      }
    }
  }
  for (uint64_t r = 0; r < sums_of_d.size(); ++r) put(bias_at(r), p.bias_type, sums_of_d[r]);
}

template <class T>
T* as(const void* descriptor) {
  return const_cast<T*>(static_cast<const T*>(descriptor));
}

template <class T>
cublasStatus_t set(T* field, const void* value, size_t bytes) {
  if (bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  return std::memcpy(field, value, bytes), CUBLAS_STATUS_SUCCESS;
}

// The sizes of the three fit, and each leading dimension.
bool fits(const Product& p, const Layout& a, const Layout& b, const Layout& d) {
  const bool at = p.transposed[0] == CUBLAS_OP_T, bt = p.transposed[1] == CUBLAS_OP_T;
  if ((at ? a.columns : a.rows) != d.rows || (bt ? b.rows : b.columns) != d.columns) return false;
  if ((at ? a.rows : a.columns) != (bt ? b.columns : b.rows)) return false;
  if (a.type != d.type || b.type != d.type || a.batch != d.batch || b.batch != d.batch)
    return false;
  const bool is_double = d.type == CUDA_R_64F;
  if (is_double != (p.compute == CUBLAS_COMPUTE_64F) || is_double != (p.scale == CUDA_R_64F))
    return false;
  return d.batch == 1 || d.batch_step >= d.step * static_cast<int64_t>(d.columns);
}

bool is_aligned(const void* data, const Layout& l, uint32_t alignment) {
  const auto step = static_cast<uint64_t>(l.batch_step) * bytes_of(l.type);
  return (reinterpret_cast<uintptr_t>(data) | (l.batch > 1 ? step : 0)) % alignment == 0;
}

}  // namespace

#define ENTER(name) \
  if (const int failed = fake::begin_call(#name)) return static_cast<cublasStatus_t>(failed)

#pragma GCC visibility push(default)
extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  ENTER(cublasLtCreate);
  CUcontext context = nullptr;
  if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = reinterpret_cast<cublasLtHandle_t>(new Handle);
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  fake::begin_call("cublasLtGetStatusString");
  return status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE" : "CUBLAS_STATUS";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  ENTER(cublasLtMatmulDescCreate);
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Product{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  ENTER(cublasLtMatmulDescDestroy);
  return delete as<Product>(made), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t made,
                                              cublasLtMatmulDescAttributes_t what,
                                              const void* value, size_t bytes) {
  ENTER(cublasLtMatmulDescSetAttribute);
  Product& product = *as<Product>(made);
  if (what == CUBLASLT_MATMUL_DESC_TRANSA) return set(&product.transposed[0], value, bytes);
  if (what == CUBLASLT_MATMUL_DESC_TRANSB) return set(&product.transposed[1], value, bytes);
  if (what == CUBLASLT_MATMUL_DESC_EPILOGUE) return set(&product.epilogue, value, bytes);
  if (what == CUBLASLT_MATMUL_DESC_BIAS_POINTER) return set(&product.bias, value, bytes);
  if (what == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE) return set(&product.bias_type, value, bytes);
  if (what == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER) return set(&product.aux, value, bytes);
  if (what == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD) return set(&product.aux_step, value, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t step) {
  ENTER(cublasLtMatrixLayoutCreate);
  if (rows == 0 || columns == 0 || step < static_cast<int64_t>(rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, step});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  ENTER(cublasLtMatrixLayoutDestroy);
  return delete as<Layout>(made), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t made,
                                                cublasLtMatrixLayoutAttribute_t what,
                                                const void* value, size_t bytes) {
  ENTER(cublasLtMatrixLayoutSetAttribute);
  Layout& layout = *as<Layout>(made);
  if (what == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return set(&layout.batch, value, bytes);
  if (what == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    return set(&layout.batch_step, value, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  ENTER(cublasLtMatmulPreferenceCreate);
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
  ENTER(cublasLtMatmulPreferenceDestroy);
  return delete as<Preference>(made), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t made,
                                                    cublasLtMatmulPreferenceAttributes_t what,
                                                    const void* value, size_t bytes) {
  ENTER(cublasLtMatmulPreferenceSetAttribute);
  Preference& p = *as<Preference>(made);
  if (what == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return set(&p.workspace, value, bytes);
  if (what == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) return set(&p.reductions, value, bytes);
  for (int k = 0; k < 4; ++k) {
    if (what == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES + k)
      return set(&p.alignment[k], value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* found) {
  ENTER(cublasLtMatmulAlgoGetHeuristic);
  const Preference& p = *as<Preference>(preference);
  if (wanted < 1 || c != d) return CUBLAS_STATUS_INVALID_VALUE;
  if (!fits(*as<Product>(product), *as<Layout>(a), *as<Layout>(b), *as<Layout>(d)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if ((p.reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE) != 0) die("sums in any order are allowed");
  if ((p.reductions & CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE) != 0)
    die("partial sums are allowed to be rounded to the type of the output");
  const Product& asked = *as<Product>(product);
  const Layout& y = *as<Layout>(d);
  const bool has_bias = asked.has_bias();
  if (has_bias != (asked.bias != nullptr) || (has_bias && asked.bias_type != y.type))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (asked.has_aux() != (asked.aux != nullptr)) return CUBLAS_STATUS_INVALID_VALUE;
  if (asked.has_aux() && (asked.aux_step % (asked.is_aux_of_bits() ? 128 : 8) != 0 ||
                          asked.aux_step < static_cast<int64_t>(y.rows) || y.batch != 1))
    return CUBLAS_STATUS_INVALID_VALUE;
  // Some have no algorithm, so that what is done then is tested.
  *found = 0;
  if (asked.epilogue != CUBLASLT_EPILOGUE_DEFAULT && (y.type == CUDA_R_64F || y.rows % 7 == 0))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool reads_aux = asked.has_aux() && !asked.writes_aux();
  if (reads_aux && (p.alignment[0] | p.alignment[1] | p.alignment[3]) % 16 != 0)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  // Large ones want all the memory that they may have, small ones none.
  // The pointers of the bias and of aux say how those of each call will be aligned.
  const auto alignment = [](const void* declared) {
    const auto places = reinterpret_cast<uintptr_t>(declared) | 16;
    return static_cast<uint32_t>(places & -places);
  };
  Choice choice = {
      y.rows * y.columns < 64 ? 0 : p.workspace, {}, alignment(asked.bias), alignment(asked.aux)};
  std::copy(p.alignment, p.alignment + 4, choice.alignment);
  // Where several are asked for, the first is one that does not fit.
  const int last = wanted > 1 ? 1 : 0;
  results[0] = {};
  results[0].state = CUBLAS_STATUS_NOT_SUPPORTED;
  results[last] = {};
  std::memcpy(&results[last].algo, &choice, sizeof choice);
  results[last].workspaceSize = choice.workspace;
  return *found = last + 1, CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t bytes,
                              cudaStream_t stream) {
  ENTER(cublasLtMatmul);
  if (reinterpret_cast<Handle*>(handle)->magic != 0x17) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Work work = {*as<Product>(product),
                     *as<Layout>(a_layout),
                     *as<Layout>(b_layout),
                     *as<Layout>(d_layout),
                     a,
                     b,
                     d};
  if (c != d || c_layout != d_layout || !fits(work.product, work.a, work.b, work.d))
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool is_double = work.d.type == CUDA_R_64F;
  const double one =
      is_double ? *static_cast<const double*>(alpha) : *static_cast<const float*>(alpha);
  const double zero =
      is_double ? *static_cast<const double*>(beta) : *static_cast<const float*>(beta);
  if (one != 1 || zero != 0) die("alpha and beta are 1 and 0 here");
  Choice choice;
  std::memcpy(&choice, algorithm, sizeof choice);
  if (bytes < choice.workspace || (bytes > 0 && !tenon_fake_view(workspace, bytes)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!is_aligned(a, work.a, choice.alignment[0]) || !is_aligned(b, work.b, choice.alignment[1]) ||
      !is_aligned(d, work.d, choice.alignment[3]))
    die("a matrix is not aligned as it was declared");
  if (reinterpret_cast<uintptr_t>(work.product.bias) % choice.bias_alignment != 0)
    die("the bias is not aligned as it was when the algorithm was chosen");
  if (reinterpret_cast<uintptr_t>(work.product.aux) % choice.aux_alignment != 0)
    die("aux is not aligned as it was when the algorithm was chosen");
  const auto run = [](void* context) { multiply(*static_cast<Work*>(context)); };
  const auto release = [](void* context) { delete static_cast<Work*>(context); };
  if (!tenon_fake_put(reinterpret_cast<CUstream>(stream), "cublasLtMatmul", run, new Work(work),
                      release))
    return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
