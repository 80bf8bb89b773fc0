// Recurrent layers, their cells and packed sequences: values and gradients beside PyTorch's, names,
// and what is refused.
#include "lstm_model.h"
#include "message_of.h"
#include "parity_support.h"

namespace {

using parity::json;
using tn::Object;
using tn::nn::GRU, tn::nn::GRUCell, tn::nn::LSTM, tn::nn::LSTMCell, tn::nn::LSTMLayer, tn::nn::RNN,
    tn::nn::RNNCell, tn::nn::RNNLayer;
namespace utils = tn::nn::utils;

json data() {
  std::ifstream file(std::string(std::getenv("TENON_SOURCE_DIR")) +
                     "/tests/data/torch_recurrent.json");
  return json::parse(file);
}

Object made(const json& c) {
  std::vector<std::string> names, texts;
  std::vector<tn_value> values;
  texts.reserve(c.at("options").size());
  for (const auto& [name, value] : c.at("options").items()) {
    names.push_back(name);
    if (value.is_boolean()) {
      values.push_back(tn::detail::to_value(value.get<bool>()));
    } else if (value.is_string()) {
      texts.push_back(value);
      values.push_back(tn::detail::to_value(texts.back().c_str()));
    } else {
      values.push_back(tn::detail::to_value(value.get<int64_t>()));
    }
  }
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return Object::create_named(c.at("layer").get<std::string>().c_str(), pointers, values);
}

void expect_values(const Tensor& t, const json& expected, double tolerance,
                   const std::string& what) {
  ASSERT_TRUE(t.defined()) << what;
  expect_sizes(t, expected.at("s"));
  const std::vector<double> values = t.to_vector<double>(), wanted = expected.at("v");
  ASSERT_EQ(values.size(), wanted.size()) << what;
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], wanted[i], tolerance * std::max(1.0, std::fabs(wanted[i])))
        << what << " at " << i;
}

Tensor weight_like(const Tensor& t) {
  std::vector<double> values;
  for (int64_t k = 0; k < t.numel(); ++k) values.push_back(double(k * 7 % 11) / 11 + 0.1);
  return Tensor::from(values, t.sizes()).to(t.device(), t.dtype());
}

// The outputs of a case's call; of a packed one, padded again.
TensorList called(const Object& layer, const json& c, const std::vector<Tensor>& leaves) {
  const std::string name = c.at("layer");
  const auto leaf = [&](size_t i) { return i < leaves.size() ? leaves[i] : Tensor(); };
  if (name == "GRUCell" || name == "RNNCell") return {layer(leaf(0), leaf(1))};
  if (name == "LSTMCell") {
    auto [h, next] = tn::nn::LSTMCellLayer(layer)(leaf(0), leaf(1), leaf(2));
    return {h, next};
  }
  if (!c.contains("lengths")) {
    if (name == "LSTM") {
      auto [y, h, cell] = LSTMLayer(layer)(leaf(0), leaf(1), leaf(2));
      return {y, h, cell};
    }
    auto [y, h] = RNNLayer(layer)(leaf(0), leaf(1));
    return {y, h};
  }
  const bool batch_first = c.at("options").value("batch_first", false);
  const std::vector<int64_t> lengths = c.at("lengths");
  const auto packed =
      utils::pack_padded_sequence(leaf(0), lengths, batch_first, c.at("enforce_sorted"));
  TensorList last;
  utils::PackedSequence output;
  if (name == "LSTM") {
    auto [y, h, cell] = LSTMLayer(layer)(packed, leaf(1), leaf(2));
    output = y;
    last = {h, cell};
  } else {
    auto [y, h] = RNNLayer(layer)(packed, leaf(1));
    output = y;
    last = {h};
  }
  auto [padded, its_lengths] = utils::pad_packed_sequence(output, batch_first);
  EXPECT_EQ(its_lengths.to_vector<int64_t>(), lengths);
  last.insert(last.begin(), padded);
  return last;
}

