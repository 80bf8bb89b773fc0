// Attention, the layers of transformers and embeddings, against PyTorch's.
#include "ops_support.h"

namespace {

using tn::Object;
using tn::nn::Embedding, tn::nn::MultiheadAttention, tn::nn::PositionalEmbedding;
using tn::nn::TransformerDecoderLayer, tn::nn::TransformerEncoderLayer;
using TensorList = std::vector<Tensor>;

std::vector<std::string> names_of(const tn::NamedTensors& list) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : list) names.push_back(name);
  return names;
}

template <typename F>
Tensor counted(const std::vector<int64_t>& sizes, tn::Device device, F f) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(f(double(i)));
  return float64_tensor(values, sizes, device);
}
std::vector<int64_t> sizes_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }

// The sum of the elements, each times sin(1 + i).
double weighed(const Tensor& t) {
  double sum = 0, i = 1;
  for (const double v : t.to_vector<double>()) sum += v * std::sin(i++);
  return sum;
}

// Parameter k is 0.4 sin(k + 0.7 i), input k is cos(k + 0.9 i).
struct Case {
  const char* name;
  Object (*make)();
  std::vector<std::vector<int64_t>> inputs;
  Tensor (*call)(const Object& layer, const TensorList& in);
  // Weighed: the output; the gradients of the inputs and of the parameters of the weighed output,
  // added up.
  double output, inputs_gradient, parameters_gradient;
};

Tensor bools(const std::vector<int64_t>& values, std::vector<int64_t> sizes, const TensorList& in) {
  return Tensor::from(values, sizes, in[0].device()).to(tn::bool_);
}
Tensor causal(const TensorList& in) { return bools({0, 1, 1, 0, 0, 1, 0, 0, 0}, {3, 3}, in); }
Tensor padding(const TensorList& in) { return bools({0, 0, 1, 0, 1, 0}, {2, 3}, in); }
Tensor added(const TensorList& in) {
  return float64_tensor({0, 0.5, -1, 1, 0, 2, 0.25, 0, 0}, {3, 3}, in[0].device());
}
Tensor by_itself(const Object& layer, const TensorList& in) { return layer(in[0], in[0], in[0]); }
Tensor masked(const Object& layer, const TensorList& in, const Tensor& padding, const Tensor& mask,
              bool is_causal = false) {
  return layer(in[0], in[0], in[0], padding, mask, is_causal);
}
Object batch_first() { return MultiheadAttention(4, 2, {.batch_first = true}); }

