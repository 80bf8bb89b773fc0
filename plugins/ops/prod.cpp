// Products over dimensions. The gradient of one over a single dimension is an op, of which a backend may have
// a kernel. A part of the family reduce.
#include "pack.h"

#include <algorithm>

namespace tenon::ops_pack {
namespace {

// Whether the product over dims has a gradient that _product_gradient computes: over one dimension.
bool has_line(const Tensor& x, Ints dims) {
  if (!x.requires_grad() || !x.dtype().is_float() || x.numel() == 0 || dims.size() > 1)
    return false;
  return x.dim() > 0 && (dims.empty() || (dims[0] >= -x.dim() && dims[0] < x.dim()));
}
Tensor product_of(const Tensor& x, Ints dims, bool keepdim) {
  if (!has_line(x, dims)) return prim::reduce(TN_REDUCE_PROD, x, dims, keepdim);
  const Tensor line = dims.empty() ? prim::reshape(x, {x.numel()}) : x;
  const int64_t d = dims.empty() ? 0 : wrap_dim("prod", dims[0], x.dim());
  Sizes sizes = sizes_of(x);
  if (dims.empty()) std::fill(sizes.begin(), sizes.end(), 1);
  sizes[size_t(d)] = 1;
  if (!keepdim && dims.empty()) sizes.clear();
  if (!keepdim && !dims.empty()) sizes.erase(sizes.begin() + d);
  return prim::reshape(call(detail::op<"_product_along">, line, d), sizes);
}
// The sizes of x with one element along d.
Sizes sizes_of_products(const Tensor& x, int64_t d) {
  Sizes sizes = sizes_of(x);
  sizes[size_t(d)] = 1;
  return sizes;
}
// What the gradient goes to, for a g that has one element along dim.
Meta gradient_meta(const Tensor& g, const Tensor& x, int64_t dim) {
  const int64_t d = wrap_dim("_product_gradient", dim, x.dim());
  if (x.dim() == 0) fail("_product_gradient: x is [], expected 1 dimension at least");
  if (g.sizes() != Ints(sizes_of_products(x, d)) || g.dtype() != x.dtype()) {
    fail("_product_gradient: g is " + detail::sizes_text(g.sizes()) + " " + g.dtype().name() +
         ", expected " + detail::sizes_text(sizes_of_products(x, d)) + " " + x.dtype().name());
  }
  return Meta(x);
}
// For each element of x the product of the others along d: of those before it and of those behind it.
Tensor products_of_others(const Tensor& x, int64_t d) {
  const int64_t n = x.size(d);
  if (x.numel() == 0) return x;
  const Tensor one = prim::fill(sizes_of_products(x, d), 1, x.dtype(), x.device());
  return mul(prim::scan(TN_REDUCE_PROD, cat({one, prim::slice(x, d, 0, n - 1)}, d), d),
             prim::scan(TN_REDUCE_PROD, cat({prim::slice(x, d, 1, n), one}, d), d, true));
}

}  // namespace

void prods() {
  op("prod(Tensor x, int[] dim=[], bool keepdim=False, dtype? dtype=None) -> Tensor")
      .doc(
          "The product over dim, or over all where dim is empty. Of integers and bool it is "
          "int64; with a dtype: of x as that dtype.")
      .method()
      .amp(Amp::float32)
      .meaning([](Tensor x, Ints dims, bool keepdim, Dtype dtype) {
        if (!dtype) return product_of(x, dims, keepdim);
        return as_dtype(product_of(as_dtype(x, dtype), dims, keepdim), dtype);
      });
  op("_product_along(Tensor x, int dim) -> Tensor")
      .meaning([](Tensor x, int64_t dim) { return prim::reduce(TN_REDUCE_PROD, x, {dim}, true); })
      .vjp([](const Vjp& g, Tensor x, int64_t dim) {
        return call(detail::op<"_product_gradient">, g.grad(), x, dim);
      });
  op("_product_gradient(Tensor g, Tensor x, int dim) -> Tensor")
      .infer([](Tensor g, Tensor x, int64_t dim) { return gradient_meta(g, x, dim); })
      .meaning([](Tensor g, Tensor x, int64_t dim) {
        return mul(g, products_of_others(x, wrap_dim("_product_gradient", dim, x.dim())));
      });
}

}  // namespace tenon::ops_pack
