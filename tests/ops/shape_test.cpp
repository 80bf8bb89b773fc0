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
        {"movedim", tn::movedim(x, 0, -1), {3, 4, 2}, 0, 23},
        {"movedim of two", tn::movedim(x, {0, 1}, {2, 0}), {3, 4, 2}, 0, 23},
        {"unflatten", tn::unflatten(x, 2, {2, -1}), {2, 3, 2, 2}, 0, 23},
        {"unflatten of a transposed",
         tn::unflatten(x.transpose(0, 2), 0, {2, 2}),
         {2, 2, 3, 2},
         0,
         23},
        {"unfold", tn::unfold(x, 2, 3, 1), {2, 3, 2, 3}, 0, 23},
        {"unfold with a gap", tn::unfold(x, 1, 1, 2), {2, 2, 4, 1}, 0, 23},
        {"diagonal", tn::diagonal(x), {4, 2}, 0, 19},
        {"diagonal above", tn::diagonal(x, 1, 1, 2), {2, 3}, 1, 23},
        {"diagonal below", tn::diagonal(x, -1, -2, -1), {2, 2}, 4, 21},
        {"broadcast_to", tn::broadcast_to(x, {5, 2, 3, 4}), {5, 2, 3, 4}, 0, 23},
        {"contiguous", tn::contiguous(x), {2, 3, 4}, 0, 23},
        {"split", tn::split(x, 2, 1)[1], {2, 1, 4}, 8, 23},
        {"split_with_sizes", tn::split_with_sizes(x, {1, 0, 3}, -1)[2], {2, 3, 3}, 1, 23},
        {"chunk", tn::chunk(x, 3, 2)[1], {2, 3, 2}, 2, 23},
        {"meshgrid", tn::meshgrid({x[0][0], x[0][1]})[1], {4, 4}, 4, 7},
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

