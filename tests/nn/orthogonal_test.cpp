// Weights that stay orthogonal, against torch.nn.utils.parametrizations.orthogonal (PyTorch 2.15,
// float64).
#include <tenon/orthogonal.hpp>

#include "ops_support.h"

namespace {

namespace nn = tn::nn;
namespace utils = tn::nn::utils;
using tn::float64;
using tn::Object;

Tensor places(int64_t n, int64_t k) { return tn::arange(n * k).reshape(n, k).to(float64); }

// A layer whose weight is sin(0), sin(1), sin(4), ..
Object linear(int64_t n, int64_t k) {
  Object layer = nn::Linear(k, n);
  layer.to(tn::cpu, float64);
  const tn::NoGrad guard;
  layer.tensor("weight").copy_(places(n, k).square().sin());
  return layer;
}
Tensor original(const Object& layer) {
  return layer.get_parameter("parametrizations.weight.original");
}
void expect_orthonormal(const Tensor& weight) {
  const Tensor q = weight.size(-2) < weight.size(-1) ? weight.mT() : weight;
  const Tensor product = q.mT().matmul(q);
  EXPECT_TRUE(tn::allclose(product, tn::eye(q.size(-1), q.options()).expand(product.sizes()),
                           {.atol = 1e-10}))
      << product;
}

struct Case {
  int64_t n, k;
  const char* map;
  std::vector<double> weight, gradient;  // of sum(weight * (0, 1, ..)), to the original
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {4,
       2,
       "matrix_exp",
       {0.340590610, 0.076706438, -0.867422633, 0.396579668, -0.159370297, -0.149268421,
        -0.325848309, -0.902529572},
       {0, 0, -0.112234490, 0, 3.030772307, 1.836390590, 2.437560517, 1.817854022}},
      {4,
       2,
       "cayley",
       {0.499540725, 0.161175961, -0.760130355, 0.541951508, -0.165559083, -0.125241537,
        -0.381118219, -0.815245626},
       {0, 0, -0.128492856, 0, 2.755763330, 2.065209962, 2.406626784, 2.110102014}},
      {4,
       2,
       "householder",
       {0, 0.680401319, -0.591096181, 0.584137951, -0.224865209, -0.011568315, -0.774623097,
        -0.442383401},
       {0, 0, 4.339362110, 0, 5.804120715, 6.951826095, 2.311830936, 2.814814652}},
      {2,
       3,
       "matrix_exp",
       {0.425947475, 0.625954020, -0.653261290, -0.715739190, 0.674797484, 0.179904885},
       {0, -2.064231921, -0.926377684, 0, 0, 6.419177071}},
      {2,
       3,
       "cayley",
       {0.516519010, 0.597461737, -0.613390239, -0.673080989, 0.726106537, 0.140468075},
       {0, -1.756352421, -0.747398601, 0, 0, 5.800449882}},
      {2,
       3,
       "householder",
       {0, 0.743523180, -0.668710162, 0.816946101, -0.385654530, -0.428800247},
       {0, 5.723841101, 6.815562472, 0, 0, -13.856708804}},
      {3,
       3,
       "matrix_exp",
       {0.515848557, -0.681363928, 0.519272053, -0.112702213, 0.546901108, 0.829576633,
        -0.849234053, -0.486459018, 0.205326925},
       {0, 0, 0, 2.991524861, 0, 0, 6.051460008, 11.253262791, 0}},
      {3,
       3,
       "cayley",
       {0.619513175, -0.583907722, 0.524647691, -0.040136076, 0.643916875, 0.764041985,
        -0.783959515, -0.494391375, 0.375479223},
       {0, 0, 0, 3.057365019, 0, 0, 4.091598187, 7.988047397, 0}},
      {3,
       3,
       "householder",
       {0, 0.799662939, -0.600449152, 0.383724491, -0.554483343, -0.738446841, -0.923447624,
        -0.230407045, -0.306850255},
       {0, 0, 0, 0.140432306, 0, 0, 0.770788350, -4.999246277, 0}},
  };
  return all;
}

TEST(Orthogonal, IsPyTorchs) {
  load_all();
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.map + std::to_string(c.n) + "x" + std::to_string(c.k));
    const Object layer = linear(c.n, c.k);
    utils::orthogonal(layer, {.orthogonal_map = c.map, .use_trivialization = false});
    const Tensor weight = layer.tensor("weight");
    expect_near(weight, c.weight, 1e-8);
    expect_orthonormal(weight);
    (weight * places(c.n, c.k)).sum().backward();
    expect_near(original(layer).grad(), c.gradient, 1e-7);
  }
}

// What is orthogonal already is what training begins with.
TEST(Orthogonal, StartsFromTheFirstValue) {
  load_all();
  for (const char* map : {"matrix_exp", "cayley", "householder"}) {
    for (const auto& [n, k] : {std::pair(4, 2), {2, 4}, {3, 3}}) {
      SCOPED_TRACE(map);
      const Object layer = linear(n, k);
      nn::init::orthogonal_(layer.tensor("weight"));
      const Tensor before = layer.tensor("weight").detach().clone();
      utils::orthogonal(layer, {.orthogonal_map = map});
      EXPECT_TRUE(tn::allclose(layer.tensor("weight"), before, {.atol = 1e-10}));
      auto optimizer = tn::optim::SGD(layer.parameters(), {.lr = 0.1});
      for (int i = 0; i < 3; ++i) {
        optimizer.zero_grad();
        layer(places(5, k) * 0.1).square().sum().backward();
        optimizer.step();
      }
      expect_orthonormal(layer.tensor("weight"));
      EXPECT_FALSE(tn::allclose(layer.tensor("weight"), before, {.atol = 1e-3}));
    }
  }
}

TEST(Orthogonal, OfSeveralMatricesCopiesAndFiles) {
  load_all();
  const auto make = [] {
    const Object layer = nn::Bilinear(5, 3, 2, {.bias = false});  // a weight of [2, 5, 3]
    layer.to(tn::cpu, float64);
    return utils::orthogonal(layer);
  };
  const Object layer = make(), copy = layer.clone(), other = make();
  expect_orthonormal(layer.tensor("weight"));
  EXPECT_TRUE(tn::equal(copy.tensor("weight"), layer.tensor("weight")));
  const auto state = layer.state_dict();
  ASSERT_EQ(state.size(), 2u);
  EXPECT_TRUE(state.contains("parametrizations.weight.0.base"));
  other.load_state_dict(state);
  EXPECT_TRUE(tn::equal(other.tensor("weight"), layer.tensor("weight")));
  utils::remove_parametrizations(layer, "weight");
  expect_orthonormal(layer.get_parameter("weight"));
}

TEST(Orthogonal, ByPlace) {
  load_all();
  const Object flat = nn::Linear(2, 3), square = nn::Linear(3, 3);
  for (const Object& layer : {flat, square}) layer.to(tn::cpu, float64);
  expect_orthonormal(utils::orthogonal(flat, "weight", "cayley").tensor("weight"));
  expect_orthonormal(utils::orthogonal(square, "weight").tensor("weight"));
}

TEST(Orthogonal, Refuses) {
  load_all();
  const Object layer = nn::Linear(3, 3);
  expect_error([&] { utils::orthogonal(layer, {.name = "bias"}); },
               "orthogonal: 'bias' of Linear is [3], expected a matrix, or several");
  expect_error([&] { utils::orthogonal(layer, {.orthogonal_map = "euler"}); },
               "orthogonal_map is 'euler', expected matrix_exp, cayley or householder");
}

}  // namespace
