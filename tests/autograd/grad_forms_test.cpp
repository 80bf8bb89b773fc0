// Each way to write tenon::grad and tenon::autograd::grad: one tensor, several in braces or a list
// in each place, gradients of the outputs by place or by name, options behind them. Values are
// closed forms.
#include <optional>
#include <type_traits>
#include <vector>

#include "autograd_support.h"
#include "message_of.h"

namespace {

namespace ag = tn::autograd;
using List = std::vector<Tensor>;
using Values = std::vector<double>;

// u = x² t and w = x t, of which each call has its own.
struct Problem {
  Tensor x = leaf({1, 2}), t = leaf({3, 4}), u = x * x * t, w = x * t;
  Tensor g = Tensor::from({1.0, 10.0}), h = Tensor::from({2.0, 0.5});
  List xs = {x, t}, us = {u, w}, gs = {g, h};
};
// The gradients of x and t: of u by g, and of u by g and w by h.
const Values kXOfU = {6, 160}, kTOfU = {1, 40}, kXOfBoth = {12, 162}, kTOfBoth = {3, 41};

template <typename F>
void gives(F form, const std::vector<Values>& expected) {
  const Problem p;
  const auto given = form(p);
  if constexpr (std::is_same_v<decltype(form(p)), tn::Gradient>) {
    ASSERT_EQ(expected.size(), 1u);
    expect_near(given, expected[0]);
  } else {
    static_assert(std::is_same_v<decltype(form(p)), List>);
    ASSERT_EQ(given.size(), expected.size());
    for (size_t i = 0; i < given.size(); ++i) expect_near(given[i], expected[i]);
  }
}
#define FORM(...) [](const Problem& p) { return __VA_ARGS__; }

TEST(GradForms, AnInputWithoutBracesGivesATensor) {
  load_all();
  const std::vector<Values> ones = {{6, 16}}, by_g = {kXOfU}, by_both = {kXOfBoth};
  gives(FORM(tn::grad(p.u.sum(), p.x)), ones);
  gives(FORM(tn::grad(p.u.sum(), p.x, {})), ones);
  gives(FORM(tn::grad({p.u.sum()}, p.x)), ones);
  gives(FORM(tn::grad(p.u.sum()[{}], p.x, {.create_graph = true})), ones);
  gives(FORM(tn::grad({p.u[0], p.u[1]}, p.x)), ones);
  gives(FORM(tn::grad(p.u, p.x, p.g)), by_g);
  gives(FORM(tn::grad(p.u, p.x, {p.g})), by_g);
  gives(FORM(tn::grad(p.u, p.x, List{p.g})), by_g);
  gives(FORM(tn::grad(p.u[{}], p.x, p.g[{}])), by_g);
  gives(FORM(tn::grad(p.u, p.x, {.grad_outputs = p.g})), by_g);
  gives(FORM(tn::grad(p.u, p.x, {.grad_outputs = {p.g}, .create_graph = true})), by_g);
  gives(FORM(tn::grad(p.u, p.x, {.grad_outputs = p.g[{}]})), by_g);
  gives(FORM(tn::grad(p.u, p.x, p.g, {.create_graph = true})), by_g);
  gives(FORM(tn::grad(p.u, p.x, {p.g}, {.create_graph = true})), by_g);
  gives(FORM(tn::grad({p.u, p.w}, p.x, {p.g, p.h})), by_both);
  gives(FORM(tn::grad(p.us, p.x, p.gs, {.retain_graph = true})), by_both);
  gives(FORM(tn::grad(p.us, p.x, {.grad_outputs = p.gs})), by_both);
}

TEST(GradForms, InputsInAListGiveAList) {
  load_all();
  const std::vector<Values> of_x = {kXOfU}, of_u = {kXOfU, kTOfU}, of_both = {kXOfBoth, kTOfBoth};
  gives(FORM(tn::grad(p.u.sum(), {p.x})), {{6, 16}});
  gives(FORM(tn::grad(p.u.sum(), {p.x, p.t})), {{6, 16}, {1, 4}});
  gives(FORM(tn::grad({p.u.sum()}, p.xs, {})), {{6, 16}, {1, 4}});
  gives(FORM(tn::grad({p.u}, {p.x}, {p.g})), of_x);
  gives(FORM(tn::grad(p.u, {p.x, p.t}, p.g)), of_u);
  gives(FORM(tn::grad(p.u, {p.x, p.t}, p.g, {.create_graph = true})), of_u);
  gives(FORM(tn::grad(p.u, {p.x, p.t}, {p.g}, {.create_graph = true})), of_u);
  gives(FORM(tn::grad({p.u}, {p.x, p.t}, {p.g}, {.create_graph = true})), of_u);
  gives(FORM(tn::grad(p.u, p.xs, p.g, {.allow_unused = true})), of_u);
  gives(FORM(tn::grad(p.u, {p.x, p.t}, {.grad_outputs = p.g, .create_graph = true})), of_u);
  gives(FORM(tn::grad({p.u, p.w}, {p.x, p.t}, {p.g, p.h})), of_both);
  gives(FORM(tn::grad({p.u, p.w}, p.xs, {p.g, p.h[{}]}, {.create_graph = true})), of_both);
  gives(FORM(tn::grad(p.us, p.xs, p.gs)), of_both);
  gives(FORM(tn::grad(p.us, p.xs, {.grad_outputs = {p.g, p.h}})), of_both);
  gives(FORM(tn::grad({p.u.sum(), p.w}, p.xs, {Tensor(), p.h})), {{12, 18}, {3, 5}});
}

TEST(GradForms, AutogradGivesAListOfOneInputToo) {
  load_all();
  const std::vector<Values> of_x = {kXOfU}, of_u = {kXOfU, kTOfU}, of_both = {kXOfBoth, kTOfBoth};
  gives(FORM(ag::grad(p.u.sum(), p.x)), {{6, 16}});
  gives(FORM(ag::grad({p.u.sum()}, {p.x}, {})), {{6, 16}});
  gives(FORM(ag::grad(p.u.sum(), p.xs, {.create_graph = true})), {{6, 16}, {1, 4}});
  gives(FORM(ag::grad(p.u, p.x, p.g)), of_x);
  gives(FORM(ag::grad({p.u}, {p.x}, {p.g})), of_x);
  gives(FORM(ag::grad(p.u, {p.x, p.t}, p.g, {.create_graph = true})), of_u);
  gives(FORM(ag::grad(p.u, p.xs, {.grad_outputs = p.g, .create_graph = true})), of_u);
  gives(FORM(ag::grad({p.u, p.w}, {p.x, p.t}, {p.g, p.h})), of_both);
  gives(FORM(ag::grad(p.us, p.xs, p.gs, {.retain_graph = true})), of_both);
  // As libtorch has them.
  gives(FORM(ag::grad(p.u, p.x, p.g, true, true)), of_x);
  gives(FORM(ag::grad(p.u[{}], p.x, p.g[{}], true)), of_x);
  gives(FORM(ag::grad({p.u.sum()}, {p.x}, {}, true, true)), {{6, 16}});
  gives(FORM(ag::grad({p.u}, {p.x, p.t}, {p.g}, std::nullopt, true)), of_u);
  gives(FORM(ag::grad(p.us, p.xs, p.gs, false, false, true)), of_both);
  const Problem p;
  expect_near(ag::grad(p.u.sum(), p.x)[0], {6, 16});
}

TEST(GradForms, BackwardTakesTheSame) {
  load_all();
  const auto adds = [](auto backward, const Values& expected) {
    const Problem p;
    backward(p);
    expect_near(p.x.grad(), expected);
  };
  adds([](const Problem& p) { tn::backward(p.u.sum()); }, {6, 16});
  adds([](const Problem& p) { tn::backward(p.u, p.g); }, kXOfU);
  adds([](const Problem& p) { tn::backward({p.u, p.w}, {p.g, p.h}); }, kXOfBoth);
  adds([](const Problem& p) { tn::backward(p.us, p.gs, {.retain_graph = true}); }, kXOfBoth);
  adds([](const Problem& p) { tn::backward(p.us, {.grad_outputs = p.gs}); }, kXOfBoth);
  adds([](const Problem& p) { ag::backward(p.u.sum()); }, {6, 16});
  adds([](const Problem& p) { ag::backward({p.u.sum()}, {}); }, {6, 16});
  adds([](const Problem& p) { ag::backward(p.u, p.g, {.retain_graph = true}); }, kXOfU);
  adds([](const Problem& p) { ag::backward({p.u, p.w}, {p.g, p.h}); }, kXOfBoth);
  adds([](const Problem& p) { ag::backward(p.u, {p.g}, true, false, p.x); }, kXOfU);
}

TEST(GradForms, GradientsThatAreTooManyAreRefused) {
  load_all();
  const Problem p;
  EXPECT_EQ(message_of([&] {
              tn::grad(p.u, {p.x, p.t}, {p.g, p.h});
            }),
            "grad: 2 gradients for 1 outputs");
  EXPECT_EQ(message_of([&] { ag::grad({p.u, p.w}, p.x, p.g); }), "grad: 1 gradients for 2 outputs");
  EXPECT_EQ(message_of([&] { tn::backward(p.us, p.g); }), "backward: 1 gradients for 2 outputs");
}

}  // namespace
