// The layer pack: a file a family, each with one function that registers its layers. Names,
// options, parameters and initial values are PyTorch's, so that weights from there load as they
// are.
#pragma once

#include "tenon/plugin.hpp"

namespace layers {

using namespace tenon;          // NOLINT
using namespace tenon::plugin;  // NOLINT

void add_activation_layers();
void add_attention_layers();
void add_containers();
void add_conv_layers();
void add_dropout_layers();
void add_embedding_layers();
void add_linear_layers();
void add_loss_layers();
void add_margin_loss_layers();
void add_norm_layers();
void add_padding_layers();
void add_pool_layers();
void add_recurrent_layers();
void add_resize_layers();
void add_sequences();
void add_shape_layers();
void add_transformer_layers();

// Of most layers, and of most losses.
inline constexpr const char* kOfTensor = "forward(Tensor x) -> Tensor";
inline constexpr const char* kOfInputAndTarget = "forward(Tensor input, Tensor target) -> Tensor";

// The layer "Lazy.." of the one of this schema, without its first argument: that is the size of the
// first input's dimension `dim`, from the end where negative. `forward` is the schema of the method.
void define_lazy(const std::string& schema, int64_t dim, const char* forward = kOfTensor);

void expect_positive(const char* option, int64_t value);
// Of a parameter that may have no elements.
void expect_size(const char* option, int64_t value);
// Of a stack: at least one, and no more than a program can hold.
void expect_layers(const char* option, int64_t value);
void expect_probability(const char* option, double value);
// mean, sum or none; batchmean where a loss has it.
void expect_reduction(const std::string& reduction, bool batchmean = false);
// "[2, 3]"
std::string sizes_text(const Tensor& x);
// One number for each of n dimensions; a list of one stands for all.
std::vector<int64_t> for_each_dim(const char* option, Ints list, int64_t n, int64_t at_least);

}  // namespace layers
