// Reductions.
#include "ops_support.h"

namespace {

TEST(Reduce, Values) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({{1.f, 5.f, 3.f}, {4.f, 2.f, 6.f}}, d);
    expect_near(x.sum(), {21});
    expect_sizes(x.sum(), {});
    expect_near(x.sum({0}), {5, 7, 9});
    expect_near(x.sum(-1), {9, 12});
    expect_sizes(x.sum({0}, true), {1, 3});
    expect_sizes(x.sum({0, 1}, true), {1, 1});
    expect_near(x.mean(), {3.5});
    expect_near(x.mean(1), {3, 4});
    expect_near(x.amax(), {6});
    expect_near(x.amax(0), {4, 5, 6});
    expect_near(x.argmax(), {5});
    expect_near(x.argmax(0), {1, 0, 1});
    expect_near(x.argmax(-1, true), {1, 2});
    expect_sizes(x.argmax(-1, true), {2, 1});
    EXPECT_EQ(x.argmax().dtype(), tn::int64);
    expect_near(x.t().sum(0), {9, 12});
    expect_near(x.slice(1, 0, 3, 2).sum(1), {4, 10});
  }
}

TEST(Reduce, Dtypes) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor i = tn::tensor({int64_t(1), int64_t(2)}, d).to(tn::int32),
           b = tn::tensor({true, true}, d);
    EXPECT_EQ(i.sum().dtype(), tn::int64);
    EXPECT_EQ(b.sum().item<int>(), 2);
    EXPECT_EQ(i.mean().dtype(), tn::float32);
    expect_near(i.mean(), {1.5});
    EXPECT_EQ(i.amax().dtype(), tn::int32);
    // 70,000 ones do not fit float16 as a sum; their mean does.
    Tensor half = tn::ones({70000}, tn::float16, d);
    EXPECT_EQ(half.mean().item<double>(), 1);
    EXPECT_EQ(half.mean().dtype(), tn::float16);
  }
}

TEST(Reduce, NanAndTies) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({1.f, NAN, 7.f, NAN}, d);
    EXPECT_TRUE(std::isnan(x.amax().item<float>()));
    EXPECT_EQ(x.argmax().item<int>(), 1);
    EXPECT_EQ(tn::tensor({2.f, 9.f, 9.f}, d).argmax().item<int>(), 1);
    EXPECT_FALSE(x.requires_grad_().argmax().requires_grad());
  }
}

TEST(Reduce, Empty) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::zeros({0, 3}, {}, d);
    expect_near(x.sum(), {0});
    expect_near(x.sum(0), {0, 0, 0});
    expect_sizes(x.sum(1), {0});
    expect_near(x.mean(0), {NAN, NAN, NAN});
    expect_error([&] { x.amax(0); }, "max");
  }
}

TEST(Reduce, RefusesWrongDims) {
  Tensor x = tn::zeros({2, 3});
  expect_error([&] { x.sum(2); }, "sum");
  expect_error([&] { x.sum({0, 0}); }, "twice");
  expect_error([&] { x.mean(5); }, "mean");
}