// Values: PyTorch 2.15, float64, torch.nn.MultiheadAttention and Transformer*Layer in evaluation.
const Case kCases[] = {
    // clang-format off
    {"self", [] { return MultiheadAttention(4, 2); }, {{3, 2, 4}}, by_itself, 0.407907559046, 0.0606991064131, 1.41290122928},
    {"without bias", [] { return MultiheadAttention(4, 2, {.bias = false, .batch_first = true}); }, {{2, 3, 4}}, by_itself, -0.111745602509, -0.322353853244, -0.636043309901},
    {"three inputs", [] { return MultiheadAttention(4, 1); }, {{3, 2, 4}, {5, 2, 4}, {5, 2, 4}},
     [](const Object& layer, const TensorList& in) { return layer(in[0], in[1], in[2]); }, 0.355803646143, 0.09064800578, 1.15659440192},
    {"query and memory", batch_first, {{2, 3, 4}, {2, 5, 4}},
     [](const Object& layer, const TensorList& in) { return layer(in[0], in[1], in[1]); }, 0.294365358625, -0.19473841265, 1.20678801815},
    {"kdim and vdim", [] { return MultiheadAttention(4, 2, {.kdim = 3, .vdim = 2, .batch_first = true}); }, {{2, 3, 4}, {2, 5, 3}, {2, 5, 2}},
     [](const Object& layer, const TensorList& in) { return layer(in[0], in[1], in[2]); }, -0.423842254114, 0.0283744726512, 1.4101645952},
    {"without batch", [] { return MultiheadAttention(4, 2); }, {{3, 4}}, by_itself, 0.217852474715, -0.0482717761847, 0.597940245123},
    {"without batch, padding", [] { return MultiheadAttention(4, 2); }, {{3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, bools({0, 1, 0}, {3}, in), {}); }, 0.221278818948, -0.0971776071623, 0.640493122644},
    {"causal", batch_first, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, {}, {}, true); }, 0.403622382034, 0.0776107335016, 1.10640830409},
    {"causal by its mask too", batch_first, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, {}, causal(in), true); }, 0.403622382034, 0.0776107335016, 1.10640830409},
    {"mask of bool", batch_first, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, {}, bools({0, 1, 0, 0, 0, 1, 1, 0, 0}, {3, 3}, in)); }, 0.503948573114, 0.211178754259, 0.920624145875},
    {"mask of numbers", batch_first, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, {}, added(in)); }, 0.298520024995, -0.261342620722, 1.03550029091},
    {"mask by head", batch_first, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, {}, counted({4, 3, 3}, in[0].device(), [](double i) { return std::cos(i); })); }, 0.383839257363, -0.0356575967883, 0.87782932316},
    {"padding", batch_first, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, padding(in), {}); }, 0.354745580152, 0.112706396748, 1.27451800555},
    {"padding, causal", batch_first, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, padding(in), {}, true); }, 0.420244491227, 0.182703354723, 1.20010653369},
    {"padding, mask of bool", batch_first, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, padding(in), causal(in)); }, 0.420244491227, 0.182703354723, 1.20010653369},
    {"padding, mask of numbers", batch_first, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, padding(in), added(in)); }, 0.283262605551, 0.00781928427912, 1.36040428877},
    {"learned key and value", [] { return MultiheadAttention(4, 2, {.add_bias_kv = true}); }, {{3, 2, 4}}, by_itself, -0.601263753802, -0.00910106203498, 1.56684387712},
    {"key and value of zeros", [] { return MultiheadAttention(4, 2, {.add_zero_attn = true, .batch_first = true}); }, {{2, 3, 4}}, by_itself, 0.345540630564, -0.0837086147078, 0.946789217186},
    {"both, without batch", [] { return MultiheadAttention(4, 2, {.add_bias_kv = true, .add_zero_attn = true}); }, {{3, 4}}, by_itself, -0.252156256952, 0.102465354182, 0.641031209364},
    {"both, padding and mask", [] { return MultiheadAttention(4, 2, {.add_bias_kv = true, .add_zero_attn = true, .batch_first = true}); }, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, padding(in), causal(in)); }, -0.495662850588, -0.0198926035982, 1.21439871184},
    {"learned, mask of numbers", [] { return MultiheadAttention(4, 2, {.add_bias_kv = true, .batch_first = true}); }, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, {}, added(in)); }, -0.383622503496, 0.044281975013, 1.30573752814},
    {"learned, causal", [] { return MultiheadAttention(4, 2, {.add_bias_kv = true, .batch_first = true}); }, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return masked(layer, in, {}, {}, true); }, -0.477309297636, 0.111063887167, 1.5250170947},
    {"both, kdim and vdim", [] { return MultiheadAttention(4, 2, {.add_bias_kv = true, .add_zero_attn = true, .kdim = 3, .vdim = 2, .batch_first = true}); }, {{2, 3, 4}, {2, 5, 3}, {2, 5, 2}},
     [](const Object& layer, const TensorList& in) { return layer(in[0], in[1], in[2]); }, 0.0286088624562, -0.0440934088754, 0.686428331911},
    {"encoder layer", [] { return TransformerEncoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0}); }, {{3, 2, 4}},
     [](const Object& layer, const TensorList& in) { return layer(in[0]); }, -1.15487298478, -0.00378870664697, -0.0314910631148},
    {"encoder layer, norm first, gelu, causal", [] { return TransformerEncoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0, .activation = "gelu", .layer_norm_eps = 1e-3, .batch_first = true, .norm_first = true}); }, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return layer(in[0], tn::none, tn::none, true); }, 8.76732585388, 12.6308719353, 3.24646594819},
    {"encoder layer that is causal", [] { return TransformerEncoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0, .activation = "gelu", .layer_norm_eps = 1e-3, .batch_first = true, .norm_first = true, .is_causal = true}); }, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return layer(in[0]); }, 8.76732585388, 12.6308719353, 3.24646594819},
    {"encoder layer without bias, padding", [] { return TransformerEncoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0, .batch_first = true, .bias = false}); }, {{2, 3, 4}},
     [](const Object& layer, const TensorList& in) { return layer(in[0], tn::none, padding(in)); }, -0.113289344214, 1.68561484491, -2.76495590605},
    {"decoder layer", [] { return TransformerDecoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0, .batch_first = true}); }, {{2, 3, 4}, {2, 5, 4}},
     [](const Object& layer, const TensorList& in) { return layer(in[0], in[1], causal(in)); }, -0.717088197647, -0.720112780463, -25.1411086034},
    {"decoder layer that is causal", [] { return TransformerDecoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0, .batch_first = true, .is_causal = true}); }, {{2, 3, 4}, {2, 5, 4}},
     [](const Object& layer, const TensorList& in) { return layer(in[0], in[1]); }, -0.717088197647, -0.720112780463, -25.1411086034},
    {"decoder layer, norm first, gelu, padding of the memory", [] { return TransformerDecoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0, .activation = "gelu", .norm_first = true}); }, {{3, 2, 4}, {5, 2, 4}},
     [](const Object& layer, const TensorList& in) {
       return layer(in[0], in[1], tn::none, tn::none, tn::none, bools({0, 0, 1, 0, 0, 1, 0, 0, 0, 1}, {2, 5}, in));
     }, 8.16561885949, 12.5374083345, 3.92135679246},
    // clang-format on
};

