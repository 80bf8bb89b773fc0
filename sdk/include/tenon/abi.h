/* Tenon's whole contract: what crosses between the host (libtenon.so), plugins and applications.
 *
 * C11, nothing but <stdint.h> and <stddef.h>. Plugins get the host's table at their entry and
 * have no undefined symbol of the host; applications get the same table from tenon_host(), the
 * library's only way in.
 *
 * Rules that hold everywhere, unless a declaration says otherwise:
 *  - A function that can fail returns tn_status*: NULL is success, else an owned status; free it
 *    with host->status_free.
 *  - Arguments are borrowed for the call. Results (tn_value, T** out) are owned by the caller.
 *  - Strings are UTF-8 and end with NUL. Sizes and strides count elements; byte counts say so.
 *  - Every function of the host may be called from any thread. Modes, current streams and
 *    explain are per thread.
 *  - No exception and no longjmp crosses the border, in either direction.
 *  - Functions of plugins and applications. Each may be called from any thread, and from several
 *    at once with one `self`, unless it is said here or at its declaration:
 *      init and shutdown of a plugin: one plugin at a time, on the thread that loads.
 *      Decompositions, vjps, backwards of custom functions, methods, factories' create, and hooks
 *        run on the thread that called, inside that call. They may call everything of the host,
 *        and so come to themselves again.
 *      Kernels, `supports`, `infer`, `infer_private`, `order`, `prepare` and views run inside a
 *        call too. They use of the host what is about their call (workspace, set_output, keep,
 *        parallel_for), counts of tensors, statuses, texts and the log, and call no op.
 *      Slots of a device and of threads, `classify`, and functions that see a launch (profile/1)
 *        may run while the host holds locks of its own. They use statuses and the log alone.
 *      destroy and release functions run once, on whichever thread gives up last, after all other
 *        calls with that `self` have returned. They use statuses, texts, the log, and what
 *        releases.
 *  - A struct with a `size` starts with sizeof itself as the author's compiler saw it. It grows
 *    only at its end; a field beyond `size` counts as zero. Slots marked optional may be zero,
 *    and the comment says what happens then. */
#ifndef TENON_ABI_H_
#define TENON_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TN_ABI_MAJOR 0
#define TN_ABI_MINOR 2
#define TN_ABI_VERSION ((uint32_t)((TN_ABI_MAJOR << 16) | TN_ABI_MINOR))
#define TN_MAX_RANK 16

/* ---- Handles of the host --------------------------------------------------------------------- */

typedef struct tn_status tn_status;   /* code, message, cause, payload */
typedef struct tn_storage tn_storage; /* counted bytes on a device */
typedef struct tn_op tn_op; /* what can be called: an op, a primitive, a formula; immortal */
typedef struct tn_object tn_object; /* layer, optimizer, or other; counted */
typedef struct tn_node tn_node;     /* a recorded call in the autograd graph; counted */
typedef struct tn_host tn_host;
typedef struct tn_registrar tn_registrar;

/* ---- Codes, dtypes, devices ------------------------------------------------------------------ */

typedef int32_t tn_code;
enum {
  TN_OK = 0,
  TN_INVALID_ARGUMENT = 1, /* shapes, dtypes, devices, options that do not fit */
  TN_NOT_FOUND = 2,        /* an op, device, file, factory that is not there */
  TN_UNSUPPORTED = 3,      /* understood, but there is no kernel or no gradient for it */
  /* of host or device; for tensors after the caches were emptied and the request repeated */
  TN_OUT_OF_MEMORY = 4,
  TN_FAILED_PRECONDITION = 5, /* backward twice, a saved tensor changed in place, ... */
  TN_DATA_LOSS = 6,           /* a damaged or cut file */
  TN_EXCEPTION = 7,           /* an exception of the application; the payload holds it */
  TN_INTERNAL = 8,
  TN_DEVICE_LOST = 9 /* the device has failed for good: see tn_device_def */
};

/* One to one with DLPack's (code, bits, 1 lane). Reserved ones are named by no kernel yet. */
typedef int32_t tn_dtype;
enum {
  TN_FLOAT32 = 0,
  TN_FLOAT64 = 1,
  TN_FLOAT16 = 2,  /* computed in float32 */
  TN_BFLOAT16 = 3, /* computed in float32 */
  TN_INT64 = 4,
  TN_INT32 = 5,
  TN_UINT8 = 6,
  TN_BOOL = 7,  /* one byte, 0 or 1 */
  TN_INT8 = 8,  /* from instruction set 2 on */
  TN_INT16 = 9, /* likewise */
  TN_COMPLEX64 = 10,
  TN_COMPLEX128 = 11, /* 10 and 11 reserved */
  TN_DTYPE_NONE = -1
};
#define TN_N_DTYPES 10 /* those that are not reserved; tenon/dtype_table.hpp says what each is */
#define TN_DTYPE_BIT(dtype) (1u << (dtype))

/* Types are names interned when a plugin registers them: `device/1`. Two are always there. */
typedef struct tn_device {
  int32_t type;
  int32_t index;
} tn_device;
enum {
  TN_DEVICE_CPU = 0,
  TN_DEVICE_META = 1, /* shapes only, no memory */
  TN_FIRST_PLUGIN_DEVICE = 2
};

/* A stream of a device. `cpu` has none: its calls have finished when they return. */
typedef struct tn_stream {
  tn_device device;
  uint64_t id;  /* unique in the process; 0 is never one */
  void* handle; /* what the backend's stream_create gave */
} tn_stream;

/* ---- Tensors (frozen at 1.0) ----------------------------------------------------------------- */

enum {
  TN_TENSOR_CONTIGUOUS = 1u << 0, /* row-major, without gaps */
  /* a leaf that asks for a gradient, or the output of a recorded call */
  TN_TENSOR_REQUIRES_GRAD = 1u << 1,
  TN_TENSOR_LEAF = 1u << 2,      /* no recorded call made it */
  TN_TENSOR_INFERENCE = 1u << 3, /* made in inference mode: never enters a graph */
  TN_TENSOR_BORROWED = 1u << 4,  /* a kernel's view on the host's stack: cannot be retained */
  TN_TENSOR_ROWS = 1u << 5       /* row-sparse (rows/1): has no data, and no op takes it */
};

/* Counted by the host. This prefix may be read without a call; all of it is written by the host
 * alone. */
typedef struct tn_tensor {
  void* data; /* address of element 0; NULL for empty tensors, meta, and memory without addresses */
  const int64_t* sizes;
  const int64_t* strides; /* in elements; 0 where an expanded dimension repeats */
  int64_t numel;
  int32_t ndim; /* 0 to TN_MAX_RANK */
  tn_dtype dtype;
  tn_device device;
  uint32_t flags; /* TN_TENSOR_* */
  uint32_t reserved;
  tn_storage* storage;
  uint64_t byte_offset; /* of element 0 in the storage */
} tn_tensor;

/* ---- Values (frozen at 1.0; kinds may be added) ---------------------------------------------- */

enum {
  TN_KIND_NONE = 0,
  TN_KIND_TENSOR = 1,
  TN_KIND_TENSORS = 2, /* entries may be NULL where the schema says Tensor?[] */
  TN_KIND_INT = 3,
  TN_KIND_INTS = 4,
  TN_KIND_FLOAT = 5,
  TN_KIND_FLOATS = 6,
  TN_KIND_BOOL = 7, /* in as.i: 0 or 1 */
  TN_KIND_DTYPE = 8,
  TN_KIND_DEVICE = 9,
  TN_KIND_STRING = 10,
  TN_KIND_STRINGS = 11,
  TN_KIND_EXPRESSION = 12,
  TN_KIND_OBJECT = 13,
  TN_KIND_OBJECTS = 14,
  TN_KIND_LOOP = 15,     /* kernels of elementwise */
  TN_KIND_REDUCTION = 16 /* kernels of reduce */
};

struct tn_loop;
struct tn_reduction;

/* Where a schema calls an argument dynamic, a tensor may stand for the number: of one element, on
 * cpu, float64 (or int64) for a float, int64 for an int, bool for a bool, any of these for a
 * number. It is read when the work is launched, and a graph (capture/1) reads it anew at each
 * replay. Kernels and inference get the number, a decomposition gets the tensor; while a graph of a device is recorded
 * (capture_begin), kernels get a tensor of one element on that device, float64 or int64, and read
 * it when the work runs. No gradient goes
 * to it. */
typedef struct tn_value {
  uint32_t kind;
  uint32_t count; /* entries of a list; bytes of a string, without its NUL */
  union {
    tn_tensor* tensor;
    tn_tensor* const* tensors;
    int64_t i;
    const int64_t* ints;
    double f;
    const double* floats;
    tn_dtype dtype;
    tn_device device;
    const char* string;
    const char* const* strings;
    const tn_op* expression; /* the op of a formula: host->expression, or of a plugin */
    tn_object* object;
    tn_object* const* objects;
    const struct tn_loop* loop;
    const struct tn_reduction* reduction;
  } as;
} tn_value;

/* ---- Programs: the flat form of an expression ------------------------------------------------ */

/* Scalar instructions. `dtype` of an instruction is the type of its result: TN_FLOAT32,
 * TN_FLOAT64, TN_INT64 or TN_BOOL, the four register types (others only in CAST). Operands have
 * the same type as the result except where noted. Comparisons take any one type and give
 * TN_BOOL. NaN propagates through MIN and MAX. Integer arithmetic wraps. Of TN_BOOL come LOAD
 * (anything != 0 is true), PARAM, CONST, STORE, CAST, NOT, AND, OR, XOR, WHERE, and comparisons
 * of two bools: the host writes sums and maxima of bools as OR, products and minima as AND. */
