// Losses.
#include "ops_rows.h"

namespace {

TEST(CrossEntropy, IsTheMeanOfLogSoftmaxAtTheTarget) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({{1.f, 2.f, 3.f}, {0.f, 0.f, 0.f}}, d);
    Tensor target = tn::tensor({int64_t(0), int64_t(2)}, d);
    double z = std::exp(-2) + std::exp(-1) + 1;
    double loss = ((2 + std::log(z)) + std::log(3)) / 2;
    expect_near(tn::cross_entropy(x, target), {loss});
    expect_near(tn::nll_loss(tn::log_softmax(x), target), {loss});
    expect_sizes(tn::cross_entropy(x, target), {});
    // d/dx: (softmax - one_hot) / n
    Tensor leaf = x.clone().requires_grad_();
    tn::cross_entropy(leaf, target).backward();
    expect_near(leaf.grad(), {(std::exp(-2) / z - 1) / 2, std::exp(-1) / z / 2, 1 / z / 2, 1.0 / 6,
                              1.0 / 6, -1.0 / 3});
    // A loss that is 90 and more stays right.
    expect_near(tn::cross_entropy(tn::tensor({{100.f, 0.f}}, d), tn::tensor({int64_t(1)}, d)),
                {100});
  }
}

TEST(CrossEntropy, Errors) {
  Tensor x = tn::zeros({2, 3});
  expect_error([&] { tn::cross_entropy(x, tn::zeros({2})); }, "float32");
  expect_error([&] { tn::cross_entropy(x, tn::zeros({3}, tn::int64)); }, "target is [3]");
  expect_error([&] { tn::cross_entropy(x, tn::tensor({int64_t(0), int64_t(3)})); }, "3");
}

TEST(SoftMarginLoss, IsTheLogarithmOfTheLogisticCurve) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({0.f, 2.f, -3.f, 1000.f}, d),
           target = tn::tensor({1.f, -1.f, -1.f, -1.f}, d);
    const std::vector<double> each = {std::log(2), std::log1p(std::exp(2)),
                                      std::log1p(std::exp(-3)), 1000};
    expect_near(tn::soft_margin_loss(x, target, "none"), each);
    expect_near(tn::soft_margin_loss(x, target, "sum"), {each[0] + each[1] + each[2] + each[3]});
    expect_near(tn::soft_margin_loss(x, target), {(each[0] + each[1] + each[2] + each[3]) / 4});
  }
  Tensor x = tn::zeros({2});
  expect_error([&] { tn::soft_margin_loss(x, x, "avg"); },
               "soft_margin_loss: reduction is 'avg', expected mean, sum or none");
}

Tensor classes(const std::vector<int64_t>& values, std::vector<int64_t> sizes,
               const TensorList& in) {
  Tensor t = Tensor::from(values, {int64_t(values.size())}, in[0].device());
  return t.reshape(sizes);
}

Tensor constant(std::vector<int64_t> sizes, const TensorList& in, double shift = 0) {
  return sample(sizes, in[0].device(), shift).to(in[0].dtype());
}

