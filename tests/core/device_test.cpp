// Devices by name and by table, and the streams of a thread.
#include <atomic>
#include <chrono>
#include <thread>

#include "host/tables.h"
#include "lazy_device.h"
#include "memory/transfer.h"
#include "tensor/slots.h"
#include "tensor/stream.h"

namespace tenon {
namespace {

// ---- Devices

TEST(Devices, AreParsedFromNamesAndIndices) {
  static Lazy state;
  int32_t type = 0;
  ASSERT_OK(register_device(lazy_def("parsed", &state), "test", &type));
  tn_device device{};
  for (const auto& [text, index] : {std::pair{"parsed", 0}, {"parsed:0", 0}, {"parsed:1", 1}}) {
    EXPECT_OK(parse_device(text, &device));
    EXPECT_EQ(device.type, type);
    EXPECT_EQ(device.index, index);
    EXPECT_EQ(device_text(device), "parsed:" + std::to_string(index));
  }
  EXPECT_OK(parse_device("cpu", &device));
  EXPECT_EQ(device_text(device), "cpu");
  EXPECT_OK(parse_device("cpu:0", &device));
  EXPECT_OK(parse_device("meta", &device));
  EXPECT_EQ(message(parse_device("parsed:2", &device)),
            "device 'parsed:2': index out of range; parsed has 2 devices");
  EXPECT_EQ(message(parse_device("cpu:99999999999", &device)),
            "device 'cpu:99999999999': index out of range; cpu has 1 device");
  for (const char* text : {"", ":1", "parsed:", "parsed:x", "parsed:-1", "parsed:1x"}) {
    EXPECT_EQ(
        message(parse_device(text, &device)),
        std::string("device '") + text + "': expected a name, or a name and an index as in ref:1");
  }
}

TEST(Devices, AreNamedWhenOneIsUnknown) {
  tn_device device{};
  const std::string text = message(parse_device("acme", &device));
  EXPECT_EQ(text.find("unknown device 'acme'; devices here: cpu"), 0u) << text;
  EXPECT_EQ(text.find("meta"), std::string::npos);
  int32_t type = 0;
  static Lazy state;
  ASSERT_OK(register_device(lazy_def("pair_of", &state), "test", &type));
  EXPECT_NE(message(parse_device("acme", &device)).find(", pair_of (2)"), std::string::npos);
  EXPECT_EQ(message(check_device({type, 2})),
            "device 'pair_of:2': index out of range; pair_of has 2 devices");
  EXPECT_NE(message(check_device({-1, 0})), "");
  EXPECT_NE(message(check_device({kMaxDeviceTypes, 0})), "");
}

TEST(Devices, MayBeAbsent) {
  static Lazy state;
  tn_device_def def = lazy_def("absent", &state);
  def.count = [](void*) { return 0; };
  int32_t type = 0;
  ASSERT_OK(register_device(def, "test", &type));
  tn_device device{};
  EXPECT_EQ(message(parse_device("absent", &device)),
            "device 'absent': there is no absent device here");
}

TEST(Devices, AreOpenedWhenSomebodyAsks) {
  static Lazy state;
  static int opened = 0;
  tn_device_def def = lazy_def("opened", &state);
  def.open = [](void*) -> tn_status* { return ++opened, nullptr; };
  int32_t type = 0;
  ASSERT_OK(register_device(def, "test", &type));
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(device_type(type)->n_open(), 0);
  tn_device device{};
  EXPECT_OK(parse_device("opened:1", &device));
  EXPECT_OK(check_device(device));
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(device_api()->count(type), 2);
  EXPECT_EQ(device_api()->type_absence(type), nullptr);
  EXPECT_EQ(opened, 1);
}

TEST(Devices, ThatCannotBeOpenedSayWhy) {
  static Lazy state;
  static int opened = 0;
  tn_device_def def = lazy_def("unopened", &state);
  def.open = [](void*) { return ++opened, error(TN_NOT_FOUND, "no driver (none was found)"); };
  def.count = [](void*) { return ADD_FAILURE() << "counted without a driver", 1; };
  int32_t type = 0;
  ASSERT_OK(register_device(def, "test", &type));
  tn_device device{};
  EXPECT_EQ(message(parse_device("unopened", &device)),
            "device 'unopened': there is no unopened device here: no driver (none was found)");
  EXPECT_EQ(message(check_device({type, 0})),
            "device 'unopened:0': there is no unopened device here: no driver (none was found)");
  EXPECT_EQ(device_api()->count(type), 0);
  EXPECT_STREQ(device_api()->type_absence(type), "no driver (none was found)");
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(device_api()->type_absence(TN_DEVICE_CPU), nullptr);
  EXPECT_EQ(device_api()->type_absence(-1), nullptr);
}

TEST(Devices, ThatOpenAreCountedAfterwards) {
  static Lazy state;
  tn_device_def def = lazy_def("many", &state);
  def.open = [](void*) -> tn_status* { return nullptr; };
  def.count = [](void*) { return 65; };
  int32_t type = 0;
  ASSERT_OK(register_device(def, "test", &type));
  EXPECT_EQ(device_api()->count(type), 0);
  EXPECT_STREQ(device_api()->type_absence(type), "device 'many': count gave 65, expected 0 to 64");
}

TEST(Devices, AreRefusedWithTheReason) {
  static Lazy state;
  int32_t type = 0;
  const auto refusal = [&](const char* name, auto change) {
    tn_device_def def = lazy_def(name, &state);
    change(def);
    EXPECT_EQ(device_type_count(), device_type_count());
    return message(register_device(def, "test", &type));
  };
  const auto none = [](tn_device_def&) {};
  EXPECT_EQ(refusal("cpu", none), "device 'cpu': the name is taken by the core");
  EXPECT_EQ(refusal("Acme", none),
            "device 'Acme': expected a name of lower case letters, digits and '_'");
  EXPECT_EQ(refusal("a:1", none),
            "device 'a:1': expected a name of lower case letters, digits and '_'");
  EXPECT_EQ(refusal("x", [](auto& def) { def.copy = nullptr; }),
            "device 'x': copy is not given, and is mandatory");
  EXPECT_EQ(refusal("x", [](auto& def) { def.event_query = nullptr; }),
            "device 'x': event_synchronize is given but event_query is not; the slots of streams "
            "come all "
            "or none");
  EXPECT_EQ(refusal("x", [](auto& def) { def.flags |= 1u << 7; }),
            "device 'x': unknown flags 0x80");
  EXPECT_EQ(refusal("x", [](auto& def) { def.alignment = 48; }),
            "device 'x': alignment is 48, expected a power of two");
  EXPECT_EQ(refusal("x", [](auto& def) { def.lower_precision = TN_INT64; }),
            "device 'x': lower_precision is 4, expected float16, bfloat16 or none");
  EXPECT_EQ(refusal("x", [](auto& def) { def.count = [](void*) { return 65; }; }),
            "device 'x': count gave 65, expected 0 to 64");
  EXPECT_EQ(find_device_type("x"), nullptr);
  EXPECT_EQ(refusal("taken", none), "");
  EXPECT_EQ(refusal("taken", none), "device 'taken': the name is taken by plugin 'test'");
}

TEST(Devices, OfAnOlderHeaderLackWhatCameLater) {
  static Lazy state;
  tn_device_def def = lazy_def("older", &state);
  def.size = offsetof(tn_device_def, memory_info);
  def.memory_info = reinterpret_cast<decltype(def.memory_info)>(1);  // beyond the author's struct
  int32_t type = 0;
  ASSERT_OK(register_device(def, "test", &type));
  EXPECT_EQ(device_type(type)->def.memory_info, nullptr);
  EXPECT_EQ(device_type(type)->def.alignment, 64);
  EXPECT_TRUE(device_type(type)->has_streams());
}

// ---- Streams

TEST_F(StreamTest, IsCurrentPerThread) {
  EXPECT_EQ(device_text(main->device), device_text(device));
  EXPECT_NE(main->id, side->id);
  EXPECT_OK(set_current_stream(device, side));
  Stream* found = nullptr;
  EXPECT_OK(current_stream(device, &found));
  EXPECT_EQ(found, side);
  std::thread([&] {
    EXPECT_OK(current_stream(device, &found));
    EXPECT_EQ(found, main);
  }).join();
  Stream* there = nullptr;
  EXPECT_OK(current_stream(other_device, &there));
  EXPECT_EQ(device_text(there->device), device_text(other_device));
  EXPECT_OK(current_stream(device, &found));
  EXPECT_EQ(found, side);
  EXPECT_OK(set_current_stream(device, nullptr));
  EXPECT_OK(current_stream(device, &found));
  EXPECT_EQ(found, main);
  EXPECT_OK(current_stream(kCpu, &found));
  EXPECT_EQ(found, nullptr);
}

TEST_F(StreamTest, IsMadeOnceByManyThreads) {
  std::vector<Stream*> found(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] { EXPECT_OK(current_stream(other_device, &found[i])); });
  }
  for (std::thread& thread : threads) thread.join();
  for (Stream* stream : found) EXPECT_EQ(stream, found[0]);
}

