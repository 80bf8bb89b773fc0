// Random bits: the number of an element alone decides its bits, which are the
// same on every backend. And dropout, which draws them where it needs them,
// again for its gradient.
#include "kernel.h"
#include "program_text.h"

namespace cuda {
namespace {

// `RandomState` of kernels/philox.cuh.
void add_state(Parameters& parameters, const void* state, uint64_t seed, uint64_t offset) {
  parameters.add(state);
  parameters.add(seed);
  parameters.add(offset);
}
void add_state(Parameters& parameters, const tn_random& random) {
  const void* const state = random.state ? random.state->data : nullptr;  // inside a graph
  add_state(parameters, state, random.seed, random.offset);
}

}  // namespace

tn_status* random_bits(const tn_call* call, const Stream& stream) {
  static Text& text = text_of("#include \"random.cuh\"\n");
  const tn_tensor* y = call->outputs[0];
  Parameters parameters;
  parameters.add(y->data);
  add_state(parameters, *call->random);
  parameters.add(y->numel);
  return launch(stream, text, "random_bits", grid_for((y->numel + 3) / 4), parameters);
}

// ---- dropout(x, p, training)

namespace {

// From x to y, which are row-major. The numbers: as `add` writes them.
template <class AddState>
tn_status* drop(const Stream& stream, const tn_tensor* y, const tn_tensor* x, double p,
                const AddState& add, void* kept) {
  static constinit Texts texts;
  Text& text = texts.get(TextKey(x->dtype), [&] {
    return std::string("#include \"base.cuh\"\nusing Element = ") + element_name(x->dtype) +
           ";\n#include \"dropout.cuh\"\n";
  });
  const uint64_t pack = 4 * item_size(x->dtype);
  const auto is_aligned = [&](const tn_tensor* t) {
    return reinterpret_cast<uint64_t>(t->data) % std::min<uint64_t>(pack, 32) == 0;
  };
  Parameters parameters;
  parameters.add(y->data);
  parameters.add(x->data);
  add(parameters);
  parameters.add(kept);
  parameters.add(y->numel);
  parameters.add(static_cast<int64_t>(is_aligned(x) && is_aligned(y)));
  parameters.add(p);
  parameters.add(p < 1 ? 1 / (1 - p) : 0.0);
  return launch(stream, text, "dropout", grid_for((y->numel + 3) / 4), parameters);
}

tn_status* dropout(const tn_call* call, const Stream& stream) {
  const tn_tensor* y = call->outputs[0];
  const tn_tensor* kept = call->n_outputs > 1 ? call->outputs[1] : nullptr;
  if (y->numel == 0) return nullptr;
  return drop(
      stream, y, call->args[0].as.tensor, call->args[1].as.f,
      [&](Parameters& parameters) { add_state(parameters, *call->random); },
      kept ? kept->data : nullptr);
}

// args: the gradient of y, x, p, training, y, the state; of these x and y were
// not saved.
tn_status* dropout_backward(const tn_call* call, const Stream& stream) {
  const tn_tensor* dx = call->outputs[0];
  if (!dx || dx->numel == 0) return nullptr;
  const void* const state = call->args[5].as.tensor->data;
  return drop(
      stream, dx, call->args[0].as.tensor, call->args[2].as.f,
      [&](Parameters& parameters) { add_state(parameters, state, 0, 0); }, nullptr);
}

std::string dropout_refusal(const tn_call* call) {
  const double p = call->args[1].as.f;
  if (call->args[2].as.i == 0 || p == 0) return "gives x itself";
  return p > 0 && p <= 1 ? "" : "takes a p of 0 to 1";
}

void infer_state(const tn_call* call, tn_meta* state) {
  *state = {.ndim = 1, .dtype = TN_INT64, .device = call->device, .sizes = {2}};
}

constexpr OpKernel kOps[] = {{.op = "dropout",
                              .forward = dropout,
                              .refusal = dropout_refusal,
                              .layout = TN_LAYOUT_CONTIGUOUS,
                              .backward = dropout_backward,
                              .n_private = 1,
                              .infer_private = infer_state}};

}  // namespace

std::span<const OpKernel> random_kernels() { return kOps; }

}  // namespace cuda