TEST(AttentionLayers, ValuesAndGradients) {
  for (const tn::Device device : devices()) {
    for (const Case& c : kCases) {
      SCOPED_TRACE(device.name() + ": " + c.name);
      const Object layer = c.make().to(device, tn::float64);
      layer.eval();
      double k = 0;
      for (const Tensor& p : layer.parameters()) {
        p.detach().copy_(
            counted(sizes_of(p), device, [&](double i) { return 0.4 * std::sin(k + 0.7 * i); }));
        ++k;
      }
      TensorList in;
      for (const auto& sizes : c.inputs) {
        const double k = double(in.size());
        in.push_back(counted(sizes, device, [&](double i) {
                       return std::cos(k + 0.9 * i);
                     }).requires_grad_());
      }
      const Tensor y = c.call(layer, in);
      EXPECT_EQ(sizes_of(y), c.inputs[0]);
      EXPECT_NEAR(weighed(y), c.output, 1e-10);
      y.backward(counted(sizes_of(y), device, [](double i) { return std::sin(1 + i); }));
      double gradients = 0;
      for (const Tensor& x : in) gradients += weighed(x.grad());
      EXPECT_NEAR(gradients, c.inputs_gradient, 1e-9);
      gradients = 0;
      for (const Tensor& p : layer.parameters()) gradients += weighed(p.grad());
      EXPECT_NEAR(gradients, c.parameters_gradient, 1e-8);
    }
  }
}

TEST(AttentionLayers, NamesArePyTorchs) {
  load_all();
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of(MultiheadAttention(4, 2).state_dict()),
            (Names{"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"}));
  EXPECT_EQ(names_of(MultiheadAttention(4, 2, {.add_bias_kv = true}).state_dict()),
            (Names{"in_proj_weight", "in_proj_bias", "bias_k", "bias_v", "out_proj.weight",
                   "out_proj.bias"}));
  EXPECT_EQ(names_of(MultiheadAttention(4, 2, {.bias = false, .kdim = 3}).state_dict()),
            (Names{"q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"}));
  EXPECT_EQ(
      names_of(TransformerEncoderLayer(4, 2).state_dict()),
      (Names{"self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight",
             "self_attn.out_proj.bias", "linear1.weight", "linear1.bias", "linear2.weight",
             "linear2.bias", "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"}));
  EXPECT_EQ(
      names_of(TransformerDecoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0, .bias = false})
                   .state_dict()),
      (Names{"self_attn.in_proj_weight", "self_attn.out_proj.weight",
             "multihead_attn.in_proj_weight", "multihead_attn.out_proj.weight", "linear1.weight",
             "linear2.weight", "norm1.weight", "norm2.weight", "norm3.weight"}));
}

TEST(AttentionLayers, StartAsPyTorchs) {
  load_all();
  tn::manual_seed(3);
  const Object attention = MultiheadAttention(96, 4);
  const Tensor weight = attention.tensor("in_proj_weight");
  expect_sizes(weight, {288, 96});
  const double bound = std::sqrt(6.0 / (288 + 96));
  double squares = 0;
  for (const double w : weight.to_vector<double>()) {
    ASSERT_LE(std::abs(w), bound + 1e-7);
    squares += w * w;
  }
  const double n = double(weight.numel());
  // Uniform: variance bound² / 3; allowed are five standard errors.
  EXPECT_NEAR(squares / n, bound * bound / 3, 5 * bound * bound * std::sqrt(4 / (45 * n)));
  for (const Tensor& bias :
       {attention.tensor("in_proj_bias"), attention.child("out_proj").tensor("bias")}) {
    for (const double b : bias.to_vector<double>()) ASSERT_EQ(b, 0);
  }
  for (const Object& layer : {Embedding(500, 40), PositionalEmbedding(500, 40)}) {
    const Tensor table = layer.tensor("weight");
    expect_sizes(table, {500, 40});
    // Normal: the mean of 20,000 has the standard error 0.0071, that of the squares 0.01.
    EXPECT_NEAR(table.mean().item<double>(), 0, 5 * 0.0071);
    EXPECT_NEAR(table.square().mean().item<double>(), 1, 5 * 0.01);
  }
}

