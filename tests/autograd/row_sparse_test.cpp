// Row-sparse gradients: their making, sums, coalescing, and what takes them, on every backend. Values
// are those of PyTorch 2.15.
#include <cmath>
#include <string>
#include <vector>

#include "row_sparse_support.h"

namespace {

TEST_P(RowSparse, AGradientHoldsTheRowsThatWereRead) {
  const Tensor w = table(), index = first();
  tn::sum(tn::embedding(w, index, {}, true) * factors()).backward();
  const Tensor grad = w.grad();
  ASSERT_TRUE(grad.is_row_sparse());
  EXPECT_EQ(grad.sizes(), w.sizes());
  EXPECT_EQ(grad.numel(), 12);
  EXPECT_EQ(grad.dtype(), tn::float32);
  EXPECT_EQ(grad.device(), device());
  EXPECT_EQ(grad.indices().to_vector<int64_t>(), (std::vector<int64_t>{1, 4, 1, 0, 4, 5}));
  EXPECT_EQ(grad.values().sizes(), (tn::Ints{6, 2}));
  const Values dense = {0.875f, 1, 0.75f, 1, 0, 0, 0, 0, 1.5f, 1.75f, 1.375f, 1.5f};
  expect_near(grad.to_dense(), dense);
  const Tensor once = grad.coalesce();
  EXPECT_EQ(once.indices().to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 4, 5}));
  expect_near(once.values(), {0.875f, 1, 0.75f, 1, 1.5f, 1.75f, 1.375f, 1.5f});
  // The index is its owner's, who may write it.
  index.zero_();
  expect_near(grad.to_dense(), dense);
  EXPECT_FALSE(w.is_row_sparse());
  EXPECT_TRUE(grad.is_sparse());
  EXPECT_EQ(grad.sparse_dim(), 1);
  EXPECT_EQ(grad.dense_dim(), 1);
  EXPECT_FALSE(w.is_sparse());
  EXPECT_EQ(w.sparse_dim(), 0);  // as in PyTorch
  EXPECT_EQ(w.dense_dim(), 2);
  EXPECT_TRUE(w.to_dense().is_same(w));
}

TEST_P(RowSparse, ThePaddingGetsNoGradient) {
  const Tensor w = table();
  tn::sum(tn::embedding(w, first(), 4, true) * factors()).backward();
  expect_near(w.grad().to_dense(), {0.875f, 1, 0.75f, 1, 0, 0, 0, 0, 0, 0, 1.375f, 1.5f});
}

TEST_P(RowSparse, BagsHaveThem) {
  const Tensor index = on(tn::tensor({1, 4, 1, 0, 4, 5})), offsets = on(tn::tensor({0, 2, 2})),
               factors = on(tn::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  const std::pair<const char*, Values> modes[] = {
      {"sum", {5, 6, 6, 8, 0, 0, 0, 0, 6, 8, 5, 6}},
      {"mean", {1.25f, 1.5f, 1.75f, 2.5f, 0, 0, 0, 0, 1.75f, 2.5f, 1.25f, 1.5f}}};
  for (const auto& [mode, expected] : modes) {
    const Tensor w = table();
    const Tensor y = tn::embedding_bag(w, index, offsets, {.mode = mode, .sparse = true});
    tn::sum(y * factors).backward();
    EXPECT_TRUE(w.grad().is_row_sparse());
    expect_near(w.grad().to_dense(), expected);
  }
}

TEST_P(RowSparse, SumsStaySparseAmongThemselves) {
  const Tensor w = table(), dense = table();
  for (const Tensor& t : {w, dense}) {
    const bool sparse = t.is_same(w);
    // Seven uses in one backward, and another backward after it.
    Tensor loss = tn::sum(tn::embedding(t, second(), {}, sparse) * factors());
    for (int i = 0; i < 6; ++i) loss = loss + tn::sum(tn::embedding(t, first(), {}, sparse)) * i;
    loss.backward();
    tn::sum(tn::embedding(t, first(), {}, sparse) * factors()).backward();
  }
  ASSERT_TRUE(w.grad().is_row_sparse());
  EXPECT_EQ(w.grad().indices().numel(), 48);
  expect_near(w.grad().to_dense(), dense.grad().to_vector<float>(), 1e-5f);
}

TEST_P(RowSparse, ASumWithAnotherGradientIsDense) {
  const Tensor expected = table();
  tn::sum(tn::embedding(expected, first()) * factors() + tn::sum(expected * expected)).backward();
  for (const bool sparse_first : {true, false}) {
    const Tensor w = table();  // in one backward
    const auto rows = [&] { return tn::sum(tn::embedding(w, first(), {}, true) * factors()); };
    const auto all = [&] { return tn::sum(w * w) * 6; };
    (sparse_first ? rows() + all() : all() + rows()).backward();
    EXPECT_FALSE(w.grad().is_row_sparse());
    const Values once = w.grad().to_vector<float>();
    w.zero_grad();  // in two
    for (const bool now_rows : {sparse_first, !sparse_first})
      (now_rows ? rows() : all()).backward();
    EXPECT_FALSE(w.grad().is_row_sparse());
    expect_near(w.grad(), once, 1e-5f);
  }
  // A view of the table beside it, whose gradient goes into a window.
  const Tensor w = table();
  (tn::sum(tn::embedding(w, first(), {}, true)) + tn::sum(tn::narrow(w, 0, 1, 2)) * 3).backward();
  expect_near(w.grad(), {1, 1, 5, 5, 3, 3, 0, 0, 2, 2, 1, 1});
}

TEST_P(RowSparse, GradGivesThemWithoutALeaf) {
  const Tensor w = table();
  const Tensor grad = tn::grad(tn::sum(tn::embedding(w, first(), {}, true)), w);
  EXPECT_TRUE(grad.is_row_sparse());
  EXPECT_FALSE(w.grad().defined());
}

// Three steps, the second of two backwards.
Values trained(const Tensor& w, const tn::optim::Optimizer& optimizer, const Tensor& first,
               const Tensor& second, const Tensor& factors, std::optional<tn::Int> padding = {}) {
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    for (int k = 0; k < (step == 1 ? 2 : 1); ++k) {
      const Tensor y = tn::embedding(w, k == 0 ? first : second, padding, true);
      tn::sum(y * y * factors).backward();
    }
    optimizer.step();
  }
  return w.to_vector<float>();
}

