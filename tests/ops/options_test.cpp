// Options that choose another formula of an op: alpha, rounding_mode, bounds that are None, numbers
// or tensors, approximate. By the op's name, as other languages call it, and from C++. Values and
// gradients are PyTorch's.
#include "ops_support.h"

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN(),
             kInf = std::numeric_limits<double>::infinity();

Tensor row(std::vector<double> values, tn::Device d) {
  const auto n = int64_t(values.size());
  return tn::Tensor::from(values, {n}).to(tn::float32).to(d);
}
Tensor whole(std::vector<int64_t> values, tn::Device d, tn::Dtype dtype = tn::int64) {
  const auto n = int64_t(values.size());
  return tn::Tensor::from(values, {n}).to(dtype).to(d);
}
// The gradients of the sum of f(inputs).
template <typename F>
void expect_gradients(std::vector<Tensor> inputs, std::vector<std::vector<double>> expected,
                      F&& f) {
  for (Tensor& t : inputs) t = t.detach().clone().requires_grad_();
  f(inputs).sum().backward();
  for (size_t i = 0; i < inputs.size(); ++i) expect_near(inputs[i].grad(), expected[i], 1e-6);
}

TEST(Options, AlphaScalesWhatIsAddedAndSubtracted) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = row({1, 2}, d), y = row({3, 4}, d);
    expect_near(tn::call("add", x, y, 2), {7, 10});
    expect_near(tn::call("sub", x, y, 0.5), {-0.5, 0});
    expect_near(tn::call("add", x, y, 1), {4, 6});
    expect_near(tn::call("add", x, 3, 2), {7, 8});
    expect_near(tn::call("add", 1, y, 2), {7, 9});
    expect_near(tn::add(x, y, 2), {7, 10});
    expect_near(tn::sub(x, tn::ones({2, 2}, {}, d), -1), {2, 3, 2, 3});
    const Tensor i = whole({1, 2}, d), sum = tn::add(i, i, 3);
    expect_near(sum, {4, 8}, 0);
    EXPECT_EQ(sum.dtype(), tn::int64);
    EXPECT_EQ(tn::add(i, i, 1.0).dtype(), tn::int64) << "1.0 is the default, said aloud";
    EXPECT_EQ(tn::add(x.to(tn::float16), y.to(tn::float16), 2).dtype(), tn::float16);
    Tensor into = x.clone();
    EXPECT_TRUE(tn::call("add_", into, y, 2).is_same(into));
    expect_near(into, {7, 10});
    expect_near(tn::sub_(into, y, 2), {1, 2});
    expect_gradients({x, y}, {{1, 1}, {2, 2}},
                     [](const auto& in) { return tn::call("add", in[0], in[1], 2); });
    expect_gradients({x, y}, {{1, 1}, {-0.5, -0.5}},
                     [](const auto& in) { return tn::sub(in[0], in[1], 0.5); });
    expect_gradients({x, y}, {{2, 2}, {6, 6}},
                     [](const auto& in) { return tn::add_(in[0] * 2, in[1] * 3, 2); });
  }
}

TEST(Options, RoundingModeOfDiv) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = row({1, -7.5, 0.3}, d), y = row({0.1, 2, 0}, d);
    expect_near(tn::call("div", x, y, "trunc"), {10, -3, kInf}, 0);
    expect_near(tn::call("div", x, y, "floor"), {9, -4, kInf}, 0);
    expect_near(tn::call("div", x, 2, tn::none), {0.5, -3.75, 0.15});
    expect_near(tn::div(x, 2, "trunc"), {0, -3, 0}, 0);
    const Tensor i = whole({-7, 7, -1, 5, 4}, d), by = whole({2, -2, 3, 5, 0}, d);
    for (tn::Dtype dtype : {tn::int64, tn::int32}) {
      const Tensor cut = tn::div(i.to(dtype), by.to(dtype), "trunc");
      expect_near(cut, {-3, -3, 0, 1, 0}, 0);
      EXPECT_EQ(cut.dtype(), dtype);
    }
    const Tensor cut = tn::div(whole({200, 7}, d, tn::uint8), 3, "trunc");
    expect_near(cut, {66, 2}, 0);
    EXPECT_EQ(cut.dtype(), tn::uint8);
    expect_near(tn::div(i, by, "floor"), {-4, -4, -1, 1, 0}, 0);
    EXPECT_EQ(tn::div(i, 2).dtype(), tn::float32);
    // Integers and floats, mixed.
    expect_near(tn::div(i, row({2, 2, 2, 2, 2}, d), "trunc"), {-3, 3, 0, 2, 2}, 0);
    Tensor into = i.clone();
    EXPECT_TRUE(tn::call("div_", into, 2, "trunc").is_same(into));
    expect_near(into, {-3, 3, 0, 2, 2}, 0);
    expect_gradients({row({-7, 7}, d), row({2, -2}, d)}, {{0, 0}, {0, 0}}, [](const auto& in) {
      return tn::div(in[0], in[1], "trunc") + (in[0] + in[1]) * 0;
    });
  }
}

