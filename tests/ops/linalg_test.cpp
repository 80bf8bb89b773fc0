// The pack `linalg`: PyTorch's values and gradients (tests/data/torch_linalg.json), gradients by
// differences, matrices of nothing, NaN, layouts, and what is refused. On every device: where that is
// not `cpu` the kernels get copies.
#include <tenon/linalg.hpp>

#include "linalg_samples.h"
#include "refusals.h"
#include "torch_cases.h"

namespace {

using namespace torch_cases;
namespace la = tn::linalg;

json cases_of_linalg() {
  std::ifstream file(std::string(std::getenv("TENON_SOURCE_DIR")) +
                     "/tests/data/torch_linalg.json");
  return json::parse(file).at("cases");
}

void expect_same(const Tensor& found, const json& expected, const std::string& what) {
  const std::vector<int64_t> sizes = expected.at("s");
  ASSERT_EQ(std::vector<int64_t>(found.sizes().begin(), found.sizes().end()), sizes) << what;
  const std::string dtype =
      expected.contains("d") ? expected.at("d").get<std::string>() : "float64";
  EXPECT_EQ(found.dtype().name(), dtype) << what;
  std::vector<double> values;
  double greatest = 1;
  for (const json& e : expected.at("v")) {
    values.push_back(number_of(e));
    if (std::isfinite(values.back())) greatest = std::max(greatest, std::fabs(values.back()));
  }
  const std::vector<double> is = found.to_vector<double>();
  for (size_t i = 0; i < is.size(); ++i) {
    if (std::isfinite(values[i])) {
      EXPECT_NEAR(is[i], values[i], 2e-10 * greatest) << what << " at " << i;
    } else {
      EXPECT_EQ(std::isnan(is[i]), std::isnan(values[i])) << what << " at " << i;
      if (std::isinf(values[i])) {
        EXPECT_EQ(is[i], values[i]) << what << " at " << i;
      }
    }
  }
}

// Signs of vectors are free, so that some cases compare what does not depend on them.
TensorList made_of(TensorList outputs, const json& c) {
  if (!c.contains("made")) return outputs;
  for (Tensor& t : outputs) t = c.at("made") == "abs" ? tn::abs(t) : t * t;
  return outputs;
}

TensorList gradients_of(const Tensor& loss, const TensorList& leaves, bool create_graph) {
  TensorList gradients(leaves.size());
  if (loss.defined())
    gradients = tn::grad({loss}, leaves, {.create_graph = create_graph, .allow_unused = true});
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = tn::zeros_like(leaves[i]);
  }
  return gradients;
}

void check_case(const json& c, tn::Device device) {
  const Arguments arguments(c, device);
  const json& expected = c.at("out");
  const TensorList outputs = made_of(called(c.at("op"), arguments.values, expected), c);
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i].device(), device);
    expect_same(outputs[i], expected[i], "output " + std::to_string(i));
  }
  if (!c.contains("grad")) return;
  const TensorList first = gradients_of(weighed(outputs), arguments.leaves, c.contains("grad2"));
  for (size_t i = 0; i < first.size(); ++i)
    expect_same(first[i], c.at("grad")[i], "gradient " + std::to_string(i));
  if (!c.contains("grad2")) return;
  const TensorList second = gradients_of(weighed(first), arguments.leaves, false);
  for (size_t i = 0; i < second.size(); ++i)
    expect_same(second[i], c.at("grad2")[i], "second gradient " + std::to_string(i));
}

