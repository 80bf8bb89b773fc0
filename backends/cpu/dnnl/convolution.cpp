// oneDNN's convolutions. Each runs in the layouts that oneDNN chooses, with reorders in front and
// behind: in row-major tensors it is up to a half slower than in its own, and the reorders are a
// twentieth.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "dnnl/shared.h"

namespace tenon::cpu_backend {
namespace {

using dnnl::memory;
using Problem = tenon_cpu_dnnl_convolution;

constexpr size_t kConvolutions = 512;  // of a deep network, forward and backward
constexpr int kY = TENON_CPU_CONV_Y, kX = TENON_CPU_CONV_X, kWeight = TENON_CPU_CONV_WEIGHT;

using Key = std::array<int64_t, sizeof(Problem) / sizeof(int64_t)>;
static_assert(sizeof(Key) == sizeof(Problem));

// A tensor as the caller has it and as oneDNN wants it, at `offset` of the scratch memory.
struct Part {
  memory::desc given, wanted;
  size_t offset = 0;
  dnnl::reorder reorder;
  bool reorders() const { return given != wanted; }
};

using Arguments = std::unordered_map<int, memory>;

// What a kernel is run with: oneDNN's objects for memory, whose addresses are set for each call.
// Making them took half of the time of the smallest convolutions. Used by one call at a time.
struct Bound {
  dnnl::stream stream{engine()};
  memory given[3], wanted[3], bias, scratchpad;
  Arguments arguments, reorders[3];
};

struct Kernel {
  Part parts[3];  // y, x, weight
  memory::desc bias, scratchpad;
  dnnl::primitive convolution;
  size_t scratchpad_offset = 0, bytes = 0;
  int result = 0;
  bool has_bias = false;
  mutable std::atomic<Bound*> idle{nullptr};

  Kernel() = default;
  Kernel(const Kernel&) = delete;
  ~Kernel() { delete idle.load(); }
};

// The Bound that no other call uses now, or a new one; it goes back to the kernel.
class Borrowed {
 public:
  explicit Borrowed(const Kernel& kernel);
  Borrowed(const Borrowed&) = delete;
  ~Borrowed() { delete kernel_.idle.exchange(bound_.release()); }
  Bound* operator->() const { return bound_.get(); }

