// Kernels of whole ops on the device `cuda` that take rows and columns (kernels/rows.cuh,
// columns.cuh): softmax, cross_entropy and normalizations of rows with their gradients, at sizes, layouts and
// alignments where the shape of their launches changes, against `cpu` in float64.
#include "against_cpu.h"

namespace {

struct CudaRows : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

// ---- Ops of x [rows, n], and of weights [n]

const std::vector<Named> kSoftmaxes = {
    {"softmax", [](const TensorList& in) { return tn::softmax(in[0]); }},
    {"log_softmax", [](const TensorList& in) { return tn::log_softmax(in[0]); }}};
Named layer_norm(int64_t n) {
  return {"layer_norm",
          [n](const TensorList& in) { return tn::layer_norm(in[0], {n}, in[1], in[2]); }};
}
const Named kRmsNorm = {"rms_norm",
                        [](const TensorList& in) { return tn::rms_norm(in[0], in[1]); }};

void check_rows(int64_t rows, int64_t n, const Case& c,
                const std::function<Tensor(const Tensor&)>& place) {
  SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(n) + " " + c.dtype.name());
  const Tensor x = sample({rows, n}) * 3, weight = sample({n}, {}, 1) + 2,
               bias = sample({n}, {}, 2);
  for (const Named& op : kSoftmaxes) {
    SCOPED_TRACE(op.name);
    expect_launch("softmax", [&] { op.run({place(x.to(c.dtype))}); });
    check(op, {x}, c, place, 1 / static_cast<double>(n));
  }
  // The variance of few values may be close to zero.
  if (n < 3) return;
  const Named norm = layer_norm(n);
  const TensorList inputs = {place(x.to(c.dtype)), place(weight.to(c.dtype)),
                             place(bias.to(c.dtype))};
  EXPECT_EQ(kernel_answer("layer_norm", [&] { norm.run(inputs); }), "taken");
  check(norm, {x, weight, bias}, c, place);
  EXPECT_EQ(kernel_answer("rms_norm", [&] { kRmsNorm.run(inputs); }), "taken");
  check(kRmsNorm, {x, weight}, c, place);
}

TEST_F(CudaRows, LengthsWhereTheLaunchChanges) {
  for (const int64_t n : {1,   2,   3,   4,   5,   15,  16,  17,   31,   32,   33,   63,   65,
                          127, 129, 255, 256, 257, 511, 513, 1023, 1024, 1025, 4095, 4096, 4097})
    check_rows(3, n, kFloat, on_cuda);
  check_rows(2, 50257, kFloat, on_cuda);
}

TEST_F(CudaRows, NumbersOfRowsWhereTheLaunchChanges) {
  for (const int64_t rows : {1, 2, 31, 32, 33, 255, 257, 1025})
    check_rows(rows, 20, kFloat, on_cuda);
  check_rows(5000, 3, kFloat, on_cuda);
}

TEST_F(CudaRows, EveryDtype) {
  for (const Case& c : kCases) {
    for (const int64_t n : {1, 33, 1024, 1025, 4097}) check_rows(2, n, c, on_cuda);
  }
}

TEST_F(CudaRows, AddressesThatNoPackMayHave) {
  for (const Case& c : kCases) {
    for (const int64_t n : {5, 64, 1025, 5000}) check_rows(3, n, c, unaligned);
  }
}

TEST_F(CudaRows, AlongEveryDimensionOfEveryLayout) {
  const Tensor x = sample({6, 10, 12, 9}) * 2;
  const std::vector<std::pair<const char*, std::function<Tensor(const Tensor&)>>> layouts = {
      {"whole", [](const Tensor& t) { return t; }},
      {"transposed", [](const Tensor& t) { return t.transpose(0, 3).transpose(1, 2); }},
      {"steps", [](const Tensor& t) { return t.slice(1, 0, 10, 3).slice(3, 1, 9, 2); }},
      {"repeated",
       [](const Tensor& t) {
         return t.narrow(2, 3, 1).expand({6, 10, 5, 9});
       }},
      {"narrowed", [](const Tensor& t) { return t.narrow(3, 1, 8).narrow(1, 2, 7); }}};
  for (const Case& c : {kCases[0], kCases[2]}) {
    for (const auto& [name, layout] : layouts) {
      for (int64_t dim = -4; dim < 4; dim += 3) {
        SCOPED_TRACE(std::string(name) + " " + std::to_string(dim) + " " + c.dtype.name());
        const auto place = [&](const Tensor& t) { return on_cuda(t); };
        const auto of = [&layout = layout, dim](const auto& f) {
          return [layout, dim, f](const TensorList& in) { return f(layout(in[0]), dim); };
        };
        check({"softmax", of([](const Tensor& t, int64_t d) { return tn::softmax(t, d); })}, {x}, c,
              place, 0.2);
        check({"log_softmax", of([](const Tensor& t, int64_t d) { return tn::log_softmax(t, d); })},
              {x}, c, place, 0.2);
      }
    }
  }
}