// Each op once: a call, and PyTorch's values of it for x = [[1, -5, 3], [4, 2, 0]].
struct Row {
  const char* name;
  OpUnderTest op;
  std::vector<double> values;
  std::vector<int64_t> sizes;
};
template <size_t I>
OpUnderTest nth(std::function<std::tuple<Tensor, Tensor>(const Tensor&)> f) {
  return [f](const TensorList& in) { return std::get<I>(f(in[0])); };
}
OpUnderTest of(std::function<Tensor(const Tensor&)> f) {
  return [f](const TensorList& in) { return f(in[0]); };
}

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {"prod", of([](const Tensor& x) { return tn::prod(x); }), {0}, {}},
      {"prod along", of([](const Tensor& x) { return tn::prod(x, 0, true); }), {4, -10, 0}, {1, 3}},
      {"amin", of([](const Tensor& x) { return tn::amin(x); }), {-5}, {}},
      {"amin along", of([](const Tensor& x) { return tn::amin(x, 1); }), {-5, 0}, {2}},
      {"max", of([](const Tensor& x) { return tn::max(x); }), {4}, {}},
      {"min", of([](const Tensor& x) { return tn::min(x); }), {-5}, {}},
      {"max values", nth<0>([](const Tensor& x) { return tn::max(x, 0); }), {4, 2, 3}, {3}},
      {"max indices", nth<1>([](const Tensor& x) { return tn::max(x, 0); }), {1, 1, 0}, {3}},
      {"min values", nth<0>([](const Tensor& x) { return tn::min(x, -1, true); }), {-5, 0}, {2, 1}},
      {"min indices", nth<1>([](const Tensor& x) { return tn::min(x, -1, true); }), {1, 2}, {2, 1}},
      {"argmin", of([](const Tensor& x) { return tn::argmin(x); }), {1}, {}},
      {"argmin along", of([](const Tensor& x) { return tn::argmin(x, 1, true); }), {1, 2}, {2, 1}},
      {"var", of([](const Tensor& x) { return tn::var(x); }), {10.166666666666666}, {}},
      {"var along",
       of([](const Tensor& x) { return tn::var(x, 1, 0); }),
       {11.555555555555555, 2.6666666666666665},
       {2}},
      {"var over two",
       of([](const Tensor& x) {
         return tn::var(x, {0, -1}, 2, true);
       }),
       {12.708333333333332},
       {1, 1}},
      {"std",
       of([](const Tensor& x) { return tn::std(x, 0); }),
       {2.1213203435596424, 4.949747468305833, 2.1213203435596424},
       {3}},
      {"var_mean's var",
       nth<0>([](const Tensor& x) { return tn::var_mean(x, {.dim = 1}); }),
       {17.333333333333332, 4},
       {2}},
      {"var_mean's mean",
       nth<1>([](const Tensor& x) { return tn::var_mean(x, {.dim = 1, .keepdim = true}); }),
       {-1 / 3.0, 2},
       {2, 1}},
      {"norm", of([](const Tensor& x) { return tn::norm(x); }), {7.416198487095663}, {}},
      {"norm 1", of([](const Tensor& x) { return tn::norm(x, 1, 1); }), {9, 6}, {2}},
      {"norm 0", of([](const Tensor& x) { return tn::norm(x, 0, 1); }), {3, 2}, {2}},
      {"norm 3",
       of([](const Tensor& x) { return tn::norm(x, 3, 1, true); }),
       {5.348481241239363, 4.160167646103808},
       {2, 1}},
      {"norm 0.5",
       of([](const Tensor& x) { return tn::norm(x, 0.5, 1); }),
       {24.682204262552162, 11.656854249492380},
       {2}},
      {"norm inf", of([](const Tensor& x) { return tn::norm(x, INFINITY, 0); }), {4, 5, 3}, {3}},
      {"norm -inf", of([](const Tensor& x) { return tn::norm(x, -INFINITY); }), {0}, {}},
      {"norm -1",
       of([](const Tensor& x) { return tn::norm(x, -1, 1); }),
       {0.6521739130434783, 0},
       {2}},
      {"logsumexp",
       of([](const Tensor& x) { return tn::logsumexp(x, 1); }),
       {3.127223441901406, 4.142931628499899},
       {2}},
      {"logsumexp of all",
       of([](const Tensor& x) {
         return tn::logsumexp(x, {0, 1}, true);
       }),
       {4.451992931919953},
       {1, 1}},
      {"all", of([](const Tensor& x) { return tn::all(x); }), {0}, {}},
      {"all along", of([](const Tensor& x) { return tn::all(x, 1); }), {1, 0}, {2}},
      {"any", of([](const Tensor& x) { return tn::any(x); }), {1}, {}},
      {"any along", of([](const Tensor& x) { return tn::any(x - 3, 0, true); }), {1, 1, 1}, {1, 3}},
      {"count_nonzero", of([](const Tensor& x) { return tn::count_nonzero(x); }), {5}, {}},
      {"count_nonzero along",
       of([](const Tensor& x) { return tn::count_nonzero(x, 0); }),
       {2, 2, 1},
       {3}},
      {"cumsum",
       of([](const Tensor& x) { return tn::cumsum(x, 1); }),
       {1, -4, -1, 4, 6, 6},
       {2, 3}},
      {"cumprod",
       of([](const Tensor& x) { return tn::cumprod(x, -1); }),
       {1, -5, -15, 4, 8, 0},
       {2, 3}},
      {"sort values",
       nth<0>([](const Tensor& x) { return tn::sort(x); }),
       {-5, 1, 3, 0, 2, 4},
       {2, 3}},
      {"sort indices",
       nth<1>([](const Tensor& x) { return tn::sort(x, 0, true); }),
       {1, 1, 0, 0, 0, 1},
       {2, 3}},
      {"argsort", of([](const Tensor& x) { return tn::argsort(x); }), {1, 0, 2, 2, 1, 0}, {2, 3}},
      {"topk values", nth<0>([](const Tensor& x) { return tn::topk(x, 2); }), {3, 1, 4, 2}, {2, 2}},
      {"topk indices",
       nth<1>([](const Tensor& x) { return tn::topk(x, 1, 0, false); }),
       {0, 0, 1},
       {1, 3}},
  };
  return list;
}

