// The layer Sequences: rows of ids of different lengths give what each gives alone, without its
// padding.
#include "message_of.h"
#include "ops_support.h"
#include "tenon/build.hpp"
#include "tenon/sequences.hpp"

namespace {

using tn::Ints;

class Sequences : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { load_all(); }
  void SetUp() override { tn::manual_seed(3); }
};

tn::Object sequences(const char* layer, bool bidirectional, const char* output = "last") {
  return tn::build_layer({.name = "Sequences",
                          .options = {{"padding", 0}, {"output", output}},
                          .children = {{"Embedding", {{"num_embeddings", 9}, {"embedding_dim", 3}}},
                                       {layer,
                                        {{"input_size", 3},
                                         {"hidden_size", 4},
                                         {"num_layers", 2},
                                         {"bidirectional", bidirectional}}}}});
}

const std::vector<std::vector<int64_t>> kRows = {{5, 2}, {1, 0, 3, 8}, {7}, {4, 4, 6}};

Tensor padded() {
  std::vector<int64_t> ids;
  for (const std::vector<int64_t>& row : kRows) {
    ids.insert(ids.end(), row.begin(), row.end());
    ids.insert(ids.end(), 4 - row.size(), 0);
  }
  return Tensor::from(ids, {4, 4});
}

TEST_F(Sequences, GiveWhatEachRowGivesAlone) {
  for (const char* name : {"RNN", "GRU", "LSTM"}) {
    for (const bool bidirectional : {false, true}) {
      const tn::Object model = sequences(name, bidirectional);
      const tn::NoGrad no_grad;
      const Tensor y = model(padded());
      const int64_t width = bidirectional ? 8 : 4;
      ASSERT_EQ(y.sizes(), (Ints{4, width}));
      for (size_t i = 0; i < kRows.size(); ++i) {
        // [t, 1, ..]: the output's halves at each direction's own last step.
        const Tensor x = tn::unsqueeze(model.child_at(0)(Tensor::from(kRows[i])), 1);
        Tensor output;
        if (std::string(name) == "LSTM") {
          output = std::get<0>(tn::nn::LSTMLayer(model.child_at(1))(x));
        } else {
          output = std::get<0>(tn::nn::RNNLayer(model.child_at(1))(x));
        }
        const Tensor last = tn::select(tn::select(output, 0, -1), 0, 0),
                     first = tn::select(tn::select(output, 0, 0), 0, 0);
        Tensor alone = tn::narrow(last, 0, 0, 4);
        if (bidirectional) alone = tn::cat({alone, tn::narrow(first, 0, 4, 4)}, 0);
        EXPECT_TRUE(tn::select(y, 0, int64_t(i)).allclose(alone, 1e-5, 1e-6)) << name << i;
      }
    }
  }
}

TEST_F(Sequences, GiveEachStepWithZerosBehindTheEnd) {
  const tn::Object model = sequences("GRU", false, "all"), last = sequences("GRU", false);
  last.load_state_dict(model.state_dict());
  const tn::NoGrad no_grad;
  const Tensor y = model(padded());
  ASSERT_EQ(y.sizes(), (Ints{4, 4, 4}));
  for (int64_t i = 0; i < 4; ++i) {
    const auto length = int64_t(kRows[size_t(i)].size());
    EXPECT_TRUE(tn::select(tn::select(y, 0, i), 0, length - 1)
                    .allclose(tn::select(last(padded()), 0, i), 1e-6, 1e-7));
    for (int64_t t = length; t < 4; ++t)
      EXPECT_EQ(tn::select(tn::select(y, 0, i), 0, t).abs().sum().item<double>(), 0);
  }
}

