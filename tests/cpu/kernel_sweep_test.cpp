// Every kernel of the device cpu, of ops and of primitives, against what it means on the reference
// device: on cpu in each dtype that it takes and in each layout, on `ref` with the same values in
// float64; integers, indices and bits exactly. A kernel without a sample fails the test.
#include <array>
#include <memory>
#include <set>

#include <nlohmann/json.hpp>

#include "ops_support.h"

namespace {

using tn::Dtype;

const std::vector<Dtype> kFloats = {tn::float32, tn::float64, tn::float16, tn::bfloat16};
const std::vector<Dtype> kInts = {tn::int64, tn::int32, tn::int16, tn::int8, tn::uint8};
const std::vector<Dtype> kNumbers = {tn::float32, tn::float64, tn::float16, tn::bfloat16, tn::int64,
                                     tn::int32,   tn::int16,   tn::int8,    tn::uint8};
const std::vector<Dtype> kAll = {tn::float32, tn::float64, tn::float16, tn::bfloat16, tn::int64,
                                 tn::int32,   tn::int16,   tn::int8,    tn::uint8,    tn::bool_};

// The distance of 1 from the next number, and the smallest number.
double epsilon(Dtype dtype) {
  return dtype == tn::float64    ? 0x1p-52
         : dtype == tn::float32  ? 0x1p-23
         : dtype == tn::float16  ? 0x1p-10
         : dtype == tn::bfloat16 ? 0x1p-7
                                 : 0;
}
double smallest(Dtype dtype) {
  return dtype == tn::float64    ? 0x1p-1074
         : dtype == tn::float32  ? 0x1p-149
         : dtype == tn::float16  ? 0x1p-24
         : dtype == tn::bfloat16 ? 0x1p-133
                                 : 0;
}
// Half types are computed in float32.
double epsilon_within(Dtype dtype) { return dtype.is_half() ? 0x1p-23 : epsilon(dtype); }

// Beyond the half unit of the result's own rounding, in units of what is computed with: of the
// dtype itself where each intermediate result is stored in it.
struct Error {
  double relative = 0;
  double absolute = 0;
  bool stored = false;
};

// A sum of so many numbers below 1: each addition rounds a partial sum of about 1, or of about the
// sum; their errors go both ways and add up as a random walk does.
Error sum_of(double length) { return {std::sqrt(length) / 2, std::sqrt(length)}; }

// A sum of so many products, one after the other: the partial sums are a random walk too, to the
// root of the length, and each is rounded.
Error products(double length) { return {std::sqrt(length) / 2, length / 2}; }

struct Sample {
  std::string kernel;
  std::string what;
  std::vector<Dtype> dtypes;
  TensorList inputs;           // float64, converted to the dtype; int64 ones are indices and stay
  std::vector<int64_t> batch;  // per input the dimension that may have any size, or -1
  Error error;
  std::function<Tensor(const TensorList&, Dtype, tn::Device)> f;
};

Tensor converted(const Tensor& x, Dtype dtype) {
  if (!x.dtype().is_float()) return x;
  if (dtype.is_float()) return x.to(dtype);
  if (dtype == tn::bool_) return x > 0;
  return (dtype == tn::uint8 ? tn::abs(x) * 20 : x * 20).to(dtype);
}

using Samples = std::vector<Sample>;

void elementwise(Samples& list) {
  Tensor x = sample({37, 53}), y = sample({37, 53}, {}, 0.4);
  Tensor positive = tn::abs(x) + 0.05;
  auto add = [&](const char* formula, const std::vector<Dtype>& dtypes, Error error,
                 const TensorList& inputs) {
    auto program =
        std::make_shared<tn::ExpressionRef>("_swept(Tensor x, Tensor y) -> Tensor", formula);
    list.push_back({"elementwise",
                    formula,
                    dtypes,
                    inputs,
                    {0, 0},
                    error,
                    [program](const TensorList& in, Dtype, tn::Device) {
                      return tn::prim::elementwise(*program, in[0], in[1]);
                    }});
  };
  for (const char* exact : {"max(x, y)", "min(x, y)", "where(x > y, x, y)", "x", "clamp(x, 0, 1)"})
    add(exact, kNumbers, {}, {x, y});
  for (const char* logic :
       {"x < y", "x == y", "x >= y", "bool(x) and bool(y)", "isnan(x) or x != y"})
    add(logic, kAll, {}, {x, y});
  add("x + y", kAll, {}, {x, y});
  add("x * y", kAll, {}, {x, y});
  add("x - y", kNumbers, {}, {x, y});
  add("abs(x) + sign(y)", kNumbers, {}, {x, y});
  add("x * y + y - 2 * x", kNumbers, {0, 2}, {x, y});  // 3 roundings of numbers below 4
  add("x / y", kFloats, {0.5}, {x, positive});
  // Functions: at most 4 units of the float that computes them.
  for (const char* function : {"exp(x)", "expm1(x)", "tanh(x)", "sigmoid(x)", "sin(x)", "cos(x)",
                               "atan(x)", "erf(x)", "sinh(x)", "cosh(x)", "exp2(x)", "asin(x)"}) {
    add(function, kFloats, {4}, {x, y});
  }
  for (const char* function :
       {"log1p(x)", "sqrt(x)", "rsqrt(x)", "x ** y", "x ** 2.5", "x ** 3", "x ** -0.5"}) {
    add(function, kFloats, {4}, {positive, y});
  }
  add("log(x)", kFloats, {4}, {positive, y});
  add("floor(x * 8) + ceil(y * 8) + trunc(x * 4) + round(y * 4)", kFloats, {}, {x, y});
  for (const char* whole : {"x // y", "x % y", "x & y", "x | y", "(x << 2) >> 1", "x ** 3", "~x"})
    add(whole, kInts, {}, {x, y});
  add("float(x) / 8", kInts, {}, {x, y});
}

void scan(Samples& list) {
  const Tensor x = sample({37, 53}), small = sample({5, 7});
  for (const bool reverse : {false, true}) {
    for (const int64_t dim : {0, 1}) {
      const std::string where = std::to_string(dim) + (reverse ? " reverse" : "");
      list.push_back({"scan",
                      "sum " + where,
                      kAll,
                      {x},
                      {1 - dim},
                      sum_of(53),
                      [=](const TensorList& in, Dtype, tn::Device) {
                        return tn::prim::scan(TN_REDUCE_SUM, in[0], dim, reverse);
                      }});
      list.push_back({"scan",
                      "prod " + where,
                      kFloats,
                      {small},
                      {1 - dim},
                      {7, 1},
                      [=](const TensorList& in, Dtype, tn::Device) {
                        return tn::prim::scan(TN_REDUCE_PROD, in[0], dim, reverse);
                      }});
    }
  }
}

void sort(Samples& list) {
  // Few values, so that many are equal.
  const Tensor x = (sample({11, 29}) * 8.0).to(tn::int64).to(tn::float64) / 8.0;
  for (const bool descending : {false, true}) {
    for (const int64_t dim : {0, 1}) {
      const std::string where = std::to_string(dim) + (descending ? " descending" : "");
      list.push_back({"sort",
                      "values " + where,
                      kAll,
                      {x},
                      {1 - dim},
                      {},
                      [=](const TensorList& in, Dtype, tn::Device) {
                        return std::get<0>(tn::prim::sort(in[0], dim, descending));
                      }});
      list.push_back({"sort",
                      "indices " + where,
                      kAll,
                      {x},
                      {1 - dim},
                      {},
                      [=](const TensorList& in, Dtype, tn::Device) {
                        return std::get<1>(tn::prim::sort(in[0], dim, descending));
                      }});
    }
  }
}

void reduce(Samples& list) {
  Tensor x = sample({37, 53});
  struct Kind {
    const char* name;
    tn_reduce_kind kind;
  };
  constexpr Kind kinds[] = {{"sum", TN_REDUCE_SUM},       {"prod", TN_REDUCE_PROD},
                            {"max", TN_REDUCE_MAX},       {"min", TN_REDUCE_MIN},
                            {"argmax", TN_REDUCE_ARGMAX}, {"argmin", TN_REDUCE_ARGMIN}};
  for (const Kind& k : kinds) {
    for (int dim : {-1, 0, 1}) {  // -1: all
      const std::vector<int64_t> dims =
          dim < 0 ? std::vector<int64_t>{} : std::vector<int64_t>{dim};
      const double length = dim < 0 ? 37 * 53 : dim == 0 ? 37 : 53;
      // A product has a rounding for each factor.
      Error error = k.kind == TN_REDUCE_SUM ? sum_of(length) : Error();
      if (k.kind == TN_REDUCE_PROD) error.relative = length / 2;
      const int64_t batch = k.kind <= TN_REDUCE_PROD || dim == 1 ? 0 : dim == 0 ? 1 : -1;
      list.push_back({"reduce",
                      std::string(k.name) + " of " + std::to_string(dim),
                      k.kind <= TN_REDUCE_PROD ? kAll : kNumbers,
                      {k.kind == TN_REDUCE_PROD ? x * 0.02 + 1 : x},
                      {batch},
                      error,
                      [kind = k.kind, dims](const TensorList& in, Dtype, tn::Device) {
                        return tn::prim::reduce(kind, in[0], dims, true);
                      }});
    }
  }
  static constinit tn::ExpressionRef product{"_product(Tensor x, Tensor y) -> Tensor", "x * y"};
  static constinit tn::ExpressionRef root{"_root(Tensor x) -> Tensor", "sqrt(abs(x)) + 1"};
  list.push_back({"reduce",
                  "with a prologue",
                  kFloats,
                  {x, sample({37, 53}, {}, 2)},
                  {0, 0},
                  sum_of(53),
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::prim::reduce(TN_REDUCE_SUM, in, {1}, false, product);
                  }});
  list.push_back({"reduce",
                  "with an epilogue",
                  kFloats,
                  {tn::abs(x) + 0.5},
                  {0},
                  {4 + std::sqrt(53.0)},
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::prim::reduce_then(TN_REDUCE_SUM, in[0], {1}, false, root);
                  }});
}

