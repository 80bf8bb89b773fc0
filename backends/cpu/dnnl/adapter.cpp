// oneDNN's matrix products: made once for each problem, the last kProducts of them kept.
// Weights are reordered into the layout that oneDNN asks for, which pays even for one use.
#include "dnnl/adapter.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "dnnl/shared.h"

namespace tenon::cpu_backend {
namespace {

constexpr size_t kProducts = 64;
constexpr int64_t kWeightsWorthReordering = 1 << 14;

using Key = std::array<int64_t, 15>;

Key key_of(const tenon_cpu_dnnl_matmul& p) {
  Key key = {p.batch, p.m, p.n, p.k, p.relu, p.bias != nullptr};
  std::copy_n(p.a_strides, 3, &key[6]);
  std::copy_n(p.b_strides, 3, &key[9]);
  std::copy_n(p.c_strides, 3, &key[12]);
  return key;
}

struct Kernel {
  dnnl::memory::desc a, b, bias, c;  // as given
  dnnl::memory::desc packed;         // of b, as oneDNN wants it
  dnnl::memory::desc scratchpad;
  dnnl::matmul product;
  dnnl::reorder reorder;
  bool reorders = false;
};

dnnl::memory::desc plain(const int64_t* strides, int64_t batch, int64_t rows, int64_t columns) {
  using dnnl::memory;
  if (batch == 1) {
    return memory::desc({rows, columns}, memory::data_type::f32, {strides[1], strides[2]});
  }
  return memory::desc({batch, rows, columns}, memory::data_type::f32,
                      {strides[0], strides[1], strides[2]});
}

std::shared_ptr<const Kernel> make(const tenon_cpu_dnnl_matmul& p) {
  using dnnl::memory;
  auto kernel = std::make_shared<Kernel>();
  kernel->a = plain(p.a_strides, p.batch, p.m, p.k);
  kernel->b = plain(p.b_strides, p.batch, p.k, p.n);
  kernel->c = plain(p.c_strides, p.batch, p.m, p.n);
  memory::dims bias_sizes = p.batch == 1 ? memory::dims{1, p.n} : memory::dims{1, 1, p.n};
  if (p.bias) {
    kernel->bias = memory::desc(bias_sizes, memory::data_type::f32,
                                p.batch == 1 ? memory::format_tag::ab : memory::format_tag::abc);
  }
  memory::desc wanted = kernel->b;
  if (p.batch == 1 && p.k * p.n >= kWeightsWorthReordering) {
    wanted = memory::desc({p.k, p.n}, memory::data_type::f32, memory::format_tag::any);
  }
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
  if (p.relu) {
    after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.f, 0.f);
    attributes.set_post_ops(after);
  }
  const dnnl::matmul::primitive_desc description(engine(), kernel->a, wanted, kernel->bias,
                                                 kernel->c, attributes);
#else
  if (p.relu) {
    after.append_eltwise(1.f, dnnl::algorithm::eltwise_relu, 0.f, 0.f);
    attributes.set_post_ops(after);
  }
  const dnnl::matmul::desc operation =
      p.bias ? dnnl::matmul::desc(kernel->a, wanted, kernel->bias, kernel->c)
             : dnnl::matmul::desc(kernel->a, wanted, kernel->c);
  const dnnl::matmul::primitive_desc description(operation, attributes, engine());
#endif
  kernel->packed = description.weights_desc();
  kernel->scratchpad = description.scratchpad_desc();
  kernel->product = dnnl::matmul(description);
  kernel->reorders = kernel->packed != kernel->b;
  if (kernel->reorders) {
    kernel->reorder =
        dnnl::reorder(dnnl::reorder::primitive_desc(engine(), kernel->b, engine(), kernel->packed));
  }
  return kernel;
}

std::shared_ptr<const Kernel> find(const tenon_cpu_dnnl_matmul& p) {
  static auto* kernels = new KernelCache<Key, Kernel>(kProducts);
  return kernels->find(key_of(p), [&p] { return make(p); });
}

// Memory of this thread that grows as wanted, for reordered weights and oneDNN's own use.
struct Buffer {
  void* memory = nullptr;
  size_t bytes = 0;
  ~Buffer() { std::free(memory); }
  void* get(size_t wanted) {
    if (wanted > bytes) {
      std::free(memory);
      bytes = (wanted + 4095) / 4096 * 4096;
      memory = std::aligned_alloc(4096, bytes);
      if (!memory) {
        bytes = 0;
        throw std::bad_alloc();
      }
    }
    return memory;
  }
};

int32_t matmul(const tenon_cpu_dnnl_matmul* p) {
  try {
    thread_local Buffer packed_buffer, scratch_buffer;
    const std::shared_ptr<const Kernel> kernel = find(*p);
    dnnl::stream stream(engine());
    dnnl::memory b(kernel->b, engine(), const_cast<float*>(p->b));
    if (kernel->reorders) {
      dnnl::memory packed(kernel->packed, engine(), packed_buffer.get(kernel->packed.get_size()));
      kernel->reorder.execute(stream, b, packed);
      b = packed;
    }
    std::unordered_map<int, dnnl::memory> arguments = {
        {DNNL_ARG_SRC, dnnl::memory(kernel->a, engine(), const_cast<float*>(p->a))},
        {DNNL_ARG_WEIGHTS, b},
        {DNNL_ARG_DST, dnnl::memory(kernel->c, engine(), p->c)},
        {DNNL_ARG_SCRATCHPAD,
         dnnl::memory(kernel->scratchpad, engine(),
                      scratch_buffer.get(std::max<size_t>(kernel->scratchpad.get_size(), 1)))},
    };
    if (p->bias) {
      arguments[DNNL_ARG_BIAS] = dnnl::memory(kernel->bias, engine(), const_cast<float*>(p->bias));
    }
    kernel->product.execute(stream, arguments);
    stream.wait();
    return 0;
  } catch (...) {
    return failure();
  }
}

}  // namespace
}  // namespace tenon::cpu_backend

extern "C" __attribute__((visibility("default"))) const tenon_cpu_dnnl* tenon_cpu_dnnl_table() {
  static const dnnl_version_t* v = dnnl_version();
  static char version[32];
  static const tenon_cpu_dnnl table = [] {
    std::snprintf(version, sizeof version, "%d.%d.%d", v->major, v->minor, v->patch);
    return tenon_cpu_dnnl{version, tenon::cpu_backend::matmul,
                          tenon::cpu_backend::convolution_workspace,
                          tenon::cpu_backend::convolution};
  }();
  return &table;
}
