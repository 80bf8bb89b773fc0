// The backend ref alone, under the small host of ref_host.h: memory, streams, and each kernel
// against numbers from closed forms. The evaluator of programs has ref_program_test.cpp.
#include "ref_host.h"

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace ref_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Ref : public testing::Test {
 protected:
  Ref() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  Stream stream_;
};

// ---- What it registers ----

TEST_F(Ref, RegistersADeviceAndEveryPrimitive) {
  EXPECT_STREQ(plugin().manifest->id, "ref");
  EXPECT_EQ(plugin().manifest->abi_min, TN_ABI_VERSION);
  EXPECT_EQ(device().count(device().self), 2);
  EXPECT_EQ(device().lower_precision, TN_BFLOAT16);
  for (const tn_primitive primitive :
       {TN_PRIM_ELEMENTWISE, TN_PRIM_REDUCE, TN_PRIM_MATMUL, TN_PRIM_COPY, TN_PRIM_FILL,
        TN_PRIM_IOTA, TN_PRIM_GATHER, TN_PRIM_SCATTER, TN_PRIM_RANDOM_BITS, TN_PRIM_NONZERO}) {
    ASSERT_TRUE(record().kernels.count(primitive)) << primitive;
    EXPECT_STREQ(record().kernels[primitive].device, "ref");
  }
  EXPECT_EQ(record().kernels.size(), 10u);
}

// ---- Memory ----

TEST_F(Ref, TouchOfTheHostEndsTheProcess) {
  Tensor x({4}, TN_FLOAT32);
  EXPECT_DEATH(*static_cast<volatile float*>(x.data()) = 1, "");
  EXPECT_DEATH(std::printf("%f", *static_cast<volatile float*>(x.data())), "");
}

TEST_F(Ref, FreshMemoryIsNanInEveryFloatDtype) {
  Tensor x({1 << 18}, TN_FLOAT64);  // more than any test before it touched
  for (const double value : stream_.download<double>(x)) ASSERT_TRUE(std::isnan(value));
  for (const float value : stream_.download<float>(x)) ASSERT_TRUE(std::isnan(value));
  for (const uint16_t half : stream_.download<uint16_t>(x)) {
    ASSERT_EQ(half & 0x7C00, 0x7C00);  // exponent of a float16 NaN, and of a bfloat16 NaN
    ASSERT_EQ(half & 0x7F80, 0x7F80);
    ASSERT_NE(half & 0x007F, 0);
  }
}

TEST_F(Ref, FreedMemoryIsPoisonedBeforeItIsGivenOutAgain) {
  void* first = nullptr;
  {
    Tensor x({4}, TN_INT32);
    stream_.upload<int32_t>(x, {1, 2, 3, 4});
    first = x.data();
  }
  Tensor y({4}, TN_INT32);
  EXPECT_EQ(y.data(), first);
  EXPECT_EQ(stream_.download<uint32_t>(y), std::vector<uint32_t>(4, 0xFFFBFFFB));
}

TEST_F(Ref, BlocksAreAlignedAndApart) {
  Tensor x({1}, TN_UINT8), y({1}, TN_UINT8);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x.data()) % 64, 0u);
  EXPECT_GE(std::abs(static_cast<char*>(y.data()) - static_cast<char*>(x.data())), 256);
}

TEST_F(Ref, MoreThanTheDeviceHasIsNullAndNoError) {
  void* memory = &memory;
  EXPECT_EQ(text(device().allocate(device().self, 0, uint64_t{1} << 50, &memory)), "");
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(text(device().allocate(device().self, 0, ~uint64_t{0}, &memory)), "");
  EXPECT_EQ(memory, nullptr);
}

// In a child process, since the damage is counted until shutdown.
int shut_down_after_overrun() {
  Stream stream;
  {
    Tensor x({5}, TN_UINT8, 0, {1}, 4);  // 5 elements in 4 bytes
    stream.launch(TN_PRIM_FILL, {integer(7)}, {&x.tensor});
    stream.synchronize();
  }
  const std::string failed = text(plugin().shutdown(plugin().self));
  std::fprintf(stderr, "%s%s\n", record().log.c_str(), failed.c_str());
  return failed.empty() ? 0 : 3;
}