TEST(Reduce, EachOpHasPyTorchsValuesAndGradient) {
  for (tn::Device d : devices()) {
    Tensor x = tn::tensor({{1, -5, 3}, {4, 2, 0}}, tn::float64, d);
    for (const Row& row : rows()) {
      SCOPED_TRACE(d.name() + " " + row.name);
      expect_near(row.op({x}), row.values, 1e-12);
      expect_sizes(row.op({x}), row.sizes);
      expect_near(row.op({x.to(tn::float32)}), row.values);
      expect_near(row.op({x.t().contiguous().t()}), row.values, 1e-12);
      // The sum: so that what has no gradient, as indices, can be asked for one, which is zero.
      gradcheck([&](const TensorList& in) { return row.op(in) + in[0].sum(); },
                {sample({2, 3}, d)});
    }
  }
}

TEST(Reduce, DtypesOfEachOp) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor i = tn::tensor<int64_t>({3, 0, 2}, d).to(tn::int32), u = i.to(tn::uint8),
           b = i.to(tn::bool_);
    EXPECT_EQ(tn::prod(i).dtype(), tn::int64);
    EXPECT_EQ(tn::amin(i).dtype(), tn::int32);
    EXPECT_EQ(std::get<0>(tn::max(u, 0)).dtype(), tn::uint8);
    EXPECT_EQ(std::get<0>(tn::max(b, 0)).dtype(), tn::bool_);
    EXPECT_EQ(tn::all(i).dtype(), tn::bool_);
    EXPECT_EQ(tn::all(u).dtype(), tn::uint8);
    EXPECT_EQ(tn::any(b).item<int>(), 1);
    EXPECT_EQ(tn::all(b).item<int>(), 0);
    EXPECT_EQ(tn::count_nonzero(b).item<int64_t>(), 2);
    EXPECT_EQ(tn::count_nonzero(u).dtype(), tn::int64);
    EXPECT_EQ(tn::cumsum(u, 0).dtype(), tn::int64);
    EXPECT_EQ(std::get<0>(tn::topk(u, 2)).dtype(), tn::uint8);
    EXPECT_EQ(tn::logsumexp(i, 0).dtype(), tn::float32);
    expect_near(tn::logsumexp(i, 0), {3.3490122});
    // More ones than float16 counts, and than it holds.
    Tensor half = tn::ones({70000}, tn::float16, d);
    EXPECT_EQ(tn::count_nonzero(half).item<int64_t>(), 70000);
    for (bool recorded : {false, true}) {
      SCOPED_TRACE(recorded ? "recorded" : "not recorded");
      Tensor x = half.clone().requires_grad_(recorded);
      EXPECT_EQ(x.mean().item<double>(), 1);
      EXPECT_EQ(x.mean().dtype(), tn::float16);
      EXPECT_NEAR(tn::norm(x).item<double>(), 264.57, 0.1);
      EXPECT_EQ(tn::norm(x).dtype(), tn::float16);
      EXPECT_NEAR(tn::logsumexp(x, 0).item<double>(), 12.156, 0.01);
      EXPECT_EQ(tn::var(x).item<double>(), 0);
    }
    // Around a mean that float16 rounds by more than the spread.
    Tensor far = tn::tensor<float>({1000, 1001}, d).to(tn::float16);
    EXPECT_EQ(tn::var(far).item<double>(), 0.5);
    EXPECT_EQ(tn::var(far).dtype(), tn::float16);
  }
}

