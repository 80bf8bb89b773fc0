// Covariances and correlations of variables whose observations are the columns of a matrix. A part
// of the family reduce.
#include <cmath>

#include "pack.h"

namespace tenon::ops_pack {
namespace {

// The sum of weights minus the correction; with weights of its own for each observation as PyTorch,
// and none below 0.
constinit ExpressionRef left_over{
    "_left_over(Tensor total, Tensor weighted, float correction) -> Tensor",
    "max(total - correction * (weighted / total), 0)"};
constinit ExpressionRef is_negative{"_is_negative(Tensor w) -> Tensor", "where(w < 0, 1.0, 0.0)"};
constinit ExpressionRef within_one{"_within_one(Tensor x) -> Tensor", "clamp(x, -1, 1)"};

// Weights [observations] of the variables x, or null.
Tensor weights_of(const char* what, const Tensor& weights, const Tensor& x, bool whole) {
  if (!weights.defined()) return {};
  if (sizes_of(weights) != Sizes{x.size(1)} || weights.dtype().is_float() == whole ||
      weights.dtype() == bool_) {
    fail(std::string("cov: ") + what + " are " + sizes_text(weights.sizes()) + " " +
         weights.dtype().name() + ", expected " + (whole ? "integers" : "a floating dtype") +
         " and [" + std::to_string(x.size(1)) + "], one for each observation");
  }
  expect_each("cov", what, "0 or more", is_negative, weights);
  return as_dtype(weights, x.dtype());
}
// As floats that hold what the weights have, too.
Tensor widened(const Tensor& x, const Tensor& aweights) {
  const bool wider = aweights.defined() && aweights.dtype().is_float();
  return wider ? as_dtype(x, promote(x.dtype(), aweights.dtype())) : as_float(x);
}

Tensor with_correction(const Tensor& x, int64_t correction, const Tensor& fweights,
                       const Tensor& aweights) {
  const int64_t n = x.size(1);
  const Tensor counts = weights_of("fweights", fweights, x, true),
               shares = weights_of("aweights", aweights, x, false);
  const Tensor w = !counts.defined() ? shares : !shares.defined() ? counts : mul(counts, shares);
  if (!w.defined()) {
    const Tensor apart = sub(x, div(sum(x, {1}, true), double(n)));
    return div(matmul(apart, transpose(apart, 0, 1)),
               std::max(double(n) - double(correction), 0.0));
  }
  const Tensor total = sum(w);
  const Tensor apart = sub(x, div(sum(mul(x, w), {1}, true), total));
  const Tensor product = matmul(apart, transpose(mul(apart, w), 0, 1));
  const Tensor weighted = shares.defined() ? sum(mul(w, shares)) : total;
  return div(product, prim::elementwise(left_over, total, weighted, double(correction)));
}

Tensor covariance(const char* op, const Tensor& given, int64_t correction, const Tensor& fweights,
                  const Tensor& aweights) {
  if (given.dim() > 2 || given.dtype() == bool_) {
    fail(std::string(op) + ": x is " + sizes_text(given.sizes()) + " " + given.dtype().name() +
         ", expected numbers with at most 2 dimensions, [variables, observations]");
  }
  const Tensor x = prim::reshape(widened(given, aweights),
                                 given.dim() == 2 ? sizes_of(given) : Sizes{1, given.numel()});
  const Tensor y = with_correction(x, correction, fweights, aweights);
  return x.size(0) == 1 ? prim::reshape(y, {}) : y;
}

Tensor correlation(const Tensor& x) {
  const Tensor c = covariance("corrcoef", x, 1, {}, {});
  if (c.dim() == 0) return div(c, c);
  const Tensor deviation = sqrt(diagonal(c));
  return prim::elementwise(within_one, div(div(c, unsqueeze(deviation, 1)), deviation));
}

}  // namespace

void covariances() {
  op("cov(Tensor x, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor")
      .method()
      .doc(
          "The covariances [n, n] of the rows of x [n, observations], or [] of a single row or of "
          "x "
          "[observations]. "
          "fweights says how often each observation counts, aweights with what weight. Divided by "
          "the number of observations minus correction.")
      .amp(Amp::float32)
      .meaning([](Tensor x, int64_t correction, Tensor fweights, Tensor aweights) {
        return covariance("cov", x, correction, fweights, aweights);
      });
  op("corrcoef(Tensor x) -> Tensor")
      .doc("cov(x), divided by the standard deviations of both variables.")
      .method()
      .amp(Amp::float32)
      .meaning(correlation);
}

}  // namespace tenon::ops_pack
