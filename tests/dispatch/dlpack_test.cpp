// DLPack, out and in: without a copy, with the owner told once, and what cannot be taken refused.
#include <cstdlib>
#include <memory>

#include "ops_support.h"

namespace {

// The layout that DLPack 1.0 fixes; names follow its header.
struct DLDevice {
  int32_t device_type, device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor dl_tensor;
};
constexpr uint64_t kReadOnly = 1;

struct Export {
  DLManagedTensorVersioned* m = nullptr;
  explicit Export(const Tensor& t, bool writable = true) {
    m = static_cast<DLManagedTensorVersioned*>(tn::to_dlpack(t, writable));
  }
  Export(const Export&) = delete;
  ~Export() {
    if (m != nullptr) m->deleter(m);
  }
  DLManagedTensorVersioned* release() { return std::exchange(m, nullptr); }
};

Tensor import_tensor(void* managed) { return tn::from_dlpack(managed); }

// Another framework's tensor: six floats as [2, 3], and a count of its deaths.
struct Foreign {
  float values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int64_t shape[3] = {2, 3, 1}, strides[3] = {3, 1, 1};
  int deleted = 0;
  DLManagedTensorVersioned managed = {
      1,    0,
      this, [](DLManagedTensorVersioned* m) { ++static_cast<Foreign*>(m->manager_ctx)->deleted; },
      0,    {values, {1, 0}, 2, {2, 32, 1}, shape, strides, 0}};
};

struct Dlpack : testing::Test {
  void SetUp() override { load_all(); }
};
using DlpackExport = Dlpack;
using DlpackImport = Dlpack;

TEST_F(DlpackExport, ShowsTheMemoryItself) {
  Tensor x = tn::arange(0, 6).to(tn::float32).view({2, 3});
  Export whole(x);
  EXPECT_EQ(whole.m->major, 1u);
  EXPECT_EQ(whole.m->flags, 0u);
  const DLTensor& t = whole.m->dl_tensor;
  EXPECT_EQ(t.data, x.data<float>());
  EXPECT_EQ(t.byte_offset, 0u);
  EXPECT_EQ(t.device.device_type, 1);
  EXPECT_EQ(t.ndim, 2);
  EXPECT_EQ(t.shape[0], 2);
  EXPECT_EQ(t.shape[1], 3);
  EXPECT_EQ(t.strides[0], 3);
  EXPECT_EQ(t.strides[1], 1);
  // A view is shown as it lies.
  Tensor column = x.select(1, 2);
  Export view(column, false);
  EXPECT_EQ(view.m->flags, kReadOnly);
  EXPECT_EQ(view.m->dl_tensor.data, x.data<float>() + 2);
  EXPECT_EQ(view.m->dl_tensor.ndim, 1);
  EXPECT_EQ(view.m->dl_tensor.strides[0], 3);
  // What is written there is seen here.
  static_cast<float*>(t.data)[5] = 50;
  expect_near(column, {2, 50});
  Export scalar(tn::tensor(3.f)), empty(tn::zeros({0, 2}));
  EXPECT_EQ(scalar.m->dl_tensor.ndim, 0);
  EXPECT_EQ(empty.m->dl_tensor.shape[0], 0);
}

TEST_F(DlpackExport, MapsEveryDtypeAndBack) {
  struct Row {
    tn::Dtype dtype;
    int code, bits;
  };
  const Row rows[] = {{tn::float32, 2, 32},  {tn::float64, 2, 64}, {tn::float16, 2, 16},
                      {tn::bfloat16, 4, 16}, {tn::int64, 0, 64},   {tn::int32, 0, 32},
                      {tn::uint8, 1, 8},     {tn::bool_, 6, 8},    {tn::int16, 0, 16},
                      {tn::int8, 0, 8}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.dtype.name());
    Tensor x = tn::tensor({0.f, 1.f}).to(row.dtype);
    Export out(x);
    EXPECT_EQ(out.m->dl_tensor.dtype.code, row.code);
    EXPECT_EQ(out.m->dl_tensor.dtype.bits, row.bits);
    EXPECT_EQ(out.m->dl_tensor.dtype.lanes, 1);
    Tensor y = import_tensor(out.release());
    EXPECT_EQ(y.dtype(), row.dtype);
    EXPECT_EQ(y.get()->data, x.get()->data);
    expect_near(y, {0, 1});
  }
}