TEST(Reduce, NothingOneAndNan) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor none = tn::zeros({0, 2}, {}, d), one = tn::full({}, 3.0, {}, d);
    expect_near(tn::prod(none, 0), {1, 1});
    expect_near(tn::all(none), {1});
    expect_near(tn::any(none, 0), {0, 0});
    expect_near(tn::count_nonzero(none), {0});
    expect_near(tn::var(none, 0), {NAN, NAN});
    expect_near(tn::norm(none), {0});
    expect_near(tn::logsumexp(none, 0), {-INFINITY, -INFINITY});
    expect_sizes(tn::logsumexp(none, 1), {0});
    expect_sizes(std::get<1>(tn::max(none, 1)), {0});
    expect_sizes(tn::cumsum(none, 0), {0, 2});
    expect_sizes(std::get<0>(tn::topk(none, 1, 1)), {0, 1});
    expect_near(tn::var(one), {NAN});
    expect_near(tn::std(tn::tensor({1.f, 2.f}, d), {}, 3), {INFINITY});
    expect_near(tn::logsumexp(tn::full({1}, 3.0, {}, d), 0), {3});
    expect_near(std::get<0>(tn::max(one, 0)), {3});
    expect_near(std::get<1>(tn::min(one, -1)), {0});
    expect_near(std::get<0>(tn::topk(one, 1)), {3});
    expect_near(tn::cumprod(one, 0), {3});
    Tensor x = tn::tensor({1.f, NAN, 0.f}, d);
    expect_near(tn::amin(x), {NAN});
    expect_near(std::get<1>(tn::max(x, 0)), {1});
    expect_near(tn::all(x.slice(0, 0, 2)), {1});
    expect_near(tn::count_nonzero(x), {2});
    expect_near(tn::norm(x, INFINITY), {NAN});
    expect_near(tn::logsumexp(x, 0), {NAN});
    expect_near(tn::logsumexp(tn::tensor({-INFINITY, -INFINITY}, d), 0), {-INFINITY});
    expect_near(tn::logsumexp(tn::tensor({INFINITY, 1.f}, d), 0), {INFINITY});
    expect_near(tn::logsumexp(tn::tensor({1000.f, 1000.f}, d), 0), {1000 + std::log(2.0)});
  }
}

TEST(Reduce, MethodsAreTheOps) {
  load_all();
  Tensor x = tn::tensor<float>({{1, -5, 3}, {4, 2, 0}});
  expect_near(x.prod(0), {4, -10, 0});
  expect_near(x.max() - x.min(), {9});
  expect_near(x.var(1, 0), {11.555556, 2.6666667});
  expect_near(x.std(1), {4.163332, 2});
  expect_near(x.norm(1, 1), {9, 6});
  expect_near(x.all(1), {1, 0});
  expect_near(x.any(), {1});
  expect_near(x.cumsum(1), {1, -4, -1, 4, 6, 6});
  for (const Tensor& t :
       {x.sum(1, true, tn::float64), x.mean(1, true, tn::float64), x.prod(1, true, tn::float64)}) {
    expect_sizes(t, {2, 1});
    EXPECT_EQ(t.dtype(), tn::float64);
  }
}

// The derivative of an op at a place where it has no slope, or several.
struct AtKink {
  const char* name;
  OpUnderTest op;
  std::vector<double> x, derivative;
};