// Values: PyTorch 2.15, float64.
const Row kRows[] = {
    // clang-format off
    {"mse_loss",
     [](const TensorList& in) { return tn::mse_loss(in[0], in[1]); },
     {{2, 3}, {2, 3}},
     {},
     0.372431552629},
    {"mse_loss none, broadcast",
     [](const TensorList& in) { return tn::mse_loss(in[0], in[1], "none"); },
     {{2, 3}, {3}},
     {2, 3},
     1.00334989267},
    {"l1_loss sum",
     [](const TensorList& in) { return tn::l1_loss(in[0], in[1], "sum"); },
     {{2, 3}, {2, 3}},
     {},
     2.72935964181},
    {"smooth_l1_loss",
     [](const TensorList& in) { return tn::smooth_l1_loss(in[0], in[1], "mean", 0.7); },
     {{2, 3}, {2, 3}},
     {},
     0.250513676552},
    {"smooth_l1_loss without a square",
     [](const TensorList& in) { return tn::smooth_l1_loss(in[0], in[1], "mean", 0); },
     {{2, 3}, {2, 3}},
     {},
     0.454893273635},
    {"smooth_l1_loss at equal ones",
     [](const TensorList& in) { return tn::smooth_l1_loss(in[0], constant({2, 3}, in), "none"); },
     {{2, 3}},
     {2, 3},
     0},
    {"huber_loss",
     [](const TensorList& in) { return tn::huber_loss(in[0], in[1], "none", 0.6); },
     {{2, 3}, {2, 3}},
     {2, 3},
     0.142659728464},
    {"huber_loss at equal ones",
     [](const TensorList& in) { return tn::huber_loss(in[0], constant({2, 3}, in)); },
     {{2, 3}},
     {},
     0},
    {"binary_cross_entropy",
     [](const TensorList& in) { return tn::binary_cross_entropy(in[0].sigmoid(), in[1].sigmoid()); },
     {{2, 3}, {2, 3}},
     {},
     0.540021930481},
    {"binary_cross_entropy weight",
     [](const TensorList& in) { return tn::binary_cross_entropy(in[0].sigmoid(), in[1].sigmoid(), in[2], "none"); },
     {{2, 3}, {2, 3}, {3}},
     {2, 3},
     -0.648449065306},
    {"binary_cross_entropy_with_logits",
     [](const TensorList& in) { return tn::binary_cross_entropy_with_logits(in[0], in[1]); },
     {{2, 3}, {2, 3}},
     {},
     0.466886757785},
    {"binary_cross_entropy_with_logits weights",
     [](const TensorList& in) { return tn::binary_cross_entropy_with_logits(in[0], in[1], in[2], {.reduction = "sum", .pos_weight = in[3]}); },
     {{2, 3}, {2, 3}, {2, 1}, {3}},
     {},
     -0.384043285889},
    {"binary_cross_entropy_with_logits at 0",
     [](const TensorList& in) { return tn::binary_cross_entropy_with_logits(in[0] - constant({2, 2}, in), constant({2, 2}, in, 0.3), {.pos_weight = in[1]}); },
     {{2, 2}, {2}},
     {},
     0.505867008393},
    {"kl_div",
     [](const TensorList& in) { return tn::kl_div(in[0], in[1].sigmoid()); },
     {{2, 3}, {2, 3}},
     {},
     -0.368463819738},
    {"kl_div of logarithms, batchmean",
     [](const TensorList& in) { return tn::kl_div(in[0], in[1], "batchmean", true); },
     {{2, 3}, {2, 3}},
     {},
     0.452795883268},
    {"nll_loss",
     [](const TensorList& in) { return tn::nll_loss(in[0], classes({0, 2, 1}, {3}, in)); },
     {{3, 3}},
     {},
     -0.213435416961},
    {"nll_loss of a sample",
     [](const TensorList& in) { return tn::nll_loss(in[0], classes({2}, {}, in)); },
     {{3}},
     {},
     0.592823759848},
    {"nll_loss weight",
     [](const TensorList& in) { return tn::nll_loss(in[0], classes({0, 2, 1}, {3}, in), in[1]); },
     {{3, 3}, {3}},
     {},
     1.79864758551},
    {"nll_loss weight, ignore_index, sum",
     [](const TensorList& in) { return tn::nll_loss(in[0], classes({0, 2, 1}, {3}, in), in[1], {.ignore_index = 2, .reduction = "sum"}); },
     {{3, 3}, {3}},
     {},
     -0.450306209727},
    {"nll_loss of places",
     [](const TensorList& in) { return tn::nll_loss(in[0], classes({1, 0, -100, 2}, {2, 2}, in)); },
     {{2, 3, 2}},
     {},
     -0.1107802006},
    {"nll_loss none",
     [](const TensorList& in) { return tn::nll_loss(in[0], classes({1, 0, -100, 2}, {2, 2}, in), in[1], {.reduction = "none"}); },
     {{2, 3, 2}, {3}},
     {2, 2},
     -0.594414599473},
    {"cross_entropy",
     [](const TensorList& in) { return tn::cross_entropy(in[0], classes({0, 2, 1}, {3}, in)); },
     {{3, 3}},
     {},
     0.920496792144},
    {"cross_entropy of a sample",
     [](const TensorList& in) { return tn::cross_entropy(in[0], classes({2}, {}, in)); },
     {{3}},
     {},
     1.7419107707},
    {"cross_entropy weight",
     [](const TensorList& in) { return tn::cross_entropy(in[0], classes({0, 2, 1}, {3}, in), in[1]); },
     {{3, 3}, {3}},
     {},
     2.9759197497},
    {"cross_entropy ignore_index",
     [](const TensorList& in) { return tn::cross_entropy(in[0], classes({0, 2, 1}, {3}, in), {.ignore_index = 2}); },
     {{3, 3}},
     {},
     0.924645357322},
    {"cross_entropy sum",
     [](const TensorList& in) { return tn::cross_entropy(in[0], classes({0, 2, 1}, {3}, in), {.reduction = "sum"}); },
     {{3, 3}},
     {},
     2.76149037643},
    {"cross_entropy label_smoothing",
     [](const TensorList& in) { return tn::cross_entropy(in[0], classes({0, 2, 1}, {3}, in), {.label_smoothing = 0.2}); },
     {{3, 3}},
     {},
     0.942792402882},
    {"cross_entropy all at once",
     [](const TensorList& in) { return tn::cross_entropy(in[0], classes({1, 0, -100, 2}, {2, 2}, in), in[1], {.label_smoothing = 0.3}); },
     {{2, 3, 2}, {3}},
     {},
     2.30165412329},
    {"cross_entropy all at once, none",
     [](const TensorList& in) { return tn::cross_entropy(in[0], classes({1, 0, 1, 2}, {2, 2}, in), in[1], {.ignore_index = 0, .reduction = "none", .label_smoothing = 0.3}); },
     {{2, 3, 2}, {3}},
     {2, 2},
     -0.0477966736292},
    {"cross_entropy of probabilities",
     [](const TensorList& in) { return tn::cross_entropy(in[0], in[1]); },
     {{2, 3}, {2, 3}},
     {},
     -0.29324412638},
    {"cross_entropy of probabilities, weight and smoothing",
     [](const TensorList& in) { return tn::cross_entropy(in[0], in[1], in[2], {.label_smoothing = 0.1}); },
     {{2, 3, 2}, {2, 3, 2}, {3}},
     {},
     0.417946771276},
    // clang-format on
};

