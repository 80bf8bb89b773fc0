// What autograd knows of tensors that a compiled function is given or holds: histories by writes in
// place, in the function and beside it, versions of what is saved, gradients and hooks.
#include "same_program.h"

namespace {

Tensor ones() { return tn::ones({3}); }
Tensor weight() { return tn::tensor({1.0, 2.0, 3.0}).requires_grad_(); }
std::string gradient_text(const Tensor& t) { return text(t.grad()); }
std::string asks(const Tensor& t) { return flag("asks", t.requires_grad()); }
// What f gives, or what it says.
template <typename F>
std::string outcome(const F& f) {
  try {
    return f();
  } catch (const tn::Error& e) {
    const std::string why = e.what();
    return why.substr(0, why.find('\n'));
  }
}

TEST(CompileHistories, ATensorThatItHoldsGetsOneInside) {
  for (const bool through_view : {false, true}) {
    expect_same_program([&](const Wrap& wrap) {
      Seen seen;
      const Tensor w = weight(), held = tn::zeros({2, 3});
      const Function f = wrap([&](Tensor) {
        tn::add_(through_view ? held.select(0, 1) : held, w);
        return Tensor();
      });
      for (int i = 0; i < 4; ++i) f(ones());
      held.sum().backward();
      seen.push_back(gradient_text(w));
      return seen;
    });
  }
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Tensor w = weight(), held = tn::zeros({3});
    const Function f = wrap([&](Tensor) {
      w.zero_grad();
      tn::add_(held, w * 2);
      held.sum().backward({}, true);
      return Tensor();
    });
    for (int i = 0; i < 5; ++i) {
      f(ones());
      seen.push_back(gradient_text(w));
    }
    return seen;
  });
}

TEST(CompileHistories, ATensorThatItHoldsGetsOneBesideIt) {
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Tensor w = weight(), held = tn::zeros({3});
    const Function f = wrap([&](Tensor x) { return held * x; });
    for (int i = 0; i < 6; ++i) {
      if (i == 3) tn::add_(held, w);
      seen.push_back(asks(f(ones())));
    }
    return seen;
  });
  // Through a view of what it holds, and to the base of a view that it holds.
  for (const bool holds_view : {false, true}) {
    expect_same_program([&](const Wrap& wrap) {
      Seen seen;
      const Tensor w = weight(), base = tn::zeros({2, 3}), view = base.select(0, 1);
      const Function f = wrap([&](Tensor x) { return (holds_view ? view : base) * x; });
      for (int i = 0; i < 5; ++i) {
        if (i == 3) tn::add_(holds_view ? base : view, w);
        seen.push_back(asks(f(ones())));
      }
      return seen;
    });
  }
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Tensor w = weight(), v = weight(), held = tn::ones({3});
    const Function f = wrap([&](Tensor x) {
      (held * v * x).sum().backward({}, true);
      return Tensor();
    });
    for (int i = 0; i < 4; ++i) {
      if (i == 2) held.copy_(w * w);
      f(ones());
      seen.push_back(gradient_text(w));
    }
    return seen;
  });
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Tensor w = weight(), held = tn::zeros({3});
    const Function f = wrap([&](Tensor x) {
      held.copy_(x);
      return Tensor();
    });
    for (int i = 0; i < 4; ++i) {
      if (i == 2) tn::add_(held, w);
      f(ones());
    }
    held.sum().backward();
    seen.push_back(gradient_text(w));
    return seen;
  });
}

TEST(CompileHistories, AnArgumentIsAViewOfWhatHasOne) {
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Tensor w = weight(), base = tn::zeros({3}), view = base.narrow(0, 0, 2);
    const Function f = wrap([](Tensor x) { return x * 2; });
    f(view);
    tn::add_(base, w);
    for (int i = 0; i < 3; ++i) seen.push_back(asks(f(view)));
    return seen;
  });
  // What eager writes refuse stays refused.
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Tensor w = weight();
    Tensor view;
    {
      const tn::NoGrad no_grad;
      view = w.narrow(0, 0, 2);
    }
    const Function f = wrap([](Tensor x) {
      tn::mul_(x, 2);
      return Tensor();
    });
    for (int i = 0; i < 3; ++i) {
      seen.push_back(outcome([&] {
        f(view);
        return std::string("done");
      }));
    }
    seen.push_back(text(w));
    return seen;
  });
}

