// All of Tenon for an application: include this, link libtenon.so (target tenon::tenon). Plugins
// include plugin.hpp instead.
#pragma once

#include "tenon/amp.hpp"
#include "tenon/autograd.hpp"
#include "tenon/capture.hpp"
#include "tenon/clone.hpp"
#include "tenon/containers.hpp"
#include "tenon/custom_function.hpp"
#include "tenon/data.hpp"
#include "tenon/dlpack.hpp"
#include "tenon/explain.hpp"
#include "tenon/io.hpp"
#include "tenon/literal.hpp"
#include "tenon/module.hpp"
#include "tenon/module_hooks.hpp"
#include "tenon/nn.hpp"
#include "tenon/object.hpp"
#include "tenon/ops.hpp"
#include "tenon/optim.hpp"
#include "tenon/pipe.hpp"
#include "tenon/print.hpp"
#include "tenon/random.hpp"
#include "tenon/stream.hpp"
#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {
// At the first use of the face in this shared object. An application that cannot be served gets an
// Error there, in its own main, and at each further use.
inline void attach_library() {
  static const bool attached = [] {
    const char* why = nullptr;
    const tn_host* library = tenon_host(TN_ABI_VERSION, &why);
    if (library == nullptr) {
      fail(joined({"this program was built for Tenon's ABI ", std::to_string(TN_ABI_MAJOR), ".",
                   std::to_string(TN_ABI_MINOR), ": ", why}),
           TN_FAILED_PRECONDITION);
    }
    if (library->size < sizeof(tn_host)) {
      fail(joined({"this program needs a host's table of ", std::to_string(sizeof(tn_host)),
                   " bytes, and that of this libtenon.so has ", std::to_string(library->size)}),
           TN_FAILED_PRECONDITION);
    }
    attach(library);
    return true;
  }();
  static_cast<void>(attached);
}
inline const bool knows_library = (attach_at_first_use = attach_library, true);
}  // namespace detail

// Loads the plugins of TENON_PLUGIN_PATH (absolute folders), then of the install's. Broken ones are listed
// (`tenon plugins`), not fatal. To call twice does nothing more.
inline void load_plugins() { check(detail::api.plugin->load_all()); }
// One library; its manifest file lies beside it. An Error says which check it failed.
inline void load_plugin(const std::string& path) { check(detail::api.plugin->load(path.c_str())); }
// JSON: each plugin with what it brought and from where; broken ones with the reason.
inline std::string plugins_json() {
  const char* json = nullptr;
  check(detail::api.plugin->list(&json));
  return detail::take_text(json);
}
// JSON: each op with its schema, class, kernels and gradient.
inline std::string ops_json() {
  const char* json = nullptr;
  check(detail::api.plugin->ops(&json));
  return detail::take_text(json);
}

}  // namespace v0
}  // namespace tenon
