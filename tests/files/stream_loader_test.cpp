// data/stream.hpp: batches of what comes one after the other. Threads are loader_threads_test.cpp's.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tenon/checkpoint.hpp>
#include <tenon/data/datasets.hpp>
#include <tenon/data/stream.hpp>
#include <tenon/tenon.hpp>

#include "files_support.h"
#include "ops_support.h"

namespace tenon {
namespace {

using Order = std::vector<int64_t>;

struct Streams : files::FilesTest {
  static void SetUpTestSuite() { load_plugins(); }
};

// The numbers from 0 to n - 1.
struct Numbers {
  int64_t n = 10;
  auto open(int64_t) const {
    return [n = n, i = int64_t{0}]() mutable -> std::optional<int64_t> {
      if (i == n) return std::nullopt;
      return i++;
    };
  }
};

template <typename L>
std::vector<Order> batches_of(L& loader) {
  std::vector<Order> all;
  for (const Tensor& batch : loader) all.push_back(batch.to_vector<int64_t>());
  return all;
}
Order joined(const std::vector<Order>& batches) {
  Order all;
  for (const Order& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}
Order sorted(Order list) {
  std::sort(list.begin(), list.end());
  return list;
}

// The names stand in PyTorch's order, so that its calls can be written down.
TEST_F(Streams, OptionsOfLoadersAreInPyTorchsOrder) {
  const data::LoaderOptions options = {.batch_size = 16,
                                       .shuffle = true,
                                       .sampler = {},
                                       .batch_sampler = {},
                                       .num_workers = 2,
                                       .pin_memory = {},
                                       .drop_last = true,
                                       .prefetch_factor = 4,
                                       .persistent_workers = true,
                                       .seed = 1,
                                       .device = {}};
  data::DataLoader loader(data::TensorDataset(tensor({1, 2, 3})),
                          {.batch_size = 2, .shuffle = true, .num_workers = 2, .drop_last = true});
  EXPECT_EQ(loader.size(), 1);
  EXPECT_EQ(options.batch_size, 16);
  data::StreamLoader stream(Numbers{}, {.batch_size = 4,
                                        .shuffle_buffer = 2,
                                        .num_workers = 2,
                                        .pin_memory = {},
                                        .drop_last = true,
                                        .prefetch_factor = 2,
                                        .seed = 1,
                                        .device = {},
                                        .rank = 0,
                                        .ranks = 1});
  EXPECT_EQ(batches_of(stream).size(), 2u);
}

TEST_F(Streams, EndsWhereTheStreamEnds) {
  for (const int64_t workers : {0, 1, 3}) {
    data::StreamLoader loader(Numbers{}, {.batch_size = 4, .num_workers = workers});
    EXPECT_EQ(batches_of(loader), (std::vector<Order>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
    EXPECT_EQ(loader.epoch(), 0);
    EXPECT_EQ(loader.batch(), 3);
    EXPECT_EQ(batches_of(loader).size(), 3u);
    EXPECT_EQ(loader.epoch(), 1);
    data::StreamLoader full(Numbers{},
                            {.batch_size = 4, .num_workers = workers, .drop_last = true});
    EXPECT_EQ(batches_of(full).size(), 2u);
    data::StreamLoader none(Numbers{0}, {.batch_size = 4, .num_workers = workers});
    EXPECT_EQ(batches_of(none).size(), 0u);
    data::StreamLoader even(Numbers{8}, {.batch_size = 4, .num_workers = workers});
    EXPECT_EQ(batches_of(even).size(), 2u);
  }
}

// A stream may have no end: the loop has.
TEST_F(Streams, MayBeEndless) {
  for (const int64_t workers : {0, 2}) {
    int64_t seen = 0;
    data::StreamLoader loader(Numbers{-1}, {.batch_size = 8, .num_workers = workers});
    for (const Tensor& batch : loader) {
      EXPECT_EQ(batch.sizes(), (Ints{8}));
      if (++seen == 50) break;
    }
    EXPECT_EQ(loader.batch(), 50);
  }
}

TEST_F(Streams, FunctionsAreStreams) {
  const auto numbers = data::stream(
      [](int64_t epoch) {
        return [i = epoch * 100, end = epoch * 100 + 5]() mutable -> std::optional<int64_t> {
          return i < end ? std::optional(i++) : std::nullopt;
        };
      },
      [](int64_t item, data::Random& random) {
        return std::pair(tensor<float>(float(random.uniform())), item);
      });
  std::vector<std::vector<float>> drawn;
  for (const int64_t workers : {0, 2}) {
    data::StreamLoader loader(numbers, {.batch_size = 2, .num_workers = workers, .seed = 7});
    Order items;
    drawn.emplace_back();
    for (int pass = 0; pass < 2; ++pass) {
      for (auto [number, item] : loader) {
        for (const float x : number.to_vector<float>()) drawn.back().push_back(x);
        for (const int64_t i : item.to_vector<int64_t>()) items.push_back(i);
      }
    }
    EXPECT_EQ(items, (Order{0, 1, 2, 3, 4, 100, 101, 102, 103, 104}));
  }
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_EQ(std::set<float>(drawn[0].begin(), drawn[0].end()).size(), 10u);
}

// Items that cannot be copied, and a batch function of one's own.
TEST_F(Streams, ItemsMayBeMovedAlone) {
  const auto owned = data::stream(
      [](int64_t) {
        return [i = 0]() mutable -> std::optional<std::unique_ptr<int>> {
          if (i == 3) return std::nullopt;
          return std::make_unique<int>(i++);
        };
      },
      [](std::unique_ptr<int> item) { return std::string(size_t(*item), 'x'); });
  const auto collate = [](const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += text + ";";
    return all;
  };
  data::StreamLoader loader(owned, {.batch_size = 2, .shuffle_buffer = 2}, collate);
  std::vector<std::string> found;
  for (const std::string& text : loader) found.push_back(text);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].size() + found[1].size(), 6u);
}

TEST_F(Streams, AreShuffledWithinABuffer) {
  const data::StreamOptions options = {.batch_size = 8, .shuffle_buffer = 16, .seed = 3};
  data::StreamLoader loader(Numbers{100}, options);
  const Order first = joined(batches_of(loader)), second = joined(batches_of(loader));
  EXPECT_EQ(sorted(first), sorted(second));
  EXPECT_EQ(sorted(first), joined(batches_of(*std::make_unique<data::StreamLoader<Numbers>>(
                               Numbers{100}, data::StreamOptions{.batch_size = 8}))));
  EXPECT_NE(first, second);
  EXPECT_NE(first, sorted(first));
  // No item comes before those that were read with it.
  for (size_t i = 0; i < first.size(); ++i) EXPECT_LE(first[i], int64_t(i) + 15);
  // The seed alone decides.
  data::StreamOptions parallel = options;
  parallel.num_workers = 3;
  data::StreamLoader again(Numbers{100}, parallel);
  EXPECT_EQ(joined(batches_of(again)), first);
  EXPECT_EQ(joined(batches_of(again)), second);
}

TEST_F(Streams, RanksShareTheItems) {
  Order all;
  for (int64_t rank = 0; rank < 3; ++rank) {
    data::StreamLoader own(Numbers{}, {.batch_size = 2, .rank = rank, .ranks = 3});
    const Order part = joined(batches_of(own));
    for (const int64_t item : part) EXPECT_EQ(item % 3, rank);
    all.insert(all.end(), part.begin(), part.end());
  }
  EXPECT_EQ(sorted(all), (Order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(Streams, GoOnFromAState) {
  for (const int64_t workers : {0, 2}) {
    const data::StreamOptions options = {
        .batch_size = 7, .shuffle_buffer = 20, .num_workers = workers, .seed = 3};
    data::StreamLoader whole(Numbers{60}, options);
    std::vector<Order> expected = batches_of(whole);
    for (const Order& batch : batches_of(whole)) expected.push_back(batch);
    for (size_t stop = 0; stop <= 9; ++stop) {
      SCOPED_TRACE(stop);
      data::StreamLoader before(Numbers{60}, options);
      std::vector<Order> found;
      if (stop > 0) {
        for (const Tensor& batch : before) {
          found.push_back(batch.to_vector<int64_t>());
          if (found.size() == stop) break;
        }
      }
      data::StreamLoader after(Numbers{60}, {.batch_size = 7, .shuffle_buffer = 20, .seed = 99});
      after.load_state_dict(before.state_dict());
      for (int pass = 0; pass < 2; ++pass) {
        for (const Order& batch : batches_of(after)) found.push_back(batch);
      }
      EXPECT_EQ(found, expected);
    }
    // Behind the end the next pass begins.
    data::StreamLoader ended(Numbers{60}, options);
    EXPECT_EQ(batches_of(ended).size(), 9u);
    data::StreamLoader next(Numbers{60}, options);
    next.load_state_dict(ended.state_dict());
    EXPECT_EQ(next.epoch(), 1);
    EXPECT_EQ(batches_of(next), std::vector<Order>(expected.begin() + 9, expected.end()));
  }
}

TEST_F(Streams, ACheckpointHasTheirPlace) {
  data::StreamLoader loader(Numbers{}, {.batch_size = 4});
  for (const Tensor& batch : loader) {
    if (batch.numel() == 4) break;
  }
  const std::string folder = path("checkpoint");
  Checkpoint({.loader = loader}).save(folder);
  data::StreamLoader later(Numbers{}, {.batch_size = 4});
  Checkpoint({.loader = later}).load(folder);
  EXPECT_EQ(batches_of(later), (std::vector<Order>{{4, 5, 6, 7}, {8, 9}}));
}

// ---- What is refused, and what fails

TEST_F(Streams, SayWhatIsWrongWithOptions) {
  const auto made = [](const data::StreamOptions& options) {
    return [=] { data::StreamLoader(Numbers{}, options); };
  };
  expect_error(made({.batch_size = 0}), "StreamLoader: batch_size is 0, expected at least 1");
  expect_error(made({.shuffle_buffer = -1}),
               "StreamLoader: shuffle_buffer is -1, expected at least 0");
  expect_error(made({.num_workers = 1025}),
               "StreamLoader: num_workers is 1025, expected 0 to 1024");
  expect_error(made({.num_workers = 1, .prefetch_factor = 0}),
               "StreamLoader: prefetch_factor is 0, expected 1 to 1024");
  expect_error(made({.ranks = 0}), "StreamLoader: ranks is 0, expected at least 1");
  expect_error(made({.rank = 2, .ranks = 2}), "StreamLoader: rank is 2, expected 0 to 1");
  expect_error(made({.pin_memory = cpu, .device = cpu}),
               "StreamLoader: device and pin_memory are both given");
}

TEST_F(Streams, SayWhichItemFailed) {
  const auto open = [](int64_t) {
    return [i = int64_t{0}]() mutable -> std::optional<int64_t> {
      if (i == 9) throw std::runtime_error("the disk is gone");
      return i++;
    };
  };
  const auto odd = [](int64_t item) {
    if (item == 5) fail("five is odd");
    return item;
  };
  for (const int64_t workers : {0, 1, 3}) {
    data::StreamLoader reads(data::stream(open), {.batch_size = 4, .num_workers = workers});
    expect_error([&] { batches_of(reads); }, "StreamLoader: item 9 (batch 2): the disk is gone");
    data::StreamLoader makes(data::stream(open, odd), {.batch_size = 4, .num_workers = workers});
    try {
      batches_of(makes);
      ADD_FAILURE() << "no error";
    } catch (const data::SampleError& error) {
      // Who waits hears of what failed behind it, too.
      const bool read =
          std::string(error.what()) == "StreamLoader: item 9 (batch 2): the disk is gone";
      EXPECT_TRUE(read ||
                  std::string(error.what()) == "StreamLoader: item 5 (batch 1): five is odd")
          << error.what();
      if (!read) {
        EXPECT_EQ(error.batch, 1);
        EXPECT_EQ(error.sample, 5);
      }
    }
    // The next pass begins anew.
    EXPECT_EQ((*reads.begin()).to_vector<int64_t>(), (Order{0, 1, 2, 3}));
  }
}

// Whoever waits for the turn of a reader that failed hears of that.
TEST_F(Streams, TheFailureOfAReaderIsNotLost) {
  const auto broken = data::stream([](int64_t) {
    return [i = int64_t{0}]() mutable -> std::optional<int64_t> {
      if (i == 9) throw std::runtime_error("the disk is gone");
      return i++;
    };
  });
  for (int pass = 0; pass < 300; ++pass) {
    data::StreamLoader loader(broken, {.batch_size = 2, .num_workers = 1 + pass % 8});
    expect_error([&] { batches_of(loader); }, "StreamLoader: item 9 (batch 4): the disk is gone");
  }
}

// The pass goes on where it was once the stream can be opened.
TEST_F(Streams, AStreamThatCannotBeOpenedLosesNoPlace) {
  auto fails = std::make_shared<bool>(false);
  const auto numbers = data::stream([fails](int64_t) {
    if (*fails) fail("no stream");
    return Numbers{}.open(0);
  });
  data::StreamLoader before(numbers, {.batch_size = 4}), loader(numbers, {.batch_size = 4});
  for (const Tensor& batch : before) {
    if (batch.numel() == 4) break;
  }
  loader.load_state_dict(before.state_dict());
  *fails = true;
  expect_error([&] { loader.begin(); }, "no stream");
  *fails = false;
  EXPECT_EQ(batches_of(loader), (std::vector<Order>{{4, 5, 6, 7}, {8, 9}}));
  EXPECT_EQ(loader.epoch(), 0);
}

TEST_F(Streams, MayBeReplacedInAPass) {
  const auto made = [] {
    return data::StreamLoader(Numbers{-1}, {.batch_size = 2, .num_workers = 2});
  };
  auto loader = made();
  for (int i = 0; i < 20; ++i) {
    const auto at = loader.begin();
    EXPECT_EQ((*at).to_vector<int64_t>(), (Order{0, 1}));
    loader = made();
  }
  auto at = loader.begin();
  const auto moved = std::move(loader);
  expect_error([&] { ++at; }, "StreamLoader: the loader was moved from");
}

TEST_F(Streams, OfBoolsAndOfOneBatch) {
  const auto bools = data::stream([](int64_t) {
    return [i = 0]() mutable { return i < 6 ? std::optional(i++ % 2 == 0) : std::nullopt; };
  });
  data::StreamLoader loader(bools, {.batch_size = 4, .shuffle_buffer = 3});
  int64_t n = 0, on = 0;
  for (const Tensor& batch : loader) n += batch.numel(), on += batch.sum().item<int64_t>();
  EXPECT_EQ(n, 6);
  EXPECT_EQ(on, 3);
  data::StreamLoader whole(Numbers{}, {.batch_size = INT64_MAX, .num_workers = 2});
  EXPECT_EQ(batches_of(whole), (std::vector<Order>{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}));
  data::StreamLoader later(Numbers{}, {.batch_size = INT64_MAX});
  for (const Tensor& batch : later) {
    if (batch.defined()) break;
  }
  data::StreamLoader again(Numbers{}, {.batch_size = INT64_MAX});
  again.load_state_dict(later.state_dict());
  EXPECT_EQ(batches_of(again).size(), 0u);
}

TEST_F(Streams, SayWhichItemDoesNotFit) {
  const auto growing = data::stream([](int64_t) { return Numbers{}.open(0); },
                                    [](int64_t item) { return zeros({item < 6 ? 1 : 2}); });
  data::StreamLoader loader(growing, {.batch_size = 4});
  expect_error(
      [&] {
        for (const Tensor& batch : loader) (void)batch;
      },
      "StreamLoader: item 6 (batch 1): ");
}

TEST_F(Streams, ALoopWithinALoopIsRefused) {
  data::StreamLoader loader(Numbers{}, {.batch_size = 2});
  expect_error(
      [&] {
        for (const Tensor& outer : loader) {
          for (const Tensor& inner : loader) (void)outer, (void)inner;
        }
      },
      "a loop within a loop needs a loader of its own");
}

TEST_F(Streams, AStateOfSomethingElseIsRefused) {
  data::StreamLoader loader(Numbers{}, {.batch_size = 2});
  expect_error(
      [&] {
        loader.load_state_dict({{"epoch", tensor<int64_t>(0)}});
      },
      "StreamLoader: the state has no 'batch'");
  const auto state = [](int64_t epoch, int64_t batch, int64_t size) {
    return NamedTensors{{"epoch", tensor<int64_t>(epoch)},
                        {"batch", tensor<int64_t>(batch)},
                        {"seed", tensor<int64_t>(0)},
                        {"batch_size", tensor<int64_t>(size)}};
  };
  expect_error([&] { loader.load_state_dict(state(0, 0, 3)); },
               "StreamLoader: the state is of batches of 3, this loader has batches of 2");
  expect_error([&] { loader.load_state_dict(state(-1, 0, 2)); },
               "StreamLoader: the state is at batch 0 of epoch -1");
  loader.load_state_dict(state(0, 7, 2));
  expect_error([&] { batches_of(loader); },
               "StreamLoader: batch 7: the stream has ended behind 10 items, before the "
               "place of the state that was loaded");
  data::StreamLoader moved(std::move(loader));
  expect_error([&] { loader.begin(); }, "StreamLoader: the loader was moved from");
  expect_error([&] { loader.load_state_dict(state(0, 0, 2)); },
               "StreamLoader: the loader was moved from");
}

}  // namespace
}  // namespace tenon
