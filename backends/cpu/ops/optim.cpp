// adam_step and sgd_step: one parallel pass over the elements of all parameters, in pieces of equal
// work. No value depends on how they are cut.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "cpu.h"
#include "ops/dims.h"
#include "ops/dtypes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPiece = 8192;  // elements
constexpr int64_t kWide = 512;    // elements of halves that are widened at a time
constexpr int kMostParts = 4;     // param, gradient and up to two of the state

// Lists of an op's arguments, whose i-th tensors belong together.
struct Lists {
  const tn_value* values[kMostParts];
  int n;
  const tn_tensor& at(int list, uint32_t i) const { return *values[list]->as.tensors[i]; }
  uint32_t count() const { return values[0]->count; }
};

bool is_list(const tn_value& v) { return v.kind == TN_KIND_TENSORS || v.count == 0; }

// Do the elements of both lie in one order, without gaps?
bool lie_alike(const tn_tensor& a, const tn_tensor& b) {
  if (a.ndim != b.ndim || !std::equal(a.sizes, a.sizes + a.ndim, b.sizes)) {
    return false;
  }
  if ((a.flags & b.flags & TN_TENSOR_CONTIGUOUS) != 0) {
    return true;
  }
  const Dims dims(a, b);
  return dims.n == 1 && dims.first[0] == 1 && dims.second[0] == 1;
}

// Memory that a step reads or writes.
struct Range {
  uintptr_t begin = 0, end = 0;
  bool is_written = false;
};

Range range_of(const tn_tensor& t, bool is_written) {
  if (t.numel == 0) {
    return {};
  }
  const uintptr_t begin = reinterpret_cast<uintptr_t>(t.data);
  return {begin, begin + static_cast<uintptr_t>(t.numel * item_size(t.dtype)), is_written};
}

// All of it: of the lists, and what is read beside them, a list (`counts`) and a tensor.
struct Memory {
  const Lists& lists;
  const tn_value* counts;
  const tn_tensor* found_inf;

  size_t n_of_lists() const { return static_cast<size_t>(lists.n) * lists.count(); }
  size_t n_counts() const { return counts ? counts->count : 0; }
  size_t size() const { return n_of_lists() + n_counts() + (found_inf ? 1 : 0); }
  Range at(size_t i) const {
    if (i < n_of_lists()) {
      const auto list = static_cast<int>(i % static_cast<size_t>(lists.n));
      const auto param = static_cast<uint32_t>(i / static_cast<size_t>(lists.n));
      return range_of(lists.at(list, param), list != 1);  // gradients are read alone
    }
    i -= n_of_lists();
    return range_of(i < n_counts() ? *counts->as.tensors[i] : *found_inf, false);
  }
};

bool any_two_meet(const Memory& memory) {
  for (size_t i = 0; i < memory.size(); ++i) {
    const Range a = memory.at(i);
    for (size_t k = 0; k < i; ++k) {
      const Range b = memory.at(k);
      if ((a.is_written || b.is_written) && a.begin < b.end && b.begin < a.end) {
        return true;
      }
    }
  }
  return false;
}

