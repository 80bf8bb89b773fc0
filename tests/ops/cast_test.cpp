// Floats that become integers, bytes and bools: one answer on every device and by every way, which
// abi.h states at TN_I_CAST. Truncated, then wrapped to the width; NaN and what int64 cannot hold
// are INT64_MIN, so 0 in narrower ones; a bool is != 0.
#include "message_of.h"
#include "ops_support.h"

namespace {

using tn::slice;

struct Row {
  double from;
  int64_t int64, int32, uint8, bool_;
  int64_t as(tn::Dtype dtype) const {
    return dtype == tn::int64   ? int64
           : dtype == tn::int32 ? int32
           : dtype == tn::int16 ? static_cast<int16_t>(int64)
           : dtype == tn::int8  ? static_cast<int8_t>(int64)
           : dtype == tn::uint8 ? uint8
                                : bool_;
  }
};
const Row kRows[] = {
    // clang-format off
    {NAN, INT64_MIN, 0, 0, 1}, {INFINITY, INT64_MIN, 0, 0, 1}, {-INFINITY, INT64_MIN, 0, 0, 1},
    {0x1p63, INT64_MIN, 0, 0, 1}, {-0x1p63, INT64_MIN, 0, 0, 1}, {-0x1.0000000000001p63, INT64_MIN, 0, 0, 1},
    {0x1p64, INT64_MIN, 0, 0, 1}, {1e300, INT64_MIN, 0, 0, 1}, {-1e30, INT64_MIN, 0, 0, 1},
    {0x1.fffffep62, 9223371487098961920, 0, 0, 1}, {0x1.fffffffffffffp62, 9223372036854774784, -1024, 0, 1},
    {0x1p31, 2147483648, INT32_MIN, 0, 1}, {-0x1p31, -2147483648, INT32_MIN, 0, 1}, {-0x1.00000004p31, -2147483650, 2147483646, 254, 1},
    {3e9, 3000000000, -1294967296, 0, 1}, {-3e9, -3000000000, 1294967296, 0, 1}, {4294967301.5, 4294967301, 5, 5, 1},
    {16777215, 16777215, 16777215, 255, 1}, {256, 256, 256, 0, 1}, {300.75, 300, 300, 44, 1}, {-300.75, -300, -300, 212, 1},
    {2.5, 2, 2, 2, 1}, {-1.75, -1, -1, 255, 1}, {0.875, 0, 0, 0, 1}, {-0.875, 0, 0, 0, 1}, {0x1p-20, 0, 0, 0, 1},
    {0, 0, 0, 0, 0}, {-0.0, 0, 0, 0, 0},
    // clang-format on
};

// Those of the rows that `dtype` holds, again and again: whole vectors and a tail.
std::vector<Row> rows_of(tn::Dtype dtype) {
  std::vector<Row> list;
  for (int round = 0; round < 7; ++round) {
    for (const Row& row : kRows) {
      const double there = tn::tensor(row.from).to(dtype).item<double>();
      if (there == row.from || (std::isnan(there) && std::isnan(row.from))) list.push_back(row);
    }
  }
  return list;
}

void expect_cast(const Tensor& y, const std::vector<Row>& rows, tn::Dtype dtype, const char* way) {
  SCOPED_TRACE(way);
  ASSERT_EQ(y.dtype(), dtype);
  const std::vector<int64_t> given = y.to_vector<int64_t>();
  ASSERT_EQ(given.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(given[i], rows[i].as(dtype)) << "of " << rows[i].from << " at " << i;
}

template <typename F>
void for_all(F&& f) {
  for (tn::Device d : devices()) {
    for (tn::Dtype from : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
      const std::vector<Row> rows = rows_of(from);
      std::vector<double> values;
      for (const Row& row : rows) values.push_back(row.from);
      const Tensor x = Tensor::from(values, -1, d).to(from);
      for (tn::Dtype to : {tn::int64, tn::int32, tn::int16, tn::int8, tn::uint8, tn::bool_}) {
        SCOPED_TRACE(d.name() + ": " + from.name() + " to " + to.name());
        f(x, rows, to);
      }
    }
  }
}

TEST(Cast, OfTensorsByTo) {
  for_all([](const Tensor& x, const std::vector<Row>& rows, tn::Dtype to) {
    for (const Layout& layout : layouts()) expect_cast(layout.of(x).to(to), rows, to, layout.name);
    for (tn::Device other : devices()) expect_cast(x.to(other, to), rows, to, other.name().c_str());
    for (size_t i = 0; i < std::size(kRows) && i < rows.size(); ++i) {
      EXPECT_EQ(x[int64_t(i)].to(to).item<int64_t>(), rows[i].as(to)) << rows[i].from;
    }
  });
}

TEST(Cast, OfCopiesIntoOtherDtypes) {
  for_all([](const Tensor& x, const std::vector<Row>& rows, tn::Dtype to) {
    for (tn::Device other : devices()) {
      for (const Layout& layout : layouts()) {
        const Tensor y = layout.of(tn::full({x.size(0)}, 1, to, other));
        expect_cast(y.copy_(layout.of(x)), rows, to, layout.name);
      }
    }
    const Tensor wide = tn::zeros({3, x.size(0)}, to, x.device()).copy_(x);
    for (int64_t i = 0; i < 3; ++i) expect_cast(wide[i], rows, to, "broadcast");
  });
}

TEST(Cast, OfAssignedElements) {
  for_all([](const Tensor& x, const std::vector<Row>& rows, tn::Dtype to) {
    const int64_t n = x.size(0);
    const tn::Device d = x.device();
    const Tensor y = tn::zeros({4, n}, to, d), all = tn::arange(0, n, 1, tn::int64, d);
    y[0] = x;
    y[{1, all}] = x;
    y[{2, all >= 0}] = x;
    for (int64_t i = 0; i < n; ++i) y[{3, i}] = x[i];
    const char* const ways[] = {"a view", "indices", "a mask", "one by one"};
    for (int64_t i = 0; i < 4; ++i) expect_cast(y[i], rows, to, ways[i]);
  });
}

constinit tn::ExpressionRef to_int{"_to_int(Tensor x) -> Tensor", "int(x)"};
constinit tn::ExpressionRef to_bool{"_to_bool(Tensor x) -> Tensor", "bool(x)"};
constinit tn::ExpressionRef sum_of_ints{"_sum_of_ints(Tensor x, Tensor y) -> Tensor",
                                        "int(x * 1) + int(y)"};
constinit tn::ExpressionRef int_or_zero{"_int_or_zero(Tensor x, Tensor y) -> Tensor",
                                        "where(y > 0, int(x), 0)"};

TEST(Cast, OfExpressions) {
  for_all([](const Tensor& x, const std::vector<Row>& rows, tn::Dtype to) {
    const Tensor none = tn::zeros_like(x), one = tn::ones_like(x);
    if (to == tn::bool_) expect_cast(tn::prim::elementwise(to_bool, x), rows, to, "bool(x)");
    if (to != tn::int64) return;
    for (const Layout& layout : layouts())
      expect_cast(tn::prim::elementwise(to_int, layout.of(x)), rows, to, layout.name);
    expect_cast(tn::prim::elementwise(sum_of_ints, x, none), rows, to, "a sum");
    expect_cast(tn::prim::elementwise(int_or_zero, x, one), rows, to, "a branch");
  });
}

// Lists as in a tensor of their dtype; one element alone is refused where it does not fit.
TEST(Cast, OfElementsThatAreRead) {
  for_all([](const Tensor& x, const std::vector<Row>& rows, tn::Dtype) {
    const std::vector<int64_t> long_ones = x.to_vector<int64_t>();
    const std::vector<int32_t> ints = x.to_vector<int32_t>();
    const std::vector<uint8_t> bytes = x.to_vector<uint8_t>();
    const std::vector<bool> flags = x.to_vector<bool>();
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(long_ones[i], rows[i].int64) << rows[i].from;
      EXPECT_EQ(ints[i], rows[i].int32) << rows[i].from;
      EXPECT_EQ(bytes[i], rows[i].uint8) << rows[i].from;
      EXPECT_EQ(flags[i], rows[i].bool_ != 0) << rows[i].from;
    }
    EXPECT_EQ(message_of([&] { x[0].item<int>(); }), std::string("item: the element is nan (") +
                                                         x.dtype().name() + "), which is no int32");
  });
}

TEST(Cast, AnItemIsRefusedWhereTheTypeDoesNotHoldIt) {
  const auto refused = [](const Tensor& t, auto of) {
    return message_of([&] { t.item<decltype(of)>(); });
  };
  const auto of = [](int64_t value, tn::Device d) { return tn::full({}, value, tn::int64, d); };
  for (tn::Device d : devices()) {
    EXPECT_EQ(refused(of(300, d), int8_t()), "item: the element is 300 (int64), which is no int8");
    EXPECT_EQ(refused(of(-129, d), int8_t()),
              "item: the element is -129 (int64), which is no int8");
    EXPECT_EQ(refused(of(-1, d), uint8_t()), "item: the element is -1 (int64), which is no uint8");
    EXPECT_EQ(refused(of(-1, d), uint64_t()),
              "item: the element is -1 (int64), which is no uint64");
    EXPECT_EQ(refused(of(int64_t{1} << 31, d), int()),
              "item: the element is 2147483648 (int64), which is no int32");
    EXPECT_EQ(refused(tn::tensor(128.0, tn::float64, d), int8_t()),
              "item: the element is 128 (float64), which is no int8");
    EXPECT_EQ(refused(tn::tensor(-1.5f, d), uint8_t()),
              "item: the element is -1.5 (float32), which is no uint8");
    EXPECT_EQ(refused(tn::tensor(0x1p63, tn::float64, d), int64_t()),
              "item: the element is 9223372036854775808 (float64), which is no int64");
    EXPECT_EQ(refused(tn::tensor(-INFINITY, d), int64_t()),
              "item: the element is -inf (float32), which is no int64");
    EXPECT_EQ(of(-128, d).item<int8_t>(), -128);
    EXPECT_EQ(of(255, d).item<uint8_t>(), 255);
    EXPECT_EQ(of(INT64_MIN, d).item<int64_t>(), INT64_MIN);
    EXPECT_EQ(of(300, d).item<uint64_t>(), 300u);
    EXPECT_EQ(tn::tensor(127.9, tn::float64, d).item<int8_t>(), 127);
    EXPECT_EQ(tn::tensor(-0.5, tn::float64, d).item<uint8_t>(), 0);
    EXPECT_EQ(tn::tensor(-0x1p63, tn::float64, d).item<int64_t>(), INT64_MIN);
    EXPECT_EQ(tn::tensor(0x1p63, tn::float64, d).item<uint64_t>(), uint64_t{1} << 63);
    EXPECT_TRUE(of(300, d).item<bool>());
  }
}

// Whole numbers become the nearest floats, by all of their bits.
TEST(Cast, IntegersBecomeFloats) {
  for (tn::Device d : devices()) {
    for (const tn::Dtype dtype : {tn::uint8, tn::int8, tn::int16, tn::int32}) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      std::vector<int64_t> numbers;
      for (int64_t i = 0; i < 300; ++i) numbers.push_back(i * 16777217 - 2147483648 + i * i);
      const Tensor whole = Tensor::from(numbers).to(dtype);
      const auto wrapped = whole.to(tn::int64).to_vector<int64_t>();
      const auto f32 = whole.to(d).to(tn::float32).to_vector<float>();
      const auto f64 = whole.to(d).to(tn::float64).to_vector<double>();
      const auto half = whole.to(d).to(tn::float16), bfloat = whole.to(d).to(tn::bfloat16);
      for (size_t i = 0; i < wrapped.size(); ++i) {
        EXPECT_EQ(f32[i], float(wrapped[i]));
        EXPECT_EQ(f64[i], double(wrapped[i]));
      }
      EXPECT_TRUE(tn::equal(half, whole.to(d).to(tn::float32).to(tn::float16)));
      EXPECT_TRUE(tn::equal(bfloat, whole.to(d).to(tn::float32).to(tn::bfloat16)));
    }
  }
}

}  // namespace