TEST_F(DlpackExport, KeepsTheMemoryUntilItIsDeleted) {
  Tensor x = tn::ones({1000});
  uint64_t with = tn::cpu.memory_stats().allocated;
  auto out = std::make_unique<Export>(x);
  const auto* data = static_cast<const float*>(out->m->dl_tensor.data);
  x = Tensor();
  EXPECT_EQ(tn::cpu.memory_stats().allocated, with);
  EXPECT_EQ(data[999], 1);
  out.reset();
  EXPECT_EQ(tn::cpu.memory_stats().allocated, with - 4000);
}

TEST_F(DlpackExport, RefusesWhatCannotBeShown) {
  auto refused = [](const Tensor& t, const std::string& part) {
    expect_error([&] { Export out(t); }, part);
  };
  refused(tn::ones({2}).requires_grad_(),
          "dlpack: [2] float32 on cpu requires a gradient, which would be lost; detach it first");
  refused(tn::zeros({2}, {}, tn::meta), "dlpack: [2] float32 on meta is not on cpu");
  for (tn::Device d : devices()) {
    if (!d.is_cpu())
      refused(tn::ones({2}, {}, d), "on " + d.name() + " is not on cpu; move it there first");
  }
  Export detached(tn::ones({2}).requires_grad_().detach());
  EXPECT_NE(detached.m, nullptr);
}

