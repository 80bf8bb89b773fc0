// An LSTM that classifies sequences of different lengths. Each is a row of letters, among them a few
// of the markers a, b and c; its class is the marker that came last, so the net has to remember it to
// the end, wherever that is. Packed, no step of the padding is computed.
//
//   sequences [STEPS]
#include <cstdio>
#include <cstdlib>
#include <tenon/tenon.hpp>
namespace tn = tenon;

constexpr int64_t kLetters = 20, kMarkers = 3, kPadding = 0, kShortest = 3, kLongest = 24;

struct Batch {
  tn::Tensor letters, lengths, classes;  // [n, kLongest], [n], [n]
};

// Markers are the letters from 1 on. Every sequence begins with one, and each further letter is one
// with the probability 1/8.
Batch draw(int64_t n) {
  tn::Tensor lengths = tn::randint(kShortest, kLongest + 1, {n}),
             classes = tn::zeros({n}, tn::int64);
  tn::Tensor letters = tn::randint(1 + kMarkers, kLetters, {n, kLongest});
  const tn::Tensor chance = tn::rand({n, kLongest}),
                   marker = tn::randint(0, kMarkers, {n, kLongest});
  for (int64_t i = 0; i < n; ++i) {
    const int64_t length = lengths.data<int64_t>()[i];
    for (int64_t t = 0; t < kLongest; ++t) {
      const int64_t at = i * kLongest + t, drawn = marker.data<int64_t>()[at];
      if (t >= length) {
        letters.mutable_data<int64_t>()[at] = kPadding;
      } else if (t == 0 || chance.data<float>()[at] < 0.125f) {
        letters.mutable_data<int64_t>()[at] = 1 + drawn;
        classes.mutable_data<int64_t>()[i] = drawn;
      }
    }
  }
  return {letters, lengths, classes};
}

struct Classifier : tn::Module {
  tn::Object letters = child("letters", tn::nn::Embedding(kLetters, 16, {.padding_idx = kPadding}));
  tn::nn::LSTMLayer lstm =
      child("lstm", tn::nn::LSTMLayer(tn::nn::LSTM(16, 32, {.batch_first = true})));
  tn::Object head = child("head", tn::nn::Linear(32, kMarkers));
  tn::Tensor forward(tn::Tensor x, tn::Tensor lengths) {
    auto packed = tn::nn::utils::pack_padded_sequence(
        letters(x), lengths, {.batch_first = true, .enforce_sorted = false});
    auto [outputs, h, c] = lstm(packed);
    return head(h[0]);  // the state behind each sequence's own end
  }
};

int main(int argc, char** argv) {
  tn::load_plugins();
  tn::manual_seed(0);
  const int steps = argc > 1 ? std::atoi(argv[1]) : 400;
  auto model = tn::make<Classifier>();
  auto optimizer = tn::optim::Adam(model.parameters(), {.lr = 1e-2});
  for (int step = 1; step <= steps; ++step) {
    const Batch batch = draw(64);
    optimizer.zero_grad();
    tn::Tensor loss = tn::cross_entropy(model(batch.letters, batch.lengths), batch.classes);
    loss.backward();
    tn::optim::clip_grad_norm_(model.parameters(), 1.0);
    optimizer.step();
    if (step % 100 == 0 || step == steps)
      std::printf("step %d: loss %.4f\n", step, loss.item<double>());
  }
  model.eval();
  const tn::NoGrad off;
  const Batch held_out = draw(500);
  const tn::Tensor found = tn::argmax(model(held_out.letters, held_out.lengths), 1);
  std::printf("accuracy %.3f\n", (found == held_out.classes).to(tn::float32).mean().item<double>());
}
