// Attention of `cuda` by the tests' own cuDNN: values and gradients beside the meaning of the op in
// float64 on `cpu`, in both orders of heads and queries, and what goes elsewhere.
#include "ops_support.h"

namespace {

const char* const kCuda = "cuda:0";

struct CudaCudnnAttention : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

struct Call {
  const char* name;
  std::vector<int64_t> query, key, value;  // sizes
  bool is_grouped;
};
const Call kCalls[] = {{"heads", {2, 3, 70, 16}, {2, 3, 60, 16}, {2, 3, 60, 8}, false},
                       {"a batch", {2, 64, 24}, {2, 96, 24}, {2, 96, 24}, false},
                       {"matrices", {65, 8}, {7, 8}, {7, 16}, false},
                       {"shared heads", {1, 4, 66, 8}, {1, 2, 66, 8}, {1, 2, 66, 8}, true}};

// y, and the gradients of query, key and value, that of y having numbers of `dtype`.
std::vector<std::vector<double>> results(const Call& call, const TensorList& in, bool is_causal,
                                         tn::Dtype dtype) {
  TensorList leaves;
  for (const Tensor& t : in) leaves.push_back(t.detach().requires_grad_());
  const Tensor y = tn::scaled_dot_product_attention(
      leaves[0], leaves[1], leaves[2], {.is_causal = is_causal, .enable_gqa = call.is_grouped});
  const Tensor g = sample({y.sizes().begin(), y.sizes().end()}, {}, 5).to(dtype);
  y.backward(g.to(y.dtype()).to(y.device()));
  std::vector<std::vector<double>> all{y.detach().to_vector<double>()};
  for (const Tensor& leaf : leaves) all.push_back(leaf.grad().to_vector<double>());
  return all;
}

void expect_results(const std::vector<std::vector<double>>& found,
                    const std::vector<std::vector<double>>& expected, double tolerance) {
  static constexpr const char* kParts[] = {"y", "gradient of query", "of key", "of value"};
  for (size_t k = 0; k < 4; ++k) {
    SCOPED_TRACE(kParts[k]);
    ASSERT_EQ(found[k].size(), expected[k].size());
    double most = 0.1;
    for (const double value : expected[k]) most = std::max(most, std::fabs(value));
    for (size_t i = 0; i < found[k].size(); ++i)
      ASSERT_NEAR(found[k][i], expected[k][i], tolerance * most) << "at " << i;
  }
}

// [.., heads, n, e] as it lies after a projection: [.., n, heads, e].
Tensor with_heads_inside(const Tensor& t) {
  if (t.dim() < 3) return t;
  return t.transpose(-3, -2).contiguous().transpose(-3, -2);
}

TEST_F(CudaCudnnAttention, AgreesWithItsMeaning) {
  for (const Call& call : kCalls) {
    for (const auto& [dtype, tolerance] :
         {std::pair<tn::Dtype, double>(tn::float16, 4e-3), {tn::bfloat16, 3e-2}}) {
      const TensorList in{sample(call.query, {}, 0).to(dtype), sample(call.key, {}, 1).to(dtype),
                          sample(call.value, {}, 2).to(dtype)};
      TensorList wide, there, inside;
      for (const Tensor& t : in) {
        wide.push_back(t.to(tn::float64));
        there.push_back(t.to(tn::Device(kCuda)));
        inside.push_back(with_heads_inside(there.back()));
      }
      for (const bool is_causal : {false, true}) {
        SCOPED_TRACE(std::string(call.name) + " " + dtype.name() + (is_causal ? " causal" : ""));
        const auto expected = results(call, wide, is_causal, dtype);
        for (const TensorList& lying : {there, inside}) {
          const std::string calls = tn::explain([&, &dtype = dtype, &tolerance = tolerance] {
            expect_results(results(call, lying, is_causal, dtype), expected, tolerance);
          });
          EXPECT_NE(calls.find("\"kernel\":\"ops._attention\",\"pair\":true"), std::string::npos)
              << calls;
        }
      }
    }
  }
}

// The output lies as the query does, and each gradient as its tensor.
TEST_F(CudaCudnnAttention, KeepsTheOrderOfHeads) {
  const Tensor x =
      with_heads_inside(sample({2, 3, 64, 8}, kCuda).to(tn::bfloat16)).requires_grad_();
  const Tensor y = tn::scaled_dot_product_attention(x, x, x);
  EXPECT_EQ(y.strides()[1], 8);
  y.sum().backward();
  EXPECT_EQ(x.grad().strides()[1], 8);
}

// Views of one projection are read where they lie; what has no dense rows, or is expanded, is copied.
TEST_F(CudaCudnnAttention, TakesTensorsThatLieOtherwise) {
  const Call& call = kCalls[1];
  const auto half = [](const Tensor& t) { return t.to(tn::float16); };
  const Tensor packed = half(sample({2, 64, 72}, {}, 1)), there = packed.to(tn::Device(kCuda));
  const auto parts = [](const Tensor& t) {
    return TensorList{t.narrow(2, 0, 24), t.narrow(2, 24, 24), t.narrow(2, 48, 24)};
  };
  const auto expected = results(call, parts(packed.to(tn::float64)), true, tn::float16);
  expect_results(results(call, parts(there), true, tn::float16), expected, 4e-3);
  TensorList turned;
  for (const Tensor& t : parts(there))
    turned.push_back(t.transpose(1, 2).contiguous().transpose(1, 2));
  expect_results(results(call, turned, true, tn::float16), expected, 4e-3);
  const Tensor one = half(sample({1, 64, 24}));
  const Tensor all = one.expand({2, 64, 24});
  const TensorList wide{all.to(tn::float64), all.to(tn::float64), all.to(tn::float64)};
  const Tensor spread = one.to(tn::Device(kCuda)).expand({2, 64, 24});
  const TensorList same{spread, spread, spread};
  expect_results(results(call, same, false, tn::float16), results(call, wide, false, tn::float16),
                 4e-3);
}

// Without a gradient nothing is kept, and y is the same; with one of value alone the others are not
// given.
TEST_F(CudaCudnnAttention, GivesWhatIsWanted) {
  const Tensor x = sample({1, 64, 8}, kCuda).to(tn::float16);
  const Tensor y = tn::scaled_dot_product_attention(x, x, x);
  const Tensor v = x.detach().requires_grad_();
  const Tensor again = tn::scaled_dot_product_attention(x, x, v);
  EXPECT_EQ(again.detach().to_vector<double>(), y.to_vector<double>());
  again.sum().backward();
  const Tensor wide = x.to(tn::cpu).to(tn::float64), w = wide.detach().requires_grad_();
  tn::scaled_dot_product_attention(wide, wide, w).sum().backward();
  const std::vector<double> found = v.grad().to_vector<double>();
  const std::vector<double> expected = w.grad().to_vector<double>();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-2);
}

