// The inner loops of the cpu kernels as a table of functions. vector/isa.cpp is compiled once for
// each instruction set and fills one table; table() picks one at load by what the processor has
// (TENON_CPU_ISA lowers the choice). Nothing here knows of programs, loops or threads.
#pragma once

#include <cstdint>

#include "tenon/abi.h"

namespace tenon::cpu_backend {

// The register types of programs, as an index: the element types are float, double, int64_t and
// uint8_t (0 or 1).
enum RegisterType { kF32 = 0, kF64 = 1, kI64 = 2, kBool = 3, kRegisterTypes = 4 };

union Cell {
  char* p;
  int64_t i;  // cells of strides
};

struct Step;
// One instruction over n elements: cells[step.d] = f(cells[step.a], ...). An operand may be the
// destination itself, at the same elements; other overlaps are not allowed.
using StepFn = void (*)(const Cell* cells, const Step& step, int64_t n);
struct Step {
  StepFn fn;
  uint16_t d, a, b, c, e;
};

// How the two operands of a binary step vary: v moves with the index, s is one element for all.
enum Shape { kVV = 0, kVS = 1, kSV = 2, kShapes = 3 };

// Two instructions over floats in one pass (pairs.cpp), where the second alone reads what the first
// gives; NULL where there is no such pair.
enum PairFirst { kFirstAdd, kFirstMul, kFirstSub, kFirstMax, kFirstMin, kPairFirsts };
enum PairSecond {
  kThenAdd,
  kThenMul,
  kThenSub,
  kThenSubFrom,
  kThenMax,
  kThenMin,
  kThenAbs,
  kPairSeconds
};
struct PairFunctions {
  // d = second(first(a, b), c), but kThenSubFrom is c - first(a, b). By the shape of a and b, and
  // whether c is a scalar; kThenAbs reads no c, and has a function as if it were one.
  StepFn pairs[kPairFirsts][kShapes][kPairSeconds][2];
  // d = a < b ? c : e. By the comparison from TN_I_EQ on, the shape of a and b (kVV, kVS), and where's
  // kind of c and e.
  StepFn selects[6][2][4];
};

constexpr int64_t kNarrowColumns = 256;

struct GemmArgs {
  int64_t m, n, k;
  const void* a;                                              // [m, k], any strides
  const void* b;                                              // [k, n]
  void* c;                                                    // [m, n]; written, not read
  int64_t a_row, a_column, b_row, b_column, c_row, c_column;  // strides in elements
  tn_dtype dtype;    // of a, b and c: float32, float64, float16, bfloat16
  const void* bias;  // [n] of this dtype, or NULL
  int64_t bias_stride;
  bool relu;
  bool narrow;    // of a product with at most kNarrowColumns, dense rows of a and c, no half dtype
  char* scratch;  // gemm_scratch(...) bytes, 64-byte aligned
};

// Products of bfloat16 by instructions of its own (gemm_bfloat.cpp), as Table has them of all dtypes.
struct BfloatFunctions {
  void (*gemm)(const GemmArgs&);
  int64_t (*scratch)(int64_t m, int64_t n, int64_t k);
};
extern const BfloatFunctions kBfloatFunctions;

// Dense rows of normalizations and softmax, in float32.
struct RowFunctions {
  double (*sum)(const float* x, int64_t n);
  double (*square_off)(const float* x, int64_t n, float mean);  // the sum of (x - mean)^2
  // The sum of g weight (x - mean); weight may be NULL.
  double (*dot_off)(const float* g, const float* weight, const float* x, int64_t n, float mean);
  double (*dot)(const float* x, const float* y, int64_t n);
  // y = (x - mean) factor + shift
  void (*normalize)(float* y, const float* x, int64_t n, float mean, float factor, float shift);
  // y = (x - mean) factor weight + bias; both may be NULL.
  void (*normalize_by)(float* y, const float* x, int64_t n, float mean, float factor,
                       const float* weight, const float* bias);
  // dx = of_g g weight + of_x (x - mean) + shift; weight may be NULL.
  void (*normalize_dx)(float* dx, const float* g, const float* weight, const float* x, int64_t n,
                       float mean, float of_g, float of_x, float shift);
  // dw += g (x - mean) factor, db += g
  void (*normalize_dw)(float* dw, float* db, const float* g, const float* x, int64_t n, float mean,
                       float factor);
  // With a mean, factor .. for each of the n columns:
  // sums += x, or (x - mean)^2 where mean is not NULL
  void (*columns_sum)(float* sums, const float* x, int64_t n, const float* mean);
  // sums += g, dots += g (x - mean)
  void (*columns_dot)(float* sums, float* dots, const float* g, const float* x, int64_t n,
                      const float* mean);
  // y = (x - mean) factor + shift; shift may be NULL.
  void (*columns_normalize)(float* y, const float* x, int64_t n, const float* mean,
                            const float* factor, const float* shift);
  // dx = of_g g + of_x (x - mean) + shift
  void (*columns_dx)(float* dx, const float* g, const float* x, int64_t n, const float* mean,
                     const float* of_g, const float* of_x, const float* shift);
  // y += x factor
  void (*columns_add)(float* y, const float* x, int64_t n, float factor);
  // y = exp(scale x - top), and the sum of these; y may be NULL, or x.
  double (*exp_off)(float* y, const float* x, int64_t n, float scale, float top);
  void (*scale)(float* y, const float* x, int64_t n, float factor,
                float shift);  // x factor - shift
  void (*softmax_dx)(float* dx, const float* g, const float* y, int64_t n, float dot,
                     float scale);  // (g - dot) y scale
  void (*log_softmax_dx)(float* dx, const float* g, const float* y, int64_t n,
                         float sum);  // g - exp(y) sum
};

// c [m, n] = a b, or added to c, where `packed` is b [k, n].
struct StepProduct {
  int64_t m, n, k;
  const float* a;
  int64_t a_row;
  const float* packed;
  float* c;
  int64_t c_row;
  bool adds;
  float* scratch;
};
// A row of an LSTM: the sums of its gates (input, forget, new, output; n each) and the old c give the
// next c and h; `keeps`: the gates take the place of their sums.
struct LstmRow {
  float* gates;
  const float* c;
  float *next_c, *h;
  bool keeps;
};
// The gradient d of the sums, [4 n], from those of y (may be NULL), of h and of the next c; dc becomes
// that of the old c.
struct LstmRowGradient {
  const float *gates, *c, *next_c, *dy, *dh;
  float *dc, *d;
};
// A row of a GRU: x [4 n] has the input's part of reset, update and new, `hidden` that of the old h;
// x becomes these gates and the part `hidden` of new.
struct GruRow {
  float* x;
  const float *hidden, *h;
  float* next;
};
// The gradients of both parts, [3 n] each, from those of y (may be NULL) and of the next h; dh becomes
// that of the old h but for its part through `hidden`.
struct GruRowGradient {
  const float *kept, *h, *dy;
  float *dh, *dx, *dhidden;
};
struct RecurrentFunctions {
  int64_t (*packed_floats)(int64_t n, int64_t k);
  void (*pack)(float* to, const float* b, int64_t b_row, int64_t b_column, int64_t n, int64_t k);
  int64_t (*scratch_floats)(int64_t k);
  void (*multiply)(const StepProduct&);
  void (*lstm_row)(const LstmRow&, int64_t n);
  void (*lstm_row_dx)(const LstmRowGradient&, int64_t n);
  void (*gru_row)(const GruRow&, int64_t n);
  void (*gru_row_dx)(const GruRowGradient&, int64_t n);
};

// One dimension of pooled planes: window i has its elements at i stride - padding + k dilation.
struct PoolAxis {
  int64_t size, out, kernel, stride, padding, dilation;
};

// d = sign g + decay p; m = beta1 m + (1 - beta1) d; v = beta2 v + (1 - beta2) d^2;
// p = keep p - size m / (sqrt(v) + floor).
struct AdamStep {
  double sign, decay, keep, beta1, beta2, size, floor;
};
// d = sign g + decay p; buffer = old buffer + fresh d; p -= lr (own d + ahead buffer). Without a
// buffer: p -= lr d.
struct SgdStep {
  double sign, decay, lr, old, fresh, own, ahead;
};

// One dimension of images that are sampled at places of a grid, from -1 to 1. A place takes 1, 2 or 4 of its
// `size` elements, which lie `step` apart in memory. The numbers are those of the op's meaning.
enum class SampleBorder { zeros, border, reflection };
struct SampleAxis {
  int32_t size, step;
  int taps;
  SampleBorder border;
  float scale, shift, low, span;
};
// What each of up to kSamplePlaces places takes along a dimension: where in memory that is, or kNoElement
// where it is outside, and is 0; by which weight, and by how much this moves with the place; whether the
// place moves with the grid's number (1), against it (-1) or not (0), as the border has it; whether all are
// inside and behind each other (-1, else 0).
constexpr int64_t kSamplePlaces = 128;
constexpr int32_t kNoElement = -(1 << 30);  // twice this is an int32_t, too
struct SampleAxisTaps {
  int32_t at[4][kSamplePlaces];
  float weight[4][kSamplePlaces], dweight[4][kSamplePlaces];
  float slope[kSamplePlaces];
  int32_t is_inner[kSamplePlaces];
};
// Of both dimensions of a plane whose rows lie `row` apart. `first` has, for places that are inner in both,
// where the first element is, and 0 for the others, which `edges` lists unless a place takes one element.
struct SampleTaps {
  int taps;  // along each dimension
  int64_t row, n_edges;
  SampleAxisTaps down, across;
  int32_t is_inner[kSamplePlaces], first[kSamplePlaces], edges[kSamplePlaces];
};

// Distances of one row and many, whose elements lie in columns (distance.h): by the sum of magnitudes
// [0], and by the root of the sum of squares [1].
template <typename T>
struct DistanceFunctions {
  void (*distances[2])(T* out, const T* x, const T* y, int64_t stride, int64_t size, int64_t count);
  void (*slopes[2])(T* dx, const T* x, const T* y, int64_t stride, int64_t size, int64_t count,
                    const T* factor);
};

// Folds by tn_reduce_kind, to MIN. NaN wins maximum and minimum.
template <typename T, typename Whole>
struct FoldFunctions {
  Whole (*fold[4])(const T* x, int64_t n);  // dense elements to one
  // The same of each of several rows of n elements, which lie behind each other.
  void (*rows[4])(const T* x, int64_t n, int64_t rows, T* results);
  // row = fold(row, each of n_rows rows of x, `stride` elements apart, in their order), of n elements.
  void (*columns[4])(T* row, const T* x, int64_t stride, int64_t n_rows, int64_t n);
};
// The sums of the columns of each of `count` blocks: rows of at most kFewColumns that lie behind each other,
// with at most kBlockSums elements together. Blocks are `stride` elements apart, their sums `to_stride`.
constexpr int64_t kFewColumns = 16, kBlockSums = 2048;
template <typename T>
using SumBlocks = void (*)(T* to, int64_t to_stride, const T* x, int64_t stride, int64_t n_rows,
                           int64_t n_columns, int64_t count);

struct Table {
  const char* name;

