// Reductions and normalizations of the elements that a mask selects, by the names of torch.masked.
// tenon.hpp does not include it.
//
//   Tensor lengths = masked::sum(x, mask, {.dim = 1});   // of the elements where mask is true
//   Tensor weights = masked::softmax(scores, mask, -1);  // 0 where it is false
//
// All take x, a mask, what they cannot do without, and options by name. The mask is bool, or else true
// where it is not 0; it has the sizes of x or broadcasts to them, and without one (`none`) all elements
// count. What the mask leaves out has a gradient of 0, also where it is infinite or NaN, and where a
// slice has no other elements. dim empty: over all dimensions. dtype none: the dtype of x where nothing
// else is said, and int64 of bool.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/methods.hpp"
#include "tenon/ops/norm.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/shape.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace masked {

namespace detail {

using tenon::detail::ByName;
using tenon::detail::joined;

// Which elements of x count, as bool and in the sizes of x.
inline Tensor elements_of(const char* function, const Tensor& x, const Tensor& mask) {
  if (!mask.defined()) return ones({}, bool_, x.device()).expand(x.sizes());
  bool fits = mask.dim() <= x.dim();
  for (int64_t d = 1; fits && d <= mask.dim(); ++d)
    fits = mask.size(-d) == x.size(-d) || mask.size(-d) == 1;
  if (!fits) {
    fail(joined({function, ": mask is ", tenon::detail::sizes_text(mask.sizes()), " and x ",
                 tenon::detail::sizes_text(x.sizes()),
                 ", expected a mask that broadcasts to the sizes of x"}));
  }
  return mask.to(bool_).expand(x.sizes());
}
// x with a number in the place of what does not count.
inline Tensor with_others(const char* function, const Tensor& x, const Tensor& mask,
                          Operand other) {
  return mask.defined() ? where(elements_of(function, x, mask), x, other) : x;
}

// What stands for nothing in a maximum, and in a minimum.
inline Operand lowest(Dtype dtype) {
  if (dtype.is_float()) return -INFINITY;
  return dtype == bool_ ? Operand(false) : Operand(iinfo(dtype).min);
}
inline Operand greatest(Dtype dtype) {
  if (dtype.is_float()) return INFINITY;
  return dtype == bool_ ? Operand(true) : Operand(iinfo(dtype).max);
}

// The dtype of results that are not floats by nature: x's, int64 of bool.
inline Dtype number_result(const Tensor& x, Dtype dtype) {
  if (dtype) return dtype;
  return x.dtype() == bool_ ? int64 : x.dtype();
}
inline Dtype float_of(Dtype dtype) { return dtype.is_float() ? dtype : float32; }
// The dtype of results that are floats: x's, float32 of integers.
inline Dtype float_result(const char* function, const Tensor& x, Dtype dtype) {
  if (dtype && !dtype.is_float())
    fail(joined({function, ": dtype is ", dtype.name(), ", expected one of floats"}));
  return dtype ? dtype : float_of(x.dtype());
}
// That in which a result of halves is computed: sums are often beyond them.
inline Dtype wide(Dtype dtype) { return dtype.is_half() ? float32 : dtype; }

}  // namespace detail

struct ReduceOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dim = {};
  bool keepdim = false;
  Dtype dtype = {};
};

// Of no elements the sum is 0 and the product 1. Integers and bool: int64; with a dtype: of x as that
// dtype.
inline Tensor sum(const Tensor& x, const Tensor& mask, const ReduceOptions& options = {}) {
  return tenon::sum(detail::with_others("sum", x, mask, 0), options.dim, options.keepdim,
                    options.dtype);
}
inline Tensor prod(const Tensor& x, const Tensor& mask, const ReduceOptions& options = {}) {
  return tenon::prod(detail::with_others("prod", x, mask, 1), options.dim, options.keepdim,
                     options.dtype);
}

// Of no elements the mean is NaN. dtype: one of floats; none: x's, float32 of integers.
inline Tensor mean(const Tensor& x, const Tensor& mask, const ReduceOptions& options = {}) {
  const Dtype dtype = detail::float_result("mean", x, options.dtype);
  const Tensor in = detail::elements_of("mean", x, mask);
  const Tensor count = tenon::sum(in, options.dim, options.keepdim);
  const Tensor total =
      tenon::sum(where(in, x, 0), options.dim, options.keepdim, detail::wide(dtype));
  return div(total, count).to(dtype);
}

