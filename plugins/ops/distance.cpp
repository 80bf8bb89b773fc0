// Distances and similarities of vectors, and what scales by a norm.
#include <cmath>

#include "distance.h"

namespace tenon::ops_pack {
namespace {

// The slope is that of the norm below eps too, as PyTorch's.
constinit ExpressionRef at_least{"_at_least(Tensor x, float least) -> Tensor",
                                 "max(x, least)\n dx = g"};
// The distance of equal vectors is 0, and so is its slope there.
constinit ExpressionRef root_of{"_root_of(Tensor x) -> Tensor",
                                "sqrt(max(x, 0))\n dx = where(out > 0, 0.5 * g / out, 0)"};

Tensor norm_along(const Tensor& x, double p, int64_t dim, bool keepdim) {
  return detail::call<Tensor>(detail::op<"norm">, x, p, Ints(dim), keepdim);
}

void expect_floats(const char* op, const Tensor& a, const Tensor& b) {
  if (promote(a.dtype(), b.dtype()).is_float()) return;
  fail(std::string(op) + ": x1 is " + a.dtype().name() + ", x2 is " + b.dtype().name() +
       "; expected a floating dtype of one of them");
}

// As PyTorch: whole numbers are subtracted, and eps makes float32 of them.
void expect_numbers(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != bool_ || b.dtype() != bool_) return;
  fail(std::string(op) + ": x1 is bool, x2 is bool; expected numbers in one of them");
}

Sizes broadcast_of(const char* op, const Tensor& a, const Tensor& b) {
  Sizes sizes = sizes_of(a.dim() >= b.dim() ? a : b);
  for (int64_t d = 1; d <= std::min(a.dim(), b.dim()); ++d) {
    int64_t& size = sizes[sizes.size() - size_t(d)];
    if (a.size(-d) != b.size(-d) && a.size(-d) != 1 && b.size(-d) != 1) {
      fail(std::string(op) + ": x1 is " + sizes_text(a.sizes()) + ", x2 is " +
           sizes_text(b.sizes()) + "; expected sizes that broadcast");
    }
    size = a.size(-d) == 1 ? b.size(-d) : a.size(-d);
  }
  return sizes;
}

Tensor cosine(Tensor a, Tensor b, int64_t dim, double eps) {
  const char* op = "cosine_similarity";
  expect_floats(op, a, b);
  const Sizes sizes = broadcast_of(op, a, b);
  const int64_t d = wrap_dim(op, dim, int64_t(sizes.size()));
  const Dtype dtype = promote(a.dtype(), b.dtype());
  auto scaled_by_norm = [&](const Tensor& given) {
    const Tensor x = as_dtype(prim::expand(given, sizes), dtype);
    return div(x, prim::elementwise(at_least, norm_along(x, 2, d, true), eps));
  };
  return sum(mul(scaled_by_norm(a), scaled_by_norm(b)), {d});
}

void expect_order(const char* op, double p) {
  if (p >= 0) return;
  fail(std::string(op) + ": p is " + number_text(p) + ", expected 0 or more");
}

// |a - b| for each pair of rows. By a product of matrices it takes less memory, and digits are lost
// where the rows are close to each other.
Tensor distances_of(const Tensor& a, const Tensor& b, double p, const std::string& mode) {
  const char* op = "cdist";
  expect_order(op, p);
  expect_floats(op, a, b);
  const bool always = mode == "use_mm_for_euclid_dist";
  const bool if_many = mode == "use_mm_for_euclid_dist_if_necessary";
  if (!always && !if_many && mode != "donot_use_mm_for_euclid_dist") {
    fail("cdist: compute_mode is '" + mode +
         "', expected use_mm_for_euclid_dist_if_necessary, use_mm_for_euclid_dist or "
         "donot_use_mm_for_euclid_dist");
  }
  if (a.dim() < 2 || b.dim() < 2 || a.size(-1) != b.size(-1)) {
    fail("cdist: x1 is " + sizes_text(a.sizes()) + ", x2 is " + sizes_text(b.sizes()) +
         "; expected [.., n, size] and [.., m, size]");
  }
  constexpr int64_t kFew = 25;  // as PyTorch
  const bool many = a.size(-2) > kFew || b.size(-2) > kFew;
  const Dtype dtype = promote(a.dtype(), b.dtype());
  const Tensor x = as_dtype(a, dtype), y = as_dtype(b, dtype);
  if (p == 2 && a.size(-1) > 0 && (always || (if_many && many))) {
    const Tensor squares =
        add(sum(square(x), {-1}, true), transpose(sum(square(y), {-1}, true), -2, -1));
    const Tensor product = matmul(x, transpose(y, -2, -1));
    return prim::elementwise(root_of, sub(squares, product, 2));
  }
  return call(detail::op<"_distances">, x, y, p);
}

// A norm of the last dimension, which may have no elements.
Tensor norm_of_rows(const Tensor& x, double p) {
  return x.size(-1) == 0 ? sum(x, {-1}) : norm_along(x, p, -1, false);
}

Tensor distances_within(const Tensor& x, double p) {
  expect_order("pdist", p);
  expect_float("pdist", x);
  if (x.dim() != 2)
    fail("pdist: x is " + sizes_text(x.sizes()) + ", expected 2 dimensions, [n, size]");
  const Tensor pairs = triu_indices(x.size(0), x.size(0), 1, x.device());
  const Tensor apart =
      sub(index_select(x, 0, select(pairs, 0, 0)), index_select(x, 0, select(pairs, 0, 1)));
  return norm_of_rows(apart, p);
}

}  // namespace

