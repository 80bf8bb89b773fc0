// Attention.
#include "ops_rows.h"

namespace {

// [2, 3]
Tensor mask(const std::vector<int64_t>& values, const TensorList& in) {
  return Tensor::from(values, {2, 3}, in[0].device()).to(tn::bool_);
}

// Values: PyTorch 2.15, float64.
const Row kRows[] = {
    // clang-format off
    {"attention",
     [](const TensorList& in) { return tn::scaled_dot_product_attention(in[0], in[1], in[2]); },
     {{2, 3, 2}, {2, 4, 2}, {2, 4, 3}},
     {2, 3, 3},
     0.758072358076},
    {"attention without a batch, scale",
     [](const TensorList& in) { return tn::scaled_dot_product_attention(in[0], in[1], in[2], {.scale = 0.4}); },
     {{2, 2}, {3, 2}, {3, 2}},
     {2, 2},
     -0.0885353295224},
    {"attention causal",
     [](const TensorList& in) { return tn::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true}); },
     {{1, 2, 3, 2}, {1, 2, 4, 2}, {1, 2, 4, 1}},
     {1, 2, 3, 1},
     -0.150290783087},
    {"attention a mask of bool",
     [](const TensorList& in) { return tn::scaled_dot_product_attention(in[0], in[1], in[2], mask({1, 0, 1, 0, 1, 1}, in)); },
     {{2, 2, 2}, {2, 3, 2}, {2, 3, 2}},
     {2, 2, 2},
     0.128458513887},
    {"attention a mask of numbers",
     [](const TensorList& in) { return tn::scaled_dot_product_attention(in[0], in[1], in[2], in[3]); },
     {{2, 2, 2}, {2, 3, 2}, {2, 3, 2}, {2, 3}},
     {2, 2, 2},
     0.00323648350994},
    {"attention a query that looks at nothing",
     [](const TensorList& in) { return tn::scaled_dot_product_attention(in[0], in[1], in[2], mask({1, 0, 1, 0, 0, 0}, in)); },
     {{2, 2}, {3, 2}, {3, 2}},
     {2, 2},
     -0.248812185239},
    {"attention shared heads",
     [](const TensorList& in) { return tn::scaled_dot_product_attention(in[0], in[1], in[2], {.enable_gqa = true}); },
     {{1, 4, 2, 2}, {1, 2, 3, 2}, {1, 2, 3, 2}},
     {1, 4, 2, 2},
     1.01173329844},
    {"attention shared heads, mask a head",
     [](const TensorList& in) { return tn::scaled_dot_product_attention(in[0], in[1], in[2], in[3], {.enable_gqa = true}); },
     {{4, 2, 2}, {2, 3, 2}, {2, 3, 2}, {4, 2, 3}},
     {4, 2, 2},
     0.986315400409},
    {"rotary_embedding",
     [](const TensorList& in) { return tn::rotary_embedding(in[0], in[1], in[2]); },
     {{2, 2, 4}, {2, 2}, {2, 2}},
     {2, 2, 4},
     0.71019886483},
    {"rotary_embedding interleaved, of a part",
     [](const TensorList& in) { return tn::rotary_embedding(in[0], in[1], in[2], true); },
     {{2, 2, 5}, {2, 2}, {2, 2}},
     {2, 2, 5},
     2.61389093455},
    // clang-format on
};

TEST(Attention, ValuesAndGradients) { check_rows(kRows); }

// Heads as a network has them: [n, t, heads, e] seen as [n, heads, t, e]. A kernel's gradients lie
// as these tensors do, and each must be at its own place.
TEST(Attention, GradientsOfPermutedHeads) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (bool causal : {false, true}) {
      auto gradients = [&](bool permuted) {
        TensorList in{sample({2, 70, 4, 3}, d, 0), sample({2, 60, 2, 3}, d, 1),
                      sample({2, 60, 2, 5}, d, 2)};
        for (Tensor& t : in) {
          t = t.to(tn::float32).permute({0, 2, 1, 3});
          t = (permuted ? t : t.contiguous()).detach().requires_grad_();
          EXPECT_EQ(t.is_contiguous(), !permuted);
        }
        Tensor y = tn::scaled_dot_product_attention(in[0], in[1], in[2],
                                                    {.is_causal = causal, .enable_gqa = true});
        (y * sample({2, 4, 70, 5}, d, 3).to(tn::float32)).sum().backward();
        return TensorList{in[0].grad(), in[1].grad(), in[2].grad()};
      };
      TensorList expected = gradients(false), found = gradients(true);
      for (size_t i = 0; i < expected.size(); ++i) {
        SCOPED_TRACE(i);
        expect_near(found[i], expected[i].to_vector<double>(), 1e-5);
      }
    }
  }
}

