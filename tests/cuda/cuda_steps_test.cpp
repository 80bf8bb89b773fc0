// Steps of optimizers, norms of gradients and their scaling on the device `cuda`: at the sizes where a
// launch changes its shape, against `cpu`; how many launches they take; and what the kernels refuse.
#include <cmath>

#include "fake_launches.h"
#include "kernel_answers.h"
#include "ops_support.h"

namespace {

const char* const kCuda = "cuda:0";

struct CudaSteps : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

// The tensors of one list on one device.
TensorList list_of(const std::vector<int64_t>& sizes, tn::Dtype dtype, double shift,
                   tn::Device device, int64_t offset = 0) {
  TensorList list;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // Every third one begins `offset` elements behind an aligned address.
    const int64_t skip = i % 3 == 1 ? offset : 0;
    Tensor x = sample({sizes[i] + skip}, {}, shift + static_cast<double>(i)).to(dtype);
    list.push_back(x.to(device).narrow(0, skip, sizes[i]));
  }
  return list;
}
TensorList counts_of(size_t n, tn::Device device) {
  TensorList list;
  for (size_t i = 0; i < n; ++i)
    list.push_back(tn::full({}, static_cast<double>(i % 5), tn::float32, device));
  return list;
}

struct Lists {
  TensorList params, grads, first, second, counts;

  Lists(const std::vector<int64_t>& sizes, tn::Dtype dtype, tn::Dtype state, tn::Device device,
        int64_t offset = 0)
      : params(list_of(sizes, dtype, 0, device, offset)),
        grads(list_of(sizes, dtype, 0.5, device, offset)),
        first(list_of(sizes, state, 0.9, device, offset)),
        second(list_of(sizes, state, 1.3, device, offset)),
        counts(counts_of(sizes.size(), device)) {
    for (Tensor& x : second) x = x * x + 0.1;
  }

  void sgd(double momentum = 0.9) {
    tn::sgd_step(params, grads, first, 0.1, {.momentum = momentum, .weight_decay = 0.01});
  }
  void adam(const Tensor& found_inf = {}) {
    tn::adam_step(
        params, grads, first, second, 0.01, 0,
        {.weight_decay = 0.1, .decoupled = true, .found_inf = found_inf, .steps = counts});
  }
  void adagrad() {
    tn::adagrad_step(params, grads, second, counts, 0.1, {.lr_decay = 0.01, .weight_decay = 0.1});
  }
};

void expect_lists_near(const TensorList& found, const TensorList& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    expect_near(found[i].to(tn::cpu), expected[i].to_vector<double>(), tolerance);
  }
}
void expect_near_lists(const Lists& found, const Lists& expected, double tolerance) {
  expect_lists_near(found.params, expected.params, tolerance);
  expect_lists_near(found.first, expected.first, tolerance);
  expect_lists_near(found.second, expected.second, tolerance);
  expect_lists_near(found.counts, expected.counts, 0);
}

// Around a pack of 16 bytes, a chunk of each length, and none at all; the sum decides the length.
using Names = std::vector<std::string>;

const std::vector<int64_t> kSizes = {1, 0,  2,    3,    4,    5,    7,     8,
                                     9, 31, 1023, 1024, 1025, 4099, 70000, 0};

TEST_F(CudaSteps, TakeTensorsOfAllSizesAndDtypes) {
  struct Case {
    tn::Dtype dtype, state;
    double tolerance;
  };
  for (const Case& c : {Case{tn::float32, tn::float32, 2e-6},
                        {tn::float64, tn::float64, 1e-12},
                        {tn::float16, tn::float16, 2e-3},
                        {tn::bfloat16, tn::bfloat16, 2e-2},
                        {tn::float16, tn::float32, 2e-3},
                        {tn::bfloat16, tn::float32, 2e-2}}) {
    for (const int64_t offset : {0, 1}) {
      SCOPED_TRACE(std::string(c.dtype.name()) + " " + c.state.name() + " " +
                   std::to_string(offset));
      Lists here(kSizes, c.dtype, c.state, tn::cpu, offset);
      Lists there(kSizes, c.dtype, c.state, kCuda, offset);
      EXPECT_EQ(kernel_answer("sgd_step", [&] { there.sgd(); }), "taken");
      EXPECT_EQ(kernel_answer("adam_step", [&] { there.adam(); }), "taken");
      EXPECT_EQ(kernel_answer("adagrad_step", [&] { there.adagrad(); }), "taken");
      there.sgd(0);
      here.sgd(), here.adam(), here.adagrad(), here.sgd(0);
      expect_near_lists(there, here, c.tolerance);
    }
  }
}

