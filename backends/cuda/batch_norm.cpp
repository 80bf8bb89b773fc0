// batch_norm in training, with its gradient, and by statistics that are given. x is [n, channels, ..],
// row-major (planes) or channels-last (columns), and so is what comes out.
#include "images.h"
#include "norm.h"
#include "program_text.h"

namespace cuda {
namespace {

// x, and how its channels lie.
class Image {
 public:
  explicit Image(const tn_tensor* x)
      : x_(x),
        channels_(x->sizes[1]),
        places_(product(x->sizes + 2, x->ndim - 2)),
        is_last_(cuda::is_channels_last(*x) || places_ == 1) {}

  int64_t channels() const { return channels_; }
  int64_t places() const { return places_; }
  bool is_last() const { return is_last_; }
  int64_t values() const { return x_->numel / channels_; }  // of a channel
  ColumnShape sums() const { return column_sums_shape(values(), channels_, x_->dtype); }
  ColumnShape pass() const { return column_pass_shape(values(), channels_, x_->dtype); }
  // What a channel is added up in: pieces of its column, or the images.
  int64_t pieces() const { return is_last_ ? sums().pieces : x_->sizes[0]; }

  // The elements of t, which has x's sizes, as x lies: t itself, or a copy.
  tn_status* same_order(const tn_call* call, const Stream& stream, const tn_tensor* t,
                        const tn_tensor** same);

 private:
  const tn_tensor* x_;
  int64_t channels_, places_;
  bool is_last_;
  tn_tensor lent_[2];
  int64_t strides_[2][TN_MAX_RANK];
  int n_lent_ = 0;
};

tn_status* Image::same_order(const tn_call* call, const Stream& stream, const tn_tensor* t,
                             const tn_tensor** same) {
  const int k = n_lent_++;
  image_strides(*t, cuda::is_channels_last(*x_), strides_[k]);
  lent_[k] = *t;
  lent_[k].strides = strides_[k];
  Lent lent;
  TN_CUDA_TRY(lent.read(call, stream, *t, strides_[k], item_size(t->dtype)));
  lent_[k].data = lent.data();
  *same = &lent_[k];
  return nullptr;
}

// The text of one of the header's parts, for planes or for columns. `more` is what else it states.
template <class Shape>
std::string source(const char* part, bool is_last, const Shape& shape, tn_dtype dtype,
                   const std::string& more) {
  std::string text = std::string("#define ") + part + (is_last ? "\n" : "\n#define PLANES\n");
  if constexpr (std::is_same_v<Shape, ColumnShape>) {
    text += shape.text(dtype);
  } else {
    text += shape.text();
  }
  return text + more + "#include \"batch_norm.cuh\"\n";
}

template <class T>
void add_all(Parameters& parameters, std::initializer_list<T> values) {
  for (const T value : values) parameters.add(value);
}

// ---- Statistics

tn_status* partial_moments(const Stream& stream, const Image& image, const tn_tensor* x,
                           void* part) {
  static constinit Texts of_columns, of_planes;
  Parameters parameters;
  if (image.is_last()) {
    const ColumnShape shape = image.sums();
    Text& text = of_columns.get(shape.key(x->dtype),
                                [&] { return source("MOMENTS", true, shape, x->dtype, ""); });
    add_all<const void*>(parameters, {x->data, part});
    shape.add(parameters);
    return launch(stream, text, "partial_moments", shape.grid(), parameters);
  }
  const Matrix rows(x, image.places());
  const RowShape shape = row_shape(1, {{rows}});
  Text& text =
      of_planes.get(shape.key(), [&] { return source("MOMENTS", false, shape, x->dtype, ""); });
  shape.add(parameters);
  parameters.add(static_cast<const void*>(part));
  return launch(stream, text, "partial_moments", shape.grid(), parameters);
}

// mean and var: [channels]
tn_status* find_moments(const tn_call* call, const Stream& stream, const Image& image,
                        const tn_tensor* x, const tn_tensor* mean, const tn_tensor* var) {
  void* part = nullptr;
  const auto n = static_cast<uint64_t>(image.pieces() * image.channels());
  const tn_dtype computed = wide(x->dtype);
  TN_CUDA_TRY(host->workspace(call, n * 4 * item_size(computed), &part));
  TN_CUDA_TRY(partial_moments(stream, image, x, part));
  const ColumnShape shape = whole_columns_shape(image.pieces(), image.channels());
  static constinit Texts texts;
  Text& text =
      texts.get(shape.key(computed), [&] { return source("COMBINE", true, shape, computed, ""); });
  Parameters parameters;
  add_all<const void*>(parameters, {part, mean->data, var->data});
  shape.add(parameters);
  return launch(stream, text, "combine_moments", shape.grid(), parameters);
}

// ---- Passes over the elements

struct Vectors {
  const tn_tensor* mean;
  const tn_tensor* var;
  const tn_tensor* weight;  // may be NULL, as bias
  const tn_tensor* bias;
  double eps;