TEST(Options, BoundsOfClampAreNumbersTensorsOrNone) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = row({-1, 0, 0.5, 1, 2}, d), zeros = row({0, 0, 0, 0, 0}, d),
                 ones = row({1, 1, 1, 1, 1}, d);
    const auto clamp = [](const Tensor& t, auto min, auto max) {
      return tn::call("clamp", t, min, max);
    };
    expect_near(clamp(x, 0, 1), {0, 0, 0.5, 1, 1});
    expect_near(clamp(x, 0, tn::none), {0, 0, 0.5, 1, 2});
    expect_near(tn::call("clamp", x, 0), {0, 0, 0.5, 1, 2});
    expect_near(clamp(x, tn::none, 0.25), {-1, 0, 0.25, 0.25, 0.25});
    expect_near(clamp(x, zeros, ones), {0, 0, 0.5, 1, 1});
    expect_near(clamp(x, zeros, tn::none), {0, 0, 0.5, 1, 2});
    expect_near(clamp(x, tn::none, ones), {-1, 0, 0.5, 1, 1});
    expect_near(clamp(x, 0, ones), {0, 0, 0.5, 1, 1});
    expect_near(clamp(x, zeros, 1), {0, 0, 0.5, 1, 1});
    expect_near(tn::clamp(x, tn::Tensor(), ones), {-1, 0, 0.5, 1, 1});
    expect_near(tn::clamp(x, 3, 2), {2, 2, 2, 2, 2});
    expect_near(tn::call("clamp_min", x, 0.5), {0.5, 0.5, 0.5, 1, 2});
    expect_near(tn::call("clamp_max", x, zeros), {-1, 0, 0, 0, 0});
    expect_near(clamp(row({kNan, 3}, d), 0, 1), {kNan, 1});
    // A float bound of integers makes floats, as PyTorch's.
    EXPECT_EQ(clamp(whole({1, 7}, d), 2.5, tn::none).dtype(), tn::float32);
    expect_near(clamp(whole({0, 7, 255}, d, tn::uint8), -1, 300), {0, 7, 255}, 0);
    Tensor into = x.clone();
    EXPECT_TRUE(tn::call("clamp_", into, tn::none, 1).is_same(into));
    expect_near(into, {-1, 0, 0.5, 1, 1});
    expect_near(tn::clamp_(into, zeros), {0, 0, 0.5, 1, 1});

    expect_gradients({x}, {{0, 0, 1, 0, 0}}, [&](const auto& in) { return clamp(in[0], 0, 1); });
    expect_gradients({x}, {{0, 0, 1, 1, 1}},
                     [&](const auto& in) { return clamp(in[0], 0, tn::none); });
    expect_gradients({x}, {{1, 1, 1, 0, 0}},
                     [&](const auto& in) { return clamp(in[0], tn::none, 1); });
    expect_gradients({x}, {{0, 0, 1, 1, 1}},
                     [](const auto& in) { return tn::clamp_min(in[0], 0); });
    expect_gradients({x, zeros, ones}, {{0, 0.5, 1, 0.5, 0}, {1, 0.5, 0, 0, 0}, {0, 0, 0, 0.5, 1}},
                     [&](const auto& in) { return clamp(in[0], in[1], in[2]); });
    expect_gradients({x, zeros}, {{0, 0.5, 1, 1, 1}, {1, 0.5, 0, 0, 0}},
                     [&](const auto& in) { return clamp(in[0], in[1], tn::none); });
    expect_gradients({x, ones}, {{1, 1, 1, 0.5, 0}, {0, 0, 0, 0.5, 1}},
                     [&](const auto& in) { return clamp(in[0], tn::none, in[1]); });
    expect_gradients({x, zeros}, {{0, 0.5, 1, 1, 1}, {1, 0.5, 0, 0, 0}},
                     [](const auto& in) { return tn::clamp_min(in[0], in[1]); });
    // Where both bounds are x, it keeps its gradient: dx, dmin and dmax of PyTorch 2.15.
    const Tensor low = row({1, 1, 1, 3, 3, 3}, d), high = row({1, 1, 1, 1, 1, 1}, d),
                 points = row({0, 1, 2, 0, 2, 4}, d);
    expect_gradients({points, low, high},
                     {{0, 1, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}, {0, 0, 1, 1, 1, 1}},
                     [&](const auto& in) { return clamp(in[0], in[1], in[2]); });
    expect_gradients({points, high}, {{0, 1, 0, 0, 0, 0}, {0, 0, 1, 0, 1, 1}},
                     [&](const auto& in) { return clamp(in[0], 1, in[1]); });
    expect_gradients({points, low}, {{0, 1, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}},
                     [&](const auto& in) { return clamp(in[0], in[1], 1); });
    // Of squares, and the gradient of that: at 1 with both bounds there, with one, and between them.
    const Tensor root = row({1, 1, 2}, d).requires_grad_();
    clamp(root * root, row({1, 0, 1}, d), row({1, 1, 9}, d)).sum().backward({}, false, true);
    const Tensor first = root.grad();
    expect_near(first, {2, 1, 4});
    root.zero_grad();
    first.sum().backward();
    expect_near(root.grad(), {2, 1, 2});
    const auto nan = row({kNan, kNan, kNan}, d), one = row({1, 1, 1}, d), three = row({0, 1, 2}, d);
    expect_gradients({three, nan, one}, {{1, 1, 0}, {0, 0, 0}, {0, 0, 0}},
                     [&](const auto& in) { return clamp(in[0], in[1], in[2]); });
    expect_gradients({three, one, nan}, {{0, 1, 1}, {0, 0, 0}, {0, 0, 0}},
                     [&](const auto& in) { return clamp(in[0], in[1], in[2]); });
    expect_gradients({nan, one, one * 3}, {{1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
                     [&](const auto& in) { return clamp(in[0], in[1], in[2]); });
    // In place: what is written has the gradient of the formula.
    expect_gradients({x}, {{0, 0, 1, 0, 0}},
                     [](const auto& in) { return tn::clamp_(in[0] * 1, 0, 1); });
  }
}