void matmul(Samples& list) {
  auto product = [](const TensorList& in, Dtype, tn::Device) {
    return tn::prim::matmul(in[0], in[1]);
  };
  for (auto [m, k, n] : {std::array<int64_t, 3>{37, 53, 29}, {1, 64, 5}, {5, 130, 1}, {8, 1, 8}}) {
    const std::string sizes = std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
    list.push_back({"matmul",
                    sizes,
                    kFloats,
                    {sample({m, k}), sample({k, n}, {}, 1)},
                    {0, -1},
                    sum_of(double(k)),
                    product});
  }
  list.push_back({"matmul",
                  "batched",
                  kFloats,
                  {sample({3, 1, 7, 9}), sample({2, 9, 5}, {}, 1)},
                  {0, 0},
                  sum_of(9),
                  product});
  TensorList layer = {sample({37, 53}), sample({29, 53}, {}, 1), sample({29}, {}, 2)};
  list.push_back(
      {"linear",
       "with a bias",
       kFloats,
       layer,
       {0, -1, -1},
       sum_of(53),
       [](const TensorList& in, Dtype, tn::Device) { return tn::linear(in[0], in[1], in[2]); }});
  list.push_back({"linear_relu",
                  "with a bias",
                  kFloats,
                  layer,
                  {0, -1, -1},
                  sum_of(53),
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::linear_relu(in[0], in[1], in[2]);
                  }});
  layer = {sample({3, 5, 53}), sample({29, 53}, {}, 1)};
  list.push_back(
      {"linear",
       "3 dimensions",
       kFloats,
       layer,
       {0, -1},
       sum_of(53),
       [](const TensorList& in, Dtype, tn::Device) { return tn::linear(in[0], in[1]); }});
  list.push_back(
      {"linear_relu",
       "3 dimensions",
       kFloats,
       layer,
       {0, -1},
       sum_of(53),
       [](const TensorList& in, Dtype, tn::Device) { return tn::linear_relu(in[0], in[1]); }});
}