// PyTorch's values for x = [[0, 1, 2], [3, 4, 5]].
struct Row {
  const char* name;
  std::function<Tensor(const Tensor&)> op;
  std::vector<double> values;
  std::vector<int64_t> sizes;
};
const std::vector<Row>& new_tensors() {
  static const std::vector<Row> list = {
      {"stack",
       [](const Tensor& x) {
         return tn::stack({x, x}, 1);
       },
       {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5},
       {2, 2, 3}},
      {"stack last",
       [](const Tensor& x) {
         return tn::stack({x[0], x[1]}, -1);
       },
       {0, 3, 1, 4, 2, 5},
       {3, 2}},
      {"contiguous",
       [](const Tensor& x) { return tn::contiguous(x.t()); },
       {0, 3, 1, 4, 2, 5},
       {3, 2}},
      {"flip", [](const Tensor& x) { return tn::flip(x, -1); }, {2, 1, 0, 5, 4, 3}, {2, 3}},
      {"flip both",
       [](const Tensor& x) {
         return tn::flip(x, {0, 1});
       },
       {5, 4, 3, 2, 1, 0},
       {2, 3}},
      {"flip none", [](const Tensor& x) { return tn::flip(x, {}); }, {0, 1, 2, 3, 4, 5}, {2, 3}},
      {"roll", [](const Tensor& x) { return tn::roll(x, 1); }, {5, 0, 1, 2, 3, 4}, {2, 3}},
      {"roll along",
       [](const Tensor& x) {
         return tn::roll(x, {-1, 1}, {1, 0});
       },
       {4, 5, 3, 1, 2, 0},
       {2, 3}},
      {"roll around",
       [](const Tensor& x) { return tn::roll(x, 7, 1); },
       {2, 0, 1, 5, 3, 4},
       {2, 3}},
      {"repeat",
       [](const Tensor& x) {
         return tn::repeat(x, {1, 2});
       },
       {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5},
       {2, 6}},
      {"repeat in front",
       [](const Tensor& x) {
         return tn::repeat(x, {2, 1, 1});
       },
       {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
       {2, 2, 3}},
      {"repeat in 9 dimensions",
       [](const Tensor& x) {
         return tn::repeat(x, {1, 1, 1, 1, 1, 1, 1, 2, 1});
       },
       {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
       {1, 1, 1, 1, 1, 1, 1, 4, 3}},
      {"triu", [](const Tensor& x) { return tn::triu(x); }, {0, 1, 2, 0, 4, 5}, {2, 3}},
      {"triu above", [](const Tensor& x) { return tn::triu(x, 1); }, {0, 1, 2, 0, 0, 5}, {2, 3}},
      {"tril", [](const Tensor& x) { return tn::tril(x); }, {0, 0, 0, 3, 4, 0}, {2, 3}},
      {"tril below", [](const Tensor& x) { return tn::tril(x, -1); }, {0, 0, 0, 3, 0, 0}, {2, 3}},
      {"pad",
       [](const Tensor& x) {
         return tn::pad(x, {1, 0}, "constant", 9);
       },
       {9, 0, 1, 2, 9, 3, 4, 5},
       {2, 4}},
      {"pad and cut",
       [](const Tensor& x) {
         return tn::pad(x, {-1, 1, 1, -1});
       },
       {0, 0, 0, 1, 2, 0},
       {2, 3}},
      {"pad reflect",
       [](const Tensor& x) {
         return tn::pad(x, {2, 1}, "reflect");
       },
       {2, 1, 0, 1, 2, 1, 5, 4, 3, 4, 5, 4},
       {2, 6}},
      {"pad replicate",
       [](const Tensor& x) {
         return tn::pad(x, {2, 1}, "replicate");
       },
       {0, 0, 0, 1, 2, 2, 3, 3, 3, 4, 5, 5},
       {2, 6}},
      {"pad circular",
       [](const Tensor& x) {
         return tn::pad(x, {1, 2}, "circular");
       },
       {2, 0, 1, 2, 0, 1, 5, 3, 4, 5, 3, 4},
       {2, 6}},
      // PyTorch closes the circle over what is left.
      {"pad circular, cut behind",
       [](const Tensor& x) {
         return tn::pad(x, {2, -1}, "circular");
       },
       {0, 1, 0, 1, 3, 4, 3, 4},
       {2, 4}},
      {"pad circular and cut",
       [](const Tensor& x) {
         return tn::pad(x, {-1, 2}, "circular");
       },
       {1, 2, 1, 2, 4, 5, 4, 5},
       {2, 4}},
      {"pad replicate in two",
       [](const Tensor& x) {
         return tn::pad(x, {0, 1, 1, 0}, "replicate");
       },
       {0, 1, 2, 2, 0, 1, 2, 2, 3, 4, 5, 5},
       {3, 4}},
      {"diagonal beyond", [](const Tensor& x) { return tn::diagonal(x, INT64_MIN); }, {}, {0}},
      {"unfold",
       [](const Tensor& x) { return tn::unfold(x, 1, 2, 1); },
       {0, 1, 1, 2, 3, 4, 4, 5},
       {2, 2, 2}},
      {"meshgrid",
       [](const Tensor& x) {
         return tn::meshgrid({x[0], x.select(1, 0)})[1];
       },
       {0, 3, 0, 3, 0, 3},
       {3, 2}},
      {"meshgrid xy",
       [](const Tensor& x) {
         return tn::meshgrid({x[0], x.select(1, 0)}, "xy")[0];
       },
       {0, 1, 2, 0, 1, 2},
       {2, 3}},
      {"movedim", [](const Tensor& x) { return tn::movedim(x, 1, 0); }, {0, 3, 1, 4, 2, 5}, {3, 2}},
      {"unflatten",
       [](const Tensor& x) {
         return tn::unflatten(x, 1, {3, 1});
       },
       {0, 1, 2, 3, 4, 5},
       {2, 3, 1}},
      {"diagonal", [](const Tensor& x) { return tn::diagonal(x, 1); }, {1, 5}, {2}},
      {"broadcast_to",
       [](const Tensor& x) {
         return tn::broadcast_to(x, {2, 2, 3});
       },
       {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
       {2, 2, 3}},
      {"split", [](const Tensor& x) { return tn::split(x, 2, 1)[1]; }, {2, 5}, {2, 1}},
      {"split_with_sizes",
       [](const Tensor& x) {
         return tn::split_with_sizes(x, {1, 2}, 1)[1];
       },
       {1, 2, 4, 5},
       {2, 2}},
      {"chunk", [](const Tensor& x) { return tn::chunk(x, 2)[1]; }, {3, 4, 5}, {1, 3}},
  };
  return list;
}

TEST(Shape, EachOpHasPyTorchsValuesAndGradient) {
  for (tn::Device d : devices()) {
    Tensor x = tn::tensor<double>({{0, 1, 2}, {3, 4, 5}}, d);
    for (const Row& row : new_tensors()) {
      SCOPED_TRACE(d.name() + " " + row.name);
      expect_near(row.op(x), row.values, 0);
      expect_sizes(row.op(x), row.sizes);
      expect_near(row.op(x.t().contiguous().t().to(tn::uint8)), row.values, 0);
      EXPECT_EQ(row.op(x.to(tn::uint8)).dtype(), tn::uint8);
      gradcheck([&](const TensorList& in) { return tn::square(row.op(in[0])); },
                {sample({2, 3}, d)});
    }
  }
}

TEST(Shape, NothingAndOne) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor none = tn::zeros({0, 2}, {}, d), one = tn::full({}, 3.0, {}, d);
    expect_sizes(tn::stack({none, none}), {2, 0, 2});
    expect_near(tn::stack({one, one}), {3, 3});
    expect_sizes(tn::flip(none, {0, 1}), {0, 2});
    expect_near(tn::flip(one, {}), {3});
    expect_near(tn::flip(one, 0), {3});
    expect_sizes(tn::roll(none, 1, 0), {0, 2});
    expect_near(tn::roll(one, 1), {3});
    expect_sizes(tn::repeat(none, {2, 2}), {0, 4});
    expect_sizes(tn::repeat(tn::ones({2}, {}, d), 0), {0});
    expect_near(tn::repeat(one, {2, 1}), {3, 3});
    expect_near(tn::repeat(one, {}), {3});
    expect_sizes(tn::triu(none), {0, 2});
    const Tensor yes = tn::ones({2, 2}, tn::bool_, d);
    EXPECT_EQ(tn::triu(yes).dtype(), tn::bool_);
    expect_near(tn::triu(yes), {1, 1, 0, 1});
    expect_near(tn::tril(yes, -1), {0, 0, 1, 0});
    expect_near(tn::pad(none, {0, 0, 1, 0}), {0, 0});
    expect_near(tn::pad(one, {}), {3});
    expect_sizes(tn::unfold(one, 0, 1, 1), {1});
    expect_sizes(tn::split(none, 2)[0], {0, 2});
    expect_sizes(tn::chunk(none, 3)[0], {0, 2});
    expect_sizes(tn::diagonal(none), {0});
    expect_sizes(tn::meshgrid({one, tn::ones({2}, {}, d)})[0], {1, 2});
    expect_sizes(tn::movedim(one, {}, {}), {});
    EXPECT_FALSE(tn::flip(one, {}).same_storage(one));
    EXPECT_FALSE(tn::roll(one, 0).same_storage(one));
    // Writing into a piece writes the whole.
    Tensor x = tn::zeros({4}, {}, d);
    tn::chunk(x, 2)[1].fill_(1);
    tn::diagonal(x.view({2, 2})).fill_(7);
    expect_near(x, {7, 0, 1, 7});
  }
}

TEST(Shape, Gradients) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = sample({2, 3, 2}, d);
    const std::vector<std::pair<const char*, OpUnderTest>> ops = {
        {"reshape",
         [](const TensorList& in) {
           return in[0].reshape({3, 4});
         }},
        {"view",
         [](const TensorList& in) {
           return in[0].view({6, 2});
         }},
        {"permute",
         [](const TensorList& in) {
           return in[0].permute({2, 0, 1});
         }},
        {"transpose", [](const TensorList& in) { return in[0].transpose(0, 2); }},
        {"slice", [](const TensorList& in) { return in[0].slice(1, 0, 3, 2); }},
        {"select", [](const TensorList& in) { return in[0].select(1, 2); }},
        {"narrow", [](const TensorList& in) { return in[0].narrow(1, 1, 2); }},
        {"expand",
         [](const TensorList& in) {
           return in[0].unsqueeze(0).expand({3, -1, -1, -1});
         }},
        {"flatten", [](const TensorList& in) { return in[0].flatten(1); }},
        {"squeeze", [](const TensorList& in) { return in[0].narrow(0, 1, 1).squeeze(); }},
        {"as_strided",
         [](const TensorList& in) {
           return tn::as_strided(in[0], {2, 2}, {3, 1}, 2);
         }},
        {"clone", [](const TensorList& in) { return in[0].clone(); }},
        {"cat",
         [](const TensorList& in) {
           return tn::cat({in[0], in[0] * in[0]}, 1);
         }},
    };
    for (const auto& [name, op] : ops) {
      SCOPED_TRACE(name);
      gradcheck([&op](const TensorList& in) { return tn::square(op(in)); }, {x});
    }
    Tensor y = sample({1, 2}, d);
    gradcheck(
        [](const TensorList& in) {
          return tn::square(tn::cat({in[0], in[1], in[0]}));
        },
        {sample({2, 2}, d, 1), y});
  }
}