int shut_down_after_write_to_freed() {
  Stream stream;
  auto x = std::make_unique<Tensor>(std::vector<int64_t>{4}, TN_FLOAT32);
  tn_tensor gone = x->tensor;
  const int64_t sizes[] = {4}, strides[] = {1};
  gone.sizes = sizes;
  gone.strides = strides;
  x.reset();
  stream.launch(TN_PRIM_FILL, {number(1)}, {&gone});
  stream.synchronize();
  const Tensor y({4}, TN_FLOAT32);  // the same place
  std::fprintf(stderr, "%s", record().log.c_str());
  return text(plugin().shutdown(plugin().self)).empty() ? 0 : 3;
}

int shut_down_after_good_work() {
  Stream stream;
  Tensor x({5}, TN_UINT8);
  stream.launch(TN_PRIM_FILL, {integer(7)}, {&x.tensor});
  const std::string failed = text(plugin().shutdown(plugin().self));  // with work under way
  return failed.empty() && record().kept == record().released ? 0 : 3;
}

// The host's part of an upload: what a stream has still to read stays as it is, pinned or not.
int shut_down_after_touching_a_source(bool pins) {
  Stream held;
  const tn_device_def& def = record().devices.at("ref");
  Tensor x({4}, TN_FLOAT32);
  std::vector<float> plain(4);
  void* pinned = nullptr;
  text(def.allocate_host(def.self, 0, 16, &pinned));
  auto* from = pins ? static_cast<float*>(pinned) : plain.data();
  held.hold(x);
  held.copy(x.tensor.device, x.data(), {TN_DEVICE_CPU, 0}, from, 16);
  from[3] = 7;
  record().gate.open();
  held.synchronize();
  std::fprintf(stderr, "%s", record().log.c_str());
  const std::string failed = text(plugin().shutdown(plugin().self));
  std::fprintf(stderr, "%s", failed.c_str());
  return failed.empty() ? 0 : 3;
}

int shut_down_after_freeing_a_source() {
  Stream held;
  const tn_device_def& def = record().devices.at("ref");
  Tensor x({4}, TN_FLOAT32);
  void* pinned = nullptr;
  text(def.allocate_host(def.self, 0, 16, &pinned));
  std::memset(pinned, 0, 16);
  held.hold(x);
  held.copy(x.tensor.device, x.data(), {TN_DEVICE_CPU, 0}, pinned, 16);
  def.free_host(def.self, 0, pinned, 16);
  record().gate.open();
  held.synchronize();
  std::fprintf(stderr, "%s", record().log.c_str());
  return text(plugin().shutdown(plugin().self)).empty() ? 0 : 3;
}

int shut_down_after_overrun_of_pinned_memory() {
  plugin();
  const tn_device_def& def = record().devices.at("ref");
  void* pinned = nullptr;
  text(def.allocate_host(def.self, 0, 16, &pinned));
  std::memset(pinned, 0, 17);
  def.free_host(def.self, 0, pinned, 16);
  def.free_host(def.self, 0, pinned, 16);
  std::fprintf(stderr, "%s", record().log.c_str());
  return text(plugin().shutdown(plugin().self)).empty() ? 0 : 3;
}

TEST_F(Ref, HostMemoryTouchedBeforeItsCopyIsLoggedAndFailsShutdown) {
  EXPECT_EXIT(std::_Exit(shut_down_after_touching_a_source(false)), testing::ExitedWithCode(3),
              "ref: host memory changed or freed before its copy at 0x.*\nref: 1 touches of host "
              "memory before a copy was done");
  EXPECT_EXIT(std::_Exit(shut_down_after_touching_a_source(true)), testing::ExitedWithCode(3),
              "ref: host memory changed or freed before its copy at 0x");
  EXPECT_EXIT(std::_Exit(shut_down_after_freeing_a_source()), testing::ExitedWithCode(3),
              "ref: host memory changed or freed before its copy at 0x[0-9a-f]*\n$");
}

TEST_F(Ref, OverrunAndSecondFreeOfPinnedMemoryAreLoggedAndFailShutdown) {
  EXPECT_EXIT(std::_Exit(shut_down_after_overrun_of_pinned_memory()), testing::ExitedWithCode(3),
              "overrun or write after free at 0x.*\nref: free of no block at 0x");
}

