// Methods of Tensor by PyTorch's names: those that ops got by being one, and those that are more
// than a call of their op.
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

using Values = std::vector<double>;

TEST(Methods, ArithmeticHasNames) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({1.0, -2.0, 4.0}, d), y = tn::tensor({2.0, 3.0, -1.0}, d);
    expect_near(x.add(y), {3, 1, 3});
    expect_near(x.add(y, 2), {5, 4, 2});
    expect_near(x.sub(1), {0, -3, 3});
    expect_near(x.sub(y, 0.5), {0, -3.5, 4.5});
    expect_near(x.mul(y), {2, -6, -4});
    expect_near(x.div(y), {0.5, -2.0 / 3, -4});
    expect_near(x.div(y, "floor"), {0, -1, -4});
    expect_near(x.remainder(3), {1, 1, 1});
    expect_near(x.maximum(y), {2, 3, 4});
    expect_near(x.clamp(0), {1, 0, 4});
    expect_near(x.clamp(0, 2), {1, 0, 2});
    expect_near(x.clamp(tn::none, 2), {1, -2, 2});
    expect_near(x.addcmul(x, y), {3, -8, 0});
    expect_near(x.addcmul(x, y, 0.5), {2, -5, 2});
    expect_near(x.lerp(y, 0.5), {1.5, 0.5, 1.5});
    expect_near(x.gt(0).logical_and(x.lt(3)), {1, 0, 0});
    expect_near(x.where(x.gt(0), y), {1, 3, 4});
  }
}

TEST(Methods, FormsInPlaceWriteThere) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({1.0, -2.0, 4.0}, d);
    x.add_(1).sub_(tn::tensor(1.0, d)).mul_(2).div_(4).clamp_(-0.5, 1);
    expect_near(x, {0.5, -0.5, 1});
    x.masked_fill_(x.lt(0), 9);
    expect_near(x, {0.5, 9, 1});
    const Tensor rows = tn::zeros({2, 3}, {}, d);
    const Tensor at = tn::tensor({{2}, {0}}, d);
    rows.scatter_(1, at, 1.5);
    expect_near(rows, {0, 0, 1.5, 1.5, 0, 0});
    rows.scatter_(1, at, tn::tensor({{7.0}, {8.0}}, d));
    expect_near(rows, {0, 0, 7, 8, 0, 0});
    rows.scatter_add_(1, at, tn::ones({2, 1}, {}, d));
    expect_near(rows, {0, 0, 8, 9, 0, 0});
    rows.index_add_(0, tn::tensor({1, 1}, d), tn::ones({2, 3}, {}, d));
    expect_near(rows, {0, 0, 8, 11, 2, 2});
    expect_near(rows.scatter(1, at, 5), {0, 0, 5, 5, 2, 2});
  }
}

TEST(Methods, FormsInPlaceOfMatricesWriteThere) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({{1.0, 2.0}, {3.0, 4.0}}, d);
    expect_near(x.clone().cumsum_(0), {1, 2, 4, 6});
    expect_near(x.clone().cumprod_(1), {1, 2, 3, 12});
    expect_near(x.clone().tril_(), {1, 0, 3, 4});
    expect_near(x.clone().triu_(1), {0, 2, 0, 0});
    expect_near(x.clone().fill_diagonal_(9), {9, 2, 3, 9});
    const Tensor product = x.clone();
    product.addmm_(product, x, 10, 2);  // of itself as it was before
    expect_near(product, {24, 40, 60, 84});
    expect_near(x.unsqueeze(0).clone().baddbmm_(x.unsqueeze(0), x.unsqueeze(0)), {8, 12, 18, 26});
    const Tensor at = tn::tensor({{1, 1}}, d), values = tn::tensor({{5.0, -1.0}}, d);
    expect_near(x.clone().scatter_reduce_(0, at, values, "amax"), {1, 2, 5, 4});
    expect_near(x.clone().index_reduce_(0, tn::tensor({0}, d), values, "mean", false),
                {5, -1, 3, 4});
    const Tensor drawn = tn::zeros({1000}, {}, d);
    EXPECT_EQ(std::get<0>(drawn.random_(3).unique()).to_vector<int64_t>(),
              (std::vector<int64_t>{0, 1, 2}));
    EXPECT_EQ(std::get<0>(drawn.random_(-1, 1).unique()).to_vector<int64_t>(),
              (std::vector<int64_t>{-1, 0}));
    expect_error(
        [&] {
          tn::zeros({1, 2, 3}, {}, d).fill_diagonal_(1);
        },
        "fill_diagonal_: x is [1, 2, 3], expected dimensions of one size");
  }
}

