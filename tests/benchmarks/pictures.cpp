// How many PNG pictures a second a DataLoader decodes: those of a folder with a folder for each class,
// the first argument, with as many workers as the second says. docs/benchmarks.md says how it is
// compiled and what it measured.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <tenon/data/images.hpp>
#include <tenon/tenon.hpp>

namespace tn = tenon;

namespace {

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("pictures FOLDER [WORKERS]"), 2;
  tn::load_plugins();
  const int workers = argc > 2 ? std::atoi(argv[2]) : 0;
  tn::data::DataLoader batches(tn::data::ImageFolder(argv[1]),
                               {.batch_size = 32, .shuffle = true, .num_workers = workers});
  double best = 0, cores = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    const double begin = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int64_t n = 0;
    for (auto [images, labels] : batches) n += images.size(0);
    const double took = seconds(CLOCK_MONOTONIC) - begin;
    if (double(n) / took <= best) continue;
    best = double(n) / took;
    cores = (seconds(CLOCK_PROCESS_CPUTIME_ID) - used) / took;
  }
  std::printf("%d workers: %.0f pictures a second, %.2f cores busy\n", workers, best, cores);
}
