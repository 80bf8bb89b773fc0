// The smallest host that the backend ref runs under: statuses, keep, set_output, a log, and a
// registrar that records. ref_backend_test drives the plugin's slots and kernels with it, without
// libtenon.
#pragma once

#include <dlfcn.h>

#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tenon/abi.h"
#include "tenon/dtype_table.hpp"

struct tn_status {
  tn_code code;
  std::string message;
};

namespace ref_test {

// While it is shut, no stream comes past the end of a launch: what is enqueued behind one stays
// undone for as long as a test needs that, and not for a time.
class Gate {
 public:
  void shut() { set(true); }
  void open() { set(false); }
  // Until so many streams wait here, whose launches therefore have done their work.
  void await(int streams) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == streams; });
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !shut_; });
    --waiting_;
  }

 private:
  void set(bool shut) {
    const std::lock_guard lock(mutex_);
    shut_ = shut;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false;
  int waiting_ = 0;
};

// Everything that the plugin told or asked of the host.
struct Record {
  Gate gate;
  std::mutex mutex;
  std::string log;
  int kept = 0, released = 0;
  std::map<std::string, tn_device_def> devices;
  std::map<tn_primitive, tn_kernel_def> kernels;
};
inline Record& record() {
  static auto* all = new Record;
  return *all;
}

inline tn_status* make_status(tn_code code, const char* message, tn_status*) {
  return new tn_status{code, message};
}
inline const char* status_message(const tn_status* status) { return status->message.c_str(); }
inline void free_status(tn_status* status) { delete status; }

// The message of a status, or "" for success. Frees it.
inline std::string text(tn_status* status) {
  const std::unique_ptr<tn_status> owned(status);
  return owned ? owned->message : "";
}

inline void log(int32_t, const char* message) {
  const std::lock_guard lock(record().mutex);
  record().log += std::string(message) + "\n";
}

// A deep clone. What it points to lies in the deques, whose elements never move.
struct KeptCall {
  tn_call call;
  std::deque<std::vector<int64_t>> ints;
  std::deque<tn_tensor> tensors;
  std::deque<std::vector<tn_operand>> operands;
  std::deque<std::vector<tn_scalar>> scalars;
  std::vector<tn_value> args;
  std::vector<tn_tensor*> outputs;
  tn_loop loop;
  tn_reduction reduction;
  tn_random random;

  const int64_t* copy(const int64_t* from, int32_t n) {
    return ints.emplace_back(from, from + n).data();
  }
  const tn_scalar* copy(const tn_scalar* from, const tn_program* program) {
    return program ? scalars.emplace_back(from, from + program->n_params).data() : nullptr;
  }
  tn_tensor* copy(const tn_tensor* from) {
    if (!from) return nullptr;
    tn_tensor& to = tensors.emplace_back(*from);
    to.sizes = copy(from->sizes, from->ndim);
    to.strides = copy(from->strides, from->ndim);
    return &to;
  }
  const tn_operand* copy(const tn_operand* from, uint32_t n, int32_t ndim) {
    auto& to = operands.emplace_back(from, from + n);
    for (tn_operand& operand : to) operand.strides = copy(operand.strides, ndim);
    return to.data();
  }

  explicit KeptCall(const tn_call* from)
      : call(*from), args(from->args, from->args + from->n_args) {
    for (tn_value& value : args) {
      if (value.kind == TN_KIND_TENSOR) value.as.tensor = copy(value.as.tensor);
      if (value.kind == TN_KIND_LOOP) {
        loop = *value.as.loop;
        loop.sizes = copy(loop.sizes, loop.ndim);
        loop.operands =
            copy(loop.operands, loop.program->n_outputs + loop.program->n_inputs, loop.ndim);
        loop.params = copy(loop.params, loop.program);
        value.as.loop = &loop;
      }
      if (value.kind == TN_KIND_REDUCTION) {
        reduction = *value.as.reduction;
        reduction.sizes = copy(reduction.sizes, reduction.ndim);
        const uint32_t n_inputs = reduction.prologue ? reduction.prologue->n_inputs : 1;
        reduction.operands = copy(reduction.operands, 1 + n_inputs, reduction.ndim);
        reduction.prologue_params = copy(reduction.prologue_params, reduction.prologue);
        reduction.epilogue_params = copy(reduction.epilogue_params, reduction.epilogue);
        value.as.reduction = &reduction;
      }
    }
    for (uint32_t i = 0; i < from->n_outputs; ++i) outputs.push_back(copy(from->outputs[i]));
    if (from->random) call.random = &(random = *from->random);
    call.args = args.data();
    call.outputs = outputs.data();
  }
};

