// Pools on the device `cuda`: its kernels in every layout and dtype, against `cpu` in float64, which
// goes by the meaning.
#include "fake_launches.h"
#include "kernel_answers.h"
#include "ops_support.h"

namespace {

const char* const kCuda = "cuda:0";

struct CudaPool : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

struct Row {
  const char* op;
  std::vector<int64_t> sizes;
  std::function<Tensor(const Tensor&)> pool;
};

const std::vector<Row> kRows = {
    {"max_pool1d", {2, 3, 17}, [](const Tensor& x) { return tn::max_pool1d(x, 3); }},
    {"max_pool1d",
     {3, 17},
     [](const Tensor& x) { return tn::max_pool1d(x, 3, {.padding = 1, .dilation = 2}); }},
    {"max_pool2d",
     {2, 3, 9, 10},
     [](const Tensor& x) { return tn::max_pool2d(x, 3, {.stride = 2, .padding = 1}); }},
    {"max_pool2d",
     {2, 3, 9, 10},
     [](const Tensor& x) {
       return tn::max_pool2d(x, {3, 2}, {.stride = 1, .dilation = {1, 3}, .ceil_mode = true});
     }},
    {"max_pool3d",
     {1, 2, 5, 6, 7},
     [](const Tensor& x) { return tn::max_pool3d(x, 3, {.stride = 2, .ceil_mode = true}); }},
    {"avg_pool1d", {2, 3, 17}, [](const Tensor& x) { return tn::avg_pool1d(x, 4, {.stride = 3}); }},
    {"avg_pool2d",
     {2, 3, 9, 10},
     [](const Tensor& x) { return tn::avg_pool2d(x, 3, {.stride = 2, .padding = 1}); }},
    {"avg_pool2d",
     {2, 3, 9, 10},
     [](const Tensor& x) {
       return tn::avg_pool2d(
           x, 3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
     }},
    {"avg_pool3d",
     {2, 2, 5, 6, 7},
     [](const Tensor& x) { return tn::avg_pool3d(x, 2, {.stride = 1, .divisor_override = 3}); }},
    {"adaptive_avg_pool1d",
     {2, 3, 17},
     [](const Tensor& x) { return tn::adaptive_avg_pool1d(x, 5); }},
    {"adaptive_avg_pool2d",
     {2, 3, 9, 10},
     [](const Tensor& x) {
       return tn::adaptive_avg_pool2d(x, {4, 10});
     }},
    {"adaptive_avg_pool2d",
     {2, 3, 7, 7},
     [](const Tensor& x) { return tn::adaptive_avg_pool2d(x, 1); }},
    {"adaptive_avg_pool3d",
     {1, 2, 5, 2, 7},
     [](const Tensor& x) {
       return tn::adaptive_avg_pool3d(x, {2, 4, 3});
     }},
    {"adaptive_max_pool2d",
     {2, 3, 9, 10},
     [](const Tensor& x) {
       return tn::adaptive_max_pool2d(x, {4, 3});
     }},
    {"adaptive_max_pool3d",
     {1, 2, 5, 2, 7},
     [](const Tensor& x) {
       return tn::adaptive_max_pool3d(x, {2, 1, 3});
     }},
    {"max_pool2d_with_indices",
     {2, 3, 9, 10},
     [](const Tensor& x) {
       return std::get<0>(tn::max_pool2d_with_indices(x, 3, {.stride = 2, .padding = 1}));
     }},
};

// The same values with the channels innermost.
Tensor channels_last(const Tensor& x) {
  std::vector<int64_t> there = {0}, back = {0, x.dim() - 1};
  for (int64_t d = 2; d < x.dim(); ++d) there.push_back(d), back.push_back(d - 1);
  there.push_back(1);
  return x.permute(there).contiguous().permute(back);
}

struct Case {
  tn::Dtype dtype;
  double tolerance;
};

void check(const Row& row, const Tensor& values, const Case& c) {
  const auto run = [&](const Tensor& leaf) {
    Tensor x = leaf.detach().requires_grad_();
    const Tensor y = row.pool(x);
    (y * sample({y.sizes().begin(), y.sizes().end()}).to(x.dtype()).to(x.device()))
        .sum()
        .backward();
    return std::pair{y.detach(), x.grad()};
  };
  const auto [y, gradient] = run(values.to(kCuda));
  const auto [expected, expected_gradient] = run(values.to(tn::float64).contiguous());
  expect_sizes(y, {expected.sizes().begin(), expected.sizes().end()});
  expect_near(y.to(tn::cpu), expected.to_vector<double>(), c.tolerance);
  expect_near(gradient.to(tn::cpu), expected_gradient.to_vector<double>(), 3 * c.tolerance);
}

TEST_F(CudaPool, ValuesAndGradientsInEveryLayoutAndDtype) {
  for (const Row& row : kRows) {
    for (const Case& c : {Case{tn::float32, 1e-6},
                          {tn::float64, 1e-12},
                          {tn::float16, 2e-3},
                          {tn::bfloat16, 1e-2}}) {
      SCOPED_TRACE(std::string(row.op) + " " + c.dtype.name());
      // Whole numbers that all dtypes hold, many of them equal.
      Tensor x = tn::floor(sample(row.sizes) * 8).to(c.dtype);
      EXPECT_EQ(kernel_answer(row.op, [&] { row.pool(x.to(kCuda)); }), "taken");
      check(row, x, c);
      if (x.dim() > 3) check(row, channels_last(x), c);
      check(row, x.flip({-1}).narrow(-1, 1, x.size(-1) - 1).transpose(-1, -2).transpose(-1, -2), c);
    }
  }
}

// A pool and its gradient are a kernel each, and nothing is copied.
TEST_F(CudaPool, IsOneKernelEachWay) {
  Tensor x = sample({2, 3, 8, 8}).to(tn::float32).to(kCuda).requires_grad_();
  for (const bool last : {false, true}) {
    SCOPED_TRACE(last);
    Tensor leaf = (last ? channels_last(x.detach()) : x.detach()).requires_grad_(), y;
    const auto forward = fake_launches([&] { y = tn::max_pool2d(leaf, 2); });
    const Tensor g = (last ? channels_last(y.detach()) : y.detach()).clone();
    const auto backward = fake_launches([&] { y.backward(g); });
    if (!forward) GTEST_SKIP() << "not the driver of the tests";
    EXPECT_EQ(*forward, std::vector<std::string>{"max_pool"});
    EXPECT_EQ(backward->front(), "max_pool_backward");
    EXPECT_EQ(y.is_contiguous(), !last);
  }
}

TEST_F(CudaPool, LeavesWhatItDoesNotTakeToTheMeaning) {
  const Tensor x = tn::ones({1, 1, 40, 40}, tn::float32, kCuda);
  EXPECT_EQ(kernel_answer("avg_pool2d", [&] { tn::avg_pool2d(x, 40); }),
            "windows of so many elements are a reduction");
  EXPECT_EQ(tn::avg_pool2d(x, 40).item<float>(), 1);
  EXPECT_EQ(kernel_answer("max_pool2d", [&] { tn::max_pool2d(x.to(tn::int64), 2); }),
            "dtype int64 is not among its own");
}

}  // namespace
