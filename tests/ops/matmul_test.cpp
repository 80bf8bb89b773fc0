// Matrix products.
#include "ops_support.h"

namespace {

Tensor counted(std::vector<int64_t> sizes, tn::Device d) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return tn::arange(0, n).to(tn::float32).to(d).view(sizes);
}

TEST(Matmul, Values) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor a = counted({2, 3}, d), b = counted({3, 2}, d);
    expect_near(tn::matmul(a, b), {10, 13, 28, 40});
    expect_near(tn::matmul(a, a.t()), {5, 14, 14, 50});
    Tensor v = counted({3}, d);
    expect_near(tn::matmul(v, v), {5});
    expect_sizes(tn::matmul(v, v), {});
    expect_near(tn::matmul(a, v), {5, 14});
    expect_near(tn::matmul(v, b), {10, 13});
    expect_sizes(tn::matmul(counted({4, 2, 3}, d), v), {4, 2});
    expect_sizes(tn::matmul(v, counted({4, 3, 2}, d)), {4, 2});
    expect_sizes(tn::matmul(counted({4, 2, 3}, d), b), {4, 2, 2});
    expect_near(tn::matmul(counted({2, 2, 3}, d), b), {10, 13, 28, 40, 46, 67, 64, 94});
    expect_sizes(tn::matmul(counted({5, 1, 2, 3}, d), counted({4, 3, 2}, d)), {5, 4, 2, 2});
    // Broadcast batches: each with the same b.
    Tensor batched = tn::matmul(counted({2, 2, 3}, d), counted({1, 3, 2}, d));
    expect_near(batched, {10, 13, 28, 40, 46, 67, 64, 94});
  }
}

