// The device `cuda` on the tests' own driver, from outside: memory, streams and devices, faults, and
// kernels at sizes where their shape changes, which the suites of the ops do not reach. Values are
// compared with `cpu`.
#include "fake_launches.h"
#include "in_a_fork.h"
#include "long_form.h"
#include "ops_support.h"
#include "tenon/data/datasets.hpp"

namespace {

const char* const kCuda = "cuda:0";

struct Cuda : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

Tensor on_cuda(const Tensor& x) { return x.to(tn::Device(kCuda)); }

void expect_same(const Tensor& found, const Tensor& expected) {
  expect_sizes(found, {expected.sizes().begin(), expected.sizes().end()});
  EXPECT_EQ(found.dtype(), expected.dtype());
  EXPECT_EQ(found.to(tn::cpu).to_vector<double>(), expected.to_vector<double>());
}

// n numbers in no order, each several times where `period` is less than n.
Tensor shuffled(int64_t n, int64_t period = 1 << 20) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<float>(i * 7919 % 104729 % period) - 500.f);
  return Tensor::from(values, {n});
}

// ---- Memory and devices

TEST_F(Cuda, CountsItsMemory) {
  const tn::Device device(kCuda);
  const uint64_t before = device.memory_stats().allocated;
  const Tensor x = tn::zeros({1000}, tn::float32, device);
  EXPECT_GE(device.memory_stats().allocated, before + 4000);
}

TEST_F(Cuda, GoesOnAfterItRanOutOfMemory) {
  expect_error([] { tn::zeros({int64_t{1} << 45}, tn::float32, kCuda); }, "out of memory");
  EXPECT_EQ(tn::ones({4}, tn::float32, kCuda).sum().item<float>(), 4);
}

int32_t n_gpus() { return tn::detail::api.device->count(tn::Device(kCuda).value.type); }

TEST_F(Cuda, CopiesBetweenDevices) {
  if (n_gpus() < 2) GTEST_SKIP() << "there is one GPU";
  const Tensor x = shuffled(100000);
  const Tensor there = on_cuda(x).to(tn::Device("cuda:1"));
  EXPECT_EQ(there.device().name(), "cuda:1");
  expect_same(there * 2, x * 2);
  expect_same(there.to(tn::Device(kCuda)), x);
}

// `cuda_faults_test` has what becomes of it where the driver cannot.
TEST_F(Cuda, CopiesBetweenDevicesLeaveTheHostOut) {
  if (n_gpus() < 2) GTEST_SKIP() << "there is one GPU";
  const Tensor x = on_cuda(shuffled(1000));
  Tensor back;
  const auto lines = fake_trace([&] { back = x.to(tn::Device("cuda:1")).to(tn::Device(kCuda)); });
  expect_same(back, x.to(tn::cpu));
  if (!lines) GTEST_SKIP() << "the driver does not tell";
  EXPECT_EQ(std::ranges::count(*lines, "copy between devices"), 2);
}

bool waits(const std::function<void()>& work) {
  const auto lines = fake_trace(work);
  if (!lines) return false;
  return std::any_of(lines->begin(), lines->end(),
                     [](const std::string& line) { return line.starts_with("wait "); });
}

// Small uploads go through pinned memory, and may change behind the call; a large one is waited for.
TEST_F(Cuda, UploadsOfAMebibyteAndCopiesBetweenDevicesWaitForNothing) {
  const tn::Device last("cuda:" + std::to_string(n_gpus() - 1));  // where there is one, itself
  Tensor small = shuffled(1 << 18), large = shuffled((1 << 18) + 1);
  const Tensor same = small.clone();
  Tensor there, other;
  EXPECT_FALSE(waits([&] { there = on_cuda(small) * 1; }));
  small.fill_(0);
  EXPECT_FALSE(waits([&] { other = there.to(last) * 2; }));
  there = {};
  EXPECT_FALSE(waits([&] { there = other.to(tn::Device(kCuda)) + 1; }));
  other = {};
  expect_same(there, same * 2 + 1);
  if (fake_trace([] {})) {
    EXPECT_TRUE(waits([&] { on_cuda(large); }));
  }
}

