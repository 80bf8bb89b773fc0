// The op pack of linear algebra: a file a family, each with one function that registers its ops.
// Ops whose names begin with '_' have kernels of cpu by LAPACK, but _slogdet and _pinv; these and
// the others are made of them and of the standard ops, on every device. Names and meanings are those of torch.linalg.
#pragma once

#include <tenon/plugin.hpp>

namespace tenon::linalg_pack {

using namespace tenon::plugin;
using Pair = std::tuple<Tensor, Tensor>;
using Triple = std::tuple<Tensor, Tensor, Tensor>;
using Sizes = std::vector<int64_t>;

void factors();
void reflections();
void triangles();
void equations();
void indefinite();
void determinants();
void spectra();
void measures();
void exponentials();
void tensors();
void low_rank();

// checks.cpp: each throws an Error that begins with the op's name.

// Refuses what has fewer than two dimensions, and all dtypes but float32 and float64.
void expect_matrices(const char* op, const char* what, const Tensor& x);
// The same, and matrices that are not square.
void expect_square(const char* op, const char* what, const Tensor& x);
void expect_same_dtype(const char* op, const char* what, const Tensor& x, const char* other_name,
                       const Tensor& other);
// Refuses all but square matrices a and, for each, a matrix of as many rows, of the same dtype: what
// kernels that solve equations get. `what`: the name of a.
void expect_equations(const char* op, const Tensor& a, const Tensor& b, const char* what = "a");
// Refuses all but int32 numbers of rows [.., k] beside factors [.., m, n], where k is the smaller of m
// and n.
void expect_pivots(const char* op, const Tensor& factors, const Tensor& pivots);
// The same, and all but square factors and matrices b of as many rows: what solves by factors gets.
void expect_factored(const char* op, const char* what, const Tensor& factors, const Tensor& pivots,
                     const Tensor& b, bool left);
// "[2, 3]"
std::string sizes_text(Ints sizes);

// A matrix' sizes with its leading ones.
inline Sizes leading_sizes(const Tensor& x, int64_t without = 2) {
  return Sizes(x.sizes().begin(), x.sizes().end() - without);
}
inline Sizes with_sizes(Sizes sizes, std::initializer_list<int64_t> last) {
  sizes.insert(sizes.end(), last);
  return sizes;
}
// a and b with leading dimensions to which both broadcast. `names`: of a and b.
Pair broadcast_batches(const char* op, const Tensor& a, const Tensor& b,
                       std::array<const char*, 2> names = {"a", "b"});

// The output of a kernel that tells LAPACK's info of each matrix a. There is nothing in it where the
// kernel refuses failures (check), and where matrices have no elements: of these there may be more than
// memory holds.
inline Meta info_meta(const Tensor& a, bool check) {
  const Sizes sizes = check || a.numel() == 0 ? Sizes{0} : leading_sizes(a);
  return Meta(sizes, int32, a.device());
}
// What users get of it: an info for each matrix, 0 where the kernel told nothing.
inline Tensor info_of(const Tensor& told, const Tensor& a) {
  return told.numel() > 0 ? told : zeros(leading_sizes(a), int32, a.device());
}

inline Tensor identity(int64_t n, const Tensor& like) {
  return eye(n, {}, like.dtype(), like.device());
}
inline int64_t smaller_size(const Tensor& x) { return std::min(x.size(-2), x.size(-1)); }
// The distance of 1 to the next number of the dtype.
inline double epsilon_of(const Tensor& x) { return x.dtype() == float64 ? 0x1p-52 : 0x1p-23; }

// What an op of the host is on other devices: itself, on copies that are brought to cpu and back.
// On `meta`, which has no values, the outputs that `metas` describes.
template <typename R, size_t n, typename... Args>
R through_host(const char* name, const OpRef& op, const Tensor& x, const std::array<Meta, n>& metas,
               const Args&... args) {
  const auto bring = [](const auto& arg) {
    if constexpr (std::is_same_v<std::decay_t<decltype(arg)>, Tensor>) {
      return arg.to(cpu);
    } else {
      return arg;
    }
  };
  const Device device = x.device();
  std::array<Tensor, n> results;
  if (device.type() == std::string_view("meta")) {
    for (size_t i = 0; i < n; ++i) {
      results[i] =
          empty(Ints(metas[i].sizes, size_t(metas[i].ndim)), Dtype{metas[i].dtype}, device);
    }
  } else if (device == cpu) {
    fail(detail::joined({name, ": its kernel did not take the call, and there is no other way"}));
  } else {
    results = detail::call<std::array<Tensor, n>>(op, bring(args)...);
    for (Tensor& result : results) result = result.to(device);
  }
  if constexpr (n == 1) {
    return results[0];
  } else {
    return std::tuple_cat(results);
  }
}

// ---- The ops of the host, for the files of this pack. All tensors have two dimensions or more.

inline constinit OpRef cholesky_op{"linalg._cholesky"};
inline constinit OpRef lu_op{"linalg._lu"};
inline constinit OpRef permutation_op{"linalg._permutation"};
inline constinit OpRef qr_op{"linalg._qr"};
inline constinit OpRef geqrf_op{"linalg._geqrf"};
inline constinit OpRef ldl_op{"linalg._ldl"};
inline constinit OpRef ldl_solve_op{"linalg._ldl_solve"};
inline constinit OpRef inv_op{"linalg._inv"};
inline constinit OpRef solve_op{"linalg._solve"};
inline constinit OpRef solve_triangular_op{"linalg._solve_triangular"};
inline constinit OpRef adjugate_op{"linalg._adjugate"};
inline constinit OpRef slogdet_op{"linalg._slogdet"};
inline constinit OpRef eigh_op{"linalg._eigh"};
inline constinit OpRef eigvalsh_op{"linalg._eigvalsh"};
inline constinit OpRef svd_op{"linalg._svd"};
inline constinit OpRef svdvals_op{"linalg._svdvals"};
inline constinit OpRef matrix_exp_op{"linalg._matrix_exp"};
inline constinit OpRef matrix_sqrth_op{"linalg._matrix_sqrth"};

// `check`: failures are errors. Without it the info of each matrix comes last: see info_meta.
inline Pair host_inv(const Tensor& a, bool check) { return detail::call<Pair>(inv_op, a, check); }
inline Tensor host_inv(const Tensor& a) { return std::get<0>(host_inv(a, /*check=*/true)); }
inline Tensor host_solve(const Tensor& a, const Tensor& b) { return call(solve_op, a, b); }
inline Tensor host_solve_triangular(const Tensor& a, const Tensor& b, bool upper,
                                    bool unitriangular = false) {
  return call(solve_triangular_op, a, b, upper, unitriangular);
}
// The factors in one matrix, pivots, and infos.
inline Triple host_lu(const Tensor& a, bool check) { return detail::call<Triple>(lu_op, a, check); }
inline Pair host_qr(const Tensor& a, bool complete, double least = 0) {
  return detail::call<Pair>(qr_op, a, complete, least);
}
inline Pair host_eigh(const Tensor& a, bool upper) { return detail::call<Pair>(eigh_op, a, upper); }
inline Tensor host_eigvalsh(const Tensor& a, bool upper) { return call(eigvalsh_op, a, upper); }
inline Triple host_svd(const Tensor& a, bool full) { return detail::call<Triple>(svd_op, a, full); }
inline Tensor host_svdvals(const Tensor& a) { return call(svdvals_op, a); }

// ---- What several files make of them.

// x with a x = b, or a^T x = b, for the matrices of which lu and pivots are the factors.
Tensor solution_by_lu(const char* op, const Tensor& lu, const Tensor& pivots, const Tensor& b,
                      bool adjoint);

}  // namespace tenon::linalg_pack