// as_strided counts places from the storage's first element. What it shows beside its argument
// (before it, behind it, in the gaps between its rows) has no gradient. Values of PyTorch.
TEST(Shape, AsStridedReachesBesideItsArgument) {
  const std::vector<double> weights{1, 2, 3, 4, 5, 6};
  for (tn::Device d : devices()) {
    const Tensor whole = tn::arange(0, 24).to(tn::float64).to(d),
                 w = Tensor::from(weights, {2, 3}).to(tn::float64).to(d);
    const auto window = [&] {
      return tn::as_strided(whole, {3, 4}, {8, 1}, 2).detach().requires_grad_();
    };
    const std::vector<double> none(8, 0.0);
    const auto with_none = [&](std::vector<double> row) {
      row.insert(row.end(), none.begin(), none.end());
      return row;
    };

    Tensor x = window();
    (tn::as_strided(x, {2, 3}, {1, 2}, 1) * w).sum().backward();
    expect_near(x.grad(), with_none({4, 2, 5, 3}));

    x = window();
    Tensor y = tn::as_strided(x, {2, 3}, {1, 2}, 1);
    Tensor g = tn::grad((y * y * w).sum(), x, {.create_graph = true});
    expect_near(g, with_none({16, 12, 40, 30}));
    expect_near(tn::grad((g * g).sum(), x), with_none({256, 96, 800, 360}));

    Tensor z = tn::as_strided(x, {6}, {4}, 0);  // in the gaps, too
    g = tn::grad((z * z).sum(), x, {.create_graph = true});
    expect_near(g, {0, 0, 8, 0, 0, 0, 24, 0, 0, 0, 40, 0});
    expect_near(tn::grad((g * tn::arange(0, 12).to(tn::float64).to(d).view({3, 4})).sum(), x),
                {0, 0, 4, 0, 0, 0, 12, 0, 0, 0, 20, 0});

    // The pieces of a tensor with gaps add to one gradient.
    x = window();
    const auto pieces = tn::split(tn::as_strided(x, {3, 4}, {8, 1}, 2), 2, 1);
    (pieces[0].sum() * 2 + (pieces[1] * pieces[1]).sum()).backward();
    expect_near(x.grad(), {2, 2, 8, 10, 2, 2, 24, 26, 2, 2, 40, 42});

    // A write through a view that begins before the view that it is of.
    Tensor leaf = tn::zeros({24}, tn::float64, d).requires_grad_();
    Tensor base = leaf * 1;
    Tensor inner = tn::as_strided(tn::as_strided(base, {3, 4}, {8, 1}, 2), {2, 3}, {1, 2}, 1);
    tn::mul_(inner, 2.0);
    base.sum().backward();
    std::vector<double> twice(24, 1.0);
    std::fill(twice.begin() + 1, twice.begin() + 7, 2.0);
    expect_near(leaf.grad(), twice);
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
  expect_error([&] { tn::movedim(x, {0, 1}, 0); }, "movedim: 2 dimensions go to 1 places");
  expect_error([&] { tn::movedim(x, {0, 0}, {0, 1}); }, "movedim: dimension 0 appears twice");
  expect_error(
      [&] {
        tn::unflatten(x, 1, {2, 2});
      },
      "unflatten: sizes [2, 2] do not multiply to dimension 1 of size 3");
  expect_error([&] { tn::unflatten(x, 1, {-1, -1}); }, "one may be -1");
  expect_error([&] { tn::unflatten(x, 1, {}); }, "sizes is empty");
  expect_error([&] { tn::unflatten(tn::ones({}), 0, 1); }, "unflatten: x has no dimensions");
  expect_error([&] { tn::unfold(x, 1, 4, 1); },
               "unfold: windows of 4 with step 1 in dimension 1 of size 3");
  expect_error([&] { tn::unfold(x, 1, 2, 0); }, "a step of at least 1");
  expect_error([&] { tn::diagonal(x, 0, 1, -2); }, "diagonal: dim1 and dim2 are both 1");
  expect_error([&] { tn::split(x, 0); }, "split: length is 0");
  expect_error([&] { tn::chunk(x, 0); }, "chunk: chunks is 0");
  expect_error(
      [&] {
        tn::split_with_sizes(x, {1, 1}, 1);
      },
      "split_with_sizes: lengths [1, 1] do not add up to dimension 1 of size 3");
  expect_error([&] { tn::split_with_sizes(x, {-1, 4}, 1); }, "do not add up");
  expect_error([&] { tn::meshgrid({x}); },
               "meshgrid: tensor 0 is [2, 3, 4], expected at most 1 dimension");
  expect_error([&] { tn::meshgrid({x[0][0]}, "yx"); }, "indexing is 'yx', expected 'ij' or 'xy'");
  expect_error([&] { tn::meshgrid(std::vector<Tensor>{}); },
               "meshgrid: the list of tensors is empty");
  expect_error([&] { tn::stack({x, x[0]}); }, "stack: tensor 1 is [3, 4], expected [2, 3, 4]");
  const Tensor deep = tn::ones(std::vector<int64_t>(16, 1));
  expect_error(
      [&] {
        tn::stack({deep, deep});
      },
      "stack: tensor 0 is [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], which has 16 "
      "dimensions; expected at most 15");
  expect_error([&] { tn::stack(std::vector<Tensor>{}); }, "stack: the list of tensors is empty");
  expect_error([&] { x.contiguous("nhwc"); },
               "contiguous: memory_format is 'nhwc', expected 'contiguous' or 'channels_last'");
  expect_error([&] { x[0].contiguous("channels_last"); },
               "contiguous: x is [3, 4], channels_last needs 3 dimensions");
  expect_error([&] { tn::flip(x, {0, -3}); }, "flip: dimension 0 appears twice");
  expect_error([&] { tn::roll(x, {1, 2}); }, "roll: 2 shifts without dims, expected 1");
  expect_error([&] { tn::roll(x, {1, 2}, 0); }, "roll: 2 shifts for 1 dims");
  expect_error([&] { tn::repeat(x, 2); }, "repeat: 1 counts for [2, 3, 4]");
  expect_error([&] { tn::repeat(x, {1, 1, -1}); }, "repeat: count -1 is negative");
  expect_error([&] { tn::repeat(x, {1, 1, INT64_MAX}); }, "repeat: a size is above 63 bits");
  expect_error([&] { tn::triu(x[0][0]); }, "triu: x is [4], expected at least 2 dimensions");
  expect_error([&] { tn::tril(x[0][0]); }, "tril: x is [4]");
  expect_error([&] { tn::pad(x, 1); }, "pad: 1 numbers for [2, 3, 4]");
  expect_error(
      [&] {
        tn::pad(x, {-3, -2});
      },
      "pad: dimension 2 of size 4 with -3 and -2 has no size");
  expect_error(
      [&] {
        tn::pad(x, {4, 0}, "reflect");
      },
      "pad: reflect by 4 and 0 of dimension 2 of size 4; at most 3 fit");
  expect_error([&] { tn::pad(x, {5, 0}, "circular"); }, "at most 4 fit");
  expect_error([&] { tn::pad(tn::zeros({0}), {1, 0}, "replicate"); }, "there is nothing to repeat");
  expect_error([&] { tn::pad(x, {-3, -3}, "circular"); }, "would have a negative size");
  expect_error(
      [&] {
        tn::pad(x, {1, 0}, "mirror");
      },
      "pad: mode is 'mirror', expected 'constant', 'reflect'");
  expect_error(
      [&] {
        tn::pad(x.to(tn::uint8), {1, 0}, "constant", 300);
      },
      "pad: value is 300, which is no uint8");
}

// Views of a list have one node with an output for each; its gradient is one tensor, zero where a
// piece has none.
TEST(Split, HasOneGradient) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = sample({5, 3}, d).requires_grad_();
    const TensorList list = tn::split(x * 1.0, 2);
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(tn::grad_fn(list[0]).name(), "split");
    EXPECT_EQ(tn::grad_fn(list[0]), tn::grad_fn(list[2]));
    (list[0] * 2.0 + list[0] * 5.0).sum().backward({}, true);
    list[2].sum().backward();
    expect_near(x.grad(), {7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 1, 1, 1});
    const auto weighed = [](const TensorList& pieces) {
      Tensor y = (pieces[0] * 0.5).sum();
      for (const Tensor& t : pieces)
        y = y + (t * t.slice(1, 0, 1) * sample({1}, t.device(), double(&t - pieces.data()))).sum();
      return y;
    };
    for (const Layout& layout : layouts()) {
      SCOPED_TRACE(layout.name);
      const auto of = [&](auto cut) {
        return [&, cut](const TensorList& in) { return weighed(cut(layout.of(in[0]))); };
      };
      gradcheck(of([](const Tensor& t) { return tn::split(t, 2, 1); }), {sample({2, 6}, d)});
      gradcheck(of([](const Tensor& t) { return tn::chunk(t, 3); }), {sample({6, 2}, d)});
      gradcheck(of([](const Tensor& t) {
                  return tn::split_with_sizes(t, {1, 2}, 1);
                }),
                {sample({3, 3}, d)});
    }
    gradcheck(
        [&](const TensorList& in) {
          return weighed(tn::chunk(in[0].expand({4, 3, 4}), 2));
        },
        {sample({3, 4}, d)});
  }
}

