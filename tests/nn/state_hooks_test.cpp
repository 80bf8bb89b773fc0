// Hooks of states, and how hooks of forward are put in front or called in any case. The orders and what the
// hooks see are those that PyTorch 2.15 gives for the same modules.
#include <string>
#include <utility>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

namespace nn = tn::nn;
using tn::NamedTensors;
using tn::Object;
using tn::Tensor;
using Names = std::vector<std::string>;
using Lines = std::vector<std::string>;

struct Net : tn::Module {
  Object fc = child("fc", nn::Linear(2, 2));
  Object act = child("act", nn::Sequential({nn::Linear(2, 1)}));
  Tensor forward(Tensor x) { return act(fc(x)); }
};

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

TEST(StateHooks, RunAroundEachModuleOfTheTree) {
  load_all();
  const auto net = tn::make<Net>();
  Lines log;
  for (const Object& module : net.modules()) {
    module.register_state_dict_pre_hook(
        [&](Object& self, const std::string& prefix) { log.push_back(self.type_name() + prefix); });
    module.register_state_dict_post_hook(
        [&](Object&, NamedTensors& state, const std::string& prefix) {
          log.push_back("behind " + prefix + ": " + joined(state.keys()));
        });
    module.register_load_state_dict_pre_hook([&](Object&, NamedTensors& state,
                                                 const std::string& prefix, bool strict,
                                                 Names& missing, Names& unexpected, Names& errors) {
      EXPECT_TRUE(strict && missing.empty() && unexpected.empty() && errors.empty());
      log.push_back("load " + prefix + ": " + joined(state.keys()));
    });
    module.register_load_state_dict_post_hook([&](Object& self, tn::IncompatibleKeys& keys) {
      log.push_back("loaded " + self.type_name() + joined(keys.missing_keys) +
                    joined(keys.unexpected_keys));
    });
  }
  NamedTensors state = net.state_dict();
  EXPECT_EQ(log, (Lines{"Net", "Linearfc.", "behind fc.: fc.weight fc.bias", "Sequentialact.",
                        "Linearact.0.", "behind act.0.: fc.weight fc.bias act.0.weight act.0.bias",
                        "behind act.: fc.weight fc.bias act.0.weight act.0.bias",
                        "behind : fc.weight fc.bias act.0.weight act.0.bias"}));
  log.clear();
  net.load_state_dict(state);
  // All that may change the state comes before the first tensor is loaded; PyTorch goes module by module.
  EXPECT_EQ(
      log, (Lines{"load : fc.weight fc.bias act.0.weight act.0.bias", "load fc.: fc.weight fc.bias",
                  "load act.: act.0.weight act.0.bias", "load act.0.: act.0.weight act.0.bias",
                  "loaded Linear", "loaded Linear", "loaded Sequential", "loaded Net"}));
}

TEST(StateHooks, ChangeWhatIsSaved) {
  load_all();
  const auto net = tn::make<Net>();
  int reads = 0;
  net.register_state_dict_pre_hook([&](Object& self) {
    ++reads;
    const tn::NoGrad scope;
    self.get_parameter("fc.bias").fill_(7);
  });
  const auto drops = net->act.register_state_dict_post_hook(
      [](Object&, NamedTensors& state) { state.pop("act.0.bias"); });
  net.register_state_dict_post_hook([](Object&, NamedTensors& state, const std::string& prefix) {
    state.set(prefix + "version", tn::tensor({2.0}));
  });
  const NamedTensors state = net.state_dict();
  EXPECT_EQ(joined(state.keys()), "fc.weight fc.bias act.0.weight version");
  expect_near(state["fc.bias"], {7, 7});
  drops.remove();
  EXPECT_EQ(net.state_dict().size(), 5u);
  // What the module has is read without hooks.
  EXPECT_EQ(net.load_state_dict(state, false).unexpected_keys, Names{"version"});
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(message_of([&] { net.remove_forward_hook(99); }), "Net has no forward hook 99");
}

TEST(StateHooks, ChangeWhatIsLoaded) {
  load_all();
  const auto net = tn::make<Net>();
  NamedTensors old = net.state_dict();
  old.set("fc.w", tn::full({2, 2}, 3.0));
  old.pop("fc.weight");
  EXPECT_EQ(message_of([&] { net.load_state_dict(old); }),
            "load_state: 'fc.weight' is missing in the state_dict\n"
            "  'fc.w' is in the state_dict and not in Net");
  net->fc.register_load_state_dict_pre_hook(
      [](Object&, NamedTensors& state, const std::string& prefix) {
        EXPECT_EQ(joined(state.keys()), "fc.bias fc.w") << "those of its prefix";
        state.set(prefix + "weight", state.pop(prefix + "w"));
        state.set("act.0.bias", tn::zeros({9}));  // none of its own: passed over
      });
  net.load_state_dict(old);
  expect_near(net->fc.tensor("weight"), {3, 3, 3, 3});
  EXPECT_TRUE(old.contains("fc.w")) << "the state of the caller stays";
}

