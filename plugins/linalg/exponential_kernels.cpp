// The kernel of the exponential of matrices, in float64 also for float32: scaled by a power of two,
// a quotient of polynomials of degree 13, and squared again. Higham, The scaling and squaring method
// for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26 (2005).
#include "matrices.h"

namespace tenon::linalg_pack {
namespace {

// Up to this norm the quotient is exact to float64's rounding.
constexpr double kGreatestNorm = 5.371920351148152;
constexpr double kPade[] = {64764752532480000.,
                            32382376266240000.,
                            7771770303897600.,
                            1187353796428800.,
                            129060195264000.,
                            10559470521600.,
                            670442572800.,
                            33522128640.,
                            1323241920.,
                            40840800.,
                            960960.,
                            16380.,
                            182.,
                            1.};

// The exponential of matrices n x n, in memory that serves all of them. The exponential of the
// transpose is the transpose of the exponential, so the order of elements does not matter.
class Exponential {
 public:
  explicit Exponential(int n)
      : n_(n), size_(size_t(n) * size_t(n)), memory_(7 * size_), pivots_(size_t(n)) {}

  template <typename T>
  void find(const T* from, T* to) {
    double* a = memory_.data();
    std::copy_n(from, size_, a);
    const double norm = norm_of(a);
    if (!std::isfinite(norm)) {
      std::fill_n(to, size_, T(NAN));
      return;
    }
    const int halvings = norm > kGreatestNorm ? int(std::ceil(std::log2(norm / kGreatestNorm))) : 0;
    for (size_t i = 0; i < size_; ++i) a[i] = std::ldexp(a[i], -halvings);
    double* result = quotient();
    double* other = memory_.data();
    for (int i = 0; i < halvings; ++i) {
      multiply(result, result, other);
      std::swap(result, other);
    }
    std::copy_n(result, size_, to);
  }

 private:
  // The greatest sum of absolute values of a row; of a column in LAPACK's order.
  double norm_of(const double* a) const {
    double norm = 0;
    for (size_t i = 0; i < size_; i += size_t(n_)) {
      double sum = 0;
      for (size_t j = 0; j < size_t(n_); ++j) sum += std::fabs(a[i + j]);
      if (!(sum <= norm)) norm = sum;
      if (std::isnan(sum)) return sum;
    }
    return norm;
  }
  void multiply(const double* x, const double* y, double* product) const {
    const double one = 1, zero = 0;
    dgemm_("N", "N", &n_, &n_, &n_, &one, x, &n_, y, &n_, &zero, product, &n_, 1, 1);
  }
  // sum = c6 * a6 + c4 * a4 + c2 * a2 + c0 * 1
  void combine(double c6, double c4, double c2, double c0, double* sum) const {
    const double *a2 = memory_.data() + size_, *a4 = a2 + size_, *a6 = a4 + size_;
    for (size_t i = 0; i < size_; ++i) sum[i] = c6 * a6[i] + c4 * a4[i] + c2 * a2[i];
    for (size_t i = 0; i < size_; i += size_t(n_) + 1) sum[i] += c0;
  }
  // Of the first matrix in memory; the result lies in another one.
  double* quotient() {
    const double* b = kPade;
    double *a = memory_.data(), *a2 = a + size_, *a4 = a2 + size_, *a6 = a4 + size_;
    double *odd = a6 + size_, *even = odd + size_, *other = even + size_;
    multiply(a, a, a2);
    multiply(a2, a2, a4);
    multiply(a4, a2, a6);
    combine(b[13], b[11], b[9], 0, other);
    multiply(a6, other, even);
    combine(b[7], b[5], b[3], b[1], other);
    for (size_t i = 0; i < size_; ++i) other[i] += even[i];
    multiply(a, other, odd);
    combine(b[12], b[10], b[8], 0, other);
    multiply(a6, other, even);
    combine(b[6], b[4], b[2], b[0], other);
    for (size_t i = 0; i < size_; ++i) {
      even[i] += other[i];
      other[i] = even[i] + odd[i];
      even[i] -= odd[i];
    }
    int info;
    dgetrf_(&n_, &n_, even, &n_, pivots_.data(), &info);
    dgetrs_("N", &n_, &n_, even, &n_, pivots_.data(), other, &n_, &info, 1);
    return other;
  }

  int n_;
  size_t size_;
  std::vector<double> memory_;  // the matrix, its powers 2, 4 and 6, and three more
  std::vector<int> pivots_;
};

// matrix_exp(a)
template <typename T>
void matrix_exp(const Call& call) {
  const Matrices x = matrices_of(call.tensor(0), 7);
  const T* a = data_of<T>(call, 0);
  T* out = call.output_data<T>();
  if (x.rows == 0) return;
  for_matrices(call, x.batch, 20 * cube(x.rows), [&](int64_t first, int64_t last, int*) {
    Exponential exponential(x.rows);
    for (int64_t i = first; i < last; ++i) exponential.find(a + i * x.size(), out + i * x.size());
  });
}

}  // namespace

void exponential_kernels() {
  host_kernel<matrix_exp<float>, matrix_exp<double>>("linalg._matrix_exp");
}

}  // namespace tenon::linalg_pack