inline tn_status* keep(const tn_call* call, const tn_call** kept) {
  *kept = &(new KeptCall(call))->call;
  const std::lock_guard lock(record().mutex);
  ++record().kept;
  return nullptr;
}

inline void release_kept(const tn_call* call) {
  static_assert(offsetof(KeptCall, call) == 0);
  delete reinterpret_cast<const KeptCall*>(call);
  record().gate.pass();
  const std::lock_guard lock(record().mutex);
  ++record().released;
}

inline const tn_device_def& device() { return record().devices.at("ref"); }

// Memory of ref:index as a strided tensor; row-major unless strides are given.
class Tensor {
 public:
  Tensor(std::vector<int64_t> sizes, tn_dtype dtype, int32_t index = 0,
         std::vector<int64_t> strides = {}, int64_t elements = -1)
      : sizes_(std::move(sizes)), strides_(std::move(strides)) {
    numel_ = 1;
    if (strides_.empty()) {
      strides_.resize(sizes_.size());
      for (size_t d = sizes_.size(); d-- > 0; numel_ *= sizes_[d]) strides_[d] = numel_;
    } else {
      for (const int64_t size : sizes_) numel_ *= size;
    }
    bytes_ = (elements < 0 ? numel_ : elements) * tenon::dtype_table::item_size(dtype);
    if (bytes_ > 0) {
      const std::string failed = text(device().allocate(device().self, index, bytes_, &data_));
      if (!failed.empty() || !data_) std::abort();
    }
    tensor = {
        data_, sizes_.data(), strides_.data(),      numel_, static_cast<int32_t>(sizes_.size()),
        dtype, {2, index},    TN_TENSOR_CONTIGUOUS, 0,      nullptr,
        0};
  }
  Tensor(const Tensor&) = delete;
  ~Tensor() {
    if (data_) device().free(device().self, tensor.device.index, data_, bytes_);
  }

  uint64_t bytes() const { return bytes_; }
  void* data() const { return data_; }
  operator tn_value() {
    tn_value value = {TN_KIND_TENSOR};
    value.as.tensor = &tensor;
    return value;
  }
  tn_operand operand(const int64_t* strides) const {
    return {data_, strides, nullptr, 0, tensor.dtype, 0};
  }

  tn_tensor tensor;

 private:
  std::vector<int64_t> sizes_, strides_;
  int64_t numel_;
  uint64_t bytes_;
  void* data_ = nullptr;
};

// Outputs of dynamic ops live as long as the process, which is short.
inline tn_status* set_output(const tn_call* call, uint32_t output, int32_t ndim,
                             const int64_t* sizes) {
  static auto& all = *new std::deque<Tensor*>;
  const std::vector<int64_t> shape(sizes, sizes + ndim);
  Tensor* made = all.emplace_back(new Tensor(shape, TN_INT64, call->stream->device.index));
  const_cast<tn_tensor**>(call->outputs)[output] = &made->tensor;
  return nullptr;
}

inline tn_status* record_device(tn_registrar*, const tn_device_def* def) {
  record().devices[def->name] = *def;
  return nullptr;
}
inline tn_status* record_kernel(tn_registrar*, const tn_kernel_def* def) {
  record().kernels[def->primitive] = *def;
  return nullptr;
}

// Loads the plugin and lets it register; once a process.
struct Plugin {
  const tn_manifest* manifest;
  tn_plugin_shutdown_fn shutdown;
  void* self = nullptr;
  tn_host host = {};
  tn_registrar registrar = {};

