// Gradients: modes of this thread, backward and grad, hooks, and the recorded graph. Functions with a
// gradient of one's own are in custom_function.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/function.hpp"
#include "tenon/ops/primitive.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Sets the mode of this thread until the end of the scope. Scopes nest.
class GradModeGuard {
 public:
  explicit GradModeGuard(int32_t mode) : before_(detail::api.autograd->mode()) {
    detail::api.autograd->set_mode(mode);
  }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;
  ~GradModeGuard() { detail::api.autograd->set_mode(before_); }

 private:
  int32_t before_;
};
namespace detail {
// Inference mode records nothing either, and stays.
inline int32_t mode_without_gradients() {
  const int32_t mode = api.autograd->mode();
  return mode == TN_MODE_INFERENCE ? mode : int32_t{TN_MODE_NO_GRAD};
}
}  // namespace detail
// Nothing is recorded.
struct NoGrad : GradModeGuard {
  [[nodiscard]] NoGrad() : GradModeGuard(detail::mode_without_gradients()) {}
};
using NoGradGuard = NoGrad;  // as libtorch's
// Recorded again, within NoGrad.
struct EnableGrad : GradModeGuard {
  [[nodiscard]] EnableGrad() : GradModeGuard(TN_MODE_GRAD) {}
};
// Records until the end of the scope if `on`, else not: for a function that trains and evaluates.
struct SetGradEnabled : GradModeGuard {
  [[nodiscard]] explicit SetGradEnabled(bool on)
      : GradModeGuard(on ? int32_t{TN_MODE_GRAD} : detail::mode_without_gradients()) {}
};
// Nothing is recorded, and tensors made here never enter a graph: faster still.
// With false it records, also within another, as PyTorch's.
struct InferenceMode : GradModeGuard {
  [[nodiscard]] explicit InferenceMode(bool on = true)
      : GradModeGuard(on ? TN_MODE_INFERENCE : TN_MODE_GRAD) {}
};
inline bool grad_enabled() { return detail::api.autograd->mode() == TN_MODE_GRAD; }
inline bool is_grad_enabled() { return grad_enabled(); }

// Within the scope, calls of this thread are remembered by their nodes, and backward stops at the
// first NaN and names its call.
class AnomalyGuard {
 public:
  [[nodiscard]] explicit AnomalyGuard(bool on = true) : before_(detail::api.autograd->anomaly()) {
    detail::api.autograd->set_anomaly(on);
  }
  AnomalyGuard(const AnomalyGuard&) = delete;
  AnomalyGuard& operator=(const AnomalyGuard&) = delete;
  ~AnomalyGuard() { detail::api.autograd->set_anomaly(before_); }

 private:
  int32_t before_;
};

namespace detail {
struct OneOrMore : std::vector<Tensor> {
  using std::vector<Tensor>::vector;
  OneOrMore(std::vector<Tensor> list) : std::vector<Tensor>(std::move(list)) {}
  OneOrMore(const Tensor& one) : std::vector<Tensor>{one} {}
};
}  // namespace detail

struct GradOptions {
  // One for each output, or the one; none: ones, for outputs of one element.
  detail::OneOrMore grad_outputs = {};
  bool retain_graph = false;  // to go through it again; create_graph implies it
  bool create_graph = false;  // the gradients have gradients
  // Null gradients, instead of an Error, for inputs that the outputs do not depend on.
  bool allow_unused = false;
};

namespace detail {
inline uint32_t grad_flags(const GradOptions& options) {
  return (options.retain_graph ? TN_BACKWARD_RETAIN_GRAPH : 0) |
         (options.create_graph ? TN_BACKWARD_CREATE_GRAPH : 0) |
         (options.allow_unused ? TN_BACKWARD_ALLOW_UNUSED : 0);
}
// The gradients given for n outputs: none stands for n times NULL.
inline std::vector<tn_tensor*> output_grads(const char* what, const GradOptions& options,
                                            uint32_t n) {
  const Tensors given = options.grad_outputs;
  if (given.size() == 0) return std::vector<tn_tensor*>(n);
  if (given.size() != n) {
    fail(joined({what, ": ", std::to_string(given.size()), " gradients for ", std::to_string(n),
                 " outputs"}));
  }
  return {given.data(), given.data() + n};
}
}  // namespace detail