// What PyTorch's gradients of copy_(f(x)) would be.
TEST(Methods, FormsInPlaceOfMatricesHaveGradients) {
  const Tensor x = tn::tensor({{1.0, 2.0}, {3.0, 4.0}}).requires_grad_();
  (x * 2).cumsum_(0).tril_().sum().backward();
  expect_near(x.grad(), {4, 2, 2, 2});
}

TEST(ByHand, TextsMayBeStringsAndNoneStandsForNoTensor) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({{1.0, 2.0}, {3.0, 4.0}}, d);
    const std::string equation = "ij,jk->ik", sum = "sum", op = "relu";
    expect_near(tn::einsum(equation, {x, x}), {7, 10, 15, 22});
    expect_near(tn::mse_loss(x, x + 1, sum), {4});
    expect_near(tn::mse_loss(x, x + 1, {.reduction = sum}), {4});
    expect_near(tn::call(op, x - 2), {0, 0, 1, 2});
    expect_near(tn::layer_norm(x, {2}, tn::none, tn::none, 0.0), {-1, 1, -1, 1});
    const Tensor counts = tn::bincount(tn::tensor({1, 1}, d), tn::none, 3);
    EXPECT_EQ(counts.to_vector<int64_t>(), (std::vector<int64_t>{0, 2, 0}));
    expect_near(x.quantile(0.5, tn::none), {2.5});
    EXPECT_EQ(tn::eye(2, tn::float64, d).dtype(), tn::float64);
    EXPECT_EQ(tn::eye(2, 3).sizes(), (std::vector<int64_t>{2, 3}));
  }
  const Tensor nothing = tn::none;
  EXPECT_FALSE(nothing.defined());
}

TEST(ByHand, ItemIsNoFloatBeyondFloat) {
  EXPECT_EQ(tn::tensor({3e38}, tn::float64).item<float>(), 3e38f);
  EXPECT_EQ(tn::tensor({INFINITY}, tn::float64).item<float>(), INFINITY);
  EXPECT_EQ(tn::tensor({1e300}, tn::float64).item<double>(), 1e300);
  expect_error([] { tn::tensor({-1e300}, tn::float64).item<float>(); },
               "item: the element is -1e+300 (float64), which is beyond float");
}

TEST(Methods, ReductionsAlongADimensionGivePlaces) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({{1.0, 5.0, 3.0}, {4.0, 2.0, 6.0}}, d);
    const auto [most, at] = x.max(1);
    expect_near(most, {5, 6});
    EXPECT_EQ(at.to_vector<int64_t>(), (std::vector<int64_t>{1, 2}));
    const auto [least, place] = x.min(0, true);
    expect_near(least, {1, 2, 3});
    expect_sizes(place, {1, 3});
    expect_near(x.max(), {6});
    expect_near(x.min(), {1});
    expect_near(x.cumprod(1), {1, 5, 15, 4, 8, 48});
    expect_near(x.gt(2).count_nonzero({1}), {2, 2});
  }
}

