// Kernels of the factors of Cholesky, LU and QR, and of the order of rows that pivots mean.
#include "matrices.h"

#include <numeric>

namespace tenon::linalg_pack {
namespace {

// _cholesky(a, check): a's lower triangle, which is LAPACK's upper one, is all that is read.
template <typename T>
void cholesky(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0));
  const T* a = data_of<T>(call, 0);
  T* out = call.output_data<T>();
  const int n = x.rows;
  const auto factor = [&](int64_t first, int64_t last, int* info) {
    for (int64_t i = first; i < last; ++i) {
      T* l = out + i * x.size();
      for (int row = 0; row < n; ++row) {
        const T* from = a + i * x.size() + int64_t(row) * n;
        T* to = l + int64_t(row) * n;
        std::copy_n(from, row + 1, to);
        std::fill(to + row + 1, to + n, T(0));
      }
      const int lda = leading(n);
      form<T>(spotrf_, dpotrf_)("U", &n, l, &lda, &info[i], 1);
    }
  };
  const Failure failure =
      for_matrices(call, x.batch, cube(n) / 3, factor, told_infos(call, /*check=*/1));
  if (failure) {
    fail(named(call, failure) + " is not positive definite: its leading minor of order " +
         std::to_string(failure.info) + " is not positive");
  }
}

// _lu(a, check): the factors in one matrix, and the row with which each was exchanged, from 1.
template <typename T>
void lu(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0));
  const T* a = data_of<T>(call, 0);
  T* out = call.output_data<T>();
  int* pivots = call.output_data<int>(1);
  const double operations = double(x.size()) * x.smaller();
  const auto factor = [&](int64_t first, int64_t last, int* info) {
    std::vector<T> columns(static_cast<size_t>(x.size()));
    const int lda = leading(x.rows);
    for (int64_t i = first; i < last; ++i) {
      transpose(a + i * x.size(), x.rows, x.columns, columns.data());
      form<T>(sgetrf_, dgetrf_)(&x.rows, &x.columns, columns.data(), &lda, pivots + i * x.smaller(),
                                &info[i]);
      transpose(columns.data(), x.columns, x.rows, out + i * x.size());
    }
  };
  const Failure failure =
      for_matrices(call, x.batch, operations, factor, told_infos(call, /*check=*/1));
  if (failure) {
    fail(named(call, failure) + " is singular: the diagonal element " +
         std::to_string(failure.info) + " of U is 0");
  }
}

// _permutation(pivots, n): where each row of L U is in the matrix that was factored.
void permutation(const Call& call) {
  const tn_tensor* t = call.tensor(0);
  const int64_t n = call.arg<int64_t>(1), steps = t->sizes[t->ndim - 1];
  const int* pivots = data_of<int>(call, 0);
  int64_t* out = call.output_data<int64_t>();
  const int64_t batch = steps == 0 ? (n == 0 ? 0 : call.output()->numel / n) : t->numel / steps;
  for (int64_t i = 0; i < batch; ++i) {
    int64_t* rows = out + i * n;
    std::iota(rows, rows + n, int64_t(0));
    for (int64_t k = 0; k < steps; ++k) {
      const int64_t with = int64_t(pivots[i * steps + k]) - 1;
      if (with < 0 || with >= n || k >= n) {
        fail("a pivot is " + std::to_string(with + 1) + ", expected 1 to " + std::to_string(n));
      }
      std::swap(rows[k], rows[with]);
    }
  }
}

// Of a matrix in LAPACK's order: the reflections of geqrf, which are in `a` below R, or Q, whose first
// columns are in `a` then.
template <typename T>
class Qr {
 public:
  Qr(const Matrices& x, int q_columns)
      : x_(x),
        q_columns_(q_columns),
        a_(static_cast<size_t>(x.rows) * static_cast<size_t>(std::max({1, x.columns, q_columns}))),
        tau_(static_cast<size_t>(leading(x.smaller()))) {
    T asked[2] = {1, 1};
    const int lda = leading(x.rows), query = -1, k = x.smaller();
    int info;
    form<T>(sgeqrf_, dgeqrf_)(&x.rows, &x.columns, a_.data(), &lda, tau_.data(), &asked[0], &query,
                              &info);
    if (q_columns > 0) {
      form<T>(sorgqr_, dorgqr_)(&x.rows, &q_columns, &k, a_.data(), &lda, tau_.data(), &asked[1],
                                &query, &info);
    }
    work_.resize(static_cast<size_t>(std::max(workspace_size(asked[0]), workspace_size(asked[1]))));
  }

