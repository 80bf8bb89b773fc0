// Distances, losses of margins and sequences, images sampled and pooled: what they refuse, and
// gradients by differences. Their values are PyTorch's, in tests/data/torch_values_images.json.
#include "refusals.h"

namespace {

Tensor bools_on(tn::Device d) { return tn::ones({2}, tn::bool_, d); }

// What F.pairwise_distance and the losses give for these tensors of int64.
TEST(Distances, AndLossesOfWholeNumbersAreTorchs) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const tn::Dtype dtype : {tn::int64, tn::int32, tn::int8}) {
      const auto whole = [&](const std::vector<int64_t>& values) {
        return Tensor::from(values, {2, 3}).to(d, dtype);
      };
      const Tensor a = whole({3, 1, 2, 0, 1, 1}), b = whole({1, 1, 5, 1, 0, 2}),
                   c = whole({2, 0, 1, 1, 1, 0}), sides = whole({1, -1, 1, 1, 1, -1});
      const Tensor apart = tn::pairwise_distance(a, b);
      EXPECT_EQ(apart.dtype(), tn::float32);
      expect_near(apart, {3.605551, 1.7320502}, 1e-6);
      expect_near(tn::pairwise_distance(a, b, {.p = 0.5}), {9.9052734, 8.9999971}, 1e-5);
      expect_near(tn::pairwise_distance(a, b, {.eps = 0}), {3.6055512, 1.7320508}, 1e-6);
      expect_near(tn::triplet_margin_loss(a, b, c, {.reduction = "none"}), {2.8734984, 1.3178366},
                  1e-6);
      const Tensor ranked =
          tn::margin_ranking_loss(a, b, sides, {.margin = 0.5, .reduction = "none"});
      EXPECT_EQ(ranked.dtype(), tn::float32);
      expect_near(ranked, {0, 0.5, 3.5, 1.5, 0, 0});
      expect_near(tn::margin_ranking_loss(a, b, sides), {2.0 / 3}, 1e-6);
      expect_near(tn::poisson_nll_loss(a, b, {.full = true, .reduction = "none"}),
                  {17.0855370, 1.7182817, 2.1599035, 1, 2.7182817, 1.3700882}, 1e-5);
      expect_near(tn::poisson_nll_loss(a, b, {.log_input = false, .reduction = "none"}),
                  {1.9013877, 1, -1.4657359, 18.4206810, 1, 1}, 1e-5);
    }
  }
}

TEST(Distances, SayWhatTheyRefuse) {
  expect_refusals({
      {[](tn::Device d) {
         tn::cosine_similarity(zeros_on(d, {2, 3}), zeros_on(d, {2, 2}));
       },
       "cosine_similarity: x1 is [2, 3], x2 is [2, 2]; expected sizes that broadcast"},
      {[](tn::Device d) {
         tn::cdist(places_on(d, {2, 2}), places_on(d, {2, 2}));
       },
       "cdist: x1 is int64, x2 is int64; expected a floating dtype of one of them"},
      {[](tn::Device d) { tn::pairwise_distance(bools_on(d), bools_on(d)); },
       "pairwise_distance: x1 is bool, x2 is bool; expected numbers in one of them"},
      {[](tn::Device d) {
         tn::cdist(zeros_on(d, {2, 3}), zeros_on(d, {2, 2}));
       },
       "cdist: x1 is [2, 3], x2 is [2, 2]; expected [.., n, size] and [.., m, size]"},
      {[](tn::Device d) {
         tn::cdist(zeros_on(d, {2, 3}), zeros_on(d, {2, 3}), -1.0);
       },
       "cdist: p is -1, expected 0 or more"},
      {[](tn::Device d) {
         tn::cdist(zeros_on(d, {2, 3}), zeros_on(d, {2, 3}), 2.0, "mm");
       },
       "cdist: compute_mode is 'mm', expected use_mm_for_euclid_dist_if_necessary"},
      {[](tn::Device d) { tn::pdist(zeros_on(d, {2})); },
       "pdist: x is [2], expected 2 dimensions, [n, size]"},
      {[](tn::Device d) {
         tn::normalize(places_on(d, {2, 2}));
       },
       "normalize: x is int64, expected a floating dtype"},
      {[](tn::Device d) {
         tn::local_response_norm(zeros_on(d, {2, 2, 2}), 0);
       },
       "local_response_norm: x is [2, 2, 2] and size 0; expected [n, channels, ..], and size of at "
       "least 1"},
      {[](tn::Device d) {
         tn::bilinear(zeros_on(d, {2, 3}), zeros_on(d, {2, 2}), zeros_on(d, {1, 3, 3}));
       },
       "bilinear: x1 is [2, 3], x2 is [2, 2], weight is [1, 3, 3]; expected [.., m], [.., n], "
       "[out, m, n] and [out]"},
  });
}

