// The smallest host that the plugin `cpu` runs under: statuses, workspace, threads, and a registrar
// that records. The tests of its kernels drive them with hand-made loops and tensors, without
// libtenon.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tenon/abi.h"
#include "tenon/dtype_table.hpp"

struct tn_status {
  tn_code code;
  std::string message;
};

namespace cpu_test {

using tenon::dtype_table::item_size;

// Values of the element types as double and back, exactly where that is possible.
inline float half_value(uint16_t h) {
  const int exponent = h >> 10 & 31;
  const int mantissa = h & 1023;
  double value;
  if (exponent == 31) {
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  } else {
    value = exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
  }
  return static_cast<float>(h & 0x8000 ? -value : value);
}

struct Pair {
  tn_kernel_pair_def def;
  tn_kernel_def forward;
};
struct Record {
  std::map<tn_primitive, tn_kernel_def> primitives;
  std::map<std::string, tn_kernel_def> ops;
  std::map<std::string, Pair> pairs;  // by the op's name
  tn_threads_def threads = {};
  std::mutex mutex;
  std::string log;
  std::vector<std::unique_ptr<char[]>> workspaces;
};
inline Record& record() {
  static auto* all = new Record;
  return *all;
}

// The message of a status, or "" for success. Frees it.
inline std::string text(tn_status* status) {
  const std::unique_ptr<tn_status> owned(status);
  return owned ? owned->message : "";
}

// A strided tensor in memory of its own; row-major unless strides are given. Elements beyond it
// tell of writes out of range.
class Tensor {
 public:
  static constexpr size_t kGuard = 64;
  Tensor(std::vector<int64_t> sizes, tn_dtype dtype, std::vector<int64_t> strides = {})
      : sizes_(std::move(sizes)), strides_(std::move(strides)) {
    int64_t numel = 1;
    const bool dense = strides_.empty();
    strides_.resize(sizes_.size());
    for (size_t d = sizes_.size(); d-- > 0; numel *= sizes_[d]) {
      strides_[d] = dense ? numel : strides_[d];
    }
    int64_t last = 0;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      last += numel > 0 ? (sizes_[d] - 1) * strides_[d] : 0;
    }
    bytes_ = numel > 0 ? static_cast<size_t>(last + 1) * cpu_test::item_size(dtype) : 0;
    memory_ = static_cast<char*>(std::aligned_alloc(64, (kGuard + bytes_ + kGuard + 63) / 64 * 64));
    std::memset(memory_, 0x5a, kGuard + bytes_ + kGuard);
    tensor = {memory_ + kGuard,
              sizes_.data(),
              strides_.data(),
              numel,
              static_cast<int32_t>(sizes_.size()),
              dtype,
              {0, 0},
              dense ? static_cast<uint32_t>(TN_TENSOR_CONTIGUOUS) : 0u,
              0,
              nullptr,
              0};
  }
  Tensor(const Tensor&) = delete;
  ~Tensor() {
    if (!is_guarded()) {
      std::fprintf(stderr, "a kernel wrote outside of its output\n");
      std::abort();
    }
    std::free(memory_);
  }

  bool is_guarded() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (memory_[i] != 0x5a || memory_[kGuard + bytes_ + i] != 0x5a) {
        return false;
      }
    }
    return true;
  }
  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(memory_ + kGuard);
  }
  int64_t offset(int64_t flat) const {
    int64_t at = 0;
    for (size_t d = sizes_.size(); d-- > 0; flat /= sizes_[d]) {
      at += flat % sizes_[d] * strides_[d];
    }
    return at;
  }
  // Element `flat` in row-major order.
  double get(int64_t flat) const {
    const int64_t i = offset(flat);
    switch (tensor.dtype) {
      case TN_FLOAT32:
        return data<float>()[i];
      case TN_FLOAT64:
        return data<double>()[i];
      case TN_FLOAT16:
        return half_value(data<uint16_t>()[i]);
      case TN_BFLOAT16:
        return bfloat(data<uint16_t>()[i]);
      case TN_BOOL:
        return data<uint8_t>()[i];
      default:
        return tenon::dtype_table::visit(tensor.dtype, [&]<typename Tag>(Tag) {
          return static_cast<double>(data<typename Tag::Element>()[i]);
        });
    }
  }
  // Halves: v must be one (small integers are).
  void set(int64_t flat, double v) {
    const int64_t i = offset(flat);
    switch (tensor.dtype) {
      case TN_FLOAT32:
        data<float>()[i] = static_cast<float>(v);
        break;
      case TN_FLOAT64:
        data<double>()[i] = v;
        break;
      case TN_FLOAT16:
        data<uint16_t>()[i] = half_bits(v);
        break;
      case TN_BFLOAT16:
        data<uint16_t>()[i] = static_cast<uint16_t>(float_bits(static_cast<float>(v)) >> 16);
        break;
      case TN_BOOL:
        data<uint8_t>()[i] = v != 0;
        break;
      default:
        tenon::dtype_table::visit(tensor.dtype, [&]<typename Tag>(Tag) {
          if constexpr (std::is_integral_v<typename Tag::Element>)
            data<typename Tag::Element>()[i] = static_cast<typename Tag::Element>(v);
        });
    }
  }
  template <typename F>
  Tensor& fill(const F& f) {
    for (int64_t i = 0; i < tensor.numel; ++i) {
      set(i, f(i));
    }
    return *this;
  }
  const int64_t* strides() const { return strides_.data(); }
  tn_operand operand(const int64_t* strides) const {
    return {tensor.data, strides, nullptr, 0, tensor.dtype, 0};
  }
  operator tn_value() {
    tn_value value = {TN_KIND_TENSOR, 0, {}};
    value.as.tensor = &tensor;
    return value;
  }

  tn_tensor tensor;

  static uint32_t float_bits(float f) {
    uint32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    return bits;
  }
  static float bfloat(uint16_t b) {
    const uint32_t bits = static_cast<uint32_t>(b) << 16;
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
  }
  static uint16_t half_bits(double v) {
    if (v == 0) {
      return 0;
    }
    if (!std::isfinite(v)) {
      return static_cast<uint16_t>(std::isnan(v) ? 0x7e00 : v < 0 ? 0xfc00 : 0x7c00);
    }
    const int exponent = std::ilogb(v);
    const double mantissa = std::ldexp(std::abs(v), 10 - exponent) - 1024;
    const int bits = (exponent + 15) << 10 | static_cast<int>(mantissa);
    const uint16_t h = static_cast<uint16_t>(v < 0 ? bits | 0x8000 : bits);
    if (half_value(h) != v) {
      throw std::runtime_error("not a half");
    }
    return h;
  }

 private:
  std::vector<int64_t> sizes_, strides_;
  size_t bytes_ = 0;
  char* memory_ = nullptr;
};

