// Attention of halves by cuDNN, with its gradients. cuDNN compiles a kernel for each shape, which takes
// about a second; so it gets what a training repeats, and queries that grow one by one go elsewhere.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention_graph.h"
#include "cudnn_plans.h"
#include "lent.h"

namespace cuda {
namespace {

constexpr const char* kName = "_attention";
constexpr int64_t kLeastQueries = 64;
constexpr int64_t kMostElements = 128;  // of a query, and of a value
// Before it the gradient was wrong where keys are no multiple of 128, and 9.10 and 9.14 had more.
constexpr size_t kLeastVersion = 91600;
constexpr int64_t kRow = kGraphAlignment / 2;  // elements that begin at an address it takes

// Do the heads of one query lie beside each other, [.., n, heads, e] in memory?
bool has_heads_inside(const tn_tensor& t) {
  const int32_t d = t.ndim;
  return d >= 3 && t.sizes[d - 3] > 1 && t.sizes[d - 2] > 1 && t.strides[d - 3] < t.strides[d - 2];
}

// Dense strides in one of the two orders.
void set_dense(int32_t ndim, const int64_t* sizes, bool has_heads_inside, int64_t* strides) {
  int32_t order[4] = {0, 1, 2, 3};
  if (has_heads_inside) std::swap(order[ndim - 3], order[ndim - 2]);
  int64_t step = 1;
  for (int32_t k = ndim - 1; k >= 0; --k) {
    strides[order[k]] = step;
    step *= sizes[order[k]];
  }
}

// As cuDNN reads it: where it lies, if rows are dense and begin at addresses that it takes; else in
// the order in which it lies.
void set_readable(const tn_tensor& t, int64_t* strides) {
  bool fits =
      reinterpret_cast<uint64_t>(t.data) % kGraphAlignment == 0 && t.strides[t.ndim - 1] == 1;
  for (int32_t d = 0; d < t.ndim - 1; ++d)
    fits = fits && (t.sizes[d] == 1 || (t.strides[d] > 0 && t.strides[d] % kRow == 0));
  set_dense(t.ndim, t.sizes, has_heads_inside(t), strides);
  if (fits) std::copy_n(t.strides, t.ndim, strides);
}

// The strides with the dimensions in front that a tensor lacks; along a size of 1 any will do.
void widen(const tn_tensor& t, const int64_t* strides, int64_t* wide) {
  int64_t reach = 1;
  for (int32_t d = 3; d >= 0; --d) {
    const int32_t own = d - (4 - t.ndim);
    const int64_t size = own < 0 ? 1 : t.sizes[own];
    wide[d] = size == 1 ? reach : strides[own];
    reach = std::max(reach, wide[d] * size);
  }
}

// A call: its arguments are those of the forward.
struct Problem {
  const tn_tensor &query, &key, &value;
  Attention a = {};
  float scale, never = std::numeric_limits<float>::lowest(), one = 1;
  int64_t read[3][4];       // strides of query, key and value as they are read
  int64_t y[4];             // of y and its gradient
  int64_t gradients[3][4];  // of those of query, key and value

