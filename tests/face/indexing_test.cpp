// x[{..}] of the face, for reading and writing: what PyTorch 2.15 gives for the same words.
#include "ops_support.h"

namespace {

using tn::ellipsis, tn::none, tn::slice;

Tensor counting(tn::Device d) { return tn::arange(0, 24, 1, tn::float32, d).reshape({2, 3, 4}); }
Tensor ints(std::vector<int64_t> values, tn::Device d) { return Tensor::from(values, -1, d); }
Tensor mask(std::vector<uint8_t> values, std::vector<int64_t> sizes, tn::Device d) {
  return Tensor::from(values, sizes, d).to(tn::bool_);
}

TEST(Indexing, ReadsAsPyTorch) {
  for (tn::Device d : devices()) {
    const Tensor x = counting(d), i = ints({2, 0}, d), m = mask({1, 0, 1}, {3}, d);
    struct Row {
      const char* name;  // as PyTorch writes it
      Tensor given;
      std::vector<int64_t> sizes;
      std::vector<double> values;
      bool view;
    };
    const Row rows[] = {
        // clang-format off
        {"x[1]", x[1], {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}, true},
        {"x[1] in braces", x[{1}], {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}, true},
        {"x[1][2][3]", x[1][2][3], {}, {23}, true},
        {"x[-1,1]", x[{-1, 1}], {4}, {16, 17, 18, 19}, true},
        {"x[:,1:3]", x[{slice(), slice(1, 3)}], {2, 2, 4}, {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23}, true},
        {"x[...,0]", x[{ellipsis, 0}], {2, 3}, {0, 4, 8, 12, 16, 20}, true},
        {"x[0,None,::2]", x[{0, none, slice(none, none, 2)}], {1, 2, 4}, {0, 1, 2, 3, 8, 9, 10, 11}, true},
        {"x[...,None]", x[{0, 0, ellipsis, none}], {4, 1}, {0, 1, 2, 3}, true},
        {"x[:,-2:]", x[{0, slice(-2, none)}], {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11}, true},
        {"x[:,:-1,1::2]", x[{slice(), slice(none, -1), slice(1, none, 2)}], {2, 2, 2}, {1, 3, 5, 7, 13, 15, 17, 19}, true},
        {"x[5:9]", x[slice(5, 9)], {0, 3, 4}, {}, true},
        {"x[0,1:3,i]", x[{0, slice(1, 3), i}], {2, 2}, {6, 4, 10, 8}, false},
        {"x[0,:,i]", x[{0, slice(), i}], {3, 2}, {2, 0, 6, 4, 10, 8}, false},
        {"x[0,1:3,m4]", x[{0, slice(1, 3), mask({1, 0, 0, 1}, {4}, d)}], {2, 2}, {4, 7, 8, 11}, false},
        {"x[:,m]", x[{slice(), m}], {2, 2, 4}, {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23}, false},
        {"x[:,mm]", x[{slice(), x[0] > 5}], {2, 6}, {6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23}, false},
        {"x[i2,:,i]", x[{ints({1, 0}, d), slice(), i}], {2, 3}, {14, 18, 22, 0, 4, 8}, false},
        {"x[None,1,i]", x[{none, 1, i}], {1, 2, 4}, {20, 21, 22, 23, 12, 13, 14, 15}, false},
        {"x[:,i,None,:2]", x[{slice(), i, none, slice(none, 2)}], {2, 2, 1, 2}, {8, 9, 0, 1, 20, 21, 12, 13}, false},
        {"x[i0]", x[tn::tensor(int64_t(1), d)], {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}, true},
        {"x[x>20]", x[x > 20], {3}, {21, 22, 23}, false},
        // clang-format on
    };
    for (const Row& row : rows) {
      SCOPED_TRACE(d.name() + ": " + row.name);
      expect_sizes(row.given, row.sizes);
      expect_near(row.given, row.values, 0);
      EXPECT_EQ(row.given.same_storage(x), row.view);
    }
    const Tensor number = tn::tensor(3.f, d);
    EXPECT_EQ(number[{ellipsis}].item<float>(), 3);
    expect_sizes(number[none], {1});
  }
}

TEST(Indexing, AssignmentWritesTheTensor) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::zeros({2, 3}, {}, d);
    uint64_t version = x.version();
    x[0] = tn::tensor({1.f, 2.f, 3.f}, d);
    EXPECT_GT(x.version(), version);
    x[{1, slice(1, 3)}] = 7;
    expect_near(x, {1, 2, 3, 0, 7, 7}, 0);
    x[{ellipsis, 0}] = tn::tensor({int64_t(-1), int64_t(-2)}, d);  // cast
    expect_near(x, {-1, 2, 3, -2, 7, 7}, 0);
    x[x < 0] = 0.5;
    expect_near(x, {0.5, 2, 3, 0.5, 7, 7}, 0);
    x[{slice(), ints({2, 0}, d)}] = tn::tensor({{10.0, 20.0}}, d);  // broadcast, cast
    expect_near(x, {20, 2, 10, 20, 7, 10}, 0);
    x[{0, mask({1, 1, 0}, {3}, d)}] += 1;
    x[{1}] *= 2;
    x[1][2] -= 1;
    x[x > 30] /= 2;
    expect_near(x, {21, 3, 10, 20, 14, 19}, 0);
    x[0] = x[1];
    x[{1, ints({0}, d)}] = x[{0, slice(2, 3)}];
    expect_near(x, {20, 14, 19, 19, 14, 19}, 0);
    x[ellipsis] = 4;
    expect_near(x, std::vector<double>(6, 4), 0);
    Tensor large = tn::zeros({2}, tn::int64, d);
    large[0] = (int64_t(1) << 53) + 1;  // no double between
    EXPECT_EQ(large[0].item<int64_t>(), (int64_t(1) << 53) + 1);
    x.index_put_({slice(), ints({0, 0, 1}, d)}, tn::ones({3}, {}, d), /*accumulate=*/true);
    expect_near(x, {6, 5, 4, 6, 5, 4}, 0);
    x.index_put_({0}, tn::tensor(1.f, d), true).index_put_({1, 2}, tn::tensor(0.f, d));
    expect_near(x, {7, 6, 5, 6, 5, 0}, 0);
    // Dimensions of size 1 in front of the values are none.
    x[{0, slice(0, 2)}] = tn::tensor({1.f, 2.f}, d).reshape({1, 1, 2});
    x[{1, ints({2}, d)}] = tn::tensor({3.f}, d).reshape({1, 1});
    expect_near(x, {1, 2, 5, 6, 5, 3}, 0);
    x[{0, slice(0, 2)}] = tn::tensor({7.f, 6.f}, d);
    x[{1, 2}] = 0;
    expect_near(x, {7, 6, 5, 6, 5, 0}, 0);
    // A variable is a handle: assigning to it leaves x alone.
    auto row = x[0];
    row = row * 2;
    expect_near(row, {14, 12, 10}, 0);
    row = x[1];
    expect_near(x, {7, 6, 5, 6, 5, 0}, 0);
    EXPECT_TRUE(row.same_storage(x));
  }
}