TEST_F(Cuda, PinnedTensorsAreCopiedBothWaysWithoutWaiting) {
  const tn::Device device(kCuda);
  const Tensor x = shuffled((1 << 18) + 1), pinned = x.pin_memory(device);
  EXPECT_TRUE(pinned.is_pinned());
  EXPECT_FALSE(x.is_pinned());
  EXPECT_TRUE(pinned.same_storage(pinned.pin_memory(device)));
  Tensor back, into = tn::zeros_like(x).pin_memory(device), given;
  EXPECT_FALSE(waits([&] {
    const Tensor there = pinned.to(device, {.non_blocking = true});
    back = (there * 2).to(tn::cpu, {.non_blocking = true});
    into.copy_(there + 1, {.non_blocking = true});
    given = there.clone().copy_(pinned.pin_memory(device), {.non_blocking = true});
  }));
  EXPECT_TRUE(back.is_pinned());
  device.synchronize();
  expect_same(back, x * 2);
  expect_same(into, x + 1);
  expect_same(given, x);
  if (fake_trace([] {})) {
    EXPECT_TRUE(waits([&] { given.to(tn::cpu); }));
    EXPECT_TRUE(waits([&] { x.to(device, {.non_blocking = true}); })) << "x is not pinned";
  }
}

TEST_F(Cuda, ALoaderPinsItsBatches) {
  const Tensor x = shuffled(40).view({20, 2}), y = tn::arange(20);
  tn::data::DataLoader loader(tn::data::TensorDataset(x, y),
                              {.batch_size = 8, .num_workers = 2, .pin_memory = tn::Device(kCuda)});
  int64_t first = 0;
  for (const auto& [points, labels] : loader) {
    EXPECT_TRUE(points.is_pinned());
    EXPECT_TRUE(labels.is_pinned());
    expect_same(points.to(tn::Device(kCuda), {.non_blocking = true}),
                x.slice(0, first, first + points.size(0)));
    expect_same(labels, y.slice(0, first, first + points.size(0)));
    first += points.size(0);
  }
  EXPECT_EQ(first, 20);
}

TEST_F(Cuda, OnlyTheHostsMemoryIsPinned) {
  expect_error([] { tn::ones({2}, tn::float32, kCuda).pin_memory(tn::Device(kCuda)); },
               "pin_memory: the tensor is on cuda:0, expected cpu: pinned memory is of the host");
  const Tensor x = tn::ones({2, 3}).t();
  EXPECT_TRUE(x.pin_memory(tn::cpu).same_storage(x)) << "cpu needs none";
  const Tensor pinned = x.pin_memory(tn::Device(kCuda));
  EXPECT_TRUE(pinned.is_contiguous());
  expect_same(pinned, x);
}

TEST_F(Cuda, RefusesMixedDevices) {
  const std::string behind = "cuda:" + std::to_string(n_gpus());
  expect_error([&] { tn::Device{behind}; },
               "device '" + behind + "': index out of range; cuda has " + std::to_string(n_gpus()) +
                   (n_gpus() == 1 ? " device" : " devices"));
  if (n_gpus() < 2) GTEST_SKIP() << "there is one GPU";
  const Tensor a = tn::ones({2}, tn::float32, kCuda), b = tn::ones({2}, tn::float32, "cuda:1");
  expect_error([&] { a + b; }, "cuda:1");
}

TEST_F(Cuda, ReportsAnIndexThatIsOutOfRangeOnce) {
  const Tensor x = tn::ones({2, 5}, tn::float32, kCuda);
  const Tensor index = tn::full({2, 1}, 7, tn::int64, kCuda);
  expect_error([&] { tn::gather(x, 1, index).to_vector<float>(); },
               "gather: index 7 is out of range for dimension 1 of size 5 (cuda:0)");
  expect_error([&] { tn::scatter_add(x, 1, index - 8, x).to_vector<float>(); },
               "scatter: index -1 is out of range for dimension 1 of size 5 (cuda:0)");
  EXPECT_EQ(x.sum().item<float>(), 10);
}

