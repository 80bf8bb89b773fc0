// Products by cuBLASLt, which counts in columns: y [m, n] in rows is y^T [n, m] in columns, and so
// the product is b^T times a^T. A matrix whose rows or columns are dense is read where it lies; any
// other is copied to the workspace first. Algorithms are chosen once for each shape.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "cublaslt.h"
#include "kernel.h"
#include "program_text.h"

namespace cuda {
namespace {

// One of the three as columns: `rows` by `columns` numbers, `step` from column to column.
struct Matrix {
  const void* data;
  int64_t rows, columns, step, batch_step;
  bool is_transposed;  // the product reads it with rows and columns exchanged
};

cudaDataType_t type_of(tn_dtype dtype) {
  return dtype == TN_FLOAT32   ? CUDA_R_32F
         : dtype == TN_FLOAT64 ? CUDA_R_64F
         : dtype == TN_FLOAT16 ? CUDA_R_16F
                               : CUDA_R_16BF;
}

// x [batch, rows, columns] as rows are counted; its transpose as columns are.
bool as_columns(const tn_tensor& x, Matrix* matrix) {
  const int64_t rows = x.sizes[1], columns = x.sizes[2];
  // The stride along a dimension of size 1 is never used.
  const int64_t row_step = rows == 1 ? columns : x.strides[1];
  const int64_t column_step = columns == 1 ? rows : x.strides[2];
  const int64_t batch_step = x.sizes[0] == 1 ? 0 : x.strides[0];
  if ((columns == 1 || column_step == 1) && row_step >= columns) {
    *matrix = {x.data, columns, rows, row_step, batch_step, false};
  } else if ((rows == 1 || row_step == 1) && column_step >= rows) {
    *matrix = {x.data, rows, columns, column_step, batch_step, true};
  } else {
    return false;
  }
  return batch_step >= 0;
}

// The matrix where it lies, or its copy in rows.
tn_status* read_matrix(const tn_call* call, const Stream& stream, const tn_tensor& x,
                       Matrix* matrix) {
  if (as_columns(x, matrix)) return nullptr;
  tn_tensor dense = x, *output = &dense;
  const int64_t strides[] = {x.sizes[1] * x.sizes[2], x.sizes[2], 1};
  dense.strides = strides;
  const auto bytes = static_cast<uint64_t>(x.numel) * item_size(x.dtype);
  TN_CUDA_TRY(host->workspace(call, bytes, &dense.data));
  tn_value from = {TN_KIND_TENSOR};
  from.as.tensor = const_cast<tn_tensor*>(&x);
  tn_call copying = *call;
  copying.args = &from;
  copying.n_args = 1;
  copying.outputs = &output;
  TN_CUDA_TRY(copy(&copying, stream));
  as_columns(dense, matrix);
  return nullptr;
}

// A power of two, at most 256, that divides where each matrix of the batch begins.
uint32_t alignment_of(const Matrix& matrix, tn_dtype dtype) {
  const uint64_t places = reinterpret_cast<uint64_t>(matrix.data) |
                          static_cast<uint64_t>(matrix.batch_step) * item_size(dtype) | 256;
  return static_cast<uint32_t>(places & -places);
}

struct Problem {
  std::array<Matrix, 3> matrices;  // b, a, y
  tn_dtype dtype;
  int64_t batch;
};

// What decides the algorithm.
using Key = std::array<int64_t, 20>;
Key key_of(const Problem& p, int32_t index, cublasComputeType_t compute) {
  Key key = {index, p.dtype, p.batch, compute};
  size_t at = 4;
  for (const Matrix& m : p.matrices) {
    const int64_t shape = m.rows, flags = alignment_of(m, p.dtype) * 2 + m.is_transposed;
    for (const int64_t part : {shape, m.columns, m.step, m.batch_step, flags}) key[at++] = part;
  }
  return key;
}

template <class T>
struct Destroy;
#define TN_CUDA_DESCRIPTOR(Type, name)                                           \
  template <>                                                                    \
  struct Destroy<Type> {                                                         \
    void operator()(Type made) const { cublaslt.cublasLt##name##Destroy(made); } \
    using pointer = Type;                                                        \
  };
TN_CUDA_DESCRIPTOR(cublasLtMatmulDesc_t, MatmulDesc)
TN_CUDA_DESCRIPTOR(cublasLtMatrixLayout_t, MatrixLayout)
TN_CUDA_DESCRIPTOR(cublasLtMatmulPreference_t, MatmulPreference)
template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Destroy<T>>;

struct Descriptors {
  Owned<cublasLtMatmulDesc_t> product;
  Owned<cublasLtMatrixLayout_t> layouts[3];
};

tn_status* describe_layout(int32_t index, const Matrix& m, const Problem& p,
                           Owned<cublasLtMatrixLayout_t>* layout) {
  cublasLtMatrixLayout_t made = nullptr;
  TN_CUBLASLT_CALL(index, cublasLtMatrixLayoutCreate, &made, type_of(p.dtype),
                   static_cast<uint64_t>(m.rows), static_cast<uint64_t>(m.columns), m.step);
  layout->reset(made);
  const auto batch = static_cast<int32_t>(p.batch);
  TN_CUBLASLT_CALL(index, cublasLtMatrixLayoutSetAttribute, made,
                   CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
  TN_CUBLASLT_CALL(index, cublasLtMatrixLayoutSetAttribute, made,
                   CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &m.batch_step, sizeof m.batch_step);
  return nullptr;
}

tn_status* describe(int32_t index, const Problem& p, cublasComputeType_t compute,
                    Descriptors* descriptors) {
  cublasLtMatmulDesc_t product = nullptr;
  TN_CUBLASLT_CALL(index, cublasLtMatmulDescCreate, &product, compute,
                   p.dtype == TN_FLOAT64 ? CUDA_R_64F : CUDA_R_32F);
  descriptors->product.reset(product);
  for (int k = 0; k < 2; ++k) {
    const cublasOperation_t read = p.matrices[k].is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    TN_CUBLASLT_CALL(index, cublasLtMatmulDescSetAttribute, product,
                     k == 0 ? CUBLASLT_MATMUL_DESC_TRANSA : CUBLASLT_MATMUL_DESC_TRANSB, &read,
                     sizeof read);
  }
  for (int k = 0; k < 3; ++k)
    TN_CUDA_TRY(describe_layout(index, p.matrices[k], p, &descriptors->layouts[k]));
  return nullptr;
}

// Those that add partial sums in an order of their own are left out: equal calls have equal bits.
tn_status* choose(int32_t index, cublasLtHandle_t handle, const Problem& p, const Descriptors& d,
                  size_t workspace, cublasLtMatmulAlgo_t* algorithm) {
  cublasLtMatmulPreference_t made = nullptr;
  TN_CUBLASLT_CALL(index, cublasLtMatmulPreferenceCreate, &made);
  const Owned<cublasLtMatmulPreference_t> preference(made);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
    return status_of(
        cublaslt.cublasLtMatmulPreferenceSetAttribute(made, what, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute", index);
  };
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{workspace}));
  const uint32_t ordered =
      CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, ordered));
  const uint32_t a = alignment_of(p.matrices[0], p.dtype), b = alignment_of(p.matrices[1], p.dtype);
  const uint32_t y = alignment_of(p.matrices[2], p.dtype);
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, a));
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, b));
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, y));
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, y));
  cublasLtMatmulHeuristicResult_t result = {};
  int found = 0;
  TN_CUBLASLT_CALL(index, cublasLtMatmulAlgoGetHeuristic, handle, d.product.get(),
                   d.layouts[0].get(), d.layouts[1].get(), d.layouts[2].get(), d.layouts[2].get(),
                   made, 1, &result, &found);
  if (found == 0)
    return error(host, TN_UNSUPPORTED, "matmul: cuBLASLt has no algorithm for the shape (cuda:%d)",
                 index);
  *algorithm = result.algo;
  return nullptr;
}