  Plugin() {
    const char* build = std::getenv("TENON_BUILD_DIR");
    const std::string path =
        std::string(build ? build : ".") + "/lib/tenon/plugins/libtenon_ref.so";
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
    manifest = static_cast<const tn_manifest*>(dlsym(library, TN_MANIFEST_SYMBOL));
    shutdown = reinterpret_cast<tn_plugin_shutdown_fn>(dlsym(library, TN_SHUTDOWN_SYMBOL));
    host.size = sizeof(host);
    host.abi_version = TN_ABI_VERSION;
    host.status = make_status;
    host.status_message = status_message;
    host.status_free = free_status;
    host.keep = keep;
    host.release_kept = release_kept;
    host.set_output = set_output;
    host.log = log;
    registrar.size = sizeof(registrar);
    registrar.abi_version = TN_ABI_VERSION;
    registrar.device = record_device;
    registrar.kernel = record_kernel;
    const auto init = reinterpret_cast<tn_plugin_init_fn>(dlsym(library, TN_INIT_SYMBOL));
    if (!text(init(&host, &registrar, &self)).empty()) std::abort();
  }
};
inline Plugin& plugin() {
  static auto* loaded = new Plugin;
  return *loaded;
}

inline tn_value number(double f) {
  tn_value value = {TN_KIND_FLOAT};
  value.as.f = f;
  return value;
}
inline tn_value integer(int64_t i, uint32_t kind = TN_KIND_INT) {
  tn_value value = {kind};
  value.as.i = i;
  return value;
}

// A stream of ref:index; slow_us sleeps that long before each task.
class Stream {
 public:
  explicit Stream(int32_t index = 0, int slow_us = 0) {
    plugin();
    if (slow_us > 0) setenv("TENON_REF_SLOW_US", std::to_string(slow_us).c_str(), 1);
    stream = {{2, index}, 1, nullptr};
    if (!text(device().stream_create(device().self, index, &stream.handle)).empty()) std::abort();
    unsetenv("TENON_REF_SLOW_US");
  }
  Stream(const Stream&) = delete;
  ~Stream() { device().stream_destroy(device().self, stream.device.index, stream.handle); }

  std::string synchronize() {
    return text(device().stream_synchronize(device().self, stream.device.index, stream.handle));
  }

  // Gives what the launch returned: no error of the work itself.
  std::string launch(tn_primitive primitive, std::vector<tn_value> args,
                     std::vector<tn_tensor*> outputs, const tn_random* random = nullptr) {
    tn_call call = {};
    call.size = sizeof(call);
    call.n_args = static_cast<uint32_t>(args.size());
    call.args = args.data();
    call.outputs = outputs.data();
    call.n_outputs = static_cast<uint32_t>(outputs.size());
    call.stream = &stream;
    call.random = random;
    call.host = &plugin().host;
    const tn_kernel_def& kernel = record().kernels.at(primitive);
    std::string failed = text(kernel.launch(kernel.self, &call));
    dynamic_output = outputs.empty() ? nullptr : outputs[0];
    return failed;
  }

  template <class T>
  void upload(Tensor& to, const std::vector<T>& values) {
    copy(to.tensor.device, to.data(), {TN_DEVICE_CPU, 0}, values.data(), values.size() * sizeof(T));
    synchronize();
  }
  template <class T>
  std::vector<T> download(const Tensor& from) {
    std::vector<T> values(from.bytes() / sizeof(T));
    copy({TN_DEVICE_CPU, 0}, values.data(), from.tensor.device, from.data(), from.bytes());
    synchronize();
    return values;
  }
  // Work behind which nothing is done until the gate is open.
  void hold(Tensor& x) {
    record().gate.shut();
    launch(TN_PRIM_FILL, {number(0)}, {&x.tensor});
  }
  void copy(tn_device dst_device, void* dst, tn_device src_device, const void* src,
            uint64_t bytes) {
    text(device().copy(device().self, &stream, dst_device, dst, 0, src_device, src, 0, bytes));
  }

  tn_stream stream;
  tn_tensor* dynamic_output = nullptr;
};

}  // namespace ref_test