TEST_F(Cuda, IsRefusedInAFork) {
  const Tensor x = tn::ones({2}, tn::float32, kCuda);
  EXPECT_EQ(x.sum().item<float>(), 2);
  const std::string said = in_a_fork([&] { return std::to_string((x + 1).sum().item<float>()); });
  for (const char* part : {"cuda: this process is a fork of one that used the device",
                           "start the process by exec or posix_spawn, or fork before"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

// ---- Kernels at sizes where their shape changes

TEST_F(Cuda, ReducesInPieces) {
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{300000}, {3, 100000}, {100000, 3}, {2000, 150}}) {
    SCOPED_TRACE(sizes[0]);
    int64_t n = 1;
    for (const int64_t size : sizes) n *= size;
    const Tensor x = shuffled(n).reshape(sizes), y = on_cuda(x);
    for (int64_t dim = 0; dim < x.dim(); ++dim) {
      expect_same(y.to(tn::int64).sum({dim}), x.to(tn::int64).sum({dim}));
      expect_same(tn::amax(y, {dim}), tn::amax(x, {dim}));
      expect_same(tn::argmin(y, {dim}), tn::argmin(x, {dim}));
      expect_near(y.sum({dim}).to(tn::cpu), x.to(tn::float64).sum({dim}).to_vector<double>(), 1e-6);
    }
  }
}

// Rows are folded in groups of eight neighbours, which are read in packs where they begin at addresses of
// packs: at any length, in any dtype, and with the same bits at any address.
TEST_F(Cuda, ReducesDenseRowsAtAnyAddress) {
  for (const tn::Dtype dtype :
       {tn::float32, tn::float64, tn::float16, tn::bfloat16, tn::int64, tn::int16, tn::uint8}) {
    for (const int64_t n : {7, 8, 9, 16, 23, 64, 1001, 2056, 70'003}) {
      SCOPED_TRACE(std::string(dtype.name()) + " " + std::to_string(n));
      const Tensor all = ((shuffled(3 * n + 8, 200) + 400) / 7).to(dtype).to(tn::Device(kCuda));
      const Tensor x = all.narrow(0, 0, 3 * n).view({3, n});
      const Tensor sum = x.sum({1}), most = tn::amax(x, {1}), last = tn::argmin(x, {1});
      const Tensor there = x.to(tn::cpu);
      const Tensor wide = there.to(dtype.is_float() ? tn::float64 : tn::int64);
      const bool is_half = dtype == tn::float16 || dtype == tn::bfloat16;
      expect_near(sum.to(tn::cpu).to(tn::float64) / double(n),
                  (wide.sum({1}).to(tn::float64) / double(n)).to_vector<double>(),
                  is_half ? 0.1 : 1e-5);
      expect_same(most, tn::amax(there, {1}));
      expect_same(last, tn::argmin(there, {1}));
      for (const int64_t offset : {1, 2, 4, 7}) {
        const Tensor y = Tensor::empty({3 * n + 8}, dtype, kCuda).narrow(0, offset, 3 * n);
        expect_same(y.view({3, n}).copy_(x).sum({1}), sum.to(tn::cpu));
      }
    }
  }
}

// Neighbouring outputs in groups, with few and with many rows, at addresses where elements are read one
// by one, too; and columns that are no whole groups.
TEST_F(Cuda, ReducesGroupsOfColumns) {
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::int64, tn::uint8}) {
    for (const int64_t columns : {8, 12, 24, 264}) {
      for (const int64_t rows : {1, 3, 40, 700}) {
        SCOPED_TRACE(std::string(dtype.name()) + " [" + std::to_string(rows) + ", " +
                     std::to_string(columns) + "]");
        const Tensor x = (shuffled(rows * columns, 61) + 500).reshape({rows, columns}).to(dtype);
        const Tensor all = Tensor::empty({rows * columns + 8}, dtype, kCuda);
        for (const int64_t offset : {0, 1, 8}) {
          const Tensor y = all.narrow(0, offset, rows * columns).view({rows, columns}).copy_(x);
          const Tensor sums = y.to(tn::float64).sum({0});
          expect_same(sums, x.to(tn::float64).sum({0}));
          expect_same(y.sum({0}).to(tn::float64), x.sum({0}).to(tn::float64));
          expect_same(tn::amax(y, {0}), tn::amax(x, {0}));
          expect_same(tn::argmin(y, 0), tn::argmin(x, 0));
        }
      }
    }
  }
  // Kept dimensions on both sides, of which the last has the groups; and a row that stands for all.
  const Tensor x = shuffled(3 * 50 * 2 * 16).reshape({3, 50, 2, 16}).to(tn::float64);
  const Tensor row = shuffled(16).reshape({16, 1}).to(tn::float64);
  const Tensor y = on_cuda(x), there = on_cuda(row);
  expect_same(y.sum({1}), x.sum({1}));
  expect_same(y.sum({0, 2}), x.sum({0, 2}));
  expect_same((y.transpose(2, 3) * there).sum({1, 3}), (x.transpose(2, 3) * row).sum({1, 3}));
}

// Of several reduced dimensions, and with a mean that stands for a row.
TEST_F(Cuda, ReducesGroupsOfSeveralDimensions) {
  for (const int64_t inner : {8, 12, 24}) {
    const Tensor x = shuffled(5 * 3 * inner).reshape({5, 3, inner}), y = on_cuda(x);
    expect_same(y.to(tn::int64).sum({0, 2}), x.to(tn::int64).sum({0, 2}));
    expect_near(tn::var(y / 100, {0, 2}).to(tn::cpu),
                tn::var(x.to(tn::float64) / 100, {0, 2}).to_vector<double>(), 1e-2);
    expect_near(tn::var(y / 100, {2}).to(tn::cpu),
                tn::var(x.to(tn::float64) / 100, {2}).to_vector<double>(), 1e-2);
  }
}

