// What the host says of a plugin's mistakes: views that go backwards, inference that forgets, reasons
// without an end, lists in the wrong clothes, optimizers that nobody could step.
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <tenon/amp.hpp>
#include <tenon/optim.hpp>
#include <tenon/plugin.hpp>
#include <tenon/tenon.hpp>

#include "files_support.h"

namespace tenon {
namespace {

using Lists = std::vector<Tensor>;

// Ids are taken once in a process.
std::string new_id() {
  static int n = 0;
  return "mine" + std::to_string(n++);
}

class PluginRefusals : public ::testing::Test {
  void SetUp() override { load_plugins(); }
};

TEST_F(PluginRefusals, AViewHasNoNegativeStride) {
  add_plugin("backwards", [] {
    using namespace plugin;
    op("flipped(Tensor(a) x) -> Tensor(a)").view([](const tn_tensor* x) {
      View view;
      view.offset = x->sizes[1] - 1;
      view.append(x->sizes[0], x->strides[0]);
      view.append(x->sizes[1], -1);
      return view;
    });
  });
  const Tensor x = ones({2, 3});
  EXPECT_SAYS(call("backwards.flipped", x),
              "backwards.flipped: stride -1 of dimension 1 is negative");
  EXPECT_SAYS(call("backwards.flipped", ones({2, 3}).requires_grad_()),
              "stride -1 of dimension 1 is negative");
}

// What an inference leaves unset: no memory of an earlier call, but a scalar of no dtype on the call's
// device.
tn_status* infer_nothing(void*, const tn_value*, uint32_t, tn_meta*, uint32_t) { return nullptr; }
tn_status* infer_sizes(void*, const tn_value* args, uint32_t, tn_meta* y, uint32_t) {
  y->ndim = args[0].as.tensor->ndim;
  y->dtype = TN_FLOAT32;
  for (int32_t d = 0; d < y->ndim; ++d) y->sizes[d] = args[0].as.tensor->sizes[d];
  return nullptr;
}
tn_status* infer_elsewhere(void*, const tn_value*, uint32_t, tn_meta* y, uint32_t) {
  y->dtype = TN_FLOAT32;
  y->device = {77, 0};
  return nullptr;
}

void define(const char* schema, tn_infer_fn infer, uint32_t flags = 0) {
  tn_op_def def{};
  def.size = sizeof def;
  def.schema = schema;
  def.infer = infer;
  def.flags = flags;
  tn_registrar* const r = detail::registration.get();
  detail::registration.note(r->op(r, &def));
}

TEST_F(PluginRefusals, WhatInferenceForgetsIsRefused) {
  add_plugin("forgets", [] {
    using namespace plugin;
    define("all(Tensor x) -> Tensor", infer_nothing);
    define("device(Tensor x) -> Tensor", infer_sizes);
    define("elsewhere(Tensor x) -> Tensor", infer_elsewhere, TN_OP_DYNAMIC);
    for (const char* name : {"forgets.all", "forgets.device", "forgets.elsewhere"}) {
      for (const char* device : {"cpu", "ref"})
        kernel(name, device, {}, [](const Call& call) { call.set_output(0, {1}); });
    }
    kernel("forgets.device", "ref", {.priority = 1}, [](const Call&) {});
    kernel("forgets.device", "cpu", {.priority = 1}, [](const Call&) {});
  });
  EXPECT_SAYS(call("forgets.all", ones({2})), "dtype -1 is reserved or unknown");
  EXPECT_EQ(call("forgets.device", ones({2})).device(), cpu);
  EXPECT_EQ(call("forgets.device", ones({2}, float32, Device("ref"))).device(), Device("ref"));
  EXPECT_SAYS(call("forgets.elsewhere", ones({2})), "infer of plugin 'forgets' gives");
}

TEST_F(PluginRefusals, AReasonThatFillsItsPlaceIsCut) {
  add_plugin("wordy", [] {
    using namespace plugin;
    op("speaks(Tensor x) -> Tensor").infer([](Tensor x) { return Meta(x); });
    tn_kernel_def def{};
    def.size = sizeof def;
    def.op = "wordy.speaks";
    def.device = "cpu";
    def.launch = [](void*, const tn_call*) -> tn_status* { return nullptr; };
    def.supports = [](void*, const tn_call*, char* reason, size_t bytes) -> int32_t {
      std::memset(reason, 'x', bytes);
      return 0;
    };
    tn_registrar* const r = detail::registration.get();
    detail::registration.note(r->kernel(r, &def));
  });
  const std::string said = files::message_of([] { call("wordy.speaks", ones({2})); });
  const size_t first = said.find("xxxx");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find_first_not_of('x', first) - first, 255u) << said;
}

TEST_F(PluginRefusals, AVectorIsTheOneResultThatIsAList) {
  add_plugin("lists", [] {
    using namespace plugin;
    op("halve(Tensor x) -> Tensor[]").meaning([](Tensor x) { return Lists{x / 2, x / 4}; });
    op("alone(Tensor x) -> Tensor[]").meaning([](Tensor x) { return Lists{x}; });
    op("halves_of(Tensor[] xs) -> (Tensor[] halves, Tensor sum)").meaning([](Lists xs) {
      return tuple(Lists{xs[0] / 2, xs[1] / 2}, xs[0] + xs[1]);
    });
    op("weighted(Tensor[] xs, Tensor w) -> Tensor")
        .meaning([](Lists xs, Tensor w) { return (xs[0] + xs[1]) * w; })
        .vjp([](Vjp g, Lists xs, Tensor w) {
          return tuple(Lists{g.grad() * w, g.grad() * w}, g.grad() * (xs[0] + xs[1]));
        });
    op("two(Tensor x) -> (Tensor, Tensor)").meaning([](Tensor x) { return Lists{x, x + 1}; });
    layer("Halver()", [](Object& self) {
      self.method("forward(Tensor x) -> Tensor[]", [](Tensor x) { return Lists{x, x / 2}; });
    });
  });
  const Tensor x = tensor({4.f}).requires_grad_();
  const Lists halves = call<Lists>("lists.halve", x);
  ASSERT_EQ(halves.size(), 2u);
  EXPECT_EQ(halves[1].item<float>(), 1);
  (halves[0] + halves[1]).backward();
  EXPECT_EQ(x.grad().item<float>(), 0.75f);
  EXPECT_EQ(call<Lists>("lists.alone", x).size(), 1u);
  const auto [list, sum] = call<std::tuple<Lists, Tensor>>("lists.halves_of", Lists{x, x});
  EXPECT_EQ(list[1].item<float>(), 2);
  EXPECT_EQ(sum.item<float>(), 8);
  const Tensor w = tensor({3.f}).requires_grad_();
  x.zero_grad();
  call("lists.weighted", Lists{x, x}, w).backward();
  EXPECT_EQ(x.grad().item<float>(), 6);
  EXPECT_EQ(w.grad().item<float>(), 8);
  EXPECT_EQ((std::get<1>(call<std::tuple<Tensor, Tensor>>("lists.two", x)).item<float>()), 5);
  EXPECT_EQ(Object::create("Halver").invoke<Lists>("forward", x).size(), 2u);
}

TEST_F(PluginRefusals, AListIsSpelledRightAtTheRegistration) {
  EXPECT_SAYS(
      add_plugin(new_id(),
                 [] { plugin::op("f(Tensor x) -> Tensor[]").meaning([](Tensor x) { return x; }); }),
      "f': meaning gives no list, the schema gives a list: give a vector<Tensor>");
  EXPECT_SAYS(
      add_plugin(new_id(),
                 [] {
                   plugin::op("f(Tensor x) -> (Tensor[], Tensor)").meaning([](Tensor x) {
                     return Lists{x, x};
                   });
                 }),
      "f': meaning gives a vector<Tensor>, the schema gives lists among its results: give a "
      "tuple, in which each list is a vector<Tensor>");
  const Object object = Object::empty("Mine");
  EXPECT_SAYS(object.method("parts(Tensor x) -> Tensor[]", [](Tensor x) { return x; }),
              "Mine: method 'parts': function gives no list, the schema gives a list: give a "
              "vector<Tensor>");
}

TEST_F(PluginRefusals, MessagesNameThePack) {
  add_plugin("named", [] {
    using namespace plugin;
    op("nothing(Tensor x) -> Tensor").meaning([](Tensor) { return Tensor(); });
    op("throws(Tensor x) -> Tensor").meaning([](Tensor) -> Tensor {
      throw std::runtime_error("not today");
    });
    op("fails(Tensor x) -> Tensor").meaning([](Tensor) -> Tensor { fail("fails: x is odd"); });
  });
  EXPECT_SAYS(call("named.nothing", ones({2})),
              "named.nothing: its decomposition gave None for output 0, expected a tensor");
  EXPECT_SAYS(call("named.fails", ones({2})), "named.fails: x is odd");
  EXPECT_SAYS(call("named.fails"), "named.fails: argument 'x' is missing");
  EXPECT_SAYS(add_plugin(new_id(),
                         [] { plugin::vjp("ops.sofmax", [](Vjp g, Tensor) { return g.grad(); }); }),
              "vjp for 'ops.sofmax': there is no such op; load its pack first: a plugin says so by "
              "NEEDS ops of tenon_add_plugin, or by \"needs\" in its manifest file");
}

TEST_F(PluginRefusals, AnOptimizerHasParametersAndAStepForScalers) {
  EXPECT_SAYS(
      add_plugin(new_id(), [] { plugin::optimizer("Bare(float lr=0.1)", [](Object&, double) {}); }),
      "optimizer 'Bare': its options are '(float lr=0.1)', expected the list of its parameters "
      "first: Bare(Tensor[] params, ..)");
  add_plugin("steps", [] {
    using namespace plugin;
    optimizer("Stepless(Tensor[] params)", [](Object&, Tensors) {});
    optimizer("OldStep(Tensor[] params)",
              [](Object& self, Tensors) { self.method("step() -> ()", [] {}); });
    optimizer("Fits(Tensor[] params)", [](Object& self, Tensors params) {
      self.method("step(Tensor? skip) -> ()", [](Tensor) {});
      optim::Optimizer(self).add_group(params.to_vector());
    });
  });
  const Lists parameters = {ones({1}).requires_grad_()};
  const std::string expected =
      ", expected 'step(Tensor? found_inf=None) -> ()': an optimizer's step takes what a "
      "GradScaler found, or None";
  EXPECT_SAYS(optim::Optimizer::create("Stepless", parameters),
              "Stepless has no method 'step'" + expected);
  EXPECT_SAYS(optim::Optimizer::create("OldStep", parameters),
              "OldStep: its step is 'step() -> ()'" + expected);
  optim::Optimizer::create("Fits", parameters).step();
}

TEST_F(PluginRefusals, APolicyThatThrowsIsLoggedByName) {
  add_plugin("moods", [] {
    plugin::amp_policy("moody", [](std::string_view, Amp, std::string_view) -> Amp {
      throw std::runtime_error("not now");
    });
  });
  testing::internal::CaptureStderr();
  {
    const Autocast scope(cpu, bfloat16, "moody");
    ones({2, 2}) + ones({2, 2});
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("amp policy 'moody' of plugin 'moods': not now"), std::string::npos) << said;
}

TEST_F(PluginRefusals, AKernelOfNoOpIsToldAtTheLoad) {
  const auto said_of = [](const char* op) {
    testing::internal::CaptureStderr();
    const std::string id = new_id();
    add_plugin(id, [op] { plugin::kernel(op, "cpu", {}, [](const Call&) {}); });
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(
      said_of("ops.rellu")
          .find("has a kernel on 'cpu' that is not used: unknown op 'ops.rellu'; did you mean "
                "'ops.relu'?"),
      std::string::npos);
  EXPECT_NE(said_of("oops.relu").find("did you mean 'ops.relu'?"), std::string::npos);
  EXPECT_NE(said_of("ops.no_op_is_named_so").find("unknown op 'ops.no_op_is_named_so'"),
            std::string::npos);
  // Of a pack that is not there, and may be another machine's.
  EXPECT_EQ(said_of("acme_extras.scale_by_tables"), "");
  EXPECT_EQ(said_of("ops.relu"), "");
}

}  // namespace
}  // namespace tenon
