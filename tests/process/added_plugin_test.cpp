// Plugins that are part of the program: add_plugin. Each test adds others, since none is taken back.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tenon/optim.hpp>
#include <tenon/plugin.hpp>
#include <tenon/tenon.hpp>

#include "files_support.h"

namespace tenon {
namespace {

class AddedPlugins : public ::testing::Test {
  void SetUp() override { load_plugins(); }
};

TEST_F(AddedPlugins, BringOps) {
  add_plugin("squashes", [] {
    plugin::op("squash(Tensor x, float k=1) -> Tensor", "x / (k + abs(x))");
    plugin::op("thrice(Tensor x) -> Tensor").meaning([](Tensor x) { return x + x + x; });
  });
  Tensor x = tensor({1.f, -3.f}).requires_grad_();
  Tensor y = call("squashes.squash", x);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0.5f, -0.75f}));
  y.sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0.25f, 0.0625f}));
  EXPECT_EQ(call("squashes.thrice", x).to_vector<float>(), (std::vector<float>{3, -9}));
}

TEST_F(AddedPlugins, BringLayersWithWhatTheyHold) {
  const double slope = 0.25;
  add_plugin("leaks", [slope] {
    plugin::layer("Leak(float scale=1)", [slope](Object& self, double scale) {
      self.method("forward(Tensor x) -> Tensor",
                  [=](Object&, const Tensor& x) { return where(x > 0, x, x * slope) * scale; });
    });
  });
  const Object layer = Object::create("Leak", 2.0);
  EXPECT_EQ(layer(tensor({1.f, -4.f})).to_vector<float>(), (std::vector<float>{2, -2}));
}

// SignSGD of docs/add_an_op.md without a momentum: with a scaler, a schedule and a checkpoint's state.
TEST_F(AddedPlugins, BringOptimizers) {
  add_plugin("signs", [] {
    plugin::op("sign_step(Tensor(a!) p, Tensor grad, Tensor skip, dynamic float lr) -> Tensor(a!)",
               "where(skip != 0, p, p - lr * sign(grad))");
    plugin::optimizer(
        "SignSGD(Tensor[] params, dynamic float lr=0.5)", [](Object& self, Tensors params, double) {
          self.method("step(Tensor? found_inf=None) -> ()", [](Object& self, Tensor found_inf) {
            const NoGrad no_grad;
            for (auto& group : optim::Optimizer(self).param_groups()) {
              for (const Tensor& p : group.parameters()) {
                if (!p.grad().defined()) continue;
                call("signs.sign_step", p, p.grad(), found_inf.defined() ? Operand(found_inf) : 0.0,
                     group.number("lr"));
              }
            }
          });
          optim::Optimizer(self).add_group(params.to_vector());
        });
  });
  Tensor w = tensor({1.f, -1.f}).requires_grad_();
  const auto optimizer = optim::Optimizer::create("SignSGD", {w});
  (w * w).sum().backward();
  optimizer.step();
  EXPECT_EQ(w.detach().to_vector<float>(), (std::vector<float>{0.5, -0.5}));
  optimizer.set_lr(0.25);
  optimizer.step();
  EXPECT_EQ(w.detach().to_vector<float>(), (std::vector<float>{0.25, -0.25}));
  optimizer.step(tensor(1.f));  // a scaler has found an infinity
  EXPECT_EQ(w.detach().to_vector<float>(), (std::vector<float>{0.25, -0.25}));
  const NamedTensors state = optimizer.state_dict();
  optimizer.set_lr(1);
  optimizer.load_state_dict(state);
  EXPECT_EQ(optimizer.lr(), 0.25);
  // A compiled step follows a schedule: the op gets the tensor that holds the rate.
  optim::ExponentialLR schedule(optimizer, 0.5);
  const auto step = compile([&](const Tensor& x) -> Tensor {
    const Tensor loss = (w * x).sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach();
  });
  const Tensor x = ones({2});
  double expected = 0.25, rate = 0.25;
  for (int i = 0; i < 8; ++i) {
    step(x);
    schedule.step();
    expected -= rate;
    rate /= 2;
    EXPECT_EQ(w.detach().to_vector<float>()[0], float(expected)) << i;
  }
  EXPECT_EQ(step.describe().find("1 recordings, 7 replays"), 0u) << step.describe();
}

void register_named() { plugin::op("negated(Tensor x) -> Tensor", "-x"); }

TEST_F(AddedPlugins, TakeAnyCallable) {
  add_plugin("named", register_named);
  struct Registers {
    void operator()() { plugin::op("halved(Tensor x) -> Tensor", "x / 2"); }
  } object;
  add_plugin("objects", object);
  const std::function<void()> function = [] { plugin::op("same(Tensor x) -> Tensor", "x"); };
  add_plugin("functions", function);
  const Tensor x = tensor(3.f);
  EXPECT_EQ(call("named.negated", x).item<float>(), -3);
  EXPECT_EQ(call("objects.halved", x).item<float>(), 1.5);
  EXPECT_EQ(call("functions.same", x).item<float>(), 3);
}

