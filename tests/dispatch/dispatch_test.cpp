// Which kernel runs, why the others did not, and what the host did to make it fit: as explain/1 and
// profile/1 tell it. The kernels of dispatch_kernels give away by their values which of them ran.
// PrimitivesOnly runs in a process of its own, with TENON_KERNELS=primitives.
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "ops_support.h"

namespace {

using Json = nlohmann::json;

void load_kernels() {
  static const bool loaded = [] {
    load_all();
    tn::load_plugin(std::string(std::getenv("TENON_BUILD_DIR")) +
                    "/tests/face_plugins/libdispatch_kernels.so");
    return true;
  }();
  (void)loaded;
}

bool primitives_only() { return std::getenv("TENON_KERNELS") != nullptr; }

struct Dispatch : testing::Test {
  void SetUp() override {
    if (primitives_only()) GTEST_SKIP() << "TENON_KERNELS is set";
    load_kernels();
  }
};

// The entries of f's outermost calls.
template <typename F>
Json explained(F&& f) {
  return Json::parse(tn::explain(f))["calls"];
}
// The one kernel of an entry, as "cpu ops.linear", without those that copied layouts and casts.
std::string kernel_of(const Json& entry) {
  std::string text;
  for (const Json& k : entry.value("kernels", Json::array())) {
    if (k["kernel"] == "copy") continue;
    if (!text.empty()) text += ", ";
    text += k["plugin"].get<std::string>() + " " + k["kernel"].get<std::string>();
  }
  return text;
}
std::vector<std::string> reasons_of(const Json& entry) {
  std::vector<std::string> reasons;
  for (const Json& r : entry.value("refusals", Json::array())) reasons.push_back(r["reason"]);
  return reasons;
}
std::vector<std::string> names_of(const Json& entries) {
  std::vector<std::string> names;
  for (const Json& e : entries) names.push_back(e["call"]);
  return names;
}
using Texts = std::vector<std::string>;

TEST_F(Dispatch, KernelsGetTheirSelfTyped) {
  const Tensor x = tn::ones({2});
  expect_near(tn::call("dispatch_kernels.by_static_self", x), {7, 7});
  expect_near(tn::call("dispatch_kernels.by_owned_self", x), {5, 5});
  expect_near(tn::call("dispatch_kernels.by_no_self", x), {2, 2});
  expect_near(tn::call("dispatch_kernels.by_c_function", x), {7, 7});
}

TEST_F(Dispatch, APairsFunctionsShareItsSelf) {
  const Tensor x = tn::ones({2}).requires_grad_();
  const Tensor y = tn::call("dispatch_kernels.pair_with_self", x);
  expect_near(y, {7, 7});
  tn::sum(y).backward();
  expect_near(x.grad(), {7, 7});
}

TEST_F(Dispatch, WhatAPairSaysOfItsPrivateOutputsIsLookedAt) {
  const Tensor x = tn::ones({2}).requires_grad_();
  const auto pair = [&](int64_t way) {
    return tn::call("dispatch_kernels.pair_carelessly", x, way);
  };
  expect_error([&] { pair(0); }, "infer: dtype -1 is reserved or unknown");
  expect_error([&] { pair(1); }, "infer: -1 dimensions, expected at most 16");
  const Tensor y = pair(2);  // it has memory of the call's device, whatever the pair says
  expect_near(y, {7, 7});
  tn::sum(y).backward();
  expect_near(x.grad(), {7, 7});
}

TEST_F(Dispatch, APredicateRefusesWithItsSelfAndItsReason) {
  const Tensor x = tn::ones({8});
  expect_error([&] { tn::call("dispatch_kernels.by_static_self", x); }, "takes 7 elements");
}

TEST_F(Dispatch, APredicateThatThrowsRefusesWithWhatItThrew) {
  Tensor y;
  const Json calls = explained([&] { y = tn::call("dispatch_kernels.doubts", tn::ones({1})); });
  expect_near(y, {2});
  EXPECT_EQ(reasons_of(calls.back()), Texts{"who knows"});
}

TEST_F(Dispatch, TakesTheHighestPriorityAndSaysWhyNotTheOthers) {
  Tensor x = tn::tensor({1.f, 2.f});
  Tensor y;
  Json calls = explained([&] { y = tn::call("dispatch_kernels.scaled", x); });
  expect_near(y, {102, 104});
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0]["call"], "scaled");
  EXPECT_EQ(calls[0]["device"], "cpu");
  EXPECT_EQ(calls[0]["args"],
            Json::parse(R"([{"sizes": [2], "dtype": "float32", "device": "cpu"}])"));
  EXPECT_EQ(kernel_of(calls[0]), "dispatch_kernels dispatch_kernels.scaled");
  EXPECT_EQ(reasons_of(calls[0]), (Texts{"lower priority", "lower priority"}));
  EXPECT_FALSE(calls[0].contains("decomposed"));
}