void make_and_move(Samples& list) {
  Tensor x = sample({37, 53});
  for (Dtype to : kAll) {
    // Truncated or rounded once; what no uint8 is, is not asked for.
    list.push_back(
        {"copy",
         std::string("to ") + to.name(),
         kAll,
         {tn::abs(x) * 3},
         {0},
         {},
         [to](const TensorList& in, Dtype, tn::Device) { return tn::prim::copy(in[0], to); }});
    list.push_back(
        {"fill", to.name(), {to}, {}, {}, {}, [](const TensorList&, Dtype dtype, tn::Device d) {
           return tn::prim::fill({5, 7}, 2.75, dtype, d);
         }});
  }
  for (Dtype dtype : kNumbers) {
    list.push_back(
        {"iota", dtype.name(), {dtype}, {}, {}, {}, [](const TensorList&, Dtype as, tn::Device d) {
           return tn::prim::iota(100, 3, 1, as, d);
         }});
  }
  list.push_back(
      {"iota", "in quarters", kFloats, {}, {}, {}, [](const TensorList&, Dtype as, tn::Device d) {
         return tn::prim::iota(100, 1.5, 0.25, as, d);
       }});
  for (int64_t n : {0, 1, 3, 1000}) {
    list.push_back({"random_bits",
                    std::to_string(n),
                    {tn::int32},
                    {},
                    {},
                    {},
                    [n](const TensorList&, Dtype, tn::Device d) {
                      tn::manual_seed(5);
                      return tn::prim::random_bits({n}, d);
                    }});
  }
  list.push_back(
      {"nonzero",
       "about half",
       kAll,
       {tn::relu(x)},
       {0},
       {},
       [](const TensorList& in, Dtype, tn::Device) { return tn::prim::nonzero(in[0]); }});
}

