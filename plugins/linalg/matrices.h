// What the kernels of this pack share: batches of matrices as they lie in memory, the loop over
// them on the threads there are, and how a failure names its matrix. Kernels get row-major tensors,
// and LAPACK, which goes column by column, sees these as their transposes.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>
#include <string>
#include <vector>

#include <tenon/plugin.hpp>

#include "lapack.h"

namespace tenon::linalg_pack {

using namespace tenon::plugin;

// Matrices [.., rows, columns], one behind the other. LAPACK counts by int.
struct Matrices {
  int64_t batch = 1;
  int rows = 0, columns = 0;
  int64_t size() const { return int64_t(rows) * columns; }
  int smaller() const { return std::min(rows, columns); }
};

// Those of a kernel's argument; the ops have seen that it has two dimensions. Refuses what LAPACK's
// int does not count: `squares` workspaces of the smaller size squared are among it.
inline Matrices matrices_of(const tn_tensor* t, int64_t squares = 1) {
  Matrices x;
  const int64_t rows = t->sizes[t->ndim - 2], columns = t->sizes[t->ndim - 1];
  const int64_t smaller = std::min(rows, columns);
  if (std::max(rows, columns) > INT_MAX / 64 || (smaller > 0 && rows > INT_MAX / columns) ||
      (smaller > 0 && smaller > INT_MAX / squares / smaller)) {
    fail("a matrix is " + std::to_string(rows) + " x " + std::to_string(columns) +
             ", which is more than LAPACK's numbers of 32 bits count",
         TN_UNSUPPORTED);
  }
  x.rows = int(rows), x.columns = int(columns);
  for (int32_t d = 0; d < t->ndim - 2; ++d) x.batch *= t->sizes[d];
  return x;
}

template <typename T>
const T* data_of(const Call& call, uint32_t i) {
  return static_cast<const T*>(call.tensor(i)->data);
}

// LAPACK wants leading dimensions of at least 1, also of nothing.
inline int leading(int n) { return std::max(1, n); }

// to [columns, rows] = from [rows, columns] transposed.
template <typename T>
void transpose(const T* from, int rows, int columns, T* to) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) to[int64_t(j) * rows + i] = from[int64_t(i) * columns + j];
  }
}

template <typename T>
bool all_finite(const T* x, int64_t n) {
  return std::all_of(x, x + n, [](T v) { return std::isfinite(v); });
}

// The size of a workspace, which LAPACK gives as a number of T, rounded to it perhaps downward.
template <typename T>
int workspace_size(T asked) {
  const double size = std::ceil(double(std::nextafter(asked, T(INFINITY))));
  return std::max(1, int(std::min(size, double(INT_MAX))));
}

// The first matrix of a batch for which a function gave an info other than 0.
struct Failure {
  int64_t index = -1;
  int info = 0;
  explicit operator bool() const { return index >= 0; }
};

// body(first, last, info) goes through the matrices first .. last - 1 and leaves LAPACK's info of
// each, which is 0 before. `operations`: those of one matrix, by which the threads share the batch.
// `told`: where the infos go instead of being failures, unless it is null.
template <typename Body>
Failure for_matrices(const Call& call, int64_t batch, double operations, const Body& body,
                     int* told = nullptr) {
  bool has_work = false;  // a batch of empty matrices may be larger than memory
  for (uint32_t i = 0; i < call.n_outputs(); ++i)
    has_work = has_work || (call.output(i) && call.output(i)->numel > 0);
  if (!has_work) return {};
  std::vector<int> untold(told ? 0 : static_cast<size_t>(batch));
  int* info = told ? told : untold.data();
  std::fill_n(info, batch, 0);
  const int64_t grain = 1 + int64_t(50000 / (operations + 1));
  call.parallel_for(0, batch, grain, [&](int64_t first, int64_t last) { body(first, last, info); });
  if (told) return {};
  const int* failed = std::find_if(info, info + batch, [](int of_one) { return of_one != 0; });
  if (failed == info + batch) return {};
  return {failed - info, *failed};
}

// Where a kernel leaves the infos, its last output; null where its argument `check` makes failures
// errors.
inline int* told_infos(const Call& call, uint32_t check) {
  return call.arg<bool>(check) ? nullptr : call.output_data<int>(call.n_outputs() - 1);
}

inline double cube(double n) { return n * n * n; }

// What a failure's matrix is called, where the batch has leading dimensions and where not.
inline std::string named(const Call& call, const Failure& failure) {
  if (call.tensor(0)->ndim == 2) return "the matrix";
  return "matrix " + std::to_string(failure.index) + " of the batch";
}

// A kernel for float32 and float64 of row-major tensors, by the name of its op. It promises nothing:
// it refuses by what it reads, and how LAPACK cuts its sums is the distribution's choice.
template <auto of_float, auto of_double>
void host_kernel(const char* op) {
  kernel(op, cpu, {.dtypes = floats | int32, .layout = Layout::contiguous}, [](const Call& call) {
    call.tensor(0)->dtype == TN_FLOAT32 ? of_float(call) : of_double(call);
  });
}

// The kernels of the files below, registered.
void factor_kernels();
void indefinite_kernels();
void solve_kernels();
void spectral_kernels();
void exponential_kernels();

}  // namespace tenon::linalg_pack
