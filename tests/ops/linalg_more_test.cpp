// The pack `linalg`, what linalg_test.cpp and linalg_info_test.cpp leave: norms of vectors, parts of LU factors,
// factors of indefinite matrices, reflections, and singular values of low rank. On every device; what is
// compared with PyTorch stands in linalg_test.cpp.
#include <tenon/linalg.hpp>

#include "linalg_samples.h"
#include "refusals.h"

namespace {

namespace la = tn::linalg;

TEST(LinalgMore, PowersOfWholeNumbersAndHalves) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const tn::Dtype dtype : {tn::int64, tn::uint8, tn::float16, tn::bfloat16}) {
      const Tensor x = tn::tensor({{1, 2}, {3, 4}}, d).to(dtype);
      const Tensor y = la::matrix_power(x, 3);
      EXPECT_EQ(y.dtype(), dtype);
      EXPECT_EQ(y.to(tn::float64).to_vector<double>(), (std::vector<double>{37, 54, 81, 118}));
      EXPECT_EQ(la::matrix_power(x, 0).to(tn::float64).to_vector<double>(),
                (std::vector<double>{1, 0, 0, 1}));
    }
    const Tensor x = sample({3, 3}, d).requires_grad_();
    EXPECT_EQ(tn::grad(la::matrix_power(x, 0).sum(), x).to_vector<double>(),
              std::vector<double>(9, 0));
  }
  expect_refusals({
      {[](tn::Device d) {
         la::matrix_power(tn::ones({2, 2}, tn::int64, d), -1);
       },
       "matrix_power: a is int64, expected float32 or float64"},
      {[](tn::Device d) {
         la::matrix_power(zeros_on(d, {2, 3}), 2);
       },
       "matrix_power: x is [2, 3], expected square matrices"},
      {[](tn::Device d) {
         la::norm(tn::tensor(2.0, d), {.dim = {0, 0}});
       },
       "norm: dimension 0 appears twice"},
      {[](tn::Device d) { la::norm(zeros_on(d, {0}), {.ord = -1}); },
       "norm: x is [0] and p is -1; no elements have no norm of a negative order"},
  });
}

TEST(LinalgMore, TakesMatricesOfNothing) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const std::vector<int64_t> many = {int64_t{1} << 40, 0, 0};
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{0, 0}, {0, 3, 3}, {2, 0, 0}, many}) {
      const Tensor x = zeros_on(d, sizes);
      const auto [lu, pivots] = la::lu_factor(x);
      const auto [ld, exchanged] = la::ldl_factor(x);
      const auto [vectors, tau] = la::geqrf(x);
      for (const Tensor& y : {ld, vectors, std::get<1>(la::lu_unpack(lu, pivots)),
                              std::get<1>(la::lu(x)), la::ldl_solve(ld, exchanged, x),
                              la::householder_product(vectors, tau), la::ormqr(vectors, tau, x)}) {
        expect_sizes(y, sizes);
      }
    }
    const auto [vectors, tau] = la::geqrf(zeros_on(d, {2, 3, 0}));
    expect_sizes(vectors, {2, 3, 0});
    expect_sizes(tau, {2, 0});
    const Tensor x = sample({2, 3, 4}, d).to(tn::float32);
    EXPECT_EQ(distance(la::ormqr(vectors, tau, x), x), 0);
    const auto [u, s, v] = la::svd_lowrank(zeros_on(d, {4, 0}), {.q = 2});
    expect_sizes(u, {4, 0});
    expect_sizes(s, {0});
    expect_sizes(v, {0, 0});
    expect_sizes(std::get<1>(la::svd_lowrank(zeros_on(d, {0, 4, 3}))), {0, 3});
    expect_sizes(std::get<0>(la::pca_lowrank(zeros_on(d, {4, 3}), {.q = 0})), {4, 0});
  }
}