// a [2, 3], b [3, 2], v [3], batches [2, 2, 3] and [2, 3, 2], counted from 0; values are PyTorch's.
struct Row {
  const char* name;
  OpUnderTest op;
  std::vector<std::vector<int64_t>> inputs;
  std::vector<double> values;
  std::vector<int64_t> sizes;
};
OpUnderTest einsum(const char* equation) {
  return [equation](const TensorList& in) { return tn::einsum(equation, in); };
}
const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {"mm",
       [](const TensorList& in) { return tn::mm(in[0], in[1]); },
       {{2, 3}, {3, 2}},
       {10, 13, 28, 40},
       {2, 2}},
      {"bmm",
       [](const TensorList& in) { return tn::bmm(in[0], in[1]); },
       {{2, 2, 3}, {2, 3, 2}},
       {10, 13, 28, 40, 172, 193, 244, 274},
       {2, 2, 2}},
      {"mv",
       [](const TensorList& in) { return tn::mv(in[0], in[1]); },
       {{2, 3}, {3}},
       {5, 14},
       {2}},
      {"dot", [](const TensorList& in) { return tn::dot(in[0], in[1]); }, {{3}, {3}}, {5}, {}},
      {"outer",
       [](const TensorList& in) { return tn::outer(in[0], in[1]); },
       {{2}, {3}},
       {0, 0, 0, 0, 1, 2},
       {2, 3}},
      {"addmm",
       [](const TensorList& in) { return tn::addmm(in[0], in[1], in[2]); },
       {{2}, {2, 3}, {3, 2}},
       {10, 14, 28, 41},
       {2, 2}},
      {"addmm weighted",
       [](const TensorList& in) { return tn::addmm(in[0], in[1], in[2], 2, 0.5); },
       {{2, 1}, {2, 3}, {3, 2}},
       {5, 6.5, 16, 22},
       {2, 2}},
      {"addmm without x",
       [](const TensorList& in) { return tn::addmm(in[0] / 0.0, in[1], in[2], 0, 2); },
       {{2}, {2, 3}, {3, 2}},
       {20, 26, 56, 80},
       {2, 2}},
      {"baddbmm",
       [](const TensorList& in) { return tn::baddbmm(in[0], in[1], in[2], 1, 2); },
       {{2, 1, 1}, {2, 2, 3}, {2, 3, 2}},
       {20, 26, 56, 80, 345, 387, 489, 549},
       {2, 2, 2}},
      {"einsum matmul", einsum("ij,jk->ik"), {{2, 3}, {3, 2}}, {10, 13, 28, 40}, {2, 2}},
      {"einsum implicit", einsum("ij, jk"), {{2, 3}, {3, 2}}, {10, 13, 28, 40}, {2, 2}},
      {"einsum implicit order", einsum("ba"), {{2, 3}}, {0, 3, 1, 4, 2, 5}, {3, 2}},
      {"einsum batch",
       einsum("bij,bjk->bki"),
       {{2, 2, 3}, {2, 3, 2}},
       {10, 28, 13, 40, 172, 244, 193, 274},
       {2, 2, 2}},
      {"einsum dots",
       einsum("...ij,...jk->...ik"),
       {{2, 2, 3}, {3, 2}},
       {10, 13, 28, 40, 46, 67, 64, 94},
       {2, 2, 2}},
      {"einsum dots implicit", einsum("i...,i..."), {{2, 3}, {2, 1}}, {3, 4, 5}, {3}},
      {"einsum dots summed", einsum("...->"), {{2, 3}}, {15}, {}},
      {"einsum trace", einsum("ii"), {{3, 3}}, {12}, {}},
      {"einsum diagonal", einsum("ii->i"), {{3, 3}}, {0, 4, 8}, {3}},
      {"einsum diagonal of three", einsum("iji->ij"), {{2, 3, 2}}, {0, 2, 4, 7, 9, 11}, {2, 3}},
      {"einsum thrice", einsum("iii->i"), {{2, 2, 2}}, {0, 7}, {2}},
      {"einsum sum", einsum("ij->j"), {{2, 3}}, {3, 5, 7}, {3}},
      {"einsum dot", einsum("i,i->"), {{3}, {3}}, {5}, {}},
      {"einsum outer", einsum("i,j->ji"), {{2}, {3}}, {0, 0, 0, 1, 0, 2}, {3, 2}},
      {"einsum hadamard", einsum("ij,ij->ij"), {{2, 2}, {2, 2}}, {0, 1, 4, 9}, {2, 2}},
      {"einsum bilinear",
       einsum("bn,anm,bm->ba"),
       {{2, 3}, {2, 3, 2}, {2, 2}},
       {13, 31, 176, 536},
       {2, 2}},
      {"einsum of sums alone", einsum("ij,kl->"), {{2, 2}, {1, 2}}, {6}, {}},
      {"einsum broadcast", einsum("ij,jk->ik"), {{2, 1}, {3, 2}}, {0, 0, 6, 9}, {2, 2}},
      {"einsum of ones", einsum("ij,jk->ik"), {{1, 1}, {1, 2}}, {0, 0}, {1, 2}},
      {"einsum as it is", einsum("ij->ij"), {{2, 2}}, {0, 1, 2, 3}, {2, 2}},
      {"einsum of nothing", einsum("ij,jk->ik"), {{2, 0}, {0, 2}}, {0, 0, 0, 0}, {2, 2}},
  };
  return list;
}

TEST(Matmul, EachOpHasPyTorchsValuesAndGradient) {
  for (tn::Device d : devices()) {
    for (const Row& row : rows()) {
      SCOPED_TRACE(d.name() + " " + row.name);
      TensorList inputs, wide, samples;
      for (const auto& sizes : row.inputs) {
        inputs.push_back(counted(sizes, d));
        wide.push_back(counted(sizes, d).to(tn::float64));
        samples.push_back(sample(sizes, d, double(samples.size())));
      }
      expect_near(row.op(inputs), row.values);
      expect_near(row.op(wide), row.values, 1e-12);
      expect_sizes(row.op(inputs), row.sizes);
      EXPECT_FALSE(row.op(inputs).same_storage(inputs[0]));
      gradcheck(row.op, samples);
    }
  }
}

TEST(Matmul, EinsumOfNumbersAndIntegers) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor two = tn::full({}, 2.0, {}, d), i = tn::arange(0, 3, 1, {}, d);
    expect_near(tn::einsum(",->", {two, two}), {4});
    expect_near(tn::einsum("i,->i", {i, i[2]}), {0, 2, 4});
    EXPECT_EQ(tn::einsum("i,i->i", {i, i}).dtype(), tn::int64);
    expect_sizes(tn::einsum("...", {two}), {});
  }
}

