// The table of dtypes, against the limits of C++'s types. Promotion is in expression_typing_test.
#include <cfloat>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "tensor/dtype.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

constexpr tn_dtype f4 = TN_FLOAT32, f8 = TN_FLOAT64, f2 = TN_FLOAT16, bf = TN_BFLOAT16,
                   i8 = TN_INT64, i4 = TN_INT32, u1 = TN_UINT8, i1 = TN_INT8, i2 = TN_INT16;

TEST(Dtypes, NamesAndSizesGoBothWays) {
  const char* names[] = {"float32", "float64", "float16", "bfloat16", "int64",
                         "int32",   "uint8",   "bool",    "int8",     "int16"};
  constexpr uint32_t kBytes[] = {4, 8, 2, 2, 8, 4, 1, 1, 1, 2};
  for (tn_dtype dtype = 0; dtype < TN_N_DTYPES; ++dtype) {
    EXPECT_STREQ(dtype_name(dtype), names[dtype]);
    EXPECT_EQ(dtype_from_name(names[dtype]), dtype);
    EXPECT_EQ(item_size(dtype), kBytes[dtype]);
    EXPECT_EQ(is_float(dtype), dtype <= TN_BFLOAT16);
    EXPECT_EQ(is_half(dtype), dtype == TN_FLOAT16 || dtype == TN_BFLOAT16);
    EXPECT_EQ(instruction_set_of(dtype), dtype >= TN_INT8 ? 2u : 1u);
  }
  EXPECT_EQ(dtype_from_name("int"), TN_DTYPE_NONE);
  for (const tn_dtype none :
       std::initializer_list<tn_dtype>{TN_DTYPE_NONE, TN_COMPLEX64, 64, INT32_MAX, INT32_MIN}) {
    EXPECT_STREQ(dtype_name(none), "unknown");
    EXPECT_EQ(item_size(none), 0u);
    EXPECT_FALSE(is_float(none) || is_half(none) || is_known_dtype(none)) << none;
  }
}

TEST(Dtypes, RangesAreThoseOfTheirTypes) {
  using namespace dtype_table;
  EXPECT_EQ(greatest(f8), DBL_MAX);
  EXPECT_EQ(greatest(f4), FLT_MAX);
  EXPECT_EQ(least(f4), -FLT_MAX);
  EXPECT_EQ(greatest(f2), 65504);
  EXPECT_EQ(greatest(bf), 0x1.fep127);
  EXPECT_EQ(greatest(i8), 0x1.fffffffffffffp62);  // the last double that is an int64
  EXPECT_EQ(least(i8), -0x1p63);
  EXPECT_EQ(greatest(i4), INT32_MAX);
  EXPECT_EQ(least(i2), INT16_MIN);
  EXPECT_EQ(greatest(i1), INT8_MAX);
  EXPECT_EQ(greatest(u1), 255);
  EXPECT_EQ(least(u1), 0);
  EXPECT_EQ(int_range(i8).greatest, INT64_MAX);
  EXPECT_EQ(int_range(i8).least, INT64_MIN);
  EXPECT_EQ(int_range(u1).greatest, 255);
  EXPECT_EQ(int_range(i1).least, -128);
}

TEST(Dtypes, IntegersWrapToTheirWidth) {
  using dtype_table::wrap;
  EXPECT_EQ(wrap(i1, 128), -128);
  EXPECT_EQ(wrap(i1, -129), 127);
  EXPECT_EQ(wrap(i2, 65535), -1);
  EXPECT_EQ(wrap(u1, -1), 255);
  EXPECT_EQ(wrap(i4, int64_t{1} << 31), INT32_MIN);
  EXPECT_EQ(wrap(i8, INT64_MIN), INT64_MIN);
}

}  // namespace
}  // namespace tenon
