#include "call/call.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/text.h"
#include "primitive/convert.h"
#include "primitive/elementwise.h"
#include "launch/explain.h"
#include "primitive/primitives.h"
#include "registry/recording.h"
#include "registry/variants.h"
#include "profile/profile.h"
#include "tensor/rows.h"
#include "registry/called_name.h"

namespace tenon {

namespace {

inline bool records() { return (thread_state.modes & (kModeNoGrad | kModeInference)) == 0; }

[[gnu::cold, gnu::noinline]] Status refuse_count(const Op* op, uint32_t n_args) {
  const auto& arguments = op->schema.arguments;
  if (n_args > arguments.size()) {
    return invalid("{}: {} arguments, expected at most {}: {}", called_name(op), n_args,
                   arguments.size(), schema_text(op->schema));
  }
  while (arguments[n_args].has_default) ++n_args;
  return invalid("{}: argument '{}' is missing: {}", called_name(op), arguments[n_args].name,
                 schema_text(op->schema));
}

// Missing trailing arguments take their defaults.
inline Status complete_arguments(const Op* op, const tn_value* args, uint32_t n_args,
                                 tn_value* complete) {
  if (n_args < op->n_required || n_args > op->defaults.size()) [[unlikely]]
    return refuse_count(op, n_args);
  std::copy_n(args, n_args, complete);
  std::copy(op->defaults.begin() + n_args, op->defaults.end(), complete + n_args);
  return nullptr;
}

// A call of an op with variants: goes on as a call of the formula that takes it.
[[gnu::noinline]] Status call_with_variants(const Op* op, const tn_value* args, uint32_t n_args,
                                            tn_value* results, uint32_t n_results) {
  tn_value complete[kMaxArguments];
  TN_TRY(complete_arguments(op, args, n_args, complete));
  for (uint32_t i = 0; i < n_args; ++i)
    TN_TRY(check_value(op->schema, op->schema.arguments[i], args[i], true));
  TN_TRY(choose_variant(&op, complete));
  return call(op, complete, static_cast<uint32_t>(op->n_direct), results, n_results);
}

// New tensors become inference tensors; an argument that is given back (dropout in eval, an
// in-place op), and a view of one that is none, stay what they are.
void mark_inference(std::span<const tn_value> args, std::span<tn_value> results) {
  const auto stays = [&](const tn_tensor* t) {
    return std::any_of(args.begin(), args.end(), [&](const tn_value& v) {
      const tn_tensor* x = v.kind == TN_KIND_TENSOR ? v.as.tensor : nullptr;
      return x != nullptr && (x == t || (as_tensor(x)->storage == as_tensor(t)->storage &&
                                         (x->flags & TN_TENSOR_INFERENCE) == 0));
    });
  };
  for (tn_value& v : results) {
    for (tn_tensor* t : tensors_of(v)) {
      if (!stays(t)) t->flags |= TN_TENSOR_INFERENCE;
    }
  }
}

// A view that was made while gradients were off needs none, and what is written into it changes the
// values of a base that needs one: recording refuses it.
bool writes_beside_gradient(const Op* op, std::span<const tn_value> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if ((op->written >> i & 1) == 0 || args[i].kind != TN_KIND_TENSOR) continue;
    const Tensor* t = as_tensor(args[i].as.tensor);
    if (t != nullptr && t->base != nullptr && t->base->requires_grad()) return true;
  }
  return false;
}

Status check_inference_writes(const Op* op, std::span<const tn_value> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if ((op->written >> i & 1) == 0) continue;
    for (const tn_tensor* t : tensors_of(args[i]))
      TN_TRY(check_inference_write(op->schema.name.c_str(), t));
  }
  return nullptr;
}

// The path below autocast; `gradient`: an argument needs one.
inline Status finish_call(const Op* op, std::span<const tn_value> args, std::span<tn_value> results,
                          bool gradient) {
  if (op->written != 0) [[unlikely]] {
    TN_TRY(check_inference_writes(op, args));
    if (!gradient && records()) gradient = writes_beside_gradient(op, args);
  }
  if (gradient && records()) {
    if ((op->flags & TN_OP_NO_GRADIENT) == 0) return handlers.autograd_op(op, args, results);
    // What a decomposition calls would be recorded. (One that writes to a leaf is refused by that.)
    if (op->written == 0) {
      ModeScope without_gradient(kModeNoGrad, 0);
      return run_op(op, args, results);
    }
  }
  TN_TRY(run_op(op, args, results));
  if ((thread_state.modes & kModeInference) != 0) [[unlikely]]
    mark_inference(args, results);
  return nullptr;
}

