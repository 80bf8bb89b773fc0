// Steps of optimizers on lists, against PyTorch's formulas worked by hand; scaled gradients.
#include "ops_support.h"

namespace {

TEST(SgdStep, PlainMomentumAndNesterov) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor p = float64_tensor({1, -2}, {2}, d).requires_grad_(),
           g = float64_tensor({0.5, 1}, {2}, d);
    tn::sgd_step({p}, {g}, {}, 0.1);
    expect_near(p, {0.95, -2.1}, 1e-12);
    tn::sgd_step({p}, {g}, {}, 0.1, {.weight_decay = 0.5});
    expect_near(p, {0.95 - 0.1 * (0.5 + 0.475), -2.1 - 0.1 * (1 - 1.05)}, 1e-12);

    Tensor q = float64_tensor({1}, {1}, d), h = float64_tensor({2}, {1}, d),
           buffer = float64_tensor({77}, {1}, d);
    tn::sgd_step({q}, {h}, {buffer}, 0.1, {.momentum = 0.9, .first = true});
    expect_near(buffer, {2}, 1e-12);
    expect_near(q, {0.8}, 1e-12);
    tn::sgd_step({q}, {h}, {buffer}, 0.1, {.momentum = 0.9, .dampening = 0.5});
    expect_near(buffer, {0.9 * 2 + 0.5 * 2}, 1e-12);
    expect_near(q, {0.8 - 0.28}, 1e-12);
    tn::sgd_step({q}, {h}, {buffer}, 0.1, {.momentum = 0.9, .nesterov = true});
    double b = 0.9 * 2.8 + 2;
    expect_near(q, {0.52 - 0.1 * (2 + 0.9 * b)}, 1e-12);
    tn::sgd_step({q}, {h}, {}, 0.1, {.maximize = true});
    expect_near(q, {0.52 - 0.1 * (2 + 0.9 * b) + 0.2}, 1e-12);
  }
}

TEST(AdamStep, AdamAndAdamW) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (bool decoupled : {false, true}) {
      double p0 = 1.5, m = 0, v = 0;
      Tensor p = float64_tensor({p0}, {1}, d), em = tn::zeros_like(p), ev = tn::zeros_like(p);
      for (int step = 1; step <= 3; ++step) {
        double g = 0.3 * step, lr = 0.01, decay = 0.1;
        tn::adam_step({p}, {float64_tensor({g}, {1}, d)}, {em}, {ev}, lr, step,
                      {.weight_decay = decay, .decoupled = decoupled});
        if (decoupled) {
          p0 -= lr * decay * p0;
        } else {
          g += decay * p0;
        }
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        p0 -= lr * (m / (1 - std::pow(0.9, step))) /
              (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-8);
        expect_near(p, {p0}, 1e-12);
      }
      expect_near(em, {m}, 1e-12);
      expect_near(ev, {v}, 1e-12);
    }
  }
}

// Lists whose tensors differ in size, layout and dtype, against `ref`, which goes by the meaning.
struct Parts {
  std::vector<Tensor> params, grads, first, second;
  explicit Parts(tn::Device d) {
    const auto add = [&](const std::vector<int64_t>& sizes, tn::Dtype dtype, bool last) {
      for (auto* list : {&params, &grads, &first, &second}) {
        Tensor t = tn::randn(sizes, tn::float32);
        if (list == &second) t = t * t;
        t = t.to(dtype).to(d);
        if (last) t = t.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
        list->push_back(t);
      }
    };
    tn::manual_seed(3);
    add({20000}, tn::float32, false);
    add({}, tn::float32, false);
    add({0, 3}, tn::float32, false);
    add({3, 5, 7, 11}, tn::float32, true);
    add({8192, 3}, tn::float64, false);
    add({1300}, tn::bfloat16, false);
    add({700}, tn::float16, false);
    add({33}, tn::float32, false);
  }
};
void expect_alike(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(i);
    const double near = got[i].dtype() == tn::float64    ? 1e-12
                        : got[i].dtype() == tn::bfloat16 ? 2e-2
                        : got[i].dtype() == tn::float16  ? 3e-3
                                                         : 4e-6;
    expect_near(got[i], want[i].to(tn::Device("cpu")).to(tn::float64).to_vector<double>(), near);
  }
}