enum {
  /* input `a` (operand n_outputs + a of a loop), converted from its dtype to the register type */
  TN_I_LOAD = 0,
  TN_I_PARAM = 1, /* parameter `a`: .f for float types, .i for TN_INT64 and TN_BOOL */
  TN_I_CONST = 2, /* constants[a], read as PARAM is */
  /* register `a`, whose type is `dtype`, to output `b`, converted to the output's dtype as CAST
     does */
  TN_I_STORE = 3,
  /* from `a`, whose type is in `flags`, to `dtype`. The narrow integers (TN_INT32, TN_INT16,
     TN_INT8, TN_UINT8) wrap an int64 register to their width; TN_FLOAT16 and TN_BFLOAT16 round a
     float32 register to nearest even; a float becomes an integer by truncation toward zero, and NaN
     and what int64 cannot hold become INT64_MIN (so 0 in the narrow ones); anything becomes bool by
     != 0 (NaN: true) */
  TN_I_CAST = 4,
  TN_I_COORD = 5,  /* reserved: the index along dimension `a` */
  TN_I_RANDOM = 6, /* reserved: 32 random bits */
  TN_I_MOVE = 7,   /* a */
  TN_I_NEG = 10,
  TN_I_ABS,
  TN_I_SIGN, /* -1, 0, 1; of -0 and of NaN it is +0 */
  TN_I_FLOOR,
  TN_I_CEIL,
  TN_I_ROUND, /* half to even */
  TN_I_TRUNC,
  TN_I_SQRT,
  TN_I_EXP,
  TN_I_EXP2,
  TN_I_EXPM1,
  TN_I_LOG,
  TN_I_LOG2,
  TN_I_LOG10,
  TN_I_LOG1P,
  TN_I_SIN,
  TN_I_COS,
  TN_I_TAN,
  TN_I_ASIN,
  TN_I_ACOS,
  TN_I_ATAN,
  TN_I_SINH,
  TN_I_COSH,
  TN_I_TANH,
  TN_I_ASINH,
  TN_I_ACOSH,
  TN_I_ATANH,
  TN_I_ERF,
  TN_I_ERFC,
  TN_I_NOT,   /* logical for TN_BOOL, bitwise for TN_INT64 */
  TN_I_ISNAN, /* a float register to TN_BOOL */
  TN_I_ISINF,
  TN_I_ADD = 60,
  TN_I_SUB,
  TN_I_MUL,
  TN_I_DIV,      /* floats only */
  TN_I_FLOORDIV, /* rounds down the exact quotient; integers by 0 give 0 */
  TN_I_REM,      /* what FLOORDIV leaves: the sign of b; integers by 0 give 0 */
  TN_I_FMOD,     /* the sign of a; floats as C's fmod; integers by 0 give 0 */
  TN_I_POW,      /* integers: a negative exponent gives 0, except for bases 1 and -1 */
  TN_I_ATAN2,
  TN_I_MIN,
  TN_I_MAX,
  TN_I_AND, /* TN_BOOL and TN_INT64 */
  TN_I_OR,
  TN_I_XOR,
  TN_I_SHL,     /* TN_INT64; counts outside 0 to 63 give 0 */
  TN_I_SHR,     /* arithmetic; counts outside 0 to 63 give 0 or -1 */
  TN_I_EQ = 90, /* the operands' common type is in `flags` */
  TN_I_NE,
  TN_I_LT,
  TN_I_LE,
  TN_I_GT,
  TN_I_GE,
  TN_I_WHERE = 100 /* a ? b : c; `a` is TN_BOOL */
};
#define TN_N_INSTRUCTIONS 101 /* one more than the last */
/* Version of the list above, and of the dtypes that LOAD, STORE and CAST meet: with 2 came TN_INT8
 * and TN_INT16. A program has the least version that it needs. */
#define TN_INSTRUCTION_SET 2u

typedef struct tn_instruction { /* 16 bytes; frozen at 1.0 */
  uint16_t opcode;
  uint8_t dtype;
  uint8_t flags; /* CAST, comparisons, ISNAN, ISINF: the operands' register type */
  /* register written; its earlier value is dead, or is an operand of this very instruction */
  uint16_t dst;
  uint16_t a, b, c;
  uint32_t reserved;
} tn_instruction;

typedef union tn_scalar {
  double f;
  int64_t i;
} tn_scalar;

/* Immutable; lives as long as the process; `id` is unique in the process (a key for compiled
 * code). */
typedef struct tn_program {
  uint32_t size;
  uint32_t instruction_set; /* the version of the instruction set that it needs */
  uint64_t id;
  /* LOADs, PARAMs and CONSTs first, STOREs as soon as their value is there */
  const tn_instruction* instructions;
  uint32_t n_instructions;
  uint32_t n_registers;
  const tn_scalar* constants;
  uint32_t n_constants;
  uint32_t n_inputs, n_outputs, n_params;
} tn_program;

/* One operand of a loop. strides[d] belongs to the loop's dimension d, 0 where the operand is
 * broadcast. */
typedef struct tn_operand {
  void* data; /* element 0; NULL where memory has no address, then storage + byte_offset */
  const int64_t* strides;
  tn_storage* storage;
  uint64_t byte_offset;
  tn_dtype dtype;
  int32_t reserved;
} tn_operand;

#define TN_MAX_OPERANDS 32 /* of a loop or a reduction, outputs and inputs */

/* An elementwise launch: for every index of the loop, run the program. The host has broadcast
 * the operands, and merged and ordered the dimensions so that the last moves fastest; dense
 * operands of one shape come as one dimension of stride 1. An output may be the same memory as
 * an input at every index (in-place), never overlap it otherwise. */
typedef struct tn_loop {
  uint32_t size;
  int32_t ndim; /* 1 to TN_MAX_RANK; numel > 0 */
  int64_t numel;
  const int64_t* sizes;
  const tn_program* program;
  const tn_operand* operands; /* n_outputs outputs, then n_inputs inputs */
  const tn_scalar* params;
  /* While a graph is recorded, where a parameter changes from launch to launch: tn_scalars on the
   * device, which the work reads instead of params when it runs. Else NULL. */
  const struct tn_tensor* live_params;
} tn_loop;

typedef int32_t tn_reduce_kind;
enum {
  TN_REDUCE_SUM = 0,
  TN_REDUCE_PROD,
  TN_REDUCE_MAX,
  TN_REDUCE_MIN,
  TN_REDUCE_ARGMAX,
  TN_REDUCE_ARGMIN
};

/* A reduction launch. The first ndim - n_reduced dimensions are kept, the others reduced;
 * operands[0] is the output (stride 0 along reduced dimensions), the rest are the inputs of the
 * prologue. For each kept index: fold prologue(inputs) over the reduced indices, then store
 * epilogue(result). Floats fold in `accumulate` (float32 for float16, bfloat16 and float32, with
 * pairwise or better error; else float64), integers and bool in int64. A NaN wins MAX, MIN,
 * ARGMAX and ARGMIN; the ARGs give the flat index over the reduced dimensions in loop order, the
 * first among equals, and come with one kept order only (the host merges, but never reorders the
 * reduced dimensions of ARGs). The ARGs may have a prologue, and have no epilogue. */
typedef struct tn_reduction {
  uint32_t size;
  tn_reduce_kind kind;
  tn_dtype accumulate; /* TN_FLOAT32, TN_FLOAT64 or TN_INT64 */
  int32_t ndim, n_reduced;
  int32_t reserved;
  /* number of outputs; the number of values folded into each is the product of the reduced sizes, >
     0 */
  int64_t n_kept;
  const int64_t* sizes;
  const tn_operand* operands;
  /* NULL: one input, as it is. Its single output is in register type `accumulate` */
  const tn_program* prologue;
  /* NULL: none. One input: the folded value; one output. Its LOAD reads `accumulate` */
  const tn_program* epilogue;
  const tn_scalar* prologue_params;
  const tn_scalar* epilogue_params;
} tn_reduction;

/* ---- Primitives and views -------------------------------------------------------------------- */

/* The kernels of a complete backend. What a call of a primitive takes is in docs/abi.md; this is
 * what a kernel gets. Rows with a line `without` may be missing: the host then does what
 * stands there.
 *
 *  ELEMENTWISE  args     loop
 *               outputs  those of the loop
 *  REDUCE       args     reduction
 *               outputs  y
 *  SCAN         args     int kind (TN_REDUCE_SUM or TN_REDUCE_PROD), x, int dim, bool reverse
 *               outputs  y of x's sizes and dtype; halves fold in float32
 *               without  log2(n) passes of ELEMENTWISE
 *  MATMUL       args     a [b, m, k], b [b, k, n], any strides (0 along a broadcast batch)
 *               outputs  y [b, m, n]; all three have one float dtype
 *  COPY         args     x
 *               outputs  y of the same sizes, any strides and dtypes, on x's device
 *               without  an elementwise cast
 *  FILL         args     number
 *               outputs  y, any strides
 *               without  ELEMENTWISE
 *  IOTA         args     start (number), step (number)
 *               outputs  y [n], contiguous
 *  GATHER       args     x, int dim, index (int64; the kernel checks its values)
 *               outputs  y of index's sizes: y[.., i, ..] = x[.., index[.., i, ..], ..]. index's
 *                        sizes are at most x's, except along dim
 *  SCATTER      args     index, int dim, src (index's sizes), bool add
 *               outputs  y, which holds its old values and is written in place. index's sizes are
 *                        at most y's, except along dim. add: sums in any order, unless the kernel
 *                        promises TN_KERNEL_DETERMINISTIC; set: equal indices leave one of the
 *                        values. Any strides without overlap for TN_KERNEL_STRIDED_OUTPUT. The index
 *                        is looked at before y is written: it may be the caller's own tensor
 *  SORT         args     x, int dim, bool descending
 *               outputs  values, and indices (int64), of x's sizes. Equal elements stay in order,
 *                        NaN is the greatest
 *               without  each element is compared with each of its row
 *  RANDOM_BITS  args     none; call->random
 *               outputs  y int32, contiguous. Philox 4x32-10: element i is lane i % 4 of counter
 *                        {lo(i/4), hi(i/4), lo(offset), hi(offset)} under key {lo(seed), hi(seed)}.
 *                        Seed 0, offset 0 begins 6627e8d5 e169c58d bc57ac4c 9b00dbd8 f8e4cca4; seed
 *                        0123456789abcdef, offset 0000000100000002 begins 20f4d595 e9627d16
 *                        7bbaeeb8 df7a77a7 57d0d554 3250ff87 (hexadecimal)
 *  NONZERO      args     x
 *               outputs  [count, ndim] int64, row-major order, made with set_output
 *
 * Tensors among the arguments have any strides, unless the kernel's layout says otherwise; outputs
 * are row-major unless said. Nothing is launched for empty outputs (NONZERO: an empty x), nor
 * MATMUL with k = 0. Of a tensor without dimensions dim is 0, and the size along it counts as 1. */
