// What cuDNN refuses of descriptors, the tests' own refuses too: the same mistakes are made with it,
// and with the real one where that is installed (TENON_TEST_CUDNN=real), which needs no GPU for this.
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convolution_graph.h"
#include "recurrent_descriptors.h"

namespace {

using cuda::Descriptors;
using Descriptor = cudnnBackendDescriptor_t;

constexpr cudnnBackendAttributeType_t kDescriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;

// Descriptors with one number after the other, so that a mistake is one change.
struct Parts {
  Descriptors made;
  int64_t id = 1, alignment = 16, n = 2;
  cudnnDataType_t type = CUDNN_DATA_FLOAT, compute = CUDNN_DATA_FLOAT;
  std::vector<int64_t> strides{1, 1}, padding{1, 1}, dilation{1, 1};
  float one = 1, zero = 0;

  Descriptor tensor(const std::vector<int64_t>& sizes, const std::vector<int64_t>& steps) {
    const int64_t own = id++;
    return made.make(
        CUDNN_BACKEND_TENSOR_DESCRIPTOR,
        {{CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &own},
         {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type},
         {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, int64_t(sizes.size()), sizes.data()},
         {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, int64_t(steps.size()), steps.data()},
         {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment}});
  }
  Descriptor tensor(const std::vector<int64_t>& sizes) {
    std::vector<int64_t> steps(sizes.size(), 1);
    for (size_t d = sizes.size() - 1; d-- > 0;) steps[d] = steps[d + 1] * sizes[d + 1];
    return tensor(sizes, steps);
  }
  Descriptor windows() {
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const auto list = [](cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
      return cuda::Attribute{name, CUDNN_TYPE_INT64, int64_t(values.size()), values.data()};
    };
    return made.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
                     {{CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &n},
                      {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute},
                      {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode},
                      list(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding),
                      list(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding),
                      list(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilation),
                      list(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, strides)});
  }
  Descriptor convolution(Descriptor x, Descriptor weight, Descriptor y) {
    const Descriptor of = windows();
    return made.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                     {{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, kDescriptor, 1, &of},
                      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, kDescriptor, 1, &x},
                      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, kDescriptor, 1, &weight},
                      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, kDescriptor, 1, &y},
                      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one},
                      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero}});
  }
  // A convolution that fits, but for `weight` and `y`.
  Descriptor convolution(const std::vector<int64_t>& weight, const std::vector<int64_t>& y) {
    const Descriptor of_x = tensor({2, 4, 8, 8}), of_weight = tensor(weight), of_y = tensor(y);
    return convolution(of_x, of_weight, of_y);
  }
  Descriptor pointwise(cudnnPointwiseMode_t mode, Descriptor x, Descriptor b, Descriptor y) {
    const Descriptor of =
        made.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
                  {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode},
                   {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute}});
    const cuda::Attribute what = {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kDescriptor, 1,
                                  &of};
    const cuda::Attribute from = {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, kDescriptor, 1, &x};
    const cuda::Attribute with = {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, kDescriptor, 1, &b};
    const cuda::Attribute to = {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, kDescriptor, 1, &y};
    constexpr auto kType = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
    return b ? made.make(kType, {what, from, with, to}) : made.make(kType, {what, from, to});
  }
  Descriptor product(const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                     const std::vector<int64_t>& c) {
    type = CUDNN_DATA_HALF;
    const Descriptor of =
        made.make(CUDNN_BACKEND_MATMUL_DESCRIPTOR,
                  {{CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute}});
    const Descriptor of_a = tensor(a), of_b = tensor(b), of_c = tensor(c);
    return made.make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
                     {{CUDNN_ATTR_OPERATION_MATMUL_DESC, kDescriptor, 1, &of},
                      {CUDNN_ATTR_OPERATION_MATMUL_ADESC, kDescriptor, 1, &of_a},
                      {CUDNN_ATTR_OPERATION_MATMUL_BDESC, kDescriptor, 1, &of_b},
                      {CUDNN_ATTR_OPERATION_MATMUL_CDESC, kDescriptor, 1, &of_c}});
  }
  Descriptor reduction(const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
    const cudnnReduceTensorOp_t kind = CUDNN_REDUCE_TENSOR_ADD;
    const Descriptor of =
        made.make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
                  {{CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &kind},
                   {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute}});
    const Descriptor of_x = tensor(x), of_y = tensor(y);
    return made.make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
                     {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, kDescriptor, 1, &of},
                      {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, kDescriptor, 1, &of_x},
                      {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, kDescriptor, 1, &of_y}});
  }
  bool set(Descriptor of, const cuda::Attribute& a) {
    return cuda::cudnn.cudnnBackendSetAttribute(of, a.name, a.type, a.count, a.values) ==
           CUDNN_STATUS_SUCCESS;
  }
};

// kLate: the real one refuses what is made of it, the other the mistake itself.
enum Answer { kNo, kYes, kLate };
// `make` gives whether it was taken.
struct Rule {
  const char* name;
  Answer answer;
  bool (*make)(Parts& p);
};