TEST(Methods, StatisticsAndSpecialFunctions) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({{1.0, 5.0, 3.0}, {4.0, 2.0, 6.0}}, d);
    expect_near(std::get<0>(x.median(1)), {3, 4});
    expect_near(std::get<0>(x.median()), {3});
    expect_near(std::get<0>(x.nanmedian(1)), {3, 4});
    expect_near(std::get<0>(x.kthvalue(2)), {3, 4});
    expect_near(std::get<0>(x.mode(0)), {1, 2, 3});
    const auto [least, most] = x.aminmax(1);
    expect_near(least, {1, 2});
    expect_near(most, {5, 6});
    expect_near(std::get<0>(x.cummax(1)), {1, 5, 5, 4, 4, 6});
    expect_near(std::get<0>(x.cummin(1)), {1, 1, 1, 4, 2, 2});
    expect_near(x.logcumsumexp(1).exp().log().slice(1, 0, 1), {1, 4});
    expect_near(x.diff(), {4, -2, -2, 4});
    expect_near(x.quantile(0.5, 1), {3, 4});
    expect_near(x.nanquantile(0.5, 1), {3, 4});
    expect_near(x.nansum(1), {9, 12});
    expect_near(x.nanmean(1), {3, 4});
    expect_near(x.cov(), {4, -2, -2, 4});
    expect_near(x.renorm(1, 0, 3).sum(1), {3, 3});
    expect_near(x.trace(), {3});
    expect_near(x.histc(2, 0, 8), {3, 3});
    expect_near(x[0].cross(x[1]), {24, 6, -18});
    expect_near(x[0].kron(tn::tensor({1.0, 10.0}, d)), {1, 10, 5, 50, 3, 30});
    expect_near(tn::tensor({1, 1, 3}, d).bincount(), {0, 2, 0, 1});
    const Tensor half = tn::tensor({0.5, 0.25}, d);
    expect_near(half.logit(), {0, -1.0986123});
    expect_near(half.erfinv(), {0.4769363, 0.2253121}, 1e-5);
    expect_near(half.lgamma(), {0.5723649, 1.2880225}, 1e-5);
    expect_near(half.digamma(), {-1.9635100, -4.2274535}, 1e-4);
    expect_near(half.i0(), {1.0634834, 1.0156861}, 1e-5);
    expect_near(half.sinc(), {0.6366198, 0.9003163}, 1e-5);
    expect_near(half.xlogy(2), {0.3465736, 0.1732868}, 1e-5);
    expect_near(half.copysign(-1), {-0.5, -0.25});
    expect_near(half.sub(0.25).heaviside(7), {1, 7});
    expect_near(half.nextafter(tn::ones({2}, {}, d)).sub(half).gt(0), {1, 1});
    half.copysign_(-1).heaviside_(3);
    expect_near(half, {0, 0});
    expect_near(tn::tensor({0.5}, d).sinc_(), {0.6366198}, 1e-5);
    expect_near(tn::tensor({0.5}, d).logit_(), {0});
    expect_near(tn::tensor({0.5}, d).xlogy_(2), {0.3465736}, 1e-5);
  }
}

TEST(Methods, PlacesAndTheirFormsInPlace) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::zeros({2, 3}, {}, d), at = tn::tensor({1}, d);
    const Tensor row = tn::tensor({{1.0, 2.0, 3.0}}, d);
    expect_near(x.index_copy(0, at, row), {0, 0, 0, 1, 2, 3});
    expect_near(x.index_fill(1, at, 4), {0, 4, 0, 0, 4, 0});
    expect_near(x.put(tn::tensor({5}, d), tn::tensor({9.0}, d)), {0, 0, 0, 0, 0, 9});
    expect_near(x.masked_scatter(x.eq(0), row.repeat({2, 1})), {1, 2, 3, 1, 2, 3});
    expect_near(x.scatter_reduce(0, tn::ones({1, 3}, tn::int64, d), row, "sum"),
                {0, 0, 0, 1, 2, 3});
    expect_near(x.index_reduce(0, at, row, "amax"), {0, 0, 0, 1, 2, 3});
    expect_near(row.take_along_dim(tn::tensor({{2, 0}}, d), 1), {3, 1});
    expect_near(x, {0, 0, 0, 0, 0, 0});
    x.index_copy_(0, at, row).index_fill_(1, at, 4);
    expect_near(x, {0, 4, 0, 1, 4, 3});
    x.put_(tn::tensor({0}, d), tn::tensor({7.0}, d));
    x.masked_scatter_(x.eq(0), row);
    expect_near(x, {7, 4, 1, 1, 4, 3});
    expect_near(x.rot90(), {1, 3, 4, 4, 7, 1});
    expect_sizes(x.tensor_split(2, 1)[1], {2, 1});
    expect_sizes(x.hsplit(3)[0], {2, 1});
    expect_sizes(x.vsplit(2)[0], {1, 3});
    expect_sizes(x.reshape({1, 2, 3}).dsplit(3)[0], {1, 2, 1});
    expect_near(std::get<0>(x.unique()), {1, 3, 4, 7});
    expect_near(std::get<0>(x.flatten().unique_consecutive()), {7, 4, 1, 4, 3});
  }
}

