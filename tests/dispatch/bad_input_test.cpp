// Bad input through the face: each kind gets an error that says what was wrong, and the process
// goes on. What belongs to one family is in that family's test.
#include <cstdlib>
#include <limits>

#include "ops_support.h"

namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr int64_t kTera = int64_t(1) << 40;
constexpr uint64_t kMiB = uint64_t(1) << 20;

struct BadInput : testing::Test {
  void SetUp() override { load_all(); }
  // It goes on: ops work, and forward and backward give what they should.
  void TearDown() override {
    for (tn::Device d : devices()) {
      Tensor x = tn::tensor({1.f, 2.f}, d).requires_grad_();
      (x * x).sum().backward();
      expect_near(x.grad(), {2, 4});
    }
  }
};

tn_code code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const tn::Error& e) {
    return e.code();
  }
  return TN_OK;
}

TEST_F(BadInput, ShapesThatAreNone) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    expect_error([&] { tn::zeros({2, -1}, {}, d); }, "negative size in [2, -1]");
    expect_error([&] { Tensor::empty({-3}, tn::float32, d); }, "negative size in [-3]");
    expect_error([&] { tn::zeros(std::vector<int64_t>(17, 1), {}, d); }, "17");
    expect_error([&] { tn::rand({2, -1}, {}, d); }, "negative size");
    Tensor deep = tn::ones(std::vector<int64_t>(16, 1), {}, d);
    EXPECT_EQ(deep.sum().item<float>(), 1);
    expect_error([&] { deep.unsqueeze(0); }, "rank 17");
    expect_error([&] { deep.reshape(std::vector<int64_t>(17, 1)); }, "at most 16");
    expect_error([&] { tn::one_hot(deep.to(tn::int64), 3); }, "16");
  }
}

TEST_F(BadInput, ShapesThatOverflow) {
  for (tn::Device d : {tn::cpu, tn::meta, devices().back()}) {
    SCOPED_TRACE(d.name());
    const std::string two = "[9223372036854775807, 2] (float32) overflows";
    expect_error([&] { tn::zeros({kHuge, 2}, {}, d); }, two);
    expect_error([&] { Tensor::empty({kHuge, 2}, tn::float32, d); }, two);
    // As many elements as an int64 counts, but more bytes.
    expect_error([&] { tn::zeros({kHuge}, {}, d); }, "more bytes than 63 bits hold");
    Tensor one = tn::ones({1, 1}, {}, d);
    expect_error([&] { one.expand({kHuge, kHuge}); }, "expand");
    // Views are as large as they like; what is made of them is not.
    Tensor tall = one.expand({kTera, 1}), wide = one.expand({1, kTera});
    expect_error([&] { tall + wide; }, "add: the shape [1099511627776, 1099511627776]");
    expect_error([&] { tn::matmul(tall, wide); },
                 "matmul: the shape [1099511627776, 1099511627776]");
    Tensor long_one = tn::ones({1}, {}, d).expand({int64_t(1) << 60});
    expect_error([&] { tn::cat(std::vector<Tensor>(9, long_one)); },
                 "cat: the sizes along 0 add up to more than 63 bits hold");
    expect_error([&] { tall.reshape({kHuge, kHuge}); }, "overflows");
    expect_error([&] { long_one.to(tn::float64).sum(); }, "overflows");
    if (d == tn::meta) continue;
    expect_near(tn::arange(0, int64_t(1) << 62, kHuge, {}, d), {0});
    expect_near(tn::arange(-kHuge - 1, kHuge, int64_t(1) << 62, {}, d),
                {-0x1p63, -0x1p62, 0, 0x1p62});
    expect_error([&] { tn::arange(0, 1e30, 1, {}, d); }, "arange: more elements than memory holds");
    expect_error([&] { tn::one_hot(tn::zeros({2}, tn::int64, d), kHuge); }, "overflows");
  }
}

