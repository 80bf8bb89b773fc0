// The standard op pack under other names, for the law that the core looks up no op by name: the
// pack's library is loaded as it is, and a registrar between it and the host renames all that it
// registers.
#include <deque>

#include <dlfcn.h>

#include "renamed_names.h"

namespace {

struct Renamer : tn_registrar {
  tn_registrar* real;
  std::deque<std::string> texts;  // the real registrar copies; kept for the call only

  static Renamer& of(tn_registrar* r) { return *static_cast<Renamer*>(r); }
  // A name or a schema.
  const char* rename(const char* text) {
    return texts.emplace_back("q_" + std::string(text)).c_str();
  }

  explicit Renamer(tn_registrar* r) : tn_registrar(*r), real(r) {
    op = [](tn_registrar* self, const tn_op_def* def) {
      tn_op_def copy = *def;
      copy.schema = of(self).rename(def->schema);
      return of(self).real->op(of(self).real, &copy);
    };
    kernel = [](tn_registrar* self, const tn_kernel_def* def) {
      tn_kernel_def copy = *def;
      if (def->op != nullptr) copy.op = of(self).rename(def->op);
      return of(self).real->kernel(of(self).real, &copy);
    };
    kernel_pair = [](tn_registrar* self, const tn_kernel_pair_def* def) {
      tn_kernel_pair_def copy = *def;
      tn_kernel_def forward = *def->forward;
      forward.op = of(self).rename(forward.op);
      copy.forward = &forward;
      return of(self).real->kernel_pair(of(self).real, &copy);
    };
    vjp = [](tn_registrar* self, const char* name, tn_vjp_fn fn, void* data,
             void (*destroy)(void*)) {
      return of(self).real->vjp(of(self).real, of(self).rename(name), fn, data, destroy);
    };
    amp = [](tn_registrar* self, const tn_amp_policy_def* def) {
      return of(self).real->amp(of(self).real, def);
    };
    device = [](tn_registrar* self, const tn_device_def* def) {
      return of(self).real->device(of(self).real, def);
    };
    factory = [](tn_registrar* self, const tn_factory_def* def) {
      return of(self).real->factory(of(self).real, def);
    };
    threads = [](tn_registrar* self, const tn_threads_def* def) {
      return of(self).real->threads(of(self).real, def);
    };
  }
};

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))
const tn_manifest tenon_manifest = {sizeof(tn_manifest), TN_ABI_VERSION, TN_ABI_VERSION, "renamed"};

EXPORTED tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  void* library = dlopen(RENAMED_OPS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return host->status(TN_NOT_FOUND, dlerror(), nullptr);
  const auto init = reinterpret_cast<tn_plugin_init_fn>(dlsym(library, TN_INIT_SYMBOL));
  Renamer renamer(registrar);
  return init(renamed::host_for(host), &renamer, self);
}
