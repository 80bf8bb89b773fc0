// Convolutions of one to three dimensions and the transposed ones in float32, with their gradients, on oneDNN,
// but for those of one filter for each channel (depthwise.h). A transposed convolution is the gradient of x of
// the plain one, whose y is its input; so each of its parts is another part of that.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <cstdio>

#include "cpu.h"
#include "dnnl/library.h"
#include "ops/depthwise.h"
#include "ops/images.h"
#include "ops/copy.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int kY = TENON_CPU_CONV_Y, kX = TENON_CPU_CONV_X, kWeight = TENON_CPU_CONV_WEIGHT;
constexpr int32_t kMaxRank = 5;

// An op: its name, the dimensions of its windows, and where its arguments stand.
struct Convolution {
  const char* op;
  int64_t n;
  bool transposed;
  uint32_t groups, dilation;  // the arguments' numbers
};
constexpr uint32_t kStride = 3, kPadding = 4;

constexpr Convolution kConvolutions[] = {
    {"conv1d", 1, false, 6, 5},          {"conv2d", 2, false, 6, 5},
    {"conv3d", 3, false, 6, 5},          {"conv_transpose1d", 1, true, 6, 7},
    {"conv_transpose2d", 2, true, 6, 7}, {"conv_transpose3d", 3, true, 6, 7},
};

// A tensor as oneDNN gets it: with a batch dimension and without strides of 0.
struct Shown {
  float* data = nullptr;
  int64_t sizes[kMaxRank], strides[kMaxRank];

  // `rank`: with the batch, which t may lack.
  void set(const tn_tensor& t, int64_t rank) {
    const int64_t missing = rank - t.ndim;
    data = static_cast<float*>(t.data);
    std::fill_n(sizes, missing, 1);
    std::copy_n(t.sizes, t.ndim, sizes + missing);
    std::copy_n(t.strides, t.ndim, strides + missing);
    for (int64_t d = rank - 1; d >= 0; --d) {
      if (sizes[d] == 1) {  // any stride: the one that a row-major tensor has
        strides[d] = d + 1 == rank ? 1 : sizes[d + 1] * strides[d + 1];
      }
    }
  }
  void make_row_major(int64_t rank) {
    int64_t step = 1;
    for (int64_t d = rank - 1; d >= 0; --d) {
      strides[d] = step;
      step *= sizes[d];
    }
  }
  bool is_row_major(int64_t rank) const {
    int64_t step = 1;
    for (int64_t d = rank - 1; d >= 0; --d) {
      if (strides[d] != step) {
        return false;
      }
      step *= sizes[d];
    }
    return true;
  }
  // No two elements are one: neither expanded nor overlapping.
  bool is_plain(int64_t rank) const {
    int64_t order[kMaxRank];  // of dimensions, by strides
    for (int64_t i = 0; i < rank; ++i) {
      int64_t at = i;
      for (; at > 0 && strides[order[at - 1]] > strides[i]; --at) {
        order[at] = order[at - 1];
      }
      order[at] = i;
    }
    int64_t reach = 1;
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t d = order[i];
      if (sizes[d] > 1 && strides[d] < reach) {
        return false;
      }
      reach = std::max(reach, strides[d] * sizes[d]);
    }
    return true;
  }
};

// One call. x, y and weight are those of the plain convolution.
struct Problem {
  const Convolution& op;
  const int64_t rank;
  tenon_cpu_dnnl_convolution p = {};
  Shown shown[3];

  explicit Problem(const Convolution& o) : op(o), rank(o.n + 2) {}
  int input() const { return op.transposed ? kY : kX; }
  int output() const { return op.transposed ? kX : kY; }

