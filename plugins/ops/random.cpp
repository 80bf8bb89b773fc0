// Random tensors from the random_bits primitive: 32 bits an element, the same on every backend.
// What is made of them is one formula each, so that uniform, bernoulli and dropout (dropout.cpp) agree bit for
// bit, and normal within the functions' own errors.
#include "random.h"

#include <tenon/compiling.hpp>

namespace tenon::ops_pack {
namespace {

// [0, 1) with the precision of the type: 24 bits of one number, or 53 of two.
constinit ExpressionRef uniform24{
    "_uniform24(Tensor bits, float low, float width) -> Tensor",
    "low + width * (float(int(bits) >> 8 & 16777215) * 5.9604644775390625e-8)"};
// Of halves as many bits as they hold: more would round up to 1.
constinit ExpressionRef uniform_of_bits{
    "_uniform_of_bits(Tensor bits, int n, float unit, float low, float width) -> Tensor",
    "low + width * (float(int(bits) >> 32 - n & (1 << n) - 1) * unit)"};
constinit ExpressionRef uniform53{
    "_uniform53(Tensor high, Tensor low, Tensor zero, float start, float width) -> Tensor",
    "start + width * (zero + ((int(high) & 4294967295) >> 5) * 7.450580596923828e-9"
    " + ((int(low) & 4294967295) >> 6) * 1.1102230246251565e-16)"};
// Box and Muller, 1958: the first factor from (0, 1], the second an angle.
constinit ExpressionRef normal24{
    "_normal24(Tensor a, Tensor b) -> Tensor",
    "sqrt(-2 * log(float((int(a) >> 8 & 16777215) + 1) * 5.9604644775390625e-8))"
    " * cos(6.283185307179586 * (float(int(b) >> 8 & 16777215) * 5.9604644775390625e-8))"};
// 63 bits, as a number from 0 on, modulo n: a number is favoured by at most one part in 2^63 / n.
// The zero is int64 and has all dimensions, so that the integers are int64.
constinit ExpressionRef one_of{
    "_one_of(Tensor high, Tensor low, Tensor zero, int from, int n) -> Tensor",
    "from + zero + ((high & 2147483647) << 32 | low & 4294967295) % n"};
constinit ExpressionRef key_of{"_key(Tensor high, Tensor low, Tensor zero) -> Tensor",
                               "zero + ((high & 2147483647) << 32 | low & 4294967295)"};
// When the first event of a process of rate `weight` comes. In order of arrival the events are
// draws without replacement, each in proportion to the weights that are left (Efraimidis and
// Spirakis, 2006).
constinit ExpressionRef arrival{"_arrival(Tensor u, Tensor weight) -> Tensor",
                                "where(weight > 0, -log1p(-u) / weight, inf)"};
constinit ExpressionRef no_weight{"_no_weight(Tensor x) -> Tensor",
                                  "where(x >= 0 and x < inf, 0.0, 1.0)"};
constinit ExpressionRef positive{"_positive(Tensor x) -> Tensor", "where(x > 0, 1.0, 0.0)"};
constinit ExpressionRef share{"_share(Tensor u, Tensor total) -> Tensor", "u * total"};
constinit ExpressionRef probed{"_probed(Tensor found, int step, int n) -> Tensor",
                               "min(found + step, n) - 1"};
constinit ExpressionRef advanced{
    "_advanced(Tensor found, Tensor sum, Tensor wanted, int step, int n) -> Tensor",
    "int(where(sum <= wanted and found + step <= n, found + step, found))"};
constinit ExpressionRef assign{"_assign(Tensor(a!) x, Tensor values) -> Tensor(a!)", "values"};
constinit ExpressionRef affine{
    "_affine(Tensor(a!) x, Tensor z, float mean, float std) -> Tensor(a!)", "mean + std * z"};
constinit ExpressionRef chosen_into{
    "_chosen_into(Tensor(a!) x, Tensor bits, float p) -> Tensor(a!)",
    "float(int(bits) >> 8 & 16777215) * 5.9604644775390625e-8 < p"};
constinit ExpressionRef no_probability{"_no_probability(Tensor p) -> Tensor",
                                       "where(p >= 0 and p <= 1, 0.0, 1.0)"};
constinit ExpressionRef below{"_below(Tensor u, Tensor p) -> Tensor", "where(u < p, 1.0, 0.0)"};

// [n, ..sizes]; the last two are one where those would be too many. The order is the same.
std::vector<int64_t> with_front(int64_t n, Ints sizes) {
  std::vector<int64_t> all{n};
  all.insert(all.end(), sizes.begin(), sizes.end());
  if (int64_t both; all.size() == TN_MAX_RANK + 1 &&
                    !__builtin_mul_overflow(all[TN_MAX_RANK - 1], all[TN_MAX_RANK], &both)) {
    all.pop_back();
    all.back() = both;
  }
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

struct Bounds {
  double low, high;
  const char *low_name = "low", *high_name = "high";
};

Tensor uniform_of(const char* op, Ints sizes, Bounds b, Dtype dtype, Device device) {
  if (!dtype) dtype = float32;
  expect_float(op, dtype);
  const double low = b.low, high = b.high;
  if (!(low <= high)) {
    fail(std::string(op) + ": " + b.low_name + " is " + number_text(low) + ", above " +
         b.high_name + ", " + number_text(high));
  }
  // Their difference is a factor, and must be a number of the dtype too.
  expect_in_range(op, b.low_name, low, dtype);
  expect_in_range(op, b.high_name, high, dtype);
  expect_in_range(op, (std::string(b.high_name) + " - " + b.low_name).c_str(), high - low, dtype);
  if (dtype == float64) {
    Tensor bits = prim::random_bits(with_front(2, sizes), device);
    Tensor zero = prim::fill({}, 0, float64, device);
    return prim::elementwise(uniform53, part(bits, 0, sizes), part(bits, 1, sizes), zero, low,
                             high - low);
  }
  if (dtype != float32) {
    const int64_t n = dtype == float16 ? 11 : 8;
    return prim::copy(prim::elementwise(uniform_of_bits, prim::random_bits(sizes, device), n,
                                        1.0 / double(1 << n), low, high - low),
                      dtype);
  }
  return prim::elementwise(uniform24, prim::random_bits(sizes, device), low, high - low);
}

Tensor normal_of(const char* op, Ints sizes, Dtype dtype, Device device) {
  if (!dtype) dtype = float32;
  expect_float(op, dtype);
  Tensor bits = prim::random_bits(with_front(2, sizes), device);
  Tensor values = prim::elementwise(normal24, part(bits, 0, sizes), part(bits, 1, sizes));
  return dtype == float32 ? values : prim::copy(values, dtype);
}

// low to high - 1: the least and the greatest int that a dtype holds. float64 and float32 hold all
// that come, rounded.
void expect_ints_of(const char* op, const char* what, int64_t number, Dtype dtype) {
  auto [low, high] =
      dtype.is_float() ? dtype_table::int_range(TN_INT64) : dtype_table::int_range(dtype.value);
  if (dtype == float16) low = -65504, high = 65504;
  if (number >= low && number <= high) return;
  fail(std::string(op) + ": " + what + " is " + std::to_string(number) + ", which is no " +
       dtype.name() + "; expected " + std::to_string(low) + " to " + std::to_string(high));
}

Tensor ints_of(const char* op, int64_t low, int64_t high, Ints sizes, Dtype dtype, Device device) {
  if (!dtype) dtype = int64;
  int64_t n = 0;
  if (low >= high) {
    fail(std::string(op) + ": low is " + std::to_string(low) + ", not below high, " +
         std::to_string(high));
  }
  if (__builtin_sub_overflow(high, low, &n)) {
    fail(std::string(op) + ": from " + std::to_string(low) + " to " + std::to_string(high) +
         " are more than 2^63 - 1 numbers");
  }
  expect_ints_of(op, "low", low, dtype);
  expect_ints_of(op, "high - 1", high - 1, dtype);
  Tensor bits = prim::random_bits(with_front(2, sizes), device);
  Tensor zero = spread(sizes, 0, int64, device);
  Tensor values =
      prim::elementwise(one_of, part(bits, 0, sizes), part(bits, 1, sizes), zero, low, n);
  return dtype == int64 ? values : prim::copy(values, dtype);
}

// 0 to n - 1 in the order of random keys of 63 bits. Two keys are equal, so that their order is not
// random, with probability n^2 / 2^64.
Tensor permutation(int64_t n, Dtype dtype, Device device) {
  if (n < 0) fail("randperm: n is " + std::to_string(n) + ", at least 0 is needed");
  if (!dtype) dtype = int64;
  if (n > 0) expect_ints_of("randperm", "n - 1", n - 1, dtype);
  const Tensor bits = prim::random_bits({2, n}, device);
  const Tensor keys =
      prim::elementwise(key_of, part(bits, 0, n), part(bits, 1, n), spread({n}, 0, int64, device));
  const Tensor order = call(detail::op<"_top_places">, keys, n, 0, false);
  return dtype == int64 ? order : prim::copy(order, dtype);
}

void expect_weights(const Tensor& x, int64_t needed) {
  if (!may_look_at(x) || x.numel() == 0) return;
  NoGrad guard;
  if (prim::reduce(TN_REDUCE_MAX, Tensors(&x, 1), {}, false, no_weight).item<double>() != 0)
    fail("multinomial: an element of x is negative, infinite or NaN");
  // Halves and float32 hold a count this small, or what is near it.
  Tensor wide = prim::copy(x, float64);
  Tensor above = prim::reduce(TN_REDUCE_SUM, Tensors(&wide, 1), Ints(-1), false, positive);
  const double fewest = prim::reduce(TN_REDUCE_MIN, above).item<double>();
  if (fewest < double(needed)) {
    fail("multinomial: " + std::to_string(int64_t(fewest)) +
         " elements of a row are above 0, at least " + std::to_string(needed) + " are needed" +
         (needed > 1 ? " to draw so many without replacement" : ""));
  }
}

// In how many places of each row the sums are not above what is wanted: by halving steps.
Tensor places(const Tensor& sums, const Tensor& wanted) {
  const int64_t n = sums.size(1);
  Tensor found = prim::fill(wanted.sizes(), 0, int64, wanted.device());
  int64_t step = 1;
  while (step <= n / 2) step *= 2;
  for (; step > 0; step /= 2) {
    Tensor sum = prim::gather(sums, 1, prim::elementwise(probed, found, step, n));
    found = prim::elementwise(advanced, found, sum, wanted, step, n);
  }
  return found;
}

// In float64, where what backends' functions differ by does not change a draw.
Tensor drawn(const Tensor& x, int64_t num_samples, bool replacement) {
  expect_float("multinomial", x.dtype());
  if (x.dim() < 1 || x.dim() > 2) {
    fail("multinomial: x is " + sizes_text(x.sizes()) + ", expected 1 or 2 dimensions");
  }
  const int64_t n = x.size(-1), rows = x.dim() == 2 ? x.size(0) : 1;
  if (num_samples < 1) {
    fail("multinomial: num_samples is " + std::to_string(num_samples) + ", at least 1 is needed");
  }
  if (n == 0 || (!replacement && num_samples > n)) {
    fail("multinomial: x is " + sizes_text(x.sizes()) + ", expected at least " +
         std::to_string(replacement ? 1 : num_samples) + " elements a row to draw " +
         std::to_string(num_samples) + (replacement ? "" : " without replacement"));
  }
  expect_weights(x, replacement ? 1 : num_samples);
  Tensor weights = prim::reshape(prim::copy(x, float64), {rows, n});
  Tensor y;
  if (replacement) {
    Tensor u = uniform_of("multinomial", {rows, num_samples}, {0, 1}, float64, x.device());
    Tensor sums = prim::scan(TN_REDUCE_SUM, weights, 1);
    y = places(sums, prim::elementwise(share, u, prim::slice(sums, 1, n - 1, n)));
  } else {
    Tensor u = uniform_of("multinomial", {rows, n}, {0, 1}, float64, x.device());
    y = call(detail::op<"_top_places">, prim::elementwise(arrival, u, weights), num_samples, 1,
             false);
  }
  return x.dim() == 2 ? y : prim::reshape(y, {num_samples});
}

void uniform_and_normal() {
  op("rand(int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .doc(
          "Uniform in [0, 1). dtype None: float32; device None: the CPU. The same on every device "
          "for one seed.")
      .random()
      .meaning([](Ints sizes, Dtype dtype, Device device) {
        return uniform_of("rand", sizes, {0, 1}, dtype, device);
      });
  op("rand_like(Tensor x, dtype? dtype=None) -> Tensor")
      .doc("rand of the sizes and device of x, and of its dtype unless said.")
      .random()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, Dtype dtype) {
        return laid_as(x, [&](Ints sizes) {
          return uniform_of("rand_like", sizes, {0, 1}, dtype ? dtype : x.dtype(), x.device());
        });
      });
  op("randn(int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .doc(
          "Normal with mean 0 and variance 1. dtype None: float32; device None: the CPU. The same "
          "on every device for one seed.")
      .random()
      .meaning([](Ints sizes, Dtype dtype, Device device) {
        return normal_of("randn", sizes, dtype, device);
      });
  op("randn_like(Tensor x, dtype? dtype=None) -> Tensor")
      .doc("randn of the sizes and device of x, and of its dtype unless said.")
      .random()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, Dtype dtype) {
        return laid_as(x, [&](Ints sizes) {
          return normal_of("randn_like", sizes, dtype ? dtype : x.dtype(), x.device());
        });
      });
}