typedef int32_t tn_primitive;
enum {
  TN_PRIM_NONE = 0,
  TN_PRIM_ELEMENTWISE = 1,
  TN_PRIM_REDUCE = 2,
  TN_PRIM_SCAN = 3,
  TN_PRIM_MATMUL = 4,
  TN_PRIM_COPY = 5,
  TN_PRIM_FILL = 6,
  TN_PRIM_IOTA = 7,
  TN_PRIM_GATHER = 8,
  TN_PRIM_SCATTER = 9,
  TN_PRIM_SORT = 10,
  TN_PRIM_RANDOM_BITS = 11,
  TN_PRIM_NONZERO = 12,
  /* Views: no kernels. */
  TN_PRIM_RESHAPE = 32, /* x, int[] sizes (one may be -1); copies when no view is possible */
  TN_PRIM_PERMUTE = 33, /* x, int[] dims */
  TN_PRIM_SLICE = 34, /* x, int dim, int start, int end, int step >= 1; start and end as Python's */
  TN_PRIM_EXPAND = 35,     /* x, int[] sizes (-1 keeps) */
  TN_PRIM_AS_STRIDED = 36, /* x, int[] sizes, int[] strides, int offset (of the storage) */
  /* Not a view (37 to 47 are kept for those). In place, by SCATTER's kernel: x, int dim, index,
   * src, bool add. */
  TN_PRIM_SCATTER_INTO = 48
};
#define TN_N_PRIM_KERNELS 13 /* one more than the last that has kernels */

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Counter-based random state of one call. state: while a graph of a compiled function is recorded
 * int64[2] on the device, seed and offset, which alone count, as they are when the work runs. Else
 * NULL. Each call of a graph has its own. */
typedef struct tn_random {
  uint64_t seed;
  uint64_t offset;
  const tn_tensor* state;
} tn_random;

/* Sizes, dtype and device of one output (frozen at 1.0). */
typedef struct tn_meta {
  int32_t ndim;
  tn_dtype dtype;
  tn_device device;
  int64_t sizes[TN_MAX_RANK];
} tn_meta;

/* What a kernel gets. Borrowed for the call: a kernel that works on after it returned asks
 * host->keep. */
typedef struct tn_call {
  uint32_t size;
  uint32_t n_args;
  const tn_value* args;
  /* exist already, except a dynamic op's. NULL: not wanted. A pair's private outputs come last */
  tn_tensor* const* outputs;
  uint32_t n_outputs;
  uint32_t reserved;
  tn_stream* stream;       /* NULL on cpu */
  const tn_random* random; /* NULL unless the op is random, and in a pair's backward */
  const tn_host* host;
  const tn_op* op; /* what is called: the op; of a primitive's kernel the primitive or formula */
  tn_device device;
  /* Of each output, private ones left out; a size that depends on values is -1. NULL where the
   * host knows none: in the call of a primitive or of a pair's backward, of an op that writes its
   * arguments alone, in a kept call, and for `supports` of a decomposition that does not run on
   * meta tensors. */
  const tn_meta* metas;
  void* prepared; /* what the kernel's `prepare` made for this call; NULL: nothing */
  /* For a kernel of TN_KERNEL_EPILOGUE, else NULL. A loop over output 0: its one output is that,
   * its first input the value that the kernel has for the element (data NULL), which is rounded to
   * the output's dtype first; the other inputs are read by their strides. The host fuses calls into
   * it while it compiles a graph; none yet. */
  const struct tn_loop* epilogue;
} tn_call;

typedef tn_status* (*tn_kernel_fn)(void* self, const tn_call* call);

/* Can this kernel take this call? Returns 1, or 0 with a reason ("groups > 1") in `reason`, or -1:
 * it cannot say, because host memory is exhausted, and the call fails as TN_OUT_OF_MEMORY. Outputs
 * are not there yet, but their metas are. `reason` has reason_bytes bytes and is empty before; a
 * text that fills all of them is cut by the host, which ends it with NUL. */
typedef int32_t (*tn_predicate_fn)(void* self, const tn_call* call, char* reason,
                                   size_t reason_bytes);

/* Fills outputs[0 .. n_outputs) from the arguments; refuses what does not fit, naming the
 * argument. They come as scalars on the device of the call, without a dtype (TN_DTYPE_NONE): a
 * function that leaves the dtype so is refused. */
typedef tn_status* (*tn_infer_fn)(void* self, const tn_value* args, uint32_t n_args,
                                  tn_meta* outputs, uint32_t n_outputs);

/* A decomposition: calls ops and gives new tensors, or an argument as it is. Halves are computed
 * in float32 and rounded once: a call of float16 or bfloat16 tensors gets them cast to float32
 * (but for what it writes), and its results are cast to the dtypes that it gives when it is run
 * on the halves, which the host finds out on meta tensors; where it refuses these, it runs on
 * the halves. Left as they are: ops of TN_OP_KEEPS_HALVES, ops whose results are views
 * (Tensor(a)), and ops that write lists of tensors. */
typedef tn_status* (*tn_decompose_fn)(void* self, const tn_value* args, uint32_t n_args,
                                      tn_value* results, uint32_t n_results);

/* A view of the first argument, in its storage; `offset` counts elements from element 0 of the
 * argument (frozen at 1.0). No stride is negative: such a view is refused. */
typedef struct tn_view {
  int32_t ndim;
  int32_t reserved;
  int64_t offset;
  int64_t sizes[TN_MAX_RANK];
  int64_t strides[TN_MAX_RANK];
} tn_view;
typedef tn_status* (*tn_view_fn)(void* self, const tn_value* args, uint32_t n_args, tn_view* view);

/* A gradient being asked for. Tensors of the arguments are counted in order, lists laid out
 * flat, a Tensor? that is None counted too: results[i] belongs to the i-th of them. Write an
 * owned tensor, or leave NULL (zero), where needs[i]. */
typedef struct tn_vjp_call {
  uint32_t size;
  uint32_t n_args;
  const tn_value* args;
  tn_tensor* const* outputs; /* of the forward call */
  tn_tensor* const* grads;   /* of the outputs; NULL where zero */
  uint32_t n_outputs;
  uint32_t n_results;
  const uint8_t* needs;
  tn_tensor** results;
  const tn_host* host;
} tn_vjp_call;
typedef tn_status* (*tn_vjp_fn)(void* self, const tn_vjp_call* call);

/* ---- What a plugin brings -------------------------------------------------------------------- */

/* Strings and structs passed to the registrar are copied. `self` is passed to each function of
 * the struct; `destroy` (optional) is called with it once when the registration is dropped: a
 * failed load, or shutdown. A definition that was refused stays its author's: its `destroy` is
 * not called. */

typedef int32_t tn_amp_class;
enum {
  TN_AMP_AUTO = 0,    /* expressions: FLOAT32 with exp, log or pow, else WIDEST; others: NONE */
  TN_AMP_NONE = 1,    /* expands to its decomposition whenever autocast is on */
  TN_AMP_LOWER = 2,   /* matmul, conv, attention: float arguments to the device's lower precision */
  TN_AMP_FLOAT32 = 3, /* norms, losses, sums */
  TN_AMP_WIDEST = 4   /* the widest float dtype among the arguments */
};

enum {
  /* elementwise: also registers `name_`, which writes its first argument */
  TN_OP_INPLACE = 1u << 0,
  /* output sizes depend on values; kernels call set_output; not capture-safe */
  TN_OP_DYNAMIC = 1u << 1,
  TN_OP_RANDOM = 1u << 2,      /* calls carry tn_random */
  TN_OP_LIBRARY = 1u << 3,     /* has no decomposition by nature */
  TN_OP_NO_GRADIENT = 1u << 4, /* outputs never require a gradient (argmax, comparisons) */
  /* its traced decomposition, which it must have, is a pattern for graph compilers */
  TN_OP_FUSED = 1u << 5,
  /* its decomposition (and vjp) gets half tensors as they are: it moves elements, is a single
     formula or primitive, or looks at the dtype. Of other ops both are computed in float32: see
     tn_decompose_fn */
  TN_OP_KEEPS_HALVES = 1u << 6,
  /* of a decomposition: a number may stand in a Tensor's place, as it may in every expression */
  TN_OP_NUMBERS = 1u << 7,
  /* a method of Tensor in languages that have methods: the schema's first argument is a Tensor */
  TN_OP_METHOD = 1u << 8,
  /* its vjp reads of the arguments' tensors, or of the outputs, the sizes, dtypes and devices alone:
     they are not kept, and may be written before the backward. Their values are undefined there */
  TN_OP_VJP_SKIPS_ARGS = 1u << 9,
  TN_OP_VJP_SKIPS_OUTPUTS = 1u << 10
};

/* An op is exactly one of: an expression, a primitive's name, a view, a decomposition, or
 * kernels alone (with infer, where they make an output). */
typedef struct tn_op_def {
  uint32_t size;
  uint32_t flags; /* TN_OP_* */
  /* "name(Tensor x, float eps=1e-5) -> Tensor"; the pack's id is its prefix */
  const char* schema;
  /* formulas of the outputs, and stated derivatives; grammar in docs/expressions.md */
  const char* expression;
  /* the op is this primitive under another name; the schema's arguments are the primitive's */
  tn_primitive primitive;
  tn_amp_class amp;
  tn_view_fn view;
  tn_decompose_fn decompose;
  /* optional with decompose: the host then traces the decomposition on meta tensors */
  tn_infer_fn infer;
  tn_vjp_fn vjp; /* optional with expression, primitive, view, decompose */
  void* self;
  void (*destroy)(void* self);
  /* optional: what the op computes, the shapes of its tensors and the source of its formula, on one
     line of printable UTF-8. Headers that are generated and `tenon ops` show it */
  const char* doc;
  /* optional: lower case letters, digits and '_'. The ops of one group share a generated header */
  const char* group;
} tn_op_def;