TEST(Loss, ValuesAndGradients) { check_rows(kRows); }

TEST(Loss, OfMarginsTakesANumberAsOneClass) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor(2.0, d), of_it = tn::tensor(0, d);
    EXPECT_EQ(tn::multi_margin_loss(x, of_it).item<float>(), 0);
    EXPECT_EQ(tn::multilabel_margin_loss(x, of_it, "none").item<float>(), 0);
    EXPECT_EQ(tn::multi_margin_loss(x, of_it, {.reduction = "none"}).dim(), 0);
  }
}

TEST(Loss, EdgesAreAsInPyTorch) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({0.f, 1.f, 1.f, 0.f}, d).requires_grad_();
    Tensor y = tn::tensor({0.f, 1.f, 0.f, 1.f}, d);
    // torch: logarithms end at -100, the gradient's divisor at 1e-12.
    Tensor loss = tn::binary_cross_entropy(x, y, {}, "none");
    expect_near(loss, {0, 0, 100, 100});
    loss.sum().backward();
    expect_near(x.grad(), {0, 0, 1e12, -1e12});
    // Large logits neither overflow nor lose their gradient.
    Tensor z = tn::tensor({-1000.f, 1000.f, 0.f, INFINITY}, d).requires_grad_();
    loss = tn::binary_cross_entropy_with_logits(z, tn::tensor({1.f, 0.f, 1.f, 1.f}, d),
                                                {.reduction = "none"});
    expect_near(loss, {1000, 1000, std::log(2), NAN});
    loss.sum().backward();
    expect_near(z.grad(), {-1, 1, -0.5, 0});
    // A small gradient is no difference of large ones: sigmoid(-20) and half of it.
    z = tn::tensor({-20.f, 20.f, -20.f, 40.f}, d).requires_grad_();
    tn::binary_cross_entropy_with_logits(
        z, tn::tensor({0.f, 1.f, 0.f, 1.f}, d), tn::tensor({1.f, 1.f, 0.5f, 1.f}, d),
        {.reduction = "sum", .pos_weight = tn::tensor({3.f, 2.f, 3.f, 1.f}, d)})
        .backward();
    const double small = 1 / (1 + std::exp(20.0)), smaller = 1 / (1 + std::exp(40.0));
    expect_near(z.grad() * 1e9, {small * 1e9, -2e9 * small, 0.5e9 * small, -1e9 * smaller});
    // 0 log 0 is 0.
    expect_near(tn::kl_div(tn::tensor({-1.f, -2.f}, d), tn::tensor({0.f, 1.f}, d), "none"), {0, 2});
    // What is ignored may be NaN; where all is, the mean is of nothing.
    Tensor logits = tn::tensor({{NAN, NAN}, {0.f, 0.f}}, d).requires_grad_();
    int64_t ignored = -100;
    loss = tn::nll_loss(logits, tn::tensor({ignored, int64_t(1)}, d));
    expect_near(loss, {0});
    loss.backward();
    expect_near(logits.grad(), {0, 0, 0, -1});
    logits = tn::tensor({{5.f, 7.f}, {0.f, 0.f}}, d).requires_grad_();
    loss = tn::cross_entropy(logits, tn::tensor({ignored, int64_t(1)}, d));
    expect_near(loss, {std::log(2)});
    loss.backward();
    expect_near(logits.grad(), {0, 0, 0.5, -0.5});
    expect_near(tn::cross_entropy(logits, tn::tensor({ignored, ignored}, d)), {NAN});
    // A long batch of halves: its sum is beyond float16, its mean is not.
    Tensor halves = tn::full({70000, 2}, 3.0, tn::float16, d);
    loss = tn::nll_loss(halves, tn::zeros({70000}, tn::int64, d));
    EXPECT_EQ(loss.dtype(), tn::float16);
    expect_near(loss, {-3});
  }
}

