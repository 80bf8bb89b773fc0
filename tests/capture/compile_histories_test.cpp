// What autograd knows of tensors that a compiled function is given or holds: histories by writes in
// place, in the function and beside it, versions of what is saved, gradients and hooks.
#include "same_program.h"

namespace {

Tensor ones() { return tn::ones({3}); }
Tensor weight() { return tn::tensor({1.0, 2.0, 3.0}).requires_grad_(); }
std::string text_of_gradient(const Tensor& t) { return text(t.grad()); }
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
      seen.push_back(text_of_gradient(w));
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
      seen.push_back(text_of_gradient(w));
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
      seen.push_back(text_of_gradient(w));
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
    seen.push_back(text_of_gradient(w));
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
        seen.push_back(text_of_gradient(w));
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
      seen.push_back(text_of_gradient(x));
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
        return text_of_gradient(w);
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
      return text_of_gradient(w);
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

// Of two arguments, eager and compiled; `body` says what it saw.
using Pair = std::function<Tensor(Tensor, Tensor)>;
void expect_same_pair(const Pair& f, const std::function<std::string(const Pair&)>& body) {
  load_all();
  const auto compiled = tn::compile([f](Tensor a, Tensor b) { return f(a, b); });
  for (int i = 0; i < 6; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(body([&](Tensor a, Tensor b) { return compiled(a, b); }), body(f));
  }
}

TEST(CompileHistories, ArgumentsOfOneMemory) {
  Tensor w, u;
  const auto begin = [&] {
    w = weight();
    u = weight();
  };
  // Written through one, read through the other, a view.
  expect_same_pair(
      [&](Tensor x, Tensor v) {
        x.mul_(w);
        return (v * 2).sum();
      },
      [&](const Pair& f) {
        begin();
        const Tensor x = tn::ones({2, 3}), y = f(x, x.select(0, 0));
        if (y.requires_grad()) y.backward();
        return asks(y) + text_of_gradient(w);
      });
  // The same tensor twice, a tensor and its view, and one view twice: written in turn.
  const Pair in_turn = [&](Tensor a, Tensor b) {
    b.mul_(w);
    a.mul_(w);
    return Tensor();
  };
  for (const int kind : {0, 1, 2}) {
    SCOPED_TRACE(kind);
    expect_same_pair(in_turn, [&](const Pair& f) {
      begin();
      const Tensor x = tn::ones({2, 3}), v = x.select(0, 0);
      kind == 0 ? f(x, x) : kind == 1 ? f(x, v) : f(v, x.select(0, 0));
      x.sum().backward();
      return text_of_gradient(w);
    });
  }
  expect_same_pair(
      [&](Tensor a, Tensor b) {
        b.copy_(w);
        a.mul_(u);
        return Tensor();
      },
      [&](const Pair& f) {
        begin();
        const Tensor x = tn::ones({2, 3});
        f(x.select(0, 0), x.select(0, 0));
        x.sum().backward();
        return text_of_gradient(w) + text_of_gradient(u);
      });
  // A view twice with a history; another argument that is written without one.
  expect_same_pair(
      [&](Tensor v, Tensor z) {
        v.mul_(w);
        v.mul_(w);
        z.add_(1);
        return Tensor();
      },
      [&](const Pair& f) {
        begin();
        const Tensor base = tn::ones({2, 3}), z = ones(), loss = (u * z).sum();
        f(base.select(0, 0), z);
        base.sum().backward();
        return text_of_gradient(w) + text(z) + outcome([&] {
                 loss.backward();
                 return text_of_gradient(u);
               });
      });
}

TEST(CompileHistories, ResultsOverAnArgumentHaveTheirOwn) {
  Tensor w;
  const std::vector<std::function<Tensor(Tensor)>> functions = {
      [&](Tensor x) {
        const Tensor y = x.detach();
        y.mul_(w);
        return y;
      },
      [](Tensor x) { return x.detach().requires_grad_(); },
      [](Tensor x) { return x.narrow(0, 0, 2).requires_grad_(); },
      [&](Tensor x) {
        x.mul_(w);
        x.retain_grad();
        return Tensor();
      }};
  for (size_t k = 0; k < functions.size(); ++k) {
    SCOPED_TRACE(k);
    expect_same_pair([&](Tensor x, Tensor) { return functions[k](x); },
                     [&](const Pair& f) {
                       w = weight();
                       const Tensor x = ones(), y = f(x, Tensor());
                       const Tensor z = y.defined() ? y : x;
                       (z * 2).sum().backward();
                       return asks(z) + text_of_gradient(w) + text_of_gradient(z);
                     });
  }
}

// What one function kept is given to another.
TEST(CompileHistories, WhatWasKeptOfAnArgumentHasItsVersion) {
  load_all();
  Tensor kept;
  const Tensor w = weight(), x = ones();
  const auto f = tn::compile([&](Tensor t) {
    kept = t;
    return t + 1;
  });
  const auto g = tn::compile([&](Tensor t) { return (w * t).sum(); });
  x.add_(1);
  x.add_(1);
  f(x);
  x.add_(1);
  const Tensor loss = g(kept);
  x.add_(1);
  expect_error([&] { loss.backward(); }, "was changed in place");
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
      seen.push_back(text_of_gradient(x));
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
