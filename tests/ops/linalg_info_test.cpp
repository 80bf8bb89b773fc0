// The forms of the pack `linalg` that give an info of each matrix (_ex) instead of refusing the batch. On every
// device.
#include <tenon/linalg.hpp>

#include "linalg_samples.h"
#include "refusals.h"

namespace {

namespace la = tn::linalg;

// A symmetric regular matrix, and behind it one whose second row is half the first, which no op takes.
Tensor good_and_bad(tn::Device d) {
  const Tensor bad = Tensor::from({4., 2., 8., 2., 1., 4., 8., 4., 1.}, {3, 3}, d);
  return tn::stack({positive_definite(regular({3, 3}, d)), bad}, 0);
}

void expect_infos(const Tensor& info, const std::vector<int32_t>& expected) {
  EXPECT_EQ(info.dtype(), tn::int32);
  EXPECT_EQ(info.to_vector<int32_t>(), expected);
}

bool is_finite(const Tensor& x) { return tn::all(tn::isfinite(x)).item<bool>(); }

TEST(LinalgInfo, SaysWhichMatricesFailed) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor a = good_and_bad(d), good = a[0], b = sample({3, 2}, d);
    const auto [l, of_l] = la::cholesky_ex(a);
    expect_infos(of_l, {0, 2});
    EXPECT_EQ(distance(l[0], la::cholesky(good)), 0);
    expect_infos(std::get<1>(la::cholesky_ex(a, true)), {0, 2});
    const auto [inverse, of_inverse] = la::inv_ex(a);
    expect_infos(of_inverse, {0, 2});
    EXPECT_EQ(distance(inverse[0], la::inv(good)), 0);
    EXPECT_TRUE(tn::all(tn::isinf(inverse[1])).item<bool>());
    const auto [lu, pivots, of_lu] = la::lu_factor_ex(a);
    expect_infos(of_lu, {0, 2});
    EXPECT_EQ(distance(lu[0], std::get<0>(la::lu_factor(good))), 0);
    for (const bool left : {true, false}) {
      const Tensor side = left ? b : b.mT();
      const auto [x, of_x] = la::solve_ex(a, side.unsqueeze(0), left);
      expect_infos(of_x, {0, 2});
      EXPECT_LT(distance(x[0], la::solve(good, side, left)), 1e-14);
      EXPECT_FALSE(is_finite(x[1]));
    }
    const Tensor nothing = tn::stack({good, tn::zeros_like(good)}, 0);
    expect_infos(std::get<2>(la::ldl_factor_ex(nothing)), {0, 1});

    expect_error([&] { la::cholesky_ex(a, false, true); },
                 "cholesky_ex: matrix 1 of the batch is not positive definite: its leading minor "
                 "of order 2 is not positive");
    expect_error([&] { la::inv_ex(a, true); }, "inv_ex: matrix 1 of the batch is singular");
    expect_error([&] { la::lu_factor_ex(a, true); },
                 "lu_factor_ex: matrix 1 of the batch is singular");
    expect_error([&] { la::solve_ex(a, b, true, true); },
                 "solve_ex: matrix 1 of the batch is singular");
    expect_error([&] { la::ldl_factor_ex(nothing, false, true); },
                 "ldl_factor_ex: matrix 1 of the batch is singular: the diagonal element 1 of D "
                 "is 0");
    expect_error([&] { la::ldl_factor(nothing[1]); }, "ldl_factor: the matrix is singular");
  }
}

TEST(LinalgInfo, AFailureLeavesTheGradientsOfOtherMatrices) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor b = sample({3, 2}, d);
    const auto check = [&](const char* name, auto all, auto one) {
      SCOPED_TRACE(name);
      const Tensor a = good_and_bad(d).requires_grad_();
      const Tensor good = good_and_bad(d)[0].clone().requires_grad_();
      const Tensor found = tn::grad({weigh(all(a)[0])}, {a})[0];
      EXPECT_LT(distance(found[0], tn::grad({weigh(one(good))}, {good})[0]), 1e-13);
    };
    check(
        "cholesky_ex", [](const Tensor& a) { return std::get<0>(la::cholesky_ex(a)); },
        [](const Tensor& a) { return la::cholesky(a); });
    check(
        "inv_ex", [](const Tensor& a) { return std::get<0>(la::inv_ex(a)); },
        [](const Tensor& a) { return la::inv(a); });
    check(
        "lu_factor_ex", [](const Tensor& a) { return std::get<0>(la::lu_factor_ex(a)); },
        [](const Tensor& a) { return std::get<0>(la::lu_factor(a)); });
    check(
        "solve_ex", [&](const Tensor& a) { return std::get<0>(la::solve_ex(a, b)); },
        [&](const Tensor& a) { return la::solve(a, b); });
  }
}

TEST(LinalgInfo, HasTheLeadingSizesOfTheMatrices) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{3, 3}, {0, 0}, {0, 3, 3}, {2, 0, 0}, {2, 1, 3, 3}}) {
      const Tensor x = tn::zeros(sizes, {}, d) + tn::eye(sizes.back(), {}, {}, d);
      const std::vector<int64_t> batch(sizes.begin(), sizes.end() - 2);
      for (const bool check : {false, true}) {
        for (const Tensor& info :
             {std::get<1>(la::cholesky_ex(x, false, check)), std::get<1>(la::inv_ex(x, check)),
              std::get<2>(la::lu_factor_ex(x, check)), std::get<1>(la::solve_ex(x, x, true, check)),
              std::get<2>(la::ldl_factor_ex(x, false, check))}) {
          expect_sizes(info, batch);
          EXPECT_EQ(tn::sum(tn::abs(info)).item<int64_t>(), 0);
        }
      }
    }
    // Of each a, where there are several right sides to it.
    const Tensor one = tn::eye(2, {}, {}, d);
    expect_sizes(std::get<1>(la::solve_ex(one, zeros_on(d, {4, 2, 1}))), {});
    expect_sizes(std::get<1>(la::solve_ex(zeros_on(d, {3, 0, 0}), zeros_on(d, {3, 0, 2}))), {3});
    expect_infos(std::get<1>(la::solve_ex(zeros_on(d, {2, 2, 2}), zeros_on(d, {2, 2, 0}))), {1, 1});
    expect_sizes(std::get<2>(la::lu_factor_ex(zeros_on(d, {2, 3, 0}))), {2});
  }
}

TEST(LinalgInfo, RefusesWhatIsNoMatrixOfNumbersItTakes) {
  expect_refusals({
      {[](tn::Device d) {
         la::cholesky_ex(zeros_on(d, {2, 3}));
       },
       "cholesky_ex: a is [2, 3], expected square matrices"},
      {[](tn::Device d) { la::inv_ex(zeros_on(d, {2})); },
       "inv_ex: a is [2], expected at least 2 dimensions"},
      {[](tn::Device d) {
         la::lu_factor_ex(places_on(d, {2, 2}));
       },
       "lu_factor_ex: a is int64, expected float32 or float64"},
      {[](tn::Device d) {
         la::solve_ex(zeros_on(d, {2, 2}), zeros_on(d, {3, 2}));
       },
       "solve_ex: a is [2, 2] and b is [3, 2], expected 2 rows of b"},
  });
}

}  // namespace
