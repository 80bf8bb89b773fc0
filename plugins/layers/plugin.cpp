// The plugin `layers`.
#include "layers.h"

TENON_PLUGIN(layers) {
  group("linear");
  ::layers::add_linear_layers();
  group("activation");
  ::layers::add_activation_layers();
  group("dropout");
  ::layers::add_dropout_layers();
  group("shape");
  ::layers::add_shape_layers();
  group("padding");
  ::layers::add_padding_layers();
  group("resize");
  ::layers::add_resize_layers();
  group("conv");
  ::layers::add_conv_layers();
  group("pool");
  ::layers::add_pool_layers();
  group("norm");
  ::layers::add_norm_layers();
  group("embedding");
  ::layers::add_embedding_layers();
  group("attention");
  ::layers::add_attention_layers();
  ::layers::add_transformer_layers();
  group("recurrent");
  ::layers::add_recurrent_layers();
  group("loss");
  ::layers::add_loss_layers();
  ::layers::add_margin_loss_layers();
  group("container");
  ::layers::add_containers();
  ::layers::add_sequences();
}

namespace layers {

void expect_positive(const char* option, int64_t value) {
  if (value < 1)
    fail(std::string(option) + " is " + std::to_string(value) + ", expected at least 1");
}
void expect_size(const char* option, int64_t value) {
  if (value < 0)
    fail(std::string(option) + " is " + std::to_string(value) + ", expected 0 or more");
}
void expect_layers(const char* option, int64_t value) {
  expect_positive(option, value);
  constexpr int64_t kMostLayers = 10000;
  if (value <= kMostLayers) return;
  fail(std::string(option) + " is " + std::to_string(value) + ", expected at most " +
       std::to_string(kMostLayers));
}

void expect_probability(const char* option, double value) {
  if (!(value >= 0 && value <= 1)) {
    fail(std::string(option) + " is " + detail::number_text(value) +
         ", expected a probability, 0 to 1");
  }
}

void expect_reduction(const std::string& reduction, bool batchmean) {
  if (reduction == "mean" || reduction == "sum" || reduction == "none") return;
  if (batchmean && reduction == "batchmean") return;
  fail("reduction is '" + reduction + "', expected mean, sum or none" +
       (batchmean ? ", or batchmean" : ""));
}

std::string sizes_text(const Tensor& x) { return detail::sizes_text(x.sizes()); }

std::vector<int64_t> for_each_dim(const char* option, Ints list, int64_t n, int64_t at_least) {
  bool fits = list.size() == 1 || int64_t(list.size()) == n;
  for (const int64_t value : list) fits = fits && value >= at_least;
  if (!fits) {
    fail(std::string(option) + " is " + detail::sizes_text(list) + ", expected " +
         (n == 1 ? "one number" : "one or " + std::to_string(n) + " numbers") + " of at least " +
         std::to_string(at_least));
  }
  return list.size() == 1 ? std::vector<int64_t>(size_t(n), list[0])
                          : std::vector<int64_t>(list.begin(), list.end());
}

}  // namespace layers
