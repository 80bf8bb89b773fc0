// Tensors of layers that are computed from others: weight_norm and spectral_norm against
// torch.nn.utils.parametrizations (PyTorch 2.15, float64), and functions of one's own.
#include <tenon/averaged_model.hpp>
#include <tenon/parametrizations.hpp>

#include "compile_support.h"
#include "ops_support.h"

namespace {

namespace nn = tn::nn;
namespace utils = tn::nn::utils;
using tn::float64;
using tn::Object;

// sin(1.3 i + a) - 0.07, as the script that made the numbers has them.
void fill(const Tensor& t, double a = 0.3) {
  std::vector<double> values;
  for (int64_t i = 0; i < t.numel(); ++i) values.push_back(std::sin(double(i) * 1.3 + a) - 0.07);
  const tn::NoGrad guard;
  t.copy_(Tensor::from(values).view(t.sizes()));
}
Object filled(const Object& layer, tn::Device device = tn::cpu) {
  layer.to(device, float64);
  fill(layer.tensor("weight"));
  if (Tensor bias = layer.tensor("bias"); bias.defined() && layer.type_name() == "Linear")
    fill(bias, 0.1);
  return layer;
}
Tensor rows(tn::Device device = tn::cpu) {
  return Tensor::from<double>({0.5, -1, 2, 1.5, 0.25, -0.75}, {2, 3}).to(device);
}
Tensor signal(tn::Device device = tn::cpu) {
  std::vector<double> values;
  for (int i = 0; i < 8; ++i) values.push_back(std::sin(i * 0.9));
  return Tensor::from(values, {1, 2, 4}).to(device);
}
Tensor original(const Object& layer, const char* name = "original") {
  return layer.get_parameter(std::string("parametrizations.weight.") + name);
}
// Backward of sum(y * cos(0.7 i)).
void weigh_backward(const Object& layer, const Tensor& y) {
  std::vector<double> weights;
  for (int64_t i = 0; i < y.numel(); ++i) weights.push_back(std::cos(double(i) * 0.7));
  layer.zero_grad();
  (y * Tensor::from(weights).view(y.sizes()).to(y.device())).sum().backward();
}
// All g times 1.5, so that the norms are none of v's.
void scale_norms(const Object& layer) {
  const tn::NoGrad guard;
  original(layer, "original0").mul_(1.5);
}
std::vector<std::string> names_of(const Object& layer) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : layer.state_dict()) names.push_back(name);
  return names;
}

const std::vector<double> kRowsTwice = {-0.687638845277, 2.64491844245, 0.69543848741,
                                        -1.97105090006};

TEST(WeightNorm, HasTheValuesOfPyTorch) {
  for (const tn::Device device : devices()) {
    const Object linear = filled(nn::Linear(3, 2), device);
    EXPECT_EQ(utils::weight_norm(linear), linear);
    expect_sizes(original(linear, "original0"), {2, 1});
    expect_near(original(linear, "original0"), {0.971396820318, 1.29147197662}, 1e-9);
    scale_norms(linear);
    const Tensor y = linear(rows(device));
    expect_near(y, kRowsTwice, 1e-9);
    weigh_backward(linear, y);
    expect_near(linear.tensor("bias").grad(), {1.1699671429, 0.259996082685}, 1e-9);
    expect_near(original(linear, "original0").grad(), {-0.414757564987, 1.43505977789}, 1e-9);
    expect_near(original(linear, "original1").grad(),
                {1.27686170763, -0.840911879642, 2.91718361254, 1.00712028446, -0.0439314679947,
                 2.15557806022},
                1e-9);
  }
}

TEST(WeightNorm, HasOneNormOrOneOfEachIndex) {
  for (const tn::Device device : devices()) {
    const Object linear = filled(nn::Linear(3, 2), device);
    utils::weight_norm(linear, {.dim = std::nullopt});
    EXPECT_EQ(original(linear, "original0").dim(), 0);
    scale_norms(linear);
    const Tensor y = linear(rows(device));
    expect_near(y, kRowsTwice, 1e-9);
    weigh_backward(linear, y);
    expect_near(original(linear, "original0").grad(), {0.897543226596}, 1e-9);
    expect_near(original(linear, "original1").grad(),
                {0.944543666846, -2.21069635751, 2.66778420695, 0.222161029436, -0.690472696044,
                 2.50914673722},
                1e-9);

    const Object conv = filled(nn::Conv1d(2, 2, 2, {.bias = false}), device);
    utils::weight_norm(conv, {.dim = 1});
    expect_sizes(original(conv, "original0"), {1, 2, 1});
    scale_norms(conv);
    const Tensor z = conv(signal(device));
    expect_near(z,
                {2.36052360772, 2.46613365023, 0.70542291242, -0.0326877804819, -1.5588019077,
                 -1.90524582828},
                1e-9);
    weigh_backward(conv, z);
    expect_near(original(conv, "original0").grad(), {1.69957360448, 2.18930905351}, 1e-9);
    expect_near(original(conv, "original1").grad(),
                {0.705531949455, 0.581662819491, -2.40521527768, 0.00430975224555, -0.957008220226,
                 -3.40005467108, 0.553459442645, 1.92181979294},
                1e-9);
  }
}

