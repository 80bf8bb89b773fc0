// Device `faulty`: the backend ref, some of whose kernels do what TENON_TEST_FAULT says, for tests
// of what finds such faults:
//   stride     ELEMENTWISE takes the rows of its first input for dense
//   last       ELEMENTWISE leaves out the last element of rows of more than 64
//   primitive  REDUCE gives the least for the greatest
//   write      SCATTER writes nothing
//   crash      IOTA ends the process
//   lost       IOTA loses the device
//   rate       ELEMENTWISE reads its numbers once, when a graph is recorded
//   random     RANDOM_BITS reads its state once, when a graph is recorded
//   offset     RANDOM_BITS takes the lower half of its offset
//   tenths     IOTA of floats rounds its step to 10 bits
//   behind     what lies behind a launch that failed is done
//   wrap       ELEMENTWISE does not wrap what a register holds to int32
//   nan        ELEMENTWISE makes 0 of a NaN where it becomes an integer
//   float64    there are no kernels for float64, which a backend may leave out
//   narrow     there are the eight kernels that a backend must bring, for float32, float16, int32,
//              int64 and bool alone, in which no program may compute in float64 either
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "small.h"
#include "through_ref.h"

extern "C" {
SMALL_MANIFEST(TN_ABI_VERSION);
}

