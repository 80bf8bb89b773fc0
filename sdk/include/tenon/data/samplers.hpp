// Samplers for what a shuffle is not: drawing with replacement or by weights, batches of items of
// similar lengths or of so many tokens, the part of a rank. For applications; data.hpp has the plain
// ones.
//
//   data::DataLoader batches(words, {.batch_size = 32, .sampler = data::BucketSampler(lengths, 32)});
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tenon/data/sampler.hpp"
#include "tenon/lists.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

struct TokenBatchOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  bool shuffle = true;            // items of one length, and the batches
  int64_t max_items = INT64_MAX;  // of a batch
};

namespace detail {

using tenon::detail::joined;

inline void expect_items(const char* what, size_t listed, int64_t items) {
  if (int64_t(listed) == items) return;
  fail(joined({what, ": it has ", std::to_string(listed), " entries, the dataset ",
               std::to_string(items), " items"}));
}

inline void expect_some_items(int64_t items, int64_t samples) {
  if (items > 0 || samples == 0) return;
  fail(joined({"RandomSampler: num_samples is ", std::to_string(samples),
               ", and the dataset has no items"}));
}

struct Replaced : Sampler {
  int64_t n;
  explicit Replaced(int64_t samples) : n(samples) {}
  int64_t size(int64_t) const override { return n; }
  std::vector<int64_t> order(int64_t items, Random random) const override {
    expect_some_items(items, n);
    std::vector<int64_t> list(static_cast<size_t>(n));
    for (int64_t& index : list) index = random.below(items);
    return list;
  }
};

// Whole rounds of all items, each in an order of its own, and the beginning of one more.
struct Rounds : Sampler {
  int64_t n;
  explicit Rounds(int64_t samples) : n(samples) {}
  int64_t size(int64_t) const override { return n; }
  std::vector<int64_t> order(int64_t items, Random random) const override {
    expect_some_items(items, n);
    std::vector<int64_t> list;
    while (int64_t(list.size()) < n) {
      std::vector<int64_t> round = first_integers(items);
      random.shuffle(round);
      const int64_t used = std::min(items, n - int64_t(list.size()));
      list.insert(list.end(), round.begin(), round.begin() + used);
    }
    return list;
  }
};

struct Chosen : Sampler {
  std::vector<int64_t> indices;
  explicit Chosen(std::vector<int64_t> list) : indices(std::move(list)) {}
  int64_t size(int64_t) const override { return int64_t(indices.size()); }
  std::vector<int64_t> order(int64_t, Random random) const override {
    std::vector<int64_t> list = indices;
    random.shuffle(list);
    return list;
  }
};

struct Weighted : Sampler {
  std::vector<double> weights;
  int64_t n;
  bool replacement;

  Weighted(std::vector<double> given, int64_t samples, bool replaces)
      : weights(std::move(given)), n(samples), replacement(replaces) {
    int64_t positive = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (!(weights[i] >= 0) || !std::isfinite(weights[i])) {
        fail(joined({"WeightedRandomSampler: weight ", std::to_string(i), " is ",
                     tenon::detail::number_text(weights[i]),
                     ", expected a finite number of at least 0"}));
      }
      positive += weights[i] > 0;
    }
    const int64_t needed = replacement ? std::min<int64_t>(n, 1) : n;
    if (n < 0 || positive < needed) {
      fail(joined({"WeightedRandomSampler: ", std::to_string(n), " samples of ",
                   std::to_string(positive), " items with a weight above 0"}));
    }
  }
  int64_t size(int64_t) const override { return n; }
  std::vector<int64_t> order(int64_t items, Random random) const override {
    expect_items("WeightedRandomSampler", weights.size(), items);
    return replacement ? drawn(random) : drawn_once(random);
  }