TEST(Indexing, GradientsGoThroughReadsAndWrites) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor i = ints({2, 0, 2}, d), m = mask({0, 1, 1}, {3}, d);
    gradcheck(
        [&](const TensorList& in) {
          return tn::square(in[0][{slice(1, none), none, i}]);
        },
        {sample({3, 3}, d)});
    gradcheck(
        [&](const TensorList& in) {
          Tensor x = in[0] * 2;
          x[{slice(1, none), m}] = in[1];
          x[0] = x[1] * 3;
          x[{2, ints({2, 0}, d)}] += x[{1, slice(0, 2)}];
          x[{1, m}] *= 3;
          return tn::square(x);
        },
        {sample({3, 3}, d), sample({2}, d, 0.7)});
    gradcheck(
        [&](const TensorList& in) {
          Tensor x = in[0] * 2;
          x.index_put_({i}, in[1], true);
          return tn::square(x);
        },
        {sample({3, 2}, d), sample({3, 2}, d, 0.7)});
  }
  Tensor leaf = tn::ones({2}).requires_grad_();
  expect_error([&] { leaf[0] = 1; }, "leaf that requires a gradient");
  expect_error([&] { leaf[leaf > 0] = 1; }, "leaf that requires a gradient");
}

TEST(Indexing, Errors) {
  const Tensor x = counting(tn::cpu);
  expect_error([&] { x[2]; }, "index: 2 is out of range for dimension 0 of size 2");
  expect_error(
      [&] {
        x[{0, ellipsis, -5}];
      },
      "index: -5 is out of range for dimension 2 of size 4");
  expect_error(
      [&] {
        x[{slice(), none, 3}];
      },
      "index: 3 is out of range for dimension 1 of size 3");
  expect_error([&] { x[{0, 0, 0, 0}]; }, "index: 4 dimensions are indexed, x has 3");
  expect_error([&] { x[{0, x[0] > 1, 0}]; }, "index: 4 dimensions are indexed, x has 3");
  expect_error([&] { x[{ellipsis, 0, ellipsis}]; }, "index: more than one ellipsis");
  expect_error([&] { x[slice(0, 2, 0)]; }, "slice: step is 0, expected at least 1");
  expect_error([&] { x[tn::tensor({1.f})]; },
               "index: index 0 is float32, expected int64 or int32, or a mask of bool or uint8");
  expect_error(
      [&] {
        x[{slice(), mask({1, 0}, {2}, tn::cpu)}];
      },
      "index: the mask is [2], x is [2, 3, 4]; expected its sizes from dimension 1");
  expect_error([&] { x[ints({2}, tn::cpu)]; }, "2");
  expect_error([&] { Tensor()[0]; }, "the tensor is None");
  expect_error([&] { x.clone()[0] = tn::zeros({5}); }, "[5]");
  expect_error([&] { x.clone()[x > 3] = tn::zeros({5}); },
               "index_put_: [20] and [5] do not broadcast");
  expect_error([&] { tn::index_put_(x.clone(), {x > 3}, tn::zeros({1}, tn::int64)); },
               "index_put_: values are int64, x is float32; expected one dtype");
}