 private:
  const Kernel& kernel_;
  std::unique_ptr<Bound> bound_;
};

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

Maker maker_for(const Problem& p, const Part* parts) {
  Maker m;
  m.y = any_layout(parts[kY].given);
  m.x = any_layout(parts[kX].given);
  m.weight = any_layout(parts[kWeight].given);
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

// Makes oneDNN's computation of the result that is wanted, and asks which layouts it wants.
void choose_layouts(const Maker& m, int result, Kernel* kernel) {
  Part* parts = kernel->parts;
  if (result == kY) {
    const auto d = m.forward();
    parts[kY].wanted = d.dst_desc();
    parts[kX].wanted = d.src_desc();
    parts[kWeight].wanted = d.weights_desc();
    kernel->scratchpad = d.scratchpad_desc();
    kernel->convolution = dnnl::convolution_forward(d);
  } else if (result == kX) {
    const auto d = m.data();
    parts[kY].wanted = d.diff_dst_desc();
    parts[kX].wanted = d.diff_src_desc();
    parts[kWeight].wanted = d.weights_desc();
    kernel->scratchpad = d.scratchpad_desc();
    kernel->convolution = dnnl::convolution_backward_data(d);
  } else {
    const auto d = m.weights();
    parts[kY].wanted = d.diff_dst_desc();
    parts[kX].wanted = d.src_desc();
    parts[kWeight].wanted = d.diff_weights_desc();
    kernel->scratchpad = d.scratchpad_desc();
    kernel->convolution = dnnl::convolution_backward_weights(d);
  }
}

// Lays out the workspace: what is reordered, and behind it oneDNN's scratchpad.
void lay_out_workspace(int result, Kernel* kernel) {
  const auto reserve = [&](size_t bytes) {
    const size_t offset = kernel->bytes;
    kernel->bytes += (bytes + 63) / 64 * 64;
    return offset;
  };
  for (int i = 0; i < 3; ++i) {
    Part& part = kernel->parts[i];
    if (part.reorders()) {
      part.offset = reserve(part.wanted.get_size());
      const bool is_result = i == result;
      part.reorder = dnnl::reorder(
          dnnl::reorder::primitive_desc(engine(), is_result ? part.wanted : part.given, engine(),
                                        is_result ? part.given : part.wanted));
    }
  }
  kernel->scratchpad_offset = reserve(std::max<size_t>(kernel->scratchpad.get_size(), 1));
}

std::shared_ptr<const Kernel> make(const Problem& p) {
  auto kernel = std::make_shared<Kernel>();
  Part* parts = kernel->parts;
  parts[kY].given = plain({p.batch, p.out}, p.y_sizes, p.strides[kY], p.n, 1);
  parts[kX].given = plain({p.batch, p.in}, p.x_sizes, p.strides[kX], p.n, 1);
  parts[kWeight].given =
      plain({p.out, p.in / p.groups}, p.kernel, p.strides[kWeight], p.n, p.groups);
  const Maker m = maker_for(p, parts);
  kernel->bias = m.bias;
  kernel->result = static_cast<int>(p.result);
  kernel->has_bias = m.has_bias && p.result != kX;
  choose_layouts(m, kernel->result, kernel.get());
  lay_out_workspace(kernel->result, kernel.get());
  return kernel;
}

std::shared_ptr<const Kernel> find(const Problem& p) {
  static auto* kernels = new KernelCache<Key, Kernel>(kConvolutions);
  Key key;
  std::memcpy(&key, &p, sizeof key);
  return kernels->find(key, [&p] { return make(p); });
}

// By TENON_CPU_CONV_*: what y, x, weight and bias are to the computation that makes it.
constexpr int kRoles[3][4] = {
    {DNNL_ARG_DST, DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS},
    {DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS},
    {DNNL_ARG_DIFF_DST, DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS}};

std::unique_ptr<Bound> bind(const Kernel& kernel) {
  auto bound = std::make_unique<Bound>();
  const int* roles = kRoles[kernel.result];
  for (int i = 0; i < 3; ++i) {
    const Part& part = kernel.parts[i];
    bound->given[i] = memory(part.given, engine(), nullptr);
    bound->wanted[i] = part.reorders() ? memory(part.wanted, engine(), nullptr) : bound->given[i];
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

// oneDNN writes zeros into the padding of a layout when an address is set, so only another is.
void set_address(const memory& m, void* address) {
  if (m.get_data_handle() != address) {
    m.set_data_handle(address);
  }
}

Borrowed::Borrowed(const Kernel& kernel) : kernel_(kernel), bound_(kernel.idle.exchange(nullptr)) {
  if (!bound_) {
    bound_ = bind(kernel);
  }
}

}  // namespace

int64_t convolution_workspace(const Problem* p) {
  try {
    return static_cast<int64_t>(find(*p)->bytes);
  } catch (...) {
    return -failure();
  }
}

int32_t convolution(const Problem* p, const tenon_cpu_dnnl_data* data, void* scratch) {
  try {
    const std::shared_ptr<const Kernel> kernel = find(*p);
    const Borrowed bound(*kernel);
    char* const base = static_cast<char*>(scratch);
    for (int i = 0; i < 3; ++i) {
      const Part& part = kernel->parts[i];
      set_address(bound->given[i], data->tensors[i]);
      if (!part.reorders()) {
        continue;
      }
      set_address(bound->wanted[i], base + part.offset);
      if (i != kernel->result) {
        part.reorder.dnnl::primitive::execute(bound->stream, bound->reorders[i]);
      }
    }
    if (kernel->has_bias) {
      set_address(bound->bias, data->bias);
    }
    set_address(bound->scratchpad, base + kernel->scratchpad_offset);
    kernel->convolution.execute(bound->stream, bound->arguments);
    const Part& result = kernel->parts[kernel->result];
    if (result.reorders()) {
      result.reorder.dnnl::primitive::execute(bound->stream, bound->reorders[kernel->result]);
    }
    bound->stream.wait();
    return 0;
  } catch (...) {
    return failure();
  }
}

}  // namespace tenon::cpu_backend
