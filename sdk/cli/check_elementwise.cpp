// tenon check: ELEMENTWISE, by formulas that have every instruction, in dtypes, sizes and layouts.
#include <memory>

#include <fmt/format.h>

#include "check.h"
#include "check_formulas.h"

namespace tenon::cli::conformance {
namespace {

bool is_taken(Takes takes, Dtype dtype) {
  switch (takes) {
    case Takes::all:
      return true;
    case Takes::numbers:
      return dtype != bool_;
    case Takes::floats:
      return dtype.is_float();
    case Takes::whole:
      return !dtype.is_float() && dtype != bool_;
  }
  return false;
}

Tensor of_two(const char* formula, const Tensor& x, const Tensor& y) {
  const ExpressionRef program("_checked(Tensor x, Tensor y) -> Tensor", formula);
  return prim::elementwise(program, x, y);
}

void formulas(Checks& checks) {
  for (const Formula& formula : kFormulas) {
    for (const Dtype dtype : kDtypes) {
      if (!is_taken(formula.takes, dtype)) continue;
      const auto of = [&](char operand) {
        return formula.positive == operand ? Range::positive : Range::unit;
      };
      checks.compare(
          fmt::format("elementwise {} {} [7, 33]", formula.text, dtype.name()),
          {.dtype = dtype, .tolerance = formula.tolerance, .must_be_there = is_required(dtype)},
          [&](Place& place) -> TensorList {
            const Tensor x = place.tensor({7, 33}, {}, of('x')),
                         y = place.tensor({7, 33}, {}, of('y'));
            return {of_two(formula.text, x, y)};
          });
    }
  }
}

void shapes(Checks& checks) {
  struct Shapes {
    Sizes x, y;
  };
  const Shapes pairs[] = {{{0}, {0}},
                          {{1}, {1}},
                          {{}, {}},
                          {{5}, {5}},
                          {{3, 0, 2}, {2}},
                          {{}, {3, 4}},
                          {{3, 1}, {1, 4}},
                          {{2, 3, 4}, {3, 1}},
                          {{1, 1, 1}, {2, 5, 3}},
                          {{100003}, {100003}},
                          {{311, 257}, {257}},
                          {{64, 64}, {64, 1}},
                          {{2, 3, 2, 3, 2}, {2, 1, 2, 1, 2}},
                          {{1, 65537}, {3, 1}}};
  for (const Shapes& pair : pairs) {
    for (const Dtype dtype : {float32, int64, uint8}) {
      for (const Layout layout : kLayouts) {
        const std::string name =
            fmt::format("elementwise x * y + x {} {} and {} {}", dtype.name(), sizes_text(pair.x),
                        sizes_text(pair.y), name_of(layout));
        checks.compare(name, {.dtype = dtype, .tolerance = {0, 2}},
                       [&](Place& place) -> TensorList {
                         const Tensor x = place.tensor(pair.x, layout), y = place.tensor(pair.y);
                         return {of_two("x * y + x", x, y), of_two("x * y + x", y, x)};
                       });
      }
    }
  }
}

// What lies around is not touched, and dtypes meet.
void others(Checks& checks) {
  for (const Dtype dtype : kDtypes) {
    for (const Layout layout : {Layout::stepped, Layout::offset, Layout::permuted}) {
      checks.compare(fmt::format("elementwise in place {} {}", dtype.name(), name_of(layout)),
                     {.dtype = dtype, .tolerance = {0, 1}}, [&](Place& place) -> TensorList {
                       const Tensor all = place.tensor({6, 8, 10});
                       const Tensor part = layout == Layout::stepped ? all.slice(-1, 1, 10, 2)
                                           : layout == Layout::offset
                                               ? all.narrow(0, 1, 4).narrow(2, 3, 5)
                                               : all.permute({2, 0, 1}).narrow(1, 2, 3);
                       part.add_(place.tensor(Sizes(part.sizes().begin(), part.sizes().end())));
                       return {all};
                     });
    }
    for (const Dtype other : kDtypes) {
      checks.compare(fmt::format("elementwise x + y of {} and {}", dtype.name(), other.name()),
                     {.dtype = dtype, .tolerance = {1, 1}, .same_dtype = true},
                     [&](Place& place) -> TensorList {
                       return {place.tensor({5, 7}) + place.tensor_of(other, {5, 7})};
                     });
    }
  }
  checks.compare("elementwise two results float32", {.tolerance = {1, 1}},
                 [](Place& place) -> TensorList {
                   const ExpressionRef program("_checked(Tensor x, Tensor y) -> (Tensor, Tensor)",
                                               "x + y\nx * y");
                   const auto [sum, product] = prim::elementwise<std::tuple<Tensor, Tensor>>(
                       program, place.tensor({37, 53}), place.tensor({53}));
                   return {sum, product};
                 });
  checks.compare(
      "elementwise numbers float32", {.tolerance = {1, 4}}, [](Place& place) -> TensorList {
        const ExpressionRef program("_checked(Tensor x, float a, int n) -> Tensor", "x * a + n");
        const Tensor x = place.tensor({101});
        return {prim::elementwise(program, x, 1.25, int64_t{3}),
                prim::elementwise(program, x, -0.5, int64_t{-2})};
      });
  for (const char* formula :
       {"max(x, y)", "min(x, y)", "where(x > y, x, y)", "isnan(x) or isinf(y)", "x == y", "exp(x)",
        "x * y", "sign(x) + abs(y)"}) {
    for (const Dtype dtype : kDtypes) {
      if (!dtype.is_float()) continue;
      checks.compare(fmt::format("elementwise {} {} of nan and inf", formula, dtype.name()),
                     {.dtype = dtype, .tolerance = {4, 1}}, [&](Place& place) -> TensorList {
                       const std::vector<double> odd = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.5};
                       const Tensor x = Tensor::from(odd, {6, 1}).to(dtype),
                                    y = Tensor::from(odd, {6}).to(dtype);
                       return {of_two(formula, place.put(x), place.put(y))};
                     });
    }
  }
}

// What abi.h says of CAST, LOAD and STORE at the ends of the types.
void conversions(Checks& checks) {
  for (const Dtype dtype : kDtypes) {
    if (!is_taken(Takes::whole, dtype)) continue;
    for (const char* formula : {"x * x > 0", "(x + x) // 3", "(x << 4) + y > 0", "-x * y < 0"}) {
      checks.compare(
          fmt::format("elementwise {} {} beyond its range", formula, dtype.name()),
          {.dtype = dtype, .must_be_there = is_required(dtype)}, [&](Place& place) -> TensorList {
            const Tensor x = Tensor::from(
                std::vector<int64_t>{50000, -50000, 46341, 65536, 1 << 30, 4000000000, 20000, 200,
                                     120, 16, 12, -12, 3, 0, INT64_MIN, INT64_MAX},
                {16});
            const Tensor host = x.to(dtype);
            return {of_two(formula, place.put(host), place.put(host.flip({0})))};
          });
    }
  }
  for (const Dtype dtype : kDtypes) {
    if (!dtype.is_float()) continue;
    for (const char* formula : {"int(x)", "bool(x)", "int(x * 2) + int(y)"}) {
      checks.compare(fmt::format("elementwise {} {} of nan and inf", formula, dtype.name()),
                     {.dtype = dtype, .must_be_there = is_required(dtype)},
                     [&](Place& place) -> TensorList {
                       const Tensor x = Tensor::from(kOdd, {12}).to(dtype);
                       return {of_two(formula, place.put(x), place.put(x.flip({0})))};
                     });
    }
  }
}

}  // namespace

void check_elementwise(Checks& checks) {
  checks.begin("elementwise");
  formulas(checks);
  shapes(checks);
  others(checks);
  conversions(checks);
}

}  // namespace tenon::cli::conformance
