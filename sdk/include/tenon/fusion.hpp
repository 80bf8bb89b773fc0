// A convolution or linear layer and the batch norm behind it as one layer, for inference:
// torch.nn.utils.fuse_conv_bn_eval. tenon.hpp does not include it.
//
//   model.eval();
//   model[0] = nn::utils::fuse_conv_bn_eval(model[0], model[1]);
//   model[1] = nn::Identity();
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/object.hpp"
#include "tenon/ops/methods_by_hand.hpp"
#include "tenon/ops/operators.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// A layer of the same options as `layer`, with a bias.
inline Object with_bias(const Object& layer) {
  const std::string type = layer.type_name();
  const std::vector<std::string> names = argument_names(factory_schema(type));
  std::vector<const char*> options;
  std::vector<tn_value> values(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    options.push_back(names[i].c_str());
    check(api.object->option(layer.get(), options[i], &values[i]));
    if (names[i] == "bias") values[i] = to_value(true);
  }
  return Object::create_named(type, options, values);
}

// How many channels a layer gives, and a number of each beside its weight.
struct OutputChannels {
  int64_t count;
  bool transposed;  // weight is [in, out / groups, ..] and not [out, in / groups, ..]
  int64_t groups;

  Tensor beside(const Tensor& weight, const Tensor& numbers) const {
    std::vector<int64_t> sizes(size_t(weight.dim()), 1);
    sizes[0] = count;
    if (!transposed) return numbers.reshape(sizes);
    sizes[0] = weight.size(0);
    sizes[1] = count / groups;
    return numbers.reshape({groups, sizes[1]})
        .repeat_interleave(weight.size(0) / groups, 0)
        .reshape(sizes);
  }
};

inline Object fused_with_norm(const char* op, const Object& layer, const Object& norm,
                              const OutputChannels& channels) {
  for (const Object* object : {&layer, &norm}) {
    if (object->training())
      fail(joined({op, ": ", object->type_name(), " is in training, expected eval()"}));
  }
  const NoGrad scope;
  const Tensor weight = layer.tensor("weight"), bias = layer.tensor("bias");
  if (!norm.option<bool>("track_running_stats"))
    fail(joined({op, ": ", norm.type_name(), " has no running statistics, expected some"}));
  const Tensor mean = norm.tensor("running_mean"), var = norm.tensor("running_var");
  if (channels.count != mean.numel()) {
    fail(joined({op, ": ", layer.type_name(), " gives ", std::to_string(channels.count),
                 " channels and ", norm.type_name(), " takes ", std::to_string(mean.numel())}));
  }
  Tensor scale = rsqrt(var + norm.option<double>("eps"));
  if (const Tensor gamma = norm.tensor("weight"); gamma.defined()) scale = scale * gamma;
  Tensor shift = (bias.defined() ? bias - mean : -mean) * scale;
  if (const Tensor beta = norm.tensor("bias"); beta.defined()) shift = shift + beta;
  const Object fused = with_bias(layer);
  const auto give = [&](const char* name, const Tensor& value) {
    fused.parameter(name, value.to(weight.dtype())).requires_grad_(weight.requires_grad());
  };
  give("weight", weight * channels.beside(weight, scale));
  give("bias", shift);
  fused.eval();
  return fused;
}

inline void expect_type(const char* op, const Object& object, std::string_view beginning,
                        std::string_view expected) {
  if (object.type_name().starts_with(beginning)) return;
  fail(joined({op, ": ", object.type_name(), " is no ", expected}));
}

}  // namespace detail

namespace nn {
namespace utils {

// A layer of the convolution's type and options with a bias, which computes what `norm` makes of the
// convolution's output. conv: Conv1d to Conv3d or ConvTranspose1d to ConvTranspose3d; norm: a
// BatchNorm with running statistics; both in eval mode, and neither is changed.
inline Object fuse_conv_bn_eval(const Object& conv, const Object& norm) {
  const char* const op = "fuse_conv_bn_eval";
  detail::expect_type(op, conv, "Conv", "convolution");
  detail::expect_type(op, norm, "BatchNorm", "BatchNorm");
  return detail::fused_with_norm(
      op, conv, norm,
      {conv.option<int64_t>("out_channels"), conv.type_name().starts_with("ConvTranspose"),
       conv.option<int64_t>("groups")});
}
// The same of a Linear and a BatchNorm1d.
inline Object fuse_linear_bn_eval(const Object& linear, const Object& norm) {
  const char* const op = "fuse_linear_bn_eval";
  detail::expect_type(op, linear, "Linear", "Linear");
  detail::expect_type(op, norm, "BatchNorm1d", "BatchNorm1d");
  return detail::fused_with_norm(op, linear, norm,
                                 {linear.option<int64_t>("out_features"), false, 1});
}

}  // namespace utils
}  // namespace nn
}  // namespace v0
}  // namespace tenon