TEST(Loss, Errors) {
  Tensor x = tn::full({2, 3}, 0.5), classes = tn::zeros({2}, tn::int64);
  expect_error([&] { tn::mse_loss(x, x, "average"); },
               "mse_loss: reduction is 'average', expected mean, sum or none");
  expect_error([&] { tn::l1_loss(x, x, "batchmean"); }, "l1_loss: reduction is 'batchmean'");
  Tensor other = tn::zeros({2});
  auto refused = [&](const char* op, auto f) {
    expect_error(
        [&] { f(); },
        std::string(op) + ": input is [2, 3], target is [2]; expected sizes that broadcast");
  };
  refused("mse_loss", [&] { tn::mse_loss(x, other); });
  refused("l1_loss", [&] { tn::l1_loss(x, other); });
  refused("smooth_l1_loss", [&] { tn::smooth_l1_loss(x, other); });
  refused("huber_loss", [&] { tn::huber_loss(x, other); });
  refused("soft_margin_loss", [&] { tn::soft_margin_loss(x, other); });
  refused("kl_div", [&] { tn::kl_div(x, other); });
  for (tn::Dtype dtype : {tn::int8, tn::int64, tn::bool_}) {
    const Tensor whole = tn::ones({2, 3}).to(dtype);
    const auto no_fractions = [&](const char* op, auto f) {
      expect_error([&] { f(whole, whole); }, std::string(op) + ": input is " + dtype.name() +
                                                 ", target is " + dtype.name() +
                                                 "; expected a floating dtype of one of them");
    };
    no_fractions("mse_loss", [](auto& a, auto& b) { tn::mse_loss(a, b); });
    no_fractions("mse_loss", [](auto& a, auto& b) { tn::mse_loss(a, b, "none"); });
    no_fractions("l1_loss", [](auto& a, auto& b) { tn::l1_loss(a, b); });
    no_fractions("smooth_l1_loss", [](auto& a, auto& b) { tn::smooth_l1_loss(a, b); });
    no_fractions("huber_loss", [](auto& a, auto& b) { tn::huber_loss(a, b); });
    no_fractions("soft_margin_loss", [](auto& a, auto& b) { tn::soft_margin_loss(a, b); });
    no_fractions("binary_cross_entropy", [](auto& a, auto& b) { tn::binary_cross_entropy(a, b); });
    no_fractions("binary_cross_entropy_with_logits",
                 [](auto& a, auto& b) { tn::binary_cross_entropy_with_logits(a, b); });
    no_fractions("kl_div", [](auto& a, auto& b) { tn::kl_div(a, b, "sum"); });
    expect_near(tn::mse_loss(whole, x), {0.25});
    expect_near(tn::mse_loss(x, whole), {0.25});
  }
  // As PyTorch, whose absolute differences of integers stay integers.
  const Tensor sevens = tn::full({2, 3}, 7, tn::int64);
  expect_near(tn::l1_loss(sevens, sevens - 2, "sum"), {12}, 0);
  EXPECT_EQ(tn::l1_loss(sevens, sevens - 2, "none").dtype(), tn::int64);
  expect_error([&] { tn::smooth_l1_loss(x, x, "mean", -1); },
               "smooth_l1_loss: beta is -1, expected 0 or more");
  expect_error([&] { tn::huber_loss(x, x, "mean", 0); },
               "huber_loss: delta is 0, expected more than 0");
  expect_error([&] { tn::binary_cross_entropy(x, tn::zeros({3})); },
               "binary_cross_entropy: input is [2, 3], target is [3]; expected the same sizes");
  expect_error([&] { tn::binary_cross_entropy(x * 3, x); },
               "binary_cross_entropy: an element of input is not within 0 to 1");
  expect_error([&] { tn::binary_cross_entropy_with_logits(x, tn::zeros({3})); },
               "binary_cross_entropy_with_logits: input is [2, 3], target is [3]");
  expect_error([&] { tn::cross_entropy(x, classes, tn::ones({2})); },
               "cross_entropy: weight is [2], expected [3], a number a class");
  expect_error([&] { tn::cross_entropy(x, classes, {.label_smoothing = 1.5}); },
               "cross_entropy: label_smoothing is 1.5, expected 0 to 1");
  expect_error(
      [&] {
        tn::cross_entropy(x, tn::zeros({2, 2}));
      },
      "or a target of probabilities, as input");
  expect_error(
      [&] { tn::nll_loss(x, x); },
      "nll_loss: input is [2, 3] on cpu, target is [2, 3] (float32) on cpu; expected input "
      "[n, classes], target [n] int64 or uint8, on one device");
  expect_error([&] { tn::nll_loss(x, classes, tn::ones({4})); }, "nll_loss: weight is [4]");
  expect_error([&] { tn::nll_loss(x, tn::full({2}, int64_t(3))); }, "3");
}