// A training step with and without padding gives on each device what it gives on `cpu`; by the names of
// C++, and compiled too.
TEST_F(Sequences, AreTheSameOnEachDevice) {
  const tn::Tensor ids = padded(), target = Tensor::from<int64_t>({1, 0, 1, 1});
  for (const bool is_padded : {true, false}) {
    std::vector<tn::nn::SequencesOptions> options(1);
    if (is_padded) options[0].padding = 0;
    const tn::Object model = tn::nn::Sequential(
        tn::nn::Sequences({tn::nn::Embedding(9, 3), tn::nn::LSTM(3, 4, {.bidirectional = true})},
                          options[0]),
        tn::nn::Linear(8, 2));
    const auto losses = [&](tn::Device device, bool compiled) {
      const tn::Object own = model.clone();
      own.to(device);
      auto optimizer = tn::optim::SGD(own.parameters(), {.lr = 0.5});
      auto step = [&](Tensor x, Tensor y) {
        optimizer.zero_grad();
        const Tensor loss = tn::cross_entropy(own(x), y);
        loss.backward();
        optimizer.step();
        return loss;
      };
      auto replayed = tn::compile(step);
      std::vector<double> list;
      for (int i = 0; i < 4; ++i) {
        const Tensor x = ids.to(device), y = target.to(device);
        list.push_back((compiled ? replayed(x, y) : step(x, y)).item<double>());
      }
      return list;
    };
    const std::vector<double> expected = losses(tn::cpu, false);
    EXPECT_LT(expected.back(), expected.front());
    for (const tn::Device device : devices()) {
      for (const bool compiled : {false, true}) {
        const std::vector<double> found = losses(device, compiled);
        for (size_t i = 0; i < found.size(); ++i)
          EXPECT_NEAR(found[i], expected[i], 1e-5) << device.name() << is_padded << compiled << i;
      }
    }
  }
}

TEST_F(Sequences, TakeRowsOfOneLengthWithoutPadding) {
  const tn::Object lstm = tn::nn::LSTM(2, 5, {.batch_first = true});
  const tn::Object model = tn::Object::create("Sequences", std::vector<tn::Object>{lstm});
  const Tensor x = tn::randn({3, 4, 2});
  auto [output, h, c] = tn::nn::LSTMLayer(lstm)(x);
  EXPECT_TRUE(model(x).allclose(tn::select(output, 1, -1), 1e-6, 1e-7));
  const tn::Object other = tn::nn::LSTM(2, 5),
                   same = tn::Object::create("Sequences", std::vector<tn::Object>{other});
  same.load_state_dict(model.state_dict());
  EXPECT_TRUE(same(x).allclose(model(x), 1e-6, 1e-7));
}

TEST_F(Sequences, LearnNothingOfThePadding) {
  const tn::Object model = sequences("LSTM", true);
  model(padded()).sum().backward();
  const Tensor grad = model.child_at(0).tensor("weight").grad();
  // Row 0 was read once, in the middle of a sequence; all other padding is no step.
  const tn::Object same = sequences("LSTM", true);
  same.load_state_dict(model.state_dict());
  same(Tensor::from(kRows[1], {1, 4})).sum().backward();
  EXPECT_TRUE(
      tn::select(grad, 0, 0)
          .allclose(tn::select(same.child_at(0).tensor("weight").grad(), 0, 0), 1e-5, 1e-6));
}

TEST_F(Sequences, ATrainingStepMayBeCompiled) {
  const tn::Object model = sequences("GRU", false);
  const Tensor expected = model(padded()), other = model(padded().flip({0}));
  auto f = tn::compile([&](Tensor x) { return model(x); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(f(padded()).allclose(expected));
    EXPECT_TRUE(f(padded().flip({0})).allclose(other));
  }
}

TEST_F(Sequences, SayWhatDoesNotFit) {
  const auto refused = [](const tn::Object& model, const Tensor& x) {
    return message_of([&] { model(x); });
  };
  EXPECT_EQ(
      refused(sequences("GRU", false), tn::zeros({2, 3})),
      "Sequences: x is [2, 3] (float32), expected ids [n, t], integers, of which padding is one");
  EXPECT_EQ(refused(sequences("GRU", false), tn::zeros({2}, tn::int64)),
            "Sequences: x is [2], expected [n, t, ..] with a sequence and a step at least");
  const tn::Object none = tn::Object::create("Sequences", std::vector<tn::Object>{tn::nn::ReLU()});
  EXPECT_EQ(
      refused(none, tn::zeros({2, 3, 1})),
      "Sequences: output is 'last', which is the state of a recurrent layer at the end of the "
      "modules (RNN, GRU or LSTM), and there is none");
  // Of the steps of all sequences in one table a convolution would mix those of several.
  const tn::Object mixes = tn::nn::Sequential(tn::nn::ReLU(), tn::nn::Conv1d(4, 4, 3));
  EXPECT_EQ(
      message_of([&] {
        tn::nn::Sequences({tn::nn::Embedding(7, 4), mixes, tn::nn::GRU(4, 3)}, {.padding = 0});
      }),
      "Sequences could not be made\n  because padding is given, with which modules see single "
      "steps, and Conv1d computes a step from others; expected recurrent layers and layers of a "
      "step");
  EXPECT_EQ(message_of([] { sequences("GRU", false, "first"); }),
            "Sequences could not be made\n  because output is 'first', expected 'last' or 'all'");
}

}  // namespace
