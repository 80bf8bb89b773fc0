// linear_cross_entropy: what cross_entropy of linear is, by blocks of rows.
#include "ops_rows.h"

namespace {

struct Case {
  std::vector<int64_t> outer, targets;
  tn::LinearCrossEntropyOptions options;
  bool bias;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {{5}, {0, 3, 1, 3, 2}, {}, false},
      {{5}, {0, 3, 1, 3, 2}, {.reduction = "sum", .label_smoothing = 0.3}, true},
      {{5}, {0, -7, 1, -7, 2}, {.ignore_index = -7, .label_smoothing = 0.1}, true},
      {{2, 3}, {0, 3, -100, 3, 2, 1}, {.reduction = "none"}, true},
      {{}, {2}, {}, true},
  };
  return list;
}

TEST(LinearCrossEntropy, IsCrossEntropyOfLinear) {
  for (tn::Device d : devices()) {
    for (const Case& c : cases()) {
      for (const int64_t chunk : {0, 1, 2, 100}) {
        SCOPED_TRACE(d.name() + " " + std::to_string(c.targets.size()) + " " +
                     std::to_string(chunk));
        std::vector<int64_t> sizes = c.outer;
        sizes.push_back(3);
        const auto rows = int64_t(c.targets.size());
        const Tensor target = Tensor::from(c.targets, {rows}, d);
        const OpUnderTest blocks = [&](const TensorList& in) {
          tn::LinearCrossEntropyOptions options = c.options;
          if (c.bias) options.linear_bias = in[2];
          options.chunk_size = chunk;
          return weigh(tn::linear_cross_entropy(in[0], in[1], target.reshape(c.outer), options));
        };
        const OpUnderTest whole = [&](const TensorList& in) {
          const Tensor logits =
              tn::linear(in[0].reshape({rows, 3}), in[1], c.bias ? in[2] : Tensor());
          return weigh(tn::cross_entropy(logits, target,
                                         {.ignore_index = c.options.ignore_index,
                                          .reduction = c.options.reduction,
                                          .label_smoothing = c.options.label_smoothing}));
        };
        const TensorList in = {sample(sizes, d), sample({4, 3}, d, 0.3), sample({4}, d, 0.7)};
        const TensorList a = leaves(in), b = leaves(in);
        const Tensor by_blocks = blocks(a), at_once = whole(b);
        expect_near(by_blocks, at_once.to_vector<double>(), 1e-12);
        by_blocks.backward();
        at_once.backward();
        for (size_t i = 0; i < (c.bias ? 3 : 2); ++i)
          expect_near(a[i].grad(), b[i].grad().to_vector<double>(), 1e-12);
        if (chunk == 2) gradcheck(blocks, in);
      }
    }
  }
}

TEST(LinearCrossEntropy, HasNeverMoreLogitsThanThoseOfABlock) {
  constexpr int64_t kRows = 512, kClasses = 1024, kBlock = 16;
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = sample({kRows, 4}, d).to(tn::float32).requires_grad_();
    const Tensor w = sample({kClasses, 4}, d).to(tn::float32).requires_grad_();
    const Tensor target = tn::arange(0, kRows, 1, tn::int64, d);
    const auto peak_of = [&](const std::function<Tensor()>& loss) {
      d.synchronize();
      d.reset_peak_memory_stats();
      const uint64_t before = d.memory_stats().allocated;
      loss().backward();
      d.synchronize();
      return int64_t(d.memory_stats().peak_allocated - before);
    };
    const int64_t logits = kRows * kClasses * 4;
    EXPECT_GE(peak_of([&] { return tn::cross_entropy(tn::linear(x, w), target); }), logits);
    EXPECT_LT(
        peak_of([&] { return tn::linear_cross_entropy(x, w, target, {.chunk_size = kBlock}); }),
        logits / 4);
  }
}

TEST(LinearCrossEntropy, TakesWeightsAndProbabilitiesAtOnce) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = sample({2, 2, 3}, d), w = sample({4, 3}, d, 0.3), rows = x.reshape({4, 3});
    const Tensor target = tn::tensor({0, 3, 1, 2}, d), weight = tn::abs(sample({4}, d, 0.5));
    expect_near(tn::linear_cross_entropy(x, w, target.reshape({2, 2}), {.weight = weight}),
                tn::cross_entropy(tn::linear(rows, w), target, weight).to_vector<double>());
    const Tensor p = tn::softmax(sample({2, 2, 4}, d, 0.9), -1);
    expect_near(tn::linear_cross_entropy(x, w, p, {.label_smoothing = 0.1}),
                tn::cross_entropy(tn::linear(rows, w), p.reshape({4, 4}), {.label_smoothing = 0.1})
                    .to_vector<double>());
    // Of nothing, as PyTorch: the sum is 0, the mean is NaN.
    const Tensor none = x.narrow(0, 0, 0), no_targets = tn::zeros({0, 2}, tn::int64, d);
    expect_near(tn::linear_cross_entropy(none, w, no_targets, {.reduction = "sum"}), {0});
    expect_near(tn::linear_cross_entropy(none, w, no_targets), {NAN});
    expect_sizes(tn::linear_cross_entropy(none, w, no_targets, {.reduction = "none"}), {0, 2});
  }
}

