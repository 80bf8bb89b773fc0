// What a program writes as it would with PyTorch: sizes and lists that are kept and compared, x[0]
// in a tensor's place, functions and modules whose arguments may be left out.
#include <algorithm>
#include <array>
#include <sstream>

#include "ops_support.h"

namespace {

template <typename T>
std::string text_of(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}
Tensor two_by_two() { return tn::tensor({{1.f, 2.f}, {3.f, 4.f}}); }

TEST(Sizes, AreComparedPrintedAndConverted) {
  load_all();
  const Tensor x = tn::zeros({2, 3});
  EXPECT_EQ(x.sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((std::vector<int64_t>{2, 3}), x.sizes());
  EXPECT_EQ(x.sizes(), (tn::Ints{2, 3}));
  EXPECT_EQ(x.sizes(), (std::array<int64_t, 2>{2, 3}));
  EXPECT_EQ(x.sizes(), tn::ones({2, 3}).sizes());
  EXPECT_NE(x.sizes(), x[0].sizes());
  EXPECT_NE(x.sizes(), (tn::Ints{2, 4}));
  EXPECT_EQ(text_of(x.sizes()), "[2, 3]");
  EXPECT_EQ(text_of(x.strides()), "[3, 1]");
  EXPECT_EQ(text_of(tn::tensor(1.f).sizes()), "[]");
  EXPECT_EQ(text_of(tn::Floats{0.5, 2}), "[0.5, 2]");
  std::vector<int64_t> converted = x.sizes();
  converted = x.sizes().vec();
  EXPECT_EQ(converted, (std::vector<int64_t>{2, 3}));
  const std::span<const int64_t> seen = x.sizes();
  EXPECT_EQ(seen[1], 3);
  EXPECT_EQ(x.sizes().front(), 2);
  EXPECT_EQ(x.sizes().back(), 3);
  EXPECT_EQ(*std::max_element(x.sizes().begin(), x.sizes().end()), 3);
}

TEST(Sizes, OfATemporaryOutliveIt) {
  load_all();
  const auto sizes = (two_by_two() + 1).sizes();
  const auto of_rank_8 = tn::zeros({1, 2, 1, 2, 1, 2, 1, 3}).sizes();
  const Tensor other = tn::zeros({7, 7, 7});  // where the first one's memory was
  EXPECT_EQ(sizes, (tn::Ints{2, 2}));
  EXPECT_EQ(of_rank_8, (tn::Ints{1, 2, 1, 2, 1, 2, 1, 3}));
  for (const int64_t size : (two_by_two() * 2).sizes()) EXPECT_EQ(size, 2);
}

TEST(Lists, KeepWhatBracesAndTemporariesHold) {
  load_all();
  tn::Ints sizes;
  sizes = {2, 3};
  tn::Ints longer = {1, 2, 3, 4, 5, 6, 7, 8, 9}, of_vector = std::vector<int64_t>{4, 5},
           copy = longer;
  tn::Floats factors = {0.5, 1.5};
  longer = sizes;
  EXPECT_EQ(tn::zeros(sizes).sizes(), (tn::Ints{2, 3}));
  EXPECT_EQ(longer, sizes);
  EXPECT_EQ(of_vector, (tn::Ints{4, 5}));
  EXPECT_EQ(copy.vec(), (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(factors[1], 1.5);
  sizes = copy;
  copy = {};
  EXPECT_EQ(sizes.size(), 9u);
  EXPECT_TRUE(copy.empty());
  std::vector<int64_t> named = {6, 7};
  const tn::Ints borrowed = named;
  EXPECT_EQ(borrowed.data(), named.data());
}

TEST(Lists, OfTensorsKeepWhatBracesAndTemporariesHold) {
  load_all();
  tn::Tensors list = {two_by_two(), two_by_two()[0], Tensor()};
  EXPECT_EQ(list[1].dim(), 1);
  EXPECT_FALSE(list[2].defined());
  list = {two_by_two(), two_by_two() * 2};
  const tn::Tensors longer = {list[0], list[1], list[0], list[1], list[0]},
                    of_vector = longer.to_vector(), copy = of_vector;
  list = {};
  EXPECT_EQ(list.size(), 0u);
  expect_near(tn::cat(longer, 0).sum(), {70});
  expect_near(tn::cat(copy, 0).sum(), {70});
  const Tensor x = two_by_two();
  expect_near(tn::stack(std::vector{x[1], x[0]}, 0), {3, 4, 1, 2});
  tn::GradOptions options;
  options.grad_outputs = {tn::full({2, 2}, 3.f)};
  const Tensor y = two_by_two().requires_grad_();
  expect_near(tn::grad({y * 2}, {y}, options)[0], {6, 6, 6, 6});
}

// In braces they are lists, as in PyTorch; it took one tensor's gradient, and [0] its first row.
TEST(Lists, OfOneOutputAndOneInputGiveAList) {
  load_all();
  const Tensor x = two_by_two().requires_grad_();
  EXPECT_EQ((tn::grad({(x * x).sum()}, {x})[0].sizes()), x.sizes());
  EXPECT_EQ(tn::grad((x * x).sum(), x).sizes(), x.sizes());
  EXPECT_EQ(tn::grad(x[0].sum(), x).sizes(), x.sizes());
}

struct Twice : tn::Function<Twice> {
  static Tensor forward(Context&, Tensor x) { return x * 2; }
  static Tensor backward(Context&, Tensor g) { return g * 2; }
};
struct FirstRow : tn::Function<FirstRow> {
  static auto forward(Context&, const Tensor& x) { return x[0]; }
  static Tensor backward(Context&, Tensor g) { return tn::stack({g, tn::zeros_like(g)}, 0); }
};
struct SumAndMore : tn::Function<SumAndMore> {
  static Tensor forward(Context&, std::vector<Tensor> list, std::optional<Tensor> more,
                        double factor) {
    const Tensor sum = list[0] + list[1];
    return (more ? sum + *more : sum) * factor;
  }
  static std::vector<Tensor> backward(Context&, Tensor g) { return {g * 3, g * 3, g * 3}; }
};
struct Product : tn::Function<Product> {
  static Tensor forward(Context&, const std::array<Tensor, 2>& list) { return list[0] * list[1]; }
  static std::vector<Tensor> backward(Context&, Tensor g) { return {g, g * 2}; }
};
struct Handle {
  Tensor tensor;
  operator Tensor() const { return tensor; }
};

TEST(Function, TakesWhatIsATensor) {
  load_all();
  const Tensor x = two_by_two().requires_grad_();
  const auto expect = [&](const Tensor& y, const std::vector<double>& gradient) {
    x.zero_grad();
    y.sum().backward();
    ASSERT_TRUE(x.grad().defined());
    expect_near(x.grad(), gradient);
  };
  expect(Twice::apply(x[0]), {2, 2, 0, 0});
  expect(Twice::apply(Handle{x * 3}), {6, 6, 6, 6});
  expect(tn::pipe(x[1], Twice::apply), {0, 0, 2, 2});
  expect(FirstRow::apply(x), {1, 1, 0, 0});
  expect(SumAndMore::apply(std::vector<Tensor>{x[0], x[1]}, std::optional<Tensor>(x[0]), 3.0),
         {6, 6, 3, 3});
  expect(SumAndMore::apply(std::vector{x[0], x[1]}, std::optional(x[0]), 3.0), {6, 6, 3, 3});
  expect(Product::apply(std::array<Tensor, 2>{x[0], x[1]}), {1, 1, 2, 2});
}

TEST(Function, AGradientOfAnArgumentThatIsNoneIsPassedOver) {
  load_all();
  const Tensor x = two_by_two().requires_grad_();
  SumAndMore::apply(std::vector<Tensor>{x[0], x[1]}, std::optional<Tensor>(), 3.0).sum().backward();
  expect_near(x.grad(), {3, 3, 3, 3});
}

TEST(Indexing, InAVariableIsATensor) {
  load_all();
  const Tensor x = tn::zeros({2, 2});
  auto row = x[0];
  row += 3;
  row *= 2;
  row %= 4;
  expect_near(x, {2, 2, 0, 0});
  const Tensor bits = tn::tensor({int64_t(4), int64_t(6), int64_t(8)}),
               mask = tn::tensor({true, false, true});
  bits[mask] |= 1;
  bits[{tn::slice(0, 2)}] ^= 2;
  bits[mask] %= 4;
  bits[2] &= 0;
  expect_near(bits, {3, 4, 0}, 0);
}

TEST(Indexing, RowsAreIterated) {
  load_all();
  const Tensor x = two_by_two().requires_grad_();
  Tensor total;
  double factor = 1;
  for (const Tensor& row : x)
    total = total.defined() ? total + row * factor : row * factor, factor *= 10;
  for (auto row : x * 2) factor += row.numel();
  EXPECT_EQ(factor, 104);
  total.sum().backward();
  expect_near(x.grad(), {1, 1, 10, 10});
  expect_error(
      [] {
        for (const Tensor& row : tn::tensor(1.f)) static_cast<void>(row);
      },
      "no dimensions");
}

struct Masked : tn::Module {
  Tensor forward(Tensor x, std::optional<Tensor> mask, bool twice = false, double factor = 1.5) {
    const Tensor y = mask ? x * *mask : x;
    return twice ? y * 2 * factor : y;
  }
};
struct Defaults : tn::Module {
  Tensor forward(const Tensor& x, const Tensor& mask = {}, int64_t n = 3) noexcept {
    return mask.defined() ? x * mask : x * n;
  }
};
struct Rows : tn::Module {
  std::vector<Tensor> forward(Tensor x) { return {x[0], x[1], x}; }
};
struct Ends : tn::Module {
  std::tuple<Tensor, Tensor> forward(Tensor x) { return {x[0], x[-1]}; }
};
struct First : tn::Module {
  auto forward(Tensor x) { return x[0]; }
};

TEST(Module, ArgumentsWithDefaultsMayBeLeftOut) {
  load_all();
  const Tensor x = two_by_two();
  const auto masked = tn::make<Masked>();
  EXPECT_EQ(masked.method_schema("forward"),
            "forward(Tensor x0, Tensor? x1=None, bool? x2=None, float? x3=None) -> Tensor");
  expect_near(masked(x).sum(), {10});
  expect_near(masked(x, std::nullopt, true).sum(), {30});
  expect_near(masked(x, x, true, 1.0).sum(), {60});
  const tn::Object defaults = tn::make<Defaults>();
  expect_near(defaults(x).sum(), {30});
  expect_near(defaults(x[0], x[1]).sum(), {11});
  expect_near(defaults(x, tn::none, 2).sum(), {20});
  expect_near(tn::nn::Sequential(masked, defaults)(x).sum(), {30});
  expect_error([&] { tn::make<Defaults>()(); }, "x0");
  const tn::Object attention = tn::nn::MultiheadAttention(4, 2);
  const Tensor q = tn::ones({3, 1, 4});
  EXPECT_EQ(attention(q, q, q).sizes(), q.sizes());
  EXPECT_EQ(attention(q, q, q, std::nullopt, tn::none).sizes(), q.sizes());
}

TEST(Module, GivesWhatForwardGives) {
  load_all();
  const Tensor x = two_by_two();
  EXPECT_EQ(tn::make<Rows>()(x).size(), 3u);
  const auto [first, last] = tn::make<Ends>()(x);
  expect_near(last - first, {2, 2});
  expect_near(tn::make<First>()(x), {1, 2});
}

// As in PyTorch: a layer may be made there, and its parameters cannot be trained outside.
TEST(InferenceMode, LayersMadeThereServeThere) {
  load_all();
  tn::Object linear;
  {
    const tn::InferenceMode inference;
    linear = tn::nn::Linear(2, 1);
    EXPECT_TRUE(linear.parameters()[0].requires_grad());
    EXPECT_FALSE(linear(two_by_two()).requires_grad());
  }
  expect_error([&] { linear(two_by_two()); },
               "was made in inference mode and cannot be saved for a gradient; clone it");
  expect_error([&] { linear.parameters()[0].detach().requires_grad_(); },
               "was made in inference mode; clone it");
}

// What a user called, not the part of it that was recorded last.
TEST(GradFn, IsNamedAsTheOpThatWasCalled) {
  load_all();
  const Tensor x = two_by_two().requires_grad_();
  const auto name = [](const Tensor& y) { return tn::grad_fn(y).name(); };
  EXPECT_EQ(name(tn::linear(x, x, x[0])), "linear");
  EXPECT_EQ(name(tn::nn::Linear(2, 2)(x)), "linear");
  EXPECT_EQ(name(tn::add(x, x, 2)), "add");
  EXPECT_EQ(name(tn::clamp(x, x, x)), "clamp");
  EXPECT_EQ(name(tn::gelu(x)), "gelu");
  EXPECT_EQ(name(tn::gelu(x, "tanh")), "gelu");
  EXPECT_EQ(name(tn::dropout(x)), "dropout");
  EXPECT_EQ(name(tn::std(x)), "std");
  EXPECT_EQ(name(x.sum()), "sum");
  EXPECT_EQ(name(x.sum({0})), "sum");
  EXPECT_EQ(name(tn::mean(x)), "mean");
  EXPECT_EQ(name(tn::softmax(x, -1)), "softmax");
  EXPECT_EQ(name(tn::nn::BatchNorm1d(2)(x)), "batch_norm");
}

TEST(Errors, OfAnOverloadNameTheOpThatWasCalled) {
  load_all();
  const Tensor x = two_by_two(), leaf = two_by_two().requires_grad_();
  for (const Tensor& t : {x, leaf}) {
    expect_error([&] { tn::add(t, tn::ones({5}), 2); },
                 "add: shapes [2, 2] and [5] do not broadcast");
    try {
      tn::clamp_min(t, tn::ones({5}));
      ADD_FAILURE() << "no error";
    } catch (const tn::Error& e) {
      EXPECT_EQ(std::string(e.what()).find("clamp_min: "), 0u) << e.what();
    }
  }
  const std::string calls = tn::explain([&] { tn::add(x, x, 2); });
  EXPECT_NE(calls.find("\"call\":\"add\""), std::string::npos) << calls;
}

TEST(Print, OptionsOfLayersAreAsPythonWritesThem) {
  load_all();
  EXPECT_EQ(tn::nn::Conv2d(1, 2, {3, 5}).to_string(),
            "Conv2d(in_channels=1, out_channels=2, kernel_size=(3, 5), stride=1, padding=0, "
            "dilation=1, groups=1, bias=True, "
            "padding_mode='zeros')");
  EXPECT_EQ(tn::nn::MaxPool2d(2).to_string(),
            "MaxPool2d(kernel_size=2, stride=None, padding=0, dilation=1, return_indices=False, "
            "ceil_mode=False)");
}

}  // namespace
