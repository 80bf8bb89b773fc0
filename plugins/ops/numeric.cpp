// Functions of one and two numbers that follow PyTorch's smaller ones: the greater one where NaN is
// no number, angles in degrees, signs, powers in float64, and common divisors. A part of the family
// elementwise, where the scope of a formula is explained.
#include "pack.h"

#include <cmath>

namespace tenon::ops_pack {
namespace {

// Euclid's step, twelve times: (a, b) becomes (b, a mod b) until b is 0, and stays then, since
// integers modulo 0 are 0.
#define EUCLID(a, b, c, d) \
  "let " c " = where(" b " == 0, " a ", " b "); let " d " = " a " % " b "\n"
constinit ExpressionRef euclid{
    "_euclid(Tensor a, Tensor b) -> (Tensor, Tensor)",
    EUCLID("a", "b", "a1", "b1") EUCLID("a1", "b1", "a2", "b2") EUCLID("a2", "b2", "a3", "b3")
        EUCLID("a3", "b3", "a4", "b4") EUCLID("a4", "b4", "a5", "b5") EUCLID("a5", "b5", "a6", "b6")
            EUCLID("a6", "b6", "a7", "b7") EUCLID("a7", "b7", "a8", "b8")
                EUCLID("a8", "b8", "a9", "b9") EUCLID("a9", "b9", "a10", "b10")
                    EUCLID("a10", "b10", "a11", "b11") "where(b11 == 0, a11, b11)\n a11 % b11"};
constinit ExpressionRef least_multiple{
    "_least_multiple(Tensor a, Tensor b, Tensor divisor) -> Tensor", "abs(a // divisor * b)"};

// No pair of the dtype needs more steps: the worst are neighbours in Fibonacci's sequence.
int steps_of_euclid(Dtype dtype) {
  const size_t bits = 8 * dtype.itemsize();
  return bits == 8 ? 13 : bits == 16 ? 24 : bits == 32 ? 47 : 92;
}

// An operand as the result's dtype has it, in int64.
Tensor wide_of(const Tensor& x, Dtype dtype) { return as_dtype(as_dtype(x, dtype), int64); }

Tensor common_divisor(const char* op, const Tensor& x, const Tensor& y) {
  const Dtype dtype = promoted(x, y);
  if (dtype.is_float() || dtype == bool_) {
    fail(std::string(op) + ": x is " + x.dtype().name() + " and y " + y.dtype().name() +
         ", expected integers");
  }
  Tensor a = abs(wide_of(x, dtype)), b = abs(wide_of(y, dtype));
  for (int done = 0; done < steps_of_euclid(dtype); done += 12)
    std::tie(a, b) = prim::elementwise<std::tuple<Tensor, Tensor>>(euclid, a, b);
  return abs(a);  // the least int64 has no absolute value, and what remains of it may be negative
}

// x to the power y, of which a number stays one.
Tensor power_in_float64(const Operand& x, const Operand& y) {
  if (!x.is_tensor() && !y.is_tensor())
    fail("float_power: x and y are numbers, expected one tensor at least");
  const Tensor base = x.is_tensor() ? as_dtype(x.tensor(), float64) : Tensor();
  const Tensor exponent = y.is_tensor() ? as_dtype(y.tensor(), float64) : Tensor();
  return pow(x.is_tensor() ? Operand(base) : x, y.is_tensor() ? Operand(exponent) : y);
}

void extremes() {
  op("fmax(Tensor x, Tensor y) -> Tensor", "where(isnan(y), x, where(isnan(x), y, max(x, y)))")
      .doc("The greater of x and y; where one is NaN, the other. Equal ones share the gradient.")
      .method();
  op("fmin(Tensor x, Tensor y) -> Tensor", "where(isnan(y), x, where(isnan(x), y, min(x, y)))")
      .doc("The smaller of x and y; where one is NaN, the other. Equal ones share the gradient.")
      .method();
}

void angles() {
  op("deg2rad(Tensor x) -> Tensor", "x * 0.017453292519943295")
      .doc("x degrees in radians. Integers become float32.")
      .method()
      .inplace();
  op("rad2deg(Tensor x) -> Tensor", "x * 57.29577951308232")
      .doc("x radians in degrees. Integers become float32.")
      .method()
      .inplace();
}

void signs() {
  op("signbit(Tensor x) -> Tensor", "let t = float(x)\n t < 0 or t == 0 and 1 / t < 0")
      .doc("Whether x is negative, as bool; of -0 too. Of NaN false, whatever its sign.")
      .method()
      .no_gradient();
  op("isposinf(Tensor x) -> Tensor", "float(x) == inf")
      .doc("Whether x is the positive infinity, as bool.")
      .method()
      .no_gradient();
  op("isneginf(Tensor x) -> Tensor", "float(x) == -inf")
      .doc("Whether x is the negative infinity, as bool.")
      .method()
      .no_gradient();
}

void powers_and_logarithms() {
  op("float_power(Tensor x, Tensor y) -> Tensor")
      .doc("x to the power y, in float64.")
      .method()
      .numbers()
      .keeps_halves()
      .meaning([](Operand x, Operand y) { return power_in_float64(x, y); });
  op("logaddexp2(Tensor x, Tensor y) -> Tensor",
     "let p = float(x); let q = float(y)\n"
     "where(p == q, p + 1, max(p, q) + 1.4426950408889634 * log1p(exp2(-abs(p - q))))\n"
     "let gap = 0.6931471805599453 * (float(x) - float(y))\n"
     "dx = g * sigmoid(gap); dy = g * sigmoid(-gap)")
      .doc("log2(2 ** x + 2 ** y), computed so that no power overflows.")
      .method()
      .amp(Amp::widest);
}

// |x| as a fraction of 1/2 at least and below 1, times a power of two: multiplied by powers of two,
// each of which is exact, first where it is small, and then where it is large.
std::string fraction_and_exponent() {
  std::string lines = "let a0 = abs(x); let e0 = 0\n";
  int step = 0;
  const auto multiplied = [&](const char* compared, int k, int by) {
    const std::string bound = digits_of(std::ldexp(1.0, k)),
                      factor = digits_of(std::ldexp(1.0, by));
    const std::string from = std::to_string(step), to = std::to_string(++step);
    lines += "let c" + to + " = a" + from + compared + bound + "; let a" + to + " = where(c" + to +
             ", a" + from + " * " + factor + ", a" + from + "); let e" + to + " = e" + from +
             " - where(c" + to + ", " + std::to_string(by) + ", 0)\n";
  };
  for (const int k : {512, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1}) multiplied(" < ", -k, k);
  for (const int k : {512, 256, 128, 64, 32, 16, 8, 4, 2, 1}) multiplied(" >= ", k, -k);
  multiplied(" >= ", 0, -1);
  const std::string n = std::to_string(step);
  return lines + "let is_number = isfinite(x) and x != 0\n" + "where(is_number, where(x < 0, -a" +
         n + ", a" + n + "), x)\n" + "int(where(is_number, e" + n + ", 0))\n" +
         "dx = g0 * exp2(-(out1 // 2)) * exp2(out1 // 2 - out1)";
}

// t * 2 ** e. Where 2 ** e itself is a number of the dtype, t is multiplied once, so that it is rounded
// once. Elsewhere in three steps, each by a third of e: 2 ** 1024 is none in float64, and 0.5 times it
// is. A step that gives 0 or an infinity leaves nothing that a later one could bring back.
std::string scaled_in_steps(const std::string& t) {
  return "where(once, " + t + " * all, where((" + t + " == 0 or isinf(" + t +
         ")) and isfinite(e), " + t + ", " + t + " * rest * step * step))";
}

void fractions_and_exponents() {
  op("_frexp(Tensor x) -> (Tensor mantissa, Tensor exponent)", fraction_and_exponent().c_str());
  op("frexp(Tensor x) -> (Tensor mantissa, Tensor exponent)")
      .doc(
          "mantissa * 2 ** exponent is x, exactly: the mantissa has a magnitude of 1/2 at least "
          "and "
          "below 1, the exponent is int32. 0, infinities and NaN are their own mantissa, and their "
          "exponent is 0.")
      .method()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x) {
        expect_float("frexp", x);
        const auto [mantissa, exponent] =
            tenon::call<std::tuple<Tensor, Tensor>>(detail::op<"_frexp">, as_dtype(x, float64));
        return std::tuple{as_dtype(mantissa, x.dtype()), as_dtype(exponent, int32)};
      });
  op("ldexp(Tensor x, Tensor other) -> Tensor",
     ("let e = float(other); let third = where(isfinite(e), round(e / 3), 0)\n"
      "let rest = exp2(e - 2 * third); let step = exp2(third); let all = rest * step * step\n"
      "let once = isfinite(all) and isfinite(1 / all)\n" +
      scaled_in_steps("float(x)") + "\ndx = " + scaled_in_steps("g") +
      "; dother = g * (out * 0.6931471805599453)")
         .c_str())
      .doc("x * 2 ** other. Integers become float32.")
      .method()
      .inplace();
}

void divisors() {
  op("gcd(Tensor x, Tensor y) -> Tensor")
      .doc("The greatest common divisor of integers; with 0 the other's absolute value.")
      .method()
      .no_gradient()
      .meaning(
          [](Tensor x, Tensor y) { return as_dtype(common_divisor("gcd", x, y), promoted(x, y)); });
  op("lcm(Tensor x, Tensor y) -> Tensor")
      .doc("The least common multiple of integers, of at least 0; 0 where one is 0.")
      .method()
      .no_gradient()
      .meaning([](Tensor x, Tensor y) {
        const Tensor divisor = common_divisor("lcm", x, y);
        const Dtype dtype = promoted(x, y);
        const Tensor multiple =
            prim::elementwise(least_multiple, wide_of(x, dtype), wide_of(y, dtype), divisor);
        return abs(as_dtype(multiple, dtype));
      });
}

}  // namespace

void numeric() {
  extremes();
  angles();
  signs();
  powers_and_logarithms();
  fractions_and_exponents();
  divisors();
}

}  // namespace tenon::ops_pack
