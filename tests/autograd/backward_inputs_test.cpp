// Backward into chosen tensors, backwards inside backwards, and writes to tensors of inference
// mode. Values are PyTorch 2.15's.
#include <optional>
#include <thread>

#include "autograd_support.h"
#include "message_of.h"

namespace {

using tn::float64;

struct Chain {
  Tensor x = leaf({1, 2}), w = leaf({3, 4}), y = x * w, z = (y * y).sum();
};

TEST(BackwardInputs, OnlyTheseLeavesGetGradients) {
  load_all();
  const Chain c;
  c.z.backward({}, true, false, {c.x});
  expect_near(c.x.grad(), {18, 64});
  EXPECT_FALSE(c.w.grad().defined());
  c.z.backward({.retain_graph = true, .inputs = {c.x, c.w}});
  expect_near(c.x.grad(), {36, 128});
  expect_near(c.w.grad(), {6, 32});
  c.z.backward({.retain_graph = true, .inputs = {c.x}});
  expect_near(c.x.grad(), {54, 192});
  tn::autograd::backward({c.z}, {tn::full({}, 2, float64)}, true, false, c.x);
  expect_near(c.x.grad(), {90, 320});
  c.z.backward({}, std::nullopt, false, {c.x, c.x});  // once for each tensor
  expect_near(c.x.grad(), {108, 384});
  expect_error([&] { c.z.backward(); }, "was used already");
}

TEST(BackwardInputs, ThoseThatAreNoLeavesKeepTheirs) {
  load_all();
  const Chain c;
  c.z.backward({.retain_graph = true, .inputs = c.y});
  expect_near(c.y.grad(), {6, 16});
  EXPECT_FALSE(c.x.grad().defined());
  c.z.backward({.retain_graph = true, .inputs = c.x});
  expect_near(c.y.grad(), {12, 32});
  c.y.register_hook([](Tensor g) { return g * 10.0; });
  c.z.backward({.retain_graph = true, .inputs = c.y});
  expect_near(c.y.grad(), {72, 192});
  c.z.backward({.retain_graph = true, .inputs = c.z});
  expect_near(c.z.grad(), {1});
}

TEST(BackwardInputs, RefusesWhatGetsNone) {
  load_all();
  const Chain c;
  EXPECT_EQ(message_of([&] { c.z.backward({}, false, false, {}); }),
            "backward: no inputs were given");
  expect_error([&] { c.z.backward({.inputs = TensorList()}); }, "backward: no inputs were given");
  EXPECT_EQ(message_of([&] { c.z.backward({.inputs = tn::ones({2})}); }),
            "backward: input 0 ([2] float32 on cpu) needs no gradient");
  const Tensor apart = leaf({5});
  tn::autograd::backward({apart, c.z}, {}, true, false, {c.x});  // one that it starts from
  EXPECT_FALSE(apart.grad().defined());
  c.z.backward({.retain_graph = true, .inputs = apart});  // not used: nothing comes
  EXPECT_FALSE(apart.grad().defined());
  c.z.backward({.create_graph = true, .inputs = c.x});
  EXPECT_TRUE(c.x.grad().requires_grad());
  c.x.set_grad({});  // whose graph leads back to x
}

// Row-sparse gradients add up as they do without a choice.
TEST(BackwardInputs, TakesRowSparseGradients) {
  load_all();
  const Tensor table = tn::ones({4, 2}).requires_grad_();
  for (int i = 0; i < 2; ++i) {
    tn::embedding(table, tn::tensor({1, 1}), {.sparse = true}).sum().backward({.inputs = table});
  }
  expect_near(table.grad().to_dense(), {0, 0, 4, 4, 0, 0, 0, 0});
}

// libtorch's DeepReentrant: each backward calls the backward of what its forward kept.
struct Nests : tn::Function<Nests> {
  struct Context : tn::Context {
    Tensor kept;
  };
  static Tensor forward(Context& context, Tensor x) {
    const tn::EnableGrad scope;
    context.kept = x.detach().requires_grad_() - 1.0;
    return context.kept.detach();
  }
  static Tensor backward(Context& context, Tensor g) {
    if (context.kept.item<double>() > 0) {
      const tn::EnableGrad scope;
      apply(context.kept).sum().backward();
    }
    return g;
  }
};
void nest(int depth) {
  const Tensor x = tn::full({1}, depth, float64).requires_grad_();
  Nests::apply(x).sum().backward();
  expect_near(x.grad(), {1});
}
TEST(NestedBackward, GoesDeepAndIsRefusedWhereTheStackEnds) {
  load_all();
  nest(200);
  const std::string refusal = message_of([] { nest(1000000); });
  EXPECT_NE(refusal.find("backwards run inside each other, and this thread's stack has room for no "
                         "more; let fewer run inside each other, or run this in a thread with a "
                         "larger stack"),
            std::string::npos)
      << refusal.substr(0, 300);
  nest(200);  // the count came back
  std::thread([] { nest(200); }).join();
}

// PyTorch refuses these, with or without gradients.
TEST(InferenceTensors, AreWrittenInInferenceModeAlone) {
  load_all();
  Tensor made;
  {
    const tn::InferenceMode scope;
    made = tn::ones({2}, float64);
    made.add_(1);
    EXPECT_TRUE(made.is_inference());
  }
  EXPECT_EQ(message_of([&] { made.add_(1); }),
            "add_: [2] float64 on cpu was made in inference mode and cannot be changed in place "
            "outside of it; clone it first");
  const char* const refusal = "was made in inference mode and cannot be changed in place";
  {
    const tn::NoGrad scope;
    expect_error([&] { made.mul_(2); }, refusal);
    expect_error([&] { made.fill_(2); }, refusal);
  }
  expect_error([&] { made.copy_(tn::ones({2})); }, refusal);
  expect_error([&] { made[0] = 3; }, refusal);
  expect_error([&] { made[{tn::tensor({0})}] = 3; }, refusal);
  EXPECT_EQ(
      message_of([&] { made.backward(tn::ones({2})); }),
      "backward: tensor 0 ([2] float64 on cpu) needs no gradient: it was made in inference mode, "
      "which records nothing");
  expect_error([] { tn::ones({}).backward(); },
               "needs no gradient: no call that made it was recorded, and it is no leaf");
  made.clone().add_(1);
  tn::ones({2}).add_(made);  // only read
  const tn::InferenceMode scope;
  made.add_(1);
  expect_near(made, {3, 3});
}

// NoGrad within inference mode, which layers and functions open, does not leave it; a view of another
// tensor is no inference tensor. As PyTorch.
TEST(InferenceTensors, ScopesWithinTheModeStayInIt) {
  load_all();
  const Tensor other = tn::ones({2, 2}, float64);
  Tensor view, part;
  {
    const tn::InferenceMode scope;
    Tensor made = tn::ones({2}, float64);
    {
      const tn::NoGrad inner;
      made.add_(1);
      const tn::SetGradEnabled off(false);
      made.add_(1);
    }
    expect_near(made, {3, 3});
    auto norm = tn::nn::BatchNorm1d(2);
    norm(tn::ones({3, 2}));
    EXPECT_EQ(norm.tensor("num_batches_tracked").item<int64_t>(), 1);
    view = other[0];
    part = tn::chunk(other, 2)[1];
    EXPECT_TRUE(made.view({2, 1}).is_inference());
  }
  EXPECT_FALSE(view.is_inference());
  EXPECT_FALSE(part.is_inference());
  view.add_(1);
  part.add_(2);
  expect_near(other, {2, 2, 3, 3});
}

// As PyTorch's: a forward that enables gradients records none where it serves.
TEST(InferenceTensors, StayWhereGradientsAreEnabledWithin) {
  load_all();
  const Tensor x = leaf({1, 2});
  const tn::InferenceMode outer;
  {
    const tn::EnableGrad scope;
    EXPECT_FALSE(tn::is_grad_enabled());
    EXPECT_FALSE((x * 2.0).requires_grad());
  }
  {
    const tn::SetGradEnabled on(true);
    EXPECT_FALSE((x * 2.0).requires_grad());
  }
  tn::GradMode::set_enabled(true);
  EXPECT_FALSE((x * 2.0).requires_grad());
  const tn::InferenceMode inner(false);
  EXPECT_TRUE((x * 2.0).requires_grad());
}

// libtorch's InferenceMode(false): it records again, in inference mode and in NoGrad.
TEST(InferenceTensors, TheModeIsSwitchedOffWithin) {
  load_all();
  const tn::InferenceMode outer;
  const tn::InferenceMode inner(false);
  EXPECT_TRUE(tn::grad_enabled());
  EXPECT_FALSE(tn::ones({2}).is_inference());
}

}  // namespace