void set_vectors(const Object& layer, const std::vector<double>& u, const std::vector<double>& v) {
  const Object norm = layer.get_submodule("parametrizations.weight.0");
  norm.tensor("_u").copy_(Tensor::from(u));
  norm.tensor("_v").copy_(Tensor::from(v));
}
Tensor vector_u(const Object& layer) {
  return layer.get_submodule("parametrizations.weight.0").tensor("_u");
}

TEST(SpectralNorm, HasTheValuesOfPyTorch) {
  for (const tn::Device device : devices()) {
    const Object linear = utils::spectral_norm(filled(nn::Linear(3, 2), device));
    set_vectors(linear, {0.6, 0.8}, {1 / 3., 2 / 3., -2 / 3.});
    const Tensor y = linear(rows(device));
    const std::vector<double> expected = {-0.291204405191, 1.68931221618, 0.32766291259,
                                          -0.376134522369};
    expect_near(y, expected, 1e-9);
    expect_near(vector_u(linear), {0.463212129359, -0.886247439046}, 1e-9);
    linear.eval();
    expect_near(linear(rows(device)), expected, 1e-9);
    expect_near(vector_u(linear), {0.463212129359, -0.886247439046}, 1e-9);
    weigh_backward(linear, y);
    expect_near(original(linear).grad(),
                {0.315971252804, -0.869764345223, 1.31724080108, 0.113344544177, -0.163561430611,
                 1.16521666252},
                1e-9);
    // Two forwards, and then backward, as for a critic that sees what is real and what is not.
    linear.train();
    const Tensor a = linear(rows(device)), b = linear(rows(device) * -1.0);
    expect_near(vector_u(linear), {0.550979361668, -0.834518869179}, 1e-9);
    linear.zero_grad();
    (a.sum() - b.square().sum()).backward();
    expect_near(original(linear).grad(),
                {2.45600635631, 0.751306158485, 1.6287683095, 3.6877323077, -2.70612655762,
                 -0.363988194746},
                1e-9);
  }
}

TEST(SpectralNorm, TakesTheDimensionOfTheOutputsAndVectors) {
  for (const tn::Device device : devices()) {
    const Object conv = utils::spectral_norm(
        filled(nn::ConvTranspose1d(2, 3, 2, {.bias = false}), device), {.n_power_iterations = 3});
    set_vectors(conv, {1 / 3., 2 / 3., 2 / 3.}, {0.5, 0.5, -0.5, 0.5});
    const Tensor y = conv(signal(device));
    expect_near(vector_u(conv), {0.537681389128, -0.696899787024, 0.474583407455}, 1e-9);
    expect_near(y.narrow(2, 0, 1), {-0.181744028578, 0.207341811728, -0.121090629855}, 1e-9);
    conv.eval();
    expect_near(utils::parametrized(conv),
                {0.10292548878, 0.424249422554, 0.0772439427624, -0.429727109753, -0.35394995535,
                 0.193561697244, 0.410701994295, -0.0206401080817, -0.468547419378, -0.276834679209,
                 0.273638498943, 0.376427619463},
                1e-9);
    weigh_backward(conv, y);
    expect_near(original(conv).grad(),
                {0.200558581672, -0.161543679788, 0.123639424848, 0.365515431238, -0.404909908211,
                 -0.624303548177, -0.403814105402, 0.0486776958583, 0.0846641698767,
                 -0.390234320287, 0.13453217463, 0.623266436218},
                1e-9);

    const Object norm = nn::LayerNorm({3});
    norm.to(device, float64);
    fill(norm.tensor("weight"));
    utils::spectral_norm(norm);
    EXPECT_EQ(names_of(norm),
              (std::vector<std::string>{"bias", "parametrizations.weight.original"}));
    const Tensor z = norm(rows(device));
    expect_near(
        z, {0, -1.17200991824, 0.21339019508, 0.294262107183, -0.0866372436239, -0.205064815916},
        1e-5);  // the eps of the norm is float32's
    weigh_backward(norm, z);
    expect_near(original(norm).grad(), {-0.483062161087, -0.152410296706, 1.48075545239}, 1e-5);
  }
}