/* Promises of a kernel. */
enum {
  /* may be recorded: it only enqueues work, and reads nothing back */
  TN_KERNEL_CAPTURE_SAFE = 1u << 0,
  /* the same arguments give the same bits, on any number of threads */
  TN_KERNEL_DETERMINISTIC = 1u << 1,
  /* an op's kernel, which stands for several calls of its decomposition: it gives their bits */
  TN_KERNEL_SAME_BITS = 1u << 2,
  /* of a product or convolution: takes the epilogue of tn_call */
  TN_KERNEL_EPILOGUE = 1u << 3,
  /* of SCATTER: y may have any strides of which no two elements meet, as a part of a tensor has that
     is written in place; the host copies for others */
  TN_KERNEL_STRIDED_OUTPUT = 1u << 4
};
enum {
  TN_LAYOUT_STRIDED = 0, /* takes any strides */
  /* tensors row-major: the host copies others, counts it and explains it */
  TN_LAYOUT_CONTIGUOUS = 1,
  TN_LAYOUT_ROWS = 2, /* last dimension dense (stride 1), others any */
  /* row-major in some order of the dimensions, as channels-last is; the host copies others to
     row-major */
  TN_LAYOUT_DENSE = 3
};

/* Chooses the order in which the dimensions of output `output` lie in memory, before it is
 * allocated: `order`, its dimensions from the outermost to the innermost, comes as 0, 1, ...
 * (row-major) and goes as a permutation of them. The call has its arguments and no outputs.
 * Private outputs are row-major, and gradients lie as the tensors that they belong to. */
typedef void (*tn_order_fn)(void* self, const tn_call* call, uint32_t output, const tn_meta* meta,
                            int32_t* order);

/* The kernel of an op is launched whatever the sizes are, also where its outputs or arguments
 * are empty (a sum of nothing is a number); those of primitives are not, as is said above. */
typedef struct tn_kernel_def {
  uint32_t size;
  uint32_t traits; /* TN_KERNEL_* */
  /* the schema, or the name, of the op that it computes; NULL for a primitive's kernel. Arguments
     of a schema have the names, types and defaults of the op's; it may leave defaults out, and end
     before younger arguments: a call where one of these is not at its default goes elsewhere */
  const char* op;
  const char* device; /* a device type's name */
  tn_primitive primitive;
  int32_t priority; /* higher is tried first; 0 is usual */
  /* TN_DTYPE_BITs; 0: any, those that come later too. Of the tensors among its arguments, and of
     the operands of loops and reductions (all of them); not of the call's outputs */
  uint32_t dtypes;
  uint32_t layout; /* TN_LAYOUT_* */
  /* of ELEMENTWISE and REDUCE: programs and operands that need more go elsewhere, whatever `dtypes`
     says; 0: version 1 */
  uint32_t instruction_set;
  uint32_t reserved;
  tn_kernel_fn launch;
  tn_predicate_fn supports; /* optional: takes all */
  void* self;
  void (*destroy)(void* self);
  /* optional: outputs are row-major. Not for primitives, expressions and dynamic ops */
  tn_order_fn order;
  /* Optional, both or none: what the kernel computes once for a call that is repeated:
   * descriptors and plans, and nothing that depends on values. The call has arguments and metas,
   * and no outputs; later calls that get it as `prepared` have the same shapes, strides, dtypes,
   * alignment and numbers. `launch` must also work without it. destroy_prepared gets it when no
   * such call will come. Both may be called from any thread; one `prepared` is used by one call at
   * a time. The host prepares the calls of compiled functions (capture/1). */
  tn_status* (*prepare)(void* self, const tn_call* call, void** prepared);
  void (*destroy_prepared)(void* self, void* prepared);
} tn_kernel_def;

/* A forward kernel with private outputs, and its backward. The private outputs are made only
 * when a gradient is needed, else they are NULL; their metas come from infer_private. The
 * backward's call: args are the gradients of the outputs (NONE where zero), the forward's
 * arguments, its outputs, its private outputs; its outputs are the gradients of the forward's
 * tensors, flat as in tn_vjp_call, NULL where not wanted, and not zeroed. It only reads what was
 * saved, the private outputs too: it may be called again (retain_graph), so a library that
 * writes its reserve works on a copy in the workspace. The forward's `layout` holds for the
 * tensors of the backward's call too, its outputs among them. `dtypes` and `supports` are asked
 * for the forward alone: what it takes, the backward takes. */
typedef struct tn_kernel_pair_def {
  uint32_t size;
  uint32_t n_private;
  /* its `self` is the backward's too. Of an op that is no expression */
  const tn_kernel_def* forward;
  /* fills privates[0 .. n_private) for the forward's call, which has arguments and metas */
  tn_status* (*infer_private)(void* self, const tn_call* call, tn_meta* privates,
                              uint32_t n_private);
  tn_kernel_fn backward;
  /* bit i: backward reads flat tensor argument i; others come as NONE. From 64 on all are read */
  uint64_t saves_args;
  uint64_t saves_outputs; /* bit i: backward reads output i */
} tn_kernel_pair_def;

/* A kind of device. All functions may be called from any thread. `index` is below what `count`
 * gave. Errors. TN_OUT_OF_MEMORY, TN_INVALID_ARGUMENT, TN_NOT_FOUND, TN_UNSUPPORTED and
 * TN_FAILED_PRECONDITION refuse what was asked, or tell of a launch that met bad values: the
 * device goes on. With any other code the device of that index is lost: from then on the host
 * calls only what gives back (free, free_host and the destroying slots), refuses all else with
 * TN_DEVICE_LOST and the first error, and holds the device's work for done. A kernel says
 * TN_DEVICE_LOST for the same. An error of work that was launched earlier comes once, best from
 * stream_synchronize, but it may come from any later slot or launch (docs/abi.md). */
typedef struct tn_device_def {
  uint32_t size;
  uint32_t flags;           /* TN_DEVICE_* */
  const char* name;         /* lower case letters, digits, '_' */
  const char* description;  /* "simulated accelerator" */
  tn_dtype lower_precision; /* of autocast; TN_DTYPE_NONE: autocast is refused with a message */
  int32_t alignment; /* of all addresses; a power of two, which allocate is held to; 0: 64, which it
                        is not */
  int32_t (*count)(void* self);
  /* Bytes of memory, never 0. The host caches above this. NULL *memory with success means out of
   * memory. */
  tn_status* (*allocate)(void* self, int32_t index, uint64_t bytes, void** memory);
  /* when all work on it is done */
  void (*free)(void* self, int32_t index, void* memory, uint64_t bytes);
  /* dst and src may lie inside an allocation, unless TN_DEVICE_NO_ADDRESS. Ordered in `stream`,
   * which belongs to this device. dst or src may be host memory (device type cpu): the host
   * waits for the stream before it touches or frees that. It goes on meanwhile only where src is
   * memory of allocate_host. Between two devices of this type both belong to it. Offsets are in
   * bytes. */
  tn_status* (*copy)(void* self, tn_stream* stream, tn_device dst_device, void* dst,
                     uint64_t dst_offset, tn_device src_device, const void* src,
                     uint64_t src_offset, uint64_t bytes);
  /* Streams run in order. Optional as a group: without them the device has finished when a call
   * returns, and streams and events are given as NULL handles. An event may outlive the streams
   * that it was recorded on: behind stream_destroy, which comes when the stream's work is done, it
   * is queried, waited for, recorded on other streams and destroyed. It is done then. */
  tn_status* (*stream_create)(void* self, int32_t index, void** stream);
  void (*stream_destroy)(void* self, int32_t index, void* stream);
  tn_status* (*stream_synchronize)(void* self, int32_t index, void* stream);
  tn_status* (*event_create)(void* self, int32_t index, void** event);
  void (*event_destroy)(void* self, int32_t index, void* event);
  tn_status* (*event_record)(void* self, int32_t index, void* event, void* stream);
  /* Waits for the record that was last before this call; the event may be recorded again at
   * once. Any device of this type. */
  tn_status* (*stream_wait_event)(void* self, int32_t index, void* stream, void* event);
  tn_status* (*event_query)(void* self, int32_t index, void* event, int32_t* done);
  tn_status* (*event_synchronize)(void* self, int32_t index, void* event);
  /* Optional: bytes free and in all on the device. Absent: unknown. */
  tn_status* (*memory_info)(void* self, int32_t index, uint64_t* free_bytes, uint64_t* total_bytes);
  /* Optional: what the debug fill writes; called on blocks that are freed, when poisoning is on. */
  tn_status* (*fill_bytes)(void* self, tn_stream* stream, void* memory, uint64_t offset,
                           uint8_t byte, uint64_t bytes);
  /* Optional as a group: graphs. Between begin and end, launches and copies on `stream` are
   * recorded instead of run; the host allocates nothing then but workspace, which lives as long as
   * the graph, and waits for nothing. Memory of the recording keeps its addresses over all
   * launches; what changes lies in memory too: tn_random, tn_loop's live_params, dynamic arguments.
   * A compiled function (capture/1) is launched as one graph where all its kernels are
   * TN_KERNEL_CAPTURE_SAFE. */
  tn_status* (*capture_begin)(void* self, tn_stream* stream);
  tn_status* (*capture_end)(void* self, tn_stream* stream, void** graph);
  tn_status* (*graph_launch)(void* self, void* graph, tn_stream* stream);
  void (*graph_destroy)(void* self, void* graph);
  void* self;
  void (*destroy)(void* self);
  /* Optional as a pair, with streams: host memory that `copy` reaches by itself (pinned),
   * aligned to 64 bytes. The host keeps a pool of it, puts small uploads there and does not wait
   * for them. NULL *memory with success, and any error of memory: the upload waits instead.
   * Absent: each upload waits for the stream. */
  tn_status* (*allocate_host)(void* self, int32_t index, uint64_t bytes, void** memory);
  /* when all work on it is done */
  void (*free_host)(void* self, int32_t index, void* memory, uint64_t bytes);
  /* Optional: opens what the device needs (a driver). Called once, when somebody first asks for
   * devices of this type, and `count` is called behind it. Its error says why there are none, as
   * `tenon devices` and errors that name the type show it: "no driver (libacme.so was not found)".
   * Absent: there is nothing to open, and `count` is called at the registration. */
  tn_status* (*open)(void* self);
} tn_device_def;
enum {
  TN_DEVICE_NO_ADDRESS = 1u << 0, /* `memory` is a handle: tensors' data stays NULL */
  TN_DEVICE_SIMULATED = 1u << 1   /* for tests: never chosen as the best device */
};

typedef tn_status* (*tn_method_fn)(void* self, tn_object* object, const tn_value* args,
                                   uint32_t n_args, tn_value* results, uint32_t n_results);

