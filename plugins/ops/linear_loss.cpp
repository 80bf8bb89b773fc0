// cross_entropy behind a linear layer of many classes, a block of rows at a time: the logits, the
// largest tensor of a language model's training, are never there as a whole, in backward neither.
#include <algorithm>

#include "loss.h"

namespace tenon::ops_pack {
namespace {

const char* const kName = "linear_cross_entropy";

// The gradient of a row's loss by a logit, of which p is the softmax: the loss has a share of
// `rest` of every class, and `keep` more of the target's. A row that is ignored has none; its grad
// may be NaN.
constinit ExpressionRef by_logit{
    "_linear_loss_by_logit(Tensor grad, Tensor p, Tensor c, Tensor target, int ignored, "
    "float keep, float rest) -> Tensor",
    "where(target == ignored, 0, grad) * (p - where(c == target, keep, 0) - rest)"};
constinit ExpressionRef class_or_first{"_linear_loss_class(Tensor target, int ignored) -> Tensor",
                                       "where(target == ignored, 0, target)"};
constinit ExpressionRef is_counted{"_linear_loss_counts(Tensor target, int ignored) -> Tensor",
                                   "int(target != ignored)"};

// A few large products are as fast as one, and an eighth of the logits is little beside what else a
// training holds; below 2^24 elements more blocks would save nothing that counts.
int64_t rows_of_block(int64_t chunk_size, int64_t rows, int64_t classes) {
  if (chunk_size > 0) return chunk_size;
  constexpr int64_t kElements = int64_t(1) << 24;
  return std::max({int64_t(1), (rows + 7) / 8, kElements / std::max<int64_t>(classes, 1)});
}

// The rows [begin, end) of x.
Tensor block_of(const Tensor& x, int64_t begin, int64_t end) {
  return prim::slice(x, 0, begin, end);
}
// f(begin, end) for each block of rows.
template <typename F>
void each_block(const Tensor& x, const Tensor& linear_weight, int64_t chunk_size, F&& f) {
  const int64_t rows = x.size(0), n = rows_of_block(chunk_size, rows, linear_weight.size(0));
  for (int64_t begin = 0; begin < rows; begin += std::min(n, rows - begin))
    f(begin, begin + std::min(n, rows - begin));
}

Tensor joined(const std::vector<Tensor>& blocks) {
  return blocks.size() == 1 ? blocks[0] : cat(blocks, 0);
}

// Of halves in float32.
Tensor logits_of(const Tensor& x, const Tensor& linear_weight, const Tensor& linear_bias) {
  const Tensor logits = linear(x, linear_weight, linear_bias);
  return logits.dtype().is_half() ? prim::copy(logits, float32) : logits;
}

// The loss of each row of input [n, in].
Tensor losses_of_rows(Tensor input, Tensor linear_weight, Tensor target, Tensor linear_bias,
                      int64_t ignore_index, double label_smoothing, int64_t chunk_size) {
  // A wrong class is refused here, with its place among all of them.
  if (may_look_at(target) && input.size(1) > 0) {
    const Tensor first =
        prim::reshape(prim::slice(linear_weight, 1, 0, 1), {linear_weight.size(0)});
    prim::gather(first, 0, prim::elementwise(class_or_first, target, ignore_index));
  }
  std::vector<Tensor> losses;
  each_block(input, linear_weight, chunk_size, [&](int64_t begin, int64_t end) {
    losses.push_back(cross_entropy(
        logits_of(block_of(input, begin, end), linear_weight, linear_bias),
        block_of(target, begin, end), Tensor(), ignore_index, "none", label_smoothing));
  });
  return joined(losses);
}

std::vector<Tensor> gradient_of_rows(const Vjp& g, Tensor input, Tensor linear_weight,
                                     Tensor target, Tensor linear_bias, int64_t ignore_index,
                                     double label_smoothing, int64_t chunk_size) {
  const int64_t classes = linear_weight.size(0);
  const Tensor c = prim::reshape(prim::iota(classes, 0, 1, int64, input.device()), {1, classes});
  std::vector<Tensor> dinput;
  Tensor dweight, dbias;
  // Sums of halves are float32 until they are whole.
  const auto add_to = [](Tensor& total, const Tensor& part) {
    const Tensor wide = part.dtype().is_half() ? prim::copy(part, float32) : part;
    total = total.defined() ? add(total, wide) : wide;
  };
  const auto rounded = [&](const Tensor& total) {
    return total.defined() ? as_dtype(total, input.dtype()) : total;
  };
  each_block(input, linear_weight, chunk_size, [&](int64_t begin, int64_t end) {
    const auto column = [&](const Tensor& x) {
      return prim::reshape(block_of(x, begin, end), {end - begin, 1});
    };
    const Tensor x = block_of(input, begin, end);
    const Tensor p = softmax(logits_of(x, linear_weight, linear_bias), 1);
    const Tensor dlogits =
        as_dtype(prim::elementwise(by_logit, column(g.grad()), p, c, column(target), ignore_index,
                                   1 - label_smoothing, label_smoothing / double(classes)),
                 input.dtype());
    if (g.needs(0)) dinput.push_back(matmul(dlogits, linear_weight));
    if (g.needs(1)) add_to(dweight, matmul(dlogits.mT(), x));
    if (linear_bias.defined() && g.needs(3)) add_to(dbias, sum(dlogits, 0));
  });
  return {dinput.empty() ? Tensor() : joined(dinput), rounded(dweight), Tensor(), rounded(dbias)};
}

// Refuses what does not fit; whether target holds classes, and no probabilities.
bool check(const Tensor& input, const Tensor& linear_weight, const Tensor& target,
           const Tensor& linear_bias, int64_t chunk_size) {
  const std::string name = kName;
  expect_float(kName, input);
  const bool fits = input.dim() > 0 && linear_weight.dim() == 2 &&
                    input.size(-1) == linear_weight.size(1) &&
                    (!linear_bias.defined() ||
                     (linear_bias.dim() == 1 && linear_bias.size(0) == linear_weight.size(0)));
  if (!fits) {
    fail(name + ": input is " + sizes_text(input.sizes()) + ", linear_weight is " +
         sizes_text(linear_weight.sizes()) +
         (linear_bias.defined() ? ", linear_bias is " + sizes_text(linear_bias.sizes()) : "") +
         "; expected input [.., in], linear_weight [classes, in], linear_bias [classes]");
  }
  const bool classes = target.dtype() == int64 || target.dtype() == uint8;
  Sizes expected = first_sizes(input, input.dim() - 1);
  if (!classes) expected.push_back(linear_weight.size(0));
  if (sizes_of(target) != expected || !(classes || target.dtype().is_float())) {
    fail(name + ": target is " + target.dtype().name() + " " + sizes_text(target.sizes()) +
         ", expected int64 classes " + sizes_text(first_sizes(input, input.dim() - 1)) +
         ", or a probability of each");
  }
  if (chunk_size < 0) {
    fail(name + ": chunk_size is " + std::to_string(chunk_size) +
         ", expected a number of rows, or 0");
  }
  return classes;
}

// The logits [n, classes, ..] of weights [classes, .., in]: a layer of classes for each place. They
// are made at once, since such layers are small.
Tensor logits_of_places(const Tensor& input, const Tensor& linear_weight,
                        const Tensor& linear_bias) {
  expect_float(kName, input);
  const Sizes places = first_sizes(linear_weight, linear_weight.dim() - 1);
  if (input.dim() != 2 || input.size(1) != linear_weight.size(-1) ||
      (linear_bias.defined() && sizes_of(linear_bias) != places)) {
    fail(std::string(kName) + ": input is " + sizes_text(input.sizes()) + ", linear_weight is " +
         sizes_text(linear_weight.sizes()) +
         (linear_bias.defined() ? ", linear_bias is " + sizes_text(linear_bias.sizes()) : "") +
         "; expected input [n, in], linear_weight [classes, .., in], linear_bias [classes, ..]");
  }
  const int64_t n = product(places);
  const Tensor logits =
      logits_of(input, prim::reshape(linear_weight, {n, input.size(1)}),
                linear_bias.defined() ? prim::reshape(linear_bias, {n}) : linear_bias);
  return prim::reshape(logits, joined_sizes({{input.size(0)}, places}));
}

}  // namespace

void linear_losses() {
  op("_linear_cross_entropy_rows(Tensor input, Tensor linear_weight, Tensor target, Tensor? "
     "linear_bias, int ignore_index, float label_smoothing, int chunk_size) -> Tensor")
      .amp(Amp::lower)
      .keeps_halves()
      .meaning(losses_of_rows)
      .vjp(gradient_of_rows, Reads::args);
  op("linear_cross_entropy(Tensor input, Tensor linear_weight, Tensor target, Tensor? "
     "linear_bias=None, Tensor? weight=None, int ignore_index=-100, str reduction=\"mean\", float "
     "label_smoothing=0, int chunk_size=0) -> Tensor")
      .doc(
          "cross_entropy of linear(input, linear_weight, linear_bias) for input [.., in] and "
          "target "
          "[..], chunk_size rows at a time (0: an eighth of them, or 2^24 logits where that is "
          "more), forward and backward: there are never more logits than that at once, which "
          "backward computes again. Targets that are probabilities, and class weights, take all at "
          "once; so do linear_weight [classes, .., in] and target [n, ..] of input [n, in]. The "
          "loss of halves is float32.")
      .keeps_halves()
      .meaning([](Tensor input, Tensor linear_weight, Tensor target, Tensor linear_bias,
                  Tensor weight, int64_t ignore_index, std::string reduction,
                  double label_smoothing, int64_t chunk_size) {
        const Reduction kind = reduction_of(kName, reduction);
        if (linear_weight.dim() > 2) {
          return cross_entropy(logits_of_places(input, linear_weight, linear_bias), target, weight,
                               ignore_index, reduction, label_smoothing);
        }
        const bool classes = check(input, linear_weight, target, linear_bias, chunk_size);
        const Sizes outer = first_sizes(input, input.dim() - 1);
        int64_t rows = 1;
        for (int64_t size : outer) rows *= size;
        const Tensor x = prim::reshape(input, {rows, input.size(-1)});
        Tensor t = classes ? prim::reshape(target, {rows})
                           : prim::reshape(target, {rows, linear_weight.size(0)});
        const auto shaped = [&](const Tensor& loss) {
          return kind == Reduction::none ? prim::reshape(loss, outer) : loss;
        };
        if (!classes || weight.defined() || rows == 0) {
          return shaped(cross_entropy(logits_of(x, linear_weight, linear_bias), t, weight,
                                      ignore_index, reduction, label_smoothing));
        }
        t = as_dtype(t, int64);
        const Tensor losses = call(detail::op<"_linear_cross_entropy_rows">, x, linear_weight, t,
                                   linear_bias, ignore_index, label_smoothing, chunk_size);
        if (kind != Reduction::mean) return shaped(reduced(losses, kind));
        const Tensor n =
            prim::reduce(TN_REDUCE_SUM, prim::elementwise(is_counted, t, ignore_index));
        return div(sum(losses), n);
      });
}

}  // namespace tenon::ops_pack