void whole_numbers() {
  op("randint(int low, int high, int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .doc("Whole numbers from low to high - 1. dtype None: int64; device None: the CPU.")
      .random()
      .meaning([](int64_t low, int64_t high, Ints sizes, Dtype dtype, Device device) {
        return ints_of("randint", low, high, sizes, dtype, device);
      });
  op("randint_like(Tensor x, int low, int high, dtype? dtype=None) -> Tensor")
      .doc("randint of the sizes and device of x, and of its dtype unless said.")
      .random()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, int64_t low, int64_t high, Dtype dtype) {
        return laid_as(x, [&](Ints sizes) {
          return ints_of("randint_like", low, high, sizes, dtype ? dtype : x.dtype(), x.device());
        });
      });
  op("randperm(int n, dtype? dtype=None, device? device=None) -> Tensor")
      .doc("0 to n - 1 in any order. dtype None: int64; device None: the CPU.")
      .random()
      .meaning(permutation);
  op("multinomial(Tensor x, int num_samples, bool replacement=False) -> Tensor")
      .doc(
          "Indices of x [n] or [rows, n], whose elements are weights: int64 [num_samples] or "
          "[rows, num_samples].")
      .method()
      .random()
      .no_gradient()
      .keeps_halves()
      .meaning(drawn);
}