TEST_F(Dispatch, GoesDownTheListWhereAPredicateRefuses) {
  Tensor y;
  Json calls = explained([&] { y = tn::call("dispatch_kernels.scaled", tn::ones({5})); });
  expect_near(y, {202, 202, 202, 202, 202});
  EXPECT_EQ(reasons_of(calls.back()), (Texts{"5 elements are more than 4", "lower priority"}));
}

TEST_F(Dispatch, AKernelOfAnOlderSchemaIsPassedOverForAYoungerArgument) {
  Tensor y;
  Json calls = explained([&] { y = tn::call("dispatch_kernels.scaled", tn::ones({5}), 3); });
  expect_near(y, {303, 303, 303, 303, 303});
  EXPECT_EQ(reasons_of(calls.back()),
            (Texts{"5 elements are more than 4", "does not know argument 'by'"}));
  // The default said aloud is the default, as an int too.
  expect_near(tn::call("dispatch_kernels.scaled", tn::ones({5}), 2.0), {202, 202, 202, 202, 202});
  expect_near(tn::call("dispatch_kernels.scaled", tn::ones({5}), 2), {202, 202, 202, 202, 202});
}

TEST_F(Dispatch, APairOfAnOlderSchemaGetsTheArgumentsThatItKnows) {
  Tensor x = tn::tensor({1.f, 2.f}).requires_grad_();
  Tensor y = tn::call("dispatch_kernels.grown", x);
  expect_near(y, {402, 404});
  y.sum().backward();
  expect_near(x.grad(), {3, 3});
  // Where a younger argument is given, the meaning runs, with its own gradient.
  x.zero_grad();
  tn::call("dispatch_kernels.grown", x, tn::tensor({6.f, 7.f})).sum().backward();
  expect_near(x.grad(), {6, 7});
}

TEST_F(Dispatch, DecomposesWhereEveryKernelRefuses) {
  Tensor x = float64_tensor({1, 2}, {2}), y;
  uint64_t before = tn::counter("decompositions");
  Json calls = explained([&] { y = tn::call("dispatch_kernels.scaled", x); });
  expect_near(y, {2, 4});
  EXPECT_EQ(tn::counter("decompositions"), before + 1);
  EXPECT_TRUE(calls[0]["decomposed"].get<bool>());
  std::string dtype = "dtype float64 is not among its own";
  EXPECT_EQ(reasons_of(calls[0]), (Texts{dtype, dtype, dtype}));
  EXPECT_EQ(names_of(calls[0]["calls"]), Texts{"mul"});
  EXPECT_EQ(kernel_of(calls[0]["calls"][0]), "cpu elementwise");
  // A predicate without a word, of the plugin's kernel for `ref`; its device's name is with the reason.
  for (tn::Device d : devices()) {
    if (d.type() != "ref") continue;
    calls = explained([&] { y = tn::call("dispatch_kernels.scaled", x.to(d)); });
    expect_near(y, {2, 4});
    EXPECT_EQ(reasons_of(calls.back()), Texts{"refused without a reason"});
    EXPECT_EQ(calls.back()["refusals"][0]["device"], "ref");
    EXPECT_EQ(kernel_of(calls.back()["calls"][0]), "ref elementwise");
  }
}

