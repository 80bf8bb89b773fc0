// Cases that PyTorch's own tests have, of indexing, of splits and of what is empty; the values are PyTorch 2.15's.
#include <cmath>
#include <optional>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

using Values = std::vector<double>;
using Numbers = std::vector<int64_t>;

void expect_pieces(const TensorList& pieces, const std::vector<Values>& expected) {
  ASSERT_EQ(pieces.size(), expected.size());
  for (size_t i = 0; i < pieces.size(); ++i) expect_near(pieces[i], expected[i]);
}

TEST(TorchCases, ScatterReducesByAWord) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::full({2, 2}, 10.0, {}, d), src = tn::tensor({{5.0, 7.0}}, d);
    const Tensor index = tn::tensor({{0, 1}}, tn::int64, d);
    expect_near(x.scatter(0, index, src, "multiply"), {50, 10, 10, 70});
    expect_near(tn::scatter(x, 0, index, src, "add"), {15, 10, 10, 17});
    expect_near(x.scatter(0, index, 3, "multiply"), {30, 10, 10, 30});
    const Tensor y = x.clone();
    EXPECT_TRUE(y.scatter_(0, index, 3, "add").same_storage(y));
    expect_near(y, {13, 10, 10, 13});
    EXPECT_EQ(message_of([&] { x.scatter(0, index, src, "max"); }),
              "scatter: reduce is 'max', expected 'add' or 'multiply'");
    // Nothing is written where there is no index, whatever its rank.
    const Tensor none = tn::zeros({0}, tn::int64, d), of_x = x.clone().requires_grad_();
    expect_near(x.scatter_add(0, none, x), {10, 10, 10, 10});
    expect_near(x.scatter_reduce(0, none, x, "amax"), {10, 10, 10, 10});
    x.clone().scatter_(0, none, src);
    of_x.scatter(0, none, x).sum().backward();
    expect_near(of_x.grad(), {1, 1, 1, 1});
    const Tensor one = tn::tensor({1}, tn::int64, d);
    const Tensor f = tn::zeros({2}, tn::bool_, d), t = tn::ones({2}, tn::bool_, d);
    for (const char* kind : {"amax", "sum"})
      expect_near(f.scatter_reduce(0, one, t.narrow(0, 0, 1), kind), {0, 1});
    for (const char* kind : {"amin", "prod"})
      expect_near(t.scatter_reduce(0, one, f.narrow(0, 0, 1), kind), {1, 0});
    EXPECT_EQ(f.scatter_reduce(0, one, t.narrow(0, 0, 1), "amax").dtype(), tn::bool_);
    expect_error([&] { f.scatter_reduce(0, one, t.narrow(0, 0, 1), "mean"); },
                 "scatter_reduce: x is bool, expected a number");
    expect_near(tn::zeros({2}, {.device = d}).index_copy(0, one, tn::full({}, 5.0, {}, d)), {0, 5});
  }
}

TEST(TorchCases, ListsSayWhereToSplit) {
  const Tensor x = tn::arange(6);
  expect_pieces(x.hsplit({2}), {{0, 1}, {2, 3, 4, 5}});
  expect_pieces(tn::hsplit(x, {2}), {{0, 1}, {2, 3, 4, 5}});
  expect_pieces(x.hsplit(2), {{0, 1, 2}, {3, 4, 5}});
  expect_pieces(x.hsplit(Numbers{1, 2}), {{0}, {1}, {2, 3, 4, 5}});
  expect_pieces(x.reshape({3, 2}).vsplit({1, 2}), {{0, 1}, {2, 3}, {4, 5}});
  expect_pieces(x.reshape({3, 2}).vsplit(Numbers{1}), {{0, 1}, {2, 3, 4, 5}});
  expect_pieces(x.reshape({1, 2, 3}).dsplit({1}), {{0, 3}, {1, 2, 4, 5}});
  expect_pieces(x.reshape({1, 2, 3}).dsplit(Numbers{2}), {{0, 1, 3, 4}, {2, 5}});
  expect_pieces(x.tensor_split({2}), {{0, 1}, {2, 3, 4, 5}});
  expect_pieces(tn::tensor_split(x, {2}), {{0, 1}, {2, 3, 4, 5}});
  expect_pieces(x.tensor_split(4), {{0, 1}, {2, 3}, {4}, {5}});
  expect_pieces(x.reshape({2, 3}).tensor_split({1}, 1), {{0, 3}, {1, 2, 4, 5}});
  expect_pieces(tn::tensor_split(x.reshape({2, 3}), Numbers{1}, -1), {{0, 3}, {1, 2, 4, 5}});
  expect_pieces(x.reshape({2, 3}).tensor_split(Numbers{1}, 1), {{0, 3}, {1, 2, 4, 5}});
  expect_pieces(tn::zeros({0}).split(0), {{}});
  EXPECT_EQ(message_of([&] { x.split(0); }), "split: length is 0, at least 1 is needed");
}