  explicit Problem(const tn_value* args)
      : query(*args[0].as.tensor), key(*args[1].as.tensor), value(*args[2].as.tensor) {
    const int32_t d = query.ndim;
    a.dtype = query.dtype;
    a.is_causal = args[4].as.i;
    a.batch = d == 4 ? query.sizes[0] : 1;
    a.heads = d >= 3 ? query.sizes[d - 3] : 1;
    a.key_heads = d >= 3 ? key.sizes[d - 3] : 1;
    a.n = query.sizes[d - 2];
    a.e = query.sizes[d - 1];
    a.m = key.sizes[d - 2];
    a.v = value.sizes[d - 1];
    scale = static_cast<float>(
        args[5].kind == TN_KIND_FLOAT ? args[5].as.f : 1 / std::sqrt(static_cast<double>(a.e)));
    const tn_tensor* const tensors[] = {&query, &key, &value};
    int64_t* const wide[] = {a.query, a.key, a.value};
    for (int k = 0; k < 3; ++k) {
      set_readable(*tensors[k], read[k]);
      widen(*tensors[k], read[k], wide[k]);
      set_dense(d, tensors[k]->sizes, has_heads_inside(*tensors[k]), gradients[k]);
    }
    int64_t sizes[4];
    std::copy_n(query.sizes, d, sizes);
    sizes[d - 1] = a.v;
    set_dense(d, sizes, has_heads_inside(query), y);
    tn_tensor like = query;
    like.sizes = sizes;
    widen(like, y, a.y);
  }
  void turn_back() {
    a.is_backward = 1;
    widen(query, gradients[0], a.query_gradient);
    widen(key, gradients[1], a.key_gradient);
    widen(value, gradients[2], a.value_gradient);
  }
  std::shared_ptr<Plan> find(int32_t index, std::string* why) const {
    return find_plan(
        index, a.bytes(),
        [&](const Target& target, Search* search) { return plan_attention(a, target, search); },
        why);
  }
};

tn_status* execute_plan(const tn_call* call, const Stream& stream, const Problem& problem,
                        GraphData& data) {
  std::string why;
  const std::shared_ptr<Plan> plan = problem.find(stream.index, &why);
  if (!plan)
    return error(host, TN_UNSUPPORTED, "%s: %s (%s:%d)", kName, why.c_str(), kDeviceName,
                 stream.index);
  data.add(Attention::kScale, &problem.scale);
  if (problem.a.is_causal) data.add(Attention::kNever, &problem.never);
  return execute(call, stream, kName, plan, data);
}

// query, key and value, which stay until the call is done.
struct Inputs {
  Lent lent[3];

