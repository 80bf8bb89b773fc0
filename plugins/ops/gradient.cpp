// Derivatives of sampled functions by differences of neighbours. A part of the family reduce.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef three_points{
    "_three_points(Tensor x, Tensor y, Tensor z, Tensor a, Tensor b, Tensor c) -> Tensor",
    "a * x + b * y + c * z"};
// The first and last value by three equally spaced ones, which are counted from the end.
constinit ExpressionRef at_the_end{
    "_at_the_end(Tensor x, Tensor y, Tensor z, float spacing) -> Tensor",
    "(4 * y - 3 * x - z) / (2 * spacing)"};

// The factors of three neighbours whose distances are p and q, in the derivative at the middle one
// and at the first.
constinit ExpressionRef middle_factors{
    "_middle_factors(Tensor p, Tensor q) -> (Tensor, Tensor, Tensor)",
    "-q / (p * (p + q))\n (q - p) / (p * q)\n p / (q * (p + q))"};
constinit ExpressionRef end_factors{
    "_end_factors(Tensor p, Tensor q) -> (Tensor, Tensor, Tensor)",
    "-(2 * p + q) / (p * (p + q))\n (p + q) / (p * q)\n -p / (q * (p + q))"};

// What gradient and gradient_at refuse, and the dimensions that they take.
Sizes dims_of(const char* op, const Tensor& x, Ints given, int64_t edge_order) {
  if (x.dtype() == bool_ || x.dtype() == uint8)
    fail(std::string(op) + ": x is " + x.dtype().name() + ", expected signed numbers");
  if (edge_order != 1 && edge_order != 2)
    fail(std::string(op) + ": edge_order is " + std::to_string(edge_order) + ", expected 1 or 2");
  const Sizes dims = given.empty() ? counting(0, x.dim()) : distinct_dims(op, given, x.dim());
  for (const int64_t d : dims) {
    if (x.dim() == 0 || x.size(d) < edge_order + 1) {
      fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + ", expected " +
           std::to_string(edge_order + 1) + " elements at least along dimension " +
           std::to_string(d));
    }
  }
  return dims;
}

// Where neighbours are `spacing` apart.
Tensor even(const Tensor& x, int64_t d, double spacing, int64_t edge_order) {
  const int64_t n = x.size(d);
  const auto at = [&](int64_t i) { return prim::slice(x, d, i, i + 1); };
  Tensor first, last;
  if (edge_order == 1) {
    first = div(sub(at(1), at(0)), spacing);
    last = div(sub(at(n - 1), at(n - 2)), spacing);
  } else {
    first = prim::elementwise(at_the_end, at(0), at(1), at(2), spacing);
    last = prim::elementwise(at_the_end, at(n - 1), at(n - 2), at(n - 3), -spacing);
  }
  const Tensor middle = div(sub(prim::slice(x, d, 2, n), prim::slice(x, d, 0, n - 2)), 2 * spacing);
  return cat({first, middle, last}, d);
}

// Where element i lies at places[i].
Tensor uneven(const Tensor& x, int64_t d, const Tensor& places, int64_t edge_order) {
  const int64_t n = x.size(d);
  Sizes sizes(size_t(x.dim()), 1);
  sizes[size_t(d)] = n;
  const Tensor line = prim::reshape(as_float(places), sizes);
  const Tensor gaps = sub(prim::slice(line, d, 1, n), prim::slice(line, d, 0, n - 1));
  const auto at = [&](int64_t i) { return prim::slice(x, d, i, i + 1); };
  const auto gap = [&](int64_t i) { return prim::slice(gaps, d, i, i + 1); };
  using Three = std::tuple<Tensor, Tensor, Tensor>;
  Tensor first, last;
  if (edge_order == 1) {
    first = div(sub(at(1), at(0)), gap(0));
    last = div(sub(at(n - 1), at(n - 2)), gap(n - 2));
  } else {
    auto [a, b, c] = prim::elementwise<Three>(end_factors, gap(0), gap(1));
    first = prim::elementwise(three_points, at(0), at(1), at(2), a, b, c);
    std::tie(a, b, c) = prim::elementwise<Three>(end_factors, neg(gap(n - 2)), neg(gap(n - 3)));
    last = prim::elementwise(three_points, at(n - 1), at(n - 2), at(n - 3), a, b, c);
  }
  const auto [a, b, c] = prim::elementwise<Three>(middle_factors, prim::slice(gaps, d, 0, n - 2),
                                                  prim::slice(gaps, d, 1, n - 1));
  const Tensor middle =
      prim::elementwise(three_points, prim::slice(x, d, 0, n - 2), prim::slice(x, d, 1, n - 1),
                        prim::slice(x, d, 2, n), a, b, c);
  return cat({first, middle, last}, d);
}

}  // namespace

void gradients() {
  op("gradient(Tensor x, float[] spacing=[1], int[] dim=[], int edge_order=1) -> Tensor[]")
      .doc(
          "The derivative of x along each of dim, or along all: by central differences of second "
          "order, and at both ends by differences of edge_order, 1 or 2. Elements are spacing "
          "apart, one number, or one for each dimension; gradient_at takes their places.")
      .amp(Amp::widest)
      .meaning([](Tensor x, Floats spacing, Ints given, int64_t edge_order) {
        const Sizes dims = dims_of("gradient", x, given, edge_order);
        if (spacing.size() != 1 && spacing.size() != dims.size()) {
          fail("gradient: " + std::to_string(spacing.size()) + " spacings, expected 1 or " +
               std::to_string(dims.size()) + ", one for each dimension");
        }
        std::vector<Tensor> list;
        for (size_t i = 0; i < dims.size(); ++i)
          list.push_back(even(x, dims[i], spacing[spacing.size() == 1 ? 0 : i], edge_order));
        return std::tuple{list};
      });
  op("gradient_at(Tensor x, Tensor[] coordinates, int[] dim=[], int edge_order=1) -> Tensor[]")
      .doc(
          "gradient(x) where the elements along each dimension lie at the places that one of "
          "coordinates has, [n].")
      .amp(Amp::widest)
      .meaning([](Tensor x, Tensors coordinates, Ints given, int64_t edge_order) {
        const Sizes dims = dims_of("gradient_at", x, given, edge_order);
        if (coordinates.size() != dims.size()) {
          fail("gradient_at: " + std::to_string(coordinates.size()) + " coordinates, expected " +
               std::to_string(dims.size()) + ", one for each dimension");
        }
        std::vector<Tensor> list;
        for (size_t i = 0; i < dims.size(); ++i) {
          const Tensor places = coordinates[i];
          if (sizes_of(places) != Sizes{x.size(dims[i])}) {
            fail("gradient_at: coordinates " + std::to_string(i) + " are " +
                 sizes_text(places.sizes()) + ", expected [" + std::to_string(x.size(dims[i])) +
                 "], the size of x along dimension " + std::to_string(dims[i]));
          }
          list.push_back(uneven(x, dims[i], places, edge_order));
        }
        return std::tuple{list};
      });
}

}  // namespace tenon::ops_pack