TEST(Steps, OfManyTensorsAreThoseOfRef) {
  for (int way = 0; way < 8; ++way) {
    SCOPED_TRACE(way);
    const bool one = (way & 1) != 0, two = (way & 2) != 0, three = (way & 4) != 0;
    Parts a{tn::Device("cpu")}, b{tn::Device(second_device())};
    for (Parts* x : {&a, &b}) {
      tn::adam_step(x->params, x->grads, x->first, x->second, 0.01, 5,
                    {.eps = 1e-3, .weight_decay = 0.1, .decoupled = one, .maximize = two});
    }
    expect_alike(a.params, b.params);
    expect_alike(a.first, b.first);
    expect_alike(a.second, b.second);
    for (Parts* x : {&a, &b}) {
      tn::sgd_step(x->params, x->grads, x->first, 0.01,
                   {.momentum = three ? 0.9 : 0.0,
                    .dampening = 0.25,
                    .weight_decay = 0.1,
                    .nesterov = one,
                    .maximize = two,
                    .first = one && two});
    }
    expect_alike(a.params, b.params);
    expect_alike(a.first, b.first);
  }
}

// A parameter that is there twice moves twice, one step behind the other.
TEST(Steps, OfSharedMemoryComeInOrder) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor p = tn::ones({4}, {}, d), g = tn::ones({4}, {}, d);
    tn::sgd_step({p, p}, {g, p}, {}, 0.5);
    expect_near(p, {0.25, 0.25, 0.25, 0.25});
    Tensor q = tn::ones({3}, {}, d), one = tn::ones({2}, {}, d);
    tn::sgd_step({q.slice(0, 0, 2), q.slice(0, 1, 3)}, {one, one}, {}, 1);
    expect_near(q, {0, -1, 0});
  }
}

// Each param has its own count, which goes up on its device; the corrections come from it.
TEST(AdamStep, CountsOfTheirOwn) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype dtype : {tn::float32, tn::float64}) {
      const double near = dtype == tn::float64 ? 1e-6 : 2e-6;  // counts are float32
      double expected[2] = {1.5, -0.5}, m[2] = {}, v[2] = {};
      std::vector<Tensor> p, em, ev, steps;
      for (int k = 0; k < 2; ++k) {
        p.push_back(tn::full({3}, expected[k], dtype, d));
        em.push_back(tn::zeros_like(p[k]));
        ev.push_back(tn::zeros_like(p[k]));
        steps.push_back(tn::full({}, 7.0 * k, tn::float32, d));
      }
      for (int step = 1; step <= 3; ++step) {
        const double g = 0.3 * step;
        const Tensor grad = tn::full({3}, g, dtype, d);
        tn::adam_step(p, {grad, grad}, em, ev, 0.01, 0, {.steps = steps});
        for (int k = 0; k < 2; ++k) {
          const int count = step + 7 * k;
          m[k] = 0.9 * m[k] + 0.1 * g;
          v[k] = 0.999 * v[k] + 0.001 * g * g;
          expected[k] -= 0.01 * (m[k] / (1 - std::pow(0.9, count))) /
                         (std::sqrt(v[k] / (1 - std::pow(0.999, count))) + 1e-8);
          expect_near(p[k], {expected[k], expected[k], expected[k]}, near);
          EXPECT_EQ(steps[k].item<float>(), count);
        }
      }
      tn::adam_step(p, {p[0], p[1]}, em, ev, 0.01, 0,
                    {.found_inf = tn::ones({1}, tn::float32, d), .steps = steps});
      EXPECT_EQ(steps[0].item<float>(), 3);
      expect_near(p[0], {expected[0], expected[0], expected[0]}, near);
    }
  }
}

TEST(UpdateScale, GrowsAndBacksOff) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor scale = tn::full({}, 8, tn::float32, d), good = tn::full({}, 1, tn::int64, d);
    const Tensor no = tn::zeros({1}, tn::float32, d), yes = tn::ones({1}, tn::float32, d);
    const auto expect = [&](const Tensor& found, double now, int64_t count) {
      tn::update_scale_(scale, good, found,
                        {.growth_factor = 4, .backoff_factor = 0.25, .growth_interval = 3});
      EXPECT_EQ(scale.item<double>(), now);
      EXPECT_EQ(good.item<int64_t>(), count);
    };
    expect(no, 8, 2);
    expect(no, 32, 0);
    expect(no, 32, 1);
    expect(yes, 8, 0);
    scale.fill_(0x1p127);
    good.fill_(2);
    expect(no, 0x1p127, 0);  // it would be infinite
  }
  const Tensor one = tn::ones({}), two = tn::ones({2});
  expect_error([&] { tn::update_scale_(one, one, one); },
               "update_scale_: good_steps is float32, expected int64");
  expect_error([&] { tn::update_scale_(two, tn::zeros({}, tn::int64), one); },
               "update_scale_: scale has 2 elements, expected 1");
  expect_error([&] { tn::update_scale_(one, tn::zeros({}, tn::int64), two); },
               "update_scale_: found_inf has 2 elements, expected 1");
}

