// What cuBLASLt is told of a product: descriptors and the algorithm that it chose, once for each shape.
#include "product.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cuda {
namespace {

cudaDataType_t type_of(tn_dtype dtype) {
  return dtype == TN_FLOAT32   ? CUDA_R_32F
         : dtype == TN_FLOAT64 ? CUDA_R_64F
         : dtype == TN_FLOAT16 ? CUDA_R_16F
                               : CUDA_R_16BF;
}

// A power of two that divides where each matrix of the batch begins; at most 16, what the widest load needs.
// More would tell apart calls whose algorithm should be one: the eager one, the recorded one.
uint32_t alignment_of(const ColumnMatrix& matrix, tn_dtype dtype) {
  const uint64_t places = reinterpret_cast<uint64_t>(matrix.data) |
                          static_cast<uint64_t>(matrix.batch_step) * item_size(dtype) | 16;
  return static_cast<uint32_t>(places & -places);
}

// What decides the algorithm.
std::string key_of(const Product& p, int32_t index, cublasComputeType_t compute) {
  int64_t parts[21] = {index, p.dtype, p.batch, compute, p.epilogue, p.aux_step}, *at = parts + 6;
  for (const ColumnMatrix& m : p.matrices) {
    const int64_t flags = alignment_of(m, p.dtype) * 2 + m.is_transposed;
    for (const int64_t part : {m.rows, m.columns, m.step, m.batch_step, flags}) *at++ = part;
  }
  return {reinterpret_cast<const char*>(parts), sizeof parts};
}

template <class T>
struct Destroy;
#define TN_CUDA_DESCRIPTOR(Type, name)                                                 \
  template <>                                                                          \
  struct Destroy<Type> {                                                               \
    void operator()(Type made) const {                                                 \
      log_failure(cublaslt.cublasLt##name##Destroy(made), "cublasLt" #name "Destroy"); \
    }                                                                                  \
    using pointer = Type;                                                              \
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

tn_status* describe_layout(int32_t index, const ColumnMatrix& m, const Product& p,
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

tn_status* describe(int32_t index, const Product& p, cublasComputeType_t compute,
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
  const auto set = [&](cublasLtMatmulDescAttributes_t what, const auto& value) {
    return status_of(cublaslt.cublasLtMatmulDescSetAttribute(product, what, &value, sizeof value),
                     "cublasLtMatmulDescSetAttribute", index);
  };
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE, p.epilogue));
  if (p.bias) {
    // Until a call sets its own, the pointer says how those of all calls are aligned.
    void* const aligned = reinterpret_cast<void*>(Product::kBiasAlignment);
    TN_CUDA_TRY(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, aligned));
    TN_CUDA_TRY(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(p.dtype)));
  }
  if (p.aux_step > 0) {
    void* const aligned = reinterpret_cast<void*>(Product::kBiasAlignment);
    TN_CUDA_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aligned));
    TN_CUDA_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.aux_step));
  }
  for (int k = 0; k < 3; ++k)
    TN_CUDA_TRY(describe_layout(index, p.matrices[k], p, &descriptors->layouts[k]));
  return nullptr;
}

struct Plan {
  cublasLtHandle_t handle = nullptr;
  Descriptors descriptors;
  bool is_there = false;  // has cuBLASLt an algorithm?
  cublasLtMatmulAlgo_t algorithm;
  size_t workspace = 0;
  std::mutex mutex;  // while the descriptors have a call's bias and aux
};

// Algorithms that add partial sums in an order of their own are left out: equal calls have equal bits.
// So are those that round partial sums to halves.
tn_status* choose(int32_t index, const Product& p, size_t workspace, Plan* plan) {
  cublasLtMatmulPreference_t made = nullptr;
  TN_CUBLASLT_CALL(index, cublasLtMatmulPreferenceCreate, &made);
  const Owned<cublasLtMatmulPreference_t> preference(made);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
    return status_of(
        cublaslt.cublasLtMatmulPreferenceSetAttribute(made, what, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute", index);
  };
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{workspace}));
  const uint32_t ordered = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, ordered));
  const uint32_t y = alignment_of(p.matrices[2], p.dtype);
  TN_CUDA_TRY(
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.matrices[0], p.dtype)));
  TN_CUDA_TRY(
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.matrices[1], p.dtype)));
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, y));
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, y));
  const auto& layouts = plan->descriptors.layouts;
  // The best first; one of them may turn out not to fit.
  cublasLtMatmulHeuristicResult_t results[8] = {};
  int found = 0;
  const auto ask = [&] {
    return cublaslt.cublasLtMatmulAlgoGetHeuristic(
        plan->handle, plan->descriptors.product.get(), layouts[0].get(), layouts[1].get(),
        layouts[2].get(), layouts[2].get(), made, int{std::size(results)}, results, &found);
  };
  const cublasStatus_t asked = with_room(index, ask);
  // Some combinations that it cannot do are invalid values to it.
  if (asked == CUBLAS_STATUS_NOT_SUPPORTED || asked == CUBLAS_STATUS_INVALID_VALUE) return nullptr;
  TN_CUDA_TRY(status_of(asked, "cublasLtMatmulAlgoGetHeuristic", index));
  for (int i = 0; i < found && !plan->is_there; ++i) {
    plan->is_there = results[i].state == CUBLAS_STATUS_SUCCESS;
    plan->algorithm = results[i].algo;
    plan->workspace = results[i].workspaceSize;
  }
  return nullptr;
}

