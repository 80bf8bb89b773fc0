// tenon/masked.hpp: PyTorch's values and gradients (tests/data/torch_masked.json), gradients where
// nothing is selected, dtypes, and what is refused.
#include <tenon/masked.hpp>

#include "refusals.h"
#include "torch_functions.h"

namespace {

using torch_functions::Given;
namespace masked = tn::masked;

template <typename Function>
auto reduction(Function f) {
  return [f](const Given& g) {
    return f(g.tensor(0), g.tensor(1),
             {.dim = g.ints(2), .keepdim = g.as<bool>(3), .dtype = g.as<tn::Dtype>(4)});
  };
}
template <typename Function>
auto along(Function f) {
  return [f](const Given& g) {
    return f(g.tensor(0), g.tensor(1), g.as<int64_t>(2), {.dtype = g.as<tn::Dtype>(3)});
  };
}
template <typename Function>
auto spread(Function f) {
  return [f](const Given& g) {
    masked::VarOptions options{.dim = g.ints(2), .unbiased = g.as<std::optional<bool>>(3)};
    if (const auto correction = g.as<std::optional<double>>(4)) options.correction = *correction;
    options.keepdim = g.as<bool>(5);
    options.dtype = g.as<tn::Dtype>(6);
    return f(g.tensor(0), g.tensor(1), options);
  };
}

TEST(Masked, HasTheValuesAndGradientsOfPyTorch) {
  torch_functions::expect_cases(
      "torch_masked.json",
      {{"sum", reduction(masked::sum)},
       {"prod", reduction(masked::prod)},
       {"mean", reduction(masked::mean)},
       {"amax", reduction(masked::amax)},
       {"amin", reduction(masked::amin)},
       {"argmax", reduction(masked::argmax)},
       {"argmin", reduction(masked::argmin)},
       {"logsumexp", reduction(masked::logsumexp)},
       {"var", spread(masked::var)},
       {"std", spread(masked::std)},
       {"cumsum", along(masked::cumsum)},
       {"cumprod", along(masked::cumprod)},
       {"softmax", along(masked::softmax)},
       {"log_softmax", along(masked::log_softmax)},
       {"softmin", along(masked::softmin)},
       {"median",
        [](const Given& g) {
          return masked::median(
              g.tensor(0), g.tensor(1),
              {.dim = g.as<int64_t>(2), .keepdim = g.as<bool>(3), .dtype = g.as<tn::Dtype>(4)});
        }},
       {"norm",
        [](const Given& g) {
          return masked::norm(g.tensor(0), g.tensor(1),
                              {.ord = g.as<double>(2),
                               .dim = g.ints(3),
                               .keepdim = g.as<bool>(4),
                               .dtype = g.as<tn::Dtype>(5)});
        }},
       {"normalize",
        [](const Given& g) {
          return masked::normalize(g.tensor(0), g.tensor(1), g.as<double>(2), g.as<int64_t>(3),
                                   {.eps = g.as<double>(4), .dtype = g.as<tn::Dtype>(5)});
        }},
       {"logaddexp", [](const Given& g) {
          return masked::logaddexp(
              g.tensor(0), g.tensor(1),
              {.dtype = g.as<tn::Dtype>(2), .input_mask = g.tensor(3), .other_mask = g.tensor(4)});
        }}});
}

// Every function with a gradient, along the last dimension or to a number.
struct Named {
  const char* name;
  std::function<Tensor(const Tensor& x, const Tensor& mask)> of;
};
const std::vector<Named>& functions_with_gradients() {
  static const std::vector<Named> list = {
      {"sum", [](const Tensor& x, const Tensor& m) { return masked::sum(x, m, {.dim = -1}); }},
      {"sum of all", [](const Tensor& x, const Tensor& m) { return masked::sum(x, m); }},
      {"prod", [](const Tensor& x, const Tensor& m) { return masked::prod(x, m, {.dim = -1}); }},
      {"mean", [](const Tensor& x, const Tensor& m) { return masked::mean(x, m, {.dim = -1}); }},
      {"amax", [](const Tensor& x, const Tensor& m) { return masked::amax(x, m, {.dim = -1}); }},
      {"amin", [](const Tensor& x, const Tensor& m) { return masked::amin(x, m, {.dim = -1}); }},
      {"median", [](const Tensor& x, const Tensor& m) { return masked::median(x, m); }},
      {"var", [](const Tensor& x, const Tensor& m) { return masked::var(x, m, {.dim = -1}); }},
      {"std", [](const Tensor& x, const Tensor& m) { return masked::std(x, m, {.dim = -1}); }},
      {"norm", [](const Tensor& x, const Tensor& m) { return masked::norm(x, m, {.dim = -1}); }},
      {"norm -1",
       [](const Tensor& x, const Tensor& m) { return masked::norm(x, m, {.ord = -1, .dim = -1}); }},
      {"logsumexp", [](const Tensor& x, const Tensor& m) { return masked::logsumexp(x, m); }},
      {"logaddexp",
       [](const Tensor& x, const Tensor& m) {
         return masked::logaddexp(x, x, {.input_mask = m, .other_mask = m});
       }},
      {"cumsum", [](const Tensor& x, const Tensor& m) { return masked::cumsum(x, m, -1); }},
      {"cumprod", [](const Tensor& x, const Tensor& m) { return masked::cumprod(x, m, -1); }},
      {"softmax", [](const Tensor& x, const Tensor& m) { return masked::softmax(x, m, -1); }},
      {"log_softmax",
       [](const Tensor& x, const Tensor& m) { return masked::log_softmax(x, m, -1); }},
      {"softmin", [](const Tensor& x, const Tensor& m) { return masked::softmin(x, m, -1); }},
      {"normalize",
       [](const Tensor& x, const Tensor& m) { return masked::normalize(x, m, 2, -1); }},
  };
  return list;
}

TEST(Masked, WhatIsLeftOutHasAGradientOfZero) {
  for (tn::Device d : devices()) {
    for (const Named& f : functions_with_gradients()) {
      SCOPED_TRACE(d.name() + " " + f.name);
      const Tensor x =
          float64_tensor({NAN, INFINITY, -INFINITY, 1e300, NAN, 0.5, -1, 2, 0, 1, 0, -3}, {3, 4}, d)
              .requires_grad_();
      const Tensor mask =
          tn::tensor(
              {{false, false, false, false}, {false, true, true, true}, {false, true, false, true}})
              .to(d);
      const Tensor slope = tn::grad({f.of(x, mask).sum()}, {x})[0];
      EXPECT_TRUE(tn::all(tn::eq(slope.masked_select(~mask), 0)).item<bool>()) << slope;
      const Tensor none = tn::zeros({}, tn::bool_, d);
      expect_near(tn::grad({f.of(x, none).sum()}, {x})[0], std::vector<double>(12, 0));
    }
  }
}

TEST(Masked, ChangesNothingWhereAllIsSelected) {
  for (tn::Device d : devices()) {
    const Tensor x = sample({3, 4}, d), all = tn::ones({3, 4}, tn::bool_, d);
    for (const Named& f : functions_with_gradients()) {
      SCOPED_TRACE(d.name() + " " + f.name);
      EXPECT_TRUE(tn::equal(f.of(x, all), f.of(x, tn::none)));
    }
    EXPECT_TRUE(tn::allclose(masked::mean(x, tn::none, {.dim = 1}), x.mean(1)));
    EXPECT_TRUE(tn::allclose(masked::std(x, tn::none), x.std()));
    EXPECT_TRUE(tn::allclose(masked::logsumexp(x, tn::none), x.logsumexp({0, 1})));
    EXPECT_TRUE(tn::equal(masked::softmax(x, tn::none, 0), x.softmax(0)));
  }
}

TEST(Masked, SumsOfHalvesMayBeBeyondThem) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::full({2000}, 100, tn::float16, d), mask = tn::ones({}, tn::bool_, d);
    const Tensor mean = masked::mean(x, mask), var = masked::var(x - 50, mask);
    EXPECT_EQ(mean.dtype(), tn::float16);
    EXPECT_EQ(mean.item<float>(), 100);
    EXPECT_EQ(var.dtype(), tn::float16);
    EXPECT_EQ(var.item<float>(), 0);
    // eps is 0 as a half.
    expect_near(masked::normalize(x, tn::zeros({}, tn::bool_, d), 2, 0),
                std::vector<double>(2000, 0));
  }
}