TEST(Linalg, HasTheValuesAndGradientsOfPyTorch) {
  const json all = cases_of_linalg();
  EXPECT_GT(all.size(), 100u);
  for (tn::Device device : devices()) {
    for (const json& c : all) {
      SCOPED_TRACE(device.name() + " " + c.at("op").get<std::string>() + c.at("args").dump());
      try {
        check_case(c, device);
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    }
  }
}

TEST(Linalg, GradientsAreThoseOfDifferences) {
  load_all();
  const Tensor a = regular({2, 2, 2}), b = sample({2, 2, 2}, {}, 0.4), wide = sample({2, 3});
  const Tensor tall = sample({3, 2}, {}, 0.2);
  const auto check = [](const char* name, const OpUnderTest& f, const TensorList& inputs) {
    SCOPED_TRACE(name);
    gradcheck(f, inputs);
  };
  check("cholesky", [](const TensorList& x) { return la::cholesky(positive_definite(x[0])); }, {a});
  check("cholesky_solve", [](const TensorList& x) { return la::cholesky_solve(x[1], x[0], true); },
        {a, b});
  check("solve", [](const TensorList& x) { return la::solve(x[0], x[1], false); }, {a, b});
  check("det", [](const TensorList& x) { return la::det(x[0]); }, {a});
  check("lu_factor", [](const TensorList& x) { return std::get<0>(la::lu_factor(x[0])); }, {a});
  check("qr",
        [](const TensorList& x) {
          const auto [q, r] = la::qr(x[0]);
          return tn::cat({q, r.mT()}, 0);
        },
        {wide});
  check("qr of a tall one", [](const TensorList& x) { return std::get<0>(la::qr(x[0])); }, {tall});
  check("svd",
        [](const TensorList& x) {
          const auto [u, s, vh] = la::svd(x[0], false);
          return tn::matmul(u * tn::exp(s).unsqueeze(-2), vh);
        },
        {wide});
  check("eigh",
        [](const TensorList& x) {
          const auto [l, v] = la::eigh(positive_definite(x[0]));
          return tn::matmul(v * tn::sqrt(l).unsqueeze(-2), v.mT());
        },
        {a});
  check("matrix_sqrth",
        [](const TensorList& x) { return la::matrix_sqrth(positive_definite(x[0])); }, {a});
  check("lstsq", [](const TensorList& x) { return std::get<0>(la::lstsq(x[0], x[1])); },
        {tall, sample({3}, {}, 0.7)});
  check("pinv", [](const TensorList& x) { return la::pinv(x[0]); }, {wide});
  check("matrix_exp", [](const TensorList& x) { return la::matrix_exp(x[0]); }, {a});
}

TEST(Linalg, FactorsMultiplyToTheirMatrixInBothDtypesAndEveryLayout) {
  for (tn::Device device : devices()) {
    for (tn::Dtype dtype : {tn::float32, tn::float64}) {
      const double near = dtype == tn::float32 ? 2e-5 : 1e-13;
      const Tensor a = regular({3, 5, 5}, device).to(dtype);
      for (const Layout& layout : layouts()) {
        SCOPED_TRACE(device.name() + " " + dtype.name() + " " + layout.name);
        const Tensor x = layout.of(a), one = identity(5, device).to(dtype);
        EXPECT_LT(distance(tn::matmul(la::inv(x), a), one), 4 * near);
        EXPECT_LT(distance(tn::matmul(x, la::solve(x, layout.of(a.mT()))), a.mT()), 4 * near);
        const auto [q, r] = la::qr(x);
        EXPECT_LT(distance(tn::matmul(q, r), a), near);
        EXPECT_LT(distance(tn::matmul(q.mT(), q), one), near);
        const auto [u, s, vh] = la::svd(layout.of(a.narrow(-1, 0, 3)));
        expect_sizes(u, {3, 5, 5});
        EXPECT_LT(
            distance(tn::matmul(u.narrow(-1, 0, 3) * s.unsqueeze(-2), vh), a.narrow(-1, 0, 3)),
            near);
        const auto [p, l, upper] = la::lu(x);
        EXPECT_LT(distance(tn::matmul(p, tn::matmul(l, upper)), a), near);
        EXPECT_EQ(la::svdvals(x).dtype(), dtype);
        EXPECT_EQ(la::matrix_exp(x).dtype(), dtype);
      }
    }
  }
}

TEST(Linalg, TakesMatricesOfNothingAndBatchesOfNone) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{0, 0}, {0, 3, 3}, {2, 0, 0}}) {
      const Tensor x = zeros_on(d, sizes);
      const int64_t n = sizes.back();
      for (const Tensor& y :
           {la::cholesky(x), la::inv(x), la::solve(x, x), la::matrix_exp(x), la::pinv(x),
            std::get<1>(la::eigh(x)), std::get<0>(la::svd(x)), std::get<0>(la::qr(x)),
            std::get<0>(la::lu_factor(x)), la::solve_triangular(x, x, true), std::get<0>(la::lu(x)),
            std::get<0>(la::lstsq(x, x)), la::matrix_power(x, -2)}) {
        expect_sizes(y, sizes);
      }
      std::vector<int64_t> batch(sizes.begin(), sizes.end() - 2);
      expect_sizes(la::det(x), batch);
      expect_sizes(la::matrix_rank(x), batch);
      expect_sizes(la::cond(x), batch);
      batch.push_back(n);
      expect_sizes(la::svdvals(x), batch);
      expect_sizes(la::eigvalsh(x), batch);
    }
    EXPECT_EQ(la::det(zeros_on(d, {0, 0})).item<double>(), 1);
    // All vectors of a matrix without columns are axes.
    const auto [u, s, vh] = la::svd(zeros_on(d, {2, 0}));
    expect_near(u, {1, 0, 0, 1});
    expect_sizes(vh, {0, 0});
    const auto [q, r] = la::qr(zeros_on(d, {2, 0}), "complete");
    expect_near(q, {1, 0, 0, 1});
    // More matrices than memory could count, of nothing.
    const std::vector<int64_t> many = {int64_t{1} << 40, 0, 0};
    const Tensor x = zeros_on(d, many);
    for (const Tensor& y : {la::cholesky(x), la::inv(x), la::solve(x, x), std::get<1>(la::eigh(x)),
                            std::get<0>(la::lu_factor(x)), std::get<0>(la::qr(x))}) {
      expect_sizes(y, many);
    }
    Tensor none = zeros_on(d, {0, 2, 2}).requires_grad_();
    la::inv(none).sum().backward();
    expect_sizes(none.grad(), {0, 2, 2});
  }
}