TEST_F(Ref, OverrunIsLoggedAndFailsShutdown) {
  EXPECT_EXIT(std::_Exit(shut_down_after_overrun()), testing::ExitedWithCode(3),
              "overrun or write after free at 0x.*\nref: 1 writes outside of live blocks");
}

TEST_F(Ref, WriteAfterFreeIsLoggedAndFailsShutdown) {
  EXPECT_EXIT(std::_Exit(shut_down_after_write_to_freed()), testing::ExitedWithCode(3),
              "overrun or write after free at 0x");
}

TEST_F(Ref, ShutdownDoesWhatWasEnqueuedAndEndsTheThreads) {
  EXPECT_EXIT(std::_Exit(shut_down_after_good_work()), testing::ExitedWithCode(0), "");
}

TEST_F(Ref, CopiesBetweenHostAndBothDevices) {
  Tensor x({3}, TN_INT32, 0), y({3}, TN_INT32, 1), z({3}, TN_INT32, 0);
  stream_.upload<int32_t>(x, {1, 2, 3});
  stream_.copy(y.tensor.device, y.data(), x.tensor.device, x.data(), 12);
  stream_.copy(z.tensor.device, z.data(), y.tensor.device, y.data(), 12);
  EXPECT_EQ(stream_.download<int32_t>(z), (std::vector<int32_t>{1, 2, 3}));
}

TEST_F(Ref, FillBytesWritesInTheStream) {
  Tensor x({4}, TN_UINT8);
  stream_.upload<uint8_t>(x, {9, 9, 9, 9});
  EXPECT_EQ(text(device().fill_bytes(device().self, &stream_.stream, x.data(), 1, 0xAB, 2)), "");
  EXPECT_EQ(stream_.download<uint8_t>(x), (std::vector<uint8_t>{9, 0xAB, 0xAB, 9}));
}

// ---- Streams and events ----

struct Event {
  Event() { text(device().event_create(device().self, 0, &handle)); }
  ~Event() { device().event_destroy(device().self, 0, handle); }
  void record(Stream& stream) {
    text(device().event_record(device().self, 0, handle, stream.stream.handle));
  }
  void make_wait(Stream& stream) {
    text(device().stream_wait_event(device().self, 0, stream.stream.handle, handle));
  }
  bool done() {
    int32_t done = -1;
    text(device().event_query(device().self, 0, handle, &done));
    return done == 1;
  }
  std::string synchronize() { return text(device().event_synchronize(device().self, 0, handle)); }
  void* handle = nullptr;
};

TEST_F(Ref, ALaunchReturnsBeforeItsWorkIsDone) {
  Stream held;
  Tensor x({1}, TN_FLOAT32);
  Event event;
  EXPECT_TRUE(event.done());  // never recorded
  record().gate.shut();
  EXPECT_EQ(held.launch(TN_PRIM_FILL, {number(1)}, {&x.tensor}), "");
  event.record(held);
  EXPECT_FALSE(event.done());
  record().gate.open();
  EXPECT_EQ(event.synchronize(), "");
  EXPECT_TRUE(event.done());
  EXPECT_EQ(stream_.download<float>(x), std::vector<float>{1});
}

TEST_F(Ref, AStreamRunsInOrder) {
  Stream slow(0, 1000);
  Tensor x({1}, TN_INT64), y({1}, TN_INT64);
  for (int64_t i = 0; i < 20; ++i) slow.launch(TN_PRIM_FILL, {integer(i)}, {&x.tensor});
  slow.launch(TN_PRIM_COPY, {x}, {&y.tensor});
  EXPECT_EQ(slow.download<int64_t>(y), std::vector<int64_t>{19});
}

TEST_F(Ref, AStreamWaitsForAnEventOfAnother) {
  Stream held(1), other(0);
  Tensor x({1}, TN_FLOAT32, 1), y({1}, TN_FLOAT32, 0), z({1}, TN_FLOAT32, 1);
  Event event, last;
  held.hold(z);
  held.launch(TN_PRIM_FILL, {number(5)}, {&x.tensor});
  event.record(held);
  event.make_wait(other);
  other.copy({2, 0}, y.data(), {2, 1}, x.data(), 4);
  record().gate.open();
  EXPECT_EQ(other.download<float>(y), std::vector<float>{5});
  EXPECT_TRUE(event.done());
  held.hold(z);  // behind the event: no part of it
  last.record(held);
  EXPECT_TRUE(event.done());
  EXPECT_FALSE(last.done());
  record().gate.open();
  held.synchronize();
}

