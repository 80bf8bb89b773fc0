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
    // torch.amax shares the gradient evenly.
    Tensor y = float64_tensor({3, 1, 3}, {3}, d).requires_grad_();
    y.amax().backward();
    expect_near(y.grad(), {0.5, 0, 0.5});
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

TEST(Reduce, Gradients) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = sample({2, 3, 2}, d);
    gradcheck([](const TensorList& in) { return in[0].sum({0, 2}); }, {x});
    gradcheck([](const TensorList& in) { return in[0].sum(1, true) * in[0]; }, {x});
    gradcheck([](const TensorList& in) { return in[0].mean({-1}); }, {x});
    gradcheck([](const TensorList& in) { return tn::square(in[0]).mean(); }, {x});
    gradcheck([](const TensorList& in) { return tn::square(in[0]).amax(1); }, {x});
    EXPECT_FALSE(x.detach().requires_grad_().argmax().requires_grad());
  }
}

TEST(Reduce, RefusesWrongDims) {
  Tensor x = tn::zeros({2, 3});
  expect_error([&] { x.sum(2); }, "sum");
  expect_error([&] { x.sum({0, 0}); }, "twice");
  expect_error([&] { x.mean(5); }, "mean");
}

}  // namespace