  tn_status* read(const tn_call* call, const Stream& stream, const Problem& p, GraphData& data) {
    const tn_tensor* const tensors[] = {&p.query, &p.key, &p.value};
    for (int k = 0; k < 3; ++k) {
      TN_CUDA_TRY(lent[k].read(call, stream, *tensors[k], p.read[k], kGraphAlignment));
      data.add(Attention::kQuery + k, lent[k].data());
    }
    return nullptr;
  }
};

tn_status* forward(const tn_call* call, const Stream& stream) {
  tn_tensor& y = *call->outputs[0];
  Problem problem(call->args);
  // Where nobody keeps them they go to the workspace: so there is one kernel, and y has the same bits.
  const tn_tensor* kept = call->n_outputs > 1 ? call->outputs[1] : nullptr;
  void* stats = kept ? kept->data : nullptr;
  const Attention& a = problem.a;
  if (!kept)
    TN_CUDA_TRY(host->workspace(
        call, static_cast<uint64_t>(a.batch * a.heads * a.n) * sizeof(float), &stats));
  GraphData data;
  Inputs inputs;
  TN_CUDA_TRY(inputs.read(call, stream, problem, data));
  Lent result;
  TN_CUDA_TRY(result.find(call, y, problem.y, kGraphAlignment));
  data.add(Attention::kY, result.data());
  data.add(Attention::kStats, stats);
  TN_CUDA_TRY(execute_plan(call, stream, problem, data));
  return result.give_back(call, stream, y);
}

// args: the gradient of y, the forward's, y, the log-sum-exp. cuDNN gives all three gradients; those
// that are not wanted are left in the workspace.
tn_status* backward(const tn_call* call, const Stream& stream) {
  const tn_tensor* g = tensor_of(call->args[0]);
  if (!g) return clear_outputs(call, stream);
  Problem problem(call->args + 1);
  problem.turn_back();
  GraphData data;
  Inputs inputs;
  TN_CUDA_TRY(inputs.read(call, stream, problem, data));
  Lent of_g, y;
  TN_CUDA_TRY(of_g.read(call, stream, *g, problem.y, kGraphAlignment));
  TN_CUDA_TRY(y.read(call, stream, *call->args[8].as.tensor, problem.y, kGraphAlignment));
  data.add(Attention::kGradient, of_g.data());
  data.add(Attention::kY, y.data());
  data.add(Attention::kStats, call->args[9].as.tensor->data);
  data.add(Attention::kOne, &problem.one);
  const tn_tensor* const of[] = {&problem.query, &problem.key, &problem.value};
  Lent gradients[3];
  for (int k = 0; k < 3; ++k) {
    void* unwanted = nullptr;
    if (call->outputs[k]) {
      TN_CUDA_TRY(
          gradients[k].find(call, *call->outputs[k], problem.gradients[k], kGraphAlignment));
    } else {
      TN_CUDA_TRY(host->workspace(call, static_cast<uint64_t>(of[k]->numel) * 2, &unwanted));
    }
    data.add(Attention::kQueryGradient + k, unwanted ? unwanted : gradients[k].data());
  }
  TN_CUDA_TRY(execute_plan(call, stream, problem, data));
  for (int k = 0; k < 3; ++k) {
    if (call->outputs[k]) TN_CUDA_TRY(gradients[k].give_back(call, stream, *call->outputs[k]));
  }
  return nullptr;
}

// What cuDNN takes of the sizes.
std::string refusal_of_sizes(const tn_tensor& q, const tn_tensor& k, const tn_tensor& v,
                             bool is_grouped) {
  const int32_t d = q.ndim;
  if (d > 4 || k.ndim != d || v.ndim != d) return "takes query, key and value of equal ranks to 4";
  for (int32_t i = 0; i < d - 2; ++i) {
    const bool fits =
        is_grouped && i == d - 3 ? q.sizes[i] % k.sizes[i] == 0 : q.sizes[i] == k.sizes[i];
    if (!fits || k.sizes[i] != v.sizes[i])
      return "takes query, key and value of equal leading dimensions";
  }
  if (q.sizes[d - 2] < kLeastQueries)
    return "cuDNN compiles a kernel for each shape, and few queries do not repay it";
  for (const tn_tensor* t : {&q, &k, &v}) {
    if (t->sizes[d - 1] % 8 != 0 || t->sizes[d - 1] > kMostElements)
      return "cuDNN takes queries and values of a multiple of 8 elements, to 128";
  }
  return "";
}

std::string refusal(const tn_call* call) {
  const tn_tensor& q = *call->args[0].as.tensor;
  const tn_tensor& k = *call->args[1].as.tensor;
  const tn_tensor& v = *call->args[2].as.tensor;
  if (tensor_of(call->args[3])) return "takes no attn_mask";
  if (q.numel == 0 || k.numel == 0 || v.numel == 0) return "cuDNN takes no empty tensors";
  std::string why = refusal_of_sizes(q, k, v, call->args[6].as.i != 0);
  if (!why.empty()) return why;
  return with_context(kName, call->device.index, [&]() -> std::string {
    if (!why_no_cudnn().empty()) return why_no_cudnn();
    if (cudnn.cudnnGetVersion() < kLeastVersion) return "cuDNN 9.16 is needed for attention";
    Problem problem(call->args);
    const bool has_gradient = ((q.flags | k.flags | v.flags) & TN_TENSOR_REQUIRES_GRAD) != 0;
    if (!problem.find(call->device.index, &why)) return why;
    if (!has_gradient) return "";
    problem.turn_back();
    return problem.find(call->device.index, &why) ? "" : "of its gradient: " + why;
  });
}

void infer_private(const tn_call* call, tn_meta* stats) {
  const tn_tensor& query = *call->args[0].as.tensor;
  stats->ndim = query.ndim - 1;
  stats->dtype = TN_FLOAT32;
  stats->device = query.device;
  std::copy_n(query.sizes, query.ndim - 1, stats->sizes);
}

// The output lies as query.
void order(void*, const tn_call* call, uint32_t, const tn_meta* meta, int32_t* order) {
  const tn_tensor& query = *call->args[0].as.tensor;
  if (query.ndim == meta->ndim && has_heads_inside(query))
    std::swap(order[meta->ndim - 3], order[meta->ndim - 2]);
}

}  // namespace

std::span<const OpKernel> attention_kernels_of_cudnn() {
  static constexpr OpKernel kKernels[] = {
      {.op = kName,
       .forward = forward,
       .refusal = refusal,
       .dtypes = TN_DTYPE_BIT(TN_FLOAT16) | TN_DTYPE_BIT(TN_BFLOAT16),
       .priority = 1,
       .order = order,
       .backward = backward,
       .saves_args = 0b111,
       .saves_outputs = 1,
       .n_private = 1,
       .infer_private = infer_private}};
  return kKernels;
}

}  // namespace cuda
