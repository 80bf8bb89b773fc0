// For plugins: TENON_PLUGIN(id) { ... } and the functions that its body may call. Nothing here
// needs a symbol of libtenon.so.
//
//   TENON_PLUGIN(squash) {
//     op("squash(Tensor x, float k=1) -> Tensor", "x / (k + abs(x))");
//   }
//
// In a program add_plugin takes such a body, and no library and no manifest are needed:
//
//   add_plugin("squash", [] { plugin::op("squash(Tensor x, float k=1) -> Tensor", "x / (k + abs(x))"); });
//
// Everything is staged; it comes in force only if the whole body succeeds. The first error is the
// plugin's reason. The functions may be called by that body only, and from other files that it
// calls: they find the registrar of this shared object.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/custom_function.hpp"
#include "tenon/define_factory.hpp"
#include "tenon/define_kernel.hpp"
#include "tenon/define_op.hpp"
#include "tenon/module.hpp"
#include "tenon/nn.hpp"
#include "tenon/object.hpp"
#include "tenon/ops.hpp"
#include "tenon/pipe.hpp"
#include "tenon/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// What add_plugin gives to a function that takes no context.
struct AddedPlugin {
  const char* id;
  void (*run)(void* body);
  void* body;

  static tn_status* init(const tn_host* host, tn_registrar* registrar, void** self);
};
inline thread_local AddedPlugin* added_plugin = nullptr;

inline tn_status* AddedPlugin::init(const tn_host* host, tn_registrar* registrar, void** self) {
  *self = nullptr;
  const AddedPlugin& plugin = *added_plugin;
  return run_plugin(host, registrar, plugin.id, [&] { plugin.run(plugin.body); });
}

}  // namespace detail

// Adds ops, layers, optimizers, policies and kernels of the program itself: `body` registers them as
// that of TENON_PLUGIN does, which stands below `using namespace tenon;` and
// `using namespace tenon::plugin;`, and what it registers is in force for the whole process when
// this returns, or nothing of it where an Error is thrown. Once for each id, which has lower case
// letters, digits and '_': ops are named "id.name", and by `call("id.name")`. Before or behind
// load_plugins; thread-safe. A library that adds one is not unloaded any more.
template <typename F>
void add_plugin(const std::string& id, F&& body) {
  if (id.find('\0') != id.npos) fail("add_plugin: the id has a zero byte");
  auto run = [&body] { body(); };
  detail::AddedPlugin plugin = {id.c_str(), [](void* f) { (*static_cast<decltype(run)*>(f))(); },
                                &run};
  const tn_manifest manifest = {sizeof(tn_manifest), TN_ABI_VERSION, TN_ABI_VERSION, id.c_str()};
  detail::AddedPlugin* const outer = std::exchange(detail::added_plugin, &plugin);
  tn_status* status =
      detail::api.plugin->add(&manifest, &detail::AddedPlugin::init, /*shutdown=*/nullptr);
  detail::added_plugin = outer;
  check(status);
}

}  // namespace v0
}  // namespace tenon

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