typedef int32_t tn_object_kind;
enum { TN_OBJECT_LAYER = 0, TN_OBJECT_OPTIMIZER = 1, TN_OBJECT_OTHER = 2 };

/* A named constructor of objects. `create` fills `object`, which has its options already,
 * through object/1. */
typedef struct tn_factory_def {
  uint32_t size;
  tn_object_kind kind;
  const char* schema; /* "Linear(int in_features, int out_features, bool bias=True)" */
  tn_status* (*create)(void* self, tn_object* object, const tn_value* args, uint32_t n_args);
  void* self;
  void (*destroy)(void* self);
  const char* doc;   /* as tn_op_def has it */
  const char* group; /* likewise */
} tn_factory_def;

/* A named policy of autocast: decides over the op's own class. */
typedef struct tn_amp_policy_def {
  uint32_t size;
  uint32_t reserved;
  const char* name;
  /* Gives the class of `op` (its full name) whose own class is `own`, on `device_type`. Does not
   * fail. */
  tn_amp_class (*classify)(void* self, const char* op, tn_amp_class own, const char* device_type);
  void* self;
  void (*destroy)(void* self);
} tn_amp_policy_def;

/* Runs fn(context, begin, end) over [begin, end) in pieces of at least `grain`, and returns when
 * all are done. No exception leaves fn. */
typedef void (*tn_range_fn)(void* context, int64_t begin, int64_t end);
typedef struct tn_threads_def {
  uint32_t size;
  int32_t (*count)(void* self); /* threads that run at once */
  void (*parallel_for)(void* self, int64_t begin, int64_t end, int64_t grain, tn_range_fn fn,
                       void* context);
  void* self;
  void (*destroy)(void* self);
} tn_threads_def;

/* A call in the list of a compiled function (capture/1), as a kernel gets it. There is no memory
 * yet: `data` is NULL, and a storage is a name: two calls work on the same memory where they show
 * the same storage. */
enum {
  TN_RECORDED_CHANGES = 1u << 0, /* a number of it changes from replay to replay */
  TN_RECORDED_RANDOM = 1u << 1,
  TN_RECORDED_BACKWARD = 1u << 2 /* of a pair: arguments as its backward gets them */
};
typedef struct tn_recorded_call {
  uint32_t size;
  uint32_t flags;      /* TN_RECORDED_* */
  const char* name;    /* of the op, primitive or formula; "copy", "write": of bytes */
  const tn_call* call; /* NULL for those */
} tn_recorded_call;

/* One call in the place of several. */
typedef struct tn_replacement {
  uint32_t size;
  uint32_t traits;  /* TN_KERNEL_*, of `launch` */
  const char* name; /* for readers */
  const uint32_t*
      calls; /* numbers of calls of the list, ascending; it stands where the last stood */
  uint32_t n_calls;
  uint32_t n_args;
  const tn_value* args; /* their tensors, and values */
  tn_tensor* const* outputs;
  uint32_t n_outputs;
  uint32_t reserved;
  tn_kernel_fn launch; /* as a kernel's */
  void* self;
  void (*destroy)(void* self); /* with the function, when it was taken */
} tn_replacement;

typedef struct tn_recorded_list {
  uint32_t size;
  uint32_t n_calls;
  const tn_recorded_call* calls;
  /* 1: the function promises eager's bits, and a replacement must have TN_KERNEL_SAME_BITS */
  int32_t is_exact;
  uint32_t reserved;
  void* host; /* the host's */
  /* Refuses what would change the function: calls that are not there, or went already; that change
   * or are random; a call between them that works on the same memory; memory that is read later, or
   * left behind, and not written by it. Nothing is changed then. */
  tn_status* (*replace)(const struct tn_recorded_list*, const tn_replacement*);
} tn_recorded_list;

/* A compiler of recorded functions: gets each list that has a call on its type of device, on the
 * thread that records, and replaces calls of that type. An error makes the function one that runs
 * eagerly, with that reason. Compilers come one after the other, in the order of loading. */
typedef struct tn_compiler_def {
  uint32_t size;
  uint32_t reserved;
  const char* name;
  const char* device; /* a type's name */
  tn_status* (*compile)(void* self, const tn_recorded_list*);
  void* self;
  void (*destroy)(void* self);
} tn_compiler_def;

/* Valid during tenon_plugin_init only. Everything is checked at once, staged, and committed only
 * if init succeeds. */
struct tn_registrar {
  uint32_t size;
  uint32_t abi_version;
  tn_status* (*device)(tn_registrar*, const tn_device_def*);
  tn_status* (*op)(tn_registrar*, const tn_op_def*);
  tn_status* (*kernel)(tn_registrar*, const tn_kernel_def*);
  tn_status* (*kernel_pair)(tn_registrar*, const tn_kernel_pair_def*);
  /* for an op of another pack that has none; destroy (optional) as in the definitions */
  tn_status* (*vjp)(tn_registrar*, const char* op, tn_vjp_fn, void* self, void (*destroy)(void*));
  tn_status* (*amp)(tn_registrar*, const tn_amp_policy_def*);
  tn_status* (*factory)(tn_registrar*, const tn_factory_def*);
  tn_status* (*threads)(tn_registrar*, const tn_threads_def*);
  tn_status* (*compiler)(tn_registrar*, const tn_compiler_def*);
};

typedef struct tn_manifest {
  uint32_t size;
  uint32_t abi_min, abi_max; /* TN_ABI_VERSIONs that it was built for */
  const char* id;
} tn_manifest;

/* The three symbols of a plugin; the manifest file beside it has the rest (docs/abi.md).
 * Shutdown is optional: it is called once, by plugin/1's shutdown, when nothing of the plugin
 * runs or lives; the library stays mapped. */
#define TN_MANIFEST_SYMBOL "tenon_manifest"
#define TN_INIT_SYMBOL "tenon_plugin_init"
#define TN_SHUTDOWN_SYMBOL "tenon_plugin_shutdown"
/* *self (NULL before) goes to shutdown; it is read only when init succeeds, so a failing init
 * cleans up by itself. Loading another plugin inside init is refused. */
typedef tn_status* (*tn_plugin_init_fn)(const tn_host*, tn_registrar*, void** self);
typedef tn_status* (*tn_plugin_shutdown_fn)(void* self);

/* ---- The host -------------------------------------------------------------------------------- */

struct tn_host {
  uint32_t size;
  uint32_t abi_version;
  const char* version; /* of the product */

  /* An interface by name and version ("tensor/1"): a pointer to one of the structs below; NULL:
   * this host has none. */
  const void* (*get_interface)(const char* name);

  /* Statuses. status takes `cause` (may be NULL). A payload is found again by its tag (an
   * address); destroy is optional. */
  tn_status* (*status)(tn_code, const char* message, tn_status* cause);
  tn_code (*status_code)(const tn_status*);
  /* with its causes, a line each; lives as long as the status */
  const char* (*status_message)(const tn_status*);
  void (*status_set_payload)(tn_status*, const void* tag, void* payload, void (*destroy)(void*));
  void* (*status_payload)(const tn_status*, const void* tag); /* looks through causes; NULL: none */
  void (*status_free)(tn_status*);

  /* For kernels. Workspace lives until the call's work on its stream is done; memory of the
   * call's device (where that has no addresses: the handle of an allocation of its own, from
   * byte 0); as aligned as what `allocate` gives, on cpu to 64 bytes; not zeroed. */
  tn_status* (*workspace)(const tn_call*, uint64_t bytes, void** data);
  tn_status* (*set_output)(const tn_call*, uint32_t output, int32_t ndim, const int64_t* sizes);
  /* Clones the call's arguments, outputs, loop, stream and random state; not the storages, whose
   * memory stays for the stream's work. Free the clone with release_kept, from any thread. */
  tn_status* (*keep)(const tn_call*, const tn_call** kept);
  void (*release_kept)(const tn_call*);
  void (*parallel_for)(int64_t begin, int64_t end, int64_t grain, tn_range_fn fn, void* context);

  /* Ops. Fewer arguments than the schema has take its defaults. results: n_results of them,
   * written whole or not at all. */
  tn_status* (*find_op)(const char* name, const tn_op**);
  tn_status* (*call)(const tn_op*, const tn_value* args, uint32_t n_args, tn_value* results,
                     uint32_t n_results);
  /* The op of a primitive, for `call`; its schema is in docs/abi.md. NULL: there is none, or it is
   * ELEMENTWISE, of which each formula is an op of its own. */
  const tn_op* (*primitive_op)(tn_primitive);
  /* A formula as an op, parsed once and shared: for `call`, and for what REDUCE folds. */
  tn_status* (*expression)(const char* schema, const char* formula, const tn_op**);

  void (*tensor_retain)(tn_tensor*);
  void (*tensor_release)(tn_tensor*); /* NULL is fine */
  /* Results. value_copy makes an owned deep copy (tensors and objects retained, strings and
   * lists copied): how a method or a decomposition returns lists and strings. value_release
   * gives up an owned value and makes it NONE. */
  tn_status* (*value_copy)(const tn_value* borrowed, tn_value* owned);
  void (*value_release)(tn_value*);

  /* Texts that the host gives away (const char** of an interface) are its caller's: free them here.
   * NULL is fine. */
  void (*text_free)(const char*);

  /* 0 debug, 1 info, 2 warning, 3 error; to stderr, from the level that TENON_LOG names on
   * (without it: warning). */
  void (*log)(int32_t level, const char* message);
};

/* ---- Interfaces ------------------------------------------------------------------------------ */

/* The tables of get_interface, each with its name before it. */