  // out, of the sizes of the matrix, has R and below it the reflections; row-major.
  int reflect(const T* from, T* out, T* tau) {
    const int info = reflect(from);
    transpose(a_.data(), x_.columns, x_.rows, out);
    std::copy_n(tau_.data(), x_.smaller(), tau);
    return info;
  }
  // r [r_rows, columns] and q [rows, q_columns], row-major.
  int factor(const T* from, int r_rows, T* q, T* r) {
    const int lda = leading(x_.rows), lwork = int(work_.size()), k = x_.smaller();
    int info = reflect(from);
    for (int row = 0; row < r_rows; ++row) {
      for (int column = 0; column < x_.columns; ++column) {
        r[int64_t(row) * x_.columns + column] =
            column >= row ? a_[size_t(column) * size_t(x_.rows) + size_t(row)] : T(0);
      }
    }
    if (q_columns_ > 0) {
      form<T>(sorgqr_, dorgqr_)(&x_.rows, &q_columns_, &k, a_.data(), &lda, tau_.data(),
                                work_.data(), &lwork, &info);
      transpose(a_.data(), q_columns_, x_.rows, q);
    }
    return info;
  }

 private:
  int reflect(const T* from) {
    const int lda = leading(x_.rows), lwork = int(work_.size());
    int info = 0;
    transpose(from, x_.rows, x_.columns, a_.data());
    form<T>(sgeqrf_, dgeqrf_)(&x_.rows, &x_.columns, a_.data(), &lda, tau_.data(), work_.data(),
                              &lwork, &info);
    return info;
  }

  Matrices x_;
  int q_columns_;
  std::vector<T> a_, tau_, work_;
};

// Has a diagonal of R an element that is below `least` times the greatest? Its number, from 1.
template <typename T>
int dependent_column(const T* r, int columns, int n, double least) {
  double greatest = 0;
  for (int i = 0; i < n; ++i) {
    greatest = std::max(greatest, std::fabs(double(r[int64_t(i) * columns + i])));
  }
  for (int i = 0; i < n; ++i) {
    if (std::fabs(double(r[int64_t(i) * columns + i])) <= least * greatest) return i + 1;
  }
  return 0;
}

// _qr(a, complete, least): refuses matrices without full rank where least is above 0.
template <typename T>
void qr(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0));
  const double least = call.arg<double>(2);
  const int kept = call.arg<bool>(1) ? x.rows : x.smaller();  // columns of Q, rows of R
  if (int64_t(kept) * x.rows > INT_MAX) {
    fail("Q has " + std::to_string(x.rows) + " x " + std::to_string(kept) +
             " elements, which is more than LAPACK's numbers of 32 bits count",
         TN_UNSUPPORTED);
  }
  const T* a = data_of<T>(call, 0);
  T *q = call.output_data<T>(0), *r = call.output_data<T>(1);
  const double operations = 4.0 * x.rows * kept * leading(x.columns);
  const Failure failure =
      for_matrices(call, x.batch, operations, [&](int64_t first, int64_t last, int* info) {
        Qr<T> matrix(x, kept);
        for (int64_t i = first; i < last; ++i) {
          T* upper = r + i * kept * x.columns;
          info[i] = matrix.factor(a + i * x.size(), kept, q + i * x.rows * kept, upper);
          if (least > 0) info[i] = dependent_column(upper, x.columns, x.smaller(), least);
        }
      });
  if (failure) {
    fail(named(call, failure) + " has not full rank: element " + std::to_string(failure.info) +
         " of the diagonal of R is 0 to within rounding");
  }
}

// _geqrf(a)
template <typename T>
void geqrf(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0));
  const T* a = data_of<T>(call, 0);
  T *out = call.output_data<T>(0), *tau = call.output_data<T>(1);
  const double operations = 2.0 * double(x.size()) * x.smaller();
  for_matrices(call, x.batch, operations, [&](int64_t first, int64_t last, int* info) {
    Qr<T> matrix(x, 0);
    for (int64_t i = first; i < last; ++i) {
      info[i] = matrix.reflect(a + i * x.size(), out + i * x.size(), tau + i * x.smaller());
    }
  });
}

}  // namespace

void factor_kernels() {
  host_kernel<cholesky<float>, cholesky<double>>("linalg._cholesky");
  host_kernel<lu<float>, lu<double>>("linalg._lu");
  host_kernel<permutation, permutation>("linalg._permutation");
  host_kernel<qr<float>, qr<double>>("linalg._qr");
  host_kernel<geqrf<float>, geqrf<double>>("linalg._geqrf");
}

}  // namespace tenon::linalg_pack
