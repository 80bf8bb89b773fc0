// Kernels of inverses, of solutions of linear equations, and of adjugates.
#include "matrices.h"

namespace tenon::linalg_pack {
namespace {

[[noreturn]] void refuse_singular(const Call& call, const Failure& failure) {
  fail(named(call, failure) + " is singular: a pivot, number " + std::to_string(failure.info) +
       ", is 0");
}

// _inv(a, check): the inverse of the transpose is the transpose of the inverse, so nothing is
// transposed. Without check, infinities where there is none.
template <typename T>
void inv(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0));
  const T* a = data_of<T>(call, 0);
  T* out = call.output_data<T>();
  const int n = x.rows;
  const auto invert = [&](int64_t first, int64_t last, int* info) {
    const int lda = leading(n), lwork = leading(n) * 64;
    std::vector<int> pivots(static_cast<size_t>(lda));
    std::vector<T> work(static_cast<size_t>(lwork));
    for (int64_t i = first; i < last; ++i) {
      T* y = out + i * x.size();
      std::copy_n(a + i * x.size(), x.size(), y);
      form<T>(sgetrf_, dgetrf_)(&n, &n, y, &lda, pivots.data(), &info[i]);
      if (info[i] == 0) {
        form<T>(sgetri_, dgetri_)(&n, y, &lda, pivots.data(), work.data(), &lwork, &info[i]);
      } else {
        std::fill_n(y, x.size(), T(INFINITY));
      }
    }
  };
  const Failure failure =
      for_matrices(call, x.batch, 2 * cube(n), invert, told_infos(call, /*check=*/1));
  if (failure) refuse_singular(call, failure);
}

// _solve(a, b): b has a's leading dimensions.
template <typename T>
void solve(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0)), y = matrices_of(call.tensor(1));
  const T *a = data_of<T>(call, 0), *b = data_of<T>(call, 1);
  T* out = call.output_data<T>();
  const int n = x.rows;
  const Failure failure =
      for_matrices(call, x.batch, cube(n) + 2.0 * double(y.size()) * n,
                   [&](int64_t first, int64_t last, int* info) {
                     const int ld = leading(n);
                     std::vector<int> pivots(static_cast<size_t>(ld));
                     std::vector<T> lu(static_cast<size_t>(x.size()));
                     std::vector<T> columns(static_cast<size_t>(y.size()));
                     for (int64_t i = first; i < last; ++i) {
                       std::copy_n(a + i * x.size(), x.size(), lu.data());
                       form<T>(sgetrf_, dgetrf_)(&n, &n, lu.data(), &ld, pivots.data(), &info[i]);
                       if (info[i] != 0) continue;
                       transpose(b + i * y.size(), n, y.columns, columns.data());
                       form<T>(sgetrs_, dgetrs_)("T", &n, &y.columns, lu.data(), &ld, pivots.data(),
                                                 columns.data(), &ld, &info[i], 1);
                       transpose(columns.data(), y.columns, n, out + i * y.size());
                     }
                   });
  if (failure) refuse_singular(call, failure);
}

// _solve_triangular(a, b, upper, unitriangular): a x = b is, transposed, an equation with the
// triangle on the right, which is on the other side of its diagonal.
template <typename T>
void solve_triangular(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0)), y = matrices_of(call.tensor(1));
  const char* uplo = call.arg<bool>(2) ? "L" : "U";
  const char* diagonal = call.arg<bool>(3) ? "U" : "N";
  const T *a = data_of<T>(call, 0), *b = data_of<T>(call, 1);
  T* out = call.output_data<T>();
  const int n = x.rows;
  for_matrices(call, x.batch, double(y.size()) * n, [&](int64_t first, int64_t last, int*) {
    const int lda = leading(n), ldb = leading(y.columns);
    const T one = 1;
    for (int64_t i = first; i < last; ++i) {
      T* solution = out + i * y.size();
      std::copy_n(b + i * y.size(), y.size(), solution);
      form<T>(strsm_, dtrsm_)("R", uplo, "N", diagonal, &y.columns, &n, &one, a + i * x.size(),
                              &lda, solution, &ldb, 1, 1, 1, 1);
    }
  });
}