TEST(Matmul, EachOpRefusesWhatDoesNotFit) {
  Tensor a = tn::zeros({2, 3}), b = tn::zeros({3, 2}), v = tn::zeros({3}), w = tn::zeros({2, 2, 3});
  expect_error([&] { tn::mm(a, v); }, "mm: a is [2, 3], b is [3]; expected 2 and 2 dimensions");
  expect_error([&] { tn::mm(a, a); }, "inner dimensions differ");
  expect_error([&] { tn::bmm(a, b); },
               "bmm: a is [2, 3], b is [3, 2]; expected 3 and 3 dimensions");
  expect_error(
      [&] {
        tn::bmm(w, tn::zeros({1, 3, 2}));
      },
      "bmm: a is [2, 2, 3], b is [1, 3, 2]; expected one batch size");
  expect_error([&] { tn::mv(v, a); }, "mv: a is [3], b is [2, 3]; expected 2 and 1 dimensions");
  expect_error([&] { tn::dot(a, v); }, "dot: a is [2, 3], b is [3]; expected 1 and 1 dimensions");
  expect_error([&] { tn::dot(v, tn::zeros({2})); }, "expected b's dimension 0 to be 3");
  expect_error([&] { tn::outer(a, v); }, "outer: a is [2, 3]");
  expect_error([&] { tn::addmm(v, a, b); }, "addmm: x is [3], the product is [2, 2]");
  expect_error([&] { tn::addmm(w, a, b); }, "addmm: x is [2, 2, 3], the product is [2, 2]");
  expect_error([&] { tn::addmm(v, a, v); }, "addmm: a is [2, 3], b is [3]");
  expect_error([&] { tn::baddbmm(v, a, b); },
               "baddbmm: a is [2, 3], b is [3, 2]; expected 3 and 3 dimensions");
  expect_error([&] { tn::einsum("ij,jk", {a}); },
               "einsum: 'ij,jk': it names 2 operands, here are 1");
  expect_error([&] { tn::einsum("ijk", {a}); }, "operand 0 is [2, 3], 'ijk' has 3 indices");
  expect_error([&] { tn::einsum("i", {a}); }, "operand 0 is [2, 3], 'i' has 1 indices");
  expect_error([&] { tn::einsum("ij,jk", {a, a}); }, "index 'j' is of size 3 and 2");
  expect_error(
      [&] {
        tn::einsum("...j,...k", {a, tn::zeros({5, 2})});
      },
      "a dimension of '...' is of size 2 and 5");
  expect_error([&] { tn::einsum("ii", {a}); }, "index 'i' is of size 2 and 3 in one operand");
  expect_error([&] { tn::einsum("ij->ii", {a}); }, "index 'i' is twice in the result");
  expect_error([&] { tn::einsum("ij->k", {a}); }, "index 'k' of the result is in no operand");
  expect_error([&] { tn::einsum("ij1", {a}); }, "'1' is no index");
  expect_error([&] { tn::einsum("......", {a}); }, "'...' at most once in a part");
}

TEST(Matmul, EmptyAndOne) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    expect_near(tn::matmul(tn::zeros({2, 0}, {}, d), tn::zeros({0, 2}, {}, d)), {0, 0, 0, 0});
    expect_sizes(tn::matmul(tn::zeros({0, 3}, {}, d), tn::zeros({3, 4}, {}, d)), {0, 4});
    expect_sizes(tn::matmul(tn::zeros({0, 2, 3}, {}, d), tn::zeros({3, 4}, {}, d)), {0, 2, 4});
    expect_near(tn::matmul(tn::full({1, 1}, 3.0, {}, d), tn::full({1, 1}, 2.0, {}, d)), {6});
  }
}

TEST(Linear, IsAMatmulAndABias) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = counted({2, 3}, d), w = counted({2, 3}, d), b = tn::tensor({-20.f, 1.f}, d);
    expect_near(tn::linear(x, w), {5, 14, 14, 50});
    expect_near(tn::linear(x, w, b), {-15, 15, -6, 51});
    expect_near(tn::linear_relu(x, w, b), {0, 15, 0, 51});
    expect_near(tn::linear_relu(x, w), {5, 14, 14, 50});
    expect_near(tn::linear(x[1], w, b), {-6, 51});
    expect_sizes(tn::linear(counted({4, 2, 3}, d), w, b), {4, 2, 2});
  }
}

