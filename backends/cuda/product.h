// Products by cuBLASLt, which counts in columns: y [m, n] in rows is y^T [n, m] in columns, and so
// y = a b is b^T times a^T there.
#pragma once

#include <array>
#include <span>
#include <string>

#include "cublaslt.h"
#include "stream.h"

namespace cuda {

// A matrix as columns: `rows` by `columns` numbers, `step` from column to column.
struct ColumnMatrix {
  const void* data;
  int64_t rows, columns, step, batch_step;
  bool is_transposed;  // the product reads it with rows and columns exchanged
};

// Row-major [rows, columns], or its transpose [columns, rows].
ColumnMatrix dense(const void* data, int64_t rows, int64_t columns);
ColumnMatrix dense_transposed(const void* data, int64_t rows, int64_t columns);

struct Product {
  std::array<ColumnMatrix, 3> matrices;  // b, a, y
  tn_dtype dtype;
  int64_t batch = 1;
  // What is done to each element of y before it is rounded, or what else is computed: with BGRADB the
  // sums over the rows of a^T, and with DRELU_BGRAD or DGELU_BGRAD those over the rows of y.
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  static constexpr uintptr_t kBiasAlignment = 16;
  void* bias = nullptr;  // of y's dtype, and aligned so; read, or with sums written
  // What the activation of a _AUX epilogue leaves for its gradient, a DRELU or DGELU: for ReLU a bit for
  // each element of y, and for GELU what it was given, of y's dtype. A row of y has aux_step of them
  // there, a multiple of kMaskStep or kSumsStep. Aligned as a bias is.
  static constexpr int64_t kMaskStep = 128, kSumsStep = 8;
  void* aux = nullptr;
  int64_t aux_step = 0;
};

// Has cuBLASLt an algorithm for it? A status only where cuBLASLt itself is missing or fails; the data
// of y may be NULL, and counts as aligned.
tn_status* has_algorithm(int32_t index, const Product& product, bool* has);
// Why a kernel that needs all of them cannot run; empty: it can. For `refusal` in OpKernel.
std::string refused_products(int32_t index, std::span<const Product> products);

// Puts it on the call's stream.
tn_status* multiply(const tn_call* call, const Stream& stream, const Product& product);

}  // namespace cuda