TEST(LinalgMore, FactorsMultiplyToTheirMatrixInBothDtypesAndEveryLayout) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::float32, tn::float64}) {
      const double near = dtype == tn::float32 ? 1e-4 : 1e-12;
      const Tensor a = regular({3, 5, 5}, d).to(dtype), b = sample({3, 5, 2}, d, 0.4).to(dtype);
      for (const Layout& layout : layouts()) {
        SCOPED_TRACE(d.name() + " " + dtype.name() + " " + layout.name);
        const Tensor x = layout.of(a), y = layout.of(b);
        const auto [lu, pivots] = la::lu_factor(x);
        const auto [p, l, u] = la::lu_unpack(layout.of(lu), pivots);
        EXPECT_LT(distance(tn::matmul(p, tn::matmul(l, u)), a), near);
        const Tensor symmetric = a + a.mT();
        const auto [ld, exchanged] = la::ldl_factor(layout.of(symmetric));
        const Tensor solution = la::ldl_solve(layout.of(ld), exchanged, y);
        EXPECT_LT(distance(tn::matmul(symmetric, solution), b), near);
        const auto [vectors, tau] = la::geqrf(x);
        EXPECT_LT(distance(la::ormqr(layout.of(vectors), tau, tn::triu(vectors)), a), near);
        const Tensor q = la::householder_product(vectors, tau);
        EXPECT_LT(distance(la::ormqr(vectors, tau, y, {.transpose = true}), tn::matmul(q.mT(), b)),
                  near);
        EXPECT_LT(distance(la::ormqr(vectors, tau, y.mT(), {.left = false}), tn::matmul(b.mT(), q)),
                  near);
      }
    }
  }
}

// Larger than the blocks in which LAPACK goes through a matrix, and with blocks of two rows.
TEST(LinalgMore, SolvesIndefiniteEquationsOfAHundredRows) {
  load_all();
  Tensor a = sample({2, 150, 150});
  a = a + a.mT();
  a.diagonal(0, -2, -1).zero_();
  const Tensor b = sample({150, 3});
  const auto [ld, pivots] = la::ldl_factor(a);
  EXPECT_TRUE(tn::any(tn::lt(pivots, 0)).item<bool>());
  EXPECT_LT(distance(tn::matmul(a, la::ldl_solve(ld, pivots, b)), b), 1e-9);
  // The triangle above the diagonal is not read.
  EXPECT_EQ(distance(std::get<0>(la::ldl_factor(tn::tril(a))), ld), 0);
}

TEST(LinalgMore, GradientsAreThoseOfDifferences) {
  load_all();
  const Tensor a = regular({2, 2, 2}), b = sample({2, 2, 2}, {}, 0.4), tall = sample({4, 2});
  const auto check = [](const char* name, const OpUnderTest& f, const TensorList& inputs) {
    SCOPED_TRACE(name);
    gradcheck(f, inputs);
  };
  check("cholesky_ex",
        [](const TensorList& x) {
          return std::get<0>(la::cholesky_ex(positive_definite(x[0]), true));
        },
        {a});
  check("inv_ex", [](const TensorList& x) { return std::get<0>(la::inv_ex(x[0])); }, {a});
  check("solve_ex",
        [](const TensorList& x) { return std::get<0>(la::solve_ex(x[0], x[1], false)); }, {a, b});
  check("lu_unpack",
        [](const TensorList& x) {
          const auto [lu, pivots] = la::lu_factor(x[0]);
          const auto [p, l, u] = la::lu_unpack(lu, pivots);
          return tn::cat({l, u}, 0);
        },
        {a});
  const auto [ld, pivots] = la::ldl_factor(a + a.mT());
  check("ldl_solve",
        [ld = ld, pivots = pivots](const TensorList& x) { return la::ldl_solve(ld, pivots, x[0]); },
        {b});
  check("ormqr", [](const TensorList& x) { return la::ormqr(x[0], x[1], x[2], false, true); },
        {tall, sample({2}), sample({3, 4})});
  for (const double ord : {2.0, 3.0, -1.0, double(INFINITY)}) {
    check("vector_norm",
          [&](const TensorList& x) {
            return la::vector_norm(x[0], {.ord = ord, .dim = {-1}, .keepdim = true});
          },
          {b});
  }
  check("norm of matrices",
        [](const TensorList& x) {
          return la::norm(x[0], {.ord = 2, .dim = {2, 0}});
        },
        {b});
  check("svd_lowrank",
        [](const TensorList& x) {
          const auto [u, s, v] = la::svd_lowrank(x[0]);
          return tn::matmul(u * tn::exp(s).unsqueeze(-2), v.mT());
        },
        {tall});
}