TEST_F(CudaRows, InfinitiesAndNotNumbers) {
  const double inf = INFINITY;
  for (const int64_t n : {5, 5000}) {
    SCOPED_TRACE(n);
    Tensor x = sample({6, n});
    double* const v = x.mutable_data<double>();
    for (int64_t i = 0; i < n; ++i) v[i] = -inf;  // all
    v[n + 2] = inf, v[2 * n + 3] = NAN;
    for (int64_t i = 0; i < n; ++i) v[3 * n + i] = i == 4 ? 1 : -inf;  // all but one
    v[4 * n] = v[4 * n + 1] = inf;
    v[5 * n + n - 1] = -inf;
    for (const Named& op : kSoftmaxes) {
      SCOPED_TRACE(op.name);
      expect_near_largest(op.run({on_cuda(x.to(tn::float32))}), op.run({x}), 2e-6);
    }
  }
}

TEST_F(CudaRows, WithoutElements) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{0, 5}, {5, 0}, {0, 0}}) {
    const Tensor x = tn::zeros(sizes, tn::float32, kCuda);
    expect_sizes(tn::softmax(x, 1), sizes);
    expect_sizes(tn::log_softmax(x, 0), sizes);
  }
  const Tensor number = tn::full({}, 3, tn::float32, kCuda);
  EXPECT_EQ(tn::softmax(number, 0).item<float>(), 1);
  Tensor weight = tn::ones({5}, tn::float32, kCuda).requires_grad_();
  tn::layer_norm(tn::zeros({0, 5}, tn::float32, kCuda), {5}, weight).sum().backward();
  EXPECT_EQ(doubles(weight.grad()), std::vector<double>(5, 0));
}

// ---- cross_entropy

struct LossOptions {
  int64_t ignore_index = -100;
  const char* reduction = "mean";
  double smoothing = 0;
  bool has_weight = false;
};

void check_loss(const std::vector<int64_t>& sizes, const LossOptions& o, const Case& c,
                tn::Dtype targets = tn::int64) {
  const int64_t dim = sizes.size() == 1 ? 0 : 1, classes = sizes[size_t(dim)];
  std::vector<int64_t> of_target = sizes;
  of_target.erase(of_target.begin() + dim);
  int64_t n = 1;
  for (const int64_t size : of_target) n *= size;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < n; ++i)
    places.push_back(i % 3 == 1 && o.ignore_index < 0 ? o.ignore_index : i * 7919 % classes);
  if (o.ignore_index == -100 && targets == tn::uint8)
    for (int64_t& place : places) place = std::max<int64_t>(place, 0);
  const Tensor target = Tensor::from(places, of_target).to(targets);
  const Tensor weight = (sample({classes}, {}, 4) + 2).to(c.dtype);
  const auto loss = [&](const TensorList& in) {
    const Tensor weights = o.has_weight ? weight.to(in[0].dtype()).to(in[0].device()) : Tensor();
    return tn::cross_entropy(
        in[0], in[1], weights,
        {.ignore_index = o.ignore_index, .reduction = o.reduction, .label_smoothing = o.smoothing});
  };
  const Tensor x = sample(sizes) * 4 + 100;
  EXPECT_EQ(kernel_answer("cross_entropy",
                          [&] {
                            loss({on_cuda(x.to(c.dtype)), on_cuda(target)});
                          }),
            "taken");
  check({"cross_entropy", loss}, {x, target}, c, on_cuda);
}

TEST_F(CudaRows, CrossEntropyOfEverySize) {
  for (const int64_t classes : {1, 2, 10, 33, 257, 1025, 4097, 50257})
    check_loss({3, classes}, {}, {tn::float32, 1e-5});
  for (const int64_t rows : {1, 31, 300, 70000}) check_loss({rows, 3}, {}, {tn::float32, 1e-5});
}

