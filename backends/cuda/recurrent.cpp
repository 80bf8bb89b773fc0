// One layer of an LSTM, a GRU or a plain recurrent net in one direction by cuDNN, with its gradients.
// cuDNN goes forward only, so the rows of a layer that goes backwards are turned around first, and its
// outputs afterwards.
#include <algorithm>
#include <limits>

#include "cudnn_plans.h"
#include "lent.h"
#include "recurrent_plans.h"
#include "turn_rows.h"

namespace cuda {
namespace {

// An op: how many outputs it has, and where its arguments stand.
struct Op {
  const char* name;
  uint32_t n_outputs, weights, reverse;
  int32_t relu;  // -1: it has no such argument

  bool is_lstm() const { return n_outputs == 3; }
  uint32_t n_tensors() const { return weights + (is_lstm() ? 5 : 4); }
  uint32_t n_args() const { return reverse + 2; }
};
constexpr Op kOps[] = {
    {"_lstm_layer", 3, 3, 8, -1}, {"_gru_layer", 2, 2, 6, -1}, {"_rnn_layer", 2, 2, 7, 6}};
constexpr size_t kFirstOfBfloat16 = 91300;  // cuDNN's version

cudnnDataType_t type_of(tn_dtype dtype) {
  return dtype == TN_FLOAT32   ? CUDNN_DATA_FLOAT
         : dtype == TN_FLOAT64 ? CUDNN_DATA_DOUBLE
         : dtype == TN_FLOAT16 ? CUDNN_DATA_HALF
                               : CUDNN_DATA_BFLOAT16;
}

// The arguments of a forward's call.
struct Layer {
  const Op& op;
  const tn_value* args;
  const tn_tensor &x, &h;
  int64_t rows = 0;
  Recurrent r;

  Layer(const Op& o, const tn_value* a) : op(o), args(a), x(*a[0].as.tensor), h(*a[1].as.tensor) {}
  const tn_tensor* c() const { return op.is_lstm() ? tensor_of(args[2]) : nullptr; }
  // NULL: the layer has none.
  const tn_tensor* weight(RecurrentWeight which) const {
    const uint32_t i = op.weights + which;
    return i < op.n_tensors() ? tensor_of(args[i]) : nullptr;
  }
  bool is_reversed() const { return args[op.reverse].as.i != 0; }
  std::span<const int64_t> batch_sizes() const {
    const tn_value& sizes = args[op.reverse + 1];
    return {sizes.as.ints, sizes.count};
  }
  Sequences sequences() const {
    const bool is_even = r.lengths.front() == r.lengths.back();
    return {r.n, r.steps, rows, is_even ? std::span<const int64_t>() : batch_sizes()};
  }

