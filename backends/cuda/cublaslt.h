// cuBLASLt: its entries in one table, which is filled at the first product.
#pragma once

#include <cublasLt.h>

#include "driver.h"

namespace cuda {

#define TN_CUDA_CUBLASLT(ROW)               \
  ROW(cublasLtCreate)                       \
  ROW(cublasLtGetStatusString)              \
  ROW(cublasLtMatmulDescCreate)             \
  ROW(cublasLtMatmulDescDestroy)            \
  ROW(cublasLtMatmulDescSetAttribute)       \
  ROW(cublasLtMatrixLayoutCreate)           \
  ROW(cublasLtMatrixLayoutDestroy)          \
  ROW(cublasLtMatrixLayoutSetAttribute)     \
  ROW(cublasLtMatmulPreferenceCreate)       \
  ROW(cublasLtMatmulPreferenceDestroy)      \
  ROW(cublasLtMatmulPreferenceSetAttribute) \
  ROW(cublasLtMatmulAlgoGetHeuristic)       \
  ROW(cublasLtMatmul)

struct CublasLt {
  TN_CUDA_CUBLASLT(TN_CUDA_MEMBER)
};
extern CublasLt cublaslt;

// Opens the library at the first call. Empty: it is open. By any thread.
const std::string& why_no_cublaslt();

// The handle of a device, whose context is current; it lives as long as the process.
tn_status* find_cublaslt(int32_t index, cublasLtHandle_t* handle);

// Of what gives back, whose caller hears nothing.
void log_failure(cublasStatus_t result, const char* entry);

template <>
inline bool lacks_memory(cublasStatus_t result) {
  return result == CUBLAS_STATUS_ALLOC_FAILED;
}
tn_status* status_of(cublasStatus_t result, const char* entry, int32_t index);
#define TN_CUBLASLT_CALL(index, entry, ...)                                                  \
  TN_CUDA_TRY(::cuda::status_of(                                                             \
      ::cuda::with_room(index, [&] { return ::cuda::cublaslt.entry(__VA_ARGS__); }), #entry, \
      index))

}  // namespace cuda