TEST(TorchCases, IndicesOfEachKind) {
  const Tensor x = tn::arange(6).reshape({2, 3});
  const std::vector<tn::Index> column = {tn::slice(), 1};
  expect_near(x[column], {1, 4});
  expect_near(x.index(column), {1, 4});
  const Tensor y = x.clone();
  y[column] = 9;
  y.index_put_(column, y.index(column) + 1);
  y.index_put_(column, 1, true);
  expect_near(y, {0, 11, 2, 3, 11, 5});
  expect_near(x.index({"...", 0}), {0, 3});
  EXPECT_EQ(message_of([&] {
              x.index({"..", 0});
            }),
            "index: '..' is no index, expected '...', a number, a slice or a tensor");
  expect_sizes(x[true], {1, 2, 3});
  expect_sizes(x[false], {0, 2, 3});
  expect_near(x[{0, std::vector<bool>{true, false, true}}], {0, 2});
  for (const tn::Dtype dtype : {tn::int8, tn::int16, tn::int32, tn::int64})
    expect_near(x[tn::tensor(1).to(dtype)], {3, 4, 5});
  const Tensor line = tn::arange(6);
  expect_near(line.slice(0, std::nullopt, 3), {0, 1, 2});
  expect_near(line.slice(0, tn::none, tn::none, 2), {0, 2, 4});
  expect_near(line.slice(0, 1, tn::none, 2), {1, 3, 5});
  expect_near(line.slice(0, -2), {4, 5});
  EXPECT_EQ(x[1].storage_offset(), 3);
  EXPECT_EQ(x.ndimension(), 2);
  EXPECT_EQ(x.nelement(), 6);
  expect_near(x.adjoint(), {0, 3, 1, 4, 2, 5});
  expect_near(tn::zeros({2, 3}).copy_(x, true), {0, 1, 2, 3, 4, 5});
}

TEST(TorchCases, MessagesNameTheIndexThatWasGiven) {
  const Tensor x = tn::zeros({2, 5, 10});
  const auto at = [](int64_t i) { return tn::tensor({i}); };
  const std::string wrong =
      "(element 0 of the index of dimension 2) is out of range for dimension 2 of size 10";
  expect_error([&] { x[{at(0), at(1), at(15)}]; }, "index: index 15 " + wrong);
  expect_error([&] { x[{at(0), at(1), at(-11)}] = 1; }, "index: index -11 " + wrong);
  expect_error([&] { x.index_put_({at(0), at(1), at(15)}, 1); }, "index_put_: index 15 " + wrong);
  expect_error(
      [&] {
        x[{tn::slice(), tn::tensor({{1, 9}})}];
      },
      "index: index 9 (element 1 of the index of dimension 1) is out of range for dimension 1 of "
      "size 5");
}

TEST(TorchCases, RepeatsOfOneElementAreForAll) {
  const Tensor x = tn::arange(3);
  expect_near(tn::repeat_interleave(x, tn::tensor({2}), 0), {0, 0, 1, 1, 2, 2});
  expect_near(tn::repeat_interleave(x, tn::tensor(2)), {0, 0, 1, 1, 2, 2});
  expect_error(
      [&] {
        tn::repeat_interleave(x, tn::tensor({INT64_MAX, 1, 1}), 0);
      },
      "repeat_interleave: repeats add up to more than 576460752303423487, which no memory holds");
}

