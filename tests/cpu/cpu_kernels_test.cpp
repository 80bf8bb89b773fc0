// The cpu plugin's registrations and its kernels of copies, indices, random bits and losses, under
// the small host of cpu_host.h.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <set>

#include "cpu_host.h"

#include <gtest/gtest.h>

namespace cpu_test {
namespace {

constexpr tn_dtype F = TN_FLOAT32;
constexpr tn_dtype kAll[] = {TN_FLOAT32, TN_FLOAT64, TN_FLOAT16, TN_BFLOAT16, TN_INT64,
                             TN_INT32,   TN_UINT8,   TN_BOOL,    TN_INT8,     TN_INT16};

TEST(CpuPlugin, RegistersItsKernels) {
  EXPECT_STREQ(plugin().manifest->id, "cpu");
  std::set<tn_primitive> primitives;
  for (const auto& [primitive, def] : record().primitives) {
    primitives.insert(primitive);
    EXPECT_STREQ(def.device, "cpu");
  }
  EXPECT_EQ(primitives, (std::set<tn_primitive>{
                            TN_PRIM_ELEMENTWISE, TN_PRIM_REDUCE, TN_PRIM_SCAN, TN_PRIM_MATMUL,
                            TN_PRIM_COPY, TN_PRIM_FILL, TN_PRIM_IOTA, TN_PRIM_GATHER,
                            TN_PRIM_SCATTER, TN_PRIM_SORT, TN_PRIM_RANDOM_BITS, TN_PRIM_NONZERO}));
  EXPECT_TRUE(record().pairs.contains("linear"));
  EXPECT_TRUE(record().ops.contains("linear_relu"));
  EXPECT_STREQ(record().pairs.at("cross_entropy").forward.op,
               "cross_entropy(Tensor input, Tensor target) -> Tensor");
  const char* isa = std::getenv("TENON_CPU_ISA");
  EXPECT_NE(record().log.find(isa ? isa : "cpu: kernels for"), std::string::npos) << record().log;
}

TEST(CpuPlugin, ThreadsCoverEachIndexOnce) {
  plugin();
  const tn_threads_def& threads = record().threads;
  EXPECT_GE(threads.count(threads.self), 1);
  for (const int64_t n : {0, 1, 7, 1000}) {
    for (const int64_t grain : {1, 10, 1000}) {
      std::vector<std::atomic<int>> seen(n);
      struct Context {
        std::vector<std::atomic<int>>* seen;
        std::atomic<bool> small = false;
        int64_t grain;
      } context = {&seen, false, grain};
      parallel_for(
          5, 5 + n, grain,
          [](void* c, int64_t begin, int64_t end) {
            auto* to = static_cast<Context*>(c);
            if (end - begin < to->grain) {
              to->small = true;
            }
            for (int64_t i = begin; i < end; ++i) {
              ++(*to->seen)[i - 5];
            }
          },
          &context);
      for (const auto& count : seen) {
        EXPECT_EQ(count, 1);
      }
      EXPECT_TRUE(!context.small || n < grain);
    }
  }
}

TEST(CpuCopy, EveryLayoutAndPairOfDtypes) {
  const std::vector<int64_t> sizes = {3, 1, 40, 50};
  const std::vector<std::vector<int64_t>> layouts = {
      {}, {2000, 7, 1, 40}, {1, 1, 150, 3}, {5000, 1, 100, 2}};
  for (const auto& from : layouts) {
    for (const auto& to : layouts) {
      for (const tn_dtype dtype : kAll) {
        Tensor x(sizes, dtype, from), y(sizes, dtype, to), z(sizes, F, to);
        x.fill([](int64_t k) { return k % 100 % 2; });
        ASSERT_EQ(launch(TN_PRIM_COPY, {x}, {&y.tensor}), "");
        ASSERT_EQ(launch(TN_PRIM_COPY, {x}, {&z.tensor}), "");
        for (int64_t k = 0; k < x.tensor.numel; ++k) {
          ASSERT_EQ(y.get(k), k % 100 % 2);
          ASSERT_EQ(z.get(k), k % 100 % 2);
        }
        ASSERT_TRUE(y.is_guarded() && z.is_guarded());
      }
    }
  }
  for (const tn_dtype from : kAll) {
    for (const tn_dtype to : kAll) {
      Tensor x({37}, from), y({37}, to);
      x.fill([](int64_t k) { return k % 3; });
      ASSERT_EQ(launch(TN_PRIM_COPY, {x}, {&y.tensor}), "");
      for (int64_t k = 0; k < 37; ++k) {
        ASSERT_EQ(y.get(k), from == TN_BOOL || to == TN_BOOL ? k % 3 != 0 : k % 3)
            << from << " to " << to;
      }
    }
  }
}

TEST(CpuCopy, LargeOnesExpandedOnesAndNone) {
  const int64_t m = 1030, n = 1111;
  Tensor x({m, n}, F, {1, m}), y({m, n}, F), z({m, n}, F);
  x.fill([](int64_t k) { return k; });
  ASSERT_EQ(launch(TN_PRIM_COPY, {x}, {&y.tensor}), "");
  ASSERT_EQ(launch(TN_PRIM_COPY, {y}, {&z.tensor}), "");
  for (int64_t k = 0; k < m * n; ++k) {
    ASSERT_EQ(z.data<float>()[k], static_cast<float>(k));
  }
  Tensor row({1, n}, F);
  row.fill([](int64_t k) { return k; });
  const int64_t expanded_sizes[] = {m, n}, expanded_strides[] = {0, 1};
  tn_tensor expanded = row.tensor;
  expanded.sizes = expanded_sizes;
  expanded.strides = expanded_strides;
  expanded.numel = m * n;
  tn_value value = {TN_KIND_TENSOR, 0, {}};
  value.as.tensor = &expanded;
  ASSERT_EQ(launch(TN_PRIM_COPY, {value}, {&y.tensor}), "");
  EXPECT_EQ(y.get(5 * n + 17), 17);
  Tensor none({0, 3}, F), scalar({}, F), other({}, TN_INT64);
  EXPECT_EQ(launch(TN_PRIM_COPY, {none}, {&none.tensor}), "");
  scalar.set(0, 7);
  EXPECT_EQ(launch(TN_PRIM_COPY, {scalar}, {&other.tensor}), "");
  EXPECT_EQ(other.get(0), 7);
}

TEST(CpuFill, EveryDtypeAndLayout) {
  for (const tn_dtype dtype : kAll) {
    for (const auto& strides : {std::vector<int64_t>{}, {1, 30}, {100, 2}}) {
      Tensor y({30, 40}, dtype, strides);
      y.fill([](int64_t) { return 0; });
      ASSERT_EQ(launch(TN_PRIM_FILL, {real(2)}, {&y.tensor}), "");
      for (int64_t k = 0; k < 1200; ++k) {
        ASSERT_EQ(y.get(k), dtype == TN_BOOL ? 1 : 2);
      }
      ASSERT_EQ(launch(TN_PRIM_FILL, {boolean(true)}, {&y.tensor}), "");
      EXPECT_EQ(y.get(1199), 1);
    }
  }
  Tensor big({1}, TN_INT64);
  ASSERT_EQ(launch(TN_PRIM_FILL, {integer((int64_t{1} << 62) + 1)}, {&big.tensor}), "");
  EXPECT_EQ(big.data<int64_t>()[0], (int64_t{1} << 62) + 1);
}

TEST(CpuIota, IntegersAndFloats) {
  Tensor a({100'000}, TN_INT64), b({1000}, F), c({5}, TN_UINT8);
  ASSERT_EQ(launch(TN_PRIM_IOTA, {integer(-5), integer(3)}, {&a.tensor}), "");
  ASSERT_EQ(launch(TN_PRIM_IOTA, {integer(1), real(0.1)}, {&b.tensor}), "");
  ASSERT_EQ(launch(TN_PRIM_IOTA, {integer(250), integer(2)}, {&c.tensor}), "");
  EXPECT_EQ(a.get(0), -5);
  EXPECT_EQ(a.get(99'999), -5 + 3 * 99'999.0);
  EXPECT_EQ(b.get(999), static_cast<float>(1 + 999 * 0.1));
  EXPECT_EQ(c.get(4), 2);  // 258 wraps
}

TEST(CpuGather, AlongEveryDimensionAndChecksTheIndex) {
  Tensor x({4, 5, 6}, F, {1, 4, 20});
  x.fill([](int64_t k) { return k; });
  for (int dim = 0; dim < 3; ++dim) {
    Tensor index({3, 4, 5}, TN_INT64), y({3, 4, 5}, F);
    index.fill([](int64_t k) { return (k * 5) % 4; });
    ASSERT_EQ(launch(TN_PRIM_GATHER, {x, integer(dim), index}, {&y.tensor}), "");
    for (int64_t k = 0; k < 60; ++k) {
      int64_t at[] = {k / 20, k / 5 % 4, k % 5};
      at[dim] = (k * 5) % 4;
      ASSERT_EQ(y.get(k), at[0] * 30 + at[1] * 6 + at[2]);
    }
    index.set(37, dim == 2 ? 6 : dim == 1 ? 5 : 4);
    const std::string sizes[] = {"4", "5", "6"};
    EXPECT_EQ(launch(TN_PRIM_GATHER, {x, integer(dim), index}, {&y.tensor}),
              "gather: index " + sizes[dim] +
                  " (element 37 of index) is out of range for dimension " + std::to_string(dim) +
                  " of size " + sizes[dim] + " (float32, cpu)");
    index.set(37, -1);
    EXPECT_NE(launch(TN_PRIM_GATHER, {x, integer(dim), index}, {&y.tensor}).find("index -1 "),
              std::string::npos);
  }
}

// An embedding: a row for each index, which is expanded along the row.
tn_tensor expanded_index(Tensor& index, const int64_t* sizes, const int64_t* strides) {
  tn_tensor t = index.tensor;
  t.ndim = 2;
  t.sizes = sizes;
  t.strides = strides;
  t.numel = sizes[0] * sizes[1];
  return t;
}

TEST(CpuGather, RowsOfAnEmbeddingAndTheirGradient) {
  const int64_t n = 3000, words = 50, width = 24;
  for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64, TN_BFLOAT16, TN_INT32}) {
    Tensor table({words, width}, dtype), index({n}, TN_INT64), y({n, width}, dtype),
        gradient({words, width}, dtype);
    table.fill([](int64_t k) { return k % 100; });
    index.fill([](int64_t k) { return k * 7 % 50; });
    const int64_t sizes[] = {n, width}, strides[] = {1, 0};
    tn_tensor expanded = expanded_index(index, sizes, strides);
    tn_value value = {TN_KIND_TENSOR, 0, {}};
    value.as.tensor = &expanded;
    ASSERT_EQ(launch(TN_PRIM_GATHER, {table, integer(0), value}, {&y.tensor}), "");
    for (int64_t k = 0; k < n * width; ++k) {
      ASSERT_EQ(y.get(k), (k / width * 7 % 50 * width + k % width) % 100);
    }
    y.fill([](int64_t) { return 1; });
    gradient.fill([](int64_t) { return 2; });
    ASSERT_EQ(launch(TN_PRIM_SCATTER, {value, integer(0), y, boolean(true)}, {&gradient.tensor}),
              "");
    for (int64_t k = 0; k < words * width; ++k) {
      ASSERT_EQ(gradient.get(k), 2 + n / words);
    }
    // Counted among the indices that there are, and not with what the expanded index repeats.
    index.set(2000, words);
    const std::string refusal = launch(TN_PRIM_GATHER, {table, integer(0), value}, {&y.tensor});
    EXPECT_NE(refusal.find("index 50 (element 2000 of index)"), std::string::npos) << refusal;
  }
}

TEST(CpuScatter, SetsAddsAndRefusesBeforeItWrites) {
  for (const tn_dtype dtype : kAll) {
    for (int dim = 0; dim < 2; ++dim) {
      Tensor y({4, 5}, dtype), index({4, 5}, TN_INT64), source({4, 5}, dtype);
      y.fill([](int64_t) { return 1; });
      source.fill([](int64_t) { return 1; });
      index.fill([&](int64_t k) { return (dim == 0 ? k / 5 + k : k % 5 + k / 5) % 4; });
      const bool flags = dtype == TN_BOOL;
      std::vector<double> want(20, 1);
      for (int64_t k = 0; k < 20; ++k) {
        const int64_t i = static_cast<int64_t>(index.get(k));
        double& to = want[dim == 0 ? i * 5 + k % 5 : k / 5 * 5 + i];
        to = flags ? 1 : to + 1;
      }
      ASSERT_EQ(launch(TN_PRIM_SCATTER, {index, integer(dim), source, boolean(true)}, {&y.tensor}),
                "");
      for (int64_t k = 0; k < 20; ++k) {
        ASSERT_EQ(y.get(k), want[k]) << dtype << " " << dim;
      }
      source.fill([](int64_t) { return 0; });
      ASSERT_EQ(launch(TN_PRIM_SCATTER, {index, integer(dim), source, boolean(false)}, {&y.tensor}),
                "");
      for (int64_t k = 0; k < 20; ++k) {
        const int64_t i = static_cast<int64_t>(index.get(k));
        ASSERT_EQ(y.get(dim == 0 ? i * 5 + k % 5 : k / 5 * 5 + i), 0);
      }
      y.fill([](int64_t) { return 1; });
      index.set(19, 5);
      EXPECT_NE(launch(TN_PRIM_SCATTER, {index, integer(dim), source, boolean(false)}, {&y.tensor})
                    .find("scatter: index 5 "),
                std::string::npos);
      EXPECT_EQ(y.get(0), 1);
    }
  }
}

TEST(CpuRandom, GivesPhiloxKnownAnswers) {
  const auto bits = [](uint64_t seed, uint64_t offset, int64_t n) {
    Tensor y({n}, TN_INT32);
    const tn_random random = {seed, offset, nullptr};
    EXPECT_EQ(launch(TN_PRIM_RANDOM_BITS, {}, {&y.tensor}, &random), "");
    return std::vector<uint32_t>(y.data<uint32_t>(), y.data<uint32_t>() + n);
  };
  // kat_vectors of Random123: philox4x32 10, counter and key all zeros.
  EXPECT_EQ(bits(0, 0, 4), (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  // Each element is the same whatever else is asked for, and on how many threads.
  const auto many = bits(0x123456789abcdef0, 0xfedcba9876543210, 1'000'003);
  const auto few = bits(0x123456789abcdef0, 0xfedcba9876543210, 70);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  // A Philox of this test's own, at several places.
  const auto philox = [](uint64_t counter, uint64_t seed, uint64_t offset, int lane) {
    uint32_t x[] = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                    static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32)};
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (int r = 0; r < 10; ++r, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
      const uint64_t a = 0xD2511F53ull * x[0], b = 0xCD9E8D57ull * x[2];
      const uint32_t y[] = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(b),
                            static_cast<uint32_t>(a >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(a)};
      std::copy(y, y + 4, x);
    }
    return x[lane];
  };
  for (const int64_t i : {0, 1, 5, 69, 4095, 65537, 999'999, 1'000'002}) {
    EXPECT_EQ(many[i],
              philox(i / 4, 0x123456789abcdef0, 0xfedcba9876543210, static_cast<int>(i % 4)))
        << i;
  }
}

TEST(CpuNonzero, InRowMajorOrderForEveryDtype) {
  for (const tn_dtype dtype : kAll) {
    Tensor x({3, 4}, dtype, {1, 3});
    x.fill([](int64_t k) { return k % 5 == 2; });
    std::vector<tn_tensor*> outputs = {nullptr};
    tn_value value = x;
    tn_call call = {};
    call.size = sizeof call;
    call.n_args = 1;
    call.args = &value;
    call.outputs = outputs.data();
    call.n_outputs = 1;
    call.host = &plugin().host;
    ASSERT_EQ(text(record().primitives[TN_PRIM_NONZERO].launch(nullptr, &call)), "");
    ASSERT_EQ(outputs[0]->sizes[0], 2);
    ASSERT_EQ(outputs[0]->sizes[1], 2);
    const int64_t* index = static_cast<const int64_t*>(outputs[0]->data);
    EXPECT_EQ(std::vector<int64_t>(index, index + 4), (std::vector<int64_t>{0, 2, 1, 3}));
  }
}

struct Loss {
  Tensor input, target, loss, lse, gradient, one;
  Loss(int64_t n, int64_t c, tn_dtype dtype)
      : input({n, c}, dtype),
        target({n}, TN_INT64),
        loss({}, dtype),
        lse({n}, TN_FLOAT64),
        gradient({n, c}, dtype),
        one({}, dtype) {
    input.fill([](int64_t k) { return (k * 7) % 13 - 6; });
    target.fill([c](int64_t k) { return k * 3 % c; });
    one.set(0, 1);
  }
  std::string forward(bool with_private = true) {
    const auto& def = record().pairs.at("cross_entropy").forward;
    return launch(def.launch, def.self, {input, target},
                  {&loss.tensor, with_private ? &lse.tensor : nullptr});
  }
  std::string backward() {
    const tn_value none = {TN_KIND_NONE, 0, {}};
    return launch(record().pairs.at("cross_entropy").def.backward, nullptr,
                  {one, input, target, none, lse}, {&gradient.tensor, nullptr});
  }
};

TEST(CpuLoss, CrossEntropyAndItsGradient) {
  plugin();
  for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64, TN_FLOAT16, TN_BFLOAT16}) {
    for (const auto& [n, c] :
         {std::pair<int64_t, int64_t>{1, 1}, {3, 10}, {64, 10}, {5, 2500}, {1000, 33}}) {
      Loss t(n, c, dtype);
      ASSERT_EQ(t.forward(), "");
      ASSERT_EQ(t.backward(), "");
      double want = 0;
      const double tolerance = dtype == TN_FLOAT64   ? 1e-14
                               : dtype == TN_FLOAT32 ? 2e-6
                               : dtype == TN_FLOAT16 ? 1e-3
                                                     : 8e-3;
      for (int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < c; ++j) {
          sum += std::exp(t.input.get(i * c + j));
        }
        const int64_t k = i * 3 % c;
        want += std::log(sum) - t.input.get(i * c + k);
        ASSERT_NEAR(t.lse.get(i), std::log(sum), dtype == TN_FLOAT64 ? 1e-13 : 4e-6);
        for (int64_t j = 0; j < c; ++j) {
          const double d =
              (std::exp(t.input.get(i * c + j)) / sum - (j == k)) / static_cast<double>(n);
          ASSERT_NEAR(t.gradient.get(i * c + j), d, tolerance * std::max(std::abs(d), 1e-4))
              << dtype;
        }
      }
      want /= static_cast<double>(n);
      EXPECT_NEAR(t.loss.get(0), want, tolerance * std::max(want, 1e-3)) << n << " " << c;
      ASSERT_EQ(t.forward(false), "");
      EXPECT_NEAR(t.loss.get(0), want, tolerance * std::max(want, 1e-3));
    }
  }
}

TEST(CpuLoss, LargeLogitsKeepTheirDigits) {
  Loss t(2, 3, F);
  t.input.fill([](int64_t k) { return k < 3 ? 1000.0 * static_cast<double>(k) : -1e7; });
  t.target.fill([](int64_t k) { return k == 0 ? 2 : 1; });
  ASSERT_EQ(t.forward(), "");
  EXPECT_NEAR(t.loss.get(0), std::log(3) / 2, 1e-7);
  ASSERT_EQ(t.backward(), "");
  EXPECT_NEAR(t.gradient.get(3), 1.0 / 3 / 2, 1e-7);
  EXPECT_NEAR(t.gradient.get(4), (1.0 / 3 - 1) / 2, 1e-7);
  t.input.set(0, INFINITY);
  ASSERT_EQ(t.forward(), "");
  EXPECT_TRUE(std::isnan(t.loss.get(0)));  // as log_softmax of such a row
}

TEST(CpuLoss, RefusesTargetsOutOfRange) {
  Loss t(4, 10, F);
  t.target.set(3, 12);
  EXPECT_EQ(t.forward(),
            "cross_entropy: target[3] is 12, expected a class from 0 to 9: input is [4, 10] "
            "(float32, cpu)");
  t.target.set(3, -1);
  EXPECT_NE(t.forward().find("target[3] is -1"), std::string::npos);
  tn_call call = {};
  Tensor cube({2, 3, 4}, F);
  const tn_value args[] = {cube, t.target};
  call.args = args;
  call.n_args = 2;
  char reason[200];
  EXPECT_EQ(
      record().pairs.at("cross_entropy").forward.supports(nullptr, &call, reason, sizeof reason),
      0);
  EXPECT_STREQ(reason, "takes input [n, classes] and target [n], not ranks 3 and 1");
}

}  // namespace
}  // namespace cpu_test