const std::vector<int64_t> kWeight{6, 4, 3, 3}, kY{2, 6, 8, 8};

const Rule kRules[] = {
    // clang-format off
    {"a tensor", kYes, [](Parts& p) { return p.tensor({2, 4, 8, 8}) != nullptr; }},
    {"fewer strides than sizes", kNo, [](Parts& p) { return p.tensor({2, 4, 8, 8}, {8, 8, 1}) != nullptr; }},
    {"a size of 0", kLate, [](Parts& p) { return p.tensor({2, 0, 8, 8}, {256, 64, 8, 1}) != nullptr; }},
    {"more dimensions than there may be", kNo, [](Parts& p) { return p.tensor({1, 1, 1, 1, 1, 1, 1, 1, 1}) != nullptr; }},
    {"an alignment that is no power of two", kLate, [](Parts& p) { return p.alignment = 24, p.tensor({2, 4, 8, 8}) != nullptr; }},
    {"a tensor without a number", kLate, [](Parts& p) {
       const int64_t sizes[] = {1, 1, 1, 1};
       return p.made.make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, {{CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &p.type}, {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes}, {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, sizes}, {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &p.alignment}}) != nullptr; }},
    {"sizes of another type", kNo, [](Parts& p) { return p.set(p.made.make_empty(CUDNN_BACKEND_TENSOR_DESCRIPTOR), {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_DOUBLE, 1, &p.id}); }},
    {"an attribute of another descriptor", kNo, [](Parts& p) { return p.set(p.made.make_empty(CUDNN_BACKEND_TENSOR_DESCRIPTOR), {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &p.n}); }},
    {"no values", kNo, [](Parts& p) { return p.set(p.made.make_empty(CUDNN_BACKEND_TENSOR_DESCRIPTOR), {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, nullptr}); }},
    {"an attribute of what is finalized", kNo, [](Parts& p) { return p.set(p.tensor({2, 4, 8, 8}), {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &p.id}); }},
    {"windows", kYes, [](Parts& p) { return p.windows() != nullptr; }},
    {"windows with a stride of 0", kNo, [](Parts& p) { return p.strides = {0, 1}, p.windows() != nullptr; }},
    {"windows with a dilation of 0", kNo, [](Parts& p) { return p.dilation = {1, 0}, p.windows() != nullptr; }},
    {"windows with a negative padding", kNo, [](Parts& p) { return p.padding = {-1, 0}, p.windows() != nullptr; }},
    {"windows with fewer strides than dimensions", kNo, [](Parts& p) { return p.strides = {1}, p.windows() != nullptr; }},
    {"a convolution", kYes, [](Parts& p) { return p.convolution(kWeight, kY) != nullptr; }},
    {"a convolution of groups", kYes, [](Parts& p) { return p.convolution({6, 2, 3, 3}, kY) != nullptr; }},
    {"an output that is too large", kNo, [](Parts& p) { return p.convolution(kWeight, {2, 6, 9, 8}) != nullptr; }},
    {"an output of other channels", kNo, [](Parts& p) { return p.convolution(kWeight, {2, 5, 8, 8}) != nullptr; }},
    {"an output of another batch", kNo, [](Parts& p) { return p.convolution(kWeight, {3, 6, 8, 8}) != nullptr; }},
    {"channels that are no multiple of the weight's", kNo, [](Parts& p) { return p.convolution({6, 3, 3, 3}, kY) != nullptr; }},
    {"a weight of other dimensions", kNo, [](Parts& p) { return p.convolution({6, 4, 3}, kY) != nullptr; }},
    {"a child that is not finalized", kLate, [](Parts& p) {
       const Descriptor x = p.made.make_empty(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
       return p.set(p.made.make_empty(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR), {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, kDescriptor, 1, &x}); }},
    {"an addition", kYes, [](Parts& p) { const Descriptor x = p.tensor(kY), b = p.tensor({1, 6, 1, 1}), y = p.tensor(kY); return p.pointwise(CUDNN_POINTWISE_ADD, x, b, y) != nullptr; }},
    {"an addition of one operand", kNo, [](Parts& p) { const Descriptor x = p.tensor(kY), y = p.tensor(kY); return p.pointwise(CUDNN_POINTWISE_ADD, x, nullptr, y) != nullptr; }},
    {"operands that do not broadcast", kLate, [](Parts& p) { const Descriptor x = p.tensor(kY), b = p.tensor({1, 5, 1, 1}), y = p.tensor(kY); return p.pointwise(CUDNN_POINTWISE_ADD, x, b, y) != nullptr; }},
    {"a product", kYes, [](Parts& p) { return p.product({2, 4, 64, 16}, {2, 4, 16, 32}, {2, 4, 64, 32}) != nullptr; }},
    {"a product of shared heads", kYes, [](Parts& p) { return p.product({2, 4, 64, 16}, {2, 2, 16, 32}, {2, 4, 64, 32}) != nullptr; }},
    {"a product of other inner sizes", kNo, [](Parts& p) { return p.product({2, 4, 64, 16}, {2, 4, 24, 32}, {2, 4, 64, 32}) != nullptr; }},
    {"a product of another size", kNo, [](Parts& p) { return p.product({2, 4, 64, 16}, {2, 4, 16, 32}, {2, 4, 64, 40}) != nullptr; }},
    {"a sum", kYes, [](Parts& p) { return p.reduction({2, 4, 64, 16}, {2, 4, 64, 1}) != nullptr; }},
    {"a sum over heads", kYes, [](Parts& p) { return p.reduction({2, 4, 64, 16}, {2, 2, 64, 16}) != nullptr; }},
    {"a sum of other sizes", kNo, [](Parts& p) { return p.reduction({2, 4, 64, 16}, {2, 3, 64, 16}) != nullptr; }},
    {"a sum of fewer dimensions", kNo, [](Parts& p) { return p.reduction({2, 4, 64, 16}, {2, 4, 64}) != nullptr; }},
    {"a graph without operations", kNo, [](Parts& p) { return p.made.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, {}) != nullptr; }},
    // clang-format on
};

