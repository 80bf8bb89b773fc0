// Programs that try to be another thing compiled than they are eagerly. Each runs twice, with the
// function as it is and compiled, and says what it saw.
#include <thread>

#include "compile_support.h"
#include "same_program.h"

namespace {

namespace nn = tn::nn;

TEST(CompileHostile, DevicesOfGradientsAreLookedAt) {
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    tn::Object model = nn::Linear(3, 3);
    const Function clip = wrap([&](Tensor) {
      tn::optim::clip_grad_norm_(model.parameters(), 0.1);
      return Tensor();
    });
    const auto backward = [&](Tensor x) {
      model.zero_grad();
      model(x).sum().backward();
    };
    for (int i = 0; i < 4; ++i) {
      if (i == 2) model.to("ref");
      backward(i < 2 ? m() : m().to("ref"));
      clip(Tensor());
      seen.push_back(text(model.parameters()[0].grad()));
    }
    return seen;
  });
}

TEST(CompileHostile, ViewsBehindAnArgument) {
  expect_same_program([](const Wrap& wrap) {
    const Tensor big = tn::linspace(0, 127, 128);
    const Function f = wrap([](Tensor x) { return tn::as_strided(x, {4}, {1}, 2) * 1; });
    return Seen{text(f(big.narrow(0, 0, 8))), text(f(big.narrow(0, 64, 8)))};
  });
}

TEST(CompileHostile, ArgumentsThatAreHeld) {
  expect_same_program([](const Wrap& wrap) {
    Tensor w = m().clone(), u = m().clone(), v = m().clone();
    const Function add = wrap([&](Tensor x) { return tn::add_(w, x) * 1; });
    const Function copy = wrap([&](Tensor x) { return x.copy_(u.t()) * 1; });
    const Function late = wrap([&](Tensor x) { return tn::add_(v, x) * 1; });
    Seen seen{text(add(w.t())), text(copy(u.detach()))};
    for (int i = 0; i < 3; ++i) seen.push_back(text(late(m().t())));
    seen.push_back(text(late(v.t())));
    return seen;
  });
}

TEST(CompileHostile, GradientsThatAreTheParameter) {
  expect_same_program([](const Wrap& wrap) {
    const Tensor w = m().clone().requires_grad_();
    const Function f = wrap([&](Tensor) { return tn::add_(w.detach(), w.grad()) * 1; });
    Seen seen;
    for (int i = 0; i < 4; ++i) {
      w.set_grad(i < 2 ? m().clone().t() : w.detach().t());
      seen.push_back(text(f(Tensor())));
    }
    return seen;
  });
}

TEST(CompileHostile, OtherThreadsInside) {
  expect_same_program([](const Wrap& wrap) {
    const Function f = wrap([](Tensor x) {
      Tensor y;
      std::thread([&] { y = x * 2; }).join();
      return y + 1;
    });
    return Seen{text(f(m() * 0)), text(f(m())), text(f(m() * 2))};
  });
}

TEST(CompileHostile, GradientsThatAreKeptOutside) {
  expect_same_program([](const Wrap& wrap) {
    const Tensor w = m().clone().requires_grad_(), h = w * 2;
    h.retain_grad();
    const Function f = wrap([&](Tensor x) {
      (h * x).sum().backward({}, true);
      return Tensor();
    });
    Seen seen;
    for (int i = 0; i < 6; ++i) {
      f(m());
      seen.push_back(text(h.grad()));
      if (i > 2) h.zero_grad();
    }
    return seen;
  });
}

TEST(CompileHostile, HooksThatComeLater) {
  expect_same_program([](const Wrap& wrap) {
    const Tensor w = m().clone().requires_grad_();
    const Function f = wrap([&](Tensor x) {
      w.zero_grad();
      (w * x).sum().backward();
      return Tensor();
    });
    Seen seen;
    for (int i = 0; i < 5; ++i) {
      if (i == 3) w.register_hook([](Tensor g) { return g * 10; });
      f(m());
      seen.push_back(text(w.grad()));
    }
    return seen;
  });
}