TEST_F(Dispatch, CopiesLayoutsForKernelsThatWantThemDense) {
  Tensor x = tn::arange(0, 6).to(tn::float32).view({2, 3}), y;
  uint64_t before = tn::counter("layout_copies");
  Json calls = explained([&] { y = tn::call("dispatch_kernels.dense", x.t()); });
  expect_near(y, {0, 6, 2, 8, 4, 10});
  EXPECT_EQ(tn::counter("layout_copies"), before + 1);
  EXPECT_EQ(calls.back()["notes"], Json({"layout copy of [3, 2] for dispatch_kernels"}));
  // Dense ones are taken as they are, and so are dense rows where rows are enough.
  tn::call("dispatch_kernels.dense", x);
  expect_near(tn::call("dispatch_kernels.rows", x.narrow(1, 1, 2)), {2, 4, 8, 10});
  EXPECT_EQ(tn::counter("layout_copies"), before + 1);
  expect_near(tn::call("dispatch_kernels.rows", x.t()), {0, 6, 2, 8, 4, 10});
  EXPECT_EQ(tn::counter("layout_copies"), before + 2);
  expect_near(tn::call("dispatch_kernels.rows", x.narrow(0, 0, 1).expand({2, 3})),
              {0, 2, 4, 0, 2, 4});
  EXPECT_EQ(tn::counter("layout_copies"), before + 2);
}

// Elementwise ops keep the order of dimensions of their operand: a kernel that wants dense outputs
// gets them, and the result lands where it belongs.
std::vector<int64_t> strides_of(const Tensor& x) {
  return {x.strides().begin(), x.strides().end()};
}

TEST_F(Dispatch, AKernelChoosesTheOrderOfItsOutput) {
  Tensor x = tn::arange(0, 24).to(tn::float32).view({1, 2, 3, 4});
  Tensor last = x.contiguous("channels_last");
  EXPECT_EQ(strides_of(last), (std::vector<int64_t>{24, 1, 8, 2}));
  const uint64_t before = tn::counter("layout_copies");
  for (const Tensor& t : {x, last, x.permute({3, 2, 1, 0})}) {
    Tensor leaf = t.detach().requires_grad_(), y = tn::call("dispatch_kernels.twice", leaf);
    EXPECT_EQ(strides_of(y), strides_of(t));
    EXPECT_EQ(y.to_vector<float>(), (t * 2).to_vector<float>());
    // The gradient of the output lies as it does; the input's lies as the input.
    y.backward(y.detach());
    EXPECT_EQ(strides_of(leaf.grad()), strides_of(t));
    EXPECT_EQ(leaf.grad().to_vector<float>(), (t * 4).to_vector<float>());
  }
  EXPECT_EQ(tn::counter("layout_copies"), before);
  // Gaps and repetitions are copied.
  Tensor gaps = x.narrow(3, 0, 2);
  EXPECT_EQ(tn::call("dispatch_kernels.twice", gaps).to_vector<float>(),
            (gaps * 2).to_vector<float>());
  Tensor repeated = x.narrow(3, 0, 1).expand({1, 2, 3, 4});
  EXPECT_EQ(tn::call("dispatch_kernels.twice", repeated).to_vector<float>(),
            (repeated * 2).to_vector<float>());
  EXPECT_GE(tn::counter("layout_copies"), before + 2);
  expect_error(
      [&] { tn::call("dispatch_kernels.misordered", x); },
      "misordered: the kernel of dispatch_kernels gave [7, 1, 2, 3] as the order of 4 dimensions");
}

TEST_F(Dispatch, CopiesLayoutsOfOutputsToo) {
  Tensor x = tn::arange(0, 6).to(tn::float32).view({2, 3});
  Tensor y = tn::call("dispatch_kernels.dense_formula", x.t());
  expect_near(y, {0, 6, 2, 8, 4, 10});
  tn::call("dispatch_kernels.dense_formula_", x.t());
  expect_near(x, {0, 2, 4, 6, 8, 10});
  tn::call("dispatch_kernels.dense_formula_", x.narrow(1, 1, 1));
  expect_near(x, {0, 4, 4, 6, 16, 10});
}