  // Steps; NULL where an opcode has no such type.
  StepFn unary[TN_N_INSTRUCTIONS][kRegisterTypes];  // by the operand's type
  StepFn binary[TN_N_INSTRUCTIONS][kRegisterTypes]
               [kShapes];           // by the operands' type; only kVV is there for rare ones
  StepFn where[kRegisterTypes][4];  // bit 0: b is a scalar; bit 1: c is
  const PairFunctions* pairs;
  StepFn cast[kRegisterTypes][TN_N_DTYPES];           // TN_I_CAST from a register type to a dtype
  StepFn load[TN_N_DTYPES][kRegisterTypes];           // memory to a register
  StepFn load_strided[TN_N_DTYPES][kRegisterTypes];   // cells[b].i is the stride
  StepFn store[kRegisterTypes][TN_N_DTYPES];          // a register to memory
  StepFn store_strided[kRegisterTypes][TN_N_DTYPES];  // cells[b].i is the stride of d
  StepFn splat[kRegisterTypes];                       // one element to n
  // By the logarithm of an element's bytes: one of each of several rows, `stride` elements apart, n
  // times. Up to 63 bytes behind the last are written, too.
  void (*spread_rows[4])(void* to, const void* from, int64_t stride, int64_t n, int64_t rows);

  FoldFunctions<float, double> folds_f32;
  FoldFunctions<double, double> folds_f64;
  FoldFunctions<int64_t, int64_t> folds_i64;
  SumBlocks<float> sum_blocks_f32;
  SumBlocks<double> sum_blocks_f64;
  // sum += x, error += what the rounding of sum lost.
  void (*flush_f32)(double* sum, const float* x, int64_t n);
  void (*flush_f64)(double* sum, double* error, const double* x, int64_t n);

