// Norms, powers and chains of matrices: of torch.linalg what products and sums make. A part of the
// family matmul.
#include <cmath>

#include "pack.h"

namespace tenon::ops_pack {
namespace {

// y, which does not change with x: x has a gradient of 0, and not none.
constinit ExpressionRef instead_of{"_instead_of(Tensor x, Tensor y) -> Tensor",
                                   "y\n dx = where(g == 0, g, 0); dy = g"};

// The greatest (or least) sum of absolute values: of columns for 1 and -1, of rows for the
// infinities.
Tensor norm_of_matrix(const Tensor& given, optional<double> ord, Ints dims, bool keepdim) {
  expect_float("matrix_norm", given);
  const Sizes pair = distinct_dims("matrix_norm", dims, given.dim());
  if (pair.size() != 2 || given.dim() < 2) {
    fail("matrix_norm: dim is " + sizes_text({dims.data(), dims.size()}) + " for x of " +
         sizes_text(given.sizes()) + ", expected two different dimensions");
  }
  if (!ord) return norm(given, 2, pair, keepdim);
  if (std::abs(*ord) != 1 && !std::isinf(*ord)) {
    fail("matrix_norm: ord is " + number_text(*ord) +
         ", expected None (Frobenius), 1, -1, inf or -inf; others need singular values");
  }
  const bool columns = std::abs(*ord) == 1;
  const Tensor sums = sum(abs(given), {pair[columns ? 0 : 1]}, true);
  const int64_t over = pair[columns ? 1 : 0];
  const bool has_none = sums.size(over) == 0;  // the greatest of none is 0; amin refuses the least
  const Tensor y = *ord < 0   ? amin(sums, {over}, true)
                   : has_none ? sum(sums, {over}, true)
                              : amax(sums, {over}, true);
  return keepdim ? y : squeeze(y, pair);
}

// Where each chain of matrices i .. k is split, so that all products together take the fewest
// multiplications. Cormen et al., Introduction to Algorithms, 15.2.
class Chain {
 public:
  explicit Chain(std::vector<Tensor> xs) : xs_(std::move(xs)), n_(xs_.size()), split_(n_ * n_) {
    std::vector<double> cost(n_ * n_, 0);
    for (size_t length = 1; length < n_; ++length) {
      for (size_t i = 0, k = length; k < n_; ++i, ++k) {
        double& best = cost[i * n_ + k];
        best = INFINITY;
        for (size_t s = i; s < k; ++s) {
          const double total =
              cost[i * n_ + s] + cost[(s + 1) * n_ + k] +
              double(xs_[i].size(0)) * double(xs_[s].size(1)) * double(xs_[k].size(1));
          if (total < best) best = total, split_[i * n_ + k] = s;
        }
      }
    }
  }
  Tensor product() const { return product(0, n_ - 1); }

 private:
  Tensor product(size_t i, size_t k) const {
    if (i == k) return xs_[i];
    const size_t s = split_[i * n_ + k];
    return matmul(product(i, s), product(s + 1, k));
  }
  std::vector<Tensor> xs_;
  size_t n_;
  std::vector<size_t> split_;
};

// A vector stands for a row in front and for a column behind.
Tensor product_of_all(Tensors given) {
  if (given.size() < 2)
    fail("multi_dot: " + std::to_string(given.size()) + " tensors, expected at least 2");
  std::vector<Tensor> xs;
  const uint32_t last = given.size() - 1;
  for (uint32_t i = 0; i <= last; ++i) {
    Tensor x = given[i];
    const bool may_be_vector = i == 0 || i == last;
    if (x.dim() != 2 && !(x.dim() == 1 && may_be_vector)) {
      fail("multi_dot: tensor " + std::to_string(i) + " is " + sizes_text(x.sizes()) +
           ", expected 2 dimensions" + (may_be_vector ? ", or 1" : ""));
    }
    if (x.dim() == 1) x = unsqueeze(x, i == 0 ? 0 : 1);
    if (i > 0 && xs.back().size(1) != x.size(0)) {
      fail("multi_dot: tensor " + std::to_string(i) + " is " + sizes_text(given[i].sizes()) +
           ", expected size " + std::to_string(xs.back().size(1)) + " along dimension 0");
    }
    xs.push_back(x);
  }
  const Tensor front = given[0], back = given[last];
  Sizes sizes;
  if (front.dim() == 2) sizes.push_back(front.size(0));
  if (back.dim() == 2) sizes.push_back(back.size(1));
  return prim::reshape(Chain(xs).product(), sizes);
}

Tensor power_of_matrix(const Tensor& x, int64_t n) {
  if (x.dim() < 2 || x.size(-1) != x.size(-2))
    fail("matrix_power: x is " + sizes_text(x.sizes()) + ", expected square matrices");
  if (n < 0) fail("matrix_power: n is " + std::to_string(n) + ", expected 0 or more");
  if (n == 0) return prim::elementwise(instead_of, x, eye(x.size(-1), {}, x.dtype(), x.device()));
  Tensor result, square = x;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = result.defined() ? matmul(result, square) : square;
    if (n > 1) square = matmul(square, square);
  }
  return result.is_same(x) ? prim::copy(x) : result;
}

// x [m] to the powers 0 to columns - 1.
Tensor powers_of(const Tensor& x, optional<int64_t> n, bool increasing) {
  if (x.dim() != 1) fail("vander: x is " + sizes_text(x.sizes()) + ", expected 1 dimension");
  const int64_t columns = n.value_or(x.size(0));
  if (columns < 0) fail("vander: N is " + std::to_string(columns) + ", expected 0 or more");
  const Tensor exponents = increasing ? prim::iota(columns, 0, 1, int64, x.device())
                                      : prim::iota(columns, columns - 1, -1, int64, x.device());
  return pow(unsqueeze(as_dtype(x, promote(x.dtype(), int64)), 1), exponents);
}

}  // namespace

void matrices() {
  op("matrix_norm(Tensor x, float? ord=None, int[] dim=[-2, -1], bool keepdim=False) -> Tensor")
      .doc(
          "Norms of the matrices of the two dimensions: Frobenius' for None, the greatest sum of "
          "absolute "
          "values of a column (1) or a row (inf), or the least (-1, -inf).")
      .amp(Amp::float32)
      .meaning(norm_of_matrix);
  op("multi_dot(Tensor[] xs) -> Tensor")
      .doc(
          "The product of all matrices xs, in the order of the fewest multiplications. The first "
          "and the last may be vectors.")
      .amp(Amp::lower)
      .meaning(product_of_all);
  op("matrix_power(Tensor x, int n) -> Tensor")
      .doc("The product of n times the square matrices x [.., m, m]; the identity for 0.")
      .method()
      .amp(Amp::lower)
      .meaning(power_of_matrix);
  op("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor")
      .doc(
          "Vandermonde's matrix [m, N] of x [m]: column k is x to the power N - 1 - k, or k where "
          "increasing. N None: m. Integers and bool become int64.")
      .amp(Amp::float32)
      .meaning(powers_of);
}

}  // namespace tenon::ops_pack
