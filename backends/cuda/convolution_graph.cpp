#include "convolution_graph.h"

namespace cuda {
namespace {

cudnnDataType_t type_of(int64_t dtype) {
  return dtype == TN_FLOAT32   ? CUDNN_DATA_FLOAT
         : dtype == TN_FLOAT64 ? CUDNN_DATA_DOUBLE
         : dtype == TN_FLOAT16 ? CUDNN_DATA_HALF
                               : CUDNN_DATA_BFLOAT16;
}

// The names of an operation's attributes: one operation computes y, one x, one weight.
struct Names {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t alpha, beta, convolution, x, weight, y;
};
constexpr Names kForward = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
constexpr Names kOfX = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
constexpr Names kOfWeight = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};

constexpr int64_t kMostWorkspace = int64_t{1} << 30;  // bytes
constexpr cudnnBackendAttributeType_t kDescriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;

cudnnDataType_t compute_type(const Convolution& c) {
  return c.dtype == TN_FLOAT64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

// One of the three; what is added to is y as it was before, in no memory.
cudnnBackendDescriptor_t make_part(Descriptors& parts, const Convolution& c, Convolution::Part part,
                                   bool is_virtual = false) {
  constexpr int64_t kBefore = 5;
  int64_t strides[Convolution::kMostDims];
  c.strides(part, strides);
  return make_tensor(parts,
                     {is_virtual ? kBefore : part, is_virtual ? compute_type(c) : type_of(c.dtype),
                      static_cast<int32_t>(c.n) + 2, c.sizes(part), strides, is_virtual});
}

cudnnBackendDescriptor_t make_windows(Descriptors& parts, const Convolution& c) {
  const cudnnDataType_t compute = compute_type(c);
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  return parts.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
                    {{CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &c.n},
                     {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute},
                     {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode},
                     {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, c.n, c.padding},
                     {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, c.n, c.padding},
                     {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, c.n, c.dilation},
                     {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, c.n, c.stride}});
}

cudnnBackendDescriptor_t make_operation(Descriptors& parts, const Convolution& c,
                                        cudnnBackendDescriptor_t y) {
  const cudnnBackendDescriptor_t x = make_part(parts, c, Convolution::kX);
  const cudnnBackendDescriptor_t weight = make_part(parts, c, Convolution::kWeight);
  const cudnnBackendDescriptor_t windows = make_windows(parts, c);
  const Names& names = c.result == Convolution::kY   ? kForward
                       : c.result == Convolution::kX ? kOfX
                                                     : kOfWeight;
  const double one = 1, zero = 0;  // of the type in which it adds
  const float one_float = 1, zero_float = 0;
  const bool is_double = c.dtype == TN_FLOAT64;
  const cudnnBackendAttributeType_t number = is_double ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
  return parts.make(
      names.type,
      {{names.convolution, kDescriptor, 1, &windows},
       {names.x, kDescriptor, 1, &x},
       {names.weight, kDescriptor, 1, &weight},
       {names.y, kDescriptor, 1, &y},
       {names.alpha, number, 1, is_double ? static_cast<const void*>(&one) : &one_float},
       {names.beta, number, 1, is_double ? static_cast<const void*>(&zero) : &zero_float}});
}

// y = before + bias, a number a channel.
cudnnBackendDescriptor_t make_addition(Descriptors& parts, const Convolution& c,
                                       cudnnBackendDescriptor_t before,
                                       cudnnBackendDescriptor_t y) {
  const int64_t channels = c.y[1];
  const int64_t sizes[] = {1, channels, 1, 1, 1};
  const int64_t strides[] = {channels, 1, channels, channels, channels};
  const cudnnBackendDescriptor_t bias = make_tensor(
      parts, {Convolution::kBias, type_of(c.dtype), static_cast<int32_t>(c.n) + 2, sizes, strides});
  const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  const cudnnDataType_t compute = compute_type(c);
  const cudnnBackendDescriptor_t add =
      parts.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
                 {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode},
                  {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute}});
  return parts.make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
                    {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kDescriptor, 1, &add},
                     {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, kDescriptor, 1, &before},
                     {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, kDescriptor, 1, &bias},
                     {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, kDescriptor, 1, &y}});
}

}  // namespace

void Convolution::strides(Part part, int64_t* strides) const {
  const int64_t* of = sizes(part);
  int64_t step = 1;
  if (channels_last) {
    strides[1] = 1;
    step = of[1];
  }
  for (int64_t d = n + 1; d >= 0; --d) {
    if (channels_last && d == 1) continue;
    strides[d] = step;
    step *= of[d];
  }
}

std::unique_ptr<Plan> plan_convolution(const Convolution& convolution, const Target& target,
                                       Search* search) {
  auto parts = std::make_unique<Descriptors>();
  const cudnnBackendDescriptor_t y = make_part(*parts, convolution, Convolution::kY);
  std::vector<cudnnBackendDescriptor_t> operations;
  if (convolution.has_bias) {
    const cudnnBackendDescriptor_t before =
        make_part(*parts, convolution, Convolution::kY, /*is_virtual=*/true);
    operations = {make_operation(*parts, convolution, before),
                  make_addition(*parts, convolution, before, y)};
  } else {
    operations = {make_operation(*parts, convolution, y)};
  }
  const cudnnBackendDescriptor_t graph =
      parts->is_whole() ? make_graph(*parts, target, operations) : nullptr;
  return Plan::choose(std::move(parts), graph, target, convolution.is_exact != 0, kMostWorkspace,
                      search);
}

}  // namespace cuda
