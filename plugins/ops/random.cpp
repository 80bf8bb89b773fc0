// Random tensors from the random_bits primitive: 32 bits an element, the same on every backend.
// What is made of them is one formula each, so that uniform, bernoulli and dropout agree bit for
// bit, and normal within the functions' own errors.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

// [0, 1) with the precision of the type: 24 bits of one number, or 53 of two.
constinit ExpressionRef uniform24{
    "_uniform24(Tensor bits, float low, float width) -> Tensor",
    "low + width * (float(int(bits) >> 8 & 16777215) * 5.9604644775390625e-8)"};
constinit ExpressionRef uniform53{
    "_uniform53(Tensor high, Tensor low, Tensor zero, float start, float width) -> Tensor",
    "start + width * (zero + ((int(high) & 4294967295) >> 5) * 1.4901161193847656e-8"
    " + ((int(low) & 4294967295) >> 6) * 1.1102230246251565e-16)"};
// Box and Muller, 1958: the first factor from (0, 1], the second an angle.
constinit ExpressionRef normal24{
    "_normal24(Tensor a, Tensor b) -> Tensor",
    "sqrt(-2 * log(float((int(a) >> 8 & 16777215) + 1) * 5.9604644775390625e-8))"
    " * cos(6.283185307179586 * (float(int(b) >> 8 & 16777215) * 5.9604644775390625e-8))"};
constinit ExpressionRef chosen{"_chosen(Tensor bits, float p) -> Tensor",
                               "float(int(bits) >> 8 & 16777215) * 5.9604644775390625e-8 >= p"};
constinit ExpressionRef keep{"_keep(Tensor x, Tensor mask, float scale) -> Tensor",
                             "where(mask, x * scale, 0)"};
constinit ExpressionRef no_probability{"_no_probability(Tensor p) -> Tensor",
                                       "where(p >= 0 and p <= 1, 0.0, 1.0)"};
constinit ExpressionRef below{"_below(Tensor u, Tensor p) -> Tensor", "where(u < p, 1.0, 0.0)"};

std::vector<int64_t> with_front(int64_t n, Ints sizes) {
  std::vector<int64_t> all{n};
  all.insert(all.end(), sizes.begin(), sizes.end());
  return all;
}
// Part i of bits [2, ..].
Tensor part(const Tensor& bits, int64_t i, Ints sizes) {
  return prim::reshape(prim::slice(bits, 0, i, i + 1), sizes);
}

void expect_float(const char* op, Dtype dtype) {
  if (!dtype.is_float())
    fail(std::string(op) + ": dtype is " + dtype.name() + ", expected a float one");
}

Tensor uniform_of(const char* op, Ints sizes, double low, double high, Dtype dtype, Device device) {
  if (!dtype) dtype = float32;
  expect_float(op, dtype);
  if (!(low <= high)) {
    fail(std::string(op) + ": low is " + number_text(low) + ", above high, " + number_text(high));
  }
  // Their difference is a factor, and must be a number of the dtype too.
  expect_in_range(op, "low", low, dtype);
  expect_in_range(op, "high", high, dtype);
  expect_in_range(op, "high - low", high - low, dtype);
  if (dtype == float64) {
    Tensor bits = prim::random_bits(with_front(2, sizes), device);
    Tensor zero = prim::fill({}, 0, float64, device);
    return prim::elementwise(uniform53, part(bits, 0, sizes), part(bits, 1, sizes), zero, low,
                             high - low);
  }
  Tensor values = prim::elementwise(uniform24, prim::random_bits(sizes, device), low, high - low);
  return dtype == float32 ? values : prim::copy(values, dtype);
}

Tensor normal_of(Ints sizes, Dtype dtype, Device device) {
  if (!dtype) dtype = float32;
  expect_float("randn", dtype);
  Tensor bits = prim::random_bits(with_front(2, sizes), device);
  Tensor values = prim::elementwise(normal24, part(bits, 0, sizes), part(bits, 1, sizes));
  return dtype == float32 ? values : prim::copy(values, dtype);
}

void expect_probability(const char* op, double p) {
  if (!(p >= 0 && p <= 1)) fail(std::string(op) + ": p is " + number_text(p) + ", expected 0 to 1");
}

}  // namespace

// On devices below 0 and NaN count as 0, above 1 as 1.
void expect_probabilities(const char* op, const char* what, const Tensor& p) {
  if (!p.device().is_cpu() || p.numel() == 0) return;
  NoGrad guard;
  Tensor outside = prim::reduce(TN_MAX, Tensors(&p, 1), {}, false, no_probability);
  if (outside.item<double>() != 0)
    fail(std::string(op) + ": an element of " + what + " is not within 0 to 1");
}

void random() {
  op("rand(int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .random()
      .meaning([](Ints sizes, Dtype dtype, Device device) {
        return uniform_of("rand", sizes, 0, 1, dtype, device);
      });
  op("randn(int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .random()
      .meaning(normal_of);
  op("uniform(int[] sizes, float low=0, float high=1, dtype? dtype=None, device? device=None) -> "
     "Tensor")
      .random()
      .meaning([](Ints sizes, double low, double high, Dtype dtype, Device device) {
        return uniform_of("uniform", sizes, low, high, dtype, device);
      });
  op("bernoulli(Tensor p) -> Tensor").random().no_gradient().meaning([](Tensor p) {
    expect_float("bernoulli", p.dtype());
    expect_probabilities("bernoulli", "p", p);
    Tensor u = prim::elementwise(uniform24, prim::random_bits(p.sizes(), p.device()), 0.0, 1.0);
    Tensor drawn = prim::elementwise(below, u, p);
    return drawn.dtype() == p.dtype() ? drawn : prim::copy(drawn, p.dtype());
  });
  op("dropout(Tensor x, float p=0.5, bool training=True) -> Tensor")
      .random()
      .amp(Amp::widest)
      .meaning([](Tensor x, double p, bool training) {
        expect_probability("dropout", p);
        if (!training || p == 0) return x;
        expect_float("dropout", x.dtype());
        Tensor mask = prim::elementwise(chosen, prim::random_bits(x.sizes(), x.device()), p);
        return prim::elementwise(keep, x, mask, p < 1 ? 1 / (1 - p) : 0.0);
      });
}

}  // namespace tenon::ops_pack