// Accumulates the gradients of all outputs into their leaves' grad().
inline void backward(const Tensors& outputs, const GradOptions& options = {}) {
  auto grads = detail::output_grads("backward", options, outputs.size());
  check(detail::api.autograd->backward(outputs.data(), grads.data(), outputs.size(),
                                       detail::grad_flags(options)));
}
// The gradients of the outputs' sum with respect to `inputs`, leaves or not; nothing is
// accumulated.
inline std::vector<Tensor> grad(const Tensors& outputs, const Tensors& inputs,
                                const GradOptions& options = {}) {
  auto grads = detail::output_grads("grad", options, outputs.size());
  std::vector<tn_tensor*> raw(inputs.size());
  std::vector<Tensor> results;
  results.reserve(raw.size());
  check(detail::api.autograd->gradients(outputs.data(), grads.data(), outputs.size(), inputs.data(),
                                        inputs.size(), detail::grad_flags(options), raw.data()));
  for (tn_tensor* t : raw) results.push_back(Tensor::take(t));
  return results;
}
// Of one output; inputs in a list: grad(loss, model.parameters()).
template <detail::TensorLike Output>
std::vector<Tensor> grad(const Output& output, const Tensors& inputs,
                         const GradOptions& options = {}) {
  const Tensor of = output;
  return grad(Tensors(&of, 1), inputs, options);
}
// A gradient of one output and one input, which is no list as it is in PyTorch: grad(y, x)[0] does
// not compile, where it would be a row.
struct Gradient : Tensor {
  explicit Gradient(Tensor gradient) : Tensor(std::move(gradient)) {}
  Gradient& operator=(Tensor other) {
    Tensor::operator=(std::move(other));
    return *this;
  }
  using Tensor::operator[];
  template <typename Index>
  requires std::is_arithmetic_v<Index>
  void operator[](Index) && = delete;
};
// Of one output and one input, without braces: grad({y}, {x}) is the list of one. grad_outputs may stand
// in front of the options: grad(y, x, ones_like(y), {.create_graph = true}).
template <detail::TensorLike Output, detail::TensorLike Input>
Gradient grad(const Output& output, const Input& input, const GradOptions& options = {}) {
  const Tensor of = output, to = input;
  return Gradient(grad(Tensors(&of, 1), Tensors(&to, 1), options)[0]);
}
template <detail::TensorLike Output, detail::TensorLike Input, detail::TensorLike G>
Gradient grad(const Output& output, const Input& input, const G& grad_outputs,
              GradOptions options = {}) {
  options.grad_outputs = detail::as_tensor(grad_outputs);
  return grad(output, input, options);
}
namespace autograd {
// By libtorch's name, with its arguments in their places.
inline std::vector<Tensor> grad(const Tensors& outputs, const Tensors& inputs,
                                const std::vector<Tensor>& grad_outputs = {},
                                std::optional<bool> retain_graph = {}, bool create_graph = false,
                                bool allow_unused = false) {
  GradOptions options{.retain_graph = retain_graph.value_or(create_graph),
                      .create_graph = create_graph,
                      .allow_unused = allow_unused};
  if (!grad_outputs.empty()) options.grad_outputs = grad_outputs;
  return tenon::grad(outputs, inputs, options);
}
inline void backward(const Tensors& tensors, const std::vector<Tensor>& grad_tensors = {},
                     std::optional<bool> retain_graph = {}, bool create_graph = false,
                     const tenon::detail::ChosenInputs& inputs = {}) {
  GradOptions options{.retain_graph = retain_graph.value_or(create_graph),
                      .create_graph = create_graph};
  if (!grad_tensors.empty()) options.grad_outputs = grad_tensors;
  if (!inputs.is_given()) return tenon::backward(tensors, options);
  auto grads = tenon::detail::output_grads("backward", options, tensors.size());
  tenon::detail::backward_into(tensors.data(), grads.data(), tensors.size(), inputs.list(),
                               tenon::detail::grad_flags(options));
}
}  // namespace autograd

namespace detail {
template <typename F>
tn_status* call_hook(void* self, tn_tensor* grad, tn_tensor** replacement) {
  return to_status([&] {
    F& f = Held<F>::get(self);
    if constexpr (std::is_void_v<decltype(f(Tensor()))>) {
      f(Tensor::borrow(grad));
    } else {
      *replacement = f(Tensor::borrow(grad)).release();
    }
  });
}
}  // namespace detail

// What Tensor::register_hook gives: the hook's number, and what takes it away. It holds the tensor,
// so a hook must not hold its own.
class TensorHook {
 public:
  TensorHook() = default;
  TensorHook(Tensor tensor, uint64_t id) : tensor_(std::move(tensor)), id_(id) {}
  operator uint64_t() const { return id_; }
  // Without effect where it was removed before, or stands for none.
  void remove() const {
    if (tensor_.defined())
      detail::check_removed(detail::api.autograd->remove_hook(tensor_.get(), id_));
  }

 private:
  Tensor tensor_;
  uint64_t id_ = 0;
};

template <typename F>
TensorHook Tensor::register_hook(F f) const {
  uint64_t id = 0;
  void* self = detail::Held<F>::make(std::move(f));
  if (tn_status* status = detail::api.autograd->add_hook(held_, detail::call_hook<F>, self,
                                                         detail::Held<F>::destroy, &id)) {
    detail::Held<F>::destroy(self);
    detail::raise(status);
  }
  return {*this, id};
}

// A recorded call, owned. The graph of y is walked from grad_fn(y) through next(i).
class Node {
 public:
  Node() = default;
  explicit Node(tn_node* node) : node_(node) {}  // takes it
  Node(Node&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Node& operator=(Node&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Node() {
    if (node_) detail::api.autograd->node_release(node_);
  }
  bool defined() const { return node_ != nullptr; }
  explicit operator bool() const { return defined(); }
  bool operator==(const Node& other) const { return node_ == other.node_; }
  std::string name() const { return detail::api.autograd->node_name(node_); }
  uint32_t n_next() const { return detail::api.autograd->node_n_next(node_); }
  Node next(uint32_t i) const {  // null: that input needs no gradient
    return Node(detail::api.autograd->node_next(node_, i));
  }
  // f(Tensor grad) as Tensor::register_hook's, of the first output's gradient.
  template <typename F>
  void register_hook(F f) const {
    void* self = detail::Held<F>::make(std::move(f));
    if (tn_status* status = detail::api.autograd->node_add_hook(node_, detail::call_hook<F>, self,
                                                                detail::Held<F>::destroy)) {
      detail::Held<F>::destroy(self);
      detail::raise(status);
    }
  }

 private:
  tn_node* node_ = nullptr;
};
// The call that made a tensor; null for leaves.
inline Node grad_fn(const Tensor& t) { return Node(detail::api.autograd->grad_fn(t.get())); }

}  // namespace v0
}  // namespace tenon