TEST_F(Dispatch, WritesBackWhatAKernelWroteIntoACopy) {
  Tensor x = tn::arange(0, 6).to(tn::float32).view({2, 3}), dense = tn::ones({2});
  uint64_t version = x.version();
  tn::call<void>("dispatch_kernels.dense_all_", std::vector<Tensor>{x.narrow(1, 0, 2), dense});
  expect_near(x, {0, 2, 2, 6, 8, 5});
  expect_near(dense, {2, 2});
  EXPECT_GT(x.version(), version);
}

// Kernels of primitives have their predicates too, and layouts where a primitive has tensors.
TEST_F(Dispatch, PrimitivesChooseAmongKernels) {
  Tensor a = tn::arange(0, 34).to(tn::float32).view({17, 2}).t(), b = tn::ones({17, 3}), y;
  Json calls = explained([&] { y = tn::matmul(a, b); });
  // The sums of 0, 2 .. 32 and of 1, 3 .. 33.
  expect_near(y, {272, 272, 272, 289, 289, 289});
  const Json& inner = calls[0]["calls"][0];
  EXPECT_EQ(inner["call"], "matmul");
  EXPECT_EQ(kernel_of(inner), "dispatch_kernels matmul");
  EXPECT_EQ(inner["notes"], Json({"layout copy of [1, 2, 17] for dispatch_kernels"}));
  EXPECT_EQ(reasons_of(inner), Texts{"lower priority"});
  expect_near(tn::matmul(tn::ones({4, 2, 17}), b.expand({4, 17, 3})), std::vector<double>(24, 17));
  calls = explained([&] { y = tn::matmul(b, tn::ones({3, 2})); });
  EXPECT_EQ(kernel_of(calls.back()["calls"][0]), "cpu matmul");
  EXPECT_EQ(reasons_of(calls.back()["calls"][0]), Texts{"a depth of 17 is all it knows"});
}

TEST_F(Dispatch, FallbackIsAPolicy) {
  const tn::Device ref("ref");
  Tensor x = tn::ones({2, 3}, {}, ref), w = tn::ones({4, 3}, {}, ref);
  const uint64_t before = tn::counter("fallbacks");
  tn::linear(x, w);                           // cpu has a kernel, ref has none
  tn::linear(x, w.clone().requires_grad_());  // the same when it is recorded
  EXPECT_EQ(tn::counter("fallbacks"), before + 2);
  tn::call("dispatch_kernels.plain", x);  // nobody has a kernel: a decomposition by nature
  tn::linear(tn::ones({2, 3}), tn::ones({4, 3}));
  EXPECT_EQ(tn::counter("fallbacks"), before + 2);
  struct Policy {
    explicit Policy(tn::Fallback policy) { tn::set_fallback(policy); }
    ~Policy() { tn::set_fallback(tn::Fallback::decompose); }
  } policy(tn::Fallback::error);
  EXPECT_EQ(tn::fallback(), tn::Fallback::error);
  const char* const refused =
      "linear: ref:0 has no kernel for this call, and the fallback policy is 'error'";
  expect_error([&] { tn::linear(x, w); }, refused);
  expect_error([&] { tn::linear(x, w.clone().requires_grad_()); }, refused);
  tn::call("dispatch_kernels.plain", x);
  tn::linear(tn::ones({2, 3}), tn::ones({4, 3}));
  expect_error([&] { tn::check(tn::detail::api.device->set_fallback(TN_FALLBACK_CPU)); },
               "'cpu' is reserved");
  expect_error([&] { tn::check(tn::detail::api.device->set_fallback(7)); }, "policy 7 is unknown");
}