TEST(Margins, SayWhatTheyRefuse) {
  expect_refusals({
      {[](tn::Device d) {
         tn::triplet_margin_loss(zeros_on(d, {2}), zeros_on(d, {2}), zeros_on(d, {2}),
                                 {.reduction = "most"});
       },
       "triplet_margin_loss: reduction is 'most', expected mean, sum or none"},
      {[](tn::Device d) {
         tn::triplet_margin_loss(zeros_on(d, {2}), zeros_on(d, {2}), zeros_on(d, {2}),
                                 {.margin = -1});
       },
       "triplet_margin_loss: margin is -1, expected a number above 0"},
      {[](tn::Device d) { tn::triplet_margin_loss(bools_on(d), bools_on(d), bools_on(d)); },
       "triplet_margin_loss: x1 is bool, x2 is bool; expected numbers in one of them"},
      {[](tn::Device d) { tn::margin_ranking_loss(bools_on(d), bools_on(d), zeros_on(d, {2})); },
       "margin_ranking_loss: input is bool, target is bool; expected numbers in one of them"},
      {[](tn::Device d) { tn::poisson_nll_loss(bools_on(d), bools_on(d)); },
       "poisson_nll_loss: input is bool, target is bool; expected numbers in one of them"},
      {[](tn::Device d) {
         tn::cosine_embedding_loss(zeros_on(d, {2, 3}), zeros_on(d, {2, 3}), zeros_on(d, {}));
       },
       "cosine_embedding_loss: inputs are [2, 3] and [2, 3], target is []; expected [n, size] and "
       "[n], or [size] and []"},
      {[](tn::Device d) {
         tn::multi_margin_loss(zeros_on(d, {2, 3}), places_on(d, {3}));
       },
       "multi_margin_loss: input is [2, 3] (float32), target is [3] (int64); expected floats [n, "
       "classes], and int64 [n]"},
      {[](tn::Device d) {
         tn::multi_margin_loss(zeros_on(d, {2, 3}), places_on(d, {2}), {.p = 3});
       },
       "multi_margin_loss: p is 3, expected 1 or 2"},
      {[](tn::Device d) {
         tn::multi_margin_loss(zeros_on(d, {2, 3}), places_on(d, {2}),
                               {.weight = zeros_on(d, {2})});
       },
       "multi_margin_loss: weight is [2], expected [3], a number a class"},
      {[](tn::Device d) {
         tn::multilabel_margin_loss(zeros_on(d, {2, 3}), places_on(d, {2}));
       },
       "multilabel_margin_loss: input is [2, 3] (float32), target is [2] (int64); expected floats "
       "[n, classes], and int64 [n, classes]"},
      {[](tn::Device d) {
         tn::gaussian_nll_loss(zeros_on(d, {2, 3}), zeros_on(d, {2, 3}), zeros_on(d, {3}));
       },
       "gaussian_nll_loss: var is [3], input is [2, 3]; expected the same sizes, or without the "
       "last one, or with 1 for one of them"},
      {[](tn::Device d) {
         tn::gaussian_nll_loss(zeros_on(d, {2}), zeros_on(d, {2}), zeros_on(d, {2}), {.eps = 0.0});
       },
       "gaussian_nll_loss: eps is 0, expected more than 0"},
      {[](tn::Device) {
         tn::gaussian_nll_loss(tn::zeros({2}), tn::zeros({2}), tn::full({2}, -1.0));
       },
       "gaussian_nll_loss: an element of var is negative, expected 0 or more"},
  });
}