TEST(Options, GeluIsOneOpWithTwoFormulas) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = row({-1, 0, 2}, d);
    expect_near(tn::call("gelu", x), {-0.15865526, 0, 1.95449972}, 1e-6);
    expect_near(tn::call("gelu", x, "none"), {-0.15865526, 0, 1.95449972}, 1e-6);
    expect_near(tn::call("gelu", x, "tanh"), {-0.15880801, 0, 1.95459769}, 1e-6);
    Tensor into = x.clone();
    EXPECT_TRUE(tn::gelu_(into, "tanh").is_same(into));
    expect_near(into, {-0.15880801, 0, 1.95459769}, 1e-6);
  }
}

TEST(Options, RefusalsNameTheOpTheArgumentAndWhatIsExpected) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = row({1, 2}, d), leaf = row({1, 2}, d).requires_grad_();
    for (const Tensor& t : {x, leaf}) {
      expect_error([&] { tn::call("div", t, t, "up"); },
                   "div: rounding_mode is 'up'; expected None, 'trunc' or 'floor'");
      expect_error([&] { tn::call("clamp", t); },
                   "clamp: min is None, max is None; expected a bound at least");
      expect_error([&] { tn::clamp_(t, tn::none, tn::none); },
                   "clamp_: min is None, max is None; expected a bound at least");
      expect_error([&] { tn::call("add", t, t, "2"); }, "add: argument 'alpha' must be number");
      expect_error([&] { tn::call("add", t, t, tn::none); },
                   "add: argument 'alpha' must be number");
      expect_error([&] { tn::call("add", t, t, 2, 3); }, "add: 4 arguments, expected at most 3");
      expect_error([&] { tn::call("add", t); }, "add: argument 'y' is missing");
      expect_error([&] { tn::add(t, tn::zeros({3}, {}, d), 2); },
                   "add: shapes [2] and [3] do not broadcast");
      expect_error([&] { tn::clamp(t, tn::none, tn::zeros({3}, {}, d)); }, "clamp: shapes");
    }
    expect_error([&] { tn::add_(whole({1}, d), whole({1}, d), 0.5); }, "add_: ");
  }
}