  // An option that is given once or for each dimension.
  bool read(const tn_value& option, int64_t least, int64_t* values) const {
    if (option.kind != TN_KIND_INTS || (option.count != 1 && option.count != op.n)) {
      return false;
    }
    for (int64_t d = 0; d < op.n; ++d) {
      values[d] = option.as.ints[option.count == 1 ? 0 : d];
      if (values[d] < least || values[d] > INT32_MAX) {
        return false;
      }
    }
    return true;
  }
  bool read_options(const tn_value* args) {
    p.n = op.n;
    p.groups = args[op.groups].as.i;
    return p.groups >= 1 && p.groups <= INT32_MAX && read(args[kStride], 1, p.stride) &&
           read(args[kPadding], 0, p.padding) && read(args[op.dilation], 1, p.dilation);
  }
  void finish() {
    p.batch = shown[kX].sizes[0];
    p.in = shown[kX].sizes[1];
    p.out = shown[kY].sizes[1];
    std::copy_n(shown[kX].sizes + 2, op.n, p.x_sizes);
    std::copy_n(shown[kY].sizes + 2, op.n, p.y_sizes);
    std::copy_n(shown[kWeight].sizes + 2, op.n, p.kernel);
    for (int i = 0; i < 3; ++i) {
      std::copy_n(shown[i].strides, rank, p.strides[i]);
    }
  }
  // One filter for each channel, of one or two dimensions, that moves by one element over planes of x that lie
  // row-major, where that is worth a kernel of its own. `c` is what it comes to.
  bool is_depthwise(Depthwise* c, bool backward = false) const {
    const bool fits = !op.transposed && op.n <= 2 && p.groups == p.in && p.in == p.out &&
                      p.groups > 1 && p.stride[0] == 1 && p.stride[op.n - 1] == 1 &&
                      shown[kX].is_row_major(rank);
    c->batch = p.batch;
    c->channels = p.in;
    for (int64_t d = 0, to = 2 - op.n; fits && d < op.n; ++d, ++to) {
      c->size[to] = p.x_sizes[d];
      c->kernel[to] = p.kernel[d];
      c->dilation[to] = p.dilation[d];
      c->padding[to] = p.padding[d];
    }
    return fits && c->is_worth_it(backward);
  }
};

// Shows a tensor that is read; one that is expanded is copied, or any that is not row-major.
void show(const tn_call* call, const tn_tensor& t, int64_t rank, Shown* shown,
          bool row_major = false) {
  shown->set(t, rank);
  if (t.numel == 0 || (row_major ? shown->is_row_major(rank) : shown->is_plain(rank))) {
    return;
  }
  void* const memory = Call(call).workspace(static_cast<uint64_t>(t.numel) * sizeof(float));
  shown->make_row_major(rank);
  shown->data = static_cast<float*>(memory);
  tn_tensor copy = t;
  copy.data = memory;
  copy.strides = shown->strides + (rank - t.ndim);
  return run_copy(call->host, copy, t);
}

// `bias`: [out] or NULL.
void run(const tn_call* call, Problem& problem, int result, float* bias) {
  problem.p.result = result;
  problem.p.has_bias = bias ? 1 : 0;
  const tenon_cpu_dnnl* dnnl = dnnl_library(call->host);
  if (!dnnl) {  // it was there when `supports` asked
    throw std::bad_alloc();
  }
  const tenon_cpu_dnnl_threads threads = dnnl_threads(call->host);
  const int64_t bytes = dnnl->convolution_workspace(&problem.p, threads.count);
  void* scratch = nullptr;
  int64_t failed = -bytes;
  if (bytes >= 0) {
    scratch = Call(call).workspace(static_cast<uint64_t>(bytes));
    const tenon_cpu_dnnl_data data = {
        {problem.shown[kY].data, problem.shown[kX].data, problem.shown[kWeight].data}, bias};
    failed = dnnl->convolution(&problem.p, &data, scratch, &threads);
    if (failed == 0) {
      return;
    }
  }
  if (failed == TENON_CPU_DNNL_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  check(error(call->host, TN_INTERNAL, "%s: oneDNN %s failed", problem.op.op, dnnl->version));
}

// y[i, c, ..] += bias[c], y row-major.
void add_bias(const tn_host* host, const Shown& y, int64_t places, const float* bias) {
  parallel_for(host, 0, y.sizes[0] * y.sizes[1], 1 + (1 << 15) / places,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   float* const row = y.data + i * places;
                   const float b = bias[i % y.sizes[1]];
                   for (int64_t j = 0; j < places; ++j) {
                     row[j] += b;
                   }
                 }
               });
}