TEST_F(DlpackImport, TakesTheMemoryAndTellsItsOwnerOnce) {
  Foreign foreign;
  {
    Tensor x = import_tensor(&foreign.managed);
    expect_sizes(x, {2, 3});
    EXPECT_EQ(x.data<float>(), foreign.values);
    expect_near(x + 1, {1, 2, 3, 4, 5, 6});
    foreign.values[0] = 9;
    expect_near(x[0], {9, 1, 2});
    tn::mul_(x, 2);
    EXPECT_EQ(foreign.values[5], 10);
    Tensor row = x[1], again = x.detach();
    x = Tensor();
    EXPECT_EQ(foreign.deleted, 0);
    expect_near(row, {6, 8, 10});
    // It may learn, and go to other devices.
    again.requires_grad_();
    (again * again).sum().backward();
    expect_near(again.grad(), {36, 4, 8, 12, 16, 20});
    for (tn::Device d : devices()) expect_near(row.to(d) + 0, {6, 8, 10});
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(DlpackImport, TakesEveryLayout) {
  Foreign dense, strided, moved, scalar, nothing, expanded, orphan;
  dense.managed.dl_tensor.strides = nullptr;
  expect_near(import_tensor(&dense.managed), {0, 1, 2, 3, 4, 5});
  strided.shape[0] = 3, strided.shape[1] = 2;
  strided.strides[0] = 1, strided.strides[1] = 3;
  Tensor x = import_tensor(&strided.managed);
  expect_near(x, {0, 3, 1, 4, 2, 5});
  EXPECT_FALSE(x.is_contiguous());
  moved.managed.dl_tensor.byte_offset = 8;
  moved.managed.minor = 3;  // a younger minor version is the same layout
  x = import_tensor(&moved.managed);
  EXPECT_EQ(x.data<float>(), moved.values + 2);
  expect_near(x, {2, 3, 4, 5, 6, 7});
  scalar.managed.dl_tensor.ndim = 0;
  expect_near(import_tensor(&scalar.managed), {0});
  nothing.managed.dl_tensor.data = nullptr;
  nothing.shape[1] = 0;
  x = import_tensor(&nothing.managed);
  expect_sizes(x, {2, 0});
  expect_near(x.sum(), {0});
  expanded.strides[0] = 0;
  x = import_tensor(&expanded.managed);
  expect_near(x, {0, 1, 2, 0, 1, 2});
  expect_error([&] { tn::add_(x, 1); }, "share memory");
  orphan.managed.deleter = nullptr;  // nobody wants to know
  expect_near(import_tensor(&orphan.managed).sum(), {15});
}

TEST_F(DlpackImport, CopiesWhatIsReadOnly) {
  Foreign foreign;
  foreign.managed.flags = kReadOnly;
  foreign.strides[0] = 1, foreign.strides[1] = 2;
  Tensor x = import_tensor(&foreign.managed);
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_NE(x.data<float>(), foreign.values);
  EXPECT_TRUE(x.is_contiguous());
  x += 1;
  expect_near(x, {1, 3, 5, 2, 4, 6});
  EXPECT_EQ(foreign.values[0], 0);
  // Its own export too.
  Tensor y = tn::ones({2});
  Tensor z = import_tensor(Export(y, false).release());
  z += 1;
  expect_near(y, {1, 1});
  // Without memory for the copy nothing is taken.
  Foreign kept;
  kept.managed.flags = kReadOnly;
  kept.shape[0] = int64_t(1) << 40;
  kept.strides[0] = 0;
  expect_error([&] { import_tensor(&kept.managed); }, "memory");
  EXPECT_EQ(kept.deleted, 0);
}

// What cannot be taken stays its owner's.
TEST_F(DlpackImport, RefusesWhatItCannotTake) {
  struct Row {
    void (*damage)(Foreign&);
    const char* part;
  };
  const Row rows[] = {
      {[](Foreign& f) { f.managed.major = 0; }, "dlpack: version 0.0, expected 1.x"},
      {[](Foreign& f) { f.managed.major = 2; }, "dlpack: version 2.0, expected 1.x"},
      {[](Foreign& f) {
         f.managed.dl_tensor.device = {2, 0};
       },
       "dlpack: device type 2, only host memory (1) is taken"},
      {[](Foreign& f) {
         f.managed.dl_tensor.dtype = {5, 64, 1};
       },
       "dlpack: dtype code 5, 64 bits, 1 lanes has no counterpart"},
      {[](Foreign& f) {
         f.managed.dl_tensor.dtype = {2, 32, 4};
       },
       "4 lanes has no counterpart"},
      {[](Foreign& f) {
         f.managed.dl_tensor.dtype = {1, 16, 1};
       },
       "has no counterpart"},
      {[](Foreign& f) { f.managed.dl_tensor.ndim = 17; },
       "dlpack: 17 dimensions, expected 0 to 16"},
      {[](Foreign& f) { f.managed.dl_tensor.ndim = -1; }, "dlpack: -1 dimensions"},
      {[](Foreign& f) { f.managed.dl_tensor.shape = nullptr; }, "dlpack: shape is NULL"},
      {[](Foreign& f) { f.managed.dl_tensor.data = nullptr; },
       "dlpack: data is NULL for 6 elements"},
      {[](Foreign& f) { f.shape[1] = -3; }, "dlpack: negative size in [2, -3]"},
      {[](Foreign& f) { f.shape[0] = f.shape[1] = int64_t(1) << 40; },
       "dlpack: the shape [1099511627776, 1099511627776]"},
      {[](Foreign& f) { f.strides[1] = -1; }, "dlpack: stride -1 of dimension 1 is negative"},
      {[](Foreign& f) { f.strides[0] = INT64_MAX; },
       "dlpack: stride 9223372036854775807 of dimension 0 is too large"},
      {[](Foreign& f) { f.strides[0] = INT64_MAX / 4; }, "of dimension 0 is too large"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.part);
    Foreign foreign;
    row.damage(foreign);
    expect_error([&] { import_tensor(&foreign.managed); }, row.part);
    EXPECT_EQ(foreign.deleted, 0);
  }
  expect_error([] { import_tensor(nullptr); }, "from_dlpack: the tensor is NULL");
}

// What another may write cannot be watched: nothing is cached of it any more.
TEST_F(Dlpack, WritableMemoryHasNoCaches) {
  tn::load_plugin(std::string(std::getenv("TENON_BUILD_DIR")) +
                  "/tests/face_plugins/libdispatch_kernels.so");
  auto remembers = [](const Tensor& t) {
    return tn::call("dispatch_kernels.remembers", t).item<float>() == 1;
  };
  Tensor x = tn::ones({4});
  EXPECT_FALSE(remembers(x));
  EXPECT_TRUE(remembers(x));
  { Export read(x, false); }
  EXPECT_TRUE(remembers(x));
  x.mutable_data<float>()[0] = 2;
  EXPECT_FALSE(remembers(x));
  EXPECT_TRUE(remembers(x));
  { Export write(x); }
  EXPECT_FALSE(remembers(x));
  EXPECT_FALSE(remembers(x));
  Foreign foreign;
  {
    Tensor y = import_tensor(&foreign.managed);
    EXPECT_FALSE(remembers(y));
    EXPECT_FALSE(remembers(y));
  }
  EXPECT_EQ(foreign.deleted, 1);
}

}  // namespace