TEST(Indexing, IndexPutInPlaceIsIndexPut) {
  for (tn::Device d : devices()) {
    const Tensor i = ints({1, 1}, d), values = tn::tensor({5.f, 6.f}, d);
    for (bool accumulate : {false, true}) {
      Tensor x = tn::ones({3}, {}, d), y = tn::index_put(x, {i}, values, accumulate);
      Tensor same = tn::index_put_(x, {i}, values, accumulate);
      EXPECT_TRUE(same.same_storage(x));
      if (accumulate) expect_near(x, {1, 12, 1}, 0);
      EXPECT_EQ(x.to_vector<float>(), y.to_vector<float>());
    }
  }
}

TEST(Operators, CompoundOnes) {
  for (tn::Device d : devices()) {
    Tensor x = ints({7, -7, 12}, d);
    x %= 5;
    expect_near(x, {2, 3, 2}, 0);
    x |= 8;
    x &= ints({11, 3, 8}, d);
    x ^= 1;
    expect_near(x, {11, 2, 9}, 0);
  }
}

// One rule for all: what is assigned takes x's dtype, as in PyTorch.
TEST(Indexing, AssignedFloatsAreTruncatedWhereIntegersAre) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::int64, tn::int32, tn::int16, tn::int8, tn::uint8}) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      const Tensor x = tn::zeros({2, 4}, dtype, d), one = tn::tensor(2.7f, d);
      x[{0, 0}] = 2.5;
      x[{0, slice(1, 3)}] = 3.9;
      x[{0, 3}] = one;
      x[{1, mask({1, 0, 1, 0}, {4}, d)}] = 4.5;
      x[{1, ints({1}, d)}] = 5.99;
      x[{1, ints({3}, d)}] = one;
      expect_near(x, {2, 3, 3, 2, 4, 5, 4, 2}, 0);
    }
    const Tensor flags = tn::zeros({3}, tn::bool_, d);
    flags[0] = 0.5;
    flags[ints({2}, d)] = 7;
    expect_near(flags, {1, 0, 1}, 0);
    const Tensor bytes = tn::zeros({3}, tn::uint8, d);
    expect_error([&] { bytes[0] = 300; }, "value is 300, which is no uint8");
    expect_error([&] { bytes[bytes == 0] = 300; }, "value is 300, which is no uint8");
    expect_error([&] { tn::zeros({3}, tn::int64, d)[1] = INFINITY; },
                 "value is inf, which is no int64");
  }
}