TEST(Steps, AreSkippedWhereFoundInfIsSet) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor p = tn::ones({2, 2}, {}, d), m = tn::zeros_like(p), v = tn::zeros_like(p),
           b = tn::zeros_like(p);
    Tensor bad = tn::full({2, 2}, INFINITY, {}, d), found = tn::ones({1}, {}, d);
    tn::sgd_step({p}, {bad}, {b}, 0.1, {.momentum = 0.9, .found_inf = found});
    tn::adam_step({p}, {bad}, {m}, {v}, 0.1, 1, {.found_inf = found});
    expect_near(p, {1, 1, 1, 1});
    expect_near(b, {0, 0, 0, 0});
    expect_near(m, {0, 0, 0, 0});
    tn::sgd_step({p}, {tn::ones({2, 2}, {}, d)}, {}, 0.5, {.found_inf = tn::zeros({1}, {}, d)});
    expect_near(p, {0.5, 0.5, 0.5, 0.5});
  }
}

TEST(ClipGradNorm, ScalesToTheNorm) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const auto clipped = [&](double max_norm, double norm_type, double norm, double factor) {
      Tensor a = float64_tensor({3, -4, 0, 0}, {2, 2}, d), b = float64_tensor({12}, {}, d),
             none = tn::zeros({0}, tn::float64, d);
      expect_near(tn::clip_grad_norm_({a, none, b}, max_norm, norm_type), {norm}, 1e-12);
      expect_near(a, {3 * factor, -4 * factor, 0, 0}, 1e-12);
      expect_near(b, {12 * factor}, 1e-12);
    };
    clipped(6.5, 2, 13, 6.5 / (13 + 1e-6));
    clipped(14, 2, 13, 1);
    clipped(0, 2, 13, 0);
    clipped(1, 1, 19, 1 / (19 + 1e-6));
    clipped(3, INFINITY, 12, 3 / (12 + 1e-6));
    clipped(1, 3, std::cbrt(27.0 + 64 + 1728), 1 / (std::cbrt(27.0 + 64 + 1728) + 1e-6));
    // Halves add up in float32: the squares are beyond float16.
    Tensor half = tn::full({4}, 1000, tn::float16, d);
    expect_near(tn::clip_grad_norm_({half}, 2), {2000}, 1e-6);
    expect_near(half, {1, 1, 1, 1}, 1e-3);
    // As in PyTorch, what is not finite makes all NaN or zero, and the norm tells.
    Tensor bad = tn::tensor({1.f, NAN}, d);
    EXPECT_TRUE(std::isnan(tn::clip_grad_norm_({bad}, 1).item<double>()));
    expect_near(tn::clip_grad_norm_({}, 1), {0});
    expect_error([&] { tn::clip_grad_norm_({half}, -1); },
                 "clip_grad_norm_: max_norm is -1, expected 0 or more");
    expect_error([&] { tn::clip_grad_norm_({half}, 1, 0); },
                 "clip_grad_norm_: norm_type is 0, expected more than 0");
  }
}

TEST(ClipGradNorm, OfParameters) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor p = tn::tensor({1.f, 2.f}, d).requires_grad_(),
           q = tn::tensor({5.f}, d).requires_grad_(),
           unused = tn::zeros({3}, {}, d).requires_grad_();
    (tn::sum(p * tn::tensor({3.f, 0.f}, d)) + tn::sum(q * 4.f)).backward();
    expect_near(tn::optim::clip_grad_norm_({p, q, unused}, 1), {5});
    expect_near(p.grad(), {0.6, 0});
    expect_near(q.grad(), {0.8});
    EXPECT_FALSE(unused.grad().defined());
    expect_near(tn::nn::utils::get_total_norm({p.grad(), q.grad()}), {1}, 1e-6);
    expect_near(tn::nn::utils::get_total_norm({p.grad(), q.grad()}, INFINITY), {0.8});
    expect_near(tn::nn::utils::get_total_norm({}), {0});
    tn::nn::utils::clip_grads_with_norm_({p, q, unused}, 2, tn::tensor(4.f, d));
    expect_near(p.grad(), {0.3, 0}, 1e-6);
    tn::nn::utils::clip_grads_with_norm_({p, q}, 8, tn::tensor(4.f, d));
    expect_near(p.grad(), {0.3, 0}, 1e-6);
    q.set_grad(tn::tensor({INFINITY}, d));
    expect_error(
        [&] {
          tn::optim::clip_grad_norm_({p, q}, 1, 2, true);
        },
        "clip_grad_norm_: the norm of the gradients is inf, which is not finite");
    expect_near(p.grad(), {0.3, 0}, 1e-6);
  }
}