TEST_F(Ref, WithoutAnEventTheOtherStreamReadsPoison) {
  Stream held(0), other(0);
  Tensor x({1}, TN_FLOAT32), y({1}, TN_FLOAT32), z({1}, TN_FLOAT32);
  held.hold(z);
  held.launch(TN_PRIM_FILL, {number(5)}, {&x.tensor});
  other.launch(TN_PRIM_COPY, {x}, {&y.tensor});
  record().gate.await(2);
  record().gate.open();
  EXPECT_TRUE(std::isnan(other.download<float>(y)[0]));
  held.synchronize();
}

TEST_F(Ref, AnEventOutlivesItsStream) {
  Event event;
  Tensor x({1}, TN_FLOAT32);
  {
    Stream other(0, 1000);
    other.launch(TN_PRIM_FILL, {number(1)}, {&x.tensor});
    event.record(other);
  }
  EXPECT_TRUE(event.done());
  EXPECT_EQ(event.synchronize(), "");
}

TEST_F(Ref, EveryKeptCallIsReleasedOnceItsWorkIsDone) {
  Tensor x({1}, TN_FLOAT32);
  for (int i = 0; i < 50; ++i) stream_.launch(TN_PRIM_FILL, {number(i)}, {&x.tensor});
  stream_.synchronize();
  EXPECT_EQ(record().kept, record().released);
}

TEST_F(Ref, AnErrorOfTheWorkIsGivenByTheNextSynchronizeOnce) {
  Tensor x({2, 3}, TN_FLOAT32), index({2, 1}, TN_INT64), y({2, 1}, TN_FLOAT32);
  stream_.upload<int64_t>(index, {1, 3});
  EXPECT_EQ(stream_.launch(TN_PRIM_GATHER, {x, integer(1), index}, {&y.tensor}), "");
  EXPECT_EQ(stream_.synchronize(),
            "gather: index 3 is out of range for dimension 1 of size 3 (ref:0)");
  EXPECT_EQ(stream_.synchronize(), "");

  stream_.upload<int64_t>(index, {-1, 0});
  Event event;
  stream_.launch(TN_PRIM_SCATTER, {index, integer(0), y, integer(1, TN_KIND_BOOL)}, {&x.tensor});
  event.record(stream_);
  EXPECT_EQ(event.synchronize(),
            "scatter: index -1 is out of range for dimension 0 of size 2 (ref:0)");
  EXPECT_EQ(event.synchronize(), "");
}

TEST_F(Ref, AnErrorThatNobodyAskedForIsLogged) {
  Tensor x({2}, TN_FLOAT32), index({1}, TN_INT64), y({1}, TN_FLOAT32);
  stream_.upload<int64_t>(index, {2});
  Stream(0).launch(TN_PRIM_GATHER, {x, integer(0), index}, {&y.tensor});
  EXPECT_NE(record().log.find("gather: index 2 is out of range for dimension 0 of size 2 (ref:0)"),
            std::string::npos);
}

TEST_F(Ref, MemoryOfOthersIsAnErrorAndNoCrash) {
  float host_memory[2] = {};
  Tensor x({2}, TN_FLOAT32);
  tn_tensor foreign = x.tensor;
  foreign.data = host_memory;
  EXPECT_EQ(stream_.launch(TN_PRIM_FILL, {number(1)}, {&foreign}), "");
  EXPECT_EQ(stream_.synchronize(), "fill: an operand is not memory of this backend (ref)");
}

// ---- Kernels ----

TEST_F(Ref, MatmulTakesTransposedAndBroadcastOperands) {
  Tensor a({1, 3, 2}, TN_FLOAT32), b({2, 2, 2}, TN_FLOAT32), y({2, 2, 2}, TN_FLOAT32);
  stream_.upload<float>(a, {1, 2, 3, 4, 5, 6});
  stream_.upload<float>(b, {1, 0, 0, 1, 1, 2, 3, 4});
  const int64_t sizes[] = {2, 2, 2},
                strides[] = {0, 1, 2};  // rows 0 and 1 of a, transposed, for both batches
  tn_tensor view = a.tensor;
  view.sizes = sizes;
  view.strides = strides;
  tn_value value = {TN_KIND_TENSOR};
  value.as.tensor = &view;
  EXPECT_EQ(stream_.launch(TN_PRIM_MATMUL, {value, b}, {&y.tensor}), "");
  // [[1, 3], [2, 4]] times the identity and times [[1, 2], [3, 4]].
  EXPECT_EQ(stream_.download<float>(y), (std::vector<float>{1, 3, 2, 4, 10, 14, 14, 20}));
}