TEST_F(BadInput, MoreThanAnyMachineHas) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (int64_t n : {kTera * 64, int64_t(1) << 58}) {
      expect_error([&] { tn::zeros({n}, {}, d); }, "out of memory on " + d.name() + ": wanted ");
      EXPECT_EQ(code_of([&] { tn::zeros({n}, {}, d); }), TN_OUT_OF_MEMORY);
    }
    // Copies of large views too, and nothing is left of them.
    uint64_t live = d.memory_stats().allocated;
    Tensor one = tn::ones({1}, {}, d);
    expect_error([&] { one.expand({kTera * 64}).clone(); }, "out of memory");
    expect_error([&] { one.expand({kTera * 64}) * 2; }, "out of memory");
    one = Tensor();
    EXPECT_EQ(d.memory_stats().allocated, live);
  }
}

TEST_F(BadInput, AxesOutOfRange) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({2, 3}, {}, d), s = tn::tensor(1.f, d);
    Tensor index = tn::zeros({2, 3}, tn::int64, d);
    struct Row {
      const char* op;
      std::function<void(int64_t)> call;
    };
    const Row rows[] = {
        {"sum", [&](int64_t a) { x.sum(a); }},
        {"mean", [&](int64_t a) { x.mean(a); }},
        {"max", [&](int64_t a) { x.amax(a); }},
        {"argmax", [&](int64_t a) { x.argmax(a); }},
        {"softmax", [&](int64_t a) { tn::softmax(x, a); }},
        {"log_softmax", [&](int64_t a) { tn::log_softmax(x, a); }},
        {"transpose", [&](int64_t a) { x.transpose(0, a); }},
        {"permute",
         [&](int64_t a) {
           x.permute({0, a});
         }},
        {"select", [&](int64_t a) { x.select(a, 0); }},
        {"slice", [&](int64_t a) { x.slice(a, 0, 1); }},
        {"narrow", [&](int64_t a) { x.narrow(a, 0, 1); }},
        {"squeeze", [&](int64_t a) { x.squeeze(a); }},
        {"flatten", [&](int64_t a) { x.flatten(a, a); }},
        {"cat",
         [&](int64_t a) {
           tn::cat({x, x}, a);
         }},
        {"gather", [&](int64_t a) { tn::gather(x, a, index); }},
        {"scatter", [&](int64_t a) { tn::scatter(x, a, index, x); }},
    };
    for (const Row& row : rows) {
      for (int64_t axis : {int64_t(2), int64_t(-3), kHuge, -kHuge - 1}) {
        SCOPED_TRACE(row.op);
        expect_error([&] { row.call(axis); }, std::string(row.op) + ": dimension " +
                                                  std::to_string(axis) + " is out of range");
        expect_error([&] { row.call(axis); }, "expected -2 to 1");
      }
    }
    expect_error([&] { x.unsqueeze(4); },
                 "unsqueeze: dimension 4 is out of range; expected -3 to 2");
    expect_error([&] { s.sum(1); }, "expected -1 to 0");
    expect_error([&] { x.permute({0}); }, "permute: 1 dims for a tensor of 2 dimensions [2, 3]");
    expect_error([&] { x.permute({0, 0}); }, "stands twice");
    expect_error([&] { x.size(2); }, "dimension 2 is out of range");
    EXPECT_EQ(code_of([&] { x.sum(2); }), TN_INVALID_ARGUMENT);
  }
}

