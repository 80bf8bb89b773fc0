// Tensors of numbers in a program: the dtypes and sizes that PyTorch gives them.
#include <cmath>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

TEST(Literal, WholeNumbersAreInt64AndFractionsFloat32) {
  EXPECT_EQ(tn::tensor(1).dtype(), tn::int64);
  EXPECT_EQ(tn::tensor({1, 2}).dtype(), tn::int64);
  EXPECT_EQ(tn::tensor({1u, 2u}).dtype(), tn::int64);
  EXPECT_EQ(tn::tensor({int64_t{1}}).dtype(), tn::int64);
  EXPECT_EQ(tn::tensor({{1, 2}, {3, 4}}).dtype(), tn::int64);
  EXPECT_EQ(tn::tensor(0.5).dtype(), tn::float32);
  EXPECT_EQ(tn::tensor({1.0, 2.0}).dtype(), tn::float32);
  EXPECT_EQ(tn::tensor({1.f, 2.f}).dtype(), tn::float32);
  EXPECT_EQ(tn::tensor({{1.0}, {2.0}}).dtype(), tn::float32);
  EXPECT_EQ(tn::tensor(true).dtype(), tn::bool_);
  EXPECT_EQ(tn::tensor({true, false}).dtype(), tn::bool_);
  EXPECT_EQ(tn::tensor({1, 2}).to_vector<int64_t>(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(tn::tensor({0.1, 0.2}).to_vector<float>(), (std::vector<float>{0.1f, 0.2f}));
}

// Types that nobody writes by accident.
TEST(Literal, SmallIntegersKeepTheirDtype) {
  EXPECT_EQ(tn::tensor({int8_t{1}}).dtype(), tn::int8);
  EXPECT_EQ(tn::tensor({uint8_t{1}}).dtype(), tn::uint8);
  EXPECT_EQ(tn::tensor(int16_t{1}).dtype(), tn::int16);
}

// torch.tensor([1, 2.5]).
TEST(Literal, WholeNumbersAndFractionsMix) {
  const Tensor x = tn::tensor({1, 2.5});
  EXPECT_EQ(x.dtype(), tn::float32);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1.f, 2.5f}));
  EXPECT_EQ(tn::tensor({1.f, 2.0}).dtype(), tn::float32);
  load_all();
  EXPECT_EQ(tn::tensor({1, 2.5}, tn::float64).dtype(), tn::float64);
  const Tensor rows = tn::tensor({{1, 2.5}, {3, 4}});
  EXPECT_EQ(rows.dtype(), tn::float32);
  expect_near(rows, {1, 2.5, 3, 4}, 0);
  expect_sizes(rows, {2, 2});
  expect_sizes(tn::tensor({{1}, {2.5}}), {2, 1});
  expect_sizes(tn::tensor({{1, 2.5}}, tn::float64), {1, 2});
  expect_sizes(tn::tensor({{{1, 2.5}, {3, 4}, {5, 6}}}), {1, 3, 2});
  EXPECT_EQ(tn::tensor({{{1, 2.5}}, {{3, 4}}}, tn::float16).dtype(), tn::float16);
  EXPECT_EQ(message_of([] { tn::tensor({{1, 2.5}, {3}}); }), "tensor: rows of different lengths");
}

// int64 takes them all, without a way by doubles.
TEST(Literal, WholeNumbersOfSeveralTypes) {
  load_all();
  const int64_t large = (int64_t{1} << 60) + 1;
  const size_t n = 3;
  EXPECT_EQ(tn::tensor({1, large}).dtype(), tn::int64);
  EXPECT_EQ(tn::tensor({1, large}).to_vector<int64_t>(), (std::vector<int64_t>{1, large}));
  EXPECT_EQ(tn::tensor({{n, large}, {large, n}}).to_vector<int64_t>(),
            (std::vector<int64_t>{3, large, large, 3}));
  const Tensor truths = tn::tensor({{1, 2}, {true, false}});
  EXPECT_EQ(truths.dtype(), tn::int64);
  expect_near(truths, {1, 2, 1, 0}, 0);
  EXPECT_EQ(tn::tensor({0, n}, tn::float64).dtype(), tn::float64);
  expect_sizes(tn::tensor({{{0, n}}}), {1, 1, 2});
  const uint64_t beyond = uint64_t{1} << 63;
  const std::string refused = "tensor: 9223372036854775808 is more than int64 holds";
  EXPECT_EQ(message_of([&] { tn::tensor({1, beyond}); }), refused);
  EXPECT_EQ(message_of([&] { tn::tensor({beyond, beyond}); }), refused);
  EXPECT_EQ(message_of([&] { tn::tensor(beyond); }), refused);
  EXPECT_EQ(tn::tensor(beyond - 1).item<int64_t>(), INT64_MAX);
}