  // Empty, or why cuDNN cannot be told.
  std::string describe() {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const std::span<const int64_t> sizes = batch_sizes();
    const tn_tensor& w_ih = *weight(kInput);
    const int64_t n = h.sizes[0], steps = sizes.empty() ? x.sizes[0] : int64_t(sizes.size());
    rows = sizes.empty() ? steps * n : x.sizes[0];
    r.mode = op.is_lstm()         ? CUDNN_LSTM
             : op.relu < 0        ? CUDNN_GRU
             : args[op.relu].as.i ? CUDNN_RNN_RELU
                                  : CUDNN_RNN_TANH;
    const int64_t gate_rows = w_ih.sizes[0], width = h.sizes[1];
    for (const int64_t size : {n, steps, x.sizes[x.ndim - 1], gate_rows, width, n * gate_rows}) {
      if (size > kMost) return "cuDNN takes sizes of 32 bits";
    }
    if ((weight(kInputBias) == nullptr) != (weight(kHiddenBias) == nullptr))
      return "cuDNN takes both biases or none";
    r.type = type_of(x.dtype);
    r.has_biases = weight(kInputBias) != nullptr;
    r.is_exact = !is_tf32_allowed();
    r.features = int32_t(x.sizes[x.ndim - 1]);
    r.hidden = int32_t(gate_rows / r.gates());
    r.width = int32_t(width);
    r.steps = int32_t(steps);
    r.n = int32_t(n);
    r.lengths.assign(size_t(n), int32_t(steps));
    for (size_t t = 1; t < sizes.size(); ++t)  // those that have ended before step t
      std::fill(r.lengths.begin() + sizes[t], r.lengths.begin() + sizes[t - 1], int32_t(t));
    return "";
  }
};

tn_status* failed(const Op& op, int32_t index, const Checks& checks) {
  return error(host, checks.lacks_memory() ? TN_OUT_OF_MEMORY : TN_INTERNAL, "%s: %s (%s:%d)",
               op.name, checks.why().c_str(), kDeviceName, index);
}

tn_status* borrow(const tn_call* call, uint64_t bytes, void** memory) {
  *memory = nullptr;
  return bytes > 0 ? host->workspace(call, bytes, memory) : nullptr;
}

CUdeviceptr address(const void* memory, uint64_t offset = 0) {
  return reinterpret_cast<CUdeviceptr>(memory) + offset;
}

// A tensor as cuDNN reads or writes it; `rows`: of a layer that goes backwards it is turned around.
class Buffer {
 public:
  tn_status* find(const tn_call* call, const tn_tensor& t) {
    TN_CUDA_TRY(lent_.find(call, t, t.strides, kGraphAlignment));
    return data_ = lent_.data(), nullptr;
  }
  tn_status* read(const tn_call* call, const Stream& stream, const tn_tensor& t) {
    TN_CUDA_TRY(lent_.read(call, stream, t, t.strides, kGraphAlignment));
    return data_ = lent_.data(), nullptr;
  }
  tn_status* find_rows(const tn_call* call, const Layer& layer, const tn_tensor& t) {
    TN_CUDA_TRY(find(call, t));
    if (!layer.is_reversed()) return nullptr;
    return borrow(call, uint64_t(t.numel) * item_size(t.dtype), &data_);
  }
  tn_status* read_rows(const tn_call* call, const Stream& stream, const Layer& layer,
                       const tn_tensor& t) {
    TN_CUDA_TRY(read(call, stream, t));
    if (!layer.is_reversed()) return nullptr;
    TN_CUDA_TRY(borrow(call, uint64_t(t.numel) * item_size(t.dtype), &data_));
    return turn_rows(call, stream, layer.sequences(), t, data_, lent_.data());
  }
  tn_status* give_back(const tn_call* call, const Stream& stream, const Layer& layer,
                       tn_tensor& t) const {
    if (data_ != lent_.data())
      TN_CUDA_TRY(turn_rows(call, stream, layer.sequences(), t, lent_.data(), data_));
    return lent_.give_back(call, stream, t);
  }
  void* data() const { return data_; }
  void lend(void* data) { data_ = data; }  // memory of nobody's

 private:
  Lent lent_;
  void* data_ = nullptr;
};

// What of a state is asked for: NULL to cuDNN where it is not.
tn_status* find_wanted(const tn_call* call, uint32_t output, Buffer* buffer) {
  if (output >= call->n_outputs || !call->outputs[output]) return nullptr;
  return buffer->find(call, *call->outputs[output]);
}
tn_status* give_wanted(const tn_call* call, const Stream& stream, const Layer& layer,
                       uint32_t output, const Buffer& buffer) {
  if (!buffer.data()) return nullptr;
  return buffer.give_back(call, stream, layer, *call->outputs[output]);
}

// ---- A call of cuDNN

struct Work {
  const tn_call* call;
  const Stream& stream;
  const Layer& layer;
  Checks checks;
  cudnnHandle_t handle = nullptr;
  std::shared_ptr<RecurrentPlan> plan;
  RecurrentDescriptors::Sizes sizes;
  void *workspace = nullptr, *weights = nullptr;

  Work(const tn_call* c, const Stream& s, const Layer& l) : call(c), stream(s), layer(l) {}