TEST(Split, PiecesAreViewsThatMayBeWritten) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, d).requires_grad_();
    Tensor y = x * 1.f;
    TensorList list = tn::split(y, 2);
    tn::mul_(list[1], 10.f);
    expect_near(y, {1, 2, 30, 40, 5, 6});
    (list[0] * 3.f + list[1]).sum().backward({}, true);
    expect_near(x.grad(), {3, 3, 10, 10, 0, 0});
    x.zero_grad();
    (y * y).sum().backward();
    expect_near(x.grad(), {2, 4, 600, 800, 10, 12});
    x.zero_grad();
    y = x * 1.f;
    list = tn::split(y, 2);
    tn::mul_(y, 2.f);  // the base: all pieces follow
    (list[0] + list[2]).sum().backward();
    expect_near(x.grad(), {2, 2, 0, 0, 2, 2});
    expect_error([&] { tn::mul_(tn::split(x, 2)[0], 2.f); }, "a view of a leaf");
    tn::NoGrad off;
    EXPECT_FALSE(tn::split(x, 2)[0].requires_grad());
  }
}

// A backward allocates one tensor of the whole, not one for each piece.
TEST(Split, PiecesAddToOneGradient) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    constexpr int64_t n = 64;
    Tensor x = sample({n, 40}, d).requires_grad_(), w = sample({n, 40}, d);
    const auto allocations = [&](auto pieces) {
      x.zero_grad();
      const Tensor y = x * 1.0;
      const TensorList rows = pieces(y), weights = pieces(w);
      const uint64_t before = d.memory_stats().n_allocations;
      tn::backward(rows, {.grad_outputs = weights});
      const uint64_t count = d.memory_stats().n_allocations - before;
      expect_near(x.grad(), w.to_vector<double>());
      return count;
    };
    EXPECT_LE(allocations([](const Tensor& y) { return tn::split(y, 1); }), 8u);
    EXPECT_LE(allocations([](const Tensor& y) {
                TensorList rows;
                for (int64_t i = 0; i < n; ++i) rows.push_back(y[i]);
                return rows;
              }),
              8u);
    EXPECT_LE(allocations([](const Tensor& y) {
                TensorList rows;
                for (int64_t i = 0; i < n; ++i) rows.push_back(y.slice(0, i, i + 1));
                return rows;
              }),
              8u);
  }
}