TEST(Methods, TheirFunctionsTakeOptionsByNameToo) {
  const Tensor x = tn::tensor({{1.0, 5.0, 3.0}, {4.0, 2.0, 6.0}});
  expect_near(std::get<0>(tn::topk(x, 1, {.largest = false})), {1, 2});
  expect_near(tn::norm(x, {.p = 1, .dim = 1}), {9, 12});
  expect_near(tn::nan_to_num(x / 0, {.posinf = 7}), {7, 7, 7, 7, 7, 7});
  expect_near(tn::diff(x, {.prepend = tn::zeros({2, 1})}), {1, 4, -2, 4, -2, 4});
  expect_near(tn::diff(x, 1, 0), {3, -3, 3});
  expect_near(tn::quantile(x, 0.5, {.dim = 1}), {3, 4});
  expect_near(tn::cov(x, {.correction = 0}), {8.0 / 3, -4.0 / 3, -4.0 / 3, 8.0 / 3});
  expect_near(tn::histc(x, {.bins = 2, .max = 8}), {3, 3});
  expect_near(tn::diagonal(x, {.offset = 1}), {5, 6});
  const Tensor y = tn::zeros({2, 3});
  expect_near(tn::mse_loss(x, y, {.reduction = "sum"}), {91});
  expect_near(tn::softmax(x - x, {.dim = 1}).sum(1), {1, 1});
  expect_near(tn::dropout(x, {.p = 0, .training = true}), {1, 5, 3, 4, 2, 6});
  expect_near(tn::uniform_(y, {.from = 1, .to = 1}), {1, 1, 1, 1, 1, 1});
}

TEST(Methods, GradientsOfOneOrOfMany) {
  const Tensor x = tn::tensor({1.0, 2.0}).requires_grad_(), w = tn::tensor(3.0).requires_grad_();
  const Tensor y = x * x * w;
  const std::vector<Tensor> both = {x, w};
  const std::vector<Tensor> found = tn::grad(y.sum(), both, {.retain_graph = true});
  expect_near(found.at(0), {6, 12});
  expect_near(found.at(1), {5});
  expect_near(tn::grad(y, x, {.grad_outputs = tn::tensor({1.0, 10.0}), .retain_graph = true}),
              {6, 120});
  y.sum().backward({.retain_graph = true});
  y.sum().backward();
  expect_near(x.grad(), {12, 24});
}

TEST(Methods, VectorsOfBoolAreTaken) {
  const std::vector<bool> done = {true, false, true};
  EXPECT_EQ(tn::tensor(done).dtype(), tn::bool_);
  expect_near(Tensor::from(done, {3, 1}).to(tn::float32), {1, 0, 1});
}

