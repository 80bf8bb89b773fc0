// Convolutions of one to three dimensions and the transposed ones, with their gradients, by cuDNN. A
// transposed convolution is the gradient of x of the plain one, whose y is its input; so each of its
// parts is another part of that. All tensors of a call lie in one layout, channels-last where the
// input does and else row-major; what lies otherwise is copied.
#include "convolution_graph.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cudnn_plans.h"
#include "lent.h"
#include "program_text.h"

namespace cuda {
namespace {

using Part = Convolution::Part;

// An op: its name, the dimensions of its windows, and where its arguments stand.
struct Op {
  const char* name;
  int32_t n;
  bool is_transposed;
  uint32_t groups, dilation;

  Part input() const { return is_transposed ? Convolution::kY : Convolution::kX; }
  Part output() const { return is_transposed ? Convolution::kX : Convolution::kY; }
};
constexpr uint32_t kStride = 3, kPadding = 4;
constexpr Op kOps[] = {{"conv1d", 1, false, 6, 5},          {"conv2d", 2, false, 6, 5},
                       {"conv3d", 3, false, 6, 5},          {"conv_transpose1d", 1, true, 6, 7},
                       {"conv_transpose2d", 2, true, 6, 7}, {"conv_transpose3d", 3, true, 6, 7}};

// Do the dimensions in that order, the innermost first, lie behind each other without gaps?
template <size_t n>
bool lies(const tn_tensor& t, const int32_t (&order)[n], int32_t count) {
  int64_t step = 1;
  for (int32_t k = 0; k < count; ++k) {
    const int32_t d = order[k];
    if (t.sizes[d] != 1 && t.strides[d] != step) return false;
    step *= t.sizes[d];
  }
  return true;
}

// [n, channels, ..] with the channels innermost, and not row-major as well. Those of float64 do not
// count: cuDNN's engines for them turn everything around in their workspace.
bool is_channels_last(const tn_tensor& t) {
  if (t.dtype == TN_FLOAT64 || t.ndim < 3 || t.ndim > Convolution::kMostDims ||
      (t.flags & TN_TENSOR_CONTIGUOUS) != 0)
    return false;
  int32_t order[Convolution::kMostDims] = {1};
  for (int32_t k = 1; k < t.ndim - 1; ++k) order[k] = t.ndim - k;
  order[t.ndim - 1] = 0;
  return lies(t, order, t.ndim);
}

// A call as cuDNN sees it.
struct Problem {
  const Op& op;
  Convolution c = {};
  bool has_batch = true;

  explicit Problem(const Op& o) : op(o) {}

  // The convolution's dimension of dimension d of a tensor. A window of one dimension has one of size
  // 1 in front; a tensor without a batch has one image.
  int32_t dim_of(Part part, int32_t d) const {
    const int32_t at = d + (part == Convolution::kWeight || has_batch ? 0 : 1);
    return op.n == 1 && at >= 2 ? at + 1 : at;
  }
  int32_t ndim(Part part) const {
    return op.n + 2 - (part == Convolution::kWeight || has_batch ? 0 : 1);
  }
  int64_t* sizes(Part part) { return const_cast<int64_t*>(c.sizes(part)); }
  void set_sizes(Part part, const int64_t* from) {
    std::fill_n(sizes(part), Convolution::kMostDims, 0);
    std::fill_n(sizes(part), c.n + 2, 1);
    for (int32_t d = 0; d < ndim(part); ++d) sizes(part)[dim_of(part, d)] = from[d];
  }
  // The strides that a tensor has in the layout of the call.
  void layout(Part part, int64_t* strides) const {
    int64_t all[Convolution::kMostDims];
    c.strides(part, all);
    for (int32_t d = 0; d < ndim(part); ++d) strides[d] = all[dim_of(part, d)];
  }