 private:
  std::vector<int64_t> drawn(Random& random) const {
    std::vector<double> sums(weights.size());
    std::partial_sum(weights.begin(), weights.end(), sums.begin());
    std::vector<int64_t> list(static_cast<size_t>(n));
    for (int64_t& index : list) {
      const double at = random.uniform() * sums.back();
      index = std::upper_bound(sums.begin(), sums.end(), at) - sums.begin();
      // By rounding `at` can be the whole sum.
      index = std::min(index, int64_t(sums.size()) - 1);
      while (weights[size_t(index)] == 0) --index;
    }
    return list;
  }
  // Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006: the n largest of
  // log(u) / weight.
  std::vector<int64_t> drawn_once(Random& random) const {
    std::vector<std::pair<double, int64_t>> keys;
    for (size_t i = 0; i < weights.size(); ++i) {
      const double u = 1 - random.uniform();
      if (weights[i] > 0) keys.emplace_back(std::log(u) / weights[i], int64_t(i));
    }
    std::sort(keys.rbegin(), keys.rend());
    std::vector<int64_t> list(static_cast<size_t>(n));
    for (size_t i = 0; i < list.size(); ++i) list[i] = keys[i].second;
    return list;
  }
};

struct Buckets : Sampler {
  std::vector<int64_t> lengths;
  int64_t batch, batches;

  Buckets(std::vector<int64_t> of_items, int64_t batch_size, int64_t of_bucket)
      : lengths(std::move(of_items)), batch(batch_size), batches(of_bucket) {
    if (batch < 1 || batches < 1) {
      fail(
          joined({"BucketSampler: batch_size is ", std::to_string(batch), " and bucket_batches is ",
                  std::to_string(batches), ", expected at least 1 of both"}));
    }
  }
  std::vector<int64_t> order(int64_t items, Random random) const override {
    expect_items("BucketSampler", lengths.size(), items);
    std::vector<int64_t> list = first_integers(items);
    random.shuffle(list);
    const auto shorter = [this](int64_t a, int64_t b) {
      return lengths[size_t(a)] < lengths[size_t(b)];
    };
    const int64_t bucket = batch > items / batches ? items : batch * batches;
    for (int64_t i = 0; i < items; i += bucket) {
      std::stable_sort(list.begin() + i, list.begin() + std::min(items, i + bucket), shorter);
    }
    // Full batches change places; what is left of the last bucket stays the last batch.
    std::vector<int64_t> places = first_integers(items / batch);
    random.shuffle(places);
    std::vector<int64_t> result;
    for (int64_t place : places) {
      result.insert(result.end(), list.begin() + place * batch, list.begin() + (place + 1) * batch);
    }
    result.insert(result.end(), list.begin() + items / batch * batch, list.end());
    return result;
  }
};

struct Tokens : BatchSampler {
  std::vector<int64_t> lengths;
  int64_t most;
  TokenBatchOptions options;

  Tokens(std::vector<int64_t> of_items, int64_t max_tokens, const TokenBatchOptions& given)
      : lengths(std::move(of_items)), most(max_tokens), options(given) {
    if (most < 1 || options.max_items < 1) {
      fail(joined({"TokenBatchSampler: max_tokens is ", std::to_string(most), " and max_items is ",
                   std::to_string(options.max_items), ", expected at least 1 of both"}));
    }
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] >= 0 && lengths[i] <= most) continue;
      fail(joined({"TokenBatchSampler: item ", std::to_string(i), " has length ",
                   std::to_string(lengths[i]), ", expected 0 to max_tokens, ",
                   std::to_string(most)}));
    }
  }
  std::vector<std::vector<int64_t>> batches(int64_t items, Random random) const override {
    expect_items("TokenBatchSampler", lengths.size(), items);
    std::vector<int64_t> list = first_integers(items);
    // Items of one length are in random order, so that the batches of each pass are others.
    if (options.shuffle) random.shuffle(list);
    std::stable_sort(list.begin(), list.end(), [this](int64_t a, int64_t b) {
      return lengths[size_t(a)] < lengths[size_t(b)];
    });
    std::vector<std::vector<int64_t>> result;
    for (const int64_t item : list) {
      const bool fits = !result.empty() && holds(int64_t(result.back().size()) + 1, item);
      if (!fits) result.emplace_back();
      result.back().push_back(item);
    }
    if (options.shuffle) random.shuffle(result);
    return result;
  }

 private:
  // Whether so many items, none longer than this one, are a batch.
  bool holds(int64_t items, int64_t longest) const {
    return items <= options.max_items && lengths[size_t(longest)] <= most / items;
  }
};

