// A plugin that is the backend ref behind functions of its own: ref registers its device and its kernels
// with those, which change what they are given and pass it on.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include <tenon/abi.h>

// What the plugin's init gives. The registrar that ref gets lives as long as this call.
inline tn_status* init_through_ref(const tn_host* host, const tn_registrar* registrar, void** self,
                                   decltype(tn_registrar::device) take_device,
                                   decltype(tn_registrar::kernel) take_kernel) {
  const std::string library =
      std::string(std::getenv("TENON_BUILD_DIR")) + "/lib/tenon/plugins/libtenon_ref.so";
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return host->status(TN_NOT_FOUND, dlerror(), nullptr);
  const auto init = reinterpret_cast<tn_plugin_init_fn>(dlsym(opened, TN_INIT_SYMBOL));
  tn_registrar taking = *registrar;
  taking.device = take_device;
  taking.kernel = take_kernel;
  return init(host, &taking, self);
}