// What another thread registers meanwhile belongs to no plugin.
TEST_F(AddedPlugins, AreOfTheThreadThatAddsThem) {
  add_plugin("patient", [] {
    plugin::op("first(Tensor x) -> Tensor", "x");
    std::thread([] {
      EXPECT_SAYS(plugin::op("stray(Tensor x) -> Tensor", "x"),
                  "op, kernel and layer register only while the plugin is loaded");
    }).join();
  });
  EXPECT_EQ(call("patient.first", tensor(3.f)).item<float>(), 3);
  EXPECT_SAYS(call("patient.stray", tensor(3.f)), "patient.stray");
}

TEST_F(AddedPlugins, AreListed) {
  add_plugin("listed", [] { plugin::op("same(Tensor x) -> Tensor", "x"); });
  const char* json = nullptr;
  check(detail::api.plugin->list(&json));
  const std::string list = json;
  host()->text_free(json);
  EXPECT_NE(list.find("\"id\": \"listed\""), std::string::npos);
  EXPECT_NE(list.find("added_plugin_test\""), std::string::npos) << list;
}

// Nothing of a body that fails stays, and it may be tried again.
TEST_F(AddedPlugins, ComeAsAWholeOrNotAtAll) {
  const auto body = [](bool is_good) {
    return [=] {
      plugin::op("first(Tensor x) -> Tensor", "x + 1");
      plugin::op("second(Tensor x) -> Tensor", is_good ? "x + 2" : "x + y");
    };
  };
  EXPECT_SAYS(add_plugin("halves", body(false)),
              "plugin 'halves' was not added\n  because tenon_plugin_init failed\n  because op "
              "'halves.second'");
  EXPECT_SAYS(call("halves.first", tensor(1.f)), "halves.first");
  EXPECT_THROW(add_plugin("halves", [] { throw std::out_of_range("no such file"); }),
               std::out_of_range);
  add_plugin("halves", body(true));
  EXPECT_EQ(call("halves.second", tensor(1.f)).item<float>(), 3);
}

TEST_F(AddedPlugins, AreRefusedWithAReason) {
  add_plugin("twofold", [] {});
  EXPECT_SAYS(add_plugin("twofold", [] {}), "plugin 'twofold' is there already, from ");
  EXPECT_SAYS(add_plugin("ops", [] {}), "plugin 'ops' is there already, from ");
  EXPECT_SAYS(add_plugin("Big", [] {}),
              "add: the id is 'Big', expected lower case letters, digits and '_'");
  EXPECT_SAYS(add_plugin("", [] {}), "add: the id is ''");
  EXPECT_SAYS(add_plugin(std::string("a\0b", 3), [] {}), "add_plugin: the id has a zero byte");
  EXPECT_SAYS(add_plugin("outer", [] { add_plugin("inner", [] {}); }),
              "add: called inside tenon_plugin_init");
  EXPECT_SAYS(plugin::op("late(Tensor x) -> Tensor", "x"),
              "op, kernel and layer register only while the plugin is loaded");
  const auto& api = detail::api.plugin;
  EXPECT_SAYS(check(api->add(nullptr, nullptr, nullptr)), "add: the manifest");
  tn_manifest manifest = {sizeof(tn_manifest), TN_ABI_VERSION, TN_ABI_VERSION, "rigid"};
  EXPECT_SAYS(check(api->add(&manifest, nullptr, nullptr)), "add: init");
  const tn_plugin_init_fn init = [](const tn_host*, tn_registrar*, void**) -> tn_status* {
    return nullptr;
  };
  manifest.abi_min = manifest.abi_max = TN_ABI_VERSION + 1;
  EXPECT_SAYS(check(api->add(&manifest, init, nullptr)), "ABI");
  manifest.size = 4;
  EXPECT_SAYS(check(api->add(&manifest, init, nullptr)), "tenon_manifest.size is 4, expected");
}

TEST_F(AddedPlugins, ComeFromAnyThread) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      const std::string id = "thread" + std::to_string(i);
      add_plugin(id, [i] {
        plugin::op("add(Tensor x) -> Tensor").meaning([i](Tensor x) { return x + i; });
      });
      for (int k = 0; k < 100; ++k) call(id + ".add", tensor(1.f));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 8; ++i) {
    const std::string name = "thread" + std::to_string(i) + ".add";
    EXPECT_EQ(call(name, tensor(1.f)).item<float>(), 1 + i);
  }
}

}  // namespace
}  // namespace tenon