TEST(CompileHistories, AnArgumentGetsOneInside) {
  for (const bool is_view : {false, true}) {
    expect_same_program([&](const Wrap& wrap) {
      Seen seen;
      const Tensor w = weight();
      const Function f = wrap([&](Tensor x) {
        tn::mul_(x, w);
        return Tensor();
      });
      for (int i = 0; i < 4; ++i) {
        const Tensor base = tn::ones({2, 3}) * 2.0, x = is_view ? base.select(0, 1) : base;
        w.zero_grad();
        f(x);
        seen.push_back(asks(x) + flag(" leaf", x.is_leaf()));
        base.sum().backward();
        seen.push_back(gradient_text(w));
      }
      return seen;
    });
  }
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Function f = wrap([](Tensor x) {
      x.requires_grad_();
      x.register_hook([](Tensor g) { return g * 10; });
      return Tensor();
    });
    for (int i = 0; i < 3; ++i) {
      const Tensor x = tn::tensor({1.0, 2.0, 3.0});
      f(x);
      (x * x).sum().backward();
      seen.push_back(gradient_text(x));
    }
    return seen;
  });
}

TEST(CompileHistories, WhatIsSavedOfAnArgumentIsCheckedWhenItWasWritten) {
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Tensor w = weight();
    const Function f = wrap([&](Tensor x) { return (w * x).sum(); });
    for (int i = 0; i < 5; ++i) {
      const Tensor x = ones(), y = f(x);
      tn::mul_(x, 100);
      seen.push_back(outcome([&] {
        y.backward();
        return gradient_text(w);
      }));
    }
    return seen;
  });
  Tensor kept;
  expect_same_program([&](const Wrap& wrap) {
    Seen seen;
    const Tensor w = weight(), x = ones();
    const Function f = wrap([&](Tensor t) {
      kept = t;
      return t * 2;
    });
    f(x);
    const Tensor loss = (w * kept).sum();
    tn::mul_(x, 100);
    seen.push_back(outcome([&] {
      loss.backward();
      return gradient_text(w);
    }));
    return seen;
  });
}

TEST(CompileHistories, AnArgumentThatIsGivenBackIsTheArgument) {
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Tensor w = tn::ones({2}).requires_grad_();
    const Function same = wrap([](Tensor x) { return x; });
    const Function written = wrap([](Tensor x) { return tn::relu_(x); });
    const Function part = wrap([](Tensor x) { return x.narrow(0, 0, 2); });
    for (int i = 0; i < 3; ++i) {
      const Tensor x = ones();
      seen.push_back(flag("same", same(x).is_same(x)));
      seen.push_back(text(written(x)));
      const Tensor y = part(x);
      tn::mul_(x.narrow(0, 0, 2), w);
      seen.push_back(asks(y));
    }
    return seen;
  });
}

TEST(CompileHistories, GradientsOfArgumentsAndOfWhatItHolds) {
  const auto read = [](const Tensor& from, const Tensor& x) {
    return from.grad().defined() ? from.grad() * x : x * 0;
  };
  expect_same_program([&](const Wrap& wrap) {
    Seen seen;
    const Function f = wrap([&](Tensor x) { return read(x, x); });
    const Tensor x = ones();
    for (int i = 0; i < 4; ++i) {
      if (i == 2) x.set_grad(tn::tensor({5.0, 10.0, 15.0}));
      seen.push_back(text(f(x)));
    }
    return seen;
  });
  expect_same_program([&](const Wrap& wrap) {
    Seen seen;
    const Tensor held = ones();
    const Function f = wrap([&](Tensor x) { return read(held, x); });
    for (int i = 0; i < 4; ++i) {
      if (i == 2) held.set_grad(tn::tensor({5.0, 10.0, 15.0}));
      seen.push_back(text(f(ones())));
    }
    return seen;
  });
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Function f = wrap([](Tensor x) {
      x.set_grad(x * 2);
      return Tensor();
    });
    for (int i = 0; i < 3; ++i) {
      const Tensor x = ones();
      f(x);
      seen.push_back(gradient_text(x));
    }
    return seen;
  });
}

TEST(CompileHistories, ARowSparseArgument) {
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    const Tensor table = tn::ones({3, 2}).requires_grad_();
    tn::embedding(table, tn::tensor({0, 2}), {}, true).sum().backward();
    const Function f = wrap([](Tensor x) { return x.to_dense() * 1; });
    for (int i = 0; i < 3; ++i) seen.push_back(text(f(table.grad())));
    return seen;
  });
}

}  // namespace