Status call_with_modes(const Op* op, std::span<const tn_value> args, std::span<tn_value> results) {
  std::optional<ProfileScope> profile;
  if ((thread_state.modes & kModeProfile) != 0)
    profile.emplace(profile_event(TN_PROFILE_CALL, op->schema.name.c_str(), args));
  ExplainScope explain(op->schema.name, args);
  if ((thread_state.modes & kModeAutocast) != 0 && !op->passes_autocast)
    return handlers.autocast(op, args, results);
  return call_below_autocast(op, args, results);
}

// "x is [2, 3] int64 on cpu, weight is [4, 5] int64 on cpu"
std::string arguments_text(const Op* op, std::span<const tn_value> args) {
  std::string text;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].kind != TN_KIND_TENSOR || args[i].as.tensor == nullptr) continue;
    text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", op->schema.arguments[i].name,
                        tensor_text(args[i].as.tensor));
  }
  return text;
}

// An error begins with the name of the op that was called from outside of all decompositions, and
// has its arguments, where another op, a primitive or a formula inside said it.
[[gnu::cold, gnu::noinline]] Status named(const Op* op, std::span<const tn_value> args,
                                          Status status) {
  const std::string& name = called_name(op);
  const std::string& said = status->message;
  const auto begins_with = [&](const std::string& n) {
    return said.size() > n.size() && said[n.size()] == ':' && said.starts_with(n);
  };
  if (thread_state.decomposed != nullptr || begins_with(name)) return status;
  StatusHolder no_memory(guarded([&]() -> Status {
    if (begins_with(op->schema.name)) {  // as the pack's author calls it
      set_message(status, fmt::format("{}.{}", op->plugin, said));
      return nullptr;
    }
    const std::string arguments =
        status->code == TN_INVALID_ARGUMENT ? arguments_text(op, args) : "";
    set_message(status, fmt::format("{}: {}{}", name, said,
                                    arguments.empty() ? "" : fmt::format(" ({})", arguments)));
    return nullptr;
  }));
  return status;
}

}  // namespace

// A list without holes where one is wanted; with a look at whether one of it needs a gradient.
static inline bool is_list_of_tensors(const Argument& argument, const tn_value& value,
                                      uint32_t* flags) {
  if (argument.type != Type::kTensor || !argument.list || value.as.tensors == nullptr) return false;
  for (uint32_t i = 0; i < value.count; ++i) {
    if (value.as.tensors[i] == nullptr) return false;
    *flags |= flags_of(as_tensor(value.as.tensors[i]));
  }
  return true;
}

// Numbers that tensors stand for are read, and known by their tensors to a recording and to the
// decomposition.
[[gnu::cold, gnu::noinline]] static Status call_with_numbers(const Op* op,
                                                             std::span<const tn_value> given,
                                                             std::span<tn_value> results) {
  tn_value read[kMaxArguments];
  for (size_t i = 0; i < given.size(); ++i) {
    const bool stands_for_number =
        given[i].kind == TN_KIND_TENSOR && op->schema.arguments[i].type != Type::kTensor;
    read[i] = stands_for_number ? read_scalar(given[i].as.tensor) : given[i];
  }
  DynamicNumbers numbers{op, given, {read, given.size()}, false};
  const NumbersScope scope(&numbers);
  const Status status = call(op, read, static_cast<uint32_t>(given.size()), results.data(),
                             static_cast<uint32_t>(results.size()));
  if ((thread_state.modes & kModeRecord) != 0) {
    // Nodes keep numbers as they were.
    const bool kept =
        records() && (op->flags & TN_OP_NO_GRADIENT) == 0 && any_needs_gradient(given);
    if (kept || !numbers.used)
      thread_state.recording->refuse(fmt::format("{}: a number is read from its tensor{}",
                                                 op->schema.name, kept ? " for the gradient" : ""));
  }
  return status;
}