// Is written memory that of another tensor as well? Then the order of the parameters counts. A
// kernel that refused for lack of memory would leave the step to other calls, whose last bits
// differ: so then each two are compared.
bool is_shared(const Memory& memory) {
  const size_t n = memory.size();
  const std::unique_ptr<Range[]> ranges(new (std::nothrow) Range[n]);
  if (!ranges) {
    return any_two_meet(memory);
  }
  for (size_t i = 0; i < n; ++i) {
    ranges[i] = memory.at(i);
  }
  std::sort(ranges.get(), ranges.get() + n,
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  uintptr_t end = 0, end_of_written = 0;
  for (size_t i = 0; i < n; ++i) {
    const Range& r = ranges[i];
    if (r.begin < (r.is_written ? end : end_of_written)) {
      return true;
    }
    end = std::max(end, r.end);
    if (r.is_written) {
      end_of_written = std::max(end_of_written, r.end);
    }
  }
  return false;
}

// `counts` and `found_inf` may be NULL.
bool lists_fit(const Lists& lists, const tn_value* counts, const tn_tensor* found_inf,
               Refusal why) {
  for (int k = 0; k < lists.n; ++k) {
    if (!is_list(*lists.values[k]) || lists.values[k]->count != lists.count()) {
      return why("takes lists of one length, not %u and %u", lists.values[0]->count,
                 lists.values[k]->count);
    }
  }
  for (uint32_t i = 0; i < lists.count(); ++i) {
    for (int k = 0; k < lists.n; ++k) {
      const tn_tensor* const t = lists.values[k]->as.tensors[i];
      const tn_tensor* const p = lists.values[0]->as.tensors[i];
      if (!t || !p || t->dtype != p->dtype) {
        return why("param %u has %s, its gradient or state %s", i,
                   p ? Dtype{p->dtype}.name() : "no tensor", t ? Dtype{t->dtype}.name() : "none");
      }
      if (!lie_alike(*p, *t)) {
        return why("param %u, its gradient and state do not lie alike and without gaps", i);
      }
    }
  }
  return !is_shared({lists, counts, found_inf}) || why("some of the tensors share memory");
}

bool is_one(const tn_value& v) {
  return v.kind == TN_KIND_TENSOR && v.as.tensor->numel == 1 &&
         all_floats.has({v.as.tensor->dtype});
}

// Is the step passed over?
bool skips(const tn_value& found_inf) {
  if (found_inf.kind != TN_KIND_TENSOR) {
    return false;
  }
  double found = 0;
  widen(&found, found_inf.as.tensor->data, found_inf.as.tensor->dtype, 1);
  return found != 0;
}

// step(parts, n): n elements of a parameter and what belongs to it, in T.
template <typename T, typename Step>
void run_piece(const Lists& lists, uint32_t i, int64_t begin, int64_t end, const Step& step) {
  const tn_dtype dtype = lists.at(0, i).dtype;
  const auto place = [&](int k, int64_t at) {
    return static_cast<char*>(lists.at(k, i).data) + at * item_size(dtype);
  };
  T* parts[kMostParts] = {};
  if (dtype == TN_FLOAT32 || dtype == TN_FLOAT64) {
    for (int k = 0; k < lists.n; ++k) {
      parts[k] = reinterpret_cast<T*>(place(k, begin));
    }
    return step(parts, end - begin);
  }
  T wide[kMostParts][kWide];
  for (int64_t at = begin; at < end; at += kWide) {
    const int64_t n = std::min(kWide, end - at);
    for (int k = 0; k < lists.n; ++k) {
      parts[k] = wide[k];
      widen(wide[k], place(k, at), dtype, n);
    }
    step(parts, n);
    for (int k = 0; k < lists.n; ++k) {
      if (k != 1) {
        narrow(place(k, at), wide[k], dtype, n);
      }
    }
  }
}

// of_f32(i, parts, n) and of_f64 do the work, on pieces of the parameters as if they lay one behind
// the other.
template <typename Float, typename Double>
void run_all(const tn_call* call, const Lists& lists, const Float& of_f32, const Double& of_f64) {
  std::vector<int64_t> starts(lists.count() + 1);
  for (uint32_t i = 0; i < lists.count(); ++i) {
    starts[i + 1] = starts[i] + lists.at(0, i).numel;
  }
  const int64_t total = starts.back();
  parallel_for(call->host, 0, (total + kPiece - 1) / kPiece, 2, [&](int64_t first, int64_t last) {
    const int64_t stop = std::min(last * kPiece, total);
    int64_t at = first * kPiece;
    // The last parameter that begins here or before.
    auto i = static_cast<uint32_t>(std::upper_bound(starts.begin(), starts.end(), at) -
                                   starts.begin() - 1);
    for (; at < stop; ++i) {
      const int64_t begin = at - starts[i], end = std::min(stop, starts[i + 1]) - starts[i];
      if (lists.at(0, i).dtype == TN_FLOAT64) {
        run_piece<double>(lists, i, begin, end,
                          [&](double* const* parts, int64_t n) { of_f64(i, parts, n); });
      } else {
        run_piece<float>(lists, i, begin, end,
                         [&](float* const* parts, int64_t n) { of_f32(i, parts, n); });
      }
      at = starts[i] + end;
    }
  });
}

// ---- adam_step(params, grads, exp_avgs, exp_avg_sqs, lr, step, beta1, beta2, eps, weight_decay,
// decoupled, maximize, found_inf, steps)

enum AdamArgument : uint32_t {
  kLr = 4,
  kStep,
  kBeta1,
  kBeta2,
  kEps,
  kDecay,
  kDecoupled,
  kMaximize,
  kFoundInf,
  kSteps
};

Lists adam_lists(const tn_call* call) {
  return {{&call->args[0], &call->args[1], &call->args[2], &call->args[3]}, 4};
}

// What changes with the count of steps.
class AdamSteps {
 public:
  explicit AdamSteps(const tn_call* call) : eps_(number(call, kEps)), lr_(number(call, kLr)) {
    const double decay = number(call, kDecay);
    const bool decoupled = call->args[kDecoupled].as.i != 0;
    step_.sign = call->args[kMaximize].as.i != 0 ? -1 : 1;
    step_.decay = decoupled ? 0 : decay;
    step_.keep = decoupled ? 1 - lr_ * decay : 1;
    step_.beta1 = number(call, kBeta1);
    step_.beta2 = number(call, kBeta2);
  }
  // Counts are mostly the same for all parameters.
  const AdamStep& at(double count) {
    if (count != count_) {
      const double root = std::sqrt(1 - std::pow(step_.beta2, count));
      count_ = count;
      step_.size = lr_ * root / (1 - std::pow(step_.beta1, count));
      step_.floor = eps_ * root;
    }
    return step_;
  }

 private:
  static double number(const tn_call* call, uint32_t i) { return Call(call).arg<double>(i); }
  double eps_, lr_, count_ = std::numeric_limits<double>::quiet_NaN();  // of step_
  AdamStep step_ = {};
};

void launch_adam(const tn_call* call) {
  const Lists lists = adam_lists(call);
  if (skips(call->args[kFoundInf])) {
    return;
  }
  AdamSteps steps(call);
  const tn_value& counts = call->args[kSteps];
  std::vector<AdamStep> each(lists.count());
  for (uint32_t i = 0; i < lists.count(); ++i) {
    if (counts.count > 0) {
      float* const count = static_cast<float*>(counts.as.tensors[i]->data);
      each[i] = steps.at(*count += 1);
    } else {
      each[i] = steps.at(static_cast<double>(call->args[kStep].as.i));
    }
  }
  const Table& kernels = table();
  run_all(
      call, lists,
      [&](uint32_t i, float* const* t, int64_t n) {
        kernels.adam_f32(t[0], t[1], t[2], t[3], n, each[i]);
      },
      [&](uint32_t i, double* const* t, int64_t n) {
        kernels.adam_f64(t[0], t[1], t[2], t[3], n, each[i]);
      });
}

bool supports_adam(const tn_call* call, Refusal why) {
  const tn_value& found_inf = call->args[kFoundInf];
  const tn_value& counts = call->args[kSteps];
  if (found_inf.kind != TN_KIND_NONE && !is_one(found_inf)) {
    return why("takes a found_inf of one float");
  }
  if (counts.count == 0 && call->args[kStep].as.i < 1) {
    return why("takes steps from 1 on");
  }
  if (counts.count != 0 && counts.count != call->args[0].count) {
    return why("takes a count for each param, not %u for %u", counts.count, call->args[0].count);
  }
  for (uint32_t i = 0; i < counts.count; ++i) {
    const tn_tensor* const t = counts.as.tensors[i];
    if (!t || t->numel != 1 || t->dtype != TN_FLOAT32) {
      return why("takes counts of one float32 each");
    }
  }
  return lists_fit(adam_lists(call), &counts,
                   found_inf.kind == TN_KIND_TENSOR ? found_inf.as.tensor : nullptr, why);
}

// ---- sgd_step(params, grads, momentum_buffers, lr, momentum, dampening, weight_decay, nesterov,
// maximize, first, found_inf)

bool has_momentum(const tn_call* call) { return Call(call).arg<double>(4) != 0; }

Lists sgd_lists(const tn_call* call) {
  return {{&call->args[0], &call->args[1], &call->args[2]}, has_momentum(call) ? 3 : 2};
}

void launch_sgd(const tn_call* call) {
  if (skips(call->args[10])) {
    return;
  }
  const Call c(call);
  const double momentum = c.arg<double>(4);
  const bool nesterov = call->args[7].as.i != 0, first = call->args[9].as.i != 0;
  const SgdStep step = {.sign = call->args[8].as.i != 0 ? -1.0 : 1.0,
                        .decay = c.arg<double>(6),
                        .lr = c.arg<double>(3),
                        .old = first ? 0 : momentum,
                        .fresh = first ? 1 : 1 - c.arg<double>(5),
                        .own = nesterov ? 1.0 : 0.0,
                        .ahead = nesterov ? momentum : 1.0};
  const Table& kernels = table();
  run_all(
      call, sgd_lists(call),
      [&](uint32_t, float* const* t, int64_t n) { kernels.sgd_f32(t[0], t[1], t[2], n, step); },
      [&](uint32_t, double* const* t, int64_t n) { kernels.sgd_f64(t[0], t[1], t[2], n, step); });
}

bool supports_sgd(const tn_call* call, Refusal why) {
  const tn_value& found_inf = call->args[10];
  if (found_inf.kind != TN_KIND_NONE && !is_one(found_inf)) {
    return why("takes a found_inf of one float");
  }
  return lists_fit(sgd_lists(call), nullptr,
                   found_inf.kind == TN_KIND_TENSOR ? found_inf.as.tensor : nullptr, why);
}

}  // namespace

void add_optim() {
  const KernelOptions options = {
      .dtypes = all_floats, .layout = Layout::strided, .traits = kUsualPromises};
  kernel("adam_step", "cpu", options, fn<launch_adam>).supports(fn<supports_adam>);
  kernel("sgd_step", "cpu", options, fn<launch_sgd>).supports(fn<supports_sgd>);
}

}  // namespace tenon::cpu_backend
