// Every differentiable op of the pack has a row: the op as a lambda, samples in float64, what
// PyTorch gives at its ties. Each row is checked against differences to second order, at its ties
// against the stated values, and in every layout against the same values one behind the other. The
// families' own files test values, dtypes and errors.
#include <set>

#include <nlohmann/json.hpp>

#include "elementwise_values.h"
#include "torch_cases.h"

namespace {

// Where two branches meet: the gradients of the sum of the op's elements, and of the sum of these.
struct Tie {
  TensorList at;
  std::vector<std::vector<double>> first, second;
};

struct Row {
  std::string op;  // its name; several rows may have one
  OpUnderTest f;
  TensorList inputs;                       // away from ties
  std::vector<int64_t> batch = {0, 0, 0};  // per input the dimension that may have any size, or -1
  std::vector<Tie> ties = {};
  bool broadcasts = false;  // inputs may have different sizes along the batch
};

using One = Tensor (*)(const Tensor&);
using Two = Tensor (*)(tn::Operand, tn::Operand);
using TwoInPlace = Tensor (*)(const Tensor&, tn::Operand);

class Rows {
 public:
  explicit Rows(tn::Device device) : d(device) {}

  Tensor at(std::vector<double> values) const {
    auto n = int64_t(values.size());
    return float64_tensor(values, {n}, d);
  }
  // Ties of an op of one argument, side by side.
  Tie tie(std::vector<double> values, std::vector<double> first, std::vector<double> second) const {
    return {{at(values)}, {first}, {second}};
  }
  Tie tie2(double x, double y, std::vector<double> first, std::vector<double> second) const {
    return {{at({x}), at({y})}, {{first[0]}, {first[1]}}, {{second[0]}, {second[1]}}};
  }

  void add(Row row) { list.push_back(std::move(row)); }
  // An op and its in-place spelling, which has the gradient of the op.
  void pair(const std::string& name, OpUnderTest f, OpUnderTest in_place, TensorList inputs,
            std::vector<Tie> ties = {}) {
    add({name, std::move(f), inputs, {0, 0, 0}, ties, inputs.size() > 1});
    OpUnderTest writes = [in_place](const TensorList& in) {
      TensorList moved = in;
      moved[0] = stepped_layout(in[0]);  // neither a leaf nor one element behind the other
      return in_place(moved);
    };
    add({name + "_", std::move(writes), inputs, {0, 0, 0}, ties});
  }
  void unary(const std::string& name, One f, One in_place, const Tensor& x,
             std::vector<Tie> ties = {}) {
    pair(
        name, [f](const TensorList& in) { return f(in[0]); },
        [in_place](const TensorList& in) { return in_place(in[0]); }, {x}, std::move(ties));
  }
  void binary(const std::string& name, Two f, TwoInPlace in_place, const Tensor& x, const Tensor& y,
              std::vector<Tie> ties = {}) {
    pair(
        name, [f](const TensorList& in) { return f(in[0], in[1]); },
        [in_place](const TensorList& in) { return in_place(in[0], in[1]); }, {x, y},
        std::move(ties));
  }