// As PyTorch's warning: [n, 1] and [n] broadcast to [n, n]. Once for each pair of sizes.
TEST(Loss, OtherSizesOfTheTargetAreWarnedOfOnce) {
  const auto log_of = [](auto f) {
    testing::internal::CaptureStderr();
    f();
    return testing::internal::GetCapturedStderr();
  };
  const Tensor column = tn::ones({7, 1}), row = tn::zeros({7});
  const auto warns = [&](const char* op, auto f) {
    const std::string log = log_of([&] { f(column, row); });
    EXPECT_NE(log.find(std::string(op) + ": target is [7], input is [7, 1]: they are broadcast, "
                                         "which is likely to give a wrong result; expected the "
                                         "same sizes"),
              std::string::npos)
        << log;
    EXPECT_EQ(log_of([&] { f(column, row); }), "") << op << ": once";
    EXPECT_EQ(log_of([&] { f(row, row); }), "") << op << ": the same sizes";
    EXPECT_NE(log_of([&] {
                const Tensor five = tn::ones({5, 1}), flat = tn::ones({5});
                f(five, flat);
              }),
              "")
        << op << ": other sizes";
  };
  warns("mse_loss", [](auto& a, auto& b) { tn::mse_loss(a, b); });
  warns("l1_loss", [](auto& a, auto& b) { tn::l1_loss(a, b); });
  warns("smooth_l1_loss", [](auto& a, auto& b) { tn::smooth_l1_loss(a, b); });
  warns("huber_loss", [](auto& a, auto& b) { tn::huber_loss(a, b); });
}