TEST(SpectralNorm, BeginsNearTheSingularVectors) {
  load_all();
  tn::manual_seed(0);
  const Object linear = utils::spectral_norm(filled(nn::Linear(3, 2)));
  for (int i = 0; i < 20; ++i) linear(rows());
  linear.eval();
  // The largest singular value of w is 1: w w^T has the eigenvalue 1, and none above.
  const Tensor w = utils::parametrized(linear).detach();
  const auto square = tn::matmul(w, w.t()).to_vector<double>();
  const double trace = square[0] + square[3], det = square[0] * square[3] - square[1] * square[2];
  EXPECT_NEAR(trace / 2 + std::sqrt(trace * trace / 4 - det), 1, 1e-6);
}

// PyTorch's names; the tensor itself is neither a parameter nor in the state.
TEST(Parametrize, HasTheStateOfPyTorch) {
  load_all();
  const Object linear = filled(nn::Linear(3, 2)), other = nn::Linear(3, 2);
  const Tensor weight = linear.tensor("weight");
  utils::weight_norm(linear);
  EXPECT_EQ(names_of(linear), (std::vector<std::string>{"bias", "parametrizations.weight.original0",
                                                        "parametrizations.weight.original1"}));
  EXPECT_EQ(linear.parameters().size(), 3u);
  EXPECT_TRUE(original(linear, "original1").is_same(weight));
  EXPECT_TRUE(utils::is_parametrized(linear));
  EXPECT_FALSE(utils::is_parametrized(linear, "bias"));
  linear(rows());
  expect_near(linear.tensor("weight"), weight.to_vector<double>(), 1e-12);
  EXPECT_TRUE(linear.tensor("weight").requires_grad());
  expect_near(utils::parametrized(linear), weight.to_vector<double>(), 1e-12);

  other.to(tn::cpu, float64);
  utils::weight_norm(other);
  other.load_state_dict(linear.state_dict());
  expect_same_bits(other(rows()), linear(rows()));
  EXPECT_EQ(
      names_of(utils::spectral_norm(nn::Linear(3, 2))),
      (std::vector<std::string>{"bias", "parametrizations.weight.original",
                                "parametrizations.weight.0._u", "parametrizations.weight.0._v"}));
}

TEST(Parametrize, IsLearnedAndCopied) {
  for (const tn::Device device : devices()) {
    const Object model = nn::Sequential(utils::weight_norm(nn::Linear(3, 4)), nn::Tanh(),
                                        utils::spectral_norm(nn::Linear(4, 1)));
    model.to(device, float64);
    const Object copy = model.clone();
    const tn::optim::AveragedModel average(model);
    auto optimizer = tn::optim::Adam(model.parameters(), {.lr = 0.05});
    const Tensor x = rows(device), y = tn::ones({2, 1}, float64, device) * 0.25;
    expect_same_bits(copy(x), model(x));
    EXPECT_EQ(names_of(copy), names_of(model));
    double first = 0, last = 0;
    for (int i = 0; i < 30; ++i) {
      optimizer.zero_grad();
      const Tensor loss = tn::mse_loss(model(x), y);
      loss.backward();
      optimizer.step();
      average.update_parameters(model);
      last = loss.item<double>();
      if (i == 0) first = last;
    }
    EXPECT_LT(last, first / 2);
    model.eval();
    copy.load_state_dict(model.state_dict());
    copy.eval();
    expect_same_bits(copy(x), model(x));
    EXPECT_FALSE(copy.get_parameter("0.parametrizations.weight.original0")
                     .is_same(model.get_parameter("0.parametrizations.weight.original0")));
  }
}

struct Symmetric : tn::Module {
  Tensor forward(Tensor x) { return x.triu() + x.triu(1).t(); }
};
struct Twice : tn::Module {
  Tensor forward(Tensor x) { return x * 2.0; }
};
struct First : tn::Module {
  Tensor forward(Tensor x) { return x.narrow(0, 0, 1); }
};