/* "tensor/1" */
typedef struct tn_tensor_api {
  uint32_t size;
  /* Uninitialized, row-major, on the current stream. */
  tn_status* (*empty)(int32_t ndim, const int64_t* sizes, tn_dtype, tn_device, tn_tensor**);
  /* Host memory of the caller's as a cpu tensor; release (optional) is called with context when
   * the storage goes. */
  tn_status* (*from_memory)(void* data, int32_t ndim, const int64_t* sizes,
                            const int64_t* strides /* NULL: row-major */, tn_dtype,
                            void (*release)(void* context), void* context, tn_tensor**);
  /* To another device or dtype (TN_DTYPE_NONE keeps); the same tensor, retained, when nothing
   * changes. Differentiable. */
  tn_status* (*to)(tn_tensor*, tn_device, tn_dtype, tn_tensor**);
  /* Copies values into dst: sizes broadcast, devices and dtypes may differ. In-place on dst.
   * Differentiable. */
  tn_status* (*copy_)(tn_tensor* dst, tn_tensor* src);
  /* Values in row-major order to host memory; bytes must be numel * itemsize. Waits for the
   * device. */
  tn_status* (*read)(tn_tensor*, void* memory, uint64_t bytes);
  tn_status* (*write)(tn_tensor*, const void* memory, uint64_t bytes);
  /* data for writing: bumps the version. Reading through `data` of a cpu tensor needs no call. */
  tn_status* (*mutable_data)(tn_tensor*, void** data);
  tn_status* (*detach)(tn_tensor*, tn_tensor**); /* shares memory and version */
  uint64_t (*version)(const tn_tensor*);
  int32_t (*same_storage)(const tn_tensor*, const tn_tensor*);
  /* what `allocate` gave: the handle where memory has no address */
  void* (*storage_memory)(const tn_storage*);
  int32_t (*is_retained_once)(const tn_tensor*);
  /* dtypes: bytes of an element; name; by name (TN_DTYPE_NONE: unknown); promotion as PyTorch's
   * for tensors with dimensions */
  uint32_t (*itemsize)(tn_dtype);
  const char* (*dtype_name)(tn_dtype);
  tn_dtype (*dtype_from_name)(const char*);
  tn_dtype (*promote)(tn_dtype, tn_dtype);
  /* DLPack 1.x: a DLManagedTensorVersioned*, owned by the caller. A writable export disables
   * caches of the storage. */
  tn_status* (*to_dlpack)(tn_tensor*, int32_t writable, void** managed);
  tn_status* (*from_dlpack)(void* managed /* taken on success */, tn_tensor**);
  /* The address of element 0, for reading: of tensors on cpu. A function that is being recorded
   * (capture/1) hears of it, as it does not where the member `data` is read. */
  tn_status* (*data)(const tn_tensor*, const void** data);
  /* Values of a cpu tensor in pinned memory of the device: host memory that its copies reach by
   * themselves (allocate_host). The same tensor, retained, where it lies there already or the
   * device has no such memory. A new one is row-major, and no gradient goes through it. */
  tn_status* (*pin)(tn_tensor*, tn_device, tn_tensor**);
  int32_t (*is_pinned)(const tn_tensor*);
  /* For this thread; returns what held before. While it is on, copies between pinned memory and
   * devices of its type are not waited for, and what `to` brings to the cpu lies in such memory.
   * The host touches neither side's values there until the device's current stream was
   * synchronized; the memory itself may be released. A function that is being recorded waits. */
  int32_t (*set_non_blocking)(int32_t on);
  /* The same bytes as another dtype, without history; shares memory and version. Where its elements are of
   * another size the last dimension has as many more or fewer. Refused where the bytes do not lie
   * so that they can be read like that. */
  tn_status* (*view_dtype)(tn_tensor*, tn_dtype, tn_tensor**);
} tn_tensor_api;

typedef struct tn_memory_stats {
  uint32_t size;
  uint32_t reserved;
  uint64_t allocated, reserved_bytes; /* bytes in live storages; bytes taken from the device */
  uint64_t peak_allocated;
  uint64_t n_allocations, n_device_allocations; /* since the start */
  uint64_t cached;                              /* bytes of blobs in cache/1 */
  uint64_t limit;                               /* 0: none */
} tn_memory_stats;

/* What becomes of a call for whose op there are kernels, but none that takes it on its device.
 * (Ops without any kernel anywhere are decompositions by nature.) */
enum {
  TN_FALLBACK_DECOMPOSE = 0, /* the decomposition runs on the device; an error when there is none */
  TN_FALLBACK_ERROR = 1,     /* an error, with the reasons of the kernels */
  TN_FALLBACK_CPU = 2        /* reserved: copies to cpu and back */
};

/* "device/1" */
typedef struct tn_device_api {
  uint32_t size;
  int32_t (*n_types)(void);
  const char* (*type_name)(int32_t type); /* NULL: no such type */
  const char* (*type_description)(int32_t type);
  int32_t (*count)(int32_t type);
  tn_status* (*parse)(const char* text, tn_device*); /* "cpu", "ref", "ref:1" */
  tn_status* (*synchronize)(tn_device);
  /* Streams: counted by nobody, destroyed by stream_destroy after their work is done. NULL is
   * the default stream. */
  tn_status* (*stream_create)(tn_device, tn_stream**);
  tn_status* (*stream_destroy)(tn_stream*);
  tn_status* (*stream_synchronize)(tn_stream*);
  tn_status* (*current_stream)(tn_device, tn_stream**);
  tn_status* (*set_current_stream)(tn_device, tn_stream*); /* of this thread */
  /* Memory. A limit is in bytes, 0 for none; an allocation beyond it empties the cache, then
   * fails as out of memory. */
  tn_status* (*memory_stats)(tn_device, tn_memory_stats*);
  tn_status* (*set_memory_limit)(tn_device, uint64_t bytes);
  tn_status* (*empty_cache)(tn_device);
  uint32_t (*flags)(int32_t type); /* TN_DEVICE_* of its table; 0: none, or no such type */
  /* TN_FALLBACK_*, of the process. Each fallback counts: counter "fallbacks" */
  tn_status* (*set_fallback)(int32_t policy);
  int32_t (*fallback)(void);
  /* Why there is no device of the type, as its `open` said; NULL: there is one, or nobody said. */
  const char* (*type_absence)(int32_t type);
  /* peak_allocated counts from here: it is what is allocated now. */
  tn_status* (*reset_peak_memory)(tn_device);
} tn_device_api;

/* "cache/1": blobs that a backend attaches to a storage (packed weights). One lives until its
 * storage is freed or changed, or the memory is wanted; destroy gets it then, behind the
 * stream's work. `key` is an address or number of the backend's; it counts together with the
 * tensor's view of the storage (offset, sizes, strides, dtype). A blob follows one storage: what
 * is made of several (the weights of an RNN) is sound where they are views of one, else only one
 * by one. `bytes`: what the host does not count already, so 0 for a blob that is a tensor. A
 * blob is ready when the call that attached it has returned and what it put on its stream is
 * done: until the return no other stream finds it, and then the host puts the finder's stream
 * behind that work. */
typedef struct tn_cache_api {
  uint32_t size;
  /* NULL blob: none, or stale. What is found may be used until the kernel's work in this call is
   * done. */
  void* (*find)(const tn_call*, const tn_tensor*, uint64_t key);
  tn_status* (*attach)(const tn_call*, const tn_tensor*, uint64_t key, void* blob, uint64_t bytes,
                       void (*destroy)(void* blob));
} tn_cache_api;

enum { TN_MODE_GRAD = 0, TN_MODE_NO_GRAD = 1, TN_MODE_INFERENCE = 2 };
enum {
  TN_BACKWARD_RETAIN_GRAPH = 1u << 0,
  TN_BACKWARD_CREATE_GRAPH = 1u << 1,
  TN_BACKWARD_ALLOW_UNUSED = 1u << 2,
  TN_BACKWARD_ACCUMULATE = 1u << 3 /* of gradients: see there */
};

/* A hook sees a gradient and may replace it: write an owned tensor to *replacement, or leave it
 * NULL. */
typedef tn_status* (*tn_hook_fn)(void* self, tn_tensor* grad, tn_tensor** replacement);
/* A custom function's backward: one gradient (NULL: zero) per output in, one owned (NULL: zero)
 * per input out. */
typedef tn_status* (*tn_backward_fn)(void* self, tn_tensor* const* grads, uint32_t n_grads,
                                     tn_tensor** results, uint32_t n_results);

typedef tn_status* (*tn_pack_fn)(void* self, tn_tensor*, void** packed);
typedef tn_status* (*tn_unpack_fn)(void* self, void* packed, tn_tensor** tensor);
/* "autograd/1" */
typedef struct tn_autograd_api {
  uint32_t size;
  int32_t (*mode)(void);
  void (*set_mode)(int32_t mode); /* of this thread */
  tn_status* (*set_requires_grad)(tn_tensor*, int32_t on);
  tn_tensor* (*grad)(const tn_tensor*); /* retained; NULL: none yet */
  tn_status* (*set_grad)(tn_tensor*, tn_tensor* grad /* NULL clears */);
  tn_status* (*retain_grad)(tn_tensor*); /* keep .grad of a non-leaf */
  /* grads[i] NULL: ones, for one-element tensors. Accumulates into leaves. */
  tn_status* (*backward)(tn_tensor* const* tensors, tn_tensor* const* grads, uint32_t n,
                         uint32_t flags);
  /* Gradients of chosen inputs, leaves or not, returned and not accumulated. NULL results under
   * TN_BACKWARD_ALLOW_UNUSED. With TN_BACKWARD_ACCUMULATE they are added to the inputs' .grad
   * instead, which those that are no leaves keep from then on, and all results are NULL. */
  tn_status* (*gradients)(tn_tensor* const* outputs, tn_tensor* const* grads, uint32_t n_outputs,
                          tn_tensor* const* inputs, uint32_t n_inputs, uint32_t flags,
                          tn_tensor** results);
  /* Records one node from inputs to outputs. An output that is an input was written in place. self
   * is taken on success only, and destroyed with the node. Tensors that backward needs are saved
   * with it: saved tensors are checked for in-place changes; custom_saved gives them back inside
   * backward. */
  tn_status* (*custom)(const char* name, tn_backward_fn, void* self, void (*destroy)(void*),
                       tn_tensor* const* inputs, uint32_t n_inputs, tn_tensor* const* outputs,
                       uint32_t n_outputs, tn_tensor* const* saved, uint32_t n_saved);
  /* within a custom backward, of this thread */
  tn_status* (*custom_saved)(uint32_t index, tn_tensor**);
  tn_status* (*add_hook)(tn_tensor*, tn_hook_fn, void* self, void (*destroy)(void*), uint64_t* id);
  tn_status* (*remove_hook)(tn_tensor*, uint64_t id);
  /* of this thread: nodes remember their forward call, backward checks for NaN */
  void (*set_anomaly)(int32_t on);
  int32_t (*anomaly)(void);
  /* The graph. Nodes are retained by who gets them. */
  tn_node* (*grad_fn)(const tn_tensor*); /* NULL for leaves */
  const char* (*node_name)(const tn_node*);
  uint32_t (*node_n_next)(const tn_node*);
  tn_node* (*node_next)(const tn_node*, uint32_t i); /* NULL: that input needs no gradient */
  /* sees the gradient of output 0 */
  tn_status* (*node_add_hook)(tn_node*, tn_hook_fn, void* self, void (*destroy)(void*));
  void (*node_release)(tn_node*);
  /* Of a leaf that asks for a gradient: fn is called each time backward has added to .grad, as
   * `grad` with the leaf (or a tensor that is the same in values, version and .grad), and what it
   * writes to *replacement is dropped. remove_hook takes it away. */
  tn_status* (*add_accumulated_hook)(tn_tensor*, tn_hook_fn, void* self, void (*destroy)(void*),
                                     uint64_t* id);
  /* From now on, on this thread, what graphs save is packed: `pack` gets each tensor, without history, as
   * the call is recorded, and gives a pointer of its own; in backward `unpack` makes a tensor of it,
   * with the same sizes, dtype and device, which it owns no more; `drop` frees what was packed when
   * the graph is done with it. All are called without recording, `unpack` and `drop` on any thread.
   * The innermost functions count. `destroy` is called when they were popped and no graph needs them. */
  tn_status* (*push_saved_hooks)(tn_pack_fn, tn_unpack_fn, void (*drop)(void* self, void* packed),
                                 void* self, void (*destroy)(void*));
  tn_status* (*pop_saved_hooks)(void);
} tn_autograd_api;