// Mixed precision decides by the formula; explain and gradients name the op.
TEST(Options, FormulasAreOfTheOpThatWasCalled) {
  load_all();
  const Tensor x = row({1, 2}, {}).requires_grad_();
  EXPECT_EQ(tn::grad_fn(tn::add(x, x, 2)).name(), "add");
  EXPECT_EQ(tn::grad_fn(tn::div(x, x, "floor") + x).name(), "add");
  EXPECT_EQ(tn::grad_fn(tn::clamp(x, tn::none, 1)).name(), "clamp");
  EXPECT_EQ(tn::grad_fn(tn::gelu(x, "tanh")).name(), "gelu");
  const std::string calls = tn::explain([&] { tn::clamp(x, x, x); });
  EXPECT_NE(calls.find("\"call\":\"clamp\""), std::string::npos) << calls;
  for (const char* gone : {"_add_scaled", "_clamp_to_tensors", "_gelu", "_truncated_quotient"})
    EXPECT_EQ(tn::ops_json().find(gone), std::string::npos) << gone;
}

TEST(Options, DtypeOfSumsAndSoftmax) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor wide = tn::call("softmax", whole({1, 2, 3}, d), 0, tn::float64);
    EXPECT_EQ(wide.dtype(), tn::float64);
    expect_near(wide, {0.09003057317038046, 0.24472847105479764, 0.6652409557748218}, 1e-15);
    const Tensor half = row({1, 2}, d).to(tn::float16);
    const Tensor logs = tn::log_softmax(half, 0, tn::float32);
    EXPECT_EQ(logs.dtype(), tn::float32);
    expect_near(logs, {-1.31326163, -0.31326166}, 1e-6);
    EXPECT_EQ(tn::softmax(row({1, 2}, d), 0, tn::bfloat16).dtype(), tn::bfloat16);
    expect_near(tn::cumsum(row({1.5, 2.5}, d), 0, tn::int32), {1, 3}, 0);
    EXPECT_EQ(tn::cumsum(row({1.5, 2.5}, d), 0, tn::int32).dtype(), tn::int32);
    expect_near(tn::call("cumprod", row({1.5, 2.5}, d), 0, tn::int64), {1, 2}, 0);
    expect_near(tn::call("sum", row({1.5, 2.5}, d), tn::Ints{}, false, tn::int64), {3}, 0);
    EXPECT_EQ(tn::norm(half, 2, {}, false, tn::float64).dtype(), tn::float64);
    expect_near(tn::norm(half, 2, {}, false, tn::float64), {std::sqrt(5.0)}, 1e-12);
    // The gradient has the dtype of x: that of weights 1, 2 is softmax * (weights - their mean).
    for (tn::Dtype dtype : {tn::float32, tn::float64}) {
      const Tensor x = row({1, 2}, d).requires_grad_();
      (tn::softmax(x, 0, dtype) * row({1, 2}, d)).sum().backward();
      expect_near(x.grad(), {-0.19661193, 0.19661193}, 1e-6);
      EXPECT_EQ(x.grad().dtype(), tn::float32);
      const Tensor y = row({3, 4}, d).requires_grad_();
      (tn::cumsum(y, 0, dtype) * row({1, 2}, d)).sum().backward();
      expect_near(y.grad(), {3, 2});
    }
    expect_error([&] { tn::softmax(half, 0, tn::int64); },
                 "softmax: dtype is int64, expected a floating dtype");
    expect_error([&] { tn::log_softmax(half, 0, tn::bool_); },
                 "log_softmax: dtype is bool, expected a floating dtype");
    expect_error([&] { tn::norm(half, 2, {}, false, tn::uint8); },
                 "norm: dtype is uint8, expected a floating dtype");
    // As PyTorch: no number of x is cut.
    for (const auto& [of, narrow] : {std::pair(tn::float64, tn::float32),
                                     {tn::float64, tn::float16},
                                     {tn::float32, tn::bfloat16},
                                     {tn::float16, tn::bfloat16},
                                     {tn::bfloat16, tn::float16}}) {
      expect_error([&, x = half.to(of), dtype = narrow] { tn::norm(x, 2, {}, false, dtype); },
                   std::string("norm: dtype is ") + narrow.name() +
                       ", which does not hold all numbers of x, " + of.name());
    }
    for (tn::Dtype dtype : {tn::float16, tn::bfloat16}) {
      const Tensor y = tn::norm(row({300, 400}, d).to(dtype), 2, {}, false, dtype);
      EXPECT_EQ(y.dtype(), dtype);
      expect_near(y, {500}, dtype == tn::float16 ? 0 : 2);
      EXPECT_EQ(tn::norm(half.to(dtype), 2, {}, false, tn::float32).dtype(), tn::float32);
    }
  }
}