  // Rows of logits: log(sum(exp(x - *top))) with the largest element in *top, and d = exp(x - lse)
  // * scale.
  double (*log_sum_exp_f32)(const float* x, int64_t n, float* top);
  double (*log_sum_exp_f64)(const double* x, int64_t n, double* top);
  void (*exp_minus_lse_f32)(float* d, const float* x, double lse, float scale, int64_t n);
  void (*exp_minus_lse_f64)(double* d, const double* x, double lse, double scale, int64_t n);

  RowFunctions rows;
  RecurrentFunctions recurrent;
  DistanceFunctions<float> distance_f32;
  DistanceFunctions<double> distance_f64;
  // The taps of n places of a grid, which has two numbers of each; sampling of a plane, and its gradients to
  // the plane and to the places, which are added.
  void (*sample_taps)(SampleTaps*, const SampleAxis& down, const SampleAxis& across,
                      const float* grid, int64_t n);
  void (*sample)(float* y, const float* plane, int64_t n, const SampleTaps&);
  void (*sample_dx)(float* dplane, const float* g, int64_t n, const SampleTaps&);
  void (*sample_slopes)(float* dacross, float* ddown, const float* g, const float* plane, int64_t n,
                        const SampleTaps&);
  // y and places [h.out, w.out] of x [h.size, w.size]: the largest of each window, and where it is.
  void (*max_plane)(const PoolAxis& h, const PoolAxis& w, const float* x, float* y,
                    int32_t* places);
  void (*max_columns)(float* best, int32_t* places, const float* x, int64_t n, int32_t at);