// Indices below n; with `along` all different along dimension 0.
Tensor indices(std::vector<int64_t> sizes, int64_t n, bool along = false) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < sizes[0]; ++i) {
    for (int64_t j = 0; j < sizes[1]; ++j) values.push_back((along ? i + j : 7 * i + j * j) % n);
  }
  return Tensor::from(values, sizes);
}

void index(Samples& list) {
  Tensor x = sample({37, 53}), src = sample({20, 53}, {}, 1);
  // Where one index is expanded, 20 numbers meet 1.
  const Error added = {sum_of(21).relative, sum_of(21).absolute, true};
  for (int64_t dim : {0, 1}) {
    list.push_back({"gather",
                    "along " + std::to_string(dim),
                    kAll,
                    {x, indices({20, 53}, dim == 0 ? 37 : 53)},
                    {-1, 0},
                    {},
                    [dim](const TensorList& in, Dtype, tn::Device) {
                      return tn::prim::gather(in[0], dim, in[1]);
                    }});
    list.push_back({"scatter",
                    "added along " + std::to_string(dim),
                    kAll,
                    {x, indices({20, 53}, dim == 0 ? 37 : 53), src},
                    {-1, 0, 0},
                    added,
                    [dim](const TensorList& in, Dtype, tn::Device) {
                      return tn::prim::scatter(in[0], dim, in[1], in[2], true);
                    }});
  }
  // Rows as a whole: the index is one along the last dimension.
  Tensor row = indices({20, 1}, 37);
  list.push_back(
      {"gather", "rows", kAll, {x, row}, {-1, 0}, {}, [](const TensorList& in, Dtype, tn::Device) {
         return tn::prim::gather(in[0], 0, in[1].expand({-1, 53}));
       }});
  list.push_back({"scatter",
                  "rows added",
                  kAll,
                  {x, row, src},
                  {-1, 0, 0},
                  added,
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::prim::scatter(in[0], 0, in[1].expand({-1, 53}), in[2], true);
                  }});
  list.push_back({"scatter",
                  "set",
                  kAll,
                  {x, indices({20, 53}, 37, true), src},
                  {-1, 0, 0},
                  {},
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::prim::scatter(in[0], 0, in[1], in[2], false);
                  }});
}

void loss(Samples& list) {
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < 37; ++i) classes.push_back(i * i % 53);
  Tensor x = sample({37, 53}) * 4, target = Tensor::from(classes);
  list.push_back(
      {"cross_entropy",
       "forward",
       kFloats,
       {x, target},
       {0, 0},
       {4},
       [](const TensorList& in, Dtype, tn::Device) { return tn::cross_entropy(in[0], in[1]); }});
  list.push_back({"cross_entropy",
                  "backward",
                  kFloats,
                  {x, target},
                  {0, 0},
                  {8},
                  [](const TensorList& in, Dtype, tn::Device) {
                    Tensor leaf = in[0].detach().requires_grad_();
                    return tn::grad(tn::cross_entropy(leaf, in[1]), leaf);
                  }});
}

// The gradient of f, each element of whose result has a weight of its own, by input `which`.
std::function<Tensor(const TensorList&, Dtype, tn::Device)> gradient_of(
    std::function<Tensor(const TensorList&)> f, size_t which) {
  return [f, which](const TensorList& in, Dtype, tn::Device) {
    TensorList x = in;
    x[which] = in[which].detach().requires_grad_();
    return tn::grad(weigh(f(x)), x[which]);
  };
}

const std::vector<Dtype> kFloat32 = {tn::float32};

// f and its gradients by the first `n_gradients` inputs. `error` of the result; each gradient is a
// sum of as many products at most as `length` says.
void with_gradients(Samples& list, const char* kernel, const std::string& what,
                    const TensorList& inputs, const std::vector<int64_t>& batch, const Error& error,
                    double length, size_t n_gradients,
                    const std::function<Tensor(const TensorList&)>& f) {
  list.push_back({kernel, what, kFloat32, inputs, batch, error,
                  [f](const TensorList& in, Dtype, tn::Device) { return f(in); }});
  for (size_t i = 0; i < n_gradients; ++i) {
    list.push_back({kernel, what + ", gradient " + std::to_string(i), kFloat32, inputs, batch,
                    products(length), gradient_of(f, i)});
  }
}