inline tn_status* make_status(tn_code code, const char* message, tn_status*) {
  return new tn_status{code, message};
}
inline void free_status(tn_status* status) { delete status; }
inline const char* status_message(const tn_status* status) { return status->message.c_str(); }
inline void log(int32_t level, const char* message) {
  const std::lock_guard lock(record().mutex);
  record().log += std::to_string(level) + " " + message + "\n";
}
inline tn_status* workspace(const tn_call*, uint64_t bytes, void** data) {
  auto& all = record().workspaces;
  all.push_back(std::make_unique<char[]>(bytes + 64));
  *data = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(all.back().get()) + 63) / 64 * 64);
  return nullptr;
}
inline void parallel_for(int64_t begin, int64_t end, int64_t grain, tn_range_fn fn, void* context) {
  record().threads.parallel_for(record().threads.self, begin, end, grain, fn, context);
}
inline tn_status* set_output(const tn_call* call, uint32_t output, int32_t ndim,
                             const int64_t* sizes) {
  static std::vector<std::unique_ptr<Tensor>> all;
  all.push_back(std::make_unique<Tensor>(std::vector<int64_t>(sizes, sizes + ndim), TN_INT64));
  const_cast<tn_tensor**>(call->outputs)[output] = &all.back()->tensor;
  return nullptr;
}

// A definition with strings of its own, as a registrar copies them.
inline tn_kernel_def copied(tn_kernel_def def) {
  static std::set<std::string> strings;
  def.device = strings.insert(def.device).first->c_str();
  if (def.op) def.op = strings.insert(def.op).first->c_str();
  return def;
}
inline tn_status* record_kernel(tn_registrar*, const tn_kernel_def* def) {
  if (def->op) {
    const std::string schema = def->op;
    record().ops[schema.substr(0, schema.find('('))] = copied(*def);
  } else {
    record().primitives[def->primitive] = copied(*def);
  }
  return nullptr;
}
inline tn_status* record_pair(tn_registrar*, const tn_kernel_pair_def* def) {
  const std::string op = def->forward->op;
  record().pairs[op.substr(0, op.find('('))] = {*def, copied(*def->forward)};
  return nullptr;
}
inline tn_status* record_threads(tn_registrar*, const tn_threads_def* def) {
  record().threads = *def;
  return nullptr;
}

inline const char* dtype_name(tn_dtype dtype) { return tenon::dtype_table::kRows[dtype].name; }
// Of the interfaces the plugin needs names of dtypes alone.
inline const void* get_interface(const char* name) {
  static const tn_tensor_api tensor = [] {
    tn_tensor_api api = {};
    api.size = sizeof api;
    api.dtype_name = dtype_name;
    return api;
  }();
  return std::strcmp(name, "tensor/1") == 0 ? &tensor : nullptr;
}

// Loads the plugin and lets it register; once a process.
struct Plugin {
  const tn_manifest* manifest;
  tn_host host = {};
  tn_registrar registrar = {};