// As programs for PyTorch have them, beside log_probs of another device.
TEST(Sequences, CtcLossTakesLengthsOnTheCpu) {
  const Tensor inputs = tn::tensor({int64_t{3}, int64_t{2}}),
               lengths = tn::tensor({int64_t{2}, int64_t{1}});
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = sample({3, 2, 4}, d).requires_grad_(),
                 targets = tn::ones({2, 2}, tn::int64, d), line = tn::ones({3}, tn::int64, d);
    const auto both = [&](const Tensor& labels, const Tensor& of_inputs, const Tensor& of_labels) {
      const Tensor loss = tn::ctc_loss(tn::log_softmax(x, -1), labels, of_inputs, of_labels);
      return tn::cat({loss.reshape({1}), tn::grad(loss, x).flatten()}, 0).to_vector<double>();
    };
    const auto expected = both(targets, inputs.to(d), lengths.to(d));
    EXPECT_EQ(both(targets, inputs, lengths), expected);
    EXPECT_EQ(both(line, inputs, lengths), expected);
    EXPECT_NE(
        message_of([&] { both(targets, inputs, lengths + 2); })
            .find("ctc_loss: sample 0 has input length 3 and target length 4; expected at most "
                  "3 and 2"),
        std::string::npos);
  }
}

TEST(Sequences, SayWhatTheyRefuse) {
  const Tensor inputs = tn::tensor({int64_t{3}, int64_t{9}}),
               lengths = tn::tensor({int64_t{1}, int64_t{1}});
  const Tensor targets = tn::ones({2, 2}, tn::int64), x = tn::zeros({3, 2, 4});
  EXPECT_NE(message_of([&] { tn::ctc_loss(x, targets, inputs, lengths); })
                .find("ctc_loss: sample 1 has input length 9 and target length 1; expected at most "
                      "3 and 2"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              tn::ctc_loss(x, targets, lengths, lengths, {.blank = 4});
            }).find("ctc_loss: blank is 4, expected a class from 0 to 3"),
            std::string::npos);
  EXPECT_NE(message_of([&] { tn::ctc_loss(x[0], targets, lengths, lengths); })
                .find("ctc_loss: log_probs is [2, 4], targets [2, 2], input_lengths [2], "
                      "target_lengths [2]; expected floats [t, n, classes]"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              tn::ctc_loss(x, targets[0], lengths, lengths + 1);
            }).find("ctc_loss: target_lengths add up to 4, targets has 2"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              tn::ctc_loss(x, targets[0], lengths, lengths - 2);
            }).find("ctc_loss: a target length is -1"),
            std::string::npos);
}

TEST(Images, SayWhatTheyRefuse) {
  expect_refusals({
      {[](tn::Device d) {
         tn::grid_sample(zeros_on(d, {1, 1, 2, 2}), zeros_on(d, {1, 2, 2, 3}));
       },
       "grid_sample: x is [1, 1, 2, 2] (float32), grid is [1, 2, 2, 3] (float32); expected floats"},
      {[](tn::Device d) {
         tn::grid_sample(zeros_on(d, {1, 1, 2, 2}), zeros_on(d, {1, 2, 2, 2}), {.mode = "cubic"});
       },
       "grid_sample: mode is 'cubic', expected bilinear, nearest or bicubic"},
      {[](tn::Device d) {
         tn::grid_sample(zeros_on(d, {1, 1, 2, 2}), zeros_on(d, {1, 2, 2, 2}),
                         {.padding_mode = "wrap"});
       },
       "grid_sample: padding_mode is 'wrap', expected zeros, border or reflection"},
      {[](tn::Device d) {
         tn::grid_sample(zeros_on(d, {1, 1, 0, 2}), zeros_on(d, {1, 2, 2, 2}));
       },
       "grid_sample: x is [1, 1, 0, 2], which has nothing to sample"},
      {[](tn::Device d) {
         tn::affine_grid(zeros_on(d, {1, 2, 3}), {2, 1, 2, 2});
       },
       "affine_grid: theta is [1, 2, 3] (float32), size is [2, 1, 2, 2]; expected floats [n, 2, "
       "3]"},
      {[](tn::Device d) {
         tn::interpolate(zeros_on(d, {1, 1, 2}), {.size = {3}, .mode = "bicubic"});
       },
       "interpolate: mode is 'bicubic' and x [1, 1, 2]; expected nearest, nearest-exact or area"},
      {[](tn::Device d) {
         tn::max_unpool2d(zeros_on(d, {1, 1, 2, 2}), places_on(d, {1, 1, 2}), 2);
       },
       "max_unpool2d: x is [1, 1, 2, 2], indices are [1, 1, 2]; expected the same sizes"},
      {[](tn::Device d) {
         tn::max_unpool2d(zeros_on(d, {1, 1, 2, 2}), places_on(d, {1, 1, 2, 2}), 2,
                          {.output_size = {4, 9}});
       },
       "max_unpool2d: dimension 3 of size 2 does not come from a plane of 9 by windows of [2, 2] "
       "with stride [2, 2] and padding [0, 0]"},
      {[](tn::Device d) {
         tn::max_unpool1d(zeros_on(d, {1, 1, 2}), places_on(d, {1, 1, 2}), 2,
                          {.output_size = {1, 2, 3, 4}});
       },
       "max_unpool1d: output_size is [1, 2, 3, 4], expected 1 sizes, or none"},
      {[](tn::Device d) {
         tn::fractional_max_pool2d(zeros_on(d, {1, 1, 4, 4}), 2);
       },
       "fractional_max_pool2d: either output_size or output_ratio is needed, and not both"},
      {[](tn::Device d) {
         tn::fractional_max_pool2d(zeros_on(d, {1, 1, 4, 4}), 2, {.output_size = {4}});
       },
       "fractional_max_pool2d: 4 windows of 2 do not fit into dimension 2 of size 4"},
      {[](tn::Device d) {
         tn::fractional_max_pool2d(zeros_on(d, {1, 1, 4, 4}), 2, {.output_ratio = {1.5}});
       },
       "fractional_max_pool2d: output_ratio is 1.5, expected more than 0 and less than 1"},
      {[](tn::Device d) {
         tn::fractional_max_pool2d(zeros_on(d, {1, 1, 4, 4}), 2,
                                   {.output_size = {2}, .random_samples = zeros_on(d, {1, 1, 3})});
       },
       "fractional_max_pool2d: random_samples is [1, 1, 3] (float32), expected floats [1, 1, 2]"},
  });
}