TEST_P(RowSparse, OptimizersTakeThem) {
  const auto check = [&](const auto& make, const Values& expected,
                         std::optional<tn::Int> padding = {}) {
    const Tensor w = table();
    trained(w, make(w), first(), second(), factors(), padding);
    expect_near(w, expected, 2e-6f);
  };
  check([](const Tensor& w) { return tn::optim::SGD({w}, {.lr = 0.05}); },
        {-0.2581234f, -0.18225f, -0.1390391f, -0.062775f, 0, 0.0825f, 0.2f, 0.3f, 0.2312f,
         0.2552344f, 0.3849715f, 0.4298875f});
  check([](const Tensor& w) { return tn::optim::SGD({w}, {.lr = 0.05, .maximize = true}); },
        {-0.5795016f, -0.45375f, -0.2744609f, -0.148225f, 0, 0.1175f, 0.2f, 0.3f, 0.6348f,
         0.8628906f, 0.883091f, 1.064613f});
  check(
      [](const Tensor& w) {
        return tn::optim::Adagrad({w},
                                  {.lr = 0.1, .lr_decay = 0.1, .initial_accumulator_value = 0.2});
      },
      {-0.2168656f, -0.1269567f, -0.06693815f, -0.01105672f, 0, 0.0439713f, 0.2f, 0.3f, 0.2117003f,
       0.3022508f, 0.4056676f, 0.5017867f});
  check(
      [](const Tensor& w) {
        return tn::optim::SparseAdam({w}, {.lr = 0.02, .betas = {0.8, 0.95}});
      },
      {-0.3430585f, -0.2428921f, -0.1428921f, -0.04247177f, 0, 0.08448418f, 0.2f, 0.3f, 0.3402898f,
       0.4404126f, 0.540118f, 0.6400993f});
  check([](const Tensor& w) { return tn::optim::SparseAdam({w}, {.lr = 0.02}); },
        {-0.3432284f, -0.2430366f, -0.142997f, -0.04240575f, 0, 0.08511728f, 0.2f, 0.3f, 0.4f, 0.5f,
         0.5400763f, 0.6400638f},
        4);
}

TEST_P(RowSparse, AScalerScalesThem) {
  const Tensor w = table(), plain = table();
  const auto optimizer = tn::optim::SGD({w}, {.lr = 0.5});
  tn::GradScaler scaler({.init_scale = 8});
  const auto backward = [&](float factor) {
    optimizer.zero_grad();
    scaler.scale(tn::sum(tn::embedding(w, first(), {}, true) * factor)).backward();
    scaler.step(optimizer);
    scaler.update();
  };
  backward(1);
  const Values stepped = w.to_vector<float>();
  expect_near(tn::sub(plain, w), {0.5f, 0.5f, 1, 1, 0, 0, 0, 0, 1, 1, 0.5f, 0.5f});
  backward(INFINITY);  // skipped
  EXPECT_EQ(w.to_vector<float>(), stepped);
  EXPECT_EQ(scaler.state().scale, 4);
}