// bias[c] = sum of g[:, c, ..], g row-major.
void sum_to_bias(const tn_host* host, const Shown& g, int64_t places, float* bias) {
  constexpr int64_t kFold = 2048;  // what a fold takes at once
  parallel_for(host, 0, g.sizes[1], 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      double sum = 0;
      for (int64_t i = 0; i < g.sizes[0]; ++i) {
        const float* const row = g.data + (i * g.sizes[1] + c) * places;
        for (int64_t j = 0; j < places; j += kFold) {
          sum += table().folds_f32.fold[TN_REDUCE_SUM](row + j, std::min(kFold, places - j));
        }
      }
      bias[c] = static_cast<float>(sum);
    }
  });
}

void launch_forward(const Convolution& convolution, const tn_call* call) {
  Problem problem(convolution);
  const tn_tensor& output = *call->outputs[0];
  if (output.numel == 0) {
    return;
  }
  problem.read_options(call->args);
  Shown& y = problem.shown[problem.output()];
  show(call, *call->args[0].as.tensor, problem.rank, &problem.shown[problem.input()]);
  show(call, *call->args[1].as.tensor, problem.rank, &problem.shown[kWeight]);
  y.set(output, problem.rank);
  Shown bias;
  if (const tn_tensor* b = tensor_of(call->args[2])) {
    show(call, *b, 1, &bias, true);
  }
  problem.finish();
  Depthwise depthwise;
  if (problem.is_depthwise(&depthwise)) {
    show(call, *call->args[1].as.tensor, problem.rank, &problem.shown[kWeight], true);
    return depthwise_y(call, depthwise, problem.shown[kX].data, problem.shown[kWeight].data,
                       bias.data, y.data);
  }
  if (!problem.op.transposed) {
    return run(call, problem, kY, bias.data);
  }
  run(call, problem, kX, nullptr);
  if (bias.data) {
    add_bias(call->host, y, product(y.sizes + 2, static_cast<int32_t>(problem.op.n)), bias.data);
  }
}

// f(elements) writes t row-major, wherever its elements lie.
template <typename F>
void write_row_major(const tn_call* call, const tn_tensor& t, const F& f) {
  if ((t.flags & TN_TENSOR_CONTIGUOUS) != 0) {
    return f(static_cast<float*>(t.data));
  }
  Shown shown;
  shown.set(t, t.ndim);
  shown.make_row_major(t.ndim);
  tn_tensor from = t;
  from.data = Call(call).workspace(static_cast<uint64_t>(t.numel) * sizeof(float));
  from.strides = shown.strides;
  f(static_cast<float*>(from.data));
  return run_copy(call->host, t, from);
}

void launch_depthwise_backward(const tn_call* call, const Depthwise& c, Problem& problem) {
  tn_tensor* const* const wanted = call->outputs;
  Shown* const shown = problem.shown;
  show(call, *tensor_of(call->args[0]), problem.rank, &shown[kY], true);
  show(call, *call->args[2].as.tensor, problem.rank, &shown[kWeight], true);
  if (wanted[0]) {
    write_row_major(call, *wanted[0], [&](float* dx) {
      depthwise_dx(call, c, shown[kY].data, shown[kWeight].data, dx);
    });
  }
  if (wanted[1]) {
    write_row_major(call, *wanted[1],
                    [&](float* dw) { depthwise_dw(call, c, shown[kY].data, shown[kX].data, dw); });
  }
  if (wanted[2]) {
    sum_to_bias(call->host, shown[kY], c.out(0) * c.out(1), static_cast<float*>(wanted[2]->data));
  }
}

