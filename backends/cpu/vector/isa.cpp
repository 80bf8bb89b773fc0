// The table of inner loops for one instruction set; CMake compiles this file once for each, with
// its flags and TENON_TABLE, the name of the table. See lanes.h for what such a file must not
// contain.
#include "vector/arith.h"
#include "vector/convert.h"
#include "vector/depthwise.h"
#include "vector/distance.h"
#include "vector/fold.h"
#include "vector/gemm.h"
#include "vector/norm.h"
#include "vector/optim.h"
#include "vector/philox.h"
#include "vector/pool.h"
#include "vector/recurrent.h"
#include "vector/sample.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

template <typename F>
constexpr void add_float_unary(Table& t, int opcode) {
  t.unary[opcode][kF32] = unary<F, float>;
  t.unary[opcode][kF64] = unary<F, double>;
}

template <typename F>
constexpr void add_math(Table& t, int opcode) {
  t.unary[opcode][kF32] = unary_math<F, float>;
  t.unary[opcode][kF64] = unary_math<F, double>;
}

template <typename F, typename T, typename R = T>
constexpr void add_shapes(StepFn* shapes) {
  shapes[kVV] = binary<F, T, R, true, true>;
  shapes[kVS] = binary<F, T, R, true, false>;
  shapes[kSV] = binary<F, T, R, false, true>;
}

template <typename F>
constexpr void add_numeric(Table& t, int opcode) {
  add_shapes<F, float>(t.binary[opcode][kF32]);
  add_shapes<F, double>(t.binary[opcode][kF64]);
  add_shapes<F, int64_t>(t.binary[opcode][kI64]);
}

template <typename F>
constexpr void add_quotient(Table& t, int opcode) {  // scalars are spread over a tile
  t.binary[opcode][kF32][kVV] = binary_by_quotient<F, float>;
  t.binary[opcode][kF64][kVV] =
      kDoublesLeaveRests ? binary_by_quotient<F, double> : binary<F, double, double, true, true>;
  t.binary[opcode][kI64][kVV] = binary<F, int64_t, int64_t, true, true>;
}

template <typename F>
constexpr void add_bits(Table& t, int opcode) {
  add_shapes<F, int64_t>(t.binary[opcode][kI64]);
  add_shapes<F, uint8_t>(t.binary[opcode][kBool]);
}

template <typename F>
constexpr void add_comparison(Table& t, int opcode) {
  add_shapes<F, float, uint8_t>(t.binary[opcode][kF32]);
  add_shapes<F, double, uint8_t>(t.binary[opcode][kF64]);
  add_shapes<F, int64_t, uint8_t>(t.binary[opcode][kI64]);
  add_shapes<F, uint8_t, uint8_t>(t.binary[opcode][kBool]);
}

template <typename T>
constexpr void add_type(Table& t, int type) {
  t.unary[TN_I_MOVE][type] = unary<Move, T>;
  t.splat[type] = splat<T>;
  t.where[type][0] = select<T, true, true>;
  t.where[type][1] = select<T, false, true>;
  t.where[type][2] = select<T, true, false>;
  t.where[type][3] = select<T, false, false>;
}

template <tn_dtype D, typename R>
constexpr void add_format_as(Table& t, int type) {
  t.load[D][type] = load_dense<D, R>;
  t.load_strided[D][type] = load_strided<D, R>;
  t.store[type][D] = store_dense<R, D>;
  t.store_strided[type][D] = store_strided<R, D>;
  t.cast[type][D] = cast<R, D>;
}

template <tn_dtype D>
constexpr void add_format(Table& t) {
  add_format_as<D, float>(t, kF32);
  add_format_as<D, double>(t, kF64);
  add_format_as<D, int64_t>(t, kI64);
  add_format_as<D, uint8_t>(t, kBool);
}