// Rows with NaN and infinities among numbers, with nothing else, and without any.
Tensor special_rows() {
  const double inf = INFINITY, nan = NAN;
  std::vector<double> values;
  for (const std::vector<double>& some :
       {std::vector<double>{inf}, {-inf}, {nan}, {inf, -inf}, {-inf, nan}, {nan, inf, nan}, {}}) {
    for (size_t i = 0; i < 20; ++i) values.push_back(std::sin(double(i)));
    for (size_t i = 0; i < some.size(); ++i) values[values.size() - 9 + 3 * i] = some[i];
  }
  for (double all : {-inf, inf, nan}) values.insert(values.end(), 20, all);
  return Tensor::from(values, {10, 20});
}

void conv(Samples& list) {
  const std::vector<int64_t> batch = {0, -1, -1};
  auto add = [&](const char* kernel, const char* what, const TensorList& inputs, double length,
                 const std::function<Tensor(const TensorList&)>& f) {
    with_gradients(list, kernel, what, inputs, batch, products(length), 200, inputs.size(), f);
  };
  add("conv1d", "with a bias", {sample({3, 5, 17}), sample({7, 5, 3}, {}, 1), sample({7}, {}, 2)},
      15, [](const TensorList& in) {
        return tn::conv1d(in[0], in[1], in[2], {.stride = 2, .padding = 1});
      });
  add("conv2d", "with a bias",
      {sample({3, 5, 8, 9}), sample({18, 5, 3, 2}, {}, 1), sample({18}, {}, 2)}, 30,
      [](const TensorList& in) { return tn::conv2d(in[0], in[1], in[2]); });
  add("conv2d", "groups, dilation, strides", {sample({3, 4, 8, 9}), sample({6, 2, 3, 2}, {}, 1)},
      12, [](const TensorList& in) {
        return tn::conv2d(in[0], in[1],
                          {.stride = {1, 2}, .padding = {2, 1}, .dilation = {2, 1}, .groups = 2});
      });
  add("conv2d", "a group a channel", {sample({3, 6, 5, 5}), sample({6, 1, 3, 3}, {}, 1)}, 9,
      [](const TensorList& in) { return tn::conv2d(in[0], in[1], {.padding = 1, .groups = 6}); });
  add("conv2d", "special values",
      {special_rows().reshape({1, 2, 10, 10}), sample({3, 2, 3, 3}, {}, 1)}, 18,
      [](const TensorList& in) { return tn::conv2d(in[0], in[1], {.padding = 1}); });
  add("conv3d", "with a bias",
      {sample({3, 2, 3, 4, 5}), sample({4, 2, 2, 2, 3}, {}, 1), sample({4}, {}, 2)}, 24,
      [](const TensorList& in) {
        return tn::conv3d(in[0], in[1], in[2], {.padding = {0, 1, 1}});
      });
  add("conv_transpose1d", "with a bias",
      {sample({3, 5, 9}), sample({5, 7, 3}, {}, 1), sample({7}, {}, 2)}, 15,
      [](const TensorList& in) {
        return tn::conv_transpose1d(in[0], in[1], in[2],
                                    {.stride = 2, .padding = 1, .output_padding = 1});
      });
  add("conv_transpose2d", "groups, dilation, strides",
      {sample({3, 4, 5, 4}), sample({4, 3, 3, 2}, {}, 1), sample({6}, {}, 2)}, 20,
      [](const TensorList& in) {
        return tn::conv_transpose2d(in[0], in[1], in[2],
                                    {.stride = {1, 2},
                                     .padding = {1, 0},
                                     .output_padding = {1, 1},
                                     .groups = 2,
                                     .dilation = {2, 2}});
      });
  add("conv_transpose3d", "plain", {sample({3, 2, 3, 2, 4}), sample({2, 3, 2, 2, 2}, {}, 1)}, 16,
      [](const TensorList& in) { return tn::conv_transpose3d(in[0], in[1]); });
}