TEST(StateHooks, BeforeALoadMayNameProblems) {
  load_all();
  const auto net = tn::make<Net>();
  NamedTensors state = net.state_dict();
  state["fc.bias"] = tn::full({2}, 5.0);
  net->fc.tensor("bias").detach().fill_(1);
  const auto hook =
      net.register_load_state_dict_pre_hook([](Object&, NamedTensors&, const std::string&, bool,
                                               Names& missing, Names& unexpected, Names& errors) {
        missing.emplace_back("a");
        unexpected.emplace_back("b");
        if (errors.empty()) errors.emplace_back("the state is too old");
      });
  EXPECT_EQ(message_of([&] { net.load_state_dict(state, false); }),
            "load_state_dict: the state is too old");
  hook.remove();
  net.register_load_state_dict_pre_hook([](Object&, NamedTensors&, const std::string&, bool,
                                           Names& missing, Names& unexpected, Names&) {
    missing.emplace_back("a");
    unexpected = {"b", "c"};
  });
  EXPECT_EQ(message_of([&] { net.load_state_dict(state); }),
            "load_state_dict: 'a' is missing in the state_dict\n"
            "  'b', 'c' are in the state_dict and not in Net");
  expect_near(net->fc.tensor("bias"), {1, 1});  // nothing was loaded
  const tn::IncompatibleKeys keys = net.load_state_dict(state, false);
  EXPECT_EQ(keys.missing_keys, Names{"a"});
  EXPECT_EQ(keys.unexpected_keys, (Names{"b", "c"}));
  expect_near(net->fc.tensor("bias"), {5, 5});
}

TEST(StateHooks, BehindALoadMayForgiveNames) {
  load_all();
  const auto net = tn::make<Net>();
  NamedTensors state = net.state_dict();
  state.pop("fc.bias");
  state.set("x", tn::zeros({1}));
  state["fc.weight"] = tn::full({2, 2}, 4.0);
  bool forgives = true;
  Lines seen;
  net->fc.register_load_state_dict_post_hook([&](Object& self, tn::IncompatibleKeys& keys) {
    seen.push_back(joined(keys.missing_keys) + "|" + joined(keys.unexpected_keys));
    expect_near(self.tensor("weight"), {4, 4, 4, 4});
    if (forgives) keys.missing_keys.clear();
  });
  net.register_load_state_dict_post_hook([&](Object&, tn::IncompatibleKeys& keys) {
    seen.push_back(joined(keys.missing_keys) + "|" + joined(keys.unexpected_keys));
    if (forgives) keys.unexpected_keys.clear();
  });
  const tn::IncompatibleKeys keys = net.load_state_dict(state);
  EXPECT_TRUE(keys.missing_keys.empty() && keys.unexpected_keys.empty());
  EXPECT_EQ(seen, (Lines{"fc.bias|x", "|x"}));
  forgives = false;
  EXPECT_EQ(message_of([&] { net.load_state_dict(state); }),
            "load_state_dict: 'fc.bias' is missing in the state_dict\n"
            "  'x' is in the state_dict and not in Net\n"
            "  the others are loaded, as hooks behind the load had to see them");
  EXPECT_EQ(net.load_state_dict(state, false).missing_keys, Names{"fc.bias"});
  // Sizes that do not fit are an error before anything is loaded, as ever.
  state["act.0.bias"] = tn::zeros({3});
  EXPECT_EQ(message_of([&] { net.load_state_dict(state); }),
            "load_state: 'act.0.bias' is [1] here and [3] in the state_dict");
}

TEST(StateHooks, ATensorOfTwoNamesMayComeUnderOne) {
  load_all();
  const Object shared = nn::Linear(2, 2);
  const auto model = nn::Sequential({shared, shared});
  NamedTensors state = model.state_dict();
  state.pop("0.weight");
  state.pop("1.bias");
  int calls = 0;
  shared.register_load_state_dict_post_hook([&](Object&, tn::IncompatibleKeys& keys) {
    ++calls;
    EXPECT_TRUE(keys.missing_keys.empty());
  });
  model.load_state_dict(state);
  EXPECT_EQ(calls, 2) << "once for each of its names";
}

