// Connectionist temporal classification: Graves et al., 2006. The forward recursion over time in
// logarithms, all samples side by side; its gradient is that of the recursion.
#include <algorithm>
#include <limits>

#include "loss.h"

namespace tenon::ops_pack {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// The states are a blank, a label, a blank, .. and a blank: state s is the label (s - 1) / 2.
constinit ExpressionRef label_of_state{"_label_of_state(Tensor s, int last) -> Tensor",
                                       "clamp((s - 1) // 2, 0, last)"};
constinit ExpressionRef state_label{
    "_state_label(Tensor label, Tensor s, Tensor length, int blank) -> Tensor",
    "where(s % 2 == 1 and s < 2 * length, label, blank)"};
// From the label before the last blank only where the two labels differ.
constinit ExpressionRef may_skip{"_may_skip(Tensor label, Tensor before, int blank) -> Tensor",
                                 "label != blank and label != before"};
// Before anything is emitted there is the first blank alone.
constinit ExpressionRef at_start{
    "_at_start(Tensor emitted, Tensor s, Tensor length) -> Tensor",
    "where(length > 0, where(s < 2, emitted, -inf), where(s == 0, 0, -inf))"};
constinit ExpressionRef skipped{"_skipped(Tensor x, Tensor may) -> Tensor", "where(may, x, -inf)"};
// log(exp(a) + exp(b) + exp(c)) + emitted, where all may be -inf.
constinit ExpressionRef next_state{
    "_next_state(Tensor a, Tensor b, Tensor c, Tensor emitted) -> Tensor",
    "let m = max(a, b, c)\n"
    "let s = where(m == -inf, 0, m)\n"
    "log(exp(a - s) + exp(b - s) + exp(c - s)) + s + emitted\n"
    "da = g * exp(a + emitted - where(out == -inf, 0, out))\n"
    "db = g * exp(b + emitted - where(out == -inf, 0, out))\n"
    "dc = g * exp(c + emitted - where(out == -inf, 0, out))\n"
    "demitted = where(out == -inf, 0 * g, g)"};
constinit ExpressionRef within{"_within(Tensor next, Tensor now, Tensor length, int t) -> Tensor",
                               "where(length > t, next, now)"};
// A path ends in the last label or the blank behind it; without labels in the first blank alone.
constinit ExpressionRef either_end{
    "_either_end(Tensor blank, Tensor label, Tensor length) -> Tensor",
    "let m = where(length > 0, max(blank, label), blank)\n"
    "let s = where(m == -inf, 0, m)\n"
    "-(log(exp(blank - s) + where(length > 0, exp(label - s), 0)) + s)\n"
    "dblank = -g * exp(blank + where(out == inf, 0, out)) + where(out == inf and g != 0, out - "
    "out, 0)\n"
    "dlabel = where(length > 0, -g * exp(label + where(out == inf, 0, out)), 0)"};
constinit ExpressionRef finite{"_finite(Tensor loss) -> Tensor", "where(loss == inf, 0, loss)"};
constinit ExpressionRef by_length{"_by_length(Tensor loss, Tensor length) -> Tensor",
                                  "loss / max(length, 1)"};
constinit ExpressionRef end_state{"_end_state(Tensor length, int back) -> Tensor",
                                  "max(2 * length - back, 0)"};

struct CtcCall {
  Tensor log_probs;               // [t, n, classes]
  Tensor targets;                 // int64 [n, labels]
  Tensor input_lengths, lengths;  // int64 [n]
};

[[noreturn]] void refuse(const Tensor& log_probs, const Tensor& targets, const Tensor& inputs,
                         const Tensor& lengths) {
  fail("ctc_loss: log_probs is " + sizes_text(log_probs.sizes()) + ", targets " +
       sizes_text(targets.sizes()) + ", input_lengths " + sizes_text(inputs.sizes()) +
       ", target_lengths " + sizes_text(lengths.sizes()) +
       "; expected floats [t, n, classes], [n, labels] or all labels in one line, [n] and [n]; or "
       "one sample without n");
}

// Labels in one line, as [n, labels]: how many a row needs is asked of the device.
Tensor as_rows(const Tensor& line, const Tensor& lengths) {
  const std::vector<int64_t> counts = lengths.to_vector<int64_t>();
  int64_t longest = 0, total = 0;
  for (const int64_t count : counts) {
    if (count < 0) fail("ctc_loss: a target length is " + std::to_string(count));
    longest = std::max(longest, count);
    total += count;
  }
  if (total > line.size(0)) {
    fail("ctc_loss: target_lengths add up to " + std::to_string(total) + ", targets has " +
         std::to_string(line.size(0)));
  }
  std::vector<Tensor> rows;
  int64_t at = 0;
  for (const int64_t count : counts) {
    rows.push_back(pad(prim::slice(line, 0, at, at + count), {0, longest - count}));
    at += count;
  }
  return rows.empty() ? prim::reshape(line, {0, line.size(0)}) : stack(rows, 0);
}

void expect_batch(const Tensor& log_probs, const Tensor& targets, const Tensor& inputs,
                  const Tensor& lengths) {
  const bool single = log_probs.dim() == 2;
  bool fits = (single || log_probs.dim() == 3) && log_probs.dtype().is_float() &&
              targets.dim() >= 1 && targets.dim() <= 2 && inputs.dim() <= 1 && lengths.dim() <= 1 &&
              log_probs.size(0) > 0;
  if (fits) {
    const int64_t n = single ? 1 : log_probs.size(1);
    fits =
        inputs.numel() == n && lengths.numel() == n && (targets.dim() == 1 || targets.size(0) == n);
  }
  if (!fits) refuse(log_probs, targets, inputs, lengths);
}

void expect_lengths(const CtcCall& c) {
  if (!may_look_at(c.lengths)) return;
  NoGrad guard;
  const std::vector<int64_t> inputs = c.input_lengths.to_vector<int64_t>(),
                             targets = c.lengths.to_vector<int64_t>();
  const int64_t most = c.log_probs.size(0), labels = c.targets.size(1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] < 0 || inputs[i] > most || targets[i] < 0 || targets[i] > labels) {
      fail("ctc_loss: sample " + std::to_string(i) + " has input length " +
           std::to_string(inputs[i]) + " and target length " + std::to_string(targets[i]) +
           "; expected at most " + std::to_string(most) + " and " + std::to_string(labels));
    }
  }
}