// found_inf is a tensor of the step's own then: every step has to hold it until it is done.
TEST_P(RowSparse, AScaledStepHasTheBitsOfAPlainOne) {
  const auto check = [&](const auto& make, bool sparse) {
    const Tensor w = table(), plain = table();
    const tn::optim::Optimizer scaled_steps = make(w), plain_steps = make(plain);
    tn::GradScaler scaler({.init_scale = 8});
    const auto backward = [&](const Tensor& t, const auto& optimizer, float factor) {
      optimizer.zero_grad();
      const Tensor loss = tn::sum(tn::embedding(t, first(), {}, sparse) * factors() * factor);
      (t.is_same(w) ? scaler.scale(loss) : loss).backward();
    };
    for (const float factor : {1.f, 2.f, INFINITY, 1.f}) {
      backward(w, scaled_steps, factor);
      scaler.step(scaled_steps);
      scaler.update();
      if (std::isinf(factor)) continue;  // skipped, also by the count of steps
      backward(plain, plain_steps, factor);
      plain_steps.step();
    }
    EXPECT_EQ(w.to_vector<float>(), plain.to_vector<float>());
  };
  for (const bool sparse : {true, false}) {
    check([](const Tensor& w) { return tn::optim::SGD({w}, {.lr = 0.5}); }, sparse);
    check([](const Tensor& w) { return tn::optim::Adagrad({w}, {.lr = 0.5, .lr_decay = 0.1}); },
          sparse);
  }
  check([](const Tensor& w) { return tn::optim::SparseAdam({w}, {.lr = 0.5}); }, true);
}

TEST_P(RowSparse, AutocastLeavesThem) {
  const Tensor w = table();
  const tn::Autocast autocast(device(), tn::bfloat16);
  const Tensor y = tn::embedding(w, first(), {}, true);
  EXPECT_EQ(y.dtype(), tn::float32);
  tn::sum(tn::matmul(y, on(tn::ones({2, 3})))).backward();
  ASSERT_TRUE(w.grad().is_row_sparse());
  expect_near(w.grad().to_dense(), {3, 3, 6, 6, 0, 0, 0, 0, 6, 6, 3, 3});
}

TEST_P(RowSparse, AreMovedAndSet) {
  const Tensor w = table();
  const Tensor grad =
      tn::row_sparse(on(tn::tensor(std::initializer_list<int64_t>{2, 2})), on(tn::ones({2, 2})), 6);
  w.set_grad(grad);
  EXPECT_TRUE(w.grad().is_same(grad));
  const Tensor here = grad.to(tn::cpu, tn::float64);
  EXPECT_TRUE(here.is_row_sparse());
  EXPECT_EQ(here.dtype(), tn::float64);
  EXPECT_EQ(here.to_dense().to_vector<double>()[5], 2);
  const tn::Object layer = tn::nn::Embedding(6, 2, {.sparse = true});
  tn::sum(layer(first().to(tn::cpu))).backward();
  layer.to(device(), tn::float64);
  const Tensor moved = layer.tensor("weight").grad();
  EXPECT_TRUE(moved.is_row_sparse());
  EXPECT_EQ(moved.device(), device());
  EXPECT_EQ(moved.dtype(), tn::float64);
}

TEST_P(RowSparse, HooksSeeThemAndMayMakeThemDense) {
  const Tensor w = table();
  bool sparse = false;
  w.register_hook([&](const Tensor& grad) {
    sparse = grad.is_row_sparse();
    return grad.to_dense();
  });
  tn::sum(tn::embedding(w, first(), {}, true)).backward();
  EXPECT_TRUE(sparse);
  EXPECT_FALSE(w.grad().is_row_sparse());
}

TEST_P(RowSparse, OfEmptyIndices) {
  const Tensor w = table();
  tn::sum(tn::embedding(w, on(tn::zeros({0}, tn::int64)), {}, true)).backward();
  ASSERT_TRUE(w.grad().is_row_sparse());
  EXPECT_EQ(w.grad().coalesce().indices().numel(), 0);
  const Values before = w.to_vector<float>();
  tn::optim::SGD({w}, {.lr = 1}).step();
  tn::optim::SparseAdam({w}).step();
  tn::optim::Adagrad({w}).step();
  EXPECT_EQ(w.to_vector<float>(), before);
}