  // An option that is given once or for each dimension.
  bool read(const tn_value& option, int64_t of_first, int64_t* values) const {
    if (option.kind != TN_KIND_INTS || (option.count != 1 && option.count != uint32_t(op.n)))
      return false;
    values[0] = of_first;
    for (int32_t d = 0; d < op.n; ++d)
      values[op.n == 1 ? 1 : d] = option.as.ints[option.count == 1 ? 0 : d];
    return true;
  }
  // False: the arguments are of another form. `output`: the sizes of the op's output.
  bool describe(const tn_value* args, const int64_t* output, int32_t output_ndim) {
    const tn_tensor &input = *args[0].as.tensor, &weight = *args[1].as.tensor;
    has_batch = input.ndim == op.n + 2;
    c.n = std::max(op.n, 2);
    if (input.ndim != ndim(op.input()) || output_ndim != input.ndim || weight.ndim != op.n + 2 ||
        !read(args[kStride], 1, c.stride) || !read(args[kPadding], 0, c.padding) ||
        !read(args[op.dilation], 1, c.dilation))
      return false;
    c.dtype = input.dtype;
    c.is_exact = input.dtype == TN_FLOAT32 && !is_tf32_allowed();
    c.channels_last = has_batch && is_channels_last(input);
    set_sizes(op.input(), input.sizes);
    set_sizes(op.output(), output);
    set_sizes(Convolution::kWeight, weight.sizes);
    return true;
  }
};

std::shared_ptr<Plan> find(int32_t index, Problem& problem, Part result, bool has_bias,
                           std::string* why) {
  problem.c.result = result;
  problem.c.has_bias = has_bias;
  return find_plan(
      index, problem.c.key(),
      [&](const Target& target, Search* search) {
        return plan_convolution(problem.c, target, search);
      },
      why);
}

// The plan of the op's output. `adds`: it adds the bias, too; else add_bias does, but for halves,
// which would be rounded twice.
std::shared_ptr<Plan> find_forward(int32_t index, Problem& problem, bool has_bias, bool* adds,
                                   std::string* why) {
  const int64_t dtype = problem.c.dtype;
  *adds = has_bias && !problem.op.is_transposed && dtype != TN_FLOAT64;
  if (*adds) {
    if (auto plan = find(index, problem, problem.op.output(), true, why)) return plan;
    *adds = false;
  }
  if (has_bias && (dtype == TN_FLOAT16 || dtype == TN_BFLOAT16)) {
    *why = "cuDNN does not add its bias before it rounds";
    return nullptr;
  }
  return find(index, problem, problem.op.output(), false, why);
}

// The three tensors of a call by their parts, in its layout.
struct Tensors {
  Lent lent[4];
  Lent& operator[](Part part) { return lent[part]; }

  tn_status* find(const tn_call* call, const Problem& problem, Part part, const tn_tensor& t) {
    int64_t strides[Convolution::kMostDims];
    problem.layout(part, strides);
    return lent[part].find(call, t, strides, kGraphAlignment);
  }
  tn_status* read(const tn_call* call, const Stream& stream, const Problem& problem, Part part,
                  const tn_tensor& t) {
    int64_t strides[Convolution::kMostDims];
    problem.layout(part, strides);
    return lent[part].read(call, stream, t, strides, kGraphAlignment);
  }
};

tn_status* no_plan(const Problem& problem, int32_t index, const std::string& why) {
  return error(host, TN_UNSUPPORTED, "%s: %s (%s:%d)", problem.op.name, why.c_str(), kDeviceName,
               index);
}

tn_status* compute(const tn_call* call, const Stream& stream, const Problem& problem,
                   const std::shared_ptr<Plan>& plan, Tensors& tensors,
                   const void* bias = nullptr) {
  const void *x = tensors[Convolution::kX].data(), *y = tensors[Convolution::kY].data();
  const void* weight = tensors[Convolution::kWeight].data();
  GraphData data;
  data.add(Convolution::kX, x);
  data.add(Convolution::kWeight, weight);
  data.add(Convolution::kY, y);
  if (bias) data.add(Convolution::kBias, bias);
  return execute(call, stream, problem.op.name, plan, data);
}

// The gradient of the input or of the weight; the others of `tensors` are there.
tn_status* compute_gradient(const tn_call* call, const Stream& stream, Problem& problem,
                            Part result, Tensors& tensors, tn_tensor& wanted) {
  std::string why;
  const std::shared_ptr<Plan> plan = find(stream.index, problem, result, false, &why);
  if (!plan) return no_plan(problem, stream.index, why);
  TN_CUDA_TRY(tensors.find(call, problem, result, wanted));
  TN_CUDA_TRY(compute(call, stream, problem, plan, tensors));
  return tensors[result].give_back(call, stream, wanted);
}

// The channels of the op's output, and how many elements of one lie behind each other.
struct Channels {
  int64_t n, channels, inner;

