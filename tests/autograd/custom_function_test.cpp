// Functions whose gradient the application writes. Values are closed forms.
#include "autograd_support.h"
#include "message_of.h"

namespace {

using tn::float64;

struct ScaledSquare : tn::Function<ScaledSquare> {
  static Tensor forward(tn::Context& context, Tensor x) {
    context.save({x});
    return x * x;
  }
  static Tensor backward(tn::Context& context, Tensor g) { return g * context.saved(0) * 20.0; }
};

TEST(CustomFunction, GivesItsOwnGradient) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor y = ScaledSquare::apply(x);
  expect_near(y, {1, 4});
  Tensor g = tn::grad(y.sum(), x, {.create_graph = true});
  expect_near(g, {20, 40});
  expect_near(tn::grad(g.sum(), x), {20, 20});  // its backward is recorded too
}

// Backward inside backward: the inner one goes through nodes of the outer's graph.
struct Reenters : tn::Function<Reenters> {
  static Tensor forward(tn::Context& context, Tensor x) {
    context.save({x});
    return x * x;
  }
  static Tensor backward(tn::Context& context, Tensor g) {
    tn::EnableGrad on;
    Tensor x = context.saved(0).detach().requires_grad_();
    return g * tn::grad((x * x).sum(), x);
  }
};

struct Sloppy : tn::Function<Sloppy> {
  static Tensor forward(tn::Context&, Tensor x) { return x * 2.f; }
  static Tensor backward(tn::Context&, Tensor g) { return g.to(tn::float64).expand({3, 2}) * 2.0; }
};

// As PyTorch's engine does it.
TEST(CustomFunction, GradientsAreCastAndSummedToTheirInputs) {
  load_all();
  Tensor x = tn::tensor({1.f, 2.f}).requires_grad_();
  Sloppy::apply(x).sum().backward();
  EXPECT_EQ(x.grad().dtype(), tn::float32);
  expect_near(x.grad(), {6, 6});
}

TEST(CustomFunction, MayRunBackwardItself) {
  load_all();
  Tensor x = leaf({3});
  (Reenters::apply(x * 2.0) * 1.0).sum().backward();
  expect_near(x.grad(), {2 * 6 * 2});
}