TEST(Methods, PiecesAndShapes) {
  const Tensor x = tn::arange(6).reshape({2, 3});
  ASSERT_EQ(x.split(2, 1).size(), 2u);
  expect_sizes(x.split(2, 1)[1], {2, 1});
  expect_sizes(x.chunk(3, 1)[2], {2, 1});
  expect_sizes(x.split_with_sizes({1, 2}, 1)[1], {2, 2});
  expect_sizes(x.unflatten(1, {3, 1}), {2, 3, 1});
  expect_sizes(x.movedim(0, 1), {3, 2});
  expect_sizes(x.mT(), {3, 2});
  expect_sizes(x.view_as(tn::zeros({3, 2})), {3, 2});
  expect_sizes(x.reshape_as(tn::zeros({6})), {6});
  expect_sizes(tn::zeros({1, 3}).expand_as(x), {2, 3});
  expect_sizes(x.nonzero(), {5, 2});
  expect_near(x.masked_select(x.gt(3)), {4, 5});
  expect_near(x.roll(1, 1), {2, 0, 1, 5, 3, 4});
  expect_near(x.index({tn::tensor({1, 0})}), {3, 4, 5, 0, 1, 2});
}

TEST(Methods, NewTensorsAreOfTheirOwnersKind) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::zeros({2}, tn::float16, d);
    for (const Tensor& t :
         {x.new_zeros({3}), x.new_ones({3}), x.new_full({3}, 2), x.new_empty({3})}) {
      EXPECT_EQ(t.dtype(), tn::float16);
      EXPECT_EQ(t.device(), d);
      expect_sizes(t, {3});
    }
    expect_near(x.new_full({1}, 2), {2});
    EXPECT_EQ(x.new_ones({1}, tn::int64).dtype(), tn::int64);
    EXPECT_EQ(tn::tensor({1, 2}).type_as(x).device(), d);
    EXPECT_TRUE(x.cpu().device().is_cpu());
  }
}

// torch.isclose's rules: |x - y| <= atol + rtol * |y|; infinities only where they are equal.
TEST(Methods, CloseAndEqual) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({1.0, INFINITY, NAN, 100.0}, d),
                 y = tn::tensor({1.0 + 5e-6, INFINITY, NAN, 100.1}, d);
    EXPECT_EQ(tn::isclose(x, y).to_vector<double>(), (Values{1, 1, 0, 0}));
    EXPECT_EQ(tn::isclose(x, y, 1e-2, 0, true).to_vector<double>(), (Values{1, 1, 1, 1}));
    EXPECT_EQ(tn::isclose(x, -x).to_vector<double>(), (Values{0, 0, 0, 0}));
    EXPECT_FALSE(x.allclose(y));
    EXPECT_TRUE(x.allclose(y, 1e-2, 0, true));
    EXPECT_FALSE(x.equal(x)) << "NaN is not itself";
    EXPECT_TRUE(x.ge(0).equal(y.ge(0)));
    EXPECT_FALSE(x.equal(tn::zeros({2}, {}, d))) << "other sizes";
    // Integers do not wrap.
    const auto bytes = [&](std::vector<int> v, tn::Dtype dtype) {
      return tn::tensor(v).to(d, dtype);
    };
    EXPECT_TRUE(bytes({0, 255}, tn::uint8).allclose(bytes({1, 254}, tn::uint8), 0, 1));
    EXPECT_FALSE(bytes({100}, tn::int8).allclose(bytes({-100}, tn::int8), 0, 60));
    EXPECT_TRUE(bytes({-128}, tn::int8).allclose(bytes({-127}, tn::int8), 0.01, 0));
    EXPECT_EQ(
        tn::isclose(tn::tensor({true, false}, d), tn::tensor({true, true}, d)).to_vector<double>(),
        (Values{1, 0}));
    // Nor do their distances, where int64 does not hold them.
    const Tensor far = tn::tensor(std::vector<int64_t>{int64_t(1) << 62, INT64_MIN, INT64_MAX,
                                                       INT64_MIN, INT64_MAX, INT64_MIN}),
                 from = tn::tensor(std::vector<int64_t>{-(int64_t(1) << 62), 0, -1, INT64_MAX,
                                                        INT64_MIN, INT64_MIN});
    EXPECT_EQ(tn::isclose(far.to(d), from.to(d)).to_vector<double>(), (Values{0, 0, 0, 0, 0, 1}));
    EXPECT_EQ(tn::isclose(far.to(d), from.to(d), 2.5, 0, true).to_vector<double>(),
              (Values{1, 0, 0, 1, 1, 1}));
    EXPECT_TRUE(tn::allclose(far.to(d)[0], far.to(d)[0] + 1, 0, 1));
    EXPECT_EQ(message_of([&] { x.allclose(y, -1); }),
              "isclose: rtol is -1, expected a number of at least 0");
    EXPECT_EQ(message_of([&] { x.allclose(y, 0, NAN); }),
              "isclose: atol is nan, expected a number of at least 0");
  }
}