TEST(FeedForward, IsTwoLinearMaps) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = counted({2, 3}, d), w1 = counted({4, 3}, d) - 5, w2 = counted({2, 4}, d);
    const Tensor b1 = tn::tensor({1.f, -2.f, 0.f, 3.f}, d), b2 = tn::tensor({0.5f, -0.5f}, d);
    const std::pair<const char*, std::function<Tensor(Tensor)>> kinds[] = {
        {"relu", [](Tensor t) { return tn::relu(t); }},
        {"gelu", [](Tensor t) { return tn::gelu(t); }},
        {"gelu_tanh", [](Tensor t) { return tn::gelu(t, "tanh"); }}};
    for (const auto& [name, activation] : kinds) {
      const Tensor y = tn::feed_forward(x, w1, b1, w2, b2, name);
      expect_near(y, tn::linear(activation(tn::linear(x, w1, b1)), w2, b2).to_vector<double>());
      expect_near(tn::feed_forward(x[1], w1, {}, w2, {}, name),
                  tn::linear(activation(tn::linear(x[1], w1)), w2).to_vector<double>());
    }
    expect_error([&] { tn::feed_forward(x, w1, b1, w2, b2, "tanh"); },
                 "feed_forward: activation is 'tanh', expected 'relu', 'gelu' or 'gelu_tanh'");
    expect_error([&] { tn::feed_forward(x, w2, b1, w2, {}); },
                 "feed_forward: x is [2, 3], weight1 is [2, 4], bias1 is [4], weight2 is [2, 4]; "
                 "expected x [.., in], weight1 [hidden, in], bias1 [hidden], weight2 "
                 "[out, hidden], bias2 [out]");
    expect_error([&] { tn::feed_forward(x, w1, b1, w2, b1); }, ", bias2 is [4]; expected");
    expect_error([&] { tn::feed_forward(x, w1, b1.to(tn::float64), w2, b2); },
                 "feed_forward: bias1 is float64, x is float32; expected one dtype");
    expect_error([&] { tn::feed_forward(x.to(tn::int64), w1, b1, w2, b2); },
                 "feed_forward: x is int64, expected a floating dtype");
  }
}

TEST(Matmul, ErrorsSayWhatWouldFit) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor a = tn::zeros({64, 100}, {}, d), b = tn::zeros({128, 100}, {}, d);
    auto wrong = [&] { tn::matmul(a, b); };
    expect_error(wrong,
                 "matmul: inner dimensions differ: a is [64, 100], b is [128, 100] (float32, " +
                     d.name() + ")");
    expect_error(wrong, "expected b's dimension 0 to be 100; did you mean matmul(a, b.t())?");
    expect_error([&] { tn::matmul(a, tn::zeros({7}, {}, d)); }, "b is [7]");
    expect_error([&] { tn::matmul(a, tn::tensor(1.f, d)); }, "at least 1 dimension");
    expect_error([&] { tn::matmul(a, tn::zeros({100, 2}, tn::float64, d)); }, "float64");
    expect_error([&] { tn::linear(a, tn::zeros({5, 99}, {}, d)); }, "weight is [5, 99]");
    expect_error(
        [&] {
          tn::linear(a, tn::zeros({5, 99}, {}, d));
        },
        "Here the last dimension of x is " + std::to_string(a.size(-1)) + ", that of weight 99");
    expect_error(
        [&] {
          tn::linear(a, tn::zeros({1, 5, 99}, {}, d));
        },
        "Here weight has 3 dimensions");
    expect_error([&] { tn::linear(a, b, tn::zeros({5}, {}, d)); }, "bias is [5]");
  }
}