constexpr void add_unaries(Table& t) {
  add_float_unary<Neg>(t, TN_I_NEG);
  add_float_unary<Abs>(t, TN_I_ABS);
  add_float_unary<Sign>(t, TN_I_SIGN);
  t.unary[TN_I_NEG][kI64] = unary<Neg, int64_t>;
  t.unary[TN_I_ABS][kI64] = unary<Abs, int64_t>;
  t.unary[TN_I_SIGN][kI64] = unary<Sign, int64_t>;
  add_float_unary<Floor>(t, TN_I_FLOOR);
  add_float_unary<Ceil>(t, TN_I_CEIL);
  add_float_unary<Round>(t, TN_I_ROUND);
  add_float_unary<Trunc>(t, TN_I_TRUNC);
  add_float_unary<Sqrt>(t, TN_I_SQRT);
  add_math<Exp>(t, TN_I_EXP);
  add_math<Exp2>(t, TN_I_EXP2);
  add_math<Expm1>(t, TN_I_EXPM1);
  add_math<Log>(t, TN_I_LOG);
  add_math<Log2>(t, TN_I_LOG2);
  add_math<Log10>(t, TN_I_LOG10);
  add_math<Log1p>(t, TN_I_LOG1P);
  add_math<Sin>(t, TN_I_SIN);
  add_math<Cos>(t, TN_I_COS);
  add_math<Tan>(t, TN_I_TAN);
  add_math<Asin>(t, TN_I_ASIN);
  add_math<Acos>(t, TN_I_ACOS);
  add_math<Atan>(t, TN_I_ATAN);
  add_math<Sinh>(t, TN_I_SINH);
  add_math<Cosh>(t, TN_I_COSH);
  add_math<Tanh>(t, TN_I_TANH);
  add_math<Asinh>(t, TN_I_ASINH);
  add_math<Acosh>(t, TN_I_ACOSH);
  add_math<Atanh>(t, TN_I_ATANH);
  add_math<Erf>(t, TN_I_ERF);
  t.unary[TN_I_ERFC][kF32] = erfc_f32;
  t.unary[TN_I_ERFC][kF64] = unary_math<Erfc, double>;
  t.unary[TN_I_NOT][kI64] = unary<Not, int64_t>;
  t.unary[TN_I_NOT][kBool] = unary<Not, uint8_t>;
  t.unary[TN_I_ISNAN][kF32] = unary<IsNan, float, uint8_t>;
  t.unary[TN_I_ISNAN][kF64] = unary<IsNan, double, uint8_t>;
  t.unary[TN_I_ISINF][kF32] = unary<IsInf, float, uint8_t>;
  t.unary[TN_I_ISINF][kF64] = unary<IsInf, double, uint8_t>;
}

constexpr void add_binaries(Table& t) {
  add_numeric<Add>(t, TN_I_ADD);
  add_numeric<Sub>(t, TN_I_SUB);
  add_numeric<Mul>(t, TN_I_MUL);
  add_numeric<Min>(t, TN_I_MIN);
  add_numeric<Max>(t, TN_I_MAX);
  add_shapes<Min, uint8_t>(t.binary[TN_I_MIN][kBool]);
  add_shapes<Max, uint8_t>(t.binary[TN_I_MAX][kBool]);
  add_shapes<Div, float>(t.binary[TN_I_DIV][kF32]);
  add_shapes<Div, double>(t.binary[TN_I_DIV][kF64]);
  t.binary[TN_I_DIV][kF32][kVS] = divide_by_scalar<float>;
  t.binary[TN_I_DIV][kF64][kVS] = divide_by_scalar<double>;
  add_quotient<FloorDiv>(t, TN_I_FLOORDIV);
  add_quotient<Rem>(t, TN_I_REM);
  add_quotient<Fmod>(t, TN_I_FMOD);
  t.binary[TN_I_POW][kF32][kVV] = binary_math<Power, float>;
  t.binary[TN_I_POW][kF64][kVV] = binary_math<Power, double>;
  t.binary[TN_I_POW][kF32][kVS] = power_by_scalar<float>;
  t.binary[TN_I_POW][kF64][kVS] = power_by_scalar<double>;
  t.binary[TN_I_POW][kI64][kVV] = binary<IntPow, int64_t, int64_t, true, true>;
  t.binary[TN_I_ATAN2][kF32][kVV] = binary_math<Atan2, float>;
  t.binary[TN_I_ATAN2][kF64][kVV] = binary_math<Atan2, double>;
  add_bits<And>(t, TN_I_AND);
  add_bits<Or>(t, TN_I_OR);
  add_bits<Xor>(t, TN_I_XOR);
  add_shapes<Shl, int64_t>(t.binary[TN_I_SHL][kI64]);
  add_shapes<Shr, int64_t>(t.binary[TN_I_SHR][kI64]);
  add_comparison<Eq>(t, TN_I_EQ);
  add_comparison<Ne>(t, TN_I_NE);
  add_comparison<Lt>(t, TN_I_LT);
  add_comparison<Le>(t, TN_I_LE);
  add_comparison<Gt>(t, TN_I_GT);
  add_comparison<Ge>(t, TN_I_GE);
}

constexpr void add_spreads(Table& t) {
  t.spread_rows[0] = spread_rows<uint8_t>;
  t.spread_rows[1] = spread_rows<uint16_t>;
  t.spread_rows[2] = spread_rows<uint32_t>;
  t.spread_rows[3] = spread_rows<uint64_t>;
}