TEST_F(Dispatch, FusedLinearReluDecomposesWhereItHasNoKernel) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({2, 3}, {}, d), w = tn::ones({4, 3}, {}, d), b = tn::full({4}, -1.0, {}, d);
    Json calls = explained([&] { tn::linear_relu(x, w, b); });
    if (d.type() != "ref") {
      EXPECT_EQ(kernel_of(calls[0]), d.type() + " ops.linear_relu");
      EXPECT_FALSE(calls[0].contains("calls"));
    } else {
      EXPECT_EQ(kernel_of(calls[0]), "");
      EXPECT_TRUE(calls[0]["decomposed"].get<bool>());
      EXPECT_EQ(names_of(calls[0]["calls"]), (Texts{"permute", "matmul", "plus_relu"}));
      EXPECT_EQ(kernel_of(calls[0]["calls"][2]), "ref elementwise");
    }
  }
  // Under gradient: a kernel without backward gives way to what can be recorded, and says so.
  Tensor w = tn::ones({4, 3}).requires_grad_();
  Json calls = explained([&] { tn::linear_relu(tn::ones({2, 3}), w); });
  EXPECT_EQ(calls.back()["notes"],
            Json({"the kernel of cpu has no gradient: the decomposition is recorded instead"}));
  EXPECT_EQ(names_of(calls.back()["calls"]), (Texts{"permute", "matmul", "positive"}));
}

TEST_F(Dispatch, CrossEntropyIsAPairOnCpuWithAndWithoutGradient) {
  Tensor target = tn::tensor({int64_t(2), int64_t(0)});
  for (tn::Dtype dtype : {tn::float32, tn::float64}) {
    SCOPED_TRACE(dtype.name());
    Tensor x = sample({2, 3}).to(dtype);
    Tensor plain, recorded, leaf = x.clone().requires_grad_();
    Json calls = explained([&] { plain = tn::cross_entropy(x, target); });
    EXPECT_EQ(kernel_of(calls[0]), "cpu ops.cross_entropy");
    EXPECT_TRUE(calls[0]["kernels"][0]["pair"].get<bool>());
    calls = explained([&] { recorded = tn::cross_entropy(leaf, target); });
    EXPECT_EQ(kernel_of(calls[0]), "cpu ops.cross_entropy");
    EXPECT_EQ(tn::grad_fn(recorded).name(), "cross_entropy");
    EXPECT_EQ(plain.item<double>(), recorded.item<double>());
    calls = explained([&] { recorded.backward(); });
    EXPECT_EQ(names_of(calls), Texts{"cross_entropy backward"});
    EXPECT_EQ(kernel_of(calls[0]), "cpu ops.cross_entropy");
    // (softmax - one_hot) / n
    std::vector<double> v = x.to_vector<double>(), expected(6);
    for (int i = 0; i < 2; ++i) {
      double total = 0;
      for (int k = 0; k < 3; ++k) total += std::exp(v[size_t(3 * i + k)]);
      for (int k = 0; k < 3; ++k) {
        double hot = k == (i == 0 ? 2 : 0) ? 1 : 0;
        expected[size_t(3 * i + k)] = (std::exp(v[size_t(3 * i + k)]) / total - hot) / 2;
      }
    }
    expect_near(leaf.grad(), expected, dtype == tn::float32 ? 1e-6 : 1e-13);
  }
}

// d²L/dx² = (diag(p) - p pᵀ) / n, which only the decomposition can give.
TEST_F(Dispatch, ASecondGradientOfAPairIsItsDecompositions) {
  Tensor target = tn::tensor({int64_t(1)});
  auto loss = [&](const TensorList& in) { return tn::cross_entropy(in[0], target); };
  gradcheck(loss, {sample({1, 3})});
  for (tn::Dtype dtype : {tn::float32, tn::float64}) {
    SCOPED_TRACE(dtype.name());
    Tensor x =
        tn::tensor({{0.0, std::log(2.0), std::log(5.0)}}, tn::float64).to(dtype).requires_grad_();
    Tensor first;
    Json calls = explained([&] { first = tn::grad(loss({x}), x, {.create_graph = true}); });
    EXPECT_EQ(kernel_of(calls[0]), "cpu ops.cross_entropy");
    double tolerance = dtype == tn::float32 ? 1e-6 : 1e-13;
    expect_near(first, {1.0 / 8, 2.0 / 8 - 1, 5.0 / 8}, tolerance);
    expect_near(tn::grad(first.slice(1, 0, 1).sum(), x), {7.0 / 64, -2.0 / 64, -5.0 / 64},
                tolerance);
  }
}