TEST_F(CudaRows, CrossEntropyWithEveryOption) {
  for (const Case& c : {Case{tn::float32, 1e-5},
                        {tn::float64, 1e-12},
                        {tn::float16, 2e-3},
                        {tn::bfloat16, 1.6e-2}}) {
    for (const char* reduction : {"mean", "sum", "none"}) {
      for (const double smoothing : {0.0, 0.3}) {
        for (const bool has_weight : {false, true}) {
          SCOPED_TRACE(std::string(reduction) + (has_weight ? " weights " : " ") +
                       std::to_string(smoothing) + " " + c.dtype.name());
          check_loss({7, 11},
                     {.reduction = reduction, .smoothing = smoothing, .has_weight = has_weight}, c);
          check_loss({2, 6, 5, 3},
                     {.ignore_index = 2,
                      .reduction = reduction,
                      .smoothing = smoothing,
                      .has_weight = has_weight},
                     c);
        }
      }
    }
  }
  check_loss({9}, {}, {tn::float32, 1e-5});
  check_loss({9, 5}, {}, {tn::float32, 1e-5}, tn::uint8);
  check_loss({5, 5000}, {.smoothing = 0.1, .has_weight = true}, {tn::float32, 1e-5});
}

TEST_F(CudaRows, CrossEntropyNamesATargetThatIsNoClass) {
  const Tensor x = tn::ones({2, 5}, tn::float32, kCuda);
  for (const int64_t wrong : {5, -1}) {
    const Tensor target = Tensor::from(std::vector<int64_t>{0, wrong}, {2}).to(tn::Device(kCuda));
    expect_error([&] { tn::cross_entropy(x, target).item<float>(); },
                 "cross_entropy: index " + std::to_string(wrong) +
                     " is out of range for dimension 1 of size 5 (cuda:0)");
  }
  EXPECT_EQ(x.sum().item<float>(), 10);
}

// ---- Which kernels, and how many

TEST_F(CudaRows, LaunchesFewKernelsWithTheSameBitsEachTime) {
  const Tensor x = on_cuda(sample({64, 300}).to(tn::float32)),
               weight = tn::ones({300}, tn::float32, kCuda);
  const Tensor target = on_cuda(tn::arange(64));
  const auto launches_of = [&](const std::function<Tensor(const Tensor&)>& op) {
    Tensor leaf = x.detach().requires_grad_(), y = op(leaf), again = op(leaf);
    EXPECT_EQ(doubles(y), doubles(again));
    const Tensor g = tn::ones_like(y).detach();
    Tensor first;
    const auto forward = fake_launches([&] { y = op(leaf); });
    const auto backward = fake_launches([&] {
      first = tn::grad(TensorList{y}, TensorList{leaf}, {.grad_outputs = TensorList{g}})[0];
    });
    EXPECT_EQ(doubles(first), doubles(tn::grad(TensorList{again}, TensorList{leaf},
                                               {.grad_outputs = TensorList{g}})[0]));
    std::vector<std::string> all;
    if (forward) all = *forward;
    if (backward) all.insert(all.end(), backward->begin(), backward->end());
    return all;
  };
  using Names = std::vector<std::string>;
  if (!fake_launches([] {})) GTEST_SKIP() << "not the driver of the tests";
  EXPECT_EQ(launches_of([](const Tensor& t) { return tn::softmax(t); }),
            (Names{"softmax", "softmax_backward"}));
  EXPECT_EQ(launches_of([&](const Tensor& t) { return tn::layer_norm(t, {300}, weight); }),
            (Names{"normalize", "normalize_backward"}));
  EXPECT_EQ(launches_of([&](const Tensor& t) { return tn::cross_entropy(t, target); }),
            (Names{"cross_entropy", "add_up_losses", "cross_entropy_backward"}));
}

TEST_F(CudaRows, LeavesWhatItDoesNotTakeToTheMeaning) {
  const Tensor x = on_cuda(sample({4, 6}).to(tn::float32));
  const Tensor weight = on_cuda(sample({6})), half = on_cuda(sample({6}).to(tn::float16));
  EXPECT_EQ(kernel_answer("layer_norm", [&] { tn::layer_norm(x, {6}, weight); }),
            "takes weights of x's dtype, or of float32 where x is of halves");
  EXPECT_EQ(kernel_answer("rms_norm", [&] { tn::rms_norm(x, half); }),
            "takes weights of x's dtype");
  EXPECT_EQ(kernel_answer("layer_norm",
                          [&] {
                            tn::layer_norm(tn::zeros({3, 0}, tn::float32, kCuda), {0});
                          }),
            "takes no empty rows");
  EXPECT_EQ(kernel_answer("cross_entropy", [&] { tn::cross_entropy(x, tn::softmax(x)); }),
            "takes targets that are classes, of int64 or uint8");
  Tensor classes = on_cuda(sample({6}).to(tn::float32)).requires_grad_();
  const Tensor target = on_cuda(tn::arange(4));
  EXPECT_EQ(kernel_answer("cross_entropy", [&] { tn::cross_entropy(x, target, classes); }),
            "takes weights that need no gradient");
}

}  // namespace