// The name of a class within a lambda has brackets before it. After an error it is the caller's;
// else it is destroyed with the node, at once where none is needed.
TEST(CustomFunction, TakesItsStateOnSuccessOnly) {
  load_all();
  const tn_autograd_api* api = tn::detail::api.autograd.get();
  const tn_backward_fn backward = [](void*, tn_tensor* const*, uint32_t, tn_tensor**,
                                     uint32_t) -> tn_status* { return nullptr; };
  const auto destroy = [](void* self) { ++*static_cast<int*>(self); };
  const Tensor x = leaf({1, 2}), constant = tn::ones({2}, float64), other_leaf = leaf({3, 4});
  int destroyed = 0;
  const auto record = [&](const char* name, const Tensor& input, tn_tensor* output) {
    tn_tensor* const in[] = {input.get()};
    tn::check(api->custom(name, backward, &destroyed, destroy, in, 1, &output, 1, nullptr, 0));
  };
  expect_error([&] { record("gives_none", x, nullptr); }, "gives_none: output 0 is NULL");
  expect_error([&] { record("gives_a_leaf", x, other_leaf.get()); },
               "gives_a_leaf: output 0 is a leaf that requires a gradient");
  expect_error([&] { record(nullptr, x, constant.get()); }, "custom: the name");
  EXPECT_EQ(destroyed, 0);
  {
    const Tensor y = tn::ones({2}, float64);
    record("recorded", x, y.get());
    EXPECT_TRUE(y.requires_grad());
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
  record("not_needed", constant, tn::ones({2}, float64).get());
  EXPECT_EQ(destroyed, 2);
}

TEST(CustomFunction, IsNamedByItsClass) {
  load_all();
  const auto failing = [](auto) {
    struct Local : tn::Function<Local> {
      static Tensor forward(tn::Context&, Tensor x) { return x * 2.0; }
      static Tensor backward(tn::Context&, Tensor) { tn::fail("no luck"); }
    };
    Local::apply(leaf({1})).sum().backward();
  };
  expect_error([&] { failing(1); }, "backward of Local failed");
  expect_error([&] { failing(std::pair<int, int>()); }, "backward of Local failed");
}

struct Twice : tn::Function<Twice> {
  static Tensor forward(Context&, Tensor x) { return x * 2.0; }
  static Tensor backward(Context&, Tensor g) { return g * 2.0; }
};

// Of a view that was made before its base was written under gradient.
TEST(CustomFunction, SeesTheGradientOfAViewThatWasThereBefore) {
  load_all();
  Tensor x = Tensor::from(std::vector<double>{1, 2, 3}, {3}), v = x.view({3, 1}),
         w = leaf({1, 2, 3}).to(tn::float64).detach();
  w.requires_grad_();
  EXPECT_FALSE(v.requires_grad());
  EXPECT_TRUE(v.is_leaf());
  tn::mul_(x, w);
  EXPECT_TRUE(v.requires_grad());
  EXPECT_FALSE(v.is_leaf());
  (Twice::apply(v).sum() + x.sum()).backward();
  expect_near(w.grad(), {3, 6, 9});
}

// The results show the memory of the input.
struct Reversed : tn::Function<Reversed> {
  static Tensor forward(tn::Context&, Tensor x) { return x; }
  static Tensor backward(tn::Context&, Tensor g) { return g * -1.0; }
};
struct ReversedView : tn::Function<ReversedView> {
  static Tensor forward(tn::Context&, Tensor x) { return x.view({-1}); }
  static Tensor backward(tn::Context&, Tensor g) { return g * -1.0; }
};
// Of a tensor that forward made and dropped.
struct ReversedCopy : tn::Function<ReversedCopy> {
  static Tensor forward(tn::Context&, Tensor x) { return (x * 1.0).view({-1}); }
  static Tensor backward(tn::Context&, Tensor g) { return g * -1.0; }
};

// As in PyTorch: an op in place would leave out the function's backward.
TEST(CustomFunction, WhatItGivesOfItsInputIsNotWrittenInPlace) {
  load_all();
  const Tensor x = leaf({1, -2});
  for (const bool as_view : {false, true}) {
    Tensor h = x * 6.0, y = as_view ? ReversedView::apply(h) : Reversed::apply(h);
    const char* const refusal =
        "what a custom function, a backward hook or checkpoint_call gave of memory that others "
        "hold";
    expect_error([&] { y.relu_(); }, refusal);
    expect_error([&] { y.mul_(2.0); }, refusal);
    expect_error([&] { y[0].mul_(2.0); }, refusal);
    expect_error([&] { y[{0}] = 1.0; }, refusal);
    expect_near(tn::grad(y.sum(), x, {.retain_graph = true}), {-6, -6});
    expect_near(tn::grad((y[0] * 2.0 + y.clone().mul_(3.0).sum()), x), {-30, -18});
  }
  {
    Tensor h = x * 6.0, y = Reversed::apply(h), later = y * 1.0;
    h.mul_(2.0);  // what is of before, stays so
    expect_near(tn::grad(later.sum(), x, {.retain_graph = true}), {-6, -6});
    Tensor now = (y * 1.0).sum();
    expect_error(
        [&] { tn::grad(now, x); },
        "Reversed: its result shows memory that others hold, its input's mostly, which an op "
        "in place has changed since");
  }
  {
    Tensor h = x * 6.0, y = ReversedCopy::apply(h);
    y.mul_(2.0);
    y[0].mul_(5.0);
    h.mul_(7.0);
    expect_near(y, {60, -24});
    expect_near(tn::grad(y.sum(), x), {-60, -12});
  }
}

struct FirstOfTwo : tn::Function<FirstOfTwo> {
  static Tensor forward(tn::Context&, Tensor x, Tensor) { return x; }
  static std::tuple<Tensor, Tensor> backward(tn::Context&, Tensor g) { return {g, g}; }
};
// What calls before saved of the input is theirs, and no copy without a gradient.
TEST(CustomFunction, GivingAnInputLeavesSecondDerivatives) {
  load_all();
  const Tensor x = leaf({1, 2}), cube = x * x * x;
  FirstOfTwo::apply(x, cube);
  const Tensor first = tn::grad(cube.sum(), x, {.create_graph = true});
  expect_near(tn::grad(first.sum(), x), {6, 12});
  const Tensor h = x * 3.0, square = h * h;
  FirstOfTwo::apply(h, square);
  const Tensor slope = tn::grad(square.sum(), x, {.create_graph = true});
  expect_near(tn::grad(slope.sum(), x), {18, 18});
}
TEST(CustomFunction, WhatItGivesIsWrittenInPlaceOnceNobodyElseHoldsIt) {
  load_all();
  const Tensor x = leaf({1, -2});
  Tensor y = Reversed::apply(x * 6.0);
  y.mul_(2.0);
  expect_near(y, {12, -24});
  expect_near(tn::grad(y.sum(), x), {-12, -12});
}

struct Linear : tn::Function<Linear> {
  static Tensor forward(tn::Context& context, Tensor x, Tensor weight, std::optional<Tensor> bias) {
    context.save({x, weight});
    seen = {context.needs_input_grad(0), context.needs_input_grad(1), context.needs_input_grad(2),
            bias.has_value()};
    const Tensor y = tn::matmul(x, weight.t());
    return bias ? y + *bias : y;
  }
  static std::vector<Tensor> backward(tn::Context& context, Tensor g) {
    return {tn::matmul(g, context.saved(1)), tn::matmul(g.t(), context.saved(0)), g.sum({0})};
  }
  static inline std::vector<bool> seen;
};
// With defaults of C++'s behind it.
struct Scaled : tn::Function<Scaled> {
  static Tensor forward(tn::Context&, Tensor x, std::optional<Tensor> y = {}, double k = 3) {
    return y ? x * k + *y : x * k;
  }
  static Tensor backward(tn::Context&, Tensor g) { return g; }
};
TEST(CustomFunction, AnOptionalTensorIsLeftOutOrNone) {
  load_all();
  const Tensor x = tn::ones({2, 3}, tn::float64),
               weight = tn::ones({4, 3}, tn::float64).requires_grad_(), bias = leaf({1, 2, 3, 4});
  using Flags = std::vector<bool>;
  const auto run = [&](const Tensor& y, const Flags& seen) {
    EXPECT_EQ(Linear::seen, seen);
    expect_near(tn::grad(y.sum(), weight), std::vector<double>(12, 2));
  };
  const Flags without = {false, true, false, false};
  run(Linear::apply(x, weight), without);
  run(Linear::apply(x, weight, tn::none), without);
  run(Linear::apply(x, weight, std::nullopt), without);
  run(Linear::apply(x, weight, Tensor()), without);
  run(Linear::apply(x, weight, std::optional<Tensor>()), without);
  EXPECT_EQ(Scaled::apply(x, tn::none).to_vector<double>()[0], 3);
  EXPECT_EQ(Scaled::apply(x).to_vector<double>()[0], 3);
  EXPECT_EQ(Scaled::apply(x, x, 2.0).to_vector<double>()[0], 3);
  const Flags with = {false, true, true, true};
  run(Linear::apply(x, weight, bias), with);
  run(Linear::apply(x, weight, std::optional<Tensor>(bias)), with);
  expect_near(tn::grad(Linear::apply(x, weight, bias).sum(), bias), {2, 2, 2, 2});
}

struct Marked : tn::Function<Marked> {
  static std::tuple<Tensor, Tensor, Tensor> forward(Context& context, Tensor x, bool materialize) {
    const Tensor twice = x * 2.0, thrice = x * 3.0;
    context.mark_non_differentiable({thrice, x});
    context.set_materialize_grads(materialize);
    return {thrice, twice, x};
  }
  static Tensor backward(Context&, Tensor thrice, Tensor twice, Tensor same) {
    seen = {thrice, twice, same};
    return twice.defined() ? twice * 2.0 : Tensor();
  }
  static inline std::vector<Tensor> seen;
};
// As PyTorch 2.15, which gives backward zeros for what is marked, or None.
TEST(CustomFunction, OutputsThatAreMarkedNeedNoGradient) {
  load_all();
  const Tensor x = leaf({1, 2});
  for (const bool materialize : {true, false}) {
    const auto [thrice, twice, same] = Marked::apply(x, materialize);
    EXPECT_FALSE(thrice.requires_grad());
    EXPECT_FALSE(same.requires_grad());
    EXPECT_TRUE(twice.requires_grad());
    EXPECT_TRUE(x.requires_grad());
    expect_near(thrice, {3, 6});
    expect_near(same, {1, 2});
    expect_near(tn::grad((twice * same).sum(), x), {2, 4});
    expect_near(Marked::seen.at(1), {1, 2});
    for (const size_t i : {0, 2}) {
      EXPECT_EQ(Marked::seen.at(i).defined(), materialize);
      if (materialize) expect_near(Marked::seen[i], {0, 0});
    }
  }
  Marked::seen.clear();
}

struct AllMarked : tn::Function<AllMarked> {
  static Tensor forward(Context& context, Tensor x) {
    const Tensor y = x * 2.0;
    context.mark_non_differentiable({y});
    return y;
  }
  static Tensor backward(Context&, Tensor g) { return g; }
};
struct TwoParts : tn::Function<TwoParts> {
  static std::vector<Tensor> forward(Context& context, Tensor x, bool materialize) {
    context.set_materialize_grads(materialize);
    return {x * 2.0, x * 3.0};
  }
  static Tensor backward(Context&, Tensor a, Tensor b) {
    came = {a.defined(), b.defined()};
    return b * 3.0;
  }
  static inline std::vector<bool> came;
};
TEST(CustomFunction, GivesNoneForOutputsWithoutAGradientWhereItIsToldTo) {
  load_all();
  const Tensor x = leaf({1, 2}), y = AllMarked::apply(x);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(y.is_leaf());
  for (const bool materialize : {true, false}) {
    expect_near(tn::grad(TwoParts::apply(x, materialize)[1].sum(), x), {3, 3});
    EXPECT_EQ(TwoParts::came, (std::vector<bool>{materialize, true}));
  }
}

struct Many : tn::Function<Many> {
  static Tensor forward(Context&, Tensor x, double k, Tensor y) { return x * k + y; }
  static std::vector<Tensor> backward(Context&, Tensor g) {
    std::vector<Tensor> all;
    for (const bool is_given : gives) all.push_back(is_given ? g : Tensor());
    return all;
  }
  static inline std::vector<bool> gives;
};
// PyTorch 2.15 passes over None behind the last argument too, and refuses the others.
TEST(CustomFunction, BackwardMayGiveNoneBehindTheLastArgument) {
  load_all();
  const Tensor x = leaf({1, 2}), y = leaf({3, 4});
  const auto run = [&](std::vector<bool> gives) {
    Many::gives = std::move(gives);
    return tn::grad({Many::apply(x, 2.0, y).sum()}, {x, y});
  };
  for (const auto& gives : {std::vector<bool>{1, 1}, {1, 0, 1}, {1, 0, 1, 0}, {1, 0, 1, 0, 0}}) {
    const std::vector<Tensor> grads = run(gives);
    expect_near(grads[0], {1, 1});
    expect_near(grads[1], {1, 1});
  }
  expect_error([&] { run({1, 0, 1, 1}); }, "Many: backward gives 4 gradients for 2 tensors");
  expect_error([&] { run({1, 0, 1, 0, 1}); }, "Many: backward gives 5 gradients for 2 tensors");
  expect_error([&] { run({1}); }, "Many: backward gives 1 gradients for 2 tensors");
  expect_error([&] { run({1, 1, 1, 0}); }, "for an argument of forward that is no tensor");
}

// Writes its input, and says so or does not.
struct Doubles : tn::Function<Doubles> {
  static Tensor forward(Context& context, Tensor x, bool marks) {
    x.mul_(2.0);
    if (marks) context.mark_dirty({x});
    return x;
  }
  static Tensor backward(Context&, Tensor g) { return g * 2.0; }
};
// libtorch's MarkDirty and ReturnLeafInplace.
TEST(CustomFunction, AnInputThatItWritesIsItsResult) {
  load_all();
  const Tensor a = leaf({1, 3});
  Tensor h = a * 1.0;
  const uint64_t before = h.version();
  const Tensor y = Doubles::apply(h, true);
  EXPECT_TRUE(y.is_same(h));
  EXPECT_GT(h.version(), before);
  expect_near(h, {2, 6});
  expect_near(tn::grad((h * tn::tensor({1.0, 10.0}, float64)).sum(), a), {2, 20});
  // A tensor without a gradient becomes part of the graph.
  struct Adds : tn::Function<Adds> {
    static std::vector<Tensor> forward(tn::Context& context, Tensor x, Tensor z) {
      context.mark_dirty({x});
      return {x.add_(z), z + 2.0};
    }
    static std::vector<Tensor> backward(tn::Context&, Tensor g, Tensor of_second) {
      return {g, g + of_second};
    }
  };
  const Tensor x = tn::ones({2}, float64);
  const std::vector<Tensor> out = Adds::apply(x, a);
  EXPECT_TRUE(out[0].is_same(x));
  EXPECT_TRUE(x.requires_grad());
  expect_near(tn::grad(x.sum(), a), {1, 1});
}

TEST(CustomFunction, WhatItWritesOfAViewReachesTheBase) {
  load_all();
  const Tensor a = leaf({1, 3});
  Tensor h = a * 1.0;
  Doubles::apply(h.slice(0, 0, 1), true);
  expect_near(h, {2, 3});
  expect_near(tn::grad(h.sum(), a), {2, 1});
  const tn::NoGrad scope;  // nothing is recorded, and the input comes back
  const Tensor plain = tn::ones({2}, float64);
  EXPECT_TRUE(Doubles::apply(plain, true).is_same(plain));
}

TEST(CustomFunction, RefusesToWriteWhatItMayNot) {
  load_all();
  const Tensor a = leaf({1, 3});
  EXPECT_EQ(message_of([&] { Doubles::apply(a * 1.0, false); }),
            "Doubles: forward changed tensor 0 among its arguments in place, which needs a "
            "gradient; say context.mark_dirty({x}) and give it back, or change a copy (clone)");
  expect_error([&] { Doubles::apply(a, true); },
               "Doubles: a leaf that requires a gradient ([2] float64 on cpu) cannot be changed");
  expect_error([&] { Doubles::apply(a.slice(0, 0, 1), true); }, "Doubles: a view of a leaf");
  Doubles::apply(tn::ones({2}, float64), false);  // of what needs no gradient nobody is misled
  struct Keeps : tn::Function<Keeps> {
    static Tensor forward(tn::Context& context, Tensor x) {
      context.mark_dirty({x.mul_(2.0)});
      return x * 1.0;
    }
    static Tensor backward(tn::Context&, Tensor g) { return g; }
  };
  expect_error([&] { Keeps::apply(a * 1.0); },
               "Keeps: forward does not give back a tensor that it says in mark_dirty, expected it "
               "among its results");
  struct Pair : tn::Function<Pair> {
    static std::vector<Tensor> forward(tn::Context& context, Tensor x) {
      context.mark_dirty({x.mul_(2.0)});
      return {x, x + 1.0};
    }
    static std::vector<Tensor> backward(tn::Context&, Tensor g, Tensor) { return {g}; }
  };
  expect_error([&] { Pair::apply((a * 1.0).slice(0, 0, 1)); },
               "Pair: forward writes an input that is a view ([1] float64 on cpu) and gives 2 "
               "tensors, expected that one alone; let it write to a copy (clone)");
}

// As in PyTorch a result is never the input, whether the call is recorded or not.
TEST(CustomFunction, GivesATensorOfItsOwnWithoutGradientsToo) {
  load_all();
  const Tensor x = leaf({1, 2}), plain = tn::ones({2}, float64);
  {
    const tn::NoGrad scope;
    const Tensor y = Reversed::apply(x);
    EXPECT_FALSE(y.is_same(x));
    EXPECT_FALSE(y.requires_grad());
    EXPECT_TRUE(y.same_storage(x));
  }
  const Tensor y = Reversed::apply(plain);
  EXPECT_FALSE(y.is_same(plain));
  y.mul_(x);  // as any view
  expect_near(tn::grad(plain.sum(), x), {1, 1});
}

}  // namespace
