// CPU features and native libraries, asked of the machine.
#include "plugin/needs.h"

#include <dlfcn.h>

#include <algorithm>

#include "base/text.h"

namespace tenon {
namespace {

struct Feature {
  const char* name;
  bool there;
};

// The builtin takes literals only.
#if defined(__x86_64__)
#define TN_FEATURE(name) \
  { name, __builtin_cpu_supports(name) != 0 }
#else
#define TN_FEATURE(name) \
  { name, false }
#endif

std::vector<Feature> cpu_features() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
  return {
    TN_FEATURE("sse3"), TN_FEATURE("ssse3"), TN_FEATURE("sse4.1"), TN_FEATURE("sse4.2"),
        TN_FEATURE("popcnt"), TN_FEATURE("avx"), TN_FEATURE("fma"), TN_FEATURE("bmi"),
        TN_FEATURE("bmi2"), TN_FEATURE("avx2"), TN_FEATURE("avx512f"), TN_FEATURE("avx512bw"),
        TN_FEATURE("avx512cd"), TN_FEATURE("avx512dq"), TN_FEATURE("avx512vl"),
        TN_FEATURE("avx512ifma"), TN_FEATURE("avx512vbmi"), TN_FEATURE("avx512vbmi2"),
        TN_FEATURE("avx512vnni"), TN_FEATURE("avx512bf16"), TN_FEATURE("avx512bitalg"),
        TN_FEATURE("avx512vpopcntdq"),
#if !defined(__clang__)
        TN_FEATURE("f16c"), TN_FEATURE("avx512fp16"), TN_FEATURE("amx-tile"),
        TN_FEATURE("amx-int8"), TN_FEATURE("amx-bf16"),
#endif
  };
}
#undef TN_FEATURE

}  // namespace

Status check_cpu_features(const std::vector<std::string>& features) {
  if (features.empty()) return nullptr;
  const std::vector<Feature> known = cpu_features();
  for (const std::string& feature : features) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const Feature& f) { return feature == f.name; });
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const Feature& f : known) names.emplace_back(f.name);
      return invalid("needs the CPU feature '{}', which this host does not know{}",
                     printable(feature), did_you_mean(feature, names));
    }
    if (!found->there) {
      return error(TN_UNSUPPORTED, "needs the CPU feature '{}', which this machine lacks", feature);
    }
  }
  return nullptr;
}

Status check_libraries(const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries) {
    if (::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      const char* reason = ::dlerror();
      return error(TN_NOT_FOUND, "needs the library '{}', which does not load: {}", library,
                   reason == nullptr ? "unknown reason" : reason);
    }
  }
  return nullptr;
}

}  // namespace tenon
