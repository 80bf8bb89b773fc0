#include "attention_graph.h"

#include <algorithm>
#include <array>

namespace cuda {
namespace {

using Tensor = cudnnBackendDescriptor_t;
using Four = std::array<int64_t, Attention::kDims>;

// Bytes. A gradient keeps those of all weights, in halves: this many are 32 heads of 8,192 queries.
constexpr int64_t kMostWorkspace = int64_t{4} << 30;
constexpr cudnnBackendAttributeType_t kDescriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;
constexpr cudnnDataType_t kFloat = CUDNN_DATA_FLOAT;

Four row_major(const Four& sizes) {
  Four strides;
  int64_t step = 1;
  for (size_t d = 4; d-- > 0;) {
    strides[d] = step;
    step *= sizes[d];
  }
  return strides;
}

Four transposed(const Four& four) { return {four[0], four[1], four[3], four[2]}; }

Four four(const int64_t* values) { return {values[0], values[1], values[2], values[3]}; }

// A graph that grows, operation by operation. Each gives its result.
class Builder {
 public:
  Builder(Descriptors& parts, const Attention& attention)
      : parts_(parts),
        half_(attention.dtype == TN_FLOAT16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16) {}

  Tensor tensor(int64_t id, const Four& sizes, const Four& strides) {
    return make_tensor(parts_, {id, half_, 4, sizes.data(), strides.data()});
  }
  Tensor floats(int64_t id, const Four& sizes) {
    return make_tensor(parts_, {id, kFloat, 4, sizes.data(), row_major(sizes).data()});
  }
  Tensor number(int64_t id) {
    const Four one = {1, 1, 1, 1};
    return make_tensor(parts_, {id, kFloat, 4, one.data(), one.data(), false, true});
  }
  Tensor between(const Four& sizes, cudnnDataType_t type, const Four& strides) {
    return make_tensor(parts_, {next_++, type, 4, sizes.data(), strides.data(), true});
  }
  Tensor between(const Four& sizes, cudnnDataType_t type = kFloat) {
    return between(sizes, type, row_major(sizes));
  }
  cudnnDataType_t half() const { return half_; }

  // y = x, or x and b, or x where t and else b.
  Tensor pointwise(cudnnPointwiseMode_t mode, Tensor y, Tensor x, Tensor b = nullptr,
                   Tensor t = nullptr) {
    return pointwise_of(
        parts_.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
                    {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode},
                     {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &kFloat}}),
        y, x, b, t);
  }
  // The place along a dimension of each element of x.
  Tensor place(Tensor y, Tensor x, int64_t dim) {
    const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_GEN_INDEX;
    return pointwise_of(
        parts_.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
                    {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode},
                     {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &kFloat},
                     {CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &dim}}),
        y, x, nullptr, nullptr);
  }
  Tensor product(Tensor y, Tensor a, Tensor b) {
    const Tensor of =
        parts_.make(CUDNN_BACKEND_MATMUL_DESCRIPTOR,
                    {{CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &kFloat}});
    return add(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
               {{CUDNN_ATTR_OPERATION_MATMUL_DESC, kDescriptor, 1, &of},
                {CUDNN_ATTR_OPERATION_MATMUL_ADESC, kDescriptor, 1, &a},
                {CUDNN_ATTR_OPERATION_MATMUL_BDESC, kDescriptor, 1, &b},
                {CUDNN_ATTR_OPERATION_MATMUL_CDESC, kDescriptor, 1, &y}},
               y);
  }
  // Along the dimensions in which y has size 1, or fewer heads.
  Tensor reduce(cudnnReduceTensorOp_t kind, Tensor y, Tensor x) {
    const Tensor of =
        parts_.make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
                    {{CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &kind},
                     {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &kFloat}});
    return add(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
               {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, kDescriptor, 1, &of},
                {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, kDescriptor, 1, &x},
                {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, kDescriptor, 1, &y}},
               y);
  }
  // The elements of x by other strides.
  Tensor reshape(Tensor y, Tensor x) {
    return add(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
               {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, kDescriptor, 1, &x},
                {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, kDescriptor, 1, &y}},
               y);
  }

  Tensor graph(const Target& target) {
    return parts_.is_whole() ? make_graph(parts_, target, operations_) : nullptr;
  }

 private:
  Tensor add(cudnnBackendDescriptorType_t type, std::initializer_list<Attribute> attributes,
             Tensor y) {
    operations_.push_back(parts_.make(type, attributes));
    return y;
  }
  Tensor pointwise_of(Tensor of, Tensor y, Tensor x, Tensor b, Tensor t) {
    const Attribute what = {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kDescriptor, 1, &of};
    const Attribute to = {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, kDescriptor, 1, &y};
    const Attribute first = {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, kDescriptor, 1, &x};
    const Attribute second = {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, kDescriptor, 1, &b};
    const Attribute third = {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, kDescriptor, 1, &t};
    constexpr cudnnBackendDescriptorType_t kType = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
    if (t) return add(kType, {what, to, first, second, third}, y);
    return b ? add(kType, {what, to, first, second}, y) : add(kType, {what, to, first}, y);
  }

  Descriptors& parts_;
  const cudnnDataType_t half_;
  int64_t next_ = Attention::kBetween;
  std::vector<cudnnBackendDescriptor_t> operations_;
};

