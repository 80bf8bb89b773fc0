/* The evaluator of programs: every instruction of abi.h, a tile at a time. */
#include <string.h>
#include <tgmath.h>

#include "acme.h"

/* b takes part in binary ones only. */
/* clang-format off */
#define CASES_OF_FLOATS(CASE)                                                                     \
  CASE(TN_I_NEG, -a)            CASE(TN_I_ABS, fabs(a))        CASE(TN_I_FLOOR, floor(a))         \
  CASE(TN_I_CEIL, ceil(a))      CASE(TN_I_ROUND, rint(a))      CASE(TN_I_TRUNC, trunc(a))         \
  CASE(TN_I_SQRT, sqrt(a))      CASE(TN_I_EXP, exp(a))         CASE(TN_I_EXP2, exp2(a))           \
  CASE(TN_I_EXPM1, expm1(a))    CASE(TN_I_LOG, log(a))         CASE(TN_I_LOG2, log2(a))           \
  CASE(TN_I_LOG10, log10(a))    CASE(TN_I_LOG1P, log1p(a))     CASE(TN_I_SIN, sin(a))             \
  CASE(TN_I_COS, cos(a))        CASE(TN_I_TAN, tan(a))         CASE(TN_I_ASIN, asin(a))           \
  CASE(TN_I_ACOS, acos(a))      CASE(TN_I_ATAN, atan(a))       CASE(TN_I_SINH, sinh(a))           \
  CASE(TN_I_COSH, cosh(a))      CASE(TN_I_TANH, tanh(a))       CASE(TN_I_ASINH, asinh(a))         \
  CASE(TN_I_ACOSH, acosh(a))    CASE(TN_I_ATANH, atanh(a))     CASE(TN_I_ERF, erf(a))             \
  CASE(TN_I_ERFC, erfc(a))      CASE(TN_I_ADD, a + b)          CASE(TN_I_SUB, a - b)              \
  CASE(TN_I_MUL, a * b)         CASE(TN_I_DIV, a / b)          CASE(TN_I_FMOD, fmod(a, b))        \
  CASE(TN_I_POW, pow(a, b))     CASE(TN_I_ATAN2, atan2(a, b))                                     \
  CASE(TN_I_SIGN, (a > 0) - (a < 0))                                                              \
  CASE(TN_I_MIN, a != a || a < b ? a : b)                                                         \
  CASE(TN_I_MAX, a != a || a > b ? a : b)                                                         \
  CASE(TN_I_REM, below(fmod(a, b), b) ? fmod(a, b) + b : fmod(a, b))                              \
  CASE(TN_I_FLOORDIV, b == 0 ? a / b : rint((a - fmod(a, b)) / b) - below(fmod(a, b), b))

#define CASES_OF_INTS(CASE)                                                                       \
  CASE(TN_I_ADD, wrap((uint64_t)a + (uint64_t)b))                                                 \
  CASE(TN_I_SUB, wrap((uint64_t)a - (uint64_t)b))                                                 \
  CASE(TN_I_MUL, wrap((uint64_t)a * (uint64_t)b))       CASE(TN_I_NEG, wrap(0 - (uint64_t)a))     \
  CASE(TN_I_ABS, a < 0 ? wrap(0 - (uint64_t)a) : a)     CASE(TN_I_SIGN, (a > 0) - (a < 0))        \
  CASE(TN_I_FMOD, rest(a, b))                           CASE(TN_I_FLOORDIV, floor_divide(a, b))   \
  CASE(TN_I_REM, below((double)rest(a, b), (double)b) ? rest(a, b) + b : rest(a, b))             \
  CASE(TN_I_POW, power(a, b))                           CASE(TN_I_MIN, a < b ? a : b)             \
  CASE(TN_I_MAX, a > b ? a : b)                         CASE(TN_I_AND, a & b)                     \
  CASE(TN_I_OR, a | b)                                  CASE(TN_I_XOR, a ^ b)                     \
  CASE(TN_I_NOT, is_bool ? !a : ~a)                     CASE(TN_I_SHL, shift_left(a, b))          \
  CASE(TN_I_SHR, a >> (b < 0 || b > 63 ? 63 : b))

#define CASES_OF_TESTS(CASE)                                                                      \
  CASE(TN_I_EQ, a == b)    CASE(TN_I_NE, a != b)    CASE(TN_I_LT, a < b)    CASE(TN_I_LE, a <= b) \
  CASE(TN_I_GT, a > b)     CASE(TN_I_GE, a >= b)
/* clang-format on */

/* Has this rest of a division another sign than the divisor? Then the quotient rounds down. */
static int32_t below(double rest, double b) { return rest != 0 && (rest < 0) != (b < 0); }

static int64_t wrap(uint64_t value) {
  int64_t result;
  memcpy(&result, &value, sizeof result);
  return result;
}

