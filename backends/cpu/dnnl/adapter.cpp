// The adapter's table.
#include "dnnl/adapter.h"

#include <cstdio>

#include "dnnl/shared.h"

extern "C" __attribute__((visibility("default"))) const tenon_cpu_dnnl* tenon_cpu_dnnl_table() {
  static const dnnl_version_t* v = dnnl_version();
  static char version[32];
  static const tenon_cpu_dnnl table = [] {
    std::snprintf(version, sizeof version, "%d.%d.%d", v->major, v->minor, v->patch);
    return tenon_cpu_dnnl{version, tenon::cpu_backend::convolution_workspace,
                          tenon::cpu_backend::convolution};
  }();
  return &table;
}