TEST_F(Dispatch, DynamicOpsAreSizedByTheirKernel) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({{0.f, 2.f}, {3.f, 0.f}}, d), found;
    Json calls = explained([&] { found = tn::nonzero(x.t()); });
    EXPECT_EQ(kernel_of(calls.back()), d.type() + " nonzero");
    expect_sizes(found, {2, 2});
    expect_near(found, {0, 1, 1, 0});
    EXPECT_FALSE(tn::nonzero(x.clone().requires_grad_()).requires_grad());
  }
  Tensor x = tn::ones({2});
  expect_error([&] { tn::call("dispatch_kernels.sets_twice", x); },
               "set_output: output 0 was set before");
  expect_error([&] { tn::call("dispatch_kernels.sets_nothing", x); },
               "sets_nothing: the kernel of dispatch_kernels set no output 0");
  expect_error([&] { tn::call("dispatch_kernels.sets_fixed", x); },
               "set_output: output 0 is not an output of a dynamic op");
  expect_error([&] { tn::call("dispatch_kernels.sets_huge", x); },
               "set_output: the shape [4611686018427387903, 4] (float32) overflows");
  expect_error([&] { tn::call("dispatch_kernels.infers_huge", x); },
               "the shape [9223372036854775807, 2] (float32) overflows");
  expect_error([&] { tn::call("dispatch_kernels.endless", x); },
               "endless: decompositions are 256 deep: it is made of itself");
  x.requires_grad_();
  expect_error([&] { tn::call<Tensor>("dispatch_kernels.whole_gradient", x).sum().backward(); },
               "backward gave [2] int64 on cpu for input 0, expected [2] float32 on cpu");
}

TEST_F(Dispatch, InPlaceSpellingsWriteTheirArgument) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({1.f, 2.f}, d), y;
    uint64_t version = x.version();
    Json calls = explained([&] { y = tn::add_(x, 1); });
    EXPECT_EQ(calls[0]["call"], "add_");
    EXPECT_EQ(kernel_of(calls[0]), d.type() + " elementwise");
    EXPECT_TRUE(y.is_same(x));
    EXPECT_EQ(x.version(), version + 1);
    expect_near(x, {2, 3});
  }
}

TEST_F(Dispatch, KernelsThatFailLeaveNothingBehind) {
  Tensor x = tn::ones({64});
  uint64_t live = tn::cpu.memory_stats().allocated;
  try {
    tn::call("dispatch_kernels.fails", x);
    FAIL() << "no error";
  } catch (const tn::Error& e) {
    EXPECT_EQ(e.code(), TN_FAILED_PRECONDITION);
    EXPECT_NE(std::string(e.what()).find("the fan is off"), std::string::npos) << e.what();
  }
  EXPECT_EQ(tn::cpu.memory_stats().allocated, live);
  expect_error([&] { tn::call("dispatch_kernels.gives_nothing", x); },
               "gives_nothing: its decomposition gave None for output 0, expected a tensor");
  for (tn::Device d : devices()) {
    if (d.is_cpu()) continue;
    expect_error(
        [&] { tn::call("dispatch_kernels.fails", x.to(d)); },
        "fails: " + d.name() + " has no kernel for this call, and the op has no decomposition");
  }
}

TEST_F(Dispatch, KernelsBorrowMemoryAndRandomState) {
  Tensor x = tn::zeros({1000});
  uint64_t live = tn::cpu.memory_stats().allocated;
  EXPECT_EQ(tn::call("dispatch_kernels.borrows", x).sum().item<float>(), 7000);
  EXPECT_EQ(tn::cpu.memory_stats().allocated, live);
  tn::manual_seed(42);
  Tensor two = tn::zeros({2});
  Tensor first = tn::call("dispatch_kernels.draws", two);
  Tensor second = tn::call("dispatch_kernels.draws", two);
  EXPECT_EQ(first.to_vector<float>()[0], 42);
  EXPECT_NE(first.to_vector<float>()[1], second.to_vector<float>()[1]);
  tn::manual_seed(42);
  EXPECT_EQ(tn::call("dispatch_kernels.draws", two).to_vector<float>(), first.to_vector<float>());
}

