#include "cublaslt.h"

namespace cuda {

CublasLt cublaslt = {};

namespace {

std::string open_cublaslt() {
  Library library("libcublasLt.so." + std::to_string(CUDA_VERSION / 1000));
  CublasLt table = {};
  if (library.is_whole()) {
    TN_CUDA_CUBLASLT(TN_CUDA_FILL)
  }
  if (library.is_whole()) cublaslt = table;
  return library.why();
}

}  // namespace

const std::string& why_no_cublaslt() {
  static const std::string& why = *new std::string(open_cublaslt());
  return why;
}

}  // namespace cuda
