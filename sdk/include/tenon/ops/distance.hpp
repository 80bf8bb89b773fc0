// The group 'distance' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// sum(x1 * x2) / (|x1| * |x2|) along dim, with norms of at least eps. The two broadcast.
inline Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, Int dim = 1, Float eps = 1e-08) { return detail::call<Tensor>(detail::op<"cosine_similarity">, {x1, x2, dim, eps}); }
struct CosineSimilarityOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = 1;
  Float eps = 1e-08;
};
template <std::same_as<CosineSimilarityOptions> O = CosineSimilarityOptions>
inline Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const O& options) { return detail::call<Tensor>(detail::op<"cosine_similarity">, {x1, x2, options.dim, options.eps}); }
// The p-norm of x1 - x2 + eps along the last dimension. The two broadcast.
struct PairwiseDistanceOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 2.0;
  Float eps = 1e-06;
  bool keepdim = false;
};
inline Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceOptions& options = {}) { return detail::call<Tensor>(detail::op<"pairwise_distance">, {x1, x2, options.p, options.eps, options.keepdim}); }
template <detail::Placed<Float> P>
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const P& p, Float eps = 1e-06, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"pairwise_distance">, {x1, x2, Float(p), eps, keepdim}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, PairwiseDistanceOptions> P2 = PairwiseDistanceOptions, detail::PlacedOr<Bool, PairwiseDistanceOptions> P3 = PairwiseDistanceOptions>
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const P1& p, const P2& eps, const P3& keepdim = detail::unset<P3>()) { return pairwise_distance(x1, x2, detail::behind<PairwiseDistanceOptions, 4, 1>("pairwise_distance", p, eps, keepdim)); }
// The p-norm of the difference of each row of x1 [.., n, size] and each of x2 [.., m, size], [..,
// n, m]. compute_mode: with p = 2 by a product of matrices where there are more than 25 rows,
// always (use_mm_for_euclid_dist) or never (donot_use_mm_for_euclid_dist).
inline Tensor cdist(const Tensor& x1, const Tensor& x2, Float p = 2.0, TextRef compute_mode = "use_mm_for_euclid_dist_if_necessary") { return detail::call<Tensor>(detail::op<"cdist">, {x1, x2, p, compute_mode}); }
struct CdistOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 2.0;
  std::string compute_mode = "use_mm_for_euclid_dist_if_necessary";
};
template <std::same_as<CdistOptions> O = CdistOptions>
inline Tensor cdist(const Tensor& x1, const Tensor& x2, const O& options) { return detail::call<Tensor>(detail::op<"cdist">, {x1, x2, options.p, options.compute_mode}); }
// The p-norm of the difference of each row of x [n, size] and each one behind it, [n * (n - 1) /
// 2].
inline Tensor pdist(const Tensor& x, Float p = 2.0) { return detail::call<Tensor>(detail::op<"pdist">, {x, p}); }
struct PdistOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 2.0;
};
template <std::same_as<PdistOptions> O = PdistOptions>
inline Tensor pdist(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"pdist">, {x, options.p}); }
// The p-norm of all elements of x - y, []. The two broadcast.
inline Tensor dist(const Tensor& x, const Tensor& y, Float p = 2.0) { return detail::call<Tensor>(detail::op<"dist">, {x, y, p}); }
using DistOptions = PdistOptions;
template <std::same_as<DistOptions> O = DistOptions>
inline Tensor dist(const Tensor& x, const Tensor& y, const O& options) { return detail::call<Tensor>(detail::op<"dist">, {x, y, options.p}); }
// x / max(|x|, eps), of the p-norm along dim.
struct NormalizeOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 2.0;
  Int dim = 1;
  Float eps = 1e-12;
};
inline Tensor normalize(const Tensor& x, const NormalizeOptions& options = {}) { return detail::call<Tensor>(detail::op<"normalize">, {x, options.p, options.dim, options.eps}); }
template <detail::Placed<Float> P>
Tensor normalize(const Tensor& x, const P& p, Int dim = 1, Float eps = 1e-12) { return detail::call<Tensor>(detail::op<"normalize">, {x, Float(p), dim, eps}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Int, NormalizeOptions> P2 = NormalizeOptions, detail::PlacedOr<Float, NormalizeOptions> P3 = NormalizeOptions>
Tensor normalize(const Tensor& x, const P1& p, const P2& dim, const P3& eps = detail::unset<P3>()) { return normalize(x, detail::behind<NormalizeOptions, 4, 1>("normalize", p, dim, eps)); }
// x [n, channels, ..] / (k + alpha * m)^beta, where m is the mean of x * x over size neighbouring
// channels, cut to a whole number where x has whole numbers; beyond the first and the last are
// zeros. Krizhevsky et al., 2012.
struct LocalResponseNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float alpha = 0.0001;
  Float beta = 0.75;
  Float k = 1.0;
};
inline Tensor local_response_norm(const Tensor& x, Int size, const LocalResponseNormOptions& options = {}) { return detail::call<Tensor>(detail::op<"local_response_norm">, {x, size, options.alpha, options.beta, options.k}); }
template <detail::Placed<Float> P>
Tensor local_response_norm(const Tensor& x, Int size, const P& alpha, Float beta = 0.75, Float k = 1.0) { return detail::call<Tensor>(detail::op<"local_response_norm">, {x, size, Float(alpha), beta, k}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, LocalResponseNormOptions> P2 = LocalResponseNormOptions, detail::PlacedOr<Float, LocalResponseNormOptions> P3 = LocalResponseNormOptions>
Tensor local_response_norm(const Tensor& x, Int size, const P1& alpha, const P2& beta, const P3& k = detail::unset<P3>()) { return local_response_norm(x, size, detail::behind<LocalResponseNormOptions, 4, 1>("local_response_norm", alpha, beta, k)); }

}  // namespace v0
}  // namespace tenon