/* "rows/1": row-sparse tensors, the gradients of tables of which few rows were read. One has the
 * sizes of the whole table, and holds the rows `values` [n, ...] that lie at `indices` [n]; all
 * other rows are zero, and rows of one index add up. The flag TN_TENSOR_ROWS tells it; its `data`
 * is NULL. A vjp or a custom backward may give one for a leaf, whose gradient it becomes (sums of
 * such stay row-sparse, a sum with another is not), and set_grad and `to` take one. Whatever else
 * gets one refuses. It never changes. */
typedef struct tn_rows_api {
  uint32_t size;
  /* indices int64, on the device of values; neither needs a gradient, and both are kept, not
   * copied: who changes them, changes the tensor. Indices outside of [0, n_rows) are refused
   * where they are used. */
  tn_status* (*make)(tn_tensor* indices, tn_tensor* values, int64_t n_rows, tn_tensor** result);
  tn_status* (*parts)(const tn_tensor*, tn_tensor** indices, tn_tensor** values); /* owned */
} tn_rows_api;

/* A Philox key and the number of calls that have drawn by it. */
typedef struct tn_random_state {
  uint64_t seed;
  uint64_t offset;
} tn_random_state;

/* "random/1": what this thread draws from: the state of the process, or one that it uses instead.
 * `seed` also resets the offset. */
typedef struct tn_random_api {
  uint32_t size;
  void (*seed)(uint64_t);
  void (*get_state)(uint64_t* seed, uint64_t* offset);
  void (*set_state)(uint64_t seed, uint64_t offset);
  /* From now on this thread draws from *state, which is the caller's, and which one thread at a
   * time uses; NULL: from the state of the process. Gives what it drew from before. */
  tn_random_state* (*use)(tn_random_state* state);
} tn_random_api;

/* "amp/1": autocast of this thread. policy NULL: the ops' own classes. */
typedef struct tn_amp_api {
  uint32_t size;
  tn_status* (*enter)(tn_device, tn_dtype lower /* TN_DTYPE_NONE: the device's */,
                      const char* policy);
  /* the innermost scope; drops its cached casts when the last one ends */
  tn_status* (*leave)(void);
  int32_t (*enabled)(void);
  /* A scope in which nothing is cast, until its leave. */
  tn_status* (*suspend)(void);
} tn_amp_api;

typedef int32_t tn_entry_kind;
enum {
  TN_ENTRY_PARAMETER = 0,
  TN_ENTRY_BUFFER = 1,
  TN_ENTRY_STATE = 2,    /* an optimizer's */
  TN_ENTRY_COMPUTED = 3, /* empty: reading it calls the object's method NAME() -> Tensor */
  TN_ENTRY_UNSAVED = 4,  /* a buffer that is no part of a state: load_state passes it over */
  TN_ENTRY_LATER = 5     /* empty: a parameter that the first forward makes */
};
typedef void (*tn_entry_fn)(void* context, const char* name, tn_tensor* tensor /* may be NULL */,
                            tn_entry_kind kind);
typedef tn_status* (*tn_forward_hook_fn)(void* self, tn_object*, const tn_value* args,
                                         uint32_t n_args, tn_value* results, uint32_t n_results);
/* Hooks of an object (object/1 add_hook). Those of states are called by who reads or loads a state, by
 * call_hooks; `args` and `results` are then:
 *   STATE_PRE, before the state is read: (str prefix), none
 *   STATE, behind it: (str prefix), results hold (str[] names, Tensor[] tensors)
 *   LOAD_PRE, before a state is loaded: (str prefix, bool strict), results hold (str[] names, Tensor[]
 *     tensors, str[] missing, str[] unexpected, str[] errors), the tensors of this prefix
 *   LOAD, behind that: (str prefix), results hold (str[] missing, str[] unexpected)
 * A prefix is empty or ends with a dot ("0."). As with forward hooks a hook may replace results, and
 * releases those that it replaces. */
typedef int32_t tn_hook_kind;
enum {
  TN_HOOK_FORWARD = 0,
  TN_HOOK_FORWARD_PRE = 1,
  TN_HOOK_STATE_PRE = 2,
  TN_HOOK_STATE = 3,
  TN_HOOK_LOAD_PRE = 4,
  TN_HOOK_LOAD = 5
};
enum {
  TN_HOOK_PREPEND = 1u << 0, /* runs before the hooks that are there, else behind them */
  /* Of FORWARD: runs where forward or another hook failed, too. Results that are not there are None;
   * what it gives is released, and its own failure is logged. */
  TN_HOOK_ALWAYS = 1u << 1
};
/* Of a class that holds in its members what entries of its object hold. name NULL: the entries are about
 * to be read; brings those up to date whose members hold another tensor or child by now. Else the
 * entry of this name was set: has the member hold the same. May call the other functions of
 * object/1; does not fail. */
typedef void (*tn_members_fn)(void* self, tn_object*, const char* name);
/* A factory's kind, its name and its schema. Both texts live as long as the process. */
typedef void (*tn_factory_fn)(void* context, tn_object_kind, const char* name, const char* schema);

/* "object/1". Objects are not locked: one thread at a time changes an object; concurrent
 * forwards are fine. */
typedef struct tn_object_api {
  uint32_t size;
  /* By a factory's name; options by schema, trailing ones default. */
  tn_status* (*create)(const char* factory, const tn_value* args, uint32_t n_args, tn_object**);
  /* By option names, any order (names[i] belongs to args[i]). Unknown names are refused with the
   * nearest known one. */
  tn_status* (*create_named)(const char* factory, const char* const* names, const tn_value* args,
                             uint32_t n, tn_object**);
  /* An object of the application's own, without factory. */
  tn_status* (*create_empty)(const char* type_name, tn_object_kind, tn_object**);
  void (*retain)(tn_object*);
  void (*release)(tn_object*);
  const char* (*type_name)(const tn_object*);
  tn_object_kind (*kind)(const tn_object*);
  /* Building. Names have no '.'; a second tensor or child of one name replaces the first;
   * methods too. */
  tn_status* (*set_tensor)(tn_object*, const char* name, tn_tensor*, tn_entry_kind);
  tn_status* (*set_child)(tn_object*, const char* name, tn_object* child);
  tn_status* (*add_method)(tn_object*, const char* schema, tn_method_fn, void* self,
                           void (*destroy)(void*));
  /* Reading. tensor and child are retained; NULL with success where the entry is empty, an error
   * where there is no such name. */
  tn_status* (*tensor)(const tn_object*, const char* name, tn_tensor**);
  tn_status* (*child)(const tn_object*, const char* name, tn_object**);
  uint32_t (*n_children)(const tn_object*);
  tn_status* (*child_at)(const tn_object*, uint32_t i, const char** name,
                         tn_object** child /* retained */);
  tn_status* (*option)(const tn_object*, const char* name, tn_value* borrowed);
  /* Calls a method, with forward hooks when it is `forward`. Arguments by schema; trailing ones
   * default. */
  tn_status* (*invoke)(tn_object*, const char* method, const tn_value* args, uint32_t n_args,
                       tn_value* results, uint32_t n_results);
  tn_status* (*method_schema)(const tn_object*, const char* method, const char** schema);
  tn_status* (*add_forward_hook)(tn_object*, tn_forward_hook_fn, void* self, void (*destroy)(void*),
                                 uint64_t* id);
  tn_status* (*remove_forward_hook)(tn_object*, uint64_t id);
  /* The tree. Names are paths ("0.weight"), in order of definition; a tensor reached twice is
   * named once. */
  tn_status* (*visit)(const tn_object*, tn_entry_fn, void* context);
  tn_status* (*load_state)(tn_object*, const char* const* names, tn_tensor* const* tensors,
                           uint32_t n, int32_t strict);
  tn_status* (*to)(tn_object*, tn_device, tn_dtype floats /* TN_DTYPE_NONE keeps */);
  int32_t (*training)(const tn_object*);
  void (*set_training)(tn_object*, int32_t on);
  /* the tree as text, each layer with its options by name; free it with host->text_free */
  tn_status* (*describe)(const tn_object*, const char** text);
  /* Parameter groups of optimizers. Options not given are the object's. set_group_option is how
   * schedules set lr. */
  tn_status* (*add_group)(tn_object*, tn_tensor* const* parameters, uint32_t n,
                          const char* const* names, const tn_value* values, uint32_t n_options);
  uint32_t (*n_groups)(const tn_object*);
  tn_status* (*group)(const tn_object*, uint32_t i, tn_tensor* const** borrowed, uint32_t* n);
  tn_status* (*group_option)(const tn_object*, uint32_t i, const char* name, tn_value* borrowed);
  tn_status* (*set_group_option)(tn_object*, uint32_t i, const char* name, const tn_value*);
  tn_status* (*zero_grad)(tn_object*); /* of all groups, or of all parameters of a layer */
  /* Calls `see` for each factory that plugins brought, in the order of registration, on this
   * thread. */
  tn_status* (*factories)(tn_factory_fn see, void* context);
  /* Of an option that the factory's schema calls dynamic: the tensor on cpu that holds it, for
   * dynamic arguments of ops; set_group_option writes it in place. float64, int64 for ints, of one
   * element, of a list as many as it has. Lives as long as the group, unless a list of another
   * length is set. */
  tn_status* (*group_number)(const tn_object*, uint32_t i, const char* name, tn_tensor** borrowed);
  /* As add_forward_hook, before `forward` runs: `results` are None, one for each argument, and an
   * owned value that the hook writes there replaces the argument. remove_forward_hook removes it. */
  tn_status* (*add_forward_pre_hook)(tn_object*, tn_forward_hook_fn, void* self,
                                     void (*destroy)(void*), uint64_t* id);
  /* The entries of the object itself, in order of definition: each name, also where a tensor has
   * several. */
  tn_status* (*visit_own)(const tn_object*, tn_entry_fn, void* context);
  /* How often set_child put another object, or none, in the place of child i. A copy that a factory
   * or a constructor makes anew has as many changes, unless the program made some later. */
  uint64_t (*child_changes)(const tn_object*, uint32_t i);
  /* One function of an object, in the place of the one before; NULL: none. `self` is lent, until
   * another is set. */
  void (*set_members)(tn_object*, tn_members_fn, void* self);
  /* Does anyone but the object hold the tensor or child of this name? What nobody else holds has no
   * member. */
  int32_t (*is_shared)(const tn_object*, const char* name);
  /* `object` is from now on what `made` is, of the same kind: its type, options, entries, children and
   * methods; `made` is left without them. Refused where either has set_members. What is the object's own stays: its hooks, whether it trains,
   * who holds it. Where a pre-hook does this, the forward behind it is the new one's. */
  tn_status* (*become)(tn_object* object, tn_object* made);
  /* Takes out the tensor or child of this name, an error where there is none; one that is computed is
   * refused. What holds it elsewhere keeps it. */
  tn_status* (*remove)(tn_object*, const char* name);
  /* A hook of any kind. As the other two it takes self only on success, and remove_forward_hook
   * removes it. `flags`: TN_HOOK_PREPEND, TN_HOOK_ALWAYS. */
  tn_status* (*add_hook)(tn_object*, tn_hook_kind, uint32_t flags, tn_forward_hook_fn, void* self,
                         void (*destroy)(void*), uint64_t* id);
  /* 1 where the object itself has hooks of this kind. */
  int32_t (*has_hooks)(const tn_object*, tn_hook_kind);
  /* Calls the hooks of this kind, which is one of states, in their order. The first failure ends it;
   * results are the caller's all the same. */
  tn_status* (*call_hooks)(tn_object*, tn_hook_kind, const tn_value* args, uint32_t n_args,
                           tn_value* results, uint32_t n_results);
} tn_object_api;