cublasComputeType_t compute_type(tn_dtype dtype) {
  static const bool tf32 = [] {
    const char* wish = std::getenv("TENON_CUDA_TF32");
    return wish && std::string(wish) == "1";
  }();
  if (dtype == TN_FLOAT64) return CUBLAS_COMPUTE_64F;
  return dtype == TN_FLOAT32 && tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

}  // namespace

tn_status* matmul(const tn_call* call, const Stream& stream) {
  const tn_tensor& y = *call->outputs[0];
  Problem p = {{}, y.dtype, y.sizes[0]};
  TN_CUDA_TRY(read_matrix(call, stream, *call->args[1].as.tensor, &p.matrices[0]));
  TN_CUDA_TRY(read_matrix(call, stream, *call->args[0].as.tensor, &p.matrices[1]));
  p.matrices[2] = {y.data, y.sizes[2], y.sizes[1], y.sizes[2], y.sizes[1] * y.sizes[2], false};

  cublasLtHandle_t handle = nullptr;
  TN_CUDA_TRY(find_cublaslt(stream.index, &handle));
  const cublasComputeType_t compute = compute_type(y.dtype);
  Descriptors d;
  TN_CUDA_TRY(describe(stream.index, p, compute, &d));
  const Gpu* gpu = nullptr;
  TN_CUDA_TRY(find_gpu(stream.index, &gpu));
  void* workspace = nullptr;
  TN_CUDA_TRY(host->workspace(call, gpu->workspace, &workspace));
  cublasLtMatmulAlgo_t algorithm;
  {
    static std::mutex mutex;
    static auto& chosen = *new std::map<Key, cublasLtMatmulAlgo_t>;
    const std::lock_guard lock(mutex);
    const Key key = key_of(p, stream.index, compute);
    auto found = chosen.find(key);
    if (found == chosen.end()) {
      TN_CUDA_TRY(choose(stream.index, handle, p, d, gpu->workspace, &algorithm));
      found = chosen.emplace(key, algorithm).first;
    }
    algorithm = found->second;
  }
  const double one = 1, zero = 0;  // of the type in which it adds
  const float one_float = 1, zero_float = 0;
  const bool is_double = y.dtype == TN_FLOAT64;
  TN_CUBLASLT_CALL(stream.index, cublasLtMatmul, handle, d.product.get(),
                   is_double ? static_cast<const void*>(&one) : &one_float, p.matrices[0].data,
                   d.layouts[0].get(), p.matrices[1].data, d.layouts[1].get(),
                   is_double ? static_cast<const void*>(&zero) : &zero_float, y.data,
                   d.layouts[2].get(), y.data, d.layouts[2].get(), &algorithm, workspace,
                   gpu->workspace, stream.handle);
  return nullptr;
}

}  // namespace cuda
