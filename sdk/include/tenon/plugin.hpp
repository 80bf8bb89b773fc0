// For plugins: TENON_PLUGIN(id) { ... } and the functions that its body may call. Nothing here
// needs a symbol of libtenon.so.
//
//   TENON_PLUGIN(squash) {
//     op("squash(Tensor x, float k=1) -> Tensor", "x / (k + abs(x))");
//   }
//
// Everything is staged; it comes in force only if the whole body succeeds. The first error is the
// plugin's reason. The functions may be called by that body only, and from other files that it
// calls: they find the registrar of this shared object.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/define_factory.hpp"
#include "tenon/define_kernel.hpp"
#include "tenon/define_op.hpp"
#include "tenon/module.hpp"
#include "tenon/nn.hpp"
#include "tenon/object.hpp"
#include "tenon/ops.hpp"
#include "tenon/pipe.hpp"
#include "tenon/random.hpp"

#ifdef TENON_PLUGIN_ID  // tenon_add_plugin's
#define TENON_CHECK_ID(plugin_id)                                \
  static_assert(std::string_view(TENON_PLUGIN_ID) == #plugin_id, \
                "TENON_PLUGIN and tenon_add_plugin name two ids");
#else
#define TENON_CHECK_ID(plugin_id)
#endif

#define TENON_PLUGIN(plugin_id)                                                            \
  TENON_CHECK_ID(plugin_id)                                                                \
  namespace tenon_plugin_##plugin_id {                                                     \
    using namespace ::tenon;         /* NOLINT */                                          \
    using namespace ::tenon::plugin; /* NOLINT */                                          \
    static void body();                                                                    \
  }                                                                                        \
  extern "C" {                                                                             \
  const tn_manifest tenon_manifest = {sizeof(tn_manifest), TN_ABI_VERSION, TN_ABI_VERSION, \
                                      #plugin_id};                                         \
  TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar,     \
                                         void** self) {                                    \
    *self = nullptr;                                                                       \
    return ::tenon::detail::run_plugin(host, registrar, #plugin_id,                        \
                                       tenon_plugin_##plugin_id::body);                    \
  }                                                                                        \
  }                                                                                        \
  void tenon_plugin_##plugin_id::body()