TEST(LinalgMore, FindsMatricesOfLowRankFromRandomVectors) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::float32, tn::float64}) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      const double near = dtype == tn::float32 ? 1e-4 : 1e-12;
      const Tensor left = sample({2, 30, 3}, d), right = sample({2, 3, 20}, d, 0.4);
      const Tensor x = tn::matmul(left, right).to(dtype);
      for (const Tensor& a : {x, x.mT()}) {
        const auto [u, s, v] = la::svd_lowrank(a, {.q = 5});
        expect_sizes(u, {2, a.size(-2), 5});
        expect_sizes(v, {2, a.size(-1), 5});
        EXPECT_LT(distance(tn::matmul(u * s.unsqueeze(-2), v.mT()), a), near);
        EXPECT_LT(distance(s, la::svdvals(a).narrow(-1, 0, 5)), near);
        EXPECT_LT(distance(tn::matmul(u.mT(), u), tn::eye(5, {}, dtype, d)), near);
      }
      // Without M, and without its mean, the matrix is the same.
      const Tensor offset = sample({20}, d, 0.9).to(dtype);
      const auto [u, s, v] = la::svd_lowrank(x + offset, {.q = 4, .niter = 1, .M = offset});
      EXPECT_LT(distance(tn::matmul(u * s.unsqueeze(-2), v.mT()), x), near);
      const Tensor centered = x - tn::mean(x, {-2}, true);
      const auto [pu, ps, pv] = la::pca_lowrank(x + offset);
      expect_sizes(ps, {2, 6});
      EXPECT_LT(distance(tn::matmul(pu * ps.unsqueeze(-2), pv.mT()), centered), near);
    }
  }
}

TEST(LinalgMore, DrawsFromTheGeneratorOfTheThread) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor a = sample({8, 6}, d);
    const auto values = [&] { return std::get<1>(la::svd_lowrank(a, {.q = 2, .niter = 0})); };
    tn::manual_seed(3);
    const Tensor first = values(), second = values();
    tn::manual_seed(3);
    EXPECT_EQ(distance(values(), first), 0);
    EXPECT_GT(distance(first, second), 0);
  }
}

TEST(LinalgMore, IsReplayedInCompiledFunctions) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const auto f = [](const Tensor& a, const Tensor& b) {
      const auto [x, info] = la::solve_ex(a, b);
      const auto [ld, pivots] = la::ldl_factor(a + a.mT());
      return x + la::ldl_solve(ld, pivots, b) * std::get<0>(la::inv_ex(a)) +
             info.to(tn::float64).unsqueeze(-1).unsqueeze(-1);
    };
    auto step = tn::compile(f);
    for (int i = 0; i < 3; ++i) {
      const Tensor a = regular({2, 3, 3}, d) + 0.1 * i, b = sample({2, 3, 3}, d, i);
      EXPECT_EQ(distance(step(a, b), f(a, b)), 0) << step.describe();
    }
  }
}

TEST(LinalgMore, HasSizesOnMeta) {
  load_all();
  const tn::Device meta("meta");
  const Tensor x = tn::empty({2, 4, 4}, tn::float32, meta);
  const auto [lu, pivots, info] = la::lu_factor_ex(x);
  expect_sizes(info, {2});
  expect_sizes(std::get<0>(la::lu_unpack(lu, pivots)), {2, 4, 4});
  const auto [ld, exchanged] = la::ldl_factor(x);
  expect_sizes(la::ldl_solve(ld, exchanged, tn::empty({4, 3}, tn::float32, meta)), {2, 4, 3});
  const auto [vectors, tau] = la::geqrf(tn::empty({2, 4, 3}, tn::float32, meta));
  expect_sizes(tau, {2, 3});
  expect_sizes(la::ormqr(vectors, tau, x), {2, 4, 4});
  expect_sizes(std::get<1>(la::svd_lowrank(x, {.q = 2})), {2, 2});
}