// What both graphs begin with.
struct Parts {
  const Attention& a;
  const Four scores, rows;  // [.., n, m] and [.., n, 1]
  Tensor query, key_columns, scale;

  Parts(Builder& build, const Attention& attention)
      : a(attention),
        scores{a.batch, a.heads, a.n, a.m},
        rows{a.batch, a.heads, a.n, 1},
        query(build.tensor(Attention::kQuery, {a.batch, a.heads, a.n, a.e}, four(a.query))),
        key_columns(build.tensor(Attention::kKey, {a.batch, a.key_heads, a.e, a.m},
                                 transposed(four(a.key)))),
        scale(build.number(Attention::kScale)) {}
  Four keys() const { return {a.batch, a.key_heads, a.m, a.e}; }
  Four values() const { return {a.batch, a.key_heads, a.m, a.v}; }
  Four outputs() const { return {a.batch, a.heads, a.n, a.v}; }
};

// query key^T scale.
Tensor score(Builder& build, const Parts& p) {
  const Tensor products = build.product(build.between(p.scores), p.query, p.key_columns);
  return build.pointwise(CUDNN_POINTWISE_MUL, build.between(p.scores), products, p.scale);
}

// A query looks at no key behind it.
Tensor mask(Builder& build, const Parts& p, Tensor x) {
  if (!p.a.is_causal) return x;
  const Tensor row = build.place(build.between(p.scores, CUDNN_DATA_INT32), x, 2);
  const Tensor column = build.place(build.between(p.scores, CUDNN_DATA_INT32), x, 3);
  const Tensor is_seen = build.pointwise(CUDNN_POINTWISE_CMP_GE,
                                         build.between(p.scores, CUDNN_DATA_BOOLEAN), row, column);
  return build.pointwise(CUDNN_POINTWISE_BINARY_SELECT, build.between(p.scores), x,
                         build.number(Attention::kNever), is_seen);
}

void build_forward(Builder& build, const Parts& p) {
  const Tensor x = mask(build, p, score(build, p));
  const Tensor top = build.reduce(CUDNN_REDUCE_TENSOR_MAX, build.between(p.rows), x);
  const Tensor below = build.pointwise(CUDNN_POINTWISE_SUB, build.between(p.scores), x, top);
  const Tensor powers = build.pointwise(CUDNN_POINTWISE_EXP, build.between(p.scores), below);
  const Tensor sum = build.reduce(CUDNN_REDUCE_TENSOR_ADD, build.between(p.rows), powers);
  const Tensor log = build.pointwise(CUDNN_POINTWISE_LOG, build.between(p.rows), sum);
  build.pointwise(CUDNN_POINTWISE_ADD, build.floats(Attention::kStats, p.rows), top, log);
  const Tensor weights =
      build.pointwise(CUDNN_POINTWISE_DIV, build.between(p.scores, build.half()), powers, sum);
  build.product(build.tensor(Attention::kY, p.outputs(), four(p.a.y)), weights,
                build.tensor(Attention::kValue, p.values(), four(p.a.value)));
}