void check_case(const json& c, tn::Device device, tn::Dtype dtype) {
  const double tolerance = dtype == tn::float64 ? 1e-11 : 2e-5;
  const Object layer = made(c).to(device, dtype);
  parity::fill(layer, c);
  std::vector<Tensor> leaves;
  const std::vector<int64_t> sizes = c.at("sizes");
  leaves.push_back(parity::uniform(sizes, 500).to(device, dtype).requires_grad_());
  uint32_t key = 501;
  for (const char* name : {"h_0", "c_0"}) {
    if (!c.at("gradients").contains(name)) continue;
    const std::vector<int64_t> of_state = c.at("gradients").at(name).at("s");
    leaves.push_back(parity::uniform(of_state, key++).to(device, dtype).requires_grad_());
  }
  const TensorList outputs = called(layer, c, leaves);
  ASSERT_EQ(outputs.size(), c.at("outputs").size());
  Tensor loss;
  for (size_t i = 0; i < outputs.size(); ++i) {
    expect_values(outputs[i], c.at("outputs")[i], tolerance, "output " + std::to_string(i));
    const Tensor part = (outputs[i] * weight_like(outputs[i])).sum();
    loss = loss.defined() ? loss + part : part;
  }
  loss.backward();
  const char* const names[] = {"input", "h_0", "c_0"};
  for (size_t i = 0; i < leaves.size(); ++i)
    expect_values(leaves[i].grad(), c.at("gradients").at(names[i]), tolerance, names[i]);
  for (const auto& [name, p] : layer.named_parameters())
    expect_values(p.grad(), c.at("gradients").at(name), tolerance, name);
}

TEST(RecurrentLayers, ValuesAndGradientsArePyTorchs) {
  const json all = data().at("layers");
  for (const tn::Device device : devices()) {
    for (const tn::Dtype dtype : {tn::float64, tn::float32}) {
      for (const json& c : all) {
        SCOPED_TRACE(device.name() + " " + dtype.name() + " " + c.at("layer").get<std::string>() +
                     c.at("options").dump() + c.at("sizes").dump());
        check_case(c, device, dtype);
      }
    }
  }
}

TEST(RecurrentLayers, AClassifierOfAllLengthsHasPyTorchsLosses) {
  parity::Network n;
  n.expected = data().at("classifier");
  const auto option = [&](const char* name) { return n.expected.at(name).get<int64_t>(); };
  const int64_t batch = option("batch"), steps = option("steps"), vocabulary = option("vocabulary"),
                classes = option("classes");
  n.make = [&]() -> Object {
    return tn::make<lstm_model::Classifier>(vocabulary, option("width"), option("hidden"), classes);
  };
  n.inputs = [=](uint32_t key) {
    Tensor ids = 1 + parity::classes({batch, steps}, key, uint32_t(vocabulary - 1));
    int64_t* values = ids.mutable_data<int64_t>();
    for (int64_t i = 0; i < batch * steps; ++i) {
      if (i % steps >= steps - 3 * (i / steps) % (steps - 1)) values[i] = 0;
    }
    return ids;
  };
  n.targets = [=](uint32_t key) { return parity::classes(batch, key, uint32_t(classes)); };
  n.optimizer = [](const TensorList& parameters) {
    return tn::optim::Adam(parameters, {.lr = 1e-2});
  };
  for (const tn::Device device : devices()) {
    parity::check(n, device, tn::float64, 20);
    parity::check(n, device, tn::float32, 1);
  }
}

TEST(RecurrentLayers, StartWithinOneOverTheRootOfHidden) {
  load_all();
  for (const Object& layer :
       {LSTM(5, 16, {.num_layers = 2, .bidirectional = true, .proj_size = 3}), GRU(5, 16),
        RNN(5, 16), LSTMCell(5, 16), GRUCell(5, 16), RNNCell(5, 16)}) {
    for (const auto& [name, p] : layer.named_parameters()) {
      const double largest = tn::amax(tn::abs(p)).item<double>();
      EXPECT_LE(largest, 0.25) << name;
      EXPECT_GE(largest, p.numel() > 40 ? 0.2 : 0.0) << name;
    }
  }
}

