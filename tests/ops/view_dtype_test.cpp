// x.view(dtype): the same bytes as another dtype. Values and refusals are PyTorch's, but where a comment says
// otherwise.
#include <cstdint>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

using tn::Tensor;
using Wholes = std::vector<int64_t>;

TEST(ViewDtype, ShowsTheSameBytes) {
  load_all();
  for (const tn::Device device : devices()) {
    const Tensor x = tn::tensor({{1.0, 2.0}, {3.0, -0.0}}).to(tn::float32).to(device);
    const Tensor bits = x.view(tn::int32);
    EXPECT_EQ(bits.dtype(), tn::int32);
    EXPECT_EQ(bits.sizes(), (Wholes{2, 2}));
    EXPECT_EQ(bits.to_vector<int64_t>(), (Wholes{1065353216, 1073741824, 1077936128, -2147483648}));
    EXPECT_TRUE(bits.same_storage(x));
    const Tensor bytes = x.view(tn::uint8);
    EXPECT_EQ(bytes.sizes(), (Wholes{2, 8}));
    EXPECT_EQ(bytes.to_vector<int64_t>(),
              (Wholes{0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 0, 128}));
    EXPECT_EQ(x.view(tn::int64).to_vector<int64_t>(),
              (Wholes{4611686019492741120, -9223372035776839680}));
    EXPECT_TRUE(tn::equal(bytes.view(tn::float32), x));
    EXPECT_TRUE(tn::equal(x.view(tn::float32), x));
    // What is written to the one is in the other.
    bits.select(0, 0).fill_(1077936128);
    EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{3, 3, 3, 0}));
    EXPECT_EQ(x.version(), bits.version());
  }
}

TEST(ViewDtype, GoesThroughOtherViews) {
  load_all();
  const Tensor t = tn::arange(16, tn::int16).view({4, 4});
  EXPECT_EQ(t.narrow(1, 0, 2).view(tn::int32).to_vector<int64_t>(),
            (Wholes{65536, 327684, 589832, 851980}));
  const Tensor part = t.narrow(0, 1, 3).narrow(1, 2, 2).view(tn::int32);
  EXPECT_EQ(part.sizes(), (Wholes{3, 1}));
  EXPECT_EQ(part.to_vector<int64_t>(), (Wholes{458758, 720906, 983054}));
  // Of one size the elements may lie anyhow.
  EXPECT_EQ(t.t().view(tn::float16).strides(), (Wholes{1, 4}));
  EXPECT_EQ(tn::zeros({0, 4}, tn::float32).view(tn::float64).sizes(), (Wholes{0, 2}));
  EXPECT_EQ(tn::zeros({3, 4}, {.dtype = tn::float32, .device = tn::Device("meta")})
                .view(tn::int16)
                .sizes(),
            (Wholes{3, 8}));
}

TEST(ViewDtype, HasNoGradient) {
  load_all();
  const Tensor x = tn::ones({2}).requires_grad_();
  EXPECT_FALSE(x.view(tn::int32).requires_grad());
  EXPECT_FALSE((x * 2).view(tn::bfloat16).requires_grad());
  // What a graph saved is seen to change, through the other dtype, too.
  const Tensor y = x * 1.0, z = (y * y).sum();
  y.view(tn::int32).zero_();
  EXPECT_NE(message_of([&] { z.backward(); }).find("was changed in place"), std::string::npos);
}

TEST(ViewDtype, SaysWhatCannotBeRead) {
  load_all();
  const Tensor t = tn::arange(16, tn::int16).view({4, 4}),
               odd = tn::arange(9, tn::int16).view({3, 3});
  const auto expect = [](auto call, const char* text) {
    EXPECT_NE(message_of(call).find(text), std::string::npos) << message_of(call);
  };
  expect([] { tn::tensor(1.0).to(tn::float32).view(tn::int16); },
         "view: [] float32 on cpu cannot be read as int16; expected a dtype of as many bytes where "
         "there are no dimensions");
  expect([&] { t.t().view(tn::int32); },
         "expected elements of the last dimension side by side: contiguous() first");
  expect([&] { t.narrow(1, 1, 3).view(tn::int32); },
         "expected a last dimension of 4 bytes times any number, and it has 6");
  expect([&] { odd.narrow(1, 0, 2).view(tn::int32); },
         "expected rows that lie 4 bytes times any number apart");
  expect([&] { t.narrow(1, 1, 2).view(tn::int32); },
         "expected a first element at a multiple of 4 bytes of memory");
  // PyTorch makes bools of other bytes than 0 and 1.
  expect([&] { tn::zeros({2}, tn::uint8).view(tn::bool_); },
         "expected another dtype: a bool is 0 or 1, which x != 0 gives");
  EXPECT_EQ(tn::ones({2}, tn::bool_).view(tn::uint8).to_vector<int64_t>(), (Wholes{1, 1}));
}

TEST(ViewDtype, ACompiledFunctionWithOneRunsEagerly) {
  load_all();
  auto f = tn::compile([](Tensor x) { return (x + 1).view(tn::int32) + 1; });
  const Tensor x = tn::zeros({2}, tn::float32);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(f(x).to_vector<int64_t>(), (Wholes{1065353217, 1065353217}));
}

}  // namespace