TEST(Literal, ADtypeThatIsGivenIsTaken) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({0.1, 1e-300}, tn::float64, d);
    EXPECT_EQ(x.device(), d);
    EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{0.1, 1e-300})) << "no way by float32";
    EXPECT_EQ(tn::tensor({1, 2}, tn::float16, d).dtype(), tn::float16);
    EXPECT_EQ(tn::tensor(7, tn::int32, d).dtype(), tn::int32);
    EXPECT_EQ(tn::tensor({1.9, -1.9}, tn::int64, d).to_vector<int64_t>(),
              (std::vector<int64_t>{1, -1}));
    EXPECT_EQ(tn::tensor({{1, 2}}, tn::uint8, d).dtype(), tn::uint8);
    const int64_t large = (int64_t{1} << 53) + 1;
    EXPECT_EQ(tn::tensor(large, tn::int64, d).item<int64_t>(), large) << "no way by float64";
  }
}

TEST(Literal, BracesNestToThreeDimensions) {
  expect_sizes(tn::tensor(1), {});
  expect_sizes(tn::tensor({1}), {1});
  expect_sizes(tn::tensor({{1}, {2}}), {2, 1});
  expect_sizes(tn::tensor({{1.0}, {2.0}}), {2, 1});
  const Tensor x = tn::tensor({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}});
  expect_sizes(x, {3, 2, 2});
  EXPECT_EQ(x.to_vector<int64_t>()[11], 12);
  expect_error([] { tn::tensor({{1, 2}, {3}}); }, "tensor: rows of different lengths");
  expect_error([] { tn::tensor({{{1}, {2}}, {{3}}}); }, "tensor: blocks of different lengths");
}

