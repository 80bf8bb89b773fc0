// Tensors as matrices: inverses and solutions where several dimensions are rows or columns.
#include <algorithm>

#include "pack.h"

namespace tenon::linalg_pack {
namespace {

// -1: more than 63 bits hold, which sizes beside a 0 can be.
int64_t product(Ints sizes) {
  int64_t n = 1;
  for (int64_t size : sizes) {
    if (__builtin_mul_overflow(n, size, &n)) return -1;
  }
  return n;
}

void expect_float(const char* name, const Tensor& x) {
  if (x.dtype() != float32 && x.dtype() != float64)
    fail(detail::joined({name, ": a is ", x.dtype().name(), ", expected float32 or float64"}));
}

Tensor inverse_of_tensor(const Tensor& a, int64_t ind) {
  const char* name = "tensorinv";
  expect_float(name, a);
  if (ind < 1 || ind >= a.dim()) {
    fail(detail::joined({name, ": ind is ", std::to_string(ind), " and a ", sizes_text(a.sizes()),
                         ", expected at least 1 dimension in front of ind, and behind it"}));
  }
  const Sizes rows(a.sizes().begin(), a.sizes().begin() + ind);
  Sizes columns(a.sizes().begin() + ind, a.sizes().end());
  const int64_t n = product(rows);
  if (n < 0 || n != product(columns)) {
    fail(detail::joined({name, ": a is ", sizes_text(a.sizes()), " and ind ", std::to_string(ind),
                         ", expected as many elements in front of ind as behind it"}));
  }
  Sizes sizes = columns;
  sizes.insert(sizes.end(), rows.begin(), rows.end());
  return reshape(host_inv(reshape(a, {n, n})), sizes);
}

// The dimensions `dims` of a behind the others, as they are given.
Tensor moved_behind(const char* name, const Tensor& a, Ints dims) {
  Sizes order, last;
  for (int64_t d : dims) {
    const int64_t wrapped = d < 0 ? d + a.dim() : d;
    if (wrapped < 0 || wrapped >= a.dim() || std::ranges::find(last, wrapped) != last.end()) {
      fail(detail::joined({name, ": dims are ", sizes_text(dims), " of a ", sizes_text(a.sizes()),
                           ", expected each at most once, and that a has them"}));
    }
    last.push_back(wrapped);
  }
  for (int64_t d = 0; d < a.dim(); ++d)
    if (std::ranges::find(last, d) == last.end()) order.push_back(d);
  order.insert(order.end(), last.begin(), last.end());
  return permute(a, order);
}

Tensor solution_of_tensors(const Tensor& given, const Tensor& b, Ints dims) {
  const char* name = "tensorsolve";
  expect_float(name, given);
  expect_same_dtype(name, "a", given, "b", b);
  const Tensor a = dims.empty() ? given : moved_behind(name, given, dims);
  const int64_t n = product(b.sizes());
  const bool fits = a.dim() >= b.dim();
  const int64_t in_front = fits ? b.dim() : 0;
  const Sizes rows(a.sizes().begin(), a.sizes().begin() + in_front);
  const Sizes columns(a.sizes().begin() + in_front, a.sizes().end());
  if (!fits || n < 0 || product(rows) != n || product(columns) != n) {
    fail(detail::joined({name, ": a is ", sizes_text(a.sizes()), " and b ", sizes_text(b.sizes()),
                         ", expected as many elements as b has in the first ",
                         std::to_string(b.dim()), " dimensions of a, and in the others"}));
  }
  return reshape(host_solve(reshape(a, {n, n}), reshape(b, {n, 1})), columns);
}

}  // namespace

void tensors() {
  op("tensorinv(Tensor a, int ind=2) -> Tensor")
      .doc(
          "The inverse of a as a linear map: with the dimensions of a up to ind as rows and the "
          "others as columns, of as many elements, a's inverse as [columns.., rows..], so that "
          "tensordot(tensorinv(a), b, ind) solves a.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, int64_t ind) { return inverse_of_tensor(a, ind); });
  op("tensorsolve(Tensor a, Tensor b, int[] dims=[]) -> Tensor")
      .doc(
          "x with tensordot(a, x, x.dim()) = b: a is [b's sizes.., x's sizes..], both of as many "
          "elements, after its dimensions dims were moved behind the others.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, Tensor b, Ints dims) { return solution_of_tensors(a, b, dims); });
}

}  // namespace tenon::linalg_pack
