// Kernels of the factors l d l^T of symmetric matrices, and of solutions by them.
#include "matrices.h"

namespace tenon::linalg_pack {
namespace {

// _ldl(a, check): a's lower triangle is all that is read.
template <typename T>
void ldl(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0));
  const T* a = data_of<T>(call, 0);
  T* out = call.output_data<T>(0);
  int* pivots = call.output_data<int>(1);
  const int n = x.rows;
  const auto factor = [&](int64_t first, int64_t last, int* info) {
    const int lda = leading(n), query = -1;
    T asked = 1;
    int ignored;
    std::vector<T> columns(static_cast<size_t>(x.size()));
    form<T>(ssytrf_, dsytrf_)("L", &n, columns.data(), &lda, pivots + first * n, &asked, &query,
                              &ignored, 1);
    const int lwork = workspace_size(asked);
    std::vector<T> work(static_cast<size_t>(lwork));
    for (int64_t i = first; i < last; ++i) {
      T* ld = out + i * x.size();
      transpose(a + i * x.size(), n, n, columns.data());
      form<T>(ssytrf_, dsytrf_)("L", &n, columns.data(), &lda, pivots + i * n, work.data(), &lwork,
                                &info[i], 1);
      transpose(columns.data(), n, n, ld);
      for (int row = 0; row < n; ++row) {
        std::fill(ld + int64_t(row) * n + row + 1, ld + int64_t(row + 1) * n, T(0));
      }
    }
  };
  const Failure failure =
      for_matrices(call, x.batch, cube(n) / 3, factor, told_infos(call, /*check=*/1));
  if (failure) {
    fail(named(call, failure) + " is singular: the diagonal element " +
         std::to_string(failure.info) + " of D is 0 or NaN");
  }
}

// LAPACK exchanges rows by the numbers that it is given, without a look at them: n of them in 1 .. n,
// or the negative of one, twice, for a block of two rows.
bool are_pivots(const int* pivots, int n) {
  for (int k = 0; k < n; ++k) {
    const int with = pivots[k];
    if (with == 0 || with < -n || with > n) return false;
    if (with < 0 && (++k == n || pivots[k] != with)) return false;
  }
  return true;
}

// _ldl_solve(ld, pivots, b): b has ld's leading dimensions.
template <typename T>
void ldl_solve(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0)), y = matrices_of(call.tensor(2));
  const T *ld = data_of<T>(call, 0), *b = data_of<T>(call, 2);
  const int* pivots = data_of<int>(call, 1);
  T* out = call.output_data<T>();
  const int n = x.rows;
  const auto solve = [&](int64_t first, int64_t last, int* info) {
    const int lda = leading(n);
    std::vector<T> factors(static_cast<size_t>(x.size())), columns(static_cast<size_t>(y.size()));
    for (int64_t i = first; i < last; ++i) {
      if (!are_pivots(pivots + i * n, n)) {
        info[i] = 1;
        continue;
      }
      transpose(ld + i * x.size(), n, n, factors.data());
      transpose(b + i * y.size(), n, y.columns, columns.data());
      form<T>(ssytrs_, dsytrs_)("L", &n, &y.columns, factors.data(), &lda, pivots + i * n,
                                columns.data(), &lda, &info[i], 1);
      transpose(columns.data(), y.columns, n, out + i * y.size());
    }
  };
  const Failure failure = for_matrices(call, x.batch, 2.0 * double(y.size()) * n, solve);
  if (failure) {
    fail(named(call, failure) +
         " has pivots that ldl_factor does not give: expected each in 1 to " + std::to_string(n) +
         ", or the negative of one, twice, for a block of two rows");
  }
}

}  // namespace

void indefinite_kernels() {
  host_kernel<ldl<float>, ldl<double>>("linalg._ldl");
  host_kernel<ldl_solve<float>, ldl_solve<double>>("linalg._ldl_solve");
}

}  // namespace tenon::linalg_pack