TEST(StateHooks, ThoseOfAnOptimizerSeeItsWholeState) {
  load_all();
  const auto layer = nn::Linear(1, 1);
  tn::optim::SGD optimizer(layer.parameters(), {.lr = 0.5});
  optimizer.register_state_dict_post_hook(
      [](Object&, NamedTensors& state) { state.set("note", state.pop("param_groups.0.lr")); });
  const NamedTensors state = optimizer.state_dict();
  EXPECT_TRUE(state.contains("note") && !state.contains("param_groups.0.lr"));
  optimizer.register_load_state_dict_pre_hook(
      [&](Object&, NamedTensors& given) { given.set("param_groups.0.lr", given.pop("note") * 2); });
  int loads = 0;
  optimizer.register_load_state_dict_post_hook([&](Object&, tn::IncompatibleKeys&) { ++loads; });
  optimizer.load_state_dict(state);
  EXPECT_EQ(optimizer.lr(), 1.0);
  EXPECT_EQ(loads, 1);
}

TEST(StateHooks, AHookThatThrowsEndsTheCall) {
  load_all();
  const auto net = tn::make<Net>();
  net->fc.register_state_dict_pre_hook([](Object&) { tn::fail("not now"); });
  EXPECT_NE(message_of([&] { net.state_dict(); }).find("not now"), std::string::npos);
  net->fc.register_load_state_dict_pre_hook([](Object&, NamedTensors&) { tn::fail("nor later"); });
  EXPECT_NE(message_of([&] { net.load_state_dict({}); }).find("nor later"), std::string::npos);
  EXPECT_EQ(net(tn::ones({1, 2})).numel(), 1) << "forward has nothing to do with them";
}

TEST(ForwardHooks, ThoseInFrontRunFirst) {
  load_all();
  const Object layer = nn::Identity();
  std::vector<int> order;
  const auto note = [&](int i) {
    return [&order, i](Object&, Tensor, Tensor) { order.push_back(i); };
  };
  const auto note_before = [&](int i) {
    return [&order, i](Object&, Tensor) { order.push_back(i); };
  };
  layer.register_forward_hook(note(1));
  const auto front = layer.register_forward_hook(note(2), /*prepend=*/true);
  layer.register_forward_pre_hook(note_before(3));
  layer.register_forward_pre_hook(note_before(4), /*prepend=*/true);
  layer(tn::ones({1}));
  EXPECT_EQ(order, (std::vector<int>{4, 3, 2, 1}));
  front.remove();
  order.clear();
  layer(tn::ones({1}));
  EXPECT_EQ(order, (std::vector<int>{4, 3, 1}));
}

TEST(ForwardHooks, SomeRunWhateverFails) {
  load_all();
  const Object layer = nn::Lambda([](Tensor x) -> Tensor {
    if (x.numel() > 1) tn::fail("no lists");
    return x + 1;
  });
  std::vector<int> order;
  layer.register_forward_hook(
      [&](Object&, Tensor input, Tensor output) {
        order.push_back(input.numel() == 1 ? 1 : 2);
        EXPECT_EQ(output.defined(), input.numel() == 1);
        return tn::zeros({5});
      },
      /*prepend=*/false, /*always_call=*/true);
  layer.register_forward_hook([&](Object&, Tensor, Tensor) { order.push_back(3); });
  EXPECT_EQ(layer(tn::ones({1})).numel(), 5);
  EXPECT_NE(message_of([&] { layer(tn::ones({2})); }).find("no lists"), std::string::npos);
  EXPECT_EQ(order, (std::vector<int>{1, 3, 2}));

  // One that failed itself is not called again; another's failure goes to the log.
  order.clear();
  const auto fails = layer.register_forward_hook(
      [&](Object&, Tensor, Tensor) {
        order.push_back(4);
        tn::fail("a hook's own error");
      },
      /*prepend=*/true, /*always_call=*/true);
  EXPECT_NE(message_of([&] { layer(tn::ones({1})); }).find("a hook's own error"),
            std::string::npos);
  EXPECT_EQ(order, (std::vector<int>{4, 1}));
  order.clear();
  testing::internal::CaptureStderr();
  EXPECT_NE(message_of([&] { layer(tn::ones({2})); }).find("no lists"), std::string::npos);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("a hook's own error"), std::string::npos);
  EXPECT_EQ(order, (std::vector<int>{4, 2}));
}

}  // namespace