  static std::string folder() {
    const char* build = std::getenv("TENON_BUILD_DIR");
    return std::string(build ? build : ".") + "/lib/tenon/plugins";
  }
  explicit Plugin(const std::string& path = folder() + "/libtenon_cpu.so") {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
    manifest = static_cast<const tn_manifest*>(dlsym(library, TN_MANIFEST_SYMBOL));
    host.size = sizeof host;
    host.abi_version = TN_ABI_VERSION;
    host.get_interface = get_interface;
    host.status = make_status;
    host.status_code = [](const tn_status* status) { return status->code; };
    host.status_set_payload = [](tn_status*, const void*, void* payload, void (*destroy)(void*)) {
      destroy(payload);
    };
    host.status_payload = [](const tn_status*, const void*) -> void* { return nullptr; };
    host.status_free = free_status;
    host.status_message = status_message;
    host.workspace = workspace;
    host.set_output = set_output;
    host.parallel_for = parallel_for;
    host.log = log;
    registrar.size = sizeof registrar;
    registrar.abi_version = TN_ABI_VERSION;
    registrar.kernel = record_kernel;
    registrar.kernel_pair = record_pair;
    registrar.threads = record_threads;
    void* self;
    const auto init = reinterpret_cast<tn_plugin_init_fn>(dlsym(library, TN_INIT_SYMBOL));
    if (!text(init(&host, &registrar, &self)).empty()) {
      std::abort();
    }
  }
};
inline Plugin& plugin() {
  static auto* loaded = new Plugin;
  return *loaded;
}

inline std::string launch(tn_kernel_fn kernel, void* self, const std::vector<tn_value>& args,
                          std::vector<tn_tensor*> outputs, const tn_random* random = nullptr) {
  tn_call call = {};
  call.size = sizeof call;
  call.n_args = static_cast<uint32_t>(args.size());
  call.args = args.data();
  call.outputs = outputs.data();
  call.n_outputs = static_cast<uint32_t>(outputs.size());
  call.random = random;
  call.host = &plugin().host;
  const std::string result = text(kernel(self, &call));
  record().workspaces.clear();
  return result;
}
inline std::string launch(tn_primitive primitive, const std::vector<tn_value>& args,
                          std::vector<tn_tensor*> outputs = {}, const tn_random* random = nullptr) {
  plugin();
  const tn_kernel_def& def = record().primitives.at(primitive);
  return launch(def.launch, def.self, args, std::move(outputs), random);
}

inline tn_value integer(int64_t i) {
  tn_value value = {TN_KIND_INT, 0, {}};
  value.as.i = i;
  return value;
}
inline tn_value real(double f) {
  tn_value value = {TN_KIND_FLOAT, 0, {}};
  value.as.f = f;
  return value;
}
inline tn_value boolean(bool b) {
  tn_value value = {TN_KIND_BOOL, 0, {}};
  value.as.i = b;
  return value;
}

// ---- programs

inline tn_instruction in(int opcode, tn_dtype dtype, int dst, int a = 0, int b = 0, int c = 0,
                         int flags = 0) {
  return {static_cast<uint16_t>(opcode), static_cast<uint8_t>(dtype),
          static_cast<uint8_t>(flags),   static_cast<uint16_t>(dst),
          static_cast<uint16_t>(a),      static_cast<uint16_t>(b),
          static_cast<uint16_t>(c),      0};
}

// Lives as long as the process, as programs do: kernels keep what they made of it by its id.
struct Program {
  std::vector<tn_instruction> code;
  std::vector<tn_scalar> constants;
  tn_program program;

  static const Program& make(uint32_t n_outputs, uint32_t n_inputs,
                             std::vector<tn_instruction> code,
                             std::vector<tn_scalar> constants = {}, uint32_t n_params = 0) {
    static uint64_t ids = 1;
    auto* p = new Program{std::move(code), std::move(constants), {}};
    uint32_t registers = 1;
    for (const tn_instruction& i : p->code) {
      registers = std::max(registers, i.dst + 1u);
    }
    p->program = {sizeof(tn_program),
                  TN_INSTRUCTION_SET,
                  ids++,
                  p->code.data(),
                  static_cast<uint32_t>(p->code.size()),
                  registers,
                  p->constants.data(),
                  static_cast<uint32_t>(p->constants.size()),
                  n_inputs,
                  n_outputs,
                  n_params};
    static std::vector<std::unique_ptr<Program>> all;
    all.emplace_back(p);
    return *p;
  }
};

// Outputs first, then inputs; without strides each operand's own ones serve.
inline std::string run(const Program& program, const std::vector<Tensor*>& operands,
                       std::vector<int64_t> sizes = {},
                       std::vector<std::vector<int64_t>> strides = {},
                       std::vector<tn_scalar> params = {}) {
  if (sizes.empty()) {
    sizes = {operands[0]->tensor.numel};
  }
  tn_loop loop = {};
  loop.size = sizeof loop;
  loop.ndim = static_cast<int32_t>(sizes.size());
  loop.numel = 1;
  for (const int64_t size : sizes) {
    loop.numel *= size;
  }
  std::vector<tn_operand> list;
  for (size_t k = 0; k < operands.size(); ++k) {
    list.push_back(
        operands[k]->operand(strides.empty() ? operands[k]->strides() : strides[k].data()));
  }
  loop.sizes = sizes.data();
  loop.program = &program.program;
  loop.operands = list.data();
  loop.params = params.data();
  tn_value value = {TN_KIND_LOOP, 0, {}};
  value.as.loop = &loop;
  return launch(TN_PRIM_ELEMENTWISE, {value});
}

}  // namespace cpu_test