// The sign of an orthogonal matrix' determinant; the matrix is overwritten.
template <typename T>
T sign_of_orthogonal(int n, T* q, int* pivots) {
  int info;
  form<T>(sgetrf_, dgetrf_)(&n, &n, q, &n, pivots, &info);
  T sign = 1;
  for (int i = 0; i < n; ++i) {
    if (pivots[i] != i + 1) sign = -sign;
    if (q[int64_t(i) * n + i] < 0) sign = -sign;
  }
  return sign;
}

// The adjugate of x = u s vh is det(u) det(vh) vh^T adj(s) u^T, where adj(s) has on its diagonal the
// products of all other singular values: it is there for singular matrices, too.
template <typename T>
void adjugate_of(const T* x, int n, T* work, int lwork, int* iwork, T* scratch, T* out, int* info) {
  const int64_t size = int64_t(n) * n;
  T *a = scratch, *u = a + size, *vh = u + size, *s = vh + size, *others = s + n;
  std::copy_n(x, size, a);
  // LAPACK sees the transpose vh^T s u^T, and leaves vh and u as they lie here.
  form<T>(sgesdd_, dgesdd_)("A", &n, &n, a, &n, s, vh, &n, u, &n, work, &lwork, iwork, info, 1);
  if (*info != 0) return;
  for (int i = 0; i < n; ++i) {
    others[i] = 1;
    for (int j = 0; j < n; ++j) others[i] *= j == i ? T(1) : s[j];
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      T sum = 0;
      for (int k = 0; k < n; ++k) sum += vh[int64_t(k) * n + i] * others[k] * u[int64_t(j) * n + k];
      out[int64_t(i) * n + j] = sum;
    }
  }
  const T sign = sign_of_orthogonal(n, u, iwork) * sign_of_orthogonal(n, vh, iwork);
  for (int64_t i = 0; i < size; ++i) out[i] *= sign;
}

// _adjugate(a)
template <typename T>
void adjugate(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0), 8);
  const T* a = data_of<T>(call, 0);
  T* out = call.output_data<T>();
  const int n = x.rows;
  if (n == 0) return;
  const Failure failure =
      for_matrices(call, x.batch, 20 * cube(n), [&](int64_t first, int64_t last, int* info) {
        T asked = 1;
        const int query = -1;
        int ignored;
        std::vector<int> iwork(static_cast<size_t>(n) * 8);
        form<T>(sgesdd_, dgesdd_)("A", &n, &n, nullptr, &n, nullptr, nullptr, &n, nullptr, &n,
                                  &asked, &query, iwork.data(), &ignored, 1);
        const int lwork = workspace_size(asked);
        std::vector<T> work(static_cast<size_t>(lwork));
        std::vector<T> scratch(static_cast<size_t>(3 * x.size() + 2 * n));
        for (int64_t i = first; i < last; ++i) {
          T* y = out + i * x.size();
          if (!all_finite(a + i * x.size(), x.size())) {
            std::fill_n(y, x.size(), T(NAN));
            continue;
          }
          adjugate_of(a + i * x.size(), n, work.data(), lwork, iwork.data(), scratch.data(), y,
                      &info[i]);
        }
      });
  if (failure) fail(named(call, failure) + ": the search for its singular values did not end");
}

}  // namespace

void solve_kernels() {
  host_kernel<inv<float>, inv<double>>("linalg._inv");
  host_kernel<solve<float>, solve<double>>("linalg._solve");
  host_kernel<solve_triangular<float>, solve_triangular<double>>("linalg._solve_triangular");
  host_kernel<adjugate<float>, adjugate<double>>("linalg._adjugate");
}

}  // namespace tenon::linalg_pack