void norm(Samples& list) {
  for (const bool logarithm : {false, true}) {
    with_gradients(list, logarithm ? "log_softmax" : "softmax", "special values", {special_rows()},
                   {0}, {12, 8}, 20, 1, [logarithm](const TensorList& in) {
                     return logarithm ? tn::log_softmax(in[0], -1) : tn::softmax(in[0], -1);
                   });
  }
  with_gradients(list, "layer_norm", "special values", {special_rows()}, {0}, {8, 8}, 40, 1,
                 [](const TensorList& in) { return tn::layer_norm(in[0], 20); });
  const Tensor rows = sample({37, 53}) * 4;
  // x and the largest element are rounded once more before exp, which multiplies that by up to 8.
  const Error of_softmax = {12};
  with_gradients(list, "softmax", "rows", {rows}, {0}, of_softmax, 53, 1,
                 [](const TensorList& in) { return tn::softmax(in[0], -1); });
  with_gradients(list, "log_softmax", "rows", {rows}, {0}, {4, 8}, 53, 1,
                 [](const TensorList& in) { return tn::log_softmax(in[0], -1); });
  // Values below 2 in units of a deviation, after a sum and a sum of squares.
  const Error of_norm = {4 + std::sqrt(60.0), std::sqrt(60.0)};
  const Tensor weight = sample({53}, {}, 1), bias = sample({53}, {}, 2);
  with_gradients(list, "layer_norm", "weight and bias", {sample({37, 53}), weight, bias},
                 {0, -1, -1}, of_norm, 100, 3,
                 [](const TensorList& in) { return tn::layer_norm(in[0], 53, in[1], in[2]); });
  with_gradients(list, "layer_norm", "two dimensions", {sample({37, 4, 5})}, {0}, of_norm, 40, 1,
                 [](const TensorList& in) {
                   return tn::layer_norm(in[0], {4, 5});
                 });
  const Tensor image = sample({5, 6, 3, 7});
  const TensorList planes = {image, sample({6}, {}, 1), sample({6}, {}, 2)};
  // An empty batch has no mean.
  with_gradients(list, "_batch_norm", "weight and bias", planes, {-1, -1, -1}, of_norm, 120, 3,
                 [](const TensorList& in) {
                   return tn::batch_norm(in[0], {}, {}, in[1], in[2], {.training = true});
                 });
  with_gradients(list, "_batch_norm", "plain", {sample({2, 3, 5})}, {-1}, of_norm, 20, 1,
                 [](const TensorList& in) { return tn::batch_norm(in[0], {.training = true}); });
  with_gradients(list, "group_norm", "weight and bias", planes, {0, -1, -1}, of_norm, 120, 3,
                 [](const TensorList& in) { return tn::group_norm(in[0], 3, in[1], in[2]); });
  with_gradients(list, "group_norm", "plain", {image}, {0}, of_norm, 120, 1,
                 [](const TensorList& in) { return tn::group_norm(in[0], 2); });
}

void pool(Samples& list) {
  const Tensor x = sample({3, 4, 9, 7}), line = sample({3, 4, 11});
  const auto add = [&](const char* kernel, const char* what, const Tensor& input, double length,
                       const std::function<Tensor(const TensorList&)>& f) {
    with_gradients(list, kernel, what, {input}, {0}, length > 1 ? sum_of(length) : Error(), 9, 1,
                   f);
  };
  add("max_pool1d", "plain", line, 1,
      [](const TensorList& in) { return tn::max_pool1d(in[0], 3); });
  add("max_pool2d", "plain", x, 1, [](const TensorList& in) { return tn::max_pool2d(in[0], 2); });
  add("max_pool2d", "overlapping", x, 1, [](const TensorList& in) {
    return tn::max_pool2d(in[0], {3, 2}, {.stride = {1, 3}, .padding = {1, 0}});
  });
  add("max_pool2d", "dilation, ceil_mode, without a batch", x.select(0, 1), 1,
      [](const TensorList& in) {
        return tn::max_pool2d(in[0], 3,
                              {.stride = 2, .padding = 1, .dilation = 2, .ceil_mode = true});
      });
  add("max_pool2d", "equal ones", (x * 2.0).to(tn::int64).to(tn::float64), 1,
      [](const TensorList& in) { return tn::max_pool2d(in[0], 3, {.stride = 1, .padding = 1}); });
  const Tensor special = special_rows().reshape({2, 10, 10});
  add("max_pool2d", "special values", special, 1,
      [](const TensorList& in) { return tn::max_pool2d(in[0], 3, {.stride = 2, .padding = 1}); });
  add("avg_pool2d", "special values", special, 9,
      [](const TensorList& in) { return tn::avg_pool2d(in[0], 3, {.stride = 2, .padding = 1}); });
  add("avg_pool1d", "padding", line, 3,
      [](const TensorList& in) { return tn::avg_pool1d(in[0], 3, {.stride = 2, .padding = 1}); });
  add("avg_pool2d", "plain", x, 4, [](const TensorList& in) { return tn::avg_pool2d(in[0], 2); });
  add("avg_pool2d", "padding that does not count", x, 6, [](const TensorList& in) {
    return tn::avg_pool2d(
        in[0], {3, 2},
        {.stride = {1, 2}, .padding = {1, 1}, .ceil_mode = true, .count_include_pad = false});
  });
  add("avg_pool2d", "ceil_mode", x, 9, [](const TensorList& in) {
    return tn::avg_pool2d(in[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true});
  });
  add("avg_pool2d", "a divisor", x, 9, [](const TensorList& in) {
    return tn::avg_pool2d(in[0], 3,
                          {.stride = 2, .padding = 1, .ceil_mode = true, .divisor_override = 5});
  });
  add("adaptive_avg_pool1d", "uneven", line, 4,
      [](const TensorList& in) { return tn::adaptive_avg_pool1d(in[0], 4); });
  add("adaptive_avg_pool2d", "uneven", x, 12, [](const TensorList& in) {
    return tn::adaptive_avg_pool2d(in[0], {4, 3});
  });
  add("adaptive_avg_pool2d", "to one", x, 63,
      [](const TensorList& in) { return tn::adaptive_avg_pool2d(in[0], 1); });
}

