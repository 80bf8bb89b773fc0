// New tensors made of others' elements: joins, flips, repetitions, triangles. Padding is in pad.cpp, views are in
// shape.cpp.
#include "pack.h"

#include <algorithm>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef same_values{"_same_values(Tensor x) -> Tensor", "x"};
constinit ExpressionRef upper{"_upper(Tensor row, Tensor column, int k) -> Tensor",
                              "column - row >= k"};
constinit ExpressionRef lower{"_lower(Tensor row, Tensor column, int k) -> Tensor",
                              "column - row <= k"};
constinit ExpressionRef masked{"_masked(Tensor mask, Tensor x) -> Tensor", "where(mask, x, 0)"};
constinit ExpressionRef masked_bool{"_masked_bool(Tensor mask, Tensor x) -> Tensor", "mask and x"};

// Are all of them, where some are [0], channels-last images, and not all row-major, too?
bool are_channels_last(Tensors xs) {
  bool some = false;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    const Tensor x = xs[i];
    if (x.dim() == 1 && x.numel() == 0) continue;
    if (x.dim() < 3 || !channels_to_end(x).is_contiguous()) return false;
    some = some || !x.is_contiguous();
  }
  return some;
}

// What cat makes.
struct Joined {
  int64_t dim;
  Sizes sizes;
  Dtype dtype;
  Device device;
};
// All but `dim` must agree; dtypes promote. Tensors [0] are passed over, as PyTorch does.
Joined check_joined(Tensors xs, int64_t dim) {
  if (xs.size() == 0) fail("cat: the list of tensors is empty");
  Tensor first;
  Dtype dtype = xs[0].dtype();
  for (uint32_t i = 0; i < xs.size(); ++i) {
    if (!first.defined() && !(xs[i].dim() == 1 && xs[i].numel() == 0)) first = xs[i];
    dtype = promote(dtype, xs[i].dtype());
  }
  const bool all_passed_over = !first.defined();  // then dim may be anything, as in PyTorch
  if (all_passed_over) first = xs[0];
  if (first.dim() == 0) fail("cat: a tensor has no dimensions");
  int64_t d = all_passed_over ? 0 : wrap_dim("cat", dim, first.dim());
  std::vector<int64_t> sizes(first.sizes().begin(), first.sizes().end());
  sizes[size_t(d)] = 0;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    Tensor x = xs[i];
    if (x.dim() == 1 && x.numel() == 0) continue;
    bool fits = x.dim() == first.dim() && x.device() == first.device();
    for (int64_t k = 0; fits && k < x.dim(); ++k) fits = k == d || x.size(k) == first.size(k);
    if (!fits) {
      fail("cat: tensor " + std::to_string(i) + " is " + sizes_text(x.sizes()) + " on " +
           x.device().name() + ", expected sizes of " + sizes_text(first.sizes()) +
           " except along " + std::to_string(d) + ", on " + first.device().name());
    }
    if (__builtin_add_overflow(sizes[size_t(d)], x.size(d), &sizes[size_t(d)])) {
      fail("cat: the sizes along " + std::to_string(d) + " add up to more than 63 bits hold");
    }
  }
  return {d, sizes, dtype, first.device()};
}

Tensor joined(Tensors xs, int64_t dim) {
  auto [d, sizes, dtype, device] = check_joined(xs, dim);
  // Channels-last images stay so.
  const bool is_last = are_channels_last(xs);
  if (is_last) std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());
  Tensor result = Tensor::empty(sizes, dtype, device);
  if (is_last) result = channels_from_end(result).detach();  // and no view
  int64_t at = 0;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    Tensor x = xs[i];
    if (x.dim() == 1 && x.numel() == 0) continue;
    prim::slice(result, d, at, at + x.size(d)).copy_(x);
    at += x.size(d);
  }
  return result;
}