TEST_F(BadInput, DtypesThatDoNotFit) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({2, 2}, {}, d), i = tn::ones({2, 2}, tn::int64, d);
    expect_error([&] { tn::matmul(i.to(tn::bool_), i.to(tn::bool_)); }, "matmul: ");
    expect_error([&] { tn::matmul(x, x.to(tn::float64)); }, "expected one dtype");
    expect_error([&] { tn::bitwise_and(x, i); }, "bitwise_and");
    expect_error([&] { i.requires_grad_(); }, "only float dtypes have");
    expect_error([&] { tn::embedding(x, x); }, "index is float32, expected int64");
    expect_error([&] { tn::gather(x, 0, x); }, "gather: index is float32, expected int64");
    expect_error([&] { tn::scatter(x, 0, i, i); }, "scatter: src is [2, 2] int64");
    expect_error([&] { tn::rand({2}, tn::int64, d); }, "int64");
    expect_error([&] { x.set_grad(i); }, "grad: ");
    expect_error([&] { tn::Dtype::parse("float33"); }, "no dtype is named 'float33'");
    expect_error([&] { x.to(d, tn::Dtype{TN_COMPLEX64}); }, "dtype");
    expect_error([&] { Tensor::empty({2}, tn::Dtype{77}, d); }, "dtype");
    expect_error([&] { Tensor::empty({2}, tn::Dtype{}, d); }, "dtype");
  }
}

TEST_F(BadInput, DevicesThatDoNotFit) {
  expect_error([] { tn::zeros({1}, {}, tn::Device("acme")); },
               "unknown device 'acme'; devices here: cpu, ");
  const std::string type = second_device();
  expect_error([&] { tn::Device(type + ":2"); }, "index out of range; " + type + " has 2 devices");
  const tn::Device odd = tn_device{99, 0}, far = tn_device{devices().back().value.type, 5};
  for (tn::Device d : {odd, far}) {
    SCOPED_TRACE(d.value.type);
    for (const std::string& part : {d == odd ? "99" : type + ":5"}) {
      expect_error([&] { Tensor::empty({2}, tn::float32, d); }, part);
      expect_error([&] { tn::zeros({2}, {}, d); }, part);
      expect_error([&] { tn::arange(0, 3, 1, {}, d); }, part);
      expect_error([&] { tn::rand({2}, {}, d); }, part);
      expect_error([&] { tn::ones({2}).to(d); }, part);
      expect_error([&] { d.synchronize(); }, part);
      expect_error([&] { d.memory_stats(); }, part);
      expect_error([&] { d.reset_peak_memory_stats(); }, part);
      expect_error([&] { d.empty_cache(); }, part);
      expect_error([&] { tn::Stream stream(d); }, part);
      expect_error([&] { tn::Autocast guard(d); }, part);
    }
  }
  Tensor shape = tn::zeros({2}, {}, tn::meta);
  expect_sizes(shape + shape, {2});
  expect_error([&] { shape.to_vector<float>(); }, "a meta tensor has no values");
  expect_error([&] { shape.to(tn::cpu); }, "meta");
  expect_error([&] { tn::ones({2}) + shape; }, "meta");
  expect_error([&] { tn::nonzero(shape); }, "nonzero");
  expect_error([&] { tn::zeros({2}).copy_(shape); }, "a meta tensor has no values to copy");
}

TEST_F(BadInput, TensorsThatAreNone) {
  Tensor x = tn::ones({2, 2}), none;
  expect_error([&] { x + none; }, "add: argument 'y' must be Tensor, got None");
  expect_error([&] { tn::relu(none); }, "relu: argument 'x' must be Tensor, got None");
  expect_error([&] { tn::matmul(none, x); }, "matmul: argument 'a' must be Tensor, got None");
  expect_error([&] { none.sum(); }, "sum: argument 'x' must be Tensor, got None");
  expect_error([&] { none.reshape({1}); }, "reshape: argument 'x' must be Tensor");
  expect_error(
      [&] {
        tn::cat({x, none});
      },
      "cat: argument 'xs' must be Tensor[], got list of 2 Tensors with None at [1]");
  expect_error([&] { tn::cross_entropy(x, none); },
               "cross_entropy: argument 'target' must be Tensor, got None");
}