TEST(Literal, BracesNestAsDeepAsTheyAreWritten) {
  load_all();
  const Tensor image = tn::tensor({{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}});
  expect_sizes(image, {1, 2, 2, 2});
  EXPECT_EQ(image.dtype(), tn::int64);
  EXPECT_EQ(image.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  const Tensor volume = tn::tensor({{{{{0.1, 2}}, {{3, 4}}}}}, tn::float64);
  expect_sizes(volume, {1, 1, 2, 1, 2});
  expect_near(volume, {0.1, 2, 3, 4}, 0);
  EXPECT_EQ(tn::tensor({{{{true}, {false}}}}).dtype(), tn::bool_);
  EXPECT_EQ(tn::tensor({{{{uint8_t{1}}}}}).dtype(), tn::uint8);
  EXPECT_EQ(tn::tensor({{{{1}, {2.5}}}}).dtype(), tn::float32);
  expect_sizes(tn::tensor({{{{1}, {2.5}}}}), {1, 1, 2, 1});
  expect_sizes(tn::tensor({{{{{{{1}}}}}}}, {.requires_grad = false}), {1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(message_of([] { tn::tensor({{{{1, 2}, {3}}}}); }), "tensor: rows of different lengths");
  EXPECT_EQ(message_of([] {
              tn::tensor({{{{1}, {2}}, {{3}}}});
            }),
            "tensor: blocks of different lengths");
  EXPECT_EQ(message_of([] {
              tn::tensor({{{{1, 2}, 3}}});
            }),
            "tensor: a number stands beside numbers in braces");
  EXPECT_EQ(message_of([] {
              tn::tensor({{{1, {2, 3}}}});
            }),
            "tensor: a number stands beside numbers in braces");
}

TEST(Literal, NoNumbersAreATensorOfNoElements) {
  load_all();
  expect_sizes(tn::tensor({}), {0});
  EXPECT_EQ(tn::tensor({}).dtype(), tn::float32);
  EXPECT_EQ(tn::tensor({}, tn::kLong).dtype(), tn::int64);
  EXPECT_EQ(tn::tensor({}, {.dtype = tn::int8}).dtype(), tn::int8);
  EXPECT_TRUE(tn::tensor({}, {.requires_grad = true}).requires_grad());
  expect_sizes(tn::tensor({{}, {}}), {2, 0});
  for (const tn::Device d : devices()) EXPECT_EQ(tn::tensor({}, d).device(), d);
}

// PyTorch's "value cannot be converted to type uint8 without overflow".
TEST(Literal, RefusesNumbersThatADtypeOfIntegersDoesNotHold) {
  load_all();
  EXPECT_EQ(message_of([] {
              tn::tensor({300, -1}, tn::uint8);
            }),
            "tensor: 300 is no uint8, expected 0 to 255");
  EXPECT_EQ(message_of([] {
              tn::tensor({3, -1}, tn::uint8);
            }),
            "tensor: -1 is no uint8, expected 0 to 255");
  EXPECT_EQ(message_of([] { tn::tensor(128, {.dtype = tn::int8}); }),
            "tensor: 128 is no int8, expected -128 to 127");
  EXPECT_EQ(message_of([] {
              tn::tensor({{1, 300.5}}, tn::int8);
            }),
            "tensor: 300.5 is no int8, expected -128 to 127");
  expect_error([] { tn::tensor({{{{int64_t{1} << 40}}}}, tn::int32); }, "is no int32");
  expect_error([] { tn::tensor({std::nan("")}, tn::int64); }, "tensor: nan is no int64");
  expect_error([] { tn::tensor({0x1p63}, tn::int64); }, "is no int64");
  EXPECT_EQ(tn::tensor({-0x1p63}, tn::int64).item<int64_t>(), INT64_MIN);
  EXPECT_EQ(tn::tensor({255.5}, tn::uint8).item<int>(), 255);
  EXPECT_EQ(tn::tensor({2, 0}, tn::bool_).to_vector<int>(), (std::vector<int>{1, 0}));
  EXPECT_TRUE(std::isinf(tn::tensor({1e300}, tn::float16).item<double>()));
  EXPECT_EQ(tn::tensor(std::vector<int>{300}, tn::uint8).item<int>(), 44) << "converted, as by to";
}

// As torch.tensor of a numpy array: the program has chosen the type of its elements.
TEST(Literal, AVectorKeepsTheTypeOfItsElements) {
  EXPECT_EQ(tn::tensor(std::vector<double>{1, 2}).dtype(), tn::float64);
  EXPECT_EQ(tn::tensor(std::vector<int32_t>{1, 2}).dtype(), tn::int32);
  EXPECT_EQ(tn::tensor(std::vector<int32_t>{1, 2}, tn::int64).dtype(), tn::int64);
  EXPECT_EQ(Tensor::from(std::vector<double>{1, 2}).dtype(), tn::float64);
  EXPECT_EQ(Tensor::from({1.0, 2.0}).dtype(), tn::float64);
}

TEST(Literal, VectorsOfVectorsHaveTwoDimensions) {
  const std::vector<std::vector<float>> rows = {{1, 2, 3}, {4, 5, 6}};
  const Tensor x = tn::tensor(rows);
  expect_sizes(x, {2, 3});
  EXPECT_EQ(x.dtype(), tn::float32);
  EXPECT_EQ(x.to_vector<float>()[5], 6);
  EXPECT_EQ(tn::tensor(rows, tn::int64).dtype(), tn::int64);
  expect_sizes(tn::tensor(std::vector<std::vector<float>>()), {0, 0});
  expect_error(
      [] {
        tn::tensor(std::vector<std::vector<int>>{{1, 2}, {3}});
      },
      "tensor: rows of different lengths");
}

TEST(Literal, ShiftsAndTakeAreSpelledAsInPyTorch) {
  const Tensor x = tn::tensor({{1, 2}, {3, 4}});
  EXPECT_EQ((x << 2).to_vector<int64_t>(), (std::vector<int64_t>{4, 8, 12, 16}));
  EXPECT_EQ((x >> x).to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(x.take(tn::tensor({3, 0})).to_vector<int64_t>(), (std::vector<int64_t>{4, 1}));
}

// What stopped programs: classes, indices and places as a user writes them.
TEST(Literal, NumbersInBracesAreIndicesAndClasses) {
  for (const tn::Device d : devices()) {
    const Tensor table = tn::ones({4, 3}, {}, d);
    expect_sizes(tn::embedding(table, tn::tensor({1, 3}, d)), {2, 3});
    expect_sizes(tn::gather(table, 0, tn::tensor({{1, 3, 0}}, d)), {1, 3});
    expect_near(tn::cross_entropy(table, tn::tensor({1, 2, 0, 1}, d)), {std::log(3.0)});
  }
}

}  // namespace
