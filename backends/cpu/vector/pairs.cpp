// Two instructions in one pass over a tile of floats: what the first gives stays in a register, and is
// read by the second alone. Compiled once for each instruction set, with its name in TENON_PAIRS.
// Unlike the other loops without contraction: a product and a sum in one pass round as they do apart.
#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

using Floats = Vec<float>;

// The meanings that arith.h gives to single floats.
struct Add {
  static TENON_INLINE Floats of(Floats a, Floats b) { return a + b; }
};
struct Sub {
  static TENON_INLINE Floats of(Floats a, Floats b) { return a - b; }
};
struct Mul {
  static TENON_INLINE Floats of(Floats a, Floats b) { return a * b; }
};
// a > b ? a : b and a < b ? a : b, which are instructions, where compilers see a comparison and a choice.
// (Those without a mask warn of uninitialized lanes, which there are none of.)
TENON_INLINE Floats larger(Floats a, Floats b) {
#if defined(__AVX512F__)
  return _mm512_maskz_max_ps(0xffff, a, b);
#elif defined(__AVX2__)
  return _mm256_max_ps(a, b);
#elif defined(__SSE2__)
  return _mm_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}
TENON_INLINE Floats smaller(Floats a, Floats b) {
#if defined(__AVX512F__)
  return _mm512_maskz_min_ps(0xffff, a, b);
#elif defined(__AVX2__)
  return _mm256_min_ps(a, b);
#elif defined(__SSE2__)
  return _mm_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}
struct Max {
  static TENON_INLINE Floats of(Floats a, Floats b) { return a != a ? a : larger(a, b); }
};
struct Min {
  static TENON_INLINE Floats of(Floats a, Floats b) { return a != a ? a : smaller(a, b); }
};
// The magnitude of the first alone.
struct AbsOfFirst {
  static TENON_INLINE Floats of(Floats a, Floats) {
    using Bits = int32_t __attribute__((vector_size(sizeof(Floats))));
    return reinterpret_cast<Floats>(reinterpret_cast<Bits>(a) & 0x7fffffff);
  }
};
// The same with its operands the other way round.
template <typename F>
struct Turned {
  static TENON_INLINE Floats of(Floats a, Floats b) { return F::of(b, a); }
};

#define TENON_PICK(Name, op)                                                   \
  struct Name {                                                                \
    static TENON_INLINE Floats of(Floats a, Floats b, Floats yes, Floats no) { \
      return a op b ? yes : no;                                                \
    }                                                                          \
  };
TENON_PICK(PickEq, ==)
TENON_PICK(PickNe, !=)
TENON_PICK(PickLt, <)
TENON_PICK(PickLe, <=)
TENON_PICK(PickGt, >)
TENON_PICK(PickGe, >=)
#undef TENON_PICK

// One that moves with the index, or one element for all.
template <bool kVaries>
class Operand {
 public:
  Operand(const Cell* cells, uint16_t cell)
      : p_(reinterpret_cast<const float*>(cells[cell].p)), all_(broadcast(*p_)) {}
  TENON_INLINE Floats at(int64_t i) const { return kVaries ? load(p_ + i) : all_; }
  TENON_INLINE Floats part(int64_t i, int64_t n) const {
    return kVaries ? load_part(p_ + i, n, p_[i]) : all_;
  }

 private:
  const float* p_;
  Floats all_;
};

// d = f(operands).
template <typename F, typename... Operands>
TENON_INLINE void each(float* d, int64_t n, F f, const Operands&... operands) {
  constexpr int64_t w = kLanes<float>;
  int64_t i = 0;
  for (; i + w <= n; i += w) store(d + i, f(operands.at(i)...));
  if (i < n) store_part(d + i, n - i, f(operands.part(i, n - i)...));
}

template <typename F, bool kVaryA, bool kVaryB, typename G, bool kVaryC>
void pair(const Cell* cells, const Step& step, int64_t n) {
  each(
      reinterpret_cast<float*>(cells[step.d].p), n,
      [](Floats a, Floats b, Floats c)
          __attribute__((always_inline)) { return G::of(F::of(a, b), c); },
      Operand<kVaryA>(cells, step.a), Operand<kVaryB>(cells, step.b),
      Operand<kVaryC>(cells, step.c));
}

