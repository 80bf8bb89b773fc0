// Losses, as means over the batch.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

void check_classes(const char* op, const Tensor& input, const Tensor& target) {
  bool fits = input.dim() == 2 && target.dim() == 1 && target.size(0) == input.size(0);
  if (fits && target.dtype() == int64 && target.device() == input.device()) return;
  fail(std::string(op) + ": input is " + sizes_text(input.sizes()) + " on " +
       input.device().name() + ", target is " + sizes_text(target.sizes()) + " (" +
       target.dtype().name() + ") on " + target.device().name() +
       "; expected input [n, classes], target [n] int64, on one device");
}

Tensor nll(const Tensor& input, const Tensor& target) {
  Tensor picked = prim::gather(input, 1, prim::reshape(target, {target.size(0), 1}));
  return neg(mean(picked));
}

}  // namespace

void loss() {
  op("nll_loss(Tensor input, Tensor target) -> Tensor")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target) {
        check_classes("nll_loss", input, target);
        return nll(input, target);
      });
  op("cross_entropy(Tensor input, Tensor target) -> Tensor")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target) {
        check_classes("cross_entropy", input, target);
        return nll(log_softmax(input, 1), target);
      });
}

}  // namespace tenon::ops_pack
