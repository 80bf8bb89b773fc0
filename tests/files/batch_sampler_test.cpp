// Loaders whose batches come from a batch sampler: batches of so many tokens, samplers of one's own,
// the place in a pass, errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <tenon/data/datasets.hpp>
#include <tenon/data/samplers.hpp>
#include <tenon/tenon.hpp>

#include "files_support.h"

namespace tenon {
namespace {

using Batches = std::vector<std::vector<int64_t>>;

// Sample i is i.
const data::Generated kNumbers(10, [](int64_t i) { return i; });

template <typename Loader>
Batches pass_of(Loader& loader) {
  Batches list;
  for (Tensor batch : loader) list.push_back(batch.to_vector<int64_t>());
  return list;
}

// 1, 2, 3, .. batches in the passes of a loader: other in each.
struct Growing : data::BatchSampler {
  Batches batches(int64_t items, data::Random random) const override {
    std::vector<int64_t> all(static_cast<size_t>(items));
    std::iota(all.begin(), all.end(), 0);
    random.shuffle(all);
    Batches list;
    for (size_t i = 0, n = 1; i < all.size(); i += n, n = 1 + size_t(random.below(4))) {
      list.emplace_back(all.begin() + int64_t(i),
                        all.begin() + int64_t(std::min(all.size(), i + n)));
    }
    return list;
  }
};

struct Fixed : data::BatchSampler {
  Batches list;
  explicit Fixed(Batches all) : list(std::move(all)) {}
  Batches batches(int64_t, data::Random) const override { return list; }
};

class BatchSamplers : public ::testing::Test {
  void SetUp() override { load_plugins(); }
};

TEST_F(BatchSamplers, GiveTheBatchesAsTheyAre) {
  const Batches wanted = {{3}, {1, 4, 1}, {5, 9}};
  for (const int64_t workers : {0, 2}) {
    data::DataLoader loader(
        kNumbers, {.batch_sampler = std::make_shared<Fixed>(wanted), .num_workers = workers});
    EXPECT_EQ(loader.size(), 3);
    EXPECT_EQ(pass_of(loader), wanted);
    EXPECT_EQ(pass_of(loader), wanted);
  }
  data::DataLoader none(kNumbers, {.batch_sampler = std::make_shared<Fixed>(Batches())});
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(pass_of(none), Batches());
}

TEST_F(BatchSamplers, DrawOthersForEachPass) {
  data::DataLoader loader(kNumbers, {.batch_sampler = std::make_shared<Growing>(), .seed = 3});
  const int64_t told = loader.size();
  const Batches first = pass_of(loader), second = pass_of(loader);
  EXPECT_EQ(told, int64_t(first.size()));
  EXPECT_EQ(loader.size(), int64_t(second.size()));
  EXPECT_NE(first, second);
  for (const Batches& pass : {first, second}) {
    std::vector<int64_t> all;
    for (const auto& batch : pass) all.insert(all.end(), batch.begin(), batch.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
}

// Of each place in two passes the rest is what it would have been.
TEST_F(BatchSamplers, GoOnFromTheirPlace) {
  const data::LoaderOptions options = {.batch_sampler = std::make_shared<Growing>(), .seed = 3};
  data::DataLoader whole(kNumbers, options);
  const Batches first = pass_of(whole), second = pass_of(whole);
  for (size_t stop = 1; stop <= first.size(); ++stop) {
    data::DataLoader before(kNumbers, options);
    auto at = before.begin();
    for (size_t i = 1; i < stop; ++i) ++at;
    data::DataLoader after(kNumbers, {.batch_sampler = options.batch_sampler, .seed = 5});
    after.load_state_dict(before.state_dict());
    EXPECT_EQ(after.size(), int64_t(first.size()));
    if (stop < first.size()) {
      EXPECT_EQ(pass_of(after), Batches(first.begin() + int64_t(stop), first.end())) << stop;
    }
    EXPECT_EQ(pass_of(after), second) << stop;
  }
}

// Draws by a random op.
struct ByOps : data::BatchSampler {
  Batches batches(int64_t items, data::Random) const override {
    const std::vector<int64_t> order = randperm(items).to_vector<int64_t>();
    return {{order.begin(), order.begin() + 4}, {order.begin() + 4, order.end()}};
  }
};

TEST_F(BatchSamplers, DrawTheSameByRandomOps) {
  const data::LoaderOptions options = {.batch_sampler = std::make_shared<ByOps>(), .seed = 3};
  data::DataLoader whole(kNumbers, options), before(kNumbers, options);
  const RandomState state = random_state();
  const Batches first = pass_of(whole), second = pass_of(whole);
  EXPECT_NE(first, second);
  EXPECT_EQ(random_state(), state);
  EXPECT_EQ((*before.begin()).to_vector<int64_t>(), first[0]);
  data::DataLoader after(kNumbers, {.batch_sampler = options.batch_sampler, .seed = 8});
  after.load_state_dict(before.state_dict());
  EXPECT_EQ(pass_of(after), (Batches{first[1]}));
  EXPECT_EQ(pass_of(after), second);
}

// Fails once, at its third pass.
struct Failing : data::BatchSampler {
  mutable int n = 0;
  Batches batches(int64_t, data::Random random) const override {
    if (n++ == 2) fail("it is tired");
    return {{random.below(10)}, {1, 2}};
  }
};

TEST_F(BatchSamplers, APassThatCannotBeginComesAgain) {
  data::DataLoader whole(kNumbers, {.batch_sampler = std::make_shared<Failing>(), .seed = 3}),
      failing(kNumbers, {.batch_sampler = std::make_shared<Failing>(), .seed = 3});
  pass_of(whole);
  pass_of(whole);
  pass_of(failing);
  pass_of(failing);
  EXPECT_SAYS(failing.begin(), "it is tired");
  EXPECT_EQ(failing.epoch(), 1);
  const Batches third = pass_of(failing);
  EXPECT_EQ(failing.epoch(), 2);
  EXPECT_EQ(third[0][0], data::Random::of_pass(3, 2).below(10));
}

TEST_F(BatchSamplers, StatesOfOthersAreRefused) {
  data::DataLoader fixed(kNumbers, {.batch_size = 5});
  data::DataLoader drawn(kNumbers, {.batch_sampler = std::make_shared<Growing>(), .seed = 3});
  EXPECT_SAYS(
      drawn.load_state_dict(fixed.state_dict()),
      "the state is of 10 items in batches of 5, this loader has 10 in the batches of a batch "
      "sampler");
  EXPECT_SAYS(fixed.load_state_dict(drawn.state_dict()),
              "the state is of 10 items in the batches of a batch sampler, this loader has 10 in "
              "batches of 5");
  NamedTensors state = drawn.state_dict();
  state[1].second = tensor<int64_t>(11);
  EXPECT_SAYS(drawn.load_state_dict(state), "the state is at batch 11 of epoch 0, an epoch has");
}

TEST_F(BatchSamplers, ErrorsSayWhatIsWrong) {
  const auto sampler = std::make_shared<Fixed>(Batches{{1}, {}});
  EXPECT_SAYS(data::DataLoader(kNumbers, {.batch_sampler = sampler}).begin(),
              "DataLoader: batch 1 of the batch sampler has no items");
  const auto outside = std::make_shared<Fixed>(Batches{{1}, {2, 10}});
  EXPECT_SAYS(data::DataLoader(kNumbers, {.batch_sampler = outside}).begin(),
              "the sampler gives index 10 of a dataset of 10 items");
  EXPECT_SAYS(data::DataLoader(kNumbers, {.batch_size = 2, .batch_sampler = sampler}),
              "batch_sampler stands in the place of batch_size, shuffle, sampler and drop_last");
  EXPECT_SAYS(data::DataLoader(kNumbers, {.shuffle = true, .batch_sampler = sampler}),
              "give it alone");
}

TEST_F(BatchSamplers, OfTokensFillEachBatch) {
  const std::vector<int64_t> lengths = {5, 1, 12, 3, 5, 2, 9, 0, 4, 5};
  const auto sampler = data::TokenBatchSampler(lengths, 12, {.shuffle = false});
  EXPECT_EQ(sampler->batches(10, data::Random(0)),
            (Batches{{7, 1, 5, 3}, {8, 0}, {4, 9}, {6}, {2}}));
  const auto few = data::TokenBatchSampler(lengths, 12, {.shuffle = false, .max_items = 2});
  EXPECT_EQ(few->batches(10, data::Random(0)), (Batches{{7, 1}, {5, 3}, {8, 0}, {4, 9}, {6}, {2}}));
  const auto drawn = data::TokenBatchSampler(lengths, 12);
  const Batches one = drawn->batches(10, data::Random(1)),
                other = drawn->batches(10, data::Random(2));
  EXPECT_NE(one, other);
  for (const Batches& pass : {one, other}) {
    std::vector<int64_t> all;
    for (const auto& batch : pass) {
      int64_t longest = 0;
      for (const int64_t item : batch) longest = std::max(longest, lengths[size_t(item)]);
      EXPECT_LE(longest * int64_t(batch.size()), 12);
      all.insert(all.end(), batch.begin(), batch.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
  EXPECT_SAYS(data::TokenBatchSampler({3, 13}, 12),
              "TokenBatchSampler: item 1 has length 13, expected 0 to max_tokens, 12");
  EXPECT_SAYS(data::TokenBatchSampler({3}, 0), "max_tokens is 0");
  EXPECT_SAYS(
      data::DataLoader(kNumbers, {.batch_sampler = data::TokenBatchSampler({3}, 4)}).begin(),
      "TokenBatchSampler: it has 1 entries, the dataset 10 items");
}

}  // namespace
}  // namespace tenon