// Integers are multiplied and added in their dtype, and wrap; PyTorch refuses bool.
TEST(Matmul, OfIntegersStaysInTheirDtype) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype dtype : {tn::int64, tn::int32, tn::uint8}) {
      SCOPED_TRACE(dtype.name());
      Tensor a = tn::arange(0, 6, 1, {}, d).to(dtype).reshape({2, 3}),
             b = tn::arange(0, 12, 1, {}, d).to(dtype).reshape({3, 4});
      const std::vector<double> product = {20, 23, 26, 29, 56, 68, 80, 92};
      for (const Tensor& y :
           {tn::matmul(a, b), tn::mm(a, b), tn::einsum("ij,jk->ik", {a, b}), tn::linear(a, b.t()),
            tn::matmul(transposed_layout(a), stepped_layout(b))}) {
        EXPECT_EQ(y.dtype(), dtype);
        expect_sizes(y, {2, 4});
        expect_near(y, product);
      }
      Tensor batch = tn::bmm(tn::stack({a, a + a}), tn::stack({b, b}));
      expect_near(batch.select(0, 1), {40, 46, 52, 58, 112, 136, 160, 184});
      expect_near(tn::matmul(tn::stack({a, a}).unsqueeze(1), tn::stack({b, b, b}))[1][2], product);
      expect_near(tn::mv(a, b.select(1, 0)), {20, 56});
      EXPECT_EQ(tn::dot(a[0], a[1]).item<double>(), 14);
      expect_near(tn::outer(a[0], a[1]), {0, 0, 0, 3, 4, 5, 6, 8, 10});
      expect_near(tn::einsum("ij,jk,k->i", {a, b, b[0]}),
                  {162, dtype == tn::uint8 ? 504 - 256. : 504.});
      Tensor sum = tn::addmm(b[0], a, b, 2, 3);
      EXPECT_EQ(sum.dtype(), dtype);
      expect_near(sum, {60, 71, 82, 93, 168, 206, 244, dtype == tn::uint8 ? 282 - 256. : 282.});
      // Factors lose their fractions, as in PyTorch.
      expect_near(tn::addmm(b[0], a, b, 2.9, 3.5), sum.to_vector<double>());
      expect_near(tn::addmm(b[0], a, b, 0.5, 1.5), product);
      expect_near(tn::baddbmm(b[0], a.unsqueeze(0), b.unsqueeze(0), -0.5, 1), product);
      expect_error([&] { tn::addmm(b[0], a, b, NAN); },
                   "addmm: beta is nan, which is no " + std::string(dtype.name()));
      expect_error([&] { tn::baddbmm(b[0], a.unsqueeze(0), b.unsqueeze(0), 1, 1e30); },
                   "baddbmm: alpha is 1e+30, which is no " + std::string(dtype.name()));
      expect_sizes(tn::matmul(a.slice(1, 0, 0), b.slice(0, 0, 0)), {2, 4});
      EXPECT_EQ(tn::matmul(a.slice(1, 0, 0), b.slice(0, 0, 0)).sum().item<double>(), 0);
    }
    Tensor bytes = tn::tensor({200, 100}, d).to(tn::uint8);
    EXPECT_EQ(tn::dot(bytes, bytes).item<double>(), (200 * 200 + 100 * 100) % 256);
    Tensor large = tn::full({2}, 65536, tn::int32, d);
    EXPECT_EQ(tn::dot(large, large).item<double>(), 0);
    Tensor mask = tn::ones({2, 2}, tn::bool_, d);
    expect_error([&] { tn::matmul(mask, mask); }, "matmul: a is [2, 2] bool");
    expect_error([&] { tn::linear(mask, mask); }, "linear: matmul: a is [2, 2] bool");
  }
}

TEST(Matmul, LinearOfOneRowOfWeights) {
  for (tn::Device d : devices()) {
    Tensor x = counted({2, 3}, d), w = counted({3}, d), b = tn::tensor(10.f, d);
    expect_sizes(tn::linear(x, w), {2});
    expect_near(tn::linear(x, w), {5, 14});
    expect_near(tn::linear(x, w, b), {15, 24});
    expect_sizes(tn::linear(x[0], w, b), {});
    expect_sizes(tn::linear(counted({4, 2, 3}, d), w), {4, 2});
    expect_near(tn::linear_relu(x, w, b), {15, 24});
    expect_error([&] { tn::linear(x, counted({2}, d)); }, "or weight [in], bias []");
    expect_error([&] { tn::linear(x, w, counted({2}, d)); }, "bias is [2]");
    gradcheck([](const TensorList& in) { return tn::linear(in[0], in[1], in[2]); },
              {sample({2, 3}, d), sample({3}, d), sample({}, d)});
  }
}

TEST(Matmul, AddrMultipliesInTheDtypeOfItsResult) {
  for (const tn::Device d : devices()) {
    const Tensor a = tn::tensor({9}).to(d, tn::uint8), b = tn::tensor({128}).to(d, tn::uint8);
    expect_near(tn::addr(tn::zeros({1, 1}, {}, d), a, b), {1152});
  }
}

}  // namespace