// Reading a gradient before backward is the usual way to one.
TEST_F(BadInput, MethodsOfTensorsThatAreNone) {
  Tensor x = tn::ones({2}).requires_grad_(), none;
  const char* const message = "the tensor is None";
  expect_error([&] { x.grad().to_vector<float>(); }, message);
  expect_error([&] { none.sizes(); }, message);
  expect_error([&] { none.strides(); }, message);
  expect_error([&] { none.size(0); }, message);
  expect_error([&] { none.stride(-1); }, message);
  expect_error([&] { none.dim(); }, message);
  expect_error([&] { none.numel(); }, message);
  expect_error([&] { none.dtype(); }, message);
  expect_error([&] { none.device(); }, message);
  expect_error([&] { none.is_contiguous(); }, message);
  expect_error([&] { none.requires_grad(); }, message);
  expect_error([&] { none.is_leaf(); }, message);
  expect_error([&] { none.data<float>(); }, message);
  expect_error([&] { none.mutable_data<float>(); }, message);
  expect_error([&] { none.item<float>(); }, message);
  expect_error([&] { none.requires_grad_(); }, message);
  expect_error([&] { none.grad(); }, message);
  expect_error([&] { none.set_grad(x); }, message);
  expect_error([&] { none.zero_grad(); }, message);
  expect_error([&] { none.retain_grad(); }, message);
  expect_error([&] { none.backward(); },
               "backward: tensor 0 is undefined (None); expected a tensor that needs a gradient");
  expect_error([&] { none.register_hook([](Tensor) {}); }, message);
  expect_error([&] { none.remove_hook(1); }, message);
  expect_error([&] { none.detach(); }, message);
  expect_error([&] { none.version(); }, message);
  expect_error([&] { none.same_storage(x); }, message);
  expect_error([&] { none.to(tn::float64); }, message);
  expect_error([&] { none.to(tn::cpu); }, message);
  expect_error([&] { none.copy_(x); }, message);
  expect_error([&] { x.detach().copy_(none); }, message);
  expect_error([&] { tn::grad(x.sum(), none); },
               "grad: input 0 is undefined (None); expected a tensor that needs a gradient");
  expect_error(
      [&] {
        tn::grad({x.sum(), none}, {x});
      },
      "grad: output 1 is undefined (None); expected a tensor that needs a gradient");
  EXPECT_FALSE(tn::grad_fn(none));
}

TEST_F(BadInput, ObjectsThatAreNone) {
  const tn::Object none;
  const char* const message = "the object is None";
  expect_error([&] { none(tn::ones({1})); }, message);
  expect_error([&] { none.type_name(); }, message);
  expect_error([&] { none.kind(); }, message);
  expect_error([&] { none.n_children(); }, message);
  expect_error([&] { none.child("x"); }, message);
  expect_error([&] { none.state_dict(); }, message);
  expect_error([&] { none.training(); }, message);
  expect_error([&] { none.to(tn::cpu); }, message);
  expect_error([&] { none.zero_grad(); }, message);
  expect_error([&] { none.method("f() -> Tensor", [] { return tn::ones({1}); }); }, message);
}

// The same below the face, as C code meets it.
TEST_F(BadInput, EntriesThatGetNoTensor) {
  const auto& tensors = *tn::detail::api.tensor.get();
  const auto& autograd = *tn::detail::api.autograd.get();
  const auto refused = [](tn_status* status) {
    expect_error([&] { tn::check(status); }, "the tensor is None");
  };
  tn_tensor* made = nullptr;
  void* data = nullptr;
  refused(tensors.to(nullptr, tn_device{}, TN_FLOAT32, &made));
  refused(tensors.copy_(nullptr, nullptr));
  refused(tensors.read(nullptr, nullptr, 0));
  refused(tensors.write(nullptr, nullptr, 0));
  refused(tensors.mutable_data(nullptr, &data));
  refused(tensors.detach(nullptr, &made));
  refused(tensors.to_dlpack(nullptr, 0, &data));
  refused(autograd.set_requires_grad(nullptr, 1));
  refused(autograd.set_grad(nullptr, nullptr));
  refused(autograd.retain_grad(nullptr));
  refused(autograd.add_hook(nullptr, nullptr, nullptr, nullptr, nullptr));
  refused(autograd.remove_hook(nullptr, 0));
  EXPECT_EQ(autograd.grad(nullptr), nullptr);
  EXPECT_EQ(autograd.grad_fn(nullptr), nullptr);
  EXPECT_EQ(tensors.version(nullptr), 0u);
  EXPECT_EQ(tensors.same_storage(nullptr, nullptr), 0);
  EXPECT_EQ(tensors.is_retained_once(nullptr), 0);
}