TEST(Linalg, EndsWithNaNAndInfinities) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (float bad : {NAN, INFINITY}) {
      const Tensor x = tn::full({3, 3}, bad, tn::float64, d);
      for (const Tensor& y : {std::get<0>(la::qr(x)), la::matrix_exp(x), la::det(x)})
        EXPECT_TRUE(tn::any(tn::isnan(y)).item<bool>()) << y;
      const std::string what = "the matrix has elements that are infinite or NaN";
      expect_error([&] { la::svd(x); }, "svd: " + what);
      expect_error([&] { la::svdvals(x); }, "svdvals: " + what);
      expect_error([&] { la::eigh(x); }, "eigh: " + what);
      expect_error([&] { la::matrix_rank(x); }, "matrix_rank: " + what);
    }
    const Tensor x = tn::full({3, 3}, NAN, tn::float64, d);
    EXPECT_TRUE(tn::all(tn::isnan(la::inv(x))).item<bool>());
    EXPECT_TRUE(tn::all(tn::isnan(la::solve(x, x))).item<bool>());
    expect_error([&] { la::cholesky(x); }, "its leading minor of order 1 is not positive");
  }
}

TEST(Linalg, ManySmallMatricesAreThoseOfTheirOwn) {
  load_all();
  const Tensor one = regular({3, 3});
  const Tensor many = one.expand({4096, 3, 3});
  EXPECT_EQ(distance(la::inv(many), la::inv(one)), 0);
  EXPECT_EQ(distance(std::get<1>(la::eigh(many)), std::get<1>(la::eigh(one))), 0);
}