void distributions() {
  op("uniform(int[] sizes, float low=0, float high=1, dtype? dtype=None, device? device=None) -> "
     "Tensor")
      .doc("Uniform in [low, high). dtype None: float32; device None: the CPU.")
      .random()
      .meaning([](Ints sizes, double low, double high, Dtype dtype, Device device) {
        return uniform_of("uniform", sizes, {low, high}, dtype, device);
      });
  // What is written has nothing of x: its gradient goes to none, through the formulas.
  op("uniform_(Tensor(a!) x, float from=0, float to=1) -> Tensor(a!)")
      .doc("Writes numbers that are uniform in [from, to) to x.")
      .method()
      .random()
      .meaning([](Tensor x, double from, double to) {
        Tensor values =
            uniform_of("uniform_", x.sizes(), {from, to, "from", "to"}, x.dtype(), x.device());
        return prim::elementwise(assign, x, values);
      });
  op("normal_(Tensor(a!) x, float mean=0, float std=1) -> Tensor(a!)")
      .doc("Writes normal numbers of this mean and standard deviation to x.")
      .method()
      .random()
      .meaning([](Tensor x, double mean, double std) {
        if (!(std >= 0)) fail("normal_: std is " + number_text(std) + ", at least 0 is needed");
        expect_float("normal_", x.dtype());
        expect_in_range("normal_", "mean", mean, x.dtype());
        expect_in_range("normal_", "std", std, x.dtype());
        return prim::elementwise(affine, x, normal_of("normal_", x.sizes(), {}, x.device()), mean,
                                 std);
      });
  op("bernoulli_(Tensor(a!) x, float p=0.5) -> Tensor(a!)")
      .doc("Writes 1 with probability p, else 0, to x.")
      .method()
      .random()
      .meaning([](Tensor x, double p) {
        expect_probability("bernoulli_", p);
        return prim::elementwise(chosen_into, x, prim::random_bits(x.sizes(), x.device()), p);
      });
}