// Of no elements -inf and inf, or of integers the least and the greatest number. Equal ones share the
// gradient evenly. dtype none: x's.
inline Tensor amax(const Tensor& x, const Tensor& mask, const ReduceOptions& options = {}) {
  const Tensor kept = detail::with_others("amax", x, mask, detail::lowest(x.dtype()));
  return tenon::amax(kept, options.dim, options.keepdim)
      .to(detail::number_result(x, options.dtype));
}
inline Tensor amin(const Tensor& x, const Tensor& mask, const ReduceOptions& options = {}) {
  const Tensor kept = detail::with_others("amin", x, mask, detail::greatest(x.dtype()));
  return tenon::amin(kept, options.dim, options.keepdim)
      .to(detail::number_result(x, options.dtype));
}

// The index of the largest and of the smallest element, the first among equals, flat over dim;
// of no elements 0. dtype none: x's, as PyTorch gives it, so an index into another tensor
// wants `.dtype = int64`.
inline Tensor argmax(const Tensor& x, const Tensor& mask, const ReduceOptions& options = {}) {
  const Tensor kept = detail::with_others("argmax", x, mask, detail::lowest(x.dtype()));
  return tenon::argmax(kept, options.dim, options.keepdim)
      .to(detail::number_result(x, options.dtype));
}
inline Tensor argmin(const Tensor& x, const Tensor& mask, const ReduceOptions& options = {}) {
  const Tensor kept = detail::with_others("argmin", x, mask, detail::greatest(x.dtype()));
  return tenon::argmin(kept, options.dim, options.keepdim)
      .to(detail::number_result(x, options.dtype));
}

struct MedianOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
  bool keepdim = false;
  Dtype dtype = {};
};

// The value in the middle along dim, of two the lower, which gets the gradient. NaN does not count, and
// is the median of no elements: a dtype of integers refuses that, for which the call waits for the
// device. dtype none: x's.
inline Tensor median(const Tensor& x, const Tensor& mask, const MedianOptions& options = {}) {
  const Dtype dtype = detail::number_result(x, options.dtype);
  const Tensor floats = x.dtype().is_float() ? x : x.to(float64);
  const Tensor kept = detail::with_others("median", floats, mask, NAN);
  const Tensor found = std::get<0>(tenon::nanmedian(kept, options.dim, options.keepdim));
  if (!dtype.is_float() && any(isnan(found)).item<bool>()) {
    fail(detail::joined({"median: a slice along dimension ", std::to_string(int64_t(options.dim)),
                         " has no elements, for which ", dtype.name(),
                         " has no value; expected a dtype of floats"}));
  }
  return found.to(dtype);
}

struct VarOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dim = {};
  std::optional<bool> unbiased = {};     // false: a correction of 0
  std::optional<Float> correction = {};  // what is taken from the number of elements; none: 1
  bool keepdim = false;
  Dtype dtype = {};
};

namespace detail {

// In float32 where the result is to be halves.
inline Tensor variance(const char* function, const Tensor& x, const Tensor& mask,
                       const VarOptions& options) {
  if (options.unbiased && options.correction)
    fail(joined({function, ": unbiased and correction are given, expected one of them"}));
  const Dtype dtype = wide(float_result(function, x, options.dtype));
  double correction = options.unbiased.value_or(true) ? 1 : 0;
  if (options.correction) correction = *options.correction;
  const Tensor in = elements_of(function, x, mask), values = x.to(dtype);
  const Tensor center =
      div(tenon::sum(where(in, values, 0), options.dim, true), tenon::sum(in, options.dim, true));
  // Zeros before the square: a slice without elements has a center of NaN.
  const Tensor apart = where(in, sub(values, center), 0);
  const Tensor count = tenon::sum(in, options.dim, options.keepdim).to(dtype);
  return div(tenon::sum(square(apart), options.dim, options.keepdim),
             clamp_min(sub(count, correction), 0));
}

}  // namespace detail

// Squared distances from the mean, summed and divided by the number of elements less the correction,
// and the square root of that. Where no more elements are than that, it is NaN or infinite. dtype: one
// of floats; none: x's, float32 of integers.
inline Tensor var(const Tensor& x, const Tensor& mask, const VarOptions& options = {}) {
  return detail::variance("var", x, mask, options)
      .to(detail::float_result("var", x, options.dtype));
}
inline Tensor std(const Tensor& x, const Tensor& mask, const VarOptions& options = {}) {
  return sqrt(detail::variance("std", x, mask, options))
      .to(detail::float_result("std", x, options.dtype));
}

struct NormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float ord = 2.0;
  KeptInts dim = {};
  bool keepdim = false;
  Dtype dtype = {};
};