TEST(TorchCases, OfNothing) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor none = tn::zeros({0}, {.device = d});
    EXPECT_TRUE(std::isnan(none.median().values().item<double>()));
    EXPECT_TRUE(std::isnan(tn::nanmedian(none).values().item<double>()));
    EXPECT_EQ(none.median().indices().item<int64_t>(), 0);
    expect_error(
        [&] { none.to(tn::int64).median(); },
        "median: x is [0], which has nothing along dimension 0; expected an element at least");
    const Tensor x = tn::zeros({2, 3, 4, 5}, {.device = d});
    EXPECT_TRUE((x[{tn::ellipsis, 1}][{tn::slice(), tn::slice(1, 1)}]).is_contiguous());
    EXPECT_FALSE((x[{tn::ellipsis, 1}]).is_contiguous());
  }
}

TEST(TorchCases, Losses) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor zeros = tn::zeros({4, 3}, {.device = d}), ones = tn::ones({4, 3}, {.device = d});
    expect_near(tn::gaussian_nll_loss(zeros, ones, tn::ones({1, 3}, {.device = d})), {0.5});
    expect_near(tn::gaussian_nll_loss(zeros, ones, tn::ones({4, 1}, {.device = d})), {0.5});
    expect_error(
        [&] {
          tn::gaussian_nll_loss(zeros, ones, tn::ones({1, 1}, {.device = d}));
        },
        "gaussian_nll_loss: var is [1, 1], input is [4, 3]; expected the same sizes");
    const Tensor shares = ones / 3;
    expect_near(tn::cross_entropy(zeros, shares), {std::log(3)});
    expect_near(tn::cross_entropy(zeros, shares, {.ignore_index = -1}), {std::log(3)});
    expect_error([&] { tn::cross_entropy(zeros, shares, {.ignore_index = 1}); },
                 "cross_entropy: ignore_index is 1, and target has probabilities, of which none is "
                 "ignored");
  }
}

// Each is one product, which has to hold where one of the branches alone would overflow or divide by 0.
TEST(TorchCases, SmoothLossesOfLargeAndSmallNumbers) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x =
        tn::tensor({0.0, -0.5, 2.0, -3e38, double(INFINITY), double(NAN)}, tn::float32, d)
            .requires_grad_();
    const Tensor zeros = tn::zeros({6}, {.device = d});
    const auto expect = [&](const Tensor& loss, const Values& values, const Values& slopes) {
      expect_near(loss, values);
      expect_near(tn::grad({loss.sum()}, {x})[0], slopes);
    };
    const double inf = INFINITY, nan = NAN;
    expect(tn::smooth_l1_loss(x, zeros, {.reduction = "none"}), {0, 0.125, 1.5, 3e38, inf, nan},
           {0, -0.5, 1, -1, 1, nan});
    expect(tn::smooth_l1_loss(x, zeros, {.reduction = "none", .beta = 4}),
           {0, 0.03125, 0.5, 3e38, inf, nan}, {0, -0.125, 0.5, -1, 1, nan});
    expect(tn::smooth_l1_loss(x, zeros, {.reduction = "none", .beta = 1e-40}),
           {0, 0.5, 2, 3e38, inf, nan}, {0, -1, 1, -1, 1, 0});
    expect(tn::huber_loss(x, zeros, {.reduction = "none", .delta = 0.25}),
           {0, 0.09375, 0.46875, 7.5e37, inf, nan}, {0, -0.25, 0.25, -0.25, 0.25, nan});
    const Tensor shrunk = tn::softshrink(x, 0.5), hard = tn::hardshrink(x, 0.5);
    expect(shrunk, {0, 0, 1.5, -3e38, inf, nan}, {0, 0, 1, 1, 1, 1});
    expect(hard, {0, 0, 2, -3e38, inf, nan}, {0, 0, 1, 1, 1, 1});
  }
}

}  // namespace
