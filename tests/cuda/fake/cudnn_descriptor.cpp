#include "cudnn_descriptor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace fake {
namespace {

struct Rule {
  cudnnBackendDescriptorType_t of;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t least, most;  // how many elements
  bool is_required;
};

constexpr cudnnBackendAttributeType_t kDescriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;
constexpr ConvolutionNames kForward = {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
constexpr ConvolutionNames kData = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
constexpr ConvolutionNames kFilter = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};

constexpr int64_t kMany = int64_t{1} << 30;
constexpr Rule kRules[] = {
    // clang-format off
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, 1, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, 1, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 3, CUDNN_DIM_MAX, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 3, CUDNN_DIM_MAX, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, 1, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, 1, false},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, 1, false},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, 1, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, 1, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, 1, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 1, 6, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 1, 6, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 1, 6, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 1, 6, true},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, 1, true},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, kDescriptor, 1, 1, false},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, kDescriptor, 1, 1, false},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, 1, false},
    {CUDNN_BACKEND_MATMUL_DESCRIPTOR, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_DESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_ADESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_BDESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_CDESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, 1, true},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_ATTR_OPERATION_REDUCTION_DESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, 1, true},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_OPS, kDescriptor, 1, kMany, true},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, kDescriptor, 1, 1, true},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, 1, true},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, 1, true},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, kDescriptor, 1, 1, false},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 1, kMany, false},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 1, kMany, true},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 1, kMany, true},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, 1, false},
    // clang-format on
};

bool is_convolution_number(const ConvolutionNames& names, cudnnBackendAttributeName_t name) {
  return name == names.alpha || name == names.beta;
}

cudnnStatus_t refuse(std::string* why, const char* what,
                     cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM) {
  *why = what;
  return status;
}

bool all(const std::vector<int64_t>& list, int64_t least) {
  return std::all_of(list.begin(), list.end(), [=](int64_t value) { return value >= least; });
}

