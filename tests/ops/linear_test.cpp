// linear in training: gradients by closed forms, whatever takes them, a kernel pair or the
// decomposition.
#include "ops_support.h"

namespace {

Tensor counted_leaf(std::vector<int64_t> sizes, tn::Device d) {
  Tensor t = tn::arange(0, sizes[0] * sizes[1]).to(tn::float32).to(d).view(sizes);
  return t.requires_grad_();
}

Tensor linear_of(const TensorList& in) {
  return tn::linear(in[0], in[1], in.size() > 2 ? in[2] : Tensor());
}

TEST(Linear, GradientsOfEveryRank) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const std::vector<int64_t>& sizes :
         std::vector<std::vector<int64_t>>{{3}, {2, 3}, {2, 2, 3}, {2, 1, 2, 3}}) {
      SCOPED_TRACE(sizes.size());
      gradcheck(linear_of, {sample(sizes, d), sample({4, 3}, d), sample({4}, d)});
      gradcheck(linear_of, {sample(sizes, d), sample({4, 3}, d)});
    }
  }
}

// dx = g w, dw = g^T x, db = the sum of g: whole numbers, so that every dtype gives them exactly.
TEST(Linear, GradientsInEveryFloatDtype) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      Tensor x = tn::tensor({1, 2, 3, 4, 5, 6}, d).reshape({2, 3}).to(dtype).requires_grad_();
      Tensor w = tn::tensor({1, 0, 2, 3, 1, 0}, d).reshape({2, 3}).to(dtype).requires_grad_();
      Tensor b = tn::tensor({5, 7}, d).to(dtype).requires_grad_();
      Tensor y = tn::linear(x, w, b);
      expect_near(y, {12, 12, 21, 24});
      y.backward(tn::tensor({1, 2, 3, 4}, d).reshape({2, 2}).to(dtype));
      expect_near(x.grad(), {7, 2, 2, 15, 4, 6});
      expect_near(w.grad(), {13, 17, 21, 18, 24, 30});
      expect_near(b.grad(), {4, 6});
      for (const Tensor& t : {x, w, b}) EXPECT_EQ(t.grad().dtype(), dtype);
    }
  }
}

TEST(Linear, OnlyWhatIsWantedGetsAGradient) {
  for (tn::Device d : devices()) {
    for (int wanted = 1; wanted < 8; ++wanted) {
      SCOPED_TRACE(d.name() + " " + std::to_string(wanted));
      const TensorList in = {tn::ones({2, 3}, {}, d), tn::ones({4, 3}, {}, d),
                             tn::ones({4}, {}, d)};
      for (int i = 0; i < 3; ++i) in[i].requires_grad_((wanted >> i & 1) != 0);
      tn::linear(in[0], in[1], in[2]).sum().backward();
      const double values[] = {4, 2, 2};
      for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(in[i].grad().defined(), (wanted >> i & 1) != 0);
        if (!in[i].grad().defined()) continue;
        expect_near(in[i].grad(), std::vector<double>(size_t(in[i].numel()), values[i]));
      }
    }
  }
}

// More rows and columns than a piece of the bias's gradient has, and products beyond the small ones.
TEST(Linear, GradientsOfManyRows) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(0);
    for (const tn::Dtype dtype : {tn::float32, tn::float64}) {
      Tensor x = tn::randn({2100, 5}, dtype, d), w = tn::randn({300, 5}, dtype, d);
      Tensor b = tn::randn({300}, dtype, d), g = tn::randn({2100, 300}, dtype, d);
      for (const Tensor& t : {x, w, b}) t.requires_grad_();
      tn::linear(x, w, b).backward(g);
      tn::NoGrad guard;
      const auto wide = [](const Tensor& t) { return t.to(tn::float64); };
      const auto expect_like = [](const Tensor& got, const Tensor& want, double most) {
        EXPECT_LT(tn::max(tn::abs(got.to(tn::float64) - want)).item<double>(), most);
      };
      expect_like(x.grad(), tn::matmul(wide(g), wide(w)), 1e-4);
      expect_like(w.grad(), tn::matmul(wide(g).t(), wide(x)), 2e-3);
      expect_like(b.grad(), wide(g).sum(0), dtype == tn::float64 ? 1e-12 : 1e-4);
    }
  }
}

TEST(Linear, GradientsOfNoRowsAndNoFeatures) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::zeros({0, 3}, {}, d).requires_grad_(),
           w = tn::ones({2, 3}, {}, d).requires_grad_();
    Tensor b = tn::ones({2}, {}, d).requires_grad_();
    tn::linear(x, w, b).sum().backward();
    expect_sizes(x.grad(), {0, 3});
    expect_near(w.grad(), {0, 0, 0, 0, 0, 0});
    expect_near(b.grad(), {0, 0});
    Tensor thin = tn::zeros({4, 0}, {}, d).requires_grad_();
    Tensor none = tn::zeros({2, 0}, {}, d).requires_grad_();
    b.zero_grad();
    tn::linear(thin, none, b).sum().backward();
    expect_sizes(thin.grad(), {4, 0});
    expect_sizes(none.grad(), {2, 0});
    expect_near(b.grad(), {4, 4});
  }
}

// A weight that lies transposed, a gradient that is one number everywhere, an input with gaps.
TEST(Linear, GradientsOfTensorsThatAreNotContiguous) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor w = counted_leaf({3, 2}, d), x = counted_leaf({2, 6}, d);
    tn::linear(x.slice(1, 0, 6, 2), w.t()).sum().backward();
    expect_near(w.grad(), {6, 6, 10, 10, 14, 14});
    expect_near(x.grad(), {1, 0, 5, 0, 9, 0, 1, 0, 5, 0, 9, 0});
  }
}

}  // namespace
