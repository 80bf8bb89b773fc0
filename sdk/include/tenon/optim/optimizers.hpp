// What the plugin 'optimizers' brings, written by `tenon header`: changes belong into the plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/optim/params.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace optim {

// Stochastic gradient descent: g += weight_decay * p; buffer = momentum * buffer + (1 - dampening)
// * g, at first g itself; p -= lr * (buffer, or with nesterov g + momentum * buffer, or without
// momentum g). maximize: with -g. Row-sparse gradients are taken without momentum and weight_decay.
struct SGDOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  Float momentum = 0.0;
  Float dampening = 0.0;
  Float weight_decay = 0.0;
  bool nesterov = false;
  bool maximize = false;
};
class SGD : public Optimizer {
 public:
  SGD() = default;
  explicit SGD(const Params& params, const SGDOptions& options = {}) : Optimizer(params.made("SGD", {params.first(), options.lr, options.momentum, options.dampening, options.weight_decay, options.nesterov, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit SGD(const Params& params, const P& lr, Float momentum = 0.0, Float dampening = 0.0, Float weight_decay = 0.0, Bool nesterov = false, Bool maximize = false) : Optimizer(params.made("SGD", {params.first(), Float(lr), momentum, dampening, weight_decay, nesterov, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<Float, SGDOptions> P2 = SGDOptions, detail::PlacedOr<Float, SGDOptions> P3 = SGDOptions, detail::PlacedOr<Float, SGDOptions> P4 = SGDOptions, detail::PlacedOr<Bool, SGDOptions> P5 = SGDOptions, detail::PlacedOr<Bool, SGDOptions> P6 = SGDOptions>
  explicit SGD(const Params& params, const P1& lr, const P2& momentum, const P3& dampening = detail::unset<P3>(), const P4& weight_decay = detail::unset<P4>(), const P5& nesterov = detail::unset<P5>(), const P6& maximize = detail::unset<P6>()) : SGD(params, detail::behind<SGDOptions, 7, 1>("SGD", lr, momentum, dampening, weight_decay, nesterov, maximize)) {}
};
// Adam (Kingma & Ba, arXiv:1412.6980, algorithm 1), with weight_decay * p added to the gradient.
// amsgrad: with the greatest of all averages of squares until now (Reddi et al., arXiv:1904.09237).
// maximize: with the negated gradient.
struct AdamOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  KeptFloats betas = {0.9, 0.999};
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  bool amsgrad = false;
  bool maximize = false;
};
class Adam : public Optimizer {
 public:
  Adam() = default;
  explicit Adam(const Params& params, const AdamOptions& options = {}) : Optimizer(params.made("Adam", {params.first(), options.lr, options.betas, options.eps, options.weight_decay, options.amsgrad, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit Adam(const Params& params, const P& lr, Floats betas = {0.9, 0.999}, Float eps = 1e-08, Float weight_decay = 0.0, Bool amsgrad = false, Bool maximize = false) : Optimizer(params.made("Adam", {params.first(), Float(lr), betas, eps, weight_decay, amsgrad, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<KeptFloats, AdamOptions> P2 = AdamOptions, detail::PlacedOr<Float, AdamOptions> P3 = AdamOptions, detail::PlacedOr<Float, AdamOptions> P4 = AdamOptions, detail::PlacedOr<Bool, AdamOptions> P5 = AdamOptions, detail::PlacedOr<Bool, AdamOptions> P6 = AdamOptions>
  explicit Adam(const Params& params, const P1& lr, const P2& betas, const P3& eps = detail::unset<P3>(), const P4& weight_decay = detail::unset<P4>(), const P5& amsgrad = detail::unset<P5>(), const P6& maximize = detail::unset<P6>()) : Adam(params, detail::behind<AdamOptions, 7, 1>("Adam", lr, betas, eps, weight_decay, amsgrad, maximize)) {}
};
// Adam with weight decay beside the gradient (Loshchilov & Hutter, arXiv:1711.05101): p shrinks by
// the factor 1 - lr * weight_decay.
struct AdamWOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  KeptFloats betas = {0.9, 0.999};
  Float eps = 1e-08;
  Float weight_decay = 0.01;
  bool amsgrad = false;
  bool maximize = false;
};
class AdamW : public Optimizer {
 public:
  AdamW() = default;
  explicit AdamW(const Params& params, const AdamWOptions& options = {}) : Optimizer(params.made("AdamW", {params.first(), options.lr, options.betas, options.eps, options.weight_decay, options.amsgrad, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit AdamW(const Params& params, const P& lr, Floats betas = {0.9, 0.999}, Float eps = 1e-08, Float weight_decay = 0.01, Bool amsgrad = false, Bool maximize = false) : Optimizer(params.made("AdamW", {params.first(), Float(lr), betas, eps, weight_decay, amsgrad, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<KeptFloats, AdamWOptions> P2 = AdamWOptions, detail::PlacedOr<Float, AdamWOptions> P3 = AdamWOptions, detail::PlacedOr<Float, AdamWOptions> P4 = AdamWOptions, detail::PlacedOr<Bool, AdamWOptions> P5 = AdamWOptions, detail::PlacedOr<Bool, AdamWOptions> P6 = AdamWOptions>
  explicit AdamW(const Params& params, const P1& lr, const P2& betas, const P3& eps = detail::unset<P3>(), const P4& weight_decay = detail::unset<P4>(), const P5& amsgrad = detail::unset<P5>(), const P6& maximize = detail::unset<P6>()) : AdamW(params, detail::behind<AdamWOptions, 7, 1>("AdamW", lr, betas, eps, weight_decay, amsgrad, maximize)) {}
};
// Adagrad (Duchi et al., JMLR 12, 2011): sum += g * g; p -= lr / (1 + (step - 1) * lr_decay) * g /
// (sqrt(sum) + eps). Of a row-sparse gradient the rows that it has alone change. maximize: with -g.
struct AdagradOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.01;
  Float lr_decay = 0.0;
  Float weight_decay = 0.0;
  Float initial_accumulator_value = 0.0;
  Float eps = 1e-10;
  bool maximize = false;
};
class Adagrad : public Optimizer {
 public:
  Adagrad() = default;
  explicit Adagrad(const Params& params, const AdagradOptions& options = {}) : Optimizer(params.made("Adagrad", {params.first(), options.lr, options.lr_decay, options.weight_decay, options.initial_accumulator_value, options.eps, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit Adagrad(const Params& params, const P& lr, Float lr_decay = 0.0, Float weight_decay = 0.0, Float initial_accumulator_value = 0.0, Float eps = 1e-10, Bool maximize = false) : Optimizer(params.made("Adagrad", {params.first(), Float(lr), lr_decay, weight_decay, initial_accumulator_value, eps, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<Float, AdagradOptions> P2 = AdagradOptions, detail::PlacedOr<Float, AdagradOptions> P3 = AdagradOptions, detail::PlacedOr<Float, AdagradOptions> P4 = AdagradOptions, detail::PlacedOr<Float, AdagradOptions> P5 = AdagradOptions, detail::PlacedOr<Bool, AdagradOptions> P6 = AdagradOptions>
  explicit Adagrad(const Params& params, const P1& lr, const P2& lr_decay, const P3& weight_decay = detail::unset<P3>(), const P4& initial_accumulator_value = detail::unset<P4>(), const P5& eps = detail::unset<P5>(), const P6& maximize = detail::unset<P6>()) : Adagrad(params, detail::behind<AdagradOptions, 7, 1>("Adagrad", lr, lr_decay, weight_decay, initial_accumulator_value, eps, maximize)) {}
};
// Adam (Kingma & Ba, arXiv:1412.6980) for row-sparse gradients (PyTorch's SparseAdam): of
// parameters and averages the rows alone change that a gradient has. maximize: with the negated
// gradient.
struct SparseAdamOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  KeptFloats betas = {0.9, 0.999};
  Float eps = 1e-08;
  bool maximize = false;
};
class SparseAdam : public Optimizer {
 public:
  SparseAdam() = default;
  explicit SparseAdam(const Params& params, const SparseAdamOptions& options = {}) : Optimizer(params.made("SparseAdam", {params.first(), options.lr, options.betas, options.eps, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit SparseAdam(const Params& params, const P& lr, Floats betas = {0.9, 0.999}, Float eps = 1e-08, Bool maximize = false) : Optimizer(params.made("SparseAdam", {params.first(), Float(lr), betas, eps, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<KeptFloats, SparseAdamOptions> P2 = SparseAdamOptions, detail::PlacedOr<Float, SparseAdamOptions> P3 = SparseAdamOptions, detail::PlacedOr<Bool, SparseAdamOptions> P4 = SparseAdamOptions>
  explicit SparseAdam(const Params& params, const P1& lr, const P2& betas, const P3& eps = detail::unset<P3>(), const P4& maximize = detail::unset<P4>()) : SparseAdam(params, detail::behind<SparseAdamOptions, 5, 1>("SparseAdam", lr, betas, eps, maximize)) {}
};
// RMSprop (Tieleman & Hinton, 2012, as PyTorch has it): s = alpha * s + (1 - alpha) * g * g; p -=
// lr * g / (sqrt(s) + eps), where g has weight_decay * p added. centered: s without the square of
// the average of g. momentum: by buffer = momentum * buffer + g / (sqrt(s) + eps). maximize: with
// -g.
struct RMSpropOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.01;
  Float alpha = 0.99;
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  Float momentum = 0.0;
  bool centered = false;
  bool maximize = false;
};
class RMSprop : public Optimizer {
 public:
  RMSprop() = default;
  explicit RMSprop(const Params& params, const RMSpropOptions& options = {}) : Optimizer(params.made("RMSprop", {params.first(), options.lr, options.alpha, options.eps, options.weight_decay, options.momentum, options.centered, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit RMSprop(const Params& params, const P& lr, Float alpha = 0.99, Float eps = 1e-08, Float weight_decay = 0.0, Float momentum = 0.0, Bool centered = false, Bool maximize = false) : Optimizer(params.made("RMSprop", {params.first(), Float(lr), alpha, eps, weight_decay, momentum, centered, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<Float, RMSpropOptions> P2 = RMSpropOptions, detail::PlacedOr<Float, RMSpropOptions> P3 = RMSpropOptions, detail::PlacedOr<Float, RMSpropOptions> P4 = RMSpropOptions, detail::PlacedOr<Float, RMSpropOptions> P5 = RMSpropOptions, detail::PlacedOr<Bool, RMSpropOptions> P6 = RMSpropOptions, detail::PlacedOr<Bool, RMSpropOptions> P7 = RMSpropOptions>
  explicit RMSprop(const Params& params, const P1& lr, const P2& alpha, const P3& eps = detail::unset<P3>(), const P4& weight_decay = detail::unset<P4>(), const P5& momentum = detail::unset<P5>(), const P6& centered = detail::unset<P6>(), const P7& maximize = detail::unset<P7>()) : RMSprop(params, detail::behind<RMSpropOptions, 8, 1>("RMSprop", lr, alpha, eps, weight_decay, momentum, centered, maximize)) {}
};
// Adadelta (Zeiler, arXiv:1212.5701): steps of the size of the steps before, over the root of the
// average of the squares of g, which has weight_decay * p added. maximize: with -g.
struct AdadeltaOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 1.0;
  Float rho = 0.9;
  Float eps = 1e-06;
  Float weight_decay = 0.0;
  bool maximize = false;
};
class Adadelta : public Optimizer {
 public:
  Adadelta() = default;
  explicit Adadelta(const Params& params, const AdadeltaOptions& options = {}) : Optimizer(params.made("Adadelta", {params.first(), options.lr, options.rho, options.eps, options.weight_decay, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit Adadelta(const Params& params, const P& lr, Float rho = 0.9, Float eps = 1e-06, Float weight_decay = 0.0, Bool maximize = false) : Optimizer(params.made("Adadelta", {params.first(), Float(lr), rho, eps, weight_decay, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<Float, AdadeltaOptions> P2 = AdadeltaOptions, detail::PlacedOr<Float, AdadeltaOptions> P3 = AdadeltaOptions, detail::PlacedOr<Float, AdadeltaOptions> P4 = AdadeltaOptions, detail::PlacedOr<Bool, AdadeltaOptions> P5 = AdadeltaOptions>
  explicit Adadelta(const Params& params, const P1& lr, const P2& rho, const P3& eps = detail::unset<P3>(), const P4& weight_decay = detail::unset<P4>(), const P5& maximize = detail::unset<P5>()) : Adadelta(params, detail::behind<AdadeltaOptions, 6, 1>("Adadelta", lr, rho, eps, weight_decay, maximize)) {}
};
// Adamax (Kingma & Ba, arXiv:1412.6980, algorithm 2): Adam with a fading maximum of |g| in the
// place of the root of the squares. weight_decay * p is added to g. maximize: with -g.
struct AdamaxOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.002;
  KeptFloats betas = {0.9, 0.999};
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  bool maximize = false;
};
class Adamax : public Optimizer {
 public:
  Adamax() = default;
  explicit Adamax(const Params& params, const AdamaxOptions& options = {}) : Optimizer(params.made("Adamax", {params.first(), options.lr, options.betas, options.eps, options.weight_decay, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit Adamax(const Params& params, const P& lr, Floats betas = {0.9, 0.999}, Float eps = 1e-08, Float weight_decay = 0.0, Bool maximize = false) : Optimizer(params.made("Adamax", {params.first(), Float(lr), betas, eps, weight_decay, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<KeptFloats, AdamaxOptions> P2 = AdamaxOptions, detail::PlacedOr<Float, AdamaxOptions> P3 = AdamaxOptions, detail::PlacedOr<Float, AdamaxOptions> P4 = AdamaxOptions, detail::PlacedOr<Bool, AdamaxOptions> P5 = AdamaxOptions>
  explicit Adamax(const Params& params, const P1& lr, const P2& betas, const P3& eps = detail::unset<P3>(), const P4& weight_decay = detail::unset<P4>(), const P5& maximize = detail::unset<P5>()) : Adamax(params, detail::behind<AdamaxOptions, 6, 1>("Adamax", lr, betas, eps, weight_decay, maximize)) {}
};
// NAdam (Dozat, 2016): Adam with Nesterov's momentum, which grows from beta1 / 2 to beta1 the
// faster the greater momentum_decay is. weight_decay * p is added to the gradient, or
// decoupled_weight_decay: p shrinks by 1 - lr * weight_decay. maximize: with -g.
struct NAdamOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.002;
  KeptFloats betas = {0.9, 0.999};
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  Float momentum_decay = 0.004;
  bool decoupled_weight_decay = false;
  bool maximize = false;
};
class NAdam : public Optimizer {
 public:
  NAdam() = default;
  explicit NAdam(const Params& params, const NAdamOptions& options = {}) : Optimizer(params.made("NAdam", {params.first(), options.lr, options.betas, options.eps, options.weight_decay, options.momentum_decay, options.decoupled_weight_decay, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit NAdam(const Params& params, const P& lr, Floats betas = {0.9, 0.999}, Float eps = 1e-08, Float weight_decay = 0.0, Float momentum_decay = 0.004, Bool decoupled_weight_decay = false, Bool maximize = false) : Optimizer(params.made("NAdam", {params.first(), Float(lr), betas, eps, weight_decay, momentum_decay, decoupled_weight_decay, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<KeptFloats, NAdamOptions> P2 = NAdamOptions, detail::PlacedOr<Float, NAdamOptions> P3 = NAdamOptions, detail::PlacedOr<Float, NAdamOptions> P4 = NAdamOptions, detail::PlacedOr<Float, NAdamOptions> P5 = NAdamOptions, detail::PlacedOr<Bool, NAdamOptions> P6 = NAdamOptions, detail::PlacedOr<Bool, NAdamOptions> P7 = NAdamOptions>
  explicit NAdam(const Params& params, const P1& lr, const P2& betas, const P3& eps = detail::unset<P3>(), const P4& weight_decay = detail::unset<P4>(), const P5& momentum_decay = detail::unset<P5>(), const P6& decoupled_weight_decay = detail::unset<P6>(), const P7& maximize = detail::unset<P7>()) : NAdam(params, detail::behind<NAdamOptions, 8, 1>("NAdam", lr, betas, eps, weight_decay, momentum_decay, decoupled_weight_decay, maximize)) {}
};
// RAdam (Liu et al., arXiv:1908.03265): Adam whose rate is rectified while the squares are few, and
// which goes by the average alone in the first steps. weight_decay * p is added to the gradient, or
// decoupled_weight_decay: p shrinks by 1 - lr * weight_decay. maximize: with -g.
struct RAdamOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  KeptFloats betas = {0.9, 0.999};
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  bool decoupled_weight_decay = false;
  bool maximize = false;
};
class RAdam : public Optimizer {
 public:
  RAdam() = default;
  explicit RAdam(const Params& params, const RAdamOptions& options = {}) : Optimizer(params.made("RAdam", {params.first(), options.lr, options.betas, options.eps, options.weight_decay, options.decoupled_weight_decay, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit RAdam(const Params& params, const P& lr, Floats betas = {0.9, 0.999}, Float eps = 1e-08, Float weight_decay = 0.0, Bool decoupled_weight_decay = false, Bool maximize = false) : Optimizer(params.made("RAdam", {params.first(), Float(lr), betas, eps, weight_decay, decoupled_weight_decay, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<KeptFloats, RAdamOptions> P2 = RAdamOptions, detail::PlacedOr<Float, RAdamOptions> P3 = RAdamOptions, detail::PlacedOr<Float, RAdamOptions> P4 = RAdamOptions, detail::PlacedOr<Bool, RAdamOptions> P5 = RAdamOptions, detail::PlacedOr<Bool, RAdamOptions> P6 = RAdamOptions>
  explicit RAdam(const Params& params, const P1& lr, const P2& betas, const P3& eps = detail::unset<P3>(), const P4& weight_decay = detail::unset<P4>(), const P5& decoupled_weight_decay = detail::unset<P5>(), const P6& maximize = detail::unset<P6>()) : RAdam(params, detail::behind<RAdamOptions, 7, 1>("RAdam", lr, betas, eps, weight_decay, decoupled_weight_decay, maximize)) {}
};
// LAMB (You et al., arXiv:1904.00962, algorithm 2): u = Adam's step of rate 1 + weight_decay * p; p
// -= lr * |p| / |u| * u, by the norms of each parameter. maximize: with -g.
struct LAMBOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  KeptFloats betas = {0.9, 0.999};
  Float eps = 1e-06;
  Float weight_decay = 0.0;
  bool maximize = false;
};
class LAMB : public Optimizer {
 public:
  LAMB() = default;
  explicit LAMB(const Params& params, const LAMBOptions& options = {}) : Optimizer(params.made("LAMB", {params.first(), options.lr, options.betas, options.eps, options.weight_decay, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit LAMB(const Params& params, const P& lr, Floats betas = {0.9, 0.999}, Float eps = 1e-06, Float weight_decay = 0.0, Bool maximize = false) : Optimizer(params.made("LAMB", {params.first(), Float(lr), betas, eps, weight_decay, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<KeptFloats, LAMBOptions> P2 = LAMBOptions, detail::PlacedOr<Float, LAMBOptions> P3 = LAMBOptions, detail::PlacedOr<Float, LAMBOptions> P4 = LAMBOptions, detail::PlacedOr<Bool, LAMBOptions> P5 = LAMBOptions>
  explicit LAMB(const Params& params, const P1& lr, const P2& betas, const P3& eps = detail::unset<P3>(), const P4& weight_decay = detail::unset<P4>(), const P5& maximize = detail::unset<P5>()) : LAMB(params, detail::behind<LAMBOptions, 6, 1>("LAMB", lr, betas, eps, weight_decay, maximize)) {}
};
// Lion (Chen et al., arXiv:2302.06675): p -= lr * (sign(beta1 * m + (1 - beta1) * g) + weight_decay
// * p); m = beta2 * m + (1 - beta2) * g. maximize: with -g.
struct LionOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.0001;
  KeptFloats betas = {0.9, 0.99};
  Float weight_decay = 0.0;
  bool maximize = false;
};
class Lion : public Optimizer {
 public:
  Lion() = default;
  explicit Lion(const Params& params, const LionOptions& options = {}) : Optimizer(params.made("Lion", {params.first(), options.lr, options.betas, options.weight_decay, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit Lion(const Params& params, const P& lr, Floats betas = {0.9, 0.99}, Float weight_decay = 0.0, Bool maximize = false) : Optimizer(params.made("Lion", {params.first(), Float(lr), betas, weight_decay, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<KeptFloats, LionOptions> P2 = LionOptions, detail::PlacedOr<Float, LionOptions> P3 = LionOptions, detail::PlacedOr<Bool, LionOptions> P4 = LionOptions>
  explicit Lion(const Params& params, const P1& lr, const P2& betas, const P3& weight_decay = detail::unset<P3>(), const P4& maximize = detail::unset<P4>()) : Lion(params, detail::behind<LionOptions, 5, 1>("Lion", lr, betas, weight_decay, maximize)) {}
};
// Adafactor (Shazeer & Stern, arXiv:1804.04235, as PyTorch has it): g over the root of the average
// of its squares, of which matrices keep those of rows and columns; no step is greater than d times
// the rate, which goes by the size of p, at least eps[1], and is at most lr. eps[0] of 0 is the
// dtype's. p shrinks by 1 - lr * weight_decay. maximize: with -g.
struct AdafactorOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.01;
  Float beta2_decay = -0.8;
  KeptFloats eps = {0.0, 0.001};
  Float d = 1.0;
  Float weight_decay = 0.0;
  bool maximize = false;
};
class Adafactor : public Optimizer {
 public:
  Adafactor() = default;
  explicit Adafactor(const Params& params, const AdafactorOptions& options = {}) : Optimizer(params.made("Adafactor", {params.first(), options.lr, options.beta2_decay, options.eps, options.d, options.weight_decay, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit Adafactor(const Params& params, const P& lr, Float beta2_decay = -0.8, Floats eps = {0.0, 0.001}, Float d = 1.0, Float weight_decay = 0.0, Bool maximize = false) : Optimizer(params.made("Adafactor", {params.first(), Float(lr), beta2_decay, eps, d, weight_decay, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<Float, AdafactorOptions> P2 = AdafactorOptions, detail::PlacedOr<KeptFloats, AdafactorOptions> P3 = AdafactorOptions, detail::PlacedOr<Float, AdafactorOptions> P4 = AdafactorOptions, detail::PlacedOr<Float, AdafactorOptions> P5 = AdafactorOptions, detail::PlacedOr<Bool, AdafactorOptions> P6 = AdafactorOptions>
  explicit Adafactor(const Params& params, const P1& lr, const P2& beta2_decay, const P3& eps = detail::unset<P3>(), const P4& d = detail::unset<P4>(), const P5& weight_decay = detail::unset<P5>(), const P6& maximize = detail::unset<P6>()) : Adafactor(params, detail::behind<AdafactorOptions, 7, 1>("Adafactor", lr, beta2_decay, eps, d, weight_decay, maximize)) {}
};
// L-BFGS (Nocedal & Wright, Numerical Optimization, algorithm 7.5, as PyTorch has it): a step takes
// a closure that computes loss and gradients, and calls it up to max_eval times (None: max_iter * 5
// / 4) in up to max_iter iterations. line_search_fn: None goes lr along each direction,
// 'strong_wolfe' searches. It waits for the device, is not compiled, and takes one group of
// parameters on one device. maximize: with -g.
struct LBFGSOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 1.0;
  Int max_iter = 20;
  std::optional<Int> max_eval = {};
  Float tolerance_grad = 1e-07;
  Float tolerance_change = 1e-09;
  Int history_size = 100;
  std::optional<std::string> line_search_fn = {};
  bool maximize = false;
};
class LBFGS : public Optimizer {
 public:
  LBFGS() = default;
  explicit LBFGS(const Params& params, const LBFGSOptions& options = {}) : Optimizer(params.made("LBFGS", {params.first(), options.lr, options.max_iter, options.max_eval, options.tolerance_grad, options.tolerance_change, options.history_size, options.line_search_fn, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit LBFGS(const Params& params, const P& lr, Int max_iter = 20, std::optional<Int> max_eval = {}, Float tolerance_grad = 1e-07, Float tolerance_change = 1e-09, Int history_size = 100, std::optional<std::string> line_search_fn = {}, Bool maximize = false) : Optimizer(params.made("LBFGS", {params.first(), Float(lr), max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search_fn, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<Int, LBFGSOptions> P2 = LBFGSOptions, detail::PlacedOr<std::optional<Int>, LBFGSOptions> P3 = LBFGSOptions, detail::PlacedOr<Float, LBFGSOptions> P4 = LBFGSOptions, detail::PlacedOr<Float, LBFGSOptions> P5 = LBFGSOptions, detail::PlacedOr<Int, LBFGSOptions> P6 = LBFGSOptions, detail::PlacedOr<std::optional<std::string>, LBFGSOptions> P7 = LBFGSOptions, detail::PlacedOr<Bool, LBFGSOptions> P8 = LBFGSOptions>
  explicit LBFGS(const Params& params, const P1& lr, const P2& max_iter, const P3& max_eval = detail::unset<P3>(), const P4& tolerance_grad = detail::unset<P4>(), const P5& tolerance_change = detail::unset<P5>(), const P6& history_size = detail::unset<P6>(), const P7& line_search_fn = detail::unset<P7>(), const P8& maximize = detail::unset<P8>()) : LBFGS(params, detail::behind<LBFGSOptions, 9, 1>("LBFGS", lr, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search_fn, maximize)) {}
};
// Muon (Keller Jordan, 2024, as PyTorch has it): matrices move by their averaged gradient made
// nearly orthogonal, in ns_steps iterations of Newton and Schulz, which are of the parameter's
// precision. adjust_lr_fn, what lr is multiplied with for [n, m]: 'original' sqrt(max(1, n / m)),
// 'match_rms_adamw' 0.2 * sqrt(max(n, m)), 'spectral_unclamped' sqrt(n / m). p shrinks by 1 - lr *
// weight_decay.
struct MuonOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  Float weight_decay = 0.1;
  Float momentum = 0.95;
  bool nesterov = true;
  KeptFloats ns_coefficients = {3.4445, -4.775, 2.0315};
  Float eps = 1e-07;
  Int ns_steps = 5;
  std::string adjust_lr_fn = "original";
};
class Muon : public Optimizer {
 public:
  Muon() = default;
  explicit Muon(const Params& params, const MuonOptions& options = {}) : Optimizer(params.made("Muon", {params.first(), options.lr, options.weight_decay, options.momentum, options.nesterov, options.ns_coefficients, options.eps, options.ns_steps, options.adjust_lr_fn})) {}
  template <detail::Placed<Float> P>
  explicit Muon(const Params& params, const P& lr, Float weight_decay = 0.1, Float momentum = 0.95, Bool nesterov = true, Floats ns_coefficients = {3.4445, -4.775, 2.0315}, Float eps = 1e-07, Int ns_steps = 5, TextRef adjust_lr_fn = "original") : Optimizer(params.made("Muon", {params.first(), Float(lr), weight_decay, momentum, nesterov, ns_coefficients, eps, ns_steps, adjust_lr_fn})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<Float, MuonOptions> P2 = MuonOptions, detail::PlacedOr<Float, MuonOptions> P3 = MuonOptions, detail::PlacedOr<Bool, MuonOptions> P4 = MuonOptions, detail::PlacedOr<KeptFloats, MuonOptions> P5 = MuonOptions, detail::PlacedOr<Float, MuonOptions> P6 = MuonOptions, detail::PlacedOr<Int, MuonOptions> P7 = MuonOptions, detail::PlacedOr<std::string, MuonOptions> P8 = MuonOptions>
  explicit Muon(const Params& params, const P1& lr, const P2& weight_decay, const P3& momentum = detail::unset<P3>(), const P4& nesterov = detail::unset<P4>(), const P5& ns_coefficients = detail::unset<P5>(), const P6& eps = detail::unset<P6>(), const P7& ns_steps = detail::unset<P7>(), const P8& adjust_lr_fn = detail::unset<P8>()) : Muon(params, detail::behind<MuonOptions, 9, 1>("Muon", lr, weight_decay, momentum, nesterov, ns_coefficients, eps, ns_steps, adjust_lr_fn)) {}
};
// Rprop (Riedmiller & Braun, 1993, as PyTorch has it), for gradients of all the data: each element
// goes against the sign of g by a step of its own, at first lr, which is multiplied with etas[1]
// where the sign stays and with etas[0] where it turns, within step_sizes. A later lr changes
// nothing. maximize: with -g.
struct RpropOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.01;
  KeptFloats etas = {0.5, 1.2};
  KeptFloats step_sizes = {1e-06, 50.0};
  bool maximize = false;
};
class Rprop : public Optimizer {
 public:
  Rprop() = default;
  explicit Rprop(const Params& params, const RpropOptions& options = {}) : Optimizer(params.made("Rprop", {params.first(), options.lr, options.etas, options.step_sizes, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit Rprop(const Params& params, const P& lr, Floats etas = {0.5, 1.2}, Floats step_sizes = {1e-06, 50.0}, Bool maximize = false) : Optimizer(params.made("Rprop", {params.first(), Float(lr), etas, step_sizes, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<KeptFloats, RpropOptions> P2 = RpropOptions, detail::PlacedOr<KeptFloats, RpropOptions> P3 = RpropOptions, detail::PlacedOr<Bool, RpropOptions> P4 = RpropOptions>
  explicit Rprop(const Params& params, const P1& lr, const P2& etas, const P3& step_sizes = detail::unset<P3>(), const P4& maximize = detail::unset<P4>()) : Rprop(params, detail::behind<RpropOptions, 5, 1>("Rprop", lr, etas, step_sizes, maximize)) {}
};
// Averaged SGD (Polyak & Juditsky, 1992, as PyTorch has it): p shrinks by 1 - lambd * eta and goes
// by -eta * g, where g has weight_decay * p added; eta, at first lr, is lr / (1 + lambd * lr *
// step)^alpha. The state's ax is p, and from step t0 on the average of p. maximize: with -g.
struct ASGDOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.01;
  Float lambd = 0.0001;
  Float alpha = 0.75;
  Float t0 = 1000000.0;
  Float weight_decay = 0.0;
  bool maximize = false;
};
class ASGD : public Optimizer {
 public:
  ASGD() = default;
  explicit ASGD(const Params& params, const ASGDOptions& options = {}) : Optimizer(params.made("ASGD", {params.first(), options.lr, options.lambd, options.alpha, options.t0, options.weight_decay, options.maximize})) {}
  template <detail::Placed<Float> P>
  explicit ASGD(const Params& params, const P& lr, Float lambd = 0.0001, Float alpha = 0.75, Float t0 = 1000000.0, Float weight_decay = 0.0, Bool maximize = false) : Optimizer(params.made("ASGD", {params.first(), Float(lr), lambd, alpha, t0, weight_decay, maximize})) {}
  template <detail::Placed<Float> P1, detail::PlacedOr<Float, ASGDOptions> P2 = ASGDOptions, detail::PlacedOr<Float, ASGDOptions> P3 = ASGDOptions, detail::PlacedOr<Float, ASGDOptions> P4 = ASGDOptions, detail::PlacedOr<Float, ASGDOptions> P5 = ASGDOptions, detail::PlacedOr<Bool, ASGDOptions> P6 = ASGDOptions>
  explicit ASGD(const Params& params, const P1& lr, const P2& lambd, const P3& alpha = detail::unset<P3>(), const P4& t0 = detail::unset<P4>(), const P5& weight_decay = detail::unset<P5>(), const P6& maximize = detail::unset<P6>()) : ASGD(params, detail::behind<ASGDOptions, 7, 1>("ASGD", lr, lambd, alpha, t0, weight_decay, maximize)) {}
};

}  // namespace optim
}  // namespace v0
}  // namespace tenon
