// The end of plugins. A process can shut them down once, so this is one story.
#include "base/threads.h"
#include "registry/registry.h"
#include "memory/cache.h"
#include "memory/memory.h"
#include "object/factory.h"
#include "plugin_support.h"

namespace tenon {
namespace {

using testing::exported;
using testing::Folder;
using testing::load;
using testing::text_of;

TEST(PluginShutdown, EndsWhatPluginsBrought) {
  Folder folder;
  const auto pack = folder.place("pack1"), device = folder.place("device_first"),
             factory = folder.place("factory_first"), threads = folder.place("threads_first"),
             kernel = folder.place("kernel_waits"), unused = folder.place("pack2");
  for (const auto& library : {pack, device, factory, threads, kernel}) ASSERT_EQ(load(library), "");
  const Op* op = nullptr;
  ASSERT_EQ(text_of(registry().find("pack1.twice", &op)), "");
  ASSERT_NE(op->kernels.find(TN_DEVICE_CPU), nullptr);

  const tn_device acme{find_device_type("acme")->type, 0};
  const int64_t sizes[] = {5};
  Tensor* tensor = nullptr;
  ASSERT_EQ(text_of(empty_tensor(sizes, TN_FLOAT32, acme, &tensor)), "");
  EXPECT_EQ(text_of(shutdown_plugins()),
            "shutdown: tensors with 20 bytes in all still live on acme:0; release them first");
  EXPECT_EQ(exported<int>(pack, "small_shut_down"), 0);
  tensor->release();

  // A blob is a plugin's, and goes before it does, also from a tensor of the host.
  bool dropped = false;
  Tensor* packed = nullptr;
  ASSERT_EQ(text_of(empty_tensor(sizes, TN_FLOAT32, kCpu, &packed)), "");
  ASSERT_EQ(text_of(attach_blob(packed, nullptr, 1, &dropped, 8,
                                [](void* flag) { *static_cast<bool*>(flag) = true; })),
            "");

  ASSERT_EQ(text_of(shutdown_plugins()), "");
  EXPECT_TRUE(dropped);
  packed->release();
  EXPECT_EQ(exported<int>(pack, "small_shut_down"), 1);
  for (const auto& library : {pack, device, factory}) {
    EXPECT_EQ(exported<int>(library, "small_destroyed"), 1) << library;
  }
  EXPECT_EQ(text_of(shutdown_plugins()), "");
  EXPECT_EQ(exported<int>(pack, "small_shut_down"), 1) << "a second call does nothing";

  EXPECT_EQ(op->kernels.find(TN_DEVICE_CPU), nullptr);
  EXPECT_EQ(text_of(registry().find("pack1.twice", &op)),
            "op 'pack1.twice': plugins were shut down");
  EXPECT_EQ(load(unused), "plugins were shut down");
  EXPECT_EQ(text_of(load_all_plugins()), "plugins were shut down");
  EXPECT_EQ(thread_count(), 1);
  const std::string refusal = text_of(empty_tensor(sizes, TN_FLOAT32, acme, &tensor));
  EXPECT_NE(refusal.find("plugins were shut down"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace tenon
