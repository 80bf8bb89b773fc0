// The operations of the fake cuDNN but convolutions, on all elements in double.
#include <algorithm>
#include <cmath>

#include "cudnn_run.h"
#include "tenon/halves.hpp"

namespace fake {

using tenon::halves::BFloat16;
using tenon::halves::Float16;

double number(const char* at, cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
      return *reinterpret_cast<const double*>(at);
    case CUDNN_DATA_FLOAT:
      return *reinterpret_cast<const float*>(at);
    case CUDNN_DATA_HALF:
      return *reinterpret_cast<const Float16*>(at);
    case CUDNN_DATA_INT32:
      return *reinterpret_cast<const int32_t*>(at);
    case CUDNN_DATA_BOOLEAN:
      return *at;
    default:
      return *reinterpret_cast<const BFloat16*>(at);
  }
}

void put(char* at, cudnnDataType_t type, double value) {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
      *reinterpret_cast<double*>(at) = value;
      break;
    case CUDNN_DATA_FLOAT:
      *reinterpret_cast<float*>(at) = static_cast<float>(value);
      break;
    case CUDNN_DATA_INT32:
      *reinterpret_cast<int32_t*>(at) = static_cast<int32_t>(value);
      break;
    case CUDNN_DATA_BOOLEAN:
      *at = value != 0;
      break;
    case CUDNN_DATA_HALF:
      *reinterpret_cast<Float16*>(at) = Float16(static_cast<float>(value));
      break;
    default:
      *reinterpret_cast<BFloat16*>(at) = BFloat16(static_cast<float>(value));
  }
}

size_t broadcast(const Tensor& operand, const Tensor& to, size_t i) {
  size_t at = 0, step = 1;
  for (size_t d = to.sizes.size(); d-- > 0;) {
    const auto size = static_cast<size_t>(to.sizes[d]);
    const auto own = static_cast<size_t>(operand.sizes[d]);
    if (own > 1) at += i % size * step;
    i /= size;
    step *= own;
  }
  return at;
}

namespace {

double compute(cudnnPointwiseMode_t mode, double x, double b, double t) {
  switch (mode) {
    case CUDNN_POINTWISE_ADD:
      return x + b;
    case CUDNN_POINTWISE_SUB:
      return x - b;
    case CUDNN_POINTWISE_MUL:
      return x * b;
    case CUDNN_POINTWISE_DIV:
      return x / b;
    case CUDNN_POINTWISE_EXP:
      return std::exp(x);
    case CUDNN_POINTWISE_LOG:
      return std::log(x);
    case CUDNN_POINTWISE_CMP_GE:
      return x >= b;
    default:  // BINARY_SELECT: check_pointwise lets no other through
      return t != 0 ? x : b;
  }
}

}  // namespace

void run_pointwise(Run& run, const Descriptor& operation) {
  const Descriptor& of = operation.child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const auto mode = of.number<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  const Descriptor& y = operation.child(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  const Tensor to(y);
  std::vector<double> result(static_cast<size_t>(to.numel()));
  if (mode == CUDNN_POINTWISE_GEN_INDEX) {
    const auto axis = static_cast<size_t>(of.number<int64_t>(CUDNN_ATTR_POINTWISE_AXIS));
    size_t step = 1;
    for (size_t d = axis + 1; d < to.sizes.size(); ++d) step *= static_cast<size_t>(to.sizes[d]);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = static_cast<double>(i / step % static_cast<size_t>(to.sizes[axis]));
    return run.set(y, result);
  }
  // x, b and t: those that are there.
  std::vector<double> values[3];
  std::vector<Tensor> tensors;
  for (const auto name :
       {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
        CUDNN_ATTR_OPERATION_POINTWISE_TDESC}) {
    if (!operation.has(name)) break;
    values[tensors.size()] = run.get(operation.child(name));
    tensors.emplace_back(operation.child(name));
  }
  const auto element = [&](size_t k, size_t i) {
    return k < tensors.size() ? values[k][broadcast(tensors[k], to, i)] : 0;
  };
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = compute(mode, element(0, i), element(1, i), element(2, i));
  run.set(y, result);
}

// [batch, heads, rows, depth] times [batch, heads of b, depth, columns]: neighbouring heads of a share
// one of b.
void run_product(Run& run, const Descriptor& operation) {
  const Descriptor& c = operation.child(CUDNN_ATTR_OPERATION_MATMUL_CDESC);
  const Tensor a(operation.child(CUDNN_ATTR_OPERATION_MATMUL_ADESC));
  const Tensor b(operation.child(CUDNN_ATTR_OPERATION_MATMUL_BDESC)), to(c);
  const std::vector<double> left = run.get(operation.child(CUDNN_ATTR_OPERATION_MATMUL_ADESC));
  const std::vector<double> right = run.get(operation.child(CUDNN_ATTR_OPERATION_MATMUL_BDESC));
  std::vector<double> result(static_cast<size_t>(to.numel()), 0.0);
  const auto rows = static_cast<size_t>(a.sizes[2]), depth = static_cast<size_t>(a.sizes[3]);
  const auto columns = static_cast<size_t>(b.sizes[3]);
  const int64_t shared = a.sizes[1] / b.sizes[1];
  for (int64_t head = 0; head < a.sizes[0] * a.sizes[1]; ++head) {
    const double* l = &left[static_cast<size_t>(head) * rows * depth];
    const double* r = &right[static_cast<size_t>(head / shared) * depth * columns];
    double* sums = &result[static_cast<size_t>(head) * rows * columns];
    for (size_t i = 0; i < rows; ++i)
      for (size_t k = 0; k < depth; ++k)
        for (size_t j = 0; j < columns; ++j)
          sums[i * columns + j] += l[i * depth + k] * r[k * columns + j];
  }
  run.set(c, result);
}

// Where y is smaller: all of a row, or neighbouring heads.
void run_reduction(Run& run, const Descriptor& operation) {
  const Descriptor& of_x = operation.child(CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
  const Descriptor& of_y = operation.child(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
  const bool is_max =
      operation.child(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
          .number<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR) == CUDNN_REDUCE_TENSOR_MAX;
  const Tensor x(of_x), y(of_y);
  const std::vector<double> values = run.get(of_x);
  std::vector<double> result(static_cast<size_t>(y.numel()), is_max ? -HUGE_VAL : 0.0);
  for (size_t i = 0; i < values.size(); ++i) {
    size_t rest = i, at = 0, step = 1;
    for (size_t d = x.sizes.size(); d-- > 0;) {
      const auto size = static_cast<size_t>(x.sizes[d]), own = static_cast<size_t>(y.sizes[d]);
      at += rest % size / (size / own) * step;
      rest /= size;
      step *= own;
    }
    result[at] = is_max ? std::max(result[at], values[i]) : result[at] + values[i];
  }
  run.set(of_y, result);
}

// The same memory by other sizes and strides.
void run_reshape(Run& run, const Descriptor& operation) {
  const Descriptor& of_x = operation.child(CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
  const Descriptor& of_y = operation.child(CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
  const Tensor x(of_x), y(of_y);
  const std::vector<double> values = run.get(of_x);
  std::map<int64_t, double> memory;
  const auto bytes = [](const Tensor& t) { return static_cast<int64_t>(bytes_of(t.type)); };
  for_each(x, [&](size_t i, int64_t place) { memory[place / bytes(x)] = values[i]; });
  std::vector<double> result(static_cast<size_t>(y.numel()));
  for_each(y, [&](size_t i, int64_t place) { result[i] = memory.at(place / bytes(y)); });
  run.set(of_y, result);
}

}  // namespace fake
