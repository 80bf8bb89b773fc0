// Kernels of eigenvalues of symmetric matrices and of singular values, with their vectors or
// without. LAPACK's searches need not end where there is NaN, so matrices with it are refused first.
#include "matrices.h"

namespace tenon::linalg_pack {
namespace {

constexpr int kNotFinite = -1;

[[noreturn]] void refuse(const Call& call, const Failure& failure) {
  fail(named(call, failure) + (failure.info == kNotFinite
                                   ? " has elements that are infinite or NaN"
                                   : ": the search for its values did not end; it is "
                                     "ill-conditioned, or many of them are equal"));
}

// _eigh(a, upper) and _eigvalsh(a, upper). The row-major lower triangle is LAPACK's upper one.
template <typename T, bool vectors>
void eigh(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0), 3);
  const char *uplo = call.arg<bool>(1) ? "L" : "U", *job = vectors ? "V" : "N";
  const T* a = data_of<T>(call, 0);
  T* values = call.output_data<T>(0);
  T* out = vectors ? call.output_data<T>(1) : nullptr;
  const int n = x.rows;
  if (n == 0) return;
  const Failure failure =
      for_matrices(call, x.batch, 9 * cube(n), [&](int64_t first, int64_t last, int* info) {
        T asked = 1;
        const int query = -1;
        int whole = 1, ignored;
        form<T>(ssyevd_, dsyevd_)(job, uplo, &n, nullptr, &n, nullptr, &asked, &query, &whole,
                                  &query, &ignored, 1, 1);
        const int lwork = workspace_size(asked), liwork = std::max(1, whole);
        std::vector<T> matrix(static_cast<size_t>(x.size())), work(static_cast<size_t>(lwork));
        std::vector<int> iwork(static_cast<size_t>(liwork));
        for (int64_t i = first; i < last; ++i) {
          const T* from = a + i * x.size();
          if (!all_finite(from, x.size())) {
            info[i] = kNotFinite;
            continue;
          }
          std::copy_n(from, x.size(), matrix.data());
          form<T>(ssyevd_, dsyevd_)(job, uplo, &n, matrix.data(), &n, values + i * n, work.data(),
                                    &lwork, iwork.data(), &liwork, &info[i], 1, 1);
          if (vectors) transpose(matrix.data(), n, n, out + i * x.size());
        }
      });
  if (failure) refuse(call, failure);
}

// Singular values of one matrix after the other. LAPACK sees x^T = v s u^T: what it calls u lies as
// vh does here, and what it calls vt lies as u.
template <typename T>
class Svd {
 public:
  Svd(const Matrices& x, const char* job, int kept_u)
      : x_(x),
        job_(job),
        kept_u_(leading(kept_u)),
        a_(static_cast<size_t>(x.size())),
        iwork_(static_cast<size_t>(x.smaller()) * 8) {
    T asked = 1;
    const int query = -1;
    int ignored;
    form<T>(sgesdd_, dgesdd_)(job_, &x_.columns, &x_.rows, nullptr, &x_.columns, nullptr, nullptr,
                              &x_.columns, nullptr, &kept_u_, &asked, &query, iwork_.data(),
                              &ignored, 1);
    lwork_ = workspace_size(asked);
    work_.resize(static_cast<size_t>(lwork_));
  }
  int find(const T* from, T* u, T* s, T* vh) {
    if (!all_finite(from, x_.size())) return kNotFinite;
    std::copy_n(from, x_.size(), a_.data());
    int info = 0;
    form<T>(sgesdd_, dgesdd_)(job_, &x_.columns, &x_.rows, a_.data(), &x_.columns, s, vh,
                              &x_.columns, u, &kept_u_, work_.data(), &lwork_, iwork_.data(), &info,
                              1);
    return info;
  }

 private:
  Matrices x_;
  const char* job_;
  int kept_u_, lwork_ = 1;
  std::vector<T> a_, work_;
  std::vector<int> iwork_;
};

template <typename T>
void identity(int64_t batch, int n, T* out) {
  std::fill_n(out, batch * n * n, T(0));
  for (int64_t i = 0; i < batch; ++i) {
    for (int64_t k = 0; k < n; ++k) out[i * n * n + k * n + k] = 1;
  }
}

// _svd(a, full_matrices) and _svdvals(a)
template <typename T, bool vectors>
void svd(const Call& call) {
  const bool full = vectors && call.arg<bool>(1);
  const Matrices x = matrices_of(call.tensor(0), 8);
  const int k = x.smaller();
  const int kept_u = full ? x.rows : k, kept_v = full ? x.columns : k;
  const int64_t widest = std::max(x.rows, x.columns);
  if (full && widest * widest > INT_MAX) {
    fail("a matrix is " + std::to_string(x.rows) + " x " + std::to_string(x.columns) +
             ", whose full singular vectors are more than LAPACK's numbers of 32 bits count",
         TN_UNSUPPORTED);
  }
  const T* a = data_of<T>(call, 0);
  T* u = vectors ? call.output_data<T>(0) : nullptr;
  T* s = call.output_data<T>(vectors ? 1 : 0);
  T* vh = vectors ? call.output_data<T>(2) : nullptr;
  if (k == 0) {
    // Of nothing all vectors are the axes.
    if (full) identity(x.batch, x.rows, u), identity(x.batch, x.columns, vh);
    return;
  }
  const char* job = !vectors ? "N" : full ? "A" : "S";
  const Failure failure = for_matrices(
      call, x.batch, 10.0 * double(x.size()) * k, [&](int64_t first, int64_t last, int* info) {
        Svd<T> matrix(x, job, kept_u);
        T unused = 0;
        for (int64_t i = first; i < last; ++i) {
          info[i] = matrix.find(a + i * x.size(), vectors ? u + i * x.rows * kept_u : &unused,
                                s + i * k, vectors ? vh + i * kept_v * x.columns : &unused);
        }
      });
  if (failure) refuse(call, failure);
}

}  // namespace

void spectral_kernels() {
  host_kernel<eigh<float, true>, eigh<double, true>>("linalg._eigh");
  host_kernel<eigh<float, false>, eigh<double, false>>("linalg._eigvalsh");
  host_kernel<svd<float, true>, svd<double, true>>("linalg._svd");
  host_kernel<svd<float, false>, svd<double, false>>("linalg._svdvals");
}

}  // namespace tenon::linalg_pack