TEST(AttentionLayers, DropoutActsInTrainingOnly) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    tn::manual_seed(3);
    for (const Object& layer :
         {MultiheadAttention(8, 2, {.dropout = 0.5}),
          TransformerEncoderLayer(8, 2, {.dim_feedforward = 16, .dropout = 0.5})}) {
      layer.to(device);
      const Tensor x = tn::randn({6, 3, 8}, {}, device);
      const auto values = [&] {
        return (layer.type_name() == "MultiheadAttention" ? layer(x, x, x) : layer(x))
            .to_vector<float>();
      };
      EXPECT_NE(values(), values()) << layer.type_name();
      layer.eval();
      EXPECT_EQ(values(), values()) << layer.type_name();
    }
  }
}

TEST(AttentionLayers, ACausalLayerStandsInASequential) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    tn::manual_seed(3);
    const Object model = tn::nn::Sequential(Embedding(7, 8), PositionalEmbedding(5, 8),
                                            TransformerEncoderLayer(8, 2,
                                                                    {.dim_feedforward = 16,
                                                                     .dropout = 0,
                                                                     .activation = "gelu",
                                                                     .batch_first = true,
                                                                     .norm_first = true,
                                                                     .is_causal = true}));
    model.to(device);
    // What comes later changes nothing of what was before.
    const Tensor a = Tensor::from(std::vector<int64_t>{1, 2, 3, 4}, {1, 4}, device),
                 b = Tensor::from(std::vector<int64_t>{1, 2, 6, 0}, {1, 4}, device);
    const Tensor x = model(a), y = model(b);
    expect_near(tn::narrow(x - y, 1, 0, 2), std::vector<double>(16, 0), 1e-6);
    EXPECT_GT((x - y).abs().max().item<double>(), 0.1);
  }
}

TEST(AttentionLayers, ThePaddingOfAnEmbeddingStaysZero) {
  load_all();
  for (const int64_t padding : {1, -2}) {
    const Object layer = Embedding(3, 2, {.padding_idx = padding});
    const Tensor index = tn::tensor({int64_t(0), int64_t(1), int64_t(1)});
    expect_near(layer(index).narrow(0, 1, 2), {0, 0, 0, 0});
    layer(index).sum().backward();
    expect_near(layer.tensor("weight").grad(), {1, 1, 0, 0, 0, 0});
  }
}

// Row i is sin(1.7 n + 0.6) (i + 1); the values are those of torch.nn.Embedding in float64.
const std::vector<double> kTable = [] {
  std::vector<double> values;
  for (int n = 0; n < 12; ++n) values.push_back(std::sin(1.7 * n + 0.6) * (n / 3 + 1));
  return values;
}();
const std::vector<double> kLimited[] = {
    {0.5646424733950354, 0.7457052121767203, -0.7568024953079282, -0.7500814992836456,
     1.224118419279573, 0.4346396619038179, -2.942808690199474, -0.19896569205360204,
     2.994079958149085, -0.2697618611420129, -1.3411084576329617, 0.615350743180356},
    {0.40972527151345983, 0.5411110302967784, -0.5491636256260972, -0.4670805919326142,
     0.7622664422716356, 0.27065292338673863, -2.942808690199474, -0.19896569205360204,
     2.994079958149085, -0.18176217636490777, -0.9036221464694961, 0.4146156533571073},
    {0.5646424733950354, 0.7457052121767203, -0.7568024953079282, -0.9191285488465984,
     1.4999999165468785, 0.5325950874649744, -2.942808690199474, -0.19896569205360204,
     2.994079958149085, -0.30172263753055917, -1.499999960478246, 0.6882561102328159}};