TEST(Parametrize, TakesModulesOneBehindTheOther) {
  load_all();
  const Object linear = filled(nn::Linear(2, 2, false));
  utils::parametrize::register_parametrization(linear, "weight", tn::make<Symmetric>());
  utils::register_parametrization(linear, "weight", tn::make<Twice>());
  const auto w = original(linear).to_vector<double>();
  expect_near(utils::parametrized(linear), {2 * w[0], 2 * w[1], 2 * w[1], 2 * w[3]}, 1e-12);
  const Tensor x = tn::ones({1, 2}, float64);
  expect_near(linear(x), {2 * (w[0] + w[1]), 2 * (w[1] + w[3])}, 1e-12);
  expect_same_bits(linear.clone()(x), linear(x));
  const Tensor y = linear(x);
  utils::remove_parametrizations(linear);
  EXPECT_FALSE(utils::is_parametrized(linear));
  EXPECT_EQ(names_of(linear), (std::vector<std::string>{"weight"}));
  EXPECT_TRUE(linear.tensor("weight").requires_grad());
  expect_same_bits(linear(x), y);

  const Tensor weight = linear.tensor("weight");
  utils::register_parametrization(linear, "weight", tn::make<Twice>());
  utils::remove_parametrizations(linear, "weight", /*leave_parametrized=*/false);
  EXPECT_TRUE(linear.tensor("weight").is_same(weight));
  expect_same_bits(linear(x), y);
}

// A tensor and a layer of a class, parametrized behind make, and one in its constructor.
struct Scaled : tn::Module {
  Tensor scale = parameter("scale", tn::ones({3}) * 0.5);
  Object linear = child("linear", utils::weight_norm(nn::Linear(3, 2)));
  Tensor forward(Tensor x) { return linear(x * scale); }
};
TEST(Parametrize, OfAClassIsCopied) {
  load_all();
  const auto net = tn::make<Scaled>();
  utils::register_parametrization(net, "scale", tn::make<Twice>());
  utils::register_parametrization(net.child("linear"), "bias", tn::make<Twice>());
  const Tensor x = rows().to(tn::float32);
  const auto copy = net.clone();
  EXPECT_EQ(names_of(copy), names_of(net));
  EXPECT_TRUE(utils::is_parametrized(copy, "scale"));
  expect_same_bits(copy(x), net(x));
  expect_near(copy->scale.to(float64), {1, 1, 1}, 0);
  const auto original_scale = [](const Object& object) {
    return object.get_parameter("parametrizations.scale.original");
  };
  EXPECT_FALSE(original_scale(copy).is_same(original_scale(net)));
  copy(x).sum().backward();
  EXPECT_TRUE(original_scale(copy).grad().defined());
  EXPECT_FALSE(original_scale(net).grad().defined());
  tn::optim::SGD(copy.parameters(), 0.1).step();
  EXPECT_FALSE(tn::equal(copy(x), net(x)));
  expect_same_bits(copy.clone()(x), copy(x));

  utils::remove_parametrizations(copy, "scale");
  EXPECT_EQ(copy->scale.get(), copy.tensor("scale").get());
  expect_same_bits(copy.clone()(x), copy(x));
}

Object critic(tn::Device device) {
  tn::manual_seed(0);
  const Object last = nn::Linear(4, 4);
  utils::register_parametrization(last, "weight", tn::make<Symmetric>());
  const Object model =
      nn::Sequential(utils::weight_norm(nn::Linear(3, 4)), nn::Tanh(),
                     utils::spectral_norm(nn::Linear(4, 4), {.n_power_iterations = 2}), last);
  return model.to(device);
}
// Replays take the steps of the iteration too, and in evaluation none.
TEST(Parametrize, IsRecordedAndReplayed) {
  for (const tn::Device device : devices()) {
    Trained eager{critic(device), {}}, compiled{critic(device), {}};
    for (Trained* each : {&eager, &compiled})
      each->optimizer = tn::optim::SGD(each->model.parameters(), {.lr = 0.1});
    const auto step = tn::compile([&](Tensor x, Tensor t) { return compiled.step(x, t); });
    const auto score = tn::compile([&](Tensor x) {
      const tn::NoGrad guard;
      return compiled.model(x);
    });
    const Tensor target = (tn::arange(0, 2) * 3).to(device);
    for (int i = 0; i < 6; ++i) {
      const Tensor x = (rows(device) * (1 + 0.1 * i)).to(tn::float32);
      const Tensor before = vector_u(compiled.model.child("2")).clone();
      expect_same_bits(step(x, target), eager.step(x, target));
      EXPECT_FALSE(tn::equal(vector_u(compiled.model.child("2")), before));
      expect_same_state(compiled, eager);
      compiled.model.eval();
      eager.model.eval();
      expect_same_bits(score(x), eager.model(x).detach());
      expect_same_state(compiled, eager);
      compiled.model.train();
      eager.model.train();
    }
    expect_described(step, "1 recordings, 5 replays");
    expect_described(score, "1 recordings, 5 replays");
  }
}