// Under create_graph too, where the sum has a history: that of each piece, and of what else the
// whole is used for.
TEST(Split, PiecesAddToOneGradientThatHasAGradient) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    constexpr int64_t n = 64;
    const Tensor x = sample({n, 40}, d).requires_grad_(),
                 w = sample({n, 40}, d, 0.3).requires_grad_();
    for (const bool used_whole : {false, true}) {
      const Tensor y = x * 1.0;
      TensorList rows, weights;
      for (int64_t i = 0; i < n; ++i) rows.push_back(y[i]), weights.push_back(w[i]);
      if (used_whole) rows.push_back(y), weights.push_back(w);
      const double times = used_whole ? 2 : 1;
      uint64_t before = d.memory_stats().n_allocations;
      const Tensor g = tn::grad(rows, {y}, {.grad_outputs = weights, .create_graph = true})[0];
      EXPECT_LE(d.memory_stats().n_allocations - before, 12u);
      expect_near(g, (w * times).to_vector<double>());
      const Tensor total = (g * g * g).sum();  // 3 g² times
      before = d.memory_stats().n_allocations;
      const Tensor of_w = tn::grad({total}, {w}, {.create_graph = true})[0];
      EXPECT_LE(d.memory_stats().n_allocations - before, 40u);
      expect_near(of_w, (w * w * (3 * times * times * times)).to_vector<double>());
      expect_near(tn::grad({of_w.sum()}, {w})[0],
                  (w * (6 * times * times * times)).to_vector<double>());
    }
    // Rows that overlap, of wholes that lie in every way.
    for (const Layout& layout : layouts()) {
      SCOPED_TRACE(layout.name);
      gradcheck(
          [&](const TensorList& in) {
            const Tensor y = layout.of(in[0]);
            Tensor sum = (y * y * y).sum();
            for (int64_t i = 0; i < 4; ++i)
              sum = sum + weigh(tn::square(y.slice(0, i, i + 2)) * y[i], double(i));
            return sum;
          },
          {sample({5, 3}, d)});
    }
  }
}

// An expanded tensor has more elements than memory, and each piece is a tensor.
TEST(Split, RefusesMorePiecesThanCanBe) {
  const Tensor x = tn::ones({1}).expand({int64_t{1} << 40});
  expect_error([&] { tn::split(x, 1); },
               "split: 1099511627776 pieces of 1 along dimension 0 of size 1099511627776, at most "
               "16777216 are made");
  expect_error([&] { tn::chunk(x, int64_t{1} << 40); }, "chunk: 1099511627776 pieces of 1");
}

}  // namespace