TEST(Indexing, TakesInt32IndicesAndMasksOfBytes) {
  for (tn::Device d : devices()) {
    const Tensor x = tn::arange(0, 6, 1, tn::float32, d).reshape({2, 3});
    expect_near(x[ints({1, -2}, d).to(tn::int32)], {3, 4, 5, 0, 1, 2}, 0);
    expect_near(x[{slice(), ints({2, 0}, d).to(tn::int32)}], {2, 0, 5, 3}, 0);
    const Tensor bytes = tn::tensor({1, 0, 2, 0, 0, 9}, d).reshape({2, 3}).to(tn::uint8);
    expect_near(x[bytes], {0, 2, 5}, 0);
    const Tensor y = x.clone();
    y[bytes] = -1;
    expect_near(y, {-1, 1, -1, 3, 4, -1}, 0);
    y[{0, ints({1}, d).to(tn::int32)}] += 10;
    expect_near(y, {-1, 11, -1, 3, 4, -1}, 0);
  }
}

// PyTorch's x[i0, :, i]: a select, then an index. Bytes are masks.
TEST(Indexing, AnIntegerTensorWithoutDimensionsIsAnInt) {
  for (tn::Device d : devices()) {
    const Tensor i = ints({0, 2}, d);
    for (tn::Dtype dtype : {tn::int64, tn::int32}) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      const Tensor x = counting(d), i0 = tn::tensor(int64_t(1), d).to(dtype),
                   last = tn::tensor(int64_t(-1), d).to(dtype);
      expect_sizes(x[{i0, slice(), i}], {3, 2});
      expect_near(x[{i0, slice(), i}], {12, 14, 16, 18, 20, 22}, 0);
      expect_near(x[{slice(), last, i0}], {9, 21}, 0);
      expect_near(x[i0][last], {20, 21, 22, 23}, 0);
      expect_near(x[{none, ellipsis, i0[{ellipsis}]}], {1, 5, 9, 13, 17, 21}, 0);
      const Tensor view = x[i0];
      EXPECT_TRUE(view.same_storage(x));
      view *= 0;
      expect_near(x[1], std::vector<double>(12), 0);
      x[{i0, slice(), i}] = tn::arange(100, 103, 1, tn::float32, d).reshape({3, 1});
      expect_near(x[1], {100, 0, 100, 0, 101, 0, 101, 0, 102, 0, 102, 0}, 0);
      x[{0, i0, last}] = 50;
      x[{0, i0}] += 1;
      x.index_put_({tn::tensor(int64_t(0), d).to(dtype), last}, tn::tensor(2.f, d), true);
      expect_near(x[0], {0, 1, 2, 3, 5, 6, 7, 51, 10, 11, 12, 13}, 0);
      expect_error(
          [&] {
            x[{slice(), slice(), tn::tensor(int64_t(7), d).to(dtype)}];
          },
          "index: 7 is out of range for dimension 2 of size 4");
      expect_error([&] { x[0][0][0][i0]; }, "index: 1 dimensions are indexed, x has 0");
    }
    expect_sizes(counting(d)[tn::tensor(1, d).to(tn::uint8)], {1, 2, 3, 4});
    expect_error([&] { counting(d)[tn::tensor(1.f, d)]; },
                 "index: index 0 is float32, expected int64 or int32");
    gradcheck(
        [&](const TensorList& in) {
          return tn::square(in[0][{tn::tensor(int64_t(1), d), slice(), i}]);
        },
        {sample({2, 2, 3}, d)});
    // The op by name keeps it among its index tensors, as torch.ops.aten.index does.
    expect_sizes(tn::index(counting(d), {tn::tensor(int64_t(1), d), {}, i}), {2, 3});
  }
}

