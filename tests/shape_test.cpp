// Views and joins.
#include "ops_support.h"

namespace {

Tensor grid(tn::Device d) { return tn::arange(0, 24).to(tn::float32).to(d).view({2, 3, 4}); }

TEST(Shape, ViewsShareMemory) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = grid(d);
    struct Case {
      const char* name;
      Tensor view;
      std::vector<int64_t> sizes;
      double first, last;
    };
    const Case cases[] = {
        {"view", x.view({4, 6}), {4, 6}, 0, 23},
        {"view -1", x.view({-1, 8}), {3, 8}, 0, 23},
        {"reshape", x.reshape({24}), {24}, 0, 23},
        {"permute", x.permute({2, 0, 1}), {4, 2, 3}, 0, 23},
        {"transpose", x.transpose(0, -1), {4, 3, 2}, 0, 23},
        {"t", x[1].t(), {4, 3}, 12, 23},
        {"slice", x.slice(2, 1, 4, 2), {2, 3, 2}, 1, 23},
        {"slice from the end", x.slice(1, -2), {2, 2, 4}, 4, 23},
        {"select", x.select(1, -1), {2, 4}, 8, 23},
        {"index", x[0], {3, 4}, 0, 11},
        {"narrow", x.narrow(1, 1, 2), {2, 2, 4}, 4, 23},
        {"unsqueeze", x.unsqueeze(1), {2, 1, 3, 4}, 0, 23},
        {"unsqueeze last", x.unsqueeze(-1), {2, 3, 4, 1}, 0, 23},
        {"squeeze", x.unsqueeze(0).unsqueeze(-1).squeeze(), {2, 3, 4}, 0, 23},
        {"squeeze one", x.unsqueeze(0).unsqueeze(-1).squeeze(0), {2, 3, 4, 1}, 0, 23},
        {"flatten", x.flatten(), {24}, 0, 23},
        {"flatten the end", x.flatten(1), {2, 12}, 0, 23},
        {"flatten the front", x.flatten(0, 1), {6, 4}, 0, 23},
        {"expand", x.narrow(1, 0, 1).expand({2, 3, -1}), {2, 3, 4}, 0, 15},
        {"as_strided", tn::as_strided(x, {2, 2}, {12, 1}, 5), {2, 2}, 5, 18},
        {"view of a transposed", x.transpose(0, 1).view({3, 2, 2, 2}), {3, 2, 2, 2}, 0, 23},
    };
    for (const Case& c : cases) {
      SCOPED_TRACE(c.name);
      expect_sizes(c.view, c.sizes);
      EXPECT_TRUE(c.view.same_storage(x));
      std::vector<double> values = c.view.to_vector<double>();
      EXPECT_EQ(values.front(), c.first);
      EXPECT_EQ(values.back(), c.last);
    }
    EXPECT_FALSE(x.permute({2, 0, 1}).reshape({24}).same_storage(x));
  }
}

TEST(Shape, ViewKeepsTheOrderOfElements) {
  for (tn::Device d : devices()) {
    Tensor x = grid(d).slice(2, 0, 4, 2);  // [2, 3, 2], rows of stride 2
    EXPECT_EQ(x.view({6, 2}).to_vector<int>(), x.to_vector<int>());
    EXPECT_EQ(x.view({2, 3, 1, 2}).to_vector<int>(), x.to_vector<int>());
    expect_sizes(tn::tensor(1.f, d).view({1, 1}), {1, 1});
    expect_sizes(tn::zeros({0, 3}, {}, d).view({3, 0}), {3, 0});
    expect_sizes(tn::zeros({1, 1}, {}, d).view(std::vector<int64_t>{}), {});
  }
}

TEST(Shape, EmptyViewsBehindTheirStorageAreCopied) {
  for (tn::Device from : devices()) {
    for (tn::Device to : devices()) {
      SCOPED_TRACE(from.name() + " to " + to.name());
      Tensor view = tn::zeros({0, 3}, {}, from).slice(1, 1, 3);
      expect_sizes(view.to(to), {0, 2});
      expect_sizes(view.to(to).to(tn::int64), {0, 2});
      tn::zeros({0, 3}, {}, to).slice(1, 1, 3).copy_(view);
      EXPECT_TRUE(view.to_vector<float>().empty());
    }
  }
}

TEST(Shape, WritesThroughViewsAreSeen) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::zeros({2, 2}, {}, d);
    x[1].fill_(3);
    x.t()[0] += 1;
    expect_near(x, {1, 0, 4, 3});
    tn::flatten(x).zero_();
    expect_near(x, {0, 0, 0, 0});
  }
}

TEST(Shape, CatAndItsParts) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({{1.f, 2.f}, {3.f, 4.f}}, d), y = tn::tensor({{5.f, 6.f}}, d);
    expect_near(tn::cat({x, y}), {1, 2, 3, 4, 5, 6});
    expect_near(tn::cat({x, x}, 1), {1, 2, 1, 2, 3, 4, 3, 4});
    expect_near(tn::cat({x, tn::zeros({0}, {}, d)}), {1, 2, 3, 4});
    EXPECT_EQ(tn::cat({x, y.to(tn::float64)}).dtype(), tn::float64);
    auto [a, b] = tn::chunk<2>(x, -1);
    expect_near(a, {1, 3});
    expect_near(b, {2, 4});
    EXPECT_EQ(tn::split(tn::cat({x, y}), 2).size(), 2u);
    EXPECT_EQ(tn::chunk(grid(d), 3, 2).size(), 2u);
    EXPECT_FALSE(tn::clone(x).same_storage(x));
  }
}

TEST(Shape, Errors) {
  Tensor x = grid({});
  expect_error([&] { x.view({5, 5}); }, "view: [2, 3, 4] cannot be seen as [5, 5]");
  expect_error([&] { x.view({-1, -1}); }, "only one size");
  expect_error([&] { x.view({INT64_MAX, INT64_MAX}); }, "int64");
  expect_error([&] { x.transpose(0, 1).view({24}); }, "reshape copies");
  expect_error([&] { x.select(0, 2); }, "index 2 is out of range");
  expect_error([&] { x.transpose(0, 3); }, "dimension 3 is out of range; expected -3 to 2");
  expect_error([&] { x.narrow(1, 2, 2); }, "not within dimension 1 of size 3");
  expect_error([&] { tn::t(x); }, "at most 2 dimensions");
  expect_error([&] { x.flatten(2, 1); }, "behind");
  expect_error([&] { x.expand({2, 3, 5}); }, "expand");
  expect_error([&] { tn::cat({x, tn::zeros({2, 2})}); }, "tensor 1 is [2, 2]");
  expect_error([&] { tn::cat(std::vector<Tensor>{}); }, "empty");
  expect_error([&] { tn::chunk<5>(x, 1); }, "not divisible by 5");
}

}  // namespace