CtcCall batch_of(const Tensor& log_probs, const Tensor& targets, const Tensor& inputs,
                 const Tensor& lengths) {
  expect_batch(log_probs, targets, inputs, lengths);
  CtcCall c;
  c.log_probs = log_probs.dim() == 2 ? unsqueeze(log_probs, 1) : log_probs;
  const int64_t n = c.log_probs.size(1);
  c.input_lengths = prim::reshape(as_index("ctc_loss", "input_lengths", inputs), {n});
  c.lengths = prim::reshape(as_index("ctc_loss", "target_lengths", lengths), {n});
  const Tensor labels = as_index("ctc_loss", "targets", targets);
  c.targets = labels.dim() == 2 ? labels
              : n == 1          ? unsqueeze(labels, 0)
                                : as_rows(labels, c.lengths);
  expect_lengths(c);
  // Lengths may lie on the CPU beside log_probs of another device.
  const Device device = c.log_probs.device();
  c.input_lengths = c.input_lengths.to(device);
  c.lengths = c.lengths.to(device);
  return c;
}

// x moved by one or two states, -inf in front.
Tensor from_before(const Tensor& x, int64_t by) {
  const int64_t states = x.size(1);
  if (states <= by) return prim::fill(x.sizes(), kNever, x.dtype(), x.device());
  return cat({prim::fill({x.size(0), by}, kNever, x.dtype(), x.device()),
              prim::slice(x, 1, 0, states - by)},
             1);
}