TEST(RecurrentLayers, DropoutIsBetweenLayersInTraining) {
  load_all();
  const LSTMLayer lstm = LSTM(4, 8, {.num_layers = 2, .dropout = 1});
  const Tensor x = tn::randn({3, 2, 4});
  lstm.train();
  const Tensor trained = std::get<0>(lstm(x));
  // All that the second layer gets is 0: it is the same for every input.
  expect_near(trained.detach(), std::get<0>(lstm(x * 2)).detach().to_vector<double>());
  lstm.eval();
  EXPECT_GT(tn::amax(tn::abs(std::get<0>(lstm(x)) - trained)).item<double>(), 1e-3);
  // One layer has nothing behind it.
  const RNNLayer gru = GRU(4, 8, {.dropout = 1});
  EXPECT_GT(tn::amax(tn::abs(std::get<0>(gru(x)))).item<double>(), 1e-3);
}

TEST(RecurrentLayers, HalvesAndAutocast) {
  for (const tn::Device device : devices()) {
    const LSTMLayer lstm = LSTM(4, 8, {.num_layers = 2});
    lstm.to(device);
    const Tensor x = tn::randn({3, 2, 4}).to(device);
    const Tensor y = std::get<0>(lstm(x)).detach();
    {
      const tn::Autocast cast(device, tn::bfloat16);
      auto [z, h, c] = lstm(x);
      EXPECT_EQ(z.dtype(), tn::bfloat16);
      expect_near(z.detach().to(tn::float32), y.to_vector<double>(), 0.03);
      z.to(tn::float32).sum().backward();
      EXPECT_EQ(lstm.tensor("weight_ih_l0").grad().dtype(), tn::float32);
    }
    lstm.to(device, tn::bfloat16);
    expect_near(std::get<0>(lstm(x.to(tn::bfloat16))).detach().to(tn::float32),
                y.to_vector<double>(), 0.03);
  }
}

TEST(RecurrentLayers, CompiledStepsAreTheSame) {
  for (const tn::Device device : devices()) {
    const LSTMLayer lstm = LSTM(4, 8, {.bidirectional = true});
    lstm.to(device);
    const auto step = [&](Tensor x) {
      lstm.zero_grad();
      Tensor loss = std::get<0>(lstm(x)).square().sum();
      loss.backward();
      return loss.detach();
    };
    auto compiled = tn::compile(step);
    for (int i = 0; i < 3; ++i) {
      const Tensor x = tn::randn({5, 3, 4}).to(device);
      const double eager = step(x).item<double>();
      const std::vector<double> gradient = lstm.tensor("weight_hh_l0").grad().to_vector<double>();
      EXPECT_EQ(compiled(x).item<double>(), eager);
      EXPECT_EQ(lstm.tensor("weight_hh_l0").grad().to_vector<double>(), gradient);
    }
  }
}

TEST(RecurrentLayers, RefuseWhatDoesNotFit) {
  load_all();
  const auto message = [](auto f) { return message_of(f); };
  EXPECT_EQ(message([] { LSTM(0, 4); }),
            "LSTM could not be made\n  because input_size is 0, expected at least 1");
  EXPECT_EQ(message([] { GRU(4, 0); }),
            "GRU could not be made\n  because hidden_size is 0, expected at least 1");
  EXPECT_EQ(message([] { GRU(4, 4, {.num_layers = 0}); }),
            "GRU could not be made\n  because num_layers is 0, expected at least 1");
  EXPECT_EQ(message([] { GRU(4, 4, {.num_layers = 10001}); }),
            "GRU could not be made\n  because num_layers is 10001, expected at most 10000");
  EXPECT_EQ(message([] { RNN(4, 4, {.nonlinearity = "sin"}); }),
            "RNN could not be made\n  because nonlinearity is 'sin', expected tanh or relu");
  EXPECT_EQ(message([] { RNN(4, 4, {.dropout = 1.5}); }),
            "RNN could not be made\n  because dropout is 1.5, expected a probability, 0 to 1");
  EXPECT_EQ(message([] { LSTM(4, 4, {.proj_size = 4}); }),
            "LSTM could not be made\n  because proj_size is 4, expected 0 for none, or less than "
            "hidden_size, 4");
  EXPECT_EQ(message([] { LSTM(4, INT64_MAX / 2); }),
            "LSTM could not be made\n  because hidden_size is 4611686018427387903, of which 4 fit "
            "no tensor");
  const LSTMLayer lstm = LSTM(3, 2, {.batch_first = true});
  EXPECT_EQ(message([&] {
              lstm(tn::zeros({2, 5, 4}));
            }),
            "LSTM: input is [2, 5, 4], expected [n, t, 3], or [t, 3]");
  EXPECT_EQ(message([&] {
              lstm(tn::zeros({2, 5, 3}), tn::zeros({1, 3, 2}));
            }),
            "LSTM: h_0 is [1, 3, 2], expected [1, 2, 2]: layers times directions, "
            "sequences, width");
  EXPECT_EQ(message([&] {
              lstm(tn::zeros({5, 3}), {}, tn::zeros(2));
            }),
            "LSTM: c_0 is [2], expected [1, 2]: layers times directions, width");
  EXPECT_EQ(message([&] {
              lstm.invoke<std::tuple<Tensor, Tensor, Tensor>>("forward", tn::zeros({3, 4}),
                                                              tn::none, tn::none, tn::Ints{2, 1});
            }),
            "LSTM: input is [3, 4], expected [rows, 3] with batch_sizes");
  EXPECT_EQ(message([] {
              GRUCell(3, 2)(tn::zeros({1, 1, 3}));
            }),
            "GRUCell: input is [1, 1, 3], expected [n, input_size] or [input_size]");
}