cublasComputeType_t compute_type(tn_dtype dtype) {
  if (dtype == TN_FLOAT64) return CUBLAS_COMPUTE_64F;
  return dtype == TN_FLOAT32 && is_tf32_allowed() ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                  : CUBLAS_COMPUTE_32F;
}

// The plan of the product, which is made at the first call with its shape.
tn_status* find_plan(int32_t index, const Product& p, std::shared_ptr<Plan>* plan) {
  static std::mutex mutex;
  static auto& plans = *new std::unordered_map<std::string, std::shared_ptr<Plan>>;
  constexpr size_t kMostPlans = 10'000;  // then it begins anew: who computes with ever new shapes
  const cublasComputeType_t compute = compute_type(p.dtype);
  const std::string key = key_of(p, index, compute);
  const std::lock_guard lock(mutex);
  if (const auto found = plans.find(key); found != plans.end())
    return *plan = found->second, nullptr;
  const Gpu* gpu = nullptr;
  TN_CUDA_TRY(find_gpu(index, &gpu));
  auto made = std::make_shared<Plan>();
  TN_CUDA_TRY(find_cublaslt(index, &made->handle));
  TN_CUDA_TRY(describe(index, p, compute, &made->descriptors));
  TN_CUDA_TRY(choose(index, p, gpu->workspace, made.get()));
  if (plans.size() >= kMostPlans) plans.clear();
  *plan = plans.emplace(key, std::move(made)).first->second;
  return nullptr;
}

tn_status* run(const Stream& stream, const Product& p, const Plan& plan, void* workspace) {
  const double one = 1, zero = 0;  // of the type in which it adds
  const float one_float = 1, zero_float = 0;
  const bool is_double = p.dtype == TN_FLOAT64;
  const auto& layouts = plan.descriptors.layouts;
  void* const y = const_cast<void*>(p.matrices[2].data);
  TN_CUBLASLT_CALL(stream.index, cublasLtMatmul, plan.handle, plan.descriptors.product.get(),
                   is_double ? static_cast<const void*>(&one) : &one_float, p.matrices[0].data,
                   layouts[0].get(), p.matrices[1].data, layouts[1].get(),
                   is_double ? static_cast<const void*>(&zero) : &zero_float, y, layouts[2].get(),
                   y, layouts[2].get(), &plan.algorithm, workspace, plan.workspace, stream.handle);
  return nullptr;
}

}  // namespace

ColumnMatrix dense(const void* data, int64_t rows, int64_t columns) {
  return {data, columns, rows, columns, 0, false};
}

ColumnMatrix dense_transposed(const void* data, int64_t rows, int64_t columns) {
  return {data, columns, rows, columns, 0, true};
}

tn_status* has_algorithm(int32_t index, const Product& product, bool* has) {
  std::shared_ptr<Plan> plan;
  TN_CUDA_TRY(find_plan(index, product, &plan));
  *has = plan->is_there;
  return nullptr;
}

std::string refused_products(int32_t index, std::span<const Product> products) {
  if (is_fork()) return "this process is a fork of one that used the device";
  Current current(index);
  tn_status* failed = current.take_failure();
  for (const Product& product : products) {
    bool has = false;
    if (!failed) failed = has_algorithm(index, product, &has);
    if (failed) return text_of(failed);
    if (!has) return "cuBLASLt has no algorithm for it";
  }
  return {};
}

tn_status* multiply(const tn_call* call, const Stream& stream, const Product& product) {
  std::shared_ptr<Plan> plan;
  TN_CUDA_TRY(find_plan(stream.index, product, &plan));
  if (!plan->is_there)
    return error(host, TN_UNSUPPORTED, "matmul: cuBLASLt has no algorithm for the shape (cuda:%d)",
                 stream.index);
  void* workspace = nullptr;
  if (plan->workspace > 0) TN_CUDA_TRY(host->workspace(call, plan->workspace, &workspace));
  if (!product.bias && !product.aux) return run(stream, product, *plan, workspace);
  const std::lock_guard lock(plan->mutex);
  const auto set = [&](cublasLtMatmulDescAttributes_t what, void* const& place) -> tn_status* {
    if (!place) return nullptr;
    TN_CUBLASLT_CALL(stream.index, cublasLtMatmulDescSetAttribute, plan->descriptors.product.get(),
                     what, &place, sizeof place);
    return nullptr;
  };
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias));
  TN_CUDA_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, product.aux));
  return run(stream, product, *plan, workspace);
}

}  // namespace cuda