TEST(Loss, ClassesMayBeBytes) {
  for (tn::Device d : devices()) {
    const Tensor x = sample({3, 4}, d), target = tn::tensor({2, 0, 3}, d).to(tn::int64),
                 bytes = target.to(tn::uint8);
    expect_near(tn::cross_entropy(x, bytes), tn::cross_entropy(x, target).to_vector<double>(), 0);
    expect_near(tn::nll_loss(x, bytes), tn::nll_loss(x, target).to_vector<double>(), 0);
    expect_error([&] { tn::cross_entropy(x, target.to(tn::int32)); }, "target is [3] (int32)");
  }
}

// The slope of the part that is taken, and not infinity times that of the other.
TEST(Losses, AnInfiniteDifferenceHasItsSlope) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor target = float64_tensor({-INFINITY, 1, 0.5}, {3}, d);
    Tensor x = float64_tensor({-4, 1, 0.75}, {3}, d).requires_grad_();
    expect_near(tn::grad(tn::smooth_l1_loss(x, target, "sum"), x), {1, 0, 0.25}, 1e-15);
    expect_near(tn::grad(tn::smooth_l1_loss(target, x, "sum"), x), {1, 0, 0.25}, 1e-15);
    expect_near(tn::grad(tn::huber_loss(x, target, "sum", 2.0), x), {2, 0, 0.25}, 1e-15);
    Tensor unknown = float64_tensor({NAN, 1, 3}, {3}, d).requires_grad_();
    for (const Tensor& loss : {tn::smooth_l1_loss(unknown, tn::zeros_like(unknown), "sum"),
                               tn::huber_loss(unknown, tn::zeros_like(unknown), "sum")}) {
      const auto g = Tensor(tn::grad(loss, unknown)).to_vector<double>();
      EXPECT_TRUE(std::isnan(g[0]));
      EXPECT_EQ(g[2], 1);
    }
    // Finite elements beside an infinite one have none in a norm, as PyTorch's.
    for (const double p : {1.5, 3.0}) {
      Tensor y = float64_tensor({1, -2, INFINITY}, {3}, d).requires_grad_();
      const auto g = Tensor(tn::grad(y.norm(p), y)).to_vector<double>();
      EXPECT_EQ(g[0], 0);
      EXPECT_EQ(g[1], 0);
      EXPECT_TRUE(std::isnan(g[2]));
    }
  }
}

// PyTorch 2.15's: what is predicted for certain, and rightly, has no curvature.
TEST(Losses, CertainProbabilitiesHaveNoCurvature) {
  const Tensor p = tn::tensor({1.0, 0.5, 0.0}, tn::float64).requires_grad_(),
               target = tn::tensor({1.0, 0.0, 0.0}, tn::float64);
  const Tensor loss = tn::binary_cross_entropy(p, target, tn::none, "sum");
  const Tensor slope = tn::grad(loss, p, {.create_graph = true});
  expect_near(slope, {0, 2, 0});
  expect_near(tn::grad(slope.sum(), p), {0, 4, 0});
}
TEST(Losses, AnInfiniteCtcLossHasNoGradient) {
  for (const bool zero_infinity : {false, true}) {
    const Tensor x = tn::log_softmax(tn::zeros({2, 1, 3}), -1).detach().requires_grad_();
    const Tensor loss = tn::ctc_loss(x, tn::tensor({{1, 1}}), tn::tensor({2}), tn::tensor({2}),
                                     {.reduction = "sum", .zero_infinity = zero_infinity});
    loss.backward();
    EXPECT_EQ(tn::isnan(x.grad()).any().item<bool>(), !zero_infinity);
    if (zero_infinity) expect_near(x.grad(), {0, 0, 0, 0, 0, 0}, 0);
  }
}

}  // namespace
