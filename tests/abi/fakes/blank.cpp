// The device `blank`: its memory has no address. A storage is a number in a table of this file,
// element 0 of a tensor lies at a byte offset in it, and no stream is there. Float32 only, and of
// the instructions a few.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "fakes.h"

namespace fakes {
namespace {

std::mutex mutex;
std::map<uintptr_t, std::vector<char>> buffers;  // their addresses stay
uintptr_t last_handle = 0;

char* bytes_of(const void* handle) {
  const std::lock_guard lock(mutex);
  const auto found = buffers.find(reinterpret_cast<uintptr_t>(handle));
  if (found == buffers.end()) fail("blank: what the host gave is no handle of an allocation");
  return found->second.data();
}

float* floats(tn_storage* storage, uint64_t byte_offset, const void* data) {
  if (data) fail("blank: a tensor has an address");
  return reinterpret_cast<float*>(bytes_of(detail::api.tensor->storage_memory(storage)) +
                                  byte_offset);
}
float* floats(const tn_tensor* t) { return floats(t->storage, t->byte_offset, t->data); }

// Registers live in the workspace, to see that it is one of the device's allocations.
float* scratch(const Call& call, uint64_t n) {
  return reinterpret_cast<float*>(bytes_of(call.workspace(n * sizeof(float))));
}

// Integers are kept as floats, so that a cast has nothing to do.
float value(tn_scalar scalar, tn_dtype type) {
  return type == TN_FLOAT32 ? float(scalar.f) : float(scalar.i);
}

float compute(uint16_t opcode, float a, float b) {
  switch (opcode) {
    case TN_I_ADD:
      return a + b;
    case TN_I_SUB:
      return a - b;
    case TN_I_MUL:
      return a * b;
    case TN_I_MAX:
      return std::max(a, b);
    case TN_I_NEG:
      return -a;
    case TN_I_MOVE:
    case TN_I_CAST:
      return a;
    default:
      fail("blank: instruction " + std::to_string(opcode) + " is unknown", TN_UNSUPPORTED);
  }
}

void elementwise(const Call& call) {
  const tn_loop& loop = *call.loop();
  const tn_program& program = *loop.program;
  std::vector<float*> base;
  for (uint32_t k = 0; k < program.n_outputs + program.n_inputs; ++k) {
    const tn_operand& x = loop.operands[k];
    if (x.dtype != TN_FLOAT32) fail("blank: float32 only", TN_UNSUPPORTED);
    base.push_back(floats(x.storage, x.byte_offset, x.data));
  }
  float* r = scratch(call, program.n_registers);
  for (int64_t n = 0; n < loop.numel; ++n) {
    const auto at = [&](uint32_t k) {
      int64_t rest = n, offset = 0;
      for (int32_t d = loop.ndim - 1; d >= 0; --d) {
        offset += rest % loop.sizes[d] * loop.operands[k].strides[d];
        rest /= loop.sizes[d];
      }
      return base[k] + offset;
    };
    for (uint32_t k = 0; k < program.n_instructions; ++k) {
      const tn_instruction& i = program.instructions[k];
      switch (i.opcode) {
        case TN_I_LOAD:
          r[i.dst] = *at(program.n_outputs + i.a);
          break;
        case TN_I_STORE:
          *at(i.b) = r[i.a];
          break;
        case TN_I_PARAM:
          r[i.dst] = value(loop.params[i.a], i.dtype);
          break;
        case TN_I_CONST:
          r[i.dst] = value(program.constants[i.a], i.dtype);
          break;
        default:
          r[i.dst] = compute(i.opcode, r[i.a], r[i.b]);
      }
    }
  }
}

// Sums of all elements of one dimension.
void reduce(const Call& call) {
  const tn_reduction& reduction = *call.get()->args[0].as.reduction;
  const tn_operand &y = reduction.operands[0], &x = reduction.operands[1];
  if (reduction.kind != TN_REDUCE_SUM || reduction.n_kept != 1 || reduction.n_reduced != 1)
    fail("blank: sums of one dimension only", TN_UNSUPPORTED);
  if (reduction.prologue || reduction.epilogue) fail("blank: plain sums only", TN_UNSUPPORTED);
  const int32_t last = reduction.ndim - 1;
  float sum = 0;
  for (int64_t i = 0; i < reduction.sizes[last]; ++i)
    sum += floats(x.storage, x.byte_offset, x.data)[i * x.strides[last]];
  *floats(y.storage, y.byte_offset, y.data) = sum;
}

void matmul(const Call& call) {
  const tn_tensor *a = call.tensor(0), *b = call.tensor(1), *y = call.output();
  for (int64_t n = 0; n < y->sizes[0]; ++n) {
    for (int64_t i = 0; i < y->sizes[1]; ++i) {
      for (int64_t j = 0; j < y->sizes[2]; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < a->sizes[2]; ++k) {
          sum += floats(a)[n * a->strides[0] + i * a->strides[1] + k * a->strides[2]] *
                 floats(b)[n * b->strides[0] + k * b->strides[1] + j * b->strides[2]];
        }
        floats(y)[n * y->strides[0] + i * y->strides[1] + j * y->strides[2]] = sum;
      }
    }
  }
}

// One side of a copy; host memory has addresses.
char* side(tn_device device, const void* memory) {
  return device.type == TN_DEVICE_CPU ? static_cast<char*>(const_cast<void*>(memory))
                                      : bytes_of(memory);
}

}  // namespace

void add_blank() {
  tn_device_def def{};
  def.size = sizeof(def);
  def.flags = TN_DEVICE_NO_ADDRESS;
  def.name = "blank";
  def.description = "memory without addresses";
  def.lower_precision = TN_DTYPE_NONE;
  def.count = [](void*) { return 1; };
  def.allocate = [](void*, int32_t, uint64_t bytes, void** memory) -> tn_status* {
    const std::lock_guard lock(mutex);
    buffers[++last_handle].resize(bytes);
    return *memory = reinterpret_cast<void*>(last_handle), nullptr;
  };
  def.free = [](void*, int32_t, void* memory, uint64_t) {
    const std::lock_guard lock(mutex);
    buffers.erase(reinterpret_cast<uintptr_t>(memory));
  };
  def.copy = [](void*, tn_stream*, tn_device dst_device, void* dst, uint64_t dst_offset,
                tn_device src_device, const void* src, uint64_t src_offset, uint64_t bytes) {
    return to_status([&] {
      std::memmove(side(dst_device, dst) + dst_offset, side(src_device, src) + src_offset, bytes);
    });
  };
  device(def);
  // Of instruction set 1, as a backend that was written before int8.
  kernel(TN_PRIM_ELEMENTWISE, "blank", {}, fn<elementwise>);
  kernel(TN_PRIM_REDUCE, "blank", {}, fn<reduce>);
  kernel(TN_PRIM_MATMUL, "blank", {.dtypes = float32}, fn<matmul>);
}

}  // namespace fakes