TEST(AttentionLayers, EmbeddingsLimitNormsAndCountAsPyTorch) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const Tensor words = Tensor::from(std::vector<int64_t>{1, 3, 1, 0, 3, 3}, {2, 3}, device);
    std::vector<double> slope;
    for (int n = 0; n < 18; ++n) slope.push_back(std::cos(0.9 * n));
    const double orders[] = {2, 1, INFINITY},
                 sums[] = {-0.6156603727205376, -0.47895578479622825, -0.5599213627336311};
    for (int i = 0; i < 3; ++i) {
      SCOPED_TRACE(orders[i]);
      const Object layer = Embedding(4, 3,
                                     {.padding_idx = 0,
                                      .max_norm = 1.5,
                                      .norm_type = orders[i],
                                      .scale_grad_by_freq = true})
                               .to(device)
                               .to(tn::float64);
      Tensor weight = layer.tensor("weight");
      weight.detach().copy_(Tensor::from(kTable, {4, 3}));
      const Tensor y = layer(words);
      expect_near(weight.detach(), kLimited[i], 1e-9);
      EXPECT_NEAR(y.sum().item<double>(), sums[i], 1e-9);
      (y * Tensor::from(slope, {2, 3, 3}, device)).sum().backward();
      expect_near(weight.grad(),
                  {0, 0, 0, 0.8173464379713173, 0.8107343023270397, 0.19057460991958372, 0, 0, 0,
                   -0.16782712838750133, -0.1696598112980085, -0.04309733144802273},
                  1e-12);
    }
    const Object bag =
        tn::nn::EmbeddingBag(4, 3, {.max_norm = 1.5, .mode = "sum"}).to(device).to(tn::float64);
    bag.tensor("weight").detach().copy_(Tensor::from(kTable, {4, 3}));
    expect_near(bag(words).detach(),
                {-1.7699248597093042, 1.1071283809261845, 1.484630066987992, 0.025118751111009585,
                 -1.9365117030892032, 0.47389899105278377},
                1e-9);
    expect_near(bag.tensor("weight").detach(), kLimited[0], 1e-9);
  }
  expect_error([] { Embedding(4, 3, {.max_norm = -1}); }, "max_norm is -1, expected 0 or more");
  expect_error([] { Embedding(4, 3, {.norm_type = 0}); }, "norm_type is 0, expected above 0");
  expect_error([] { Embedding(4, 3, {.scale_grad_by_freq = true, .sparse = true}); },
               "scale_grad_by_freq is of gradients that are not sparse, and sparse is set");
}

// Values of PyTorch 2.15.
TEST(AttentionLayers, BagsScaleGradientsByFrequency) {
  struct Row {
    tn::nn::EmbeddingBagOptions options;
    bool is_weighted;
    std::vector<double> of_1, of_2, of_3;  // the gradients of the rows that index has
  };
  const Row rows[] = {
      {{.mode = "sum"}, false, {5, 6, 7}, {5.5, 6.5, 7.5}, {7, 8, 9}},
      {{.mode = "mean"}, false, {31 / 18., 38 / 18., 2.5}, {5.25, 6, 6.75}, {7 / 3., 8 / 3., 3}},
      {{.mode = "sum", .padding_idx = 1}, false, {0, 0, 0}, {5.5, 6.5, 7.5}, {7, 8, 9}},
      {{.mode = "mean", .padding_idx = 1}, false, {0, 0, 0}, {5.5, 6.5, 7.5}, {7, 8, 9}},
      {{.mode = "sum"}, true, {50 / 3., 58 / 3., 22}, {31, 35, 39}, {35, 40, 45}},
  };
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const Tensor index = Tensor::from(std::vector<int64_t>{1, 2, 1, 1, 3, 2}, {6}, device),
                 offsets = Tensor::from(std::vector<int64_t>{0, 2, 2, 5}, {4}, device),
                 weights = tn::arange(1, 7, 1, tn::float64).to(device),
                 slope = tn::arange(1, 13, 1, tn::float64).view({4, 3}).to(device);
    for (Row row : rows) {
      row.options.scale_grad_by_freq = true;
      const Object layer = tn::nn::EmbeddingBag(4, 3, row.options).to(device).to(tn::float64);
      const Tensor y = row.is_weighted ? layer(index, offsets, weights) : layer(index, offsets);
      (y * slope).sum().backward();
      std::vector<double> expected = {0, 0, 0};
      for (const auto* own : {&row.of_1, &row.of_2, &row.of_3})
        expected.insert(expected.end(), own->begin(), own->end());
      expect_near(layer.tensor("weight").grad(), expected, 1e-12);
    }
  }
  expect_error(
      [] { tn::nn::EmbeddingBag(4, 3, {.scale_grad_by_freq = true, .mode = "max"}); },
      "scale_grad_by_freq is of sums and means whose gradients are not sparse, and mode is max");
  expect_error(
      [] {
        tn::embedding_bag(tn::zeros({4, 3}), tn::zeros({2, 2}, tn::int64),
                          {.sparse = true, .scale_grad_by_freq = true});
      },
      "embedding_bag: scale_grad_by_freq is of sums and means whose gradients are not sparse, and "
      "sparse is set");
}

