// Tensors as text: what PyTorch 2.15 prints, with names of Tenon (dtype=float64 for
// dtype=torch.float64).
#include <sstream>

#include "ops_support.h"

namespace {

TEST(Print, AsPyTorch) {
  load_all();
  struct Row {
    Tensor tensor;
    const char* text;
  };
  // clang-format off
  const Row rows[] = {
      {tn::tensor({1.f, 2.5f, -3.f}), "tensor([ 1.0000,  2.5000, -3.0000])"},
      {tn::tensor({1.f, -2.f, 0.f}), "tensor([ 1., -2.,  0.])"},
      {tn::zeros({2}), "tensor([0., 0.])"},
      {tn::tensor({-0.f}), "tensor([-0.])"},
      {tn::tensor({0.1f, 1000.f}), "tensor([1.0000e-01, 1.0000e+03])"},
      {tn::tensor({1e-5f, 1.f}), "tensor([1.0000e-05, 1.0000e+00])"},
      {tn::tensor({1.f, 2000.f}), "tensor([1.0000e+00, 2.0000e+03])"},
      {tn::tensor({1e9f}), "tensor([1.0000e+09])"},
      {tn::tensor({1e8f, 3e7f}), "tensor([100000000.,  30000000.])"},
      {tn::tensor({0.5f, NAN, INFINITY, -INFINITY}), "tensor([0.5000,    nan,    inf,   -inf])"},
      {tn::tensor({1.f, NAN, -INFINITY}), "tensor([1., nan, -inf])"},
      {tn::tensor({NAN, INFINITY}), "tensor([nan, inf])"},
      {tn::tensor({1e-9f, NAN}), "tensor([1.0000e-09,        nan])"},
      {tn::tensor(2.0, tn::float64), "tensor(2., dtype=float64)"},
      {tn::tensor(-1.5f), "tensor(-1.5000)"},
      {tn::tensor({{1.f, -20.25f}, {300.f, 4.f}}),
       "tensor([[  1.0000, -20.2500],\n        [300.0000,   4.0000]])"},
      {tn::tensor({int64_t(1), int64_t(-200), int64_t(30)}), "tensor([   1, -200,   30])"},
      {tn::tensor({7, -1}, tn::int32), "tensor([ 7, -1], dtype=int32)"},
      {tn::tensor({uint8_t{200}}), "tensor([200], dtype=uint8)"},
      {tn::tensor({int8_t{1}, int8_t{-2}}), "tensor([ 1, -2], dtype=int8)"},
      {tn::tensor(int16_t{-300}), "tensor(-300, dtype=int16)"},
      {tn::tensor({true, false}), "tensor([ True, False])"},
      {tn::tensor(true), "tensor(True)"},
      {tn::zeros({0}), "tensor([])"},
      {tn::zeros({0, 2}), "tensor([], size=(0, 2))"},
      {tn::zeros({2, 0}, tn::int64), "tensor([], size=(2, 0), dtype=int64)"},
      {tn::zeros({0}, tn::bool_), "tensor([], dtype=bool)"},
      {tn::arange(12).reshape({2, 1, 2, 3}),
       "tensor([[[[ 0,  1,  2],\n          [ 3,  4,  5]]],\n\n\n        [[[ 6,  7,  8],\n          [ 9, 10, 11]]]])"},
      {tn::arange(2000), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"},
      {tn::arange(3000).reshape({3, 1000}).to(tn::float32),
       "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.9700e+02, 9.9800e+02,\n         9.9900e+02],\n        [1.0000e+03, 1.0010e+03, 1.0020e+03,  ..., 1.9970e+03, 1.9980e+03,\n         1.9990e+03],\n        [2.0000e+03, 2.0010e+03, 2.0020e+03,  ..., 2.9970e+03, 2.9980e+03,\n         2.9990e+03]])"},
      {tn::arange(2000).reshape({200, 10}) / 8,
       "tensor([[0.0000e+00, 1.2500e-01, 2.5000e-01,  ..., 8.7500e-01, 1.0000e+00,\n         1.1250e+00],\n        [1.2500e+00, 1.3750e+00, 1.5000e+00,  ..., 2.1250e+00, 2.2500e+00,\n         2.3750e+00],\n        [2.5000e+00, 2.6250e+00, 2.7500e+00,  ..., 3.3750e+00, 3.5000e+00,\n         3.6250e+00],\n        ...,\n        [2.4625e+02, 2.4638e+02, 2.4650e+02,  ..., 2.4712e+02, 2.4725e+02,\n         2.4738e+02],\n        [2.4750e+02, 2.4762e+02, 2.4775e+02,  ..., 2.4838e+02, 2.4850e+02,\n         2.4862e+02],\n        [2.4875e+02, 2.4888e+02, 2.4900e+02,  ..., 2.4962e+02, 2.4975e+02,\n         2.4988e+02]])"},
      {tn::arange(30),
       "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"},
      {tn::arange(25) / 2,
       "tensor([ 0.0000,  0.5000,  1.0000,  1.5000,  2.0000,  2.5000,  3.0000,  3.5000,\n         4.0000,  4.5000,  5.0000,  5.5000,  6.0000,  6.5000,  7.0000,  7.5000,\n         8.0000,  8.5000,  9.0000,  9.5000, 10.0000, 10.5000, 11.0000, 11.5000,\n        12.0000])"},
      {(tn::arange(40) / 2).reshape({2, 20}),
       "tensor([[ 0.0000,  0.5000,  1.0000,  1.5000,  2.0000,  2.5000,  3.0000,  3.5000,\n          4.0000,  4.5000,  5.0000,  5.5000,  6.0000,  6.5000,  7.0000,  7.5000,\n          8.0000,  8.5000,  9.0000,  9.5000],\n        [10.0000, 10.5000, 11.0000, 11.5000, 12.0000, 12.5000, 13.0000, 13.5000,\n         14.0000, 14.5000, 15.0000, 15.5000, 16.0000, 16.5000, 17.0000, 17.5000,\n         18.0000, 18.5000, 19.0000, 19.5000]])"},
      {tn::tensor({0.1f, 65504.f}).to(tn::float16),
       "tensor([9.9976e-02, 6.5504e+04], dtype=float16)"},
      {tn::tensor({1.f, 3.f}).to(tn::bfloat16), "tensor([1., 3.], dtype=bfloat16)"},
      {tn::tensor({1e-300, 1.0}, tn::float64), "tensor([1.0000e-300,  1.0000e+00], dtype=float64)"},
      {tn::ones({1}).requires_grad_(), "tensor([1.], requires_grad=True)"},
      {tn::ones({1}, tn::float64).requires_grad_(),
       "tensor([1.], dtype=float64, requires_grad=True)"},
      {(tn::arange(12) / 4).to(tn::float64).requires_grad_(),
       "tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000, 1.2500, 1.5000, 1.7500, 2.0000,\n        2.2500, 2.5000, 2.7500], dtype=float64, requires_grad=True)"},
      {tn::zeros({2, 3}, {}, tn::meta), "tensor(..., device='meta', size=(2, 3))"},
      {tn::zeros({2}, tn::int64, tn::meta), "tensor(..., device='meta', size=(2,), dtype=int64)"},
  };
  // clang-format on
  for (const Row& row : rows) EXPECT_EQ(row.tensor.to_string(), row.text);
}

TEST(Print, NamesDevicesAndTheGraph) {
  for (tn::Device d : devices()) {
    if (d.is_cpu()) continue;
    EXPECT_EQ(tn::arange(0, 3, 1, {}, d).to_string(),
              "tensor([0, 1, 2], device='" + d.name() + "')");
    EXPECT_EQ(tn::ones({1}, tn::float64, d).to_string(),
              "tensor([1.], device='" + d.name() + "', dtype=float64)");
  }
  Tensor x = tn::ones({2}).requires_grad_();
  EXPECT_EQ((x * 2).to_string(), "tensor([2., 2.], grad_fn=<" + tn::grad_fn(x * 2).name() + ">)");
  EXPECT_EQ(tn::grad_fn(x * 2).name(), op_name("mul"));
  EXPECT_EQ(Tensor().to_string(), "tensor(None)");
  std::ostringstream out;
  out << tn::tensor({1.f}) << ' ' << tn::nn::ReLU();
  out << ' ' << tn::int64 << ' ' << tn::Device("cpu") << ' ' << tn::zeros({2, 3}).sizes();
  EXPECT_EQ(out.str(), "tensor([1.]) ReLU() int64 cpu [2, 3]");
}

// What PyTorch 2.15 prints with these options.
TEST(Print, WithOptions) {
  load_all();
  const Tensor x = tn::tensor({1.f / 3, 2.5f, -3e-3f}), ten = tn::arange(0, 10),
               sevenths = tn::arange(0, 12, 1, tn::float32) / 7;
  struct Row {
    tn::PrintOptions options;
    Tensor tensor;
    const char* text;
  };
  const Row rows[] = {
      {{.precision = 8}, x, "tensor([ 0.33333334,  2.50000000, -0.00300000])"},
      {{.precision = 2}, x, "tensor([ 0.33,  2.50, -0.00])"},
      {{.precision = 0}, x, "tensor([ 0,  2, -0])"},
      {{.sci_mode = true}, x, "tensor([ 3.3333e-01,  2.5000e+00, -3.0000e-03])"},
      {{.sci_mode = false}, tn::tensor({0.1f, 1000.f}), "tensor([   0.1000, 1000.0000])"},
      {{.sci_mode = false}, tn::tensor({1.f, 2000.f}), "tensor([   1., 2000.])"},
      {{.sci_mode = true}, tn::tensor({1.f, 20.f}), "tensor([1.0000e+00, 2.0000e+01])"},
      {{.sci_mode = true}, tn::tensor({0.f, INFINITY}), "tensor([0., inf])"},
      {{.threshold = 5}, ten, "tensor([0, 1, 2,  ..., 7, 8, 9])"},
      {{.threshold = 5, .edgeitems = 1}, ten, "tensor([0,  ..., 9])"},
      {{.threshold = 4, .edgeitems = 1},
       sevenths.view({3, 4}),
       "tensor([[0.0000,  ..., 0.4286],\n        ...,\n        [1.1429,  ..., 1.5714]])"},
      {{.linewidth = 40},
       sevenths,
       "tensor([0.0000, 0.1429, 0.2857, 0.4286,\n        0.5714, 0.7143, 0.8571, 1.0000,\n"
       "        1.1429, 1.2857, 1.4286, 1.5714])"},
      {{.linewidth = 40},
       tn::arange(0, 3, 1, tn::float64) / 7,
       "tensor([0.0000, 0.1429, 0.2857],\n       dtype=float64)"},
  };
  const tn::PrintOptions first = {
      .precision = 4, .threshold = 1000, .edgeitems = 3, .linewidth = 80};
  for (const Row& row : rows) {
    tn::set_printoptions(row.options);
    EXPECT_EQ(row.tensor.to_string(), row.text);
    tn::set_printoptions(first);
  }
  // What is absent stays.
  tn::set_printoptions({.precision = 1});
  tn::set_printoptions({.linewidth = 30});
  EXPECT_EQ(x.to_string(), "tensor([ 0.3,  2.5, -0.0])");
  tn::set_printoptions({.precision = 64, .sci_mode = false});
  EXPECT_EQ(tn::tensor({-1e308}, tn::float64).to_string().substr(0, 40),
            "tensor([-1000000000000000010979063629440");  // 309 digits
  tn::set_printoptions(first);
  expect_error([] { tn::set_printoptions({.precision = 65}); },
               "set_printoptions: precision is 65, expected 0 to 64");
  expect_error([] { tn::set_printoptions({.precision = 2, .edgeitems = 0}); },
               "set_printoptions: edgeitems is 0, expected 1 to ");
  EXPECT_EQ(x.to_string(), "tensor([ 0.3333,  2.5000, -0.0030])");  // an error changes nothing
}

}  // namespace
