// What is used of LAPACK and BLAS: its Fortran functions, declared as gfortran passes arguments, all
// by address and the lengths of texts behind them. Matrices are column by column, as those of
// Fortran are, so that a row-major matrix is seen as its transpose. Knows nothing of Tenon.
#pragma once

#include <cstddef>
#include <type_traits>

extern "C" {
// Cholesky's factor.
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info, size_t);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, size_t);
// LU factors with pivots; the inverse, and solutions, by them.
void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* pivots, int* info);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info);
void sgetri_(const int* n, float* a, const int* lda, const int* pivots, float* work,
             const int* lwork, int* info);
void dgetri_(const int* n, double* a, const int* lda, const int* pivots, double* work,
             const int* lwork, int* info);
void sgetrs_(const char* trans, const int* n, const int* columns, const float* a, const int* lda,
             const int* pivots, float* b, const int* ldb, int* info, size_t);
void dgetrs_(const char* trans, const int* n, const int* columns, const double* a, const int* lda,
             const int* pivots, double* b, const int* ldb, int* info, size_t);
// Factors l d l^T of symmetric matrices, and solutions by them.
void ssytrf_(const char* uplo, const int* n, float* a, const int* lda, int* pivots, float* work,
             const int* lwork, int* info, size_t);
void dsytrf_(const char* uplo, const int* n, double* a, const int* lda, int* pivots, double* work,
             const int* lwork, int* info, size_t);
void ssytrs_(const char* uplo, const int* n, const int* columns, const float* a, const int* lda,
             const int* pivots, float* b, const int* ldb, int* info, size_t);
void dsytrs_(const char* uplo, const int* n, const int* columns, const double* a, const int* lda,
             const int* pivots, double* b, const int* ldb, int* info, size_t);
// QR factors, and Q of what geqrf leaves.
void sgeqrf_(const int* m, const int* n, float* a, const int* lda, float* tau, float* work,
             const int* lwork, int* info);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
void sorgqr_(const int* m, const int* n, const int* k, float* a, const int* lda, const float* tau,
             float* work, const int* lwork, int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau,
             double* work, const int* lwork, int* info);
// Eigenvalues and eigenvectors of symmetric matrices.
void ssyevd_(const char* job, const char* uplo, const int* n, float* a, const int* lda, float* w,
             float* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t,
             size_t);
void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t,
             size_t);
// Singular values and vectors.
void sgesdd_(const char* job, const int* m, const int* n, float* a, const int* lda, float* s,
             float* u, const int* ldu, float* vt, const int* ldvt, float* work, const int* lwork,
             int* iwork, int* info, size_t);
void dgesdd_(const char* job, const int* m, const int* n, double* a, const int* lda, double* s,
             double* u, const int* ldu, double* vt, const int* ldvt, double* work, const int* lwork,
             int* iwork, int* info, size_t);
// Solutions with triangles, and products.
void strsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m,
            const int* n, const float* alpha, const float* a, const int* lda, float* b,
            const int* ldb, size_t, size_t, size_t, size_t);
void dtrsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b,
            const int* ldb, size_t, size_t, size_t, size_t);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc, size_t, size_t);
}

namespace tenon::linalg_pack {

// Of a function's two forms the one for T: form<T>(spotrf_, dpotrf_)(..).
template <typename T, typename Float, typename Double>
constexpr auto form(Float* of_float, Double* of_double) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  if constexpr (std::is_same_v<T, float>) {
    return of_float;
  } else {
    return of_double;
  }
}

}  // namespace tenon::linalg_pack