// ---- The ops themselves ----

TEST(RecurrentOps, RefuseWhatDoesNotFit) {
  load_all();
  const auto refused = [](auto change) {
    Tensor input = tn::zeros({4, 2, 3});
    std::vector<Tensor> hx = {tn::zeros({1, 2, 5}), tn::zeros({1, 2, 5})};
    std::vector<Tensor> params = {tn::zeros({20, 3}), tn::zeros({20, 5}), tn::zeros(20),
                                  tn::zeros(20)};
    tn::LstmOptions options;
    change(input, hx, params, options);
    const std::string text = message_of([&] { tn::lstm(input, hx, params, options); });
    return text.substr(0, text.find(" (input is"));
  };
  using List = std::vector<Tensor>;
  using Options = tn::LstmOptions;
  EXPECT_EQ(refused([](Tensor&, List& hx, List&, Options&) { hx.pop_back(); }),
            "lstm: hx has 1 tensors, expected h and c");
  EXPECT_EQ(refused([](Tensor& x, List&, List&, Options&) { x = x[0]; }),
            "lstm: input is [2, 3], expected [t, n, features]");
  EXPECT_EQ(refused([](Tensor& x, List&, List&, Options&) {
              x = tn::zeros({0, 2, 3});
            }),
            "lstm: input is [0, 2, 3], expected [t, n, features] with a t of at least 1");
  EXPECT_EQ(refused([](Tensor&, List& hx, List&, Options&) {
              hx[1] = tn::zeros({1, 3, 5});
            }),
            "lstm: hx[1] is [1, 3, 5], expected [1, 2, width]: layers times directions, sequences");
  EXPECT_EQ(refused([](Tensor&, List&, List& params, Options&) { params.pop_back(); }),
            "lstm: params has 3 tensors, expected 4: 4 for each layer and direction");
  EXPECT_EQ(refused([](Tensor&, List&, List& params, Options&) { params[3] = tn::zeros(8); }),
            "lstm: params[3], b_hh, is [8], expected [20]");
  EXPECT_EQ(refused([](Tensor& x, List&, List&, Options&) { x = x.to(tn::float64); }),
            "lstm: input is float64, a state of hx is float32; expected one dtype");
  EXPECT_EQ(refused([](Tensor& x, List&, List&, Options&) { x = x.to(tn::int64); }),
            "lstm: input is int64, expected a floating dtype");
  EXPECT_EQ(refused([](Tensor&, List&, List&, Options& o) { o.num_layers = 0; }),
            "lstm: num_layers is 0, expected at least 1");
  EXPECT_EQ(refused([](Tensor&, List&, List&, Options& o) { o.dropout = -0.5; }),
            "lstm: dropout is -0.5, expected a probability, 0 to 1");
  EXPECT_EQ(refused([](Tensor& x, List&, List&, Options& o) {
              x = tn::zeros({3, 3});
              o.batch_sizes = {1, 2};
            }),
            "lstm: batch_sizes has 2 behind 1, expected sizes that do not grow");
  EXPECT_EQ(refused([](Tensor& x, List&, List&, Options& o) {
              x = tn::zeros({3, 3});
              o.batch_sizes = {2, 0};
            }),
            "lstm: batch_sizes has 0, expected at least 1");
  EXPECT_EQ(refused([](Tensor& x, List&, List&, Options& o) {
              x = tn::zeros({4, 3});
              o.batch_sizes = {2, 1};
            }),
            "lstm: input is [4, 3], expected [3, features], a row for each of batch_sizes");
  EXPECT_EQ(refused([](Tensor& x, List&, List&, Options& o) {
              x = tn::zeros({3, 3});
              o.batch_sizes = {2, 1};
              o.batch_first = true;
            }),
            "lstm: batch_sizes is given and batch_first is set; expected one of them, packed "
            "sequences have no dimension of the batch");
}