// It takes no dimension and adds one, of size 1 or 0, as a place along it is picked or not.
TEST(Indexing, AMaskWithoutDimensionsAddsOne) {
  for (tn::Device d : devices()) {
    const Tensor x = tn::arange(0, 6, 1, tn::float32, d).reshape({2, 3}), i = ints({1, 0}, d),
                 m = mask({1, 0}, {2}, d);
    const Tensor yes = tn::tensor(true, d), no = tn::tensor(false, d), s = tn::tensor(3.f, d);
    const Tensor byte = tn::tensor(1, d).to(tn::uint8);
    struct Row {
      const char* name;  // as PyTorch writes it
      Tensor given;
      std::vector<int64_t> sizes;
      std::vector<double> values;
    };
    const std::vector<double> all = {0, 1, 2, 3, 4, 5};
    const Row rows[] = {
        // clang-format off
        {"x[T]", x[yes], {1, 2, 3}, all},
        {"x[F]", x[no], {0, 2, 3}, {}},
        {"x[byte]", x[byte], {1, 2, 3}, all},
        {"x[0,T]", x[{0, yes}], {1, 3}, {0, 1, 2}},
        {"x[T,0]", x[{yes, 0}], {1, 3}, {0, 1, 2}},
        {"x[:,T]", x[{slice(), yes}], {2, 1, 3}, all},
        {"x[...,T]", x[{ellipsis, yes}], {2, 3, 1}, all},
        {"x[:,:,F]", x[{slice(), slice(), no}], {2, 3, 0}, {}},
        {"x[T,1:]", x[{yes, slice(1, none)}], {1, 1, 3}, {3, 4, 5}},
        {"x[None,T]", x[{none, yes}], {1, 1, 2, 3}, all},
        {"x[T,None]", x[{yes, none}], {1, 1, 2, 3}, all},
        {"x[T,i]", x[{yes, i}], {2, 3}, {3, 4, 5, 0, 1, 2}},
        {"x[i,T]", x[{i, yes}], {2, 3}, {3, 4, 5, 0, 1, 2}},
        {"x[T,:,i]", x[{yes, slice(), i}], {2, 2}, {1, 4, 0, 3}},
        {"x[:,T,i]", x[{slice(), yes, i}], {2, 2}, {1, 0, 4, 3}},
        {"x[:,i,T]", x[{slice(), i, yes}], {2, 2}, {1, 0, 4, 3}},
        {"x[i,:,T]", x[{i, slice(), yes}], {2, 3}, {3, 4, 5, 0, 1, 2}},
        {"x[i[:1],F]", x[{ints({1}, d), no}], {0, 3}, {}},
        {"x[m,T]", x[{m, yes}], {1, 3}, {0, 1, 2}},
        {"x[T,m]", x[{yes, m}], {1, 3}, {0, 1, 2}},
        {"x[x>2,T]", x[{x > 2, yes}], {3}, {3, 4, 5}},
        {"x[T,T]", x[{yes, yes}], {1, 2, 3}, all},
        {"x[T,F]", x[{yes, no}], {0, 2, 3}, {}},
        {"x[F,F]", x[{no, no}], {0, 2, 3}, {}},
        {"x[T,:,T]", x[{yes, slice(), yes}], {1, 2, 3}, all},
        {"x[F,0,1]", x[{no, 0, 1}], {0}, {}},
        {"s[T]", s[yes], {1}, {3}},
        {"s[F]", s[no], {0}, {}},
        {"s[s>1]", s[s > 1], {1}, {3}},
        {"s[None,T]", s[{none, yes}], {1, 1}, {3}},
        {"e[T]", tn::zeros({0, 3}, {}, d)[yes], {1, 0, 3}, {}},
        // clang-format on
    };
    for (const Row& row : rows) {
      SCOPED_TRACE(d.name() + ": " + row.name);
      expect_sizes(row.given, row.sizes);
      expect_near(row.given, row.values, 0);
    }
    expect_error([&] { x[{no, i}]; }, "index: [0] and [2] do not broadcast");
    expect_error([&] { x[{0, 0, yes, 0}]; }, "index: 3 dimensions are indexed, x has 2");
  }
}