// Recorded once, and replayed as one graph of the device with other values.
TEST_F(CudaCudnnAttention, IsPartOfAGraph) {
  const Tensor x = sample({1, 2, 64, 8}, kCuda).to(tn::bfloat16);
  const auto step = [](Tensor x) {
    const Tensor leaf = x.detach().requires_grad_();
    tn::scaled_dot_product_attention(leaf, leaf, leaf, {.is_causal = true}).sum().backward();
    return leaf.grad() * 1;
  };
  auto compiled = tn::compile(step);
  for (int i = 0; i < 4; ++i) {
    const Tensor other = x * (i + 1);
    EXPECT_EQ(compiled(other).to_vector<double>(), step(other).to_vector<double>());
  }
  const std::string said = compiled.describe();
  EXPECT_NE(said.find("as one graph of cuda:0"), std::string::npos) << said;
}

TEST_F(CudaCudnnAttention, SaysWhatItDoesNotTake) {
  const auto why = [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}) {
    return tn::explain([&] { tn::scaled_dot_product_attention(q, k, v, mask); });
  };
  const auto ones = [](std::vector<int64_t> sizes) { return tn::ones(sizes, tn::float16, kCuda); };
  const Tensor x = ones({2, 64, 8});
  const auto expect_reason = [](const std::string& calls, const char* reason) {
    EXPECT_NE(calls.find(reason), std::string::npos) << calls;
  };
  expect_reason(why(x, x, x, ones({64, 64})), "takes no attn_mask");
  expect_reason(why(ones({2, 0, 8}), x, x), "cuDNN takes no empty tensors");
  expect_reason(why(ones({2, 63, 8}), x, x),
                "cuDNN compiles a kernel for each shape, and few queries do not repay it");
  expect_reason(why(ones({2, 64, 12}), ones({2, 64, 12}), x),
                "cuDNN takes queries and values of a multiple of 8 elements, to 128");
  expect_reason(why(ones({2, 64, 136}), ones({2, 64, 136}), x), "multiple of 8 elements, to 128");
  expect_reason(why(x, ones({1, 64, 8}), ones({1, 64, 8})),
                "takes query, key and value of equal leading dimensions");
  expect_reason(why(x, ones({64, 8}), ones({64, 8})),
                "takes query, key and value of equal ranks to 4");
  const Tensor wide = tn::ones({2, 64, 8}, tn::float32, kCuda);
  expect_reason(why(wide, wide, wide), "dtype float32 is not among its own");
}

}  // namespace