TEST(Images, DrawnWindowsAreTheSameAfterASeed) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = sample({2, 3, 9, 8}, d);
    tn::manual_seed(3);
    const Tensor a = tn::fractional_max_pool2d(x, 2, {.output_size = {5}});
    tn::manual_seed(3);
    const auto [b, at] = tn::fractional_max_pool2d_with_indices(x, 2, {.output_size = {5}});
    expect_near(a, b.to_vector<double>(), 0);
    expect_near(tn::gather(x.flatten(2), 2, at.flatten(2)), b.to_vector<double>(), 0);
  }
}

TEST(Sequences, HaveTheGradientsOfDifferences) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor targets = tn::tensor({int64_t{1}, int64_t{1}, int64_t{2}, int64_t{0}}, d)
                               .reshape({2, 2}),
                 inputs = tn::tensor({int64_t{4}, int64_t{2}}, d),
                 lengths = tn::tensor({int64_t{2}, int64_t{1}}, d);
    gradcheck(
        [&](const TensorList& in) {
          return tn::ctc_loss(tn::log_softmax(in[0]), targets, inputs, lengths);
        },
        {sample({4, 2, 3}, d)});
    gradcheck([](const TensorList& in) { return tn::cdist(in[0], in[1], 3.0); },
              {sample({2, 3}, d), sample({3, 3}, d, 1.0)});
    gradcheck(
        [](const TensorList& in) {
          return tn::grid_sample(in[0], in[1], {.padding_mode = "border"});
        },
        {sample({1, 2, 3, 3}, d), sample({1, 2, 2, 2}, d, 1.0) * 0.4});
    gradcheck([](const TensorList& in) { return tn::pdist(in[0], 3.0); }, {sample({4, 3}, d)});
    const Tensor classes = tn::tensor({2, 0}, d), labels = tn::tensor({{2, 0, -1}, {1, -1, 0}}, d);
    gradcheck([&](const TensorList& in) { return tn::multi_margin_loss(in[0], classes); },
              {sample({2, 3}, d)});
    gradcheck([&](const TensorList& in) { return tn::multilabel_margin_loss(in[0], labels); },
              {sample({2, 3}, d)});
    const Tensor samples2 = tn::full({1, 2, 2}, 0.3, tn::float64, d),
                 samples3 = tn::full({1, 2, 3}, 0.3, tn::float64, d);
    gradcheck(
        [&](const TensorList& in) {
          return tn::fractional_max_pool2d(in[0], 2,
                                           {.output_size = {3, 3}, .random_samples = samples2});
        },
        {sample({1, 2, 5, 5}, d)});
    gradcheck(
        [&](const TensorList& in) {
          return tn::fractional_max_pool3d(in[0], 2,
                                           {.output_size = {2, 2, 2}, .random_samples = samples3});
        },
        {sample({1, 2, 4, 4, 4}, d)});
  }
}

}  // namespace
