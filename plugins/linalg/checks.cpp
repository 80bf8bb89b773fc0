// What the ops of this pack refuse before a kernel is asked.
#include "pack.h"

namespace tenon::linalg_pack {

std::string sizes_text(Ints sizes) {
  std::string text = "[";
  for (int64_t size : sizes) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

void expect_matrices(const char* op, const char* what, const Tensor& x) {
  if (x.dtype() != float32 && x.dtype() != float64) {
    fail(detail::joined(
        {op, ": ", what, " is ", x.dtype().name(), ", expected float32 or float64"}));
  }
  if (x.dim() < 2) {
    fail(detail::joined(
        {op, ": ", what, " is ", sizes_text(x.sizes()), ", expected at least 2 dimensions"}));
  }
}

void expect_square(const char* op, const char* what, const Tensor& x) {
  expect_matrices(op, what, x);
  if (x.size(-1) != x.size(-2)) {
    fail(detail::joined(
        {op, ": ", what, " is ", sizes_text(x.sizes()), ", expected square matrices"}));
  }
}

void expect_same_dtype(const char* op, const char* what, const Tensor& x, const char* other_name,
                       const Tensor& other) {
  if (x.dtype() == other.dtype()) return;
  fail(detail::joined({op, ": ", what, " is ", x.dtype().name(), " and ", other_name, " is ",
                       other.dtype().name(), ", expected one dtype"}));
}

void expect_equations(const char* op, const Tensor& a, const Tensor& b, const char* what) {
  expect_square(op, what, a);
  expect_matrices(op, "b", b);
  expect_same_dtype(op, what, a, "b", b);
  if (leading_sizes(a, 1) == leading_sizes(b, 1)) return;
  fail(detail::joined({op, ": ", what, " is ", sizes_text(a.sizes()), " and b is ",
                       sizes_text(b.sizes()), ", expected equal sizes but for the last"}));
}

void expect_pivots(const char* op, const Tensor& factors, const Tensor& pivots) {
  const Sizes expected = with_sizes(leading_sizes(factors), {smaller_size(factors)});
  if (pivots.dtype() == int32 && pivots.sizes() == Ints(expected)) return;
  fail(detail::joined({op, ": pivots is ", sizes_text(pivots.sizes()), " ", pivots.dtype().name(),
                       ", expected ", sizes_text(expected), " int32"}));
}

void expect_factored(const char* op, const char* what, const Tensor& factors, const Tensor& pivots,
                     const Tensor& b, bool left) {
  expect_square(op, what, factors);
  expect_matrices(op, "b", b);
  expect_same_dtype(op, what, factors, "b", b);
  expect_pivots(op, factors, pivots);
  if (b.size(left ? -2 : -1) == factors.size(-1)) return;
  fail(detail::joined({op, ": ", what, " is ", sizes_text(factors.sizes()), " and b is ",
                       sizes_text(b.sizes()), ", expected ", std::to_string(factors.size(-1)),
                       left ? " rows of b" : " columns of b"}));
}

Pair broadcast_batches(const char* op, const Tensor& a, const Tensor& b,
                       std::array<const char*, 2> names) {
  const Sizes of_a = leading_sizes(a), of_b = leading_sizes(b);
  if (of_a == of_b) return {a, b};
  Sizes common(std::max(of_a.size(), of_b.size()));
  for (size_t i = 1; i <= common.size(); ++i) {
    const int64_t x = i <= of_a.size() ? of_a[of_a.size() - i] : 1;
    const int64_t y = i <= of_b.size() ? of_b[of_b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      fail(detail::joined(
          {op, ": ", names[0], " is ", sizes_text(a.sizes()), " and ", names[1], " is ",
           sizes_text(b.sizes()),
           ", whose leading dimensions do not broadcast: expected equal ones, or 1"}));
    }
    common[common.size() - i] = x == 1 ? y : x;
  }
  return {prim::expand(a, with_sizes(common, {a.size(-2), a.size(-1)})),
          prim::expand(b, with_sizes(common, {b.size(-2), b.size(-1)}))};
}

}  // namespace tenon::linalg_pack
