// How far a result may be from what is meant: the rule that `tenon check` and
// tests/cpu/kernel_sweep_test.cpp hold kernels to. Needs the face's dtypes alone.
#pragma once

#include <cmath>

#include <tenon/dtype.hpp>

namespace tenon::cli::conformance {

// The distance of 1 from the next number, and the smallest number; 0 of what is no float.
inline double epsilon(Dtype dtype) { return dtype.is_float() ? finfo(dtype).eps : 0; }
inline double smallest(Dtype dtype) {
  return dtype.is_float() ? finfo(dtype).smallest_normal * finfo(dtype).eps : 0;
}
// Half types are computed in float32.
inline double epsilon_within(Dtype dtype) { return epsilon(dtype.is_half() ? float32 : dtype); }

// Beyond the half unit of the result's own rounding, in units of what is computed with: of the
// dtype itself where each intermediate result is stored in it.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
  bool stored = false;
};

// A sum of so many numbers below 1: each addition rounds a partial sum of about 1, or of about the
// sum; their errors go both ways and add up as a random walk does.
inline Tolerance sum_of(double length) { return {std::sqrt(length) / 2, std::sqrt(length)}; }

// A sum of so many products, one after the other: the partial sums are a random walk too, to the
// root of the length, and each is rounded.
inline Tolerance products(double length) { return {std::sqrt(length) / 2, length / 2}; }

// How far a result of `dtype` may be from `exact`, which was computed in float64.
inline double bound(Dtype dtype, double exact, const Tolerance& tolerance) {
  const double within = tolerance.stored ? epsilon(dtype) : epsilon_within(dtype);
  const double size = std::fabs(exact);
  const double bound = epsilon(dtype) * size * (1 + within) / 2 + smallest(dtype) / 2 +
                       within * (tolerance.relative * size + tolerance.absolute);
  return dtype == float64 ? 2 * bound : bound;  // the reference has the same roundings
}

// The rule of whole ops, which are made of several steps: each result is rounded, and so is what it
// is made of, which is as large as its inputs and outputs are. `largest` is the largest of these.
inline double bound_of_op(Dtype dtype, double largest) {
  const double bound = 4 * epsilon(dtype.is_float() ? dtype : float32) * std::fmax(1, largest);
  return dtype == float64 ? 2 * bound : bound;  // the reference has the same roundings
}

}  // namespace tenon::cli::conformance
