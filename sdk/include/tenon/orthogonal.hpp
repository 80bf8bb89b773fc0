// Weights that stay orthogonal while they are trained: torch.nn.utils.parametrizations.orthogonal. How a
// layer has them is parametrize.hpp's; the products are those of the plugin `linalg` (LAPACK).
//
//   auto layer = nn::utils::orthogonal(nn::Linear(20, 40));  // 40 x 20: the columns are orthonormal
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/linalg.hpp"
#include "tenon/object.hpp"
#include "tenon/ops.hpp"
#include "tenon/parametrize.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// As PyTorch's _Orthogonal: of an original X [.., n, k], n >= k (else of its transpose), the matrix
// Q(X) of the chosen map, in front of which `base` stands, the value that the tensor had at first.
struct OrthogonalMap {
  enum class Kind { matrix_exp, cayley, householder };
  Kind kind;
  bool has_base;

  static bool is_orthogonal(const Tensor& q) {
    const Tensor product = q.mT().matmul(q);
    const double eps = 10.0 * double(q.size(-2)) * finfo(q.dtype()).eps;
    return (product - eye(q.size(-1), product.options())).abs().max().item<double>() < eps;
  }
  // The factor Q, with the signs that make the diagonal of R positive.
  static Tensor make_orthogonal(const Tensor& a) {
    const auto [x, tau] = linalg::geqrf(a);
    return linalg::householder_product(x, tau) *
           x.diagonal({.dim1 = -2, .dim2 = -1}).sign().unsqueeze(-2);
  }

  Tensor tall(const Object& self, const Tensor& original) const {
    const int64_t n = original.size(-2), k = original.size(-1);
    Tensor q;
    if (kind == Kind::householder) {
      const Tensor a = original.tril(-1);
      const Tensor tau = 2.0 / (1.0 + (a * a).sum(-2));
      const Tensor signs = original.diagonal({.dim1 = -2, .dim2 = -1}).detach().trunc();
      q = linalg::householder_product(a, tau) * signs.unsqueeze(-2);
    } else {
      Tensor x = original.tril();
      if (n != k) {
        std::vector<int64_t> sizes = x.sizes();
        sizes.back() = n - k;
        x = cat({x, x.new_zeros(sizes)}, -1);
      }
      const Tensor a = x - x.mT();
      if (kind == Kind::matrix_exp) {
        q = linalg::matrix_exp(a);
      } else {
        const Tensor one = eye(n, x.options());
        q = linalg::solve(one - 0.5 * a, one + 0.5 * a);
      }
      if (n != k) q = q.narrow(-1, 0, k);
    }
    const auto buffers = self.named_buffers();
    return buffers.empty() ? q : buffers.begin()->second.matmul(q);
  }
  Tensor forward(const Object& self, const Tensor& original) const {
    const bool is_wide = original.size(-2) < original.size(-1);
    return is_wide ? tall(self, original.mT()).mT() : tall(self, original);
  }
  // The original of which `forward` makes what is nearest to the value.
  Tensor right_inverse(const Object& self, const Tensor& value) const {
    const bool is_wide = value.size(-2) < value.size(-1);
    const Tensor q = is_wide ? value.mT() : value;
    if (!has_base) {
      const auto [a, tau] = linalg::geqrf(q);
      const Tensor diagonal = a.diagonal({.dim1 = -2, .dim2 = -1});
      diagonal.copy_(where(tau == 0, -diagonal.sign(), diagonal.sign()));
      return is_wide ? a.mT() : a;
    }
    const int64_t n = q.size(-2), k = q.size(-1);
    Tensor base;
    if (n == k) {
      base = is_orthogonal(q) ? q.clone() : make_orthogonal(q);
    } else {
      std::vector<int64_t> sizes = q.sizes();
      sizes.back() = n - k;
      base = make_orthogonal(cat({q, randn(sizes, q.options())}, -1));
    }
    self.buffer("base", base);
    Tensor first = zeros_like(value);
    first.diagonal({.dim1 = -2, .dim2 = -1}).fill_(-1.0);
    return first;
  }

  Object make() const {
    const Object object = Object::empty("_Orthogonal", TN_OBJECT_OTHER);
    object.method("forward(Tensor original) -> Tensor",
                  [map = *this](Object& self, Tensor x) { return map.forward(self, x); });
    if (has_base || kind == Kind::householder) {
      object.method("right_inverse(Tensor value) -> Tensor",
                    [map = *this](Object& self, Tensor q) { return map.right_inverse(self, q); });
    }
    object.method("clone() -> object", [map = *this](Object& self) {
      const Object copy = map.make();
      for (const auto& [name, tensor] : self.named_buffers())
        copy.buffer(name.c_str(), tensor.detach().clone());
      return copy;
    });
    return object;
  }
};

}  // namespace detail

namespace nn {
namespace utils {

struct OrthogonalOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  std::string name = "weight";
  // "matrix_exp", "cayley" or "householder"; none: matrix_exp of square matrices, else householder.
  std::optional<std::string> orthogonal_map = {};
  // The first value, made orthogonal, is kept beside, and the map turns it. Without, householder starts
  // from it, too, and the others take it for the original of their map.
  bool use_trivialization = true;
};
// torch.nn.utils.parametrizations.orthogonal: the tensor [.., n, k] has orthonormal columns, or rows
// where n < k. Lezcano, arXiv:1909.09501. Error of a tensor of fewer than two dimensions, and where the
// plugin `linalg` is missing.
inline Object orthogonal(const Object& layer, const OrthogonalOptions& options = {}) {
  using Map = tenon::detail::OrthogonalMap;
  const Tensor weight = tenon::detail::value_now(layer, options.name);
  if (!weight.defined() || weight.dim() < 2) {
    fail(tenon::detail::joined(
        {"orthogonal: '", options.name, "' of ", layer.type_name(), " is ",
         weight.defined() ? tenon::detail::sizes_text(weight.sizes()) : std::string("None"),
         ", expected a matrix, or several"}));
  }
  const std::string usual = weight.size(-2) == weight.size(-1) ? "matrix_exp" : "householder";
  const std::string map = options.orthogonal_map.value_or(usual);
  if (map != "matrix_exp" && map != "cayley" && map != "householder") {
    fail(tenon::detail::joined(
        {"orthogonal: orthogonal_map is '", map, "', expected matrix_exp, cayley or householder"}));
  }
  const Map made{map == "matrix_exp" ? Map::Kind::matrix_exp
                 : map == "cayley"   ? Map::Kind::cayley
                                     : Map::Kind::householder,
                 options.use_trivialization};
  return register_parametrization(layer, options.name, made.make(), /*unsafe=*/true);
}
template <tenon::detail::Placed<std::string> N>
Object orthogonal(const Object& layer, const N& name,
                  std::optional<std::string> orthogonal_map = {}, Bool use_trivialization = true) {
  return orthogonal(layer, {.name = name,
                            .orthogonal_map = std::move(orthogonal_map),
                            .use_trivialization = use_trivialization});
}

}  // namespace utils
}  // namespace nn
}  // namespace v0
}  // namespace tenon