// Of a recurrent layer: what is changed of one that fits, and whether it is taken then.
struct RecurrentRule {
  const char* name;
  bool is_taken;
  void (*change)(cuda::Recurrent& r);
};

const RecurrentRule kRecurrentRules[] = {
    // clang-format off
    {"an LSTM", true, [](cuda::Recurrent&) {}},
    {"a GRU", true, [](cuda::Recurrent& r) { r.mode = CUDNN_GRU; }},
    {"a net of ReLU without biases", true, [](cuda::Recurrent& r) { r.mode = CUDNN_RNN_RELU, r.has_biases = false; }},
    {"TF32", true, [](cuda::Recurrent& r) { r.is_exact = false; }},
    {"float64", true, [](cuda::Recurrent& r) { r.type = CUDNN_DATA_DOUBLE; }},
    {"float16", true, [](cuda::Recurrent& r) { r.type = CUDNN_DATA_HALF; }},
    {"bfloat16", true, [](cuda::Recurrent& r) { r.type = CUDNN_DATA_BFLOAT16; }},
    {"integers", false, [](cuda::Recurrent& r) { r.type = CUDNN_DATA_INT8; }},
    {"a projection", true, [](cuda::Recurrent& r) { r.width = 2; }},
    {"a projection to more", false, [](cuda::Recurrent& r) { r.width = 5; }},
    {"a projection of a GRU", false, [](cuda::Recurrent& r) { r.mode = CUDNN_GRU, r.width = 2; }},
    {"rows of no features", false, [](cuda::Recurrent& r) { r.features = 0; }},
    {"a state of no width", false, [](cuda::Recurrent& r) { r.hidden = r.width = 0; }},
    {"no steps", false, [](cuda::Recurrent& r) { r.steps = 0, r.lengths = {0, 0}; }},
    {"no sequences", false, [](cuda::Recurrent& r) { r.n = 0; }},
    {"a sequence of no steps", false, [](cuda::Recurrent& r) { r.lengths = {3, 0}; }},
    {"a sequence of more steps than there are", false, [](cuda::Recurrent& r) { r.lengths = {4, 3}; }},
    {"a negative length", false, [](cuda::Recurrent& r) { r.lengths = {3, -1}; }},
    {"lengths that grow", false, [](cuda::Recurrent& r) { r.lengths = {2, 3}; }},
    {"no sequence of all steps", false, [](cuda::Recurrent& r) { r.lengths = {2, 1}; }},
    // clang-format on
};

// NULL: cuDNN is not here. TENON_TEST_CUDNN=real: the real one is.
const char* open_cudnn() {
  static tn_host table = {};
  table.log = [](int32_t, const char*) {};
  cuda::host = &table;
  if (!cuda::why_no_recurrent().empty()) return nullptr;
  const char* which = std::getenv("TENON_TEST_CUDNN");
  return which ? which : "";
}

TEST(CudaCudnnRules, OfRecurrentDescriptors) {
  if (!open_cudnn()) GTEST_SKIP() << cuda::why_no_recurrent();
  for (const RecurrentRule& rule : kRecurrentRules) {
    SCOPED_TRACE(rule.name);
    cuda::Recurrent r = {
        .features = 3, .hidden = 4, .width = 4, .steps = 3, .n = 2, .lengths = {3, 2}};
    rule.change(r);
    const cuda::RecurrentDescriptors descriptors(r);
    EXPECT_EQ(descriptors.is_whole(), rule.is_taken) << descriptors.why();
  }
}

TEST(CudaCudnnRules, OfDescriptors) {
  const char* which = open_cudnn();
  if (!which) GTEST_SKIP() << cuda::why_no_cudnn();
  const bool is_real = std::string(which) == "real";
  for (const Rule& rule : kRules) {
    SCOPED_TRACE(rule.name);
    Parts parts;
    const bool is_taken = rule.make(parts);
    if (rule.answer == kLate && is_real) continue;
    EXPECT_EQ(is_taken, rule.answer == kYes) << parts.made.why();
  }
}

}  // namespace