TEST(RecurrentOps, CellsRefuseWhatDoesNotFit) {
  load_all();
  const std::string text = message_of([] {
    tn::gru_cell(tn::zeros({2, 3}), tn::zeros({2, 4}), tn::zeros({12, 3}), tn::zeros({12, 4}),
                 tn::zeros(12), tn::zeros(11));
  });
  EXPECT_EQ(text.substr(0, text.find(" (input is")),
            "gru_cell: input is [2, 3], a state is [2, 4], w_ih is [12, 3], w_hh is [12, 4], b_ih "
            "is [12], b_hh is [11]; expected input [n, in], states [n, hidden], w_ih [3 hidden, "
            "in], w_hh [3 hidden, hidden], and both biases [3 hidden] or none");
}

// ---- Packed sequences ----

TEST(PackedSequences, PackAndPadAreInverse) {
  for (const tn::Device device : devices()) {
    const Tensor a = tn::arange(1, 7).to(device, tn::float32).reshape({3, 2});
    const Tensor b = tn::arange(7, 9).to(device, tn::float32).reshape({1, 2});
    const Tensor c = tn::arange(9, 13).to(device, tn::float32).reshape({2, 2});
    const Tensor padded = utils::pad_sequence({b, a, c}, true, -1);
    expect_sizes(padded, {3, 3, 2});
    expect_near(padded, {7, 8, -1, -1, -1, -1, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, -1, -1});
    const std::vector<double> at_the_left = {0, 0, 7, 8, 9, 10, 11, 12};
    expect_near(utils::pad_sequence({b, c}, true, 0, "left"), at_the_left);
    expect_near(utils::pad_sequence({b, c}, {.batch_first = true, .padding_side = "left"}),
                at_the_left);
    // PyTorch's: the longest first, a step behind the other.
    const auto p = utils::pack_padded_sequence(padded, {1, 3, 2},
                                               {.batch_first = true, .enforce_sorted = false});
    expect_near(p.data, {1, 2, 9, 10, 7, 8, 3, 4, 11, 12, 5, 6});
    EXPECT_EQ(p.batch_sizes.to_vector<int64_t>(), (std::vector<int64_t>{3, 2, 1}));
    EXPECT_EQ(p.sorted_indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 0}));
    EXPECT_EQ(p.unsorted_indices.to_vector<int64_t>(), (std::vector<int64_t>{2, 0, 1}));
    const auto same = utils::pack_sequence({b, a, c}, false);
    EXPECT_EQ(same.data.to_vector<double>(), p.data.to_vector<double>());
    EXPECT_EQ(same.batch_sizes.to_vector<int64_t>(), p.batch_sizes.to_vector<int64_t>());
    auto [again, lengths] = utils::pad_packed_sequence(p, true, -1);
    EXPECT_EQ(again.to_vector<double>(), padded.to_vector<double>());
    EXPECT_EQ(lengths.to_vector<int64_t>(), (std::vector<int64_t>{1, 3, 2}));
    const Tensor named =
        std::get<0>(utils::pad_packed_sequence(p, {.batch_first = true, .padding_value = -1}));
    EXPECT_EQ(named.to_vector<double>(), padded.to_vector<double>());
    auto [longer, of_longer] = utils::pad_packed_sequence(p, false, 0, 5);
    expect_sizes(longer, {5, 3, 2});
    EXPECT_EQ(longer[4].sum().item<double>(), 0);
    const std::vector<Tensor> list = utils::unpack_sequence(p);
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(list[1].to_vector<double>(), a.to_vector<double>());
    const auto sorted = utils::pack_sequence({a, c, b});
    EXPECT_FALSE(sorted.sorted_indices.defined());
    EXPECT_EQ(sorted.data.to_vector<double>(), p.data.to_vector<double>());
  }
}