struct Distributed : Sampler {
  int64_t rank, ranks;
  bool drop_last;
  SamplerPtr of_all;

  Distributed(int64_t own, int64_t all, bool drop, SamplerPtr base)
      : rank(own), ranks(all), drop_last(drop), of_all(std::move(base)) {
    if (ranks < 1 || rank < 0 || rank >= ranks) {
      fail(joined({"DistributedSampler: rank ", std::to_string(rank), " of ", std::to_string(ranks),
                   ", expected 0 to their number - 1"}));
    }
  }
  int64_t size(int64_t items) const override {
    const int64_t all = of_all->size(items);
    return drop_last ? all / ranks : all / ranks + (all % ranks != 0);
  }
  std::vector<int64_t> order(int64_t items, Random random) const override {
    const std::vector<int64_t> all = of_all->order(items, random);
    std::vector<int64_t> list(static_cast<size_t>(size(items)));
    for (size_t i = 0; i < list.size(); ++i) {
      list[i] = all[(i * size_t(ranks) + size_t(rank)) % all.size()];
    }
    return list;
  }
};

}  // namespace detail

struct RandomSamplerOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  bool replacement = false;  // each item is drawn from all of them, so that some come twice
};
// `num_samples` items in random order. No item comes twice, but where there are fewer items than
// samples: then no item comes a second time before each has come once, and so on.
inline SamplerPtr RandomSampler(int64_t num_samples, const RandomSamplerOptions& options = {}) {
  constexpr int64_t kMost = int64_t(1) << 31;  // 16 GB of indices, which a pass makes at once
  if (num_samples < 0 || num_samples > kMost) {
    fail(detail::joined({"RandomSampler: num_samples is ", std::to_string(num_samples),
                         ", expected 0 to ", std::to_string(kMost)}));
  }
  if (options.replacement) return std::make_shared<detail::Replaced>(num_samples);
  return std::make_shared<detail::Rounds>(num_samples);
}
// These items in random order.
inline SamplerPtr SubsetRandomSampler(std::vector<int64_t> indices) {
  return std::make_shared<detail::Chosen>(std::move(indices));
}
// `num_samples` items, drawn with these weights, one for each item; without replacement each is
// drawn at most once.
inline SamplerPtr WeightedRandomSampler(std::vector<double> weights, int64_t num_samples,
                                        bool replacement = true) {
  return std::make_shared<detail::Weighted>(std::move(weights), num_samples, replacement);
}
// All items in batches of similar lengths: shuffled, cut into buckets of so many batches, sorted by
// length within each, and the batches shuffled. More batches in a bucket: more similar, less
// random. `batch_size` is that of the loader.
inline SamplerPtr BucketSampler(std::vector<int64_t> lengths, int64_t batch_size,
                                int64_t bucket_batches = 100) {
  return std::make_shared<detail::Buckets>(std::move(lengths), batch_size, bucket_batches);
}
// Batches of similar lengths that have at most `max_tokens` elements when all their items are padded to
// the longest: many short items in one batch, few long ones in another.
//
//   data::DataLoader batches(words, {.batch_sampler = data::TokenBatchSampler(lengths, 4096)});
inline BatchSamplerPtr TokenBatchSampler(std::vector<int64_t> lengths, int64_t max_tokens,
                                         const TokenBatchOptions& options = {}) {
  return std::make_shared<detail::Tokens>(std::move(lengths), max_tokens, options);
}
struct DistributedOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  bool shuffle = true;
  bool drop_last = false;   // else the first items come twice, so that all ranks have as many
  SamplerPtr sampler = {};  // of all items, in the place of `shuffle`
};
// Every ranks-th item of the order, from the rank-th on. All ranks need the same seed.
inline SamplerPtr DistributedSampler(int64_t rank, int64_t ranks,
                                     const DistributedOptions& options = {}) {
  SamplerPtr all = options.sampler   ? options.sampler
                   : options.shuffle ? RandomSampler()
                                     : SequentialSampler();
  return std::make_shared<detail::Distributed>(rank, ranks, options.drop_last, std::move(all));
}

}  // namespace data
}  // namespace v0
}  // namespace tenon