TEST(Indexing, AMaskWithoutDimensionsWritesAllOrNothing) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::arange(0, 6, 1, tn::float32, d).reshape({2, 3}), i = ints({1, 0}, d);
    const Tensor yes = tn::tensor(true, d), no = tn::tensor(false, d);
    const auto after = [&](auto&& write) {
      const Tensor y = x.clone();
      write(y);
      expect_sizes(y, {2, 3});
      return y;
    };
    const std::vector<double> all = {0, 1, 2, 3, 4, 5};
    const Tensor row = tn::tensor({7.f, 8.f, 9.f}, d);
    expect_near(after([&](Tensor y) { y[yes] = 9; }), {9, 9, 9, 9, 9, 9}, 0);
    expect_near(after([&](Tensor y) { y[no] = 9; }), all, 0);
    expect_near(after([&](Tensor y) { y[{0, yes}] = 9; }), {9, 9, 9, 3, 4, 5}, 0);
    expect_near(after([&](Tensor y) { y[yes] = row; }), {7, 8, 9, 7, 8, 9}, 0);
    expect_near(after([&](Tensor y) { y[yes] = (x * 10).unsqueeze(0); }), {0, 10, 20, 30, 40, 50},
                0);
    expect_near(after([&](Tensor y) { y[no] = tn::zeros({0, 2, 3}, {}, d); }), all, 0);
    expect_near(after([&](Tensor y) { y[no] = tn::zeros({2, 3}, {}, d); }), all, 0);
    expect_near(after([&](Tensor y) { y[{yes, i}] = x + 1; }), {4, 5, 6, 1, 2, 3}, 0);
    expect_near(after([&](Tensor y) {
                  y[{slice(), yes}] = tn::ones({2, 1, 3}, {}, d);
                }),
                {1, 1, 1, 1, 1, 1}, 0);
    expect_near(after([&](Tensor y) { y[{slice(), yes, i}] += 10; }), {10, 11, 2, 13, 14, 5}, 0);
    expect_near(after([&](Tensor y) { y.index_put_({yes, i}, x, true); }), {3, 5, 7, 3, 5, 7}, 0);
    const Tensor s = tn::tensor(3.f, d);
    s[no] = 4;
    expect_near(s, {3}, 0);
    s[s > 1] = 4;
    expect_near(s, {4}, 0);
    s[yes] = tn::tensor({5.f}, d);
    expect_near(s, {5}, 0);
    expect_sizes(s, {});
    expect_error(
        [&] {
          x.clone()[no] = tn::zeros({2, 2, 3}, {}, d);
        },
        "index_put_: [0, 2, 3] and [2, 2, 3] do not broadcast");
    // The ops themselves.
    expect_sizes(tn::index(x, {{}, yes}), {2, 1, 3});
    expect_near(tn::index_put(x, {yes}, row), {7, 8, 9, 7, 8, 9}, 0);
    gradcheck(
        [&](const TensorList& in) {
          return tn::square(in[0][{slice(), yes}]) + tn::square(in[0][no]).sum();
        },
        {sample({2, 3}, d)});
    gradcheck(
        [&](const TensorList& in) {
          Tensor y = in[0] * 2;
          y[{yes, i}] = in[1] * in[1];
          y[no] = 5;
          y[{0, yes}] *= in[0][1];
          return tn::square(y);
        },
        {sample({2, 3}, d), sample({2, 3}, d, 0.7)});
  }
}

}  // namespace