/* Division by 0 gives 0; by -1 it overflows for the smallest integer. */
static int64_t rest(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

static int64_t floor_divide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrap(0 - (uint64_t)a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t power(int64_t base, int64_t exponent) {
  uint64_t result = 1, factor = (uint64_t)base;
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  for (; exponent > 0; exponent /= 2, factor *= factor) {
    if (exponent % 2 == 1) result *= factor;
  }
  return wrap(result);
}

static int64_t shift_left(int64_t a, int64_t b) {
  return b < 0 || b > 63 ? 0 : wrap((uint64_t)a << b);
}

/* One case of a switch over all elements. Tests leave their result in the integers; in place, since
 * the register that is written may be an operand of the very instruction. */
#define LOOP(T, MEMBER, TO, EXPR)                       \
  for (int64_t j = 0; j < n; ++j) {                     \
    const T a = r[i.a].MEMBER[j], b = r[i.b].MEMBER[j]; \
    (void)b;                                            \
    TO = (EXPR);                                        \
  }                                                     \
  return 1;
#define FLOAT_CASE(OP, EXPR) \
  case OP:                   \
    LOOP(float, f, r[i.dst].f[j], EXPR)
#define DOUBLE_CASE(OP, EXPR) \
  case OP:                    \
    LOOP(double, d, r[i.dst].d[j], EXPR)
#define INT_CASE(OP, EXPR) \
  case OP:                 \
    LOOP(int64_t, i, r[i.dst].i[j], EXPR)

static int32_t floats(tn_instruction i, acme_register* r, int64_t n) {
  switch (i.opcode) {
    CASES_OF_FLOATS(FLOAT_CASE)
    default:
      return 0;
  }
}

static int32_t doubles(tn_instruction i, acme_register* r, int64_t n) {
  switch (i.opcode) {
    CASES_OF_FLOATS(DOUBLE_CASE)
    default:
      return 0;
  }
}

static int32_t ints(tn_instruction i, acme_register* r, int64_t n) {
  const int32_t is_bool = i.dtype == TN_BOOL;
  switch (i.opcode) {
    CASES_OF_INTS(INT_CASE)
    default:
      return 0;
  }
}

/* A result has 8 bytes an element: written at once, it would run over float operands of 4 that are
 * still to be read. */
static int32_t tests(tn_instruction i, acme_register* r, int64_t n) {
  acme_register result;
  int32_t known = 1;
#define TEST(T, MEMBER, EXPR)                           \
  for (int64_t j = 0; j < n; ++j) {                     \
    const T a = r[i.a].MEMBER[j], b = r[i.b].MEMBER[j]; \
    (void)b;                                            \
    result.i[j] = (EXPR);                               \
  }                                                     \
  break;
#define TEST_CASE(OP, EXPR)    \
  case OP:                     \
    switch (i.flags) {         \
      case TN_FLOAT32:         \
        TEST(float, f, EXPR)   \
      case TN_FLOAT64:         \
        TEST(double, d, EXPR)  \
      default:                 \
        TEST(int64_t, i, EXPR) \
    }                          \
    break;
  switch (i.opcode) {
    CASES_OF_TESTS(TEST_CASE)
    TEST_CASE(TN_I_ISNAN, a != a)
    TEST_CASE(TN_I_ISINF, (double)a == INFINITY || (double)a == -INFINITY)
    default:
      known = 0;
  }
  if (known) memcpy(r[i.dst].i, result.i, (size_t)n * sizeof(int64_t));
  return known;
}

static void set_all(acme_register* to, tn_dtype type, tn_scalar value, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    if (type == TN_FLOAT32) {
      to->f[j] = (float)value.f;
    } else if (type == TN_FLOAT64) {
      to->d[j] = value.f;
    } else {
      to->i[j] = value.i;
    }
  }
}

static void choose(tn_instruction i, acme_register* r, int64_t n) {
  acme_register result;
  for (int64_t j = 0; j < n; ++j) {
    const acme_register* from = &r[r[i.a].i[j] ? i.b : i.c];
    if (i.dtype == TN_FLOAT32) {
      result.f[j] = from->f[j];
    } else {
      memcpy(&result.i[j], &from->i[j], sizeof(int64_t));
    }
  }
  memcpy(&r[i.dst], &result, (size_t)n * (i.dtype == TN_FLOAT32 ? sizeof(float) : sizeof(int64_t)));
}

tn_status* acme_evaluate(const tn_program* program, const tn_scalar* params, acme_register* r,
                         const acme_lane* inputs, const acme_lane* outputs, int64_t n) {
  for (uint32_t k = 0; k < program->n_instructions; ++k) {
    const tn_instruction i = program->instructions[k];
    tn_status* status = NULL;
    int32_t known = 1;
    switch (i.opcode) {
      case TN_I_LOAD:
        acme_load(&r[i.dst], i.dtype, inputs[i.a], n);
        break;
      case TN_I_STORE:
        acme_store(outputs[i.b], &r[i.a], i.dtype, n);
        break;
      case TN_I_PARAM:
        set_all(&r[i.dst], i.dtype, params[i.a], n);
        break;
      case TN_I_CONST:
        set_all(&r[i.dst], i.dtype, program->constants[i.a], n);
        break;
      case TN_I_CAST:
        status = acme_cast(&r[i.dst], i.dtype, &r[i.a], i.flags, n);
        break;
      case TN_I_MOVE:
        r[i.dst] = r[i.a];
        break;
      case TN_I_WHERE:
        choose(i, r, n);
        break;
      default:
        if (i.opcode == TN_I_ISNAN || i.opcode == TN_I_ISINF ||
            (i.opcode >= TN_I_EQ && i.opcode <= TN_I_GE)) {
          known = tests(i, r, n);
        } else {
          known = i.dtype == TN_FLOAT32   ? floats(i, r, n)
                  : i.dtype == TN_FLOAT64 ? doubles(i, r, n)
                                          : ints(i, r, n);
        }
    }
    if (!known) status = acme_error(TN_UNSUPPORTED, "acme does not know instruction %d", i.opcode);
    if (status != NULL) return status;
  }
  return NULL;
}