void bernoullis() {
  op("bernoulli(Tensor p) -> Tensor")
      .doc("1 with the probability that p says element by element, else 0.")
      .method()
      .random()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor p) {
        expect_float("bernoulli", p.dtype());
        expect_probabilities("bernoulli", "p", p);
        Tensor u = prim::elementwise(uniform24, prim::random_bits(p.sizes(), p.device()), 0.0, 1.0);
        Tensor drawn = prim::elementwise(below, u, p);
        return drawn.dtype() == p.dtype() ? drawn : prim::copy(drawn, p.dtype());
      });
}

}  // namespace

Tensor uniform_numbers(const char* op, Ints sizes, Device device) {
  return uniform_of(op, sizes, {0, 1}, float64, device);
}
Tensor normal_numbers(const char* op, Ints sizes, Device device) {
  return normal_of(op, sizes, float32, device);
}

void expect_probability(const char* op, double p) {
  if (!(p >= 0 && p <= 1)) fail(std::string(op) + ": p is " + number_text(p) + ", expected 0 to 1");
}

bool may_look_at(const Tensor& x) { return x.device().is_cpu() && !compiler::is_compiling(); }

void expect_each(const char* op, const char* what, const char* expected, ExpressionRef& is_wrong,
                 const Tensor& x) {
  if (!may_look_at(x) || x.numel() == 0) return;
  NoGrad guard;
  Tensor wrong = prim::reduce(TN_REDUCE_MAX, Tensors(&x, 1), {}, false, is_wrong);
  if (wrong.item<double>() != 0)
    fail(std::string(op) + ": an element of " + what + " is not " + expected);
}

// Elsewhere below 0 and NaN count as 0, above 1 as 1.
void expect_probabilities(const char* op, const char* what, const Tensor& p) {
  expect_each(op, what, "within 0 to 1", no_probability, p);
}

void random() {
  uniform_and_normal();
  whole_numbers();
  distributions();
  bernoullis();
  random_fills();
  random_counts();
  dropout_forms();
}

}  // namespace tenon::ops_pack
