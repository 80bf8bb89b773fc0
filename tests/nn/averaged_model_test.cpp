// Weights on average against torch.optim.swa_utils (PyTorch 2.15, float64): SWA, EMA and a function
// of one's own, with and without buffers; update_bn and SWALR.
#include <filesystem>

#include <tenon/averaged_model.hpp>
#include <tenon/checkpoint.hpp>

#include "compile_support.h"
#include "ops_support.h"

namespace {

namespace nn = tn::nn;
namespace optim = tn::optim;
using tn::Object;

// A small net of fixed weights, and the data that it learns.
struct Net {
  Object model = nn::Sequential(nn::Linear(2, 2), nn::BatchNorm1d(2), nn::Linear(2, 1));
  optim::Optimizer optimizer;
  Tensor x, y;

  explicit Net(tn::Device device = tn::cpu, tn::Dtype dtype = tn::float64) {
    const tn::NoGrad guard;
    double first = -0.3;
    model.to(device, dtype);
    for (const Tensor& p : model.parameters()) {
      std::vector<double> values;
      for (int64_t i = 0; i < p.numel(); ++i) values.push_back(double(i) * 0.25 + first);
      p.copy_(Tensor::from(values).view(p.sizes()));
      first += 0.1;
    }
    optimizer = optim::SGD(model.parameters(), {.lr = 0.1});
    x = Tensor::from<double>({0.5, -1, 1.5, 2, -0.5, 0.25, 1, -2}, {4, 2}).to(device, dtype);
    y = Tensor::from<double>({1, -1, 0.5, 2}, {4, 1}).to(device, dtype);
  }
  Tensor step() const {
    optimizer.zero_grad();
    const Tensor loss = (model(x) - y).square().mean();
    loss.backward();
    optimizer.step();
    return loss.detach() * 1;
  }
};

Tensor entry(const Object& object, const std::string& name) {
  for (const auto& [key, tensor] : object.state_dict()) {
    if (key == name) return tensor;
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

// Weights of the first layer, and the one weight and bias of the last, after four steps.
struct Weights {
  std::vector<double> first, scale, last, last_bias;
};
void expect_weights(const Object& average, const Weights& expected) {
  expect_near(entry(average, "module.0.weight"), expected.first, 1e-9);
  expect_near(entry(average, "module.0.bias"), {-0.2, 0.05}, 1e-9);
  expect_near(entry(average, "module.1.weight"), expected.scale, 1e-9);
  expect_near(entry(average, "module.2.weight"), expected.last, 1e-9);
  expect_near(entry(average, "module.2.bias"), expected.last_bias, 1e-9);
}
const Weights kSwa = {{-0.302986015273, -0.0287517142342, 0.201713070876, 0.449237166427},
                      {-0.0753426783546, -0.0366293857789},
                      {0.0759981032084, 0.344720798495},
                      {0.335874986211}};
const Weights kEma = {{-0.302167217909, -0.035737019618, 0.201509586333, 0.449328254267},
                      {-0.0831181839538, 0.0309854185809},
                      {0.0833648894362, 0.337698991099},
                      {0.292895289424}};
const Weights kHalf = {{-0.303421787758, -0.0245276915134, 0.201617447214, 0.449280355339},
                       {-0.0707633811033, -0.0813956791782},
                       {0.0717234947034, 0.353838004318},
                       {0.360697215564}};
Tensor half_of_each(Tensor averaged, Tensor current, Tensor) {
  return averaged * 0.5 + current * 0.5;
}

optim::AveragedModel averaged(const Net& net, const optim::AverageFn& fn, bool use_buffers) {
  optim::AveragedModel average(net.model, {.avg_fn = fn, .use_buffers = use_buffers});
  for (int i = 0; i < 4; ++i) {
    net.step();
    average.update_parameters(net.model);
  }
  EXPECT_EQ(average.n_averaged(), 4);
  return average;
}

TEST(AveragedModel, HasTheValuesOfPyTorch) {
  for (const tn::Device device : devices()) {
    expect_weights(averaged(Net(device), {}, false), kSwa);
    expect_weights(averaged(Net(device), optim::get_swa_avg_fn(), true), kSwa);
    expect_weights(averaged(Net(device), optim::get_ema_avg_fn(0.9), false), kEma);
    expect_weights(averaged(Net(device), half_of_each, false), kHalf);
  }
}

TEST(AveragedModel, CopiesBuffersOrAveragesThem) {
  load_all();
  const auto expect_buffers = [](const optim::AverageFn& fn, bool use,
                                 const std::vector<double>& mean, const std::vector<double>& var,
                                 double batches) {
    const auto average = averaged(Net(), fn, use);
    expect_near(entry(average, "module.1.running_mean"), mean, 1e-9);
    expect_near(entry(average, "module.1.running_var"), var, 1e-9);
    expect_near(entry(average, "module.1.num_batches_tracked"), {batches});
  };
  expect_buffers({}, false, {-0.131436616256, 0.0315224570152}, {0.682435069055, 0.890295729161},
                 4);
  expect_buffers({}, true, {-0.0861610926041, 0.020674478822}, {0.791458589521, 0.927894823792}, 1);
  expect_buffers(optim::get_ema_avg_fn(0.9), true, {-0.0558452967335, 0.0133931098129},
                 {0.864631038181, 0.953170685589}, 1);
  expect_buffers(half_of_each, true, {-0.105276319355, 0.0252574940041},
                 {0.745408523638, 0.912007790562}, 3);
}

// A model whose values are 1, 2 and 4 in turn.
optim::AveragedModel average_of_three(optim::AveragedModelOptions options) {
  const Object model = nn::Sequential(nn::Linear(2, 1), nn::BatchNorm1d(1));
  model.to(tn::float64);
  const optim::AveragedModel average(model, std::move(options));
  for (const int64_t value : {1, 2, 4}) {
    const tn::NoGrad guard;
    for (const Tensor& parameter : model.parameters()) parameter.fill_(value);
    for (const auto& [name, buffer] : model.named_buffers()) buffer.fill_(value);
    average.update_parameters(model);
  }
  return average;
}

TEST(AveragedModel, AFunctionOfManyHasTheValuesOfPyTorch) {
  load_all();
  const auto expect_values = [](const optim::AveragedModel& average, double parameters, double mean,
                                double batches) {
    expect_near(entry(average, "module.0.weight"), {parameters, parameters}, 1e-7);
    expect_near(entry(average, "module.1.bias"), {parameters}, 1e-7);
    expect_near(entry(average, "module.1.running_mean"), {mean});
    expect_near(entry(average, "module.1.num_batches_tracked"), {batches});
  };
  namespace swa_utils = optim::swa_utils;
  expect_values(average_of_three({.multi_avg_fn = swa_utils::get_ema_multi_avg_fn(0.75)}), 1.9375,
                4, 4);
  expect_values(average_of_three({.multi_avg_fn = swa_utils::get_swa_multi_avg_fn()}), 7.0 / 3, 4,
                4);
  std::vector<size_t> sizes;
  const auto mine = [&](std::vector<Tensor> averaged, std::vector<Tensor> current, Tensor n) {
    sizes.push_back(averaged.size());
    for (size_t i = 0; i < averaged.size(); ++i)
      averaged[i].copy_(averaged[i] / 2 + current[i] / 2 + n);
  };
  expect_values(average_of_three({.multi_avg_fn = mine}), 5.25, 4, 4);
  EXPECT_EQ(sizes, std::vector<size_t>(3, 4));
  sizes.clear();
  expect_values(average_of_three({.multi_avg_fn = mine, .use_buffers = true}), 5.25, 5.25, 5);
  EXPECT_EQ(sizes, (std::vector<size_t>{6, 1, 6, 1, 6, 1}));  // those of float64, and of int64
  expect_error([&] { average_of_three({.avg_fn = half_of_each, .multi_avg_fn = mine}); },
               "AveragedModel: avg_fn and multi_avg_fn are both given, expected one of them");
}

TEST(AveragedModel, IsAModel) {
  load_all();
  const Net net;
  const optim::AveragedModel average(net.model);
  net.step();
  net.model.eval();
  average.eval();
  EXPECT_FALSE(average.module().training());
  average.update_parameters(net.model);
  expect_same_bits(average(net.x), net.model(net.x));
  EXPECT_NE(average.module(), net.model);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : average.state_dict()) names.push_back(name);
  EXPECT_EQ(names.front(), "n_averaged");
  EXPECT_EQ(names[1], "module.0.weight");
  EXPECT_FALSE(average.to_string().empty());
}

// Halves and float32 alike, and an average that lies elsewhere.
TEST(AveragedModel, KeepsTheDtypeAndMayLieElsewhere) {
  for (const tn::Device device : devices()) {
    for (const tn::Dtype dtype : {tn::float32, tn::bfloat16}) {
      const Object model = nn::Linear(2, 1);
      model.to(device, dtype);
      const optim::AveragedModel average(
          model, {.device = tn::cpu, .avg_fn = optim::get_ema_avg_fn(0.75)});
      for (const double value : {1., 2.}) {
        const tn::NoGrad guard;
        model.tensor("weight").fill_(value);
        average.update_parameters(model);
      }
      const Tensor weight = entry(average, "module.weight");
      EXPECT_EQ(weight.dtype(), dtype);
      EXPECT_EQ(weight.device(), tn::cpu);
      expect_near(weight, {1.25, 1.25});
      EXPECT_TRUE(average.module().tensor("weight").requires_grad());
    }
  }
}

// A step with the average in it: the first update copies, and later ones do not, though a recording
// is made only once.
TEST(AveragedModel, IsPartOfACompiledStep) {
  for (const tn::Device device : devices()) {
    for (const optim::AverageFn& fn :
         {optim::get_swa_avg_fn(), optim::get_ema_avg_fn(0.9), optim::AverageFn(half_of_each)}) {
      const Net eager(device, tn::float32), compiled(device, tn::float32);
      const optim::AveragedModel a(eager.model, {.avg_fn = fn}), b(compiled.model, {.avg_fn = fn});
      const auto step = tn::compile([&] {
        const Tensor loss = compiled.step();
        b.update_parameters(compiled.model);
        return loss;
      });
      for (int i = 0; i < 6; ++i) {
        const Tensor loss = eager.step();
        a.update_parameters(eager.model);
        expect_same_bits(loss, step());
      }
      const auto x = a.state_dict(), y = b.state_dict();
      for (size_t i = 0; i < x.size(); ++i) expect_same_bits(x[i].second, y[i].second);
      EXPECT_EQ(b.n_averaged(), 6);
      expect_described(step, "launches:");
    }
  }
}

TEST(AveragedModel, GoesOnFromACheckpoint) {
  load_all();
  const std::string path =
      testing::TempDir() + "/averaged_model_test." + std::to_string(::getpid()) + ".safetensors";
  const auto average_of = [](const Net& net) {
    return optim::AveragedModel(net.model, {.avg_fn = optim::get_ema_avg_fn(0.9)});
  };
  const auto steps = [](const Net& net, const optim::AveragedModel& average) {
    for (int i = 0; i < 2; ++i) {
      net.step();
      average.update_parameters(net.model);
    }
  };
  const Net first, second;
  const auto a = average_of(first), b = average_of(second);
  steps(first, a);
  tn::Checkpoint{.model = first.model, .optimizer = first.optimizer, .more = {{"ema", a}}}.save(
      path, 2);
  EXPECT_EQ(
      (tn::Checkpoint{.model = second.model, .optimizer = second.optimizer, .more = {{"ema", b}}}
           .load(path)),
      2);
  steps(second, b);
  expect_weights(b, kEma);
  std::filesystem::remove(path);
}

TEST(AveragedModel, RefusesOtherModelsAndDecays) {
  load_all();
  const Object model = nn::Sequential(nn::Linear(2, 3));
  const optim::AveragedModel average(model);
  expect_error(
      [&] { average.update_parameters(nn::Sequential(nn::Linear(2, 4))); },
      "AveragedModel: parameter 0 of the model is '0.weight' of [4, 2], and of the average "
      "'0.weight' of [3, 2]; expected the model that it was made of");
  expect_error(
      [&] { average.update_parameters(nn::Sequential(nn::Linear(2, 3), nn::BatchNorm1d(3))); },
      "AveragedModel: parameter 2 of the model is '1.weight' of [3], and of the average no more");
  EXPECT_EQ(average.n_averaged(), 0);
  for (const double decay : {-0.1, 1.5, double(NAN)}) {
    expect_error([&] { optim::get_ema_avg_fn(decay); }, "expected a number from 0 to 1");
  }
  expect_error([] { optim::get_ema_avg_fn(1.5); }, "get_ema_avg_fn: decay is 1.5");
}

// The means over the batches: of tensors, and of the first fields of pairs.
TEST(UpdateBn, HasTheValuesOfPyTorch) {
  for (const tn::Device device : devices()) {
    const Net net(device);
    const auto average = averaged(net, {}, false);
    average.module().child("0").eval();
    const std::vector<Tensor> batches = {net.x, net.x * 2 + 1, net.x.narrow(0, 0, 3)};
    optim::update_bn(batches, average);
    const auto expect_values = [&] {
      expect_near(entry(average, "module.1.running_mean"), {-0.549045519151, 0.404835009065}, 1e-9);
      expect_near(entry(average, "module.1.running_var"), {0.160135014006, 1.353896387212}, 1e-9);
      expect_near(entry(average, "module.1.num_batches_tracked"), {3});
      EXPECT_TRUE(average.training());
      EXPECT_FALSE(average.module().child("0").training());
    };
    expect_values();
    std::vector<std::pair<Tensor, Tensor>> pairs;
    for (const Tensor& x : batches) pairs.emplace_back(x.to(tn::cpu), x);
    optim::update_bn(pairs, average, device);
    expect_values();
    average.eval();
    expect_near(average(net.x), {0.443413292739, 0.432168574758, 0.435687472245, 0.448950074028},
                1e-9);
    // The hooks are gone: a batch is followed by momentum again.
    average.train();
    average(net.x);
    expect_near(entry(average, "module.1.num_batches_tracked"), {4});
    EXPECT_GT(std::fabs(entry(average, "module.1.running_mean").to_vector<double>()[0] + 0.549),
              1e-3);
  }
}

TEST(UpdateBn, GoesOverNoBatchesWithoutLayersThatFollowThem) {
  load_all();
  const Object model =
      nn::Sequential(nn::Linear(2, 2), nn::BatchNorm1d(2, {.track_running_stats = false}));
  model.eval();
  optim::update_bn(std::vector<Tensor>{tn::ones({3, 7})}, model);  // a size that it would refuse
  EXPECT_FALSE(model.training());
  // What a batch throws leaves modes and hooks as they were.
  const Object other = nn::Sequential(nn::Linear(2, 2), nn::BatchNorm1d(2));
  other.eval();
  expect_error([&] { optim::update_bn(std::vector<Tensor>{tn::ones({3, 7})}, other); }, "linear");
  EXPECT_FALSE(other.training());
}

TEST(SWALR, HasTheRatesOfPyTorch) {
  load_all();
  const auto expect_rates = [](const optim::Schedule& schedule, const std::vector<double>& rates) {
    for (size_t i = 0; i < rates.size(); ++i)
      EXPECT_NEAR(schedule.at(int64_t(i), 0.1), rates[i], 1e-12) << i;
  };
  expect_rates(optim::SWALR(0.05, {.anneal_epochs = 4}),
               {0.1, 0.09267766952966369, 0.075, 0.057322330470336316, 0.05, 0.05, 0.05});
  expect_rates(optim::SWALR(0.05, {.anneal_epochs = 4, .anneal_strategy = "linear"}),
               {0.1, 0.0875, 0.075, 0.0625, 0.05, 0.05, 0.05});
  expect_rates(optim::SWALR(0.05, {.anneal_epochs = 0}), {0.05, 0.05});
  expect_error([] { optim::SWALR(-1); }, "SWALR: swa_lr is -1, expected a finite number");
  expect_error([] { optim::SWALR(0.1, {.anneal_epochs = -1}); },
               "SWALR: anneal_epochs is -1, expected at least 0");
  expect_error([] { optim::SWALR(0.1, {.anneal_strategy = "cosine"}); },
               "SWALR: anneal_strategy is 'cosine', expected 'cos' or 'linear'");
}

}  // namespace
