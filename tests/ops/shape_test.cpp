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
      gradcheck([&op = op](const TensorList& in) { return tn::square(op(in)); }, {x});
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
  expect_error([&] { tn::chunk<5>(x, 1); }, "dimension 1 of size 3 gives 3 chunks, expected 5");
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
  expect_error(
      [&] {
        tn::squeeze(tn::zeros({1, 1}), {1, -1});
      },
      "squeeze: dimension 1 appears twice");
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

}  // namespace