// Packs, their tail, and addresses at which there are none.
TEST_F(Cuda, CastsAndFillsAtAnyAddress) {
  for (const tn::Dtype to : {tn::float64, tn::float16, tn::int32, tn::int8, tn::bool_}) {
    for (const int64_t n : {1, 3, 15, 16, 17, 1003}) {
      for (const int64_t offset : {0, 1, 8}) {
        SCOPED_TRACE(std::string(to.name()) + " " + std::to_string(n) + " " +
                     std::to_string(offset));
        const Tensor x = shuffled(n + offset, 50), y = on_cuda(x);
        expect_same(y.narrow(0, offset, n).to(to), x.narrow(0, offset, n).to(to));
        Tensor filled = tn::zeros({n + 16}, to), there = tn::zeros({n + 16}, to, kCuda);
        filled.narrow(0, offset, n).fill_(1);
        there.narrow(0, offset, n).fill_(1);
        expect_same(there, filled);
        filled.narrow(0, offset, n).copy_(x.narrow(0, offset, n));
        there.narrow(0, offset, n).copy_(y.narrow(0, offset, n));
        expect_same(there, filled);
      }
    }
  }
}

TEST_F(Cuda, AddsLongRowsWithoutLosingSmallTerms) {
  const Tensor x = tn::full({1 << 20}, 0.1f, tn::float32, kCuda);
  EXPECT_NEAR(x.sum().item<float>(), 104857.6015625, 0.01);
  const Tensor columns = tn::full({40000, 300}, 0.1f, tn::float32, kCuda);
  EXPECT_NEAR(columns.sum({0}).to(tn::cpu).to_vector<float>()[299], 4000.0000596, 0.001);
}

TEST_F(Cuda, ScansRowsLongerThanABlock) {
  const Tensor x = shuffled(3000).reshape({3, 1000}).to(tn::int64), y = on_cuda(x);
  for (const int64_t dim : {0, 1}) expect_same(tn::cumsum(y, dim), tn::cumsum(x, dim));
}

// Few rows of so many values are cut into pieces. Integers are exact in any order.
TEST_F(Cuda, ScansLongRowsInPieces) {
  for (const int64_t n : {4095, 4096, 10'001, 600'000}) {
    SCOPED_TRACE(n);
    const Tensor x = shuffled(2 * n).reshape({2, n}).to(tn::int64), y = on_cuda(x);
    expect_same(tn::cumsum(y, 1), tn::cumsum(x, 1));
    expect_same(tn::flip(tn::cumsum(tn::flip(y, {1}), 1), {1}),
                tn::flip(tn::cumsum(tn::flip(x, {1}), 1), {1}));
    const Tensor signs = tn::sign(x) + (x == 0).to(tn::int64), there = on_cuda(signs);
    expect_same(tn::cumprod(there, 1), tn::cumprod(signs, 1));
  }
}

TEST_F(Cuda, SortsRowsLongerThanATile) {
  for (const int64_t n : {1000, 1025, 3000, 5000}) {
    SCOPED_TRACE(n);
    Tensor x = shuffled(2 * n, 700).reshape({2, n});
    x.mutable_data<float>()[n / 2] = NAN;
    for (const bool descending : {false, true}) {
      for (const bool transposed : {false, true}) {
        const Tensor a = transposed ? x.t() : x, b = transposed ? on_cuda(x).t() : on_cuda(x);
        const auto [values, indices] = tn::sort(b, transposed ? 0 : 1, descending);
        const auto [expected, places] = tn::sort(a, transposed ? 0 : 1, descending);
        expect_same(indices, places);
        expect_same(tn::nan_to_num(values, 1e6), tn::nan_to_num(expected, 1e6));
      }
    }
  }
}

// Runs are merged in groups of eight, which are written in packs where addresses allow it.
TEST_F(Cuda, MergesRunsAtAnyAddress) {
  for (const tn::Dtype dtype : {tn::float64, tn::bfloat16, tn::int64, tn::int32, tn::uint8}) {
    for (const int64_t n : {1027, 2048, 2056, 3079}) {
      SCOPED_TRACE(std::string(dtype.name()) + " " + std::to_string(n));
      const Tensor x = tn::abs(shuffled(3 * n, 190)).to(dtype).reshape({3, n});
      const Tensor memory = Tensor::empty({3 * n + 1}, dtype, kCuda);
      for (const int64_t offset : {0, 1}) {
        const Tensor y = memory.narrow(0, offset, 3 * n).view({3, n}).copy_(x);
        for (const int64_t dim : {0, 1}) {
          const auto [values, indices] = tn::sort(y, dim, offset == 1);
          const auto [expected, places] = tn::sort(x, dim, offset == 1);
          expect_same(indices, places);
          expect_same(values, expected);
        }
      }
    }
  }
}