TEST(Options, PaddingOfConvolutionsByName) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = row({1, 5, 2, 5, 3, 4, 0, 1, 7, 7, -1, 2}, d).view({1, 1, 3, 4}),
                 w = row({1, 2, 3, 4, 5, 6}, d).view({1, 1, 3, 2});
    // An even kernel: one zero more behind.
    const Tensor same = tn::conv2d(x, w, {.padding = "same", .dilation = {2, 1}});
    EXPECT_EQ(same.sizes(), (std::vector<int64_t>{1, 1, 3, 4}));
    expect_near(same, {100, 52, 33, 25, 25, 12, 4, 3, 60, 26, 17, 11}, 1e-5);
    const Tensor sample = tn::conv2d(x.view({1, 3, 4}), w, {.padding = "same", .dilation = {2, 1}});
    EXPECT_EQ(sample.sizes(), (std::vector<int64_t>{1, 3, 4}));
    expect_near(sample, same.to_vector<double>(), 1e-5);
    expect_near(tn::conv2d(x, w, {.padding = "valid"}), tn::conv2d(x, w).to_vector<double>(), 0);
    const Tensor line = row({1, 2, 3, 4}, d).view({1, 1, 4});
    expect_near(tn::call("conv1d", line, tn::ones({1, 1, 3}, {}, d), tn::none, tn::Ints(1), "same"),
                {3, 6, 9, 7});
    // All of a kernel that is larger than x.
    expect_near(tn::conv1d(line, tn::ones({1, 1, 10}, {}, d), {.padding = "same"}),
                {10, 10, 10, 10});
    expect_gradients({line, row({1, 2}, d).view({1, 1, 2})}, {{1, 3, 3, 3}, {10, 9}},
                     [](const auto& in) { return tn::conv1d(in[0], in[1], {.padding = "same"}); });
    expect_error([&] { tn::conv2d(x, w, {.padding = "full"}); },
                 "conv2d: padding is 'full', expected 'same', 'valid' or numbers");
    expect_error([&] { tn::conv2d(x, w, {.stride = 2, .padding = "same"}); },
                 "conv2d: padding is 'same' and stride [2, 2], expected a stride of 1");
    expect_error([&] { tn::conv2d(x, line, {.padding = "same"}); }, "conv2d: x is");
    expect_error([&] { tn::call("conv2d", x, w, tn::none, "same"); },
                 "conv2d: argument 'stride' must be int[]");
  }
}