cudnnStatus_t check_tensor(const Descriptor& of, std::string* why) {
  const Tensor t(of);
  const auto alignment = of.number<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  if (t.sizes.size() != t.strides.size()) return refuse(why, "as many strides as dimensions");
  if (!all(t.sizes, 1) || !all(t.strides, 1)) return refuse(why, "dimensions are positive");
  if (of.is_virtual() && of.is_number()) return refuse(why, "a number of the host is one");
  if (alignment < static_cast<int64_t>(bytes_of(t.type)) || (alignment & (alignment - 1)) != 0)
    return refuse(why, "an alignment is a power of two, of an element at least");
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_convolution(const Descriptor& of, std::string* why) {
  const auto n = of.number<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
  const auto compute = of.number<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  const auto strides = of.list(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const auto dilations = of.list(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  const auto before = of.list(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto behind = of.list(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  for (const auto* list : {&strides, &dilations, &before, &behind}) {
    if (static_cast<int64_t>(list->size()) != n) return refuse(why, "a number for each dimension");
  }
  if (n < 2 || n > 3) return refuse(why, "two or three dimensions", CUDNN_STATUS_NOT_SUPPORTED);
  if (!all(strides, 1) || !all(dilations, 1) || !all(before, 0) || !all(behind, 0))
    return refuse(why, "strides and dilations are positive");
  if (of.number<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) !=
      CUDNN_CROSS_CORRELATION)
    die("a convolution that turns its windows around");
  if (compute != CUDNN_DATA_FLOAT && compute != CUDNN_DATA_DOUBLE)
    return refuse(why, "computes in float or double", CUDNN_STATUS_NOT_SUPPORTED);
  return CUDNN_STATUS_SUCCESS;
}

// The sizes of x, weight and y fit, and so do the types.
cudnnStatus_t check_operation(const Descriptor& of, const ConvolutionNames& names,
                              std::string* why) {
  const Descriptor& c = of.child(names.convolution);
  const Tensor x(of.child(names.x)), weight(of.child(names.weight)), y(of.child(names.y));
  const auto n = static_cast<size_t>(c.number<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  if (x.sizes.size() != n + 2 || weight.sizes.size() != n + 2 || y.sizes.size() != n + 2)
    return refuse(why, "two dimensions more than a window has");
  // What goes to another operation is as wide as it is computed.
  const bool is_between = of.child(names.y).is_virtual();
  if (is_between ? y.type != CUDNN_DATA_FLOAT : x.type != y.type)
    return refuse(why, "tensors of one type", CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE);
  if (weight.type != x.type)
    return refuse(why, "tensors of one type", CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE);
  const bool is_double =
      c.number<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) == CUDNN_DATA_DOUBLE;
  if (is_double != (x.type == CUDNN_DATA_DOUBLE) ||
      of.values.at(names.alpha).type != (is_double ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT))
    return refuse(why, "double is computed in double alone", CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE);
  const auto factor = [&](cudnnBackendAttributeName_t name) {
    return is_double ? of.number<double>(name) : static_cast<double>(of.number<float>(name));
  };
  if (factor(names.alpha) != 1 || factor(names.beta) != 0) die("alpha and beta are 1 and 0 here");
  if (x.sizes[0] != y.sizes[0] || y.sizes[1] != weight.sizes[0] ||
      x.sizes[1] % weight.sizes[1] != 0 || y.sizes[1] % (x.sizes[1] / weight.sizes[1]) != 0)
    return refuse(why, "images and channels fit", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  const auto strides = c.list(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const auto dilations = c.list(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  const auto before = c.list(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto behind = c.list(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  for (size_t d = 0; d < n; ++d) {
    const int64_t room =
        x.sizes[2 + d] + before[d] + behind[d] - dilations[d] * (weight.sizes[2 + d] - 1) - 1;
    if (room < 0 || room / strides[d] + 1 != y.sizes[2 + d])
      return refuse(why, "windows fit", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  }
  return CUDNN_STATUS_SUCCESS;
}

// How many operands a pointwise operation has; 0: it is not known here.
int operands_of(cudnnPointwiseMode_t mode) {
  switch (mode) {
    case CUDNN_POINTWISE_EXP:
    case CUDNN_POINTWISE_LOG:
    case CUDNN_POINTWISE_GEN_INDEX:
      return 1;
    case CUDNN_POINTWISE_ADD:
    case CUDNN_POINTWISE_SUB:
    case CUDNN_POINTWISE_MUL:
    case CUDNN_POINTWISE_DIV:
    case CUDNN_POINTWISE_CMP_GE:
      return 2;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return 3;
    default:
      return 0;
  }
}

// y has the sizes that the others broadcast to.
cudnnStatus_t check_pointwise(const Descriptor& of, std::string* why) {
  const Tensor y(of.child(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
  const Descriptor& what = of.child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const auto mode = what.number<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  if ((mode == CUDNN_POINTWISE_GEN_INDEX) != what.has(CUDNN_ATTR_POINTWISE_AXIS))
    return refuse(why, "places are along an axis");
  int found = 0;
  for (const auto name :
       {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
        CUDNN_ATTR_OPERATION_POINTWISE_TDESC}) {
    if (!of.has(name)) continue;
    ++found;
    const Tensor t(of.child(name));
    bool fits = t.sizes.size() == y.sizes.size();
    for (size_t d = 0; fits && d < y.sizes.size(); ++d)
      fits = t.sizes[d] == y.sizes[d] || t.sizes[d] == 1;
    if (!fits) return refuse(why, "operands broadcast", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    if (name == CUDNN_ATTR_OPERATION_POINTWISE_TDESC && t.type != CUDNN_DATA_BOOLEAN)
      return refuse(why, "a choice is boolean", CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE);
  }
  if (operands_of(mode) == 0) return refuse(why, "no such operation", CUDNN_STATUS_NOT_SUPPORTED);
  return found == operands_of(mode) ? CUDNN_STATUS_SUCCESS : refuse(why, "too few operands");
}

cudnnStatus_t check_product(const Descriptor& of, std::string* why) {
  const Tensor a(of.child(CUDNN_ATTR_OPERATION_MATMUL_ADESC));
  const Tensor b(of.child(CUDNN_ATTR_OPERATION_MATMUL_BDESC));
  const Tensor c(of.child(CUDNN_ATTR_OPERATION_MATMUL_CDESC));
  if (a.sizes.size() != 4 || b.sizes.size() != 4 || c.sizes.size() != 4)
    return refuse(why, "four dimensions", CUDNN_STATUS_NOT_SUPPORTED);
  const bool fits = a.sizes[0] == b.sizes[0] && a.sizes[1] % b.sizes[1] == 0 &&
                    a.sizes[3] == b.sizes[2] &&
                    c.sizes == std::vector{a.sizes[0], a.sizes[1], a.sizes[2], b.sizes[3]};
  if (!fits) return refuse(why, "matrices fit", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  // Tensor cores multiply halves.
  return a.type == b.type && (a.type == CUDNN_DATA_HALF || a.type == CUDNN_DATA_BFLOAT16)
             ? CUDNN_STATUS_SUCCESS
             : refuse(why, "products of halves", CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE);
}

cudnnStatus_t check_reduction(const Descriptor& of, std::string* why) {
  const Tensor x(of.child(CUDNN_ATTR_OPERATION_REDUCTION_XDESC));
  const Tensor y(of.child(CUDNN_ATTR_OPERATION_REDUCTION_YDESC));
  bool fits = x.sizes.size() == y.sizes.size();
  for (size_t d = 0; fits && d < x.sizes.size(); ++d) fits = x.sizes[d] % y.sizes[d] == 0;
  return fits ? CUDNN_STATUS_SUCCESS
              : refuse(why, "sizes divide", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
}

cudnnStatus_t check_reshape(const Descriptor& of, std::string* why) {
  const Tensor x(of.child(CUDNN_ATTR_OPERATION_RESHAPE_XDESC));
  const Tensor y(of.child(CUDNN_ATTR_OPERATION_RESHAPE_YDESC));
  return x.numel() == y.numel()
             ? CUDNN_STATUS_SUCCESS
             : refuse(why, "as many elements", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
}

void collect_ids(const Descriptor& of, std::map<int64_t, const Descriptor*>* ids, bool* is_unique) {
  if (of.type == CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
    const auto [place, is_new] = ids->emplace(of.number<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID), &of);
    *is_unique = *is_unique && (is_new || place->second == &of);
  }
  for (const auto& [name, value] : of.values) {
    for (const Child& child : value.children) collect_ids(*child, ids, is_unique);
  }
}

cudnnStatus_t check_pack(const Descriptor& of, std::string* why) {
  const auto ids = of.list(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = of.list(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  if (ids.size() != pointers.size()) return refuse(why, "as many pointers as numbers");
  if (std::set(ids.begin(), ids.end()).size() != ids.size())
    return refuse(why, "each tensor once", CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

void die(const std::string& what) {
  std::fprintf(stderr, "fake cuDNN: %s\n", what.c_str());
  std::abort();
}

size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    default:
      return 4;
  }
}

size_t bytes_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE                              ? 8
         : type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_INT32 ? 4
         : type == CUDNN_DATA_BOOLEAN                           ? 1
                                                                : 2;
}

size_t Tensor::reach() const {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
  return static_cast<size_t>(last + 1) * bytes_of(type);
}

const ConvolutionNames* convolution_names(cudnnBackendDescriptorType_t type) {
  switch (type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return &kForward;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return &kData;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return &kFilter;
    default:
      return nullptr;
  }
}

cudnnStatus_t check_attribute(const Descriptor& of, cudnnBackendAttributeName_t name,
                              cudnnBackendAttributeType_t type, int64_t count) {
  if (const ConvolutionNames* names = convolution_names(of.type)) {
    if (is_convolution_number(*names, name))
      return (type == CUDNN_TYPE_FLOAT || type == CUDNN_TYPE_DOUBLE) && count == 1
                 ? CUDNN_STATUS_SUCCESS
                 : CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
    if (name == names->convolution || name == names->x || name == names->weight || name == names->y)
      return type == kDescriptor && count == 1 ? CUDNN_STATUS_SUCCESS
                                               : CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  for (const Rule& rule : kRules) {
    if (rule.of != of.type || rule.name != name) continue;
    if (rule.type != type) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
    return count >= rule.least && count <= rule.most ? CUDNN_STATUS_SUCCESS
                                                     : CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  }
  return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t check_whole(const Descriptor& of, std::string* why) {
  if (const ConvolutionNames* names = convolution_names(of.type)) {
    for (const auto name :
         {names->convolution, names->x, names->weight, names->y, names->alpha, names->beta}) {
      if (!of.has(name)) return refuse(why, "an attribute is missing");
    }
    return check_operation(of, *names, why);
  }
  for (const Rule& rule : kRules) {
    if (rule.of == of.type && rule.is_required && !of.has(rule.name))
      return refuse(why, "an attribute is missing");
  }
  switch (of.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return check_tensor(of, why);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return check_convolution(of, why);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return check_pointwise(of, why);
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return check_product(of, why);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return check_reduction(of, why);
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return check_reshape(of, why);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: {
      std::map<int64_t, const Descriptor*> ids;
      bool is_unique = true;
      collect_ids(of, &ids, &is_unique);
      return is_unique ? CUDNN_STATUS_SUCCESS
                       : refuse(why, "numbers of tensors are unique",
                                CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES);
    }
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return check_pack(of, why);
    default:
      return CUDNN_STATUS_SUCCESS;
  }
}

// ---- As text: numbers and bytes in hexadecimal, separated by blanks

void write(const Descriptor& from, std::string* to) {
  char text[64];
  std::snprintf(text, sizeof text, "%d %d %zu ", from.type, from.engine, from.values.size());
  *to += text;
  for (const auto& [name, value] : from.values) {
    std::snprintf(text, sizeof text, "%d %d %ld %zu ", name, value.type,
                  static_cast<long>(value.count), value.children.size());
    *to += text;
    for (const char byte : value.bytes) {
      std::snprintf(text, sizeof text, "%02x", static_cast<unsigned char>(byte));
      *to += text;
    }
    *to += "; ";
    for (const Child& child : value.children) write(*child, to);
  }
}

Child read(const char** at, const char* end) {
  int type = 0, engine = 0, used = 0;
  size_t n = 0;
  if (*at >= end || std::sscanf(*at, "%d %d %zu %n", &type, &engine, &n, &used) != 3)
    return nullptr;
  *at += used;
  auto made = std::make_shared<Descriptor>();
  made->type = static_cast<cudnnBackendDescriptorType_t>(type);
  made->engine = engine;
  made->is_final = true;
  for (size_t k = 0; k < n; ++k) {
    int name = 0, value_type = 0;
    long count = 0;
    size_t children = 0;
    if (*at >= end ||
        std::sscanf(*at, "%d %d %ld %zu %n", &name, &value_type, &count, &children, &used) != 4)
      return nullptr;
    *at += used;
    Value value = {static_cast<cudnnBackendAttributeType_t>(value_type), count, "", {}};
    for (unsigned byte = 0; std::sscanf(*at, "%2x", &byte) == 1 && **at != ';'; *at += 2)
      value.bytes += static_cast<char>(byte);
    if (**at != ';') return nullptr;
    *at += 2;
    if (children == 0 && value.bytes.size() != static_cast<size_t>(count) * bytes_of(value.type))
      return nullptr;
    for (size_t c = 0; c < children; ++c) {
      value.children.push_back(read(at, end));
      if (!value.children.back()) return nullptr;
    }
    made->values[static_cast<cudnnBackendAttributeName_t>(name)] = std::move(value);
  }
  return made;
}

}  // namespace fake
