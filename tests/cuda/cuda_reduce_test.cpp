// Reductions on the device `cuda` by GPUs of several sizes: how many blocks fold one output is the
// number of multiprocessors times a factor. A GPU of each size is a process of its own.
#include "fake_launches.h"
#include "in_a_fork.h"
#include "ops_support.h"

namespace {

// What `body` gives where each GPU has so many multiprocessors, by the tests' own driver.
std::string with_multiprocessors(const char* n, const std::function<std::string()>& body) {
  ::setenv("TENON_FAKE_CUDA_MULTIPROCESSORS", n, 1);
  const std::string text = in_a_fork([&] {
    load_all();
    return body();
  });
  ::unsetenv("TENON_FAKE_CUDA_MULTIPROCESSORS");
  return text;
}

Tensor numbers(const std::vector<int64_t>& sizes, int64_t n) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i * 7919 % 104729) / 7);
  return Tensor::from(values, sizes).to(tn::Device("cuda:0"));
}

std::string kernels_of(const Tensor& x, const std::vector<int64_t>& dims) {
  const auto names = fake_launches([&] { x.sum(dims); });
  if (!names) return "the driver does not tell";
  std::string text;
  for (const std::string& name : *names) text += name + " ";
  return text;
}

// 24 rows are 24 blocks: enough for two multiprocessors, and too few for 132.
TEST(CudaReduce, IsCutIntoPiecesWhereTheGpuHasMoreMultiprocessors) {
  const auto kernels = [] { return kernels_of(numbers({24, 10'000}, 240'000), {1}); };
  const std::string few = with_multiprocessors("2", kernels);
  if (few == "the driver does not tell") GTEST_SKIP() << few;
  EXPECT_EQ(few, "reduce_groups ");
  EXPECT_EQ(with_multiprocessors("132", kernels), "reduce_groups combine_pieces ");
}

TEST(CudaReduce, HasTheSameBitsEachTimeAndNearlyTheSameOnAnyGpu) {
  const auto sums = [] {
    std::ostringstream text;
    text.precision(17);
    for (const auto& [sizes, dims] :
         std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{
             {{600'000}, {0}}, {{3, 200'000}, {1}}, {{30'000, 20}, {0}}, {{37'500, 16}, {0}}}) {
      const Tensor x = numbers(sizes, 600'000), wide = x.to(tn::cpu).to(tn::float64);
      const Tensor sum = x.sum(dims).to(tn::cpu);
      for (const double value : sum.to_vector<double>()) text << value << " ";
      expect_near(sum, wide.sum(dims).to_vector<double>(), 1e-6);
      const auto [most, place] = tn::max(x, dims[0]);
      const auto [expected, expected_place] = tn::max(wide, dims[0]);
      const bool is_same =
          most.to(tn::cpu).to_vector<double>() == expected.to(tn::float32).to_vector<double>() &&
          place.to(tn::cpu).to_vector<int64_t>() == expected_place.to_vector<int64_t>();
      if (!is_same || testing::Test::HasFailure()) return std::string("wrong value");
    }
    return text.str();
  };
  for (const char* n : {"1", "16", "132", "300"}) {
    const std::string once = with_multiprocessors(n, sums);
    EXPECT_EQ(once.find("wrong"), std::string::npos) << n << once;
    EXPECT_EQ(with_multiprocessors(n, sums), once) << n;
  }
}

}  // namespace
