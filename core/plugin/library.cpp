// Opens libraries with Boost.DLL.
#include "plugin/library.h"

#include <list>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>
#include <dlfcn.h>

namespace tenon {
namespace {

using boost::dll::load_mode::rtld_local;
using boost::dll::load_mode::rtld_now;

Status missing(const char* symbol) {
  return invalid("symbol '{}' is missing: a plugin exports it (plugin.map in the sdk)", symbol);
}

}  // namespace

Status open_library(const std::filesystem::path& file, Library* library) {
  // Never destroyed: that would unload the libraries.
  static auto* handles = new std::list<boost::dll::shared_library>();
  boost::dll::shared_library* handle = &handles->emplace_back();
  std::error_code ec;
  handle->load(file, ec, rtld_now | rtld_local);
  if (ec) {
    const char* reason = ::dlerror();
    return error(TN_INVALID_ARGUMENT, "the dynamic loader refuses it: {}",
                 reason == nullptr ? ec.message() : reason);
  }
  if (!handle->has(TN_MANIFEST_SYMBOL)) return missing(TN_MANIFEST_SYMBOL);
  if (!handle->has(TN_INIT_SYMBOL)) return missing(TN_INIT_SYMBOL);
  library->manifest = &handle->get<const tn_manifest>(TN_MANIFEST_SYMBOL);
  library->init = &handle->get<std::remove_pointer_t<tn_plugin_init_fn>>(TN_INIT_SYMBOL);
  if (handle->has(TN_SHUTDOWN_SYMBOL)) {
    library->shutdown =
        &handle->get<std::remove_pointer_t<tn_plugin_shutdown_fn>>(TN_SHUTDOWN_SYMBOL);
  }
  return nullptr;
}

}  // namespace tenon
