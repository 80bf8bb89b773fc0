// libtenon.so opened by a process that runs already, as interpreters and hosts of plugins open it:
// beside libraries that took most of the static block for thread-local variables, by threads that
// come and go, and from Python. Nothing here links libtenon.so.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "in_a_fork.h"
#include "tenon/abi.h"

namespace {

std::string build() { return std::getenv("TENON_BUILD_DIR"); }
std::string library() { return build() + "/lib/libtenon.so"; }

std::string text_of(const tn_host* host, tn_status* status) {
  if (status == nullptr) return "";
  const std::string text = host->status_message(status);
  host->status_free(status);
  return text;
}

// 1 + 2 on cpu. "": it is 3.
std::string add(const tn_host* host) {
  const auto* tensors = static_cast<const tn_tensor_api*>(host->get_interface("tensor/1"));
  const tn_op* op = nullptr;
  if (tn_status* failed = host->find_op("add", &op)) return text_of(host, failed);
  const int64_t sizes[] = {1};
  tn_value args[2] = {}, sum = {};
  for (int i = 0; i < 2; ++i) {
    const float value = static_cast<float>(i + 1);
    args[i].kind = TN_KIND_TENSOR;
    if (tn_status* failed =
            tensors->empty(1, sizes, TN_FLOAT32, {TN_DEVICE_CPU, 0}, &args[i].as.tensor)) {
      return text_of(host, failed);
    }
    if (tn_status* failed = tensors->write(args[i].as.tensor, &value, sizeof(value)))
      return text_of(host, failed);
  }
  if (tn_status* failed = host->call(op, args, 2, &sum, 1)) return text_of(host, failed);
  const float got = *static_cast<const float*>(sum.as.tensor->data);
  for (tn_value* v : {&args[0], &args[1], &sum}) host->tensor_release(v->as.tensor);
  return got == 3 ? "" : "1 + 2 gave " + std::to_string(got);
}

// Opens the library, loads its plugins and computes on this thread and on others. "": all went
// well.
std::string use() {
  void* handle = ::dlopen(library().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return ::dlerror();
  const auto entry = reinterpret_cast<decltype(&tenon_host)>(::dlsym(handle, "tenon_host"));
  const tn_host* host = entry(TN_ABI_VERSION, nullptr);
  if (host == nullptr) return "tenon_host gave NULL";
  const auto* plugins = static_cast<const tn_plugin_api*>(host->get_interface("plugin/1"));
  if (tn_status* failed = plugins->load_all()) return text_of(host, failed);
  std::string text = add(host);
  for (int i = 0; i < 20; ++i) {
    std::thread([&] { text += add(host); }).join();
  }
  ::dlclose(handle);  // it stays: what it gave lives as long as the process
  return text + add(host);
}

// The C library has 1,664 bytes for the static blocks of all libraries that come late. Of these the
// two here take 1,152; OpenMP's, which the cpu plugin brings, takes some hundreds.
TEST(LateLoad, FindsRoomBesideLibrariesWithStaticTls) {
  EXPECT_EQ(in_a_fork([]() -> std::string {
              for (const char* bytes : {"512", "640"}) {
                const std::string file = build() + "/lib/late_load/libstatic_tls_" + bytes + ".so";
                if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) return ::dlerror();
              }
              return use();
            }),
            "");
}

TEST(LateLoad, WorksOnThreadsThatComeAndGo) { EXPECT_EQ(in_a_fork(use), ""); }

TEST(LateLoad, WorksFromPython) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the interpreter would need the sanitizer's library first";
#endif
  const std::string command = "python3 '" + std::string(std::getenv("TENON_SOURCE_DIR")) +
                              "/tests/process/use.py' '" + library() + "' " +
                              std::to_string(TN_ABI_VERSION) + " '" + build() +
                              "/lib/late_load/libcalls_once.so'";
  FILE* out = ::popen(command.c_str(), "r");
  ASSERT_NE(out, nullptr);
  char line[100] = "";
  EXPECT_NE(std::fgets(line, sizeof(line), out), nullptr);
  EXPECT_EQ(::pclose(out), 0);
  EXPECT_STREQ(line, "0.1.0\n");
}

}  // namespace