// What PyTorch's autograd gives.
TEST(Reduce, GradientsAtTiesAndZeros) {
  const std::vector<AtKink> cases = {
      {"amin", of([](const Tensor& x) { return tn::amin(x); }), {1, 3, 1}, {0.5, 0, 0.5}},
      {"max", of([](const Tensor& x) { return tn::max(x); }), {3, 1, 3}, {0.5, 0, 0.5}},
      {"max along", nth<0>([](const Tensor& x) { return tn::max(x, 0); }), {3, 1, 3}, {1, 0, 0}},
      {"min along", nth<0>([](const Tensor& x) { return tn::min(x, 0); }), {3, 1, 1}, {0, 1, 0}},
      {"prod", of([](const Tensor& x) { return tn::prod(x); }), {3, 0, 2}, {0, 6, 0}},
      {"prod, two zeros", of([](const Tensor& x) { return tn::prod(x); }), {0, 0, 2}, {0, 0, 0}},
      {"std", of([](const Tensor& x) { return tn::std(x); }), {1, 1, 1}, {0, 0, 0}},
      {"norm", of([](const Tensor& x) { return tn::norm(x); }), {0, 0}, {0, 0}},
      {"norm 1", of([](const Tensor& x) { return tn::norm(x, 1); }), {0, -2}, {0, -1}},
      {"norm 0", of([](const Tensor& x) { return tn::norm(x, 0); }), {0, -2}, {0, 0}},
      {"norm 0.5",
       of([](const Tensor& x) { return tn::norm(x, 0.5); }),
       {2, -1, 0},
       {1.7071067811865475, -2.414213562373095, 0}},
      {"norm 3",
       of([](const Tensor& x) { return tn::norm(x, 3); }),
       {2, -1, 0},
       {0.92448169913417966, -0.23112042478354491, 0}},
      {"norm inf",
       of([](const Tensor& x) { return tn::norm(x, INFINITY); }),
       {1, -1, 0},
       {0.5, -0.5, 0}},
      {"logsumexp",
       of([](const Tensor& x) { return tn::logsumexp(x, 0); }),
       {INFINITY, 1},
       {NAN, 0}},
      {"sort", of([](const Tensor& x) { return std::get<0>(tn::sort(x))[0]; }), {2, 2}, {1, 0}},
      {"topk", of([](const Tensor& x) { return std::get<0>(tn::topk(x, 1)); }), {2, 2}, {1, 0}},
      {"cumprod",
       of([](const Tensor& x) { return tn::cumprod(x, 0).sum(); }),
       {2, 0, 3},
       {1, 8, 0}},
  };
  for (tn::Device d : devices()) {
    for (const AtKink& c : cases) {
      SCOPED_TRACE(d.name() + " " + c.name);
      Tensor x = Tensor::from(c.x, -1, d).requires_grad_();
      c.op({x}).backward();
      expect_near(x.grad(), c.derivative, 1e-12);
    }
  }
}

// The Hessian times ones, in closed form: (p - 1) (|x_i|^(p-2) d_ij / f^(p-1) - s_i s_j |x_i
// x_j|^(p-1) / f^(2p-1)), and 0 where the first derivative is 0 because there is no slope.
TEST(Reduce, SecondGradientsAtZerosAreFinite) {
  const std::vector<AtKink> cases = {
      {"std", of([](const Tensor& x) { return tn::std(x); }), {2, 2, 2}, {0, 0, 0}},
      {"norm", of([](const Tensor& x) { return tn::norm(x); }), {0, 0}, {0, 0}},
      {"norm, one zero", of([](const Tensor& x) { return tn::norm(x); }), {0, 3}, {1 / 3., 0}},
      {"norm 0", of([](const Tensor& x) { return tn::norm(x, 0); }), {0, -2}, {0, 0}},
      {"norm 1", of([](const Tensor& x) { return tn::norm(x, 1); }), {0, -2}, {0, 0}},
      {"norm 3",
       of([](const Tensor& x) { return tn::norm(x, 3); }),
       {2, -1, 0},
       {0.3081605663, 0.6163211327, 0}},
      {"norm 3, zeros", of([](const Tensor& x) { return tn::norm(x, 3); }), {0, 0}, {0, 0}},
      {"norm 0.5",
       of([](const Tensor& x) { return tn::norm(x, 0.5); }),
       {2, -1, 0},
       {-0.5303300859, -1.0606601718, 0}},
      {"norm 0.5, zeros", of([](const Tensor& x) { return tn::norm(x, 0.5); }), {0, 0}, {0, 0}},
      {"norm 1.5",
       of([](const Tensor& x) { return tn::norm(x, 1.5); }),
       {3, -4, 0},
       {0.1296007898, 0.0972005924, 0}},
      {"norm 1.5, zeros", of([](const Tensor& x) { return tn::norm(x, 1.5); }), {0, 0}, {0, 0}},
      {"norm inf", of([](const Tensor& x) { return tn::norm(x, INFINITY); }), {0, 0}, {0, 0}},
      {"norm -inf", of([](const Tensor& x) { return tn::norm(x, -INFINITY); }), {0, 2}, {0, 0}},
  };
  for (tn::Device d : devices()) {
    for (const AtKink& c : cases) {
      SCOPED_TRACE(d.name() + " " + c.name);
      Tensor x = Tensor::from(c.x, -1, d).requires_grad_();
      const Tensor first = tn::grad(c.op({x}), x, {.create_graph = true});
      // The sum with x * 0, for first derivatives that depend on nothing.
      expect_near(tn::grad(first.sum() + (x * 0.0).sum(), x), c.derivative, 1e-9);
    }
  }
}

