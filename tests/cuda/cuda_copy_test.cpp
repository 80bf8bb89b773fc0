// Copies on the device `cuda` between operands that are dense along different dimensions, at sizes,
// layouts and addresses where their launch changes: against `cpu`.
#include "fake_launches.h"
#include "ops_support.h"

namespace {

const char* const kCuda = "cuda:0";
using Names = std::vector<std::string>;

struct CudaCopy : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

// n small whole numbers in no order, 0 among them.
Tensor numbers(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i * 7919 % 104729 % 101));
  return Tensor::from(values, sizes);
}

// x on the device, `offset` elements behind an aligned address.
Tensor there(const Tensor& x, int64_t offset = 0) {
  const Tensor memory = Tensor::empty({x.numel() + offset}, x.dtype(), kCuda);
  return memory.narrow(0, offset, x.numel()).view(x.sizes()).copy_(x);
}

void expect_same(const Tensor& found, const Tensor& expected) {
  expect_sizes(found, {expected.sizes().begin(), expected.sizes().end()});
  EXPECT_EQ(found.dtype(), expected.dtype());
  EXPECT_EQ(found.to(tn::cpu).contiguous().to_vector<double>(),
            expected.contiguous().to_vector<double>());
}

// That the work launches this one kernel, where the driver tells.
Tensor launches(const char* kernel, const std::function<Tensor()>& work) {
  Tensor y;
  if (const auto found = fake_launches([&] { y = work(); })) {
    EXPECT_EQ(*found, Names{kernel});
  }
  return y;
}

// Elements of each size, at tiles that are whole and others, with rows that begin at addresses of
// runs and others.
TEST_F(CudaCopy, TransposesInTiles) {
  const std::vector<std::pair<int64_t, int64_t>> shapes = {{8, 32},  {32, 8},   {32, 32}, {33, 31},
                                                           {64, 64}, {65, 130}, {16, 16}, {200, 9}};
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16, tn::int64,
                                tn::int32, tn::int16, tn::int8, tn::uint8, tn::bool_}) {
    for (const auto& [rows, columns] : shapes) {
      for (const int64_t offset : {0, 1, 2}) {
        SCOPED_TRACE(std::string(dtype.name()) + " [" + std::to_string(rows) + ", " +
                     std::to_string(columns) + "] + " + std::to_string(offset));
        const Tensor x = numbers({rows, columns}).to(dtype), y = there(x, offset);
        expect_same(launches("copy_tiles", [&] { return y.t().contiguous(); }), x.t());
        const Tensor into = there(tn::zeros({columns, rows}, dtype), offset);
        launches("copy_tiles", [&] { return into.copy_(y.t()); });
        expect_same(into, x.t());
      }
    }
  }
}

TEST_F(CudaCopy, CastsWhatItTransposes) {
  const tn::Dtype dtypes[] = {tn::float64, tn::float32, tn::bfloat16, tn::int16, tn::bool_};
  const Tensor all = numbers({3, 37, 70});
  for (const tn::Dtype from : dtypes) {
    for (const tn::Dtype to : dtypes) {
      SCOPED_TRACE(std::string(from.name()) + " to " + to.name());
      const Tensor x = all.to(from), y = there(x);
      const Tensor into = Tensor::empty({3, 70, 37}, to, kCuda);
      launches("copy_tiles", [&] { return into.copy_(y.transpose(1, 2)); });
      expect_same(into, x.to(to).transpose(1, 2));
    }
  }
}

// Images to channels-last and back, and dimensions that merge only in another order than theirs.
TEST_F(CudaCopy, PermutesBatches) {
  const Tensor x = numbers({2, 17, 5, 9}), y = there(x);
  const auto permuted = [&](const Tensor& t, const std::vector<int64_t>& dims) {
    return t.permute(dims).contiguous();
  };
  const std::vector<int64_t> last = {0, 2, 3, 1}, first = {0, 3, 1, 2};
  const Tensor channels_last = launches("copy_tiles", [&] { return permuted(y, last); });
  expect_same(channels_last, permuted(x, last));
  expect_same(launches("copy_tiles", [&] { return permuted(channels_last, first); }), x);
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{
           {3, 1, 2, 0}, {1, 0, 2, 3}, {2, 3, 0, 1}, {3, 2, 1, 0}, {1, 3, 0, 2}})
    expect_same(permuted(y, dims), permuted(x, dims));
  // A part of each row, every other row, and a row that stands for all.
  const Tensor a = numbers({40, 90}), b = there(a);
  expect_same(b.narrow(1, 3, 50).t().contiguous(), a.narrow(1, 3, 50).t());
  expect_same(b.slice(0, 1, 40, 2).t().contiguous(), a.slice(0, 1, 40, 2).t());
  expect_same(b.narrow(0, 7, 1).expand({30, 90}).t().contiguous(),
              a.narrow(0, 7, 1).expand({30, 90}).t());
  const Tensor part = tn::zeros({90, 64}, tn::float32, kCuda);
  launches("copy_tiles", [&] { return part.narrow(1, 5, 40).copy_(b.t()); });
  expect_same(part.narrow(1, 5, 40), a.t());
  expect_same(part.narrow(1, 45, 19), tn::zeros({90, 19}));
}

// More tiles than a launch has blocks.
TEST_F(CudaCopy, TransposesManySmallMatrices) {
  const Tensor x = numbers({4200, 16, 16}), y = there(x);
  expect_same(launches("copy_tiles", [&] { return y.transpose(1, 2).contiguous(); }),
              x.transpose(1, 2));
}

TEST_F(CudaCopy, FewNeighboursAreNoTile) {
  const Tensor x = there(numbers({7, 300})), small = there(numbers({15, 15}));
  launches("copy", [&] { return x.t().contiguous(); });
  launches("copy", [&] { return small.t().contiguous(); });
}

// In whatever order dimensions lie, memory without gaps is read and written in packs.
TEST_F(CudaCopy, CastsChannelsLastInPacks) {
  const Tensor x = numbers({2, 9, 6, 7}).permute({0, 3, 1, 2}), y = there(numbers({2, 9, 6, 7}));
  const Tensor image = y.permute({0, 3, 1, 2});
  const Tensor half = launches("copy_packs", [&] { return image.to(tn::float16); });
  EXPECT_EQ(half.stride(1), 1);
  expect_same(half, x.to(tn::float16));
}

}  // namespace