TEST_F(BadInput, GradientsOnAnotherDevice) {
  const tn::Device ref("ref");
  Tensor x = tn::ones({2}).requires_grad_();
  expect_error([&] { (x * 2.0).backward(tn::ones({2}, tn::float32, ref)); }, "expected one device");
  Tensor y = x * 3.0;
  y.register_hook([&](Tensor g) { return g.to(ref); });
  expect_error([&] { y.sum().backward(); },
               "a hook on a gradient of " + op_name("mul") +
                   " gave [2] float32 on ref:0, expected [2] float32 on cpu");
  struct Away : tn::Function<Away> {
    static Tensor forward(tn::Context&, Tensor t) { return t.clone(); }
    static Tensor backward(tn::Context&, Tensor g) { return g.to(tn::Device("ref")); }
  };
  expect_error([&] { Away::apply(x).sum().backward(); },
               "for input 0, expected [2] float32 on cpu");
}

// cpu has a kernel for it, whose outputs are inferred on meta tensors: the message must not say so.
TEST_F(BadInput, ShapesThatAKernelWouldGet) {
  expect_error(
      [] {
        tn::linear(tn::ones({2, 3}), tn::ones({4, 5}));
      },
      "linear: x is [2, 3], weight is [4, 5] (float32, cpu); expected");
}

TEST_F(BadInput, OpsThatAreNotThere) {
  Tensor x = tn::ones({2});
  expect_error([&] { tn::call("sofmax", x); }, "unknown op 'sofmax'; did you mean 'softmax'?");
  expect_error([&] { tn::call("ops.ad", x, x); }, "unknown op 'ops.ad'; did you mean 'ops.add'?");
  expect_error([&] { tn::call("acme.softmax", x); }, "unknown op 'acme.softmax'");
  expect_error([&] { tn::call("", x); }, "unknown op ''");
  expect_error([&] { tn::call(std::string(10000, 'x').c_str(), x); }, "unknown op 'xxx");
  EXPECT_EQ(code_of([&] { tn::call("sofmax", x); }), TN_NOT_FOUND);
  // A reference that did not find its op looks again.
  static tn::OpRef later("no_op_has_this_name");
  for (int i = 0; i < 2; ++i) expect_error([&] { tn::call(later, x); }, "no_op_has_this_name");
  expect_error([] { tn::Object::create("Linaer", 2, 2); }, "did you mean 'Linear'?");
}

TEST_F(BadInput, ViewsOutsideOfTheirMemory) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::arange(0, 6, 1, tn::float32, d);
    using tn::Ints;
    auto strided = [&](Ints sizes, Ints strides, int64_t offset) {
      return tn::as_strided(x, sizes, strides, offset);
    };
    expect_near(strided({2, 2}, {3, 1}, 1), {1, 2, 4, 5});
    expect_error(
        [&] {
          strided({2, 4}, {3, 1}, 0);
        },
        "view: sizes [2, 4], strides [3, 1] and offset 0 reach elements 0 to 6 of a storage of 6");
    expect_error([&] { strided({1}, {1}, 6); }, "reach elements 6 to 6 of a storage of 6");
    expect_error([&] { strided({1}, {1}, -1); }, "reach elements -1");
    expect_error([&] { strided({2}, {kHuge}, 1); }, "overflow");
    expect_error([&] { strided({kHuge, kHuge}, {0, 0}, 0); }, "overflow");
    expect_error([&] { strided({2}, {-1}, 3); },
                 "as_strided: stride -1 of dimension 0 is negative");
    expect_error([&] { strided({2, 2}, {1}, 0); }, "as_strided: 2 sizes and 1 strides");
    expect_error([&] { strided({-2}, {1}, 0); }, "negative size in [-2]");
    expect_sizes(strided({0}, {1}, 6), {0});
    expect_error([&] { x.slice(0, 0, 6, 0); }, "slice: step is 0, expected at least 1");
    expect_error([&] { x.slice(0, 0, 6, -1); }, "slice: step is -1");
    expect_sizes(x.slice(0, -kHuge, kHuge, kHuge), {1});
    expect_error([&] { x.narrow(0, 5, kHuge); }, "narrow: ");
    expect_error([&] { x.select(0, -7); }, "select: index -7 is out of range");
    expect_error([&] { x.expand({2}); }, "expand: [6] cannot become [2]");
    expect_error(
        [&] {
          x.view({2, 3}).copy_(tn::ones({4}, {}, d));
        },
        "copy_: the source does not broadcast to the destination");
  }
}

