#include <map>
#include <mutex>

#include "cublaslt.h"

namespace cuda {

tn_status* find_cublaslt(int32_t index, cublasLtHandle_t* handle) {
  static std::mutex mutex;
  static auto& handles = *new std::map<int32_t, cublasLtHandle_t>;
  const std::lock_guard lock(mutex);
  if (const std::string& why = why_no_cublaslt(); !why.empty())
    return error(host, TN_NOT_FOUND, "no cuBLASLt, which multiplies matrices (%s)", why.c_str());
  cublasLtHandle_t& found = handles[index];
  if (!found) TN_CUBLASLT_CALL(index, cublasLtCreate, &found);
  *handle = found;
  return nullptr;
}

void log_failure(cublasStatus_t result, const char* entry) {
  if (result == CUBLAS_STATUS_SUCCESS) return;
  log_failure(
      error(host, TN_INTERNAL, "%s: %s (cuda)", entry, cublaslt.cublasLtGetStatusString(result)));
}

tn_status* status_of(cublasStatus_t result, const char* entry, int32_t index) {
  if (result == CUBLAS_STATUS_SUCCESS) return nullptr;
  tn_code code = TN_INTERNAL;
  if (lacks_memory(result)) code = TN_OUT_OF_MEMORY;
  if (result == CUBLAS_STATUS_NOT_SUPPORTED || result == CUBLAS_STATUS_ARCH_MISMATCH)
    code = TN_UNSUPPORTED;
  if (result == CUBLAS_STATUS_INVALID_VALUE) code = TN_INVALID_ARGUMENT;
  return error(host, code, "%s: %s (%s:%d)", entry, cublaslt.cublasLtGetStatusString(result),
               kDeviceName, index);
}

}  // namespace cuda