void attention(Samples& list) {
  // Weights that add up to one, of scores that are sums of e products; exp magnifies their error.
  const Error error = {16, 16};
  const auto add = [&](const char* what, const TensorList& inputs,
                       const std::vector<int64_t>& batch,
                       const std::function<Tensor(const TensorList&)>& f) {
    with_gradients(list, "_attention", what, inputs, batch, error, 80, 3, f);
  };
  const TensorList inputs = {sample({2, 3, 17, 8}) * 2, sample({2, 3, 21, 8}, {}, 1),
                             sample({2, 3, 21, 5}, {}, 2)};
  const Tensor numbers = sample({17, 21}, {}, 3), mask = numbers > -0.5;
  const std::vector<int64_t> batch = {0, 0, 0};
  add("plain", inputs, batch,
      [](const TensorList& in) { return tn::scaled_dot_product_attention(in[0], in[1], in[2]); });
  add("causal", inputs, batch, [](const TensorList& in) {
    return tn::scaled_dot_product_attention(in[0], in[1], in[2],
                                            {.is_causal = true, .scale = -0.7});
  });
  add("a mask of bool", inputs, batch, [mask](const TensorList& in) {
    return tn::scaled_dot_product_attention(in[0], in[1], in[2], mask.to(in[0].device()));
  });
  add("a query that looks at nothing, a mask a key", inputs, batch, [mask](const TensorList& in) {
    Tensor some = (tn::arange(17) > 3).reshape({17, 1}).to(in[0].device());
    return tn::scaled_dot_product_attention(in[0], in[1], in[2], some);
  });
  add("a mask of numbers", inputs, batch, [numbers](const TensorList& in) {
    Tensor mask = numbers.to(in[0].dtype()).to(in[0].device());
    return tn::scaled_dot_product_attention(in[0], in[1], in[2], mask);
  });
  add("shared heads",
      {sample({2, 6, 9, 4}), sample({2, 2, 7, 4}, {}, 1), sample({2, 2, 7, 4}, {}, 2)}, batch,
      [](const TensorList& in) {
        return tn::scaled_dot_product_attention(in[0], in[1], in[2], {.enable_gqa = true});
      });
  // Several blocks of rows.
  add("long and causal", {sample({150, 4}), sample({150, 4}, {}, 1), sample({150, 4}, {}, 2)}, {},
      [](const TensorList& in) {
        return tn::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true});
      });
}

Samples samples() {
  Samples list;
  elementwise(list);
  reduce(list);
  scan(list);
  sort(list);
  matmul(list);
  make_and_move(list);
  index(list);
  loss(list);
  conv(list);
  norm(list);
  pool(list);
  attention(list);
  return list;
}

