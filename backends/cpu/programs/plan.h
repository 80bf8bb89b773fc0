// A program made ready for operands of certain dtypes and strides: a list of steps over tiles
// (vector/table.h), which read and write the operands' memory itself wherever that has the
// register's type and is dense. Plans are made once, live as long as the process and are found
// without a lock. The loops around a plan are in programs/frame.h and in elementwise.cpp and
// reduce.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "cpu.h"
#include "vector/table.h"

namespace tenon::cpu_backend {

// How an operand moves along the inner dimension.
enum Access : uint8_t { kDense = 0, kBroadcast = 1, kStrided = 2 };

inline uint8_t operand_key(tn_dtype dtype, Access access) {
  return static_cast<uint8_t>(dtype | access << 4);
}
inline uint8_t operand_key(const tn_operand& o, int64_t inner_size, int32_t inner) {
  const int64_t stride = o.strides[inner];
  return operand_key(o.dtype, stride == 1 || inner_size == 1 ? kDense
                              : stride == 0                  ? kBroadcast
                                                             : kStrided);
}
inline Access access_of(uint8_t key) { return static_cast<Access>(key >> 4); }
inline tn_dtype dtype_of(uint8_t key) { return key & 15; }

enum PlanMode : uint8_t {
  kStore = 0,    // operands: outputs, then inputs
  kInPlace = 1,  // the same; several outputs, and some are the memory of inputs: those are read
                 // before anything is written
  kResult = 2    // operands: inputs; the one output is not stored, but found in result_cell
};

// Cells behind those of the operands, in order.
struct CellInit {
  enum Kind : uint8_t { kConstant, kParam, kMemory, kStride } kind;
  RegisterType type;  // of a kParam
  uint32_t index;     // of the constant, the parameter, the operand
  uint32_t offset;    // of kMemory and kParam in the frame's memory
};

// A parameter or constant as its register has it, in the first bytes of `to`.
inline void write_scalar(char* to, RegisterType type, tn_scalar value) {
  switch (type) {
    case kF32: {
      const float f = static_cast<float>(value.f);
      std::memcpy(to, &f, sizeof f);
      break;
    }
    case kBool:
      *to = value.i != 0;
      break;
    default:
      std::memcpy(to, &value, sizeof value);
  }
}

constexpr int32_t kTile = 512;  // elements of a tile, at most
// What a frame has on the stack.
constexpr uint32_t kInlineCells = 64;
constexpr uint32_t kInlineMemory = 48 * 1024;

// A frame's memory for when there is no other.
struct SpareFrame {
  std::mutex mutex;
  std::unique_ptr<char[]> memory;
};

struct Plan {
  uint64_t program;
  uint64_t word;  // mode and keys, exact for up to kExactOperands operands, else a hash
  PlanMode mode;
  std::vector<uint8_t> keys;
  const Plan* next = nullptr;

  std::vector<Step>
      once;  // on one element, where a row begins: operands that are broadcast, parameters
  std::vector<Step> fills;  // then, on a tile: scalars spread for steps that take none
  std::vector<Step> steps;  // on each tile
  std::vector<CellInit> inits;
  std::vector<tn_scalar> constants;
  // Dense operands of a plan that computes long enough to wait for the next tile of them: bytes of a
  // tile, and those to ask for before each step.
  struct Ahead {
    uint32_t operand;
    int64_t tile, share;
  };
  std::vector<Ahead> ahead;
  uint32_t n_operands = 0;
  uint32_t n_cells = 0;
  uint32_t memory = 0;  // bytes of the frame
  int32_t tile = 0;     // elements
  uint16_t result_cell = 0;
  double cost = 0;                    // rough nanoseconds an element, to choose threads
  int64_t serial = 0;                 // up to so many elements are not worth a second thread
  std::unique_ptr<SpareFrame> spare;  // NULL: the frame fits the stack

  size_t frame_bytes() const { return n_cells * sizeof(Cell) + memory + 64; }
};

constexpr uint32_t kExactOperands = 7;
constexpr double kSerialNs = 16000;  // less work is not worth a second thread

// LOAD 0, STORE 0 through a register of the type: copies that cast, and reductions with nothing
// before or after.
const tn_program& identity_program(RegisterType type);
// The register type that holds a dtype.
RegisterType type_of(tn_dtype dtype);

// Finds or makes a plan. keys: one per operand. On failure *plan is untouched.
void make_plan(const tn_host* host, const tn_program& program, const uint8_t* keys, uint32_t n,
               PlanMode mode, uint64_t word, const Plan** plan);

constexpr uint32_t kPlanBuckets = 4096;
extern std::atomic<const Plan*> plan_buckets[kPlanBuckets];

inline uint32_t plan_bucket(uint64_t program, uint64_t word) {
  return static_cast<uint32_t>((program * 0x9E3779B97F4A7C15u ^ word * 0xD6E8FEB86659FD93u) >> 52) %
         kPlanBuckets;
}

// NULL: not made yet. For up to kExactOperands operands, whose keys are all of `word`.
inline const Plan* find_exact(const tn_program& program, uint64_t word, uint32_t n) {
  const Plan* p = plan_buckets[plan_bucket(program.id, word)].load(std::memory_order_acquire);
  while (p && !(p->program == program.id && p->word == word && p->n_operands == n)) {
    p = p->next;
  }
  return p;
}

inline void find_plan(const tn_host* host, const tn_program& program, const uint8_t* keys,
                      uint32_t n, PlanMode mode, const Plan** plan) {
  uint64_t word = mode;
  if (n <= kExactOperands) {
    for (uint32_t i = 0; i < n; ++i) {
      word = word << 8 | keys[i];
    }
    *plan = find_exact(program, word, n);
    if (!*plan) {
      make_plan(host, program, keys, n, mode, word, plan);
    }
    return;
  }
  for (uint32_t i = 0; i < n; ++i) {
    word = (word ^ keys[i]) * 0x100000001B3u;
  }
  for (const Plan* p = plan_buckets[plan_bucket(program.id, word)].load(std::memory_order_acquire);
       p; p = p->next) {
    if (p->program == program.id && p->word == word && p->mode == mode && p->n_operands == n &&
        std::equal(keys, keys + n, p->keys.data())) {
      *plan = p;
      return;
    }
  }
  return make_plan(host, program, keys, n, mode, word, plan);
}

}  // namespace tenon::cpu_backend