TEST(CompileHostile, ChildrenThatAreReplaced) {
  expect_same_program([](const Wrap& wrap) {
    const tn::Object model = nn::Sequential(nn::Linear(3, 3), nn::ReLU());
    const Function f = wrap([&](Tensor x) { return model.child("0")(x).detach() * 1; });
    Seen seen;
    for (int i = 0; i < 4; ++i) {
      if (i == 2) model.child("0", tn::Object(nn::Linear(3, 3)));
      seen.push_back(text(f(m())));
    }
    return seen;
  });
}

TEST(CompileHostile, FlagsThatTheCallChanges) {
  expect_same_program([](const Wrap& wrap) {
    const Tensor w = m().clone().requires_grad_(), v = m().clone().requires_grad_();
    const Function f = wrap([&](Tensor x) {
      w.zero_grad(), v.zero_grad();
      (w * x + v * x).sum().backward();
      w.requires_grad_(false);
      return Tensor();
    });
    Seen seen;
    for (int i = 0; i < 4; ++i) {
      f(m());
      seen.push_back(flag("w", w.grad().defined()) + flag(" v", v.grad().defined()));
    }
    return seen;
  });
}

TEST(CompileHostile, ResultsThatAreLeaves) {
  expect_same_program([](const Wrap& wrap) {
    const Function f = wrap([](Tensor x) { return x.detach().clone().requires_grad_(); });
    Seen seen;
    for (int i = 0; i < 3; ++i) seen.push_back(flag("leaf", f(m()).requires_grad()));
    return seen;
  });
}

TEST(CompileHostile, ArgumentsThatAreKept) {
  expect_same_program([](const Wrap& wrap) {
    Tensor kept;
    const Function f = wrap([&](Tensor x) {
      kept = x;
      return x * 2;
    });
    Seen seen;
    for (int i = 0; i < 3; ++i) {
      f(m() * i);
      seen.push_back(text(kept));
    }
    return seen;
  });
}

// A tensor that was saved for its gradient and is written is an error, as it is eagerly.
TEST(CompileHostile, WritesThatOthersMustHearOf) {
  expect_same_program([](const Wrap& wrap) {
    Seen seen;
    {
      const Tensor p = m().clone(), w = m().clone().requires_grad_();
      const Function f = wrap([&](Tensor x) {
        tn::mul_(p, 2);
        return x * 1;
      });
      const Tensor loss = (w * p).sum();
      f(p);
      seen.push_back(message_of([&] { loss.backward(); }));
    }
    const Tensor x = m().clone(), w = m().clone().requires_grad_();
    const Function f = wrap([&](Tensor t) -> Tensor {
      tn::mul_(t, 2);
      tn::fail("stop");
    });
    const Tensor loss = (w * x).sum();
    seen.push_back(message_of([&] { f(x); }));
    seen.push_back(message_of([&] { loss.backward(); }));
    for (const std::string& message : seen) EXPECT_NE(message, "no error");
    return seen;
  });
}

TEST(CompileHostile, GraphsFromBefore) {
  expect_same_program([](const Wrap& wrap) {
    const Tensor w = m().clone().requires_grad_(), h = w * w;
    const Function f = wrap([&](Tensor x) {
      w.zero_grad();
      (h * x).sum().backward({}, true);
      tn::mul_(w.detach(), 0.5);
      return Tensor();
    });
    Seen seen;
    for (int i = 0; i < 3; ++i) seen.push_back(message_of([&] { f(m()); }) + " " + text(w.grad()));
    EXPECT_EQ(seen[1].find("no error"), std::string::npos) << seen[1];
    return seen;
  });
}

TEST(CompileHostile, ArgumentsThatAreAskedForGradients) {
  expect_same_program([](const Wrap& wrap) {
    const Function f = wrap([](Tensor x) {
      x.requires_grad_();
      (x * x).sum().backward();
      return Tensor();
    });
    Seen seen;
    for (int i = 0; i < 3; ++i) {
      const Tensor x = m().clone();
      f(x);
      seen.push_back(flag("asks", x.requires_grad()) + text(x.grad()));
    }
    return seen;
  });
}