// PyTorch refuses bools in most of these, and takes 0 for nothing in maxima of exponentials of uint8.
TEST(Masked, TakesIntegersAndBools) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor b = tn::tensor({true, true, false}).to(d),
                 mask = tn::tensor({0.0, 2.0, -1.0}).to(d);
    const Tensor u = tn::tensor({9, 1, 3}).to(d, tn::uint8);
    EXPECT_EQ(masked::sum(b, mask).item<int64_t>(), 1);
    EXPECT_EQ(masked::amax(b, mask).item<int64_t>(), 1);
    EXPECT_EQ(masked::amin(b, mask).item<int64_t>(), 0);
    EXPECT_EQ(masked::argmax(b, mask).item<int64_t>(), 1);
    expect_near(masked::cumsum(b, mask, 0), {0, 1, 1});
    expect_near(masked::mean(b, mask), {0.5});
    expect_near(masked::median(u, mask, {.dtype = tn::float32}), {1});
    expect_near(masked::logsumexp(u, mask, {.dtype = tn::float32}), {3 + std::log1p(std::exp(-2))});
    expect_near(masked::softmax(u, mask, 0), {0, 1 / (1 + std::exp(2)), 1 / (1 + std::exp(-2))});
    expect_near(masked::norm(u, mask), {std::sqrt(10)});
    expect_near(masked::var(u, mask), {2});
    EXPECT_EQ(masked::argmax(u, mask).dtype(), tn::uint8);
  }
}