/* "plugin/1" */
typedef struct tn_plugin_api {
  uint32_t size;
  tn_status* (*load)(const char* path); /* one library; its manifest file lies beside it */
  /* TENON_PLUGIN_PATH, then the install's folder; broken ones are listed, not fatal */
  tn_status* (*load_all)(void);
  /* in reverse order of loading; afterwards calls into plugins fail */
  tn_status* (*shutdown)(void);
  /* A JSON document (free it with host->text_free): each plugin with id, version, abi, brings,
   * from, state and reason; the folders that were searched; what waits for an op that is not there.
   * All fields are in docs/abi.md. */
  tn_status* (*list)(const char** json);
  /* A JSON document: each op with schema, kind, class, kernels and where they came from,
   * gradient. */
  tn_status* (*ops)(const char** json);
  /* A plugin that is part of the program, or of a library that it opened: what its init registers
   * is in force when this returns. There is no manifest file: it has no version and no needs.
   * shutdown may be NULL. The code stays until the process ends. */
  tn_status* (*add)(const tn_manifest*, tn_plugin_init_fn init, tn_plugin_shutdown_fn shutdown);
} tn_plugin_api;

/* "explain/1": what the calls of this thread did. */
typedef struct tn_explain_api {
  uint32_t size;
  void (*begin)(void);
  /* A JSON document (free it with host->text_free): an entry per call in order, with shapes,
   * dtypes, device, the kernel that ran and why each other did not, casts, copies,
   * decompositions (nested). */
  tn_status* (*end)(const char** json);
  /* Counters of the process: "fallbacks", "layout_copies", "decompositions". */
  uint64_t (*counter)(const char* name);
} tn_explain_api;

/* "profile/1": a function that sees each op's begin and end on this thread; NULL removes it.
 * `ns` is a steady clock. */
typedef void (*tn_profile_fn)(void* context, const char* op, int32_t begin, uint64_t ns);
/* What an event is about. Calls, nodes and launches nest: a call has the calls of its decomposition in
 * it, and launches; a node of a graph has what its backward does, a method of an object its calls. */
enum { TN_PROFILE_CALL = 0, TN_PROFILE_NODE = 1, TN_PROFILE_LAUNCH = 2, TN_PROFILE_METHOD = 3 };
typedef struct tn_profile_event {
  uint32_t size;
  int32_t kind;              /* TN_PROFILE_* */
  int32_t begin;             /* 1: it begins, 0: it has ended */
  int32_t backward;          /* of a launch: of a pair's backward */
  const char* name;          /* the op; of a launch also a primitive or formula; of a node its op;
                       * of a method "Linear.forward" */
  const char* plugin;        /* of a launch: whose kernel; else NULL */
  const tn_value* args;      /* of calls and launches; of a node the gradients that came */
  tn_tensor* const* outputs; /* of a launch, as tn_call has them */
  uint32_t n_args, n_outputs;
  tn_device device; /* of a launch */
  uint64_t ns;      /* a steady clock */
} tn_profile_event;
/* All that it gets is borrowed for the call. It may ask for statistics and wait for devices; it calls
 * no op. */
typedef void (*tn_profile_event_fn)(void* context, const tn_profile_event*);
typedef struct tn_profile_api {
  uint32_t size;
  void (*set)(tn_profile_fn, void* context);
  /* A function that sees what this thread does in more detail, beside the other; NULL removes it. A
   * launch on a device with streams has ended when it was put on its stream. Compiled functions run
   * eagerly while either function is there. */
  void (*set_events)(tn_profile_event_fn, void* context);
} tn_profile_api;

/* What a schema says of an argument. */
typedef struct tn_schema_argument {
  const char* name;
  const char* type; /* as the schema writes it: "Tensor?[]" */
  uint32_t kinds;   /* bit k: a value of kind TN_KIND_... = k fits (an int fits a float) */
  uint32_t reserved;
} tn_schema_argument;
typedef struct tn_schema {
  uint32_t size;
  uint32_t n_arguments;
  const char* name;
  const tn_schema_argument* arguments;
  uint32_t n_results;
  uint32_t reserved;
} tn_schema;
typedef void (*tn_schema_fn)(void* context, const tn_schema*); /* borrowed for the call */

/* "schema/1": schemas are read by the host alone. Who makes definitions of functions compares the
 * two by it. */
typedef struct tn_schema_api {
  uint32_t size;
  /* calls `see` once, on this thread; refuses what is no schema, with the column */
  tn_status* (*read)(const char* schema, tn_schema_fn see, void* context);
} tn_schema_api;

typedef struct tn_graph tn_graph;
typedef struct tn_compiled tn_compiled;

/* A function of tensors. `args` are borrowed and may be NULL (None); results, NULL before, are owned
 * by the caller, also where it fails. */
typedef tn_status* (*tn_function_fn)(void* self, tn_tensor* const* args, uint32_t n_args,
                                     tn_tensor** results, uint32_t n_results);

/* "capture/1": the launches on a device's current stream as a graph, where the device has the
 * graph slots. Between begin and end (of one thread) reading values back is an error, as are
 * values from the cpu, random ops, and kernels not capture-safe. */
typedef struct tn_capture_api {
  uint32_t size;
  tn_status* (*begin)(tn_device);
  tn_status* (*end)(tn_graph**);
  tn_status* (*launch)(tn_graph*, tn_device);
  void (*destroy)(tn_graph*);
  /* A function that is recorded at one call and replayed at later ones: everything that it launches,
   * forward, backward and optimizer included. Numbers that it computes with are constants of the
   * recording; so are tensors that it holds, whose values may change. `fn` is called for what is not
   * replayed, on the caller's thread; `self` is taken on success, and destroyed with the last
   * reference. Counted: `compile` gives one reference. */
  tn_status* (*compile)(tn_function_fn fn, void* self, void (*destroy)(void*), tn_compiled**);
  /* Results are the caller's. From any thread: one at a time records or replays. */
  tn_status* (*call)(tn_compiled*, tn_tensor* const* args, uint32_t n_args, tn_tensor** results,
                     uint32_t n_results);
  /* What was recorded, and why calls run eagerly; freed with host->text_free. */
  tn_status* (*describe)(tn_compiled*, const char** text);
  void (*release)(tn_compiled*);
  /* compile with TN_COMPILE_*. */
  tn_status* (*compile_with)(tn_function_fn fn, void* self, void (*destroy)(void*), uint32_t flags,
                             tn_compiled**);
  /* 1 while this thread records a compiled function: who would read values back only to check them
   * leaves that out, for a replay would not. */
  int32_t (*is_recording)(void);
} tn_capture_api;
enum {
  /* compilers may replace calls by what has other bits, within the tolerances of kernels */
  TN_COMPILE_INEXACT = 1u << 0
};

#if defined(__GNUC__)
#define TN_EXPORT __attribute__((visibility("default")))
#else
#define TN_EXPORT
#endif

/* The library's only way in. NULL when abi_version does not fit this host (before 1.0 it must match
 * exactly); then `why` (may be NULL) gets a sentence that lives as long as the process. */
TN_EXPORT const tn_host* tenon_host(uint32_t abi_version, const char** why);

/* Defined by a plugin. */
extern TN_EXPORT const tn_manifest tenon_manifest;
TN_EXPORT tn_status* tenon_plugin_init(const tn_host*, tn_registrar*, void** self);
TN_EXPORT tn_status* tenon_plugin_shutdown(void* self);

#ifdef __cplusplus
}
#endif

#endif /* TENON_ABI_H_ */