[[gnu::cold, gnu::noinline]] static Status refuse_row_sparse(const Op* op,
                                                             std::span<const tn_value> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const std::span<tn_tensor* const> tensors = tensors_of(args[i]);
    for (size_t k = 0; k < tensors.size(); ++k) {
      if (tensors[k] == nullptr || !is_rows(as_tensor(tensors[k]))) continue;
      const bool list = args[i].kind == TN_KIND_TENSORS;
      return refuse_rows(fmt::format("{}: {}{}", called_name(op), op->schema.arguments[i].name,
                                     list ? fmt::format("[{}]", k) : ""),
                         as_tensor(tensors[k]));
    }
  }
  return nullptr;
}

Status call(const Op* op, const tn_value* args, uint32_t n_args, tn_value* results,
            uint32_t n_results) {
  const auto& arguments = op->schema.arguments;
  const uint32_t n_given = n_args;
  tn_value complete[kMaxArguments];
  bool numbers_in_tensors = false;
  if (n_args != op->n_direct) {
    if (op->variants != nullptr) return call_with_variants(op, args, n_args, results, n_results);
    TN_TRY(complete_arguments(op, args, n_args, complete));
    args = complete;
    n_args = static_cast<uint32_t>(arguments.size());
  }
  if (n_results != op->schema.returns.size()) [[unlikely]] {
    return invalid("{}: {} results were asked for, it gives {}: {}", called_name(op), n_results,
                   op->schema.returns.size(), schema_text(op->schema));
  }
  const bool numbers = op->kind == OpKind::kExpression || (op->flags & TN_OP_NUMBERS) != 0;
  uint32_t flags = 0;  // of all tensors, one or the other
  for (uint32_t i = 0; i < n_given; ++i) {
    // The common case without a call: a tensor where the schema wants one.
    if (args[i].kind == TN_KIND_TENSOR && arguments[i].type == Type::kTensor &&
        !arguments[i].list && args[i].as.tensor != nullptr) [[likely]] {
      flags |= flags_of(as_tensor(args[i].as.tensor));
      continue;
    }
    if (args[i].kind == TN_KIND_TENSORS && is_list_of_tensors(arguments[i], args[i], &flags))
      continue;
    TN_TRY(check_value(op->schema, arguments[i], args[i], numbers));
    numbers_in_tensors |= args[i].kind == TN_KIND_TENSOR;
    if (args[i].kind == TN_KIND_INT && arguments[i].type == Type::kFloat) [[unlikely]] {
      // Kernels and decompositions read a float where the schema says float.
      const auto value = static_cast<double>(args[i].as.i);
      if (args != complete)
        args = static_cast<const tn_value*>(std::memcpy(complete, args, n_args * sizeof(tn_value)));
      complete[i] = {TN_KIND_FLOAT, 0, {}};
      complete[i].as.f = value;
    }
    for (const tn_tensor* t : tensors_of(args[i]))
      flags |= t != nullptr ? flags_of(as_tensor(t)) : 0;
  }
  const std::span<const tn_value> all(args, n_args);
  const std::span<tn_value> out(results, n_results);
  if ((flags & TN_TENSOR_ROWS) != 0) [[unlikely]]
    return refuse_row_sparse(op, all);
  if (numbers_in_tensors) [[unlikely]]
    return call_with_numbers(op, all, out);
  ResultsScope scope(out);
  const Status status =
      scope.keep_if_fine((thread_state.modes & kModesOfCalls) != 0
                             ? call_with_modes(op, all, out)
                             : finish_call(op, all, out, (flags & TN_TENSOR_REQUIRES_GRAD) != 0));
  if (status != nullptr) [[unlikely]]
    return named(op, all, status);
  return nullptr;
}

Status refuse_inference_write(const char* what, const tn_tensor* t) {
  return error(TN_FAILED_PRECONDITION,
               "{}: {} was made in inference mode and cannot be changed in place outside of it; "
               "clone it first",
               what, tensor_text(t));
}

Status call_below_autocast(const Op* op, std::span<const tn_value> args,
                           std::span<tn_value> results) {
  return finish_call(op, args, results, any_needs_gradient(args));
}

}  // namespace tenon