TEST_F(Ref, MatmulAddsHalvesExactly) {
  Tensor a({1, 1, 4096}, TN_FLOAT16), b({1, 4096, 1}, TN_FLOAT16), y({1, 1, 1}, TN_FLOAT16);
  stream_.launch(TN_PRIM_FILL, {number(1)}, {&a.tensor});
  stream_.launch(TN_PRIM_FILL, {number(1)}, {&b.tensor});
  stream_.launch(TN_PRIM_MATMUL, {a, b}, {&y.tensor});
  EXPECT_EQ(stream_.download<uint16_t>(y),
            std::vector<uint16_t>{0x6C00});  // 4096; adding in float16 stops at 2048
}

TEST_F(Ref, MatmulOverNothingIsZero) {
  Tensor a({1, 2, 0}, TN_FLOAT64), b({1, 0, 1}, TN_FLOAT64), y({1, 2, 1}, TN_FLOAT64);
  stream_.launch(TN_PRIM_MATMUL, {a, b}, {&y.tensor});
  EXPECT_EQ(stream_.synchronize(), "");
  EXPECT_EQ(stream_.download<double>(y), (std::vector<double>{0, 0}));
}

TEST_F(Ref, CopyReordersAndCasts) {
  Tensor x({2, 3}, TN_FLOAT64), y({2, 3}, TN_INT32, 0, {1, 2}, 6);
  stream_.upload<double>(x, {1.9, -1.9, 3, 4, 5, 4294967297.0});
  EXPECT_EQ(stream_.launch(TN_PRIM_COPY, {x}, {&y.tensor}), "");
  EXPECT_EQ(stream_.download<int32_t>(y), (std::vector<int32_t>{1, 4, -1, 5, 3, 1}));
}

TEST_F(Ref, FillAndIotaTakeFloatsAndIntegers) {
  Tensor x({3}, TN_BFLOAT16), big({2}, TN_INT64), y({4}, TN_FLOAT32), flags({2}, TN_BOOL);
  stream_.launch(TN_PRIM_FILL, {number(1.5)}, {&x.tensor});
  stream_.launch(TN_PRIM_IOTA, {integer((int64_t{1} << 53) + 1), integer(2)}, {&big.tensor});
  stream_.launch(TN_PRIM_IOTA, {number(1), number(-0.25)}, {&y.tensor});
  stream_.launch(TN_PRIM_FILL, {integer(1, TN_KIND_BOOL)}, {&flags.tensor});
  EXPECT_EQ(stream_.download<uint16_t>(x), std::vector<uint16_t>(3, 0x3FC0));
  EXPECT_EQ(stream_.download<int64_t>(big),
            (std::vector<int64_t>{9007199254740993, 9007199254740995}));
  EXPECT_EQ(stream_.download<float>(y), (std::vector<float>{1, 0.75, 0.5, 0.25}));
  EXPECT_EQ(stream_.download<uint8_t>(flags), (std::vector<uint8_t>{1, 1}));
}

TEST_F(Ref, GatherPicksAlongADimension) {
  Tensor x({2, 3}, TN_FLOAT32), index({2, 2}, TN_INT64), y({2, 2}, TN_FLOAT32);
  stream_.upload<float>(x, {1, 2, 3, 4, 5, 6});
  stream_.upload<int64_t>(index, {2, 0, 1, 1});
  stream_.launch(TN_PRIM_GATHER, {x, integer(1), index}, {&y.tensor});
  EXPECT_EQ(stream_.download<float>(y), (std::vector<float>{3, 1, 5, 5}));
  stream_.upload<int64_t>(index, {1, 0, 0, 1});
  stream_.launch(TN_PRIM_GATHER, {x, integer(0), index}, {&y.tensor});
  EXPECT_EQ(stream_.download<float>(y), (std::vector<float>{4, 2, 1, 5}));
}