  tn_status* checked() const {
    return checks.is_whole() ? nullptr : failed(layer.op, stream.index, checks);
  }
  // Finds the handle and the plan, and copies the weights to where cuDNN wants them.
  tn_status* begin(bool is_training) {
    TN_CUDA_TRY(find_cudnn(stream.index, &handle));
    if (!(plan = find_recurrent(stream.index, handle, layer.r, &checks))) return checked();
    sizes = is_training ? plan->training : plan->inference;
    TN_CUDNN_CHECK(checks, cudnnSetStream, handle, stream.handle);
    TN_CUDA_TRY(checked());
    TN_CUDA_TRY(borrow(call, sizes.workspace, &workspace));
    TN_CUDA_TRY(borrow(call, sizes.weights, &weights));
    find_pieces();
    TN_CUDA_TRY(checked());
    Buffer buffers[kRecurrentWeights];
    for (const WeightPiece& piece : plan->pieces) {
      Buffer& buffer = buffers[piece.weight];
      if (!buffer.data()) TN_CUDA_TRY(buffer.read(call, stream, *layer.weight(piece.weight)));
      TN_CUDA_CALL(stream.index, cuMemcpyDtoDAsync, address(weights, piece.to),
                   address(buffer.data(), piece.from), piece.bytes, stream.handle);
    }
    return nullptr;
  }
  void find_pieces() {
    const std::lock_guard lock(plan->mutex);
    if (!plan->pieces.empty()) return;
    std::vector<WeightPiece> found = plan->d.find_weights(handle, sizes.weights, weights, &checks);
    if (checks.is_whole()) plan->pieces = std::move(found);
  }
  // The gradients of the weights that are wanted, from a space of weights.
  tn_status* give_weights(const void* space) const {
    Buffer buffers[kRecurrentWeights];
    for (const WeightPiece& piece : plan->pieces) {
      Buffer& buffer = buffers[piece.weight];
      const uint32_t output = layer.op.weights + piece.weight;
      if (!buffer.data()) TN_CUDA_TRY(find_wanted(call, output, &buffer));
      if (!buffer.data()) continue;
      TN_CUDA_CALL(stream.index, cuMemcpyDtoDAsync, address(buffer.data(), piece.from),
                   address(space, piece.to), piece.bytes, stream.handle);
    }
    for (uint32_t which = 0; which < kRecurrentWeights; ++which) {
      const Buffer& buffer = buffers[which];
      TN_CUDA_TRY(give_wanted(call, stream, layer, layer.op.weights + which, buffer));
    }
    return nullptr;
  }
  bool wants_weights() const {
    const tn_tensor* const* outputs = call->outputs;
    return std::any_of(outputs + std::min(layer.op.weights, call->n_outputs),
                       outputs + std::min(layer.op.n_tensors(), call->n_outputs),
                       [](const tn_tensor* output) { return output != nullptr; });
  }
};

// Where cuDNN lacked memory, which the host's cache may hold, the part of the layer is computed once more,
// and from its beginning: cuDNN changes what it works on.
using Part = tn_status*(const tn_call* call, const Stream& stream, const Layer& layer, Work& work);
tn_status* compute(Part* part, const Op& op, const tn_value* args, const tn_call* call,
                   const Stream& stream) {
  Layer layer(op, args);
  layer.describe();  // `supports` did
  Work first(call, stream, layer);
  tn_status* failure = part(call, stream, layer, first);
  if (!failure) hold(call->stream, first.plan);
  if (!first.checks.lacks_memory() || !empty_cache(stream.index)) return failure;
  host->status_free(failure);
  Work again(call, stream, layer);
  failure = part(call, stream, layer, again);
  if (!failure) hold(call->stream, again.plan);
  return failure;
}

tn_status* forward(const tn_call* call, const Stream& stream, const Layer& layer, Work& work) {
  const Op& op = layer.op;
  const tn_tensor* kept = call->n_outputs > op.n_outputs ? call->outputs[op.n_outputs] : nullptr;
  TN_CUDA_TRY(work.begin(kept != nullptr));
  Buffer x, y, h, c, last_h, last_c;
  TN_CUDA_TRY(x.read_rows(call, stream, layer, layer.x));
  TN_CUDA_TRY(h.read(call, stream, layer.h));
  if (layer.c()) TN_CUDA_TRY(c.read(call, stream, *layer.c()));
  TN_CUDA_TRY(y.find_rows(call, layer, *call->outputs[0]));
  TN_CUDA_TRY(find_wanted(call, 1, &last_h));
  if (op.is_lstm()) TN_CUDA_TRY(find_wanted(call, 2, &last_c));
  const RecurrentDescriptors& d = work.plan->d;
  {
    const std::lock_guard lock(work.plan->mutex);
    TN_CUDNN_CHECK(work.checks, cudnnRNNForward, work.handle, d.layer,
                   kept ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE,
                   /*devSeqLengths=*/nullptr, d.x, x.data(), d.y, y.data(), d.h, h.data(),
                   last_h.data(), d.c, c.data(), last_c.data(), work.sizes.weights, work.weights,
                   work.sizes.workspace, work.workspace, kept ? work.sizes.reserve : 0,
                   kept ? kept->data : nullptr);
  }
  TN_CUDA_TRY(work.checked());
  TN_CUDA_TRY(y.give_back(call, stream, layer, *call->outputs[0]));
  TN_CUDA_TRY(give_wanted(call, stream, layer, 1, last_h));
  return op.is_lstm() ? give_wanted(call, stream, layer, 2, last_c) : nullptr;
}

// What the gradients are computed from: of the outputs, and of the forward's. A gradient of y that is
// not there is zeros, since cuDNN wants one; those of the states may be missing.
struct Given {
  Buffer x, h, c, y, of_y, of_h, of_c;
  void* reserve = nullptr;

