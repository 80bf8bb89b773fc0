// Data-parallel training by processes of one machine. Each has the whole model and its part of
// every batch, and steps with the mean of all gradients, which go from process to process in shared
// memory. So they learn what one process learns from whole batches, which the program does as well,
// to compare.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <set>
#include <tenon/data/datasets.hpp>
#include <tenon/data/samplers.hpp>
#include <tenon/tenon.hpp>
namespace tn = tenon;
namespace nn = tn::nn;
using tn::Tensor;

// A row of numbers for each process, and a barrier where they wait for each other; made before the
// fork.
struct Exchange {
  pthread_barrier_t* barrier;
  Tensor rows;

  Exchange(int64_t ranks, int64_t n) {
    void* memory = ::mmap(nullptr, sizeof(*barrier) + size_t(ranks * n) * sizeof(float),
                          PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw tn::Error("data_parallel: there is no memory to share");
    barrier = static_cast<pthread_barrier_t*>(memory);
    rows = tn::from_blob(reinterpret_cast<float*>(barrier + 1), {ranks, n});
    pthread_barrierattr_t shared;
    ::pthread_barrierattr_init(&shared);
    ::pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    ::pthread_barrier_init(barrier, &shared, unsigned(ranks));
  }
  // Puts the mean over all processes in the place of each tensor.
  void average(int64_t rank, const std::vector<Tensor>& tensors) const {
    rows[rank] = nn::utils::parameters_to_vector(tensors);
    ::pthread_barrier_wait(barrier);
    const Tensor mean = rows.mean(0);
    ::pthread_barrier_wait(barrier);  // no row is written again before all have read it
    nn::utils::vector_to_parameters(mean, tensors);
  }
};

// Gives the last batch's loss, which is the whole batch's in all processes.
double train(const tn::Object& model, const tn::data::TensorDataset<2>& items,
             const Exchange& exchange, int64_t rank, int64_t ranks) {
  auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 0.2, .momentum = 0.9});
  const auto part = tn::data::DistributedSampler(rank, ranks);  // of an order that the seed decides
  tn::data::DataLoader batches(items, {.batch_size = 64 / ranks, .sampler = part, .seed = 1});
  Tensor loss;
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (auto [x, y] : batches) {
      loss = nn::functional::cross_entropy(model(x), y);
      optimizer.zero_grad();
      loss.backward();
      std::vector<Tensor> exchanged = {loss = loss.detach()};
      for (const Tensor& p : model.parameters()) exchanged.push_back(p.grad());
      if (ranks > 1) exchange.average(rank, exchanged);
      optimizer.step();
    }
  }
  return loss.item();
}

int main() {
  tn::load_plugins();
  tn::manual_seed(0);
  const int64_t ranks = 4;
  const Tensor x = tn::randn({1024, 2}), y = (x.prod(1) > 0).to(tn::int64);
  const tn::data::TensorDataset items(x, y);
  const auto model = nn::Sequential(nn::Linear(2, 32), nn::ReLU(), nn::Linear(32, 2));
  const int64_t n = nn::utils::parameters_to_vector(model.parameters()).numel();
  const Exchange exchange(ranks, n + 1);  // and the loss
  const std::string path = "/tmp/data_parallel_" + std::to_string(::getpid()) + ".safetensors";

  std::set<pid_t> running;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const pid_t process = ::fork();
    if (process > 0) running.insert(process);
    if (process != 0) continue;
    try {
      const double loss = train(model, items, exchange, rank, ranks);
      if (rank == 0) tn::save(model, path), std::printf("loss %g\n", loss), std::fflush(stdout);
      ::_exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", int(rank), error.what());
      ::_exit(1);
    }
  }
  bool failed = int64_t(running.size()) < ranks;
  while (!running.empty()) {  // where one has failed, the others would wait for it
    for (const pid_t process : running)
      if (failed) ::kill(process, SIGKILL);
    int status = 0;
    running.erase(::wait(&status));
    failed = failed || status != 0;
  }
  if (failed) return 1;
  std::printf("loss_of_one %g\n", train(model, items, exchange, 0, 1));
  const Tensor together = nn::utils::parameters_to_vector(tn::load(path).values()),
               alone = nn::utils::parameters_to_vector(model.parameters());
  std::printf("weights_differ_by %g\n", (together - alone).abs().max().item());
  return std::remove(path.c_str());
}