// A table of 4 KB, one of 32 KB, and several of these.
TEST_F(CudaSteps, TakeAnyNumberOfTensors) {
  for (const size_t n : {1, 72, 73, 104, 105, 622, 623, 1300}) {
    SCOPED_TRACE(n);
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < n; ++i) sizes.push_back(static_cast<int64_t>(i % 6 + 1));
    Lists here(sizes, tn::float32, tn::float32, tn::cpu);
    Lists there(sizes, tn::float32, tn::float32, kCuda);
    const auto tables = [&](size_t most) { return static_cast<int64_t>((n + most - 1) / most); };
    const auto sgd = fake_launches([&] { there.sgd(); });
    const auto adam = fake_launches([&] { there.adam(); });
    if (sgd) {
      EXPECT_EQ(*sgd, Names(static_cast<size_t>(tables(900)), "step"));
      EXPECT_EQ(*adam, Names(static_cast<size_t>(tables(622)), "step"));
    }
    here.sgd(), here.adam();
    expect_near_lists(there, here, 2e-6);
  }
}

// The lists of dtypes that are mixed go in a launch for each.
TEST_F(CudaSteps, TakeListsOfSeveralDtypes) {
  Lists here({5, 70}, tn::float32, tn::float32, tn::cpu),
      there({5, 70}, tn::float32, tn::float32, kCuda);
  const Lists more_here({9}, tn::float16, tn::float16, tn::cpu),
      more_there({9}, tn::float16, tn::float16, kCuda);
  const auto join = [](Lists& to, const Lists& from) {
    for (const auto list :
         {&Lists::params, &Lists::grads, &Lists::first, &Lists::second, &Lists::counts})
      (to.*list).insert((to.*list).begin() + 1, (from.*list)[0]);
  };
  join(here, more_here), join(there, more_there);
  const auto launches = fake_launches([&] { there.adam(); });
  if (launches) {
    EXPECT_EQ(*launches, (Names{"step", "step"}));
  }
  here.adam();
  expect_near_lists(there, here, 2e-3);
}

TEST_F(CudaSteps, AreWholeWhereTheyAreManyChunks) {
  const std::vector<int64_t> sizes = {1 << 21, 4095, 4097};  // long chunks
  Lists here(sizes, tn::float32, tn::float32, tn::cpu),
      there(sizes, tn::float32, tn::float32, kCuda);
  here.adam(), there.adam();
  expect_near_lists(there, here, 2e-6);
  const Tensor norm = tn::clip_grad_norm_(there.grads, 1.0);
  EXPECT_NEAR(norm.item<double>(), tn::clip_grad_norm_(here.grads, 1.0).item<double>(), 1e-3);
  expect_lists_near(there.grads, here.grads, 1e-6);
}

// A step that is passed over changes nothing, and is not counted, whatever the flag's dtype is.
TEST_F(CudaSteps, ArePassedOverWhereThereIsAnInf) {
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
    SCOPED_TRACE(dtype.name());
    Lists here({3, 40}, tn::float32, tn::float32, tn::cpu);
    Lists there({3, 40}, tn::float32, tn::float32, kCuda);
    there.adam(tn::full({1}, 1, dtype, kCuda));
    expect_near_lists(there, here, 0);
    there.adam(tn::full({1}, -0.0, dtype, kCuda));
    here.adam();
    expect_near_lists(there, here, 2e-6);
  }
}