TEST_F(BadInput, BytesThatDoNotFit) {
  Tensor x = tn::ones({2, 3});
  char bytes[64] = {};
  auto refused = [](tn_status* status, const std::string& part) {
    ASSERT_NE(status, nullptr);
    std::string text = tn::host()->status_message(status);
    EXPECT_NE(text.find(part), std::string::npos) << text;
    tn::host()->status_free(status);
  };
  const tn_tensor_api& api = *tn::detail::api.tensor.get();
  refused(api.read(x.get(), bytes, 20), "holds 24 bytes, the buffer 20");
  refused(api.write(x.get(), bytes, 28), "holds 24 bytes, the buffer 28");
  tn_tensor* t = nullptr;
  const int64_t sizes[] = {2, 3}, back[] = {-3, 1}, far[] = {kHuge, 1};
  refused(api.empty(-1, sizes, TN_FLOAT32, tn_device{0, 0}, &t), "empty: -1 dimensions");
  refused(api.from_memory(nullptr, 2, sizes, nullptr, TN_FLOAT32, nullptr, nullptr, &t),
          "from_memory: data is NULL for 6 elements");
  refused(api.from_memory(bytes, 2, sizes, back, TN_FLOAT32, nullptr, nullptr, &t),
          "from_memory: stride -3 of dimension 0 is negative or too large");
  refused(api.from_memory(bytes, 2, sizes, far, TN_FLOAT32, nullptr, nullptr, &t),
          "from_memory: stride 9223372036854775807 of dimension 0");
  expect_error([] { Tensor::from({1.f, 2.f, 3.f}, {2, 2}); }, "3 values do not fill sizes of 4");
  expect_error([] { tn::tensor({{1.f, 2.f}, {3.f}}); }, "rows of different lengths");
  expect_error([&] { x.item<float>(); }, "a tensor of one element is needed, this has 6");
  expect_error([&] { x.data<double>(); }, "the tensor is float32, elements of float64");
}

// On a device of its own pace the error comes when somebody waits; it comes once.
TEST_F(BadInput, IndicesOutOfRange) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({2, 3}, {}, d);
    Tensor high = tn::full({2, 1}, 3, {}, d), low = tn::full({2, 1}, -1, {}, d);
    expect_error([&] { tn::gather(x, 1, high).to_vector<float>(); }, "gather: index 3 ");
    expect_error([&] { tn::gather(x, 1, low).to_vector<float>(); }, "gather: index -1 ");
    expect_error([&] { tn::scatter(x, 1, high, x.narrow(1, 0, 1)).to_vector<float>(); },
                 "scatter: index 3 ");
    expect_error([&] { tn::embedding(x, high.reshape({2})).to_vector<float>(); }, "3");
    expect_error([&] { tn::cross_entropy(x, high.reshape({2})).to_vector<float>(); }, "3");
    expect_near(x.sum(), {6});
  }
}