TEST(Masked, IsReplayedInCompiledFunctions) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const auto f = [](Tensor x, Tensor mask) {
      return masked::normalize(x, mask, 2, -1) * masked::std(x, mask);
    };
    auto compiled = tn::compile(f);
    for (int i = 0; i < 3; ++i) {
      const Tensor x = sample({2, 3}, d, i), mask = x < 0.3 * i;
      const Tensor eager = f(x, mask);
      EXPECT_TRUE(tn::allclose(compiled(x, mask), eager, 0, 0, true)) << compiled.describe();
    }
  }
}

TEST(Masked, SaysWhatItRefuses) {
  const auto masks = [](auto f, std::vector<int64_t> sizes) {
    return [f, sizes](tn::Device d) { f(zeros_on(d, {2, 3}), zeros_on(d, sizes), {}); };
  };
  const auto dtype = [](auto f) {
    return [f](tn::Device d) { f(zeros_on(d, {2, 3}), tn::none, {.dtype = tn::int64}); };
  };
  const auto slices = [](auto f, std::vector<int64_t> sizes) {
    return [f, sizes](tn::Device d) { f(zeros_on(d, {2, 3}), zeros_on(d, sizes), 0, {}); };
  };
  const auto of_slices = [](auto f) {
    return [f](tn::Device d) { f(zeros_on(d, {2, 3}), tn::none, 0, {.dtype = tn::bool_}); };
  };
  const auto normalize = [](const Tensor& x, const Tensor& mask, tn::Int dim,
                            const masked::NormalizeOptions& options) {
    return masked::normalize(x, mask, 2, dim, options);
  };
  const std::string expected = ", expected a mask that broadcasts to the sizes of x";
  const std::string row = ": mask is [2] and x [2, 3]" + expected;
  const std::string cube = ": mask is [1, 2, 3] and x [2, 3]" + expected;
  const std::string floats = ": dtype is int64, expected one of floats";
  const std::string no_bool = ": dtype is bool, expected one of floats";
  expect_refusals({
      {masks(masked::sum, {2}), "sum" + row},
      {masks(masked::prod, {1, 2, 3}), "prod" + cube},
      {masks(masked::mean, {2}), "mean" + row},
      {masks(masked::amax, {2}), "amax" + row},
      {masks(masked::amin, {1, 2, 3}), "amin" + cube},
      {masks(masked::argmax, {2}), "argmax" + row},
      {masks(masked::argmin, {2}), "argmin" + row},
      {masks(masked::median, {2}), "median" + row},
      {masks(masked::var, {2}), "var" + row},
      {masks(masked::std, {1, 2, 3}), "std" + cube},
      {masks(masked::norm, {2}), "norm" + row},
      {masks(masked::logsumexp, {2}), "logsumexp" + row},
      {slices(masked::cumsum, {2}), "cumsum" + row},
      {slices(masked::cumprod, {2}), "cumprod" + row},
      {slices(masked::softmax, {2}), "softmax" + row},
      {slices(masked::log_softmax, {1, 2, 3}), "log_softmax" + cube},
      {slices(masked::softmin, {2}), "softmin" + row},
      {slices(normalize, {2}), "normalize" + row},
      {[](tn::Device d) {
         masked::logaddexp(zeros_on(d, {2, 3}), zeros_on(d, {2, 3}),
                           {.other_mask = zeros_on(d, {2})});
       },
       "logaddexp" + row},
      {dtype(masked::mean), "mean" + floats},
      {dtype(masked::var), "var" + floats},
      {dtype(masked::std), "std" + floats},
      {dtype(masked::norm), "norm" + floats},
      {of_slices(masked::softmax), "softmax" + no_bool},
      {of_slices(masked::log_softmax), "log_softmax" + no_bool},
      {of_slices(masked::softmin), "softmin" + no_bool},
      {of_slices(normalize), "normalize" + no_bool},
      {[](tn::Device d) {
         masked::var(zeros_on(d, {2}), tn::none, {.unbiased = true, .correction = 1});
       },
       "var: unbiased and correction are given, expected one of them"},
      {[](tn::Device d) {
         masked::median(places_on(d, {2, 3}), tn::tensor({{true}, {false}}).to(d));
       },
       "median: a slice along dimension -1 has no elements, for which int64 has no value; expected "
       "a dtype of floats"},
      {[](tn::Device d) {
         masked::sum(zeros_on(d, {2, 3}), tn::none, {.dim = 2});
       },
       "sum: dimension 2 is out of range: expected -2 to 1"},
      {[](tn::Device d) {
         masked::mean(zeros_on(d, {2, 3}), tn::none, {.dim = {1, -1}});
       },
       "stands twice in dims"},
      {[](tn::Device) { masked::sum(Tensor(), tn::none); },
       "sum: argument 'x' must be Tensor, got None"},
  });
}

}  // namespace