TEST(CompileHostile, MemoryOfArgumentsIsLetGo) {
  expect_same_program([](const Wrap& wrap) {
    const Function f = wrap([](Tensor x) { return x * 2; });
    int released = 0;
    Owner owner(9, [&] { ++released; });
    Seen seen;
    for (int i = 0; i < 4; ++i) {
      f(owner.lend(0, 9));
      seen.push_back(std::to_string(released));
    }
    return seen;
  });
}

// Twice x, which is needed once more when much memory is in use, and after a write to y. To compute
// it anew there saves memory, and is right where y is not in the memory of x.
constexpr int64_t kMany = 1 << 15;
Tensor twice_around_a_write(const Tensor& x, const Tensor& y) {
  const Tensor twice = x * 2, more = twice + 1;
  const Tensor sum = tn::exp(tn::cat({more, more, more, more}) * -1).sum();
  tn::add_(y, 1);
  return (twice + sum).narrow(0, 0, kMany).sum();
}

TEST(CompileHostile, MemoryOfOthersThatOverlaps) {
  expect_same_program([](const Wrap& wrap) {
    Owner owner(4 * kMany);
    const Tensor y = owner.lend(0, kMany);
    const Function f = wrap([&](Tensor x) { return twice_around_a_write(x, y); });
    Seen seen;
    for (const int64_t at : {3, 2, 1, 0}) {  // in halves of what is lent
      for (int i = 0; i < 3; ++i) seen.push_back(text(f(owner.lend(at * kMany / 2, kMany))));
    }
    const Tensor own = tn::linspace(0, 1, 2 * kMany, tn::float32), part = own.narrow(0, 0, kMany),
                 late = tn::from_dlpack(tn::to_dlpack(own.narrow(0, kMany / 2, kMany)));
    const Function g = wrap([&](Tensor x) { return twice_around_a_write(x, late); });
    for (const Tensor& x : {part.clone(), part.clone(), part, part}) seen.push_back(text(g(x)));
    const Function both = wrap([&](Tensor) { return twice_around_a_write(part, late); });
    for (int i = 0; i < 3; ++i) seen.push_back(text(both(Tensor())));
    return seen;
  });
}

TEST(CompileHostile, MemoryThatOverlapsIsTheReason) {
  load_all();
  Owner owner(4 * kMany);
  auto f = tn::compile([](Tensor x, Tensor y) { return twice_around_a_write(x, y); });
  for (int i = 0; i < 3; ++i) f(owner.lend(0, kMany), owner.lend(kMany, kMany));
  expect_described(f, "1 recordings, 2 replays");
  for (const int64_t at : {kMany / 2, int64_t{0}, kMany}) {
    Owner same(4 * kMany);
    same.values = owner.values;
    expect_same_bits(f(owner.lend(kMany / 2, kMany), owner.lend(at, kMany)),
                     twice_around_a_write(same.lend(kMany / 2, kMany), same.lend(at, kMany)));
    EXPECT_EQ(owner.values, same.values);
  }
  expect_described(f,
                   "signature: runs eagerly: an argument or a gradient shares memory with "
                   "another tensor of the function");
  const Tensor a = owner.lend(0, kMany), b = owner.lend(kMany / 2, kMany);
  auto held = tn::compile([&] { return twice_around_a_write(a, b); });
  for (int i = 0; i < 3; ++i) held();
  expect_described(held,
                   "signature: runs eagerly: tensors that it holds share memory, and are no "
                   "views of one another");
}

TEST(CompileHostile, CallsFromInsideAndWhileItIsRecorded) {
  load_all();
  tn::CompiledFunction<std::function<Tensor(Tensor)>>* self = nullptr;
  std::string said;
  auto f = tn::compile(std::function<Tensor(Tensor)>([&](Tensor x) {
    if (said.empty()) {
      said = self->describe();
      std::thread([&] { (*self)(m()); }).join();
    }
    return x * 2;
  }));
  self = &f;
  for (int i = 0; i < 3; ++i) expect_same_bits(f(m() * i), m() * i * 2);
  EXPECT_EQ(said, "is being recorded\n");
}

}  // namespace