template <typename Pick, bool kVaryB, bool kVaryC, bool kVaryE>
void select_by(const Cell* cells, const Step& step, int64_t n) {
  each(
      reinterpret_cast<float*>(cells[step.d].p), n,
      [](Floats a, Floats b, Floats c, Floats e)
          __attribute__((always_inline)) { return Pick::of(a, b, c, e); },
      Operand<true>(cells, step.a), Operand<kVaryB>(cells, step.b), Operand<kVaryC>(cells, step.c),
      Operand<kVaryE>(cells, step.e));
}

template <typename F, bool kVaryA, bool kVaryB, typename G>
constexpr void add_second(StepFn (&shapes)[2]) {
  shapes[0] = pair<F, kVaryA, kVaryB, G, true>;
  shapes[1] = pair<F, kVaryA, kVaryB, G, false>;
}
template <typename F, bool kVaryA, bool kVaryB>
constexpr void add_first(StepFn (&seconds)[kPairSeconds][2]) {
  add_second<F, kVaryA, kVaryB, Add>(seconds[kThenAdd]);
  add_second<F, kVaryA, kVaryB, Mul>(seconds[kThenMul]);
  add_second<F, kVaryA, kVaryB, Sub>(seconds[kThenSub]);
  add_second<F, kVaryA, kVaryB, Turned<Sub>>(seconds[kThenSubFrom]);
  add_second<F, kVaryA, kVaryB, Max>(seconds[kThenMax]);
  add_second<F, kVaryA, kVaryB, Min>(seconds[kThenMin]);
  seconds[kThenAbs][1] = pair<F, kVaryA, kVaryB, AbsOfFirst, false>;
}

template <typename Pick, bool kVaryB>
constexpr void add_select(StepFn (&kinds)[4]) {
  kinds[0] = select_by<Pick, kVaryB, true, true>;
  kinds[1] = select_by<Pick, kVaryB, false, true>;
  kinds[2] = select_by<Pick, kVaryB, true, false>;
  kinds[3] = select_by<Pick, kVaryB, false, false>;
}
template <typename Pick>
constexpr void add_selects(StepFn (&shapes)[2][4]) {
  add_select<Pick, true>(shapes[kVV]);
  add_select<Pick, false>(shapes[kVS]);
}

constexpr PairFunctions make() {
  PairFunctions t = {};
  add_first<Add, true, true>(t.pairs[kFirstAdd][kVV]);
  add_first<Add, true, false>(t.pairs[kFirstAdd][kVS]);
  add_first<Mul, true, true>(t.pairs[kFirstMul][kVV]);
  add_first<Mul, true, false>(t.pairs[kFirstMul][kVS]);
  add_first<Sub, true, true>(t.pairs[kFirstSub][kVV]);
  add_first<Sub, true, false>(t.pairs[kFirstSub][kVS]);
  add_first<Sub, false, true>(t.pairs[kFirstSub][kSV]);
  add_first<Max, true, false>(t.pairs[kFirstMax][kVS]);
  add_first<Min, true, false>(t.pairs[kFirstMin][kVS]);
  add_selects<PickEq>(t.selects[TN_I_EQ - TN_I_EQ]);
  add_selects<PickNe>(t.selects[TN_I_NE - TN_I_EQ]);
  add_selects<PickLt>(t.selects[TN_I_LT - TN_I_EQ]);
  add_selects<PickLe>(t.selects[TN_I_LE - TN_I_EQ]);
  add_selects<PickGt>(t.selects[TN_I_GT - TN_I_EQ]);
  add_selects<PickGe>(t.selects[TN_I_GE - TN_I_EQ]);
  return t;
}

}  // namespace

extern const PairFunctions TENON_PAIRS;
constinit const PairFunctions TENON_PAIRS = make();

}  // namespace tenon::cpu_backend