TEST(Parametrize, IsReadByEachLayerThatReadsItsTensorsByName) {
  load_all();
  const Object lstm = nn::LSTM(3, 2);
  const Tensor x = tn::randn({4, 1, 3});
  const Tensor expected = lstm.call<3>(x)[0];
  utils::weight_norm(lstm, {.name = "weight_hh_l0"});
  expect_near(lstm.call<3>(x)[0].to(float64), expected.to(float64).to_vector<double>(), 1e-6);

  const Object linear = utils::spectral_norm(utils::weight_norm(filled(nn::Linear(3, 2))));
  linear.eval();
  const Tensor w = utils::parametrized(linear).detach();
  const auto square = tn::matmul(w, w.t()).to_vector<double>();
  EXPECT_NEAR((1 - square[0]) * (1 - square[3]), square[1] * square[2], 1e-6);
}

TEST(Parametrize, AnErrorSaysWhoseItIs) {
  load_all();
  struct Failing : tn::Module {
    Tensor forward(Tensor x) { return training() ? x : x.narrow(0, 5, 1); }
  };
  const Object linear = nn::Linear(2, 2);
  utils::register_parametrization(linear, "weight", tn::make<Failing>(), /*unsafe=*/true);
  linear.eval();
  expect_error([&] { linear(tn::ones({1, 2})); }, "Linear: Failing: narrow");
  linear.train();
  expect_sizes(linear(tn::ones({1, 2})), {1, 2});

  const Object own = Object::empty("Own");
  own.parameter("scale", tn::ones({2}));
  own.method("scale(int n) -> int", [](int64_t n) { return n; });
  expect_error([&] { utils::register_parametrization(own, "scale", tn::make<Twice>()); },
               "register_parametrization: Own has a method scale(int n) -> int, and the tensor "
               "'scale' would need one of that name");
}

TEST(Parametrize, ADimensionOfWeightNormCountsFromTheEnd) {
  load_all();
  const auto magnitude = [](std::optional<int64_t> dim) {
    const Object linear = utils::weight_norm(nn::Linear(3, 2), {.dim = dim});
    return linear.get_submodule("parametrizations.weight").tensor("original0").sizes().vec();
  };
  // As of PyTorch's: -1 is one norm of all.
  EXPECT_EQ(magnitude(-1), std::vector<int64_t>());
  EXPECT_EQ(magnitude({}), std::vector<int64_t>());
  EXPECT_EQ(magnitude(-2), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(magnitude(1), (std::vector<int64_t>{1, 3}));
}

TEST(Parametrize, SaysWhatDoesNotFit) {
  load_all();
  const Object linear = nn::Linear(3, 2), bare = nn::Linear(3, 2, false);
  expect_error([&] { utils::weight_norm(linear, {.name = "wieght"}); }, "wieght");
  expect_error([&] { utils::weight_norm(bare, {.name = "bias"}); },
               "register_parametrization: 'bias' of Linear is None");
  expect_error([&] { utils::weight_norm(linear, {.dim = 2}); },
               "weight_norm: dim is 2, expected -2 to 1, or none or -1 for one norm of all");
  expect_error([&] { utils::spectral_norm(bare, {.name = "bias"}); },
               "spectral_norm: 'bias' of Linear is None");
  expect_error([&] { utils::spectral_norm(linear, {.dim = -3}); },
               "spectral_norm: dim is -3, expected -2 to 1");
  expect_error([&] { utils::spectral_norm(linear, {.n_power_iterations = 0}); },
               "spectral_norm: n_power_iterations is 0, expected at least 1");
  expect_error(
      [&] { utils::register_parametrization(linear, "weight", tn::make<First>()); },
      "register_parametrization: First makes [1, 3] float32 of 'weight' of Linear, which is [2, 3] "
      "float32; expected the same");
  expect_error([&] { utils::parametrized(linear); },
               "parametrized: 'weight' of Linear has no parametrization");
  expect_error([&] { utils::remove_parametrizations(linear); },
               "remove_parametrizations: 'weight' of Linear has no parametrization");
  EXPECT_EQ(names_of(linear), (std::vector<std::string>{"weight", "bias"}));
  utils::weight_norm(linear);
  expect_error([&] { utils::weight_norm(linear); },
               "weight_norm: 'weight' of Linear has a parametrization already, and weight_norm has "
               "to be the first");
  expect_error([&] { utils::remove_parametrizations(linear, "weight", false); },
               "has 2 originals, and none of them is the tensor; leave it parametrized");
}

}  // namespace
