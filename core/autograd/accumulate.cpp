#include "autograd/accumulate.h"

#include <thread>

#include "autograd/record.h"
#include "dispatch/convert.h"
#include "dispatch/elementwise.h"
#include "dispatch/expressions.h"
#include "dispatch/loop.h"
#include "dispatch/primitives.h"
#include "tensor/view.h"

namespace tenon {
namespace {

struct Expressions {
  const tn_expression& accumulate;
  const tn_expression& sum;
};

const Expressions& expressions() {
  static const Expressions both = [] {
    const tn_expression *accumulate, *sum;
    throw_if(intern_expression("accumulate(Tensor(a!) x, Tensor y) -> Tensor(a!)", "x + y", &accumulate));
    throw_if(intern_expression("add(Tensor x, Tensor y) -> Tensor", "x + y", &sum));
    return Expressions{*accumulate, *sum};
  }();
  return both;
}

class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag* flag) : flag_(flag) {
    while (flag_->test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~SpinLock() {
    flag_->clear(std::memory_order_release);
  }

 private:
  std::atomic_flag* flag_;
};

}  // namespace

Status add_into(TensorRef* grad, Tensor* more, bool create_graph) {
  Tensor* t = grad->get();
  const bool own = !create_graph && t->retained_once() && t->base == nullptr &&
                   t->storage->refs.load(std::memory_order_acquire) == 1 && t->is_contiguous() &&
                   same_sizes(more, t->size_span()) && more->dtype == t->dtype;
  tn_value args[3] = {{}, tensor_value(t), tensor_value(more)};
  if (create_graph) {
    args[0].kind = TN_EXPRESSION;
    args[0].as.expression = &expressions().sum;
    tn_value result{};
    TN_TRY(primitive(TN_ELEMENTWISE, args, {&result, 1}));
    *grad = TensorRef(as_tensor(result.as.tensor));
    return nullptr;
  }
  Tensor* result;
  TN_TRY(run_elementwise(nullptr, own ? *expressions().accumulate.expression : *expressions().sum.expression, args + 1, &result));
  *grad = TensorRef(result);
  return nullptr;
}


Status Leaf::backward(Tensor* const* grads, Tensor**) { return accumulate(grads[0], false); }


Status Leaf::accumulate(Tensor* grad, bool create_graph) {
  SpinLock lock(&lock_);
  if (grad_) {
    Tensor* t = grad_.get();
    if (create_graph || t->grad_fn != nullptr || may_overlap(t)) return add_into(&grad_, grad, create_graph);
    // In place, as PyTorch does: whoever holds .grad sees the sum.
    const tn_value args[2] = {tensor_value(t), tensor_value(grad)};
    Tensor* same;
    NoGradScope no_grad;
    TN_TRY(run_elementwise(nullptr, *expressions().accumulate.expression, args, &same));
    same->release();
    return nullptr;
  }
  // The engine holds one reference for us; a tensor that nobody else sees is taken as it is.
  const bool own = grad->retained_once() && grad->base == nullptr && grad->is_contiguous() &&
                   grad->storage->refs.load(std::memory_order_acquire) == 1;
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
  return grad_;
}

void Leaf::set_grad(TensorRef grad) {
  SpinLock lock(&lock_);
  std::swap(grad_, grad);
}

}  // namespace tenon
