// Gradients: modes of this thread, backward and grad, hooks, and the recorded graph. Functions with a
// gradient of one's own are in custom_function.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
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
// Inference mode alone ends inference mode, as in PyTorch: a model whose forward enables gradients
// records none where it serves.
inline int32_t mode_with_gradients(bool on) {
  if (!on) return mode_without_gradients();
  const int32_t mode = api.autograd->mode();
  return mode == TN_MODE_INFERENCE ? mode : int32_t{TN_MODE_GRAD};
}
}  // namespace detail
// Nothing is recorded.
struct NoGrad : GradModeGuard {
  [[nodiscard]] NoGrad() : GradModeGuard(detail::mode_without_gradients()) {}
};
using NoGradGuard = NoGrad;  // as libtorch's
// Recorded again, within NoGrad; within inference mode nothing is, until InferenceMode(false).
struct EnableGrad : GradModeGuard {
  [[nodiscard]] EnableGrad() : GradModeGuard(detail::mode_with_gradients(true)) {}
};
// Records until the end of the scope if `on`, else not: for a function that trains and evaluates.
struct SetGradEnabled : GradModeGuard {
  [[nodiscard]] explicit SetGradEnabled(bool on) : GradModeGuard(detail::mode_with_gradients(on)) {}
};
using AutoGradMode = SetGradEnabled;  // libtorch's
// Nothing is recorded, and tensors made here never enter a graph: faster still.
// With false it records, also within another, as PyTorch's.
struct InferenceMode : GradModeGuard {
  [[nodiscard]] explicit InferenceMode(bool on = true)
      : GradModeGuard(on ? TN_MODE_INFERENCE : TN_MODE_GRAD) {}
  static bool is_enabled() { return detail::api.autograd->mode() == TN_MODE_INFERENCE; }
};
inline bool is_inference_mode_enabled() { return InferenceMode::is_enabled(); }
inline bool grad_enabled() { return detail::api.autograd->mode() == TN_MODE_GRAD; }
inline bool is_grad_enabled() { return grad_enabled(); }
// libtorch's. Without a scope: GradModeGuard and its kin are set back where theirs ends.
struct GradMode {
  static bool is_enabled() { return grad_enabled(); }
  static void set_enabled(bool on) {
    detail::api.autograd->set_mode(detail::mode_with_gradients(on));
  }
};

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
// An argument that is one tensor, several in braces, or a list. `{}` is none of these: it stands
// for options. The tensors in braces are no std::initializer_list for the reason that List has.
struct SomeTensors : Tensors {
  template <typename... T>
  requires(sizeof...(T) > 0 && (TensorLike<const T&> && ...)) SomeTensors(const T&... tensors)
      : Tensors(std::initializer_list<Item>{tensors...}) {}
  template <typename L>
  requires(std::is_convertible_v<L, Tensors> &&
           !std::is_base_of_v<SomeTensors, std::remove_cvref_t<L>>) SomeTensors(L&& list)
      : Tensors(std::forward<L>(list)) {}
};
// f of the list, or of its tensors one by one. `op` begins an Error.
template <typename F, size_t... I>
auto call_unpacked(const char* op, F& f, const std::vector<Tensor>& x, std::index_sequence<I...>) {
  if (x.size() != sizeof...(I)) {
    fail(joined({op, ": the function takes ", std::to_string(sizeof...(I)), " tensors, and ",
                 std::to_string(x.size()), " inputs are given"}));
  }
  return f(x[I]...);
}
template <typename F>
auto call_with_all(const char* op, F& f, const std::vector<Tensor>& x) {
  if constexpr (std::is_invocable_v<F&, const std::vector<Tensor>&>) {
    return f(x);
  } else {
    return call_unpacked(op, f, x, std::make_index_sequence<kArity<F>>());
  }
}
// The same as a member of options, which borrows nothing and may be empty.
struct OneOrMore : std::vector<Tensor> {
  OneOrMore() = default;
  OneOrMore(std::initializer_list<Tensor> tensors) : std::vector<Tensor>(tensors) {}
  template <typename... T>
  requires(sizeof...(T) > 0 && (TensorLike<const T&> && ...)) OneOrMore(const T&... tensors)
      : std::vector<Tensor>{Tensor(tensors)...} {}
  template <typename L>
  requires(std::is_convertible_v<L, Tensors> &&
           !std::is_base_of_v<OneOrMore, std::remove_cvref_t<L>>) OneOrMore(L&& list)
      : std::vector<Tensor>(Tensors(std::forward<L>(list)).to_vector()) {}
};
}  // namespace detail