TEST_F(StreamTest, IsRefusedWhereItDoesNotBelong) {
  const std::string name = "stream " + std::to_string(side->id) + " of " + device_text(device);
  EXPECT_EQ(message(set_current_stream(other_device, side)),
            name + " cannot be current on " + device_text(other_device));
  Stream* none = nullptr;
  EXPECT_EQ(message(create_stream(kCpu, &none)),
            "cpu has no streams: its calls have finished when they return");
  EXPECT_EQ(message(destroy_stream(main)), "stream " + std::to_string(main->id) + " of " +
                                               device_text(device) +
                                               " is the default stream, which cannot be destroyed");
  EXPECT_OK(destroy_stream(side));
  EXPECT_EQ(message(destroy_stream(side)), name + " was destroyed");
  EXPECT_EQ(message(set_current_stream(device, side)), name + " was destroyed");
  EXPECT_EQ(message(order_streams(main, side)), name + " was destroyed");
  EXPECT_OK(order_streams(side, main));  // its work is done
  EXPECT_OK(synchronize_stream(side));
}

TEST_F(StreamTest, ThatWasDestroyedIsCurrentNoMore) {
  EXPECT_OK(set_current_stream(device, side));
  bool ran = false;
  submit(side, [&] { ran = true; });
  EXPECT_OK(destroy_stream(side));
  EXPECT_TRUE(ran);
  Stream* found = nullptr;
  EXPECT_OK(current_stream(device, &found));
  EXPECT_EQ(found, main);
}