TEST(LinalgMore, NormsKeepDimensionsAndTakeHalves) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = Tensor::from({3., -4., 0., 5., 12., 0.}, {2, 3}, d);
    expect_near(la::vector_norm(x, {.dim = {1}}), {5, 13});
    expect_near(la::vector_norm(x, {.ord = 0}), {4});
    expect_near(la::vector_norm(x.to(tn::float16), {.ord = INFINITY}), {12});
    expect_near(la::norm(x.to(tn::bfloat16), {.dim = {-1}}), {5, 13});
    const Tensor half = x.to(tn::float16);
    expect_near(la::norm(half, {.ord = 1}), {16});
    expect_near(la::matrix_norm(half, {.ord = INFINITY}), {17});
    EXPECT_EQ(la::matrix_norm(half).dtype(), tn::float16);
    EXPECT_EQ(la::norm(x.to(tn::float16), {.dtype = tn::float64}).dtype(), tn::float64);
    expect_near(la::vector_norm(x.to(tn::int64), {.ord = 1, .dtype = tn::float32}), {24});
    expect_near(la::norm(x, {.ord = 1}), {16});
    expect_sizes(la::norm(x, {.keepdim = true}), {1, 1});
    expect_sizes(la::norm(x, {.ord = 2, .keepdim = true}), {1, 1});
    expect_sizes(la::vector_norm(x, {.dim = {0}, .keepdim = true}), {1, 3});
  }
}