  // y[i] = bias + the sum of weights[t] x[i + shifts[t]], for i from 0 to n - 1; y is none of x.
  void (*depthwise_taps)(float* y, const float* x, int64_t n, const float* weights,
                         const int64_t* shifts, int64_t n_taps, float bias);
  // sums[t] += the sum of g[i] x[i + shifts[t]].
  void (*depthwise_dots)(double* sums, const float* g, const float* x, int64_t n,
                         const int64_t* shifts, int64_t n_taps);

  // c = a b (+ bias) (relu), on the calling thread.
  void (*gemm)(const GemmArgs&);
  int64_t (*gemm_scratch)(int64_t m, int64_t n, int64_t k, tn_dtype, bool narrow);

  void (*adam_f32)(float* p, const float* g, float* m, float* v, int64_t n, const AdamStep&);
  void (*adam_f64)(double* p, const double* g, double* m, double* v, int64_t n, const AdamStep&);
  // The buffer may be NULL.
  void (*sgd_f32)(float* p, const float* g, float* buffer, int64_t n, const SgdStep&);
  void (*sgd_f64)(double* p, const double* g, double* buffer, int64_t n, const SgdStep&);

  // Philox 4x32-10: the four lanes of `count` counters from `first`, in order.
  void (*philox)(uint32_t* out, int64_t first, int64_t count, uint64_t seed, uint64_t offset);
};

const Table& table();

}  // namespace tenon::cpu_backend
