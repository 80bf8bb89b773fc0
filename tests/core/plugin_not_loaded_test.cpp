// What is said of a name that a plugin would have brought, had it been loaded.
#include "object/factory.h"
#include "plugin_support.h"
#include "registry/registry.h"
#include "tensor/device.h"

namespace tenon {
namespace {

using testing::Folder;
using testing::load;
using testing::text_of;

std::string device_refusal(const char* name) {
  tn_device device;
  return text_of(parse_device(name, &device));
}
std::string op_refusal(const char* name) {
  const Op* op = nullptr;
  return text_of(registry().find(name, &op));
}
std::string factory_refusal(const char* name) {
  Object* object = nullptr;
  return text_of(create_object(name, nullptr, 0, &object));
}

TEST(NotLoaded, APluginIsNamedWithItsReasonUntilItIsLoaded) {
  Folder folder;
  for (const char* there : {"pack1", "factory_first", "device_first"})
    ASSERT_EQ(load(folder.place(there)), "");
  const std::string all_loaded = device_refusal("fails_device");
  EXPECT_EQ(all_loaded.find("not loaded"), std::string::npos) << all_loaded;

  const auto fails = folder.place("fails");
  ::setenv("TENON_TEST_FAILS", "status", 1);
  EXPECT_NE(load(fails), "");
  const std::string why =
      "; plugin 'fails' was not loaded: tenon_plugin_init failed: no accelerator in slot 3";
  EXPECT_EQ(device_refusal("npu"), "unknown device 'npu'; devices here: cpu, acme" + why);
  EXPECT_EQ(op_refusal("fails.half"), "unknown op 'fails.half'" + why);
  EXPECT_NE(factory_refusal("Nothing").find("is named 'Nothing'" + why), std::string::npos);
  // Where there is a suggestion, it is the better one.
  EXPECT_EQ(op_refusal("pack1.twize"), "unknown op 'pack1.twize'; did you mean 'pack1.twice'?");

  // Of several those first that sound like it.
  for (const char* other : {"refused1", "refused2"}) EXPECT_NE(load(folder.place(other)), "");
  const std::string several = device_refusal("refused2");
  EXPECT_NE(several.find("acme; plugin 'refused2' was not loaded: "), std::string::npos) << several;
  EXPECT_NE(several.find("; plugin 'fails' was not loaded: "), std::string::npos) << several;
  EXPECT_TRUE(several.ends_with("; 1 more not loaded")) << several;

  ::unsetenv("TENON_TEST_FAILS");
  ASSERT_EQ(load(fails), "");
  EXPECT_EQ(op_refusal("npu.f").find("plugin 'fails'"), std::string::npos);
}

}  // namespace
}  // namespace tenon
