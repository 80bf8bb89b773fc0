// Calls as PyTorch and libtorch write them: options behind arguments by place, flags by place, other
// names. Values are PyTorch 2.15's.
#include <string>
#include <vector>

#include <tenon/parametrizations.hpp>

#include "message_of.h"
#include "ops_support.h"

namespace {

namespace nn = tn::nn;
using tn::float64, tn::Object;

Tensor six() { return tn::arange(6, float64).reshape({2, 3}); }

TEST(TorchCalls, OptionsBehindPlaces) {
  load_all();
  const Tensor x = tn::tensor({{1.0, 2.0}});
  expect_near(x.repeat_interleave(2, {.dim = 0}), {1, 2, 1, 2});
  expect_near(x.repeat_interleave(tn::tensor({1, 2}).to(tn::int64), {.dim = 1}), {1, 2, 2});
  const Tensor sums = tn::zeros({3}), at = tn::tensor({0, 0, 2}).to(tn::int64);
  sums.index_put_({at}, tn::ones({3}), {.accumulate = true});
  expect_near(sums, {2, 0, 1});
  sums.index_put_({at}, 5.0, {.accumulate = false});
  expect_near(sums, {5, 0, 5});
  const Tensor near = tn::tensor({1.0005, 2.0});
  EXPECT_TRUE(x.isclose(near, {.rtol = 1e-3}).all().item<bool>());
  EXPECT_TRUE(x[0].allclose(near, {.rtol = 1e-3}));
  EXPECT_FALSE(x[0].allclose(near, {.rtol = 1e-5}));
  EXPECT_EQ(x.softmax(-1, {.dtype = float64}).dtype(), float64);
  EXPECT_EQ(x.log_softmax(1, {.dtype = float64}).dtype(), float64);
  EXPECT_EQ(tn::softmax(x, 1, {.dtype = float64}).dtype(), float64);
  expect_near(tn::log_softmax(x, 1, {.dtype = float64}), {-1.3132616875, -0.3132616875}, 1e-9);
}

TEST(TorchCalls, ToWithFlags) {
  load_all();
  for (tn::Device d : devices()) {
    const Tensor x = tn::ones({2}, tn::float32, d);
    for (const Tensor& y :
         {x.to(float64, true), x.to(float64, true, true), x.to(d, float64, true),
          x.to(float64, {.copy = true}), x.to(d, float64, {.non_blocking = true}),
          x.to(d, {.non_blocking = true}, float64), x.to(tn::ones({}, float64, d), false)}) {
      EXPECT_EQ(y.dtype(), float64);
      EXPECT_EQ(y.device(), d);
    }
    EXPECT_TRUE(x.to(tn::float32, true).is_same(x));
    for (const Tensor& y :
         {x.to(tn::float32, false, true), x.to(d, tn::float32, false, true),
          x.to(tn::float32, {.copy = true}), x.to(d, {.copy = true}), x.to(x, false, true)}) {
      EXPECT_FALSE(y.same_storage(x));
      expect_near(y, {1, 1});
    }
  }
}

TEST(TorchCalls, DtypesBoolsAndListsByPlace) {
  load_all();
  const Tensor x = tn::arange(1, 5, 1, tn::float32);
  EXPECT_EQ(x.prod(float64).dtype(), float64);
  EXPECT_EQ(tn::prod(x, float64).item(), 24);
  const auto [var, mean] = tn::var_mean(x, 0, true);
  expect_near(var, {5. / 3}, 1e-6);
  expect_near(mean, {2.5});
  expect_near(std::get<0>(tn::var_mean(x, 0, false)), {1.25}, 1e-6);
  expect_near(std::get<0>(tn::var_mean(x, false)), {1.25}, 1e-6);
  expect_near(std::get<0>(tn::std_mean(x, 0, false)), {1.1180339887}, 1e-6);
  expect_near(x.quantile({0.0, 0.5}, 0), {1, 2.5}, 1e-6);
  expect_near(tn::quantile(x, {0.0, 0.5, 1.0}), {1, 2.5, 4}, 1e-6);
  expect_near(x.nanquantile({1.0}, 0, true), {4}, 1e-6);
  expect_near(x.narrow(0, tn::full({}, 2), 2), {3, 4});
  EXPECT_EQ(message_of([&] { x.narrow(0, tn::ones({1}), 2); }),
            "narrow: start is [1] float32, expected an integer without dimensions");
  expect_near(tn::linspace(tn::full({}, 1), tn::tensor(2.0), 3), {1, 1.5, 2});
  expect_near(tn::linspace(0, tn::tensor(2.0), 2, {.dtype = float64}), {0, 2});
  expect_near(tn::logspace(tn::full({}, 0), 2, 3), {1, 10, 100}, 1e-4);
  EXPECT_EQ(message_of([&] { tn::linspace(x, 1, 5); }),
            "linspace: an end is [4], expected a number, or a tensor without dimensions");
  expect_near(tn::trapz(x, 0.5), {3.75});
  expect_near(tn::trapezoid(x, 2), {15});
  expect_near(tn::cumulative_trapezoid(x, 0.5), {0.75, 2, 3.75});
  const std::vector<Tensor> lines = tn::atleast_1d({tn::tensor(1.f), x});
  EXPECT_EQ(lines[0].dim(), 1);
  EXPECT_TRUE(lines[1].same_storage(x));
  EXPECT_EQ(tn::atleast_2d({x, x})[1].sizes(), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(tn::atleast_3d({x, x})[0].dim(), 3);
}

TEST(TorchCalls, MemoryFormats) {
  load_all();
  const Tensor x = tn::rand({2, 3, 4, 5}), last = x.clone("channels_last");
  EXPECT_TRUE(last.is_contiguous("channels_last"));
  EXPECT_FALSE(x.is_contiguous("channels_last"));
  EXPECT_TRUE(x.is_contiguous("contiguous"));
  EXPECT_TRUE(last.equal(x));
  EXPECT_TRUE(tn::zeros({2, 1, 4, 5}).is_contiguous("channels_last"));
  EXPECT_FALSE(tn::zeros({2, 3, 4}).is_contiguous("channels_last"));
  EXPECT_FALSE(last.clone("channels_last").same_storage(last));
  EXPECT_FALSE(x.clone("contiguous").same_storage(x));
  EXPECT_EQ(last.clone("preserve_format").strides(), last.strides());
  EXPECT_TRUE(last.clone("contiguous").is_contiguous());
  EXPECT_EQ(message_of([&] { x.is_contiguous("rows"); }),
            "is_contiguous: memory_format is 'rows', expected 'contiguous' or 'channels_last'");
}

TEST(TorchCalls, RandomNumbersInPlace) {
  load_all();
  const auto greatest = [](tn::Dtype dtype) {
    const Tensor x = tn::empty({4000}, dtype).random_().to(float64);
    EXPECT_GE(x.min().item(), 0) << dtype.name();
    return x.max().item();
  };
  EXPECT_EQ(greatest(tn::uint8), 255);
  EXPECT_EQ(greatest(tn::int8), 127);
  EXPECT_EQ(greatest(tn::bool_), 1);
  EXPECT_EQ(greatest(tn::bfloat16), 256);
  EXPECT_LE(greatest(tn::float16), 2048);
  EXPECT_GT(greatest(tn::float32), 0.9 * (1 << 24));
  EXPECT_GT(greatest(float64), 0.9 * 0x1p53);
  EXPECT_GT(greatest(tn::int64), 0.9 * 0x1p63);
  const Tensor x = tn::full({1000}, 7.0);
  const double mean = x.bernoulli(0.25).mean().item();
  EXPECT_GT(mean, 0.15);
  EXPECT_LT(mean, 0.35);
  EXPECT_EQ(x.bernoulli(1.0).sum().item(), 1000);
  expect_near(tn::ones({2, 2}).bernoulli_(tn::tensor({0.0, 1.0})), {0, 1, 0, 1});
  expect_near(tn::ones({2}, tn::int64).bernoulli_(tn::tensor({0.0, 1.0})), {0, 1});
}

TEST(TorchCalls, OtherNames) {
  load_all();
  const Tensor x = six(), v = tn::tensor({3.0, 1.0, 2.0}).to(float64);
  expect_near(x.multiply(2), {0, 2, 4, 6, 8, 10});
  expect_near(x.divide(v), {0, 1, 1, 1, 4, 2.5});
  expect_near(x.true_divide(2), {0, 0.5, 1, 1.5, 2, 2.5});
  expect_near(x.negative().sgn(), {0, -1, -1, -1, -1, -1});
  EXPECT_EQ(v.vdot(v).item(), 14);
  expect_near(v.msort(), {1, 2, 3});
  expect_near(x.histogram(2).hist(), {3, 3});
  expect_near(std::get<0>(x.histogram(tn::tensor({0.0, 1.0, 5.0}).to(float64))), {1, 5});
  EXPECT_TRUE(x.is_same_size(tn::zeros({2, 3})));
  EXPECT_FALSE(x.is_same_size(v));
  EXPECT_TRUE(x.is_signed());
  EXPECT_FALSE(x.to(tn::uint8).is_signed());
  EXPECT_FALSE((x > 0).is_signed());
  expect_near(tn::constant_pad_nd(v, {1, 0}, 9), {9, 3, 1, 2});
  EXPECT_TRUE(tn::GradMode::is_enabled());
  {
    const tn::NoGrad guard;
    EXPECT_FALSE(tn::GradMode::is_enabled());
    tn::GradMode::set_enabled(true);
    EXPECT_TRUE(tn::GradMode::is_enabled());
  }
  tn::set_printoptions();
}

TEST(TorchCalls, InPlaceForms) {
  load_all();
  const Tensor m = tn::ones({2, 3}, float64), v = tn::tensor({1.0, 2.0, 3.0}).to(float64);
  expect_near(tn::ones({2}, float64).addmv_(m, v), {7, 7});
  expect_near(tn::ones({2, 2}, float64).addbmm_(m.unsqueeze(0), m.t().unsqueeze(0), 2),
              {5, 5, 5, 5});
  expect_near(tn::ones({3, 3}, float64).addr_(v, v, 0, 1), {1, 2, 3, 2, 4, 6, 3, 6, 9});
  expect_near(tn::full({1, 2}, 3.0, float64).renorm_(1, 0, 3), {1.5, 1.5}, 1e-6);
  const Tensor i = tn::tensor({4, 6}).to(tn::int64), j = tn::tensor({6, 4}).to(tn::int64);
  expect_near(i.clone().gcd_(j), {2, 2});
  expect_near(i.clone().lcm_(j), {12, 12});
  expect_near(v.clone().lgamma_(), {0, 0, 0.69314718056}, 1e-9);
  expect_near(v.clone().digamma_(), {-0.57721566490, 0.42278433510, 0.92278433510}, 1e-9);
  expect_near((v / 4).erfinv_(), {0.2253120550, 0.4769362762, 0.8134198475}, 1e-9);
  expect_near(v.clone().i0_(), {1.2660658778, 2.2795853023, 4.8807925859}, 1e-9);
  EXPECT_GT(v.clone().nextafter_(v + 1)[0].item(), 1);
  EXPECT_EQ(message_of([&] { i.lgamma_(); }),
            "lgamma_: x is int64, which cannot hold the result, float32");
}

TEST(TorchCalls, NormsOfWeightsByPlace) {
  load_all();
  const Object layer = nn::utils::weight_norm(nn::Linear(2, 3), "weight");
  EXPECT_EQ(layer.get_parameter("parametrizations.weight.original0").sizes(),
            (std::vector<int64_t>{3, 1}));
  const Object by_column = nn::utils::weight_norm(nn::Linear(2, 3), "weight", 1);
  EXPECT_EQ(by_column.get_parameter("parametrizations.weight.original0").sizes(),
            (std::vector<int64_t>{1, 2}));
  nn::utils::spectral_norm(nn::Linear(2, 3), "weight");
  const Object spectral =
      nn::utils::spectral_norm(nn::Linear(2, 3), std::string("weight"), 50, 1e-9);
  EXPECT_EQ(spectral.get_parameter("parametrizations.weight.original").sizes(),
            (std::vector<int64_t>{3, 2}));
}

TEST(TorchCalls, SegmentReduce) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::tensor({1.f, 2.f, 3.f, NAN, 5.f, 6.f}).to(d);
    const Tensor lengths = tn::tensor({2, 0, 3, 1}).to(tn::int64).to(d);
    const Tensor offsets = tn::tensor({0, 2, 2, 5, 6}).to(tn::int64).to(d);
    const std::pair<const char*, std::vector<double>> cases[] = {{"sum", {3, 0, NAN, 6}},
                                                                 {"mean", {1.5, NAN, NAN, 6}},
                                                                 {"max", {2, -INFINITY, NAN, 6}},
                                                                 {"min", {1, INFINITY, NAN, 6}},
                                                                 {"prod", {2, 1, NAN, 6}}};
    for (const auto& [reduce, expected] : cases) {
      expect_near(tn::segment_reduce(x, reduce, {.lengths = lengths}), expected, 1e-6);
      expect_near(tn::segment_reduce(x, reduce, {.offsets = offsets}), expected, 1e-6);
    }
    expect_near(tn::segment_reduce(x, "sum", {.lengths = lengths, .initial = 7}), {10, 7, NAN, 13});
    expect_near(tn::segment_reduce(x, "mean", {.lengths = lengths, .initial = 7}), {5, 7, NAN, 13});
    expect_near(tn::segment_reduce(x, "max", {.lengths = lengths, .initial = 7}), {7, 7, NAN, 7});
    const Tensor rows = tn::arange(12, tn::float32).reshape({6, 2}).to(d);
    const Tensor three = tn::tensor({2, 0, 4}).to(tn::int64).to(d);
    expect_near(tn::segment_reduce(rows, "sum", {.lengths = three}), {2, 4, 0, 0, 28, 32});
    const Tensor a = tn::tensor({1.f, 2.f, 2.f, 3.f, 3.f, 1.f}).to(d).requires_grad_();
    const Tensor halves = tn::tensor({3, 3}).to(tn::int64).to(d);
    for (const char* reduce : {"sum", "mean", "max", "min", "prod"}) {
      gradcheck(
          [&](const TensorList& in) {
            return tn::segment_reduce(in[0], reduce, {.lengths = halves});
          },
          {(tn::arange(12, float64).reshape({6, 2}).sin() + 2).to(d)});
    }
    tn::segment_reduce(a, "max", {.lengths = halves}).sum().backward();
    expect_near(a.grad(), {0, 0.5, 0.5, 0.5, 0.5, 0});
  }
  const Tensor x = tn::ones({6, 2}), six = tn::tensor({6}).to(tn::int64);
  const auto refused = [&](const char* reduce, const tn::SegmentReduceOptions& options) {
    return message_of([&] { tn::segment_reduce(x, reduce, options); });
  };
  EXPECT_EQ(refused("summ", {.lengths = six}),
            "segment_reduce: reduce is 'summ', expected sum, prod, mean, amax or amin");
  EXPECT_EQ(refused("sum", {}),
            "segment_reduce: there are neither lengths nor offsets, expected one of them");
  EXPECT_EQ(refused("sum", {.lengths = six, .offsets = six}),
            "segment_reduce: there are lengths and offsets, expected one of them");
  EXPECT_EQ(refused("sum", {.lengths = six - 1}),
            "segment_reduce: lengths add up to 5, expected 6, the size of dimension 0 of x");
  EXPECT_EQ(
      refused("sum", {.offsets = tn::tensor({1, 6}).to(tn::int64)}),
      "segment_reduce: offsets go from 1 to 6, expected 0 to 6, the size of dimension 0 of x");
  EXPECT_EQ(refused("sum", {.lengths = tn::tensor({-1, 7}).to(tn::int64)}),
            "segment_reduce: lengths has -1, expected 0 or more");
  EXPECT_EQ(refused("sum", {.offsets = tn::tensor({0, 4, 2, 6}).to(tn::int64)}),
            "segment_reduce: offsets goes back by 2, expected to ascend");
  EXPECT_EQ(refused("sum", {.lengths = six.reshape({1, 1})}),
            "segment_reduce: lengths is [1, 1], expected 1 dimension");
  EXPECT_EQ(refused("sum", {.lengths = six, .axis = 1}), "segment_reduce: axis is 1, expected 0");
  expect_near(tn::segment_reduce(x, "sum", {.lengths = six - 4, .unsafe = true}), {2, 2});
}