TEST_P(RowSparse, ACompiledFunctionSaysWhyItStaysEager) {
  const Tensor w = table();
  const auto optimizer = tn::optim::SGD({w}, {.lr = 0.05});
  const auto step = tn::compile([&](Tensor index, Tensor factors) {
    optimizer.zero_grad();
    const Tensor y = tn::embedding(w, index, {}, true);
    tn::sum(y * y * factors).backward();
    optimizer.step();
  });
  const Tensor other = table();
  const auto eager = tn::optim::SGD({other}, {.lr = 0.05});
  for (int i = 0; i < 4; ++i) {
    step(first(), factors());
    eager.zero_grad();
    const Tensor y = tn::embedding(other, first(), {}, true);
    tn::sum(y * y * factors()).backward();
    eager.step();
  }
  EXPECT_EQ(w.to_vector<float>(), other.to_vector<float>());
  EXPECT_NE(step.describe().find("a gradient that it leaves is row-sparse"), std::string::npos)
      << step.describe();
}

// ---- What refuses, and how it says so.

TEST_P(RowSparse, ArePrinted) {
  const Tensor t = tn::row_sparse(on(tn::tensor(std::initializer_list<int64_t>{3})),
                                  on(tn::tensor({{1.f, 2.f}})), 6);
  const std::string text = t.to_string();
  EXPECT_EQ(text.find("row_sparse(indices=tensor([3]"), 0u) << text;
  EXPECT_NE(text.find("rows=6)"), std::string::npos) << text;
}

TEST_P(RowSparse, IndexAddAddsParts) {
  const Tensor x = on(tn::zeros({3, 4})).requires_grad_(),
               source = on(tn::ones({3, 2})).requires_grad_(),
               index = on(tn::tensor(std::initializer_list<int64_t>{3, 0}));
  const Tensor y = tn::index_add(x, 1, index, source, 2.5);
  expect_near(y, {2.5f, 0, 0, 2.5f, 2.5f, 0, 0, 2.5f, 2.5f, 0, 0, 2.5f});
  tn::sum(y * y).backward();
  expect_near(source.grad(), {12.5f, 12.5f, 12.5f, 12.5f, 12.5f, 12.5f});
  expect_near(x.grad(), {5, 0, 0, 5, 5, 0, 0, 5, 5, 0, 0, 5});
  EXPECT_NE(message_of([&] {
              tn::index_add(x, 0, index, source);
            }).find("index_add: source is [3, 2], expected [2, 4], a part for each index"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              tn::coalesce_rows(index, source);
            }).find("coalesce_rows: indices are [2], values [3, 2]; expected [n] and [n, ..]"),
            std::string::npos);
}

// More rows than one thread adds: in the order of the rows, whoever adds them, so that the bits are
// those of a loop.
TEST_P(RowSparse, AddRowsAddsManyRowsInTheirOrder) {
  tn::manual_seed(3);
  for (const int64_t width : {1, 7, 64}) {
    const Tensor x = tn::randn({1000, width}), rows = tn::randn({9000, width}),
                 index = tn::randint(0, 1000, {9000});
    Values expected = x.to_vector<float>();
    const Values added = rows.to_vector<float>();
    const std::vector<int64_t> at = index.to_vector<int64_t>();
    for (size_t i = 0; i < at.size(); ++i) {
      for (int64_t k = 0; k < width; ++k) {
        float& place = expected[size_t(at[i] * width + k)];
        const float term = added[i * size_t(width) + size_t(k)] * 0.3f;
        place += term;
      }
    }
    const Tensor there = on(x).clone();
    tn::add_rows_(there, on(index), on(rows), 0.3f);
    EXPECT_EQ(there.to_vector<float>(), expected) << width;
  }
  const Tensor x = on(tn::zeros({3, 2})), one = on(tn::ones({1, 2}));
  EXPECT_NE(message_of([&] {
              tn::add_rows_(x, on(tn::tensor({int64_t(-1)})), one);
              device().synchronize();
            }).find("index -1"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              tn::add_rows_(x, on(tn::tensor({int64_t(1)})), x);
            }).find("add_rows_: source is [3, 2], expected [1, 2], a part for each index"),
            std::string::npos);
}

TEST_P(RowSparse, AddRowsTakesEveryDtype) {
  for (const tn::Dtype dtype : {tn::float64, tn::float32, tn::float16, tn::bfloat16, tn::int64,
                                tn::int32, tn::int16, tn::int8, tn::uint8}) {
    const Tensor x = on(tn::ones({3, 2}, dtype));
    tn::add_rows_(x, on(tn::tensor({int64_t(1), int64_t(1)})), on(tn::ones({2, 2}, dtype)), 2.f);
    expect_near(x.to(tn::float32), {1, 1, 5, 5, 1, 1});
  }
}

}  // namespace
