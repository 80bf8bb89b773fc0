// Packed weights as oneDNN's: a kernel that finds a weight in the form it likes best, or packs it
// and attaches that to the weight.
#include <vector>

#include "fakes.h"

namespace fakes {
namespace {

// The transpose, which makes the inner loop of x · weightᵀ run over memory in order.
struct Packed {
  std::vector<float> values;
  static void destroy(void* packed) {
    ++fakes_unpacked;
    delete static_cast<Packed*>(packed);
  }
};

constexpr uint64_t kTransposed = 1;  // a key: of forms that differ each has its own

const Packed* packed(const tn_call* call, const tn_tensor* weight) {
  static const auto* cache = static_cast<const tn_cache_api*>(host()->get_interface("cache/1"));
  if (void* found = cache->find(call, weight, kTransposed)) return static_cast<Packed*>(found);
  auto* made = new Packed;
  ++fakes_packed;
  const int64_t rows = weight->sizes[0], columns = weight->sizes[1];
  for (int64_t i = 0; i < rows * columns; ++i) {
    made->values.push_back(static_cast<float*>(weight->data)[i % rows * columns + i / rows]);
  }
  check(cache->attach(call, weight, kTransposed, made, made->values.size() * sizeof(float),
                      Packed::destroy));
  return made;  // also where the host did not keep it: it is there until the call's work is done
}

}  // namespace

void add_packed() {
  op("packed_linear(Tensor x, Tensor weight) -> Tensor").meaning([](Tensor x, Tensor weight) {
    return matmul(x, weight.t());
  });
  kernel("fakes.packed_linear", cpu, {.dtypes = float32, .layout = Layout::contiguous},
         [](const Call& call) {
           const tn_tensor *x = call.tensor(0), *weight = call.tensor(1);
           const Packed* w = packed(call.get(), weight);
           const int64_t depth = weight->sizes[1], columns = weight->sizes[0];
           auto* y = call.output_data<float>();
           for (int64_t row = 0; row < x->sizes[0]; ++row) {
             for (int64_t j = 0; j < columns; ++j) {
               y[row * columns + j] = 0;
               for (int64_t k = 0; k < depth; ++k) {
                 y[row * columns + j] += static_cast<float*>(x->data)[row * depth + k] *
                                         w->values[size_t(k * columns + j)];
               }
             }
           }
         });
}

}  // namespace fakes