// -log p(targets | log_probs), [n].
Tensor each_loss(const CtcCall& c, int64_t blank) {
  const int64_t time = c.log_probs.size(0), n = c.log_probs.size(1), labels = c.targets.size(1);
  // Steps are alike in their sizes, so tensors that have nothing else take two.
  const int64_t steps =
      c.log_probs.device().value.type == TN_DEVICE_META ? std::min<int64_t>(time, 2) : time;
  const int64_t states = 2 * labels + 1;
  const Device device = c.log_probs.device();
  const Tensor s = prim::iota(states, 0, 1, int64, device);
  Tensor label = prim::fill({n, states}, blank, int64, device);
  if (labels > 0) {
    const Tensor at = prim::elementwise(label_of_state, s, labels - 1);
    const Tensor spread = prim::gather(c.targets, 1, prim::expand(at, {n, states}));
    label = prim::elementwise(state_label, spread, s, unsqueeze(c.lengths, 1), blank);
  }
  const Tensor before = pad(prim::slice(label, 1, 0, std::max<int64_t>(states - 2, 0)),
                            {std::min<int64_t>(2, states), 0}, "constant", blank);
  const Tensor may = prim::elementwise(may_skip, label, before, blank);
  const Tensor emitted =
      prim::gather(c.log_probs, 2, prim::expand(unsqueeze(label, 0), {time, n, states}));
  const Tensor length = unsqueeze(c.input_lengths, 1);
  Tensor alpha = prim::elementwise(at_start, select(emitted, 0, 0), s, length);
  for (int64_t t = 1; t < steps; ++t) {
    const Tensor jump = prim::elementwise(skipped, from_before(alpha, 2), may);
    const Tensor next =
        prim::elementwise(next_state, alpha, from_before(alpha, 1), jump, select(emitted, 0, t));
    alpha = prim::elementwise(within, next, alpha, length, t);
  }
  const auto at_end = [&](int64_t back) {
    const Tensor state = prim::elementwise(end_state, unsqueeze(c.lengths, 1), back);
    return prim::reshape(prim::gather(alpha, 1, state), {n});
  };
  return prim::elementwise(either_end, at_end(0), at_end(1), c.lengths);
}

}  // namespace

void ctc() {
  op("ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int "
     "blank=0, str reduction=\"mean\", bool zero_infinity=False) -> Tensor")
      .doc(
          "-log of the probability of the labels targets [n, labels], or all in one line, given "
          "log_probs [t, n, classes]; int64 lengths [n]. mean: over n of each loss over its number "
          "of labels; zero_infinity: 0 where there is no path. Graves et al., 2006.")
      .amp(Amp::float32)
      .infer([](Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths,
                int64_t, std::string reduction, bool) {
        const Reduction kind = reduction_of("ctc_loss", reduction);
        expect_batch(log_probs, targets, input_lengths, target_lengths);
        const bool each = kind == Reduction::none && log_probs.dim() == 3;
        return Meta(each ? Sizes{log_probs.size(1)} : Sizes{}, log_probs.dtype(),
                    log_probs.device());
      })
      .meaning([](Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths,
                  int64_t blank, std::string reduction, bool zero_infinity) {
        const Reduction kind = reduction_of("ctc_loss", reduction);
        const CtcCall c = batch_of(log_probs, targets, input_lengths, target_lengths);
        if (blank < 0 || blank >= c.log_probs.size(2)) {
          fail("ctc_loss: blank is " + std::to_string(blank) + ", expected a class from 0 to " +
               std::to_string(c.log_probs.size(2) - 1));
        }
        Tensor loss = each_loss(c, blank);
        if (zero_infinity) loss = prim::elementwise(finite, loss);
        if (log_probs.dim() == 2 && kind == Reduction::none) return prim::reshape(loss, {});
        if (kind == Reduction::mean) loss = prim::elementwise(by_length, loss, c.lengths);
        return reduced(loss, kind);
      });
}

}  // namespace tenon::ops_pack
