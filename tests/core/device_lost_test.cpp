// Devices that fail for good, and errors that come late: what is refused, what goes on, and what
// the message names.
#include "primitive/primitives.h"
#include "lazy_device.h"
#include "memory/cache.h"
#include "memory/deferred.h"
#include "memory/transfer.h"
#include "tensor/slots.h"

namespace tenon {
namespace {

struct DeviceLost : StreamTest {
  std::string name() const { return device_text(device); }
  std::string lost(const std::string& what) const { return name() + " is lost: " + what; }
  // Some slot of the device is called, and fails.
  void lose() {
    state.faults = true;
    const std::string text = message(synchronize_stream(main));
    EXPECT_TRUE(text.starts_with(lost("stream_synchronize: "))) << text;
    EXPECT_TRUE(text.ends_with("the bus is gone")) << text;
  }
  void TearDown() override {
    EXPECT_OK(empty_cache(device));
    EXPECT_OK(empty_cache(other_device));
    EXPECT_TRUE(state.blocks.empty());
    EXPECT_TRUE(state.pinned.empty());
  }
};

TEST_F(DeviceLost, RefusesAllWithItsFirstError) {
  tn_storage* s = make(main);
  lose();
  state.faults = false;  // a device does not come back
  tn_storage* none = nullptr;
  Stream* stream = nullptr;
  int64_t value = 0;
  const auto expect_lost = [&](Status status) {
    ASSERT_NE(status, nullptr);
    EXPECT_EQ(status->code, TN_DEVICE_LOST);
    const std::string text = message(status);
    EXPECT_NE(text.find(lost("stream_synchronize: stream ")), std::string::npos) << text;
    EXPECT_NE(text.find("the bus is gone"), std::string::npos) << text;
  };
  expect_lost(allocate_storage(device, nullptr, 8, &none));
  expect_lost(current_stream(device, &stream));
  expect_lost(create_stream(device, &stream));
  expect_lost(synchronize_device(device));
  expect_lost(synchronize_stream(side));
  expect_lost(read_bytes(&value, s, 0, 8));
  expect_lost(write_bytes(s, 0, &value, 8));
  expect_lost(order_streams(main, side));
  EXPECT_OK(destroy_stream(side));
  s->release();
}

TEST_F(DeviceLost, AnExceptionOfASlotIsItsError) {
  tn_storage* s = make(main);
  state.faults = state.throws = true;
  const std::string text = message(slots::fill_bytes(main, s->memory, 0, 0, 8));
  EXPECT_TRUE(text.starts_with(lost("fill_bytes: "))) << text;
  EXPECT_TRUE(text.ends_with("out of patience")) << text;
  state.faults = state.throws = false;
  s->release();
}

TEST_F(DeviceLost, LeavesTheOthersAsTheyAre) {
  tn_storage* there = nullptr;
  ASSERT_OK(allocate_storage(other_device, nullptr, 8, &there));
  tn_storage* here = make(main);
  lose();
  state.faults = false;
  int64_t value = 5;
  EXPECT_OK(write_bytes(there, 0, &value, 8));
  value = 0;
  EXPECT_OK(read_bytes(&value, there, 0, 8));
  EXPECT_EQ(value, 5);
  EXPECT_NE(message(copy_bytes(there, 0, here, 0, 8)).find(lost("")), std::string::npos);
  EXPECT_OK(synchronize_device(other_device));
  here->release();
  there->release();
}

// Of what waits, all counts as passed: frees go on, on both streams, and so does what was deferred.
TEST_F(DeviceLost, FreesWhatItHolds) {
  tn_storage *shared = make(main), *pending = make(main), *kept = make(main);
  int64_t value = 1;
  EXPECT_OK(write_bytes(kept, 0, &value, 8));  // pinned memory is under way
  read(shared, side, &value);
  read(pending, side, &value);
  pending->release();
  static int destroyed;
  destroyed = 0;
  const int64_t sizes[] = {1};
  Tensor* t = nullptr;
  ASSERT_OK(empty_tensor(sizes, TN_INT64, device, &t));
  EXPECT_OK(attach_blob(t, side, 1, &value, 8, [](void*) { ++destroyed; }));
  lose();
  shared->release();
  t->release();
  EXPECT_EQ(destroyed, 1);
  kept->release();
  tn_memory_stats stats{};
  stats.size = sizeof(stats);
  EXPECT_OK(memory_stats(device, &stats));
  EXPECT_EQ(stats.allocated, 0u);
  EXPECT_OK(empty_cache(device));
  EXPECT_TRUE(state.blocks.empty());
  EXPECT_TRUE(state.pinned.empty());
  close_streams(device.type);
  EXPECT_EQ(state.n_streams, 0);
}

TEST_F(DeviceLost, IsNotWhatRefusesOrRunsOutOfMemory) {
  state.cannot_wait = true;
  EXPECT_NE(message(synchronize_stream(main)).find("not now"), std::string::npos);
  state.cannot_wait = false;
  EXPECT_OK(synchronize_stream(main));
  for (const tn_code code : {TN_OUT_OF_MEMORY, TN_INVALID_ARGUMENT, TN_NOT_FOUND, TN_UNSUPPORTED,
                             TN_FAILED_PRECONDITION}) {
    EXPECT_FALSE(is_fault(code));
  }
  for (const tn_code code : {TN_INTERNAL, TN_EXCEPTION, TN_DATA_LOSS, TN_DEVICE_LOST})
    EXPECT_TRUE(is_fault(code));
}

// A kernel of the test on the slow device.
struct LateError : DeviceLost {
  void SetUp() override {
    StreamTest::SetUp();
    kernel.def.layout = TN_LAYOUT_STRIDED;
    kernel.def.primitive = TN_PRIM_GATHER;
    kernel.def.self = this;
    kernel.def.launch = [](void* self, const tn_call*) -> tn_status* {
      auto& test = *static_cast<LateError*>(self);
      return test.says != TN_OK ? make_status(test.says, "bad index") : nullptr;
    };
  }
  std::string launch_once() {
    return message(launch(kernel, primitive_op(TN_PRIM_GATHER), device, {}, {}));
  }
  Kernel kernel{};
  tn_code says = TN_OK;
};

TEST_F(LateError, NamesTheOnlyLaunchThatItCanBeOf) {
  EXPECT_EQ(launch_once(), "");
  state.cannot_wait = true;
  const std::string one = message(synchronize_stream(main));
  EXPECT_NE(one.find("'gather', the only launch since the stream was last waited for"),
            std::string::npos)
      << one;
  state.cannot_wait = false;
  EXPECT_OK(synchronize_stream(main));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(launch_once(), "");
  state.cannot_wait = true;
  const std::string of_three = message(synchronize_stream(main));
  EXPECT_NE(of_three.find("one of 3 launches since the stream was last waited for, the last of "
                          "them 'gather' (TENON_SYNC=1"),
            std::string::npos)
      << of_three;
  state.cannot_wait = false;
}

TEST_F(LateError, OfAKernelLosesTheDeviceWhereThatIsGoneToo) {
  says = TN_INTERNAL;
  EXPECT_EQ(launch_once(), "bad index");  // the device answers: the kernel is wrong
  EXPECT_FALSE(is_lost(device));
  says = TN_INVALID_ARGUMENT;
  state.faults = true;
  EXPECT_EQ(launch_once(), "bad index");
  EXPECT_FALSE(is_lost(device));
  says = TN_INTERNAL;
  const std::string text = launch_once();
  EXPECT_TRUE(text.starts_with(lost("'gather' on stream"))) << text;
  EXPECT_TRUE(is_lost(device));
  EXPECT_TRUE(launch_once().starts_with(lost("'gather' on stream")));
}

TEST_F(LateError, OfAKernelMaySayThatTheDeviceIsLost) {
  says = TN_DEVICE_LOST;
  EXPECT_TRUE(launch_once().starts_with(lost("'gather' on stream")));
  EXPECT_TRUE(is_lost(device));
}

}  // namespace
}  // namespace tenon
