// cross_entropy where targets are classes, and its gradient. There is no copy of the logits: the
// forward reads them and keeps two numbers of each row, its maximum and the sum of the exponentials
// below it, and the backward reads them once more and writes the gradient.
#include <cstring>

#include "norm.h"
#include "program_text.h"

namespace cuda {
namespace {

constexpr int64_t kMostBlocks = 1024;  // each gives a part of the sum

struct Loss {
  const tn_tensor* input;
  const tn_tensor* target;
  const tn_tensor* weight;
  int64_t ignored;
  std::string_view reduction;
  double smoothing;

  // args: those of the forward
  explicit Loss(const tn_value* args)
      : input(args[0].as.tensor),
        target(args[1].as.tensor),
        weight(tensor_of(args[2])),
        ignored(args[3].as.i),
        reduction(args[4].as.string, args[4].count),
        smoothing(args[5].as.f) {}

  int64_t dim() const { return input->ndim == 1 ? 0 : 1; }
  int64_t classes() const { return input->sizes[dim()]; }
  int64_t rows() const { return input->numel / classes(); }
  bool is_mean() const { return reduction == "mean"; }
  bool is_each() const { return reduction == "none"; }
  tn_dtype weights() const { return weight ? weight->dtype : input->dtype; }
};

// `part` is the part of the header that the text has.
Text& text_of(const Loss& loss, const RowShape& shape, const char* part) {
  static constinit Texts texts;
  TextKey key = shape.key();
  key.add(part);  // a literal each
  key.add(loss.weights());
  key.add(loss.smoothing != 0);
  return texts.get(key, [&] {
    return std::string("#define ") + part + "\n" + shape.text() +
           "using Weight = " + element_name(loss.weights()) +
           ";\nconstexpr bool kSmooth = " + (loss.smoothing != 0 ? "true" : "false") +
           ";\n#include \"loss.cuh\"\n";
  });
}

struct Places {
  const void *losses = nullptr, *parts = nullptr, *peaks = nullptr, *totals = nullptr;
};
// The struct CrossEntropy.
void add(Parameters& parameters, const Stream& stream, const Loss& loss, const RowShape& shape,
         const Places& places) {
  shape.add(parameters);
  parameters.add(static_cast<const void*>(data_of(loss.weight)));
  for (const void* memory : {places.losses, places.parts, places.peaks, places.totals})
    parameters.add(memory);
  parameters.add(static_cast<const void*>(stream.place->fault));
  for (const int64_t number : {loss.ignored, static_cast<int64_t>(item_size(loss.target->dtype)),
                               loss.dim(), int64_t{loss.is_mean()}})
    parameters.add(number);
  parameters.add(scalar_bits(loss.smoothing, loss.input->dtype));
}

tn_status* add_up(const Stream& stream, const Loss& loss, const tn_tensor* result,
                  const void* parts, int64_t n_parts, const void* totals) {
  static constinit Texts texts;
  Text& text = texts.get(TextKey(loss.input->dtype, loss.weights()), [&] {
    return std::string("#include \"base.cuh\"\nusing Element = ") +
           element_name(loss.input->dtype) + ";\nusing Weight = " + element_name(loss.weights()) +
           ";\n#include \"loss_total.cuh\"\n";
  });
  Parameters parameters;
  for (const void* memory :
       {parts, loss.is_each() ? nullptr : static_cast<const void*>(result->data), totals,
        loss.smoothing != 0 ? static_cast<const void*>(data_of(loss.weight)) : nullptr})
    parameters.add(memory);
  for (const int64_t number : {n_parts, loss.classes(), int64_t{loss.is_mean()}})
    parameters.add(number);
  return launch(stream, text, "add_up_losses", {}, parameters);
}

// Outputs: the loss; kept: a peak of each row, and two totals.
tn_status* forward(const tn_call* call, const Stream& stream) {
  const Loss loss(call->args);
  const RowShape shape = row_shape(loss.dim(), {{loss.input}, {loss.target, false}});
  const Grid grid = shape.grid(kMostBlocks);
  void* parts = nullptr;
  TN_CUDA_TRY(host->workspace(
      call, static_cast<uint64_t>(grid.blocks) * 2 * item_size(wide(loss.input->dtype)), &parts));
  const Places places = {loss.is_each() ? call->outputs[0]->data : nullptr, parts,
                         data_of(output_of(call, 1))};
  Parameters parameters;
  add(parameters, stream, loss, shape, places);
  TN_CUDA_TRY(launch(stream, text_of(loss, shape, "FORWARD"), "cross_entropy", grid, parameters));
  const tn_tensor* totals = output_of(call, 2);
  if (loss.is_each() && !totals) return nullptr;
  return add_up(stream, loss, call->outputs[0], parts, grid.blocks, data_of(totals));
}

// One number in the place of a tensor of the sizes of `like`.
tn_tensor spread(const tn_tensor& number, const tn_tensor& like) {
  static constexpr int64_t kNone[TN_MAX_RANK] = {};
  tn_tensor same = number;
  same.ndim = like.ndim;
  same.sizes = like.sizes;
  same.strides = kNone;
  return same;
}

// args: g, those of the forward, the loss (not saved), peaks, totals
tn_status* backward(const tn_call* call, const Stream& stream) {
  const Loss loss(call->args + 1);
  const tn_tensor *g = tensor_of(call->args[0]), *dx = call->outputs[0];
  if (!g) return clear_outputs(call, stream);
  if (!dx) return nullptr;
  const tn_tensor of_rows = loss.is_each() ? *g : spread(*g, *loss.target);
  const RowShape shape =
      row_shape(loss.dim(), {{dx}, {loss.input}, {loss.target, false}, {&of_rows, false}});
  const Places places = {nullptr, nullptr, call->args[8].as.tensor->data,
                         call->args[9].as.tensor->data};
  Parameters parameters;
  add(parameters, stream, loss, shape, places);
  return launch(stream, text_of(loss, shape, "BACKWARD"), "cross_entropy_backward", shape.grid(),
                parameters);
}

void infer_private(const tn_call* call, tn_meta* privates) {
  const Loss loss(call->args);
  describe_numbers(*loss.input, 2 * loss.rows(), &privates[0]);
  describe_numbers(*loss.input, 2, &privates[1]);
}

std::string refusal(const tn_call* call) {
  const Loss loss(call->args);
  const tn_tensor &input = *loss.input, &target = *loss.target;
  if (!tenon::dtype_table::is_float(input.dtype)) return "takes logits of a float dtype";
  if (target.dtype != TN_INT64 && target.dtype != TN_UINT8)
    return "takes targets that are classes, of int64 or uint8";
  if (input.numel == 0) return "takes no empty tensors";
  if (loss.weight && loss.weights() != input.dtype &&
      (loss.weights() != TN_FLOAT32 || input.dtype == TN_FLOAT64))
    return "takes weights of the logits' dtype, or of float32 where these are halves";
  if (loss.weight && (loss.weight->flags & TN_TENSOR_REQUIRES_GRAD) != 0)
    return "takes weights that need no gradient";
  if (loss.weight && loss.weight->strides[0] != 1 && loss.weight->numel > 1)
    return "takes weights that are dense";
  return "";
}

constexpr OpKernel kKernels[] = {{
    .op = "cross_entropy",
    .forward = forward,
    .refusal = refusal,
    .dtypes = tenon::backend::kFloats | TN_DTYPE_BIT(TN_INT64) | TN_DTYPE_BIT(TN_UINT8),
    .backward = backward,
    .saves_args = 0b111,  // input, target, weight
    .n_private = 2,
    .infer_private = infer_private,
}};

}  // namespace

std::span<const OpKernel> loss_kernels() { return kKernels; }

}  // namespace cuda
