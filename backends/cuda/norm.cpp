// layer_norm, rms_norm and group_norm with their gradients: x is [rows, n], and each row is normalized
// for itself. Batches: batch_norm.cpp.
#include "norm.h"

#include <algorithm>

#include "program_text.h"

namespace cuda {
namespace {

// One call of any of them.
struct Rowwise {
  const tn_tensor* x;
  const tn_tensor* weight;
  const tn_tensor* bias;
  double eps;
  int64_t n;                       // of a row
  int64_t groups = 1, places = 1;  // as in kernels/norm.cuh
  bool is_centered = true;

  int64_t rows() const { return x->numel / n; }
  tn_dtype weights() const { return weight_dtype(weight, bias, x->dtype); }
};

// Do weights lie so that a pack of them belongs to each pack of a row?
bool has_packs(const Rowwise& norm, const RowShape& shape) {
  const auto bytes = static_cast<uint64_t>(shape.pack) * item_size(norm.weights());
  const auto lies = [&](const tn_tensor* t) {
    return !t || reinterpret_cast<uint64_t>(t->data) % bytes == 0;
  };
  return shape.phase == 0 && norm.n % shape.pack == 0 && norm.places == 1 && norm.groups == 1 &&
         lies(norm.weight) && lies(norm.bias);
}

tn_status* run(const Stream& stream, const Rowwise& norm, const RowShape& shape, bool is_backward,
               const void* means, const void* rstds) {
  static constinit Texts texts;
  TextKey key = shape.key();
  key.add(norm.weights());
  key.add(is_backward);
  key.add(norm.is_centered);
  Text& text = texts.get(key, [&] {
    return std::string("#define ") + (is_backward ? "NORM_BACKWARD\n" : "NORM\n") + shape.text() +
           "using Weight = " + element_name(norm.weights()) +
           ";\nconstexpr bool kCentered = " + (norm.is_centered ? "true" : "false") +
           ";\n#include \"norm.cuh\"\n";
  });
  Parameters parameters;
  shape.add(parameters);
  for (const void* memory : {static_cast<const void*>(data_of(norm.weight)),
                             static_cast<const void*>(data_of(norm.bias)), means, rstds})
    parameters.add(memory);
  parameters.add(scalar_bits(norm.eps, norm.x->dtype));
  for (const int64_t number : {norm.groups, norm.places, int64_t{has_packs(norm, shape)}})
    parameters.add(number);
  return launch(stream, text, is_backward ? "normalize_backward" : "normalize", shape.grid(),
                parameters);
}

tn_status* forward(const tn_call* call, const Stream& stream, const Rowwise& norm,
                   const tn_tensor* means, const tn_tensor* rstds) {
  if (norm.x->numel == 0) return nullptr;
  const Matrix y(call->outputs[0], norm.n), x(norm.x, norm.n);
  return run(stream, norm, row_shape(1, {{y}, {x}}), false, data_of(means), data_of(rstds));
}

tn_status* weight_gradients(const tn_call* call, const Stream& stream, const Rowwise& norm,
                            const SumsOf& of) {
  const tn_tensor *dweight = output_of(call, 1), *dbias = output_of(call, 2);
  if (!dweight && !dbias) return nullptr;
  const Combine combine = {dweight, dbias, wide(norm.x->dtype),
                           weight_dtype(dweight, dbias, norm.x->dtype)};
  const bool is_by_planes = norm.places > 1 || norm.groups > 1;
  const int64_t channels = norm.n / norm.places * norm.groups;
  const ColumnShape columns = column_sums_shape(norm.rows(), norm.n, norm.x->dtype);
  const int64_t pieces = is_by_planes ? norm.x->numel / (channels * norm.places) : columns.pieces;
  void* sums = nullptr;
  TN_CUDA_TRY(host->workspace(
      call, static_cast<uint64_t>(pieces * channels) * 2 * item_size(combine.dtype), &sums));
  if (is_by_planes) {
    TN_CUDA_TRY(plane_sums(stream, of, norm.places, norm.n / norm.places, norm.rows(), sums));
  } else {
    TN_CUDA_TRY(column_sums(stream, of, columns, true, sums));
  }
  return combine_sums(stream, sums, pieces, channels, combine);
}

// args: g, and then the forward's.
tn_status* backward(const tn_call* call, const Stream& stream, const Rowwise& norm,
                    const tn_tensor* means, const tn_tensor* rstds) {
  const tn_tensor *g = tensor_of(call->args[0]), *dx = call->outputs[0];
  if (!g || norm.x->numel == 0) return clear_outputs(call, stream);
  if (dx) {
    const Matrix to(dx, norm.n), from(g, norm.n), x(norm.x, norm.n);
    TN_CUDA_TRY(
        run(stream, norm, row_shape(1, {{to}, {from}, {x}}), true, data_of(means), data_of(rstds)));
  }
  return weight_gradients(call, stream, norm, {g, norm.x, data_of(means), data_of(rstds)});
}

bool is_vector(const tn_tensor* t, int32_t ndim, const int64_t* sizes) {
  return !t || (t->ndim == ndim && std::equal(sizes, sizes + ndim, t->sizes));
}
// Each kernel computes in the wider of the dtypes, and gives that of x.
std::string refused_dtypes(const Rowwise& norm) {
  const tn_dtype weights = norm.weights();
  if (weights == norm.x->dtype || (weights == TN_FLOAT32 && norm.x->dtype != TN_FLOAT64)) return {};
  return "takes weights of x's dtype, or of float32 where x is of halves";
}
constexpr char kUnfit[] = "the arguments do not fit together";

// ---- layer_norm(x, normalized_shape, weight, bias, eps); kept: the rows' means and rstds

Rowwise layer_norm(const tn_value* args) {
  const tn_value& shape = args[1];
  return {args[0].as.tensor, tensor_of(args[2]), tensor_of(args[3]), args[4].as.f,
          product(shape.as.ints, static_cast<int32_t>(shape.count))};
}

std::string layer_refusal(const tn_call* call) {
  const tn_value& shape = call->args[1];
  const tn_tensor& x = *call->args[0].as.tensor;
  const auto dims = static_cast<int32_t>(shape.count);
  if (dims < 1 || dims > x.ndim || !(call->args[4].as.f >= 0) ||
      !std::equal(shape.as.ints, shape.as.ints + dims, x.sizes + x.ndim - dims) ||
      !is_vector(tensor_of(call->args[2]), dims, shape.as.ints) ||
      !is_vector(tensor_of(call->args[3]), dims, shape.as.ints))
    return kUnfit;
  const Rowwise norm = layer_norm(call->args);
  return norm.n == 0 ? "takes no empty rows" : refused_dtypes(norm);
}

tn_status* layer_forward(const tn_call* call, const Stream& stream) {
  return forward(call, stream, layer_norm(call->args), output_of(call, 1), output_of(call, 2));
}
tn_status* layer_backward(const tn_call* call, const Stream& stream) {
  return backward(call, stream, layer_norm(call->args + 1), call->args[7].as.tensor,
                  call->args[8].as.tensor);
}
void layer_private(const tn_call* call, tn_meta* privates) {
  const Rowwise norm = layer_norm(call->args);
  for (int k = 0; k < 2; ++k) describe_numbers(*norm.x, norm.rows(), &privates[k]);
}

// ---- rms_norm(x, weight, eps); kept: the rows' rstds

Rowwise rms_norm(const tn_value* args) {
  const tn_tensor* x = args[0].as.tensor;
  Rowwise norm = {x, tensor_of(args[1]), nullptr, args[2].as.f, x->sizes[x->ndim - 1]};
  norm.is_centered = false;
  return norm;
}

std::string rms_refusal(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  if (x.ndim < 1 || !(call->args[2].as.f >= 0) ||
      !is_vector(tensor_of(call->args[1]), 1, x.sizes + x.ndim - 1))
    return kUnfit;
  const Rowwise norm = rms_norm(call->args);
  if (norm.n == 0) return "takes no empty rows";
  return norm.weights() == x.dtype ? "" : "takes weights of x's dtype";
}

tn_status* rms_forward(const tn_call* call, const Stream& stream) {
  return forward(call, stream, rms_norm(call->args), nullptr, output_of(call, 1));
}
tn_status* rms_backward(const tn_call* call, const Stream& stream) {
  return backward(call, stream, rms_norm(call->args + 1), nullptr, call->args[5].as.tensor);
}
void rms_private(const tn_call* call, tn_meta* privates) {
  const Rowwise norm = rms_norm(call->args);
  describe_numbers(*norm.x, norm.rows(), privates);
}

// ---- group_norm(x, num_groups, weight, bias, eps); kept: the groups' means and rstds

Rowwise group_norm(const tn_value* args) {
  const tn_tensor* x = args[0].as.tensor;
  const int64_t places = product(x->sizes + 2, x->ndim - 2), groups = args[1].as.i;
  return {x,
          tensor_of(args[2]),
          tensor_of(args[3]),
          args[4].as.f,
          x->sizes[1] / groups * places,
          groups,
          places};
}

std::string group_refusal(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const int64_t groups = call->args[1].as.i;
  if (x.ndim < 2 || groups < 1 || x.sizes[1] % groups != 0 || !(call->args[4].as.f >= 0) ||
      !is_vector(tensor_of(call->args[2]), 1, x.sizes + 1) ||
      !is_vector(tensor_of(call->args[3]), 1, x.sizes + 1))
    return kUnfit;
  return x.numel == 0 ? "takes no empty tensors" : refused_dtypes(group_norm(call->args));
}

tn_status* group_forward(const tn_call* call, const Stream& stream) {
  return forward(call, stream, group_norm(call->args), output_of(call, 1), output_of(call, 2));
}
tn_status* group_backward(const tn_call* call, const Stream& stream) {
  return backward(call, stream, group_norm(call->args + 1), call->args[7].as.tensor,
                  call->args[8].as.tensor);
}
void group_private(const tn_call* call, tn_meta* privates) {
  const Rowwise norm = group_norm(call->args);
  for (int k = 0; k < 2; ++k) describe_numbers(*norm.x, norm.rows(), &privates[k]);
}

constexpr OpKernel kernel_of(const char* op, Run* forward, std::string (*refusal)(const tn_call*),
                             Run* backward, uint32_t n_private,
                             void (*infer_private)(const tn_call*, tn_meta*)) {
  return {.op = op,
          .forward = forward,
          .refusal = refusal,
          .layout = TN_LAYOUT_CONTIGUOUS,
          .backward = backward,
          .saves_args = 0b11,  // x and weight
          .n_private = n_private,
          .infer_private = infer_private};
}

constexpr OpKernel kKernels[] = {
    kernel_of("layer_norm", layer_forward, layer_refusal, layer_backward, 2, layer_private),
    kernel_of("rms_norm", rms_forward, rms_refusal, rms_backward, 1, rms_private),
    kernel_of("group_norm", group_forward, group_refusal, group_backward, 2, group_private),
};

}  // namespace

std::span<const OpKernel> norm_kernels() { return kKernels; }

}  // namespace cuda