TEST(Reduce, RefusesWhatPyTorchRefuses) {
  Tensor x = tn::zeros({2, 3}), i = tn::ones({3}, tn::int64);
  expect_error([&] { tn::max(x, 2); }, "max: dimension 2 is out of range; expected -2 to 1");
  expect_error(
      [&] {
        tn::min(tn::zeros({2, 0}), 1);
      },
      "has no elements along the reduced dimensions");
  expect_error([&] { tn::var(i); }, "var: x is int64, expected a floating dtype");
  expect_error([&] { tn::std(i); }, "std: x is int64, expected a floating dtype");
  expect_error([&] { tn::var_mean(i); }, "var_mean: x is int64, expected a floating dtype");
  expect_error([&] { tn::norm(i); }, "norm: x is int64, expected a floating dtype");
  expect_error([&] { tn::mean(x, {}, false, tn::int64); },
               "mean: dtype is int64, expected a floating dtype");
  expect_error([&] { tn::sum(x[0][0], 1); }, "dimension 1 is out of range: expected -1 to 0");
  expect_error([&] { tn::topk(x, 4); }, "topk: k is 4, expected 0 to 3, the size of dimension 1");
  expect_error([&] { tn::topk(x, -1, 0); }, "topk: k is -1, expected 0 to 2");
  expect_error([&] { tn::logsumexp(x, 5); }, "logsumexp: dimension 5");
  expect_error([&] { tn::all(x, {0, 0}); }, "twice");
  expect_error([&] { tn::cumsum(x, 2); }, "dimension 2 is out of range");
  expect_error([&] { tn::sort(x, -3); }, "dimension -3 is out of range");
}

constinit tn::ExpressionRef reduced_x{"_reduced_x(Tensor x) -> Tensor", "x"};
constinit tn::ExpressionRef doubled{"_doubled(Tensor x) -> Tensor", "2 * x"};

TEST(Reduce, AnIndexTakesAPrologueAndNoEpilogue) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::tensor<float>({{1, 5, 2}, {9, 4, 6}}, d);
    const auto with_epilogue = [&](tn_reduce_kind kind) {
      return tn::detail::call_primitive<Tensor, TN_PRIM_REDUCE>(
          int64_t(kind), TensorList{x}, tn::Ints{1}, false, reduced_x, tn::Floats(), doubled,
          tn::Floats());
    };
    expect_near(with_epilogue(TN_REDUCE_MAX), {10, 18}, 0);
    expect_error([&] { with_epilogue(TN_REDUCE_ARGMAX); },
                 "argmax: it gives an index, which takes no epilogue");
    expect_error([&] { with_epilogue(TN_REDUCE_ARGMIN); },
                 "argmin: it gives an index, which takes no epilogue");
    expect_near(tn::prim::reduce(TN_REDUCE_ARGMIN, TensorList{x}, {1}, false, doubled), {0, 1}, 0);
  }
}