struct GradOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
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
inline void backward(const detail::SomeTensors& outputs, const GradOptions& options = {}) {
  auto grads = detail::output_grads("backward", options, outputs.size());
  check(detail::api.autograd->backward(outputs.data(), grads.data(), outputs.size(),
                                       detail::grad_flags(options)));
}
inline void backward(const detail::SomeTensors& outputs, const detail::SomeTensors& grad_outputs,
                     GradOptions options = {}) {
  options.grad_outputs = grad_outputs.to_vector();
  backward(outputs, options);
}
// The gradients of the outputs' sum with respect to `inputs`, leaves or not; nothing is
// accumulated. Inputs in a list give a list: grad(loss, model.parameters()), grad(y, {x}).
// grad_outputs may stand in front of the options:
//   grad(y, {x, t}, ones_like(y), {.create_graph = true})
inline std::vector<Tensor> grad(const detail::SomeTensors& outputs, const Tensors& inputs,
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
inline std::vector<Tensor> grad(const detail::SomeTensors& outputs, const Tensors& inputs,
                                const detail::SomeTensors& grad_outputs, GradOptions options = {}) {
  options.grad_outputs = grad_outputs.to_vector();
  return grad(outputs, inputs, options);
}
// The gradient of one input, which is no list as it is in PyTorch: grad(y, x)[0] does not compile,
// where it would be a row.
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
// Of one input, without braces.
template <detail::TensorLike Input>
Gradient grad(const detail::SomeTensors& outputs, const Input& input,
              const GradOptions& options = {}) {
  const Tensor to = input;
  return Gradient(grad(outputs, Tensors(&to, 1), options)[0]);
}
template <detail::TensorLike Input>
Gradient grad(const detail::SomeTensors& outputs, const Input& input,
              const detail::SomeTensors& grad_outputs, GradOptions options = {}) {
  options.grad_outputs = grad_outputs.to_vector();
  return grad(outputs, input, options);
}
namespace autograd {
// As torch.autograd's: a list of gradients also of one input. The options behind grad_outputs are
// given by name, or by place as libtorch has them.
inline std::vector<Tensor> grad(const tenon::detail::SomeTensors& outputs,
                                const tenon::detail::SomeTensors& inputs,
                                const GradOptions& options = {}) {
  return tenon::grad(outputs, static_cast<const Tensors&>(inputs), options);
}
inline std::vector<Tensor> grad(const tenon::detail::SomeTensors& outputs,
                                const tenon::detail::SomeTensors& inputs,
                                const tenon::detail::SomeTensors& grad_outputs,
                                const GradOptions& options = {}) {
  return tenon::grad(outputs, static_cast<const Tensors&>(inputs), grad_outputs, options);
}
inline std::vector<Tensor> grad(const tenon::detail::SomeTensors& outputs,
                                const tenon::detail::SomeTensors& inputs,
                                const tenon::detail::OneOrMore& grad_outputs,
                                std::optional<bool> retain_graph, bool create_graph = false,
                                bool allow_unused = false) {
  return grad(outputs, inputs,
              GradOptions{.grad_outputs = grad_outputs,
                          .retain_graph = retain_graph.value_or(create_graph),
                          .create_graph = create_graph,
                          .allow_unused = allow_unused});
}
inline void backward(const tenon::detail::SomeTensors& tensors, const GradOptions& options = {}) {
  tenon::backward(tensors, options);
}
inline void backward(const tenon::detail::SomeTensors& tensors,
                     const tenon::detail::SomeTensors& grad_tensors,
                     const GradOptions& options = {}) {
  tenon::backward(tensors, grad_tensors, options);
}
inline void backward(const tenon::detail::SomeTensors& tensors,
                     const tenon::detail::OneOrMore& grad_tensors, std::optional<bool> retain_graph,
                     bool create_graph = false, const tenon::detail::ChosenInputs& inputs = {}) {
  const GradOptions options{.grad_outputs = grad_tensors,
                            .retain_graph = retain_graph.value_or(create_graph),
                            .create_graph = create_graph};
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

namespace detail {
template <typename Add, typename F>
TensorHook hang_hook(Add add, const Tensor& tensor, tn_tensor* held, F f) {
  uint64_t id = 0;
  void* self = Held<F>::make(std::move(f));
  if (tn_status* status = add(held, call_hook<F>, self, Held<F>::destroy, &id)) {
    Held<F>::destroy(self);
    raise(status);
  }
  return {tensor, id};
}
}  // namespace detail

template <typename F>
TensorHook Tensor::register_hook(F f) const {
  return detail::hang_hook(detail::api.autograd->add_hook, *this, held_, std::move(f));
}
template <typename F>
TensorHook Tensor::register_post_accumulate_grad_hook(F f) const {
  static_assert(std::is_void_v<decltype(f(Tensor()))>,
                "register_post_accumulate_grad_hook: f(Tensor) gives nothing");
  return detail::hang_hook(detail::api.autograd->add_accumulated_hook, *this, held_, std::move(f));
}

namespace detail {
struct ReleaseNode {
  void operator()(tn_node* node) const { api.autograd->node_release(node); }
};
// For those who look a node up by its address, which is its own as long as they hold it.
using OwnedNode = std::unique_ptr<tn_node, ReleaseNode>;
}  // namespace detail

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
