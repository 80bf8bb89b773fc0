// The plugin `cpu`: kernels for the device `cpu`, which is the core's own, and the threads that the
// host lends to all.
#include <cstdlib>
#include <cstring>
#include <string>

#include "cpu.h"
#include "vector/table.h"

namespace tenon::cpu {
namespace {

void report_instruction_set(const tn_host* host) {
  const char* wish = std::getenv("TENON_CPU_ISA");
  const std::string name = table().name;
  if (wish && name != wish) {
    host->log(2, ("cpu: TENON_CPU_ISA is " + std::string(wish) + ", but the kernels use " + name +
                  " (known: baseline, avx2, avx512, and only as far as the processor goes)")
                     .c_str());
  } else {
    host->log(0, ("cpu: kernels for " + name).c_str());
  }
}

}  // namespace
}  // namespace tenon::cpu

extern "C" {

const tn_manifest tenon_manifest = {sizeof(tn_manifest), TN_ABI_VERSION, TN_ABI_VERSION,
                                    TENON_PLUGIN_ID};

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* r, void** self) {
  using namespace tenon::cpu;
  *self = nullptr;
  return guarded(host, "load", [&]() -> tn_status* {
    report_instruction_set(host);
    constexpr tn_status* (*kFamilies[])(tn_registrar*) = {
        add_elementwise, add_reduce, add_matmul, add_shape,     add_index,
        add_random,      add_conv,   add_loss,   add_norm,      add_softmax,
        add_scan,        add_sort,   add_pool,   add_attention, add_threads};
    for (const auto add : kFamilies) {
      TENON_CPU_TRY(add(r));
    }
    return nullptr;
  });
}
}