TEST_F(Ref, ScatterSetsAndAdds) {
  Tensor y({3}, TN_INT64), index({4}, TN_INT64), src({4}, TN_INT64);
  stream_.upload<int64_t>(y, {100, 200, 300});
  stream_.upload<int64_t>(index, {2, 0, 2, 2});
  stream_.upload<int64_t>(src, {1, 2, 3, 4});
  stream_.launch(TN_PRIM_SCATTER, {index, integer(0), src, integer(1, TN_KIND_BOOL)}, {&y.tensor});
  EXPECT_EQ(stream_.download<int64_t>(y), (std::vector<int64_t>{102, 200, 308}));
  stream_.upload<int64_t>(index, {2, 0, 1, 1});
  stream_.upload<int64_t>(src, {1, 2, 3, 3});
  stream_.launch(TN_PRIM_SCATTER, {index, integer(0), src, integer(0, TN_KIND_BOOL)}, {&y.tensor});
  EXPECT_EQ(stream_.download<int64_t>(y), (std::vector<int64_t>{2, 3, 1}));
}

TEST_F(Ref, NonzeroMakesItsOutput) {
  Tensor x({2, 3}, TN_FLOAT32);
  stream_.upload<float>(x, {0, 1, -0.0f, kNan, 0, 2});
  EXPECT_EQ(stream_.launch(TN_PRIM_NONZERO, {x}, {nullptr}), "");
  const tn_tensor* y = stream_.dynamic_output;
  ASSERT_NE(y, nullptr);
  EXPECT_EQ(y->sizes[0], 3);
  EXPECT_EQ(y->sizes[1], 2);
  std::vector<int64_t> rows(6);
  stream_.copy({TN_DEVICE_CPU, 0}, rows.data(), y->device, y->data, 48);
  stream_.synchronize();
  EXPECT_EQ(rows, (std::vector<int64_t>{0, 1, 1, 0, 1, 2}));
  stream_.upload<float>(x, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(stream_.launch(TN_PRIM_NONZERO, {x}, {nullptr}), "");
  EXPECT_EQ(stream_.dynamic_output->numel, 0);
  EXPECT_EQ(stream_.synchronize(), "");
}

// A second writing of the algorithm, held against the known answers of Random123's kat_vectors.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (uint32_t round = 0; round < 10; ++round) {
    const uint64_t even = uint64_t{c[0]} * 0xD2511F53u, odd = uint64_t{c[2]} * 0xCD9E8D57u;
    const uint32_t k0 = k[0] + round * 0x9E3779B9u, k1 = k[1] + round * 0xBB67AE85u;
    c = {uint32_t(odd >> 32) ^ c[1] ^ k0, uint32_t(odd), uint32_t(even >> 32) ^ c[3] ^ k1,
         uint32_t(even)};
  }
  return c;
}

TEST_F(Ref, RandomBitsArePhilox) {
  using Four = std::array<uint32_t, 4>;
  constexpr uint32_t kAll = 0xffffffff;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({kAll, kAll, kAll, kAll}, {kAll, kAll}),
            (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));

  Tensor x({10}, TN_INT32), state({2}, TN_INT64);
  const tn_random zero = {0, 0, nullptr};
  stream_.launch(TN_PRIM_RANDOM_BITS, {}, {&x.tensor}, &zero);
  const std::vector<uint32_t> first = stream_.download<uint32_t>(x);
  EXPECT_EQ(std::vector<uint32_t>(first.begin(), first.begin() + 4),
            (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));

  const uint64_t seed = 0x299f31d0a4093822, offset = 0x0370734413198a2e;
  const tn_random random = {seed, offset, nullptr};
  stream_.launch(TN_PRIM_RANDOM_BITS, {}, {&x.tensor}, &random);
  const std::vector<uint32_t> bits = stream_.download<uint32_t>(x);
  for (uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(bits[i], philox({i / 4, 0, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0})[i % 4])
        << i;
  }
  stream_.upload<uint64_t>(state, {seed, offset});  // the state on the device decides
  const tn_random on_device = {1, 2, &state.tensor};
  stream_.launch(TN_PRIM_RANDOM_BITS, {}, {&x.tensor}, &on_device);
  EXPECT_EQ(stream_.download<uint32_t>(x), bits);
}

}  // namespace
}  // namespace ref_test