std::vector<Tensor> joined_gradient(const Vjp& call, Tensors xs, int64_t dim) {
  Tensor g = call;
  std::vector<Tensor> grads(xs.size());
  int64_t at = 0;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    Tensor x = xs[i];
    const bool is_none = x.dim() == 1 && x.numel() == 0;
    if (is_none && call.needs(i)) grads[i] = prim::fill({0}, 0, x.dtype(), x.device());
    const int64_t size = is_none ? 0 : x.size(wrap_dim("cat", dim, g.dim()));
    if (call.needs(i) && !is_none) {
      grads[i] = prim::slice(g, dim, at, at + size);
      if (grads[i].dtype() != x.dtype()) grads[i] = prim::copy(grads[i], x.dtype());
    }
    at += size;
  }
  return grads;
}

Tensor stacked(Tensors xs, int64_t dim) {
  if (xs.size() == 0) fail("stack: the list of tensors is empty");
  Tensor first = xs[0];
  int64_t d = wrap_dim("stack", dim, first.dim() + 1);
  if (first.dim() == TN_MAX_RANK) {
    fail("stack: tensor 0 is " + sizes_text(first.sizes()) + ", which has " +
         std::to_string(first.dim()) + " dimensions; expected at most " +
         std::to_string(TN_MAX_RANK - 1));
  }
  std::vector<int64_t> sizes(first.sizes().begin(), first.sizes().end());
  sizes.insert(sizes.begin() + d, 1);
  std::vector<Tensor> rows;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    Tensor x = xs[i];
    if (!std::ranges::equal(x.sizes(), first.sizes())) {
      fail("stack: tensor " + std::to_string(i) + " is " + sizes_text(x.sizes()) + ", expected " +
           sizes_text(first.sizes()) + " as the first");
    }
    rows.push_back(prim::reshape(x, sizes));
  }
  return cat(rows, d);
}

Tensor flipped(const Tensor& x, Ints dims) {
  Tensor y = x;
  for (int64_t d : distinct_dims("flip", dims, x.dim())) {
    if (x.dim() == 0) break;
    int64_t n = x.size(d);
    std::vector<int64_t> sizes(size_t(x.dim()), 1);
    sizes[size_t(d)] = n;
    Tensor from = prim::reshape(prim::iota(n, n - 1, -1, int64, x.device()), sizes);
    y = prim::gather(y, d, prim::expand(from, x.sizes()));
  }
  return y.is_same(x) ? prim::copy(x) : y;
}

Tensor rolled(const Tensor& x, Ints shifts, Ints dims) {
  if (dims.empty()) {
    if (shifts.size() != 1) {
      fail("roll: " + std::to_string(shifts.size()) + " shifts without dims, expected 1");
    }
    Tensor flat = prim::reshape(x, {x.numel()});
    return prim::reshape(rolled(flat, shifts, int64_t(0)), x.sizes());
  }
  if (shifts.size() != dims.size()) {
    fail("roll: " + std::to_string(shifts.size()) + " shifts for " + std::to_string(dims.size()) +
         " dims, expected as many");
  }
  Tensor y = x;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t d = wrap_dim("roll", dims[i], x.dim()), n = x.dim() == 0 ? 1 : x.size(d);
    int64_t by = n == 0 ? 0 : (shifts[i] % n + n) % n;
    if (by != 0) y = cat({prim::slice(y, d, n - by, n), prim::slice(y, d, 0, n - by)}, d);
  }
  return y.is_same(x) ? prim::copy(x) : y;
}

