#include "dnnl/convolution_kernel.h"

#include <algorithm>

namespace tenon::cpu_backend {
namespace {

using dnnl::memory;
using Problem = tenon_cpu_dnnl_convolution;

memory::dims dims_of(const int64_t* values, int64_t n) { return memory::dims(values, values + n); }

memory::desc plain(memory::dims sizes, const int64_t* values, const int64_t* strides, int64_t n,
                   int64_t groups) {
  sizes.insert(sizes.end(), values, values + n);
  memory::dims steps = dims_of(strides, n + 2);
  if (groups > 1) {  // weight: [groups, out / groups, ..]
    sizes[0] /= groups;
    sizes.insert(sizes.begin(), groups);
    steps.insert(steps.begin(), steps[0] * sizes[1]);
  }
  return memory::desc(sizes, memory::data_type::f32, steps);
}

memory::desc any_layout(const memory::desc& d) {
#if DNNL_VERSION_MAJOR >= 3
  return memory::desc(d.get_dims(), d.get_data_type(), memory::format_tag::any);
#else
  return memory::desc(d.dims(), d.data_type(), memory::format_tag::any);
#endif
}

// The options of a convolution, and its three computations in each version's spelling.
struct Maker {
  memory::desc y, x, weight, bias;  // bias: none where it is empty
  bool has_bias;
  memory::dims stride, dilation, padding;
  dnnl::primitive_attr attributes;

  using Forward = dnnl::convolution_forward;
  using Data = dnnl::convolution_backward_data;
  using Weights = dnnl::convolution_backward_weights;
  static constexpr auto kDirect = dnnl::algorithm::convolution_direct;

#if DNNL_VERSION_MAJOR >= 3
  Forward::primitive_desc forward() const {
    const auto kind = dnnl::prop_kind::forward_training;
    return Forward::primitive_desc(engine(), kind, kDirect, x, weight, bias, y, stride, dilation,
                                   padding, padding, attributes);
  }
  Data::primitive_desc data() const {
    return Data::primitive_desc(engine(), kDirect, x, weight, y, stride, dilation, padding, padding,
                                forward(), attributes);
  }
  Weights::primitive_desc weights() const {
    return Weights::primitive_desc(engine(), kDirect, x, weight, bias, y, stride, dilation, padding,
                                   padding, forward(), attributes);
  }
#else
  Forward::primitive_desc forward() const {
    const auto kind = dnnl::prop_kind::forward_training;
    const Forward::desc d =
        has_bias
            ? Forward::desc(kind, kDirect, x, weight, bias, y, stride, dilation, padding, padding)
            : Forward::desc(kind, kDirect, x, weight, y, stride, dilation, padding, padding);
    return Forward::primitive_desc(d, attributes, engine());
  }
  Data::primitive_desc data() const {
    const Data::desc d(kDirect, x, weight, y, stride, dilation, padding, padding);
    return Data::primitive_desc(d, attributes, engine(), forward());
  }
  Weights::primitive_desc weights() const {
    const Weights::desc d =
        has_bias ? Weights::desc(kDirect, x, weight, bias, y, stride, dilation, padding, padding)
                 : Weights::desc(kDirect, x, weight, y, stride, dilation, padding, padding);
    return Weights::primitive_desc(d, attributes, engine(), forward());
  }
#endif
};

Maker maker_for(const Problem& p, const ConvPart* parts, const memory::desc* weight) {
  Maker m;
  m.y = any_layout(parts[kY].given);
  m.x = any_layout(parts[kX].given);
  m.weight = weight ? *weight : any_layout(parts[kWeight].given);
  m.has_bias = p.has_bias != 0;
  if (m.has_bias) {
    m.bias = memory::desc({p.out}, memory::data_type::f32, memory::format_tag::x);
  }
  m.stride = dims_of(p.stride, p.n);
  m.dilation = dims_of(p.dilation, p.n);
  for (memory::dim& d : m.dilation) {
    --d;  // oneDNN counts what is left out
  }
  m.padding = dims_of(p.padding, p.n);
  m.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return m;
}

// By TENON_CPU_CONV_*: what y, x, weight and bias are to the computation that makes it.
constexpr int kRoles[3][4] = {
    {DNNL_ARG_DST, DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS},
    {DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS},
    {DNNL_ARG_DIFF_DST, DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS}};

// Makes oneDNN's computation, and asks which layouts it wants.
template <typename Computation>
void choose_layouts(const typename Computation::primitive_desc& d, ConvKernel* kernel) {
  for (int i = 0; i < 3; ++i) {
    kernel->parts[i].wanted = d.query_md(dnnl::query::exec_arg_md, kRoles[kernel->result][i]);
  }
  kernel->scratchpad = d.scratchpad_desc();
  kernel->convolution = Computation(d);
}

std::unique_ptr<ConvBound> bind(const ConvKernel& kernel) {
  auto bound = std::make_unique<ConvBound>();
  const int* roles = kRoles[kernel.result];
  for (int i = 0; i < 3; ++i) {
    const ConvPart& part = kernel.parts[i];
    bound->given[i] = memory(part.given, engine(), nullptr);
    bound->wanted[i] = part.reorders ? memory(part.wanted, engine(), nullptr) : bound->given[i];
    bound->arguments.emplace(roles[i], bound->wanted[i]);
    const bool is_result = i == kernel.result;
    bound->reorders[i] = {{DNNL_ARG_FROM, is_result ? bound->wanted[i] : bound->given[i]},
                          {DNNL_ARG_TO, is_result ? bound->given[i] : bound->wanted[i]}};
  }
  if (kernel.has_bias) {
    bound->bias = memory(kernel.bias, engine(), nullptr);
    bound->arguments.emplace(roles[3], bound->bias);
  }
  bound->scratchpad = memory(kernel.scratchpad, engine(), nullptr);
  bound->arguments.emplace(DNNL_ARG_SCRATCHPAD, bound->scratchpad);
  return bound;
}

}  // namespace

std::unique_ptr<ConvBound> ConvKernel::borrow() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<ConvBound> bound = std::move(idle_.back());
      idle_.pop_back();
      return bound;
    }
  }
  return bind(*this);
}

