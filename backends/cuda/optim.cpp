// Steps of optimizers: the elements of all parameters in one launch, or in several where there are
// more parameters than a kernel's struct has room for. The same launch counts steps: the last of its
// blocks does, when all have read the counts.
#include "program_text.h"
#include "steps.h"

namespace cuda {
namespace {

// ---- As the structs `Step` of kernels/optim.cuh, which begin with the table

struct SgdNumbers {
  static constexpr char kName[] = "SGD";
  static constexpr int kLists = 3;
  static constexpr bool kCounts = false;
  const void* found_inf;
  int64_t found_inf_bytes;
  void* arrivals;  // not used
  Number lr, decay, momentum;
  double sign, keep, fresh, own;
};
struct AdamNumbers {
  static constexpr char kName[] = "ADAM";
  static constexpr int kLists = 5;
  static constexpr bool kCounts = true;
  const void* found_inf;
  int64_t found_inf_bytes;
  void* arrivals;
  Number lr, beta1, beta2, decay, step;
  double sign, eps;
  int64_t decoupled;
};
struct AdagradNumbers {
  static constexpr char kName[] = "ADAGRAD";
  static constexpr int kLists = 4;
  static constexpr bool kCounts = true;
  const void* found_inf;
  int64_t found_inf_bytes;
  void* arrivals;
  Number lr, decay;
  double sign, eps, lr_decay;
};

template <class Numbers>
Text& text_of_step(const Kind& kind, int most) {
  static constinit Texts texts;
  return texts.get(TextKey(kind.first, kind.last, most), [&] {
    std::string text = std::string("#define ") + Numbers::kName;
    text += std::string("\n#include \"base.cuh\"\nusing Param = ") + element_name(kind.first);
    text += std::string(";\nusing State = ") + element_name(kind.last);
    text += ";\nconstexpr int kMost = " + std::to_string(most) + ";\n#include \"optim.cuh\"\n";
    return text;
  });
}

template <class Numbers>
tn_status* run(const Stream& stream, const Lists& lists, Numbers numbers,
               const tn_value& found_inf) {
  const bool counts = Numbers::kCounts && lists.n == Numbers::kLists;
  if (counts) numbers.arrivals = stream.place->arrivals.get();
  if (const tn_tensor* flag = tensor_of(found_inf)) {
    numbers.found_inf = flag->data;
    numbers.found_inf_bytes = item_size(flag->dtype);
  }
  return each_table<Numbers::kLists>(
      lists, numbers, [&](const Kind& kind, auto& work, int64_t blocks) -> tn_status* {
        Text& text = text_of_step<Numbers>(kind, work.table.kMost);
        // Empty parameters count, too.
        if (blocks == 0 && counts) blocks = 1;
        return blocks > 0 ? launch(stream, text, "step", {blocks, 1, 256}, &work) : nullptr;
      });
}

// ---- Their calls

double sign_of(const tn_value& maximize) { return maximize.as.i != 0 ? -1 : 1; }

// sgd_step(params, grads, momentum_buffers, lr, momentum, dampening, weight_decay, nesterov,
// maximize, first, found_inf)
// A momentum that changes from one launch of a graph to the next is never 0.
bool has_momentum(const tn_value* args) {
  return tensor_of(args[4]) != nullptr || float_of(args[4]) != 0;
}
Lists sgd_lists(const tn_value* args) {
  return {.values = {&args[0], &args[1], &args[2]},
          .n = has_momentum(args) ? 3 : 2,
          .may_write = {true, false, true}};
}

// adam_step(params, grads, exp_avgs, exp_avg_sqs, lr, step, beta1, beta2, eps, weight_decay,
// decoupled, maximize, found_inf, steps)
Lists adam_lists(const tn_value* args) {
  return {.values = {&args[0], &args[1], &args[2], &args[3], &args[13]},
          .n = args[13].count > 0 ? 5 : 4,
          .may_write = {true, false, true, true, true}};
}

// adagrad_step(params, grads, sums, steps, lr, lr_decay, weight_decay, eps, maximize, found_inf)
Lists adagrad_lists(const tn_value* args) {
  return {.values = {&args[0], &args[1], &args[2], &args[3]},
          .n = 4,
          .may_write = {true, false, true, true}};
}

tn_status* sgd_step(const tn_call* call, const Stream& stream) {
  const tn_value* args = call->args;
  const bool nesterov = args[7].as.i != 0, first = args[9].as.i != 0;
  SgdNumbers numbers = {};
  numbers.lr = number_of(args[3]);
  numbers.decay = number_of(args[6]);
  numbers.sign = sign_of(args[8]);
  numbers.momentum = number_of(args[4]);
  numbers.keep = first ? 0 : 1;
  numbers.fresh = first || !has_momentum(args) ? 1 : 1 - float_of(args[5]);
  numbers.own = nesterov ? 1 : 0;
  return run(stream, sgd_lists(args), numbers, args[10]);
}

std::string sgd_refusal(const tn_call* call) {
  const Lists lists = sgd_lists(call->args);
  return refusal(call, lists, lists.n, {tensor_of(call->args[10])});
}

tn_status* adam_step(const tn_call* call, const Stream& stream) {
  const tn_value* args = call->args;
  AdamNumbers numbers = {};
  numbers.lr = number_of(args[4]);
  numbers.step = number_of(args[5]);
  numbers.beta1 = number_of(args[6]);
  numbers.beta2 = number_of(args[7]);
  numbers.eps = float_of(args[8]);
  numbers.decay = number_of(args[9]);
  numbers.decoupled = args[10].as.i != 0;
  numbers.sign = sign_of(args[11]);
  return run(stream, adam_lists(args), numbers, args[12]);
}

std::string adam_refusal(const tn_call* call) {
  const tn_value* args = call->args;
  if (args[13].count == 0 && args[5].kind == TN_KIND_INT && args[5].as.i < 1)
    return "takes steps from 1 on";
  return refusal(call, adam_lists(args), 4, {tensor_of(args[12])});
}

tn_status* adagrad_step(const tn_call* call, const Stream& stream) {
  const tn_value* args = call->args;
  AdagradNumbers numbers = {};
  numbers.lr = number_of(args[4]);
  numbers.lr_decay = float_of(args[5]);
  numbers.decay = number_of(args[6]);
  numbers.eps = float_of(args[7]);
  numbers.sign = sign_of(args[8]);
  return run(stream, adagrad_lists(args), numbers, args[9]);
}

std::string adagrad_refusal(const tn_call* call) {
  return refusal(call, adagrad_lists(call->args), 3, {tensor_of(call->args[9])});
}

constexpr OpKernel kKernels[] = {{"sgd_step", sgd_step, sgd_refusal},
                                 {"adam_step", adam_step, adam_refusal},
                                 {"adagrad_step", adagrad_step, adagrad_refusal}};

}  // namespace

std::span<const OpKernel> optim_kernels() { return kKernels; }

}  // namespace cuda