// Rows may be limited, or the table changed, between forward and backward: its values are not read.
TEST(AttentionLayers, EmbeddingsKeepNoTable) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const Object layer = Embedding(5, 3, {.max_norm = 0.5, .scale_grad_by_freq = true}).to(device);
    const Tensor one = Tensor::from(std::vector<int64_t>{0, 1, 1}, {3}, device),
                 other = Tensor::from(std::vector<int64_t>{1, 2}, {2}, device);
    const Tensor y = layer(one).sum() + layer(other).sum();
    {
      const tn::NoGrad guard;
      layer.tensor("weight").mul_(0.5);
    }
    y.backward();
    expect_near(layer.tensor("weight").grad(), {1, 1, 1, 2, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0}, 1e-6);
  }
}

TEST(AttentionLayers, PositionalEmbeddingAddsItsFirstRows) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const Object layer = PositionalEmbedding(3, 2).to(device);
    layer.tensor("weight").detach().copy_(tn::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
    const Tensor y = layer(tn::full({2, 2, 2}, 10, {}, device));
    expect_near(y, {11, 12, 13, 14, 11, 12, 13, 14});
    y.sum().backward();
    expect_near(layer.tensor("weight").grad(), {2, 2, 2, 2, 0, 0});
    expect_error(
        [&] {
          layer(tn::zeros({1, 4, 2}, {}, device));
        },
        "PositionalEmbedding: x is [1, 4, 2], expected [.., n, 2] with at most 3 positions");
    expect_error([&] { layer(tn::zeros({2, 3}, {}, device)); }, "x is [2, 3], expected [.., n, 2]");
  }
}

TEST(AttentionLayers, Errors) {
  load_all();
  expect_error([] { MultiheadAttention(6, 4); },
               "embed_dim is 6, expected it divisible by num_heads, 4");
  expect_error([] { MultiheadAttention(6, 0); }, "num_heads is 0, expected at least 1");
  expect_error([] { MultiheadAttention(6, 2, {.dropout = 1.5}); },
               "dropout is 1.5, expected a probability, 0 to 1");
  expect_error([] { MultiheadAttention(6, 2, {.kdim = 0}); }, "kdim is 0, expected at least 1");
  expect_error(
      [] {
        TransformerEncoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0, .activation = "tanh"});
      },
      "activation is 'tanh', expected relu or gelu");
  expect_error([] { TransformerEncoderLayer(4, 2, {.dim_feedforward = 0}); },
               "dim_feedforward is 0, expected at least 1");
  expect_error([] { Embedding(-1, 2); }, "num_embeddings is -1, expected 0 or more");
  expect_error([] { Embedding(3, 2, {.padding_idx = 3}); },
               "padding_idx is 3, expected one of the 3 embeddings");
  expect_error([] { PositionalEmbedding(2, 0); }, "embedding_dim is 0, expected at least 1");
  const Object layer = batch_first(), by_time = MultiheadAttention(4, 2);
  const Tensor x = tn::zeros({2, 3, 4});
  const auto attend = [&](const Tensor& padding, const Tensor& mask) {
    layer(x, x, x, padding, mask);
  };
  expect_error(
      [&] {
        layer(tn::zeros({2, 3, 5}), x, x);
      },
      "query is [2, 3, 5], expected [n, t, 4]");
  expect_error([&] { by_time(x, tn::zeros({3, 4}), x); }, "key is [3, 4], expected [t, n, 4]");
  expect_error(
      [&] {
        by_time(tn::zeros({3, 4}), tn::zeros({3, 4}), x);
      },
      "value is [2, 3, 4], expected [t, 4]");
  expect_error(
      [&] {
        attend({}, tn::zeros({3, 4}));
      },
      "attn_mask is [3, 4], expected [3, 3] or [4, 3, 3]");
  expect_error(
      [&] {
        attend(tn::zeros({3, 3}), {});
      },
      "key_padding_mask is [3, 3], expected [2, 3]");
}

}  // namespace