// The sum over what queries of one key's heads give; the product itself where each has its own.
void sum_heads(Builder& build, const Parts& p, Tensor left, Tensor right, int64_t id,
               const Four& sizes, const Four& strides) {
  const Tensor result = build.tensor(id, sizes, strides);
  if (p.a.heads == p.a.key_heads) {
    build.product(result, left, right);
    return;
  }
  Four of_all = sizes;
  of_all[1] = p.a.heads;
  build.reduce(CUDNN_REDUCE_TENSOR_ADD, result,
               build.product(build.between(of_all, build.half()), left, right));
}

// The product that gives the gradient of query writes it at once: in that form cuDNN keeps the
// gradients of all weights in its workspace, and adds in one order.
void build_backward(Builder& build, const Parts& p) {
  const Attention& a = p.a;
  const Four turned = transposed(p.scores), turned_strides = transposed(row_major(p.scores));
  const Tensor y = build.tensor(Attention::kY, p.outputs(), four(a.y));
  const Tensor g = build.tensor(Attention::kGradient, p.outputs(), four(a.y));
  const Tensor each = build.pointwise(CUDNN_POINTWISE_MUL, build.between(p.outputs()), g, y);
  const Tensor sum = build.reduce(CUDNN_REDUCE_TENSOR_ADD, build.between(p.rows), each);
  const Tensor slope = build.pointwise(CUDNN_POINTWISE_MUL, build.between(p.rows), sum,
                                       build.number(Attention::kOne));

  const Tensor below = build.pointwise(CUDNN_POINTWISE_SUB, build.between(p.scores),
                                       score(build, p), build.floats(Attention::kStats, p.rows));
  const Tensor weights =
      build.pointwise(CUDNN_POINTWISE_EXP, build.between(p.scores), mask(build, p, below));
  sum_heads(build, p, build.reshape(build.between(turned, build.half(), turned_strides), weights),
            g, Attention::kValueGradient, p.values(), four(a.value_gradient));

  const Tensor value_columns =
      build.tensor(Attention::kValue, transposed(p.values()), transposed(four(a.value)));
  const Tensor products = build.product(build.between(p.scores), g, value_columns);
  const Tensor off = build.pointwise(CUDNN_POINTWISE_SUB, build.between(p.scores), products, slope);
  const Tensor steep = build.pointwise(CUDNN_POINTWISE_MUL, build.between(p.scores), off, weights);
  const Tensor gradients =
      build.pointwise(CUDNN_POINTWISE_MUL, build.between(p.scores, build.half()), steep, p.scale);
  sum_heads(build, p, build.reshape(build.between(turned, build.half(), turned_strides), gradients),
            p.query, Attention::kKeyGradient, p.keys(), four(a.key_gradient));
  const Tensor key =
      build.reshape(build.between(p.keys(), build.half(), four(a.key)), p.key_columns);
  build.product(
      build.tensor(Attention::kQueryGradient, {a.batch, a.heads, a.n, a.e}, four(a.query_gradient)),
      gradients, key);
}

}  // namespace

std::unique_ptr<Plan> plan_attention(const Attention& attention, const Target& target,
                                     Search* search) {
  auto parts = std::make_unique<Descriptors>();
  Builder build(*parts, attention);
  const Parts begin(build, attention);
  attention.is_backward ? build_backward(build, begin) : build_forward(build, begin);
  const cudnnBackendDescriptor_t graph = build.graph(target);
  return Plan::choose(std::move(parts), graph, target, /*exact=*/false, kMostWorkspace, search);
}

}  // namespace cuda
