// An application and a libtenon.so that do not fit: the first use of the face says what is missing,
// in main, and nothing happens before. The library is played by this program.
#include <cstring>

#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace {

namespace tn = tenon;

bool refuses = true, lacks_random = false, has_small_device = false;
int asked = 0;

const void* get_interface(const char* name) {
  static tn_random_api random{};
  static tn_device_api device{};
  random.size = sizeof random;
  random.seed = [](uint64_t) {};
  device.size = has_small_device ? 16 : sizeof device;
  device.fallback = []() -> int32_t { return TN_FALLBACK_ERROR; };
  if (std::strcmp(name, "random/1") == 0) return lacks_random ? nullptr : &random;
  return std::strcmp(name, "device/1") == 0 ? &device : nullptr;
}

std::string error_of(void (*f)()) {
  try {
    f();
  } catch (const tn::Error& e) {
    EXPECT_EQ(e.code(), TN_FAILED_PRECONDITION);
    return e.what();
  }
  return "no error";
}

}  // namespace

extern "C" const tn_host* tenon_host(uint32_t abi_version, const char** why) {
  EXPECT_EQ(abi_version, TN_ABI_VERSION);
  ++asked;
  *why = "this libtenon.so (9.9) has ABI 9.9, and the program was built for another";
  static tn_host host{};
  host.size = sizeof host;
  host.get_interface = get_interface;
  return refuses ? nullptr : &host;
}

// One test: a process attaches once.
TEST(Attach, TheFirstUseSaysWhatIsMissing) {
  EXPECT_EQ(asked, 0) << "before main nothing is asked";
  const std::string version = std::to_string(TN_ABI_MAJOR) + "." + std::to_string(TN_ABI_MINOR);
  for (int time = 1; time <= 2; ++time) {
    EXPECT_EQ(error_of([] { tn::manual_seed(1); }),
              "this program was built for Tenon's ABI " + version +
                  ": this libtenon.so (9.9) has ABI 9.9, and the program was built for another");
    EXPECT_EQ(asked, time) << "a refusal is not kept: each use asks again";
  }
  EXPECT_EQ(error_of([] { tn::load_plugins(); }).substr(0, 22), "this program was built");

  refuses = false;
  lacks_random = has_small_device = true;
  EXPECT_EQ(error_of([] { tn::manual_seed(1); }),
            "this program needs the interface 'random/1', which this libtenon.so does not have");
  EXPECT_EQ(error_of([] { tn::fallback(); }),
            "this program needs the interface 'device/1', which this libtenon.so has with 16 "
            "bytes, expected " +
                std::to_string(sizeof(tn_device_api)));
  EXPECT_EQ(error_of([] { tn::plugins_json(); }),
            "this program needs the interface 'plugin/1', which this libtenon.so does not have");
  const int once = asked;
  EXPECT_NE(error_of([] { tn::manual_seed(1); }), "no error");
  EXPECT_EQ(asked, once) << "attached once";
}