TEST(Attention, DropsWeights) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(5);
    // Each weight is 1 / 100; value 1, so the output counts the kept ones.
    Tensor zero = tn::zeros({20, 100, 2}, {}, d), ones = tn::ones({20, 100, 1}, {}, d);
    Tensor y = tn::scaled_dot_product_attention(zero, zero, ones, {.dropout_p = 0.25});
    double mean = y.mean().item<double>(), var = (y - mean).square().mean().item<double>();
    // Kept ones of 100: binomial. Allowed are five standard errors.
    EXPECT_NEAR(mean, 1, 5 * std::sqrt(0.25 / 0.75 / 2e5));
    EXPECT_NEAR(var, 0.25 / 0.75 / 100, 5 * 0.25 / 0.75 / 100 * std::sqrt(2 / 2e3));
  }
}

// PyTorch 2.15's values, of float32.
TEST(Attention, AMaskOfAnotherFloatDtypeIsConverted) {
  load_all();
  const std::vector<double> expected = {0.9359071850776672, 0.41743582487106323,
                                        0.4378235340118408, 1.0,
                                        0.8822147250175476, 0.12967844307422638};
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({{{1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}}}).to(d);
    const Tensor mask =
        tn::tensor({{0.5, -1.0, 0.0}, {-INFINITY, 0.25, 0.0}, {2.0, 0.0, -3.0}}).to(d);
    for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::bfloat16, tn::float16}) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      const Tensor query = x.to(dtype);
      const double tolerance = dtype == tn::bfloat16 ? 8e-3 : dtype == tn::float16 ? 1e-3 : 1e-6;
      for (const tn::Dtype of_mask : {tn::float32, tn::float64}) {
        const Tensor y = tn::scaled_dot_product_attention(query, query, query, mask.to(of_mask));
        EXPECT_EQ(y.dtype(), dtype);
        expect_near(y.to(tn::float64), expected, tolerance);
      }
    }
    // The least number of float32 is a number in halves, too: equal ones leave the scores as they are.
    const Tensor half = x.to(tn::bfloat16), least = tn::full({3, 3}, -3.4e38, {}, d);
    expect_near(tn::scaled_dot_product_attention(half, half, half, least).to(tn::float64),
                {2 / 3., 2 / 3., 2 / 3., 2 / 3., 2 / 3., 2 / 3.}, 8e-3);
  }
}

TEST(Attention, HeadsOfKeyAndValueEachDivideThoseOfQuery) {
  load_all();
  const Tensor q = tn::ones({1, 8, 3, 4}), three = tn::ones({1, 3, 3, 4}),
               two = tn::ones({1, 2, 3, 4}), four = tn::ones({1, 4, 3, 4});
  expect_sizes(tn::scaled_dot_product_attention(q, four, two, {.enable_gqa = true}), {1, 8, 3, 4});
  for (const auto& [key, value] : {std::pair(three, two), std::pair(two, three)}) {
    expect_error(
        [&, &key = key, &value = value] {
          tn::scaled_dot_product_attention(q, key, value, {.enable_gqa = true});
        },
        "query's heads, dimension -3, a multiple of those of key and value");
  }
}

TEST(Attention, Errors) {
  Tensor q = tn::zeros({2, 3, 4}), k = tn::zeros({2, 5, 4});
  auto attend = [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {},
                   double p = 0, bool causal = false, bool gqa = false) {
    return tn::scaled_dot_product_attention(
        q, k, v, mask, {.dropout_p = p, .is_causal = causal, .enable_gqa = gqa});
  };
  expect_error(
      [&] {
        attend(q, tn::zeros({2, 5, 3}), k);
      },
      "scaled_dot_product_attention: query is [2, 3, 4] (float32), key is [2, 5, 3] "
      "(float32), value is [2, 5, 4] (float32); expected query [.., n, e], key [.., m, e], "
      "value [.., m, v] of one floating dtype");
  expect_error([&] { attend(q, k, k.to(tn::float64)); }, "of one floating dtype");
  expect_error(
      [&] {
        attend(q, k, k, tn::zeros({3, 5}), 0, true);
      },
      "attn_mask is given and is_causal is set, expected one");
  expect_error(
      [&] {
        attend(q, k, k, tn::zeros({3, 5}, tn::int64));
      },
      "attn_mask is int64, expected bool or query's float32");
  // With one query too, where as many rows as the mask has would come out.
  for (const Tensor& query : {q, q.narrow(1, 0, 1)}) {
    expect_error(
        [&] {
          attend(query, k, k, tn::zeros({4, 5}));
        },
        "scaled_dot_product_attention: attn_mask is [4, 5], expected it to broadcast to [.., " +
            std::to_string(query.size(1)) + ", 5]");
  }
  expect_error([&] { attend(q, k, k, tn::zeros({4})); },
               "attn_mask is [4], expected it to broadcast to [.., 3, 5]");
  expect_error([&] { attend(q, k, k, {}, 1.5); }, "dropout_p is 1.5, expected 0 to 1");
  expect_error(
      [&] {
        attend(tn::zeros({3, 3, 4}), k, k, {}, 0, false, true);
      },
      "query's heads, dimension -3, a multiple of those of key and value");
  expect_error(
      [&] {
        tn::rotary_embedding(q, tn::zeros({3, 3}), tn::zeros({3, 3}));
      },
      "rotary_embedding: x is [2, 3, 4] (float32), cos is [3, 3], sin is [3, 3]; expected");
}

}  // namespace