TEST(Options, PaddingOfEmbeddingBagsBelongsToNoBag) {
  load_all();
  struct Row {
    const char* mode;
    std::vector<double> rows, rows_gradient, offsets, offsets_gradient;
  };
  const Row table[] = {{"sum",
                        {6, 2, 0, 0, -1, 6},
                        {6, 8, 0, 0, 1, 2, 5, 6},
                        {6, 2, 0, 0, 0, 0, -2, 4},
                        {1, 2, 0, 0, 1, 2, 7, 8}},
                       {"mean",
                        {3, 1, 0, 0, -0.5, 3},
                        {3, 4, 0, 0, 0.5, 1, 2.5, 3},
                        {3, 1, 0, 0, 0, 0, -2, 4},
                        {0.5, 1, 0, 0, 0.5, 1, 7, 8}},
                       {"max",
                        {5, 2, 0, 0, 1, 4},
                        {5, 2, 0, 0, 1, 0, 0, 6},
                        {5, 2, 0, 0, 0, 0, -2, 4},
                        {0, 2, 0, 0, 1, 0, 7, 8}}};
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor weight = row({1, 2, 3, -1, 5, 0, -2, 4}, d).view({4, 2});
    const Tensor index = whole({0, 1, 2, 1, 1, 1, 3, 0, 1}, d).view({3, 3});
    const Tensor flat = whole({0, 1, 2, 1, 1, 3}, d);
    const auto check = [&](const std::vector<double>& values, const std::vector<double>& gradient,
                           auto&& f) {
      const Tensor w = weight.clone().requires_grad_(), y = f(w);
      expect_near(y, values, 1e-6);
      (y * tn::arange(1, y.numel() + 1, 1, tn::float32, d).view(y.sizes())).sum().backward();
      expect_near(w.grad(), gradient, 1e-6);
    };
    for (const Row& row : table) {
      SCOPED_TRACE(row.mode);
      check(row.rows, row.rows_gradient, [&](const Tensor& w) {
        return tn::embedding_bag(w, index, {.mode = row.mode, .padding_idx = 1});
      });
      check(row.offsets, row.offsets_gradient, [&](const Tensor& w) {
        return tn::embedding_bag(w, flat, whole({0, 3, 3, 5}, d),
                                 {.mode = row.mode, .padding_idx = -3});
      });
    }
    check({9, 1, 0, 0, 4, 2}, {1, 2, 11, 14, 1, 2, 5, 6}, [&](const Tensor& w) {
      return tn::embedding_bag(w, flat, whole({0, 3, 3, 6}, d),
                               {.mode = "sum", .include_last_offset = true});
    });
    // What is behind the last offset belongs to no bag.
    check({9, 1, 0, 0, 6, -2}, {1, 2, 11, 14, 1, 2, 0, 0}, [&](const Tensor& w) {
      return tn::embedding_bag(w, flat, whole({0, 3, 3, 5}, d),
                               {.mode = "sum", .include_last_offset = true});
    });
    check({16, 2, -12, 24}, {1, 2, 0, 0, 3, 6, 18, 24}, [&](const Tensor& w) {
      return tn::embedding_bag(w, whole({0, 1, 2, 1, 1, 3}, d).view({2, 3}),
                               {.mode = "sum",
                                .per_sample_weights = row({1, 2, 3, 4, 5, 6}, d).view({2, 3}),
                                .padding_idx = 1});
    });
    expect_error([&] { tn::embedding_bag(weight, index, {.padding_idx = 4}); },
                 "embedding_bag: padding_idx is 4, expected -4 to 3");
    for (tn::Device other : devices()) {
      if (other == d) continue;
      const std::string places = "embedding_bag: weight is on " + d.name();
      expect_error([&] { tn::embedding_bag(weight, flat.to(other), whole({0}, d)); },
                   places + ", index on " + other.name() + "; expected all on one device");
      expect_error([&] { tn::embedding_bag(weight, flat, whole({0}, other)); },
                   places + ", offsets on " + other.name() + "; expected all on one device");
      expect_error(
          [&] {
            tn::embedding_bag(weight, flat, whole({0}, d),
                              {.mode = "sum", .per_sample_weights = tn::ones({6}, {}, other)});
          },
          places + ", per_sample_weights on " + other.name() + "; expected all on one device");
    }
    if (d.is_cpu()) {  // elsewhere the values are not at hand
      const auto bags = [&](std::initializer_list<int64_t> offsets) {
        return [&, offsets] { tn::embedding_bag(weight, flat, tn::tensor(offsets)); };
      };
      expect_error(bags({1, 3}),
                   "embedding_bag: offsets[0] is 1, expected 0: offsets begin with 0");
      expect_error(bags({0, 3, 2}), "embedding_bag: offsets[2] is 2, expected 3 to 6");
      expect_error(bags({0, 7}), "embedding_bag: offsets[1] is 7, expected 0 to 6");
      expect_error(bags({}), "embedding_bag: offsets is empty, expected a bag for the 6 of index");
    }
    const Tensor none = tn::zeros({0}, tn::int64, d);
    expect_error([&] { tn::embedding_bag(weight, flat, none, {.include_last_offset = true}); },
                 "embedding_bag: include_last_offset is set, expected offsets with the last one");
    // Rows have no last offset, and PyTorch takes it for them all the same.
    expect_near(tn::embedding_bag(weight, index, {.include_last_offset = true}),
                tn::embedding_bag(weight, index).to_vector<double>());
  }
}