TEST(LinalgMore, SaysWhatItRefuses) {
  const auto numbers = [](tn::Device d, std::vector<int32_t> values) {
    return Tensor::from(values, {int64_t(values.size())}, d);
  };
  expect_refusals({
      {[](tn::Device d) {
         la::lu_unpack(zeros_on(d, {3, 2}), places_on(d, {2}));
       },
       "lu_unpack: pivots is [2] int64, expected [2] int32"},
      {[&](tn::Device d) {
         la::lu_unpack(zeros_on(d, {3, 2}), numbers(d, {1, 4}));
       },
       "lu_unpack: a pivot is 4, expected 1 to 3"},
      {[](tn::Device d) {
         la::ldl_factor(zeros_on(d, {2, 3}));
       },
       "ldl_factor: a is [2, 3], expected square matrices"},
      {[&](tn::Device d) {
         la::ldl_solve(zeros_on(d, {2, 2}), numbers(d, {1, 2}), zeros_on(d, {3, 1}));
       },
       "ldl_solve: ld is [2, 2] and b is [3, 1], expected 2 rows of b"},
      {[&](tn::Device d) {
         la::ldl_solve(zeros_on(d, {2, 2}), numbers(d, {1, 2, 3}), zeros_on(d, {2, 1}));
       },
       "ldl_solve: pivots is [3] int32, expected [2] int32"},
      {[&](tn::Device d) {
         const Tensor ld = tn::eye(2, {}, {}, d).requires_grad_();
         la::ldl_solve(ld, numbers(d, {1, 2}), tn::ones({2, 1}, {}, d)).sum().backward();
       },
       "there is no gradient of ld, but of b alone"},
      {[](tn::Device d) { la::geqrf(zeros_on(d, {2})); },
       "geqrf: a is [2], expected at least 2 dimensions"},
      {[](tn::Device d) {
         la::ormqr(zeros_on(d, {3, 2}), zeros_on(d, {3}), zeros_on(d, {3, 1}));
       },
       "ormqr: a is [3, 2] and tau [3], expected tau [.., k] with at most as many elements as a "
       "[.., m, n] has rows, and columns"},
      {[](tn::Device d) {
         la::ormqr(zeros_on(d, {3, 2}), zeros_on(d, {2}), zeros_on(d, {3, 1}), false);
       },
       "ormqr: a is [3, 2] and other [3, 1], expected 3 columns of other"},
      {[](tn::Device d) {
         la::svd_lowrank(zeros_on(d, {3, 2}), {.q = -1});
       },
       "svd_lowrank: q is -1, expected 0 or more"},
      {[](tn::Device d) {
         la::svd_lowrank(zeros_on(d, {3, 2}), {.niter = -1});
       },
       "svd_lowrank: niter is -1, expected 0 or more"},
      {[](tn::Device d) {
         la::svd_lowrank(zeros_on(d, {3, 2}), {.M = zeros_on(d, {3})});
       },
       "svd_lowrank: a is [3, 2] and M is [3], expected sizes that broadcast to those of a"},
      {[](tn::Device d) {
         la::pca_lowrank(zeros_on(d, {3, 2}), {.q = 3});
       },
       "pca_lowrank: q is 3 for a of [3, 2], expected 0 to 2"},
      {[](tn::Device d) {
         la::pca_lowrank(zeros_on(d, {3, 2}), {.niter = -1});
       },
       "pca_lowrank: niter is -1, expected 0 or more"},
      {[](tn::Device d) { la::vector_norm(places_on(d, {2})); },
       "vector_norm: x is int64, expected a floating dtype"},
      {[](tn::Device d) {
         la::matrix_sqrth(zeros_on(d, {2, 3}));
       },
       "matrix_sqrth: a is [2, 3], expected square matrices"},
      {[](tn::Device d) { la::norm(zeros_on(d, {2}), {.dtype = tn::float16}); },
       "norm: dtype is float16, expected a floating one that holds all numbers of a, float32"},
      {[](tn::Device d) {
         la::norm(places_on(d, {2, 2}), {.ord = 2});
       },
       "norm: a is int64, expected a floating dtype"},
      {[](tn::Device d) {
         la::ldl_solve(zeros_on(d, {2, 2, 2}), tn::ones({2, 2}, tn::int32, d),
                       zeros_on(d, {3, 2, 2}));
       },
       "ldl_solve: ld is [2, 2, 2] and b is [3, 2, 2], whose leading dimensions do not broadcast"},
      {[](tn::Device d) {
         la::ormqr(zeros_on(d, {2, 2, 2}), zeros_on(d, {2, 2}), zeros_on(d, {3, 2, 2}));
       },
       "ormqr: a is [2, 2, 2] and other is [3, 2, 2], whose leading dimensions do not broadcast"},
      {[](tn::Device d) {
         la::norm(zeros_on(d, {2, 2, 2}), {.ord = 2});
       },
       "norm: a is [2, 2, 2], expected 1 or 2 dimensions where ord is given and dim is not"},
      {[](tn::Device d) {
         la::norm(zeros_on(d, {2, 2, 2}), {.dim = {0, 1, 2}});
       },
       "norm: dim is [0, 1, 2], expected one dimension of vectors or two of matrices"},
      {[](tn::Device d) {
         la::norm(zeros_on(d, {2, 2}), {.ord = 3});
       },
       "norm: ord is 3, expected None (Frobenius), 1, -1, 2, -2, inf or -inf"},
  });
}

// LAPACK would exchange rows that are not there.
TEST(LinalgMore, RefusesPivotsThatAreNoneOfItsOwn) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const std::vector<int32_t>& pivots : {std::vector<int32_t>{0, 2, 3},
                                               {1, 2, 4},
                                               {1, 2, -3},
                                               {-2, -3, 3},
                                               {-4, -4, 3},
                                               {-1, -1, -1},
                                               {INT32_MIN, INT32_MIN, 1},
                                               {INT32_MAX, 1, 1}}) {
      expect_error(
          [&] {
            la::ldl_solve(tn::eye(3, {}, {}, d), Tensor::from(pivots, {3}, d), zeros_on(d, {3, 1}));
          },
          "ldl_solve: the matrix has pivots that ldl_factor does not give: expected each in 1 to "
          "3");
    }
  }
}

}  // namespace
