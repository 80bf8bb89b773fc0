#include "autograd/accumulate.h"

#include <algorithm>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "autograd/record.h"
#include "primitive/convert.h"
#include "primitive/elementwise.h"
#include "registry/expressions.h"
#include "registry/recording.h"
#include "primitive/loop.h"
#include "primitive/primitives.h"
#include "tensor/layout.h"
#include "tensor/rows.h"
#include "tensor/view.h"

namespace tenon {
namespace {

struct Sums {
  const Op* in_place[kMaxTerms];  // x += a; x += a + b; ...
  const Op* fresh[kMaxTerms];     // x + a; x + a + b; ...
};

const Sums& sums() {
  static const Sums all = [] {
    Sums made;
    std::string arguments, formula = "x";
    for (size_t i = 0; i < kMaxTerms; ++i) {
      const char name = static_cast<char>('a' + i);
      arguments += fmt::format(", Tensor {}", name);
      formula += fmt::format(" + {}", name);
      throw_if(intern_expression(
          fmt::format("accumulate(Tensor(x!) x{}) -> Tensor(x!)", arguments).c_str(),
          formula.c_str(), &made.in_place[i]));
      throw_if(intern_expression(fmt::format("add(Tensor x{}) -> Tensor", arguments).c_str(),
                                 formula.c_str(), &made.fresh[i]));
    }
    return made;
  }();
  return all;
}

void note_gradient(Leaf* leaf, const Tensor* grad, bool replaced) {
  if ((thread_state.modes & kModeRecord) != 0) [[unlikely]]
    thread_state.recording->see_gradient(leaf, grad, replaced);
}

void refuse_kept_gradient() {
  if ((thread_state.modes & kModeRecord) != 0)
    thread_state.recording->refuse("retain_grad: no replay keeps a gradient of a non-leaf");
}

class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag* flag) : flag_(flag) {
    while (flag_->test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~SpinLock() { flag_->clear(std::memory_order_release); }

 private:
  std::atomic_flag* flag_;
};

}  // namespace

Status add_into(TensorRef* grad, std::span<Tensor* const> terms, bool create_graph) {
  Tensor* t = grad->get();
  const bool sparse = is_rows(t) || std::ranges::any_of(terms, is_rows);
  if (sparse) [[unlikely]]
    return add_rows_into(grad, terms, create_graph);
  bool own = !create_graph && is_unseen(t) && is_dense(t);
  tn_value args[1 + kMaxTerms] = {tensor_value(t)};
  for (size_t i = 0; i < terms.size(); ++i) {
    own = own && same_sizes(terms[i], t) && terms[i]->dtype == t->dtype;
    args[1 + i] = tensor_value(terms[i]);
  }
  const Op* sum = (own ? sums().in_place : sums().fresh)[terms.size() - 1];
  if (create_graph) {
    tn_value result{};
    TN_TRY(call(sum, args, static_cast<uint32_t>(1 + terms.size()), &result, 1));
    *grad = TensorRef(as_tensor(result.as.tensor));
    return nullptr;
  }
  Tensor* result;
  TN_TRY(run_elementwise(*sum, args, &result));
  *grad = TensorRef(result);
  return nullptr;
}

Status add_in_place(Tensor* t, Tensor* term) {
  const tn_value args[2] = {tensor_value(t), tensor_value(term)};
  Tensor* same;
  TN_TRY(run_elementwise(*sums().in_place[0], args, &same));
  same->release();
  return nullptr;
}

Status GradKeeper::keep(Tensor* grad, bool create_graph) {
  refuse_kept_gradient();
  SpinLock lock(&lock_);
  if (ended_) return nullptr;
  if (grad_) return add_into(&grad_, {&grad, 1}, create_graph);
  if (create_graph) {
    grad_ = TensorRef::retaining(grad);
    return nullptr;
  }
  Tensor* copy;  // the engine goes on with the gradient, or it is the caller's own
  TN_TRY(copy_to(grad, grad->device, TN_DTYPE_NONE, &copy));
  grad_ = TensorRef(copy);
  return nullptr;
}

TensorRef GradKeeper::grad() const {
  refuse_kept_gradient();
  SpinLock lock(&lock_);
  return grad_;
}

void GradKeeper::set_grad(TensorRef grad) {
  refuse_kept_gradient();
  SpinLock lock(&lock_);
  std::swap(grad_, grad);
}

// What is freed, is freed outside of the lock: it may hold the last reference to a graph.
void GradKeeper::end() {
  TensorRef last;
  SpinLock lock(&lock_);
  ended_ = true;
  std::swap(grad_, last);
}

Status Leaf::backward(Tensor* const* grads, Tensor**) { return accumulate(grads[0], false); }

Status Leaf::accumulate(Tensor* grad, bool create_graph) {
  if (!wanted_.load(std::memory_order_relaxed)) return nullptr;
  SpinLock lock(&lock_);
  note_gradient(this, grad_.get(), /*replaced=*/false);
  if (grad_) {
    Tensor* t = grad_.get();
    if (create_graph || t->grad_fn != nullptr || is_rows(t) || is_rows(grad) || may_overlap(t))
      return add_into(&grad_, {&grad, 1}, create_graph);
    // In place, as PyTorch does: whoever holds .grad sees the sum.
    return add_in_place(t, grad);
  }
  // The engine holds one reference for us; a tensor that nobody else sees is taken as it is.
  const bool own = is_rows(grad) ? are_unseen(grad) : is_unseen(grad) && is_dense(grad);
  if (create_graph || own) {
    grad_ = TensorRef::retaining(grad);
    return nullptr;
  }
  Tensor* copy;
  TN_TRY(copy_to(grad, grad->device, TN_DTYPE_NONE, &copy));
  grad_ = TensorRef(copy);
  return nullptr;
}

TensorRef Leaf::grad() const {
  SpinLock lock(&lock_);
  note_gradient(const_cast<Leaf*>(this), grad_.get(), /*replaced=*/false);
  return grad_;
}

void Leaf::set_grad(TensorRef grad) {
  SpinLock lock(&lock_);
  note_gradient(this, grad_.get(), /*replaced=*/true);
  std::swap(grad_, grad);
}

}  // namespace tenon