Tensor distance_between(const char* op, const Tensor& a, const Tensor& b, double p, double eps,
                        bool keepdim) {
  expect_numbers(op, a, b);
  broadcast_of(op, a, b);
  const Tensor apart = add(sub(a, b), eps);
  return norm_along(apart, p, apart.dim() == 0 ? 0 : apart.dim() - 1, keepdim);
}

Tensor raised(const Tensor& x, double least) { return prim::elementwise(at_least, x, least); }

void distances() {
  op("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-8) -> Tensor")
      .doc("sum(x1 * x2) / (|x1| * |x2|) along dim, with norms of at least eps. The two broadcast.")
      .amp(Amp::float32)
      .meaning(
          [](Tensor x1, Tensor x2, int64_t dim, double eps) { return cosine(x1, x2, dim, eps); });
  op("pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-6, bool keepdim=False) -> "
     "Tensor")
      .doc("The p-norm of x1 - x2 + eps along the last dimension. The two broadcast.")
      .amp(Amp::float32)
      .meaning([](Tensor x1, Tensor x2, double p, double eps, bool keepdim) {
        return distance_between("pairwise_distance", x1, x2, p, eps, keepdim);
      });
  op("cdist(Tensor x1, Tensor x2, float p=2, str "
     "compute_mode=\"use_mm_for_euclid_dist_if_necessary\") -> Tensor")
      .doc(
          "The p-norm of the difference of each row of x1 [.., n, size] and each of x2 [.., m, "
          "size], [.., n, m]. compute_mode: with p = 2 by a product of matrices where there are "
          "more than 25 rows, always (use_mm_for_euclid_dist) or never "
          "(donot_use_mm_for_euclid_dist).")
      .amp(Amp::float32)
      .meaning([](Tensor x1, Tensor x2, double p, std::string compute_mode) {
        return distances_of(x1, x2, p, compute_mode);
      });
  // Each row of x1 [.., n, size] with each of x2 [.., m, size], of one dtype of floats: [.., n, m].
  op("_distances(Tensor x1, Tensor x2, float p) -> Tensor")
      .amp(Amp::float32)
      .meaning([](Tensor x1, Tensor x2, double p) {
        return norm_of_rows(sub(unsqueeze(x1, -2), unsqueeze(x2, -3)), p);
      });
  op("pdist(Tensor x, float p=2) -> Tensor")
      .doc(
          "The p-norm of the difference of each row of x [n, size] and each one behind it, "
          "[n * (n - 1) / 2].")
      .amp(Amp::float32)
      .meaning([](Tensor x, double p) { return distances_within(x, p); });
  op("dist(Tensor x, Tensor y, float p=2) -> Tensor")
      .doc("The p-norm of all elements of x - y, []. The two broadcast.")
      .method()
      .amp(Amp::float32)
      .meaning([](Tensor x, Tensor y, double p) {
        expect_floats("dist", x, y);
        broadcast_of("dist", x, y);
        return norm(sub(x, y), p);
      });
  op("normalize(Tensor x, float p=2, int dim=1, float eps=1e-12) -> Tensor")
      .doc("x / max(|x|, eps), of the p-norm along dim.")
      .amp(Amp::float32)
      .meaning([](Tensor x, double p, int64_t dim, double eps) {
        expect_float("normalize", x);
        const int64_t d = wrap_dim("normalize", dim, x.dim());
        return div(x, clamp_min(norm_along(x, p, d, true), eps));
      });
  op("local_response_norm(Tensor x, int size, float alpha=1e-4, float beta=0.75, float k=1) -> "
     "Tensor")
      .doc(
          "x [n, channels, ..] / (k + alpha * m)^beta, where m is the mean of x * x over size "
          "neighbouring channels, cut to a whole number where x has whole numbers; beyond the "
          "first "
          "and the last are zeros. Krizhevsky et al., 2012.")
      .amp(Amp::float32)
      .meaning([](Tensor x, int64_t size, double alpha, double beta, double k) {
        if (x.dtype() == bool_) fail("local_response_norm: x is bool, expected numbers");
        if (x.dim() < 3 || size < 1) {
          fail("local_response_norm: x is " + sizes_text(x.sizes()) + " and size " +
               std::to_string(size) + "; expected [n, channels, ..], and size of at least 1");
        }
        if (x.numel() == 0) return prim::copy(as_float(x));
        const bool is_float = x.dtype().is_float();
        const Tensor squares = square(is_float ? x : as_dtype(x, int64));
        const Tensor flat = prim::reshape(squares, {x.size(0), x.size(1), -1});
        const Tensor padded = pad(flat, {0, 0, size / 2, (size - 1) / 2});
        const Tensor windows = unfold(padded, 1, size, 1);
        // Whole numbers have a whole mean, as in PyTorch.
        const Tensor near = is_float ? mean(windows, {-1}) : floor_divide(sum(windows, {-1}), size);
        return div(x, prim::reshape(pow(add(mul(near, alpha), k), beta), x.sizes()));
      });
}

}  // namespace tenon::ops_pack