  const tn::Device d;
  std::vector<Row> list;
};

void elementwise(Rows& r) {
  const tn::Device d = r.d;
  Tensor x = sample({2, 3}, d), y = sample({2, 3}, d, 0.4), column = sample({2, 1}, d, 0.8);
  Tensor positive = float64_tensor({0.3, 1.2, 2.5, 0.9, 4.0, 0.05}, {2, 3}, d);
  r.binary("add", tn::add, tn::add_, x, column);
  r.binary("sub", tn::sub, tn::sub_, x, y);
  r.binary("mul", tn::mul, tn::mul_, x, column);
  // Without a gradient for y, nothing of x is needed.
  r.add({"mul_",
         [y](const TensorList& in) { return tn::mul_(stepped_layout(in[0]), y); },
         {x},
         {-1}});
  r.binary("div", tn::div, tn::div_, x, positive);
  r.binary("pow", tn::pow, tn::pow_, positive, y);
  for (int n : {0, 1, 2}) {
    const double first[] = {0, 1, 0}, second[] = {0, 0, 2};
    r.pair(
        "pow", [n](const TensorList& in) { return tn::pow(in[0], n); },
        [n](const TensorList& in) { return tn::pow_(in[0], n); }, {x},
        {r.tie({0, 0}, {first[n], first[n]}, {second[n], second[n]})});
  }
  // torch.maximum: half to each where they are equal.
  const std::vector<Tie> equal = {r.tie2(1, 1, {0.5, 0.5}, {0, 0})};
  r.binary("maximum", tn::maximum, tn::maximum_, x, y, equal);
  r.binary("minimum", tn::minimum, tn::minimum_, x, y, equal);

  r.binary("floor_divide", tn::floor_divide, tn::floor_divide_, x, positive);  // zeros

  r.unary("neg", tn::neg, tn::neg_, x);
  r.unary("abs", tn::abs, tn::abs_, x, {r.tie({0, -0.0}, {0, 0}, {0, 0})});
  r.unary("exp", tn::exp, tn::exp_, x);
  r.unary("log", tn::log, tn::log_, positive);
  r.unary("sqrt", tn::sqrt, tn::sqrt_, positive);
  r.unary("rsqrt", tn::rsqrt, tn::rsqrt_, positive);
  r.unary("square", tn::square, tn::square_, x, {r.tie({0}, {0}, {2})});
  r.unary("tanh", tn::tanh, tn::tanh_, x);
  r.unary("sigmoid", tn::sigmoid, tn::sigmoid_, x);
  r.unary("relu", tn::relu, tn::relu_, x, {r.tie({0, -0.0}, {0, 0}, {0, 0})});
  r.pair(
      "gelu", [](const TensorList& in) { return tn::gelu(in[0]); },
      [](const TensorList& in) { return tn::gelu_(in[0]); }, {x});
  r.pair(
      "leaky_relu", [](const TensorList& in) { return tn::leaky_relu(in[0], 0.2); },
      [](const TensorList& in) { return tn::leaky_relu_(in[0], 0.2); }, {x},
      {r.tie({0}, {0.2}, {0})});
  // beta sigmoid(beta x) (1 - sigmoid(beta x)): smooth, though its formula has kinks at 0.
  r.add({"softplus",
         [](const TensorList& in) { return tn::softplus(in[0], 1.5); },
         {x},
         {0},
         {r.tie({0}, {0.5}, {0.375})}});
  r.pair(
      "clamp", [](const TensorList& in) { return tn::clamp(in[0], -0.5, 0.4); },
      [](const TensorList& in) { return tn::clamp_(in[0], -0.5, 0.4); }, {x},
      {r.tie({-0.5, 0.4}, {0, 0}, {0, 0})});
  // PyTorch gives no second derivative of these, or one that is less exact.
  r.add(
      {"mvlgamma", [](const TensorList& in) { return tn::mvlgamma(in[0], 3); }, {positive + 1.2}});
  r.add({"spherical_bessel_j0",
         [](const TensorList& in) { return tn::spherical_bessel_j0(in[0]); },
         {x}});
  r.add({"spherical_bessel_j0",
         [](const TensorList& in) { return tn::spherical_bessel_j0(in[0] * 3.0); },
         {positive}});
  r.add({"bessel_j0", [](const TensorList& in) { return tn::bessel_j0(in[0] * 9.0); }, {x}});
  r.add({"bessel_j1", [](const TensorList& in) { return tn::bessel_j1(in[0] * 9.0); }, {x}});
  r.add({"bessel_y0",
         [](const TensorList& in) { return tn::bessel_y0(in[0] * 9.0); },
         {positive + 0.5}});
  r.add({"bessel_y1",
         [](const TensorList& in) { return tn::bessel_y1(in[0] * 9.0); },
         {positive + 0.5}});
  const auto k0 = [](const TensorList& in) { return tn::modified_bessel_k0(in[0]); };
  const auto k1 = [](const TensorList& in) { return tn::modified_bessel_k1(in[0]); };
  const auto scaled_k0 = [](const TensorList& in) { return tn::scaled_modified_bessel_k0(in[0]); };
  const auto scaled_k1 = [](const TensorList& in) { return tn::scaled_modified_bessel_k1(in[0]); };
  r.add({"modified_bessel_k0", k0, {positive + 0.5}});
  r.add({"modified_bessel_k1", k1, {positive + 0.5}});
  r.add({"scaled_modified_bessel_k0", scaled_k0, {positive + 0.5}});
  r.add({"scaled_modified_bessel_k1", scaled_k1, {positive + 0.5}});
  r.add({"vander",
         [](const TensorList& in) { return tn::vander(in[0], 4); },
         {r.at({0.4, -1.3, 2})}});
  r.add({"where",
         [](const TensorList& in) { return tn::where(in[0] > 0.1, in[0] * in[0], in[1]); },
         {x, y},
         {0, 0},
         {r.tie2(0.1, 0.7, {0, 1}, {0, 0})},
         true});
}

void reduce(Rows& r) {
  Tensor x = sample({2, 3, 2}, r.d);
  r.add({"sum", [](const TensorList& in) { return tn::square(in[0].sum({0, 2})); }, {x}, {1}});
  r.add({"sum", [](const TensorList& in) { return in[0].sum(1, true) * in[0]; }, {x}});
  r.add({"mean", [](const TensorList& in) { return tn::square(in[0].mean({-1})); }, {x}});
  r.add({"mean", [](const TensorList& in) { return tn::square(in[0]).mean(); }, {x}, {-1}});
  // torch.amax shares the gradient evenly.
  r.add({"amax",
         [](const TensorList& in) { return tn::square(in[0]).amax(-1); },
         {x},
         {0},
         {{{float64_tensor({3, 1, -3, 2, 2, 2}, {2, 3}, r.d)},
           {{3, 0, -3, 4.0 / 3, 4.0 / 3, 4.0 / 3}},
           {{1, 0, 1, 2.0 / 3, 2.0 / 3, 2.0 / 3}}}}});
}

void matmul(Rows& r) {
  const tn::Device d = r.d;
  auto product = [](const TensorList& in) { return tn::matmul(in[0], in[1]); };
  r.add({"matmul", product, {sample({2, 3}, d), sample({3, 2}, d, 1)}, {0, -1}});
  r.add({"matmul", product, {sample({3}, d), sample({3}, d, 1)}});
  r.add({"matmul", product, {sample({2, 3}, d), sample({3}, d, 1)}, {0, -1}});
  r.add({"matmul", product, {sample({2, 2, 3}, d), sample({3, 2}, d, 1)}, {0, -1}});
  r.add({"matmul", product, {sample({2, 1, 2}, d), sample({1, 2, 2}, d, 1)}, {0, -1}});
  TensorList layer = {sample({2, 3}, d), sample({4, 3}, d, 1), sample({4}, d, 2)};
  r.add({"linear",
         [](const TensorList& in) { return tn::linear(in[0], in[1], in[2]); },
         layer,
         {0, -1, -1}});
  // 1 * 2 - 2 * 1 + 0 is 0, where relu has no gradient.
  Tie kink = {{float64_tensor({1, 2}, {1, 2}, d), float64_tensor({2, -1}, {1, 2}, d), r.at({0})},
              {{0, 0}, {0, 0}, {0}},
              {{0, 0}, {0, 0}, {0}}};
  r.add({"linear_relu",
         [](const TensorList& in) { return tn::linear_relu(in[0], in[1], in[2]); },
         layer,
         {0, -1, -1},
         {kink}});
  kink.at.pop_back(), kink.first.pop_back(), kink.second.pop_back();
  layer.pop_back();
  r.add({"linear_relu",
         [](const TensorList& in) { return tn::linear_relu(in[0], in[1]); },
         layer,
         {0, -1},
         {kink}});
}

void shape(Rows& r) {
  Tensor x = sample({2, 3, 2}, r.d);
  auto add = [&](const char* name, OpUnderTest f, std::vector<int64_t> batch = {-1}) {
    r.add({name, [f](const TensorList& in) { return tn::square(f(in)); }, {x}, std::move(batch)});
  };
  add("reshape", [](const TensorList& in) { return in[0].reshape({3, in[0].numel() / 3}); }, {0});
  // Of what lies one behind the other, as `view` wants it.
  add("view",
      [](const TensorList& in) {
        return in[0].contiguous().view({in[0].numel() / 2, 2});
      },
      {0});
  add("permute", [](const TensorList& in) { return in[0].permute({2, 0, 1}); }, {0});
  add("transpose", [](const TensorList& in) { return in[0].transpose(0, 2); }, {0});
  add("t", [](const TensorList& in) { return in[0].flatten(1).t(); }, {0});
  add("slice", [](const TensorList& in) { return in[0].slice(1, 0, 3, 2); }, {0});
  add("select", [](const TensorList& in) { return in[0].select(1, 2); }, {0});
  add("narrow", [](const TensorList& in) { return in[0].narrow(1, 1, 2); }, {0});
  add("expand",
      [](const TensorList& in) {
        return in[0].unsqueeze(0).expand({3, -1, -1, -1});
      },
      {0});
  add("flatten", [](const TensorList& in) { return in[0].flatten(1); }, {0});
  add("squeeze", [](const TensorList& in) { return in[0].narrow(1, 1, 1).squeeze(1); }, {0});
  add("unsqueeze", [](const TensorList& in) { return in[0].unsqueeze(1); }, {0});
  add("as_strided", [](const TensorList& in) {
    return tn::as_strided(in[0].clone(), {2, 2}, {3, 1}, 2);
  });
  add("clone", [](const TensorList& in) { return in[0].clone(); }, {0});
  add("cat", [](const TensorList& in) { return tn::cat({in[0], in[0] * in[0]}, 1); }, {0});
  r.add({"cat",
         [](const TensorList& in) {
           return tn::square(tn::cat({in[0], in[1], in[0]}));
         },
         {sample({2, 2}, r.d, 1), sample({1, 2}, r.d)}});
}

void index(Rows& r) {
  auto indices = [&](std::vector<int64_t> values, std::vector<int64_t> sizes) {
    return Tensor::from(values, sizes, r.d);
  };
  Tensor x = sample({3, 2}, r.d), twice = indices({1, 0, 1, 1}, {2, 2}),
         once = indices({2, 0}, {1, 2}), columns = indices({1, 0, 0, 1, 1, 1}, {3, 2});
  r.add({"gather",
         [](const TensorList& in) { return tn::square(tn::gather(in[0], 0, in[1])); },
         {x, twice},
         {-1, 0}});
  r.add({"gather",
         [](const TensorList& in) { return tn::square(tn::gather(in[0], 1, in[1])); },
         {x, columns},
         {0, 0}});
  r.add({"scatter",
         [](const TensorList& in) { return tn::square(tn::scatter(in[0], 0, in[1], in[2], true)); },
         {x, twice, sample({2, 2}, r.d, 1)},
         {-1, 0, 0}});
  r.add({"scatter",
         [](const TensorList& in) { return tn::square(tn::scatter(in[0], 0, in[1], in[2])); },
         {x, once, sample({1, 2}, r.d, 1)},
         {-1, 0, 0}});
  r.add({"embedding",
         [](const TensorList& in) { return tn::square(tn::embedding(in[0], in[1])); },
         {x, twice},
         {-1, 0}});
}

void norm_and_loss(Rows& r) {
  const tn::Device d = r.d;
  Tensor x = sample({2, 3}, d), target = Tensor::from(std::vector<int64_t>{2, 0}, {2}, d);
  r.add({"softmax", [](const TensorList& in) { return tn::softmax(in[0], 1); }, {x}});
  r.add({"softmax", [](const TensorList& in) { return tn::softmax(in[0], 0); }, {x}, {1}});
  r.add({"log_softmax", [](const TensorList& in) { return tn::log_softmax(in[0], -1); }, {x}});
  r.add({"rms_norm",
         [](const TensorList& in) { return tn::rms_norm(in[0], in[1]); },
         {x, sample({3}, d, 2)},
         {0, -1}});
  r.add({"rms_norm", [](const TensorList& in) { return tn::rms_norm(in[0]); }, {x}});
  r.add({"soft_margin_loss",
         [](const TensorList& in) { return tn::soft_margin_loss(in[0], in[1], "none"); },
         {x, tn::sign(x)},
         {0, 0}});
  r.add({"nll_loss",
         [](const TensorList& in) { return tn::square(tn::nll_loss(in[0], in[1])); },
         {x, target}});
  r.add({"cross_entropy",
         [](const TensorList& in) { return tn::square(tn::cross_entropy(in[0], in[1])); },
         {x, target}});
  // One mask, by one seed.
  r.add({"dropout",
         [](const TensorList& in) {
           tn::manual_seed(11);
           return tn::square(tn::dropout(in[0], 0.4));
         },
         {x}});
}

std::vector<Row> rows(tn::Device d) {
  Rows r(d);
  elementwise(r);
  reduce(r);
  matmul(r);
  shape(r);
  index(r);
  norm_and_loss(r);
  return std::move(r.list);
}

void for_each_row(const std::function<void(const Row&)>& check) {
  for (tn::Device d : devices()) {
    for (const Row& row : rows(d)) {
      SCOPED_TRACE(row.op + " on " + d.name());
      EXPECT_NO_THROW(check(row));
    }
  }
}

TEST(OpRows, EveryDifferentiableOpHasOne) {
  load_all();
  std::set<std::string> names;
  for (const Row& row : rows(tn::cpu)) names.insert("ops." + row.op);
  // Elementwise ops whose values and gradients of both orders elementwise_test.cpp checks, and
  // which it compares with their in-place spellings.
  const auto also = [&](const std::string& name) {
    names.insert("ops." + name);
    names.insert("ops." + name + "_");
  };
  for (const auto& row : pytorch::unary()) also(row.name);
  for (const auto& row : pytorch::binary()) also(row.name);
  // Those whose family's file has a table of its own, with values and gradients of both orders.
  const char* const tables[] = {
      // reduce
      "prod", "amin", "max", "min", "var", "std", "var_mean", "norm", "logsumexp", "cumsum",
      "cumprod", "sort", "topk",
      // matmul
      "mm", "bmm", "mv", "dot", "outer", "addmm", "baddbmm", "einsum", "movedim", "unflatten",
      "unfold", "diagonal", "broadcast_to", "contiguous", "split", "split_with_sizes", "chunk",
      // shape
      "meshgrid", "stack", "flip", "roll", "repeat", "triu", "tril", "pad",
      // index
      "scatter_add", "index_add", "index_select", "index", "index_put", "index_put_",
      "masked_select", "embedding_bag",
      // conv
      "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
      "im2col", "fold", "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d",
      "avg_pool3d", "adaptive_max_pool1d",
      // pool
      "adaptive_max_pool2d", "adaptive_max_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
      "adaptive_avg_pool3d",
      // options
      "max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices",
      // resize
      "interpolate", "pixel_shuffle", "pixel_unshuffle",
      // norm
      "batch_norm", "layer_norm", "group_norm", "instance_norm", "mse_loss", "l1_loss",
      "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
      // loss
      "kl_div",
      // attention
      "scaled_dot_product_attention", "rotary_embedding",
      // recurrent
      "lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell",
      "rnn_relu_cell",
      // distance_test
      "cdist", "pdist", "multi_margin_loss", "multilabel_margin_loss", "grid_sample",
      "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
      "fractional_max_pool3d_with_indices",
      // torch_calls_test
      "segment_reduce", "as_strided_scatter",
      // special_test
      "heaviside", "heaviside_",
      // random
      "uniform_", "normal_", "bernoulli_", "fill_", "exponential_", "geometric_", "cauchy_",
      "log_normal_",
      // dropout_test
      "native_dropout", "feature_dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout",
      "feature_alpha_dropout", "rrelu", "gumbel_softmax"};
  for (const char* name : tables) names.insert(std::string("ops.") + name);
  // Those whose gradients of both orders torch_values_test compares with PyTorch's; op_sweep_test
  // compares their in-place spellings with them.
  for (const auto& c : torch_cases::all_cases()) {
    if (c.contains("grad2")) also(c.at("op").get<std::string>());
  }
  size_t found = 0;
  for (const auto& op : nlohmann::json::parse(tn::ops_json())) {
    const std::string name = op["name"], schema = op["schema"];
    const bool takes_tensors = schema.substr(0, schema.rfind("->")).find("Tensor") != schema.npos;
    const bool part = name.starts_with("ops._");  // of an op, which has the row
    if (op["plugin"] != "ops" || op["gradient"] == "none" || !takes_tensors || part) continue;
    ++found;
    EXPECT_TRUE(names.count(name)) << schema << " is differentiable and has no row";
  }
  EXPECT_GT(found, 60u);
}

TEST(OpRows, GradientsOfFirstAndSecondOrder) {
  for_each_row([](const Row& row) { gradcheck(row.f, row.inputs); });
}

TEST(OpRows, GradientsAtTiesArePyTorchs) {
  for_each_row([](const Row& row) {
    for (const Tie& tie : row.ties) {
      TensorList x = leaves(tie.at);
      TensorList first = tn::grad({row.f(x).sum()}, x, {.create_graph = true});
      // So that it depends on each x where no gradient does.
      Tensor total = tn::zeros({}, tn::float64, x[0].device());
      for (size_t i = 0; i < x.size(); ++i) {
        SCOPED_TRACE("first order, input " + std::to_string(i));
        expect_near(first[i], tie.first[i], 1e-15);
        total = total + first[i].sum() + x[i].sum() * 0.0;
      }
      TensorList second = tn::grad({total}, x);
      for (size_t i = 0; i < x.size(); ++i) {
        SCOPED_TRACE("second order, input " + std::to_string(i));
        expect_near(second[i], tie.second[i], 1e-15);
      }
    }
  });
}

// Values and gradients.
TensorList results_of(const Row& row, const TensorList& inputs) {
  TensorList x;
  for (const Tensor& t : inputs) {
    x.push_back(t.detach());
    if (t.dtype().is_float()) x.back().requires_grad_();
  }
  TensorList results = {row.f(x)};
  TensorList gradients = tn::grad({weigh(results[0])}, floats_of(x), {.allow_unused = true});
  results.insert(results.end(), gradients.begin(), gradients.end());
  return results;
}

// What a layout may change is the order of sums: a few units in the last place.
void expect_same(const TensorList& a, const TensorList& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(i == 0 ? "value" : "gradient " + std::to_string(i));
    ASSERT_EQ(a[i].defined(), b[i].defined());
    if (!a[i].defined()) continue;
    expect_sizes(a[i], {b[i].sizes().begin(), b[i].sizes().end()});
    expect_near(a[i], b[i].to_vector<double>(), 1e-14);
  }
}