Tensor repeated(const Tensor& x, Ints sizes) {
  int64_t lead = int64_t(sizes.size()) - x.dim();
  if (lead < 0) {
    fail("repeat: " + std::to_string(sizes.size()) + " counts for " + sizes_text(x.sizes()) +
         ", expected at least one for each dimension");
  }
  std::vector<int64_t> split, spread, merged;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) fail("repeat: count " + std::to_string(sizes[i]) + " is negative");
    int64_t size = int64_t(i) < lead ? 1 : x.size(int64_t(i) - lead);
    int64_t total;
    if (__builtin_mul_overflow(size, sizes[i], &total)) fail("repeat: a size is above 63 bits");
    split.insert(split.end(), {1, size});
    spread.insert(spread.end(), {sizes[i], size});
    merged.push_back(total);
  }
  expect_countable("repeat", merged, x.dtype());
  if (split.size() > TN_MAX_RANK) {  // dimension by dimension
    if (product(merged) == 0) return Tensor::empty(merged, x.dtype(), x.device());
    Tensor y = prim::copy(x);
    std::vector<int64_t> shape(merged.size() - size_t(x.dim()), 1);
    shape.insert(shape.end(), x.sizes().begin(), x.sizes().end());
    y = prim::reshape(y, shape);
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 1) continue;
      int64_t before = product(Sizes(shape.begin(), shape.begin() + int64_t(i)));
      int64_t after = product(Sizes(shape.begin() + int64_t(i), shape.end()));
      shape[i] = merged[i];
      y = prim::expand(prim::reshape(y, {before, 1, after}), {before, sizes[i], after});
      y = prim::reshape(prim::copy(y), shape);
    }
    return y;
  }
  return prim::reshape(prim::copy(prim::expand(prim::reshape(x, split), spread)), merged);
}

// Elements of x [.., rows, columns] where column - row is at least (triu) or at most (tril) k.
Tensor triangle(const char* op, const Tensor& x, const ExpressionRef& chosen, int64_t k) {
  if (x.dim() < 2) {
    fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + ", expected at least 2 dimensions");
  }
  int64_t m = x.size(-2), n = x.size(-1);
  Tensor row = prim::reshape(prim::iota(m, 0, 1, int64, x.device()), {m, 1});
  Tensor column = prim::iota(n, 0, 1, int64, x.device());
  // The formula's 0 is an int, to which a bool would be promoted.
  return prim::elementwise(x.dtype() == bool_ ? masked_bool : masked,
                           prim::elementwise(chosen, row, column, k), x);
}

}  // namespace

void rearrange() {
  op("stack(Tensor[] xs, int dim=0) -> Tensor")
      .doc("Tensors of one shape, side by side along a new dimension dim.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning(stacked);
  op("flip(Tensor x, int[] dims) -> Tensor")
      .doc("A copy of x in reverse order along dims.")
      .method()
      .keeps_halves()
      .infer([](Tensor x, Ints dims) {
        distinct_dims("flip", dims, x.dim());
        return Meta(x.sizes(), x.dtype(), x.device());
      })
      .meaning(flipped)
      .vjp([](const Vjp& call, Tensor, Ints dims) { return flip(call, dims); }, Reads::sizes);
  op("roll(Tensor x, int[] shifts, int[] dims=[]) -> Tensor")
      .doc(
          "A copy of x moved by shifts along dims, and in again at the other end; without dims as "
          "if it had one dimension.")
      .method()
      .keeps_halves()
      .meaning(rolled);
  op("repeat(Tensor x, int[] sizes) -> Tensor")
      .doc("A copy of x, side by side as many times as sizes say for each dimension.")
      .method()
      .keeps_halves()
      .meaning(repeated);
  op("triu(Tensor x, int diagonal=0) -> Tensor")
      .doc("x [.., rows, columns] with zeros below a diagonal.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, int64_t diagonal) { return triangle("triu", x, upper, diagonal); });
  op("tril(Tensor x, int diagonal=0) -> Tensor")
      .doc("x [.., rows, columns] with zeros above a diagonal.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, int64_t diagonal) { return triangle("tril", x, lower, diagonal); });
  pads();
  op("cat(Tensor[] xs, int dim=0) -> Tensor")
      .doc("Tensors side by side along dim; other sizes are equal.")
      .amp(Amp::widest)
      .keeps_halves()
      .infer([](Tensors xs, int64_t dim) {
        const Joined y = check_joined(xs, dim);
        return Meta(y.sizes, y.dtype, y.device);
      })
      .meaning(joined)
      .vjp(joined_gradient, Reads::sizes);
  op("clone(Tensor x) -> Tensor")
      .doc("A new tensor with the values of x, whose dimensions lie in the same order.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x) {
        return x.is_contiguous() ? prim::copy(x) : prim::elementwise(same_values, x);
      });
}

}  // namespace tenon::ops_pack