TEST(Linalg, IsReplayedInCompiledFunctions) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    auto step = tn::compile([](Tensor a, Tensor b) {
      return la::solve(a, b) + la::cholesky(tn::matmul(a, a.mT()) + 1) * la::det(a);
    });
    for (int i = 0; i < 3; ++i) {
      const Tensor a = regular({3, 3}, d) + 0.1 * i, b = sample({3, 3}, d, i);
      const Tensor eager = la::solve(a, b) + la::cholesky(tn::matmul(a, a.mT()) + 1) * la::det(a);
      EXPECT_EQ(distance(step(a, b), eager), 0) << step.describe();
    }
    const Tensor singular = tn::zeros({3, 3}, tn::float64, d);
    expect_error([&] { step(singular, singular); }, "the matrix is ");
  }
}

TEST(Linalg, SaysWhichMatrixItCannotTake) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = regular({2, 3, 3}, d).to(tn::float32);
    x[1].fill_(1);
    expect_error([&] { la::inv(x); },
                 "inv: matrix 1 of the batch is singular: a pivot, number 2, "
                 "is 0 (a is [2, 3, 3] float32");
    expect_error([&] { la::solve(x, x); }, "solve: matrix 1 of the batch is singular");
    expect_error([&] { la::solve(x[1], x[0]); }, "solve: the matrix is singular");
    expect_error([&] { la::lu_factor(x); },
                 "lu_factor: matrix 1 of the batch is singular: the "
                 "diagonal element 2 of U is 0");
    expect_error([&] { la::lstsq(x, x); }, "lstsq: matrix 1 of the batch has not full rank");
    EXPECT_EQ(la::cond(x, 1.0)[1].item<double>(), INFINITY);
    Tensor minors = tn::eye(3, {}, {}, d).expand({2, 3, 3}).clone();
    minors[{1, 2, 2}] = -1;
    expect_error([&] { la::cholesky(minors); },
                 "cholesky: matrix 1 of the batch is not positive definite: its leading minor of "
                 "order 3 is not positive");
    Tensor at_zero = tn::zeros({2, 2}, {}, d).requires_grad_();
    expect_error([&] { std::get<1>(la::slogdet(at_zero)).backward(); }, "is singular");
    expect_error([&] { la::vander(tn::ones({3}, {}, d), 1); },
                 "vander: N is 1, expected 2 or more");
    expect_error([&] { la::vander(tn::ones({}, {}, d)); }, "vander: N is 1, expected 2 or more");
    EXPECT_TRUE(
        tn::equal(la::vander(tn::full({}, 2.0, {}, d), 3), tn::tensor({{1.f, 2.f, 4.f}}, d)));
  }
}

// Their kernels lean on what the public ops have seen to, so they look once more.
TEST(Linalg, OpsOfTheHostRefuseWhatTheirKernelsCannotRead) {
  using Two = std::tuple<Tensor, Tensor>;
  expect_refusals({
      {[](tn::Device d) {
         tn::call<Two>("linalg._cholesky", zeros_on(d, {2, 3}), true);
       },
       "a is [2, 3], expected square matrices"},
      {[](tn::Device d) {
         tn::call<Two>("linalg._inv", tn::zeros({2, 2}, tn::int32, d), true);
       },
       "a is int32, expected float32 or float64"},
      {[](tn::Device d) {
         tn::call("linalg._solve", zeros_on(d, {2, 2}), zeros_on(d, {4, 2, 1}));
       },
       "a is [2, 2] and b is [4, 2, 1], expected equal sizes but for the last"},
      {[](tn::Device d) {
         tn::call("linalg._solve_triangular", zeros_on(d, {2, 2}),
                  tn::zeros({2, 2}, tn::float64, d), true, false);
       },
       "a is float32 and b is float64, expected one dtype"},
      {[](tn::Device d) { tn::call("linalg._permutation", zeros_on(d, {2}), int64_t{2}); },
       "pivots is [2] float32, expected int32 and at most 2 in the last dimension"},
      {[](tn::Device d) {
         tn::call("linalg._permutation", tn::ones({3}, tn::int32, d), int64_t{2});
       },
       "pivots is [3] int32, expected int32 and at most 2 in the last dimension"},
  });
}