// What is behind the end of a sequence is neither read nor does it get a gradient.
TEST(PackedSequences, PaddingTakesNoPart) {
  for (const tn::Device device : devices()) {
    const LSTMLayer lstm = LSTM(2, 3, {.batch_first = true, .bidirectional = true});
    lstm.to(device);
    Tensor x = tn::full({2, 3, 2}, NAN);
    x[0].fill_(0.5);
    x[1][0].fill_(0.25);
    x = x.to(device).requires_grad_();
    auto [y, h, c] = lstm(utils::pack_padded_sequence(x, {3, 1}, {.batch_first = true}));
    EXPECT_TRUE(tn::all(tn::isfinite(y.data)).item<bool>());
    (y.data.sum() + h.sum() + c.sum()).backward();
    EXPECT_EQ(x.grad()[1][1].to_vector<double>(), (std::vector<double>{0, 0}));
    EXPECT_EQ(x.grad()[1][2].to_vector<double>(), (std::vector<double>{0, 0}));
    EXPECT_TRUE(tn::all(tn::isfinite(lstm.tensor("weight_ih_l0").grad())).item<bool>());
  }
}

TEST(PackedSequences, RefuseWhatDoesNotFit) {
  load_all();
  const Tensor x = tn::zeros({3, 2, 4});
  EXPECT_EQ(message_of([&] { utils::pack_padded_sequence(x, {3}); }),
            "pack_padded_sequence: 1 lengths for input [3, 2, 4], expected 2");
  EXPECT_EQ(message_of([&] {
              utils::pack_padded_sequence(x, tn::tensor({3, 4}), {.enforce_sorted = false});
            }),
            "pack_padded_sequence: lengths[1] is 4, the input has 3 steps");
  EXPECT_EQ(message_of([&] {
              utils::pack_padded_sequence(x, {3, 0});
            }),
            "pack_padded_sequence: lengths[1] is 0, expected at least 1");
  EXPECT_EQ(message_of([&] {
              utils::pack_padded_sequence(x, {1, 3});
            }),
            "pack_padded_sequence: lengths[1] is 3 behind 1; expected the longest first, or "
            "enforce_sorted false");
  const RNNLayer gru = GRU(4, 5);
  EXPECT_EQ(message_of([&] {
              gru(utils::pack_padded_sequence(x, {1, 3}, false, false), tn::zeros({1, 1, 5}));
            }),
            "GRU: hx is [1, 1, 5], expected [1, 2, 5]: layers times directions, sequences, width");
  EXPECT_EQ(message_of([&] { utils::pack_padded_sequence(tn::zeros(3), {3}); }),
            "pack_padded_sequence: input is [3], expected [t, n, ..]");
  EXPECT_EQ(message_of([&] { utils::pack_padded_sequence(x, tn::zeros(2)); }),
            "pack_padded_sequence: lengths is [2] (float32), expected [n] of integers");
  EXPECT_EQ(message_of([&] {
              utils::pad_packed_sequence(utils::pack_padded_sequence(x, {3, 1}), false, 0, 2);
            }),
            "pad_packed_sequence: total_length is 2, the longest sequence has 3 steps");
  EXPECT_EQ(message_of([] { utils::pad_sequence({}); }), "pad_sequence: there are no sequences");
  EXPECT_EQ(message_of([] { utils::pack_sequence({}); }), "pack_sequence: there are no sequences");
  EXPECT_EQ(message_of([&] { utils::pad_sequence({x}, false, 0, "top"); }),
            "pad_sequence: padding_side is 'top', expected right or left");
}

}  // namespace