  tn_status* read(const tn_call* call, const Stream& stream, const Layer& layer, uint64_t bytes) {
    const Op& op = layer.op;
    const tn_value *saved = call->args + op.n_outputs + op.n_args(), *gradients = call->args;
    const tn_tensor& y_tensor = *saved[0].as.tensor;
    TN_CUDA_TRY(x.read_rows(call, stream, layer, layer.x));
    TN_CUDA_TRY(y.read_rows(call, stream, layer, y_tensor));
    TN_CUDA_TRY(h.read(call, stream, layer.h));
    if (layer.c()) TN_CUDA_TRY(c.read(call, stream, *layer.c()));
    if (const tn_tensor* g = tensor_of(gradients[0])) {
      TN_CUDA_TRY(of_y.read_rows(call, stream, layer, *g));
    } else {
      const uint64_t size = uint64_t(y_tensor.numel) * item_size(y_tensor.dtype);
      void* zeros = nullptr;
      TN_CUDA_TRY(borrow(call, size, &zeros));
      TN_CUDA_CALL(stream.index, cuMemsetD8Async, address(zeros), 0, size, stream.handle);
      of_y.lend(zeros);
    }
    if (const tn_tensor* g = tensor_of(gradients[1])) TN_CUDA_TRY(of_h.read(call, stream, *g));
    const tn_tensor* g = op.is_lstm() ? tensor_of(gradients[2]) : nullptr;
    if (g) TN_CUDA_TRY(of_c.read(call, stream, *g));
    // cuDNN writes to it, and the backward may come again.
    TN_CUDA_TRY(borrow(call, bytes, &reserve));
    if (bytes == 0) return nullptr;
    const void* kept = saved[op.n_outputs].as.tensor->data;
    TN_CUDA_CALL(stream.index, cuMemcpyDtoDAsync, address(reserve), address(kept), bytes,
                 stream.handle);
    return nullptr;
  }
};

// args: the gradients of the outputs, the forward's, the outputs, of which y is there, and the reserve.
tn_status* backward(const tn_call* call, const Stream& stream, const Layer& layer, Work& work) {
  const Op& op = layer.op;
  TN_CUDA_TRY(work.begin(/*is_training=*/true));
  const RecurrentDescriptors::Sizes& sizes = work.sizes;
  Given in;
  TN_CUDA_TRY(in.read(call, stream, layer, sizes.reserve));
  Buffer dx, dh, dc;
  if (call->outputs[0]) {
    TN_CUDA_TRY(dx.find_rows(call, layer, *call->outputs[0]));
  } else {
    void* unwanted = nullptr;
    TN_CUDA_TRY(borrow(call, uint64_t(layer.x.numel) * item_size(layer.x.dtype), &unwanted));
    dx.lend(unwanted);
  }
  TN_CUDA_TRY(find_wanted(call, 1, &dh));
  if (op.is_lstm()) TN_CUDA_TRY(find_wanted(call, 2, &dc));
  const RecurrentDescriptors& d = work.plan->d;
  {
    const std::lock_guard lock(work.plan->mutex);
    TN_CUDNN_CHECK(work.checks, cudnnRNNBackwardData_v8, work.handle, d.layer,
                   /*devSeqLengths=*/nullptr, d.y, in.y.data(), in.of_y.data(), d.x, dx.data(), d.h,
                   in.h.data(), in.of_h.data(), dh.data(), d.c, in.c.data(), in.of_c.data(),
                   dc.data(), sizes.weights, work.weights, sizes.workspace, work.workspace,
                   sizes.reserve, in.reserve);
  }
  TN_CUDA_TRY(work.checked());
  if (call->outputs[0]) TN_CUDA_TRY(dx.give_back(call, stream, layer, *call->outputs[0]));
  TN_CUDA_TRY(give_wanted(call, stream, layer, 1, dh));
  if (op.is_lstm()) TN_CUDA_TRY(give_wanted(call, stream, layer, 2, dc));
  if (!work.wants_weights()) return nullptr;
  void* gradients = nullptr;  // cuDNN adds to what is there
  TN_CUDA_TRY(borrow(call, sizes.weights, &gradients));
  TN_CUDA_CALL(stream.index, cuMemsetD8Async, address(gradients), 0, sizes.weights, stream.handle);
  {
    const std::lock_guard lock(work.plan->mutex);
    TN_CUDNN_CHECK(work.checks, cudnnRNNBackwardWeights_v8, work.handle, d.layer,
                   CUDNN_WGRAD_MODE_ADD, /*devSeqLengths=*/nullptr, d.x, in.x.data(), d.h,
                   in.h.data(), d.y, in.y.data(), sizes.weights, gradients, sizes.workspace,
                   work.workspace, sizes.reserve, in.reserve);
  }
  TN_CUDA_TRY(work.checked());
  return work.give_weights(gradients);
}

std::string refusal(const Op& op, const tn_call* call) {
  for (uint32_t i = 0; i < op.n_tensors(); ++i) {
    const tn_tensor* t = tensor_of(call->args[i]);
    if (t && t->numel == 0) return "cuDNN takes no empty tensors";
  }
  Layer layer(op, call->args);
  std::string why = layer.describe();
  if (!why.empty()) return why;
  return with_context(op.name, call->device.index, [&]() -> std::string {
    if (!why_no_recurrent().empty()) return why_no_recurrent();
    if (layer.r.type == CUDNN_DATA_BFLOAT16 && cudnn.cudnnGetVersion() < kFirstOfBfloat16)
      return "cuDNN 9.13 is needed for recurrent layers of bfloat16";
    cudnnHandle_t handle = nullptr;
    if (tn_status* status = find_cudnn(call->device.index, &handle)) return take_text(status);
    Checks checks;
    find_recurrent(call->device.index, handle, layer.r, &checks);
    return checks.why();
  });
}

// The reserve: bytes that only cuDNN understands.
tn_status* ask_private(const Op& op, const tn_call* call, tn_meta* reserve) {
  return guarded(op.name, call->device.index, [&]() -> tn_status* {
    Layer layer(op, call->args);
    layer.describe();
    cudnnHandle_t handle = nullptr;
    TN_CUDA_TRY(find_cudnn(call->device.index, &handle));
    Checks checks;
    const auto plan = find_recurrent(call->device.index, handle, layer.r, &checks);
    if (!plan) return failed(op, call->device.index, checks);
    reserve->ndim = 1;
    reserve->dtype = TN_UINT8;
    reserve->device = call->device;
    reserve->sizes[0] = static_cast<int64_t>(plan->training.reserve);
    return nullptr;
  });
}

// The rows have functions without a `self`: one of each for each op.
template <size_t k>
OpKernel row() {
  return {.op = kOps[k].name,
          .forward =
              [](const tn_call* call, const Stream& stream) {
                return compute(forward, kOps[k], call->args, call, stream);
              },
          .refusal = [](const tn_call* call) { return refusal(kOps[k], call); },
          .layout = TN_LAYOUT_CONTIGUOUS,
          .backward =
              [](const tn_call* call, const Stream& stream) {
                return compute(backward, kOps[k], call->args + kOps[k].n_outputs, call, stream);
              },
          .saves_args = (uint64_t{1} << kOps[k].n_tensors()) - 1,
          .saves_outputs = 1,
          .n_private = 1,
          .ask_private = [](const tn_call* call,
                            tn_meta* reserve) { return ask_private(kOps[k], call, reserve); }};
}

}  // namespace

std::span<const OpKernel> recurrent_kernels() {
  static const OpKernel kernels[] = {row<0>(), row<1>(), row<2>()};
  static_assert(std::size(kernels) == std::size(kOps));
  return kernels;
}

}  // namespace cuda