// What has sizes and no values: shapes of models are asked so.
TEST(Linalg, HasSizesOnMeta) {
  load_all();
  const tn::Device meta("meta");
  const Tensor x = tn::empty({2, 4, 3}, tn::float32, meta);
  const auto [u, s, vh] = la::svd(x);
  expect_sizes(u, {2, 4, 4});
  expect_sizes(s, {2, 3});
  expect_sizes(std::get<1>(la::qr(x)), {2, 3, 3});
  expect_sizes(la::pinv(x), {2, 3, 4});
}

TEST(Linalg, SaysWhatItRefuses) {
  const auto halves = [](tn::Device d) { return tn::zeros({2, 2}, tn::float16, d); };
  expect_refusals({
      {[](tn::Device d) {
         la::inv(zeros_on(d, {2, 3}));
       },
       "inv: a is [2, 3], expected square matrices"},
      {[](tn::Device d) { la::det(zeros_on(d, {2})); },
       "det: a is [2], expected at least 2 dimensions"},
      {[](tn::Device d) {
         la::svd(places_on(d, {2, 2}));
       },
       "svd: a is int64, expected float32 or float64"},
      {[&](tn::Device d) { la::cholesky(halves(d)); },
       "cholesky: a is float16, expected float32 or float64"},
      {[&](tn::Device d) { la::matrix_norm(halves(d), {.ord = 2}); },
       "matrix_norm: a is float16, expected float32 or float64"},
      {[](tn::Device d) {
         la::solve(zeros_on(d, {2, 2}), tn::zeros({2, 2}, tn::float64, d));
       },
       "solve: a is float32 and b is float64, expected one dtype"},
      {[](tn::Device d) {
         la::solve(zeros_on(d, {2, 2}), zeros_on(d, {3, 2}));
       },
       "solve: a is [2, 2] and b is [3, 2], expected 2 rows of b"},
      {[](tn::Device d) {
         la::solve(zeros_on(d, {2, 2}), zeros_on(d, {2}), false);
       },
       "solve: b is [2], which are vectors for a of [2, 2], expected matrices where left is false"},
      {[](tn::Device d) {
         la::solve(zeros_on(d, {2, 2, 2}), zeros_on(d, {3, 2, 2}));
       },
       "whose leading dimensions do not broadcast: expected equal ones, or 1"},
      {[](tn::Device d) {
         la::solve_triangular(zeros_on(d, {2, 2}), zeros_on(d, {3, 2}), true);
       },
       "solve_triangular: a is [2, 2] and b is [3, 2], expected 2 rows of b"},
      {[](tn::Device d) {
         la::cholesky_solve(zeros_on(d, {3, 2}), zeros_on(d, {2, 2}));
       },
       "cholesky_solve: l is [2, 2] and b is [3, 2], expected 2 rows of b"},
      {[](tn::Device d) {
         la::lstsq(zeros_on(d, {4, 2}), zeros_on(d, {3}));
       },
       "lstsq: a is [4, 2] and b is [3], expected 4 elements of b"},
      {[](tn::Device d) {
         la::lu_solve(zeros_on(d, {2, 2}), places_on(d, {2}), zeros_on(d, {2, 2}));
       },
       "lu_solve: pivots is [2] int64, expected [2] int32"},
      {[](tn::Device d) {
         la::lu_solve(zeros_on(d, {2, 2}), tn::full({2}, 3, tn::int32, d), zeros_on(d, {2, 2}));
       },
       "lu_solve: a pivot is 3, expected 1 to 2"},
      {[](tn::Device d) {
         la::qr(zeros_on(d, {2, 2}), "full");
       },
       "qr: mode is 'full', expected 'reduced', 'complete' or 'r'"},
      {[](tn::Device d) {
         la::eigh(zeros_on(d, {2, 2}), "X");
       },
       "eigh: uplo is 'X', expected 'L' or 'U'"},
      {[](tn::Device d) {
         la::pinv(zeros_on(d, {2, 2}), {.rtol = -1.0});
       },
       "pinv: rtol is -1, expected 0 or more"},
      {[](tn::Device d) {
         la::cond(zeros_on(d, {2, 2}), 3.0);
       },
       "cond: p is 3, expected None (as 2), 1, -1, 2, -2, inf or -inf"},
      {[](tn::Device d) {
         la::nuclear_norm(zeros_on(d, {2, 2}), {0, -2});
       },
       "nuclear_norm: dim is [0, -2] for a of [2, 2], expected two different dimensions"},
      {[](tn::Device d) {
         std::get<0>(la::qr(zeros_on(d, {3, 2}).requires_grad_(), "complete")).sum().backward();
       },
       "with mode 'complete' there is no gradient for matrices of more rows than columns"},
      {[](tn::Device d) {
         la::tensorinv(zeros_on(d, {2, 2}), 2);
       },
       "tensorinv: ind is 2 and a [2, 2], expected at least 1 dimension in front of ind, and "
       "behind it"},
      {[](tn::Device d) {
         la::tensorinv(zeros_on(d, {2, 3, 5}));
       },
       "tensorinv: a is [2, 3, 5] and ind 2, expected as many elements in front of ind as behind "
       "it"},
      {[](tn::Device d) {
         la::tensorinv(zeros_on(d, {3, 3}), 1);
       },
       "is singular"},
      {[](tn::Device d) {
         la::tensorsolve(zeros_on(d, {2, 3, 5}), zeros_on(d, {2, 3}));
       },
       "tensorsolve: a is [2, 3, 5] and b [2, 3], expected as many elements as b has in the first "
       "2 "
       "dimensions of a, and in the others"},
      {[](tn::Device d) {
         la::tensorsolve(zeros_on(d, {2, 2}), zeros_on(d, {2}), {0, 0});
       },
       "tensorsolve: dims are [0, 0] of a [2, 2], expected each at most once, and that a has them"},
      {[](tn::Device d) {
         la::tensorsolve(zeros_on(d, {2, 2}), tn::zeros({2}, tn::float64, d));
       },
       "tensorsolve: a is float32 and b is float64, expected one dtype"},
      {[](tn::Device d) {
         la::householder_product(zeros_on(d, {2, 3}), zeros_on(d, {2}));
       },
       "householder_product: a is [2, 3] and tau [2], expected a [.., m, n] with at most m columns "
       "and tau [.., k] with at most n elements"},
  });
}

// Of a zero matrix, and of matrices of no elements: PyTorch 2.15's.
TEST(Linalg, MeasuresOfNothing) {
  for (const double p : {1.0, -1.0, double(INFINITY), -double(INFINITY)})
    EXPECT_EQ(la::cond(tn::zeros({2, 2}), p).item<float>(), INFINITY) << p;
  for (const double p : {1.0, 2.0, double(INFINITY)}) {
    for (const auto& [rows, columns] : {std::pair{4, 0}, {0, 4}, {0, 0}})
      EXPECT_EQ(la::matrix_norm(tn::zeros({rows, columns}), {.ord = p}).item<float>(), 0) << p;
    expect_sizes(la::matrix_norm(tn::zeros({2, 4, 0}), {.ord = p}), {2});
  }
  expect_error([] { la::matrix_norm(tn::zeros({4, 0}), {.ord = -2}); }, "no elements");
}

}  // namespace
