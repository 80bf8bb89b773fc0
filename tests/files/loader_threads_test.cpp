// A DataLoader with workers: the same batches whatever their number, errors at once, an end at any
// time, bounded memory. It runs under ThreadSanitizer.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tenon/data/datasets.hpp>
#include <tenon/data/samplers.hpp>
#include <tenon/data/stream.hpp>
#include <tenon/tenon.hpp>

#include "files_support.h"

namespace tenon {
namespace {

using std::chrono::milliseconds;

struct LoaderThreads : testing::Test {
  static void SetUpTestSuite() { load_plugins(); }
};

size_t listed_threads() {
  size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++n;
  return n;
}
// The kernel lists a thread for a moment after it was joined.
size_t threads_of_process() {
  size_t fewest = listed_threads();
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
    fewest = std::min(fewest, listed_threads());
  }
  return fewest;
}
void expect_threads(size_t expected) {
  for (int i = 0; i < 30000 && listed_threads() != expected; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(listed_threads(), expected);
}

// Index and a random number of each sample; some are slow, so that workers overtake each other.
auto noisy(int64_t n) {
  return data::Generated(n, [](int64_t i, data::Random& random) {
    if (i % 17 == 0) std::this_thread::sleep_for(milliseconds(1));
    return std::pair(tensor({i}), random.uniform());
  });
}

template <typename L>
std::vector<double> pass_of(L& loader) {
  std::vector<double> values;
  for (auto [index, number] : loader) {
    const auto i = index.template to_vector<double>(), r = number.template to_vector<double>();
    values.insert(values.end(), i.begin(), i.end());
    values.insert(values.end(), r.begin(), r.end());
  }
  return values;
}

// Random ops in get, in what reads a stream and in what makes a batch.
TEST_F(LoaderThreads, RandomOpsDrawForTheirSampleAndBatch) {
  const auto get = [](int64_t i) { return i % 5 == 0 ? rand({2}) : rand({2}) + rand({2}); };
  const auto collate = [](const std::vector<Tensor>& samples) {
    return stack(samples) * (1 + rand({2}));
  };
  const auto with_noise = [](int64_t n) {
    return data::stream(
        [n](int64_t) {
          return [i = int64_t(0), n]() mutable -> std::optional<Tensor> {
            if (i++ == n) return std::nullopt;
            return rand({2});
          };
        },
        [](const Tensor& read) { return read + rand({2}); });
  };
  const auto values_of = [](auto&& loader) {
    std::vector<float> values;
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (const Tensor& batch : loader) {
        const auto own = batch.template to_vector<float>();
        values.insert(values.end(), own.begin(), own.end());
      }
    }
    return values;
  };
  const auto pass = [&](int64_t workers) {
    return values_of(data::DataLoader(
        data::Generated(23, get), {.batch_size = 3, .num_workers = workers, .seed = 4}, collate));
  };
  const auto stream_pass = [&](int64_t workers) {
    return values_of(data::StreamLoader(
        with_noise(23), {.batch_size = 3, .num_workers = workers, .seed = 4}, collate));
  };
  manual_seed(1);
  const RandomState before = random_state();
  const std::vector<float> expected = pass(0), streamed = stream_pass(0);
  EXPECT_EQ(std::set<float>(expected.begin(), expected.end()).size(), 2 * 2 * 23u);
  EXPECT_EQ(std::set<float>(streamed.begin(), streamed.end()).size(), 2 * 2 * 23u);
  for (const int64_t workers : {1, 3}) {
    EXPECT_EQ(pass(workers), expected) << workers;
    EXPECT_EQ(stream_pass(workers), streamed) << workers;
  }
  EXPECT_EQ(random_state(), before);
}

TEST_F(LoaderThreads, TheNumberOfWorkersChangesNothing) {
  const auto passes = [](int64_t workers, int64_t prefetch, bool persistent) {
    data::DataLoader loader(noisy(100), {.batch_size = 7,
                                         .shuffle = true,
                                         .num_workers = workers,
                                         .prefetch_factor = prefetch,
                                         .persistent_workers = persistent,
                                         .seed = 3});
    return std::vector{pass_of(loader), pass_of(loader), pass_of(loader)};
  };
  const auto expected = passes(0, 2, false);
  EXPECT_NE(expected[0], expected[1]);
  for (const int64_t workers : {1, 2, 3, 8}) {
    EXPECT_EQ(passes(workers, 2, false), expected) << workers;
    EXPECT_EQ(passes(workers, 1, true), expected) << workers;
  }
}

TEST_F(LoaderThreads, GoesOnInTheMiddleOfAnEpochWithOtherWorkers) {
  const data::LoaderOptions few = {.batch_size = 7, .shuffle = true, .num_workers = 2, .seed = 3};
  data::DataLoader whole(noisy(50), few), before(noisy(50), few);
  const std::vector<double> expected = pass_of(whole);
  NamedTensors state;
  std::vector<double> given;
  for (auto [index, number] : before) {
    const auto i = index.to_vector<double>(), r = number.to_vector<double>();
    given.insert(given.end(), i.begin(), i.end());
    given.insert(given.end(), r.begin(), r.end());
    state = before.state_dict();
    if (before.batch() == 3) break;
  }
  data::DataLoader after(noisy(50), {.batch_size = 7, .shuffle = true, .num_workers = 3});
  after.load_state_dict(state);
  const std::vector<double> rest = pass_of(after);
  given.insert(given.end(), rest.begin(), rest.end());
  EXPECT_EQ(given, expected);
  EXPECT_EQ(pass_of(after), pass_of(whole));
}

// Sample 20 fails while a worker is within sample 0 of the batch that the caller waits for, which ends
// only when the caller has heard of it.
TEST_F(LoaderThreads, AnErrorReachesTheCallerAtOnce) {
  for (const bool persistent : {false, true}) {
    std::atomic<bool> heard = false;
    const data::Generated samples(100, [&](int64_t i) {
      if (i == 20) throw std::runtime_error("it is rotten");
      while (i == 0 && !heard) std::this_thread::sleep_for(milliseconds(1));
      return tensor({i});
    });
    data::DataLoader loader(samples,
                            {.batch_size = 10, .num_workers = 3, .persistent_workers = persistent});
    try {
      loader.begin();
      ADD_FAILURE() << "the error of sample 20 is lost";
    } catch (const data::SampleError& error) {
      EXPECT_EQ(error.sample, 20);
      EXPECT_STREQ(error.what(), "DataLoader: sample 20 (batch 2): it is rotten");
      EXPECT_THROW(std::rethrow_exception(error.cause), std::runtime_error);
    }
    heard = true;
  }
}

TEST_F(LoaderThreads, BatchesBeforeAnErrorAreGiven) {
  const data::Generated samples(40, [](int64_t i) {
    if (i == 35) throw std::runtime_error("it is rotten");
    return tensor({i});
  });
  data::DataLoader loader(
      samples,
      {.batch_size = 4, .num_workers = 2, .prefetch_factor = 1, .persistent_workers = true});
  for (int pass = 0; pass < 3; ++pass) {
    int64_t given = 0;
    EXPECT_SAYS(for (Tensor t : loader) given += t.numel(), "sample 35 (batch 8)");
    EXPECT_GE(given, 24);  // all that could not be in flight when it failed
  }
}

TEST_F(LoaderThreads, EndsInTheMiddleOfAPass) {
  const size_t before = threads_of_process();
  for (int i = 0; i < 30; ++i) {
    const data::LoaderOptions options = {.batch_size = 3,
                                         .shuffle = true,
                                         .num_workers = 1 + i % 4,
                                         .persistent_workers = i % 2 == 0};
    {
      data::DataLoader never_used(noisy(60), options);
      data::DataLoader dropped(noisy(60), options);
      dropped.begin();
    }
    data::DataLoader loader(noisy(60), options);
    try {
      for (auto batch : loader) {
        if (loader.batch() == 1 + i % 5) throw std::runtime_error("the consumer fails");
      }
      FAIL();
    } catch (const std::runtime_error&) {
    }
    auto moved = std::move(loader);  // no pass is under way: the one before is left behind
    int64_t batches = 0;
    for (auto batch : moved) ++batches;
    EXPECT_EQ(batches, 20);
  }
  expect_threads(before);
}

TEST_F(LoaderThreads, PersistentWorkersStayAndOthersGo) {
  const size_t before = threads_of_process();
  data::DataLoader stay(noisy(10), {.num_workers = 3, .persistent_workers = true});
  pass_of(stay);
  expect_threads(before + 3);
  pass_of(stay);
  expect_threads(before + 3);
  data::DataLoader go(noisy(10), {.num_workers = 3});
  pass_of(go);
  expect_threads(before + 3);
}

// Two workers with two batches each: never more than four are made and not given.
TEST_F(LoaderThreads, MakesNoMoreAheadThanAsked) {
  auto made = std::make_shared<std::atomic<int64_t>>(0);
  const data::Generated samples(50, [made](int64_t i) {
    ++*made;
    return tensor({i});
  });
  data::DataLoader loader(samples, {.num_workers = 2, .prefetch_factor = 2});
  int64_t given = 0;
  for (Tensor t : loader) {
    ++given;
    if (given % 10 == 0) std::this_thread::sleep_for(milliseconds(5));
    EXPECT_LE(made->load(), given + 4);
  }
  EXPECT_EQ(given, 50);
}

TEST_F(LoaderThreads, PairsOfTensorsWithWorkers) {
  const Tensor x = arange(100).to(float32).view({50, 2}), y = arange(50);
  data::DataLoader plain({x, y}, {.batch_size = 8, .shuffle = true, .seed = 2});
  data::DataLoader threaded({x, y},
                            {.batch_size = 8, .shuffle = true, .num_workers = 4, .seed = 2});
  auto other = threaded.begin();
  for (auto [features, labels] : plain) {
    auto [own_features, own_labels] = *other;
    EXPECT_EQ(own_features.to_vector<float>(), features.to_vector<float>());
    EXPECT_EQ(own_labels.to_vector<int64_t>(), labels.to_vector<int64_t>());
    ++other;
  }
  EXPECT_EQ(other, threaded.end());
}

TEST_F(LoaderThreads, WorkersBringBatchesToTheDevice) {
  const data::LoaderOptions options = {.batch_size = 5, .num_workers = 2, .device = Device("ref")};
  std::vector<double> sums;
  for (auto [index, number] : data::DataLoader(noisy(20), options)) {
    EXPECT_EQ(index.device(), Device("ref"));
    sums.push_back(index.sum().item<double>());
  }
  EXPECT_EQ(sums, (std::vector<double>{10, 35, 60, 85}));
}

// Items of a stream are read by whichever worker has the turn, one at a time.
TEST_F(LoaderThreads, StreamsAreReadInTurn) {
  const auto numbers = data::stream(
      [](int64_t) {
        return [i = int64_t{0}, busy = false]() mutable -> std::optional<int64_t> {
          EXPECT_FALSE(std::exchange(busy, true));
          if (i % 7 == 0) std::this_thread::sleep_for(milliseconds(1));
          busy = false;
          return i < 90 ? std::optional(i++) : std::nullopt;
        };
      },
      [](int64_t item, data::Random& random) {
        if (item % 10 == 0) std::this_thread::sleep_for(milliseconds(2));
        return std::pair(tensor({item}), tensor({random.uniform()}));
      });
  const auto all = [&](int64_t workers) {
    std::vector<double> list;
    data::StreamLoader loader(
        numbers, {.batch_size = 4, .shuffle_buffer = 9, .num_workers = workers, .seed = 1});
    for (int pass = 0; pass < 2; ++pass) {
      for (auto [index, number] : loader) {
        for (const double i : index.to(float64).to_vector<double>()) list.push_back(i);
        for (const double x : number.to(float64).to_vector<double>()) list.push_back(x);
      }
    }
    return list;
  };
  const std::vector<double> expected = all(0);
  EXPECT_EQ(expected.size(), 360u);
  EXPECT_EQ(all(1), expected);
  EXPECT_EQ(all(4), expected);
}

TEST_F(LoaderThreads, ALoaderMayBeReplacedInAPass) {
  const auto made = [] { return data::DataLoader(noisy(60), {.batch_size = 2, .num_workers = 3}); };
  auto loader = made();
  for (int i = 0; i < 10; ++i) {
    loader.begin();
    loader = made();
  }
  pass_of(loader);
}

TEST_F(LoaderThreads, StreamsEndAtAnyTime) {
  const size_t before = threads_of_process();
  const auto endless = data::stream(
      [](int64_t) { return [i = int64_t{0}]() mutable { return std::optional(i++); }; });
  for (int stop = 1; stop < 12; ++stop) {
    data::StreamLoader loader(endless, {.batch_size = 3, .num_workers = 3});
    for (int pass = 0; pass < 2; ++pass) {
      int n = 0;
      for (Tensor batch : loader) {
        EXPECT_EQ(batch.to_vector<int64_t>()[0], 3 * n);
        if (++n == stop) break;
      }
    }
  }
  expect_threads(before);
}

}  // namespace
}  // namespace tenon