namespace {

const tn_host* host;
tn_registrar* registrar;
std::deque<tn_kernel_def> kernels;

bool has(const char* fault) {
  const char* wanted = std::getenv("TENON_TEST_FAULT");
  return wanted != nullptr && std::strcmp(wanted, fault) == 0;
}

// ---- Other programs ----

// A program and what it is made of; they live as long as the process, as all programs do.
struct Rewritten {
  tn_program program;
  std::vector<tn_instruction> instructions;
  std::vector<tn_scalar> constants;
};
std::deque<Rewritten> rewritten;

tn_instruction instruction(int opcode, tn_dtype dtype, tn_dtype of, uint32_t dst, uint32_t a,
                           uint32_t b = 0, uint32_t c = 0) {
  return {static_cast<uint16_t>(opcode), static_cast<uint8_t>(dtype),
          static_cast<uint8_t>(of),      static_cast<uint16_t>(dst),
          static_cast<uint16_t>(a),      static_cast<uint16_t>(b),
          static_cast<uint16_t>(c),      0};
}

const tn_program* rewrite(const tn_program& program) {
  Rewritten& made = rewritten.emplace_back();
  made.program = program;
  made.constants.assign(program.constants, program.constants + program.n_constants);
  const auto test = static_cast<uint16_t>(program.n_registers), number = uint16_t(test + 1);
  const auto constant = [&](tn_scalar value) {
    made.constants.push_back(value);
    return static_cast<uint32_t>(made.constants.size() - 1);
  };
  auto& list = made.instructions;
  for (uint32_t k = 0; k < program.n_instructions; ++k) {
    tn_instruction i = program.instructions[k];
    const bool is_cast = i.opcode == TN_I_CAST;
    const auto of = static_cast<tn_dtype>(i.flags);
    if (is_cast && i.dtype == TN_INT32 && has("wrap")) i.dtype = TN_INT64;
    if (is_cast && i.dtype == TN_INT64 && (of == TN_FLOAT32 || of == TN_FLOAT64) && has("nan")) {
      list.push_back(instruction(TN_I_ISNAN, TN_BOOL, of, test, i.a));
      list.push_back(instruction(TN_I_CONST, of, of, number, constant({.f = 0})));
      list.push_back(instruction(TN_I_WHERE, of, of, number, test, number, i.a));
      i.a = number;
    }
    list.push_back(i);
  }
  made.program.instructions = list.data();
  made.program.n_instructions = static_cast<uint32_t>(list.size());
  made.program.n_registers += 2;
  made.program.constants = made.constants.data();
  made.program.n_constants = static_cast<uint32_t>(made.constants.size());
  return &made.program;
}

// ---- What lies behind a failure ----

tn_status* (*wait_for_stream)(void* self, int32_t index, void* stream);
void* device_self;
std::mutex told_mutex;
tn_status* told_later;

// Takes the failure off the stream, so that it goes on.
void go_on(const tn_call* call) {
  tn_status* failure = wait_for_stream(device_self, call->device.index, call->stream->handle);
  if (failure == nullptr) return;
  const std::lock_guard lock(told_mutex);
  std::swap(failure, told_later);
  if (failure != nullptr) host->status_free(failure);
}

tn_status* tell_later(void* self, int32_t index, void* stream) {
  tn_status* failure = wait_for_stream(self, index, stream);
  const std::lock_guard lock(told_mutex);
  return failure != nullptr ? failure : std::exchange(told_later, nullptr);
}

// ---- Kernels ----

// The kernel on another loop or reduction than it was given.
tn_status* launch_with(const tn_kernel_def& kernel, const tn_call* call, const tn_value& first) {
  std::vector<tn_value> args(call->args, call->args + call->n_args);
  args[0] = first;
  tn_call other = *call;
  other.args = args.data();
  return kernel.launch(kernel.self, &other);
}

tn_status* launch_elementwise(const tn_kernel_def& kernel, const tn_call* call) {
  tn_loop loop = *call->args[0].as.loop;
  const auto last = static_cast<size_t>(loop.ndim - 1);
  std::vector<int64_t> sizes(loop.sizes, loop.sizes + loop.ndim);
  std::vector<tn_operand> operands(
      loop.operands, loop.operands + loop.program->n_outputs + loop.program->n_inputs);
  std::vector<int64_t> strides;
  if (has("last") && sizes[last] > 64) {
    loop.numel = loop.numel / sizes[last] * (sizes[last] - 1);
    --sizes[last];
  }
  if (has("stride") && loop.program->n_inputs > 0) {
    tn_operand& input = operands[loop.program->n_outputs];
    strides.assign(input.strides, input.strides + loop.ndim);
    if (strides[last] > 1) strides[last] = 1;
    input.strides = strides.data();
  }
  if (has("rate")) loop.live_params = nullptr;
  if (has("wrap") || has("nan")) loop.program = rewrite(*loop.program);
  loop.sizes = sizes.data();
  loop.operands = operands.data();
  tn_value first = call->args[0];
  first.as.loop = &loop;
  return launch_with(kernel, call, first);
}

constexpr uint32_t kNarrow = TN_DTYPE_BIT(TN_FLOAT32) | TN_DTYPE_BIT(TN_FLOAT16) |
                             TN_DTYPE_BIT(TN_INT32) | TN_DTYPE_BIT(TN_INT64) |
                             TN_DTYPE_BIT(TN_BOOL);

bool has_float64(const tn_program* program) {
  for (uint32_t i = 0; program != nullptr && i < program->n_instructions; ++i) {
    if (program->instructions[i].dtype == TN_FLOAT64) return true;
  }
  return false;
}

int32_t supports_narrow(void*, const tn_call* call, char* reason, size_t reason_bytes) {
  bool wide = false;
  for (uint32_t i = 0; i < call->n_args; ++i) {
    const tn_value& v = call->args[i];
    if (v.kind == TN_KIND_LOOP) wide |= has_float64(v.as.loop->program);
    if (v.kind == TN_KIND_REDUCTION) {
      const tn_reduction& r = *v.as.reduction;
      wide |= r.accumulate == TN_FLOAT64 || has_float64(r.prologue) || has_float64(r.epilogue);
    }
  }
  if (wide) std::snprintf(reason, reason_bytes, "a program in float64");
  return wide ? 0 : 1;
}

bool is_optional(tn_primitive primitive) {
  return primitive == TN_PRIM_COPY || primitive == TN_PRIM_FILL || primitive == TN_PRIM_SCAN ||
         primitive == TN_PRIM_SORT;
}

tn_status* launch(void* self, const tn_call* call) {
  const auto& kernel = *static_cast<const tn_kernel_def*>(self);
  if (kernel.primitive == TN_PRIM_SCATTER && has("write")) return nullptr;
  if (kernel.primitive == TN_PRIM_ELEMENTWISE) {
    for (const char* fault : {"last", "stride", "rate", "wrap", "nan"})
      if (has(fault)) return launch_elementwise(kernel, call);
  }
  if (has("behind")) go_on(call);
  if (kernel.primitive == TN_PRIM_RANDOM_BITS && (has("random") || has("offset"))) {
    tn_random random = *call->random;
    if (has("random")) random.state = nullptr;
    if (has("offset")) random.offset &= 0xffffffff;
    tn_call other = *call;
    other.random = &random;
    return kernel.launch(kernel.self, &other);
  }
  if (kernel.primitive == TN_PRIM_IOTA && has("tenths") && call->args[1].kind == TN_KIND_FLOAT) {
    tn_value args[] = {call->args[0], call->args[1]};
    args[1].as.f = std::nearbyint(args[1].as.f * 1024) / 1024;
    tn_call other = *call;
    other.args = args;
    return kernel.launch(kernel.self, &other);
  }
  if (kernel.primitive == TN_PRIM_REDUCE && has("primitive")) {
    tn_reduction reduction = *call->args[0].as.reduction;
    if (reduction.kind == TN_REDUCE_MAX) reduction.kind = TN_REDUCE_MIN;
    tn_value first = call->args[0];
    first.as.reduction = &reduction;
    return launch_with(kernel, call, first);
  }
  if (kernel.primitive == TN_PRIM_IOTA && has("narrow") &&
      (kNarrow >> call->outputs[0]->dtype & 1) == 0)
    return host->status(TN_UNSUPPORTED, "iota: it has no such dtype", nullptr);
  if (kernel.primitive == TN_PRIM_IOTA && has("crash")) std::abort();
  if (kernel.primitive == TN_PRIM_IOTA && has("lost"))
    return host->status(TN_DEVICE_LOST, "the bus is gone", nullptr);
  return kernel.launch(kernel.self, call);
}

tn_status* take_device(tn_registrar*, const tn_device_def* def) {
  tn_device_def faulty = *def;
  faulty.name = "faulty";
  faulty.destroy = nullptr;
  wait_for_stream = def->stream_synchronize;
  device_self = def->self;
  if (has("behind")) faulty.stream_synchronize = tell_later;
  return registrar->device(registrar, &faulty);
}

tn_status* take_kernel(tn_registrar*, const tn_kernel_def* def) {
  if (has("narrow") && (def->op != nullptr || is_optional(def->primitive))) return nullptr;
  kernels.push_back(*def);
  tn_kernel_def faulty = *def;
  faulty.device = "faulty";
  faulty.launch = launch;
  faulty.self = &kernels.back();
  if (has("float64")) {
    const uint32_t all = (uint32_t{1} << TN_N_DTYPES) - 1;
    faulty.dtypes = (def->dtypes == 0 ? all : def->dtypes) & ~TN_DTYPE_BIT(TN_FLOAT64);
  }
  if (has("narrow")) {
    faulty.dtypes = def->dtypes == 0 ? kNarrow : def->dtypes & kNarrow;
    faulty.supports = supports_narrow;
  }
  return registrar->kernel(registrar, &faulty);
}

}  // namespace

extern "C" TN_EXPORT tn_status* tenon_plugin_init(const tn_host* the_host,
                                                  tn_registrar* the_registrar, void** self) {
  host = the_host;
  registrar = the_registrar;
  return init_through_ref(host, registrar, self, take_device, take_kernel);
}