void expect_within(const Tensor& actual, const Tensor& expected, const Error& error,
                   bool gradient) {
  expect_sizes(actual, {expected.sizes().begin(), expected.sizes().end()});
  const Dtype dtype = actual.dtype();
  if (!dtype.is_float()) {
    EXPECT_EQ(dtype, expected.dtype());
    EXPECT_EQ(actual.to_vector<int64_t>(), expected.to_vector<int64_t>());
    return;
  }
  const double within = error.stored ? epsilon(dtype) : epsilon_within(dtype);
  std::vector<double> a = actual.to_vector<double>(), b = expected.to_vector<double>();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (gradient && !std::isfinite(b[i])) {  // what inf - inf is in it depends on the order
      ASSERT_FALSE(std::isfinite(a[i])) << "at " << i << ": " << a[i];
      continue;
    }
    if (std::isnan(b[i]) || std::isinf(b[i])) {
      ASSERT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
          << "at " << i << ": " << a[i];
      continue;
    }
    double size = std::fabs(b[i]);
    double bound = epsilon(dtype) * size * (1 + within) / 2 + smallest(dtype) / 2 +
                   within * (error.relative * size + error.absolute);
    if (dtype == tn::float64) bound *= 2;  // the reference has the same roundings
    const double distance = std::fabs(a[i] - b[i]);
    ASSERT_LE(distance, bound) << "at " << i << ": " << a[i] << " for " << b[i];
  }
}

bool copies_to_float(const std::string& what) { return what.find("float") != std::string::npos; }

TEST(KernelSweep, EveryKernelHasASample) {
  load_all();
  std::set<std::string> kernels;
  for (const Sample& s : samples()) kernels.insert(s.kernel);
  for (const auto& op : nlohmann::json::parse(tn::ops_json())) {
    for (const auto& kernel : op["kernels"]) {
      if (kernel["device"] != "cpu") continue;
      const std::string name = op["name"];
      EXPECT_TRUE(kernels.count(name.substr(name.find('.') + 1))) << name << " has no sample";
    }
  }
  // With those of the primitives, which belong to no op.
  const auto list = nlohmann::json::parse(tn::plugins_json());
  for (const auto& plugin : list.at("plugins")) {
    if (plugin["id"] == "cpu") {
      EXPECT_EQ(plugin["brings"]["kernels"], kernels.size());
    }
  }
}

TEST(KernelSweep, AgreesWithTheReference) {
  if (devices().size() < 2) GTEST_SKIP() << "no device ref";
  const tn::Device ref = devices()[1];
  for (const Sample& s : samples()) {
    for (Dtype dtype : s.dtypes) {
      TensorList whole;
      for (const Tensor& t : s.inputs) whole.push_back(converted(t, dtype));
      auto check = [&](const std::string& what, const TensorList& inputs) {
        SCOPED_TRACE(s.kernel + ", " + s.what + ", " + dtype.name() + ", " + what);
        TensorList exact;
        for (const Tensor& t : inputs)
          exact.push_back(t.to(t.dtype().is_float() ? tn::float64 : t.dtype()).to(ref));
        Dtype wide = dtype.is_float() ? tn::float64 : dtype;
        EXPECT_NO_THROW(expect_within(s.f(inputs, dtype, tn::cpu), s.f(exact, wide, ref), s.error,
                                      s.what.find("gradient") != std::string::npos));
      };
      if (s.inputs.empty()) {
        check("", {});
        continue;
      }
      for (const Layout& layout : layouts()) {
        for (int64_t size : {int64_t(0), int64_t(1), INT64_MAX}) {
          TensorList inputs;
          for (const Tensor& t : narrowed(whole, s.batch, size)) inputs.push_back(layout.of(t));
          check(std::string(layout.name) + (size > 1 ? "" : ", size " + std::to_string(size)),
                inputs);
        }
      }
      TensorList expanded = narrowed(whole, s.batch, 1);
      for (size_t i = 0; i < expanded.size(); ++i)
        expanded[i] = expanded[i].expand(whole[i].sizes());
      check("expanded", expanded);
      // What a NaN or an infinity is as an integer, no one says.
      if (!dtype.is_float() || (s.kernel == "copy" && !copies_to_float(s.what))) continue;
      for (const double special : {double(NAN), double(INFINITY), -double(INFINITY)}) {
        for (size_t i = 0; i < whole.size(); ++i) {
          if (!whole[i].dtype().is_float()) continue;
          // Padding, and what is masked, is passed over, where the meaning has 0 * inf.
          if ((s.kernel.starts_with("conv") && i > 0) || s.kernel == "_attention") continue;
          TensorList inputs = whole;
          inputs[i] = whole[i].clone();
          inputs[i].reshape({-1}).narrow(0, inputs[i].numel() / 2, 1).fill_(special);
          check("input " + std::to_string(i) + " with " + std::to_string(special), inputs);
        }
      }
    }
  }
}

}  // namespace
