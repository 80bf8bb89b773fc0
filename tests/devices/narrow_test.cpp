// A device that has the eight kernels that a backend must bring, for float32, float16, int32, int64
// and bool alone (tests/plugins/faulty.cpp): what moves off it into other dtypes, what it computes
// all the same, and what it refuses. Its streams are slow and freed memory is poisoned (both from
// CTest).
#include <cstdlib>

#include "ops_support.h"
#include "plugin_folder.h"

namespace {

struct Narrow : testing::Test {
  static void SetUpTestSuite() {
    ::setenv("TENON_TEST_FAULT", "narrow", 0);  // where the test is run by hand
    load_all();
    static tn::testing::Folder folder;
    tn::check(tn::detail::api.plugin->load(folder.place("faulty").c_str()));
    device = tn::Device("faulty:0");
  }
  static inline tn::Device device;
};

// Work that is still to be done on the device.
Tensor ramp(tn::Device device) {
  return tn::arange(0, 12, 1, tn::float32, device).reshape({3, 4}) - 5;
}

const std::vector<tn::Dtype> kLacking = {tn::float64, tn::bfloat16, tn::uint8, tn::int8, tn::int16};

TEST_F(Narrow, MovesOffItIntoAnyDtype) {
  std::vector<tn::Dtype> all = kLacking;
  for (tn::Dtype has : {tn::float32, tn::float16, tn::int32, tn::int64, tn::bool_})
    all.push_back(has);
  using View = Tensor (*)(const Tensor&);
  const View views[] = {
      [](const Tensor& t) { return t; },
      [](const Tensor& t) { return t.t(); },
      [](const Tensor& t) { return t.slice(1, 1, 4, 2); },
      [](const Tensor& t) {
        return t.narrow(0, 1, 1).expand({5, 4});
      },
  };
  for (tn::Dtype from : {tn::float32, tn::float16, tn::int32, tn::int64, tn::bool_}) {
    for (tn::Dtype to : all) {
      for (const View view : views) {
        SCOPED_TRACE(from.name() + std::string(" to ") + to.name());
        // No negative number goes to an unsigned dtype.
        const Tensor there = view(tn::abs(ramp(device)).to(from)),
                     here = view(tn::abs(ramp(tn::cpu)).to(from));
        const std::vector<double> expected = here.to(to).to_vector<double>();
        const Tensor made = there.to(tn::cpu, to);
        EXPECT_EQ(made.dtype(), to);
        EXPECT_EQ(made.to_vector<double>(), expected);
        const Tensor going_on = there.to(tn::cpu, to, {.non_blocking = true});
        device.synchronize();
        EXPECT_EQ(going_on.to_vector<double>(), expected);
        Tensor into = tn::zeros(here.sizes(), to);
        into.copy_(there);
        EXPECT_EQ(into.to_vector<double>(), expected);
        Tensor spread = tn::zeros({here.size(1), here.size(0)}, to);
        spread.t().copy_(there);
        EXPECT_EQ(spread.t().to_vector<double>(), expected);
      }
    }
  }
}

// Between devices of two types the bytes pass through the cpu, which casts them.
TEST_F(Narrow, MovesToAnotherDeviceThatHasTheDtype) {
  const tn::Device other(second_device());
  for (tn::Dtype to : kLacking) {
    const Tensor x = tn::abs(ramp(device)), made = x.to(other, to);
    EXPECT_EQ(made.device(), other);
    EXPECT_EQ(made.to_vector<double>(), tn::abs(ramp(tn::cpu)).to(to).to_vector<double>());
    Tensor back = tn::zeros({3, 4}, tn::float32, device);
    back.copy_(made);
    EXPECT_TRUE(tn::equal(back, x)) << to.name();
  }
}

TEST_F(Narrow, HandsGradientsOn) {
  Tensor x = ramp(device).detach().requires_grad_();
  tn::square(x.to(tn::cpu, tn::float64)).sum().backward();
  EXPECT_EQ(x.grad().dtype(), tn::float32);
  EXPECT_EQ(x.grad().device(), device);
  EXPECT_TRUE(tn::equal(x.grad(), 2 * x.detach()));
  Tensor wide = ramp(tn::cpu).to(tn::float64).detach().requires_grad_();
  tn::square(wide.to(device, tn::float32)).sum().backward();
  EXPECT_EQ(wide.grad().dtype(), tn::float64);
  EXPECT_TRUE(tn::equal(wide.grad(), 2 * wide.detach()));
  Tensor into = tn::zeros({3, 4}, tn::float64);
  Tensor y = ramp(device).detach().requires_grad_();
  into.copy_(y);
  tn::square(into).sum().backward();
  EXPECT_TRUE(tn::equal(y.grad(), 2 * y.detach()));
}

TEST_F(Narrow, MovesInsideACompiledFunction) {
  const auto widened = tn::compile([](Tensor x) { return (x * 2).to(tn::cpu, tn::float64); });
  for (int i = 0; i < 4; ++i) {
    const Tensor y = widened(ramp(device) + i);
    EXPECT_EQ(y.to_vector<double>(), (2 * (ramp(tn::cpu) + i)).to_vector<double>());
  }
}

TEST_F(Narrow, ModulesMoveOffItIntoFloat64) {
  auto layer = tn::nn::Linear(4, 2);
  const Tensor weight = layer.parameters()[0].detach().clone();
  layer.to(device);
  layer.to(tn::cpu, tn::float64);
  EXPECT_EQ(layer.parameters()[0].dtype(), tn::float64);
  EXPECT_TRUE(tn::equal(layer.parameters()[0].detach(), weight.to(tn::float64)));
  layer.to(tn::float32);
  const std::string lacks =
      "faulty:0 has no float64: no kernel there takes it (faulty: dtype float64 is not among its "
      "own)";
  expect_error(
      [&] { layer.to(device, tn::float64); },
      "Linear: to: 'weight' ([2, 4] float32 on cpu) cannot be moved to faulty:0 as float64; "
      "nothing was moved\n  because " +
          lacks);
  EXPECT_EQ(layer.parameters()[1].device(), tn::cpu);
}

TEST_F(Narrow, SortsBools) {
  const Tensor here = tn::remainder(ramp(tn::cpu), 3) == 0, there = here.to(device);
  const auto same = [](const Tensor& a, const Tensor& b) {
    EXPECT_EQ(a.dtype(), b.dtype());
    EXPECT_TRUE(tn::equal(a.to(tn::cpu), b)) << a << b;
  };
  for (bool descending : {false, true}) {
    same(tn::sort(there, 1, descending).values(), tn::sort(here, 1, descending).values());
    same(tn::sort(there, 0, descending).indices(), tn::sort(here, 0, descending).indices());
    same(tn::argsort(there, 1, descending), tn::argsort(here, 1, descending));
  }
  same(tn::topk(there, 2).values(), tn::topk(here, 2).values());
  same(tn::unique(there).values(), tn::unique(here).values());
  same(tn::unique(there).counts(), tn::unique(here).counts());
  same(tn::isin(there, there), tn::isin(here, here));
  same(tn::kthvalue(there, 2).values(), tn::kthvalue(here, 2).values());
  same(tn::median(there, 1).values(), tn::median(here, 1).values());
  same(tn::nanmedian(there, 1).values(), tn::nanmedian(here, 1).values());
  same(tn::mode(there).values(), tn::mode(here).values());
}

TEST_F(Narrow, DrawsIntegersAndFindsNumbersWithoutFloat64) {
  const auto drawn = [](tn::Device d) {
    tn::manual_seed(4);
    std::vector<Tensor> all = {tn::randint(-3, 1000, {50}, {}, d),
                               tn::randint(0, INT64_MAX, {}, {}, d), tn::randperm(20, {}, d),
                               tn::randint_like(tn::zeros({9}, tn::float32, d), 5)};
    for (tn::Dtype dtype : {tn::float32, tn::float16, tn::int32, tn::int64, tn::bool_}) {
      all.push_back(tn::zeros({40}, dtype, d).random_());
      all.push_back(tn::zeros({40}, dtype, d).random_(0, 2));
    }
    return all;
  };
  const std::vector<Tensor> there = drawn(device), here = drawn(tn::cpu);
  for (size_t i = 0; i < here.size(); ++i)
    EXPECT_TRUE(tn::equal(there[i].to(tn::cpu), here[i])) << i << there[i] << here[i];

  for (tn::Dtype dtype : {tn::float32, tn::float16, tn::int32, tn::int64}) {
    const Tensor sorted = tn::arange(-2, 5, 1, tn::float32).to(dtype), moved = sorted.to(device);
    for (double number : {-1e300, -2.5, 0.3, 1.0, 1e6}) {
      EXPECT_EQ(tn::bucketize(number, moved).item<int64_t>(),
                tn::bucketize(number, sorted).item<int64_t>());
      EXPECT_EQ(tn::searchsorted(moved, number, {.right = true}).item<int64_t>(),
                tn::searchsorted(sorted, number, {.right = true}).item<int64_t>());
    }
    EXPECT_EQ(tn::bucketize(1, moved).item<int64_t>(), 3);
  }
}

// As PyTorch refuses to move float64 to mps: nothing could be done there with such a tensor.
TEST_F(Narrow, RefusesTensorsThatNoKernelTakes) {
  for (tn::Dtype dtype : kLacking) {
    const std::string lacks = std::string("faulty:0 has no ") + dtype.name() +
                              ": no kernel there takes it (faulty: dtype " + dtype.name() +
                              " is not among its own)";
    expect_error([&] { tn::empty({2}, dtype, device); }, "empty\n  because " + lacks);
    expect_error([&] { tn::zeros({2}, dtype, device); }, lacks);
    expect_error([&] { tn::ones({2}, dtype).to(device); }, lacks);
    expect_error([&] { tn::ones({2}).to(device, dtype); }, lacks);
    expect_error([&] { tn::empty_like(tn::ones({2}, tn::float32, device), dtype); }, lacks);
    expect_error([&] { tn::arange(0, 3, 1, dtype, device); }, lacks);
  }
  expect_error([] { Tensor::from(std::vector<double>{1, 2}, -1, device); }, "has no float64");
  // Into a dtype that it has they move.
  EXPECT_EQ(tn::full({2}, 1.5, tn::float64).to(device, tn::float32).to_vector<float>(),
            (std::vector<float>{1.5, 1.5}));
  Tensor into = tn::zeros({2}, tn::float32, device);
  into.copy_(tn::full({2}, 7, tn::uint8));
  EXPECT_EQ(into.to_vector<float>(), (std::vector<float>{7, 7}));
}

// Last: the backend has seen no touch of memory that was not the toucher's.
TEST_F(Narrow, ShutdownFindsEverythingInOrder) {
  device.synchronize();
  tn_status* status = tn::detail::api.plugin->shutdown();
  EXPECT_EQ(status, nullptr) << tn::host()->status_message(status);
}

}  // namespace
