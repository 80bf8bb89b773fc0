// The tests' own driver does what the documentation of CUDA says of streams that capture, and of
// graphs: what is allowed is recorded, and what is not is refused and makes the capture invalid.
// Its streams are slow here.
#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <thread>

namespace {

// An entry of the driver, by the name that its header gives it.
template <class Entry>
Entry entry(const char* name) {
  static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Entry>(::dlsym(library, name));
}
#define TEXT(name) #name
#define ENTRY(name) entry<decltype(&::name)>(TEXT(name))

void expect_ok(CUresult result) { EXPECT_EQ(result, CUDA_SUCCESS); }

struct FakeDriver : testing::Test {
  static void SetUpTestSuite() {
    expect_ok(ENTRY(cuInit)(0));
    CUcontext context = nullptr;
    expect_ok(ENTRY(cuDevicePrimaryCtxRetain)(&context, 0));
  }
  void SetUp() override {
    use_device();
    for (CUstream* s : {&a, &b}) expect_ok(ENTRY(cuStreamCreate)(s, CU_STREAM_NON_BLOCKING));
    expect_ok(ENTRY(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING));
    expect_ok(ENTRY(cuMemAlloc)(&memory, 8));
  }
  void TearDown() override {
    if (graph) expect_ok(ENTRY(cuGraphDestroy)(graph));
    if (exec) expect_ok(ENTRY(cuGraphExecDestroy)(exec));
    for (CUstream s : {a, b}) expect_ok(ENTRY(cuStreamDestroy)(s));
    expect_ok(ENTRY(cuEventDestroy)(event));
    if (memory) expect_ok(ENTRY(cuMemFree)(memory));
  }
  static void use_device() {
    CUcontext context = nullptr;
    expect_ok(ENTRY(cuDevicePrimaryCtxRetain)(&context, 0));
    expect_ok(ENTRY(cuCtxSetCurrent)(context));
  }
  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED) {
    expect_ok(ENTRY(cuStreamBeginCapture)(a, mode));
  }
  CUresult end(CUstream stream) { return ENTRY(cuStreamEndCapture)(stream, &graph); }
  void expect_invalid() {
    EXPECT_EQ(end(a), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
  }
  CUresult fill(CUstream stream, unsigned char byte) {
    return ENTRY(cuMemsetD8Async)(memory, byte, 8, stream);
  }
  unsigned char read() {
    unsigned char bytes[8] = {};
    expect_ok(ENTRY(cuMemcpyDtoHAsync)(bytes, memory, 8, b));
    expect_ok(ENTRY(cuStreamSynchronize)(b));
    return bytes[3];
  }

  CUstream a = nullptr, b = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
};

TEST_F(FakeDriver, DoesWhatWasRecordedWhenTheGraphIsLaunched) {
  expect_ok(fill(b, 1));
  begin();
  expect_ok(fill(a, 2));
  EXPECT_EQ(read(), 1);
  expect_ok(end(a));
  expect_ok(ENTRY(cuGraphInstantiate)(&exec, graph, 0));
  EXPECT_EQ(read(), 1);
  for (int i = 0; i < 2; ++i) {
    expect_ok(fill(b, 1));
    expect_ok(ENTRY(cuGraphLaunch)(exec, b));
    EXPECT_EQ(read(), 2);
  }
}

TEST_F(FakeDriver, LaunchesOfOneGraphRunBehindEachOther) {
  begin();
  expect_ok(fill(a, 2));
  expect_ok(end(a));
  expect_ok(ENTRY(cuGraphInstantiate)(&exec, graph, 0));
  for (unsigned char i = 0; i < 20; ++i) expect_ok(fill(a, i));
  expect_ok(ENTRY(cuGraphLaunch)(exec, a));
  expect_ok(ENTRY(cuGraphLaunch)(exec, b));
  expect_ok(ENTRY(cuStreamSynchronize)(b));
  expect_ok(ENTRY(cuEventRecord)(event, a));
  expect_ok(ENTRY(cuEventQuery)(event));  // the launch on b was behind the one on a
}

TEST_F(FakeDriver, RefusesToWaitForAStreamThatCaptures) {
  begin();
  EXPECT_EQ(ENTRY(cuStreamSynchronize)(a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(fill(a, 1), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_invalid();
  expect_ok(fill(a, 1));  // it works on as before
}

TEST_F(FakeDriver, RefusesToAskForAnEventThatWasCaptured) {
  begin();
  expect_ok(ENTRY(cuEventRecord)(event, a));
  EXPECT_EQ(ENTRY(cuEventQuery)(event), CUDA_ERROR_CAPTURED_EVENT);
  expect_invalid();
  EXPECT_EQ(ENTRY(cuEventSynchronize)(event), CUDA_ERROR_CAPTURED_EVENT);
  expect_ok(ENTRY(cuEventRecord)(event, b));
  expect_ok(ENTRY(cuEventSynchronize)(event));
}

TEST_F(FakeDriver, RefusesWhatIsUnsafeInTheModesThatSaySo) {
  const auto allocate = [](CUresult* result) {
    use_device();
    CUdeviceptr more = 0;
    *result = ENTRY(cuMemAlloc)(&more, 8);
    if (*result == CUDA_SUCCESS) expect_ok(ENTRY(cuMemFree)(more));
  };
  const auto expect = [&](CUstreamCaptureMode mode, bool same_thread, CUresult expected) {
    begin(mode);
    CUresult result = CUDA_SUCCESS;
    same_thread ? allocate(&result) : std::thread(allocate, &result).join();
    EXPECT_EQ(result, expected) << mode << same_thread;
    if (expected != CUDA_SUCCESS) return expect_invalid();
    expect_ok(end(a));
    expect_ok(ENTRY(cuGraphDestroy)(std::exchange(graph, nullptr)));
  };
  for (const bool same_thread : {true, false}) {
    expect(CU_STREAM_CAPTURE_MODE_GLOBAL, same_thread, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect(CU_STREAM_CAPTURE_MODE_RELAXED, same_thread, CUDA_SUCCESS);
  }
  expect(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, true, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, false, CUDA_SUCCESS);
}

TEST_F(FakeDriver, AStreamThatWaitsForACapturedEventJoinsAndMustBeJoined) {
  for (const bool joins_back : {true, false}) {
    begin();
    expect_ok(fill(a, 1));
    expect_ok(ENTRY(cuEventRecord)(event, a));
    expect_ok(ENTRY(cuStreamWaitEvent)(b, event, 0));
    expect_ok(fill(b, 2));
    if (joins_back) {
      expect_ok(ENTRY(cuEventRecord)(event, b));
      expect_ok(ENTRY(cuStreamWaitEvent)(a, event, 0));
    } else {
      expect_ok(fill(a, 3));
    }
    EXPECT_EQ(end(a), joins_back ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    if (!joins_back) continue;
    expect_ok(ENTRY(cuGraphInstantiate)(&exec, graph, 0));
    expect_ok(ENTRY(cuGraphDestroy)(std::exchange(graph, nullptr)));
    expect_ok(ENTRY(cuGraphLaunch)(exec, b));
    EXPECT_EQ(read(), 2);
  }
}

TEST_F(FakeDriver, RefusesDependenciesThatCrossTheBorderOfACapture) {
  expect_ok(ENTRY(cuEventRecord)(event, b));
  begin();
  EXPECT_EQ(ENTRY(cuStreamWaitEvent)(a, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  expect_invalid();
  begin();
  expect_ok(ENTRY(cuEventRecord)(event, a));
  expect_ok(ENTRY(cuStreamBeginCapture)(b, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(ENTRY(cuStreamWaitEvent)(b, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  expect_invalid();
  EXPECT_EQ(end(b), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(FakeDriver, ACaptureIsEndedWhereItBegan) {
  EXPECT_EQ(end(a), CUDA_ERROR_ILLEGAL_STATE);
  begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(ENTRY(cuStreamBeginCapture)(a, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_ERROR_ILLEGAL_STATE);
  CUresult result = CUDA_SUCCESS;
  std::thread([&] {
    use_device();
    result = end(a);
  }).join();
  EXPECT_EQ(result, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  expect_invalid();
  begin();
  expect_ok(ENTRY(cuEventRecord)(event, a));
  expect_ok(ENTRY(cuStreamWaitEvent)(b, event, 0));
  EXPECT_EQ(end(b), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  expect_invalid();
}

TEST_F(FakeDriver, ReportsMemoryThatWasFreedUnderAGraph) {
  begin();
  expect_ok(fill(a, 1));
  expect_ok(end(a));
  expect_ok(ENTRY(cuGraphInstantiate)(&exec, graph, 0));
  expect_ok(ENTRY(cuMemFree)(std::exchange(memory, 0)));
  const auto launch = [this] {  // on a stream whose thread is there in the process that dies
    CUstream c = nullptr;
    ENTRY(cuStreamCreate)(&c, CU_STREAM_NON_BLOCKING);
    ENTRY(cuGraphLaunch)(exec, c);
    ENTRY(cuStreamSynchronize)(c);
  };
  EXPECT_DEATH(launch(), "a graph works on memory that was freed: fill bytes");
}

}  // namespace
