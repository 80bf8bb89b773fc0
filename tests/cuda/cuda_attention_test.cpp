// Attention by the plugin's own kernels at sizes where their tiles change. Values and gradients are
// compared with the decomposition on `cpu` in float64.
#include "ops_support.h"

namespace {

struct CudaAttention : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

Tensor numbers(const std::vector<int64_t>& sizes, int64_t seed) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<double>((i * 7919 + seed * 104729) % 1009 - 504) / 400);
  return Tensor::from(values, sizes);
}

enum class Mask { kNone, kCausal, kBool, kAdded };

struct Case {
  std::vector<int64_t> lead;  // of query
  int64_t key_heads;          // 0: as query's
  int64_t n, m, e, v;
  Mask mask;
  tn::Dtype dtype = tn::float32;
};

const std::vector<Case> kCases = {
    {{2}, 0, 1, 1, 8, 8, Mask::kNone},
    {{1, 2}, 0, 33, 65, 20, 20, Mask::kNone},
    {{2, 2}, 0, 64, 64, 32, 32, Mask::kCausal},
    {{1}, 0, 40, 7, 64, 48, Mask::kCausal},  // queries behind the last key
    {{1}, 0, 7, 40, 33, 64, Mask::kBool},
    {{1, 2}, 0, 17, 31, 100, 128, Mask::kAdded},
    {{1}, 0, 9, 10, 200, 256, Mask::kCausal},
    {{2, 4}, 2, 5, 35, 16, 24, Mask::kAdded},
    {{1, 6}, 1, 20, 20, 12, 12, Mask::kBool},
    {{1}, 0, 34, 35, 24, 24, Mask::kCausal, tn::float64},
    {{1}, 0, 18, 19, 64, 50, Mask::kNone, tn::float64},
    {{2}, 0, 34, 35, 24, 24, Mask::kNone, tn::float16},
    {{2}, 0, 34, 35, 24, 24, Mask::kAdded, tn::bfloat16},
    {{}, 0, 3, 4, 5, 6, Mask::kNone},
};

// One without any key for the second query.
Tensor mask_of(const Case& c) {
  const Tensor values = numbers({c.n, c.m}, 5);
  if (c.mask == Mask::kAdded) return values;
  Tensor may = tn::gt(values, -0.5);
  if (c.n > 1) may.select(0, 1).fill_(false);
  return may;
}

// The output and the gradients.
std::vector<Tensor> attend(const Case& c, tn::Device device, tn::Dtype dtype) {
  const auto joined = [&](std::vector<int64_t> lead, int64_t rows, int64_t columns, bool is_key) {
    if (is_key && c.key_heads > 0) lead.back() = c.key_heads;
    lead.insert(lead.end(), {rows, columns});
    return lead;
  };
  // Rounded as the elements of the case, so that both compute with the same numbers.
  const auto placed = [&](const Tensor& x) { return x.to(c.dtype).to(dtype).to(device); };
  const auto leaf = [&](const std::vector<int64_t>& sizes, int64_t seed) {
    return placed(numbers(sizes, seed)).requires_grad_();
  };
  const Tensor query = leaf(joined(c.lead, c.n, c.e, false), 1);
  const Tensor key = leaf(joined(c.lead, c.m, c.e, true), 2);
  const Tensor value = leaf(joined(c.lead, c.m, c.v, true), 3);
  Tensor mask;
  if (c.mask == Mask::kBool) mask = mask_of(c).to(device);
  if (c.mask == Mask::kAdded) mask = placed(mask_of(c));
  const uint64_t before = tn::counter("decompositions");
  const Tensor y = tn::scaled_dot_product_attention(
      query, key, value, mask,
      {.is_causal = c.mask == Mask::kCausal, .enable_gqa = c.key_heads > 0});
  if (device != tn::cpu) {  // the op itself, not `_attention`
    EXPECT_EQ(tn::counter("decompositions"), before + 1);
  }
  y.backward(placed(numbers({y.sizes().begin(), y.sizes().end()}, 4)));
  return {y.detach(), query.grad(), key.grad(), value.grad()};
}

TEST_F(CudaAttention, AgreesWithTheDecomposition) {
  for (size_t k = 0; k < kCases.size(); ++k) {
    SCOPED_TRACE(k);
    const Case& c = kCases[k];
    const std::vector<Tensor> found = attend(c, "cuda:0", c.dtype);
    const std::vector<Tensor> expected = attend(c, "cpu", tn::float64);
    const double tolerance = c.dtype == tn::bfloat16  ? 3e-2
                             : c.dtype == tn::float16 ? 4e-3
                             : c.dtype == tn::float32 ? 2e-5
                                                      : 1e-12;
    for (size_t i = 0; i < found.size(); ++i) {
      SCOPED_TRACE(i);
      expect_near(found[i].to(tn::cpu).to(tn::float64), expected[i].to_vector<double>(), tolerance);
    }
  }
}

// Heads in between of sequence and numbers, as projections give them, are read where they lie.
TEST_F(CudaAttention, ReadsHeadsByTheirStrides) {
  const Tensor x = numbers({2, 9, 3, 16}, 1).to(tn::float32).to(tn::Device("cuda:0"));
  const Tensor heads = x.transpose(1, 2);
  const uint64_t copies = tn::counter("layout_copies");
  const Tensor y = tn::scaled_dot_product_attention(heads, heads, heads);
  EXPECT_EQ(tn::counter("layout_copies"), copies);
  const Tensor dense = heads.to(tn::cpu).contiguous();
  expect_near(y.to(tn::cpu),
              tn::scaled_dot_product_attention(dense, dense, dense).to_vector<double>(), 2e-6);
}

TEST_F(CudaAttention, ARefusedHeadIsDecomposed) {
  const Tensor x = numbers({2, 4, 300}, 1).to(tn::float32).to(tn::Device("cuda:0"));
  const std::string calls = tn::explain([&] { tn::scaled_dot_product_attention(x, x, x); });
  EXPECT_NE(calls.find("takes heads of at most 256 numbers"), std::string::npos) << calls;
}

}  // namespace