// args: the gradient of the output, then the forward's.
void launch_backward(const Convolution& convolution, const tn_call* call) {
  Problem problem(convolution);
  tn_tensor* const* const wanted = call->outputs;  // gradients of x, weight and bias
  const tn_tensor* const g = tensor_of(call->args[0]);
  const tn_tensor& x = *call->args[1].as.tensor;
  const tn_tensor& weight = *call->args[2].as.tensor;
  if (!g || g->numel == 0 || x.numel == 0) {
    for (uint32_t i = 0; i < 3; ++i) {
      if (wanted[i] && wanted[i]->numel > 0) {
        std::memset(wanted[i]->data, 0, static_cast<size_t>(wanted[i]->numel) * sizeof(float));
      }
    }
    return;
  }
  problem.read_options(call->args + 1);
  Shown* const shown = problem.shown;
  const bool sums = wanted[2] && (problem.op.transposed || !wanted[1]);
  show(call, *g, problem.rank, &shown[problem.output()], sums);
  show(call, x, problem.rank, &shown[problem.input()]);
  show(call, weight, problem.rank, &shown[kWeight]);
  const auto with = [&](int part, const tn_tensor& t) {
    Problem changed = problem;
    changed.shown[part].set(t, problem.rank);
    changed.finish();
    return changed;
  };
  float* const bias = wanted[2] ? static_cast<float*>(wanted[2]->data) : nullptr;
  problem.finish();
  Depthwise depthwise;
  if (problem.is_depthwise(&depthwise, true)) {
    return launch_depthwise_backward(call, depthwise, problem);
  }
  if (wanted[0]) {
    Problem of_input = with(problem.input(), *wanted[0]);
    run(call, of_input, problem.input(), nullptr);
  }
  if (wanted[1]) {
    Problem of_weight = with(kWeight, *wanted[1]);
    run(call, of_weight, kWeight, problem.op.transposed ? nullptr : bias);
  }
  if (sums) {
    Shown& output = shown[problem.output()];
    const int64_t places = product(output.sizes + 2, static_cast<int32_t>(problem.op.n));
    sum_to_bias(call->host, output, places, bias);
  }
}

// The output as the op inferred it, row-major; false where a size is beyond what oneDNN counts with.
bool show_output(Problem& problem, const tn_meta& meta) {
  Shown& out = problem.shown[problem.output()];
  const int64_t missing = problem.rank - meta.ndim;
  std::fill_n(out.sizes, missing, 1);
  std::copy_n(meta.sizes, meta.ndim, out.sizes + missing);
  out.make_row_major(problem.rank);
  const auto is_short = [](int64_t size) { return size <= INT32_MAX; };
  return is_countable(out.sizes, static_cast<int32_t>(problem.rank)) &&
         std::ranges::all_of(problem.shown, [&](const Shown& shown) {
           return std::all_of(shown.sizes, shown.sizes + problem.rank, is_short);
         });
}

bool supports(const Convolution& convolution, const tn_call* call, Refusal why) {
  Problem problem(convolution);
  const tn_tensor& x = *call->args[0].as.tensor;
  const tn_tensor& weight = *call->args[1].as.tensor;
  const tn_tensor* bias = tensor_of(call->args[2]);
  const int64_t rank = problem.rank;
  if ((x.ndim != rank && x.ndim != rank - 1) || weight.ndim != rank ||
      !problem.read_options(call->args)) {
    return why("the arguments do not fit together");
  }
  Shown* const shown = problem.shown;
  shown[problem.input()].set(x, rank);
  shown[kWeight].set(weight, rank);
  if (weight.numel == 0 || x.numel == 0) {
    return why("oneDNN takes no empty tensors");
  }
  if (!call->metas || !show_output(problem, call->metas[0])) {
    return why("its sizes are beyond what oneDNN counts with");
  }
  for (const int part : {problem.input(), static_cast<int>(kWeight)}) {
    if (!shown[part].is_plain(rank)) {
      shown[part].make_row_major(rank);
    }
  }
  problem.finish();
  if (Depthwise depthwise; problem.is_depthwise(&depthwise)) {
    return true;
  }
  const tenon_cpu_dnnl* dnnl = dnnl_library(call->host);
  if (!dnnl) {
    return why("oneDNN is not there");
  }
  problem.p.result = problem.output();
  problem.p.has_bias = bias && !problem.op.transposed ? 1 : 0;
  // Where memory is exhausted it may take it: the launch says so.
  if (dnnl->convolution_workspace(&problem.p, 1) == -TENON_CPU_DNNL_REFUSED) {
    return why("oneDNN %s does not take it", dnnl->version);
  }
  return true;
}

}  // namespace

void add_conv() {
  for (const Convolution& convolution : kConvolutions) {
    kernel(convolution.op, "cpu", {.dtypes = float32, .traits = kUsualPromises}, fn<launch_forward>,
           &convolution)
        .supports(fn<supports>)
        .order(convolution.transposed ? nullptr : image_order)  // add_bias takes row-major ones
        .backward(fn<launch_backward>, {.saves_args = 0b11});
  }
}

}  // namespace tenon::cpu_backend
