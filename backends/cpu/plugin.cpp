// The plugin `cpu`: kernels for the device `cpu`, which is the core's own, and the threads that the
// host lends to all.
#include <tenon/plugin.hpp>

#include <cstdlib>
#include <string>

#include "cpu.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

void report_instruction_set() {
  const char* wish = std::getenv("TENON_CPU_ISA");
  const std::string name = table().name;
  if (wish && name != wish) {
    host()->log(
        2, ("cpu: TENON_CPU_ISA is " + std::string(wish) + ", but the kernels use " + name +
            " (known: baseline, avx2, avx512, avx512_bf16, and only as far as the processor goes)")
               .c_str());
  } else {
    host()->log(0, ("cpu: kernels for " + name).c_str());
  }
}

}  // namespace
}  // namespace tenon::cpu_backend

TENON_PLUGIN(cpu) {
  using namespace tenon::cpu_backend;  // NOLINT
  report_instruction_set();
  add_elementwise();
  add_reduce();
  add_matmul();
  add_linear();
  add_shape();
  add_join();
  add_border();
  add_grid_sample();
  add_index();
  add_add_rows();
  add_random();
  add_conv();
  add_distance();
  add_loss();
  add_norm();
  add_norm_planes();
  add_norm_given();
  add_optim();
  add_softmax();
  add_running();
  add_scan();
  add_sort();
  add_pool();
  add_pool_plain();
  add_attention();
  add_recurrent();
  add_threads();
}
