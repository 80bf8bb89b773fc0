// The standard op pack: a file a family, each with one function that registers its ops. What an op
// takes, and what a family, is in docs/add_an_op.md. Ops whose names begin with '_' are parts of
// others.
#pragma once

#include <tenon/plugin.hpp>

namespace tenon::ops_pack {

using namespace tenon::plugin;

void elementwise();
// Of which elementwise() registers these.
void activations();
void special();
void special_scaled();
void incomplete_gammas();
void zetas();
void bessels();
void numeric();
void reduce();
// Of which reduce() registers these.
void prods();
void running();
void gradients();
void covariances();
void statistics();
void counts();
void matmul();
// Of which matmul() registers these.
void products();
void matrices();
void feed_forward();
void shape();
void rearrange();  // and pads()
void pads();
void pieces();
void forms();
void diagonals();
void create();
void signal_windows();  // of which create() registers these
void index();
void embedding();
void table_rows();
void places();
void scatter_reductions();
void norm();
void distances();
void loss();
void linear_losses();
void margin_losses();
void likelihood_losses();
void ctc();
void windows();
void conv();
void pool();
void unpool();
void fractional_pool();
void lp_pool();
void resize();
void grid_sample();
void attention();
void recurrent();
void random();
void dropout_forms();  // of which random() registers these
void optim();
void optim_adaptive();  // of which optim() registers these
void optim_norms();
void optim_classic();

// Formulas of several families.
inline constinit ExpressionRef plus{"_plus(Tensor x, Tensor y) -> Tensor", "x + y"};
inline constinit ExpressionRef scaled{"_scaled(Tensor x, float factor) -> Tensor", "x * factor"};
inline constinit ExpressionRef quotient{"_quotient(Tensor x, Tensor y) -> Tensor", "x / y"};
// A negative index counts from the end. One outside stays outside of [0, rows), so that the kernel
// that reads by it refuses it, without a read-back here.
inline constinit ExpressionRef first_index{"_first_index(Tensor i, int n, int rows) -> Tensor",
                                           "where(i < -n or i >= n, where(i < 0, i, max(i, rows)), "
                                           "where(i < 0, i + n, i))"};

// The dimension that d means in a tensor of this rank; refuses what is out of range.
int64_t wrap_dim(const char* op, int64_t d, int64_t rank);
// Dimensions named by a caller, each at most once.
std::vector<int64_t> distinct_dims(const char* op, Ints dims, int64_t rank);
// Refuses a number that no element of the dtype can be; infinities and NaN pass where `special` and
// the dtype has them.
void expect_in_range(const char* op, const char* what, double number, Dtype dtype,
                     bool special = false);
// The number as an element of the dtype: truncated where that holds integers, true where it is not
// 0 for bool, -1 being 255 as uint8. Refuses what expect_in_range refuses; infinities and NaN pass
// for floats.
Number number_for(const char* op, const char* what, const Operand& number, Dtype dtype);
// An index as int64. Refuses all but int64 and int32.
Tensor as_index(const char* op, const char* what, const Tensor& index);
// index [n] as dimension dim of x, with the sizes of x elsewhere: what scatter takes. source has
// these sizes.
Tensor index_along(const char* op, const Tensor& x, int64_t dim, const Tensor& index,
                   const Tensor& source);
// Refuses sizes that are negative, or whose bytes 63 bits do not count, before anything is made.
void expect_countable(const char* op, std::span<const int64_t> sizes, Dtype dtype);
// Arithmetic on numbers that a caller chose; refuses a result that 63 bits do not hold.
int64_t checked_add(const char* op, int64_t a, int64_t b);
int64_t checked_mul(const char* op, int64_t a, int64_t b);
// special.cpp: the formula of a modified Bessel function of order 0 or 1, or, scaled, of that times
// exp(-|x|): its power series below 20, and the asymptotic one above. DLMF 10.25.2 and 10.40.1.
std::string bessel_formula(int order, bool scaled);
// shape.cpp: [n, channels, ..] as [n, .., channels], and back.
Tensor channels_to_end(const Tensor& x);
Tensor channels_from_end(const Tensor& x);
// einsum.cpp
Tensor einsum_of(string_view equation, Tensors xs);
// Whether values of x may be looked at to refuse wrong ones. As PyTorch on the CPU, where that waits
// for nothing; and not while a compiled function is recorded, which no replay would look at.
bool may_look_at(const Tensor& x);
// Where x may be looked at: an element of which is_wrong is not 0 is an error.
void expect_each(const char* op, const char* what, const char* expected, ExpressionRef& is_wrong,
                 const Tensor& x);
// An element outside of 0 to 1 is an error, where p may be looked at.
void expect_probabilities(const char* op, const char* what, const Tensor& p);
void expect_probability(const char* op, double p);
// What PyTorch's promotion makes of both: tensors with dimensions come first, then those without,
// then numbers, and of what comes later a kind that is higher counts alone.
Dtype promoted(const Operand& x, const Operand& y);
void expect_float(const char* op, const Tensor& x);
// Refuses a dtype that a caller names and that holds no fractions.
void expect_floating(const char* op, Dtype dtype);
// Logs a warning, each text once, as Python shows a warning once.
void warn_once(const std::string& text);
// "0.5", "inf", "1e+30"
std::string number_text(double number);
// As an expression reads it back.
std::string digits_of(double number);
// "[2, 3]"
std::string sizes_text(std::span<const int64_t> sizes);
using Sizes = std::vector<int64_t>;
inline Sizes sizes_of(const Tensor& x) { return Sizes(x.sizes().begin(), x.sizes().end()); }
// The first n of x's sizes, and the last n.
inline Sizes first_sizes(const Tensor& x, int64_t n) {
  return Sizes(x.sizes().begin(), x.sizes().begin() + n);
}
inline Sizes last_sizes(const Tensor& x, int64_t n) {
  return Sizes(x.sizes().end() - n, x.sizes().end());
}
// The dimensions of x as they lie in memory, the outermost first.
Sizes order_of(const Tensor& x);
// make(sizes) for the sizes of x, with dimensions that lie in the order of x's: PyTorch's
// preserve_format.
template <typename F>
Tensor laid_as(const Tensor& x, F make) {
  if (x.is_contiguous() || x.dim() < 2) return make(x.sizes());
  const Sizes order = order_of(x);
  Sizes sizes, back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    sizes.push_back(x.size(order[i]));
    back[size_t(order[i])] = int64_t(i);
  }
  return prim::permute(make(Ints(sizes)), back);
}
// INT64_MAX where it is more: no tensor has so many elements.
inline int64_t product(const Sizes& sizes) {
  int64_t p = 1;
  bool fits = true;
  for (int64_t s : sizes) {
    if (s == 0) return 0;
    fits = fits && !__builtin_mul_overflow(p, s, &p);
  }
  return fits ? p : INT64_MAX;
}
// Lists one after the other.
inline Sizes joined_sizes(std::initializer_list<Sizes> lists) {
  Sizes all;
  for (const Sizes& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}
// Of a list of pieces, each of which is a tensor of its own.
inline constexpr int64_t kMostPieces = int64_t(1) << 24;
// from, from + 1, ..: n numbers.
inline Sizes counting(int64_t from, int64_t n) {
  Sizes list;
  for (int64_t i = 0; i < n; ++i) list.push_back(from + i);
  return list;
}
// float32, float64 and halves as they are, others as float32.
inline Tensor as_float(const Tensor& x) {
  return x.dtype().is_float() ? x : prim::copy(x, float32);
}
inline Tensor as_dtype(const Tensor& x, Dtype dtype) {
  return x.dtype() == dtype ? x : prim::copy(x, dtype);
}
// A number in each place, without memory for the places. scatter begins with a copy of what it is
// given, so what is zero but for that is written once, and sources of one number are not written.
inline Tensor spread(Ints sizes, int number, Dtype dtype, Device device) {
  return prim::expand(prim::fill({}, number, dtype, device), sizes);
}
// scatter, or what is written to x itself.
inline Tensor scatter_by(bool in_place, const Tensor& x, int64_t dim, const Tensor& index,
                         const Tensor& src, bool add) {
  return in_place ? prim::scatter_(x, dim, index, src, add)
                  : prim::scatter(x, dim, index, src, add);
}
// Halves as float32, to be added up.
inline Tensor wide(const Tensor& x) { return x.dtype().is_half() ? prim::copy(x, float32) : x; }

}  // namespace tenon::ops_pack