// A permuted parameter is walked as it lies; one with gaps, one that shares memory, a gradient of
// another dtype or in another order is left to other kernels.
TEST_F(CudaSteps, RefuseWhatIsNoListOfVectors) {
  const auto answer = [](const Tensor& p, const Tensor& g) {
    return kernel_answer("sgd_step", [&] { tn::sgd_step({p}, {g}, {}, 0.1); });
  };
  const Tensor p = sample({4, 6}).to(tn::float32).to(kCuda), g = tn::ones_like(p);
  EXPECT_EQ(answer(p.t(), g.t()), "taken");
  EXPECT_EQ(answer(p, tn::ones({6, 4}, tn::float32, kCuda).t()),
            "tensors 0 of the lists do not lie alike and without gaps");
  EXPECT_EQ(answer(p.narrow(1, 0, 3), g.narrow(1, 0, 3)),
            "tensors 0 of the lists do not lie alike and without gaps");
  EXPECT_EQ(answer(p, g.to(tn::float16)), "tensors 0 of the lists differ in dtype");
  EXPECT_EQ(answer(p, p), "some of the tensors share memory");
  EXPECT_EQ(kernel_answer("sgd_step",
                          [&] {
                            tn::sgd_step({p}, {g}, {}, 0.1,
                                         {.found_inf = tn::zeros({1}, tn::int64, kCuda)});
                          }),
            "dtype int64 is not among its own");
  expect_near(p.to(tn::cpu), (sample({4, 6}) - 0.7).to_vector<double>(), 1);  // they all stepped
}

// Counters of blocks come from pages of 64; each stream has its own.
TEST_F(CudaSteps, CountOnManyStreams) {
  const tn::Device cuda(kCuda);
  const std::vector<int64_t> sizes = {1025, 5};
  Lists here(sizes, tn::float32, tn::float32, tn::cpu);
  for (int i = 0; i < 2; ++i) here.adam();
  std::vector<tn::Stream> streams;
  for (int i = 0; i < 70; ++i) {
    streams.emplace_back(cuda);
    const tn::StreamGuard guard(streams.back());
    Lists there(sizes, tn::float32, tn::float32, cuda);
    there.adam(), there.adam();
    expect_near_lists(there, here, 2e-6);
  }
}

// Empty parameters take steps, and gradients without elements have a norm.
TEST_F(CudaSteps, CountWhatIsEmpty) {
  Lists there({0, 0}, tn::float32, tn::float32, kCuda);
  const auto before = there.counts[1].item<float>();
  const auto launches = fake_launches([&] { there.adam(); });
  if (launches) {
    EXPECT_EQ(*launches, Names{"step"});
  }
  EXPECT_EQ(there.counts[1].item<float>(), before + 1);
  const Tensor norm = tn::clip_grad_norm_({tn::zeros({0}, tn::float64, kCuda), there.grads[0]}, 1);
  EXPECT_EQ(norm.item<double>(), 0);
}

// Gradients of several dtypes and of several tables have one norm, in one launch for each.
TEST_F(CudaSteps, NormsOfSeveralLaunchesAreOne) {
  TensorList there = list_of(std::vector<int64_t>(1700, 2), tn::float32, 0, kCuda);
  there.push_back(tn::full({5000}, 2, tn::float16, kCuda));
  double squares = 5000 * 4;
  for (const Tensor& x : list_of(std::vector<int64_t>(1700, 2), tn::float32, 0, tn::cpu))
    squares += (x.to(tn::float64) * x.to(tn::float64)).sum().item<double>();
  for (int i = 0; i < 2; ++i)
    EXPECT_NEAR(tn::clip_grad_norm_(there, 1e9).item<double>(), std::sqrt(squares), 1e-4);
}

// What does not fit is said before anything is written.
TEST_F(CudaSteps, ChangeNothingWhereAListDoesNotFit) {
  const Tensor p = tn::ones({2}, tn::float32, kCuda), q = tn::ones({2}, tn::float32, kCuda);
  const Tensor wrong = tn::ones({3}, tn::float32, kCuda), g = tn::ones_like(p);
  expect_error(
      [&] {
        tn::sgd_step({p, q}, {g, wrong}, {}, 0.1);
      },
      "sgd_step: grad 1 is [3], its param [2]");
  expect_error(
      [&] {
        tn::adam_step({p, q}, {g, g}, {g, g}, {g, wrong}, 0.1, 1);
      },
      "adam_step: exp_avg_sq 1 is [3], its param [2]");
  expect_error([&] { tn::adam_step({p}, {g}, {g}, {g}, 0.1, 0, {.steps = {wrong}}); },
               "adam_step: a count of steps has 3 elements, expected 1");
  expect_near(p.to(tn::cpu), {1, 1});
}

