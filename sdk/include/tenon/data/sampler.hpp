// Samplers: which items of a dataset a pass has, in which order and which batches. They have PyTorch's
// names; each is made by a function and shared from then on. What they draw follows from the seed and
// the number of the pass. Part of data.hpp: sequential and random ones; the others are in
// samplers.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tenon/data/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// To write one of your own, derive from it. It does not change when it is used.
class Sampler {
 public:
  virtual ~Sampler() = default;
  // How many of `items` a pass has.
  virtual int64_t size(int64_t items) const { return items; }
  // So many indices from 0 to items - 1.
  virtual std::vector<int64_t> order(int64_t items, Random random) const = 0;
};
using SamplerPtr = std::shared_ptr<const Sampler>;

// Which items each batch of a pass has, where their number is not the same for all. To write one,
// derive from it; it does not change when it is used.
class BatchSampler {
 public:
  virtual ~BatchSampler() = default;
  // The batches, in order: indices from 0 to items - 1, at least one in each. An item may be in none
  // or in several.
  virtual std::vector<std::vector<int64_t>> batches(int64_t items, Random random) const = 0;
};
using BatchSamplerPtr = std::shared_ptr<const BatchSampler>;

namespace detail {

inline std::vector<int64_t> first_integers(int64_t n) {
  std::vector<int64_t> list;
  list.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) list.push_back(i);
  return list;
}

struct Sequential : Sampler {
  std::vector<int64_t> order(int64_t items, Random) const override { return first_integers(items); }
};

struct Shuffled : Sampler {
  std::vector<int64_t> order(int64_t items, Random random) const override {
    std::vector<int64_t> list = first_integers(items);
    random.shuffle(list);
    return list;
  }
};

}  // namespace detail

// All items, from the first to the last.
inline SamplerPtr SequentialSampler() { return std::make_shared<detail::Sequential>(); }
// All items, each order as likely as the others.
inline SamplerPtr RandomSampler() { return std::make_shared<detail::Shuffled>(); }

}  // namespace data
}  // namespace v0
}  // namespace tenon
