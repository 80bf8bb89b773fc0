// Several results of a call: by their names, as tuples, and as so many names of a program.
#include <tenon/checkpoint_call.hpp>
#include <tenon/linalg.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"

namespace tn = tenon;
using tn::Tensor;
using Sizes = std::vector<int64_t>;

namespace {

Tensor numbers() { return tn::tensor({{1.0, 5.0, 2.0}, {7.0, 3.0, 4.0}}); }

class ResultsOfCalls : public testing::Test {
 protected:
  static void SetUpTestSuite() { tn::load_plugins(); }
};

TEST_F(ResultsOfCalls, HaveTheNamesOfTheirSchema) {
  const Tensor x = numbers();
  EXPECT_TRUE(x.max(1).values().equal(tn::tensor({5.0, 7.0})));
  EXPECT_TRUE(tn::max(x, 1).indices().equal(tn::tensor({1, 0})));
  EXPECT_TRUE(x.topk(2).indices().equal(tn::tensor({{1, 2}, {0, 2}})));
  EXPECT_TRUE(x.sort(-1, true).values().equal(tn::tensor({{5.0, 2.0, 1.0}, {7.0, 4.0, 3.0}})));
  EXPECT_TRUE(x.median(1).values().equal(tn::tensor({2.0, 4.0})));
  EXPECT_EQ(tn::aminmax(x).min().item(), 1);
  EXPECT_EQ(tn::aminmax(x).max().item(), 7);
  EXPECT_TRUE(tn::unique(tn::tensor({3, 1, 3})).counts().equal(tn::tensor({1, 2})));
  EXPECT_NEAR(tn::std_mean(x, {.dim = 1}).mean()[0].item(), 8.0 / 3, 1e-6);
  Tensor kept;
  {
    const auto found = x.max(1);
    kept = found.values();  // the tensor, and no part of what is gone
  }
  EXPECT_EQ(kept[0].item(), 5);
}

TEST_F(ResultsOfCalls, AreTuples) {
  const Tensor x = numbers();
  const auto [values, indices] = x.max(1);
  EXPECT_EQ(values[1].item() + indices[0].item(), 8);
  std::tuple<Tensor, Tensor> both = x.min(1);
  EXPECT_EQ(std::get<0>(both)[0].item(), 1);
  Tensor v, i;
  std::tie(v, i) = x.cummax(1);
  EXPECT_EQ(v.sizes(), (Sizes{2, 3}));
  EXPECT_EQ(std::get<1>(x.mode(1)).sizes(), (Sizes{2}));
  both = x.dim() == 2 ? x.max(0) : std::tuple(v, i);
  EXPECT_EQ(std::apply([](const Tensor& a, const Tensor& b) { return a.numel() + b.numel(); },
                       x.kthvalue(1)),
            4);
  static_assert(std::tuple_size_v<decltype(x.max(1))> == 2);
  static_assert(
      std::is_same_v<std::tuple_element_t<1, const tn::results::ValuesIndices>, const Tensor>);
}

struct Best : tn::Module {
  auto forward(Tensor x) { return x.max(1); }
};

TEST_F(ResultsOfCalls, AreWhatModulesAndFunctionsGive) {
  const Tensor x = numbers();
  const auto best = tn::make<Best>();
  EXPECT_EQ(best(x).values()[1].item(), 7);
  const tn::Object object = best;
  const auto [a, b] = object.call<2>(x);
  EXPECT_EQ(b[0].item(), 1);
  auto compiled = tn::compile([](Tensor y) { return (y * 2).max(1); });
  for (int k = 0; k < 3; ++k) EXPECT_EQ(compiled(x).values()[1].item(), 14);
  x.requires_grad_();
  const auto checkpointed = tn::checkpoint_call([](Tensor y) { return (y * y).max(1); }, x);
  checkpointed.values().sum().backward();
  EXPECT_TRUE(x.grad().equal(tn::tensor({{0.0, 10.0, 0.0}, {14.0, 0.0, 0.0}})));
}

TEST_F(ResultsOfCalls, OfLinearAlgebraHaveNamesToo) {
  const auto sign_and_log = tn::linalg::slogdet(2 * tn::eye(3));
  EXPECT_EQ(sign_and_log.sign().item(), 1);
  EXPECT_NEAR(sign_and_log.logabsdet().item(), 3 * std::log(2.0), 1e-6);
  EXPECT_EQ(tn::linalg::eigh(tn::eye(2)).eigenvalues().sizes(), (Sizes{2}));
}

TEST_F(ResultsOfCalls, HaveAsManyNamesAsAreAskedFor) {
  const Tensor x = tn::arange(24).reshape(2, 12);
  auto [q, k, v] = x.chunk<3>(-1);
  EXPECT_TRUE(v.equal(x.narrow(1, 8, 4)));
  auto [head, tail] = x.split<2>({2, 10}, 1);
  EXPECT_TRUE(tail.equal(x.narrow(1, 2, 10)));
  auto [a, b, c] = tn::split<3>(x, 5, 1);
  EXPECT_EQ(c.sizes(), (Sizes{2, 2}));
  auto [first, second] = x.unbind<2>();
  EXPECT_TRUE(second.equal(x[1]));
  auto [left, right] = tn::unpack<2>(x.chunk(2, 1));
  EXPECT_EQ(right.sizes(), (Sizes{2, 6}));
  const std::vector<int64_t> lengths = {3, 9};
  EXPECT_EQ(x.split(lengths, 1)[1].size(1), 9);
  EXPECT_EQ(x.split({4, 4, 4}, 1).size(), 3u);
  EXPECT_EQ(tn::split(x, {12}, -1).size(), 1u);
  EXPECT_EQ(x.split({1, 1}).size(), 2u);
  EXPECT_TRUE(head.same_storage(x)) << "pieces are views";
  auto [rows, columns] = tn::meshgrid(tn::arange(2), tn::arange(3), "ij");
  EXPECT_EQ(rows.sizes(), (Sizes{2, 3}));
  auto [xs, ys] = tn::meshgrid(tn::arange(2), tn::arange(3), {.indexing = "xy"});
  EXPECT_TRUE(xs.equal(rows.t()));
  auto [r, s, t] = tn::meshgrid(tn::arange(2), tn::arange(3), tn::arange(4));
  EXPECT_EQ(t.sizes(), (Sizes{2, 3, 4}));
  auto [row, column] = tn::where<2>(x == 13);
  EXPECT_EQ(row.item() + column.item(), 2);
  EXPECT_EQ(message_of([&] { x.split<2>(5, 1); }), "split: there are 3 tensors, expected 2");
  EXPECT_EQ(message_of([&] { tn::unpack<3>(x.unbind()); }),
            "unpack: there are 2 tensors, expected 3");
  EXPECT_NE(message_of([&] {
              x.split<2>({2, 9}, 1);
            }).find("lengths [2, 9] do not add up"),
            std::string::npos);
  const auto [rest, last] = tn::arange(3).chunk<2>();  // as PyTorch's, of 2 and 1
  EXPECT_EQ(rest.numel() * 10 + last.numel(), 21);
  EXPECT_EQ(message_of([&] { tn::arange(6).chunk<4>(); }),
            "chunk: dimension 0 of size 6 gives 3 chunks, expected 4");
}

}  // namespace
