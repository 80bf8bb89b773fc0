// Launches between streams: what a kernel reads, writes, finds and borrows, by a kernel of the test
// on the slow device.
#include <functional>
#include <thread>

#include "primitive/primitives.h"
#include "lazy_device.h"
#include "memory/cache.h"

namespace tenon {
namespace {

// What a kernel reads comes in its arguments in four ways, what it writes in its outputs.
struct Launch : StreamTest {
  void SetUp() override {
    StreamTest::SetUp();
    kernel.def.layout = TN_LAYOUT_STRIDED;
    kernel.def.self = &task;
    kernel.def.launch = [](void* self, const tn_call* call) -> tn_status* {
      (*static_cast<std::function<void(const tn_call*)>*>(self))(call);
      return nullptr;
    };
  }
  Tensor* tensor(Stream* stream) {
    const int64_t sizes[] = {1};
    return make_tensor(make(stream), sizes, nullptr, 0, TN_INT64);
  }
  // A launch on `side` that reads all of `in` and writes `out`.
  enum Kind { kPlain, kList, kLoop, kReduction };
  void launch_on_side(Kind kind, std::vector<tn_tensor*> in, Tensor* out) {
    EXPECT_OK(set_current_stream(device, side));
    std::vector<tn_operand> operands;
    const auto add = [&](const tn_tensor* t) {
      operands.push_back({t->data, t->strides, t->storage, 0, t->dtype, 0});
    };
    if (out != nullptr) add(out);
    for (const tn_tensor* t : in) add(t);
    tn_program program{};
    program.n_inputs = static_cast<uint32_t>(in.size());
    program.n_outputs = 1;
    tn_loop loop{};
    loop.program = &program;
    loop.operands = operands.data();
    tn_reduction reduction{};
    reduction.prologue = &program;
    reduction.operands = operands.data();
    std::vector<tn_value> args(kind == kPlain ? in.size() : 1);
    if (kind == kPlain) {
      for (size_t i = 0; i < in.size(); ++i) {
        args[i].kind = TN_KIND_TENSOR;
        args[i].as.tensor = in[i];
      }
    } else if (kind == kList) {
      args[0].kind = TN_KIND_TENSORS;
      args[0].count = static_cast<uint32_t>(in.size());
      args[0].as.tensors = in.data();
    } else if (kind == kLoop) {
      args[0].kind = TN_KIND_LOOP;
      args[0].as.loop = &loop;
    } else {
      args[0].kind = TN_KIND_REDUCTION;
      args[0].as.reduction = &reduction;
    }
    std::vector<Tensor*> outputs;
    if (out != nullptr) outputs.push_back(out);
    EXPECT_OK(launch(kernel, primitive_op(TN_PRIM_GATHER), device, args, outputs));
    EXPECT_OK(set_current_stream(device, nullptr));
  }

  int64_t stamp = 0;
  Kernel kernel{};
  std::function<void(const tn_call*)> task;
};

// The plugin of the device is there: to load others would not help.
TEST_F(Launch, OfAPrimitiveWithoutAKernelSaysThatNobodyBroughtOne) {
  const Kernel* none = nullptr;
  EXPECT_EQ(
      message(primitive_kernel(TN_PRIM_REDUCE, primitive_op(TN_PRIM_REDUCE), device, {}, 1, &none)),
      "reduce: device " + device_text(device) +
          " has no kernel for this call (no plugin brought one)");
}

TEST_F(Launch, IsBehindTheWritesOfWhatItReads) {
  for (const Kind kind : {kPlain, kList, kLoop, kReduction}) {
    SCOPED_TRACE(kind);
    Tensor *a = tensor(main), *b = tensor(main), *out = tensor(side);
    for (Tensor* late : {a, b}) {
      write(late->storage, main, ++stamp);  // memory comes again, and holds what was written last
      int64_t value = 0;
      task = [&](const tn_call* call) {
        EXPECT_EQ(call->stream, side);
        submit(side, [&value, from = static_cast<const int64_t*>(late->data)] { value = *from; });
      };
      launch_on_side(kind, {a, b}, out);
      EXPECT_OK(synchronize_stream(side));
      EXPECT_EQ(value, stamp);
      EXPECT_OK(synchronize_device(device));
    }
    for (Tensor* t : {a, b, out}) t->release();
  }
}

TEST_F(Launch, IsBehindTheReadsOfWhatItWrites) {
  for (const Kind kind : {kPlain, kList, kLoop, kReduction}) {
    SCOPED_TRACE(kind);
    Tensor *in = tensor(side), *out = tensor(main);
    const int64_t before = ++stamp, after = ++stamp;
    write(out->storage, main, before);
    int64_t value = 0;
    read(out->storage, main, &value);
    task = [&](const tn_call*) {
      submit(side, [after, at = static_cast<int64_t*>(out->data)] { *at = after; });
    };
    launch_on_side(kind, {in}, out);
    EXPECT_OK(synchronize_stream(side));
    EXPECT_OK(synchronize_stream(main));
    EXPECT_EQ(value, before);
    // It is noted as a write: a read elsewhere is behind it.
    int64_t written = 0;
    read(out->storage, main, &written);
    EXPECT_OK(synchronize_stream(main));
    EXPECT_EQ(written, after);
    for (Tensor* t : {in, out}) t->release();
  }
}

TEST_F(Launch, KeepsTheBlobsThatItsKernelFound) {
  Tensor* t = tensor(side);
  static bool alive;
  alive = true;
  EXPECT_OK(attach_blob(t, nullptr, 1, &alive, 10,
                        [](void* blob) { *static_cast<bool*>(blob) = false; }));
  bool seen = false;
  task = [&](const tn_call*) {
    EXPECT_EQ(find_blob(t, side, 1), &alive);
    std::thread([&] { drop_all_blobs(device); }).join();
    EXPECT_OK(synchronize_device(device));
    EXPECT_TRUE(alive);
    submit(side, [&] { seen = alive; });
  };
  launch_on_side(kPlain, {t}, nullptr);
  EXPECT_OK(synchronize_stream(side));
  EXPECT_TRUE(seen);
  EXPECT_FALSE(alive);
  t->release();
}

TEST_F(Launch, GivesItsWorkspaceBackBehindItsWork) {
  Tensor* t = tensor(side);
  void* workspace = nullptr;
  int64_t value = 0;
  task = [&](const tn_call* call) {
    EXPECT_OK(call_workspace(call, 8, &workspace));
    submit(side, [at = static_cast<int64_t*>(workspace)] { *at = 7; });
    submit(side, [&value, at = static_cast<int64_t*>(workspace)] { value = *at; });
  };
  launch_on_side(kPlain, {t}, nullptr);
  tn_memory_stats stats{};
  stats.size = sizeof(stats);
  EXPECT_OK(memory_stats(device, &stats));
  EXPECT_EQ(stats.allocated, 8u);  // the tensor's
  tn_storage* elsewhere = make(main);
  EXPECT_NE(elsewhere->memory, workspace);
  EXPECT_OK(synchronize_device(device));
  EXPECT_EQ(value, 7);
  elsewhere->release();
  t->release();
}

}  // namespace
}  // namespace tenon
