// The C++ face: handles, errors and exceptions over the border, gradients by lambdas, objects from
// classes, text.
#include "ops_support.h"

#include <sstream>
#include <stdexcept>

namespace {

struct ClampGrad : tn::Function<ClampGrad> {
  static Tensor forward(Context&, Tensor x) { return x; }
  static Tensor backward(Context&, Tensor g) { return tn::clamp(g, -1, 1); }
};

TEST(Tensor, FromValues) {
  load_all();
  Tensor t = tn::tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  expect_sizes(t, {2, 3});
  EXPECT_EQ(t.dim(), 2);
  EXPECT_EQ(t.numel(), 6);
  EXPECT_EQ(t.size(-1), 3);
  EXPECT_EQ(t.stride(0), 3);
  EXPECT_EQ(t.dtype(), tn::float32);
  EXPECT_EQ(t.device(), tn::cpu);
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_EQ(t.data<float>()[4], 5);
  EXPECT_EQ(t[1][2].item<int>(), 6);
  EXPECT_EQ(Tensor::from(std::vector<int64_t>{1, 2, 3, 4}, {2, 2}).to_vector<double>(),
            (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(tn::tensor({true, false}).dtype(), tn::bool_);
  EXPECT_EQ(tn::tensor(uint8_t{200}).item<int>(), 200);
  EXPECT_EQ(tn::tensor(2.5).dtype(), tn::float32);
}

TEST(Tensor, HandlesShareAndMove) {
  Tensor none;
  EXPECT_FALSE(none.defined());
  Tensor a = tn::zeros({2}), b = a;
  EXPECT_TRUE(a.is_same(b));
  b.mutable_data<float>()[0] = 3;
  EXPECT_EQ(a.data<float>()[0], 3);
  uint64_t version = a.version();
  a += 1;
  EXPECT_GT(a.version(), version);
  Tensor c = std::move(b);
  EXPECT_FALSE(b.defined());
  EXPECT_TRUE(c.is_same(a));
  c = c.clone();
  EXPECT_FALSE(c.same_storage(a));
  c.copy_(tn::tensor({7.0, 8.0}));
  expect_near(c, {7, 8});
}

TEST(Tensor, HandlesReleaseWhatTheyHold) {
  load_all();
  auto work = [] {
    Tensor x = tn::randn({64, 64}).requires_grad_();
    auto [a, b] = tn::chunk<2>(tn::matmul(x, x), 1);
    Tensor y = tn::cat({tn::softmax(a), b + 1.0, ClampGrad::apply(a)}, 1);
    y.register_hook([](Tensor g) { return g * 2; });
    tn::grad(y.sum(), x, {.create_graph = true}).sum().backward();
    EXPECT_THROW(tn::matmul(y, tn::ones({7, 7})), tn::Error);
  };
  work();
  uint64_t before = tn::cpu.memory_stats().allocated;
  for (int i = 0; i < 3; ++i) work();
  EXPECT_EQ(tn::cpu.memory_stats().allocated, before);
}

TEST(Tensor, HalvesAreReadAsNumbers) {
  for (tn::Dtype dtype : {tn::float16, tn::bfloat16}) {
    Tensor t = tn::tensor({1.5f, -0.25f, 65504.f, 5.9604645e-8f, INFINITY}).to(dtype);
    std::vector<double> values = t.to_vector<double>();
    EXPECT_EQ(values[0], 1.5);
    EXPECT_EQ(values[1], -0.25);
    EXPECT_EQ(values[2], dtype == tn::float16 ? 65504 : 65536);
    EXPECT_EQ(values[3], 0x1p-24);
    EXPECT_EQ(values[4], INFINITY);
  }
}

TEST(Tensor, WrongReadsAreErrors) {
  Tensor t = tn::zeros({2, 2});
  expect_error([&] { t.data<double>(); },
               "the tensor is float32, elements of float64 were asked for");
  expect_error([&] { t.item<float>(); }, "a tensor of one element is needed, this has 4");
  expect_error([&] { t.stride(-3); },
               "stride: dimension -3 is out of range for a tensor of rank 2");
  expect_error([&] { t.size(2); }, "size: dimension 2 is out of range for a tensor of rank 2");
  EXPECT_EQ(Tensor::from(std::vector<float>{1}, {}).dim(), 0);
  EXPECT_EQ(Tensor::from(std::vector<float>{1}).dim(), 1);
  EXPECT_EQ(Tensor::from(std::vector<float>{1, 2, 3}, -1).size(0), 3);
  expect_error(
      [&] {
        Tensor::from(std::vector<float>{1, 2, 3}, {});
      },
      "3 values do not fill sizes of 1 elements");
  expect_error([&] { Tensor::from(std::vector<float>{1, 2, 3}, {2, 2}); }, "3 values do not fill");
  for (tn::Device d : devices()) {
    if (!d.is_cpu()) expect_error([&] { tn::zeros({2}, {}, d).data<float>(); }, ".to(tenon::cpu)");
  }
}

TEST(Device, ParsesAndNames) {
  load_all();
  EXPECT_EQ(tn::Device("cpu"), tn::cpu);
  EXPECT_EQ(tn::cpu.name(), "cpu");
  EXPECT_FALSE(tn::Device::all().empty());
  for (tn::Device d : devices()) {
    EXPECT_EQ(tn::Device(d.name()), d);
    Tensor t = tn::tensor({1.f, 2.f}, d);
    EXPECT_EQ(t.device(), d);
    expect_near(t.to(tn::cpu), {1, 2});
    tn::synchronize(d);
  }
}

TEST(Errors, CarryCodeAndText) {
  load_all();
  try {
    tn::call("no_such_op", tn::zeros({1}));
    FAIL();
  } catch (const tn::Error& e) {
    EXPECT_EQ(e.code(), TN_NOT_FOUND);
    EXPECT_NE(std::string(e.what()).find("no_such_op"), std::string::npos);
    tn::Error copy = e;
    EXPECT_STREQ(copy.what(), e.what());
  }
  expect_error([] { tn::call("add", tn::zeros({1})); }, "add");
  expect_error([] { tn::call<std::tuple<Tensor, Tensor>>("add", tn::zeros({1}), 1); }, "add");
}

struct Mine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST(Errors, AnExceptionOfTheApplicationComesOutAsItself) {
  Tensor x = tn::ones({2}).requires_grad_();
  Tensor y = (x * 2).sum();
  y.register_hook([](Tensor) { throw Mine("from the hook"); });
  try {
    y.backward();
    FAIL();
  } catch (const Mine& e) {
    EXPECT_STREQ(e.what(), "from the hook");
  }
  // And the library goes on.
  (x * 3).sum().backward();
  expect_near(x.grad(), {3, 3});
}

TEST(Autograd, HooksReplaceGradients) {
  Tensor x = tn::ones({2}).requires_grad_();
  int seen = 0;
  uint64_t id = x.register_hook([&](Tensor g) {
    ++seen;
    return g * 10;
  });
  x.register_hook([&](Tensor) { ++seen; });
  (x * 2).sum().backward();
  expect_near(x.grad(), {20, 20});
  EXPECT_EQ(seen, 2);
  x.remove_hook(id);
  x.zero_grad();
  EXPECT_FALSE(x.grad().defined());
  (x * 2).sum().backward();
  expect_near(x.grad(), {2, 2});
}

TEST(Autograd, ModesNest) {
  Tensor x = tn::ones({1}).requires_grad_();
  EXPECT_TRUE((x * 2).requires_grad());
  {
    tn::NoGrad guard;
    EXPECT_FALSE((x * 2).requires_grad());
    {
      tn::EnableGrad again;
      EXPECT_TRUE((x * 2).requires_grad());
    }
    EXPECT_FALSE(tn::grad_enabled());
  }
  Tensor made;
  {
    tn::InferenceMode guard;
    made = x * 2;
  }
  EXPECT_TRUE(tn::grad_enabled());
  expect_error([&] { (made * x).sum().backward(); }, "inference mode");
}

TEST(Autograd, GradOfChosenInputs) {
  Tensor x = float64_tensor({2}, {1}).requires_grad_(),
         z = float64_tensor({1}, {1}).requires_grad_();
  Tensor y = x * x * x;
  Tensor first = tn::grad(y, x, {.create_graph = true});
  expect_near(first, {12}, 1e-12);
  Tensor second = tn::grad(first, x, {.create_graph = true});
  expect_near(second, {12}, 1e-12);
  expect_near(tn::grad(second, x), {6}, 1e-12);
  EXPECT_FALSE(x.grad().defined());
  Tensor w = z * 2;
  expect_error([&] { tn::grad(w, x); }, "");
  EXPECT_FALSE(tn::grad(z * 2, x, {.allow_unused = true}).defined());
  expect_error([&] { tn::grad({w}, {z}, {.grad_outputs = {w, w}}); }, "2 gradients for 1 outputs");
  tn::backward({x * 1.0, z * 1.0});
  expect_near(z.grad(), {1});
}

TEST(Autograd, BackwardTwiceIsAnError) {
  Tensor x = tn::ones({2}).requires_grad_();
  Tensor y = tn::square(x).sum();
  y.backward({}, /*retain_graph=*/true);
  y.backward();
  expect_near(x.grad(), {4, 4});
  expect_error([&] { y.backward(); }, "retain_graph");
  expect_error([&] { tn::ones({1}).backward(); }, "");
}

TEST(Autograd, TheGraphCanBeWalked) {
  Tensor x = tn::ones({2}).requires_grad_();
  Tensor y = tn::exp(x) * 2;
  tn::Node node = tn::grad_fn(y);
  ASSERT_TRUE(node);
  EXPECT_NE(node.name().find("mul"), std::string::npos) << node.name();
  ASSERT_GE(node.n_next(), 1u);
  EXPECT_NE(node.next(0).name().find("exp"), std::string::npos) << node.next(0).name();
  EXPECT_FALSE(tn::grad_fn(x));
  bool seen = false;
  node.register_hook([&](Tensor g) { seen = g.numel() == 2; });
  y.sum().backward();
  EXPECT_TRUE(seen);
}

TEST(Autograd, AnomalyModeNamesTheCall) {
  tn::AnomalyGuard guard;
  Tensor x = tn::zeros({1}).requires_grad_();
  Tensor y = tn::sqrt(x) * 0;
  expect_error([&] { y.backward(); }, "sqrt");
}

struct Scaled : tn::Function<Scaled> {
  struct Context : tn::Context {
    double factor;
  };
  static std::tuple<Tensor, Tensor> forward(Context& context, Tensor x, Tensor y, double factor) {
    context.factor = factor;
    context.save({x, y});
    return {x * y * factor, x + y};
  }
  static std::tuple<Tensor, Tensor> backward(Context& context, Tensor g, Tensor h) {
    return {g * context.saved(1) * context.factor + h, g * context.saved(0) * context.factor + h};
  }
};

TEST(Function, HasAGradientOfItsOwn) {
  Tensor x = tn::tensor({0.1f, 5.f}).requires_grad_();
  Tensor y = tn::pipe(x, ClampGrad::apply, [](auto t) { return t * t * 3; });
  EXPECT_FALSE(y.is_same(x));
  EXPECT_TRUE(ClampGrad::apply(x).same_storage(x));
  y.sum().backward();
  expect_near(x.grad(), {0.6, 1});
  EXPECT_NE(tn::grad_fn(ClampGrad::apply(x)).name().find("ClampGrad"), std::string::npos);
}

TEST(Function, SavesTensorsAndNumbers) {
  Tensor x = float64_tensor({2, 3}, {2}), y = float64_tensor({5, 7}, {2});
  gradcheck(
      [](const TensorList& in) {
        auto [a, b] = Scaled::apply(in[0], in[1], 4.0);
        return a * b;
      },
      {x, y});
  // One of the outputs alone: the other's gradient comes as zeros.
  gradcheck([](const TensorList& in) { return std::get<0>(Scaled::apply(in[0], in[1], 4.0)); },
            {x, y});
  Tensor leaf = x.clone().requires_grad_(), other = y.clone();
  auto [a, b] = Scaled::apply(leaf, other, 2.0);
  other += 1;
  Tensor loss = a.sum();
  expect_error([&] { loss.backward(); }, "in place");
}

struct Net : tn::Module {
  Tensor weight = parameter("weight", tn::full({2, 2}, 0.5));
  explicit Net(double offset = 0) : offset_(offset) { buffer("offset", tn::full({1}, offset)); }
  ~Net() { ++destroyed; }
  Tensor forward(Tensor x) {
    if (x.size(-1) != 2) throw Mine("two features");
    return tn::relu(tn::linear(x, weight)) + offset_;
  }
  double offset_;
  inline static int destroyed = 0;
};

TEST(Module, IsAnObject) {
  load_all();
  Net::destroyed = 0;
  {
    auto net = tn::make<Net>(0.25);
    EXPECT_EQ(net.type_name(), "Net");
    expect_near(net(tn::ones({1, 2})), {1.25, 1.25});
    expect_near(net->forward(tn::ones({1, 2})), {1.25, 1.25});
    EXPECT_EQ(net.named_parameters().size(), 1u);
    EXPECT_EQ(net.named_parameters()[0].first, "weight");
    EXPECT_EQ(net.state_dict().size(), 2u);
    net(tn::ones({1, 2})).sum().backward();
    expect_near(net->weight.grad(), {1, 1, 1, 1});
    net.zero_grad();
    EXPECT_FALSE(net->weight.grad().defined());
    EXPECT_TRUE(net.training());
    net.eval();
    EXPECT_FALSE(net.training());
    EXPECT_THROW(net(tn::ones({1, 3})), Mine);
    expect_error([&] { net.invoke("backwards"); }, "backwards");
    tn::Object outer = tn::Object::empty("Outer");
    outer.child("net", net);
    outer.method("forward(Tensor x, int times=2) -> Tensor",
                 [](tn::Object& self, Tensor x, int64_t times) {
                   for (int64_t i = 0; i < times; ++i) x = self.child("net")(x);
                   return x;
                 });
    expect_near(outer(tn::ones({1, 2})), {1.5, 1.5});
    expect_near(outer(tn::ones({1, 2}), 1), {1.25, 1.25});
    EXPECT_EQ(outer.named_parameters()[0].first, "net.weight");
    EXPECT_NE(outer.to_string().find("Net"), std::string::npos);
    uint64_t id = net.register_forward_hook([](tn::Object&, Tensor, Tensor y) { return y * 2; });
    expect_near(net(tn::ones({1, 2})), {2.5, 2.5});
    net.remove_forward_hook(id);
    expect_near(net(tn::ones({1, 2})), {1.25, 1.25});
    EXPECT_EQ(Net::destroyed, 0);
  }
  EXPECT_EQ(Net::destroyed, 1);
}

TEST(Module, StateLoads) {
  auto a = tn::make<Net>(1.0), b = tn::make<Net>(2.0);
  a->weight.detach().fill_(3);
  b.load_state_dict(a.state_dict());
  expect_near(b->weight, {3, 3, 3, 3});
  expect_error([&] { b.load_state_dict({{"weights", tn::zeros({2, 2})}}); }, "weights");
}

TEST(Amp, AutocastChoosesByClass) {
  load_all();
  Tensor x = tn::ones({2, 2}).requires_grad_();
  {
    tn::Autocast guard(tn::cpu, tn::bfloat16);
    EXPECT_TRUE(tn::autocast_enabled());
    Tensor y = tn::matmul(x, x);
    EXPECT_EQ(y.dtype(), tn::bfloat16);
    EXPECT_EQ(tn::softmax(y).dtype(), tn::float32);
    EXPECT_EQ((y + x).dtype(), tn::float32);
    EXPECT_EQ(tn::exp(y).dtype(), tn::float32);
    y.sum().backward();
  }
  EXPECT_FALSE(tn::autocast_enabled());
  EXPECT_EQ(x.grad().dtype(), tn::float32);
  expect_near(x.grad(), {4, 4, 4, 4});
  {
    tn::Autocast guard(tn::cpu, tn::bfloat16, "O2");
    EXPECT_EQ((x + x).dtype(), tn::bfloat16);
    EXPECT_EQ(tn::softmax(x).dtype(), tn::float32);
  }
  expect_error([] { tn::Autocast guard(tn::cpu, {}, "O9"); }, "O9");
}

TEST(Explain, TellsWhatRan) {
  load_all();
  Tensor x = tn::ones({2, 3});
  std::string json = tn::explain([&] { tn::softmax(x); });
  EXPECT_NE(json.find("softmax"), std::string::npos) << json;
  EXPECT_NE(tn::ops_json().find("rms_norm"), std::string::npos);
  EXPECT_NE(tn::plugins_json().find("\"ops\""), std::string::npos);
}

}  // namespace