void ConvKernel::give_back(std::unique_ptr<ConvBound> bound) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(bound));
}

void make_kernel(const Problem& p, bool copies, const memory::desc* weight, ConvKernel* kernel) {
  ConvPart* parts = kernel->parts;
  parts[kY].given = plain({p.batch, p.out}, p.y_sizes, p.strides[kY], p.n, 1);
  parts[kX].given = plain({p.batch, p.in}, p.x_sizes, p.strides[kX], p.n, 1);
  parts[kWeight].given =
      plain({p.out, p.in / p.groups}, p.kernel, p.strides[kWeight], p.n, p.groups);
  const Maker m = maker_for(p, parts, weight);
  kernel->bias = m.bias;
  kernel->result = static_cast<int>(p.result);
  kernel->has_bias = m.has_bias && p.result != kX;
  if (kernel->result == kY) {
    choose_layouts<Maker::Forward>(m.forward(), kernel);
  } else if (kernel->result == kX) {
    choose_layouts<Maker::Data>(m.data(), kernel);
  } else {
    choose_layouts<Maker::Weights>(m.weights(), kernel);
  }
  for (int i = 0; i < 3; ++i) {
    ConvPart& part = parts[i];
    const bool is_result = i == kernel->result;
    part.reorders = part.given != part.wanted || (is_result && copies);
    if (part.reorders) {
      part.reorder = dnnl::reorder(
          dnnl::reorder::primitive_desc(engine(), is_result ? part.wanted : part.given, engine(),
                                        is_result ? part.given : part.wanted));
    }
  }
}

}  // namespace tenon::cpu_backend