TEST_F(StreamTest, IsDestroyedBehindItsUsers) {
  bool ran = false;
  submit(side, [&] { ran = true; });
  std::atomic<bool> late_is_coming = false, gone = false;
  ASSERT_TRUE(enter_stream(side));
  std::thread destroyer([&] {
    EXPECT_OK(destroy_stream(side));
    gone = true;
  });
  // From its first moment on it is refused, ..
  while (message(set_current_stream(device, side)).empty()) std::this_thread::yield();
  // .. who comes late is told so when all of its work is done, ..
  std::thread late([&] {
    late_is_coming = true;
    EXPECT_FALSE(enter_stream(side));
    EXPECT_TRUE(ran);
  });
  while (!late_is_coming) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  // .. and who uses it goes on.
  EXPECT_FALSE(gone);
  leave_stream(side);
  destroyer.join();
  late.join();
  EXPECT_TRUE(ran);
}

TEST_F(StreamTest, RunsBehindAnotherWhenOrdered) {
  std::vector<int> order;
  submit(main, [&] { order.push_back(1); });
  EXPECT_OK(order_streams(main, side));
  submit(side, [&] { order.push_back(2); });
  submit(main, [&] { order.push_back(3); });
  EXPECT_OK(synchronize_stream(side));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_OK(synchronize_device(device));
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_F(StreamTest, UsesFewEvents) {
  for (int i = 0; i < 100; ++i) EXPECT_OK(order_streams(main, side));
  EXPECT_EQ(state.n_events, 1);
}

TEST_F(StreamTest, GivesBackAnEventThatCannotBeRecorded) {
  state.cannot_record = true;
  EXPECT_NE(message(order_streams(main, side)).find("not now"), std::string::npos);
  state.cannot_record = false;
  EXPECT_EQ(state.n_events, 1);
  EXPECT_EQ(state.n_events_destroyed, 1);
}

TEST_F(StreamTest, OfAnotherTypeIsWaitedForByTheHost) {
  static Lazy elsewhere;
  int32_t type = 0;
  ASSERT_OK(register_device(lazy_def("elsewhere", &elsewhere), "test", &type));
  Stream* far = nullptr;
  ASSERT_OK(current_stream({type, 0}, &far));
  bool ran = false;
  submit(main, [&] { ran = true; });
  EXPECT_OK(order_streams(main, far));
  EXPECT_TRUE(ran);
}

TEST_F(StreamTest, EndsAtShutdown) {
  bool ran = false;
  submit(main, [&] { ran = true; });
  EXPECT_OK(order_streams(main, side));
  close_streams(device.type);
  EXPECT_TRUE(ran);
  EXPECT_EQ(state.n_streams, 0);
  EXPECT_EQ(state.n_events, state.n_events_destroyed);
  Stream* found = nullptr;
  EXPECT_OK(current_stream(device, &found));
  EXPECT_OK(synchronize_stream(found));  // nothing is left to wait for
}

TEST(PlainStreams, HaveNoHandles) {
  static Lazy state;
  int32_t type = 0;
  ASSERT_OK(register_device(lazy_def("streamless", &state, false), "test", &type));
  Stream *first = nullptr, *second = nullptr;
  ASSERT_OK(current_stream({type, 0}, &first));
  ASSERT_OK(create_stream({type, 0}, &second));
  EXPECT_EQ(first->handle, nullptr);
  EXPECT_EQ(second->handle, nullptr);
  EXPECT_OK(order_streams(first, second));
  EXPECT_OK(synchronize_device({type, 0}));
  tn_storage* s = nullptr;
  ASSERT_OK(allocate_storage({type, 0}, first, 8, &s));
  EXPECT_OK(use_storage(s, second, true));
  EXPECT_EQ(s->hazards.load(), nullptr);
  s->release();
  EXPECT_OK(destroy_stream(second));
  EXPECT_OK(empty_cache({type, 0}));
}

TEST(PlainStreams, GiveAddressesOfTheAlignmentThatTheyState) {
  static Lazy state;
  int32_t type = 0;
  tn_device_def def = lazy_def("skewed", &state, false);
  def.alignment = 1 << 20;
  ASSERT_OK(register_device(def, "test", &type));
  void* memory = nullptr;
  const std::string text = message(slots::allocate({type, 0}, 4096, &memory));
  EXPECT_TRUE(text.starts_with("skewed:0 is lost: allocate")) << text;
  EXPECT_TRUE(text.ends_with("is no multiple of the alignment that it states, 1048576")) << text;
}

// Nothing is under way when a slot is called, so its error is not one of the launches before.
TEST(PlainStreams, HaveNoLateErrors) {
  static Lazy state;
  int32_t type = 0;
  ASSERT_OK(register_device(lazy_def("prompt", &state, false), "test", &type));
  Stream* stream = nullptr;
  ASSERT_OK(current_stream({type, 0}, &stream));
  tn_storage* s = nullptr;
  ASSERT_OK(allocate_storage({type, 0}, stream, 8, &s));
  note_launch(stream, "iota");
  state.faults = true;
  int64_t value = 0;
  const std::string text = message(read_bytes(&value, s, 0, 8));
  EXPECT_NE(text.find("because prompt:0 is lost: copy\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("the bus is gone")) << text;
  s->release();
}

}  // namespace
}  // namespace tenon