  void add(Parameters& parameters, tn_dtype dtype) const {
    add_all<const void*>(parameters, {mean->data, var->data, data_of(weight), data_of(bias)});
    parameters.add(scalar_bits(eps, wide(dtype)));
  }
};

tn_status* normalize(const Stream& stream, const Image& image, const tn_tensor* y,
                     const tn_tensor* x, const Vectors& vectors) {
  static constinit Texts of_columns, of_planes;
  const tn_dtype weights = weight_dtype(vectors.weight, vectors.bias, x->dtype);
  const auto types = [&] {
    return std::string("using Moment = ") + element_name(vectors.mean->dtype) +
           ";\nusing Weight = " + element_name(weights) + ";\n";
  };
  const auto key_of = [&](TextKey key) {
    key.add(vectors.mean->dtype);
    key.add(weights);
    return key;
  };
  Parameters parameters;
  if (image.is_last()) {
    const ColumnShape shape = image.pass();
    Text& text = of_columns.get(key_of(shape.key(x->dtype)), [&] {
      return source("NORMALIZE", true, shape, x->dtype, types());
    });
    add_all<const void*>(parameters, {y->data, x->data});
    vectors.add(parameters, x->dtype);
    shape.add(parameters);
    return launch(stream, text, "batch_normalize", shape.grid(), parameters);
  }
  const Matrix to(y, image.places()), from(x, image.places());
  const RowShape shape = row_shape(1, {{to}, {from}});
  Text& text = of_planes.get(key_of(shape.key()),
                             [&] { return source("NORMALIZE", false, shape, x->dtype, types()); });
  shape.add(parameters);
  vectors.add(parameters, x->dtype);
  parameters.add(image.channels());
  return launch(stream, text, "batch_normalize", shape.grid(), parameters);
}

struct Gradient {
  const tn_tensor* g;
  const tn_tensor* x;
  const tn_tensor* mean;
  void* slopes;
};

tn_status* slope(const Stream& stream, const Image& image, const tn_tensor* dx,
                 const Gradient& of) {
  static constinit Texts of_columns, of_planes;
  Parameters parameters;
  if (image.is_last()) {
    const ColumnShape shape = image.pass();
    Text& text = of_columns.get(shape.key(dx->dtype),
                                [&] { return source("BACKWARD", true, shape, dx->dtype, ""); });
    add_all<const void*>(parameters, {dx->data, of.g->data, of.x->data, of.mean->data, of.slopes});
    shape.add(parameters);
    return launch(stream, text, "batch_normalize_backward", shape.grid(), parameters);
  }
  const Matrix to(dx, image.places()), g(of.g, image.places()), x(of.x, image.places());
  const RowShape shape = row_shape(1, {{to}, {g}, {x}});
  Text& text =
      of_planes.get(shape.key(), [&] { return source("BACKWARD", false, shape, dx->dtype, ""); });
  shape.add(parameters);
  add_all<const void*>(parameters, {of.mean->data, of.slopes});
  parameters.add(image.channels());
  return launch(stream, text, "batch_normalize_backward", shape.grid(), parameters);
}

// ---- _batch_norm(x, weight, bias, eps): y, and the mean and variance of each channel

tn_status* forward(const tn_call* call, const Stream& stream) {
  const tn_tensor* x = call->args[0].as.tensor;
  Image image(x);
  TN_CUDA_TRY(image.same_order(call, stream, x, &x));
  const Vectors vectors = {call->outputs[1], call->outputs[2], tensor_of(call->args[1]),
                           tensor_of(call->args[2]), call->args[3].as.f};
  TN_CUDA_TRY(find_moments(call, stream, image, x, vectors.mean, vectors.var));
  return normalize(stream, image, call->outputs[0], x, vectors);
}

// args: g and the gradients of mean and variance, which nobody takes; x, weight, bias (not saved),
// eps; y (not saved), mean, variance.
tn_status* backward(const tn_call* call, const Stream& stream) {
  if (call->args[1].kind != TN_KIND_NONE || call->args[2].kind != TN_KIND_NONE)
    return error(host, TN_UNSUPPORTED, "_batch_norm: the moments have no gradient on %s",
                 kDeviceName);
  const tn_tensor *g = tensor_of(call->args[0]), *x = call->args[3].as.tensor;
  if (!g) return clear_outputs(call, stream);
  const tn_tensor *weight = tensor_of(call->args[4]), *mean = call->args[8].as.tensor;
  Image image(x);
  TN_CUDA_TRY(image.same_order(call, stream, g, &g));
  TN_CUDA_TRY(image.same_order(call, stream, x, &x));
  const auto channels = static_cast<uint64_t>(image.channels());
  const auto pieces = static_cast<uint64_t>(image.pieces());
  const tn_dtype computed = wide(x->dtype);
  const uint64_t size = item_size(computed);
  void *sums = nullptr, *slopes = nullptr;
  TN_CUDA_TRY(host->workspace(call, pieces * channels * 2 * size, &sums));
  TN_CUDA_TRY(host->workspace(call, channels * 3 * size, &slopes));
  const SumsOf of = {g, x, mean->data, nullptr};
  if (image.is_last()) {
    TN_CUDA_TRY(column_sums(stream, of, image.sums(), false, sums));
  } else {
    TN_CUDA_TRY(plane_sums(stream, of, image.places(), 1, image.channels(), sums));
  }
  const tn_tensor *dweight = output_of(call, 1), *dbias = output_of(call, 2);
  Combine combine = {dweight, dbias, computed,
                     weight_dtype(weight ? weight : dweight, dbias, computed)};
  combine.vars = call->args[9].as.tensor->data;
  combine.weight = data_of(weight);
  combine.slopes = slopes;
  combine.eps = call->args[6].as.f;
  combine.count = static_cast<double>(image.values());
  TN_CUDA_TRY(combine_sums(stream, sums, image.pieces(), image.channels(), combine));
  if (!call->outputs[0]) return nullptr;
  return slope(stream, image, call->outputs[0], {g, x, mean, slopes});
}

std::string refused_image(const tn_call* call, std::initializer_list<int> vectors, double eps) {
  const tn_tensor& x = *call->args[0].as.tensor;
  bool fits = x.ndim >= 2 && eps >= 0;
  for (const int k : vectors) {
    const tn_tensor* t = tensor_of(call->args[k]);
    fits = fits && (!t || (t->ndim == 1 && t->sizes[0] == x.sizes[1]));
  }
  if (!fits) return "the arguments do not fit together";
  if (x.numel == 0) return "takes no empty tensors";
  return lies_otherwise(x) ? "x is neither row-major nor channels-last" : "";
}

// Are both computed in the same dtype?
bool is_near(tn_dtype dtype, tn_dtype x) {
  return dtype != TN_DTYPE_NONE && (dtype == TN_FLOAT64) == (x == TN_FLOAT64);
}
constexpr char kOtherDtypes[] =
    "takes vectors of one dtype, which is float64 where x is of float64, and else is not";

std::string refusal(const tn_call* call) {
  const tn_tensor *x = call->args[0].as.tensor, *weight = tensor_of(call->args[1]);
  if (std::string why = refused_image(call, {1, 2}, call->args[3].as.f); !why.empty()) return why;
  const tn_dtype weights = weight_dtype(weight, tensor_of(call->args[2]), x->dtype);
  return is_near(weights, x->dtype) ? "" : kOtherDtypes;
}

// ---- _batch_norm_given(x, mean, var, weight, bias, eps)

tn_status* given(const tn_call* call, const Stream& stream) {
  const tn_tensor* x = call->args[0].as.tensor;
  Image image(x);
  TN_CUDA_TRY(image.same_order(call, stream, x, &x));
  const Vectors vectors = {call->args[1].as.tensor, call->args[2].as.tensor,
                           tensor_of(call->args[3]), tensor_of(call->args[4]), call->args[5].as.f};
  return normalize(stream, image, call->outputs[0], x, vectors);
}

std::string given_refusal(const tn_call* call) {
  const tn_tensor *x = call->args[0].as.tensor, *mean = tensor_of(call->args[1]);
  const tn_tensor* var = tensor_of(call->args[2]);
  if (std::string why = refused_image(call, {1, 2, 3, 4}, call->args[5].as.f); !why.empty())
    return why;
  const tn_dtype weights =
      weight_dtype(tensor_of(call->args[3]), tensor_of(call->args[4]), x->dtype);
  if (!mean || !var || mean->dtype != var->dtype || !is_near(mean->dtype, x->dtype) ||
      !is_near(weights, x->dtype))
    return kOtherDtypes;
  return "";
}

constexpr OpKernel kKernels[] = {
    {.op = "_batch_norm",
     .forward = forward,
     .refusal = refusal,
     .layout = TN_LAYOUT_DENSE,
     .order = image_order,
     .backward = backward,
     .saves_args = 0b11,       // x and weight
     .saves_outputs = 0b110},  // the moments
    {.op = "_batch_norm_given",
     .forward = given,
     .refusal = given_refusal,
     .layout = TN_LAYOUT_DENSE,
     .order = image_order},
};

}  // namespace

std::span<const OpKernel> batch_norm_kernels() { return kKernels; }

}  // namespace cuda