template <typename F>
constexpr void add_fold(Table& t, tn_reduce_kind kind) {
  t.folds_f32.fold[kind] = fold<F, float>;
  t.folds_f32.rows[kind] = fold_rows<F, float>;
  t.folds_f32.columns[kind] = fold_columns<F, float>;
  t.folds_f64.fold[kind] = fold<F, double>;
  t.folds_f64.rows[kind] = fold_rows<F, double>;
  t.folds_f64.columns[kind] = fold_columns<F, double>;
  t.folds_i64.fold[kind] = fold_int<F>;
  t.folds_i64.rows[kind] = fold_int_rows<F>;
  t.folds_i64.columns[kind] = fold_int_columns<F>;
}

template <typename T>
constexpr void add_distance(DistanceFunctions<T>& f) {
  f.distances[0] = distances<T, false>;
  f.distances[1] = distances<T, true>;
  f.slopes[0] = distance_slopes<T, false>;
  f.slopes[1] = distance_slopes<T, true>;
}

void gemm(const GemmArgs& g) {
  switch (g.dtype) {
    case TN_FLOAT32:
      return gemm_of<TN_FLOAT32, float>(g);
    case TN_FLOAT64:
      return gemm_of<TN_FLOAT64, double>(g);
    case TN_FLOAT16:
      return gemm_of<TN_FLOAT16, float>(g);
    default:
      return gemm_of<TN_BFLOAT16, float>(g);
  }
}

int64_t gemm_scratch(int64_t m, int64_t n, int64_t k, tn_dtype dtype,
                     [[maybe_unused]] bool narrow) {
#if defined(__AVX512F__)
  if (narrow) {
    return dtype == TN_FLOAT64 ? narrow_scratch<double>(n, k) : narrow_scratch<float>(n, k);
  }
#endif
  return dtype == TN_FLOAT64 ? Scratch<double>(m, n, k, true).bytes
                             : Scratch<float>(m, n, k, true).bytes;
}

}  // namespace

extern const PairFunctions TENON_PAIRS;

namespace {

constexpr Table make() {
  Table t = {};
  t.pairs = &TENON_PAIRS;
#if defined(__AVX512F__)
  t.name = "avx512";
#elif defined(__AVX2__)
  t.name = "avx2";
#else
  t.name = "baseline";
#endif
  add_type<float>(t, kF32);
  add_type<double>(t, kF64);
  add_type<int64_t>(t, kI64);
  add_type<uint8_t>(t, kBool);
  add_unaries(t);
  add_spreads(t);
  add_binaries(t);
#define TENON_ADD_FORMAT(dtype, ...) add_format<dtype>(t);
  TENON_DTYPES(TENON_ADD_FORMAT)
#undef TENON_ADD_FORMAT
  add_fold<Add>(t, TN_REDUCE_SUM);
  add_fold<Mul>(t, TN_REDUCE_PROD);
  add_fold<Max>(t, TN_REDUCE_MAX);
  add_fold<Min>(t, TN_REDUCE_MIN);
  t.sum_blocks_f32 = sum_blocks<float>;
  t.sum_blocks_f64 = sum_blocks<double>;
  t.flush_f32 = flush_f32;
  t.flush_f64 = flush_f64;
  t.log_sum_exp_f32 = log_sum_exp<float>;
  t.log_sum_exp_f64 = log_sum_exp<double>;
  t.exp_minus_lse_f32 = exp_minus_lse<float>;
  t.exp_minus_lse_f64 = exp_minus_lse<double>;
  t.rows = kRowFunctions;
  t.recurrent = kRecurrentFunctions;
  add_distance(t.distance_f32);
  add_distance(t.distance_f64);
  t.sample_taps = sample_taps;
  t.sample = sample;
  t.sample_dx = sample_dx;
  t.sample_slopes = sample_slopes;
  t.max_plane = max_plane;
  t.max_columns = max_columns;
  t.depthwise_taps = depthwise_taps;
  t.depthwise_dots = depthwise_dots;
  t.gemm = gemm;
  t.gemm_scratch = gemm_scratch;
  t.adam_f32 = adam<float>;
  t.adam_f64 = adam<double>;
  t.sgd_f32 = sgd<float>;
  t.sgd_f64 = sgd<double>;
  t.philox = philox;
  return t;
}

}  // namespace

extern const Table TENON_TABLE;
constinit const Table TENON_TABLE = make();

}  // namespace tenon::cpu_backend