// It counts as one of size 1: PyTorch takes 0 and -1 as its dimension everywhere.
TEST(Reduce, ATensorWithoutDimensionsHasOneAllTheSame) {
  struct Row {
    const char* name;
    Tensor (*of)(const Tensor& x, int64_t dim);
    double value, dx;
  };
  const Row rows[] = {
      {"sum", [](const Tensor& x, int64_t d) { return tn::sum(x, d); }, 1.5, 1},
      {"sum keepdim", [](const Tensor& x, int64_t d) { return tn::sum(x, d, true); }, 1.5, 1},
      {"mean", [](const Tensor& x, int64_t d) { return tn::mean(x, d, true); }, 1.5, 1},
      {"prod", [](const Tensor& x, int64_t d) { return tn::prod(x, d); }, 1.5, 1},
      {"amax", [](const Tensor& x, int64_t d) { return tn::amax(x, d, true); }, 1.5, 1},
      {"amin", [](const Tensor& x, int64_t d) { return tn::amin(x, d); }, 1.5, 1},
      {"max", [](const Tensor& x, int64_t d) { return std::get<0>(tn::max(x, d, true)); }, 1.5, 1},
      {"min", [](const Tensor& x, int64_t d) { return std::get<0>(tn::min(x, d)); }, 1.5, 1},
      {"var", [](const Tensor& x, int64_t d) { return tn::var(x, d, 0); }, 0, 0},
      {"var_mean",
       [](const Tensor& x, int64_t d) {
         return std::get<1>(tn::var_mean(x, {.dim = d, .correction = 0}));
       },
       1.5, 1},
      {"norm", [](const Tensor& x, int64_t d) { return tn::norm(x, 2, d, true); }, 1.5, 1},
      {"norm inf", [](const Tensor& x, int64_t d) { return tn::norm(x, INFINITY, d); }, 1.5, 1},
      {"logsumexp", [](const Tensor& x, int64_t d) { return tn::logsumexp(x, d); }, 1.5, 1},
      {"cumsum", [](const Tensor& x, int64_t d) { return tn::cumsum(x, d); }, 1.5, 1},
      {"cumprod", [](const Tensor& x, int64_t d) { return tn::cumprod(x, d); }, 1.5, 1},
      {"softmax", [](const Tensor& x, int64_t d) { return tn::softmax(x, d); }, 1, 0},
      {"log_softmax", [](const Tensor& x, int64_t d) { return tn::log_softmax(x, d); }, 0, 0},
      {"sort", [](const Tensor& x, int64_t d) { return std::get<0>(tn::sort(x, d, true)); }, 1.5,
       1},
      {"topk", [](const Tensor& x, int64_t d) { return std::get<0>(tn::topk(x, 1, d)); }, 1.5, 1},
      {"flip", [](const Tensor& x, int64_t d) { return tn::flip(x, d); }, 1.5, 1},
      {"roll", [](const Tensor& x, int64_t d) { return tn::roll(x, 1, d); }, 1.5, 1},
      {"squeeze", [](const Tensor& x, int64_t d) { return tn::squeeze(x, d); }, 1.5, 1},
      {"transpose", [](const Tensor& x, int64_t d) { return tn::transpose(x, d, 0); }, 1.5, 1},
  };
  for (tn::Device device : devices()) {
    for (const Row& row : rows) {
      for (tn::Dtype dtype : {tn::float64, tn::float32, tn::float16, tn::bfloat16}) {
        for (int64_t dim : {0, -1}) {
          SCOPED_TRACE(device.name() + " " + dtype.name() + " " + row.name + " " +
                       std::to_string(dim));
          const Tensor x = tn::tensor(1.5, device).to(dtype).requires_grad_(), y = row.of(x, dim);
          expect_sizes(y, {});
          expect_near(y, {row.value}, 1e-6);
          EXPECT_EQ(y.dtype(), dtype);
          y.backward();
          expect_near(x.grad(), {row.dx}, 1e-6);
        }
      }
      EXPECT_THROW(row.of(tn::tensor(1.5, device), 1), tn::Error) << row.name;
    }
    const Tensor three = tn::tensor(int64_t{3}, device);
    EXPECT_EQ(tn::sum(three.to(tn::int32), 0).dtype(), tn::int64);
    for (const Tensor& at :
         {tn::argmax(three, 0), tn::argmin(three, -1, true), tn::argsort(three, 0)})
      expect_near(at, {0}, 0);
    for (const Tensor& yes : {tn::all(three, 0), tn::any(three, -1), tn::count_nonzero(three, 0)})
      expect_near(yes, {1}, 0);
    EXPECT_TRUE(std::isnan(tn::var(tn::tensor(1.5, device), 0).item<double>()));
  }
}

}  // namespace