  explicit Channels(const Problem& problem) {
    const int64_t* sizes = problem.c.sizes(problem.op.output());
    inner = problem.c.channels_last ? 1 : sizes[2] * sizes[3] * (problem.c.n == 3 ? sizes[4] : 1);
    channels = sizes[1];
    n = sizes[0] * channels * sizes[2] * sizes[3] * (problem.c.n == 3 ? sizes[4] : 1);
  }
};

// y[.., c, ..] += bias[c], y in the layout of the call.
tn_status* add_bias(const Stream& stream, const Problem& problem, void* y, const void* bias) {
  const Channels c(problem);
  const auto dtype = static_cast<tn_dtype>(problem.c.dtype);
  const auto size = static_cast<int64_t>(item_size(dtype));
  const int64_t innermost = problem.c.channels_last ? c.channels : c.inner;
  const int64_t pack = innermost % (16 / size) == 0 ? 16 / size : 1;
  const bool is_wide = c.n > int64_t{1} << 30;
  const bool is_last = problem.c.channels_last != 0;
  static constinit Texts texts;
  Text& text = texts.get(TextKey(dtype, pack, is_wide, is_last), [&] {
    return std::string("#include \"base.cuh\"\nusing Element = ") + element_name(dtype) +
           ";\nusing Index = " + (is_wide ? "long long" : "int") +
           ";\nconstexpr int kPack = " + std::to_string(pack) +
           ";\nconstexpr bool kLast = " + (is_last ? "true" : "false") +
           ";\n#include \"convolution.cuh\"\n";
  });
  Parameters parameters;
  parameters.add(y);
  parameters.add(bias);
  for (const int64_t number : {c.n, c.channels, c.inner}) parameters.add_index(number, is_wide);
  return launch(stream, text, "add_bias", grid_for(c.n / pack), parameters);
}

// The gradient of the bias: the sums of g, which lies in the layout of the call.
tn_status* sum_to_bias(const tn_call* call, const Stream& stream, const Problem& problem, void* g,
                       const tn_tensor& bias) {
  const Channels c(problem);
  const int64_t images = c.n / c.channels / c.inner;
  // Channels, then what is summed.
  const int64_t sizes[] = {c.channels, images, c.inner};
  const int64_t row_major[] = {c.inner, c.inner * c.channels, 1}, last[] = {1, c.channels, 1};
  const int64_t of_bias[] = {1, 0, 0};
  tn_operand operands[2] = {};
  operands[0].data = bias.data;
  operands[0].strides = of_bias;
  operands[1].data = g;
  operands[1].strides = problem.c.channels_last ? last : row_major;
  for (tn_operand& operand : operands) operand.dtype = bias.dtype;
  tn_reduction reduction = {};
  reduction.size = sizeof reduction;
  reduction.kind = TN_REDUCE_SUM;
  reduction.accumulate = bias.dtype == TN_FLOAT64 ? TN_FLOAT64 : TN_FLOAT32;
  reduction.ndim = problem.c.channels_last ? 2 : 3;
  reduction.n_reduced = reduction.ndim - 1;
  reduction.n_kept = c.channels;
  reduction.sizes = sizes;
  reduction.operands = operands;
  return reduce_as_part(call, stream, reduction);
}

tn_status* forward(const Op& op, const tn_call* call, const Stream& stream) {
  tn_tensor& output = *call->outputs[0];
  if (output.numel == 0) return nullptr;
  Problem problem(op);
  problem.describe(call->args, output.sizes, output.ndim);  // `supports` did
  const tn_tensor* bias = tensor_of(call->args[2]);
  bool adds = false;
  std::string why;
  const std::shared_ptr<Plan> plan =
      find_forward(stream.index, problem, bias != nullptr, &adds, &why);
  if (!plan) return no_plan(problem, stream.index, why);
  Tensors tensors;
  TN_CUDA_TRY(tensors.read(call, stream, problem, op.input(), *call->args[0].as.tensor));
  TN_CUDA_TRY(tensors.read(call, stream, problem, Convolution::kWeight, *call->args[1].as.tensor));
  Lent vector;
  const int64_t one = 1;
  if (bias) TN_CUDA_TRY(vector.read(call, stream, *bias, &one, kGraphAlignment));
  TN_CUDA_TRY(tensors.find(call, problem, op.output(), output));
  const Lent& result = tensors[op.output()];
  TN_CUDA_TRY(compute(call, stream, problem, plan, tensors, adds ? vector.data() : nullptr));
  if (bias && !adds) TN_CUDA_TRY(add_bias(stream, problem, result.data(), vector.data()));
  return result.give_back(call, stream, output);
}

// args: the gradient of the output, then the forward's. Outputs: the gradients of the input, the
// weight and the bias.
tn_status* backward(const Op& op, const tn_call* call, const Stream& stream) {
  const tn_tensor* g = tensor_of(call->args[0]);
  const tn_value* args = call->args + 1;
  if (!g || g->numel == 0) return clear_outputs(call, stream);
  Problem problem(op);
  problem.describe(args, g->sizes, g->ndim);
  Tensors read;
  TN_CUDA_TRY(read.read(call, stream, problem, op.output(), *g));
  if (tn_tensor* wanted = call->outputs[0]) {
    Tensors tensors = read;
    TN_CUDA_TRY(tensors.read(call, stream, problem, Convolution::kWeight, *args[1].as.tensor));
    TN_CUDA_TRY(compute_gradient(call, stream, problem, op.input(), tensors, *wanted));
  }
  if (tn_tensor* wanted = call->outputs[1]) {
    Tensors tensors = read;
    TN_CUDA_TRY(tensors.read(call, stream, problem, op.input(), *args[0].as.tensor));
    TN_CUDA_TRY(compute_gradient(call, stream, problem, Convolution::kWeight, tensors, *wanted));
  }
  if (const tn_tensor* wanted = call->outputs[2])
    TN_CUDA_TRY(sum_to_bias(call, stream, problem, read[op.output()].data(), *wanted));
  return nullptr;
}

// Channels-last outputs for a channels-last input.
void order(void*, const tn_call* call, uint32_t, const tn_meta* meta, int32_t* order) {
  const tn_tensor& input = *call->args[0].as.tensor;
  if (input.ndim != meta->ndim || call->args[1].as.tensor->ndim != meta->ndim ||
      !is_channels_last(input))
    return;
  for (int32_t d = 2; d < meta->ndim; ++d) order[d - 1] = d;
  order[meta->ndim - 1] = 1;
}

std::string refusal(const Op& op, const tn_call* call) {
  const tn_tensor &input = *call->args[0].as.tensor, &weight = *call->args[1].as.tensor;
  if (!call->metas) return "the sizes of its output are not known";
  Problem problem(op);
  if (!problem.describe(call->args, call->metas[0].sizes, call->metas[0].ndim))
    return "the arguments do not fit together";
  if (input.numel == 0 || weight.numel == 0) return "cuDNN takes no empty tensors";
  std::string why;
  bool adds = false;
  if (!find_forward(call->device.index, problem, tensor_of(call->args[2]) != nullptr, &adds, &why))
    return why;
  if (((input.flags | weight.flags) & TN_TENSOR_REQUIRES_GRAD) == 0) return "";
  for (const Part part : {op.input(), Convolution::kWeight}) {
    if (!find(call->device.index, problem, part, false, &why)) return "of its gradient: " + why;
  }
  return "";
}

// The rows have functions without a `self`: one of each for each op.
template <size_t k>
OpKernel row() {
  return {.op = kOps[k].name,
          .forward = [](const tn_call* call,
                        const Stream& stream) { return forward(kOps[k], call, stream); },
          .refusal =
              [](const tn_call* call) {
                return with_context(kOps[k].name, call->device.index,
                                    [&] { return refusal(kOps[k], call); });
              },
          .order = order,
          .backward = [](const tn_call* call,
                         const Stream& stream) { return backward(kOps[k], call, stream); },
          .saves_args = 0b11};
}

}  // namespace

std::span<const OpKernel> convolution_kernels() {
  static const OpKernel kernels[] = {row<0>(), row<1>(), row<2>(), row<3>(), row<4>(), row<5>()};
  static_assert(std::size(kernels) == std::size(kOps));
  return kernels;
}

}  // namespace cuda