// (sum |x|^ord)^(1 / ord), as torch.linalg.vector_norm has it. Of no elements 0, and inf where ord is
// negative. (PyTorch's is 0 for each finite ord below 0 where an element is left out.) dtype: as that
// of mean.
inline Tensor norm(const Tensor& x, const Tensor& mask, const NormOptions& options = {}) {
  const Tensor floats = x.to(detail::float_result("norm", x, options.dtype));
  const double nothing = double(options.ord) < 0 ? INFINITY : 0;
  return tenon::norm(detail::with_others("norm", floats, mask, nothing), options.ord, options.dim,
                     options.keepdim);
}

// log(sum exp(x)), computed so that no exponential overflows; of no elements -inf. dtype none: x's, so
// that of integers fractions are cut, and what has no elements is a number without a meaning.
inline Tensor logsumexp(const Tensor& x, const Tensor& mask, const ReduceOptions& options = {}) {
  std::vector<int64_t> dims = options.dim;
  for (int64_t d = 0; options.dim.empty() && d < x.dim(); ++d) dims.push_back(d);
  const Tensor floats = x.to(detail::float_of(x.dtype()));
  return tenon::logsumexp(detail::with_others("logsumexp", floats, mask, -INFINITY), dims,
                          options.keepdim)
      .to(detail::number_result(x, options.dtype));
}

struct LogaddexpOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Dtype dtype = {};
  Tensor input_mask = {};
  Tensor other_mask = {};
};

// log(exp(x) + exp(other)), each with a mask of its own; -inf where neither counts. dtype none: x's.
inline Tensor logaddexp(const Tensor& x, const Tensor& other,
                        const LogaddexpOptions& options = {}) {
  const auto side = [](const Tensor& t, const Tensor& mask) {
    return detail::with_others("logaddexp", t.to(detail::float_of(t.dtype())), mask, -INFINITY);
  };
  return tenon::logaddexp(side(x, options.input_mask), side(other, options.other_mask))
      .to(detail::number_result(x, options.dtype));
}

struct AlongOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Dtype dtype = {};
};

// The sums and products of what counts up to each element along dim, itself included. dtype none: x's.
inline Tensor cumsum(const Tensor& x, const Tensor& mask, Int dim,
                     const AlongOptions& options = {}) {
  return tenon::cumsum(detail::with_others("cumsum", x, mask, 0), dim,
                       detail::number_result(x, options.dtype));
}
inline Tensor cumprod(const Tensor& x, const Tensor& mask, Int dim,
                      const AlongOptions& options = {}) {
  return tenon::cumprod(detail::with_others("cumprod", x, mask, 1), dim,
                        detail::number_result(x, options.dtype));
}

// exp(x) / sum(exp(x)) along dim, its logarithm, and exp(-x) / sum(exp(-x)): 0, -inf and 0 for what
// does not count, and NaN where nothing along dim does. dtype: as that of mean.
inline Tensor softmax(const Tensor& x, const Tensor& mask, Int dim,
                      const AlongOptions& options = {}) {
  const Tensor floats = x.to(detail::float_result("softmax", x, options.dtype));
  return tenon::softmax(detail::with_others("softmax", floats, mask, -INFINITY), dim);
}
inline Tensor log_softmax(const Tensor& x, const Tensor& mask, Int dim,
                          const AlongOptions& options = {}) {
  const Tensor floats = x.to(detail::float_result("log_softmax", x, options.dtype));
  return tenon::log_softmax(detail::with_others("log_softmax", floats, mask, -INFINITY), dim);
}
inline Tensor softmin(const Tensor& x, const Tensor& mask, Int dim,
                      const AlongOptions& options = {}) {
  const Tensor floats = x.to(detail::float_result("softmin", x, options.dtype));
  return tenon::softmin(detail::with_others("softmin", floats, mask, INFINITY), dim);
}

struct NormalizeOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float eps = 1e-12;
  Dtype dtype = {};
};

// x / max(norm of order ord along dim, eps), and 0 for what does not count. dtype: as that of mean.
inline Tensor normalize(const Tensor& x, const Tensor& mask, Float ord, Int dim,
                        const NormalizeOptions& options = {}) {
  const Dtype dtype = detail::float_result("normalize", x, options.dtype);
  const Tensor values = x.to(detail::wide(dtype));
  const Tensor kept = detail::with_others("normalize", values, mask, 0);
  const Tensor length = norm(values, mask, {.ord = ord, .dim = int64_t(dim), .keepdim = true});
  return div(kept, maximum(length, double(options.eps))).to(dtype);
}

}  // namespace masked
}  // namespace v0
}  // namespace tenon
