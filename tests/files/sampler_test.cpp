// data/sampler.hpp and data/samplers.hpp: which items a pass has, in which order, how often.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include <tenon/data/samplers.hpp>
#include <tenon/tenon.hpp>

#include "files_support.h"

namespace tenon {
namespace {

using Order = std::vector<int64_t>;

Order order_of(const data::SamplerPtr& sampler, int64_t items, uint64_t seed = 1,
               int64_t epoch = 0) {
  Order order = sampler->order(items, data::Random::of_pass(seed, epoch));
  EXPECT_EQ(int64_t(order.size()), sampler->size(items));
  return order;
}

Order sorted(Order list) {
  std::sort(list.begin(), list.end());
  return list;
}

TEST(Sampler, SequentialAndRandomHaveEachItemOnce) {
  EXPECT_EQ(order_of(data::SequentialSampler(), 4), (Order{0, 1, 2, 3}));
  const data::SamplerPtr random = data::RandomSampler();
  EXPECT_EQ(sorted(order_of(random, 50)), order_of(data::SequentialSampler(), 50));
  EXPECT_EQ(order_of(random, 50, 1, 2), order_of(random, 50, 1, 2));
  EXPECT_NE(order_of(random, 50, 1, 2), order_of(random, 50, 1, 3));
  EXPECT_NE(order_of(random, 50, 1, 2), order_of(random, 50, 2, 2));
  EXPECT_TRUE(order_of(random, 0).empty());
}

TEST(Sampler, RandomWithReplacementDrawsAsManyAsAsked) {
  const Order order = order_of(data::RandomSampler(3000, {.replacement = true}), 3);
  EXPECT_EQ(order.size(), 3000u);
  for (int64_t item = 0; item < 3; ++item) {  // 1000 each, standard deviation 26
    EXPECT_NEAR(double(std::count(order.begin(), order.end(), item)), 1000, 130);
  }
  EXPECT_SAYS(data::RandomSampler(-1), "num_samples is -1, expected 0 to");
}

// PyTorch's RandomSampler(d, num_samples=n): a part of the items, or rounds of all.
TEST(Sampler, RandomWithoutReplacementHasNoItemTwiceInARound) {
  const Order part = order_of(data::RandomSampler(6), 10);
  EXPECT_EQ(part.size(), 6u);
  EXPECT_EQ(std::set<int64_t>(part.begin(), part.end()).size(), 6u);
  EXPECT_NE(part, order_of(data::RandomSampler(6), 10, 1, 5));
  const Order rounds = order_of(data::RandomSampler(23), 10);
  ASSERT_EQ(rounds.size(), 23u);
  const Order first(rounds.begin(), rounds.begin() + 10),
      second(rounds.begin() + 10, rounds.end() - 3);
  EXPECT_EQ(sorted(first), order_of(data::SequentialSampler(), 10));
  EXPECT_EQ(sorted(second), order_of(data::SequentialSampler(), 10));
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set<int64_t>(rounds.end() - 3, rounds.end()).size(), 3u);
  EXPECT_TRUE(order_of(data::RandomSampler(0), 10).empty());
  for (const bool replacement : {false, true}) {
    EXPECT_SAYS(order_of(data::RandomSampler(4, {.replacement = replacement}), 0),
                "RandomSampler: num_samples is 4, and the dataset has no items");
  }
}

TEST(Sampler, RandomOfMoreThanMemoryHoldsIsRefused) {
  EXPECT_SAYS(data::RandomSampler(INT64_MAX),
              "RandomSampler: num_samples is 9223372036854775807, expected 0 to 2147483648");
  EXPECT_SAYS(data::RandomSampler(-1), "num_samples is -1, expected 0 to");
}

TEST(Sampler, SubsetHasItsIndices) {
  EXPECT_EQ(sorted(order_of(data::SubsetRandomSampler({7, 1, 4}), 10)), (Order{1, 4, 7}));
}

TEST(Sampler, WeightsDecideHowOften) {
  const Order order = order_of(data::WeightedRandomSampler({1, 0, 3, 6}, 10000), 4);
  const double expected[] = {1000, 0, 3000, 6000};
  for (int64_t item = 0; item < 4; ++item) {  // standard deviations at most 49
    EXPECT_NEAR(double(std::count(order.begin(), order.end(), item)), expected[item], 250);
  }
}

// Of weights 1, 2 and 3 the first that is drawn is the item in 1/6, 2/6 and 3/6 of the cases.
TEST(Sampler, WeightsWithoutReplacementDrawEachItemOnce) {
  const data::SamplerPtr sampler = data::WeightedRandomSampler({1, 2, 0, 3}, 3, false);
  int first[4] = {};
  for (int64_t epoch = 0; epoch < 6000; ++epoch) {
    const Order order = order_of(sampler, 4, 9, epoch);
    EXPECT_EQ(sorted(order), (Order{0, 1, 3}));
    ++first[order[0]];
  }
  EXPECT_NEAR(first[0], 1000, 150);  // standard deviations at most 39
  EXPECT_NEAR(first[1], 2000, 190);
  EXPECT_NEAR(first[3], 3000, 200);
}

TEST(Sampler, WeightsThatAreNoneAreRefused) {
  EXPECT_SAYS(data::WeightedRandomSampler({1, -2}, 1),
              "weight 1 is -2, expected a finite number of at least 0");
  EXPECT_SAYS(data::WeightedRandomSampler({NAN}, 1), "weight 0 is nan");
  EXPECT_SAYS(data::WeightedRandomSampler({0, 0}, 1), "1 samples of 0 items with a weight above 0");
  EXPECT_SAYS(data::WeightedRandomSampler({1, 0, 1}, 3, false),
              "3 samples of 2 items with a weight above 0");
  EXPECT_SAYS(order_of(data::WeightedRandomSampler({1, 1}, 1), 3),
              "WeightedRandomSampler: it has 2 entries, the dataset 3 items");
}

TEST(Sampler, BucketsHaveSimilarLengthsInABatch) {
  Order lengths;
  for (int64_t i = 0; i < 1003; ++i) lengths.push_back(i * 7919 % 500);
  const data::SamplerPtr sampler = data::BucketSampler(lengths, 10);
  const Order order = order_of(sampler, 1003);
  EXPECT_EQ(sorted(order), order_of(data::SequentialSampler(), 1003));
  Order of_batches;
  for (size_t i = 0; i + 10 <= order.size(); i += 10) {
    const auto [least, most] = std::minmax_element(
        order.begin() + int64_t(i), order.begin() + int64_t(i) + 10,
        [&](int64_t a, int64_t b) { return lengths[size_t(a)] < lengths[size_t(b)]; });
    EXPECT_LE(lengths[size_t(*most)] - lengths[size_t(*least)], 10);
    of_batches.push_back(lengths[size_t(*least)]);
  }
  EXPECT_FALSE(std::is_sorted(of_batches.begin(), of_batches.end()));
  EXPECT_NE(order, order_of(sampler, 1003, 1, 1));
  EXPECT_SAYS(order_of(sampler, 5), "BucketSampler: it has 1003 entries, the dataset 5 items");
  EXPECT_SAYS(data::BucketSampler({1}, 0), "batch_size is 0");
}

TEST(Sampler, RanksShareTheItems) {
  Order all;
  for (int64_t rank = 0; rank < 3; ++rank) {
    const Order own = order_of(data::DistributedSampler(rank, 3), 10);
    EXPECT_EQ(own.size(), 4u);  // 12 in all: two items come twice
    all.insert(all.end(), own.begin(), own.end());
  }
  EXPECT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), 10u);
  EXPECT_EQ(order_of(data::DistributedSampler(1, 3, {.shuffle = false}), 10),
            (Order{1, 4, 7, 0}));  // as PyTorch's
  EXPECT_EQ(order_of(data::DistributedSampler(1, 3, {.shuffle = false, .drop_last = true}), 10),
            (Order{1, 4, 7}));
  const data::SamplerPtr of_part =
      data::DistributedSampler(0, 2, {.sampler = data::SubsetRandomSampler({3, 5, 8, 9})});
  EXPECT_EQ(order_of(of_part, 10).size(), 2u);
  EXPECT_SAYS(data::DistributedSampler(3, 3), "rank 3 of 3, expected 0 to their number - 1");
}

}  // namespace
}  // namespace tenon
