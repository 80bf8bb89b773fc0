// Tensors in pieces: the views have one node, and add up to one gradient.
#include "ops_support.h"

namespace {

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

TEST(Split, AnEmptyDimensionHasAsManyChunksAsAreAskedFor) {
  for (const tn::Device d : devices()) {
    const std::vector<Tensor> pieces = tn::chunk(tn::zeros({0, 3}, {}, d), 4);
    ASSERT_EQ(pieces.size(), 4u);
    for (const Tensor& piece : pieces) EXPECT_EQ(piece.sizes(), (std::vector<int64_t>{0, 3}));
    expect_error([&] { tn::chunk(tn::zeros({0}, {}, d), INT64_MAX); }, "of an empty dimension");
  }
}

}  // namespace