TEST(Unscale, FindsInfAndNan) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor a = tn::tensor({2.f, 4.f}, d), b = tn::tensor(8.f, d), found = tn::zeros({1}, {}, d);
    Tensor half = tn::full({1}, 0.5, {}, d);
    tn::unscale_({a, b}, found, half);
    expect_near(a, {1, 2});
    expect_near(b, {4});
    expect_near(found, {0});
    tn::unscale_({a, tn::tensor({1.f, NAN}, d)}, found, half);
    expect_near(found, {1});
    tn::unscale_({a}, found, half);
    expect_near(found, {1});  // it stays until it is cleared
  }
}

// Parameters, gradients and states in other layouts than theirs: the same numbers, written in
// place.
TEST(Steps, LayoutsChangeNothing) {
  for (tn::Device d : devices()) {
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{3, 4}, {1, 1}, {0, 3}, {5}, std::vector<int64_t>{}}) {
      for (const Layout& p_layout : layouts()) {
        for (const Layout& g_layout : layouts()) {
          SCOPED_TRACE(std::string(p_layout.name) + " and " + g_layout.name + " on " + d.name());
          const auto steps = [&](const Layout& a, const Layout& b) {
            Tensor p = a.of(sample(sizes, d)), q = a.of(sample(sizes, d, 1)),
                   g = b.of(sample(sizes, d, 2)), buffer = b.of(sample(sizes, d, 3)),
                   m = a.of(sample(sizes, d, 4)), v = b.of(tn::square(sample(sizes, d, 5)));
            tn::sgd_step(
                {p}, {g}, {buffer}, 0.1,
                {.momentum = 0.9, .dampening = 0.1, .weight_decay = 0.01, .nesterov = true});
            tn::adam_step({q}, {g}, {m}, {v}, 0.1, 2, {.beta2 = 0.99, .weight_decay = 0.1});
            Tensor found = tn::zeros({1}, {}, d), half = tn::full({1}, 0.5, {}, d);
            tn::unscale_({g}, found, half);
            return TensorList{p, q, g, buffer, m, v, found};
          };
          const Layout plain = layouts()[0];
          TensorList expected = steps(plain, plain), actual = steps(p_layout, g_layout);
          for (size_t i = 0; i < expected.size(); ++i) {
            SCOPED_TRACE(i);
            expect_near(actual[i], expected[i].to_vector<double>(), 1e-15);
          }
        }
      }
    }
  }
}

TEST(Steps, Errors) {
  Tensor p = tn::ones({2});
  expect_error([&] { tn::sgd_step({p}, {}, {}, 0.1); }, "0 grads for 1 params");
  expect_error([&] { tn::sgd_step({p}, {tn::ones({3})}, {}, 0.1); },
               "grad 0 is [3], its param [2]");
  expect_error([&] { tn::sgd_step({p}, {p}, {}, 0.1, {.momentum = 0.9}); },
               "0 momentum_buffers for 1 params");
  expect_error([&] { tn::adam_step({p}, {p}, {p}, {p}, 0.1, 0); }, "counts from 1");
  expect_error(
      [&] {
        tn::adam_step({p}, {p}, {p}, {p}, 0.1, 0, {.steps = {p, p}});
      },
      "adam_step: 2 steps for 1 params");
  const Tensor whole = tn::ones({2}, tn::int64);
  expect_error(
      [&] {
        tn::sgd_step({p, whole}, {p, p}, {}, 0.1);
      },
      "sgd_step: param 1 is int64, expected a floating dtype");
  expect_error([&] { tn::sgd_step({p}, {p}, {whole}, 0.1, {.momentum = 0.9}); },
               "sgd_step: momentum buffer 0 is int64, expected a floating dtype");
  expect_error([&] { tn::adam_step({whole}, {p}, {p}, {p}, 0.1, 1); },
               "adam_step: param 0 is int64, expected a floating dtype");
  expect_error([&] { tn::adam_step({p}, {p}, {p}, {whole}, 0.1, 1); },
               "adam_step: exp_avg_sq 0 is int64, expected a floating dtype");
  expect_error([&] { tn::clip_grad_norm_({whole}, 1); },
               "clip_grad_norm_: grad 0 is int64, expected a floating dtype");
  expect_error([&] { tn::unscale_({whole}, tn::zeros({1}), tn::ones({1})); },
               "unscale_: grad 0 is int64, expected a floating dtype");
  expect_near(p, {1, 1});
}

}  // namespace
