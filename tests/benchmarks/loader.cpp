// How many images a second a DataLoader gives: 60,000 of 28 x 28 bytes, normalized, shuffled, in
// batches of 128, with as many workers as the first argument says. docs/benchmarks.md says how it is
// compiled and what it measured.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <tenon/data/datasets.hpp>
#include <tenon/data/transforms.hpp>
#include <tenon/tenon.hpp>

namespace tn = tenon;

int main(int argc, char** argv) {
  tn::load_plugins();
  const tn::data::Dataset images{tn::randint(0, 256, {60000, 28, 28}).to(tn::uint8),
                                 tn::randint(0, 10, {60000})};
  const tn::data::Normalize normal({0.1307}, {0.3081}, {.scale = 1 / 255.0});
  auto normalized = tn::data::map(images, [normal](std::pair<tn::Tensor, tn::Tensor> batch) {
    batch.first = normal(batch.first);
    return batch;
  });
  const int workers = argc > 1 ? std::atoi(argv[1]) : 0;
  tn::data::DataLoader batches(normalized,
                               {.batch_size = 128, .shuffle = true, .num_workers = workers});
  double best = 0;
  for (int epoch = 0; epoch < 10; ++epoch) {
    const auto begin = std::chrono::steady_clock::now();
    int64_t n = 0;
    for (auto [x, y] : batches) n += x.size(0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (double(n) / took.count() > best) best = double(n) / took.count();
  }
  std::printf("%d workers: %.2f million images a second\n", workers, best / 1e6);
}