struct Event {
  std::string op;
  int32_t begin;
  uint64_t ns;
};

TEST_F(Dispatch, ProfileSeesEachOpBeginAndEnd) {
  std::vector<Event> events;
  const tn_profile_api* profile = tn::detail::api.profile.get();
  Tensor x = tn::ones({2, 3}), wide = x.to(tn::float64);
  profile->set(
      [](void* context, const char* op, int32_t begin, uint64_t ns) {
        static_cast<std::vector<Event>*>(context)->push_back({op, begin, ns});
      },
      &events);
  x + 1;
  tn::call("dispatch_kernels.scaled", wide);
  profile->set(nullptr, nullptr);
  x + 1;
  Texts order;
  for (const Event& e : events) order.push_back((e.begin ? "+" : "-") + e.op);
  EXPECT_EQ(order, (Texts{"+add", "-add", "+scaled", "+mul", "-mul", "-scaled"}));
  for (size_t i = 1; i < events.size(); ++i) EXPECT_GE(events[i].ns, events[i - 1].ns);
}

TEST_F(Dispatch, ExplainTellsOfBackwardToo) {
  Tensor x = tn::ones({2, 3}).requires_grad_(), w = tn::ones({3, 2}).requires_grad_();
  Tensor y = tn::relu(tn::matmul(x, w)).sum();
  Json calls = explained([&] { y.backward(); });
  EXPECT_EQ(names_of(calls), (Texts{"sum backward", "relu backward", "matmul backward"}));
  EXPECT_EQ(kernel_of(calls[1]), "cpu elementwise");
  EXPECT_EQ(names_of(calls[2]["calls"]), (Texts{"permute", "matmul", "permute", "matmul"}));
}

TEST_F(Dispatch, ExplainSurvivesErrorsAndNesting) {
  Json calls = explained([&] {
    try {
      tn::ones({2}) + tn::ones({3});
    } catch (const tn::Error&) {
    }
    tn::zeros({1});
  });
  EXPECT_EQ(names_of(calls), (Texts{"ones", "ones", "add", "zeros"}));
  EXPECT_EQ(explained([] {}), Json::array());
  const char* json = nullptr;
  tn::check(tn::detail::api.explain->end(&json));  // without begin
  EXPECT_EQ(Json::parse(tn::detail::take_text(json))["calls"], Json::array());
  EXPECT_EQ(tn::counter("no_such_counter"), 0u);
}

TEST(PrimitivesOnly, KernelsOfOpsAreLeftOut) {
  if (!primitives_only()) GTEST_SKIP() << "run with TENON_KERNELS=primitives";
  load_kernels();
  Tensor x = tn::ones({2, 3}), w = tn::ones({4, 3}), y;
  Json calls = explained([&] { y = tn::linear_relu(x, w); });
  expect_near(y, std::vector<double>(8, 3));
  EXPECT_EQ(reasons_of(calls[0]), Texts{"TENON_KERNELS=primitives"});
  EXPECT_TRUE(calls[0]["decomposed"].get<bool>());
  EXPECT_EQ(kernel_of(calls[0]["calls"][1]), "cpu matmul");
  calls = explained([&] { y = tn::call("dispatch_kernels.scaled", tn::ones({2})); });
  expect_near(y, {2, 2});
  EXPECT_EQ(reasons_of(calls.back()), Texts(3, "TENON_KERNELS=primitives"));
  Tensor leaf = sample({2, 3}).requires_grad_(), target = tn::tensor({int64_t(0), int64_t(1)});
  calls = explained([&] { y = tn::cross_entropy(leaf, target); });
  EXPECT_TRUE(calls[0]["decomposed"].get<bool>());
  gradcheck([&](const TensorList& in) { return tn::cross_entropy(in[0], target); }, {leaf});
  expect_error([&] { tn::call("dispatch_kernels.fails", x); },
               "fails: cpu has no kernel for this call: dispatch_kernels: TENON_KERNELS=primitives,"
               " and the op has no decomposition");
}

}  // namespace