// More rows than a launch has blocks.
TEST_F(Cuda, SortsManyShortRows) {
  const Tensor x = shuffled(70'000 * 3, 50).reshape({70'000, 3});
  const auto [values, indices] = tn::sort(on_cuda(x), 1);
  const auto [expected, places] = tn::sort(x, 1);
  expect_same(indices, places);
  expect_same(values, expected);
}

TEST_F(Cuda, FindsWhatIsNotZeroInManyBlocks) {
  const Tensor x = (shuffled(300000) > 0).reshape({100, 3000});
  expect_same(tn::nonzero(on_cuda(x)), tn::nonzero(x));
  expect_same(tn::nonzero(on_cuda(x).t()), tn::nonzero(x.t().contiguous()));
}

TEST_F(Cuda, DrawsTheNumbersOfOtherBackends) {
  tn::manual_seed(7);
  const Tensor here = tn::rand({4097});
  tn::manual_seed(7);
  expect_same(tn::rand({4097}, tn::float32, kCuda), here);
}

// Matrices whose rows and columns are both apart are copied, expanded batches are not.
TEST_F(Cuda, MultipliesMatricesInAnyLayout) {
  const Tensor x = shuffled(4 * 6 * 10, 97).reshape({4, 6, 10}), y = on_cuda(x);
  const auto every_layout = [](const Tensor& t) {
    return std::vector<Tensor>{t.narrow(2, 0, 5), t.slice(2, 0, 10, 2),
                               t.narrow(0, 1, 1).expand({4, 6, 10}).narrow(2, 5, 5),
                               t.narrow(1, 0, 5).narrow(2, 0, 6).transpose(1, 2),
                               t.narrow(2, 3, 1).expand({4, 6, 5})};
  };
  const std::vector<Tensor> on_cpu = every_layout(x), there = every_layout(y);
  for (size_t a = 0; a < on_cpu.size(); ++a) {
    for (size_t b = 0; b < on_cpu.size(); ++b) {
      SCOPED_TRACE(std::to_string(a) + " " + std::to_string(b));
      expect_same(tn::matmul(there[a], there[b].transpose(1, 2)),
                  tn::matmul(on_cpu[a], on_cpu[b].transpose(1, 2)));
    }
  }
  expect_same(tn::matmul(y.narrow(1, 0, 1), y.transpose(1, 2)),
              tn::matmul(x.narrow(1, 0, 1), x.transpose(1, 2)));
}

TEST_F(Cuda, MultipliesLargeBatchesInPieces) {
  const Tensor x = shuffled(70'000 * 2, 50).reshape({70'000, 1, 2});
  const Tensor y = shuffled(70'000 * 2, 30).reshape({70'000, 2, 1});
  expect_same(tn::matmul(on_cuda(x), on_cuda(y)), tn::matmul(x, y));
}

TEST_F(Cuda, AddsToNarrowElementsWithinTheirWord) {
  const Tensor index = on_cuda(Tensor::from(std::vector<int64_t>{0, 1, 1, 2, 6, 6, 6}, {7}));
  for (const tn::Dtype dtype : {tn::float16, tn::bfloat16, tn::int8, tn::uint8, tn::int16}) {
    SCOPED_TRACE(dtype.name());
    const Tensor sums =
        tn::scatter_add(tn::zeros({7}, dtype, kCuda), 0, index, tn::ones({7}, dtype, kCuda));
    EXPECT_EQ(sums.to(tn::cpu).to_vector<double>(), (std::vector<double>{1, 2, 1, 0, 0, 0, 3}));
  }
}

// In the long form: two GiB are memory that other tests want.
TEST_F(Cuda, ReachesBeyondTheRangeOfInt) {
  if (!long_form()) GTEST_SKIP() << "in the long form";
  Tensor x = Tensor::empty({2, int64_t{1} << 30}, tn::uint8, kCuda).narrow(1, (1 << 30) - 2, 2);
  x.fill_(5);
  EXPECT_EQ((x + 1).to(tn::cpu).to_vector<double>(), (std::vector<double>{6, 6, 6, 6}));
  EXPECT_EQ(x.to(tn::int64).sum().item<int64_t>(), 20);
  expect_same(tn::nonzero(x - 5), tn::zeros({0, 2}, tn::int64));
}

}  // namespace