// The mean over none is NaN; its gradients are 0 in both orders, as PyTorch's.
TEST(LinearCrossEntropy, WhereAllAreIgnoredNothingHasASlope) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = sample({3, 4}, d).requires_grad_(), w = sample({5, 4}, d).requires_grad_();
    const Tensor target = tn::full({3}, -100, tn::int64, d);
    const TensorList first =
        tn::grad({tn::linear_cross_entropy(x, w, target)}, {x, w}, {.create_graph = true});
    expect_near(first[0], std::vector<double>(12, 0));
    const TensorList second =
        tn::grad({tn::square(first[0]).sum() + tn::square(first[1]).sum()}, {x, w});
    expect_near(second[0], std::vector<double>(12, 0));
    expect_near(second[1], std::vector<double>(20, 0));
  }
}

TEST(LinearCrossEntropy, UnderAutocastTheLossIsFloat32) {
  const Tensor x = tn::randn({6, 8}).requires_grad_(), w = tn::randn({5, 8}).requires_grad_();
  const Tensor target = tn::tensor({0, 4, 2, 1, 1, 3});
  Tensor by_blocks, at_once;
  {
    const tn::Autocast scope(tn::cpu, tn::bfloat16);
    by_blocks = tn::linear_cross_entropy(x, w, target, {.chunk_size = 4});
    at_once = tn::cross_entropy(tn::linear(x, w), target);
  }
  EXPECT_EQ(by_blocks.dtype(), tn::float32);
  expect_near(by_blocks, at_once.to_vector<double>(), 1e-6);
  by_blocks.backward();
  EXPECT_EQ(x.grad().dtype(), tn::float32);
  const Tensor half = tn::randn({6, 8}, tn::bfloat16);
  EXPECT_EQ(tn::linear_cross_entropy(half, w.detach().to(tn::bfloat16), target).dtype(),
            tn::float32);
}

// Values of PyTorch.
TEST(LinearCrossEntropy, OfSeveralPlacesOfClasses) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = float64_tensor({1, 2, -1, 0.5, -1, 2}, {2, 3}, d).requires_grad_();
    const Tensor w = (tn::arange(0, 12, 1, tn::float64, d).reshape({2, 2, 3}) / 5 - 1).detach();
    const Tensor b = float64_tensor({0.1, -0.2, 0.3, 0}, {2, 2}, d);
    const Tensor target = tn::tensor({{0, 1}, {-100, 1}}, d);
    const Tensor each =
        tn::linear_cross_entropy(x, w, target, {.linear_bias = b, .reduction = "none"});
    EXPECT_EQ(each.sizes(), (std::vector<int64_t>{2, 2}));
    expect_near(each, {2.6716446919676695, 0.07164469196766993, 0, 0.1269280110429724}, 1e-12);
    const Tensor loss = tn::linear_cross_entropy(x, w, target, {.linear_bias = b});
    expect_near(loss, {0.9567391316594372}, 1e-12);
    loss.backward();
    const double first = 0.34468926372532244, second = -0.047681168808847;
    expect_near(x.grad(), {first, first, first, second, second, second}, 1e-12);
    const Tensor p = float64_tensor({0.3, 0.6, 0.7, 0.4, 1, 0, 0, 1}, {2, 2, 2}, d);
    expect_near(tn::linear_cross_entropy(x, w, p, {.reduction = "none", .label_smoothing = 0.1}),
                {0.8548361521539496, 1.5028361521539495, 1.8629776105260745, 0.24297761052607408},
                1e-12);
    expect_near(tn::linear_cross_entropy(x, w, target, {.weight = float64_tensor({1, 2}, {2}, d)}),
                {0.5932927355027993}, 1e-12);
    expect_error([&] { tn::linear_cross_entropy(x[0], w, target); },
                 "linear_cross_entropy: input is [3], linear_weight is [2, 2, 3]; expected input "
                 "[n, in], linear_weight [classes, .., in], linear_bias [classes, ..]");
  }
}

TEST(LinearCrossEntropy, Errors) {
  const Tensor x = tn::zeros({2, 3}), w = tn::zeros({4, 3}), target = tn::tensor({0, 1});
  expect_error(
      [&] {
        tn::linear_cross_entropy(x, tn::zeros({4, 2}), target);
      },
      "linear_cross_entropy: input is [2, 3], linear_weight is [4, 2]; expected input [.., "
      "in], linear_weight [classes, in], linear_bias [classes]");
  expect_error([&] { tn::linear_cross_entropy(x, w, target, {.linear_bias = tn::zeros({3})}); },
               "linear_weight is [4, 3], linear_bias is [3]; expected");
  expect_error(
      [&] {
        tn::linear_cross_entropy(x, w, tn::tensor({0, 1, 2}));
      },
      "linear_cross_entropy: target is int64 [3], expected int64 classes [2], or a "
      "probability of each");
  expect_error([&] { tn::linear_cross_entropy(x, w, tn::zeros({2}, tn::int32)); },
               "target is int32 [2]");
  expect_error([&] { tn::linear_cross_entropy(x, w, target, {.chunk_size = -1}); },
               "linear_cross_entropy: chunk_size is -1, expected a number of rows, or 0");
  expect_error([&] { tn::linear_cross_entropy(x, w, target, {.label_smoothing = 2}); },
               "label_smoothing is 2, expected 0 to 1");
  expect_error([&] { tn::linear_cross_entropy(x, w, target, {.reduction = "avg"}); },
               "linear_cross_entropy: reduction is 'avg', expected mean, sum or none");
  expect_error(
      [&] {
        tn::linear_cross_entropy(x, w, tn::tensor({0, 4}), {.chunk_size = 1});
      },
      "index 4 (element 1 of index) is out of range for dimension 0 of size 4");
}

}  // namespace