TEST_F(CudaSteps, NormsAreThoseOfAllElements) {
  struct Case {
    tn::Dtype dtype;
    double tolerance;
  };
  for (const Case& c :
       {Case{tn::float32, 1e-6}, {tn::float64, 1e-12}, {tn::float16, 1e-3}, {tn::bfloat16, 8e-3}}) {
    for (const double p : {2.0, static_cast<double>(INFINITY), 3.0}) {
      SCOPED_TRACE(std::string(c.dtype.name()) + " " + std::to_string(p));
      TensorList here = list_of(kSizes, c.dtype, 0.3, tn::cpu, 1);
      TensorList there = list_of(kSizes, c.dtype, 0.3, kCuda, 1);
      double sum = 0, most = 0;
      for (const Tensor& x : here) {
        for (const double value : x.to_vector<double>()) {
          sum += std::pow(std::fabs(value), p);
          most = std::max(most, std::fabs(value));
        }
      }
      const double expected = std::isinf(p) ? most : std::pow(sum, 1 / p);
      Tensor norm;
      const auto launches = fake_launches([&] { norm = tn::clip_grad_norm_(there, 0.5, p); });
      if (launches) {
        EXPECT_EQ(*launches, (Names{"fold_chunks", "scale_chunks"}));
      }
      EXPECT_NEAR(norm.item<double>(), expected, 1e-5 * expected);
      EXPECT_EQ(norm.dtype(), c.dtype == tn::float64 ? tn::float64 : tn::float32);
      for (Tensor& x : here) x = x.to(tn::float64) * (0.5 / (expected + 1e-6));
      expect_lists_near(there, here, c.tolerance);
    }
  }
}

TEST_F(CudaSteps, NormsOfManyAndOfNoElements) {
  std::vector<int64_t> sizes(3000, 2);
  TensorList there = list_of(sizes, tn::float32, 0, kCuda);
  double squares = 0;
  for (const Tensor& x : list_of(sizes, tn::float32, 0, tn::cpu))
    squares += (x.to(tn::float64) * x.to(tn::float64)).sum().item<double>();
  EXPECT_NEAR(tn::clip_grad_norm_(there, 1e9).item<double>(), std::sqrt(squares), 1e-4);
  expect_lists_near(there, list_of(sizes, tn::float32, 0, tn::cpu), 0);  // nothing to clip
  EXPECT_EQ(tn::clip_grad_norm_({tn::zeros({0}, tn::float32, kCuda)}, 1).item<float>(), 0);
  const Tensor bad = Tensor::from(std::vector<float>{1, NAN, 2}, {3}).to(kCuda);
  EXPECT_TRUE(std::isnan(tn::clip_grad_norm_({bad}, 1).item<float>()));
  EXPECT_TRUE(std::isnan(tn::clip_grad_norm_({bad}, 1, INFINITY).item<float>()));
  const Tensor x = tn::ones({4}, tn::float32, kCuda);
  EXPECT_EQ(kernel_answer("clip_grad_norm_",
                          [&] {
                            tn::clip_grad_norm_({x, x}, 1);
                          }),
            "some of the tensors share memory");
}

TEST_F(CudaSteps, UnscaleFindsWhatIsNotFinite) {
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
    for (const double bad : {1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
      SCOPED_TRACE(std::string(dtype.name()) + " " + std::to_string(bad));
      TensorList grads = list_of(kSizes, dtype, 0.3, kCuda, 1);
      TensorList expected = list_of(kSizes, dtype, 0.3, tn::cpu, 1);
      for (TensorList* list : {&grads, &expected}) (*list)[14].narrow(0, 69999, 1).fill_(bad);
      const Tensor found = tn::zeros({1}, tn::float32, kCuda);
      const Tensor factor = tn::full({1}, 0.25, tn::float32, kCuda);
      const auto launches = fake_launches([&] { tn::unscale_(grads, found, factor); });
      if (launches) {
        EXPECT_EQ(*launches, Names{"unscale_chunks"});
      }
      EXPECT_EQ(found.item<float>(), bad == 1.0 ? 0 : 1);
      for (Tensor& x : expected) x = x * 0.25;
      expect_lists_near(grads, expected, 0);
    }
  }
}

}  // namespace