TEST(TorchCalls, NonzeroOfAStaticSize) {
  load_all();
  for (tn::Device d : devices()) {
    const Tensor x = tn::tensor({{1.f, 0.f}, {2.f, NAN}}).to(d);
    expect_near(tn::nonzero_static(x, 4), {0, 0, 1, 0, 1, 1, -1, -1});
    expect_near(x.nonzero_static(2), {0, 0, 1, 0});
    expect_near(tn::nonzero_static(x, 4, 7), {0, 0, 1, 0, 1, 1, 7, 7});
    expect_sizes(tn::nonzero_static(x, 0), {0, 2});
    expect_sizes(tn::nonzero_static(tn::tensor(1.f).to(d), 2), {2, 0});
    expect_near(tn::nonzero_static(tn::zeros({0, 2}, {}, d), 1), {-1, -1});
  }
  EXPECT_EQ(message_of([] { tn::nonzero_static(tn::ones({2}), -2); }),
            "nonzero_static: size is -2, expected 0 or more");
}

TEST(TorchCalls, AsStridedScatter) {
  load_all();
  for (tn::Device d : devices()) {
    const Tensor x = tn::zeros({3, 3}, {}, d).requires_grad_();
    const Tensor src = tn::arange(1, 5, 1, tn::float32, d).reshape({2, 2}).requires_grad_();
    const Tensor y = tn::as_strided_scatter(x, src, {2, 2}, {1, 2});
    expect_near(y, {1, 3, 2, 4, 0, 0, 0, 0, 0});
    (y * 2).sum().backward();
    expect_near(src.grad(), {2, 2, 2, 2});
    expect_near(x.grad(), {0, 0, 0, 0, 2, 2, 2, 2, 2});
    const Tensor at = tn::arange(12, float64).reshape({3, 4}).to(d);
    gradcheck(
        [](const TensorList& in) {
          return tn::as_strided_scatter(in[0], in[1], {2, 2}, {1, 4}, 3);
        },
        {at.sin(), at.slice(0, 0, 1).reshape({2, 2}).cos()});
  }
  EXPECT_EQ(message_of([] { tn::as_strided_scatter(tn::ones({3}), tn::ones({1}), {2}, {1}); }),
            "as_strided_scatter: src is [1], expected [2], the sizes of what it replaces");
}

}  // namespace
