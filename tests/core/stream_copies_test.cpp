// Copies and blobs between streams: what they are put behind, and what they keep until they are
// done.
#include <cstdlib>
#include <thread>

#include "lazy_device.h"
#include "memory/cache.h"
#include "memory/transfer.h"
#include "tensor/stream.h"

namespace tenon {
namespace {

// Read when memory is first used.
const int kPoisoning = setenv("TENON_POISON", "1", 1);

// ---- Transfers

using Transfer = StreamTest;

TEST_F(Transfer, WithinATypeIsOrderedOnBothSides) {
  Stream* there = nullptr;
  ASSERT_OK(current_stream(other_device, &there));
  tn_storage *src = make(side), *dst = make(there);
  write(src, side, 11);
  EXPECT_OK(copy_bytes(dst, 0, src, 0, 8));
  write(src, side, 12);  // not before the copy has read
  EXPECT_OK(synchronize_stream(side));
  src->release();
  int64_t value = 0;
  EXPECT_OK(read_bytes(&value, dst, 0, 8));
  EXPECT_EQ(value, 11);
  dst->release();
}

TEST_F(Transfer, KeepsTheSourceUntilItIsCopied) {
  tn_storage *src = make(main), *dst = make(side);
  write(src, main, 21);
  EXPECT_OK(set_current_stream(device, side));
  EXPECT_OK(copy_bytes(dst, 0, src, 0, 8));
  void* memory = src->memory;
  src->release();
  tn_storage* next = make(main);
  EXPECT_NE(next->memory, memory);
  int64_t value = 0;
  EXPECT_OK(read_bytes(&value, dst, 0, 8));
  EXPECT_EQ(value, 21);
  dst->release();
  next->release();
}

TEST_F(Transfer, WithTheHostHasFinishedOnReturn) {
  tn_storage* s = make(main);
  write(s, side, 1);
  int64_t value = 31;
  EXPECT_OK(write_bytes(s, 0, &value, 8));
  value = 0;  // the host's memory is the caller's again
  write(s, side, 32);
  tn_storage* host = nullptr;
  ASSERT_OK(allocate_storage(kCpu, nullptr, 8, &host));
  EXPECT_OK(copy_bytes(host, 0, s, 0, 8));
  EXPECT_EQ(*static_cast<int64_t*>(host->memory), 32);
  *static_cast<int64_t*>(host->memory) = 33;
  EXPECT_OK(copy_bytes(s, 0, host, 0, 8));
  *static_cast<int64_t*>(host->memory) = 0;
  EXPECT_OK(read_bytes(&value, s, 0, 8));
  EXPECT_EQ(value, 33);
  s->release();
  host->release();
}

TEST_F(Transfer, WritesBehindTheReadsOfOtherStreams) {
  tn_storage *s = make(main), *from = make(main);
  int64_t first = 0, second = 0;
  const int64_t after = 2;
  write(s, main, 1);
  write(from, main, 3);
  EXPECT_OK(synchronize_stream(main));
  read(s, side, &first);
  EXPECT_OK(write_bytes(s, 0, &after, 8));
  read(s, side, &second);
  EXPECT_OK(copy_bytes(s, 0, from, 0, 8));
  EXPECT_OK(synchronize_stream(main));
  EXPECT_OK(synchronize_stream(side));
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
  s->release();
  from->release();
}

TEST_F(Transfer, WithinAStorageIsOneUse) {
  tn_storage* s = nullptr;
  ASSERT_OK(allocate_storage(device, main, 16, &s));
  write(s, main, 51);
  EXPECT_OK(set_current_stream(device, side));
  EXPECT_OK(copy_bytes(s, 8, s, 0, 8));
  EXPECT_EQ(waits(), 1);
  int64_t value = 0;
  EXPECT_OK(read_bytes(&value, s, 8, 8));
  EXPECT_EQ(value, 51);
  s->release();
}

TEST_F(Transfer, BetweenTypesGoesThroughTheHost) {
  static Lazy elsewhere;
  int32_t type = 0;
  ASSERT_OK(register_device(lazy_def("faraway", &elsewhere), "test", &type));
  tn_storage* src = nullptr;
  tn_storage* dst = nullptr;
  const std::vector<char> bytes((17 << 20) + 5, 'x');  // more than one piece
  ASSERT_OK(allocate_storage(device, main, bytes.size(), &src));
  ASSERT_OK(allocate_storage({type, 1}, nullptr, bytes.size(), &dst));
  EXPECT_OK(write_bytes(src, 0, bytes.data(), bytes.size()));
  EXPECT_OK(copy_bytes(dst, 0, src, 0, bytes.size()));
  std::vector<char> back(bytes.size());
  EXPECT_OK(read_bytes(back.data(), dst, 0, back.size()));
  EXPECT_EQ(back, bytes);
  src->release();
  dst->release();
  EXPECT_OK(empty_cache({type, 1}));
}

// ---- Blobs

using BlobOnStream = StreamTest;

TEST_F(BlobOnStream, GoesBehindTheWorkThatFoundIt) {
  const int64_t sizes[] = {2};
  Tensor* t = nullptr;
  ASSERT_OK(empty_tensor(sizes, TN_FLOAT32, device, &t));
  static bool alive;
  alive = true;
  EXPECT_OK(
      attach_blob(t, main, 1, &alive, 10, [](void* blob) { *static_cast<bool*>(blob) = false; }));
  bool seen = false;
  std::thread dropper;
  {
    const CallBlobs call;
    EXPECT_EQ(find_blob(t, side, 1), &alive);
    // Dropped before the kernel has even put its work on the stream.
    std::thread([&] { EXPECT_EQ(drop_all_blobs(device), 10u); }).join();
    EXPECT_OK(synchronize_device(device));
    submit(side, [&] { seen = alive; });
  }
  EXPECT_TRUE(alive);
  EXPECT_OK(synchronize_stream(side));
  EXPECT_TRUE(seen);
  EXPECT_FALSE(alive);
  t->release();
}

TEST_F(BlobOnStream, GoesBehindTheWorkThatAttachedIt) {
  const int64_t sizes[] = {2};
  Tensor* t = nullptr;
  ASSERT_OK(empty_tensor(sizes, TN_FLOAT32, device, &t));
  static bool alive;
  alive = true;
  bool seen = false;
  EXPECT_OK(
      attach_blob(t, side, 1, &alive, 10, [](void* blob) { *static_cast<bool*>(blob) = false; }));
  submit(side, [&] { seen = alive; });
  t->release();
  EXPECT_OK(synchronize_stream(side));
  EXPECT_TRUE(seen);
  EXPECT_FALSE(alive);
}

// What a call puts on its stream makes the blob: until the call has returned, no other stream finds
// it, and then it is behind.
TEST_F(BlobOnStream, IsFoundElsewhereBehindTheWorkThatMakesIt) {
  const int64_t sizes[] = {2};
  Tensor* t = nullptr;
  ASSERT_OK(empty_tensor(sizes, TN_FLOAT32, device, &t));
  static int64_t packed;
  packed = 0;
  const auto attach = [&] {
    return attach_blob(t, main, 1, &packed, 10,
                       [](void* blob) { *static_cast<int64_t*>(blob) = -1; });
  };
  int64_t seen = 0, again = 0;
  {
    const CallBlobs call;
    EXPECT_OK(attach());
    EXPECT_EQ(find_blob(t, side, 1), nullptr) << "its work may not even be on the stream";
    EXPECT_EQ(find_blob(t, main, 1), &packed);
    submit(main, [] { packed = 7; });
  }
  {
    const CallBlobs call;
    EXPECT_EQ(find_blob(t, side, 1), &packed);
    submit(side, [&] { seen = packed; });
  }
  const int before = waits();
  EXPECT_EQ(find_blob(t, side, 1), &packed);
  submit(side, [&] { again = packed; });
  EXPECT_EQ(waits(), before) << "once a stream";
  EXPECT_OK(synchronize_stream(side));
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(again, 7);
  t->release();
  EXPECT_OK(synchronize_device(device));
  EXPECT_EQ(packed, -1);
}

}  // namespace
}  // namespace tenon
