// The exponential of matrices, and powers of matrices, negative ones too, and of numbers.
#include "pack.h"

namespace tenon::linalg_pack {
namespace {

std::array<Meta, 1> exponential_metas(const Tensor& a) {
  expect_square("matrix_exp", "a", a);
  return {Meta(a)};
}

// The exponential of [[a^T, g], [0, a^T]] has the gradient above its diagonal. Mathias, A chain rule
// for matrix functions and applications, SIAM J. Matrix Anal. Appl. 17 (1996).
Tensor exponential_gradient(const Vjp& g, const Tensor& a) {
  const int64_t n = a.size(-1);
  const Tensor t = a.mT();
  const Tensor rows = cat({cat({t, g.grad()}, -1), cat({zeros_like(t), t}, -1)}, -2);
  return narrow(narrow(call(matrix_exp_op, rows), -2, 0, n), -1, n, n);
}

}  // namespace

void exponentials() {
  op("_matrix_exp(Tensor a) -> Tensor")
      .infer([](Tensor a) { return exponential_metas(a); })
      .keeps_halves()
      .meaning([](Tensor a) {
        return through_host<Tensor>("matrix_exp", matrix_exp_op, a, exponential_metas(a), a);
      })
      .vjp(exponential_gradient, Reads::args);
  op("matrix_exp(Tensor a) -> Tensor")
      .doc("The exponentials of square matrices a [.., n, n]: the sum of a^i / i!.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a) {
        expect_square("matrix_exp", "a", a);
        return call(matrix_exp_op, a);
      });
  op("matrix_power(Tensor a, int n) -> Tensor")
      .doc("The product of n times the square matrices a [.., m, m]; of their inverses below 0.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, int64_t n) {
        if (n >= 0) return call("matrix_power", a, n);  // of integers and halves, too
        expect_square("matrix_power", "a", a);
        if (n == INT64_MIN) fail("matrix_power: n is " + std::to_string(n) + ", expected more");
        return call("matrix_power", host_inv(a), -n);
      });
  op("vander(Tensor x, int? N=None) -> Tensor")
      .doc(
          "Vandermonde's matrices [.., n, N] of x [.., n]: column j is x to the power j. N None: "
          "n. "
          "Integers and bool become int64.")
      .amp(Amp::float32)
      .meaning([](Tensor given, optional<int64_t> n) {
        const Tensor x = given.dim() == 0 ? given.reshape({1}) : given;
        const int64_t columns = n.value_or(x.size(-1));
        if (columns < 2) fail("vander: N is " + std::to_string(columns) + ", expected 2 or more");
        const Tensor last = unsqueeze(x.to(promote(x.dtype(), int64)), -1);
        Sizes sizes = leading_sizes(x, 0);
        sizes.push_back(columns - 1);
        return cumprod(cat({ones_like(last), last.expand(sizes)}, -1), -1);
      });
}

}  // namespace tenon::linalg_pack