TensorList each(const TensorList& inputs, Tensor (*f)(const Tensor&)) {
  TensorList list;
  for (const Tensor& t : inputs) list.push_back(f(t));
  return list;
}
TensorList expanded(const TensorList& inputs, const TensorList& like) {
  TensorList list;
  for (size_t i = 0; i < inputs.size(); ++i) list.push_back(inputs[i].expand(like[i].sizes()));
  return list;
}

TEST(OpRows, LayoutsChangeNothing) {
  for_each_row([](const Row& row) {
    auto check = [&](const char* name, const TensorList& inputs) {
      SCOPED_TRACE(name);
      expect_same(results_of(row, inputs), results_of(row, each(inputs, tn::clone)));
    };
    for (const Layout& layout : layouts()) {
      check(layout.name, each(row.inputs, layout.of));
      SCOPED_TRACE("size one");
      check(layout.name, each(narrowed(row.inputs, row.batch, 1), layout.of));
      SCOPED_TRACE("size zero");
      check(layout.name, each(narrowed(row.inputs, row.batch, 0), layout.of));
    }
    // In the memory of one element along the batch. The gradient is that of what was expanded: an
    // expanded tensor's own may be shared out among its repetitions in any way.
    SCOPED_TRACE("expanded");
    Row as_is = row, copied = row;
    as_is.f = [&row](const TensorList& in) { return row.f(expanded(in, row.inputs)); };
    copied.f = [&row](const TensorList& in) {
      return row.f(each(expanded(in, row.inputs), tn::clone));
    };
    const TensorList one = narrowed(row.inputs, row.batch, 1);
    expect_same(results_of(as_is, one), results_of(copied, one));
    for (size_t i = 0; row.broadcasts && i < row.inputs.size(); ++i) {
      SCOPED_TRACE("broadcast input " + std::to_string(i));
      TensorList small = row.inputs, full = row.inputs;
      small[i] = small[i].narrow(0, 0, 1);
      full[i] = small[i].expand(row.inputs[i].sizes()).clone();
      Tensor a = row.f(small), b = row.f(full);
      expect_sizes(a, {b.sizes().begin(), b.sizes().end()});
      expect_near(a, b.to_vector<double>(), 0);
    }
  });
}

TEST(OpRows, DevicesAgree) {
  std::vector<tn::Device> all = devices();
  if (all.size() < 2) GTEST_SKIP() << "one device only";
  std::vector<Row> on_cpu = rows(all[0]), on_ref = rows(all[1]);
  for (size_t i = 0; i < on_cpu.size(); ++i) {
    for (int64_t size : {int64_t(0), int64_t(1), INT64_MAX}) {
      SCOPED_TRACE(on_cpu[i].op + ", size " + std::to_string(size));
      TensorList a = results_of(on_cpu[i], narrowed(on_cpu[i].inputs, on_cpu[i].batch, size));
      TensorList b = results_of(on_ref[i], narrowed(on_ref[i].inputs, on_ref[i].batch, size));
      expect_same(a, b);
    }
  }
}

}  // namespace