TEST(Options, IndicesOfMaxPools) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = row({1, 5, 2, 5, 3, 4, 0, 1, 7, 7, -1, 2}, d).view({1, 1, 3, 4});
    const auto check = [&](const auto& pair, const std::vector<double>& values,
                           const std::vector<double>& indices) {
      expect_near(std::get<0>(pair), values, 0);
      expect_near(std::get<1>(pair), indices, 0);
      EXPECT_EQ(std::get<1>(pair).dtype(), tn::int64);
      EXPECT_EQ(std::get<0>(pair).sizes(), std::get<1>(pair).sizes());
    };
    check(tn::max_pool2d_with_indices(x, 2, {.stride = 2, .padding = 1}), {1, 5, 5, 7, 7, 2},
          {0, 1, 3, 8, 9, 11});
    check(tn::max_pool2d_with_indices(x, 2, {.stride = 1}), {5, 5, 5, 7, 7, 2},
          {1, 1, 3, 8, 9, 11});
    check(tn::max_pool2d_with_indices(x.view({1, 3, 4}), 2,
                                      {.stride = 1, .padding = 1, .dilation = {2, 1}}),
          {3, 4, 4, 1, 1, 7, 7, 7, 5, 5, 3, 4, 4, 1, 1},
          {4, 5, 5, 7, 7, 8, 8, 9, 3, 3, 4, 5, 5, 7, 7});
    // What is padded is never chosen, were all elements as low.
    check(tn::max_pool1d_with_indices(row({-kInf, -kInf, -kInf, -kInf}, d).view({1, 1, 4}), 3,
                                      {.stride = 1, .padding = 1}),
          {-kInf, -kInf, -kInf, -kInf}, {0, 0, 1, 2});
    check(tn::max_pool3d_with_indices(row({1, 0, 3, 2, 5, 4, 7, 6}, d).view({1, 1, 2, 2, 2}), 2),
          {7}, {6});
    const Tensor bytes = whole({1, 9, 3, 4}, d, tn::uint8).view({1, 1, 4});
    check(tn::max_pool1d_with_indices(bytes, 2), {9, 4}, {1, 3});
    // The values are those of max_pool2d, and so is the gradient.
    expect_gradients({x}, {{0, 3, 0, 3, 0, 0, 0, 0, 4, 5, 0, 6}}, [&](const auto& in) {
      return std::get<0>(tn::max_pool2d_with_indices(in[0], 2, {.stride = 1})) *
             row({1, 2, 3, 4, 5, 6}, d).view({1, 1, 2, 3});
    });
    expect_error(
        [&] { tn::max_pool2d_with_indices(x, 2, {.padding = 2}); },
        "max_pool2d_with_indices: padding is [2, 2], expected at most half of kernel_size");
  }
}

}  // namespace