TEST_F(BadInput, MemoryThatEndsSaysWhatFillsIt) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    d.empty_cache();
    uint64_t live = d.memory_stats().allocated;
    d.set_memory_limit(d.memory_stats().reserved_bytes + 40 * kMiB);
    std::vector<Tensor> held;
    std::string message;
    while (message.empty() && held.size() < 100) {
      try {
        held.push_back(tn::zeros({int64_t(4 * kMiB / 4)}, {}, d));
      } catch (const tn::Error& e) {
        EXPECT_EQ(e.code(), TN_OUT_OF_MEMORY);
        message = e.what();
      }
    }
    EXPECT_NE(message.find("zeros: out of memory on " + d.name() + ": wanted 4.0 MiB; limit "),
              message.npos)
        << message;
    for (const char* part : {"MiB, in live tensors ", ", in the cache ", "of caches of weights"}) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    EXPECT_GE(held.size(), 8u);
    EXPECT_LE(held.size(), 10u);
    // It stays so, until something is freed, and what is there is whole.
    auto more = [&] { return tn::full({int64_t(4 * kMiB / 4)}, 3.0, {}, d); };
    EXPECT_EQ(code_of([&] { more(); }), TN_OUT_OF_MEMORY);
    EXPECT_EQ(held[0].narrow(0, 7, 1).item<float>(), 0);
    held.pop_back();
    EXPECT_EQ(more().narrow(0, 0, 1).item<float>(), 3);
    // In other sizes too: the cache gives way.
    held.pop_back();
    EXPECT_NO_THROW(tn::zeros({int64_t(7 * kMiB / 4)}, {}, d));
    EXPECT_EQ(code_of([&] { tn::zeros({int64_t(16 * kMiB / 4)}, {}, d); }), TN_OUT_OF_MEMORY);
    d.set_memory_limit(0);
    EXPECT_NO_THROW(tn::zeros({int64_t(16 * kMiB / 4)}, {}, d));
    held.clear();
    EXPECT_EQ(d.memory_stats().allocated, live);
  }
}

// Out of memory half-way through a forward, a backward and a decomposition: the retry is right, and
// nothing of the first try is left.
TEST_F(BadInput, ARetryWorksWhereMemoryEndedHalfWay) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const int64_t n = 400;  // of a size that is not cut out of larger blocks
    const uint64_t bytes = uint64_t(n * n * 4);
    d.empty_cache();
    // So near to a limit the device is asked for no more than each request needs.
    const uint64_t far = d.memory_stats().reserved_bytes + 200 * kMiB;
    d.set_memory_limit(far);
    Tensor x = tn::full({n, n}, 0.5, {}, d).requires_grad_();
    // The first needs most memory on its way forward, the second on its way back.
    const std::function<Tensor()> losses[] = {
        [&] { return tn::softmax(tn::tanh(tn::tanh(x * x) * x), 1).amax(); },
        [&] {
          Tensor y = tn::square(x).sum();
          return y + tn::square(x).sum();
        }};
    bool failed_forward = false, failed_backward = false;
    for (const auto& loss : losses) {
      loss().backward();
      const std::vector<float> expected = x.grad().to_vector<float>();
      x.zero_grad();
      d.empty_cache();
      uint64_t live = d.memory_stats().allocated;
      for (uint64_t room = 1; room < 5; ++room) {
        d.set_memory_limit(d.memory_stats().reserved_bytes + room * bytes + bytes / 2);
        Tensor y;
        try {
          y = loss();
          y.backward();
        } catch (const tn::Error& e) {
          EXPECT_EQ(e.code(), TN_OUT_OF_MEMORY) << e.what();
          (y.defined() ? failed_backward : failed_forward) = true;
        }
        y = Tensor();
        x.zero_grad();
        d.set_memory_limit(far);
        d.empty_cache();
        EXPECT_EQ(d.memory_stats().allocated, live) << room;
      }
      loss().backward();
      EXPECT_EQ(x.grad().to_vector<float>(), expected);
      x.zero_grad();
    }
    d.set_memory_limit(0);
    EXPECT_TRUE(failed_forward);
    EXPECT_TRUE(failed_backward);
  }
}

}  // namespace