TEST(Methods, AreDifferentiable) {
  const Tensor x = tn::tensor({1.0, -2.0}).requires_grad_();
  const Tensor y = x.add(x, 2).where(x.gt(0), 0.5);
  y.mul(y).sum().backward();
  expect_near(x.grad(), {18, 0});
  const Tensor z = tn::zeros({1, 2}), w = tn::tensor({{3.0}}).requires_grad_();
  const Tensor written = z.clone();
  written.scatter_(1, tn::tensor({{1}}), w);
  written.square().sum().backward();
  expect_near(w.grad(), {6});
}

// The values of the rows that are repeated are PyTorch's of the same calls.
TEST(ByHand, RepeatsSlices) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({{1.0, 2.0}, {3.0, 4.0}}, d);
    expect_near(tn::repeat_interleave(x, 2), {1, 1, 2, 2, 3, 3, 4, 4});
    const Tensor columns = tn::repeat_interleave(x, 2, 1);
    EXPECT_EQ(columns.sizes(), (std::vector<int64_t>{2, 4}));
    expect_near(columns, {1, 1, 2, 2, 3, 3, 4, 4});
    expect_near(tn::repeat_interleave(x, tn::tensor({2, 1}, d), 0), {1, 2, 1, 2, 3, 4});
    expect_near(tn::repeat_interleave(x, tn::tensor({0, 3}, d), -1), {2, 2, 2, 4, 4, 4});
    expect_near(tn::repeat_interleave(x, tn::tensor({0, 1, 0, 2}, d)), {2, 4, 4});
    EXPECT_EQ(tn::repeat_interleave(x, 0, 0).sizes(), (std::vector<int64_t>{0, 2}));
  }
  const Tensor x = tn::tensor({1.0, -2.0}).requires_grad_();
  tn::repeat_interleave(x, tn::tensor({3, 1})).sum().backward();
  expect_near(x.grad(), {3, 1});
  expect_error([&] { tn::repeat_interleave(x, -1); }, "repeats is -1, expected 0 or more");
  expect_error(
      [&] {
        tn::repeat_interleave(x, tn::tensor({1, -4}));
      },
      "repeats[1] is -4, expected 0 or more");
  expect_error(
      [&] {
        tn::repeat_interleave(x, tn::tensor({1, 1, 1}));
      },
      "repeats has 3 elements, expected one dimension of 2");
}

TEST(ByHand, UnbindsToNamesAndFindsWhatIsNotZero) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({{1.0, 0.0, 2.0}, {0.0, 3.0, 0.0}}, d);
    const auto [a, b, c] = tn::unbind<3>(x, -1);
    expect_near(a, {1, 0});
    expect_near(c, {2, 0});
    const auto [first, second] = tn::unbind<2>(x);
    expect_near(second, {0, 3, 0});
    const std::vector<Tensor> at = tn::where(x != 0);
    ASSERT_EQ(at.size(), 2u);
    EXPECT_EQ(at[0].to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 1}));
    EXPECT_EQ(at[1].to_vector<int64_t>(), (std::vector<int64_t>{0, 2, 1}));
    expect_near(x.index({at[0], at[1]}), {1, 2, 3});
  }
  expect_error(
      [&] {
        tn::unbind<3>(tn::zeros({2, 4}));
      },
      "unbind: dimension 0 has 2 slices, expected 3");
}

}  // namespace
